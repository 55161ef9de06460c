"""A sign is wrong, or a factor."""

import math
from typing import Any

import numpy as np

from ..case import Array
from .entry import Source, Wild, at

P3 = np.array([0.2, 0.5, 0.3])
SCALE = np.array([1.5, 0.7])
OFF = np.array([0.5, -1.0])
R5 = math.sqrt(5)


def distance_gradients(u: Any, a: Array, b: Array) -> tuple[Any, Any]:
    return u * (a - b), -u * (a - b)


def covariance_gradient(C: Array) -> Any:
    P = np.linalg.inv(C)
    return 0.5 * (np.outer(P.T @ OFF, P @ OFF) - P.T)


SIGNS_AND_FACTORS = (
    Wild(
        "casadi/cosh",
        Source("casadi/casadi issue 2585", 2020, "9 years"),
        f=np.cosh,
        right=lambda u, x: u * np.sinh(x),
        wrong=lambda u, x: -u * np.sinh(x),
        shows=at([0.3, -1.2]),
        hides=at([0.0]),
        unnoticed="The derivative of cos has a minus, and that of cosh has none; at 0 both are 0.",
        looks="sign",
    ),
    Wild(
        "sympy/coth",
        Source("sympy/sympy pull 605", 2011, "4 years"),
        f=lambda x: 1 / np.tanh(x),
        right=lambda u, x: -u / np.sinh(x) ** 2,
        wrong=lambda u, x: u / np.sinh(x) ** 2,
        shows=at([0.4, -1.1]),
        unnoticed="Written as cosh / sinh it was differentiated correctly; few people write coth.",
        looks="sign",
    ),
    Wild(
        "jax/atan2",
        Source("jax-ml/jax commit dfd3d93", 2019, "5 months"),
        f=np.arctan2,
        right=lambda u, x, y: (u * y / (x**2 + y**2), -u * x / (x**2 + y**2)),
        wrong=lambda u, x, y: (-u * y / (x**2 + y**2), u * x / (x**2 + y**2)),
        shows=at([0.5, 1.2], [1.5, -0.4]),
        unnoticed="The first argument is called y by some and x by others.",
        looks="sign",
    ),
    Wild(
        "orb-slam3/prior",
        Source("UZ-SLAMLab/ORB_SLAM3 issue 330", 2021, "open"),
        f=lambda x: np.array([0.2, -0.1, 0.4]) - x,
        right=lambda u, x: -u,
        wrong=lambda u, x: u,
        shows=at([0.1, 0.3, -0.2]),
        unnoticed="Nobody compared it with differences: a user saw it while reading the code.",
        looks="sign",
    ),
    Wild(
        "scikit-learn/exponential-loss",
        Source("scikit-learn/scikit-learn issue 9666", 2017, "at least 4 years"),
        f=lambda score: np.exp(-np.array([1, -1, 1]) * score),
        right=lambda u, score: -u * np.array([1, -1, 1]) * np.exp(-np.array([1, -1, 1]) * score),
        wrong=lambda u, score: u * np.array([1, -1, 1]) * np.exp(-np.array([1, -1, 1]) * score),
        shows=at([0.3, -0.8, 0.5]),
        unnoticed="The trees' leaves were computed again by a formula of their own.",
        looks="sign",
    ),
    Wild(
        "torch7/square",
        Source("torch/nn commit 88c391a", 2012, "at least 7 months"),
        f=np.square,
        right=lambda u, x: u * 2 * x,
        wrong=lambda u, x: u * x,
        shows=at([0.5, -1.5, 2.0]),
        unnoticed="A factor for a whole layer is a learning rate: the network trains.",
        looks="factor",
    ),
    Wild(
        "cunn/kl-divergence",
        Source("torch/cunn pull 318", 2016, "since it was written"),
        f=lambda log_q: np.mean(P3 * (np.log(P3) - log_q)),
        right=lambda u, log_q: -u * P3 / P3.size,
        wrong=lambda u, log_q: -u * 2 * P3 / P3.size,
        shows=at([-1.2, -0.9, -1.5]),
        unnoticed="The backward passes on the GPU were compared with a tolerance of 1e-2.",
        looks="factor",
    ),
    Wild(
        "torch7/pairwise-distance",
        Source("torch/DEPRECEATED-torch7-distro issue 48", 2012, "at least 14 months"),
        f=lambda a, b: np.sqrt(((a - b) ** 2).sum()),
        right=lambda u, a, b: distance_gradients(u / np.linalg.norm(a - b), a, b),
        wrong=lambda u, a, b: distance_gradients(u, a, b),
        shows=at([0.5, 2.0], [1.5, -1.0]),
        hides=at([0.6, 2.0], [0.0, 1.2]),
        unnoticed="The direction is right, and at distance 1 the length is right, too.",
        looks="factor",
    ),
    Wild(
        "tensorflow.net/cube",
        Source("SciSharp/TensorFlow.NET issue 303", 2019, "at least 1 month"),
        f=lambda x: 0.1 * x * x * x,
        right=lambda u, x: u * 0.3 * x**2,
        wrong=lambda u, x: u * 0.1 * x**2,
        shows=at([7.0, -2.0]),
        unnoticed="x is used three times, and counted once on the way back; the sign is right.",
        looks="factor",
    ),
    Wild(
        "torch/compiled-addition",
        Source("pytorch/pytorch issue 136662", 2024, "open"),
        f=lambda x: 2 * np.abs(x),
        right=lambda u, x: u * 2 * np.sign(x),
        wrong=lambda u, x: u * np.sign(x),
        shows=at([0.7, -1.3]),
        unnoticed="One of two additions in place is lost, and only if grad is compiled.",
        looks="factor",
    ),
    Wild(
        "openturns/absolute-exponential",
        Source("openturns/openturns commit c8eabd5", 2016, "1 year"),
        f=lambda s: 4.0 * np.exp(-np.abs(s / SCALE).sum()),
        right=lambda u, s: -u * 4.0 * np.exp(-np.abs(s / SCALE).sum()) * np.sign(s) / SCALE,
        wrong=lambda u, s: u * 2.0 * np.exp(-np.abs(s / SCALE).sum()) * np.sign(s) / SCALE,
        shows=at([0.8, -0.5]),
        unnoticed="The amplitude became a standard deviation: it is squared in f, but not here.",
        looks="factor",
    ),
    Wild(
        "gpytorch/matern52-grad",
        Source("cornellius-gp/gpytorch issue 2563", 2024, "9 months"),
        f=lambda x: (1 + R5 * np.abs(x) + 5 / 3 * x**2) * np.exp(-R5 * np.abs(x)),
        right=lambda u, x: -u * 5 / 3 * x * (1 + R5 * np.abs(x)) * np.exp(-R5 * np.abs(x)),
        wrong=lambda u, x: u * 5 / 3 * x * (1 + R5 * np.abs(x)) * np.exp(-R5 * np.abs(x)),
        shows=at([0.5, -1.2]),
        hides=at([0.0]),
        unnoticed="It is one block of a covariance matrix, and the matrix is still symmetric.",
        looks="sign",
    ),
    Wild(
        "hips/normal-covariance",
        Source("HIPS/autograd issue 401", 2018, "9 months"),
        f=lambda C: -0.5 * (OFF @ np.linalg.solve(C, OFF) + np.log(np.linalg.det(C))),
        right=lambda u, C: u * covariance_gradient(C),
        wrong=lambda u, C: -u * covariance_gradient(C),
        shows=at([[2.0, 0.3], [0.3, 1.0]]),
        unnoticed="A typing error in the test kept the covariance from being differentiated.",
        looks="sign",
        domain=lambda A: (A @ A.T + np.eye(2),),
    ),
)
