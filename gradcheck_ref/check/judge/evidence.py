"""Lines with what is claimed along them, what was measured there, and the verdicts.

An axis, a random line, half of one, a line over one input, a combination of outputs: all have this
one shape. `Evidence.settle` asks f along the lines, closer or from farther away, until every claim
is settled or nothing helps.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE
from gradcheck_ref.check.judge.rule import CLEARLY, Ruling, Setting, reasons, rule, sharpest, take
from gradcheck_ref.check.judge.tolerance import Tolerance
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Axis, Line, RandomLine
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.measure.witness import (
    EACH,
    FLAT,
    LOST,
    NOTHING,
    ROUGH,
    Samples,
    Witness,
    ask_samples,
    witnesses_of,
)
from gradcheck_ref.stage5_adaptive import FIRST_STEP, RATIO

# The first step, four moves, and two looks at what they found: blind moves, by 64 down or by 16 up,
# reach any scale from 1e-9 to 1e2, and the size of x, when it is tried, lies beyond.
MOST_STEPS = 7
UP, DOWN = 16.0, 64.0

# A second look at what is refused goes where rounding leaves the difference, or the slope, sharp;
# but no closer than this many spacings of x, where the rounding of a product with x would hide what
# there is.
VISIBLE, CLOSEST = 128.0, 8192

# A jump of the slope that is the same at steps which differ by this factor is one at x.
AT_X = 1e5

# Farther than this many times the size of x, or than 1, f is another function.
FARTHEST = 32.0

# What is allowed along the lines of some evidence, given slopes and bars, (lines, outputs).
Least = Callable[["Evidence", Array, Array], Array]


@dataclass(frozen=True)
class Case:
    """A function at a point, what is claimed of it, and how much may be asked."""

    probe: Probe  # where f is called; perhaps of combinations of its outputs
    noise: Noise
    claims: Claims
    tolerance: Tolerance
    seed: int  # of all lines
    most: float  # evaluations of f
    limited: bool  # whether the caller limited them
    demanded: bool  # whether the caller asked for the tolerance: then all entries are held to it

    @property
    def size(self) -> int:
        """How many coordinates the inputs have."""
        return self.probe.x.size

    @property
    def affordable(self) -> int:
        """How many witnesses there are evaluations left for."""
        return int(max(0, self.most - self.probe.evaluations) // EACH)

    def axes(self, rows: Array) -> "Evidence":
        """Return the axes of some coordinates, with what is claimed of them."""
        if rows.size:
            self._return_to_x()
        lines = [Axis(self.probe.units, i) for i in rows.tolist()]
        return Evidence(self, lines, self.claims.rows(rows), _by_scale, self.tolerance.rtol)

    def claimed_along(self, lines: Sequence[RandomLine]) -> Array:
        """Return what is claimed along some lines, (lines, outputs)."""
        self._return_to_x()
        return np.array([self.claims.along(line) for line in lines])

    def _return_to_x(self) -> None:
        """Call f at x before a jvp is asked: it may use what the last call of f has kept."""
        if self.claims.matrix is None and self.probe.elsewhere and self.affordable:
            self.probe.forward()


def _by_scale(axes: "Evidence", slopes: Array, bars: Array) -> Array:
    """Return what is allowed along axes."""
    case = axes.case
    return case.tolerance.least(axes.rows, slopes, bars, axes.claimed, case.probe.eps)


class Evidence:
    """What is known of the claims along some lines.

    Parameters
    ----------
    case : Case
        Where f is called.
    lines : sequence of Line
        The lines.
    claimed : ndarray, shape (lines, outputs)
        The slopes that are claimed.
    least : callable
        What is allowed besides rtol times the slope.
    rtol : float
        The relative tolerance.
    """

    def __init__(
        self, case: Case, lines: Sequence[Line], claimed: Array, least: Least, rtol: float
    ) -> None:
        self.case, self.lines, self.claimed = case, list(lines), claimed
        self.least, self.rtol = least, rtol
        self.own_rounding: Array | float = 0.0
        self.asked = Witness.none(1, len(lines), claimed.shape[1])  # in the order asked
        self.witnesses = self.asked  # with all that is known of the resolution of f
        self.starved = np.zeros(len(lines), bool)  # no evaluations were left for a closer look
        self.sizes = np.array([line.size for line in lines])
        self.ruling: Ruling
        self.best: Witness  # the one that speaks for each verdict, (lines, outputs)

    # --- what is known ----------------------------------------------------------------------------

    @property
    def rows(self) -> Array:
        """The coordinates of axes."""
        return np.array([line.i for line in self.lines if isinstance(line, Axis)], int)

    @property
    def residual(self) -> Array:
        """Claims minus slopes."""
        return np.asarray(self.claimed - self.best.slope)

    @property
    def refused(self) -> Array:
        """Whether the claim does not fit."""
        return np.asarray((self.ruling.verdict == FAIL) | self.ruling.refused)

    @property
    def reached(self) -> Array:
        """Which lines there were evaluations for."""
        tried = self.witnesses.state != NOTHING
        return np.asarray(tried.any(axis=(0, 2)) | (tried.shape[2] == 0))

    @property
    def unmoved(self) -> Array:
        """Where f was asked and never moved."""
        state = self.witnesses.state
        return np.asarray((state == FLAT).any(axis=0) & ((state == FLAT) | (state > ROUGH)).all(0))

    def reasons(self) -> Array:
        """Say why, for every line and output."""
        if (self.ruling.verdict == PASS).all():
            return np.where(self.ruling.flat, "flat", "ok").astype("<U16")
        reason = reasons(self.ruling, self.witnesses, self.claimed, self._setting)
        unsure = self.ruling.verdict == UNSURE
        reason[unsure & self.case.noise.random] = "nondeterministic"
        tried = np.count_nonzero(self.witnesses.state != NOTHING, axis=0)
        short = self.starved[:, None] & (tried <= 2) & (reason != "zero")
        reason[unsure & short] = "precision"
        return reason

    @property
    def _setting(self) -> Setting:
        probe, noise = self.case.probe, self.case.noise
        known = noise.moved, noise.resolution, noise.rounded
        return Setting(self.sizes, self.starved, probe.eps, probe.here, self.rtol, *known)

    @QUIETLY
    def judge(self) -> None:
        """Rule on the claims by all that is known."""
        resolution = self.case.noise.resolution
        self.witnesses = self.asked
        if resolution.any():  # perhaps it was found after some of the witnesses
            rounding = np.fmax(self.asked.rounding, 4 * resolution / self.asked.step)
            self.witnesses = replace(self.asked, rounding=rounding)
        at = take(self.witnesses, sharpest(self.witnesses))
        least = self.least(self, at.slope, at.bar)
        self.ruling = rule(self.witnesses, self.claimed, least, self._setting, self.own_rounding)
        self.best = take(self.witnesses, self.ruling.chosen)

    def joined(self, others: Sequence["Evidence"]) -> "Evidence":
        """Put this and other evidence on lines of the same kind together; axes ascend."""
        every = [self, *others]
        ends = np.cumsum([0, *(len(one.lines) for one in every)])
        claimed = np.concatenate([one.claimed for one in every])
        trials = max(len(one.asked.state) for one in every)
        witnesses, starved = Witness.none(trials, *claimed.shape), np.zeros(ends[-1], bool)
        for one, start, stop in zip(every, ends, ends[1:], strict=False):
            witnesses.put((slice(len(one.asked.state)), slice(start, stop)), one.asked)
            starved[start:stop] = one.starved
        lines = [line for one in every for line in one.lines]
        order = sorted(range(len(lines)), key=lambda k: getattr(lines[k], "i", k))
        found = Evidence(
            self.case, [lines[k] for k in order], claimed[order], self.least, self.rtol
        )
        found.asked, found.starved = witnesses.at((slice(None), order)), starved[order]
        found.judge()
        return found

    # --- asking -----------------------------------------------------------------------------------

    @QUIETLY
    def settle(self, first: float | None = None, tries: int = MOST_STEPS) -> "Evidence":
        """Ask along the lines, in so many tries at most, until every claim is settled.

        What is settled leaves; the others are asked closer, or from farther away. A line begins
        with the step ``first``; that of stage 5 without it.
        """
        rows, steps = np.arange(len(self.lines)), np.full(len(self.lines), first or self.first_step)
        for _ in range(tries):
            affordable = self.case.affordable
            self.starved[rows[affordable:]] = True
            rows, steps = rows[:affordable], steps[:affordable]
            if not rows.size:
                self.judge()
                break
            self.ask(rows, steps)
            small = (self.sizes < self.first_step) & (self.sizes > 0)
            rows = rows[(small | (self.ruling.verdict != PASS).any(axis=1))[rows]]
            if not rows.size:
                break
            again = np.array([self._next_step(i) for i in rows.tolist()], float)
            rows, steps = rows[again > 0], again[again > 0]
        return self

    @QUIETLY
    def ask(self, rows: Array, steps: Array) -> None:
        """Measure the slopes along some of the lines, at these steps, and judge."""
        probe, noise = self.case.probe, self.case.noise
        samples = ask_samples(probe, [self.lines[r] for r in rows.tolist()], steps)
        before = self.asked
        self._take_in(before, rows, samples)
        if (self.ruling.verdict[rows] != PASS).any():
            noise.find_resolution()
            if noise.measure() or noise.resolution.any():
                self._take_in(before, rows, samples)

    def _take_in(self, before: Witness, rows: Array, samples: Samples) -> None:
        """Add what samples along some lines say to what was known, and judge."""
        found = witnesses_of(self.case.probe, self.case.noise, samples)
        first = (before.state == NOTHING).all()
        if first and rows.size == len(self.lines):
            self.asked = found.at(None)
        else:
            trial = Witness.none(1, *self.claimed.shape)
            trial.put((0, rows), found)
            self.asked = trial if first else before.and_then(trial)
        self.judge()

    @property
    def unsettled(self) -> Array:
        """Where a verdict is open and f has a value, (lines, outputs)."""
        return np.asarray((self.ruling.verdict == UNSURE) & ~np.isnan(self.case.probe.here))

    @cached_property
    def first_step(self) -> float:
        """The step that every line begins with: that of stage 5, for the precision f has here."""
        probe = self.case.probe
        precision = max(probe.inputs.eps, float(probe.outputs.eps.max(initial=0.0)))
        return FIRST_STEP * math.pow(precision / 2.0**-52, 1 / 5)

    def _next_step(self, i: int) -> float:
        """Choose the step for another look along a line; 0 if there is no need, or no use."""
        steps = self.witnesses.step[:, i, 0]
        tried = steps[np.isfinite(steps)]
        farthest = FARTHEST * max(1.0, float(self.sizes[i]))
        for step in self._wishes(i, tried):
            # A step that is much like another one tells the same.
            if 0 < step <= farthest and (np.fmax(step / tried, tried / step) >= CLEARLY).all():
                return float(step)
        return 0.0

    def _wishes(self, i: int, tried: Array) -> Iterator[float]:
        """Yield steps at which another look along a line may tell more, the best one first."""
        verdicts, size = self.ruling.verdict[i], float(self.sizes[i])
        # A small x that is not zero may have a scale of its own.
        if 0 < size < self.first_step and tried.min(initial=np.inf) > size:
            yield min(self.first_step, 1 / 4) * size
        # What looks like noise may be smooth from nearby.
        if (verdicts != PASS).any():
            yield self.case.noise.quieter(self.lines[i])
        open_ = np.flatnonzero(self.unsettled[i])
        if not open_.size:
            # What is rounded inside f, as a float16 loss beside a float64 penalty, stands still
            # from nearby, is rough from farther along some line, and has its slope beyond.
            rough = (self.witnesses.state == ROUGH) & (verdicts == FAIL)
            rough &= self.witnesses.step >= self.best.step[i]
            yield from UP * np.unique(self.witnesses.step[rough])
            return
        known = self.witnesses.at((slice(None), i, open_))
        still = known.state == FLAT
        if (still | (known.state == NOTHING)).all() and tried.max() < max(1.0, size):
            yield max(UP * float(tried.max()), size / 4)
        once = still.sum(axis=0) == 1
        if once.any():  # another one shows a slope of 0: closer if f moves from farther away
            step = float(known.step[still.argmax(axis=0)[once].max()].max())
            moves = (known.state[:, once] <= ROUGH).sum() > once.sum()
            yield step / UP if moves else step * UP
        refused = np.flatnonzero(self.ruling.refused[i])
        if refused.size:
            yield from self._second_looks(i, refused, tried)
        yield self._bracketed(i, open_)

    def _second_looks(self, i: int, refused: Array, tried: Array) -> Iterator[float]:
        """Yield steps that show once more what a witness refuses."""
        at, size = self.best.at((i, refused)), float(self.sizes[i])
        spacings = RATIO**2 * CLOSEST * self.lines[i].spacing
        closest = min(spacings, self.first_step / 4) * (size or self.case.probe.units.typical)
        nearest, farthest = float(at.step.min()), float(at.step.max())
        for scale in (np.abs(self.claimed[i, refused] - at.slope), np.abs(at.slope)):
            looks = VISIBLE * at.rounding * at.step / scale
            look = float(np.where(np.isfinite(looks), looks, 0.0).max())
            look = max(min(look, nearest / 8), closest)
            if look < tried.max() * CLEARLY**3:
                yield look
        yield from (nearest / 3, 3 * farthest, closest)

    def _bracketed(self, i: int, open_: Array) -> float:
        """Choose a step that leaves less error: between one too long and one too short."""
        at = self.best.at((i, open_))
        lack = at.bar / np.fmax(self.ruling.allowed[i, open_], 1e-300)
        j = open_[np.argmax(np.where(np.isnan(lack), np.inf, lack))]  # furthest from being decided
        known = self.witnesses.at((slice(None), i, j))
        tried = known.state != NOTHING
        last = known.at(np.flatnonzero(tried)[-1])
        # Where noise fades from nearby, a step that hears it is too long.
        quieter = self.case.noise.quieter(self.lines[i]) or np.inf
        too_long = known.too_long | (CLEARLY * quieter < known.step)
        too_long &= tried & (known.state != LOST)
        short = float(np.where(tried & ~too_long, known.step, 0.0).max())
        long = float(np.where(too_long, known.step, np.inf).min())
        same = known.step[np.abs(known.jump - last.jump) <= last.jump / 20]
        if last.jump > 0 and same.max() > AT_X * same.min():
            return 0.0  # the kink is at x
        scale = float(self.sizes[i]) / 100
        if last.too_long and last.state != LOST:
            bend = float(last.truncation + last.kink)
            if float(last.rounding) < bend < 0.1 * float(last.steepest):
                # Truncation falls as h^4: aim at what is allowed, or at the rounding.
                aim = max(float(self.ruling.allowed[i, j]) / 2, float(last.rounding))
                step = long * min(max(0.7 * math.pow(aim / bend, 1 / 4), 1 / DOWN), 1 / 2)
            else:
                step = scale if 0 < scale < long / UP else long / DOWN
        else:
            step = max(UP * short, scale)
        step = max(step, CLEARLY * short)
        if step <= long / CLEARLY:
            return step
        return 0.0 if long < 8 * short else math.sqrt(short) * math.sqrt(long)
