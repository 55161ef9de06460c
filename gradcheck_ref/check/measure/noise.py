"""How noisy and how precise the values of f are, and the smallest step between them.

Noise limits the accuracy of any slope. It comes from rounding, float32 inside f, an iteration that
stops early, or random numbers. At equidistant points the differences of a smooth function get
smaller from order to order, while those of noise do not (Hamming; Moré and Wild, 2011).
"""

import math
import sys
from collections.abc import Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.decimals import digits_shown, step_between
from gradcheck_ref.check.measure.lines import Line

# Seven points, a millionth of x apart or, if f turns between them, a billionth: a smooth f has no
# fourth difference there. Many bits make rounding vary between points; x + distance is exact.
TABLE_POINTS = 7
DISTANCES = 91672413 * 2.0**-46, 89523 * 2.0**-46

# The chance that two draws of noise are both 1000 times smaller than its standard deviation is one
# in a million. So a line whose samples are that quiet does not have the noise of the table.
QUIETER = 1e3

# Noise above this fraction of f is no rounding, except to very few digits: f has branches.
BRANCHES = 1e-3

# Noise does not depend on the distance of the points. If it fades by more than this from the first
# table to the closer one, it is a feature of f.
FADES = 30.0

# Noise above this many roundings of f is more than rounding: it is measured, and reported as noise.
NOISY = 100.0

# An unknown number is NaN or infinity, and the formulas pass it on without a warning.
QUIETLY = np.errstate(all="ignore")


