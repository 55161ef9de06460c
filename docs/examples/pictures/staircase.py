"""The kill matrix as data for the live figure, and what it comes to as a picture."""

import json

import kill_matrix
from kill_matrix import JUDGES, STAGES
from pictures import drawing

LETTERS = {"accepted": "a", "accepted by luck": "l", "a close call": "c", "refused": "r"}
COLOURS = {"a": drawing.GREEN, "l": drawing.BROWN, "c": drawing.GREY, "r": drawing.RED}
OPENING = (
    "// The results of each stage on each function of the zoo. Made by docs/examples/figures.py.\n"
)


def row(right, bugs):
    """Return name, tags, number of bugs, letter and count for each stage, and whether all agree.

    A close call where all stages agree is not told: whether it is one depends on the processor.
    """
    agree = not kill_matrix.tells_apart(right, bugs)
    decisions = ["accepted" if agree else kill_matrix.decision(right, s) for s in STAGES]
    cells = [f"{LETTERS[d]}{kill_matrix.caught(bugs, s)}" for s, d in enumerate(decisions)]
    tags = " ".join(sorted(right.case.tags))
    return [right.case.name, tags, len(bugs), " ".join(cells), agree]


def data(rows):
    """Return a script that holds nothing but JSON, one function to a line."""
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return f"{OPENING}figures.killMatrix = [\n{lines}\n];\n"


def counts(rows, stage):
    """Return how many right gradients a stage decides on in each way, and the bugs it catches.

    Credit for bugs is for those who accept the right gradient, and not by luck.
    """
    cells = [cells.split()[stage] for _, _, _, cells, _ in rows]
    right = {letter: sum(cell[0] == letter for cell in cells) for letter in LETTERS.values()}
    return right, sum(int(cell[1:]) for cell in cells if cell[0] == "a")


def bars(rows):
    """Draw two bars for each stage: right gradients, and bugs."""
    bugs = sum(count for _, _, count, _, _ in rows)
    start, width = 120, 420
    parts = []
    for k, (words, letter) in enumerate(LETTERS.items()):
        parts.append(drawing.box(start + 135 * k, 14, 12, 12, COLOURS[letter]))
        parts.append(drawing.text(start + 135 * k + 18, 25, words, anchor="start"))
    for stage, judge in enumerate(JUDGES):
        top = 48 + 62 * stage
        right, caught = counts(rows, stage)
        parts.append(drawing.text(start - 10, top + 25, judge.name, anchor="end"))
        place = start
        for letter, count in right.items():
            length = width * count / len(rows)
            parts.append(drawing.box(place, top, length, 20, COLOURS[letter]))
            place += length
        parts.append(
            drawing.text(place + 8, top + 15, f"{right['a']} of {len(rows)} right", anchor="start")
        )
        parts.append(drawing.box(start, top + 22, width, 14, drawing.PALE))
        parts.append(drawing.box(start, top + 22, width * caught / bugs, 14, drawing.BLUE))
        parts.append(
            drawing.text(place + 8, top + 34, f"{caught} of {bugs} bugs", drawing.BLUE, "start")
        )
    return drawing.picture("What each stage makes of the zoo", parts, height=360)


def stairs(row):
    """Return what orders the rows: the first stage from which on everything is right."""
    name, _, bugs, cells, _ = row
    right = [cell == f"a{bugs}" for cell in cells.split()]
    first = max((k + 1 for k, good in enumerate(right) if not good), default=0)
    return first, -sum(right), name


def mark(x, y, letter, part):
    """Draw a box that the caught bugs fill, a disc, a diamond or a cross."""
    colour = COLOURS[letter]
    if letter == "r":
        ends = ((-5, -5, 5, 5), (-5, 5, 5, -5))
        return [drawing.line(x + a, y + b, x + c, y + d, colour, width=2) for a, b, c, d in ends]
    if letter == "l":
        return [drawing.dot(x, y, colour)]
    if letter == "c":
        corners = [(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)]
        return [drawing.region(corners, colour)]
    size = f'x="{x - 34:.1f}" y="{y - 6:.1f}" width="68" height="12"'
    outline = f'<rect {size} fill="none" stroke="{colour}"/>'
    return [outline, drawing.box(x - 34, y - 6, 68 * part, 12, colour)]


def cells(rows):
    """Draw a cell for each function and stage, where the stages differ."""
    parts, start, high = [], 260, 17
    for k, (words, letter) in enumerate(LETTERS.items()):
        x = 50 + 155 * k
        parts += mark(x, 18, letter, 0.7)
        parts.append(drawing.text(x + (40 if letter == "a" else 12), 23, words, anchor="start"))
    centers = [start + 84 * stage for stage in STAGES]
    for x, judge in zip(centers, JUDGES, strict=True):
        parts.append(drawing.text(x, 54, judge.name))
    alike = sum(row[4] for row in rows)
    tall = high * 2
    parts.append(drawing.text(start - 44, 84, f"{alike} others, alike", anchor="end"))
    parts += [drawing.box(x - 34, 64, 68, tall, drawing.GREEN) for x in centers]
    for k, (name, _, bugs, found, _) in enumerate(
        sorted((r for r in rows if not r[4]), key=stairs)
    ):
        y = 64 + tall + 12 + high * k
        parts.append(drawing.text(start - 44, y + 4, name, anchor="end"))
        for x, one in zip(centers, found.split(), strict=True):
            parts += mark(x, y, one[0], int(one[1:]) / bugs)
    differing = len(rows) - alike
    return drawing.picture("The kill matrix", parts, height=64 + tall + high * (differing + 1))


def files():
    """Return the text of all files."""
    rows = [row(right, bugs) for right, *bugs in kill_matrix.by_case()]
    return {
        "kill_matrix.js": data(rows),
        "kill_matrix.svg": cells(rows),
        "staircase.svg": bars(rows),
    }
