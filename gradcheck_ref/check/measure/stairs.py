"""Stairs beside a smooth part: a loss in few digits, and a penalty in many, for example.

Next to x such an f moves as its smooth part does, and seems to have no noise. Farther away its
values leave what slope and curvature at x explain, each time by a multiple of one step.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.ladder import WIDE, Table

# So many leaps must be multiples of the least one, within this part of it; the others are none.
LEAPS, EXACT, NONE = 5, 1e-3, 1e-2

# Steps are at least so many roundings of f, and at most this part of |f|.
ROUNDINGS, SMALL = 100.0, 1e-2


@np.errstate(all="ignore")
def stairs_along(table: Table, eps: Array) -> Array:
    """Return the step between what slope and curvature at x leave unexplained; 0 if there is none.

    The result is (outputs,). Cost: none.
    """
    here = table.ask.here
    line, rung = np.nonzero(table.where >= 0)
    if not line.size:
        return np.zeros(here.size)
    at = table.where[line, rung]
    places, moves = table.places[at][..., None], table.values[at] - here
    closest = np.searchsorted(line, line, side="right") - 1
    (behind, ahead), (one, other) = (both[closest].swapaxes(0, 1) for both in (moves, places))
    slope, bend = (ahead - behind) / (other - one), (ahead + behind) / (other**2 + one**2)
    left = moves - slope[:, None] * places - bend[:, None] * places**2
    # Steps of at most 0.085 units, so that the third derivative hardly matters.
    left = np.abs(left[rung + table.top >= WIDE]).reshape(-1, here.size)
    size = np.abs(here)
    return np.array([_step(*one) for one in zip(left.T, eps * size, size, strict=True)])


def _step(left: Array, rounding: float, size: float) -> float:
    """Return a step; all numbers that are not small are multiples of it. 0 if there is none."""
    leaps = left[left > NONE * left.max(initial=0.0)]
    if leaps.size < LEAPS or not np.isfinite(left).all():
        return 0.0
    step = float(leaps.min())
    exact = (np.abs(leaps / step - np.rint(leaps / step)) <= EXACT).all()
    quiet = left.size == leaps.size or left[left < step].max() <= EXACT * step
    return step if exact and quiet and ROUNDINGS * rounding < step <= SMALL * size else 0.0
