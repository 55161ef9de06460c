"""Where functions of tensors run, and in which dtype."""

import pickle
import re

import numpy as np
import pytest

from gradcheck_ref import check_vjp
from gradcheck_ref.adapters import check_module, from_torch

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
torch.set_num_threads(1)

X = np.random.default_rng(0).normal(size=(3, 4))
W = 0.5 * np.random.default_rng(1).normal(size=(4, 5))

DTYPES = ["float64", "float32", "float16", "bfloat16"]


def product(x, w):
    return torch.tanh(x @ w)


def picky(dtype):
    """Write a function that takes one dtype only, as kernels do."""

    def f(x, w):
        assert {x.dtype, w.dtype} == {getattr(torch, dtype)}
        return product(x, w)

    return f


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("named", [True, False], ids=["by name", "torch's own"])
def test_a_function_gets_tensors_of_the_dtype(dtype, named):
    f = from_torch(picky(dtype), dtype=dtype if named else getattr(torch, dtype))
    assert check_vjp(f, (X, W)).verdict == "pass"
    halves = check_vjp(f, (X, W), lambda *given: tuple(g / 2 for g in f.vjp(*given)), jvp=False)
    assert halves.verdict == "fail"


@pytest.mark.parametrize(
    ("dtype", "digits"), [("float64", None), ("float32", 6), ("float16", 3), ("bfloat16", 2)]
)
def test_a_note_names_the_dtype_of_the_gradient_and_not_that_of_its_array(dtype, digits):
    f = from_torch(torch.sin, dtype=dtype)
    note = f"the derivative for x is {dtype}, which holds {digits} digits, not float64"
    for factor, verdict in ((1, "pass"), (2, "fail")):
        report = check_vjp(f, X, lambda u, x, by=factor: by * f.vjp(u, x))
        assert report.verdict == verdict
        assert list(report.notes) == [note] * (digits is not None)


def test_a_complex_gradient_is_not_said_to_be_bfloat16():
    (note,) = check_vjp(from_torch(lambda z: z * z, dtype="bfloat16"), X + 1j * X, jvp=False).notes
    assert note == "the derivative for z is complex64, which holds 6 digits, not complex128"


def test_complex_inputs_get_the_complex_twin():
    f = from_torch(lambda z, x: (z * x, torch.tensor(1)), dtype="float32")
    z, _ = f(X + 1j * X, X)
    assert z.dtype == np.complex64


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_complex_numbers_of_half_precision_come_back_as_complex64():
    f = from_torch(lambda z: z * z, dtype="float16")
    z = np.array([1 + 2j, -0.5j])
    assert f(z).dtype == f.vjp(np.ones(2), z).dtype == np.complex64
    assert check_vjp(f, z).verdict == "pass"
    assert check_vjp(f, z, lambda u, z: 2 * f.vjp(u, z)).verdict == "fail"


def test_whole_numbers_and_floats_of_python_keep_their_type():
    def f(x, k, scale):
        assert k.dtype == torch.int64
        assert type(scale) is float
        return x[k] * scale

    f = from_torch(f, dtype="bfloat16")
    assert f(X, np.array([0, 2]), 0.5).shape == (2, 4)


def test_products_and_points_beside_one_another_have_the_dtype_too():
    f = from_torch(picky("float32"), dtype="float32")
    tangent, upstream = (np.ones_like(X), np.ones_like(W)), np.ones((3, 5))
    assert f.jvp(tangent, X, W).dtype == np.float32
    assert [g.shape for g in f.vjp_vjp((X, W), X, W, upstream)] == [X.shape, W.shape, (3, 5)]
    assert len(f.many([(X + 0.1 * k, W) for k in range(5)])) == 5
    there = pickle.loads(pickle.dumps(from_torch(product, "cpu", torch.bfloat16)))
    assert np.array_equal(there(X, W), from_torch(product, "cpu", "bfloat16")(X, W))


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"device": "gpu"}, ValueError, "device must be one of torch's, such as 'cpu'"),
        ({"device": 0.5}, TypeError, "device must be a torch device or its name, not float"),
        ({"device": "meta"}, ValueError, "device is 'meta', which holds no numbers"),
        ({"device": "xla"}, ValueError, "cannot make a tensor .*there: .*leave device out"),
        ({"dtype": torch.int64}, TypeError, r"torch.bfloat16, not torch.int64"),
        ({"dtype": "half precision"}, TypeError, "not str 'half precision'"),
        ({"dtype": np.float32}, TypeError, "dtype must be a floating dtype of torch"),
    ],
    ids=["word", "number", "meta", "not here", "int", "text", "of NumPy"],
)
def test_a_wrong_place_is_refused_before_f_is_called(given, kind, said):
    def never(x):
        raise AssertionError("called")

    with pytest.raises(kind, match=said):
        from_torch(never, **given)
    with pytest.raises(kind, match=said):
        check_module(nn.Linear(4, 2), X, **given)


