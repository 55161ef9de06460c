"""What a function does, as far as its code tells."""

from functools import partial

import numpy as np
import pytest

from gradcheck_ref import check_gradient
from gradcheck_ref.check.hides.code import has_branches


def relu(x):
    return np.maximum(x, 0)


def activation(x):
    return relu(x) / 2


def loss(x, target):
    return np.mean((activation(x) - target) ** 2)


class Layer:
    def __init__(self, activation=None):
        self.activation = activation

    def __call__(self, x):
        return self.activation(x)

    def rectified(self, x):
        return x * (x > 0)


def calls_itself(x, n=3):
    return x if n == 0 else calls_itself(x, n - 1)


def made(f):
    return lambda x: f(x)


BRANCHES = {
    "a function of NumPy": relu,
    "two functions of the file farther": loss,
    "in a closure": made(made(relu)),
    "in a partial": partial(loss, target=1),
    "in a method": Layer().rectified,
    "a name of another framework": lambda jax, x: jax.nn.leaky_relu(x),
}
NONE = {
    "a root": lambda x: np.sqrt(x),
    "a comparison with another argument": lambda x, y: np.sum(x[y < 1]),
    "an equality": lambda x: x if x.ndim == 0 else np.log(x),
    "in a closure": made(np.log),
    "a function that calls itself": calls_itself,
    "no code": np.maximum.reduce,
}


@pytest.mark.parametrize("f", BRANCHES.values(), ids=BRANCHES)
def test_branches_are_found_in_code(f):
    assert has_branches(f)


@pytest.mark.parametrize("f", NONE.values(), ids=NONE)
def test_code_without_branches_has_none(f):
    assert not has_branches(f)


class Anything:
    """A proxy: it has every attribute, and each is itself."""

    def __getattr__(self, name):
        return self

    def __call__(self, x):
        return np.sin(x)


class Unbound:
    """A proxy that stands for nothing yet."""

    def __getattr__(self, name):
        raise RuntimeError(f"not bound, so there is no {name}")

    @property
    def __dict__(self):
        raise RuntimeError("not bound, so there are no attributes")

    def __call__(self, x):
        return np.sin(x)


@pytest.mark.parametrize("held", [Anything(), Unbound()], ids=["has everything", "is not bound"])
def test_a_function_may_hold_a_proxy(held):
    assert not has_branches(lambda x: np.sum(held(x)))
    report = check_gradient(lambda x: np.sum(held(x)), np.array([0.3, 0.9]), np.cos)
    assert report.verdict == "pass"
