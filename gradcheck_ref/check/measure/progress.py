"""A line on the terminal while a long check runs."""

import sys
import time
from types import TracebackType

# Shorter checks are over before one has read the line.
PATIENCE = 2.0

# Pause between two states of the line, in seconds.
REFRESH = 0.2


class Progress:
    """A line on stderr, if it is a terminal and the check is going to take longer than a moment.

    Parameters
    ----------
    rows : int
        How many coordinates are to be looked at.
    evaluations : int
        How many evaluations of f that takes at least.
    seconds : float
        How long one evaluation takes.
    """

    def __init__(self, rows: int, evaluations: int, seconds: float) -> None:
        self.rows, self.evaluations = rows, evaluations
        self.shown = evaluations * seconds > PATIENCE and sys.stderr.isatty()
        self.done = 0
        self.last = time.monotonic()

    def __enter__(self) -> "Progress":
        """Say what is to come."""
        self._show(f"about {self.evaluations} evaluations of f to come")
        return self

    def tick(self) -> None:
        """Count one coordinate, and refresh the line a few times a second."""
        self.done += 1
        if time.monotonic() - self.last >= REFRESH:
            self.last = time.monotonic()
            # Doubtful coordinates are looked at more than once.
            again = "" if self.done <= self.rows else ", doubtful ones again"
            self._show(f"{min(self.done, self.rows)} of {self.rows} coordinates{again}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wipe the line."""
        self._show("")

    def _show(self, text: str) -> None:
        if self.shown:
            sys.stderr.write("\r" + (f"gradcheck: {text}" if text else "") + "\x1b[K")
            sys.stderr.flush()
