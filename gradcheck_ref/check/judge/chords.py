"""Chords of f along dithered lines over some inputs: which lines, and at which steps.

The first lines are measured at all rungs, and choose those where slopes change least: two, or three
if truncation is extrapolated. How far slopes are from the claims does not count. Later, many lines
may show that other rungs tell more.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.crew import NUMBERS_AT_ONCE
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.looks import Look, Looks, Square, Z
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.steps import SMOOTH, Pair, sharpest_pair
from gradcheck_ref.check.judge.tolerance import output_groups
from gradcheck_ref.check.measure.dithered import Dithered
from gradcheck_ref.check.measure.ladder import rung_at, steps_at
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.structure.units import output_weights

# A wrong claim is usually clear after FEW lines; twice as many show which repair is right, where
# noise is loud. MANY are measured before a pass, and then twice as many, and again, if that decides
# nothing.
FEW, MANY = 10, 40

# The evaluations for a line: three steps on both sides.
EACH_LINE = 6

# The fewest evaluations that may tell anything: those of the first lines, and those for each line.
LEAST = 90 + EACH_LINE * MANY

# What an input takes alone, with FIRST lines at FEWEST_RUNGS and one more: a fail FEW lines and a
# third step along these, which are kept for each input that is still to be measured.
EACH_FAIL = 42 + (EACH_LINE + 2) * FEW

# Where slopes are as small as 1 / UNDERFLOWS, their squares lose digits.
UNDERFLOWS = 2.0**500

# The FIRST lines are measured at all of these rungs, and the others at those that change least. The
# step of a line is drawn between these multiples of that of the rung.
RUNGS, FIRST, FACTORS = range(1, 16), 3, (0.8, 1.25)

# Three lines hardly tell how loud f is, and how much it bends. So all lines are measured so many
# rungs closer to x where truncation is more than noise, else farther away, as long as that leaves
# less than this part of the square that the error does not exceed.
MOVED, HELPS = 2, 0.7

# Longer rungs, up to ten units, are for an input with a small effect beside the noise of f: rung by
# rung, as long as slopes change by less than this part, squared. Rungs below the spacing of x are
# none, but FEWEST_RUNGS are always measured.
LONGEST, ALIKE_FARTHER, FEWEST_RUNGS = -7, 0.03, 6

# No rung is wanted for noise below this part of a slope. And f has few digits with FEWER times the
# noise of its dtype.
FINEST, FEWER = 1e-10, 8.0


class Chords:
    """Some inputs, or entries, measured together along dithered lines.

    Parameters
    ----------
    question : Question
        The function, the point and the claims.
    moves : ndarray of bool, shape (coordinates,)
        Which coordinates move.
    factors : ndarray, shape (all inputs,), optional
        How many times farther the entries of each input move.
    larger : Chords, optional
        Those that these inputs belong to, too: they know the noise of f.
    least : float
        The least error that has to be seen; 0 if that is not known.
    """

    def __init__(
        self,
        question: Question,
        moves: Array,
        factors: Array | None = None,
        larger: "Chords | None" = None,
        least: float = 0.0,
    ) -> None:
        self.question, self.inputs = question, question.ask.inputs
        start, stop = int(moves.argmax()), moves.size - int(moves[::-1].argmax())
        self.seed = seed_of(question.seed, "whole", start, stop)
        self.numbers = np.unique(self.inputs.numbers_of(np.flatnonzero(moves)))
        packed = np.packbits(moves)
        self.line = Dithered(
            self.inputs, start, stop, self.seed, packed, rounds=False, factors=factors
        )
        self.groups, self.lines = output_groups(question), list[Dithered]()
        rng = np.random.default_rng(self.seed)
        self.multiples = rng.uniform(*FACTORS, 4 * MANY)  # of a step, by line
        self.at_rungs: dict[int, Look] = {}
        self.weight = np.ones(question.ask.here.size)
        self.level, self.first, self.even, self.power = math.nan, 0, True, SMOOTH
        self.bend = 0.0  # what truncation leaves in the mean product of two slopes
        self.larger, self.least, self.tried = larger, least, set[tuple[int, int]]()
        fewest = EACH_FAIL if larger else LEAST
        self.measurable = question.ask.budget.left >= fewest and self._choose()
        self.measurable &= bool(self.weight.max(initial=1.0) < UNDERFLOWS)
        self.measurable &= math.isfinite(self.level)

    def at(self, rung: int, count: int) -> Look:
        """Return what the first lines say at a rung; 2 evaluations for each that is new there."""
        for k in range(len(self.lines), count):
            self.lines.append(replace(self.line, seed=(*self.seed, k)))
        before = self.at_rungs.get(rung)
        have = len(before.steps) if before else 0
        if have < count:
            steps = float(steps_at(np.array(rung))) * self.multiples[have:count]
            new = self._measured(self.lines[have:count], steps)
            both = zip(before, new, strict=True) if before else [[one] for one in new]
            self.at_rungs[rung] = Look(*[np.concatenate(one) for one in both])
        return Look(*[one[:count] for one in self.at_rungs[rung]])

    @QUIETLY
    def _measured(self, lines: Sequence[Dithered], steps: Array) -> Look:
        """Measure a chord along each of some lines."""
        ask, found = self.question.ask, []
        each = max(1, NUMBERS_AT_ONCE // max(1, ask.outputs.size, ask.inputs.size))
        pairs, claims = list(zip(lines, steps.tolist(), strict=True)), list[Array]()
        for start in range(0, len(lines), each):
            some = pairs[start : start + each]
            found.append(ask.many([(line, side * t) for line, t in some for side in (1, -1)]))
            claims += [self._claimed(line.moved(t)) for line, t in some]  # points are still kept
        values, claimed = np.concatenate(found), np.array(claims)
        ahead, behind = values[::2], values[1::2]
        return Look(claimed, (ahead - behind) / (2 * steps[:, None]), (ahead + behind) / 2, steps)

    def _claimed(self, moves: Iterable[tuple[slice, Array]]) -> Array:
        """Return the claims along moves that were really made, by stretches of coordinates."""
        claims = self.question.claims
        if claims.matrix is not None:
            return np.asarray(sum(claims.matrix[mine].T @ move for mine, move in moves))
        every = np.zeros(self.inputs.size, self.inputs.dtype)
        for mine, move in moves:
            every[mine] = move
        self.question.return_to_x()
        return claims.product(every)

    @QUIETLY
    def _choose(self) -> bool:
        """Choose the rungs from the first lines; return whether f can be measured.

        Where f has fewer digits than its dtype, points with as few digits meet its stairs at random
        places. Cost: 90, and 6 for each longer rung.
        """
        if not self._tried():
            self.line = replace(self.line, in_proportion=True)
            if not self._tried():
                return False
        if larger := self.larger:
            both = np.array([self.weight, larger.weight]) / larger.weight.max()
            here, there = np.mean(both**2, axis=1)
            self.level = larger.level * float(here / there)
            coarse = larger.line.rounds
        else:
            precision = self.question.ask.precision
            dtype = precision * self.question.noise.pilots.size * self.weight
            coarse = bool(self.level > FEWER**2 * np.mean(dtype**2))
            if coarse:
                self._chosen(sorted(self.at_rungs), even=False)
        if coarse:
            self.line, self.lines, self.at_rungs = replace(self.line, rounds=True), [], {}
            # Coarse points are not quite on both sides of x, which curves show at long steps.
            self.first = max(self.first, RUNGS[0])
        return True

    def _tried(self) -> bool:
        """Measure the first lines at all rungs, and choose; tell if some slopes are finite."""
        self.lines, self.at_rungs = [], {}
        return self._chosen(
            self._useful_rungs(), even=not (self.larger and self.larger.line.rounds)
        )

    def _chosen(self, rungs: Sequence[int], even: bool) -> bool:
        """Choose the rungs where slopes change least, extrapolated or not if truncation is even."""
        looks = [self.at(rung, FIRST) for rung in rungs]
        slopes = np.array([look.slopes for look in looks])
        known = np.isfinite(slopes)
        each = np.where(known, np.abs(slopes), 0.0).max(axis=(1, 2), initial=0.0)
        # Where f grows without limit at long steps, the squares of others must not underflow.
        least = float(each.min(where=each > 0, initial=each.max(initial=0.0)))
        largest = min(float(each.max(initial=0.0)), math.sqrt(UNDERFLOWS) * least) or 1.0
        squares = np.where(known, np.fmin(np.abs(slopes) / largest, UNDERFLOWS), 0.0) ** 2
        moved = np.sqrt(squares.sum(axis=(0, 1)) / np.fmax(1, known.sum(axis=(0, 1))))
        self.weight = output_weights(moved) / largest
        squares = np.array([look.steps for look in looks])[..., None] ** 2
        off = np.array([look.claimed for look in looks]) - slopes
        floor = self._floor(steps_at(np.array(rungs))[2:, None]).mean(axis=1)
        draws, found = MANY * self.weight.size, list[tuple[Pair, bool]]()
        for extrapolated in (True, False) if even else (False,):
            share = extrapolated * squares[1:] / np.diff(squares, axis=0)
            some, ours = (
                one[1:] - np.diff(one, axis=0) * share
                for one in (slopes * self.weight, off * self.weight)
            )
            pair = sharpest_pair(rungs[1:], some, ours, floor, draws, extrapolated)
            if pair:
                found.append((pair, extrapolated))
        if found:
            pair, self.even = min(found, key=lambda one: one[0].cost)
            self.first, self.level, self.bend, self.power, _ = pair
            self.first -= self.even  # each slope is extrapolated from its rung and the one before
        return bool(found)

    def _useful_rungs(self) -> list[int]:
        """Return the rungs, and longer ones as long as slopes along the first lines are alike."""
        wanted: Sequence[int] = RUNGS
        if self.larger and self.least > 0:
            last = self._last(self.larger)
            wanted = range(last - FEWEST_RUNGS, last + 1)
        elif self.larger and self.question.claims.matrix is not None:
            wanted = range(rung_at(1.0), RUNGS.stop)  # a claim of 0 says nothing of the slope
        rungs = [k for k in wanted if k < FEWEST_RUNGS or steps_at(np.array(k)) >= self.inputs.eps]
        while rungs and rungs[0] > LONGEST and self.question.ask.budget.left > LEAST:
            one, other = (self.at(rung, FIRST).slopes for rung in rungs[:2])
            size = np.nan_to_num(np.fmax(np.abs(one), np.abs(other))).max(axis=0)
            change, both = np.mean(((one - other) / size) ** 2), np.mean(one * other / size**2)
            if not change <= ALIKE_FARTHER * both:
                break
            rungs = [rungs[0] - 1, *rungs]
        return rungs

    def _last(self, larger: "Chords") -> int:
        """Return the last rung where noise leaves room to see the least error."""
        room = self.least * math.sqrt(float(np.mean(larger.weight**2)))
        noise = math.sqrt(Z * larger.level / math.sqrt(MANY * self.weight.size))
        first = LONGEST + FEWEST_RUNGS
        if not noise < room * float(steps_at(np.array(first))):
            return first
        most = min(RUNGS[-1], max(rung_at(self.inputs.eps), FEWEST_RUNGS))
        return min(max(rung_at(max(noise / room, FINEST)) + 2, first), most)

    def _floor(self, steps: Array) -> Array:
        """Return the mean square that the spacing of the values leaves in a slope, by column."""
        return np.asarray((self.question.noise.spacing * self.weight / steps) ** 2 / 24)

    @property
    def rungs(self) -> range:
        """The chosen rungs: two, or three where slopes are extrapolated."""
        return range(self.first, self.first + 2 + self.even)

    @property
    def each_line(self) -> int:
        """How many evaluations these take for a line."""
        return 2 * len(self.rungs)

    def seen(self, count: int, *shorter: int) -> Looks:
        """Return the first lines at the chosen rungs, and at a shorter one if that is wanted."""
        looks = list[Look]()
        for rung in (*self.rungs, *shorter):
            look = self.at(rung, count)
            claimed, slopes, middles = (one * self.weight for one in look[:3])
            looks.append(Look(claimed, slopes, middles, look.steps))
        floor = self._floor(steps_at(np.array(self.rungs[-1])))
        lines, upstreams = self.lines[:count], self.question.ask.upstreams
        return Looks(lines, looks, self.weight, floor, self.groups, upstreams, self.even)

    def moved(self, squares: Sequence[Square], count: int) -> bool:
        """Choose shorter steps, or longer ones, if they tell more about the error of some output.

        Cost: 2 or 4 evaluations for each line.
        """
        bent = any(one.error > one.doubt() for one in squares)
        before, there = self.first, self.first + (MOVED if bent else -MOVED)
        if (
            (there, count) in self.tried
            or there < LONGEST
            or 2 * MOVED * count > self.question.ask.budget.left
        ):
            return False
        self.tried |= {(before, count), (there, count)}
        self.first = there
        seen = self.seen(count)
        both = [(one, seen.square(one.columns)) for one in squares]
        # Where f stands still, its noise is not known.
        moves = [(old, new) for old, new in both if new.slopes > new.noise]
        if not any(new.limit(1.0) < HELPS * old.limit(1.0) for old, new in moves):
            self.first = before
            return False
        longer = steps_at(np.array([there, before]))
        self.bend *= float(longer[0] / longer[1]) ** self.power
        return True
