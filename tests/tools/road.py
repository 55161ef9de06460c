"""Measure how long the road through the check is: lines and classes of two checks, and the code.

Run ``python tests/tools/road.py``. It prints

- the code lines of each room of ``gradcheck_ref/check/``: without docstrings, comments and blanks;
- the named constants at the level of its modules;
- for two checks of ``sum(sin(x))``, one of 3 right entries and one of 1000 with one wrong, how many
  files, functions and lines of the package are entered (by `sys.settrace`), and how many classes
  are instantiated (by their ``__init__``, that of a dataclass included);
- for right and doubled claims of 3 to 300 entries, how many functions of Python and of C are called
  outside of f (by `sys.setprofile`), and how often f is.
"""

import ast
import gc
import sys
import tokenize
from functools import partial
from pathlib import Path

import numpy as np

import gradcheck_ref
from gradcheck_ref import check_gradient

PACKAGE = Path(gradcheck_ref.__file__).parent
CHECK = PACKAGE / "check"
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
LAYOUT |= {tokenize.ENDMARKER, tokenize.ENCODING}


def code_lines(path):
    """Return the numbers of the lines of a file that hold code."""
    with tokenize.open(path) as file:
        tree = ast.parse(file.read())
    lines = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in LAYOUT:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines -= set(range(value.lineno, value.end_lineno + 1))
    return lines


def constants(path):
    """Return the names in capitals that a module defines at its level."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            found += [n.id for n in names if isinstance(n, ast.Name) and n.id.isupper()]
    return list(dict.fromkeys(found))


def entered(run):
    """Return the functions, the lines and the classes of the package that a run enters."""
    functions, lines, classes = set(), set(), set()
    root = str(PACKAGE)

    def trace(frame, event, _):
        code = frame.f_code
        made = code.co_name == "__init__" and code.co_filename[:1] == "<"  # that of a dataclass
        if event == "call" and code.co_name == "__init__":
            first = next(iter(frame.f_locals.values()), None)
            if type(first).__module__.startswith("gradcheck_ref"):
                classes.add(type(first))
        if made or not code.co_filename.startswith(root):
            return None
        if event == "call":
            functions.add((code.co_filename, code.co_qualname))
        if event == "line":
            lines.add((code.co_filename, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return functions, lines, classes


def sum_of_sines(x):
    """Return what is checked."""
    return np.sum(np.sin(x))


def check_of(size, wrong):
    """Return a check of this many entries; the last ones of the claim are wrong."""
    x = np.random.default_rng(0).normal(size=size)
    claim = np.cos(x)
    claim[size - wrong :] *= 2
    return partial(check_gradient, sum_of_sines, x, claim)


def calls_outside_f(run):
    """Return how many calls of Python and of C a check makes outside of f, and its evaluations."""
    inside, calls, least = False, 0, np.inf

    def note(frame, event, _):
        nonlocal inside, calls
        if frame.f_code is sum_of_sines.__code__ and event in ("call", "return"):
            inside = event == "call"
        elif not inside:
            calls += event in ("call", "c_call")

    gc.disable()  # it calls what waits for the end of an object
    for _ in range(30):  # a check asks more often for less where the machine is busy
        calls = 0
        sys.setprofile(note)
        try:
            report = run()
        finally:
            sys.setprofile(None)
        least = min(least, calls)
    gc.enable()
    return least, report.evaluations


def main():
    """Print the measurements."""
    rooms = sorted({path.relative_to(CHECK).parts[0] for path in CHECK.rglob("*.py")})
    total = 0
    for room in rooms:
        paths = [CHECK / room] if room.endswith(".py") else sorted((CHECK / room).glob("*.py"))
        each = {path.stem: len(code_lines(path)) for path in paths}
        total += sum(each.values())
        said = ", ".join(f"{stem} {count}" for stem, count in each.items() if count)
        print(f"{room:14}{sum(each.values()):6} code lines{'' if len(each) == 1 else f': {said}'}")
    named = [name for path in CHECK.rglob("*.py") for name in constants(path)]
    print(f"{'check':14}{total:6} code lines, {len(named)} named constants")
    for size, wrong in ((3, 0), (1000, 1)):
        check = check_of(size, wrong)
        check()  # what is only computed once a process does not count
        functions, lines, classes = entered(check)
        files = {file for file, _ in lines}
        print(
            f"{size} entries, {wrong} wrong: {len(lines)} lines of {len(functions)} functions in "
            f"{len(files)} files; {len(classes)} classes:"
        )
        print(f"    {', '.join(sorted(one.__name__ for one in classes))}")
    for size in (3, 10, 30, 300):
        for claim, wrong in (("right", 0), ("doubled", size)):
            calls, evaluations = calls_outside_f(check_of(size, wrong))
            print(
                f"{size} entries, {claim}: {calls:,} calls outside of f, {evaluations} evaluations"
            )


if __name__ == "__main__":
    main()
