"""Prints, as Markdown, the share of the points that each wrong answer of the tests earns."""

import contextlib
import io
import sys
import warnings
from pathlib import Path

sys.path += [str(Path(__file__).parents[2] / folder) for folder in ("exercises", "tests/exercises")]

from wrong_submissions import earned_by, wrong_answers

from course import read_course

warnings.simplefilter("ignore")  # a wrong answer may well divide by 0

print("| exercise | task | a submission, otherwise right, that ... | earns |")
print("| --- | --- | --- | --- |")
for exercise in read_course().exercises:
    # Exercise 10 gives shares of bugs; and an exercise that needs more than NumPy may not run here.
    if exercise.kind == "judge" or exercise.package:
        continue
    with contextlib.redirect_stdout(io.StringIO()):  # some print what they should return
        named = [wrong for wrong in wrong_answers(exercise) if wrong.named]
        shares = [(earned_by(exercise, wrong), wrong) for wrong in named]
    for share, wrong in sorted(shares, key=lambda pair: (-pair[0], pair[1].name)):
        print(f"| {exercise.name[:2]} | `{wrong.task}` | {wrong.name} | {share:.0%} |")
