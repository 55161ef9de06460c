"""Functions of torch and of JAX as functions of NumPy arrays: what goes in, what comes out.

What both frameworks do is tested on both, with `m` for torch or jax.numpy. Where one of them is not
installed its tests are skipped, by name.
"""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.adapters import _Arguments as Arguments
from gradcheck_ref.adapters import from_jax, from_torch

ADAPTERS = {"torch": (from_torch, "torch"), "jax": (from_jax, "jax.numpy")}

X = np.array([0.5, -1.25, 2.0])
Z = np.array([1.0 + 2.0j, 0.5 - 0.25j, -1.5j])
A = 2.0 - 3.0j


def adapted(name):
    """Return the adapter of a framework and its module, or skip the test where it is missing."""
    adapter, module = ADAPTERS[name]
    return SimpleNamespace(adapt=adapter, m=pytest.importorskip(module), name=name)


@pytest.fixture(params=ADAPTERS)
def framework(request):
    return adapted(request.param)


@pytest.fixture
def torch():
    return adapted("torch").m


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


# --- without the frameworks ------------------------------------------------------------------


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_missing_framework_is_named_with_the_extra_that_brings_it(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"pip install 'gradcheck-ref\[{name}\]'"):
        ADAPTERS[name][0](np.sin)


def test_the_adapters_import_no_framework_before_it_is_asked_for():
    code = (
        "import sys, gradcheck_ref.adapters\nsys.exit(({'torch', 'jax'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


POINT = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("inputs", "named", "arranged"),
    [
        ((POINT,), {}, "0"),
        ((2.0,), {}, "0"),
        ((3,), {}, None),
        ((POINT, 3, 1j), {}, ("0", None, "2")),
        ((POINT,), {"n": 3, "b": POINT}, ("0", None, "2")),
        ((), {"a": POINT}, {"a": "0"}),
        ((), {"n": POINT > 0, "a": POINT}, {"n": None, "a": "1"}),
        ((), {}, {}),
    ],
    ids=["array", "number", "constant", "several", "mixed", "name", "names", "nothing"],
)
def test_gradients_are_arranged_as_the_inputs_came(inputs, named, arranged):
    arguments = Arguments(inputs, named)
    assert arguments.arranged({k: str(k) for k in arguments.differentiated}) == arranged
    listed = arguments.listed(arranged, "tangent")  # and the way back
    assert listed == [
        str(k) if k in arguments.differentiated else None for k in range(len(arguments.values))
    ]


def test_integers_and_flags_of_numpy_become_those_of_python():
    values = Arguments((np.int64(2), np.bool(True)), {}).values
    assert [type(value) for value in values] == [int, bool]


def test_fn_is_called_as_the_adapted_function_was():
    arguments = Arguments((POINT, "up"), {"n": 3, "k": POINT > 0})
    values = arguments.converted(lambda array: f"converted {array.dtype}")
    assert arguments.call(lambda *inputs, **named: (inputs, named), values) == (
        ("converted float64", "up"),
        {"n": 3, "k": "converted bool"},
    )


# --- right derivatives, of every kind of argument --------------------------------------------

