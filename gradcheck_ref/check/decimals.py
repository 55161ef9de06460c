"""Count the digits of numbers that were written as text with few digits and read again.

Of numbers computed in float64, only one in a hundred million has nine digits or fewer.
"""

import numpy as np

from gradcheck_ref.arguments import Array

# More digits than this are as good for a check as all of them. C's %g and %f write 6 digits, and a
# table in a paper has fewer.
FEW = 9
# Rounding to float64 may change a number by this much of itself.
A_TRACE = 8 * float(np.finfo(np.float64).eps)


def has_many_digits(value: float) -> bool:
    """Tell whether a number is finite and has more than a few digits.

    Examples
    --------
    >>> [has_many_digits(value) for value in (0.25, 0.1 + 0.2, 1 / 3, float("inf"))]
    [False, False, True, False]
    """
    few = float(f"{value:.{FEW - 1}e}")
    return abs(few - value) > A_TRACE * abs(value)


def digits_of(values: Array) -> int:
    """Count the decimal digits of the longest of some numbers, without zeros at the end.

    The result is 0 if a number has more than a few digits, or if all are zero or not finite.

    Examples
    --------
    >>> digits_of(np.array([0.25, 1200.0, 3.14159])), digits_of(np.array([0.25, 1 / 3]))
    (6, 0)
    """
    sizes = _there(values)
    if not sizes.size:
        return 0
    with np.errstate(over="ignore", under="ignore"):
        first = np.floor(np.log10(sizes))
        fits = (d for d in range(1, FEW + 1) if _whole(sizes / 10.0 ** (first - d + 1)))
        return next(fits, 0)


def places_of(values: Array) -> int | None:
    """Count the decimal places of the number with the most; None if they are many.

    Examples
    --------
    >>> places_of(np.array([0.25, 1200.0, 3.14159])), places_of(np.array([0.25, 1 / 3]))
    (5, None)
    """
    sizes = _there(values)
    return next((k for k in range(FEW + 1) if _whole(sizes * 10.0**k)), None)


def last_digit(values: Array) -> float:
    """Return the unit of the last digit of some numbers, or 0 if they have more than nine.

    Numbers with fewer than six digits count as six, because C's %g and %f round to six.

    Examples
    --------
    >>> last_digit(np.array([100003.0, 100002.0])), last_digit(np.array([3.0]))
    (1.0, 1e-05)
    """
    digits = digits_of(values)
    if not digits:
        return 0.0
    return float(10.0 ** (np.floor(np.log10(_there(values).max())) - max(digits, 6) + 1))


def _there(values: Array) -> Array:
    sizes = np.abs(values[np.isfinite(values)])
    return sizes[sizes > np.finfo(np.float64).tiny]


def _whole(numbers: Array) -> bool:
    """Tell whether these are integers, except for rounding."""
    return bool((np.abs(numbers - np.rint(numbers)) <= A_TRACE * numbers).all())
