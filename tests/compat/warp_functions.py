"""Functions with their vjp, for the tests of Warp's gradcheck."""

import numpy as np

X = np.array([1.0, 2.0, 3.0])
# Samples of polynomials at x +- this step are exact, so that tables can be compared to the letter.
STEP = 2.0**-13


def square(x):
    return x * x


def square_vjp(upstream, x):
    return 2 * np.conj(x) * upstream


def pair(x, y):
    """Return two outputs of two inputs."""
    return x * y, x[:2]


def pair_vjp(upstream, x, y):
    return upstream[0] * y + np.append(upstream[1], 0.0), upstream[0] * x