# The function of a framework, and the inputs.
FUNCTIONS = {
    "one array": (lambda m: m.sin, X),
    "a matrix": (lambda m: lambda x: x @ x, np.arange(4.0).reshape(2, 2)),
    "0-d": (lambda m: lambda x: x**3, np.array(1.5)),
    "a number": (lambda m: lambda x: x**3, 1.5),
    "a complex number": (lambda m: lambda z: z * z, 1.5 + 1j),
    "holomorphic": (lambda m: lambda z: m.exp(A * z), Z),
    "not holomorphic": (lambda m: lambda z: z * m.conj(z) + 2 * m.conj(z), Z),
    "complex to real": (lambda m: lambda z: m.real(z) * m.imag(z) ** 2, Z),
    "real to complex": (lambda m: lambda x: m.exp(1j * x), X),
    "several inputs": (lambda m: lambda a, b: a * m.sin(b), (X, X[::-1])),
    "real and complex inputs": (lambda m: lambda a, b: a * m.sin(b), (X, Z)),
    "an unused input": (lambda m: lambda a, b: m.sin(a), (X, X)),
    "several outputs": (lambda m: lambda a, b: (a * b, m.sum(a), m.cos(b)), (X, X)),
    "a list of outputs": (lambda m: lambda a: [a * a, m.sin(a)], X),
    "a tuple of one output": (lambda m: lambda a: (a * a,), X),
    "an integer output": (lambda m: lambda a: (m.argmax(a), a * a), X),
    "an integer input": (lambda m: lambda a, k: a[k] ** 2, (X, np.array([0, 0, 2]))),
    "a boolean input": (lambda m: lambda k, a: m.where(k, a, a**2), (X > 0, X)),
    "other constants": (lambda m: lambda a, n, how: a**n if how == "up" else a, (X, 2, "up")),
    "inputs by name": (lambda m: lambda b, a: a * m.sin(b), {"a": X, "b": np.array(2.0)}),
    "a constant by name": (lambda m: lambda a, *, n: a**n, {"a": X, "n": 3}),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_right_derivative_passes_both_ways(framework, name):
    make, inputs = FUNCTIONS[name]
    f = framework.adapt(make(framework.m))
    assert check_vjp(f, inputs).verdict == "pass"  # the adjoint identity of vjp and jvp included
    assert check_jvp(f, inputs).verdict == "pass"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_the_dtype_is_kept(framework, dtype):
    f = framework.adapt(lambda x: x * x)
    x = np.array([1, 2], dtype)
    products = f(x), f.vjp(np.ones(2), x), f.jvp(np.ones(2), x)
    assert [product.dtype for product in products] == [dtype] * 3
    assert [product.tolist() for product in products] == [[1, 4], [2, 4], [2, 4]]


def test_the_gradient_of_a_scalar_function_comes_from_its_vjp(framework):
    f = framework.adapt(lambda x: framework.m.sum(x**3))
    assert check_gradient(f, X, f.vjp(1.0, X))
    assert not check_gradient(f, X, f.vjp(2.0, X))


# --- the convention for complex numbers ------------------------------------------------------


def test_a_vjp_multiplies_by_the_conjugate_and_a_jvp_does_not(framework):
    f = framework.adapt(lambda z: A * z)
    upstream = np.array([1.0, 1j, 2 - 1j])
    assert f.vjp(upstream, Z).tolist() == (np.conj(A) * upstream).tolist()
    assert f.jvp(upstream, Z).tolist() == (A * upstream).tolist()


def test_the_gradient_of_a_real_function_points_uphill(framework):
    f = framework.adapt(lambda z: framework.m.real(z * framework.m.conj(z)))
    assert f.vjp(np.ones(3), Z).tolist() == (2 * Z).tolist()  # torch's: JAX has the conjugate


def test_the_gradient_of_a_real_input_is_real(framework):
    f = framework.adapt(lambda x: A * x)
    assert f.vjp(np.full(3, 1j), X).tolist() == [-3.0] * 3  # Re(conj(1j) * A)


# --- structure -------------------------------------------------------------------------------


def test_what_comes_back_is_arranged_as_what_went_in(framework):
    f = framework.adapt(lambda a, n=2, b=1.0: a**n * b)
    one, ones = np.array(2.0), np.array(1.0)
    assert f.vjp(ones, one).tolist() == 4
    assert f.vjp(ones, one, 3) == (12, None)
    assert f.vjp(ones, one, b=np.array(5.0), n=3) == (60, 8, None)  # in the order handed over
    assert f.vjp(ones, a=one, n=3) == {"a": 12, "n": None}
    assert f.jvp((ones, None, ones), one, 3, np.array(5.0)).tolist() == 68
    assert f.jvp({"a": ones, "b": ones}, a=one, b=np.array(5.0), n=3).tolist() == 68


def test_arrays_of_integers_and_objects_are_constants(framework):
    f = framework.adapt(lambda a, k, names: a * k if names[0] == "k" else a)
    names = np.array(["k"], object)
    assert f(X, np.array([1, 2, 3]), names).tolist() == [0.5, -2.5, 6]
    gradient, *nothing = f.vjp(np.ones(3), X, np.array([1, 2, 3]), names)
    assert gradient.tolist() == [1, 2, 3]
    assert nothing == [None, None]


def test_an_input_may_have_any_name(framework):
    f = framework.adapt(lambda **named: named["self"] * named["upstream"] * named["tangent"])
    named = {"self": np.array(2.0), "upstream": np.array(3.0), "tangent": np.array(5.0)}
    assert f(**named) == 30
    assert f.vjp(np.array(1.0), **named) == {"self": 15, "upstream": 10, "tangent": 6}
    assert f.jvp(named, **named) == 90


def test_without_upstream_or_tangent_there_are_zeros(framework):
    f = framework.adapt(lambda a, b: (a * b, a + b))
    assert [g.tolist() for g in f.vjp((None, np.ones(3)), X, X)] == [[1] * 3] * 2
    assert [g.tolist() for g in f.vjp((None, None), X, X)] == [[0] * 3] * 2
    assert [t.tolist() for t in f.jvp((None, np.ones(3)), X, X)] == [X.tolist(), [1] * 3]
    assert framework.adapt(lambda a: a * a).vjp(None, X).tolist() == [0] * 3


def test_an_output_that_depends_on_nothing_has_zeros(framework):
    constant = framework.m.asarray(np.ones(3))
    f = framework.adapt(lambda a: (a * a, constant))
    assert f.vjp((np.ones(3), np.ones(3)), X).tolist() == (2 * X).tolist()
    assert [t.tolist() for t in f.jvp(np.ones(3), X)] == [(2 * X).tolist(), [0] * 3]
    assert framework.adapt(lambda a: constant).vjp(np.ones(3), X).tolist() == [0] * 3


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 1)], ids=str)
def test_empty_arrays_go_through(framework, shape):
    f = framework.adapt(lambda x: (x * 2, framework.m.sum(x)))
    x = np.zeros(shape)
    assert [output.shape for output in f(x)] == [shape, ()]
    assert f.vjp((x, np.ones(())), x).shape == shape
    assert [output.shape for output in f.jvp(x, x)] == [shape, ()]


