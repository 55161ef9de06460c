"""One trustworthy derivative for every entry: a value, an error bar, and what the bar is made of.

The idea is stage 5's, for all outputs of ``f`` at once: two five-point differences, the bend of
``f`` at the point, a search for the step. New are that the noise of ``f`` is measured, that one
side will do where ``f`` has only one, and that no gradient is blamed before ``f`` was looked at as
closely as its noise allows.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.structure import Inputs, Outputs
from gradcheck_ref.stage5_adaptive import FIRST_STEP, RATIO, SHORTEST

# At 6 evaluations each these reach any scale from 1e-9 to 1e4, and cost at most 30 per coordinate.
MOST_STEPS = 5

# Points of the difference table that measures noise, and their distance as a fraction of x. At a
# millionth, the fourth difference of a function that changes on a scale of 1/1000 is below
# rounding, and a float32 inside f still sees every point.
TABLE_POINTS = 7
TABLE_DISTANCE = 1.3671875 * 2.0**-20

# Measured noise above so many times the rounding of f is something else: noise, or a wave.
NOISY = 100.0

# The extrapolated slope has 3.7 standard deviations of noise over h; the bar covers 4 of those.
NOISE_UNITS = 16.0
# One-sided differences amplify noise about four times as much.
ONE_SIDED = 4.0


class Probe:
    """Calls f at the point and around it, and counts the calls.

    Parameters
    ----------
    f : callable
        The function; it gets fresh copies of the inputs every time.
    inputs : Inputs
        The point.
    seed : int
        For the direction in which noise is measured.
    """

    def __init__(self, f: Callable[..., Any], inputs: Inputs, seed: int) -> None:
        self.f = f
        self.inputs = inputs
        self.evaluations = 0
        values = inputs.copies()
        start = time.perf_counter()
        first = self._call(values, "x")
        self.seconds = time.perf_counter() - start
        self.mutated = inputs.changed(values)
        self.outputs = Outputs(first, inputs.dtype)
        self.x = inputs.flat(inputs.values)
        self.here = self.outputs.flat(first)
        self.eps = np.maximum(inputs.eps, self.outputs.eps)
        again = self.outputs.flat(self._call(inputs.copies(), "x"))
        self.nondeterminism = np.nan_to_num(np.abs(again - self.here))
        self.floor = 0.3 * self.eps * np.abs(np.nan_to_num(self.here))
        self.noises, self.distances = self._measure_noise(np.random.default_rng(seed))
        self.noise = self.noises[0]

    def moved(self, i: int, h: float) -> tuple[Array, Any]:
        """Output with flat coordinate ``i`` moved by ``h``, and the place it moved to."""
        k, within = self.inputs.locate(i)
        values = self.inputs.copies()
        coordinates = values[k].reshape(-1).view(values[k].real.dtype)
        coordinates[within] += h
        place = coordinates[within]
        return self.outputs.flat(self._call(values, (k, within, h))), place

    def can_step(self, i: int, h: float) -> tuple[bool, bool]:
        """Whether the shortest step of a trial moves ``x``, and the longest leaves it finite."""
        k, within = self.inputs.locate(i)
        x = self.inputs.values[k].reshape(-1).view(self.inputs.values[k].real.dtype)[within]
        with np.errstate(over="ignore"):
            moves = h / RATIO**2 >= SHORTEST * np.finfo(x.dtype).eps * abs(x)
            return bool(moves), bool(np.isfinite(abs(x) + h))

    def _call(self, values: list[Any], where: Any) -> Any:
        self.evaluations += 1
        try:
            return self.inputs.call(self.f, values)
        except BaseException as error:
            if isinstance(where, tuple):
                k, within, h = where
                where = f"x with {self.inputs.parts[k].entry(within)} moved by {h:+.3g}"
            error.add_note(f"in gradcheck_ref, calling f at {where}")
            raise

    def _measure_noise(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Measure the noise of each output, by difference tables of one to three widths.

        Returns the standard deviations, (tables, outputs), and the widths, (tables, inputs).

        Along a line of equidistant points the differences of a smooth function fall from order to
        order, those of noise do not (Hamming; Moré and Wild, 2011). The distances have few binary
        digits, so that the points are representable and rounding them adds no noise of its own.
        """
        size = np.abs(self.x).astype(float)
        typical = np.median(size[size > 0]) if (size > 0).any() else 1.0
        unit = 2.0 ** np.floor(np.log2(np.where(size > 0, size, typical)))
        unit *= rng.choice([-1.0, 1.0], size=size.shape)
        noises: list[Array] = []
        distances: list[Array] = []
        for closer in (1.0, 2.0**-10, 2.0**-20):
            distance = max(TABLE_DISTANCE * closer, 8 * self.inputs.eps) * np.abs(unit)
            table = self._table(distance * np.sign(unit))
            orders = _difference_table(table)
            falling = (orders[-1] < orders[-2] / 2) & (orders[-2] < orders[-3] / 2)
            found = np.where(falling, orders[-1], np.median(orders[-4:], axis=0))
            before = noises[-1] if noises else np.full(found.shape, np.inf)
            # Too close, an f with float32 inside stands still, and shows no noise for that reason.
            stands_still = np.mean(np.diff(table, axis=0) == 0, axis=0) > 0.3
            found = np.where((stands_still & np.isfinite(before)) | np.isnan(found), before, found)
            noises.append(found)
            distances.append(distance)
            # What looks like noise may be an f that turns several times between two points.
            if np.all(found <= NOISY * self.floor):
                break
        known = np.array(noises)
        known = np.maximum(np.where(np.isfinite(known), known, 0.0), self.floor)
        return np.maximum(known, self.nondeterminism), np.array(distances)

    def noise_at(self, rows: Array, steps: Array) -> Array:
        """Noise that matters for a step: that of the widest table which is not wider than it."""
        fits = self.distances[:, rows] <= steps  # (tables, rows), wide tables first
        table = np.where(fits.any(axis=0), fits.argmax(axis=0), len(self.noises) - 1)
        return np.asarray(self.noises[table])

    def quieter_step(self, i: int, h: float) -> float:
        """Return a step at which f is smooth though it looks noisy at ``h``; 0 if there is none."""
        for noise, distance in zip(self.noises[1:], self.distances[1:], strict=True):
            if 4 * distance[i] < h and np.all(noise <= NOISY * self.floor):
                return 4 * float(distance[i])
        return 0.0

    def _table(self, unit: Array) -> Array:
        table = [self.here]
        for k in range(1, TABLE_POINTS):
            values = self.inputs.unflat(self.x + k * unit)
            with np.errstate(all="ignore"):
                table.append(self.outputs.flat(self._call(values, "x moved to measure its noise")))
        return np.array(table)

    def notice_precision(self, samples: Array) -> None:
        """Lower the precision of outputs whose samples are all float32 or float16 numbers."""
        for short in (np.float32, np.float16):
            with np.errstate(all="ignore"):
                fits = ((samples == samples.astype(short)) | np.isnan(samples)).all(axis=0)
            # One and the same value may be a round number by itself.
            fits &= np.fmin.reduce(samples, axis=0) < np.fmax.reduce(samples, axis=0)
            self.eps = np.where(fits, np.maximum(self.eps, np.finfo(short).eps), self.eps)


