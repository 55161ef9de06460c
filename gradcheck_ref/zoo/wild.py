"""Wrong derivatives that were released: a museum.

Each was shipped by a library and reported or corrected in its tracker. Here it is reduced to NumPy:
the function, the right derivative, the wrong one as it was, a point that shows the difference, and,
where there is one, a point that hides it. `Wild.case` gives a bug the shape of the rest of the zoo,
so that what judges the zoo judges these too. The facts come from the trackers, the code does not.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .case import Array, Bug, Case


class Source(NamedTuple):
    """Where a wrong derivative is told of.

    Attributes
    ----------
    where : str
        The project, as GitHub spells it, and the number of the issue, pull request or commit.
    year : int
        When it was reported or corrected.
    lived : str
        How long it was in the code, as far as the tracker or the history tells; else empty.
    """

    where: str
    year: int
    lived: str = ""


@dataclass(frozen=True)
class Wild:
    """A wrong derivative that a library released.

    Attributes
    ----------
    id : str
        Unique and stable: ``"<library>/<function>"``.
    source : Source
        Where it is told of, when, and how long it lived.
    f, right, wrong : callable
        The function, its right ``vjp(upstream, *inputs)`` and the wrong one.
    shows : tuple of ndarray
        A point where they differ. Integer inputs are constants.
    unnoticed : str
        Why nobody noticed, in a sentence.
    hides : tuple of ndarray or None
        A point where they agree, if there is one.
    looks : str
        What it looks like at the point that shows it: a word of ``gradcheck_ref.zoo``.
    domain : callable or None
        Makes any real numbers, given as inputs, a point that the function accepts.
    """

    id: str
    source: Source
    f: Callable[..., Any]
    right: Callable[..., Any]
    wrong: Callable[..., Any]
    shows: tuple[Array, ...]
    unnoticed: str
    hides: tuple[Array, ...] | None = None
    looks: str = "unknown"
    domain: Callable[..., tuple[Array, ...]] | None = None

    def case(self, inputs: tuple[Array, ...]) -> Case:
        """Return the function at a point, with its one bug."""
        bug = Bug(self.id, "wild", self.wrong, self.unnoticed, self.looks)
        return Case(self.id, self.f, inputs, self.right, frozenset({"wild"}), (bug,))

    def ordinary(self, seed: int) -> tuple[Array, ...]:
        """Draw a point as a test would: standard normal numbers in the same shapes.

        Integers are those of the point that hides the bug, where there is one.
        """
        rng = np.random.default_rng((seed, 1))  # not those of the weights that a judge draws
        point = tuple(
            (self.hides or self.shows)[k] if x.dtype.kind in "iu" else _normal(rng, x)
            for k, x in enumerate(self.shows)
        )
        return self.domain(*point) if self.domain else point


def _normal(rng: np.random.Generator, like: Array) -> Array:
    numbers = rng.normal(size=like.shape)
    return np.asarray(
        numbers + 1j * rng.normal(size=like.shape) if np.iscomplexobj(like) else numbers
    )


def at(*inputs: Any) -> tuple[Array, ...]:
    """Write a point."""
    return tuple(np.asarray(x) for x in inputs)


def positive(*inputs: Array) -> tuple[Array, ...]:
    """Map real numbers to positive ones."""
    return tuple(np.exp(x) for x in inputs)


def between_0_and_1(*inputs: Array) -> tuple[Array, ...]:
    """Map real numbers to probabilities."""
    return tuple(1 / (1 + np.exp(-x)) for x in inputs)


def softmax(x: Array) -> Any:
    """Share of each entry of the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# Signs and factors.

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
        unnoticed="The derivative of cos has a minus, that of cosh has none; at 0 both are 0.",
        looks="sign",
    ),
    Wild(
        "sympy/coth",
        Source("sympy/sympy pull 605", 2011),
        f=lambda x: 1 / np.tanh(x),
        right=lambda u, x: -u / np.sinh(x) ** 2,
        wrong=lambda u, x: u / np.sinh(x) ** 2,
        shows=at([0.4, -1.1]),
        unnoticed="Written as cosh / sinh it was differentiated rightly; few write coth.",
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
        unnoticed="The direction is right; and at distance 1 the length is, too.",
        looks="factor",
    ),
    Wild(
        "tensorflow.net/cube",
        Source("SciSharp/TensorFlow.NET issue 303", 2019),
        f=lambda x: 0.1 * x * x * x,
        right=lambda u, x: u * 0.3 * x**2,
        wrong=lambda u, x: u * 0.1 * x**2,
        shows=at([7.0, -2.0]),
        unnoticed="x is used three times and followed back once; the sign is right.",
        looks="factor",
    ),
    Wild(
        "torch/compiled-addition",
        Source("pytorch/pytorch issue 136662", 2024, "open"),
        f=lambda x: 2 * np.abs(x),
        right=lambda u, x: u * 2 * np.sign(x),
        wrong=lambda u, x: u * np.sign(x),
        shows=at([0.7, -1.3]),
        unnoticed="Of two additions in place one is lost, and only where grad is compiled.",
        looks="factor",
    ),
    Wild(
        "openturns/absolute-exponential",
        Source("openturns/openturns commit c8eabd5", 2016, "1 year"),
        f=lambda s: 4.0 * np.exp(-np.abs(s / SCALE).sum()),
        right=lambda u, s: -u * 4.0 * np.exp(-np.abs(s / SCALE).sum()) * np.sign(s) / SCALE,
        wrong=lambda u, s: u * 2.0 * np.exp(-np.abs(s / SCALE).sum()) * np.sign(s) / SCALE,
        shows=at([0.8, -0.5]),
        unnoticed="The amplitude became a standard deviation: it is squared in f, and not here.",
        looks="factor",
    ),
    Wild(
        "gpytorch/matern52-grad",
        Source("cornellius-gp/gpytorch issue 2563", 2024),
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
        Source("HIPS/autograd issue 401", 2018),
        f=lambda C: -0.5 * (OFF @ np.linalg.solve(C, OFF) + np.log(np.linalg.det(C))),
        right=lambda u, C: u * covariance_gradient(C),
        wrong=lambda u, C: -u * covariance_gradient(C),
        shows=at([[2.0, 0.3], [0.3, 1.0]]),
        unnoticed="A typing error in the test kept the covariance from being differentiated.",
        looks="sign",
        domain=lambda A: (A @ A.T + np.eye(2),),
    ),
)