# --- the caller's arrays ---------------------------------------------------------------------


def read_only(array):
    """Return the array, protected."""
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "x",
    [
        read_only(np.arange(3.0)),
        np.arange(3.0)[::-1],
        np.arange(12.0).reshape(3, 4).T[::2],
        np.broadcast_to(2.0, (2, 3)),
        np.arange(3.0).astype(">f8"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
    ids=["read-only", "backwards", "strided", "broadcast", "big-endian", "F-ordered"],
)
def test_arrays_of_any_layout_are_taken_and_left_alone(framework, x):
    f = framework.adapt(lambda x: x * x)
    before = x.tolist()
    assert f(x).tolist() == (x * x).tolist()
    assert f.vjp(x, x).tolist() == (2 * x * x).tolist()
    assert f.jvp(x, x).tolist() == (2 * x * x).tolist()
    assert x.tolist() == before


def test_what_comes_back_belongs_to_the_caller(framework):
    kept = framework.m.asarray(np.ones(3))
    f = framework.adapt(lambda x: (x, kept))
    x, upstream = X.copy(), np.ones(3)
    for arrays in (f(x), (f.vjp((upstream, None), x),), f.jvp(upstream, x)):
        for array in arrays:
            array[...] = 7
    assert (x.tolist(), upstream.tolist()) == (X.tolist(), [1] * 3)
    assert np.asarray(kept).tolist() == [1] * 3


@pytest.mark.parametrize(
    "write",
    [lambda x: x.mul_(3.0), lambda x: x.exp_(), lambda x: x.index_fill_(0, (x > 0).long(), 2.0)],
    ids=["multiply", "exp", "fill"],
)
def test_a_torch_function_may_write_to_its_input(torch, write):
    f = from_torch(write)
    x = X.copy()
    assert check_vjp(f, x).verdict == "pass"
    assert x.tolist() == X.tolist()


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("fn", [None, 3.0, "sin"], ids=repr)
def test_only_functions_are_adapted(framework, fn):
    with pytest.raises(TypeError, match="fn must be a function, not"):
        framework.adapt(fn)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: None, "not None"),
        (lambda x: {"x": x}, "not dict"),
        (lambda x: "x", "not str 'x'"),
        (lambda x: (x, None), "not None at 1"),
        (lambda x: (x, (x, x)), "not tuple .* at 1"),
    ],
    ids=["nothing", "dict", "text", "tuple with nothing", "nested tuple"],
)
def test_what_is_no_array_or_tuple_of_arrays_is_refused(framework, returned, said):
    f = framework.adapt(returned)
    for call in (lambda: f(X), lambda: f.vjp(X, X), lambda: f.jvp(X, X)):
        with pytest.raises(TypeError, match=rf"^fn must return one .* or a tuple of them, {said}"):
            call()


