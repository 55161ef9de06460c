"""Why a claim got its verdict: a reason, read from the same witnesses after the rule has spoken.

A reason never changes a verdict. Of those that apply, the last one of the table below is said.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.rule import Facts, Ruling, clear_jump
from gradcheck_ref.check.measure.noise import QUIETLY, Noise
from gradcheck_ref.check.measure.witness import State, Witnesses
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS, UNSURE

# So many windows show whether another one would find the scale of f.
FINDING_STEPS = 5

# As noise they make a bar of 18 times their height by the step; twice that is mostly theirs.
MOST_OF_BAR = 36.0


def passing(ruling: Ruling) -> Array:
    """Return the reason of each claim, if it passes."""
    return np.where(ruling.flat, "flat", "ok").astype("<U32")  # long enough for any reason


@QUIETLY
def reasons(
    ruling: Ruling,
    witnesses: Witnesses,
    claimed: Array,
    noise: Noise,
    starved: Array,
    facts: Facts,
    out_of_reach: Array,
) -> Array:
    """Return the reason of each verdict, in the words of `Pair.reason`.

    ``starved`` lines had no evaluations left, and no step of those ``out_of_reach`` is shorter than
    1; both are (lines, 1).
    """
    verdict, at, state = ruling.verdict, witnesses.take(ruling.chosen), witnesses.state
    unsure, nothing = verdict == UNSURE, ~np.isfinite(at.slope)
    zero = np.maximum(np.abs(at.slope), np.abs(claimed)) <= FAIL_BARS * at.bar
    zero &= (at.bar <= 128 * noise.eps * at.size / at.step) & (noise.common == 0)
    still = state == State.FLAT
    # Flat at a step, although rounding could not hide there how f changes at longer ones.
    rough = (state == State.ROUGH) & nothing
    moves = (state == State.SMOOTH) | rough
    moves &= witnesses.step > np.where(still, witnesses.step, np.inf).min(axis=0)
    surely = np.fmax(
        np.abs(witnesses.slope) - witnesses.bar, np.where(rough, witnesses.steepest, 0.0)
    )
    moves &= surely > np.where(still, witnesses.bar, np.inf).min(axis=0)
    few = still.any(axis=0) | (claimed == 0)
    few |= MOST_OF_BAR * noise.resolution / at.step >= at.rounding
    stairs = moves.any(axis=0) | ((noise.resolution > 0) & few)
    # Smooth at short steps, with a slope that refuses the claim, and rough at longer ones.
    stairs |= ruling.refused & ((state == State.ROUGH) & (witnesses.step > at.step)).any(axis=0)
    # Where a long step leaves the domain, x is not at its edge: the shortest step decides.
    shortest = np.where(state < State.NOTHING, witnesses.step, np.inf).argmin(axis=0)
    nearest = witnesses.take(shortest).state
    at_edge = (nearest == State.EDGE) | (nearest == State.OUTSIDE)
    at_edge &= nothing | (at.state == State.EDGE)
    jumps = clear_jump(witnesses).any(axis=0)
    zero &= ~jumps  # at steps too short to show the kink, its slopes are below rounding
    isolated = nothing & (nearest == State.ALONE)
    # The evaluations ran out before all steps were tried that find the scale of f, and before the
    # witnesses showed a reason that more of them would not change.
    tried = np.count_nonzero(state != State.NOTHING, axis=0)
    early = starved & (tried < FINDING_STEPS) & ~(jumps | moves.any(axis=0) | zero | isolated)
    reason = passing(ruling)
    for name, where in (
        ("wrong", verdict == FAIL),
        ("nonfinite", (verdict == FAIL) & ~np.isfinite(claimed)),
        ("ignores-input", (verdict == FAIL) & np.isfinite(claimed) & facts.ignored),
        ("whole", (verdict == PASS) & facts.whole),
        ("noise", unsure),
        ("kink", unsure & (at.too_long | nothing | jumps)),
        ("stairs", unsure & stairs & (~jumps | ((claimed == 0) & moves.any(axis=0)))),
        ("zero", unsure & zero),
        ("domain-edge", unsure & at_edge),
        ("isolated", unsure & isolated),
        ("step-underflow", unsure & out_of_reach),
        ("budget", unsure & early),
        ("nondeterministic", unsure & noise.random),
        ("stairs", unsure & facts.followed),
        ("kink", unsure & facts.tied),
        ("stairs", unsure & facts.tied & (claimed == 0) & still.any(axis=0)),
        ("nonfinite", unsure & np.isnan(noise.ask.here)),
    ):
        reason[where] = name
    return reason
