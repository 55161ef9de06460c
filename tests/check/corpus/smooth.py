"""Smooth functions in float64, of any shape, of one and of several inputs and outputs."""

import numpy as np

from gradcheck_ref import check_vjp

from .row import Row

A = np.random.default_rng(1).normal(size=(20, 20))
X = np.random.default_rng(2).normal(size=20)


def layer(x):
    return np.sum(np.tanh(A @ x) ** 2)


def of_layer(x):
    y = np.tanh(A @ x)
    return A.T @ (2 * y * (1 - y**2))


ROWS = [
    Row("a tanh layer", layer, X, of_layer),
    Row("a tanh layer, its gradient as numbers", layer, X, of_layer(X)),
    Row(
        "a product of two inputs",
        lambda x, w: x @ w,
        (X[:6].reshape(2, 3), X[6:18].reshape(3, 4)),
        lambda u, x, w: (u @ w.T, x.T @ u),
        check=check_vjp,
    ),
]