# The chain rule: an upstream gradient, an inner derivative or a term is left out.


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
        Source("chainer/chainer issue 1175", 2016),
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
        Source("k2-fsa/k2 issue 341", 2020),
        f=lambda s: np.log(np.exp(s).sum(axis=1)),
        right=lambda u, s: u[:, None] * softmax(s),
        wrong=lambda u, s: softmax(s),
        shows=at([[0.1, -0.4, 0.9], [1.2, 0.3, -0.5]]),
        unnoticed="With an upstream gradient of 1 it is right; in training it was -1.",
    ),
    Wild(
        "nd4j/softplus",
        Source("deeplearning4j/nd4j issue 2410", 2017),
        f=lambda x: np.log1p(np.exp(x)),
        right=lambda u, x: u / (1 + np.exp(-x)),
        wrong=lambda u, x: 1 / (1 + np.exp(-x)),
        shows=at([0.4, -1.3]),
        unnoticed="Some functions took the upstream gradient as an argument, this one did not.",
    ),
    Wild(
        "autograd.jl/log-to-a-base",
        Source("denizyuret/AutoGrad.jl commit 85309b1", 2016, "1 month"),
        f=lambda base, x: np.log(x) / np.log(base),
        right=lambda u, base, x: tuple(u * slope for slope in log_of_base(base, x)),
        wrong=lambda u, base, x: log_of_base(base, x),
        shows=at([2.0, 3.0], [0.5, 1.7]),
        unnoticed="A macro multiplies by the upstream gradient, unless one asks for it by name.",
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
        unnoticed="Right for asin(x), which is what a test takes: the inner derivative is 1.",
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
        unnoticed="Right for asinh(x); of six inverse functions three were corrected.",
        domain=between_0_and_1,
    ),
    Wild(
        "autodiff/hypot-second",
        Source("autodiff/autodiff issue 243", 2022),
        f=lambda x, y: x / np.sqrt(x**2 + y**2),
        right=lambda u, x, y: (
            u * y**2 / (x**2 + y**2) ** 1.5,
            -u * x * y / (x**2 + y**2) ** 1.5,
        ),
        wrong=lambda u, x, y: (u / np.sqrt(x**2 + y**2), 0 * u),
        shows=at(1.0, 1.0),
        hides=at(0.0, 1.0),
        unnoticed="The first derivative, x / hypot, is right; hypot was kept as a number in it.",
    ),
    Wild(
        "calculus.jl/quotient",
        Source("JuliaMath/Calculus.jl pull 13", 2013),
        f=lambda x: 3 / (1 + x**2),
        right=lambda u, x: -u * 6 * x / (1 + x**2) ** 2,
        wrong=lambda u, x: -u * 6 * x,
        shows=at([0.8, -1.5]),
        hides=at([0.0]),
        unnoticed="Only where the numerator is a constant: a shorter rule, without the division.",
    ),
    Wild(
        "openturns/parameter-set",
        Source("openturns/openturns issue 3233", 2026),
        f=lambda x: np.sin(2.0 * x),
        right=lambda u, x: u * 2.0 * np.cos(2.0 * x),
        wrong=lambda u, x: u * 0.5 * np.cos(0.5 * x),
        shows=at([0.3, 1.1]),
        unnoticed="Setting a parameter changed the function, and its gradient kept the old value.",
    ),
    Wild(
        "crypten/batch-norm",
        Source("facebookresearch/CrypTen pull 143", 2020),
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
        Source("Dao-AILab/quack pull 53", 2025),
        f=lambda x, residual: (rms_norm(x + residual), x + residual),
        right=pre_norm_vjp,
        wrong=pre_norm_all_through_the_norm,
        shows=at([0.5, -1.0, 2.0], [0.2, 0.3, -0.6]),
        unnoticed="Right unless the second output, the residual, is used by somebody as well.",
    ),
    Wild(
        "mlpack/log-softmax",
        Source("mlpack/mlpack issue 2360", 2020),
        f=lambda x: x - np.log(np.exp(x).sum()),
        right=lambda u, x: u - softmax(x) * u.sum(),
        wrong=lambda u, x: u + softmax(x),
        shows=at([0.1, 0.9, -0.4]),
        unnoticed="Right if the upstream gradient adds up to -1, as that of a cross-entropy does.",
    ),
    Wild(
        "torch/ctc-loss",
        Source("pytorch/pytorch issue 52241", 2021, "open"),
        f=two_frames,
        right=lambda u, log_p: -u * occupancy(log_p),
        wrong=lambda u, log_p: u * (np.exp(log_p) - occupancy(log_p)),
        shows=at([[-0.9, -0.5], [-0.3, -1.4]]),
        unnoticed="A log-softmax before it takes away what is too much, and mostly there is one.",
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
        Source("pints-team/pints commit 4876da2", 2020),
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
        unnoticed="A place-holder was released: it returns the inputs, and their shapes are right.",
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
        unnoticed="A comment beside it asked to make sure that it is correct.",
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
        unnoticed="The parameter became the logarithm of another, and its derivative stayed.",
        looks="factor",
    ),
    Wild(
        "scikit-optimize/hamming",
        Source("scikit-optimize/scikit-optimize issue 330", 2017),
        f=lambda theta: np.exp(-np.exp(theta[0]) - np.exp(theta[2])),
        right=lambda u, theta: hamming(u, theta) * np.exp(theta),
        wrong=lambda u, theta: hamming(u, theta),
        shows=at([0.5, -0.3, -0.8]),
        hides=at([0.0, 0.0, 0.0]),
        unnoticed="The test took the default length scale, 1, of which the logarithm is 0.",
    ),
    Wild(
        "statsmodels/binomial-score",
        Source("statsmodels/statsmodels commit b37ed1d", 2018),
        f=binomial_log_likelihood,
        right=lambda u, beta, trials: (u * binomial_score(beta, trials), None),
        wrong=lambda u, beta, trials: (u * binomial_score(beta, 1), None),
        shows=at([0.3, -0.5], [4, 8, 2]),
        hides=at([0.3, -0.5], [1, 1, 1]),
        unnoticed="Right for one trial in each row: answers of yes and no.",
    ),
    Wild(
        "statsmodels/binomial-variance",
        Source("statsmodels/statsmodels commit 22272f7", 2026, "10 years"),
        f=lambda mu, n: mu * (1 - mu / n),
        right=lambda u, mu, n: (u * (1 - 2 * mu / n), None),
        wrong=lambda u, mu, n: (u * (1 - 2 * mu), None),
        shows=at([0.4, 2.5], [4, 6]),
        hides=at([0.4, 0.7], [1, 1]),
        unnoticed="Right for one trial, n = 1: the answers of yes and no that one tries first.",
    ),
    Wild(
        "exponentialfamily/normal",
        Source("ReactiveBayes/ExponentialFamily.jl issue 315", 2026),
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
        unnoticed="A layer that is used once is right; of two uses the last overwrote the first.",
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


# Special points: zero, one, a tie of indices, a very large number.


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
        Source("jax-ml/jax issue 11479", 2022),
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
        unnoticed="Nobody needs x ** 0; it came with a correction of the derivative at x = 0.",
        looks="single-entries",
    ),
    Wild(
        "tensorflow/cumprod",
        Source("tensorflow/tensorflow issue 119430", 2026),
        f=np.cumprod,
        right=lambda u, x: u @ products_without(x),
        wrong=cumprod_by_division,
        shows=at([2.0, 3.0, 0.0, 1.5]),
        hides=at([2.0, 3.0, 0.5, 1.5]),
        unnoticed="It was NaN where x is 0; the NaN was made a zero, which nobody sees.",
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
        Source("stan-dev/math issue 1679", 2020),
        f=lambda x: x + math.log(2),  # log(exp(x) + exp(x))
        right=lambda u, x: u * np.ones_like(x),
        wrong=lambda u, x: u * 2 * np.exp(x - (x + math.log(2))),
        shows=at(1e50),
        hides=at(1.0),
        unnoticed="Beside a large number log 2 is nothing; up to 1e10 six digits are right.",
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
        unnoticed="A default mean of -1 where it is 0: right for all who say where the mean is.",
    ),
    Wild(
        "ngboost/laplace",
        Source("stanfordmlgroup/ngboost issue 177", 2020),
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
        Source("Theano/Theano commit 06b78be", 2017),
        f=lambda start, step: start + step * np.arange(4),
        right=lambda u, start, step: (u.sum(), (u * np.arange(4)).sum()),
        wrong=lambda u, start, step: (0 * start, 0 * step),
        shows=at(0.5, 1.5),
        unnoticed="Bounds are whole numbers, one thinks, and their derivatives 0.",
        looks="zero",
    ),
    Wild(
        "hips/nan-to-num",
        Source("HIPS/autograd commit afea209", 2016),
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
        unnoticed="It writes a constant over x, and few ask for the derivative of what was there.",
    ),
    Wild(
        "casadi/second-input",
        Source("casadi/casadi issue 2597", 2020),
        f=lambda x, u: x + np.append(u, 0.0),
        right=lambda up, x, u: (up, up[:2]),
        wrong=lambda up, x, u: (up, 0 * up[:2]),
        shows=at([0.1, 0.2, 0.3], [0.5, -0.4]),
        unnoticed="Of two functions for one Jacobian the older one was right.",
        looks="zero",
    ),
)


