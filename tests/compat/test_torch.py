"""torch's gradcheck in NumPy: its contract, flag by flag. Parity is in ``parity/test_torch.py``."""

import re

import numpy as np
import pytest
from edge_cases import LAYOUTS, bowl, bowl_gradient
from numpy.lib.stride_tricks import as_strided
from torch_functions import (
    EDGES,
    PAIRS,
    Counted,
    X,
    Y,
    Z,
    afresh,
    both_modes,
    message_of,
    square,
    square_jvp,
    square_vjp,
    two,
    two_jvp,
    two_vjp,
    writing,
)

from gradcheck_ref.compat import torch as module
from gradcheck_ref.compat.torch import GradcheckError, gradcheck
from gradcheck_ref.zoo import all_cases

# --- right and wrong, in pairs ---------------------------------------------------------------


@pytest.mark.one_in(3)
@both_modes
@pytest.mark.parametrize("row", PAIRS)
def test_right_products_pass_and_wrong_ones_fail(row, fast):
    f, inputs, vjp, wrong_vjp, jvp, wrong_jvp = PAIRS[row]
    assert gradcheck(f, inputs, vjp=vjp, fast_mode=fast) is True
    assert message_of(gradcheck, f, inputs, vjp=wrong_vjp, fast_mode=fast)
    flags = {"check_forward_ad": True, "check_backward_ad": False, "fast_mode": fast}
    assert gradcheck(f, inputs, jvp=jvp, **flags) is True
    assert message_of(gradcheck, f, inputs, jvp=wrong_jvp, **flags)


