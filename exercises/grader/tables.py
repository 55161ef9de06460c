"""The files about a class: scores, gradebooks, a text for each submission, and the journal."""

import argparse
import contextlib
import csv
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import gradcheck_ref
from catalogue import LOCALE, spoken, told
from course import HERE, Exercise, read_course
from grader.alike import noted
from grader.by_hand import BY_HAND, ByHand, Own, with_points_by_hand
from grader.changes import HEAD, changes, how_many, read_table
from grader.collected import Submission
from grader.feedback import not_in, write_feedback
from grader.handed_in import look
from grader.identity import NOBODYS, matched, not_found
from grader.late import LATE, read_late, with_late
from grader.limits import Limits
from grader.report import FORMAT_VERSION, Report, clean_name, from_dict, number, software
from grader.roster import IDS, Student, head_of
from grader.writers import as_json, text

LONGEST_NAME = 150  # bytes of the name of a report
NOT_GRADED = "not graded"  # in the place of points
Rows = list[list[str]]
GRADEBOOKS = {
    # Canvas finds a student by one of these ids; Moodle asks on import what each column means.
    "canvas": ("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
    "moodle": ("ID number",),
}
FINDS = {  # columns of a roster that a gradebook finds a student by
    "canvas": ("id", "sis user id", "sis login id"),
    "moodle": (
        *("id number", "username", "email address", "email", "id nummer", "anmeldename"),
        *("e mail adresse", "e mail", "学号", "用户名", "电子邮件地址", "邮箱"),
    ),
}


def write_class(
    reports: Mapping[Submission, Report],
    exercises: Sequence[Exercise],
    options: argparse.Namespace,
    students: Sequence[Student] = (),
    by_hand: Sequence[ByHand] = (),
) -> list[str]:
    """Write the files that the options ask for; return warnings of who is not in a gradebook."""
    who = Identities(students, options.id, reports)
    reduced = with_late(noted(reports, exercises), read_late(read_course()), who.found)
    by_submission, who.own, warnings = with_points_by_hand(reduced, by_hand, who.found)
    ordered = [by_submission[one] for one in sorted(by_submission)]
    before, rows = read_table(options.csv), scores(exercises, ordered, who, checks=options.checks)
    write_table(options.csv, rows)
    new = [[*map(_cell, row)] for row in rows]
    if changed := [*changes(before, new, [exercise.name for exercise in exercises])]:
        path = options.csv.with_suffix(".changes.csv")
        write_table(path, [HEAD, *changed])
        warnings.append(how_many(changed, path))
    names = report_names(one.name for one in by_submission)
    for place, student in ((options.reports, False), (options.student_reports, True)):
        for submission, report in by_submission.items() if place else ():
            path = place / f"{names[submission.name]}.txt"
            path.write_text(text(report, student=student), encoding="utf-8")
    if options.moodle_feedback:
        left_out = write_feedback(options.moodle_feedback, by_submission)
        warnings += not_in(options.moodle_feedback, left_out)
    if options.json:
        submissions = [report.to_dict() for report in ordered]
        complete = as_json(format_version=FORMAT_VERSION, submissions=submissions)
        options.json.write_text(complete, encoding="utf-8")
    for book in GRADEBOOKS:
        if path := getattr(options, book):
            graded = who.known(ordered)
            write_table(path, gradebook(book, exercises, graded))
            there = {report.submission for report, _ in graded}
            left_out = [one.submission for one in ordered if one.submission not in there]
            warnings += not_in(path, left_out)
    return warnings


def report_names(names: Iterable[str]) -> dict[str, str]:
    """Return a name for the report of each submission: short, clean, and different from all others.

    Some systems do not distinguish capitals, or accents that are written in two ways.
    """
    found: dict[str, str] = {}
    taken = set[str]()
    for name in sorted(names):
        kept, code = clean_name(name), sha256(os.fsencode(name)).hexdigest()[:12]
        same = unicodedata.normalize("NFKC", kept).casefold()
        if len(os.fsencode(kept)) > LONGEST_NAME:
            kept = f"{kept[:30]}-{code}"
        elif same in taken:
            kept = f"{kept}-{code}"
        taken.add(same)
        found[name] = kept
    return found


def write_table(path: Path | None, rows: Iterable[Sequence[str]]) -> None:
    """Write a table as CSV, to the screen if there is no path; no cell is a formula."""
    screen = contextlib.nullcontext(sys.stdout)
    with path.open("w", encoding="utf-8", newline="") if path else screen as out:
        csv.writer(out, lineterminator="\n").writerows(map(_cell, row) for row in rows)


class Identities:
    """The students: rows of a roster, or the part of a name that a pattern finds."""

    def __init__(
        self,
        students: Sequence[Student] = (),
        by: re.Pattern[str] | None = None,
        submissions: Iterable[Submission] = (),
    ) -> None:
        self.students, self.by, submissions = students, by, [*submissions]
        self.own: Own = {}  # reports on single members of a team
        theirs = matched(students, submissions)
        self.found = {clean_name(one.name): those for one, those in theirs.items()}
        self.nobodys = [clean_name(o.name) for o in submissions if students and o not in theirs]

    @property
    def heads(self) -> list[str]:
        """The heads of the columns that say who it is."""
        own = [*self.students[0].cells] if self.students else []
        return [*(["id"] if self.by else []), *own]

    def each(self, reports: Sequence[Report]) -> Iterator[tuple[Report, dict[str, str]]]:
        """Yield the report on each student, with these columns; the student may not be known."""
        for report in reports:
            name = report.submission
            said = {"id": identity(name, self.by)} if self.by else {}
            for student in self.found.get(name, ()):
                yield self.own.get((name, student.name), report), said | dict(student.cells)
            if name not in self.found:
                yield report, said

    def missing(self) -> list[Student]:
        """Return the students without a submission."""
        there = {id(student) for those in self.found.values() for student in those}
        return [one for one in self.students if id(one) not in there]

    def known(self, reports: Sequence[Report]) -> list[tuple[Report, dict[str, str]]]:
        """Return the reports that belong to one student each, with what says who it is.

        Reports that could not be graded are left out: their 0 is not a grade.
        """
        every = [*self.each(reports)]
        several = Counter(tuple(cells.values()) for _, cells in every)
        return [
            (report, cells)
            for report, cells in every
            if not report.failed
            and any(cells.values())
            and several[tuple(cells.values())] == 1
            and (not self.students or report.submission in self.found)
        ]


def scores(
    exercises: Sequence[Exercise],
    reports: Sequence[Report],
    who: "Identities | None" = None,
    *,
    checks: bool = False,
) -> Rows:
    """Return the table of scores, with who it is if that is known, and a column for each check.

    Students without a submission have a row, too.
    """
    who = who or Identities()
    names = [exercise.name for exercise in exercises]
    said = {check.id for report in reports for check in report.checks}
    for exercise in exercises if checks else ():
        every = [*exercise.points, *["whole"] * bool(exercise.whole)]
        every += [name for name in (LATE, BY_HAND) if f"{exercise.name}/{name}" in said]
        names += [f"{exercise.name}/{check}" for check in every]
    rows = [["submission", *who.heads, *names, "points", "out of", "wall", "look at"]]
    for report, found in who.each(reports):
        points = [_points(e.earned, failed=e.failed) for e in report.exercises]
        earned = {
            check.id: _points(check.earned, failed=exercise.failed)
            for exercise in report.exercises
            for check in exercise.checks
        }
        points += [earned.get(name, "0") for name in names[len(exercises) :]]
        points += [_points(report.earned, failed=report.failed), number(report.points)]
        looks = [look for e in report.exercises for look in (e.problem.split("\n")[0], *e.notes)]
        if who.students and report.submission not in who.found:
            looks.insert(0, NOBODYS)
        look_at = "; ".join(map(told, filter(None, looks)))
        student = [found.get(head, "") for head in who.heads]
        rows.append([report.submission, *student, *points, report.wall, look_at])
    worth = number(sum(exercise.worth for exercise in exercises))
    many = len(who.nobodys)  # one of which may be theirs: then 0 points would be wrong
    for one in who.missing():
        student = [one.cells.get(head, "") for head in who.heads]
        points = [NOT_GRADED if many else "0"] * (len(names) + 1)
        rows.append(["", *student, *points, worth, "", told(not_found(many))])
    return rows


def _points(earned: float, *, failed: bool) -> str:
    return NOT_GRADED if failed else number(earned)


def gradebook(
    book: str, exercises: Sequence[Exercise], graded: Sequence[tuple[Report, Mapping[str, str]]]
) -> Rows:
    """Return the table of a gradebook: what finds a student, and a column for each exercise.

    A roster that this platform has exported has the right columns already.
    """
    own = [head for head in (graded[0][1] if graded else ()) if head != "id"]
    fitting = [head for head in own if head_of(head) in FINDS[book]]
    head = GRADEBOOKS[book] if book == "canvas" else tuple(fitting) or GRADEBOOKS[book]
    rows = [[*head, *(f"{exercise.number} {exercise.title}" for exercise in exercises)]]
    if book == "canvas":
        worth = [number(exercise.worth) for exercise in exercises]
        rows.append(["Points Possible", *([""] * len(head[1:])), *worth])
    for report, found in graded:
        known = {head_of(name): cell for name, cell in found.items()}
        who = {"student": report.submission, **known}
        if not fitting:  # it has only an id, of a kind that the instructor knows
            only = known.get("id") or next((known[i] for i in IDS if known.get(i)), "")
            who = {"student": report.submission, "sis login id": only, "id number": only}
        points = [number(exercise.earned) for exercise in report.exercises]
        rows.append([*(who.get(head_of(name), "") for name in head), *points])
    return rows


def identity(submission: str, by: re.Pattern[str]) -> str:
    """Return the part of a name that a pattern finds: its first group, if it has one."""
    found = by.search(submission)
    group = min(by.groups, 1)  # 0 is all that it finds
    return (found[group] if found else "") or ""


# A spreadsheet may take other characters for the separator, and begin a cell after each.
FORMULA = re.compile("(^|[;,\t\r\n|])([ \"']*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])")


def _cell(text: str) -> str:
    """Write a cell so that no spreadsheet treats it, or a part of it, as a formula."""
    return FORMULA.sub(r"\1\2'", text)


def fingerprint_of_course(exercises: Sequence[Exercise], limits: Limits, wall: str) -> str:
    """Return a text that changes when the same submission may get another report.

    That depends on the checks, all that they use, the instructor's own cases, the grader, and the
    language of the messages.
    """
    places = [*HERE.glob("*.py"), *(HERE / "grader").glob("*.py")]
    places += [
        exercise.folder / name for exercise in exercises for name in ("checks.py", "starter.py")
    ]
    places += Path(gradcheck_ref.__file__).parent.rglob("*.py")
    places += LOCALE.glob("*.po")
    sources = [(str(path), path.read_bytes()) for path in sorted(places)]
    return _hash(limits, wall, software(exercises), [*exercises], sources, spoken())


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

    def _fingerprint(self, submission: Submission) -> str:
        """Return a text that changes with the submission: names, sizes and times of its files."""
        handed_in, files = look(submission), list[object]()
        for file in handed_in.files:
            with contextlib.suppress(OSError):  # it is gone
                found = file.path.lstat()
                files.append((file.name, found.st_size, found.st_mtime_ns))
        return _hash(self.course, submission.name, handed_in.troubles, files)

    def report(self, submission: Submission) -> Report | None:
        """Return the report on a submission, if neither it nor the course has changed."""
        return self._known.get(self._fingerprint(submission)) if self._known else None

    def add(self, submission: Submission, report: Report) -> None:
        """Write down the report on a submission, unless it could not be graded."""
        if self.path and not report.failed:
            entry = json.dumps([self._fingerprint(submission), report.to_dict()])
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{entry}\n")  # the last line may be incomplete
