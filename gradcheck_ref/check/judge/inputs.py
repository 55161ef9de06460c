"""A number for every input: how far its gradient is off as a whole, and if that decides.

The number comes from what was measured anyway: axes, or random lines. If these cannot decide,
because f has few digits, the inputs are measured for it; see `whole`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.settle import Evidence
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.together import FEWEST_LINES
from gradcheck_ref.check.judge.tolerance import output_groups
from gradcheck_ref.check.judge.whole import (
    FEW_ALIKE,
    MOST,
    TIGHTER,
    Group,
    allowed_as_a_whole,
    decides,
    effects_of,
    has_fewer_digits,
    judge_inputs,
    named,
    proof,
    quantiles,
    unknown,
)
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Whole
from gradcheck_ref.structure.parts import Part

# An entry is hidden by few digits if this is why it is unsure. Where f has fewer digits than its
# dtype, its stairs look like kinks, too.
HIDDEN = "noise", "zero", "budget"
HIDDEN_BY_STAIRS = *HIDDEN, "kink", "stairs"

# Lines that were not measured for it decide if the limit is at most this part of what is allowed,
# and if their residuals are noise: at most CLEARLY standard deviations, of which a bar has four.
CLOSELY, CLEARLY, BARS = 4.0, 3.0, 4.0

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
        few = has_fewer_digits(question)
        open_ = [k for k, one in known.items() if one.entries and (few or one.code == UNSURE)]
        for number, one in judge_inputs(question, open_).items():
            # Shorter steps may show that f has another slope next to x.
            contradicted = one.code == FAIL and known[number].limit < one.error
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


def _decided(question: Question, findings: Findings, known: dict[int, Whole]) -> Findings:
    """Let the inputs that are right or wrong as a whole decide about their entries."""
    evidence, usual = findings.on_axes, allowed_as_a_whole(question.ask.precision)
    # Noise allows more than the dtype if f has fewer digits than that.
    few = has_fewer_digits(question) or any(one.allowed > usual for one in known.values())
    rows, undecided = inputs_of(evidence), evidence.ruling.verdict == UNSURE
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


def inputs_of(evidence: Evidence) -> Array:
    """Return the number of the input that each row belongs to."""
    starts = evidence.question.ask.inputs.starts
    return np.asarray(np.searchsorted(starts, evidence.rows, "right") - 1)


@QUIETLY
def _confirm(question: Question, findings: Findings) -> None:
    """Doubt refused entries that another measurement of all of them contradicts.

    Where f moves in stairs, the bars of a witness may be too short. Cost: about 100 evaluations.
    """
    evidence, parts = findings.on_axes, len(question.ask.inputs.parts)
    wrong = np.array([one.code == FAIL for one in findings.inputs] or [False] * parts)
    fails = (evidence.ruling.verdict == FAIL) & np.isfinite(evidence.claimed)
    fails &= ~wrong[inputs_of(evidence)][:, None]
    rows = np.flatnonzero(fails.any(axis=1))[:REFUSED]
    if not rows.size:
        return
    end = question.most if question.limited else question.ask.evaluations + MOST
    entries = [slice(row, row + 1) for row in evidence.rows[rows].tolist()]
    again = Group(question, entries, end, alike=FEW_ALIKE).judge()
    if not again or again[0].code == FAIL:
        return
    units, slopes = evidence.units[rows, None], evidence.best.slope[rows]
    lengths = [np.where(fails[rows], one * units, 0.0) for one in (evidence.residual[rows], slopes)]
    error, size = (float(np.linalg.norm(np.nan_to_num(one))) for one in lengths)
    size = max(size, float(np.linalg.norm(np.where(fails, evidence.claimed, 0.0)[rows] * units)))
    excluded = again[0].limit * size < error
    hidden = has_fewer_digits(question) and (again[0].limit - again[0].error) * size > error
    if excluded or hidden:
        evidence.doubts = evidence.doubts._replace(excluded=evidence.doubts.excluded | fails)
        evidence.rejudge()


# --- from what was measured anyway ----------------------------------------------------------------


@QUIETLY
def _from_axes(question: Question, findings: Findings) -> dict[int, Whole]:
    """Return the errors of the inputs from their axes; unknown for inputs with others."""
    evidence, found = findings.on_axes, {}
    # Else single outputs were judged, not combinations of them.
    same = evidence.question.ask.mix is question.ask.mix
    for number, part in enumerate(question.ask.inputs.parts.values()):
        mine = part.holds(evidence.rows)
        if not same or np.count_nonzero(mine) < part.size:
            found[number] = unknown(question, part)
            continue
        units, best = evidence.units[mine, None], evidence.best.at(mine)
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
    lines, upstreams = int(np.count_nonzero(known)), 0
    if question.ask.combines:
        upstreams = len(question.ask.here)
    if 2 * lines < len(known) or lines < FEWEST_LINES:
        return {}
    error, bend = evidence.residual[known], (best.truncation + best.kink)[known]
    low, _ = quantiles(lines, upstreams)
    allowed = allowed_as_a_whole(question.ask.precision)
    factor, found = (proof(lines) * (proof(upstreams) if upstreams else 1.0)) ** 2, {}
    for number, part in enumerate(question.ask.inputs.parts.values()):
        if part not in parts:
            continue
        worst, own = unknown(question, part), _of_fails(on_axes, part)
        for group in output_groups(question):
            size = float(effects[number, group].mean())
            mean, of_bend = (float(np.mean(one[:, group] ** 2)) for one in (error, bend))
            limit = (math.sqrt(mean) + math.sqrt(of_bend)) ** 2 / low
            largest = factor * float(np.max(error[:, group] ** 2))
            noise = float(np.mean(best.rounding[known][:, group] ** 2)) / BARS**2
            # If it is more than noise, another measurement has to tell.
            clear = mean > CLEARLY**2 * noise and mean > (allowed / TIGHTER) ** 2 * size
            squares = mean + own, limit + own, largest + own
            one = _whole(question, part, size, squares, own > 0, lines, upstreams)
            if clear and one.code == PASS:
                one = replace(one, code=UNSURE)
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
        size = np.fmax(np.nanmean(slope**2), effects[number].mean())
        square = float(np.nanmean(error**2))
        lines = int(np.count_nonzero(mine))
        squares = square, math.inf, math.inf
        found[number] = _whole(question, part, float(size), squares, fails, lines)
    return found


@QUIETLY
def _of_fails(on_axes: Evidence, part: Part) -> float:
    """Return the squared error of the entries of an input that fail on their own axes.

    Lines measured the others, with the claims of these corrected.
    """
    fails = (on_axes.ruling.verdict == FAIL) & part.holds(on_axes.rows)[:, None]
    inputs = on_axes.question.ask.inputs
    units = np.array([inputs.units(row, row + 1) for row in on_axes.rows.tolist()]).reshape(-1, 1)
    error = np.where(fails, on_axes.residual * units, 0.0)
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
    error, limit, proved = (
        math.sqrt(one / size) if size else (math.inf if one else 0.0) for one in squares
    )
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
