"""Files that are equal except for what a copy can change without a thought."""

import ast
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

from course import Exercise
from grader.collected import Submission
from grader.handed_in import NotTakenError, look
from grader.report import Report

MOST_BYTES = 100_000  # of a file that is compared
MOST_NAMED = 3


def shape(source: bytes) -> str:
    """Return a hash of the source that ignores layout, comments, docstrings and all names.

    It also ignores the order of the functions, imports, types, what is printed, and the block that
    runs the file. It is empty if the source is not Python.
    """
    try:
        body = ast.parse(source[:MOST_BYTES]).body
        bare = [_Bare().visit(node) for node in body if not _runs_the_file(node)]
        return sha256(repr(sorted(ast.dump(node) for node in bare if node)).encode()).hexdigest()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _runs_the_file(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


class _Bare(ast.NodeTransformer):
    """Leaves what is calculated; names become numbers, in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def _number(self, name: str) -> str:
        return str(self.numbers.setdefault(name, len(self.numbers)))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in ("id", "arg", "name"):  # of a variable, a parameter, a function
            if isinstance(getattr(node, name, None), str):
                setattr(node, name, self._number(getattr(node, name)))
        for name in ("annotation", "returns"):
            if hasattr(node, name):
                setattr(node, name, None)
        super().generic_visit(node)
        if getattr(node, "body", None) == []:  # it only printed
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Leave docstrings out, and what is printed."""
        match node.value:
            case ast.Constant() | ast.Call(func=ast.Name(id="print")):
                return None
        return self.generic_visit(node)

    def visit_Import(self, _: ast.AST) -> None:
        """Leave it out: its alias is a name like others."""

    def visit_ImportFrom(self, _: ast.AST) -> None:
        """Leave it out, too."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Leave the type out."""
        if node.value is None:
            return None
        return self.visit(ast.Assign(targets=[node.target], value=node.value))


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
        for folder, files in handed_in.items():
            with suppress(NotTakenError):
                same.setdefault(shape(files.read(exercise)[1]), []).append(folder)
        for nobodys in ("", shape((exercise.folder / "starter.py").read_bytes())):
            same.pop(nobodys, None)
        solution = exercise.folder / "solution.py"  # which is in no bundle
        published = shape(solution.read_bytes()) if solution.exists() else ""
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
