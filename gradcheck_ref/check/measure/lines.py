"""Lines through the point: an axis moves one coordinate, a random line all of them at once.

Along a line f is a function of one number t, and its slope at 0 is the product of the gradient with
the direction of the line. Steps along an axis are in the unit of the coordinate. Along a random
line each coordinate moves by t times its own unit, with a random sign.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.parts import Part

# Entries with a common unit, such as weights, are near their median: of normal ones 0.5 % are below
# SMALL times it. If more than MOST_SMALL are, each entry has its own unit, and moves by its size.
SMALL, MOST_SMALL = 1e-2, 0.1

# Coordinates are computed in pieces of this size, 128 KB, that stay in the processor's cache. Also,
# the median of a sample of this size is within 1 % of that of all entries: 1 / sqrt(2**14).
PIECE = 2**14


@dataclass(eq=False)
class Axis:
    """The line along which only flat coordinate ``i`` moves."""

    units: "Units"
    i: int

    def __post_init__(self) -> None:
        """Find the coordinate, unless this axis is being sent to another process."""
        if self.units is not None:
            inputs = self.units.inputs
            self.k, self.within = inputs.locate(self.i)
            self.part = inputs.parts[self.k]
            self.x = self.part.real_dtype.type(inputs.x[self.i])
            # Steps much longer than size are no evidence for the slope at x. Spacing is the
            # distance between numbers near x, relative to x.
            self.size, self.spacing = abs(float(self.x)), self.part.eps

    def taken(self, steps: Array) -> Array:
        """Return how far the steps move the coordinate after rounding."""
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
        """Return the row for this coordinate from a matrix with a row for each."""
        return np.asarray(matrix[self.i])

    def where(self, t: float) -> str:
        """Name the coordinate and the step."""
        return f"x with {self.part.entry(self.within)} moved by {t:+.3g}"

    @property
    def unit(self) -> float:
        """The step along this axis that moves x as far as t = 1 does along a random line."""
        return float(_powers_of_two(np.array([self.size or self.units.typical]))[0])


@dataclass(frozen=True)
class RandomLine:
    """A line along which a range of coordinates move by their units, with random signs.

    The seed fixes the signs of all coordinates. So two lines with one seed, one over each half of
    a range, add up to the line over the range.
    """

    units: "Units"
    seed: tuple[int, ...]
    start: int
    stop: int
    moves: Array | None = None  # which coordinates move, eight to a byte; None for all
    size = unit = 1.0  # relative to the unit of each coordinate

    @property
    def spacing(self) -> float:
        """The rounding of a coordinate, relative to its size."""
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
        """Return how far each coordinate moves, without its sign."""
        units = self.units.of(start, stop)
        if self.moves is not None:
            units *= unpacked(self.moves, start, stop)
        return units

    def taken(self, steps: Array) -> Array:
        """Return the steps: since units are powers of two, short steps are never rounded."""
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
        """Return the product of the direction with a matrix that has a row for each coordinate."""
        pieces = [matrix[start:stop].T @ piece for start, stop, piece in self.pieces()]
        return np.asarray(np.sum(pieces, axis=0))

    def halves(self) -> tuple["RandomLine", "RandomLine"]:
        """Split the line into two, without splitting a complex entry."""
        inputs, middle = self.units.inputs, (self.start + self.stop) // 2
        inside = [start for start in inputs.starts if self.start < start < self.stop]
        if inside:  # whole inputs first: a mistake is usually in one of them
            middle = min(inside, key=lambda start: abs(start - middle))
        else:
            k, within = inputs.locate(middle)
            middle -= within % 2 if inputs.parts[k].is_complex else 0
        return self.over(self.start, middle), self.over(middle, self.stop)

    def over(self, start: int, stop: int) -> "RandomLine":
        """Return the line with the same signs over another range."""
        return replace(self, start=start, stop=stop)


class Ray(RandomLine):
    """A line along which noise is measured: each coordinate moves in proportion to its size.

    Zeros do not move, unless all coordinates are zero: f may be singular there.
    """

    def _scale(self, start: int, stop: int) -> Array:
        x = self.units.inputs.x[start:stop]
        return np.where(x == 0, self.units.of_zeros, _powers_of_two(np.abs(x)))


# A line through x, along which one number t gives each point.
Way = Axis | RandomLine
Line = Way


class Units:
    """How far each coordinate moves along a random line: a power of two of about its size.

    With a power of two, x plus a short step is representable. A zero moves by the typical size of
    its input. If the entries of the input have a common unit, so does every smaller coordinate.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.of_zeros = 0.0 if inputs.x.any() else 1.0  # along a ray

    @cached_property
    def typical(self) -> float:
        """The size that stands in for a zero: the median of all coordinates that are not zero."""
        return _median(_sizes(self.inputs.x))

    @cached_property
    def _least(self) -> list[tuple[Part, float, bool]]:
        """The typical size of each input, and whether each of its entries has its own unit."""
        least = []
        for part in self.inputs.parts.values():
            size = _sizes(self.inputs.x[part.stretch])
            small = np.count_nonzero(size < SMALL * _median(size))
            least.append((part, _median(size), bool(small > MOST_SMALL * size.size)))
        return least

    def of(self, start: int, stop: int) -> Array:
        """Return the units of the coordinates from start to stop, as a new array."""
        few = self.inputs.x.size <= PIECE
        return self._all[start:stop].copy() if few else self._computed(start, stop)

    @cached_property
    def _all(self) -> Array:
        return self._computed(0, self.inputs.x.size)

    def _computed(self, start: int, stop: int) -> Array:
        units = np.abs(self.inputs.x[start:stop])
        for part, typical, own in self._least:
            a, b = max(part.start - start, 0), part.start + part.size - start
            if a < len(units) and b > 0:
                least = np.where(units[a:b] == 0, typical, 0.0) if own else typical
                np.maximum(units[a:b], least, out=units[a:b])
        return _powers_of_two(units)


