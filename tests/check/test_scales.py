"""Scale belongs to f and x, not to the code: other units and other precisions of the zoo.

In other units a check says the same. In fewer bits it may say less, but it never refuses a right
gradient, and it never lets a gradient pass that ignores what f shows.
"""

import functools
import itertools

import numpy as np
import pytest
from rounded import (
    ROUNDINGS,
    has_slope,
    inside,
    loss_is_seen,
    moves,
    penalty_vjp,
    points_near,
    to_bfloat16,
    wide_cases,
    with_float32_inputs,
    with_penalty,
    with_rounded_values,
    zeros,
)
from scaled import (
    as_tuple,
    checked,
    differences,
    in_units,
    is_scalar,
    opposites,
    times,
    told,
    units_of,
)

from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.wild import wild_cases

# Far from its domain f may overflow, and NumPy says so.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# Powers of two near 1e-5 and 1e5: multiplied by them, no number is rounded, so that even a point at
# a kink or a tie stays where it is.
EXACT = units_of({"2^-17": 2.0**-17, "1": 1.0, "2^17": 2.0**17})
DECIMAL = units_of({"1e-5": 1e-5, "1": 1.0, "1e5": 1e5})

# Smooth functions of which a claim depends on last bits, which decimal units change.
LAST_BIT = {
    "cube": "one bug is a difference quotient with a step of 1e-12, which is mostly noise",
    "exponential": "one bug is rounded to float16, and named by its bits",
    "dot_product_attention": "one bug is rounded to float16, and named by its bits",
    "stationary_point": "x is the optimum to the last bit",
    "openturns/pareto": "the wrong claim is infinite at a difference of 0",
}

# Cases at the limits of a check, where one witness more or less decides between a verdict and
# *unsure*. In other units the steps are others in the last bits, or there is one step more.
AT_A_LIMIT = {
    "noisy_sine": "the noise is a very fast sine, which looks different at every point",
    "rounded_output": "six decimals leave just enough digits",
    "cancelling_quotient": "nearly all digits cancel",
    "maximum_near_tie": "the tie is 1e-9 of x away",
    "openturns/trapezoidal": "f jumps along the line on which its noise is measured",
    "tiny_loss": "f and its slopes are below the rounding of numbers of size 1",
    "square_of_small_x": "f and its slopes are below the rounding of numbers of size 1",
    "cube": "one bug is a difference quotient with a step of 1e-12, which is mostly noise",
}

# Cases in which few bits hide more than a check can know: it judges the function that it sees.
HIDDEN = {
    "cancelling_quotient": "nearly all digits cancel, and in few bits all of them",
    "sine_of_small_x": "f is below the smallest numbers of float16",
    "tiny_softmax": "f is below the smallest numbers of float16",
    "square_on_a_pedestal": "the stairs of the pedestal are longer than x",
    "very_fast_sine": "the wave is so fast that rounding makes it another one",
    "entropy_near_zero": "f is vertical at 0, so that stairs are close together there",
    "mixed_magnitudes": "the largest term hides the others in its rounding",
    "absolute_value_near_zero": "the kink is closer to x than the next stair",
    "relu_near_zero": "the kink is closer to x than the next stair",
}
# Of the points around the others, some lie where the part with stairs has no slope along the one
# line that the check looks along.
MISSED = 2

# Cases whose values are infinite in fewer bits, at each of the points around them.
FLOAT16 = {"float16"}
TOO_LARGE = {
    "huge_loss": (FLOAT16, "the loss is about 1e12"),
    "exponential_at_300": ({*ROUNDINGS, "float32-inputs"}, "exp(300) is 1e130"),
    "identity_far_out": (FLOAT16, "x is more than 1e10"),
    "square_of_large_x": (FLOAT16, "x is more than 1e7"),
    "large_offset": (FLOAT16, "the offset is 1e6"),
    "square_on_a_pedestal": (FLOAT16, "the pedestal is 1e6"),
}


@functools.cache
def names_and_tags():
    return {case.name: case.tags for case in built()}


def built():
    """Build every case of the zoo and of the museum anew, for some bugs keep a state."""
    return itertools.chain(all_cases(), wild_cases())


def named(name):
    return next(case for case in itertools.chain(built(), wide_cases()) if case.name == name)


def of_units(units, wanted=lambda name, tags: True):
    """Try a test with each case that is wanted in each of these units."""
    rows = [
        pytest.param(name, unit, id=f"{name}-{unit.name}")
        for name, tags in names_and_tags().items()
        if wanted(name, tags)
        for unit in units
    ]
    return pytest.mark.parametrize(("name", "units"), rows)


def has_digits_to_spare(name, tags):
    return bool(tags & {"smooth", "wild"}) and name not in LAST_BIT


# Units.


def all_told(case):
    """Return what the reports on all claims about a case tell, by the name of the claim."""
    claims = {"right": case.vjp} | {bug.id: bug.vjp for bug in case.bugs}
    return {claim: told(checked(case, vjp)) for claim, vjp in claims.items()}


