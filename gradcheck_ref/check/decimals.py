"""How finely numbers are divided: their digits, and the step between them.

Numbers that were written as text and read again have few digits. Of numbers computed in float64,
only one in a hundred million has nine digits or fewer.
"""

from itertools import takewhile

import numpy as np

from gradcheck_ref.arguments import Array

# More digits than this are as good for a check as all of them. C's %g and %f write 6 digits, and a
# table in a paper has fewer.
FEW_DIGITS = 9
# So many roundings of a number change nothing: a gradient may be symmetric, or zero, but for them.
ROUNDINGS = 8

# A million roundings: a step between values is longer than this part of f, and a change of a
# product that is larger than this, for numbers of size 1, is no rounding. Changes of up to MANY
# steps are multiples of it.
COARSE, MANY = 2.0**-32, 100.0

# The bits of the numbers that values of f may be rounded to: float32, float16, bfloat16.
BITS = 24, 11, 8
# The smallest of these numbers that is not 0.
SMALLEST = 2.0**-149, 2.0**-24, 2.0**-133


def digits_of(values: Array) -> int:
    """Count the decimal digits of the longest of some numbers, without zeros at the end.

    The result is 0 if a number has more than a few digits, or if all are zero or not finite.

    Examples
    --------
    >>> digits_of(np.array([0.25, 1200.0, 3.14159])), digits_of(np.array([0.25, 1 / 3]))
    (6, 0)
    """
    sizes = _there(values)
    with np.errstate(over="ignore", under="ignore"):
        first = np.floor(np.log10(sizes))
        counts = takewhile(
            lambda d: _whole(sizes / 10.0 ** (first - d + 1)), range(FEW_DIGITS, 0, -1)
        )
        return min(counts, default=0) if sizes.size else 0


def digits_shown(values: Array) -> int:
    """Count the digits of the values of a function, if enough of them differ; else 0.

    Whole numbers do not count: they may be exact.

    Examples
    --------
    >>> digits_shown(np.arange(6) + 0.125), digits_shown(np.arange(6.0))
    (4, 0)
    """
    # One value in ten has a digit less by chance, because it ends in a 0. For all of six the chance
    # is one in a million.
    different = np.unique(values[np.isfinite(values)])
    whole = (different == np.rint(different)).all()
    return 0 if whole or different.size < 6 else digits_of(different)


def places_of(values: Array) -> int | None:
    """Count the decimal places of the number with the most; None if they are many.

    Examples
    --------
    >>> places_of(np.array([0.25, 1200.0, 3.14159])), places_of(np.array([0.25, 1 / 3]))
    (5, None)
    """
    sizes = _there(values)
    return next((k for k in range(FEW_DIGITS + 1) if _whole(sizes * 10.0**k)), None)


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


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def step_between(values: Array) -> Array:
    """Find the step, if any, such that all values differ from the first by whole multiples of it.

    ``values`` has the shape (points, outputs), and the result (outputs,), with 0 for no step. This
    is Euclid's algorithm: the smallest remainder becomes the new step. If the values have changed
    by few different amounts and have few digits, the step is the smallest change; if they have
    never changed, it is the unit of the last digit.

    Examples
    --------
    >>> step_between(np.array([[0.3], [1.1], [1.5], [-0.1], [0.7]]))
    array([0.4])
    """
    here = values[0]
    values = np.where(np.isfinite(values), values, here)
    moves = np.abs(values - here)
    shortest = COARSE * np.fmax(np.abs(here), moves.max(axis=0))
    fine = ((moves > 0) & (moves <= shortest)).any(axis=0)  # they have all digits
    moves[moves <= shortest] = 0.0
    step = rest = np.where(moves > 0, moves, np.inf).min(axis=0)
    while (rest < np.inf).any():
        step = np.fmin(step, rest)
        step[step <= shortest] = np.inf
        rest = np.abs(moves - np.rint(moves / step) * step)
        rest[~((rest > step / 100) & (moves < MANY * step))] = np.inf
        rest = rest.min(axis=0)
    counts = np.sort(np.where(moves < MANY * step, np.rint(moves / step), 0.0), axis=0)
    several = np.count_nonzero(np.diff(counts, axis=0, prepend=0.0), axis=0) >= 4
    found = np.where(several & (step < np.inf), step, 0.0)
    if digit := last_digit(values):  # the values of all outputs have few digits
        few = ~several & ~fine
        found[few] = np.where(step < np.inf, step, digit)[few]
    return found


def _there(values: Array) -> Array:
    sizes = np.abs(values[np.isfinite(values)])
    return sizes[sizes > np.finfo(np.float64).tiny]


def _whole(numbers: Array) -> bool:
    """Tell whether these are integers, except for rounding."""
    return bool(
        (np.abs(numbers - np.rint(numbers)) <= ROUNDINGS * np.finfo(float).eps * numbers).all()
    )


@np.errstate(all="ignore")
def shortest_spacing(numbers: Array) -> float:
    """Return the relative spacing of the shortest format that some numbers fit; see `BITS`."""
    parts = np.frexp(numbers)[0]
    fits = [bits for bits in BITS if ((parts * 2.0**bits % 1 == 0) | np.isnan(parts)).all()]
    return 2.0 ** (1 - min(fits, default=53))
