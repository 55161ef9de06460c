"""Random (function, point) pairs on which ``adaptive_difference`` is measured.

Every derivative is a closed form written so that nothing cancels in it: the truth must be better
than the estimate that it judges. Only ``math`` is used, so that no vector unit changes a digit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Family:
    """A function, its derivative, and how a point of its domain is drawn."""

    f: Callable[[float], float]
    slope: Callable[[float], float]
    draw: Callable[[np.random.Generator], float]
    scaled: bool = True  # whether the pair is multiplied by 1e-12 ... 1e12


def anywhere(rng):
    """Draw a number of either sign with a size from 1e-8 to 1e8."""
    return float(rng.choice([-1, 1]) * rng.uniform(1, 10) * 10.0 ** rng.integers(-8, 8))


def positive(rng):
    return abs(anywhere(rng))


def ordinary(rng):
    return float(rng.uniform(-8, 8))


def below(limit):
    """Draw from anywhere, but no larger than ``limit``."""

    def draw(rng):
        x = anywhere(rng)
        return x if abs(x) < limit else ordinary(rng)

    return draw


def near(size):
    """Draw within a factor of two of a small positive number."""
    return lambda rng: float(size * rng.uniform(0.5, 2))


def logistic(x):
    return 1 / (1 + math.exp(-x))


def wave(k):
    """Return ``sin(k x)`` and its derivative; the latter makes good the rounding of ``k x``."""

    def slope(x):
        rounded = k * x
        rest = float(Fraction(k) * Fraction(x) - Fraction(rounded))
        return k * (math.cos(rounded) - rest * math.sin(rounded))

    return lambda x: math.sin(k * x), slope


FAMILIES = {
    "sin": Family(math.sin, math.cos, anywhere),
    "exp": Family(math.exp, math.exp, below(30)),
    "tanh": Family(math.tanh, lambda x: 1 / math.cosh(x) ** 2, ordinary),
    "logistic": Family(logistic, lambda x: logistic(x) * logistic(-x), ordinary),
    "softplus": Family(lambda x: math.log1p(math.exp(x)), logistic, ordinary),
    "gauss": Family(
        lambda x: math.exp(-x * x),
        lambda x: -2 * x * math.exp(-x * x),
        lambda rng: float(rng.uniform(-4, 4)),
    ),
    "lorentz": Family(lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2, anywhere),
    "square": Family(lambda x: x * x, lambda x: 2 * x, anywhere),
    "x^5 - 3x^2": Family(lambda x: x**5 - 3 * x**2, lambda x: x * (5 * x**3 - 6), anywhere),
    "x^1.5": Family(lambda x: x * math.sqrt(x), lambda x: 1.5 * math.sqrt(x), positive),
    "1/x": Family(lambda x: 1 / x, lambda x: -1 / (x * x), anywhere),
    "log": Family(math.log, lambda x: 1 / x, positive),
    "sqrt": Family(math.sqrt, lambda x: 0.5 / math.sqrt(x), positive),
    "x log x": Family(lambda x: x * math.log(x), lambda x: math.log(x) + 1, positive),
    "sqrt at 1e-10": Family(math.sqrt, lambda x: 0.5 / math.sqrt(x), near(1e-10)),
    "log at 1e-8": Family(math.log, lambda x: 1 / x, near(1e-8)),
    "sqrt(x - 1) near 1": Family(
        lambda x: math.sqrt(x - 1),
        lambda x: 0.5 / math.sqrt(x - 1),
        lambda rng: 1 + float(10 ** rng.uniform(-6, 0)),
    ),
    "sin(1000 x)": Family(*wave(1000.0), below(1e3)),
    "sin(200000 x)": Family(*wave(200000.0), ordinary),
    "1e6 + sin": Family(lambda x: 1e6 + math.sin(x), math.cos, below(1e4), scaled=False),
    "1e6 + x^2": Family(lambda x: 1e6 + x * x, lambda x: 2 * x, ordinary, scaled=False),
}


def outside(f):
    """Make NaN of what ``math`` raises outside a domain, as numpy would."""

    def quiet(x):
        try:
            return f(float(x))
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return quiet


def pairs(count, seed=0):
    """Yield ``(name, f, x, slope)``, the families in turn."""
    rng = np.random.default_rng(seed)
    names = list(FAMILIES)
    for k in range(count):
        name = names[k % len(names)]
        family = FAMILIES[name]
        x = family.draw(rng)
        scale = float(10.0 ** rng.integers(-12, 13)) if family.scaled else 1.0
        f = outside(family.f)
        yield name, lambda x, f=f, s=scale: s * f(x), x, scale * family.slope(x)
