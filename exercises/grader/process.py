"""A process for untrusted code, with limits; it ends together with all that it started.

The wall around it keeps it away from the rest of the machine.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time

from course import StoppedError
from grader import traces
from grader.limits import Limits
from grader.wall import Wall

SIGNALLED = 128  # bubblewrap, like a shell, adds this to the number of a signal
SHOWN = 2_000  # bytes of printed text to keep


class TooLongError(StoppedError):
    """It took too long."""


class Process:
    """A running process to exchange lines with. After a ``StoppedError`` it is gone."""

    def __init__(self, wall: Wall, limits: Limits) -> None:
        traces.adopt_orphans()
        self.limits = limits
        self._room = wall.room(["-m", "grader.worker", round(limits.seconds) + 1, limits.memory])
        self.printed = b""
        self._printed_bytes = 0
        self._ended = False
        self._before = traces.children()
        self._process = subprocess.Popen(
            self._room.command,
            cwd=self._room.home,
            env=self._room.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._streams = [self._process.stdin, self._process.stdout, self._process.stderr]
        self._to, self._from, self._output = (s.fileno() for s in self._streams if s)
        self._outgoing, self._incoming = bytearray(), bytearray()
        self._selector = selectors.DefaultSelector()
        # Subtle: it may read nothing. Nothing here may wait for it without a time limit.
        os.set_blocking(self._to, False)
        for source in (self._from, self._output):
            os.set_blocking(source, False)
            self._selector.register(source, selectors.EVENT_READ)

    def send(self, line: bytes) -> None:
        """Send a line now; ``receive`` sends the rest of it.

        Raises
        ------
        StoppedError
            If it has not read the last line: it writes without reading.
        """
        if self._outgoing:
            raise StoppedError("it asks, and does not read the answers")
        self._outgoing += line
        self._write()
        if self._outgoing:
            self._selector.register(self._to, selectors.EVENT_WRITE)

    def receive(self, deadline: float) -> bytes:
        """Wait for a line.

        Parameters
        ----------
        deadline : float
            The end of the wait, by ``time.monotonic()``.

        Raises
        ------
        StoppedError
            If no line comes, or a limit is exceeded.
        """
        searched = 0
        try:
            while (end := self._incoming.find(b"\n", searched)) < 0:
                searched = len(self._incoming)
                self._turn(deadline)
        except StoppedError:
            self.end()
            raise
        line = bytes(self._incoming[:end])
        del self._incoming[: end + 1]
        return line

    def _turn(self, deadline: float) -> None:
        """Send and receive as much as possible now."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TooLongError("it took too long: is there an endless loop?")
        for key, _ in self._selector.select(left):
            if key.fd == self._to:
                self._write()
                if not self._outgoing:
                    self._selector.unregister(self._to)
            elif key.fd == self._output:
                self._listen()
            else:
                self._read()

    def _write(self) -> None:
        try:
            written = os.write(self._to, self._outgoing)
        except BlockingIOError:
            return
        except BrokenPipeError:  # it is gone; reading will say why
            written = len(self._outgoing)
        del self._outgoing[:written]

    def _read(self) -> None:
        data = os.read(self._from, 1 << 16)
        self._incoming += data
        if len(self._incoming) > self.limits.answer:
            raise StoppedError(f"the answer has more than {self.limits.answer:,} bytes")
        if not data:
            raise StoppedError(self._how_it_ended())

    def _listen(self) -> None:
        data = os.read(self._output, 1 << 16)
        self.printed += data[: SHOWN - len(self.printed)]
        self._printed_bytes += len(data)
        if self._printed_bytes > self.limits.output:
            raise StoppedError(f"more than {self.limits.output:,} bytes were printed")
        if not data:
            self._selector.unregister(self._output)

    def _how_it_ended(self) -> str:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "it went on, but stopped answering"
        if self._room.forwards_signals and status > SIGNALLED:
            status = SIGNALLED - status
        if status >= 0:
            return f"it ended the whole program, with exit status {status}"
        if -status in (signal.SIGXCPU, signal.SIGKILL):
            return "the system ended it: too much processor time, or too much memory"
        return f"it crashed: {signal.strsignal(-status)}"

    def end(self) -> None:
        """End the process and everything it has started. May be called twice."""
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        traces.sweep(self._before)
        with contextlib.suppress(OSError):  # the last printed text
            self.printed += os.read(self._output, SHOWN - len(self.printed))
        self._selector.close()
        for stream in self._streams:
            if stream:
                stream.close()
        self._room.leave()
