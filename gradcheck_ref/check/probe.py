"""Calling f at the point and around it, and how noisy it is.

The noise of ``f`` is whatever makes its value jitter: rounding, float32 inside, an iteration that
stops early, a random number. It is measured once, and limits what any slope can be worth.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.structure import Inputs, Outputs
from gradcheck_ref.stage5_adaptive import RATIO, SHORTEST

# Points of the difference table that measures noise, and their distance as a fraction of x. At a
# millionth, the fourth difference of a function that changes on a scale of 1/1000 is below
# rounding, and a float32 inside f still sees every point.
TABLE_POINTS = 7
TABLE_DISTANCE = 2.0**-20
# To see whether f stands still from afar, too: up to a few thousandths of x.
FARTHER = 2.0**10

# For a note: in words, or the input, the flat coordinate within it and how far it was moved.
Where = str | tuple[int, int, float]

# Measured noise above so many times the rounding of f is something else: noise, or a wave.
NOISY = 100.0
# Noise is the same from afar and from nearby. What fades by more than this factor was a wave.
SILENCE = 30.0


class Probe:
    """Calls f at the point and around it, and counts the calls.

    Parameters
    ----------
    f : callable
        The function; it gets fresh copies of the inputs every time.
    inputs : Inputs
        The point.
    seed : int
        For the direction in which noise is measured.
    """

    def __init__(self, f: Callable[..., Any], inputs: Inputs, seed: int) -> None:
        self.f = f
        self.inputs = inputs
        self.evaluations = 0
        values = inputs.copies()
        start = time.perf_counter()
        first = self._call(values, "x", lambda value: value)
        self.seconds = time.perf_counter() - start
        self.mutated = inputs.changed(values)
        self.outputs = Outputs(first, inputs.dtype)
        self.x = inputs.flat(inputs.values)
        self.here = self.outputs.flat(first)
        self.eps = np.maximum(inputs.eps, self.outputs.eps)
        self.floor = 0.3 * self.eps * np.abs(np.nan_to_num(self.here))
        noises, self.distances = self._measure_noise(np.random.default_rng(seed))
        self.nondeterminism = np.zeros(self.here.shape)
        self.forward()
        self.noises = np.maximum(noises, self.nondeterminism)
        self.noise = self.noises[0]
        self.alone = np.full((len(inputs.parts), self.here.size), np.inf)

    def forward(self) -> None:
        """Call f at x once more: a backward pass may use what the last forward pass has kept.

        It shows, too, whether f gives the same value again, and has written to what it was lent.
        """
        values = self.inputs.copies()
        again: Array = self._call(values, "x", self.outputs.flat)
        self.mutated = self.mutated or self.inputs.changed(values)
        moved = np.nan_to_num(np.abs(again - self.here))
        self.nondeterminism = np.maximum(self.nondeterminism, moved)

    def moved(self, i: int, h: float) -> tuple[Array, Any]:
        """Output with flat coordinate ``i`` moved by ``h``, and the place it moved to."""
        k, within = self.inputs.locate(i)
        values = self.inputs.copies(moved=k)
        coordinates = values[k].reshape(-1).view(values[k].real.dtype)
        coordinates[within] += h
        place = coordinates[within]
        return self._call(values, (k, within, h), self.outputs.flat), place

    def can_step(self, i: int, h: float) -> tuple[bool, bool]:
        """Whether the shortest step of a trial moves ``x``, and the longest leaves it finite."""
        k, within = self.inputs.locate(i)
        x = self.inputs.values[k].reshape(-1).view(self.inputs.values[k].real.dtype)[within]
        with np.errstate(over="ignore"):
            moves = h / RATIO**2 >= SHORTEST * np.finfo(x.dtype).eps * abs(x)
            return bool(moves), bool(np.isfinite(abs(x) + h))

    def _call(self, values: list[Any], where: Where, read: Callable[[Any], Any]) -> Any:
        """Call f and read what it returns; an error gets a note of where that was."""
        self.evaluations += 1
        try:
            return read(self.inputs.call(self.f, values))
        except BaseException as error:
            if isinstance(where, tuple):
                k, within, h = where
                where = f"x with {self.inputs.parts[k].entry(within)} moved by {h:+.3g}"
            note = f"in gradcheck_ref, calling f at {where}"
            if isinstance(error, ArithmeticError | ValueError) and where != "x":
                note += "; if f is not defined there, let it return NaN, as np.log and np.sqrt do"
            # A function with optional parameters takes them, so that no signature told before.
            if isinstance(error, TypeError) and self.inputs.only_numbers:
                note += "; inputs holds numbers, each an argument: for one array, pass np.array"
            error.add_note(note)
            raise

    def _measure_noise(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Measure the noise of each output, by difference tables of one to three widths.

        Returns the standard deviations, (tables, outputs), and the widths, (tables, inputs).

        Along a line of equidistant points the differences of a smooth function fall from order to
        order, those of noise do not (Hamming; Moré and Wild, 2011).
        """
        size = np.abs(self.x).astype(float)
        typical = np.median(size[size > 0]) if (size > 0).any() else 1.0
        unit = 2.0 ** np.floor(np.log2(np.where(size > 0, size, typical)))
        # Zeros stay where they are, if there is something else: f may be singular there.
        direction = rng.choice([-1.0, 1.0], size=size.shape) * ((size > 0) | ~size.any())
        self.direction = direction
        noises: list[Array] = []
        distances: list[Array] = []
        self.quiet, unknown = NOISY * self.floor, np.ones(self.floor.shape, bool)
        for bits in (26, 16, 6):
            # So many binary digits as leave x + distance representable, and no fewer: a rounder
            # distance would be rounded alike at all points inside f, and hide that noise.
            digits = np.floor(1.3660254037844386 * 2.0**bits) / 2.0**bits
            closer = digits * 2.0 ** (bits - 26)
            relative = max(TABLE_DISTANCE * closer, 8 * self.inputs.eps)
            distance = relative * unit
            table = self._table(distance * direction)
            self.line = distance * direction, table
            found = _noise_of(table)
            before = noises[-1] if noises else np.full(found.shape, np.inf)
            # Too close, an f with float32 inside stands still, and shows no noise for that reason.
            stands_still = np.mean(np.diff(table, axis=0) == 0, axis=0) > 0.3
            found = np.where((stands_still & np.isfinite(before)) | np.isnan(found), before, found)
            noises.append(found)
            distances.append(distance)
            # Where f is near 0 among its neighbours, it is x that rounds.
            rounds = self.eps * np.abs(table[-1] - table[0]) / relative
            self.quiet = np.where(unknown, NOISY * np.fmax(self.floor, rounds), self.quiet)
            unknown &= np.isnan(rounds)
            # What looks like noise may be an f that turns several times between two points.
            if np.all(found <= self.quiet):
                break
        known = np.array(noises)
        known = np.maximum(np.where(np.isfinite(known), known, 0.0), self.floor)
        return known, np.array(distances)

    def listen_to_each_input(self, claimed: Array, most: int | None) -> None:
        """Where f is noisy as all inputs move, measure the noise along each of them alone.

        One that f compares or rounds, as a label or an index, makes f jump, and is no reason to
        doubt the slopes by the others. Only silence counts: for all else it stays as it was. An f
        that stands still is silent if slopes of 0 are claimed; else its rounding may hide them.

        Cost: 6 or 12 evaluations for each input; none if f is quiet, or random, or if this took
        more than half of ``most``.
        """
        loud = (self.noises[-1] > self.quiet) & (self.nondeterminism == 0)
        cost = 2 * (TABLE_POINTS - 1) * len(self.alone)
        if len(self.alone) == 1 or not loud.any() or (most and self.evaluations + cost > most / 2):
            return
        for number, part in enumerate(self.inputs.parts.values()):
            way = np.zeros(self.x.shape, self.x.dtype)
            way[part.stretch] = (self.distances[0] * self.direction)[part.stretch]
            if not way.any():
                continue
            table = self._table(way)
            moves = (np.diff(table, axis=0) != 0).all(axis=0)
            stands_still = (table == self.here).all(axis=0)
            stands_still &= (claimed[part.stretch] == 0).all(axis=0)
            if (stands_still & loud).any():
                stands_still &= (self._table(FARTHER * way) == self.here).all(axis=0)
            noise = np.maximum(_noise_of(table), self.floor)
            silent = stands_still | (moves & (noise <= self.quiet))
            self.alone[number] = np.where(loud & silent, noise, np.inf)

    def noisy_alone(self, number: int, outputs: slice) -> bool:
        """Whether some output is noisy as this input moves, and silent as another one does."""
        silent = np.isfinite(self.alone[:, outputs])
        return bool((silent.any(axis=0) & ~silent[number]).any())

    def lost(self, slope: Array, rows: Array | slice = np.s_[:]) -> Array:
        """Return what f may be off by if x is rounded before f is computed, given its slopes.

        As it is in ``sin(k x)``, by the product. No noise is measured where the points of a table
        happen to be rounded alike; so this is held against whoever blames a gradient.
        """
        return np.asarray(4 * self.eps * np.abs(self.x[rows])[:, None] * np.abs(slope))

    def noise_at(self, rows: Array, steps: Array) -> Array:
        """Noise that matters for a step: that of the widest table which is not wider than it."""
        fits = self.distances[:, rows] <= steps  # (tables, rows), wide tables first
        table = np.where(fits.any(axis=0), fits.argmax(axis=0), len(self.noises) - 1)
        part = np.searchsorted(self.inputs.starts, rows, side="right") - 1
        return np.asarray(np.minimum(self.noises[table], self.alone[part]))

    def quieter_steps(self, rows: Array, steps: Array) -> Array:
        """Return steps at which f is smooth though it looks noisy at these; 0 if there is none."""
        quieter = np.zeros(len(rows))
        loud = self.noise_at(rows, steps)
        for noise, distances in zip(self.noises[1:], self.distances[1:], strict=True):
            fades = (noise <= np.maximum(loud / SILENCE, 3 * self.floor)).all(axis=1)
            found = fades & (loud > self.quiet).any(axis=1) & (4 * distances[rows] < steps)
            quieter = np.where(found & (quieter == 0), 4 * distances[rows], quieter)
        return quieter

    def _table(self, unit: Array) -> Array:
        table = [self.here]
        for k in range(1, TABLE_POINTS):
            values = self.inputs.unflat(self.x + k * unit)
            with np.errstate(all="ignore"):
                where = "x moved to measure its noise"
                table.append(self._call(values, where, self.outputs.flat))
        return np.array(table)

    def notice_precision(self, samples: Array) -> None:
        """Lower the precision of outputs whose samples are all float32 or float16 numbers."""
        for short in (np.float32, np.float16):
            with np.errstate(all="ignore"):
                fits = ((samples == samples.astype(short)) | np.isnan(samples)).all(axis=0)
            # One and the same value may be a round number by itself.
            fits &= np.fmin.reduce(samples, axis=0) < np.fmax.reduce(samples, axis=0)
            self.eps = np.where(fits, np.maximum(self.eps, np.finfo(short).eps), self.eps)


def _noise_of(table: Array) -> Array:
    """Estimate the noise of each column of values at equidistant points."""
    orders = _difference_table(table)
    falling = (orders[-1] < orders[-2] / 2) & (orders[-2] < orders[-3] / 2)
    # Of the last order there is one difference only, which may be small by chance.
    return np.asarray(np.where(falling, orders[-2], np.median(orders[-4:], axis=0)))


def _difference_table(values: Array) -> Array:
    """Root mean square of the differences of each order, scaled so that white noise gives its own.

    The variance of a k-th difference of noise is (2k choose k) times that of the noise.
    """
    size = np.abs(values).max(axis=0)  # squares of the values themselves might overflow
    values = values / np.where(size > 0, size, 1.0)
    orders = []
    for k in range(1, len(values)):
        values = np.diff(values, axis=0)
        orders.append(size * np.sqrt(np.mean(values * values, axis=0) / math.comb(2 * k, k)))
    return np.array(orders)
