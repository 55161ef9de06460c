"""The chain rule: an upstream gradient, an inner derivative or a term is left out."""

import math
from typing import Any

import numpy as np

from ..case import Array
from .entry import Source, Wild, at, between_0_and_1, positive, softmax


def batch_norm(X: Array) -> Any:
    return (X - X.mean(axis=0)) / np.sqrt(((X - X.mean(axis=0)) ** 2).mean(axis=0))


def batch_norm_vjp(u: Any, X: Array) -> Any:
    y, std = batch_norm(X), X.std(axis=0)
    return (u - u.mean(axis=0) - y * (u * y).mean(axis=0)) / std


def rms_norm(x: Array) -> Any:
    return x / np.sqrt(np.mean(x * x))


def rms_norm_vjp(u: Any, x: Array) -> Any:
    r = 1 / np.sqrt(np.mean(x * x))
    return u * r - r**3 * x * np.mean(u * x)


def rms_weight_twice(u: Any, x: Array, w: Array) -> tuple[Any, Any]:
    r = 1 / np.sqrt(np.mean(x * x))
    return u * w * r - w * r**3 * x * np.mean(u * w * x), u * x * r  # wrong: w * r**3


def pre_norm_vjp(u: Any, x: Array, residual: Array) -> tuple[Any, Any]:
    g = u[1] + rms_norm_vjp(u[0], x + residual)
    return g, g


def pre_norm_all_through_the_norm(u: Any, x: Array, residual: Array) -> tuple[Any, Any]:
    g = rms_norm_vjp(u[0] + u[1], x + residual)  # wrong: u[1] goes around the norm
    return g, g


def two_frames(log_p: Array) -> Any:
    """Minus the log probability of one label in two frames; column 0 is the blank."""
    (b0, a0), (b1, a1) = np.exp(log_p)
    return -np.log(b0 * a1 + a0 * b1 + a0 * a1)


def occupancy(log_p: Array) -> Any:
    (b0, a0), (b1, a1) = np.exp(log_p)
    paths = np.array([[b0 * a1, a0 * b1 + a0 * a1], [a0 * b1, b0 * a1 + a0 * a1]])
    return paths / (b0 * a1 + a0 * b1 + a0 * a1)


SCHOOLS, SPREAD = np.array([2.8, 0.8, -0.3]), np.array([1.5, 1.0, 1.6])


def eight_schools(mu: Array, tau: Array, theta: Array) -> Any:
    f = -(mu**2) / 50 - np.log(1 + tau**2 / 25) - theta.size * np.log(tau)
    f = f - ((theta - mu) ** 2).sum() / (2 * tau**2)
    return f - ((SCHOOLS - theta) ** 2 / (2 * SPREAD**2)).sum()


def eight_schools_vjp(u: Any, mu: Array, tau: Array, theta: Array) -> tuple[Any, Any, Any]:
    off = theta - mu
    d_tau = -2 * tau / (25 + tau**2) - theta.size / tau + (off**2).sum() / tau**3
    d_theta = -off / tau**2 + (SCHOOLS - theta) / SPREAD**2
    return u * (-mu / 25 + off.sum() / tau**2), u * d_tau, u * d_theta


def eight_schools_term_missing(u: Any, mu: Array, *rest: Array) -> tuple[Any, Any, Any]:
    return (-u * mu / 25, *eight_schools_vjp(u, mu, *rest)[1:])


SAID, OBSERVED = np.array([2.0, 3.0]), np.array([2.5, 2.2])


def noise_share(eta: Array, slope: Any) -> Any:
    """Differentiate the log-likelihood, given the derivative of SAID**eta."""
    s, e = 0.4 + 0.3 * SAID**eta, OBSERVED - SAID
    return ((e**2 / s**3 - 1 / s) * 0.3 * slope).sum()


def noise_log_likelihood(eta: Array) -> Any:
    s = 0.4 + 0.3 * SAID**eta
    return -(np.log(s) + (OBSERVED - SAID) ** 2 / (2 * s**2)).sum()


