"""A witness: what one step says about the slope of f along a line, and how far to believe it.

The idea is stage 5's, for all outputs of ``f`` at once: two five-point differences, and the bend of
``f`` at the point. New are that measured noise counts as rounding does, and that one side will do
where ``f`` has only one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.samples import EACH, QUIETLY, SHORTER, Samples, ask_samples
from gradcheck_ref.stage5_adaptive import RATIO

# The extrapolated slope has 3.7 standard deviations of noise over h; the bar covers 4 of those.
NOISE_UNITS = 16.0
# What is left of the bend, once its h^2 and h^4 terms are gone, has 8.6 of them over h: of a smooth
# f that is nothing but noise.
GAP_UNITS = 8.6
# The disagreement of the five-point differences has 4.0, and truncation besides.
FOURTH_UNITS = 4.0
# Noise scatters six samples in two ways; both are a thousand times smaller once in a million times.
QUIETER = 1e3
# One-sided differences amplify noise about four times as much.
ONE_SIDED = 4.0

# How far the order 6 is trusted to be better than the order 4: the ratio of the orders before it,
# times so much, and at best so much.
CAREFUL, SMALLEST = 10.0, 0.01
# What even terms leave of a smooth f is less than this share of what odd ones do; not so at a kink.
A_KINK = 0.1

# What a witness has seen. Only the first three have a slope to tell.
SMOOTH, FLAT, EDGE = 0, 1, 2  # two sides; two sides, all of the value of f(x); one side
ROUGH, OUTSIDE, LOST, NOTHING = 3, 4, 5, 6  # features, no number, no step in x, not tried


@dataclass
class Witness:
    """What steps along some lines say: rows are lines, columns outputs.

    Attributes
    ----------
    state : ndarray of int, shape (lines, outputs)
        One of SMOOTH, FLAT, EDGE, ROUGH, OUTSIDE, LOST, NOTHING.
    step : ndarray, shape (lines, outputs)
        The longest step behind the slope.
    slope : ndarray, shape (lines, outputs)
        NaN where none was found.
    truncation, kink, rounding : ndarray, shape (lines, outputs)
        The parts of the error bar: disagreement of the formulas; half the jump of the slope, beyond
        what noise explains; noise and rounding.
    floor : ndarray, shape (lines, outputs)
        The rounding of f alone, without the noise that was measured.
    steepest : ndarray, shape (lines, outputs)
        The largest slope among those that were combined: how large the slope may be.
    size : ndarray, shape (lines, outputs)
        The largest absolute value of f among the samples.
    small_here : ndarray of bool, shape (lines, outputs)
        Whether f(x) is small among its neighbours, so that a shorter step rounds less.
    moved : ndarray of bool, shape (lines, outputs)
        Whether f moved on both sides, near x. An f that is flat from nearby then goes in stairs, as
        with float32 or rounding inside, and their treads are no slope.
    stairs : ndarray of bool, shape (lines, outputs)
        Whether f moved by whole multiples of one height.
    """

    state: Array
    step: Array
    slope: Array
    truncation: Array
    kink: Array
    rounding: Array
    floor: Array
    steepest: Array
    size: Array
    small_here: Array
    moved: Array
    stairs: Array

    @classmethod
    def none(cls, *shape: int) -> "Witness":
        """Witnesses of nothing."""
        numbers = {name: np.zeros(shape) for name in cls.__annotations__}
        numbers |= {name: np.zeros(shape, bool) for name in ("small_here", "moved", "stairs")}
        infinite = ("step", "truncation", "steepest")
        numbers |= {name: np.full(shape, np.inf) for name in infinite}
        return cls(**numbers | {"state": np.full(shape, NOTHING), "slope": np.full(shape, np.nan)})

    @property
    def bar(self) -> Array:
        """The error bar; infinite where there is no slope."""
        return self.truncation + self.kink + self.rounding

    @property
    def jump(self) -> Array:
        """Half the jump of the slope, at a kink where nothing else disturbs: that is exact."""
        return np.where(self.truncation < 1e-3 * self.kink, self.kink, 0.0)

    @property
    def too_long(self) -> Array:
        """Whether a shorter step would tell more."""
        return (self.truncation + self.kink > 2 * self.rounding) | self.small_here

    def at(self, where: object) -> "Witness":
        """Select some witnesses by an index."""
        return Witness(**{name: array[where] for name, array in vars(self).items()})

    def among(self, rows: Array, lines: int) -> "Witness":
        """Make one trial along so many lines of the witnesses of these, which ascend."""
        if rows.size == lines:
            return self.at(None)
        trial = Witness.none(1, lines, self.state.shape[1])
        trial.put((0, rows), self)
        return trial

    def put(self, where: object, other: "Witness") -> None:
        """Take over other witnesses at an index."""
        for name, array in vars(self).items():
            array[where] = getattr(other, name)

    def and_then(self, other: "Witness") -> "Witness":
        """Put these and other witnesses of the same lines one after another."""
        both = {name: (array, getattr(other, name)) for name, array in vars(self).items()}
        return Witness(**{name: np.concatenate(pair) for name, pair in both.items()})


def ask_witnesses(probe: Probe, noise: Noise, lines: Sequence[Line], steps: Array) -> Witness:
    """Measure the slopes along some lines, each from f here and at three steps on both sides.

    Cost: 6 evaluations for each line, all at once; none where the step leads nowhere or to
    infinity.
    """
    return hear_witnesses(probe, noise, ask_samples(probe, lines, steps))


@QUIETLY
def hear_witnesses(probe: Probe, noise: Noise, samples: Samples) -> Witness:
    """Tell what samples say, given what is known of the noise; what is loud has it measured."""
    count, outputs = len(samples.lines), probe.here.size
    if probe.notice_precision(samples.values.reshape(EACH * count, outputs)):
        noise.read()
    witness = _estimate(probe, noise, samples)
    lost = samples.lost
    witness.state[samples.endless] = OUTSIDE
    witness.state[lost], witness.truncation[lost], witness.rounding[lost] = LOST, 0.0, np.inf
    return witness


def _estimate(probe: Probe, noise: Noise, samples: Samples) -> Witness:
    """Turn samples into slopes and error bars."""
    here, h, places = probe.here, samples.longest[:, None], samples.places
    behind, ahead = samples.values.swapaxes(0, 1)
    largest = np.fmax(np.abs(ahead), np.abs(behind)).max(axis=1)
    moves = samples.values - here
    back, forth = moves.swapaxes(0, 1)
    all_moves = moves.reshape(len(moves), EACH, here.size)
    distances = np.abs(all_moves)
    stairs = _quantum(distances, probe.eps * largest)
    size = np.fmax(largest, np.abs(here))
    floor = 4 * probe.eps * size
    # The least numbers are rounded to whole multiples of the least of all. That matters where the
    # steps are so short that a slope of that size is no such number itself.
    numbers = np.finfo(here.dtype)
    least = 4 * float(numbers.smallest_subnormal)
    floor = np.where(least / h > float(numbers.tiny), np.maximum(floor, least), floor)

    slopes = (ahead - behind) / (places[:, 1] - places[:, 0])[..., None]
    bend = forth + back
    # Rounding x + h makes the sides unequal by up to a spacing of x; what that does is known.
    unequal = (places[:, 1] + places[:, 0])[..., None]
    steps = h[:, :, None] / SHORTER
    slopes = slopes - bend / steps**2 * unequal / 2
    bend = bend - slopes * unequal
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO**2 - 1)
    fine = near + (near - middle) / (RATIO**2 - 1)
    slope = fine + (fine - coarse) / (RATIO**4 - 1)
    rest = bend[:, 0] - (RATIO**2 + RATIO**4) * bend[:, 1] + RATIO**6 * bend[:, 2]
    gap = np.abs(rest) / (2 * (RATIO - 1) * (RATIO**3 - 1) * h)
    fourth = np.abs(fine - coarse)
    bent, tilted = gap * h / GAP_UNITS, fourth * h / FOURTH_UNITS
    noise.listen(bent)
    unit = np.maximum(noise.at(samples.lines, samples.longest), stairs / 2)
    if not noise.tables:
        # One line may be noisier than most, and noise that is alike on both sides has no bend.
        unit = np.fmax(unit, np.fmax(bent, tilted))
    # Noise would show in what the six samples disagree by. It was measured as all coordinates
    # moved, and one of them may make f jump that is none of this line's.
    scatter = np.maximum(fourth, gap)
    in_stairs = stairs > 0
    heard = np.where((scatter > 0) & ~in_stairs, QUIETER * scatter, np.inf)
    least_bar = floor / h
    rounding = np.maximum(least_bar, np.minimum(NOISE_UNITS * unit / h, heard))
    lengths = samples.sizes[:, None]
    near_x = h <= np.maximum(1.0, lengths)  # from afar a dead zone moves too
    # That is the error of the coarse one, which has the order 4. That of the slope, of order 6, is
    # smaller by about as much as order 4 is than order 2.
    second = np.abs(near - far)
    truncation = fourth * np.maximum(SMALLEST, np.fmin(CAREFUL * fourth / second, 1.0))
    kink = np.where(gap > A_KINK * fourth, np.maximum(0.0, gap - rounding), 0.0)
    witness = Witness(
        state=np.where(all_moves.any(axis=1), SMOOTH, FLAT),
        step=np.repeat(h, slope.shape[1], axis=1),
        slope=slope,
        truncation=truncation,
        # Exact at a kink, where nothing else disturbs; next to one up to a fifth too small.
        kink=np.where(truncation < 1e-3 * kink, kink, 1.25 * kink),
        rounding=rounding,
        floor=least_bar,
        steepest=np.abs(slopes).max(axis=1),
        size=size,
        small_here=largest > 4 * (np.abs(here) + np.abs(lengths * slope)),
        moved=(_moves(moves) & near_x) | in_stairs,
        stairs=in_stairs,
    )
    if not np.isfinite(slope).all():
        for side in (1, 0):
            _use_one_side(witness, moves[:, side] / places[:, side, :, None])

    # A step that sees more than one feature of f says nothing, unless all slopes fade to 0.
    most = 0.1 * witness.steepest + witness.rounding
    nothing = (fourth > most) | ((witness.state == EDGE) & (witness.truncation > most))
    if nothing.any():
        fading = (far * middle >= 2.6 * middle**2) & (middle * near >= 2.6 * near**2)
        nothing &= ~fading
    # Where all six are closer to one another than to f(x), f has a spike at x, or a pole near it.
    spread = all_moves.max(axis=1) - all_moves.min(axis=1)
    nothing |= distances.min(axis=1) > 3 * spread + 4 * floor
    nothing |= ~np.isfinite(witness.slope + witness.truncation)
    if not nothing.any():
        return witness
    one_sided = distances[:, 2::3].max(axis=1) / steps[:, 2]
    witness.steepest[nothing] = np.fmax(witness.steepest, one_sided)[nothing]
    witness.truncation[nothing] = np.inf
    witness.rounding[nothing] = witness.kink[nothing] = 0.0
    witness.state[nothing] = OUTSIDE
    witness.state[nothing & np.isfinite(ahead + behind).all(axis=1)] = ROUGH
    return witness


def _quantum(moves: Array, eps: Array) -> Array:
    """Return the height of the stairs on which f moves, 0 where it moves smoothly.

    What was rounded inside f, to float32 or beside a larger number, moves by whole multiples. The
    differences of a smooth function are in no whole proportions, as the steps are not.
    """
    quantum = np.where(moves > 0, moves, np.inf).min(axis=1)
    multiples = moves / quantum[:, None]
    whole = (np.abs(multiples - np.rint(multiples)) < 1e-6).all(axis=1)
    if not whole.any():
        return np.zeros(quantum.shape)
    some = (moves > 0).sum(axis=1) >= 3
    # All of one height is no stair: f may be flat everywhere but here, as next to a narrow peak.
    most = multiples.max(axis=1)
    stairs = whole & some & (most > 1.5) & (most < 1e4) & (quantum > 4 * eps)
    return np.where(stairs, quantum, 0.0)


def _moves(moves: Array) -> Array:
    """Whether f moves everywhere on both sides, or by the same amount at two steps, as it jumps."""
    everywhere = ((moves != 0) & np.isfinite(moves)).all(axis=(1, 2))
    jumps = (moves[:, :, 1:] == moves[:, :, :-1]) & (moves[:, :, 1:] != 0)
    return np.asarray(everywhere | jumps.any(axis=(1, 2)))


def _use_one_side(witness: Witness, slopes: Array) -> None:
    """Where f is finite on this side only, extrapolate its one-sided slopes."""
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO - 1)  # the h terms cancel
    fine = near + (near - middle) / (RATIO - 1)
    slope = fine + (fine - coarse) / (RATIO**2 - 1)
    alone = ~np.isfinite(witness.slope) & np.isfinite(slope)
    if not alone.any():
        return
    witness.slope[alone] = slope[alone]
    # Slopes that settle differ less from step to step, by the ratio of the steps (0.6). At the end
    # of sqrt or x log x they do not.
    settles = np.abs(near - middle) <= 0.75 * np.abs(middle - far) + ONE_SIDED * witness.rounding
    witness.truncation[alone] = np.where(settles, np.abs(fine - coarse), np.inf)[alone]
    witness.rounding[alone] *= ONE_SIDED
    witness.steepest[alone] = np.abs(slopes).max(axis=1)[alone]
    witness.kink[alone] = 0.0
    witness.state[alone] = EDGE
