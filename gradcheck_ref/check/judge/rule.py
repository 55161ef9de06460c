"""The verdict on a line, from the set of its witnesses.

A claim *passes* where a witness that may be trusted accepts it and no closer one refuses it. It
*fails* where witnesses at clearly different steps agree with one another and refuse it, and none
that may be trusted sides with it. Else the evidence cannot tell. A staircase, a wave, a pole
between two samples, a spike and noise have one thing in common: their witnesses do not agree.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE
from gradcheck_ref.check.measure.witness import EDGE, FLAT, LOST, NOTHING, OUTSIDE, ROUGH, Witness
from gradcheck_ref.stage5_adaptive import FIRST_STEP

# To refuse a claim noise gets three error bars, each of four standard deviations: no gradient is
# blamed by chance.
FAIL_BARS = 3.0

# Witnesses of steps that differ by less have seen the same samples' neighbours.
CLEARLY = 2.0

# A witness is sharp if its bar is at most so much of its slope, or of the rounding of f alone, or
# of the distance to the claim. At a pole two vague ones agree by chance.
SHARP, AT_FLOOR, FAR_OFF = 0.3, 2.0, 0.01
MOSTLY_NOISE = 1.0

# Bars are parts of the truth, not bounds: two witnesses of a kink may miss each other by a little.
TOUCHING = 1.25

# Slopes that differ so much from step to step are those of a jump.
JUMPS = 100.0

# Bars that differ by less are one and the same.
ALIKE = 1.01

# Steps grow where noise drowns the slope; beyond so many times the size of x, or of 1, a function
# is another one.
FARTHEST = 32.0

# A bar of at most so many times the rounding of f is for nothing but rounding.
AT_ROUNDING = 32.0

# An f of a precision above this is looked at with steps so long that smooth bends remain; what is
# left of them at a kink is more than so much of the slope.
SHORT, A_BEND = 1e-12, 0.25

# An estimate of a slope that is claimed to be 0 must be this sharp, in units of the rounding of f
# over the length of x: then what f does on that length is known to eight digits.
ZERO_TO = 1e8


@dataclass
class Ruling:
    """What is decided about the claims along some lines: rows are lines, columns outputs.

    Attributes
    ----------
    verdict : ndarray of int
        PASS, UNSURE or FAIL.
    chosen : ndarray of int
        The number of the witness that speaks for the verdict.
    allowed : ndarray
        The allowed error.
    refused : ndarray of bool
        Whether a witness refuses the claim, and no other has confirmed it yet.
    flat : ndarray of bool
        Whether f did not move at all, at several steps.
    """

    verdict: Array
    chosen: Array
    allowed: Array
    refused: Array
    flat: Array


@dataclass(frozen=True)
class Lines:
    """What the rule needs to know of the lines besides their witnesses.

    Attributes
    ----------
    sizes : ndarray, shape (lines,)
        How far x is along each line.
    eps : ndarray, shape (outputs,)
        Precision of the outputs.
    here : ndarray, shape (outputs,)
        f at x.
    rtol : float
        The relative tolerance.
    stairs : ndarray of bool, shape (outputs,) or (lines, outputs)
        Whether f is known to move in stairs, if small ones: it is rounded to fewer digits than its
        dtype has, or stands still nearby.
    """

    sizes: Array
    eps: Array
    here: Array
    rtol: float
    stairs: Array


def trusted(witnesses: Witness) -> Array:
    """Tell which witnesses have a slope to tell, and none that another one belies.

    Beyond a step that saw several features of f nothing is believed; nor is the tread of a stair.
    """
    if len(witnesses.state) == 1:  # there is no other
        return np.isfinite(witnesses.bar)
    rough = np.where(witnesses.state == ROUGH, witnesses.step, np.inf).min(axis=0)
    tread = (witnesses.state == FLAT) & witnesses.moved.any(axis=0)
    return np.asarray(np.isfinite(witnesses.bar) & (witnesses.step < rough) & ~tread)


def best(witnesses: Witness) -> Array:
    """Return the number of the sharpest witness that may be trusted; else of the least vague."""
    if len(witnesses.state) == 1:
        return np.zeros(witnesses.state.shape[1:], int)
    slope, step, whole, jump = witnesses.slope, witnesses.step, witnesses.bar, witnesses.jump
    bar = np.where(trusted(witnesses), whole, np.inf)
    # Of bars that are the jump of a slope for the most part, the one that says so most sharply.
    rest = _picked(bar - jump, bar.argmin(axis=0))
    alike = bar <= ALIKE * bar.min(axis=0) + FAIL_BARS * rest
    bar = np.where(alike, bar - jump, bar)
    # Of witnesses that contradict each other the closer is believed.
    chosen = bar.argmin(axis=0)
    believed = np.isfinite(bar)
    with np.errstate(invalid="ignore"):
        for number in range(len(bar)):
            shorter = believed[number] & (step[number] < _picked(step, chosen))
            if shorter.any():
                off = np.abs(slope[number] - _picked(slope, chosen))
                apart = off > whole[number] + _picked(whole, chosen)
                chosen = np.where(shorter & apart, number, chosen)
    known = believed.any(axis=0)
    stuck = np.where(witnesses.state == FLAT, step, np.inf).argmin(axis=0)
    stuck = np.where(
        (witnesses.state == FLAT).any(axis=0), stuck, witnesses.steepest.argmin(axis=0)
    )
    return np.asarray(np.where(known, chosen, stuck))


def _picked(values: Array, chosen: Array) -> Array:
    """Return the value of one witness for every line and output."""
    return np.asarray(chosen.choose(values))  # there are fewer than 32 to choose from


def take(witnesses: Witness, chosen: Array) -> Witness:
    """Return one witness for every line and output."""
    if len(witnesses.state) == 1:
        return witnesses.at(0)
    return witnesses.at((chosen, *np.indices(chosen.shape, sparse=True)))


def rule(
    witnesses: Witness, claimed: Array, least: Array, lines: Lines, own_rounding: Array | float = 0
) -> Ruling:
    """Judge the claims by all witnesses, (trials, lines, outputs).

    Parameters
    ----------
    witnesses : Witness
        All that was measured.
    claimed : ndarray, shape (lines, outputs)
        The claims.
    least : ndarray, shape (lines, outputs)
        What is allowed besides rtol times the slope.
    lines : Lines
        Of these lines.
    own_rounding : ndarray, shape (lines, outputs)
        What the claim itself may be off by. It widens a refusal, and never acquits.
    """
    sizes = lines.sizes[:, None]
    with np.errstate(invalid="ignore", over="ignore"):
        counts = trusted(witnesses)
        bar, step = witnesses.bar, witnesses.step
        off = np.abs(claimed - witnesses.slope)
        allowed = least + lines.rtol * np.abs(witnesses.slope)
        accepts = counts & (off + bar <= allowed)
        if len(accepts) == 1 and accepts.all():  # nobody else has a say
            passed, no = np.full(claimed.shape, PASS), np.zeros(claimed.shape, bool)
            return Ruling(passed, np.zeros(claimed.shape, int), allowed[0], no, no)
        jump = witnesses.jump
        tread = (witnesses.state == FLAT) & witnesses.moved.any(axis=0)
        # x may be rounded before f is computed, as the product in sin(k x) is; no table shows that.
        lost = 4 * lines.eps * sizes * np.abs(witnesses.slope) / step
        bars = jump + FAIL_BARS * (bar - jump) + lost
        refuses = counts & (off - bars > allowed + own_rounding)
        refuses &= step <= FARTHEST * np.maximum(1.0, sizes)
        # An f that does not move may round numbers of the size of 1, or of x, inside.
        inside = 8 * lines.eps * np.maximum(1.0, lines.sizes.max(initial=0.0))
        refuses &= (witnesses.state != FLAT) | (np.abs(claimed) * step > inside)
        # That an output moves in stairs along one line says why it stands still along another.
        staircase = tread.any(axis=(0, 1))
        refuses &= (witnesses.state != FLAT) | ~staircase
        # The literal slope of a staircase is 0, however it looks from afar.
        refuses &= (claimed != 0) | ~(witnesses.stairs.any(axis=0) | lines.stairs)
        closest_refusal = np.where(refuses, step, np.inf).min(axis=0)
        passes = accepts & (step <= closest_refusal)
        fails, speaker = _agreed(witnesses, claimed, counts, refuses, lines)
    chosen = best(witnesses)
    chosen = np.where(passes.any(axis=0), np.where(passes, bar, np.inf).argmin(axis=0), chosen)
    chosen = np.where(fails, speaker, chosen)
    at = take(witnesses, chosen)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = least + lines.rtol * np.abs(np.where(np.isfinite(at.slope), at.slope, 0.0))
        lost_step = _out_of_reach(witnesses, at)
        zero = counts.any(axis=0) & _zero_but_for_rounding(witnesses, at, claimed, lines)
        # Too rough for a slope, and too small to matter: the last bits of one output among others.
        steepest = np.where(np.isfinite(witnesses.steepest), witnesses.steepest, 0.0).max(axis=0)
        small = (np.abs(claimed) <= allowed) & (steepest <= allowed)
        rough, outside = ((witnesses.state == state).any(axis=0) for state in (ROUGH, OUTSIDE))
        zero |= small & rough & ~outside
        flat = _stands_still(witnesses) & (claimed == 0)
    verdict = np.full(claimed.shape, UNSURE)
    verdict[fails & ~lost_step] = FAIL
    mute = ((witnesses.state == FLAT) | (witnesses.state == NOTHING)).all(axis=(0, 1))
    verdict[passes.any(axis=0) | (zero & ~refuses.any(axis=0) & ~mute) | flat] = PASS
    # A claim that is no number fails wherever f has a slope; infinity, where it is known well.
    verdict[np.isnan(claimed) & np.isfinite(at.slope)] = FAIL
    known = at.bar <= np.maximum(np.abs(at.slope), allowed)
    verdict[np.isinf(claimed) & known] = FAIL
    refused = (verdict == UNSURE) & refuses.any(axis=0)
    return Ruling(verdict, chosen, allowed, refused, flat & mute)


def _agreed(
    witnesses: Witness, claimed: Array, counts: Array, refuses: Array, lines: Lines
) -> tuple[Array, Array]:
    """Find two that refuse, at clearly different steps, and agree; return who speaks for them."""
    bar, jump, step, slope = witnesses.bar, witnesses.jump, witnesses.step, witnesses.slope
    off = np.abs(claimed - slope)
    sharp = (bar <= SHARP * np.abs(slope)) | (bar <= AT_FLOOR * witnesses.floor)
    # Of an f that is noise for the most part all slopes are 0, give or take: it may be a wave; not
    # if the wave would go by from one number to the next.
    loud = witnesses.rounding * step > MOSTLY_NOISE * witnesses.size
    loud &= off * lines.eps * lines.sizes[:, None] < witnesses.size
    sharp |= (bar <= FAR_OFF * off) & ~loud
    # A jump that shrinks with the step is an infinite bend, as of |x|^1.5, and no kink.
    sharp |= (jump > 0) & (bar <= SHARP * off) & ~loud
    # Whoever sides with the claim counts here, too, from beyond a step that saw several features.
    sides = np.isfinite(bar) & (counts | (bar < np.abs(slope)))
    sides &= off <= FAIL_BARS * bar
    fails = np.zeros(claimed.shape, bool)
    speaker = np.zeros(claimed.shape, int)
    for a, b in combinations(range(len(bar)), 2):
        both = refuses[a] & refuses[b]
        if not both.any():
            continue
        apart = np.maximum(step[a], step[b]) >= CLEARLY * np.minimum(step[a], step[b])
        agree = np.abs(slope[a] - slope[b]) <= TOUCHING * (bar[a] + bar[b])
        same_jump = (jump[a] > 0) & (np.abs(jump[a] - jump[b]) <= 0.1 * jump[a])
        found = both & apart & agree & ((sharp[a] & sharp[b]) | same_jump)
        sharper = np.where(bar[a] - jump[a] <= bar[b] - jump[b], a, b)
        off = np.abs(slope - _picked(slope, sharper))
        against = sides & (off > TOUCHING * (bar + _picked(bar, sharper)))
        found &= ~against.any(axis=0)
        speaker = np.where(found & ~fails, sharper, speaker)
        fails |= found
    return fails, speaker


def _stands_still(witnesses: Witness) -> Array:
    """Whether f did not move at all at two clearly different steps, nor at any other."""
    still = witnesses.state == FLAT
    longest = np.where(still, witnesses.step, 0.0).max(axis=0)
    shortest = np.where(still, witnesses.step, np.inf).min(axis=0)
    nothing_else = (still | (witnesses.state == NOTHING) | (witnesses.state == LOST)).all(axis=0)
    return np.asarray(nothing_else & (longest >= CLEARLY * shortest))


def _out_of_reach(witnesses: Witness, at: Witness) -> Array:
    """Whether a step was lost in x, and the longer ones show nothing but a mean of 0."""
    lost = (witnesses.state == LOST).any(axis=0) & ~(witnesses.jump > 0).any(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(lost & ~(np.abs(at.slope) > at.bar))


def _zero_but_for_rounding(witnesses: Witness, at: Witness, claimed: Array, lines: Lines) -> Array:
    """Whether claim and estimate are both zero, as far as rounding of f lets anybody tell.

    No tolerance relative to a slope holds there. The estimate must be good enough to show a slope
    that matters (over a length of 1, and of x), and have looked at f as closely as x is to 0, if f
    is small there.
    """
    length = lines.sizes[:, None]
    claim = np.abs(claimed) <= 8 * lines.eps * np.abs(lines.here)
    estimate = np.abs(at.slope) <= at.bar
    sharp = (at.bar <= lines.rtol * at.size) & (at.bar * length <= ZERO_TO * lines.eps * at.size)
    sharp |= at.size == 0
    near = ~at.small_here | (at.step <= length) | (length == 0)
    # Rounding would hide a slope that a longer step shows, of a small thing on a pedestal.
    bent = np.isfinite(witnesses.bar)
    bent &= witnesses.truncation + witnesses.kink > 2 * witnesses.rounding
    longest = bent.any(axis=0) | (witnesses.state == ROUGH).any(axis=0)
    longest |= at.small_here | (at.size == 0) | (at.step >= np.maximum(1.0, length) / 10)
    longest |= (at.step <= length) & (length < FIRST_STEP)  # it was longer before
    return np.asarray(claim & estimate & sharp & near & longest & np.isfinite(at.bar))


def why_passed(ruling: Ruling) -> Array:
    """Say why what passes does so, for every line and output."""
    flat = ruling.flat & (ruling.verdict == PASS)
    return np.where(flat, "flat", "ok").astype("<U16")


def reasons(
    ruling: Ruling,
    witnesses: Witness,
    claimed: Array,
    restless: Array,
    in_stairs: Array,
    eps: Array | float = 0.0,
) -> Array:
    """Say why, for every line and output: which outputs are random, or in stairs, is told."""
    verdict, reason = ruling.verdict, why_passed(ruling)
    at = take(witnesses, ruling.chosen)
    reason[verdict == FAIL] = "wrong"
    reason[(verdict == FAIL) & ~np.isfinite(claimed)] = "nonfinite"
    unsure = verdict == UNSURE
    counts = trusted(witnesses)
    stairs = (witnesses.state == FLAT).any(axis=0) & witnesses.moved.any(axis=0)
    stairs |= (witnesses.stairs.any(axis=0) | in_stairs) & (claimed == 0)
    nothing = ~counts.any(axis=0)
    outside = (witnesses.state == OUTSIDE).any(axis=0)
    lost = _out_of_reach(witnesses, at)
    with np.errstate(invalid="ignore"):
        rough = at.kink + at.truncation > 4 * at.rounding
        # The steps of a short dtype are long, and see the bends of every smooth f.
        rough &= (eps <= SHORT) | (at.kink + at.truncation > A_BEND * at.steepest)
        jumps = (witnesses.jump > 4 * witnesses.rounding).any(axis=0)
        rough |= jumps
        # At a jump the slope is the steeper the closer one looks.
        clear = (witnesses.state <= EDGE) & (witnesses.steepest > witnesses.rounding)
        closest = np.where(clear, witnesses.step, np.inf).argmin(axis=0)
        farthest = np.where(clear, witnesses.step, 0.0).argmax(axis=0)
        seen = np.where(clear, witnesses.steepest, np.nan)
        with np.errstate(over="ignore"):  # of slopes near the largest number
            rough |= _picked(seen, closest) > JUMPS * _picked(seen, farthest)
        # As at an optimum: what is left of the slope, and of the claim, is rounding.
        zero = (np.abs(at.slope) <= at.bar) & (np.abs(claimed) <= FAIL_BARS * at.bar)
        zero &= at.bar <= AT_ROUNDING * at.floor
    reason[unsure] = "noise"
    reason[unsure & zero] = "zero"
    reason[unsure & rough] = "kink"
    reason[unsure & (at.state == EDGE)] = "domain-edge"
    reason[unsure & nothing] = "kink"  # slopes that do not settle, at whatever step
    reason[unsure & nothing & outside] = "domain-edge"
    reason[unsure & stairs & ~jumps] = "stairs"
    reason[unsure & lost] = "step-underflow"
    reason[unsure & np.broadcast_to(restless, verdict.shape)] = "nondeterministic"
    return reason
