"""Lines through the point: an axis moves one coordinate, a random line all of them at once.

Along a line f is a function of one number t, and its slope at 0 is the product of the gradient with
the direction of the line. Steps along an axis are in the unit of the coordinate; along a random
line coordinate i moves by t times its own unit, with a sign of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure import Inputs

# Entries of one unit, such as weights, crowd around their median: of normally distributed ones
# 0.5 % are below SMALL times the median. Where more than MOST_SMALL of them are, the entries have
# units of their own, and none may be moved by more than its own size.
SMALL, MOST_SMALL = 1e-2, 0.1

# Coordinates are worked out in pieces of this size, 128 KB each, that stay in the processor's
# cache. And the median of a sample of this size is that of all entries to 1 %: 1 / sqrt(2**14).
PIECE = 2**14


@dataclass(frozen=True)
class Axis:
    """The line along which only flat coordinate ``i`` moves."""

    units: "Units"
    i: int

    @cached_property
    def _place(self) -> tuple[int, int, Any]:
        inputs = self.units.inputs
        k, within = inputs.locate(self.i)
        return k, within, inputs.parts[k].real_dtype.type(inputs.x[self.i])

    @property
    def size(self) -> float:
        """How far x is along it: a step much longer than this sees another function."""
        return abs(float(self._place[2]))

    @property
    def spacing(self) -> float:
        """How far apart, relative to x, the numbers are that a step can lead to."""
        return float(np.finfo(self._place[2].dtype).eps)

    def taken(self, steps: Array) -> Array:
        """Return how far some steps really move the coordinate."""
        x = self._place[2]
        there = x + steps.astype(x.dtype)
        return np.asarray(there.astype(self.units.inputs.dtype) - x)

    def point(self, t: float) -> list[Any]:
        """Return the inputs with the coordinate moved by t."""
        k, within, x = self._place
        values = self.units.inputs.copies(moved=k)
        flat = values[k].ravel()
        if flat.dtype.kind == "c":  # complex numbers, as pairs
            flat = flat.view(flat.real.dtype)
        flat[within] = x + t
        return values

    def where(self, t: float) -> str:
        """Name the coordinate and the step."""
        k, within, _ = self._place
        return f"x with {self.units.inputs.parts[k].entry(within)} moved by {t:+.3g}"

    def widths(self, relative: Array) -> Array:
        """Return how far points are apart that are so far apart in units of x."""
        return np.asarray(relative * float(self.units.sizes(self.i, self.i + 1)[0]))


@dataclass(frozen=True)
class Stretch:
    """What all ways have in common along which the coordinates from start to stop move at once."""

    units: "Units"
    seed: tuple[int, ...]
    start: int
    stop: int

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

    def taken(self, steps: Array) -> Array:
        """Return the steps: units are powers of two, so that a short one is never rounded."""
        return steps

    def point(self, t: float) -> list[Any]:
        """Return the inputs a step of t away."""
        inputs = self.units.inputs
        point = inputs.x.copy()
        for start, stop, piece in self.pieces():
            point[start:stop] += t * piece
        return inputs.moved_parts(point, self.start, self.stop)

    def pieces(self) -> Iterator[tuple[int, int, Array]]:
        """Yield the direction in pieces that stay in the processor's cache."""
        if self.stop - self.start <= PIECE:
            yield self._only_piece
        else:
            yield from self._pieces()

    @cached_property
    def _only_piece(self) -> tuple[int, int, Array]:
        return next(self._pieces())

    def _pieces(self) -> Iterator[tuple[int, int, Array]]:
        backwards = random_signs(self.seed, self.start, self.stop)
        for start in range(self.start, max(self.stop, self.start + 1), PIECE):
            stop = min(start + PIECE, self.stop)
            piece, signs = self._scale(start, stop), backwards[start - self.start :]
            yield start, stop, np.negative(piece, out=piece, where=signs[: stop - start])

    def _scale(self, start: int, stop: int) -> Array:
        """Return how far each coordinate moves, whichever way."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ray(Stretch):
    """A way along which noise is measured: coordinates move in proportion to their own sizes.

    Zeros stay where they are, if there is something else: f may be singular there.
    """

    relative: float  # how far they move for t = 1, as a share of their sizes

    def where(self, t: float) -> str:
        """Say what it is for."""
        return "x moved to measure its noise"

    def _scale(self, start: int, stop: int) -> Array:
        sizes = self.units.sizes(start, stop)
        sizes *= self.relative
        if not self.units.all_zero:
            sizes[self.units.inputs.x[start:stop] == 0] = 0.0
        return sizes


@dataclass(frozen=True)
class RandomLine(Stretch):
    """A line along which every coordinate moves by its own unit, with a sign of its own.

    The signs are those of the seed for all coordinates: two lines of one seed, one over each half
    of a stretch, add up to the line over the stretch.
    """

    moves: Array | None = None  # which of all coordinates move, eight to a byte; None for all

    @property
    def size(self) -> float:
        """All coordinates move by their own sizes."""
        return 1.0

    def dot(self, matrix: Array) -> Array:
        """Return the product of the direction with the rows of a matrix over all coordinates."""
        pieces = [matrix[start:stop].T @ piece for start, stop, piece in self.pieces()]
        return np.asarray(np.sum(pieces, axis=0))

    def where(self, t: float) -> str:
        """Name the line and the step."""
        return f"x moved by {t:+.3g} of its size, all coordinates at once"

    def widths(self, relative: Array) -> Array:
        """Return the widths themselves."""
        return relative

    def halves(self) -> tuple["RandomLine", "RandomLine"]:
        """Part the line into two, with an entry of two coordinates on one side."""
        middle = (self.start + self.stop) // 2
        parts = list(self.units.inputs.parts.values())
        inside = [p.start for p in parts if self.start < p.start < self.stop]
        if inside:  # whole inputs first: a mistake is mostly made in one of them
            middle = min(inside, key=lambda start: abs(start - middle))
        else:
            part = next(p for p in parts if p.start <= self.start < p.start + p.size)
            middle -= (middle - part.start) % 2 if part.is_complex else 0
        return self.over(self.start, middle), self.over(middle, self.stop)

    def over(self, start: int, stop: int) -> "RandomLine":
        """Return the line with the same signs over another stretch."""
        return replace(self, start=start, stop=stop)

    def _scale(self, start: int, stop: int) -> Array:
        units = self.units.of(start, stop)
        if self.moves is not None:
            units *= unpacked(self.moves, start, stop)
        return units


# A way from x to other points, by one number t; and one along which f has a slope to measure.
Way = Axis | Ray | RandomLine
Line = Axis | RandomLine


class Units:
    """By how much each coordinate moves along a random line: a power of two of about its size.

    A power of two times a short step leads to representable numbers. A zero moves by the typical
    size of its input, and so does what is smaller, where the entries of an input have one unit.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.all_zero = not inputs.x.any()

    @cached_property
    def typical(self) -> float:
        """The size of a coordinate that is zero: the median of all that are not."""
        return _median(_sizes(self.inputs.x))

    @cached_property
    def _least(self) -> list[tuple[float, bool]]:
        """For each input its typical size, and whether its entries have units of their own."""
        least = []
        for part in self.inputs.parts.values():
            size = _sizes(self.inputs.x[part.stretch])
            typical = _median(size)
            own = size.size and np.mean(size < SMALL * typical) > MOST_SMALL
            least.append((typical, bool(own)))
        return least

    def of(self, start: int, stop: int) -> Array:
        """Return the units of the coordinates from start to stop, as a new array."""
        units = np.abs(self.inputs.x[start:stop])
        for part, (typical, own) in zip(self.inputs.parts.values(), self._least, strict=True):
            a, b = max(start, part.start), min(stop, part.start + part.size)
            if a < b:
                piece = units[a - start : b - start]
                if own:
                    piece[piece == 0] = typical
                else:
                    np.maximum(piece, typical, out=piece)
        return _powers_of_two(units)

    def sizes(self, start: int, stop: int) -> Array:
        """Return the coordinates' own sizes, however small; for zeros the typical one."""
        sizes = np.abs(self.inputs.x[start:stop])
        zero = sizes == 0
        if zero.any():
            sizes[zero] = self.typical
        return _powers_of_two(sizes)


