"""Prints, as Markdown, what each exercise teaches, its minutes and its points."""

import re
import tomllib
from pathlib import Path

EXERCISES = Path(__file__).parents[2] / "exercises"

print("| exercise | kind | you will learn | minutes | points (held out) | builds on |")
print("| --- | --- | --- | --- | --- | --- |")
minutes = points = 0
for exercise in tomllib.loads((EXERCISES / "course.toml").read_text("utf-8"))["exercise"]:
    name, given = exercise["name"], exercise["points"]
    readme = " ".join((EXERCISES / name / "README.md").read_text("utf-8").split())
    learned = re.search(r"\*\*You will learn\*\* (.*?)\. \*\*", readme)[1]
    hidden = sum(value for check, value in given.items() if check.startswith("heldout_"))
    needs = ", ".join(needed[:2] for needed in exercise["needs"]) or "-"
    cells = [
        f"[{name[:2]} {exercise['title']}]({name}.md)"
        + ", optional" * exercise.get("optional", False),
        *(exercise["kind"], learned, exercise["minutes"]),
        f"{sum(given.values()) + exercise['whole']} ({hidden})",
        needs,
    ]
    print("| " + " | ".join(map(str, cells)) + " |")
    if exercise.get("optional"):
        continue
    minutes += exercise["minutes"]
    points += sum(given.values()) + exercise["whole"]
print(f"| all but the optional ones | | | {minutes} | {points} | |")
