"""Parity with the real torch: the same function and the same claim, the same verdict.

Each NumPy function with its claimed vjp or jvp is wrapped as a ``torch.autograd.Function`` and goes
to ``torch.autograd.gradcheck``; as it is, it goes to ``gradcheck_ref.compat.torch.gradcheck``.
Where the two differ on purpose, the rows are listed here, and must differ.
"""

import inspect
import math
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from gradcheck_ref.compat import torch as ours
from gradcheck_ref.compat.torch import compare as torch_compare
from gradcheck_ref.compat.torch.calls import Calls
from gradcheck_ref.zoo import all_cases

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip(
        "torch", reason="the peer torch is missing: pip install torch==2.13.0"
    )
    # At its first use, forward mode imports a part of torch that torch deprecates.
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))

# The zoo divides by zero on purpose; torch warns beside its errors, and of its sparse tensors.
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Backwards compatibility"),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks"),
]


# --- one function for both -------------------------------------------------------------------


EPS = 1e-6


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def as_torch(f, vjp=None, jvp=None, backward=None):
    """Wrap NumPy functions as one of tensors; ``backward`` takes tensors in the place of vjp."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)
            ctx.set_materialize_grads(getattr(vjp, "materialize_grads", True))
            output = f(*map(as_array, inputs))
            ctx.several = isinstance(output, tuple)
            tensors = tuple(map(as_tensor, as_tuple(output)))
            return tensors if ctx.several else tensors[0]

        @staticmethod
        def backward(ctx, *cotangents):
            if backward is not None:
                return as_tuple(backward(*ctx.saved_tensors, *cotangents))
            listed = tuple(map(as_array, cotangents))
            upstream = listed if ctx.several else listed[0]
            return tuple(map(as_tensor, as_tuple(vjp(upstream, *map(as_array, ctx.saved_tensors)))))

        @staticmethod
        def jvp(ctx, *tangents):
            listed = tuple(map(as_array, tangents))
            tangent = listed if len(listed) > 1 else listed[0]
            pushed = as_tuple(jvp(tangent, *map(as_array, ctx.saved_tensors)))
            tensors = tuple(map(as_tensor, pushed))
            return tensors if ctx.several else tensors[0]

    return Function.apply


def as_array(tensor):
    """Return the memory of a tensor as an array, so that torch sees what is written to it."""
    return None if tensor is None else tensor.detach().numpy()[()]


def as_tensor(array):
    return None if array is None else torch.tensor(np.array(array))


def leaves(inputs):
    """Return the inputs as tensors, of which those that can be differentiated require it."""
    tensors = [as_tensor(x) if isinstance(x, np.ndarray) else x for x in as_tuple(inputs)]
    for tensor in tensors:
        if torch.is_tensor(tensor) and (tensor.is_floating_point() or tensor.is_complex()):
            tensor.requires_grad_()
    return tuple(tensors)


def outcome(check, *arguments, **flags):
    """Return True or False, or the name of what is raised."""
    try:
        return check(*arguments, **flags)
    except Exception as error:
        return type(error).__name__


def both(f, inputs, *, vjp=None, jvp=None, **flags):
    """Return our outcome and torch's; a vjp that counts its calls begins anew for each."""
    mine, theirs = (vjp.afresh() if isinstance(vjp, Counting) else vjp for _ in range(2))
    return (
        outcome(ours.gradcheck, f, inputs, vjp=mine, jvp=jvp, **flags),
        outcome(torch.autograd.gradcheck, as_torch(f, theirs, jvp), leaves(inputs), **flags),
    )


@pytest.fixture(autouse=True)
def same_vectors(monkeypatch):
    """Draw u and v of fast mode as torch does: its own bits, from its own generator."""
    drawing = SimpleNamespace(rng=None, generator=None)

    def random_unit(rng, like):
        if rng is not drawing.rng:  # a new check begins
            drawing.rng, drawing.generator = rng, torch.Generator()
        specified = ~np.ma.getmaskarray(like)
        drawn = torch.rand(int(specified.sum()), generator=drawing.generator).double().numpy()
        unit = np.zeros(like.shape)
        unit[specified] = drawn / np.linalg.norm(drawn)
        return unit

    monkeypatch.setattr(torch_compare, "random_unit", random_unit)


# --- the whole zoo ---------------------------------------------------------------------------

MISSING_SUMS = {
    "affine/bias-not-summed",
    "batch_norm/beta-not-summed",
    "convolution_2d/bias-not-summed",
    "division/missing-sum",
    "layer_norm/gamma-not-summed",
    "leaky_memory/decay-not-summed",
    "outer_product/second-not-summed",
    "product/column-not-summed",
    "product/row-not-summed",
    "rms_norm/gain-not-summed",
    "two_layer_network/last-bias-not-summed",
    "weight_norm/length-not-summed",
}
WRONG_SHAPES = {
    "affine/weights-transposed",
    "bilinear_form/outer-swapped",
    "iris_classifier/transposed",
    "residual_block/transposed",
    "trace_of_product/not-transposed",
}
WRITES_TO_INPUTS = {
    "layer_norm/centres-in-place",
    "relu/in-place",
    "softmax/shifts-in-place",
}
DIFFERENT_ON_PURPOSE = {
    **dict.fromkeys(MISSING_SUMS, ("GradcheckError", True)),  # torch's engine sums
    **dict.fromkeys(WRONG_SHAPES, ("GradcheckError", "RuntimeError")),  # torch's engine refuses
    **dict.fromkeys(WRITES_TO_INPUTS, ("GradcheckError", True)),  # torch does not look
}


