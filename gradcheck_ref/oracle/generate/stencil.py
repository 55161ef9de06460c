"""Stencil vectors: samples of a function in, a difference quotient out."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from operator import mul
from typing import Any

from .functions import relu
from .layout import Vector, arranged, file_of, flat
from .numbers import (
    UndecidedError,
    exact,
    finite,
    sampled,
    samples_of,
    sine,
    text,
    texts,
    ulps,
    values_at,
)

HEADER = (
    "A function is sampled at x - 2h, x - h, x, x + h, x + 2h. Which difference quotient do these "
    "samples give?"
)
OFFSETS = (-2, -1, 0, 1, 2)
EPS = Fraction(sys.float_info.epsilon)


@dataclass(frozen=True)
class Row:
    """A function near a point."""

    said: str
    f: Callable[[Any], Any]
    x: float
    h: float
    flags: tuple[str, ...] = ()


def decimal(f: Callable[[Decimal], Decimal]) -> Callable[[Fraction], Any]:
    """Apply a function of decimals to a fraction."""
    return lambda x: f(Decimal(x.numerator) / Decimal(x.denominator))


def only_where(
    inside: Callable[[Fraction], bool], f: Callable[[Any], Any], outside: float = math.nan
) -> Callable[[Fraction], Any]:
    """Give a function an edge, beyond which it has no finite value."""
    return lambda x: f(x) if inside(x) else outside


LARGE = Fraction(5, 4) * 2**1023
ROOT = decimal(Decimal.sqrt)
LOG = decimal(Decimal.ln)
EXP = decimal(Decimal.exp)
ROWS = [
    Row("cube at 2, in binary fractions", lambda x: x**3, 2.0, 0.125),
    Row("square at 3, in binary fractions", lambda x: x**2, 3.0, 0.5),
    Row("fourth power at 1, in binary fractions", lambda x: x**4, 1.0, 0.25),
    Row("a straight line with slope -5/8", lambda x: 7 - x * 5 / 8, -3.0, 0.25),
    Row("a constant", lambda x: Fraction(3), 0.5, 0.0625),
    Row("square at 0: an even function", lambda x: x**2, 0.0, 0.5),
    Row("cube at 0: an odd function", lambda x: x**3, 0.0, 0.5),
    Row("square at -1.5, h 1e-3", lambda x: x**2, -1.5, 1e-3),
    Row("a quintic at 0.7, h 1e-5", lambda x: x**5 - 3 * x**2, 0.7, 1e-5),
    Row("reciprocal at 0.3, h 1e-4", lambda x: 1 / x, 0.3, 1e-4),
    Row("reciprocal at -40, h 1e-2", lambda x: 1 / x, -40.0, 1e-2),
    Row("exponential at 1, h 1e-5, as in CS231n", EXP, 1.0, 1e-5),
    Row("exponential at -20, h 1e-3, as in TVM", EXP, -20.0, 1e-3),
    Row("sine at 0.5, h 1e-6, as in torch", decimal(sine), 0.5, 1e-6),
    Row("sine at 2.25, h 1e-4, as in Warp", decimal(sine), 2.25, 1e-4),
    Row("sin(1000 x), too fast for h 1e-3", decimal(lambda x: sine(1000 * x)), 0.002, 1e-3),
    Row("logarithm at 0.25, h 1e-5", LOG, 0.25, 1e-5),
    Row("absolute value at its kink", abs, 0.0, 0.25, ("Kink",)),
    Row("ReLU at its kink", relu, 0.0, 0.25, ("Kink",)),
    Row("ReLU at -1e-6, h 1e-5: the kink within reach", relu, -1e-6, 1e-5, ("Kink",)),
    Row("ReLU at -3e-6, h 2e-6: in reach of two steps", relu, -3e-6, 2e-6, ("Kink",)),
    Row("x |x| at 0, which has no kink", lambda x: x * abs(x), 0.0, 0.25),
    Row("a jump at 0", lambda x: Fraction(x > 0), 0.0, 0.0078125, ("Kink",)),
    Row("identity at 1.23e10, h 1e-6", lambda x: x, 1.23e10, 1e-6),
    Row("identity at 1e6, h 1e-9", lambda x: x, 1e6, 1e-9),
    Row("square at 3e7, h 1e-8", lambda x: x**2, 3e7, 1e-8),
    Row("1e6 + x^2 at 1.5, h 1e-4", lambda x: 10**6 + x**2, 1.5, 1e-4, ("LargeOffset",)),
    Row("1e9 + x at 2.5, h 1e-3", lambda x: 10**9 + x, 2.5, 1e-3, ("LargeOffset",)),
    Row("1e-14 x^2 at 3, h 1e-5", lambda x: x**2 / 10**14, 3.0, 1e-5),
    Row("1e14 x^3 at 2, h 1e-5", lambda x: 10**14 * x**3, 2.0, 1e-5),
    Row("cube at 1e20, h 1e15", lambda x: x**3, 1e20, 1e15),
    Row("identity with subnormal x and h", lambda x: x, 1e-320, 5e-324, ("ExtremeScale",)),
    Row("3 x with subnormal values", lambda x: 3 * x, 0.0, 2.0**-1070, ("ExtremeScale",)),
    Row("1e300 x^2 at 2, h 1e-3", lambda x: 10**300 * x**2, 2.0, 1e-3, ("ExtremeScale",)),
    Row("a rise of more than the largest double", lambda x: max(-LARGE, min(LARGE, x * 2**922)),
        0.0, 1.25 * 2.0**101),
]  # fmt: skip
MORE = [
    Row("x^4 - x^3 at 0.5, in binary fractions", lambda x: x**4 - x**3, 0.5, 0.25),
    Row("quintic at -1, in binary fractions", lambda x: x**5, -1.0, 0.25),
    Row("3 x with values below 2^-1060", lambda x: 3 * x, 0.0, 2.0**-1060, ("ExtremeScale",)),
    Row("subnormal rises over a step of 1/4", lambda x: x**2 / 2**1060, 1.0, 0.25,
        ("ExtremeScale",)),
    Row("a rise of 2e-308 over 1", lambda x: x * Fraction(2, 10**308), 1.0, 1.0, ("ExtremeScale",)),
    Row("1e-300 x^3 at 1e4", lambda x: x**3 / 10**300, 1e4, 1.0, ("ExtremeScale",)),
]  # fmt: skip


def around(x: float, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Shift a function so that its samples near x are as small as the step."""
    return lambda at: f(at - Fraction(x))


