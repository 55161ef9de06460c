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
from gradcheck_ref.check.decimals import shortest_spacing
from gradcheck_ref.check.judge.chords import (
    EACH_FAIL,
    EACH_LINE,
    FEW,
    FIRST,
    LEAST,
    MANY,
    MOVED,
    Chords,
)
from gradcheck_ref.check.judge.looks import Looks, Square, Z, quantiles
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.rule import STAIRS
from gradcheck_ref.check.judge.steps import SMOOTH
from gradcheck_ref.check.judge.tolerance import ROUNDING_LEFT
from gradcheck_ref.check.knobs import default_rtol
from gradcheck_ref.check.measure.ladder import rung_at, steps_at
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL, PASS, REMAINDER, UNSURE, Whole
from gradcheck_ref.structure.parts import Part
from gradcheck_ref.structure.units import PIECE, powers_of_two

# Numbers with a longer spacing have few digits: those of a float32 and shorter ones.
SHORT = 1e-10

# The spacing of float32.
SINGLE = 2.0**-23

# Evaluations for all inputs, unless the caller set a limit; on top of them, for each input, what a
# pass takes alone: MANY lines, or twice as many; 3/2 of them in the mean.
MOST, EACH_PASS = 2000, 42 + EACH_LINE * 3 * MANY // 2

# The largest allowed error: that of an entry, if it is not more than ALLOWED, or in spacings of the
# dtype, or in standard deviations of the noise. And the largest of all.
ALLOWED, SPACINGS, NOISES, MOST_ALLOWED = 1e-3, 20.0, 4096.0, 0.1

# A pass must be closer where noise allows: within this many times the error that noise hides, or a
# TIGHTER-th of what is allowed, or as many roundings of the claim to what it is stored in. A claim
# that was computed with the precision of f rounds, too: only an error of ROUNDINGS times the noise
# of f is refused.
HIDDEN, TIGHTER, ROUNDINGS = 4.0, 10.0, 8.0

# A repair is right if it leaves surely less than this part of the error, squared.
REPAIRED = REMAINDER**2

# A mistake has at least this part of its square at a step far shorter, and hardly more.
STAYS = 0.7

# Before a fail, lines are also measured a few rungs closer to x.
CLOSER = 3

# How much noise of their shorter chord two extrapolated slopes have, squared: 1.62^2 and 1.17^2,
# and what the longest adds. See `Looks.without_bend`.
IN_PAIRS = np.array([2.8, 1.4])

# In a group, an input with a small effect moves up to so many times farther than others. Without
# that, it hides beside them.
FARTHEST = 8.0

# With more noise than this part of its change over a unit of all inputs, f is a staircase, not a
# function in few digits. A rung that crosses none of its stairs; and how closely a claim is the
# slope there.
STAIRCASE, CLOSEST, LITERAL = 2.0**-6, 24, 1e-3

# With such a part of its square as a spread, an error may be none; see `whole_of`.
ENOUGH = 3.0

# Rounding at two steps may be alike. So a refusal takes an error of at least half of the noise of
# one residual, squared, and so does what takes it back.
ALIKE = 2.0

# The square of half a spacing on both sides of x, over that of `Chords._floor`.
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