def rows():
    """Yield the name, the case, and a vjp of one's own for each library: some keep state."""
    for case, again in zip(all_cases(), all_cases(), strict=True):
        yield case.name, case, case.vjp, again.vjp
        for bug, bug_again in zip(case.bugs, again.bugs, strict=True):
            yield bug.id, case, bug.vjp, bug_again.vjp


def different_rows(check):
    """Return the two outcomes of every row where they differ, after some hundred that agree."""
    outcomes = {name: check(case, mine, theirs) for name, case, mine, theirs in rows()}
    assert len(outcomes) >= 631
    assert sum(pair == (True, True) for pair in outcomes.values()) >= 130
    assert sum(pair == ("GradcheckError",) * 2 for pair in outcomes.values()) >= 400
    return {name: pair for name, pair in outcomes.items() if pair[0] != pair[1]}


def backward(**flags):
    def check(case, mine, theirs):
        inputs = case.inputs
        return (
            outcome(ours.gradcheck, case.f, inputs, vjp=mine, **flags),
            outcome(torch.autograd.gradcheck, as_torch(case.f, theirs), leaves(inputs), **flags),
        )

    return check


def test_every_verdict_on_the_zoo_is_that_of_torch():
    assert different_rows(backward()) == DIFFERENT_ON_PURPOSE


def test_every_verdict_of_fast_mode_on_the_zoo_is_that_of_torch():
    assert different_rows(backward(fast_mode=True)) == {
        **DIFFERENT_ON_PURPOSE,
        # A step that is shorter than the distance to the next number: torch compares 0 with 0.
        "identity_far_out/zero": ("GradcheckError", True),
    }


def jvp_of(case, vjp):
    """Turn what a vjp claims at the point of a case into a jvp that claims the same.

    For dy = J dx a vjp gives the rows of J; those for u = 1 and u = i are the slopes of the real
    and the imaginary part of an output.
    """
    outputs = [np.asarray(y) for y in as_tuple(case.f(*case.inputs))]
    several = isinstance(case.f(*case.inputs), tuple)
    jacobian = []
    for j, y in enumerate(outputs):
        for unit in np.eye(y.size).reshape(y.size, *y.shape):
            for pick in (1, 1j) if np.iscomplexobj(y) else (1,):
                upstream = [np.zeros_like(y)[()] for y in outputs]
                upstream[j] = (unit * pick)[()]
                copies = [x.copy() for x in case.inputs]
                jacobian.append(as_tuple(vjp(tuple(upstream) if several else upstream[0], *copies)))

    def jvp(tangent, *inputs):
        tangents = tangent if len(inputs) > 1 else (tangent,)
        slopes = iter([slope_along(gradients, tangents) for gradients in jacobian])
        pushed = []
        for y in outputs:
            parts = (1, 1j) if np.iscomplexobj(y) else (1,)
            listed = [sum(part * next(slopes) for part in parts) for _ in range(y.size)]
            pushed.append(np.array(listed, y.dtype).reshape(y.shape))
        return tuple(pushed) if several else pushed[0]

    return jvp


def slope_along(gradients, tangents):
    """Return Re(sum(conj(gradient) * tangent)) over all inputs."""
    pairs = zip(gradients, tangents, strict=True)
    return sum(np.vdot(g, t).real for g, t in pairs if g is not None)


def test_every_verdict_on_a_jvp_that_claims_the_same_is_that_of_torch():
    flags = {"check_backward_ad": False, "check_forward_ad": True}

    def check(case, mine, theirs):
        try:
            jvp = jvp_of(case, mine)
            jvp(tuple(case.inputs) if len(case.inputs) > 1 else case.inputs[0], *case.inputs)
        except ValueError:
            return "no jvp", "no jvp"  # its gradients have the wrong shape
        return both(case.f, case.inputs, jvp=jvp, **flags)

    assert different_rows(check) == {}


def test_every_numerical_jacobian_of_the_zoo_is_that_of_torch():
    from torch.autograd.gradcheck import get_numerical_jacobian

    compared = 0
    for case in all_cases():
        if case.name == "identity_far_out" or np.iscomplexobj(case.f(*case.inputs)):
            continue  # a step that does not move x; a refusal
        mine = ours.get_numerical_jacobian(lambda x, f=case.f: f(*x), case.inputs, eps=EPS)
        with pytest.warns(FutureWarning, match="get_numerical_jacobian"):
            theirs = get_numerical_jacobian(
                lambda x, f=case.f: as_torch(f)(*x), leaves(case.inputs), eps=EPS
            )
        points = [x for x in case.inputs if x.dtype.kind in "fc"]
        for x, got, expected in zip(points, mine, theirs, strict=True):
            # Ours are divided by the step that was taken, torch's by the step wished for.
            wished, expected = 2 * EPS, expected.numpy()
            for part in ("real", "imag"):
                at = getattr(x, part).reshape(-1, 1)
                taken = (at + EPS) - (at - EPS)
                np.testing.assert_allclose(
                    getattr(got, part) * taken, getattr(expected, part) * wished, rtol=1e-15
                )
            compared += 1
    assert compared > 180


NUMBERS = re.compile(
    r"(.*)output (\d+) with respect to input (\d+),\nnumerical:(.*)\nanalytical:(.*)\n"
)