def _difference_table(values: Array) -> Array:
    """Root mean square of the differences of each order, scaled so that white noise gives its own.

    The variance of a k-th difference of noise is (2k choose k) times that of the noise.
    """
    size = np.abs(values).max(axis=0)  # squares of the values themselves might overflow
    values = values / np.where(size > 0, size, 1.0)
    orders = []
    for k in range(1, len(values)):
        values = np.diff(values, axis=0)
        orders.append(size * np.sqrt(np.mean(values * values, axis=0) / math.comb(2 * k, k)))
    return np.array(orders)


@dataclass
class Evidence:
    """What is known about each entry: rows are flat input coordinates, columns flat outputs.

    Attributes
    ----------
    value : ndarray, shape (inputs, outputs)
        The slope; NaN where none was found.
    truncation, kink, rounding : ndarray, shape (inputs, outputs)
        The parts of the error bar: disagreement of the formulas; half the jump of the slope, beyond
        what noise explains; noise and rounding.
    step : ndarray, shape (inputs, outputs)
        Longest step behind the value.
    one_sided : ndarray of bool, shape (inputs, outputs)
        Whether f has finite values on one side only.
    spread : ndarray, shape (inputs, outputs)
        Largest slope among those that were combined.
    size : ndarray, shape (inputs, outputs)
        Largest absolute value of f among the samples.
    small_here : ndarray of bool, shape (inputs, outputs)
        Whether f(x) is small among its neighbours, so that a shorter step rounds less.
    vanished : ndarray of bool, shape (inputs, outputs)
        Whether a step was too short to move x.
    outside : ndarray of bool, shape (inputs, outputs)
        Whether f was not finite at some sample of the last trial.
    rough : ndarray, shape (inputs, outputs)
        Shortest step that saw several features of f; longer ones are not believed.
    afar, afar_error : ndarray, shape (inputs, outputs)
        The slope and its error bar from where f looks noisy, beyond rounding, if it does. What f
        does from nearer by is then the noise itself.
    flat : ndarray of bool, shape (inputs, outputs)
        Whether all samples behind the value were equal to f(x).
    moved : ndarray of bool, shape (inputs, outputs)
        Whether f was seen to move on both sides, at whatever step. An f that is flat from nearby
        then goes in stairs, as with float32 or rounding inside, and their treads are no slope.
    """

    value: Array
    truncation: Array
    kink: Array
    rounding: Array
    step: Array
    one_sided: Array
    spread: Array
    size: Array
    small_here: Array
    vanished: Array
    outside: Array
    rough: Array
    afar: Array
    afar_error: Array
    flat: Array
    moved: Array

    @classmethod
    def none(cls, rows: int, columns: int) -> "Evidence":
        """Evidence of nothing."""
        shape = (rows, columns)
        infinite = np.full(shape, np.inf)
        return cls(
            value=np.full(shape, np.nan),
            truncation=infinite.copy(),
            kink=np.zeros(shape),
            rounding=np.zeros(shape),
            step=infinite.copy(),
            one_sided=np.zeros(shape, bool),
            spread=np.zeros(shape),
            size=np.zeros(shape),
            small_here=np.zeros(shape, bool),
            vanished=np.zeros(shape, bool),
            outside=np.zeros(shape, bool),
            rough=infinite.copy(),
            afar=np.full(shape, np.nan),
            afar_error=infinite.copy(),
            flat=np.zeros(shape, bool),
            moved=np.zeros(shape, bool),
        )

    @property
    def error(self) -> Array:
        """The error bar."""
        return self.truncation + self.kink + self.rounding

    @property
    def too_long(self) -> Array:
        """Whether a shorter step would tell more."""
        return (self.truncation + self.kink > 2 * self.rounding) | self.small_here

    def rows(self, which: Array) -> "Evidence":
        """Select some rows."""
        return Evidence(**{name: array[which] for name, array in vars(self).items()})

    def improve(self, which: Array, trial: "Evidence") -> None:
        """Take over what a new trial of these rows knows better.

        Of two estimates that contradict each other the shorter step is believed: it has seen less
        of what is not the slope at x.
        """
        best = self.rows(which)
        with np.errstate(invalid="ignore"):
            agree = np.abs(trial.value - best.value) <= trial.error + best.error
            better = np.where(agree, trial.error < 0.9 * best.error, trial.step < best.step)
        better &= np.isfinite(trial.error) & (trial.step < best.rough)
        moved = best.moved | trial.moved
        better = (better & ~(trial.flat & moved)) | (
            best.flat & trial.moved & np.isfinite(trial.error) & (trial.step < best.rough)
        )
        rough = np.minimum(best.rough, trial.rough)
        nearer = trial.afar_error < best.afar_error
        afar = np.where(nearer, trial.afar, best.afar)
        afar_error = np.minimum(best.afar_error, trial.afar_error)
        for name, array in vars(self).items():
            array[which] = np.where(better, getattr(trial, name), getattr(best, name))
        self.vanished[which] = best.vanished | trial.vanished
        self.outside[which] = trial.outside
        self.rough[which], self.moved[which] = rough, moved
        self.afar[which], self.afar_error[which] = afar, afar_error