@pytest.mark.one_in(4)
@both_modes
@pytest.mark.parametrize("row", EDGES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_edge_case_has_the_outcome_in_the_table(row, fast):
    f, vjp, inputs, flags, expected, *_ = EDGES[row]
    vjp, flags = afresh(vjp), {**flags, "fast_mode": fast}
    if isinstance(expected, bool):
        assert gradcheck(f, inputs, vjp=vjp, **flags) is expected
    else:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            gradcheck(f, inputs, vjp=vjp, **flags)
        assert caught.type.__name__ == expected


def test_the_vjp_and_the_jvp_of_func_itself_are_used():
    class Square:
        __call__ = staticmethod(square)
        vjp = staticmethod(square_vjp)
        jvp = staticmethod(square_jvp)

    assert gradcheck(Square(), X, check_forward_ad=True)
    wrong = Square()
    wrong.jvp = lambda t, x: x * t
    assert gradcheck(wrong, X)
    assert "of jvp" in message_of(gradcheck, wrong, X, check_forward_ad=True)
    assert gradcheck(wrong, X, jvp=square_jvp, check_forward_ad=True)


MISSED = ["tiny_loss", "square_of_small_x", "logarithm_of_large_x", "ridge_regression"]
BLAMED = [
    "relu_at_zero", "square_of_large_x", "large_offset", "square_root_near_zero", "float32_layer",
    "rounded_output",
]  # fmt: skip
MISSED_IN_FAST_MODE = ["very_fast_sine", "mixed_magnitudes"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradcheck_misses_the_rows_of_the_zoo_that_its_docstring_names():
    zoo = {case.name: case for case in all_cases()}
    misses = re.search(r"^Misses\n(.*?)\n\n", module.__doc__, re.M | re.S)[1]
    assert re.findall(r"``(\w+)``", misses) == MISSED + BLAMED + MISSED_IN_FAST_MODE

    def passed(name, fast=False):
        """Return the bugs of a case that pass, and the case itself if it does."""
        case = zoo[name]
        claims = {name: case.vjp} | {bug.id: bug.vjp for bug in case.bugs}
        flags = {"fast_mode": fast, "raise_exception": False}
        return {k for k, v in claims.items() if gradcheck(case.f, case.inputs, vjp=v, **flags)}

    assert all(passed(name) > {name} for name in MISSED)
    assert not any(name in passed(name) for name in BLAMED)
    assert all(passed(name, fast=True) > passed(name) for name in MISSED_IN_FAST_MODE)


# --- what it says ----------------------------------------------------------------------------


def test_a_mismatch_names_the_pair_the_worst_entry_and_the_allowed_error():
    def vjp(u, x, y):
        return u[0] * y + u[1], np.array([u[0][0] * x[0], 2 * u[0][1] * x[1]]) + u[1]

    assert message_of(gradcheck, two, (X, Y), vjp=vjp) == (
        "Jacobian mismatch of vjp for output 0 with respect to input 1: 1 of 4 entries differ; "
        "worst at [1, 1]: analytic 3, numeric 1.5, error 1.5, allowed 0.0015 by rtol. "
        "Row 1, column 1 is d output 0[1] / d input 1[1]"
    )


def test_the_imaginary_part_of_the_outputs_comes_first():
    for part, vjp in (("imaginary", lambda u, z: 7 * u), ("real", lambda u, z: 2j * u.imag)):
        text = message_of(gradcheck, lambda z: z * 2, Z, vjp=vjp)
        assert f"with respect to input 0, {part} part of the output: " in text
    flags = {"check_backward_ad": False, "check_forward_ad": True}
    text = message_of(gradcheck, square, Z, jvp=lambda t, z: 7 * t, **flags)
    assert "of jvp for output 0 with respect to input 0, imaginary part of the input: " in text


def test_a_mismatch_in_fast_mode_is_repeated_in_slow_mode():
    text = message_of(gradcheck, square, X, vjp=lambda u, x: x * u, fast_mode=True)
    assert re.fullmatch(
        r"Jacobian mismatch of vjp for output 0 with respect to input 0, in fast mode, where "
        r"v \. \(J u\) is compared: 1 of 1 entries differ; worst: analytic \S+, numeric \S+, error "
        r"\S+, allowed \S+ by \w+\. In slow mode: 2 of 4 entries differ; worst at \[1, 1\]: "
        r"analytic 1\.5, numeric 3, error 1\.5, allowed 0\.003 by rtol\. "
        r"Row 1, column 1 is d output 0\[1\] / d input 0\[1\]",
        text,
    )


def test_a_fast_mode_message_says_if_slow_mode_would_pass():
    # Errors of 90 % of what is allowed, in both entries; fast mode has only rtol for the sum of
    # a large slope and its negative.
    def vjp(u, x):
        return u * np.array([1.0009, -0.9991])

    def f(x):
        return x[0] - x[1]

    text = message_of(gradcheck, f, X, vjp=vjp, fast_mode=True, atol=0.0)
    assert text.endswith("In slow mode all entries agree: pass fast_mode=False")
    assert gradcheck(f, X, vjp=vjp, atol=0.0)


def test_a_func_that_does_not_use_its_argument_gets_a_hint_about_copies():
    text = message_of(gradcheck, lambda _: X * X, X, vjp=square_vjp)
    assert text.endswith(
        "The output does not change with input 0; if it should, func does not use its argument: "
        "the steps are made on copies"
    )
    assert "copies" not in message_of(gradcheck, square, X, vjp=lambda u, x: x * u)


def test_a_func_that_is_not_finite_a_step_away_gets_advice():
    with np.errstate(invalid="ignore"):
        text = message_of(gradcheck, np.log, np.array([1e-7]), vjp=lambda u, x: u / x)
    assert "numeric nan" in text
    assert text.endswith("func is not finite there: take another eps or point")


def test_an_exception_of_func_is_passed_on_with_the_place():
    def f(x):
        if x[1] > 1.5:
            raise KeyError("too far")
        return x * 1

    with pytest.raises(KeyError) as caught:
        gradcheck(f, X, vjp=lambda u, x: u, raise_exception=False)
    assert caught.value.__notes__ == [
        "in gradcheck_ref, calling func with input 0 moved by +1e-06 at [1]"
    ]


@pytest.mark.parametrize(
    ("which", "note"),
    [("vjp", "calling vjp for output 0[0]"), ("jvp", "calling jvp along input 0")],
)
def test_an_exception_of_a_product_is_passed_on_with_the_place(which, note):
    def raises(*_):
        raise ZeroDivisionError

    flags = {"check_backward_ad": which == "vjp", "check_forward_ad": which == "jvp"}
    with pytest.raises(ZeroDivisionError) as caught:
        gradcheck(square, X, **flags, **{which: raises}, raise_exception=False)
    assert caught.value.__notes__ == [f"in gradcheck_ref, {note}"]


# --- the step and the cost -------------------------------------------------------------------


def test_one_entry_at_a_time_is_moved_by_eps_and_back():
    f = Counted(square)
    assert gradcheck(f, X, vjp=square_vjp, eps=0.25)
    moves = [(x - X).tolist() for (x,) in f.calls]
    assert moves == [[0, 0], [-0.25, 0], [0.25, 0], [0, -0.25], [0, 0.25]]


@both_modes
@pytest.mark.parametrize(
    ("x", "advice"),
    [(1e20, "larger eps"), (-1e20, "larger eps"), (np.inf, "finite"), (np.nan, "finite")],
)
def test_a_step_that_does_not_move_an_entry_fails(x, advice, fast):
    inputs = np.array([1.0, x])
    text = message_of(
        gradcheck, lambda x: np.zeros(2), inputs, vjp=lambda u, x: 0 * u, fast_mode=fast
    )
    assert text.startswith(f"input 0[1] = {x} does not move by ")
    assert advice in text


@pytest.mark.parametrize("dtype", [np.float64, np.longdouble, ">f8"])
def test_points_keep_a_dtype_of_double_precision_or_better(dtype):
    x = np.array([0.5, 1.5], dtype)
    f = Counted(square)
    assert gradcheck(f, x, vjp=square_vjp)
    assert {x.dtype for (x,) in f.calls} == {np.dtype(dtype).newbyteorder("=")}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64])
