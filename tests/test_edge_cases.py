"""Every edge case, for every estimator: a defined answer, never a bare traceback."""

import inspect

import numpy as np
import pytest
from edge_cases import (
    ESTIMATORS,
    GRID,
    Counted,
    H,
    bowl,
    bowl_gradient,
    every_estimator,
    every_layout,
    every_no_point,
    every_no_step,
    every_no_value,
    every_scalar_estimator,
    every_stepper,
    never,
)

from gradcheck_ref import (
    adaptive_difference,
    central_difference,
    escalating_difference,
    five_point_difference,
    forward_difference,
)

# h f''/2 at the steps used here; the other formulas are exact on a bowl but for rounding.
COARSE = {"forward": 0.03}
LARGEST = np.finfo(float).max


def bytes_of(x):
    return np.asarray(x).tobytes()


# --- points ----------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@every_estimator
@every_layout
def test_memory_layout_does_not_change_the_gradient(estimate, x):
    before = bytes_of(x)
    got = estimate(bowl, x)
    plain = np.array(np.asarray(x).tolist(), dtype=float).reshape(np.shape(x))
    np.testing.assert_array_equal(got, estimate(bowl, plain))
    assert got.shape == np.shape(x)
    assert type(got) is np.ndarray
    assert got.dtype == np.dtype(float)
    np.testing.assert_allclose(got, bowl_gradient(x), rtol=1e-9, atol=COARSE.get(str(estimate), 0))
    assert bytes_of(x) == before


@every_estimator
@every_no_point
def test_an_invalid_point_is_refused_before_f_is_called(estimate, x, error, words):
    with pytest.raises(error) as caught:
        estimate(never, x)
    for word in words:
        assert word in str(caught.value)


@every_estimator
@pytest.mark.parametrize(
    "f", [None, 3.0, "sin", np.zeros(3)], ids=["None", "float", "str", "array"]
)
def test_an_f_that_is_not_a_function_is_refused(estimate, f):
    with pytest.raises(TypeError, match="f must be a function, not"):
        estimate(f, GRID)


# --- dtypes ----------------------------------------------------------------------------------


@every_estimator
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16", "G", ">f2", ">f4", ">c16"])
def test_every_float_dtype_is_differentiated_in_double_precision_or_better(estimate, dtype):
    dtype = np.dtype(dtype)
    x = np.array([0.5, 2.0, 1.25], dtype)
    if dtype.kind == "c":
        x = x + np.array([1.5j, -0.5j, 0.25j], dtype)
    got = estimate(squared_size, x, **({"h": 2.0**-6} if estimate.has_step else {}))
    assert got.dtype == np.result_type(dtype.newbyteorder("="), np.float64)
    coarse = 2.0**-6 if str(estimate) == "forward" else 0
    # The adaptive estimate takes steps that are not powers of two: they round in x's precision.
    rough = 4e3 * float(np.finfo(dtype).eps) if str(estimate) == "adaptive" else 1e-12
    np.testing.assert_allclose(got, 2 * x.astype(np.clongdouble), rtol=rough, atol=2 * coarse)


def squared_size(x):
    """Sum |x|^2 in the widest precision there is."""
    wide = x.astype(np.clongdouble)
    total = np.sum(wide.real**2 + wide.imag**2)
    return total if x.real.dtype == np.longdouble else float(total)


@every_estimator
def test_longdouble_is_computed_in_longdouble(estimate):
    if np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("longdouble is double on this machine")
    slope = np.longdouble(1) + np.longdouble(2) ** -60  # float64 would make it 1
    got = estimate(lambda x: slope * x[0], np.zeros(1, np.longdouble))
    assert got.dtype == np.longdouble
    assert abs(got[0] - slope) < 2.0**-62
    got = estimate(lambda x: x[0], np.full(1, slope), h=1e-3)  # a place that float64 would move
    assert abs(got[0] - 1) < 1e-18


@every_estimator
@pytest.mark.parametrize(
    ("f", "right", "wrong"),
    [
        (lambda z: (z[0] * (2 - 3j)).real, 2 + 3j, 2 - 3j),
        (lambda z: (z[0] * (2 - 3j)).imag, -3 + 2j, -3 - 2j),
    ],
    ids=["real", "imaginary"],
)
def test_a_complex_gradient_is_df_dre_plus_i_df_dim_and_not_its_conjugate(
    estimate, f, right, wrong
):
    got = estimate(f, np.array([0.5 + 0.25j]))
    assert got[0] == pytest.approx(right, abs=1e-9)
    assert got[0] != pytest.approx(wrong, abs=1e-9)