def try_steps(probe: Probe, rows: Array, steps: Array, tick: Callable[[], None]) -> Evidence:
    """Estimate the slopes of some coordinates, each from f here and at three steps on both sides.

    Cost: 6 evaluations for each row; none where the step leads nowhere or to infinity.
    """
    count, outputs = len(rows), probe.here.size
    ahead = np.full((count, 3, outputs), np.nan, probe.here.dtype)
    behind, places = ahead.copy(), np.ones((count, 3, 3), probe.here.dtype)
    vanished = np.zeros(count, bool)
    for r, (i, h) in enumerate(zip(rows.tolist(), steps.tolist(), strict=True)):
        moves, stays_finite = probe.can_step(i, h)
        vanished[r] = not moves
        if not (moves and stays_finite):
            continue
        with np.errstate(all="ignore"):  # that f leaves its domain is our doing, not the caller's
            for s, step in enumerate((h, h / RATIO, h / RATIO**2)):
                behind[r, s], places[r, s, 0] = probe.moved(i, -step)
                ahead[r, s], places[r, s, 2] = probe.moved(i, +step)
        places[r, :, 1] = probe.x[i]
        tick()
    probe.notice_precision(np.concatenate([ahead, behind], axis=1).reshape(6 * count, outputs))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        noise = probe.noise_at(rows, steps)
        trial = _estimate(probe, probe.x[rows], steps[:, None], noise, behind, ahead, places)
    trial.truncation[vanished] = 0.0
    trial.rounding[vanished] = np.inf
    trial.vanished[vanished] = True
    return trial