@functools.cache
def told_in_its_own_units(name):
    return all_told(named(name))


def same_in(units, name):
    """Compare all claims about a case in its own units and in others."""
    there = all_told(in_units(named(name), units))
    compared = opposites if name in AT_A_LIMIT else differences
    lines = [
        f"{claim}: {here} -> {there[claim]}; differ: {'; '.join(differ)}"
        for claim, here in told_in_its_own_units(name).items()
        if (differ := compared(here, there[claim]))
    ]
    if lines:
        pytest.fail("\n".join(lines), pytrace=False)


def test_in_exact_units_no_number_is_rounded():
    for units in EXACT:
        for case in built():
            other = in_units(case, units)
            values = as_tuple(times(units.d, other.f(*other.inputs)))
            pairs = zip(as_tuple(case.f(*case.inputs)), values, strict=True)
            assert all(np.array_equal(y, there) for y, there in pairs), (case.name, units.name)


@pytest.mark.one_in(149)
@of_units(EXACT)
def test_a_check_says_the_same_in_any_units(name, units):
    same_in(units, name)


@pytest.mark.one_in(149)
@of_units(DECIMAL, has_digits_to_spare)
def test_a_check_of_a_smooth_function_says_the_same_in_decimal_units(name, units):
    same_in(units, name)


# Precision.


def of_zoo(kinds, wanted=lambda case: True):
    """Try a test with each case, of the zoo or wide, in each of these kinds of precision."""
    rows = [
        pytest.param(case.name, kind, id=f"{case.name}-{kind}")
        for case in itertools.chain(all_cases(), wide_cases())
        if wanted(case) and case.name not in HIDDEN
        for kind in kinds
        if kind not in TOO_LARGE.get(case.name, ("", ""))[0]
    ]
    return pytest.mark.parametrize(("name", "precision"), rows)


def test_a_bfloat16_has_eight_bits_and_ties_go_to_the_even_one():
    exact = [1.0, 1 / 3, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -1e38, np.inf, np.nan]
    kept = [1.0, 0.333984375, 1.0, 1 + 2**-6, 1 + 2**-7, -9.969209968386869e37, np.inf, np.nan]
    np.testing.assert_array_equal(to_bfloat16(exact), np.float32(kept))


def in_precision(case, precision):
    if precision == "float32-inputs":
        return with_float32_inputs(case)
    return with_rounded_values(case, ROUNDINGS[precision])


def pairs_of_points(name, precision):
    """Yield (number, case, case in fewer bits) for the points at which both are finite."""
    for k, case in enumerate(points_near(named(name))):
        fewer = in_precision(case, precision)
        if inside(fewer):
            yield k, case, fewer


def test_no_point_of_the_exceptions_is_finite_in_fewer_bits():
    for name, (kinds, _) in TOO_LARGE.items():
        assert not [kind for kind in kinds if any(pairs_of_points(name, kind))], name


def assert_few(*groups):
    """Fail with the lines of all groups if one has more lines than may be missed."""
    if max(map(len, groups)) > MISSED:
        pytest.fail("\n".join(itertools.chain(*groups)), pytrace=False)


def misjudged(what, verdict, fewer, exact, rounded_part):
    """Return a line if a case in fewer bits has this verdict, which is wrong, else nothing.

    ``fewer`` and ``exact`` are cases and claims. Where no step moves the rounded part, nobody can
    see what it was before rounding, and a check judges the flat function that it sees.
    """
    report = checked(*fewer)
    if report.verdict != verdict or not moves(rounded_part):
        return []
    return [f"{what}: {told(checked(*exact))} -> {told(report)}"]


@pytest.mark.one_in(353)
@of_zoo([*ROUNDINGS, "float32-inputs"])
def test_in_fewer_bits_no_right_gradient_fails_and_zeros_do_not_pass(name, precision):
    refused, passed = [], []
    for k, case, fewer in pairs_of_points(name, precision):
        right, exact = (fewer, fewer.vjp), (case, case.vjp)
        refused += misjudged(f"right at point {k}", "fail", right, exact, fewer)
        if has_slope(case):
            flat, exact = (fewer, zeros(fewer)), (case, zeros(case))
            passed += misjudged(f"zeros at point {k}", "pass", flat, exact, fewer)
    assert_few(refused, passed)


@pytest.mark.one_in(149)
@of_zoo(ROUNDINGS, is_scalar)
def test_beside_a_penalty_no_right_gradient_fails_and_none_may_ignore_the_loss(name, precision):
    refused, passed = [], []
    for k, case, loss in pairs_of_points(name, precision):
        fewer, whole = with_penalty(loss), with_penalty(case)
        right, exact = (fewer, fewer.vjp), (whole, whole.vjp)
        refused += misjudged(f"right at point {k}", "fail", right, exact, loss)
        if loss_is_seen(case):
            ignores, exact = (fewer, penalty_vjp), (whole, penalty_vjp)
            passed += misjudged(f"penalty alone at point {k}", "pass", ignores, exact, loss)
    assert_few(refused, passed)
