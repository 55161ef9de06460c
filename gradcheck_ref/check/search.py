"""The search for the step, and the second look before a gradient is blamed.

Every coordinate starts with the same step. Where that leaves an entry undecided, the step goes down
while truncation is the larger part of the error bar, and up while rounding is, as in stage 5. Where
an entry would fail, ``f`` is looked at once more, as closely as its noise allows.
"""

import math
from collections.abc import Callable

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.evidence import Evidence, try_steps
from gradcheck_ref.check.probe import Probe
from gradcheck_ref.stage5_adaptive import FIRST_STEP, RATIO

# The first step and four moves, 6 evaluations each: blind ones, by 64 down or by 16 up, reach any
# scale from 1e-9 to 1e2, and the size of x, when it is tried, lies beyond.
MOST_STEPS = 5

# Most evaluations for each coordinate, those that measured the noise included: it is the functions
# of one number that would need more, and a sixth look at them has not been seen to settle anything.
MOST_EACH = 40

# No look before a gradient is blamed is closer than so many spacings of x at its shortest step: the
# rounding of a product with x would hide what there is.
CLOSEST = 8192

# A look may be so many times farther than the closest that shows something: then a few looks serve
# the entries of a row, whose errors may differ by orders.
NEAR = 30.0

# Two trials contradict each other when their error bars do not meet; at kinks these are short.
CONTRADICTION = 1.25

# What is decided about an entry while evidence is gathered.
PASS, OPEN, FAIL = 0, 1, 2

Judge = Callable[[Evidence], tuple[Array, Array]]


def gather(
    probe: Probe,
    judge: Judge,
    rows: Array,
    claimed: Array,
    max_evaluations: int | None,
    tick: Callable[[], None],
) -> tuple[Evidence, Array, Array]:
    """Look at the slopes of some rows until the judge is sure of every entry, or nothing helps.

    Parameters
    ----------
    probe : Probe
        Where f is called.
    judge : callable
        ``judge(evidence)`` returns PASS, OPEN or FAIL, and the allowed error, for every entry.
    rows : ndarray of int
        The flat input coordinates to look at.
    claimed : ndarray, shape (inputs, outputs)
        Only to know how close a look would still show the difference, and which trials agree.
    max_evaluations : int or None
        Stop before f is called more often than that.
    tick : callable
        Called after each row.

    Returns
    -------
    evidence : Evidence
        For all rows, those that were not looked at included.
    looked : ndarray of int
        The rows that were looked at.
    confirmed : ndarray of bool, shape (inputs, outputs)
        Where a close look shows, too, that the claim is wrong, and no other trial agrees with it.
    """
    evidence = Evidence.none(probe.x.size, probe.here.size)
    # The sharpest trial that agrees with the claim. If it contradicts the evidence, f goes one way
    # from nearby and another from afar, and who is to say which of the two is meant?
    friend = Evidence.none(probe.x.size, probe.here.size)
    confirmed = np.zeros(claimed.shape, bool)
    search = _Search(probe)
    steps = np.full(rows.size, search.first_step)
    looked = rows
    most = MOST_EACH * rows.size
    if max_evaluations is not None:
        most = min(most, max_evaluations)
    most -= 1  # f is called once more before the claims are asked for again
    for tries in range(MOST_STEPS):
        affordable = max(0, most - probe.evaluations) // 6
        rows, steps = rows[:affordable], steps[:affordable]
        looked = rows if tries == 0 else looked
        if not rows.size:
            break
        trial = try_steps(probe, rows, steps, tick)
        evidence.improve(rows, trial)
        friend.agree(rows, trial, claimed[rows])
        verdict, allowed = judge(evidence)
        close, refuses = _closer(probe, evidence, trial, rows, claimed, allowed)
        quieter = probe.quieter_steps(rows, steps)
        near_enough = trial.step <= np.maximum(NEAR * close, 2 * search.closest[rows, None])
        near_enough &= quieter[:, None] == 0
        confirmed[rows] |= refuses & near_enough & ~(trial.flat & evidence.moved[rows])
        doubtful = (verdict == FAIL) & ~confirmed

        again = np.zeros(rows.size)
        unsettled = (verdict[rows] == OPEN).any(axis=1) | doubtful[rows].any(axis=1)
        for r in np.flatnonzero(unsettled).tolist():
            i = int(rows[r])
            undecided = np.flatnonzero(verdict[i] == OPEN)
            if doubtful[i].any() and evidence.flat[i, doubtful[i]].all():
                again[r] = search.farther_step(i, float(steps[r]))
            elif doubtful[i].any():
                closest = float(close[r, doubtful[i]].max())
                again[r] = quieter[r] or search.closer_step(i, float(steps[r]), closest)
            if undecided.size and not again[r]:
                again[r] = search.next_step(
                    evidence, trial, r, i, undecided, allowed[i], float(quieter[r])
                )
        rows, steps = rows[again > 0], again[again > 0]
    confirmed |= evidence.flat & ~evidence.moved
    with np.errstate(invalid="ignore"):
        apart = np.abs(evidence.value - friend.value)
        contradicted = apart > CONTRADICTION * friend.beside + evidence.error
    evidence.take(np.arange(len(claimed)), contradicted & np.isfinite(friend.error), friend)
    return evidence, looked, confirmed & ~contradicted


