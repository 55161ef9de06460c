"""What a submission may try, by what it tries.

``ATTACKS`` are tried behind each wall, all in one process: each is code that sets ``won``, or
fails. The page on submissions has a row for each, in the same words. ``HOSTILE`` are files for
exercise 6 that are graded: ``RIGHT`` is the right answer, with a statement before the functions
(``at_the_top``) or at the beginning of ``relu_backward`` (``when_called``).
"""

from dataclasses import dataclass
from textwrap import dedent, indent

BUBBLEWRAP, NONE = WALLS = ("bubblewrap", "none")
ALL = frozenset(WALLS)
NEVER: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Attack:
    """Code that sets ``won`` if it gets through, and the walls where it does.

    It knows ``there``, a folder that is hidden; ``grader``, a process; ``own`` and ``everybodys``,
    files of the one who grades, for nobody else and for all; ``port``, at which somebody listens;
    ``home``, its own folder.
    """

    code: str
    through: frozenset[str] = frozenset({NONE})
    root: bool = False  # whether it is as root only that it gets through where there is no wall


ATTACKS = {
    "opens a solution, a check, another submission": Attack(
        "won = 'secret' in open(f'{there}/solution.py').read()"
    ),
    "imports the instructor's own copy": Attack(
        """
        import importlib
        sys.path.insert(0, there)
        won = importlib.import_module("work.06_relu").secret
        """
    ),
    "lists the folder of the class": Attack("won = os.listdir(there)"),
    "writes into a check": Attack("won = open(f'{there}/checks.py', 'r+b')"),
    "reads a private file of the user who grades": Attack("won = open(own).read()"),
    "reads a file that is open to everybody": Attack("won = open(everybodys).read()"),
    "sees which programs run": Attack("won = os.path.exists(f'/proc/{grader}')"),
    "reads the grader's environment": Attack("won = open(f'/proc/{grader}/environ').read()"),
    "sends the grader a signal": Attack("os.kill(grader, 0); won = True"),
    "looks into another process": Attack(
        """
        others = {p for p in os.listdir("/proc") if p.isdigit()} - {str(os.getpid())}
        won = any(os.access(f"/proc/{p}/environ", os.R_OK) for p in others)
        """
    ),
    "finds a secret in its own environment": Attack("won = 'SECRET_TOKEN' in os.environ", NEVER),
    "finds a check or an answer in its own process": Attack(
        "won = {'course', 'expect', 'judging', 'grader.link'} & set(sys.modules)", NEVER
    ),
    "becomes root": Attack("os.setuid(0); won = True", root=True),
    "can gain rights from another program": Attack(
        "import ctypes; won = ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0", NEVER
    ),
    "changes a library": Attack("won = os.access(np.__file__, os.W_OK)", root=True),
    "forks, or starts a program": Attack("won = fork(os.fork)", root=True),
    "forks in a namespace of its own": Attack(
        "import ctypes; ctypes.CDLL(None).unshare(0x10000000); won = fork(os.fork)", root=True
    ),
    "takes more memory than 2 GB": Attack("won = np.ones(3 * 10**8)", NEVER),
    "writes a file": Attack(
        "with open(home + '/file', 'wb') as file: file.write(b'x')\nwon = True", NEVER
    ),
    "makes a file outside of its folder": Attack(
        "os.mkdir('/dev/shm/' + home.replace('/', '-')); won = True"
    ),
    "makes an empty file, a folder, a link in its folder": Attack(
        """
        os.open(home + "/empty", os.O_CREAT)
        os.mkdir(home + "/folder")
        os.symlink("x", home + "/link")
        won = True
        """,
        ALL,
    ),
    "keeps System V memory, which no limit counts": Attack(
        """
        import ctypes
        segment = ctypes.CDLL(None).shmget(0, 1 << 20, 0o1600)
        won = segment >= 0 and ctypes.CDLL(None).shmctl(segment, 0, None) == 0
        """,
        ALL,
    ),
    "opens a socket": Attack("import socket; won = socket.socket()", ALL),
    "connects to a service of this machine": Attack(
        "import socket; won = socket.create_connection(('127.0.0.1', port), 5)"
    ),
}

