"""What the values of f hide: its noise, its precision, and the smallest step between its values.

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
from gradcheck_ref.check.decimals import digits_of, has_many_digits, last_digit
from gradcheck_ref.check.measure.lines import Line

# Seven points, a millionth of x apart or, if f turns between them, a billionth: a smooth f has no
# fourth difference there. Many bits make rounding vary between points; x + distance is exact.
TABLE_POINTS = 7
DISTANCES = 91672413 * 2.0**-46, 89523 * 2.0**-46

# The chance that two draws of noise are both 1000 times smaller than its standard deviation is one
# in a million. So a line whose samples are that quiet does not have the noise of the table.
QUIETER = 1e3

# Noise does not depend on the distance of the points. If it fades by more than this from the first
# table to the closer one, it is a feature of f.
FADES = 30.0

# Noise above this many roundings of f is more than rounding: it is measured, and reported as noise.
NOISY = 100.0

# Values in equal steps were rounded if they have three digits or more; else they are a count.
DIGITS = 100.0
# A step between values is longer than COARSE roundings of f (2e-10 of it). Changes of up to MANY
# steps are multiples of it, to WHOLE of a step; LEVELS of them, among KEPT values, show it.
COARSE, MANY, WHOLE, LEVELS, KEPT = 2.0**20, 100.0, 1e-2, 4, 2**16

# This many different values show how many digits all have. One value in ten has a digit less by
# chance, because it ends in a 0; the chance that all six have is one in a million.
SHOWS_DIGITS = 6

# An unknown number is NaN or infinity, and the formulas pass it on without a warning.
QUIETLY = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Noise:
    """The noise of every output, as a table of values shows it, and what else its values show.

    Parameters
    ----------
    ask : Ask
        Calls f: 7 times if the noise is measured, or 13.
    seed : int
        Seed for the direction of the measurement.
    most : float
        Maximum number of evaluations in the check. If none is left, the noise is that of the
        samples, or rounding if that is larger.

    Attributes
    ----------
    eps : ndarray, shape (outputs,)
        The precision of the outputs: that of their dtype, or of a shorter one that all values fit.
    resolution : ndarray, shape (outputs,)
        The step between the values of an output, if all are whole multiples of one; else 0.
    changed : ndarray of bool, shape (outputs,)
        Which outputs have ever had a value other than that at x.
    """

    def __init__(self, ask: Ask, seed: int, most: float = math.inf) -> None:
        self.ask, self.seed, self.most = ask, seed, most
        self.eps = np.maximum(ask.inputs.eps, ask.outputs.eps)
        self.tables: list[Array] = []  # values at equidistant points, the wider table first
        self.measured: list[Array] = []  # the noise in each table
        self.resolution = np.zeros(ask.here.shape)
        self.changed = np.zeros(ask.here.shape, bool)
        self._fits = np.ones((2, ask.here.size), bool)  # all values so far: float32, float16
        self._seen: list[Array] = []

    # --- what is known ----------------------------------------------------------------------------

    @property
    def floor(self) -> Array:
        """Standard deviation of the rounding of f, if only its last operation rounds."""
        return np.asarray(0.3 * self.eps * np.fmax(np.abs(self.ask.here), 0.0))  # 0 for NaN

    @property
    def quiet(self) -> Array:
        """The largest noise that counts as rounding: of f, or of x if f is near 0."""
        floor = self.floor
        if self.tables:
            with np.errstate(all="ignore"):
                moved = np.abs(self.tables[0][-1] - self.tables[0][0]) / self._distance(0)
            floor = np.fmax(floor, self.eps * moved)
        return NOISY * floor

    @property
    def levels(self) -> Array:
        """The standard deviation of the noise in each table, (tables, outputs)."""
        known = np.array(self.measured or [self.floor])
        if len(known) > 1:  # at very close points a float32 inside f may not change at all
            still = (np.diff(self.tables[1], axis=0) == 0).mean(axis=0) > 0.3
            known[1] = np.where(still | np.isnan(known[1]), known[0], known[1])
        known = np.maximum(np.where(np.isfinite(known), known, 0.0), self.floor)
        return np.asarray(np.maximum(known, self.ask.nondeterminism))

    @property
    def typical(self) -> float:
        """The noise of the noisiest output."""
        return float(self.levels[0].max(initial=0.0))

    @property
    def random(self) -> Array:
        """Which outputs are random: they change in a second call, or are noisy beside such ones.

        An output of a random f may stay the same by chance, for example if a mask has few entries.
        """
        changed = self.ask.nondeterminism > 0
        return np.asarray(changed | (changed.any() & (self.levels[-1] > self.quiet)))

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype, but too many for a count."""
        digits = DIGITS * self.resolution <= np.abs(self.ask.here)
        short = self.eps > np.maximum(self.ask.inputs.eps, self._exact)
        return np.asarray(np.where(self.resolution > 0, digits & self.changed, short))

    @property
    def _exact(self) -> Array | float:
        return self.ask.outputs.eps if self.ask.mix is None else math.inf

    @property
    def digits(self) -> int:
        """The most decimal digits that a value of f has, if these are few; else 0.

        Whole numbers do not count: they may be exact.
        """
        few = [values.reshape(-1)[: 10 * SHOWS_DIGITS] for values in self._seen]
        seen = {v for v in np.concatenate([np.zeros(0), *few]).tolist() if math.isfinite(v)}
        # A float32 value has few digits anyway, and a combination of outputs is not a value of f.
        short = self.ask.mix is not None or self.eps.max(initial=0.0) > sys.float_info.epsilon
        if short or len(seen) < SHOWS_DIGITS or any(map(has_many_digits, seen)):
            return 0
        return 0 if all(map(float.is_integer, seen)) else digits_of(np.array([*seen]))

    def level(self, lines: Sequence[Line], steps: Array, jumps: Array, draws: Array) -> Array:
        """Return the noise of samples along some lines, (trials, lines, outputs).

        Parameters
        ----------
        lines : sequence of Line
            The lines.
        steps : ndarray, shape (trials, lines, 1)
            The longest step of each sample.
        jumps, draws : ndarray, shape (trials, lines, outputs)
            The noise that would explain the jump of the slope in a sample, and the noise that
            would explain all its disagreement.
        """
        levels = self.levels
        if not self.tables:
            # One line may be noisier than most, and equal noise on both sides shows no jump.
            largest = np.fmax.reduce(jumps, axis=1, initial=0.0)
            share = np.nan_to_num(jumps / largest[:, None])
            count = np.maximum(1, np.isfinite(jumps).sum(axis=1))
            mean = largest * np.sqrt(np.sum(share**2, axis=1) / count)
            return np.asarray(np.fmax(np.fmax(levels[0], mean.max(axis=0)), draws))
        level = levels[0]
        if len(levels) > 1:  # use the widest table that is not wider than the step
            widths = self._distance(0) * np.array([line.unit for line in lines])
            level = np.where(widths[:, None] <= steps, levels[0], levels[1])
        return np.asarray(np.where((draws > 0) & (QUIETER * draws < level), draws, level))

    def fading_step(self, line: Line) -> float:
        """Return a step along a line that is so short that the noise fades; 0 if it does not."""
        if len(self.tables) < 2:
            return 0.0
        far, near = self.levels
        fades = (FADES * near <= far) & (far > self.quiet)
        return 4 * self._distance(1) * line.unit if fades.any() else 0.0

    # --- how it is learned ------------------------------------------------------------------------

    def notice(self, values: Array) -> None:
        """Learn from new values, (points, outputs): how many digits f has, and if it changes."""
        if not values.size:
            return
        self._notice_precision(values)
        self.changed |= (np.isfinite(values) & (values != self.ask.here)).any(axis=0)
        if sum(kept.size for kept in self._seen) < KEPT:
            self._seen.append(values)

    def _notice_precision(self, values: Array) -> None:
        """Lower the precision of outputs whose values are all float32 or float16 numbers."""
        shorts = (np.float32, 2.0**-23), (np.float16, 2.0**-10)
        for fits, (short, eps) in zip(self._fits, shorts, strict=True):
            if fits.any():
                with np.errstate(all="ignore"):
                    fits &= ((values == values.astype(short)) | np.isnan(values)).all(axis=0)
            if not fits.any():
                break  # a value that does not fit in float32 does not fit in float16 either
            # A constant value proves nothing: it may be a round number, such as 0 or 1.
            moves = np.fmin.reduce(values, axis=0) < np.fmax.reduce(values, axis=0)
            self.eps = np.maximum(self.eps, np.where(fits & moves, eps, 0.0))

    @QUIETLY
    def find_resolution(self) -> bool:
        """Find the step, if any, such that all values so far differ by whole multiples of it.

        Returns whether it is another one than before.

        This is Euclid's algorithm: the smallest remainder becomes the new step. If f has changed
        by few different amounts and its values have few digits, the step is the smallest change;
        if f has never changed, it is the unit of the last digit.
        """
        here, before = self.ask.here, self.resolution
        seen = np.concatenate([here[None], *self._seen])
        seen = np.where(np.isfinite(seen), seen, here)
        moves = np.abs(seen - here)
        shortest = COARSE * np.finfo(moves.dtype).eps * np.fmax(np.abs(here), moves.max(axis=0))
        fine = ((moves > 0) & (moves <= shortest)).any(axis=0)  # f has all digits
        moves[moves <= shortest] = 0.0
        step = rest = np.where(moves > 0, moves, np.inf).min(axis=0)
        while (rest < np.inf).any():
            step = np.fmin(step, rest)
            step[step <= shortest] = np.inf
            rest = np.abs(moves - np.rint(moves / step) * step)
            rest[~((rest > WHOLE * step) & (moves < MANY * step))] = np.inf
            rest = rest.min(axis=0)
        counts = np.sort(np.where(moves < MANY * step, np.rint(moves / step), 0.0), axis=0)
        levels = np.count_nonzero(np.diff(counts, axis=0, prepend=0.0), axis=0)
        several = (levels >= LEVELS) & (step < np.inf)
        self.resolution = np.where(several, step, 0.0)
        if digit := last_digit(seen):  # the values of all outputs have few digits
            few = ~several & ~fine & (levels < LEVELS)
            self.resolution[few] = np.where(step < np.inf, step, digit)[few]
        return bool((self.resolution != before).any())

    def _distance(self, table: int) -> float:
        """Return how far the points of a table are apart, in units of x."""
        return float(max(DISTANCES[table], 8 * self.ask.inputs.eps))

    def measure(self) -> bool:
        """Measure the noise, unless that was done before; return whether there is a new estimate.

        Cost: 7 evaluations, or 13 if f is noisy.
        """
        if self.tables:
            return False
        for table in range(len(DISTANCES)):
            cost = TABLE_POINTS - 1
            # If there are few evaluations, at least half of them are for slopes.
            if self.ask.evaluations + cost > self.most or cost >= self.most // 2:
                break
            ray = Line(self.ask.inputs, 0, self.ask.inputs.size, (self.seed,), None, True)
            points = [(ray, k * self._distance(table)) for k in range(1, TABLE_POINTS)]
            self.tables.append(np.concatenate([self.ask.here[None], self.ask.many(points)]))
            self.measured.append(noise_of(self.tables[-1]))
            if (self.levels[-1] <= self.quiet).all():
                break
        if self.tables and self.ask.evaluations < self.most:
            self.ask.forward()  # if f is random, this is another draw of its noise
        return bool(self.tables)


def noise_of(table: Array) -> Array:
    """Estimate the noise of each column of values at equidistant points.

    The estimate is the root mean square of the differences of order k, scaled so that it is right
    for white noise: the mean square of these is (2k choose k) times the variance.
    """
    with np.errstate(all="ignore"):
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
