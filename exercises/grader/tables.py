"""The files about a class: tables of scores, gradebooks, a text for each submission."""

import argparse
import csv
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path

from course import Exercise
from grader.alike import noted
from grader.report import Report, number
from grader.writers import neutral_class, text

LONGEST_NAME = 150  # bytes of the name of a report
Rows = list[list[str]]


def write_class(
    reports: Mapping[Path, Report], exercises: Sequence[Exercise], options: argparse.Namespace
) -> list[str]:
    """Write the files that the options ask for; return warnings of who is not in a gradebook."""
    by_folder, warnings = noted(reports, exercises), list[str]()
    for place, student in ((options.reports, False), (options.student_reports, True)):
        for folder, report in by_folder.items() if place else ():
            path = place / f"{_file_name(folder.name)}.txt"
            path.write_text(text(report, student=student), encoding="utf-8")
    ordered = [by_folder[folder] for folder in sorted(by_folder, key=lambda one: one.name)]
    if options.json:
        options.json.write_text(neutral_class(ordered), encoding="utf-8")
    _write_table(options.csv, scores(exercises, ordered, options.id, checks=options.checks))
    for book, make in GRADEBOOKS.items():
        if path := getattr(options, book):
            graded = known(ordered, options.id)
            _write_table(path, make(exercises, graded))
            there = {report.submission for report, _ in graded}
            left_out = [one.submission for one in ordered if one.submission not in there]
            warnings += [f"not in {path.name}: {name}" for name in left_out]
    return warnings


def _file_name(name: str) -> str:
    """Return a name for a report: that of the folder may be as long as the system allows."""
    if len(os.fsencode(name)) <= LONGEST_NAME:
        return name
    return f"{name[:30]}-{sha256(os.fsencode(name)).hexdigest()[:12]}"


def _write_table(path: Path | None, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") if path else nullcontext(sys.stdout) as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


def scores(
    exercises: Sequence[Exercise],
    reports: Sequence[Report],
    by: re.Pattern[str] | None = None,
    *,
    checks: bool = False,
) -> Rows:
    """Return the table of scores, on request with ids and a column for each check."""
    each = [
        f"{exercise.name}/{check}"
        for exercise in exercises
        for check in [*exercise.points, *(["whole"] if exercise.whole else [])]
    ]
    names = [*(exercise.name for exercise in exercises), *(each if checks else [])]
    head = ["submission", *(["id"] if by else []), *names, "points", "out of", "wall", "look at"]
    rows = [head]
    for report in reports:
        student = [_cell(identity(report.submission, by))] if by else []
        points = [exercise.earned for exercise in report.exercises]
        points += [check.earned for check in report.checks if checks]
        points += [report.earned, report.points]
        looks = [look for e in report.exercises for look in (e.problem.split("\n")[0], *e.notes)]
        look_at = "; ".join(filter(None, looks))
        rows.append(
            [_cell(report.submission), *student, *map(number, points), report.wall, look_at]
        )
    return rows


def canvas(exercises: Sequence[Exercise], graded: Sequence[tuple[Report, str]]) -> Rows:
    """Return a gradebook for Canvas, which finds a student by one of the ids in its head."""
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    most = ["Points Possible", "", "", "", "", *(number(e.worth) for e in exercises)]
    rows = [
        [_cell(report.submission), "", "", _cell(student), "", *_points(report)]
        for report, student in graded
    ]
    return [[*head, *_titles(exercises)], most, *rows]


def moodle(exercises: Sequence[Exercise], graded: Sequence[tuple[Report, str]]) -> Rows:
    """Return grades for Moodle, which asks on import what each column means."""
    rows = [[_cell(student), *_points(report)] for report, student in graded]
    return [["ID number", *_titles(exercises)], *rows]


GRADEBOOKS = {"canvas": canvas, "moodle": moodle}


def _titles(exercises: Sequence[Exercise]) -> list[str]:
    return [f"{exercise.number} {exercise.title}" for exercise in exercises]


def _points(report: Report) -> list[str]:
    return [number(exercise.earned) for exercise in report.exercises]


def known(reports: Sequence[Report], by: re.Pattern[str]) -> list[tuple[Report, str]]:
    """Return the reports whose folder has an id that the pattern finds, and these ids.

    Reports that could not be graded are left out: their 0 is not a grade.
    """
    found = [(report, identity(report.submission, by)) for report in reports if not report.failed]
    return [(report, student) for report, student in found if student]


def shared(submissions: Sequence[str], by: re.Pattern[str]) -> dict[str, list[str]]:
    """Return the students with several submissions, and these submissions."""
    found: dict[str, list[str]] = {}
    for submission in submissions:
        found.setdefault(identity(submission, by), []).append(submission)
    return {who: several for who, several in found.items() if who and len(several) > 1}


def identity(submission: str, by: re.Pattern[str]) -> str:
    """Return the part of a name that a pattern finds: its first group, if it has one."""
    found = by.search(submission)
    if not found:
        return ""
    return (found[1] if by.groups else found[0]) or ""


def _cell(name: str) -> str:
    """Write a name so that no spreadsheet treats it as a formula."""
    return f"'{name}" if name.startswith(tuple("=+-@\t\uff1d\uff0b\uff0d\uff20")) else name
