"""The last word on the claims: doubts about a fail, inputs that f ignores, and the results.

Before a claim fails, f and the claim are called a few times more, to test the doubts.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.claim.identities import blame
from gradcheck_ref.check.judge.doubts import weigh_own_rounding
from gradcheck_ref.check.judge.inputs import as_a_whole
from gradcheck_ref.check.judge.jumps import jump_near
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.settle import Evidence
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.ties import weigh_ties
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Along, Given, Pair, Results
from gradcheck_ref.structure.parts import Part

# A step, relative to x, that shows how f changes when all entries of an input move.
FAR = 2.0**-3


def results_of(question: Question, findings: Findings) -> Results:
    """Return the results for each input and output, after doubts about each fail were weighed."""
    evidence, claims = findings.on_axes, findings.on_axes.question.claims
    still = list(_still(evidence))  # before other doubts spend the evaluations
    weigh_own_rounding(evidence)
    ties = weigh_ties(evidence)
    findings = as_a_whole(question, findings)
    verdict, reason, jump = evidence.ruling.verdict.copy(), evidence.reasons(), 0.0
    verdict[findings.hidden & (verdict == UNSURE)] = PASS
    reason[findings.hidden & (verdict == PASS)] = "whole"
    if (verdict == FAIL).any():
        _note_ignored(evidence, reason, still)
        jump = 0.0 if claims.faults else jump_near(evidence)
    if claims.faults:
        others = findings.certificate
        right = (verdict == PASS).all() and (others.verdict == PASS if others else verdict.size)
        blame(claims, bool(right), bool((verdict == FAIL).any()))
    parts = [*question.ask.inputs.parts.values()]
    return Results(
        pairs=tuple(_pairs(evidence, verdict, reason, jump)),
        certificate=findings.certificate,
        inputs=findings.inputs,
        along=dict(_along(question, findings.by_input or ties)),
        looks={parts[number].name: looks for number, looks in findings.looks.items()},
        claims=question.claims.matrix,
        regions={region.input.name: region for region in findings.regions},
    )


def _along(question: Question, evidence: Evidence | None) -> Iterator[tuple[str, Along]]:
    """Yield what was measured along lines over each wrong input, with the name of the input."""
    matrix = question.claims.matrix
    # Where outputs were combined, the lines of tied entries belong to single ones.
    if evidence is None or matrix is None or evidence.claimed.shape[1] != matrix.shape[1]:
        return
    for part in question.ask.inputs.parts.values():
        ends = part.start, part.start + part.size
        mine = np.array([_moves_only(part, line) for line in evidence.lines])
        if evidence.ruling.refused[mine].any():
            at, allowed = evidence.best.at(mine), evidence.ruling.allowed[mine]
            lines = [
                line.over(*ends) for line, its in zip(evidence.lines, mine, strict=True) if its
            ]
            yield part.name, Along(matrix, lines, at.slope, at.bar, allowed)


def _moves_only(part: Part, line: Line) -> bool:
    """Tell whether a line moves entries of one input alone."""
    if line.tied is None:
        return line.start == part.start
    return bool(part.holds(np.flatnonzero(line.direction)).all())


def _still(evidence: Evidence) -> Iterator[Part]:
    """Yield the inputs that never change f, although a claimed gradient is not zero.

    Cost: 1 evaluation for each.
    """
    question, state = evidence.question, evidence.witnesses.state
    ask = question.ask
    still, no_slope = state == State.FLAT, state > State.ROUGH
    unmoved = still.any(axis=0) & (still | no_slope).all(axis=0)
    for part in ask.inputs.parts.values():
        mine = part.holds(evidence.rows)
        if not (_fails(evidence)[mine].any() and unmoved[mine].all()):
            continue
        # All entries together may change f, as only the largest changes a max.
        line = Line(ask.inputs, part.start, part.start + part.size, (question.seed,))
        if ask.evaluations < question.most and (ask.many([(line, FAR)]) == ask.here).all():
            yield part


def _fails(evidence: Evidence) -> Array:
    """Return where a finite claim fails."""
    return np.asarray((evidence.ruling.verdict == FAIL) & np.isfinite(evidence.claimed))


def _note_ignored(evidence: Evidence, reason: Array, still: list[Part]) -> None:
    """Report a fault for inputs that never change f, if a claim still fails."""
    fails, ignored = _fails(evidence), []
    for part in still:
        mine = part.holds(evidence.rows)
        if fails[mine].any():
            reason[mine] = np.where(fails[mine], "ignores-input", reason[mine])
            ignored.append(part.name)
    if ignored:
        evidence.question.claims.ignored(ignored)


def _pairs(evidence: Evidence, verdict: Array, reason: Array, jump: float) -> Iterator[Pair]:
    """Arrange the results in one pair for each input and output."""
    ask, claims, at = evidence.question.ask, evidence.question.claims, evidence.best
    kept = np.flatnonzero(evidence.reached | ~np.isfinite(ask.here).all())
    rows = evidence.rows[kept]
    of_rows: dict[str, Any] = {
        "analytic": evidence.claimed,
        "numeric": at.slope,
        "error": at.bar,
        "allowed": evidence.ruling.allowed,
        "step": at.step,
        "verdict": verdict,
        "reason": reason,
    }
    of_rows = {name: array[kept] for name, array in of_rows.items()}
    again, targets = claims.again(rows), list(_targets(ask))
    for k, source in ask.inputs.parts.items():
        first, last = np.searchsorted(rows, [source.start, source.start + source.size]).tolist()
        for target, stretch, columns in targets:
            numbers = {name: array[first:last, stretch] for name, array in of_rows.items()}
            given = Given(
                x=ask.inputs.x[rows[first:last]],
                claim=None if claims.matrix is None else claims.matrix[source.stretch, stretch],
                again=again[first:last, stretch],
                raw=claims.raw[k][stretch],
                jump=jump,
                point=ask.inputs.x[source.stretch],
            )
            if unusable := claims.unusable.get(k):
                given = given._replace(claim=None, again=None)
                numbers["analytic"] = None
                numbers["verdict"] = np.full_like(numbers["verdict"], FAIL)
                numbers["reason"] = np.full_like(numbers["reason"], unusable)
            mine = rows[first:last] - source.start
            yield Pair(source, target, mine, columns, given=given, **numbers)


def _targets(ask: Ask) -> Iterator[tuple[Part, slice, Array]]:
    """Yield the judged outputs, each with its columns and their coordinates in the output."""
    parts = list(ask.outputs.parts.values())
    chosen, count = np.arange(ask.here.size), ask.here.size
    if ask.mix is not None:
        chosen = ask.mix.argmax(axis=1)
        if np.count_nonzero(ask.mix) > count:  # not single outputs
            parts = [Part("combinations of outputs", (count,), np.dtype(float), 0)]
            chosen = np.arange(count)
    for part in parts:
        start, stop = np.searchsorted(chosen, [part.start, part.start + part.size]).tolist()
        if start < stop or ask.mix is None:
            yield part, slice(start, stop), chosen[start:stop] - part.start
