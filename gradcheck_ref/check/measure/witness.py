"""A witness: the slope of f from one window of the ladder, with an error bar.

The idea is that of stage 5, for all outputs of ``f`` at once. A window has three rungs, equally far
apart, on both sides of x. They give two five-point differences, a slope that is better than both,
and the jump of the slope at x. The error bar is the sum of three parts: the difference of the two
five-point values (truncation), half the jump (kink), and the effect of noise and rounding on the
slope (rounding).

Values are facts and never change. Witnesses are read from them without a call of f, so they can be
read anew when more is known of the noise of f.
"""

from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.ladder import RATIO, WIDE, Table, steps_at
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.measure.pilot import extrapolated

EACH = 6  # evaluations for one witness

# White noise of standard deviation s changes the slope by 3.7 s / h, 5.8 s / h or 13.5 s / h, where
# the rungs are 1, 2 or 3 apart and h is the longest step: by the weights of the six values. The bar
# covers four times that.
NOISE_IN_SLOPE = 4 * np.array([0.0, 3.7, 5.8, 13.5])

# The values themselves are rounded by 4 eps of their size. Where the longest step is h, the slopes
# at the shortest one, of rungs 3 apart, have a rounding 17.9 times larger.
ROUNDING, STILL = 4.0, RATIO**2

# The chance that two draws of noise are both 1000 times smaller than its standard deviation is one
# in a million. So a line that is that quiet does not have the noise of the pilot, unless it may lie
# in one stair of f: that is so if f hardly moves, and the noise is no more than BRANCHES of it.
QUIETER, BRANCHES = 1e3, 1e-3

# A smooth f leaves less than this part of what two steps show as a jump.
EVEN = 1e-3

# So many windows of one line show its own noise, down to so many times less than the pilot's.
SEVERAL, QUIETER_ALONG = 4, 30.0

# One-sided differences amplify noise about four times as much as those of two sides.
ONE_SIDED = 4.0


class State:
    """The states of a witness.

    With a slope: from both sides, from six values equal to f(x), from one side. Without: several
    features of f in the step, f not finite at some of the six points, at none of them, not
    measured.
    """

    SMOOTH, FLAT, EDGE, ROUGH, OUTSIDE, ALONE, NOTHING = range(7)


@dataclass(eq=False)
class Witnesses:
    """Slopes with error bars.

    Each attribute is an array of shape (looks, outputs), or (trials, lines, outputs) if the looks
    are arranged by their lines.
    """

    state: Array  # a `State`
    step: Array  # the longest of the three steps
    start: Array  # its rung, and that of the shortest
    end: Array
    slope: Array  # NaN if there is none
    truncation: Array  # the three parts of the error bar
    kink: Array
    rounding: Array
    steepest: Array  # the largest slope among those that were combined
    size: Array  # the largest absolute value of f among the samples
    moved: Array  # the largest change of f
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
        return (self.truncation + self.kink) / 2 > self.rounding

    @classmethod
    def nothing(cls, *shape: int) -> "Witnesses":
        """Return witnesses that have measured nothing."""
        zero, never, rung = np.zeros(shape), np.full(shape, np.inf), np.zeros(shape, int)
        of = dict.fromkeys(cls.__annotations__, zero)
        of |= {"step": never, "truncation": never, "steepest": never, "start": rung, "end": rung}
        return cls(**of | {"state": rung + State.NOTHING, "slope": zero * np.nan})

    def arranged(self, rows: Array, count: int) -> "Witnesses":
        """Arrange looks by the numbers of their lines, in order: (trials, lines, outputs)."""
        if len(rows) == count and (rows == np.arange(count)).all():
            return self.at(None)
        before = np.searchsorted(rows, rows)
        trials = np.arange(len(rows)) - before
        found = Witnesses.nothing(int(trials.max(initial=0)) + 1, count, self.state.shape[-1])
        for name, array in vars(found).items():
            own = array.copy()
            own[trials, rows] = getattr(self, name)
            setattr(found, name, own)
        return found

    def at(self, where: object) -> "Witnesses":
        """Select some witnesses by an index."""
        return Witnesses(*[array[where] for array in vars(self).values()])

    def take(self, trial: Array) -> "Witnesses":
        """Return the witness with this number for every line and output."""
        one = len(self.state) == 1
        return self.at(0 if one else (trial, *np.indices(trial.shape, sparse=True)))


