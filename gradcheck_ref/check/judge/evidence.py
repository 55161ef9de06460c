"""The evidence along some lines: claims, values, what is read from these, and the verdicts.

The same serves an axis, a random line, half of one, a line over one input, and a combination of
outputs. `steps` chooses where to look.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.reasons import passing, reasons
from gradcheck_ref.check.judge.rule import Facts, Ruling, rule, sharpest
from gradcheck_ref.check.judge.tolerance import least
from gradcheck_ref.check.measure.ladder import WIDE, Table
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.pilot import FULL
from gradcheck_ref.check.measure.witness import State, Witnesses, read
from gradcheck_ref.check.results import PASS

# A kink is at x if windows that are KINK_APART rungs apart, a factor of 1e5, show the same jump.
KINK_APART = 8 * WIDE

# The allowed errors along some lines, given slopes and bars, (lines, outputs).
Least = Callable[["Evidence", Array, Array], Array]


def axes(question: Question, rows: Array) -> "Evidence":
    """Return the axes of some coordinates, with their claims."""
    lines = [Line(question.ask.inputs, i, i + 1) for i in rows.tolist()]
    return along(question, lines, question.claimed_at(rows), _by_scale, question.rtol)


def _by_scale(axes: "Evidence", slopes: Array, bars: Array) -> Array:
    return least(axes.question, axes.rows, slopes, bars, axes.claimed)


def whole_entries(question: Question, rows: Array) -> Array:
    """Return some coordinates, and for each that belongs to a complex entry also the other one."""
    for part in question.ask.inputs.parts.values():
        if part.is_complex:
            inside = rows[part.holds(rows)]
            rows = np.append(rows, part.start + ((inside - part.start) ^ 1))
    return np.unique(rows)


def along(
    question: Question, lines: Sequence[Line], claimed: Array, least: Least, rtol: float = 0.0
) -> "Evidence":
    """Return lines with the claims along them; f is not called yet."""
    nothing, starved = Witnesses.nothing(1, *claimed.shape), np.zeros(len(lines), bool)
    table = Table(question.ask, lines)
    return Evidence(question, table, nothing, claimed, least, rtol, starved)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The claims and the measurements along some lines, and the verdicts.

    It never changes: who looks again, or knows more facts, gets another one.

    Attributes
    ----------
    question : Question
        The function, the point and the budget.
    table : Table
        The lines, and the values of f along them.
    witnesses : Witnesses
        The slopes with their error bars, as they were read from all values.
    claimed : ndarray, shape (lines, outputs)
        The claimed slopes.
    least : callable
        Returns the allowed error besides rtol times the slope.
    rtol : float
        The relative tolerance.
    starved : ndarray of bool, shape (lines,)
        For which lines no evaluations were left for another look.
    facts : Facts
        Facts besides the values along these lines.
    """

    question: Question
    table: Table
    witnesses: Witnesses
    claimed: Array
    least: Least
    rtol: float
    starved: Array
    facts: Facts = field(default_factory=Facts)

    # --- what is known ----------------------------------------------------------------------------

    @property
    def lines(self) -> Sequence[Line]:
        """The lines."""
        return self.table.lines

    @property
    def units(self) -> Array:
        """The unit of x along each line."""
        return self.table.units

    @property
    def rows(self) -> Array:
        """The coordinates of axes."""
        return np.array([line.start for line in self.lines], int)

    @property
    def residual(self) -> Array:
        """Claims minus slopes."""
        return np.asarray(self.claimed - self.best.slope)

    @property
    def reached(self) -> Array:
        """Which lines were measured before the evaluations ran out."""
        return self.table.looks > 0

    @cached_property
    def pilots(self) -> Array:
        """The row of the pilot of each line."""
        return self.question.noise.pilots.rows_of(self.lines)

    @cached_property
    def ruling(self) -> Ruling:
        """The verdicts on the claims."""
        at = self.witnesses.take(sharpest(self.witnesses))
        allowed, noise = self.least(self, at.slope, at.bar), self.question.noise
        # Where the pilot saw nothing, f may go up and down between any two steps.
        blind = ~noise.pilots.seen[self.pilots]
        if blind.any():
            blind &= (self.table.shortest > 1) | ~(self._to_its_end() | self.kink_at_x())
        facts = self.facts._replace(doubted=self.facts.doubted | blind[:, None])
        known = noise, self.units, self.table.scales, self.starved, facts
        return rule(self.witnesses, self.claimed, allowed, self.rtol, *known)

    @cached_property
    def reasons(self) -> Array:
        """The reason of each verdict, by line and output."""
        if (self.ruling.verdict == PASS).all() and not np.any(self.facts.whole):
            return passing(self.ruling)
        known = self.question.noise, self.starved[:, None], self.facts
        out_of_reach = (self.table.shortest > 1)[:, None]
        return reasons(self.ruling, self.witnesses, self.claimed, *known, out_of_reach)

    @cached_property
    def best(self) -> Witnesses:
        """The witness behind each verdict, (lines, outputs)."""
        return self.witnesses.take(self.ruling.chosen)

    def given(self, **facts: Any) -> "Evidence":
        """Return the same evidence with these facts, each in the place of the one before."""
        news = any(np.any(fact) for fact in facts.values())
        return replace(self, facts=self.facts._replace(**facts)) if news else self

    def joined(self, others: Sequence["Evidence"]) -> "Evidence":
        """Join this and other evidence on lines of the same kind; axes are sorted."""
        every = [self, *others]
        order = np.argsort(np.concatenate([one.rows for one in every]), kind="stable")
        table = self.table.joined([one.table for one in others], order)
        return replace(
            self,
            table=table,
            witnesses=read(table, self.question.noise),
            claimed=np.concatenate([one.claimed for one in every])[order],
            starved=np.concatenate([one.starved for one in every])[order],
        )

    def asked_with(self, rtol: float) -> "Evidence":
        """Return what the same values on axes say where the caller gives this tolerance."""
        question, facts = replace(self.question, rtol=rtol, demanded=True), self.facts
        facts = facts._replace(whole=False, off_as_a_whole=False)
        return replace(self, question=question, rtol=rtol, facts=facts)

    # --- asking -----------------------------------------------------------------------------------

    def looked(self, wanted: Array, first: Array | None = None) -> "Evidence":
        """Ask f at some rungs, (lines, rungs), as far as affordable; some lines first."""
        table, starved = self.table.asked(wanted, first)
        new, noise = table.values[len(self.table.values) :], self.question.noise
        noise.notice(new)
        known = read(table, noise) if len(new) else self.witnesses
        found = replace(self, table=table, witnesses=known, starved=self.starved | starved)
        if len(new):
            if (found.witnesses.state == State.ROUGH).any() and noise.find_stairs(table):
                found = replace(found, witnesses=read(table, noise))
            if (found.ruling.verdict != PASS).any() and noise.ask_again():
                found = replace(found, witnesses=read(table, noise))  # more is known of the noise
        return found

    def kink_at_x(self) -> Array:
        """Which lines have a kink that is at x, as windows of very different lengths show it."""
        jump, start = self.witnesses.jump, self.witnesses.start
        sharpest_jump = self.witnesses.take(sharpest(self.witnesses)).jump
        shows = (jump > 0) & (np.abs(jump - sharpest_jump) <= jump / 20)
        shortest = np.where(shows, start, self.table.top).max(axis=0)
        longest = np.where(shows, start, shortest).min(axis=0)
        return np.asarray((shortest - longest >= KINK_APART).any(axis=1))

    def _to_its_end(self) -> Array:
        """Which lines were looked along at all rungs of a pilot from their longest one on."""
        asked, rungs = self.table.where >= 0, self.table.rungs
        wanted = self.table.exists & (rungs % WIDE == 0) & (rungs < FULL * WIDE)
        wanted &= np.logical_or.accumulate(asked, axis=1)
        return np.asarray((asked | ~wanted).all(axis=1))


def refused_by(evidence: Evidence) -> Array:
    """Return which claims are refused, also by the sharpest window, (lines, outputs)."""
    sides = np.abs(evidence.residual) <= evidence.best.bar
    return np.asarray(evidence.ruling.refused & ~sides)
