"""Layers that subtract a mean or divide by a norm: every entry depends on every other.

``u`` is the upstream gradient, of the shape of the output.
"""

from typing import Any

import numpy as np

from .case import ZERO, Array, Case, case

SMOOTH = "normalisation smooth"
EPS = 1e-3


def spread(x: Array, axis: int, eps: float = EPS) -> tuple[Any, Any]:
    """Return the normalized x and the standard deviation it was divided by."""
    centred = x - x.mean(axis=axis, keepdims=True)
    std = np.sqrt((centred * centred).mean(axis=axis, keepdims=True) + eps)
    return centred / std, std


def spread_vjp(u: Any, x: Array, axis: int, eps: float = EPS) -> Any:
    """Gradient of the normalized x: u without its components along 1 and along x itself."""
    x_hat, std = spread(x, axis, eps)
    u_mean = u.mean(axis=axis, keepdims=True)
    u_along = (u * x_hat).mean(axis=axis, keepdims=True)
    return (u - u_mean - x_hat * u_along) / std


def scaled_and_shifted(axis: int) -> tuple[Any, Any]:
    """Normalize along an axis, scale by gamma and shift by beta; and the gradient of that."""

    def f(x: Array, gamma: Array, beta: Array) -> Any:
        return gamma * spread(x, axis)[0] + beta

    def vjp(u: Any, x: Array, gamma: Array, beta: Array) -> Any:
        dx = spread_vjp(u * gamma, x, axis)
        return dx, (u * spread(x, axis)[0]).sum(axis=0), u.sum(axis=0)

    return f, vjp


