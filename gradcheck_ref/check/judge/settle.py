"""Measure along some lines, with shorter or longer steps, until every claim is settled.

The same loop serves an axis, a random line, half of one, a line over one input, and a combination
of outputs.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.rule import (
    CLEARLY,
    FARTHEST,
    FINDING_STEPS,
    Doubts,
    Ruling,
    leaves,
    passing,
    reasons,
    rule,
    sharpest,
)
from gradcheck_ref.check.judge.tolerance import least
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.long_look import APART, look_far
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import Samples, State, Witnesses, read, sample
from gradcheck_ref.check.results import PASS, UNSURE
from gradcheck_ref.stage5_adaptive import FIRST_STEP, RATIO

# The steps that find the scale of f, and two confirmations. A move without other information is by
# UP or DOWN.
MOST_STEPS = FINDING_STEPS + 2
UP, DOWN = 16.0, 64.0

# To confirm a refusal, the step is so long that rounding is 1/VISIBLE of the error, or of the
# slope, and at least CLOSEST spacings of x, because products with x round, too.
VISIBLE, CLOSEST = 128.0, 8192

# Where the unit of a coordinate is not between these, there are two first steps.
SMALL_UNIT, LARGE_UNIT = 0.1, 10.0

# The longest steps, in units, if a long look was needed to find the stairs of f: that look was one
# unit long.
FARTHEST_ON_STAIRS = 2.0

# The allowed errors along some lines, given slopes and bars, (lines, outputs).
Least = Callable[["Evidence", Array, Array], Array]


@QUIETLY
def first_step(question: Question) -> float:
    """Return the first step in units of x: that of stage 5, for the precision of f."""
    noise, here = question.noise, np.abs(question.ask.here)
    stair = np.nan_to_num(noise.resolution / here, posinf=0.0).max(initial=0.0)
    return FIRST_STEP * math.pow(max(question.ask.precision, stair) / 2.0**-52, 1 / 5)


def axes(question: Question, rows: Array) -> "Evidence":
    """Return the axes of some coordinates, with their claims."""

    def by_scale(axes: Evidence, slopes: Array, bars: Array) -> Array:
        return least(question, axes.rows, slopes, bars, axes.claimed)

    lines = [Line(question.ask.inputs, i, i + 1) for i in rows.tolist()]
    return Evidence(question, lines, question.claimed_at(rows), by_scale, question.rtol)


def axes_of(question: Question, rows: Array, known: Sequence["Evidence"] = ()) -> "Evidence":
    """Measure some coordinates on their axes; for a complex entry both of its coordinates.

    Coordinates that are known are not measured again, but returned, too.
    """
    for part in question.ask.inputs.parts.values():
        if part.is_complex:
            inside = rows[part.holds(rows)]
            rows = np.append(rows, part.start + ((inside - part.start) ^ 1))
    before = [row for evidence in known for row in evidence.rows.tolist()]
    measured = axes(question, np.setdiff1d(rows, before)).settle()
    return measured.joined(known) if known else measured


class Evidence:
    """The claims and the measurements along some lines, and the verdicts.

    Parameters
    ----------
    question : Question
        The function, the point and the budget.
    lines : sequence of Line
        The lines.
    claimed : ndarray, shape (lines, outputs)
        The claimed slopes.
    least : callable
        Returns the allowed error besides rtol times the slope.
    rtol : float
        The relative tolerance.
    """

    def __init__(
        self, question: Question, lines: Sequence[Line], claimed: Array, least: Least, rtol: float
    ) -> None:
        self.question, self.lines, self.claimed = question, list(lines), claimed
        self.least, self.rtol, self.doubts = least, rtol, Doubts()
        self.samples: Samples | None = None
        self.starved = np.zeros(len(lines), bool)  # no evaluations were left for another witness
        self.units = np.array([line.unit for line in lines])
        self.scales = np.array([line.scale for line in lines])

    # --- what is known ----------------------------------------------------------------------------

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
        return np.bincount(np.array(self.looks, int), minlength=len(self.lines)) > 0

    @property
    def looks(self) -> list[int]:
        """The number of the line of each look so far."""
        numbers = {id(line): number for number, line in enumerate(self.lines)}
        return [numbers[id(line)] for line in (self.samples.lines if self.samples else ())]

    def reasons(self) -> Array:
        """Return the reason of each verdict, by line and output."""
        if (self.ruling.verdict == PASS).all():
            return passing(self.ruling)
        known = self.question.noise, self.starved[:, None], self.doubts
        return reasons(self.ruling, self.witnesses, self.claimed, *known)

    @cached_property
    def witnesses(self) -> Witnesses:
        """The slopes with their error bars, as they are read from all samples now."""
        if self.samples is None:
            return Witnesses.nothing(1, *self.claimed.shape)
        return read(self.samples, self.question.noise).arranged(self.looks, len(self.lines))

    @cached_property
    def ruling(self) -> Ruling:
        """The verdicts on the claims."""
        at = self.witnesses.take(sharpest(self.witnesses))
        allowed, noise = self.least(self, at.slope, at.bar), self.question.noise
        known = noise, self.units, self.scales, self.starved, self.doubts
        return rule(self.witnesses, self.claimed, allowed, self.rtol, *known)

    @cached_property
    def best(self) -> Witnesses:
        """The witness behind each verdict, (lines, outputs)."""
        return self.witnesses.take(self.ruling.chosen)

    def reread(self) -> None:
        """Read all samples anew, because there are more, or more is known of the noise."""
        vars(self).pop("witnesses", None)
        self.rejudge()

    def rejudge(self) -> None:
        """Judge the claims anew, because something else has changed."""
        for name in ("ruling", "best"):
            vars(self).pop(name, None)

    def joined(self, others: Sequence["Evidence"]) -> "Evidence":
        """Join this and other evidence on lines of the same kind; axes are sorted."""
        every = [self, *others]
        lines = [line for one in every for line in one.lines]
        order = np.argsort([line.start for line in lines], kind="stable")
        claimed = np.concatenate([one.claimed for one in every])[order]
        lines = [lines[k] for k in order.tolist()]
        found = Evidence(self.question, lines, claimed, self.least, self.rtol)
        for samples in filter(None, (one.samples for one in every)):
            found.samples = found.samples.and_then(samples) if found.samples else samples
        found.starved = np.concatenate([one.starved for one in every])[order]
        return found

    # --- asking -----------------------------------------------------------------------------------

    def settle(self, first: float | None = None, tries: int = MOST_STEPS) -> "Evidence":
        """Measure along the lines until every claim is settled, or after ``tries`` steps.

        Lines with unsettled claims are measured again, with a shorter or a longer step. The first
        step is ``first``, or by default that of stage 5, in units of x. Where x is far from 1, f
        may have a scale of its own, such as 1, so that step itself is taken, too.
        """
        first, every = first or first_step(self.question), np.arange(len(self.lines))
        far = every[(self.units < SMALL_UNIT) | (self.units > LARGE_UNIT)]
        which, steps = np.append(every, far), np.append(self.units, np.ones(far.size)) * first
        for _ in range(tries):
            affordable = self.question.affordable
            if which.size > affordable:
                self.starved[which[affordable:]] = True
                self.rejudge()
            which, steps = which[:affordable], steps[:affordable]
            if not which.size:
                break
            self.measure(which, steps)
            which = np.unique(which[(self.ruling.verdict[which] != PASS).any(axis=1)])
            # If the evaluations run out, lines that were measured more often go without.
            which = which[np.argsort(np.bincount(self.looks)[which], kind="stable")]
            steps = np.array([self._next_step(i) for i in which.tolist()], float)
            which, steps = which[steps > 0], steps[steps > 0]
        return self

    def measure(self, which: Array, steps: Array) -> None:
        """Measure some of the lines at these steps, and judge; measure the noise if it matters."""
        ask, noise = self.question.ask, self.question.noise
        new = sample(ask, [self.lines[number] for number in which.tolist()], steps)
        noise.notice(new.values)
        self.samples = self.samples.and_then(new) if self.samples else new
        self.reread()
        unsettled = (self.ruling.verdict[which] != PASS).any()
        noisy = not noise.tables and not (self.witnesses.apparent <= noise.quiet).all()
        news = unsettled and noise.find_resolution()
        measured = (unsettled or noisy) and noise.measure()
        noise_left = (noise.levels[0] > noise.quiet) & ~noise.random
        if measured and noise_left.any() and not noise.jump.any():  # perhaps it is stairs
            look_far(noise, noise.distances[0] / APART)
        if measured or news:
            self.reread()

    # --- the next step ----------------------------------------------------------------------------

    @QUIETLY
    def _next_step(self, i: int) -> float:
        """Choose the next step along a line; 0 if none is needed, or none would help."""
        tried = self.witnesses.step[:, i, 0]
        tried = tried[np.isfinite(tried)]
        for step in self._candidates(i, tried):
            # A step that is almost equal to another one gives no new evidence.
            new = (np.fmax(step / tried, tried / step) >= CLEARLY).all()
            if 0 < step <= self._farthest(i) and new:
                return float(step)
        return 0.0

    def _farthest(self, i: int) -> float:
        """Return the longest step that may be evidence for the slope at x."""
        stairs = self.question.noise.jump.any()
        units = FARTHEST_ON_STAIRS if stairs else FARTHEST
        return units * max(1.0, float(self.units[i]))

    def _candidates(self, i: int, tried: Array) -> Iterator[float]:
        """Yield steps along a line that may give new evidence, the best one first."""
        verdict, unit = self.ruling.verdict[i], float(self.units[i])
        first = first_step(self.question)
        if (verdict != PASS).any():  # with a shorter step, apparent noise may turn out to be smooth
            yield self.question.noise.fading_step(self.lines[i])
        columns = np.flatnonzero((verdict == UNSURE) & ~np.isnan(self.question.ask.here))
        if not columns.size:
            return
        known = self.witnesses.at((slice(None), i, columns))
        still = known.state == State.FLAT
        if still.any():  # a second flat step proves a slope of 0: shorter if f moves at longer ones
            step = float(known.step[still].max())
            moves = ~still & (known.state <= State.ROUGH)
            outside = float(leaves(known).min())
            if step < outside < np.inf:  # between the two, f may be flat on both sides
                yield outside / 3
            yield step / UP if moves.any() else max(UP * step, unit / 4)
        if (refused := columns[self.ruling.refused[i, columns]]).size:
            at = self.best.at((i, refused))
            closest = min(RATIO**2 * CLOSEST * self.lines[i].spacing, first / 4) * unit
            nearest, longest = float(at.step.min()), float(at.step.max())
            for seen in (np.abs(self.claimed[i, refused] - at.slope), np.abs(at.slope)):
                look = np.nan_to_num(VISIBLE * at.rounding * at.step / seen, posinf=0.0).max()
                look = max(min(float(look), nearest / 8), closest)
                if look < longest * CLEARLY**3:
                    yield look
            yield from (nearest / 3, 3 * longest, closest)
        yield self._bracketed(i, columns)

    def _bracketed(self, i: int, columns: Array) -> float:
        """Choose a step with a shorter error bar, between one too long and one too short."""
        lack = self.best.bar[i, columns] / np.fmax(self.ruling.allowed[i, columns], 1e-300)
        j = columns[np.argmax(np.where(np.isnan(lack), np.inf, lack))]  # the longest relative bar
        known = self.witnesses.at((slice(None), i, j))
        tried = known.state != State.NOTHING
        near = known.step <= FARTHEST * self.scales[i]
        if (tried & near & known.too_long).any():
            tried &= near  # longer steps measure a different part of f
        # If the noise fades at short steps, a step that includes it is too long.
        fading = self.question.noise.fading_step(self.lines[i]) or np.inf
        too_long = known.too_long | (CLEARLY * fading < known.step)
        too_long &= tried & (known.state != State.LOST)
        long = float(np.where(too_long, known.step, np.inf).min())
        tried &= known.step <= long
        last = known.at(np.flatnonzero(tried)[-1])
        too_short = tried & ~too_long & np.isfinite(known.rounding)
        short = float(np.where(too_short, known.step, 0.0).max())
        same = known.step[np.abs(known.jump - last.jump) <= last.jump / 20]
        if last.jump > 0 and same.max() > 1e5 * same.min():
            return 0.0  # the kink is at x: steps of so different lengths show the same jump
        scale, bend = float(self.units[i]) / 100, float(last.truncation + last.kink)
        if not last.too_long or last.state == State.LOST:
            step = min(max(UP * short, scale), self._farthest(i))
        elif float(last.rounding) < bend < 0.1 * float(last.steepest):
            # Truncation falls as h^4: aim for half the allowed error, or for the rounding.
            aim = max(float(self.ruling.allowed[i, j]) / 2, float(last.rounding))
            step = long * min(max(0.7 * math.pow(aim / bend, 1 / 4), 1 / DOWN), 1 / 2)
        else:
            step = scale if 0 < scale < long / UP else long / DOWN
        step = max(step, CLEARLY * short)
        if step <= long / CLEARLY:
            return step
        return 0.0 if long < 8 * short else math.sqrt(short) * math.sqrt(long)
