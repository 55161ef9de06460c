"""A submission in another process, as an object with functions that the checks can call.

The checks run and compare in this process. A submission can change ``assert``, NumPy or anything
else in its own process, but that changes only its answers, never the judgment of them.
"""

import builtins
import contextlib
import inspect
import time
from collections.abc import Callable
from typing import Any

from course import StoppedError
from grader import wire
from grader.limits import START_SECONDS, Limits
from grader.process import Process, TooLongError
from grader.wall import Wall

SHARE_OF_CELLS = 0.8  # of the time for loading; the rest is for sending messages


class Remote:
    """A submission, or something in it: its attributes are fetched when they are used."""

    __source__: str  # of a submission
    __forget__: Callable[[], None]

    def __init__(self, link: "Link", reference: Any, text: str) -> None:
        self._link, self._reference, self._text = link, reference, text

    def __getattr__(self, name: str) -> Any:
        """Fetch an attribute, unless it is private."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self._link.get(self, name)

    def __repr__(self) -> str:
        """Return its repr in the other process."""
        return self._text


class RemoteFunction(Remote):
    """A function of the submission."""

    def __init__(self, link: "Link", reference: Any, text: str, parameters: list[str]) -> None:
        super().__init__(link, reference, text)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(p, kind) for p in parameters])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call it in the other process."""
        return self._link.call(self._reference, list(arguments), keywords)


