"""Functions that move in stairs, or jump, and points at or near the end of a domain."""

import numpy as np

from gradcheck_ref import check_jvp, check_vjp

from .row import Row
from .transformed import FORMS

X = np.random.default_rng(5).normal(size=5)
POSITIVE = np.abs(X) + 0.3
X3 = np.array([0.3, 0.9, -0.4])


def of_one(f):
    """Make a function of one number one of an array, as a sum."""
    return lambda x: float(np.sum(f(x)))


# One number has nothing to roll.
ALONE = {"edits": "doubled, negated, zero, an entry"}
MOST = {"edits": "doubled, negated, zero"}


# A step function has the slope 0 between two steps. From afar it has another one, which somebody
# may have meant: as the slope of the smooth function that was rounded, or straight through.


def flat(name, f, at, **more):
    zeros = np.zeros(np.shape(at))
    return Row(name, f, at, zeros, wrong={"1": zeros + 1}, **more)


def stairs(name, f, x, slope, *, smooth="pass", zero="unsure:stairs", **more):
    """Return a row of a rounded function: what its smooth slope and 0 must get."""
    return Row(name, of_one(f), [x], [slope], want=smooth, hides={"zero": zero}, **MOST, **more)


# A solver stops at a tolerance: f jumps where it makes another number of steps.


def fixed_point(x, tolerance):
    """Solve y = 0.6 cos y + x by iteration."""
    y = np.zeros_like(x)
    for _ in range(200):  # where x is large, its digits do not reach the tolerance
        y, before = 0.6 * np.cos(y) + x, y
        if np.abs(y - before).max() < tolerance:
            break
    return y


def of_fixed_point(x):
    y = fixed_point(x, 1e-15)
    return 2 * y / (1 + 0.6 * np.sin(y))


def explicit_euler(p):
    """Solve y' = -p0 y + p1 from 0 to 2, with steps that depend on a tolerance of 1e-4."""
    t, y = 0.0, 1.0
    while t < 2:
        slope = p[1] - p[0] * y
        h = min(2 - t, max(0.001, np.round(np.sqrt(2e-4 / abs(p[0] * slope)), 3)))
        t, y = t + h, y + h * slope
    return y


def of_euler(p):
    (a, b), e = p, np.exp(-2 * p[0])
    return np.array([b * (e - 1) / a**2 - 2 * (1 - b / a) * e, (1 - e) / a])


# The derivative of what f means is not that of what it computes, so it fails, with the reason. It
# fails in any form.
A_SOLVER = {
    "want": "fail",
    "not_as": ", ".join(FORMS),
    "kind": {"right": "tolerance"},
    "says": "does f stop at a tolerance (a solver, an integral, an iteration)?",
}


def small_term(name, term, slope, size):
    """Return a row of a small term beside a smooth one; without it, it is not called a solver."""
    f = lambda x: np.sum(np.sin(x)) + size * np.sum(term(x))  # noqa: E731
    right = lambda x: np.cos(x) + size * slope(x)  # noqa: E731
    wrong = "without the small term"
    more = {"says": {wrong: "is a small term of f missing"} if size < 1e-2 else {}}
    more |= {"edits": "", "wrong": {wrong: np.cos}, "kind": {wrong: "none"}}
    return Row(f"a small {name} of {size:g}", f, X3, right, **more)


# Beside the end of a domain slopes grow without end, and a long step leaves the domain.


def logarithm(seed):
    rng = np.random.default_rng(seed)
    a = rng.uniform(1, 5, 3)
    x = a + 10 ** rng.uniform(-10, -1, 3)
    f, right = lambda x: np.sum(np.log(x - a)), lambda x: 1 / (x - a)
    more = {"want": "pass unsure", "hides": {"an entry": "unsure fail"}}
    return Row(f"near the end of a logarithm, {seed}", f, x, right, **more)


