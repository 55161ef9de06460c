"""How a random line that refuses a claim is halved, down to one of three wrong entries."""

import numpy as np
from pictures import drawing
from pictures.calls import FONT, short

from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.structure.inputs import Inputs

ENTRIES, LINES, WRONG = 10_000, 4, [4321, 8765, 9632]
POINT = np.linspace(0.1, 1.3, ENTRIES)
LEFT, RIGHT = 20, drawing.WIDTH - 20
TALL, GAP, SHOWN = 48, 40, 5


def halvings():
    """Yield (start, middle, stop, residual of the first half, of the second) down to an entry."""
    errors, inputs = np.zeros(ENTRIES), Inputs(np.sum, POINT)
    errors[WRONG] = (short(POINT) - np.cos(POINT))[WRONG]
    lines = [Line(inputs, 0, ENTRIES, (0, number)) for number in range(LINES)]
    line = max(lines, key=lambda line: abs(line.direction @ errors))
    while line.stop - line.start > 1:
        first, second = line.halves()
        ours, theirs = (
            float(half.direction @ errors[half.start : half.stop]) for half in (first, second)
        )
        yield first.start, first.stop, second.stop, ours, theirs
        line = first if abs(ours) >= abs(theirs) else second


def files():
    """Return the text of the one file."""
    rows, parts, middle = list(halvings()), [], (LEFT + RIGHT) / 2
    largest = max(abs(residual) for row in rows for residual in row[3:])
    for k, (start, half, stop, *residuals) in enumerate([*rows[:SHOWN], rows[-1]]):
        y = 16 + k * (TALL + GAP) + (24 if k == SHOWN else 0)
        chosen = int(abs(residuals[1]) > abs(residuals[0]))
        for side, residual in enumerate(residuals):
            x = (LEFT, middle)[side]
            shade = drawing.box(x, y, middle - LEFT, TALL, drawing.RED)
            opacity = 0.05 + 0.35 * abs(residual) / largest
            parts.append(shade.replace("/>", f' fill-opacity="{opacity:.2f}"/>'))
            first, last = ((start, half - 1), (half, stop - 1))[side]
            name = f"{first} to {last}" if last > first else f"{first}"
            words = f"{name}: {residual:.4f}"
            colour = drawing.RED if side == chosen else drawing.BLACK
            parts.append(drawing.text(x + (middle - LEFT) / 2, y + 31, words, colour))
        left, right = ((LEFT, middle), (middle, RIGHT))[chosen]
        frame = [(left, y), (right, y), (right, y + TALL), (left, y + TALL), (left, y)]
        parts.append(drawing.curve(frame, drawing.RED))
        if k < SHOWN - 1:
            below = y + TALL + GAP
            for start_x, end_x in ((left, LEFT), (right, RIGHT)):
                parts.append(drawing.line(start_x, y + TALL, end_x, below, drawing.RED, "4 4"))
        elif k == SHOWN - 1:
            left_out = len(rows) - SHOWN - 1
            words = f"... {left_out} halvings later ..."
            parts.append(drawing.text(middle, y + TALL + 40, words))
    title = "A random line is halved down to one wrong entry"
    return {"halving.svg": drawing.picture(title, parts, height=y + TALL + 16, font=FONT)}
