"""Estimate how noisy f is, and the smallest step between its values.

Noise limits the accuracy of any slope. It comes from rounding, float32 inside f, an iteration that
stops early, or random numbers. At equidistant points the differences of a smooth function get
smaller from order to order, while those of noise do not (Hamming; Moré and Wild, 2011).
"""

import math
from collections.abc import Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Probe
from gradcheck_ref.check.decimals import last_digit
from gradcheck_ref.check.measure.lines import Line, Ray

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

# An unknown number is NaN or infinity, and the formulas pass it on without a warning.
QUIETLY = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Noise:
    """The noise of every output: observed in samples along lines, or measured by a table.

    Parameters
    ----------
    probe : Probe
        Calls f: 7 times if the noise is measured.
    seed : int
        Seed for the direction of the measurement.
    most : float
        Maximum number of evaluations in the check. If none is left, the noise is that of the
        samples, or rounding if that is larger.

    Attributes
    ----------
    resolution : ndarray, shape (outputs,)
        The step between the values of an output, if all are whole multiples of one; else 0.
    moved : ndarray of bool, shape (outputs,)
        Which outputs have ever had a value other than that at x.
    """

    def __init__(self, probe: Probe, seed: int, most: float = math.inf) -> None:
        self.probe, self.seed, self.most = probe, seed, most
        self.tables: list[Array] = []
        self.measured: list[Array] = []  # the noise in each table
        self.distances: list[float] = []  # between the points of each table, in units of x
        self.observed = np.zeros(probe.here.shape)
        self.resolution = np.zeros(probe.here.shape)
        self.moved = np.zeros(probe.here.shape, bool)
        self._values: list[Array] = []

    @property
    def quiet(self) -> Array:
        """The largest noise that counts as rounding: of f, or of x if f is near 0."""
        floor = self.probe.floor
        if self.tables:
            with np.errstate(all="ignore"):
                moved = np.abs(self.tables[0][-1] - self.tables[0][0]) / self.distances[0]
            floor = np.fmax(floor, self.probe.eps * moved)
        return NOISY * floor

    @property
    def levels(self) -> Array:
        """The standard deviation of the noise in each table, (tables, outputs)."""
        known = np.array(self.measured or [self.observed])
        if len(known) > 1:  # at very close points a float32 inside f may not change at all
            still = (np.diff(self.tables[1], axis=0) == 0).mean(axis=0) > 0.3
            known[1] = np.where(still | np.isnan(known[1]), known[0], known[1])
        known = np.maximum(np.where(np.isfinite(known), known, 0.0), self.probe.floor)
        return np.asarray(np.maximum(known, self.probe.nondeterminism))

    @property
    def typical(self) -> float:
        """The noise of the noisiest output."""
        return float(self.levels[0].max(initial=0.0))

    @property
    def random(self) -> Array:
        """Which outputs are random: they change in a second call, or are noisy beside such ones.

        An output of a random f may stay the same by chance, for example if a mask has few entries.
        """
        changed = self.probe.nondeterminism > 0
        return np.asarray(changed | (changed.any() & (self.levels[-1] > self.quiet)))

    def notice(self, values: Array) -> None:
        """Learn from new values how many digits f has, and whether it ever changes."""
        values = values.reshape(math.prod(values.shape[:-1]), self.probe.here.size)
        self.probe.notice_precision(values)
        self.moved |= (np.isfinite(values) & (values != self.probe.here)).any(axis=0)
        if sum(kept.size for kept in self._values) < KEPT:
            self._values.append(values)

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype, but too many for a count."""
        digits = DIGITS * self.resolution <= np.abs(self.probe.here)
        in_steps = np.where(self.resolution > 0, digits & self.moved, self.probe.rounded)
        return np.asarray(in_steps)

    def find_resolution(self) -> None:
        """Find the step, if any, such that all values so far differ by whole multiples of it.

        This is Euclid's algorithm: the smallest remainder becomes the new step. If f has changed
        by few different amounts and its values have few digits, the step is the smallest change;
        if f has never changed, it is the unit of the last digit.
        """
        here, seen = self.probe.here, np.concatenate(self._values)
        seen = np.where(np.isfinite(seen), seen, here)
        moves = np.abs(seen - here)
        rounding = np.finfo(moves.dtype).eps * np.fmax(np.abs(here), moves.max(axis=0))
        rounds = ((moves > 0) & (moves <= COARSE * rounding)).any(axis=0)  # f has all digits
        moves[moves <= COARSE * rounding] = 0.0
        step = np.where(moves > 0, moves, np.inf).min(axis=0)
        while True:
            step[~(step > COARSE * rounding)] = np.inf
            counts = np.rint(moves / step)
            rest = np.abs(moves - counts * np.where(step < np.inf, step, 0.0))
            some = (rest > WHOLE * step) & (counts < MANY) & (step < np.inf)
            rest = np.where(some, rest, np.inf).min(axis=0)
            if not (rest < np.inf).any():
                break
            step = np.fmin(step, rest)
        counts = np.where(moves < MANY * step, np.rint(moves / step), 0.0)
        levels = np.count_nonzero(np.diff(np.sort(counts, axis=0), axis=0, prepend=0.0), axis=0)
        several = (levels >= LEVELS) & (step < np.inf)
        self.resolution = np.where(several, step, 0.0)
        if digit := last_digit(seen):  # the values of all outputs have few digits
            hardly = ~several & ~rounds & (levels < LEVELS)
            self.resolution[hardly] = np.where(step < np.inf, step, digit)[hardly]

    def along(self, lines: Sequence[Line], steps: Array, jumps: Array, draws: Array) -> Array:
        """Return the noise along some lines, (lines, outputs).

        Parameters
        ----------
        lines : sequence of Line
            The lines.
        steps : ndarray, shape (lines,)
            The longest step of the samples on each line.
        jumps, draws : ndarray, shape (lines, outputs)
            The noise that would explain the jump of the slope in the samples of a line, and the
            noise that would explain all their disagreement.
        """
        if not self.tables:
            largest = jumps.max(axis=0, initial=0.0)
            if not (largest <= self.quiet).all() and self.measure():
                return self.along(lines, steps, jumps, draws)
            share = np.divide(jumps, largest, out=np.zeros(jumps.shape), where=largest != 0)
            mean = largest * np.sqrt(np.sum(share**2, axis=0) / max(1, len(jumps)))
            self.observed = np.fmax(self.observed, mean)
            # One line may be noisier than most, and equal noise on both sides shows no jump.
            return np.fmax(self.levels, draws)
        levels = self.levels
        level = levels[0]
        if len(levels) > 1:  # use the widest table that is not wider than the step
            widths = self.distances[0] * np.array([line.unit for line in lines])
            level = np.where((widths <= steps)[:, None], levels[0], levels[1])
        return np.where((draws > 0) & (QUIETER * draws < level), draws, level)

    def quieter(self, line: Line) -> float:
        """Return a step along a line that is so short that the noise fades; 0 if it does not."""
        if len(self.tables) < 2:
            return 0.0
        far, near = self.levels
        fades = (FADES * near <= far) & (far > self.quiet)
        return 4 * self.distances[1] * line.unit if fades.any() else 0.0

    def measure(self) -> bool:
        """Measure the noise, unless that was done before; return whether there is a new estimate.

        Cost: 7 evaluations, or 13 if f is noisy.
        """
        if self.tables:
            return False
        for distance in DISTANCES:
            cost = TABLE_POINTS - 1
            # If there are few evaluations, at least half of them are for slopes.
            if self.probe.evaluations + cost > self.most or cost >= self.most // 2:
                break
            distance = max(distance, 8 * self.probe.inputs.eps)
            ray = Ray(self.probe.units, (self.seed,), 0, self.probe.x.size)
            points = self.probe.many([(ray, k * distance) for k in range(1, TABLE_POINTS)])
            self.tables.append(np.concatenate([self.probe.here[None], points]))
            self.measured.append(_noise_of(self.tables[-1]))
            self.distances.append(distance)
            if (self.levels[-1] <= self.quiet).all():
                break
        if self.tables and self.probe.evaluations < self.most:
            self.probe.forward()  # if f is random, this is another draw of its noise
        return bool(self.tables)

    def combined(self, probe: Probe) -> "Noise":
        """Return the noise of combinations of the outputs, with no further evaluation."""
        assert probe.mix is not None
        noise = Noise(probe, self.seed, self.most)
        noise.tables, noise.distances = [t @ probe.mix.T for t in self.tables], self.distances
        noise.measured = [_noise_of(table) for table in noise.tables]
        return noise


def _noise_of(table: Array) -> Array:
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
