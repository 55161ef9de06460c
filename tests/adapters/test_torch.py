"""What from_torch does of its own; what it has in common with from_jax: test_both.py."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from beside import power, rule, saving

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.adapters import check_module, from_torch
from gradcheck_ref.compat.torch import gradcheck, gradgradcheck

torch = pytest.importorskip("torch", reason="torch is not installed")

X = np.array([0.5, -1.25, 2.0])
Z = np.array([1.0 + 2.0j, 0.5 - 0.25j, -1.5j])
A = 2.0 - 3.0j


@pytest.mark.parametrize(
    "write",
    [lambda x: x.exp_(), lambda x: x.index_fill_(0, (x > 0).long(), 2.0)],
    ids=["exp", "fill"],
)
def test_a_torch_function_may_write_to_its_input(write):
    f = from_torch(write)
    x = X.copy()
    assert check_vjp(f, x).verdict == "pass"
    assert x.tolist() == X.tolist()


# --- what is differentiated ------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.01, "fail")])
def test_a_float_next_to_an_array_is_a_constant(factor, verdict):
    x, seen = np.array([0.5, 2.0]), []

    def forward(ctx, x, n):
        ctx.n = n
        return saving(lambda x: x**n)(ctx, x)

    def backward(ctx, upstream):
        return factor * upstream * ctx.n * ctx.saved_tensors[0] ** (ctx.n - 1), None

    def fn(x, n):
        seen.append(n)
        return to_the(x, n)

    to_the = rule(forward, backward)
    for f in (from_torch(to_the), from_torch(fn)):
        report = check_vjp(f, (x, 3.0))
        assert (report.verdict, report.compared) == (verdict, 4)
        assert f.vjp(np.ones(2), x, 3.0)[1] is None
    assert {type(n) for n in seen} == {float}


@pytest.mark.parametrize("scale", [np.array(3.0), np.float64(3.0)], ids=["0-d", "numpy"])
def test_a_number_given_as_an_array_is_differentiated(scale):
    f = from_torch(lambda x, n: x**n)
    assert check_vjp(f, (np.array([0.5, 2.0]), scale)).compared == 6
    assert check_vjp(f, (0.5, 2.0)).compared == 2  # numbers alone are what there is


def test_a_list_of_floats_stays_one():
    def fn(x, scales):
        assert scales == [2.0, 3.0]
        return x * scales[0] + scales[1]

    assert check_vjp(from_torch(fn), (X, [2.0, 3.0])).compared == 9


def test_the_class_of_a_torch_function_is_refused_in_favor_of_its_apply():
    with pytest.raises(TypeError, match=r"fn is the class Made: pass Made\.apply"):
        from_torch(power(3, 3))


def test_sparse_outputs_are_refused_and_sparse_gradients_are_made_dense():
    with pytest.raises(TypeError, match=r"sparse.* \.to_dense\(\)"):
        from_torch(lambda x: torch.diag(x).to_sparse())(X)
    look_up = from_torch(
        lambda weight: torch.nn.functional.embedding(torch.tensor([0, 2]), weight, sparse=True)
    )
    got = look_up.vjp(np.ones((2, 2)), np.zeros((3, 2)))
    assert got.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_a_function_without_forward_mode_names_the_missing_method():
    f = from_torch(power(3, 3).apply)
    with pytest.raises(NotImplementedError, match=r"jvp .* forward mode AD"):
        f.jvp(np.ones(3), X)


def test_an_operation_without_forward_mode_does_not_give_zero():
    def product(x):
        return torch.ones(2).double().scatter_reduce(0, torch.tensor([0, 0, 1]), x, "prod")

    f = from_torch(product)
    with pytest.raises(NotImplementedError, match="no forward mode: its output 0 depends on"):
        f.jvp(np.ones(3), X)
    assert check_vjp(f, X)
    assert not check_vjp(f, X, lambda upstream, x: -f.vjp(upstream, x))
    with pytest.raises(NotImplementedError, match="no forward mode"):
        check_jvp(f, X)


def test_the_vjp_of_a_function_that_uses_forward_mode_is_checked():
    # Forward mode within forward mode is more than torch can do.
    f = from_torch(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))[1])
    with pytest.raises(NotImplementedError, match="Nested forward mode"):
        f.jvp(np.ones(3), X)
    assert check_vjp(f, X)
    assert not check_vjp(f, X, lambda upstream, x: 2 * f.vjp(upstream, x))


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (6.0, "fail")])
def test_a_custom_forward_mode_is_checked(factor, verdict):
    class WithForward(power(3, 3)):
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


def test_outputs_without_gradient_are_left_out_with_a_note():
    f = from_torch(lambda x: (x.detach(), x**2, x.detach() ** 2))
    for report in (check_vjp(f, X), check_jvp(f, X)):
        assert report.verdict == "pass"
        assert {pair.output.name for pair in report.pairs} == {"output[1]"}
        assert report.notes[0].startswith("output[0] and output[2] are left out: f gives no ")
        assert "note: output[0] and output[2] are left out" in " ".join(str(report).split())
        assert report.to_dict()["notes"] == list(report.notes)
    assert not check_vjp(f, X, lambda upstream, x: 2 * f.vjp(upstream, x))
    assert check_vjp(from_torch(lambda x: x**2), X).notes == ()


def test_without_any_differentiable_output_the_claim_is_zeros():
    assert check_vjp(from_torch(lambda x: x.detach() ** 2), X).verdict == "fail"
    assert check_vjp(from_torch(lambda x: (x.detach() + 0.3).floor()), X).verdict == "pass"


# With None for the gradient by b.
product = rule(
    saving(lambda a, b: a * b), lambda ctx, upstream: (upstream * ctx.saved_tensors[1], None)
)


def test_none_from_a_backward_stays_none():
    f = from_torch(lambda a, b: product(a, b).sin())
    gradient, nothing = f.vjp(np.ones(3), X, X)
    assert (gradient.tolist(), nothing) == ((np.cos(X * X) * X).tolist(), None)
    report = check_vjp(f, (X, X))
    assert (report.verdict, report.reason) == ("fail", "wrong")
    assert "vjp gives None for b, which means a constant" in report.notes[0]
    assert check_vjp(from_torch(lambda a: product(a, torch.ones(3).double())), X)


def test_none_from_a_backward_is_right_for_an_input_that_f_does_not_depend_on():
    first = rule(lambda ctx, a, b: a.clone(), lambda ctx, upstream: (upstream, None))
    report = check_vjp(from_torch(first), (X, X))
    assert report.verdict == "pass"
    assert "vjp gives None for inputs[1], which means a constant" in report.notes[0]


def test_none_from_an_operation_of_torch_is_zero():
    for unused in (lambda a, b: a**2, lambda a, b: product(a, a.detach()) + 0 * b):
        assert from_torch(unused).vjp(np.ones(3), X, X)[1].tolist() == [0] * 3
    both = from_torch(lambda a, b: (a**2, product(a, b)))
    assert [g.tolist() for g in both.vjp((np.ones(3), None), X, X)] == [(2 * X).tolist(), [0] * 3]
    also = from_torch(lambda a, b: product(a, b) + b)
    assert also.vjp(np.ones(3), X, X)[1].tolist() == [1] * 3


SINGLE = torch.nn.Linear(3, 2)


def checkpointed(reentrant):
    return lambda x: torch.utils.checkpoint.checkpoint(SINGLE, x, use_reentrant=reentrant)


def multiplied_by(matrix):
    """Multiply by a matrix, whose dtype counts on the way back alone."""
    return rule(lambda ctx, x: x @ matrix.to(x.dtype), lambda ctx, upstream: upstream @ matrix)


USE_DOUBLE = r"module\.double\(\); if fn makes the tensor, use dtype"
MIXED = {  # a function, the dtype of its input, and what the error advises
    "linear": (SINGLE, float, r"pass module\.double\(\)"),
    "function": (lambda x: SINGLE(x).tanh(), float, r"pass module\.double\(\)"),
    "reentrant": (checkpointed(True), float, USE_DOUBLE),
    "not reentrant": (checkpointed(False), float, USE_DOUBLE),
    "backward": (multiplied_by(torch.ones(3, 3)), float, USE_DOUBLE),
    "double": (
        torch.nn.Linear(3, 2).double(), np.float32, r"pass inputs\[0\]\.astype\(float\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("fn", "dtype", "advice"), MIXED.values(), ids=MIXED)
def test_mixed_precision_anywhere_is_refused_with_advice(fn, dtype, advice):
    with pytest.raises(RuntimeError) as caught:
        check_vjp(from_torch(fn), np.ones((1, 3), dtype))
    assert re.search(advice, caught.value.__notes__[0])


def test_a_double_precision_backward_passes():
    assert check_vjp(from_torch(multiplied_by(torch.ones(3, 3).double())), np.ones((1, 3)))


def test_other_errors_get_no_advice_about_double():
    for fn, shape in ((SINGLE, 4), (torch.nn.Linear(3, 2).double(), 4)):
        dtype = next(fn.parameters()).detach().numpy().dtype
        with pytest.raises(RuntimeError) as caught:
            from_torch(fn)(np.ones(shape, dtype))
        assert not getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    "bare",
    [product, power(3, 3), torch.sin],
    ids=["apply", "Function", "operation"],
)
def test_bare_torch_functions_are_refused_with_the_line_to_write(bare):
    line = r"write check_vjp\(from_torch\(f\), inputs\), with from gradcheck_ref\.adapters import"
    with pytest.raises(TypeError, match=line):
        check_vjp(bare, X)


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_habits_from_torchs_own_checks_are_refused_with_advice(check):
    tensor = torch.tensor(X, requires_grad=True)
    with pytest.raises(TypeError, match=r"vjp: use gradcheck_ref\.adapters\.from_torch"):
        check(torch.sin, X)
    with pytest.raises(ValueError, match=r"arrays, e\.g\. x\.detach\(\)\.numpy\(\)$"):
        check(from_torch(torch.sin), tensor)
    assert check(from_torch(torch.sin), tensor.detach().numpy())


def test_tensor_inputs_are_refused_with_the_line_to_write():
    tensor = torch.from_numpy(X)
    for inputs in (tensor, (tensor, 2), [{"a": [tensor]}]):
        with pytest.raises(TypeError, match=r"write check_vjp\(from_torch\(f\), inputs\)"):
            check_vjp(lambda *x: x[0].sin(), inputs)
    with pytest.raises(TypeError, match=r"no attribute vjp: define f\.vjp, or pass vjp="):
        check_vjp(lambda x: x, X)


TOKENS = torch.tensor([1, 2])
BAGS = torch.nn.Embedding(4, 2)
NOTHING_MOVES = {  # the function, the inputs, what is said
    "a module": (BAGS, TOKENS, r"write check_module\(f, inputs\)"),
    "an adapted module": (from_torch(BAGS), TOKENS, r"check_module checks them, too$"),
    "indices": (
        from_torch(lambda tokens: BAGS(tokens)), TOKENS,
        r"tokens\.detach\(\)\.double\(\)\.numpy\(\)\. Indices are constants: pass what they choose",
    ),
    "indices of NumPy": (from_torch(BAGS), TOKENS.numpy(), "Indices are constants: .*check_module"),
    "whole numbers": (from_torch(BAGS), TOKENS.double().numpy(), r"astype\(int\), .*check_module$"),
    "bfloat16": (
        from_torch(torch.sin), torch.tensor(X).bfloat16(),
        r"x\.detach\(\)\.float\(\)\.numpy\(\), with f = from_torch\(fn, dtype='bfloat16'\)$",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("f", "inputs", "said"), NOTHING_MOVES.values(), ids=NOTHING_MOVES)
def test_what_cannot_be_differentiated_is_refused_with_advice(f, inputs, said):
    with pytest.raises((TypeError, RuntimeError)) as caught:
        check_vjp(f, inputs)
    sentence = " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])[:1]])
    assert re.search(said, sentence)


def test_the_advice_about_tensors_and_indices_can_be_followed():
    short = torch.tensor(X).bfloat16()
    f = from_torch(torch.sin, dtype="bfloat16")
    assert check_vjp(f, short.detach().float().numpy()).verdict == "pass"
    chosen = from_torch(lambda tokens, w: torch.nn.functional.embedding(tokens, w))
    assert check_vjp(chosen, (TOKENS.numpy(), np.ones((4, 2)))).verdict == "pass"
    assert check_module(BAGS, TOKENS).verdict == "pass"


def test_a_note_says_that_the_parameters_of_an_adapted_module_are_not_checked():
    linear = torch.nn.Linear(3, 2).double()
    (note,) = check_vjp(from_torch(linear), np.ones(3)).notes
    assert note == "the parameters of the module are constants here: check_module checks them, too"
    assert not check_vjp(from_torch(linear.requires_grad_(False)), np.ones(3)).notes
    assert not check_vjp(from_torch(torch.nn.Tanh()), np.ones(3)).notes


def test_a_torch_function_called_with_arrays_gets_advice():
    with pytest.raises(TypeError) as caught:
        check_gradient(lambda x: torch.sum(x), X, np.ones(3))
    assert "pass from_torch(f)" in caught.value.__notes__[0]
    with pytest.raises(AttributeError) as caught:
        check_gradient(lambda x: x.relu().sum(), X, np.ones(3))
    assert "pass from_torch(f) or from_jax(f)" in caught.value.__notes__[0]


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_the_callers_modes_change_nothing(mode):
    f = from_torch(power(3, 3).apply)
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


def test_lazily_conjugated_tensors_come_out_as_plain_numbers():
    conjugate = from_torch(lambda z: (z.conj(), z.conj().imag))
    assert [output.tolist() for output in conjugate(Z)] == [Z.conj().tolist(), (-Z.imag).tolist()]
    # The sign of a determinant has, in forward mode, zeros without memory.
    sign, _ = from_torch(torch.linalg.slogdet).jvp(np.ones((2, 2)), np.eye(2))
    assert sign == 0
    sign[...] = 1


# --- containers of torch's ---------------------------------------------------------------------


@dataclass(frozen=True)
class Weights:
    matrix: Any
    bias: Any
    name: str = "dense"


@pytest.mark.parametrize(("factor", "verdict"), [(3.0, "pass"), (3.3, "fail")])
def test_a_dataclass_is_a_tree_of_inputs_and_of_outputs(factor, verdict):
    @dataclass
    class Result:
        product: Any
        cube: Any

    def fn(weights, x):
        assert weights.name == "dense"
        return Result(weights.matrix @ x, power(3, factor).apply(weights.bias))

    weights = Weights(np.arange(6.0).reshape(2, 3), np.array([0.5, 2.0]))
    f = from_torch(fn)
    assert f(weights, X)._fields == ("product", "cube")
    assert isinstance(f.vjp((np.ones(2), np.ones(2)), weights, X)[0], Weights)
    report = check_vjp(f, (weights, X))
    assert report.verdict == verdict
    assert {one.input.name for one in report.pairs} == {"weights.matrix", "weights.bias", "x"}
    assert {one.output.name for one in report.pairs} == {"product", "cube"}
    if verdict == "fail":
        assert report.ranked[0].input.name == "weights.bias"


# --- the backward of the backward ------------------------------------------------------------

# Functions of a framework, inputs, and how many outputs.
TWICE = {
    "one": (lambda x: torch.sin(x) * x, (X,), 1),
    "two inputs": (lambda a, b: a**2 * torch.sin(b), (X, X[::-1]), 1),
    "two outputs": (lambda a: (a**3, torch.exp(a)), (X,), 2),
    "two of both": (lambda a, b: (a**3 * b, torch.exp(a)), (X, X), 2),
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
    point = (*inputs, *grad_outputs)
    assert check_vjp(gradients, point, f.vjp_vjp).verdict == "pass"
    assert not check_vjp(gradients, point, lambda *args: [2 * g for g in f.vjp_vjp(*args)])


def test_the_second_gradient_goes_through_a_wrong_backward():
    f = from_torch(power(3, 6).apply)
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


HALF = np.array(0.5)
TREES = {  # the tree, its two leaves, and the name of an entry
    "dict": ({"w": X, "b": HALF}, lambda p: (p["w"], p["b"]), "params['w'][1]"),
    "nested": (({"w": X}, [HALF]), lambda p: (p[0]["w"], p[1][0]), "params[0]['w'][1]"),
}


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "next to another"])
@pytest.mark.parametrize("name", TREES)
def test_the_second_gradient_of_a_tree_is_a_tree_and_its_entries_keep_their_names(name, alone):
    upstream = {"y": np.array([1.0, 0.3, -2.0])}
    tree, leaves, entry = TREES[name]

    def fn(params, x=1.0):
        w, b = leaves(params)
        return {"y": torch.sin(w) * b * x}

    f = from_torch(fn)
    if alone:
        gradient, inputs = lambda params, upstream: f.vjp(upstream, params), (tree, upstream)
    else:
        gradient = lambda params, x, upstream: f.vjp(upstream, params, x)  # noqa: E731
        inputs = tree, 2 * X, upstream

    def slipped(v, *args):
        first, *others = f.vjp_vjp(v, *args)
        leaves(first)[0][1] *= 1.001
        return first, *others

    assert check_vjp(gradient, inputs, f.vjp_vjp).verdict == "pass"
    report = check_vjp(gradient, inputs, slipped)
    assert report.verdict == "fail"
    assert report.worst.name.endswith(f" / d {entry}")


@pytest.mark.parametrize(("upstream", "rest"), [((X, X), (X, X)), (X, (X, X, X))], ids=["0", "2"])
def test_each_output_needs_one_grad_output(upstream, rest):
    f = from_torch(lambda a, b=1.0: a * b)
    with pytest.raises(ValueError, match=r"\d grad_outputs follow .*, but fn has 1 outputs"):
        f.vjp_vjp(upstream, *rest)


def numpy_backward():
    """Write x**3 with a backward that torch cannot see into."""

    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(3 * x.detach().numpy() ** 2 * upstream.detach().numpy())

    return rule(saving(lambda x: x**3), backward)


def once_differentiable():
    """Write x**3 with a backward that is marked as differentiable once."""
    once = torch.autograd.function.once_differentiable(power(3, 3).backward)
    return rule(saving(lambda x: x**3), once)


@pytest.mark.parametrize(
    ("make", "why"),
    [(numpy_backward, "is detached"), (once_differentiable, "goes through a once_differentiable")],
    ids=["NumPy", "once"],
)
def test_a_backward_that_cannot_be_differentiated_does_not_give_zero(make, why):
    cube = make()
    for fn in (cube, lambda x: cube(2 * x).sin()):
        f = from_torch(fn)
        assert check_vjp(f, X)
        with pytest.raises(NotImplementedError, match=rf"its gradient by inputs\[0\] {why}"):
            f.vjp_vjp(np.ones(3), X, np.ones(3))


def test_a_backward_without_a_derivative_is_not_implemented():
    lengths = torch.tensor([2, 1])
    f = from_torch(lambda x: torch.segment_reduce(x, "sum", lengths=lengths))
    assert check_vjp(f, X)
    with pytest.raises(NotImplementedError, match="segment_reduce_backward"):
        f.vjp_vjp(X, X, np.ones(2))


def test_a_gradient_without_upstream_need_not_be_differentiable():
    f = from_torch(lambda a, b: numpy_backward()(a) + b**2)
    _, by_b, _ = f.vjp_vjp((None, np.ones(3)), X, X, np.ones(3))
    assert by_b.tolist() == [2] * 3


# --- what is kept on the way ------------------------------------------------------------------


def kept_by_a_hook(kept):
    def fn(x):
        y = torch.sin(x)
        y.register_hook(kept.append)
        return y

    return fn


def kept_by_a_backward(kept):
    def backward(ctx, upstream):
        kept.append(upstream)
        return 3 * upstream * ctx.saved_tensors[0] ** 2

    return rule(saving(lambda x: x**3), backward)


@pytest.mark.parametrize("keeping", [kept_by_a_hook, kept_by_a_backward])
def test_a_backward_of_many_outputs_may_store_its_upstreams(keeping):
    kept = []
    assert check_vjp(from_torch(keeping(kept)), np.linspace(0.3, 1.7, 12))
    assert {(one.shape, one.numpy().dtype.char) for one in kept} == {((12,), "d")}


def test_an_accumulating_backward_of_many_outputs_is_nondeterministic():
    totals = [torch.zeros(12, dtype=torch.float64)]

    def backward(ctx, upstream):
        totals.append(totals[-1] + 3 * upstream)
        return totals[-1]

    triple = rule(lambda ctx, x: 3 * x, backward)
    report = check_vjp(from_torch(triple), np.linspace(0.3, 1.7, 12))
    assert (report.verdict, report.reason) == ("fail", "nondeterministic")
    assert "f.vjps" not in str(report)  # nobody has written one


class Remembers(torch.nn.Module):
    """A forward that keeps a running mean, and what it worked out."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(12, dtype=torch.float64))
        self.register_buffer("mean", torch.zeros((), dtype=torch.float64))

    def forward(self, x):
        self.seen = torch.sin(x)
        self.mean = 0.9 * self.mean + 0.1 * x.detach().mean()
        return self.seen * self.weight

    def loss(self, x):
        return self(x).sum()


