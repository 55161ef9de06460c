"""One trustworthy derivative for every entry: a value, an error bar, and what the bar is made of.

The idea is stage 5's, for all outputs of ``f`` at once: two five-point differences, and the bend of
``f`` at the point. New are that measured noise counts as rounding does, and that one side will do
where ``f`` has only one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.stage5_adaptive import RATIO

# The extrapolated slope has 3.7 standard deviations of noise over h; the bar covers 4 of those.
NOISE_UNITS = 16.0
# So many entries are worked out at a time: their samples and what is made of them take 20 MB.
MOST_AT_ONCE = 2**16
# One-sided differences amplify noise about four times as much.
ONE_SIDED = 4.0


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
    bent : ndarray of bool, shape (inputs, outputs)
        Whether a step was tried at which f bends more than it is rounded: longer ones tell less.
    beside : ndarray, shape (inputs, outputs)
        The error bar as it would be if f(x) itself did not count.
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
    bent: Array
    beside: Array
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
            spread=infinite.copy(),
            size=np.zeros(shape),
            small_here=np.zeros(shape, bool),
            vanished=np.zeros(shape, bool),
            outside=np.zeros(shape, bool),
            rough=infinite.copy(),
            bent=np.zeros(shape, bool),
            beside=infinite.copy(),
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
        # No estimate, but it shows how large a slope can be.
        nothing = ~np.isfinite(best.error) & ~np.isfinite(trial.error)
        better |= nothing & (trial.spread < best.spread)
        rough = np.minimum(best.rough, trial.rough)
        self.take(which, better, trial)
        self.vanished[which] = best.vanished | trial.vanished
        self.outside[which] = trial.outside
        self.rough[which], self.moved[which] = rough, moved
        self.bent[which] = best.bent | trial.bent

    def agree(self, which: Array, trial: "Evidence", claimed: Array) -> None:
        """Take over what agrees with the claim, within three error bars, if it is sharper."""
        with np.errstate(invalid="ignore"):
            agrees = np.abs(claimed - trial.value) <= 3 * trial.beside
        # That f is flat beside x agrees with a claim of 0 too easily.
        agrees &= np.isfinite(trial.error) | (np.abs(claimed) > 2 * trial.beside)
        self.take(which, agrees & (trial.beside < self.beside[which]), trial)

    def take(self, which: Array, where: Array, other: "Evidence") -> None:
        """Take over some rows of another evidence, where told."""
        for name, array in vars(self).items():
            array[which] = np.where(where, getattr(other, name), array[which])


def try_steps(probe: Probe, rows: Array, steps: Array, tick: Callable[[], None]) -> Evidence:
    """Estimate the slopes of some coordinates, each from f here and at three steps on both sides.

    Cost: 6 evaluations for each row; none where the step leads nowhere or to infinity.
    """
    at_once = max(1, MOST_AT_ONCE // max(1, probe.here.size))
    blocks = [slice(start, start + at_once) for start in range(0, len(rows), at_once)]
    trials = [_try_block(probe, rows[block], steps[block], tick) for block in blocks]
    return Evidence(
        **{name: np.concatenate([getattr(t, name) for t in trials]) for name in vars(trials[0])}
    )


def _try_block(probe: Probe, rows: Array, steps: Array, tick: Callable[[], None]) -> Evidence:
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
    stairs = _quantum(ahead - here, behind - here, probe.eps * largest)
    noise = np.maximum(noise, stairs / 2)
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
    near_x = np.maximum(1.0, np.abs(x))[:, None]  # from afar a dead zone moves too
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
        bent=truncation + kink > 2 * rounding,
        beside=np.full(value.shape, np.inf),
        flat=(ahead == here).all(axis=1) & (behind == here).all(axis=1),
        moved=(_moves(ahead - here, behind - here) & (h <= near_x)) | (stairs > 0),
    )
    for samples, side in ((ahead, 2), (behind, 0)):
        runs = (places[:, :, side] - places[:, :, 1])[..., None]
        _use_one_side(trial, (samples - here) / runs)

    # A step that sees more than one feature of f says nothing, unless all slopes fade to 0.
    fading = (far * middle >= 2.6 * middle**2) & (middle * near >= 2.6 * near**2)
    several = trial.truncation > 0.1 * trial.spread + trial.rounding
    # Half the jump of a slope is no more than the steeper side: else f has a spike at x.
    steepest = np.maximum(np.abs(ahead - here), np.abs(behind - here))[:, 2] / steps[:, 2]
    spike = gap > 1.2 * steepest + 2 * trial.rounding
    rough = (several & ~fading) | spike
    trial.rough[rough] = trial.step[rough]
    nothing = rough | ~np.isfinite(trial.value)
    # The spike may be rounding: f(x) is off. The slope beside it takes no part in that.
    beside = np.where(spike, trial.truncation + trial.rounding, np.inf)
    trial.beside = np.where(nothing, beside, trial.error)
    trial.spread[nothing] = np.fmax(trial.spread, steepest)[nothing]
    trial.truncation[nothing] = np.inf
    trial.rounding[nothing] = trial.kink[nothing] = 0.0
    return trial


def _quantum(ahead: Array, behind: Array, eps: Array) -> Array:
    """Return the height of the stairs on which f moves, 0 where it moves smoothly.

    What was rounded inside f, to float32 or beside a larger number, moves by whole multiples. The
    differences of a smooth function are in no whole proportions, as the steps are not.
    """
    moves = np.abs(np.concatenate([ahead, behind], axis=1))
    quantum = np.where(moves > 0, moves, np.inf).min(axis=1)
    multiples = moves / quantum[:, None]
    whole = (np.abs(multiples - np.rint(multiples)) < 1e-6).all(axis=1)
    some = (moves > 0).sum(axis=1) >= 3
    # All of one height is no stair: f may be flat everywhere but here, as next to a narrow peak.
    most = multiples.max(axis=1)
    stairs = whole & some & (most > 1.5) & (most < 1e4) & (quantum > 4 * eps)
    return np.where(stairs, quantum, 0.0)


def _moves(ahead: Array, behind: Array) -> Array:
    """Whether f moves everywhere on both sides, or by the same amount at two steps, as it jumps."""
    everywhere = ((ahead != 0) & (behind != 0) & np.isfinite(ahead + behind)).all(axis=1)
    jumps = np.zeros(everywhere.shape, bool)
    for side in (ahead, behind):
        jumps |= ((side[:, 1:] == side[:, :-1]) & (side[:, 1:] != 0)).any(axis=1)
    return np.asarray(everywhere | jumps)


def _use_one_side(trial: Evidence, slopes: Array) -> None:
    """Where f is finite on this side only, extrapolate its one-sided slopes."""
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO - 1)  # the h terms cancel
    fine = near + (near - middle) / (RATIO - 1)
    value = fine + (fine - coarse) / (RATIO**2 - 1)
    alone = ~np.isfinite(trial.value) & np.isfinite(value)
    trial.value[alone] = value[alone]
    # Slopes that settle differ less from step to step, by the ratio of the steps (0.6). At the end
    # of sqrt or x log x they do not.
    settles = np.abs(near - middle) <= 0.75 * np.abs(middle - far) + ONE_SIDED * trial.rounding
    trial.truncation[alone] = np.where(settles, np.abs(fine - coarse), np.inf)[alone]
    trial.rounding[alone] *= ONE_SIDED
    trial.spread[alone] = np.abs(slopes).max(axis=1)[alone]
    trial.kink[alone] = 0.0
    trial.one_sided[alone] = True
