"""Special points: zero, one, a tie of indices, a very large number."""

import math
from typing import Any

import numpy as np

from ..case import Array
from .entry import Source, Wild, at


def bessel_terms(x: Array) -> Any:
    """Terms of I0: (x^2/4)^k / k!^2."""
    k = np.arange(25)
    factorials = np.array([math.factorial(n) for n in k], dtype=float)
    return (np.expand_dims(x, -1) ** 2 / 4) ** k / factorials**2


def bessel_slope(x: Array) -> Any:
    """I1: the terms of I0 times x / 2 / (k + 1)."""
    return (bessel_terms(x) * np.expand_dims(x, -1) / 2 / np.arange(1, 26)).sum(axis=-1)


def products_without(x: Array) -> Any:
    """J[j, i] = the product of x[0], ..., x[j] without x[i]; 0 where i > j."""
    n = len(x)
    return np.array(
        [[np.prod(np.delete(x[: j + 1], i)) if i <= j else 0.0 for i in range(n)] for j in range(n)]
    )


def cumprod_by_division(u: Any, x: Array) -> Any:
    sums = np.cumsum((u * np.cumprod(x))[::-1])[::-1]
    return np.divide(sums, x, out=np.zeros_like(x), where=x != 0)  # wrong: 0 / 0 is not 0


def power_slope(x: Array, n: Array) -> Any:
    return n * x ** np.maximum(n - 1, 0)


def laplace_score(u: Any, used_as_loc: Array, loc: Array, log_b: Array) -> tuple[Any, Any]:
    """Slopes of the loss at 0.3, with a location that may be the wrong one."""
    off = used_as_loc - 0.3
    return u * np.sign(off) * np.exp(-log_b), u * (1 - np.abs(off) * np.exp(-log_b))


A32 = np.array([[1.0, 2.0, 0.5], [-1.0, 0.3, 1.0]])