def test_the_projections_of_fast_mode_are_those_of_torch():
    compared = 0
    for name, case, mine, theirs in rows():
        message = ""
        if name not in DIFFERENT_ON_PURPOSE and case.name != "identity_far_out":
            try:
                torch.autograd.gradcheck(
                    as_torch(case.f, theirs), leaves(case.inputs), fast_mode=True
                )
            except RuntimeError as error:
                message = str(error)
        found = NUMBERS.match(message)
        if not found:
            continue
        part = "imag" if "imaginary" in found[1] else "real"
        calls = Calls({"func": case.f, "vjp": mine}, case.inputs)
        j, k = calls.counted[int(found[2])], calls.checked[int(found[3])]
        rule = torch_compare.Rule(eps=EPS, rtol=1e-3, atol=1e-5, nondet_tol=math.inf)
        mode = torch_compare.Fast(calls, rule)
        got = mode.by_vjp(j, part)[k]
        numeric, analytic = complex(found[4]), complex(found[5])
        size = sum(np.abs(slopes[j]).sum() for slopes in mode.numeric[k].values())
        np.testing.assert_allclose(got.numeric, numeric, rtol=1e-14, atol=1e-15 * size)
        # Ours is along the steps that were taken, torch's along those wished for.
        size = np.abs(mine_along(mode, j, part, k)).sum()
        rounding = 2.0**-52 / EPS * (1 + np.abs(case.inputs[k]).max())
        np.testing.assert_allclose(got.analytic, analytic, rtol=1e-14, atol=rounding * size)
        compared += 1
    assert compared > 400


def mine_along(mode, j, part, k):
    """Return the gradient that a vjp claims for v."""
    pick = torch_compare.PARTS[part]
    return dict(
        zip(mode.calls.checked, mode.calls.gradients({j: pick * mode.v[j]}, ""), strict=True)
    )[k]


# --- edge cases ------------------------------------------------------------------------------

X, Y = np.array([0.5, 1.5]), np.array([0.7, -1.5])
FAILS = "GradcheckError"


class Counting:
    """A vjp that knows how often it has been called: ``vjp(call, upstream, *inputs)``."""

    def __init__(self, vjp):
        self.vjp, self.calls = vjp, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.vjp(self.calls, *arguments)

    def afresh(self):
        return Counting(self.vjp)


def wants_none(product):
    """Let a vjp or jvp have None for what is undefined."""
    product.materialize_grads = False
    return product


def raising(error):
    def raises(*arguments):
        raise error

    return raises


def refuses_none(u, x):
    if u is None:
        raise RuntimeError("no upstream")
    return 2 * x * u


def square(x):
    return x * x


def square_vjp(u, x):
    return 2 * x * u


def total(x):
    return np.sum(x * x)


def two(x, y):
    return x * y, x + y


def two_vjp(u, x, y):
    return u[0] * y + u[1], u[0] * x + u[1]


def or_zeros(u):
    return [np.zeros(2) if one is None else one for one in u]


def two_jvp(t, x, y):
    return t[0] * y + t[1] * x, t[0] + t[1]


def undefined_is_one(u, x, y):
    """A vjp that takes the first cotangent for 1 where there is none and the second is zero."""
    extra = float(u[0] is None and u[1] is not None and not u[1].any())
    gradients = two_vjp(or_zeros(u), x, y)
    return gradients[0] + extra, gradients[1]


def shape_changes_ahead(x):
    return x[:1] * 1.0 if x[0] > X[0] else x * 1.0


def dtype_changes(x):
    return x * 1.0 if x[0] <= X[0] else x * (1 + 0j)


