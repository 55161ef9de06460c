"""Exercise 3: the relative error."""

import numpy as np


def relative_error(analytic, numeric, floor=1e-8):
    """Compare two gradients entry by entry, each error relative to the larger of the two.

    ``analytic`` and ``numeric`` are arrays of float of the same shape. Returns an array of that
    shape: 0 where both are 0, NaN where one is NaN.
    """
    # --- your code ---
    raise NotImplementedError("exercise 3, task 1: relative_error")
    # --- end ---


def band(errors, kinks=False):
    """Grade relative errors by the largest of them.

    Returns ``"good"``, ``"fine with kinks"``, ``"suspicious"`` or ``"wrong"``, see task 2.
    """
    # --- your code ---
    raise NotImplementedError("exercise 3, task 2: band")
    # --- end ---
