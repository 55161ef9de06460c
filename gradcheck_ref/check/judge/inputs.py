"""A number for every input: how far its gradient is off as a whole, and if that decides.

The number comes from what was measured anyway: axes, or random lines. If these cannot decide,
because f has few digits, the inputs are measured for it; see `whole`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.looks import proof, quantiles
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.regions import zero_regions
from gradcheck_ref.check.judge.settle import Evidence
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.tolerance import output_groups
from gradcheck_ref.check.judge.whole import (
    FEW_ALIKE,
    Group,
    allowed_as_a_whole,
    decides,
    effects_of,
    end_of,
    has_few_digits,
    judge_inputs,
    named,
    ratio_of,
    unknown,
)
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL, FEWEST_LINES, PASS, UNSURE, Whole
from gradcheck_ref.structure.parts import Part
from gradcheck_ref.structure.units import output_weights

# An entry is hidden by few digits, of f or of x, if this is why it is unsure. Where f has fewer
# than its dtype, or 16 bits, its stairs look like kinks, too.
HIDDEN = "noise", "zero", "budget", "step-underflow"
HIDDEN_BY_STAIRS = *HIDDEN, "kink", "stairs"

# Lines that were not measured for it decide if the limit is at most this part of what is allowed.
CLOSELY = 4.0

# The error bars of lines are long if they are more than this part of the error of the claim.
VAGUE = 0.005

# At most so many refused entries are measured again.
REFUSED = 10


def as_a_whole(question: Question, findings: Findings) -> Findings:
    """Return the findings with a number for every input, which decides where f has few digits.

    Cost: none, or about 200 evaluations for all inputs, and up to 2000 if some of them are wrong.
    """
    here = question.ask.here
    if question.claims.unusable or not (here.size and np.isfinite(here).all()):
        return findings
    if decides(question):
        _confirm(question, findings)
    known = dict(enumerate(findings.inputs)) or _so_far(question, findings)
    wrong = len(known) > 1 and (findings.on_axes.ruling.verdict == FAIL).any()
    if not (decides(question) and (wrong or _is_undecided(findings))):
        return findings._replace(inputs=tuple(known.values()))
    if not findings.inputs:
        few, vague = has_few_digits(question), _vaguely_wrong(findings)
        open_ = [
            number
            for number, one in known.items()
            if one.entries and (few or one.code == UNSURE or one.name in vague)
        ]
        judged, seen = judge_inputs(question, open_)
        where = findings.regions or tuple(zero_regions(question, seen))
        findings = findings._replace(looks=seen, regions=where)
        for number, one in judged.items():
            # Shorter steps may show that f has another slope next to x.
            contradicted = one.code == FAIL and known[number].limit < one.error
            # An entry that fails on its axis is wrong, even if that is not clear of the whole.
            if known[number].code != FAIL or one.code == FAIL:
                known[number] = replace(one, code=UNSURE) if contradicted else one
    return _decided(question, findings, known)


def _is_undecided(findings: Findings) -> bool:
    """Whether some entries are neither right nor wrong, or not known at all."""
    unsure = (findings.on_axes.ruling.verdict == UNSURE).any()
    others = findings.certificate
    return bool(unsure or findings.inputs or (others is not None and others.verdict == UNSURE))


def _so_far(question: Question, findings: Findings) -> dict[int, Whole]:
    """Return the errors of the inputs from what was measured anyway."""
    parts = [*question.ask.inputs.parts.values()]
    known = _from_axes(question, findings)
    if findings.lines:
        known |= _from_lines(question, findings.lines[0], findings.on_axes, parts)
    elif findings.by_input:
        fails = bool((findings.on_axes.ruling.verdict == FAIL).any())
        known |= _from_own_lines(question, findings.by_input, fails)
        rest = [part for k, part in enumerate(parts) if known[k].code != FAIL]
        if findings.others:
            known |= _from_lines(question, findings.others, findings.on_axes, rest)
    return known


def _vaguely_wrong(findings: Findings) -> set[str]:
    """Name the inputs that lines refuse with error bars so long that no repair can be judged."""
    evidence, found = findings.by_input, set[str]()
    if evidence is None:
        return found
    with np.errstate(invalid="ignore"):
        vague = ~(evidence.best.bar <= VAGUE * np.abs(evidence.residual))
    for part in evidence.question.ask.inputs.parts.values():
        mine = evidence.rows == part.start
        if evidence.ruling.refused[mine].any() and 2 * vague[mine].sum() > vague[mine].size:
            found.add(part.name)
    return found


def _decided(question: Question, findings: Findings, known: dict[int, Whole]) -> Findings:
    """Let the inputs that are right or wrong as a whole decide about their entries."""
    evidence, usual = findings.on_axes, allowed_as_a_whole(question.ask.precision)
    # Noise allows more than the dtype if f has fewer digits than that.
    few = has_few_digits(question) or any(one.allowed > usual for one in known.values())
    inputs = question.ask.inputs
    rows, undecided = inputs.numbers_of(evidence.rows), evidence.ruling.verdict == UNSURE
    kinks = (undecided & (evidence.reasons() == "kink")).any(axis=1)
    for number in {*rows[kinks].tolist()} if not few else ():
        if known[number].code == FAIL:  # at a kink, f has no gradient that could be wrong
            known[number] = replace(known[number], code=UNSURE)
    verdicts = np.array([one.code for one in known.values()])
    right, others = (verdicts == PASS).all(), findings.certificate
    if others and others.verdict == UNSURE and right:
        findings = findings._replace(certificate=replace(others, verdict=PASS, reason="whole"))
    passes = (verdicts == PASS)[rows][:, None]
    reasons = HIDDEN_BY_STAIRS if few else HIDDEN
    hidden = passes & np.isin(evidence.reasons(), reasons) & (evidence.ruling.verdict == UNSURE)
    return findings._replace(hidden=hidden, inputs=tuple(known.values()))


@QUIETLY
def _confirm(question: Question, findings: Findings) -> None:
    """Doubt refused entries that another measurement of all of them contradicts.

    Where f moves in stairs, the bars of a witness may be too short. Cost: about 100 evaluations.
    """
    evidence, parts = findings.on_axes, len(question.ask.inputs.parts)
    wrong = np.array([one.code == FAIL for one in findings.inputs] or [False] * parts)
    fails = (evidence.ruling.verdict == FAIL) & np.isfinite(evidence.claimed)
    fails &= ~wrong[question.ask.inputs.numbers_of(evidence.rows)][:, None]
    rows = np.flatnonzero(fails.any(axis=1))[:REFUSED]
    if not rows.size:
        return
    entries = [slice(row, row + 1) for row in evidence.rows[rows].tolist()]
    group = Group(question, entries, end_of(question), alike=FEW_ALIKE)
    again = group.judge()
    if not again or again[0].code == FAIL:
        return
    units, slopes = evidence.units[rows, None], evidence.best.slope[rows]
    lengths = [np.where(fails[rows], one * units, 0.0) for one in (evidence.residual[rows], slopes)]
    error, size = (float(np.linalg.norm(np.nan_to_num(one))) for one in lengths)
    size = max(size, float(np.linalg.norm(np.where(fails, evidence.claimed, 0.0)[rows] * units)))
    excluded = again[0].limit * size < error
    few = has_few_digits(question) or not group.chords.values.moves.any()
    hidden = few and (again[0].limit - again[0].error) * size > error
    if excluded or hidden:
        evidence.doubts = evidence.doubts._replace(excluded=evidence.doubts.excluded | fails)
        evidence.rejudge()


# --- from what was measured anyway ----------------------------------------------------------------


def _weight(question: Question, evidence: Evidence, units: Array) -> Array:
    """Return the weight of each output; combinations of outputs are weighted already."""
    if question.ask.combines or not evidence.claimed.size:
        return np.ones(evidence.claimed.shape[1:])
    moves = np.nan_to_num(np.fmax(np.abs(evidence.best.slope), np.abs(evidence.claimed)))
    return output_weights(np.sqrt(np.mean((moves * units[:, None]) ** 2, axis=0)))


@QUIETLY
def _from_axes(question: Question, findings: Findings) -> dict[int, Whole]:
    """Return the errors of the inputs from their axes; unknown for inputs with others."""
    evidence, found = findings.on_axes, {}
    weight = _weight(question, evidence, evidence.units)
    # Else single outputs were judged, not combinations of them.
    same = evidence.question.ask.mix is question.ask.mix
    for number, part in enumerate(question.ask.inputs.parts.values()):
        mine = part.holds(evidence.rows)
        if not same or np.count_nonzero(mine) < part.size:
            found[number] = unknown(question, part)
            continue
        units, best = evidence.units[mine, None] * weight, evidence.best.at(mine)
        error, bar = evidence.residual[mine] * units, best.bar * units
        square, limit, size = (
            float(np.mean(one**2, axis=1).sum())
            for one in (error, np.abs(error) + bar, best.slope * units)
        )
        fails = bool((evidence.ruling.verdict[mine] == FAIL).any())
        found[number] = _whole(question, part, size, (square, limit, limit), fails)
    return found


@QUIETLY
def _from_lines(
    question: Question, evidence: Evidence, on_axes: Evidence, parts: Sequence[Part]
) -> dict[int, Whole]:
    """Return the errors of some inputs from random lines over all of these."""
    effects = effects_of(question)
    if effects is None:
        return {}
    best = evidence.best
    known = np.asarray(np.isfinite(best.bar).all(axis=1))
    lines, upstreams = int(np.count_nonzero(known)), question.ask.upstreams
    if 2 * lines < len(known) or lines < FEWEST_LINES:
        return {}
    weight = _weight(question, evidence, np.ones(len(known)))
    error, bend = evidence.residual[known] * weight, (best.truncation + best.kink)[known] * weight
    effects = effects * weight**2
    low, _ = quantiles(lines, upstreams)
    factor, found = (proof(lines) * (proof(upstreams) if upstreams else 1.0)) ** 2, {}
    for number, part in enumerate(question.ask.inputs.parts.values()):
        if part not in parts:
            continue
        worst, own = unknown(question, part), _of_fails(on_axes, part, weight)
        for group in output_groups(question):
            size = float(effects[number, group].mean())
            mean, of_bend = (float(np.mean(one[:, group] ** 2)) for one in (error, bend))
            most = math.sqrt(mean) + math.sqrt(of_bend)
            limit = most * most / low
            largest = factor * float(np.max(error[:, group] ** 2))
            squares = mean + own, limit + own, largest + own
            one = _whole(question, part, size, squares, own > 0, lines, upstreams)
            if not worst.lines or (one.code, one.limit) > (worst.code, worst.limit):
                worst = one
        found[number] = worst
    return found


@QUIETLY
def _from_own_lines(question: Question, evidence: Evidence, fails: bool) -> dict[int, Whole]:
    """Return the errors of the inputs that are refused along lines over each of them.

    They fail only if an entry does: a line has one witness.
    """
    found, effects = {}, effects_of(question)
    for number, part in enumerate(question.ask.inputs.parts.values()):
        mine = evidence.rows == part.start
        if effects is None or not (part.size and evidence.ruling.refused[mine].any()):
            continue
        error, slope = evidence.residual[mine], evidence.best.slope[mine]
        there = np.isfinite(error)
        if not there.any():
            continue
        size = np.fmax(np.mean(slope[there] ** 2), effects[number].mean())
        square = float(np.mean(error[there] ** 2))
        lines = int(np.count_nonzero(mine))
        squares = square, math.inf, math.inf
        found[number] = _whole(question, part, float(size), squares, fails, lines)
    return found


@QUIETLY
def _of_fails(on_axes: Evidence, part: Part, weight: Array) -> float:
    """Return the squared error of the entries of an input that fail on their own axes.

    Lines measured the others, with the claims of these corrected.
    """
    fails = (on_axes.ruling.verdict == FAIL) & part.holds(on_axes.rows)[:, None]
    inputs = on_axes.question.ask.inputs
    units = np.array([inputs.units(row, row + 1) for row in on_axes.rows.tolist()]).reshape(-1, 1)
    weight = weight if weight.shape == on_axes.claimed.shape[1:] else np.ones(1)
    error = np.where(fails, on_axes.residual * units * weight, 0.0)
    return float(np.mean(np.nan_to_num(error) ** 2, axis=1).sum())


def _whole(
    question: Question,
    part: Part,
    size: float,
    squares: tuple[float, float, float],
    fails: bool,
    lines: int = 0,
    upstreams: int = 0,
) -> Whole:
    """Return the result for an input, from the squares of lengths.

    These are the length of its gradient, and of the error: the estimate, a limit, and what is
    proved.
    """
    error, limit, proved = (ratio_of(one, size) for one in squares)
    allowed = allowed_as_a_whole(question.ask.precision)
    return Whole(
        error=error,
        spread=error / math.sqrt(2 * lines) if lines else 0.0,
        limit=limit,
        proved=proved,
        allowed=allowed,
        code=FAIL if fails else PASS if limit <= allowed / CLOSELY else UNSURE,
        lines=lines,
        upstreams=upstreams,
        **named(question, part),
    )
