"""A number for every input: how far its gradient is off as a whole, and if that decides.

The number comes from what was measured anyway: axes, or random lines. If these cannot decide,
because f has few digits, the inputs are measured for it; see `whole`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.chords import MANY
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.looks import proof, quantiles
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.regions import zero_regions
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.tolerance import output_groups
from gradcheck_ref.check.judge.whole import (
    MOST,
    SINGLE,
    Group,
    allowed_as_a_whole,
    decides,
    effects_of,
    has_few_digits,
    judge_inputs,
    length_of,
    named,
    ratio_of,
    unknown,
    whole_of,
    worst,
)
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL, FEWEST_LINES, PASS, UNSURE, Whole
from gradcheck_ref.structure.parts import Part
from gradcheck_ref.structure.units import output_weights

# An entry is hidden by few digits, of f or of x, if this is why it is unsure. Where f has fewer
# than its dtype, or 16 bits, its stairs look like kinks, too.
HIDES = "noise", "zero", "budget", "step-underflow"
HIDES_IN_STAIRS = *HIDES, "kink", "stairs"

# The error bars of lines are long if they are more than this part of the error of the claim.
VAGUE = 0.005

# A whole is surely off by more than is allowed, if that is so without so many of its spreads.
SURE = 3.0

# Outputs may count otherwise on axes than along lines. So an error there is clearly smaller only if
# it is so many times smaller.
CLEARLY = 2.0

# At most so many refused entries are measured again.
REFUSED = 10


def as_a_whole(question: Question, findings: Findings) -> Findings:
    """Return the findings with a number for every input, which decides where f has few digits.

    Cost: none, or about 330 evaluations for all inputs, and more if some are wrong; see `MOST`.
    """
    here, on_axes = question.ask.here, findings.on_axes
    if question.claims.unusable or not (here.size and np.isfinite(here).all()):
        return findings
    off = _off_on_axes(question, on_axes)
    right = (on_axes.ruling.verdict == PASS).all() and not (off.any() or _is_undecided(findings))
    deciding = not right and decides(question)
    if deciding:
        findings = findings._replace(on_axes=_confirmed(question, findings))
        on_axes = findings.on_axes
    known = dict(enumerate(findings.inputs)) or _so_far(question, findings)
    wrong = len(known) > 1 and (on_axes.ruling.verdict == FAIL).any()
    if not (deciding and (wrong or off.any() or _is_undecided(findings))):
        return findings._replace(inputs=tuple(known.values()))
    if not findings.inputs:
        few, parts = has_few_digits(question), [*question.ask.inputs.parts.values()]
        open_ = [
            number
            for number, one in known.items()
            if few or one.code == UNSURE or _is_vague(_lines_over(findings, parts[number]))
        ]
        right = [number for number, one in known.items() if one.code == PASS]
        judged, seen = judge_inputs(question, open_, right)
        where = findings.regions or tuple(zero_regions(question, seen))
        findings = findings._replace(looks=seen, regions=where)
        for number, one in judged.items():
            # Shorter steps may show that f has another slope next to x.
            contradicted = one.code == FAIL and CLEARLY * known[number].limit < one.error
            # An entry that fails on its axis is wrong, even if that is not clear of the whole.
            if known[number].code != FAIL or one.code == FAIL:
                known[number] = replace(one, code=UNSURE) if contradicted else one
    return _decided(question, findings, known, off)


def _is_undecided(findings: Findings) -> bool:
    """Whether some entries are neither right nor wrong, or not known at all."""
    unsure = (findings.on_axes.ruling.verdict == UNSURE).any()
    others = findings.certificate
    return bool(unsure or findings.inputs or (others is not None and others.verdict == UNSURE))


@QUIETLY
def _off_on_axes(question: Question, evidence: Evidence) -> Array:
    """Return which inputs are off by more than error bars cover, and more than is allowed.

    In 16 bits any entry may be off by as much as the largest one, and so may a small input. If an
    entry fails anyway, that is enough.
    """
    inputs, most = question.ask.inputs, allowed_as_a_whole(question.precision)
    asked = question.precision > SINGLE and (evidence.ruling.verdict != FAIL).all()
    units = evidence.units[:, None]
    units = units * _weight(question, evidence, units) * asked
    beyond = np.fmax(np.abs(evidence.residual) - evidence.best.bar, 0.0) * units
    each = [part.holds(evidence.rows) for part in inputs.parts.values()]
    slopes = evidence.best.slope * units
    return np.array([_length(beyond[mine]) > most * _length(slopes[mine]) for mine in each])


def _decided(
    question: Question, findings: Findings, known: dict[int, Whole], off: Array
) -> Findings:
    """Let the inputs that are right or wrong as a whole decide about their entries.

    Those that are ``off`` on axes, or surely off as a whole, pass by no atol.
    """
    evidence, usual = findings.on_axes, 1.01 * allowed_as_a_whole(question.precision)
    # Noise allows more than the dtype if f has fewer digits than that.
    few = has_few_digits(question) or bool(question.noise.short.any())
    few |= any(one.allowed > usual for one in known.values())
    rows, reasons = question.ask.inputs.numbers_of(evidence.rows), evidence.reasons
    undecided = evidence.ruling.verdict == UNSURE
    kinks = (undecided & (reasons == "kink")).any(axis=1)
    for number in {*rows[kinks].tolist()} if not few else ():
        if known[number].code == FAIL:  # at a kink, f has no gradient that could be wrong
            known[number] = replace(known[number], code=UNSURE)
    passes, others = np.array([one.code == PASS for one in known.values()]), findings.certificate
    if others and others.verdict == UNSURE:
        # An input that many lines leave unsure stays so with more evaluations.
        more = all(one.lines < MANY for one in known.values() if one.code == UNSURE)
        others = replace(others, more=more)
        if passes.all():
            others = replace(others, verdict=PASS, reason="whole")
        findings = findings._replace(certificate=others)
    hides = np.isin(reasons, HIDES_IN_STAIRS if few else HIDES)
    hidden = passes[rows][:, None] & hides & undecided
    # Rounding makes f stand still near x, but not along lines over the whole input.
    least = [one.error - SURE * one.spread for one in known.values()]
    off = ~passes & (off | (np.array(least) > [one.allowed for one in known.values()]))
    # Lines over all inputs hide a small one beside a large one.
    lost = [one.lines > 0 and one.limit >= 1 and not one.zero for one in known.values()]
    unsure = np.array([one.code == UNSURE for one in known.values()])
    if others and others.verdict == PASS and ((off | lost) & unsure).any():
        others = replace(others, verdict=UNSURE, reason="precision", vouched=0, more=False)
        findings = findings._replace(certificate=others)
    evidence = evidence.given(whole=hidden, off_as_a_whole=off[rows][:, None])
    return findings._replace(on_axes=evidence, inputs=tuple(known.values()))


def with_entries(findings: Findings) -> tuple[Whole, ...]:
    """Return the results for the inputs: those that nothing measures alone pass with their entries.

    So it is in a jvp of several inputs, if lines vouch for all entries.
    """
    others, verdicts = findings.certificate, findings.on_axes.ruling.verdict
    vouched = others is not None and others.verdict == PASS and others.vouched == others.entries
    return tuple(
        replace(one, code=PASS)
        if vouched and (verdicts == PASS).all() and math.isnan(one.error)
        else one
        for one in findings.inputs
    )


@QUIETLY
def _confirmed(question: Question, findings: Findings) -> Evidence:
    """Return the evidence with a doubt where another measurement contradicts refused entries.

    Where f moves in stairs, the bars of a witness may be too short. Cost: about 120 evaluations, or
    up to 700 if a few lines do not tell.
    """
    evidence, parts = findings.on_axes, len(question.ask.inputs.parts)
    wrong = np.array([one.code == FAIL for one in findings.inputs] or [False] * parts)
    fails = (evidence.ruling.verdict == FAIL) & np.isfinite(evidence.claimed)
    fails &= ~wrong[question.ask.inputs.numbers_of(evidence.rows)][:, None]
    rows = np.flatnonzero(fails.any(axis=1))[:REFUSED]
    if not rows.size:
        return evidence
    moves = np.isin(np.arange(question.size), evidence.rows[rows])
    with question.ask.budget.apart(MOST):
        group = Group(question, moves)
        again = group.judge()
    if not again or again[0].code == FAIL:
        return evidence
    units = evidence.units[:, None]
    each = evidence.residual, evidence.best.slope, evidence.claimed
    lengths = (np.where(fails, one * units, 0.0)[rows] for one in each)
    error, *sizes = (float(np.linalg.norm(np.nan_to_num(one))) for one in lengths)
    size = max(sizes)
    one, excluded = again[0], again[0].limit * size < error
    stands_still = not any(look.slopes.any() for look in group.at_rungs.values())
    few = has_few_digits(question) or stands_still
    hidden = few and (group.falls or (one.limit - one.error) * size > error)
    doubted = evidence.facts.doubted | (fails & (excluded or hidden))
    return evidence.given(doubted=doubted)


# --- from what was measured anyway ----------------------------------------------------------------


class Over(NamedTuple):
    """The lines that move an input."""

    lines: Evidence
    mine: Any  # which of them
    refused: bool  # whether they refuse its claims; then they move no other input


def _lines_over(findings: Findings, part: Part) -> Over | None:
    """Return the lines that were measured over an input; None if there are none."""
    own, rest = findings.by_input, findings.others
    if findings.lines:
        return Over(findings.lines[0], slice(None), False)
    if own:
        mine = own.rows == part.start
        if own.ruling.refused[mine].any():
            return Over(own, mine, True)
    return Over(rest, slice(None), False) if rest else None


@QUIETLY
def _is_vague(over: Over | None) -> bool:
    """Whether the lines that refuse an input are too few, or too vague, to judge a repair."""
    if not (over and over.refused):
        return False
    lines, mine, _ = over
    sharp = lines.best.bar[mine] <= VAGUE * np.abs(lines.residual[mine])
    return len(sharp) < FEWEST_LINES or bool(np.mean(sharp) < 1 / 2)


def _weight(question: Question, evidence: Evidence, units: Any = 1.0) -> Array:
    """Return the weight of each output; combinations of outputs are weighted already."""
    if question.ask.combines or evidence.claimed.shape[1] == 1:
        return np.ones(1)
    moves = np.nan_to_num(np.fmax(np.abs(evidence.best.slope), np.abs(evidence.claimed)))
    return output_weights(np.linalg.norm(moves * units, axis=0))


@QUIETLY
def _so_far(question: Question, findings: Findings) -> dict[int, Whole]:
    """Return the errors of the inputs from what was measured anyway: their axes, or lines."""
    evidence, found = findings.on_axes, dict[int, Whole]()
    effects = effects_of(question) if findings.lines or findings.by_input else None
    inputs, fails = question.ask.inputs, evidence.ruling.verdict == FAIL
    weight = _weight(question, evidence, evidence.units[:, None])
    # Else single outputs were judged, not combinations of them.
    same = evidence.question.ask.mix is question.ask.mix
    for number, part in enumerate(inputs.parts.values()):
        mine, over = part.holds(evidence.rows), _lines_over(findings, part)
        units = inputs.units(part.start, part.start + part.size) if mine.any() else np.zeros(0)
        units = units[evidence.rows[mine] - part.start, None] * weight
        if same and np.count_nonzero(mine) == part.size:
            found[number] = _from_axes(question, part, evidence, mine, units)
        elif over is None or (effects is None and len(inputs.parts) > 1):
            found[number] = unknown(question, part)
        else:
            # Lines that agree measured the others, with the claims of entries that fail corrected.
            error = np.where(fails[mine], evidence.residual[mine] * units, 0.0)
            own = 0.0 if over.refused else _length(error)
            wrong = fails[mine].any() if over.refused else own > 0
            code = FAIL if wrong else UNSURE if over.refused else PASS
            effect = None if effects is None else effects[number]
            found[number] = _from_lines(question, part, over, effect, own, code)
    return found


def _length(numbers: Array) -> float:
    """Return the length of columns, the root of the mean square of all of them."""
    return float(length_of(length_of(numbers)[:, None])[0]) / math.sqrt(numbers.shape[1])


def _from_axes(
    question: Question, part: Part, evidence: Evidence, mine: Array, units: Array
) -> Whole:
    """Return the error of an input on its axes. It may be off by as much as its entries."""
    error, best, allowed = evidence.residual[mine], evidence.best.at(mine), evidence.ruling.allowed
    each = error, np.abs(error) + best.bar, allowed[mine], best.slope, evidence.claimed[mine]
    length, limit, most, *sizes = (_length(one * units) for one in each)
    size = max(sizes)
    least = ratio_of(most, size) if question.demanded else question.rtol
    code = FAIL if (evidence.ruling.verdict[mine] == FAIL).any() else PASS
    return _whole(question, part, (length, length, limit, limit), size, code, least)


def _from_lines(
    question: Question, part: Part, over: Over, effects: Array | None, own: float, code: int
) -> Whole:
    """Return the error of an input from random lines, besides that of its ``own`` entries.

    If the lines refuse its claims, it fails only if an entry does: a line has one witness. Without
    the effects of single claims, the slopes of the lines tell how long its gradient is.
    """
    lines, mine, refused = over
    best, off = lines.best.at(mine), lines.residual[mine]
    if refused:  # the claims as they were given, without a correction of single entries
        off = question.claimed_along(list(compress(lines.lines, mine))) - best.slope
    known = np.isfinite(off + best.bar)
    if not refused:
        known &= known.all(axis=1, keepdims=True)
    count, upstreams = int(np.count_nonzero(known.any(axis=1))), question.ask.upstreams
    if 2 * count < len(known) or count < FEWEST_LINES:  # so few tell no number
        return replace(unknown(question, part), code=max(code, UNSURE) if count else UNSURE)
    weight, bend = _weight(question, lines), best.truncation + best.kink
    seen = [np.where(known, one * weight, 0.0) for one in (off, bend, best.slope, best.bar)]
    unit = float(max(length_of(one[known][:, None])[0] for one in seen)) or 1.0
    error, bend, slope, bar = (one / unit for one in seen)
    surely = np.sqrt(np.fmax(error**2 - bar**2, 0.0))
    effects, own = None if effects is None else (effects * weight / unit) ** 2, (own / unit) ** 2
    low, _ = quantiles(count, upstreams)
    factor = (proof(count) * (proof(upstreams) if upstreams else 1.0)) ** 2
    found, spread = [], (1 + (2 * count) ** -0.5) ** 2
    for group in output_groups(question):
        if not known[:, group].any():
            continue
        sums = (np.sum(one[:, group] ** 2) for one in (error, bend, slope, surely))
        mean, of_bend, of_slope, least = (one / np.count_nonzero(known[:, group]) for one in sums)
        size = of_slope if effects is None else max(effects[group].mean(), of_slope * refused)
        limit, proved = (mean**0.5 + of_bend**0.5) ** 2 / low, factor * np.max(error[:, group] ** 2)
        each = [math.sqrt(one + own) for one in (least, mean * spread, limit, proved)]
        least, drawn = question.rtol * question.demanded, {"lines": count, "upstreams": upstreams}
        found.append(_whole(question, part, each, math.sqrt(size), code, least, **drawn))
    return worst(found)


def _whole(
    question: Question,
    part: Part,
    lengths: Sequence[float],
    size: float,
    code: int,
    least: float = 0.0,
    **drawn: Any,
) -> Whole:
    """Return the result for an input, at least as bad as ``code``; see `whole_of`."""
    allowed, name = max(least, allowed_as_a_whole(question.precision)), named(question, part)
    found = whole_of(lengths, size, allowed=allowed, code=code, **drawn, **name)
    return replace(found, code=max(code, PASS if found.limit <= allowed else UNSURE))
