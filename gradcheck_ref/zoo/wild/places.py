"""Places: the right numbers where they do not belong."""

from typing import Any

import numpy as np

from ..case import Array
from .entry import Source, Wild, at


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
        Source("denizyuret/AutoGrad.jl commit cecb27f", 2017, "7 months"),
        f=lambda x, index: x[index],
        right=gathered_back,
        wrong=gathered_back_overwriting,
        shows=at([0.5, -1.0, 2.0], [0, 2, 2]),
        hides=at([0.5, -1.0, 2.0], [0, 2, 1]),
        unnoticed="A repeated index is rare in a test, but in a text, where it is a word, common.",
        looks="single-entries",
    ),
    Wild(
        "neon/convolution",
        Source("NervanaSystems/neon issue 111", 2015, "19 days"),
        f=lambda x: np.convolve(x, FILTER[::-1], "valid"),
        right=convolve_back,
        wrong=convolve_back_into_another_channel,
        shows=at([0.5, -1.0, 2.0, 0.3]),
        unnoticed="m for d: both are 0 in an image, and only a third axis shows it.",
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
        Source("BVLC/caffe pull 2972", 2015, "5 months"),
        f=lambda a, b: np.concatenate([a, b]),
        right=lambda u, a, b: (None, u[len(a) :]),
        wrong=lambda u, a, b: (None, u[: len(b)]),
        shows=at([1, 2], [0.5, -1.0, 2.0]),
        unnoticed="Right if all parts are learned: a part without gradient kept the offset.",
        looks="permuted",
    ),
    Wild(
        "openturns/weibull",
        Source("openturns/openturns issue 1556", 2020, "13 months"),
        f=weibull_pdf,
        right=lambda u, p: u * weibull_slopes(p),
        wrong=lambda u, p: u * weibull_slopes(p)[[1, 0, 2]],
        shows=at([1.5, 2.5, 0.2]),
        unnoticed="Scale and shape changed places in the constructor, but not in the gradient.",
        looks="permuted",
        domain=lambda p: (np.array([np.exp(p[0]), np.exp(p[1]), -np.abs(p[2])]),),
    ),
    Wild(
        "theano/set-subtensor",
        Source("Theano/Theano commit 3a2138d", 2014, "3 years"),
        f=lambda x, y: np.concatenate([x[:1], y, x[2:]]),
        right=lambda u, x, y: (u * (np.arange(len(x)) != 1), u[1:2]),
        wrong=lambda u, x, y: (u, u[1:2]),
        shows=at([0.5, -1.0, 2.0], [0.7]),
        unnoticed="The gradient of adding to an entry was used for writing over it.",
        looks="single-entries",
    ),
    Wild(
        "oneflow/fmod",
        Source("Oneflow-Inc/oneflow issue 8769", 2022, "14 months"),
        f=np.fmod,
        right=lambda u, x, y: (u.sum(axis=0), -u * np.trunc(x / y)),
        wrong=lambda u, x, y: (u.reshape(-1), 0 * y),
        shows=at([5.3], [[2.0], [3.0]]),
        unnoticed="Right for two arrays of the same shape, if nobody needs the second gradient.",
    ),
    Wild(
        "hips/repeat",
        Source("HIPS/autograd commit 72a6ccc", 2015, "8 months"),
        f=lambda x: np.repeat(x, 2, axis=0),
        right=lambda u, x: u.reshape(len(x), 2, -1).sum(axis=1),
        wrong=lambda u, x: u.sum(axis=0, keepdims=True),
        shows=at([[0.5, 1.0], [-1.0, 2.0], [0.3, 0.4]]),
        hides=at([[0.5, 1.0]]),
        unnoticed="Right if a single row is repeated.",
    ),
    Wild(
        "hips/square-root-of-matrix",
        Source("HIPS/autograd commit 39fc253", 2018, "3 years"),
        f=square_root,
        right=lambda u, A: solve_sylvester(square_root(A).T, square_root(A).T, u),
        wrong=lambda u, A: solve_sylvester(square_root(A), square_root(A).T, u),
        shows=at([[4.0, 1.0], [0.5, 3.0]]),
        hides=at([[4.0, 1.0], [1.0, 3.0]]),
        unnoticed="Right for symmetric matrices: the equation differs by a transpose.",
        domain=lambda A: (A + 6 * np.eye(2),),
    ),
    Wild(
        "zygote/real-fft",
        Source("FluxML/Zygote.jl issue 899", 2026, "6 years"),
        f=np.fft.rfft,
        right=lambda u, x: len(x) * np.fft.ifft(np.append(u, 0 * u[1:-1])).real,
        wrong=lambda u, x: len(x) * np.fft.irfft(u, len(x)),
        shows=at([0.5, -1.0, 2.0, 0.3, -0.7, 1.1]),
        unnoticed="Right for the complex transform, whose inverse and adjoint are the same.",
    ),
)
