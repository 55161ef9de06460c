"""Lines through the point: an axis moves one coordinate, a random line all of them at once.

Along a line f is a function of one number t, and its slope at 0 is the product of the gradient with
the direction of the line. Steps along an axis are in the unit of the coordinate; along a random
line coordinate i moves by t times its own unit, with a sign of its own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.parts import Part

# Entries of one unit, such as weights, crowd around their median: of normally distributed ones
# 0.5 % are below SMALL times the median. Where more than MOST_SMALL of them are, the entries have
# units of their own, and none may be moved by more than its own size.
SMALL, MOST_SMALL = 1e-2, 0.1

# Coordinates are worked out in pieces of this size, 128 KB each, that stay in the processor's
# cache. And the median of a sample of this size is that of all entries to 1 %: 1 / sqrt(2**14).
PIECE = 2**14


@dataclass(eq=False)
class Axis:
    """The line along which only flat coordinate ``i`` moves."""

    units: "Units"
    i: int

    def __post_init__(self) -> None:
        """Find the coordinate, unless the axis is on its way to another process."""
        if self.units is not None:
            inputs = self.units.inputs
            self.k, self.within = inputs.locate(self.i)
            self.part = inputs.parts[self.k]
            self.x = self.part.real_dtype.type(inputs.x[self.i])
            # A step much longer than x sees another function, and leads to numbers so far apart,
            # relative to x.
            self.size, self.spacing = abs(float(self.x)), self.part.eps

    def taken(self, steps: Array) -> Array:
        """Return how far some steps really move the coordinate."""
        there = self.x + steps.astype(self.x.dtype, copy=False)
        return np.asarray(there.astype(self.units.inputs.dtype, copy=False) - self.x)

    def point(self, t: float) -> list[Any]:
        """Return the inputs with the coordinate moved by t."""
        values = self.units.inputs.copies(moved=self.k)
        flat = values[self.k].ravel()
        if self.part.is_complex:  # as pairs
            flat = flat.view(self.x.dtype)
        flat[self.within] = self.x + t
        return values

    def dot(self, matrix: Array) -> Array:
        """Return the row of a matrix over all coordinates that is this one's."""
        return np.asarray(matrix[self.i])

    def where(self, t: float) -> str:
        """Name the coordinate and the step."""
        return f"x with {self.part.entry(self.within)} moved by {t:+.3g}"

    @property
    def unit(self) -> float:
        """The step by which it moves as little as along a random line, where t is relative."""
        return float(_powers_of_two(np.array([self.size or self.units.typical]))[0])


@dataclass(frozen=True)
class RandomLine:
    """A line along which the coordinates of a stretch move by their units, with signs of their own.

    The signs are those of the seed for all coordinates: two lines of one seed, one over each half
    of a stretch, add up to the line over the stretch.
    """

    units: "Units"
    seed: tuple[int, ...]
    start: int
    stop: int
    moves: Array | None = None  # which of all coordinates move, eight to a byte; None for all
    size = unit = 1.0  # every coordinate moves by its own

    @property
    def spacing(self) -> float:
        """Relative to its size, a coordinate is rounded to so much."""
        return self.units.inputs.eps

    @property
    def direction(self) -> Array:
        """How far the coordinates from start to stop move for t = 1."""
        direction = np.empty(self.stop - self.start, self.units.inputs.dtype)
        for start, stop, piece in self.pieces():
            direction[start - self.start : stop - self.start] = piece
        return direction

    def pieces(self) -> Iterable[tuple[int, int, Array]]:
        """Return the direction in pieces that stay in the processor's cache."""
        return self._kept if self.stop - self.start <= PIECE else self._pieces()

    @cached_property
    def _kept(self) -> list[tuple[int, int, Array]]:
        return list(self._pieces())

    def _pieces(self) -> Iterator[tuple[int, int, Array]]:
        backwards = random_signs(self.seed, self.start, self.stop)
        for start in range(self.start, self.stop, PIECE):
            stop = min(start + PIECE, self.stop)
            piece, signs = self._scale(start, stop), backwards[start - self.start :]
            yield start, stop, np.negative(piece, out=piece, where=signs[: stop - start])

    def _scale(self, start: int, stop: int) -> Array:
        """Return how far each coordinate moves, whichever way."""
        units = self.units.of(start, stop)
        if self.moves is not None:
            units *= unpacked(self.moves, start, stop)
        return units

    def taken(self, steps: Array) -> Array:
        """Return the steps: units are powers of two, so that a short one is never rounded."""
        return steps

    def point(self, t: float) -> list[Any]:
        """Return the inputs a step of t away."""
        point = self.units.inputs.x.copy()
        for start, stop, piece in self.pieces():
            point[start:stop] += t * piece
        return self.units.inputs.moved_parts(point, self.start, self.stop)

    def where(self, t: float) -> str:
        """Name the line and the step."""
        return f"x moved by {t:+.3g} of its size, all coordinates at once"

    def dot(self, matrix: Array) -> Array:
        """Return the product of the direction with the rows of a matrix over all coordinates."""
        pieces = [matrix[start:stop].T @ piece for start, stop, piece in self.pieces()]
        return np.asarray(np.sum(pieces, axis=0))

    def halves(self) -> tuple["RandomLine", "RandomLine"]:
        """Part the line into two, with an entry of two coordinates on one side."""
        inputs, middle = self.units.inputs, (self.start + self.stop) // 2
        inside = [start for start in inputs.starts if self.start < start < self.stop]
        if inside:  # whole inputs first: a mistake is mostly made in one of them
            middle = min(inside, key=lambda start: abs(start - middle))
        else:
            k, within = inputs.locate(middle)
            middle -= within % 2 if inputs.parts[k].is_complex else 0
        return self.over(self.start, middle), self.over(middle, self.stop)

    def over(self, start: int, stop: int) -> "RandomLine":
        """Return the line with the same signs over another stretch."""
        return replace(self, start=start, stop=stop)