# Branches: right on one side of a threshold, wrong on the other.


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
        Source("chalk-lab/Mooncake.jl issue 1195", 2026),
        f=np.copysign,
        right=lambda u, x, y: (u * np.sign(x) * np.sign(y), 0 * y),
        wrong=lambda u, x, y: (u * np.sign(y), 0 * y),
        shows=at([-5.0, 2.0, 0.7], [3.0, -1.0, 2.0]),
        hides=at([5.0, 2.0, 0.7], [3.0, -1.0, 2.0]),
        unnoticed="All tests have x > 0, where the sign that is missing is 1.",
        looks="single-entries",
    ),
    Wild(
        "autograd.jl/maximum-of-abs",
        Source("denizyuret/AutoGrad.jl commit d6927a3", 2017),
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
        unnoticed="Wrong beyond 3 only, and most numbers of a test are nearer to 0.",
        looks="single-entries",
    ),
    Wild(
        "stan/bernoulli-logit",
        Source("stan-dev/math pull 3370", 2026),
        f=log_bernoulli,
        right=lambda u, theta, n: (
            u * logit_slope(theta, n, (2 * n - 1) * np.exp(-np.abs(theta))),
            None,
        ),
        wrong=lambda u, theta, n: (u * logit_slope(theta, n, -np.exp(-np.abs(theta))), None),
        shows=at([25.0, 30.0], [1, 1]),
        hides=at([-25.0, 0.4], [0, 1]),
        unnoticed="Wrong beyond 20 only, and only for n = 1: there the slope is 2e-9 and less.",
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
        unnoticed="Right on both slopes, where one looks; the flat parts were forgotten.",
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
        Source("ReactiveBayes/ExponentialFamily.jl issue 315", 2026),
        f=lambda p: p[0] ** 2 / (2 * p[1] ** 2) + np.log(p[1]),
        right=lambda u, p: log_normal_vjp(u, p[0], p[0], p[1]),
        wrong=lambda u, p: log_normal_vjp(u, np.abs(p[0]), p[0], p[1]),
        shows=at([-0.6, 1.7]),
        hides=at([0.6, 1.7]),
        unnoticed="Right for positive means; and this set of parameters was not tested.",
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
        unnoticed="Bounds are constants, one thinks; and inside them they do nothing.",
        looks="zero",
        domain=lambda x, low, high: (x, -np.exp(low), np.exp(high)),
    ),
    Wild(
        "statsmodels/tukey-biweight",
        Source("statsmodels/statsmodels commit aa14cf0", 2009),
        f=lambda z: np.where(np.abs(z) < 4.685, z * (1 - (z / 4.685) ** 2) ** 2, 0.0),
        right=lambda u, z: u * np.where(np.abs(z) < 4.685, biweight_slope(z), 0.0),
        wrong=lambda u, z: u * biweight_slope(z),
        shows=at([0.5, 6.0, -1.2]),
        hides=at([0.5, 2.0, -1.2]),
        unnoticed="Right for all residuals but the outliers, for which the function was made.",
        looks="single-entries",
    ),
)