class Noise:
    """The noise of every output, as a table of values shows it, and what else its values show.

    Parameters
    ----------
    ask : Ask
        Calls f: 7 times if the noise is measured, or 13.
    seed : int
        Seed for the direction of the measurement.
    most : float
        Maximum number of evaluations in the check. If none is left, each bar has the noise that
        the samples show, and the reported noise is rounding.

    Attributes
    ----------
    eps : ndarray, shape (outputs,)
        The precision of the outputs: that of their dtype, or of a shorter one that all values fit.
    common : ndarray, shape (outputs,)
        The step between the values of an output, if all are whole multiples of one; else 0.
    stairs : ndarray, shape (outputs,), or None
        The size of the stairs that a long look has found, or 0; None if there was no long look.
    changed, short : ndarray of bool, shape (outputs,)
        Which outputs have ever had a value other than that at x, and which have only had values
        that fit a shorter dtype than their own.
    """

    def __init__(self, ask: Ask, seed: int, most: float = math.inf) -> None:
        self.ask, self.seed, self.most = ask, seed, most
        self.eps = np.maximum(ask.inputs.eps, ask.outputs.eps)
        self.tables: list[Array] = []  # values at equidistant points, the wider table first
        self.measured: list[Array] = []  # the noise in each table
        self.common = np.zeros(ask.here.shape)
        self.stairs: Array | None = None
        self.changed = np.zeros(ask.here.shape, bool)
        self.short = np.zeros(ask.here.shape, bool)
        self._fits = np.ones((2, ask.here.size), bool)  # all values so far: float32, float16
        self._seen: list[Array] = []

    # --- what is known ----------------------------------------------------------------------------

    @property
    def resolution(self) -> Array:
        """The step between values of an output, or the size of its stairs; 0 if there are none."""
        return np.fmax(self.common, self.jump)

    @property
    def jump(self) -> Array:
        """The size of the stairs that only a long look shows; 0 if there are none."""
        return np.zeros(self.ask.here.shape) if self.stairs is None else self.stairs

    @property
    def distances(self) -> list[float]:
        """The distances of the points in the tables."""
        return [max(one, 8 * self.ask.inputs.eps) for one in DISTANCES]

    @property
    @QUIETLY
    def floor(self) -> Array:
        """Standard deviation of the rounding of f, if only its last operation rounds."""
        return np.asarray(0.3 * self.eps * np.fmax(np.abs(self.ask.here), 0.0))  # 0 for NaN

    @property
    @QUIETLY
    def quiet(self) -> Array:
        """The largest noise that counts as rounding: of f, or of x if f is near 0."""
        floor = self.floor
        if self.tables:
            moved = np.abs(self.tables[0][-1] - self.tables[0][0]) / self.distances[0]
            floor = np.fmax(floor, self.eps * moved)
        return NOISY * floor

    @property
    def least(self) -> Array:
        """The noise that is known without a table: rounding, or what a second call showed."""
        return np.maximum(self.floor, self.ask.nondeterminism)

    @property
    def levels(self) -> Array:
        """The standard deviation of the noise in each table, (tables, outputs)."""
        least = self.least
        if not self.tables:
            return least[None]
        known = np.array(self.measured)
        if len(known) > 1:  # at very close points a float32 inside f may not change at all
            still = (np.diff(self.tables[1], axis=0) == 0).mean(axis=0) > 0.3
            known[1] = np.where(still | np.isnan(known[1]), known[0], known[1])
        return np.maximum(np.where(np.isfinite(known), known, 0.0), least)

    @property
    def noisy_within(self) -> Array:
        """How far from x f was seen to be noisy, in units of x; 0 if it was not."""
        if not self.tables:
            return np.zeros(self.ask.here.shape)
        extent = (TABLE_POINTS - 1) * self.distances[0]
        return np.where(self.levels[-1] > self.quiet, extent, 0.0)

    @property
    def typical(self) -> float:
        """The noise of the noisiest output."""
        return float(self.levels[0].max(initial=0.0))

    @property
    def random(self) -> Array:
        """Which outputs are random: a second call changes them, or they are noisy beside such ones.

        An output of a random f may stay the same by chance, for example if a mask has few entries.
        A change as small as rounding comes from sums in another order, as on a GPU.
        """
        changed = self.ask.nondeterminism > self.quiet
        return np.asarray(changed | (changed.any() & (self.levels[-1] > self.quiet)))

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype; with less than three, it is a count."""
        digits = (100 * self.resolution <= np.abs(self.ask.here)) & self.changed
        return np.where(self.resolution > 0, digits, self.short)

    @property
    def digits(self) -> int:
        """The most decimal digits that a value of f has, if these are few; else 0."""
        # A float32 value has few digits anyway, and a combination of outputs is not a value of f.
        short = self.ask.mix is not None or self.eps.max(initial=0.0) > sys.float_info.epsilon
        some = [values.reshape(-1)[:60] for values in self._seen]
        return digits_shown(np.concatenate(some)) if some and not short else 0

    def level(
        self, lines: Sequence[Line], steps: Array, jumps: Array, draws: Array, moves: Array
    ) -> Array:
        """Return the noise of samples, (looks, outputs).

        Parameters
        ----------
        lines, steps : sequence of Line, and ndarray, shape (looks, 1)
            The line of each look, and its longest step.
        jumps, draws : ndarray, shape (looks, outputs)
            The noise that would explain the jump of the slope in a look, and the noise that would
            explain all its disagreement.
        moves : ndarray, shape (looks, outputs)
            How far f moves in a look. If that is less than the noise, a quiet look proves nothing:
            it may lie in one stair of a staircase, unless the noise is too large for one.
        """
        levels = self.levels
        if not self.tables:
            # Most lines may be silent by chance, and equal noise on both sides shows no jump.
            largest = np.where(np.isfinite(jumps), jumps, 0.0).max(axis=0, initial=0.0)
            return np.asarray(np.fmax(np.fmax(levels[0], largest), draws))
        # A table that is wider than the step tells the rounding of f there, and no more. The others
        # give a mean.
        units = np.array([line.unit for line in lines])[:, None]
        fits = np.array([one * units <= steps for one in self.distances[: len(levels)]])
        mean = np.sum(fits * levels[:, None], axis=0) / fits.sum(axis=0)
        rounding = np.where(levels[-1] <= self.quiet, levels[-1], self.least)
        level = np.where(fits.any(axis=0), mean, rounding)
        shows = (moves > level) | (level > BRANCHES * np.abs(self.ask.here))
        quiet = (draws > 0) & (QUIETER * draws < level) & shows
        return np.asarray(np.where(quiet, draws, level))

    def fading_step(self, line: Line) -> float:
        """Return a step along a line that is so short that the noise fades; 0 if it does not."""
        return 4 * self.distances[1] * line.unit if self.fades else 0.0

    @property
    def fades(self) -> bool:
        """Whether the noise of an output fades in the closer table."""
        if len(self.tables) < 2:
            return False
        far, near = self.levels
        return bool(((FADES * near <= far) & (far > self.quiet)).any())

    # --- how it is learned ------------------------------------------------------------------------

    @QUIETLY
    def notice(self, values: Array) -> None:
        """Learn from new values, (..., outputs): how many digits f has, and if it changes."""
        if not values.size:
            return
        values = values.reshape(-1, values.shape[-1])
        self.changed |= (np.isfinite(values) & (values != self.ask.here)).any(axis=0)
        if sum(kept.size for kept in self._seen) < 2**16:
            self._seen.append(values)
        for fits, short in zip(self._fits, map(np.dtype, ("f4", "f2")), strict=True):
            if fits.any():
                fits &= ((values == values.astype(short)) | np.isnan(values)).all(axis=0)
            if not fits.any():
                return  # a value that does not fit in float32 does not fit in float16 either
            # A constant value proves nothing: it may be a round number, such as 0 or 1. Nor do
            # values with half of the bits or fewer, such as a few roundings of a larger number.
            moves = np.fmin.reduce(values, axis=0) < np.fmax.reduce(values, axis=0)
            long = np.frexp(values)[0] * 2.0 ** (np.finfo(short).nmant // 2) % 1 > 0
            eps = np.where(fits & moves & long.any(axis=0), np.finfo(short).eps, 0.0)
            self.short |= eps > self.eps
            self.eps = np.maximum(self.eps, eps)

    def find_resolution(self) -> bool:
        """Find the step between all values so far; return whether it is another one than before."""
        before = self.common
        self.common = step_between(np.concatenate([self.ask.here[None], *self._seen]))
        return bool((self.common != before).any())

    def measure(self) -> bool:
        """Measure the noise, unless that was done before; return whether there is a new estimate.

        Cost: 7 evaluations, or 13 if f is noisy.
        """
        if self.tables:
            return False
        cost = TABLE_POINTS - 1
        ray = Line(self.ask.inputs, 0, self.ask.inputs.size, (self.seed,), None, True)
        for distance in self.distances:
            # If there are few evaluations, at least half of them are for slopes.
            if self.ask.evaluations + cost > self.most or cost >= self.most // 2:
                break
            points = self.ask.many([(ray, k * distance) for k in range(1, TABLE_POINTS)])
            self.tables.append(np.concatenate([self.ask.here[None], points]))
            self.measured.append(noise_of(self.tables[-1]))
            if (self.levels[-1] <= self.quiet).all():
                break
        if self.tables and self.ask.evaluations < self.most:
            self.ask.forward()  # if f is random, this is another draw of its noise
        return bool(self.tables)


@QUIETLY
def noise_of(table: Array) -> Array:
    """Estimate the noise of each column of values at equidistant points.

    The estimate is the root mean square of the differences of order k, scaled so that it is right
    for white noise: the mean square of these is (2k choose k) times the variance.
    """
    size = np.abs(table).max(axis=0)  # without it the squares might overflow
    differences = np.diff(table / np.where(size > 0, size, 1.0), 2, axis=0)
    orders = []
    for k in range(3, TABLE_POINTS):
        differences = np.diff(differences, axis=0)
        orders.append(size * np.sqrt(np.mean(differences**2, axis=0) / math.comb(2 * k, k)))
    _, fourth, fifth, sixth = orders
    falling = (sixth < fifth / 2) & (fifth < fourth / 2)
    # The last order has only one difference, which may be small by chance.
    _, low, high, _ = np.sort(orders, axis=0)
    return np.asarray(np.where(falling, fifth, (low + high) / 2))
