"""Which steps are asked next, after those of the pilots.

Along each line until its claims are settled; along many lines in the window that is sharpest for
all of them; and for a whole at the rungs where its slopes change least. A choice reads values
that are known, and returns rungs of the ladder. A single fact, such as the slopes nearest to x or
the ends of a stair, has steps of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import KINK_APART, Evidence, axes, refused_by, whole_entries
from gradcheck_ref.check.judge.looks import Z
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.rule import clear_jump
from gradcheck_ref.check.measure.ladder import DOWN, RATIO, WIDE, steps_at
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.pilot import FULL, HIGHEST
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import UNSURE

# Windows that share no value are so many rungs apart.
APART = 3 * WIDE

# A bar of up to so many times the allowed error may become short enough between the rungs.
NEARLY = 32.0

# After the first look: one a window away, one between the rungs, at all those of the pilots, at all
# there are; in any order of the last three, and one more.
LOOKS = 5

# A jump of the slope that is less than this part of it may be a bend.
BENT = 1e-3

# The bars of other lines may bend more than the first does, BENT_MORE times. A line whose bar is
# WORSE times the best, because it crosses kinks, is measured again so many rungs closer to x: the
# steps are 2.6, 18, 320 and 5,800 times shorter.
BENT_MORE, WORSE, CLOSER = 4.0, 4.0, (2, 6, 12, 18)

# Where the change of the slopes from rung to rung has risen, and then collapses, by more than
# truncation can, the steps are within one stair. Noise is told up to where the change is LOUDER
# times the least.
COLLAPSED, LOUDER = 1e3, 100.0

# The truncation of two slopes is alike: the product of both is so many times the mean square of
# their change, by the power of the step. Where f has kinks at random places (1), that is an
# integral over these places.
SHARED = {8: 0.2, 4: 1.0, 2: 4.2, 1: 5.0}

# The least power for a smooth f.
SMOOTH = 4

# The noise of a chord in the change from what two steps extrapolate to what the next two do,
# squared: 1 + 1 / 2.62 if nothing is extrapolated, else 1.62^2 + (2.24 / 1.62)^2 + (0.62 / 2.62)^2.
IN_CHANGE = 1.4, 4.6


# --- line by line ---------------------------------------------------------------------------------


def axes_of(question: Question, rows: Array, known: Sequence[Evidence] = ()) -> Evidence:
    """Measure some coordinates on their axes; for a complex entry both of its coordinates.

    Coordinates that are known are not measured again, but returned, too.
    """
    before = [row for evidence in known for row in evidence.rows.tolist()]
    measured = settled(axes(question, np.setdiff1d(whole_entries(question, rows), before)))
    return measured.joined(known) if known else measured


def settled(evidence: Evidence) -> Evidence:
    """Look along the lines, again a window away, between the rungs, and everywhere."""
    found = looked_first(evidence)
    between, all_of_pilots = np.zeros((2, len(evidence.lines)), bool)
    for number in range(LOOKS):
        unsure = (found.ruling.verdict == UNSURE).any(axis=1)
        if unsure.any():
            unsure &= ~found.kink_at_x()
        if not evidence.question.affordable and unsure.any():
            found = replace(found, starved=found.starved | unsure)
        if not (unsure.any() and evidence.question.affordable):
            break
        if number == 0:
            wanted = _again(found)
        else:
            nearly = _nearly(found) & ~between
            far = np.where(all_of_pilots[:, None], _everywhere(found), _all_of_pilots(found))
            wanted = np.where(nearly[:, None], _between(found), far)
            between |= nearly
            all_of_pilots |= ~nearly
        # A claim that one witness refuses is wrong if another one does: these come first.
        refused = np.asarray(found.ruling.refused.any(axis=1))
        found = found.looked(wanted & unsure[:, None], refused)
    return found


def looked_first(evidence: Evidence) -> Evidence:
    """Look through the pilot's window; if that is far from x, also one that is not.

    Where the unit of a coordinate is not that of its pilot, also one that is as long; and of an
    absolute length where it is too small for a pilot to reach that.
    """
    question, table = evidence.question, evidence.table
    pilots, inputs = question.noise.pilots, question.ask.inputs
    first = pilots.first[evidence.pilots]
    wanted = table.window(first) | table.window(np.maximum(first, 0))
    if all(line.seed is None for line in evidence.lines):
        own = inputs.units_at(evidence.rows)
        own = np.where(evidence.units < RATIO**-HIGHEST, 1.0, own)  # no pilot goes farther than 1
        longer = np.log(evidence.units / own) / math.log(RATIO)
        longer = np.where(np.abs(longer) > 1.6, np.rint(longer), 0.0).astype(int)
        wanted |= table.window(first + WIDE * longer)
    return evidence.looked(wanted)


def looked_beside(evidence: Evidence) -> Evidence:
    """Look through two more windows that share rungs with the first. Cost: 4 a line.

    They are shorter if that is needed, else longer.
    """
    first = np.where(evidence.table.where >= 0, evidence.table.rungs, DOWN).min(axis=1)
    longer = np.where(evidence.best.too_long.any(axis=1), 0, 2 * WIDE)
    return evidence.looked(evidence.table.window(first - longer, WIDE, 5))


def looked_between(evidence: Evidence) -> Evidence:
    """Look through windows that begin a rung or two closer to x. Cost: 6 a line."""
    return evidence.looked(evidence.table.window(_sharpest_start(evidence), 1, 5))


@QUIETLY
def _again(evidence: Evidence) -> Array:
    """Mark a window that shares no value with the best one.

    It is shorter if that is needed, or sharp enough to confirm a refusal, else longer.
    """
    best, refused = evidence.best, evidence.ruling.refused
    sharp = refused & (np.abs(evidence.residual) > 6 * RATIO**3 * best.rounding)
    # Another still window shows that f is flat, and a longer one may leave the flat piece.
    flat = (best.state == State.FLAT) & (evidence.claimed == 0) & evidence.question.noise.changed
    flat |= evidence.ruling.verdict != UNSURE
    shorter = (best.too_long | sharp).any(axis=1) | flat.all(axis=1)
    first = best.start.min(axis=1)
    start = np.where(shorter, first + APART, first - APART)
    start = np.where(start < evidence.table.top, first + APART, start)
    kink = clear_jump(best) & (best.kink > BENT * best.steepest)
    kink = (kink & (evidence.ruling.verdict == UNSURE)).any(axis=1)
    start = np.where(kink, first + KINK_APART, start)
    return evidence.table.window(start)


def _nearly(evidence: Evidence) -> Array:
    """Which lines have a bar that may become short enough between the rungs."""
    bar, allowed = evidence.best.bar, evidence.ruling.allowed
    refused = evidence.ruling.refused & (evidence.ruling.verdict == UNSURE)
    return np.asarray((refused | ((bar > allowed) & (bar < NEARLY * allowed))).any(axis=1))


def _between(evidence: Evidence) -> Array:
    """Rungs between those of the sharpest window, where noise is four times less.

    Five neighbors, because a kink on one side and noise on the other leave little room; all
    seven where a refusal is to be confirmed: they hold two windows that share no value.
    """
    best = _sharpest_start(evidence)
    refused = np.any(evidence.ruling.refused, axis=1, keepdims=True)
    seven, five = evidence.table.window(best, 1, 7), evidence.table.window(best - 2, 1, 5)
    return np.asarray(np.where(refused, seven, five))


def _sharpest_start(evidence: Evidence) -> Array:
    """Return the first rung of the window with the shortest bar of any output, by line."""
    bars = np.where(np.isfinite(evidence.witnesses.bar), evidence.witnesses.bar, np.inf).min(axis=2)
    return np.asarray(
        evidence.witnesses.start[bars.argmin(axis=0), np.arange(len(evidence.lines)), 0]
    )


def _everywhere(evidence: Evidence) -> Array:
    """All rungs, if truncation or a kink is what is too large."""
    best = evidence.best
    bends = ~np.isfinite(best.bar) | (best.truncation + best.kink > best.rounding)
    return np.asarray(np.any(bends, axis=1)[:, None] & _useful(evidence))


def _all_of_pilots(evidence: Evidence) -> Array:
    """All rungs of the pilots, and longer ones."""
    return _useful(evidence) & (evidence.table.rungs < FULL * WIDE)


def _useful(evidence: Evidence) -> Array:
    """Every third rung, but none that is longer than where all windows are too long."""
    rungs, known = evidence.table.rungs, evidence.witnesses.state != State.NOTHING
    longest = np.where(known, evidence.witnesses.start, KINK_APART).min(axis=(0, 2))[:, None]
    settled = evidence.ruling.verdict != UNSURE
    too_long = np.all(evidence.witnesses.too_long | ~known | settled, axis=(0, 2))[:, None]
    return np.asarray((rungs % WIDE == 0) & (~too_long | (rungs > longest)))


# --- many lines -----------------------------------------------------------------------------------


@QUIETLY
def bars_of_others(first: Evidence) -> Array:
    """Return the bars that other lines may have in each window of the first, (windows, outputs).

    They may bend more than the first does, but noise is alike along all of them.
    """
    seen = first.witnesses.at(np.index_exp[:, 0])
    return np.asarray(seen.rounding + BENT_MORE * (seen.truncation + seen.kink))


@QUIETLY
def sharpest_window(evidence: Evidence) -> tuple[int, int]:
    """Return first rung and stride of the window that is sharpest for a typical output."""
    bars = bars_of_others(evidence)
    bars = bars / bars.min(axis=0)
    bars = bars[:, np.isfinite(bars).all(axis=0)]
    if not bars.size:
        return int(evidence.question.noise.pilots.first.max()), WIDE
    trial, seen = np.median(bars, axis=1).argmin(), evidence.witnesses
    start, end = int(seen.start[trial, 0, 0]), int(seen.end[trial, 0, 0])
    return start, (end - start) // 2


def looked_closer(evidence: Evidence, start: int, stride: int, target: Array) -> Evidence:
    """Look through shorter windows along lines with far longer error bars than the others.

    They cross kinks. If a claim is refused, a bar that is short compared with its error is enough,
    and so is one that confirms it, by output.
    """
    for shorter in CLOSER:
        best = evidence.best
        enough = WORSE * np.maximum(np.min(best.bar, axis=0), target)
        off = np.where(refused_by(evidence)[0], np.abs(evidence.residual[0]) / WORSE, 0.0)
        closest = evidence.witnesses.take(evidence.witnesses.start.argmax(axis=0))
        kinks = closest.too_long & ~(best.bar <= np.fmax(enough, off))
        worse = kinks.any(axis=1)
        if not worse.any() or not evidence.question.affordable:
            break
        closer = evidence.table.window(start + shorter, stride)
        evidence = evidence.looked(closer & worse[:, None])
    return evidence


# --- wholes ---------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A rung and the next one, where the slopes of a whole are known best."""

    first: int  # the rung
    level: float  # the noise of f, squared
    bend: float  # what truncation leaves in the mean product of two slopes
    power: int  # that grows by this power of the step, 4 or 8 for a smooth f
    cost: float  # the square that noise and truncation are expected to leave


