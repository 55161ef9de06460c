"""A long look: along one random line, about as far as x is long.

Short steps may lie inside one stair of a staircase. A float16 loss beside a float64 penalty does
not change there, so that only the penalty seems to have a slope. A long look finds the stairs: it
takes the change of f over an interval, less what slope and bend next to x predict, and halves the
interval again and again. The change of a smooth f shrinks with the interval, and a jump stays.
"""

from itertools import pairwise

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY, TABLE_POINTS, Noise, noise_of

# In units of x: the distance of the points of a table, where a smooth f has hardly a fifth
# difference (1e-9); where f is asked for its slope, if the table is uneven; and the end, where
# every coordinate still has its sign. Their many bits keep the points off any grid.
APART, NEXT, END = 16_411 * 2.0**-20, 8_011 * 2.0**-28, 14_633 * 2.0**-14

# Stairs this small beside the change along the table are short enough for the steps of witnesses,
# unless they belong to less than a hundredth of the slope.
UNEVEN = 1e-3

# The half that is closer to x is the next interval, unless nearly all of the change is in the other
# half. So stairs become fewer, and a smooth change shrinks to a half, or less, each time. If it did
# so in FEWEST halvings, it is no jump. A jump stays the same, to a tenth, in SAME halvings; a wave
# does so only by chance.
FEWEST, SHRUNK, SAME, MANY = 3, 0.56, 6, 32.0

# Evaluations for a smooth f: the table, one next to x, the end, and halvings.
LOOK = TABLE_POINTS + 1 + FEWEST

# Two jumps of the same size make a staircase; at powers of two, stairs of short floats get twice as
# high. A single jump, one of another size, or one of hundredths of f, is between two branches of f,
# which have slopes of their own.
ALIKE, SMALL = 0.1, 1e-2


# An interval of the line, from one step to another.
Interval = tuple[float, float]


@QUIETLY
def look_far(noise: Noise, scale: float = 1.0) -> None:
    """Find the size of the stairs of f, if it has stairs too long for short steps to show.

    ``scale`` shortens the look, for stairs that are small beside the changes of a long one.

    Cost: 12 evaluations if f is smooth along the line, or 24 for kinks or a staircase. None if 12
    are more than a quarter of all, or half for a shorter look.
    """
    look = _Look(noise, scale)
    if not (noise.ask.here.size and look.affords(LOOK)):
        return
    if noise.stairs is None:
        noise.stairs = np.zeros(noise.ask.here.shape)
    output, intervals, spare = look.begin()
    # A table that is even has a few stairs at most, from its end on.
    fewest = FEWEST if len(intervals) == 1 else 3 * FEWEST
    far, jumps = intervals[-1], list[float]()
    while intervals:  # there will be more, if one of these has a jump
        start, end = intervals.pop(0)
        known = min(jumps, default=0.0)
        jump, *rest = look.jump(
            output, (start, end), FEWEST if (start, end) == far else fewest, known
        )
        if rest == [*far] and not jumps:  # by chance, f is there as expected
            intervals.append(look.other_side())
        if not 0 < jump <= SMALL * look.size[output]:
            continue
        if alike := [one for one in jumps if _alike(one, jump)]:
            noise.stairs[output], noise.changed[output] = max(jump, *alike), True
            return
        if not jumps:
            before, after = rest
            beside = look.other_side(), (after, end), (start, before)
            intervals, fewest = [spare, *intervals, *beside], 3 * FEWEST
        jumps.append(jump)


def _alike(one: float, other: float) -> bool:
    """Tell whether two jumps are of one size, or of sizes whose ratio is 2 or 4."""
    ratio = max(one, other) / min(one, other)
    return any(abs(ratio / power - 1) <= ALIKE for power in (1.0, 2.0, 4.0))


