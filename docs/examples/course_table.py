"""Prints, as Markdown, the kind of each exercise, its minutes and its points."""

import tomllib
from pathlib import Path

EXERCISES = Path(__file__).parents[2] / "exercises"

print("| exercise | kind | minutes | points (held out) | builds on |")
print("| --- | --- | --- | --- | --- |")
minutes = points = 0
for exercise in tomllib.loads((EXERCISES / "course.toml").read_text("utf-8"))["exercise"]:
    name, given = exercise["name"], exercise["points"]
    hidden = sum(value for check, value in given.items() if check.startswith("heldout_"))
    needs = ", ".join(needed[:2] for needed in exercise["needs"]) or "-"
    cells = [
        f"[{name[:2]} {exercise['title']}]({name}.md)"
        + ", optional" * exercise.get("optional", False),
        exercise["kind"],
        exercise["minutes"],
        f"{sum(given.values()) + exercise['whole']} ({hidden})",
        needs,
    ]
    print("| " + " | ".join(map(str, cells)) + " |")
    if exercise.get("optional"):
        continue
    minutes += exercise["minutes"]
    points += sum(given.values()) + exercise["whole"]
print(f"| all but the optional ones | | {minutes} | {points} | |")
