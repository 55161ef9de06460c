"""A jump of f near x: the trace of a solver, or of an iteration that stops at a tolerance.

Such an f is smooth at short steps, because it makes the same number of steps at all points there.
Its slope is off by about the tolerance, so a right claim fails. A little farther away the number of
steps is another one, and f jumps. A jump stays as large as it is when the points come closer to it.
A kink, a sharp bend and a wave do not.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.survey import ALL_AXES
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL

# The farthest point on each side, relative to x, and the number of points on each side.
FAR, POINTS = 2.0**-3, 12

# The points come closer eight times, with three new points among five, so by 4**8 = 65536 in all.
TIMES, NEW = 8, 3

# A jump is this much larger than what f changes between two such points by its slope, and than its
# noise.
LARGER = 20.0

# Tolerances are below 0.1, and most mistakes are larger: then no point is worth its evaluation.
NEARLY_RIGHT = 0.1


@QUIETLY
def jump_near(evidence: Evidence) -> float:
    """Return the size of a jump of f near x, in the output that fails most; 0 if none is found.

    Cost: no evaluation, unless all axes were measured, and the claim is nearly right but fails on
    half of them, because a solver spoils most slopes. Then 48, beyond the usual budget, but within
    a limit of the caller.
    """
    question, at = evidence.question, evidence.best
    fails = (evidence.ruling.verdict == FAIL) & (at.state == State.SMOOTH)
    cost = 2 * POINTS + TIMES * NEW
    budget = question.ask.budget
    too_many = budget.limited and budget.left <= cost
    if not fails.any() or question.size > ALL_AXES or too_many:
        return 0.0
    off = np.where(fails, np.abs(evidence.residual), 0.0)
    column = int(np.argmax(off.max(axis=0)))
    if 2 * np.count_nonzero(fails[:, column]) < question.size:
        return 0.0
    if not np.linalg.norm(off[:, column]) <= NEARLY_RIGHT * np.linalg.norm(at.slope[:, column]):
        return 0.0
    ask = question.ask
    ray = Line(ask.inputs, 0, ask.inputs.size, seed_of(question.seed, "jumps"), None, True)

    def values(steps: Array) -> Array:
        return ask.many([(ray, t) for t in steps.tolist()])[:, column]

    steps = np.arange(1.0, POINTS + 1) / POINTS * FAR
    behind, ahead = np.split(values(np.concatenate([-steps[::-1], steps])), 2)
    found = np.concatenate([behind, ask.here[[column]], ahead])
    places = np.concatenate([-steps[::-1], [0.0], steps])
    start = int(np.argmax(np.abs(np.diff(found, 4))))  # large where f is least like a polynomial
    places, found = places[start : start + NEW + 2], found[start : start + NEW + 2]
    for _ in range(TIMES):
        odd = int(np.argmax(np.abs(_unlike_others(places, found))))
        places = np.linspace(places[odd], places[odd + 1], NEW + 2)
        found = np.concatenate([found[[odd]], values(places[1:-1]), found[[odd + 1]]])
    jump = float(np.abs(_unlike_others(places, found)).max())
    smooth = float(np.median(np.abs(np.diff(found))))
    noise = float(question.noise.level[column])
    step = float(question.noise.resolution[column])  # rounded values jump everywhere
    return jump if jump > LARGER * max(smooth, noise, step) else 0.0


def _unlike_others(places: Array, found: Array) -> Array:
    """Return how far the change between two neighbors is from that of the typical slope."""
    apart = np.diff(places)
    slopes = np.diff(found) / apart
    return np.asarray((slopes - np.median(slopes)) * apart)
