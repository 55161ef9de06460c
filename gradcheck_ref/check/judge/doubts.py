"""The doubts about refused claims: facts that are gathered before the rule has the last word.

Most turn *fail* into *unsure*: the claim itself is rounded, entries of x are equal, or another
measurement contradicts. Two decide more: a wrong sum of the claims for equal entries fails, and
entries that noise hides pass with their input.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.rounding import rounding_of_claims
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.inputs import as_a_whole
from gradcheck_ref.check.judge.jumps import with_stairs_from_afar
from gradcheck_ref.check.judge.nearest import right_nearest
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.ties import judge_ties
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL
from gradcheck_ref.structure.parts import Part

# The change of a claim a few spacings of x away is one draw of its rounding. In 180 trials the
# rounding was never more than four times the largest of three draws.
OWN_ROUNDINGS, DRAWS = 4.0, 3

# Where numbers inside f cancel, it may be off by so many roundings of what it is a step away. Such
# a step is up to 100 times smaller for a product of several small numbers.
ROUNDINGS_INSIDE = 1024.0

# A step, relative to x, that shows how f changes when all entries of an input move.
FAR = 2.0**-3


def weigh_doubts(question: Question, findings: Findings) -> Findings:
    """Return the findings with all facts that may change a verdict.

    Cost: none if all entries pass, and none of them is flat or at a kink and equal to another one.
    Else see each doubt.
    """
    evidence = findings.on_axes
    still = [*_still(evidence)]  # before other doubts spend the evaluations
    evidence = evidence.given(own_rounding=_own_rounding(evidence))
    evidence = evidence.given(doubted=evidence.facts.doubted | right_nearest(evidence))
    evidence, ties = judge_ties(evidence)
    evidence = with_stairs_from_afar(evidence)
    findings = as_a_whole(question, findings._replace(on_axes=evidence, ties=ties))
    return findings._replace(on_axes=findings.on_axes.given(ignored=_ignored(evidence, still)))


@QUIETLY
def _own_rounding(evidence: Evidence) -> Array | float:
    """Return the rounding of refused claims, as points next to x show it."""
    question, wrong = evidence.question, evidence.ruling.verdict == FAIL
    claims = question.claims
    columns = np.flatnonzero(wrong.any(axis=0))[:100]  # each is computed again, three times
    if not columns.size or claims.random:
        return 0.0
    # If f is 0, like the determinant of a singular matrix, its value may be only the rounding that
    # is left when numbers cancel, of the size that f has a step away.
    inside = ROUNDINGS_INSIDE * question.noise.eps * question.noise.pilots.size
    # But no rounding is nearly as large as the gradient itself.
    largest = np.abs(evidence.claimed * evidence.units[:, None]).max(axis=0)
    inside = np.where(largest > 0, np.fmin(inside, largest / ROUNDINGS_INSIDE), inside)
    zeros = (evidence.claimed == 0) & (np.abs(question.ask.here) <= inside / 10)
    rounding = np.where(zeros, inside / evidence.units[:, None], 0.0)
    for draw in range(DRAWS):
        seed, here = question.seed + draw, evidence.claimed[:, columns]
        own = rounding_of_claims(claims, columns, evidence.rows, here, evidence.units, seed)
        if own is None:
            break
        rounding[:, columns] = np.fmax(rounding[:, columns], OWN_ROUNDINGS * own)
        # An error ten times as large as the rounding has another cause.
        if not (wrong & (10 * rounding > np.abs(evidence.residual))).any():
            break
    return rounding


def _still(evidence: Evidence) -> Iterator[Part]:
    """Yield the inputs that never change f, although a claimed gradient is not zero.

    Cost: 1 evaluation for each.
    """
    question, state = evidence.question, evidence.witnesses.state
    ask, fails = question.ask, evidence.ruling.verdict == FAIL
    fails &= np.isfinite(evidence.claimed)
    still, no_slope = state == State.FLAT, state > State.ROUGH
    unmoved = still.any(axis=0) & (still | no_slope).all(axis=0)
    for part in ask.inputs.parts.values():
        mine = part.holds(evidence.rows)
        if not (fails[mine].any() and unmoved[mine].all()):
            continue
        # All entries together may change f, as only the largest changes a max.
        line = Line(ask.inputs, part.start, part.start + part.size, seed_of(question.seed, "still"))
        if ask.budget.left and (ask.many([(line, FAR)]) == ask.here).all():
            yield part


def _ignored(evidence: Evidence, still: Sequence[Part]) -> Array:
    """Return which claims are about inputs that never change f."""
    mine = [part.holds(evidence.rows) for part in still]
    return np.asarray(np.any([np.zeros(len(evidence.rows), bool), *mine], axis=0)[:, None])
