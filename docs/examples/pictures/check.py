"""One line in a check: six samples, one slope with an error bar, and how it judges a claim."""

from math import cos, log10, sin

import numpy as np
from pictures import drawing
from pictures.calls import FONT, X, distances, short

from gradcheck_ref.stage5_adaptive import RATIO

EPS = 2.0**-52
LONG = 1.2  # in the first panel the longest step is drawn so long that the curve is seen to bend
LEFT, RIGHT = 30, drawing.WIDTH - 30

# The ends of the scale of distances from the slope, as powers of ten.
LEAST, MOST = -14, -2


def steps(longest):
    """Return the three steps of a witness."""
    return [longest / RATIO**k for k in range(3)]


def samples(top):
    """Draw six samples of the sine, and the three chords between them."""
    x = drawing.across(X - 1.5, X + 1.5, start=LEFT, end=RIGHT)
    y = drawing.Axis(-0.75, 1.05, top + 178, top)
    parts = [
        drawing.curve([(x(t), y(sin(t))) for t in np.linspace(x.low, x.high, 61)], drawing.GREY)
    ]
    for h, dashes in zip(steps(LONG), ("", "8 4", "2 4"), strict=True):
        ends = [(x(t), y(sin(t))) for t in (X - h, X + h)]
        parts.append(drawing.line(*ends[0], *ends[1], drawing.BLUE, dashes, width=2))
        parts += [drawing.dot(*end, drawing.BROWN) for end in ends]
    parts.append(drawing.line(x(X), y(sin(X)) - 9, x(X), y(sin(X)) + 9, drawing.BLACK, width=2))
    parts.append(drawing.text(x(X) + 8, y(sin(X)) + 30, "x", anchor="start"))
    return parts


def extrapolated(top, longest):
    """Draw the slopes of the chords against the square of the step, and where they lead."""
    squares = [h * h for h in steps(longest)]
    slopes = [(sin(X + h) - sin(X - h)) / (2 * h) - cos(X) for h in steps(longest)]
    x = drawing.across(0, 1.12 * squares[0], start=LEFT + 40, end=RIGHT - 30)
    y = drawing.Axis(1.1 * slopes[0], 0, top + 120, top)
    trend = slopes[0] / squares[0]
    parts = [
        drawing.line(x.start, top - 20, x.start, top + 128),
        drawing.line(x.start, top + 128, x.end, top + 128),
        drawing.text(x.end, top + 152, "across: square of the step; up: slope", anchor="end"),
        drawing.line(x(0), y(0), x(x.high), y(trend * x.high), drawing.BLUE, "8 4", width=2),
        *(drawing.dot(x(s), y(d), drawing.BROWN) for s, d in zip(squares, slopes, strict=True)),
        drawing.dot(x(0), y(0), drawing.BLUE),
        drawing.text(x(0) + 18, y(0) + 2, "the slope", drawing.BLUE, "start"),
        drawing.text(x(squares[0]) - 16, y(slopes[0]) + 4, "longest chord", anchor="end"),
    ]
    return parts


def scale(top, longest, shortest):
    """Draw bars, the allowed error and the claim, as distances from the measured slope."""

    def x(distance):
        return LEFT + (log10(distance) - LEAST) / (MOST - LEAST) * (RIGHT - LEFT)

    allowed, off = 1e-6 * cos(X), short(X) - cos(X)
    bottom = top + 190
    band = [(LEFT, top), (x(allowed), top), (x(allowed), bottom), (LEFT, bottom)]
    parts = [
        drawing.region(band, drawing.GREEN),
        drawing.text(x(allowed) - 8, top - 10, "allowed", drawing.GREEN, "end"),
        drawing.line(x(off), top, x(off), bottom, drawing.RED, "6 4", width=2),
        drawing.text(x(off), top - 10, "wrong claim", drawing.RED),
    ]
    for row, h in enumerate((longest, shortest)):
        y, bar = top + 62 + 84 * row, 16 * 0.3 * EPS * sin(X) / h
        parts += [
            drawing.line(LEFT, y, x(bar), y, drawing.BLUE, width=6),
            drawing.line(x(bar), y - 12, x(bar), y + 12, drawing.BLUE, width=3),
            drawing.line(x(bar), y, x(3 * bar), y, drawing.BLUE, "3 3", width=3),
            drawing.text(
                LEFT + 8, y - 16, f"bar at step {h:.1e}".replace("e-0", "e-"), drawing.BLUE, "start"
            ),
            drawing.dot(x(off), y, drawing.RED),
            drawing.text(x(off) + 12, y + 7, "refused", drawing.RED, "start"),
        ]
    for power in range(LEAST + 2, MOST, 4):
        place = x(10.0**power)
        parts.append(drawing.line(place, bottom, place, bottom + 8))
        parts.append(drawing.text(place, bottom + 28, f"1e{power}"))
    parts.append(drawing.text(RIGHT, bottom + 56, "distance from the slope", anchor="end"))
    return parts


def files():
    """Return the text of the one file."""
    calls = distances(short)
    parts = [
        drawing.text(LEFT, 34, "1  six samples, three chords", anchor="start"),
        *samples(56),
        drawing.text(LEFT, 282, "2  three chords, one slope", anchor="start"),
        *extrapolated(320, calls[12]),
        drawing.text(LEFT, 520, "3  the slope against a claim", anchor="start"),
        *scale(570, calls[12], calls[25]),
    ]
    title = "One line in a check: samples, chords, slope, error bar and claim"
    return {"check.svg": drawing.picture(title, parts, height=834, font=FONT)}