# The steps that fit between are rounded to a few digits.
TOO_NEAR = ALONE | {"want": "pass unsure", "hides": "unsure fail"}


def pole(distance, **more):
    f, slope = of_one(lambda x: 1 / (x - 2)), lambda x: -1 / (x - 2) ** 2
    name = f"{distance:g} beside a pole"
    how = TOO_NEAR if distance == 1e-8 else ALONE
    return Row(name, f, [2 + distance], slope, **how | more)


def spike(width):
    """Yield rows of a spike: at its top, and on its flank."""
    f = of_one(lambda x: np.exp(-(((x - 1) / width) ** 2)))
    slope = lambda x: -2 * (x - 1) / width**2 * f(x)  # noqa: E731
    # At the top it may be unsure of a kink: slopes go from far above 0 to far below.
    top = {"want": "pass unsure", "wrong": {"1/w": [1 / width]}}
    yield Row(f"the top of a spike of {width:g}", f, [1.0], [0.0], **top)
    flank = TOO_NEAR if width == 1e-9 else ALONE
    yield Row(f"the flank of a spike of {width:g}", f, [1 + 0.7 * width], slope, **flank)


def hidden_power(x):
    """Compute log(1 - x**12 / 12!), where 1 hides the power; x < 0 is outside of the domain."""
    return np.log(1 - x**12 / 4.79e8) if x >= 0 else np.nan


def where_below_one(formula):
    """Return a formula that raises where a probability is 1 or more."""

    def f(p, *rest):
        if not (p < 1).all():
            raise ValueError("expected p < 1")
        return formula(p, *rest)

    return f


def of_probabilities():
    """Yield rows in which f, and the claim, raise beyond the domain."""
    rng = np.random.default_rng(0)
    p, D = np.float32(rng.uniform(0.95, 0.99, 40)), np.float32(rng.normal(size=(40, 40)) / 6)
    f = where_below_one(lambda p: D @ np.sqrt(1 - p))
    vjp = where_below_one(lambda p, u: D.T @ u / -(2 * np.sqrt(1 - p)))
    u = np.float32(rng.normal(size=40))
    loss, by_p = (lambda p: np.float32(u @ f(p))), (lambda p: vjp(p, u))
    yield Row("a loss that raises beyond its domain", loss, p, by_p, **MOST)
    by_u = lambda u, p: vjp(p, u)  # noqa: E731
    yield Row("a vjp that raises beyond its domain", f, p, by_u, check=check_vjp, **MOST)


def entropy(p):
    return -np.sum(p * np.log(p)) if p.sum() == 1 else np.nan


NOTHING = {"want": "unsure:empty", "edits": ""}


def vertical(name, f, x, sign, want="unsure:domain-edge", **more):
    """Return a row of a function whose slope at x is infinite."""
    wrong = {"of the other sign": [-sign * np.inf], "nan": [np.nan]}
    says = "the slopes of f are finite at every step, so they cannot confirm it"
    name = f"vertical: {name}"
    more |= {"want": want, "wrong": wrong, "says": says, "edits": ""}
    return Row(name, lambda x: f(x[0]), [x], [sign * np.inf], **more)


def infinite_product(check):
    """Return a row of an infinite slope beside finite ones, through a product."""
    slopes = np.array([np.inf, 0.5, 0.25])

    def product(given, x):
        return np.multiply(slopes, given, where=given != 0, out=np.zeros(3))

    def clipped(given, x):
        return np.append(product(given, x)[0], np.clip(product(given, x)[1:], -0.6, 0.6))

    negated = lambda given, x: product(given * [-1, 1, 1], x)  # noqa: E731
    wrong, says = {"of the other sign": negated, "clipped": clipped}, {"clipped": "not linear"}
    more = {"want": "unsure:domain-edge", "wrong": wrong, "says": says, "check": check, "edits": ""}
    return Row(f"an infinite slope through {check.__name__}", np.sqrt, [0, 1, 4], product, **more)


