"""What an instructor does: ``run.py grade`` and ``run.py export``."""

import argparse
import contextlib
import csv
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

from course import Course, Exercise, missing
from screen import say, short, width

DONE, CANNOT = 0, 2
PLATFORMS = ("gradescope", "prairielearn", "classroom50", "junit", "json")


def add_commands(commands: Any) -> None:
    """Add the two commands to the parser."""
    one = commands.add_parser("grade", help="points for a submission, or for those of a class")
    one.add_argument("folder", nargs="?", type=Path, help="of the submission; else work/")
    _add_only(one)
    for platform in PLATFORMS:
        one.add_argument(f"--{platform}", metavar="FILE", type=Path, help=f"write for {platform}")
    whole = "grade each of the folders in it"
    one.add_argument("--class", dest="whole", metavar="FOLDER", type=Path, help=whole)
    one.add_argument("--csv", metavar="FILE", type=Path, help="scores of the class")
    one.add_argument("--reports", metavar="FOLDER", type=Path, help="a text for each of the class")
    jobs = os.cpu_count() or 1
    one.add_argument("--jobs", type=_whole, default=jobs, help="so many at a time")
    one.add_argument("--seconds", type=_whole, help="for each exercise of a submission")
    one.set_defaults(function=grade)

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
        help="these exercises; else all",
    )


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def grade(course: Course, options: argparse.Namespace) -> int:
    """Grade a submission, or a class."""
    folder = options.whole or options.folder or course.exercises[0].work.parent
    if trouble := _trouble(folder, options):
        say(trouble)
        return CANNOT
    import grading
    from sandbox import Limits

    limits = Limits() if options.seconds is None else Limits(seconds=options.seconds)
    try:
        exercises = grading.chosen(course, options.only)
        _read_private_cases()
        if options.whole:
            total = len(grading.submissions(folder))
            if not total:
                say(f"{short(folder)} has no folders in it; a class is one for each submission.")
                return CANNOT
            reports = grading.grade_class(folder, exercises, jobs=options.jobs, limits=limits)
            _write_class(reports, total, exercises, options)
        else:
            _write_one(grading.grade(folder, exercises, limits=limits), options)
    except BrokenExecutor:
        say("The system ended the grader, perhaps for memory: try again, with fewer --jobs.")
        return CANNOT
    except (ValueError, OSError) as error:
        _say_why(error)
        return CANNOT
    return DONE


def _say_why(error: Exception) -> None:
    """Print an error, of which all but the first line is a report, and keeps its columns."""
    first, *report = str(error).splitlines() or [type(error).__name__]
    say(first)
    for line in report:
        print(line)


def _read_private_cases() -> None:
    """Read them before anybody is graded by them: their mistakes are not the students'."""
    from judging import PRIVATE, read_cases

    if PRIVATE.exists():
        read_cases(PRIVATE)


def _trouble(folder: Path, options: argparse.Namespace) -> str:
    """Say why nothing can be graded."""
    if os.name != "posix":
        return "Grading needs Linux or macOS, for its limits; on Windows, use WSL."
    if absent := missing():
        return f"Grading needs {' and '.join(absent)}, which this Python does not have."
    if not folder.is_dir():
        return f"{short(folder)} is no folder; a submission is one, with files such as 06_relu.py."
    if options.whole and options.folder:
        return "Name one folder: of a submission, or with --class of the submissions of a class."
    of_class = options.csv or options.reports
    of_one = [platform for platform in PLATFORMS if getattr(options, platform)]
    if of_class and not options.whole:
        return "--csv and --reports are for a class: grade --class FOLDER --csv scores.csv"
    if of_one and options.whole:
        return f"--{of_one[0]} is for one submission; a class has --csv and --reports."
    return ""


def _write_one(report: Any, options: argparse.Namespace) -> None:
    """Write the report for each platform that is asked for, and print it for a reader."""
    from writers import text, writers

    asked = ((getattr(options, platform), write) for platform, write in writers(os.environ).items())
    made = [(path, write(report)) for path, write in asked if path]  # all, before any is written
    for path, content in made:
        path.write_text(content, encoding="utf-8")
    print(text(report), end="")


def _write_class(
    reports: Iterable[Any], total: int, exercises: Sequence[Exercise], options: argparse.Namespace
) -> None:
    """Write a row for each submission as it comes, and a text for each if that is asked for."""
    from writers import number, score_head, score_row, text

    if options.reports:
        options.reports.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        out = sys.stdout
        if options.csv:
            out = stack.enter_context(options.csv.open("w", encoding="utf-8", newline=""))
        table = csv.writer(out, lineterminator="\n")
        table.writerow(score_head(exercises))
        for i, report in enumerate(reports, 1):
            table.writerow(score_row(report))
            out.flush()
            if options.reports:
                (options.reports / f"{report.submission}.txt").write_text(
                    text(report), encoding="utf-8"
                )
            points = f"{number(report.earned)} of {number(report.points)}"
            _progress(i, total, f"{report.submission}: {points}")


def _progress(i: int, total: int, last: str) -> None:
    """Show how far it is: one line that changes on a terminal, every tenth elsewhere."""
    line = f"graded {i} of {total}, last {last}"
    if sys.stderr.isatty():
        end = "\n" if i == total else ""
        print(f"\r{line[: width() - 1].ljust(width() - 1)}", end=end, file=sys.stderr, flush=True)
    elif i == total or i % max(total // 10, 1) == 0:
        print(line, file=sys.stderr, flush=True)


def export(course: Course, options: argparse.Namespace) -> int:
    """Write the course for students, or the grader for a platform."""
    if absent := missing():
        say(f"A bundle needs {' and '.join(absent)}, which this Python does not have.")
        return CANNOT
    import bundles
    from grading import chosen

    targets = {name: getattr(options, name) for name in bundles.GRADERS if getattr(options, name)}
    if options.folder:
        targets["students"] = options.folder
    if not targets:
        say("Where to? export FOLDER is for students; see also export --help.")
        return CANNOT
    try:
        exercises = chosen(course, options.only)
        _read_private_cases()
        for name, path in targets.items():
            bundle = {**bundles.GRADERS, "students": bundles.students}[name](exercises)
            write = bundles.write_zip if name == "gradescope" else bundles.write_folder
            write(bundle, path)
            say(f"{short(path)}: {len(bundle)} files, for {name}.")
    except (ValueError, OSError) as error:
        _say_why(error)
        return CANNOT
    return DONE
