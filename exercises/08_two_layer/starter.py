"""Exercise 8: a two-layer network."""

import numpy as np


def forward(X, W1, b1, W2, b2):
    """Return ``hidden``, shape (n, units), and ``scores``, shape (n, classes)."""
    # --- your code ---
    raise NotImplementedError("exercise 8, task 1: forward")
    # --- end ---


def loss(X, labels, W1, b1, W2, b2, lam):
    """Mean cross-entropy of the scores, plus ``lam / 2`` times the squares of the weights."""
    # --- your code ---
    raise NotImplementedError("exercise 8, task 2: loss")
    # --- end ---


def gradient(X, labels, W1, b1, W2, b2, lam):
    """Gradient of the loss: ``dW1, db1, dW2, db2``, each in the shape of its parameter."""
    # --- your code ---
    raise NotImplementedError("exercise 8, task 4: gradient")
    # --- end ---


if __name__ == "__main__":
    from functools import partial

    from gradcheck_ref import check_gradient
    from gradcheck_ref.zoo import load_iris

    X, labels = load_iris()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(8)
    parameters = rng.normal(size=(4, 8)) / 2, np.zeros(8), rng.normal(size=(8, 3)) / 2, np.zeros(3)
    f = partial(loss, X, labels, lam=0.01)
    print(check_gradient(f, parameters, gradient(X, labels, *parameters, lam=0.01)))

    for _ in range(200):
        steps = gradient(X, labels, *parameters, lam=0.01)
        parameters = [p - 0.5 * step for p, step in zip(parameters, steps, strict=True)]
    right = np.mean(forward(X, *parameters)[1].argmax(axis=1) == labels)
    print(f"\nafter training: loss {f(*parameters):.3f}, {right:.0%} named rightly")
