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
    return (4 * central(f, x, h) - central(f, x, 2 * h)) / 3
    # --- end ---


def adaptive(f, x):
    """Estimate the slope of ``f`` at the float ``x`` with the step that suits it best.

    Returns ``(value, error)``: of all ``STEPS``, the estimate with the smallest error bar, and that
    error bar.
    """
    # --- your code ---
    best_value, best_error = np.nan, np.inf
    for h in STEPS:
        coarse, fine = five_point(f, x, h), five_point(f, x, h / 2)
        truncation = abs(coarse - fine)
        # Alone, truncation would choose steps at which the two agree by luck.
        rounding = 4 * EPS * (abs(f(x)) + abs(x * fine)) / h
        if truncation + rounding < best_error:
            best_value, best_error = fine, truncation + rounding
    return best_value, best_error
    # --- end ---
