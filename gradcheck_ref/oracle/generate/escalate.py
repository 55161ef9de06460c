"""Escalation vectors: samples and a claim in, the order reached and its slope out."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .functions import relu
from .layout import Vector, file_of
from .numbers import (
    CLEAR,
    UndecidedError,
    cosine,
    exact,
    finite,
    is_double,
    rounded,
    samples_of,
    sine,
    text,
    ulps,
    values_at,
)
from .stencil import EXP, LOG, decimal, only_where

HEADER = (
    "A function is sampled at x - h, x - h/2, x, x + h/2, x + h, and a slope is claimed. A forward "
    "difference is made central, and then five-point (with h and h/2), but each only where the "
    "slope before disagrees with the claim. Which order is reached, and which slope?"
)
ORDERS: list[Any] = [1, 2, 4]
OFFSETS = (-1.0, -0.5, 0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Row:
    """A function near a point, and its derivative there."""

    said: str
    f: Callable[[Any], Any]
    x: float
    h: float
    truth: float
    flags: tuple[str, ...] = ()


FAST = decimal(lambda x: sine(1000 * x))
SMOOTH = [
    Row("cube at 2, h 1/8", lambda x: x**3, 2.0, 0.125, 12.0),
    Row("square at 3, h 1/2", lambda x: x**2, 3.0, 0.5, 6.0),
    Row("fourth power at -1, h 1/4", lambda x: x**4, -1.0, 0.25, -4.0),
    Row("a straight line", lambda x: 1 - x * 3 / 2, 0.25, 0.0625, -1.5),
    Row("exponential at 1, h 1e-3", EXP, 1.0, 1e-3, math.e),
    Row("sine at 0.5, h 1e-3", decimal(sine), 0.5, 1e-3, rounded(cosine(Decimal("0.5")))),
    Row("reciprocal at 0.25, h 1/16", lambda x: 1 / x, 0.25, 0.0625, -16.0),
    Row("sin(1000 x) at 0.002, h 1e-3", FAST, 0.002, 1e-3, rounded(1000 * cosine(Decimal(2)))),
    Row("quintic at -0.75, h 1/64", lambda x: x**5 - x, -0.75, 1 / 64, 0.58203125),
]
KINKS = [
    Row("absolute value at 0", abs, 0.0, 0.25, 0.0, ("Kink",)),
    Row("ReLU at 0", relu, 0.0, 0.25, 0.0, ("Kink",)),
    Row("ReLU with its kink in reach of h", relu, -0.1875, 0.25, 0.0, ("Kink",)),
]
FAR = Row("identity at 1.23e10, h 3e-6", lambda x: x, 1.23e10, 3e-6, 1.0)
BEHIND = Row("logarithm, NaN at x - h", only_where(lambda x: x > 0, LOG), 0.5, 0.5, 2.0)
AHEAD = Row("x below 1, NaN at x + h", only_where(lambda x: x < 1, lambda x: x), 0.5, 0.5, 1.0)
HERE = Row("x / x at 0, NaN at x", only_where(lambda x: x != 0, lambda x: x / x), 0.0, 0.5, 0.0,
    ("NaNAtCentre",))  # fmt: skip

STEEP = Row("inf at x + h", only_where(lambda x: x <= 0.5, lambda x: x, math.inf), 0.5, 0.5, 1.0)
FLUSHED = Row("3 x with subnormal values", lambda x: 3 * x, 0.0, 2.0**-1060, 3.0, ("Subnormal",))
RISING = Row("subnormal rises", lambda x: x**2 / 2**1060, 1.0, 0.25, 2.0**-1059, ("Subnormal",))
GONE = Row("identity at 1e20, h 1e-3", lambda x: x, 1e20, 1e-3, 1.0, ("StepVanishes",))
APART = Row("4 x - 12 x^2 at 0, h 1/4", lambda x: 4 * x - 12 * x**2, 0.0, 0.25, 4.0)
TURN = Row("x^2 + x^3 at 0, h 1/4", lambda x: x**2 + x**3, 0.0, 0.25, 0.0)
WAVE = Row("x^5 - x^2 at -1, h 1/2", lambda x: x**5 - x**2, -1.0, 0.5, 7.0)
LARGE_PLACES = [
    Row("square at 1e20, h 1e18", lambda x: x**2, 1e20, 1e18, 2e20, ("LargePlace",)),
    Row("cube at -1e90, h 1e88", lambda x: x**3, -1e90, 1e88, 3e180, ("LargePlace",)),
    Row("3 x at 1e300, h 1e295", lambda x: 3 * x, 1e300, 1e295, 3.0, ("LargePlace",)),
]

CUBE, LINE = SMOOTH[0], SMOOTH[3]  # slopes 12.765625, 12.015625, 12 and -1.5, all exact
TWIN, BOTH, GIVEN = ("Twin",), ("SumOfTolerances",), ("GivenTolerance",)
# (row, claim, what is said, rtol, atol, flags)
Edge = tuple[Row, float, str, float, float, tuple[str, ...]]
TIES: list[Edge] = [
    (CUBE, 12.515625, "at forward, atol 1/4", 0.0, 0.25, ()),
    (CUBE, 12.515625 - 2**-30, "just beyond, at forward", 0.0, 0.25, ()),
    (CUBE, 12.515625 + 2**-30, "just within, at forward", 0.0, 0.25, ()),
    (CUBE, 12.0, "at central, atol 1/64", 0.0, 1 / 64, ()),
    (CUBE, 12.0 + 2**-30, "just within, at central", 0.0, 1 / 64, ()),
    (CUBE, 12.765625, "at forward, tolerances 0", 0.0, 0.0, ()),
    (CUBE, 12.015625, "at central, tolerances 0", 0.0, 0.0, ()),
    (LINE, -1.125, "of a line at every stage, rtol 1/4", 0.25, 0.0, ()),
    (LINE, -1.125 - 2**-30, "just within, on a line", 0.25, 0.0, ()),
    (LINE, -1.0, "of a line, rtol 1/4 and atol 1/8", 0.25, 0.125, ()),
]
EDGES: list[Edge] = [  # claims on both sides of every edge
    # On either side of -1.5, rtol 0.1: the slope is the reference.
    (LINE, -1.36, "-1.36, rtol 0.1", 0.1, 0.0, ()),
    (LINE, -1.66, "-1.66, rtol 0.1", 0.1, 0.0, ()),
    (LINE, -1.67, "-1.67, rtol 0.105", 0.105, 0.0, ()),
    (LINE, -1.3568, "-1.3568, rtol 0.1", 0.1, 0.0, ()),
    (LINE, -1.0 - 2**-52, "an ulp within, rtol 1/4 and atol 1/8", 0.25, 0.125, TWIN),
    (LINE, -1.0 + 2**-53, "an ulp beyond, rtol 1/4 and atol 1/8", 0.25, 0.125, TWIN),
    (LINE, -1.125 - 2**-52, "an ulp within, rtol 1/4", 0.25, 0.0, TWIN),
    (LINE, -1.125 + 2**-52, "an ulp beyond, rtol 1/4", 0.25, 0.0, TWIN),
    (LINE, -2.0 + 2**-52, "an ulp within, beyond 0, rtol 1/4 and atol 1/8", 0.25, 0.125, TWIN),
    (LINE, -2.0 - 2**-51, "an ulp beyond, beyond 0, rtol 1/4 and atol 1/8", 0.25, 0.125, TWIN),
    (LINE, -1.25 - 2**-52, "an ulp within, atol 1/4", 0.0, 0.25, TWIN),
    (LINE, -1.25 + 2**-52, "an ulp beyond, atol 1/4", 0.0, 0.25, TWIN),
    (LINE, -1.0, "within the sum alone, at forward", 0.25, 0.25, BOTH),
    (LINE, -2.0, "within the sum alone, too steep", 0.25, 0.25, BOTH),
    (LINE, -0.75, "beyond the sum, at every stage", 0.25, 0.25, BOTH),
    (LINE, -1.0, "within neither half, twice", 0.1875, 0.28125, BOTH),
    (CUBE, 11.5, "within the sum alone, at central", 2**-6, 0.375, BOTH),
    (CUBE, 11.5, "beyond the sum at central", 2**-6, 0.3125, BOTH),
    (CUBE, 12.5, "within the sum alone, at central, from above", 2**-6, 0.3125, BOTH),
    (CUBE, 12.5, "beyond the sum at central, from above", 2**-6, 0.25, BOTH),
    (CUBE, 6.0, "within a wide rtol", 0.75, 0.0, GIVEN),
    (CUBE, 2.0, "within a wide atol", 0.0, 16.0, GIVEN),
    (CUBE, 12.75, "beyond narrow tolerances, at forward", 2**-20, 2**-20, GIVEN),
    (CUBE, 12.015, "beyond narrow tolerances, at central", 2**-20, 2**-20, GIVEN),
    (CUBE, 12.7656, "within a narrow rtol, at forward", 2**-18, 0.0, GIVEN),
    (CUBE, 12.0156, "within a narrow atol, at central", 0.0, 2**-14, GIVEN),
    (CUBE, 12.0, "a wide atol beside rtol 0, at central", 0.0, 0.5, GIVEN),
    *((FLUSHED, claim, text(claim), 0.125, 0.0, ()) for claim in (0.0, 3.0, 1.0)),
    *((RISING, claim, text(claim), 0.125, 0.0, ()) for claim in (0.0, RISING.truth)),
    (LINE, 0.5, "within rtol 1.5", 1.5, 0.0, GIVEN),
    (LINE, 1.0, "beyond rtol 1.5", 1.5, 0.0, GIVEN),
    *(
        (row, claim, text(claim), 0.125, 0.125, ())
        for row in (TURN, WAVE)
        for claim in (0.0, 1.0, -1.0, 7.0)
    ),
]
FAINT = Row("x / 2^100", lambda x: x / 2**100, 0.25, 0.0625, 2.0**-100)
FAINTER = Row("x / 2^665", lambda x: x / 2**665, 0.25, 0.0625, 2.0**-665)
STEEPEST = Row("2^1000 x", lambda x: x * 2**1000, 0.25, 0.0625, 2.0**1000)
WIDE, SCALE = ("ExtremeTolerance",), ("ExtremeScale",)
EXTREMES: list[Edge] = [  # for both kinds of step
    (LINE, 15.0, "within rtol 12", 12.0, 0.0, WIDE),
    (LINE, 17.5, "beyond rtol 12", 12.0, 0.0, WIDE),
    (LINE, 200.0, "within atol 256", 0.0, 256.0, WIDE),
    (LINE, -300.0, "beyond atol 256", 0.0, 256.0, WIDE),
    (LINE, 1e290, "within atol 1e300", 0.0, 1e300, WIDE),
    *((row, row.truth, "the truth, rtol 1/4", 0.25, 0.0, SCALE) for row in (FAINT, FAINTER)),
    *((row, 1.5 * row.truth, "beyond rtol 1/4", 0.25, 0.0, SCALE) for row in (FAINT, FAINTER)),
    *((row, 0.0, "0, beyond rtol 1/4", 0.25, 0.0, SCALE) for row in (FAINT, FAINTER)),
    (STEEPEST, 1.125 * 2.0**1000, "within rtol 1/4", 0.25, 0.0, SCALE),
    (STEEPEST, 1.5 * 2.0**1000, "beyond rtol 1/4", 0.25, 0.0, SCALE),
]
NOMINAL_EDGES: list[Edge] = [
    (LINE, -1.0, "within the sum alone", 0.25, 0.25, BOTH),
    (LINE, -2.0, "within the sum alone, too steep", 0.25, 0.25, BOTH),
    (LINE, -0.75, "beyond the sum", 0.25, 0.25, BOTH),
    (LINE, -1.0 - 2**-52, "within the tie, rtol 1/4 and atol 1/8", 0.25, 0.125, ()),
    (LINE, -1.0 + 2**-53, "beyond the tie, rtol 1/4 and atol 1/8", 0.25, 0.125, ()),
    (LINE, -1.0, "at the tie, rtol 1/4 and atol 1/8", 0.25, 0.125, ()),
    (LINE, 0.5, "within rtol 1.5", 1.5, 0.0, GIVEN),
    (LINE, 1.0, "beyond rtol 1.5", 1.5, 0.0, GIVEN),
]

TVM = ("TVM's tolerances", 0.1, 0.01)
TIGHT = ("tight tolerances", 1e-6, 1e-9)


@dataclass(frozen=True)
class Path:
    """How far the escalation went, and its slopes."""

    order: int
    slope: Any
    seen: list[Any]
    definite: bool
    tie: bool
    steered: bool


def escalate_vectors() -> Vector:
    """Compute the file of this kind."""
    taken = [*_taken(), *(refused(*row) for row in REFUSED)]
    groups = [
        {"group": f"escalate/{step}", "step": step, "source": source, "tests": tests}
        for step, source, tests in (
            ("taken", "exact rational; TVM's three stages, with the step taken", taken),
            ("nominal", "exact rational; TVM's check_numerical_grads", list(_nominal())),
        )
    ]
    return file_of("escalate", HEADER, groups)


def _taken() -> Iterator[Vector]:
    for row in SMOOTH:
        for name, claim in _claims(row):
            for tolerances in (TVM, TIGHT):
                yield vector_for(row, name, claim, tolerances)
    for row in KINKS:
        for claim in (-1.0, -0.5, 0.0, 0.25, 0.5, 1.0):
            yield vector_for(row, f"claim {text(claim)}", claim, TIGHT)
    for row, *claims in (
        (BEHIND, 1.4, 0.8, 2.0),
        (AHEAD, 1.0, 0.0),
        (HERE, 0.0, 1.0),
        (STEEP, math.inf, 1.0, math.nan),
        (CUBE, math.nan, math.inf, -math.inf),
    ):
        for claim in claims:
            yield vector_for(row, f"claim {text(claim)}", claim, TVM)
    for claim in (math.inf, 1.0, math.nan):
        yield vector_for(STEEP, f"claim {text(claim)}, rtol 0", claim, ("", 0.0, 0.5))
    for claim in (1.0, 1.25):
        yield vector_for(FAR, f"claim {text(claim)}", claim, TIGHT)
    yield from _beside("tie", TIES, nominal=False)
    yield from _beside("claim", EDGES, nominal=False)
    yield from _in_both_groups(nominal=False)


def _beside(what: str, edges: list[Edge], *, nominal: bool) -> Iterator[Vector]:
    for row, claim, said, rtol, atol, flags in edges:
        given = ("", rtol, atol)
        yield vector_for(row, f"{what} {said}", claim, given, nominal=nominal, more=flags)


def _in_both_groups(*, nominal: bool) -> Iterator[Vector]:
    """Questions for both kinds of step: odd samples, farther slopes, large places, and turns."""
    quarter = ("", 0.0, 0.25)
    for k, name in zip(OFFSETS, ("x - h", "x - h/2", "x", "x + h/2", "x + h"), strict=True):
        for odd in (math.nan, math.inf):
            if nominal and k == 0:
                continue  # TVM's central slope, a mean of one-sided ones, is NaN, too
            row = with_odd(CUBE, k, odd, f"cube at 2, {text(odd)} at {name}")
            for claim in (12.75, 12.125, 12.0, 1.0):  # forward agrees; central, twice; neither
                said = f"claim {text(claim)}"
                yield vector_for(row, said, claim, quarter, nominal=nominal, more=("OneOddSample",))
    for claim in (12.4375, 12.5, 13.5, 20.0):
        said = f"claim {text(claim)}, five-point is no nearer"
        given = ("", 0.0, 0.1875)
        yield vector_for(CUBE, said, claim, given, nominal=nominal, more=("FartherOff",))
    said = "claim 2: 1 is nearer, but 4 agrees"
    yield vector_for(APART, said, 2.0, ("", 0.75, -0.0), nominal=nominal, more=("FartherOff",))
    yield from _beside("claim", EXTREMES, nominal=nominal)
    for row in LARGE_PLACES:
        for name, claim in (("the truth", row.truth), ("twice that", 2 * row.truth), ("0", 0.0)):
            yield vector_for(row, name, claim, ("", 1e-8, 0.0), nominal=nominal)
    for turn in ("once", "again"):
        for said, claim, rtol, atol in (
            ("wide rtol", 12.5, 0.5, 0.0),
            ("tight rtol", 12.5, 2.0**-20, 0.0),
            ("wide atol", 12.5, 0.0, 2.0),
            ("tight atol", 12.0, 0.0, 2.0**-20),
            ("claim NaN", math.nan, 0.0, 2.0),
            ("after NaN, wide atol", 12.5, 0.0, 2.0),
        ):
            given = (f"{said}, {turn}", rtol, atol)
            yield vector_for(CUBE, "", claim, given, nominal=nominal, more=("InTurn",))


def with_odd(row: Row, offset: float, odd: float, said: str) -> Row:
    """Put NaN or an infinity into one sample of a row."""
    at = Fraction(row.x + offset * row.h)
    return Row(said, only_where(lambda x: x != at, row.f, odd), row.x, row.h, 0.0)


def _claims(row: Row) -> Iterator[tuple[str, float]]:
    slopes = slopes_of(row, nominal=False)
    yield "the truth", row.truth
    for name, slope in zip(("forward", "central", "five-point"), slopes, strict=True):
        yield f"the {name} slope", rounded(slope)
    yield "twice the truth", 2 * row.truth
    yield "0", 0.0


def _nominal() -> Iterator[Vector]:
    for row in (CUBE, SMOOTH[4], SMOOTH[7]):
        for name, claim in _claims(row):
            yield vector_for(row, name, claim, TVM, nominal=True)
    for row, *claims in (
        (FAR, 1.0, 1.25, 2.0, 0.0),
        (KINKS[0], -1.0, 0.0, 1.0),
        (BEHIND, 1.4, 2.0),
        (AHEAD, 1.0, 0.0),
        (CUBE, math.nan, math.inf),
        (GONE, 0.0, 1.0),
    ):
        for claim in claims:
            yield vector_for(row, f"claim {text(claim)}", claim, TVM, nominal=True)
    yield from _beside("claim", NOMINAL_EDGES, nominal=True)
    yield from _in_both_groups(nominal=True)


def slopes_of(row: Row, *, nominal: bool) -> list[Any]:
    """Return the three slopes, exactly; NaN where a sample is NaN."""
    values = {k: exact(v) for k, v in values_at(row.f, row.x, row.h, OFFSETS).items()}
    h = Fraction(row.h)

    def quotient(low: float, high: float) -> Any:
        taken = Fraction(row.x + high * row.h) - Fraction(row.x + low * row.h)
        return (values[high] - values[low]) / (Fraction(high - low) * h if nominal else taken)

    forward, far, near = quotient(0.0, 1.0), quotient(-1.0, 1.0), quotient(-0.5, 0.5)
    return [forward, far, near + (near - far) / 3]


def _walk(slopes: list[Any], claim: float, rtol: float, atol: float, noise: Fraction) -> Path:
    """Go from slope to slope until one agrees with the claim."""
    g: Any = exact(claim)
    r, t = Fraction(rtol), Fraction(atol)
    definite, tie, steered = True, False, False
    for order, slope in zip(ORDERS, slopes, strict=True):
        agrees = False
        if slope == slope and math.isfinite(claim):
            error, allowed, other = abs(slope - g), t + r * abs(slope), t + r * abs(g)
            if order < 4:
                doubles = all(map(is_double, (slope, slope - g, r * abs(slope), allowed)))
                far = abs(error - allowed) > 2 * noise + CLEAR * max(error, allowed)
                definite &= far or doubles
                tie |= error == allowed
                steered |= (error < allowed) != (error < other)
            agrees = error < allowed
        if agrees or order == 4:
            seen = slopes[: ORDERS.index(order) + 1]
            return Path(order, slope, seen, definite, tie, steered)
    raise AssertionError("the last order always ends the walk")


def vector_for(
    row: Row,
    name: str,
    claim: float,
    tolerances: tuple[str, float, float],
    *,
    nominal: bool = False,
    more: tuple[str, ...] = (),
) -> Vector:
    """Compute the vector of a row and a claim."""
    said, rtol, atol = tolerances
    slopes = slopes_of(row, nominal=nominal)
    numbers = [s for s in slopes if finite(s)]
    noise = Fraction(ulps(8, max(map(abs, numbers), default=Fraction(0))))
    path = _walk(slopes, claim, rtol, atol, noise)
    if not path.definite:
        raise UndecidedError(f"{row.said}, {name}")
    flags = {*row.flags, *more, *_what_shows(row, path, slopes, claim, noise, nominal)}
    told: Vector = {"order": path.order}
    if finite(path.slope):
        told |= {"slope": text(path.slope), "within": text(float(noise))}
    else:
        told["slope"] = "nonfinite"
    return {
        "description": ", ".join(filter(None, (row.said, name, said))),
        "flags": flags,
        **_inputs(row, claim, rtol, atol),
        **told,
        "result": "acceptable" if "NaNAtCentre" in flags else "valid",
    }


def _inputs(row: Row, claim: float, rtol: float, atol: float) -> Vector:
    return {
        **samples_of(row.f, row.x, row.h, OFFSETS),
        "claimed": text(claim),
        "rtol": text(rtol),
        "atol": text(atol),
    }


def _what_shows(
    row: Row, path: Path, slopes: list[Any], claim: float, noise: Fraction, nominal: bool
) -> Iterator[str]:
    """List the mistakes that this vector would show."""
    whole = all(map(finite, slopes))
    yield {1: "StopsAtForward", 2: "StopsAtCentral", 4: "GoesToTheEnd"}[path.order]
    if path.tie:
        yield "ExactTie"
    if path.steered:
        yield "SlopeIsReference"
    if not whole and all(map(finite, path.seen)):
        yield "IgnoredSample"
    if not math.isfinite(claim) or not all(map(finite, path.seen)):
        yield "Nonfinite"
    if whole and "StepVanishes" not in row.flags:
        others = slopes_of(row, nominal=not nominal)
        if any(abs(a - b) > 2 * noise for a, b in zip(slopes, others, strict=True)):
            yield "StepWished" if nominal else "StepTaken"


REFUSED = [
    ("h = 0", 0.25, 0.0, 0.1, 0.01),
    ("h is negative", 0.25, -0.5, 0.1, 0.01),
    ("h vanishes against x", 1e20, 1e-3, 0.1, 0.01),
    ("rtol is negative", 0.25, 0.0625, -0.1, 0.01),
    ("atol is negative", 0.25, 0.0625, 0.1, -0.01),
    ("atol is NaN", 0.25, 0.0625, 0.1, math.nan),
    ("rtol is NaN", 0.25, 0.0625, math.nan, 0.01),
    ("rtol is infinite", 0.25, 0.0625, math.inf, 0.01),
    ("atol is infinite", 0.25, 0.0625, 0.1, math.inf),
    ("h is NaN", 0.25, math.nan, 0.1, 0.01),
    ("h is infinite", 0.25, math.inf, 0.1, 0.01),
    ("x is NaN", math.nan, 0.5, 0.1, 0.01),
    ("x is infinite", math.inf, 0.5, 0.1, 0.01),
    ("x + h is beyond the largest double", 1.7e308, 1e308, 0.1, 0.01),
    ("x - h is beyond the largest double", -1.7e308, 1e308, 0.1, 0.01),
    ("h / 2 vanishes on both sides, h does not", 1.5, 2.0**-52, 0.1, 0.01),
    ("x + h is x, though x - h is not", 1.0, 2.0**-53, 0.1, 0.01),
]


def refused(said: str, x: float, h: float, rtol: float, atol: float) -> Vector:
    """Write the vector of arguments that must be refused."""
    row = Row(said, LINE.f, x, h, LINE.truth)
    return {
        "description": said,
        "flags": {"BadArgument"},
        **_inputs(row, LINE.truth, rtol, atol),
        "refused": True,
        "result": "invalid",
    }