# What both say: the function, its vjp, its inputs and the flags, and the outcome.
SAME = {
    "0-d": (square, square_vjp, np.array(0.5), {}, True),
    "0-d, wrong": (square, lambda u, x: x * u, np.array(0.5), {}, FAILS),
    "a scalar output": (total, square_vjp, X, {}, True),
    "a tuple of one": (lambda x: (x * x,), lambda u, x: 2 * x * u[0], X, {}, True),
    "two outputs": (two, two_vjp, (X, Y), {}, True),
    "the second wrong": (two, lambda u, x, y: (u[0] * y, u[0] * x), (X, Y), {}, FAILS),
    "no gradient": (square, lambda u, x: None, X, {}, FAILS),
    "an unused input": (lambda x, y: x * x, lambda u, x, y: (2 * x * u, None), (X, Y), {}, True),
    "an integer input": (
        lambda x, n: x**n, lambda u, x, n: (n * x ** (n - 1) * u, None), (X, np.array([2, 3])), {},
        True,
    ),
    "False": (square, lambda u, x: x * u, X, {"raise_exception": False}, False),
    "a kink": (lambda x: np.maximum(x, 0), lambda u, x: u * (x > 0), np.zeros(2), {}, FAILS),
    "outside the domain": (np.log, lambda u, x: u / x, np.array([1e-7]), {}, FAILS),
    "nan": (lambda x: x * np.nan, lambda u, x: u * np.nan, X, {}, FAILS),
    "an infinite point": (square, square_vjp, np.array([np.inf]), {}, FAILS),
    "0.09 %": (square, lambda u, x: 2.0018 * x * u, X, {}, True),
    "0.09 %, strictly": (square, lambda u, x: 2.0018 * x * u, X, {"rtol": 1e-4}, FAILS),
    "a tiny function": (lambda x: 1e-6 * x * x, lambda u, x: 0 * x, X, {}, True),
    "without atol": (lambda x: 1e-6 * x * x, lambda u, x: 0 * x, X, {"atol": 0.0}, FAILS),
    "a long step": (lambda x: x**3, lambda u, x: 3 * x * x * u, X, {"eps": 0.1}, FAILS),
    "a long step, allowed": (
        lambda x: x**3, lambda u, x: 3 * x * x * u, X, {"eps": 0.1, "atol": 0.011}, True,
    ),
    "a vjp with state": (
        square, Counting(lambda n, u, x: 2 * x * u * (1 + 1e-6 * n)), X, {}, FAILS,
    ),
    "a vjp with state, allowed": (
        square, Counting(lambda n, u, x: 2 * x * u * (1 + 1e-6 * n)), X,
        {"nondet_tol": 1e-4}, True,
    ),
    "cotangent forgotten": (total, lambda u, x: 2 * x, X, {}, FAILS),
    "0 * inf": (total, lambda u, x: 2 * x * u * (np.inf if u == 0 else 1), X, {}, FAILS),
    "None handled": (
        two, wants_none(lambda u, x, y: two_vjp(or_zeros(u), x, y)), (X, Y), {}, True,
    ),
    "None not handled": (
        two, wants_none(lambda u, x, y: two_vjp(u, x, y)), (X, Y), {}, "TypeError",
    ),
    "None refused": (total, wants_none(refuses_none), X, {}, FAILS),
    "None refused, allowed": (
        total, wants_none(refuses_none), X, {"check_undefined_grad": False}, True,
    ),
    "None is one": (two, wants_none(undefined_is_one), (X, Y), {}, FAILS),
    "None is one, allowed": (
        two, wants_none(undefined_is_one), (X, Y), {"check_undefined_grad": False}, True,
    ),
    "func raises": (raising(KeyError("x")), square_vjp, X, {"raise_exception": False}, "KeyError"),
    "vjp raises": (square, raising(KeyError("x")), X, {"raise_exception": False}, "KeyError"),
    "the shape changes": (
        shape_changes_ahead, square_vjp, X, {"raise_exception": False}, "AssertionError",
    ),
    "the dtype changes": (dtype_changes, square_vjp, X, {"raise_exception": False},
        "AssertionError",
    ),
    "no floating input": (square, square_vjp, np.array([1, 2]), {}, "ValueError"),
    "nothing asked for": (square, square_vjp, X, {"check_backward_ad": False}, "AssertionError"),
    "(float, integer)": (
        lambda x: (x * x, np.round(x).astype(int)), lambda u, x: 2 * x * u[0], X + 0.1, {}, True,
    ),
    "only integers": (lambda x: np.round(x).astype(int), square_vjp, X + 0.1, {}, True),
}  # fmt: skip


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("row", SAME)
def test_at_an_edge_both_say_the_same(row, fast):
    f, vjp, inputs, flags, expected = SAME[row]
    got = both(f, inputs, vjp=vjp, fast_mode=fast, **flags)
    assert got == (expected, expected)


