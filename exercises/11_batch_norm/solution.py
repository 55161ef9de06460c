"""Exercise 11: batch norm."""

import numpy as np


def batch_norm(x, gamma, beta, eps):
    """Normalize each column of ``x``, shape (n, features), then scale by gamma, shift by beta."""
    # --- your code ---
    centred = x - x.mean(axis=0)
    return gamma * centred / np.sqrt((centred * centred).mean(axis=0) + eps) + beta
    # --- end ---


def batch_norm_backward(upstream, x, gamma, eps):
    """Gradients of ``sum(upstream * batch_norm(x, gamma, beta, eps))``: dx, dgamma, dbeta."""
    # --- your code ---
    centred = x - x.mean(axis=0)
    std = np.sqrt((centred * centred).mean(axis=0) + eps)
    x_hat = centred / std
    # gamma and beta are broadcast over the rows, so what comes back to them is a sum over the rows.
    dgamma, dbeta = (upstream * x_hat).sum(axis=0), upstream.sum(axis=0)

    # The entry itself, less what it does through the mean, less what it does through the variance.
    g = upstream * gamma
    dx = (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) / std
    return dx, dgamma, dbeta
    # --- end ---


def blind_upstream(x):
    """Return an upstream, not constant in any column, for which dx almost vanishes."""
    # --- your code ---
    # It weighs a column by itself: half the sum of its squares, which is always about n / 2.
    return x - x.mean(axis=0)
    # --- end ---
