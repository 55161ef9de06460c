"""The commands for instructors: ``run.py grade``, ``run.py export`` and ``run.py notebooks``."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from catalogue import told
from course import Course, Exercise, missing, read_course
from grader.limits import QUIET_SECONDS, Limits
from grader.processors import processors
from screen import say, short

DONE, NOT_ALL, CANNOT = 0, 1, 2
GRADEBOOKS = ("canvas", "moodle")
PLATFORMS = ("gradescope", "prairielearn", "classroom50", "junit", "json")
OF_ONE = PLATFORMS[:-1]
OF_A_CLASS = (
    *("csv", "reports", "student_reports", "checks", "id", "roster", "manifest", "by_hand"),
    "moodle_feedback",
    *GRADEBOOKS,
)
SUBMISSION_SECONDS = 600
Command = Callable[[Course, argparse.Namespace], int]


def add_commands(commands: Any) -> None:
    """Add the commands to the parser."""
    one = _command(commands, grade, "points for a submission, or for those of a class")
    one.add_argument("folder", nargs="?", type=Path, help="of the submission; else work/")
    for platform in PLATFORMS:
        _add_path(one, platform, f"write for {platform}")
    one.add_argument(
        "--class", dest="whole", metavar="FOLDER", type=Path, help="grade each of the folders in it"
    )
    _add_path(one, "csv", "scores of the class")
    one.add_argument("--checks", action="store_true", help="in the csv, a column for each check")
    one.add_argument(
        "--id",
        metavar="REGEX",
        type=_pattern,
        help="in the csv, a column with this part of a folder's name: '\\d+' for its first number",
    )
    _add_path(one, "roster", "the students of the class, as Canvas or Moodle export them")
    for book in GRADEBOOKS:
        _add_path(one, book, f"scores of the class for {book.title()}, by --roster or --id")
    _add_path(one, "moodle-feedback", "the texts for students, to upload to Moodle", "ZIP")
    _add_path(one, "by-hand", "points to add: a table of who, exercise, points, why")
    _add_path(one, "manifest", "every file of the class, and what became of it")
    _add_path(one, "reports", "a text for each of the class", "FOLDER")
    _add_path(one, "student-reports", "the same to hand out: no held-out value, no notes", "FOLDER")
    one.add_argument("--jobs", type=_whole, default=processors(), help="so many at a time")
    one.add_argument(
        "--seconds", type=_whole, default=Limits.seconds, help="for each exercise of a submission"
    )
    one.add_argument(
        "--submission-seconds", type=_whole, default=SUBMISSION_SECONDS, help="for all of them"
    )
    one.add_argument(
        "--no-wall",
        action="store_true",
        help="in a container, or for work you trust: a submission can do whatever you can",
    )

    made = _command(commands, notebooks, "the exercises as notebooks, for Jupyter or Colab")
    made.add_argument("folder", type=Path)
    made.add_argument(
        "--colab",
        metavar="ADDRESS",
        default="",
        help="where on GitHub they will be, for links to Colab: OWNER/REPOSITORY/blob/main/FOLDER",
    )

    out = _command(commands, export, "the course for students, or the grader")
    out.add_argument(
        "students",
        metavar="folder",
        nargs="?",
        type=Path,
        help="for students, without solutions",
    )
    for platform in PLATFORMS[:3]:
        kind = "ZIP" if platform == "gradescope" else "FOLDER"
        _add_path(out, platform, f"the grader for {platform}", kind)


def _add_path(parser: Any, name: str, told: str, kind: str = "FILE") -> None:
    parser.add_argument(f"--{name}", metavar=kind, type=Path, help=told)


def _command(commands: Any, function: Command, told: str) -> Any:
    parser = commands.add_parser(function.__name__, help=told)
    parser.set_defaults(function=partial(_explained, function))
    parser.add_argument(
        "--only",
        metavar="06,07",
        type=lambda text: text.replace(" ", "").split(","),
        default=[],
        help="these exercises; else all but the optional ones",
    )
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None


def _explained(command: Command, course: Course, options: argparse.Namespace) -> int:
    """Do what a command says, or print why it cannot be done."""
    try:
        if absent := missing():
            raise ValueError(f"It needs {' and '.join(absent)}, which this Python lacks.")
        from judging import PRIVATE, read_cases

        if PRIVATE.exists():  # before any grading: mistakes in them are not the students'
            read_cases(PRIVATE)
        return command(course, options)
    except (ValueError, OSError) as error:
        first, *report = told(str(error)).splitlines() or [type(error).__name__]
        say(first)
        for line in report:  # a table, which keeps its columns
            print(line)
        return CANNOT


def _warn(text: str) -> None:
    from grader.report import clean_name  # which needs NumPy

    print(clean_name(told(text)), file=sys.stderr, flush=True)


# --- grade -------------------------------------------------------------------------------------


def grade(course: Course, options: argparse.Namespace) -> int:
    """Grade a submission, or a class."""
    folder = options.whole or options.folder or course.exercises[0].work.parent
    if trouble := _trouble(folder, options):
        raise ValueError(told(trouble))
    from gradcheck_ref.conversation.child import stopped_by_signals
    from grader import wall

    exercises = course.choose(options.only)
    kind = wall.NONE if options.no_wall else wall.BUBBLEWRAP
    with (
        stopped_by_signals(),
        wall.put_up([folder], kind=kind) as put_up,
    ):
        if options.no_wall:
            _warn("no wall: a submission can do whatever you can")
        if not options.whole:
            return _grade_one(folder, exercises, put_up, options)
        return _grade_class(exercises, put_up, options)


def _trouble(folder: Path, options: argparse.Namespace) -> str:
    """Say why nothing can be graded."""
    if os.name != "posix":
        return "Grading needs Linux or macOS, for its limits; on Windows, use WSL."
    if not folder.is_dir():
        return f"{short(folder)} is not a folder; a submission is one, with 06_relu.py in it."
    if options.whole and options.folder:
        return "Name one folder: of a submission, or with --class of the submissions of a class."
    of_one = [name for name in OF_ONE if getattr(options, name)]
    if of_one and options.whole:
        return f"--{of_one[0]} is for one submission; a class has --csv, --json and --reports."
    if not options.whole and any(getattr(options, name) for name in OF_A_CLASS):
        return "--csv and --reports are for a class: grade --class FOLDER --csv scores.csv"
    books = [name for name in GRADEBOOKS if getattr(options, name)]
    if books and not (options.id or options.roster):
        return f"--{books[0]} needs --roster, a table of the class, or --id, a pattern for names."
    return ""


def _grade_one(
    folder: Path, exercises: Sequence[Exercise], wall: Any, options: argparse.Namespace
) -> int:
    """Write the report for each chosen platform, and print it."""
    from grader.clock import wait_for_a_processor
    from grader.grading import grade, load_checks
    from grader.writers import WRITERS, text

    checks, limits = load_checks(exercises), Limits(seconds=options.seconds)
    report = grade(folder, checks, wall, limits)
    if report.failed:
        failed = [one.name for one in report.exercises if one.failed]
        wait_for_a_processor(QUIET_SECONDS)
        again = [one for one in checks if one.exercise.name in failed]
        report = report.completed_by(grade(folder, again, wall, replace(limits, alone=True)))
    asked = ((getattr(options, platform), write) for platform, write in WRITERS.items())
    made = [(path, write(report)) for path, write in asked if path]  # before any is written
    for path, content in made:
        path.write_text(content, encoding="utf-8")
    print(text(report), end="")
    return NOT_ALL if report.failed else DONE


def _grade_class(exercises: Sequence[Exercise], wall: Any, options: argparse.Namespace) -> int:
    """Grade the submissions that are not graded yet, and write the files, even after a stop."""
    from catalogue import spoken
    from grader.by_hand import read_by_hand
    from grader.classes import Task, grade_class
    from grader.collected import belonging_to_nobody, is_left_by_a_program, submissions
    from grader.identity import what_to_do
    from grader.late import read_late
    from grader.manifest import manifest
    from grader.report import number
    from grader.roster import read_roster
    from grader.tables import (
        Identities,
        Journal,
        fingerprint_of_course,
        write_class,
        write_table,
    )

    students = read_roster(options.roster) if options.roster else []
    read_late(read_course())  # a mistake in it is found before any grading
    by_hand = read_by_hand(options.by_hand, read_course()) if options.by_hand else []
    everything = read_course().exercises
    found, left_out = submissions(options.whole, everything)
    if not found:
        raise ValueError(
            f"{short(options.whole)} has no folders in it; a class has one for each student."
        )
    for path, why in belonging_to_nobody(left_out):
        if not is_left_by_a_program(path):
            _warn(told(why) + told(": ") + path.name)
    for warning in _warnings_of_names(found, students, options.id):
        _warn(warning)
    limits = Limits(seconds=options.seconds)
    seconds, jobs = options.submission_seconds, options.jobs
    task = Task(tuple(exercises), wall, limits, seconds, jobs, spoken())
    mask = os.umask(0o077)  # no other user, and no submission, may read the files
    for texts in filter(None, (options.reports, options.student_reports)):
        texts.mkdir(parents=True, exist_ok=True)
    if options.manifest:
        rows = manifest(options.whole, found, left_out, exercises, everything)
        write_table(options.manifest, rows)
    place = options.csv or options.json or (options.reports and options.reports / "all")
    begun = place and place.with_name(f"{place.name}.begun")
    journal = Journal(begun, fingerprint_of_course(exercises, limits, wall.name))
    reports = {one: report for one in found if (report := journal.report(one))}
    try:
        if reports:
            _warn(f"graded before: {len(reports)}")
        for one, report in grade_class([one for one in found if one not in reports], task):
            journal.add(one, report)
            reports[one] = report
            if len(reports) % max(len(found) // 10, 1) == 0 or len(reports) == len(found):
                last = f"{report.submission}: {number(report.earned)} of {number(report.points)}"
                _warn(f"graded {len(reports)} of {len(found)}, last {last}")
    finally:
        for warning in write_class(reports, exercises, options, students, by_hand):
            _warn(warning)
        os.umask(mask)
    failed = [report.submission for report in reports.values() if report.failed]
    who = Identities(students, None, found)
    unknown = [*what_to_do(who.nobodys, who.missing())]
    if begun and not failed and not unknown:
        begun.unlink(missing_ok=True)
    for line in (*(f"could not be graded: {name}" for name in failed), *unknown):
        _warn(line)
    return NOT_ALL if failed else DONE


def _warnings_of_names(
    submissions: Sequence[Any], students: Sequence[Any], by: re.Pattern[str] | None
) -> Iterator[str]:
    """Say who is there twice, and who is in only one of roster and class."""
    from grader.identity import differences, matched
    from grader.tables import identity

    same: dict[str, list[str]] = {}
    if by:
        for one in submissions:
            same.setdefault(identity(one.name, by), []).append(one.name)
    for who, several in same.items():
        if who and len(several) > 1:
            yield f"one id, {len(several)} submissions: {who}: {', '.join(several)}"
    if students:
        yield from differences(students, submissions, matched(students, submissions))


# --- export, notebooks -------------------------------------------------------------------------


def export(course: Course, options: argparse.Namespace) -> int:
    """Write the course for students, or the grader for a platform."""
    from grader import bundles

    targets = {name: path for name in bundles.MAKERS if (path := getattr(options, name))}
    if not targets:
        raise ValueError("Where to? export FOLDER is for students; see also export --help.")
    for name, path in targets.items():
        # Students also get the optional exercises; graders get only the required ones.
        everything = name == "students" and not options.only
        exercises = course.everything if everything else course.choose(options.only)
        bundle = bundles.MAKERS[name](exercises)
        if name == "gradescope":
            path.write_bytes(bundles.zipped(bundle))
        else:
            bundles.write_folder(bundle, path)
        say(f"{short(path)}: {len(bundle)} files, for {name}.")
    return DONE


def notebooks(course: Course, options: argparse.Namespace) -> int:
    """Write the exercises as notebooks."""
    from grader.notebooks import notebook

    exercises = course.choose(options.only) if options.only else course.exercises
    options.folder.mkdir(parents=True, exist_ok=True)
    for exercise in exercises:
        path = options.folder / f"{exercise.name}.ipynb"
        made = notebook(exercise, options.colab.strip("/"))
        path.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        say(short(path))
    return DONE
