"""The search for witnesses: which step to try next along each line.

Every line starts with the same step. Where that leaves an entry undecided, the step goes down while
truncation is the larger part of the error bar, and up while rounding is, as in stage 5. Where a
claim is refused, f is looked at once more: first as close as still shows the difference, and if f
is mute there, as close as still shows a slope.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.case import Case
from gradcheck_ref.check.judge.pair import UNSURE
from gradcheck_ref.check.judge.rule import CLEARLY, Ruling, take
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.samples import Samples, ask_samples
from gradcheck_ref.check.measure.witness import FLAT, Witness, hear_witnesses
from gradcheck_ref.stage5_adaptive import FIRST_STEP, RATIO

# The first step, four moves, and two looks at what they found, 6 evaluations each: blind moves, by
# 64 down or by 16 up, reach any scale from 1e-9 to 1e2, and the size of x, when it is tried, lies
# beyond.
MOST_STEPS = 7

# No second look is closer than so many spacings of x at its shortest step: the rounding of a
# product with x would hide what there is.
CLOSEST = 8192

# But in float16, which has fewer numbers than that, closer than the first step all the same.
NEARER = 4.0

# A second look shows the difference, or the slope, with rounding an eighth of it.
VISIBLE = 8.0

Judge = Callable[[Witness], Ruling]


class Search:
    """Witnesses along some lines, gathered until a judge is sure of every claim.

    Parameters
    ----------
    case : Case
        Where f is called, how noisy it is, and how often it may be.
    lines : sequence of Line
        The lines to look along.
    tries : int
        Most steps along each line.
    """

    def __init__(self, case: Case, lines: Sequence[Line], tries: int = MOST_STEPS) -> None:
        probe = case.probe
        self.case, self.probe, self.noise = case, probe, case.noise
        self.lines, self.tries = lines, tries
        # FIRST_STEP, but for the precision that f has here.
        precision = max(probe.inputs.eps, float(probe.outputs.eps.max(initial=0.0)))
        self.first_step = FIRST_STEP * (precision / 2.0**-52) ** (1 / 5)
        self.sizes = np.array([line.size for line in lines])
        spacing = np.array([line.spacing for line in lines])
        far = (
            self.sizes
            if self.sizes.all()
            else np.where(self.sizes, self.sizes, probe.units.typical)
        )
        self.closest = np.minimum(RATIO**2 * CLOSEST * spacing, self.first_step / NEARER) * far
        self.too_short = np.zeros(len(lines))
        self.too_long = np.full(len(lines), np.inf)
        self.starved = np.zeros(len(lines), bool)
        self.witnesses: Witness  # (trials, lines, outputs)

    def gather(self, judge: Judge, claimed: Array, first: Array | None = None) -> Ruling:
        """Look along the lines until the judge is sure of every entry, or nothing helps.

        Parameters
        ----------
        judge : callable
            ``judge(witnesses)`` rules on the claims.
        claimed : ndarray, shape (lines, outputs)
            Only to know how close a look would still show the difference.
        first : ndarray, shape (lines,), optional
            Where to begin.
        """
        rows = np.arange(len(self.lines))
        steps = np.full(rows.size, self.first_step) if first is None else first
        ruling: Ruling | None = None
        for tries in range(self.tries):
            affordable = self.case.affordable
            self.starved[rows[affordable:]] = True
            rows, steps = rows[:affordable], steps[:affordable]
            if not rows.size:
                break
            lines = [self.lines[r] for r in rows.tolist()]
            samples = ask_samples(self.probe, lines, steps)
            before = self.witnesses if tries else None
            trial, ruling = self._hear(rows, samples, before, judge)
            if self._undecided(ruling)[rows].any() and self.noise.measure():
                trial, ruling = self._hear(rows, samples, before, judge)
            open_ = self._undecided(ruling)
            if not open_[rows].any():
                break
            again = np.zeros(rows.size)
            quieter = self.noise.quieter_steps(lines, steps)
            chosen = take(self.witnesses, ruling.chosen)
            for r in np.flatnonzero(open_[rows].any(axis=1)).tolist():
                i, h = int(rows[r]), float(steps[r])
                refused = np.flatnonzero(ruling.refused[i])
                undecided = np.flatnonzero(open_[i] & ~ruling.refused[i])
                if refused.size:
                    again[r] = self._second_look(
                        i, h, claimed[i], refused, ruling, float(quieter[r])
                    )
                if undecided.size and not again[r]:
                    still = trial.state[r, undecided] == FLAT
                    if still.all() and not self.witnesses.moved[:, i, undecided].any():
                        again[r] = self._farther(i, h)
                    else:
                        again[r] = self._next(
                            chosen, trial, r, i, undecided, ruling.allowed[i], float(quieter[r])
                        )
            rows, steps = rows[again > 0], again[again > 0]
        if ruling is None:
            self.witnesses = Witness.none(1, len(self.lines), self.probe.here.size)
            ruling = judge(self.witnesses)
        return ruling

    def _hear(
        self, rows: Array, samples: Samples, before: Witness | None, judge: Judge
    ) -> tuple[Witness, Ruling]:
        """Add what samples along these lines say to what was heard before them, and judge."""
        trial = hear_witnesses(self.probe, self.noise, samples)
        found = trial.among(rows, len(self.lines))
        self.witnesses = found if before is None else before.and_then(found)
        return trial, judge(self.witnesses)

    def _undecided(self, ruling: Ruling) -> Array:
        return np.asarray((ruling.verdict == UNSURE) & ~np.isnan(self.probe.here))

    def _next(
        self,
        chosen: Witness,
        trial: Witness,
        r: int,
        i: int,
        undecided: Array,
        allowed: Array,
        quieter: float,
    ) -> float:
        """Search for a step that leaves less error, after trial ``r`` of line ``i``; or 0."""
        # The entry that is furthest from being decided speaks for the line.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lack = chosen.bar[i, undecided] / np.fmax(allowed[undecided], 1e-300)
        j = undecided[np.argmax(np.where(np.isnan(lack), np.inf, lack))]
        h = float(trial.step[r, j])
        truncation = float(trial.truncation[r, j] + trial.kink[r, j])
        rounding = float(trial.rounding[r, j])
        scale = self.sizes[i] / 100
        if trial.too_long[r, j] or h > chosen.step[i, j]:
            self.too_long[i] = h
            if rounding < truncation < 0.1 * trial.steepest[r, j]:
                # Truncation falls as h^4: aim at what is allowed, or at the rounding.
                aim = max(float(allowed[j]) / 2, rounding)
                h *= min(max(0.7 * math.pow(aim / truncation, 1 / 4), 1 / 64), 1 / 2)
            else:
                h = scale if 0 < scale < h / 16 else h / 64
        elif quieter:
            self.too_long[i] = h
            h = quieter
        else:
            self.too_short[i] = h
            h = max(16 * h, scale)
        short, long = self.too_short[i], self.too_long[i]
        if short < h < long:
            return h
        return 0.0 if long < 8 * short else math.sqrt(short) * math.sqrt(long)

    def _farther(self, i: int, h: float) -> float:
        """Choose the step for another look at an f that did not move at all."""
        size = float(self.sizes[i])
        farther: float = max(16 * h, size / 100)
        return farther if h < max(1.0, size) else 0.0

    def _second_look(
        self,
        i: int,
        h: float,
        claimed: Array,
        refused: Array,
        ruling: Ruling,
        quieter: float,
    ) -> float:
        """Choose the step for another look at what a witness refuses."""
        witnesses = self.witnesses.at((slice(None), i, refused))
        tried = self.witnesses.step[:, i, refused[0]]
        tried = tried[np.isfinite(tried)]
        if quieter and self._is_new(quieter, tried):
            return quieter
        still = witnesses.state == FLAT
        known = still | (witnesses.step == np.inf)
        if known.all() and not witnesses.moved.any():
            return self._farther(i, h)
        chosen = take(self.witnesses, ruling.chosen).at((i, refused))
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = 4 * self.probe.eps[refused] * self.sizes[i] * np.abs(chosen.slope)
            unit = chosen.rounding * chosen.step + lost
            by_difference = VISIBLE * unit / (np.abs(claimed[refused] - chosen.slope))
            by_slope = VISIBLE * unit / np.abs(chosen.slope)
        closest = float(self.closest[i])
        for looks in (by_difference, by_slope):
            look = float(np.nanmax(np.where(np.isfinite(looks), looks, 0.0), initial=0.0))
            look = max(min(look, float(chosen.step.min()) / 8), closest)
            if self._is_new(look, tried) and look < h * CLEARLY**3:
                return look
        shorter, longer = float(chosen.step.min()) / 3, 3 * float(chosen.step.max())
        for look in (shorter, longer, longer / 9, longer * 3, closest):
            if self._is_new(look, tried) and look >= min(closest, longer):
                return look
        return 0.0

    @staticmethod
    def _is_new(step: float, tried: Array) -> bool:
        """Whether a step is clearly another one than those that were tried."""
        with np.errstate(over="ignore"):  # of a step that is hardly a number
            ratio = np.maximum(step / tried, tried / step)
        return bool((ratio >= CLEARLY).all())
