"""Files that are equal except for what a copy can change without a thought."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from course import Exercise
from grader.collected import Submission
from grader.handed_in import NotTakenError, look
from grader.normal import normal_form
from grader.report import Report

MOST_BYTES = 100_000  # of a file that is compared
MOST_NAMED = 3


def shape(source: bytes, tasks: Sequence[str] = ()) -> str:
    """Return the normal form of the source; it is empty if that is not Python."""
    try:
        return normal_form(source[:MOST_BYTES], tasks)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def noted(
    reports: Mapping[Submission, Report], exercises: Iterable[Exercise]
) -> dict[Submission, Report]:
    """Return the reports, with a note where two have the same answer, or the published one.

    The starter, and files that are not Python, do not count.
    """
    reports = dict(reports)
    handed_in = {folder: look(folder) for folder in sorted(reports)}
    for number, exercise in enumerate(exercises):
        same: dict[str, list[Submission]] = {}
        starter = (exercise.folder / "starter.py").read_bytes()
        tasks = re.findall(r"(?m)^def (\w+)", starter.decode())
        for folder, files in handed_in.items():
            with suppress(NotTakenError):
                same.setdefault(shape(files.read(exercise)[1], tasks), []).append(folder)
        for nobodys in ("", shape(starter, tasks)):
            same.pop(nobodys, None)
        solution = exercise.folder / "solution.py"  # which is in no bundle
        published = shape(solution.read_bytes(), tasks) if solution.exists() else ""
        for what, folders in same.items():
            for folder in folders:
                others = [reports[other].submission for other in folders if other != folder]
                notes = []
                if others:
                    more = f" and {len(others) - MOST_NAMED} more" * (len(others) > MOST_NAMED)
                    notes.append(f"that of {', '.join(others[:MOST_NAMED])}{more}")
                notes += ["the published solution"] * (what == published)
                told = [
                    f"{exercise.name}.py equals {one}, but for names and order" for one in notes
                ]
                graded = list(reports[folder].exercises)
                graded[number] = replace(graded[number], notes=(*graded[number].notes, *told))
                reports[folder] = replace(reports[folder], exercises=tuple(graded))
    return reports
