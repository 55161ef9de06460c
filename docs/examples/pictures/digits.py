"""The slope of 1/x at 0.7 with shorter and shorter steps: its digits drift, agree and scatter."""

from itertools import pairwise, takewhile

from pictures import drawing

from gradcheck_ref import five_point_difference

X = 0.7
STEPS = [f"1e-{k}" for k in range(1, 13)]
FONT = 24  # so that a phone, half as wide as the picture, shows it at 12
TOP, TALL = 44, 31
LEFT, CHARACTER = 150, 15.5  # where the digits begin, and how wide each one is


def slopes():
    """Return the digits of each line. A quotient is the same to the last bit on every machine."""
    return [f"{five_point_difference(lambda x: 1 / x, X, h=float(h)):.12f}" for h in STEPS]


def agreeing(lines):
    """Return how many characters each line has in common with the better of its neighbors."""
    same = [
        takewhile(lambda two: two[0] == two[1], zip(*pair, strict=True)) for pair in pairwise(lines)
    ]
    shared = [len(list(both)) for both in same]
    return [max(pair) for pair in zip([0, *shared], [*shared, 0], strict=True)]


def words(shared):
    """Return a word for each line: those that share the most, or one less, agree."""
    agree = [k for k, n in enumerate(shared) if n >= max(shared) - 1]
    first, last = agree[0], agree[-1]
    return [
        "drift" if k < first else "agree" if k <= last else "scatter" for k in range(len(shared))
    ]


def characters(text, at, y, colour, weight=400):
    """Write one character to a cell, so that those of all lines stand in columns."""
    places = " ".join(f"{at + CHARACTER * k:.1f}" for k in range(len(text)))
    return (
        f'<text x="{places}" y="{y:.1f}" fill="{colour}" text-anchor="middle" '
        f'font-family="monospace" font-weight="{weight}">{text}</text>'
    )


def files():
    """Return the text of the one file."""
    lines = slopes()
    shared = agreeing(lines)
    said = words(shared)
    end = LEFT + CHARACTER * len(lines[0])
    parts = [
        drawing.text(LEFT - 28, 28, "step h", drawing.GREY, "end"),
        drawing.text((LEFT + end) / 2, 28, "slope of 1/x at 0.7", drawing.GREY),
    ]
    for k, (h, text, n) in enumerate(zip(STEPS, lines, shared, strict=True)):
        y = TOP + TALL * k
        parts.append(drawing.text(LEFT - 28, y + 23, h, anchor="end"))
        parts.append(
            f'<rect x="{LEFT - CHARACTER / 2:.1f}" y="{y:.1f}" width="{CHARACTER * n:.1f}" '
            f'height="{TALL}" fill="{drawing.GREEN}" fill-opacity="0.22"/>'
        )
        parts.append(characters(text[:n], LEFT, y + 23, drawing.BLACK, 700))
        parts.append(characters(text[n:], LEFT + CHARACTER * n, y + 23, drawing.GREY))
    for word in ("drift", "agree", "scatter"):
        rows = [k for k, each in enumerate(said) if each == word]
        top, bottom = TOP + TALL * rows[0] + 5, TOP + TALL * (rows[-1] + 1) - 5
        side = [(end + 10, top), (end + 22, top), (end + 22, bottom), (end + 10, bottom)]
        parts.append(drawing.curve(side, drawing.GREY))
        parts.append(drawing.text(end + 36, (top + bottom) / 2 + 8, f"they {word}", anchor="start"))
    title = "The digits of a slope, with the steps: they drift, agree, scatter"
    height = TOP + TALL * len(lines) + 14
    return {"digits.svg": drawing.picture(title, parts, height=height, font=FONT)}
