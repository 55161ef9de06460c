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
    raise NotImplementedError("exercise 13, task 1: softmax_jvp")
    # --- end ---


def hessian_vector(tangent, x, A):
    """How fast ``gradient(x, A)`` changes as ``x`` moves along ``tangent``."""
    # --- your code ---
    raise NotImplementedError("exercise 13, task 2: hessian_vector")
    # --- end ---


def measured(gradient, x, tangent, h):
    """Central difference of ``gradient``, a function of ``x`` alone, along ``tangent``."""
    # --- your code ---
    raise NotImplementedError("exercise 13, task 3: measured")
    # --- end ---


def asymmetry(hv, a, b):
    """Relative difference of ``a @ hv(b)`` and ``b @ hv(a)``: 0 for a Hessian."""
    # --- your code ---
    raise NotImplementedError("exercise 13, task 4: asymmetry")
    # --- end ---


if __name__ == "__main__":
    rng = np.random.default_rng(13)
    A, x, a, b = rng.normal(size=(4, 3)), *rng.normal(size=(3, 3))
    p = softmax(A @ x)
    near = measured(lambda x: gradient(x, A), x, b, 1e-5)
    for name, hv in {
        "yours": lambda v: hessian_vector(v, x, A),
        "the mean is not weighted": lambda v: A.T @ (p * (A @ v - (A @ v).mean())),
        "softmax is treated as exp": lambda v: A.T @ (p * (A @ v)),
        "a factor 2": lambda v: 2 * hessian_vector(v, x, A),
        "p is in the wrong place": lambda v: A.T @ (p * (A @ v) - p @ (A @ v)),
    }.items():
        off = np.abs(hv(b) - near).max()
        print(f"{name:30} asymmetry {asymmetry(hv, a, b):7.1e}, off by {off:7.1e}")
