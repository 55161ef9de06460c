"""What the pictures of the lectures share: letters for the last row, arrows, bars and sheets."""

from itertools import product
from math import hypot

from pictures import drawing
from pictures.drawing import GREY, box, dot, line, region, text

FONT = 24
WIDTH = drawing.WIDTH


def picture(title, parts, height):
    """Return the text of a picture."""
    return drawing.picture(title, parts, height=height, font=FONT)


def arrow(x1, y1, x2, y2, colour=GREY):
    """Draw a straight arrow."""
    length = hypot(x2 - x1, y2 - y1)
    across, down = 14 * (x2 - x1) / length, 14 * (y2 - y1) / length
    sides = [(x2 - across + s * down / 2, y2 - down - s * across / 2) for s in (1, -1)]
    return [line(x1, y1, x2, y2, colour, width=3), region([(x2, y2), *sides], colour)]


def bar(x, y, half, colour):
    """Draw a measured value and its error bar, lying."""
    ends = [line(x + s * half, y - 10, x + s * half, y + 10, colour, width=3) for s in (-1, 1)]
    return [line(x - half, y, x + half, y, colour, width=3), *ends, dot(x, y, colour)]


def sheet(x, y, rows, columns, colour, side=24, others=None):
    """Draw a matrix as a sheet of squares; `others` says the colour of some, by their place."""
    return [
        box(x + side * j, y + side * i, side - 2, side - 2, (others or {}).get((i, j), colour))
        for i, j in product(range(rows), range(columns))
    ]


def numbers(x, y, rows, colour, side=48):
    """Draw a matrix with its numbers."""
    parts = sheet(x, y, len(rows), len(rows[0]), colour, side)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            words = f"{value:g}".replace("-", "−")
            parts.append(text(x + side * (j + 0.5) - 1, y + side * (i + 0.5) + 8, words, "#ffffff"))
    return parts


def files(*drawn):
    """Return the text of what these functions draw."""
    return {f"lecture_{draw.__name__}.svg": draw() for draw in drawn}
