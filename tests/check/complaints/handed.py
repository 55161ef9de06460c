"""What was handed over: shapes, data, sizes, and claims that are no numbers."""

import numpy as np

from gradcheck_ref import check_gradient, check_jacobian, check_vjp

from .row import Complaint

RNG = np.random.default_rng(0)

PIXELS = RNG.normal(size=12).astype(np.float32)
LABELS = np.array([0, 2, 1, 1, 0, 2, 2, 2, 1, 0, 0, 1])


def pooled(X, spx):
    """Average the pixels of each superpixel."""
    return np.bincount(spx, X, 3).astype(X.dtype) / np.bincount(spx)


def not_summed(upstream, x, alpha):
    of_x = np.where(x > 0, upstream, upstream * alpha).sum(axis=0, keepdims=True)
    return of_x, np.where(x > 0, 0, upstream * x)


def warped(x):
    return np.sin(x) + 0.1 * np.roll(x, 1) ** 2


def of_warped(upstream, x):
    return upstream * np.cos(x) + np.roll(upstream, -1) * 0.2 * x


def of_where(x):
    """Differentiate both branches of np.where(x < 1, x, sqrt(x)), as a framework does."""
    return (x < 1) * 1.0 + (x >= 1) * 0.5 / np.sqrt(x) + (x < 1) * 0.0 * (0.5 / np.sqrt(x))


def of_tanh(x):
    e = np.exp(2 * x.astype(np.float32))
    return 4 * e / (e + 1) ** 2


def log_softmax(x):
    return np.sum(x - x.max() - np.log(np.sum(np.exp(x - x.max()))))


def in_float16(x):
    e = np.exp(x.astype(np.float16) + np.float16(20))
    return 1 - x.size * (e / e.sum()).astype(float)


ROWS = [
    Complaint("labels and floats", "bermanmaxim/superpixPool issue 5",
        "the check of a pooling in float32 fails: should the labels be floats, too?",
        check_vjp, pooled, (PIXELS, LABELS),
        lambda upstream, X, spx: (upstream / np.bincount(spx))[spx],
        "pass", "X: all 36 entries agree"),
    Complaint("a slope that was broadcast", "Theano/Theano issue 6822",
        "verify_grad says nothing of inputs of shapes (1, 2, 3) and (1, 2, 1, 1)",
        check_vjp, lambda x, alpha: np.where(x > 0, x, alpha * x),
        (RNG.normal(size=(1, 2, 3)), np.full((1, 2, 1, 1), 0.2)), not_summed,
        "fail", "alpha: it is right when summed over axes 2, 3"),
    Complaint("complex results", "scipy/scipy issue 6992",
        "check_grad drops the imaginary part, and finds an error in a right gradient",
        check_jacobian, lambda x: x[0] ** 2 - 0.5j * x[1] ** 3, np.array([1.5, -1.5]),
        lambda x: np.array([2 * x[0], -1.5j * x[1] ** 2]),
        "pass", "all 4 entries agree"),
    Complaint("40,000 GiB", "csuhan/s2anet issue 115",
        "gradcheck wants to hold the Jacobian of a deformable convolution",
        check_vjp, warped, RNG.normal(size=20000), of_warped,
        "pass", "20 random lines and 20 random combinations of the outputs"),
    Complaint("too slow for a large problem", "scipy/scipy issue 10888",
        "a finite difference for every variable takes too long",
        check_gradient, lambda x: np.sum(np.log1p(x**2)), RNG.normal(size=100000),
        lambda x: 2 * x / (1 + x**2),
        "pass", "x: all 100000 entries agree, measured together along 20 random lines"),
    Complaint("a branch that is not taken", "jax-ml/jax issue 5798",
        "the gradient of where(x < 1, x, sqrt(x)) at 0 is NaN",
        check_gradient, lambda x: np.sum(np.where(x < 1, x, np.sqrt(np.abs(x)))),
        np.array([0.0, 0.5, 2.0]), of_where,
        "fail", "a branch of np.where that is not taken: 0 * inf is NaN, too"),
    Complaint("the norm of zeros", "pytorch/pytorch issue 2421",
        "the gradient at 0 is NaN; somebody spent hours on it",
        check_gradient, np.linalg.norm, np.zeros(3), lambda x: x / np.linalg.norm(x),
        "fail", "x: the claim is NaN in all 3 entries"),
    Complaint("tanh of large numbers", "jax-ml/jax issue 764",
        "some gradients are NaN, where they should be 0",
        check_gradient, lambda x: np.sum(np.tanh(x)), np.array([1.0, 193.0, 2.0, 200.0]), of_tanh,
        "fail", "x: the claim is NaN in 2 of 4 entries (x[1], x[3])"),
    Complaint("a softmax in float16", "jax-ml/jax issue 40409",
        "the loss is finite, and its gradient NaN everywhere",
        check_gradient, log_softmax, RNG.normal(size=8), in_float16,
        "fail", "x: the claim is NaN in all 8 entries"),
]  # fmt: skip
