"""Exercise 4: absolute plus relative.  Read README.md first."""

import numpy as np


def allclose(analytic, numeric, rtol, atol):
    """Whether two gradients are close in every entry.

    Parameters
    ----------
    analytic, numeric : array of float, equal shapes
        The claimed gradient, and the measured one: the reference.
    rtol, atol : float
        Allowed error as a fraction of ``|numeric|``, and allowed error in addition.

    Returns
    -------
    bool
        True if entries were compared and all of them are close.
    """
    # --- your code ---
    raise NotImplementedError("exercise 4, task 1: allclose")
    # --- end ---
