"""The error of the difference quotients of 1/x against their step, stage by stage."""

import numpy as np
from pictures import drawing

from gradcheck_ref import (
    central_difference,
    five_point_difference,
    forward_difference,
    relative_error,
)

# Rounding is lucky at some point or other: the worst of these is drawn.
POINTS = 0.8 + 0.8 * np.arange(9) / 64
STEPS = [float(f"{m}e-{k}") for k in range(15, 0, -1) for m in (1, 1.8, 3.2, 5.6)]

# Formula, colour, dashes, and where on the curve its name stands.
CURVES = {
    "forward": (forward_difference, drawing.BLUE, "", (4e-4, 4e-3)),
    "central": (central_difference, drawing.RED, "7 3", (6e-4, 2e-6)),
    "five-point": (five_point_difference, drawing.GREEN, "2 3", (5e-1, 1e-9)),
}
FILES = {
    "v_curve_1.svg": ["forward"],
    "v_curve_2.svg": ["forward", "central"],
    "v_curve_5.svg": ["forward", "central", "five-point"],
}


def largest_error(formula, h):
    """Of the slope of 1/x: a quotient is the same to the last bit on every machine."""
    slopes = np.array([formula(lambda x: 1 / x, x, h=h) for x in POINTS])
    return relative_error(-1 / (POINTS * POINTS), slopes).max()


def drawn(names):
    """Draw the curves of these formulas."""
    x = drawing.across(1e-15, 1, log=True)
    y = drawing.up(1e-16, 10, log=True)
    parts = drawing.grid(
        x,
        y,
        [(10.0**k, f"1e{k}" if k else "1") for k in range(-14, 1, 2)],
        [(10.0**k, f"1e{k}" if k else "1") for k in range(-16, 1, 4)],
        "step h",
        "largest relative error",
    )
    for name in names:
        formula, colour, dashes, where = CURVES[name]
        points = [(x(h), y(max(largest_error(formula, h), 1e-16))) for h in STEPS]
        parts.append(drawing.curve(points, colour, dashes))
        parts.append(drawing.text(x(where[0]), y(where[1]), name, colour, "end"))
    parts.append(drawing.text(x(1e-11), y(1e-2), "rounding ~ 1/h"))
    return drawing.picture("Error against step, for the slope of 1/x near x = 0.8", parts)


def files():
    """Return the text of each file."""
    return {name: drawn(names) for name, names in FILES.items()}
