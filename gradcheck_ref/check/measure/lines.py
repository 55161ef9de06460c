"""Lines through the point: an axis moves one coordinate, a random line all of them at once.

Along a line f is a function of one number t, and its slope at 0 is the product of the gradient with
the direction of the line. Steps along an axis are in the unit of the coordinate; along a random
line coordinate i moves by t times its own unit, with a sign of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure import Inputs

# Entries of one unit, such as weights, crowd around their median; where so many are a hundred times
# smaller, they have units of their own, and none may be moved by more than its own size.
SMALL, MOST_SMALL = 1e-2, 0.1

# The median of so many entries is the median of all of them, to a few percent.
SAMPLE = 2**14


# So many coordinates are worked out at a time: what they take stays in the processor's cache.
PIECE = 2**15


class Line(Protocol):
    """What measuring needs to know of a way through x."""

    @property
    def size(self) -> float:
        """How far x is along it: a step much longer than this sees another function."""
        ...

    @property
    def spacing(self) -> float:
        """How far apart, relative to that, the numbers are that a step can lead to."""
        ...

    def point(self, t: float) -> tuple[list[Any], float]:
        """Return the inputs a step of t away, and the step that was really taken."""
        ...

    def where(self, t: float) -> str:
        """Say where that is."""
        ...

    def widths(self, relative: Array, units: "Units") -> Array:
        """Return how far points are apart, along this line, that are so far apart in units of x."""
        ...


@dataclass(frozen=True)
class Axis:
    """The line along which only flat coordinate ``i`` moves."""

    inputs: Inputs
    i: int

    @cached_property
    def _place(self) -> tuple[int, int, Any]:
        k, within = self.inputs.locate(self.i)
        values = self.inputs.values[k]
        return k, within, values.reshape(-1).view(values.real.dtype)[within]

    @property
    def size(self) -> float:
        """The absolute value of the coordinate."""
        return abs(float(self._place[2]))

    @cached_property
    def spacing(self) -> float:
        """What it is rounded to, relative to its size."""
        return float(np.finfo(self._place[2].dtype).eps)

    def point(self, t: float) -> tuple[list[Any], float]:
        """Return the inputs with the coordinate moved by t, and how far it really moved."""
        k, within, x = self._place
        if x != 0:  # then both sides are equally far away
            t = _short_number(t, self.spacing)
        values = self.inputs.copies(moved=k)
        coordinates = values[k].reshape(-1).view(values[k].real.dtype)
        coordinates[within] += t
        return values, self.inputs.dtype.type(coordinates[within]) - self.inputs.dtype.type(x)

    def where(self, t: float) -> str:
        """Name the coordinate and the step."""
        k, within, _ = self._place
        return f"x with {self.inputs.parts[k].entry(within)} moved by {t:+.3g}"

    def widths(self, relative: Array, units: "Units") -> Array:
        """Return these widths in the unit of the coordinate."""
        return np.asarray(relative * float(units.sizes(self.i, self.i + 1)[0]))


@dataclass(frozen=True)
class RandomLine:
    """A line along which the coordinates from start to stop move, each by its own unit.

    The signs are those of ``number`` for all coordinates: two lines of one number, one over each
    half of a stretch, add up to the line over the stretch.
    """

    inputs: Inputs
    units: "Units"
    seed: int
    number: int
    start: int
    stop: int
    moves: Array | None = None  # which of all coordinates move; None for all

    @property
    def size(self) -> float:
        """All coordinates move by their own sizes."""
        return 1.0

    @property
    def spacing(self) -> float:
        """Relative to its size, a coordinate is rounded to so much."""
        return self.inputs.eps

    @property
    def direction(self) -> Array:
        """How far the coordinates from start to stop move for t = 1."""
        direction = np.empty(self.stop - self.start, self.inputs.dtype)
        for start, stop, piece in self._pieces():
            direction[start - self.start : stop - self.start] = piece
        return direction

    def dot(self, matrix: Array) -> Array:
        """Return the product of the direction with the rows of a matrix over all coordinates."""
        pieces = [matrix[start:stop].T @ piece for start, stop, piece in self._pieces()]
        return np.asarray(np.sum(pieces, axis=0))

    def point(self, t: float) -> tuple[list[Any], float]:
        """Return the inputs a step of t away; units and steps are such that no step is rounded."""
        t = _short_number(t, self.spacing)
        point = self.inputs.x.copy()
        for start, stop, piece in self._pieces():
            piece *= t
            point[start:stop] += piece
        return self.inputs.moved_parts(point, self.start, self.stop), t

    def _pieces(self) -> Iterator[tuple[int, int, Array]]:
        """Yield the direction in pieces that stay in the processor's cache."""
        backwards = random_signs((self.seed, self.number), self.start, self.stop)
        for start in range(self.start, self.stop, PIECE):
            stop = min(start + PIECE, self.stop)
            piece = self.units.of(start, stop)
            piece *= 1 - 2 * backwards[start - self.start : stop - self.start].view(np.int8)
            if self.moves is not None:
                piece *= self.moves[start:stop]
            yield start, stop, piece

    def where(self, t: float) -> str:
        """Name the line and the step."""
        return f"x moved by {t:+.3g} of its size, all coordinates at once"

    def widths(self, relative: Array, units: "Units") -> Array:
        """Return the widths themselves."""
        return relative

    def halves(self) -> tuple["RandomLine", "RandomLine"]:
        """Part the line into two, with an entry of two coordinates on one side."""
        middle = (self.start + self.stop) // 2
        parts = list(self.inputs.parts.values())
        inside = [p.start for p in parts if self.start < p.start < self.stop]
        if inside:  # whole inputs first: a mistake is mostly made in one of them
            middle = min(inside, key=lambda start: abs(start - middle))
        else:
            part = next(p for p in parts if p.start <= self.start < p.start + p.size)
            middle -= (middle - part.start) % 2 if part.is_complex else 0
        return self.over(self.start, middle), self.over(middle, self.stop)

    def over(self, start: int, stop: int) -> "RandomLine":
        """Return the line with the same signs over another stretch."""
        return RandomLine(self.inputs, self.units, self.seed, self.number, start, stop, self.moves)


