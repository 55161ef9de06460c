"""A pilot: what one line over an input tells of noise, stairs and the best steps, before a claim.

f is asked ahead of x at every third rung, 10 times, and 16 times if it is noisy there. Three
readings of one table:

1. The slope by windows of three rungs. Its change, times the step, is 322 times less at the next
   rung where f is smooth, while noise is a plateau.
2. The value at x by the same windows, without f(x) itself. A kink or a jump near x is an offset
   that all longer windows share. It looks like a plateau in (1), but not here.
3. The cost of noise and truncation in each window: the cheapest is where to look first.
"""

import math
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.ladder import DOWN, RATIO, WIDE, rung_at, steps_at
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.stage5_adaptive import FIRST_STEP
from gradcheck_ref.structure.inputs import Inputs

# Ten rungs from 0.36 units on; six more, to 1.4e-10 units, if those end in more than rounding.
BRIEF, FULL = 10, 16

# Noise is told for windows from 14 rungs above 0.36 units to the end of the ladder.
HIGHEST, LOWEST = 14, DOWN // WIDE

# Each of so many inputs has its own pilot; if there are more, inputs of like units share one.
MOST_PILOTS = 12

# The misfit of a smooth f is the change of its slope, times the step. It grows like t^4, 322 times
# from rung to rung, but 1e4 times only across a stair, a kink or an edge. Up to 30 times is a
# plateau: noise.
# After a few draws of it, noise is hardly more than six times larger.
SMOOTH_GROWTH, PLATEAU, ENOUGH, FEWER = 1e4, 30.0, 3, 6.0

# Noise of 1 at each value changes what three rungs extrapolate by 1.96 (slopes, times the shortest
# step), or 2.3 (values at x); and the slope of a window of six values by 13.5 over its longest
# step. By slopes of one side 25 over that: four times that is what noise alone does not reach.
IN_SLOPE, IN_VALUE, IN_WINDOW, IN_ONE_SIDED = 1.96, 2.3, 13.5, 100.0

# Four misfits of one sign, whose ratios are within this factor, are a power of the step, not noise.
STEADY = 1.3

# Evaluations for the search for stairs: three intervals, halved ten times, and their ends.
MOST_HALVED, HALVINGS = 3, 40

# Stairs are more than so many roundings, and at most this part of the largest |f|.
NOT_ROUNDING, SMALL = 100.0, 2.0**-5

# If the cheapest window costs more than this part of the slope, the pilot saw no slope.
SEEN = 0.1


