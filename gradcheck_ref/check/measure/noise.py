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
from gradcheck_ref.check.measure.lines import Axis, Line, Ray

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
# To see whether f stands still from afar, too: up to a few thousandths of x.
FARTHER = 2.0**10

# Measured noise above so many times the rounding of f is something else: noise, or a wave.
NOISY = 100.0
# A slope that moves f by so many of its roundings is not lost in them.
VISIBLE = 16.0
# Noise is the same from afar and from nearby. What fades by more than this factor was a wave.
SILENCE = 30.0


class Noise:
    """The noise of every output, by difference tables of one to three widths.

    Parameters
    ----------
    probe : Probe
        Where f is called, 6 to 18 times.
    seed : int
        For the direction in which it is measured.
    most : float
        Most evaluations in all; without any for a table, noise is taken for rounding.
    """

    def __init__(self, probe: Probe, seed: int, most: float = math.inf) -> None:
        self.probe, self.seed = probe, seed
        self.tables: list[Array] = []
        self.ray: Ray  # of the last table
        self.relative: list[float] = []
        # So many binary digits as leave x + distance representable, and no fewer: a rounder
        # distance would be rounded alike at all points inside f, and hide that noise.
        for bits in (26, 16, 6):
            if probe.evaluations + TABLE_POINTS - 1 > most:
                break
            digits = np.floor(1.3660254037844386 * 2.0**bits) / 2.0**bits
            relative = max(TABLE_DISTANCE * digits * 2.0 ** (bits - 26), 8 * probe.inputs.eps)
            self.relative.append(relative)
            self.ray = self._ray(relative, 0, probe.x.size)
            self.tables.append(self._table(self.ray))
            self.read()
            # What looks like noise may be an f that turns several times between two points.
            if (self.noises[-1] <= self.quiet).all():
                break
        if not self.tables:
            self.read()
        # For each input and output, where f was listened to and is silent; infinity elsewhere.
        self.alone: Array | None = None

    def combined(self, probe: Probe) -> "Noise":
        """Return the noise of combinations of the outputs, with no further evaluation."""
        noise = object.__new__(Noise)
        vars(noise).update(vars(self))
        assert probe.mix is not None
        noise.probe, noise.tables = probe, [table @ probe.mix.T for table in self.tables]
        noise.read()
        noise.alone = None
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
        known = np.array(noises or [floor])
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

    def listen_to_each_input(self, claimed: Array, affordable: float) -> None:
        """Where f is noisy as all inputs move, measure the noise along each of them alone.

        One that f compares or rounds, as a label or an index, makes f jump, and is no reason to
        doubt the slopes by the others. Only silence counts: for all else it stays as it was. An f
        that stands still is silent if slopes of 0 are claimed; else its rounding may hide them.

        Cost: 6 or 12 evaluations for each input; none if f is quiet, or random, or if that is more
        than is affordable.
        """
        parts = self.probe.inputs.parts.values()
        if len(parts) == 1 or 2 * (TABLE_POINTS - 1) * len(parts) > affordable or not self.tables:
            return
        loud = (self.noises[-1] > self.quiet) & (self.probe.nondeterminism == 0)
        if not loud.any():
            return
        self.alone = np.full((len(parts), loud.size), np.inf)
        for number, part in enumerate(parts):
            ray = self._ray(self.relative[0], part.start, part.start + part.size)
            if not part.size or not ray.direction.any():
                continue
            table = self._table(ray)
            moves = (np.diff(table, axis=0) != 0).all(axis=0)
            stands_still = (table == self.probe.here).all(axis=0)
            stands_still &= (claimed[part.stretch] == 0).all(axis=0)
            if (stands_still & loud).any():
                farther = self._table(replace(ray, relative=FARTHER * ray.relative))
                stands_still &= (farther == self.probe.here).all(axis=0)
            noise = np.maximum(_noise_of(table), self.probe.floor)
            silent = stands_still | (moves & (noise <= self.quiet))
            self.alone[number] = np.where(loud & silent, noise, np.inf)

    def noisy_alone(self, number: int, outputs: slice) -> bool:
        """Whether some output is noisy as this input moves, and silent as another one does."""
        if self.alone is None:
            return False
        silent = np.isfinite(self.alone[:, outputs])
        return bool((silent.any(axis=0) & ~silent[number]).any())

    def at(self, lines: Sequence[Line], steps: Array) -> Array:
        """Noise that matters for a step: that of the widest table which is not wider than it."""
        if len(self.noises) == 1:
            return np.asarray(np.minimum(self.noises, self._alone(lines)))
        widths = self._widths(lines)
        fits = widths <= steps  # (tables, lines), wide tables first
        table = np.where(fits.any(axis=0), fits.argmax(axis=0), len(self.noises) - 1)
        return np.asarray(np.minimum(self.noises[table], self._alone(lines)))

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

    def _alone(self, lines: Sequence[Line]) -> Array | float:
        starts = self.probe.inputs.starts
        if self.alone is None:
            return np.inf
        quiet = np.full((len(lines), self.alone.shape[1]), np.inf)
        for row, line in enumerate(lines):
            if isinstance(line, Axis):
                quiet[row] = self.alone[np.searchsorted(starts, line.i, side="right") - 1]
        return quiet

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
