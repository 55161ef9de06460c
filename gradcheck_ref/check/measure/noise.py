"""How noisy f is: whatever makes its value jitter, measured once.

Rounding, float32 inside, an iteration that stops early, a random number: noise limits what any
slope can be worth. Along equidistant points the differences of a smooth function fall from order to
order, those of noise do not (Hamming; Moré and Wild, 2011).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Line, Ray

# Points of the difference table that measures noise, and their distance as a fraction of x. At a
# millionth, the fourth difference of a function that changes on a scale of 1/1000 is below
# rounding, and a float32 inside f still sees every point.
TABLE_POINTS = 7
TABLE_DISTANCE = 2.0**-20
# Its columns for the orders 3 to 6, one after the other, as sums of the differences of order 1,
# which are next to exact; the rows at which each begins; and what the squares of white noise of
# variance 1 add up to there: (2k choose k) for each difference of order k.
ORDERS = range(3, TABLE_POINTS)
FROM_FIRST = np.concatenate([np.diff(np.eye(TABLE_POINTS - 1), k - 1, axis=0) for k in ORDERS])
FIRST_ROWS = np.cumsum([0, *(TABLE_POINTS - k for k in ORDERS)])[:-1]
VARIANCES = np.array([[(TABLE_POINTS - k) * math.comb(2 * k, k)] for k in ORDERS])

# Measured noise above so many times the rounding of f is something else: noise, or a wave.
NOISY = 100.0
# A slope that moves f by so many of its roundings is not lost in them.
VISIBLE = 16.0
# Noise is the same from afar and from nearby. What fades by more than this factor was a wave.
SILENCE = 30.0


class Noise:
    """The noise of every output: heard in samples along some lines, or measured by tables.

    Samples that are quiet tell enough. What is not, or is looked at more closely for another
    reason, is measured: by difference tables of one to three widths.

    Parameters
    ----------
    probe : Probe
        Where f is called: 7 to 19 times if the noise is measured.
    seed : int
        For the direction in which it is measured.
    most : float
        Most evaluations of the check, half of them for tables; without any for a table, noise is
        taken for what was heard, and for rounding.
    """

    def __init__(self, probe: Probe, seed: int, most: float = math.inf) -> None:
        self.probe, self.seed, self.most = probe, seed, most
        self.tables: list[Array] = []
        self.ray: Ray  # of the last table
        self.relative: list[float] = []
        self.heard: Array = np.zeros(probe.here.shape)
        self.read()

    def listen(self, draws: Array) -> None:
        """Take over what was heard along some lines, or measure what is loud.

        Parameters
        ----------
        draws : ndarray, shape (lines, outputs)
            One draw of the noise for each line.
        """
        if self.tables:
            return
        largest = draws.max(axis=0, initial=0.0)  # its square might overflow
        share = np.divide(draws, largest, out=np.zeros(draws.shape), where=largest != 0)
        mean = largest * np.sqrt(np.sum(share**2, axis=0) / max(1, len(draws)))
        self.heard = np.maximum(self.heard, mean)
        if (largest <= self.quiet).all():  # NaN is not
            self.read()
        else:
            self.measure()

    def measure(self) -> bool:
        """Measure the noise, unless that is done, and tell whether it is known better now.

        Cost: 7 to 19 evaluations.
        """
        if self.tables:
            return False
        each = TABLE_POINTS - 1
        # So many binary digits as leave x + distance representable, and no fewer: a rounder
        # distance would be rounded alike at all points inside f, and hide that noise.
        for bits in (26, 16, 6):
            spent = each * (len(self.tables) + 1)
            if spent >= self.most // 2 or self.probe.evaluations + each > self.most:
                break
            digits = np.floor(1.3660254037844386 * 2.0**bits) / 2.0**bits
            relative = max(TABLE_DISTANCE * digits * 2.0 ** (bits - 26), 8 * self.probe.inputs.eps)
            self.relative.append(relative)
            self.ray = self._ray(relative, 0, self.probe.x.size)
            self.tables.append(self._table(self.ray))
            self.read()
            # What looks like noise may be an f that turns several times between two points.
            if (self.noises[-1] <= self.quiet).all():
                break
        if not self.tables:
            return False
        if self.probe.evaluations < self.most:
            self.probe.forward()  # of a random f that is another draw of its noise
            self.read()
        return True

    def combined(self, probe: Probe) -> "Noise":
        """Return the noise of combinations of the outputs, with no further evaluation."""
        noise = object.__new__(Noise)
        vars(noise).update(vars(self))
        assert probe.mix is not None
        noise.probe, noise.tables = probe, [table @ probe.mix.T for table in self.tables]
        noise.relative = list(self.relative)
        noise.heard = np.zeros(probe.here.shape)
        noise.read()
        return noise

    def read(self) -> None:
        """Make of the tables what is asked of them: noises (tables, outputs), and their limit."""
        floor = self.probe.floor
        rounds = np.full(floor.shape, np.nan)
        noises: list[Array] = []
        for table, relative in zip(self.tables, self.relative, strict=True):
            found = _noise_of(table)
            if noises:
                before = noises[-1]
                # Too close, an f with float32 inside stands still, and shows no noise for that.
                still = (table[1:] == table[:-1]).sum(axis=0) > 0.3 * (len(table) - 1)
                found = np.where((still & np.isfinite(before)) | np.isnan(found), before, found)
            noises.append(found)
            # Where f is near 0 among its neighbours, it is x that rounds.
            with np.errstate(invalid="ignore"):
                of_x = self.probe.eps * np.abs(table[-1] - table[0]) / relative
            rounds = np.where(np.isnan(rounds), of_x, rounds)
        self.quiet = NOISY * np.fmax(floor, rounds)
        # What moves from afar only, though its slope would have moved it here, goes in stairs.
        self.still = np.zeros(floor.shape, bool)
        if self.tables:
            self.still = (self.tables[0] == self.probe.here).all(axis=0)
        known = np.array(noises or [self.heard])
        known = np.maximum(np.where(np.isfinite(known), known, 0.0), floor)
        self.noises = np.maximum(known, self.probe.nondeterminism)

    @property
    def typical(self) -> float:
        """The noise of the noisiest output."""
        return float(self.noises[0].max(initial=0.0))

    @property
    def restless(self) -> Array:
        """Which outputs are random: other values when called again, or so noisy beside such ones.

        Of a random f an output may come out the same by chance, as where a mask has few entries.
        """
        changed = self.probe.nondeterminism > 0
        return np.asarray(changed | (changed.any() & (self.noises[-1] > self.quiet)))

    def on_a_tread(self, rows: Array, slopes: Array) -> Array:
        """Tell where f stands still nearby though a slope would have moved it, (rows, outputs)."""
        if not self.still.any():
            return np.zeros(slopes.shape, bool)
        ray = replace(self.ray, relative=self.relative[0])
        way = (TABLE_POINTS - 1) * np.abs(ray.direction[rows])[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            moves = np.abs(slopes) * way > VISIBLE * self.probe.eps * np.abs(self.probe.here)
        return np.asarray(self.still & moves)

    def at(self, lines: Sequence[Line], steps: Array) -> Array:
        """Noise that matters for a step: that of the widest table which is not wider than it."""
        if len(self.noises) == 1:
            return np.asarray(self.noises)
        widths = self._widths(lines)
        fits = widths <= steps  # (tables, lines), wide tables first
        table = np.where(fits.any(axis=0), fits.argmax(axis=0), len(self.noises) - 1)
        return np.asarray(self.noises[table])

    def quieter_steps(self, lines: Sequence[Line], steps: Array) -> Array:
        """Return steps at which f is smooth though it looks noisy at these; 0 if there is none."""
        quieter = np.zeros(len(lines))
        if len(self.noises) < 2:
            return quieter
        loud = self.at(lines, steps)
        widths = self._widths(lines)
        for noise, width in zip(self.noises[1:], widths[1:], strict=True):
            fades = (noise <= np.maximum(loud / SILENCE, 3 * self.probe.floor)).all(axis=1)
            found = fades & (loud > self.quiet).any(axis=1) & (4 * width < steps)
            quieter = np.where(found & (quieter == 0), 4 * width, quieter)
        return quieter

    def _widths(self, lines: Sequence[Line]) -> Array:
        relative = np.array(self.relative or [math.inf])
        return np.array([line.widths(relative) for line in lines]).T

    def everything_moves(self, ways: int) -> Iterator[tuple[Array, tuple[Array, ...]]]:
        """Yield directions that move all coordinates, and f here, one and two points on.

        The first is that of the closest table; each other one costs 2 evaluations.
        """
        ray = self.ray
        yield ray.direction, tuple(self.tables[-1][:3])
        for way in range(1, ways):
            other = replace(ray, seed=(self.seed, way))
            next_to, beyond = self.probe.many([(other, 1.0), (other, 2.0)])
            yield other.direction, (self.probe.here, next_to, beyond)

    def _ray(self, relative: float, start: int, stop: int) -> Ray:
        return Ray(self.probe.units, (self.seed,), start, stop, relative)

    def _table(self, ray: Ray) -> Array:
        points = self.probe.many([(ray, float(k)) for k in range(1, TABLE_POINTS)])
        return np.concatenate([self.probe.here[None], points])


def _noise_of(table: Array) -> Array:
    """Estimate the noise of each column of values at equidistant points.

    That is the root mean square of the differences of an order, scaled so that white noise gives
    its own.
    """
    with np.errstate(all="ignore"):
        size = np.abs(table).max(axis=0)  # squares of the values themselves might overflow
        scaled = table / np.where(size > 0, size, 1.0)
        squares = (FROM_FIRST @ (scaled[1:] - scaled[:-1])) ** 2
        orders = size * np.sqrt(np.add.reduceat(squares, FIRST_ROWS, axis=0) / VARIANCES)
        _, fourth, fifth, sixth = orders
        falling = (sixth < fifth / 2) & (fifth < fourth / 2)
        # Of the last order there is one difference only, which may be small by chance.
        _, low, high, _ = np.sort(orders, axis=0)
        return np.asarray(np.where(falling, fifth, (low + high) / 2))
