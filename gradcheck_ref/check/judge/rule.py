"""The rule: the verdict on a claim along a line, from the set of its witnesses.

1. Every witness that has a slope counts, with its error bar.
2. A witness *accepts* a claim that is surely within the allowed error, and *refuses* a claim that
   is surely outside it.
3. *Pass*: one witness accepts, and none with a shorter step refuses.
4. *Fail*: two witnesses with clearly different steps refuse, and agree with each other. No witness
   that contradicts them has a shorter step or agrees with the claim.
5. Also *pass*: f does not change and the claim is exactly 0; or both are 0 except for rounding.
6. Otherwise *unsure*: the evidence cannot tell. The largest part of the shortest bar says why.

A staircase, a wave, a pole, a spike and noise need no rule of their own: their witnesses disagree.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import (
    EDGE,
    FLAT,
    LOST,
    OUTSIDE,
    ROUGH,
    Witness,
)
from gradcheck_ref.check.results import FAIL, PASS, UNSURE

# A refusal takes three error bars, each of four standard deviations of noise, so that no gradient
# fails by chance. Half of an exact jump counts only once.
FAIL_BARS = 3.0

# Two steps that differ by a factor of 2 share no samples, and have none close to each other.
CLEARLY = 2.0

# Truncation is an estimate, not a bound: the bars of two witnesses of a kink may just not overlap.
TOUCHING = 1.25

# Values that change in steps are a staircase if they have up to four digits. With more digits, like
# printed numbers, they stand for a smooth function.
STAIRS = 3e4

# A one-sided slope is sharp if its bar is at most this fraction of it. Slopes that grow without
# end, at least by the ratio of the steps (1.6) from step to step, have longer bars.
SHARP = 0.3

# The bar of a slope of 0 is short enough if it shows f to eight digits over the length of x.
ZERO_TO = 1e8


@dataclass
class Ruling:
    """The verdicts on the claims along some lines: arrays of shape (lines, outputs)."""

    verdict: Array  # PASS, UNSURE or FAIL
    chosen: Array  # the number of the witness behind the verdict
    allowed: Array  # the allowed error
    refused: Array  # whether the verdict is unsure, and a witness refuses the claim
    flat: Array  # whether the claim passes because f does not change


@dataclass(frozen=True)
class Setting:
    """Facts that the rule needs besides the witnesses of some lines."""

    sizes: Array  # (lines,): the size of x along each line
    starved: Array  # (lines,): whether no evaluations were left for another witness
    eps: Array  # (outputs,): the precision of f
    here: Array  # (outputs,): f at x
    rtol: float
    moved: Array  # (outputs,): whether f has changed anywhere in the check
    resolution: Array  # (outputs,): the step between the values of f; 0 if there is none
    rounded: Array  # (outputs,): whether f moves in steps because its values have few digits


def take(witnesses: Witness, chosen: Array) -> Witness:
    """Return one witness for every line and output."""
    if len(witnesses.state) == 1:
        return witnesses.at(0)
    return witnesses.at((chosen, *np.indices(chosen.shape, sparse=True)))


def sharpest(witnesses: Witness) -> Array:
    """Return the number of the witness with the shortest bar; if none has one, the least steep."""
    if len(witnesses.state) == 1:
        return np.zeros(witnesses.state.shape[1:], int)
    bar = witnesses.bar
    vague = np.isinf(bar).all(axis=0)
    return np.asarray(np.where(vague, witnesses.steepest.argmin(axis=0), bar.argmin(axis=0)))


@QUIETLY
def rule(
    witnesses: Witness,
    claimed: Array,
    least: Array,
    setting: Setting,
    own_rounding: Array | float = 0.0,
) -> Ruling:
    """Judge claims, (lines, outputs), by all witnesses, (trials, lines, outputs).

    The allowed error is ``least`` plus rtol times the slope. The rounding of the claim itself,
    ``own_rounding``, can prevent a refusal, but never makes a witness accept.
    """
    bar, jump, step, rtol = witnesses.bar, witnesses.jump, witnesses.step, setting.rtol
    off = np.abs(claimed - witnesses.slope)
    allowed = least + rtol * np.abs(witnesses.slope)
    accepts = off + bar <= allowed
    if len(accepts) == 1 and accepts.all():
        number, no = np.zeros(claimed.shape, int), np.zeros(claimed.shape, bool)
        return Ruling(np.full(claimed.shape, PASS), number, allowed[0], no, no)
    refuses = off - jump - FAIL_BARS * (bar - jump) > allowed + own_rounding
    # The slope of a staircase is 0, unless its stairs are so small that it was meant to be smooth.
    refuses &= (claimed != 0) | (STAIRS * setting.resolution <= np.abs(setting.here))
    accepts |= _zero(witnesses, claimed, setting)
    closest_refusal = np.where(refuses, step, np.inf).min(axis=0)
    passes = accepts & (step <= closest_refusal)
    flat = _stands_still(witnesses, setting) & (claimed == 0) & ~refuses.any(axis=0)
    fails, agreed = _agreed(witnesses, off, refuses, setting)

    chosen = np.where(flat, (witnesses.state == FLAT).argmax(axis=0), sharpest(witnesses))
    passing = np.where(passes, bar, np.inf)
    chosen = np.where(passes.any(axis=0), passing.argmin(axis=0), chosen)
    chosen = np.where(fails, agreed, chosen)
    at = take(witnesses, chosen)
    allowed = least + rtol * np.abs(np.where(np.isfinite(at.slope), at.slope, 0.0))
    verdict = np.where(fails, FAIL, UNSURE)
    verdict[passes.any(axis=0) | flat] = PASS
    # A claim of NaN fails wherever f has a slope; infinity fails if that slope is known well.
    known = at.bar <= np.maximum(np.abs(at.slope), allowed)
    verdict[(np.isnan(claimed) & np.isfinite(at.slope)) | (np.isinf(claimed) & known)] = FAIL
    refused = (verdict == UNSURE) & refuses.any(axis=0)
    flat &= (verdict == PASS) & ~passes.any(axis=0)
    return Ruling(verdict, chosen, allowed, refused, flat)


def _agreed(
    witnesses: Witness, off: Array, refuses: Array, setting: Setting
) -> tuple[Array, Array]:
    """Find two witnesses that refuse, agree and are not contradicted; return the sharper one."""
    bar, step, slope = witnesses.bar, witnesses.step, witnesses.slope
    fails, chosen = np.zeros(off.shape[1:], bool), np.zeros(off.shape[1:], int)
    contradicted = fails.copy()
    if np.count_nonzero(refuses, axis=0).max(initial=0) < 2:
        return fails, chosen
    sides = off <= FAIL_BARS * bar
    # At the edge of a domain slopes may grow without end, and long bars overlap by chance.
    refuses = refuses & ((witnesses.state != EDGE) | (bar <= SHARP * np.abs(slope)))
    for a, b in combinations(range(len(bar)), 2):
        apart = np.maximum(step[a], step[b]) >= CLEARLY * np.minimum(step[a], step[b])
        agree = np.abs(slope[a] - slope[b]) <= TOUCHING * (bar[a] + bar[b])
        found = refuses[a] & refuses[b] & apart & agree
        if not found.any():
            continue
        sharper = np.where(bar[a] <= bar[b], a, b)
        theirs, width = sharper.choose(slope), sharper.choose(bar)
        closer = step < np.minimum(step[a], step[b])
        between, bars = np.abs(slope - theirs), bar + width
        other_side = (sides & (between > TOUCHING * bars)).any(axis=0)
        contradicted |= found & other_side
        found &= ~(other_side | (closer & (between > bars)).any(axis=0))
        chosen = np.where(found & ~fails, sharper, chosen)
        fails |= found
    # If longer steps agree with the claims along more lines than fail, the slope depends on the
    # step, and no line fails. Nor does a line that had no evaluations left for longer steps.
    fails &= ~(contradicted.any(axis=0) & setting.starved[:, None])
    fails &= np.count_nonzero(contradicted, axis=0) <= np.count_nonzero(fails, axis=0)
    return fails, chosen


def _stands_still(witnesses: Witness, setting: Setting) -> Array:
    """Whether f did not change at two clearly different steps, nor at any shorter one.

    If f has never changed anywhere, one of the steps must be about as long as x. An f with few
    digits does not count: it may be flat only because its values are rounded.
    """
    still = witnesses.state == FLAT
    longest = np.where(still, witnesses.step, 0.0).max(axis=0)
    shortest = np.where(still, witnesses.step, np.inf).min(axis=0)
    moves = ~still & (witnesses.state < LOST) & (witnesses.step < longest)
    reach = np.where(setting.moved, 0.0, setting.sizes[:, None] / 4)
    far = longest >= np.maximum(CLEARLY * shortest, reach)
    return np.asarray(far & ~moves.any(axis=0) & ~setting.rounded)


def _zero(witnesses: Witness, claimed: Array, setting: Setting) -> Array:
    """Whether claim and slope are both zero except for rounding, where no tolerance helps.

    The bar must be short enough to show a slope that matters, over a length of 1 and of x. And the
    longest useful step must have been tried: if f has a large offset, the rounding of f may hide a
    slope at short steps.
    """
    bar, size, length = witnesses.bar, witnesses.size, setting.sizes[:, None]
    zero = np.abs(claimed) <= 8 * setting.eps * np.abs(setting.here)
    zero = zero & (np.abs(witnesses.slope) <= bar) & (bar <= setting.rtol * size)
    zero &= bar * length <= ZERO_TO * setting.eps * size
    # Either truncation or a kink limits longer steps, or one of the steps is about as long as x.
    limits = witnesses.too_long | (witnesses.step >= np.maximum(1.0, length) / 10)
    far = (limits & (witnesses.state <= ROUGH)).any(axis=0)
    zero &= bar <= bar.min(axis=0)
    return np.asarray(zero & far & setting.moved & ~setting.rounded)


@QUIETLY
def reasons(ruling: Ruling, witnesses: Witness, claimed: Array, setting: Setting) -> Array:
    """Return the reason of each verdict, in the words of `Pair.reason`."""
    verdict, at, state = ruling.verdict, take(witnesses, ruling.chosen), witnesses.state
    reason = np.where(ruling.flat, "flat", "ok").astype("<U16")
    reason[verdict == FAIL] = "wrong"
    reason[(verdict == FAIL) & ~np.isfinite(claimed)] = "nonfinite"
    unsure, nothing = verdict == UNSURE, ~np.isfinite(at.slope)
    rounding = 4 * setting.eps * at.size / at.step
    zero = np.maximum(np.abs(at.slope), np.abs(claimed)) <= FAIL_BARS * at.bar
    still = np.where(state == FLAT, witnesses.step, np.inf).min(axis=0)
    stairs = (witnesses.moved & (witnesses.step > still)).any(axis=0)
    in_steps = (state == FLAT).any(axis=0) | (claimed == 0)
    in_steps = in_steps | (4 * setting.resolution / at.step >= at.bar / 2)
    stairs |= (setting.resolution > 0) & in_steps
    # Smooth at short steps, with a slope that refuses the claim, and rough at longer ones.
    stairs |= ruling.refused & ((state == ROUGH) & (witnesses.step > at.step)).any(axis=0)
    reason[unsure] = "noise"
    jumps = (witnesses.jump > 4 * witnesses.rounding).any(axis=0)
    reason[unsure & (at.too_long | nothing | jumps)] = "kink"
    reason[unsure & stairs & ~jumps] = "stairs"
    reason[unsure & zero & (at.bar <= 32 * rounding)] = "zero"
    reason[unsure & (at.state == EDGE)] = "domain-edge"
    reason[unsure & nothing & (state == OUTSIDE).any(axis=0)] = "domain-edge"
    reason[unsure & nothing & (state == LOST).any(axis=0)] = "step-underflow"
    return reason
