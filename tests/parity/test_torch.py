"""Parity with the real torch: the same function and the same claim, the same verdict.

Each NumPy function with its claimed vjp or jvp is wrapped as a ``torch.autograd.Function`` and goes
to ``torch.autograd.gradcheck``; as it is, it goes to ``gradcheck_ref.compat.torch.gradcheck``.
Where the two differ on purpose, the rows are listed here or in ``compat/torch_functions.py``, and
must differ.
"""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
from in_torch import as_torch, as_tuple, leaves, outcome, torch
from torch_functions import (
    EDGES,
    FAILS,
    PAIRS,
    SECOND,
    X,
    Y,
    Z,
    afresh,
    both_modes,
    square,
    square_jvp,
    square_vjp,
    square_vjp_jvp,
    square_vjp_vjp,
    tripled,
)

from gradcheck_ref.compat import torch as ours
from gradcheck_ref.compat.torch import compare as torch_compare
from gradcheck_ref.zoo import all_cases

# The zoo divides by zero on purpose; torch warns beside its errors, and of its sparse tensors.
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Backwards compatibility"),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks"),
]


# --- one function for both -------------------------------------------------------------------


def of_torch(f, inputs, vjp=None, jvp=None, **flags):
    """Return the outcome of torch."""
    return outcome(torch.autograd.gradcheck, as_torch(f, vjp, jvp), leaves(inputs), **flags)


def both(f, inputs, *, vjp=None, jvp=None, **flags):
    """Return our outcome and torch's."""
    mine = outcome(ours.gradcheck, f, inputs, vjp=vjp, jvp=jvp, **flags)
    return mine, of_torch(f, inputs, vjp, jvp, **flags)


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

MISSING_SUMS = [
    "affine/bias", "batch_norm/beta", "convolution_2d/bias", "layer_norm/gamma",
    "leaky_memory/decay", "outer_product/second", "product/column", "product/row", "rms_norm/gain",
    "two_layer_network/last-bias", "weight_norm/length",
]  # fmt: skip
WRONG_SHAPES = [
    "affine/weights-transposed", "bilinear_form/outer-swapped", "iris_classifier/transposed",
    "residual_block/transposed", "trace_of_product/not-transposed",
]  # fmt: skip
WRITES_TO_INPUTS = ["layer_norm/centres-in-place", "relu/in-place", "softmax/shifts-in-place"]
DIFFERENT_ON_PURPOSE = {
    **{f"{name}-not-summed": (FAILS, True) for name in MISSING_SUMS},  # torch's engine sums
    "division/missing-sum": (FAILS, True),
    **dict.fromkeys(WRONG_SHAPES, (FAILS, "RuntimeError")),  # torch's engine refuses
    **dict.fromkeys(WRITES_TO_INPUTS, (FAILS, True)),  # torch does not look
}


def rows():
    """Yield the name, the case, and a vjp of one's own for each library: some keep state."""
    for case, again in zip(all_cases(), all_cases(), strict=True):
        yield case.name, case, case.vjp, again.vjp
        for bug, bug_again in zip(case.bugs, again.bugs, strict=True):
            yield bug.id, case, bug.vjp, bug_again.vjp


def different_rows(**flags):
    """Return the two outcomes of every row where they differ, after some hundred that agree."""
    outcomes = {
        name: (
            outcome(ours.gradcheck, case.f, case.inputs, vjp=mine, **flags),
            of_torch(case.f, case.inputs, theirs, **flags),
        )
        for name, case, mine, theirs in rows()
    }
    assert len(outcomes) >= 631
    assert sum(pair == (True, True) for pair in outcomes.values()) >= 130
    assert sum(pair == (FAILS, FAILS) for pair in outcomes.values()) >= 400
    return {name: pair for name, pair in outcomes.items() if pair[0] != pair[1]}


def test_every_verdict_on_the_zoo_equals_torchs():
    assert different_rows() == DIFFERENT_ON_PURPOSE


def test_every_fast_mode_verdict_on_the_zoo_equals_torchs():
    assert different_rows(fast_mode=True) == {
        **DIFFERENT_ON_PURPOSE,
        # A step that is shorter than the distance to the next number: torch compares 0 with 0.
        "identity_far_out/zero": ("GradcheckError", True),
    }


# --- edge cases: what we say of them is in compat/test_torch.py ------------------------------


@both_modes
@pytest.mark.parametrize("row", EDGES)
def test_torch_agrees_with_the_table_of_edge_cases(row, fast):
    f, vjp, inputs, flags, _, slow, in_fast_mode = EDGES[row]
    theirs = of_torch(f, inputs, afresh(vjp), fast_mode=fast, **flags)
    assert theirs == (in_fast_mode if fast else slow)


# Those of the pairs that can be written as a Function of torch.
TENSORS = [
    "one array", "0-d", "two in and out", "a constant output", "a number out", "complex",
    "complex to real", "real to complex", "only an imaginary part wrong",
    "real and complex",
]  # fmt: skip


@both_modes
@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"check_backward_ad": False, "check_forward_ad": True},
        {"check_forward_ad": True, "check_grad_dtypes": True},
    ],
    ids=["backward", "forward", "both"],
)
@pytest.mark.parametrize("row", TENSORS)
def test_real_and_complex_functions_backward_and_forward(row, flags, fast):
    f, inputs, vjp, wrong_vjp, jvp, wrong_jvp = PAIRS[row]
    assert of_torch(f, inputs, vjp, jvp, fast_mode=fast, **flags) is True
    assert of_torch(f, inputs, wrong_vjp, wrong_jvp, fast_mode=fast, **flags) == FAILS


