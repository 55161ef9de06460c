"""What the check refuses in libraries that are installed, each confirmed by another route.

The page `docs/found.md` tells of them; `tests/parity/test_found.py` looks if they are still so.
`sweep.py` goes through the functions of the libraries again.
"""

import collections.abc
import importlib
import math
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Found:
    """A derivative that is refused: a function of a library, by its path, at a point.

    ``slopes`` is the right Jacobian, outputs first, by a formula that is not the library's; None
    says that the shape of the gradient is wrong, which needs no number. In a library that has no
    derivatives of its own making, ``call`` returns the value and the slopes that the library has.
    """

    id: str
    path: str
    call: Callable[..., Any]
    point: tuple[Any, ...]
    slopes: Any


ONES = np.ones((3, 3))
UNSORTED = np.array([0.3, 0.1, 0.7])
SORTS = np.eye(3)[[1, 0, 2]]

HIPS = tuple(
    Found(name, f"autograd.{path}", call, (at,), slopes)
    for path, name, call, at, slopes in (
        ("numpy", "full_like", lambda np_, v: np_.full_like(ONES[0], v), 2.0, ONES[0]),
        (
            "numpy", "arccosh", lambda np_, z: np_.arccosh(z), -0.55 + 0.8j,
            1 / (np.sqrt(-1.55 + 0.8j) * np.sqrt(0.45 + 0.8j)),
        ),
        ("numpy", "cross", lambda np_, v: np_.cross(ONES, v), UNSORTED, None),
        ("numpy", "tril", lambda np_, v: np_.tril(v), UNSORTED, None),
        ("numpy", "triu", lambda np_, v: np_.triu(v), UNSORTED, None),
        ("numpy", "outer", lambda np_, a: np_.outer(a, ONES[0, 0]), 2.0, None),
        ("numpy", "prod", lambda np_, x: np_.prod(x), np.array([0, 2.0, 3]), [6, 0, 0]),
        ("numpy", "sinc", lambda np_, x: np_.sinc(x), 0.0, 0.0),
        ("scipy.special", "rgamma", lambda sp, x: sp.rgamma(x), 0.0, 1.0),
    )
)  # fmt: skip
HYP1F1 = sum(1 / (k * math.factorial(k)) for k in range(1, 25))
JAX = tuple(
    Found(name, f"jax.{path}", call, (at,), slopes)
    for path, name, call, at, slopes in (
        ("numpy", "unique", lambda np_, x: np_.unique(x), UNSORTED, SORTS),
        ("numpy", "setdiff1d", lambda np_, x: np_.setdiff1d(x, ONES[0]), UNSORTED, SORTS),
        ("numpy", "union1d", lambda np_, x: np_.union1d(x, ONES[0][:0]), UNSORTED, SORTS),
        ("numpy", "setxor1d", lambda np_, x: np_.setxor1d(x, ONES[0][:0]), UNSORTED, SORTS),
        ("numpy", "arange", lambda np_, x: np_.arange(x, 2.0), 0.5, [1.0, 1.0]),
        ("numpy", "vander", lambda np_, x: np_.vander(x, 3)[0], np.zeros(1), [[0], [1], [0]]),
        ("scipy.special", "i0", lambda sp, x: sp.i0(x), 0.0, 0.0),
        ("scipy.special", "boxcox", lambda sp, a: sp.boxcox(2.0, a), 0.0, np.log(2.0) ** 2 / 2),
        ("scipy.special", "boxcox1p", lambda sp, a: sp.boxcox1p(1.0, a), 0.0, np.log(2.0) ** 2 / 2),
        ("scipy.special", "hyp1f1", lambda sp, a: sp.hyp1f1(a, 1.0, 1.0), 0.0, HYP1F1),
        ("scipy.special", "spence at 1", lambda sp, x: sp.spence(x), 1.0, -1.0),
        ("scipy.special", "spence at 2", lambda sp, x: sp.spence(x), 2.0, -np.log(2.0)),
        ("scipy.stats.gamma", "gamma.sf", lambda gamma, x: gamma.sf(x, 2.0), -1.0, 0.0),
        ("scipy.stats.gamma", "gamma.logsf", lambda g, x: g.logsf(x, 2.0), -1.0, 0.0),
        ("scipy.stats.truncnorm", "truncnorm.sf", lambda t, a: t.sf(0.3, a, 0.8), 0.55, 0.0),
    )
)
OTHERS = tuple(
    Found(name, path, call, (at,), slopes)
    for path, name, call, at, slopes in (
        (
            "dezero.functions", "mean_squared_error", lambda F, v: F.mean_squared_error(ONES, v),
            UNSORTED, None,
        ),
        ("dezero.functions", "matmul", lambda F, A: F.matmul(A, UNSORTED), ONES, None),
        ("dezero.functions", "sigmoid_simple", lambda F, x: F.sigmoid_simple(x), -800.0, 0.0),
        ("mygrad", "sech", lambda mg, x: mg.sech(x), 800.0, 0.0),
        ("mygrad", "csch", lambda mg, x: mg.csch(x), 800.0, 0.0),
        ("tinygrad", "elu", lambda tinygrad, x: x.elu(), 800.0, 1.0),
    )
)  # fmt: skip

