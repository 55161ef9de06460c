"""Exercise 15: dropout and seeds."""

import numpy as np


def masks(seed, shape, p):
    """Draw masks: each entry is 0 with probability ``p``, otherwise ``1 / (1 - p)``."""
    # --- your code ---
    return (np.random.default_rng(seed).random(shape) >= p) / (1 - p)
    # --- end ---


def forward(x, W, p, seed):
    """Two layers, with dropout after each; ``seed`` decides what is dropped."""
    # --- your code ---
    first, second = masks(seed, (2, *x.shape), p)
    return np.tanh((np.tanh(x) * first) @ W) * second
    # --- end ---


def backward(upstream, x, W, p, seed):
    """Gradient of ``sum(forward(x, W, p, seed) * upstream)`` with respect to ``x``."""
    # --- your code ---
    # Both masks are drawn before the way back begins, in the order of the way there.
    first, second = masks(seed, (2, *x.shape), p)
    t = np.tanh(x)
    s = np.tanh((t * first) @ W)
    return (upstream * second * (1 - s * s)) @ W.T * first * (1 - t * t)
    # --- end ---


def repeatable(f, x):
    """Whether ``f(x)``, a number or an array, is exactly the same the second time."""
    # --- your code ---
    return np.array_equal(f(x), f(x))
    # --- end ---


def unseen(p, n, k):
    """Return how many of ``n`` entries all of ``k`` masks drop, on average."""
    # --- your code ---
    return n * p**k
    # --- end ---