SPECIAL_POINTS = (
    Wild(
        "jax/i0",
        Source("jax-ml/jax issue 11479", 2022, "3 years"),
        f=lambda x: bessel_terms(x).sum(axis=-1),
        right=lambda u, x: u * bessel_slope(x),
        wrong=lambda u, x: u * np.where(x == 0, 1.0, bessel_slope(x)),
        shows=at([0.0, 0.5, -1.2]),
        hides=at([0.7, 0.5, -1.2]),
        unnoticed="Computed as exp(|x|) times another function, it has a kink at 0 that cancels.",
        looks="single-entries",
    ),
    Wild(
        "jax/power",
        Source("jax-ml/jax commit 6fe5731", 2023, "4 months"),
        f=lambda x, n: x**n,
        right=lambda u, x, n: (u * power_slope(x, n), None),
        wrong=lambda u, x, n: (u * np.where(n == 0, 1.0, power_slope(x, n)), None),
        shows=at([0.7, -1.4, 2.0], [2, 0, 3]),
        hides=at([0.7, -1.4, 2.0], [2, 1, 3]),
        unnoticed="Few need x ** 0; the bug came with a correction of the derivative at x = 0.",
        looks="single-entries",
    ),
    Wild(
        "tensorflow/cumprod",
        Source("tensorflow/tensorflow issue 119430", 2026, "at least 2 years"),
        f=np.cumprod,
        right=lambda u, x: u @ products_without(x),
        wrong=cumprod_by_division,
        shows=at([2.0, 3.0, 0.0, 1.5]),
        hides=at([2.0, 3.0, 0.5, 1.5]),
        unnoticed="It was NaN where x is 0; the NaN became a zero, which nobody notices.",
        looks="single-entries",
    ),
    Wild(
        "enzyme/matrix-product",
        Source("EnzymeAD/Enzyme.jl issue 445", 2022),
        f=lambda x: A32 @ x,
        right=lambda u, x: u @ A32,
        wrong=lambda u, x: (u @ A32) * (x != 0),
        shows=at([0.0, 0.4, 0.0]),
        hides=at([0.3, 0.4, -0.2]),
        unnoticed="The product skips the zeros of x to save time, and its derivative did, too.",
        looks="mask",
    ),
    Wild(
        "stan/log-sum-exp",
        Source("stan-dev/math issue 1679", 2020, "8 years"),
        f=lambda x: x + math.log(2),  # log(exp(x) + exp(x))
        right=lambda u, x: u * np.ones_like(x),
        wrong=lambda u, x: u * 2 * np.exp(x - (x + math.log(2))),
        shows=at(1e50),
        hides=at(1.0),
        unnoticed="Beside a large number log 2 is negligible; up to 1e10 six digits are right.",
        looks="factor",
    ),
    Wild(
        "hips/normal-cdf",
        Source("HIPS/autograd commit 155f0bf", 2018, "6 months"),
        f=lambda x: np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)) / 2,
        right=lambda u, x: u * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi),
        wrong=lambda u, x: u * np.exp(-((x + 1) ** 2) / 2) / math.sqrt(2 * math.pi),
        shows=at([0.3, -1.2]),
        hides=at([-0.5]),
        unnoticed="The default mean was -1 instead of 0: right if you give the mean.",
    ),
    Wild(
        "ngboost/laplace",
        Source("stanfordmlgroup/ngboost issue 177", 2020, "7 months"),
        f=lambda loc, log_b: np.abs(0.3 - loc) * np.exp(-log_b) + log_b,
        right=lambda u, loc, log_b: laplace_score(u, loc, loc, log_b),
        wrong=lambda u, loc, log_b: laplace_score(u, log_b, loc, log_b),
        shows=at(1.0, -0.5),
        hides=at(0.4, 0.4),
        unnoticed="One parameter's name in place of the other's; where both are 0 it is right.",
        looks="factor",
    ),
    Wild(
        "theano/arange",
        Source("Theano/Theano commit 06b78be", 2017, "5 years"),
        f=lambda start, step: start + step * np.arange(4),
        right=lambda u, start, step: (u.sum(), (u * np.arange(4)).sum()),
        wrong=lambda u, start, step: (0 * start, 0 * step),
        shows=at(0.5, 1.5),
        unnoticed="People think that bounds are whole numbers, with derivatives of 0.",
        looks="zero",
    ),
    Wild(
        "hips/nan-to-num",
        Source("HIPS/autograd commit afea209", 2016, "11 months"),
        f=lambda x: 1.0 * x,  # of finite numbers it changes none
        right=lambda u, x: u,
        wrong=lambda u, x: 0 * u,
        shows=at([0.5, -1.0]),
        unnoticed="It stood in a list of functions that are constant almost everywhere.",
        looks="zero",
    ),
    Wild(
        "chainrules/complex-sign",
        Source("JuliaDiff/ChainRules.jl pull 211", 2020, "at least 10 months"),
        f=lambda z: z / np.abs(z),
        right=lambda u, z: u / np.abs(z) - z * np.real(np.conj(u) * z) / np.abs(z) ** 3,
        wrong=lambda u, z: 0 * u,
        shows=at([0.6 + 0.8j, -1.0 + 0.5j]),
        unnoticed="The sign of a real number is constant; that of a complex one is a direction.",
        looks="zero",
    ),
    Wild(
        "torch/constant",
        Source("pytorch/pytorch issue 80839", 2022),
        f=lambda x: 0 * x,
        right=lambda u, x: 0 * u,
        wrong=lambda u, x: u,
        shows=at([0.5, -1.0]),
        unnoticed="It overwrites x with a constant, and few need the derivative of the old x.",
    ),
    Wild(
        "casadi/second-input",
        Source("casadi/casadi issue 2597", 2020, "20 months"),
        f=lambda x, u: x + np.append(u, 0.0),
        right=lambda up, x, u: (up, up[:2]),
        wrong=lambda up, x, u: (up, 0 * up[:2]),
        shows=at([0.1, 0.2, 0.3], [0.5, -0.4]),
        unnoticed="There were two functions for one Jacobian, and the older one was right.",
        looks="zero",
    ),
)
