"""The verdict on a claim along a line, from the set of its witnesses.

1. Every witness that has a slope counts, by its error bar.
2. It *accepts* a claim that is surely within what is allowed, and *refuses* one that is surely not.
3. *Pass*: one accepts, and none at a shorter step refuses.
4. *Fail*: two at clearly different steps refuse, and agree with each other. No other witness that
   contradicts them is closer or sides with the claim.
5. *Pass* as well: f stands still and the claim is exactly 0; or both are 0 but for rounding.
6. Else *unsure*: the evidence cannot tell. The largest part of the sharpest bar says why.

A staircase, a wave, a pole, a spike and noise need no rule of their own: their witnesses disagree.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import (
    EDGE,
    FLAT,
    LOST,
    OUTSIDE,
    ROUGH,
    Witness,
)

# To refuse a claim takes three error bars, each of four standard deviations of noise: no gradient
# is blamed by chance. Half of an exact jump counts once.
FAIL_BARS = 3.0

# Two steps that differ by a factor of 2 have no sample in common, nor one nearby.
CLEARLY = 2.0

# Truncation is an estimate, not a bound: two witnesses of a kink may miss each other by a little.
TOUCHING = 1.25

# What moves in steps is a staircase if its values have up to four digits; with more, as a printed
# number has, it was meant to be smooth.
STAIRS = 3e4

# A slope from one side is sharp if its bar is at most this share of it: so it is not the start of
# a slope that grows with each shorter step, by the ratio of the steps (1.6) and more.
SHARP = 0.3

# A bar is sharp enough for a slope of 0 if f is known to eight digits over the length of x.
ZERO_TO = 1e8


@dataclass
class Ruling:
    """What is decided about the claims along some lines: arrays of shape (lines, outputs)."""

    verdict: Array  # PASS, UNSURE or FAIL
    chosen: Array  # the number of the witness that speaks for the verdict
    allowed: Array  # the allowed error
    refused: Array  # whether a witness refuses the claim, and the verdict is open
    flat: Array  # whether the claim passes because f stands still


@dataclass(frozen=True)
class Setting:
    """What the rule needs to know besides the witnesses of some lines."""

    sizes: Array  # (lines,): how far x is along each line
    starved: Array  # (lines,): whether evaluations were missing for another look
    eps: Array  # (outputs,): the precision of f
    here: Array  # (outputs,): f at x
    rtol: float
    moved: Array  # (outputs,): whether f has moved anywhere in the check
    resolution: Array  # (outputs,): the step between the values of f; 0 where there is none
    rounded: Array  # (outputs,): whether it moves in steps for want of digits


def take(witnesses: Witness, chosen: Array) -> Witness:
    """Return one witness for every line and output."""
    if len(witnesses.state) == 1:
        return witnesses.at(0)
    return witnesses.at((chosen, *np.indices(chosen.shape, sparse=True)))


def sharpest(witnesses: Witness) -> Array:
    """Return the number of the witness with the shortest bar; without any, of the least steep."""
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

    A claim may be off by ``least`` besides rtol times the slope. What the claim itself rounds,
    ``own_rounding``, widens a refusal and never acquits.
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
    fails, speaker = _agreed(witnesses, off, refuses, setting)

    chosen = np.where(flat, (witnesses.state == FLAT).argmax(axis=0), sharpest(witnesses))
    passing = np.where(passes, bar, np.inf)
    chosen = np.where(passes.any(axis=0), passing.argmin(axis=0), chosen)
    chosen = np.where(fails, speaker, chosen)
    at = take(witnesses, chosen)
    allowed = least + rtol * np.abs(np.where(np.isfinite(at.slope), at.slope, 0.0))
    verdict = np.where(fails, FAIL, UNSURE)
    verdict[passes.any(axis=0) | flat] = PASS
    # A claim that is no number fails wherever f has a slope; infinity, where it is known well.
    known = at.bar <= np.maximum(np.abs(at.slope), allowed)
    verdict[(np.isnan(claimed) & np.isfinite(at.slope)) | (np.isinf(claimed) & known)] = FAIL
    refused = (verdict == UNSURE) & refuses.any(axis=0)
    flat &= (verdict == PASS) & ~passes.any(axis=0)
    return Ruling(verdict, chosen, allowed, refused, flat)


def _agreed(
    witnesses: Witness, off: Array, refuses: Array, setting: Setting
) -> tuple[Array, Array]:
    """Find two that refuse together and are not contradicted; return who speaks for them."""
    bar, step, slope = witnesses.bar, witnesses.step, witnesses.slope
    fails, speaker = np.zeros(off.shape[1:], bool), np.zeros(off.shape[1:], int)
    torn = fails.copy()
    if np.count_nonzero(refuses, axis=0).max(initial=0) < 2:
        return fails, speaker
    sides = off <= FAIL_BARS * bar
    # At the edge of a domain slopes may grow without end, and vague ones agree by chance.
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
        torn |= found & other_side
        found &= ~(other_side | (closer & (between > bars)).any(axis=0))
        speaker = np.where(found & ~fails, sharper, speaker)
        fails |= found
    # Where more lines side with their claims from afar than refuse them, the slope is another one
    # from there, and nobody is blamed for the nearer one; nor where nobody looked from afar.
    fails &= ~(torn.any(axis=0) & setting.starved[:, None])
    fails &= np.count_nonzero(torn, axis=0) <= np.count_nonzero(fails, axis=0)
    return fails, speaker


def _stands_still(witnesses: Witness, setting: Setting) -> Array:
    """Whether f did not move at two clearly different steps, nor at any shorter one.

    If it has never moved anywhere, one of the steps must be about as long as x; and what is rounded
    to few digits may stand still because of that.
    """
    still = witnesses.state == FLAT
    longest = np.where(still, witnesses.step, 0.0).max(axis=0)
    shortest = np.where(still, witnesses.step, np.inf).min(axis=0)
    moves = ~still & (witnesses.state < LOST) & (witnesses.step < longest)
    reach = np.where(setting.moved, 0.0, setting.sizes[:, None] / 4)
    far = longest >= np.maximum(CLEARLY * shortest, reach)
    return np.asarray(far & ~moves.any(axis=0) & ~setting.rounded)


def _zero(witnesses: Witness, claimed: Array, setting: Setting) -> Array:
    """Whether claim and slope are both zero but for rounding, so that no tolerance helps.

    The bar must be short enough to show a slope that matters, over a length of 1 and of x. And f
    must have been asked from as far away as it can be: on a pedestal rounding would hide a slope
    that a longer step shows.
    """
    bar, size, length = witnesses.bar, witnesses.size, setting.sizes[:, None]
    zero = np.abs(claimed) <= 8 * setting.eps * np.abs(setting.here)
    zero = zero & (np.abs(witnesses.slope) <= bar) & (bar <= setting.rtol * size)
    zero &= bar * length <= ZERO_TO * setting.eps * size
    # Something else than rounding limits a longer step, or there is one as long as that.
    limits = witnesses.too_long | (witnesses.step >= np.maximum(1.0, length) / 10)
    far = (limits & (witnesses.state <= ROUGH)).any(axis=0)
    zero &= bar <= bar.min(axis=0)
    return np.asarray(zero & far & setting.moved & ~setting.rounded)


@QUIETLY
def reasons(ruling: Ruling, witnesses: Witness, claimed: Array, setting: Setting) -> Array:
    """Say why, for every line and output, in the words of `Pair.reason`."""
    verdict, at, state = ruling.verdict, take(witnesses, ruling.chosen), witnesses.state
    reason = np.where(ruling.flat, "flat", "ok").astype("<U16")
    reason[verdict == FAIL] = "wrong"
    reason[(verdict == FAIL) & ~np.isfinite(claimed)] = "nonfinite"
    unsure, nothing = verdict == UNSURE, ~np.isfinite(at.slope)
    rounding = 4 * setting.eps * at.size / at.step
    zero = (np.abs(at.slope) <= at.bar) & (np.abs(claimed) <= FAIL_BARS * at.bar)
    still = np.where(state == FLAT, witnesses.step, np.inf).min(axis=0)
    stairs = (witnesses.moved & (witnesses.step > still)).any(axis=0)
    in_steps = (state == FLAT).any(axis=0) | (claimed == 0)
    in_steps = in_steps | (4 * setting.resolution / at.step >= at.bar / 2)
    stairs |= (setting.resolution > 0) & in_steps
    # Smooth from nearby with a slope that refuses, rough from farther away.
    stairs |= ruling.refused & ((state == ROUGH) & (witnesses.step > at.step)).any(axis=0)
    reason[unsure] = "noise"
    reason[unsure & zero & (at.bar <= 32 * rounding)] = "zero"
    jumps = (witnesses.jump > 4 * witnesses.rounding).any(axis=0)
    reason[unsure & (at.too_long | nothing | jumps)] = "kink"
    reason[unsure & (at.state == EDGE)] = "domain-edge"
    reason[unsure & nothing & (state == OUTSIDE).any(axis=0)] = "domain-edge"
    reason[unsure & stairs & ~jumps] = "stairs"
    reason[unsure & nothing & (state == LOST).any(axis=0)] = "step-underflow"
    return reason