# Models have a method for the value and another one for its slopes. The right slopes are those of
# the log-likelihood, or of its part that depends on z, by a complex step.

COUNTS = np.array([0.0, 0.0, 1.0, 3.0])
LEVELS = np.array([1.0, 2.0, 0.5, 3.0])
ONE = np.ones((4, 1))
LINE = np.column_stack([ONE, [0.2, -0.7, 1.5, 0.4]])
LAG = np.column_stack([ONE, [0.4, *LEVELS[:-1]]])
GROUPED = np.linalg.inv(np.eye(4) + np.kron(np.eye(2), np.ones((2, 2))))
EVEN = np.eye(4)
SHARES = np.array([0.2, 0.1, 0.2])  # of the pairs of three points
THREE = np.array([0.3, 0.1, 0.0, -0.5, 0.2, 0.4, 0.7, -1.0, 0.1])


def gradient(f, z):
    return np.array([np.imag(f(z + 1e-30j * e)) / 1e-30 for e in np.eye(z.size)])


def hessian(f, z, h=1e-5):
    return (
        np.array([gradient(f, z + h * e) - gradient(f, z - h * e) for e in np.eye(z.size)]) / 2 / h
    )


def of_residuals(X, weights):
    return lambda z: -2 * np.log((LEVELS - X @ z) @ weights @ (LEVELS - X @ z))


def zero_inflated(z):
    w, rate = 1 / (1 + np.exp(-z[0])), np.exp(z[1])
    return 2 * np.log(w + (1 - w) * np.exp(-rate)) + 2 * np.log(1 - w) - 2 * rate + 4 * z[1]


def generalized_poisson(z):
    rate, wide = np.exp(z[0]), 1 + z[1] * np.exp(z[0])
    y, none = COUNTS + 1, np.exp(-rate / wide)
    each = (y - 1) * np.log(1 + z[1] * y) - y * np.log(wide) - (rate + z[1] * rate * y) / wide
    return (each + y * z[0] - np.log(1 - none)).sum()


def negative_binomial(y, size, z):
    """Return the log-likelihood of counts, of the mean exp(z[0]) and the size, by a product."""
    share = size / (size + np.exp(z[0]))
    rising = sum(np.log(size + k) for count in y for k in range(int(count)))
    return rising + (size * np.log(share) + y * np.log(1 - share)).sum()


def truncated(z):
    size = np.exp(z[0]) / z[1]
    return negative_binomial(COUNTS + 1, size, z) - 4 * np.log(1 - (1 + z[1]) ** -size)


