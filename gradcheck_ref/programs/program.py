"""A program that is asked, one thing at a time: started, greeted, timed, and started again."""

import contextlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gradcheck_ref.check.words import setting
from gradcheck_ref.conversation.child import Child
from gradcheck_ref.conversation.messages import LineError, read_line, shortened
from gradcheck_ref.conversation.starting import why_not_started
from gradcheck_ref.programs.description import FILES_INSTEAD, Hello, ProgramError
from gradcheck_ref.programs.folder import Folder
from gradcheck_ref.programs.notes import NoValue
from gradcheck_ref.programs.table import EXCUSES, PROTOCOL, REPLIES, ROLE

TIMEOUT = 60.0  # seconds for a value: losses of large models take some
FIRST_TIMEOUT = 300.0  # for the first reply of each kind: what compiles does so then
NO_HELLO = 5.0  # then whoever waits is told so: few programs take that long, but for compilers
PATIENCE = 0.5  # seconds to end by itself, once its input has ended
# How often programs may give no reply, of either kind. Then nothing more is asked: a check is to
# come to an end.
MOST = {"silent": 5, "ended": 50}

UNHEARD = "Does it read line by line, write a line for each, and flush it?"

# Who reads lines into a buffer may have so many bytes there, or 16 times as many.
SHORT = 4096

# The longest right line: so much for a real, in any notation, and so much for the rest. How long a
# description is, nobody knows before.
A_REAL, THE_REST = 64, 10_000
LONGEST_DESCRIPTION = 10**9


class LostError(Exception):
    """There is no answer: the program says so, has ended, or is silent.

    Attributes
    ----------
    none : NoValue
        Which, and what is known of it.
    """

    def __init__(self, none: NoValue) -> None:
        super().__init__(str(none))
        self.none = none


class Losses:
    """How often programs that work together gave no reply, and that it was too often, if so."""

    def __init__(self) -> None:
        self.counts, self.too_many = Counter[str](), ""

    def add(self, kind: str) -> str:
        """Count one; say that it is one too many, if so."""
        self.counts[kind] += 1
        if self.counts[kind] >= MOST[kind]:
            was = "was " if kind == "silent" else ""
            self.too_many = f"it {was}{kind} {MOST[kind]} times: the rest was not asked"
        return self.too_many


