"""The kill matrix as data for the live figure, and what it comes to as a picture."""

import json

import kill_matrix
from kill_matrix import JUDGES, STAGES
from pictures import drawing

LETTERS = {"accepted": "a", "accepted by luck": "l", "a close call": "c", "refused": "r"}
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
    colours = dict(
        zip("alcr", (drawing.GREEN, drawing.BROWN, drawing.GREY, drawing.RED), strict=True)
    )
    bugs = sum(count for _, _, count, _, _ in rows)
    start, width = 120, 420
    parts = []
    for k, (words, letter) in enumerate(LETTERS.items()):
        parts.append(drawing.box(start + 135 * k, 14, 12, 12, colours[letter]))
        parts.append(drawing.text(start + 135 * k + 18, 25, words, anchor="start"))
    for stage, judge in enumerate(JUDGES):
        top = 48 + 62 * stage
        right, caught = counts(rows, stage)
        parts.append(drawing.text(start - 10, top + 25, judge.name, anchor="end"))
        place = start
        for letter, count in right.items():
            length = width * count / len(rows)
            parts.append(drawing.box(place, top, length, 20, colours[letter]))
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


def files():
    """Return the text of both files."""
    rows = [row(right, bugs) for right, *bugs in kill_matrix.by_case()]
    return {"kill_matrix.js": data(rows), "staircase.svg": bars(rows)}
