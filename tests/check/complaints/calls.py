"""Functions and gradients that keep something between calls, or write where they should not."""

import numpy as np

from gradcheck_ref import check_gradient, check_vjp

from .row import Complaint

RNG = np.random.default_rng(0)
X = np.array([0.5, -1.0, 2.0])


WEIGHTS, MATRIX = RNG.normal(size=(40, 3)), RNG.normal(size=(2, 2))


def in_any_order(upstream, x):
    """Return a product whose sums are added in any order, as on a GPU."""
    total = np.zeros(3)
    for k in RNG.permutation(40):
        total += WEIGHTS[k] * upstream[k]
    return total * np.cos(x)


class Dropout:
    """A new mask at every call; the gradient uses the last one."""

    def __init__(self):
        self.rng, self.mask = np.random.default_rng(0), 1.0

    def __call__(self, x):
        self.mask = (self.rng.random(x.shape) > 0.2) / 0.8
        return self.mask * x


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


def integrated(x):
    x += 1.0  # the state of a simulation
    return x * x


DROPOUT, OTHER, SIMULATION = Dropout(), Dropout(), Simulation()

ROWS = [
    Complaint("sums in any order", "CharlesShang/DCNv2 issue 8",
        "Backward is not reentrant, although the gradients match: atomicAdd rounds in any order",
        check_vjp, lambda x: WEIGHTS @ np.sin(x), X, in_any_order,
        "pass", "x: all 120 entries agree"),
    Complaint("dropout", "pytorch/pytorch issue 114333",
        "a new mask at every call gives numeric gradients of 2.3 and -2.3",
        check_vjp, DROPOUT, X, lambda upstream, x: upstream * DROPOUT.mask,
        "unsure", "seed the random numbers in f"),
    Complaint("an error of 0.9 with dropout", "torch/tutorials issue 25",
        "forward is called several times before backward, so the mask is another one",
        check_gradient, lambda x: np.sum(OTHER(x) ** 2), X, lambda x: 2 * x * OTHER.mask**2,
        "unsure", "f gives a different value when it is called again"),
    Complaint("a simulation", "NVlabs/DiffRL issue 16",
        "Backward is not reentrant; env.step goes on from its last state",
        check_gradient, SIMULATION, X, SIMULATION.gradient,
        "unsure", "f gives a different value when it is called again"),
    Complaint("an operation in place", "pytorch/pytorch issue 97332",
        "x.mul_(3) gives numeric entries from 3 to 2e98",
        check_vjp, scaled_in_place, X, lambda upstream, x: 3 * upstream,
        "fail", "the numbers agree (9 compared), but f writes to its input x"),
    Complaint("a state that is integrated", "NVIDIA/warp issue 1726",
        "gradcheck measures at another point after each call, because the kernel changes x",
        check_vjp, integrated, X, lambda upstream, x: 2 * (x + 1) * upstream,
        "fail", "f writes to its input x"),
    Complaint("memory that nobody wrote", "FluxML/NNlib.jl issue 69",
        "the gradient of a filter is 3.7e-32, and 1.6e-41 when it is called again",
        check_vjp, np.square, X, lambda upstream, x: RNG.normal(size=3) * 1e-32,
        "fail", "every call gives a different value"),
    Complaint("an expanded input", "pytorch/pytorch issue 38586",
        "gradcheck moves both entries of a tensor that is one number, expanded",
        check_gradient, lambda x: np.sum(MATRIX @ x), np.broadcast_to(0.7, 2), MATRIX.sum(axis=0),
        "pass", "x: all 2 entries agree"),
]  # fmt: skip
