"""Exercise 1: the forward difference."""

import numpy as np


def forward_difference(f, x, h):
    """Estimate the gradient of ``f`` at ``x`` from one step of ``h`` ahead on each axis.

    ``f(x)`` returns one number; ``x`` is an array of float of any shape. Do not change it.
    Returns an array of the shape of ``x``: the slope along each entry.
    """
    # --- your code ---
    slopes = np.zeros(x.shape)
    f_here = f(x)  # the same for every entry, so computed once
    for i in np.ndindex(x.shape):
        # A fresh copy for each entry: moving back by -h would leave rounding behind.
        moved = x.copy()
        moved[i] += h
        slopes[i] = (f(moved) - f_here) / h
    return slopes
    # --- end ---
