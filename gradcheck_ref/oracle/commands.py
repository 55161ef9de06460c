"""``gradcheck-ref oracle``: list, answer, test, requests, judge and export."""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

from gradcheck_ref.conversation.child import stopped_by_signals
from gradcheck_ref.conversation.junit import printable
from gradcheck_ref.oracle.chosen import UnknownNameError, chosen, names_of, read_names
from gradcheck_ref.oracle.export import export
from gradcheck_ref.oracle.offline import judged, requests
from gradcheck_ref.oracle.protocol import serve
from gradcheck_ref.oracle.runner import TIMEOUT, ImplementationError, Run, StoppedError, run
from gradcheck_ref.oracle.summary import Summary
from gradcheck_ref.oracle.table import KINDS
from gradcheck_ref.oracle.vectors import (
    VERSION,
    Vector,
    load_file,
    load_vectors,
    load_words,
    vector_of,
)

Write = Callable[[str], object]
Promises = Callable[[str, str], bool]  # whether a kind and a group are answered

EPILOG = (
    "NAME is the id of a vector, a group, a kind or a flag. "
    "Exit status: 0 all right, 1 something wrong, 2 nothing could be judged."
)
ACTIONS = "list | answer | test | requests | judge | export"


def add_oracle(commands: Any) -> None:
    """Add the command to the command line (the result of ``add_subparsers``)."""
    said = "Judge a gradient checker by frozen test vectors."
    parser = commands.add_parser("oracle", help=said.lower().rstrip("."), description=said)
    actions = parser.add_subparsers(dest="action", required=True, metavar=ACTIONS)
    actions.add_parser("list", help="list the groups of vectors, and what their flags mean")
    actions.add_parser("answer", help="speak the protocol, with this package, on stdin and stdout")
    usage = "%(prog)s [options] -- CMD [ARGUMENT ...]"
    test = actions.add_parser("test", help="judge a program that speaks the protocol", usage=usage)
    ask = actions.add_parser("requests", help="write the questions, to be answered elsewhere")
    judge = actions.add_parser("judge", help="judge replies that stand in a file")
    judge.add_argument("replies", metavar="FILE", help="one reply a line; - is standard input")
    for parser in (test, ask, judge):
        _add_options(parser, asks=parser is not judge, judges=parser is not ask)
    add = test.add_argument
    said = "how long a reply may take (%(default)g)"
    add("--timeout", metavar="SECONDS", type=float, default=TIMEOUT, help=said)
    said = "how long all of it may take; the rest counts as errors"
    add("--max-seconds", metavar="SECONDS", type=float, default=math.inf, help=said)
    said = "write vectors, schemas, format and license into a folder"
    out = actions.add_parser("export", help=said)
    out.add_argument("folder", metavar="DIR")
    out.set_defaults(refuse=out.error)


def _add_options(parser: argparse.ArgumentParser, *, asks: bool, judges: bool) -> None:
    parser.epilog = EPILOG
    # ``refuse`` comes before any result, and so writes the data that were asked for, with the
    # reason (see __main__); ``end`` comes after the data.
    end = partial(argparse.ArgumentParser.error, parser)
    parser.set_defaults(refuse=parser.error, end=end, shuffle=False, json=False, junit=None)
    add = parser.add_argument
    add("--only", metavar="NAME", action="append", default=[], help="ask these alone")
    add("--skip", metavar="NAME", action="append", default=[], help="do not count these")
    add("--skip-file", metavar="FILE", help="names not to count, one a line; # begins a remark")
    if judges:
        said = "names that are known to fail, one a line; if one passes, that is an error"
        add("--expected", metavar="FILE", help=said)
        add("--json", action="store_true", help="print the result as data")
        add("--junit", metavar="FILE", help="also write the result as JUnit XML")
    said = "draw so many vectors, instead of the frozen ones"
    add("--random", metavar="N", type=int, help=said)
    said = "from which they are drawn (%(default)d)"
    add("--seed", metavar="S", type=int, default=0, help=said)
    if asks:
        add("--shuffle", action="store_true", help="ask in another order, drawn from --seed")