LARGE_PLACES = [
    Row(said, f, x, h, ("LargePlace",))
    for said, f, x, h in (
        ("identity at 1e16, h 64", lambda x: x, 1e16, 64.0),
        ("3 x at -1e20, h 1e15", lambda x: 3 * x, -1e20, 1e15),
        ("square at 1e100, h 1e95", lambda x: x**2, 1e100, 1e95),
        ("identity at -1e200, h 1e195", lambda x: x, -1e200, 1e195),
        ("5 x + 2 at 1e300, h 1e295", lambda x: 5 * x + 2, 1e300, 1e295),
        ("reciprocal at 1e150, h 1e147", lambda x: 1 / x, 1e150, 1e147),
        ("-x at 1.5e307, h 1e303", lambda x: -x, 1.5e307, 1e303),
        ("square at -20, h 8", lambda x: x**2, -20.0, 8.0),
    )
]
# Small samples: the rounding of their sum hides no step, neither near's nor far's.
SMALL = [
    Row(f"{said}, about {place}", around(place, f), place, h)
    for said, f, place, h in (
        ("x", lambda x: x, 1.23e10, 3e-6),
        ("3 x", lambda x: 3 * x, 1.23e10, 2.5e-6),
        ("x", lambda x: x, 1e6, 1e-9),
        ("x + x^2", lambda x: x + x**2, 3e7, 1e-8),
        ("5 x - x^3", lambda x: 5 * x - x**3, -40.0, 1e-3),
        ("x", lambda x: x, 1.3, 1e-5),
        ("x^5 - 2 x", lambda x: x**5 - 2 * x, 0.7, 1e-4),
        ("3 |x| + x", lambda x: 3 * abs(x) + x, -2.6, 1e-6),
    )
]
GONE = [
    Row("nominal: x = 1e20, h = 1e-3, no rise", lambda x: x, 1e20, 1e-3, ("StepVanishes",)),
    Row("nominal: x = -1e20, h = 1e-3, no rise", lambda x: 3 * x, -1e20, 1e-3, ("StepVanishes",)),
]
NONFINITE = [
    Row("logarithm at 1e-7, h 1e-6: NaN behind", only_where(lambda x: x > 0, LOG), 1e-7, 1e-6),
    Row("square root at 1, h 0.75: NaN two steps behind", only_where(lambda x: x >= 0, ROOT), 1.0,
        0.75),
    Row("x / x at 0: NaN at x alone", only_where(lambda x: x != 0, lambda x: x / x), 0.0, 0.5),
    Row("1 / x at 0.5, h 0.5: infinite one step behind",
        only_where(lambda x: x != 0, lambda x: 1 / x, math.inf), 0.5, 0.5),
    Row("NaN everywhere", lambda x: math.nan, 1.0, 0.5),
    Row("infinite everywhere", lambda x: math.inf, 1.0, 0.5),
    Row("infinite ahead", only_where(lambda x: x <= 1, lambda x: x, math.inf), 1.0, 0.5),
    Row("infinite behind", only_where(lambda x: x >= 1, lambda x: x, -math.inf), 1.0, 0.5),
]  # fmt: skip
REFUSED = [
    Row("x = 1e20, h = 1e-3", lambda x: x, 1e20, 1e-3, ("StepVanishes",)),
    Row("x = 1, h = 1e-17", lambda x: x, 1.0, 1e-17, ("StepVanishes",)),
    Row("h = 0", lambda x: x, 1.0, 0.0, ("BadArgument",)),
    Row("h is NaN", lambda x: x, 1.0, math.nan, ("BadArgument",)),
    Row("h is infinite", lambda x: x, 1.0, math.inf, ("BadArgument",)),
    Row("x is NaN", lambda x: x, math.nan, 0.5, ("BadArgument",)),
    Row("x is infinite", lambda x: x, math.inf, 0.5, ("BadArgument",)),
    Row("x + h is beyond the largest double", lambda x: x, 1.7e308, 1e308, ("BadArgument",)),
    Row("h is negative", lambda x: x, 1.0, -0.5, ("BadArgument",)),
    Row("x is -inf", lambda x: x, -math.inf, 0.5, ("BadArgument",)),
    Row("x = -1e20, h = 1e-3", lambda x: x, -1e20, 1e-3, ("StepVanishes",)),
    Row("h is -0", lambda x: x, 1.0, -0.0, ("BadArgument",)),
    Row("x = 1, h = 2^-54: x - 2h alone is another place", lambda x: x, 1.0, 2.0**-54,
        ("StepVanishes",)),
]  # fmt: skip
TOO_FAR = [  # for formulas that use these places
    Row("x - h is beyond the largest double", lambda x: x, -1.7e308, 1e308, ("BadArgument",)),
    Row("x + 2h is beyond the largest double", lambda x: x, 1.7e308, 7e306, ("BadArgument",)),
    Row("x - 2h is beyond the largest double", lambda x: x, -1.7e308, 7e306, ("BadArgument",)),
]


