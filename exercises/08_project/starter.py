"""The project: what you wrote in exercises 1 to 8, at work together."""

import importlib

import numpy as np


def mine(exercise):
    """Return your file of an exercise: ``mine("06_relu").relu(x)`` calls your relu."""
    return importlib.import_module(f"work.{exercise}")


def network_loss(X, labels, W1, b1, W2, b2, lam):
    """Return the loss of exercise 8, made of your ``relu`` and your ``cross_entropy``."""
    # --- your code ---
    raise NotImplementedError("the project, task 1: network_loss")
    # --- end ---


def wrong_entries(f, x, claimed):
    """Find the entries of a gradient that are wrong.

    ``f(x)`` returns one number; ``claimed``, of the shape of ``x``, is the claimed gradient.
    Returns a list of indices, such as ``(0, 2)``: the largest relative error first.
    """
    # --- your code ---
    raise NotImplementedError("the project, task 2: wrong_entries")
    # --- end ---


def train(X, labels, parameters, lam, rate, steps):
    """Return ``W1, b1, W2, b2`` after ``steps`` steps down the gradient of exercise 8."""
    # --- your code ---
    raise NotImplementedError("the project, task 3: train")
    # --- end ---


if __name__ == "__main__":
    from gradcheck_ref.zoo import load_iris

    def checked(X, labels, parameters, lam):
        """Return the wrong entries of your gradient of exercise 8, by the name of the parameter."""
        gradients = mine("08_two_layer").gradient(X, labels, *parameters, lam)
        found = {}
        for i, name in enumerate(("W1", "b1", "W2", "b2")):

            def f(p, i=i):
                return network_loss(X, labels, *parameters[:i], p, *parameters[i + 1 :], lam)

            found[name] = wrong_entries(f, parameters[i], gradients[i])
        return found

    X, labels = load_iris()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(8)
    parameters = rng.normal(size=(4, 8)) / 2, np.zeros(8), rng.normal(size=(8, 3)) / 2, np.zeros(3)
    for steps in (0, 20, 200):
        trained = train(X, labels, parameters, lam=0.01, rate=0.5, steps=steps)
        scores = mine("08_two_layer").forward(X, *trained)[1]
        right = np.mean(scores.argmax(axis=1) == labels)
        wrong = checked(X, labels, trained, lam=0.01)
        print(f"{steps:3} steps: {right:4.0%} of the flowers named rightly, wrong entries: {wrong}")
