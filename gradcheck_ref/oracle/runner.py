"""Ask an implementation every question, even if it crashes or hangs.

The requests are pipelined: several are open at a time, so that neither side waits for the other. If
the implementation ends or stops answering while several requests are open, they are asked again one
by one, so that the right vector is blamed.
"""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradcheck_ref.conversation.child import LONGEST_LINE, OVERSIZED, Child, Event
from gradcheck_ref.conversation.messages import LineError, read_line, shortened
from gradcheck_ref.conversation.starting import why_not_started
from gradcheck_ref.oracle.judge import Outcome, judge
from gradcheck_ref.oracle.table import HELLO_REPLY, PROTOCOL, SAY_HELLO
from gradcheck_ref.oracle.vectors import Vector

WINDOW = 64  # open requests: enough to hide the latency of a pipe
TIMEOUT = 10.0  # seconds for a reply: a slow checker needs one, a compiler at start-up several
MOST_SILENCES = 3  # in a row; then the rest is not asked, because a hanging child costs hours
MOST_ENDS = 50  # in a row without a reply; then the rest is not asked, for the same reason
PATIENCE = 1.0  # seconds to end by itself after the last reply


class ImplementationError(Exception):
    """There is nothing to judge: the program does not start, or does not say hello."""


class StoppedError(KeyboardInterrupt):
    """The run was stopped, by Ctrl-C for example; ``found`` is what was judged by then."""

    def __init__(self, found: "Run", asked: int) -> None:
        self.found = found
        super().__init__(f"it was stopped after {len(found.outcomes)} of {asked} questions")


@dataclass
class Run:
    """The result of a run.

    Attributes
    ----------
    name : str
        The name that the implementation gives itself.
    outcomes : list of Outcome
        One for each vector that was asked, in the order of the vectors.
    declined : list of Vector
        The vectors that its hello does not promise to answer.
    restarts : int
        How often it had to be started again.
    strays : int
        Lines that answer no question.
    answers : list of str
        The kinds and groups that its hello promises to answer.
    first_stray : str
        The first line that answers no question, shortened.
    ending : str
        How it ended after the last question, if this was wrong.
    """

    name: str = ""
    outcomes: list[Outcome] = field(default_factory=list)
    declined: list[Vector] = field(default_factory=list)
    restarts: int = 0
    strays: int = 0
    answers: list[str] = field(default_factory=list)
    first_stray: str = ""
    ending: str = ""

    def stray(self, line: bytes) -> None:
        """Count a line that answers no question."""
        self.strays += 1
        self.first_stray = self.first_stray or shortened(line.decode(errors="replace"), 100)

    def promises(self, kind: str, group: str) -> bool:
        """Whether its hello promises an answer."""
        return kind in self.answers or group in self.answers

    def promised(self, vectors: Iterable[Vector]) -> list[Vector]:
        """Return the vectors that its hello promises to answer, and note the others."""
        vectors = list(vectors)
        self.declined = [v for v in vectors if not self.promises(v.kind, v.group)]
        return [v for v in vectors if self.promises(v.kind, v.group)]


Choice = Callable[[Callable[[str, str], bool]], Iterable[Vector]]


def run(
    command: Sequence[str],
    vectors: Iterable[Vector] | Choice,
    *,
    timeout: float = TIMEOUT,
    longest: float = math.inf,
    progress: Callable[[int, int], object] | None = None,
) -> Run:
    """Judge an implementation.

    Parameters
    ----------
    command : sequence of str
        The program that speaks the protocol, and its arguments.
    vectors : iterable of Vector, or callable
        The questions; or a function that chooses them after hello. It gets a function of a kind
        and a group, true where the program promises an answer.
    timeout : float
        Seconds that a reply may take.
    longest : float
        Seconds for the whole run; questions that are not asked by then count as errors.
    progress : callable, optional
        Called now and then with the number of vectors done, and of all.

    Returns
    -------
    Run

    Raises
    ------
    ImplementationError
        If the program does not start, or does not say hello correctly.
    StoppedError
        A ``KeyboardInterrupt`` with the outcomes so far, if it is stopped once it has begun to ask.
    """
    tell = progress or (lambda done, of: None)
    session = _Session(command, timeout, time.monotonic() + longest, tell)
    return session.run(vectors)


