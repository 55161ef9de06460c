"""Stage 1: the forward difference, the definition of a derivative without the limit.

Idea
    Move one coordinate ahead by a small ``h``, see how much ``f`` rises, and divide.
    ``f(x + h) = f(x) + h f'(x) + h^2/2 f''(x) + ...``, so the quotient is off by ``h/2 f''(x)``.
Catches
    Coarse mistakes in a well-scaled function: a sign, a factor, a forgotten term.
Misses
    All mistakes smaller than ``h/2 f''``. And the right gradient of a curved function fails, such
    as ``cube_at_tens`` in the zoo.
Next
    ``stage2_central`` spends one more evaluation and gains an order of ``h``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcheck_ref.arguments import Array
from gradcheck_ref.around import Around


def forward_difference(f: Callable[[Array], Any], x: ArrayLike, *, h: float) -> Array:
    """Estimate the gradient of a scalar function from one step ahead on each axis.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number. Each call gets a fresh copy of ``x``.
    x : array_like of float or complex, any shape
        The point. Never written.
    h : float
        The step, in the unit of ``x``. Rounding and truncation balance near
        ``sqrt(eps) * scale of x``, about 1e-8 in float64.

    Returns
    -------
    ndarray, shape of x
        ``(f(x + h) - f(x)) / h`` for each entry; float64, or longdouble where ``x`` is. For
        complex ``x``: ``df/d(real) + i df/d(imag)``. NaN where a sample is not finite.

    Raises
    ------
    TypeError
        If ``x`` is not floating or complex, or ``f`` does not return a real number.
    ValueError
        If ``h`` is not positive, or too small to change ``x``; if ``x`` is not finite; if ``f``
        returns several numbers.

    Notes
    -----
    Cost: 1 evaluation of ``f``, plus 1 per real coordinate.

    Error: ``h/2`` times the second derivative, plus about ``2 eps |f| / h`` of rounding. Source:
    the definition of the derivative, which CS231n's notes on optimization teach first, too.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> print(np.round(forward_difference(lambda x: np.sum(x * x), x, h=1e-2), 6))
    [2.01 4.01]
    """
    # --8<-- [start:forward_difference]
    around = Around(f, x)  # calls f on copies of x, one entry moved
    h = around.check_step(h)
    slopes = np.empty(around.size, around.dtype)

    f_here = around.value()
    for i, x_here in enumerate(around.places):
        f_ahead, x_ahead = around.moved(i, +h)
        slopes[i] = around.rise(f_here, f_ahead) / (x_ahead - x_here)

    return around.gradient(slopes)
    # --8<-- [end:forward_difference]
