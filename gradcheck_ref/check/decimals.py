"""Numbers that were written with few digits, and read again: how many that were shows in them.

Of the numbers that are worked out in float64 one in a hundred million has nine digits or fewer.
"""

import numpy as np

from gradcheck_ref.arguments import Array

# What is written with more digits than this serves a check as well as all of them would: C's %g and
# %f write 6, a table in a paper fewer.
FEW = 9
# So much of the last digit may be left by the rounding to float64.
A_TRACE = 8 * float(np.finfo(np.float64).eps)


def has_many_digits(value: float) -> bool:
    """Tell whether a number is finite, and takes more than a few digits.

    Examples
    --------
    >>> [has_many_digits(value) for value in (0.25, 0.1 + 0.2, 1 / 3, float("inf"))]
    [False, False, True, False]
    """
    few = float(f"{value:.{FEW - 1}e}")
    return abs(few - value) > A_TRACE * abs(value)


def digits_of(values: Array) -> int:
    """Count the decimal digits of the longest of some numbers; zeros at the end do not count.

    It is 0 if one has more than a few, or if none of them is finite and not zero.

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
    """Count the decimal places behind the point of the longest of some numbers; None if many.

    Examples
    --------
    >>> places_of(np.array([0.25, 1200.0, 3.14159])), places_of(np.array([0.25, 1 / 3]))
    (5, None)
    """
    sizes = _there(values)
    return next((k for k in range(FEW + 1) if _whole(sizes * 10.0**k)), None)


def last_digit(values: Array) -> float:
    """Return the unit of the last digit of some numbers, if that is the ninth or an earlier one.

    It is that of the sixth at least, to which C's %g and %f round; 0 for numbers with more digits.

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
    """Tell whether these are integers, but for rounding."""
    return bool((np.abs(numbers - np.rint(numbers)) <= A_TRACE * numbers).all())
