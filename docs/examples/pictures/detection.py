"""What the five stages and the check make of the right and the wrong gradients of the zoo."""

import re
from collections import Counter
from pathlib import Path

from detection import JUDGES, by_stages
from pictures import drawing
from pictures.calls import FONT

from gradcheck_ref.zoo import all_cases

STORED = Path(__file__).parents[1] / "detection.md"
LEFT, RIGHT = 134, drawing.WIDTH - 20
TALL, GAP = 26, 12
COLOURS = (drawing.GREEN, drawing.BROWN, drawing.RED)


def of_check():
    """Return the counts of the check, as they are stored: for right gradients, and for wrong."""
    row = STORED.read_text("utf-8").splitlines()[-1]
    passed, unsure, refused = map(int, re.search(r"(\d+) / (\d+) / (\d+)", row).groups())
    counts = [tuple(map(int, cell)) for cell in re.findall(r"(\d+)/(\d+)", row)]
    caught, bugs = map(sum, zip(*counts, strict=True))
    return (passed, unsure, refused), (caught, 0, bugs - caught)


def of_stages():
    """Yield the counts of each stage: right accepted, unsure, refused; bugs caught, lost, missed.

    A bug is lost if the right gradient of its function is refused, too.
    """
    found = by_stages()
    for k in range(len(JUDGES)):
        right, bugs = Counter(), Counter()
        for case in all_cases():
            on_right = found[case.name, None][k]
            right[on_right] += 1
            for bug in case.bugs:
                on_bug = found[case.name, bug.id][k]
                bugs["lost" if on_right == "fail" else on_bug] += 1
        yield (right["pass"], 0, right["fail"]), (bugs["fail"], bugs["lost"], bugs["pass"])


def panel(top, title, names, rows):
    """Draw a bar of three parts for each judge."""
    parts = [drawing.text(14, top, title, anchor="start")]
    x = 14
    for name, colour in zip(names, COLOURS, strict=True):
        parts.append(drawing.box(x, top + 12, 16, 16, colour))
        parts.append(drawing.text(x + 24, top + 27, name, colour, "start"))
        x += 46 + 11 * len(name)
    labels = [*(f"stage {k + 1}" for k in range(len(JUDGES))), "the check"]
    for k, (label, counts) in enumerate(zip(labels, rows, strict=True)):
        y, start = top + 46 + k * (TALL + GAP), LEFT
        parts.append(drawing.text(LEFT - 10, y + 20, label, anchor="end"))
        for count, colour in zip(counts, COLOURS, strict=True):
            wide = (RIGHT - LEFT) * count / sum(counts)
            if count:
                parts.append(drawing.box(start, y, wide, TALL, colour))
            if wide > 40:
                parts.append(drawing.text(start + wide / 2, y + 20, count, "#ffffff"))
            start += wide
    return parts


def files():
    """Return the text of the one file."""
    right, bugs = zip(*of_stages(), of_check(), strict=True)
    below = 46 + len(right) * (TALL + GAP) + 70
    parts = panel(34, f"{sum(right[0])} right gradients", ("accepted", "unsure", "refused"), right)
    named = "caught", "lost to a false alarm", "missed"
    parts += panel(below, f"{sum(bugs[0])} wrong gradients", named, bugs)
    title = "What the stages and the check make of the zoo"
    height = below + 46 + len(right) * (TALL + GAP)
    return {"detection.svg": drawing.picture(title, parts, height=height, font=FONT)}