def _estimate(
    probe: Probe, x: Array, h: Array, noise: Array, behind: Array, ahead: Array, places: Array
) -> Evidence:
    """Turn samples into slopes and error bars; samples are (rows, 3 steps, outputs)."""
    here = probe.here
    largest = np.fmax(np.abs(ahead), np.abs(behind)).max(axis=1)
    unit = np.maximum(4 * probe.eps * np.fmax(largest, np.abs(here)), NOISE_UNITS * noise)
    rounding = unit / h

    slopes = (ahead - behind) / (places[:, :, 2] - places[:, :, 0])[..., None]
    bend = (ahead - here) + (behind - here)
    # Rounding x + h makes the sides unequal by up to a spacing of x; what that does is known.
    unequal = (places[:, :, 2] - places[:, :, 1] + (places[:, :, 0] - places[:, :, 1]))[..., None]
    steps = h[:, :, None] / RATIO ** np.arange(3)[:, None]
    slopes = slopes - bend / steps**2 * unequal / 2
    bend = bend - slopes * unequal
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO**2 - 1)
    fine = near + (near - middle) / (RATIO**2 - 1)
    value = fine + (fine - coarse) / (RATIO**4 - 1)
    rest = bend[:, 0] - (RATIO**2 + RATIO**4) * bend[:, 1] + RATIO**6 * bend[:, 2]
    gap = np.abs(rest) / (2 * (RATIO - 1) * (RATIO**3 - 1) * h)
    truncation, kink = np.abs(fine - coarse), np.maximum(0.0, gap - rounding)
    trial = Evidence(
        value=value,
        truncation=truncation,
        # Exact at a kink, where nothing else disturbs; next to one up to a fifth too small.
        kink=np.where(truncation < 1e-3 * kink, kink, 1.25 * kink),
        rounding=rounding,
        step=np.broadcast_to(h, value.shape).copy(),
        one_sided=np.zeros(value.shape, bool),
        spread=np.abs(slopes).max(axis=1),
        size=np.fmax(largest, np.abs(here)),
        small_here=largest > 4 * (np.abs(here) + np.abs(x[:, None] * value)),
        vanished=np.zeros(value.shape, bool),
        outside=~np.isfinite(ahead + behind).all(axis=1),
        rough=np.full(value.shape, np.inf),
        afar=value,
        flat=(ahead == here).all(axis=1) & (behind == here).all(axis=1),
        moved=(ahead != here).all(axis=1) & (behind != here).all(axis=1) & np.isfinite(value),
        afar_error=np.where(noise > NOISY * probe.floor, rounding, np.inf),
    )
    for samples, side in ((ahead, 2), (behind, 0)):
        runs = (places[:, :, side] - places[:, :, 1])[..., None]
        _use_one_side(trial, (samples - here) / runs)

    # A step that sees more than one feature of f says nothing, unless all slopes fade to 0.
    fading = (far * middle >= 2.6 * middle**2) & (middle * near >= 2.6 * near**2)
    several = trial.truncation > 0.1 * trial.spread + trial.rounding
    # Half the jump of a slope is no more than the steeper side: else f has a spike at x.
    steepest = np.maximum(np.abs(ahead - here), np.abs(behind - here))[:, 2] / steps[:, 2]
    rough = (several & ~fading) | (gap > 1.2 * steepest + 2 * trial.rounding)
    trial.rough[rough] = trial.step[rough]
    nothing = rough | ~np.isfinite(trial.value)
    trial.afar_error[nothing | (trial.truncation + trial.kink > trial.rounding)] = np.inf
    trial.truncation[nothing] = np.inf
    trial.rounding[nothing] = trial.kink[nothing] = 0.0
    return trial