@pytest.mark.parametrize(
    "left", [lambda x: x.sum().item(), lambda x: x.detach().numpy()], ids=["item", "numpy"]
)
def test_torch_functions_that_leave_torch_are_refused(torch, left):
    with pytest.raises(TypeError, match="fn must return one tensor, or a tuple of them, not"):
        from_torch(left)(X)


def test_a_jax_function_may_return_a_number(jax):
    f = from_jax(lambda x: (x, 2, 3.0))
    assert [output.tolist() for output in f(X)] == [X.tolist(), 2, 3.0]
    assert f.vjp((np.ones(3), None, None), X).tolist() == [1] * 3


def test_the_class_of_a_torch_function_is_told_from_its_apply(torch):
    with pytest.raises(TypeError, match=r"fn is the class Cube: pass Cube\.apply"):
        from_torch(cube(torch))


def test_what_numpy_does_not_have_is_refused(framework):
    short = {"torch": lambda x: x.bfloat16(), "jax": lambda x: x.astype("bfloat16")}
    f = framework.adapt(short[framework.name])
    with pytest.raises(TypeError, match=r"NumPy has no .*bfloat16"):
        f(X)


def test_sparse_outputs_are_refused_and_sparse_gradients_are_made_dense(torch):
    with pytest.raises(TypeError, match=r"sparse.* \.to_dense\(\)"):
        from_torch(lambda x: torch.diag(x).to_sparse())(X)
    look_up = from_torch(
        lambda weight: torch.nn.functional.embedding(torch.tensor([0, 2]), weight, sparse=True)
    )
    got = look_up.vjp(np.ones((2, 2)), np.zeros((3, 2)))
    assert got.tolist() == [[1, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("product", "given", "kind", "said"),
    [
        ("vjp", np.ones(2), ValueError, r"upstream has shape \(2,\), .* has shape \(3,\)"),
        ("vjp", 1.0, ValueError, r"upstream has shape \(\), .* has shape \(3,\)"),
        ("vjp", np.full(3, 1j), TypeError, "upstream is complex, .* real"),
        ("vjp", "x", TypeError, "upstream must be an array of numbers, not str 'x'"),
        ("jvp", np.ones(2), ValueError, r"the tangent of inputs\[0\] has shape \(2,\)"),
        ("jvp", np.full(3, 1j), TypeError, r"the tangent of inputs\[0\] is complex"),
        ("jvp", (X, X), ValueError, "tangent is for 2 inputs, but there are 1"),
    ],
    ids=["short", "number", "complex", "text", "short tangent", "complex tangent", "two tangents"],
)
def test_an_upstream_or_tangent_must_fit(framework, product, given, kind, said):
    f = framework.adapt(lambda x: x * x)
    with pytest.raises(kind, match=said):
        getattr(f, product)(given, X)


@pytest.mark.parametrize("upstream", [X, (X,), (X, X, X), None], ids=["one", "1", "3", "None"])
def test_several_outputs_need_as_many_upstreams(framework, upstream):
    f = framework.adapt(lambda x: (x, x * x))
    with pytest.raises(ValueError, match="fn returns 2 outputs: upstream must be a tuple"):
        f.vjp(upstream, X)


@pytest.mark.skipif(np.finfo(np.longdouble).bits == 64, reason="long double is double here")
def test_numbers_longer_than_double_are_refused(framework):
    with pytest.raises(TypeError, match=r"inputs\[0\] is .*, which no framework has: pass float64"):
        framework.adapt(lambda x: x)(np.ones(2, np.longdouble))


# --- what the user's function does -----------------------------------------------------------


def test_what_fn_raises_is_passed_on(framework):
    def fn(x):
        raise KeyError("the weather")

    f = framework.adapt(fn)
    for call in (lambda: f(X), lambda: f.vjp(X, X), lambda: f.jvp(X, X)):
        with pytest.raises(KeyError, match="the weather"):
            call()


def test_reports_name_the_inputs_as_fn_does(framework):
    f = framework.adapt(lambda weight, bias: weight * bias)
    report = check_vjp(f, (X, X), lambda upstream, w, b: (upstream * b, 2 * upstream * w))
    assert report.verdict == "fail"
    assert {row.input.name for row in report.pairs} == {"weight", "bias"}


def test_a_function_without_a_signature_is_taken(torch):
    assert check_vjp(from_torch(torch.sin), X)


# --- torch -----------------------------------------------------------------------------------


def cube(torch, factor=3.0, name="backward"):
    """Write x**3 as an autograd.Function, with a factor in its backward, and no forward mode."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, upstream):
            (x,) = ctx.saved_tensors
            return factor * upstream * x**2

    return Cube


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (6.0, "fail")])
def test_a_custom_backward_is_checked(torch, factor, verdict):
    report = check_vjp(from_torch(cube(torch, factor).apply), X)
    assert report.verdict == verdict
    kinds = [diagnosis.kind for diagnosis in report.diagnoses]
    assert kinds == ([] if verdict == "pass" else ["factor"])


def test_a_function_without_forward_mode_says_what_is_missing(torch):
    f = from_torch(cube(torch).apply)
    with pytest.raises(NotImplementedError, match=r"jvp .* forward mode AD"):
        f.jvp(np.ones(3), X)


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (6.0, "fail")])
def test_a_custom_forward_mode_is_checked(torch, factor, verdict):
    class WithForward(cube(torch)):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return factor * tangent * x**2

    f = from_torch(WithForward.apply)
    assert check_jvp(f, X).verdict == verdict
    report = check_vjp(f, X)  # its entries agree, but not with the jvp
    assert report.verdict == verdict
    assert [fault.subject for fault in report.faults] == ["jvp and vjp"] * (verdict == "fail")


def test_an_output_without_gradient_is_a_wrong_one_unless_it_is_left_out(torch):
    f = from_torch(lambda x: (x**2, x.detach() ** 2))
    report = check_vjp(f, X)
    assert report.verdict == "fail"
    assert report.worst_pair.output.name == "output[1]"
    assert check_vjp(from_torch(lambda x: x**2), X)


def test_a_backward_that_fails_passes_its_exception_on(torch):
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, upstream):
            raise KeyError("not written yet")

    f = from_torch(Broken.apply)
    assert f(X).tolist() == (2 * X).tolist()
    with pytest.raises(KeyError, match="not written yet"):
        f.vjp(np.ones(3), X)


def test_a_module_is_checked_by_its_input_and_its_parameters_stay_as_they_are(torch):
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh()).double()
    before = {name: value.detach().clone() for name, value in module.named_parameters()}
    report = check_vjp(from_torch(module), X)
    assert report
    assert report.pairs[0].input.name == "input"
    for name, value in module.named_parameters():
        assert value.grad is None
        assert torch.equal(value, before[name])


def test_the_parameters_of_a_module_are_checked_by_name(torch):
    module = torch.nn.Linear(3, 2).double()
    data = torch.from_numpy(X)
    f = from_torch(lambda **params: torch.func.functional_call(module, params, (data,)))
    params = {"weight": np.arange(6.0).reshape(2, 3), "bias": np.ones(2)}
    report = check_vjp(f, params)
    assert report
    assert {pair.input.name for pair in report.pairs} == {"weight", "bias"}


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_the_callers_modes_change_nothing(torch, mode):
    f = from_torch(cube(torch).apply)
    with getattr(torch, mode)():
        assert f.vjp(np.ones(3), X).tolist() == (3 * X**2).tolist()
        assert f.vjp_vjp(X, X, np.ones(3))[0].tolist() == (6 * X * X).tolist()
        assert from_torch(torch.square).jvp(X, X).tolist() == (2 * X * X).tolist()
        assert not torch.is_grad_enabled()


def test_fn_runs_as_in_training(torch):
    seen = []

    def fn(x):
        seen.append((x.requires_grad, torch.is_grad_enabled()))
        (slope,) = torch.autograd.grad(torch.sum(x**3), x, create_graph=True)
        return slope

    f = from_torch(fn)
    assert f(X).tolist() == (3 * X**2).tolist()
    assert f.vjp(np.ones(3), X).tolist() == (6 * X).tolist()
    assert f.jvp(np.ones(3), X).tolist() == (6 * X).tolist()
    assert seen == [(True, True)] * 3


def test_tensors_with_a_flag_come_out_as_the_numbers_they_stand_for(torch):
    conjugate = from_torch(lambda z: (z.conj(), z.conj().imag))
    assert [output.tolist() for output in conjugate(Z)] == [Z.conj().tolist(), (-Z.imag).tolist()]
    # The sign of a determinant has, in forward mode, zeros without memory.
    sign, _ = from_torch(torch.linalg.slogdet).jvp(np.ones((2, 2)), np.eye(2))
    assert sign == 0
    sign[...] = 1


def test_forward_mode_warns_of_nothing():
    pytest.importorskip("torch")
    code = (
        "import numpy as np, torch\n"
        "from gradcheck_ref.adapters import from_torch\n"
        "from_torch(torch.sin).jvp(np.ones(2), np.ones(2))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


# --- the backward of the backward ------------------------------------------------------------

# Functions of a framework, inputs, and how many outputs.
TWICE = {
    "one": (lambda m: lambda x: m.sin(x) * x, (X,), 1),
    "scalar": (lambda m: lambda x: m.sum(x**3), (X,), 1),
    "two inputs": (lambda m: lambda a, b: a**2 * m.sin(b), (X, X[::-1]), 1),
    "two outputs": (lambda m: lambda a: (a**3, m.exp(a)), (X,), 2),
    "two of both": (lambda m: lambda a, b: (a**3 * b, m.exp(a)), (X, X), 2),
    "linear": (lambda m: lambda a: 2 * a, (X,), 1),
    "complex": (lambda m: lambda z: m.exp(A * z) * m.conj(z), (Z,), 1),
}


def gradients_of(f, count):
    """Return the map from inputs and grad_outputs to gradients, count of them being inputs."""

    def gradients(*arrays):
        grad_outputs = arrays[count:]
        upstream = grad_outputs if len(grad_outputs) > 1 else grad_outputs[0]
        return f.vjp(upstream, *arrays[:count])

    return gradients


@pytest.mark.parametrize("name", TWICE)
def test_the_backward_of_the_backward_is_right(torch, name):
    make, inputs, outputs = TWICE[name]
    f = from_torch(make(torch))
    rng = np.random.default_rng(0)
    returned = f(*inputs) if outputs > 1 else (f(*inputs),)
    grad_outputs = [rng.normal(size=one.shape).astype(one.dtype) for one in returned]
    gradients = gradients_of(f, len(inputs))
    report = check_vjp(gradients, (*inputs, *grad_outputs), f.vjp_vjp)
    assert report.verdict == "pass"
    wrong = check_vjp(
        gradients, (*inputs, *grad_outputs), lambda *args: [2 * g for g in f.vjp_vjp(*args)]
    )
    assert wrong.verdict == "fail"


def test_the_backward_of_a_wrong_backward_is_that_of_the_wrong_one(torch):
    f = from_torch(cube(torch, 6.0).apply)
    by_x, by_upstream = f.vjp_vjp(np.ones(3), X, np.ones(3))
    assert by_x.tolist() == (12 * X).tolist()
    assert by_upstream.tolist() == (6 * X**2).tolist()


def test_constants_have_no_second_gradient(torch):
    f = from_torch(lambda a, n, b: (a**n * b, a))
    one = np.array(2.0)
    by_a, by_n, by_b, by_first, by_second = f.vjp_vjp((one, None, None), one, 3, one, one, None)
    # The gradient by a is 3 a^2 b g = 48.
    assert (by_a, by_n, by_b, by_first, by_second) == (2 * 48, None, 2 * 24, 2 * 24, None)
    named = f.vjp_vjp({"a": one}, one, None, a=one, n=3, b=one)
    assert named == (96, None, 48, 48, None)


def test_the_grad_outputs_must_be_as_many_as_the_outputs(torch):
    f = from_torch(lambda a, b: a * b)
    with pytest.raises(ValueError, match="fn returns 1 outputs: upstream must be a tuple"):
        f.vjp_vjp((X, X), X, X)


def numpy_backward(torch):
    """Write x**3 with a backward that torch cannot see into."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, upstream):
            (x,) = ctx.saved_tensors
            return torch.from_numpy(3 * x.detach().numpy() ** 2 * upstream.detach().numpy())

    return Cube


def once_differentiable(torch):
    """Write x**3 with a backward that is marked as differentiable once."""
    Cube = cube(torch)
    Cube.backward = staticmethod(torch.autograd.function.once_differentiable(Cube.backward))
    return Cube


@pytest.mark.parametrize("where", ["alone", "within", "beside others"])
@pytest.mark.parametrize(
    ("make", "why"),
    [(numpy_backward, "is detached"), (once_differentiable, "goes through a once_differentiable")],
    ids=["NumPy", "once"],
)
def test_a_backward_that_cannot_be_differentiated_is_no_zero(torch, make, why, where):
    Cube = make(torch)
    fn = {
        "alone": Cube.apply,
        "within": lambda x: Cube.apply(2 * x).sin(),
        "beside others": lambda x: Cube.apply(x) + x**2,
    }[where]
    f = from_torch(fn)
    assert check_vjp(f, X)
    if where == "beside others" and make is numpy_backward:  # torch has no trace of it
        assert f.vjp_vjp(np.ones(3), X, np.ones(3))[0].tolist() == [2] * 3
        return
    with pytest.raises(NotImplementedError, match=rf"its gradient by inputs\[0\] {why}"):
        f.vjp_vjp(np.ones(3), X, np.ones(3))


# --- JAX -------------------------------------------------------------------------------------


def test_double_stays_double_whatever_is_set_outside(jax):
    outside = jax.config.jax_enable_x64
    f = from_jax(jax.jit(lambda x: jax.numpy.sin(x) / 3))
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(f(x), np.sin(x) / 3, rtol=1e-15)
    np.testing.assert_allclose(f.vjp(np.ones(2), x), np.cos(x) / 3, rtol=1e-15)
    assert jax.config.jax_enable_x64 == outside
    assert jax.numpy.asarray(x).dtype == (np.float64 if outside else np.float32)


def jax_cube(jax, factor=3.0):
    """Write x**3 with a vjp of its own, with a factor in it."""

    @jax.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (x**3, x), lambda x, upstream: (factor * upstream * x**2,))
    return cube


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (6.0, "fail")])
def test_a_custom_vjp_is_checked(jax, factor, verdict):
    assert check_vjp(from_jax(jax_cube(jax, factor)), X).verdict == verdict


