"""The process of the submission: it is loaded here, and the grader calls its functions.

``python -m grader.worker SECONDS MEMORY USER``, behind the wall. The grader asks over standard
input, one line of JSON per question, and the worker answers over standard output. No check and no
expected value is ever here, and of the course only ``worker``, ``kernel``, ``clock``, ``wire``,
``effort`` and ``explained``.
"""

import contextlib
import copy
import ctypes
import inspect
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from effort import effort
from explained import place
from grader import wire
from grader.kernel import Kernel

OPEN_FILES = 64
MOST_SAID = 500  # characters of an error or of an object, for a reader

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38  # Linux


class Pupil:
    """A submission that does what the grader asks for: look up a name, call a function."""

    def __init__(self) -> None:
        self._in, self._out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # the submission prints to standard error
        self.path = ""  # of the submission: a name for messages; there is no file
        self.kernel: Any = None
        self.replaced: dict[str, Any] = {}  # functions of the submission, by their names
        self.kept: list[Any] = []  # objects that were mentioned but cannot be sent
        self.ids: dict[int, Any] = {}  # references to them, and to functions of the grader
        self.theirs: dict[int, Callable[..., Any]] = {}
        self.remembered: dict[bytes, Any] = {}  # questions to them, with the answers

    def converse(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message, and do what the grader asks for until it replies."""
        line = wire.dumps(message, self._refer)
        while True:
            self._out.write(line)
            self._out.flush()
            received = self._in.readline()
            if not received:  # the grader has ended
                os._exit(0)
            try:
                reply: dict[str, Any] = wire.loads(received, self._resolve)
                if "do" not in reply:
                    return reply
                do = getattr(self, f"_{reply.pop('do')}")  # load, get, put or call
                line = wire.dumps(do(**reply), self._refer)
            except BaseException as error:  # an exception is an answer, too
                line = wire.dumps({"raised": self._told(error)}, self._refer)

    def _load(self, path: str, source: str, seconds: float, skipped: list[int]) -> dict[str, Any]:
        self.path = path
        self.kernel = Kernel(path, source.encode("latin-1"), seconds, skipped)
        first = self.kernel.first_failure
        return {"value": self.kernel.slow, "failed": first and self._told(first)}

    def _get(self, owner: Any, name: str) -> dict[str, Any]:
        missing = object()
        value = getattr(owner, name, missing)
        if value is not missing:
            return {"value": value}
        failed = self.kernel.failed.get(name) or self.kernel.first_failure
        if failed and owner is self.kernel.module:
            raise failed
        return {}

    def _put(self, name: str, function: Any) -> dict[str, Any]:
        theirs = self.replaced.setdefault(name, getattr(self.kernel.module, name))
        setattr(self.kernel.module, name, function or theirs)
        return {}

    def _call(self, function: Any, arguments: Any, keywords: Any) -> dict[str, Any]:
        before = wire.dumps([arguments, keywords], self._refer)
        value = function(*arguments, **keywords)
        answer = {"value": value}
        for number, argument in enumerate(arguments):
            arrays = isinstance(value, np.ndarray) and isinstance(argument, np.ndarray)
            if arrays and np.may_share_memory(value, argument):
                answer["shared"] = number
        if wire.dumps([arguments, keywords], self._refer) != before:
            answer["after"] = [arguments, keywords]
        return answer

    def _effort(self, function: Any, arguments: Any, forward: str | None) -> dict[str, Any]:
        return {"value": list(effort(function, arguments, forward))}

    def _ask(self, function: Any, repeatable: bool, arguments: Any, keywords: Any) -> Any:
        """Call a function of the grader, unless its answer is known."""
        given = {"arguments": list(arguments), "keywords": keywords}
        question = {"do": "call", "function": function, **given}
        key = wire.dumps(question, self._refer) if repeatable else b""
        if key in self.remembered:
            return copy.deepcopy(self.remembered[key])
        reply = self.converse(question)
        if "raised" in reply:
            raise wire.exception(reply["raised"])
        if repeatable:
            self.remembered[key] = copy.deepcopy(reply["value"])
        return reply["value"]

    def _resolve(self, reference: Any) -> Any:
        """Return the object that the grader means: the module, or one that was mentioned before."""
        if reference is None:
            return self.kernel.module
        if isinstance(reference, int):
            return self.kept[reference]
        if "name" in reference:
            return getattr(self.kernel.module, reference["name"])
        number = reference["function"]
        if number not in self.theirs:

            def f(*arguments: Any, **keywords: Any) -> Any:
                return self._ask(f, reference["repeatable"], arguments, keywords)

            self.theirs[number] = f  # always the same one
            self.ids[id(f)] = reference
        return self.theirs[number]

    def _refer(self, thing: Any) -> Any:
        """Keep an object that cannot be sent, and return a reference to it."""
        if id(thing) not in self.ids:
            reference = {"id": len(self.kept), "text": repr(thing)[:MOST_SAID]}
            if callable(thing):
                reference["parameters"] = []
                # Some built-in functions have none.
                with contextlib.suppress(TypeError, ValueError):
                    reference["parameters"] = list(inspect.signature(thing).parameters)
            self.kept.append(thing)
            self.ids[id(thing)] = reference
        return self.ids[id(thing)]

    def _told(self, error: BaseException) -> list[Any]:
        if isinstance(error, NameError) and self.kernel:
            error = self.kernel.failed.get(error.name) or error
        try:
            text = error.msg if isinstance(error, SyntaxError) else str(error)
        except BaseException:  # an error in its own class
            text = ""
        lines = ((label, line[:MOST_SAID]) for label, line in place(error, self.path))
        return wire.told(error, text[:MOST_SAID], lines)


def limit(seconds: int, memory: int) -> None:
    """Let the system stop this process if it takes too much; it cannot start another one."""
    limits = {
        resource.RLIMIT_CPU: (seconds, seconds + 1),
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (OPEN_FILES, OPEN_FILES),
        resource.RLIMIT_NPROC: (0, 0),  # of no effect for root
    }
    for kind, values in limits.items():
        with contextlib.suppress(ValueError, OSError):  # macOS has no limit of memory
            resource.setrlimit(kind, values)
    # No limit counts some kinds of memory. If the machine has none left, this process ends first.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def become(user: int) -> None:
    """Become another user for good, in its own group only; 0 means the present user."""
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # no program may give it more rights
        # It ends with the grader; the system forgets that at every setresuid.
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main(seconds: str, memory: str, user: str) -> None:
    """Serve the grader until it ends."""
    pupil = Pupil()
    limit(int(seconds), int(memory))
    become(int(user))
    pupil.converse({"ready": True})


if __name__ == "__main__":
    main(*sys.argv[1:])
