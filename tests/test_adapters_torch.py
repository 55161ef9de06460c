"""What from_torch does of its own; what it has in common with from_jax: test_adapters_both.py."""

import subprocess
import sys

import numpy as np
import pytest

from gradcheck_ref import check_jvp, check_vjp
from gradcheck_ref.adapters import from_torch

torch = pytest.importorskip("torch", reason="torch is not installed")

X = np.array([0.5, -1.25, 2.0])
Z = np.array([1.0 + 2.0j, 0.5 - 0.25j, -1.5j])
A = 2.0 - 3.0j


@pytest.mark.parametrize(
    "write",
    [lambda x: x.mul_(3.0), lambda x: x.exp_(), lambda x: x.index_fill_(0, (x > 0).long(), 2.0)],
    ids=["multiply", "exp", "fill"],
)
def test_a_torch_function_may_write_to_its_input(write):
    f = from_torch(write)
    x = X.copy()
    assert check_vjp(f, x).verdict == "pass"
    assert x.tolist() == X.tolist()


@pytest.mark.parametrize(
    "left", [lambda x: x.sum().item(), lambda x: x.detach().numpy()], ids=["item", "numpy"]
)
def test_torch_functions_that_leave_torch_are_refused(left):
    with pytest.raises(TypeError, match="fn must return one tensor, or a tuple of them, not"):
        from_torch(left)(X)


def test_the_class_of_a_torch_function_is_told_from_its_apply():
    with pytest.raises(TypeError, match=r"fn is the class Cube: pass Cube\.apply"):
        from_torch(cube())


def test_sparse_outputs_are_refused_and_sparse_gradients_are_made_dense():
    with pytest.raises(TypeError, match=r"sparse.* \.to_dense\(\)"):
        from_torch(lambda x: torch.diag(x).to_sparse())(X)
    look_up = from_torch(
        lambda weight: torch.nn.functional.embedding(torch.tensor([0, 2]), weight, sparse=True)
    )
    got = look_up.vjp(np.ones((2, 2)), np.zeros((3, 2)))
    assert got.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_a_function_without_a_signature_is_taken():
    assert check_vjp(from_torch(torch.sin), X)


def cube(factor=3.0):
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
def test_a_custom_backward_is_checked(factor, verdict):
    report = check_vjp(from_torch(cube(factor).apply), X)
    assert report.verdict == verdict
    kinds = [diagnosis.kind for diagnosis in report.diagnoses]
    assert kinds == ([] if verdict == "pass" else ["factor"])


def test_a_function_without_forward_mode_says_what_is_missing():
    f = from_torch(cube().apply)
    with pytest.raises(NotImplementedError, match=r"jvp .* forward mode AD"):
        f.jvp(np.ones(3), X)


def test_of_a_function_that_uses_forward_mode_itself_the_vjp_is_checked():
    # Forward mode within forward mode is more than torch can do.
    f = from_torch(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1])
    with pytest.raises(NotImplementedError, match="Nested forward mode"):
        f.jvp(np.ones(3), X)
    assert check_vjp(f, X)
    assert not check_vjp(f, X, lambda upstream, x: 2 * f.vjp(upstream, x))


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (6.0, "fail")])
def test_a_custom_forward_mode_is_checked(factor, verdict):
    class WithForward(cube()):
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


def test_an_output_without_gradient_is_a_wrong_one_unless_it_is_left_out():
    f = from_torch(lambda x: (x**2, x.detach() ** 2))
    report = check_vjp(f, X)
    assert report.verdict == "fail"
    assert report.worst_pair.output.name == "output[1]"
    assert check_vjp(from_torch(lambda x: x**2), X)


def test_a_backward_that_fails_passes_its_exception_on():
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


def test_a_module_is_checked_by_its_input_and_its_parameters_stay_as_they_are():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh()).double()
    before = {name: value.detach().clone() for name, value in module.named_parameters()}
    report = check_vjp(from_torch(module), X)
    assert report
    assert report.pairs[0].input.name == "input"
    for name, value in module.named_parameters():
        assert value.grad is None
        assert torch.equal(value, before[name])


def test_the_parameters_of_a_module_are_checked_by_name():
    module = torch.nn.Linear(3, 2).double()
    data = torch.from_numpy(X)
    f = from_torch(lambda **params: torch.func.functional_call(module, params, (data,)))
    params = {"weight": np.arange(6.0).reshape(2, 3), "bias": np.ones(2)}
    report = check_vjp(f, params)
    assert report
    assert {pair.input.name for pair in report.pairs} == {"weight", "bias"}


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_the_callers_modes_change_nothing(mode):
    f = from_torch(cube().apply)
    with getattr(torch, mode)():
        assert f.vjp(np.ones(3), X).tolist() == (3 * X**2).tolist()
        assert f.vjp_vjp(X, X, np.ones(3))[0].tolist() == (6 * X * X).tolist()
        assert from_torch(torch.square).jvp(X, X).tolist() == (2 * X * X).tolist()
        assert not torch.is_grad_enabled()