def test_an_input_of_lower_precision_gives_a_warning(dtype):
    with pytest.warns(UserWarning, match=f"input 1 holds {np.dtype(dtype)}, less than double"):
        gradcheck(
            lambda x, y: x * y.real,
            (X, Y.astype(dtype)),
            vjp=lambda u, x, y: (u * y.real, u * x),
            raise_exception=False,
        )


# --- what is left as it was ------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize(
    ("functions", "named"),
    [
        ({"func": writing(1, two)}, "func writes to input 1"),
        ({"vjp": writing(1, two_vjp)}, "vjp writes to input 0"),
        ({"jvp": writing(2, two_jvp)}, "jvp writes to input 1"),
    ],
    ids=["func", "vjp", "jvp"],
)
def test_a_function_that_writes_to_an_input_is_named_and_gets_only_copies(functions, named, fast):
    x, y = X.copy(), Y.copy()
    functions = {"func": two, "vjp": two_vjp, "jvp": two_jvp} | functions
    text = message_of(gradcheck, inputs=(x, y), check_forward_ad=True, fast_mode=fast, **functions)
    assert text.startswith(named)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_a_buffer_that_is_returned_every_time_does_no_harm():
    buffer, gradient = np.empty(2), np.empty(2)
    assert gradcheck(
        lambda x: np.multiply(x, x, out=buffer),
        X,
        vjp=lambda u, x: np.multiply(2 * x, u, out=gradient),
    )


MOVABLE = {
    name: x
    for name, x in LAYOUTS.items()
    if isinstance(x, np.ndarray) and x.size and name not in ("broadcast-stride-0", "overlapping")
}


