"""Doubles as exact numbers, and exact numbers as text.

An input is a double, written as the shortest text that reads as that double. Computed numbers are
exact: fractions, or 60 digits if a root or an exponential is needed. They are written in full if
they are doubles, and otherwise with 30 digits, beside the distance (``within``) that an answer may
have.
"""

import math
import re
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import wraps
from typing import Any

DIGITS = 60
SHOWN = Context(prec=30)

# A decision is definite if double arithmetic, in any order of evaluation, cannot change it.
CLEAR = Fraction(1, 2**40)

Exact = Fraction | float  # a float only where it is not finite


class UndecidedError(Exception):
    """Rounding could change the answer: do not ask this question."""


def with_all_digits(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function compute with decimals of 60 digits, without changing its caller's."""

    @wraps(compute)
    def computed(*arguments: Any) -> Any:
        with localcontext() as context:
            context.prec = DIGITS
            return compute(*arguments)

    return computed


def exact(value: float) -> Exact:
    """Return the exact value of a double."""
    return Fraction(value) if math.isfinite(value) else value


def finite(value: Any) -> bool:
    """Whether a number is finite."""
    return not isinstance(value, float) or math.isfinite(value)


def rounded(value: Fraction | Decimal) -> float:
    """Round to the nearest double; beyond the largest, to infinity."""
    try:
        return float(value) if isinstance(value, Decimal) else value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_double(value: Exact) -> bool:
    """Whether an exact number is a double, so that no arithmetic need round it."""
    if not finite(value):
        return True
    nearest = rounded(Fraction(value))
    return math.isfinite(nearest) and Fraction(nearest) == value


def text(value: Any) -> str:
    """Write a real number: a double as its shortest text, anything else with 30 digits."""
    if isinstance(value, float):
        return re.sub(r"e\+?(-?)0*", r"e\1", repr(value).removesuffix(".0"))
    if isinstance(value, Decimal):
        value = Fraction(value)
    if is_double(value):
        return text(rounded(value))
    shown = SHOWN.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(shown).lower().replace("e+", "e")


def texts(values: Any) -> Any:
    """Write the reals of a nested list."""
    if isinstance(values, list | tuple):
        return [texts(value) for value in values]
    return text(values)


def ulps(count: int, size: Any) -> float:
    """Return this many units in the last place of a double of this size; 0 for 0."""
    size = abs(rounded(Fraction(size))) if finite(size) else 0.0
    return 0.0 if size in (0.0, math.inf) else count * math.ulp(size)


def root(value: Exact) -> Exact:
    """Return a square root: exact if possible, otherwise with 60 digits."""
    if isinstance(value, float):
        return math.sqrt(value)
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above**2 == value.numerator and below**2 == value.denominator:
        return Fraction(above, below)
    return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def divide(above: Any, below: Any) -> Any:
    """Divide as IEEE 754 does, where Python would raise."""
    if below != 0:
        return above / below
    return math.nan if above == 0 or above != above else math.inf


def sine(x: Decimal) -> Decimal:
    """Sum the series of the sine."""
    return _series(x, x, 1)


def cosine(x: Decimal) -> Decimal:
    """Sum the series of the cosine."""
    return _series(x, Decimal(1), 0)


def _series(x: Decimal, term: Decimal, k: int) -> Decimal:
    """Sum a series from its term of x^k on, each a product of the one before."""
    total = Decimal(0)
    with localcontext() as context:
        context.prec += int(abs(x))  # the largest term has half as many digits more than the sum
        while abs(term) > Decimal(10) ** (-DIGITS - 5):
            total += term
            term = -term * x * x / ((k + 1) * (k + 2))
            k += 2
    return +total


def sampled(f: Callable[[Any], Any], place: float) -> float:
    """Sample a function of exact numbers at a double: the nearest double to the true value."""
    value = f(Fraction(place))
    return rounded(value) if finite(value) else float(value)


def values_at(
    f: Callable[[Any], Any], x: float, h: float, offsets: Iterable[float]
) -> dict[float, float]:
    """Sample a function some steps away from a point; NaN beyond all doubles."""
    places = {k: x + k * h for k in offsets}
    return {k: sampled(f, at) if math.isfinite(at) else math.nan for k, at in places.items()}


def sampled_at(samples: Iterable[tuple[str, str]]) -> Callable[[Fraction], Any]:
    """Turn written samples, at places that are finite, into a function of these places."""
    read = ((float(place), exact(float(value))) for place, value in samples)
    return {Fraction(place): value for place, value in read if math.isfinite(place)}.__getitem__


def samples_of(
    f: Callable[[Any], Any], x: float, h: float, offsets: Iterable[float]
) -> dict[str, Any]:
    """Write x, h and the samples of a function."""
    values = values_at(f, x, h, offsets)
    samples = [[text(x + k * h), text(value)] for k, value in values.items()]
    return {"x": text(x), "h": text(h), "samples": samples}