@QUIETLY
def read(table: Table, noise: Noise) -> Witnesses:
    """Read all windows of a table: slopes with their error bars, (trials, lines, outputs)."""
    line, start, stride = table.windows()
    rungs = start + np.arange(3)[:, None] * stride
    at = table.where[line, rungs - table.top]
    values = table.values[at].transpose(1, 2, 0, 3)  # (windows, side, step, outputs)
    places = table.places[at].transpose(1, 2, 0)
    here, eps = noise.ask.here, noise.eps
    h, units = (steps_at(start) * table.units[line])[:, None], table.units[line, None]
    moves = values - here
    behind, ahead = moves[:, 0], moves[:, 1]
    # At the edge of a domain the values on one side are NaN, and f(x) may be 0.
    size = np.fmax(np.fmax.reduce(np.abs(values), axis=(1, 2)), np.abs(here))

    apart = (places[:, 1] - places[:, 0])[..., None]
    slopes = (values[:, 1] - values[:, 0]) / apart
    bend, taken = ahead + behind, apart / 2
    # The rounding of x + h makes the two steps unequal by up to a spacing of x: correct for that.
    unequal = (places[:, 1] + places[:, 0])[..., None]
    slopes = slopes - bend / taken**2 * unequal / 2
    bend = (bend - slopes * unequal) / taken
    coarse, fine, slope = extrapolated(slopes.swapaxes(0, 1), taken.swapaxes(0, 1) ** 2)
    # Errors fall from order 4 to 6 as from 2 to 4. Count on two thirds of that gain only, and on a
    # factor of 1000 at most.
    fourth, second = np.abs(fine - coarse), np.abs(slopes[:, 2] - slopes[:, 0])
    truncation = fourth * np.fmax(1e-3, np.fmin(1.5 * fourth / second, 1.0))
    half_jump, from_two = _half_jumps(bend, taken)

    rows = noise.pilots.rows_of(table.lines)
    level = np.maximum(noise.pilots.noise_at(rows[line], start), noise.least)
    weight = NOISE_IN_SLOPE[stride, None]
    draws = 4 * np.fmax(half_jump, fourth) * h / weight
    # Several windows of one line, none of them far from x, show how loud f is along that.
    near = (stride == WIDE) & (start >= 0)
    loudest = np.zeros((len(table.lines), draws.shape[1]))
    relative = np.where(draws == 0, 0.0, np.nan_to_num(draws / size, nan=np.inf))
    np.maximum.at(loudest, line[near], relative[near])
    several = (np.bincount(line[near], minlength=len(loudest)) >= SEVERAL)[line, None]
    own = np.where(relative == loudest[line], draws, loudest[line] * size)
    own = np.clip(np.nan_to_num(own, nan=np.inf), level / QUIETER_ALONG, level)
    level = np.where(several, np.maximum(own, noise.least), level)
    moved = np.abs(moves).max(axis=(1, 2))
    shows = ((moved > level) | (level > BRANCHES * np.abs(here))) & (noise.stairs == 0)
    quiet = (draws > 0) & (QUIETER * draws < level) & np.isfinite(level) & shows
    # Where f moves no more than the noise of a slope, noise may hide a wave of the size of x.
    hides = (moved > 0) & (moved <= NOISE_IN_SLOPE[WIDE] * level)
    reach = np.where(hides, np.minimum(h, table.scales[line, None]), h)
    level = weight * np.where(quiet, np.maximum(draws, noise.least), level)
    least = ROUNDING * np.maximum(eps * size, noise.common)
    still = (np.isnan(moves) | (moves == 0)).all(axis=(1, 2))
    # If f did not change, on the sides where it is finite, its slope is 0, except for changes that
    # rounding inside f may hide: of numbers of size 1, or of the size of x.
    hidden = np.maximum(least, 8 * eps * np.maximum(1.0, units))
    floor = np.where(still, hidden, least)
    rounding = np.maximum(floor, level) / reach
    # If f is mostly noise, nothing is known about its slope: it may be a fast wave.
    rounding[(level > 16 * size) & ~still] = np.inf
    witnesses = Witnesses(
        state=np.where(still, State.FLAT, State.SMOOTH),
        step=h + np.zeros(still.shape),
        start=start[:, None] + np.zeros(still.shape, int),
        end=rungs[2][:, None] + np.zeros(still.shape, int),
        slope=slope,
        truncation=truncation,
        kink=_kink(half_jump, from_two, fourth, rounding),
        rounding=rounding,
        steepest=np.abs(slopes).max(axis=1),
        size=size,
        moved=np.fmax.reduce(np.abs(moves), axis=(1, 2)),
        trend=np.zeros(still.shape),
    )
    for side in (1, 0) if not np.isfinite(slope).all() else ():
        sides = moves[:, side], moves[:, 1 - side]
        _use_one_side(witnesses, *sides, places[:, side, :, None], least)
    _discard(witnesses, moves, least, places)
    return witnesses.arranged(line, len(table.lines))


