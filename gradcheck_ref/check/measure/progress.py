"""How far a long check has come, told to whoever wants to know."""

import sys
import time
from typing import Any

# Shorter checks are over before one has read the line.
PATIENCE = 2.0

# Pause between two states of the line, in seconds: on a terminal, where it is written over; and
# elsewhere, as in a log, where each is a line of its own.
REFRESH, LOG_EVERY = 0.2, 30.0


class Progress:
    """Tells how many of about how many evaluations of f are done.

    On a terminal that is one line, which is gone afterwards, for checks that take longer than a
    moment; elsewhere a plain line every half a minute; with ``tell=False`` nothing. If ``tell`` is
    a function, it is told ``(done, total)`` instead.
    """

    def __init__(self, tell: Any = None) -> None:
        self.tell = tell
        self.total = self.done = 0
        self.begun = self.last = time.monotonic()
        self.shown = False

    def __enter__(self) -> "Progress":
        """Begin."""
        return self

    def expect(self, total: int, seconds: float) -> None:
        """Say how many evaluations there will be, more or less, and how long one takes."""
        self.total = total
        if self.tell is None and total * seconds > PATIENCE and _is_terminal():
            self._write(f"about {total} evaluations of f to come")

    def tick(self, count: int = 1) -> None:
        """Count evaluations."""
        self.done += count
        if callable(self.tell):
            self.tell(self.done, max(self.total, self.done))
        if self.tell is not None:
            return
        now = time.monotonic()
        if now - self.last < REFRESH or now - self.begun < PATIENCE:
            return
        terminal = _is_terminal()
        if terminal or now - self.last >= LOG_EVERY:
            self.last = now
            more = f" of about {self.total}" if self.done < self.total else ""
            text = f"{self.done}{more} evaluations of f"
            if terminal:
                self._write(text)
            else:
                print(f"gradcheck: {text}, {now - self.begun:.0f} s", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        """Wipe the line."""
        if self.shown:
            self._write("")

    def _write(self, text: str) -> None:
        self.shown = bool(text)
        sys.stderr.write("\r" + (f"gradcheck: {text}" if text else "") + "\x1b[K")
        sys.stderr.flush()


def _is_terminal() -> bool:
    return bool(sys.stderr is not None and sys.stderr.isatty())
