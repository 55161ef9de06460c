"""Which entry is wrong: matching signs, or halving a line that refuses.

If one entry is wrong, every line is off by the same amount, with the sign that the entry has along
it: the lines that were measured say which it is.

If more are wrong, one line is halved. The slopes along two lines with the same signs, one over each
half of the coordinates, add up to the slope along the line over both. So one measurement tells how
much of what is wrong lies in either half, and the larger share is followed down to a single entry,
whatever else is wrong. The outputs of a vjp are halved in the same way.
"""

from collections.abc import Callable

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.certificate import Certifier
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.measure.noise import QUIETLY

# Lines are off by the same amount if they differ by a tenth of it and by their bars; and one sign
# in ten may be told wrong by a line that misses its slope.
ALIKE = 0.1

# Entries whose signs match are looked at, this many at most: of a million about two match twenty
# lines by chance.
SUSPECTS = 6


@QUIETLY
def off_by_the_same(lines: Evidence) -> int | None:
    """Return the output by which all lines are off by the same amount, as by one wrong entry."""
    off = np.abs(lines.residual)
    same = np.ptp(off, axis=0) <= ALIKE * off.max(axis=0) + lines.best.bar.max(axis=0)
    same &= lines.refused.all(axis=0)
    return int(np.argmax(np.where(same, off[0], 0.0))) if same.any() else None


def match(lines: Evidence, column: int) -> Array:
    """Return the few coordinates whose signs along all lines match what these are off by.

    Cost: no evaluation, and a pass over the coordinates for each line.
    """
    total = np.zeros(lines.case.size, np.float32)
    for line, residual in zip(lines.lines, lines.residual[:, column], strict=True):
        assert isinstance(line, RandomLine)
        for start, stop, piece in line.pieces():
            total[start:stop] += np.float32(np.sign(residual)) * np.sign(piece, dtype=np.float32)
    matched = np.flatnonzero(np.abs(total) >= (1 - ALIKE) * len(lines.lines))
    best = np.argsort(-np.abs(total[matched]), kind="stable")[:SUSPECTS]
    return np.sort(matched[best])


@QUIETLY
def halve(certifier: Certifier) -> Array:
    """Follow what is wrong along the line that refuses most down to one entry.

    Returns its coordinates, two for a complex entry. Cost: 6 evaluations for each halving, 12 where
    the step has to be chosen anew.
    """
    lines, best = certifier.evidence, certifier.evidence.best
    ratio = np.nan_to_num(np.abs(lines.residual) / best.bar)
    ratio = np.where(lines.refused, ratio, -1.0)
    k, column = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    line, residual, step = lines.lines[k], float(lines.residual[k, column]), best.step[k, column]
    assert isinstance(line, RandomLine)
    parts = certifier.probe.inputs.parts.values()
    while line.stop - line.start > 1 and certifier.case.affordable:
        part = next(p for p in parts if p.start <= line.start < p.start + p.size)
        if part.is_complex and line.stop - line.start == 2:
            break
        first, second = line.halves()
        found = certifier.evidence_along([first]).settle(step, tries=1)
        if not 3 * float(found.best.bar[0, column]) < abs(residual) and certifier.case.affordable:
            found.ask(np.zeros(1, int), np.full(1, step / 16))
        ours = float(found.residual[0, column])
        if not np.isfinite(ours):
            break
        in_first = abs(ours) >= abs(residual - ours)
        line, residual = (first, ours) if in_first else (second, residual - ours)
    return np.arange(line.start, min(line.stop, line.start + 2))


def halve_outputs(ask: Callable[[Array], float], numeric: Array) -> int:
    """Follow what is wrong with an entry of the input down to one output, at one vjp each.

    ``ask(upstream)`` returns what the vjp claims of the entry; ``numeric``, of shape (outputs,), is
    what was found of it.
    """
    stretch = np.arange(numeric.size)
    signs = np.where(np.random.default_rng(0).integers(0, 2, numeric.size) == 0, -1.0, 1.0)
    residual = ask(signs) - float(signs @ numeric)
    while stretch.size > 1:
        first, second = np.array_split(stretch, 2)
        upstream = np.zeros(numeric.size)
        upstream[first] = signs[first]
        ours = ask(upstream) - float(upstream @ numeric)
        in_first = abs(ours) >= abs(residual - ours)
        stretch, residual = (first, ours) if in_first else (second, residual - ours)
    return int(stretch[0])
