"""Choose the lines to measure: every axis for few coordinates, random lines first for many.

A random line measures all coordinates at once. If it refuses its claim, it is halved down to a
single entry. That entry is measured on its axis, and so are entries that lines cannot confirm.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.chords import FEW
from gradcheck_ref.check.judge.evidence import Evidence, axes, refused_by, whole_entries
from gradcheck_ref.check.judge.localise import find_by_signs, halve
from gradcheck_ref.check.judge.looks import Looks
from gradcheck_ref.check.judge.nearest import NEAREST_COST
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.regions import regions, zero_regions
from gradcheck_ref.check.judge.steps import axes_of, looked_first, settled
from gradcheck_ref.check.judge.together import LINES, Together, beside_claims
from gradcheck_ref.check.judge.whole import decides, has_few_digits, judge_inputs
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.pilot import BRIEF
from gradcheck_ref.check.measure.witness import EACH
from gradcheck_ref.check.results import FAIL, FEWEST_LINES, PASS, Certificate, Region, Whole
from gradcheck_ref.structure.parts import Part

# For up to ALL_AXES coordinates, axes cost no more than lines plus the axes that are needed after
# them. Up to AXES_IN_DOUBT, the axes of all entries that lines leave in doubt are measured, and all
# axes if a line refuses its claim.
ALL_AXES, AXES_IN_DOUBT = 32, 99

# By default at most 40 evaluations for each coordinate, and 30 for the long look, the noise and the
# calls at x; at least FEWEST, because a long look at a staircase takes up to 24, and may take a
# quarter of all; and 1000 for a check. For many coordinates that is less than central differences
# on every axis take; for a hundred, NAMING are needed to name what is wrong.
MOST_EACH, BESIDE, FEWEST, NAMING, MOST = 40, 30, 150, 400, 1000

# About half of the entries that are measured on an axis need a second witness.
WITNESSES_EACH = 1.5

# If many entries are wrong, ten in each input are enough to recognize the pattern.
EXAMPLES = 10


def budget(size: int, max_evaluations: int | None) -> int:
    """Return how often f may be called for this many coordinates."""
    if max_evaluations is not None:
        return max_evaluations
    each = BESIDE + MOST_EACH * size
    most = max(each, FEWEST) if size <= AXES_IN_DOUBT else max(2 * size - 1, NAMING)
    return min(most, MOST - NEAREST_COST)


def usual_cost(size: int) -> int:
    """Return how often f is called for this many coordinates if f is smooth and the claim right."""
    return 2 + BRIEF + EACH * (size if size <= ALL_AXES else LINES)


class Findings(NamedTuple):
    """The results of a survey."""

    on_axes: Evidence  # the coordinates that had an axis of their own
    certificate: Certificate | None = None  # what lines prove about the others
    lines: tuple[Evidence, ...] = ()  # random lines that agree with the claims, by rounds
    by_input: Evidence | None = None  # lines over each input, if lines over all disagree
    others: Evidence | None = None  # random lines over the inputs that these do not refuse
    inputs: tuple[Whole, ...] = ()  # the error of each input as a whole, if that is known
    ties: Evidence | None = None  # lines along which equal entries move together
    looks: Mapping[int, Looks] = MappingProxyType({})  # lines over each input that is wrong
    regions: tuple[Region, ...] = ()  # where an input is wrong, if all else is right


def explore(question: Question) -> Findings:
    """Measure the lines that give the most evidence, and return the results."""
    size, ask = question.size, question.ask
    ask.try_many(Line(ask.inputs, 0, 1))  # now, so that its evaluations count before the rest
    if not np.isfinite(ask.here).all():  # no line has a slope there
        return Findings(axes_of(question, np.arange(min(size, ALL_AXES))))
    noise = question.noise
    noise.fly(size <= ALL_AXES)
    noisy = bool((noise.level > noise.quiet).any())
    with ask.budget.kept(NEAREST_COST * (noisy and ask.budget.limited)):
        if size <= min(ALL_AXES, question.affordable):
            return Findings(settled(axes(question, np.arange(size))))
        return _together(beside_claims(question))


def _together(question: Question) -> Findings:
    """Measure random lines, then axes: of wrong entries, and of those that lines do not confirm."""
    together, known, looks = Together(question), dict[int, Whole](), dict[int, Looks]()
    endless = together.not_finite(EXAMPLES)
    if not endless.size and _few_digits(together):
        known, looks = judge_inputs(question, range(len(question.ask.inputs.parts)))
        verdicts = {one.code for one in known.values()}
        if FAIL in verdicts or verdicts == {PASS}:
            return _by_wholes(question, known, looks)
        together = Together(question)
    agreeing, unconfirmed, cut = list[Evidence](), None, True
    if not (endless.size or question.claims.unusable):
        agreeing, unconfirmed = _rounds(together)

    by_input, others, wrong = None, None, list[Part]()
    if question.size <= AXES_IN_DOUBT and not question.ask.budget.limited:
        rows = np.arange(question.size) if unconfirmed is None else unconfirmed
        on_axes = axes_of(question, rows, [together.suspects])
    elif unconfirmed is not None:
        affordable = int(question.affordable / WITNESSES_EACH)
        # A few of many are no evidence about the others.
        enough = question.demanded or unconfirmed.size <= affordable
        rows, cut = unconfirmed[: affordable * enough], unconfirmed.size > affordable
        on_axes = axes_of(question, rows, [together.suspects])
    else:
        on_axes, by_input, others, wrong = _where_wrong(together, endless)
    reached, certificate = int(np.count_nonzero(on_axes.reached)), None
    agree = unconfirmed is not None
    # If no example shows the mistake, report how closely lines measured the others.
    if reached < question.size and (agree or not (on_axes.ruling.verdict == FAIL).any()):
        left = question.size - len(together.suspects.lines)
        vouched = 0 if unconfirmed is None else left - unconfirmed.size
        certificate = together.certificate(reached, vouched, question.demanded or not agree, cut)
    where = tuple(regions(together, on_axes, wrong))
    inputs = tuple(known.values())
    return Findings(on_axes, certificate, tuple(agreeing), by_input, others, inputs, regions=where)


def _by_wholes(question: Question, known: dict[int, Whole], looks: dict[int, Looks]) -> Findings:
    """Return what is known if the inputs are right or wrong as wholes, with some entries."""
    where = tuple(zero_regions(question, looks))
    every = zip(question.ask.inputs.parts.values(), known.values(), strict=True)
    off = [part for part, one in every if one.code == FAIL]
    found = axes_of(question, _some_of(question, off, EXAMPLES // max(1, len(off)) + 1))
    return Findings(found, inputs=tuple(known.values()), looks=looks, regions=where)


def _rounds(together: Together) -> tuple[list[Evidence], Array | None]:
    """Measure rounds of lines over the entries that are still unconfirmed, as long as they agree.

    Returns the lines, and what is left unconfirmed; None if the last ones disagree, or leave too
    much to the slopes along the pilots, which do.
    """
    agreeing = list[Evidence]()
    while _agree(together):
        agreeing.append(together.evidence)
        unconfirmed = together.unconfirmed()
        if not _deserve_a_round(together, unconfirmed.size):
            few = WITNESSES_EACH * unconfirmed.size <= together.question.affordable
            few |= len(together.question.ask.inputs.parts) == 1  # lines over it are all there are
            return (agreeing, unconfirmed) if few or together.borne_out() else ([], None)
        together.narrow(unconfirmed)
    return agreeing, None


def _where_wrong(
    together: Together, endless: Array
) -> tuple[Evidence, Evidence | None, Evidence | None, list[Part]]:
    """Find entries and inputs that are wrong, if lines disagree.

    Some entries of the inputs that are refused along a line of their own usually show it; else the
    line is halved. Returns axes, lines over each input, lines over the others, and the wrong ones.
    """
    question = together.question
    by_input = None if question.claims.unusable else _by_input(together)
    wrong = _refused(by_input) if by_input else []
    rows = np.append(endless, together.suspects.rows)
    parts = wrong or [part for part in question.ask.inputs.parts.values() if part.size]
    each = min(EXAMPLES, (question.affordable // 2 - rows.size) // len(parts))
    rows = np.append(rows, _some_of(question, parts, max(0 if rows.size else 1, each)))
    rows, suspects = whole_entries(question, rows), together.suspects
    examples = looked_first(axes(question, np.setdiff1d(rows, suspects.rows)))
    refused = examples.ruling.refused.any() or suspects.ruling.refused.any()
    if by_input and not refused and question.affordable >= LINES:
        found = halve(together, by_input if wrong else together.evidence)
        suspects = axes_of(question, np.setdiff1d(found, examples.rows), [suspects])
    on_axes = settled(examples).joined([suspects])
    if by_input is None:
        return on_axes, None, None, wrong
    by_input = _more_lines(together, by_input, wrong)
    return on_axes, by_input, _others(together, wrong), wrong


def _few_digits(together: Together) -> bool:
    """Tell whether the first line shows that f has few digits, so that the whole may decide."""
    if not decides(together.question):
        return False
    together.measure(1)
    return decides(together.question) and has_few_digits(together.question)


def _some_of(question: Question, parts: Sequence[Part], each: int) -> Array:
    """Return some random coordinates of each of these inputs."""
    rng, rows = np.random.default_rng(seed_of(question.seed, "entries")), [np.zeros(0, int)]
    rows += [p.start + rng.choice(p.size, min(each, p.size), replace=False) for p in parts]
    return np.concatenate(rows)


def _agree(together: Together) -> bool:
    """Measure lines; tell whether all agree, after one wrong entry, if any, is corrected."""
    question = together.question
    few = question.size <= AXES_IN_DOUBT
    for count in (1, LINES):
        together.measure(count)
        known = np.isfinite(together.evidence.best.bar[:1])
        if known.size and not (known.all() if few else known.any()):
            return False  # axes are better than lines without a slope
        while refused_by(together.evidence).any():
            if few or together.suspects.lines or not find_by_signs(together):
                return False
        # More lines only confirm fewer entries, so axes are cheaper; but where digits are few, they
        # tell of the whole.
        saved = question.size - together.unconfirmed().size if few else LINES
        if saved < LINES and not has_few_digits(question):
            return False
    return True


def _deserve_a_round(together: Together, count: int) -> bool:
    """Tell whether lines of their own are cheaper than axes for so many coordinates."""
    question = together.question
    wanted = question.demanded or WITNESSES_EACH * count <= question.affordable
    served = WITNESSES_EACH * count > LINES and question.affordable > LINES
    many = question.size > AXES_IN_DOUBT and count < together.moving
    return together.entrywise and many and wanted and served


def _by_input(together: Together) -> Evidence:
    """Measure a line over each input; if there is only one, the lines so far are over it."""
    parts = [part for part in together.question.ask.inputs.parts.values() if part.size]
    if len(parts) > 1:
        return _over(together, parts, [0])
    together.measure(1)
    return together.evidence


def _more_lines(together: Together, by_input: Evidence, wrong: Sequence[Part]) -> Evidence:
    """Measure FEW lines over wrong inputs: how far these are off, and which repair is right.

    Cost: 6 evaluations for a line, on top of the others, for 18 inputs; for more, fewer lines each.
    """
    question, budget = together.question, together.question.ask.budget
    with budget.kept(EACH * (LINES + EXAMPLES)), budget.apart(MOST):
        if by_input is together.evidence:
            together.measure(min(FEW, question.affordable))
            return together.evidence
        more = range(1, min(FEW, 1 + question.affordable // max(1, len(wrong))))
        return by_input.joined([_over(together, wrong, more)])


def _over(together: Together, parts: Sequence[Part], numbers: Iterable[int]) -> Evidence:
    """Measure lines over some inputs, each of which has the signs of a line over all."""
    ends = [(part.start, part.start + part.size) for part in parts]
    lines = [together.line(k).over(*both) for k in numbers for both in ends]
    return looked_first(together.along(lines))


def _others(together: Together, wrong: Sequence[Part]) -> Evidence | None:
    """Measure random lines over the inputs that are not wrong; None if they disagree, too."""
    question = together.question
    parts = question.ask.inputs.parts.values()
    rest = [np.arange(p.start, p.start + p.size) for p in parts if p not in wrong]
    budget = question.ask.budget
    if not rest:
        return None
    with budget.apart(max(budget.left, 1 + EACH * EXAMPLES)):
        if question.affordable < FEWEST_LINES:
            return None
        together.narrow(np.concatenate(rest))
        for count in (1, min(LINES, question.affordable)):
            together.measure(count)
    return None if refused_by(together.evidence).any() else together.evidence


def _refused(by_input: Evidence) -> list[Part]:
    """Return the inputs that are refused along a line of their own."""
    starts = by_input.rows[by_input.ruling.refused.any(axis=1)]
    parts = by_input.question.ask.inputs.parts.values()
    return [part for part in parts if part.size and part.start in starts]
