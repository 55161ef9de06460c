"""Entry by entry: pass, fail or unsure, and why.

An entry passes when it is within the allowed error even if the estimate is off by its whole error
bar, and fails when it is outside even if the estimate is off by three bars. In between, the
evidence does not tell, and the reason is the largest part of the error bar.

Some evidence convicts nobody, however sharp it looks: where f is mostly noise, a staircase, or flat
because it rounds, and where the only steps that worked are too long to show the slope at x.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.evidence import NOISE_UNITS, Evidence
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.check.search import FAIL, OPEN, PASS
from gradcheck_ref.check.structure import Part
from gradcheck_ref.stage5_adaptive import FIRST_STEP

# Entries down to a ten-thousandth of the largest are held to rtol; smaller ones, and zeros that are
# zero but for rounding (some eps of the largest), to what rtol is for an entry of that size.
ATOL_FRACTION = 1e-4

# For a fail noise gets three error bars, each of four standard deviations: no gradient is blamed
# by chance.
FAIL_BARS = 3.0

# An estimate of a slope that is claimed to be 0 must be this sharp, in units of the rounding of f
# over the length of x: then what f does on that length is known to eight digits.
SHARP = 1e8

# A few dozen additions and products, each with its own rounding.
ROUNDING_LEFT = 64.0

# Steps grow where noise drowns the slope; beyond so many times the size of x, or of 1, a function
# is another one.
FARTHEST = 32.0

# A function with noise of more than this fraction of itself convicts no gradient.
MOSTLY_NOISE = 0.05

# Codes of the verdict on one entry; those of evidence.py, and one for what was not looked at.
UNSURE, SKIPPED = OPEN, 3
VERDICTS = {PASS: "pass", UNSURE: "unsure", FAIL: "fail", SKIPPED: "skipped"}


@dataclass(frozen=True, eq=False)
class Pair:
    """One input against one output, entry by entry.

    Rows are the flat real coordinates of the input, columns those of the output; a complex entry
    is two coordinates. For a scalar function there is one column, the gradient.

    Attributes
    ----------
    input, output : Part
        Names, shapes and dtypes; ``input.entry(i)`` names a row.
    x : ndarray, shape (rows,)
        The point.
    analytic : ndarray, shape (rows, columns), or None
        The claim; None if it could not be compared, for its shape or dtype.
    again : ndarray, shape (rows, columns), or None
        The claim when asked a second time, where that was done and differs; NaN elsewhere.
    raw : list of ndarray
        The claimed gradients as they came, one for each column.
    numeric, error, allowed, step : ndarray, shape (rows, columns)
        Estimate, its error bar, the allowed error, the longest step behind the estimate.
    verdict : ndarray of int, shape (rows, columns)
        A key of VERDICTS.
    reason : ndarray of str, shape (rows, columns)
        Why: ok, wrong, kink, noise, step-underflow, domain-edge, nonfinite, nondeterministic,
        ignores-input, shape, dtype, structure; empty for what was skipped.
    noisy_alone : bool
        Whether f is noisy as this input moves, and silent as another one does.
    """

    input: Part
    output: Part
    x: Array
    analytic: Array | None
    again: Array | None
    raw: list[Any]
    numeric: Array
    error: Array
    allowed: Array
    step: Array
    verdict: Array
    reason: Array
    noisy_alone: bool

    @property
    def difference(self) -> Array:
        """Absolute difference of claim and estimate."""
        if self.analytic is None:
            return np.full(self.numeric.shape, np.nan)
        return np.asarray(np.abs(self.analytic - self.numeric))

    @property
    def ratio(self) -> Array:
        """Difference over allowed error; 0 where both are 0."""
        difference = self.difference
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(difference == 0, 0.0, difference / self.allowed)

    @property
    def worst(self) -> tuple[int, int] | None:
        """Row and column of the worst verdict, and of the largest ratio among those."""
        looked = self.verdict != SKIPPED
        if not looked.any():
            return None
        rank = np.where(looked, self.verdict, -1)
        ratio = np.where(np.isnan(self.ratio), np.inf, self.ratio)
        flat = int(np.argmax(np.where(rank == rank.max(), ratio, -1.0)))
        row, column = np.unravel_index(flat, self.verdict.shape)
        return int(row), int(column)


class Tolerance:
    """The allowed error of every entry, and the verdict on the evidence.

    Parameters
    ----------
    probe : Probe
        For the structure of inputs and outputs.
    claimed : ndarray, shape (inputs, outputs)
        The claims, flat; NaN where there is none.
    rtol, atol : float, float or None
        Without atol it is a fraction of rtol times the largest slope of that output coordinate
        along that input: a loss of 1e-14 is checked as strictly as one of 1.
    """

    def __init__(self, probe: Probe, claimed: Array, rtol: float, atol: float | None) -> None:
        self.probe, self.claimed, self.rtol, self.atol = probe, claimed, rtol, atol

    def allowed(self, evidence: Evidence) -> Array:
        """Return the allowed error of every entry."""
        slope: Array = np.abs(np.nan_to_num(evidence.value))
        if self.atol is not None:
            return np.asarray(self.atol + self.rtol * slope)
        by_output, by_input = np.zeros(slope.shape), np.zeros(slope.shape)
        known = np.where(evidence.error < slope / 2, slope, 0.0)
        for source in self.probe.inputs.parts.values():
            by_output[source.stretch] = known[source.stretch].max(axis=0, initial=0.0)
            for target in self.probe.outputs.parts.values():
                block = np.s_[source.stretch, target.stretch]
                by_input[block] = known[block].max(initial=0.0)
        allowed = self.rtol * (slope + ATOL_FRACTION * by_output)
        # f tells nothing of a saturated unit but that its slope is below rounding. A claim that
        # agrees with that much is measured beside the slopes of the other units.
        blunt = (np.abs(self.claimed - evidence.value) <= evidence.error) & (
            evidence.error > allowed
        )
        allowed = np.where(blunt, self.rtol * (slope + ATOL_FRACTION * by_input), allowed)
        # Where an output does not depend on an input, a vjp may leave the rounding of its work.
        alone = by_output == 0
        return np.where(
            alone, np.maximum(allowed, ROUNDING_LEFT * self.probe.eps * by_input), allowed
        )

    def __call__(self, evidence: Evidence) -> tuple[Array, Array]:
        """Return PASS, OPEN or FAIL and the allowed error for every entry."""
        with np.errstate(invalid="ignore", over="ignore"):
            allowed = self.allowed(evidence)
            difference = np.abs(self.claimed - evidence.value)
            passes = difference + evidence.error <= allowed
            # Half the jump of a slope, at a kink where nothing else disturbs, is no estimate.
            jump = np.where(evidence.truncation < 1e-3 * evidence.kink, evidence.kink, 0.0)
            bars = jump + FAIL_BARS * (evidence.error - jump)
            fails = difference - bars - self.probe.lost(evidence.value) / evidence.step > allowed
            # Nor does an f that is noise for the most part, at the step that was good for nothing
            # better: it may be a wave whose slope is anything.
            noise = evidence.rounding * evidence.step / NOISE_UNITS
            fails &= ~((noise > 0) & (noise >= MOSTLY_NOISE * evidence.size))
            # Nor does what is farther away than x can have anything to do with.
            fails &= evidence.step <= FARTHEST * np.maximum(1.0, np.abs(self.probe.x))[:, None]
            # Nor does a slope of 0 seen by long steps only, as of a wave far out.
            fails &= ~_out_of_reach(evidence)
            # Nor does an f that does not move at all, if the claim is below the rounding of numbers
            # of the size of 1 or x inside of f.
            inside = 8 * self.probe.eps * max(1.0, float(np.abs(self.probe.x).max(initial=0)))
            fails &= ~(evidence.flat & (np.abs(self.claimed) * evidence.step <= inside))
            # The tread of a stair is no slope either.
            fails &= ~(evidence.flat & evidence.moved)
            fails &= np.isfinite(self.claimed)
            zero = self._zero_but_for_rounding(evidence)
            # Too rough for a slope, and too small to matter: rounding in the last bits, as a rule.
            small = (np.abs(self.claimed) <= allowed) & (evidence.spread <= allowed)
            zero |= small & ~np.isfinite(evidence.error) & ~evidence.vanished
        verdict = np.full(allowed.shape, OPEN)
        verdict[fails] = FAIL
        verdict[passes | zero] = PASS
        # A claim that is no number fails wherever f has a slope; infinity, where it is known well.
        verdict[np.isnan(self.claimed) & np.isfinite(evidence.value)] = FAIL
        known = evidence.error <= np.maximum(np.abs(evidence.value), allowed)
        verdict[np.isinf(self.claimed) & known] = FAIL
        return verdict, allowed

    def _zero_but_for_rounding(self, evidence: Evidence) -> Array:
        """Whether claim and estimate are both zero, as far as rounding of f lets anybody tell.

        No tolerance relative to a slope holds there. The estimate must be good enough to show a
        slope that matters (over a length of 1, and of x), and have looked at f as closely as x is
        to 0, if f is small there.
        """
        length = np.abs(self.probe.x)[:, None]
        size = evidence.size
        claim = np.abs(self.claimed) <= 8 * self.probe.eps * np.abs(self.probe.here)
        estimate = np.abs(evidence.value) <= evidence.error
        sharp = (evidence.error <= self.rtol * size) & (
            evidence.error * length <= SHARP * self.probe.eps * size
        )
        sharp |= size == 0
        near = ~evidence.small_here | (evidence.step <= length) | (length == 0)
        # Rounding would hide a slope that a longer step shows, of a small thing on a pedestal.
        longest = evidence.bent | evidence.small_here | np.isfinite(evidence.rough) | (size == 0)
        longest |= evidence.step >= np.maximum(1.0, length) / 10
        longest |= (evidence.step <= length) & (length < FIRST_STEP)  # it was longer before
        return np.asarray(claim & estimate & sharp & near & longest & np.isfinite(evidence.error))


def _out_of_reach(evidence: Evidence) -> Array:
    """Whether a step was lost in x, and the longer ones show nothing but a mean of 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(evidence.vanished & ~(np.abs(evidence.value) > evidence.error))


def reasons(probe: Probe, evidence: Evidence, verdict: Array, claimed: Array) -> Array:
    """Say why, for every entry."""
    reason = np.full(verdict.shape, "ok", dtype="<U16")
    reason[verdict == FAIL] = "wrong"
    reason[(verdict == FAIL) & ~np.isfinite(claimed)] = "nonfinite"
    unsure = verdict == OPEN
    reason[unsure] = "noise"
    restless = np.broadcast_to(probe.nondeterminism > 0, verdict.shape)
    rough = evidence.kink + evidence.truncation > 4 * evidence.rounding
    rough &= ~(evidence.flat & evidence.moved)
    reason[unsure & rough] = "kink"
    reason[unsure & evidence.one_sided] = "domain-edge"
    nothing = ~np.isfinite(evidence.error)
    reason[unsure & nothing] = "kink"  # slopes that do not settle, at whatever step
    reason[unsure & nothing & evidence.outside] = "domain-edge"
    reason[unsure & _out_of_reach(evidence)] = "step-underflow"
    reason[unsure & restless] = "nondeterministic"
    reason[unsure & np.broadcast_to(~np.isfinite(probe.here), verdict.shape)] = "nonfinite"
    reason[verdict == SKIPPED] = ""
    return reason
