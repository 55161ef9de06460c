"""Escalation vectors: samples and a claim in, the order reached and its slope out."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .layout import Vector
from .numbers import (
    CLEAR,
    UndecidedError,
    exact,
    finite,
    is_double,
    sampled_at,
    samples_of,
    text,
    ulps,
    values_at,
)
from .stencil import Row, only_where

ORDERS: list[Any] = [1, 2, 4]
OFFSETS = (-1.0, -0.5, 0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Path:
    """How far the escalation went, and its slopes."""

    order: int
    slope: Any
    seen: list[Any]
    definite: bool
    tie: bool
    steered: bool


def answered(test: Vector) -> Vector:
    """Answer a question of a file again."""
    x, h, claim, rtol, atol = (float(test[key]) for key in ("x", "h", "claimed", "rtol", "atol"))
    f, flags = sampled_at(test["samples"]), tuple(test["flags"])
    row = Row(test["description"], f, x, h, flags)
    if "BadArgument" in flags:
        return refused(row, claim, rtol, atol)
    return vector_for(row, claim, rtol, atol, nominal=test["step"] == "nominal")


def with_odd(row: Row, offset: float, odd: float, said: str) -> Row:
    """Put NaN or an infinity into one sample of a row."""
    at = Fraction(row.x + offset * row.h)
    return Row(said, only_where(lambda x: x != at, row.f, odd), row.x, row.h)


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
    row: Row, claim: float, rtol: float, atol: float, *, nominal: bool = False
) -> Vector:
    """Compute the vector of a row and a claim."""
    slopes = slopes_of(row, nominal=nominal)
    numbers = [s for s in slopes if finite(s)]
    noise = Fraction(ulps(8, max(map(abs, numbers), default=Fraction(0))))
    path = _walk(slopes, claim, rtol, atol, noise)
    if not path.definite:
        raise UndecidedError(f"{row.said}, claim {text(claim)}")
    flags = {*row.flags, *_what_shows(row, path, slopes, claim, noise, nominal)}
    told: Vector = {"order": path.order}
    if finite(path.slope):
        told |= {"slope": text(path.slope), "within": text(float(noise))}
    else:
        told["slope"] = "nonfinite"
    return {
        "description": row.said,
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


def refused(row: Row, claim: float, rtol: float, atol: float) -> Vector:
    """Write the vector of arguments that must be refused."""
    return {
        "description": row.said,
        "flags": {"BadArgument"},
        **_inputs(row, claim, rtol, atol),
        "refused": True,
        "result": "invalid",
    }
