"""Exercise 15: dropout and seeds."""

import numpy as np


def masks(seed, shape, p):
    """Draw masks: each entry is 0 with probability ``p``, otherwise ``1 / (1 - p)``."""
    # --- your code ---
    raise NotImplementedError("exercise 15, task 1: masks")
    # --- end ---


def forward(x, W, p, seed):
    """Two layers, with dropout after each; ``seed`` decides what is dropped."""
    # --- your code ---
    raise NotImplementedError("exercise 15, task 2: forward")
    # --- end ---


def backward(upstream, x, W, p, seed):
    """Gradient of ``sum(forward(x, W, p, seed) * upstream)`` with respect to ``x``."""
    # --- your code ---
    raise NotImplementedError("exercise 15, task 3: backward")
    # --- end ---


def repeatable(f, x):
    """Whether ``f(x)``, a number or an array, is exactly the same the second time."""
    # --- your code ---
    raise NotImplementedError("exercise 15, task 4: repeatable")
    # --- end ---


def unseen(p, n, k):
    """Return how many of ``n`` entries all of ``k`` masks drop, on average."""
    # --- your code ---
    raise NotImplementedError("exercise 15, task 5: unseen")
    # --- end ---


if __name__ == "__main__":
    import itertools

    from gradcheck_ref import check_gradient

    rng = np.random.default_rng(15)
    x, W = rng.normal(size=(2, 3)), rng.normal(size=(3, 3))

    gradient = backward(np.ones_like(x), x, W, 0.4, 7)
    for what, seeds in {"one seed": itertools.repeat(7), "a new one": itertools.count()}.items():
        print(f"--- {what}")
        report = check_gradient(
            lambda x, seeds=seeds: np.sum(forward(x, W, 0.4, next(seeds))), x, gradient
        )
        print(report, "\n")