@pytest.mark.parametrize(
    ("make", "product"),
    [
        (jax_cube, "jvp"),
        (
            lambda jax: (
                lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
            ),
            "vjp",
        ),
        (
            lambda jax: (
                lambda x: jax.lax.while_loop(
                    lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x)
                )[1]
            ),
            "vjp",
        ),
    ],
    ids=["custom_vjp", "callback", "while_loop"],
)
def test_a_missing_rule_of_jax_has_the_type_that_it_has_in_torch(jax, make, product):
    f = from_jax(make(jax))
    f(X)
    with pytest.raises(NotImplementedError, match=r"JVP|Reverse-mode|custom_vjp"):
        getattr(f, product)(np.ones(3), X)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_other_errors_stay_what_they_are_in_jax(jax, kind):
    def fn(x):
        raise kind("this is something else")

    with pytest.raises(kind, match="something else") as caught:
        from_jax(fn).vjp(np.ones(3), X)
    assert caught.type is kind


def test_a_function_of_a_dict_is_checked_by_the_names_in_it(jax):
    def loss(params):
        return jax.numpy.sum(jax.numpy.tanh(params["w"] @ X + params["b"]))

    report = check_vjp(
        from_jax(lambda **params: loss(params)), {"w": np.eye(2, 3), "b": np.array([0.5, 0.25])}
    )
    assert report
    assert {pair.input.name for pair in report.pairs} == {"w", "b"}


def test_a_static_argument_of_a_jitted_function_is_a_constant(jax):
    f = from_jax(jax.jit(lambda x, n: x**n, static_argnums=1))
    assert check_vjp(f, (X, 3))
    assert f.vjp(np.ones(3), X, 3)[1] is None
