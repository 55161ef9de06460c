"""Small networks: the layers of the other modules, put together.

``u`` is the upstream gradient; for a loss it is one number.
"""

from typing import Any

import numpy as np

from .case import (
    DOUBLED,
    HALVED,
    REVERSED,
    TRANSPOSED,
    ZERO,
    Array,
    Case,
    case,
    rolled,
    times,
    without,
)
from .iris import load_iris

SMOOTH = "network smooth"

X_BATCH = np.array([[0.9, -0.6], [-1.1, 0.7], [0.4, 1.3]])
Y_BATCH = np.array([2, 0, 1])
W1 = np.array([[0.8, -0.5, 0.3, 1.1], [-0.4, 0.9, -1.2, 0.6]])
B1 = np.array([0.3, -0.2, 0.4, -0.1])
W2 = np.array([[0.5, -0.8, 0.2], [-0.3, 0.7, 0.9], [1.1, -0.4, -0.6], [0.1, 0.6, -0.9]])
B2 = np.array([0.2, -0.1, 0.3])


def softmax_rows(x: Array) -> Any:
    """Softmax along the last axis."""
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def one_hot(labels: Array, classes: int) -> Any:
    """One row per label, 1 in the label's column."""
    return (labels[:, None] == np.arange(classes)).astype(np.float64)


def mean_cross_entropy(scores: Array, labels: Array) -> Any:
    """Mean over the rows of minus the logarithm of the label's probability."""
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(labels)), labels].mean()


