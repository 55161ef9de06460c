"""What random lines prove of all entries at once (Freivalds, 1977, for derivatives).

Along a random line every coordinate moves by its own unit, with a sign of its own. If one entry is
off by more than T in what it does to f, then, whatever the others are, one of its two signs leaves
a line off by more than T: one line in two shows it, and all of K lines miss it once in 2^K times.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.claims import Claims
from gradcheck_ref.check.judge.pair import PASS, UNSURE
from gradcheck_ref.check.judge.rule import CLEARLY, FAIL_BARS, Lines, Ruling, best, rule, take
from gradcheck_ref.check.judge.search import EACH, Search
from gradcheck_ref.check.judge.tolerance import Tolerance
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import Witness

# A wrong derivative hides from so many lines once in a million times.
LINES = 20

# From fewer a wrong one hides more than once in a hundred times: that is no pass.
FEWEST_LINES = 7

# An entry that only lines have seen may, by default, be off by so much of a typical one: what lines
# across the kinks of a large network can see.
SEEN_BY_LINES = 1e-2

# A line whose bar is so many times that of the best one is looked at again, with steps so many
# times shorter: T is the largest of all.
WORSE, CLOSER, RETRIES = 20.0, 8.0, 3

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
        No entry is off by more than this share of a typical one (root mean square of what the
        entries do to f), whatever the pattern of the errors.
    chance : float
        Of a wrong derivative to have been held all the same: over the signs of the lines.
    rtol : float
        The relative tolerance by which all of them would be vouched for.
    verdict : int
        PASS if that is what was asked for, else UNSURE.
    """

    lines: int
    upstreams: int
    entries: int
    vouched: int
    within: float
    chance: float
    rtol: float
    verdict: int


@dataclass
class Crossing:
    """What was measured along one line, by output.

    Attributes
    ----------
    line : RandomLine
        The line.
    claimed, slope, bar, kink : ndarray, shape (outputs,)
        What is claimed, what was found, its error bar, and how much of that is for a kink.
    step : float
        The step that saw most.
    refused : ndarray of bool, shape (outputs,)
        Whether the claim does not fit.
    """

    line: RandomLine
    claimed: Array
    slope: Array
    bar: Array
    kink: Array
    step: float
    refused: Array

    @property
    def residual(self) -> Array:
        """Claim minus slope."""
        return np.asarray(self.claimed - self.slope)


QUIETLY = np.errstate(over="ignore", invalid="ignore", divide="ignore")


