"""Exercise 1: the forward difference."""

import numpy as np


def forward_difference(f, x, h):
    """Estimate the gradient of ``f`` at ``x`` from one step of ``h`` ahead on each axis.

    ``f(x)`` returns one number; ``x`` is an array of float of any shape. Do not change it.
    Returns an array of the shape of ``x``: the slope along each entry.
    """
    # --- your code ---
    raise NotImplementedError("exercise 1, task 1: forward_difference")
    # --- end ---
