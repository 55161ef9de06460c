"""Whole vectors: slopes along lines at two steps in, the error of the whole gradient out."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import Any

from .layout import Vector
from .numbers import finite, root, rounded, text
from .stencil import EPS

FAR = (1e-200, 1e200)  # of claims: their squares leave the range of doubles
Line = tuple[float, tuple[float, float, float, float]]  # claim; behind and ahead at both steps


@dataclass(frozen=True)
class Row:
    """Lines, each with a claim and four samples, and the two steps."""

    said: str
    steps: tuple[float, float]
    lines: list[Line]
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


def one_claim_is_zero(said: str, row: Row, at: int) -> Row:
    """Claim 0 for one line, along which f rises."""
    lines = [(0.0 if k == at else claim, values) for k, (claim, values) in enumerate(row.lines)]
    return replace(row, said=said, lines=lines, flags=("ZeroClaim",))


def answered(test: Vector) -> Vector:
    """Answer a question of a file again."""
    h, k = map(float, test["steps"])
    numbers = [tuple(map(float, line)) for line in test["lines"]]
    lines = [(claim, (b1, a1, b2, a2)) for claim, b1, a1, b2, a2 in numbers]
    return vector_for(Row(test["description"], (h, k), lines, tuple(test["flags"])))


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
