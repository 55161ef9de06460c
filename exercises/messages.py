"""The messages of the course, for those who translate them.

``python exercises/messages.py`` says how many each ``locale/*.po`` translates, and which entries
are no message any more. With sources, as in ``messages.py 11_batch_norm/checks.py``, it prints
their messages that no file has yet, to be put into one.

A message is a sentence in the source. An f-string becomes a template: ``f"scores of {n} x 16"`` is
``scores of {n} x 16``.
"""

import ast
import functools
import itertools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator

from catalogue import LOCALE, OTHER_FIELDS, read_file, same_fields
from course import HERE, ROOT

# What learners are told besides the checks: what runs those, and what grades.
OURS = (
    *("course.py", "expect.py", "explained.py", "in_notebook.py", "in_page.py", "judging.py"),
    *("placed.py", "run.py", "screen.py", "sketches.py", "grader/link.py", "grader/process.py"),
    *("grader/report.py", "grader/writers.py", "grader/command.py", "grader/classes.py"),
    *("grader/grading.py", "grader/handed_in.py", "grader/archives.py", "grader/collected.py"),
    *("grader/identity.py", "grader/by_hand.py", "grader/changes.py", "grader/feedback.py"),
    *("grader/late.py", "grader/roster.py"),
    *("grader/alike.py", "grader/manifest.py"),
)
MANIFEST = "course.toml"
STARTERS = "starter.py"
# What the starters say of a function that is not written yet.
TO_DO = ["exercise {number}, task {task}: {name}", "the project, task {task}: {name}"]
OF_AN_EXERCISE = ("title", "experiment", "recall")  # in the manifest
# No message is written in a call of these: what instructors and authors are told is in English.
NOT_TOLD = {
    *("ArgumentParser", "ArgumentTypeError", "Case", "TypeError", "add_argument"),
    *("add_parser", "add_subparsers", "compile", "getattr", "namedtuple", "sub", "_holds"),
    *("_add_path", "_command"),
}
TABLES = {"IN_A_PAGE", "MISSED", "PUZZLING", "REFUSED"}  # their keys are for the code
HEADS = {"NAMES", "FIRST", "LAST", "IDS", "HANDED_IN", "EXTENSION", "NOBODY"}  # of a roster
CHECK = re.compile("(check|heldout)_")
FIELD = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
WORD = re.compile(r"(?<![\w.])[A-Za-z]{2,}(?![\w(.])|\b[a-z]{2,}\b")


def sources() -> list[str]:
    """Return the files that have messages, by their names in ``exercises``."""
    checks = sorted(path.relative_to(HERE).as_posix() for path in HERE.glob("*/checks.py"))
    return [*OURS, MANIFEST, STARTERS, *checks]


def messages_in(name: str) -> list[str]:
    """Return the messages in a source."""
    return [text for text in texts_in(name) if name == MANIFEST or is_sentence(text)]


@functools.cache
def texts_in(name: str) -> list[str]:
    """Return all texts in a source, as templates; one that is no sentence may be a message, too."""
    if name == STARTERS:
        return TO_DO
    source = (HERE / name).read_text(encoding="utf-8")
    found = _of_the_manifest(source) if name == MANIFEST else _in_the_code(ast.parse(source))
    return list(dict.fromkeys(found))


def is_sentence(template: str) -> bool:
    """Whether a text has words that say something."""
    words = WORD.findall(FIELD.sub("\0", template))
    if " " not in template or not words:
        return False
    return len(words) > 1 or (bool(FIELD.search(template)) and len(words[0]) > 2)


def _of_the_manifest(source: str) -> Iterator[str]:
    course = tomllib.loads(source)
    yield from (_escaped(course[name]) for name in ("welcome", "farewell"))
    for exercise in (*course["exercise"], *course["project"]):
        for name in OF_AN_EXERCISE:
            told = exercise.get(name, [])
            # The answer to a question is for the page alone.
            yield from map(_escaped, [told] if isinstance(told, str) else told[:1])


