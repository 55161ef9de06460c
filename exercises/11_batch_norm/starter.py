"""Exercise 11: batch norm."""

import numpy as np


def batch_norm(x, gamma, beta, eps):
    """Normalize each column of ``x``, shape (n, features), then scale by gamma, shift by beta."""
    # --- your code ---
    raise NotImplementedError("exercise 11, task 1: batch_norm")
    # --- end ---


def batch_norm_backward(upstream, x, gamma, eps):
    """Gradients of ``sum(upstream * batch_norm(x, gamma, beta, eps))``: dx, dgamma, dbeta."""
    # --- your code ---
    raise NotImplementedError("exercise 11, task 3: batch_norm_backward")
    # --- end ---


def blind_upstream(x):
    """Return an upstream, not constant in any column, for which dx almost vanishes."""
    # --- your code ---
    raise NotImplementedError("exercise 11, task 4: blind_upstream")
    # --- end ---


if __name__ == "__main__":
    from functools import partial

    from gradcheck_ref import check_vjp

    rng = np.random.default_rng(11)
    gamma, beta, eps = np.array([2.0, -1.0]), np.array([0.5, 0.0]), 1e-5
    for n in (2, 3):
        x, upstream = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
        dx = batch_norm_backward(upstream, x, gamma, eps)[0]
        print(f"dx, {n} rows, random upstream:\n{dx.round(4) + 0.0}")
    print(f"an upstream that almost vanishes on the way back:\n{blind_upstream(x).round(4)}\n")

    f = partial(batch_norm, eps=eps)
    print(check_vjp(f, (x, gamma, beta), vjp=lambda u, x, g, b: batch_norm_backward(u, x, g, eps)))