# Places: the right numbers where they do not belong.


def windows(x: Array) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, 3)


def pool_back(u: Any, x: Array) -> Any:
    grad = np.zeros_like(x)
    np.add.at(grad, np.arange(len(u)) + windows(x).argmax(axis=1), u)
    return grad


def pool_back_overwriting(u: Any, x: Array) -> Any:
    grad = np.zeros_like(x)
    for i, window in enumerate(windows(x)):
        grad[i + window.argmax()] = u[i]  # wrong: +=
    return grad


FILTER = np.array([0.5, -1.0])


def convolve_back(u: Any, x: Array) -> Any:
    return np.convolve(u, FILTER)


def convolve_back_into_another_channel(u: Any, x: Array) -> Any:
    grad = np.zeros_like(x)
    for d, value in enumerate(convolve_back(u, x)):
        grad[min(d, len(u) - 1)] = value  # wrong: grad[d]
    return grad


def gathered_back(u: Any, x: Array, index: Array) -> tuple[Any, None]:
    grad = np.zeros_like(x)
    np.add.at(grad, index, u)
    return grad, None


def gathered_back_overwriting(u: Any, x: Array, index: Array) -> tuple[Any, None]:
    grad = np.zeros_like(x)
    grad[index] = u  # wrong for an index that comes twice
    return grad, None


