"""Functions and checks for all ways of calling f, where a process that was started finds them."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from gradcheck_ref import check_gradient, check_jvp, check_vjp

X = {"w": np.linspace(-1, 1, 40), "b": np.array(0.3), "n": np.arange(3)}
SMALL = np.array([0.5, 1.0, 2.0])


def loss(w, b, n):
    return np.sum(np.tanh(w * np.arange(1, 41)) ** 2) + b**3 + n.sum()


def gradient(w, b, n):
    k = np.arange(1, 41)
    t = np.tanh(w * k)
    return {"w": 2 * t * (1 - t * t) * k, "b": 3 * b**2, "n": None}


def wrong(w, b, n):
    g = gradient(w, b, n)
    g["w"][7] *= 2
    return g


def cubes(x):
    return x**3


def sum_of_the_first(x, constant):
    return np.sum(x)


def raises_beside_x(x):
    if x[1] != 1.0:
        raise NotImplementedError("not here")
    return np.sum(x)


def sums_only_here(x, size):
    """Return the sum of squares; but a branch that is taken at all other points has a bug."""
    total = np.sum(x**2)
    return total if (x == np.linspace(0.5, 1, size)).all() else float(total) + "1"


class StubbornError(NotImplementedError):
    """Cannot be put together again from what is pickled."""

    def __reduce__(self):
        return refuse, ()


def refuse():
    raise ValueError


def raises_an_unpicklable_error(x):
    if x[1] != 1.0:
        raise StubbornError("this and that")
    return np.sum(x)


def dies_beside_x(x):
    if x[1] != 1.0:
        os._exit(7)
    return np.sum(x)


def spawning(count=2):
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


def fingerprint(report):
    """Return all numbers of a report, to the last bit."""
    numbers = [getattr(p, name).tobytes() for p in report.pairs for name in
               ("numeric", "error", "allowed", "step", "verdict")]  # fmt: skip
    return report.verdict, report.evaluations, report.certificate, numbers


CHECKS = {
    "gradient": lambda **knobs: check_gradient(loss, X, gradient, **knobs),
    "wrong": lambda **knobs: check_gradient(loss, X, wrong, **knobs),
    "vjp": lambda **knobs: check_vjp(cubes, SMALL, lambda u, x: 3 * x**2 * u, **knobs),
    "jvp": lambda **knobs: check_jvp(cubes, SMALL, lambda t, x: 3 * x**2 * t, **knobs),
}
