"""What one trial asks of f: its values at three steps on both sides of x, along some lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Line, short_steps
from gradcheck_ref.stage5_adaptive import RATIO, SHORTEST

# The three steps are so many times shorter than the longest, on both sides: behind and ahead; and
# so many evaluations.
SHORTER = RATIO ** np.arange(3.0)[:, None]
SIDES = np.concatenate([-1 / SHORTER, 1 / SHORTER]).T
EACH = SIDES.size

# What is not known is NaN or infinity, and goes through the formulas as such.
QUIETLY = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True)
class Samples:
    """Values of f on both sides of x.

    Attributes
    ----------
    lines : sequence of Line
        The lines.
    longest : ndarray, shape (lines,)
        The longest step along each.
    values : ndarray, shape (lines, 2, 3, outputs)
        f behind and ahead; NaN where it was not asked.
    places : ndarray, shape (lines, 2, 3)
        The steps that x has really taken, in its own precision.
    lost, endless : ndarray of bool, shape (lines,)
        Where f was not asked, for the steps lead nowhere or to infinity.
    """

    lines: Sequence[Line]
    longest: Array
    values: Array
    places: Array
    lost: Array
    endless: Array

    @property
    def sizes(self) -> Array:
        """How far x is along each line, (lines,)."""
        return np.array([line.size for line in self.lines])


@QUIETLY
def ask_samples(probe: Probe, lines: Sequence[Line], longest: Array) -> Samples:
    """Ask for f along some lines: 6 evaluations for each, all at once."""
    count, outputs = len(lines), probe.here.size
    sizes = np.array([line.size for line in lines])
    spacings = np.array([line.spacing for line in lines])
    lost = longest / RATIO**2 < SHORTEST * spacings * sizes
    endless = ~np.isfinite(sizes + longest)
    asked = np.flatnonzero(~(lost | endless))
    ts = short_steps(longest[:, None] * SIDES, spacings[:, None], sizes[:, None])
    points = [(lines[r], t) for r in asked.tolist() for t in ts[r].tolist()]
    values = np.full((count, 2, 3, outputs), np.nan, probe.here.dtype)
    values[asked] = probe.many(points).reshape(asked.size, 2, 3, outputs)
    places: Array = np.ones((count, EACH), probe.here.dtype)
    for r in asked.tolist():
        places[r] = lines[r].taken(ts[r])
    return Samples(lines, longest, values, places.reshape(count, 2, 3), lost, endless)
