"""Exercise 5: a step with an error bar."""

import numpy as np

EPS = 2.0**-52  # numbers near 1 are this far apart
STEPS = [0.1 / 4**k for k in range(14)]  # from 0.1 down to 1.5e-9


def central(f, x, h):
    """Central difference of ``f`` at the float ``x``: given."""
    ahead, behind = x + h, x - h
    return (f(ahead) - f(behind)) / (ahead - behind)


def five_point(f, x, h):
    """Estimate the slope of ``f`` at the float ``x`` from steps of ``h`` and ``2 h``."""
    # --- your code ---
    raise NotImplementedError("exercise 5, task 1: five_point")
    # --- end ---


def adaptive(f, x):
    """Estimate the slope of ``f`` at the float ``x`` with the step that suits it best.

    Returns ``(value, error)``: of all ``STEPS``, the estimate with the smallest error bar, and that
    error bar.
    """
    # --- your code ---
    raise NotImplementedError("exercise 5, task 2: adaptive")
    # --- end ---
