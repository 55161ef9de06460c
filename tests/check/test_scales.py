"""Scale belongs to f and x, not to the code: other units and other precisions of the zoo.

In other units a check says the same. In fewer bits it may say less, but it never refuses a right
gradient, and it never lets a gradient pass that ignores what f shows.
"""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from corpus.adapted import cases, of_case
from corpus.row import EDITS, Row, after, claims_of, each_part, judged, values_of
from corpus.transformed import (
    beside_a_penalty,
    in_units,
    inputs_of,
    is_floating,
    is_scalar,
    point_of,
    with_claims,
)

from gradcheck_ref import check_vjp, nearby
from gradcheck_ref.zoo import all_cases

# Far from its domain f may overflow, and NumPy says so.
pytestmark = [pytest.mark.filterwarnings("ignore::RuntimeWarning"), pytest.mark.sweep(10)]

# Powers of two near 1e-5 and 1e5: multiplied by them, no number is rounded, so that even a point at
# a kink or a tie stays where it is.
EXACT = {"2^-17": 2.0**-17, "1": 1.0, "2^17": 2.0**17}
DECIMAL = {"1e-5": 1e-5, "1": 1.0, "1e5": 1e5}

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
    "step_at_its_jump": "x is at a jump, where one seed of twelve says *unsure*",
    "tiny_loss": "f and its slopes are below the rounding of numbers of size 1",
    "square_of_small_x": "f and its slopes are below the rounding of numbers of size 1",
    "cube": "one bug is a difference quotient with a step of 1e-12, which is mostly noise",
}

# These mistakes are recognised by a factor such as x, 1 / x or 2. In other units of x it is another
# number, so that another mistake may be named, or none.
A_NUMBER = {"inner-factor", "local-derivative"}

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


def named(name):
    """Return a case as a row, built anew, for some of its bugs keep a state."""
    wide = (row for row in wide_rows() if row.name == name)
    return next(wide, None) or of_case(next(case for case in cases() if case.name == name))


# Units.


def told(report):
    return report.verdict, {found.kind for found in report.diagnoses}


def all_told(row):
    """Return verdict and diagnoses for all claims of a row."""
    return {claim.name: told(judged(row, claim.value)) for claim in claims_of(row)}


@functools.cache
def told_in_its_own_units(name):
    return all_told(named(name))


def of_units(units, wanted=lambda case: True):
    """Try a test with each case that is wanted in each of these units of x and f, but 1 and 1."""
    pairs = [(c, d) for c in units for d in units if (c, d) != ("1", "1")]
    rows = [
        pytest.param(case.name, in_units(units[c], units[d]), id=f"{case.name}-c={c}-d={d}")
        for case in cases()
        if wanted(case)
        for c, d in pairs
    ]
    return pytest.mark.parametrize(("name", "form"), rows)


def has_digits_to_spare(case):
    return bool(case.tags & {"smooth", "wild"}) and case.name not in LAST_BIT


def differ(name, here, there):
    """Whether two answers about a claim differ more than they may for this case."""
    (verdict, kinds), (other, other_kinds) = here, there
    if name in AT_A_LIMIT:
        return {verdict, other} == {"pass", "fail"}
    same_mistake = kinds == other_kinds or (kinds | other_kinds) & A_NUMBER
    return verdict != other or not same_mistake


def same_in(form, name):
    """Compare all claims about a case in its own units and in others."""
    here, there = told_in_its_own_units(name), all_told(form(named(name)))
    assert not {c: (here[c], there[c]) for c in here if differ(name, here[c], there[c])}


@of_units(EXACT)
def test_a_check_says_the_same_in_any_units(name, form):
    same_in(form, name)


@of_units(DECIMAL, has_digits_to_spare)
def test_a_check_of_a_smooth_function_says_the_same_in_decimal_units(name, form):
    same_in(form, name)


# Precision. The right gradient of a rounded function is that of the function before it is rounded:
# somebody meant a smooth function, and computes it in float16.

POINTS, SEEDS = 20, 200  # a point near the edge of a domain has few neighbours inside it
PRECISIONS = ("float32", "float16", "bfloat16")

# Lengths of steps, in sizes of x, from a rounding of a float32 to far away.
LENGTHS, RANDOM_LINES = 2.0 ** np.arange(-24, 6), 8

# A claim that ignores the loss is wrong to the eye if the loss has this share of the slopes.
SEEN = 0.05


def wide_rows():
    """Yield regressions with more parameters than the cases of the zoo: rounding hides more."""
    for n in (20, 200):
        x, y = np.random.default_rng(n).normal(size=(2, n))
        yield Row(
            f"regression_of_{n}",
            lambda x, y=y: np.mean((np.tanh(x) - y) ** 2),
            x,
            lambda u, x, y=y: u * 2 * (np.tanh(x) - y) * (1 - np.tanh(x) ** 2) / x.size,
            check=check_vjp,
        )


def as_tuple(value):
    return value if isinstance(value, tuple | list) else (value,)


def slopes_of(row, vjp):
    """Return the gradients of the floating inputs, for random weights of the outputs."""
    rng = np.random.default_rng(0)
    inputs = inputs_of(row)
    upstream = each_part(lambda y: rng.uniform(0.5, 1.5, np.shape(y))[()], row.f(*inputs))
    return [np.asarray(g) for g in as_tuple(vjp(upstream, *map(np.copy, inputs))) if g is not None]


