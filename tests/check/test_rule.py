"""The verdict on a line, from witnesses made by hand: rows for each sentence of the rule."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradcheck_ref.check.judge.rule import Doubts, reasons, rule
from gradcheck_ref.check.measure.witness import State, Witnesses
from gradcheck_ref.check.results import FAIL, PASS, UNSURE

RTOL, EPS = 1e-6, 2.0**-52


def seen(slope, step, bar=1e-10, *, state=State.SMOOTH, kink=0.0, noise=0.0, trend=0.0):
    """Return what makes a witness of an f of about 1: its bar is truncation, kink and noise."""
    known = state in (State.SMOOTH, State.FLAT, State.EDGE)
    return {
        "state": state,
        "step": step,
        "slope": slope if known else np.nan,
        "truncation": bar if known else np.inf,
        "kink": kink,
        "rounding": noise,
        "steepest": abs(slope),
        "size": 1.0,
        "apparent": 0.0,
        "trend": trend,
    }


def noisy(slope, step, noise):
    return seen(slope, step, 0.0, noise=noise)


def kink(slope, step, half_jump):
    return seen(slope, step, 0.0, kink=half_jump)


def flat(step):
    """Return a step at which f did not move: its slope is 0 but for rounding inside f."""
    return noisy(0.0, step, 8 * EPS / step) | {"state": State.FLAT}


def rough(step, slope=1.0):
    return seen(slope, step, state=State.ROUGH)


def judged(claim, *witnesses, least=0.0, own=0.0, moved=True, resolution=0.0, starved=False):
    """Return verdict and reason of one claim at x = 1, where f is 1."""
    made = [*witnesses, seen(np.inf, np.inf, state=State.NOTHING)]
    made = Witnesses(**{k: np.array([[[one[k]]] for one in made]) for k in made[-1]})
    one = np.ones(1)
    noise = SimpleNamespace(
        ask=SimpleNamespace(here=one),
        eps=EPS * one,
        changed=np.array([moved]),
        stairs=None,
        resolution=resolution * one,
        rounded=np.array([resolution > 0]),
        noisy_within=0 * one,
        random=np.array([False]),
    )
    claimed, doubts = np.array([[claim]]), Doubts(own_rounding=own)
    lack = np.array([starved])
    ruling = rule(made, claimed, np.array([[least]]), RTOL, noise, one, one, lack, doubts)
    why = reasons(ruling, made, claimed, noise, lack[:, None], doubts)
    return int(ruling.verdict[0, 0]), str(why[0, 0])


TWO = (seen(2.0, 1e-2), seen(2.0, 1e-4))  # both are sure of a slope of 2
KINK = (kink(0.0, 1e-2, 1.0), kink(0.0, 1e-4, 1.0))  # slopes go from -1 to 1

# Slopes grow without end at an edge.
RISES = [seen(9.0, step, state=State.OUTSIDE, trend=1.0) for step in (1e-1, 1e-3)]

# The claim, the witnesses, the verdict and the reason; None where several reasons are true.
TABLE = {
    # 1. Every witness that has a slope counts, by its error bar.
    "nothing was asked": (2.0, [], UNSURE, None),
    "f is rough at all steps": (2.0, [rough(1e-2), rough(1e-4)], UNSURE, "kink"),
    "f is not finite around x": (
        2.0, [seen(0.0, 1e-3, state=State.OUTSIDE)], UNSURE, "domain-edge"),
    "a short step is inside of the domain": (
        2.0, [seen(0.0, 1e-2, state=State.OUTSIDE), noisy(2.0, 1e-4, 1e-3)], UNSURE, "noise"),
    "f is finite at x alone": (
        2.0, [seen(0.0, 1e-2, state=State.ALONE), seen(0.0, 1e-4, state=State.ALONE)],
        UNSURE, "isolated"),
    "f is finite at x and far away": (
        2.0, [seen(0.0, 1.0, state=State.OUTSIDE), seen(0.0, 1e-3, state=State.ALONE)],
        UNSURE, "isolated"),
    "f is finite on one side, but not far away": (
        2.0, [seen(0.0, 1.0, state=State.ALONE), seen(0.0, 1e-3, state=State.OUTSIDE)],
        UNSURE, "domain-edge"),
    "x cannot be moved": (2.0, [seen(0.0, 1.0, state=State.LOST)], UNSURE, "step-underflow"),
    "one side of x counts": (2.0, [seen(2.0, 1e-3, state=State.EDGE)], PASS, "ok"),
    # 2. It accepts what is surely within what is allowed, and refuses what is surely not.
    "one accepts": (2.0, [seen(2.0, 1e-3)], PASS, "ok"),
    "within rtol": (2.0 * (1 + 0.9 * RTOL), [seen(2.0, 1e-3)], PASS, "ok"),
    "outside of rtol": (2.0 * (1 + 1.1 * RTOL), TWO, FAIL, "wrong"),
    "too vague to accept": (2.0, [seen(2.0, 1e-3, 1e-4)], UNSURE, "kink"),
    "within three bars": (
        2.0 + 2.9e-4, [noisy(2.0, 1e-2, 1e-4), noisy(2.0, 1e-3, 1e-4)], UNSURE, "noise"),
    "beyond three bars": (
        2.0 + 3.1e-4, [noisy(2.0, 1e-2, 1e-4), noisy(2.0, 1e-3, 1e-4)], FAIL, "wrong"),
    "between the slopes at a kink": (0.9, KINK, UNSURE, "kink"),
    "outside of them: half a jump counts once": (1.1, KINK, FAIL, "wrong"),
    # 3. Pass: one accepts, and none at a shorter step refuses.
    "a longer step refuses": (2.0, [seen(3.0, 1e-1), seen(2.0, 1e-4)], PASS, "ok"),
    "longer steps refuse and agree": (
        2.0, [seen(3.0, 1e-1), seen(3.0, 1e-2), seen(2.0, 1e-4)], PASS, "ok"),
    "a shorter step refuses": (2.0, [seen(2.0, 1e-1), seen(3.0, 1e-4)], UNSURE, None),
    "a shorter step is vague": (2.0, [seen(2.1, 1e-5, 0.3), seen(2.0, 1e-3)], PASS, "ok"),
    # 4. Fail: two at clearly different steps refuse and agree, and none contradicts them.
    "two refuse": (3.0, TWO, FAIL, "wrong"),
    "only one refuses": (3.0, [seen(2.0, 1e-3)], UNSURE, None),
    "two at nearly one step": (3.0, [seen(2.0, 1e-3), seen(2.0, 1.5e-3)], UNSURE, None),
    "two that do not agree": (3.0, [seen(2.0, 1e-2), seen(2.5, 1e-4)], UNSURE, None),
    "one that is closer contradicts them": (
        3.0, [seen(2.0, 1e-1), seen(2.0, 1e-2), seen(2.5, 1e-4)], UNSURE, None),
    "one that is vague might side with the claim": (
        3.0, [seen(2.0, 1e-1), seen(2.0, 1e-2), seen(2.9, 1e-4, 0.2)], UNSURE, None),
    "one that is closer sees noise": (
        3.0, [seen(2.0, 1e-1), seen(2.0, 1e-2), noisy(2.0, 1e-4, 2.0)], FAIL, "wrong"),
    # 5. Pass as well: f stands still and the claim is 0; or both are 0 but for rounding.
    "f is constant, claimed 0": (0.0, [flat(1e-4), flat(1e-2)], PASS, "flat"),
    "f is constant, claimed 1": (1.0, [flat(1e-3), flat(1e-1)], FAIL, "wrong"),
    "f is constant along one step": (0.0, [flat(1e-3)], UNSURE, None),
    "f is constant nearby and moves at longer steps": (
        2.0, [seen(2.0, 1e-1, 1e-3), flat(1e-6)], UNSURE, "stairs"),
    "both are 0 but for rounding": (
        1e-16, [noisy(3e-14, 1e-3, 1e-12), noisy(3e-15, 0.2, 1e-14)], PASS, "ok"),
    "a longer step might show a slope": (1e-16, [noisy(3e-14, 1e-3, 1e-12)], UNSURE, "zero"),
    "f is too noisy to show that a slope is 0": (
        1e-16, [noisy(3e-4, 1e-3, 1e-2)], UNSURE, "noise"),
    "a kink that is below rounding at a short step": (
        0.1, [kink(0.35, 1e-2, 0.25), noisy(0.35, 1e-13, 0.2)], UNSURE, "kink"),
    "no kink, and below rounding at a short step": (
        0.1, [noisy(0.35, 1e-13, 0.2)], UNSURE, "zero"),
    "the claim is more than rounding": (
        1e-3, [noisy(3e-14, 1e-3, 1e-12), noisy(3e-14, 1e-1, 1e-14)], FAIL, "wrong"),
    # 6. Else unsure, for the largest part of the sharpest bar: rows above. And what is no number
    # is no slope.
    "nan": (np.nan, [seen(2.0, 1e-3)], FAIL, "nonfinite"),
    "nan where f is rough": (np.nan, [rough(1e-3)], FAIL, "nonfinite"),
    "nan at the edge of a domain": (
        np.nan, [seen(9.0, 1e-3, state=State.OUTSIDE)], FAIL, "nonfinite"),
    "nan where f has a value at x alone": (
        np.nan, [seen(0.0, 1e-3, state=State.ALONE)], UNSURE, "isolated"),
    "infinity where the slope is known": (np.inf, [seen(2.0, 1e-3)], FAIL, "nonfinite"),
    "infinity where it is not": (-np.inf, [seen(2.0, 1e-3, 30.0)], UNSURE, None),
    "infinity at an edge, one slope": (
        np.inf, [seen(9.0, 1e-2, 1.0, state=State.EDGE)], UNSURE, "domain-edge"),
    "infinity at an edge, two slopes": (
        np.inf, [seen(9.0, 1e-2, 1.0, state=State.EDGE), seen(9.0, 1e-4, 1.0, state=State.EDGE)],
        FAIL, "nonfinite"),
    "infinity where f rises to it": (np.inf, RISES, UNSURE, "domain-edge"),
    "minus infinity where f rises": (-np.inf, RISES, FAIL, "nonfinite"),
    "minus infinity where one step rises": (-np.inf, RISES[:1], UNSURE, "domain-edge"),
    "infinity where f rises and falls": (
        -np.inf, [*RISES, seen(9.0, 1e-5, state=State.OUTSIDE, trend=-1.0)],
        UNSURE, "domain-edge"),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "witnesses", "verdict", "reason"), TABLE.values(), ids=TABLE)
@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
def test_the_verdict_follows_from_the_set_of_witnesses(
    claim, witnesses, verdict, reason, backwards
):
    got, why = judged(claim, *(list(witnesses)[::-1] if backwards else witnesses))
    assert got == verdict
    assert reason in (None, why)


# A claim, its witnesses, and the reason, if no evaluations were left for more of them.
STARVED = {
    "nothing was asked": (2.0, [], "budget"),
    "f is rough at the only step": (2.0, [rough(1e-2)], "budget"),
    "too vague to accept": (2.0, [seen(2.0, 1e-3, 1e-4)], "budget"),
    "only one refuses": (3.0, [seen(2.0, 1e-3)], "budget"),
    "both are 0 except for rounding": (1e-16, [noisy(3e-14, 1e-3, 1e-12)], "zero"),
    "f is not finite at four steps": (
        2.0, [seen(0.0, 64.0**-k, state=State.OUTSIDE) for k in range(1, 5)], "budget"),
    "f is not finite at five steps, which is all that find a scale": (
        2.0, [seen(0.0, 64.0**-k, state=State.OUTSIDE) for k in range(1, 6)], "domain-edge"),
    "the kink shows already": (0.9, KINK[:1], "kink"),
    "the stairs show already": (2.0, [seen(2.0, 1e-1, 1e-3), flat(1e-6)], "stairs"),
    "one accepts": (2.0, [seen(2.0, 1e-3)], "ok"),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "witnesses", "reason"), STARVED.values(), ids=STARVED)
def test_the_reason_is_budget_unless_the_witnesses_show_another(claim, witnesses, reason):
    assert judged(claim, *witnesses, starved=True)[1] == reason
    assert judged(claim, *witnesses)[1] != "budget"


# A claim, what is known besides of it or of f, and the verdict where two are sure of a slope of 2.
KNOWN_BESIDES = [
    # The allowance in addition to rtol counts.
    (2.1, {"least": 0.09}, FAIL),
    (2.1, {"least": 0.11}, PASS),
    # The rounding of a claim can prevent a failure, but never gives a pass.
    (2.1, {"own": 0.05}, FAIL),
    (2.1, {"own": 0.2}, UNSURE),
    (2.1, {"own": 1e9}, UNSURE),
    (2.0, {"own": 1e9}, PASS),
    # The slope of a staircase is 0 if its values have few digits.
    (0.0, {"resolution": 1e-3}, UNSURE),
    (0.0, {"resolution": 1e-8}, FAIL),
    (3.0, {"resolution": 1e-3}, FAIL),
]


@pytest.mark.parametrize(("claim", "knobs", "verdict"), KNOWN_BESIDES, ids=str)
def test_what_is_known_besides_the_witnesses_counts(claim, knobs, verdict):
    assert judged(claim, *TWO, **knobs)[0] == verdict


def test_a_constant_f_has_slope_0_only_if_steps_were_as_long_as_x():
    assert judged(0.0, flat(1e-3), flat(1e-1), moved=False)[0] == UNSURE
    assert judged(0.0, flat(1e-3), flat(0.5), moved=False)[0] == PASS
    beyond = seen(0.0, 0.3, state=State.OUTSIDE)  # or as the domain of f
    assert judged(0.0, flat(1e-3), flat(1e-1), beyond, moved=False)[0] == PASS
    assert judged(0.0, flat(1e-3), flat(1e-2), beyond, moved=False)[0] == UNSURE
