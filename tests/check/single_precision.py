"""Functions that people compute in float32, with gradients that are computed in float32, too."""

import numpy as np

ONE = np.float32(1)


def numbers(seed, *shape):
    """Draw numbers of the size of 1, in float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


LABELS = np.array([0, 2, 1, 4, 3])


def cross_entropy(z):
    return -np.mean(log_softmax(z)[np.arange(5), LABELS])


def cross_entropy_gradient(z):
    return ((np.exp(log_softmax(z)) - np.eye(5, dtype=np.float32)[LABELS]) / np.float32(5),)


WEIGHTS = numbers(9, 4, 8)


def normalised(x):
    centred = x - x.mean(axis=1, keepdims=True)
    root = np.sqrt((centred**2).mean(axis=1, keepdims=True) + np.float32(1e-5))
    return centred / root, root


def layer_norm(x, g, b):
    return np.sum(WEIGHTS * (normalised(x)[0] * g + b))


def layer_norm_gradient(x, g, b):
    y, root = normalised(x)
    by_y = WEIGHTS * g
    by_x = by_y - by_y.mean(axis=1, keepdims=True) - y * (by_y * y).mean(axis=1, keepdims=True)
    return by_x / root, (WEIGHTS * y).sum(axis=0), WEIGHTS.sum(axis=0)


DATA, TARGETS = numbers(3, 7, 2), numbers(4, 7)


def network(v, c, w):
    return np.mean((np.tanh(DATA @ v + c) @ w - TARGETS) ** 2)


def network_gradient(v, c, w):
    hidden = np.tanh(DATA @ v + c)
    error = 2 * (hidden @ w - TARGETS) / np.float32(7)
    inner = np.outer(error, w) * (ONE - hidden**2)
    return DATA.T @ inner, inner.sum(axis=0), hidden.T @ error


def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, (3, 3))


def convolution(x, w):
    return np.sum(np.tanh(np.einsum("ijkl,kl->ij", windows(x), w)))


def convolution_gradient(x, w):
    by_product = ONE - np.tanh(np.einsum("ijkl,kl->ij", windows(x), w)) ** 2
    by_x = np.einsum("ijkl,kl->ij", windows(np.pad(by_product, 2)), w[::-1, ::-1])
    return by_x, np.einsum("ij,ijkl->kl", by_product, windows(x))


def of_network(hidden):
    """Return the point of a network with so many hidden units, four parameters each."""
    w = numbers(7, hidden) / np.float32(np.sqrt(hidden))
    return numbers(5, 2, hidden), numbers(6, hidden), w


# f, its gradients, and the point.
FUNCTIONS = {
    "cross-entropy": (cross_entropy, cross_entropy_gradient, (numbers(1, 5, 5),)),
    "layer norm": (
        layer_norm,
        layer_norm_gradient,
        (numbers(1, 4, 8), numbers(2, 8), numbers(3, 8)),
    ),
    "network of 120": (network, network_gradient, of_network(30)),
    "network of 480": (network, network_gradient, of_network(120)),
    "convolution": (convolution, convolution_gradient, (numbers(1, 8, 8), numbers(2, 3, 3))),
}


def off_by(factor, only=None):
    """Make gradients wrong by a factor: all of them, or those of one input."""

    def wrong(gradients):
        return tuple(
            (np.asarray(factor, g.dtype) * g if only in (None, k) else g)
            for k, g in enumerate(gradients)
        )

    return wrong


def one_entry(gradients):
    """Double the largest entry."""
    first = gradients[0].copy()
    first.flat[np.argmax(np.abs(first))] *= 2
    return (first, *gradients[1:])


WRONG = {
    "1 %": off_by(1.01),
    "a factor of 2": off_by(2.0),
    "the sign": off_by(-1.0),
    "5 % in the first input": off_by(1.05, only=0),
    "one entry": one_entry,
}