@dataclass(frozen=True)
class Formula:
    """A difference quotient: pairs of offsets, and how their slopes are combined."""

    name: str
    pairs: tuple[tuple[int, int], ...]
    nominal: bool = False
    source: str = "Abramowitz and Stegun (1964), 25.3"
    weights: tuple[Fraction, ...] = field(default=(Fraction(1),))

    @property
    def group(self) -> str:
        """Name of the group."""
        return f"stencil/{self.name}" + ("-nominal" if self.nominal else "")

    @property
    def used(self) -> set[int]:
        """Offsets of the samples that count."""
        return {offset for pair in self.pairs for offset in pair}

    def slope(self, x: float, h: float, values: dict[float, Any], number: Any) -> Any:
        """Combine samples, in exact (``number`` is Fraction) or in double arithmetic."""
        total = number(0)
        for (low, high), weight in zip(self.pairs, self.weights, strict=True):
            taken = number(x + high * h) - number(x + low * h)
            step = (high - low) * number(h) if self.nominal else taken
            total += number(weight) * ((number(values[high]) - number(values[low])) / step)
        return total


FORWARD = Formula("forward", ((0, 1),))
CENTRAL = Formula("central", ((-1, 1),))
FIVE_POINT = Formula("five-point", ((-1, 1), (-2, 2)), weights=(Fraction(4, 3), Fraction(-1, 3)))
FORWARD_NOMINAL = Formula("forward", ((0, 1),), nominal=True, source="TVM, first stage")
CENTRAL_NOMINAL = Formula("central", ((-1, 1),), nominal=True, source="torch, Warp, CS231n")
FIVE_POINT_NOMINAL = replace(
    FIVE_POINT, nominal=True, source="Abramowitz and Stegun (1964), 25.3, as most people write it"
)
FORMULAS = (
    *(FORWARD, CENTRAL, FIVE_POINT, FORWARD_NOMINAL, CENTRAL_NOMINAL),
    FIVE_POINT_NOMINAL,
)