def two_layer_network() -> Case:
    """Two layers, ReLU between them, softmax loss; no gate is near its kink."""

    def hidden(W1: Array, b1: Array) -> Any:
        return np.maximum(X_BATCH @ W1 + b1, 0)

    def f(W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
        return mean_cross_entropy(hidden(W1, b1) @ W2 + b2, Y_BATCH)

    def scores_vjp(u: Any, h: Array, W2: Array, b2: Array, labels: Array = Y_BATCH) -> Any:
        return u * (softmax_rows(h @ W2 + b2) - one_hot(labels, 3)) / len(labels)

    def vjp(u: Any, W1: Array, b1: Array, W2: Array, b2: Array, *, labels: Array = Y_BATCH) -> Any:
        h = hidden(W1, b1)
        ds = scores_vjp(u, h, W2, b2, labels)
        dh = ds @ W2.T * (h > 0)
        return X_BATCH.T @ dh, dh.sum(axis=0), h.T @ ds, ds.sum(axis=0)

    def mask_dropped(u: Any, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
        h = hidden(W1, b1)
        ds = scores_vjp(u, h, W2, b2)
        dh = ds @ W2.T  # wrong: the closed gates
        return X_BATCH.T @ dh, dh.sum(axis=0), h.T @ ds, ds.sum(axis=0)

    def last_bias_not_summed(u: Any, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
        return scores_vjp(u, hidden(W1, b1), W2, b2)  # wrong: sum over the batch

    def before_the_gate(u: Any, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
        return (X_BATCH @ W1 + b1).T @ scores_vjp(u, hidden(W1, b1), W2, b2)  # wrong: hidden

    kept = [np.zeros_like(p) for p in (W1, B1, W2, B2)]

    def accumulates(u: Any, W1: Array, b1: Array, W2: Array, b2: Array) -> Any:
        for total, grad in zip(kept, vjp(u, W1, b1, W2, b2), strict=True):
            total += grad  # wrong: the buffers are never set to zero
        return tuple(total.copy() for total in kept)

    return (
        case("two_layer_network", f, vjp, SMOOTH, W1.copy(), B1.copy(), W2.copy(), B2.copy())
        .bug("missing-mean", "The loss is a mean over the batch, the gradient a sum.")
        .wrong("missing-mean", "factor", lambda u, *p: vjp(u * len(Y_BATCH), *p))
        .bug("bias-forgotten", "The first bias is added forward and forgotten backward.")
        .by(ZERO, part=1)
        .bug("mask-dropped", "The gradient passes through closed gates.")
        .wrong("mask-dropped", "unknown", mask_dropped)
        .bug("labels-off-by-one", "The labels start at 1 in the data set.")
        .wrong("off-by-one", "unknown", lambda u, *p: vjp(u, *p, labels=(Y_BATCH + 1) % 3))
        .bug(
            "last-bias-not-summed",
            "The bias was broadcast over the batch; its gradient must be summed over it.",
        )
        .wrong("missing-sum", "missing-sum", last_bias_not_summed, part=3)
        .bug(
            "before-the-gate",
            "The hidden values before the ReLU are saved, instead of those after it.",
        )
        .wrong("wrong-place", "unknown", before_the_gate, part=2)
        .bug(
            "bias-mean-twice",
            "Mean over the batch for the bias, though the loss has already divided.",
        )
        .wrong("mean-for-sum", "factor", lambda u, *p: vjp(u, *p)[3] / len(Y_BATCH), part=3)
        .bug("gradients-accumulate", "Nothing calls zero_grad between two backward passes.")
        .wrong("accumulation", "accumulated", accumulates)
    )


def regularised_network() -> Case:
    """Add lam / 2 times the squares of both weight matrices to the same loss."""
    lam = 0.1

    def data_loss_gradient(W1: Array, W2: Array) -> Any:
        h = np.maximum(X_BATCH @ W1, 0)
        ds = (softmax_rows(h @ W2) - one_hot(Y_BATCH, 3)) / len(Y_BATCH)
        return X_BATCH.T @ (ds @ W2.T * (h > 0)), h.T @ ds

    def f(W1: Array, W2: Array) -> Any:
        data_loss = mean_cross_entropy(np.maximum(X_BATCH @ W1, 0) @ W2, Y_BATCH)
        return data_loss + lam / 2 * ((W1 * W1).sum() + (W2 * W2).sum())

    def penalised(first: float, second: float) -> Any:
        def with_penalties(u: Any, W1: Array, W2: Array) -> Any:
            dW1, dW2 = data_loss_gradient(W1, W2)
            return u * (dW1 + first * W1), u * (dW2 + second * W2)

        return with_penalties

    def absolute(u: Any, W1: Array, W2: Array) -> Any:
        return u * (data_loss_gradient(W1, W2)[0] + lam * np.sign(W1))

    return (
        case("regularised_network", f, penalised(lam, lam), SMOOTH, W1.copy(), W2.copy())
        .bug("forgotten", "The penalty is added to the loss and forgotten in the gradient.")
        .wrong("regulariser-forgotten", "regulariser", penalised(0, 0))
        .bug("doubled", "The derivative of w^2 is 2 w; the 1/2 of the penalty is overlooked.")
        .wrong("regulariser-doubled", "regulariser", penalised(2 * lam, 2 * lam))
        .bug("averaged", "The penalty is divided by the batch size along with the loss.")
        .wrong("missing-mean", "regulariser", penalised(lam / len(Y_BATCH), lam / len(Y_BATCH)))
        .bug("subtracted", "Weight decay shrinks weights, so the term is subtracted.")
        .wrong("sign", "regulariser", penalised(lam, -lam))
        .bug("first-layer-only", "One layer is forgotten.")
        .wrong("regulariser-forgotten", "regulariser", penalised(lam, 0))
        .bug("absolute", "The gradient of an L1 penalty.")
        .wrong("wrong-rule", "unknown", absolute, part=0)
    )


def ridge_regression() -> Case:
    """Mean squared error of a linear model, plus lam |w|^2."""
    X = np.array([[1.1, -0.4, 0.6], [0.3, 1.5, -0.8], [-0.9, 0.7, 1.2], [0.5, 0.2, -1.3]])
    y = np.array([0.7, -1.2, 1.6, 0.4])
    lam = 1e-3

    def f(w: Array) -> Any:
        r = X @ w - y
        return (r * r).mean() + lam * (w * w).sum()

    def vjp(u: Any, w: Array) -> Any:
        return u * (2 * X.T @ (X @ w - y) / len(y) + 2 * lam * w)

    def penalty(times: float) -> Any:
        return lambda u, w: vjp(u, w) + u * (times - 1) * 2 * lam * w

    return (
        case("ridge_regression", f, vjp, SMOOTH, np.array([0.8, -0.5, 1.3]))
        .bug("forgotten", "The penalty is so small that nobody notices.")
        .wrong("regulariser-forgotten", "regulariser", penalty(0))
        .bug("halved", "lam w, as if the penalty had a factor 1/2.")
        .wrong("regulariser-halved", "regulariser", penalty(0.5))
        .bug("other-lambda", "lam is 0.00101 in the other configuration file.")
        .wrong("regulariser-scaled", "regulariser", penalty(1.01))
        .bug("mean-forgotten", "The mean is forgotten for the data; the penalty is right.")
        .wrong("missing-mean", "unknown", lambda u, w: u * (2 * X.T @ (X @ w - y) + 2 * lam * w))
    )


def deep_tanh_network() -> Case:
    """Four layers x -> tanh(W x) of width 2, then the sum."""

    def layers(x: Array, W: Array) -> list[Any]:
        h = [x]
        for w in W:
            h.append(np.tanh(w @ h[-1]))
        return h

    def f(x: Array, W: Array) -> Any:
        return layers(x, W)[-1].sum()

    def slopes(x: Array, W: Array) -> list[Any]:
        return [1 - h**2 for h in layers(x, W)[1:]]

    def backward(u: Any, x: Array, W: Array, slopes: Any, matrices: Array) -> Any:
        h, g, dW = layers(x, W), u * np.ones(2), np.zeros_like(W)
        for k in reversed(range(len(W))):
            g = g * slopes[k]
            dW[k] = np.outer(g, h[k])
            g = matrices[k] @ g
        return g, dW

    def vjp(u: Any, x: Array, W: Array) -> Any:
        return backward(u, x, W, slopes(x, W), W.swapaxes(1, 2))

    def last_tanh_forgotten(u: Any, x: Array, W: Array) -> Any:
        return backward(u, x, W, [*slopes(x, W)[:-1], 1.0], W.swapaxes(1, 2))

    W = np.array(
        [
            [[0.9, -0.6], [0.4, 1.2]],
            [[-0.7, 1.1], [0.8, 0.3]],
            [[1.3, 0.5], [-0.4, 0.9]],
            [[0.6, -1.1], [0.7, 0.2]],
        ]
    )
    return (
        case("deep_tanh_network", f, vjp, SMOOTH, np.array([0.8, -0.5]), W)
        .bug("last-tanh-forgotten", "Most networks end without an activation; this one does not.")
        .wrong("term-dropped", "unknown", last_tanh_forgotten)
        .bug("not-transposed", "W instead of W^T between the layers.")
        .wrong("transpose", "unknown", lambda u, x, W: backward(u, x, W, slopes(x, W), W))
        .bug("first-layer-frozen", "The backward loop stops at layer 1.")
        .by(without(0, "row-or-column"), part=1)
        .bug(
            "layers-in-walking-order",
            "The gradients are appended while walking backward, and never reversed.",
        )
        .by(REVERSED, part=1)
    )


def residual_block() -> Case:
    """Differentiate y = x + V tanh(W x)."""

    def f(x: Array, W: Array, V: Array) -> Any:
        return x + V @ np.tanh(W @ x)

    def vjp(u: Any, x: Array, W: Array, V: Array) -> Any:
        t = np.tanh(W @ x)
        da = (V.T @ u) * (1 - t**2)
        return u + W.T @ da, np.outer(da, x), np.outer(u, t)

    x = np.array([0.7, -1.2])
    W = np.array([[0.9, -0.3], [0.5, 1.1], [-0.8, 0.4]])
    V = np.array([[0.6, -0.9, 1.3], [0.2, 0.8, -0.5]])
    return (
        case("residual_block", f, vjp, SMOOTH, x, W, V)
        .bug("skip-forgotten", "The path around the block is forgotten.")
        .wrong("term-dropped", "unknown", lambda u, x, W, V: vjp(u, x, W, V)[0] - u, part=0)
        .bug("branch-forgotten", "The path through the block is forgotten.")
        .wrong("term-dropped", "local-derivative", lambda u, x, W, V: (u, *vjp(u, x, W, V)[1:]))
        .bug("averaged", "The gradients of two paths are averaged instead of added.")
        .by(HALVED, part=0)
        .bug("transposed", "The arguments of the outer product are swapped.")
        .by(TRANSPOSED, part=2)
    )


def tied_autoencoder() -> Case:
    """Half the squared error of W^T tanh(W x) against x, with the same W in both places."""
    x = np.array([0.9, -0.7, 0.5])

    def f(W: Array) -> Any:
        r = W.T @ np.tanh(W @ x) - x
        return (r * r).sum() / 2

    def encoder_part(u: Any, W: Array) -> Any:
        t = np.tanh(W @ x)
        r = W.T @ t - x
        return u * np.outer((W @ r) * (1 - t**2), x)

    def decoder_part(u: Any, W: Array) -> Any:
        t = np.tanh(W @ x)
        return u * np.outer(t, W.T @ t - x)

    def vjp(u: Any, W: Array) -> Any:
        return encoder_part(u, W) + decoder_part(u, W)

    velocity = np.zeros((2, 3))

    def momentum(u: Any, W: Array) -> Any:
        nonlocal velocity
        velocity = 0.9 * velocity + vjp(u, W)  # wrong: that is the optimizer's job
        return velocity

    return (
        case("tied_autoencoder", f, vjp, SMOOTH, np.array([[0.8, -0.3, 0.6], [-0.5, 1.1, 0.4]]))
        .bug("decoder-only", "The shared weights get the gradient of only one of their two uses.")
        .wrong("product-rule", "unknown", decoder_part)
        .bug("encoder-only", "The second use overwrites the first.")
        .wrong("product-rule", "unknown", encoder_part)
        .bug("momentum", "The step of the optimiser is returned instead of the gradient.")
        .wrong("state", "accumulated", momentum)
        .changed("two", "The derivative of r^2, forgetting the 1/2.", DOUBLED)
    )


def dropout_layer() -> Case:
    """tanh(x) times a fixed dropout mask, scaled by 1 / 0.6."""
    keep, mask = 0.6, np.array([1.0, 0.0, 1.0, 1.0, 0.0])

    def f(x: Array) -> Any:
        return np.tanh(x) * mask / keep

    def vjp(u: Any, x: Array) -> Any:
        return u * mask / keep * (1 - np.tanh(x) ** 2)

    other_mask = np.array([0.0, 1.0, 1.0, 1.0, 0.0])

    return (
        case("dropout_layer", f, vjp, SMOOTH, np.array([0.4, -0.9, 1.2, -0.3, 0.7]))
        .changed("scale-forgotten", "1 / keep is applied forward only.", times(keep))
        .bug("mask-dropped", "The mask is not saved for the backward pass.")
        .wrong("mask-dropped", "unknown", lambda u, x: u / keep * (1 - np.tanh(x) ** 2))
        .bug("mask-drawn-again", "The backward pass draws its own mask.")
        .wrong("wrong-mask", "unknown", lambda u, x: u * other_mask / keep * (1 - np.tanh(x) ** 2))
        .bug("mask-twice", "A second mask is applied on top of the first.")
        .wrong("wrong-mask", "single-entries", lambda u, x: vjp(u, x) * other_mask)
    )


def iris_classifier() -> Case:
    """Softmax regression on nine of Fisher's iris flowers, three of each species."""
    features, species = load_iris()
    chosen = [0, 20, 40, 50, 70, 90, 100, 120, 140]
    X, y = features[chosen], species[chosen]
    X = X - X.mean(axis=0)

    def f(W: Array, b: Array) -> Any:
        return mean_cross_entropy(X @ W + b, y)

    def scores_vjp(u: Any, W: Array, b: Array) -> Any:
        return u * (softmax_rows(X @ W + b) - one_hot(y, 3)) / len(y)

    def vjp(u: Any, W: Array, b: Array) -> Any:
        ds = scores_vjp(u, W, b)
        return X.T @ ds, ds.sum(axis=0)

    W = np.array([[0.2, -0.1, 0.3], [0.4, 0.1, -0.3], [-0.5, 0.2, 0.4], [-0.2, 0.3, 0.1]])
    return (
        case("iris_classifier", f, vjp, SMOOTH, W, np.array([0.3, 0.1, -0.2]))
        .bug("missing-mean", "The loss is a mean over the flowers, the gradient a sum.")
        .wrong("missing-mean", "factor", lambda u, W, b: vjp(u * len(y), W, b))
        .bug("first-flower-left-out", "The header line was skipped twice.")
        .wrong("loop-bounds", "unknown", lambda u, W, b: X[1:].T @ scores_vjp(u, W, b)[1:], part=0)
        .changed("species-rolled", "The species are numbered from 1.", rolled(), part=1)
        .changed("transposed", "The weights are (out, in) in another library.", TRANSPOSED, part=0)
    )


CASES = (
    two_layer_network, regularised_network, ridge_regression, deep_tanh_network, residual_block,
    tied_autoencoder, dropout_layer, iris_classifier,
)  # fmt: skip