def _sizes(x: Array) -> Array:
    """Return the sizes of the coordinates that are not zero, or of a sample if there are many."""
    size = np.abs(x[:: max(1, x.size // PIECE)])
    return np.asarray(size[size > 0], float)


def _median(sizes: Array) -> float:
    return float(np.median(sizes)) if sizes.size else 1.0


def _powers_of_two(sizes: Array) -> Array:
    """Round positive numbers down to powers of two, in place if possible."""
    if sizes.dtype != np.float64:
        return np.asarray(np.spacing(sizes) / np.finfo(sizes.dtype).eps)
    bits = sizes.view(np.uint64)
    bits &= np.uint64(0x7FF0000000000000)  # keep the exponent only; subnormals become 0
    return np.maximum(sizes, np.finfo(float).tiny, out=sizes)


def random_signs(seed: tuple[int, ...], start: int, stop: int) -> Array:
    """Return whether coordinates from start to stop go backwards: a fair coin for each."""
    return unpacked(_coins(seed, -(-stop // 8)), start, stop)


@lru_cache(maxsize=32)  # one for each line, kept for the next check
def _coins(seed: tuple[int, ...], count: int) -> Array:
    """Return random bytes, read-only."""
    return np.frombuffer(np.random.default_rng(seed).bytes(count), np.uint8)


def unpacked(bits: Array, start: int, stop: int) -> Array:
    """Unpack the bits from start to stop of packed bytes, as booleans."""
    first = start // 8
    signs = np.unpackbits(bits[first : -(-stop // 8)]).view(bool)
    return signs[start - 8 * first : stop - 8 * first]


def short_steps(steps: Array, spacings: Array, sizes: Array) -> Array:
    """Round steps so that x + step and x - step are representable if x is of size 1.

    Steps from 0 need no rounding.
    """
    unit = 8 * spacings
    long = (np.abs(steps) > 2**7 * unit) & (sizes > 0)
    return np.where(long, np.rint(steps / unit) * unit, steps)