class Certifier:
    """Measures lines, and says what they prove.

    Parameters
    ----------
    probe, noise, claims, tolerance : Probe, Noise, Claims, Tolerance
        Where f is called, how noisy it is, what is claimed, and what is allowed.
    seed : int
        Of the signs.
    tick : callable
        Called after each line.
    """

    def __init__(
        self,
        probe: Probe,
        noise: Noise,
        claims: Claims,
        tolerance: Tolerance,
        seed: int,
        tick: Callable[[], None],
    ) -> None:
        self.probe, self.noise, self.claims, self.tolerance = probe, noise, claims, tolerance
        self.seed, self.tick = seed, tick
        self.crossings: list[Crossing] = []
        # Entries that were found wrong on their axes: what is claimed too much.
        self.excess: dict[int, Array] = {}
        # Which coordinates the lines move: all, but those with a kink that no line sees past, and
        # after a round of lines only those that were not vouched for.
        self.moves: Array | None = None
        self.still: list[int] = []
        self.rounds: list[int] = []
        self._set_backdrop()
        self.target = self._target()

    def line(self, number: int) -> RandomLine:
        """Return a line over all inputs."""
        units = self.noise.units
        size, number = self.probe.x.size, number + LINES * len(self.rounds)
        return RandomLine(self.probe.inputs, units, self.seed, number, 0, size, self.moves)

    def hold_still(self, rows: Array) -> None:
        """Move some coordinates no more."""
        moves = np.ones(self.probe.x.size, bool)
        moves[rows] = False
        if self.moves is not None:
            moves &= self.moves
        self.moves = moves
        self.still += rows.tolist()

    def narrow(self) -> None:
        """From here on move only what was not vouched for.

        That is what does least to f: longer steps can be taken, which see more.
        """
        assert self.claims.matrix is not None
        moves, within = np.zeros(self.probe.x.size, bool), self.within()
        for start, units, claimed in self._pieces(self.claims.matrix):
            moves[start : start + len(units)] = self._open(start, units, claimed, within)
        self.rounds.append(len(self.crossings))
        self.moves, self.crossings = moves, []
        self.target = self._target()

    def _open(self, start: int, units: Array, claimed: Array, within: Array) -> Array:
        """Tell which of some coordinates are not vouched for, or found wrong, or held still."""
        allowed = self._allowed(start, claimed)
        with np.errstate(invalid="ignore", over="ignore"):
            held = (within <= allowed * units[:, None]).all(axis=1)
        open_ = np.logical_not(held)
        if self.moves is not None:
            open_ &= self.moves[start : start + len(units)]
        known = [row - start for row in self.excess if start <= row < start + len(units)]
        open_[np.array(known, int)] = False
        return np.asarray(open_)

    def is_blinded(self, crossing: Crossing) -> bool:
        """Tell whether a line sees less than what lets entries pass that only lines have seen."""
        kinks = crossing.kink > crossing.bar / 2
        with np.errstate(invalid="ignore"):
            return bool((kinks & (crossing.bar > SEEN_BY_LINES * self._typical([crossing]))).any())

    @QUIETLY
    def cross(
        self, line: RandomLine, most: float, first: float | None = None, tries: int = 1
    ) -> Crossing:
        """Measure the slope along a line, in so many tries at most."""
        claimed = self.claims.along(line) - self._excess_along(line)
        search = Search(self.probe, self.noise, [line], tries=tries)
        least = self.target
        if self.claims.matrix is None or self.probe.mix is not None:
            hidden = line.stop - line.start
            hidden *= 1 if self.probe.mix is None else self.probe.mix.shape[1]
            least = self.tolerance.rtol * np.abs(claimed) / math.sqrt(hidden)
        least = np.broadcast_to(least, (1, claimed.size))
        lines = Lines(search.sizes, self.probe.eps, self.probe.here, 0.0, self.probe.rounded)

        def judge(witnesses: Witness) -> Ruling:
            ruling = rule(witnesses, claimed[None], least, lines)
            ruling.refused[:] = False  # the search for the step does not look at the claim
            return ruling

        start = None if first is None else np.array([first])
        search.gather(judge, claimed[None], most, self.tick, start)
        at = take(search.witnesses, best(search.witnesses)).at(0)
        off = np.abs(claimed - at.slope)
        lost = 4 * self.probe.eps * np.abs(at.slope) / at.step
        refused = off > at.jump + FAIL_BARS * (at.bar - at.jump) + lost + least[0]
        steps = at.step[np.isfinite(at.bar)]
        step = float(np.median(steps)) if steps.size else first or search.first_step
        return Crossing(line, claimed, at.slope, at.bar, at.kink, step, refused)

    def cross_well(
        self, line: RandomLine, most: float, first: float | None, tries: int
    ) -> Crossing:
        """Measure the slope along a line about as well as along the best line before it.

        Where a line crosses kinks that the others do not, it is looked at more closely.
        """
        crossing = self.cross(line, most, first, tries)
        best = np.array([c.bar for c in self.crossings]).min(axis=0) if self.crossings else np.inf
        for _ in range(RETRIES):
            worse = ~(crossing.bar <= WORSE * np.maximum(best, self.target))
            if first is None or not worse.any() or crossing.refused.any():
                break
            first /= CLOSER
            again = self.cross(line, most, first)
            better = np.sum(again.bar < crossing.bar) > np.sum(again.bar > crossing.bar)
            crossing = again if better else crossing
        if crossing.refused.any() and self.probe.evaluations + EACH <= most:
            # Of thousands of bars one is too short by chance: what is refused is looked at twice.
            again = self.cross(line, most, crossing.step / CLEARLY**2)
            only = crossing.refused & ~again.refused
            crossing.slope = np.where(only, again.slope, crossing.slope)
            crossing.bar = np.where(only, again.bar, crossing.bar)
            crossing.refused &= again.refused
        return crossing

    def _excess_along(self, line: RandomLine) -> Array:
        total = np.zeros(self.probe.here.size)
        for row, excess in self.excess.items():
            moves = line.moves is None or line.moves[row]
            if line.start <= row < line.stop and moves:
                one = line.over(row, row + 1)
                total += excess * float(one.direction[0])
        return total

    @QUIETLY
    def within(self) -> Array:
        """Return T for every output: no entry does more to it wrongly than that."""
        if not self.crossings:
            return np.full(self.probe.here.size, np.inf)
        off = np.array([np.abs(c.residual) + c.bar for c in self.crossings])
        return np.asarray(np.where(np.isnan(off), np.inf, off).max(axis=0))

    @QUIETLY
    def typical(self) -> Array:
        """Return what a typical entry does to each output, for a step of its unit."""
        return self._typical(self.crossings)

    @QUIETLY
    def _typical(self, crossings: Sequence[Crossing]) -> Array:
        matrix, count = self.claims.matrix, max(1, self.probe.x.size)
        if matrix is None or self.probe.mix is not None:
            slopes = np.array([c.slope for c in crossings]).reshape(-1, self.probe.here.size)
            hidden = count * (1 if self.probe.mix is None else self.probe.mix.shape[1])
            slopes = np.where(np.isfinite(slopes), slopes, 0.0)
            return np.asarray(np.sqrt((slopes**2).sum(axis=0) / (len(slopes) * hidden)))
        total = np.zeros(self.probe.here.size)
        for _, units, claimed in self._pieces(matrix):
            total += ((claimed * units[:, None]) ** 2).sum(axis=0)
        return np.sqrt(total / count)

    @QUIETLY
    def not_vouched(self, most: int) -> tuple[int, Array]:
        """Count the coordinates not vouched for, and return the first ones by effect, ascending."""
        matrix, within = self.claims.matrix, self.within()
        if matrix is None or self.probe.mix is not None:
            held = (within <= self.tolerance.rtol * self.typical()).all()
            return (0, np.zeros(0, int)) if held else (self.probe.x.size, np.zeros(0, int))
        count, effects, rows = 0, np.zeros(0), np.zeros(0, int)
        for start, units, claimed in self._pieces(matrix):
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
        if self.claims.matrix is not None and not self.claims.unusable:
            for start, _, claimed in self._pieces(self.claims.matrix):
                found += (start + np.flatnonzero(~np.isfinite(claimed).all(axis=1))).tolist()
                if len(found) >= most:
                    break
        return found[:most]

    @QUIETLY
    def certificate(self, looked: int, vouched: int, asked: bool) -> Certificate:
        """Say what was proved of the coordinates that were not looked at.

        Parameters
        ----------
        looked, vouched : int
            How many coordinates had an axis of their own, and how many others are vouched for.
        asked : bool
            Whether the tolerance was asked for: then all entries are to be held to it.
        """
        outputs = self.probe.outputs.size
        held = (self.probe.x.size - looked) * outputs
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.within() / self.typical()
        share = np.where(self.within() == 0, 0.0, share)
        within = float(np.nanmax(share, initial=0.0))
        vouched = max(0, vouched) * outputs
        lines = min([*self.rounds, len(self.crossings)])
        passes = vouched >= held or (within <= SEEN_BY_LINES and not asked)
        passes &= lines >= FEWEST_LINES or not held
        passes &= not any(crossing.refused.any() for crossing in self.crossings)
        upstreams = 0 if self.probe.mix is None else len(self.probe.mix)
        return Certificate(
            lines=lines,
            upstreams=upstreams,
            entries=held,
            vouched=min(vouched, held),
            within=within,
            chance=min(1.0, 2.0**-lines + (2.0**-upstreams if upstreams else 0.0)),
            rtol=self._rtol_needed(),
            verdict=PASS if passes else UNSURE,
        )

    def _pieces(self, matrix: Array) -> Iterator[tuple[int, Array, Array]]:
        """Yield the claims and the units of some coordinates after the other."""
        each = max(1, PIECE // max(1, matrix.shape[1]))
        for start in range(0, len(matrix), each):
            claimed = matrix[start : start + each]
            yield start, self.noise.units.of(start, start + len(claimed)), claimed

    def _set_backdrop(self) -> None:
        """Take the scale of the entries from the claims: lines are going to vouch for them."""
        matrix = self.claims.matrix
        if matrix is None:
            return
        for start, _, claimed in self._pieces(matrix):
            rows = np.arange(start, start + len(claimed))
            bars = np.zeros(claimed.shape)
            self.tolerance.backdrop = self.tolerance.scale(rows, claimed, bars)

    def _allowed(self, start: int, claimed: Array) -> Array:
        """Return what is allowed to some entries, if they are what is claimed."""
        rows = np.arange(start, start + len(claimed))
        bars = np.zeros(claimed.shape)
        least = self.tolerance.least(rows, claimed, bars, claimed, self.probe.eps)
        return np.asarray(least + self.tolerance.rtol * np.abs(np.nan_to_num(claimed)))

    @QUIETLY
    def _target(self) -> Array:
        """Return the T that would vouch for every entry, by output."""
        matrix, smallest = self.claims.matrix, np.full(self.probe.here.size, np.inf)
        if matrix is None or self.probe.mix is not None:
            return np.zeros(self.probe.here.size)
        for start, units, claimed in self._pieces(matrix):
            effect = self._allowed(start, claimed) * units[:, None]
            if self.moves is not None:
                effect = effect[self.moves[start : start + len(units)]]
            smallest = np.fmin(smallest, effect.min(axis=0, initial=np.inf))
        return smallest

    @QUIETLY
    def _rtol_needed(self) -> float:
        """Return the relative tolerance by which all entries would be vouched for."""
        matrix, within, needed = self.claims.matrix, self.within(), 0.0
        if matrix is None or self.probe.mix is not None:
            return float(np.nanmax(within / self.typical(), initial=0.0))
        for start, units, claimed in self._pieces(matrix):
            # What is allowed is proportional to rtol, but for a caller's atol.
            allowed = self._allowed(start, claimed)
            if self.tolerance.atol is not None:
                allowed = self.tolerance.rtol * np.abs(claimed)
            share = within / (allowed * units[:, None])
            if self.moves is not None:
                share = share[self.moves[start : start + len(units)]]
            needed = max(needed, float(np.nanmax(share, initial=0.0)))
        return needed * self.tolerance.rtol
