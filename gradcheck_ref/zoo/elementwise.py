"""Functions that act entry by entry, and the derivatives people write for them.

``u`` is the upstream gradient: it has the shape of the output and multiplies the derivative.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Array, Bug, Case

SMOOTH = frozenset({"elementwise", "smooth"})


def sigma(x: Array) -> Any:
    """Logistic function; the formulas below differentiate it again and again."""
    return 1 / (1 + np.exp(-x))


def square() -> Case:
    """Differentiate y = x^2."""

    def f(x: Array) -> Any:
        return x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    def last_entry_left_out(u: Any, x: Array) -> Any:
        grad = np.zeros_like(x)
        for i in range(len(x) - 1):  # wrong: range(len(x))
            grad[i] = u[i] * 2 * x[i]
        return grad

    return Case(
        "square",
        f,
        (np.array([-1.3, 0.4, 0.9, 2.1]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "square/two-forgotten",
                "factor-half",
                lambda u, x: u * x,
                "The exponent is lowered but not brought down.",
                "factor",
            ),
            Bug(
                "square/upstream-dropped",
                "upstream-dropped",
                lambda u, x: 2 * x,
                "The local derivative is taken for the gradient; the chain rule is left out.",
                "unknown",
            ),
            Bug(
                "square/last-entry-left-out",
                "loop-bounds",
                last_entry_left_out,
                "The loop runs to len(x) - 1.",
                "single-entries",
            ),
        ),
    )


def cube() -> Case:
    """Differentiate y = x^3."""

    def f(x: Array) -> Any:
        return x**3

    def vjp(u: Any, x: Array) -> Any:
        return u * 3 * x**2

    def forward_difference(u: Any, x: Array) -> Any:
        h = 1e-6
        return u * ((x + h) ** 3 - x**3) / h  # wrong: a difference quotient is no derivative

    def tiny_step(u: Any, x: Array) -> Any:
        h = 1e-12
        return u * ((x + h) ** 3 - (x - h) ** 3) / (2 * h)

    return Case(
        "cube",
        f,
        (np.array([-1.2, -0.5, 0.7, 1.4]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "cube/new-exponent-brought-down",
                "factor",
                lambda u, x: u * 2 * x**2,
                "The exponent is lowered first and the new one brought down.",
                "factor",
            ),
            Bug(
                "cube/exponent-lowered-twice",
                "wrong-power",
                lambda u, x: u * 3 * x,
                "The exponent is lowered once too often.",
                "unknown",
            ),
            Bug(
                "cube/forward-difference",
                "approximate-derivative",
                forward_difference,
                "A forward difference serves as the gradient.",
                "unknown",
            ),
            Bug(
                "cube/step-of-1e-12",
                "approximate-derivative",
                tiny_step,
                "A smaller step is taken for a better one; rounding noise is all it adds.",
                "noisy",
            ),
        ),
    )


def exponential() -> Case:
    """Differentiate y = e^x."""

    def f(x: Array) -> Any:
        return np.exp(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.exp(x)

    kept = np.zeros(4)

    def accumulates(u: Any, x: Array) -> Any:
        nonlocal kept
        kept = kept + u * np.exp(x)  # wrong: the buffer is never set to zero
        return kept

    def half_precision(u: Any, x: Array) -> Any:
        y = np.exp(x).astype(np.float16)  # wrong: saved in float16 to save memory
        return u * y.astype(np.float64)

    return Case(
        "exponential",
        f,
        (np.array([-1.1, -0.3, 0.6, 1.2]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "exponential/power-rule",
                "wrong-rule",
                lambda u, x: u * x * np.exp(x - 1),
                "The rule for x^n is applied to e^x.",
                "unknown",
            ),
            Bug(
                "exponential/accumulates",
                "accumulation",
                accumulates,
                "+= into a buffer that nobody clears between two backward passes.",
                "accumulated",
            ),
            Bug(
                "exponential/output-kept-in-float16",
                "precision",
                half_precision,
                "The output is cached in half precision and reused.",
                "noisy",
            ),
            Bug(
                "exponential/shifted",
                "factor",
                lambda u, x: u * np.exp(x) * math.exp(-0.5),
                "The gradient of a shifted exponential, e^(x - 1/2), is reused.",
                "factor",
            ),
        ),
    )


def logarithm() -> Case:
    """Differentiate y = ln x."""

    def f(x: Array) -> Any:
        return np.log(x)

    def vjp(u: Any, x: Array) -> Any:
        return u / x

    cache: dict[str, Any] = {}

    def stale(u: Any, x: Array) -> Any:
        if "grad" not in cache:  # wrong: true only once
            cache["grad"] = u / x
        return cache["grad"]

    return Case(
        "logarithm",
        f,
        (np.array([0.4, 0.9, 1.7, 2.6]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "logarithm/at-the-output",
                "wrong-place",
                lambda u, x: u / np.log(x),
                "1 / x is evaluated at the cached output, not at the input.",
                "unknown",
            ),
            Bug(
                "logarithm/safe-epsilon",
                "epsilon",
                lambda u, x: u / (x + 1e-5),
                "A guard against division by zero that the function itself does not have.",
                "unknown",
            ),
            Bug(
                "logarithm/base-ten",
                "factor",
                lambda u, x: u / (x * math.log(10)),
                "The derivative of log10 is taken.",
                "factor",
            ),
            Bug(
                "logarithm/stale",
                "stale-cache",
                stale,
                "The gradient is cached at the first call and handed out for ever.",
                "accumulated",
            ),
        ),
    )


def logarithm_base_two() -> Case:
    """Differentiate y = log2 x = ln x / ln 2."""

    def f(x: Array) -> Any:
        return np.log(x) / math.log(2)

    def vjp(u: Any, x: Array) -> Any:
        return u / (x * math.log(2))

    return Case(
        "logarithm_base_two",
        f,
        (np.array([0.3, 0.8, 1.9, 3.1]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "logarithm_base_two/natural",
                "factor",
                lambda u, x: u / x,
                "The base is forgotten.",
                "factor",
            ),
            Bug(
                "logarithm_base_two/multiplied",
                "factor",
                lambda u, x: u * math.log(2) / x,
                "ln 2 ends up in the numerator.",
                "factor",
            ),
            Bug(
                "logarithm_base_two/ln2-is-0.693",
                "truncated-constant",
                lambda u, x: u / (x * 0.693),
                "ln 2 is typed from memory, three digits.",
                "factor",
            ),
            Bug(
                "logarithm_base_two/ln2-is-0.69315",
                "truncated-constant",
                lambda u, x: u / (x * 0.69315),
                "ln 2 is typed from memory, five digits.",
                "factor",
            ),
        ),
    )


def square_root() -> Case:
    """Differentiate y = sqrt x."""

    def f(x: Array) -> Any:
        return np.sqrt(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * 0.5 / np.sqrt(x)

    return Case(
        "square_root",
        f,
        (np.array([0.3, 0.7, 1.6, 2.9]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "square_root/half-forgotten",
                "factor-2",
                lambda u, x: u / np.sqrt(x),
                "The exponent 1/2 is not brought down.",
                "factor",
            ),
            Bug(
                "square_root/root-upstairs",
                "wrong-power",
                lambda u, x: u * 0.5 * np.sqrt(x),
                "The exponent becomes 1/2 instead of -1/2.",
                "unknown",
            ),
            Bug(
                "square_root/root-forgotten",
                "wrong-place",
                lambda u, x: u * 0.5 / x,
                "0.5 / y is meant, with y the output; x is used instead.",
                "unknown",
            ),
        ),
    )


def reciprocal() -> Case:
    """Differentiate y = 1 / x."""

    def f(x: Array) -> Any:
        return 1 / x

    def vjp(u: Any, x: Array) -> Any:
        return -u / x**2

    def squares_in_place(u: Any, x: Array) -> Any:
        x *= x  # wrong: this is the caller's array
        return -u / x

    return Case(
        "reciprocal",
        f,
        (np.array([-1.7, 0.6, 1.1, 2.3]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "reciprocal/sign",
                "sign",
                lambda u, x: u / x**2,
                "The minus of the exponent -1 is lost.",
                "sign",
            ),
            Bug(
                "reciprocal/not-squared",
                "wrong-power",
                lambda u, x: -u / x,
                "The exponent is brought down but not lowered.",
                "unknown",
            ),
            Bug(
                "reciprocal/squares-in-place",
                "in-place",
                squares_in_place,
                "x *= x saves a temporary, and overwrites the caller's input.",
                "mutated",
            ),
        ),
    )


def sine() -> Case:
    """Differentiate y = sin x."""

    def f(x: Array) -> Any:
        return np.sin(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.cos(x)

    return Case(
        "sine",
        f,
        (np.array([-2.2, -0.8, 0.5, 1.1]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "sine/sign",
                "sign",
                lambda u, x: -u * np.cos(x),
                "The minus belongs to the derivative of the cosine.",
                "sign",
            ),
            Bug(
                "sine/at-the-output",
                "wrong-place",
                lambda u, x: u * np.cos(np.sin(x)),
                "The derivative is evaluated at the output.",
                "unknown",
            ),
            Bug(
                "sine/degrees",
                "factor",
                lambda u, x: u * np.cos(x) * math.pi / 180,
                "A conversion from degrees that the function does not make.",
                "factor",
            ),
            Bug(
                "sine/small-angle",
                "approximate-derivative",
                lambda u, x: u * (1 - x**2 / 2 + x**4 / 24),
                "Three terms of the series stand in for the cosine.",
                "unknown",
            ),
        ),
    )


def sine_of_turns() -> Case:
    """Differentiate y = sin(2 pi x), x in turns."""

    def f(x: Array) -> Any:
        return np.sin(2 * math.pi * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * math.pi * np.cos(2 * math.pi * x)

    return Case(
        "sine_of_turns",
        f,
        (np.array([-0.4, 0.1, 0.35, 0.6]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "sine_of_turns/inner-derivative",
                "factor",
                lambda u, x: u * np.cos(2 * math.pi * x),
                "The inner derivative 2 pi is forgotten.",
                "factor",
            ),
            Bug(
                "sine_of_turns/pi-is-3.1416",
                "truncated-constant",
                lambda u, x: u * 2 * 3.1416 * np.cos(2 * math.pi * x),
                "pi with four digits, once.",
                "factor",
            ),
            Bug(
                "sine_of_turns/pi-is-3.14159-everywhere",
                "truncated-constant",
                lambda u, x: u * 2 * 3.14159 * np.cos(2 * 3.14159 * x),
                "pi with five digits, in both places.",
                "unknown",
            ),
        ),
    )


def hyperbolic_tangent() -> Case:
    """Differentiate y = tanh x."""

    def f(x: Array) -> Any:
        return np.tanh(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * (1 - np.tanh(x) ** 2)

    cache = [0.0]

    def freed(u: Any, x: Array) -> Any:
        y = np.tanh(x) if cache else np.ones_like(x)  # wrong: y is gone after one backward pass
        cache.clear()
        return u * (1 - y**2)

    return Case(
        "hyperbolic_tangent",
        f,
        (np.array([-1.4, -0.6, 0.3, 0.8]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "hyperbolic_tangent/at-the-input",
                "wrong-place",
                lambda u, x: u * (1 - x**2),
                "1 - y^2 is written with x where the output y belongs.",
                "unknown",
            ),
            Bug(
                "hyperbolic_tangent/not-squared",
                "wrong-power",
                lambda u, x: u * (1 - np.tanh(x)),
                "The square is forgotten.",
                "unknown",
            ),
            Bug(
                "hyperbolic_tangent/sign",
                "sign",
                lambda u, x: u * (np.tanh(x) ** 2 - 1),
                "y^2 - 1 instead of 1 - y^2.",
                "sign",
            ),
            Bug(
                "hyperbolic_tangent/buffers-freed",
                "stale-cache",
                freed,
                "The saved output is freed after the first backward pass and read again.",
                "accumulated",
            ),
        ),
    )


def sigmoid() -> Case:
    """Differentiate y = 1 / (1 + e^-x)."""

    def f(x: Array) -> Any:
        return sigma(x)

    def vjp(u: Any, x: Array) -> Any:
        s = sigma(x)
        return u * s * (1 - s)

    noise = np.random.default_rng(3)

    def stochastic(u: Any, x: Array) -> Any:
        s = sigma(x)
        return u * s * (1 - s) * (1 + 1e-3 * noise.standard_normal(x.shape))

    return Case(
        "sigmoid",
        f,
        (np.array([-1.9, -0.7, 0.4, 1.3]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "sigmoid/half-the-formula",
                "term-dropped",
                lambda u, x: u * sigma(x),
                "s (1 - s) loses its second factor.",
                "unknown",
            ),
            Bug(
                "sigmoid/at-the-input",
                "wrong-place",
                lambda u, x: u * x * (1 - x),
                "s (1 - s) is applied to the input, as if it were the output.",
                "unknown",
            ),
            Bug(
                "sigmoid/applied-twice",
                "wrong-place",
                lambda u, x: u * sigma(sigma(x)) * (1 - sigma(sigma(x))),
                "The backward pass applies the sigmoid to what is already the output.",
                "unknown",
            ),
            Bug(
                "sigmoid/stochastic",
                "noise",
                stochastic,
                "Noise meant for training is left on during the check.",
                "noisy",
            ),
        ),
    )


def softplus() -> Case:
    """Differentiate y = log(1 + e^(beta x)) / beta with beta = 2."""
    beta = 2.0

    def f(x: Array) -> Any:
        return np.log1p(np.exp(beta * x)) / beta

    def vjp(u: Any, x: Array) -> Any:
        return u * sigma(beta * x)

    return Case(
        "softplus",
        f,
        (np.array([-1.1, -0.4, 0.2, 0.9]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "softplus/beta-twice",
                "factor-2",
                lambda u, x: u * beta * sigma(beta * x),
                "The inner derivative beta is kept, though 1 / beta cancels it.",
                "factor",
            ),
            Bug(
                "softplus/beta-forgotten",
                "wrong-place",
                lambda u, x: u * sigma(x),
                "The gradient is written for beta = 1.",
                "unknown",
            ),
            Bug(
                "softplus/hard-gate",
                "approximate-derivative",
                lambda u, x: u * (x > 0),
                "The gate of the ReLU is used, because softplus resembles it.",
                "unknown",
            ),
        ),
    )


def gelu() -> Case:
    """Differentiate y = x Phi(x), with the exact normal distribution function Phi."""
    erf = np.vectorize(math.erf, otypes=[float])

    def Phi(x: Array) -> Any:
        return 0.5 * (1 + erf(x / math.sqrt(2)))

    def phi(x: Array) -> Any:
        return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

    def f(x: Array) -> Any:
        return x * Phi(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * (Phi(x) + x * phi(x))

    return Case(
        "gelu",
        f,
        (np.array([-1.5, -0.4, 0.6, 1.8]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "gelu/density-dropped",
                "product-rule",
                lambda u, x: u * Phi(x),
                "Half of the product rule.",
                "unknown",
            ),
            Bug(
                "gelu/sigmoid-approximation",
                "approximate-derivative",
                lambda u, x: u * sigma(1.702 * x) * (1 + 1.702 * x * (1 - sigma(1.702 * x))),
                "The backward pass is of x sigmoid(1.702 x), the forward pass is exact.",
                "unknown",
            ),
            Bug(
                "gelu/density-0.3989",
                "truncated-constant",
                lambda u, x: u * (Phi(x) + x * 0.3989 * np.exp(-(x**2) / 2)),
                "1 / sqrt(2 pi) is typed with four digits.",
                "unknown",
            ),
        ),
    )


def gelu_tanh() -> Case:
    """Differentiate y = x (1 + tanh(c (x + a x^3))) / 2, the usual approximation of GELU."""
    c, a = math.sqrt(2 / math.pi), 0.044715

    def f(x: Array) -> Any:
        return 0.5 * x * (1 + np.tanh(c * (x + a * x**3)))

    def derivative(x: Array, c: float, a: float, three: float = 3.0) -> Any:
        t = np.tanh(c * (x + a * x**3))
        return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * c * (1 + three * a * x**2)

    def vjp(u: Any, x: Array) -> Any:
        return u * derivative(x, c, a)

    return Case(
        "gelu_tanh",
        f,
        (np.array([-1.6, -0.5, 0.7, 1.9]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "gelu_tanh/0.0447",
                "truncated-constant",
                lambda u, x: u * derivative(x, c, 0.0447),
                "0.044715 is typed with two digits missing.",
                "unknown",
            ),
            Bug(
                "gelu_tanh/0.79788",
                "truncated-constant",
                lambda u, x: u * derivative(x, 0.79788, a),
                "sqrt(2 / pi) is typed with five digits.",
                "unknown",
            ),
            Bug(
                "gelu_tanh/three-forgotten",
                "wrong-power",
                lambda u, x: u * derivative(x, c, a, three=1.0),
                "The cubic term is differentiated as a x^2, without its 3.",
                "unknown",
            ),
        ),
    )


def silu() -> Case:
    """Differentiate y = x sigmoid(x)."""

    def f(x: Array) -> Any:
        return x * sigma(x)

    def vjp(u: Any, x: Array) -> Any:
        s = sigma(x)
        return u * (s + x * s * (1 - s))

    return Case(
        "silu",
        f,
        (np.array([-1.8, -0.6, 0.5, 1.4]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "silu/product-rule",
                "product-rule",
                lambda u, x: u * sigma(x),
                "x is differentiated, the gate is taken for a constant.",
                "unknown",
            ),
            Bug(
                "silu/sign",
                "sign",
                lambda u, x: -vjp(u, x),
                "Ascent and descent are confused: the caller subtracts, the gradient does too.",
                "sign",
            ),
            Bug(
                "silu/nearly",
                "perturbation",
                lambda u, x: u * (sigma(x) + 1.00001 * x * sigma(x) * (1 - sigma(x))),
                "A temperature of 1.00001, long since removed from the forward pass.",
                "unknown",
            ),
        ),
    )


def relu() -> Case:
    """Differentiate y = max(x, 0), every x well away from 0."""

    def f(x: Array) -> Any:
        return np.maximum(x, 0)

    def vjp(u: Any, x: Array) -> Any:
        return u * (x > 0)

    def in_place(u: Any, x: Array) -> Any:
        x[x < 0] = 0  # wrong: this is the caller's array
        return u * (x > 0)

    return Case(
        "relu",
        f,
        (np.array([[-1.2, 0.7, 2.4, -0.5], [0.3, -0.8, 1.5, 0.9]]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "relu/mask-dropped",
                "mask-dropped",
                lambda u, x: u * np.ones_like(x),
                "The upstream gradient is passed on through closed gates too.",
                "unknown",
            ),
            Bug(
                "relu/threshold-one",
                "wrong-mask",
                lambda u, x: u * (x > 1),
                "The gate opens at 1, as in the hinge loss.",
                "mask",
            ),
            Bug(
                "relu/in-place",
                "in-place",
                in_place,
                "nn.ReLU(inplace=True), written by hand.",
                "mutated",
            ),
            Bug(
                "relu/output-for-mask",
                "wrong-place",
                lambda u, x: u * np.maximum(x, 0),
                "The cached output is multiplied in, instead of the mask.",
                "unknown",
            ),
            Bug(
                "relu/mask-inverted",
                "wrong-mask",
                lambda u, x: u * (x <= 0),
                "The mask marks what is to be set to zero, and is then multiplied in.",
                "unknown",
            ),
        ),
    )


def leaky_relu() -> Case:
    """Differentiate y = x for positive x, 0.1 x for negative x."""
    slope = 0.1

    def f(x: Array) -> Any:
        return np.where(x.real > 0, x, slope * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.where(x > 0, 1, slope)

    return Case(
        "leaky_relu",
        f,
        (np.array([-1.4, -0.3, 0.6, 1.1, -2.2]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "leaky_relu/leak-forgotten",
                "wrong-mask",
                lambda u, x: u * (x > 0),
                "The backward pass is copied from the plain ReLU.",
                "mask",
            ),
            Bug(
                "leaky_relu/other-slope",
                "constant",
                lambda u, x: u * np.where(x > 0, 1, 0.01),
                "A framework's default slope, 0.01, is used backward.",
                "unknown",
            ),
            Bug(
                "leaky_relu/leak-everywhere",
                "wrong-mask",
                lambda u, x: u * slope * np.ones_like(x),
                "The condition is lost; every entry leaks.",
                "unknown",
            ),
        ),
    )


def absolute_value() -> Case:
    """Differentiate y = |x|, every x well away from 0."""

    def f(x: Array) -> Any:
        return np.abs(x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.sign(x)

    return Case(
        "absolute_value",
        f,
        (np.array([-0.9, 0.4, -1.6, 1.2, 2.0]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "absolute_value/sign-dropped",
                "sign-dropped",
                lambda u, x: u * np.ones_like(x),
                "The derivative of x, right where x is positive.",
                "unknown",
            ),
            Bug(
                "absolute_value/positive-only",
                "wrong-mask",
                lambda u, x: u * (x > 0),
                "The ReLU's mask is reused.",
                "mask",
            ),
            Bug(
                "absolute_value/sign",
                "sign",
                lambda u, x: u * np.where(x < 0, 1, -1),
                "The two branches are swapped.",
                "sign",
            ),
        ),
    )


def clip() -> Case:
    """Differentiate y = x kept within [-1, 1], every x well away from both."""

    def f(x: Array) -> Any:
        return np.where(x.real > 1, 1, np.where(x.real < -1, -1, x))

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.abs(x) < 1)

    return Case(
        "clip",
        f,
        (np.array([-1.7, -0.6, 0.3, 0.8, 1.5, -0.2, 2.3]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "clip/lower-bound-forgotten",
                "wrong-mask",
                lambda u, x: u * (x < 1),
                "Only the upper bound closes the gate.",
                "single-entries",
            ),
            Bug(
                "clip/mask-dropped",
                "mask-dropped",
                lambda u, x: u * np.ones_like(x),
                "Straight-through: clipping is ignored backward.",
                "unknown",
            ),
            Bug(
                "clip/negative-lost",
                "wrong-mask",
                lambda u, x: u * ((x > 0.5) & (x < 1)),
                "The bounds are those of another layer.",
                "mask",
            ),
        ),
    )


def elu() -> Case:
    """Differentiate y = x for positive x, alpha (e^x - 1) for negative x, alpha = 0.7."""
    alpha = 0.7

    def f(x: Array) -> Any:
        return np.where(x.real > 0, x, alpha * (np.exp(x) - 1))

    def vjp(u: Any, x: Array) -> Any:
        return u * np.where(x > 0, 1, alpha * np.exp(x))

    return Case(
        "elu",
        f,
        (np.array([-1.3, -0.4, -2.1, 0.5, 1.6]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "elu/alpha-forgotten",
                "constant",
                lambda u, x: u * np.where(x > 0, 1, np.exp(x)),
                "The gradient is written for alpha = 1.",
                "unknown",
            ),
            Bug(
                "elu/output-for-derivative",
                "wrong-place",
                lambda u, x: u * np.where(x > 0, 1, alpha * (np.exp(x) - 1)),
                "The derivative is y + alpha; the alpha is lost.",
                "unknown",
            ),
            Bug(
                "elu/relu-gate",
                "wrong-mask",
                lambda u, x: u * (x > 0),
                "The backward pass is copied from the plain ReLU.",
                "mask",
            ),
        ),
    )


def power() -> Case:
    """Differentiate y = x^p, both differentiated."""

    def f(x: Array, p: Array) -> Any:
        return x**p

    def vjp(u: Any, x: Array, p: Array) -> Any:
        return u * p * x ** (p - 1), u * x**p * np.log(x)

    return Case(
        "power",
        f,
        (np.array([0.6, 1.3, 2.2]), np.array([2.0, -1.5, 0.7])),
        vjp,
        SMOOTH,
        (
            Bug(
                "power/exponent-not-lowered",
                "wrong-power",
                lambda u, x, p: (u * p * x**p, u * x**p * np.log(x)),
                "p x^p: brought down, but not lowered.",
                "unknown",
            ),
            Bug(
                "power/exponent-constant",
                "zero",
                lambda u, x, p: (u * p * x ** (p - 1), np.zeros_like(p)),
                "The exponent is taken for a constant.",
                "zero",
            ),
            Bug(
                "power/log-base-ten",
                "factor",
                lambda u, x, p: (u * p * x ** (p - 1), u * x**p * np.log10(x)),
                "log10 where the natural logarithm belongs.",
                "factor",
            ),
            Bug(
                "power/log-forgotten",
                "term-dropped",
                lambda u, x, p: (u * p * x ** (p - 1), u * x**p),
                "The derivative of e^p is applied to x^p.",
                "unknown",
            ),
        ),
    )


def division() -> Case:
    """Differentiate y = a / b, with b broadcast over the rows of a."""

    def f(a: Array, b: Array) -> Any:
        return a / b

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return u / b, -(u * a / b**2).sum(axis=0)

    return Case(
        "division",
        f,
        (np.array([[0.7, -1.1, 1.6], [1.9, 0.5, -0.8]]), np.array([1.3, -0.9, 2.1])),
        vjp,
        SMOOTH,
        (
            Bug(
                "division/missing-sum",
                "missing-sum",
                lambda u, a, b: (u / b, -u * a / b**2),
                "b was broadcast over the rows; its gradient must be summed over them.",
                "missing-sum",
            ),
            Bug(
                "division/sign",
                "sign",
                lambda u, a, b: (u / b, (u * a / b**2).sum(axis=0)),
                "The minus of d(1/b) is lost.",
                "sign",
            ),
            Bug(
                "division/mean-over-rows",
                "mean-for-sum",
                lambda u, a, b: (u / b, -(u * a / b**2).mean(axis=0)),
                "Mean over the broadcast axis, where the sum belongs.",
                "factor",
            ),
            Bug(
                "division/numerator-multiplied",
                "wrong-rule",
                lambda u, a, b: (u * b, -(u * a / b**2).sum(axis=0)),
                "The rule for a product is applied to the numerator.",
                "unknown",
            ),
        ),
    )


def product() -> Case:
    """Differentiate y = a b, a column times a row."""

    def f(a: Array, b: Array) -> Any:
        return a * b

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return (u * b).sum(axis=1, keepdims=True), (u * a).sum(axis=0)

    return Case(
        "product",
        f,
        (np.array([[0.8], [-1.2], [1.7]]), np.array([1.1, -0.4, 0.6, 2.0])),
        vjp,
        SMOOTH,
        (
            Bug(
                "product/column-not-summed",
                "missing-sum",
                lambda u, a, b: (u * b, (u * a).sum(axis=0)),
                "The column was broadcast; its gradient comes back as a matrix.",
                "missing-sum",
            ),
            Bug(
                "product/row-not-summed",
                "missing-sum",
                lambda u, a, b: ((u * b).sum(axis=1, keepdims=True), u * a),
                "The row was broadcast; its gradient comes back as a matrix.",
                "missing-sum",
            ),
            Bug(
                "product/mean-over-columns",
                "mean-for-sum",
                lambda u, a, b: ((u * b).mean(axis=1, keepdims=True), (u * a).sum(axis=0)),
                "Mean over the broadcast axis, where the sum belongs.",
                "factor",
            ),
            Bug(
                "product/rolled",
                "off-by-one",
                lambda u, a, b: (
                    (u * b).sum(axis=1, keepdims=True),
                    np.roll((u * a).sum(axis=0), 1),
                ),
                "Written to index j + 1.",
                "permuted",
            ),
        ),
    )


def polar_to_cartesian() -> Case:
    """Differentiate x = r cos t, y = r sin t: two inputs, two outputs."""

    def f(r: Array, t: Array) -> Any:
        return r * np.cos(t), r * np.sin(t)

    def vjp(u: Any, r: Array, t: Array) -> Any:
        ux, uy = u
        return ux * np.cos(t) + uy * np.sin(t), r * (uy * np.cos(t) - ux * np.sin(t))

    return Case(
        "polar_to_cartesian",
        f,
        (np.array([1.4, 0.6]), np.array([0.7, -2.1])),
        vjp,
        SMOOTH,
        (
            Bug(
                "polar_to_cartesian/second-output-dropped",
                "upstream-dropped",
                lambda u, r, t: (u[0] * np.cos(t), r * (u[1] * np.cos(t) - u[0] * np.sin(t))),
                "The upstream of the second output never reaches r.",
                "mask",
            ),
            Bug(
                "polar_to_cartesian/radius-forgotten",
                "term-dropped",
                lambda u, r, t: (
                    u[0] * np.cos(t) + u[1] * np.sin(t),
                    u[1] * np.cos(t) - u[0] * np.sin(t),
                ),
                "The factor r is left out of the gradient of the angle.",
                "unknown",
            ),
            Bug(
                "polar_to_cartesian/angle-sign",
                "sign",
                lambda u, r, t: (
                    u[0] * np.cos(t) + u[1] * np.sin(t),
                    r * (u[0] * np.sin(t) - u[1] * np.cos(t)),
                ),
                "The angle is measured the other way round.",
                "sign",
            ),
        ),
    )


def mean_and_variance() -> Case:
    """Two numbers from one array: its mean and its variance (divided by n)."""

    def f(x: Array) -> Any:
        mean = x.mean()
        return mean, ((x - mean) ** 2).mean()

    def vjp(u: Any, x: Array) -> Any:
        u_mean, u_variance = u
        return (u_mean + u_variance * 2 * (x - x.mean())) / x.size

    return Case(
        "mean_and_variance",
        f,
        (np.array([0.7, -1.2, 2.1, 0.3, 1.4]),),
        vjp,
        SMOOTH,
        (
            Bug(
                "mean_and_variance/sample-variance",
                "n-minus-1",
                lambda u, x: u[0] / x.size + u[1] * 2 * (x - x.mean()) / (x.size - 1),
                "The variance forward divides by n, backward by n - 1.",
                "unknown",
            ),
            Bug(
                "mean_and_variance/variance-dropped",
                "upstream-dropped",
                lambda u, x: u[0] * np.ones_like(x) / x.size,
                "The upstream of the second output is ignored.",
                "mask",
            ),
            Bug(
                "mean_and_variance/missing-mean",
                "missing-mean",
                lambda u, x: u[0] + u[1] * 2 * (x - x.mean()),
                "The division by n is forgotten.",
                "factor",
            ),
        ),
    )


def cases() -> Iterator[Case]:
    """Build every case of this module anew."""
    yield square()
    yield cube()
    yield exponential()
    yield logarithm()
    yield logarithm_base_two()
    yield square_root()
    yield reciprocal()
    yield sine()
    yield sine_of_turns()
    yield hyperbolic_tangent()
    yield sigmoid()
    yield softplus()
    yield gelu()
    yield gelu_tanh()
    yield silu()
    yield relu()
    yield leaky_relu()
    yield absolute_value()
    yield clip()
    yield elu()
    yield power()
    yield division()
    yield product()
    yield polar_to_cartesian()
    yield mean_and_variance()
