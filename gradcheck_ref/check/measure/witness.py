"""A witness: the slope of f from one step along a line, with an error bar.

The idea is that of stage 5, for all outputs of ``f`` at once. ``f`` is evaluated at three steps on
both sides of x. That gives two five-point differences, a slope that is better than both, and the
jump of the slope at x. The error bar is the sum of three parts: the difference of the two
five-point values (truncation), half the jump (kink), and the effect of noise and rounding on the
slope (rounding).

Samples are facts and never change. Witnesses are read from them without a call of f, so they can be
read anew when more is known of the noise of f.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.lines import Line, short_steps, taken
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.stage5_adaptive import RATIO, SHORTEST

# The steps of a witness, in units of the longest: three behind x and three ahead.
SHORTER = RATIO ** -np.arange(3.0)
SIDES = np.stack([-SHORTER, SHORTER])
EACH = SIDES.size  # evaluations for one witness

# White noise of standard deviation s changes the slope by 3.7 s / h (the bar covers four times
# that), the jump by 8.6 s / h, and the truncation by 4.0 s / h: from the weights of the six values.
NOISE_IN_SLOPE, NOISE_IN_JUMP, NOISE_IN_FOURTH = 16.0, 8.6, 4.0

# One-sided differences amplify noise about four times as much as those of two sides.
ONE_SIDED = 4.0


class State:
    """The states of a witness.

    With a slope: from both sides, from six values equal to f(x), from one side. Without: several
    features of f in the step, f not finite at some of the six points, at none of them, x + step
    equals x, not measured.
    """

    SMOOTH, FLAT, EDGE, ROUGH, OUTSIDE, ALONE, LOST, NOTHING = range(8)


class Samples(NamedTuple):
    """Values of f on both sides of x: six for each look, which is a step along a line."""

    lines: Sequence[Line]  # the line of each look
    steps: Array  # (looks,): the longest step
    values: Array  # (looks, 2, 3, outputs): f behind and ahead; NaN if not evaluated
    places: Array  # (looks, 2, 3): the steps after rounding, in the precision of x
    lost: Array  # (looks,): whether the steps are too short to change x

    def and_then(self, other: "Samples") -> "Samples":
        """Append other looks."""
        arrays = map(np.concatenate, zip(self[1:], other[1:], strict=True))
        return Samples([*self.lines, *other.lines], *arrays)


@dataclass(eq=False)
class Witnesses:
    """Slopes with error bars.

    Each attribute is an array of shape (looks, outputs), or (trials, lines, outputs) if the looks
    are arranged by their lines.
    """

    state: Array  # a `State`
    step: Array  # the longest of the three steps
    slope: Array  # NaN if there is none
    truncation: Array  # the three parts of the error bar
    kink: Array
    rounding: Array
    steepest: Array  # the largest slope among those that were combined
    size: Array  # the largest absolute value of f among the samples
    apparent: Array  # the noise that would explain the jump of the slope
    trend: Array  # without a slope: 1 if f rises along the line at all samples, -1 if it falls

    @property
    def bar(self) -> Array:
        """The error bar; infinite if there is no slope."""
        return self.truncation + self.kink + self.rounding

    @property
    def jump(self) -> Array:
        """Half the jump of the slope at a kink, where it is exact because truncation is small."""
        return np.where(self.truncation < 1e-3 * self.kink, self.kink, 0.0)

    @property
    def too_long(self) -> Array:
        """Whether a shorter step would have a shorter error bar."""
        return self.truncation + self.kink > 2 * self.rounding

    @classmethod
    def nothing(cls, *shape: int) -> "Witnesses":
        """Return witnesses that have measured nothing."""
        numbers = {name: np.zeros(shape) for name in cls.__annotations__}
        numbers |= {name: np.full(shape, np.inf) for name in ("step", "truncation", "steepest")}
        state = np.full(shape, State.NOTHING)
        return cls(**numbers | {"state": state, "slope": np.full(shape, np.nan)})

    def arranged(self, rows: Sequence[int], count: int) -> "Witnesses":
        """Arrange looks by the numbers of their lines: (trials, lines, outputs)."""
        if len(rows) == count and [*rows] == [*range(count)]:
            return self.at(None)
        tried, trials = Counter[int](), []
        for row in rows:
            trials.append(tried[row])
            tried[row] += 1
        found = Witnesses.nothing(max(trials, default=0) + 1, count, self.state.shape[-1])
        for name, array in vars(found).items():
            array[trials, rows] = getattr(self, name)
        return found

    def at(self, where: object) -> "Witnesses":
        """Select some witnesses by an index."""
        return Witnesses(*[array[where] for array in vars(self).values()])

    def take(self, trial: Array) -> "Witnesses":
        """Return the witness with this number for every line and output."""
        one = len(self.state) == 1
        return self.at(0 if one else (trial, *np.indices(trial.shape, sparse=True)))


@QUIETLY
def sample(ask: Ask, lines: Sequence[Line], steps: Array) -> Samples:
    """Evaluate f at a step along each of some lines: 6 evaluations for each, all at once."""
    sizes, spacings = np.array([(line.size, line.spacing) for line in lines]).reshape(-1, 2).T
    lost = steps / RATIO**2 < SHORTEST * spacings * sizes
    values = np.full((len(lines), 2, 3, ask.here.size), np.nan, ask.here.dtype)
    places: Array = np.ones(values.shape[:-1], values.dtype)
    asked = np.flatnonzero(np.isfinite(sizes + steps) & ~lost)
    if asked.size:
        ts = steps[asked, None] * SIDES.ravel()
        units = np.array([line.unit for line in lines])
        ts = short_steps(ts, (spacings * units)[asked, None])
        chosen = [lines[r] for r in asked.tolist()]
        points = [(line, t) for line, row in zip(chosen, ts.tolist(), strict=True) for t in row]
        values[asked] = ask.many(points).reshape(asked.size, 2, 3, ask.here.size)
        places[asked] = taken(chosen, ts).reshape(asked.size, 2, 3)
    for fact in (values, places):
        fact.setflags(write=False)
    return Samples(lines, steps, values, places, lost)


@QUIETLY
def read(samples: Samples, noise: Noise) -> Witnesses:
    """Read the slopes with their error bars from samples, (looks, outputs)."""
    here, eps, h = noise.ask.here, noise.eps, samples.steps[:, None]
    units = np.array([line.unit for line in samples.lines])[:, None]
    steps = h[..., None] * SHORTER[:, None]
    moves = samples.values - here  # (looks, side, step, outputs)
    behind, ahead = moves[:, 0], moves[:, 1]
    # At the edge of a domain the values on one side are NaN, and f(x) may be 0.
    size = np.fmax(np.fmax.reduce(np.abs(samples.values), axis=(1, 2)), np.abs(here))

    apart = (samples.places[:, 1] - samples.places[:, 0])[..., None]
    slopes = (samples.values[:, 1] - samples.values[:, 0]) / apart
    bend = ahead + behind
    # The rounding of x + h makes the two steps unequal by up to a spacing of x: correct for that.
    unequal = (samples.places[:, 1] + samples.places[:, 0])[..., None]
    slopes = slopes - bend / steps**2 * unequal / 2
    # Nor are they the steps that were meant: by much, where they are a few spacings of x.
    taken = apart / 2
    bend = (bend - slopes * unequal) / taken
    coarse, fine, slope = _extrapolated(slopes, taken**2)
    fourth = np.abs(fine - coarse)
    # Errors fall from order 4 to 6 as from 2 to 4. Count on a tenth of that gain only, and on a
    # factor of 100 at most.
    second = np.abs(slopes[:, 2] - slopes[:, 0])
    truncation = fourth * np.fmax(0.01, np.fmin(10 * fourth / second, 1.0))
    half_jump, from_two = _jump(bend, taken)

    apparent = half_jump / NOISE_IN_JUMP * h
    draws = np.fmax(apparent, fourth / NOISE_IN_FOURTH * h)
    level = noise.level(samples.lines, h, apparent, draws, np.abs(moves).max(axis=(1, 2)))
    floor = 4 * np.maximum(eps * size, noise.resolution)
    still = (np.isnan(moves) | (moves == 0)).all(axis=(1, 2))
    # If f did not change, on the sides where it is finite, its slope is 0, except for changes that
    # rounding inside f may hide: of numbers of size 1, or of the size of x.
    least = np.where(still, np.maximum(floor, 8 * eps * np.maximum(1.0, units)), floor)
    rounding = np.maximum(least, NOISE_IN_SLOPE * level) / h
    # If f is mostly noise, nothing is known about its slope: it may be a fast wave.
    rounding[NOISE_IN_SLOPE * level > size] = np.inf
    kink = _kink(half_jump, from_two, fourth, rounding)
    witnesses = Witnesses(
        state=np.where(still, State.FLAT, State.SMOOTH),
        step=h + np.zeros(still.shape),
        slope=slope,
        truncation=truncation,
        kink=kink,
        rounding=rounding,
        steepest=np.abs(slopes).max(axis=1),
        size=size,
        apparent=apparent,
        trend=np.zeros(still.shape),
    )
    for side in (1, 0) if not np.isfinite(slope).all() else ():
        sides = moves[:, side], moves[:, 1 - side]
        _use_one_side(witnesses, *sides, samples.places[:, side, :, None], floor / h)
    _discard(witnesses, moves, floor, samples)
    return witnesses


def _jump(bend: Array, steps: Array) -> tuple[Array, Array]:
    """Return half the jump of the slope, from three steps, and from the longer two.

    The bend of f over the step, f(x + h) + f(x - h) - 2 f(x) by h, has only odd powers of h if f is
    smooth. A kink adds a constant, which is left when the powers 1 and 3 are eliminated.
    """
    (far, middle, near), (h, i, j) = bend.swapaxes(0, 1), steps.swapaxes(0, 1)
    longer, shorter = (far - middle) / (h - i), (middle - near) / (i - j)
    third = (longer - shorter) / ((h - j) * (h + i + j))
    jump = near - j * (shorter - third * (i * (i + j)))
    return np.abs(jump) / 2, np.abs(middle - i * longer) / 2


def _kink(half_jump: Array, from_two: Array, fourth: Array, rounding: Array) -> Array:
    """Return the part of the bars that comes from a kink; 0 for a smooth f."""
    # In a smooth f the even terms leave less than a tenth of the odd ones; at a kink they do not.
    kink = np.where(half_jump > 0.1 * fourth, np.maximum(0.0, half_jump - rounding), 0.0)
    if not kink.any():
        return kink
    # Two of the three steps give the jump, too, unless the sides have different curvatures. At a
    # kink it is as exact as that; next to one it is up to a fifth too small.
    return np.where(fourth < 1e-3 * kink, kink + np.abs(half_jump - from_two), 1.25 * kink)


def _extrapolated(slopes: Array, powers: Array) -> tuple[Array, Array, Array]:
    """Extrapolate slopes at three steps to 0, in a power of the steps that were really taken.

    Returns what the longer two steps give, the shorter two, and all three (Neville, 1934).
    """
    (far, middle, near), (h, i, j) = slopes.swapaxes(0, 1), powers.swapaxes(0, 1)
    coarse = middle + (middle - far) * (i / (h - i))
    fine = near + (near - middle) * (j / (i - j))
    return coarse, fine, fine + (fine - coarse) * (j / (h - j))


def _use_one_side(
    witnesses: Witnesses, moves: Array, behind: Array, steps: Array, least: Array
) -> None:
    """Extrapolate one-sided slopes where f is finite on this side only, and not behind x.

    ``least`` is the effect of rounding on a slope, without noise: at an edge f itself may turn
    so sharply that it looks like noise.
    """
    slopes = moves / steps
    coarse, fine, slope = _extrapolated(slopes, steps)
    alone = ~np.isfinite(witnesses.slope) & np.isfinite(slope)
    alone &= ~np.isfinite(behind).all(axis=1)  # not where only the numbers are too small
    # The differences of slopes that converge shrink like the steps (0.6). At the end of the domain
    # of sqrt or x log x they do not.
    first, second = np.abs(np.diff(slopes, axis=1)).swapaxes(0, 1)
    settles = second <= 0.75 * first + ONE_SIDED * least
    witnesses.slope[alone] = slope[alone]
    witnesses.truncation[alone] = np.where(settles, np.abs(fine - coarse), np.inf)[alone]
    witnesses.rounding[alone] *= ONE_SIDED
    witnesses.steepest[alone] = np.abs(slopes).max(axis=1)[alone]
    witnesses.kink[alone], witnesses.state[alone] = 0.0, State.EDGE


def _discard(witnesses: Witnesses, moves: Array, floor: Array, samples: Samples) -> None:
    """Discard the slopes from steps that span several features of f, or have no finite values."""
    nothing = witnesses.truncation > 0.1 * witnesses.steepest + witnesses.rounding
    # If the values are closer to each other than to f(x), f has a spike at x or a pole nearby. If
    # those on one side are, by more than at an extreme value, f jumps, and chords fall as 1/h.
    side = np.abs(moves).min(axis=2) > 10 * np.ptp(moves, axis=2) + 4 * floor[:, None]
    moves = moves.reshape(len(moves), EACH, moves.shape[-1])
    nothing |= np.abs(moves).min(axis=1) > 3 * np.ptp(moves, axis=1) + 4 * floor
    nothing |= side.any(axis=1)
    nothing |= ~np.isfinite(witnesses.slope + witnesses.truncation)
    if not nothing.any():
        return
    one_sided = np.abs(moves).max(axis=1) / witnesses.step * RATIO**2
    rises = np.sign(moves * np.sign(samples.places).reshape(len(moves), EACH, 1))
    lowest, highest = np.fmin.reduce(rises, axis=1), np.fmax.reduce(rises, axis=1)
    witnesses.trend[nothing] = np.where(lowest == highest, lowest, 0.0)[nothing]
    finite = np.isfinite(moves)
    state = np.where(finite.all(axis=1), State.ROUGH, State.OUTSIDE)
    state[~finite.any(axis=1)] = State.ALONE
    state[samples.lost] = State.LOST
    witnesses.steepest[nothing] = np.fmax(witnesses.steepest, one_sided)[nothing]
    witnesses.truncation[nothing], witnesses.kink[nothing] = np.inf, 0.0
    witnesses.slope[nothing], witnesses.state[nothing] = np.nan, state[nothing]