class Group(Chords):
    """The verdict of chords on some inputs, one by one or as one.

    Parameters
    ----------
    effects : ndarray, shape (inputs, columns), optional
        If inputs are judged one by one: the effects of their claims.
    others : any
        As for `Chords`.
    """

    def __init__(
        self, question: Question, moves: Array, effects: Array | None = None, **others: Any
    ) -> None:
        super().__init__(question, moves, **others)
        weight = self.weight if self.measurable else 1.0
        self.effects = None if effects is None else (effects * weight) ** 2
        self.falls = False  # whether an error falls towards x, and may be none there

    def judge(self) -> list[Whole] | None:
        """Measure until inputs pass, or all as one fail; None if smaller groups may tell."""
        found, alone = list[Whole](), self.effects is None
        each = [None] if self.effects is None else self.effects
        count, most = FEW, (4 if alone else 2) * MANY
        while (
            self.measurable
            and self.each_line * (count - len(self.lines)) <= self.question.ask.budget.left
        ):
            seen = self.seen(count)
            squares = [seen.square(columns) for columns in seen.groups]
            mistaken = [self._mistaken(one, seen) for one in squares]
            if True in mistaken and not alone:
                return None
            found = [self._whole(squares, mistaken, seen, effects) for effects in each]
            if True in mistaken:
                if count == FEW and self._hides_repairs(squares, seen):
                    self.seen(2 * FEW)
                break
            open_ = [one for one in found if one.code != PASS]
            more = max(MANY, 2 * count)
            if count >= MANY and not open_:
                break
            if not all(_may_pass(one, more) for one in open_) and self.moved(squares, count):
                continue
            hopeful = np.mean([_may_pass(one, most) for one in open_] or [True]) >= 1 / 2
            # More lines would show the same, or smaller groups may tell.
            if False in mistaken or not (alone or hopeful) or more > most:
                break
            count = more
        if not found or not (alone or any(one.code == PASS for one in found)):
            return found or None  # nobody is told an error of all together
        both = zip(squares, mistaken, strict=True)
        squares = [self._bent(one, fails, len(seen.lines)) for one, fails in both]
        return [self._whole(squares, mistaken, seen, effects) for effects in each]

    def _largest(self, found: Square) -> float:
        """Return the largest error that may pass."""
        noise = math.sqrt(self.level / found.size) if found.size > 0 else 0.0
        return allowed_as_a_whole(self.question.precision, self.line.rounds * noise)

    def _allowed(self, found: Square, size: float, lines: int) -> float:
        """Return the square that is allowed for an input of this size, squared.

        More lines than `MANY` make a pass surer. They do not ask for more. In a group, an error
        that is more than noise belongs to some input, which noise hides less where it moves alone.
        """
        most = self._largest(found) ** 2 * size
        hidden = found.doubt() * math.sqrt(max(1.0, lines / MANY))
        if self.effects is not None and found.error > found.doubt():
            hidden = 0.0
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
        if not (math.isfinite(found.error) and self._exceeds(found, refused, seen)):
            return None
        if self._is_literal(found):
            return False  # a staircase refuses nobody
        if 2 * count > self.question.ask.budget.left:
            return None
        seen = self.seen(count, self._third(found, count))
        closer = seen.square(columns, 1)
        doubt = closer.doubt(refused)
        # The mean product of an error and of what is bent, where f is smooth.
        bent = 2 * math.sqrt(found.error * self.bend) * (self.power >= SMOOTH)
        if closer.error + bent + doubt < STAYS * found.error:
            self.falls = closer.noise <= ALIKE * found.error
            return False  # a kink, or truncation
        if closer.error + bent + doubt / Z < STAYS * found.error:
            return None  # more lines may show that
        if closer.error - doubt > found.error / STAYS:
            return False  # f is steeper at shorter steps
        if not self._kink(seen, columns) <= KINKED * found.error:
            return None
        quiet = found.noise <= min(found.slopes, ALIKE * found.error)
        return True if self._exceeds(closer, refused, seen) and quiet else None

    def _third(self, found: Square, lines: int) -> int:
        """Return the shortest rung where noise does not hide this error, to show if it stays.

        Noise of 1/16 of the error in a residual moves the mean of FEW lines by a third of it at
        most (Z), and so does more noise that of more lines.
        """
        noise = min(self.level, self._shown(found)) / found.error * FEW / lines
        shortest = max(math.sqrt(16 * noise), self.inputs.eps)
        return max(self.rungs[-1] + CLOSER, min(rung_at(shortest), CLOSEST))

    def _shown(self, found: Square) -> float:
        """Return the noise of f, squared, that would explain how slopes change with the step."""
        steps = steps_at(np.array(self.rungs[-2:]))
        factors = IN_PAIRS if self.even else np.ones(2)
        return 2 * found.noise / float(np.sum(factors / steps**2))

    def _hides_repairs(self, squares: Sequence[Square], seen: Looks) -> bool:
        """Whether noise would hide that a repair of the claim is right."""
        low, _ = seen.quantiles
        left = [(one, REPAIRED * min(one.error, one.slopes)) for one in squares]
        return any(one.doubt(square) > low * square for one, square in left)

    @QUIETLY
    def _is_literal(self, found: Square) -> bool:
        """Whether the claims are the slopes between two stairs of f.

        In float64, f may be meant to have stairs. In short dtypes stairs are rounding, unless all
        claims are 0, and the stairs are high beside all that f changes by: beside an input with a
        small effect, any rounding is. Cost: 2 evaluations for a few lines.
        """
        if self.question.ask.precision > SHORT:
            if any(look.claimed.any() for look in self.at_rungs.values()):
                return False
            effects, change = effects_of(self.question), found.size
            if effects is not None:
                every = (effects * self.weight)[:, found.columns] ** 2
                change += float(np.mean(every.sum(axis=0)))
            if not max(self.level, self._shown(found)) > STAIRCASE**2 * change:
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

        The mean of f ahead of x and behind it is f(x), plus terms in step^2 and step^4, plus one in
        the step where f has a kink at x. Jumps of several kinks may cancel in the mean of all
        lines, but hardly along each: there the product of two steps shows them without their noise.
        """
        steps = np.array([look.steps for look in seen.at])  # (3 or 4, lines)
        middles = list[Array]()
        for look in seen.at:
            lines = zip(seen.lines, look.steps.tolist(), strict=True)
            claimed = np.array([self._claimed(line.middle(t)) for line, t in lines]) * self.weight
            middles.append((look.middles - claimed)[:, columns])
        terms = np.stack([steps**power for power in (0, 1, 2, 4)[: len(steps)]])
        powers = np.linalg.inv(terms.transpose(2, 1, 0))
        here, jumps = (np.einsum("ks,skj->kj", powers[:, p], np.array(middles)) for p in (0, 1))
        square = float(np.mean(jumps.mean(axis=0) ** 2))
        # The rounding of f next to x may be the same along all lines.
        alike = self.level / 2 * float(np.mean(np.sum(powers[:, 1] ** 2, axis=1)))
        noise = max(float(np.mean(jumps.var(axis=0))) / len(jumps), alike)
        shows = square > noise * (1 + Z * math.sqrt(2 / jumps.shape[1]))
        # f(x) itself is rounded: all lines together know it better, but may all be off by as much.
        each = (np.array(middles) - here.mean(axis=0)) / steps[..., None]
        far, *_, middle, near = each - each.mean(axis=1, keepdims=True)
        ratio = float(np.mean(steps[-1] / steps[0]))  # so much less of a curve is left
        products = (middle * near - ratio * middle * far) / (1 - ratio)
        doubt = float(products.std()) / math.sqrt(products.size)
        return (square - noise) * shows + float(products.mean()) + doubt

    def _exceeds(self, found: Square, refused: float, seen: Looks) -> bool:
        """Whether the square of the error is surely larger than this."""
        _, high = seen.quantiles
        return found.error > 0 and found.error - found.doubt(refused) >= high * refused

    @QUIETLY
    def _bent(self, found: Square, fails: bool | None, lines: int) -> Square:
        """Return the error with a spread that covers what truncation or kinks may add to it.

        An error that falls towards x may be none. At kinks it falls with the step, so it is half as
        much in the product of the last step and one that is MOVED rungs shorter. Cost: 2
        evaluations for each of up to `MANY` lines, if the error is more than noise.
        """
        lines, bend = min(lines, MANY), min(self.bend, found.error + found.doubt())
        if not fails and found.error > found.doubt():
            left = every = ENOUGH * found.error
            if fails is None and 2 * lines <= self.question.ask.budget.left:
                seen = self.seen(lines, self.rungs[-1] + MOVED)
                one, closer = seen.square(found.columns), seen.square(found.columns, 1)
                left = 2 * max(one.error - max(closer.error, 0.0), 0.0) + closer.doubt() / Z
            bend = max(bend, min(left, every))
        return found._replace(spread=math.hypot(found.spread, bend))

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
            passes = one.limit(low, allowed) <= allowed and (size > 0 or limit == 0)
            lengths = error, error + one.spread, limit, one.proved
            each = whole_of(
                [math.sqrt(square) for square in lengths],
                math.sqrt(size),
                allowed=math.sqrt(ratio_of(allowed, size)),
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
            The effects of the claim, of a gradient that f confirms, and of a typical claim.
        """
        if not self.lines:
            return None
        seen, found = self.seen(len(self.lines)), list[Whole]()
        low, _ = seen.quantiles
        for one in (seen.square(columns) for columns in seen.groups):
            size = float(np.mean((other * self.weight)[one.columns] ** 2))
            most = self._largest(one._replace(size=size))
            left = min(ROUNDING_LEFT * self.question.precision, most / HIDDEN)
            room = (left * np.fmin(other, typical) * self.weight) ** 2
            zero = float(np.mean((room - (claim * self.weight) ** 2)[one.columns])) >= 0
            if not (size > 0 and zero and max(one.error, one.slopes) <= one.doubt()):
                return None
            # Half a spacing of f on both sides of x may hide a slope along all lines.
            still = STILL * float(np.mean(seen.floor[one.columns]))
            limit = max(one.limit(low), still / low)
            error = max(one.error, 0.0)
            squares = error, error + one.spread, limit, one.proved
            lengths = [math.sqrt(square) for square in squares]
            # With few digits, outside f or inside, what is allowed hides gradients that matter.
            least = min(most, allowed_as_a_whole(SINGLE))
            passes = limit <= least**2 * size and self.question.precision <= SINGLE
            code = PASS if passes else UNSURE
            drawn = {"lines": len(seen.lines), "upstreams": seen.upstreams, "zero": True}
            found.append(whole_of(lengths, math.sqrt(size), allowed=least, code=code, **drawn))
        return worst(found)


