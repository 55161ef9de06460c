"""Distributions, and numbers that turn out complex."""

import math
from typing import Any

import numpy as np

from ..case import Array
from .entry import Source, Wild, at, between_0_and_1


def cdf_term(k: int, a: Any) -> Any:
    """Probability of k failures, with a successes wanted and p = 0.4."""
    return 0.4**a * np.prod([0.6 * (a + j) / (j + 1) for j in range(k)])


def log_cdf_slope(n: int, a: Array) -> Any:
    terms = [cdf_term(k, a) for k in range(n + 1)]
    logs = [math.log(0.4) + sum(1 / (a + j) for j in range(k)) for k in range(n + 1)]
    return sum(t * log for t, log in zip(terms, logs, strict=True)) / sum(terms)


def pareto_slopes(p: Array, last: Any) -> Any:
    w, z = (p[0] / (5.0 - p[2])) ** p[1], 5.0 - p[2]
    return np.array([-p[1] * w / p[0], -w * np.log(p[0] / z), p[1] * last / z])


def pareto_with_minus_inside(u: Any, p: Array) -> Any:
    with np.errstate(invalid="ignore"):  # wrong: a minus that belongs before the power
        return u * pareto_slopes(p, (-p[0] / (5.0 - p[2])) ** p[1])


def triangular_slopes(p: Array) -> Any:
    """Of the distribution function at 0.4, left of the mode p[1], from p[0] to p[2]."""
    xa, ma, ba = 0.4 - p[0], p[1] - p[0], p[2] - p[0]
    d_a = (xa**2 * (ma + ba) - 2 * xa * ba * ma) / (ba * ma) ** 2
    return np.array([d_a, -(xa**2) / (ba * ma**2), -(xa**2) / (ba**2 * ma)])


def triangular_last_one_short(u: Any, p: Array) -> Any:
    last = -(0.4 - p[0]) / (p[2] - p[0])
    return u * np.append(triangular_slopes(p)[:2], last)


def logit_normal(x: Array) -> Any:
    return -np.log(x) - np.log(1 - x) - (np.log(x / (1 - x)) - 0.5) ** 2 / (2 * 0.8**2)


def logit_normal_vjp(u: Any, x: Array) -> Any:
    return u * (0.5 - np.log(x / (1 - x)) + 0.64 * (2 * x - 1)) / (0.64 * x * (1 - x))


def determinant_vjp(u: Any, Z: Array, d: Any) -> Any:
    return u * d * np.linalg.inv(Z).conj().T


DISTRIBUTIONS_AND_COMPLEX_NUMBERS = (
    Wild(
        "openturns/frank-copula",
        Source("openturns/openturns commit 1427ee3", 2026, "at least 10 years"),
        f=lambda t: -np.log(np.expm1(-2.5 * t) / math.expm1(-2.5)),
        right=lambda u, t: -u * 2.5 / np.expm1(2.5 * t),
        wrong=lambda u, t: -u * 2.5 / np.expm1(-2.5 * t),
        shows=at([0.3, 0.8]),
        unnoticed="The function itself has the minus in the exponent, but its derivative does not.",
        domain=between_0_and_1,
    ),
    Wild(
        "openturns/pareto",
        Source("openturns/openturns commit 22c4413", 2026, "7 years"),
        f=lambda p: 1 - (p[0] / (5.0 - p[2])) ** p[1],
        right=lambda u, p: u * pareto_slopes(p, -((p[0] / (5.0 - p[2])) ** p[1])),
        wrong=pareto_with_minus_inside,
        shows=at([1.5, 2.0, 0.5]),
        hides=at([1.5, 3.0, 0.5]),
        unnoticed="Right for odd exponents; the sign is wrong for even ones; otherwise it is NaN.",
        looks="single-entries",
        domain=lambda p: (np.array([np.exp(p[0] / 2), np.exp(p[1]), -np.abs(p[2])]),),
    ),
    Wild(
        "openturns/triangular",
        Source("openturns/openturns commit 3eaf873", 2024, "at least 9 years"),
        f=lambda p: (0.4 - p[0]) ** 2 / ((p[2] - p[0]) * (p[1] - p[0])),
        right=lambda u, p: u * triangular_slopes(p),
        wrong=triangular_last_one_short,
        shows=at([0.0, 0.5, 2.0]),
        hides=at([0.0, 0.5, 0.8]),
        unnoticed="A derivative with respect to a parameter, which only fitting needs.",
        looks="single-entries",
        domain=lambda p: (np.array([-np.exp(p[0]), 0.5, 0.5 + np.exp(p[2])]),),
    ),
    Wild(
        "stan/negative-binomial-cdf",
        Source("stan-dev/math issue 1662", 2020, "7 years"),
        f=lambda a, n: sum(np.log(sum(cdf_term(k, a) for k in range(m + 1))) for m in n),
        right=lambda u, a, n: (u * sum(log_cdf_slope(m, a) for m in n), None),
        wrong=lambda u, a, n: (u * len(n) * log_cdf_slope(n[0], a), None),
        shows=at(1.7, [1, 4, 2]),
        hides=at(1.7, [2, 2, 2]),
        unnoticed="The numbers of the first observation were used for all.",
        looks="factor",
        domain=lambda a, n: (np.exp(a), n),
    ),
    Wild(
        "distributions.jl/logit-normal",
        Source("JuliaStats/Distributions.jl issue 1221", 2020, "19 months"),
        f=logit_normal,
        right=logit_normal_vjp,
        wrong=lambda u, x: -u * (np.log(x) - 0.5) / (0.64 + 1) * x * (1 - x),
        shows=at([0.3, 0.8]),
        unnoticed="A comment next to it said that it should be checked.",
        domain=between_0_and_1,
    ),
    Wild(
        "hips/complex-norm",
        Source("HIPS/autograd pull 705", 2025, "9 years"),
        f=lambda z: np.sqrt((z.real**2 + z.imag**2).sum()),
        right=lambda u, z: u * z / np.linalg.norm(z),
        wrong=lambda u, z: u * z.conj() / np.linalg.norm(z),
        shows=at([0.6 + 0.8j, -1.0 + 0.5j]),
        hides=at([0.6 + 0j, -1.0 + 0j]),
        unnoticed="Right for real numbers.",
        looks="conjugate",
    ),
    Wild(
        "chainrules/arcsecant",
        Source("JuliaDiff/ChainRules.jl issue 86", 2019, "9 months"),
        f=lambda z: np.arccos(1 / z),
        right=lambda u, z: u * np.conj(1 / (z * z * np.sqrt(1 - 1 / z**2))),
        wrong=lambda u, z: u * np.conj(1 / (np.abs(z) * np.sqrt(z * z - 1))),
        shows=at([1.6 - 0.8j, 1.2 + 0.5j]),
        hides=at([1.6 + 0j]),
        unnoticed="The formula of the tables is simplified with |x|, for real numbers.",
    ),
    Wild(
        "chainrules/determinant",
        Source("JuliaDiff/ChainRules.jl pull 601", 2022, "2 years"),
        f=np.linalg.det,
        right=lambda u, Z: determinant_vjp(u, Z, np.conj(np.linalg.det(Z))),
        wrong=lambda u, Z: determinant_vjp(u, Z, np.linalg.det(Z)),
        shows=at([[1.0 + 0.5j, 0.3], [-0.2j, 2.0 - 0.4j]]),
        hides=at([[1.0 + 0j, 0.3], [-0.2, 2.0]]),
        unnoticed="Right for a determinant that is real.",
        looks="factor",
    ),
)