def _closer(
    probe: Probe, evidence: Evidence, trial: Evidence, rows: Array, claimed: Array, allowed: Array
) -> tuple[Array, Array]:
    """Return how close a look would still show that a claim is wrong, and if this trial shows it.

    So close that rounding is an eighth of the difference: closer than that nothing shows.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value, claim, most = evidence.value[rows], claimed[rows], allowed[rows]
        lost = probe.lost(value, rows)
        rounding = evidence.rounding[rows] * evidence.step[rows] + lost
        close = 8 * rounding / (np.abs(claim - value) - most)
        refuses = np.abs(claim - trial.value) - trial.error - lost / trial.step > most
    return close, refuses


class _Search:
    """Which step to try next for a coordinate, in a bracket that closes from both sides.

    The rules are those of stage 5's search; 0 stands for: nothing is left to try.
    """

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        # FIRST_STEP, but for the precision that f has here.
        self.first_step = FIRST_STEP * (float(probe.eps.max(initial=0.0)) / 2.0**-52) ** (1 / 5)
        self.size = np.abs(probe.x.astype(float))
        typical = np.median(self.size[self.size > 0]) if self.size.any() else 1.0
        spacing = probe.inputs.eps * np.where(self.size > 0, self.size, typical)
        self.closest = RATIO**2 * CLOSEST * spacing
        self.too_short = np.zeros(probe.x.size)
        self.too_long = np.full(probe.x.size, np.inf)

    def next_step(
        self,
        evidence: Evidence,
        trial: Evidence,
        r: int,
        i: int,
        undecided: Array,
        allowed: Array,
        quieter: float,
    ) -> float:
        """Search for a step that leaves less error, after trial ``r`` of coordinate ``i``."""
        # The entry that is furthest from being decided speaks for the row.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lack = evidence.error[i, undecided] / np.fmax(allowed[undecided], 1e-300)
        j = undecided[np.argmax(np.where(np.isnan(lack), np.inf, lack))]
        h = float(trial.step[r, j])
        truncation = float(trial.truncation[r, j] + trial.kink[r, j])
        rounding = float(trial.rounding[r, j])
        scale = self.size[i] / 100
        if trial.too_long[r, j] or h > evidence.step[i, j]:
            self.too_long[i] = h
            if rounding < truncation < 0.1 * trial.spread[r, j]:
                # Truncation falls as h^4: aim at what is allowed, or at the rounding.
                aim = max(float(allowed[j]) / 2, rounding)
                h *= min(max(0.7 * math.pow(aim / truncation, 1 / 4), 1 / 64), 1 / 2)
            else:
                h = scale if 0 < scale < h / 16 else h / 64
        elif quieter:
            self.too_long[i] = h
            h = quieter
        else:
            self.too_short[i] = h
            h = max(16 * h, scale)
        short, long = self.too_short[i], self.too_long[i]
        if short < h < long:
            return h
        return 0.0 if long < 8 * short else math.sqrt(short) * math.sqrt(long)

    def farther_step(self, i: int, h: float) -> float:
        """Choose the step for another look at an f that did not move at all."""
        return max(16 * h, self.size[i] / 100) if h < max(1.0, self.size[i]) else 0.0

    def closer_step(self, i: int, h: float, close: float) -> float:
        """Choose the step for another look, as close as still shows that a claim is wrong."""
        closer = max(min(close, h / 8), self.closest[i])
        return closer if closer < h else 0.0
