"""Doubts about a fail: the rounding of the claim itself, stairs of f, and ties among the inputs.

Such a doubt turns *fail* into *unsure*, never into *pass*.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.identities import DRAWS, ROUNDINGS_OF_PRODUCT, rounding_of_claims
from gradcheck_ref.check.judge.settle import Evidence
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS

# The change of a claim a few spacings of x away is one draw of its rounding. In 180 trials the
# rounding was never more than four times the largest of three draws.
OWN_ROUNDINGS = 4.0

# A step that hardly crosses a stair: stairs shorter than a hundredth of x show without a long look.
BETWEEN_STAIRS = 2.0**-16


@QUIETLY
def weigh_own_rounding(evidence: Evidence) -> None:
    """Measure the rounding of refused claims at points next to x, and allow for it."""
    question, wrong = evidence.question, evidence.ruling.verdict == FAIL
    claims = question.claims
    columns = np.flatnonzero(wrong.any(axis=0))[:100]  # each is computed again, three times
    if not columns.size or claims.random:
        return
    # If f is 0, like the determinant of a singular matrix, its value may be only the rounding that
    # is left when numbers of the size of x, or of 1, cancel.
    inside = ROUNDINGS_OF_PRODUCT * question.noise.eps * min(1.0, float(evidence.units.max()))
    zeros = (evidence.claimed == 0) & (np.abs(question.ask.here) <= inside / 10)
    rounding = np.where(zeros, inside, 0.0)
    for draw in range(DRAWS):
        seed, here = question.seed + draw, evidence.claimed[:, columns]
        own = rounding_of_claims(claims, columns, evidence.rows, here, evidence.units, seed)
        if own is None:
            break
        rounding[:, columns] = np.fmax(rounding[:, columns], OWN_ROUNDINGS * own)
        # An error ten times as large as the rounding has another cause.
        if not (wrong & (10 * rounding > np.abs(evidence.residual))).any():
            break
    if (wrong & (rounding > 0)).any():
        evidence.doubts = evidence.doubts._replace(own_rounding=rounding)
        evidence.rejudge()


def weigh_stairs(evidence: Evidence) -> None:
    """Find out whether failing claims are the slope between two stairs of f, and allow for it.

    Stairs convict nobody. Cost: 6 evaluations, if f has stairs that only a long look shows.
    """
    question, fails = evidence.question, evidence.ruling.verdict == FAIL
    inputs, noise = question.ask.inputs, copy(question.noise)
    if not ((fails & (noise.jump > 0)).any() and question.affordable):
        return
    noise.jump = np.zeros(noise.jump.shape)
    line = Line(inputs, 0, inputs.size, (question.seed,))
    room = np.abs(line.direction).sum() * evidence.ruling.allowed.max(axis=0)
    claimed = question.claimed_along([line])
    between = Evidence(replace(question, noise=noise), [line], claimed, lambda *_: room, 0.0)
    between.measure(np.zeros(1, int), np.array([BETWEEN_STAIRS]))
    literal = fails & (between.ruling.verdict == PASS)
    evidence.doubts = evidence.doubts._replace(literal=literal)
    evidence.rejudge()


@QUIETLY
def weigh_ties(evidence: Evidence) -> None:
    """Find the failing entries that may fail because f has no derivative at x, and allow for it.

    Then the slope along a line is not the sum of the slopes along its parts. For example, the
    median of three equal numbers changes only if two of them do. The parts are all axes if these
    are known, else two halves. Their sum is compared with the slope along the line, like a claim.
    An entry is tied if it is equal to another one, or if f is flat along its axis. Cost: none,
    unless such an entry fails; then 6 evaluations or more for each of a few lines.
    """
    question, at, inputs = evidence.question, evidence.best, evidence.question.ask.inputs
    failing = (evidence.ruling.verdict == FAIL) & np.isfinite(evidence.claimed)
    if not failing.any():
        return
    values, counts = np.unique(inputs.x, return_counts=True)
    equal = np.isin(inputs.x[evidence.rows], values[counts > 1])[:, None]
    still = failing & (at.state == State.FLAT)
    found: Array = failing & (equal | still)
    if not found.any():
        return
    count = 4 if still.any() else 1  # f may be flat along half of the lines, too
    lines = [Line(inputs, 0, inputs.size, (question.seed, k)) for k in range(count)]
    if len(evidence.lines) == inputs.size:
        directions = np.array([line.direction for line in lines])
        slopes = directions @ np.nan_to_num(at.slope)
        room = np.abs(directions) @ (at.bar + question.rtol * np.abs(at.slope))
    else:
        halves = [half for line in lines for half in line.halves()]
        nothing = np.zeros((len(halves), failing.shape[1]))
        parts = Evidence(question, halves, nothing, lambda *_: nothing, 0.0).settle(tries=1).best
        slopes, room = (part[::2] + part[1::2] for part in (parts.slope, parts.bar))
    whole = Evidence(question, lines, slopes, lambda *_: room, 0.0).settle()
    # A kink of the line must not be larger than those of its parts.
    seen, jump = whole.witnesses, whole.witnesses.jump
    within = np.abs(slopes - seen.slope) + jump - FAIL_BARS * (seen.bar - jump) <= room
    outside = np.isfinite(seen.slope) & ~within & (whole.ruling.verdict != PASS)
    otherwise = outside.any(axis=(0, 1))
    if not whole.reached.any():  # no evaluation is left
        found, otherwise = still & equal, np.True_
    evidence.doubts = evidence.doubts._replace(tied=found & otherwise)
    evidence.rejudge()
