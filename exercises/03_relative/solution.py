"""Exercise 3: the relative error."""

import numpy as np


def relative_error(analytic, numeric, floor=1e-8):
    """Compare two gradients entry by entry, each error relative to the larger of the two.

    ``analytic`` and ``numeric`` are arrays of float of the same shape. Returns an array of that
    shape: 0 where both are 0, NaN where one is NaN.
    """
    # --- your code ---
    difference = np.abs(analytic - numeric)
    size = np.maximum(np.maximum(np.abs(analytic), np.abs(numeric)), floor)
    # Where the size is 0 the difference is 0 too, and 0/1 says what 0/0 cannot.
    return difference / np.where(size == 0, 1.0, size)
    # --- end ---


def band(errors, kinks=False):
    """Grade relative errors by the largest of them.

    Returns ``"good"``, ``"fine with kinks"``, ``"suspicious"`` or ``"wrong"``, see task 2.
    """
    # --- your code ---
    worst = np.max(errors)  # NaN as soon as one of them is; max() would depend on the order
    # With NaN every comparison is false: asked in this order, it ends at "wrong".
    if worst <= 1e-7:
        return "good"
    if kinks and worst <= 1e-4:
        return "fine with kinks"
    return "suspicious" if worst <= 1e-2 else "wrong"
    # --- end ---
