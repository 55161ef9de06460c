"""Branches: right on one side of a threshold, wrong on the other."""

from typing import Any

import numpy as np

from ..case import Array
from .entry import Source, Wild, at


def clipped_sum(u: Any, x: Array, low: Array, high: Array) -> tuple[Any, Any, Any]:
    return u * ((x > low) & (x < high)), u * (x < low), u * (x > high)


def logit_slope(theta: Array, n: Array, tail: Any) -> Any:
    """Slope of log p(n), given that beyond 20 times the sign."""
    s = 2 * n - 1
    return np.where(s * theta > 20, tail, s / (1 + np.exp(s * theta)))


def log_bernoulli(theta: Array, n: Array) -> Any:
    z = (2 * n - 1) * theta
    return np.where(z > 20, -np.exp(-z), -np.log1p(np.exp(-np.minimum(z, 20))))


def trapezoid(x: Array, rise: float, flat: float, fall: float, out: float) -> Any:
    """Choose by the part of the trapezoid from 0 over 1 and 2 to 4."""
    return np.select(
        [(x > 0) & (x < 1), (x >= 1) & (x < 2), (x >= 2) & (x < 4)], [rise, flat, fall], out
    )


def laplace_cdf(p: Array) -> Any:
    tail = 0.5 * np.exp(-p[1] * np.abs(1.0 - p[0]))
    return tail if p[0] > 1.0 else 1 - tail


def laplace_cdf_vjp(u: Any, p: Array, distance: Any) -> Any:
    e = np.exp(-p[1] * np.abs(1.0 - p[0]))
    return u * np.array([-p[1] * e, distance * e]) / 2


def log_normal_vjp(u: Any, used_as_mu: Any, mu: Any, sigma: Any) -> Any:
    return u * np.array([used_as_mu / sigma**2, 1 / sigma - mu**2 / sigma**3])


def biweight_slope(z: Array) -> Any:
    return (1 - (z / 4.685) ** 2) * (1 - 5 * (z / 4.685) ** 2)