def huber_slope(x: Array) -> Any:
    return np.clip(x - 0.2, -1, 1)


def log_of_base(base: Array, x: Array) -> tuple[Any, Any]:
    return -np.log(x) / (base * np.log(base) ** 2), 1 / (x * np.log(base))


RATES = np.array([0.5, 2.0])


def zero_counts_slope(log_alpha: Array) -> Any:
    a = np.exp(log_alpha)
    return (np.log(1 + a * RATES) / a**2 - RATES / (a * (1 + a * RATES))).sum()


DATA = np.array([[1.0, 0.2], [1.0, -0.7], [1.0, 1.5]])
SHARES = np.array([0.5, 0.25, 1.0])


def binomial_log_likelihood(beta: Array, trials: Array) -> Any:
    p = 1 / (1 + np.exp(-DATA @ beta))
    return (trials * (SHARES * np.log(p) + (1 - SHARES) * np.log(1 - p))).sum()


def binomial_score(beta: Array, weights: Any) -> Any:
    return DATA.T @ (weights * (SHARES - 1 / (1 + np.exp(-DATA @ beta))))


def hamming(u: Any, theta: Array) -> Any:
    kernel = np.exp(-np.exp(theta[0]) - np.exp(theta[2]))
    return -u * kernel * np.array([1.0, 0.0, 1.0])


