"""Reports of every kind, made once."""

import itertools

import numpy as np
import pytest

from gradcheck_ref.check import check_gradient, check_vjp

X = np.array([0.5, 1.0, 2.0])
RNG, CALLS = np.random.default_rng(3), itertools.count(1)
BESIDE_1 = 1 + 1e-15 * np.arange(1, 5)
A = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0], [0.2, 0.7, 5.0]])


def cubes(x):
    return np.sum(x**3)


def rough(x):
    """Squares with a wave of a millionth, far shorter than every step."""
    return np.sum(x * x) * (1 + 1e-6 * np.sin(1e9 * np.sum(x * x)))


def doubles_its_input(x):
    value = np.sum(x**3)
    x *= 2
    return value


def root(x):
    with np.errstate(invalid="ignore"):
        return np.sum(x**1.5)


def squares_of(**inputs):
    return sum(np.sum(value**2) for value in inputs.values())


# Many entries: lines look at all of them at once.
MANY, FEW = np.random.default_rng(5).normal(size=(100, 104)), np.linspace(-1.0, 1.3, 5)


def many(claim, f=lambda W, b: float(np.sum(np.sin(W)) + np.sum(b**2)), b=FEW, **knobs):
    """Check a claim about a function of 10405 numbers."""
    return check_gradient(f, {"W": MANY, "b": b}, claim, **knobs)


def of_many(W, b, factor=1.0):
    return factor * np.cos(W), 2 * b


def one_of_many(W, b):
    of_w, of_b = of_many(W, b)
    of_w[5, 0] = 9.0
    return of_w, of_b


def row_sums(W):
    return np.tanh(W @ np.ones(104))


def of_cubes(claim, x=X):
    return check_gradient(cubes, x, claim)


LONG_NAME = "the_weights_of_the_first_hidden_layer_of_the_network"
CONTROL = {"a\nb\t": X, "c\x1b[31m": X}

