"""The same function in float32 from nearer and nearer: a curve, a straight line, stairs."""

import numpy as np
from pictures import drawing

POINT, OTHER = 0.3, 0.7
SPACING = 2.0**-22  # of float32 between 2 and 4: no value of f is off by more
SIDE, TOP = 204, 44


def exact(x):
    """Return the length of two sections of a rope that rise by x and by OTHER."""
    return np.sqrt(1 + x * x) + np.sqrt(1 + OTHER * OTHER)


def stored(x):
    """Return the same, computed in float32. Only + * and sqrt: the same on every machine."""
    one, x, other = np.float32(1), np.float32(x), np.float32(OTHER)
    return float(np.sqrt(one + x * x) + np.sqrt(one + other * other))


def difference(f, h):
    """Return the central difference."""
    return (f(POINT + h) - f(POINT - h)) / (2 * h)


def slope(h):
    """Return the slope that float32 gives with this step, and its error bar."""
    truncation = abs(difference(exact, h) - difference(exact, h / 2)) * 4 / 3
    return difference(stored, h), truncation + SPACING / h


def panel(left, h, step, words):
    """Draw f, as far as two steps to each side, and all slopes within the error bar."""
    found, bar = slope(h)
    middle, far = exact(POINT), 2 * h
    x = drawing.Axis(-far, far, left, left + SIDE)
    y = drawing.Axis(-0.62 * far, 0.62 * far, TOP + SIDE, TOP)
    corners = [(0, 0), (far, found + bar), (far, found - bar), (0, 0)]
    fan = [(x(side * at), y(side * at * s)) for side in (1, -1) for at, s in corners]
    seen = np.linspace(-far, far, 201)
    points = [(x(at), y(stored(POINT + at) - middle)) for at in seen]
    digits = max(0, -int(np.floor(np.log10(bar))))
    said = f"slope {found:.{digits}f} ± {bar:.{digits}f}"
    middle = left + SIDE / 2
    return [
        drawing.box(left, TOP, SIDE, SIDE, drawing.FAINT),
        drawing.region(fan, drawing.BROWN),
        drawing.curve(points, drawing.BLUE),
        drawing.text(middle, TOP - 14, words),
        drawing.text(middle, TOP + SIDE + 22, f"step {step}"),
        drawing.text(middle, TOP + SIDE + 41, said, drawing.BROWN),
    ]


def files():
    """Return the text of the one file."""
    parts = [
        *panel(16, 0.5, "0.5", "a smooth curve"),
        *panel(238, 1e-3, "1e-3", "500 times closer"),
        *panel(460, 1e-6, "1e-6", "500,000 times closer"),
    ]
    title = "A length in float32 near 0.3, and the slopes within the error bar of three steps"
    return {"noise.svg": drawing.picture(title, parts, height=TOP + SIDE + 56, font=15)}
