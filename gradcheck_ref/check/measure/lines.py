"""Lines through the point: an axis moves one coordinate, a random line all of them at once.

Along a line f is a function of one number t, and its slope at 0 is the product of the gradient with
the direction of the line. Steps along an axis are in the unit of the coordinate. Along a random
line each coordinate moves by t times its own unit, with a random sign.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.parts import Part
from gradcheck_ref.structure.units import lengthened, powers_of_two, shortened

# A direction is computed in pieces of this size, 64 KB, that stay in the processor's cache. From
# 10,000 numbers on, BLAS shares a product among threads, which wait for each other where the
# machine is busy.
STRETCH = 2**13


@dataclass(eq=False)
class Line:
    """The points ``x + t * direction``, where only the coordinates from start to stop move.

    The seed fixes the signs of all coordinates. So two lines with one seed, one over each half of
    a range, add up to the line over the range.
    """

    inputs: Inputs
    start: int
    stop: int
    seed: tuple[int, ...] | None = None  # of the signs; None for the axis of coordinate start
    moves: Array | None = None  # which coordinates move, eight to a byte; None for all
    in_proportion: bool = False  # each by its own size; zeros stay, because f may be singular there
    uneven: bool = False  # by 8 to 23 sixteenths: opposite moves do not cancel in a sum
    tied: float | None = None  # only entries of this absolute value move: away from 0, together
    back: Array | None = None  # which coordinates move backwards, eight to a byte; else by the seed

    @property
    def place(self) -> tuple[Part, int]:
        """The input that an axis belongs to, and the number of its coordinate within."""
        return self.inputs.locate(self.start)

    def coordinates(self, steps: Sequence[float]) -> Iterator[Array]:
        """Yield the flat vector of all coordinates at each step; they share one direction."""
        if self.stop - self.start <= STRETCH:
            return map(self._beside, steps)
        short = [(start, stop, shortened(piece)) for start, stop, piece in self.pieces()]
        return (self._moved(t, short) for t in steps)

    def _beside(self, t: float) -> Array:
        """Return the flat vector a step of t away, if the direction is in one piece."""
        point = self.inputs.x.copy()
        point[self.start : self.stop] += t if self.seed is None else t * self.direction
        return point

    def _moved(self, t: float, short: Sequence[tuple[int, int, Array]]) -> Array:
        """Return the flat vector a step of t away, given the direction in pieces."""
        point = self.inputs.x.copy()
        for start, stop, piece in short:
            there = lengthened(piece)
            there *= t
            point[start:stop] += there
        return point

    def points(self, steps: Sequence[float]) -> Iterator[list[Any]]:
        """Yield the inputs at each step."""
        return map(self.inputs.at, self.coordinates(steps))

    def point(self, t: float) -> list[Any]:
        """Return the inputs a step of t away."""
        return next(self.points([t]))

    @cached_property
    def direction(self) -> Array:
        """How far the coordinates from start to stop move for t = 1."""
        x = self.inputs.x[self.start : self.stop]
        if self.seed is None:
            return np.ones(1, x.dtype)
        if self.tied is not None:
            unit = powers_of_two(np.array([self.tied or self.inputs.typical]))
            scale = np.where(np.abs(x) == self.tied, np.copysign(unit, x + 0.0), 0.0)
        elif self.in_proportion:
            scale = np.where(x == 0, not self.inputs.x.any(), powers_of_two(np.abs(x)))
        else:
            scale = self.inputs.units(self.start, self.stop)
        if self.uneven:
            parts = 8 + _coins((*self.seed, 1), 8 * self.inputs.size)[self.start : self.stop] % 16
            scale = scale * parts / 16  # no more bits than `shortened` keeps
        if self.moves is not None:
            scale *= _unpacked(self.moves, self.start, self.stop)
        if self.tied is not None:
            return scale
        coins = _coins(self.seed, self.inputs.size) if self.back is None else self.back
        backwards = _unpacked(coins, self.start, self.stop)
        signs = 1 - 2 * backwards.view(np.int8)  # eight times as fast as a negation of some
        scale *= signs
        return scale

    def pieces(self) -> Iterable[tuple[int, int, Array]]:
        """Return the direction in pieces that stay in the processor's cache."""
        if self.stop - self.start <= STRETCH:
            return ((self.start, self.stop, self.direction),)
        starts = range(self.start, self.stop, STRETCH)
        parts = (self.over(start, min(start + STRETCH, self.stop)) for start in starts)
        return ((part.start, part.stop, part.direction) for part in parts)

    @np.errstate(invalid="ignore")  # 0 * inf
    def dot(self, matrix: Array, first: int = 0) -> Array:
        """Return the product of the direction with a matrix that has a row for each coordinate.

        Its rows begin with the one of the coordinate ``first``. Coordinates that do not move have
        no part in it, whatever is in their rows.
        """
        products = [matrix[a - first : b - first].T @ piece for a, b, piece in self.pieces()]
        found = np.asarray(sum(products))
        if self.moves is None or np.isfinite(found).all():
            return found
        products = [
            np.where((piece == 0)[:, None], 0, matrix[a - first : b - first]).T @ piece
            for a, b, piece in self.pieces()
        ]
        return np.asarray(sum(products))

    def over(self, start: int, stop: int) -> "Line":
        """Return the line with the same signs over another range."""
        return replace(self, start=start, stop=stop)

    def halves(self) -> tuple["Line", "Line"]:
        """Split the line into two, without splitting a complex entry."""
        inputs, middle = self.inputs, (self.start + self.stop) // 2
        inside = [start for start in inputs.starts if self.start < start < self.stop]
        if inside:  # whole inputs first: a mistake is usually in one of them
            middle = min(inside, key=lambda start: abs(start - middle))
        else:
            part, within = inputs.locate(middle)
            middle -= within % 2 if part.is_complex else 0
        return self.over(self.start, middle), self.over(middle, self.stop)

    def where(self, t: float) -> str:
        """Name the line and the step, for a message."""
        if self.seed is not None:
            return f"x moved by {t:+.3g} of its size, all coordinates at once"
        part, within = self.place
        return f"x with {part.entry(within)} moved by {t:+.3g}"