def whole_of(lengths: Sequence[float], size: float, **others: Any) -> Whole:
    """Return a result from lengths, for a gradient of this length.

    These are the error, the error with its spread, its limit, and what is proved. The spread is one
    of squares, so near 0 it reaches farther down than up: an error of two spreads may be none.
    """
    error, more, limit, proved = (ratio_of(one, size) for one in lengths)
    spread = (more - error) * (more + error)
    less = spread / (error + math.sqrt(max(0.0, error * error - 2 * spread))) if error else 0.0
    return Whole(error, max(more - error, min(error, less)), limit, proved, **others)


def worst(found: Sequence[Whole]) -> Whole:
    """Return the worst of some results for one input: of one that fails, or is unsure, if any."""
    return max(found, key=lambda one: (one.code, one.limit))


def ratio_of(length: float, size: float) -> float:
    """Return one length over another."""
    if size > 0:
        return length / size
    return math.inf if length else 0.0


def length_of(numbers: Array) -> Array:
    """Return the lengths of columns, in a unit in which no square underflows."""
    unit = powers_of_two(np.abs(numbers).max(axis=0, initial=0.0, where=np.isfinite(numbers)))
    return np.asarray(np.sqrt(np.sum((numbers / unit) ** 2, axis=0)) * unit)


def has_few_digits(question: Question) -> bool:
    """Whether f or x has fewer digits than float32, or f fewer than its dtype, as noise shows."""
    noise = question.noise
    noisy = (noise.level > noise.quiet) & ~noise.random
    return bool(question.precision > SINGLE or (noisy | (noise.stairs > 0)).any())


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
    """Return the length of the effect of the claims for each input, (inputs, columns).

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
            found[number] = np.hypot(found[number], length_of(effects))
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
    sizes, todo = np.zeros(len(parts)), [[number] for number in reversed(order)]
    if order and effects is not None:
        sizes = np.nan_to_num(length_of(effects.T)) / math.sqrt(effects.shape[1])
        todo = [order]
    smallest_last = (-sizes).tolist()
    larger: Group | None = None
    alone, found, seen = dict[int, Group](), dict[int, Whole](), dict[int, Looks]()
    budget = question.ask.budget
    with budget.apart(MOST + EACH_PASS * len(order)):
        while todo:
            group = todo.pop()
            several = len(group) > 1
            ours, factors, effect = None, None, float(sizes[group].min())
            if effects is not None and several:
                factors = _alike(sizes, group)
                ours = effects[group] * factors[group, None]
                effect = float((sizes * factors)[group].min())
            waiting = sum(map(len, todo)) + several * len(group)
            with budget.kept(EACH_FAIL * waiting * (not budget.limited)):
                moves = np.isin(inputs.numbers_of(np.arange(inputs.size)), group)
                least = allowed_as_a_whole(question.precision) / HIDDEN * effect
                together = Group(question, moves, ours, factors=factors, larger=larger, least=least)
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
def _alike(sizes: Array, group: Sequence[int]) -> Array:
    """Return how much farther each input moves, so that all inputs of a group move f alike."""
    factors = np.nan_to_num(sizes[group].max() / sizes, nan=1.0, posinf=FARTHEST)
    return np.asarray(2.0 ** np.rint(np.log2(np.clip(factors, 1.0, FARTHEST))))


def _may_pass(one: Whole, lines: int) -> bool:
    """Whether so many lines would make an input pass, with the same error and less doubt."""
    (low, _), (most, _) = quantiles(one.lines, one.upstreams), quantiles(lines, one.upstreams)
    error, limit = one.error * one.error, low * one.limit * one.limit
    room = most * one.allowed**2 - error
    return (limit - error) * math.sqrt(one.lines / lines) <= room


def unknown(question: Question, part: Part) -> Whole:
    """Return the result for an input that was not measured as a whole: if it is empty, a pass."""
    error, limit, code = (math.nan, math.inf, UNSURE) if part.size else (0.0, 0.0, PASS)
    return Whole(error, error, limit, limit, math.nan, code, **named(question, part))


def named(question: Question, part: Part) -> dict[str, Any]:
    """Return the name of an input and the number of its entries, for a result."""
    return {"name": part.name, "entries": part.size * question.ask.outputs.size}
