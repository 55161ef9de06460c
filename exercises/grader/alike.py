"""Files that are equal except for layout, comments and names."""

import ast
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from course import Exercise
from grader.collected import Submission
from grader.handed_in import NotTakenError, look
from grader.report import Report

MOST_BYTES = 100_000  # of a file that is compared
MOST_NAMED = 3


def shape(source: bytes) -> str:
    """Return a hash of the source that ignores layout, comments, docstrings and names.

    It is empty if the source is not Python.
    """
    try:
        tree = ast.parse(source[:MOST_BYTES])
        numbers: dict[str, int] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
                if ast.get_docstring(node, clean=False) is not None:
                    del node.body[0]
            elif isinstance(node, ast.Name):
                node.id = str(numbers.setdefault(node.id, len(numbers)))
            elif isinstance(node, ast.arg | ast.keyword) and node.arg:
                node.arg = str(numbers.setdefault(node.arg, len(numbers)))
        return sha256(ast.dump(tree).encode()).hexdigest()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def noted(
    reports: Mapping[Submission, Report], exercises: Iterable[Exercise]
) -> dict[Submission, Report]:
    """Return the reports, with a note where two submissions have the same answer.

    The starter, and files that are not Python, do not count.
    """
    reports = dict(reports)
    handed_in = {folder: look(folder) for folder in sorted(reports)}
    for number, exercise in enumerate(exercises):
        same: dict[str, list[Submission]] = {}
        for folder, files in handed_in.items():
            with suppress(NotTakenError):
                same.setdefault(shape(files.read(exercise)[1]), []).append(folder)
        for nobodys in ("", shape((exercise.folder / "starter.py").read_bytes())):
            same.pop(nobodys, None)
        for folders in same.values():
            for folder in folders if len(folders) > 1 else ():
                others = [reports[other].submission for other in folders if other != folder]
                more = f" and {len(others) - MOST_NAMED} more" * (len(others) > MOST_NAMED)
                who = ", ".join(others[:MOST_NAMED]) + more
                note = f"{exercise.name}.py equals that of {who}, but for comments and names"
                graded = list(reports[folder].exercises)
                graded[number] = replace(graded[number], notes=(*graded[number].notes, note))
                reports[folder] = replace(reports[folder], exercises=tuple(graded))
    return reports
