"""Refused claims that are the slopes nearest to x: there f is a wave, far shorter than x itself.

All longer steps take such a wave for noise around a slower function, agree on the slope of that
one, and refuse the right claim. Noise itself is no slope at the shortest steps.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.measure.ladder import GOLDEN
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL

# The rungs from 1e-8 units on, each 18 times closer to x.
NEAREST = np.arange(36, 61, 6)

# The evaluations for one line, and one that is always kept; they come on top of the others.
NEAREST_COST = 2 * len(NEAREST) + 1

# Two slopes beside each other, those that differ least, bear a claim out if both are within this
# part of it, and within so many times what they differ by, and what truncation and so many
# roundings of f leave.
BORNE_OUT, AS_CLOSE, ROUNDINGS = 0.03, 4.0, 16.0

# Truncation is of order 2.
SMALLER = GOLDEN ** (2 * 6)


@QUIETLY
def right_nearest(evidence: Evidence) -> Array:
    """Return which refused claims the slopes nearest to x bear out, (lines, outputs).

    Cost: none without noise. Else 10 evaluations for the worst line, and, if its claim is borne
    out, for each other one. After that, those that are not affordable are taken as right, too.
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


def _borne_out(evidence: Evidence, lines: Array, unasked: bool) -> Array:
    """Return which claims along some lines are the slopes nearest to x; else ``unasked``."""
    table, noise = evidence.table, evidence.question.noise
    some = lines[:, None], NEAREST - table.top
    wanted = np.zeros(table.exists.shape, bool)
    wanted[some] = True
    table, _ = table.asked(wanted)
    known = table.where[some] >= 0
    values = table.values[table.where[some]]
    steps = np.where(known, np.diff(table.places[table.where[some]])[..., 0], np.nan)[..., None]
    slopes = (values[:, :, 1] - values[:, :, 0]) / steps
    apart = np.abs(np.diff(slopes, axis=1))
    claimed = evidence.claimed[lines, None]
    error = np.maximum(np.abs(slopes - claimed)[:, 1:], np.abs(slopes - claimed)[:, :-1])
    truncation = np.concatenate([0 * apart[:, :1], apart[:, :-1] / SMALLER], axis=1)
    room = AS_CLOSE * (apart + truncation) + ROUNDINGS * noise.floor / steps[:, 1:]
    close = (error <= np.fmin(BORNE_OUT * np.abs(claimed), room)) & (slopes[:, 1:] != 0)
    best = np.where(np.isfinite(apart), apart, np.inf).argmin(axis=1)[:, None]
    found = np.take_along_axis(close, best, axis=1)[:, 0]
    return np.where(known.all(axis=1, keepdims=True), found, unasked)
