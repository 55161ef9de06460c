"""How far a long check has come, told to whoever wants to know."""

import sys
import time
from typing import Any

# On a terminal a line is written every PATIENCE seconds, over the last one. A check that is over
# before that would only flicker. In a log each line stays, so there is one in LOG_EVERY seconds:
# a check of an hour leaves 120.
PATIENCE, LOG_EVERY = 2.0, 30.0


class Progress:
    """Counts the evaluations of f, and tells how many of about how many are done.

    By default it writes to stderr: a line that is gone afterwards on a terminal, plain lines
    elsewhere. With ``tell=False`` it is silent. A function is called with ``(done, total)``.
    """

    def __init__(self, tell: Any = None) -> None:
        self.tell, self.total, self.done = tell, 0, 0
        self.stderr = sys.stderr if tell is None else None  # which a program without console lacks
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
        """Wipe the line."""
        if self.shown:
            self._write("")

    def _write(self, line: str) -> None:
        if self.stderr:
            self.stderr.write(f"\r{line}\x1b[K" if self.terminal else f"{line}\n")
            self.stderr.flush()