@pytest.mark.parametrize(
    "check",
    [
        lambda module, x: check_vjp(from_torch(module), x),
        lambda module, x: check_vjp(from_torch(module.loss), x),
        check_module,
    ],
    ids=["the module", "a method", "check_module"],
)
def test_tensors_that_a_module_stores_in_forward_are_usable(check):
    module = Remembers()
    assert check(module, np.linspace(0.3, 1.7, 12))
    assert module.seen.detach().numpy().shape == (12,)
    assert module.mean.numpy().shape == ()


def test_a_tensor_that_a_module_caches_is_not_created_under_vmap():
    class Masks(torch.nn.Module):
        def forward(self, x):
            if not hasattr(self, "mask"):
                self.mask = (x > -9).double()
            return x * self.mask

    module, points = Masks(), list(np.arange(6.0).reshape(2, 3))
    assert np.array(from_torch(module).many(points)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert module.mask.numpy().tolist() == [1, 1, 1]


def test_a_residual_under_autocast_is_linear_although_its_backward_rounds():
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(12, 12), torch.nn.Tanh())

    def f(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return (x + layer(x)).float()

    x = np.random.default_rng(0).normal(size=(8, 12)).astype(np.float32)
    f = from_torch(f)
    report = check_vjp(f, x)
    assert not report.faults
    clipped = check_vjp(f, x, lambda upstream, x: np.clip(f.vjp(upstream, x), -1, 1), jvp=False)
    assert clipped.verdict == "fail"
