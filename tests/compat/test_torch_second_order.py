"""torch's gradgradcheck in NumPy: the vjp as a function, checked like any other."""

import inspect

import numpy as np
import pytest
from torch_functions import (
    SECOND,
    Counted,
    X,
    Y,
    Z,
    both_modes,
    message_of,
    square,
    square_vjp,
    square_vjp_jvp,
    square_vjp_vjp,
    tripled,
    two,
    two_vjp,
    two_vjp_jvp,
    two_vjp_vjp,
)

from gradcheck_ref.compat.torch import gradgradcheck


@both_modes
@pytest.mark.parametrize("row", SECOND)
def test_right_second_derivatives_pass_and_wrong_ones_fail(row, fast):
    f, vjp, vjp_vjp, vjp_jvp, inputs = SECOND[row]
    flags = {"check_fwd_over_rev": True, "fast_mode": fast}
    assert gradgradcheck(f, inputs, vjp=vjp, vjp_vjp=vjp_vjp, vjp_jvp=vjp_jvp, **flags)
    last = len(inspect.signature(vjp_vjp).parameters) - 2
    for wrong in (tripled(vjp_vjp, 1 if row.endswith("only") else 0), tripled(vjp_vjp, last)):
        text = message_of(
            gradgradcheck, f, inputs, vjp=vjp, vjp_vjp=wrong, check_fwd_over_rev=False
        )
        assert text.startswith("Jacobian mismatch of vjp_vjp for the gradient by input ")
    text = message_of(
        gradgradcheck, f, inputs, vjp=vjp, vjp_vjp=vjp_vjp, vjp_jvp=tripled(vjp_jvp, 0), **flags
    )
    assert text.startswith("Jacobian mismatch of vjp_jvp for the gradient by input ")


def test_a_message_on_second_derivatives_names_both_sides():
    text = message_of(gradgradcheck, two, (X, Y), vjp=two_vjp, vjp_vjp=tripled(two_vjp_vjp, 3))
    assert text.startswith(
        "Jacobian mismatch of vjp_vjp for the gradient by input 0 with respect to grad_output 1: "
        "2 of 4 entries differ"
    )
    assert text.endswith("is d the gradient by input 0[0] / d grad_output 1[0]")
    text = message_of(
        gradgradcheck, lambda n, x: x**n, (3, X), vjp=lambda u, n, x: u * x,
        vjp_vjp=lambda w, n, x, u: (None, w, w),
    )  # fmt: skip
    assert "for the gradient by input 1 with respect to input 1" in text


def test_the_second_derivatives_of_func_itself_are_used():
    class Square:
        __call__ = staticmethod(square)
        vjp = staticmethod(square_vjp)
        vjp_vjp = staticmethod(square_vjp_vjp)
        vjp_jvp = staticmethod(square_vjp_jvp)

    assert gradgradcheck(Square(), X, check_fwd_over_rev=True)
    assert message_of(gradgradcheck, Square(), X, vjp_vjp=lambda w, x, u: (w, w))


def test_random_grad_outputs_are_between_minus_1_and_1_and_always_the_same():
    given = []
    for gaps in (False, False, True):
        vjp = Counted(square_vjp)
        flags = {"vjp_vjp": square_vjp_vjp, "gen_non_contig_grad_outputs": gaps}
        assert gradgradcheck(square, np.linspace(1, 2, 9), vjp=vjp, **flags)
        given.append(vjp.calls[0][0])
    first, again, with_gaps = given
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, with_gaps)
    assert (first.min(), first.max()) == pytest.approx((-1, 1), abs=0.5)
    assert (first.flags.forc, with_gaps.flags.forc) == (True, False)


def test_grad_outputs_that_are_given_are_used_and_not_written():
    vjp = Counted(square_vjp)
    given = Y.copy()
    assert gradgradcheck(square, X, given, vjp=vjp, vjp_vjp=square_vjp_vjp)
    np.testing.assert_array_equal(vjp.calls[0][0], Y)
    np.testing.assert_array_equal(given, Y)
    assert gradgradcheck(two, (X, Y), [Y, X], vjp=two_vjp, vjp_vjp=two_vjp_vjp)


