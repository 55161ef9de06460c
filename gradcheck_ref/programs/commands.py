"""``gradcheck-ref check``: check every derivative that a program offers."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gradcheck_ref.check.gradient import check_gradient
from gradcheck_ref.check.products import check_jvp, check_vjp
from gradcheck_ref.check.report.annotation import on_github
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.report.text import visible
from gradcheck_ref.check.words import for_a_command
from gradcheck_ref.conversation.child import stopped_by_signals
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.function import ProgramFunction, from_command
from gradcheck_ref.programs.point_file import read_point
from gradcheck_ref.programs.program import FIRST_TIMEOUT, TIMEOUT
from gradcheck_ref.programs.verdicts import Outcome, called

EPILOG = (
    "The program reads requests from standard input and writes replies to standard output, one "
    "line of JSON each. Exit status: 0 pass, 1 fail, 3 unsure, 2 nothing could be judged."
)
STOPPED = "the check was stopped"


def add_check(commands: Any) -> None:
    """Add the command to the command line (the result of ``add_subparsers``)."""
    parser = commands.add_parser(
        "check",
        help="check a program's gradient",
        description="Check the gradient of a function that lives in a program, in any language.",
        epilog=EPILOG,
        usage="%(prog)s [options] -- ./program [ARGUMENT ...]",
    )
    add = parser.add_argument
    add("--rtol", type=float, metavar="R", help="allowed error as a fraction (by default by dtype)")
    add("--atol", type=float, metavar="R", help="further allowed error (by default by scale)")
    add("--seed", type=int, metavar="N", default=0, help="chooses the random numbers (0)")
    add("--max-evaluations", type=int, metavar="N", help="the most values to ask for")
    add("--no-company", action="store_true", help="do not ask a vjp at another point in between")
    add("--inputs", metavar="w,b", help="check these inputs, and do not move the others")
    add("--point", metavar="FILE", help='a JSON file: {"w": [[1, 2], [3, 4]], "b": 0.5}')
    add("--workers", type=int, metavar="N", default=1, help="programs to start; -1: one per core")
    add("--timeout", type=float, metavar="S", default=TIMEOUT, help="seconds for a value")
    first = "seconds for a first value, in case it compiles"
    add("--first-timeout", type=float, metavar="S", default=FIRST_TIMEOUT, help=first)
    add("--json", action="store_true", help="print the result as data")
    add("--junit", metavar="FILE", help="also write the result as JUnit XML")
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
        The options that ``add_check`` defines.
    command : sequence of str
        The words after ``--``.
    write, complain : callable
        Called with the result, and with the reason if nothing could be judged.
    width : int
        The largest width of the text.

    Returns
    -------
    int
        The exit status.
    """
    if not command:
        options.refuse("there is no program to check: give its command after --")
    # The file says this until the check has finished, which may never happen.
    begun = Outcome(command, why=f"{STOPPED}, or is still under way")
    if why := _not_kept(options, begun):
        if options.json:
            write(as_data(command, why))
        complain(f"{why}: nothing was checked\n")
        return begun.status
    with for_a_command(), stopped_by_signals():
        try:
            outcome = _outcome(options, command, complain)
        except KeyboardInterrupt:
            if options.json:
                write(as_data(command, STOPPED))
            raise
        if options.json or not outcome.why:
            write(_written(outcome) if options.json else outcome.text(width))
        if outcome.why:
            complain(f"{visible(outcome.why)}\n")
        if on_github():  # it reads both streams
            complain("".join(f"{line}\n" for line in outcome.annotations()))
    if why := _not_kept(options, outcome):
        complain(f"{why}\n")
        return begun.status
    return outcome.status


def as_data(command: Sequence[str], why: str) -> str:
    """Write, as data, that nothing could be judged."""
    return _written(Outcome(command, why=why))


def _written(outcome: Outcome) -> str:
    return json.dumps(outcome.to_dict(), indent=2, allow_nan=False) + "\n"


def _not_kept(options: argparse.Namespace, outcome: Outcome) -> str:
    """Write the JUnit file if there should be one; return the error if that is impossible."""
    try:
        if options.junit:
            Path(options.junit).write_text(outcome.junit(), encoding="utf-8")
    except OSError as error:
        return f"cannot write {options.junit}: {error.strerror}"
    return ""


def _outcome(
    options: argparse.Namespace, command: Sequence[str], complain: Callable[[str], object]
) -> Outcome:
    """Return the outcome of a check."""
    f: ProgramFunction | None = None
    how = {n: getattr(options, n) for n in ("workers", "timeout", "first_timeout")}
    try:
        with from_command(
            command,
            inputs=None if options.inputs is None else options.inputs.replace(",", " ").split(),
            point=_point(options),
            **how,
            tell=lambda said: complain(f"{visible(f'{called(command)}: {said}')}\n"),
        ) as f:
            return Outcome(command, f.name, _reports(f, options), f.notes)
    except (ProgramError, ValueError, TypeError) as error:
        why = f"{called(command)} could not be judged: {error}"
        return Outcome(command, why="; ".join([why, *(f.notes if f is not None else ())]))


def _reports(f: ProgramFunction, options: argparse.Namespace) -> dict[str, Report]:
    """Check every derivative that the program answers."""
    if not f.answers:
        raise ProgramError("it answers no gradient, vjp or jvp: there is nothing to check")
    knobs = {n: getattr(options, n) for n in ("rtol", "atol", "max_evaluations", "seed")}
    checks = {
        "gradient": lambda: check_gradient(f, f.inputs, f.gradient, **knobs),
        "vjp": lambda: check_vjp(f, f.inputs, company=not options.no_company, **knobs),
        "jvp": lambda: check_jvp(f, f.inputs, **knobs),
    }
    return {what: checks[what]() for what in f.answers}


def _point(options: argparse.Namespace) -> dict[str, Any] | None:
    if options.point is None:
        return None
    try:
        return read_point(Path(options.point).read_bytes())
    except OSError as error:
        raise ValueError(f"cannot read {options.point}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{options.point} is not a point: {error}") from None