def weibull_pdf(p: Array) -> Any:
    z = 2.0 - p[2]
    return p[1] / z * (z / p[0]) ** p[1] * np.exp(-((z / p[0]) ** p[1]))


def weibull_slopes(p: Array) -> Any:
    scale, shape, z = p[0], p[1], 2.0 - p[2]
    w = (z / scale) ** shape
    d_shape, d_scale = 1 + (1 - w) * np.log(w), (w - 1) * shape**2 / scale
    return np.array([d_scale, d_shape, (1 - shape + shape * w) / z * shape]) * w / z * np.exp(-w)


def square_root(A: Array) -> Any:
    values, vectors = np.linalg.eig(A)
    return (vectors * np.sqrt(values.astype(complex)) @ np.linalg.inv(vectors)).real


def solve_sylvester(P: Any, Q: Any, R: Any) -> Any:
    """Solve P X + X Q = R."""
    one = np.eye(len(R))
    return np.linalg.solve(np.kron(P, one) + np.kron(one, Q.T), R.reshape(-1)).reshape(R.shape)


MIX = np.array([[1.0, 0.5], [-0.3, 2.0], [0.7, -1.0]])

PLACES = (
    Wild(
        "nnlib/max-pool",
        Source("FluxML/Flux.jl issue 1197", 2020, "16 months"),
        f=lambda x: windows(x).max(axis=1),
        right=pool_back,
        wrong=pool_back_overwriting,
        shows=at([1.0, 5.0, 2.0, 0.0, 3.0]),
        hides=at([1.0, 2.0, 3.0, 4.0, 5.0]),
        unnoticed="Right as long as the windows do not overlap.",
        looks="single-entries",
    ),
    Wild(
        "autograd.jl/repeated-index",
        Source("denizyuret/AutoGrad.jl commit cecb27f", 2017),
        f=lambda x, index: x[index],
        right=gathered_back,
        wrong=gathered_back_overwriting,
        shows=at([0.5, -1.0, 2.0], [0, 2, 2]),
        hides=at([0.5, -1.0, 2.0], [0, 2, 1]),
        unnoticed="An index twice is rare in a test, and common in a text, where it is a word.",
        looks="single-entries",
    ),
    Wild(
        "neon/convolution",
        Source("NervanaSystems/neon issue 111", 2015, "19 days"),
        f=lambda x: np.convolve(x, FILTER[::-1], "valid"),
        right=convolve_back,
        wrong=convolve_back_into_another_channel,
        shows=at([0.5, -1.0, 2.0, 0.3]),
        unnoticed="m for d: both are 0 in an image; only a third axis to move along shows it.",
    ),
    Wild(
        "caffe/deconvolution",
        Source("BVLC/caffe commit a40c2a0", 2015, "6 months"),
        f=lambda X: X @ MIX.T,
        right=lambda u, X: u @ MIX,
        wrong=lambda u, X: np.repeat((u @ MIX)[1:2], len(X), axis=0),
        shows=at([[0.5, 1.0], [-0.4, 2.0], [0.9, -1.1]]),
        unnoticed="n times an offset, without the n, and only on the GPU: all learn from sample 1.",
        looks="permuted",
    ),
    Wild(
        "caffe/concat",
        Source("BVLC/caffe pull 2972", 2015),
        f=lambda a, b: np.concatenate([a, b]),
        right=lambda u, a, b: (None, u[len(a) :]),
        wrong=lambda u, a, b: (None, u[: len(b)]),
        shows=at([1, 2], [0.5, -1.0, 2.0]),
        unnoticed="Right if all parts are learned: a part without gradient did not move the start.",
        looks="permuted",
    ),
    Wild(
        "openturns/weibull",
        Source("openturns/openturns issue 1556", 2020, "13 months"),
        f=weibull_pdf,
        right=lambda u, p: u * weibull_slopes(p),
        wrong=lambda u, p: u * weibull_slopes(p)[[1, 0, 2]],
        shows=at([1.5, 2.5, 0.2]),
        unnoticed="Scale and shape changed places in the constructor, and not in the gradient.",
        looks="permuted",
        domain=lambda p: (np.array([np.exp(p[0]), np.exp(p[1]), -np.abs(p[2])]),),
    ),
    Wild(
        "theano/set-subtensor",
        Source("Theano/Theano commit 3a2138d", 2014),
        f=lambda x, y: np.concatenate([x[:1], y, x[2:]]),
        right=lambda u, x, y: (u * (np.arange(len(x)) != 1), u[1:2]),
        wrong=lambda u, x, y: (u, u[1:2]),
        shows=at([0.5, -1.0, 2.0], [0.7]),
        unnoticed="The gradient of adding to an entry was used for writing over it.",
        looks="single-entries",
    ),
    Wild(
        "oneflow/fmod",
        Source("Oneflow-Inc/oneflow issue 8769", 2022),
        f=np.fmod,
        right=lambda u, x, y: (u.sum(axis=0), -u * np.trunc(x / y)),
        wrong=lambda u, x, y: (u.reshape(-1), 0 * y),
        shows=at([5.3], [[2.0], [3.0]]),
        unnoticed="Right for two arrays of one shape, if nobody asks for the second gradient.",
    ),
    Wild(
        "hips/repeat",
        Source("HIPS/autograd commit 72a6ccc", 2015),
        f=lambda x: np.repeat(x, 2, axis=0),
        right=lambda u, x: u.reshape(len(x), 2, -1).sum(axis=1),
        wrong=lambda u, x: u.sum(axis=0, keepdims=True),
        shows=at([[0.5, 1.0], [-1.0, 2.0], [0.3, 0.4]]),
        hides=at([[0.5, 1.0]]),
        unnoticed="Right for one row that is repeated.",
    ),
    Wild(
        "hips/square-root-of-matrix",
        Source("HIPS/autograd commit 39fc253", 2018),
        f=square_root,
        right=lambda u, A: solve_sylvester(square_root(A).T, square_root(A).T, u),
        wrong=lambda u, A: solve_sylvester(square_root(A), square_root(A).T, u),
        shows=at([[4.0, 1.0], [0.5, 3.0]]),
        hides=at([[4.0, 1.0], [1.0, 3.0]]),
        unnoticed="Right for symmetric matrices: what is solved differs by a transpose.",
        domain=lambda A: (A + 6 * np.eye(2),),
    ),
    Wild(
        "zygote/real-fft",
        Source("FluxML/Zygote.jl issue 899", 2026),
        f=np.fft.rfft,
        right=lambda u, x: len(x) * np.fft.ifft(np.append(u, 0 * u[1:-1])).real,
        wrong=lambda u, x: len(x) * np.fft.irfft(u, len(x)),
        shows=at([0.5, -1.0, 2.0, 0.3, -0.7, 1.1]),
        unnoticed="Right for the complex transform: there the inverse and the adjoint are one.",
    ),
)


