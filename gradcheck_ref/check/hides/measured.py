"""Claims that were measured, not derived: finite differences of f, to their last digits."""

from collections.abc import Iterator

import numpy as np

from gradcheck_ref.check.decimals import A_TRACE
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.mistakes.factors import NEARLY
from gradcheck_ref.check.results import Pair

# Steps that people take: powers of ten, and the roots of eps, as SciPy and textbooks have them.
EPS = float(np.finfo(float).eps)
STEPS = 1e-5, 1e-6, 1e-4, EPS ** (1 / 2), EPS ** (1 / 3), 1e-7, 1e-8, 1e-3

# Subtle: a difference with a step of 2**-26 may have as few digits as a right claim that was
# computed in float32, and up to half of such claims are the same number by chance. So a claim that
# float32 holds must be the same difference at this many entries.
IN_SINGLE = 8


@QUIETLY
def as_measured(question: Question, pairs: tuple[Pair, ...]) -> str:
    """Say which finite difference of f the claim is; empty if it is none.

    Only a claim that is off by more than its error bar is asked about. Cost: none for others, and
    2 evaluations for each of 8 steps at most for this one, or 16 if float32 holds it.
    """
    ask, suspects = question.ask, sorted(_suspects(pairs), key=lambda one: one[:2])
    if not suspects or ask.mix is not None or ask.precision > EPS:
        return ""
    in_single = suspects[0][0]
    witnesses = suspects[: IN_SINGLE if in_single else 1]
    if in_single and len(witnesses) < IN_SINGLE:
        return ""
    for h in STEPS:
        kinds = {"central", "forward", "backward"}
        for *_, pair, i, j in witnesses:
            if ask.budget.left < 2:
                return ""
            kinds &= _kinds(question, pair, (i, j), h)
            if not kinds:
                break
        if kinds:
            *_, pair, i, _ = witnesses[0]
            which = f"the {kinds.pop()}" if len(kinds) == 1 else "a finite"
            return (
                f"the claim for {pair.input.entry(int(pair.rows[i]))} is {which} difference of f "
                f"with a step of {h:.2g}, to its last digits: it was measured, not derived, so "
                "this check compares one difference with another"
            )
    return ""


def _kinds(question: Question, pair: Pair, at: tuple[int, int], h: float) -> set[str]:
    """Return the kinds of differences with step h that are this claim to its last digits."""
    assert pair.analytic is not None
    ask, claim = question.ask, pair.analytic[at]
    row = pair.input.start + int(pair.rows[at[0]])
    column = pair.output.start + int(pair.columns[at[1]])
    line, here = Line(ask.inputs, row, row + 1), ask.here[column]
    ahead, behind = ask.many([(line, h), (line, -h)])[:, column]
    differences = {
        "central": (ahead - behind) / (2 * h),
        "forward": (ahead - here) / h,
        "backward": (here - behind) / h,
    }
    # A difference of f has rounding errors of eps f / h. Another one with the same last digits is
    # the same difference, divided in another order.
    near = A_TRACE * abs(claim)
    return {kind for kind, slope in differences.items() if abs(claim - slope) <= near}


def _suspects(pairs: tuple[Pair, ...]) -> Iterator[tuple[bool, float, Pair, int, int]]:
    """Yield entries whose claims are nearly right, but not within their bars.

    Those that float32 does not hold come first, and the worst of them: whether float32 holds it,
    and how bad it is, as a negative number.
    """
    for pair in pairs:
        claims, off, error = pair.analytic, pair.difference, pair.error
        if claims is None or pair.input.is_complex:
            continue
        # A derived claim is within the error bar; a difference that is farther off is no good one.
        near = (off > error) & (off <= NEARLY * np.abs(pair.numeric))
        for i, j in np.argwhere(near).tolist():
            is_single = bool(claims[i, j] == np.float32(claims[i, j]))
            yield is_single, -float(off[i, j] / error[i, j]), pair, i, j
