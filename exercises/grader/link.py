"""A submission in another process, as an object with functions that the checks can call.

The checks run and compare in this process. A submission can change ``assert``, NumPy or anything
else in its own process, but that changes only its answers, never the judgment of them.
"""

import inspect
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from course import StoppedError
from grader import wire
from grader.limits import PATIENCE, Limits
from grader.process import Process, TooLongError
from grader.wall import Wall

SHARE_OF_CELLS = 0.8  # of the time for loading; the rest is for sending messages


class Remote:
    """A submission, or something in it: its attributes are fetched when they are used."""

    __source__: str  # of a submission
    __forget__: Callable[[], None]  # the next call gets a new process
    __put__: Callable[[str, Any], None]  # a function in the place of one of the submission

    def __init__(self, link: "Link", told: dict[str, Any], start: int) -> None:
        self._link, self._reference, self._text = link, told["id"], str(told["text"])
        self._start = start  # of the process in which it is; 0 if it is in each
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind) for name in told.get("parameters", ())]
        self.__signature__ = inspect.Signature(parameters)

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

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call it in the other process."""
        return self._link.call(self, list(arguments), keywords)

    def __effort__(self, arguments: list[Any], forward: str | None) -> tuple[int, str, float]:
        """Call it in the other process, and return what it took, see ``effort``."""
        return self._link.effort(self, arguments, forward)


class Link(AbstractContextManager["Link"]):
    """The conversation with one submission, in a process that is started again when it has ended.

    Use it as a context: it leaves no process and no file behind.
    """

    def __init__(self, name: str, source: bytes, limits: Limits, wall: Wall) -> None:
        self.name, self.source, self.limits, self.wall = name, source, limits, wall
        self.printed = b""
        self.failed: Exception | None = None  # in its file, while the rest was loaded
        self._process: Process | None = None
        self._started = 0  # how often
        self._functions: list[Callable[..., Any]] = []  # of the grader, passed to the submission
        self._spent = 0.0  # the time of processes that have ended, by their clocks
        self._ends = [limits.seconds]  # of the calls that are going on, in that time
        self._busy_at = time.monotonic() + PATIENCE * limits.seconds
        self._patience = limits.call_seconds
        self._slow: Any = []  # lines that took too long at an earlier loading

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def submission(self) -> Remote:
        """Load the submission. An exception that this raises there is raised here."""
        self._start()
        submission = Remote(self, {"id": None, "text": f"<submission {self.name}>"}, 0)
        submission.__forget__ = self._end
        submission.__put__ = self.put
        submission.__source__ = self.source.decode("utf-8", errors="replace")
        return submission

    def get(self, owner: Remote, name: str) -> Any:
        """Fetch an attribute of the submission, or of something in it."""
        reply = self._exchange({"do": "get", "owner": owner, "name": name})
        if "value" not in reply:
            raise AttributeError(f"{owner!r} has no {name!r}")
        thing = reply["value"]
        if owner._reference is None and isinstance(thing, Remote):
            thing._reference, thing._start = {"name": name}, 0
        return thing

    def call(self, function: Remote, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Call a function. Its changes to its arguments are also made here."""
        given = {"arguments": arguments, "keywords": keywords}
        reply = self._exchange({"do": "call", "function": function, **given})
        if "after" in reply:
            wire.written_back([arguments, keywords], reply["after"])
        value = reply.get("value")
        if "shared" in reply:  # with an argument: so it is here, too
            return wire.written_back(arguments[reply["shared"]], value)
        return value

    def effort(
        self, function: Remote, arguments: list[Any], forward: str | None
    ) -> tuple[int, str, float]:
        """Call a function, and return what it took."""
        given = {"arguments": arguments, "forward": forward}
        reply = self._exchange({"do": "effort", "function": function, **given})
        try:
            calls, kind, seconds = reply["value"]
            return int(calls), str(kind), float(seconds)
        except (LookupError, TypeError, ValueError):
            raise StoppedError("its answer could not be understood") from None

    def put(self, name: str, function: Any) -> None:
        """Put a function of the grader in the place of one there, or that one back."""
        ours = None if isinstance(function, Remote) else function
        self._exchange({"do": "put", "name": name, "function": ours})

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        """Ask, answer the questions that come back, and return the reply."""
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None
        line = wire.dumps(message, self._refer)
        # Each start gets time for loading: a slow import is not the call that took too long.
        loading = self.limits.call_seconds + self.limits.load_seconds
        used = self._spent + process.clock.read()
        seconds = loading if message["do"] == "load" else self._patience
        self._ends.append(min(used + seconds, self._ends[-1]))
        process.until(self._ends[-1] - self._spent, used - self._spent)
        try:
            while True:
                process.send(line)
                reply = wire.loads(process.receive(), self._resolve)
                if not isinstance(reply, dict):
                    raise ValueError("no message")
                if "do" not in reply:
                    break
                line = self._answer(reply)
            raised = wire.exception(reply["raised"]) if "raised" in reply else None
        except StoppedError as stop:
            if isinstance(stop, TooLongError):
                self._patience = min(self._patience, self.limits.next_seconds)
            self._end()
            raise
        except ValueError as error:
            self._end()
            raise StoppedError(f"its answer could not be understood: {error}") from None
        finally:
            self._ends.pop()
            process.until(self._ends[-1] - self._spent, used - self._spent)
        if raised:
            raise raised
        return reply

    def _answer(self, question: dict[str, Any]) -> bytes:
        """Call a function of the grader, such as the f that a submission is given."""
        function: Any = question.get("function")
        if not any(function is ours for ours in self._functions):
            raise ValueError("a function that it was not given")
        try:
            answer: dict[str, Any] = {
                "value": function(*question["arguments"], **question["keywords"])
            }
        except StoppedError:  # our function called the submission, which ended
            raise
        except Exception as error:
            answer = {"raised": wire.told(error, str(error))}
        return wire.dumps(answer, self._refer)

    def _start(self) -> None:
        """Start a process and have the submission loaded in it."""
        if self._spent >= self._ends[0]:
            raise StoppedError(f"the {self.limits.seconds:g} seconds for this exercise are over")
        self._process = Process(self.wall, self.limits, self._busy_at)
        self._started += 1
        try:
            self._process.wait_until_ready()
            source = self.source.decode("latin-1")  # bytes, each as a character
            seconds = SHARE_OF_CELLS * (self.limits.call_seconds + self.limits.load_seconds)
            file = {"path": self.name, "source": source, "skipped": self._slow}
            reply = self._exchange({"do": "load", "seconds": seconds, **file})
            self._slow = reply.get("value", [])
            self.failed = wire.exception(reply["failed"]) if reply.get("failed") else None
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        if self._process is not None:
            self._spent += self._process.clock.read(look=True)
            self._process.end()
            self.printed = self.printed or self._process.printed
            self._process = None

    def _refer(self, thing: Any) -> Any:
        """Return a reference to an object of the submission, or to a function of the grader."""
        if isinstance(thing, Remote):
            if thing._start not in (0, self._started):
                raise StoppedError("what it gave has ended with its process")
            return thing._reference
        if not callable(thing):
            raise TypeError(f"{type(thing).__name__} cannot be handed to a submission")
        if not any(thing is ours for ours in self._functions):
            self._functions.append(thing)
        number = next(i for i, ours in enumerate(self._functions) if ours is thing)
        return {"function": number, "repeatable": getattr(thing, "repeatable", False)}

    def _resolve(self, reference: Any) -> Any:
        """Return the object here that stands for an object or function of the submission."""
        if "function" in reference:
            return self._functions[reference["function"]]
        kind = RemoteFunction if "parameters" in reference else Remote
        return kind(self, reference, self._started)
