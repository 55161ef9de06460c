"""What speaks for a claim that was refused: its own rounding, that of f, and ties.

None of it acquits: what is refused only within such a doubt is *unsure*.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.axes import Looked
from gradcheck_ref.check.judge.case import Case
from gradcheck_ref.check.judge.identities import ROUNDING_AT_MOST, SMALL_ROUNDING
from gradcheck_ref.check.judge.pair import FAIL
from gradcheck_ref.check.judge.rule import FAIL_BARS, take, trusted
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.samples import EACH, QUIETLY
from gradcheck_ref.check.measure.witness import FLAT, NOISE_UNITS, ROUGH, Witness, ask_witnesses

# What a claim, or f, changes by a few spacings of x away is one draw of its rounding.
OWN_ROUNDINGS = 4.0
# So many are taken where the first explains at least such a share of what is refused.
DRAWS, A_TRACE = 3, 0.1
# So many columns of a Jacobian are asked for once more, if they are refused.
ASKED_NEXT_DOOR = 100

# Where f has a derivative the slopes add up, but for their error bars, the curvature and the noise;
# this share of them is for what these miss.
TIE = 1e-3
# Steps from which stairs have a slope are so many times longer than those that found them rough.
FROM_AFAR = 16.0, 64.0
# Where f moves most is looked at closer twice, in so many pieces: if it does not jump there, each
# time it moves so many times less.
ZOOMS, PIECES = 2, 4

# In so many directions, where f did not move along any axis.
WAYS = 4


@QUIETLY
def weigh_own_rounding(case: Case, looked: Looked) -> None:
    """Blame no claim for what it rounds: ask for it again where it is refused, next to x.

    That widens a refusal and never acquits.
    """
    claims, wrong = case.claims, looked.ruling.verdict == FAIL
    columns = np.flatnonzero(wrong.any(axis=0))[:ASKED_NEXT_DOOR]
    if not columns.size or claims.keeps_state(case.tolerance.rtol):
        return
    rounding = _roundings_of_f(case, looked)
    off = np.where(wrong, np.abs(looked.claimed - looked.chosen.slope), np.inf)[:, columns]
    own = np.zeros(off.shape)
    for draw in range(DRAWS):
        there = claims.nearby(columns, case.seed + draw)
        if there is None:
            break
        own = np.fmax(own, _next_door(case, looked, there, columns))
        if not (OWN_ROUNDINGS * own > A_TRACE * off).any():
            break  # what is wrong is wrong for other reasons
    rounding[:, columns] += OWN_ROUNDINGS * own
    looked.excuse(rounding)


def _next_door(case: Case, looked: Looked, there: Array, columns: Array) -> Array:
    """Return how much of what the claims for some columns are next door is their own rounding."""
    claimed = np.abs(looked.claimed[:, columns])
    size = np.abs(case.probe.x[looked.rows])[:, None]
    own = np.nan_to_num(np.abs(there[looked.rows] - looked.claimed[:, columns]))
    scale = np.fmin(claimed.max(axis=0), (claimed * size).max(axis=0) / size)
    # One entry may stay what it is by chance; its neighbours do not.
    share = np.nan_to_num(own / scale)
    own = np.fmax(own, scale * np.sqrt(np.mean(share**2, axis=0)))
    # What is another claim next door altogether is no rounding: it is a switch.
    switch = own > np.fmax(ROUNDING_AT_MOST * scale, SMALL_ROUNDING / np.fmax(1.0, size))
    return np.where(switch, 0.0, own)


def _roundings_of_f(case: Case, looked: Looked) -> Array:
    """Return by how much the slope of f itself is another one, a few spacings of x away.

    An f that cancels all its terms, such as the determinant of a matrix of a low rank, is exactly
    linear along an axis, with a slope that is nothing but rounding. It is looked at next door only
    where the slopes are that small, and only the entry that is refused most clearly.
    """
    at, wrong = looked.chosen, looked.ruling.verdict == FAIL
    rounding = np.zeros(looked.claimed.shape)
    small = np.fmax(np.abs(looked.claimed), np.abs(at.slope)) <= SMALL_ROUNDING
    if not small[wrong].all():
        return rounding
    off = np.where(wrong, np.nan_to_num(np.abs(looked.claimed - at.slope)), -1.0)
    row, column = np.unravel_index(int(np.argmax(off)), off.shape)
    own = 0.0
    for way in range(1, 4):
        if case.probe.evaluations + 1 + EACH > case.most:
            break
        door = case.probe.next_door(case.seed + way)
        axis = Axis(door.units, int(looked.rows[row]))
        there = ask_witnesses(door, case.noise, [axis], np.array([at.step[row, column]]))
        own = max(own, float(np.nan_to_num(np.abs(there.slope[0, column] - at.slope[row, column]))))
    rounding[small] = OWN_ROUNDINGS * own
    return rounding


@QUIETLY
def on_hidden_stairs(case: Case, looked: Looked) -> Array:
    """Whether f stands on a stair beside a slope, and the claim is that of all the stairs.

    What is rounded to few digits inside f, as a loss in float16 is beside a penalty in float64,
    does not move from nearby: there the slope is that of the rest, at any step. From a little
    farther all six samples are rough, f jumps between them, and from farther still the stairs have
    a slope. A kink on the way is as rough, and a wave, but they do not jump.
    """
    wrong, at = looked.ruling.verdict == FAIL, looked.chosen
    rough = (looked.witnesses.state == ROUGH) & (looked.witnesses.step > at.step) & wrong
    steps = np.where(rough, looked.witnesses.step, 0.0).max(axis=(0, 2))
    steps = np.where(steps > 0, steps, steps.max(initial=0.0))
    hidden, stairs = np.zeros(wrong.shape, bool), np.zeros(wrong.shape[1], bool)
    for longer in FROM_AFAR if rough.any() else ():
        asked = np.flatnonzero((wrong & ~hidden).any(axis=1))[: case.affordable]
        if not asked.size:
            break
        lines = [Axis(case.probe.units, int(row)) for row in looked.rows[asked]]
        far = ask_witnesses(case.probe, case.noise, lines, longer * steps[asked])
        # How far the steps of the stairs let a slope be off is drawn once for each line.
        typical = np.median(np.where(np.isfinite(far.bar), far.bar, 0.0), axis=0)
        bars = FAIL_BARS * np.maximum(far.bar, typical)
        fits = np.abs(looked.claimed[asked] - far.slope) <= bars
        led = np.abs(at.slope[asked] - far.slope)
        leads = led > bars
        found = wrong[asked] & fits & leads
        if found.any() and not stairs.any():
            row, column = np.unravel_index(int(np.argmax(np.where(found, led, -1.0))), led.shape)
            slope = float(at.slope[asked[row], column])
            if not _jumps(case, lines[row], float(steps[asked[row]]), slope, int(column)):
                break
        stairs |= found.any(axis=0)
        # Along another line there may be no stair in reach; where one is, the claim must fit.
        hidden[asked] |= wrong[asked] & stairs & (fits | ~leads)
    return hidden


def _jumps(case: Case, axis: Axis, step: float, slope: float, column: int) -> bool:
    """Whether an output jumps within a step of x, beside a slope.

    Where it moves most is looked at closer: there it moves as much as before if it jumps.
    Cost: 11 evaluations.
    """

    def rest(places: Array) -> Array:
        values = case.probe.many([(axis, t) for t in places.tolist()])[:, column]
        return np.asarray(np.nan_to_num(values - slope * places))

    if case.affordable < 2:  # nobody is convicted for that
        return True
    places = np.linspace(-step, step, PIECES + 1)
    values = rest(places)
    before = np.abs(np.diff(values)).max()
    for _ in range(ZOOMS):
        most = int(np.argmax(np.abs(np.diff(values))))
        first, last = values[most], values[most + 1]
        places = np.linspace(places[most], places[most + 1], PIECES + 1)
        values = np.array([first, *rest(places[1:-1]), last])
    return bool(np.abs(np.diff(values)).max() * PIECES**ZOOMS > 2 * before)


def tied(case: Case, looked: Looked) -> tuple[Array, Array]:
    """Whether f moves otherwise along all inputs at once than the slopes along each add up to.

    It has no derivative there, though it may have one along every axis: three equal numbers have a
    median that moves only when two of them do. That is one more line, measured with the noise.
    Returns, for every output, whether it is so, and whether it did not move at all.
    """
    probe, noise = case.probe, case.noise
    no = np.zeros(probe.here.shape, bool)
    if len(looked.rows) == case.size:
        noise.measure()
    if len(looked.rows) < case.size or not noise.tables:
        return no, no
    at = looked.chosen
    affordable = probe.evaluations + 2 * (WAYS - 1) <= case.most
    blamed = (looked.ruling.verdict == FAIL) & (at.state == FLAT) & (looked.claimed != 0)
    # Where f stands still along every axis, one line may find it doing so by chance.
    for way, (here, next_to, beyond) in noise.everything_moves(
        WAYS if blamed.any() and affordable else 1
    ):
        otherwise, still = _moves_otherwise(
            noise, _just_longer(looked, way), way, here, next_to, beyond
        )
        if otherwise.any():
            return otherwise, still
    return no, no


def _just_longer(looked: Looked, way: Array) -> Witness:
    """Return the witness of the shortest step that is no shorter than the way of each coordinate.

    No shorter one tells where the line leads, and a longer one has seen more than that.
    """
    far = trusted(looked.witnesses) & (looked.witnesses.step >= np.abs(way)[:, None])
    steps = np.where(far, looked.witnesses.step, np.inf)
    found = take(looked.witnesses, steps.argmin(axis=0))
    found.truncation[~far.any(axis=0)] = np.inf
    return found


def _moves_otherwise(
    noise: Noise, far: Witness, way: Array, here: Array, next_to: Array, beyond: Array
) -> tuple[Array, Array]:
    with np.errstate(invalid="ignore", over="ignore"):
        missing = np.abs(next_to - here - way @ far.slope)
        curvature = 2 * np.abs(beyond - 2 * next_to + here)
        bar = np.abs(way) @ far.bar + curvature + 4 * NOISE_UNITS * noise.noises[-1]
        otherwise = missing > bar + TIE * (np.abs(way) @ np.abs(far.slope))
    otherwise &= noise.noises[0] <= noise.quiet  # of noise the line tells nothing
    return otherwise, (here == next_to) & (next_to == beyond)
