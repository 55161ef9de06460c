"""Exercise 6: ReLU."""

import numpy as np


def relu(x):
    """Set every entry of ``x`` that is not positive to 0. Returns a new array."""
    # --- your code ---
    return np.maximum(x, 0)
    # --- end ---


def relu_backward(x, upstream):
    """Gradient of ``sum(relu(x) * upstream)`` with respect to ``x``.

    Both are arrays of float of the same shape, and neither is changed.
    """
    # --- your code ---
    # Open gates pass the upstream gradient on, shut gates block it.
    # At exactly 0 every slope in [0, 1] is defensible; 0 is the convention.
    return np.where(x > 0, upstream, 0.0)
    # --- end ---
