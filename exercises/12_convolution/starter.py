"""Exercise 12: convolution and pooling."""

import numpy as np


def convolve(x, w, b):
    """Slide each filter over the image; shapes (channels, h, w), (filters, channels, k, l)."""
    # --- your code ---
    raise NotImplementedError("exercise 12, task 1: convolve")
    # --- end ---


def convolve_backward(upstream, x, w):
    """Gradients of ``sum(upstream * convolve(x, w, b))``: dx, dw, db."""
    # --- your code ---
    raise NotImplementedError("exercise 12, task 2: convolve_backward")
    # --- end ---


def max_pool(x):
    """Return the largest of each 2 x 2 window of ``x``, shape (channels, height, width)."""
    # --- your code ---
    raise NotImplementedError("exercise 12, task 3: max_pool")
    # --- end ---


def max_pool_backward(upstream, x):
    """Gradient of ``sum(upstream * max_pool(x))`` with respect to ``x``."""
    # --- your code ---
    raise NotImplementedError("exercise 12, task 4: max_pool_backward")
    # --- end ---


if __name__ == "__main__":
    from gradcheck_ref import check_vjp

    rng = np.random.default_rng(12)
    x, w, b = rng.normal(size=(2, 5, 5)), rng.normal(size=(3, 2, 2, 2)), rng.normal(size=3)
    print(check_vjp(convolve, (x, w, b), vjp=lambda u, x, w, b: convolve_backward(u, x, w)), "\n")

    after_relu = np.maximum(convolve(x, w, b) - 3, 0)
    print(check_vjp(max_pool, after_relu, vjp=max_pool_backward))