@np.errstate(all="ignore")
def is_inside(row):
    """Whether f, in its precision, and its right gradient are finite at the point of a row."""
    found = [*as_tuple(values_of(row)(*inputs_of(row))), *slopes_of(row, row.right)]
    return all(np.isfinite(part).all() for part in found)


def points_near(row):
    """Yield the row at points around its own at which it is defined."""
    moved = (replace(row, at=nearby(row.at, seed=k)) for k in range(SEEDS))
    return itertools.islice(filter(is_inside, moved), POINTS)


def with_float32_inputs(row):
    """Return the row at a point in float32, with gradients in float32."""

    def shorter(x):
        short = {"f": np.float32, "c": np.complex64}
        return np.asarray(x).astype(short[x.dtype.kind]) if is_floating(x) else x

    at = point_of(tuple(map(shorter, inputs_of(row))))
    return with_claims(row, lambda of: lambda *given: each_part(shorter, of(*given)), at=at)


def in_fewer_bits(row, precision):
    if precision == "float32-inputs":
        return with_float32_inputs(row)
    return replace(row, inside=precision)


@np.errstate(all="ignore")
def moves(row):
    """Whether any step moves f, along an axis or a random line, up to 32 sizes of x away."""
    f = values_of(row)
    here = as_tuple(f(*inputs_of(row)))
    return any(
        np.isfinite(there).all() and not np.array_equal(there, y)
        for x in steps(inputs_of(row))
        for y, there in zip(here, as_tuple(f(*x)), strict=True)
    )


def steps(inputs):
    """Yield points on axes and on random lines, one input at a time, on both sides of x."""
    rng = np.random.default_rng(0)
    for k, x in enumerate(inputs):
        if not is_floating(x):
            continue
        size = np.abs(x).max(initial=0.0) or 1.0
        axes = np.eye(x.size).reshape(-1, *x.shape)
        directions = np.concatenate([axes, rng.normal(size=(RANDOM_LINES, *x.shape))])
        if np.iscomplexobj(x):
            directions = np.concatenate([directions, 1j * directions])
        for direction, length, side in itertools.product(directions, LENGTHS, (1, -1)):
            away = np.asarray(x + side * length * size * direction).astype(x.dtype)
            yield *inputs[:k], away, *inputs[k + 1 :]


def loss_is_seen(row):
    """Whether the loss has a share in a slope that is among the largest, by its effect on f."""
    inputs = [x for x in inputs_of(row) if is_floating(x)]
    with_penalty = slopes_of(row, beside_a_penalty(row).right)
    for x, loss, both in zip(inputs, slopes_of(row, row.right), with_penalty, strict=True):
        by_slope = np.abs(loss) > SEEN * np.abs(both).max(initial=0.0)
        by_effect = np.abs(x * loss) > SEEN * np.abs(x * both).max(initial=0.0)
        if (by_slope & by_effect).any():
            return True
    return False


def of_zoo(precisions, wanted=lambda row: True):
    """Try a test with each case, of the zoo or wide, in each of these precisions."""
    rows = [row for row in itertools.chain(map(of_case, all_cases()), wide_rows()) if wanted(row)]
    names = [row.name.removeprefix("zoo: ") for row in rows]
    return pytest.mark.parametrize(
        ("name", "precision"),
        [(name, precision) for name in names if name not in HIDDEN for precision in precisions],
    )


def assert_few(wrong):
    """Fail if a verdict that is wrong was given at more points than may be missed."""
    for verdict, reports in wrong.items():
        assert len(reports) <= MISSED, (verdict, *map(str, reports))


def misjudged(fewer, other, wrong_answers, form=lambda row: row):
    """Collect the reports on a row that say what they must not, where f is seen to move.

    Where no step moves the rounded part, nobody can see what it was before rounding, and a check
    judges the flat function that it sees.
    """
    for claim, verdict in ((form(fewer).right, "fail"), (other, "pass")):
        report = judged(form(fewer), claim) if claim else None
        if report and report.verdict == verdict and moves(fewer):
            wrong_answers[verdict].append(report)


@of_zoo([*PRECISIONS, "float32-inputs"])
def test_in_fewer_bits_no_right_gradient_fails_and_zeros_do_not_pass(name, precision):
    wrong_answers = {"fail": [], "pass": []}
    for row in points_near(named(name)):
        fewer = in_fewer_bits(row, precision)
        if is_inside(fewer):
            has_slope = any(g.any() for g in slopes_of(row, row.right))
            zeros = after(EDITS["zero"](), fewer.right) if has_slope else None
            misjudged(fewer, zeros, wrong_answers)
    assert_few(wrong_answers)


@of_zoo(PRECISIONS, is_scalar)
def test_beside_a_penalty_no_right_gradient_fails_and_none_may_ignore_the_loss(name, precision):
    wrong_answers = {"fail": [], "pass": []}
    for row in points_near(named(name)):
        fewer = in_fewer_bits(row, precision)
        if is_inside(fewer):
            flat = replace(fewer, right=after(EDITS["zero"](), fewer.right))
            ignores = beside_a_penalty(flat).right if loss_is_seen(row) else None
            misjudged(fewer, ignores, wrong_answers, beside_a_penalty)
    assert_few(wrong_answers)
