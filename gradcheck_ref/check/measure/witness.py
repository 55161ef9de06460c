"""A witness: the slope of f from one step along a line, with an error bar.

The idea is that of stage 5, for all outputs of ``f`` at once. ``f`` is evaluated at three steps on
both sides of x. That gives two five-point differences, a slope that is better than both, and the
jump of the slope at x. The error bar is the sum of three parts: the difference of the two
five-point values (truncation), half the jump (kink), and the effect of noise and rounding on the
slope (rounding).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Probe
from gradcheck_ref.check.measure.lines import Line, short_steps
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.stage5_adaptive import RATIO, SHORTEST

# The steps of a witness, in units of the longest: three behind x and three ahead.
SHORTER = RATIO ** np.arange(3.0)[:, None]
SIDES = np.concatenate([-1 / SHORTER, 1 / SHORTER]).T
EACH = SIDES.size  # evaluations for one witness

# White noise of standard deviation s changes the slope by 3.7 s / h (the bar covers four times
# that), the jump by 8.6 s / h, and the truncation by 4.0 s / h: from the weights of the six values.
NOISE_IN_SLOPE, NOISE_IN_JUMP, NOISE_IN_FOURTH = 16.0, 8.6, 4.0

# One-sided differences amplify noise about four times as much as those of two sides.
ONE_SIDED = 4.0

# The states of a witness. With a slope: from both sides, from six values equal to f(x), from one
# side. Without: several features of f in the step, f not finite, x + step equals x, not measured.
SMOOTH, FLAT, EDGE, ROUGH, OUTSIDE, LOST, NOTHING = range(7)


@dataclass
class Witness:
    """Slopes from one step along each of some lines: rows are lines, columns outputs.

    Each attribute is an array of shape (lines, outputs), or (trials, lines, outputs) for several
    steps along each line.
    """

    state: Array  # one of SMOOTH, FLAT, EDGE, ROUGH, OUTSIDE, LOST, NOTHING
    step: Array  # the longest of the three steps
    slope: Array  # NaN if there is none
    truncation: Array  # the three parts of the error bar
    kink: Array
    rounding: Array
    steepest: Array  # the largest slope among those that were combined
    size: Array  # the largest absolute value of f among the samples
    moved: Array  # whether all six values differ from f(x)

    @classmethod
    def none(cls, *shape: int) -> "Witness":
        """Return witnesses that have measured nothing."""
        numbers = {name: np.zeros(shape) for name in cls.__annotations__}
        numbers |= {name: np.full(shape, np.inf) for name in ("step", "truncation", "steepest")}
        nothing = {"state": np.full(shape, NOTHING), "slope": np.full(shape, np.nan)}
        return cls(**numbers | nothing | {"moved": np.zeros(shape, bool)})

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

    def at(self, where: object) -> "Witness":
        """Select some witnesses by an index."""
        return Witness(**{name: array[where] for name, array in vars(self).items()})

    def put(self, where: object, other: "Witness") -> None:
        """Replace the witnesses at an index by others."""
        for name, array in vars(self).items():
            array[where] = getattr(other, name)

    def and_then(self, other: "Witness") -> "Witness":
        """Append other trials along the same lines."""
        both = {name: [array, getattr(other, name)] for name, array in vars(self).items()}
        return Witness(**{name: np.concatenate(pair) for name, pair in both.items()})


@dataclass(frozen=True)
class Samples:
    """Values of f on both sides of x, along some lines."""

    lines: Sequence[Line]
    sizes: Array  # (lines,): the size of x along each line
    longest: Array  # (lines,): the longest step
    values: Array  # (lines, 2, 3, outputs): f behind and ahead; NaN if not evaluated
    places: Array  # (lines, 2, 3): the steps after rounding, in the precision of x
    lost: Array  # (lines,) of bool: the steps are too short to change x
    endless: Array  # (lines,) of bool: the steps lead to infinity


@QUIETLY
def ask_samples(probe: Probe, lines: Sequence[Line], longest: Array) -> Samples:
    """Evaluate f along some lines: 6 evaluations for each, all at once."""
    count, outputs = len(lines), probe.here.size
    sizes = np.array([line.size for line in lines])
    spacings = np.array([line.spacing for line in lines])
    lost = longest / RATIO**2 < SHORTEST * spacings * sizes
    endless = ~np.isfinite(sizes + longest)
    asked = np.flatnonzero(~(lost | endless))
    ts = short_steps(longest[:, None] * SIDES, spacings[:, None], sizes[:, None])
    points = [(lines[r], t) for r in asked.tolist() for t in ts[r].tolist()]
    values = np.full((count, 2, 3, outputs), np.nan, probe.here.dtype)
    values[asked] = probe.many(points).reshape(asked.size, 2, 3, outputs)
    places: Array = np.ones((count, EACH), probe.here.dtype)
    for r in asked.tolist():
        places[r] = lines[r].taken(ts[r])
    return Samples(lines, sizes, longest, values, places.reshape(count, 2, 3), lost, endless)


def ask_witnesses(probe: Probe, noise: Noise, lines: Sequence[Line], steps: Array) -> Witness:
    """Measure the slopes along some lines, with 6 evaluations for each."""
    return witnesses_of(probe, noise, ask_samples(probe, lines, steps))


@QUIETLY
def witnesses_of(probe: Probe, noise: Noise, samples: Samples) -> Witness:
    """Turn samples into slopes with error bars."""
    noise.notice(samples.values)
    here, h, places = probe.here, samples.longest[:, None], samples.places
    steps = h[:, :, None] / SHORTER
    behind, ahead = samples.values.swapaxes(0, 1)
    moves = samples.values - here
    back, forth = moves.swapaxes(0, 1)
    all_moves = moves.reshape(len(moves), EACH, here.size)
    size = np.fmax(np.abs(samples.values).max(axis=(1, 2)), np.abs(here))
    floor = 4 * np.maximum(probe.eps * size, noise.resolution)

    apart = (places[:, 1] - places[:, 0])[..., None]
    slopes = (ahead - behind) / apart
    bend = forth + back
    # The rounding of x + h makes the sides unequal by up to a spacing of x: correct for that.
    unequal = (places[:, 1] + places[:, 0])[..., None]
    slopes = slopes - bend / steps**2 * unequal / 2
    bend = bend - slopes * unequal
    # Nor are they the steps that were meant: by much, where x is small and steps are rounded.
    meant = 2 * steps / apart
    bend = bend * meant**2
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO**2 - 1)
    fine = near + (near - middle) / (RATIO**2 - 1)
    fourth = np.abs(fine - coarse)
    # The bend of a smooth f has only even powers of h; a kink adds a term linear in h.
    rest = bend[:, 0] - (RATIO**2 + RATIO**4) * bend[:, 1] + RATIO**6 * bend[:, 2]
    half_jump = np.abs(rest) / (2 * (RATIO - 1) * (RATIO**3 - 1) * h)

    draws = np.maximum(half_jump / NOISE_IN_JUMP, fourth / NOISE_IN_FOURTH) * h
    unit = noise.along(samples.lines, samples.longest, half_jump / NOISE_IN_JUMP * h, draws)
    still = ~all_moves.any(axis=1)
    # If f did not change, its slope is 0, except for changes that rounding inside f may hide: of
    # numbers of size 1, or of the size of x.
    inside = 8 * probe.eps * max(1.0, float(samples.sizes.max(initial=0.0)))
    least = np.where(still, np.maximum(floor, inside), floor)
    rounding = np.maximum(least, NOISE_IN_SLOPE * unit) / h
    # If f is mostly noise, nothing is known about its slope: it may be a fast wave.
    rounding[NOISE_IN_SLOPE * unit > size] = np.inf
    # In a smooth f the even terms leave less than a tenth of the odd ones; at a kink they do not.
    kink = np.where(half_jump > 0.1 * fourth, np.maximum(0.0, half_jump - rounding), 0.0)
    # Two of the three steps give the jump, too, unless the curvature differs between the sides.
    from_two = np.abs(bend[:, 0] - RATIO**2 * bend[:, 1]) / (2 * (RATIO - 1) * h)
    # A kink bends f by the step, not by its square: so far from the steps meant, so far off is it.
    weight = (RATIO + 1) * (RATIO**3 + 1) / ((RATIO - 1) * (RATIO**3 - 1))
    exact = 1 + weight * np.abs(meant - 1).max(axis=1)
    witness = Witness(
        state=np.where(still, FLAT, SMOOTH),
        step=np.repeat(h, here.size, axis=1),
        slope=fine + (fine - coarse) / (RATIO**4 - 1),
        # Errors fall from order 4 to 6 as from 2 to 4. Count on a tenth of that gain only, and on a
        # factor of 100 at most.
        truncation=fourth * np.fmax(0.01, np.fmin(10 * fourth / np.abs(near - far), 1.0)),
        # At a kink as exact as that; next to one up to a fifth too small.
        kink=np.where(
            fourth < 1e-3 * kink, kink * exact + np.abs(half_jump - from_two), 1.25 * kink
        ),
        rounding=rounding,
        steepest=np.abs(slopes).max(axis=1),
        size=size,
        moved=np.asarray(all_moves.all(axis=1)),
    )
    if not np.isfinite(witness.slope).all():
        for side in (1, 0):
            _use_one_side(witness, moves[:, side] / places[:, side, :, None])
    _discard(witness, all_moves, floor, samples)
    return witness


def _use_one_side(witness: Witness, slopes: Array) -> None:
    """Extrapolate one-sided slopes where f is finite on this side only."""
    far, middle, near = slopes.swapaxes(0, 1)
    coarse = middle + (middle - far) / (RATIO - 1)  # the h terms cancel
    fine = near + (near - middle) / (RATIO - 1)
    slope = fine + (fine - coarse) / (RATIO**2 - 1)
    alone = ~np.isfinite(witness.slope) & np.isfinite(slope)
    if not alone.any():
        return
    witness.slope[alone] = slope[alone]
    # The differences of slopes that converge shrink like the steps (0.6). At the end of the domain
    # of sqrt or x log x they do not.
    settles = np.abs(near - middle) <= 0.75 * np.abs(middle - far) + ONE_SIDED * witness.rounding
    witness.truncation[alone] = np.where(settles, np.abs(fine - coarse), np.inf)[alone]
    witness.rounding[alone] *= ONE_SIDED
    witness.steepest[alone] = np.abs(slopes).max(axis=1)[alone]
    witness.kink[alone] = 0.0
    witness.state[alone] = EDGE


def _discard(witness: Witness, moves: Array, floor: Array, samples: Samples) -> None:
    """Discard the slopes from steps that span several features of f, or have no finite values."""
    nothing = witness.truncation > 0.1 * witness.steepest + witness.rounding
    # If the six values are closer to each other than to f(x), f has a spike at x or a pole nearby.
    spread = moves.max(axis=1) - moves.min(axis=1)
    nothing |= np.abs(moves).min(axis=1) > 3 * spread + 4 * floor
    nothing |= ~np.isfinite(witness.slope + witness.truncation)
    if not nothing.any():
        return
    one_sided = np.abs(moves).max(axis=1) / witness.step * RATIO**2
    witness.steepest[nothing] = np.fmax(witness.steepest, one_sided)[nothing]
    witness.truncation[nothing] = np.inf
    witness.kink[nothing] = 0.0
    witness.slope[nothing] = np.nan
    rough = np.isfinite(moves).all(axis=1)
    witness.state[nothing] = np.where(rough, ROUGH, OUTSIDE)[nothing]
    witness.state[samples.lost] = LOST
