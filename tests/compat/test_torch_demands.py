"""What torch's gradcheck in NumPy asks besides slopes: repeatable, linear, batched, masked."""

import numpy as np
import pytest
from torch_functions import (
    A,
    Counted,
    X,
    Y,
    Z,
    both_modes,
    drifting,
    message_of,
    or_zeros,
    refuses_none,
    square,
    square_jvp,
    square_vjp,
    total,
    two,
    two_jvp,
    two_vjp,
    undefined_is_one,
    wants_none,
)

from gradcheck_ref.compat.torch import gradcheck

# --- reentrancy ------------------------------------------------------------------------------


@both_modes
def test_a_vjp_that_gives_two_answers_fails(fast):
    text = message_of(gradcheck, square, X, vjp=drifting(), fast_mode=fast)
    assert text.startswith("Backward is not reentrant: two runs of vjp with the same inputs")
    assert "for output 0 with respect to input 0; nondet_tol is 0." in text
    assert gradcheck(square, X, vjp=drifting(), fast_mode=fast, nondet_tol=1e-4)
    assert gradcheck(square, X, vjp=drifting(), fast_mode=fast, nondet_tol=np.inf)
    assert message_of(gradcheck, square, X, vjp=drifting(), fast_mode=fast, nondet_tol=1e-7)


# --- integers, zeros, undefined --------------------------------------------------------------


@both_modes
def test_a_function_of_integers_must_be_constant(fast):
    vjp = Counted(square_vjp)
    assert gradcheck(lambda x: np.round(x + 0.25).astype(int), X, vjp=vjp, fast_mode=fast)
    assert vjp.calls == []
    text = message_of(
        gradcheck, lambda x: (1, np.floor(2 * x).astype(np.uint8)), X, vjp=vjp, fast_mode=fast
    )
    assert text.startswith("Numerical gradient expected to be zero: output 1 holds uint8")
    got = gradcheck(
        lambda x: np.floor(2 * x).astype(int), X, vjp=vjp, fast_mode=fast, nondet_tol=1e9,
        raise_exception=False,
    )  # fmt: skip
    assert got is fast  # torch has this tolerance in fast mode only


def test_a_vjp_must_give_zeros_for_zeros():
    text = message_of(gradcheck, np.sum, X, vjp=lambda u, x: np.ones(2))
    assert text.startswith(
        "Backward is not multiplied by grad_output: with cotangents of zeros vjp gives up to 1 by "
        "input 0"
    )
    text = message_of(gradcheck, np.sum, X, vjp=lambda u, x: np.ones(2) if u else x * np.nan)
    assert "gives up to nan by input 0" in text


@pytest.mark.parametrize(
    ("f", "inputs", "vjp", "named"),
    [
        (
            total, X, wants_none(refuses_none),
            "vjp fails without a cotangent for output 0: no upstream. None stands for zeros. If "
            "you never pass None, pass check_undefined_grad=False",
        ),
        (
            two, (X, Y), wants_none(undefined_is_one),
            "without a cotangent for output 0, and with zeros for the rest, vjp gives up to 1",
        ),
    ],
    ids=["refused", "only the first"],
)  # fmt: skip
def test_an_undefined_cotangent_must_stand_for_zeros(f, inputs, vjp, named):
    assert message_of(gradcheck, f, inputs, vjp=vjp).startswith(named)
    assert gradcheck(f, inputs, vjp=vjp, check_undefined_grad=False)
    assert gradcheck(f, inputs, vjp=vjp, raise_exception=False) is False


def test_an_undefined_tangent_must_stand_for_zeros():
    flags = {"check_backward_ad": False, "check_forward_ad": True}
    right = Counted(lambda t, x, y: two_jvp(or_zeros(t), x, y))
    assert gradcheck(two, (X, Y), jvp=wants_none(right), **flags)
    undefined = [tuple(one is None for one in t) for t, _, _ in right.calls]
    assert undefined == [(False, False)] * 5 + [(True, False), (False, False), (False, True)]
    wrong = wants_none(lambda t, x, y: two_jvp([1 if one is None else one for one in t], x, y))
    assert message_of(gradcheck, two, (X, Y), jvp=wrong, **flags).startswith(
        "jvp gives different results without a tangent of input 0 and with zeros, for output 0: "
    )
    assert gradcheck(two, (X, Y), jvp=wrong, check_undefined_grad=False, **flags)
    silent = wants_none(
        lambda t, x, y: (None, None) if any(one is None for one in t) else two_jvp(t, x, y)
    )
    assert gradcheck(two, (X, Y), jvp=silent, **flags)


@pytest.mark.parametrize("part", ["imag", "real"])
def test_a_complex_input_is_left_undefined_along_both_axes(part):
    flags = {"check_backward_ad": False, "check_forward_ad": True}

    def jvp(t, z, x):
        dz, dx = (0 if one is None else one for one in t)
        wrong = t[1] is None and getattr(dz, part).any()  # along one axis of z only
        return dz * x + z * dx + wrong

    def f(z, x):
        return z * x

    assert gradcheck(f, (Z, X), jvp=jvp, **flags)
    text = message_of(gradcheck, f, (Z, X), jvp=wants_none(jvp), **flags)
    assert "without a tangent of input 1" in text