class Ray(RandomLine):
    """A line along which noise is measured: coordinates move in proportion to their own sizes.

    Zeros stay where they are, if there is something else: f may be singular there.
    """

    def _scale(self, start: int, stop: int) -> Array:
        x = self.units.inputs.x[start:stop]
        return np.where(x == 0, self.units.of_zeros, _powers_of_two(np.abs(x)))


# A way from x to other points, by one number t.
Way = Axis | RandomLine
Line = Way


class Units:
    """By how much each coordinate moves along a random line: a power of two of about its size.

    A power of two times a short step leads to representable numbers. A zero moves by the typical
    size of its input, and so does what is smaller, where the entries of an input have one unit.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.of_zeros = 0.0 if inputs.x.any() else 1.0  # along a ray

    @cached_property
    def typical(self) -> float:
        """The size of a coordinate that is zero: the median of all that are not."""
        return _median(_sizes(self.inputs.x))

    @cached_property
    def _least(self) -> list[tuple[Part, float, bool]]:
        """The typical size of each input, and whether its entries have units of their own."""
        least = []
        for part in self.inputs.parts.values():
            size = _sizes(self.inputs.x[part.stretch])
            small = np.count_nonzero(size < SMALL * _median(size))
            least.append((part, _median(size), bool(small > MOST_SMALL * size.size)))
        return least

    def of(self, start: int, stop: int) -> Array:
        """Return the units of the coordinates from start to stop, as a new array."""
        units = np.abs(self.inputs.x[start:stop])
        for part, typical, own in self._least:
            a, b = max(part.start - start, 0), part.start + part.size - start
            if a < len(units) and b > 0:
                least = np.where(units[a:b] == 0, typical, 0.0) if own else typical
                np.maximum(units[a:b], least, out=units[a:b])
        return _powers_of_two(units)


def _sizes(x: Array) -> Array:
    """Return the sizes of some coordinates that are not zero: of many a sample."""
    size = np.abs(x[:: max(1, x.size // PIECE)])
    return np.asarray(size[size > 0], float)


def _median(sizes: Array) -> float:
    return float(np.median(sizes)) if sizes.size else 1.0


def _powers_of_two(sizes: Array) -> Array:
    """Round positive numbers down to powers of two, in place where that is possible."""
    if sizes.dtype != np.float64:
        return np.asarray(np.spacing(sizes) / np.finfo(sizes.dtype).eps)
    bits = sizes.view(np.uint64)
    bits &= np.uint64(0x7FF0000000000000)  # the exponent, without which numbers are subnormal
    return np.maximum(sizes, np.finfo(float).tiny, out=sizes)


def random_signs(seed: tuple[int, ...], start: int, stop: int) -> Array:
    """Return whether coordinates from start to stop go backwards: a fair coin for each."""
    return unpacked(_coins(seed, -(-stop // 8)), start, stop)


@lru_cache(maxsize=32)  # one for each line, from check to check
def _coins(seed: tuple[int, ...], count: int) -> Array:
    """Return so many random bytes, to be read only."""
    return np.frombuffer(np.random.default_rng(seed).bytes(count), np.uint8)


def unpacked(bits: Array, start: int, stop: int) -> Array:
    """Return bits from start to stop, of whole bytes, as booleans."""
    first = start // 8
    signs = np.unpackbits(bits[first : -(-stop // 8)]).view(bool)
    return signs[start - 8 * first : stop - 8 * first]


def short_steps(steps: Array, spacings: Array, sizes: Array) -> Array:
    """Round steps so that x + step and x - step are representable where x is of the size of 1.

    Those from 0 are so anyway.
    """
    unit = 8 * spacings
    long = (np.abs(steps) > 2**7 * unit) & (sizes > 0)
    return np.where(long, np.rint(steps / unit) * unit, steps)
