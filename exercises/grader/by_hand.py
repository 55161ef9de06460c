"""Points that an instructor adds by hand: a table of their own, so that they outlive a regrade."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from catalogue import told
from course import Course
from grader.collected import Submission
from grader.report import Graded, GradedExercise, Report, clean_name
from grader.roster import Student, head_of, read_cells

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
    heads, *rows = read_cells(path)
    at = {head_of(head): place for place, head in enumerate(heads)}
    if not {*HEADS} <= {*at}:
        raise ValueError(f"{path.name} needs the columns {', '.join(HEADS)}.")
    cells = (
        [row[at[head]].strip() if at[head] < len(row) else "" for head in HEADS] for row in rows
    )
    return [_row(path, line, row, course) for line, row in enumerate(cells, 2) if any(row)]


def _row(path: Path, line: int, row: Sequence[str], course: Course) -> ByHand:
    who, named, points, why = row
    exercise = course.find(named)
    if not exercise or not who:
        raise ValueError(f"{path.name}, line {line}: there is no exercise {named!r}, or nobody.")
    try:
        number = float(points.replace(",", "."))
        if not math.isfinite(number):
            raise ValueError
        return ByHand(line, who, exercise.name, number, why)
    except ValueError:
        raise ValueError(f"{path.name}, line {line}: {points!r} is no number of points.") from None


Own = dict[tuple[str, str], Report]  # by the names of a submission and of a student


def with_points_by_hand(
    reports: Mapping[Submission, Report],
    rows: Sequence[ByHand],
    found: Mapping[str, Sequence[Student]],
) -> tuple[dict[Submission, Report], Own, list[str]]:
    """Return the reports with these points, those of single members of a team, and warnings.

    ``found`` has the students of the submissions, by the names of these. Warnings are about rows
    that are about none or several, or about an exercise that is not graded now.
    """
    changed, own, warnings = dict(reports), Own(), list[str]()
    about = list[tuple[Submission, Student | None, ByHand]]()
    for row in rows:
        theirs = [(one, who, row) for one in reports for who in _named(row, one, found)]
        if len(theirs) != 1:
            many = f"{len(theirs)} submissions" if theirs else "no submission"
            warnings.append(f"by hand, line {row.line}: {many} of {row.who}: not added")
        elif row.exercise not in [one.name for one in reports[theirs[0][0]].exercises]:
            warnings.append(f"by hand, line {row.line}: {row.exercise} is not graded: not added")
        else:
            about += theirs
    for one, who, row in sorted(about, key=lambda those: those[1] is not None):
        if who:
            key = clean_name(one.name), who.name
            own[key] = _with(own.get(key, changed[one]), row)
            changed[one] = _with(changed[one], row, only=who.name)
        else:
            changed[one] = _with(changed[one], row)
    return changed, own, warnings


def _named(
    row: ByHand, one: Submission, found: Mapping[str, Sequence[Student]]
) -> list[Student | None]:
    """Return the members of a team that a row names; None stands for the whole submission."""
    if row.who in (one.name, clean_name(one.name)):
        return [None]
    students = found.get(clean_name(one.name), ())
    named = [who for who in students if row.who in (who.name, *who.cells.values())]
    return [None] if named and len(students) == 1 else [*named]


def _with(report: Report, row: ByHand, *, only: str = "") -> Report:
    """Add the points, or ``only`` a note that a member of a team has them."""
    exercises = (_added(e, row, only) if e.name == row.exercise else e for e in report.exercises)
    return replace(report, exercises=tuple(exercises))


def _added(exercise: GradedExercise, row: ByHand, only: str = "") -> GradedExercise:
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
    notes = (*exercise.notes, f"{note}, only for {only}" if only else note)
    return replace(exercise, checks=(*exercise.checks, *[check] * (not only)), notes=notes)
