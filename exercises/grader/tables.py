"""The files about a class: scores, gradebooks, a text for each submission, and the journal."""

import argparse
import contextlib
import csv
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from course import Exercise
from grader.alike import noted
from grader.handed_in import look
from grader.limits import Limits
from grader.report import FORMAT_VERSION, Report, from_dict, number, software
from grader.writers import as_json, text

LONGEST_NAME = 150  # bytes of the name of a report
NOT_GRADED = "not graded"  # in the place of points
Rows = list[list[str]]
GRADEBOOKS = {
    # Canvas finds a student by one of these ids; Moodle asks on import what each column means.
    "canvas": ("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
    "moodle": ("ID number",),
}


def write_class(
    reports: Mapping[Path, Report], exercises: Sequence[Exercise], options: argparse.Namespace
) -> list[str]:
    """Write the files that the options ask for; return warnings of who is not in a gradebook."""
    by_folder, warnings = noted(reports, exercises), list[str]()
    ordered = [by_folder[folder] for folder in sorted(by_folder, key=lambda one: one.name)]
    _write_table(options.csv, scores(exercises, ordered, options.id, checks=options.checks))
    for place, student in ((options.reports, False), (options.student_reports, True)):
        for folder, report in by_folder.items() if place else ():
            path = place / f"{_file_name(folder.name)}.txt"
            path.write_text(text(report, student=student), encoding="utf-8")
    if options.json:
        submissions = [report.to_dict() for report in ordered]
        complete = as_json(format_version=FORMAT_VERSION, submissions=submissions)
        options.json.write_text(complete, encoding="utf-8")
    for book in GRADEBOOKS:
        if path := getattr(options, book):
            graded = known(ordered, options.id)
            _write_table(path, gradebook(book, exercises, graded))
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
    screen = contextlib.nullcontext(sys.stdout)
    with path.open("w", encoding="utf-8", newline="") if path else screen as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


def scores(
    exercises: Sequence[Exercise],
    reports: Sequence[Report],
    by: re.Pattern[str] | None = None,
    *,
    checks: bool = False,
) -> Rows:
    """Return the table of scores, on request with ids and a column for each check."""
    names = [exercise.name for exercise in exercises]
    for exercise in exercises if checks else ():
        every = [*exercise.points, *["whole"] * bool(exercise.whole)]
        names += [f"{exercise.name}/{check}" for check in every]
    head = ["submission", *(["id"] if by else []), *names, "points", "out of", "wall", "look at"]
    rows = [head]
    for report in reports:
        student = [_cell(identity(report.submission, by))] if by else []
        points = [_points(e.earned, failed=e.failed) for e in report.exercises]
        if checks:
            points += [
                _points(c.earned, failed=e.failed) for e in report.exercises for c in e.checks
            ]
        points += [_points(report.earned, failed=report.failed), number(report.points)]
        looks = [look for e in report.exercises for look in (e.problem.split("\n")[0], *e.notes)]
        look_at = "; ".join(filter(None, looks))
        rows.append([_cell(report.submission), *student, *points, report.wall, look_at])
    return rows


def _points(earned: float, *, failed: bool) -> str:
    return NOT_GRADED if failed else number(earned)


def gradebook(
    book: str, exercises: Sequence[Exercise], graded: Sequence[tuple[Report, str]]
) -> Rows:
    """Return the table of a gradebook: what finds a student, and a column for each exercise."""
    head = GRADEBOOKS[book]
    rows = [[*head, *(f"{exercise.number} {exercise.title}" for exercise in exercises)]]
    if book == "canvas":
        worth = [number(exercise.worth) for exercise in exercises]
        rows.append(["Points Possible", *([""] * len(head[1:])), *worth])
    for report, student in graded:
        who = {"Student": report.submission, "SIS Login ID": student, "ID number": student}
        points = [number(exercise.earned) for exercise in report.exercises]
        rows.append([*(_cell(who.get(name, "")) for name in head), *points])
    return rows


def known(reports: Sequence[Report], by: re.Pattern[str]) -> list[tuple[Report, str]]:
    """Return the reports whose folder has an id that the pattern finds, and these ids.

    Reports that could not be graded are left out: their 0 is not a grade.
    """
    found = [(report, identity(report.submission, by)) for report in reports if not report.failed]
    return [(report, student) for report, student in found if student]


def identity(submission: str, by: re.Pattern[str]) -> str:
    """Return the part of a name that a pattern finds: its first group, if it has one."""
    found = by.search(submission)
    group = min(by.groups, 1)  # 0 is all that it finds
    return (found[group] if found else "") or ""


def _cell(name: str) -> str:
    """Write a name so that no spreadsheet treats it as a formula."""
    return f"'{name}" if name.startswith(tuple("=+-@\t\uff1d\uff0b\uff0d\uff20")) else name


def fingerprint_of_course(exercises: Sequence[Exercise], limits: Limits, wall: str) -> str:
    """Return a text that changes when the same submission may get another report."""
    checks = [(exercise, (exercise.folder / "checks.py").read_bytes()) for exercise in exercises]
    return _hash(limits, wall, software(exercises), checks)


def _hash(*told: object) -> str:
    return sha256(repr(told).encode()).hexdigest()


class Journal:
    """The finished reports, a line for each; ``course`` is the ``fingerprint_of_course``.

    Without a path nothing is kept.
    """

    def __init__(self, path: Path | None, course: str) -> None:
        self.path, self.course = path, course
        self._known: dict[str, Report] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        for line in lines:
            # An incomplete line: the disk was full.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                fingerprint, report = json.loads(line)
                self._known[fingerprint] = from_dict(report)

    def _fingerprint(self, folder: Path) -> str:
        """Return a text that changes with the submission: names, sizes and times of its files."""
        handed_in, files = look(folder), list[object]()
        for file in handed_in.files:
            with contextlib.suppress(OSError):  # it is gone
                found = (folder / file).lstat()
                files.append((file, found.st_size, found.st_mtime_ns))
        return _hash(self.course, folder.name, handed_in.troubles, files)

    def report(self, folder: Path) -> Report | None:
        """Return the report on a submission, if neither it nor the course has changed."""
        return self._known.get(self._fingerprint(folder)) if self._known else None

    def add(self, folder: Path, report: Report) -> None:
        """Write down the report on a submission, unless it could not be graded."""
        if self.path and not report.failed:
            entry = json.dumps([self._fingerprint(folder), report.to_dict()])
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{entry}\n")  # the last line may be incomplete
