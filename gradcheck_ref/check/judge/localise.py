"""Which entry is wrong: matching signs, or halving a line that refuses.

If one entry is wrong, every line is off by the same amount, with the sign that the entry has along
it: the lines that were measured say which it is.

If more are wrong, one line is halved. The slopes along two lines with the same signs, one over each
half of the coordinates, add up to the slope along the line over both. So one measurement tells how
much of what is wrong lies in either half, and the larger share is followed down to a single entry,
whatever else is wrong.
"""

from collections.abc import Callable, Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.certificate import Certifier
from gradcheck_ref.check.judge.crossing import Crossing
from gradcheck_ref.check.measure.samples import QUIETLY

# Lines are off by the same amount if they differ by this share of it, and by their bars.
ALIKE = 0.1

# A sign in so many may be told wrong by a line that misses its slope.
MATCHED = 0.9

# Entries whose signs match are looked at, so many at most: of a million about two match twenty
# lines by chance.
SUSPECTS = 6

# A residual that is less than so many bars is followed with a better step, if there is one.
CLEAR = 3.0


@np.errstate(over="ignore", invalid="ignore")
def off_by_the_same(crossings: Sequence[Crossing]) -> int | None:
    """Return the output by which all lines are off by the same amount, as by one wrong entry."""
    off = np.abs([c.residual for c in crossings])
    bars = np.array([c.bar for c in crossings])
    same = np.ptp(off, axis=0) <= ALIKE * off.max(axis=0) + bars.max(axis=0)
    same &= np.all([c.refused for c in crossings], axis=0)
    return int(np.argmax(np.where(same, off[0], 0.0))) if same.any() else None


def match(crossings: Sequence[Crossing]) -> Array:
    """Return the few coordinates whose signs along all lines match what these are off by.

    Cost: no evaluation, and a pass over the coordinates for each line.
    """
    column = off_by_the_same(crossings)
    if column is None:
        return np.zeros(0, int)
    line = crossings[0].line
    total = np.zeros(line.stop - line.start, np.float32)
    for crossing in crossings:
        sign = np.float32(np.sign(crossing.residual[column]))
        for start, stop, piece in crossing.line.pieces():
            total[start - line.start : stop - line.start] += sign * np.sign(piece, dtype=np.float32)
    matched = np.flatnonzero(np.abs(total) >= MATCHED * len(crossings))
    best = np.argsort(-np.abs(total[matched]), kind="stable")[:SUSPECTS]
    return np.sort(line.start + matched[best])


@QUIETLY
def halve(certifier: Certifier, crossing: Crossing) -> Array:
    """Follow what is wrong along a line down to one entry, and return its coordinates.

    Cost: 6 evaluations for each halving, 12 where the step has to be chosen anew.
    """
    bars = np.where(np.isfinite(crossing.bar) & (crossing.bar > 0), crossing.bar, np.inf)
    column = int(np.argmax(np.where(crossing.refused, np.abs(crossing.residual) / bars, -1.0)))
    line, residual, step = crossing.line, float(crossing.residual[column]), crossing.step
    inputs = certifier.probe.inputs
    while line.stop - line.start > 1 and certifier.case.affordable:
        part = next(p for p in inputs.parts.values() if p.start <= line.start < p.start + p.size)
        if part.is_complex and line.stop - line.start == 2 and line.start >= part.start:
            break
        first, second = line.halves()
        [found] = certifier.cross([first], step)
        if not CLEAR * float(found.bar[column]) < abs(residual):
            [again] = certifier.cross([first], step / 16)
            found = again if again.bar[column] < found.bar[column] else found
        ours = float(found.residual[column])
        if not np.isfinite(ours):
            break
        if abs(ours) >= abs(residual - ours):
            line, residual = first, ours
        else:
            line, residual = second, residual - ours
    return np.arange(line.start, min(line.stop, line.start + 2))


def halve_kink(certifier: Certifier, crossing: Crossing) -> Array:
    """Follow a kink along a line down to the coordinate that has it.

    Cost: 6 evaluations for each halving.
    """
    column, line, bar = int(np.nanargmax(crossing.kink)), crossing.line, np.nanmax(crossing.kink)
    while line.stop - line.start > 1 and certifier.case.affordable:
        first, second = line.halves()
        if first.stop == first.start:
            break
        [found] = certifier.cross([first], crossing.step)
        line = first if found.kink[column] > bar / 2 else second
    return np.arange(line.start, min(line.stop, line.start + 1))


def halve_outputs(ask: Callable[[Array], float], numeric: Array) -> int:
    """Follow what is wrong with an entry of the input down to one output, at one vjp each.

    Parameters
    ----------
    ask : callable
        ``ask(upstream)`` returns what the vjp claims of the entry.
    numeric : ndarray, shape (outputs,)
        What was found of it.
    """
    stretch = np.arange(numeric.size)
    signs = np.where(np.random.default_rng(0).integers(0, 2, numeric.size) == 0, -1.0, 1.0)
    residual = ask(signs) - float(signs @ numeric)
    while stretch.size > 1:
        first, second = np.array_split(stretch, 2)
        upstream = np.zeros(numeric.size)
        upstream[first] = signs[first]
        ours = ask(upstream) - float(upstream @ numeric)
        if abs(ours) >= abs(residual - ours):
            stretch, residual = first, ours
        else:
            stretch, residual = second, residual - ours
    return int(stretch[0])
