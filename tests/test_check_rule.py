"""The verdict on a line, from witnesses made by hand."""

import numpy as np
import pytest

from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE
from gradcheck_ref.check.judge.rule import Lines, best, reasons, rule, trusted
from gradcheck_ref.check.measure.witness import EDGE, FLAT, LOST, NOTHING, OUTSIDE, ROUGH, Witness

RTOL = 1e-6


def seen(slope, step, bar=1e-10, *, state=0, kink=0.0, noise=0.0, floor=None, size=1.0, **flags):
    """Return what makes a witness: its bar is truncation, kink and noise."""
    known = state in (0, FLAT, EDGE)
    return {
        "state": state,
        "step": step,
        "slope": slope if known else np.nan,
        "truncation": bar if known else np.inf,
        "kink": kink,
        "rounding": noise,
        "floor": 1e-13 / step if floor is None else floor,
        "steepest": abs(slope),
        "size": size,
        "small_here": False,
        "moved": state != FLAT,
        "stairs": False,
    } | flags


def flat(step, **flags):
    return seen(0.0, step, 0.0, state=FLAT, noise=1e-15 / step, **flags)


def rough(step, slope=1.0):
    return seen(slope, step, state=ROUGH)


NEVER = {"state": NOTHING, "step": np.inf, "slope": np.nan, "moved": False}


def of(*witnesses):
    """Witnesses of one line and one output, the way they are stored."""
    made = Witness.none(len(witnesses) + 1, 1, 1)
    for number, one in enumerate(witnesses):
        for name, value in one.items():
            getattr(made, name)[number, 0, 0] = value
    return made


def lines_of(count, outputs=1, x=1.0, here=1.0, rounded=False):
    return Lines(
        sizes=np.full(count, x),
        eps=np.full(outputs, 2.0**-52),
        here=np.full(outputs, here),
        rtol=RTOL,
        stairs=np.full(outputs, rounded),
    )


def judged(claim, *witnesses, least=0.0, x=1.0, here=1.0, own=0.0):
    lines = lines_of(1, x=x, here=here)
    made = of(*witnesses)
    ruling = rule(made, np.array([[claim]]), np.array([[least]]), lines, own)
    why = reasons(ruling, made, np.array([[claim]]), np.zeros(1, bool), lines.stairs)
    return ruling, int(ruling.verdict[0, 0]), str(why[0, 0])


