"""Jumps of f near x: of a solver that stops at a tolerance, and at the ends of stairs.

A solver is smooth at short steps, because it makes the same number of steps at all points there.
Its slope is off by about the tolerance, so a right claim fails. A little farther away the number of
steps is another one, and f jumps. On a stair f does not change at all, and neither does it beside
a relu that is off, but that leaves its value without a jump. Beside a smooth part, such as a
penalty, f changes by that alone as long as the rest stands on its stair.

So the check closes in on a jump. It stays as large as it is when the points come closer to it. A
kink, a sharp bend and a wave do not.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.rule import STAIRS
from gradcheck_ref.check.judge.survey import ALL_AXES
from gradcheck_ref.check.judge.whole import decides, length_of
from gradcheck_ref.check.measure.ladder import DOWN
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State, read
from gradcheck_ref.check.results import FAIL, PASS, Stair
from gradcheck_ref.structure.parts import Part

# Three new points among five bring two neighbors four times closer: by 4**8 = 65536 in all for a
# solver, and by 4**6 = 4096 for the end of a stair.
NEW, TIMES, TIMES_AT_END = 3, 8, 6

# The number of points on each side where a jump is looked for, and the farthest one, relative to x:
# of a solver, or beside a claim that is nearly right, and of other stairs. And the evaluations.
POINTS, FAR, AFAR = 12, 2.0**-3, 2.0**-1
COST, COST_AFAR = 2 * POINTS + TIMES * NEW, 2 * POINTS + 2 * TIMES * NEW

# Up to four stairs hide a change of f. In bfloat16, four are at least HIDDEN, relative to f. One in
# float16 is at least SHORTEST.
HIDE, HIDDEN, SHORTEST = 4.0, 2.0**-6, 2.0**-11

# f follows a claim from afar if all points leave no more than CLOSE of what it says besides the
# slope at x, and two of them not twice that. A claim that is twice as large leaves a half.
CLOSE = 1 / 3

# A jump is this much larger than what f changes between two such points by its slope, and than its
# noise.
LARGER = 20.0

# Tolerances are below 0.1, and most mistakes are larger: then no point is worth its evaluation.
NEARLY_RIGHT = 0.1

# Where f does not change, steps up to 2**6 times longer than those so far are tried.
FARTHER = 6

# n times closer to the end, f has left its value by as much if it jumps, or by one of a few stairs.
# If it bends it has by n times less, and at the start of a root by n**(1/2) or n**(1/3).
STEEPEST = 1 / 4

# Rounding makes jumps of a few spacings of the dtype.
ROUNDINGS = 100.0

# How far an output is from f(x) at some steps along a line.
Moves = Callable[[Array], Array]


def _along(evidence: Evidence, line: Line, column: int) -> Moves:
    ask = evidence.question.ask
    return lambda steps: (ask.many([(line, t) for t in steps.tolist()]) - ask.here)[:, column]


def _closer(steps: Array, found: Array, k: int, moves: Moves) -> tuple[Array, Array]:
    """Put new points between the one of this number and the next; return steps and moves."""
    steps = np.linspace(steps[k], steps[k + 1], NEW + 2)
    return steps, np.concatenate([found[[k]], moves(steps[1:-1]), found[[k + 1]]])


def _is_beyond(evidence: Evidence, cost: int) -> bool:
    """Whether so many evaluations are beyond a limit of the caller."""
    budget = evidence.question.ask.budget
    return budget.limited and budget.left <= cost


# --- solvers --------------------------------------------------------------------------------------


@QUIETLY
def jump_near(evidence: Evidence) -> float:
    """Return the size of a jump of f near x, in the output that fails most; 0 if none is found.

    Cost: no evaluation, unless all axes were measured, and the claim is nearly right but fails on
    half of them, because a solver spoils most slopes. Then 48, beyond the usual budget, but within
    a limit of the caller.
    """
    question, at = evidence.question, evidence.best
    fails = (evidence.ruling.verdict == FAIL) & (at.state == State.SMOOTH)
    if not fails.any() or question.size > ALL_AXES or _is_beyond(evidence, COST):
        return 0.0
    off = np.where(fails, np.abs(evidence.residual), 0.0)
    column = int(np.argmax(off.max(axis=0)))
    if 2 * np.count_nonzero(fails[:, column]) < question.size:
        return 0.0
    if not np.linalg.norm(off[:, column]) <= NEARLY_RIGHT * np.linalg.norm(at.slope[:, column]):
        return 0.0
    inputs, seed = question.ask.inputs, seed_of(question.seed, "jumps")
    moves = _along(evidence, Line(inputs, 0, inputs.size, seed, None, True), column)
    steps = np.arange(-POINTS, POINTS + 1) / POINTS * FAR
    found = np.insert(moves(steps[steps != 0]), POINTS, 0.0)
    return _jump(evidence, column, steps, found, moves)


def _jump(
    evidence: Evidence, column: int, steps: Array, found: Array, moves: Moves, rises: bool = False
) -> float:
    """Return the size of a jump among some equal steps; 0 if there is none. Cost: 24, or 18.

    It is what the slope between most points does not explain. If f ``rises`` in stairs, there may
    be jumps between most points, and the steepest change has one, whatever slope the rest has.
    """
    start = int(np.argmax(np.abs(np.diff(found, 4))))  # large where f is least like a polynomial
    steps, found = steps[start : start + NEW + 2], found[start : start + NEW + 2]
    for _ in range(TIMES_AT_END if rises else TIMES):
        left = np.diff(found) if rises else np.abs(_unexplained(steps, found))
        odd = int(np.argmax(left))
        steps, found = _closer(steps, found, odd, moves)
    jump = float(np.abs(_unexplained(steps, found)).max())
    smooth, noise = float(np.median(np.abs(np.diff(found)))), evidence.question.noise
    # Rounded values jump everywhere.
    least = max(smooth, float(noise.level[column]), float(noise.resolution[column]))
    return jump if jump > LARGER * least else 0.0


def _unexplained(places: Array, found: Array) -> Array:
    """Return what the typical slope leaves of the change between two neighbors."""
    apart = np.diff(places)
    slopes = np.diff(found) / apart
    return np.asarray((slopes - np.median(slopes)) * apart)


# --- from afar ------------------------------------------------------------------------------------


@QUIETLY
def with_stairs_from_afar(evidence: Evidence) -> Evidence:
    """Return the evidence with the stairs of f, if it follows refused claims in jumps from afar.

    Next to x, a part of f stands on one stair, and the slope there is that of the rest.

    Cost: none, unless stairs of 16 bits may hide all that the refused claims for an input say
    besides that slope. Then 2 evaluations for the worst such input and output. If f seems to follow
    the claims there, up to 72 more, and the same for the next ones.
    """
    question, rows, off = evidence.question, evidence.rows, np.abs(evidence.residual)
    refused = evidence.ruling.refused & np.isfinite(off)
    # What f should have changed by, but has not.
    missing = np.where(refused, off * _farthest_alone(evidence), 0.0)
    hides = missing <= HIDDEN * _sizes(evidence)
    open_ = (evidence.ruling.verdict != PASS) & np.isfinite(off)
    parts = [part.holds(rows) for part in question.ask.inputs.parts.values() if part.size]
    effects = np.where(refused, off * evidence.units[:, None], 0.0)
    sums = np.array([effects[mine].sum(axis=0) * hides[mine].all(axis=0) for mine in parts])
    followed, stairs = np.zeros(refused.shape, bool), np.zeros(question.ask.here.size)
    for worst in np.argsort(-sums, axis=None)[: np.count_nonzero(sums)].tolist():
        number, column = divmod(worst, sums.shape[1])
        mine = parts[number]
        if not (jump := _followed_by(evidence, open_[:, column] & mine, column)):
            break
        followed[mine, column], stairs[column] = refused[mine, column], max(stairs[column], jump)
    if not followed.any() or (followed & (missing > HIDE * stairs)).any():
        return evidence
    followed &= not decides(question)  # else the whole may acquit them, with stairs or without
    question.noise.has_stairs(stairs)
    known = read(evidence.table, question.noise)
    return replace(evidence, witnesses=known).given(followed=followed)


def _farthest_alone(evidence: Evidence) -> Array:
    """Return the longest step where f moves without what the claims say, (lines, outputs).

    A longer one does not count if f follows the claims at one before.
    """
    bar, step, off = evidence.witnesses.bar, evidence.witnesses.step, np.abs(evidence.residual)
    left = np.abs(evidence.claimed - evidence.witnesses.slope)
    follows = np.where(left + bar <= CLOSE * off, step, np.inf).min(axis=0)
    alone = (left > np.fmax(bar, CLOSE * off)) & (step < follows)
    return np.asarray(np.where(alone, step, 0.0).max(axis=0))


def _sizes(evidence: Evidence) -> Array:
    """Return how large numbers inside f are: as f, or as all that the claims say of them.

    Where these cancel, as in a loss that is as large as a penalty, f itself is small.
    """
    effects = np.where(np.isfinite(evidence.claimed), evidence.claimed, 0.0)
    return np.asarray(np.fmax(evidence.best.size, length_of(effects * evidence.units[:, None])))


def _followed_by(evidence: Evidence, mine: Array, column: int) -> float:
    """Return the size of a jump of f, if it follows some claims in jumps; else 0.

    All these entries move together, in the direction in which the claims say more than the slopes.
    """
    ask, each = evidence.question.ask, evidence.rows[mine]
    # The sharpest slopes may be those of steps that are longer than stairs.
    seen = evidence.witnesses
    closest = seen.take(np.where(np.isfinite(seen.slope), seen.start, -DOWN).argmax(axis=0))
    slopes = closest.slope[mine, column]
    off = evidence.claimed[mine, column] - slopes
    # Over a long way f bends more than a claim is off that is nearly right.
    nearly = np.linalg.norm(off) <= NEARLY_RIGHT * np.linalg.norm(slopes)
    farthest = FAR if nearly else AFAR
    moved, back = np.zeros((2, ask.inputs.size), bool)
    moved[each], back[each] = True, off < 0
    line = Line(ask.inputs, 0, moved.size, (), np.packbits(moved), back=np.packbits(back))
    lengths = np.copysign(ask.inputs.units_at(each), off)
    near, more = float(slopes @ lengths), float(off @ lengths)
    size = float(_sizes(evidence)[mine, column].max())
    if more * farthest < SHORTEST * size:  # that is not even one stair
        return 0.0
    steps = np.arange(-POINTS, POINTS + 1) / POINTS * farthest
    moves, third = _along(evidence, line, column), steps[[POINTS // 3, -1 - POINTS // 3]]
    with ask.budget.apart(2 + COST_AFAR):
        if ask.budget.left < 2 + COST_AFAR:
            return 0.0
        chord = float(np.diff(moves(third))[0] / np.diff(third)[0])
        if not abs(chord - near - more) <= 2 * CLOSE * more:
            return 0.0
        found = np.insert(moves(steps[steps != 0]), POINTS, 0.0)
        # A line through all points, and a cubic: stairs bend the one less, and curves the other.
        odd = steps - steps**3 * (np.sum(steps**4) / np.sum(steps**6))
        fitted = np.array([one @ found / (one @ steps) for one in (steps, odd)])
        if not np.abs(fitted - near - more).min() <= CLOSE * more:
            return 0.0
        # A single jump is on one side only.
        sides = slice(POINTS + 1), slice(POINTS, None)
        jumps = [_jump(evidence, column, steps[k], found[k], moves, not nearly) for k in sides]
    # Taller ones are of f itself, such as a floor: few numbers inside f are twice as large as f.
    are_stairs = more * farthest / STAIRS <= min(jumps) and max(jumps) <= 2 * HIDDEN * size
    return max(jumps) if are_stairs else 0.0


# --- stairs ---------------------------------------------------------------------------------------


@QUIETLY
def stair_at(evidence: Evidence, part: Part) -> Stair | None:
    """Return the stair that x lies on along one axis of an input, where the claim matters most.

    Cost: none, unless a claim fails where f stands still, or is unsure on stairs. Then at most 48
    evaluations, beyond the usual budget, but within a limit of the caller.
    """
    ask, table = evidence.question.ask, evidence.table
    fails = (evidence.ruling.verdict == FAIL) & (evidence.best.state == State.FLAT)
    asked = fails | (evidence.reasons == "stairs")
    asked &= np.isfinite(evidence.claimed) & part.holds(evidence.rows)[:, None]
    if not asked.any() or _is_beyond(evidence, 2 * (FARTHER + TIMES_AT_END * NEW)):
        return None
    size = np.abs(evidence.claimed) * evidence.units[:, None]
    k, column = np.unravel_index(np.argmax(np.where(asked, size, -1.0)), size.shape)
    line, here = table.lines[k], ask.here[column]
    moves = _along(evidence, line, int(column))
    at = table.where[k][table.where[k] >= 0][::-1]  # from the shortest step on
    ends, jumps = np.array([-np.inf, np.inf]), np.zeros(2)
    for side in (0, 1):
        found = table.values[at, side, column] - here
        ends[side], jumps[side] = _end(table.places[at, side], found, moves) or (ends[side], 0.0)
    if not jumps.max() > ROUNDINGS * ask.precision * abs(here):
        return None
    name, x = part.entry(line.start - part.start), float(ask.inputs.x[line.start])
    start, end = (x + ends).tolist()
    return Stair(name, x, start, end, float(jumps.max()))


def _end(steps: Array, found: Array, moves: Moves) -> tuple[float, float] | None:
    """Close in on the end of a stair on one side of x; return the step there, and the jump of f.

    It is None if f never changes, or leaves its value without a jump.
    """
    if not found.any():
        farther = steps[-1] * 2.0 ** np.arange(1, FARTHER + 1)
        steps, found = np.append(steps, farther), np.append(found, moves(farther))
    if not found.any():
        return None
    steps, found = np.append(0.0, steps), np.append(0.0, found)
    for number in range(TIMES_AT_END):
        beyond = int(np.argmax(found != 0))
        if number == TIMES_AT_END // 2:
            far, first = steps[beyond], abs(found[beyond])
        steps, found = _closer(steps, found, beyond - 1, moves)
    beyond = int(np.argmax(found != 0))
    jump, closer = abs(found[beyond]), (far - steps[beyond - 1]) / (steps[1] - steps[0])
    return (float(steps[beyond]), float(jump)) if first < jump * closer**STEEPEST else None
