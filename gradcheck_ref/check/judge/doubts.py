"""What speaks for a claim that was refused: its own rounding, and ties among the inputs.

None of it acquits: what is refused only within such a doubt is *unsure*.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.identities import DRAWS, ROUNDING_AT_MOST, ROUNDINGS, SMALL_ROUNDING
from gradcheck_ref.check.judge.pair import FAIL
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import FLAT

# What a claim changes by a few spacings of x away is one draw of its rounding. Four times the
# largest of three draws was exceeded in none of 180 trials.
OWN_ROUNDINGS = 4.0

# Random lines along which a tie is looked for where f stands still: it may do so along one in two.
WAYS = 4

# This many columns of a Jacobian are asked for once more, if they are refused.
ASKED_NEXT_DOOR = 100


@QUIETLY
def weigh_own_rounding(looked: Evidence) -> None:
    """Blame no claim for what it rounds: ask for it again where it is refused, next to x."""
    claims, case, wrong = looked.case.claims, looked.case, looked.ruling.verdict == FAIL
    columns = np.flatnonzero(wrong.any(axis=0))[:ASKED_NEXT_DOOR]
    if not columns.size or claims.random:
        return
    # Where f is 0, as the determinant of a matrix of low rank, it may be nothing but what numbers
    # of the size of x, or of 1, leave when they cancel.
    inside = ROUNDINGS * case.probe.eps * min(1.0, float(looked.sizes.max()))
    nothing = np.abs(case.probe.here) <= inside / 10
    zeros = (looked.claimed == 0) & nothing
    rounding = np.where(zeros, inside, 0.0)
    for draw in range(DRAWS):
        there = claims.nearby(columns, case.seed + draw)
        if there is None:
            break
        own = OWN_ROUNDINGS * _change(looked, there, columns)
        rounding[:, columns] = np.fmax(rounding[:, columns], own)
        # What is wrong by ten times as much is wrong for other reasons.
        if not (wrong & (10 * rounding > np.abs(looked.residual))).any():
            break
    if (wrong & (rounding > 0)).any():
        looked.own_rounding = rounding
        looked.judge()


def _change(looked: Evidence, there: Array, columns: Array) -> Array:
    """Return by how much the claims for some columns are others next door, as rounding."""
    claimed = np.abs(looked.claimed[:, columns])
    size = looked.sizes[:, None]
    own = np.nan_to_num(np.abs(there[looked.rows] - looked.claimed[:, columns]))
    scale = np.fmin(claimed.max(axis=0), (claimed * size).max(axis=0) / size)
    # One entry may stay what it is by chance; its neighbours do not.
    share = np.nan_to_num(own / scale)
    own = np.fmax(own, scale * np.sqrt(np.mean(share**2, axis=0)))
    # What is another claim next door altogether is no rounding: it is a switch.
    switch = own > np.fmax(ROUNDING_AT_MOST * scale, SMALL_ROUNDING / np.fmax(1.0, size))
    return np.where(switch, 0.0, own)


@QUIETLY
def tied(looked: Evidence) -> Array:
    """Tell for which outputs f moves otherwise along a line than along its parts taken together.

    There f has no derivative: three equal numbers have a median that moves only when two of them
    do. The parts are all axes where these are known, else two halves. So the slopes along them are
    held to that along the line, as a claim is. Cost: none, unless f stands still along an axis that
    is blamed, or x has equal entries; then 6 evaluations or more for each of a few lines.
    """
    case, at = looked.case, looked.best
    blamed = (looked.ruling.verdict == FAIL) & np.isfinite(looked.claimed)
    still = (blamed & (at.state == FLAT)).any()
    if not (still or (blamed.any() and np.unique(case.probe.x).size < case.size)):
        return np.zeros(blamed.shape[1], bool)
    units, size = case.probe.units, case.size
    lines = [RandomLine(units, (case.seed, k), 0, size) for k in range(WAYS if still else 1)]
    if len(looked.lines) == size:
        directions = np.array([line.direction for line in lines])
        slopes = directions @ np.nan_to_num(at.slope)
        room = np.abs(directions) @ (at.bar + case.tolerance.rtol * np.abs(at.slope))
    else:
        halves = [half for line in lines for half in line.halves()]
        nothing = np.zeros((len(halves), blamed.shape[1]))
        parts = Evidence(case, halves, nothing, lambda *_: nothing, 0.0).settle(tries=1).best
        slopes, room = (part[::2] + part[1::2] for part in (parts.slope, parts.bar))
    whole = Evidence(case, lines, slopes, lambda *_: room, 0.0).settle()
    return np.asarray(whole.refused.any(axis=0))
