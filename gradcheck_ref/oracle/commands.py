"""``gradcheck-ref oracle list``, ``answer`` and ``test``."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from gradcheck_ref.oracle.protocol import serve
from gradcheck_ref.oracle.runner import TIMEOUT, ImplementationError, run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.vectors import KINDS, VERSION, load_file, load_vectors

Write = Callable[[str], object]

SAID = {"compare": "says", "verdict": "formula"}  # where a group has it in words


def add_oracle(commands: Any) -> None:
    """Add the command to those of the command line (what ``add_subparsers`` returns)."""
    said = "Judge a gradient checker by frozen test vectors."
    parser = commands.add_parser("oracle", help=said.lower().rstrip("."), description=said)
    actions = parser.add_subparsers(dest="action", required=True, metavar="list | answer | test")
    actions.add_parser("list", help="list the groups of vectors, and what their flags mean")
    actions.add_parser("answer", help="speak the protocol, with this package, on stdin and stdout")
    test = actions.add_parser(
        "test",
        help="judge a program that speaks the protocol",
        usage="%(prog)s [options] -- CMD [ARGUMENT ...]",
        epilog="Exit status: 0 all right, 1 something wrong, 2 nothing could be judged.",
    )
    test.add_argument("--json", action="store_true", help="print the result as data")
    test.add_argument("--junit", metavar="FILE", help="also write the result as JUnit XML")
    test.add_argument(
        "--skip", metavar="ID", action="append", default=[], help="do not count this vector"
    )
    test.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=TIMEOUT,
        help="how long a reply may take (%(default)g)",
    )
    test.set_defaults(refuse=test.error)


def oracle(
    options: argparse.Namespace,
    command: Sequence[str],
    *,
    name: str,
    lines: Iterable[str],
    write: Write,
    progress: Callable[[int, int], object] | None = None,
) -> int:
    """Carry out ``oracle list``, ``answer`` or ``test``.

    Parameters
    ----------
    options : argparse.Namespace
        What ``add_oracle`` has read.
    command : sequence of str
        What stands after ``--``.
    name : str
        How this package calls itself.
    lines, write : iterable of str, callable
        Where questions come from, and where everything goes; nothing may be kept back.
    progress : callable, optional
        Gets the number of vectors done and of all.

    Returns
    -------
    int
        The exit status.
    """
    if options.action == "list":
        write(listing())
    elif options.action == "answer":
        serve(lines, write, name)
    else:
        return _test(options, command, write, progress)
    return 0


def listing() -> str:
    """List groups, with their rules and functions, and flags."""
    told = [f"gradcheck-ref vectors {VERSION}: {sum(load_file(k)['count'] for k in KINDS)}"]
    for kind in KINDS:
        file = load_file(kind)
        told += ["", f"{kind}: {file['count']}", f"  {file['header']}", ""]
        sizes, said = Counter[str](), {}
        for group in file["groups"]:
            sizes[group["group"]] += len(group["tests"])
            said[group["group"]] = group.get(SAID.get(kind, ""))
        for name, size in sizes.items():
            told += [f"  {name:32}{size:>5}", *([f"      {said[name]}"] if said[name] else [])]
        told += ["", *(f"  {flag}: {note['description']}" for flag, note in file["notes"].items())]
    path = files("gradcheck_ref.oracle") / "FORMAT.md"
    return "\n".join([*told, "", f"Formulas, replies, and what counts as right: {path}"]) + "\n"


def _test(
    options: argparse.Namespace,
    command: Sequence[str],
    write: Write,
    progress: Callable[[int, int], object] | None,
) -> int:
    vectors = list(load_vectors())
    if not command:
        options.refuse("what is to be judged? Give its command after --")
    if not 0 < options.timeout < float("inf"):
        options.refuse("--timeout must be a positive number of seconds")
    if unknown := set(options.skip) - {v.id for v in vectors}:
        options.refuse(f"there is no vector {', '.join(sorted(unknown))} to skip")
    try:
        found = run(command, vectors, timeout=options.timeout, progress=progress)
    except ImplementationError as error:
        options.refuse(str(error))
    summary = Summary(found, options.skip)
    write(json.dumps(summary.to_dict(), indent=2) + "\n" if options.json else summary.text())
    if options.junit:
        try:
            Path(options.junit).write_text(summary.junit(), encoding="utf-8")
        except OSError as error:
            options.refuse(f"cannot write {options.junit}: {error.strerror}")
    if not summary.outcomes:
        options.refuse("all that it answers is skipped: nothing was judged")
    return 0 if summary.right else 1
