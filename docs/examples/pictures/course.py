"""The map of the course: the exercises, in groups, with their minutes."""

import sys
import textwrap
import tomllib
from pathlib import Path

from pictures import drawing

EXERCISES = Path(__file__).parents[3] / "exercises"
sys.path.append(str(EXERCISES))  # the course is not a package

from catalogue import LOCALE, read_po  # noqa: E402

COURSE = EXERCISES / "course.toml"
FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
# The first exercise of each group; the optional ones are the last group.
GROUPS = {
    "01": "Build a gradient checker",
    "06": "Derive gradients, and check them",
    "09": "Find the bugs of others, write your own checker",
    "11": "Go further",
}
OPTIONAL = "Optional"
CHINESE = {
    "The course": "课程",
    "Build a gradient checker": "写一个梯度检查器",
    "Derive gradients, and check them": "推导梯度，并检查它们",
    "Find the bugs of others, write your own checker": "找出别人的错误，写出自己的检查器",
    "Go further": "更进一步",
    OPTIONAL: "选做",
    "Project": "项目",
    **read_po((LOCALE / "zh.po").read_text(encoding="utf-8"), "zh.po"),
}
LEFT, WIDE, TALL, GAP, HEADING = 14, 210, 98, 11, 50
EACH_ROW = 3


def groups():
    """Return the exercises of each group, by its heading."""
    exercises = tomllib.loads(COURSE.read_text(encoding="utf-8"))
    found = {}
    for exercise in [*exercises["exercise"], *exercises["project"]]:
        number = exercise["name"][:2]
        if exercise.get("optional"):
            heading = OPTIONAL
        else:
            heading = [title for first, title in GROUPS.items() if first <= number][-1]
        found.setdefault(heading, []).append(exercise)
    return found


def tile(x, y, exercise, words):
    """Draw one exercise: its number, its minutes and its title."""
    number = "Project" if exercise["kind"] == "project" else exercise["name"][:2]
    frame = [(x, y), (x + WIDE, y), (x + WIDE, y + TALL), (x, y + TALL), (x, y)]
    colour = drawing.BROWN if exercise.get("optional") else drawing.BLUE
    minutes = words.get("{minutes} min", "{minutes} min").format(minutes=exercise["minutes"])
    lines = lines_of(words.get(exercise["title"], exercise["title"]))
    return [
        drawing.curve(frame, drawing.PALE),
        drawing.text(x + 12, y + 28, words.get(number, number), colour, "start"),
        drawing.text(x + WIDE - 12, y + 28, minutes, drawing.GREY, "end"),
        *(
            drawing.text(x + 12, y + 56 + 26 * k, line, anchor="start")
            for k, line in enumerate(lines)
        ),
    ]


def lines_of(title):
    """Return the lines of a title; a Chinese letter is as wide as two others."""
    if title.isascii():
        return textwrap.wrap(title, 18, break_on_hyphens=False)
    wide = sum(1 if letter.isascii() else 2 for letter in title)
    return textwrap.wrap(title, len(title) if wide <= 18 else -(-len(title) // 2))


def drawn(words):
    """Draw the map, with these words in place of the English ones."""
    parts, y = [], 0
    for heading, exercises in groups().items():
        said = words.get(heading, heading)
        parts.append(drawing.text(LEFT, y + 34, said, drawing.GREEN, "start"))
        y += HEADING
        for k, exercise in enumerate(exercises):
            row, column = divmod(k, EACH_ROW)
            parts += tile(LEFT + column * (WIDE + GAP), y + row * (TALL + GAP), exercise, words)
        y += -(-len(exercises) // EACH_ROW) * (TALL + GAP)
    title = words.get("The course", "The course")
    return drawing.picture(title, parts, height=y + 8, font=FONT)


def files():
    """Return the text of each file."""
    return {"course.svg": drawn({}), "course.zh.svg": drawn(CHINESE)}
