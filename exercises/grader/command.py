"""The commands for instructors: ``run.py grade``, ``run.py export`` and ``run.py notebooks``."""

import argparse
import contextlib
import csv
import importlib.util
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from course import Course, Exercise, missing
from screen import say, short, width

DONE, NOT_ALL, CANNOT = 0, 1, 2
GRADEBOOKS = ("canvas", "moodle")
PLATFORMS = ("gradescope", "prairielearn", "classroom50", "junit", "json")
SUBMISSION_SECONDS = 600
LONGEST_NAME = 150  # bytes of the name of a report


def add_commands(commands: Any) -> None:
    """Add the commands to the parser."""
    one = commands.add_parser("grade", help="points for a submission, or for those of a class")
    one.add_argument("folder", nargs="?", type=Path, help="of the submission; else work/")
    _add_only(one)
    for platform in PLATFORMS:
        one.add_argument(f"--{platform}", metavar="FILE", type=Path, help=f"write for {platform}")
    whole = "grade each of the folders in it"
    one.add_argument("--class", dest="whole", metavar="FOLDER", type=Path, help=whole)
    one.add_argument("--csv", metavar="FILE", type=Path, help="scores of the class")
    one.add_argument("--checks", action="store_true", help="in the csv, a column for each check")
    student = "in the csv, a column with this part of a folder's name: '\\d+' for its first number"
    one.add_argument("--id", metavar="REGEX", type=_pattern, help=student)
    for book in GRADEBOOKS:
        told = f"scores of the class for {book.title()}, by --id"
        one.add_argument(f"--{book}", metavar="FILE", type=Path, help=told)
    one.add_argument("--reports", metavar="FOLDER", type=Path, help="a text for each of the class")
    open_ones = "the same to hand out: no held-out value, no notes"
    one.add_argument("--student-reports", metavar="FOLDER", type=Path, help=open_ones)
    jobs = os.cpu_count() or 1
    one.add_argument("--jobs", type=_whole, default=jobs, help="so many at a time")
    one.add_argument("--seconds", type=_whole, help="for each exercise of a submission")
    one.add_argument(
        "--submission-seconds", type=_whole, default=SUBMISSION_SECONDS, help="for all of them"
    )
    open_to_all = "in a container, or for work you trust: a submission can do whatever you can"
    one.add_argument("--no-wall", action="store_true", help=open_to_all)
    one.set_defaults(function=grade)

    made = commands.add_parser("notebooks", help="the exercises as notebooks, for Jupyter or Colab")
    made.add_argument("folder", type=Path)
    _add_only(made)
    where = "where on GitHub they will be, for links to Colab: OWNER/REPOSITORY/blob/main/FOLDER"
    made.add_argument("--colab", metavar="ADDRESS", default="", help=where)
    made.set_defaults(function=notebooks)

    out = commands.add_parser("export", help="the course for students, or the grader")
    out.add_argument("folder", nargs="?", type=Path, help="for students, without solutions")
    _add_only(out)
    out.add_argument("--gradescope", metavar="ZIP", type=Path, help="the autograder's zip file")
    for platform in ("prairielearn", "classroom50"):
        out.add_argument(f"--{platform}", metavar="FOLDER", type=Path)
    out.set_defaults(function=export)


def _add_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only",
        metavar="06,07",
        type=lambda text: text.replace(" ", "").split(","),
        default=[],
        help="these exercises; else all but the optional ones",
    )


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None


# --- grade -------------------------------------------------------------------------------------


