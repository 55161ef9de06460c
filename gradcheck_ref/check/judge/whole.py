"""The gradient of an input as a whole: how long its error is, where noise hides single entries.

The mean product of what claim and slope differ by at two pairs of steps measures it; see `looks`. A
pass takes an error that is surely small, and a fail one that is surely large, at three steps.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.crew import NUMBERS_AT_ONCE
from gradcheck_ref.check.decimals import shortest_spacing
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.looks import Look, Looks, Square, Z, quantiles
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.rule import STAIRS
from gradcheck_ref.check.judge.steps import sharpest_pair
from gradcheck_ref.check.judge.tolerance import ROUNDING_LEFT, output_groups
from gradcheck_ref.check.knobs import default_rtol
from gradcheck_ref.check.measure.dithered import Dithered
from gradcheck_ref.check.measure.ladder import rung_at, steps_at
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL, LEFT_IF_FITTED, PASS, UNSURE, Whole
from gradcheck_ref.structure.parts import Part
from gradcheck_ref.structure.units import PIECE, output_weights

# Numbers with a longer spacing have few digits: those of a float32 and shorter ones.
SHORT = 1e-10

# The spacing of float32.
SINGLE = 2.0**-23

# A wrong claim is usually clear after FEW lines; twice as many show which repair is right, where
# noise is loud. MANY are measured before a pass, and then twice as many, and again, if that decides
# nothing.
FEW, MANY = 10, 40

# The evaluations for a line: three steps on both sides.
EACH_LINE = 6

# Evaluations for all inputs, unless the caller set a limit; and the fewest that may tell anything:
# those of the first lines, and those for each line.
MOST, LEAST = 2000, 90 + EACH_LINE * MANY

# What an input takes alone, with FIRST lines at FEWEST_RUNGS and one more: a fail FEW lines and a
# third step along these, which are kept for each input that is still to be measured; a pass MANY
# lines, which come on top of MOST for each.
EACH_FAIL, EACH_PASS = 42 + (EACH_LINE + 2) * FEW, 42 + EACH_LINE * MANY

# Where slopes are as small as 1 / UNDERFLOWS, their squares lose digits.
UNDERFLOWS = 2.0**500

# The largest allowed error: that of an entry, if it is not more than ALLOWED, or in spacings of the
# dtype, or in standard deviations of the noise. And the largest of all.
ALLOWED, SPACINGS, NOISES, MOST_ALLOWED = 1e-3, 20.0, 4096.0, 0.1

# A pass must be closer where noise allows: within this many times the error that noise hides, or a
# TIGHTER-th of what is allowed, or as many roundings of the claim to what it is stored in. A claim
# that was computed with the precision of f rounds, too: only an error of ROUNDINGS times the noise
# of f is refused.
HIDDEN, TIGHTER, ROUNDINGS = 4.0, 10.0, 8.0

# A repair is right if it leaves surely less than this part of the error, squared.
REPAIRED = LEFT_IF_FITTED**2

# A mistake has at least this part of its square at a step far shorter, and hardly more.
STAYS = 0.7

# The FIRST lines are measured at all of these rungs, and the others at the two that change least;
# before a fail, also a few rungs closer to x. The step of a line is drawn between these multiples
# of that of the rung.
RUNGS, FIRST, FACTORS, CLOSER = range(1, 16), 3, (0.8, 1.25), 3

# Where truncation is more than noise, all lines are measured so many rungs closer to x, again and
# again. Three lines do not tell how much f bends.
SHORTER = 2

# How much noise of their shorter chord two extrapolated slopes have, squared: 1.62^2 and 1.17^2,
# and what the longest adds. See `Looks.without_bend`.
IN_PAIRS = np.array([2.8, 1.4])

# In a group, an input with a small effect moves up to so many times farther than others. Without
# that, it hides beside them.
FARTHEST = 8.0

# Longer rungs, up to ten units, are for an input with a small effect beside the noise of f: rung by
# rung, as long as slopes change by less than this part, squared. Rungs below the spacing of x are
# none, but FEWEST_RUNGS are always measured.
LONGEST, ALIKE_FARTHER, FEWEST_RUNGS = -7, 0.03, 6

# With more noise than this part of its change over a unit of x, f is a staircase, not a function in
# few digits. A rung that crosses none of its stairs; and how closely a claim is the slope there.
STAIRCASE, CLOSEST, LITERAL = 2.0**-6, 24, 1e-3

# Rounding at two steps may be alike. So a refusal takes an error of at least half of the noise of
# one residual, squared.
ALIKE = 2.0

# The square of half a spacing on both sides of x, over that of `Group._floor`.
STILL = 6.0

# f has a kink at x if that explains such a part of the square of an error.
KINKED = 1 / 10


def allowed_as_a_whole(eps: float, noise: float = 0.0) -> float:
    """Return the largest allowed error: 9e-4 in float32, 2e-2 in float16, 0.1 in bfloat16.

    That depends on the precision of inputs and outputs, or on the noise of f, relative to its
    change over a unit of x, if that is more than they explain.
    """
    usual = max(min(default_rtol(eps), ALLOWED), SPACINGS * eps)
    return min(max(usual, NOISES * noise), MOST_ALLOWED)


class Group:
    """Some inputs, or entries, measured together along dithered lines.

    The first lines are measured at all rungs, and choose those where slopes change least. How far
    they are from the claims does not count.

    Parameters
    ----------
    question : Question
        The function, the point and the claims.
    moves : ndarray of bool, shape (coordinates,)
        Which coordinates move.
    effects : ndarray, shape (inputs, columns), optional
        If they are those of inputs that are judged one by one: the squared effects of their claims.
    factors : ndarray, shape (all inputs,), optional
        How many times farther the entries of each input move.
    larger : Group, optional
        One that these inputs belong to: it knows the noise of f.
    effect : float
        The smallest effect of the claims for an input, squared.
    """

    def __init__(
        self,
        question: Question,
        moves: Array,
        effects: Array | None = None,
        factors: Array | None = None,
        larger: "Group | None" = None,
        effect: float = 0.0,
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
        self.level, self.first, self.bend, self.smooth = math.nan, 0, 0.0, True
        self.larger, self.effect = larger, effect
        least = EACH_FAIL if larger else LEAST
        self.measurable = question.ask.budget.left >= least and self._choose()
        self.measurable &= bool(self.weight.max(initial=1.0) < UNDERFLOWS)
        weight = self.weight if self.measurable else 1.0
        self.effects = None if effects is None else effects * weight**2

    # --- measuring --------------------------------------------------------------------------------

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

    def _measured(self, lines: Sequence[Dithered], steps: Array) -> Look:
        """Measure a chord along each of some lines."""
        ask, found = self.question.ask, []
        each = max(1, NUMBERS_AT_ONCE // max(1, ask.outputs.size, ask.inputs.size))
        pairs, claims = list(zip(lines, steps.tolist(), strict=True)), list[Array]()
        for start in range(0, len(lines), each):
            some = pairs[start : start + each]
            found.append(ask.many([(line, side * t) for line, t in some for side in (1, -1)]))
            claims += [self._claimed(line, t) for line, t in some]  # the points are still kept
        values, claimed = np.concatenate(found), np.array(claims)
        ahead, behind = values[::2], values[1::2]
        return Look(claimed, (ahead - behind) / (2 * steps[:, None]), (ahead + behind) / 2, steps)

    def _claimed(self, line: Dithered, t: float) -> Array:
        """Return the claims along the move that was really made."""
        claims = self.question.claims
        if claims.matrix is not None:
            return line.product(claims.matrix, t)
        self.question.return_to_x()
        return claims.product(line.between(t))

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
            self.level = larger.level * float(np.mean(self.weight**2) / np.mean(larger.weight**2))
            coarse = larger.line.rounds
        else:
            precision = self.question.ask.precision
            dtype = precision * self.question.noise.pilots.size * self.weight
            coarse = bool(self.level > ROUNDINGS**2 * np.mean(dtype**2))
            if coarse:
                self._chosen(sorted(self.at_rungs), even=False)
        if coarse:
            self.line, self.lines, self.at_rungs = replace(self.line, rounds=True), [], {}
            # Coarse points are not quite on both sides of x, which curves show at long steps.
            self.first = max(self.first, RUNGS[0] - 1)
        return True

    @QUIETLY
    def _tried(self) -> bool:
        """Measure the first lines at all rungs, and choose; tell if some slopes are finite."""
        self.lines, self.at_rungs = [], {}
        return self._chosen(
            self._useful_rungs(), even=not (self.larger and self.larger.line.rounds)
        )

    def _chosen(self, rungs: Sequence[int], even: bool) -> bool:
        """Choose the rungs where slopes change least, if truncation is even or not."""
        looks = [self.at(rung, FIRST) for rung in rungs]
        slopes = np.array([look.slopes for look in looks])
        largest = np.nan_to_num(np.abs(slopes)).max(initial=0.0) or 1.0
        moved = np.sqrt(np.nan_to_num(np.nanmean((slopes / largest) ** 2, axis=(0, 1))))
        self.weight = output_weights(moved) / largest
        squares = np.array([look.steps for look in looks])[..., None] ** 2
        off = np.array([look.claimed for look in looks]) - slopes
        slopes, off = (
            one[1:] - even * np.diff(one, axis=0) * squares[1:] / np.diff(squares, axis=0)
            for one in (slopes * self.weight, off * self.weight)
        )
        floor = self._floor(steps_at(np.array(rungs))[2:, None]).mean(axis=1)
        draws = MANY * self.weight.size
        pair = sharpest_pair(rungs[1:], slopes, off, floor, draws, even)
        if pair:
            self.first, self.level, self.bend, self.smooth = pair
            self.first -= 1
        return pair is not None

    @QUIETLY
    def _useful_rungs(self) -> list[int]:
        """Return the rungs, and longer ones as long as slopes along the first lines are alike."""
        wanted: Sequence[int] = RUNGS
        if self.larger and self.effect > 0:
            last = self._last(self.larger)
            wanted = range(last - FEWEST_RUNGS, last + 1)
        elif self.larger and self.question.claims.matrix is not None:
            wanted = range(LONGEST, RUNGS.stop)  # a claim of 0 says nothing of the slope
        rungs = [k for k in wanted if k < FEWEST_RUNGS or steps_at(np.array(k)) >= self.inputs.eps]
        while rungs and rungs[0] > LONGEST and self.question.ask.budget.left > LEAST:
            one, other = (self.at(rung, FIRST).slopes for rung in rungs[:2])
            size = np.nan_to_num(np.fmax(np.abs(one), np.abs(other))).max(axis=0)
            change, both = np.mean(((one - other) / size) ** 2), np.mean(one * other / size**2)
            if not change <= ALIKE_FARTHER * both:
                break
            rungs = [rungs[0] - 1, *rungs]
        return rungs

    def _last(self, larger: "Group") -> int:
        """Return the last rung where noise leaves room to judge an effect, squared."""
        room = (allowed_as_a_whole(self.question.precision) / HIDDEN) ** 2 * self.effect
        noise = larger.level / float(np.mean(larger.weight**2))
        square = max(Z * noise / math.sqrt(MANY * self.weight.size) / room, SHORT**2)
        most = min(RUNGS[-1], max(rung_at(self.inputs.eps), FEWEST_RUNGS))
        return min(max(rung_at(math.sqrt(square)) + 2, LONGEST + FEWEST_RUNGS), most)

    def _floor(self, steps: Array) -> Array:
        """Return the mean square that the spacing of the values leaves in a slope, by column."""
        return np.asarray((self.question.noise.spacing * self.weight / steps) ** 2 / 24)

    def seen(self, count: int, *shorter: int) -> Looks:
        """Return the first lines at the chosen rungs, and at a shorter one if that is wanted."""
        looks = list[Look]()
        for rung in (self.first, self.first + 1, self.first + 2, *shorter):
            look = self.at(rung, count)
            claimed, slopes, middles = (one * self.weight for one in look[:3])
            looks.append(Look(claimed, slopes, middles, look.steps))
        floor = self._floor(steps_at(np.array(self.first + 2)))
        upstreams = self.question.ask.upstreams
        even = not self.line.rounds
        return Looks(self.lines[:count], looks, self.weight, floor, self.groups, upstreams, even)

    # --- the verdict ------------------------------------------------------------------------------

    def judge(self) -> list[Whole] | None:
        """Measure until inputs pass, or all as one fail; None if smaller groups may tell."""
        found, alone = None, self.effects is None
        counts = (FEW, MANY, 2 * MANY, 4 * MANY)[: 4 if alone else 3] if self.measurable else ()
        for count in counts:
            shortened = True
            while shortened:
                if EACH_LINE * (count - len(self.lines)) > self.question.ask.budget.left:
                    return found
                seen = self.seen(count)
                squares = [seen.square(columns) for columns in seen.groups]
                mistaken = [self._mistaken(one, seen) for one in squares]
                if True in mistaken:
                    if alone and count == FEW and self._hides_repairs(squares, seen):
                        self.seen(2 * FEW)
                    return [self._whole(squares, mistaken, seen)] if alone else None
                each = [None] if self.effects is None else self.effects
                found = [self._whole(squares, mistaken, seen, effects) for effects in each]
                left = [_may_pass(one, counts[-1]) for one in found if one.code != PASS]
                if count >= MANY and not left:
                    return found
                hopeful = np.mean(left or [True]) >= 1 / 2
                some = count >= MANY and len(left) < len(found)
                shortened = not hopeful and not some and self._shortened(squares, count)
            if False in mistaken or not (alone or hopeful):
                break  # more lines would show the same, or smaller groups may tell
        return found

    def _shortened(self, squares: Sequence[Square], count: int) -> bool:
        """Choose shorter steps if an error that noise does not explain is surely less there.

        Cost: 4 to 6 evaluations for each line, if there is such an error.
        """
        bent = [one for one in squares if one.error > one.doubt()]
        if not bent or EACH_LINE * count > self.question.ask.budget.left:
            return False
        self.first += SHORTER
        seen = self.seen(count)
        closer = [seen.square(one.columns) for one in bent]
        both = zip(bent, closer, strict=True)
        if not any(new.error + new.doubt() < STAYS * old.error for old, new in both):
            self.first -= SHORTER
            return False
        return True

    def _largest(self, found: Square) -> float:
        """Return the largest error that may pass."""
        noise = math.sqrt(self.level / found.size) if found.size > 0 else 0.0
        return allowed_as_a_whole(self.question.precision, self.line.rounds * noise)

    def _allowed(self, found: Square, size: float, lines: int) -> float:
        """Return the square that is allowed for an input of this size, squared.

        More lines than `MANY` make a pass surer. They do not ask for more.
        """
        most = self._largest(found) ** 2 * size
        hidden = found.doubt() * math.sqrt(max(1.0, lines / MANY))
        least = max(most / TIGHTER**2, (HIDDEN / 2 * self.stored) ** 2 * size)
        allowed = min(most, max(HIDDEN**2 * hidden, least))
        if allowed < found.error + hidden:
            allowed = max(allowed, self.own_rounding**2 * size)
        return allowed

    @cached_property
    def stored(self) -> float:
        """The spacing of the shortest format that the claims fit: half of it is their rounding."""
        matrix, parts = self.question.claims.matrix, [*self.inputs.parts.values()]
        if matrix is None:
            return 0.0
        return max(shortest_spacing(matrix[parts[k].stretch]) for k in self.numbers)

    @cached_property
    def own_rounding(self) -> float:
        """How far rounding may bend the claims, but no more than is allowed in their own digits."""
        most = allowed_as_a_whole(max(self.question.precision, self.stored))
        return min(HIDDEN * float(self.question.rounding_of_claims[self.numbers].max()), most)

    @QUIETLY
    def _mistaken(self, found: Square, seen: Looks) -> bool | None:
        """Whether the error is surely a mistake of the claim: larger than allowed, at all steps.

        None if more lines may tell. Cost: 2 evaluations for each line, if two steps refuse.
        """
        count, columns = len(seen.lines), found.columns
        rounding = min(ROUNDINGS**2 * self.level, self._largest(found) ** 2 * found.size)
        refused = max(self._allowed(found, found.size, count), rounding)
        if not self._exceeds(found, refused, seen):
            return None
        if self._is_literal(found):
            return False  # a staircase refuses nobody
        if 2 * count > self.question.ask.budget.left:
            return None
        seen = self.seen(count, self._third(found))
        closer = seen.square(columns, 1)
        doubt = closer.doubt(refused)
        # The mean product of an error and of what is bent, where f is smooth.
        bent = 2 * math.sqrt(found.error * self.bend) * self.smooth
        if closer.error + bent + doubt < STAYS * found.error:
            return False  # a kink, or truncation
        if closer.error + bent + doubt / Z < STAYS * found.error:
            return None  # more lines may show that
        if closer.error - doubt > found.error / STAYS:
            return False  # f is steeper at shorter steps
        if not self._kink(seen, columns) <= KINKED * found.error:
            return None
        quiet = found.noise <= min(found.slopes, ALIKE * found.error)
        return True if self._exceeds(closer, refused, seen) and quiet else None

    def _third(self, found: Square) -> int:
        """Return the shortest rung where noise does not hide this error, to show if it stays."""
        shortest = max(math.sqrt(16 * self.level / found.error), 2 * self.inputs.eps)
        return max(self.first + 2 + CLOSER, min(rung_at(shortest), CLOSEST))

    def _hides_repairs(self, squares: Sequence[Square], seen: Looks) -> bool:
        """Whether noise would hide that a repair of the claim is right."""
        low, _ = seen.quantiles
        left = [(one, REPAIRED * min(one.error, one.slopes)) for one in squares]
        return any(one.doubt(square) > low * square for one, square in left)

    @QUIETLY
    def _is_literal(self, found: Square) -> bool:
        """Whether the claims are the slopes between two stairs of f.

        In float64, f may be meant to have stairs. In short dtypes stairs are rounding, unless they
        are high, and all claims are 0. Cost: 2 evaluations for a few lines.
        """
        if self.question.ask.precision > SHORT:
            steps = steps_at(max(self.first, RUNGS[0]) + np.arange(1, 3))
            level = max(self.level, 2 * found.noise / float(np.sum(IN_PAIRS / steps**2)))
            high = level > STAIRCASE**2 * found.size
            if not high or any(look.claimed.any() for look in self.at_rungs.values()):
                return False
        steps, here = self.question.noise.resolution, np.abs(self.question.ask.here)
        if ((steps > 0) & (STAIRS * steps <= here)).all():
            return False  # with so many digits f was meant to be smooth
        near = self.at(CLOSEST, FIRST)
        off = float(np.sum((near.claimed - near.slopes) ** 2))
        return off <= LITERAL**2 * float(np.sum(near.claimed**2))

    @QUIETLY
    def _kink(self, seen: Looks, columns: slice) -> float:
        """Return the mean square of half the jump of the slope at x, or what it may be.

        The mean of f ahead of x and behind it is f(x), plus a term in step^2, plus one in the step
        where f has a kink at x. Jumps of several kinks may cancel in the mean of all lines, but
        hardly along each: there the product of two steps shows them without their noise.
        """
        looks = [seen.at[0], *seen.at[-2:]]
        middles, steps = list[Array](), np.array([look.steps for look in looks])  # (3, lines)
        for look in looks:
            lines = zip(seen.lines, look.steps.tolist(), strict=True)
            claimed = np.array([self._claimed_between(line, t) for line, t in lines]) * self.weight
            middles.append((look.middles - claimed)[:, columns])
        powers = np.linalg.inv(np.stack([np.ones(steps.shape), steps, steps**2]).transpose(2, 1, 0))
        here, jumps = (np.einsum("ks,skj->kj", powers[:, p], np.array(middles)) for p in (0, 1))
        square = float(np.mean(jumps.mean(axis=0) ** 2))
        noise = float(np.mean(jumps.var(axis=0))) / len(jumps)
        shows = square > noise * (1 + Z * math.sqrt(2 / jumps.shape[1]))
        # f(x) itself is rounded: all lines together know it better.
        far, middle, near = (np.array(middles) - here.mean(axis=0)) / steps[..., None]
        ratio = float(np.mean(steps[2] / steps[0]))  # so much less of a curve is left
        each = (middle * near - ratio * middle * far) / (1 - ratio)
        doubt = float(each.std()) / math.sqrt(each.size)
        return max((square - noise) * shows, float(each.mean()) + doubt)

    def _claimed_between(self, line: Dithered, t: float) -> Array:
        """Return the claims from x to the middle of the points at t and -t."""
        claims, move = self.question.claims, line.middle(t)
        if claims.matrix is not None:
            return np.asarray(claims.matrix.T @ move)
        self.question.return_to_x()
        return claims.product(move)

    def _exceeds(self, found: Square, refused: float, seen: Looks) -> bool:
        """Whether the square of the error is surely larger than this."""
        _, high = seen.quantiles
        return found.error > 0 and found.error - found.doubt(refused) >= high * refused

    @QUIETLY
    def _whole(
        self, squares: Sequence[Square], wrong: Sequence[Any], seen: Looks, effects: Any = None
    ) -> Whole:
        """Return the result for one input: that of the output where it is worst."""
        (low, _), count, found = seen.quantiles, len(seen.lines), []
        for one, fails in zip(squares, wrong, strict=True):
            size = one.size if effects is None else float(np.mean(effects[one.columns]))
            allowed = self._allowed(one, size, count)
            error, limit = max(one.error, 0.0), one.limit(low)
            bend = min(self.bend, error + one.doubt())
            passes = one.limit(low, allowed) <= allowed and (size > 0 or limit == 0)
            each = whole_of(
                (error, error + math.hypot(one.spread, bend), limit, one.proved),
                size,
                allowed=ratio_of(allowed, size),
                code=FAIL if fails else PASS if passes else UNSURE,
                lines=count,
                upstreams=seen.upstreams,
            )
            found.append(each)
        return worst(found)

    @QUIETLY
    def beside(self, claim: Array, other: Array, typical: Array) -> Whole | None:
        """Judge a claim of 0 by the gradient of another input: an error of 0 is no share of itself.

        None if f shows a slope, or if the claim is more than what rounding leaves of the other one,
        or of a typical claim.

        Parameters
        ----------
        claim, other, typical : ndarray, shape (columns,)
            The squared effects of the claim, of a gradient that f confirms, and of a typical claim.
        """
        if not self.lines:
            return None
        seen, found = self.seen(len(self.lines)), list[Whole]()
        low, _ = seen.quantiles
        for one in (seen.square(columns) for columns in seen.groups):
            size = float(np.mean((other * self.weight**2)[one.columns]))
            most = self._largest(one._replace(size=size))
            left = min(ROUNDING_LEFT * self.question.precision, most / HIDDEN) ** 2
            room = left * np.fmin(other, typical) - claim
            zero = float(np.mean((room * self.weight**2)[one.columns])) >= 0
            if not (size > 0 and zero and max(one.error, one.slopes) <= one.doubt()):
                return None
            # Half a spacing of f on both sides of x may hide a slope along all lines.
            still = STILL * float(np.mean(seen.floor[one.columns]))
            limit = max(one.limit(low), still / low)
            squares = max(one.error, 0.0), max(one.error, 0.0) + one.spread, limit, one.proved
            code = PASS if limit <= most**2 * size else UNSURE
            drawn = {"lines": len(seen.lines), "upstreams": seen.upstreams}
            found.append(whole_of(squares, size, allowed=most, code=code, zero=True, **drawn))
        return worst(found)


def whole_of(squares: Sequence[float], size: float, **others: Any) -> Whole:
    """Return a result from the squares of lengths, for a gradient of this size, squared.

    These are the error, the error with its spread, its limit, and what is proved. The spread is one
    of squares, so near 0 it reaches farther down than up: an error of two spreads may be none.
    """
    error, more, limit, proved = (ratio_of(one, size) for one in squares)
    spread = more**2 - error**2
    less = spread / (error + math.sqrt(max(0.0, error**2 - 2 * spread))) if error else 0.0
    return Whole(error, max(more - error, min(error, less)), limit, proved, **others)


def worst(found: Sequence[Whole]) -> Whole:
    """Return the worst of some results for one input: of one that fails, or is unsure, if any."""
    return max(found, key=lambda one: (one.code, one.limit))


def ratio_of(square: float, size: float) -> float:
    """Return one length over another, from their squares."""
    if size > 0:
        return math.sqrt(square / size)
    return math.inf if square else 0.0


def has_few_digits(question: Question) -> bool:
    """Whether f has fewer digits than float32, or than its dtype, as its noise shows."""
    noise = question.noise
    noisy = (noise.level > noise.quiet) & ~noise.random
    return bool((noisy | (noise.eps > SINGLE) | (noise.stairs > 0)).any())


def decides(question: Question) -> bool:
    """Whether the whole may decide: f has few digits, and each entry need not keep a tolerance."""
    noise = question.noise
    if question.demanded or noise.random.any() or question.claims.faults:
        return False
    if question.ask.budget.limited and question.ask.budget.left < LEAST:
        return False
    few = (noise.stairs > 0) | noise.rounded
    return bool(question.precision > SHORT or few.any())


def rounded_claims(question: Question, wholes: Sequence[Whole]) -> dict[str, float]:
    """Return the inputs whose claims have fewer digits than f, and how far that is known to matter.

    That is measured only for claims that are nearly right.
    """
    precision, names = question.precision, [p.name for p in question.ask.inputs.parts.values()]
    most = allowed_as_a_whole(precision)
    nearly = {one.name for one in wholes if most / TIGHTER < one.error < most}
    if not nearly:
        return {}
    each = zip(names, question.rounding_of_claims.tolist(), strict=True)
    return {name: off for name, off in each if name in nearly and off > ROUNDINGS * precision}


@QUIETLY
def effects_of(question: Question) -> Array | None:
    """Return the squared effect of the claims for each input, (inputs, columns).

    None if single claims are not known.
    """
    matrix, inputs = question.claims.matrix, question.ask.inputs
    if matrix is None:
        return None
    found = np.zeros((len(inputs.parts), matrix.shape[1]))
    for number, part in enumerate(inputs.parts.values()):
        end = part.start + part.size
        for start in range(part.start, end, PIECE):
            stop = min(start + PIECE, end)
            effects = matrix[start:stop] * inputs.units(start, stop)[:, None]
            found[number] += np.einsum("ij,ij->j", effects, effects)
    return found


def judge_inputs(
    question: Question, numbers: Sequence[int], right: Sequence[int] = ()
) -> tuple[dict[int, Whole], dict[int, Looks]]:
    """Judge the gradient of some inputs, each as a whole, in groups with similar effects.

    In a group, a small input hides beside large ones. So inputs that pass are taken out, and the
    rest is measured again, alone or in halves: by effect, or in their order if some are wrong. A
    claim of 0 that f does not contradict is judged beside the smallest of the others that pass.

    Returns the results, and the lines over each wrong input, by number; other inputs are known to
    be ``right``.
    """
    inputs, effects = question.ask.inputs, effects_of(question)
    parts = [*inputs.parts.values()]
    order = [number for number in numbers if parts[number].size]
    todo = [[number] for number in reversed(order)]
    if order and effects is not None:
        smallest_last = (-np.nan_to_num(effects.sum(axis=1))).tolist()
        todo = [order]
    larger: Group | None = None
    alone, found, seen = dict[int, Group](), dict[int, Whole](), dict[int, Looks]()
    budget = question.ask.budget
    with budget.apart(MOST + EACH_PASS * len(order)):
        while todo:
            group = todo.pop()
            several = len(group) > 1
            ours = factors = None
            effect = 0.0 if effects is None else float(effects[group].mean(axis=1).min())
            if effects is not None and several:
                factors = _alike(effects, group)
                ours = effects[group] * factors[group, None] ** 2
                effect = float(ours.mean(axis=1).min())
            waiting = sum(map(len, todo)) + several * len(group)
            with budget.kept(EACH_FAIL * waiting * (not budget.limited)):
                moves = np.isin(inputs.numbers_of(np.arange(inputs.size)), group)
                together = Group(question, moves, ours, factors, larger, effect)
                results = together.judge() or ()
            larger = larger or (together if together.measurable else None)
            for number, one in zip(group, results, strict=False):
                found[number] = replace(one, **named(question, parts[number]))
                if one.code == FAIL:
                    seen[number] = together.seen(len(together.lines))
                elif one.code == UNSURE and several:  # the error is that of all together
                    found[number] = replace(found[number], error=math.nan, spread=math.nan, lines=0)
                elif one.code == UNSURE:
                    alone[number] = together
            rest = [number for number in group if number not in found or found[number].lines == 0]
            if rest and several:
                # Before a wrong step of a backward pass all inputs are wrong, and right after it.
                rest.sort(key=smallest_last.__getitem__ if results else None)
                middle = (len(rest) + 1) // 2 if len(rest) == len(group) else len(rest)
                todo += filter(None, (rest[middle:], rest[:middle]))
    passing = [number for number, one in found.items() if one.code == PASS] + [*right]
    if effects is not None and passing:
        smallest = effects[min(passing, key=lambda number: float(effects[number].sum()))]
        typical = np.median(effects, axis=0)
        for number, measured in alone.items():
            if beside := measured.beside(effects[number], smallest, typical):
                found[number] = replace(beside, **named(question, parts[number]))
    for number in numbers:
        found.setdefault(number, unknown(question, parts[number]))
    return dict(sorted(found.items())), seen


@QUIETLY
def _alike(effects: Array, group: Sequence[int]) -> Array:
    """Return how much farther each input moves, so that all inputs of a group move f alike."""
    sizes = np.sqrt(effects.sum(axis=1))
    factors = np.nan_to_num(sizes[group].max() / sizes, nan=1.0, posinf=FARTHEST)
    return np.asarray(2.0 ** np.rint(np.log2(np.clip(factors, 1.0, FARTHEST))))


def _may_pass(one: Whole, lines: int) -> bool:
    """Whether so many lines would make an input pass, with the same error and less doubt."""
    (low, _), (most, _) = quantiles(one.lines, one.upstreams), quantiles(lines, one.upstreams)
    doubt = low * one.limit**2 - one.error**2
    return one.error**2 + doubt * math.sqrt(one.lines / lines) <= most * one.allowed**2


def unknown(question: Question, part: Part) -> Whole:
    """Return the result for an input that was not measured as a whole: if it is empty, a pass."""
    error, limit, code = (math.nan, math.inf, UNSURE) if part.size else (0.0, 0.0, PASS)
    return Whole(error, error, limit, limit, math.nan, code, **named(question, part))


def named(question: Question, part: Part) -> dict[str, Any]:
    """Return the name of an input and the number of its entries, for a result."""
    return {"name": part.name, "entries": part.size * question.ask.outputs.size}
