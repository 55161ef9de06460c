"""Functions that act entry by entry, and the derivatives that people write for them.

``u`` is the upstream gradient: it has the shape of the output and multiplies the derivative.
"""

import math
from typing import Any

import numpy as np

from .case import DOUBLED, HALVED, NEGATED, ZERO, Array, Case, accumulated, case, without

SMOOTH = "elementwise smooth"


def sigma(x: Array) -> Any:
    """Logistic function, which many formulas below use."""
    return 1 / (1 + np.exp(-x))


def square() -> Case:
    """Differentiate y = x^2."""

    def f(x: Array) -> Any:
        return x**2

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * x

    return (
        case("square", f, vjp, SMOOTH, np.array([-1.3, 0.4, 0.9, 2.1]))
        .changed("two-forgotten", "The exponent is lowered but not brought down.", HALVED)
        .bug(
            "upstream-dropped",
            "The local derivative is used as the gradient; the chain rule is left out.",
        )
        .wrong("upstream-dropped", "unknown", lambda u, x: 2 * x)
        .bug("last-entry-left-out", "The loop runs to len(x) - 1.")
        .by(without(-1, "single-entries"))
    )


def cube() -> Case:
    """Differentiate y = x^3."""

    def f(x: Array) -> Any:
        return x**3

    def vjp(u: Any, x: Array) -> Any:
        return u * 3 * x**2

    def forward_difference(u: Any, x: Array) -> Any:
        h = 1e-6
        return u * ((x + h) ** 3 - x**3) / h  # wrong: a difference quotient is not a derivative

    def tiny_step(u: Any, x: Array) -> Any:
        h = 1e-12
        return u * ((x + h) ** 3 - (x - h) ** 3) / (2 * h)

    return (
        case("cube", f, vjp, SMOOTH, np.array([-1.2, -0.5, 0.7, 1.4]))
        .bug(
            "new-exponent-brought-down",
            "The exponent is lowered first, and the new exponent is brought down.",
        )
        .wrong("factor", "factor", lambda u, x: u * 2 * x**2)
        .bug("exponent-lowered-twice", "The exponent is lowered once too often.")
        .wrong("wrong-power", "inner-factor", lambda u, x: u * 3 * x)
        .bug("forward-difference", "A forward difference serves as the gradient.")
        .wrong("approximate-derivative", "unknown", forward_difference)
        .bug("step-of-1e-12", "A smaller step seems better, but only adds rounding noise.")
        .wrong("approximate-derivative", "noisy", tiny_step)
    )


def exponential() -> Case:
    """Differentiate y = e^x."""

    def vjp(u: Any, x: Array) -> Any:
        return u * np.exp(x)

    def half_precision(u: Any, x: Array) -> Any:
        y = np.exp(x).astype(np.float16)  # wrong: saved in float16 to save memory
        return u * y.astype(np.float64)

    return (
        case("exponential", np.exp, vjp, SMOOTH, np.array([-1.1, -0.3, 0.6, 1.2]))
        .bug("power-rule", "The rule for x^n is applied to e^x.")
        .wrong("wrong-rule", "unknown", lambda u, x: u * x * np.exp(x - 1))
        .bug("accumulates", "+= into a buffer that is not cleared between two backward passes.")
        .by(accumulated())
        .bug("output-kept-in-float16", "The output is cached in half precision and reused.")
        .wrong("precision", "noisy", half_precision)
        .bug("shifted", "The gradient of a shifted exponential, e^(x - 1/2), is reused.")
        .wrong("factor", "factor", lambda u, x: u * np.exp(x) * math.exp(-0.5))
    )


def logarithm() -> Case:
    """Differentiate y = ln x."""

    def vjp(u: Any, x: Array) -> Any:
        return u / x

    cache: dict[str, Any] = {}

    def stale(u: Any, x: Array) -> Any:
        if "grad" not in cache:  # wrong: true only once
            cache["grad"] = u / x
        return cache["grad"]

    return (
        case("logarithm", np.log, vjp, SMOOTH, np.array([0.4, 0.9, 1.7, 2.6]))
        .bug("at-the-output", "1 / x is evaluated at the cached output, not at the input.")
        .wrong("wrong-place", "unknown", lambda u, x: u / np.log(x))
        .bug(
            "safe-epsilon",
            "A guard against division by zero that the function itself does not have.",
        )
        .wrong("epsilon", "unknown", lambda u, x: u / (x + 1e-5))
        .bug("base-ten", "The derivative of log10 is taken.")
        .wrong("factor", "factor", lambda u, x: u / (x * math.log(10)))
        .bug("stale", "The gradient is cached at the first call and reused for ever.")
        .wrong("stale-cache", "accumulated", stale)
    )


