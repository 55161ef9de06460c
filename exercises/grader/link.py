"""A submission in another process, as an object with functions: what the checks get to see.

The checks run here, and compare here. A submission can change ``assert``, NumPy or anything else in
its own process, but that changes only its answers, never the judgment of them.
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

SHARE_OF_CELLS = 0.8  # of the time to load it: what is left is for its way here and back


class Remote:
    """A submission, or something in it: its attributes are fetched when they are asked for."""

    __source__: str  # of a submission
    __forget__: Callable[[], None]

    def __init__(self, link: "Link", reference: Any, text: str) -> None:
        self._link, self._reference, self._text = link, reference, text

    def __getattr__(self, name: str) -> Any:
        """Fetch an attribute; a private one is not looked for."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self._link.get(self, name)

    def __repr__(self) -> str:
        """Say what it calls itself there."""
        return self._text


class RemoteFunction(Remote):
    """A function of the submission."""

    def __init__(self, link: "Link", reference: Any, text: str, parameters: list[str]) -> None:
        super().__init__(link, reference, text)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(p, kind) for p in parameters])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call it there."""
        return self._link.call(self._reference, list(arguments), keywords)


class Link:
    """The conversation with one submission, in a process that is started anew when it has ended.

    Use it as a context: it leaves no process and no file behind.

    Parameters
    ----------
    name : str
        The name of the file that is handed in.
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
        self._started = 0  # how often; what was spoken of before a start is lost
        self._functions: list[Callable[..., Any]] = []  # ours, that it was given
        self._deadlines = [time.monotonic() + limits.seconds]
        self._patience = limits.call_seconds
        self.failed: Exception | None = None  # what its file was not ended by
        self._slow: Any = []  # lines that took too long when it was loaded, as it says

    def __enter__(self) -> "Link":
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def submission(self) -> Remote:
        """Load the submission; what it raises by that is raised here."""
        self._start()
        submission = Remote(self, None, f"<submission {self.name}>")
        submission.__forget__ = self.forget
        submission.__source__ = self.source.decode("utf-8", errors="replace")
        return submission

    def forget(self) -> None:
        """End the process: the next call finds one that knows nothing of the calls before."""
        self._end()

    def get(self, owner: Remote, name: str) -> Any:
        """Fetch an attribute of the submission, or of something in it."""
        reply = self._exchange(owner._reference, {"get": name})
        if "missing" in reply:
            raise AttributeError(f"{owner!r} has no {name!r}")
        thing = self._decoded(reply.get("value"))
        if owner._reference is None and isinstance(thing, Remote):
            thing._reference = {"name": name}  # a name still means something after a new start
        return thing

    def call(self, reference: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Call a function; what it does to its arguments is done to those here."""
        sent = [wire.encode(part, self._refer) for part in (arguments, keywords)]
        reply = self._exchange(reference, {"arguments": sent[0], "keywords": sent[1]})
        if "after" in reply:
            wire.write_back([arguments, keywords], self._decoded(reply["after"]))
        return self._decoded(reply.get("value"))

    def _exchange(self, reference: Any, message: dict[str, Any]) -> dict[str, Any]:
        """Ask, answer what is asked back meanwhile, and return the reply."""
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
        # Loading has its time at every start: what it imports may be slow, and is not what hung.
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
        """Call a function of ours, as a submission calls the f that it is given."""
        asked = [question["ask"], question.get("arguments"), question.get("keywords")]
        number, arguments, keywords = asked[0], *(self._decoded(part) for part in asked[1:])
        if not (isinstance(number, int) and 0 <= number < len(self._functions)):
            raise ValueError("a function that it was not given")
        try:
            value = self._functions[number](*arguments, **keywords)
        except StoppedError:  # it called back, and ended
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
            self._process.receive(begun + START_SECONDS)  # nothing of the submission is run yet
            self._deadlines[0] += time.monotonic() - begun  # a slow machine is not its fault
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
        """Return the reference to something of theirs, or to a function of ours."""
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
        """Return a reference as they know it; what was kept in a process has ended with it."""
        if not isinstance(reference, tuple):
            return reference
        number, start = reference
        if start != self._started:
            raise StoppedError("what it gave has ended with its process")
        return number

    def _resolve(self, reference: Any) -> Any:
        """Return what stands here for something of theirs; their function is one, too."""
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
    """Build what was raised there: of the same name, and of the nearest kind that is known here."""
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
    """Return the first that is known; what is no Exception there, SystemExit, becomes one here."""
    for kind in (getattr(builtins, kind, None) for kind in kinds):
        if isinstance(kind, type) and issubclass(kind, Exception):
            with contextlib.suppress(TypeError):  # some want more than a text
                kind("")
                return kind
    return Exception
