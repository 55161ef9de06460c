"""Exercise 2: the central difference."""

import numpy as np


def central_difference(f, x, h):
    """Estimate the gradient of ``f`` at ``x`` from one step to each side on each axis.

    ``f(x)`` returns one number; ``x`` is an array of float of any shape. Do not change it.
    Returns an array of the shape of ``x``.
    """
    # --- your code ---
    slopes = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        ahead, behind = x.copy(), x.copy()
        ahead[i] += h
        behind[i] -= h
        # Where x is large the two places are not 2*h apart: adding h was rounded.
        slopes[i] = (f(ahead) - f(behind)) / (ahead[i] - behind[i])
    return slopes
    # --- end ---


def array_difference(f, x, upstream, h):
    """Estimate the gradient of ``sum(f(x) * upstream)`` at ``x``.

    ``f(x)`` returns an array, and ``upstream`` has its shape. Returns an array of the shape of
    ``x``.
    """
    # --- your code ---
    # The weights make one number of the outputs, and for that the work is done.
    return central_difference(lambda x: np.sum(f(x) * upstream), x, h)
    # --- end ---
