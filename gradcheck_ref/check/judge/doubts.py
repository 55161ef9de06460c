"""Doubts about a fail: the rounding of the claim itself, and stairs of f.

They turn *fail* into *unsure*, never into *pass*. Equal inputs are another doubt: see `ties`.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from gradcheck_ref.check.claim.identities import DEVIATIONS, ROUNDINGS_OF_PRODUCT
from gradcheck_ref.check.claim.rounding import rounding_of_claims
from gradcheck_ref.check.judge.settle import Evidence
from gradcheck_ref.check.judge.whole import SHORT
from gradcheck_ref.check.measure.ladder import rung_at
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.pilot import no_pilots
from gradcheck_ref.check.results import FAIL, PASS

# The change of a claim a few spacings of x away is one draw of its rounding. In 180 trials the
# rounding was never more than four times the largest of three draws.
OWN_ROUNDINGS, DRAWS = 4.0, 3

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
    if claims.matrix is not None and question.ask.precision > SHORT:
        shares, inputs = question.rounding_of_claims, question.ask.inputs
        parts = inputs.parts.values()
        lengths = [np.linalg.norm(claims.matrix[part.stretch], axis=0) for part in parts]
        sizes = np.array([max(1, part.size) for part in parts])
        typical = (shares / np.sqrt(sizes))[:, None] * lengths
        rounding = np.fmax(rounding, DEVIATIONS * typical[inputs.numbers_of(evidence.rows)])
    if (wrong & (rounding > 0)).any():
        evidence.doubts = evidence.doubts._replace(own_rounding=rounding)
        evidence.rejudge()


def weigh_stairs(evidence: Evidence) -> None:
    """Find out whether failing claims are the slope between two stairs of f, and allow for it.

    A staircase is no reason to fail. Cost: 6 evaluations, if only a pilot shows its stairs.
    """
    question, fails = evidence.question, evidence.ruling.verdict == FAIL
    inputs, noise = question.ask.inputs, copy(question.noise)
    if not ((fails & (noise.stairs > 0)).any() and question.affordable):
        return
    noise.pilots = no_pilots(question.ask)
    line = Line(inputs, 0, inputs.size, (question.seed,))
    room = np.abs(line.direction).sum() * evidence.ruling.allowed.max(axis=0)
    claimed = question.claimed_along([line])
    between = Evidence(replace(question, noise=noise), [line], claimed, lambda *_: room, 0.0)
    between.look_at(rung_at(BETWEEN_STAIRS))
    literal = fails & (between.ruling.verdict == PASS)
    evidence.doubts = evidence.doubts._replace(literal=literal)
    evidence.rejudge()
