"""What was measured along one random line, beside what is claimed of it."""

from dataclasses import dataclass, replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.rule import AT_ROUNDING, FAIL_BARS, best, take
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.measure.samples import QUIETLY
from gradcheck_ref.check.measure.witness import FLAT, Witness

# A claim that is off by so many times what is visible is off for no kink that was overlooked.
CLEARLY_OFF = 100.0


@dataclass
class Crossing:
    """What was measured along one line, by output.

    Attributes
    ----------
    line : RandomLine
        The line.
    claimed : ndarray, shape (outputs,)
        What is claimed of it.
    witnesses : Witness
        All that was measured, (trials, outputs).
    least, eps : ndarray, shape (outputs,)
        What a claim may be off by besides its bar, and the precision of f.
    begun : float
        The step that was tried first.
    """

    line: RandomLine
    claimed: Array
    witnesses: Witness
    least: Array
    eps: Array
    begun: float

    def __post_init__(self) -> None:
        """Choose the witness that saw most of each output."""
        self.found = take(self.witnesses, best(self.witnesses))
        # An f that stands still along a line has the slope 0, if that is what is claimed.
        self.found.rounding[(self.found.state == FLAT) & (self.claimed == 0)] = 0.0

    def and_also(self, other: "Crossing") -> "Crossing":
        """Return what two looks along the line have seen."""
        return replace(self, witnesses=self.witnesses.and_then(other.witnesses))

    @property
    def slope(self) -> Array:
        """The slope of f."""
        return self.found.slope

    @property
    def bar(self) -> Array:
        """Its error bar."""
        return self.found.bar

    @property
    def kink(self) -> Array:
        """How much of that is for a kink."""
        return self.found.kink

    @property
    def visible(self) -> Array:
        """A claim that is off by more does not fit."""
        found, jump = self.found, self.found.jump
        lost = 4 * self.eps * np.abs(found.slope) / found.step
        return jump + FAIL_BARS * (found.bar - jump) + lost + self.least

    @property
    def step(self) -> float:
        """The step that saw most of a typical output; the first one, if no step saw anything."""
        seen = self.found.step[np.isfinite(self.bar)]
        return float(np.median(seen)) if seen.size else self.begun

    @property
    def residual(self) -> Array:
        """Claim minus slope."""
        return np.asarray(self.claimed - self.slope)

    @property
    def zero(self) -> bool:
        """Whether slopes and claims are zero, but for rounding of f."""
        found = (np.abs(self.slope) <= self.bar) & (np.abs(self.claimed) <= FAIL_BARS * self.bar)
        return bool((found & (self.bar <= AT_ROUNDING * self.found.floor)).all())

    @property
    @QUIETLY
    def refused(self) -> Array:
        """Whether the claim does not fit."""
        fits = np.abs(self.residual) <= self.visible
        return np.asarray(np.isfinite(self.slope) & ~fits)  # infinity and NaN do not fit

    @property
    @QUIETLY
    def clearly_off(self) -> Array:
        """Whether the claim does not fit by far: a kink next door would not explain it."""
        return np.asarray(np.abs(self.residual) > CLEARLY_OFF * self.visible)