def layer_norm() -> Case:
    """Each row normalized, then scaled by gamma and shifted by beta."""
    f, vjp = scaled_and_shifted(1)

    def mean_term_dropped(u: Any, x: Array, gamma: Array, beta: Array) -> Any:
        x_hat, std = spread(x, 1)
        g = u * gamma
        return (g - x_hat * (g * x_hat).mean(axis=1, keepdims=True)) / std  # wrong: - mean(g)

    def variance_term_dropped(u: Any, x: Array, gamma: Array, beta: Array) -> Any:
        g = u * gamma
        return (g - g.mean(axis=1, keepdims=True)) / spread(x, 1)[1]  # wrong: std is not constant

    def centres_in_place(u: Any, x: Array, gamma: Array, beta: Array) -> Any:
        x -= x.mean(axis=1, keepdims=True)  # wrong: this is the caller's array
        return vjp(u, x, gamma, beta)

    x = np.array([[0.9, -1.3, 0.4, 1.8], [-0.7, 2.1, 0.2, -1.6]])
    gamma = np.array([1.2, 0.7, -0.9, 1.5])
    beta = np.array([0.1, -0.3, 0.2, 0.4])
    return (
        case("layer_norm", f, vjp, SMOOTH, x, gamma, beta)
        .bug("mean-term-dropped", "The mean is treated as a constant.")
        .wrong("term-dropped", "unknown", mean_term_dropped, part=0)
        .bug("variance-term-dropped", "The standard deviation is treated as a constant.")
        .wrong("term-dropped", "unknown", variance_term_dropped, part=0)
        .bug("gamma-forgotten", "The upstream is not multiplied by gamma on its way to x.")
        .wrong("term-dropped", "inner-factor", lambda u, x, g, b: spread_vjp(u, x, 1), part=0)
        .bug(
            "epsilon-forgotten", "The backward pass recomputes the standard deviation without eps."
        )
        .wrong("epsilon", "unknown", lambda u, x, g, b: spread_vjp(u * g, x, 1, eps=0), part=0)
        .bug(
            "gamma-not-summed",
            "gamma was broadcast over the rows; its gradient must be summed over them.",
        )
        .wrong("missing-sum", "missing-sum", lambda u, x, g, b: u * spread(x, 1)[0], part=1)
        .bug("gamma-from-raw-input", "x instead of the normalised x.")
        .wrong("wrong-place", "unknown", lambda u, x, g, b: (u * x).sum(axis=0), part=1)
        .bug("beta-mean", "Mean over the rows instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, x, g, b: (*vjp(u, x, g, b)[:2], u.mean(axis=0)))
        .bug("centres-in-place", "x -= mean, on the caller's array.")
        .wrong("in-place", "mutated", centres_in_place)
    )


def batch_norm() -> Case:
    """Each column normalized over the batch, then scaled and shifted."""
    f, vjp = scaled_and_shifted(0)

    def sample_variance(u: Any, x: Array, gamma: Array, beta: Array) -> Any:
        x_hat, std = spread(x, 0)
        g = u * gamma
        along = (g * x_hat).sum(axis=0) / (len(x) - 1)  # wrong: the forward pass divides by n
        return (g - g.mean(axis=0) - x_hat * along) / std

    calls = [0]

    def running_statistics(u: Any, x: Array, gamma: Array, beta: Array) -> Any:
        calls[0] += 1
        momentum = 0.9 ** (calls[0] - 1)  # wrong: every backward pass moves the statistics
        return momentum * vjp(u, x, gamma, beta)[0]

    x = np.array([[0.7, -1.4], [1.9, 0.3], [-0.8, 1.1], [0.4, 2.2]])
    gamma = np.array([1.3, -0.8])
    beta = np.array([0.2, 0.5])
    return (
        case("batch_norm", f, vjp, SMOOTH, x, gamma, beta)
        .bug("inference-mode", "Mean and variance are constants at inference, but not in training.")
        .wrong("term-dropped", "unknown", lambda u, x, g, b: u * g / spread(x, 0)[1], part=0)
        .bug("sample-variance", "The variance forward divides by n, backward by n - 1.")
        .wrong("n-minus-1", "unknown", sample_variance, part=0)
        .bug("running-statistics", "The layer updates its statistics in the backward pass.")
        .wrong("state", "accumulated", running_statistics, part=0)
        .bug(
            "beta-not-summed",
            "beta was broadcast over the batch; its gradient must be summed over it.",
        )
        .wrong("missing-sum", "missing-sum", lambda u, x, g, b: u, part=2)
        .bug("gamma-swapped", "The channels are stored in reverse order (BGR for RGB).")
        .wrong("order", "permuted", lambda u, x, g, b: vjp(u, x, g, b)[1][::-1], part=1)
        .changed("gamma-zero", "The affine parameters are frozen by mistake.", ZERO, part=1)
    )


def l2_normalise() -> Case:
    """Differentiate y = x / |x|."""

    def norm(x: Array) -> Any:
        return np.sqrt((x * x).sum())

    def f(x: Array) -> Any:
        return x / norm(x)

    def vjp(u: Any, x: Array) -> Any:
        y = f(x)
        return (u - y * (y * u).sum()) / norm(x)

    return (
        case("l2_normalise", f, vjp, SMOOTH, np.array([1.2, -0.7, 0.5, 1.6]))
        .bug("projection-dropped", "The norm is treated as a constant.")
        .wrong("term-dropped", "unknown", lambda u, x: u / norm(x))
        .bug("norm-forgotten", "The projection is right, the division by the norm is forgotten.")
        .wrong("factor", "factor", lambda u, x: vjp(u, x) * norm(x))
        .bug("plus", "The projection is added.")
        .wrong("sign", "unknown", lambda u, x: (u + f(x) * (f(x) * u).sum()) / norm(x))
        .bug("input-for-output", "The projection uses x instead of the unit vector.")
        .wrong("wrong-place", "unknown", lambda u, x: (u - x * (x * u).sum()) / norm(x))
    )


def rms_norm() -> Case:
    """Each row divided by its root mean square, then scaled by a gain."""

    def rms(x: Array, eps: float = EPS) -> Any:
        return np.sqrt((x * x).mean(axis=1, keepdims=True) + eps)

    def f(x: Array, gain: Array) -> Any:
        return gain * x / rms(x)

    def dx_with(u: Any, x: Array, gain: Array, r: Any) -> Any:
        g = u * gain
        return g / r - x * (g * x).mean(axis=1, keepdims=True) / r**3

    def vjp(u: Any, x: Array, gain: Array) -> Any:
        return dx_with(u, x, gain, rms(x)), (u * x / rms(x)).sum(axis=0)

    def sum_for_mean(u: Any, x: Array, gain: Array) -> Any:
        g, r = u * gain, rms(x)
        return g / r - x * (g * x).sum(axis=1, keepdims=True) / r**3  # wrong: mean

    x = np.array([[1.1, -0.6, 0.8], [0.5, 1.7, -1.2]])
    gain = np.array([0.9, 1.4, -0.7])
    return (
        case("rms_norm", f, vjp, SMOOTH, x, gain)
        .bug("second-term-dropped", "The root mean square is treated as a constant.")
        .wrong("term-dropped", "unknown", lambda u, x, g: (u * g / rms(x), vjp(u, x, g)[1]))
        .bug("sum-for-mean", "The mean becomes a sum in the backward pass.")
        .wrong("missing-mean", "unknown", sum_for_mean, part=0)
        .bug("smaller-epsilon", "eps is 1e-3 forward, and the default 1e-5 backward.")
        .wrong("epsilon", "unknown", lambda u, x, g: dx_with(u, x, g, rms(x, 1e-5)), part=0)
        .bug(
            "gain-not-summed",
            "The gain was broadcast over the rows; its gradient must be summed over them.",
        )
        .wrong("missing-sum", "missing-sum", lambda u, x, g: u * x / rms(x), part=1)
    )


def weight_norm() -> Case:
    """Differentiate w = g v / |v|: a weight vector split into length and direction."""

    def norm(v: Array) -> Any:
        return np.sqrt((v * v).sum())

    def f(v: Array, g: Array) -> Any:
        return g * v / norm(v)

    def vjp(u: Any, v: Array, g: Array) -> Any:
        unit = v / norm(v)
        return g * (u - unit * (unit * u).sum()) / norm(v), (unit * u).sum()

    return (
        case("weight_norm", f, vjp, SMOOTH, np.array([0.8, -1.5, 0.6]), np.array(1.7))
        .bug("length-not-summed", "The length is one number; its gradient comes back as a vector.")
        .wrong("missing-sum", "missing-sum", lambda u, v, g: (vjp(u, v, g)[0], u * v / norm(v)))
        .bug("length-forgotten", "The factor g is left out of the gradient of the direction.")
        .wrong("factor", "inner-factor", lambda u, v, g: (vjp(u, v, g)[0] / g, vjp(u, v, g)[1]))
        .changed("length-zero", "The length is treated as a constant.", ZERO, part=1)
        .bug("direction-not-projected", "The norm is treated as a constant.")
        .wrong("term-dropped", "unknown", lambda u, v, g: (g * u / norm(v), vjp(u, v, g)[1]))
    )


def min_max_scale() -> Case:
    """Differentiate y = (x - min) / (max - min), no ties."""

    def f(x: Array) -> Any:
        low, high = x[x.real.argmin()], x[x.real.argmax()]
        return (x - low) / (high - low)

    def vjp(u: Any, x: Array) -> Any:
        width = x.max() - x.min()
        y = (x - x.min()) / width
        grad = u / width
        grad[x.argmin()] -= (u * (1 - y)).sum() / width
        grad[x.argmax()] -= (u * y).sum() / width
        return grad

    def maximum_constant(u: Any, x: Array) -> Any:
        width = x.max() - x.min()
        grad = u / width
        grad[x.argmin()] -= (u * (1 - (x - x.min()) / width)).sum() / width
        return grad  # wrong: the largest entry moves the width too

    return (
        case("min_max_scale", f, vjp, SMOOTH, np.array([0.6, -1.3, 1.9, 0.2, 1.1]))
        .bug("both-constant", "Minimum and maximum are treated as constants.")
        .wrong("term-dropped", "unknown", lambda u, x: u / (x.max() - x.min()))
        .bug("maximum-constant", "The path through the maximum is forgotten.")
        .wrong("term-dropped", "single-entries", maximum_constant)
        .bug("width-forgotten", "The division by the width is forgotten.")
        .wrong("factor", "factor", lambda u, x: vjp(u, x) * (x.max() - x.min()))
    )


CASES = (
    layer_norm, batch_norm, l2_normalise, rms_norm, weight_norm, min_max_scale,
)  # fmt: skip