@pytest.mark.one_in(4)
@both_modes
@pytest.mark.parametrize("x", MOVABLE.values(), ids=MOVABLE)
def test_the_layout_of_an_input_does_not_matter(x, fast):
    before = x.copy()
    assert gradcheck(bowl, x, vjp=lambda u, x: u * bowl_gradient(x), fast_mode=fast)
    wrong = message_of(gradcheck, bowl, x, vjp=lambda u, x: -u * bowl_gradient(x), fast_mode=fast)
    assert wrong.startswith("Jacobian mismatch")
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    "x",
    [np.broadcast_to(1.0, 3), as_strided(np.arange(4.0), (3, 2), (8, 8)),
     as_strided(np.arange(4.0), (3,), (4,)), np.broadcast_to(np.ma.array([1.0]), 3)],
    ids=["broadcast", "windows", "half an entry apart", "masked"],
)  # fmt: skip
def test_an_input_that_overlaps_itself_is_refused_before_func_is_called(x):
    f = Counted(square)
    text = message_of(gradcheck, f, (X, x), vjp=square_vjp, error=RuntimeError)
    assert text.startswith("input 1 overlaps itself")
    assert f.calls == []


@pytest.mark.parametrize(("x", "y"), [(X, X), (X, X[::-1])], ids=["the same twice", "two views"])
def test_inputs_that_share_memory_are_moved_one_by_one(x, y):
    assert gradcheck(two, (x, y), vjp=two_vjp)
    assert message_of(gradcheck, two, (x, y), vjp=lambda u, x, y: two_vjp(u, y, x[::-1]))


# --- what is refused -------------------------------------------------------------------------


FORWARD = {"check_backward_ad": False, "check_forward_ad": True, "jvp": square_jvp}
BATCHES = {"check_batched_grad": True}
FORWARD_BATCHES = {"check_batched_forward_grad": True}


@pytest.mark.parametrize(
    ("flags", "error", "named"),
    [
        ({"check_backward_ad": False}, AssertionError, "nothing to check"),
        (FORWARD | BATCHES, AssertionError, "check_batched_grad needs check_backward_ad"),
        (FORWARD_BATCHES, AssertionError, "check_batched_forward_grad needs check_forward_ad"),
        ({"eps": 0.0}, ValueError, "eps must be"),
        ({"rtol": -1.0}, ValueError, "rtol must be"),
        ({"atol": np.inf}, ValueError, "atol must be"),
        ({"nondet_tol": np.nan}, ValueError, "nondet_tol must be"),
        ({"vjp": None}, TypeError, "func has no attribute vjp: give it one, or pass vjp="),
        ({"check_forward_ad": True}, TypeError, "func has no attribute jvp"),
        ({"vjp": X}, TypeError, "vjp must be a function"),
        ({"func": 3}, TypeError, "func must be a function"),
        *[
            ({"inputs": inputs}, ValueError, "inputs holds no array to differentiate by (")
            for inputs in (np.array([1, 2]), (), [1.0, 2.0], {"x": X})
        ],
    ],
    ids=lambda given: re.sub(" at 0x[0-9a-f]+", "", str(given)),  # the same in each process
)
def test_arguments_that_do_not_fit_are_refused_before_func_is_called(flags, error, named):
    f = Counted(square)
    flags = {"func": f, "inputs": X, "vjp": square_vjp, "raise_exception": False} | flags
    assert message_of(gradcheck, error=error, **flags).startswith(named)
    assert f.calls == []


@both_modes
@pytest.mark.parametrize(
    ("f", "x", "named"),
    [
        (square, np.zeros(0), "the inputs have 0 entries that can be moved, and the outputs 0"),
        (lambda x: x[:0], X, "the inputs have 2 entries that can be moved, and the outputs 0"),
        (lambda x: (), X, "and the outputs 0"),
    ],
)
def test_comparing_nothing_does_not_pass(f, x, named, fast):
    text = message_of(gradcheck, f, x, vjp=square_vjp, fast_mode=fast, error=ValueError)
    assert text.startswith("nothing to compare")
    assert named in text