def _half_jumps(bend: Array, steps: Array) -> tuple[Array, Array]:
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
    # Noise changes the jump 2.1 to 2.3 times as much as the slope.
    # Where f is even, as at an extreme value, nothing odd is left to compare with: but then two
    # steps, which eliminate one power less, leave far more than three do.
    shows = (half_jump > 0.1 * fourth) & (half_jump > 2 * rounding) & (half_jump > EVEN * from_two)
    kink = np.where(shows, half_jump - rounding, 0.0)
    if not kink.any():
        return kink
    # Two of the three steps give the jump, too, unless the sides have different curvatures. At a
    # kink it is as exact as that; next to one it is up to a fifth too small.
    return np.where(fourth < 1e-3 * kink, kink + np.abs(half_jump - from_two), 1.25 * kink)


def _use_one_side(
    witnesses: Witnesses, moves: Array, behind: Array, steps: Array, least: Array
) -> None:
    """Extrapolate one-sided slopes where f is finite on this side only, and not behind x.

    ``least`` is the rounding of f, without noise: at an edge f itself may turn so sharply that it
    looks like noise.
    """
    slopes = moves / steps
    coarse, fine, slope = extrapolated(slopes.swapaxes(0, 1), steps.swapaxes(0, 1))
    alone = ~np.isfinite(witnesses.slope) & np.isfinite(slope)
    alone &= ~np.isfinite(behind).all(axis=1)  # not where only the numbers are too small
    # The differences of slopes that converge shrink like the steps (0.24). At the end of the domain
    # of sqrt or x log x they do not.
    first, second = np.abs(np.diff(slopes, axis=1)).swapaxes(0, 1)
    settles = second <= 0.5 * first + least / np.abs(steps[:, 2])
    witnesses.slope[alone] = slope[alone]
    witnesses.truncation[alone] = np.where(settles, np.abs(fine - coarse), np.inf)[alone]
    witnesses.rounding[alone] *= ONE_SIDED
    witnesses.steepest[alone] = np.abs(slopes).max(axis=1)[alone]
    witnesses.kink[alone], witnesses.state[alone] = 0.0, State.EDGE


def _discard(witnesses: Witnesses, moves: Array, floor: Array, places: Array) -> None:
    """Discard the slopes from steps that span several features of f, or have no finite values."""
    nothing = witnesses.truncation > 0.1 * witnesses.steepest + witnesses.rounding
    # If the values are closer to each other than to f(x), f has a spike at x or a pole nearby. If
    # those on one side are, by more than at an extreme value, f jumps, and chords fall as 1/h.
    side = np.abs(moves).min(axis=2) > 10 * np.ptp(moves, axis=2) + floor[:, None]
    moves = moves.reshape(len(moves), EACH, moves.shape[-1])
    nothing |= np.abs(moves).min(axis=1) > 3 * np.ptp(moves, axis=1) + floor
    nothing |= side.any(axis=1)
    nothing |= ~np.isfinite(witnesses.slope + witnesses.truncation)
    if not nothing.any():
        return
    one_sided = np.abs(moves).max(axis=1) / witnesses.step * STILL
    rises = np.sign(moves * np.sign(places).reshape(len(moves), EACH, 1))
    lowest, highest = np.fmin.reduce(rises, axis=1), np.fmax.reduce(rises, axis=1)
    witnesses.trend[nothing] = np.where(lowest == highest, lowest, 0.0)[nothing]
    finite = np.isfinite(moves)
    state = np.where(finite.all(axis=1), State.ROUGH, State.OUTSIDE)
    state[~finite.any(axis=1)] = State.ALONE
    witnesses.steepest[nothing] = np.fmax(witnesses.steepest, one_sided)[nothing]
    witnesses.truncation[nothing], witnesses.kink[nothing] = np.inf, 0.0
    witnesses.slope[nothing], witnesses.state[nothing] = np.nan, state[nothing]
