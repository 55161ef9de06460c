"""Ties: where entries of x are equal, f may have no derivative, but their claims have a known sum.

The largest of two equal numbers has a kink along each axis, and the median of three is flat along
each axis. So an axis cannot decide there. But if all equal entries move together, their order does
not change, and f is smooth along that line. Every right choice of a gradient has the same slope
along it: for the maximum, the claims for the tied entries add up to 1.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import Evidence, along
from gradcheck_ref.check.judge.steps import settled
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS

# If the slope jumps along the line of tied entries, f has a kink for another reason, and their sum
# decides nothing. Otherwise the jump is smaller than this part of the error.
SMOOTH = 0.1


class Parts(NamedTuple):
    """Slopes along lines of tied entries and along parts of them, (groups, outputs)."""

    known: Array  # whether they were measured
    apart: Array  # whether slopes along parts do not add up: f has no derivative


@QUIETLY
def judge_ties(evidence: Evidence) -> tuple[Evidence, Evidence | None]:
    """Judge claims for equal entries by their sum, if f has no derivative because they are equal.

    If the sum may be right, an entry that fails on its axis is in doubt. If the sum is wrong, the
    entries at a kink fail, and so do those that pass because f is flat along their axes. Returns
    the evidence with these facts, and what was measured along the lines of tied entries, or None.

    Cost: none, unless there is such an entry and another one is equal to it. Then 6 evaluations or
    more for each such number, and 18 or more if one of its entries fails or the sum is wrong.
    """
    verdict, best = evidence.ruling.verdict, evidence.best
    flat, kinked = best.state == State.FLAT, best.jump > 0
    failing = (verdict == FAIL) & np.isfinite(evidence.claimed)
    hidden = (flat & (verdict == PASS)) | (evidence.reasons == "kink")
    sizes, number = _tied(evidence, (failing | hidden).any(axis=1))
    if not sizes.size:
        return evidence, None

    def its(groups: Array) -> Array:
        """Return for each row whether it is true for its group; false for a row without one."""
        return np.asarray(groups[number] & (number >= 0)[:, None])

    whole = _together(evidence, sizes, number)
    fails = np.array([failing[number == k].any(axis=0) for k in range(sizes.size)])
    jumps = whole.best.kink > SMOOTH * np.abs(whole.residual)
    right, wrong = (whole.ruling.verdict == code for code in (PASS, FAIL))
    wrong &= np.isfinite(whole.claimed) & ~jumps
    parts = _compare(whole, evidence.rows[failing.any(axis=1)], (wrong | fails).any(axis=1))
    # Which of two entries is larger decides, so at a kink the two slopes are all that there are.
    pairs = np.array([[np.count_nonzero(line.direction) == 2] for line in whole.lines])
    doubted = its(parts.apart) & ~(its(pairs) & kinked)
    # If no evaluations are left for the parts, a sum that is right is enough for a doubt; if none
    # are left for the sum, it is enough that f is not smooth along the axis.
    doubted |= its(~parts.known) & (its(right) | flat | kinked)
    tied = failing & doubted & its(~wrong)
    refuted = hidden & its(wrong & parts.apart & ~fails)
    if refuted.any():
        row, column = np.argwhere(refuted)[0].tolist()
        _tell(whole, int(number[row]), column)
    return evidence.given(tied=tied, refuted=refuted), whole


def _tied(evidence: Evidence, wanted: Array) -> tuple[Array, Array]:
    """Return the sizes that wanted rows share with other entries, and the number of each row's.

    The number of a row is -1 if it has none of them.
    """
    if not wanted.any():
        return np.zeros(0), np.zeros(0)
    x, rows = np.abs(evidence.question.ask.inputs.x), evidence.rows
    every, counts = np.unique(x, return_counts=True)
    sizes = np.intersect1d(every[counts > 1], x[rows[wanted]])
    number = np.searchsorted(sizes, x[rows])
    return sizes, np.where(np.isin(x[rows], sizes), number, -1)


def _together(evidence: Evidence, sizes: Array, number: Array) -> Evidence:
    """Measure the lines along which all entries of a size move, with the sums of their claims."""
    question, inputs = evidence.question, evidence.question.ask.inputs
    lines = [Line(inputs, 0, inputs.size, (), tied=size) for size in sizes.tolist()]
    # Each claim may be off by what its slopes allow, and f shows their sum.
    slopes = np.nan_to_num(np.abs(evidence.best.slope) + evidence.best.jump)
    each = question.rtol * slopes + (question.atol or 0.0)
    room = np.array(
        [
            np.abs(line.direction).sum() * each[number == k].mean(axis=0)
            for k, line in enumerate(lines)
        ]
    )
    claimed = question.claimed_along(lines)
    return settled(along(question, lines, claimed, lambda *_: room, question.rtol))


def _tell(whole: Evidence, number: int, column: int) -> None:
    """Report a fault: the claims for some tied entries have a wrong sum, in one output."""
    question, line = whole.question, whole.lines[number]
    moving = np.flatnonzero(line.direction)
    unit, places = np.abs(line.direction[moving[0]]), map(question.ask.inputs.locate, moving[:4])
    names = [part.entry(within) for part, within in places]
    more = moving.size - 3
    last = f"{more} more" if more > 1 else names.pop()
    some = f"{', '.join(names[:3])} and {last}"
    claimed, slope = whole.claimed[number, column] / unit, whole.best.slope[number, column] / unit
    size = "" if (line.direction >= 0).all() else " in size"
    question.claims.fault(
        "wrong",
        question.ask.inputs.locate(int(moving[0]))[0].name,
        f"{some} are equal{size}: if they move together, f has the slope {slope:.6g}, but the "
        f"claims for them add up to {claimed:.6g}",
    )


def _compare(whole: Evidence, first: Array, needed: Array) -> Parts:
    """Compare slopes along lines of tied entries with those along their parts, where needed."""
    question, found = whole.question, Parts(*np.zeros((2, *whole.claimed.shape), bool))
    for k in np.flatnonzero(needed).tolist():
        lines = _divided(whole.lines[k], first)
        if len(lines) > question.affordable or not np.isfinite(whole.best.step[k]).any():
            continue
        nothing = np.zeros((len(lines), whole.claimed.shape[1]))
        parts = along(question, lines, nothing, lambda *_, least=nothing: least)
        parts = parts.looked(parts.table.window(int(whole.best.start[k].max())))
        for kind, values in zip(found, _sums(parts), strict=True):
            kind[k] = values
    return found


def _divided(line: Line, first: Array) -> list[Line]:
    """Divide a line into two, its first half into two, and so on down to a single entry.

    So many parts are enough: the median of many equal numbers moves only if half of them do, so
    somewhere a line moves it, and neither of its two parts does. Neighbors come apart at once,
    because they share a window of a pooling. The entries ``first`` stay in the first half.
    """
    moving = np.flatnonzero(line.direction)
    moving = moving[np.argsort(~np.isin(moving, first), kind="stable")]
    ahead = line.direction[moving] > 0
    signs, lines = [moving[ahead], moving[~ahead]], [line]
    while max(map(len, signs)) > 1 or all(map(len, signs)):
        if max(map(len, signs)) > 1:
            halves = [[some[start::2] for some in signs] for start in (0, 1)]
        else:  # one entry and its opposite
            halves = [[signs[0], signs[1][:0]], [signs[0][:0], signs[1]]]
        for half in halves:
            moves = np.zeros(line.stop, bool)
            moves[np.concatenate(half)] = True
            lines.append(replace(line, moves=np.packbits(moves)))
        signs = halves[0]
    return lines


def _sums(divided: Evidence) -> Parts:
    """Compare the slopes along each divided line with the sums of those along its two halves."""
    count, at, question = len(divided.lines), divided.best, divided.question
    nearest = divided.table.values[divided.table.where.max(axis=1)]  # (lines, sides, outputs)
    turn = np.sign(nearest.sum(axis=1) - 2 * question.ask.here)

    def both(values: Array) -> tuple[Array, Array]:
        """Return the values of the divided lines, and the sums over their halves."""
        return values[[0, *range(1, count - 2, 2)]], values[1::2] + values[2::2]

    slope, slopes = both(at.slope)
    bend, bends = both(turn * at.jump)
    # Where f does not move at a step at which it moves along another line, its slope is 0.
    bar = np.where(at.state == State.FLAT, 0.0, at.bar - at.jump)
    room = FAIL_BARS * sum(both(bar)) + question.rtol * sum(both(np.abs(at.slope)))
    # The larger difference of those behind and ahead of x.
    apart = np.abs(slopes - slope) + np.abs(bends - bend) > room
    known = np.isfinite(at.slope)
    return Parts(np.asarray(known.all(axis=0)), np.asarray(apart.any(axis=0)))