def _use_one_side(trial: Evidence, slopes: Array) -> None:
    """Where f is finite on this side only, extrapolate its one-sided slopes."""
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO - 1)  # the h terms cancel
    fine = near + (near - middle) / (RATIO - 1)
    value = fine + (fine - coarse) / (RATIO**2 - 1)
    alone = ~np.isfinite(trial.value) & np.isfinite(value)
    trial.value[alone] = value[alone]
    trial.truncation[alone] = np.abs(fine - coarse)[alone]
    trial.rounding[alone] *= ONE_SIDED
    trial.spread[alone] = np.abs(slopes).max(axis=1)[alone]
    trial.kink[alone] = 0.0
    trial.one_sided[alone] = True


# What is decided about an entry while evidence is gathered.
PASS, OPEN, FAIL = 0, 1, 2

Judge = Callable[[Evidence], tuple[Array, Array]]


def gather(
    probe: Probe,
    judge: Judge,
    rows: Array,
    claimed: Array,
    max_evaluations: int | None,
    tick: Callable[[], None],
) -> Evidence:
    """Look at the slopes of some rows until the judge is sure of every entry, or nothing helps.

    Parameters
    ----------
    probe : Probe
        Where f is called.
    judge : callable
        ``judge(evidence)`` returns PASS, OPEN or FAIL, and the allowed error, for every entry.
    rows : ndarray of int
        The flat input coordinates to look at.
    claimed : ndarray, shape (inputs, outputs)
        Only to know how close a look would still show the difference.
    max_evaluations : int or None
        Stop before f is called more often than that.
    tick : callable
        Called after each row.

    Returns
    -------
    Evidence
        For all rows, those that were not looked at included.
    """
    evidence = Evidence.none(probe.x.size, probe.here.size)
    confirmed = np.zeros(claimed.shape, bool)
    search = _Search(probe)
    steps = np.full(rows.size, search.first_step)
    for _ in range(MOST_STEPS):
        if max_evaluations is not None:
            affordable = max(0, max_evaluations - probe.evaluations) // 6
            rows, steps = rows[:affordable], steps[:affordable]
        if not rows.size:
            break
        trial = try_steps(probe, rows, steps, tick)
        evidence.improve(rows, trial)
        verdict, allowed = judge(evidence)
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.abs(claimed - evidence.value) - allowed
            # So close that noise is an eighth of the difference: closer than that nothing shows.
            close = 8 * evidence.rounding * evidence.step / excess
            fails = np.abs(claimed[rows] - trial.value) - trial.error > allowed[rows]
        near_enough = (trial.step <= 2 * close[rows]) & ~search.may_quieten(rows, steps)[:, None]
        confirmed[rows] |= fails & near_enough & ~trial.flat
        doubtful = (verdict == FAIL) & ~confirmed

        again = np.zeros(rows.size)
        for r, i in enumerate(rows.tolist()):
            undecided = np.flatnonzero(verdict[i] == OPEN)
            if undecided.size:
                again[r] = search.next_step(evidence, trial, r, i, undecided, allowed[i])
            elif doubtful[i].any():
                flat = bool(evidence.flat[i, doubtful[i]].all())
                again[r] = search.other_step(float(steps[r]), i, close[i, doubtful[i]], flat)
        rows, steps = rows[again > 0], again[again > 0]
    return evidence


