"""The process of the submission: it is loaded here, and the grader calls its functions.

``python -m grader.worker SECONDS MEMORY USER``, behind the wall. The grader asks over standard
input, one line of JSON per question, and the worker answers over standard output. No check and no
expected value is ever here, so a submission finds nothing to patch or report: it can only answer.

The only other modules of the course here are ``kernel``, ``cells`` and ``wire``.
"""

import builtins
import contextlib
import ctypes
import inspect
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from grader import wire
from grader.kernel import Kernel

OPEN_FILES = 64
MOST_REMEMBERED = 100_000  # answers of the grader's functions; some hundred bytes each
MOST_SAID = 500  # characters of an error or of an object, for a reader

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38  # Linux


class Channel:
    """The conversation with the grader, on the original standard input and output."""

    def __init__(self) -> None:
        self._in: BinaryIO = os.fdopen(os.dup(0), "rb")
        self._out: BinaryIO = os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # the submission prints to standard error

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self._out.write(wire.dumps(message))
        self._out.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for the next message; if the grader has ended, end."""
        line = self._in.readline()
        if not line:
            os._exit(0)
        message: dict[str, Any] = wire.loads(line)
        return message


class Pupil:
    """A submission that answers questions: the value of a name, the result of a call."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.path = ""  # of the submission: a name for messages; there is no file
        self.kernel: Any = None
        self.kept: list[Any] = []  # objects that were mentioned but cannot be sent
        self.ids: dict[int, Any] = {}  # references to them, and to functions of the grader
        self.theirs: dict[int, Callable[..., Any]] = {}
        self.remembered: dict[bytes, Any] = {}  # questions to them, with the answers

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Do what the message asks for. An exception is an answer, too."""
        try:
            if "load" in message:
                self.path, source = message["load"], message["source"].encode("latin-1")
                self.kernel = Kernel(self.path, source, message["seconds"], message["skipped"])
                first = self.kernel.first_failure
                return {"value": self.kernel.slow, "failed": first and self._told(first)}
            thing = self._resolve(message["on"])
            return (
                self._get(thing, message["get"]) if "get" in message else self._call(thing, message)
            )
        except BaseException as error:
            return {"raised": self._told(error)}

    def _get(self, thing: Any, name: str) -> dict[str, Any]:
        missing = object()
        value = getattr(thing, name, missing)
        if value is not missing:
            return {"value": self._encode(value)}
        if thing is self.kernel.module:
            failed = self.kernel.missed(name) or self.kernel.first_failure
            if failed:
                raise failed
        return {"missing": name}

    def _call(self, function: Callable[..., Any], message: dict[str, Any]) -> dict[str, Any]:
        arguments, keywords = self._decode([message["arguments"], message["keywords"]])
        before = self._encode([arguments, keywords])
        value = function(*arguments, **keywords)
        after = self._encode([arguments, keywords])
        answer = {"value": self._encode(value)}
        return answer if after == before else {**answer, "after": after}

    def ask(self, reference: Any, arguments: Any, keywords: Any) -> Any:
        """Call a function of the grader, unless its answer is known."""
        asked = self._encode([list(arguments), keywords])
        question = {"ask": reference["function"], "arguments": asked[0], "keywords": asked[1]}
        if not reference["repeatable"]:
            return self._decode(self._answer_to(question))
        key = wire.dumps(question)
        if key not in self.remembered:
            if len(self.remembered) == MOST_REMEMBERED:
                self.remembered.clear()
            self.remembered[key] = self._answer_to(question)
        return self._decode(self.remembered[key])

    def _answer_to(self, question: dict[str, Any]) -> Any:
        """Ask the grader, which may call the submission before it answers."""
        self.channel.send(question)
        while True:
            message = self.channel.receive()
            if "answer" in message:
                return message["answer"]
            if "refused" in message:
                raise exception(message["refused"], message["text"])
            self.channel.send(self.answer(message))

    def _resolve(self, reference: Any) -> Any:
        """Return the object that the grader means: the module, or one that was mentioned before."""
        if reference is None:
            return self.kernel.module
        if isinstance(reference, int):
            return self.kept[reference]
        if "name" in reference:
            return getattr(self.kernel.module, reference["name"])
        return self._function(reference)

    def _function(self, reference: Any) -> Callable[..., Any]:
        """Return the function here that stands for one of the grader's, always the same one."""
        number = reference["function"]
        if number not in self.theirs:

            def f(*arguments: Any, **keywords: Any) -> Any:
                return self.ask(reference, arguments, keywords)

            self.theirs[number] = f
            self.ids[id(f)] = reference
        return self.theirs[number]

    def _refer(self, thing: Any) -> Any:
        """Keep an object that cannot be sent, and return a reference to it."""
        if id(thing) not in self.ids:
            reference = {"id": len(self.kept), "text": repr(thing)[:MOST_SAID]}
            if callable(thing):
                reference["parameters"] = _parameters(thing)
            self.kept.append(thing)
            self.ids[id(thing)] = reference
        return self.ids[id(thing)]

    def _encode(self, value: Any) -> Any:
        return wire.encode(value, self._refer)

    def _decode(self, data: Any) -> Any:
        return wire.decode(data, self._resolve)

    def _told(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, NameError) and self.kernel:
            error = self.kernel.missed(error.name) or error
        try:
            text = error.msg if isinstance(error, SyntaxError) else str(error)
        except BaseException:  # an error in its own class
            text = ""
        return {
            "kinds": [kind.__name__ for kind in type(error).__mro__],
            "text": text[:MOST_SAID],
            "place": [[label, text[:MOST_SAID]] for label, text in place(error, self.path)],
        }


def place(error: BaseException, path: str) -> Iterator[tuple[str, str]]:
    """Name the last line of the submission that the exception passed through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        yield "at", f"line {error.lineno}: {(error.text or '').strip()}"
    elif frames:
        yield "at", f"line {frames[-1].lineno}: {frames[-1].line}"


def exception(kinds: list[str], text: str) -> Exception:
    """Build the exception of a grader's function, with the nearest class that Python has."""
    known = [getattr(builtins, kind, None) for kind in kinds]
    base: type[Exception] = next(k for k in known if isinstance(k, type))
    members = {"__init__": lambda self: None, "__str__": lambda self: text}
    error: Exception = type(kinds[0], (base,), members)()
    return error


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return []


# --- limits of the system ----------------------------------------------------------------------


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
    pupil = Pupil(Channel())
    limit(int(seconds), int(memory))
    become(int(user))
    pupil.channel.send({"ready": True})
    while True:
        pupil.channel.send(pupil.answer(pupil.channel.receive()))


if __name__ == "__main__":
    main(*sys.argv[1:])
