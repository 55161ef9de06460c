"""How noisy f is, and how finely its values are divided.

Rounding, float32 inside, an iteration that stops early, a random number: noise limits what any
slope can be worth. Along equidistant points the differences of a smooth function fall from order to
order, those of noise do not (Hamming; Moré and Wild, 2011).
"""

import math
from collections.abc import Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.decimals import last_digit
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Line, Ray

# A difference table has seven points, x among them, which are about a millionth of x apart: there
# the fourth difference of a function that changes on a scale of 1/1000 is below rounding, and a
# float32 inside f still sees every point. The distance has as many binary digits as leave x and it
# without rounding, and no fewer: a rounder one would be rounded alike at all points. What looks
# like noise may be an f that turns between two points: then a second table is a thousand times
# closer.
TABLE_POINTS = 7
DISTANCES = 91672413 * 2.0**-46, 89523 * 2.0**-46

# Two draws of noise are both a thousand times smaller than its standard deviation once in a million
# times. A line whose samples are that quiet has none of the noise that was measured as all
# coordinates moved.
QUIETER = 1e3

# Noise is the same from afar and from nearby. What fades by more than this is a feature of f.
FADES = 30.0

# Noise above this many roundings of f is more than rounding: it is measured, and reported as noise.
NOISY = 100.0

# Values in equal steps were rounded if they have three digits or more; else they are a count.
DIGITS = 100.0
# A step between values is looked for that is longer than COARSE roundings of f
# (2e-10 of it). Movements of up to MANY steps must be whole multiples of it to WHOLE of a step;
# four different multiples show it. So many values are kept for that.
COARSE, MANY, WHOLE, LEVELS, KEPT = 2.0**20, 100.0, 1e-2, 4, 2**16

