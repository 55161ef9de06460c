"""Refused claims that are the slopes nearest to x: there f is a wave, far shorter than x itself.

All longer steps take such a wave for noise around a slower function, agree on the slope of that
one, and refuse the right claim. Noise itself is no slope at the shortest steps.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.measure.ladder import DOWN, WIDE
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL

# The last rungs of the ladder, from 2e-10 units on, each 4.2 times closer to x.
NEAREST = np.arange(DOWN - 1 - 6 * WIDE, DOWN, WIDE)

# The evaluations for one line, and one that is always kept; they come on top of the others.
NEAREST_COST = 2 * len(NEAREST) + 1

# What two slopes beside each other extrapolate to is off by so much of what the shorter one leaves,
# and so many roundings of f and x.
LEFT, ROUNDINGS = 0.25, 5.0

# It bears a claim out that is within this part of what the claim differs by from the slope that
# refuses it, if it is twice as sharp itself.
BORNE_OUT = 0.1


@QUIETLY
def right_nearest(evidence: Evidence) -> Array:
    """Return which refused claims the slopes nearest to x bear out, (lines, outputs).

    Cost: none without noise. Else 14 evaluations for the worst line, and, if its claim is borne
    out, for each other one. After that, those that nothing tells of are taken as right, too.
    """
    noise, budget = evidence.question.noise, evidence.question.ask.budget
    loud = (evidence.ruling.verdict == FAIL) & (noise.level > noise.quiet)
    if not loud.any():
        return np.asarray(loud)
    off = np.where(loud & np.isfinite(evidence.residual), np.abs(evidence.residual), 0.0)
    off = off.max(axis=1, initial=0.0)
    lines = np.argsort(-off)[: np.count_nonzero(off)]
    right = np.zeros(loud.shape, bool)
    with budget.apart(NEAREST_COST):
        right[lines[:1]] = _borne_out(evidence, lines[:1], False)
    if (right & loud).any():
        right[lines[1:]] = _borne_out(evidence, lines[1:], True)
    return np.asarray(right & loud)


def _borne_out(evidence: Evidence, lines: Array, untold: bool) -> Array:
    """Return which claims along some lines are the slopes nearest to x; else ``untold``."""
    table, noise = evidence.table, evidence.question.noise
    some = lines[:, None], NEAREST - table.top
    wanted = np.zeros(table.exists.shape, bool)
    wanted[some] = True
    table, _ = table.asked(wanted)
    known = table.where[some] >= 0
    values = table.values[table.where[some]]
    steps = np.where(known, np.diff(table.places[table.where[some]])[..., 0], np.nan)[..., None]
    slopes = (values[:, :, 1] - values[:, :, 0]) / steps
    far, near, claimed = slopes[:, :-1], slopes[:, 1:], evidence.claimed[lines, None]
    left = (near - far) / ((steps[:, :-1] / steps[:, 1:]) ** 2 - 1)  # truncation is of order 2
    slope = near + left
    size = np.abs(noise.ask.here) + np.abs(claimed) * evidence.units[lines, None, None]
    room = LEFT * np.abs(left) + ROUNDINGS * noise.eps * size / steps[:, 1:]
    # Steps longer than the wave may agree by chance, but not with all shorter ones.
    apart = np.abs(slope[:, :, None] - slope[:, None]) - room[:, None] / 2  # of each two pairs
    shorter = np.triu(np.ones(apart.shape[1:3], bool), 1)[..., None]
    room = np.fmax(room, np.where(shorter, apart, 0.0).max(axis=2))
    enough = BORNE_OUT * np.abs(evidence.residual[lines, None])
    tells = (far != 0) & (near != 0) & (room <= enough / 2)
    best = tells.shape[1] - 1 - tells[:, ::-1].argmax(axis=1)[:, None]  # the shortest one
    right = np.take_along_axis(np.abs(slope - claimed) <= enough, best, axis=1)[:, 0]
    return np.where(known.all(axis=1, keepdims=True) & tells.any(axis=1), right, untold)
