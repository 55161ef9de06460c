"""Convolution and pooling: sums over sliding windows, written as plain loops.

As in deep learning, "convolution" does not flip the kernel. ``u`` is the upstream gradient.
"""

from typing import Any

import numpy as np

from .case import DOUBLED, REVERSED, TRANSPOSED, Array, Case, case, rolled, without

SMOOTH = "convolution smooth"

SIGNAL = np.array([0.7, -1.2, 0.4, 1.9, -0.6, 1.1])


def correlate(x: Array, w: Array) -> Any:
    """y[i] = sum_k w[k] x[i + k]."""
    n = len(x) - len(w) + 1
    return sum(w[k] * x[k : k + n] for k in range(len(w)))


def spread_back(u: Any, w: Array) -> Any:
    """Gradient of `correlate` with respect to the signal."""
    dx = np.zeros(len(u) + len(w) - 1)
    for k in range(len(w)):
        dx[k : k + len(u)] += w[k] * u
    return dx


def convolution_1d() -> Case:
    """Slide a kernel of three taps along a signal."""

    def f(x: Array, w: Array) -> Any:
        return correlate(x, w)

    def vjp(u: Any, x: Array, w: Array) -> Any:
        return spread_back(u, w), correlate(x, u)

    return (
        case("convolution_1d", f, vjp, SMOOTH, SIGNAL.copy(), np.array([0.9, -0.5, 1.4]))
        .bug(
            "kernel-not-flipped",
            "Backward through a sliding window, the kernel runs the other way.",
        )
        .wrong("flip", "permuted", lambda u, x, w: spread_back(u, w[::-1]), part=0)
        .bug(
            "kernel-gradient-reversed",
            "A mathematician's convolution flips the kernel, this one does not.",
        )
        .by(REVERSED, part=1)
        .bug("borders-forgotten", "Only positions covered by two windows or more are visited.")
        .by(without([0, -1], "single-entries"), part=0)
        .bug("kernel-averaged", "Mean over the positions instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, x, w: correlate(x, u) / len(u), part=1)
    )


def strided_convolution() -> Case:
    """Two taps, stride 2."""

    def f(x: Array, w: Array) -> Any:
        return correlate(x, w)[::2]

    def vjp(u: Any, x: Array, w: Array) -> Any:
        dilated = np.zeros(len(x) - len(w) + 1)
        dilated[::2] = u
        return spread_back(dilated, w), correlate(x, dilated)

    def stride_forgotten(u: Any, x: Array, w: Array) -> Any:
        packed = np.zeros(len(x) - len(w) + 1)
        packed[: len(u)] = u  # wrong: [::2]
        return spread_back(packed, w)

    return (
        case("strided_convolution", f, vjp, SMOOTH, SIGNAL.copy(), np.array([1.3, -0.8]))
        .bug("stride-forgotten", "The upstream is not spread out to every second position.")
        .wrong("stride", "permuted", stride_forgotten, part=0)
        .changed("phase", "The grid starts at 1.", rolled(), part=0)
        .bug("kernel-last-tap", "The loop over the taps ends one too early.")
        .wrong(
            "loop-bounds", "mask", lambda u, x, w: vjp(u, x, w)[1] * np.array([1.0, 0.0]), part=1
        )
    )


def correlate_2d(x: Array, w: Array) -> Any:
    """Sliding window in two dimensions."""
    rows, columns = x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1
    return sum(
        w[i, j] * x[i : i + rows, j : j + columns]
        for i in range(w.shape[0])
        for j in range(w.shape[1])
    )


def spread_back_2d(u: Any, w: Array) -> Any:
    """Gradient of `correlate_2d` with respect to the image."""
    dx = np.zeros((u.shape[0] + w.shape[0] - 1, u.shape[1] + w.shape[1] - 1))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            dx[i : i + u.shape[0], j : j + u.shape[1]] += w[i, j] * u
    return dx


def convolution_2d() -> Case:
    """Slide a 2 x 2 kernel over a small image; all positions share one bias."""

    def f(x: Array, w: Array, b: Array) -> Any:
        return correlate_2d(x, w) + b

    def vjp(u: Any, x: Array, w: Array, b: Array) -> Any:
        return spread_back_2d(u, w), correlate_2d(x, u), u.sum()

    x = np.array([[0.6, -1.1, 0.9, 0.2], [1.4, 0.3, -0.7, 1.8], [-0.4, 1.2, 0.5, -1.5]])
    w = np.array([[0.8, -0.3], [1.6, 0.5]])
    return (
        case("convolution_2d", f, vjp, SMOOTH, x, w, np.array(0.25))
        .bug(
            "kernel-not-flipped",
            "Backward through a sliding window, the kernel runs the other way.",
        )
        .wrong("flip", "permuted", lambda u, x, w, b: spread_back_2d(u, w[::-1, ::-1]), part=0)
        .bug("kernel-transposed", "Rows and columns of the kernel are confused.")
        .by(TRANSPOSED, part=1)
        .bug("bias-not-summed", "All positions share one bias; the sum over them is forgotten.")
        .wrong("missing-sum", "missing-sum", lambda u, x, w, b: u, part=2)
        .bug("bias-averaged", "Mean over the positions instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, x, w, b: u.mean(), part=2)
    )


def convolution_with_channels() -> Case:
    """Two channels in, two channels out, 2 x 2 kernels."""

    def f(x: Array, w: Array) -> Any:
        return np.stack([sum(correlate_2d(x[c], w[o, c]) for c in range(2)) for o in range(2)])

    def vjp(u: Any, x: Array, w: Array) -> Any:
        dx = [sum(spread_back_2d(u[o], w[o, c]) for o in range(2)) for c in range(2)]
        dw = [[correlate_2d(x[c], u[o]) for c in range(2)] for o in range(2)]
        return np.array(dx), np.array(dw)

    def channels_swapped(u: Any, x: Array, w: Array) -> Any:
        dx = [sum(spread_back_2d(u[o], w[c, o]) for o in range(2)) for c in range(2)]
        return np.array(dx)  # wrong: w[o, c]

    def first_output_only(u: Any, x: Array, w: Array) -> Any:
        return np.array([spread_back_2d(u[0], w[0, c]) for c in range(2)])  # wrong: no sum

    rng = np.random.default_rng(12)
    x = rng.uniform(0.2, 1.8, (2, 3, 3))
    w = rng.uniform(-1.5, 1.5, (2, 2, 2, 2))
    return (
        case("convolution_with_channels", f, vjp, SMOOTH, x, w)
        .bug("in-and-out-swapped", "The kernel is indexed (in, out) in the backward pass.")
        .wrong("transpose", "unknown", channels_swapped, part=0)
        .bug("first-output-only", "The sum over output channels is forgotten.")
        .wrong("missing-sum", "mask", first_output_only, part=0)
        .bug("kernel-upside-down", "Images are stored from the bottom up.")
        .wrong("flip", "permuted", lambda u, x, w: (vjp(u, x, w)[0], vjp(u, x, w)[1][:, :, ::-1]))
    )


IMAGE = np.array(
    [[0.3, 1.7, -0.4, 0.9], [1.1, 0.6, 2.2, 1.4], [-0.8, 0.5, 1.9, 0.1], [1.3, -1.6, 0.8, 2.6]]
)


def windows(x: Array) -> Any:
    """Rearrange a 4 x 4 image into its 2 x 2 windows, one per row, four entries each."""
    return x.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)


def image(w: Array) -> Any:
    """Undo `windows`."""
    return w.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)