def _in_the_code(tree: ast.AST) -> Iterator[str]:
    """Yield the texts in a tree; of the docstrings only those that learners read."""
    body = getattr(tree, "body", None)
    docstring = body[0] if isinstance(body, list) and body else None
    if isinstance(tree, ast.FunctionDef) and CHECK.match(tree.name):
        yield _escaped(" ".join((ast.get_docstring(tree) or "").split()))
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Expr(value=ast.Constant()) if node is docstring:
                continue
            case ast.Assign(targets=[ast.Name(id=name)]) if name in HEADS:
                continue
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in NOT_TOLD:
                continue
            case ast.Dict(values=values) if _is_a_table(tree):
                yield from _in_the_code(ast.List(values))
            case _:
                templates = _templates(node)
                yield from map(_numbered, templates)
                # What stands in a field, or in a call, may have texts, too.
                inside = [n for n in ast.walk(node) if isinstance(n, ast.FormattedValue | ast.Call)]
                for inner in inside if templates else [node]:
                    yield from _in_the_code(inner)


def _is_a_table(node: ast.AST) -> bool:
    """Whether a dictionary is assigned here whose keys are for the code."""
    targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    return any(isinstance(target, ast.Name) and target.id in TABLES for target in targets)


def _templates(node: ast.AST) -> list[str]:
    """Return the templates of an expression that gives a text, none if it gives something else."""
    match node:
        case ast.Constant(value=str(text)):
            return [_escaped(text)]
        case ast.JoinedStr(values=parts):
            return ["".join(one) for one in itertools.product(*map(_templates, parts))]
        case ast.FormattedValue(value=value):
            return _choices(value) or [f"{{{_name(value)}}}"]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            # A text and something else, which is a text then.
            one, other = _templates(left), _templates(right)
            if one or other:
                ends = one or [f"{{{_name(left)}}}"], other or [f"{{{_name(right)}}}"]
                return ["".join(both) for both in itertools.product(*ends)]
        case ast.BinOp(left=left, op=ast.Mult()) if texts := _templates(left):
            return ["", *texts]  # times a condition
    return []


def _choices(node: ast.AST) -> list[str]:
    """Return the texts that a field may hold, if they are written in it."""
    match node:
        case ast.IfExp(body=one, orelse=other) if _templates(one) and _templates(other):
            return _templates(one) + _templates(other)
        case ast.BinOp(op=ast.Mult()):
            return _templates(node)
    return []


def _name(node: ast.AST) -> str:
    """Return the last name in an expression."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]
    if not names:
        return "value"
    last = max(names, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
    return last.id if isinstance(last, ast.Name) else last.attr


def _numbered(template: str) -> str:
    """Tell fields of the same name apart: ``{found}``, ``{found2}``."""
    seen: Counter[str] = Counter()

    def numbered(field: re.Match[str]) -> str:
        seen[field[1]] += 1
        return f"{{{field[1]}{seen[field[1]] if seen[field[1]] > 1 else ''}}}"

    return FIELD.sub(numbered, template)


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


# --- what is translated ------------------------------------------------------------------------


def faults_in(entries: dict[str, str]) -> Iterator[str]:
    """Say which entries of a file belong to no message, or have other fields than it."""
    known = {text for name in sources() for text in texts_in(name)}
    for english, translation in entries.items():
        if english not in known:
            yield f"no longer a message: {english}"
        elif translation and not same_fields(english, translation):
            yield f"{OTHER_FIELDS}: {english}"


def entry(message: str) -> str:
    """Write a message as a ``.po`` file has it, to be translated."""
    text = message.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'msgid "{text}"\nmsgstr ""\n'


def main(names: list[str]) -> int:
    """Say what is translated, or print what is not; 1 if a file is not in step, else 0."""
    files = {path.name: read_file(path) for path in LOCALE.glob("*.po")}
    if names:
        if unknown := sorted({*names} - {*sources()}):
            sys.exit(f"no source of messages: {', '.join(unknown)}; choose {', '.join(sources())}")
        found = dict.fromkeys(text for name in names for text in messages_in(name))
        new = [text for text in found if not all(text in entries for entries in files.values())]
        print("\n".join(map(entry, new)), end="")
        return 0
    wrong = 0
    for file, entries in files.items():
        print(f"{(LOCALE / file).relative_to(ROOT)}")
        for name in sources():
            there = messages_in(name)
            done = sum(bool(entries.get(text)) for text in there)
            print(f"  {name:25}{done:4} of {len(there):3}")
        for fault in faults_in(entries):
            wrong = 1
            print(f"  {fault}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
