"""Choose the lines to measure: every axis for few coordinates, random lines first for many.

A random line measures all coordinates at once. If it refuses its claim, it is halved down to a
single entry. That entry is measured on its axis, and so are entries that lines cannot confirm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.localise import find_wrong_entry
from gradcheck_ref.check.judge.looks import Looks
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.regions import regions, zero_regions
from gradcheck_ref.check.judge.settle import Evidence, axes, axes_of
from gradcheck_ref.check.judge.together import LINES, Together, beside_claims
from gradcheck_ref.check.judge.whole import decides, has_few_digits, judge_inputs
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.long_look import LOOK, look_far
from gradcheck_ref.check.measure.noise import TABLE_POINTS
from gradcheck_ref.check.measure.witness import EACH, State
from gradcheck_ref.check.results import FAIL, FEWEST_LINES, PASS, Certificate, Region, Whole

# For up to ALL_AXES coordinates, axes cost no more than lines plus the axes that are needed after
# them. Up to AXES_IN_DOUBT, the axes of all entries that lines leave in doubt are measured, and all
# axes if a line refuses its claim.
ALL_AXES, AXES_IN_DOUBT = 32, 99

# By default at most 40 evaluations for each coordinate, and 30 for the long look, the noise and the
# calls at x; at least FEWEST, because a long look at a staircase takes up to 24, and may take a
# quarter of all; and 1000 for a check. For many coordinates that is less than central differences
# on every axis take; for a hundred, FEW are needed to name what is wrong.
MOST_EACH, BESIDE, FEWEST, FEW, MOST = 40, 30, 150, 400, 1000

# About half of the entries that are measured on an axis need a second witness.
WITNESSES_EACH = 1.5

# If many entries are wrong, ten in each input are enough to recognize the pattern.
EXAMPLES = 10


def budget(size: int, max_evaluations: int | None) -> int:
    """Return how often f may be called for this many coordinates."""
    if max_evaluations is not None:
        return max_evaluations
    each = BESIDE + MOST_EACH * size
    most = max(each, FEWEST) if size <= AXES_IN_DOUBT else max(2 * size - 1, FEW)
    return min(most, MOST)


def usual_cost(size: int) -> int:
    """Return how often f is called for this many coordinates if f is smooth and the claim right."""
    return 2 + LOOK + (EACH * size if size <= ALL_AXES else TABLE_POINTS + EACH * LINES)


class Findings(NamedTuple):
    """The results of a survey."""

    on_axes: Evidence  # the coordinates that had an axis of their own
    certificate: Certificate | None = None  # what lines prove about the others
    lines: tuple[Evidence, ...] = ()  # random lines that agree with the claims, by rounds
    by_input: Evidence | None = None  # lines over each input, if lines over all disagree
    others: Evidence | None = None  # random lines over the inputs that these do not refuse
    inputs: tuple[Whole, ...] = ()  # the error of each input as a whole, if that is known
    hidden: Array | bool = False  # which undecided entries pass with their input as a whole
    looks: Mapping[int, Looks] = MappingProxyType({})  # lines over each input that is wrong
    regions: tuple[Region, ...] = ()  # where an input is wrong, if all else is right


def explore(question: Question) -> Findings:
    """Measure the lines that give the most evidence, and return the results."""
    size, ask = question.size, question.ask
    ask.try_many(Line(ask.inputs, 0, 1))  # now, so that its evaluations count before the rest
    if not np.isfinite(ask.here).all():  # no line has a slope there
        return Findings(axes_of(question, np.arange(min(size, ALL_AXES))))
    if not question.limited or question.most / 10 >= LOOK:
        look_far(question.noise)
    if size <= ALL_AXES:
        if question.affordable <= size:  # later there are no evaluations left for the noise
            question.noise.measure()
        if size <= question.affordable:
            return Findings(axes(question, np.arange(size)).settle())
    return _together(beside_claims(question))


def _together(question: Question) -> Findings:
    """Measure random lines, then axes: of wrong entries, and of those that lines do not confirm."""
    together, known, looks = Together(question), tuple[Whole, ...](), dict[int, Looks]()
    endless, unconfirmed = together.not_finite(EXAMPLES), np.zeros(0, int)
    if not endless.size and _few_digits(together):
        question, known, looks = _as_wholes(question)
        verdicts = {one.code for one in known}
        if FAIL in verdicts or verdicts == {PASS}:
            regions_of = tuple(zero_regions(question, looks))
            return _examples_of(question, known)._replace(looks=looks, regions=regions_of)
        together = Together(question)
    agree, agreeing, by_input, others = False, [], None, None
    if not (endless.size or question.claims.unusable):
        if question.affordable <= LINES:
            question.noise.measure()
        agree = _agree(together)
        while agree:
            agreeing.append(together.evidence)
            unconfirmed = together.unconfirmed()
            if not _deserve_a_round(together, unconfirmed.size):
                break
            together.narrow(unconfirmed)
            agree = _agree(together)

    size, few = question.size, question.size <= AXES_IN_DOUBT and not question.limited
    affordable = int(question.affordable / WITNESSES_EACH)
    if few:
        rows = unconfirmed if agree else np.arange(size)
    elif not agree:
        by_input = _by_input(together)
        others = _others(together, by_input) if by_input else None
        rows = _examples(together, endless, by_input)
    elif unconfirmed.size > affordable and not question.demanded:
        rows = unconfirmed[:0]  # a few of many are no evidence about the others
    else:
        rows = unconfirmed[:affordable]
    on_axes = axes_of(question, rows, [together.suspects])
    if agree:
        together.exclude(on_axes)
    reached, certificate = int(np.count_nonzero(on_axes.reached)), None
    if agree and reached < size:
        vouched = size - len(together.suspects.lines) - unconfirmed.size
        certificate = together.certificate(reached, vouched, question.demanded)
    elif not agree and reached < size and not (on_axes.ruling.verdict == FAIL).any():
        # No example shows the mistake: report how closely lines measured the others.
        certificate = together.certificate(reached, 0, demanded=True)
    found: list[Region] = []
    if by_input and not few:
        refused = _refused(by_input)
        parts = [p for p in question.ask.inputs.parts.values() if p.start in refused]
        found += regions(together, on_axes, parts)
    return Findings(
        on_axes, certificate, tuple(agreeing), by_input, others, known, regions=tuple(found)
    )


def _few_digits(together: Together) -> bool:
    """Tell whether the first line shows that f has few digits, so that the whole may decide."""
    if not decides(together.question):
        return False
    together.measure(1)
    return decides(together.question) and has_few_digits(together.question)


def _as_wholes(
    question: Question,
) -> tuple[Question, tuple[Whole, ...], dict[int, Looks]]:
    """Judge all inputs as wholes first; what that takes is not taken from the entries."""
    spent = question.ask.evaluations
    known, looks = judge_inputs(question, range(len(question.ask.inputs.parts)))
    if not question.limited:
        question = replace(question, most=question.most + question.ask.evaluations - spent)
    return question, tuple(known.values()), looks


def _examples_of(question: Question, known: Sequence[Whole]) -> Findings:
    """Measure some entries of the inputs that are wrong as a whole, to show what is wrong."""
    every = zip(question.ask.inputs.parts.values(), known, strict=True)
    wrong = [part for part, one in every if one.code == FAIL]
    rng, rows = np.random.default_rng(question.seed), [np.zeros(0, int)]
    for part in wrong:
        some = min(EXAMPLES // len(wrong) + 1, part.size)
        rows.append(part.start + rng.choice(part.size, some, replace=False))
    return Findings(axes_of(question, np.concatenate(rows)), inputs=tuple(known))


def _agree(together: Together) -> bool:
    """Measure lines; tell whether all agree, after one wrong entry, if any, is corrected."""
    few = together.question.size <= AXES_IN_DOUBT
    for count in (1, LINES):
        together.measure(count)
        alone = (together.evidence.witnesses.state == State.ALONE).any()
        if alone and np.isinf(together.evidence.best.bar).all():
            return False  # lines that leave the domain of f at once show nothing
        if few and not np.isfinite(together.evidence.best.bar[:1]).all():
            break  # for so few coordinates axes are better than lines without a slope
        while together.refused.any():
            if few or together.suspects.lines or not find_wrong_entry(together):
                return False
    return True


def _deserve_a_round(together: Together, count: int) -> bool:
    """Tell whether lines of their own are cheaper than axes for so many coordinates."""
    question = together.question
    wanted = question.demanded or WITNESSES_EACH * count <= question.affordable
    served = WITNESSES_EACH * count > LINES and question.affordable > LINES
    many = question.size > AXES_IN_DOUBT and count < together.moving
    return together.entrywise and many and wanted and served


def _by_input(together: Together) -> Evidence | None:
    """Measure a line over each input, and more where it refuses the claims, as far as affordable.

    A repair of the claims of an input is judged along these.
    """
    question = together.question
    parts = [part for part in question.ask.inputs.parts.values() if part.size]
    if question.claims.unusable:
        return None
    if len(parts) == 1:  # lines over it are measured already
        together.measure(min(FEWEST_LINES, question.affordable - LINES - EXAMPLES))
        return together.evidence
    first = [together.line(0).over(part.start, part.start + part.size) for part in parts]
    found = together.along(first).settle(tries=1)
    refused = _refused(found)
    wrong = [line for line in first if line.start in refused]
    left = question.affordable - LINES - EXAMPLES
    count = min(FEWEST_LINES, 1 + left // max(1, len(wrong)))
    more = [together.line(k).over(one.start, one.stop) for k in range(1, count) for one in wrong]
    return found.joined([together.along(more).settle(tries=1)]) if more else found


def _others(together: Together, by_input: Evidence) -> Evidence | None:
    """Measure random lines over the inputs that are not refused; None if they disagree, too."""
    question, refused = together.question, _refused(by_input)
    parts = question.ask.inputs.parts.values()
    rest = [np.arange(p.start, p.start + p.size) for p in parts if p.start not in refused]
    if not rest or question.affordable < LINES:
        return None
    together.narrow(np.concatenate(rest))
    for count in (1, LINES):
        together.measure(count)
    return None if together.refused.any() else together.evidence


def _refused(by_input: Evidence) -> set[int]:
    """Return the starts of the inputs that are refused along a line of their own."""
    return {int(row) for row in by_input.rows[by_input.ruling.refused.any(axis=1)]}


def _examples(together: Together, endless: Array, by_input: Evidence | None) -> Array:
    """Return some entries of every input in which something is wrong."""
    question = together.question
    wrong = np.append(endless, together.suspects.rows)
    parts = [part for part in question.ask.inputs.parts.values() if part.size]
    refused = _refused(by_input) if by_input else ()
    found = [part for part in parts if part.start in refused] or parts
    each = min(EXAMPLES, (question.affordable // 2 - wrong.size) // len(found))
    each = max(0 if wrong.size else 1, each)
    rng = np.random.default_rng(question.seed)
    rows = [p.start + rng.choice(p.size, min(each, p.size), replace=False) for p in found]
    return np.concatenate([wrong, *rows])
