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
    raise NotImplementedError("exercise 17, task 2: evidence")
    # --- end ---


def special(x):
    """Say what is special about an array, as a list of words; empty if nothing is."""
    # --- your code ---
    raise NotImplementedError("exercise 17, task 3: special")
    # --- end ---


def examine(name, *inputs):
    """Check the gradient of one of the three functions at a point; return the report."""
    from gradcheck_ref import check_gradient

    return check_gradient(globals()[name], inputs, globals()[f"{name}_gradient"])


if __name__ == "__main__":
    from gradcheck_ref import central_difference

    def authors_check(name, *inputs):
        """Compare the gradient for each input with central differences, as the author did."""
        f, gradients = globals()[name], globals()[f"{name}_gradient"](*inputs)
        for k, gradient in enumerate(gradients):

            def moved(one, k=k):
                return f(*inputs[:k], one, *inputs[k + 1 :])

            if not np.allclose(gradient, central_difference(moved, inputs[k], h=1e-6)):
                return "differs"
        return "passes"

    for name, point in AUTHORS_POINTS.items():
        print(f"{name:8}", authors_check(name, *point))
    for name, point in evidence().items():
        print(f"\n{name}\n{examine(name, *point)}")
    for name, point in AUTHORS_POINTS.items():
        print(f"\n{name}: the author's point is", *map(special, point))