# --- steps -----------------------------------------------------------------------------------


@every_stepper
@every_no_step
def test_an_invalid_step_is_refused_before_f_is_called(estimate, h, error, words):
    with pytest.raises(error) as caught:
        estimate(never, [1.0, 2.0], h=h)
    assert "h must be" in str(caught.value)
    assert words in str(caught.value)


@every_stepper
@pytest.mark.parametrize(
    ("x", "h", "words"),
    [
        ([1.0, 1e20], 1e-3, ["h=0.001", "x[1]", "1e+20", "float64", "1.6e+04 apart"]),
        (1.0, 1e-17, ["h=1e-17", "x = 1", "2.2e-16 apart"]),
        (np.array([1, 4096], "f4"), 1e-4, ["h=0.0001", "x[1]", "float32", "0.00049 apart"]),
        ([1.0, 1 + 1e20j], 1e-3, ["h=0.001", "imaginary part of x[1]", "1e+20"]),
        ([LARGEST], 1.0, ["h=1", "x[0]", "vanishes"]),
        (np.array([65504], "f2"), 1.0, ["h=1", "x[0]", "vanishes", "float16"]),
    ],
    ids=["1e20", "1", "float32", "imaginary-part", "largest-float64", "largest-float16"],
)  # fmt: skip
def test_a_step_that_vanishes_is_refused_with_the_entry_and_the_spacing(estimate, x, h, words):
    with pytest.raises(ValueError, match="vanishes against") as caught:
        estimate(never, x, h=h)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("x", [1.0, -1.0], ids=["forward", "backward"])
def test_a_step_that_vanishes_on_one_side_only_is_refused(x):
    # Below a power of two the numbers lie twice as close: 1 - h moves, 1 + h does not.
    with pytest.raises(ValueError, match="vanishes"):
        central_difference(never, x, h=2.0**-53)


@every_stepper
@pytest.mark.parametrize(
    ("x", "h"),
    [
        ([1.0, LARGEST], LARGEST / 64),
        (np.array([1.0, 65504], "f2"), 128.0),
        (np.array([1.0, 1.0], "f2"), 1e30),
    ],
    ids=["float64", "float16", "step-beyond-float16"],
)
def test_a_step_beyond_the_largest_number_is_refused_before_f_is_called(estimate, x, h):
    with pytest.raises(ValueError, match=r"beyond the largest float\d\d: take a shorter step"):
        estimate(never, x, h=h)


@every_estimator
@pytest.mark.parametrize("x", [LARGEST / 2, -LARGEST / 4, 1e300], ids=["max/2", "-max/4", "1e300"])
def test_a_point_near_the_largest_number_has_a_slope(estimate, x):
    got = estimate(lambda x: x[0] / 1e300, [x], h=abs(x) / 64)
    assert got[0] == pytest.approx(1e-300, rel=1e-9)


def test_the_adaptive_estimate_at_the_largest_number_is_nan():
    got = adaptive_difference(lambda x: x[0] / 1e300, [LARGEST])
    np.testing.assert_array_equal(got.value, [np.nan])
    np.testing.assert_array_equal(got.error, [np.inf])


@every_estimator
@pytest.mark.parametrize("x", [5e-324, -1e-310, 0.0, -0.0], ids=repr)
def test_a_subnormal_point_has_a_slope(estimate, x):
    assert estimate(lambda x: 3 * x[0], [x])[0] == pytest.approx(3.0, rel=1e-12)


@every_estimator
@pytest.mark.parametrize("x", [1.23e10, 0.1, 1 / 3, 1e-5, np.float32(1)], ids=repr)
def test_the_identity_has_slope_one_since_the_step_taken_divides(estimate, x):
    got = estimate(lambda x: float(x[0]), np.array([x]), h=3.3e-5)
    assert got[0] == pytest.approx(1.0, rel=5e-16)


# --- functions that behave badly --------------------------------------------------------------


@every_estimator
def test_a_function_that_mutates_its_argument_does_no_harm(estimate):
    def f(x):
        value = bowl(x)
        x[...] = np.nan
        return value

    x = GRID.copy()
    np.testing.assert_array_equal(estimate(f, x), estimate(bowl, x))
    np.testing.assert_array_equal(x, GRID)


@every_estimator
def test_a_function_may_keep_its_arguments_and_they_stay_unchanged(estimate):
    kept, copies = [], []

    def f(x):
        kept.append(x)
        copies.append(x.copy())
        return bowl(x)

    x = GRID.copy()
    estimate(f, x)
    assert len({array.__array_interface__["data"][0] for array in kept}) == len(kept)
    assert not any(np.shares_memory(x, array) for array in kept)
    np.testing.assert_array_equal(kept, copies)
    moved = [np.count_nonzero(array != GRID) for array in kept]
    assert set(moved) <= {0, 1}
    assert moved.count(0) == estimate.here