def test_a_batch_is_a_broadcast_here_and_a_vmap_there():
    products = {"vjp": square_vjp, "jvp": square_jvp}
    for flags in (
        {"check_batched_grad": True},
        {"check_batched_forward_grad": True, "check_forward_ad": True},
    ):
        assert outcome(ours.gradcheck, square, X, **products, **flags) is True
        assert outcome(torch.autograd.gradcheck, square, leaves(X), **flags) is True
        # Here a shape that does not fit, there a function without vmap.
        got = both(np.sum, X, vjp=lambda u, x: u * np.ones(2), jvp=lambda t, x: t.sum(), **flags)
        assert got == (FAILS, FAILS)


def test_torch_warns_of_an_input_of_low_precision():
    with pytest.warns(UserWarning, match="not a double precision"):
        assert of_torch(square, X.astype(np.float32), square_vjp) == FAILS


def test_a_jvp_may_return_none_here():
    flags = {"check_forward_ad": True, "check_backward_ad": False}
    got = both(lambda x: (x * x, np.ones(2)), X, jvp=lambda t, x: (2 * x * t, None), **flags)
    assert got == (True, "RuntimeError")


def test_an_output_that_is_not_an_array_is_an_attribute_error_in_torch():
    assert outcome(torch.autograd.gradcheck, lambda x: "text", leaves(X)) == "AttributeError"


# Memory: how the inputs are made from a buffer, as tensors, and what torch says.
MEMORY = {
    "a broadcast array": (lambda t: (t[:1].detach().expand(3).requires_grad_(),), "RuntimeError"),
    "windows that overlap": (
        lambda t: (t.detach().as_strided((2, 2), (1, 1)).requires_grad_(),), FAILS,
    ),
    "the same array twice": (lambda t: (t, t), True),
}  # fmt: skip


@pytest.mark.parametrize("row", MEMORY)
def test_shared_memory(row):
    tensors, expected = MEMORY[row]

    def vjp(u, *inputs):
        return (2 * inputs[0] * u,) if len(inputs) == 1 else (inputs[1] * u, inputs[0] * u)

    f = as_torch(lambda *inputs: inputs[0] * inputs[-1], vjp)
    inputs = tensors(*leaves(np.array([0.5, 1.5, 2.5])))
    assert outcome(torch.autograd.gradcheck, f, inputs) == expected


# --- masked arrays are torch's sparse tensors ------------------------------------------------

W = np.array([[1.0, 2.0], [3.0, 4.0]])


@both_modes
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


def both_twice(f, vjp, vjp_vjp, vjp_jvp, inputs, **flags):
    torch_f = as_twice_differentiable({"vjp": vjp_vjp, "jvp": vjp_jvp}, len(inputs), f, vjp)
    return (
        outcome(ours.gradgradcheck, f, inputs, vjp=vjp, vjp_vjp=vjp_vjp, vjp_jvp=vjp_jvp, **flags),
        outcome(torch.autograd.gradgradcheck, torch_f, leaves(inputs), **flags),
    )


@both_modes
@pytest.mark.parametrize(
    "row", ["one array", "two in and out", "a number out", "complex", "a constant"]
)
def test_second_derivatives_backward_and_forward_over_reverse(row, fast):
    f, vjp, vjp_vjp, vjp_jvp, inputs = SECOND[row]
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


@pytest.mark.parametrize("wrong", ["the right second derivative of a wrong first", "not linear"])
def test_second_derivatives_find_only_some_wrong_first_derivatives(wrong):
    if wrong == "not linear":  # found, though the cotangents of both are random
        row = (square, lambda u, x: 2 * x * u**2, lambda w, x, u: (2 * u**2 * w, 2 * x * w), None)
        expected = FAILS
    else:  # 3x for 2x is not found
        row = (square, lambda u, x: 3 * x * u, lambda w, x, u: (3 * u * w, 3 * x * w), None)
        expected = True
    assert both_twice(*row, (X,)) == (expected, expected)


# More arguments of gradgradcheck, and what torch says.
SECOND_ORDER_FLAGS = {
    "grad_outputs": ({"grad_outputs": Y}, True),
    "grad_outputs with gaps": ({"gen_non_contig_grad_outputs": True}, True),
    "grad_outputs of another shape": ({"grad_outputs": np.ones(3)}, "RuntimeError"),
    "too many grad_outputs": ({"grad_outputs": (Y, Y)}, True),
    "a complex one": ({"grad_outputs": Z}, "RuntimeError"),
    "one that is None": ({"grad_outputs": (None,)}, "AttributeError"),
}  # fmt: skip


@pytest.mark.parametrize("row", SECOND_ORDER_FLAGS)
def test_torch_treats_the_arguments_of_gradgradcheck_as_in_the_table(row):
    flags, theirs = SECOND_ORDER_FLAGS[row]
    if "grad_outputs" in flags:
        flags = flags | {"grad_outputs": leaves(flags["grad_outputs"])}
    second = {"vjp": square_vjp_vjp, "jvp": square_vjp_jvp}
    torch_f = as_twice_differentiable(second, 1, square, square_vjp)
    assert outcome(torch.autograd.gradgradcheck, torch_f, leaves(X), **flags) == theirs


def test_slopes_by_integer_grad_outputs_are_checked_here_and_not_there():
    vjp_vjp = lambda w, x, u: (2 * u * w, 99 * x * w)  # noqa: E731
    torch_f = as_twice_differentiable({"vjp": vjp_vjp}, 1, square, square_vjp)
    grad_outputs = np.array([1, 2])
    mine = outcome(ours.gradgradcheck, square, X, grad_outputs, vjp=square_vjp, vjp_vjp=vjp_vjp)
    theirs = outcome(torch.autograd.gradgradcheck, torch_f, leaves(X), leaves(grad_outputs))
    assert (mine, theirs) == (FAILS, True)