class Program:
    """A program that speaks the protocol.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    timeout, first_timeout : float
        Seconds for a point, and for the first reply of each kind.
    losses : Losses
        Where it is counted how often it gave no reply, with those that it works with: together they
        have as many as one alone.

    Attributes
    ----------
    hello : Hello
        What it has said, once it is started.
    folder : Folder
        Where large arrays are written for it, and by it.
    tell : callable or None
        Who is told, in a sentence, that it is slow to say hello; once.
    """

    def __init__(
        self, command: Sequence[str], timeout: float, first_timeout: float, losses: Losses
    ) -> None:
        self.command, self.timeout, self.first_timeout = list(command), timeout, first_timeout
        self.hello: Hello
        self.folder, self.losses = Folder(), losses
        self.tell: Callable[[str], object] | None = None
        self._child: Child | None = None
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._took: dict[str, float] = {}  # seconds that the first reply of each kind has taken
        self._known: set[str] = set()  # what it has been asked since it was started
        self._number = self._said = 0  # of requests, and bytes of the last one
        self._stopped = ""

    def start(self) -> None:
        """Start it, if it does not run, and greet it.

        Raises
        ------
        ProgramError
            If it does not start, or does not say hello.
        """
        with self._lock:  # it may be stopped by somebody else while it starts
            if self._stopped:
                raise ProgramError(self._stopped)
            if self._child is not None:
                return
            try:
                self._child = Child(self.command)
            except (OSError, ValueError) as error:
                raise ProgramError(why_not_started(self.command, error)) from error
        self._lines.clear()
        self._known.clear()
        try:
            reply = self._asked("hello", 0, 1, {"protocol": PROTOCOL, "role": ROLE})
        except LostError as error:
            slow = f". {UNHEARD} If it is slow to start, {setting('first_timeout')} gives it longer"
            hint = slow if error.none.kind == "silent" else ""
            self.end()
            raise ProgramError(f"it does not reply to hello: it {error}{hint}") from None
        self.hello = Hello.read(reply)

    def ask(self, what: str, reals: int = 0, count: int = 1, /, **keys: Any) -> dict[str, Any]:
        """Ask for something, and return the reply, which keeps the table.

        Parameters
        ----------
        what : str
            One of those in the table.
        reals : int
            How many reals the reply may have: a longer line is no reply.
        count : int
            How many points are asked for: so many times the time.
        **keys : any
            What else is in the request.

        Raises
        ------
        LostError
            If it says that there is no answer; or if it ends, or does not answer in time. Then it
            starts again when it is asked next.
        ProgramError
            If the reply is none, or it was started too often.
        """
        self.start()
        return self._asked(what, reals, count, keys)

    def _asked(self, what: str, reals: int, count: int, keys: dict[str, Any]) -> dict[str, Any]:
        child = self._child
        if child is None:
            raise ProgramError(self._stopped)
        if self._lines:
            self._break(f"it wrote a line that nobody asked for: {_shown(self._lines[0])}")
        self._number += 1
        request = {"id": str(self._number), "ask": what, **keys}
        child.longest = LONGEST_DESCRIPTION if what == "describe" else A_REAL * reals + THE_REST
        line = json.dumps(request, allow_nan=False).encode() + b"\n"
        self._said = len(line)
        child.say(line)
        begun = time.monotonic()
        heard = self._heard(child, self._patience(what, count), what)
        self._took.setdefault(what, time.monotonic() - begun)
        self._known.add(what)
        try:
            reply = read_line(heard)
        except LineError as error:
            self._break(
                f"its reply to {what} cannot be read: {error}. It is: {_shown(heard)}. A reply is "
                "one line of JSON; whatever else is to be said belongs on stderr"
            )
        if (said := reply.get("id")) != request["id"]:
            self._break(
                f"its reply to {what} has the id {shortened(json.dumps(said), 40)} instead of "
                f'"{request["id"]}": a line for every line, in their order, with its id as it is'
            )
        if why := REPLIES[what].wrong(reply, "it"):
            old = f". Base64 is not read any more. {FILES_INSTEAD}" if b'"base64"' in heard else ""
            self._break(f"its reply to {what} is none: {why}{old}. It is {shortened(reply)}")
        for kind in EXCUSES:
            if reply.get(kind) is not None:
                raise LostError(NoValue(kind, reply[kind]))
        return reply

    def _patience(self, what: str, count: int) -> float:
        """Return how long a reply may take; the first one since it was started takes longer.

        How much longer is known once it has been started before: what is silent at some points
        would else cost the time of a compiler for each. To start again may take as long as ever.
        """
        usual = self.timeout * count
        if what in self._known:
            return usual
        if what in self._took and what != "hello":
            return usual + 2 * self._took[what]
        return max(usual - self.timeout, 0.0) + self.first_timeout

    def _heard(self, child: Child, seconds: float, what: str) -> bytes:
        until = time.monotonic() + seconds
        while not self._lines:
            left = until - time.monotonic()
            early = self.tell if what == "hello" and left > NO_HELLO else None
            heard = child.hear(NO_HELLO if early else left)
            if isinstance(heard, list):
                self._lines.extend(heard)
            elif heard == "silence" and early:
                self.tell = None
                early(
                    f"no hello after {NO_HELLO:g} s{_begun(child)}. {UNHEARD} It has "
                    f"{left - NO_HELLO:.0f} s more"
                )
            elif heard == "oversized":
                self._break(
                    f"its reply to {what} has more than {child.longest} bytes, though a right one "
                    "is shorter"
                )
            elif heard == "silence":
                first = what not in self._known and what != "hello"
                hint = f" ({setting('first_timeout')} gives it longer)" if first else ""
                said = f"gave no reply within {seconds:g} s{_begun(child)}{hint}{child.words}"
                self._lose("silent", said)
            elif self._stopped:  # it did not end by itself
                raise ProgramError(self._stopped)
            else:
                self._lose("ended", child.exit_text())
        return self._lines.popleft()

    def _lose(self, kind: str, how: str) -> None:
        """End it, for it gave no reply; after too many such losses nobody starts it again."""
        self.end()
        if why := self.losses.add(kind):
            self.stop(why)
        if self._said > SHORT:
            how += f" (the request had {self._said} bytes: can it read a line as long as that?)"
        raise LostError(NoValue(kind, how))

    def _break(self, why: str) -> NoReturn:
        self.end()
        raise ProgramError(why)

    def stop(self, why: str) -> None:
        """End it, and let nobody start it again; another thread may be waiting for a reply."""
        with self._lock:
            self._stopped = why
        self.end()

    def end(self) -> None:
        """End it, and what it has started."""
        child = self._child
        if child is not None:
            child.end()
            self._child = None  # now, and not before: what interrupts this ends it again

    def leave(self) -> None:
        """Let it end by itself, for good, and remove its folder."""
        with self._lock:
            self._stopped = "it was ended: the function is closed"
        child = self._child
        if child is not None:
            with contextlib.suppress(OSError):
                child.leave(PATIENCE)
            self._child = None
        self.folder.remove()


def _begun(child: Child) -> str:
    """Say of a line that it has begun, and not ended, what is there of it."""
    return f", but a line that does not end: {_shown(child.begun)}" if child.begun else ""


def _shown(line: bytes) -> str:
    return shortened(line.decode(errors="replace"), 120) if line.strip() else "an empty line"
