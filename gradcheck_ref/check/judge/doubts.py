"""A doubt about a fail: the rounding of the claim itself.

It turns *fail* into *unsure*, never into *pass*. Equal inputs are another doubt: see `ties`.
"""

import numpy as np

from gradcheck_ref.check.claim.identities import DEVIATIONS, ROUNDINGS_OF_PRODUCT
from gradcheck_ref.check.claim.rounding import rounding_of_claims
from gradcheck_ref.check.judge.settle import Evidence
from gradcheck_ref.check.judge.whole import SHORT
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL

# The change of a claim a few spacings of x away is one draw of its rounding. In 180 trials the
# rounding was never more than four times the largest of three draws.
OWN_ROUNDINGS, DRAWS = 4.0, 3


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
