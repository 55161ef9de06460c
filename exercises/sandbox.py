"""A process for code that nobody has read: limited, listened to, and ended with all it started.

On Linux and macOS. It keeps accidents and mischief away from the grader. It is no prison; the
containers of the grading platforms are.
"""

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from course import StoppedError

PR_SET_CHILD_SUBREAPER = 36  # Linux: orphans of our children become our children


@dataclass(frozen=True)
class Limits:
    """What a submission may take.

    Attributes
    ----------
    call_seconds : float
        For one call of one function, by the clock on the wall.
    next_seconds : float
        For one call after a call has taken longer than that: in a class of 200, six loops that do
        not end would otherwise take longer than all the rest.
    seconds : float
        For all the checks of an exercise.
    memory : int
        Bytes of address space. NumPy alone takes about 0.3e9.
    answer : int
        Bytes of one answer.
    output : int
        Bytes that may be printed.
    """

    call_seconds: float = 5.0
    next_seconds: float = 1.0
    seconds: float = 60.0
    memory: int = 2_000_000_000
    answer: int = 16_000_000
    output: int = 200_000


SHOWN = 2_000  # bytes of what is printed that are kept


class TooLongError(StoppedError):
    """The clock has stopped it."""


class Sandbox:
    """A running process to exchange lines with. Once it has raised ``StoppedError`` it is gone."""

    def __init__(
        self, command: list[str], folder: Path, environment: dict[str, str], limits: Limits
    ) -> None:
        adopt_orphans()
        self.limits = limits
        self.printed = b""
        self._printed_bytes = 0
        self._ended = False
        self._before = children()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
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
        # Subtle: it need not read what it is sent. Nothing here may wait for it without a clock.
        os.set_blocking(self._to, False)
        for source in (self._from, self._output):
            os.set_blocking(source, False)
            self._selector.register(source, selectors.EVENT_READ)

    def send(self, line: bytes) -> None:
        """Send a line now, or what is left of it as soon as ``receive`` can."""
        waiting = bool(self._outgoing)
        self._outgoing += line
        if not waiting:
            self._write()
            if self._outgoing:
                self._selector.register(self._to, selectors.EVENT_WRITE)

    def receive(self, deadline: float) -> bytes:
        """Wait for a line.

        Parameters
        ----------
        deadline : float
            Until when, by ``time.monotonic()``.

        Raises
        ------
        StoppedError
            If there is none, or if a limit is passed meanwhile.
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
        """Move what can be moved."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TooLongError("it took too long: does a loop not end?")
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
        except BrokenPipeError:  # it is gone, and reading will tell why
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
        if status >= 0:
            return f"it ended the whole program, with exit status {status}"
        if -status in (signal.SIGXCPU, signal.SIGKILL):
            return "the system ended it: too much processor time, or too much memory"
        return f"it crashed: {signal.strsignal(-status)}"

    def end(self) -> None:
        """End the process and whatever it has started. May be called twice."""
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with contextlib.suppress(OSError):  # what was printed last
            self.printed += os.read(self._output, SHOWN - len(self.printed))
        self._selector.close()
        for stream in self._streams:
            if stream:
                stream.close()
        while orphans := children() - self._before:
            for orphan in orphans:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(orphan, signal.SIGKILL)
                    os.waitpid(orphan, 0)


def adopt_orphans() -> None:
    """Have processes that lose their parents become ours, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """Return the processes that are ours; where there is no ``/proc``, none are known."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # gone again
            # pid (name) state parent ...; and a name may hold anything
            if int(path.read_text(errors="replace").rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(path.parent.name))
    return found
