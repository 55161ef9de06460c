"""Right gradients that are hard to check, and wrong ones that are hard to catch.

At a kink, near one, at tiny and huge scale, on a pedestal, at the edge of the domain, in float32,
under noise: a finite difference taken with one step for all of them goes wrong somewhere, and a
checker that blames the gradient for it raises a false alarm.

At a kink the gradient given as right is one that lies between the one-sided slopes; the wrong ones
lie outside, except where the docstring says otherwise. Under noise and in float32 the right
gradient is that of the function meant. ``u`` is the upstream gradient.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .case import Array, Bug, Case


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

    return Case(
        "relu_at_zero",
        f,
        (np.array([1.2, 0.0, -0.7, 0.6, 2.1]),),
        vjp,
        frozenset({"elementwise", "kink"}),
        (
            Bug(
                "relu_at_zero/slope-above",
                "subgradient",
                patched(vjp, 1, 1.5),
                "Zero counts for both branches, and one of them is scaled.",
                "single-entries",
            ),
            Bug(
                "relu_at_zero/slope-below",
                "subgradient",
                patched(vjp, 1, -1.0),
                "sign(x) - 1 is confused with a mask.",
                "single-entries",
            ),
            Bug(
                "relu_at_zero/mask-dropped",
                "mask-dropped",
                lambda u, x: u * np.ones_like(x),
                "Wrong at the negative entry, excusable at 0.",
                "unknown",
            ),
            Bug(
                "relu_at_zero/threshold-one",
                "wrong-mask",
                lambda u, x: u * (x > 1),
                "The gate opens at 1.",
                "single-entries",
            ),
        ),
    )


def absolute_value_at_zero() -> Case:
    """|x| with one entry exactly 0: any slope in [-1, 1] is right there."""

    def f(x: Array) -> Any:
        return np.abs(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.sign(x)

    return Case(
        "absolute_value_at_zero",
        f,
        (np.array([0.8, -1.3, 0.0, 1.9, -0.4]),),
        vjp,
        frozenset({"elementwise", "kink"}),
        (
            Bug(
                "absolute_value_at_zero/slope-two",
                "subgradient",
                patched(vjp, 2, 2.0),
                "Both one-sided slopes are added up, without their signs.",
                "single-entries",
            ),
            Bug(
                "absolute_value_at_zero/sign",
                "sign",
                lambda u, x: -u * np.sign(x),
                "The branches are swapped.",
                "sign",
            ),
            Bug(
                "absolute_value_at_zero/positive-only",
                "wrong-mask",
                lambda u, x: u * (x > 0),
                "The ReLU's mask is reused.",
                "mask",
            ),
        ),
    )


def maximum_with_tie() -> Case:
    """Largest entry, held by two: the slopes of the two may be anything that adds up to 1.

    ``to-all`` gives each of them 1. Entry by entry that lies between the one-sided slopes; only a
    step that moves both together shows that the sum is wrong.
    """

    def f(x: Array) -> Any:
        return x.max()

    def vjp(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        grad[x.argmax()] = u
        return grad

    return Case(
        "maximum_with_tie",
        f,
        (np.array([0.3, 1.5, -0.2, 1.5]),),
        vjp,
        frozenset({"elementwise", "kink", "tie"}),
        (
            Bug(
                "maximum_with_tie/to-all",
                "tie",
                lambda u, x: u * (x == x.max()),
                "x == max marks every winner; each gets the whole gradient.",
                "single-entries",
            ),
            Bug(
                "maximum_with_tie/out-of-range",
                "subgradient",
                patched(vjp, 1, 1.5),
                "The shares of the tied entries are normalised wrongly.",
                "factor",
            ),
            Bug(
                "maximum_with_tie/to-the-loser",
                "order",
                lambda u, x: np.roll(vjp(u, x), 1),
                "The position of the winner is counted from 1.",
                "permuted",
            ),
            Bug(
                "maximum_with_tie/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "Minimum and maximum are confused.",
                "sign",
            ),
        ),
    )


def max_pooling_with_tie() -> Case:
    """Two windows of three; the largest entry of the first one appears twice."""

    def f(x: Array) -> Any:
        return x.max(axis=1)

    def vjp(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        grad[np.arange(len(x)), x.argmax(axis=1)] = u
        return grad

    return Case(
        "max_pooling_with_tie",
        f,
        (np.array([[1.4, 0.2, 1.4], [0.6, 1.7, -0.9]]),),
        vjp,
        frozenset({"convolution", "kink", "tie"}),
        (
            Bug(
                "max_pooling_with_tie/to-all",
                "tie",
                lambda u, x: u[:, None] * (x == x.max(axis=1, keepdims=True)),
                "x == max marks every winner; each gets the whole gradient.",
                "single-entries",
            ),
            Bug(
                "max_pooling_with_tie/to-the-smallest",
                "wrong-mask",
                lambda u, x: -vjp(u, -x),
                "argmin is typed for argmax.",
                "unknown",
            ),
            Bug(
                "max_pooling_with_tie/doubled",
                "factor-2",
                lambda u, x: 2 * vjp(u, x),
                "Overlapping windows are assumed, so that every entry counts twice.",
                "factor",
            ),
        ),
    )


def clip_at_its_edges() -> Case:
    """Clipping to [-1, 1] with entries exactly on both edges."""

    def f(x: Array) -> Any:
        return np.clip(x, -1, 1)

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.abs(x) <= 1)

    return Case(
        "clip_at_its_edges",
        f,
        (np.array([1.0, 0.2, -1.0, 2.0, -0.6]),),
        vjp,
        frozenset({"elementwise", "kink"}),
        (
            Bug(
                "clip_at_its_edges/negative-slope",
                "subgradient",
                patched(vjp, 0, -1.0),
                "At the edge the overshoot is subtracted.",
                "single-entries",
            ),
            Bug(
                "clip_at_its_edges/upper-bound-forgotten",
                "wrong-mask",
                lambda u, x: u * (x >= -1),
                "Only the lower bound closes the gate.",
                "single-entries",
            ),
            Bug(
                "clip_at_its_edges/nearly",
                "perturbation",
                lambda u, x: 1.0001 * vjp(u, x),
                "A soft clip with a gain of 1.0001 serves as the gradient.",
                "factor",
            ),
        ),
    )


def hinge_at_its_margin() -> Case:
    """Sum of max(0, 1 - x): two entries exactly on the margin."""

    def f(x: Array) -> Any:
        return np.maximum(1 - x, 0).sum()

    def vjp(u: Any, x: Array) -> Any:
        return -u * (x < 1)

    return Case(
        "hinge_at_its_margin",
        f,
        (np.array([1.0, 0.3, 1.8, -0.9, 1.0]),),
        vjp,
        frozenset({"loss", "kink"}),
        (
            Bug(
                "hinge_at_its_margin/sign",
                "sign",
                lambda u, x: u * (x < 1),
                "The minus of the inner derivative is lost.",
                "sign",
            ),
            Bug(
                "hinge_at_its_margin/positive-slope",
                "subgradient",
                patched(vjp, 0, 0.5),
                "A subgradient on the wrong side of 0.",
                "single-entries",
            ),
            Bug(
                "hinge_at_its_margin/perceptron",
                "wrong-mask",
                lambda u, x: -u * (x < 0),
                "The perceptron's rule: only mistakes count, the margin does not.",
                "single-entries",
            ),
        ),
    )


def relu_near_zero() -> Case:
    """ReLU at +-3e-6: nearer to the kink than most steps are long."""

    def f(x: Array) -> Any:
        return np.maximum(x, 0)

    def vjp(u: Any, x: Array) -> Any:
        return u * (x > 0)

    return Case(
        "relu_near_zero",
        f,
        (np.array([3e-6, -3e-6, 0.8, -1.1, 1.6]),),
        vjp,
        frozenset({"elementwise", "near-kink"}),
        (
            Bug(
                "relu_near_zero/dead-zone",
                "epsilon",
                lambda u, x: u * (x > 1e-5),
                "A tolerance for zero in the mask.",
                "single-entries",
            ),
            Bug(
                "relu_near_zero/slope-half",
                "subgradient",
                patched(vjp, 0, 0.5),
                "A symmetric difference across the kink serves as the gradient.",
                "single-entries",
            ),
            Bug(
                "relu_near_zero/mask-dropped",
                "mask-dropped",
                lambda u, x: u * np.ones_like(x),
                "The gradient passes through closed gates.",
                "unknown",
            ),
            Bug(
                "relu_near_zero/sign",
                "sign",
                lambda u, x: -u * (x > 0),
                "Ascent and descent are confused.",
                "sign",
            ),
        ),
    )


def leaky_relu_near_zero() -> Case:
    """Leaky ReLU (slope 0.2) about 1e-3 away from its kink."""

    def f(x: Array) -> Any:
        return np.where(x.real > 0, x, 0.2 * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.where(x > 0, 1, 0.2)

    return Case(
        "leaky_relu_near_zero",
        f,
        (np.array([1.1e-3, -0.9e-3, 0.7, -1.4]),),
        vjp,
        frozenset({"elementwise", "near-kink"}),
        (
            Bug(
                "leaky_relu_near_zero/leak-forgotten",
                "wrong-mask",
                lambda u, x: u * (x > 0),
                "The backward pass is copied from the plain ReLU.",
                "mask",
            ),
            Bug(
                "leaky_relu_near_zero/other-slope",
                "constant",
                lambda u, x: u * np.where(x > 0, 1, 0.2002),
                "The slope is learnt, and was rounded when it was saved.",
                "unknown",
            ),
            Bug(
                "leaky_relu_near_zero/swapped",
                "wrong-mask",
                lambda u, x: u * np.where(x > 0, 0.2, 1),
                "The branches are swapped.",
                "unknown",
            ),
        ),
    )


def absolute_value_near_zero() -> Case:
    """Sum of x^2 + |x| with entries within 2e-5 of the kink."""

    def f(x: Array) -> Any:
        return (x**2 + np.where(x.real > 0, x, -x)).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * (2 * x + np.sign(x))

    return Case(
        "absolute_value_near_zero",
        f,
        (np.array([2e-5, -7e-6, 0.6, -1.2]),),
        vjp,
        frozenset({"elementwise", "near-kink"}),
        (
            Bug(
                "absolute_value_near_zero/smoothed",
                "approximate-derivative",
                lambda u, x: u * (2 * x + x / np.sqrt(x**2 + 1e-6)),
                "|x| is differentiated as sqrt(x^2 + 1e-6).",
                "unknown",
            ),
            Bug(
                "absolute_value_near_zero/kink-dropped",
                "term-dropped",
                lambda u, x: u * 2 * x,
                "Only the square is differentiated.",
                "unknown",
            ),
            Bug(
                "absolute_value_near_zero/square-dropped",
                "regulariser-forgotten",
                lambda u, x: u * np.sign(x),
                "The square, a penalty, is forgotten.",
                "regulariser",
            ),
        ),
    )


def maximum_near_tie() -> Case:
    """Largest entry; the second largest is 1e-6 below it."""

    def f(x: Array) -> Any:
        return x[x.real.argmax()] ** 2

    def vjp(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        grad[x.argmax()] = u * 2 * x.max()
        return grad

    return Case(
        "maximum_near_tie",
        f,
        (np.array([0.4, 1.3, 1.3 - 1e-6, -0.7]),),
        vjp,
        frozenset({"elementwise", "near-kink"}),
        (
            Bug(
                "maximum_near_tie/to-both",
                "epsilon",
                lambda u, x: u * 2 * x.max() * (x > x.max() - 1e-5),
                "Equality is tested with a tolerance.",
                "single-entries",
            ),
            Bug(
                "maximum_near_tie/shared",
                "epsilon",
                lambda u, x: u * x.max() * (x > x.max() - 1e-5),
                "As above, and the gradient is shared.",
                "unknown",
            ),
            Bug(
                "maximum_near_tie/two-forgotten",
                "factor-half",
                lambda u, x: vjp(u, x) / 2,
                "The exponent is not brought down.",
                "factor",
            ),
        ),
    )


def three_halves_power_at_zero() -> Case:
    """|x|^1.5 with one entry at 0: the slope there is 0, the curvature infinite."""

    def f(x: Array) -> Any:
        return np.abs(x) ** 1.5

    def vjp(u: Any, x: Array) -> Any:
        return u * 1.5 * np.sign(x) * np.sqrt(np.abs(x))

    return Case(
        "three_halves_power_at_zero",
        f,
        (np.array([0.9, 0.0, -1.3, 0.5]),),
        vjp,
        frozenset({"elementwise", "domain-edge"}),
        (
            Bug(
                "three_halves_power_at_zero/sign-dropped",
                "sign-dropped",
                lambda u, x: u * 1.5 * np.sqrt(np.abs(x)),
                "The inner derivative of |x| is forgotten.",
                "single-entries",
            ),
            Bug(
                "three_halves_power_at_zero/guarded",
                "epsilon",
                lambda u, x: u * 1.5 * (np.sign(x) * np.sqrt(np.abs(x)) + 1e-3 * (x == 0)),
                "Zero is replaced by a small number to avoid a division.",
                "single-entries",
            ),
            Bug(
                "three_halves_power_at_zero/exponent",
                "factor",
                lambda u, x: u * np.sign(x) * np.sqrt(np.abs(x)),
                "The exponent is not brought down.",
                "factor",
            ),
        ),
    )


# Jumps.


def step_at_its_jump() -> Case:
    """x^2, plus 1 from x = 1 on, with one entry exactly there: the slope from the right is 2."""

    def f(x: Array) -> Any:
        return x**2 + (x >= 1)

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return Case(
        "step_at_its_jump",
        f,
        (np.array([0.4, 1.0, 1.7, -0.8]),),
        vjp,
        frozenset({"elementwise", "jump"}),
        (
            Bug(
                "step_at_its_jump/sign",
                "sign",
                lambda u, x: -u * 2 * x,
                "Ascent and descent are confused.",
                "sign",
            ),
            Bug(
                "step_at_its_jump/two-forgotten",
                "factor-half",
                lambda u, x: u * x,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "step_at_its_jump/below-dropped",
                "wrong-mask",
                lambda u, x: u * 2 * x * (x >= 1),
                "Below the threshold the unit is thought to be off.",
                "mask",
            ),
        ),
    )


def step_near_its_jump() -> Case:
    """Differentiate x + floor(x) / 10, a quantiser with entries 1e-5 from a jump."""

    def f(x: Array) -> Any:
        return x + 0.1 * np.floor(x.real)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.ones_like(x)

    return Case(
        "step_near_its_jump",
        f,
        (np.array([2.00001, 0.6, 0.99999, -1.3]),),
        vjp,
        frozenset({"elementwise", "jump"}),
        (
            Bug(
                "step_near_its_jump/average-slope",
                "factor",
                lambda u, x: u * 1.1 * np.ones_like(x),
                "The steps are counted into the slope.",
                "factor",
            ),
            Bug(
                "step_near_its_jump/output-for-derivative",
                "wrong-place",
                lambda u, x: u * f(x),
                "The output is multiplied in.",
                "unknown",
            ),
            Bug(
                "step_near_its_jump/nearly",
                "perturbation",
                patched(vjp, 1, 1.00001),
                "One weight drifted in storage.",
                "single-entries",
            ),
        ),
    )


# Scale.


def tiny_loss() -> Case:
    """1e-14 times a sum of sines."""

    def f(x: Array) -> Any:
        return 1e-14 * np.sin(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 1e-14 * np.cos(x)

    return Case(
        "tiny_loss",
        f,
        (np.array([0.4, -1.1, 2.3]),),
        vjp,
        frozenset({"elementwise", "smooth", "tiny"}),
        (
            Bug(
                "tiny_loss/factor-2",
                "factor-2",
                lambda u, x: 2 * vjp(u, x),
                "A pair is counted twice; every absolute tolerance lets it pass.",
                "factor",
            ),
            Bug(
                "tiny_loss/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "Ascent and descent are confused; every absolute tolerance lets it pass.",
                "sign",
            ),
            Bug(
                "tiny_loss/zero",
                "zero",
                lambda u, x: np.zeros_like(x),
                "Below 1e-12 it is called numerical noise and set to zero.",
                "zero",
            ),
            Bug(
                "tiny_loss/one-entry",
                "perturbation",
                patched(vjp, 1, 1e-14 * math.cos(1.1) * 1.0001),
                "One weight of the loss was changed by a hair, forward only.",
                "single-entries",
            ),
        ),
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

    return Case(
        "tiny_softmax",
        f,
        (np.array([0.6, -0.9, 1.4, 0.1]),),
        vjp,
        frozenset({"loss", "smooth", "tiny"}),
        (
            Bug(
                "tiny_softmax/factor-2",
                "factor-2",
                lambda u, x: 2 * vjp(u, x),
                "The scale is thought to be 2e-6; every absolute tolerance lets it pass.",
                "factor",
            ),
            Bug(
                "tiny_softmax/cross-term-dropped",
                "term-dropped",
                lambda u, x: 1e-6 * s(x) * (1 - s(x)) * u,
                "s (1 - s) is taken for the whole Jacobian.",
                "mask",
            ),
            Bug(
                "tiny_softmax/nearly",
                "perturbation",
                lambda u, x: (1 + 1e-5) * vjp(u, x),
                "A forgotten temperature of 0.99999.",
                "factor",
            ),
        ),
    )


def vanishing_loss() -> Case:
    """1e-150 times a sum of squares: squaring a gradient underflows."""

    def f(x: Array) -> Any:
        return 1e-150 * (x * x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 2e-150 * x

    return Case(
        "vanishing_loss",
        f,
        (np.array([1.3, -0.7, 0.4]),),
        vjp,
        frozenset({"elementwise", "smooth", "tiny"}),
        (
            Bug(
                "vanishing_loss/two-forgotten",
                "factor-half",
                lambda u, x: u * 1e-150 * x,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "vanishing_loss/sign-dropped",
                "sign-dropped",
                lambda u, x: u * 2e-150 * np.abs(x),
                "The square hides the sign of x.",
                "single-entries",
            ),
        ),
    )


def huge_loss() -> Case:
    """1e12 times a sum of tanh."""

    def f(x: Array) -> Any:
        return 1e12 * np.tanh(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 1e12 * (1 - np.tanh(x) ** 2)

    return Case(
        "huge_loss",
        f,
        (np.array([0.4, -0.9, 1.2]),),
        vjp,
        frozenset({"elementwise", "smooth", "huge"}),
        (
            Bug(
                "huge_loss/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "y^2 - 1 instead of 1 - y^2.",
                "sign",
            ),
            Bug(
                "huge_loss/nearly",
                "perturbation",
                lambda u, x: vjp(u, x) * 1.000003,
                "Units are converted with a constant of six digits.",
                "factor",
            ),
            Bug(
                "huge_loss/at-the-input",
                "wrong-place",
                lambda u, x: u * 1e12 * (1 - x**2),
                "x where the output belongs.",
                "unknown",
            ),
        ),
    )


def exponential_at_300() -> Case:
    """e^x near x = 300: 1e130."""

    def f(x: Array) -> Any:
        return np.exp(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * np.exp(x)

    return Case(
        "exponential_at_300",
        f,
        (np.array([299.0, 300.5, 300.1]),),
        vjp,
        frozenset({"elementwise", "smooth", "huge"}),
        (
            Bug(
                "exponential_at_300/shifted",
                "factor",
                lambda u, x: u * np.exp(x - 1),
                "A shift against overflow that is not undone.",
                "factor",
            ),
            Bug(
                "exponential_at_300/first-left-out",
                "loop-bounds",
                lambda u, x: u * np.exp(x) * np.array([0, 1, 1]),
                "The loop starts at 1.",
                "single-entries",
            ),
        ),
    )


def identity_far_out() -> Case:
    """Differentiate y = x at 1.23e10: a step of 1e-6 is lost in rounding."""

    def f(x: Array) -> Any:
        return x * 1.0

    def vjp(u: Any, x: Array) -> Any:
        return u * np.ones_like(x)

    return Case(
        "identity_far_out",
        f,
        (np.array([1.23e10, -4.56e10, 7.89e10]),),
        vjp,
        frozenset({"elementwise", "smooth", "large-x"}),
        (
            Bug(
                "identity_far_out/zero",
                "zero",
                lambda u, x: np.zeros_like(x),
                "What a difference quotient with too small a step says.",
                "zero",
            ),
            Bug(
                "identity_far_out/nearly",
                "perturbation",
                lambda u, x: u * 1.0001 * np.ones_like(x),
                "A unit conversion that only the backward pass applies.",
                "factor",
            ),
            Bug(
                "identity_far_out/reversed",
                "order",
                lambda u, x: u[::-1] * np.ones_like(x),
                "The entries come back in reverse order.",
                "permuted",
            ),
        ),
    )


def cube_at_tens() -> Case:
    """x^3 around 20: nothing unusual, but its curvature is in the hundreds."""

    def f(x: Array) -> Any:
        return x**3

    def vjp(u: Any, x: Array) -> Any:
        return u * 3 * x**2

    return Case(
        "cube_at_tens",
        f,
        (np.array([11.0, -19.0, 28.0]),),
        vjp,
        frozenset({"elementwise", "smooth"}),
        (
            Bug(
                "cube_at_tens/three-forgotten",
                "factor-third",
                lambda u, x: u * x**2,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "cube_at_tens/one-too-few",
                "wrong-power",
                lambda u, x: u * 3 * x,
                "The exponent is lowered by two.",
                "unknown",
            ),
            Bug(
                "cube_at_tens/nearly",
                "perturbation",
                lambda u, x: u * 3.00003 * x**2,
                "An exponent that was fitted, not known.",
                "factor",
            ),
        ),
    )


def square_of_large_x() -> Case:
    """x^2 at 1e8."""

    def f(x: Array) -> Any:
        return x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return Case(
        "square_of_large_x",
        f,
        (np.array([1.1e8, -2.3e8, 0.7e8]),),
        vjp,
        frozenset({"elementwise", "smooth", "large-x"}),
        (
            Bug(
                "square_of_large_x/two-forgotten",
                "factor-half",
                lambda u, x: u * x,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "square_of_large_x/nearly",
                "perturbation",
                lambda u, x: u * 2.00001 * x,
                "An exponent that was fitted, not known.",
                "factor",
            ),
            Bug(
                "square_of_large_x/last-left-out",
                "loop-bounds",
                lambda u, x: u * 2 * x * np.array([1, 1, 0]),
                "The loop ends one too early.",
                "single-entries",
            ),
        ),
    )


def logarithm_of_large_x() -> Case:
    """Sum of ln x at 1e8: the gradient is 1e-8."""

    def f(x: Array) -> Any:
        return np.log(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u / x

    return Case(
        "logarithm_of_large_x",
        f,
        (np.array([1e8, 3.3e8, 0.6e8]),),
        vjp,
        frozenset({"elementwise", "smooth", "large-x"}),
        (
            Bug(
                "logarithm_of_large_x/zero",
                "zero",
                lambda u, x: np.zeros_like(x),
                "1e-8 is rounded to nothing.",
                "zero",
            ),
            Bug(
                "logarithm_of_large_x/two",
                "factor-2",
                lambda u, x: 2 * u / x,
                "The gradient of ln x^2.",
                "factor",
            ),
            Bug(
                "logarithm_of_large_x/guarded",
                "epsilon",
                lambda u, x: u / (x + 1e3),
                "A guard in the denominator, in the units of another problem.",
                "unknown",
            ),
        ),
    )


def square_of_small_x() -> Case:
    """x^2 at 1e-8: a fixed step is a thousand times longer than x."""

    def f(x: Array) -> Any:
        return x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return Case(
        "square_of_small_x",
        f,
        (np.array([1e-8, -2.2e-8, 0.6e-8]),),
        vjp,
        frozenset({"elementwise", "smooth", "small-x"}),
        (
            Bug(
                "square_of_small_x/two-forgotten",
                "factor-half",
                lambda u, x: u * x,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "square_of_small_x/zero",
                "zero",
                lambda u, x: np.zeros_like(x),
                "x is rounded to 0.",
                "zero",
            ),
            Bug(
                "square_of_small_x/one-sided",
                "approximate-derivative",
                lambda u, x: u * (2 * x + 1e-8),
                "A forward difference with h = 1e-8 serves as the gradient.",
                "unknown",
            ),
        ),
    )


def sine_of_small_x() -> Case:
    """Sum of sin x + x^2 at 1e-8."""

    def f(x: Array) -> Any:
        return (np.sin(x) + x**2).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.cos(x) + 2 * x)

    return Case(
        "sine_of_small_x",
        f,
        (np.array([1e-8, -3e-8, 2e-8]),),
        vjp,
        frozenset({"elementwise", "smooth", "small-x"}),
        (
            Bug(
                "sine_of_small_x/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "The minus belongs to the derivative of the cosine.",
                "sign",
            ),
            Bug(
                "sine_of_small_x/cosine-forgotten",
                "term-dropped",
                lambda u, x: u * 2 * x,
                "Only the square is differentiated.",
                "unknown",
            ),
            Bug(
                "sine_of_small_x/nearly",
                "perturbation",
                lambda u, x: u * (np.cos(x + 1e-2) + 2 * x),
                "An offset of 0.01 remains from an older version.",
                "factor",
            ),
        ),
    )


def large_offset() -> Case:
    """1e6 plus a thousandth of a sum of sines: the digits are spent on the pedestal."""

    def f(x: Array) -> Any:
        return 1e6 + 1e-3 * np.sin(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 1e-3 * np.cos(x)

    return Case(
        "large_offset",
        f,
        (np.array([0.4, -1.2, 0.9]),),
        vjp,
        frozenset({"elementwise", "offset"}),
        (
            Bug(
                "large_offset/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "The minus belongs to the derivative of the cosine.",
                "sign",
            ),
            Bug(
                "large_offset/factor-2",
                "factor-2",
                lambda u, x: 2 * vjp(u, x),
                "A symmetric pair is counted twice.",
                "factor",
            ),
            Bug(
                "large_offset/percent",
                "factor",
                lambda u, x: 1.01 * vjp(u, x),
                "An interest of one per cent, backward only.",
                "factor",
            ),
        ),
    )


def square_on_a_pedestal() -> Case:
    """1e6 + x^2, entry by entry."""

    def f(x: Array) -> Any:
        return 1e6 + x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return Case(
        "square_on_a_pedestal",
        f,
        (np.array([1.2, -0.7, 0.4, 2.1]),),
        vjp,
        frozenset({"elementwise", "offset"}),
        (
            Bug(
                "square_on_a_pedestal/two-forgotten",
                "factor-half",
                lambda u, x: u * x,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "square_on_a_pedestal/negative-lost",
                "wrong-mask",
                lambda u, x: u * 2 * x * (x > 0),
                "A ReLU's mask is left in.",
                "single-entries",
            ),
            Bug(
                "square_on_a_pedestal/thousandth",
                "perturbation",
                lambda u, x: u * 2.002 * x,
                "A weight of 1.001 was taken out of the forward pass only.",
                "factor",
            ),
        ),
    )


def mixed_magnitudes() -> Case:
    """Sum of e^x for x from -12 to 8: gradients from 6e-6 to 3e3 in one array."""

    def f(x: Array) -> Any:
        return np.exp(x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * np.exp(x)

    return Case(
        "mixed_magnitudes",
        f,
        (np.array([-12.0, -6.5, -1.0, 3.5, 8.0]),),
        vjp,
        frozenset({"elementwise", "mixed-magnitudes"}),
        (
            Bug(
                "mixed_magnitudes/clipped",
                "wrong-mask",
                lambda u, x: u * np.minimum(np.exp(x), 1000.0),
                "Gradient clipping is left on during the check.",
                "single-entries",
            ),
            Bug(
                "mixed_magnitudes/nearly",
                "perturbation",
                lambda u, x: u * np.exp(x) * 1.000003,
                "Units are converted with a constant of six digits.",
                "factor",
            ),
            Bug(
                "mixed_magnitudes/offset",
                "epsilon",
                lambda u, x: u * (np.exp(x) + 1e-2),
                "A floor of 0.01 under every gradient.",
                "unknown",
            ),
            Bug(
                "mixed_magnitudes/reversed",
                "order",
                lambda u, x: u * np.exp(x)[::-1],
                "The entries come back in reverse order.",
                "permuted",
            ),
        ),
    )


def sigmoid_in_its_tail() -> Case:
    """Sigmoid at -30, -15, -2 and 1: gradients from 1e-13 to 0.2."""

    def s(x: Array) -> Any:
        return 1 / (1 + np.exp(-x))

    def f(x: Array) -> Any:
        return s(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * s(x) * (1 - s(x))

    return Case(
        "sigmoid_in_its_tail",
        f,
        (np.array([-30.0, -15.0, -2.0, 1.0]),),
        vjp,
        frozenset({"elementwise", "smooth", "mixed-magnitudes"}),
        (
            Bug(
                "sigmoid_in_its_tail/half-the-formula",
                "term-dropped",
                lambda u, x: u * s(x),
                "s (1 - s) without its second factor: right in the tail, wrong in the middle.",
                "unknown",
            ),
            Bug(
                "sigmoid_in_its_tail/tanh-rule",
                "wrong-rule",
                lambda u, x: u * (1 - s(x) ** 2),
                "The derivative of tanh.",
                "unknown",
            ),
            Bug(
                "sigmoid_in_its_tail/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "s (s - 1) instead of s (1 - s).",
                "sign",
            ),
        ),
    )


# Edges of the domain.


def square_root_near_zero() -> Case:
    """Differentiate sqrt x at 1e-10: a step of 1e-6 leaves the domain."""

    def f(x: Array) -> Any:
        return np.sqrt(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * 0.5 / np.sqrt(x)

    return Case(
        "square_root_near_zero",
        f,
        (np.array([1e-10, 4e-10, 2.5e-10]),),
        vjp,
        frozenset({"elementwise", "small-x", "domain-edge", "smooth"}),
        (
            Bug(
                "square_root_near_zero/half-forgotten",
                "factor-2",
                lambda u, x: u / np.sqrt(x),
                "The exponent 1/2 is not brought down.",
                "factor",
            ),
            Bug(
                "square_root_near_zero/guarded",
                "epsilon",
                lambda u, x: u * 0.5 / np.sqrt(x + 1e-12),
                "A guard against division by zero that the function itself does not have.",
                "unknown",
            ),
            Bug(
                "square_root_near_zero/guarded-root",
                "epsilon",
                lambda u, x: u * 0.5 / (np.sqrt(x) + 1e-8),
                "The guard is added after the root.",
                "unknown",
            ),
        ),
    )


def logarithm_near_zero() -> Case:
    """Differentiate ln x at 1e-8."""

    def f(x: Array) -> Any:
        return np.log(x)

    def vjp(u: Any, x: Array) -> Any:
        return u / x

    return Case(
        "logarithm_near_zero",
        f,
        (np.array([1e-8, 3e-8, 0.7e-8]),),
        vjp,
        frozenset({"elementwise", "smooth", "small-x", "domain-edge"}),
        (
            Bug(
                "logarithm_near_zero/sign",
                "sign",
                lambda u, x: -u / x,
                "The gradient of the negative log-likelihood.",
                "sign",
            ),
            Bug(
                "logarithm_near_zero/guarded",
                "epsilon",
                lambda u, x: u / (x + 1e-12),
                "log(x + eps) backward, log(x) forward.",
                "unknown",
            ),
            Bug(
                "logarithm_near_zero/clipped",
                "epsilon",
                lambda u, x: u / np.maximum(x, 2e-8),
                "x is clipped in the backward pass.",
                "unknown",
            ),
        ),
    )


def square_root_just_inside() -> Case:
    """sqrt(x - 1) with x a little above 1."""

    def f(x: Array) -> Any:
        return np.sqrt(x - 1)

    def vjp(u: Any, x: Array) -> Any:
        return u * 0.5 / np.sqrt(x - 1)

    return Case(
        "square_root_just_inside",
        f,
        (np.array([1 + 2.0**-20, 1 + 2.0**-18, 1 + 2.0**-14]),),
        vjp,
        frozenset({"elementwise", "smooth", "domain-edge"}),
        (
            Bug(
                "square_root_just_inside/shift-forgotten",
                "wrong-place",
                lambda u, x: u * 0.5 / np.sqrt(x),
                "The - 1 is forgotten in the backward pass.",
                "unknown",
            ),
            Bug(
                "square_root_just_inside/half-forgotten",
                "factor-2",
                lambda u, x: u / np.sqrt(x - 1),
                "The exponent 1/2 is not brought down.",
                "factor",
            ),
            Bug(
                "square_root_just_inside/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "1 - x instead of x - 1.",
                "sign",
            ),
        ),
    )


def entropy_near_zero() -> Case:
    """Sum of x ln x with entries down to 1e-9."""

    def f(x: Array) -> Any:
        return (x * np.log(x)).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.log(x) + 1)

    return Case(
        "entropy_near_zero",
        f,
        (np.array([1e-9, 3e-7, 0.2, 0.8]),),
        vjp,
        frozenset({"loss", "small-x", "domain-edge"}),
        (
            Bug(
                "entropy_near_zero/one-dropped",
                "product-rule",
                lambda u, x: u * np.log(x),
                "Half of the product rule.",
                "unknown",
            ),
            Bug(
                "entropy_near_zero/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "Entropy is minus this sum.",
                "sign",
            ),
            Bug(
                "entropy_near_zero/guarded",
                "epsilon",
                lambda u, x: u * (np.log(x + 1e-10) + 1),
                "An epsilon inside the logarithm, backward only.",
                "unknown",
            ),
            Bug(
                "entropy_near_zero/base-two",
                "factor",
                lambda u, x: vjp(u, x) / math.log(2),
                "In bits, while the function is in nats.",
                "factor",
            ),
        ),
    )


def arcsine_near_one() -> Case:
    """Differentiate arcsin x, 1e-7 inside its domain."""

    def f(x: Array) -> Any:
        return np.arcsin(x)

    def vjp(u: Any, x: Array) -> Any:
        return u / np.sqrt((1 - x) * (1 + x))

    return Case(
        "arcsine_near_one",
        f,
        (np.array([1 - 2.0**-23, -1 + 2.0**-20, 0.6]),),
        vjp,
        frozenset({"elementwise", "smooth", "domain-edge"}),
        (
            Bug(
                "arcsine_near_one/of-arccosine",
                "sign",
                lambda u, x: -vjp(u, x),
                "The derivative of arccos.",
                "sign",
            ),
            Bug(
                "arcsine_near_one/root-forgotten",
                "wrong-power",
                lambda u, x: u / (1 - x**2),
                "The root is forgotten.",
                "unknown",
            ),
            Bug(
                "arcsine_near_one/of-arctangent",
                "wrong-rule",
                lambda u, x: u / (1 + x**2),
                "The derivative of arctan.",
                "unknown",
            ),
        ),
    )


# Speed.


def fast_sine() -> Case:
    """sin(1000 x)."""

    def f(x: Array) -> Any:
        return np.sin(1000 * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * 1000 * np.cos(1000 * x)

    return Case(
        "fast_sine",
        f,
        (np.array([0.3, -0.71, 1.13]),),
        vjp,
        frozenset({"elementwise", "smooth", "fast"}),
        (
            Bug(
                "fast_sine/inner-derivative",
                "factor",
                lambda u, x: u * np.cos(1000 * x),
                "The inner derivative 1000 is forgotten.",
                "factor",
            ),
            Bug(
                "fast_sine/nearly",
                "perturbation",
                lambda u, x: u * 1000.003 * np.cos(1000 * x),
                "A frequency from another calibration.",
                "factor",
            ),
            Bug(
                "fast_sine/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "The minus belongs to the derivative of the cosine.",
                "sign",
            ),
        ),
    )


def very_fast_sine() -> Case:
    """sin(20000 x) summed: a step of 1e-4 spans a third of a period."""

    def f(x: Array) -> Any:
        return np.sin(20000 * x).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 20000 * np.cos(20000 * x)

    return Case(
        "very_fast_sine",
        f,
        (np.array([0.3, -0.7, 0.11]),),
        vjp,
        frozenset({"elementwise", "smooth", "fast"}),
        (
            Bug(
                "very_fast_sine/zero",
                "zero",
                lambda u, x: np.zeros_like(x),
                "The average slope over a period.",
                "zero",
            ),
            Bug(
                "very_fast_sine/half",
                "factor-half",
                lambda u, x: vjp(u, x) / 2,
                "Half the sampling rate is taken for the frequency.",
                "factor",
            ),
            Bug(
                "very_fast_sine/phase",
                "wrong-place",
                lambda u, x: u * 20000 * np.cos(20000 * x + 1e-3),
                "A phase of a thousandth is forgotten.",
                "unknown",
            ),
        ),
    )


# Float32 and noise.


def float32_softplus() -> Case:
    """Sum of softplus, computed in float32 and returned as float64."""

    def f(x: Array) -> Any:
        return np.float64(np.log1p(np.exp(x.astype(np.float32))).sum())

    def vjp(u: Any, x: Array) -> Any:
        return u / (1 + np.exp(-x))

    return Case(
        "float32_softplus",
        f,
        (np.array([0.6, -0.8, 1.3, 0.2]),),
        vjp,
        frozenset({"elementwise", "float32"}),
        (
            Bug(
                "float32_softplus/hard-gate",
                "approximate-derivative",
                lambda u, x: u * (x > 0),
                "The gate of the ReLU.",
                "unknown",
            ),
            Bug(
                "float32_softplus/reversed-sign",
                "sign",
                lambda u, x: u / (1 + np.exp(x)),
                "sigmoid(-x) for sigmoid(x).",
                "unknown",
            ),
            Bug(
                "float32_softplus/factor-2",
                "factor-2",
                lambda u, x: 2 * vjp(u, x),
                "A symmetric pair is counted twice.",
                "factor",
            ),
            Bug(
                "float32_softplus/five-per-cent",
                "perturbation",
                lambda u, x: 1.05 * vjp(u, x),
                "A gain of 1.05 that the forward pass no longer has.",
                "factor",
            ),
        ),
    )


def float32_layer() -> Case:
    """tanh(W x) computed in float32."""
    W32 = np.array([[0.6, -0.9, 0.4], [1.1, 0.3, -0.7]], dtype=np.float32)
    W = W32.astype(np.float64)

    def f(x: Array) -> Any:
        return np.tanh(W32 @ x.astype(np.float32)).astype(np.float64)

    def vjp(u: Any, x: Array) -> Any:
        return W.T @ (u * (1 - np.tanh(W @ x) ** 2))

    return Case(
        "float32_layer",
        f,
        (np.array([0.8, -0.5, 1.2]),),
        vjp,
        frozenset({"network", "float32"}),
        (
            Bug(
                "float32_layer/tanh-forgotten",
                "term-dropped",
                lambda u, x: W.T @ u,
                "The derivative of the tanh is forgotten.",
                "unknown",
            ),
            Bug(
                "float32_layer/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "y^2 - 1 instead of 1 - y^2.",
                "sign",
            ),
            Bug(
                "float32_layer/rolled",
                "off-by-one",
                lambda u, x: np.roll(vjp(u, x), 1),
                "Written to index i + 1.",
                "permuted",
            ),
        ),
    )


def noisy_sine() -> Case:
    """Sum of sin x, plus noise of 1e-8 that is the same at every call."""

    def noise(x: Array) -> Any:
        # A sine far too fast to follow looks like noise, and repeats itself exactly.
        return 1e-8 * np.sin(1e11 * x + 3.0).sum()

    def f(x: Array) -> Any:
        return np.sin(x).sum() + noise(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.cos(x)

    return Case(
        "noisy_sine",
        f,
        (np.array([0.5, -0.9, 1.9]),),
        vjp,
        frozenset({"elementwise", "noise"}),
        (
            Bug(
                "noisy_sine/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "The minus belongs to the derivative of the cosine.",
                "sign",
            ),
            Bug(
                "noisy_sine/ten-per-cent",
                "factor",
                lambda u, x: 1.1 * vjp(u, x),
                "A gain that the forward pass no longer has.",
                "factor",
            ),
            Bug(
                "noisy_sine/one-entry-zero",
                "loop-bounds",
                lambda u, x: vjp(u, x) * np.array([1, 1, 0]),
                "The loop ends one too early.",
                "single-entries",
            ),
        ),
    )


def rounded_output() -> Case:
    """Sum of squares, rounded to six decimals: a sensor, or a number read from a log file."""

    def f(x: Array) -> Any:
        return np.round((x**2).sum(), 6)

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return Case(
        "rounded_output",
        f,
        (np.array([0.7, -1.3, 0.4]),),
        vjp,
        frozenset({"elementwise", "noise"}),
        (
            Bug(
                "rounded_output/zero",
                "zero",
                lambda u, x: np.zeros_like(x),
                "Strictly speaking a staircase has slope 0 almost everywhere.",
                "zero",
            ),
            Bug(
                "rounded_output/two-forgotten",
                "factor-half",
                lambda u, x: u * x,
                "The exponent is not brought down.",
                "factor",
            ),
            Bug(
                "rounded_output/first-entry",
                "perturbation",
                lambda u, x: vjp(u, x) * np.array([1.2, 1, 1]),
                "One entry carries a weight that was removed from the loss.",
                "single-entries",
            ),
        ),
    )


def cancelling_quotient() -> Case:
    """(1 - cos x) / x^2 near 1e-3: the numerator loses half of its digits."""

    def f(x: Array) -> Any:
        return ((1 - np.cos(x)) / x**2).sum()

    def vjp(u: Any, x: Array) -> Any:
        # d/dx of 2 (sin(x/2) / x)^2, by its series: the closed form cancels as f does.
        return -u * x / 12 * (1 - x**2 / 15)

    return Case(
        "cancelling_quotient",
        f,
        (np.array([1e-3, -2.3e-3, 1.6e-3]),),
        vjp,
        frozenset({"elementwise", "noise", "small-x"}),
        (
            Bug(
                "cancelling_quotient/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "The series starts 1/2 - x^2/24.",
                "sign",
            ),
            Bug(
                "cancelling_quotient/factor-6",
                "factor",
                lambda u, x: 6 * vjp(u, x),
                "The numerator alone is differentiated, x^2 is taken for a constant.",
                "factor",
            ),
        ),
    )


# Zero gradients.


def constant_function() -> Case:
    """3, whatever x."""

    def f(x: Array) -> Any:
        return 3.0 + 0.0 * x.sum()

    def vjp(u: Any, x: Array) -> Any:
        return np.zeros_like(x)

    return Case(
        "constant_function",
        f,
        (np.array([0.7, -1.2, 0.4]),),
        vjp,
        frozenset({"elementwise", "smooth", "zero-gradient"}),
        (
            Bug(
                "constant_function/ones",
                "wrong-rule",
                lambda u, x: u * np.ones_like(x),
                "The derivative of x.",
                "unknown",
            ),
            Bug(
                "constant_function/penalty",
                "regulariser-doubled",
                lambda u, x: u * 1e-3 * x,
                "A weight decay of 1e-3, without a penalty in the loss.",
                "regulariser",
            ),
            Bug(
                "constant_function/one-entry",
                "off-by-one",
                lambda u, x: u * np.array([0.0, 0.0, 1e-2]),
                "The gradient of another variable is written here.",
                "single-entries",
            ),
        ),
    )


def stationary_point() -> Case:
    """Sum of (x - c)^2 at x = c."""
    c = np.array([0.6, -1.1, 1.9])

    def f(x: Array) -> Any:
        return ((x - c) ** 2).sum()

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * (x - c)

    return Case(
        "stationary_point",
        f,
        (c.copy(),),
        vjp,
        frozenset({"elementwise", "smooth", "zero-gradient"}),
        (
            Bug(
                "stationary_point/centre-forgotten",
                "term-dropped",
                lambda u, x: u * 2 * x,
                "The gradient of the sum of x^2.",
                "regulariser",
            ),
            Bug(
                "stationary_point/first-entry",
                "perturbation",
                lambda u, x: u * (2 * (x - c) + np.array([1e-3, 0, 0])),
                "The centre of one coordinate was changed forward only.",
                "single-entries",
            ),
            Bug(
                "stationary_point/sign-matrix",
                "wrong-rule",
                lambda u, x: u * np.where(x >= c, 1.0, -1.0),
                "The gradient of the absolute error, with a side chosen at 0.",
                "unknown",
            ),
        ),
    )


def unused_input() -> Case:
    """Sum of sin a; b is taken and ignored."""

    def f(a: Array, b: Array) -> Any:
        return np.sin(a).sum()

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return u * np.cos(a), np.zeros_like(b)

    return Case(
        "unused_input",
        f,
        (np.array([0.4, -1.3, 0.8]), np.array([1.1, 0.6])),
        vjp,
        frozenset({"elementwise", "smooth", "zero-gradient"}),
        (
            Bug(
                "unused_input/ones",
                "wrong-rule",
                lambda u, a, b: (u * np.cos(a), u * np.ones_like(b)),
                "A bias is differentiated that was taken out of the function.",
                "unknown",
            ),
            Bug(
                "unused_input/penalty",
                "regulariser-doubled",
                lambda u, a, b: (u * np.cos(a), u * 0.01 * b),
                "Weight decay is applied to every parameter, used or not.",
                "regulariser",
            ),
            Bug(
                "unused_input/first-sign",
                "sign",
                lambda u, a, b: (-u * np.cos(a), np.zeros_like(b)),
                "The minus belongs to the derivative of the cosine.",
                "sign",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Build every case of this module anew."""
    yield relu_at_zero()
    yield absolute_value_at_zero()
    yield maximum_with_tie()
    yield max_pooling_with_tie()
    yield clip_at_its_edges()
    yield hinge_at_its_margin()
    yield relu_near_zero()
    yield leaky_relu_near_zero()
    yield absolute_value_near_zero()
    yield maximum_near_tie()
    yield three_halves_power_at_zero()
    yield step_at_its_jump()
    yield step_near_its_jump()
    yield tiny_loss()
    yield tiny_softmax()
    yield vanishing_loss()
    yield huge_loss()
    yield exponential_at_300()
    yield identity_far_out()
    yield cube_at_tens()
    yield square_of_large_x()
    yield logarithm_of_large_x()
    yield square_of_small_x()
    yield sine_of_small_x()
    yield large_offset()
    yield square_on_a_pedestal()
    yield mixed_magnitudes()
    yield sigmoid_in_its_tail()
    yield square_root_near_zero()
    yield logarithm_near_zero()
    yield square_root_just_inside()
    yield entropy_near_zero()
    yield arcsine_near_one()
    yield fast_sine()
    yield very_fast_sine()
    yield float32_softplus()
    yield float32_layer()
    yield noisy_sine()
    yield rounded_output()
    yield cancelling_quotient()
    yield constant_function()
    yield stationary_point()
    yield unused_input()