MAKE = {
    "pass": lambda: of_cubes(3 * X**2),
    "pass, one number": lambda: check_gradient(lambda x: x**2, 3.0, 6.0),
    "pass, by lines": lambda: check_gradient(
        lambda x: np.sum(x**2), np.arange(1.0, 1001), lambda x: 2 * x, max_evaluations=200),
    "fail": lambda: of_cubes(3 * X),
    "fail, factor": lambda: check_gradient(lambda W1, b1: np.sum(W1**3) / 9 + np.sum(b1**2),
        (A[:2], X), lambda W1, b1: (W1**2, 2 * b1)),
    "fail, both": lambda: check_gradient(squares_of, {"a": X, "b": X}, {"a": 3 * X, "b": 5 * X}),
    "fail, one number": lambda: check_gradient(lambda x: x**2, 3.0, 5.0),
    "fail, nan": lambda: of_cubes(np.array([np.nan, 3, 12])),
    "fail, inf": lambda: of_cubes(np.array([-np.inf, 3, 12])),
    "fail, array": lambda: check_vjp(lambda x: A @ x, X, lambda u, x: A @ u),
    "fail, tuple": lambda: check_vjp(lambda x, z: (A @ x, abs(z) ** 2), (X, np.array([1 + 2j])),
        lambda u, x, z: (A.T @ u[0], z * u[1])),
    "fail, longdouble": lambda: of_cubes(3 * X, X.astype(np.longdouble)),
    "fail, twenty": lambda: check_gradient(
        lambda x: np.sum(x**2), np.arange(1.0, 21), lambda x: 3 * x),
    "fail, thousands": lambda: check_gradient(
        lambda x: np.sum(x**2), np.arange(1.0, 2501).reshape(50, 50), lambda x: 3 * x),
    "fail, long name": lambda: check_gradient(
        lambda **x: cubes(x[LONG_NAME]), {LONG_NAME: X}, {LONG_NAME: 3 * X}),
    "kink": lambda: check_gradient(
        lambda x: np.sum(np.abs(x)), np.array([1.0, 0.0, -2.0]), np.array([1.0, 0.3, -1.0])),
    "noise": lambda: check_gradient(rough, X, 2 * X),
    "nondeterministic": lambda: check_gradient(
        lambda x: np.sum(x) + 1e-5 * RNG.normal(), X, np.ones(3)),
    "domain-edge": lambda: check_gradient(root, np.array([0.0, 1.0]), np.array([0.0, 1.5])),
    "nonfinite": lambda: check_gradient(lambda x: np.inf * np.sum(x), X, np.ones(3)),
    "kink and edge": lambda: check_gradient(
        lambda x: abs(x[0]) + root(x[1]), np.zeros(2), np.array([0.5, 0.0])),
    "vertical": lambda: check_gradient(
        lambda x: np.sum(np.cbrt(x)), np.array([0.0, 1.0]), np.array([np.inf, 1 / 3])),
    "nonfinite, one output": lambda: check_vjp(
        lambda x: np.where(x == 0, np.inf, x * x), np.array([0.0, 1.0]), lambda u, x: 2 * u * x),
    "control characters": lambda: check_gradient(
        squares_of, CONTROL, {name: 3 * X for name in CONTROL}),
    "step-underflow": lambda: check_gradient(
        lambda x: np.sum(np.sin(x)), np.array([1e25]), np.ones(1)),
    "empty": lambda: check_gradient(lambda x: np.sum(x), np.zeros(0), np.zeros(0)),
    "mutated": lambda: check_gradient(doubles_its_input, X, 3 * X**2),
    "ignores-input": lambda: check_gradient(lambda x: cubes(X), X, 3 * X**2),
    "nondeterministic grads": lambda: of_cubes(lambda x: next(CALLS) * 3 * x**2),
    "shape": lambda: of_cubes(np.ones((3, 1))),
    "shape and wrong": lambda: check_gradient(
        lambda a, b: cubes(a) + cubes(b), (X, X), (np.ones((3, 1)), 3 * X)),
    "lines": lambda: many(of_many, seed=7),
    "lines, one is wrong": lambda: many(one_of_many, seed=7),
    "lines, all are wrong": lambda: many(lambda W, b: of_many(W, b, 3.0)),
    "lines, too few": lambda: many(of_many, max_evaluations=40),
    "lines, too few for a mistake": lambda: many(
        lambda W, b: of_many(W, b, 3.0), max_evaluations=30),
    "lines, a kink": lambda: many(lambda W, b: (np.cos(W), 0 * b),
        lambda W, b: float(np.sum(np.sin(W)) + np.sum(np.abs(b))), 0 * FEW),
    "lines, four digits": lambda: many(
        lambda W, b: (0.05 * np.cos(W), 0 * b),
        lambda W, b: float(f"{100 + 0.05 * np.sum(np.sin(W)):.4g}")),
    "lines, one is zero": lambda: many(
        lambda W, b: (np.cos(W), 0 * b), lambda W, b: float(f"{100 + np.sum(np.sin(W)):.6g}")),
    "lines, outputs combined": lambda: check_vjp(
        row_sums, MANY, lambda u, W: np.outer(u * (1 - row_sums(W) ** 2), np.ones(104)), seed=7),
    "stairs": lambda: check_gradient(lambda x: np.floor(500 * x) / 500, 3.3003, 0.0),
    "budget": lambda: check_gradient(lambda x: np.sum(np.sin(1e3 * x)), X,
        lambda x: 1e3 * np.cos(1e3 * x), max_evaluations=30),
    "isolated": lambda: check_gradient(lambda p: np.power(-2.0, p), 3.0, -5.0),
    "zero": lambda: check_gradient(
        lambda x: 1 + np.sum((x - 1) ** 2), BESIDE_1, lambda x: 2 * (x - 1)),
}  # fmt: skip


class _Made(dict):
    def __missing__(self, name):
        self[name] = MAKE[name]()
        return self[name]


REPORTS = _Made()
every_report = pytest.mark.parametrize("name", MAKE)


def words(text):
    """Return a text without its line breaks."""
    return " ".join(text.split())
