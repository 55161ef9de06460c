"""Convolution and pooling: sums over sliding windows, written as plain loops.

As in deep learning, "convolution" does not flip the kernel. ``u`` is the upstream gradient.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Array, Bug, Case

SMOOTH = frozenset({"convolution", "smooth"})

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

    def borders_forgotten(u: Any, x: Array, w: Array) -> Any:
        dx = spread_back(u, w)
        dx[[0, -1]] = 0  # wrong: the borders matter too, once each
        return dx, correlate(x, u)

    return Case(
        "convolution_1d",
        f,
        (SIGNAL.copy(), np.array([0.9, -0.5, 1.4])),
        vjp,
        SMOOTH,
        (
            Bug(
                "convolution_1d/kernel-not-flipped",
                "flip",
                lambda u, x, w: (spread_back(u, w[::-1]), correlate(x, u)),
                "Backward through a sliding window, the kernel runs the other way.",
                "permuted",
            ),
            Bug(
                "convolution_1d/kernel-gradient-reversed",
                "flip",
                lambda u, x, w: (spread_back(u, w), correlate(x, u)[::-1]),
                "A mathematician's convolution flips the kernel, this one does not.",
                "permuted",
            ),
            Bug(
                "convolution_1d/borders-forgotten",
                "loop-bounds",
                borders_forgotten,
                "Only positions covered by two windows or more are visited.",
                "single-entries",
            ),
            Bug(
                "convolution_1d/kernel-averaged",
                "mean-for-sum",
                lambda u, x, w: (spread_back(u, w), correlate(x, u) / len(u)),
                "Mean over the positions, where the sum belongs.",
                "factor",
            ),
        ),
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
        return spread_back(packed, w), vjp(u, x, w)[1]

    def phase(u: Any, x: Array, w: Array) -> Any:
        dx, dw = vjp(u, x, w)
        return np.roll(dx, 1), dw  # wrong: the grid starts at 0

    return Case(
        "strided_convolution",
        f,
        (SIGNAL.copy(), np.array([1.3, -0.8])),
        vjp,
        SMOOTH,
        (
            Bug(
                "strided_convolution/stride-forgotten",
                "stride",
                stride_forgotten,
                "The upstream is not spread out to every second position.",
                "permuted",
            ),
            Bug(
                "strided_convolution/phase",
                "off-by-one",
                phase,
                "The grid starts at 1.",
                "permuted",
            ),
            Bug(
                "strided_convolution/kernel-last-tap",
                "loop-bounds",
                lambda u, x, w: (vjp(u, x, w)[0], vjp(u, x, w)[1] * np.array([1.0, 0.0])),
                "The loop over the taps ends one too early.",
                "mask",
            ),
        ),
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
    """Slide a 2 x 2 kernel over a small image; one bias serves all positions."""

    def f(x: Array, w: Array, b: Array) -> Any:
        return correlate_2d(x, w) + b

    def vjp(u: Any, x: Array, w: Array, b: Array) -> Any:
        return spread_back_2d(u, w), correlate_2d(x, u), u.sum()

    x = np.array([[0.6, -1.1, 0.9, 0.2], [1.4, 0.3, -0.7, 1.8], [-0.4, 1.2, 0.5, -1.5]])
    w = np.array([[0.8, -0.3], [1.6, 0.5]])
    return Case(
        "convolution_2d",
        f,
        (x, w, np.array(0.25)),
        vjp,
        SMOOTH,
        (
            Bug(
                "convolution_2d/kernel-not-flipped",
                "flip",
                lambda u, x, w, b: (spread_back_2d(u, w[::-1, ::-1]), correlate_2d(x, u), u.sum()),
                "Backward through a sliding window, the kernel runs the other way.",
                "permuted",
            ),
            Bug(
                "convolution_2d/kernel-transposed",
                "transpose",
                lambda u, x, w, b: (spread_back_2d(u, w), correlate_2d(x, u).T, u.sum()),
                "Rows and columns of the kernel are confused.",
                "transposed",
            ),
            Bug(
                "convolution_2d/bias-not-summed",
                "missing-sum",
                lambda u, x, w, b: (spread_back_2d(u, w), correlate_2d(x, u), u),
                "One bias serves all positions; the sum over them is forgotten.",
                "missing-sum",
            ),
            Bug(
                "convolution_2d/bias-averaged",
                "mean-for-sum",
                lambda u, x, w, b: (spread_back_2d(u, w), correlate_2d(x, u), u.mean()),
                "Mean over the positions, where the sum belongs.",
                "factor",
            ),
        ),
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
        return np.array(dx), vjp(u, x, w)[1]  # wrong: w[o, c]

    def first_output_only(u: Any, x: Array, w: Array) -> Any:
        dx = [spread_back_2d(u[0], w[0, c]) for c in range(2)]  # wrong: the sum over outputs
        return np.array(dx), vjp(u, x, w)[1]

    rng = np.random.default_rng(12)
    return Case(
        "convolution_with_channels",
        f,
        (rng.uniform(0.2, 1.8, (2, 3, 3)), rng.uniform(-1.5, 1.5, (2, 2, 2, 2))),
        vjp,
        SMOOTH,
        (
            Bug(
                "convolution_with_channels/in-and-out-swapped",
                "transpose",
                channels_swapped,
                "The kernel is indexed (in, out) in the backward pass.",
                "unknown",
            ),
            Bug(
                "convolution_with_channels/first-output-only",
                "missing-sum",
                first_output_only,
                "The sum over output channels is forgotten.",
                "mask",
            ),
            Bug(
                "convolution_with_channels/kernel-upside-down",
                "flip",
                lambda u, x, w: (vjp(u, x, w)[0], vjp(u, x, w)[1][:, :, ::-1]),
                "Images are stored from the bottom up.",
                "permuted",
            ),
        ),
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

    return Case(
        "max_pooling",
        f,
        (IMAGE.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "max_pooling/to-everyone",
                "mask-dropped",
                lambda u, x: image(np.ones((4, 4)) * u.reshape(4, 1)),
                "The mask of the winners is forgotten.",
                "unknown",
            ),
            Bug(
                "max_pooling/shared",
                "wrong-rule",
                lambda u, x: image(np.full((4, 4), 0.25) * u.reshape(4, 1)),
                "The backward pass of average pooling.",
                "unknown",
            ),
            Bug(
                "max_pooling/last-window-left-out",
                "loop-bounds",
                last_window_left_out,
                "The loop over windows ends one too early.",
                "single-entries",
            ),
            Bug(
                "max_pooling/mirrored",
                "flip",
                lambda u, x: image((winners(x) * u.reshape(4, 1))[:, ::-1]),
                "The saved position within the window is counted from the other end.",
                "permuted",
            ),
        ),
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

    def last_column_left_out(u: Any, x: Array) -> Any:
        grad = vjp(u, x)
        grad[:, -1] = 0  # wrong
        return grad

    return Case(
        "average_pooling",
        f,
        (IMAGE.copy(),),
        vjp,
        SMOOTH,
        (
            Bug(
                "average_pooling/missing-mean",
                "missing-mean",
                lambda u, x: 4 * vjp(u, x),
                "The division by the size of the window is forgotten.",
                "factor",
            ),
            Bug(
                "average_pooling/one-side-only",
                "factor-2",
                lambda u, x: 2 * vjp(u, x),
                "Divided by the side of the window instead of its area.",
                "factor",
            ),
            Bug(
                "average_pooling/corner-only",
                "wrong-mask",
                corner_only,
                "Strided assignment reaches one entry per window.",
                "mask",
            ),
            Bug(
                "average_pooling/shifted",
                "off-by-one",
                lambda u, x: np.roll(vjp(u, x), 1, axis=1),
                "The windows start at column 1.",
                "permuted",
            ),
            Bug(
                "average_pooling/last-column-left-out",
                "loop-bounds",
                last_column_left_out,
                "The inner loop ends one too early.",
                "row-or-column",
            ),
        ),
    )


def upsampling() -> Case:
    """Every entry twice, with weights: y = (0.75 x0, 0.25 x0, 0.75 x1, ...)."""
    share = np.array([0.75, 0.25])

    def f(x: Array) -> Any:
        return (x[:, None] * share).ravel()

    def vjp(u: Any, x: Array) -> Any:
        return u.reshape(-1, 2) @ share

    return Case(
        "upsampling",
        f,
        (np.array([0.8, -1.3, 0.6]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "upsampling/every-second",
                "missing-sum",
                lambda u, x: u[::2] * share[0],
                "Subsampling is taken for the opposite of upsampling.",
                "mask",
            ),
            Bug(
                "upsampling/mean",
                "mean-for-sum",
                lambda u, x: u.reshape(-1, 2) @ share / 2,
                "Mean over the copies, where the sum belongs.",
                "factor",
            ),
            Bug(
                "upsampling/shares-swapped",
                "flip",
                lambda u, x: u.reshape(-1, 2) @ share[::-1],
                "The two copies are confused.",
                "permuted",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Build every case of this module anew."""
    yield convolution_1d()
    yield strided_convolution()
    yield convolution_2d()
    yield convolution_with_channels()
    yield max_pooling()
    yield average_pooling()
    yield upsampling()
