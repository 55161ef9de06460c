"""How far a long check has come, told to whoever wants to know."""

import sys
import time
from typing import Any

# On a terminal a line is written every PATIENCE seconds, over the last one. A check that is over
# before that would only flicker. In a log each line stays, so there is one in LOG_EVERY seconds:
# a check of an hour leaves 120.
PATIENCE, LOG_EVERY = 2.0, 30.0


class Progress:
    """Tells how many of about how many evaluations of f are done.

    By default it writes to stderr: a line that is gone afterwards on a terminal, plain lines
    elsewhere. With ``tell=False`` it is silent. A function is called with ``(done, total)``.
    """

    def __init__(self, tell: Any = None) -> None:
        self.tell = False if tell is None and sys.stderr is None else tell
        self.total = self.done = 0
        self.begun = self.last = time.monotonic()
        self.terminal = bool(sys.stderr is not None and sys.stderr.isatty())
        self.shown = False

    def __enter__(self) -> "Progress":
        """Begin."""
        return self

    def expect(self, total: int, seconds: float) -> None:
        """Say how many evaluations there will be, more or less, and how long one takes."""
        self.total = total
        if self.tell is None and total * seconds > PATIENCE and self.terminal:
            self._write(f"about {total} evaluations of f to come")

    def tick(self, count: int = 1) -> None:
        """Count evaluations."""
        self.done += count
        if callable(self.tell):
            self.tell(self.done, max(self.total, self.done))
        now = time.monotonic()
        if self.tell is None and now - self.last >= (PATIENCE if self.terminal else LOG_EVERY):
            self.last = now
            more = f" of about {self.total}" if self.done < self.total else ""
            took = "" if self.terminal else f", {now - self.begun:.0f} s\n"
            self._write(f"{self.done}{more} evaluations of f{took}")

    def __exit__(self, *_: object) -> None:
        """Wipe the line."""
        if self.shown:
            self._write("")

    def _write(self, text: str) -> None:
        self.shown = bool(text) and self.terminal
        line = text and f"gradcheck: {text}"
        sys.stderr.write(f"\r{line}\x1b[K" if self.terminal else line)
        sys.stderr.flush()
