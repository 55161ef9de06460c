"""A child process that may do anything: crash, hang, write without end, never read.

Three threads keep its pipes moving, so a full pipe never blocks this side. If the child writes
faster than this side reads, it has to wait.

Nothing that the child starts is left behind. The child has its own process group, and the whole
group is ended. On Linux, processes that left the group are found by a mark (left_behind.py).
"""

import contextlib
import math
import os
import queue
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import IO, Literal

from gradcheck_ref.conversation.left_behind import end_marked, marked

LONGEST_LINE = 1_000_000  # bytes of a reply; enough for 20 000 numbers
SHOWN = 120  # characters of an unfinished line in a message
OVERSIZED = b"(a line of more than %d bytes)" % LONGEST_LINE  # stands for a line that is too long
HELD_BACK = 100  # portions of output that may wait until they are read
PORTION = 1 << 20  # bytes to read at a time, if a pipe holds so many
# Python handles a signal that comes just before a wait only after the wait, so waits are short.
A_WHILE = 0.2  # seconds to wait at a time
IMPATIENCE = 2.0  # seconds in which a second signal is ignored
WORDS = 2000  # bytes of stderr to keep, from its beginning and from its end
TOLD = 300  # characters of each in a message
LAST_WORDS = 1 << 16  # bytes to read after its input has ended

Event = list[bytes] | Literal["silence", "end", "oversized"]


class Child:
    """A running process that reads and writes lines.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    longest : int
        Bytes of the longest line it may write.

    Attributes
    ----------
    longest : int
        The same; it may be changed before the first line is sent.
    begun : bytes
        The unfinished line at the end of its output; only the beginning of a long one.

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, command: Sequence[str], longest: int = LONGEST_LINE) -> None:
        self.longest = longest
        self._mark = uuid.uuid4().hex
        environment = marked(self._mark)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # so that its own children can be ended with it
                env=environment,
            )
        except BaseException:  # a signal may come between the start and the return
            end_marked(self._mark, os.getpid())
            raise
        self._to_say: queue.Queue[bytes | None] = queue.Queue()
        self._heard: queue.Queue[Event] = queue.Queue(HELD_BACK)
        self._over = threading.Event()
        self._ended = False
        self._first_words = self._last_words = self._begun = self.begun = b""
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._write, self._read, self._drain)
        ]
        for thread in self._threads:
            thread.start()

    def say(self, lines: bytes) -> None:
        """Send lines, and return before they are read."""
        self._to_say.put(lines)

    def hear(self, seconds: float) -> Event:
        """Wait so long for lines, or until it is silent, has ended or writes too much."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            # Its own children may keep its output open. If it ended without an error, they may do
            # its work, so they get time.
            died = bool(self._process.poll())
            try:
                return self._heard.get(timeout=min(max(left, 0.001), A_WHILE))
            except queue.Empty:
                if died:
                    return "end"
                if left <= A_WHILE:
                    return "silence"

    @property
    def words(self) -> str:
        """The text it wrote to stderr: all of it, or the beginning and the end.

        Rust and Java name the error at the beginning, Python at the end.
        """
        first, last = (
            part.decode(errors="replace").strip() for part in (self._first_words, self._last_words)
        )
        if len(self._first_words) < WORDS and len(first) <= 2 * TOLD:
            return f"; stderr: {first}" if first else ""
        return f"; stderr begins with: {first[:TOLD]} ... and ends with: {last[-TOLD:]}"

    def leave(self, patience: float) -> tuple[list[bytes], int]:
        """Let it end by itself, since there are no more requests.

        Returns the lines that it still writes, up to a limit, and its exit status. If it does not
        end within ``patience`` seconds, it is ended and the status is 0.
        """
        self._to_say.put(None)
        until, said = time.monotonic() + patience, list[bytes]()
        while sum(map(len, said)) + len(said) < LAST_WORDS and time.monotonic() < until:
            gone = self._process.poll() is not None
            heard = self.hear(0.02)
            if isinstance(heard, list):
                said += heard
            elif heard == "oversized":
                said.append(OVERSIZED)
            elif heard == "end" or gone:  # its own children may keep its output open
                break
        else:
            until = 0.0  # it will not end by itself
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(until - time.monotonic(), 0))
        status = self._process.poll() or 0
        self.end()
        return said + [self._begun] * bool(self._begun), status

    def end(self) -> None:
        """End it and all its children now.

        If this is interrupted, call it again: it starts over until it has finished once.
        """
        if self._ended:
            return
        self._over.set()
        self._to_say.put(None)
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        end_marked(self._mark, self._process.pid)
        with contextlib.suppress(queue.Full):  # another thread may be waiting
            self._heard.put_nowait("end")
        for thread in self._threads:
            thread.join(1)
        for pipe in self._pipes():
            with contextlib.suppress(OSError):
                pipe.close()
        self._ended = True

    def exit_text(self) -> str:
        """Say how it ended, if it has, with an unfinished line and the text on stderr."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        self._threads[2].join(0.2)
        code = self._process.poll()
        ended = "closed its output" if code is None else f"ended with status {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):  # a signal without a name
                ended += f", by {signal.Signals(-code).name}"
        begun = self._begun.decode(errors="replace")
        if begun:
            more = "..." if len(begun) > SHOWN else ""
            ended += f" in the middle of a line: {begun[:SHOWN]}{more}"
        return ended + self.words

    def _pipes(self) -> list[IO[bytes]]:
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        return [pipe for pipe in pipes if pipe is not None]

    def _write(self) -> None:
        stdin = self._pipes()[0]
        with contextlib.suppress(OSError, ValueError):  # it stopped reading, or has ended
            while (lines := self._to_say.get()) is not None:
                left = memoryview(lines)
                while left:
                    left = left[os.write(stdin.fileno(), left) :]
        with contextlib.suppress(OSError):
            stdin.close()

    def _read(self) -> None:
        stdout = self._pipes()[1]
        begun: list[bytes] = []  # a line of megabytes comes in many portions
        size = 0
        with contextlib.suppress(OSError, ValueError):
            while portion := os.read(stdout.fileno(), PORTION):
                first, *rest = portion.split(b"\n")
                begun.append(first)
                size += len(first)
                self.begun += first if len(self.begun) <= SHOWN else b""
                if rest:
                    self._tell([b"".join(begun), *rest[:-1]])
                    begun, size = [rest[-1]], len(rest[-1])
                    self.begun = rest[-1]
                if size > self.longest:
                    self._tell("oversized")
                    return
        self._begun = b"".join(begun)
        self._tell("end")

    def _tell(self, event: Event) -> None:
        while not self._over.is_set():
            with contextlib.suppress(queue.Full):
                self._heard.put(event, timeout=0.1)
                return

    def _drain(self) -> None:
        stderr = self._pipes()[2]
        with contextlib.suppress(OSError, ValueError):
            while portion := os.read(stderr.fileno(), 1 << 16):
                self._first_words = (self._first_words + portion)[:WORDS]
                self._last_words = (self._last_words + portion)[-WORDS:]


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    r"""Make other signals act like Ctrl-C inside this block, so that the children are ended.

    They are SIGTERM, SIGHUP (sent when a terminal is closed) and SIGQUIT (sent by Ctrl-\).

    A signal that is ignored, such as SIGHUP under nohup, stays ignored. A second Ctrl-C does not
    stop this process from ending the children.
    """
    stopped = -math.inf

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        before, stopped = stopped, time.monotonic()
        if stopped - before > IMPATIENCE:
            raise KeyboardInterrupt

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    heeded = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