@pytest.mark.parametrize(
    ("returned", "error", "named"),
    [
        ("text", TypeError, "output 0 must be an array or a number, not str"),
        ((X, None), TypeError, "output 1 must be an array or a number, not None"),
        ((X, [[1.0], [1.0, 2.0]]), TypeError, "output 1 must be an array or a number, not list"),
        (np.ma.array(X, mask=[0, 1]), ValueError, "output 0 is a masked array"),
    ],
    ids=str,
)
def test_outputs_that_are_not_arrays_are_refused(returned, error, named):
    text = message_of(
        gradcheck, lambda x: returned, X, vjp=square_vjp, error=error, raise_exception=False
    )
    assert text.startswith(named)


@both_modes
def test_outputs_that_change_their_kind_are_an_assertion_error(fast):
    def f(x):
        return x * 1 if x[1] <= X[1] else (x * 1, x * 1)

    flags = {"fast_mode": fast, "raise_exception": False}
    text = message_of(gradcheck, f, X, vjp=lambda u, x: u, error=AssertionError, **flags)
    assert text.startswith("func must return the same shapes and dtypes everywhere")
    assert text.endswith("moved by +1e-06 * u" if fast else "moved by +1e-06 at [1]")


# --- the gradients, as they come -------------------------------------------------------------


@pytest.mark.parametrize(
    ("gradient", "error", "named"),
    [
        (
            lambda u, x: 1.0, GradcheckError,
            "Gradient by input 0 has the wrong size: shape () where (2,)",
        ),
        (
            lambda u, x: 2 * x * u * (1 + 0j), GradcheckError,
            "Gradient by input 0 has the wrong dtype: complex128",
        ),
        (lambda u, x: (2 * x * u, None), GradcheckError, "vjp returned 2 gradients for 1 inputs"),
        (lambda u, x: np.ma.array(x, mask=[0, 1]), GradcheckError, "vjp gives a masked gradient"),
        (lambda u, x: "2x", TypeError, "the gradient by input 0 must be an array or a number, not"),
    ],
)  # fmt: skip
def test_a_gradient_that_does_not_fit_is_refused(gradient, error, named):
    assert message_of(gradcheck, square, X, vjp=gradient, error=error).startswith(named)


@pytest.mark.parametrize(
    ("inputs", "vjp"),
    [
        (X, lambda u, x: (2 * x * u).astype(np.float32)),
        (np.array([1.0, 2.0]), lambda u, x: (2 * x * u).astype(int)),
        (Z.real + 0j, lambda u, z: 2 * u * z.conj() if u.imag.any() else 2 * (u * z.conj()).real),
    ],
    ids=["float32", "integer", "real for complex"],
)
def test_the_dtype_of_a_gradient_is_compared_only_on_request(inputs, vjp):
    assert gradcheck(square, inputs, vjp=vjp)
    text = message_of(gradcheck, square, inputs, vjp=vjp, check_grad_dtypes=True)
    assert text.startswith("Gradient by input 0 has the wrong dtype")
    assert gradcheck(square, X, vjp=square_vjp, check_grad_dtypes=True)


@pytest.mark.parametrize(
    ("f", "jvp", "flags", "named"),
    [
        (square, lambda t, x: x * t * 2j, {}, "Tangent of output 0 has the wrong dtype: complex"),
        (square, lambda t, x: t[:1], {}, "Tangent of output 0 has the wrong size: shape (1,)"),
        (lambda x: (x * 1, x * 1), lambda t, x: t, {}, "jvp must return 2 tangents"),
        (
            lambda x: x * (1 + 0j), lambda t, x: t, {"check_grad_dtypes": True},
            "Tangent of output 0 has the wrong dtype: float64 for an output of complex128",
        ),
    ],
)  # fmt: skip
def test_a_tangent_that_does_not_fit_fails(f, jvp, flags, named):
    flags = {"check_forward_ad": True, "check_backward_ad": False} | flags
    assert message_of(gradcheck, f, X, jvp=jvp, **flags).startswith(named)


def test_a_real_tangent_of_a_complex_output_passes_unless_dtypes_are_compared():
    flags = {"check_forward_ad": True, "check_backward_ad": False}
    assert gradcheck(lambda x: x * (1 + 0j), X, jvp=lambda t, x: t, **flags)