def stencil_vectors() -> Vector:
    """Compute the file of this kind."""
    groups = [_group(formula, _tests(formula)) for formula in FORMULAS]
    # Others follow it: if a program keeps the last upstream gradient, they show it.
    return file_of("stencil", HEADER, [*groups[:3], _upstream_group(), *groups[3:]])


def _tests(formula: Formula) -> list[Vector]:
    rows = [*ROWS, *MORE, *SMALL, *LARGE_PLACES, *(GONE if formula.nominal else [])]
    tests = [vector_for(formula, row) for row in rows]
    tests += [nonfinite_vector(formula, row) for row in NONFINITE]
    if not formula.nominal:  # a nominal step does not notice that it vanishes
        places = sorted(formula.used) if -1 in formula.used else []
        far = [row for row in TOO_FAR if any(math.isinf(row.x + k * row.h) for k in places)]
        tests += [refused(row) for row in (*REFUSED, *far)]
    return tests


def _group(formula: Formula, tests: list[Vector]) -> Vector:
    return {
        "group": formula.group,
        "formula": formula.name,
        "step": "nominal" if formula.nominal else "taken",
        "source": f"exact rational; {formula.source}",
        "tests": tests,
    }


def vector_for(formula: Formula, row: Row) -> Vector:
    """Compute the vector of a row."""
    values = values_at(row.f, row.x, row.h, OFFSETS)
    slope = formula.slope(row.x, row.h, values, Fraction)
    within = _within(formula, row, values, slope)
    in_doubles = formula.slope(row.x, row.h, values, float)
    overflows = not finite(in_doubles)
    if not overflows and abs(exact(in_doubles) - slope) > within:
        raise UndecidedError(f"{formula.group}, {row.said}: doubles come no nearer")
    flags = {*row.flags, *_what_shows(formula, row, values, slope, within)}
    if overflows:
        flags.add("Overflow")
    return {
        "description": row.said,
        "flags": flags,
        **samples_of(row.f, row.x, row.h, OFFSETS),
        "slope": text(slope),
        "within": text(_up(within)),
        "result": "acceptable" if overflows else "valid",
    }


def _within(formula: Formula, row: Row, values: dict[float, float], slope: Fraction) -> Fraction:
    """Bound the error of the quotient in double arithmetic, in any order of evaluation."""
    slopes = [
        Formula(formula.name, (pair,), formula.nominal).slope(row.x, row.h, values, Fraction)
        for pair in formula.pairs
    ]
    bound = Fraction(ulps(4, max(abs(s) for s in slopes)))
    if formula.name == "five-point":
        # The textbook's one sum, f(-2) - 8 f(-1) + 8 f(1) - f(2) over 12 h, rounds at the size of
        # the values, not at that of their differences.
        bound += 3 * EPS * max(abs(Fraction(v)) for v in values.values()) / Fraction(row.h)
    return bound if slope or bound else Fraction(0)