@dataclass
class _Session:
    """One run: questions to ask, open questions, and results."""

    command: Sequence[str]
    timeout: float
    ends_at: float
    progress: Callable[[int, int], object]
    found: Run = field(default_factory=Run)
    to_ask: deque[Vector] = field(default_factory=deque)
    on_the_way: dict[str, Vector] = field(default_factory=dict)
    settled: dict[str, Outcome] = field(default_factory=dict)
    # Settled by a line that is not a reply; the reply may still come.
    guessed: set[str] = field(default_factory=set)
    asked: int = 0  # how many it promises to answer
    careful: int = 0  # this many are asked one by one
    silences: int = 0  # in a row
    ends: int = 0  # in a row
    waiting_since: float = 0.0

    def run(self, vectors: Iterable[Vector] | Choice) -> Run:
        """Ask everything."""
        promised: list[Vector] = []
        child = self._started()
        try:
            asked = vectors(self.found.promises) if callable(vectors) else vectors
            promised = self.found.promised(asked)
            if self.found.declined and not promised:
                said = shortened(self.found.answers)
                raise ImplementationError(f"it answers {said}, and none of that is asked")
            self.to_ask.extend(promised)
            self.asked = len(promised)
            while self.to_ask or self.on_the_way:
                self._ask(child)
                if not self._listen(child):
                    child.end()
                    child = self._started_again()
            self._take_leave(child)
        except _GiveUpError as reason:
            for vector in (*self.on_the_way.values(), *self.to_ask):
                self._settle(Outcome(vector, "error", f"not asked: {reason}"))
        except KeyboardInterrupt:
            self.found.outcomes = [self.settled[v.id] for v in promised if v.id in self.settled]
            raise StoppedError(self.found, self.asked) from None
        finally:  # whatever happens, leave no process behind
            child.end()
        self.progress(self.asked, self.asked)
        self.found.outcomes = [self.settled[v.id] for v in promised]
        return self.found

    # --- starting ----------------------------------------------------------------------------

    def _started(self) -> Child:
        try:
            child = Child(self.command)
        except OSError as error:
            raise ImplementationError(why_not_started(self.command, error)) from error
        try:
            self._hello(child)
        except BaseException:
            child.end()
            raise
        return child

    def _hello(self, child: Child) -> None:
        child.say(json.dumps(SAY_HELLO).encode() + b"\n")
        heard = self._first_heard(child)
        if heard == "silence":
            raise ImplementationError(
                f"no reply to hello within {self.timeout:g} s. Does it write a line for every "
                "line, and flush it? If it is slow to start, --timeout gives it longer"
                + child.words
            )
        if heard == "oversized":
            raise ImplementationError(f"hello is answered by more than {LONGEST_LINE} bytes")
        if heard == "end":
            raise ImplementationError(f"it does not reply to hello: it {child.exit_text()}")
        try:
            reply = read_line(heard[0])
        except LineError as error:
            said = shortened(heard[0].decode(errors="replace"))
            raise ImplementationError(
                f"the reply to hello cannot be read: {error}. It is: {said}. "
                "Whatever else is to be said belongs on stderr"
            ) from error
        self._check_hello(reply)
        for line in heard[1:]:
            self.found.stray(line)

    def _first_heard(self, child: Child) -> Event:
        """Return the first line that is not empty."""
        until = time.monotonic() + self.timeout
        while (left := until - time.monotonic()) > 0:
            heard = child.hear(left)
            if not isinstance(heard, list):
                return heard
            if lines := [line for line in heard if line.strip()]:
                return lines
        return "silence"

    def _check_hello(self, reply: dict[str, Any]) -> None:
        if why := HELLO_REPLY.wrong(reply, "the reply to hello"):
            raise ImplementationError(
                f'the reply to hello must hold "id": "hello", "protocol": {PROTOCOL}, a name, and '
                f'answers, a list such as ["stencil", "compare/torch"]: {why}. '
                f"It is {shortened(reply)}"
            )
        self.found.name, self.found.answers = reply["name"], list(dict.fromkeys(reply["answers"]))

    def _take_leave(self, child: Child) -> None:
        """Let it end; lines after the last reply count as usual."""
        said, status = child.leave(PATIENCE)
        for line in said:
            self._take(line)
        if status:
            self.found.ending = f"ended with status {status}{child.words}"

    def _started_again(self) -> Child:
        self.found.restarts += 1
        try:
            return self._started()
        except ImplementationError as error:
            raise _GiveUpError(f"it could not be started again, {error}") from error

    # --- questions and replies ---------------------------------------------------------------

    def _ask(self, child: Child) -> None:
        """Fill the window when half of it is free."""
        window = 1 if self.careful else WINDOW
        if len(self.on_the_way) > window // 2:
            return
        if not self.on_the_way:
            self.waiting_since = time.monotonic()
        lines = []
        while self.to_ask and len(self.on_the_way) < window:
            vector = self.to_ask.popleft()
            self.on_the_way[vector.id] = vector
            lines.append(json.dumps(vector.request, allow_nan=False).encode() + b"\n")
        if lines:
            child.say(b"".join(lines))

    def _listen(self, child: Child) -> bool:
        """Read the replies; return whether the child can go on."""
        if time.monotonic() > self.ends_at:
            raise _GiveUpError("the time that all of it may take is over")
        until = min(self.waiting_since + self.timeout, self.ends_at + 0.01)
        heard = child.hear(until - time.monotonic())
        if isinstance(heard, list):
            for line in heard:
                self._take(line)
            self.progress(len(self.settled), self.asked)
            return self.waiting_since + self.timeout > time.monotonic() or self._silent(child)
        if heard == "silence":
            return time.monotonic() > self.ends_at or self._silent(child)
        if heard == "oversized":
            self._take_for_one(OVERSIZED, f"a reply of more than {LONGEST_LINE} bytes")
            self._again()
        else:
            self._gone(f"it {child.exit_text()}")
        return False

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            reply = read_line(line)
        except LineError as error:
            self._take_for_one(line, f"the reply cannot be read: {error}")
            return
        identity = reply.get("id")
        identity = identity if isinstance(identity, str) else None
        if identity == "hello":  # already printed, and answers no question
            self.found.stray(line)
        elif identity in self.on_the_way:
            self._settle(judge(self.on_the_way[identity], reply))
        elif identity in self.guessed:
            self.guessed.remove(identity)
            self._settle(judge(self.settled[identity].vector, reply))
        elif identity in self.settled:
            vector = self.settled[identity].vector
            self._settle(Outcome(vector, "error", "replied to twice", shortened(reply)))
        else:
            self._take_for_one(line, f"the reply has the id {shortened(reply.get('id'), 60)}")

    def _take_for_one(self, line: bytes, why: str) -> None:
        """Count a line that is not a reply, and treat it as the reply to the oldest open request.

        So the run does not wait for a reply that this line may have been. If it comes, it counts.
        """
        self.found.stray(line)
        if self.on_the_way:
            self.guessed.add(next(iter(self.on_the_way)))
            self._blame(why, line.decode(errors="replace"))

    def _blame(self, why: str, got: str = "") -> None:
        """Blame the oldest open request."""
        vector = next(iter(self.on_the_way.values()))
        self._settle(Outcome(vector, "error", why, shortened(got)))

    def _settle(self, outcome: Outcome) -> None:
        oldest = next(iter(self.on_the_way), None)
        self.settled[outcome.vector.id] = outcome
        self.on_the_way.pop(outcome.vector.id, None)
        self.careful = max(self.careful - 1, 0)
        if outcome.vector.id == oldest:
            self.waiting_since = time.monotonic()
        if outcome.got:
            self.silences = self.ends = 0

    # --- failures ----------------------------------------------------------------------------

    def _silent(self, child: Child) -> bool:
        if not self.on_the_way:
            return True
        if len(self.on_the_way) == 1 or self.careful:
            self.silences += 1
            self._blame(f"no reply within {self.timeout:g} s{child.words}")
            if self.silences >= MOST_SILENCES:
                raise _GiveUpError(f"it was silent {MOST_SILENCES} times in a row")
        self._again()
        return False

    def _gone(self, how: str) -> None:
        self.ends += 1
        if len(self.on_the_way) == 1 or self.careful:
            self._blame(how)
        if self.ends >= MOST_ENDS:
            raise _GiveUpError(f"it ended {MOST_ENDS} times in a row without a reply")
        self._again()

    def _again(self) -> None:
        """Ask the open questions again, one by one."""
        self.careful = max(self.careful, len(self.on_the_way))
        self.to_ask.extendleft(reversed(self.on_the_way.values()))
        self.on_the_way.clear()


class _GiveUpError(Exception):
    """More questions would take too long, and show nothing."""
