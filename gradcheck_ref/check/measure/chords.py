"""Chords: the slopes of f between two points, at steps where noise and truncation are balanced.

A witness takes six points and gives a bar for one line. Here the mean over many lines counts, so
two points are enough for each. A few lines are measured first, at steps from half of x downwards.
They show how noise grows towards short steps and how truncation grows towards long ones.
"""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.crew import NUMBERS_AT_ONCE
from gradcheck_ref.check.measure.dithered import Dithered
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.structure.units import output_weights

# The first steps, in units of x: from the longest one down, each half of the one before, along so
# many lines. They end where noise has become a hundred times the least cost, or where truncation is
# below all tolerances.
LONGEST, SHORTEST, TRIED = 0.5, 2.0**-12, 3
CLEARLY_WORSE, SHARP_ENOUGH = 100.0, 1e-11

# If the cost first rises and then collapses, by more than truncation can, these steps lie within
# one stair of f, and show nothing.
COLLAPSED = 1e3

# The step of a line is drawn between these multiples of the chosen one.
FACTORS = 0.8, 1.25

# A step this many times shorter shows whether an error is truncation.
CLOSER = 5.0

# Noise has fewer digits than the dtype if it is so many roundings of f.
ROUNDINGS = 30.0

# An f that moves in steps larger than this part of itself is a staircase: eight spacings of a
# bfloat16.
COARSEST = 2.0**-5

# Rounding is noise if an output changes by at least so many of its steps.
CROSSED = 2.0

# Bits of the fractions of float32, float16 and bfloat16.
BITS = 23, 10, 7


class Chords(NamedTuple):
    """Slopes along some lines at one step, in the unit of f."""

    steps: Array  # (lines,)
    slopes: Array  # (lines, columns)
    middles: Array  # (lines, columns): the means of the two values
    stuck: Array  # (columns,): mean square of errors that no mean of lines reduces, weighted


class Fineness:
    """How fine the values of each output are, as all values so far show it.

    Parameters
    ----------
    known : ndarray, shape (outputs,)
        Resolutions that are known already.
    eps : ndarray, shape (outputs,)
        The precision of the outputs.
    """

    def __init__(self, known: Array, eps: Array) -> None:
        self.known, self.eps = known, eps
        self.divisor = np.full(eps.shape, np.inf)  # the largest power of two that divides them
        self.low, self.high = np.full(eps.shape, np.inf), np.full(eps.shape, -np.inf)
        self.fits = np.ones((len(BITS), *eps.shape), bool)

    def notice(self, values: Array) -> None:
        """Learn from values, (points, outputs)."""
        fraction, exponent = np.frexp(values)
        whole = (np.nan_to_num(fraction) * 2.0**53).astype(np.int64)
        divisor = np.ldexp((whole & -whole).astype(float), exponent - 53)
        self.divisor = np.fmin(self.divisor, np.where(whole, divisor, np.inf).min(axis=0))
        self.low = np.fmin(self.low, values.min(axis=0))
        self.high = np.fmax(self.high, values.max(axis=0))
        for fits, bits in zip(self.fits, BITS, strict=True):
            fits &= (fraction * 2.0 ** (bits + 1) % 1 == 0).all(axis=0)

    @property
    def size(self) -> Array:
        """The largest absolute value of each output."""
        return np.asarray(np.fmax(np.abs(self.low), np.abs(self.high)))

    @property
    def moves(self) -> Array:
        """Which outputs have had more than one value."""
        return np.asarray(self.low < self.high)

    @property
    def of_format(self) -> Array:
        """The spacing of numbers in the shortest format that holds all values."""
        spacing = self.eps
        for fits, bits in zip(self.fits, BITS, strict=True):
            spacing = np.where(fits, 2.0**-bits, spacing)
        return np.asarray(spacing * self.size)

    @property
    def resolution(self) -> Array:
        """The step between values, as they show it; that of the format if they never change."""
        shown = np.isfinite(self.divisor) & self.moves
        return np.fmax(np.where(shown, self.divisor, self.of_format), self.known)