def test_fn_runs_as_in_training():
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


def test_tensors_with_a_flag_come_out_as_the_numbers_they_stand_for():
    conjugate = from_torch(lambda z: (z.conj(), z.conj().imag))
    assert [output.tolist() for output in conjugate(Z)] == [Z.conj().tolist(), (-Z.imag).tolist()]
    # The sign of a determinant has, in forward mode, zeros without memory.
    sign, _ = from_torch(torch.linalg.slogdet).jvp(np.ones((2, 2)), np.eye(2))
    assert sign == 0
    sign[...] = 1


def test_forward_mode_warns_of_nothing():
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
    "one": (lambda x: torch.sin(x) * x, (X,), 1),
    "scalar": (lambda x: torch.sum(x**3), (X,), 1),
    "two inputs": (lambda a, b: a**2 * torch.sin(b), (X, X[::-1]), 1),
    "two outputs": (lambda a: (a**3, torch.exp(a)), (X,), 2),
    "two of both": (lambda a, b: (a**3 * b, torch.exp(a)), (X, X), 2),
    "linear": (lambda a: 2 * a, (X,), 1),
    "complex": (lambda z: torch.exp(A * z) * torch.conj(z), (Z,), 1),
}


def gradients_of(f, count):
    """Return the map from inputs and grad_outputs to gradients, count of them being inputs."""

    def gradients(*arrays):
        grad_outputs = arrays[count:]
        upstream = grad_outputs if len(grad_outputs) > 1 else grad_outputs[0]
        return f.vjp(upstream, *arrays[:count])

    return gradients


@pytest.mark.parametrize("name", TWICE)
def test_the_backward_of_the_backward_is_right(name):
    fn, inputs, outputs = TWICE[name]
    f = from_torch(fn)
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


def test_the_backward_of_a_wrong_backward_is_that_of_the_wrong_one():
    f = from_torch(cube(6.0).apply)
    by_x, by_upstream = f.vjp_vjp(np.ones(3), X, np.ones(3))
    assert by_x.tolist() == (12 * X).tolist()
    assert by_upstream.tolist() == (6 * X**2).tolist()


def test_constants_have_no_second_gradient():
    f = from_torch(lambda a, n, b: (a**n * b, a))
    one = np.array(2.0)
    by_a, by_n, by_b, by_first, by_second = f.vjp_vjp((one, None, None), one, 3, one, one, None)
    # The gradient by a is 3 a^2 b g = 48.
    assert (by_a, by_n, by_b, by_first, by_second) == (2 * 48, None, 2 * 24, 2 * 24, None)
    named = f.vjp_vjp({"a": one}, one, None, a=one, n=3, b=one)
    assert named == (96, None, 48, 48, None)
    # The number of inputs is not read off an upstream that leaves the constant out.
    f = from_torch(lambda a, n: (a**n, a))
    assert f.vjp_vjp({"a": one}, one, None, a=one, n=3) == (48, None, 24, None)


@pytest.mark.parametrize(("upstream", "rest"), [((X, X), (X, X)), (X, (X, X, X))], ids=["0", "2"])
def test_the_grad_outputs_must_be_as_many_as_the_outputs(upstream, rest):
    f = from_torch(lambda a, b=1.0: a * b)
    with pytest.raises(ValueError, match=r"\d grad_outputs follow .*, but fn has 1 outputs"):
        f.vjp_vjp(upstream, *rest)


def numpy_backward():
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


def once_differentiable():
    """Write x**3 with a backward that is marked as differentiable once."""
    Cube = cube()
    Cube.backward = staticmethod(torch.autograd.function.once_differentiable(Cube.backward))
    return Cube


@pytest.mark.parametrize("where", ["alone", "within", "beside others"])
@pytest.mark.parametrize(
    ("make", "why"),
    [(numpy_backward, "is detached"), (once_differentiable, "goes through a once_differentiable")],
    ids=["NumPy", "once"],
)
def test_a_backward_that_cannot_be_differentiated_is_no_zero(make, why, where):
    Cube = make()
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


def test_a_backward_without_a_derivative_has_the_type_for_it():
    lengths = torch.tensor([2, 1])
    f = from_torch(lambda x: torch.segment_reduce(x, "sum", lengths=lengths))
    assert check_vjp(f, X)
    with pytest.raises(NotImplementedError, match="segment_reduce_backward"):
        f.vjp_vjp(X, X, np.ones(2))


def test_a_gradient_without_upstream_need_not_be_differentiable():
    f = from_torch(lambda a, b: numpy_backward().apply(a) + b**2)
    _, by_b, _ = f.vjp_vjp((None, np.ones(3)), X, X, np.ones(3))
    assert by_b.tolist() == [2] * 3