def test_an_array_function_may_return_the_same_buffer_every_time():
    buffer = np.empty_like(GRID)
    got = central_difference(lambda x: np.multiply(x, 2.0, out=buffer), GRID, h=H, upstream=GRID)
    np.testing.assert_array_equal(got, 2 * GRID)


@every_estimator
@pytest.mark.parametrize("value", [0.0, 3.0, -1e300, 7, True], ids=repr)
def test_a_function_that_ignores_its_argument_has_slope_zero(estimate, value):
    np.testing.assert_array_equal(estimate(lambda x: value, GRID), np.zeros_like(GRID))


@every_estimator
@pytest.mark.parametrize("x", [GRID, GRID * (1 + 1j), GRID[0, 0]], ids=["real", "complex", "0-d"])
def test_the_documented_cost_is_exact(estimate, x):
    f = Counted(lambda x: float(np.sum(x.real + x.imag)))
    estimate(f, x)
    coordinates = np.size(x) * (2 if np.iscomplexobj(x) else 1)
    if estimate.per is None:
        assert (f.calls - estimate.here) % 6 == 0
        assert estimate.here + 6 * coordinates <= f.calls <= estimate.here + 48 * coordinates
    else:
        assert f.calls == estimate.here + estimate.per * coordinates


class OddError(Exception):
    """An exception that cannot be built from its message."""

    def __init__(self, code, why):
        super().__init__(code, why)


EXCEPTIONS = [ValueError("shapes differ"), OddError(7, "seven"), KeyboardInterrupt()]


def raising(exception, at_call):
    def f(x):
        f.calls += 1
        x *= 1.5
        if f.calls > at_call:
            raise exception
        return float(np.sum(x))

    f.calls = 0
    return f


@every_estimator
@pytest.mark.parametrize("exception", EXCEPTIONS, ids=lambda e: type(e).__name__)
def test_an_exception_of_f_reaches_the_caller_unchanged_and_x_is_untouched(estimate, exception):
    x = np.asfortranarray(GRID)
    before, text, args = x.tobytes("A"), str(exception), exception.args
    for at_call in (0, 1, 2, 3, 5):
        exception.__notes__ = []
        with pytest.raises(type(exception)) as caught:
            estimate(raising(exception, at_call), x)
        assert caught.value is exception
        assert (str(exception), exception.args) == (text, args)
        assert x.tobytes("A") == before
        assert len(exception.__notes__) == 1


@every_estimator
def test_the_note_on_an_exception_of_f_names_the_coordinate_and_the_step(estimate):
    def f(x):
        if x[1, 2] != GRID[1, 2]:
            raise ValueError("no")
        return 0.0

    with pytest.raises(ValueError, match="no") as caught:
        estimate(f, GRID)
    (note,) = caught.value.__notes__
    assert "x[1, 2] moved by +" in note
    step = float(note.split("moved by")[1])
    assert step == pytest.approx(H, rel=1e-2) or not estimate.has_step


@pytest.mark.parametrize("estimate", [row for row in ESTIMATORS if row.here], ids=str)
def test_the_note_says_if_f_raised_at_the_point_itself(estimate):
    with pytest.raises(ZeroDivisionError) as caught:
        estimate(lambda x: 1 / 0, GRID)
    assert caught.value.__notes__ == ["in gradcheck_ref, calling f at x"]


@every_scalar_estimator
@every_no_value
def test_a_value_of_f_that_is_not_a_number_is_refused(estimate, f, error, words):
    with pytest.raises(error, match="f must return") as caught:
        estimate(f, np.array([1.0, 2.0, 3.0]))
    assert words in str(caught.value)
    assert "calling f at x" in caught.value.__notes__[0]


@every_estimator
@pytest.mark.parametrize(
    "wrap", [np.array, np.float64, np.float32, np.longdouble, float], ids=lambda w: w.__name__
)
def test_a_value_of_f_may_have_any_numeric_type(estimate, wrap):
    got = estimate(lambda x: wrap(x[0] * 0.5), np.array([1.0, 2.0]), h=2.0**-4)
    np.testing.assert_allclose(got, [0.5, 0], atol=1e-6)