class _Look:
    """The values of f along a line, and how far slope and bend next to x explain them."""

    def __init__(self, noise: Noise, scale: float) -> None:
        inputs = noise.ask.inputs
        self.scale, self.next = scale, scale * NEXT
        self.noise, self.line = noise, Line(inputs, 0, inputs.size, (noise.seed, 2))
        self.values = {0.0: noise.ask.here}
        self.slope = self.bend = np.zeros(noise.ask.here.shape)

    def affords(self, count: int) -> bool:
        """Tell whether so many evaluations, and those before, are a quarter of all, or half."""
        parts = 4 if self.scale == 1 else 2
        return parts * (self.noise.ask.evaluations + count) <= self.noise.most + 4

    def ask(self, *steps: float) -> None:
        """Call f at some steps along the line."""
        found = self.noise.ask.many([(self.line, t) for t in steps])
        self.values.update(zip(steps, found, strict=True))

    def begin(self) -> tuple[int, list[Interval], Interval]:
        """Make the table; return an output, where to look for its stairs, and one more place."""
        apart, end, half = self.scale * APART, self.scale * END, TABLE_POINTS // 2
        steps = [k * apart for k in range(-half, half + 1)]
        self.ask(*steps[:half], *steps[half + 1 :], self.next, end)
        uneven, far, pieces = self.unevenness(steps), (steps[-1], end), list(pairwise(steps))
        if not (uneven > UNEVEN).any():
            return int(np.fmax(self.change(*far) / self.size, 0.0).argmax()), [far], pieces[0]
        output = int(uneven.argmax())
        self.ask(-self.next)
        self.slope, self.bend = self.next_to_x()
        pieces.sort(key=lambda piece: -self.change(*piece)[output])
        return output, [pieces[0], far], pieces[1]

    def unevenness(self, steps: list[float]) -> Array:
        """Take slope and bend from a table, and return how uneven it is, relative to its changes.

        Stairs that are exactly as wide as the table is fine do not show there, but in its slope.
        """
        here, apart, quiet = self.values[0.0], steps[-1] - steps[-2], self.noise.quiet
        slope, self.bend = self.derivatives(apart)
        self.slope = (self.values[self.next] - here) / self.next - self.bend * self.next / 2
        slope += (slope - self.derivatives(2 * apart)[0]) / 3  # as in stage 5
        other = (np.abs(slope - self.slope) - quiet / self.next) / np.abs(slope)
        table = np.array([self.values[t] for t in steps])
        level = noise_of(table)
        level = np.where(level > quiet, level, 0.0) / np.abs(table - here).max(axis=0)
        return np.asarray(np.fmax(np.fmax(level, other), 0.0))

    def other_side(self) -> Interval:
        """Return the interval from the end behind x to the table."""
        end, half = self.scale * END, TABLE_POINTS // 2
        self.ask(-end)
        return -end, -half * self.scale * APART

    @property
    def size(self) -> Array:
        """The largest absolute value of each output so far."""
        return np.asarray(np.fmax.reduce(np.abs([*self.values.values()])))

    def derivatives(self, h: float) -> tuple[Array, Array]:
        """Return slope and bend from x and a point on either side."""
        ahead, behind = self.values[h] - self.values[0.0], self.values[-h] - self.values[0.0]
        return (ahead - behind) / (2 * h), (ahead + behind) / h**2

    def next_to_x(self) -> tuple[Array, Array]:
        """Return slope and bend from points next to x; if a stair is between, from one side."""
        here, ahead, behind = (self.values[t] for t in (0.0, self.next, -self.next))
        sides = np.array([ahead - here, here - behind]) / self.next
        flatter = np.where(np.abs(sides[0]) < np.abs(sides[1]), *sides)
        slope, bend = self.derivatives(self.next)
        stair = np.abs(bend) * self.next > np.abs(flatter)
        return np.where(stair, flatter, slope), np.where(stair, 0.0, bend)

    def change(self, start: float, end: float) -> Array:
        """Return the change of f between two steps that slope and bend do not explain."""
        slope = self.slope + self.bend * (start + end) / 2
        return np.asarray(np.abs(self.values[end] - self.values[start] - slope * (end - start)))

    def jump(
        self, output: int, interval: Interval, fewest: int, known: float
    ) -> tuple[float, float, float]:
        """Halve an interval down to a jump of an output; return it, or 0, and where it is.

        A change that shrinks in ``fewest`` halvings is none. If another jump is known, one as large
        as that is looked for.
        """
        start, end = interval
        # What rounding does to the slope; and half as high as the other jump, or a quarter.
        least = max(float(self.noise.quiet[output]) * (end - start) / self.next, known / 5)
        changes, same = [float(self.change(start, end)[output])], 0
        while changes[-1] > least and self.affords(1):
            middle = (start + end) / 2
            self.ask(middle)
            near, far = sorted([(start, middle), (middle, end)], key=lambda half: abs(sum(half)))
            sizes = [float(self.change(*half)[output]) for half in (near, far)]
            chosen = int(not sizes[0] >= sizes[1] / MANY)
            start, end = (near, far)[chosen]
            changes.append(sizes[chosen])
            same = same + 1 if abs(changes[-1] - changes[-2]) <= 0.1 * changes[-2] else 0
            if same == SAME:
                return changes[-1], start, end
            shrinks = np.divide(changes[-2:], changes[-3:-1]).max() <= SHRUNK
            shrinks &= changes[-1] <= changes[0] / MANY
            if len(changes) > fewest and shrinks and not known:
                break
        return 0.0, start, end
