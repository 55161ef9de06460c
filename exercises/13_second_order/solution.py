"""Exercise 13: along a direction, and twice."""

import numpy as np


def softmax(z):
    """Turn scores, shape (n,), into probabilities."""
    e = np.exp(z - z.max())
    return e / e.sum()


def gradient(x, A):
    """Gradient of ``log(sum(exp(A @ x)))``, in the shape of ``x``."""
    return A.T @ softmax(A @ x)


def softmax_jvp(tangent, z):
    """How fast ``softmax(z)`` changes as ``z`` moves along ``tangent``."""
    # --- your code ---
    # Scores above the mean gain, those below lose; the mean is weighed by the probabilities.
    p = softmax(z)
    return p * (tangent - p @ tangent)
    # --- end ---


def hessian_vector(tangent, x, A):
    """How fast ``gradient(x, A)`` changes as ``x`` moves along ``tangent``."""
    # --- your code ---
    # The chain rule, from the inside: A @ x moves along A @ tangent.
    return A.T @ softmax_jvp(A @ tangent, A @ x)
    # --- end ---


def measured(gradient, x, tangent, h):
    """Central difference of ``gradient``, a function of ``x`` alone, along ``tangent``."""
    # --- your code ---
    return (gradient(x + h * tangent) - gradient(x - h * tangent)) / (2 * h)
    # --- end ---


def asymmetry(hv, a, b):
    """Relative difference of ``a @ hv(b)`` and ``b @ hv(a)``: 0 for a Hessian."""
    # --- your code ---
    one, other = a @ hv(b), b @ hv(a)
    larger = max(abs(one), abs(other))
    return abs(one - other) / larger if larger else 0.0
    # --- end ---
