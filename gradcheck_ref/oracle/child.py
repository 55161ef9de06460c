"""A child process that may do anything: crash, hang, flood, never read.

Three threads keep its pipes moving, so that no pipe that is full can hold up this side. What it
writes is held back at a bounded number of lines.
"""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO, Literal

LONGEST_LINE = 1_000_000  # a reply of more bytes is no reply: the longest right one has 20 000
OVERSIZED = b"(a line of more than %d bytes)" % LONGEST_LINE  # what is told of it
HELD_BACK = 100  # portions of output that wait to be looked at
WORDS = 2000  # bytes of stderr that are kept, of its beginning and of its end
TOLD = 300  # characters of each that are told
LAST_WORDS = 1 << 16  # bytes that are listened to after its input has ended

Event = list[bytes] | Literal["silence", "end", "oversized"]


class Child:
    """A running process, spoken to in lines.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # so that what it starts can be ended with it
        )
        self._to_say: queue.Queue[bytes | None] = queue.Queue()
        self._heard: queue.Queue[Event] = queue.Queue(HELD_BACK)
        self._over = threading.Event()
        self._first_words = self._last_words = b""
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._write, self._read, self._drain)
        ]
        for thread in self._threads:
            thread.start()

    def say(self, lines: bytes) -> None:
        """Send lines, without waiting until they are read."""
        self._to_say.put(lines)

    def hear(self, seconds: float) -> Event:
        """Wait so long for lines; or learn that it is silent, or has ended, or says too much."""
        try:
            return self._heard.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            return "silence"

    @property
    def words(self) -> str:
        """What it wrote to stderr: all, or the beginning and the end.

        Rust and Java say first what is wrong, and then where; Python says it last.
        """
        first, last = (
            part.decode(errors="replace").strip() for part in (self._first_words, self._last_words)
        )
        if len(self._first_words) < WORDS and len(first) <= 2 * TOLD:
            return f"; stderr: {first}" if first else ""
        return f"; stderr begins with: {first[:TOLD]} ... and ends with: {last[-TOLD:]}"

    def leave(self, patience: float) -> tuple[list[bytes], int]:
        """Let it end by itself, for there are no more questions.

        Returns what it says all the same, and its exit status: 0 if it does not end within
        ``patience`` seconds, and is ended. Of one that goes on talking no more is heard.
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
            elif heard == "end" or gone:  # what it has started may keep its output open
                break
        else:
            until = 0.0  # it will not end by itself
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(until - time.monotonic(), 0))
        status = self._process.poll() or 0
        self.end()
        return said, status

    def end(self) -> None:
        """End it, and all it has started, now."""
        if self._over.is_set():
            return
        self._over.set()
        self._to_say.put(None)
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(1)
        for pipe in self._pipes():
            with contextlib.suppress(OSError):
                pipe.close()

    def exit_text(self) -> str:
        """Say how it ended, if it has, and its last words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        self._threads[2].join(0.2)
        code = self._process.poll()
        ended = "closed its output" if code is None else f"ended with status {code}"
        return ended + self.words

    def _pipes(self) -> list[IO[bytes]]:
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        return [pipe for pipe in pipes if pipe is not None]

    def _write(self) -> None:
        stdin = self._pipes()[0]
        with contextlib.suppress(OSError, ValueError):  # it has stopped reading, or is gone
            while (lines := self._to_say.get()) is not None:
                while lines:
                    lines = lines[os.write(stdin.fileno(), lines) :]
        with contextlib.suppress(OSError):
            stdin.close()

    def _read(self) -> None:
        stdout, begun = self._pipes()[1], b""
        with contextlib.suppress(OSError, ValueError):
            while portion := os.read(stdout.fileno(), 1 << 16):
                *lines, begun = (begun + portion).split(b"\n")
                if lines:
                    self._tell(lines)
                if len(begun) > LONGEST_LINE:
                    self._tell("oversized")
                    return
        if begun:
            self._tell([begun])
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