def before_fit(z):
    return negative_binomial(COUNTS, np.exp(-z[1]), z)


def divergence(points):
    """Return what of the divergence of t-SNE depends on the points, in three dimensions."""
    a, b, c = points.reshape(3, 3)
    far = np.array([((p - q) ** 2).sum() for p, q in ((a, b), (a, c), (b, c))])
    near = (1 + far / 2) ** -1.5
    return 2 * SHARES @ np.log(near.sum() / near)


def mixed(sm, b):
    model = sm.MixedLM(LEVELS, LINE, [0, 0, 1, 1])
    model.reml, model.fe_pen, model.cov_pen = False, None, None
    params = sm.regression.mixed_linear_model.MixedLMParams.from_components(b, np.eye(1))
    return model.score_full(params, calc_fe=True)[0], model.hessian(params)[0][:2, :2]


def likelihood(model, z):
    return model.loglike(z), model.score(z)


def score(model, z):
    return model.score(z), model.hessian(z)


B, Z = np.array([0.3, 0.2]), np.array([0.5, 0.2])
SM, TRUNCATED = "statsmodels.api", "statsmodels.discrete.truncated_model"
TRANSFORMS = "statsmodels.distributions.copula.transforms"
MODELS = tuple(
    Found(name, path, call, (at,), slopes)
    for path, name, call, at, slopes in (
        (
            SM, "OLS.hessian", lambda sm, z: score(sm.OLS(LEVELS, LINE), z),
            B, hessian(of_residuals(LINE, EVEN), B),
        ),
        (
            SM, "GLM.score", lambda sm, z: likelihood(sm.GLM(LEVELS, LINE), z),
            B, gradient(of_residuals(LINE, EVEN), B),
        ),
        (
            SM, "AutoReg.score",
            lambda sm, z: likelihood(sm.tsa.AutoReg(np.append(0.4, LEVELS), 1), z),
            B, gradient(of_residuals(LAG, EVEN), B),
        ),
        (SM, "MixedLM.hessian", mixed, B, hessian(of_residuals(LINE, GROUPED), B)),
        (
            SM, "ZeroInflatedPoisson.hessian",
            lambda sm, z: score(sm.ZeroInflatedPoisson(COUNTS, ONE), z),
            Z, hessian(zero_inflated, Z),
        ),
        (
            SM, "NegativeBinomial.hessian before fit",
            lambda sm, z: score(sm.NegativeBinomial(COUNTS, ONE), z), Z, hessian(before_fit, Z),
        ),
        (
            TRUNCATED, "TruncatedLFGeneralizedPoisson.score",
            lambda t, z: likelihood(t.TruncatedLFGeneralizedPoisson(COUNTS + 1, ONE), z),
            Z, gradient(generalized_poisson, Z),
        ),
        (
            TRUNCATED, "TruncatedLFNegativeBinomialP.score, p=1",
            lambda t, z: likelihood(t.TruncatedLFNegativeBinomialP(COUNTS + 1, ONE, p=1), z),
            Z, gradient(truncated, Z),
        ),
        (
            TRANSFORMS, "TransfFrank.deriv",
            lambda t, x: (t.TransfFrank().evaluate(x, 2.0), t.TransfFrank().deriv(x, 2.0)),
            0.5, -2 / np.expm1(1.0),
        ),
        (
            TRANSFORMS, "TransfFrank.deriv2",
            lambda t, x: (-2 / np.expm1(2 * x), t.TransfFrank().deriv2(x, 2.0)),
            0.5, 4 * np.exp(1.0) / np.expm1(1.0) ** 2,
        ),
        (
            TRANSFORMS, "TransfGumbel.deriv2",
            lambda t, x: (t.TransfGumbel().deriv(x, 2.5), np.real(t.TransfGumbel().deriv2(x, 2.5))),
            0.5, 10 * np.log(2.0) ** 0.5 * (1.5 + np.log(2.0)),
        ),
        (
            "sklearn.manifold._t_sne", "t-SNE in three dimensions",
            lambda t, points: t._kl_divergence(points, SHARES, 2, 3, 3),
            THREE, gradient(divergence, THREE),
        ),
    )
)  # fmt: skip
VERSIONS = {
    "autograd": "1.9.1",
    "jax": "0.10.2",
    "scipy": "1.17.1",
    "statsmodels": "0.15.0",
    "sklearn": "1.9.1",
    "mygrad": "2.5.0",
    "dezero": "0.0.13",
    "tinygrad": "0.14.0",
}