class Units:
    """By how much each coordinate moves along a random line: a power of two of about its size.

    A power of two times a short step leads to representable numbers. A zero moves by the typical
    size of its input, and so does what is smaller, where the entries of an input have one unit.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.least = []
        for part in inputs.parts.values():
            size = np.abs(inputs.x[part.stretch][:: max(1, part.size // SAMPLE)])
            size = size[size > 0].astype(float)
            typical = float(np.median(size)) if size.size else 1.0
            own = size.size and np.mean(size < SMALL * typical) > MOST_SMALL
            self.least.append((typical, bool(own)))
        size = np.abs(inputs.x[:: max(1, inputs.size // SAMPLE)])
        size = size[size > 0].astype(float)
        self.typical = float(np.median(size)) if size.size else 1.0

    def of(self, start: int, stop: int) -> Array:
        """Return the units of the coordinates from start to stop, as a new array."""
        units = np.abs(self.inputs.x[start:stop])
        for part, (typical, own) in zip(self.inputs.parts.values(), self.least, strict=True):
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
        sizes[sizes == 0] = self.typical
        return _powers_of_two(sizes)


def random_signs(seed: tuple[int, ...], start: int, stop: int) -> Array:
    """Return whether coordinates from start to stop go backwards: a fair coin for each."""
    first, last = start // 8, -(-stop // 8)
    bits = np.frombuffer(np.random.default_rng(seed).bytes(last), np.uint8)[first:]
    return np.unpackbits(bits)[start - 8 * first : stop - 8 * first].view(bool)


def _powers_of_two(sizes: Array) -> Array:
    """Round positive numbers down to powers of two, in place where that is possible."""
    if sizes.dtype == np.float64:
        bits = sizes.view(np.uint64)
        np.bitwise_and(bits, np.uint64(0x7FF0000000000000), out=bits)
        sizes[sizes == 0] = np.finfo(float).tiny  # what was subnormal
        return sizes
    _, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(np.ones(sizes.shape, sizes.dtype), exponents - 1))


def _short_number(t: float, spacing: float) -> float:
    """Round a step so that x + step is representable where x is of the size of 1."""
    return float(np.rint(t / (8 * spacing)) * 8 * spacing) if abs(t) > 2**10 * spacing else t
