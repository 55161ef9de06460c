"""Claims that were measured, not derived: finite differences of f, to their last digits."""

from collections.abc import Iterator

import numpy as np

from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import Pair

EPS = float(np.finfo(float).eps)

# Steps that people take: powers of ten, and the roots of eps, as SciPy and textbooks have them.
STEPS = 1e-5, 1e-6, 1e-4, EPS ** (1 / 2), EPS ** (1 / 3), 1e-7, 1e-8, 1e-3

# A difference of f has rounding errors of eps f / h. Another one with the same last digits is the
# same difference, divided in another order.
SAME_DIGITS = 8.0 * EPS

# A derived claim is within the error bar, and a difference that is farther off is no good one.
AT_MOST = 1e-2


@QUIETLY
def as_measured(question: Question, pairs: tuple[Pair, ...]) -> str:
    """Say which finite difference of f the claim is; empty if it is none.

    Only a claim that is off by more than its error bar is asked about. Cost: none for others, and
    2 evaluations for each of 8 steps at most for this one.
    """
    ask, suspects = question.ask, list(_suspects(pairs))
    if not suspects or ask.mix is not None or ask.precision > EPS:
        return ""
    _, pair, i, j = max(suspects, key=lambda one: one[0])
    assert pair.analytic is not None
    row, column = pair.input.start + int(pair.rows[i]), pair.output.start + int(pair.columns[j])
    line, claim, here = Line(ask.inputs, row, row + 1), pair.analytic[i, j], ask.here[column]
    for h in STEPS:
        if question.most - ask.evaluations < 2:
            break
        ahead, behind = ask.many([(line, h), (line, -h)])[:, column]
        differences = {
            "central": (ahead - behind) / (2 * h),
            "forward": (ahead - here) / h,
            "backward": (here - behind) / h,
        }
        for kind, slope in differences.items():
            if abs(claim - slope) <= SAME_DIGITS * abs(claim):
                return (
                    f"the claim for {pair.input.entry(int(pair.rows[i]))} is the {kind} difference "
                    f"of f with a step of {h:.2g}, to its last digits: it was measured, not "
                    "derived, so this check compares one difference with another"
                )
    return ""


def _suspects(pairs: tuple[Pair, ...]) -> Iterator[tuple[float, Pair, int, int]]:
    """Yield the worst entry of each pair whose claim is nearly right, but not within its bar."""
    for pair in pairs:
        if pair.analytic is None or pair.input.is_complex or not pair.analytic.size:
            continue
        off = pair.difference
        near = (off > pair.error) & (off <= AT_MOST * np.abs(pair.numeric))
        bars = np.where(near, off / pair.error, 0.0)
        i, j = np.unravel_index(int(np.argmax(bars)), bars.shape)
        if bars[i, j] > 1:
            yield float(bars[i, j]), pair, int(i), int(j)
