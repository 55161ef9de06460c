"""The rule: the verdict on a claim along a line, from the set of its witnesses.

1. Every witness that has a slope counts, with its error bar.
2. A witness *accepts* a claim that is surely within the allowed error, and *refuses* a claim that
   is surely outside it.
3. *Pass*: one witness accepts, and none with a shorter step refuses.
4. *Fail*: two witnesses with clearly different steps refuse, and agree with each other. No witness
   that contradicts them has a shorter step or agrees with the claim.
5. Also *pass*: f does not change and the claim is exactly 0; or both are 0 except for rounding.
6. Otherwise *unsure*: the evidence cannot tell. The largest part of the shortest bar says why, or
   the evaluations ran out.

A staircase, a wave, a pole, a spike and noise need no rule of their own: their witnesses disagree.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.measure.witness import ROUNDING, State, Witnesses
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS, UNSURE

# f stands still if it does at two steps that differ by this factor: at two windows.
CLEARLY = 2.0

# Truncation is an estimate, not a bound: the bars of two witnesses of a kink may just not overlap.
TOUCHING = 1.25

# Slopes at shorter steps are other ones if they are TEN times larger than one and its bar.
TEN = 10.0

# Steps longer than this many times the size of x measure a different part of f.
BEYOND = 32.0

# Values that change in steps are a staircase if they have up to four digits. With more digits, like
# printed numbers, they stand for a smooth function.
STAIRS = 3e4


class Ruling(NamedTuple):
    """The verdicts on the claims along some lines: arrays of shape (lines, outputs)."""

    verdict: Array  # PASS, UNSURE or FAIL
    chosen: Array  # the number of the witness behind the verdict
    allowed: Array  # the allowed error
    refused: Array  # whether a witness refuses the claim, and the verdict is not a pass
    flat: Array  # whether the claim passes because f does not change


class Facts(NamedTuple):
    """Facts about a claim besides the witnesses along its line; see `doubts`."""

    own_rounding: Array | float = 0.0  # of the claim itself, (lines, outputs)
    tied: Array | bool = False  # where f has no derivative, because entries of x are tied
    refuted: Array | bool = False  # where the claims for tied entries have a wrong sum
    doubted: Array | bool = False  # where another measurement contradicts that it is wrong
    followed: Array | bool = False  # where f follows it in jumps, farther away; see `jumps`
    ignored: Array | bool = False  # where f never changes with the whole input
    off_as_a_whole: Array | bool = False  # where its input surely is; it passes by no atol
    whole: Array | bool = False  # where noise hides it, and its input is right as a whole


def sharpest(witnesses: Witnesses) -> Array:
    """Return the number of the witness with the shortest bar; if none has one, the least steep."""
    if len(witnesses.state) == 1:
        return np.zeros(witnesses.state.shape[1:], int)
    bar = witnesses.bar
    vague = np.isinf(bar).all(axis=0)
    return np.asarray(np.where(vague, witnesses.steepest.argmin(axis=0), bar.argmin(axis=0)))


@QUIETLY
def rule(
    witnesses: Witnesses,
    claimed: Array,
    least: Array,
    rtol: float,
    noise: Noise,
    units: Array,
    scales: Array,
    starved: Array,
    facts: Facts,
) -> Ruling:
    """Judge the claims along some lines by all their witnesses.

    Parameters
    ----------
    witnesses : Witnesses, shape (trials, lines, outputs)
        The slopes at several steps.
    claimed, least : ndarray, shape (lines, outputs)
        The claimed slopes, and the allowed error besides rtol times the slope.
    rtol : float
        The relative tolerance.
    noise : Noise
        The noise of f, and other facts about its values.
    units, scales : ndarray, shape (lines,)
        The unit of x along each line, and the size of a typical entry, if that is larger.
    starved : ndarray of bool, shape (lines,)
        Whether no evaluations were left for another witness.
    facts : Facts
        Facts besides the witnesses.
    """
    bar, jump, step, here = witnesses.bar, witnesses.jump, witnesses.step, noise.ask.here
    off = np.abs(claimed - witnesses.slope)
    allowed = least + rtol * np.abs(witnesses.slope)
    accepts = off + bar <= allowed
    # Small errors that are right each may be wrong together.
    accepts &= ~np.asarray(facts.off_as_a_whole) | (off + bar <= rtol * np.abs(witnesses.slope))
    if len(accepts) == 1 and accepts.all() and not np.any(facts.refuted):
        number, no = np.zeros(claimed.shape, int), np.zeros(claimed.shape, bool)
        return Ruling(np.full(claimed.shape, PASS), number, allowed[0], no, no)
    refuses = off - jump - FAIL_BARS * (bar - jump) > allowed + facts.own_rounding
    # If no step of the size of x has a slope, longer ones have another.
    near = step <= BEYOND * scales[:, None]
    refuses &= near | (near & np.isfinite(witnesses.slope)).any(axis=0)
    # The slope of a staircase is 0, unless its stairs are so small that it was meant to be smooth.
    refuses &= (claimed != 0) | (STAIRS * noise.resolution <= np.abs(here))
    accepts |= _zero(witnesses, claimed, rtol, noise, units[:, None], scales[:, None])
    closest_refusal = np.where(refuses, step, np.inf).min(axis=0)
    passes = accepts & (step <= closest_refusal)
    flat = _stands_still(witnesses, noise, units[:, None]) & (claimed == 0) & ~refuses.any(axis=0)
    flat &= ~np.asarray(facts.off_as_a_whole)
    sides = near & (off <= FAIL_BARS * bar) & (bar <= np.abs(claimed))
    fails, agreed = _agreed(witnesses, off, refuses, sides, starved[:, None])

    chosen = np.where(flat, (witnesses.state == State.FLAT).argmax(axis=0), sharpest(witnesses))
    passing = np.where(passes, bar, np.inf)
    chosen = np.where(passes.any(axis=0), passing.argmin(axis=0), chosen)
    chosen = np.where(fails, agreed, chosen)
    at = witnesses.take(chosen)
    allowed = least + rtol * np.abs(np.where(np.isfinite(at.slope), at.slope, 0.0))
    verdict = np.where(fails, FAIL, UNSURE)
    verdict[passes.any(axis=0) | flat] = PASS
    # A claim of NaN is no number, so it fails wherever f can be measured.
    verdict[np.isnan(claimed) & (at.state <= State.OUTSIDE)] = FAIL
    verdict[np.isinf(claimed) & _finite(witnesses, claimed, at, allowed)] = FAIL
    doubted = (facts.tied | facts.doubted | facts.followed) & np.isfinite(claimed)
    verdict[np.isnan(here) | (doubted & (verdict == FAIL))] = UNSURE
    verdict = np.where(facts.refuted, FAIL, verdict)
    verdict[(verdict == UNSURE) & facts.whole & ~np.asarray(facts.followed)] = PASS
    refused = (verdict == FAIL) | ((verdict == UNSURE) & refuses.any(axis=0))
    flat &= (verdict == PASS) & ~passes.any(axis=0)
    return Ruling(verdict, chosen, allowed, refused, flat)


def _finite(witnesses: Witnesses, claimed: Array, at: Witnesses, allowed: Array) -> Array:
    """Whether an infinite claim is wrong: a slope is known well, or f turns the other way.

    At an edge a slope needs two witnesses, like any refusal, because slopes may grow there.
    """
    known = (at.bar <= np.maximum(np.abs(at.slope), allowed)) & (at.state != State.EDGE)
    agrees = witnesses.trend * np.sign(claimed)
    against = np.count_nonzero(agrees < 0, axis=0) >= 2
    return np.asarray(known | (against & ~(agrees > 0).any(axis=0)))


def _agreed(
    witnesses: Witnesses, off: Array, refuses: Array, sides: Array, starved: Array
) -> tuple[Array, Array]:
    """Find two witnesses that refuse, agree and are not contradicted; return the sharper one."""
    bar, step, slope = witnesses.bar, witnesses.step, witnesses.slope
    start, end = witnesses.start, witnesses.end
    fails, chosen = np.zeros(off.shape[1:], bool), np.zeros(off.shape[1:], int)
    contradicted = fails.copy()
    if np.count_nonzero(refuses, axis=0).max(initial=0) < 2:
        return fails, chosen
    # At the edge of a domain slopes may grow without end, at least by the ratio of the steps (1.6)
    # from step to step. Their long bars overlap by chance.
    refuses = refuses & ((witnesses.state != State.EDGE) | (bar <= 0.3 * np.abs(slope)))
    for a, b in combinations(range(len(bar)), 2):
        apart = (start[a] > end[b]) | (start[b] > end[a])  # they share no value
        agree = np.abs(slope[a] - slope[b]) <= TOUCHING * (bar[a] + bar[b])
        found = refuses[a] & refuses[b] & apart & agree
        if not found.any():
            continue
        first = bar[a] <= bar[b]
        sharper = np.where(first, a, b)
        theirs, width = (np.where(first, one[a], one[b]) for one in (slope, bar))
        closer = step < np.minimum(step[a], step[b])
        between, bars = np.abs(slope - theirs), bar + width
        other_side = (sides & (between - off > TOUCHING * bars)).any(axis=0)
        contradicted |= found & other_side
        # Or f moves more at a shorter step than such a slope and its noise explain.
        moves = witnesses.steepest > TEN * (np.abs(theirs) + width + witnesses.rounding)
        found &= ~(other_side | (closer & ((between > bars) | moves)).any(axis=0))
        chosen = np.where(found & ~fails, sharper, chosen)
        fails |= found
    # If other steps agree with the claims along more lines than fail, slopes depend on the step,
    # and no line fails. Nor does one that had no evaluations left for more steps.
    fails &= ~(contradicted.any(axis=0) & starved)
    fails &= np.count_nonzero(contradicted, axis=0) <= np.count_nonzero(fails, axis=0)
    return fails, chosen


def _stands_still(witnesses: Witnesses, noise: Noise, units: Array) -> Array:
    """Whether f did not change at two clearly different steps, nor at any shorter one.

    If f has never changed anywhere, one of the steps must be about as long as x, or as the domain
    of f allows; and if it has stairs, longer than one of 16 bits inside f, of which x has more than
    BEYOND. An f with few digits does not count, nor one that moves beyond these steps as slowly as
    its rounding hides in them: it may be flat only because its values are rounded.
    """
    still = witnesses.state == State.FLAT
    moves = np.where(~still & (witnesses.state < State.NOTHING), witnesses.step, np.inf)
    still &= witnesses.step < moves.min(axis=0)
    longest = np.where(still, witnesses.step, 0.0).max(axis=0)
    shortest = np.where(still, witnesses.step, np.inf).min(axis=0)
    reach = np.minimum(units / 4, leaves(witnesses) / CLEARLY**3)
    reach = np.where(noise.changed, (noise.stairs > 0) * units / BEYOND, reach)
    # Nor one so small that its dtype has few digits there.
    size = witnesses.size.max(axis=(0, 1))
    few = (size > 0) & (size < noise.ask.outputs.smallest_normal)
    slope = np.where(moves == moves.min(axis=0), witnesses.moved / witnesses.step, 0.0).max(axis=0)
    rounding = noise.ask.outputs.eps.max(initial=0.0) * size
    hides = (slope > 0) & (slope * longest <= CLEARLY * rounding)
    far = longest >= np.maximum(CLEARLY * shortest, reach)
    return np.asarray(far & ~(noise.rounded | few | hides))


def leaves(witnesses: Witnesses) -> Array:
    """Return the shortest step that leaves the domain of f, by line and output; else infinity."""
    state = witnesses.state
    outside = (state == State.EDGE) | (state == State.OUTSIDE) | (state == State.ALONE)
    return np.asarray(np.where(outside, witnesses.step, np.inf).min(axis=0))


def _zero(
    witnesses: Witnesses, claimed: Array, rtol: float, noise: Noise, units: Array, scales: Array
) -> Array:
    """Whether claim and slope are both zero except for rounding, where no tolerance helps.

    The bar must be short enough to show a slope that matters, to eight digits of f over the length
    of x, or three where f has few. If f has a large offset, these are not its own digits: where f
    changes by more than rounding, the bar must show three digits of that change, too. And the
    longest useful step must have been tried: at short steps rounding may hide a slope.
    """
    eps = np.where(noise.short, noise.eps, noise.ask.outputs.eps.max(initial=0.0))
    bar, here, moved, step = witnesses.bar, noise.ask.here, witnesses.moved, witnesses.step
    size = np.where(step <= units, witnesses.size, 0.0).max(axis=0)
    near = step <= CLEARLY**3 * scales
    still = (~near | (moved <= ROUNDING * eps * witnesses.size)).all(axis=0)
    shown = (moved * np.fmin(units / step, 1.0)).max(axis=0)
    enough = np.fmin(min(rtol, 1e-3), 1e8 * eps) * size
    enough = np.where(still, enough, np.fmin(enough, 1e-3 * shown))
    zero = np.abs(claimed) * scales <= 4 * eps * np.abs(here)
    zero &= (claimed == 0) | (here != 0)  # no product that is too small for its dtype
    zero = zero & (np.abs(witnesses.slope) <= bar) & ~witnesses.too_long
    zero &= bar * units <= enough
    # Either truncation or a kink limits longer steps, or one of the steps is about as long as x; or
    # longer, where f has shown no change yet.
    limits = witnesses.too_long | (near & (step >= np.where(still, scales, scales / 10)))
    far = (limits & (witnesses.state <= State.ROUGH)).any(axis=0)
    zero &= bar <= bar.min(axis=0)
    return np.asarray(zero & far & noise.changed & ~noise.rounded)


def clear_jump(witnesses: Witnesses) -> Array:
    """Return where the slope of f jumps at x, by more than rounding."""
    return np.asarray(witnesses.jump > 4 * witnesses.rounding)