def test_a_grad_output_that_is_none_is_undefined_and_arrives_as_zeros():
    vjp, vjp_vjp, vjp_jvp = Counted(two_vjp), Counted(two_vjp_vjp), Counted(two_vjp_jvp)
    second = {"vjp_vjp": vjp_vjp, "vjp_jvp": vjp_jvp, "check_fwd_over_rev": True}
    assert gradgradcheck(two, (X, Y), (X, None), vjp=vjp, **second)
    assert not any(u[1].any() for u, _, _ in vjp.calls)
    for *_, undefined in [*vjp_vjp.calls, *vjp_jvp.calls]:
        assert undefined.shape == Y.shape
        assert not undefined.any()


@pytest.mark.parametrize(
    ("grad_outputs", "named"),
    [
        (
            (None, np.ones(3)),
            "grad_outputs must hold one array for each output, of its shape and not complex for a "
            "real output, or None: they have the shapes [None, (3,)], and the outputs are "
            "[((2,), 'float64'), ((2,), 'float64')]",
        ),
        (X, "grad_outputs must hold one array for each output"),
        ((X, Z), "grad_outputs must hold one array for each output"),
        ((X, np.broadcast_to(1.0, 2)), "grad_output 1 overlaps itself"),
    ],
    ids=["shape", "number", "complex", "broadcast"],
)
def test_grad_outputs_that_do_not_fit_are_refused(grad_outputs, named):
    flags = {"vjp": two_vjp, "vjp_vjp": two_vjp_vjp, "raise_exception": False}
    text = message_of(gradgradcheck, two, (X, Y), grad_outputs, **flags, error=RuntimeError)
    assert text.startswith(named)


FORWARD = {"check_rev_over_rev": False, "check_fwd_over_rev": True}
BATCHED = FORWARD | {"check_undefined_grad": False, "check_batched_grad": True}


def test_batches_and_dtypes_of_second_derivatives_are_checked():
    def alone(w, x, u):
        return (2 * u * w, 2 * x * w) if w.ndim == 1 else (w, w)

    def short(w, x, u):
        return (2 * u * w).astype(np.float32), 2 * x * w

    for vjp_vjp, flag in ((alone, "check_batched_grad"), (short, "check_grad_dtypes")):
        assert gradgradcheck(square, X, vjp=square_vjp, vjp_vjp=vjp_vjp, rtol=1e-2)
        flags = {"vjp": square_vjp, "vjp_vjp": vjp_vjp, flag: True}
        assert message_of(gradgradcheck, square, X, **flags, rtol=1e-2)


@pytest.mark.parametrize(
    ("f", "inputs", "flags", "error", "named"),
    [
        (square, X, {"check_rev_over_rev": False}, AssertionError, "nothing to check"),
        (square, X, FORWARD, AssertionError, "check_undefined_grad needs check_rev_over_rev"),
        (square, X, BATCHED, AssertionError, "check_batched_grad needs check_rev_over_rev"),
        (square, X, {"vjp": None}, TypeError, "func has no attribute vjp:"),
        (square, X, {"vjp_vjp": None}, TypeError, "func has no attribute vjp_vjp"),
        (square, X, {"check_fwd_over_rev": True}, TypeError, "func has no attribute vjp_jvp"),
        (square, X, {"eps": 0.0}, ValueError, "eps must be"),
        (square, 3, {}, ValueError, "inputs holds no array"),
        (lambda x: 1, X, {}, ValueError, "func has no floating or complex output"),
        (square, X, {"vjp": lambda u, x: None}, ValueError, "nothing to compare"),
    ],
)
def test_second_derivatives_that_cannot_be_checked_are_refused(f, inputs, flags, error, named):
    flags = {"vjp": square_vjp, "vjp_vjp": square_vjp_vjp, "raise_exception": False} | flags
    assert message_of(gradgradcheck, f, inputs, error=error, **flags).startswith(named)
