"""Dithered points: random steps, which meet the rounding inside f at random places.

A number that f rounds to 16 bits inside changes in stairs. If all entries are 0.5 and move by the
same step, they all stand on the same stair, and the rounding is no noise, but one large error. So
each entry moves by another random amount. In sound and pictures this is called dither: noise that
is added before numbers are rounded.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.units import powers_of_two

# The length of an entry's move is drawn between these, in its unit, and scaled to a mean square of
# one.
SHORTEST, LONGEST = 0.5, 1.5
SCALE = (1 + (LONGEST - SHORTEST) ** 2 / 12) ** -0.5

# Points are rounded at random to about an eighth of the step. So a step of a tenth leaves few bits,
# and even a bfloat16 inside f holds every coordinate exactly.
PLACES = 8.0

# Where at most so many coordinates move, points are kept, 16 KB each: f is called there, and claims
# and their repairs are compared with it.
FEW = 2**11


@dataclass(eq=False)
class Dithered:
    """Points around x, where the coordinates in some stretches move by random amounts.

    The seed fixes sign and length of each move. Points are rounded up or down at random, so they
    are not quite on a line, but the mean of many is. A place (line, step) is always the same point.
    """

    inputs: Inputs
    stretches: Sequence[slice]  # the coordinates that move, each of one input
    seed: tuple[int, ...]
    rounds: bool = True  # whether points are rounded to few bits, not only to the dtype of x
    in_proportion: bool = False  # each by its own size, because a unit may leave the domain of f
    _kept: dict[float, list[tuple[slice, Array]]] = field(default_factory=dict, init=False)

    def coordinates(self, steps: Sequence[float]) -> Iterator[Array]:
        """Yield the flat vector of all coordinates about each step away."""
        for t in steps:
            point = self.inputs.x.copy()
            for stretch, there in self.reached(t):
                point[stretch] = there
            yield point

    def points(self, steps: Sequence[float]) -> Iterator[list[Any]]:
        """Yield the inputs about each step away."""
        return map(self.inputs.at, self.coordinates(steps))

    def point(self, t: float) -> list[Any]:
        """Return the inputs about a step of t away."""
        return next(self.points([t]))

    def reached(self, t: float) -> Iterable[tuple[slice, Array]]:
        """Return each stretch, and its coordinates about a step of t away."""
        if sum(stretch.stop - stretch.start for stretch in self.stretches) > FEW:
            return self._drawn(t)
        if t not in self._kept:
            self._kept[t] = list(self._drawn(t))
        return self._kept[t]

    def _drawn(self, t: float) -> Iterator[tuple[slice, Array]]:
        directions = np.random.default_rng((*self.seed, 0))
        dither = np.random.default_rng((*self.seed, 1, int(np.float64(t).view(np.uint64))))
        for stretch in self.stretches:
            x = self.inputs.x[stretch]
            length = directions.uniform(SHORTEST * SCALE, LONGEST * SCALE, x.size)
            sign = directions.integers(0, 2, x.size) * 2 - 1
            there = x + t * self._units(stretch) * length * sign
            spacing = powers_of_two(np.abs(there)) * self._grid(stretch, abs(t))
            yield stretch, np.floor(there / spacing + dither.random(x.size)) * spacing

    def _units(self, stretch: slice) -> Array:
        if not self.in_proportion:
            return self.inputs.units(stretch.start, stretch.stop)
        size = np.abs(self.inputs.x[stretch])
        return np.where(size > 0, size, self.inputs.typical_beside(stretch.start))

    def _grid(self, stretch: slice, t: float) -> float:
        """Return the distance of points, relative to their size: a power of two."""
        part, _ = self.inputs.locate(stretch.start)
        wanted = 2.0 ** math.floor(math.log2(t / PLACES)) if self.rounds else 0.0
        return max(wanted, part.eps)

    def where(self, t: float) -> str:
        """Name the point, for a message."""
        return Line(self.inputs, 0, self.inputs.size, self.seed).where(t)

    def between(self, t: float) -> Array:
        """Return the move of all coordinates from -t to t, divided by 2t."""
        ahead, behind = self.reached(t), self.reached(-t)
        found = np.zeros(self.inputs.size, self.inputs.dtype)
        for (stretch, one), (_, other) in zip(ahead, behind, strict=True):
            found[stretch] = (one - other) / (2 * t)
        return found

    def dot(self, matrix: Array, t: float, first: int = 0) -> Array:
        """Return the product of `between` with a matrix that has a row for each coordinate.

        Its rows begin with the one of the coordinate ``first``.
        """
        total: Any = 0.0
        for (stretch, one), (_, other) in zip(self.reached(t), self.reached(-t), strict=True):
            rows = matrix[stretch.start - first : stretch.stop - first]
            total = total + rows.T @ (one - other)
        return np.asarray(total / (2 * t))