THE_CHAIN_RULE = (
    Wild(
        "chainer/huber-loss",
        Source("chainer/chainer issue 1175", 2016, "1 month"),
        f=lambda x: np.where(np.abs(x - 0.2) < 1, 0.5 * (x - 0.2) ** 2, np.abs(x - 0.2) - 0.5).sum(
            axis=1
        ),
        right=lambda u, x: u[:, None] * huber_slope(x),
        wrong=lambda u, x: huber_slope(x),
        shows=at([[0.5, 2.0], [-1.5, 0.1]]),
        unnoticed="A loss is the last function, and there the upstream gradient is 1.",
    ),
    Wild(
        "k2/total-score",
        Source("k2-fsa/k2 issue 341", 2020, "10 days"),
        f=lambda s: np.log(np.exp(s).sum(axis=1)),
        right=lambda u, s: u[:, None] * softmax(s),
        wrong=lambda u, s: softmax(s),
        shows=at([[0.1, -0.4, 0.9], [1.2, 0.3, -0.5]]),
        unnoticed="With an upstream gradient of 1 it is right; in training it was -1.",
    ),
    Wild(
        "nd4j/softplus",
        Source("deeplearning4j/nd4j issue 2410", 2017, "at least 2 months"),
        f=lambda x: np.log1p(np.exp(x)),
        right=lambda u, x: u / (1 + np.exp(-x)),
        wrong=lambda u, x: 1 / (1 + np.exp(-x)),
        shows=at([0.4, -1.3]),
        unnoticed="Some functions took the upstream gradient as an argument, but this one did not.",
    ),
    Wild(
        "autograd.jl/log-to-a-base",
        Source("denizyuret/AutoGrad.jl commit 85309b1", 2016, "1 month"),
        f=lambda base, x: np.log(x) / np.log(base),
        right=lambda u, base, x: tuple(u * slope for slope in log_of_base(base, x)),
        wrong=lambda u, base, x: log_of_base(base, x),
        shows=at([2.0, 3.0], [0.5, 1.7]),
        unnoticed="A macro multiplies by the upstream gradient, unless a rule names it.",
        domain=positive,
    ),
    Wild(
        "autodiff/asin",
        Source("autodiff/autodiff commit b5e04df", 2022, "2 years"),
        f=lambda x: np.arcsin(x**2 / 2),
        right=lambda u, x: u * x / np.sqrt(1 - x**4 / 4),
        wrong=lambda u, x: u / np.sqrt(1 - x**4 / 4),
        shows=at([0.5, -0.8]),
        hides=at([1.0]),
        unnoticed="Right for asin(x), which a test uses: the inner derivative is 1.",
        domain=between_0_and_1,
    ),
    Wild(
        "autodiff/asinh",
        Source("autodiff/autodiff issue 395", 2026, "6 years, open"),
        f=lambda x: np.arcsinh(np.tan(x)),
        right=lambda u, x: u / np.cos(x),
        wrong=lambda u, x: u * np.cos(x),
        shows=at([1.0, -0.4]),
        hides=at([0.0]),
        unnoticed="Right for asinh(x); three of six inverse functions were corrected.",
        domain=between_0_and_1,
    ),
    Wild(
        "autodiff/hypot-second",
        Source("autodiff/autodiff issue 243", 2022, "13 months"),
        f=lambda x, y: x / np.sqrt(x**2 + y**2),
        right=lambda u, x, y: (u * y**2 / (x**2 + y**2) ** 1.5, -u * x * y / (x**2 + y**2) ** 1.5),
        wrong=lambda u, x, y: (u / np.sqrt(x**2 + y**2), 0 * u),
        shows=at(1.0, 1.0),
        hides=at(0.0, 1.0),
        unnoticed="The first derivative, x / hypot, is right; hypot was kept as a number in it.",
    ),
    Wild(
        "calculus.jl/quotient",
        Source("JuliaMath/Calculus.jl pull 13", 2013, "3 months"),
        f=lambda x: 3 / (1 + x**2),
        right=lambda u, x: -u * 6 * x / (1 + x**2) ** 2,
        wrong=lambda u, x: -u * 6 * x,
        shows=at([0.8, -1.5]),
        hides=at([0.0]),
        unnoticed="Only a constant numerator shows it: a shorter rule, without the division.",
    ),
    Wild(
        "openturns/parameter-set",
        Source("openturns/openturns issue 3233", 2026, "8 years"),
        f=lambda x: np.sin(2.0 * x),
        right=lambda u, x: u * 2.0 * np.cos(2.0 * x),
        wrong=lambda u, x: u * 0.5 * np.cos(0.5 * x),
        shows=at([0.3, 1.1]),
        unnoticed="Setting a parameter changed the function, and its gradient kept the old value.",
    ),
    Wild(
        "crypten/batch-norm",
        Source("facebookresearch/CrypTen pull 143", 2020, "8 months"),
        f=batch_norm,
        right=batch_norm_vjp,
        wrong=lambda u, X: u / X.std(axis=0),
        shows=at([[0.5, 1.0], [-1.2, 0.3], [0.4, -0.8], [1.5, 0.1]]),
        unnoticed="The test did not pass on the flag for training: it compared the other mode.",
    ),
    Wild(
        "megatron/rms-norm",
        Source("NVIDIA/Megatron-LM pull 6859", 2026, "since it was written, open"),
        f=lambda x, w: rms_norm(x) * w,
        right=lambda u, x, w: (rms_norm_vjp(u * w, x), u * rms_norm(x)),
        wrong=rms_weight_twice,
        shows=at([0.5, -1.0, 2.0], [0.8, 1.5, -0.4]),
        hides=at([0.5, -1.0, 2.0], [1.0, 1.0, 1.0]),
        unnoticed="A new layer has weights of 1.",
    ),
    Wild(
        "quack/pre-norm",
        Source("Dao-AILab/quack pull 53", 2025, "1 month"),
        f=lambda x, residual: (rms_norm(x + residual), x + residual),
        right=pre_norm_vjp,
        wrong=pre_norm_all_through_the_norm,
        shows=at([0.5, -1.0, 2.0], [0.2, 0.3, -0.6]),
        unnoticed="Right unless somebody uses the second output, the residual, too.",
    ),
    Wild(
        "mlpack/log-softmax",
        Source("mlpack/mlpack issue 2360", 2020, "at least 3 years"),
        f=lambda x: x - np.log(np.exp(x).sum()),
        right=lambda u, x: u - softmax(x) * u.sum(),
        wrong=lambda u, x: u + softmax(x),
        shows=at([0.1, 0.9, -0.4]),
        unnoticed="Right if the upstream gradient adds up to -1, like that of a cross-entropy.",
    ),
    Wild(
        "torch/ctc-loss",
        Source("pytorch/pytorch issue 52241", 2021, "open"),
        f=two_frames,
        right=lambda u, log_p: -u * occupancy(log_p),
        wrong=lambda u, log_p: u * (np.exp(log_p) - occupancy(log_p)),
        shows=at([[-0.9, -0.5], [-0.3, -1.4]]),
        unnoticed="A log-softmax before it removes the surplus, and usually there is one.",
    ),
    Wild(
        "pints/eight-schools",
        Source("pints-team/pints issue 1136", 2020, "2 months"),
        f=eight_schools,
        right=eight_schools_vjp,
        wrong=eight_schools_term_missing,
        shows=at(1.0, 2.0, [3.0, 4.0, 5.0]),
        hides=at(1.0, 1.0, [1.0, 1.0, 1.0]),
        unnoticed="The test put 1 for every parameter, and there the missing term is 0.",
        looks="factor",
        domain=lambda mu, tau, theta: (mu, np.exp(tau), theta),
    ),
    Wild(
        "pints/noise-exponent",
        Source("pints-team/pints commit 4876da2", 2020, "8 days"),
        f=noise_log_likelihood,
        right=lambda u, eta: u * noise_share(eta, SAID**eta * np.log(SAID)),
        wrong=lambda u, eta: u * noise_share(eta, eta * SAID ** (eta - 1)),
        shows=at(1.2),
        unnoticed="The rule for a power of a variable, written for a variable power, runs as well.",
        looks="factor",
    ),
    Wild(
        "tensorflow.net/squared-difference",
        Source("SciSharp/TensorFlow.NET issue 787", 2021, "at least 2 months"),
        f=lambda x, y: (x - y) ** 2,
        right=lambda u, x, y: (u * 2 * (x - y), -u * 2 * (x - y)),
        wrong=lambda u, x, y: (x, y),
        shows=at([0.5, -1.0], [2.0, 0.3]),
        unnoticed="A placeholder was released: it returns the inputs, and their shapes are right.",
    ),
    Wild(
        "mxnet/quadratic",
        Source("apache/mxnet issue 16938", 2019, "open"),
        f=lambda x: 2 * x**2 + 3 * x + 1,
        right=lambda u, x: u * (4 * x + 3),
        wrong=lambda u, x: 2 * u**2 + 3 * u + 1,
        shows=at([0.5, -1.5]),
        unnoticed="The backward pass calls the forward one, for sparse arrays only.",
    ),
    Wild(
        "tt-metal/rpow",
        Source("tenstorrent/tt-metal issue 55289", 2026, "2 years"),
        f=lambda x: 3.0**x,
        right=lambda u, x: u * math.log(3.0) * 3.0**x,
        wrong=lambda u, x: u * 3.0 * np.where(x < 0, np.nan, x) ** 2.0,
        shows=at([0.5, 2.0]),
        unnoticed="The reference of the test differentiated the same wrong function, x ** 3.",
        domain=positive,
    ),
    Wild(
        "statsmodels/cdf-link",
        Source("statsmodels/statsmodels pull 299", 2012, "4 years"),
        f=lambda p: np.tan(math.pi * (p - 0.5)),
        right=lambda u, p: u * math.pi * (1 + np.tan(math.pi * (p - 0.5)) ** 2),
        wrong=lambda u, p: u * math.pi * (1 + p**2),
        shows=at([0.2, 0.7]),
        unnoticed="A comment next to it asked somebody to make sure that it is correct.",
        domain=between_0_and_1,
    ),
    Wild(
        "statsmodels/log-dispersion",
        Source("statsmodels/statsmodels commit ae31b76", 2014, "11 months"),
        f=lambda log_alpha: -(np.log(1 + np.exp(log_alpha) * RATES) / np.exp(log_alpha)).sum(),
        right=lambda u, log_alpha: u * np.exp(log_alpha) * zero_counts_slope(log_alpha),
        wrong=lambda u, log_alpha: u * zero_counts_slope(log_alpha),
        shows=at(0.7),
        hides=at(0.0),
        unnoticed="The parameter became the logarithm of another, but its derivative stayed.",
        looks="factor",
    ),
    Wild(
        "scikit-optimize/hamming",
        Source("scikit-optimize/scikit-optimize issue 330", 2017, "1 month"),
        f=lambda theta: np.exp(-np.exp(theta[0]) - np.exp(theta[2])),
        right=lambda u, theta: hamming(u, theta) * np.exp(theta),
        wrong=lambda u, theta: hamming(u, theta),
        shows=at([0.5, -0.3, -0.8]),
        hides=at([0.0, 0.0, 0.0]),
        unnoticed="The test used the default length scale, 1, whose logarithm is 0.",
    ),
    Wild(
        "statsmodels/binomial-score",
        Source("statsmodels/statsmodels commit b37ed1d", 2018, "2 years"),
        f=binomial_log_likelihood,
        right=lambda u, beta, trials: (u * binomial_score(beta, trials), None),
        wrong=lambda u, beta, trials: (u * binomial_score(beta, 1), None),
        shows=at([0.3, -0.5], [4, 8, 2]),
        hides=at([0.3, -0.5], [1, 1, 1]),
        unnoticed="Right for one trial in each row: yes-or-no data.",
    ),
    Wild(
        "statsmodels/binomial-variance",
        Source("statsmodels/statsmodels commit 22272f7", 2026, "10 years"),
        f=lambda mu, n: mu * (1 - mu / n),
        right=lambda u, mu, n: (u * (1 - 2 * mu / n), None),
        wrong=lambda u, mu, n: (u * (1 - 2 * mu), None),
        shows=at([0.4, 2.5], [4, 6]),
        hides=at([0.4, 0.7], [1, 1]),
        unnoticed="Right for one trial, n = 1: the yes-or-no data that people try first.",
    ),
    Wild(
        "exponentialfamily/normal",
        Source("ReactiveBayes/ExponentialFamily.jl issue 315", 2026, "2 years 9 months"),
        f=lambda p: p[0] ** 2 / (2 * p[1]) + np.log(p[1]) / 2,
        right=lambda u, p: (
            u * np.array([p[0] / p[1], 1 / (2 * p[1]) - p[0] ** 2 / (2 * p[1] ** 2)])
        ),
        wrong=lambda u, p: u * np.array([p[0] / p[1], 1 / p[1] - p[0] ** 2 / (2 * p[1] ** 2)]),
        shows=at([0.6, 1.7]),
        unnoticed="The tests asked for the gradient in another set of parameters.",
        domain=lambda p: (np.array([p[0], np.exp(p[1])]),),
    ),
    Wild(
        "paddle/shared-layer",
        Source("PaddlePaddle/Paddle issue 43645", 2022),
        f=lambda w: w * np.array([1.0, 3.0]) + 2 * w * np.array([2.0, -1.0]),
        right=lambda u, w: u * np.array([5.0, 1.0]),
        wrong=lambda u, w: u * np.array([4.0, -2.0]),
        shows=at([0.5, -1.2]),
        unnoticed="A layer that is used once is right; the second of two uses overwrote the first.",
    ),
    Wild(
        "candle/upsample",
        Source("huggingface/candle pull 3507", 2026, "open"),
        f=lambda x: (np.repeat(x, 2), x**2),
        right=lambda u, x: u[0].reshape(-1, 2).sum(axis=1) + 2 * x * u[1],
        wrong=lambda u, x: u[0].reshape(-1, 2).sum(axis=1),
        shows=at([0.5, -1.2, 0.9]),
        hides=at([0.0, 0.0]),
        unnoticed="It sets the gradient where others add to it: right if nothing else uses x.",
        looks="mask",
    ),
)
