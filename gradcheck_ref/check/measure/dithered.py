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
from gradcheck_ref.structure.units import rounded_at_random

# The length of an entry's move is drawn between these, in its unit, and scaled to a mean square of
# one.
SHORTEST, LONGEST = 0.5, 1.5
SCALE = (1 + (LONGEST - SHORTEST) ** 2 / 12) ** -0.5

# Points are rounded at random to about an eighth of the step. So a step of a tenth leaves few bits,
# and even a bfloat16 inside f holds every coordinate exactly.
PLACES = 8.0

# Points with so many numbers together, 16 MB, are kept: f is called there, and claims and their
# repairs are compared with it. At least two are: those on both sides of x.
KEPT = 2**21


class Recent(dict[Any, list[tuple[slice, Array]]]):
    """The points that were drawn last; other processes get none of them."""

    def __init__(self) -> None:
        self.line: Any = None  # the last line, and how far it moves each coordinate
        self.moves: Sequence[tuple[slice, Array]] = ()

    def __reduce__(self) -> Any:  # noqa: D105
        return Recent, ()


@dataclass(eq=False)
class Dithered(Line):
    """Points near a random line, where each coordinate moves by another random amount.

    The seed fixes sign and length of each move. Points are rounded up or down at random, so they
    are not quite on a line, but the mean of many is. A place (line, step) is always the same point.
    """

    rounds: bool = True  # whether points are rounded to few bits, not only to the dtype of x
    factors: Array | None = None  # how many times farther the entries of each input move
    recent: Recent = field(default_factory=Recent)  # shared by lines made from this one

    def coordinates(self, steps: Sequence[float]) -> Iterator[Array]:
        """Yield the flat vector of all coordinates about each step away."""
        for t in steps:
            point = self.inputs.x.copy()
            for stretch, there in self.reached(t):
                point[stretch] = there
            yield point

    def reached(self, t: float) -> Iterable[tuple[slice, Array]]:
        """Return stretches of coordinates, and their values about a step of t away."""
        place = self.seed, self.rounds, self.in_proportion, t
        if place not in self.recent:
            most = max(2, KEPT // (self.stop - self.start))
            while len(self.recent) >= most:
                del self.recent[next(iter(self.recent))]
            self.recent[place] = list(self._drawn(t))
        return self.recent[place]

    def _drawn(self, t: float) -> Iterator[tuple[slice, Array]]:
        dither = np.random.default_rng((*(self.seed or ()), 1, int(np.float64(t).view(np.uint64))))
        wanted = 2.0 ** math.floor(math.log2(abs(t) / PLACES)) if self.rounds else 0.0
        for stretch, move in self._moves():
            x, still = self.inputs.x[stretch], move == 0
            there = rounded_at_random(x + t * move, max(wanted, self.inputs.eps), dither)
            there[still] = x[still]
            yield stretch, there

    def _moves(self) -> Sequence[tuple[slice, Array]]:
        """Return how far each coordinate moves for a step of 1; both sides of x share that."""
        place = self.seed, self.in_proportion
        if self.recent.line != place:
            lengths, found = np.random.default_rng((*(self.seed or ()), 0)), []
            for start, stop, direction in self.pieces():
                move = direction * lengths.uniform(SHORTEST * SCALE, LONGEST * SCALE, stop - start)
                if self.factors is not None:
                    move *= self.factors[self.inputs.numbers_of(np.arange(start, stop))]
                found.append((slice(start, stop), move))
            self.recent.line, self.recent.moves = place, found
        return self.recent.moves

    def moved(self, t: float) -> Iterator[tuple[slice, Array]]:
        """Yield stretches of coordinates, and how far they move from -t to t, divided by 2t."""
        for (stretch, one), (_, other) in zip(self.reached(t), self.reached(-t), strict=True):
            yield stretch, (one - other) / (2 * t)

    def middle(self, t: float) -> Iterator[tuple[slice, Array]]:
        """Yield stretches of coordinates, and how far the middle of both points is from x."""
        for (stretch, one), (_, other) in zip(self.reached(t), self.reached(-t), strict=True):
            x = self.inputs.x[stretch]
            yield stretch, (one - x + (other - x)) / 2

    def product(self, matrix: Array, t: float, first: int = 0) -> Array:
        """Return the product of `moved` with a matrix that has a row for each coordinate.

        Its rows begin with the one of the coordinate ``first``.
        """
        pairs = ((matrix[s.start - first : s.stop - first], move) for s, move in self.moved(t))
        return np.asarray(sum(rows.T @ move for rows, move in pairs))