def hips_vjp(f):
    """Return the vjp by HIPS autograd, in the convention of the check for complex numbers."""
    from autograd import make_vjp

    def vjp(u, *inputs):
        grads = [make_vjp(f, k)(*inputs)[0](np.conj(u)) for k in range(len(inputs))]
        return tuple(map(np.conj, grads)) if len(grads) > 1 else np.conj(grads[0])

    return vjp


def hips(f):
    return lambda *x: np.asarray(f(*x)), hips_vjp(f)


def jax(f):
    from gradcheck_ref.adapters import from_jax

    f = from_jax(f)
    return f, f.vjp


def tape(wrap, slopes_of, value_of):
    """Return what makes a NumPy function and its vjp of a function of a library's tensors."""

    def adapter(f):
        def vjp(u, *inputs):
            tensors = [wrap(np.array(x)) for x in inputs]
            grads = slopes_of(f(*tensors), u, tensors)
            grads = [
                np.zeros_like(x) if g is None else g for x, g in zip(inputs, grads, strict=True)
            ]
            return tuple(grads) if len(grads) > 1 else grads[0]

        return lambda *inputs: value_of(f(*(wrap(np.array(x)) for x in inputs))), vjp

    return adapter


def mygrad(f):
    from mygrad import tensor

    def slopes_of(y, u, tensors):
        y.backward(u)
        return [x.grad for x in tensors]

    return tape(tensor, slopes_of, lambda y: np.asarray(y.data))(f)


def dezero(f):
    vars(np).setdefault("int", int)  # NumPy had it when dezero was written
    from dezero import Variable

    def slopes_of(y, u, tensors):
        y.grad = Variable(np.array(u))
        y.backward()
        return [None if x.grad is None else np.asarray(x.grad.data) for x in tensors]

    return tape(Variable, slopes_of, lambda y: np.asarray(y.data))(f)


def tinygrad(f):
    if not shutil.which("clang"):
        os.environ.setdefault("DEV", "PYTHON")  # its interpreter
    from tinygrad import Tensor

    def wrap(x):
        return Tensor(np.atleast_1d(x)).reshape(x.shape)

    def slopes_of(y, u, tensors):
        return [g.numpy() for g in y.gradient(*tensors, gradient=wrap(np.asarray(u)))]

    return tape(wrap, slopes_of, lambda y: np.asarray(y.numpy()))(f)


def pair(f):
    """Return the first of the two that f returns, and a vjp by the second, the slopes."""

    def vjp(u, x):
        y, slopes = f(x)
        slopes = np.reshape(slopes, (*np.shape(y), *x.shape))
        return np.tensordot(u, slopes, np.ndim(u))

    return lambda x: np.asarray(f(x)[0]), vjp


def numpy_ml(f):
    vars(collections).setdefault("Hashable", collections.abc.Hashable)  # for old Pythons
    return pair(f)


ADAPTERS = {
    "autograd": hips,
    "jax": jax,
    "mygrad": mygrad,
    "dezero": dezero,
    "numpy_ml": numpy_ml,
    "tinygrad": tinygrad,
}


def function_of(found):
    """Return the function of the library, with its vjp."""
    adapter = ADAPTERS.get(found.path.split(".")[0], pair)
    return adapter(lambda x: found.call(importlib.import_module(found.path), x))
