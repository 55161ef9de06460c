"""The map of the course: the exercises, in groups, with their minutes."""

import textwrap
import tomllib
from pathlib import Path

from pictures import drawing

COURSE = Path(__file__).parents[3] / "exercises" / "course.toml"
FONT = 20  # so that a phone, half as wide as the picture, shows it at 10
# The first exercise of each group; the optional ones are the last group.
GROUPS = {
    "01": "Build a gradient checker",
    "06": "Derive gradients, and check them",
    "09": "Find the bugs of others, write your own checker",
    "11": "Go further",
}
OPTIONAL = "Optional"
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


def tile(x, y, exercise):
    """Draw one exercise: its number, its minutes and its title."""
    number = "Project" if exercise["kind"] == "project" else exercise["name"][:2]
    frame = [(x, y), (x + WIDE, y), (x + WIDE, y + TALL), (x, y + TALL), (x, y)]
    colour = drawing.BROWN if exercise.get("optional") else drawing.BLUE
    return [
        drawing.curve(frame, drawing.PALE),
        drawing.text(x + 12, y + 28, number, colour, "start"),
        drawing.text(x + WIDE - 12, y + 28, f"{exercise['minutes']} min", drawing.GREY, "end"),
        *(
            drawing.text(x + 12, y + 56 + 26 * k, words, anchor="start")
            for k, words in enumerate(textwrap.wrap(exercise["title"], 18, break_on_hyphens=False))
        ),
    ]


def files():
    """Return the text of the one file."""
    parts, y = [], 0
    for heading, exercises in groups().items():
        parts.append(drawing.text(LEFT, y + 34, heading, drawing.GREEN, "start"))
        y += HEADING
        for k, exercise in enumerate(exercises):
            row, column = divmod(k, EACH_ROW)
            parts += tile(LEFT + column * (WIDE + GAP), y + row * (TALL + GAP), exercise)
        y += -(-len(exercises) // EACH_ROW) * (TALL + GAP)
    return {"course.svg": drawing.picture("The course", parts, height=y + 8, font=FONT)}
