"""What is to be judged, by what measure, and how much may be asked."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims
from gradcheck_ref.check.judge.tolerance import Tolerance
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.samples import EACH


@dataclass(frozen=True)
class Case:
    """A function at a point, and what is claimed of it.

    Attributes
    ----------
    probe, noise : Probe, Noise
        Where f is called, and how noisy it is; perhaps of combinations of its outputs.
    claims : Claims
        What is claimed.
    tolerance : Tolerance
        What is allowed.
    seed : int
        Of all lines.
    most : float
        Most calls of f.
    limited : bool
        Whether the caller limited the calls.
    demanded : bool
        Whether the caller asked for the tolerance: then all entries are to be held to it.
    """

    probe: Probe
    noise: Noise
    claims: Claims
    tolerance: Tolerance
    seed: int
    most: float
    limited: bool
    demanded: bool

    @property
    def size(self) -> int:
        """How many coordinates the inputs have."""
        return self.probe.x.size

    @property
    def affordable(self) -> int:
        """How many witnesses there are evaluations left for."""
        return int(max(0, self.most - self.probe.evaluations) // EACH)

    def claimed(self, rows: Array) -> Array:
        """Return what is claimed of some coordinates, (rows, outputs)."""
        if rows.size:
            self._return_to_x()
        return self.claims.rows(rows)

    def claimed_along(self, lines: Sequence[RandomLine]) -> Array:
        """Return what is claimed along some lines, (lines, outputs)."""
        self._return_to_x()
        return np.array([self.claims.along(line) for line in lines])

    def _return_to_x(self) -> None:
        """Call f at x before a jvp is asked: it may use what the last call of f has kept.

        A matrix is known by then.
        """
        if self.claims.matrix is None and self.probe.elsewhere and self.affordable:
            self.probe.forward()