class Short(nn.Module):
    """A layer whose product takes 16 bits only, as a kernel may."""

    def __init__(self, scale=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.norm, self.linear, self.scale = nn.LayerNorm(4), nn.Linear(4, 3).bfloat16(), scale

    def forward(self, x):
        h = self.norm(x.float()).bfloat16()
        assert self.linear.weight.dtype == torch.bfloat16
        h = self.linear(h)
        return torch.tanh(h + (self.scale - 1) * (h - h.detach()))


@pytest.mark.parametrize("x", [X, torch.tensor(X).bfloat16()], ids=["array", "tensor"])
def test_a_module_is_checked_in_its_own_dtypes(x):
    module = Short()
    assert check_module(module, x, dtype="own").verdict == "pass"
    assert [p.dtype for p in module.parameters()] == [torch.float32] * 2 + [torch.bfloat16] * 2
    wrong = check_module(Short(2.0), x, dtype="own")
    assert wrong.verdict == "fail"


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_of_a_module_gets_the_dtype(dtype):
    seen = set()

    class Seen(nn.Linear):
        def forward(self, x):
            seen.update({x.dtype, self.weight.dtype, self.bias.dtype})
            return torch.tanh(super().forward(x))

    torch.manual_seed(0)
    assert check_module(Seen(4, 3), X, dtype=dtype, device="cpu").verdict == "pass"
    assert seen == {getattr(torch, dtype)}


def test_with_own_dtypes_arrays_get_that_of_the_parameters():
    assert check_module(nn.Linear(4, 3).bfloat16(), X, dtype="own").verdict == "pass"
    with pytest.raises(RuntimeError) as caught:
        check_module(nn.Linear(4, 3).bfloat16(), torch.tensor(X), dtype="own")
    assert "with dtype='own', parameters, buffers and tensors keep" in caught.value.__notes__[0]


def test_some_inputs_of_a_module_can_be_constant():
    report = check_module(nn.Linear(4, 3), X, constant=["bias", "input"])
    assert [one.name for one in report.inputs] == ["weight"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_on_a_gpu(dtype):
    w = torch.tensor(W, device="cuda", dtype=getattr(torch, dtype))
    f = from_torch(lambda x: product(x, w), device="cuda", dtype=dtype)
    assert check_vjp(f, X).verdict == "pass"
    module = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5)).cuda()
    report = check_module(module, X)
    assert report.verdict == "pass"
    assert "random numbers" in report.notes[0]
    assert check_module(module, X, device="cpu").verdict == "pass"


@pytest.mark.parametrize(
    ("parameters", "asked", "point", "advice"),
    [
        ("float32", None, X, "pass module.double.*, or give from_torch dtype='float32'"),
        ("bfloat16", None, X.astype(np.float32), "input is float32, .* give dtype='bfloat16'"),
        ("float64", "bfloat16", X, "bfloat16 here, .* parameters of fn are float64: give dtype="),
    ],
    ids=["double into single", "single into bfloat16", "asked for another"],
)
@pytest.mark.parametrize("of", [lambda one: one, lambda one: one.forward], ids=["module", "method"])
def test_a_module_of_another_dtype_says_which_to_ask_for(parameters, asked, point, advice, of):
    torch.manual_seed(0)
    module = nn.Linear(4, 2).to(getattr(torch, parameters))
    with pytest.raises(RuntimeError) as caught:
        check_vjp(from_torch(of(module), dtype=asked), {"input": point})
    assert re.search(advice, caught.value.__notes__[0])
    taken = from_torch(of(module), dtype=parameters)
    assert check_vjp(taken, {"input": point}).verdict == "pass"


def test_a_tensor_of_another_dtype_in_a_function_is_told():
    f = from_torch(lambda x: x @ torch.ones(4, 2), dtype="bfloat16")
    with pytest.raises(RuntimeError) as caught:
        check_vjp(f, X)
    assert "if fn makes it, use dtype=x.dtype" in caught.value.__notes__[0]


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5, 3)

    def forward(self, i):
        return self.table(i)


def test_a_list_of_indices_is_to_be_an_array_of_integers():
    with pytest.raises(TypeError) as caught:
        check_module(Lookup(), [0, 2])
    assert "pass np.array(i), or np.array(i, float) to differentiate" in caught.value.__notes__[0]
    assert check_module(Lookup(), np.array([0, 2])).verdict == "pass"


def test_a_loss_must_be_a_function():
    with pytest.raises(TypeError, match="loss must be a function, not str 'mse'"):
        check_module(nn.Linear(4, 2), X, loss="mse")
    assert check_module(nn.Linear(4, 2), X, loss=torch.sum).verdict == "pass"