def grade(course: Course, options: argparse.Namespace) -> int:
    """Grade a submission, or a class."""
    folder = options.whole or options.folder or course.exercises[0].work.parent
    if trouble := _trouble(folder, options):
        say(trouble)
        return CANNOT
    from grader import wall

    try:
        exercises = course.choose(options.only)
        _read_private_cases()
        with (
            _heeding_the_system(),
            tempfile.TemporaryDirectory(prefix="class-") as collected,
            _a_wall([folder, Path(collected)], no_wall=options.no_wall) as put_up,
        ):
            if options.whole:
                folders = _folders_of(folder, Path(collected), options.id)
                graded = _grade_class(folders, exercises, put_up, options)
            else:
                graded = _grade_one(folder, exercises, put_up, options)
            return DONE if graded else NOT_ALL
    except wall.NoWallError as refusal:
        say("The grader runs a submission behind bubblewrap, which does not work here:")
        say(str(refusal), indent=2)
        say(
            "In a container that holds only the course and the submissions, add --no-wall: the "
            "container is the wall. Elsewhere a submission can then do whatever you can."
        )
        return CANNOT
    except (ValueError, OSError) as error:
        _say_why(error)
        return CANNOT


def _say_why(error: Exception) -> None:
    """Print an error; all lines after the first are a report, and keep their columns."""
    first, *report = str(error).splitlines() or [type(error).__name__]
    say(first)
    for line in report:
        print(line)


def _read_private_cases() -> None:
    """Read the cases before any grading: mistakes in them are not the students'."""
    from judging import PRIVATE, read_cases

    if PRIVATE.exists():
        read_cases(PRIVATE)


