"""How the error of a formula depends on its step, as the slope of a line in log-log."""

import math

import numpy as np

# Function, derivative, point; each with a third and a fifth derivative well away from zero.
SMOOTH = {
    "exp": (math.exp, math.exp, 1.0),
    "sin": (math.sin, math.cos, 0.7),
    "log": (math.log, lambda x: 1 / x, 2.0),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2, 1.5),
    "square-root": (math.sqrt, lambda x: 0.5 / math.sqrt(x), 1.0),
}


def slope_of_line(steps, errors):
    """Fit ``log error = slope * log step + constant`` by least squares."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def order_of(difference, name, shortest, longest):
    """Order of convergence on one function, over steps for which truncation dominates."""
    f, slope, x = SMOOTH[name]
    steps = np.geomspace(shortest, longest, 20)
    errors = [abs(float(difference(f, x, h=h)) - slope(x)) for h in steps]
    return slope_of_line(steps, errors)


def rounding_order_of(difference, shortest, longest):
    """Order at which the mean error of many points grows where rounding dominates."""
    points = np.random.default_rng(0).uniform(1, 2, 200).tolist()
    steps = np.geomspace(shortest, longest, 12)
    errors = [
        np.mean([abs(float(difference(math.exp, x, h=h)) - math.exp(x)) for x in points])
        for h in steps
    ]
    return slope_of_line(steps, errors)
