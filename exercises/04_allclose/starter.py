"""Exercise 4: absolute plus relative."""

import numpy as np


def allclose(analytic, numeric, rtol, atol):
    """Whether two gradients, arrays of float of equal shapes, are close in every entry.

    ``numeric`` is measured: the reference. ``rtol`` is the allowed error as a fraction of
    ``|numeric|``, ``atol`` the allowed error in addition. Returns True if entries were compared and
    all of them are close.
    """
    # --- your code ---
    raise NotImplementedError("exercise 4, task 1: allclose")
    # --- end ---