def _up(value: Fraction) -> float:
    """Round a bound to a double that is not below it."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _what_shows(
    formula: Formula, row: Row, values: dict[float, float], slope: Fraction, within: Fraction
) -> Iterator[str]:
    """List the mistakes that this vector would show."""

    def differs(other: Formula) -> bool:
        apart = abs(other.slope(row.x, row.h, values, Fraction) - slope)
        if within / 2 < apart < 2 * within:
            raise UndecidedError(f"{row.said}: too close to call")
        return bool(apart > within)

    other = Formula(formula.name, formula.pairs, not formula.nominal, weights=formula.weights)
    if "StepVanishes" not in row.flags and differs(other):
        yield "StepWished" if formula.nominal else "StepTaken"
    if formula.name in ("forward", "central"):
        pair = ((-1, 1),) if formula.name == "forward" else ((0, 1),)
        if "StepVanishes" not in row.flags and differs(Formula("", pair, formula.nominal)):
            yield "OneSided"


def nonfinite_vector(formula: Formula, row: Row) -> Vector:
    """Compute the vector of a row where some samples are not finite."""
    values = values_at(row.f, row.x, row.h, OFFSETS)
    asked = samples_of(row.f, row.x, row.h, OFFSETS)
    common = {"description": row.said, **asked, "result": "valid"}
    if all(math.isfinite(values[k]) for k in formula.used):
        slope = formula.slope(row.x, row.h, values, exact)
        counted = {float(k): values[k] if k in formula.used else 0.0 for k in OFFSETS}
        within = text(_up(_within(formula, row, counted, slope)))
        return {**common, "flags": {"IgnoredSample"}, "slope": text(slope), "within": within}
    return {**common, "flags": {"NonfiniteSample"}, "slope": "nonfinite"}


def refused(row: Row, upstream: Sequence[float] = ()) -> Vector:
    """Write the vector of arguments that must be refused."""
    asked = samples_of(row.f, row.x, row.h, OFFSETS)
    if upstream:
        asked["samples"] = [[place, [value] * len(upstream)] for place, value in asked["samples"]]
        asked["upstream"] = texts(upstream)
    return {
        "description": row.said,
        "flags": set(row.flags),
        **asked,
        "refused": True,
        "result": "invalid",
    }


# --- an output of several numbers, weighted by the upstream gradient -----------------------------


@dataclass(frozen=True)
class Weighted:
    """A function with several outputs, and the upstream gradient, their weights."""

    said: str
    fs: tuple[Callable[[Any], Any], ...]
    upstream: tuple[float, ...]
    x: float
    h: float
    shape: tuple[int, ...] | None = None  # of the outputs; by default a row
    flags: tuple[str, ...] = ()


WEIGHTED = [
    Weighted("x and x^2, weights 1 and 1", (lambda x: x, lambda x: x**2), (1.0, 1.0), 1.5, 0.25),
    Weighted("x and x^2, weights 2 and -3", (lambda x: x, lambda x: x**2), (2.0, -3.0), 1.5, 0.25),
    Weighted("one output, weight -1", (lambda x: x**3,), (-1.0,), 0.5, 0.125),
    Weighted("all weights zero", (lambda x: x, lambda x: x**2), (0.0, 0.0), 1.5, 0.25),
    Weighted("one weight zero", (lambda x: x**2, lambda x: x**3), (0.0, 0.5), 1.0, 0.5),
    Weighted("weights that pick the second of three",
        (lambda x: x, lambda x: 5 * x, lambda x: 7 * x), (0.0, 1.0, 0.0), 2.0, 0.5),
    Weighted("exp, sine and square root, h 1e-5", (EXP, decimal(sine), ROOT), (0.3, -1.7, 2.2), 0.8,
        1e-5),
    Weighted("outputs of very different size", (lambda x: 10**8 * x, lambda x: x**2), (1e-8, 1.0),
        3.0, 1e-3),
    Weighted("ReLU at its kink, twice", (relu, lambda x: -relu(x)), (1.0, 0.5), 0.0, 0.25),
    Weighted("a fifth output alone", (*[relu] * 4, lambda x: 5 * x), (0.0,) * 4 + (1.0,), 2.0, 0.5),
    Weighted("weights that cancel", (lambda x: x, lambda x: x), (1.0, -1.0), 2.0, 0.5),
    Weighted("negative weights alone", (lambda x: x**2, lambda x: x), (-0.5, -2.0), -1.0, 0.25),
    Weighted("17 outputs, k x with weight 1 / 2^k", tuple(partial(mul, k) for k in range(17)),
        tuple(0.5**k for k in range(17)), -0.5, 0.25),
    Weighted("identity at 1.23e10, h 1e-6", (lambda x: x, lambda x: 2 * x), (1.0, 1.0), 1.23e10,
        1e-6),
]  # fmt: skip


def _outputs(shape: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """Give each output a slope of its own, and a weight of its own, of either sign."""
    count = math.prod(shape)
    slopes = tuple(partial(mul, 3**k) for k in range(count))
    return slopes, tuple((-1) ** k * (k + 2) / 4 for k in range(count))


WEIGHTED += [
    Weighted(f"outputs {' by '.join(map(str, shape)) or 'without dimensions'}, at {text(x)}",
        *_outputs(shape), x, h, shape, ("NestedUpstream",))
    for shape in ((), (1, 1), (1, 4), (4, 1), (2, 2), (2, 3), (3, 2), (2, 2, 2), (1, 3, 2))
    for x, h in ((1.5, 0.25), (-0.375, 0.0625))
]  # fmt: skip
WEIGHTED += [
    Weighted(f"x and -2 x at {text(x)}", (lambda v: v, lambda v: -2 * v), (-2.0, 0.5), x, h, None,
        ("LargePlace",))
    for x, h in ((1e16, 64.0), (-1e100, 1e95), (1e300, 1e295))
]  # fmt: skip
WEIGHTED += [
    Weighted(said, (lambda x: x, f), u, 1.5, 0.25)
    for said, f, u in (
        ("NaN behind", only_where(lambda x: x > 1.25, lambda x: x), (2.0, -3.0)),
        ("NaN behind, with a weight of 0", only_where(lambda x: x > 1.25, lambda x: x), (2.0, 0.0)),
        ("infinite ahead", only_where(lambda x: x < 1.75, lambda x: x, math.inf), (1.0, 1.0)),
        ("NaN at x and at 2 h", only_where(lambda x: x in (1.25, 1.75), lambda x: x), (2.0, -3.0)),
    )
]  # fmt: skip
WEIGHTED += [  # small samples, so that their rounding hides no step
    Weighted(f"{said}, about {text(x)}", tuple(around(x, f) for f in fs), u, x, h, shape)
    for said, fs, u, shape, x, h in (
        ("x and 2 x", (lambda v: v, lambda v: 2 * v), (1.0, 1.0), (2,), 1.23e10, 1e-6),
        ("x and -4 x, a column", (lambda v: v, lambda v: -4 * v), (0.5, -2.0), (2, 1), 3e7, 1e-8),
        ("3 x and -x", (lambda v: 3 * v, lambda v: -v), (2.0, 0.25), (2,), 1e6, 1e-9),
        ("x, a number", (lambda v: v,), (-3.0,), (), 1.23e10, 3e-6),  # the last: the next has none
    )
]  # fmt: skip
FOUR = ((2, 1, 2, 2), (1, 3, 1, 2), (2, 2, 2, 2))
WEIGHTED += [
    Weighted(f"outputs {' by '.join(map(str, shape))}, at {text(x)}", *_outputs(shape), x, h, shape,
        ("FourAxes",))
    for shape in FOUR
    for x, h in ((1.5, 0.25), (-0.375, 0.0625))
]  # fmt: skip
EXTREMES = (65536.0, 1e30, 1e-30, 1e200, 1e-200)
LARGEST, SMALLEST = Fraction(10) ** 306, Fraction(1, 10**290)  # of a weighted value
WEIGHTED += [
    Weighted(f"x and 3 x at {text(x)}, weights {text(u)} and {text(-3 * u)}",
        (lambda v: v, lambda v: 3 * v), (u, -3 * u), x, 0.25, None, ("ExtremeUpstream",))
    for u in EXTREMES for x in (1.5, -1.5)
]  # fmt: skip
WEIGHTED += [
    Weighted(f"-x, a number, at {text(x)}, weight {text(u)}", (lambda v: -v,), (u,), x, 0.25, (),
        ("ExtremeUpstream",))
    for u in EXTREMES for x in (1.5, -1.5)
]  # fmt: skip
WEIGHTED += [
    Weighted(f"outputs 2 by 3 at {text(x)}, weights of {text(u)}", slopes,
        tuple(u * weight for weight in weights), x, 0.25, (2, 3), ("ExtremeUpstream",))
    for slopes, weights in [_outputs((2, 3))] for u in EXTREMES for x in (1.5, -1.5)
]  # fmt: skip
WEIGHTED += [
    Weighted(f"weights {', '.join(map(text, u))}, at {text(x)}", (lambda v: v, lambda v: 2 * v), u,
        x, 0.25, None, ("NonfiniteUpstream",))
    for u in ((math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (-2.0, -math.inf))
    for x in (1.5, -1.5)
]  # fmt: skip
WEIGHTED += [
    Weighted(f"{said}, weights {', '.join(map(text, u))}", (f, lambda v: v), u, 1.5, 0.25)
    for said, f in (
        ("NaN ahead", only_where(lambda x: x < 1.75, lambda x: x)),
        ("infinite behind", only_where(lambda x: x > 1.25, lambda x: x, -math.inf)),
        ("infinite on both sides", only_where(lambda x: x == 1.5, lambda x: x, math.inf)),
        ("NaN on both sides", only_where(lambda x: x == 1.5, lambda x: x)),
    )
    for u in ((2.0, -3.0), (1e30, 1.0))
]  # fmt: skip
WEIGHTED += [  # more outputs than fixed buffers hold
    Weighted(f"outputs {' by '.join(map(str, shape))}",
        tuple(partial(mul, k % 5 + 1) for k in range(math.prod(shape))),
        tuple((-1) ** k * (k % 7 + 2) / 4 for k in range(math.prod(shape))), 1.5, 0.25, shape,
        ("ManyEntries",))
    for shape in ((100,), (10, 13), (300,))
]  # fmt: skip
WEIGHTED += [
    Weighted(f"4e9 x and 3e9 x at 3, weights 5e9 and {text(u)}",
        (partial(mul, 4 * 10**9), partial(mul, 3 * 10**9)), (5e9, u), 3.0, 1.0, None,
        ("WholeNumbers",))
    for u in (7e9, -9e9)
]  # fmt: skip


def _upstream_group() -> Vector:
    return {
        "group": "stencil/central-upstream",
        "formula": "central",
        "step": "taken",
        "source": "exact rational; CS231n's eval_numerical_gradient_array",
        "tests": [
            *(refused(row, [1.0, -2.0]) for row in (*REFUSED, TOO_FAR[0])),
            *map(weighted_vector, WEIGHTED),
        ],
    }


def weighted_vector(row: Weighted) -> Vector:
    """Compute the vector of a row of several outputs."""
    shape = (len(row.fs),) if row.shape is None else row.shape
    places = [row.x + k * row.h for k in OFFSETS]
    values = [[sampled(f, place) for f in row.fs] for place in places]
    asked = {
        "description": row.said,
        "x": text(row.x),
        "h": text(row.h),
        "samples": [
            [text(p), texts(arranged(v, shape))] for p, v in zip(places, values, strict=True)
        ],
        "upstream": texts(arranged(row.upstream, shape)),
        "result": "valid",
    }
    if not all(map(math.isfinite, row.upstream)):
        return {**asked, "flags": set(row.flags), "slope": "nonfinite"}
    if not all(map(math.isfinite, values[1] + values[3])):
        return {**asked, "flags": {"NonfiniteSample"}, "slope": "nonfinite"}
    behind, ahead = (list(map(Fraction, values[k])) for k in (1, 3))
    step = Fraction(places[3]) - Fraction(places[1])
    weights = list(map(Fraction, row.upstream))
    weighted = [abs(u * v) for side in (behind, ahead) for u, v in zip(weights, side, strict=True)]
    if not all(v == 0 or SMALLEST < v < LARGEST for v in weighted):
        raise UndecidedError(f"{row.said}: to weight first leaves the range of a double")
    rises = [u * (a - b) for u, a, b in zip(weights, ahead, behind, strict=True)]
    slope = sum(rises, Fraction(0)) / step
    # Weighting before subtracting rounds each term for its weight, the step, the division and the
    # last difference, and n - 1 times in its sum: n + 3 times, each time by half an epsilon. To
    # subtract first rounds as often, and at the size of the differences, which is less.
    within = EPS * (4 + len(weights)) * sum(weighted, Fraction(0)) / step
    taken = abs(slope) * abs(step / (2 * Fraction(row.h)) - 1) > 2 * within
    ignored = not all(map(math.isfinite, flat(values)))
    flags = {"StepTaken": taken, "IgnoredSample": ignored}
    return {
        **asked,
        "flags": {*row.flags, *(flag for flag, shows in flags.items() if shows)},
        "slope": text(slope),
        "within": text(_up(within)),
    }