def logarithm_base_two() -> Case:
    """Differentiate y = log2 x = ln x / ln 2."""

    def f(x: Array) -> Any:
        return np.log(x) / math.log(2)

    def vjp(u: Any, x: Array) -> Any:
        return u / (x * math.log(2))

    return (
        case("logarithm_base_two", f, vjp, SMOOTH, np.array([0.3, 0.8, 1.9, 3.1]))
        .bug("natural", "The base is forgotten.")
        .wrong("factor", "factor", lambda u, x: u / x)
        .bug("multiplied", "ln 2 ends up in the numerator.")
        .wrong("factor", "factor", lambda u, x: u * math.log(2) / x)
        .bug("ln2-is-0.693", "ln 2 is typed from memory, three digits.")
        .wrong("truncated-constant", "factor", lambda u, x: u / (x * 0.693))
        .bug("ln2-is-0.69315", "ln 2 is typed from memory, five digits.")
        .wrong("truncated-constant", "factor", lambda u, x: u / (x * 0.69315))
    )


def square_root() -> Case:
    """Differentiate y = sqrt x."""

    def vjp(u: Any, x: Array) -> Any:
        return u * 0.5 / np.sqrt(x)

    return (
        case("square_root", np.sqrt, vjp, SMOOTH, np.array([0.3, 0.7, 1.6, 2.9]))
        .changed("half-forgotten", "The exponent 1/2 is not brought down.", DOUBLED)
        .bug("root-upstairs", "The exponent becomes 1/2 instead of -1/2.")
        .wrong("wrong-power", "inner-factor", lambda u, x: u * 0.5 * np.sqrt(x))
        .bug("root-forgotten", "0.5 / y is right, with y the output; x is used instead.")
        .wrong("wrong-place", "factor", lambda u, x: u * 0.5 / x)
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

    return (
        case("reciprocal", f, vjp, SMOOTH, np.array([-1.7, 0.6, 1.1, 2.3]))
        .changed("sign", "The minus of the exponent -1 is lost.", NEGATED)
        .bug("not-squared", "The exponent is brought down but not lowered.")
        .wrong("wrong-power", "inner-factor", lambda u, x: -u / x)
        .bug("squares-in-place", "x *= x saves a temporary, and overwrites the caller's input.")
        .wrong("in-place", "mutated", squares_in_place)
    )


def sine() -> Case:
    """Differentiate y = sin x."""

    def vjp(u: Any, x: Array) -> Any:
        return u * np.cos(x)

    return (
        case("sine", np.sin, vjp, SMOOTH, np.array([-2.2, -0.8, 0.5, 1.1]))
        .changed("sign", "The minus belongs to the derivative of the cosine.", NEGATED)
        .bug("at-the-output", "The derivative is evaluated at the output.")
        .wrong("wrong-place", "unknown", lambda u, x: u * np.cos(np.sin(x)))
        .bug("degrees", "A conversion from degrees that the function does not make.")
        .wrong("factor", "factor", lambda u, x: u * np.cos(x) * math.pi / 180)
        .bug("small-angle", "Three terms of the series stand in for the cosine.")
        .wrong("approximate-derivative", "unknown", lambda u, x: u * (1 - x**2 / 2 + x**4 / 24))
    )


def sine_of_turns() -> Case:
    """Differentiate y = sin(2 pi x), x in turns."""

    def f(x: Array) -> Any:
        return np.sin(2 * math.pi * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * 2 * math.pi * np.cos(2 * math.pi * x)

    return (
        case("sine_of_turns", f, vjp, SMOOTH, np.array([-0.4, 0.1, 0.35, 0.6]))
        .bug("inner-derivative", "The inner derivative 2 pi is forgotten.")
        .wrong("factor", "factor", lambda u, x: u * np.cos(2 * math.pi * x))
        .bug("pi-is-3.1416", "pi with four digits, once.")
        .wrong(
            "truncated-constant", "factor", lambda u, x: u * 2 * 3.1416 * np.cos(2 * math.pi * x)
        )
        .bug("pi-is-3.14159-everywhere", "pi with five digits, in both places.")
        .wrong(
            "truncated-constant", "unknown", lambda u, x: u * 2 * 3.14159 * np.cos(2 * 3.14159 * x)
        )
    )


def hyperbolic_tangent() -> Case:
    """Differentiate y = tanh x."""

    def vjp(u: Any, x: Array) -> Any:
        return u * (1 - np.tanh(x) ** 2)

    cache = [0.0]

    def freed(u: Any, x: Array) -> Any:
        y = np.tanh(x) if cache else np.ones_like(x)  # wrong: y is gone after one backward pass
        cache.clear()
        return u * (1 - y**2)

    return (
        case("hyperbolic_tangent", np.tanh, vjp, SMOOTH, np.array([-1.4, -0.6, 0.3, 0.8]))
        .bug("at-the-input", "1 - y^2 is written with x instead of the output y.")
        .wrong("wrong-place", "unknown", lambda u, x: u * (1 - x**2))
        .bug("not-squared", "The square is forgotten.")
        .wrong("wrong-power", "unknown", lambda u, x: u * (1 - np.tanh(x)))
        .changed("sign", "y^2 - 1 instead of 1 - y^2.", NEGATED)
        .bug(
            "buffers-freed",
            "The saved output is freed after the first backward pass and read again.",
        )
        .wrong("stale-cache", "accumulated", freed)
    )


def sigmoid() -> Case:
    """Differentiate y = 1 / (1 + e^-x)."""

    def vjp(u: Any, x: Array) -> Any:
        s = sigma(x)
        return u * s * (1 - s)

    noise = np.random.default_rng(3)

    def stochastic(u: Any, x: Array) -> Any:
        s = sigma(x)
        return u * s * (1 - s) * (1 + 1e-3 * noise.standard_normal(x.shape))

    return (
        case("sigmoid", sigma, vjp, SMOOTH, np.array([-1.9, -0.7, 0.4, 1.3]))
        .bug("half-the-formula", "s (1 - s) loses its second factor.")
        .wrong("term-dropped", "unknown", lambda u, x: u * sigma(x))
        .bug("at-the-input", "s (1 - s) is applied to the input, as if it were the output.")
        .wrong("wrong-place", "unknown", lambda u, x: u * x * (1 - x))
        .bug("applied-twice", "The backward pass applies the sigmoid to the output again.")
        .wrong("wrong-place", "unknown", lambda u, x: u * sigma(sigma(x)) * (1 - sigma(sigma(x))))
        .bug("stochastic", "Noise meant for training is left on during the check.")
        .wrong("noise", "noisy", stochastic)
    )


def softplus() -> Case:
    """Differentiate y = log(1 + e^(beta x)) / beta with beta = 2."""
    beta = 2.0

    def f(x: Array) -> Any:
        return np.log1p(np.exp(beta * x)) / beta

    def vjp(u: Any, x: Array) -> Any:
        return u * sigma(beta * x)

    return (
        case("softplus", f, vjp, SMOOTH, np.array([-1.1, -0.4, 0.2, 0.9]))
        .bug("beta-twice", "The inner derivative beta is kept, though 1 / beta cancels it.")
        .wrong("factor-2", "factor", lambda u, x: u * beta * sigma(beta * x))
        .bug("beta-forgotten", "The gradient is written for beta = 1.")
        .wrong("wrong-place", "unknown", lambda u, x: u * sigma(x))
        .bug("hard-gate", "The gate of the ReLU is used, because softplus resembles it.")
        .wrong("approximate-derivative", "unknown", lambda u, x: u * (x > 0))
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

    return (
        case("gelu", f, vjp, SMOOTH, np.array([-1.5, -0.4, 0.6, 1.8]))
        .bug("density-dropped", "Half of the product rule.")
        .wrong("product-rule", "unknown", lambda u, x: u * Phi(x))
        .bug(
            "sigmoid-approximation",
            "The backward pass uses x sigmoid(1.702 x), the forward pass is exact.",
        )
        .wrong(
            "approximate-derivative",
            "unknown",
            lambda u, x: u * sigma(1.702 * x) * (1 + 1.702 * x * (1 - sigma(1.702 * x))),
        )
        .bug("density-0.3989", "1 / sqrt(2 pi) is typed with four digits.")
        .wrong(
            "truncated-constant",
            "unknown",
            lambda u, x: u * (Phi(x) + x * 0.3989 * np.exp(-(x**2) / 2)),
        )
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

    return (
        case("gelu_tanh", f, vjp, SMOOTH, np.array([-1.6, -0.5, 0.7, 1.9]))
        .bug("0.0447", "0.044715 is typed with two digits missing.")
        .wrong("truncated-constant", "unknown", lambda u, x: u * derivative(x, c, 0.0447))
        .bug("0.79788", "sqrt(2 / pi) is typed with five digits.")
        .wrong("truncated-constant", "unknown", lambda u, x: u * derivative(x, 0.79788, a))
        .bug("three-forgotten", "The cubic term is differentiated as a x^2, without its 3.")
        .wrong("wrong-power", "unknown", lambda u, x: u * derivative(x, c, a, three=1.0))
    )


def silu() -> Case:
    """Differentiate y = x sigmoid(x)."""

    def f(x: Array) -> Any:
        return x * sigma(x)

    def vjp(u: Any, x: Array) -> Any:
        s = sigma(x)
        return u * (s + x * s * (1 - s))

    return (
        case("silu", f, vjp, SMOOTH, np.array([-1.8, -0.6, 0.5, 1.4]))
        .bug("product-rule", "x is differentiated, the gate is treated as a constant.")
        .wrong("product-rule", "unknown", lambda u, x: u * sigma(x))
        .bug("sign", "Ascent and descent are confused: the caller subtracts, and the gradient too.")
        .wrong("sign", "sign", lambda u, x: -vjp(u, x))
        .bug("nearly", "A temperature of 1.00001 that the forward pass no longer has.")
        .wrong(
            "perturbation",
            "unknown",
            lambda u, x: u * (sigma(x) + 1.00001 * x * sigma(x) * (1 - sigma(x))),
        )
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

    return (
        case("relu", f, vjp, SMOOTH, np.array([[-1.2, 0.7, 2.4, -0.5], [0.3, -0.8, 1.5, 0.9]]))
        .bug("mask-dropped", "The upstream gradient is passed on through closed gates too.")
        .wrong("mask-dropped", "unknown", lambda u, x: u * np.ones_like(x))
        .bug("threshold-one", "The gate opens at 1, as in the hinge loss.")
        .wrong("wrong-mask", "mask", lambda u, x: u * (x > 1))
        .bug("in-place", "nn.ReLU(inplace=True), written by hand.")
        .wrong("in-place", "mutated", in_place)
        .bug("output-for-mask", "The cached output is multiplied in, instead of the mask.")
        .wrong("wrong-place", "inner-factor", lambda u, x: u * np.maximum(x, 0))
        .bug("mask-inverted", "The mask marks the entries to set to zero, but is multiplied in.")
        .wrong("wrong-mask", "unknown", lambda u, x: u * (x <= 0))
    )


def leaky_relu() -> Case:
    """Differentiate y = x for positive x, 0.1 x for negative x."""
    slope = 0.1

    def f(x: Array) -> Any:
        return np.where(x.real > 0, x, slope * x)

    def vjp(u: Any, x: Array) -> Any:
        return u * np.where(x > 0, 1, slope)

    return (
        case("leaky_relu", f, vjp, SMOOTH, np.array([-1.4, -0.3, 0.6, 1.1, -2.2]))
        .bug("leak-forgotten", "The backward pass is copied from the plain ReLU.")
        .wrong("wrong-mask", "mask", lambda u, x: u * (x > 0))
        .bug("other-slope", "A framework's default slope, 0.01, is used backward.")
        .wrong("constant", "unknown", lambda u, x: u * np.where(x > 0, 1, 0.01))
        .bug("leak-everywhere", "The condition is lost; every entry leaks.")
        .wrong("wrong-mask", "unknown", lambda u, x: u * slope * np.ones_like(x))
    )


def absolute_value() -> Case:
    """Differentiate y = |x|, every x well away from 0."""

    def vjp(u: Any, x: Array) -> Any:
        return u * np.sign(x)

    return (
        case("absolute_value", np.abs, vjp, SMOOTH, np.array([-0.9, 0.4, -1.6, 1.2, 2.0]))
        .bug("sign-dropped", "The derivative of x, right where x is positive.")
        .wrong("sign-dropped", "unknown", lambda u, x: u * np.ones_like(x))
        .bug("positive-only", "The ReLU's mask is reused.")
        .wrong("wrong-mask", "mask", lambda u, x: u * (x > 0))
        .changed("sign", "The two branches are swapped.", NEGATED)
    )


def clip() -> Case:
    """Differentiate y = x kept within [-1, 1], every x well away from both."""

    def f(x: Array) -> Any:
        return np.where(x.real > 1, 1, np.where(x.real < -1, -1, x))

    def vjp(u: Any, x: Array) -> Any:
        return u * (np.abs(x) < 1)

    return (
        case("clip", f, vjp, SMOOTH, np.array([-1.7, -0.6, 0.3, 0.8, 1.5, -0.2, 2.3]))
        .bug("lower-bound-forgotten", "Only the upper bound closes the gate.")
        .wrong("wrong-mask", "single-entries", lambda u, x: u * (x < 1))
        .bug("mask-dropped", "Straight-through: clipping is ignored backward.")
        .wrong("mask-dropped", "unknown", lambda u, x: u * np.ones_like(x))
        .bug("negative-lost", "The bounds are those of another layer.")
        .wrong("wrong-mask", "mask", lambda u, x: u * ((x > 0.5) & (x < 1)))
    )


def elu() -> Case:
    """Differentiate y = x for positive x, alpha (e^x - 1) for negative x, alpha = 0.7."""
    alpha = 0.7

    def f(x: Array) -> Any:
        return np.where(x.real > 0, x, alpha * (np.exp(x) - 1))

    def vjp(u: Any, x: Array) -> Any:
        return u * np.where(x > 0, 1, alpha * np.exp(x))

    return (
        case("elu", f, vjp, SMOOTH, np.array([-1.3, -0.4, -2.1, 0.5, 1.6]))
        .bug("alpha-forgotten", "The gradient is written for alpha = 1.")
        .wrong("constant", "unknown", lambda u, x: u * np.where(x > 0, 1, np.exp(x)))
        .bug("output-for-derivative", "The derivative is y + alpha; the alpha is lost.")
        .wrong(
            "wrong-place", "unknown", lambda u, x: u * np.where(x > 0, 1, alpha * (np.exp(x) - 1))
        )
        .bug("relu-gate", "The backward pass is copied from the plain ReLU.")
        .wrong("wrong-mask", "mask", lambda u, x: u * (x > 0))
    )


def power() -> Case:
    """Differentiate y = x^p, both differentiated."""

    def f(x: Array, p: Array) -> Any:
        return x**p

    def vjp(u: Any, x: Array, p: Array) -> Any:
        return u * p * x ** (p - 1), u * x**p * np.log(x)

    return (
        case("power", f, vjp, SMOOTH, np.array([0.6, 1.3, 2.2]), np.array([2.0, -1.5, 0.7]))
        .bug("exponent-not-lowered", "p x^p: brought down, but not lowered.")
        .wrong("wrong-power", "inner-factor", lambda u, x, p: (u * p * x**p, u * x**p * np.log(x)))
        .changed("exponent-constant", "The exponent is treated as a constant.", ZERO, part=1)
        .bug("log-base-ten", "log10 instead of the natural logarithm.")
        .wrong("factor", "factor", lambda u, x, p: (u * p * x ** (p - 1), u * x**p * np.log10(x)))
        .bug("log-forgotten", "The derivative of e^p is applied to x^p.")
        .wrong("term-dropped", "unknown", lambda u, x, p: (u * p * x ** (p - 1), u * x**p))
    )


def division() -> Case:
    """Differentiate y = a / b, with b broadcast over the rows of a."""

    def f(a: Array, b: Array) -> Any:
        return a / b

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return u / b, -(u * a / b**2).sum(axis=0)

    a = np.array([[0.7, -1.1, 1.6], [1.9, 0.5, -0.8]])
    b = np.array([1.3, -0.9, 2.1])
    return (
        case("division", f, vjp, SMOOTH, a, b)
        .bug("missing-sum", "b was broadcast over the rows; its gradient must be summed over them.")
        .wrong("missing-sum", "missing-sum", lambda u, a, b: (u / b, -u * a / b**2))
        .changed("sign", "The minus of d(1/b) is lost.", NEGATED, part=1)
        .bug("mean-over-rows", "Mean over the broadcast axis instead of the sum.")
        .wrong("mean-for-sum", "factor", lambda u, a, b: (u / b, -(u * a / b**2).mean(axis=0)))
        .bug("numerator-multiplied", "The rule for a product is applied to the numerator.")
        .wrong("wrong-rule", "unknown", lambda u, a, b: (u * b, -(u * a / b**2).sum(axis=0)))
    )


def product() -> Case:
    """Differentiate y = a b, a column times a row."""

    def f(a: Array, b: Array) -> Any:
        return a * b

    def vjp(u: Any, a: Array, b: Array) -> Any:
        return (u * b).sum(axis=1, keepdims=True), (u * a).sum(axis=0)

    a = np.array([[0.8], [-1.2], [1.7]])
    b = np.array([1.1, -0.4, 0.6, 2.0])
    return (
        case("product", f, vjp, SMOOTH, a, b)
        .bug("column-not-summed", "The column was broadcast; its gradient comes back as a matrix.")
        .wrong("missing-sum", "missing-sum", lambda u, a, b: (u * b, (u * a).sum(axis=0)))
        .bug("row-not-summed", "The row was broadcast; its gradient comes back as a matrix.")
        .wrong("missing-sum", "missing-sum", lambda u, a, b: u * a, part=1)
        .bug("mean-over-columns", "Mean over the broadcast axis instead of the sum.")
        .wrong(
            "mean-for-sum", "factor", lambda u, a, b: (u * b).mean(axis=1, keepdims=True), part=0
        )
        .bug("rolled", "Written to index j + 1.")
        .wrong("off-by-one", "permuted", lambda u, a, b: np.roll((u * a).sum(axis=0), 1), part=1)
    )


def polar_to_cartesian() -> Case:
    """Differentiate x = r cos t, y = r sin t: two inputs, two outputs."""

    def f(r: Array, t: Array) -> Any:
        return r * np.cos(t), r * np.sin(t)

    def vjp(u: Any, r: Array, t: Array) -> Any:
        ux, uy = u
        return ux * np.cos(t) + uy * np.sin(t), r * (uy * np.cos(t) - ux * np.sin(t))

    return (
        case("polar_to_cartesian", f, vjp, SMOOTH, np.array([1.4, 0.6]), np.array([0.7, -2.1]))
        .bug("second-output-dropped", "The upstream of the second output never reaches r.")
        .wrong("upstream-dropped", "mask", lambda u, r, t: u[0] * np.cos(t), part=0)
        .bug("radius-forgotten", "The factor r is left out of the gradient of the angle.")
        .wrong(
            "term-dropped",
            "inner-factor",
            lambda u, r, t: u[1] * np.cos(t) - u[0] * np.sin(t),
            part=1,
        )
        .changed("angle-sign", "The angle is measured the other way round.", NEGATED, part=1)
    )


def mean_and_variance() -> Case:
    """Two numbers from one array: its mean and its variance (divided by n)."""

    def f(x: Array) -> Any:
        mean = x.mean()
        return mean, ((x - mean) ** 2).mean()

    def vjp(u: Any, x: Array) -> Any:
        u_mean, u_variance = u
        return (u_mean + u_variance * 2 * (x - x.mean())) / x.size

    return (
        case("mean_and_variance", f, vjp, SMOOTH, np.array([0.7, -1.2, 2.1, 0.3, 1.4]))
        .bug("sample-variance", "The variance forward divides by n, backward by n - 1.")
        .wrong(
            "n-minus-1",
            "unknown",
            lambda u, x: u[0] / x.size + u[1] * 2 * (x - x.mean()) / (x.size - 1),
        )
        .bug("variance-dropped", "The upstream of the second output is ignored.")
        .wrong("upstream-dropped", "mask", lambda u, x: u[0] * np.ones_like(x) / x.size)
        .bug("missing-mean", "The division by n is forgotten.")
        .wrong("missing-mean", "factor", lambda u, x: u[0] + u[1] * 2 * (x - x.mean()))
    )


CASES = (
    square, cube, exponential, logarithm, logarithm_base_two, square_root, reciprocal, sine,
    sine_of_turns, hyperbolic_tangent, sigmoid, softplus, gelu, gelu_tanh, silu, relu,
    leaky_relu, absolute_value, clip, elu, power, division, product, polar_to_cartesian,
    mean_and_variance,
)  # fmt: skip