def squares_beside_a_log(x):
    return np.concatenate([x**2, np.log(x - 1)])


def their_jvp(factor=1.0, square=1.0):
    """Return their jvp; NaN where the logarithm is."""

    def jvp(tangent, x):
        logs = np.where(x > 1, tangent / (x - 1), np.nan)
        return np.concatenate([factor * square * 2 * x * tangent, factor * logs])

    return jvp


# Numbers that must add up to 1, and a curve along which they do.
SHARES, CURVE = np.array([0.375, 0.125, 0.25, 0.25]), np.array([1.0, -1.0, 0.0, 0.0])


def cubes_of_shares(p):
    assert abs(np.sum(p) - 1) < 1e-15, "the sum must be 1"
    return np.sum(p**3)


NOT_FINITE = {"want": "unsure:nonfinite", "edits": ""}

QUANTISED = np.array([2.00001, 0.6, 0.99999, -1.3]), np.random.default_rng(0).normal(size=4)

ROWS = [
    # Flat pieces.
    flat("a sign", of_one(np.sign), [2.3]),
    flat("a floor", of_one(np.floor), [2.5], hides="unsure:stairs"),
    flat("a rounded number", of_one(np.round), [1.2], hides="unsure:stairs"),
    flat("an argmax", lambda x: float(np.argmax(x)), [0.3, 1.9, -0.4, 0.8]),
    Row("a floor of four outputs", np.floor, [0.3, 2.4, 0.9, 1.7], lambda u, x: 0 * u, edits="",
        wrong={"straight through": lambda u, x: u}, hides="unsure:stairs", check=check_vjp),
    Row("a remainder", of_one(lambda x: np.mod(x, 0.1)), X, np.ones(5)),
    # Stairs.
    stairs("500 stairs for a unit", lambda x: np.floor(500 * x) / 500, 3.3003, 1.0),
    stairs("a sine of four decimals", lambda x: np.round(np.sin(x), 4), 0.7, np.cos(0.7)),
    # From both sides alike, stairs of x^2 look like a kink, too. A value of 1600.0 has more than
    # four digits, but too few to say that f was meant to be smooth. In other units of x the steps
    # are others, and may tell stairs from a kink.
    stairs("a square of one decimal", lambda x: np.round(x * x, 1), 40.0, 80.0,
        smooth="pass unsure", zero="unsure:stairs", not_as="x 2^-17", always=True),
    # With seven digits f was meant to be smooth: 0 is a mistake.
    stairs("a sine in float32", lambda x: np.float32(np.sin(x)), 0.7, np.cos(0.7), zero="fail"),
    stairs("a sine of a float32", lambda x: np.sin(np.float64(np.float32(x))), 0.7, np.cos(0.7),
        smooth="pass unsure:stairs", zero="unsure:stairs fail"),
    stairs("a sine in float16", lambda x: np.float16(np.sin(x)), 0.7, np.cos(0.7)),
    Row("three decimals", lambda x: np.round(x, 3).sum(), X, np.ones(5),
        hides={"zero": "unsure:stairs", "an entry": "pass fail"}),
    # Some of its jumps are as low as stairs of few digits, and others higher.
    Row("numbers and a tenth of their floors, close to jumps",
        lambda x: QUANTISED[1] @ (x + np.floor(x) / 10), QUANTISED[0], QUANTISED[1], edits="",
        wrong={"with the jumps": 1.1 * QUANTISED[1]}),
    # Stairs as high as the loss are meant: the slope is that between two of them.
    Row("a floor of twice a sum beside a square",
        lambda x: np.floor(2 * np.sum(np.sin(x))) + x @ x / 2, X, lambda x: x,
        wrong={"of the smooth sum": lambda x: 2 * np.cos(x) + x}),
    # Jumps.
    # In 16 bits a jump beside x looks like one of the stairs.
    Row("a jump 1e-3 away", lambda x: np.where(x > X + 1e-3, 5.0, 0).sum() + (x**2).sum(), X,
        2 * X, not_as="bfloat16"),
    Row("an iteration that stops at 1e-4", lambda x: np.sum(fixed_point(x, 1e-4) ** 2), X3,
        of_fixed_point, **A_SOLVER),
    # Its jumps are so close to x that they may be taken for noise: then an error of 1 % is allowed.
    Row("steps that keep a tolerance of 1e-4", explicit_euler, [0.8, 0.3], of_euler,
        want="fail pass", hides={"an entry": "fail pass"}, not_as=", ".join(FORMS)),
    Row("an iteration that stops at 1e-13", lambda x: np.sum(fixed_point(x, 1e-13) ** 2), X3,
        of_fixed_point),
    *(
        small_term(name, term, slope, size)
        for name, term, slope in (
            ("quartic", lambda x: x**4, lambda x: 4 * x**3),
            ("wave", lambda x: np.sin(20 * x) / 20, lambda x: np.cos(20 * x)),
            ("kink", lambda x: np.abs(x - 0.31), lambda x: np.sign(x - 0.31)),
            ("sharp bend", lambda x: np.hypot(x - 0.31, 1e-4),
             lambda x: (x - 0.31) / np.hypot(x - 0.31, 1e-4)),
        )
        for size in (1e-2, 1e-5)
    ),
    Row("five decimals and 2 % too much", lambda x: np.round(np.sum(np.sin(x)), 5), X3, np.cos,
        want="pass unsure", wrong={"2 % too much": lambda x: 1.02 * np.cos(x)},
        kind={"2 % too much": "none factor"}),
    # Edges.
    Row("the end of sqrt", lambda x: np.sum(np.sqrt(1 - x)), [1.0], [-1.0],
        want="unsure:domain-edge", hides="unsure fail"),
    Row("an infinite slope", lambda x: np.sum(np.sqrt(x)), [0.0, 1.0], [np.inf, 0.5],
        want="unsure:domain-edge", edits="",
        wrong={"of the other sign": [-np.inf, 0.5], "nan": [np.nan, 0.5]}),
    Row("an infinite claim of a finite slope", lambda x: np.sum(x * x), [0.0, 1.0], [0.0, 2.0],
        wrong={"inf": [np.inf, 2.0], "nan": [np.nan, 2.0]}),
    Row("x log x at 0", lambda x: np.where(x == 0, 0, x * np.log(x)).sum(), [0.0, 0.5],
        [-np.inf, np.log(0.5) + 1], want="unsure:domain-edge", edits="",
        not_as="x and f 2^17, float32, bfloat16",
        wrong={"of the other sign": [np.inf, np.log(0.5) + 1]}),
    # wrong today: it is the slope ahead of x, so it should be unsure.
    Row("x log x at 0, and 0 behind it",
        lambda x: np.where(x > 0, x * np.log(np.where(x > 0, x, 1)), 0).sum(), [0.0, 0.5],
        [-np.inf, np.log(0.5) + 1], want="unsure fail", edits="",
        not_as=", ".join(FORMS)),
    Row("a square root near 0", of_one(np.sqrt), 1e-6 * POSITIVE, lambda x: 0.5 / np.sqrt(x)),
    Row("a logarithm near 0", of_one(np.log), 1e-9 * POSITIVE, lambda x: 1 / x),
    Row("an arcsin near 1", of_one(np.arcsin), 1 - 1e-7 * POSITIVE,
        lambda x: 1 / np.sqrt(1 - x * x)),
    *(logarithm(seed) for seed in range(3)),
    *(pole(distance) for distance in (0.1, 1e-4, 1e-8, -1e-4)),
    # f jumps by any amount at the pole; it is no solver that stops at a tolerance.
    pole(0.03, kind={"an entry": "none"}, always=True),
    Row("near a pole of tan", of_one(np.tan), [np.pi / 2 - 1e-4], lambda x: 1 + np.tan(x) ** 2,
        **ALONE),
    *(row for width in (1e-3, 1e-6, 1e-9) for row in spike(width)),
    Row("a power that 1 hides, near the end of a domain", hidden_power, 0.02,
        -12 * 0.02**11 / 4.79e8, want="unsure", edits="", wrong={"-1e-3": -1e-3}),
    *of_probabilities(),
    Row("probabilities that add up to 1", entropy, [0.5, 0.25, 0.25], lambda p: -np.log(p) - 1,
        want="unsure:isolated", hides="unsure"),
    Row("a point that no step can move", of_one(np.sin), 1e20 * np.ones(2), np.cos,
        want="unsure:step-underflow", hides="unsure"),
    # Nothing to compare.
    Row("no entries", lambda x: np.sum(x**2), np.ones(0), np.ones(0), **NOTHING),
    Row("no outputs of a vjp", lambda x: x[:0], [0.05, 1], lambda u, x: 0 * x, check=check_vjp,
        **NOTHING),
    Row("no outputs of a jvp", lambda x: x[:0], [1e5, 1], lambda t, x: t[:0], check=check_jvp,
        **NOTHING),
    # Slopes that are infinite, and claims that say so.
    vertical("arcsin at 1", np.arcsin, 1.0, 1),
    vertical("arccos at -1", np.arccos, -1.0, -1),
    # wrong today: of few digits, the right claim fails.
    vertical("cube root at 0", np.cbrt, 0.0, 1, "unsure:kink", not_as="float32, bfloat16"),
    infinite_product(check_vjp),
    infinite_product(check_jvp),
    *(Row(f"infinite: {name}", of_one(f), [x], [slope], edits="",
          wrong={"inf": [np.inf], "-inf": [-np.inf]})
      for name, f, x, slope in (
        ("at the edge of its domain", lambda x: np.where(x < 0, np.nan, x**2 + 3 * x), 0.0, 3.0),
        ("close to an edge", np.sqrt, 1e-12, 5e5), ("flat", lambda x: 0 * x, 1.0, 0.0))),
    Row("a product that is NaN where f is", squares_beside_a_log, [0.5, 2.0, 3.0], their_jvp(),
        wrong={"1 %": their_jvp(1.01), "NaN elsewhere": their_jvp(square=np.nan)}, edits="",
        want="unsure:nonfinite", check=check_jvp),
    Row("an infinite value", lambda x: np.sum(x) + np.inf, np.ones(2), np.ones(2), **NOT_FINITE),
    Row("a NaN of a vjp", lambda x: x + np.nan, np.ones(2), lambda u, x: u, check=check_vjp,
        **NOT_FINITE),
    # Domains.
    Row("a root that turns complex", lambda x: np.emath.sqrt(x)[0], [1e-9], [0.5 / 1e-9**0.5]),
    Row("a root that turns complex, at 0", lambda x: np.emath.sqrt(x)[0], [0.0], [1.0],
        want="unsure:domain-edge", edits=""),
    # Long steps leave this domain. wrong today: near its end 1 is unsure, as for a staircase.
    *(Row(f"1 between {low:g} and {high:g}, at {x:g}",
          lambda x, low=low, high=high: 1.0 if low < x < high else -np.inf, x, 0.0,
          wrong={"1": 1.0}, hides={"1": "fail unsure"}, not_as="x 2^-17")
      for low, high, x in ((0.2, 1.3, 0.21), (-5.0, 5.0, 4.9))),
    Row("cubes of numbers that add up to 1", cubes_of_shares, SHARES, lambda p: 3 * p**2, edits="",
        want="unsure:isolated", says="along a curve c on the surface: t -> f(c(t)) at t = 0"),
    Row("along a curve of numbers that add up to 1", lambda t: cubes_of_shares(SHARES + t * CURVE),
        0.0, lambda t: 3 * SHARES**2 @ CURVE),
]  # fmt: skip
