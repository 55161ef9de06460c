"""The table of values of a check: who asked for which rungs, and the bars of its windows."""

from math import log10, sin

import numpy as np
from pictures import drawing
from pictures.calls import FONT, PARTS, X, distances, short

from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.ladder import WIDE, Table
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import read
from gradcheck_ref.structure.inputs import Inputs

LEFT, RIGHT = 112, drawing.WIDTH - 24
TOP, ROW = 72, 50
RUNGS = range(0, 10 * WIDE, WIDE)
LEAST, MOST = -16.0, -8.0  # of the bars, as powers of ten


def sin_of(x):
    """Return the sine of the one coordinate."""
    return sin(x[0])


def windows():
    """Return the longest step, the truncation and the rounding of each window of the ladder."""
    inputs = Inputs(sin_of, np.array([X]))
    ask = Ask(sin_of, inputs)
    noise, table = Noise(ask, seed=0), Table(ask, [Line(inputs, 0, 1)])
    noise.fly(few=True)
    for rung in RUNGS:
        table, _ = table.asked(table.window(rung))
    found = read(table, noise)
    return [
        tuple(float(numbers[k, 0, 0]) for numbers in (found.step, found.truncation, found.rounding))
        for k in range(len(RUNGS))
    ]


def asked(x, calls):
    """Draw a row of dots for the pilot, and one for each window."""
    parts = []
    for row, (name, first, count) in enumerate(PARTS[:3]):
        y, steps = (
            TOP + ROW * row,
            sorted({float(f"{d:.6e}") for d in calls[first - 1 : first - 1 + count]}),
        )
        colour = drawing.BROWN if name == "A" else drawing.BLUE
        parts.append(drawing.text(LEFT - 24, y + 7, name, colour, "end"))
        parts.append(drawing.line(x(steps[-1]), y, x(steps[0]), y, colour, width=2))
        for step in steps:
            for side in (0,) if name == "A" else (-8, 8):
                parts.append(drawing.dot(x(step), y + side, colour))
    return parts


def files():
    """Return the text of the one file."""
    x = drawing.across(0.3, 2e-7, log=True, start=LEFT, end=RIGHT)
    y = drawing.Axis(LEAST, MOST, TOP + 400, TOP + 190)
    parts = [drawing.text(LEFT, 34, "values at x + t (A), or at x - t and x + t", anchor="start")]
    for power in range(-1, -7, -1):
        place = x(10.0**power)
        parts.append(drawing.line(place, TOP - 20, place, y.start, drawing.PALE))
        parts.append(drawing.text(place, y.start + 24, f"1e{power}"))
    for power in range(int(LEAST), int(MOST) + 1, 2):
        parts.append(drawing.line(x.start, y(power), x.end, y(power), drawing.PALE))
        parts.append(drawing.text(x.start - 8, y(power) + 7, f"1e{power}", anchor="end"))
    parts += asked(x, distances(short))
    parts.append(drawing.text(LEFT, y.end - 16, "error bar of a window", anchor="start"))
    steps, truncations, roundings = zip(*windows(), strict=True)
    # Behind the first one that is so small, the truncation that a bar shows is itself rounding.
    fades = 1 + next(k for k, number in enumerate(truncations) if number < 10**LEAST)
    for numbers, colour in ((truncations[:fades], drawing.RED), (roundings, drawing.GREEN)):
        seen = [
            (x(step), y(max(LEAST, round(log10(number), 1))))
            for step, number in zip(steps, numbers, strict=False)
        ]
        parts += [drawing.curve(seen, colour), *(drawing.dot(*place, colour) for place in seen)]
    parts.append(drawing.text(x(0.08), y(-9.6), "truncation", drawing.RED, "start"))
    parts.append(drawing.text(x(7e-4), y(-10.2), "rounding", drawing.GREEN))
    parts.append(drawing.text(x.end, y.start + 52, "the (longest) step t", anchor="end"))
    title = "The table of values of a check, and the error bars of its windows"
    return {"ladder.svg": drawing.picture(title, parts, height=TOP + 468, font=FONT)}