# Where we differ on purpose: what we say, and what torch says in slow and in fast mode.
DIFFERENT = {
    "(integer, float)": (
        lambda x: (np.round(x).astype(int), x * x), lambda u, x: 2 * x * u[1], X + 0.1,
        True, "IndexError", True,
    ),
    "integers that change": (
        lambda x: np.floor(2 * x).astype(int), square_vjp, X, FAILS, True, FAILS,
    ),
    "empty": (square, square_vjp, np.zeros(0), "ValueError", True, True),
    "a step that does not move x": (
        lambda x: 0 * x, lambda u, x: 0 * x, np.array([1e20]), FAILS, True, True,
    ),
    "a step that is rounded": (
        lambda x: x * 1.0, lambda u, x: u * 1.0, np.array([1.23e10]), True, FAILS, FAILS,
    ),
    "infinity agrees with itself": (
        lambda x: np.where(x > 0, np.inf, 0.0), lambda u, x: np.where(u == 0, 0.0, np.inf),
        np.array([0.0]), FAILS, True, True,
    ),
    "NaN the second time": (
        total, Counting(lambda n, u, x: 2 * x * u * (np.nan if n == 2 else 1)), X,
        FAILS, True, True,
    ),
    "one gradient too many": (
        square, lambda u, x: (2 * x * u, x), X, FAILS, "RuntimeError", "RuntimeError",
    ),
    "a complex gradient": (
        square, lambda u, x: 2 * x * u * (1 + 0j), X, FAILS, "RuntimeError", "RuntimeError",
    ),
    "a column for a row": (
        square, lambda u, x: (2 * x * u)[:, None], X, FAILS, "RuntimeError", "RuntimeError",
    ),
    "a gradient not summed": (
        square, lambda u, x: np.ones((4, 1)) * (2 * x * u) / 4, X, FAILS, True, True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("row", DIFFERENT)
def test_at_an_edge_we_differ_on_purpose(row, fast):
    f, vjp, inputs, mine, theirs, theirs_fast = DIFFERENT[row]
    got = both(f, inputs, vjp=vjp, fast_mode=fast)
    assert got == (mine, theirs_fast if fast else theirs)


@pytest.mark.parametrize(
    ("flags", "theirs"),
    [({"eps": 0.0}, FAILS), ({"eps": -1e-6}, True), ({"rtol": -1.0}, "RuntimeError"),
     ({"atol": np.inf}, True), ({"nondet_tol": np.nan}, True)],
    ids=str,
)  # fmt: skip
def test_numbers_that_make_no_sense_are_a_value_error_here(flags, theirs):
    assert both(square, X, vjp=square_vjp, **flags) == ("ValueError", theirs)


def test_a_batch_is_a_broadcast_here_and_a_vmap_there():
    products = {"vjp": square_vjp, "jvp": lambda t, x: 2 * x * t}
    for flags in (
        {"check_batched_grad": True},
        {"check_batched_forward_grad": True, "check_forward_ad": True},
    ):
        assert outcome(ours.gradcheck, square, X, **products, **flags) is True
        assert outcome(torch.autograd.gradcheck, square, leaves(X), **flags) is True
        # Here a shape that does not fit, there a function without vmap.
        got = both(np.sum, X, vjp=lambda u, x: u * np.ones(2), jvp=lambda t, x: t.sum(), **flags)
        assert got == (FAILS, FAILS)


def test_a_func_that_writes_to_its_input_fails():
    def f(x):
        x *= 2
        return x * 1

    assert both(f, X, vjp=lambda u, x: 2 * u) == (FAILS, FAILS)


def test_of_an_input_of_low_precision_both_warn():
    x = np.array([0.3, 1.7], np.float32)

    def cube(x):
        return x * x * x

    def vjp(u, x):
        return 3 * x * x * u

    with pytest.warns(UserWarning, match="input 0 holds float32, less than double precision"):
        mine = outcome(ours.gradcheck, cube, x, vjp=vjp)
    with pytest.warns(UserWarning, match="not a double precision"):
        theirs = outcome(torch.autograd.gradcheck, as_torch(cube, vjp), leaves(x))
    assert (mine, theirs) == (FAILS, FAILS)


def test_a_jvp_may_return_none_here():
    flags = {"check_forward_ad": True, "check_backward_ad": False}
    for claimed in (None, np.zeros(2)):
        got = both(
            lambda x: (x * x, np.ones(2)), X, jvp=lambda t, x, c=claimed: (2 * x * t, c), **flags
        )
        assert got == (True, "RuntimeError" if claimed is None else True)


@pytest.mark.parametrize("given", [None, {"y": 1.0}, "text"], ids=["None", "a dict", "a text"])
def test_outputs_that_are_no_arrays_are_a_type_error_here(given):
    mine = outcome(ours.gradcheck, lambda x: given, X, vjp=square_vjp)
    theirs = outcome(torch.autograd.gradcheck, lambda x: given, leaves(X))
    assert (mine, theirs) == ("TypeError", "AttributeError")


def test_an_input_is_left_as_it_is_where_torch_leaves_it_moved():
    calls = {"mine": 0, "theirs": 0}

    def fails_later(x, who):
        calls[who] += 1
        if calls[who] > 2:
            raise KeyError("x")
        return x * 1

    x = X.copy()
    (tensor,) = leaves(X)
    assert (
        outcome(ours.gradcheck, lambda x: fails_later(x, "mine"), x, vjp=square_vjp) == "KeyError"
    )
    theirs = outcome(torch.autograd.gradcheck, lambda x: fails_later(x, "theirs"), tensor)
    assert theirs == "KeyError"
    np.testing.assert_array_equal(x, X)
    assert not np.array_equal(tensor.detach().numpy(), X)


# Memory: how the inputs are made from a buffer, as arrays and as tensors; what both say.
MEMORY = {
    "a broadcast array": (
        lambda a: (np.broadcast_to(a[:1], 3),),
        lambda t: (t[:1].detach().expand(3).requires_grad_(),),
        ("RuntimeError", "RuntimeError"),
    ),
    "windows that overlap": (
        lambda a: (np.lib.stride_tricks.as_strided(a, (2, 2), (8, 8)),),
        lambda t: (t.detach().as_strided((2, 2), (1, 1)).requires_grad_(),),
        ("RuntimeError", FAILS),
    ),
    "two views of one buffer": (
        lambda a: (a, a[::-1]),
        lambda t: (t.detach().requires_grad_(), t.detach()[:].requires_grad_()),
        (True, FAILS),
    ),
    "the same array twice": (
        lambda a: (a, a),
        lambda t: (t, t),
        (True, True),
    ),
}


@pytest.mark.parametrize("row", MEMORY)
def test_shared_memory(row):
    arrays, tensors, expected = MEMORY[row]

    def f(*inputs):
        return inputs[0] * inputs[-1]

    def vjp(u, *inputs):
        return (2 * inputs[0] * u,) if len(inputs) == 1 else (inputs[1] * u, inputs[0] * u)

    buffer = np.array([0.5, 1.5, 2.5])
    mine = outcome(ours.gradcheck, f, arrays(buffer), vjp=vjp)
    theirs = outcome(torch.autograd.gradcheck, as_torch(f, vjp), tensors(*leaves(buffer)))
    assert (mine, theirs) == expected


# --- complex numbers and forward mode --------------------------------------------------------

Z = np.array([0.5 + 1.5j, -0.7 + 0.2j])


def modulus(z):
    return np.abs(z) ** 2


# The function, a vjp, a jvp, the inputs, and whether they are right.
BOTH_MODES = {
    "real": (square, square_vjp, lambda t, x: 2 * x * t, X, True),
    "real, wrong": (square, lambda u, x: x * u, lambda t, x: x * t, X, False),
    "several": (two, two_vjp, two_jvp, (X, Y), True),
    "several, the first output wrong": (
        two,
        lambda u, x, y: (u[0] * x + u[1], u[0] * x + u[1]),
        lambda t, x, y: (t[0] * x + t[1] * x, t[0] + t[1]),
        (X, Y),
        False,
    ),
    "an output that stands still": (
        lambda x: (x * x, np.ones(3)),
        lambda u, x: 2 * x * u[0],
        lambda t, x: (2 * x * t, np.zeros(3)),
        X,
        True,
    ),
    "z^2": (
        lambda z: z * z, lambda u, z: 2 * z.conj() * u, lambda t, z: 2 * z * t, Z, True,
    ),
    "z^2, wrong": (
        lambda z: z * z, lambda u, z: 2 * z * u, lambda t, z: 2 * z.conj() * t, Z, False,
    ),
    "conj": (np.conj, lambda u, z: u.conj(), lambda t, z: t.conj(), Z, True),
    "conj, wrong": (np.conj, lambda u, z: u, lambda t, z: t, Z, False),
    "complex to real": (
        modulus, lambda u, z: 2 * z * u, lambda t, z: 2 * (z.conj() * t).real, Z, True,
    ),
    "complex to real, wrong": (
        modulus, lambda u, z: 2 * z.conj() * u, lambda t, z: 2 * (z * t).real, Z, False,
    ),
    "complex to real, half": (
        modulus, lambda u, z: z * u, lambda t, z: (z.conj() * t).real, Z, False,
    ),
    "real to complex": (
        lambda x: x * (1 + 2j), lambda u, x: ((1 - 2j) * u).real, lambda t, x: t * (1 + 2j), X,
        True,
    ),
    "real to complex, wrong": (
        lambda x: x * (1 + 2j), lambda u, x: ((1 + 2j) * u).real, lambda t, x: t * (1 - 2j), X,
        False,
    ),
    "mixed": (
        lambda z, x: (z * x, modulus(z)),
        lambda u, z, x: (u[0] * x + 2 * z * u[1], (z.conj() * u[0]).real),
        lambda t, z, x: (t[0] * x + z * t[1], 2 * (z.conj() * t[0]).real),
        (Z, X),
        True,
    ),
    "mixed, wrong in the imaginary part of a gradient": (
        lambda z, x: (z * x, modulus(z)),
        lambda u, z, x: (u[0] * x + 2 * z.real * u[1], (z.conj() * u[0]).real),
        lambda t, z, x: (t[0] * x + z * t[1], 2 * z.real * t[0].real),
        (Z, X),
        False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"check_backward_ad": False, "check_forward_ad": True},
        {"check_forward_ad": True},
        {"check_forward_ad": True, "check_grad_dtypes": True},
    ],
    ids=["backward", "forward", "both", "dtypes"],
)
@pytest.mark.parametrize("row", BOTH_MODES)
def test_real_and_complex_functions_backward_and_forward(row, flags, fast):
    f, vjp, jvp, inputs, right = BOTH_MODES[row]
    got = both(f, inputs, vjp=vjp, jvp=jvp, fast_mode=fast, **flags)
    assert got == ((True, True) if right else (FAILS, FAILS))


# Tangents that are undefined: the jvp, more flags, and the outcome.
UNDEFINED_TANGENTS = {
    "handled": (wants_none(lambda t, x, y: two_jvp(or_zeros(t), x, y)), {}, True),
    "not handled": (wants_none(lambda t, x, y: two_jvp(t, x, y)), {}, "TypeError"),
    "not handled, allowed": (
        wants_none(lambda t, x, y: two_jvp(t, x, y)), {"check_undefined_grad": False}, True,
    ),
    "filled": (two_jvp, {}, True),
    "taken for 1": (
        wants_none(lambda t, x, y: two_jvp([1 if one is None else one for one in t], x, y)),
        {}, FAILS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", UNDEFINED_TANGENTS)
def test_undefined_tangents(row):
    jvp, flags, expected = UNDEFINED_TANGENTS[row]
    vjp = lambda u, x, y: two_vjp(or_zeros(u), x, y)  # noqa: E731
    vjp.materialize_grads = getattr(jvp, "materialize_grads", True)  # torch has one wish for both
    got = both(two, (X, Y), vjp=vjp, jvp=jvp, check_forward_ad=True, **flags)
    assert got == (expected, expected)


# --- masked arrays are torch's sparse tensors ------------------------------------------------

W = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("masked", [None, False, True])
@pytest.mark.parametrize("masked_grad", [False, True], ids=["gradient of all", "of the specified"])
def test_masked_arrays(masked_grad, masked, fast):
    mask = np.array([[True, False], [False, True]])
    x = np.ma.array([[0.0, 2.0], [3.0, 0.0]], mask=mask)
    sparse = torch.tensor(x.filled(0)).to_sparse().requires_grad_()

    def vjp(u, x):
        return np.ma.array(u * W, mask=x.mask) if masked_grad else u * W

    mine = outcome(
        ours.gradcheck, lambda x: np.sum(x.filled(0) * W), x, vjp=vjp, masked=masked, fast_mode=fast
    )
    theirs = outcome(
        torch.autograd.gradcheck,
        lambda s: (s.to_dense(masked_grad=masked_grad) * torch.tensor(W)).sum(),
        sparse,
        masked=masked,
        fast_mode=fast,
    )
    # Fast mode does not move what is not specified.
    expected = True if fast or masked_grad == bool(masked) else FAILS
    assert (mine, theirs) == (expected, expected)


def test_a_masked_output_is_refused_by_both():
    x = np.ma.array([1.0, 2.0], mask=[True, False])
    sparse = torch.tensor(x.filled(0)).to_sparse().requires_grad_()
    assert outcome(ours.gradcheck, square, x, vjp=square_vjp) == "ValueError"
    assert outcome(torch.autograd.gradcheck, lambda s: s * s, sparse) == "ValueError"


# --- gradgradcheck ---------------------------------------------------------------------------


def as_twice_differentiable(second, first, f, vjp):
    """Wrap a function whose backward is differentiable in its turn."""

    def gradients(*arguments):
        return vjp(upstream(arguments), *arguments[:first])

    def upstream(arguments):
        return arguments[first:] if len(arguments) - first > 1 else arguments[first]

    def no_tangent(tangent, *inputs):
        """Forward over reverse asks for the jvp of f too, and does not use the answer."""
        zeros = tuple(np.zeros_like(y) for y in as_tuple(f(*inputs)))
        return zeros if len(zeros) > 1 else zeros[0]

    return as_torch(f, jvp=no_tangent, backward=as_torch(gradients, **second))


# The function, its vjp, the vjp and the jvp of that, and the inputs.
SECOND_ORDER = {
    "square": (
        square,
        square_vjp,
        lambda w, x, u: (2 * u * w, 2 * x * w),
        lambda t, x, u: 2 * u * t[0] + 2 * x * t[1],
        (X,),
    ),
    "cube": (
        lambda x: x**3,
        lambda u, x: 3 * x**2 * u,
        lambda w, x, u: (6 * x * u * w, 3 * x**2 * w),
        lambda t, x, u: 6 * x * u * t[0] + 3 * x**2 * t[1],
        (X,),
    ),
    "exp": (
        np.exp,
        lambda u, x: np.exp(x) * u,
        lambda w, x, u: (np.exp(x) * u * w, np.exp(x) * w),
        lambda t, x, u: np.exp(x) * (u * t[0] + t[1]),
        (X,),
    ),
    "sine": (
        np.sin,
        lambda u, x: np.cos(x) * u,
        lambda w, x, u: (-np.sin(x) * u * w, np.cos(x) * w),
        lambda t, x, u: -np.sin(x) * u * t[0] + np.cos(x) * t[1],
        (X,),
    ),
    "reciprocal": (
        lambda x: 1 / x,
        lambda u, x: -u / x**2,
        lambda w, x, u: (2 * u * w / x**3, -w / x**2),
        lambda t, x, u: 2 * u * t[0] / x**3 - t[1] / x**2,
        (X,),
    ),
    "product": (
        lambda x, y: x * y,
        lambda u, x, y: (u * y, u * x),
        lambda w, x, y, u: (u * w[1], u * w[0], y * w[0] + x * w[1]),
        lambda t, x, y, u: (u * t[1] + y * t[2], u * t[0] + x * t[2]),
        (X, Y),
    ),
    "quotient": (
        lambda x, y: x / y,
        lambda u, x, y: (u / y, -u * x / y**2),
        lambda w, x, y, u: (
            -u * w[1] / y**2,
            -u * w[0] / y**2 + 2 * u * x * w[1] / y**3,
            w[0] / y - x * w[1] / y**2,
        ),
        lambda t, x, y, u: (
            t[2] / y - u * t[1] / y**2,
            -t[2] * x / y**2 - u * t[0] / y**2 + 2 * u * x * t[1] / y**3,
        ),
        (X, Y),
    ),
    "sum of squares": (
        total,
        square_vjp,
        lambda w, x, u: (2 * u * w, np.sum(2 * x * w)),
        lambda t, x, u: 2 * u * t[0] + 2 * x * t[1],
        (X,),
    ),
    "matrix times vector": (
        lambda A, x: A @ x,
        lambda u, A, x: (np.outer(u, x), A.T @ u),
        lambda w, A, x, u: (np.outer(u, w[1]), w[0].T @ u, w[0] @ x + A @ w[1]),
        lambda t, A, x, u: (np.outer(t[2], x) + np.outer(u, t[1]), t[0].T @ u + A.T @ t[2]),
        (np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.1]]), X),
    ),
    "two outputs": (
        two,
        two_vjp,
        lambda w, x, y, u, v: (u * w[1], u * w[0], y * w[0] + x * w[1], w[0] + w[1]),
        lambda t, x, y, u, v: (y * t[2] + u * t[1] + t[3], x * t[2] + u * t[0] + t[3]),
        (X, Y),
    ),
    "complex square": (
        lambda z: z * z,
        lambda u, z: 2 * z.conj() * u,
        lambda w, z, u: (2 * w.conj() * u, 2 * z * w),
        lambda t, z, u: 2 * z.conj() * t[1] + 2 * t[0].conj() * u,
        (Z,),
    ),
    "integer power": (
        lambda x, n: x**n,
        lambda u, x, n: (n * x ** (n - 1) * u, None),
        lambda w, x, n, u: (
            n * (n - 1) * x ** (n - 2) * u * w[0],
            None,
            n * x ** (n - 1) * w[0],
        ),
        lambda t, x, n, u: (n * (n - 1) * x ** (n - 2) * u * t[0] + n * x ** (n - 1) * t[2], None),
        (X, np.array([2, 3])),
    ),
}