@QUIETLY
def sharpest_pair(
    rungs: Sequence[int], slopes: Array, off: Array, floor: Array, draws: int, even: bool
) -> Pair | None:
    """Return the rungs where slopes along a few lines change least; None if none is finite.

    Parameters
    ----------
    rungs : sequence of int
        The rungs, each one below the one before.
    slopes : ndarray, shape (rungs, lines, columns)
        The slopes, weighted.
    off : ndarray
        The claims there, minus the slopes. Only their change counts: it is that of the slopes, but
        without what the rounding of points changes.
    floor : ndarray, shape (rungs - 1,)
        The square that the spacing of values leaves in a slope.
    draws : int
        Of how many slopes the mean product is going to be taken.
    even : bool
        Whether each slope is extrapolated from two rungs, or from one.
    """
    steps = steps_at(np.array(rungs))[1:]
    change = np.mean(np.diff(off, axis=0) ** 2, axis=(1, 2)) + floor
    change = np.where(np.isfinite(change), change, np.inf)
    # A dip between two larger ones is chance: three lines may agree.
    change[1:-1] = np.fmax(change[1:-1], np.fmin(change[:-2], change[2:]))
    # Steps where the change has first risen, and then collapses, are within one stair of f, if
    # f itself moves less there, too. Behind a kink it moves as much.
    risen = change[1:-1] > np.minimum.accumulate(change)[:-2]
    size = np.mean(slopes**2, axis=(1, 2))
    still = size[3:] < size[1:-2] / 2
    within = np.flatnonzero(risen & still & (change[2:] < change[1:-1] / COLLAPSED))
    known = slice(within[0] + 2 if within.size else None)
    change, steps = change[known], steps[known]
    noise, bend, power = balance(steps, change, [*SHARED][not even :])
    expected = Z / math.sqrt(draws) * noise / steps**2
    expected += SHARED[power] * bend * steps**power
    expected = np.where(np.isfinite(change), expected, np.inf)
    best = int(expected.argmin())
    if not np.isfinite(change).any():
        return None
    level, left = noise / IN_CHANGE[even], SHARED[power] * bend * float(steps[best]) ** power
    return Pair(rungs[best], level, left, power, float(expected[best]))


