"""Errors of right and doubled gradients on a scale of powers of ten: absolute, and relative."""

import numpy as np
from pictures import drawing

from gradcheck_ref import central_difference, relative_error

FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
X = np.array([0.3, 1.1, 2.4])
LOSSES = {"f · 1e-7": 1e-7, "f": 1.0, "f · 1e8": 1e8}
LOW, HIGH = 1e-18, 1e9
BANDS = [(LOW, 1e-7, "good", drawing.GREEN), (1e-2, HIGH, "wrong", drawing.RED)]
LEFT, ROW, HEAD = 120, 34, 40


def f(x):
    """Return the loss of stage 3."""
    return np.sum(np.sqrt(x))


def shares(x):
    """Return 1, up to rounding."""
    return np.sum(x / np.sum(x))


def errors(claim, numeric):
    """Return the largest error, absolute and relative."""
    return np.abs(claim - numeric).max(), relative_error(claim, numeric, floor=0).max()


def rows():
    """Return {name: (errors of the right gradient, errors of twice it or None)}."""
    found = {}
    for name, scale in LOSSES.items():
        numeric = central_difference(lambda x, scale=scale: scale * f(x), X, h=1e-5)
        right = scale * 0.5 / np.sqrt(X)
        found[name] = errors(right, numeric), errors(2 * right, numeric)
    numeric = central_difference(shares, np.array([1.0, 2.0, 3.0]), h=1e-5)
    return found | {"slope 0": (errors(np.zeros(3), numeric), None)}


def cross(x, y):
    """Mark a wrong claim."""
    strokes = [(-7, -7, 7, 7), (-7, 7, 7, -7)]
    return [
        drawing.line(x + a, y + b, x + c, y + d, drawing.RED, width=3) for a, b, c, d in strokes
    ]


def scale(top, title, found, kind, bands):
    """Draw one of the two errors of all claims, below a title."""
    x = drawing.across(LOW, HIGH, log=True, start=LEFT)
    parts = [drawing.text(14, top + 6, title, anchor="start")]
    upper, lower = top + HEAD, top + HEAD + ROW * len(found)
    for start, end, word, colour in bands:
        left, right = x(start), x(end)
        corners = [(left, upper), (right, upper), (right, lower), (left, lower)]
        parts.append(drawing.region(corners, colour))
        parts.append(drawing.text((left + right) / 2, upper - 9, word, colour))
    if bands:
        parts.append(drawing.text(x(10**-4.5), upper - 9, "suspicious", drawing.BROWN))
    for power in range(-16, 9, 4):
        parts.append(drawing.line(x(10.0**power), upper, x(10.0**power), lower, drawing.PALE))
        parts.append(drawing.text(x(10.0**power), lower + 22, f"1e{power}" if power else "1"))
    for row, (name, (right, twice)) in enumerate(found.items()):
        y = upper + ROW * (row + 0.5)
        parts.append(drawing.text(LEFT - 8, y + 7, name, anchor="end"))
        parts.append(drawing.dot(x(right[kind]), y, drawing.GREEN))
        if twice:
            parts += cross(x(twice[kind]), y)
    return parts


def files():
    """Return the text of the one file."""
    found = rows()
    key = [drawing.dot(LEFT + 60, 25, drawing.GREEN), *cross(LEFT + 200, 25)]
    key.append(drawing.text(LEFT + 74, 32, "right", drawing.GREEN, "start"))
    key.append(drawing.text(LEFT + 216, 32, "twice the right one", drawing.RED, "start"))
    tall = HEAD + ROW * len(found) + 50
    parts = scale(56, "error |a − n|", found, 0, [])
    parts += scale(56 + tall, "relative error", found, 1, BANDS)
    title = "The errors of right and doubled gradients, absolute and relative"
    return {"scale.svg": drawing.picture(title, key + parts, height=50 + 2 * tall, font=FONT)}
