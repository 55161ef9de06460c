"""Small functions with their vjp and jvp, and what else the tests of torch's gradcheck share."""

import numpy as np
import pytest

from gradcheck_ref.compat.torch import GradcheckError

X, Y = np.array([0.5, 1.5]), np.array([0.75, -1.25])
Z = np.array([0.5 + 1.5j, -0.75 + 0.25j])
A = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]])

both_modes = pytest.mark.parametrize("fast", [False, True], ids=["slow", "fast"])


def square(x):
    return x * x


def square_vjp(u, x):
    return 2 * x * u


def square_jvp(t, x):
    return 2 * x * t


def two(x, y):
    return x * y, x + y


def two_vjp(u, x, y):
    return u[0] * y + u[1], u[0] * x + u[1]


def two_jvp(t, x, y):
    return t[0] * y + t[1] * x, t[0] + t[1]


def message_of(check, *arguments, error=GradcheckError, **flags):
    """Return what a check says when it fails."""
    with pytest.raises(error) as caught:
        check(*arguments, **flags)
    return str(caught.value)


class Counted:
    """A function that counts its calls, and keeps what it was called with."""

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, *arguments):
        self.calls.append(arguments)
        return self.function(*arguments)


def writing(number, product):
    def writes(*arguments):
        arguments[number][...] += 1
        return product(*arguments)

    return writes


class Changing:
    """A vjp of the square that is off by a factor which depends on the number of the call."""

    def __init__(self, factor):
        self.factor, self.calls = factor, 0

    def __call__(self, u, x):
        self.calls += 1
        return square_vjp(u, x) * self.factor(self.calls)


def drifting():
    return Changing(lambda n: 1 + 1e-6 * n)


def wants_none(product):
    """Let a vjp or jvp have None for what is undefined."""
    product.materialize_grads = False
    return product


def or_zeros(given):
    return [np.zeros(2) if one is None else one for one in given]
