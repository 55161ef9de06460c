"""Find an entry that is wrong: match signs, or halve a line that refuses the claim.

If one entry is wrong, the residuals of all lines have the same size, with the sign of the entry
along each line. So the signs of the measured residuals show which entry it is.

If several entries are wrong, one line is halved. The slopes along two lines with the same signs,
one over each half of the coordinates, add up to the slope along the line over both. So one
measurement gives the residual in each half. The half with the larger residual is halved again,
down to a single entry.
"""

import math

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.steps import axes_of
from gradcheck_ref.check.judge.together import LINES, Together, worst
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.results import FAIL

# After a line that refuses, three more show if one entry is wrong or several.
MORE_LINES = 3

# Residuals are equal if they differ by at most a tenth plus their bars. One sign in ten may be
# wrong, because a line may have a wrong slope.
ALIKE = 0.1


def find_by_signs(together: Together) -> bool:
    """Find a wrong entry by its signs, and correct its claim along all lines; tell if there is one.

    Cost: at most six axes, and lines that are measured anyway: one for each bit of its number, and
    four more because one sign in ten may be wrong.
    """
    question = together.question
    if question.affordable < LINES:
        return False  # the evaluations left are worth more on axes
    together.measure(1 + MORE_LINES)
    column = off_by_the_same(together.evidence)
    if column is None:
        return False
    together.measure(min(LINES, math.ceil(math.log2(question.size)) + 4))
    rows = match(together.evidence, column)[: question.affordable]
    together.correct(axes_of(question, rows, [together.suspects]))
    return bool((together.suspects.ruling.verdict == FAIL).any())


@QUIETLY
def off_by_the_same(lines: Evidence) -> int | None:
    """Return the output whose residuals have the same size along all lines; None if none has."""
    off = np.abs(lines.residual)
    same = np.ptp(off, axis=0) <= ALIKE * off.max(axis=0) + lines.best.bar.max(axis=0)
    same &= lines.ruling.refused.all(axis=0)
    return int(np.argmax(np.where(same, off[0], 0.0))) if same.any() else None


def match(lines: Evidence, column: int) -> Array:
    """Return the few coordinates whose signs along the lines match those of the residuals.

    Cost: no evaluation, and a pass over the coordinates for each line.
    """
    total = np.zeros(lines.question.size, np.float32)
    for line, residual in zip(lines.lines, lines.residual[:, column], strict=True):
        for start, stop, piece in line.pieces():
            total[start:stop] += np.float32(np.sign(residual)) * np.sign(piece, dtype=np.float32)
    matched = np.flatnonzero(np.abs(total) >= (1 - ALIKE) * len(lines.lines))
    # At most six are measured: of a million entries, about two match twenty lines by chance.
    best = np.argsort(-np.abs(total[matched]), kind="stable")[:6]
    return np.sort(matched[best])


@QUIETLY
def halve(together: Together, lines: Evidence) -> Array:
    """Halve the line that refuses its claim most clearly, down to one wrong entry.

    Cost: 6 evaluations for each halving.
    """
    k, column = worst(lines)
    line, residual = lines.lines[k], float(lines.residual[k, column])
    start = int(lines.best.start[k, column])
    first, second = line.halves()
    while first.start < first.stop and together.question.affordable:
        found = together.along([first])
        found = found.looked(found.table.window(start))
        ours = float(found.residual[0, column])
        if not np.isfinite(ours):
            break
        in_first = abs(ours) >= abs(residual - ours)
        line, residual = (first, ours) if in_first else (second, residual - ours)
        first, second = line.halves()
    return np.array([line.start])