# Distributions, and numbers that turn out complex.


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
        unnoticed="The function itself has the minus in the exponent, its derivative has not.",
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
        unnoticed="For an odd exponent it is right, for an even one the sign is wrong, else NaN.",
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
        Source("stan-dev/math issue 1662", 2020),
        f=lambda a, n: sum(np.log(sum(cdf_term(k, a) for k in range(m + 1))) for m in n),
        right=lambda u, a, n: (u * sum(log_cdf_slope(m, a) for m in n), None),
        wrong=lambda u, a, n: (u * len(n) * log_cdf_slope(n[0], a), None),
        shows=at(1.7, [1, 4, 2]),
        hides=at(1.7, [2, 2, 2]),
        unnoticed="Of many observations the first one's numbers were used for all.",
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
        unnoticed="A comment beside it said that it is to be checked.",
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
        Source("JuliaDiff/ChainRules.jl issue 86", 2019),
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

WILD = (
    *SIGNS_AND_FACTORS,
    *THE_CHAIN_RULE,
    *SPECIAL_POINTS,
    *BRANCHES,
    *PLACES,
    *DISTRIBUTIONS_AND_COMPLEX_NUMBERS,
)


def wild_cases() -> Iterator[Case]:
    """Yield each museum piece at the point that shows it, in the shape of the zoo.

    Examples
    --------
    >>> case = next(wild_cases())
    >>> print(case.name, "-", case.bugs[0].why)
    casadi/cosh - The derivative of cos has a minus, that of cosh has none; at 0 both are 0.
    """
    for wild in WILD:
        yield wild.case(wild.shows)
