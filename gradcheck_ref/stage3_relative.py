"""Stage 3: the relative error, a difference divided by the size of the two values.

Idea
    ``|analytic - numeric| / max(|analytic|, |numeric|)`` has no unit: it is 1e-7 for a gradient
    that agrees in seven digits, for a loss in cents and for a loss in billions.
Catches
    Bugs that stage 2 accepts by mistake: a factor of two in a gradient of 1e-7. And right
    gradients pass that stage 2 refuses: large ones whose last digits differ.
Misses
    Entries that drown in rounding: the right gradients of ``mixed_magnitudes`` and
    ``sigmoid_in_its_tail`` fail.
Next
    ``stage4_allclose`` allows every entry an absolute error as well as a relative one.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcheck_ref.arguments import as_numbers, as_tolerance, same_shape

# CS231n's floor: if both gradients are smaller, their difference is divided by the floor instead.
FLOOR = 1e-8

# CS231n's thresholds for a relative error.
WRONG = 1e-2
FINE_WITH_KINKS = 1e-4
GOOD = 1e-7


def relative_error(analytic: ArrayLike, numeric: ArrayLike, *, floor: float = FLOOR) -> Any:
    """Compare two gradients entry by entry, each error relative to the larger of the two.

    Parameters
    ----------
    analytic, numeric : array_like of numbers, equal shapes
        The claimed gradient and its estimate; the order does not matter.
    floor : float
        The smallest size that an error is divided by, in the unit of the gradient; 0 for none.

    Returns
    -------
    float, or ndarray of float in the common shape
        ``|a - n| / max(|a|, |n|, floor)``, from 0 to 2. It is 0 if both are 0, even without a
        floor. It is NaN if either is NaN or infinite.

    Raises
    ------
    TypeError
        If either holds something other than numbers.
    ValueError
        If the shapes differ, or ``floor`` is negative or not finite.

    Notes
    -----
    Cost: no evaluation of ``f``.

    Source: CS231n's notes, *Gradient checks*. Its assignments, and its notes until October 2015,
    divide by ``|a| + |n|``. That can give half as much: a threshold needs its formula.

    Examples
    --------
    >>> print(relative_error([1.0, 0.0, 2e-9], [2.0, 0.0, 1e-9]))
    [0.5 0.  0.1]
    """
    a, n = as_numbers(analytic, "analytic"), as_numbers(numeric, "numeric")
    same_shape(a, "analytic", n, "numeric")
    floor = as_tolerance(floor, "floor")

    with np.errstate(over="ignore", invalid="ignore"):  # infinity becomes NaN without a warning
        # Dividing everything by 8 does not change the quotient, and keeps sums near the largest
        # float from overflowing.
        near_limit = np.maximum(np.abs(a), np.abs(n)) > np.finfo(np.float64).max / 4
        shrink = np.where(near_limit, 1 / 8, 1.0)
        a, n, floor_there = a * shrink, n * shrink, floor * shrink

        # --8<-- [start:relative_error]
        error = np.abs(a - n)
        size = np.maximum(np.maximum(np.abs(a), np.abs(n)), floor_there)
        relative = error / np.where(size == 0, 1.0, size)  # 0/0 is 0: both agree on zero
        # --8<-- [end:relative_error]
    return relative[()]


def band(error: ArrayLike, *, kinks: bool = False) -> str:
    """Rate a relative error as CS231n does.

    The bands are a rule of thumb for one layer or a shallow network. Errors grow with depth: at
    the input of a ten-layer network 1e-2 may be fine. For a single differentiable function 1e-2
    probably means a wrong gradient.

    Parameters
    ----------
    error : array_like of float
        Relative errors; the largest of them counts.
    kinks : bool
        Whether ``f`` has kinks near ``x`` (ReLU, hinge loss, max). Then 1e-4 is usually fine;
        for a smooth function (tanh, softmax) it is too much.

    Returns
    -------
    str
        ``"good"`` up to 1e-7, ``"fine with kinks"`` up to 1e-4 if ``kinks``, ``"suspicious"`` up
        to 1e-2, else ``"wrong"``; NaN is ``"wrong"``.

    Raises
    ------
    TypeError
        If ``error`` does not hold numbers.
    ValueError
        If ``error`` is empty (nothing was compared), or negative.

    Notes
    -----
    Cost: no evaluation of ``f``.

    Source: CS231n's notes, *Gradient checks*.

    Examples
    --------
    >>> band(3e-5), band(3e-5, kinks=True)
    ('suspicious', 'fine with kinks')
    """
    errors = as_numbers(error, "error")
    if errors.size == 0:
        raise ValueError("error is empty: nothing was compared")
    if errors.dtype.kind == "c" or (errors < 0).any():
        raise ValueError("error must hold relative errors, which are real and not negative")
    worst = errors.max()  # NaN if any is NaN, and then no comparison below holds
    if worst <= GOOD:
        return "good"
    if worst <= FINE_WITH_KINKS and kinks:
        return "fine with kinks"
    return "suspicious" if worst <= WRONG else "wrong"
