"""Whole vectors: slopes along lines at two steps in, the error of the whole gradient out."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import Any

from .layout import Vector, file_of
from .numbers import finite, root, rounded, text
from .stencil import EPS

HEADER = (
    "A function is sampled along lines through x, at two steps on both sides, and the claimed "
    "slope along each line is given. How large is the error of the whole gradient, beside the "
    "gradient, and how sure is the square of that?"
)
FAR = (1e-200, 1e200)  # of claims: their squares leave the range of doubles
Line = tuple[float, tuple[float, float, float, float]]  # claim; behind and ahead at both steps


@dataclass(frozen=True)
class Row:
    """Lines, each with a claim and four samples, and the two steps."""

    said: str
    steps: tuple[float, float]
    lines: list[Line] = field(default_factory=list)
    flags: tuple[str, ...] = ()


def straight_or_cubic(
    said: str,
    factor: float,
    count: int,
    flags: tuple[str, ...] = (),
    *,
    curve: float = 0.0,
    noise: float = 0.0,
    scale: float = 1.0,
    steps: tuple[float, float] = (0.25, 0.0625),
) -> Row:
    """Take lines along which f is a cubic with noise; the claim is a factor times the slope."""
    chance, lines = Random(said), list[Line]()
    for _ in range(count):
        slope = chance.randint(-64, 64) / 8 or 0.5
        bend, third = (curve * chance.randint(-8, 8) for _ in range(2))

        def f(t: float, slope: float = slope, bend: float = bend, third: float = third) -> float:
            off = noise * chance.uniform(-1, 1) if noise else 0.0
            return scale * (3 + slope * t + bend * t * t + third * t**3 + off)

        h, k = steps
        lines.append((factor * scale * slope, (f(-h), f(h), f(-k), f(k))))
    return Row(said, steps, lines, flags)


def _rows() -> Iterator[Row]:
    for factor, name in ((1.0, "right"), (2.0, "doubled"), (-1.0, "minus"), (1.0625, "1/16 off")):
        yield straight_or_cubic(f"a straight f, {name}", factor, 8)
        yield straight_or_cubic(f"a cubic f, {name}", factor, 8, ("Truncation",), curve=0.125)
        yield straight_or_cubic(f"noise of 1/8, {name}", factor, 20, ("Noise",), noise=0.125)
        yield straight_or_cubic(f"two lines, {name}", factor, 2, ("FewLines",), curve=0.25)
        yield straight_or_cubic(f"three lines, {name}", factor, 3, ("FewLines",), noise=0.5)
        yield straight_or_cubic(
            f"values about 1e-30, {name}", factor, 6, ("OtherUnits",), curve=0.125, scale=1e-30
        )
        yield straight_or_cubic(
            f"values about 1e30, {name}", factor, 6, ("OtherUnits",), curve=0.125, scale=1e30
        )
        yield straight_or_cubic(
            f"values about 8e9, {name}", factor, 6, ("WholeNumbers",), curve=0.125, scale=8e9
        )
        said, steps = f"the short step first, {name}", (1e-3, 1e-2)
        yield straight_or_cubic(said, factor, 8, ("Truncation",), curve=0.5, steps=steps)
    for count in (130, 300):
        said = f"{count} lines, noise of 1/8, doubled"
        yield straight_or_cubic(said, 2.0, count, ("ManyLines",), noise=0.125)
    for factor, name in ((1.0, "right"), (2.0, "doubled")):
        row = straight_or_cubic("", factor, 8, curve=0.125)
        for at, place in ((0, "first"), (2, "third"), (7, "last")):
            said = f"the {place} claim is 0, the others are {name}"
            yield one_claim_is_zero(said, row, at)
        for scale in FAR:
            said = f"values about {text(scale)}, {name}"
            yield straight_or_cubic(said, factor, 6, ("ExtremeScale",), curve=0.125, scale=scale)
    yield straight_or_cubic("all zero", 0.0, 8, ("BadArgument",))
    yield straight_or_cubic("one line", 2.0, 1, ("BadArgument",))
    yield Row("no line", (0.25, 0.0625), [], ("BadArgument",))
    for h, k in ((0.25, 0.25), (0.0, 0.25), (0.25, -0.5), (math.nan, 0.25), (0.25, math.inf)):
        lines = straight_or_cubic("", 1.0, 4).lines
        yield Row(f"steps {h:g} and {k:g}", (h, k), lines, ("BadArgument",))
    for said, change in (("behind", 0), ("ahead", 3)):
        for odd in (math.nan, math.inf):
            lines = list(straight_or_cubic("", 1.0, 4).lines)
            claim, values = lines[2]
            lines[2] = claim, _with(values, change, odd)
            yield Row(f"{text(odd)} {said}", (0.25, 0.0625), lines, ("NonfiniteSample",))
    for sign, name in ((1, "the other way"), (-1, "and back")):
        lines = [
            (s, (-0.25 * s, 0.25 * s + sign * d, -0.0625 * s, 0.0625 * s - sign * d / 4))
            for s, d in ((4.0, 1.0), (-2.0, 0.5), (8.0, -2.0))
        ]
        yield Row(
            f"errors that turn at the second step, {name}", (0.25, 0.0625), lines, ("BelowZero",)
        )


def one_claim_is_zero(said: str, row: Row, at: int) -> Row:
    """Claim 0 for one line, along which f rises."""
    lines = [(0.0 if k == at else claim, values) for k, (claim, values) in enumerate(row.lines)]
    return replace(row, said=said, lines=lines, flags=("ZeroClaim",))


def _with(values: tuple[float, ...], at: int, value: float) -> tuple[float, float, float, float]:
    a, b, c, d = (value if k == at else v for k, v in enumerate(values))
    return a, b, c, d


def whole_vectors() -> Vector:
    """Compute the file of this kind."""
    group = {
        "group": "whole/products",
        "says": "the error is the root of the mean product of the residuals at both steps, beside "
        "the root of the mean square of the claims",
        "source": "exact rational; roots with 60 digits",
        "tests": [vector_for(row) for row in _rows()],
    }
    return file_of("whole", HEADER, [group])


def vector_for(row: Row) -> Vector:
    """Compute the vector of a row."""
    asked = {
        "description": row.said,
        "flags": set(row.flags),
        "steps": [text(h) for h in row.steps],
        "lines": [[text(c), *map(text, values)] for c, values in row.lines],
    }
    if "BadArgument" in row.flags:
        return {**asked, "refused": True, "result": "invalid"}
    if not all(map(finite, (v for _, values in row.lines for v in values))):
        told = {
            "error": "nonfinite",
            "spread": "nonfinite",
            "within": {"error": "0", "spread": "0"},
        }
        return {**asked, **told, "result": "valid"}
    return {**asked, **_answer(row), "result": "valid"}


def _answer(row: Row) -> Vector:
    h, k = map(Fraction, row.steps)
    count = len(row.lines)
    products, bounds = list[Fraction](), list[Fraction]()
    for claim, values in row.lines:
        c, (b1, a1, b2, a2) = Fraction(claim), map(Fraction, values)
        r1, r2 = c - (a1 - b1) / (2 * h), c - (a2 - b2) / (2 * k)
        # Each residual rounds a few times, at the size of its parts, and so does their product.
        d1 = 4 * EPS * (abs(c) + (abs(a1) + abs(b1)) / (2 * h))
        d2 = 4 * EPS * (abs(c) + (abs(a2) + abs(b2)) / (2 * k))
        products.append(r1 * r2)
        bounds.append(abs(r1) * d2 + abs(r2) * d1 + d1 * d2 + EPS * abs(r1 * r2))
    size = sum((Fraction(c) ** 2 for c, _ in row.lines), Fraction(0)) / count
    mean = sum(products, Fraction(0)) / count
    off = sum(bounds, Fraction(0)) / count + EPS * sum(map(abs, products), Fraction(0))
    error, within = _root_of(max(mean, Fraction(0)) / size, off / size)
    squares, moved = Fraction(0), Fraction(0)
    for p, d in zip(products, bounds, strict=True):
        squares += (p - mean) ** 2
        moved += 2 * abs(p - mean) * (d + off) + (d + off) ** 2
    times = size**2 * count * (count - 1)
    spread, around = _root_of(squares / times, (moved + count * EPS * squares) / times)
    return {
        "error": text(error),
        "spread": text(spread),
        "within": {"error": text(within), "spread": text(around)},
    }


def _root_of(value: Fraction, off: Fraction) -> tuple[Any, float]:
    """Return a root, and how far it moves if the value does; near 0 a root moves more."""
    found = root(value)
    moves = 2 * off / Fraction(found) if value > 4 * off else 2 * Fraction(root(value + off))
    return found, math.nextafter(rounded(moves + 8 * EPS * Fraction(found)), math.inf)
