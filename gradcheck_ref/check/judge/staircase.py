"""The stair of f that x lies on: how far f does not change, and how far it jumps at the ends.

A relu that is off does not change either, but it leaves its value without a jump. So the check
closes in on the ends.
"""

from collections.abc import Callable

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL, Stair
from gradcheck_ref.structure.parts import Part

# Where f does not change, steps up to 2**6 times longer than those so far are tried.
FARTHER = 6

# The bracket around an end becomes PARTS times shorter so often: 4**6 = 4096 times in all.
TIMES, PARTS = 6, 4

# n times closer to the end, f has left its value by as much if it jumps, or by one of a few stairs.
# If it bends it has by n times less, and at the start of a root by n**(1/2) or n**(1/3).
STEEPEST = 1 / 4

# Rounding makes jumps of a few spacings of the dtype.
ROUNDINGS = 100.0


@QUIETLY
def stair_at(evidence: Evidence, part: Part) -> Stair | None:
    """Return the stair that x lies on along one axis of an input, where the claim matters most.

    Cost: none, unless a claim fails where f stands still, or is unsure on stairs. Then at most 48
    evaluations, beyond the usual budget, but within a limit of the caller.
    """
    ask, table = evidence.question.ask, evidence.table
    fails = (evidence.ruling.verdict == FAIL) & (evidence.best.state == State.FLAT)
    asked = fails | (evidence.reasons == "stairs")
    asked &= np.isfinite(evidence.claimed) & part.holds(evidence.rows)[:, None]
    cost = 2 * (FARTHER + TIMES * (PARTS - 1))
    if not asked.any() or (ask.budget.limited and ask.budget.left <= cost):
        return None
    size = np.abs(evidence.claimed) * evidence.units[:, None]
    k, column = np.unravel_index(np.argmax(np.where(asked, size, -1.0)), size.shape)
    line, here = table.lines[k], ask.here[column]

    def moves(steps: Array) -> Array:
        return np.asarray(ask.many([(line, t) for t in steps.tolist()])[:, column] - here)

    at = table.where[k][table.where[k] >= 0][::-1]  # from the shortest step on
    ends, jumps = np.array([-np.inf, np.inf]), np.zeros(2)
    for side in (0, 1):
        found = table.values[at, side, column] - here
        ends[side], jumps[side] = _end(table.places[at, side], found, moves) or (ends[side], 0.0)
    if not jumps.max() > ROUNDINGS * ask.precision * abs(here):
        return None
    name, x = part.entry(line.start - part.start), float(ask.inputs.x[line.start])
    start, end = (x + ends).tolist()
    return Stair(name, x, start, end, float(jumps.max()))


def _end(steps: Array, found: Array, moves: Callable[[Array], Array]) -> tuple[float, float] | None:
    """Close in on the end of a stair on one side of x; return the step there, and the jump of f.

    It is None if f never changes, or leaves its value without a jump.
    """
    if not found.any():
        farther = steps[-1] * 2.0 ** np.arange(1, FARTHER + 1)
        steps, found = np.append(steps, farther), np.append(found, moves(farther))
    if not found.any():
        return None
    steps, found = np.append(0.0, steps), np.append(0.0, found)
    for number in range(TIMES):
        beyond = int(np.argmax(found != 0))
        if number == TIMES // 2:
            far, first = steps[beyond], abs(found[beyond])
        steps = np.linspace(steps[beyond - 1], steps[beyond], PARTS + 1)
        found = np.concatenate([[0.0], moves(steps[1:-1]), [found[beyond]]])
    beyond = int(np.argmax(found != 0))
    jump, closer = abs(found[beyond]), (far - steps[beyond - 1]) / (steps[1] - steps[0])
    return (float(steps[beyond]), float(jump)) if first < jump * closer**STEEPEST else None