# --- batches ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "inputs", "vjp", "jvp"),
    [
        (square, X, square_vjp, square_jvp),
        (two, (X, Y), two_vjp, two_jvp),
        (square, Z, lambda u, z: 2 * z.conj() * u, square_jvp),
        (
            lambda x: (x * x, np.ones(3)),
            X,
            lambda u, x: 2 * x * u[0],
            lambda t, x: (2 * x * t, None),
        ),
    ],
    ids=["an array", "two", "complex", "a constant output"],
)
def test_a_product_that_takes_a_batch_passes(f, inputs, vjp, jvp):
    flags = {"check_batched_grad": True, "check_forward_ad": True}
    assert gradcheck(f, inputs, vjp=vjp, jvp=jvp, **flags, check_batched_forward_grad=True)


@pytest.mark.parametrize(
    ("vjp", "named"),
    [
        (lambda u, x: A.T @ u, "vjp fails with a batch for output 0: matmul: "),
        (lambda u, x: float(u[0]) * A[0] + u[1:] @ A[1:], "vjp fails with a batch for output 0: "),
        (
            lambda u, x: u @ A if u.ndim == 1 else (u @ A)[0],
            "vjp fails with a batch for output 0: Gradient by input 0 has the wrong size: shape "
            "(2,) where (2, 2) is expected",
        ),
        (
            lambda u, x: u @ A if u.ndim == 1 else u @ A + u.sum(),
            "vjp gives different results for a batch for output 0 and one by one, by input 0: 4 of",
        ),
    ],
)
def test_a_vjp_that_cannot_take_a_batch_fails_only_on_request(vjp, named):
    def f(x):
        return A @ x

    assert gradcheck(f, X, vjp=vjp)
    text = message_of(gradcheck, f, X, vjp=vjp, check_batched_grad=True)
    assert text.startswith(named)
    assert text.endswith("If you need no batches, pass check_batched_grad=False")


def test_a_batch_of_complex_cotangents_has_both_parts():
    def vjp(u, z):
        return 2 * z.conj() * (u if u.ndim == 1 else u.real)

    assert gradcheck(square, Z, vjp=vjp)
    assert message_of(gradcheck, square, Z, vjp=vjp, check_batched_grad=True)


def test_a_jvp_that_cannot_take_a_batch_fails_only_on_request():
    flags = {"check_backward_ad": False, "check_forward_ad": True}
    assert gradcheck(lambda x: A @ x, X, jvp=lambda t, x: A @ t, **flags)
    text = message_of(
        gradcheck,
        lambda x: np.append(A, A[:1], axis=0) @ x,
        X,
        jvp=lambda t, x: np.append(A, A[:1], axis=0) @ t,
        check_batched_forward_grad=True,
        **flags,
    )
    assert text.startswith("jvp fails with a batch along input 0: ")
    assert text.endswith("If you need no batches, pass check_batched_forward_grad=False")


# --- masked arrays ---------------------------------------------------------------------------

MASK = np.array([[True, False], [False, True]])
SPARSE = np.ma.array([[7.0, 2.0], [3.0, 7.0]], mask=MASK)
W = np.array([[1.0, 2.0], [3.0, 4.0]])


def weighted(x):
    return np.sum(x.filled(0) * W)


@pytest.mark.parametrize("masked", [None, False, True])
@pytest.mark.parametrize(
    ("vjp", "of_all"),
    [
        (lambda u, x: u * W, True),
        (lambda u, x: np.ma.array(u * W, mask=MASK), False),
        (lambda u, x: u * W * ~MASK, False),
    ],
    ids=["of all", "masked", "zero where masked"],
)
def test_masked_entries_are_zeros_that_move_or_do_not_count(vjp, of_all, masked):
    x = SPARSE.copy()
    got = gradcheck(weighted, x, vjp=vjp, masked=masked, raise_exception=False)
    assert got is (of_all != bool(masked))
    assert gradcheck(weighted, x, vjp=vjp, masked=masked, fast_mode=True)
    np.testing.assert_array_equal(x.data, SPARSE.data)
    np.testing.assert_array_equal(x.mask, MASK)


@both_modes
@pytest.mark.parametrize("masked", [False, True])
def test_a_wrong_gradient_of_an_entry_that_is_not_masked_fails(masked, fast):
    def vjp(u, x):
        return np.ma.array(u * W.T, mask=x.mask) if masked else u * W.T

    assert message_of(gradcheck, weighted, SPARSE, vjp=vjp, masked=masked, fast_mode=fast)


def test_a_mask_that_is_changed_is_noticed():
    def f(x):
        x[0, 0] = np.ma.masked
        return weighted(x)

    text = message_of(gradcheck, f, np.ma.array(W), vjp=lambda u, x: u * W)
    assert text.startswith("func writes to input 0")


@pytest.mark.parametrize(("fast", "masked"), [(False, True), (True, True), (True, False)])
def test_a_fully_masked_array_leaves_nothing_to_compare(fast, masked):
    x = np.ma.array(W, mask=True)
    text = message_of(
        gradcheck, weighted, x, vjp=lambda u, x: u * W, masked=masked, fast_mode=fast,
        error=ValueError,
    )  # fmt: skip
    assert text.startswith("nothing to compare: the inputs have 0 entries")


def test_zeros_may_be_rounded_only_if_masked():
    def vjp(u, x):
        return u * W + 1e-12

    x = np.ma.array(W)
    assert gradcheck(weighted, x, vjp=vjp, masked=True, check_undefined_grad=False)
    assert "not multiplied by grad_output" in message_of(
        gradcheck, weighted, x, vjp=vjp, check_undefined_grad=False
    )
