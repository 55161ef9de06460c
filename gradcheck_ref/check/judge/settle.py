"""Evidence: some lines, the claims and the measurements along them, and the verdicts.

The same class serves an axis, a random line, half of one, a line over one input, and a combination
of outputs. `Evidence.settle` measures along the lines, with shorter or longer steps, until every
claim is settled or no other step helps.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Probe
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.judge.rule import CLEARLY, Ruling, Setting, reasons, rule, sharpest, take
from gradcheck_ref.check.judge.tolerance import Tolerance
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
from gradcheck_ref.check.results import FAIL, PASS, UNSURE
from gradcheck_ref.stage5_adaptive import FIRST_STEP, RATIO

# The first step, four moves, and two confirmations. Moves without other information, by 64 down or
# 16 up, reach any scale from 1e-9 to 1e2; a move to the size of x can reach others.
MOST_STEPS = 7
UP, DOWN = 16.0, 64.0

# To confirm a refusal, the step is so long that rounding is 1/VISIBLE of the error, or of the
# slope, and at least CLOSEST spacings of x, because products with x round, too.
VISIBLE, CLOSEST = 128.0, 8192

# If steps that differ by this factor show the same jump of the slope, the kink is at x.
AT_X = 1e5

# Steps longer than this many times the size of x (or 1) measure a different part of f.
FARTHEST = 32.0

# The allowed errors along some lines, given slopes and bars, (lines, outputs).
Least = Callable[["Evidence", Array, Array], Array]


@dataclass(frozen=True)
class Case:
    """A function at a point, the claims about it, and the budget."""

    probe: Probe  # calls f; perhaps for combinations of its outputs
    noise: Noise
    claims: Claims
    tolerance: Tolerance
    seed: int  # for all lines
    most: float  # maximum number of evaluations of f
    limited: bool  # whether the caller set that limit
    demanded: bool  # whether the caller gave a tolerance: then every entry must meet it

    @property
    def size(self) -> int:
        """How many coordinates the inputs have."""
        return self.probe.x.size

    @property
    def affordable(self) -> int:
        """How many witnesses the remaining evaluations allow."""
        return int(max(0, self.most - self.probe.evaluations) // EACH)

    def axes(self, rows: Array) -> "Evidence":
        """Return the axes of some coordinates, with their claims."""
        if rows.size:
            self._return_to_x()
        lines = [Axis(self.probe.units, i) for i in rows.tolist()]
        return Evidence(self, lines, self.claims.rows(rows), _by_scale, self.tolerance.rtol)

    def claimed_along(self, lines: Sequence[RandomLine]) -> Array:
        """Return the claims along some lines, (lines, outputs)."""
        self._return_to_x()
        return np.array([self.claims.along(line) for line in lines])

    def _return_to_x(self) -> None:
        """Call f at x before a call of a jvp, which may use values from the last call of f."""
        if self.claims.matrix is None and self.probe.elsewhere and self.affordable:
            self.probe.forward()


def _by_scale(axes: "Evidence", slopes: Array, bars: Array) -> Array:
    """Return the allowed errors along axes, without rtol times the slope."""
    case = axes.case
    return case.tolerance.least(axes.rows, slopes, bars, axes.claimed, case.probe.eps)


class Evidence:
    """The measurements along some lines, and the verdicts on the claims there.

    Parameters
    ----------
    case : Case
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
        self, case: Case, lines: Sequence[Line], claimed: Array, least: Least, rtol: float
    ) -> None:
        self.case, self.lines, self.claimed = case, list(lines), claimed
        self.least, self.rtol = least, rtol
        self.own_rounding: Array | float = 0.0
        self.asked = Witness.none(1, len(lines), claimed.shape[1])  # in the order of measurement
        self.witnesses = self.asked  # the same, but with bars that include the resolution of f
        self.starved = np.zeros(len(lines), bool)  # no evaluations were left for another witness
        self.sizes = np.array([line.size for line in lines])
        self.ruling: Ruling
        self.best: Witness  # the witness behind each verdict, (lines, outputs)

    # --- what is known ----------------------------------------------------------------------------

    @property
    def rows(self) -> Array:
        """The coordinates of the axes among the lines."""
        return np.array([line.i for line in self.lines if isinstance(line, Axis)], int)

    @property
    def residual(self) -> Array:
        """Claims minus slopes."""
        return np.asarray(self.claimed - self.best.slope)

    @property
    def refused(self) -> Array:
        """Whether a witness refuses the claim."""
        return np.asarray((self.ruling.verdict == FAIL) | self.ruling.refused)

    @property
    def reached(self) -> Array:
        """Which lines were measured before the evaluations ran out."""
        tried = self.witnesses.state != NOTHING
        return np.asarray(tried.any(axis=(0, 2)) | (tried.shape[2] == 0))

    @property
    def unmoved(self) -> Array:
        """Where f was evaluated and never changed."""
        state = self.witnesses.state
        return np.asarray((state == FLAT).any(axis=0) & ((state == FLAT) | (state > ROUGH)).all(0))

    def reasons(self) -> Array:
        """Return the reason of each verdict, by line and output."""
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
        """Judge the claims by all witnesses so far."""
        resolution = self.case.noise.resolution
        self.witnesses = self.asked
        if resolution.any():  # it may be newer than some of the witnesses
            rounding = np.fmax(self.asked.rounding, 4 * resolution / self.asked.step)
            self.witnesses = replace(self.asked, rounding=rounding)
        at = take(self.witnesses, sharpest(self.witnesses))
        least = self.least(self, at.slope, at.bar)
        self.ruling = rule(self.witnesses, self.claimed, least, self._setting, self.own_rounding)
        self.best = take(self.witnesses, self.ruling.chosen)

    def joined(self, others: Sequence["Evidence"]) -> "Evidence":
        """Join this and other evidence on lines of the same kind; axes are sorted."""
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
        """Measure along the lines until every claim is settled, or after ``tries`` steps.

        Lines with unsettled claims are measured again, with a shorter or a longer step. The first
        step is ``first``, or by default that of stage 5.
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
        """Measure the slopes along some of the lines with these steps, and judge."""
        probe, noise = self.case.probe, self.case.noise
        samples = ask_samples(probe, [self.lines[r] for r in rows.tolist()], steps)
        before = self.asked
        self._take_in(before, rows, samples)
        if (self.ruling.verdict[rows] != PASS).any():
            noise.find_resolution()
            if noise.measure() or noise.resolution.any():
                self._take_in(before, rows, samples)

    def _take_in(self, before: Witness, rows: Array, samples: Samples) -> None:
        """Add the witnesses from new samples to those before, and judge."""
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
        """Where the verdict is still unsure and f is finite, (lines, outputs)."""
        return np.asarray((self.ruling.verdict == UNSURE) & ~np.isnan(self.case.probe.here))

    @cached_property
    def first_step(self) -> float:
        """The first step along every line: that of stage 5, for the precision of f."""
        probe = self.case.probe
        precision = max(probe.inputs.eps, float(probe.outputs.eps.max(initial=0.0)))
        return FIRST_STEP * math.pow(precision / 2.0**-52, 1 / 5)

    def _next_step(self, i: int) -> float:
        """Choose the next step along a line; 0 if none is needed, or none would help."""
        steps = self.witnesses.step[:, i, 0]
        tried = steps[np.isfinite(steps)]
        farthest = FARTHEST * max(1.0, float(self.sizes[i]))
        for step in self._candidates(i, tried):
            # A step that is almost equal to another one gives no new evidence.
            if 0 < step <= farthest and (np.fmax(step / tried, tried / step) >= CLEARLY).all():
                return float(step)
        return 0.0

    def _candidates(self, i: int, tried: Array) -> Iterator[float]:
        """Yield steps along a line that may give new evidence, the best one first."""
        verdicts, size = self.ruling.verdict[i], float(self.sizes[i])
        # A small x that is not zero may have a scale of its own.
        if 0 < size < self.first_step and tried.min(initial=np.inf) > size:
            yield min(self.first_step, 1 / 4) * size
        # With a shorter step, apparent noise may turn out to be smooth.
        if (verdicts != PASS).any():
            yield self.case.noise.quieter(self.lines[i])
        open_ = np.flatnonzero(self.unsettled[i])
        if not open_.size:
            # If f rounds a part, such as a float16 loss beside a float64 penalty, that part is
            # flat at short steps, rough at longer ones, and has its slope at still longer ones.
            rough = (self.witnesses.state == ROUGH) & (verdicts == FAIL)
            rough &= self.witnesses.step >= self.best.step[i]
            yield from UP * np.unique(self.witnesses.step[rough])
            return
        known = self.witnesses.at((slice(None), i, open_))
        still = known.state == FLAT
        if (still | (known.state == NOTHING)).all() and tried.max() < max(1.0, size):
            yield max(UP * float(tried.max()), size / 4)
        once = still.sum(axis=0) == 1
        if once.any():  # a second flat step proves a slope of 0: shorter if f moves at longer ones
            step = float(known.step[still.argmax(axis=0)[once].max()].max())
            moves = (known.state[:, once] <= ROUGH).sum() > once.sum()
            yield step / UP if moves else step * UP
        refused = np.flatnonzero(self.ruling.refused[i])
        if refused.size:
            yield from self._confirming_steps(i, refused, tried)
        yield self._bracketed(i, open_)

    def _confirming_steps(self, i: int, refused: Array, tried: Array) -> Iterator[float]:
        """Yield steps for a second witness that refuses the claim, too."""
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
        """Choose a step with a shorter error bar, between one too long and one too short."""
        at = self.best.at((i, open_))
        lack = at.bar / np.fmax(self.ruling.allowed[i, open_], 1e-300)
        j = open_[np.argmax(np.where(np.isnan(lack), np.inf, lack))]  # the longest relative bar
        known = self.witnesses.at((slice(None), i, j))
        tried = known.state != NOTHING
        last = known.at(np.flatnonzero(tried)[-1])
        # If the noise fades at short steps, a step that includes it is too long.
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
                # Truncation falls as h^4: aim for half the allowed error, or for the rounding.
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