@contextlib.contextmanager
def _heeding_the_system() -> Iterator[None]:
    """Treat SIGTERM or a closed terminal like Ctrl-C, so that everything is cleaned up."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _a_wall(hidden: Sequence[Path], *, no_wall: bool) -> Iterator[Any]:
    from grader import wall

    with wall.put_up(hidden, kind=wall.NONE if no_wall else wall.BUBBLEWRAP) as put_up:
        if no_wall:
            warning = "no wall: a submission can do whatever you can"
            print(warning, file=sys.stderr, flush=True)
        yield put_up


def _trouble(folder: Path, options: argparse.Namespace) -> str:
    """Say why nothing can be graded."""
    if os.name != "posix":
        return "Grading needs Linux or macOS, for its limits; on Windows, use WSL."
    if absent := missing():
        return f"Grading needs {' and '.join(absent)}, which this Python does not have."
    if not folder.is_dir():
        return (
            f"{short(folder)} is not a folder; a submission is one, with files such as 06_relu.py."
        )
    if options.whole and options.folder:
        return "Name one folder: of a submission, or with --class of the submissions of a class."
    books = [name for name in GRADEBOOKS if getattr(options, name)]
    reports = options.reports or options.student_reports
    of_class = options.csv or reports or options.checks or options.id or books
    of_one = [name for name in PLATFORMS if name != "json" and getattr(options, name)]
    if of_class and not options.whole:
        return "--csv and --reports are for a class: grade --class FOLDER --csv scores.csv"
    if of_one and options.whole:
        return f"--{of_one[0]} is for one submission; a class has --csv, --json and --reports."
    if books and not options.id:
        return f"--{books[0]} needs --id: a pattern that finds the student's id in a folder's name."
    return ""


def _limits(options: argparse.Namespace) -> Any:
    from grader.limits import Limits

    return Limits() if options.seconds is None else Limits(seconds=options.seconds)


def _grade_one(
    folder: Path, exercises: Sequence[Exercise], wall: Any, options: argparse.Namespace
) -> bool:
    """Write the report for each chosen platform, and print it."""
    from grader.grading import grade, load_checks
    from grader.writers import text, writers

    report = grade(folder, load_checks(exercises), wall, _limits(options))
    asked = ((getattr(options, platform), write) for platform, write in writers(os.environ).items())
    made = [(path, write(report)) for path, write in asked if path]  # before any is written
    for path, content in made:
        path.write_text(content, encoding="utf-8")
    print(text(report), end="")
    return not report.failed


def _folders_of(folder: Path, collected: Path, by: re.Pattern[str] | None) -> list[Path]:
    """Return the submissions of a class, each a folder; warn of anything strange."""
    from grader.classes import sort_collected, submissions
    from grader.writers import shared

    left_out = sort_collected(folder, collected)
    folders = submissions(folder) + submissions(collected)
    if not folders:
        raise ValueError(f"{short(folder)} has no folders in it; a class has one for each student.")
    for name in left_out:
        print(f"no student's name, not graded: {name}", file=sys.stderr)
    twice = shared([one.name for one in folders], by) if by else {}
    for who, several in twice.items():
        print(f"one id, {len(several)} submissions: {who}: {', '.join(several)}", file=sys.stderr)
    return folders


def _grade_class(
    folders: Sequence[Path], exercises: Sequence[Exercise], wall: Any, options: argparse.Namespace
) -> bool:
    """Grade the submissions that are not graded yet, and write each report when it is ready."""
    from grader.classes import Task, grade_class
    from grader.journal import Journal, fingerprint_of_course

    limits = _limits(options)
    place = options.csv or options.json or (options.reports and options.reports / "all")
    journal = None
    if place:
        known_by = fingerprint_of_course(exercises, limits, wall.name)
        journal = Journal(place.with_name(f"{place.name}.begun"), known_by)
    task = Task(tuple(exercises), wall, limits, options.submission_seconds, options.jobs)
    with _Outputs(exercises, options) as outputs:
        found = [(one, journal.report(one) if journal else None) for one in folders]
        for one, report in found:
            if report:
                outputs.add(one, report)
        if outputs.reports:
            print(f"graded before: {len(outputs.reports)}", file=sys.stderr, flush=True)
        for one, report in grade_class([one for one, known in found if not known], task):
            if journal:
                journal.add(one, report)
            outputs.add(one, report)
            _progress(len(outputs.reports), len(folders), report)
    if journal and not outputs.failed:
        journal.remove()
    for name in outputs.failed:
        print(f"could not be graded: {name}", file=sys.stderr, flush=True)
    return not outputs.failed


class _Outputs:
    """The files about a class: a row and a text for each report, sorted at the end."""

    def __init__(self, exercises: Sequence[Exercise], options: argparse.Namespace) -> None:
        self.exercises, self.options = exercises, options
        self.reports: dict[Path, Any] = {}
        self._table: Any = None
        self._mask = 0

    @property
    def failed(self) -> list[str]:
        """Those of which something could not be graded."""
        return [report.submission for report in self.reports.values() if report.failed]

    def __enter__(self) -> "_Outputs":
        """Begin the table. No other user, and no submission, may read the files."""
        self._mask = os.umask(0o077)
        for place in (self.options.reports, self.options.student_reports):
            if place:
                place.mkdir(parents=True, exist_ok=True)
        if self.options.csv:
            self._table = self.options.csv.open("w", encoding="utf-8", newline="")
            self._write(self._table, [])
        return self

    def add(self, folder: Path, report: Any) -> None:
        """Write the report on one submission."""
        from grader.writers import score_row

        self.reports[folder] = report
        if self._table:
            row = score_row(report, self.options.id, checks=self.options.checks)
            csv.writer(self._table, lineterminator="\n").writerow(row)
            self._table.flush()
        self._write_texts(folder, report)

    def _write_texts(self, folder: Path, report: Any) -> None:
        from grader.writers import text

        name = f"{_file_name(folder.name)}.txt"
        if self.options.reports:
            (self.options.reports / name).write_text(text(report), encoding="utf-8")
        if self.options.student_reports:
            open_text = text(report, student=True)
            (self.options.student_reports / name).write_text(open_text, encoding="utf-8")

    def __exit__(self, *_: object) -> None:
        """Write the table again, sorted by name, and the other files, even after a stop."""
        try:
            self._write_all()
        finally:
            os.umask(self._mask)

    def _write_all(self) -> None:
        from grader.alike import noted
        from grader.writers import neutral_class

        by_folder = noted(self.reports, self.exercises)
        for folder, report in by_folder.items():
            if report is not self.reports[folder]:
                self._write_texts(folder, report)
        reports = [by_folder[folder] for folder in sorted(by_folder, key=lambda one: one.name)]
        if self._table:
            if self._table.seekable():
                self._table.seek(0)
                self._table.truncate()
                self._write(self._table, reports)
            self._table.close()
        else:
            self._write(sys.stdout, reports)
        for book in GRADEBOOKS:
            if path := getattr(self.options, book):
                self._write_book(book, path, reports)
        if self.options.json:
            self.options.json.write_text(neutral_class(reports), encoding="utf-8")

    def _write_book(self, book: str, path: Path, reports: Sequence[Any]) -> None:
        from grader.writers import GRADEBOOKS as WRITERS
        from grader.writers import known

        with path.open("w", encoding="utf-8", newline="") as out:
            rows = WRITERS[book](self.exercises, reports, self.options.id)
            csv.writer(out, lineterminator="\n").writerows(rows)
        told = {report.submission for report, _ in known(reports, self.options.id)}
        for report in reports:
            if report.submission not in told:
                print(f"not in {path.name}: {report.submission}", file=sys.stderr)

    def _write(self, out: Any, reports: Sequence[Any]) -> None:
        from grader.writers import score_head, score_row

        by, checks = self.options.id, self.options.checks
        table = csv.writer(out, lineterminator="\n")
        table.writerow(score_head(self.exercises, by, checks=checks))
        table.writerows(score_row(report, by, checks=checks) for report in reports)
        out.flush()


def _file_name(name: str) -> str:
    """Return a name for a report: that of the folder may be as long as the system allows."""
    if len(os.fsencode(name)) <= LONGEST_NAME:
        return name
    return f"{name[:30]}-{sha256(os.fsencode(name)).hexdigest()[:12]}"


def _progress(i: int, total: int, report: Any) -> None:
    """Show the progress: one changing line on a terminal, elsewhere every tenth report."""
    from grader.writers import number

    last = f"{report.submission}: {number(report.earned)} of {number(report.points)}"
    line = f"graded {i} of {total}, last {last}"
    if sys.stderr.isatty():
        end = "\n" if i == total else ""
        print(f"\r{line[: width() - 1].ljust(width() - 1)}", end=end, file=sys.stderr, flush=True)
    elif i == total or i % max(total // 10, 1) == 0:
        print(line, file=sys.stderr, flush=True)


# --- export ------------------------------------------------------------------------------------


def export(course: Course, options: argparse.Namespace) -> int:
    """Write the course for students, or the grader for a platform."""
    if absent := missing():
        say(f"A bundle needs {' and '.join(absent)}, which this Python does not have.")
        return CANNOT
    from grader import bundles

    targets = {name: getattr(options, name) for name in bundles.GRADERS if getattr(options, name)}
    if options.folder:
        targets["students"] = options.folder
    if not targets:
        say("Where to? export FOLDER is for students; see also export --help.")
        return CANNOT
    try:
        _read_private_cases()
        for name, path in targets.items():
            # Students also get the optional exercises; graders get only the required ones.
            everything = name == "students" and not options.only
            exercises = course.everything if everything else course.choose(options.only)
            bundle = {**bundles.GRADERS, "students": bundles.students}[name](exercises)
            write = bundles.write_zip if name == "gradescope" else bundles.write_folder
            write(bundle, path)
            say(f"{short(path)}: {len(bundle)} files, for {name}.")
    except (ValueError, OSError) as error:
        _say_why(error)
        return CANNOT
    return DONE


# --- notebooks ---------------------------------------------------------------------------------


def notebooks(course: Course, options: argparse.Namespace) -> int:
    """Write the exercises as notebooks."""
    if importlib.util.find_spec("nbformat") is None or missing():
        say("Notebooks are made with NumPy and nbformat: pip install nbformat, or, in a clone,")
        print("\n    pip install '.[notebook]'\n")
        return CANNOT
    from grader.notebooks import write

    try:
        exercises = course.choose(options.only) if options.only else course.exercises
        options.folder.mkdir(parents=True, exist_ok=True)
        for exercise in exercises:
            say(short(write(exercise, options.folder, options.colab.strip("/"))))
    except (ValueError, OSError) as error:
        _say_why(error)
        return CANNOT
    return DONE
