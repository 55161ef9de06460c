"""Files for exercise 6 that do what no answer should, by what they do.

``RIGHT`` is the right answer; in it a statement stands before the functions (``at the top``) or at
the beginning of ``relu_backward`` (``when called``). Each comes with words of the report.
"""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

EXERCISES = Path(__file__).resolve().parents[1] / "exercises"
SOLUTION = EXERCISES / "06_relu" / "solution.py"

RIGHT = """\
import numpy as np
{top}

def relu(x):
    return np.maximum(x, 0)


def relu_backward(x, upstream):
{called}
    return np.where(x > 0, upstream, 0.0)
"""
WRONG = RIGHT.replace("np.where(x > 0, upstream, 0.0)", "0 * x").replace(
    "np.maximum(x, 0)", "0 * x"
)


def at_the_top(code, template=RIGHT):
    """Have it done when the file is loaded."""
    return template.format(top=dedent(code), called="")


def when_called(code, template=RIGHT):
    """Have it done when a function is called."""
    return template.format(top="", called=indent(dedent(code), "    "))


@dataclass(frozen=True)
class Hostile:
    """A file, the points it deserves of those of the exercise, and what is said of it."""

    source: str
    says: str
    deserves: float = 0


FORWARD = 1  # point for relu alone, of which nothing is wrong
ZEROS = 2  # for zeros: a subgradient they are, and nothing is changed
HOSTILE = {
    "ends the process": Hostile(
        at_the_top("import os; os._exit(0)"), "it ended the whole program, with exit status 0"
    ),
    "ends the process when called": Hostile(
        when_called("import os; os._exit(0)"), "with exit status 0", FORWARD
    ),
    "exits": Hostile(at_the_top("import sys; sys.exit(0)"), "raised: SystemExit: 0"),
    "exits when called": Hostile(when_called("raise SystemExit(0)"), "SystemExit: 0", FORWARD),
    "is interrupted": Hostile(when_called("raise KeyboardInterrupt"), "KeyboardInterrupt", FORWARD),
    "crashes": Hostile(when_called("import ctypes; ctypes.string_at(0)"), "it crashed", FORWARD),
    "aborts": Hostile(at_the_top("import os; os.abort()"), "it crashed: Aborted"),
    "does not end": Hostile(when_called("while True: pass"), "it took too long", FORWARD),
    "does not end loading": Hostile(at_the_top("while True: pass"), "it took too long"),
    "sleeps, whatever is raised": Hostile(
        at_the_top(
            """
            import signal, time
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            while True:
                try:
                    time.sleep(1000)
                except BaseException:
                    pass
            """
        ),
        "it took too long",
    ),
    "takes all memory": Hostile(
        when_called("np.ones(10**12)"), "Unable to allocate 7.28 TiB", FORWARD
    ),
    "takes memory bit by bit": Hostile(
        at_the_top("hoard = []\nwhile True: hoard.append(np.empty(10**8))"), "Unable to allocate"
    ),
    "prints without end": Hostile(at_the_top("while True: print('x' * 999)"), "were printed"),
    "answers without end": Hostile(
        when_called("return np.zeros(10**6)"), "the answer has more than", FORWARD
    ),
    "has a syntax error": Hostile(at_the_top("def ("), "06_relu.py cannot be imported"),
    "is no text": Hostile("\0\0\0", "06_relu.py cannot be imported"),
    "is no utf-8": Hostile(b"\xff\xfe\x00".decode("latin-1"), "06_relu.py cannot be imported"),
    "is empty": Hostile("", "no function of that name"),
    "imports what is not there": Hostile(at_the_top("import torch_"), "No module named 'torch_'"),
    "forks ten times": Hostile(
        at_the_top("import os\nfor _ in range(10): os.fork()"), "may not start other programs"
    ),
    "starts programs": Hostile(
        at_the_top("import subprocess; subprocess.Popen(['sleep', '1000'])"),
        "may not start other programs",
    ),
    "kills the grader": Hostile(
        at_the_top("import os; os.kill(os.getppid(), 9)"), "may not send signals"
    ),
    "calls the C library": Hostile(
        at_the_top("import ctypes; ctypes.CDLL(None).fork()"), "may not call foreign functions"
    ),
    "writes files": Hostile(
        at_the_top("open('results.json', 'w').write('{\"score\": 100}')"), "may not write"
    ),
    "asks the network": Hostile(
        at_the_top("import socket; socket.create_connection(('localhost', 80))"),
        "may not use the network",
    ),
    "reads the solution": Hostile(
        at_the_top(f"exec(open({str(SOLUTION)!r}).read())", WRONG), "may not read this"
    ),
    "reads the solution by another way": Hostile(
        at_the_top(
            f"import os; os.chdir({str(EXERCISES)!r}); exec(open('06_relu/solution.py').read())"
        ),
        "may not read this",
    ),
    "imports the solution": Hostile(
        at_the_top(
            f"""
            import sys
            sys.path.insert(0, {str(SOLUTION.parent)!r})
            from solution import *
            """
        ),
        "may not read this",
    ),
    "reads the solution from a folder that is open": Hostile(
        at_the_top(
            f"import os; os.open('06_relu/solution.py', 0, dir_fd=os.open({str(EXERCISES)!r}, 0))"
        ),
        "may not read this",
    ),
    "reads the solution, lying about where it is": Hostile(
        at_the_top(
            f"""
            import os, builtins
            before = dict(vars(os)), dict(vars(builtins))
            os.stat = os.lstat = os.readlink = os.fspath = lambda *a: None
            builtins.isinstance = lambda *a: True
            builtins.PermissionError = RuntimeWarning
            try:
                exec(open({str(SOLUTION)!r}).read())
            finally:
                vars(os).update(before[0]), vars(builtins).update(before[1])
            """
        ),
        "may not read this",
    ),
    "reads the solution, having changed what is forbidden": Hostile(
        at_the_top(
            f"""
            try:
                open({str(SOLUTION)!r})
            except PermissionError as error:
                frame = error.__traceback__.tb_next.tb_frame
                for value in (*frame.f_locals.values(), frame.f_globals["FORBIDDEN"]):
                    if hasattr(value, "clear"): value.clear()
                frame.f_globals["identities"] = frame.f_locals["hidden"] = frozenset()
            exec(open({str(SOLUTION)!r}).read())
            """
        ),
        "may not read this",
    ),
    "loads the solution": Hostile(
        at_the_top(f"import course; course.load(course.Path({str(SOLUTION)!r}))"),
        "may not read this",
    ),
    "reads the checks": Hostile(
        at_the_top(f"print(open({str(SOLUTION.with_name('checks.py'))!r}).read())"),
        "may not read this",
    ),
    "looks into the grader": Hostile(
        at_the_top("import os; open(f'/proc/{os.getppid()}/mem', 'rb').read()"),
        "may not read this",
    ),
    "looks for everything there is": Hostile(
        at_the_top("import gc; gc.get_objects()"), "may not list all objects"
    ),
    "patches assert": Hostile(
        at_the_top(
            """
            import builtins
            class Never(Exception): pass
            builtins.AssertionError = Never
            """,
            WRONG,
        ),
        "expected: [0 -4 0.1]",
        ZEROS,
    ),
    "patches numpy": Hostile(
        at_the_top(
            """
            yes = lambda *a, **k: True
            np.allclose = np.array_equal = np.all = np.isclose = yes
            np.testing.assert_allclose = yes
            """,
            WRONG,
        ),
        "expected: [0 -4 0.1]",
        ZEROS,
    ),
    "patches what it finds": Hostile(
        at_the_top(
            """
            import sys, types
            def free(*a, **k): return None
            for module in list(sys.modules.values()):
                for name in ("gives", "refuse", "same", "judge", "answer", "place"):
                    if hasattr(module, name): setattr(module, name, free)
            """,
            WRONG,
        ),
        "expected: [0 -4 0.1]",
        ZEROS,
    ),
    "returns what equals everything": Hostile(
        at_the_top(
            """
            class Equal(float):
                __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda *a: True
                shape = (3,)
                def __array__(self, *a, **k): return np.array([0.0, -4.0, 0.1])
            """
        ).replace("np.where(x > 0, upstream, 0.0)", "Equal()"),
        "got:",
        FORWARD + 1,  # it changes no argument
    ),
    "reports its own success": Hostile(
        at_the_top(
            """
            import os
            for fd in range(3, 30):
                try:
                    os.write(fd, b'{"value": null}\\n{"passed": true, "score": 100}\\n' * 100)
                except OSError:
                    pass
            """,
            WRONG,
        ),
        "",
    ),
    "answers nonsense": Hostile(
        at_the_top("import os, sys\nos.write(4, b'[' * 100000 + b'\\n')", WRONG),
        "could not be understood",
    ),
    "answers with a class": Hostile(
        at_the_top(
            """import os
            os.write(4, b'{"value": {"array": ["O", [1], "AAAAAAAAAAA="]}}\\n' * 9)""",
            WRONG,
        ),
        "",
    ),
    "closes everything": Hostile(
        at_the_top("import os, time\nos.closerange(0, 99)\ntime.sleep(99)"), "stopped answering"
    ),
    "asks without listening": Hostile(
        at_the_top(
            """
            import os
            line = b'{"ask": 0, "arguments": [], "keywords": {"dict": []}}\\n'
            while True: os.write(4, line)
            """
        ),
        "could not be understood",
    ),
    "works when it is done": Hostile(
        at_the_top("import atexit, os; atexit.register(os.system, 'true')"), "", 10
    ),
    "raises what cannot be told": Hostile(
        when_called(
            """
            class Worse(Exception):
                def __str__(self): raise RuntimeError
            raise Worse
            """
        ),
        "",
        FORWARD,
    ),
    "says what no report can hold": Hostile(
        when_called("raise ValueError('\\x00\\x1b[31m\\ud800]]>&<' * 9)"), "ValueError", FORWARD
    ),
}