class _Search:
    """Which step to try next for a coordinate, in a bracket that closes from both sides.

    The rules are those of stage 5's search; 0 stands for: nothing is left to try.
    """

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        # FIRST_STEP, but for the precision that f has here.
        self.first_step = FIRST_STEP * (float(probe.eps.max(initial=0.0)) / 2.0**-52) ** (1 / 5)
        self.size = np.abs(probe.x.astype(float))
        self.shortest = RATIO**2 * SHORTEST * probe.inputs.eps * self.size
        self.too_short = np.zeros(probe.x.size)
        self.too_long = np.full(probe.x.size, np.inf)

    def next_step(
        self,
        evidence: Evidence,
        trial: Evidence,
        r: int,
        i: int,
        undecided: Array,
        allowed: Array,
    ) -> float:
        """Search for a step that leaves less error, after trial ``r`` of coordinate ``i``."""
        # The entry that is furthest from being decided speaks for the row.
        with np.errstate(divide="ignore", invalid="ignore"):
            lack = evidence.error[i, undecided] / allowed[undecided]
        j = undecided[np.argmax(np.where(np.isnan(lack), np.inf, lack))]
        h = float(trial.step[r, j])
        truncation = float(trial.truncation[r, j] + trial.kink[r, j])
        rounding = float(trial.rounding[r, j])
        scale = self.size[i] / 100
        if trial.too_long[r, j] or h > evidence.step[i, j]:
            self.too_long[i] = h
            if rounding < truncation < 0.1 * trial.spread[r, j]:
                # Truncation falls as h^4: aim at what is allowed, or at the rounding.
                aim = max(float(allowed[j]) / 2, rounding)
                h *= min(max(0.7 * math.pow(aim / truncation, 1 / 4), 1 / 64), 1 / 2)
            else:
                h = scale if 0 < scale < h / 16 else h / 64
        elif quieter := self.probe.quieter_step(i, h):
            self.too_long[i] = h
            h = quieter
        else:
            self.too_short[i] = h
            h = max(16 * h, scale)
        short, long = self.too_short[i], self.too_long[i]
        if short < h < long:
            return h
        return 0.0 if long < 8 * short else math.sqrt(short) * math.sqrt(long)

    def may_quieten(self, rows: Array, steps: Array) -> Array:
        """Whether f looks noisy at these steps, and smooth from nearer by."""
        pairs = zip(rows.tolist(), steps.tolist(), strict=True)
        return np.array([self.probe.quieter_step(i, h) > 0 for i, h in pairs], bool)

    def other_step(self, h: float, i: int, close: Array, flat: bool) -> float:
        """Choose the step for another look, before a gradient is blamed.

        It is as close as still shows the difference; or where f is quiet, if it looks noisy; or
        farther away, if f did not move at all.
        """
        if flat:
            return 16 * h if h < 1 else 0.0
        if quieter := self.probe.quieter_step(i, h):
            return quieter
        closer = max(min(float(close.max()), h / 8), self.shortest[i])
        return closer if closer < h else 0.0