def tripled(product, number):
    """Make one of the results of a vjp or jvp three times as large."""

    def wrong(*arguments):
        results = product(*arguments)
        several = isinstance(results, tuple)
        listed = [r if i != number else 3 * r for i, r in enumerate(as_tuple(results))]
        return tuple(listed) if several else listed[0]

    return wrong


def both_twice(f, vjp, vjp_vjp, vjp_jvp, inputs, **flags):
    torch_f = as_twice_differentiable({"vjp": vjp_vjp, "jvp": vjp_jvp}, len(inputs), f, vjp)
    return (
        outcome(ours.gradgradcheck, f, inputs, vjp=vjp, vjp_vjp=vjp_vjp, vjp_jvp=vjp_jvp, **flags),
        outcome(torch.autograd.gradgradcheck, torch_f, leaves(inputs), **flags),
    )


@pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])
@pytest.mark.parametrize("row", SECOND_ORDER)
def test_second_derivatives_backward_and_forward_over_reverse(row, fast):
    f, vjp, vjp_vjp, vjp_jvp, inputs = SECOND_ORDER[row]
    flags = {"check_fwd_over_rev": True, "fast_mode": fast}
    assert both_twice(f, vjp, vjp_vjp, vjp_jvp, inputs, **flags) == (True, True)
    for wrong in wrong_versions(vjp_vjp, len(inspect.signature(vjp_vjp).parameters) - 1, inputs):
        assert both_twice(f, vjp, wrong, vjp_jvp, inputs, **flags) == (FAILS, FAILS)
    flags |= {"check_rev_over_rev": False, "check_undefined_grad": False}
    for wrong in wrong_versions(vjp_jvp, len(inputs), inputs):
        assert both_twice(f, vjp, vjp_vjp, wrong, inputs, **flags) == (FAILS, FAILS)


