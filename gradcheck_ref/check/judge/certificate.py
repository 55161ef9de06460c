"""Random lines prove something about all entries at once (Freivalds, 1977, for derivatives).

Along a random line every coordinate moves by its own unit, with a random sign. Suppose the effect
of one entry on f is off by more than T. Then for any other errors, one of its two signs makes a
line off by more than T: one line in two shows it, and K lines miss it at most once in 2^K times.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.rule import FAIL_BARS
from gradcheck_ref.check.judge.settle import Case, Evidence
from gradcheck_ref.check.measure.lines import PIECE, RandomLine, unpacked
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import FLAT, NOTHING
from gradcheck_ref.check.results import PASS, UNSURE, Certificate

# LINES lines miss a wrong derivative with a probability of one in a million. Fewer than
# FEWEST_LINES miss it with more than 1 %, which is too much for a pass.
LINES, FEWEST_LINES = 20, 7

# T is the largest bar of all lines. A line whose bar is WORSE times the best, because it crosses
# kinks, is measured again with a step CLOSER times shorter, RETRIES times at most.
WORSE, CLOSER, RETRIES, AMONG_KINKS = 20.0, 3.0, 6, 3


class Certifier:
    """Measures random lines, and computes what they prove.

    Parameters
    ----------
    case : Case
        The function, the point, the claims and the budget.
    """

    def __init__(self, case: Case) -> None:
        self.case, self.probe, self.tolerance = case, case.probe, case.tolerance
        self.corrections: dict[int, Array] = {}  # claim minus slope of entries found wrong
        # Which coordinates the lines move, eight to a byte: all, or those still unresolved.
        self.moves: Array | None = None
        self.rounds, self.unresolved_before = 0, case.size + 1
        if case.claims.matrix is not None:
            # The claims give the scale of the entries: the lines are going to confirm them.
            for start, _, claimed in self._pieces():
                rows = np.arange(start, start + len(claimed))
                self.tolerance.backdrop = self.tolerance.scale(
                    rows, claimed, np.zeros(claimed.shape)
                )
        self.target = self._target()
        self.typical = self._typical()
        self.evidence = self.evidence_along([]).settle()

    @property
    def entrywise(self) -> bool:
        """Whether the claim for each single entry is known."""
        return self.case.claims.matrix is not None and self.probe.mix is None

    def line(self, number: int) -> RandomLine:
        """Return a random line over all inputs."""
        seed = self.case.seed, number + LINES * self.rounds
        return RandomLine(self.probe.units, seed, 0, self.case.size, self.moves)

    def narrow(self) -> None:
        """From here on, move only the coordinates that lines have not confirmed.

        Their effect on f is the smallest, so longer steps are possible and more accurate.
        """
        within = self.within()
        left = [self._unresolved(*piece, within) for piece in self._pieces()]
        self.moves = np.packbits(np.concatenate(left))
        self.unresolved_before = int(np.count_nonzero(np.unpackbits(self.moves)))
        self.rounds += 1
        self.target = self._target()
        self.evidence = self.evidence_along([]).settle()

    # --- measuring --------------------------------------------------------------------------------

    @QUIETLY
    def evidence_along(self, lines: Sequence[RandomLine]) -> Evidence:
        """Return lines, or parts of lines, with the claims along them; f is not called yet."""

        def least(lines: Evidence, slopes: Array, bars: Array) -> Array:
            if self.entrywise:
                return np.broadcast_to(self.target, lines.claimed.shape)
            hidden = self.case.size * (1 if self.probe.mix is None else self.probe.mix.shape[1])
            return np.asarray(self.tolerance.rtol * np.abs(lines.claimed) / math.sqrt(hidden))

        claimed = np.zeros((len(lines), self.probe.here.size))
        if lines:
            claimed += self.case.claimed_along(lines)
        for k, line in enumerate(lines):
            for row, excess in self.corrections.items():
                claimed[k] -= excess * _move_of(row, line)
        return Evidence(self.case, lines, claimed, least, 0.0)

    @QUIETLY
    def measure(self, count: int) -> None:
        """Measure lines until there are ``count``, with similar error bars."""
        have = len(self.evidence.lines)
        if not have and count and self.case.affordable:
            self.evidence = self.evidence_along([self.line(0)]).settle()
            have = 1
        while 0 < have < count:
            # Lines across kinks need more witnesses: a few good lines are better than many bad.
            looks = (self.evidence.asked.state[:, -1] != NOTHING).any(axis=1)
            once = np.count_nonzero(looks) <= 1
            affordable = self.case.affordable // (1 if once else AMONG_KINKS)
            numbers = range(have, min(count, have + max(affordable, min(1, self.case.affordable))))
            if not numbers:
                break
            more = self.evidence_along([self.line(number) for number in numbers])
            self.evidence = self.evidence.joined([more.settle(self.step, tries=1)])
            self._shorten_steps()
            have = len(self.evidence.lines)

    def _shorten_steps(self) -> None:
        """Measure lines with far longer error bars than the others again, with shorter steps."""
        steps = np.full(len(self.evidence.lines), self.step)
        for _ in range(RETRIES):
            worse = self._worse()[: self.case.affordable]
            if not worse.size:
                break
            steps[worse] /= CLOSER
            self.evidence.ask(worse, steps[worse])

    @property
    def step(self) -> float:
        """The step with the shortest error bar along the first line, for a typical output."""
        best = self.evidence.best
        seen = best.step[0][np.isfinite(best.bar[0])]
        return float(np.median(seen)) if seen.size else self.evidence.first_step

    def _worse(self) -> Array:
        """Return the lines with far longer error bars than the best, because of kinks.

        If a claim is refused, a bar that is short compared with its error is enough.
        """
        best = self.evidence.best
        enough = WORSE * np.maximum(np.min(best.bar, axis=0), self.target)
        off = np.where(self.evidence.refused[0], np.abs(self.evidence.residual[0]) / WORSE, 0.0)
        kinks = best.too_long & ~(best.bar <= np.fmax(enough, off))
        return np.flatnonzero(kinks.any(axis=1))

    @QUIETLY
    def correct(self, rows: Array, excess: Array) -> None:
        """Subtract the excess of some claimed entries from the claims along all lines."""
        excess = np.where(np.isfinite(excess), excess, 0.0)
        for row, more in zip(rows.tolist(), excess, strict=True):
            self.corrections[row] = more
            for k, line in enumerate(self.evidence.lines):
                assert isinstance(line, RandomLine)
                self.evidence.claimed[k] -= more * _move_of(row, line)
        self.evidence.judge()

    # --- what it proves ---------------------------------------------------------------------------

    @QUIETLY
    def within(self) -> Array:
        """Return T for every output: no entry's error changes it by more."""
        best, ruling = self.evidence.best, self.evidence.ruling
        off = np.abs(self.evidence.residual) + best.bar
        # If f does not change along a line and the claim is 0, the error is 0.
        off[(best.state == FLAT) & (self.evidence.claimed == 0) & ruling.flat[:1]] = 0.0
        worst = np.where(np.isnan(off), np.inf, off)
        return np.asarray(worst.max(axis=0, initial=0.0 if len(off) else np.inf))

    @QUIETLY
    def unresolved(self, most: int) -> tuple[int, Array]:
        """Count the unconfirmed coordinates, and return those with the largest effects, sorted."""
        within = self.within()
        if not self.entrywise:
            held = (within <= self.tolerance.rtol * self.typical).all()
            return (0, np.zeros(0, int)) if held else (self.case.size, np.zeros(0, int))
        count, effects, rows = 0, np.zeros(0), np.zeros(0, int)
        for start, units, claimed in self._pieces():
            left = np.flatnonzero(self._unresolved(start, units, claimed, within))
            count += left.size
            effect = (np.abs(claimed[left]) * units[left, None]).max(axis=1, initial=0.0)
            effects, rows = np.append(effects, effect), np.append(rows, start + left)
            if rows.size > most:
                first = np.argsort(-effects, kind="stable")[:most]
                effects, rows = effects[first], rows[first]
        return count, np.sort(rows)

    def _moving(self, start: int, count: int) -> Array:
        """Return which of some coordinates the lines move, as a new array of booleans."""
        if self.moves is None:
            return np.ones(count, bool)
        return unpacked(self.moves, start, start + count)

    def _unresolved(self, start: int, units: Array, claimed: Array, within: Array) -> Array:
        """Tell which of some coordinates are unresolved: neither confirmed nor found wrong."""
        held = (within <= self._allowed(start, claimed) * units[:, None]).all(axis=1)
        left = np.logical_not(held) & self._moving(start, len(units))
        left[[row - start for row in self.corrections if 0 <= row - start < len(units)]] = False
        return np.asarray(left)

    def not_finite(self, most: int) -> list[int]:
        """Return the first coordinates whose claims are not finite; lines cannot measure these."""
        found: list[int] = []
        if self.case.claims.matrix is not None and not self.case.claims.unusable:
            for start, _, claimed in self._pieces():
                found += (start + np.flatnonzero(~np.isfinite(claimed).all(axis=1))).tolist()
        return found[:most]

    @QUIETLY
    def certificate(self, looked: int, vouched: int, demanded: bool) -> Certificate:
        """Return what was proved about the coordinates without an axis of their own.

        Parameters
        ----------
        looked, vouched : int
            Number of coordinates with an axis of their own, and number of others that are
            confirmed.
        demanded : bool
            Whether the caller gave a tolerance: then every entry must be confirmed to it.
        """
        outputs, lines = self.probe.outputs.size, len(self.evidence.lines)
        held = (self.case.size - looked) * outputs
        reached, against = self.within(), self._against()
        wanted = self.target if self.entrywise else self.tolerance.rtol * self.typical
        share = np.where(reached == 0, 0.0, reached / self._typical_beside())
        within = float(np.where(np.isfinite(share), share, np.inf).max(initial=0.0))
        vouched = min(max(0, vouched) * outputs, held)
        passes = vouched >= held or (within <= self.tolerance.by_lines and not demanded)
        passes &= (lines >= FEWEST_LINES or not held) and against is None
        upstreams = 0 if self.probe.mix is None else len(self.probe.mix)
        return Certificate(
            lines=lines,
            upstreams=upstreams,
            entries=held,
            vouched=vouched,
            within=within,
            chance=min(1.0, 2.0**-lines + (2.0**-upstreams if upstreams else 0.0)),
            # If the entry with the smallest allowed error is confirmed, all are.
            rtol=float(np.nanmax(reached / wanted, initial=0.0)) * self.tolerance.rtol,
            verdict=PASS if passes else UNSURE,
            zero=bool(lines) and self._is_zero(),
            against=against,
        )

    def _typical_beside(self) -> Array:
        """Return the typical effects, but not so small that lines allow less than the tolerance.

        All that f shows about a saturated unit is that its effect is smaller than that.
        """
        typical = self.typical.copy()
        for target in self.tolerance.targets:
            largest = typical[target].max(initial=0.0)
            least = self.tolerance.blunt * self.tolerance.rtol / self.tolerance.by_lines
            typical[target] = np.fmax(typical[target], least * largest)
        return typical

    def _is_zero(self) -> bool:
        """Tell whether slopes and claims along all lines are zero except for rounding."""
        best, reasons = self.evidence.best, self.evidence.reasons()
        zero = (np.abs(best.slope) <= best.bar) & np.isin(reasons, ("zero", "ok"))
        return bool((zero & (np.abs(self.evidence.claimed) <= FAIL_BARS * best.bar)).all())

    @QUIETLY
    def _against(self) -> tuple[float, float, float] | None:
        """Return claim, slope and bar along the line with the worst disagreement, if any."""
        refused, best = self.evidence.refused, self.evidence.best
        if not refused.any():
            return None
        ratio = np.nan_to_num(np.abs(self.evidence.residual) / (FAIL_BARS * best.bar), nan=np.inf)
        at = np.unravel_index(int(np.argmax(np.where(refused, ratio, -1.0))), refused.shape)
        return float(self.evidence.claimed[at]), float(best.slope[at]), float(best.bar[at])

    # --- the entries ------------------------------------------------------------------------------

    def _pieces(self) -> Iterator[tuple[int, Array, Array]]:
        """Yield the units and the claims of the coordinates, in pieces."""
        matrix = self.case.claims.matrix
        assert matrix is not None
        each = max(1, PIECE // max(1, matrix.shape[1]))
        for start in range(0, len(matrix), each):
            claimed = matrix[start : start + each]
            yield start, self.probe.units.of(start, start + len(claimed)), claimed

    def _allowed(self, start: int, claimed: Array) -> Array:
        """Return the allowed errors of some entries, computed from their claims."""
        rows = np.arange(start, start + len(claimed))
        no_bars = np.zeros(claimed.shape)
        least = self.tolerance.least(rows, claimed, no_bars, claimed, self.probe.eps)
        return np.asarray(least + self.tolerance.rtol * np.abs(np.nan_to_num(claimed)))

    @QUIETLY
    def _target(self) -> Array:
        """Return the T that would confirm every entry, by output."""
        if not self.entrywise:
            return np.zeros(self.probe.here.size)
        smallest = np.full(self.probe.here.size, np.inf)
        for start, units, claimed in self._pieces():
            effect = self._allowed(start, claimed) * units[:, None]
            moving = effect[self._moving(start, len(units))]
            smallest = np.fmin(smallest, moving.min(axis=0, initial=np.inf))
        return smallest

    @QUIETLY
    def _typical(self) -> Array:
        """Return the median effect of an entry on each output, for a step of its unit.

        A median: a single huge entry does not make all others look small.
        """
        effect = self._some_effects()
        usable = np.isfinite(effect) & (effect > 0)
        typical, known = np.zeros(self.probe.here.size), usable.any(axis=0)
        for k in np.flatnonzero(known):
            typical[k] = np.median(effect[usable[:, k], k])
        if self.case.claims.matrix is None and not known.all():
            # If an output depends on few inputs, the sampled entries may all be zero. Then use the
            # root mean square of all entries, which lines give because they add them up.
            along = self.case.claimed_along([self.line(number) for number in range(FEWEST_LINES)])
            rms = np.sqrt(np.mean(along**2, axis=0) / self.case.size)
            typical = np.where(known, typical, rms)
        # A sum of n outputs with random signs grows as sqrt(n).
        return typical if self.probe.mix is None else typical / math.sqrt(self.probe.mix.shape[1])

    def _some_effects(self) -> Array:
        """Return the effects of some entries on the outputs, computed from their claims."""
        if self.case.claims.matrix is None:
            rng = np.random.default_rng(self.case.seed)
            rows = np.sort(rng.choice(self.case.size, min(LINES, self.case.size), replace=False))
            units = np.array([self.probe.units.of(row, row + 1) for row in rows.tolist()])
            return np.asarray(np.abs(self.case.axes(rows).claimed) * units)
        every = max(1, self.case.size // PIECE)
        some = [
            np.abs(claimed[::every]) * units[::every, None] for _, units, claimed in self._pieces()
        ]
        return np.concatenate([np.zeros((0, self.probe.here.size)), *some])


def _move_of(row: int, line: RandomLine) -> float:
    """Return how far a line moves a coordinate."""
    if not line.start <= row < line.stop:
        return 0.0
    return float(line.over(row, row + 1).direction[0])
