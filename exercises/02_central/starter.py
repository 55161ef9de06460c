"""Exercise 2: the central difference."""

import numpy as np


def central_difference(f, x, h):
    """Estimate the gradient of ``f`` at ``x`` from one step to each side on each axis.

    ``f(x)`` returns one number; ``x`` is an array of float of any shape. Do not change it.
    Returns an array of the shape of ``x``.
    """
    # --- your code ---
    raise NotImplementedError("exercise 2, task 1: central_difference")
    # --- end ---


def array_difference(f, x, upstream, h):
    """Estimate the gradient of ``sum(f(x) * upstream)`` at ``x``.

    ``f(x)`` returns an array, and ``upstream`` has its shape. Returns an array of the shape of
    ``x``.
    """
    # --- your code ---
    raise NotImplementedError("exercise 2, task 2: array_difference")
    # --- end ---