def oracle(
    options: argparse.Namespace,
    command: Sequence[str],
    *,
    name: str,
    lines: Iterable[str],
    write: Write,
    progress: Callable[[int, int], object] | None = None,
) -> int:
    """Carry out ``oracle`` with one of its actions.

    Parameters
    ----------
    options : argparse.Namespace
        The options that ``add_oracle`` defines.
    command : sequence of str
        The words after ``--``.
    name : str
        The name of this package in replies.
    lines, write : iterable of str, callable
        The source of questions, and the output, which must not be buffered.
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
    elif options.action == "export":
        _export(options, write)
    else:
        return _ask(options, command, write, progress)
    return 0


def listing() -> str:
    """List groups, with their rules and functions, and flags."""
    asked = Counter(name for v in load_vectors() for name in (v.kind, v.group))
    told = [f"gradcheck-ref vectors {VERSION}", *_indented(two_numbers(), 2)]
    for kind in KINDS:
        file = load_file(kind)
        told += ["", f"{kind}: {asked[kind]}", f"  {file['header']}", ""]
        said = load_words(kind)
        for group in file["groups"]:
            name = group["group"]
            optional = "  optional" if group.get("optional") else ""
            told += [f"  {name:32}{asked[name]:>5}{optional}", *_indented(said.get(name, ""))]
        told += ["", *(f"  {flag}: {note['description']}" for flag, note in file["notes"].items())]
    path = files("gradcheck_ref.oracle") / "FORMAT.md"
    return "\n".join([*told, "", f"Formulas, replies, and what counts as right: {path}"]) + "\n"


def two_numbers() -> str:
    """Say how many vectors are asked, and how many count."""
    asked = list(load_vectors())
    counting = sum(vector.counts for vector in asked)
    return (
        f"{len(asked)} are asked. {counting} have exactly one right answer, and only these count."
    )


def _indented(text: str, by: int = 6) -> list[str]:
    """Break a long line, and indent it."""
    return wrap(text, 88, initial_indent=" " * by, subsequent_indent=" " * by)


def _export(options: argparse.Namespace, write: Write) -> None:
    try:
        written = export(Path(options.folder))
    except OSError as error:
        options.refuse(f"cannot write to {options.folder}: {error.strerror}")
    write("".join(f"{path}\n" for path in written))


def _ask(
    options: argparse.Namespace,
    command: Sequence[str],
    write: Write,
    progress: Callable[[int, int], object] | None,
) -> int:
    if options.action == "test" and not command:
        options.refuse("what is to be judged? Give its command after --")
    for knob in ("timeout", "max_seconds"):
        if not vars(options).get(knob, 1.0) > 0 or vars(options).get("timeout") == math.inf:
            said = knob.replace("_", "-")
            options.refuse(f"--{said} must be a positive number of seconds")
    if options.random is not None and options.random < 1:
        options.refuse("--random must be a positive number of vectors")
    try:
        with stopped_by_signals():
            summary = _summary(options, command, write, progress)
    except (ImplementationError, UnknownNameError) as error:
        options.refuse(printable(str(error)))  # it may have words of the program
    except StoppedError as stop:
        _write_result(options, Summary(stop.found, why_not=str(stop)), write)
        raise
    except (KeyboardInterrupt, Exception) as error:
        stopped = isinstance(error, KeyboardInterrupt)
        why = "it was stopped before anything was asked" if stopped else f"it broke: {error!r}"
        _write_data(options.json, options.junit, Summary(Run(), why_not=why), write)
        raise
    if summary is None:
        return 0
    if wrong := _write_result(options, summary, write):
        options.end(wrong)
    if summary.undrawn:
        from gradcheck_ref.oracle.generate.drawn import enough

        most = enough(_drawable(options, summary.run.promises))
        options.end(f"too few were drawn for a result: --random {most} draws every group")
    if summary.no_result:
        options.end(summary.no_result)
    return 0 if summary.right else 1


def _summary(
    options: argparse.Namespace,
    command: Sequence[str],
    write: Write,
    progress: Callable[[int, int], object] | None,
) -> Summary | None:
    """Judge, and sum it up; or only write the requests."""
    options.skip += _names_in(options.skip_file)
    known = _names_in(vars(options).get("expected"))
    if options.random is None:  # refuse unknown names before anything is started
        chosen(load_vectors(), [*options.only, *options.skip, *known])
    if options.action == "requests":
        for line in requests(_chosen(options)):
            write(line + "\n")
        return None
    if options.action == "test":
        given = {"timeout": options.timeout, "longest": options.max_seconds}
        found = run(command, partial(_chosen, options), progress=progress, **given)
    else:
        name = "stdin" if options.replies == "-" else Path(options.replies).name
        found = judged(_content(options.replies).split(b"\n"), _chosen(options), name)
    return _summed_up(options, found, known)


def write_no_result(given: Sequence[str], why: str, write: Write) -> None:
    """Write data with the reason where a command line asks for data and there is no result."""
    wanted = argparse.ArgumentParser(add_help=False)
    wanted.add_argument("--json", action="store_true")
    wanted.add_argument("--junit", nargs="?")
    asked, _ = wanted.parse_known_args(given)
    _write_data(asked.json, asked.junit, Summary(Run(), why_not=why), write)


def _write_result(options: argparse.Namespace, summary: Summary, write: Write) -> str:
    """Write text or data; return the error if that is impossible."""
    if not options.json:
        write(summary.text())
    return _write_data(options.json, options.junit, summary, write)


def _write_data(as_json: bool, junit: str | None, summary: Summary, write: Write) -> str:
    """Write the data that are asked for; return the error if that is impossible."""
    if as_json:
        write(json.dumps(summary.to_dict(), indent=2) + "\n")
    try:
        if junit:
            Path(junit).write_text(summary.junit(), encoding="utf-8")
    except OSError as error:
        return f"cannot write {junit}: {error.strerror}"
    return ""


def _names_in(path: str | None) -> list[str]:
    """Read the names in a file, if one was given."""
    return read_names(_content(path).decode(errors="replace")) if path else []


def _content(path: str) -> bytes:
    """Read a file; - is standard input."""
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise ImplementationError(f"cannot read {path}: {error.strerror}") from error


def _chosen(options: argparse.Namespace, promises: Promises = lambda *_: True) -> list[Vector]:
    """Choose the questions: from the frozen vectors or from drawn ones."""
    if options.random is not None:
        from gradcheck_ref.oracle.generate.drawn import draw

        drawn = draw(_drawable(options, promises), options.random, options.seed)
        vectors = [vector_of(kind, fields) for kind, fields in drawn]
    else:
        vectors = chosen(load_vectors(), options.only) if options.only else list(load_vectors())
    return Random(options.seed).sample(vectors, len(vectors)) if options.shuffle else vectors


def _drawable(options: argparse.Namespace, promises: Promises) -> list[str]:
    """List the wanted groups that have drawn vectors."""
    # Here, because reading the rules and functions takes a tenth of a second.
    from gradcheck_ref.oracle.generate.drawn import drawable

    groups = list(drawable())
    if options.only:
        groups = [g for g in groups if {g, g.split("/")[0]}.intersection(options.only)]
        if not groups:
            said = "--only takes kinds and groups there, and some groups are only frozen"
            raise UnknownNameError(f"of {', '.join(options.only)} nothing is drawn: {said}")
    groups = [g for g in groups if promises(g.split("/")[0], g)]
    if not groups:
        raise UnknownNameError("of what it answers nothing is drawn")
    return groups


def _summed_up(options: argparse.Namespace, found: Run, known: list[str]) -> Summary:
    vectors = [outcome.vector for outcome in found.outcomes]
    skip = {v.id for v in vectors if set(options.skip).intersection(names_of(v))}
    expected = {v.id for v in vectors if set(known).intersection(names_of(v))}
    of = f", {options.random} drawn from seed {options.seed}" if options.random else ""
    asked = {name for vector in vectors for name in names_of(vector)}
    idle = [name for name in dict.fromkeys(known) if name not in asked]
    groups = _drawable(options, found.promises) if options.random else []
    undrawn = [group for group in groups if group not in asked]
    return Summary(found, skip, expected, of, idle, undrawn)
