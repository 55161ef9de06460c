"""Look along some lines, and look again elsewhere on the ladder, until every claim is settled.

The same loop serves an axis, a random line, half of one, a line over one input, and a combination
of outputs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.reasons import passing, reasons
from gradcheck_ref.check.judge.rule import Facts, Ruling, clear_jump, rule, sharpest
from gradcheck_ref.check.judge.tolerance import least
from gradcheck_ref.check.measure.ladder import DOWN, RATIO, WIDE, Table
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.pilot import FULL, HIGHEST
from gradcheck_ref.check.measure.witness import State, Witnesses, read
from gradcheck_ref.check.results import PASS, UNSURE

# Windows that share no value are so many rungs apart.
APART = 3 * WIDE

# A bar of up to so many times the allowed error may become short enough between the rungs.
NEARLY = 32.0

# After the first look: one a window away, one between the rungs, at all those of the pilots, at all
# there are; in any order of the last three, and one more.
LOOKS = 5

# A kink is at x if windows that are KINK_APART rungs apart, a factor of 1e5, show the same jump.
KINK_APART = 8 * WIDE

# A pilot reaches a length of 1 from no smaller unit than this.
TOO_SMALL = RATIO**-HIGHEST

# A jump of the slope that is less than this part of it may be a bend.
BENT = 1e-3

# The allowed errors along some lines, given slopes and bars, (lines, outputs).
Least = Callable[["Evidence", Array, Array], Array]


def axes(question: Question, rows: Array) -> "Evidence":
    """Return the axes of some coordinates, with their claims."""

    def by_scale(axes: Evidence, slopes: Array, bars: Array) -> Array:
        return least(question, axes.rows, slopes, bars, axes.claimed)

    lines = [Line(question.ask.inputs, i, i + 1) for i in rows.tolist()]
    return along(question, lines, question.claimed_at(rows), by_scale, question.rtol)


def axes_of(question: Question, rows: Array, known: Sequence["Evidence"] = ()) -> "Evidence":
    """Measure some coordinates on their axes; for a complex entry both of its coordinates.

    Coordinates that are known are not measured again, but returned, too.
    """
    before = [row for evidence in known for row in evidence.rows.tolist()]
    measured = axes(question, np.setdiff1d(whole_entries(question, rows), before)).settled()
    return measured.joined(known) if known else measured


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
        blind = (self.table.shortest > 1) | ~(self._to_its_end() | self._kink_at_x())
        blind &= ~noise.pilots.seen[self.pilots]
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
        """Return the same evidence where more facts are known."""
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

    # --- asking -----------------------------------------------------------------------------------

    def settled(self) -> "Evidence":
        """Look along the lines, again a window away, between the rungs, and everywhere."""
        found = self.looked_first()
        between, all_of_pilots = np.zeros((2, len(self.lines)), bool)
        for number in range(LOOKS):
            unsure = (found.ruling.verdict == UNSURE).any(axis=1) & ~found._kink_at_x()
            if not self.question.affordable and unsure.any():
                found = replace(found, starved=found.starved | unsure)
            if not (unsure.any() and self.question.affordable):
                break
            if number == 0:
                wanted = found._again()
            else:
                nearly = found._nearly() & ~between
                far = np.where(all_of_pilots[:, None], found._everywhere(), found._all_of_pilots())
                wanted = np.where(nearly[:, None], found._between(), far)
                between |= nearly
                all_of_pilots |= ~nearly
            found = found.looked(wanted & unsure[:, None])
        return found

    def looked(self, wanted: Array) -> "Evidence":
        """Ask f at some rungs, (lines, rungs), as far as affordable."""
        table, starved = self.table.asked(wanted)
        found = replace(self, table=table, starved=self.starved | starved)
        new, noise = table.values[len(self.table.values) :], self.question.noise
        if len(new):
            noise.notice(new)
            found = replace(found, witnesses=read(table, noise))
            if (found.witnesses.state == State.ROUGH).any() and noise.find_stairs(table):
                found = replace(found, witnesses=read(table, noise))
            if (found.ruling.verdict != PASS).any() and noise.ask_again():
                found = replace(found, witnesses=read(table, noise))  # more is known of the noise
        return found

    def looked_at(self, starts: Array | int) -> "Evidence":
        """Look through the windows that start at these rungs."""
        return self.looked(self.table.window(starts))

    def looked_first(self) -> "Evidence":
        """Look through the pilot's window; if that is far from x, also one that is not.

        Where the unit of a coordinate is not that of its pilot, also one that is as long; and of an
        absolute length where it is too small for a pilot to reach that.
        """
        pilots, inputs, table = self.question.noise.pilots, self.question.ask.inputs, self.table
        first = pilots.first[self.pilots]
        wanted = table.window(first) | table.window(np.maximum(first, 0))
        ours = [line.start for line in self.lines if line.seed is None]
        if len(ours) == len(self.lines):
            own = np.array([float(inputs.units(k, k + 1)[0]) for k in ours])
            own = np.where(self.units < TOO_SMALL, 1.0, own)
            longer = np.log(self.units / own) / math.log(RATIO)
            longer = np.where(np.abs(longer) > 1.6, np.rint(longer), 0.0).astype(int)
            if longer.any():
                wanted |= table.window(first + WIDE * longer)
        return self.looked(wanted)

    def looked_beside(self) -> "Evidence":
        """Look through two more windows that share rungs with the first. Cost: 4 a line.

        They are shorter if that is needed, else longer.
        """
        first = np.where(self.table.where >= 0, self.table.rungs, DOWN).min(axis=1)
        longer = np.where(self.best.too_long.any(axis=1), 0, 2 * WIDE)
        return self.looked(self.table.window(first - longer, WIDE, 5))

    def looked_between(self) -> "Evidence":
        """Look through windows that begin a rung or two closer to x. Cost: 6 a line."""
        return self.looked(self.table.window(self._sharpest_start(), 1, 5))

    @QUIETLY
    def _again(self) -> Array:
        """Mark a window that shares no value with the best one.

        It is shorter if that is needed, or sharp enough to confirm a refusal, else longer.
        """
        best, refused = self.best, self.ruling.refused
        sharp = refused & (np.abs(self.residual) > 6 * RATIO**3 * best.rounding)
        # Another still window shows that f is flat, and a longer one may leave the flat piece.
        flat = (best.state == State.FLAT) & (self.claimed == 0) & self.question.noise.changed
        flat |= self.ruling.verdict != UNSURE
        shorter = (best.too_long | sharp).any(axis=1) | flat.all(axis=1)
        first = best.start.min(axis=1)
        start = np.where(shorter, first + APART, first - APART)
        start = np.where(start < self.table.top, first + APART, start)
        kink = clear_jump(best) & (best.kink > BENT * best.steepest)
        kink = (kink & (self.ruling.verdict == UNSURE)).any(axis=1)
        start = np.where(kink, first + KINK_APART, start)
        return self.table.window(start)

    def _nearly(self) -> Array:
        """Which lines have a bar that may become short enough between the rungs."""
        bar, allowed = self.best.bar, self.ruling.allowed
        refused = self.ruling.refused & (self.ruling.verdict == UNSURE)
        return np.asarray((refused | ((bar > allowed) & (bar < NEARLY * allowed))).any(axis=1))

    def _between(self) -> Array:
        """Rungs between those of the sharpest window, where noise is four times less.

        Five neighbors, because a kink on one side and noise on the other leave little room; all
        seven where a refusal is to be confirmed: they hold two windows that share no value.
        """
        best = self._sharpest_start()
        refused = np.any(self.ruling.refused, axis=1, keepdims=True)
        seven, five = self.table.window(best, 1, 7), self.table.window(best - 2, 1, 5)
        return np.asarray(np.where(refused, seven, five))

    def _sharpest_start(self) -> Array:
        """Return the first rung of the window with the shortest bar of any output, by line."""
        bars = np.where(np.isfinite(self.witnesses.bar), self.witnesses.bar, np.inf).min(axis=2)
        return np.asarray(self.witnesses.start[bars.argmin(axis=0), np.arange(len(self.lines)), 0])

    def _kink_at_x(self) -> Array:
        """Which lines have a kink that is at x, as windows of very different lengths show it."""
        jump, start = self.witnesses.jump, self.witnesses.start
        sharpest_jump = self.witnesses.take(sharpest(self.witnesses)).jump
        shows = (jump > 0) & (np.abs(jump - sharpest_jump) <= jump / 20)
        shortest = np.where(shows, start, self.table.top).max(axis=0)
        longest = np.where(shows, start, shortest).min(axis=0)
        return np.asarray((shortest - longest >= KINK_APART).any(axis=1))

    def _everywhere(self) -> Array:
        """All rungs, if truncation or a kink is what is too large."""
        best = self.best
        bends = ~np.isfinite(best.bar) | (best.truncation + best.kink > best.rounding)
        return np.asarray(np.any(bends, axis=1)[:, None] & self._useful())

    def _all_of_pilots(self) -> Array:
        """All rungs of the pilots, and longer ones."""
        return self._useful() & (self.table.rungs < FULL * WIDE)

    def _to_its_end(self) -> Array:
        """Which lines were looked along at all rungs of a pilot from their longest one on."""
        asked, rungs = self.table.where >= 0, self.table.rungs
        wanted = self.table.exists & (rungs % WIDE == 0) & (rungs < FULL * WIDE)
        wanted &= np.logical_or.accumulate(asked, axis=1)
        return np.asarray((asked | ~wanted).all(axis=1))

    def _useful(self) -> Array:
        """Every third rung, but none that is longer than where all windows are too long."""
        rungs, known = self.table.rungs, self.witnesses.state != State.NOTHING
        longest = np.where(known, self.witnesses.start, KINK_APART).min(axis=(0, 2))[:, None]
        settled = self.ruling.verdict != UNSURE
        too_long = np.all(self.witnesses.too_long | ~known | settled, axis=(0, 2))[:, None]
        return np.asarray((rungs % WIDE == 0) & (~too_long | (rungs > longest)))
