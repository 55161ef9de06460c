"""Stage 2: the central difference, a step to both sides.

Idea
    Move one coordinate ahead and behind by ``h``. In the difference of the two Taylor series,
    ``f(x ± h) = f(x) ± h f'(x) + h^2/2 f''(x) ± h^3/6 f'''(x) + ...``, the even terms cancel, and
    the quotient is off by ``h^2/6 f'''(x)`` only.
Catches
    Right gradients of curved functions pass. Stage 1 refuses them by mistake.
Misses
    An absolute tolerance has no scale: bugs in small gradients pass (``square_of_small_x``), and
    right but large gradients fail (``huge_loss``, ``square_of_large_x``).
Next
    ``stage3_relative`` compares the error with the size of the gradient.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcheck_ref.arguments import Array
from gradcheck_ref.around import Around


def central_difference(
    f: Callable[[Array], Any], x: ArrayLike, *, h: float, upstream: ArrayLike | None = None
) -> Array:
    """Estimate the gradient of a function from one step to each side on each axis.

    Parameters
    ----------
    f : callable
        ``f(x)`` returns one real number, or with ``upstream`` an array. Each call gets a fresh
        copy of ``x``.
    x : array_like of float or complex, any shape
        The point. Never written.
    h : float
        The step, in the unit of ``x``. Rounding and truncation balance near
        ``eps^(1/3) * scale of x``, about 6e-6 in float64.
    upstream : array_like, shape of f(x), optional
        The gradient of the loss with respect to ``f(x)``. With it, the result is the gradient
        of ``sum(f(x) * upstream)``; for complex ``f``, of ``real(sum(f(x) * conj(upstream)))``.

    Returns
    -------
    ndarray, shape of x
        ``(f(x + h) - f(x - h)) / 2h`` for each entry; float64, or longdouble where ``x`` is. For
        complex ``x``: ``df/d(real) + i df/d(imag)``. NaN where a sample is not finite.

    Raises
    ------
    TypeError
        If ``x`` is not floating or complex, or ``f`` does not return numbers of the right kind.
    ValueError
        If ``h`` is not positive, or too small to change ``x``; if ``x`` is not finite; if ``f``
        returns several numbers without ``upstream``, or another shape than ``upstream`` has.

    Notes
    -----
    Cost: 2 evaluations of ``f`` per real coordinate.

    Error: ``h^2/6`` times the third derivative, plus about ``eps |f| / h`` of rounding. Source:
    Abramowitz and Stegun (1964), 25.3.4; CS231n's ``eval_numerical_gradient`` and
    ``eval_numerical_gradient_array``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> print(np.round(central_difference(lambda x: np.sum(x * x), x, h=1e-2), 6))
    [2. 4.]
    """
    # --8<-- [start:central_difference]
    around = Around(f, x, upstream)  # calls f on copies of x, one entry moved
    h = around.check_step(h)
    slopes = np.empty(around.size, around.dtype)

    for i in range(around.size):
        f_ahead, x_ahead = around.moved(i, +h)
        f_behind, x_behind = around.moved(i, -h)
        slopes[i] = around.rise(f_behind, f_ahead) / (x_ahead - x_behind)

    return around.gradient(slopes)
    # --8<-- [end:central_difference]
