"""A line on the terminal while a long check runs."""

import sys
import time
from types import TracebackType

# Shorter checks are over before one has read the line.
PATIENCE = 2.0


class Progress:
    """A line on stderr, if it is a terminal and the check takes longer than a moment.

    Parameters
    ----------
    evaluations : int
        How many evaluations are expected.
    rows : int
        How many coordinates will be ticked off.
    """

    def __init__(self, evaluations: int, rows: int) -> None:
        self.evaluations, self.rows = evaluations, rows
        self.done = 0
        self.shown = False
        self.start = self.last = time.monotonic()

    def __enter__(self) -> "Progress":
        """Start counting."""
        return self

    def tick(self) -> None:
        """Count one coordinate, and refresh the line a few times a second."""
        self.done += 1
        now = time.monotonic()
        if now - self.start < PATIENCE or now - self.last < 0.2 or not sys.stderr.isatty():
            return
        self.last = now
        self.shown = True
        sys.stderr.write(
            f"\rgradcheck: {min(self.done, self.rows)} of {self.rows} coordinates, "
            f"about {self.evaluations} evaluations in all\x1b[K"
        )
        sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wipe the line."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
