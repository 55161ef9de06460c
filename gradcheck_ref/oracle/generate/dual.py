"""Exact derivatives by forward mode: numbers together with their slopes.

They use fractions, and decimals of 60 digits for exponentials and roots. Each function of the zoo
is written once, and no derivative is derived by hand.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Union

from .numbers import cosine, sine

Plain = Fraction | Decimal
Number = Union["Dual", int, Plain]


class Dual:
    """A value, and its slope along each coordinate that it depends on."""

    def __init__(self, value: Any, slopes: dict[int, Any]) -> None:
        self.value = value
        self.slopes = slopes

    def along(self, slope: Any) -> dict[int, Any]:
        """Multiply all slopes."""
        return {k: slope * s for k, s in self.slopes.items()}

    def lift(self, other: Number) -> "Dual":
        """Make a plain number a dual without slopes."""
        return other if isinstance(other, Dual) else Dual(type(self.value)(other), {})

    def __add__(self, other: Number) -> "Dual":
        """Add."""
        b = self.lift(other)
        return Dual(self.value + b.value, _merged(self.slopes, b.slopes))

    def __mul__(self, other: Number) -> "Dual":
        """Multiply."""
        b = self.lift(other)
        slopes = _merged(self.along(b.value), b.along(self.value))
        return Dual(self.value * b.value, slopes)

    def __truediv__(self, other: Number) -> "Dual":
        """Divide."""
        b = self.lift(other)
        return self * Dual(1 / b.value, b.along(-1 / b.value**2))

    def __neg__(self) -> "Dual":
        """Negate."""
        return self * -1

    def __sub__(self, other: Number) -> "Dual":
        """Subtract."""
        return self + self.lift(other) * -1

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Number) -> "Dual":
        """Subtract."""
        return self.lift(other) - self

    def __rtruediv__(self, other: Number) -> "Dual":
        """Divide."""
        return self.lift(other) / self

    def __gt__(self, other: Any) -> bool:
        """Compare values."""
        return bool(self.value > self.lift(other).value)

    def __lt__(self, other: Any) -> bool:
        """Compare values."""
        return bool(self.value < self.lift(other).value)


def _merged(a: dict[int, Any], b: dict[int, Any]) -> dict[int, Any]:
    merged = dict(a)
    for k, slope in b.items():
        merged[k] = merged[k] + slope if k in merged else slope
    return merged


def lifted(f: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Callable[[Any], Dual]:
    """Extend a function of plain numbers to duals; the slope may use x and f(x)."""

    def on_duals(x: Dual) -> Dual:
        y = f(x.value)
        return Dual(y, x.along(slope(x.value, y)))

    return on_duals


exp = lifted(Decimal.exp, lambda x, y: y)
log = lifted(Decimal.ln, lambda x, y: 1 / x)
sqrt = lifted(Decimal.sqrt, lambda x, y: 1 / (2 * y))
sin = lifted(sine, lambda x, y: cosine(x))