def _sizes(x: Array) -> Array:
    """Return the sizes of some coordinates that are not zero: of many a sample."""
    size = np.abs(x[:: max(1, x.size // PIECE)])
    return np.asarray(size[size > 0], float)


def _median(sizes: Array) -> float:
    return float(np.median(sizes)) if sizes.size else 1.0


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
    return np.unpackbits(bits[first : -(-stop // 8)])[start - 8 * first : stop - 8 * first].view(
        bool
    )


def _powers_of_two(sizes: Array) -> Array:
    """Round positive numbers down to powers of two, in place where that is possible."""
    if sizes.dtype == np.float64:
        bits = sizes.view(np.uint64)
        np.bitwise_and(bits, np.uint64(0x7FF0000000000000), out=bits)
        sizes[sizes == 0] = np.finfo(float).tiny  # what was subnormal
        return sizes
    _, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(np.ones(sizes.shape, sizes.dtype), exponents - 1))


def short_steps(steps: Array, spacings: Array, sizes: Array) -> Array:
    """Round steps so that x + step and x - step are representable where x is of the size of 1.

    Those from 0 are so anyway.
    """
    unit = 8 * spacings
    long = (np.abs(steps) > 2**7 * unit) & (sizes > 0)
    return np.where(long, np.rint(steps / unit) * unit, steps)