def wrong_versions(product, count, inputs):
    """Return versions of a vjp or jvp in which one result, by an array, is three times as large."""
    integers = {k for k, x in enumerate(inputs) if x.dtype.kind == "i"}
    return [tripled(product, number) for number in range(count) if number not in integers]


@pytest.mark.parametrize("wrong", ["the second is right of the wrong first", "not linear"])
def test_what_second_derivatives_say_of_the_first(wrong):
    if wrong == "not linear":  # found, though the cotangents of both are random
        row = (square, lambda u, x: 2 * x * u**2, lambda w, x, u: (2 * u**2 * w, 2 * x * w), None)
        expected = FAILS
    else:  # 3x for 2x is not found
        row = (square, lambda u, x: 3 * x * u, lambda w, x, u: (3 * u * w, 3 * x * w), None)
        expected = True
    assert both_twice(*row, (X,)) == (expected, expected)


# More arguments of gradgradcheck: what we say, and what torch says.
SECOND_ORDER_FLAGS = {
    "neither": ({"check_rev_over_rev": False}, "AssertionError", "AssertionError"),
    "undefined without reverse": (
        {"check_rev_over_rev": False, "check_fwd_over_rev": True}, "AssertionError",
        "AssertionError",
    ),
    "a batch without reverse": (
        {
            "check_rev_over_rev": False, "check_fwd_over_rev": True, "check_undefined_grad": False,
            "check_batched_grad": True,
        },
        "AssertionError", "AssertionError",
    ),
    "grad_outputs": ({"grad_outputs": Y}, True, True),
    "grad_outputs with gaps": ({"gen_non_contig_grad_outputs": True}, True, True),
    "grad_outputs of another shape": (
        {"grad_outputs": np.ones(3)}, "RuntimeError", "RuntimeError",
    ),
    "too many grad_outputs": ({"grad_outputs": (Y, Y)}, "RuntimeError", True),
    "a complex one": ({"grad_outputs": Z}, "RuntimeError", "RuntimeError"),
    "one that is None": ({"grad_outputs": (None,)}, True, "AttributeError"),
    "one that overlaps": (
        {"grad_outputs": np.broadcast_to(1.0, 2)}, "RuntimeError", "RuntimeError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", SECOND_ORDER_FLAGS)
def test_the_arguments_of_gradgradcheck(row):
    flags, mine, theirs = SECOND_ORDER_FLAGS[row]
    given = flags.get("grad_outputs")
    f, vjp, vjp_vjp, vjp_jvp, inputs = SECOND_ORDER["square"]
    vjp_vjp = lambda w, x, u: (0 * x if u is None else 2 * u * w, 2 * x * w)  # noqa: E731
    torch_flags = dict(flags)
    if given is not None:
        tensors = leaves(given)
        if isinstance(given, np.ndarray) and 0 in given.strides:
            tensors = (torch.ones(1, dtype=torch.float64).expand(2).requires_grad_(),)
        torch_flags["grad_outputs"] = tensors
    torch_f = as_twice_differentiable({"vjp": vjp_vjp, "jvp": vjp_jvp}, 1, f, vjp)
    got = outcome(ours.gradgradcheck, f, inputs, vjp=vjp, vjp_vjp=vjp_vjp, vjp_jvp=vjp_jvp, **flags)
    assert got == mine
    assert outcome(torch.autograd.gradgradcheck, torch_f, leaves(inputs), **torch_flags) == theirs


def test_slopes_by_integer_grad_outputs_are_checked_here_and_not_there():
    vjp_vjp = lambda w, x, u: (2 * u * w, 99 * x * w)  # noqa: E731
    torch_f = as_twice_differentiable({"vjp": vjp_vjp}, 1, square, square_vjp)
    grad_outputs = np.array([1, 2])
    mine = outcome(ours.gradgradcheck, square, X, grad_outputs, vjp=square_vjp, vjp_vjp=vjp_vjp)
    theirs = outcome(torch.autograd.gradgradcheck, torch_f, leaves(X), leaves(grad_outputs))
    assert (mine, theirs) == (FAILS, True)


def test_a_function_without_derivative_has_no_second_one():
    def f(x):
        return np.round(x).astype(int)

    mine = outcome(ours.gradgradcheck, f, X, vjp=square_vjp, vjp_vjp=square_vjp)
    theirs = outcome(torch.autograd.gradgradcheck, as_torch(f, square_vjp), leaves(X))
    assert (mine, theirs) == ("ValueError", "TypeError")
