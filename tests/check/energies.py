"""A function with its gradient, for the tests of diagnoses, and points for it."""

import numpy as np

VECTOR = np.array([0.4, -1.3, 0.9, 2.1, -0.6])
MATRIX = np.array([[0.3, -0.8, 1.4], [0.9, 0.2, -0.5], [1.1, 0.7, 0.6], [-0.4, 1.6, 0.1]])


def energy(x):
    return np.sum(np.cosh(x) + x**3)


def energy_gradient(x):
    return np.sinh(x) + 3 * x**2
