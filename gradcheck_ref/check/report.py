"""What a check found: a verdict, the evidence for it, and the sentence that says so."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.check.claims import Fault
from gradcheck_ref.check.verdict import FAIL, PASS, SKIPPED, UNSURE, Pair


@dataclass(frozen=True, eq=False)
class Report:
    """The outcome of a check; true only when everything compared passed.

    Attributes
    ----------
    pairs : tuple of Pair
        For every input and output, the evidence entry by entry.
    faults : tuple of Fault
        What is wrong besides the numbers.
    rtol, atol : float, float or None
        The tolerances asked for.
    seed : int
        Of all randomness in the check.
    evaluations : int
        Calls of f made.
    noise : float
        Measured standard deviation of the noise of f, of its noisiest output.
    """

    pairs: tuple[Pair, ...]
    faults: tuple[Fault, ...]
    rtol: float
    atol: float | None
    seed: int
    evaluations: int
    noise: float

    @property
    def compared(self) -> int:
        """How many entries were looked at and had something to be compared with."""
        return sum(
            int(np.count_nonzero(pair.verdict != SKIPPED))
            for pair in self.pairs
            if pair.analytic is not None
        )

    @property
    def verdict(self) -> str:
        """pass, fail or unsure."""
        verdicts = {code for pair in self.pairs for code in np.unique(pair.verdict).tolist()}
        if self.faults or FAIL in verdicts:
            return "fail"
        return "unsure" if UNSURE in verdicts or not self.compared else "pass"

    @property
    def reason(self) -> str:
        """Why: ok for a pass, else the reason of the first fault or of the worst entry."""
        if self.faults:
            return self.faults[0].reason
        if not self.compared:
            return "empty"
        pair = self.worst_pair
        return str(pair.reason[pair.worst])

    @property
    def worst_pair(self) -> Pair:
        """The pair with the worst entry."""
        looked = [pair for pair in self.pairs if pair.worst is not None]
        return max(
            looked, key=lambda p: (p.verdict[p.worst], np.nan_to_num(p.ratio[p.worst], nan=np.inf))
        )

    def __bool__(self) -> bool:
        """Whether everything compared passed, and something was compared."""
        return self.verdict == "pass"