BRANCHES = (
    Wild(
        "jax/remainder",
        Source("jax-ml/jax commit daf6e3b", 2022, "3 years 8 months"),
        f=np.fmod,
        right=lambda u, x, y: (u, -u * np.trunc(x / y)),
        wrong=lambda u, x, y: (u, -u * np.floor(x / y)),
        shows=at([5.3, -5.3, 7.1], [2.0, 2.0, 3.0]),
        hides=at([5.3, 4.4, 7.1], [2.0, 2.0, 3.0]),
        unnoticed="floor and trunc are the same number, as long as nothing is negative.",
        looks="single-entries",
    ),
    Wild(
        "mooncake/copysign",
        Source("chalk-lab/Mooncake.jl issue 1195", 2026, "2 years 10 months"),
        f=np.copysign,
        right=lambda u, x, y: (u * np.sign(x) * np.sign(y), 0 * y),
        wrong=lambda u, x, y: (u * np.sign(y), 0 * y),
        shows=at([-5.0, 2.0, 0.7], [3.0, -1.0, 2.0]),
        hides=at([5.0, 2.0, 0.7], [3.0, -1.0, 2.0]),
        unnoticed="All tests have x > 0, where the missing sign is 1.",
        looks="single-entries",
    ),
    Wild(
        "autograd.jl/maximum-of-abs",
        Source("denizyuret/AutoGrad.jl commit d6927a3", 2017, "11 months"),
        f=lambda x: np.max(np.abs(x)),
        right=lambda u, x: u * np.sign(x) * (np.abs(x) == np.max(np.abs(x))),
        wrong=lambda u, x: u * (np.abs(x) == np.max(np.abs(x))),
        shows=at([0.5, -2.0, 1.0]),
        hides=at([0.5, 2.0, 1.0]),
        unnoticed="Right in half of all cases: if the largest entry is positive.",
        looks="sign",
    ),
    Wild(
        "nnlib/hard-sigmoid",
        Source("FluxML/NNlib.jl commit 49948ae", 2026, "at least 4 years"),
        f=lambda x: np.clip((x + 3) / 6, 0, 1),
        right=lambda u, x: np.where(np.abs(x) < 3, u / 6, 0),
        wrong=lambda u, x: np.where(np.abs(x) < 3, u / 6, u),
        shows=at([-4.0, 0.5, 1.2, 2.1]),
        hides=at([-1.0, 0.5, 1.2, 2.1]),
        unnoticed="Wrong only beyond 3, and most numbers in a test are nearer to 0.",
        looks="single-entries",
    ),
    Wild(
        "stan/bernoulli-logit",
        Source("stan-dev/math pull 3370", 2026, "13 years"),
        f=log_bernoulli,
        right=lambda u, theta, n: (
            u * logit_slope(theta, n, (2 * n - 1) * np.exp(-np.abs(theta))),
            None,
        ),
        wrong=lambda u, theta, n: (u * logit_slope(theta, n, -np.exp(-np.abs(theta))), None),
        shows=at([25.0, 30.0], [1, 1]),
        hides=at([-25.0, 0.4], [0, 1]),
        unnoticed="Wrong only beyond 20, and only for n = 1: there the slope is at most 2e-9.",
        looks="sign",
    ),
    Wild(
        "openturns/trapezoidal",
        Source("openturns/openturns commit 4b2af0b", 2020, "at least 5 years"),
        f=lambda x: trapezoid(x, 0.4 * x, 0.4, 0.2 * (4 - x), 0.0),
        right=lambda u, x: u * trapezoid(x, 0.4, 0.0, -0.2, 0.0),
        wrong=lambda u, x: u * trapezoid(x, 0.4, -0.2, -0.2, -0.2),
        shows=at([0.5, 1.5, 3.0]),
        hides=at([0.5, 2.5, 3.0]),
        unnoticed="Right on both slopes, where people test; the flat parts were forgotten.",
        looks="single-entries",
    ),
    Wild(
        "openturns/laplace",
        Source("openturns/openturns commit fbdaf2a", 2024, "at least 9 years"),
        f=laplace_cdf,
        right=lambda u, p: laplace_cdf_vjp(u, p, 1.0 - p[0]),
        wrong=lambda u, p: laplace_cdf_vjp(u, p, np.abs(1.0 - p[0])),
        shows=at([1.5, 0.8]),
        hides=at([0.4, 0.8]),
        unnoticed="Right on one side of the mean.",
        domain=lambda p: (np.array([p[0], np.exp(p[1])]),),
    ),
    Wild(
        "exponentialfamily/log-normal",
        Source("ReactiveBayes/ExponentialFamily.jl issue 315", 2026, "2 years 9 months"),
        f=lambda p: p[0] ** 2 / (2 * p[1] ** 2) + np.log(p[1]),
        right=lambda u, p: log_normal_vjp(u, p[0], p[0], p[1]),
        wrong=lambda u, p: log_normal_vjp(u, np.abs(p[0]), p[0], p[1]),
        shows=at([-0.6, 1.7]),
        hides=at([0.6, 1.7]),
        unnoticed="Right for positive means, and this set of parameters was not tested.",
        domain=lambda p: (np.array([p[0], np.exp(p[1])]),),
    ),
    Wild(
        "theano/clip-bounds",
        Source("Theano/Theano commit 3968c26", 2012, "3 years"),
        f=lambda x, low, high: np.minimum(np.maximum(x, low), high),
        right=clipped_sum,
        wrong=lambda u, x, low, high: (clipped_sum(u, x, low, high)[0], 0 * low, 0 * high),
        shows=at([-1.5, 0.2, 2.5], [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]),
        hides=at([-0.5, 0.2, 0.6], [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]),
        unnoticed="People think that bounds are constants, and inside the bounds they do nothing.",
        looks="zero",
        domain=lambda x, low, high: (x, -np.exp(low), np.exp(high)),
    ),
    Wild(
        "statsmodels/tukey-biweight",
        Source("statsmodels/statsmodels commit aa14cf0", 2009, "1 day"),
        f=lambda z: np.where(np.abs(z) < 4.685, z * (1 - (z / 4.685) ** 2) ** 2, 0.0),
        right=lambda u, z: u * np.where(np.abs(z) < 4.685, biweight_slope(z), 0.0),
        wrong=lambda u, z: u * biweight_slope(z),
        shows=at([0.5, 6.0, -1.2]),
        hides=at([0.5, 2.0, -1.2]),
        unnoticed="Right for all residuals except outliers, for which the function was made.",
        looks="single-entries",
    ),
)