SHARP_2 = (seen(2.0, 1e-2), seen(2.0, 1e-4))
TABLE = {
    # A witness accepts.
    "one accepts": (2.0, [seen(2.0, 1e-3)], PASS, "ok"),
    "within rtol": (2.0 * (1 + 0.9 * RTOL), [seen(2.0, 1e-3)], PASS, "ok"),
    "one is too vague to accept": (2.0, [seen(2.0, 1e-3, 1e-4)], UNSURE, "kink"),
    "one accepts, the vague ones agree": (
        2.0, [seen(2.1, 1e-5, 0.3), seen(2.0, 1e-3)], PASS, "ok"),
    "a closer one refuses": (2.0, [seen(2.0, 1e-1), seen(3.0, 1e-4)], UNSURE, None),
    "a farther one refuses": (2.0, [seen(3.0, 1e-1), seen(2.0, 1e-4)], PASS, "ok"),
    "farther ones refuse and agree": (
        2.0, [seen(3.0, 1e-1), seen(3.0, 1e-2), seen(2.0, 1e-4)], PASS, "ok"),
    "beyond a rough step it counts for nothing": (
        2.0, [seen(2.0, 1e-1), rough(1e-3)], UNSURE, None),
    "one side will do": (2.0, [seen(2.0, 1e-3, state=EDGE)], PASS, "ok"),
    # Two refuse.
    "one refuses": (3.0, [seen(2.0, 1e-3)], UNSURE, None),
    "two refuse and agree": (3.0, SHARP_2, FAIL, "wrong"),
    "just outside of rtol": (2.0 * (1 + 1.1 * RTOL), SHARP_2, FAIL, "wrong"),
    "two at nearly the same step": (3.0, [seen(2.0, 1e-3), seen(2.0, 1.5e-3)], UNSURE, None),
    "two refuse and do not agree": (3.0, [seen(2.0, 1e-2), seen(2.5, 1e-4)], UNSURE, None),
    "two vague ones agree, close to the claim": (
        0.12, [seen(0.1, 1e-2, 5e-2), seen(0.1, 1e-4, 5e-2)], UNSURE, None),
    "two vague ones agree, far from the claim": (
        30.0, [seen(0.1, 1e-2, 5e-2), seen(0.1, 1e-4, 5e-2)], FAIL, "wrong"),
    "a third one sides with the claim": (
        3.0, [seen(2.0, 1e-1), seen(2.0, 1e-2), seen(3.0, 1e-4)], PASS, "ok"),
    "a third one might side with it": (
        3.0, [seen(2.0, 1e-1), seen(2.0, 1e-2), seen(2.9, 1e-4, 0.2)], UNSURE, None),
    "within three bars it is noise": (2.0 + 2.9e-4, [
        seen(2.0, 1e-2, 0.0, noise=1e-4), seen(2.0, 1e-3, 0.0, noise=1e-4)], UNSURE, "noise"),
    "beyond three bars it is none": (2.0 + 3.2e-4, [
        seen(2.0, 1e-2, 0.0, noise=1e-4), seen(2.0, 1e-3, 0.0, noise=1e-4)], FAIL, "wrong"),
    "steps beyond the size of x do not blame": (
        3.0, [seen(2.0, 50.0), seen(2.0, 200.0)], UNSURE, None),
    # Kinks.
    "between the slopes of a kink": (
        0.3, [seen(0.0, 1e-2, 0.0, kink=1.0), seen(0.0, 1e-4, 0.0, kink=1.0)], UNSURE, "kink"),
    "outside of the slopes of a kink": (
        1.5, [seen(0.0, 1e-2, 0.0, kink=1.0), seen(0.0, 1e-4, 0.0, kink=1.0)], FAIL, "wrong"),
    "outside, but the jumps differ": (
        5.0, [seen(0.0, 1e-2, 0.0, kink=1.0), seen(0.0, 1e-4, 0.0, kink=2.5)], UNSURE, "kink"),
    # What stands still.
    "flat twice, claimed 0": (0.0, [flat(1e-3), flat(1e-1)], PASS, "flat"),
    "flat twice, claimed 1": (1.0, [flat(1e-3), flat(1e-1)], FAIL, "wrong"),
    "flat once, claimed 0": (0.0, [flat(1e-3)], UNSURE, None),
    "flat nearest to x only, claimed 0": (
        0.0, [seen(2.0, 1e-1, 1e-3, stairs=True), flat(1e-6)], UNSURE, "stairs"),
    "flat nearest to x only, claimed the slope": (
        2.0, [seen(2.0, 1e-1, 1e-3, stairs=True), flat(1e-6)], UNSURE, "stairs"),
    "flat nearest to x only, claimed far off": (
        90.0, [seen(2.0, 1e-1, 1e-3, stairs=True), flat(1e-6), flat(1e-7)], UNSURE, "stairs"),
    # What has no slope.
    "never two numbers": (2.0, [seen(0.0, np.nan, state=LOST, noise=np.inf) | {"step": 1.0}],
                          UNSURE, "step-underflow"),
    "f is not finite around x": (2.0, [seen(0.0, 1e-3, state=OUTSIDE)], UNSURE, "domain-edge"),
    "f is rough at all steps": (2.0, [rough(1e-2), rough(1e-4)], UNSURE, "kink"),
    # Claims that are no numbers.
    "nan where there is a slope": (np.nan, [seen(2.0, 1e-3)], FAIL, "nonfinite"),
    "nan where f stands still": (np.nan, [flat(1e-3), flat(1e-1)], FAIL, "nonfinite"),
    "infinity where the slope is known": (np.inf, [seen(2.0, 1e-3)], FAIL, "nonfinite"),
    "infinity where it is not": (-np.inf, [seen(2.0, 1e-3, 30.0)], UNSURE, None),
    "infinity where f is rough": (np.inf, [rough(1e-3, 1e5)], UNSURE, "kink"),
    # Zero, but for rounding.
    "both are zero, as far as f tells": (
        1e-16, [seen(3e-14, 1e-3, 0.0, noise=1e-12), seen(3e-15, 0.2, 0.0, noise=1e-14)],
        PASS, "ok"),
    "both are zero, but a longer step might tell more": (
        1e-16, [seen(3e-14, 1e-3, 0.0, noise=1e-12)], UNSURE, "zero"),
    "the claim is not": (1e-3, [seen(3e-14, 1e-3, 0.0, noise=1e-12),
                                seen(3e-14, 1e-1, 0.0, noise=1e-14)], FAIL, "wrong"),
    "f is too noisy to tell": (1e-16, [seen(3e-4, 1e-3, 0.0, noise=1e-2)], UNSURE, "noise"),
    # Slopes of 1 and 1000.
    "the steeper the farther it is no jump": (
        1.3, [seen(1.0, 1e-3, 0.0, noise=0.2), seen(1e3, 1.0, 1e3)], UNSURE, "noise"),
    "the steeper the closer it is one": (
        1.3, [seen(1e3, 1e-3, 0.0, noise=800.0), seen(1.0, 1.0, 0.0, noise=0.2)], UNSURE, "kink"),
}  # fmt: skip


