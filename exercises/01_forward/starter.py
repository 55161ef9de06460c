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
    raise NotImplementedError("exercise 1, task 1: forward_difference")
    # --- end ---
