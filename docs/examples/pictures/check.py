"""One line in a check: six samples, one slope with an error bar, and how it judges a claim."""

from math import cos, log10, sin

import numpy as np
from pictures import drawing
from pictures.calls import FONT, PARTS, X, distances, short
from pictures.ladder import windows

from gradcheck_ref.check.measure.ladder import RATIO
from gradcheck_ref.check.measure.pilot import extrapolated

LONG = 1.2  # in the first panel the longest step is drawn so long that the curve is seen to bend
LEFT, RIGHT = 30, drawing.WIDTH - 30

# The ends of the scale of distances from the slope, as powers of ten.
LEAST, MOST = -16, -1

# The slope itself is no closer: the rest is rounding, which differs between machines.
ROUNDING = 1e-14


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


def place_of(distance):
    """Return the place of a distance from the slope, on the scale of panels 2 and 3."""
    power = max(round(log10(distance), 1), LEAST)  # the same on all machines
    return LEFT + (power - LEAST) / (MOST - LEAST) * (RIGHT - LEFT)


def combined(top, longest):
    """Draw how far the chords are off, and what two and three of them give together."""
    h = np.array(steps(longest))
    chords = (np.sin(X + h) - np.sin(X - h)) / (2 * h)
    coarse, fine, slope = extrapolated(chords, h**2)
    found = {
        "three chords": (chords, drawing.BROWN),
        "two five-point differences": ([coarse, fine], drawing.GREEN),
        "the slope": ([slope], drawing.BLUE),
    }
    parts = []
    for row, (words, (slopes, colour)) in enumerate(found.items()):
        y = top + 40 * row
        parts.append(drawing.line(LEFT, y, RIGHT, y, drawing.PALE))
        off = [place_of(max(abs(float(one) - cos(X)), ROUNDING)) for one in slopes]
        parts += [drawing.dot(place, y, colour) for place in off]
        end = min(off) - 14, "end"
        at, anchor = end if end[0] > LEFT + 260 else (max(off) + 14, "start")
        parts.append(drawing.text(at, y + 7, words, colour, anchor))
    return [*parts, *ticks(top + 108)]


def ticks(y):
    """Draw the powers of ten below a panel."""
    parts = []
    for power in range(LEAST + 2, MOST, 4):
        place = place_of(10.0**power)
        parts += [
            drawing.line(place, y, place, y + 8),
            drawing.text(place, y + 28, f"1e{power}"),
        ]
    return parts


def scale(top, first, second):
    """Draw bars, the allowed error and the claim, as distances from the measured slope."""
    bars = {step: truncation + rounding for step, truncation, rounding in windows()}
    allowed, off = 1e-6 * cos(X), short(X) - cos(X)
    bottom = top + 190
    band = [(LEFT, top), (place_of(allowed), top), (place_of(allowed), bottom), (LEFT, bottom)]
    parts = [
        drawing.region(band, drawing.GREEN),
        drawing.text(place_of(allowed) - 8, top - 10, "allowed", drawing.GREEN, "end"),
        drawing.line(place_of(off), top, place_of(off), bottom, drawing.RED, "6 4", width=2),
        drawing.text(place_of(off), top - 10, "wrong claim", drawing.RED),
    ]
    for row, longest in enumerate((first, second)):
        h = min(bars, key=lambda step: abs(step - longest))
        y, bar = top + 62 + 84 * row, bars[h]
        parts += [
            drawing.line(LEFT, y, place_of(bar), y, drawing.BLUE, width=6),
            drawing.line(place_of(bar), y - 12, place_of(bar), y + 12, drawing.BLUE, width=3),
            drawing.line(place_of(bar), y, place_of(3 * bar), y, drawing.BLUE, "3 3", width=3),
            drawing.text(
                LEFT + 8, y - 16, f"bar at step {h:.1e}".replace("e-0", "e-"), drawing.BLUE, "start"
            ),
            drawing.dot(place_of(off), y, drawing.RED),
            drawing.text(place_of(off) + 12, y + 7, "refused", drawing.RED, "start"),
        ]
    parts += ticks(bottom)
    parts.append(drawing.text(RIGHT, bottom + 56, "distance from the slope", anchor="end"))
    return parts


def files():
    """Return the text of the one file."""
    calls = distances(short)
    first, second = (max(calls[start - 1 : start - 1 + count]) for _, start, count in PARTS[1:3])
    parts = [
        drawing.text(LEFT, 34, "1  six samples, three chords", anchor="start"),
        *samples(56),
        drawing.text(LEFT, 282, "2  their distances from the cosine", anchor="start"),
        *combined(324, first),
        drawing.text(LEFT, 520, "3  the slope against a claim", anchor="start"),
        *scale(570, first, second),
    ]
    title = "One line in a check: samples, chords, slope, error bar and claim"
    return {"check.svg": drawing.picture(title, parts, height=834, font=FONT)}
