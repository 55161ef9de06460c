"""Measure how long the road through the check is: lines, classes and calls of some checks.

Run ``python tests/tools/road.py``. It prints

- for two checks of ``sum(sin(x))``, one of 3 right entries and one of 1000 with one wrong, how many
  files, functions and lines of the package are entered (by `sys.settrace`), and how many classes
  are instantiated (by their ``__init__``, that of a dataclass included);
- for right and doubled claims of 3 to 300 entries, how many functions of Python and of C are called
  outside of f (by `sys.setprofile`), and how often f is.
"""

import gc
import sys
from functools import partial
from pathlib import Path

import numpy as np

import gradcheck_ref
from gradcheck_ref import check_gradient

PACKAGE = Path(gradcheck_ref.__file__).parent


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
