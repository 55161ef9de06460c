"""Stencil vectors: samples of a function in, a difference quotient out."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .layout import Vector, arranged, flat, shape
from .numbers import (
    UndecidedError,
    exact,
    finite,
    sampled,
    sampled_at,
    samples_of,
    text,
    texts,
    ulps,
    values_at,
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


def only_where(
    inside: Callable[[Fraction], bool], f: Callable[[Any], Any], outside: float = math.nan
) -> Callable[[Fraction], Any]:
    """Give a function an edge, beyond which it has no finite value."""
    return lambda x: f(x) if inside(x) else outside


def around(x: float, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Shift a function so that its samples near x are as small as the step."""
    return lambda at: f(at - Fraction(x))


@dataclass(frozen=True)
class Formula:
    """A difference quotient: pairs of offsets, and how their slopes are combined."""

    name: str
    pairs: tuple[tuple[int, int], ...]
    nominal: bool = False
    weights: tuple[Fraction, ...] = (Fraction(1),)

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


# Abramowitz and Stegun (1964), 25.3. With the nominal step these are TVM's first stage, and the
# quotient of torch, Warp and CS231n.
FORMULAS = tuple(
    Formula(name, pairs, nominal, weights)
    for nominal in (False, True)
    for name, pairs, weights in (
        ("forward", ((0, 1),), (Fraction(1),)),
        ("central", ((-1, 1),), (Fraction(1),)),
        ("five-point", ((-1, 1), (-2, 2)), (Fraction(4, 3), Fraction(-1, 3))),
    )
)


def answered(test: Vector) -> Vector:
    """Answer a question of a file again."""
    flags, nominal = tuple(test["flags"]), test["step"] == "nominal"
    x, h, upstream = float(test["x"]), float(test["h"]), test.get("upstream")
    vanishes = "StepVanishes" in flags and not nominal  # a nominal step does not notice it
    samples = [(place, flat(values)) for place, values in test["samples"]]
    fs = [
        sampled_at((place, values[k]) for place, values in samples)
        for k in range(len(samples[0][1]))
    ]
    row = Row(test["description"], fs[0], x, h, flags)
    weights = tuple(map(float, flat(upstream or [])))
    if vanishes or "BadArgument" in flags:
        return refused(row, weights)
    if upstream is not None:
        return weighted_vector(Weighted(row.said, tuple(fs), weights, x, h, shape(upstream), flags))
    (formula,) = (f for f in FORMULAS if (f.name, f.nominal) == (test["formula"], nominal))
    if all(math.isfinite(float(values[0])) for _, values in samples):
        return vector_for(formula, row)
    return nonfinite_vector(formula, row)


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


EXTREMES = (65536.0, 1e30, 1e-30, 1e200, 1e-200)
LARGEST, SMALLEST = Fraction(10) ** 306, Fraction(1, 10**290)  # of a weighted value


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