@every_stepper
def test_unsigned_values_that_fall_do_not_wrap_around(estimate):
    falling = estimate(lambda x: np.uint8(3 - 2 * (x[0] > 1)), [1.0], h=0.5)[0]
    assert -8 < falling < 0
    rising = estimate(lambda x: np.uint8(3 + 2 * (x[0] > 1)), [1.0], h=0.5)[0]
    assert rising == -falling


# --- values that are not finite ---------------------------------------------------------------


@every_estimator
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, np.float32(np.inf)], ids=repr)
def test_a_nonfinite_sample_affects_only_its_own_entry(estimate, bad):
    def f(x):
        return bad if x[1] != 2.0 else float(x @ [3.0, 4.0, 5.0])

    np.testing.assert_allclose(estimate(f, [1.0, 2.0, 3.0]), [3.0, np.nan, 5.0], rtol=1e-9)


BEYOND = {
    "infinity minus infinity": lambda x: np.inf * np.sign(x[0]),
    "finite, and apart by more than the largest number": lambda x: 1.5e308 * np.sign(x[0] - 1),
    "beyond float64": lambda x: x[0] * np.longdouble(10) ** 400,  # inf, where that is double
}


@every_estimator
@pytest.mark.parametrize("f", BEYOND.values(), ids=BEYOND)
def test_values_too_large_have_no_slope_and_give_no_warning(estimate, f):
    assert not np.isfinite(estimate(f, [1.0])[0])


@every_estimator
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300], ids=repr)
def test_tiny_and_huge_functions_have_slopes_and_no_warnings(estimate, size):
    got = estimate(lambda x: size * float(np.sin(x[0])), [1.0], h=1e-4)
    assert got[0] / size == pytest.approx(np.cos(1.0), rel=1e-4)


# --- arrays that belong together --------------------------------------------------------------

WRONG_SHAPES = {
    "number": 1.0,
    "column": np.ones((3, 1)),
    "row": np.ones((1, 3)),
    "too-short": np.ones(2),
    "too-long": np.ones(4),
    "empty": np.ones(0),
}


@pytest.mark.parametrize("array", WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_a_claim_or_an_upstream_of_the_wrong_shape_is_never_broadcast(array):
    with pytest.raises(ValueError, match=r"claimed has shape .* but x has shape \(3,\)") as claimed:
        escalating_difference(never, np.ones(3), array, h=H, rtol=0, atol=0)
    with pytest.raises(ValueError, match=r"f returned shape \(3,\), but upstream") as upstream:
        central_difference(lambda x: x, np.ones(3), h=H, upstream=array)
    assert str(np.shape(array)) in str(claimed.value)
    assert f"upstream has shape {np.shape(array)}" in str(upstream.value)


def test_an_upstream_has_the_shape_of_f_and_not_of_x():
    w = np.arange(6.0).reshape(2, 3)
    got = central_difference(lambda x: w @ x, np.ones(3), h=H, upstream=[1.0, 10.0])
    np.testing.assert_allclose(got, w.T @ [1.0, 10.0], rtol=1e-12)
    got = central_difference(lambda x: x, np.array(2.0), h=H, upstream=3.0)
    assert got.shape == ()
    assert got == 3.0
    got = central_difference(lambda x: x[:0], np.ones(3), h=H, upstream=[])
    np.testing.assert_array_equal(got, np.zeros(3))


def test_an_output_that_changes_its_shape_between_calls_is_refused_with_both_shapes():
    def f(x):
        return x if x[1] >= 2.0 else x[:2]

    with pytest.raises(ValueError, match=r"shape \(2,\), but upstream has shape \(3,\)") as caught:
        central_difference(f, np.array([1.0, 2.0, 3.0]), h=H, upstream=np.ones(3))
    assert "x[1] moved by -" in caught.value.__notes__[0]


def test_claims_and_upstreams_that_hold_no_numbers_are_refused_by_name():
    with pytest.raises(TypeError, match="upstream must hold numbers"):
        central_difference(never, np.ones(1), h=H, upstream="ab")
    with pytest.raises(TypeError, match=r"claimed must .*ragged"):
        escalating_difference(never, np.ones(1), [[1.0], [1.0, 2.0]], h=H, rtol=0, atol=0)


# --- signatures -------------------------------------------------------------------------------

FUNCTIONS = [
    *(forward_difference, central_difference, five_point_difference),
    *(escalating_difference, adaptive_difference),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_mathematical_arguments_are_positional_and_knobs_are_keywords(function):
    kinds = {name: p.kind for name, p in inspect.signature(function).parameters.items()}
    keywords = [name for name, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
    assert list(kinds)[:2] == ["f", "x"]
    assert set(keywords) == set(kinds) - {"f", "x", "claimed"}
