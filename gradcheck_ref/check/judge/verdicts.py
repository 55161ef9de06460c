"""The results: what was found about each input and output, as data."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.claim.identities import blame
from gradcheck_ref.check.claim.order import exchanged
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.inputs import with_entries
from gradcheck_ref.check.judge.jumps import jump_near, stair_at
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.knobs import WIDEST
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS, UNSURE, Along, Given, Pair, Results
from gradcheck_ref.structure.parts import Part


def results_of(question: Question, findings: Findings) -> Results:
    """Return the results for each input and output."""
    evidence, claims = findings.on_axes, findings.on_axes.question.claims
    verdict, jump = evidence.ruling.verdict, 0.0
    if (verdict == FAIL).any():
        _note_ignored(evidence)
        jump = 0.0 if claims.faults else jump_near(evidence)
        at, slack = evidence.best, FAIL_BARS * evidence.best.bar + evidence.ruling.allowed
        exchanged(claims, evidence.rows, evidence.claimed, at.slope, slack)
    if claims.faults:
        others = findings.certificate
        right = (verdict == PASS).all() and (others.verdict == PASS if others else verdict.size)
        blame(claims, bool(right), bool((verdict == FAIL).any()))
    parts = [*question.ask.inputs.parts.values()]
    return Results(
        pairs=tuple(_pairs(evidence, jump)),
        certificate=findings.certificate,
        inputs=with_entries(findings),
        along=dict(_along(question, findings.by_input or findings.ties)),
        looks={parts[number].name: looks for number, looks in findings.looks.items()},
        claims=question.claims.matrix,
        regions={region.input.name: region for region in findings.regions},
        accepted=_accepted(question, findings),
    )


def _accepted(question: Question, findings: Findings) -> float:
    """Return the smallest rtol of one digit with which the same evidence gives a pass."""
    evidence, others = findings.on_axes, findings.certificate
    unsure = [UNSURE in evidence.ruling.verdict, others is not None and others.verdict == UNSURE]
    if not any(unsure) or not question.rtol or (others and others.against):
        return math.inf
    least = max(question.rtol, others.rtol if others and others.entries else 0.0)
    digits = (digit * 10.0**power for power in range(-15, 0) for digit in range(1, 10))
    wide = (rtol for rtol in digits if least < rtol < WIDEST)
    return next((rtol for rtol in wide if _passes(evidence.asked_with(rtol))), math.inf)


@QUIETLY
def _passes(evidence: Evidence) -> bool:
    """Whether all claims pass; where noise is loud, before a shorter step is tried that refuses."""
    off = np.abs(evidence.residual) + evidence.best.bar
    noisy = (evidence.reasons == "noise") & (off <= evidence.ruling.allowed)
    return bool(((evidence.ruling.verdict == PASS) | noisy).all())


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


def _note_ignored(evidence: Evidence) -> None:
    """Report a fault for inputs that never change f, if a claim still fails."""
    rows = evidence.rows[(evidence.reasons == "ignores-input").any(axis=1)]
    parts = evidence.question.ask.inputs.parts.values()
    if ignored := [part.name for part in parts if part.holds(rows).any()]:
        evidence.question.claims.ignored(ignored)


def _pairs(evidence: Evidence, jump: float) -> Iterator[Pair]:
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
        "verdict": evidence.ruling.verdict,
        "reason": evidence.reasons,
    }
    of_rows = {name: array[kept] for name, array in of_rows.items()}
    again, targets = claims.again(rows), list(_targets(ask))
    for k, source in ask.inputs.parts.items():
        stair = stair_at(evidence, source)
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
                value=ask.here[stretch],
                stair=stair,
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
