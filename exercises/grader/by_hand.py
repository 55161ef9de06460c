"""Points that an instructor adds by hand: a table of their own, so that they outlive a regrade."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from catalogue import told
from course import Course
from grader.collected import Submission
from grader.report import Graded, GradedExercise, Report, clean_name
from grader.roster import Student

HEADS = ("who", "exercise", "points", "why")
BY_HAND = "by hand"  # in the place of the name of a check


@dataclass(frozen=True)
class ByHand:
    """A row of the table."""

    line: int
    who: str  # the name of a submission, or a cell of the roster
    exercise: str  # its whole name
    points: float  # to add, or below 0 to take off
    why: str


def read_by_hand(path: Path, course: Course) -> list[ByHand]:
    """Read the table; a row that cannot be understood is refused before any grading."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        if not {*HEADS} <= {*(rows.fieldnames or ())}:
            raise ValueError(f"{path.name} needs the columns {', '.join(HEADS)}.")
        return [_row(path, n, row, course) for n, row in enumerate(rows, 2) if any(row.values())]


def _row(path: Path, line: int, row: Mapping[str, str], course: Course) -> ByHand:
    who, named, points, why = ((row[head] or "").strip() for head in HEADS)
    exercise = course.find(named)
    if not exercise or not who:
        raise ValueError(f"{path.name}, line {line}: there is no exercise {named!r}, or nobody.")
    try:
        number = float(points)
        if not math.isfinite(number):
            raise ValueError
        return ByHand(line, who, exercise.name, number, why)
    except ValueError:
        raise ValueError(f"{path.name}, line {line}: {points!r} is no number of points.") from None


def with_points_by_hand(
    reports: Mapping[Submission, Report],
    rows: Sequence[ByHand],
    found: Mapping[str, Sequence[Student]],
) -> tuple[dict[Submission, Report], list[str]]:
    """Return the reports with these points, and warnings of rows that are about none or several.

    ``found`` has the students of the submissions, by the names of these.
    """
    changed, warnings = dict(reports), list[str]()
    for row in rows:
        theirs = [one for one in reports if _is_about(row, one, found)]
        if len(theirs) != 1:
            many = f"{len(theirs)} submissions" if theirs else "no submission"
            warnings.append(f"by hand, line {row.line}: {many} of {row.who}: not added")
            continue
        exercises = changed[theirs[0]].exercises
        changed[theirs[0]] = replace(
            changed[theirs[0]],
            exercises=tuple(_added(e, row) if e.name == row.exercise else e for e in exercises),
        )
    return changed, warnings


def _is_about(row: ByHand, one: Submission, found: Mapping[str, Sequence[Student]]) -> bool:
    names = [one.name, clean_name(one.name)]
    students = found.get(clean_name(one.name), ())
    return row.who in (*names, *(cell for s in students for cell in (s.name, *s.cells.values())))


def _added(exercise: GradedExercise, row: ByHand) -> GradedExercise:
    """Add the points as a check that is worth none; no exercise is worth less than 0."""
    points = max(row.points, -exercise.earned)
    title = told(BY_HAND) + (told(": ") + row.why if row.why else "")
    number_of_it = f"{exercise.name[:2]}.{len(exercise.checks) + 1}"
    check = Graded(
        id=f"{exercise.name}/{BY_HAND}",
        number=number_of_it,
        title=title,
        points=0,
        earned=points,
        status="passed",
        message="",
        heldout=False,
    )
    note = f"{exercise.name}: {points:+g} {title}"
    return replace(exercise, checks=(*exercise.checks, check), notes=(*exercise.notes, note))
