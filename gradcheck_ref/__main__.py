"""The command line: ``python -m gradcheck_ref``, also installed as ``gradcheck-ref``."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn, TextIO

from gradcheck_ref import __version__
from gradcheck_ref.oracle.commands import add_oracle, oracle, write_no_result
from gradcheck_ref.programs.commands import add_check, as_data, check
from gradcheck_ref.tour import told, tour

STOPPED = 2
TEST = ("oracle test", "my-checker")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tour, the check of a program, or the oracle.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line; by default that of the process.

    Returns
    -------
    int
        The exit status. The tour returns 0 if the right gradient passed and the wrong one was
        caught, else 1; the oracle returns 0 if the implementation it judged is right, else 1; the
        check returns 0 if the gradient is right, 1 if it is wrong, 3 if it is unsure. All return
        2 if they are stopped, or if their output cannot be written or is not read to the end.
        (For bad arguments argparse exits with status 2, too.)
    """
    if sys.stdout is None:  # it is closed; the exit status still carries the answer
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader, such as head, has stopped reading
        _drop(sys.stdout)
        return STOPPED
    except OSError as error:  # a full disk, say; a traceback would exit with 1, as a fail does
        _drop(sys.stdout)
        try:
            print(f"gradcheck-ref: {error}", file=sys.stderr, flush=True)
        except OSError:
            _drop(sys.stderr)
        return STOPPED
    return status


def _drop(stream: TextIO) -> None:
    """Discard what is left to be written; otherwise Python reports an error when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _parser_class(tell: Callable[[str], object]) -> type[argparse.ArgumentParser]:
    """Return a parser class that calls ``tell`` before an error; its commands use it, too."""

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            tell(message)
            super().error(message)

    return Parser


def _run(given: list[str]) -> int:
    # The words after -- are the command of another program: argparse must not see them.
    at = given.index("--") if "--" in given else len(given)

    def tell(wrong: str) -> None:
        if given[:1] == ["check"] and "--json" in given[:at]:
            _at_once(as_data(given[at + 1 :], wrong))
        if given[:1] == ["oracle"]:
            write_no_result(given[:at], wrong, _at_once)

    parser = _parser_class(tell)(
        prog="gradcheck-ref",
        description="A tour: five ways to check a gradient, a network checked, a bug caught.",
    )
    parser.add_argument("--json", action="store_true", help="print the results of the tour as JSON")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="check | oracle")
    add_check(commands)
    add_oracle(commands)

    options, rest = parser.parse_known_args(given[:at])
    judges = options.command == "check" or vars(options).get("action") == "test"
    if rest and judges:
        first = "" if rest[0].startswith("-") else rest[0]
        said = " ".join(given[given.index(first) : at] if first else rest)
        asks, program = ("check", "program") if options.command == "check" else TEST
        example = f"./{program}" if at < len(given) or not first else said
        hint = f"put the program to be judged after --, as in: {asks} -- {example}"
        options.refuse(f"not understood: {said}; {hint}")
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if given[at + 1 :] and not judges:
        parser.error(f"{given[at + 1]}: only check and oracle test take a command after --")
    if options.command == "check":
        return check(
            options,
            given[at + 1 :],
            write=_at_once,
            complain=sys.stderr.write,
            width=max(shutil.get_terminal_size().columns, 40),
        )
    if options.command == "oracle":
        return oracle(
            options,
            given[at + 1 :],
            name=f"gradcheck_ref {__version__}",
            lines=sys.stdin,
            write=_at_once,
            progress=_progress if sys.stderr.isatty() else None,
        )
    return _tour(options)


def _tour(options: argparse.Namespace) -> int:
    width = max(shutil.get_terminal_size().columns, 40)
    results = tour(width=min(width, 88))
    if options.json:
        print(json.dumps(results, indent=2, allow_nan=False))
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(told(results, width=width, colour=colour))
    return 0 if results["passed"] else 1


def _at_once(text: str) -> None:
    """Write to stdout without buffering: another process may be waiting for the line."""
    # The judged program may write in any alphabet; stdout may not be able to encode it.
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), end="", flush=True)


def _progress(done: int, of: int) -> None:
    """Show on a terminal how far the oracle is; the line is erased at the end."""
    line = f"{done} of {of}" if done < of else ""
    print(f"\r{line:20}\r{line}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
