"""A program that answers one request at a time: start it, greet it, time it, start it again."""

import contextlib
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gradcheck_ref.check.words import setting
from gradcheck_ref.conversation.child import Child
from gradcheck_ref.conversation.messages import LineError, excuses, read_line, shortened
from gradcheck_ref.conversation.starting import why_not_started
from gradcheck_ref.programs.description import FILES_INSTEAD, Hello, ProgramError
from gradcheck_ref.programs.folder import Folder
from gradcheck_ref.programs.notes import NoValue
from gradcheck_ref.programs.table import EXCUSES, PROTOCOL, REPLIES, ROLE

TIMEOUT = 60.0  # seconds for a value: losses of large models take some time
FIRST_TIMEOUT = 300.0  # for the first reply of each kind, since programs that compile do it then
NO_HELLO = 5.0  # seconds until the user gets a message; only compilers take that long
PATIENCE = 0.5  # seconds to end by itself, once its input has ended
# How often programs may give no reply, of either kind, before the check stops: it must end some
# time.
MOST = {"silent": 5, "ended": 50}

UNHEARD = "Does it read line by line, write a line for each, and flush it?"

# Common sizes of a program's input buffer: so many bytes, or 16 times as many.
SHORT = 4096

# The bytes of the longest valid line: for a real, in any notation, and for the rest. The length of
# a description cannot be known in advance.
A_REAL, THE_REST = 64, 10_000
LONGEST_DESCRIPTION = 10**9


class LostError(Exception):
    """There is no answer: the program says so, has ended, or is silent.

    Attributes
    ----------
    none : NoValue
        Which of these, and why.
    """

    def __init__(self, none: NoValue) -> None:
        super().__init__(str(none))
        self.none = none


class Losses:
    """Counts how often programs that work together gave no reply; notes when it was too often."""

    def __init__(self) -> None:
        self.counts, self.too_many = Counter[str](), ""

    def add(self, kind: str) -> str:
        """Count one more; return a sentence if it is one too many."""
        self.counts[kind] += 1
        if self.counts[kind] >= MOST[kind]:
            was = "was " if kind == "silent" else ""
            self.too_many = f"it {was}{kind} {MOST[kind]} times, so the check stopped asking"
        return self.too_many


class Program:
    """A program that uses the protocol.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    timeout, first_timeout : float
        Seconds for a point, and for the first reply of each kind.
    losses : Losses
        Counts the missing replies of all programs that work together; they share one limit.

    Attributes
    ----------
    hello : Hello
        Its reply to hello, once it is started.
    folder : Folder
        The folder for large arrays in both directions.
    tell : callable or None
        Called once, with a sentence, if it is slow to say hello.
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
        self._known: set[str] = set()  # kinds of request since it was started
        self._number = self._said = 0  # the number of requests, and bytes of the last one
        self._stopped = ""

    def start(self) -> None:
        """Start it, if it does not run, and greet it.

        Raises
        ------
        ProgramError
            If it does not start, or does not say hello.
        """
        with self._lock:  # another thread may stop it while it starts
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
        """Send a request, and return the reply, which fits the table.

        Parameters
        ----------
        what : str
            A request of the table.
        reals : int
            How many reals the reply may have; a longer line is refused.
        count : int
            How many points the request has; each adds to the time limit.
        **keys : any
            The other keys of the request.

        Raises
        ------
        LostError
            If it says that there is no answer, ends, or does not answer in time. It is started
            again for the next request.
        ProgramError
            If the reply is wrong, or it was started too often.
        """
        self.start()
        return self._asked(what, reals, count, keys)

    def _asked(self, what: str, reals: int, count: int, keys: dict[str, Any]) -> dict[str, Any]:
        child = self._child
        if child is None:
            raise ProgramError(self._stopped)
        if self._lines:
            self._break(f"it wrote a line without a request: {_shown(self._lines[0])}")
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
                "one line of JSON; any other output belongs on stderr"
            )
        if (said := reply.get("id")) != request["id"]:
            self._break(
                f"its reply to {what} has the id {shortened(json.dumps(said), 40)} instead of "
                f'"{request["id"]}": send one reply per request, in order, with the same id'
            )
        if why := REPLIES[what].wrong(reply, "it"):
            old = f". Base64 is no longer read. {FILES_INSTEAD}" if b'"base64"' in heard else ""
            self._break(f"its reply to {what} is wrong: {why}{old}. It is {shortened(reply)}")
        for kind in EXCUSES:
            if excuses(reply.get(kind)):
                raise LostError(NoValue(kind, reply[kind]))
        return reply

    def _patience(self, what: str, count: int) -> float:
        """Return how long a reply may take; the first one after a start may take longer.

        After a restart the limit follows from the first start: otherwise a program that hangs at
        some points would get the time of a compiler each time. A hello may always take longer.
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
                    f"{left - NO_HELLO:.0f} s left"
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
        """End it, since it gave no reply; after too many losses it is not started again."""
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
        """End it for good; another thread may be waiting for a reply."""
        with self._lock:
            self._stopped = why
        self.end()

    def end(self) -> None:
        """End it and its own children."""
        child = self._child
        if child is not None:
            child.end()
            self._child = None  # not earlier: after an interruption, end it again

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
    """Describe an unfinished line, if there is one."""
    return f", but a line that does not end: {_shown(child.begun)}" if child.begun else ""


def _shown(line: bytes) -> str:
    return shortened(line.decode(errors="replace"), 120) if line.strip() else "an empty line"
