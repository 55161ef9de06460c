"""Show the progress of a long check."""

import sys
import time
from typing import Any

# On a terminal one line is rewritten every PATIENCE seconds, so a shorter check shows nothing. In a
# log each line stays: one in LOG_EVERY seconds makes 120 in an hour.
PATIENCE, LOG_EVERY = 2.0, 30.0


class Progress:
    """Counts the evaluations of f, and reports the count and the expected total.

    By default it writes to stderr: on a terminal a line that is erased at the end, elsewhere plain
    lines. With ``tell=False`` it is silent. A function is called with ``(done, total)``.
    """

    def __init__(self, tell: Any = None) -> None:
        self.tell, self.total, self.done = tell, 0, 0
        self.seconds = 0.0  # about how long one evaluation takes
        self.stderr = sys.stderr if tell is None else None  # None in a program without console
        self.terminal = bool(self.stderr and self.stderr.isatty())
        self.begun = self.last = time.monotonic()
        self.shown = False

    def tick(self, count: int = 1) -> None:
        """Count evaluations."""
        self.done += count
        if callable(self.tell):
            self.tell(self.done, max(self.total, self.done))
        now = time.monotonic()
        if now - self.last >= (PATIENCE if self.terminal else LOG_EVERY):
            self.last, self.shown = now, self.terminal
            of_about = f" of about {self.total}" if self.done < self.total else ""
            took = f"{now - self.begun:.0f} s"
            self._write(f"gradcheck: {self.done}{of_about} evaluations of f, {took}")

    def close(self) -> None:
        """Erase the line."""
        if self.shown:
            self._write("")

    def _write(self, line: str) -> None:
        if self.stderr:
            self.stderr.write(f"\r{line}\x1b[K" if self.terminal else f"{line}\n")
            self.stderr.flush()
