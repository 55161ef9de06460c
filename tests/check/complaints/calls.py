"""Functions and gradients that keep something between calls, or write where they should not."""

import numpy as np

from gradcheck_ref import check_gradient, check_vjp

from .row import Complaint

RNG = np.random.default_rng(0)
X = np.array([0.5, -1.0, 2.0])


class Atomic:
    """A scatter whose sums are added in any order, as on a GPU."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.weights = RNG.normal(size=(40, 3))

    def __call__(self, x):
        return self.weights @ np.sin(x)

    def vjp(self, upstream, x):
        order = self.rng.permutation(40)
        total = np.zeros(3)
        for k in order:
            total += self.weights[k] * upstream[k]
        return total * np.cos(x)


class Dropout:
    """A new mask at every call; the gradient uses the last one."""

    def __init__(self):
        self.rng, self.mask = np.random.default_rng(0), 1.0

    def __call__(self, x):
        self.mask = (self.rng.random(x.shape) > 0.2) / 0.8
        return self.mask * x

    def gradient(self, upstream, x):
        return upstream * self.mask


class Simulation:
    """An environment: a step begins where the last one ended."""

    def __init__(self):
        self.state = np.zeros(3)

    def __call__(self, actions):
        self.state = np.tanh(self.state + actions)
        return np.linalg.norm(self.state)

    def gradient(self, actions):
        return self.state / np.linalg.norm(self.state) * (1 - self.state**2)


def scaled_in_place(x):
    x *= 3
    return x


def of_scaled(upstream, x):
    return 3 * upstream


def integrated(x):
    x += 1.0  # the state of a simulation
    return x * x


def of_integrated(upstream, x):
    return 2 * (x + 1) * upstream


def square(x):
    return x * x


def uninitialised(upstream, x):
    return UNINITIALISED.normal(size=3) * 1e-32


def squares_of_dropout(x):
    return np.sum(OTHER(x) ** 2)


def of_squares(x):
    return 2 * x * OTHER.mask**2


def sum_of_product(x):
    return np.sum(MATRIX @ x)


UNINITIALISED = np.random.default_rng(0)
MATRIX = RNG.normal(size=(2, 2))
DROPOUT, OTHER, SIMULATION, ATOMIC = Dropout(), Dropout(), Simulation(), Atomic()

ROWS = [
    Complaint(
        "sums in any order", "CharlesShang/DCNv2 issue 8",
        "Backward is not reentrant, although the gradients match: atomicAdd rounds in any order",
        check_vjp, ATOMIC, X, ATOMIC.vjp,
        "pass", "x: all 120 entries agree",
    ),
    Complaint(
        "dropout", "pytorch/pytorch issue 114333",
        "a new mask at every call gives numeric gradients of 2.3 and -2.3",
        check_vjp, DROPOUT, X, DROPOUT.gradient,
        "unsure", "seed the random numbers in f",
    ),
    Complaint(
        "an error of 0.9 with dropout", "torch/tutorials issue 25",
        "forward is called several times before backward, so the mask is another one",
        check_gradient, squares_of_dropout, X, of_squares,
        "unsure", "f gives a different value when it is called again",
    ),
    Complaint(
        "a simulation", "NVlabs/DiffRL issue 16",
        "Backward is not reentrant; env.step goes on from its last state",
        check_gradient, SIMULATION, X, SIMULATION.gradient,
        "unsure", "f gives a different value when it is called again",
    ),
    Complaint(
        "an operation in place", "pytorch/pytorch issue 97332",
        "x.mul_(3) gives numeric entries from 3 to 2e98",
        check_vjp, scaled_in_place, X, of_scaled,
        "fail", "the numbers agree (9 compared), but f writes to its input x",
    ),
    Complaint(
        "a state that is integrated", "NVIDIA/warp issue 1726",
        "gradcheck measures at another point after each call, because the kernel changes x",
        check_vjp, integrated, X, of_integrated,
        "fail", "f writes to its input x",
    ),
    Complaint(
        "memory that nobody wrote", "FluxML/NNlib.jl issue 69",
        "the gradient of a filter is 3.7e-32, and 1.6e-41 when it is called again",
        check_vjp, square, X, uninitialised,
        "fail", "every call gives a different value",
    ),
    Complaint(
        "an expanded input", "pytorch/pytorch issue 38586",
        "gradcheck moves both entries of a tensor that is one number, expanded",
        check_gradient, sum_of_product, np.broadcast_to(0.7, 2), MATRIX.sum(axis=0),
        "pass", "x: all 2 entries agree",
    ),
]  # fmt: skip