@QUIETLY
def balance(steps: Array, cost: Array, powers: Sequence[int]) -> tuple[float, float, int]:
    """Fit noise and truncation: cost = noise / step^2 + bend x step^power.

    The fit has the maximum likelihood for a cost that varies like a mean of squares. The power is 4
    for a smooth f, and 2 or 1 where f has kinks. Returns noise, bend and power.
    """
    known = np.isfinite(cost) & (cost > 0)
    # Stairs are no white noise at steps that are shorter than they are.
    # A single cost may be small by chance.
    pairs = (cost[:-1] + cost[1:]) / 2 if cost.size > 1 else cost
    known &= (cost <= LOUDER * pairs.min()) | (np.arange(cost.size) < pairs.argmin())
    if not known.any():
        return 0.0, 0.0, 8
    steps, cost = steps[known], cost[known]
    factors = np.append(0.0, 2.0 ** np.arange(-20, 3, 0.25))
    noise = factors[:, None, None] * (cost * steps**2).min()
    best = math.inf, 0.0, 0.0, 8
    for power in powers:
        bend = factors[None, :, None] * (cost / steps**power).min()
        expected = noise / steps**2 + bend * steps**power
        unlikely = np.sum(cost / expected + np.log(expected), axis=2)
        unlikely[~np.isfinite(unlikely)] = np.inf
        i, j = np.unravel_index(int(np.argmin(unlikely)), unlikely.shape)
        one = float(unlikely[i, j]), float(noise[i, 0, 0]), float(bend[0, j, 0]), power
        best = min(best, one, key=lambda fit: fit[0])
    return best[1:]
