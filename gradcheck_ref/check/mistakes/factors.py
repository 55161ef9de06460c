"""Factors with a meaning, and numbers written with the digits that are certain."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

# An uncertain number is near one with a meaning by chance: no more often than this.
BY_CHANCE = 0.03

# A claim with two right digits has the right structure: a digit, a small term or noise is wrong.
NEARLY = 1e-2

# A number is surely off by less than so many of its likely errors: the bars of a refusal.
SURELY = 3.0

# A whole number up to this, or its reciprocal, may be a number of rows in data that f holds. Most
# batches are smaller, and among larger numbers powers of ten are units.
MOST_ROWS = 1000


def meaning(factor: Any, unsure: float, lengths: Mapping[int, str]) -> tuple[Any, str, str]:
    """Return the number with a meaning that a factor is, as a value and as text; and what to try.

    If it has no meaning, the text is empty.

    An uncertain factor may be near a number of the list by chance. The list has about forty, so a
    match needs more certainty than for 2 and 1/2, the two most common.
    """
    size = abs(factor)
    meant = [(1 if n < 2 else 40, one) for n, one in enumerate(_meanings(lengths))]
    whole = round(min(max(size, 1 / size), 2 * MOST_ROWS))
    if 1 < whole <= MOST_ROWS:  # a whole number may be near above or below, with either sign
        is_mean = f"is f a mean over {whole} rows, or divided by {whole}?"
        is_divided = f"is it divided by {whole} once too often?"
        several = (whole, f"{whole}", is_mean), (1 / whole, f"1/{whole}", is_divided)
        meant += [(4 * whole, one) for one in several]
    for by_chance, (value, text, advice) in meant:
        if by_chance * unsure <= BY_CHANCE * size:
            for sign, minus in ((1, ""), (-1, "-")):
                if abs(factor - sign * value) <= unsure:
                    advice += " And is the sign right?" if minus else ""
                    return sign * value, minus + text, advice
    if abs(factor - 1) < NEARLY:
        advice = "does a constant have too few digits, or is a small one such as an eps missing?"
        return factor, "", advice
    return factor, "", "which constant is left out, or applied twice?"


def _meanings(lengths: Mapping[int, str]) -> Iterator[tuple[complex, str, str]]:
    """Yield factors with a meaning: value, text, advice; the most common first."""
    yield 2, "2", "is something counted twice, a 1/2 in f forgotten, or f a mean over 2?"
    yield 1 / 2, "1/2", "is the 2 of a square forgotten, or is it divided by 2 once too often?"
    yield 1j, "i", "is a factor i missing, one too many, or not conjugated?"
    for (m, is_m), (n, is_n) in permutations(lengths.items(), 2):
        if math.gcd(m, n) < min(m, n):
            yield m / n, f"{m}/{n}", f"is it divided by {n} ({is_n}) instead of {m} ({is_m})?"
    for n, where in lengths.items():
        rows = "rows" if where.startswith("length of axis 0 of") else "entries"
        for value, text, advice in (
            (n, f"{n}", f"is f a mean over {n} {rows}?"),
            (1 / n, f"1/{n}", f"is it divided by {n} once too often, or a mean instead of a sum?"),
            (n / (n - 1), f"{n}/{n - 1}", f"does f divide by {n}, and the gradient by {n - 1}?"),
            ((n - 1) / n, f"{n - 1}/{n}", f"does f divide by {n - 1}, and the gradient by {n}?"),
            (math.sqrt(n), f"sqrt({n})", f"is a division by sqrt({n}) forgotten?"),
            (1 / math.sqrt(n), f"1/sqrt({n})", f"is it divided by sqrt({n}) once too often?"),
        ):
            yield value, text, f"{advice} {n} is the {where}."
    yield from (
        (math.log(10), "ln(10)", "is the 1/ln(10) of a logarithm to base 10 missing?"),
        (1 / math.log(2), "1/ln(2)", "is the ln(2) of a power of 2 missing?"),
        (math.log(2), "ln(2)", "is the 1/ln(2) of a logarithm to base 2 missing?"),
        (1 / math.log(10), "1/ln(10)", "is the ln(10) of a power of 10 missing?"),
        (3 / 2, "3/2", "does the derivative bring down a 3 from an exponent 2?"),
        (2 / 3, "2/3", "does the derivative bring down a 2 from an exponent 3?"),
        (2 * math.pi, "2 pi", "is there a 2 pi too many, for an angle that is in radians already?"),
        (0.5 / math.pi, "1/(2 pi)", "is an inner derivative of 2 pi forgotten?"),
        (math.pi / 180, "pi/180", "are degrees and radians mixed?"),
        (180 / math.pi, "180/pi", "are degrees and radians mixed?"),
    )


def lengths_of(parts: Sequence[Any]) -> dict[int, str]:
    """Describe numbers greater than 1 that are a length of an axis (first axes first) or a size.

    ``parts`` are the inputs and outputs, each with a name and a shape.
    """
    found: dict[int, str] = {}
    for axis in range(max(len(part.shape) for part in parts)):
        for part in parts:
            if axis < len(part.shape):
                of = f"axis {axis} of " * (len(part.shape) > 1)
                found.setdefault(part.shape[axis], f"length of {of}{part.name}")
    for part in parts:
        found.setdefault(math.prod(part.shape), f"number of entries of {part.name}")
    return {n: where for n, where in found.items() if n > 1}


def plain(number: Any, unsure: float) -> str:
    """Write a number with 4 digits: more if it is near 1, but only as many as are known.

    It is surely off by less than ``unsure``, and likely by less than a third of that: the unit of
    the last digit is at least as long.
    """
    number = complex(number)
    if abs(number.imag) > max(unsure, 1e-12 * abs(number)):  # more than the rounding of a product
        imaginary = plain(abs(number.imag), unsure)
        return f"({plain(number.real, unsure)} {'+' if number.imag > 0 else '-'} {imaginary}i)"
    size = abs(number.real)
    if size <= unsure:
        return "0"
    last = math.ceil(math.log10(max(unsure / SURELY, 1e-12 * size)))
    known = math.floor(math.log10(size)) - last + 1
    wanted = 4  # enough to recognize pi, or the square root of 3
    if 0 < abs(size - 1) < 0.1:
        wanted = max(wanted, 2 - math.floor(math.log10(abs(size - 1))))
    return f"{number.real:.{max(1, min(known, wanted))}g}"


def rough(errors: Any, scale: float) -> str:
    """Write the largest error, relative to a scale, with one digit."""
    return f"{float(np.abs(errors).max(initial=0.0)) / scale:.0e}".replace("e-0", "e-")
