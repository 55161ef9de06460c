"""A process for untrusted code, with limits; it ends together with all that it started."""

import contextlib
import os
import select
import signal
import subprocess
import time

from course import StoppedError
from grader import traces
from grader.clock import POLL, TELLS_DELAYS, Clock, offspring
from grader.limits import START_SECONDS, Limits
from grader.wall import Wall

SIGNALLED = 128  # bubblewrap, like a shell, adds this to the number of a signal
SHOWN = 2_000  # bytes of printed text to keep


class TooLongError(StoppedError):
    """It took too long."""


class NotGradedError(BaseException):
    """The machine is too busy to say anything about the submission; no check may catch this."""


class Process:
    """A running process to exchange lines with. After a ``StoppedError``, end it.

    Limits of time are those of its ``clock``; ``busy_at`` is the time of ``time.monotonic()`` when
    the machine is called too busy.
    """

    def __init__(self, wall: Wall, limits: Limits, busy_at: float = float("inf")) -> None:
        traces.adopt_orphans()
        self.limits = limits
        self.printed, self._printed_bytes = b"", 0
        self._room = wall.room(["-m", "grader.worker", round(limits.seconds) + 1, limits.memory])
        self._before = traces.children()
        how = self._room.how | dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self._process = subprocess.Popen(**how, bufsize=0, start_new_session=True)
        opened = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._streams = [stream for stream in opened if stream]
        self._to, self._from, self._output = (stream.fileno() for stream in self._streams)
        self._heard = [self._from, self._output]
        self._outgoing, self._incoming = bytearray(), bytearray()
        self.clock = self._new_clock()
        self._busy_at = busy_at
        self.until(START_SECONDS)
        # Subtle: it may read nothing. Nothing here may wait for it without a time limit.
        for end in (self._to, *self._heard):
            os.set_blocking(end, False)

    def _new_clock(self) -> Clock:
        return Clock(lambda: offspring(os.getpid(), self._before))

    def wait_until_ready(self) -> None:
        """Wait for its first line, before any code of the submission runs; then its time begins."""
        try:
            self.receive()
        except StoppedError as stop:
            raise NotGradedError(f"its process could not be started: {stop}") from None
        self.clock = self._new_clock()

    def send(self, line: bytes) -> None:
        """Send as much of a line as it takes now; ``receive`` sends the rest."""
        if self._outgoing:
            raise StoppedError("it asks, and does not read the answers")
        self._outgoing += line
        self._write()

    def until(self, limit: float, used: float = 0.0) -> None:
        """Set the limit of what its clock may show; ``used`` is what it shows, or less."""
        self._limit = limit
        self._look_at = time.monotonic() + min(max(limit - used, 0.02), POLL)

    def receive(self) -> bytes:
        """Wait for a line."""
        while b"\n" not in self._incoming:
            self._turn()
        line, _, self._incoming = self._incoming.partition(b"\n")
        return bytes(line)

    def _turn(self) -> None:
        """Send and receive as much as possible now."""
        if time.monotonic() >= self._look_at:
            self._look_at_the_clock()
        seconds = max(self._look_at - time.monotonic(), 0)
        unsent = [self._to] if self._outgoing else []
        readable, writable, _ = select.select(self._heard, unsent, [], seconds)
        if writable:
            self._write()
        if self._output in readable:
            data = os.read(self._output, 1 << 16)
            self.printed += data[: SHOWN - len(self.printed)]
            self._printed_bytes += len(data)
            if self._printed_bytes > self.limits.output:
                raise StoppedError(f"more than {self.limits.output:,} bytes were printed")
            if not data:
                self._heard.remove(self._output)
        if self._from in readable:
            data = os.read(self._from, 1 << 16)
            self._incoming += data
            if len(self._incoming) > self.limits.answer:
                raise StoppedError(f"the answer has more than {self.limits.answer:,} bytes")
            if not data:
                raise StoppedError(self._how_it_ended())

    def _look_at_the_clock(self) -> None:
        """End it if its time is over, or if it gets too little time; otherwise look again later."""
        used, cpu = self.clock.read(look=True), self.clock.cpu
        idle = cpu < used / 2
        if used >= self._limit and (TELLS_DELAYS or not idle):
            why = "does it sleep, or wait for something?" if idle else "is there an endless loop?"
            raise TooLongError(f"it took too long: {why}")
        if used >= self._limit or time.monotonic() >= self._busy_at:
            raise NotGradedError(
                f"the machine was too busy: {cpu:.1f} seconds of processor time in "
                f"{self.clock.elapsed:.0f} seconds; grade it again when there is less other work"
            )
        self.until(self._limit, used)

    def _write(self) -> None:
        try:
            del self._outgoing[: os.write(self._to, self._outgoing)]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it is gone; reading will say why
            self._outgoing.clear()

    def _how_it_ended(self) -> str:
        begun = self.clock.read(look=True)
        while (status := self._process.poll()) is None:
            if self.clock.read(look=True) - begun > 1:  # of its own time: to end takes some, too
                return "it went on, but stopped answering"
            time.sleep(0.01)
        if self._room.forwards_signals and status > SIGNALLED:
            status = SIGNALLED - status
        if status >= 0:
            return f"it ended the whole program, with exit status {status}"
        # Its own limits end it in other ways: by an error where it asks for memory, and by SIGXCPU.
        # This may be the memory of the machine, which others have used. Alone, it will show.
        early = self.clock.cpu < self.limits.seconds / 2
        if -status == signal.SIGKILL and early and not self.limits.alone:
            raise NotGradedError(
                "the system ended its process, as it does when the machine has no memory left; "
                "grade it again when there is less other work"
            )
        if -status in (signal.SIGXCPU, signal.SIGKILL):
            return "the system ended it: too much processor time, or too much memory"
        return f"it crashed: {signal.strsignal(-status)}"

    def end(self) -> None:
        """End the process and everything it has started. May be called twice."""
        if self._streams[0].closed:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        traces.sweep(self._before)
        with contextlib.suppress(OSError):  # the last printed text
            self.printed += os.read(self._output, SHOWN - len(self.printed))
        for stream in self._streams:
            stream.close()
        traces.remove(self._room.home)
