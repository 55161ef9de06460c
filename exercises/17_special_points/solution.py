"""Exercise 17: it passed, and was wrong."""

import numpy as np


def scaled(x, gamma):
    """Sum of ``sin(gamma * x)``: a gain for each entry of ``x``."""
    return np.sum(np.sin(gamma * x))


def scaled_gradient(x, gamma):
    """Gradient with respect to ``x`` and ``gamma``, as its author wrote it."""
    return np.cos(gamma * x), x * np.cos(gamma * x)


def energy(x, A):
    """Half of ``x @ A @ x``, for a square matrix ``A``."""
    return 0.5 * (x @ A @ x)


def energy_gradient(x, A):
    """Gradient with respect to ``x`` and ``A``, as its author wrote it."""
    return A @ x, 0.5 * np.outer(x, x)


def penalty(x):
    """Sum of the squares of the positive entries."""
    return np.sum(np.maximum(x, 0) ** 2)


def penalty_gradient(x):
    """Gradient with respect to ``x``, as its author wrote it."""
    return (2 * x,)


AUTHORS_POINTS = {
    "scaled": (np.array([0.3, -1.2, 2.0]), np.ones(3)),
    "energy": (np.array([0.5, -1.0]), np.array([[2.0, 0.7], [0.7, -1.0]])),
    "penalty": (np.array([0.4, 1.5, 2.5]),),
}


def evidence():
    """Return, for each of the three functions, a point at which its gradient is wrong."""
    # --- your code ---
    return {
        "scaled": (np.array([0.3, -1.2, 2.0]), np.array([0.5, 1.3, -0.8])),
        "energy": (np.array([0.5, -1.0]), np.array([[2.0, 0.7], [-0.4, -1.0]])),
        "penalty": (np.array([0.4, -1.5, 2.5]),),
    }
    # --- end ---


def special(x):
    """Say what is special about an array, as a list of words; empty if nothing is."""
    # --- your code ---
    found = []
    if (x == 0).all():
        found.append("zeros")
    if (x == 1).all():
        found.append("ones")
    if x.size > 1 and (x == x.flat[0]).all():
        found.append("equal")
    if x.ndim == 2 and x.shape[0] == x.shape[1] > 1 and (x == x.T).all():
        found.append("symmetric")
    if x.size > 1 and ((x > 0).all() or (x < 0).all()):
        found.append("one sign")
    if x.ndim == 2 and len(x) == 1:
        found.append("one row")
    return found
    # --- end ---


def examine(name, *inputs):
    """Check the gradient of one of the three functions at a point; return the report."""
    from gradcheck_ref import check_gradient

    return check_gradient(globals()[name], inputs, globals()[f"{name}_gradient"])
