"""``gradcheck-ref check``: check all that a program claims to know of its function."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradcheck_ref.check.gradient import check_gradient
from gradcheck_ref.check.products import check_jvp, check_vjp
from gradcheck_ref.check.report.prose import visible
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.words import for_a_command
from gradcheck_ref.child import stopped_by_signals
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.function import ProgramFunction, from_command
from gradcheck_ref.programs.point_file import read_point
from gradcheck_ref.programs.program import FIRST_TIMEOUT, TIMEOUT
from gradcheck_ref.programs.verdicts import (
    NOT_JUDGED,
    Outcome,
    called,
    not_judged,
    not_judged_as_data,
)

EPILOG = (
    "The program reads requests from standard input and writes replies to standard output, a line "
    "of JSON each. Exit status: 0 pass, 1 fail, 3 unsure, 2 nothing could be judged."
)
STOPPED = "the check was stopped"


def add_check(commands: Any) -> None:
    """Add the command to those of the command line (what ``add_subparsers`` returns)."""
    said = "Check the gradient of a function that lives in a program, in any language."
    parser = commands.add_parser(
        "check",
        help="check a program's gradient",
        description=said,
        epilog=EPILOG,
        usage="%(prog)s [options] -- ./program [ARGUMENT ...]",
    )
    for option, told in (
        ("--rtol", "allowed error as a fraction of the numeric value (by default by dtype: 1e-6)"),
        ("--atol", "further allowed error (by default by the size of the gradient)"),
    ):
        parser.add_argument(option, type=float, metavar="R", help=told)
    for option, told, usual in (
        ("--seed", "for what is drawn at random (%(default)s)", 0),
        ("--max-evaluations", "most values that are asked for", None),
    ):
        parser.add_argument(option, type=int, metavar="N", default=usual, help=told)
    parser.add_argument(
        "--inputs", metavar="w,b", help="check these inputs, and leave the others where they are"
    )
    parser.add_argument(
        "--point",
        metavar="FILE",
        help='a JSON file: {"w": [[1, 2], [3, 4]], "b": 0.5}, or as the protocol writes a point',
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", default=1, help="start so many programs; -1: as cores"
    )
    for option, told, seconds in (
        ("--timeout", "how long a value may take (%(default)g)", TIMEOUT),
        (
            "--first-timeout",
            "the same for first replies: compilers (%(default)g)",
            FIRST_TIMEOUT,
        ),
    ):
        parser.add_argument(option, type=float, metavar="SECONDS", default=seconds, help=told)
    parser.add_argument("--json", action="store_true", help="print the result as data")
    parser.add_argument("--junit", metavar="FILE", help="also write the result as JUnit XML")
    parser.set_defaults(refuse=parser.error)


def check(
    options: argparse.Namespace,
    command: Sequence[str],
    *,
    write: Callable[[str], object],
    complain: Callable[[str], object],
    width: int,
) -> int:
    """Carry out ``check``.

    Parameters
    ----------
    options : argparse.Namespace
        What ``add_check`` has read.
    command : sequence of str
        What stands after ``--``.
    write, complain : callable
        Where the result goes, and where it goes that nothing could be judged.
    width : int
        How wide the text may be.

    Returns
    -------
    int
        The exit status.
    """
    if not command:
        options.refuse("what is to be checked? Give its command after --")
    # What stands there until the check has come to its end: it may never do so.
    begun = not_judged(called(command), f"{STOPPED}, or is still under way")
    if options.junit and (why := _why_not_kept(options.junit, begun)):
        if options.json:
            write(as_data(command, why))
        complain(f"{why}: nothing was checked\n")
        return NOT_JUDGED
    with for_a_command(), stopped_by_signals():
        try:
            outcome = _outcome(options, command, complain)
        except KeyboardInterrupt:
            if options.json:
                write(as_data(command, STOPPED))
            raise
        if isinstance(outcome, Outcome):
            write(_written(outcome.to_dict()) if options.json else outcome.text(width))
            status, junit = outcome.status, outcome.junit()
        else:
            if options.json:
                write(as_data(command, outcome))
            complain(f"{visible(outcome)}\n")
            status, junit = NOT_JUDGED, not_judged(called(command), outcome)
    if options.junit and (why := _why_not_kept(options.junit, junit)):
        complain(f"{why}\n")
        return NOT_JUDGED
    return status


def as_data(command: Sequence[str], why: str) -> str:
    """Write as data that nothing could be judged."""
    return _written(not_judged_as_data(command, why))


def _why_not_kept(path: str, junit: str) -> str:
    """Write a file; say why, if that cannot be done."""
    try:
        Path(path).write_text(junit, encoding="utf-8")
    except OSError as error:
        return f"cannot write {path}: {error.strerror}"
    return ""


def _outcome(
    options: argparse.Namespace, command: Sequence[str], complain: Callable[[str], object]
) -> Outcome | str:
    """Return what comes of a check, or why it could not be made."""
    f: ProgramFunction | None = None
    try:
        with from_command(
            command,
            inputs=_names(options),
            point=_point(options),
            workers=options.workers,
            timeout=options.timeout,
            first_timeout=options.first_timeout,
            tell=lambda said: complain(f"{visible(f'{called(command)}: {said}')}\n"),
        ) as f:
            return Outcome(f.name, command, _reports(f, options), f.notes)
    except (ProgramError, ValueError, TypeError) as error:
        noticed = f.notes if f is not None else ()
        return "; ".join([f"{called(command)} could not be judged: {error}", *noticed])


def _reports(f: ProgramFunction, options: argparse.Namespace) -> dict[str, Report]:
    """Check all that it answers."""
    knobs = {
        "rtol": options.rtol,
        "atol": options.atol,
        "max_evaluations": options.max_evaluations,
        "seed": options.seed,
    }
    if not f.answers:
        raise ProgramError("it answers neither gradient nor vjp nor jvp: there is nothing to check")
    reports = {}
    for what in f.answers:
        if what == "gradient":
            reports[what] = check_gradient(f, f.inputs, f.gradient, **knobs)
        else:
            product = check_vjp if what == "vjp" else check_jvp
            reports[what] = product(f, f.inputs, **knobs)
    return reports


def _names(options: argparse.Namespace) -> list[str] | None:
    if options.inputs is None:
        return None
    return [name for part in options.inputs.split(",") if (name := part.strip())]


def _point(options: argparse.Namespace) -> dict[str, Any] | None:
    if options.point is None:
        return None
    try:
        return read_point(Path(options.point).read_bytes())
    except OSError as error:
        raise ValueError(f"cannot read {options.point}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{options.point} is no point: {error}") from None


def _written(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, allow_nan=False) + "\n"
