"""Exercise 1: the forward difference.  Read README.md first."""

import numpy as np


def forward_difference(f, x, h):
    """Estimate the gradient of ``f`` at ``x`` from one step ahead on each axis.

    Parameters
    ----------
    f : function
        ``f(x)`` returns one number.
    x : array of float, any shape
        The point. Do not change it.
    h : float
        The step.

    Returns
    -------
    array of float, shape of x
        The slope along each entry of ``x``.
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