class Link:
    """The conversation with one submission, in a process that is started again when it has ended.

    Use it as a context: it leaves no process and no file behind.

    Parameters
    ----------
    name : str
        The name of the file.
    source : bytes
        Its content.
    limits : Limits
        Its limits.
    wall : Wall
        The wall around it.
    """

    def __init__(self, name: str, source: bytes, limits: Limits, wall: Wall) -> None:
        self.name, self.source, self.limits, self.wall = name, source, limits, wall
        self.printed = b""
        self._process: Process | None = None
        self._started = 0  # how often; references from before a start are lost
        self._functions: list[Callable[..., Any]] = []  # of the grader, passed to the submission
        self._deadlines = [time.monotonic() + limits.seconds]
        self._patience = limits.call_seconds
        self.failed: Exception | None = None  # in its file, while the rest was loaded
        self._slow: Any = []  # lines that took too long at an earlier loading

    def __enter__(self) -> "Link":
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def submission(self) -> Remote:
        """Load the submission. An exception that this raises there is raised here."""
        self._start()
        submission = Remote(self, None, f"<submission {self.name}>")
        submission.__forget__ = self.forget
        submission.__source__ = self.source.decode("utf-8", errors="replace")
        return submission

    def forget(self) -> None:
        """End the process: the next call gets a new one, which knows nothing of earlier calls."""
        self._end()

    def get(self, owner: Remote, name: str) -> Any:
        """Fetch an attribute of the submission, or of something in it."""
        reply = self._exchange(owner._reference, {"get": name})
        if "missing" in reply:
            raise AttributeError(f"{owner!r} has no {name!r}")
        thing = self._decoded(reply.get("value"))
        if owner._reference is None and isinstance(thing, Remote):
            thing._reference = {"name": name}  # a name stays valid after a new start
        return thing

    def call(self, reference: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Call a function. Its changes to its arguments are also made here."""
        sent = [wire.encode(part, self._refer) for part in (arguments, keywords)]
        reply = self._exchange(reference, {"arguments": sent[0], "keywords": sent[1]})
        if "after" in reply:
            wire.write_back([arguments, keywords], self._decoded(reply["after"]))
        return self._decoded(reply.get("value"))

    def _exchange(self, reference: Any, message: dict[str, Any]) -> dict[str, Any]:
        """Ask, answer the questions that come back, and return the reply."""
        if self._process is None:
            self._start()
        message["on"] = self._crossing(reference)
        try:
            reply = self._conversation(message)
        except StoppedError as stop:
            if isinstance(stop, TooLongError):
                self._patience = min(self._patience, self.limits.next_seconds)
            self._end()
            raise
        except ValueError as error:
            self._end()
            raise StoppedError(f"its answer could not be understood: {error}") from None
        if "raised" in reply:
            raise exception(reply["raised"])
        return reply

    def _conversation(self, message: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        # Each start gets time for loading: a slow import is not the call that took too long.
        loading = self.limits.call_seconds + self.limits.load_seconds
        patience = loading if "load" in message else self._patience
        soon = time.monotonic() + patience
        self._deadlines.append(min(soon, self._deadlines[-1]))
        try:
            process.send(wire.dumps(message))
            while True:
                reply = wire.loads(process.receive(self._deadlines[-1]))
                if not isinstance(reply, dict):
                    raise ValueError("no message")
                if "ask" not in reply:
                    return reply
                process.send(wire.dumps(self._answer(reply)))
        finally:
            self._deadlines.pop()

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Call a function of the grader, such as the f that a submission is given."""
        asked = [question["ask"], question.get("arguments"), question.get("keywords")]
        number, arguments, keywords = asked[0], *(self._decoded(part) for part in asked[1:])
        if not (isinstance(number, int) and 0 <= number < len(self._functions)):
            raise ValueError("a function that it was not given")
        try:
            value = self._functions[number](*arguments, **keywords)
        except StoppedError:  # our function called the submission, which ended
            raise
        except Exception as error:
            return {"refused": [kind.__name__ for kind in type(error).__mro__], "text": str(error)}
        return {"answer": wire.encode(value, self._refer)}

    def _start(self) -> None:
        """Start a process and have the submission loaded in it."""
        if time.monotonic() > self._deadlines[0]:
            raise StoppedError(f"the {self.limits.seconds:g} seconds for this exercise are over")
        begun = time.monotonic()
        self._process = Process(self.wall, self.limits)
        self._started += 1
        try:
            self._process.receive(begun + START_SECONDS)  # before any code of the submission runs
            self._deadlines[0] += time.monotonic() - begun  # a slow start is not its fault
            source = self.source.decode("latin-1")  # bytes, each as a character
            seconds = SHARE_OF_CELLS * (self.limits.call_seconds + self.limits.load_seconds)
            load = {"load": self.name, "source": source, "seconds": seconds, "skipped": self._slow}
            reply = self._exchange(None, load)
            self._slow = reply.get("value", [])
            self.failed = exception(reply["failed"]) if reply.get("failed") else None
        except Exception:
            self._end()
            raise

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self.printed = self.printed or self._process.printed
            self._process = None

    def _refer(self, thing: Any) -> Any:
        """Return a reference to an object of the submission, or to a function of the grader."""
        if isinstance(thing, Remote):
            return self._crossing(thing._reference)
        if not callable(thing):
            raise TypeError(f"{type(thing).__name__} cannot be handed to a submission")
        known = [i for i, function in enumerate(self._functions) if function is thing]
        if not known:
            self._functions.append(thing)
        number = known[0] if known else len(self._functions) - 1
        return {"function": number, "repeatable": getattr(thing, "repeatable", False)}

    def _crossing(self, reference: Any) -> Any:
        """Return a reference as the submission's process knows it; it ends with that process."""
        if not isinstance(reference, tuple):
            return reference
        number, start = reference
        if start != self._started:
            raise StoppedError("what it gave has ended with its process")
        return number

    def _resolve(self, reference: Any) -> Any:
        """Return the object here that stands for an object or function of the submission."""
        if "function" in reference:
            return self._functions[reference["function"]]
        here, text = (reference["id"], self._started), str(reference["text"])
        if "parameters" in reference:
            return RemoteFunction(self, here, text, reference["parameters"])
        return Remote(self, here, text)

    def _decoded(self, data: Any) -> Any:
        try:
            return wire.decode(data, self._resolve)
        except (ValueError, IndexError) as error:
            self._end()
            raise StoppedError(f"its answer could not be understood: {error}") from None


def exception(told: Any) -> Exception:
    """Build the exception that was raised there: the same name, the nearest class known here."""
    try:
        kinds, text = [str(kind) for kind in told["kinds"]], str(told["text"])
        place = tuple((str(label), str(line)) for label, line in told["place"])
    except (TypeError, KeyError, ValueError):
        kinds, text, place = [], "something, but would not say what", ()
    name = kinds[0] if kinds and kinds[0].isidentifier() else "Exception"
    error: Exception = type(name, (_known(kinds),), {"__str__": lambda self: text})(text)
    error.place = place  # type: ignore[attr-defined]
    return error


def _known(kinds: list[str]) -> type[Exception]:
    """Return the first known class; one that is not an Exception, SystemExit, becomes one here."""
    for kind in (getattr(builtins, kind, None) for kind in kinds):
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(TypeError):  # some need more than a text
                kind("")
                return kind
    return Exception