class Chorder:
    """Measures chords along dithered lines.

    Parameters
    ----------
    noise : Noise
        Calls f, perhaps for combinations of its outputs, and knows what their values show.
    moves : ndarray of bool, shape (coordinates,)
        Which coordinates move.
    seed : tuple of int
        Seed for all lines and steps.

    Attributes
    ----------
    weight : ndarray, shape (columns,)
        Makes a typical slope 1, so that no square overflows or vanishes in any unit of f; and no
        output counts more than a typical one.
    steps : tuple of float
        The steps to measure at: two, and a far shorter one. Empty if f cannot be measured.
    level, truncation : float
        The mean squares of the noise of f, and of the truncation at the second step.
    short : bool
        Whether that is more than the dtype of the values explains.
    """

    def __init__(self, noise: Noise, moves: Array, seed: tuple[int, ...]) -> None:
        self.ask = copy(noise.ask)
        start, stop = int(moves.argmax()), moves.size - int(moves[::-1].argmax())
        seed = *seed, start, stop
        self.line = Dithered(self.ask.inputs, start, stop, seed, np.packbits(moves))
        self.mix = noise.ask.mix if noise.ask.combines else None
        self.ask.mix = None  # for the resolution of the outputs themselves
        known = noise.resolution if self.mix is None else np.zeros(self.ask.outputs.size)
        self.values = Fineness(known, self.ask.outputs.eps)
        self.rng = np.random.default_rng(seed)
        self.weight = np.ones(noise.ask.here.size)
        self.steps: tuple[float, ...] = ()
        self.level = self.truncation = 0.0
        self.short = self.in_proportion = False

    def lines(self, first: int, count: int) -> list[Dithered]:
        """Return some lines by their numbers."""
        seeds = ((*(self.line.seed or ()), k) for k in range(first, first + count))
        line = replace(self.line, rounds=self.short, in_proportion=self.in_proportion)
        return [replace(line, seed=seed) for seed in seeds]

    @QUIETLY
    def measure(self, lines: Sequence[Dithered], step: float) -> Chords:
        """Measure a chord along each line: 2 evaluations for each."""
        steps = step * self.rng.uniform(*FACTORS, len(lines))
        each, found = max(1, NUMBERS_AT_ONCE // max(1, self.ask.outputs.size)), []
        moved = np.zeros(self.ask.outputs.size)
        for start in range(0, len(lines), each):
            some = list(zip(lines, steps.tolist(), strict=True))[start : start + each]
            values = self.ask.many([(line, side * t) for line, t in some for side in (1, -1)])
            self.values.notice(values)
            moved += np.abs(values[::2] - values[1::2]).sum(axis=0)
            found.append(values if self.mix is None else values @ self.mix.T)
        ahead, behind = np.concatenate(found)[::2], np.concatenate(found)[1::2]
        slopes, middles = (ahead - behind) / (2 * steps[:, None]), (ahead + behind) / 2
        # Rounding is independent of the line only if the output crosses some of its steps.
        fine = self.values.resolution
        hidden = np.where(moved / len(lines) < CROSSED * fine, fine, 0.0)
        return Chords(steps, slopes, middles, self.in_a_slope(hidden, step))

    def in_a_slope(self, spacings: Array, step: float) -> Array:
        """Return the mean square that such spacings of the outputs leave in a slope, by column."""
        return self._in_columns(spacings) / (24 * step**2)

    def coarse(self, columns: slice) -> bool:
        """Whether f moves in steps that are coarser than any rounding to few digits."""
        both = self.values.resolution, COARSEST * self.values.size
        steps, most = (np.mean(self._in_columns(one)[columns]) for one in both)
        return bool(steps > most)

    def _in_columns(self, errors: Array) -> Array:
        """Return the mean squares of independent errors of the outputs, by column."""
        largest = self.weight.max(initial=0.0)
        squares = (errors * largest) ** 2
        squares = squares if self.mix is None else self.mix**2 @ squares
        return np.asarray((self.weight / largest) ** 2 * squares)

    # --- the steps --------------------------------------------------------------------------------

    @QUIETLY
    def choose(self, averaged: float) -> bool:
        """Choose the steps, before a claim is seen; return whether f can be measured.

        ``averaged`` is the factor by which the mean of many lines reduces the square of the noise.
        Cost: about 6 evaluations for each of 4 to 12 steps.
        """
        for self.in_proportion in (False, True):
            steps, slopes = self._try()
            if np.isfinite(self._costs(steps, slopes)).any():
                break
        else:
            return False
        if self.mix is None:
            moved = np.sqrt(np.nan_to_num(np.nanmean((slopes * self.weight) ** 2, axis=(0, 1))))
            self.weight = self.weight * output_weights(moved)
        cost = self._costs(steps, slopes)
        steps = steps[1:]
        noise, bend, power = balance(steps, cost)
        expected = averaged * noise / steps**2 + bend * steps**power
        best = float(steps[np.argmin(np.where(np.isfinite(cost), expected, np.inf))])
        shortest = 2 * self.ask.inputs.eps
        self.steps = 2 * best, best, max(best / CLOSER, shortest)
        # The two chords behind a cost have the noise of four values of f.
        self.level, self.truncation = 8 / 5 * noise, bend * best**power
        eps = np.fmax(self.ask.outputs.eps, self.ask.inputs.eps)
        rounding = float(np.mean(self._in_columns(eps * self.values.size)))
        shown = noise / steps[-1] ** 2 > bend * steps[-1] ** power
        self.short = bool(shown and self.level > ROUNDINGS**2 * rounding)
        return True

    def _try(self) -> tuple[Array, Array]:
        """Measure a few lines at shorter and shorter steps; return the steps and the slopes."""
        lines, steps = self.lines(0, TRIED), [LONGEST]
        slopes = [self.measure(lines, LONGEST).slopes]
        while steps[-1] > SHORTEST:
            steps.append(steps[-1] / 2)
            slopes.append(self.measure(lines, steps[-1]).slopes)
            largest = np.nan_to_num(np.abs(slopes)).max(initial=0.0)
            self.weight = np.full(self.weight.shape, 1 / largest if largest else 1.0)
            cost = self._costs(np.array(steps), np.array(slopes))
            risen = len(cost) > 1 and cost[-2] > cost[:-1].min()
            if risen and cost[-1] < cost[-2] / COLLAPSED:
                return np.array(steps[:-1]), np.array(slopes[:-1])
            noisy = len(cost) > 2 and cost[-1] > CLEARLY_WORSE * cost.min()
            if noisy or cost[-1] <= SHARP_ENOUGH * np.mean((slopes[-1] * self.weight) ** 2):
                break
        return np.array(steps), np.array(slopes)

    def _costs(self, steps: Array, slopes: Array) -> Array:
        """Return for each step but the first the mean square of the change from the one before."""
        floors = np.array([self.in_a_slope(self.values.resolution, step) for step in steps[1:]])
        changes = (np.diff(slopes, axis=0) * self.weight) ** 2 + floors[:, None]
        return np.asarray(np.nan_to_num(np.mean(changes, axis=(1, 2)), nan=np.inf))


@QUIETLY
def balance(steps: Array, cost: Array) -> tuple[float, float, int]:
    """Fit noise and truncation: cost = noise / step^2 + bend x step^power.

    The fit has the maximum likelihood for a cost that varies like a mean of squares. The power is 4
    for a smooth f, and 2 or 1 where f has kinks. Returns noise, bend and power.
    """
    known = np.isfinite(cost) & (cost > 0)
    # Stairs are no white noise at steps that are shorter than they are.
    known &= (cost <= CLEARLY_WORSE * cost.min()) | (np.arange(cost.size) < cost.argmin())
    if not known.any():
        return 0.0, 0.0, 4
    steps, cost = steps[known], cost[known]
    factors = np.append(0.0, 2.0 ** np.arange(-20, 3, 0.25))
    noise = factors[:, None, None] * (cost * steps**2).min()
    best = math.inf, 0.0, 0.0, 4
    for power in (4, 2, 1):
        bend = factors[None, :, None] * (cost / steps**power).min()
        expected = noise / steps**2 + bend * steps**power
        unlikely = np.sum(cost / expected + np.log(expected), axis=2)
        unlikely[~np.isfinite(unlikely)] = np.inf
        i, j = np.unravel_index(int(np.argmin(unlikely)), unlikely.shape)
        one = float(unlikely[i, j]), float(noise[i, 0, 0]), float(bend[0, j, 0]), power
        best = min(best, one, key=lambda fit: fit[0])
    return best[1:]
