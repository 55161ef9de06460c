"""The evaluations of f that a check may take, and how many of them are left."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from gradcheck_ref.check.call.progress import Progress


class Budget:
    """The evaluations of a check that are left.

    Parameters
    ----------
    progress : Progress
        Counts the evaluations.
    most : float
        Their maximum number.
    limited : bool
        Whether the caller set that limit: then nothing comes on top of it.
    """

    def __init__(self, progress: Progress, most: float = math.inf, limited: bool = False) -> None:
        self.progress, self.most, self.limited = progress, most, limited

    @property
    def left(self) -> float:
        """How many evaluations are left."""
        return max(0.0, self.most - self.progress.done)

    @property
    def before_slopes(self) -> float:
        """How many are left if at least half of all are kept for slopes."""
        return self.most // 2 - self.progress.done

    def times(self, each: int) -> int:
        """Return how many measurements of so many evaluations are affordable."""
        # One stays for the last question: does f change if a whole input moves?
        return int(min(max(0.0, self.left - 1), 2**62) // each)

    @contextmanager
    def apart(self, most: float) -> Iterator[None]:
        """Spend up to so many evaluations that come on top of the others, unless there is a limit.

        They are not taken from what is left for entries.
        """
        before, spent = self.most, self.progress.done
        if not self.limited:
            self.most = spent + most
        yield
        if not self.limited:
            self.most = before + self.progress.done - spent

    @contextmanager
    def kept(self, few: int) -> Iterator[None]:
        """Keep a few evaluations for a later question."""
        self.most -= few
        yield
        self.most += few