def sizes_of(lines: Sequence[Line]) -> Array:
    """Return three sizes of each line, (lines, 3).

    The unit is about the size of x along the line, as a step: the power of two that is closest to
    it. The spacing is the distance between numbers near x, relative to x. The scale is the unit, or
    the size of a typical entry beside it if that is larger.
    """
    if not lines:
        return np.zeros((0, 3))
    inputs, rows = lines[0].inputs, np.array([line.start for line in lines])
    numbers, size = inputs.numbers_of(rows), np.abs(inputs.x[rows]).astype(float)
    beside = np.array(inputs.typical_beside)[numbers]
    unit = powers_of_two(math.sqrt(2) * np.where(size > 0, size, beside))
    spacing = np.array([part.eps for part in inputs.parts.values()])[numbers]
    axes = np.array([line.seed is None for line in lines])[:, None]
    own = np.array([unit, spacing, np.maximum(unit, beside)]).T
    return np.where(axes, own, (1.0, inputs.eps, 1.0))


@lru_cache(maxsize=32)  # one for each line, kept for the next check
def _coins(seed: tuple[int, ...], count: int) -> Array:
    """Return a fair coin for each coordinate, read-only, eight to a byte."""
    return np.frombuffer(np.random.default_rng(seed).bytes(-(-count // 8)), np.uint8)


def _unpacked(bits: Array, start: int, stop: int) -> Array:
    """Unpack the bits from start to stop of packed bytes, as booleans."""
    first = start // 8
    signs = np.unpackbits(bits[first : -(-stop // 8)]).view(bool)
    return signs[start - 8 * first : stop - 8 * first]


def taken(lines: Sequence[Line], steps: Array) -> Array:
    """Return how far steps along each line, (lines, steps), move x after rounding."""
    # Units are powers of two, so short steps along a random line are never rounded.
    axes = [line.inputs.x[line.start] if line.seed is None else 0.0 for line in lines]
    x = np.array(axes)[:, None]
    there = x + steps
    mixed = lines[0].inputs.eps > np.finfo(there.dtype).eps  # an input has a shorter dtype
    for k, line in enumerate(lines if mixed else ()):
        if line.seed is None:
            there[k] = line.place[0].rounded(there[k])
    return np.asarray(there - x)


def short_steps(steps: Array, spacings: Array) -> Array:
    """Round steps so that x + step and x - step are representable, if x has these spacings.

    Short steps keep their length: they are multiples of a spacing, or x is 0.
    """
    grid, length = 8 * spacings, np.abs(steps)
    # All numbers of more than 2**53 spacings are multiples of a spacing.
    rounds = (length > 2**7 * grid) & (length < 2**53 * grid)
    return np.where(rounds, np.rint(steps / np.where(rounds, grid, 1.0)) * grid, steps)
