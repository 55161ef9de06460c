"""What random lines prove of all entries at once (Freivalds, 1977, for derivatives).

Along a random line every coordinate moves by its own unit, with a sign of its own. If one entry is
off by more than T in what it does to f, then, whatever the others are, one of its two signs leaves
a line off by more than T: one line in two shows it, and all of K lines miss it once in 2^K times.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.case import Case
from gradcheck_ref.check.judge.crossing import Crossing
from gradcheck_ref.check.judge.pair import PASS, UNSURE
from gradcheck_ref.check.judge.rule import CLEARLY, Lines, Ruling, rule
from gradcheck_ref.check.judge.search import Search
from gradcheck_ref.check.measure.lines import RandomLine, unpacked
from gradcheck_ref.check.measure.samples import QUIETLY
from gradcheck_ref.check.measure.witness import ROUGH, Witness

# A wrong derivative hides from so many lines once in a million times.
LINES = 20

# From fewer a wrong one hides more than once in a hundred times: that is no pass.
FEWEST_LINES = 7

# A line whose bar is so many times that of the best one is looked at again, with steps so many
# times shorter, or far shorter: T is the largest of all.
WORSE, CLOSER, FAR_CLOSER, RETRIES = 20.0, 3.0, 8.0, 6

# Where the first line meets kinks so many others tell what step suits most lines.
SCOUTS = 3

# What is typical is known from so many entries; from so many where each takes a call.
SAMPLE, ASKED = 2**14, 20

# Entries are worked out so many at a time.
PIECE = 2**16


@dataclass(frozen=True)
class Certificate:
    """How far the entries were held that were not looked at on an axis of their own.

    Attributes
    ----------
    lines : int
        How many random lines through x were measured.
    upstreams : int
        How many random combinations of the outputs were asked for; 0 if each output was by itself.
    entries : int
        How many entries were held by lines only.
    vouched : int
        How many of these are surely within the error allowed to each.
    within : float
        No entry is off by more than this share of a typical one (the median of what the
        entries do to f), whatever the pattern of the errors; where f shows nothing of an output,
        it is the same share of a far stricter measure, that of the other outputs.
    chance : float
        Of a wrong derivative to have been held all the same: over the signs of the lines.
    rtol : float
        The relative tolerance by which all of them would be vouched for.
    verdict : int
        PASS if that is what was asked for, else UNSURE.
    zero : bool
        Whether slopes and claims along all lines are zero but for rounding, as at an optimum.
    against : tuple of float, or None
        What is claimed along the line that speaks most against the claims, the slope there, and its
        error bar; None if the claims fit along all lines.
    """

    lines: int
    upstreams: int
    entries: int
    vouched: int
    within: float
    chance: float
    rtol: float
    verdict: int
    zero: bool = False
    against: tuple[float, float, float] | None = None


class Certifier:
    """Measures lines, and says what they prove.

    Parameters
    ----------
    case : Case
        What is judged.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.probe, self.tolerance = case, case.probe, case.tolerance
        self.enough = case.tolerance.by_lines
        self.crossings: list[Crossing] = []
        # Entries that were found wrong on their axes: what is claimed too much.
        self.excess: dict[int, Array] = {}
        # Which coordinates the lines move, eight to a byte: all, but those with a kink that no line
        # sees past, and after a round of lines only those that were not vouched for.
        self.moves: Array | None = None
        self.still: list[int] = []
        self.rounds: list[int] = []
        self.step: float | None = None  # that suits the lines of this round
        if case.claims.matrix is not None:
            # The scale of the entries is that of the claims: lines are going to vouch for them.
            for start, _, claimed in self._pieces():
                rows = np.arange(start, start + len(claimed))
                bars = np.zeros(claimed.shape)
                self.tolerance.backdrop = self.tolerance.scale(rows, claimed, bars)
        self.target = self._target()
        self.typical = self._typical()

    @property
    def entrywise(self) -> bool:
        """Whether it is known what is claimed of each single entry."""
        return self.case.claims.matrix is not None and self.probe.mix is None

    def line(self, number: int) -> RandomLine:
        """Return a line over all inputs."""
        seed = self.case.seed, number + LINES * len(self.rounds)
        return RandomLine(self.probe.units, seed, 0, self.case.size, self.moves)

    def hold_still(self, rows: Array) -> None:
        """Move some coordinates no more."""
        moves = self.moving(0, self.case.size)
        moves[rows] = False
        self.moves = np.packbits(moves)
        self.still += rows.tolist()
        self.step = None

    def moving(self, start: int, count: int) -> Array:
        """Return which of so many coordinates the lines move, as booleans of one's own."""
        if self.moves is None:
            return np.ones(count, bool)
        return unpacked(self.moves, start, start + count)

    def narrow(self) -> None:
        """From here on move only what was not vouched for.

        That is what does least to f: longer steps can be taken, which see more.
        """
        moves, within = np.zeros(self.case.size, bool), self.within()
        for start, units, claimed in self._pieces():
            moves[start : start + len(units)] = self._open(start, units, claimed, within)
        self.rounds.append(len(self.crossings))
        self.step = None
        self.moves, self.crossings = np.packbits(moves), []
        self.target = self._target()

    def _open(self, start: int, units: Array, claimed: Array, within: Array) -> Array:
        """Tell which of some coordinates are not vouched for, or found wrong, or held still."""
        allowed = self._allowed(start, claimed)
        with np.errstate(invalid="ignore", over="ignore"):
            held = (within <= allowed * units[:, None]).all(axis=1)
        open_ = np.logical_not(held)
        open_ &= self.moving(start, len(units))
        known = [row - start for row in self.excess if start <= row < start + len(units)]
        open_[np.array(known, int)] = False
        return np.asarray(open_)

    def is_blinded(self, crossing: Crossing) -> bool:
        """Tell whether a line sees less than what lets entries pass that only lines have seen."""
        kinks = crossing.kink > crossing.bar / 2
        with np.errstate(invalid="ignore"):
            return bool((kinks & (crossing.bar > self.enough * self.typical)).any())

    @QUIETLY
    def cross(
        self, lines: Sequence[RandomLine], begin: float | None = None, tries: int = 1
    ) -> list[Crossing]:
        """Measure the slopes along some lines, in so many tries at most, all lines at once.

        ``begin`` is the step to begin with.
        """
        if not lines:
            return []
        claimed = self._claimed(lines)
        search = Search(self.case, lines, tries)
        least = np.broadcast_to(self.target, claimed.shape)
        if not self.entrywise:
            hidden = np.array([[line.stop - line.start] for line in lines])
            hidden *= 1 if self.probe.mix is None else self.probe.mix.shape[1]
            least = self.tolerance.rtol * np.abs(claimed) / np.sqrt(hidden)
        eps = self.probe.eps
        known = Lines(search.sizes, eps, self.probe.here, 0.0, self.probe.rounded)

        def judge(witnesses: Witness) -> Ruling:
            ruling = rule(witnesses, claimed, least, known)
            ruling.refused[:] = False  # the search for the step does not look at the claim
            return ruling

        begun = search.first_step if begin is None else begin
        search.gather(judge, claimed, np.full(len(lines), begun))
        seen = [search.witnesses.at((slice(None), k)) for k in range(len(lines))]
        return [
            Crossing(line, claimed[k], seen[k], least[k], eps, begun)
            for k, line in enumerate(lines)
        ]

    def cross_well(self, lines: Sequence[RandomLine], first: Crossing) -> list[Crossing]:
        """Measure the slopes along more lines, so that none sees much less than the others.

        Parameters
        ----------
        lines : sequence of RandomLine
            The lines.
        first : Crossing
            Another line, for which the step was searched.
        """
        scouts: list[Crossing] = []
        if self.step is None:
            if self._meets_kinks(first) and not first.clearly_off.any():
                scouts = self._scout(lines, first)
            self.step = scouts[0].begun if scouts else first.step
        step, crossings = self.step, [*scouts, *self.cross(lines[len(scouts) :], self.step)]
        before = len(lines)
        for _ in range(RETRIES):
            worse = self._worse(crossings, first)[: self.case.affordable]
            if not worse:
                break
            # Where most lines see kinks the step is far too long.
            step /= FAR_CLOSER if 2 * len(worse) > before else CLOSER
            for k, again in zip(worse, self.cross([lines[k] for k in worse], step), strict=True):
                crossings[k] = crossings[k].and_also(again)
            before = len(worse)
        return crossings

    def _meets_kinks(self, first: Crossing) -> bool:
        """Tell whether kinks hide something along a line; in a later round, from longer steps."""
        seen = first.witnesses if self.rounds else first.witnesses.at(slice(1))
        kinks = (seen.state == ROUGH) | (seen.kink > seen.rounding)
        hidden = (kinks & ~(seen.bar <= first.least)).any(axis=0)
        return bool((hidden & ~first.found.too_long).any())  # a kink at x stays, however close

    def _scout(self, lines: Sequence[RandomLine], first: Crossing) -> list[Crossing]:
        """Find the longest step, from that of a first line on, at which most lines see no kink.

        How near the next kink is differs from line to line: one alone says little.
        """
        step, way = first.step, 0
        scouts: list[Crossing] = []
        # A bar of nothing but rounding goes as 1 / step.
        enough = np.where(first.found.too_long, np.inf, WORSE * first.bar * first.step)
        for _ in range(RETRIES):
            if self.case.affordable < len(lines):  # the others are to be looked at, too
                break
            found = self.cross(lines[:SCOUTS], step)
            clear = sum(bool((c.bar * step <= enough).all()) for c in found)
            turn = 1 if 2 * clear > len(found) else -1
            if way * turn < 0:
                return found if turn > 0 else scouts
            way, scouts = turn, found
            step *= CLOSER**turn
        return scouts

    @QUIETLY
    def _worse(self, crossings: Sequence[Crossing], first: Crossing) -> list[int]:
        """Say which lines see far less than the best of all lines, for kinks in their ways.

        To say which entry is wrong no line need see more than how far the claims are off.
        """
        bars = [c.bar for c in (*self.crossings, *crossings)]
        enough = WORSE * np.maximum(np.min(bars, axis=0, initial=np.inf), self.target)
        off = np.where(first.clearly_off, np.abs(first.residual) / WORSE, 0.0)
        enough = np.fmax(enough, off)
        return [k for k, c in enumerate(crossings) if (c.found.too_long & ~(c.bar <= enough)).any()]

    def look_twice(self, crossing: Crossing) -> None:
        """Look again at what a line refuses: of thousands of bars one is too short by chance."""
        [again] = self.cross([crossing.line], crossing.step / CLEARLY**2)
        only = crossing.refused & ~again.refused
        crossing.found.put(only, again.found.at(only))

    def put_right(self, rows: Array, excess: Array) -> None:
        """Take what is claimed too much of some entries out of the claims along all lines."""
        excess = np.where(np.isfinite(excess), excess, 0.0)
        for row, more in zip(rows.tolist(), excess, strict=True):
            change = more - self.excess.get(row, 0.0)
            self.excess[row] = more
            for crossing in self.crossings:
                crossing.claimed = crossing.claimed - change * _move_of(row, crossing.line)

    def _claimed(self, lines: Sequence[RandomLine]) -> Array:
        claimed = self.case.claimed_along(lines)
        for row, excess in self.excess.items():
            claimed -= [excess * _move_of(row, line) for line in lines]
        return claimed

    @QUIETLY
    def within(self) -> Array:
        """Return T for every output: no entry does more to it wrongly than that."""
        if not self.crossings:
            return np.full(self.probe.here.size, np.inf)
        off = np.array([np.abs(c.residual) + c.bar for c in self.crossings])
        return np.asarray(np.where(np.isnan(off), np.inf, off).max(axis=0))

    @QUIETLY
    def _typical(self) -> Array:
        """Return what a typical entry does to each output, for a step of its unit: the median.

        One that does a million times as much must not make all others look small.
        """
        effects = list(self._some_effects())
        effect = np.concatenate(effects) if effects else np.zeros((0, self.probe.here.size))
        effect = np.where(np.isfinite(effect) & (effect > 0), effect, np.nan)
        typical = np.zeros(self.probe.here.size)
        known = ~np.isnan(effect).all(axis=0)
        typical[known] = np.nanmedian(effect[:, known], axis=0)
        if self.case.claims.matrix is None and not known.all():
            typical = np.where(known, typical, self._typical_of_all())
        # Random signs add up as the root of how many outputs are combined.
        return typical if self.probe.mix is None else typical / math.sqrt(self.probe.mix.shape[1])

    def _typical_of_all(self) -> Array:
        """Return the root mean square of what the entries do, as lines tell that add them up.

        Where an output depends on few inputs, those asked for may be zero. What is typical of all
        entries, most of them zero, is less than what is typical of the others.
        """
        lines = [self.line(number) for number in range(FEWEST_LINES)]
        along = self.case.claimed_along(lines)
        return np.asarray(np.sqrt(np.mean(along**2, axis=0) / self.case.size))

    def _some_effects(self) -> Iterator[Array]:
        """Yield what some entries do to the outputs, if they are what is claimed."""
        if self.case.claims.matrix is None:
            rng = np.random.default_rng(self.case.seed)
            rows = np.sort(rng.choice(self.case.size, min(ASKED, self.case.size), replace=False))
            claimed = self.case.claimed(rows)
            units = np.array([self.probe.units.of(row, row + 1) for row in rows.tolist()])
            yield np.abs(claimed) * units
            return
        every = max(1, self.case.size // SAMPLE)
        for _, units, claimed in self._pieces():
            yield np.abs(claimed[::every]) * units[::every, None]

    @QUIETLY
    def not_vouched(self, most: int) -> tuple[int, Array]:
        """Count the coordinates not vouched for, and return the first ones by effect, ascending."""
        within = self.within()
        if not self.entrywise:
            held = (within <= self.tolerance.rtol * self.typical).all()
            return (0, np.zeros(0, int)) if held else (self.case.size, np.zeros(0, int))
        count, effects, rows = 0, np.zeros(0), np.zeros(0, int)
        for start, units, claimed in self._pieces():
            open_ = np.flatnonzero(self._open(start, units, claimed, within))
            count += open_.size
            effect = (np.abs(claimed[open_]) * units[open_, None]).max(axis=1, initial=0.0)
            effects, rows = np.append(effects, effect), np.append(rows, start + open_)
            if rows.size > most:
                first = np.argsort(-effects, kind="stable")[:most]
                effects, rows = effects[first], rows[first]
        return count, np.sort(rows)

    def not_finite(self, most: int) -> list[int]:
        """Return the first coordinates whose claims are not finite: of those no line can tell."""
        found: list[int] = []
        if self.case.claims.matrix is not None and not self.case.claims.unusable:
            for start, _, claimed in self._pieces():
                found += (start + np.flatnonzero(~np.isfinite(claimed).all(axis=1))).tolist()
                if len(found) >= most:
                    break
        return found[:most]

    @QUIETLY
    def certificate(self, looked: int, vouched: int, demanded: bool) -> Certificate:
        """Say what was proved of the coordinates that were not looked at.

        Parameters
        ----------
        looked, vouched : int
            How many coordinates had an axis of their own, and how many others are vouched for.
        demanded : bool
            Whether the tolerance was asked for: then all entries are to be held to it.
        """
        outputs = self.probe.outputs.size
        held = (self.case.size - looked) * outputs
        reached, against = self.within(), self._against()
        share = reached / np.fmax(self.typical, self._beside())
        share = np.where(np.isfinite(share), share, np.inf)
        within = float(np.where(reached == 0, 0.0, share).max(initial=0.0))
        vouched = max(0, vouched) * outputs
        lines = min([*self.rounds, len(self.crossings)])
        passes = vouched >= held or (within <= self.enough and not demanded)
        passes &= lines >= FEWEST_LINES or not held
        passes &= against is None
        upstreams = 0 if self.probe.mix is None else len(self.probe.mix)
        return Certificate(
            lines=lines,
            upstreams=upstreams,
            entries=held,
            vouched=min(vouched, held),
            within=within,
            chance=min(1.0, 2.0**-lines + (2.0**-upstreams if upstreams else 0.0)),
            rtol=self._rtol_needed(reached),
            verdict=PASS if passes else UNSURE,
            zero=bool(self.crossings) and all(crossing.zero for crossing in self.crossings),
            against=against,
        )

    @QUIETLY
    def _beside(self) -> Array:
        """Return what entries are measured beside where f shows nothing of them, and 0 elsewhere.

        As `Tolerance.least` has it for one entry: of a saturated unit f tells that its slopes are
        below rounding. Where the claims agree with that along all lines, they are measured beside
        those of the other units, and far more is asked of them there.
        """
        beside = np.zeros(self.probe.here.size)
        if not self.crossings:
            return beside
        agrees = np.all([np.abs(c.residual) <= c.bar for c in self.crossings], axis=0)
        bars = np.max([c.bar for c in self.crossings], axis=0)
        hidden = agrees & (bars > self.enough * self.typical) & np.isfinite(self.typical)
        for target in self.tolerance.targets:
            largest = np.max(self.typical[target], initial=0.0, where=~hidden[target])
            beside[target] = largest * self.tolerance.blunt * self.tolerance.rtol / self.enough
        return np.where(hidden, beside, 0.0)

    @QUIETLY
    def _against(self) -> tuple[float, float, float] | None:
        """Return claim, slope and bar where the claims fit least of all, if they do not fit."""
        refused = [crossing for crossing in self.crossings if crossing.refused.any()]
        if not refused:
            return None
        ratios = [
            np.where(c.refused, np.nan_to_num(np.abs(c.residual) / c.visible, nan=np.inf), 0.0)
            for c in refused
        ]
        k, at = np.unravel_index(int(np.argmax(ratios)), np.shape(ratios))
        worst = refused[k]
        return float(worst.claimed[at]), float(worst.slope[at]), float(worst.bar[at])

    def _pieces(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield the units and the claims of some coordinates after the other."""
        matrix = self.case.claims.matrix
        assert matrix is not None
        each = max(1, PIECE // max(1, matrix.shape[1]))
        for start in range(0, len(matrix), each):
            claimed = matrix[start : start + each]
            yield start, self.probe.units.of(start, start + len(claimed)), claimed

    def _allowed(self, start: int, claimed: Array) -> Array:
        """Return what is allowed to some entries, if they are what is claimed."""
        rows = np.arange(start, start + len(claimed))
        bars = np.zeros(claimed.shape)
        least = self.tolerance.least(rows, claimed, bars, claimed, self.probe.eps)
        return np.asarray(least + self.tolerance.rtol * np.abs(np.nan_to_num(claimed)))

    @QUIETLY
    def _target(self) -> Array:
        """Return the T that would vouch for every entry, by output."""
        if not self.entrywise:
            return np.zeros(self.probe.here.size)
        smallest = np.full(self.probe.here.size, np.inf)
        for start, units, claimed in self._pieces():
            effect = self._allowed(start, claimed) * units[:, None]
            moving = self.moving(start, len(units))
            smallest = np.fmin(smallest, effect[moving].min(axis=0, initial=np.inf))
        return smallest

    @QUIETLY
    def _rtol_needed(self, within: Array) -> float:
        """Return the relative tolerance by which all entries would be vouched for."""
        needed = 0.0
        if not self.entrywise:
            return float(np.nanmax(within / self.typical, initial=0.0))
        for start, units, claimed in self._pieces():
            # What is allowed is proportional to rtol, but for a caller's atol.
            allowed = self._allowed(start, claimed)
            if self.tolerance.atol is not None:
                allowed = self.tolerance.rtol * np.abs(claimed)
            share = within / (allowed * units[:, None])
            share = share[self.moving(start, len(units))]
            needed = max(needed, float(np.nanmax(share, initial=0.0)))
        return needed * self.tolerance.rtol


def _move_of(row: int, line: RandomLine) -> float:
    """Return how far a line moves a coordinate."""
    if not line.start <= row < line.stop:
        return 0.0
    return float(line.over(row, row + 1).direction[0])