def max_pooling() -> Case:
    """Largest entry of each 2 x 2 window, no ties."""

    def winners(x: Array) -> Any:
        w = windows(x)
        return w.real == w.real.max(axis=1, keepdims=True)

    def f(x: Array) -> Any:
        return windows(x)[winners(x)].reshape(2, 2)

    def vjp(u: Any, x: Array) -> Any:
        return image(winners(x) * u.reshape(4, 1))

    def last_window_left_out(u: Any, x: Array) -> Any:
        grad = winners(x) * u.reshape(4, 1)
        grad[-1] = 0  # wrong
        return image(grad)

    return (
        case("max_pooling", f, vjp, SMOOTH, IMAGE.copy())
        .bug("to-everyone", "The mask of the winners is forgotten.")
        .wrong("mask-dropped", "unknown", lambda u, x: image(np.ones((4, 4)) * u.reshape(4, 1)))
        .bug("shared", "The backward pass of average pooling.")
        .wrong("wrong-rule", "unknown", lambda u, x: image(np.full((4, 4), 0.25) * u.reshape(4, 1)))
        .bug("last-window-left-out", "The loop over windows ends one too early.")
        .wrong("loop-bounds", "single-entries", last_window_left_out)
        .bug("mirrored", "The saved position within the window is counted from the other end.")
        .wrong("flip", "permuted", lambda u, x: image((winners(x) * u.reshape(4, 1))[:, ::-1]))
    )


def average_pooling() -> Case:
    """Mean of each 2 x 2 window."""

    def f(x: Array) -> Any:
        return windows(x).mean(axis=1).reshape(2, 2)

    def vjp(u: Any, x: Array) -> Any:
        return image(np.full((4, 4), 0.25) * u.reshape(4, 1))

    def corner_only(u: Any, x: Array) -> Any:
        grad = np.zeros((4, 4))
        grad[:, 0] = u.ravel() / 4  # wrong: all four entries of the window
        return image(grad)

    return (
        case("average_pooling", f, vjp, SMOOTH, IMAGE.copy())
        .bug("missing-mean", "The division by the size of the window is forgotten.")
        .wrong("missing-mean", "factor", lambda u, x: 4 * vjp(u, x))
        .changed("one-side-only", "Divided by the side of the window instead of its area.", DOUBLED)
        .bug("corner-only", "Strided assignment reaches one entry per window.")
        .wrong("wrong-mask", "mask", corner_only)
        .changed("shifted", "The windows start at column 1.", rolled(axis=1))
        .bug("last-column-left-out", "The inner loop ends one too early.")
        .by(without(np.s_[:, -1], "row-or-column"))
    )


def upsampling() -> Case:
    """Every entry twice, with weights: y = (0.75 x0, 0.25 x0, 0.75 x1, ...)."""
    share = np.array([0.75, 0.25])

    def f(x: Array) -> Any:
        return (x[:, None] * share).ravel()

    def vjp(u: Any, x: Array) -> Any:
        return u.reshape(-1, 2) @ share

    return (
        case("upsampling", f, vjp, SMOOTH, np.array([0.8, -1.3, 0.6]))
        .bug("every-second", "Subsampling is used as the gradient of upsampling.")
        .wrong("missing-sum", "mask", lambda u, x: u[::2] * share[0])
        .bug("mean", "Mean over the copies instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, x: u.reshape(-1, 2) @ share / 2)
        .bug("shares-swapped", "The two copies are confused.")
        .wrong("flip", "permuted", lambda u, x: u.reshape(-1, 2) @ share[::-1])
    )


CASES = (
    convolution_1d, strided_convolution, convolution_2d, convolution_with_channels, max_pooling,
    average_pooling, upsampling,
)  # fmt: skip
