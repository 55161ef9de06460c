"""Every call of f in two checks, of a right claim and of a wrong one: how far from x it is."""

from math import cos, log10, sin

import numpy as np
from pictures import drawing

from gradcheck_ref import check_gradient

FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
X = 0.7
MOST = 73  # calls in the longer check
FAR, NEAR, AT = 0.0, -10.0, -11.0  # powers of ten; the last one stands for x itself
DECADE = 21
PANEL, GAP = 244, 96

# Where the parts of the road begin, and how many calls they take.
PARTS = (("A", 2, 10), ("B", 12, 6), ("C", 19, 6), ("D", 26, 48))
COLOURS = (drawing.BROWN, drawing.BLUE, drawing.BLUE, drawing.GREY)


def short(x):
    """Return the beginning of the series of the cosine."""
    return 1 - x**2 / 2 + x**4 / 24


def distances(claim):
    """Check a claim for the slope of the sine; return the distance of each call from x."""
    calls = []

    def f(x):
        calls.append(abs(float(x[0]) - X))
        return sin(x[0])

    check_gradient(f, np.array([X]), claim)
    return calls


def panel(calls, top, title, parts):
    """Draw the calls of one check."""
    x = drawing.across(0, MOST + 1)
    drawn = [drawing.text(x.start, top - 40, title, anchor="start")]
    for power in (0, -3, -6, -9):
        y = top + DECADE * (FAR - power)
        drawn.append(drawing.line(x.start, y, x.end, y, drawing.PALE))
        drawn.append(drawing.text(x.start - 8, y + 7, f"1e{power}" if power else "1", anchor="end"))
    y = top + DECADE * (FAR - AT)
    drawn.append(drawing.line(x.start, y, x.end, y, drawing.PALE, "4 4"))
    drawn.append(drawing.text(x.start - 8, y + 7, "at x", anchor="end"))
    colours = dict.fromkeys(range(1, len(calls) + 1), drawing.BLACK)
    for (name, first, count), colour in zip(PARTS[:parts], COLOURS, strict=False):
        here = range(first, first + count)
        colours |= dict.fromkeys(here, colour)
        farthest = max(calls[k - 1] for k in here)
        y = top + DECADE * (FAR - log10(farthest))
        drawn.append(drawing.text(x((here[0] + here[-1]) / 2), y - 12, name, colour))
    for k, distance in enumerate(calls, 1):
        power = log10(distance) if distance else AT
        y = top + DECADE * (FAR - power)
        drawn.append(drawing.dot(x(k), y, colours[k]))
    return drawn


def files():
    """Return the text of the one file."""
    right, wrong = distances(lambda x: np.array([cos(x[0])])), distances(short)
    top = 76
    parts = panel(right, top, f"the right claim: {len(right)} calls", 2)
    below = top + PANEL + GAP
    parts += panel(wrong, below, f"the wrong claim: {len(wrong)} calls", len(PARTS))
    parts.append(
        drawing.text(
            drawing.WIDTH - drawing.RIGHT,
            below + PANEL + 30,
            "call by call, left to right; up: how far from x",
            anchor="end",
        )
    )
    title = "How far from x each call of f is, in two checks"
    return {"calls.svg": drawing.picture(title, parts, height=below + PANEL + 50, font=FONT)}