@pytest.mark.parametrize(("claim", "witnesses", "verdict", "reason"), TABLE.values(), ids=TABLE)
@pytest.mark.parametrize("backwards", [False, True], ids=["in order", "backwards"])
def test_the_verdict_follows_from_the_set_of_witnesses(
    claim, witnesses, verdict, reason, backwards
):
    _, got, why = judged(claim, *(list(witnesses)[::-1] if backwards else witnesses))
    assert got == verdict
    assert reason in (None, why)


@pytest.mark.parametrize(
    ("claim", "slope", "verdict"),
    [(1e-9, 1e-8, PASS), (1e-6, 1e-8, UNSURE), (1e-9, 1e-6, UNSURE)],
    ids=["both are small", "the claim is not", "the slope might not be"],
)
def test_what_is_too_rough_for_a_slope_may_be_too_small_to_matter(claim, slope, verdict):
    assert judged(claim, rough(1e-2, slope), rough(1e-4, slope), least=1e-7)[1] == verdict
    hole = seen(slope, 1e-5, state=OUTSIDE)
    assert judged(claim, rough(1e-2, slope), rough(1e-4, slope), hole, least=1e-7)[1] == UNSURE


def test_nothing_seen_is_unsure():
    _, verdict, _ = judged(2.0, NEVER)
    assert verdict == UNSURE


def test_the_unit_of_f_and_of_x_do_not_matter():
    for scale in (1e-200, 1e-9, 1e9, 1e200):
        for claim, verdict in ((2.0, PASS), (2.1, FAIL)):
            far, near = (
                seen(2.0 * scale, step, 1e-10 * scale, floor=1e-13 * scale / step, size=scale)
                for step in (1e-2, 1e-4)
            )
            assert judged(claim * scale, far, near, here=scale)[1] == verdict


def test_what_is_allowed_besides_counts():
    assert judged(2.1, *SHARP_2, least=0.2)[1] == PASS
    assert judged(2.3, *SHARP_2, least=0.2)[1] == FAIL
    ruling = judged(2.1, *SHARP_2, least=0.2)[0]
    assert ruling.allowed[0, 0] == pytest.approx(0.2 + 2 * RTOL)


@pytest.mark.parametrize(
    ("own", "claim", "verdict"),
    [(0.0, 2.1, FAIL), (0.2, 2.1, UNSURE), (0.05, 2.1, FAIL), (1e9, 2.1, UNSURE),
     (0.2, 2.0, PASS), (1e9, 2.0, PASS)],
)  # fmt: skip
def test_what_a_claim_rounds_widens_a_refusal_and_never_acquits(own, claim, verdict):
    assert judged(claim, *SHARP_2, own=np.array([[own]]))[1] == verdict


def test_the_sharper_of_two_that_refuse_speaks():
    ruling, _, _ = judged(3.0, seen(2.0, 1e-2, 1e-9), seen(2.0, 1e-4, 1e-11))
    assert ruling.chosen[0, 0] == 1


def test_a_refusal_that_nobody_confirmed_is_noted():
    assert judged(3.0, seen(2.0, 1e-3))[0].refused[0, 0]
    assert not judged(2.0, seen(2.0, 1e-3))[0].refused[0, 0]
    assert not judged(3.0, *SHARP_2)[0].refused[0, 0]


def test_who_is_trusted():
    made = of(seen(2.0, 1e-1), rough(1e-2), seen(2.0, 1e-3), seen(2.0, 1e-4, np.inf), flat(1e-6))
    assert trusted(made)[:, 0, 0].tolist() == [False, False, True, False, False, False]
    still = of(flat(1e-3), flat(1e-1))
    assert trusted(still)[:, 0, 0].tolist() == [True, True, False]


def test_of_two_that_contradict_each_other_the_closer_is_believed():
    assert best(of(seen(2.0, 1e-1, 1e-12), seen(3.0, 1e-4, 1e-6)))[0, 0] == 1
    assert best(of(seen(2.0, 1e-1, 1e-12), seen(2.0, 1e-4, 1e-6)))[0, 0] == 0


def test_lines_and_outputs_are_judged_each_by_itself():
    made = Witness.none(2, 2, 3)
    for number, one in enumerate(SHARP_2):
        for name, value in one.items():
            getattr(made, name)[number] = value
    claims = np.array([[2.0, 3.0, 2.0], [np.nan, 2.0, 2.5]])
    ruling = rule(made, claims, np.zeros((2, 3)), lines_of(2, outputs=3))
    assert ruling.verdict.tolist() == [[PASS, FAIL, PASS], [FAIL, PASS, FAIL]]
