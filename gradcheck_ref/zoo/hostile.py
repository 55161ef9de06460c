"""Right gradients that are hard to check, and wrong ones that are hard to catch.

The points lie at a kink or near one, the scale is tiny or huge, a large constant is added, the
domain ends nearby, the function computes in float32 or has noise. No single step of a finite
difference suits them all, and a checker that then blames the gradient raises a false alarm.

At a kink the right gradient lies between the one-sided slopes; the wrong ones lie outside, unless
the docstring says otherwise. Under noise and in float32 the right gradient is that of the intended
function. ``u`` is the upstream gradient.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .case import DOUBLED, HALVED, NEGATED, ZERO, Array, Case, case, times


def patched(vjp: Callable[..., Any], index: int, value: float) -> Callable[..., Any]:
    """Make a wrong vjp: ``vjp``, but with the slope ``value`` at one entry of ``x``."""

    def wrong(u: Any, x: Array) -> Any:
        grad = np.array(vjp(u, x))
        grad[index] = (u[index] if np.ndim(u) else u) * value
        return grad

    return wrong


# Kinks.


def relu_at_zero() -> Case:
    """ReLU with one entry exactly 0: any slope in [0, 1] is right there."""

    def f(x: Array) -> Any:
        return np.maximum(x, 0)

    def vjp(u: Any, x: Array) -> Any:
        return u * (x > 0)

    return (
        case("relu_at_zero", f, vjp, "elementwise kink", np.array([1.2, 0.0, -0.7, 0.6, 2.1]))
        .bug("slope-above", "Zero counts for both branches, and one of them is scaled.")
        .wrong("subgradient", "single-entries", patched(vjp, 1, 1.5))
        .bug("slope-below", "sign(x) - 1 is confused with a mask.")
        .wrong("subgradient", "single-entries", patched(vjp, 1, -1.0))
        .bug("mask-dropped", "Wrong at the negative entry, but not at 0.")
        .wrong("mask-dropped", "unknown", lambda u, x: u * np.ones_like(x))
        .bug("threshold-one", "The gate opens at 1.")
        .wrong("wrong-mask", "single-entries", lambda u, x: u * (x > 1))
    )


def absolute_value_at_zero() -> Case:
    """|x| with one entry exactly 0: any slope in [-1, 1] is right there."""

    def vjp(u: Any, x: Array) -> Any:
        return u * np.sign(x)

    x = np.array([0.8, -1.3, 0.0, 1.9, -0.4])
    return (
        case("absolute_value_at_zero", np.abs, vjp, "elementwise kink", x)
        .bug("slope-two", "Both one-sided slopes are added up, without their signs.")
        .wrong("subgradient", "single-entries", patched(vjp, 2, 2.0))
        .changed("sign", "The branches are swapped.", NEGATED)
        .bug("positive-only", "The ReLU's mask is reused.")
        .wrong("wrong-mask", "mask", lambda u, x: u * (x > 0))
    )


def maximum_with_tie() -> Case:
    """Largest entry, shared by two: any two slopes that add up to 1 are right.

    ``to-all`` gives each of them 1. For each entry that lies between the one-sided slopes; only a
    step that moves both together shows that the sum is wrong.
    """

    def f(x: Array) -> Any:
        return x.max()

    def vjp(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        grad[x.argmax()] = u
        return grad

    return (
        case("maximum_with_tie", f, vjp, "elementwise kink tie", np.array([0.3, 1.5, -0.2, 1.5]))
        .bug("to-all", "x == max marks every winner; each gets the whole gradient.")
        .wrong("tie", "single-entries", lambda u, x: u * (x == x.max()))
        .bug("out-of-range", "The shares of the tied entries are normalised wrongly.")
        .wrong("subgradient", "factor", patched(vjp, 1, 1.5))
        .bug("to-the-loser", "The position of the winner is counted from 1.")
        .wrong("order", "permuted", lambda u, x: np.roll(vjp(u, x), 1))
        .changed("sign", "Minimum and maximum are confused.", NEGATED)
    )


def max_pooling_with_tie() -> Case:
    """Two windows of three; the largest entry of the first one appears twice."""

    def f(x: Array) -> Any:
        return x.max(axis=1)

    def vjp(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        grad[np.arange(len(x)), x.argmax(axis=1)] = u
        return grad

    x = np.array([[1.4, 0.2, 1.4], [0.6, 1.7, -0.9]])
    return (
        case("max_pooling_with_tie", f, vjp, "convolution kink tie", x)
        .bug("to-all", "x == max marks every winner; each gets the whole gradient.")
        .wrong(
            "tie", "single-entries", lambda u, x: u[:, None] * (x == x.max(axis=1, keepdims=True))
        )
        .bug("to-the-smallest", "argmin is typed instead of argmax.")
        .wrong("wrong-mask", "unknown", lambda u, x: -vjp(u, -x))
        .bug("doubled", "Overlapping windows are assumed, so that every entry counts twice.")
        .wrong("factor-2", "factor", lambda u, x: 2 * vjp(u, x))
    )


def clip_at_its_edges() -> Case:
    """Clipping to [-1, 1] with entries exactly on both edges."""

    def f(x: Array) -> Any:
        return np.clip(x, -1, 1)

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.abs(x) <= 1)

    return (
        case("clip_at_its_edges", f, vjp, "elementwise kink", np.array([1.0, 0.2, -1.0, 2.0, -0.6]))
        .bug("negative-slope", "At the edge the overshoot is subtracted.")
        .wrong("subgradient", "single-entries", patched(vjp, 0, -1.0))
        .bug("upper-bound-forgotten", "Only the lower bound closes the gate.")
        .wrong("wrong-mask", "single-entries", lambda u, x: u * (x >= -1))
        .bug("nearly", "A soft clip with a gain of 1.0001 serves as the gradient.")
        .wrong("perturbation", "factor", lambda u, x: 1.0001 * vjp(u, x))
    )


def hinge_at_its_margin() -> Case:
    """Sum of max(0, 1 - x): two entries exactly on the margin."""

    def f(x: Array) -> Any:
        return np.maximum(1 - x, 0).sum()

    def vjp(u: Any, x: Array) -> Any:
        return -u * (x < 1)

    return (
        case("hinge_at_its_margin", f, vjp, "loss kink", np.array([1.0, 0.3, 1.8, -0.9, 1.0]))
        .changed("sign", "The minus of the inner derivative is lost.", NEGATED)
        .bug("positive-slope", "A subgradient on the wrong side of 0.")
        .wrong("subgradient", "single-entries", patched(vjp, 0, 0.5))
        .bug("perceptron", "The perceptron's rule: only mistakes count, the margin does not.")
        .wrong("wrong-mask", "single-entries", lambda u, x: -u * (x < 0))
    )


def relu_near_zero() -> Case:
    """ReLU at +-3e-6: closer to the kink than most steps."""

    def f(x: Array) -> Any:
        return np.maximum(x, 0)

    def vjp(u: Any, x: Array) -> Any:
        return u * (x > 0)

    x = np.array([3e-6, -3e-6, 0.8, -1.1, 1.6])
    return (
        case("relu_near_zero", f, vjp, "elementwise near-kink", x)
        .bug("dead-zone", "A tolerance for zero in the mask.")
        .wrong("epsilon", "single-entries", lambda u, x: u * (x > 1e-5))
        .bug("slope-half", "A symmetric difference across the kink serves as the gradient.")
        .wrong("subgradient", "single-entries", patched(vjp, 0, 0.5))
        .bug("mask-dropped", "The gradient passes through closed gates.")
        .wrong("mask-dropped", "unknown", lambda u, x: u * np.ones_like(x))
        .changed("sign", "Ascent and descent are confused.", NEGATED)
    )


def leaky_relu_near_zero() -> Case:
    """Leaky ReLU (slope 0.2) about 1e-3 away from its kink."""

    def f(x: Array) -> Any:
        return np.where(x.real > 0, x, 0.2 * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.where(x > 0, 1, 0.2)

    x = np.array([1.1e-3, -0.9e-3, 0.7, -1.4])
    return (
        case("leaky_relu_near_zero", f, vjp, "elementwise near-kink", x)
        .bug("leak-forgotten", "The backward pass is copied from the plain ReLU.")
        .wrong("wrong-mask", "mask", lambda u, x: u * (x > 0))
        .bug("other-slope", "The slope is learnt, and was rounded when it was saved.")
        .wrong("constant", "unknown", lambda u, x: u * np.where(x > 0, 1, 0.2002))
        .bug("swapped", "The branches are swapped.")
        .wrong("wrong-mask", "unknown", lambda u, x: u * np.where(x > 0, 0.2, 1))
    )


def absolute_value_near_zero() -> Case:
    """Sum of x^2 + |x| with entries within 2e-5 of the kink."""

    def f(x: Array) -> Any:
        return (x**2 + np.where(x.real > 0, x, -x)).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * (2 * x + np.sign(x))

    x = np.array([2e-5, -7e-6, 0.6, -1.2])
    return (
        case("absolute_value_near_zero", f, vjp, "elementwise near-kink", x)
        .bug("smoothed", "|x| is differentiated as sqrt(x^2 + 1e-6).")
        .wrong(
            "approximate-derivative", "unknown", lambda u, x: u * (2 * x + x / np.sqrt(x**2 + 1e-6))
        )
        .bug("kink-dropped", "Only the square is differentiated.")
        .wrong("term-dropped", "unknown", lambda u, x: u * 2 * x)
        .bug("square-dropped", "The square, a penalty, is forgotten.")
        .wrong("regulariser-forgotten", "regulariser", lambda u, x: u * np.sign(x))
    )


def maximum_near_tie() -> Case:
    """Largest entry; the second largest is 1e-6 below it."""

    def f(x: Array) -> Any:
        return x[x.real.argmax()] ** 2

    def vjp(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        grad[x.argmax()] = u * 2 * x.max()
        return grad

    x = np.array([0.4, 1.3, 1.3 - 1e-6, -0.7])
    return (
        case("maximum_near_tie", f, vjp, "elementwise near-kink", x)
        .bug("to-both", "Equality is tested with a tolerance.")
        .wrong("epsilon", "single-entries", lambda u, x: u * 2 * x.max() * (x > x.max() - 1e-5))
        .bug("shared", "As above, and the gradient is shared.")
        .wrong("epsilon", "unknown", lambda u, x: u * x.max() * (x > x.max() - 1e-5))
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
    )


def three_halves_power_at_zero() -> Case:
    """|x|^1.5 with one entry at 0: the slope there is 0, the curvature infinite."""

    def f(x: Array) -> Any:
        return np.abs(x) ** 1.5

    def vjp(u: Any, x: Array) -> Any:
        return u * 1.5 * np.sign(x) * np.sqrt(np.abs(x))

    x = np.array([0.9, 0.0, -1.3, 0.5])
    return (
        case("three_halves_power_at_zero", f, vjp, "elementwise domain-edge", x)
        .bug("sign-dropped", "The inner derivative of |x| is forgotten.")
        .wrong("sign-dropped", "single-entries", lambda u, x: u * 1.5 * np.sqrt(np.abs(x)))
        .bug("guarded", "Zero is replaced by a small number to avoid a division.")
        .wrong(
            "epsilon",
            "single-entries",
            lambda u, x: u * 1.5 * (np.sign(x) * np.sqrt(np.abs(x)) + 1e-3 * (x == 0)),
        )
        .bug("exponent", "The exponent is not brought down.")
        .wrong("factor", "factor", lambda u, x: u * np.sign(x) * np.sqrt(np.abs(x)))
    )


# Jumps.


def step_at_its_jump() -> Case:
    """x^2, plus 1 from x = 1 on, with one entry exactly there: the slope from the right is 2."""

    def f(x: Array) -> Any:
        return x**2 + (x >= 1)

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return (
        case("step_at_its_jump", f, vjp, "elementwise jump", np.array([0.4, 1.0, 1.7, -0.8]))
        .changed("sign", "Ascent and descent are confused.", NEGATED)
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
        .bug("below-dropped", "The unit is treated as off below the threshold.")
        .wrong("wrong-mask", "mask", lambda u, x: u * 2 * x * (x >= 1))
    )


def step_near_its_jump() -> Case:
    """Differentiate x + floor(x) / 10, a quantizer with entries 1e-5 from a jump."""

    def f(x: Array) -> Any:
        return x + 0.1 * np.floor(x.real)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.ones_like(x)

    x = np.array([2.00001, 0.6, 0.99999, -1.3])
    return (
        case("step_near_its_jump", f, vjp, "elementwise jump", x)
        .bug("average-slope", "The jumps are averaged into the slope.")
        .wrong("factor", "factor", lambda u, x: u * 1.1 * np.ones_like(x))
        .bug("output-for-derivative", "The output is multiplied in.")
        .wrong("wrong-place", "local-derivative", lambda u, x: u * f(x))
        .bug("nearly", "One weight drifted in storage.")
        .wrong("perturbation", "single-entries", patched(vjp, 1, 1.00001))
    )


# Scale.


def tiny_loss() -> Case:
    """1e-14 times a sum of sines."""

    def f(x: Array) -> Any:
        return 1e-14 * np.sin(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 1e-14 * np.cos(x)

    return (
        case("tiny_loss", f, vjp, "elementwise smooth tiny", np.array([0.4, -1.1, 2.3]))
        .bug("factor-2", "A pair is counted twice; every absolute tolerance lets it pass.")
        .wrong("factor-2", "factor", lambda u, x: 2 * vjp(u, x))
        .bug("sign", "Ascent and descent are confused; every absolute tolerance lets it pass.")
        .wrong("sign", "sign", lambda u, x: -vjp(u, x))
        .changed("zero", "Below 1e-12 it counts as numerical noise and is set to zero.", ZERO)
        .bug("one-entry", "One weight of the loss was changed by a hair, forward only.")
        .wrong("perturbation", "single-entries", patched(vjp, 1, 1e-14 * math.cos(1.1) * 1.0001))
    )


def tiny_softmax() -> Case:
    """Softmax times 1e-6."""

    def s(x: Array) -> Any:
        e = np.exp(x)
        return e / e.sum()

    def f(x: Array) -> Any:
        return 1e-6 * s(x)

    def vjp(u: Any, x: Array) -> Any:
        return 1e-6 * s(x) * (u - (u * s(x)).sum())

    return (
        case("tiny_softmax", f, vjp, "loss smooth tiny", np.array([0.6, -0.9, 1.4, 0.1]))
        .bug("factor-2", "The scale is typed as 2e-6; every absolute tolerance lets it pass.")
        .wrong("factor-2", "factor", lambda u, x: 2 * vjp(u, x))
        .bug("cross-term-dropped", "s (1 - s) is used as the whole Jacobian.")
        .wrong("term-dropped", "mask", lambda u, x: 1e-6 * s(x) * (1 - s(x)) * u)
        .changed("nearly", "A forgotten temperature of 0.99999.", times(1 + 1e-5, "perturbation"))
    )


def vanishing_loss() -> Case:
    """1e-150 times a sum of squares: squaring a gradient underflows."""

    def f(x: Array) -> Any:
        return 1e-150 * (x * x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 2e-150 * x

    return (
        case("vanishing_loss", f, vjp, "elementwise smooth tiny", np.array([1.3, -0.7, 0.4]))
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
        .bug("sign-dropped", "The square hides the sign of x.")
        .wrong("sign-dropped", "single-entries", lambda u, x: u * 2e-150 * np.abs(x))
    )


def huge_loss() -> Case:
    """1e12 times a sum of tanh."""

    def f(x: Array) -> Any:
        return 1e12 * np.tanh(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 1e12 * (1 - np.tanh(x) ** 2)

    return (
        case("huge_loss", f, vjp, "elementwise smooth huge", np.array([0.4, -0.9, 1.2]))
        .changed("sign", "y^2 - 1 instead of 1 - y^2.", NEGATED)
        .bug("nearly", "Units are converted with a constant of six digits.")
        .wrong("perturbation", "factor", lambda u, x: vjp(u, x) * 1.000003)
        .bug("at-the-input", "x instead of the output.")
        .wrong("wrong-place", "unknown", lambda u, x: u * 1e12 * (1 - x**2))
    )


def exponential_at_300() -> Case:
    """e^x near x = 300: 1e130."""

    def f(x: Array) -> Any:
        return np.exp(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * np.exp(x)

    x = np.array([299.0, 300.5, 300.1])
    return (
        case("exponential_at_300", f, vjp, "elementwise smooth huge", x)
        .bug("shifted", "A shift against overflow that is not undone.")
        .wrong("factor", "factor", lambda u, x: u * np.exp(x - 1))
        .bug("first-left-out", "The loop starts at 1.")
        .wrong("loop-bounds", "single-entries", lambda u, x: u * np.exp(x) * np.array([0, 1, 1]))
    )


def identity_far_out() -> Case:
    """Differentiate y = x at 1.23e10: a step of 1e-6 is lost in rounding."""

    def f(x: Array) -> Any:
        return x * 1.0

    def vjp(u: Any, x: Array) -> Any:
        return u * np.ones_like(x)

    x = np.array([1.23e10, -4.56e10, 7.89e10])
    return (
        case("identity_far_out", f, vjp, "elementwise smooth large-x", x)
        .changed("zero", "A difference quotient with too small a step gives 0.", ZERO)
        .bug("nearly", "A unit conversion that only the backward pass applies.")
        .wrong("perturbation", "factor", lambda u, x: u * 1.0001 * np.ones_like(x))
        .bug("reversed", "The entries come back in reverse order.")
        .wrong("order", "permuted", lambda u, x: u[::-1] * np.ones_like(x))
    )


def cube_at_tens() -> Case:
    """x^3 around 20: nothing unusual, but its curvature is in the hundreds."""

    def f(x: Array) -> Any:
        return x**3

    def vjp(u: Any, x: Array) -> Any:
        return u * 3 * x**2

    return (
        case("cube_at_tens", f, vjp, "elementwise smooth", np.array([11.0, -19.0, 28.0]))
        .bug("three-forgotten", "The exponent is not brought down.")
        .wrong("factor-third", "factor", lambda u, x: u * x**2)
        .bug("one-too-few", "The exponent is lowered by two.")
        .wrong("wrong-power", "inner-factor", lambda u, x: u * 3 * x)
        .bug("nearly", "An exponent that was fitted, not known.")
        .wrong("perturbation", "factor", lambda u, x: u * 3.00003 * x**2)
    )


def square_of_large_x() -> Case:
    """x^2 at 1e8."""

    def f(x: Array) -> Any:
        return x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    x = np.array([1.1e8, -2.3e8, 0.7e8])
    return (
        case("square_of_large_x", f, vjp, "elementwise smooth large-x", x)
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
        .bug("nearly", "An exponent that was fitted, not known.")
        .wrong("perturbation", "factor", lambda u, x: u * 2.00001 * x)
        .bug("last-left-out", "The loop ends one too early.")
        .wrong("loop-bounds", "single-entries", lambda u, x: u * 2 * x * np.array([1, 1, 0]))
    )


def logarithm_of_large_x() -> Case:
    """Sum of ln x at 1e8: the gradient is 1e-8."""

    def f(x: Array) -> Any:
        return np.log(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u / x

    x = np.array([1e8, 3.3e8, 0.6e8])
    return (
        case("logarithm_of_large_x", f, vjp, "elementwise smooth large-x", x)
        .changed("zero", "1e-8 is rounded to nothing.", ZERO)
        .changed("two", "The gradient of ln x^2.", DOUBLED)
        .bug("guarded", "A guard in the denominator, in the units of another problem.")
        .wrong("epsilon", "unknown", lambda u, x: u / (x + 1e3))
    )


def square_of_small_x() -> Case:
    """x^2 at 1e-8: a fixed step is a thousand times longer than x."""

    def f(x: Array) -> Any:
        return x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    x = np.array([1e-8, -2.2e-8, 0.6e-8])
    return (
        case("square_of_small_x", f, vjp, "elementwise smooth small-x", x)
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
        .changed("zero", "x is rounded to 0.", ZERO)
        .bug("one-sided", "A forward difference with h = 1e-8 serves as the gradient.")
        .wrong("approximate-derivative", "unknown", lambda u, x: u * (2 * x + 1e-8))
    )


def sine_of_small_x() -> Case:
    """Sum of sin x + x^2 at 1e-8."""

    def f(x: Array) -> Any:
        return (np.sin(x) + x**2).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.cos(x) + 2 * x)

    return (
        case("sine_of_small_x", f, vjp, "elementwise smooth small-x", np.array([1e-8, -3e-8, 2e-8]))
        .changed("sign", "The minus belongs to the derivative of the cosine.", NEGATED)
        .bug("cosine-forgotten", "Only the square is differentiated.")
        .wrong("term-dropped", "unknown", lambda u, x: u * 2 * x)
        .bug("nearly", "An offset of 0.01 remains from an older version.")
        .wrong("perturbation", "factor", lambda u, x: u * (np.cos(x + 1e-2) + 2 * x))
    )


def large_offset() -> Case:
    """1e6 plus a thousandth of a sum of sines: the constant takes most of the digits."""

    def f(x: Array) -> Any:
        return 1e6 + 1e-3 * np.sin(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 1e-3 * np.cos(x)

    return (
        case("large_offset", f, vjp, "elementwise offset", np.array([0.4, -1.2, 0.9]))
        .changed("sign", "The minus belongs to the derivative of the cosine.", NEGATED)
        .changed("factor-2", "A symmetric pair is counted twice.", DOUBLED)
        .changed("percent", "An interest of one per cent, backward only.", times(1.01))
    )


def square_on_a_pedestal() -> Case:
    """1e6 + x^2, entry by entry."""

    def f(x: Array) -> Any:
        return 1e6 + x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return (
        case("square_on_a_pedestal", f, vjp, "elementwise offset", np.array([1.2, -0.7, 0.4, 2.1]))
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
        .bug("negative-lost", "A ReLU's mask is left in.")
        .wrong("wrong-mask", "single-entries", lambda u, x: u * 2 * x * (x > 0))
        .bug("thousandth", "A weight of 1.001 was taken out of the forward pass only.")
        .wrong("perturbation", "factor", lambda u, x: u * 2.002 * x)
    )


def mixed_magnitudes() -> Case:
    """Sum of e^x for x from -12 to 8: gradients from 6e-6 to 3e3 in one array."""

    def f(x: Array) -> Any:
        return np.exp(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * np.exp(x)

    x = np.array([-12.0, -6.5, -1.0, 3.5, 8.0])
    return (
        case("mixed_magnitudes", f, vjp, "elementwise mixed-magnitudes", x)
        .bug("clipped", "Gradient clipping is left on during the check.")
        .wrong("wrong-mask", "single-entries", lambda u, x: u * np.minimum(np.exp(x), 1000.0))
        .bug("nearly", "Units are converted with a constant of six digits.")
        .wrong("perturbation", "factor", lambda u, x: u * np.exp(x) * 1.000003)
        .bug("offset", "A floor of 0.01 under every gradient.")
        .wrong("epsilon", "unknown", lambda u, x: u * (np.exp(x) + 1e-2))
        .bug("reversed", "The entries come back in reverse order.")
        .wrong("order", "permuted", lambda u, x: u * np.exp(x)[::-1])
    )


def sigmoid_in_its_tail() -> Case:
    """Sigmoid at -30, -15, -2 and 1: gradients from 1e-13 to 0.2."""

    def s(x: Array) -> Any:
        return 1 / (1 + np.exp(-x))

    def vjp(u: Any, x: Array) -> Any:
        return u * s(x) * (1 - s(x))

    x = np.array([-30.0, -15.0, -2.0, 1.0])
    return (
        case("sigmoid_in_its_tail", s, vjp, "elementwise smooth mixed-magnitudes", x)
        .bug(
            "half-the-formula",
            "s (1 - s) without its second factor: right in the tail, wrong in the middle.",
        )
        .wrong("term-dropped", "unknown", lambda u, x: u * s(x))
        .bug("tanh-rule", "The derivative of tanh.")
        .wrong("wrong-rule", "unknown", lambda u, x: u * (1 - s(x) ** 2))
        .changed("sign", "s (s - 1) instead of s (1 - s).", NEGATED)
    )


# Edges of the domain.


def square_root_near_zero() -> Case:
    """Differentiate sqrt x at 1e-10: a step of 1e-6 leaves the domain."""

    def vjp(u: Any, x: Array) -> Any:
        return u * 0.5 / np.sqrt(x)

    x = np.array([1e-10, 4e-10, 2.5e-10])
    return (
        case("square_root_near_zero", np.sqrt, vjp, "elementwise small-x domain-edge smooth", x)
        .changed("half-forgotten", "The exponent 1/2 is not brought down.", DOUBLED)
        .bug("guarded", "A guard against division by zero that the function itself does not have.")
        .wrong("epsilon", "unknown", lambda u, x: u * 0.5 / np.sqrt(x + 1e-12))
        .bug("guarded-root", "The guard is added after the root.")
        .wrong("epsilon", "unknown", lambda u, x: u * 0.5 / (np.sqrt(x) + 1e-8))
    )


def logarithm_near_zero() -> Case:
    """Differentiate ln x at 1e-8."""

    def vjp(u: Any, x: Array) -> Any:
        return u / x

    x = np.array([1e-8, 3e-8, 0.7e-8])
    return (
        case("logarithm_near_zero", np.log, vjp, "elementwise smooth small-x domain-edge", x)
        .changed("sign", "The gradient of the negative log-likelihood.", NEGATED)
        .bug("guarded", "log(x + eps) backward, log(x) forward.")
        .wrong("epsilon", "unknown", lambda u, x: u / (x + 1e-12))
        .bug("clipped", "x is clipped in the backward pass.")
        .wrong("epsilon", "unknown", lambda u, x: u / np.maximum(x, 2e-8))
    )


def square_root_just_inside() -> Case:
    """sqrt(x - 1) with x a little above 1."""

    def f(x: Array) -> Any:
        return np.sqrt(x - 1)

    def vjp(u: Any, x: Array) -> Any:
        return u * 0.5 / np.sqrt(x - 1)

    x = np.array([1 + 2.0**-20, 1 + 2.0**-18, 1 + 2.0**-14])
    return (
        case("square_root_just_inside", f, vjp, "elementwise smooth domain-edge", x)
        .bug("shift-forgotten", "The - 1 is forgotten in the backward pass.")
        .wrong("wrong-place", "unknown", lambda u, x: u * 0.5 / np.sqrt(x))
        .changed("half-forgotten", "The exponent 1/2 is not brought down.", DOUBLED)
        .changed("sign", "1 - x instead of x - 1.", NEGATED)
    )


def entropy_near_zero() -> Case:
    """Sum of x ln x with entries down to 1e-9."""

    def f(x: Array) -> Any:
        return (x * np.log(x)).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.log(x) + 1)

    x = np.array([1e-9, 3e-7, 0.2, 0.8])
    return (
        case("entropy_near_zero", f, vjp, "loss small-x domain-edge", x)
        .bug("one-dropped", "Half of the product rule.")
        .wrong("product-rule", "unknown", lambda u, x: u * np.log(x))
        .changed("sign", "Entropy is minus this sum.", NEGATED)
        .bug("guarded", "An epsilon inside the logarithm, backward only.")
        .wrong("epsilon", "unknown", lambda u, x: u * (np.log(x + 1e-10) + 1))
        .bug("base-two", "In bits, while the function is in nats.")
        .wrong("factor", "factor", lambda u, x: vjp(u, x) / math.log(2))
    )


def arcsine_near_one() -> Case:
    """Differentiate arcsin x, 1e-7 inside its domain."""

    def vjp(u: Any, x: Array) -> Any:
        return u / np.sqrt((1 - x) * (1 + x))

    x = np.array([1 - 2.0**-23, -1 + 2.0**-20, 0.6])
    return (
        case("arcsine_near_one", np.arcsin, vjp, "elementwise smooth domain-edge", x)
        .changed("of-arccosine", "The derivative of arccos.", NEGATED)
        .bug("root-forgotten", "The root is forgotten.")
        .wrong("wrong-power", "unknown", lambda u, x: u / (1 - x**2))
        .bug("of-arctangent", "The derivative of arctan.")
        .wrong("wrong-rule", "unknown", lambda u, x: u / (1 + x**2))
    )


# Speed.


def fast_sine() -> Case:
    """sin(1000 x)."""

    def f(x: Array) -> Any:
        return np.sin(1000 * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * 1000 * np.cos(1000 * x)

    return (
        case("fast_sine", f, vjp, "elementwise smooth fast", np.array([0.3, -0.71, 1.13]))
        .bug("inner-derivative", "The inner derivative 1000 is forgotten.")
        .wrong("factor", "factor", lambda u, x: u * np.cos(1000 * x))
        .bug("nearly", "A frequency from another calibration.")
        .wrong("perturbation", "factor", lambda u, x: u * 1000.003 * np.cos(1000 * x))
        .changed("sign", "The minus belongs to the derivative of the cosine.", NEGATED)
    )


def very_fast_sine() -> Case:
    """sin(20000 x) summed: a step of 1e-4 spans a third of a period."""

    def f(x: Array) -> Any:
        return np.sin(20000 * x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 20000 * np.cos(20000 * x)

    return (
        case("very_fast_sine", f, vjp, "elementwise smooth fast", np.array([0.3, -0.7, 0.11]))
        .changed("zero", "The average slope over a period.", ZERO)
        .changed("half", "Half the sampling rate is used as the frequency.", HALVED)
        .bug("phase", "A phase of a thousandth is forgotten.")
        .wrong("wrong-place", "unknown", lambda u, x: u * 20000 * np.cos(20000 * x + 1e-3))
    )


# Float32 and noise.


def float32_softplus() -> Case:
    """Sum of softplus, computed in float32 and returned as float64."""

    def f(x: Array) -> Any:
        return np.float64(np.log1p(np.exp(x.astype(np.float32))).sum())

    def vjp(u: Any, x: Array) -> Any:
        return u / (1 + np.exp(-x))

    return (
        case("float32_softplus", f, vjp, "elementwise float32", np.array([0.6, -0.8, 1.3, 0.2]))
        .bug("hard-gate", "The gate of the ReLU.")
        .wrong("approximate-derivative", "unknown", lambda u, x: u * (x > 0))
        .bug("reversed-sign", "sigmoid(-x) for sigmoid(x).")
        .wrong("sign", "inner-factor", lambda u, x: u / (1 + np.exp(x)))
        .changed("factor-2", "A symmetric pair is counted twice.", DOUBLED)
        .bug("five-per-cent", "A gain of 1.05 that the forward pass no longer has.")
        .wrong("perturbation", "factor", lambda u, x: 1.05 * vjp(u, x))
    )


def float32_layer() -> Case:
    """tanh(W x) computed in float32."""
    W32 = np.array([[0.6, -0.9, 0.4], [1.1, 0.3, -0.7]], dtype=np.float32)
    W = W32.astype(np.float64)

    def f(x: Array) -> Any:
        return np.tanh(W32 @ x.astype(np.float32)).astype(np.float64)

    def vjp(u: Any, x: Array) -> Any:
        return W.T @ (u * (1 - np.tanh(W @ x) ** 2))

    return (
        case("float32_layer", f, vjp, "network float32", np.array([0.8, -0.5, 1.2]))
        .bug("tanh-forgotten", "The derivative of the tanh is forgotten.")
        .wrong("term-dropped", "unknown", lambda u, x: W.T @ u)
        .changed("sign", "y^2 - 1 instead of 1 - y^2.", NEGATED)
        .bug("rolled", "Written to index i + 1.")
        .wrong("off-by-one", "permuted", lambda u, x: np.roll(vjp(u, x), 1))
    )


def noisy_sine() -> Case:
    """Sum of sin x, plus noise of 1e-8 that is the same in every call."""

    def noise(x: Array) -> Any:
        # A very fast sine looks like noise, but repeats exactly.
        return 1e-8 * np.sin(1e11 * x + 3.0).sum()

    def f(x: Array) -> Any:
        return np.sin(x).sum() + noise(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.cos(x)

    return (
        case("noisy_sine", f, vjp, "elementwise noise", np.array([0.5, -0.9, 1.9]))
        .changed("sign", "The minus belongs to the derivative of the cosine.", NEGATED)
        .changed("ten-per-cent", "A gain that the forward pass no longer has.", times(1.1))
        .bug("one-entry-zero", "The loop ends one too early.")
        .wrong("loop-bounds", "single-entries", lambda u, x: vjp(u, x) * np.array([1, 1, 0]))
    )


def rounded_output() -> Case:
    """Sum of squares, rounded to six decimals: a sensor, or a number read from a log file."""

    def f(x: Array) -> Any:
        return np.round((x**2).sum(), 6)

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return (
        case("rounded_output", f, vjp, "elementwise noise", np.array([0.7, -1.3, 0.4]))
        .changed("zero", "Strictly speaking, a staircase has slope 0 almost everywhere.", ZERO)
        .changed("two-forgotten", "The exponent is not brought down.", HALVED)
        .bug("first-entry", "One entry carries a weight that was removed from the loss.")
        .wrong("perturbation", "single-entries", lambda u, x: vjp(u, x) * np.array([1.2, 1, 1]))
    )


def cancelling_quotient() -> Case:
    """(1 - cos x) / x^2 near 1e-3: the numerator loses half of its digits."""

    def f(x: Array) -> Any:
        return ((1 - np.cos(x)) / x**2).sum()

    def vjp(u: Any, x: Array) -> Any:
        # d/dx of 2 (sin(x/2) / x)^2, by its series: the closed form cancels, like f.
        return -u * x / 12 * (1 - x**2 / 15)

    x = np.array([1e-3, -2.3e-3, 1.6e-3])
    return (
        case("cancelling_quotient", f, vjp, "elementwise noise small-x", x)
        .changed("sign", "The series starts 1/2 - x^2/24.", NEGATED)
        .bug("factor-6", "Only the numerator is differentiated; x^2 is treated as a constant.")
        .wrong("factor", "factor", lambda u, x: 6 * vjp(u, x))
    )


# Zero gradients.


def constant_function() -> Case:
    """3 for every x."""

    def f(x: Array) -> Any:
        return 3.0 + 0.0 * x.sum()

    def vjp(u: Any, x: Array) -> Any:
        return np.zeros_like(x)

    x = np.array([0.7, -1.2, 0.4])
    return (
        case("constant_function", f, vjp, "elementwise smooth zero-gradient", x)
        .bug("ones", "The derivative of x.")
        .wrong("wrong-rule", "unknown", lambda u, x: u * np.ones_like(x))
        .bug("penalty", "A weight decay of 1e-3, without a penalty in the loss.")
        .wrong("regulariser-doubled", "regulariser", lambda u, x: u * 1e-3 * x)
        .bug("one-entry", "The gradient of another variable is written here.")
        .wrong("off-by-one", "single-entries", lambda u, x: u * np.array([0.0, 0.0, 1e-2]))
    )


def stationary_point() -> Case:
    """Sum of (x - c)^2 at x = c."""
    c = np.array([0.6, -1.1, 1.9])

    def f(x: Array) -> Any:
        return ((x - c) ** 2).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * (x - c)

    return (
        case("stationary_point", f, vjp, "elementwise smooth zero-gradient", c.copy())
        .bug("centre-forgotten", "The gradient of the sum of x^2.")
        .wrong("term-dropped", "regulariser", lambda u, x: u * 2 * x)
        .bug("first-entry", "The centre of one coordinate was changed forward only.")
        .wrong(
            "perturbation",
            "single-entries",
            lambda u, x: u * (2 * (x - c) + np.array([1e-3, 0, 0])),
        )
        .bug("sign-matrix", "The gradient of the absolute error, with a side chosen at 0.")
        .wrong("wrong-rule", "unknown", lambda u, x: u * np.where(x >= c, 1.0, -1.0))
    )


def unused_input() -> Case:
    """Sum of sin a; b is an input, but ignored."""

    def f(a: Array, b: Array) -> Any:
        return np.sin(a).sum()

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return u * np.cos(a), np.zeros_like(b)

    a = np.array([0.4, -1.3, 0.8])
    b = np.array([1.1, 0.6])
    return (
        case("unused_input", f, vjp, "elementwise smooth zero-gradient", a, b)
        .bug("ones", "The gradient of a bias that the function no longer has.")
        .wrong("wrong-rule", "unknown", lambda u, a, b: (u * np.cos(a), u * np.ones_like(b)))
        .bug("penalty", "Weight decay is applied to every parameter, used or not.")
        .wrong("regulariser-doubled", "regulariser", lambda u, a, b: (u * np.cos(a), u * 0.01 * b))
        .bug("first-sign", "The minus belongs to the derivative of the cosine.")
        .wrong("sign", "sign", lambda u, a, b: (-u * np.cos(a), np.zeros_like(b)))
    )


CASES = (
    relu_at_zero, absolute_value_at_zero, maximum_with_tie, max_pooling_with_tie,
    clip_at_its_edges, hinge_at_its_margin, relu_near_zero, leaky_relu_near_zero,
    absolute_value_near_zero, maximum_near_tie, three_halves_power_at_zero, step_at_its_jump,
    step_near_its_jump, tiny_loss, tiny_softmax, vanishing_loss, huge_loss, exponential_at_300,
    identity_far_out, cube_at_tens, square_of_large_x, logarithm_of_large_x, square_of_small_x,
    sine_of_small_x, large_offset, square_on_a_pedestal, mixed_magnitudes, sigmoid_in_its_tail,
    square_root_near_zero, logarithm_near_zero, square_root_just_inside, entropy_near_zero,
    arcsine_near_one, fast_sine, very_fast_sine, float32_softplus, float32_layer, noisy_sine,
    rounded_output, cancelling_quotient, constant_function, stationary_point, unused_input,
)  # fmt: skip
