"""Choose the lines to measure: every axis for few coordinates, random lines first for many.

A random line measures all coordinates at once. If it refuses its claim, it is halved down to a
single entry. That entry is measured on its axis, and so are entries that lines cannot confirm.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.localise import halve, match, off_by_the_same
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.settle import Evidence, axes
from gradcheck_ref.check.judge.together import LINES, Together, beside_claims
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import TABLE_POINTS
from gradcheck_ref.check.measure.witness import EACH
from gradcheck_ref.check.results import FAIL, Certificate

# For up to ALL_AXES coordinates, axes cost no more than lines plus the axes that are needed after
# them. Up to AXES_IN_DOUBT, all axes are measured if lines leave a doubt.
ALL_AXES, AXES_IN_DOUBT = 32, 99

# At most 40 evaluations for each coordinate, noise included, and 1000 for a check. For many
# coordinates that is less than central differences on every axis take.
MOST_EACH, MOST = 40, 1000

# About half of the entries that are measured on an axis need a second witness.
WITNESSES_EACH = 1.5

# After a line that refuses, three more show if one entry is wrong or several. One is identified by
# its signs: a line for each bit of its number, plus four because one sign in ten may be wrong.
MORE_LINES, SURPLUS = 3, 4

# If many entries are wrong, ten in each input are enough to recognize the pattern.
EXAMPLES = 10


def budget(size: int, max_evaluations: int | None) -> int:
    """Return how often f may be called for this many coordinates."""
    if max_evaluations is not None:
        return min(MOST_EACH * size, max_evaluations)
    return min(MOST_EACH * size if size <= AXES_IN_DOUBT else 2 * size - 1, MOST)


def usual_cost(size: int) -> int:
    """Return how often f is called for this many coordinates if f is smooth and the claim right."""
    return 2 + (EACH * size if size <= ALL_AXES else TABLE_POINTS + EACH * LINES)


class Findings(NamedTuple):
    """The results of a survey."""

    on_axes: Evidence  # the coordinates that had an axis of their own
    certificate: Certificate | None = None  # what lines prove about the others
    lines: tuple[Evidence, ...] = ()  # random lines that agree with the claims, by rounds


def explore(question: Question) -> Findings:
    """Measure the lines that give the most evidence, and return the results."""
    size, every, ask = question.size, np.arange(question.size), question.ask
    ask.try_many(Line(ask.inputs, 0, 1))  # now, so that its evaluations count before the rest
    if not np.isfinite(ask.here).all():  # no line has a slope there
        return Findings(axes_of(question, every[:ALL_AXES]))
    if size <= ALL_AXES:
        if question.affordable <= size:  # later there are no evaluations left for the noise
            question.noise.measure()
        if size <= question.affordable:
            return Findings(axes(question, every).settle())
    return Survey(beside_claims(question)).findings()


def axes_of(question: Question, rows: Array, known: list[Evidence] | None = None) -> Evidence:
    """Measure some coordinates on their axes; for a complex entry both of its coordinates.

    Coordinates that were measured before are not measured again, but returned, too.
    """
    for part in question.ask.inputs.parts.values():
        if part.is_complex:
            inside = rows[part.holds(rows)]
            rows = np.append(rows, part.start + ((inside - part.start) ^ 1))
    before = [row for evidence in known or () for row in evidence.rows.tolist()]
    measured = axes(question, np.setdiff1d(rows, before)).settle()
    return measured.joined(known) if known else measured


class Survey:
    """Measures lines until the claims are settled, or the evaluations are used up."""

    def __init__(self, question: Question) -> None:
        # Lines leave enough evaluations for two witnesses of one entry.
        left = question.most - (0 if question.limited else 2 * EACH)
        self.question, self.together = question, Together(replace(question, most=left))
        self.wrong: list[int] = []  # entries that were found wrong, or are not finite
        self.confirmed: list[Evidence] = []  # their axes
        self.agreeing: list[Evidence] = []  # random lines that agree with the claims, by rounds

    def findings(self) -> Findings:
        """Measure, and return the results."""
        question, together = self.question, self.together
        self.wrong = together.not_finite(EXAMPLES).tolist()
        if not self.wrong and question.affordable <= LINES:
            question.noise.measure()
        if not self.wrong and not question.claims.unusable and self._lines_agree():
            while self._another_round() and self._lines_agree():
                pass
            if not together.refused.any():
                return self._examine_the_rest()
        on_axes = self._axes(self._examples())
        reached = int(on_axes.reached.sum())
        if (on_axes.ruling.verdict == FAIL).any() or reached == question.size:
            return Findings(on_axes, None, tuple(self.agreeing))
        # No example shows the mistake: report how closely lines measured the others.
        certificate = together.certificate(reached, 0, demanded=True)
        return Findings(on_axes, certificate, tuple(self.agreeing))

    def _axes(self, rows: Array) -> Evidence:
        return axes_of(self.question, rows, self.confirmed)

    # --- all at once ------------------------------------------------------------------------------

    def _lines_agree(self) -> bool:
        """Measure lines; tell whether all agree, after one wrong entry, if any, is corrected."""
        together, few = self.together, self.question.size <= AXES_IN_DOUBT
        for count in (1, LINES):
            together.measure(count)
            if few and not np.isfinite(together.evidence.best.bar[:1]).all():
                break  # for so few coordinates axes are better than lines without a slope
            while together.refused.any():
                if few or self.wrong or not self._find_wrong_entry():
                    return False
        return True

    def _another_round(self) -> bool:
        """Prepare lines for the unconfirmed coordinates, if lines are cheaper than axes."""
        together, question = self.together, self.question
        count, _ = together.unconfirmed(0)
        wanted = question.demanded or WITNESSES_EACH * count <= question.affordable
        served = WITNESSES_EACH * count > LINES and question.affordable > LINES
        few = question.size <= AXES_IN_DOUBT or count >= together.left_before
        if few or not (together.entrywise and wanted and served):
            return False
        self.agreeing.append(together.evidence)
        together.narrow()
        return True

    def _find_wrong_entry(self) -> bool:
        """Find a wrong entry, and correct its claim along all lines; tell whether there is one."""
        together, question = self.together, self.question
        if question.affordable < LINES:
            return False  # the evaluations left are worth more on axes
        together.measure(1 + MORE_LINES)
        column, rows = off_by_the_same(together.evidence), np.zeros(0, int)
        if column is not None:
            together.measure(min(LINES, math.ceil(math.log2(question.size)) + SURPLUS))
            rows = match(together.evidence, column)[: question.affordable]
        return bool(rows.size and self._confirm(rows)) or self._confirm(halve(together))

    def _confirm(self, rows: Array) -> bool:
        """Measure suspects on their axes, and correct wrong claims; tell whether any is wrong."""
        self.confirmed = [axes_of(self.question, rows)]
        [entries] = self.confirmed
        wrong = (entries.ruling.verdict == FAIL).any(axis=1)
        if wrong.any():
            self.together.correct(entries)
            self.wrong += entries.rows[wrong].tolist()
        return bool(wrong.any())

    def _examine_the_rest(self) -> Findings:
        """Measure the entries that were found wrong, and those that lines do not confirm."""
        question, together = self.question, self.together
        self.agreeing.append(together.evidence)
        affordable = int(question.affordable / WITNESSES_EACH)
        count, rows = together.unconfirmed(affordable)
        few = question.size <= AXES_IN_DOUBT and not question.limited
        if few and (count or self.wrong):
            every = self._axes(np.arange(question.size))
            return Findings(every, None, tuple(self.agreeing))
        if count > affordable and not question.demanded:
            rows = rows[:0]  # a few of many are no evidence about the others
        on_axes = self._axes(rows)
        vouched = question.size - len(together.corrections) - count
        reached = int(np.count_nonzero(on_axes.reached))
        certificate = together.certificate(reached, vouched, question.demanded)
        return Findings(on_axes, certificate, tuple(self.agreeing))

    def _examples(self) -> Array:
        """Return some entries of every input in which something is wrong, or all if few."""
        question = self.question
        if question.size <= AXES_IN_DOUBT and not question.limited:
            return np.arange(question.size)
        parts = [part for part in question.ask.inputs.parts.values() if part.size]
        wrong = []
        for part in parts if len(parts) > 1 and not question.claims.unusable else ():
            line = self.together.line(0).over(part.start, part.start + part.size)
            if question.affordable:
                here = self.together.along([line]).settle(tries=2)
                wrong += [part] * bool(here.ruling.refused.any())
        wrong = wrong or parts
        each = min(EXAMPLES, (question.affordable // 2 - len(self.wrong)) // len(wrong))
        each = max(0 if self.wrong else 1, each)
        rng = np.random.default_rng(question.seed)
        rows = [p.start + rng.choice(p.size, min(each, p.size), replace=False) for p in wrong]
        return np.concatenate([np.array(self.wrong, int), *rows])
