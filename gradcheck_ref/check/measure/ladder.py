"""The ladder: values of f along some lines, at rungs of one fixed ladder of steps.

Rung k is a step of 0.36 / 1.618^k units, on both sides of x. The golden ratio is irrational, so no
two rungs meet a period of f at the same place. The slope of a line, its kinks and its edges are
read from the table of these values. Pilots and wholes ask f at rungs of the same ladder.
"""

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.lines import Line, short_steps, sizes_of, taken

GOLDEN = (1 + math.sqrt(5)) / 2
TOP = 0.36

# A window has three rungs, usually every third one: its steps are in the ratio 4.236, and it spans
# a factor of 18.
WIDE = 3
RATIO = GOLDEN**WIDE

# The ladder ends 4e-14 units from x. Above rung 0 it has nine rungs, up to 27 units, or more
# where units are so short that they do not reach 27 itself.
DOWN, UP = 21 * WIDE, 3 * WIDE

# No step is longer than FARTHEST times 1, the unit or the size of what lies beside, nor shorter
# than CLOSEST spacings of x.
FARTHEST, CLOSEST = 32.0, 64.0


def steps_at(rungs: Array, spacing: Array | float = 2.0**-52) -> Array:
    """Return the steps at some rungs, in units, for numbers that are so far apart near x."""
    return short_steps(TOP * GOLDEN ** -np.asarray(rungs, float), np.asarray(spacing))


def rung_at(step: float) -> int:
    """Return the rung whose step is closest to this one, in units."""
    return round(math.log(TOP / step) / math.log(GOLDEN))


class Table:
    """Values of f along some lines, at the rungs that were asked.

    Attributes
    ----------
    top : int
        The number of the first rung that any line may have, not above 0.
    where : ndarray of int, shape (lines, rungs)
        The place of each rung of each line in ``values`` and ``places``; -1 if it was not asked.
    values : ndarray, shape (asked, 2, outputs)
        f behind x and ahead of it; NaN where it is not finite.
    places : ndarray, shape (asked, 2)
        The steps after rounding, in the precision of x.
    """

    def __init__(self, ask: Ask, lines: Sequence[Line], sizes: Array | None = None) -> None:
        self.ask, self.lines = ask, list(lines)
        sizes = sizes_of(lines) if sizes is None else sizes
        self.sizes: Array = sizes.T
        self.units, self.spacings, self.scales = (np.asarray(one) for one in self.sizes)
        # The size of what lies beside, if the unit is smaller: from there f has to be seen, too.
        self.reaches = np.maximum(self.scales, 1.0)
        farthest = float((np.log(self.reaches) - np.log(self.units)).max(initial=0.0))
        self.top = -UP - WIDE * math.ceil(farthest / math.log(RATIO))
        self.rungs = np.arange(self.top, DOWN)
        self.where = np.full((len(lines), self.rungs.size), -1)
        self.values = np.zeros((0, 2, ask.here.size), ask.here.dtype)
        self.places = np.zeros((0, 2), ask.here.dtype)

    @cached_property
    def exists(self) -> Array:
        """Which rungs lines have, (lines, rungs)."""
        with np.errstate(over="ignore"):
            steps = steps_at(self.rungs) * self.units[:, None]
        short_enough = steps <= FARTHEST * self.reaches[:, None]
        return np.asarray(short_enough & (steps >= self.shortest[:, None]))

    @property
    def shortest(self) -> Array:
        """The shortest step that changes x by enough, along each line."""
        return np.asarray(CLOSEST * self.spacings * self.units)

    @property
    def looks(self) -> Array:
        """How many rungs of each line were asked."""
        return np.asarray((self.where >= 0).sum(axis=1))

    def window(self, starts: Array | int, stride: int = WIDE, count: int = 3) -> Array:
        """Mark some rungs of each line, from a first one on, (lines, rungs).

        If the line ends before them, they are those before its end, and closer to each other.
        """
        exists = self.exists
        first, last = exists.argmax(axis=1), exists.shape[1] - 1 - exists[:, ::-1].argmax(axis=1)
        start = np.minimum(np.maximum(starts - self.top, first), np.maximum(last - count + 1, 0))
        strides = np.minimum(np.maximum((last - start) // (count - 1), 1), stride)
        wanted = np.zeros(exists.shape, bool)
        rungs = np.minimum(start + np.arange(count)[:, None] * strides, last)
        wanted[np.arange(len(start)), rungs] = True
        return wanted & exists

    @np.errstate(over="ignore")
    def asked(self, wanted: Array, first: Array | None = None) -> tuple["Table", Array]:
        """Ask f at rungs that are wanted, in one batch, as far as affordable; some lines first.

        Returns the table of all values, and which lines could not be afforded. Cost: 2 evaluations
        for each rung of a line.
        """
        wanted = wanted & (self.where < 0) & self.exists
        line, rung = np.nonzero(wanted)
        starved = np.zeros(len(self.lines), bool)
        room = self.ask.budget.times(2)
        if first is not None and line.size > room:
            order = np.argsort(~first[line], kind="stable")
            line, rung = line[order], rung[order]
        starved[line[room:]] = True
        line, rung = line[:room], rung[:room]
        found = copy(self)
        if line.size:
            steps = steps_at(self.rungs[rung], self.spacings[line]) * self.units[line]
            both = np.stack([-steps, steps], axis=1)
            along = [self.lines[k] for k in line.tolist()]
            points = [(one, t) for one, row in zip(along, both.tolist(), strict=True) for t in row]
            found.where = self.where.copy()
            found.where[line, rung] = len(self.values) + np.arange(line.size)
            values = self.ask.many(points).reshape(line.size, 2, -1)
            found.values = np.concatenate([self.values, values])
            found.places = np.concatenate([self.places, taken(along, both)])
        return found, starved

    def joined(self, others: Sequence["Table"], order: Array) -> "Table":
        """Return the table of these lines and others, in some order."""
        every = [self, *others]
        lines = [line for table in every for line in table.lines]
        sizes = np.concatenate([table.sizes.T for table in every])
        found = Table(self.ask, [lines[k] for k in order.tolist()], sizes[order])
        where, before = [], 0
        for table in every:
            wider = np.full((len(table.lines), found.rungs.size), -1)
            wider[:, table.top - found.top :] = np.where(table.where < 0, -1, table.where + before)
            where.append(wider)
            before += len(table.values)
        found.where = np.concatenate(where)[order]
        found.values = np.concatenate([table.values for table in every])
        found.places = np.concatenate([table.places for table in every])
        return found

    def windows(self) -> tuple[Array, Array, Array]:
        """Return line, first rung and stride of each three rungs equally far apart.

        They are sorted by line, the longest steps first.
        """
        known, found = self.where >= 0, []
        asked = np.flatnonzero(known.any(axis=0))
        fine = np.diff(asked).min(initial=WIDE) < WIDE
        for stride in range(1, WIDE + 1) if fine else (WIDE,):
            three = known[:, : -2 * stride] & known[:, stride:-stride] & known[:, 2 * stride :]
            line, start = np.nonzero(three)
            found.append(np.array([line, start, np.full(line.size, stride)]))
        line, start, stride = np.concatenate(found, axis=1)
        order = np.lexsort((stride, start, line))
        return line[order], start[order] + self.top, stride[order]