# What is not known is NaN or infinity, and goes through the formulas as such.
QUIETLY = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Noise:
    """The noise of every output: observed in samples along lines, or measured by a table.

    Parameters
    ----------
    probe : Probe
        Where f is called; 7 times if the noise is measured.
    seed : int
        For the direction in which it is measured.
    most : float
        Most evaluations of the check. Without any left, noise is what was observed, and rounding.

    Attributes
    ----------
    resolution : ndarray, shape (outputs,)
        The step between the values of an output, where all are whole multiples of one; else 0.
    moved : ndarray of bool, shape (outputs,)
        Which outputs have ever had another value than at x.
    """

    def __init__(self, probe: Probe, seed: int, most: float = math.inf) -> None:
        self.probe, self.seed, self.most = probe, seed, most
        self.tables: list[Array] = []
        self.measured: list[Array] = []  # the noise in each
        self.distances: list[float] = []  # of the points of each, in units of x
        self.observed = np.zeros(probe.here.shape)
        self.resolution = np.zeros(probe.here.shape)
        self.moved = np.zeros(probe.here.shape, bool)
        self._seen: list[Array] = []

    @property
    def quiet(self) -> Array:
        """Up to which size noise is taken for rounding: that of f, or where f is near 0, of x."""
        floor = self.probe.floor
        if self.tables:
            with np.errstate(all="ignore"):
                moved = np.abs(self.tables[0][-1] - self.tables[0][0]) / self.distances[0]
            floor = np.fmax(floor, self.probe.eps * moved)
        return NOISY * floor

    @property
    def levels(self) -> Array:
        """The standard deviation of the noise as each table shows it, (tables, outputs)."""
        known = np.array(self.measured or [self.observed])
        if len(known) > 1:  # too close, a float32 inside f stands still, and shows no noise
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
        """Which outputs are random: other values when called again, or so noisy beside such ones.

        Of a random f an output may come out the same by chance, as where a mask has few entries.
        """
        changed = self.probe.nondeterminism > 0
        return np.asarray(changed | (changed.any() & (self.levels[-1] > self.quiet)))

    def see(self, values: Array) -> None:
        """Notice from new values with how many digits f computes, and whether it ever moves."""
        values = values.reshape(math.prod(values.shape[:-1]), self.probe.here.size)
        self.probe.notice_precision(values)
        self.moved |= (np.isfinite(values) & (values != self.probe.here)).any(axis=0)
        if sum(kept.size for kept in self._seen) < KEPT:
            self._seen.append(values)

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype, but enough to be no count."""
        digits = DIGITS * self.resolution <= np.abs(self.probe.here)
        in_steps = np.where(self.resolution > 0, digits & self.moved, self.probe.rounded)
        return np.asarray(in_steps)

    def find_resolution(self) -> None:
        """Find the step of which all values seen so far are whole multiples, if there is one.

        That is Euclid's algorithm: the least remainder takes the place of the step. Of an f that
        hardly moved it is the least movement, if its values have few digits; if it never did, the
        last digit.
        """
        here, seen = self.probe.here, np.concatenate(self._seen)
        seen = np.where(np.isfinite(seen), seen, here)
        moves = np.abs(seen - here)
        rounding = np.finfo(moves.dtype).eps * np.fmax(np.abs(here), moves.max(axis=0))
        rounds = ((moves > 0) & (moves <= COARSE * rounding)).any(axis=0)  # f has all its digits
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
        if digit := last_digit(seen):  # no output has more digits
            hardly = ~several & ~rounds & (levels < LEVELS)
            self.resolution[hardly] = np.where(step < np.inf, step, digit)[hardly]

    def along(self, lines: Sequence[Line], steps: Array, jumps: Array, draws: Array) -> Array:
        """Return the noise that counts along some lines, (lines, outputs).

        Parameters
        ----------
        lines : sequence of Line
            The lines.
        steps : ndarray, shape (lines,)
            How far f was sampled.
        jumps, draws : ndarray, shape (lines, outputs)
            What noise would be if all that the samples of a line show of a jump were noise, and the
            same for all they disagree by.
        """
        if not self.tables:
            largest = jumps.max(axis=0, initial=0.0)
            if not (largest <= self.quiet).all() and self.measure():
                return self.along(lines, steps, jumps, draws)
            share = np.divide(jumps, largest, out=np.zeros(jumps.shape), where=largest != 0)
            mean = largest * np.sqrt(np.sum(share**2, axis=0) / max(1, len(jumps)))
            self.observed = np.fmax(self.observed, mean)
            # One line may be noisier than most, and noise that is alike on both sides has no jump.
            return np.fmax(self.levels, draws)
        levels = self.levels
        level = levels[0]
        if len(levels) > 1:  # that of the widest table which is not wider than the step
            widths = self.distances[0] * np.array([line.unit for line in lines])
            level = np.where((widths <= steps)[:, None], levels[0], levels[1])
        return np.where((draws > 0) & (QUIETER * draws < level), draws, level)

    def quieter(self, line: Line) -> float:
        """Return a step along a line that is short enough for what looks like noise; 0 for none."""
        if len(self.tables) < 2:
            return 0.0
        far, near = self.levels
        fades = (FADES * near <= far) & (far > self.quiet)
        return 4 * self.distances[1] * line.unit if fades.any() else 0.0

    def measure(self) -> bool:
        """Measure the noise, unless that is done, and tell whether it is known better now.

        Cost: 7 evaluations, 13 if it is loud.
        """
        if self.tables:
            return False
        for distance in DISTANCES:
            cost = TABLE_POINTS - 1
            # Half of few evaluations are for slopes.
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
            self.probe.forward()  # of a random f that is another draw of its noise
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

    That is the root mean square of the differences of an order, scaled so that white noise gives
    its own: the squares of those of order k add up to (2k choose k) variances.
    """
    with np.errstate(all="ignore"):
        size = np.abs(table).max(axis=0)  # squares of the values themselves might overflow
        differences = np.diff(table / np.where(size > 0, size, 1.0), 2, axis=0)
        orders = []
        for k in range(3, TABLE_POINTS):
            differences = np.diff(differences, axis=0)
            orders.append(size * np.sqrt(np.mean(differences**2, axis=0) / math.comb(2 * k, k)))
        _, fourth, fifth, sixth = orders
        falling = (sixth < fifth / 2) & (fifth < fourth / 2)
        # Of the last order there is one difference only, which may be small by chance.
        _, low, high, _ = np.sort(orders, axis=0)
        return np.asarray(np.where(falling, fifth, (low + high) / 2))