PROBE = """
import os, sys
import numpy as np

def fork(by):
    child = by()
    if child == 0:
        os._exit(0)
    return child > 0 and os.waitpid(child, 0)

def attempt(code, **known):
    names = {"os": os, "sys": sys, "np": np, "fork": fork, "won": False, **known}
    names["home"] = os.environ["HOME"]
    try:
        exec(code, names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "won" if names["won"] else "lost"
"""

# --- for exercise 6 ----------------------------------------------------------------------------

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
HOSTILE = {
    "ends the process": Hostile(
        at_the_top("import os; os._exit(0)"), "it ended the whole program, with exit status 0"
    ),
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
    "does not end": Hostile(when_called("while True: pass"), "it took too long", FORWARD),
    "sleeps when it is called": Hostile(
        when_called("import time; time.sleep(1000)"), "does it sleep, or wait", FORWARD
    ),
    "waits for a lock": Hostile(
        when_called(
            """
            import threading
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
            """
        ),
        "does it sleep, or wait",
        FORWARD,
    ),
    "sleeps, and says that it works": Hostile(
        when_called(
            """
            import time
            time.process_time = time.thread_time = time.monotonic = time.time
            while True:
                time.sleep(0.01)
            """
        ),
        "it took too long",
        FORWARD,
    ),
    "lets children compute, and waits": Hostile(
        when_called(
            """
            import os, time
            for _ in range(4):
                try:
                    if os.fork() == 0:
                        while True: pass
                except OSError:
                    pass
            time.sleep(1000)
            """
        ),
        "it took too long",
        FORWARD,
    ),
    "computes beside its children": Hostile(
        when_called(
            """
            import os
            for _ in range(8):
                try:
                    if os.fork() == 0: break
                except OSError:
                    pass
            while True: pass
            """
        ),
        "it took too long",
        FORWARD,
    ),
    "lets threads compute, and waits": Hostile(
        when_called(
            """
            import threading
            def compute():
                while True: pass
            for _ in range(4):
                try:
                    threading.Thread(target=compute, daemon=True).start()
                except RuntimeError:
                    pass
            threading.Event().wait()
            """
        ),
        "it took too long",
        FORWARD,
    ),
    "prints without end": Hostile(at_the_top("while True: print('x' * 9999)"), "were printed"),
    "answers without end": Hostile(
        when_called("return np.zeros(3 * 10**5)"), "the answer has more than", FORWARD
    ),
    "writes files": Hostile(
        when_called("print('x', file=open('results.json', 'w'), flush=True)"),
        "this exercise needs no files",
        FORWARD,
    ),
    "patches numpy, assert and whatever it finds": Hostile(
        at_the_top(
            """
            import builtins, sys
            class Never(Exception): pass
            builtins.AssertionError = Never
            yes = lambda *a, **k: True
            np.allclose = np.array_equal = np.all = np.isclose = yes
            np.testing.assert_allclose = yes
            def free(*a, **k): return None
            for module in list(sys.modules.values()):
                for name in ("gives", "refuse", "same", "judge", "answer", "place"):
                    if hasattr(module, name): setattr(module, name, free)
            """,
            WRONG,
        ),
        "expected: [0 -4 0.1]",
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
        FORWARD,
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
    "answers with a mapping of equal hashes": Hostile(
        at_the_top(
            """
            import os
            pairs = ", ".join(f"[{k * (2**61 - 1)}, 0]" for k in range(30_000))
            answer = ('{"dict": [' + pairs + ']}\\n').encode()
            while answer:  # a pipe may take a part of it only
                answer = answer[os.write(4, answer):]
            """,
            WRONG,
        ),
        "more than 1,000 keys",
    ),
    "answers nonsense": Hostile(
        at_the_top("import os, sys\nos.write(4, b'[' * 100000 + b'\\n')", WRONG),
        "could not be understood",
    ),
    "closes everything": Hostile(
        at_the_top("import os, time\nos.closerange(0, 99)\ntime.sleep(99)"), "stopped: "
    ),
    "raises what cannot be told": Hostile(
        when_called("raise type('Worse', (Exception,), {'__str__': None})"), "", FORWARD
    ),
    "says what no report can hold": Hostile(
        when_called("raise ValueError('\\x00\\x1b[31m\\ud800]]>&<' * 9)"), "ValueError", FORWARD
    ),
}