class Pilots(NamedTuple):
    """The results of the pilots, a row for each; the last row is for lines over several inputs."""

    inputs: Inputs
    owner: Array  # (inputs,): the row of each
    noise: Array  # (rows, rungs, outputs): standard deviation, in windows that start at each rung
    first: Array  # (rows,): where to look first, as a rung
    seen: Array  # (rows,): whether a pilot saw a slope
    stairs: Array  # (outputs,): the size of the stairs of f; 0 if there are none
    size: Array  # (outputs,): the largest |f| seen
    lines: Sequence[Line]  # those of the pilots
    slope: Array  # (lines, outputs): along these, in the cheapest window, from one side
    doubt: Array  # how far it may be off

    def rows_of(self, lines: Sequence[Line]) -> Array:
        """Return the row for each line: the last one if it moves inputs of several pilots."""
        if len(self.first) <= 2 or not lines:
            return np.zeros(len(lines), int)
        ends = np.array([(line.start, max(line.start, line.stop - 1)) for line in lines])
        first, last = self.inputs.numbers_of(ends.ravel()).reshape(-1, 2).T
        others = np.cumsum(np.diff(self.owner, prepend=self.owner[0]) != 0)
        return np.where(others[first] == others[last], self.owner[first], len(self.first) - 1)

    def noise_at(self, rows: Array, starts: Array) -> Array:
        """Return the noise of windows that start at these rungs, for lines with these rows."""
        at = np.minimum(np.maximum(starts // WIDE + HIGHEST, 0), HIGHEST + LOWEST)
        return np.asarray(self.noise[rows, at])

    @property
    def loudest(self) -> Array:
        """The noise where the pilots look first, of the loudest one that knows it, by output."""
        noise = self.noise_at(np.arange(len(self.first)), self.first)
        return np.asarray(np.where(np.isfinite(noise), noise, 0.0).max(axis=0))


def no_pilots(ask: Ask) -> Pilots:
    """Return what is known without a pilot: nothing of noise, and the first step of stage 5."""
    outputs = ask.here.size
    quiet = np.zeros((1, HIGHEST + LOWEST + 1, outputs))
    owner, size = np.zeros(len(ask.inputs.parts), int), np.abs(ask.here)
    first = np.array([rung_at(FIRST_STEP)])
    stairs, nothing = np.zeros(outputs), np.zeros((0, outputs))
    return Pilots(ask.inputs, owner, quiet, first, first > 0, stairs, size, (), nothing, nothing)


def _owners(inputs: Inputs, few: bool) -> tuple[Array, list[int]]:
    """Return the pilot of each input, and by how many rungs the unit is longer than 1, by pilot.

    Units between 0.1 and 10 count as 1, and so do those that no pilot could reach.
    """
    far = []
    for _, typical, _ in inputs.typicals:
        rungs = round(math.log(max(typical, sys.float_info.min)) / math.log(RATIO))
        far.append(rungs if not 0.1 <= typical <= 10 and rungs >= -HIGHEST else 0)
    keys = far if few or len(far) > MOST_PILOTS else list(range(len(far)))
    order = sorted(
        {key for key, (part, *_) in zip(keys, inputs.typicals, strict=True) if part.size}
    )
    owner = np.array([order.index(key) if key in order else 0 for key in keys], int)
    return owner, [far[keys.index(key)] for key in order]


class _Flight:
    """The values of f, less f(x), along the line of a pilot; each is asked once."""

    def __init__(self, ask: Ask, line: Line, top: int, notice: Callable[[Array], None]) -> None:
        self.ask, self.line, self.top, self.notice = ask, line, top, notice
        self.steps = steps_at(WIDE * np.arange(top, FULL), ask.inputs.eps)
        self.seen = {0.0: np.zeros(ask.here.size)}
        self.searched, self.may_search = False, True  # for stairs

    def __call__(self, steps: Array) -> Array:
        new = [t for t in steps.tolist() if t not in self.seen]
        if new:
            found = self.ask.many([(self.line, t) for t in new])
            self.notice(found)
            self.seen.update(zip(new, found - self.ask.here, strict=True))
        return np.array([self.seen[t] for t in steps.tolist()])


@np.errstate(all="ignore")
def fly(
    ask: Ask, eps: Array, seed: tuple[int, ...], few: bool, notice: Callable[[Array], None]
) -> Pilots | None:
    """Fly over the inputs; None if that is not affordable.

    Parameters
    ----------
    ask : Ask
        Calls f.
    eps : ndarray, shape (outputs,)
        The precision of each output.
    seed : tuple of int
        For the signs of the lines.
    few : bool
        Whether each coordinate is measured itself: then inputs of like units share a pilot.
    notice : callable
        Gets all values of f.

    Cost: 10 or 16 evaluations for each pilot, and up to 40 where f has stairs.
    """
    inputs = ask.inputs
    owner, longer = _owners(inputs, few)
    if ask.budget.before_slopes < FULL * len(longer):
        return None
    flights = []
    for row, far in enumerate(longer):
        mine = [part for part, one in zip(inputs.parts.values(), owner, strict=True) if one == row]
        moves = np.zeros(inputs.size, bool)
        for part in mine:
            moves[part.stretch] = True
        ends = mine[0].start, mine[-1].start + mine[-1].size
        packed = None if len(longer) == 1 else np.packbits(moves)
        line = Line(inputs, *ends, seed, packed, uneven=True)
        flights.append(_Flight(ask, line, min(far, 0), notice))
    shape = len(flights) + 1, HIGHEST + LOWEST + 1, ask.here.size
    seen = np.ones(shape[0], bool)
    noise, first, stairs, size = np.zeros(shape), np.zeros(shape[0], int), *np.zeros((2, shape[2]))
    slope, doubt = np.zeros((2, len(flights), shape[2]))
    for row, flight in enumerate(flights):
        own = flight.steps[-flight.top :]  # from 0.36 units of its own on
        top, steps = 0, own[:BRIEF]
        found = _read(eps, steps, flight)
        if not found.quiet:
            found, steps = _read(eps, own, flight), own
        if flight.top and not found.sees and not found.stairs.any():
            top, steps = flight.top, flight.steps
            found = _read(eps, steps, flight)
        levels, costs, values = found.noise, found.costs, found.values
        if flight.searched:  # once is enough
            for other in flights:
                other.searched, other.may_search = True, False
        stairs = np.fmax(stairs, found.stairs)
        at = np.clip(np.arange(-HIGHEST, LOWEST + 1) - top, 0, len(steps) - 1)
        seen[row] = found.smooth or costs.min(initial=np.inf) <= SEEN
        best = _cheapest(costs, -top)
        noise[row], first[row] = levels[at], WIDE * (best + top)
        slope[row], doubt[row] = _slope(steps, values, levels, best)
        size = np.fmax(size, np.nan_to_num(np.abs(values + ask.here)).max(axis=0))
    noise[-1], first[-1] = noise[:-1].max(axis=0), first[:-1].max()
    size = np.fmax(size, np.abs(ask.here))
    lines = [flight.line for flight in flights]
    return Pilots(inputs, owner, noise, first, seen, stairs, size, lines, slope, doubt)


def extrapolated(slopes: Array, powers: Array) -> tuple[Array, Array, Array]:
    """Extrapolate slopes at three steps to 0, in a power of the steps that were really taken.

    Returns what the longer two steps give, the shorter two, and all three (Neville, 1934).
    """
    (far, middle, near), (h, i, j) = slopes, powers
    coarse = middle + (middle - far) * (i / (h - i))
    fine = near + (near - middle) * (j / (i - j))
    return coarse, fine, fine + (fine - coarse) * (j / (h - j))


def _by_windows(values: Array, steps: Array) -> Array:
    """Extrapolate to x by each three neighboring rungs."""
    t = np.array([steps[:-2], steps[1:-1], steps[2:]])[..., None]
    return extrapolated(np.array([values[:-2], values[1:-1], values[2:]]), t)[2]


def _floor(eps: Array, here: Array, steps: Array, values: Array) -> Array:
    """Return the rounding of f, if only its last operation rounds; where f is 0, of some number."""
    slopes = np.fmin(np.fmax(np.abs(values / steps[:, None]), 0.0), sys.float_info.max)
    change = np.sort(slopes, axis=0)[len(steps) // 2]
    return np.asarray(0.3 * eps * np.fmax(np.abs(here), 1e-3 * change))


class _Reading(NamedTuple):
    """The facts that some values of a flight show."""

    values: Array  # (rungs, outputs): f, less f(x)
    quiet: bool  # whether the shortest differ from a smooth f by no more than a few roundings
    noise: Array  # (rungs, outputs)
    stairs: Array  # (outputs,)
    costs: Array  # (windows,)
    sees: bool  # whether one of them shows the slopes of all outputs that change
    smooth: bool  # whether there is hardly any noise but rounding


def _read(eps: Array, steps: Array, flight: _Flight) -> _Reading:
    """Ask for the values at some steps, and read them."""
    values, here = flight(steps), flight.ask.here
    floor = _floor(eps, here, steps, values)
    slopes = _by_windows(values / steps[:, None], steps)
    misfit = np.diff(slopes, axis=0)
    shortest = np.abs(misfit[-1]) * steps[-1] / IN_SLOPE
    quiet = bool((shortest <= PLATEAU * floor).all())
    noise, leap = _plateaus(floor, steps, values, misfit)
    # If f stands still from some rung down, what it does first after that is a leap.
    still = np.cumprod((values == 0)[::-1], axis=0)[::-1].astype(bool)
    stands = still[-3:].all(axis=0) & ~still[1]
    leap = np.where(stands, (~still).sum(axis=0) - 1, leap)
    stairs, jumps = np.zeros(here.size), leap >= 0
    affordable = flight.ask.budget.before_slopes >= HALVINGS
    if jumps.any() and flight.may_search and affordable:
        j, flight.searched = int(np.argmax(jumps)), True
        stairs[j] = _stairs(flight, steps, float(eps[j]), j, int(leap[j]), slopes[:, j])
        # Then it is one of a few stairs in other outputs, too, if it is small.
        first = np.abs(values[leap, np.arange(here.size)])
        others = stands & (first <= SMALL * np.abs(here)) & (stairs[j] > 0)
        stairs = np.fmax(stairs, np.where(others, first / 2, 0.0))
        noise = np.fmax(noise, stairs / 3)
    elif not flight.searched:
        # The leaps may be stairs or kinks, so nothing is known of f on either side of them.
        noise = np.where(jumps, np.inf, noise)
    # No window that meets an edge of where f stands still is quieter than longer ones, unless f
    # jumps by more than stairs do.
    largest = np.fmax.reduce(np.abs(values + here), axis=0)
    for k in range(1, len(steps) if still.any() else 0):
        meets = still[min(k + 3, len(steps) - 1)] & (noise[k - 1] <= SMALL * largest)
        noise[k] = np.where(meets, np.fmax(noise[k], noise[k - 1]), noise[k])
    smooth = bool((noise <= PLATEAU * floor).all())
    costs = _costs(steps, values, noise, slopes)
    return _Reading(values, quiet, noise, stairs, *costs, smooth)


def _plateaus(floor: Array, steps: Array, values: Array, misfit: Array) -> tuple[Array, Array]:
    """Return the noise at each rung, and the longest rung where the misfit leaps, or -1.

    Behind a kink or a jump f is smooth, too, except for an offset from f(x). So noise is no more
    than the misfit of f without its value at x, at all longer rungs. And noise has no rule: misfits
    of one sign and a steady ratio are a power of the step, as for the root of a coordinate at 0.
    """
    ratio = misfit[:-1] / misfit[1:] / RATIO
    ratios = np.array([ratio[:-2], ratio[1:-1], ratio[2:]])
    steady = np.zeros(misfit.shape, bool)
    for k, one in enumerate((ratios > 0).all(axis=0) & (ratios.max(0) <= STEADY * ratios.min(0))):
        steady[k : k + 4] |= one
    sigma = np.abs(misfit) * steps[3:, None] / IN_SLOPE
    sigma = np.where(np.isfinite(sigma), sigma, np.inf)
    around = np.abs(np.diff(_by_windows(values, steps), axis=0)) / IN_VALUE
    around = np.where(np.isfinite(around), around, np.inf)
    around = np.array([around[max(0, k - 1) : k + 2].max(axis=0) for k in range(len(around))])
    sigma = np.fmin(sigma, 3 * np.fmax(np.minimum.accumulate(around), floor))
    level, last = floor.copy(), np.fmax(floor, sigma[-1])
    noise, leap = np.broadcast_to(floor, values.shape).copy(), np.full(floor.size, -1)
    draws = np.zeros(floor.size)
    for k in range(len(sigma) - 1, -1, -1):  # from short to long
        known, finite = np.fmax(level, last), np.isfinite(sigma[k])
        # More than that is noise only if the next one is about the same, too: else f is bent there.
        goes_on = (draws < ENOUGH) & (sigma[max(k - 1, 0)] <= PLATEAU * sigma[k]) & (k > 0)
        plateau = (sigma[k] <= np.where(goes_on, PLATEAU, FEWER) * known) & finite & ~steady[k]
        leaps = ~plateau & (sigma[k] > SMOOTH_GROWTH * known) & finite
        level = np.where(plateau, np.fmax(level, sigma[k]), level)
        draws += plateau & (sigma[k] > floor)
        leap = np.where(leaps, k, leap)
        noise[k], last = level, sigma[k]
    return noise, leap


def _cheapest(costs: Array, near: int) -> int:
    """Return the number of the cheapest window; the first one near x if none shows a slope.

    ``near`` is the number of the first rung that is no longer than x: longer steps are for an f
    with a scale of its own, which shows nothing at others.
    """
    for some in (costs[near:], costs):
        if some.min(initial=np.inf) <= SEEN:
            return int(some.argmin()) + len(costs) - len(some)
    return near


def _slope(steps: Array, values: Array, noise: Array, best: int) -> tuple[Array, Array]:
    """Return the slope of a window, and how far truncation and noise may bend it."""
    slopes = _by_windows(values / steps[:, None], steps)[best : best + 2]
    return slopes[0], np.abs(slopes[0] - slopes[1]) + IN_ONE_SIDED * noise[best] / steps[best]


def _costs(steps: Array, values: Array, noise: Array, slopes: Array) -> tuple[Array, bool]:
    """Return what noise and truncation are of the slope, for the worst output, by window.

    And whether they are little in one of them, for all outputs that change.
    """
    change = np.abs(np.diff(slopes, axis=0))
    last = len(steps) - (3 if len(steps) == BRIEF else 5)  # windows that shorter ones can bear out
    rounding = IN_WINDOW * noise[:last] / steps[:last, None]
    loudest = IN_ONE_SIDED * noise[:last] / steps[:last, None]
    beyond_noise = np.fmax(np.abs(slopes[:last]) - loudest, 0.0)
    steep = np.fmin(np.fmax.reduce(beyond_noise, axis=0), sys.float_info.max)
    # Two sides leave the square of the truncation that one side shows.
    cost = np.fmin(change[:last] ** 2 / np.fmax(steep, 1e-300), steep) / 300 + rounding
    # No window knows better than shorter ones show beyond noise: a kink.
    beyond = np.fmax(change - 10 * noise[: len(change)] / steps[3:, None], 0.0)
    beyond = np.fmin(beyond, sys.float_info.max)
    shorter = np.append(np.maximum.accumulate(beyond[::-1])[::-1][1:], 0 * beyond[:1], axis=0)[
        :last
    ]
    cost = np.fmax(cost, np.where(shorter > change[:last], shorter, 0.0))
    # Inside one stair, or in rounding, no slope is seen.
    flat = (values[:last] == 0) & (values[1 : last + 1] == 0) & (values[2 : last + 2] == 0)
    moves = (values != 0).any(axis=0)
    cost = np.where(flat & moves, np.inf, cost)
    worst = cost / np.fmax(steep, 1e-300)
    worst = np.where(np.isnan(worst), np.inf, worst)
    # An output that never changes, like the maximum after scaling to [0, 1], tells nothing.
    shown = worst[:, moves | ~moves.any()].max(axis=1, initial=0.0)
    return worst.max(axis=1, initial=0.0), bool(shown.min(initial=np.inf) <= SEEN)


def _stairs(flight: _Flight, steps: Array, eps: float, j: int, k: int, slopes: Array) -> float:
    """Return the size of the stairs of an output, or 0.

    Where the misfit leaps, the change of f that slope and bend do not explain is halved: a jump
    stays, a kink shrinks. Two jumps alike are a staircase, and so is one where f stands still next
    to x, if it is more than the slope behind it explains. Cost: up to 40 evaluations.
    """
    here, jumps = abs(float(flight.ask.here[j])), list[float]()
    slope, near = slopes[min(k + 2, len(slopes) - 1)], steps[min(k + 3, len(steps) - 1)]
    pair = steps[-2:] if k + 3 >= len(steps) else steps[k + 2 : k + 4]
    one, other = flight(pair)[:, j] / pair
    bend = (one - other) / (pair[0] - pair[1])

    def unexplained(start: float, end: float) -> float:
        before, after = flight(np.array([start, end]))[:, j]
        return abs(float(after - before - (slope + bend * (start + end)) * (end - start)))

    far, halved, beyond = steps[max(k - 1, 0)], 0, math.inf
    if not flight(steps[-3:])[:, j].any():
        one, other = flight(np.array([far, steps[k]]))[:, j]
        beyond = abs(float(one - other)) / (far - steps[k])
    ahead = [(steps[m], steps[m - 1]) for m in range(k, 0, -1)]  # known already
    beside = ahead[0:1], [(-steps[k], -near)], ahead[1:2], [(-far, -steps[k])], ahead[2:]
    for start, end in ((near, steps[k]), *chain(*beside)):
        jump = whole = unexplained(start, end)
        if whole < max(jumps, default=0.0) / 5:
            continue  # there is no other jump like it
        halved += 1
        if halved > MOST_HALVED:
            break
        sizes = list[float]()
        for _ in range(10):
            sizes.append(jump)
            middle = (start + end) / 2
            left, right = unexplained(start, middle), unexplained(middle, end)
            nearer = left >= right / 32
            start, end, jump = (start, middle, left) if nearer else (middle, end, right)
        largest = max(abs(float(value[j])) + here for value in flight.seen.values())
        # Where f grows exponentially, most is in the last interval, too, but halvings shrink it.
        stays = jump > max(1e-2 * whole, 3 / 4 * sizes[-2])
        if stays and NOT_ROUNDING * eps * here < jump <= SMALL * largest:
            jumps += [abs(whole - jump)] if whole > 1.5 * jump else []  # one more in there
            alike = [one for one in jumps if _alike(one, jump)]
            if alike or jump > PLATEAU * beyond * (end - start):
                return max([jump, *alike])
            jumps.append(jump)
    return 0.0


def _alike(one: float, other: float) -> bool:
    """Whether two jumps are of one size, or of sizes whose ratio is 2 or 4."""
    ratio = max(one, other) / min(one, other)
    return any(abs(ratio / power - 1) < 0.1 for power in (1.0, 2.0, 4.0))
