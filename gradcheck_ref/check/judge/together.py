"""Random lines prove something about all entries at once (Freivalds, 1977, for derivatives).

Along a random line every coordinate moves by its own unit, with a random sign. Suppose the effect
of one entry on f is off by more than T. Then for any other errors, one of its two signs makes a
line off by more than T. So each line shows it with a probability of at least 1/2, and K lines miss
it with a probability of at most 1/2^K.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.evidence import Evidence, along, axes, refused_by
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.rule import clear_jump
from gradcheck_ref.check.judge.steps import (
    bars_of_others,
    looked_beside,
    looked_between,
    looked_closer,
    looked_first,
    sharpest_window,
)
from gradcheck_ref.check.judge.tolerance import least, output_groups, scale
from gradcheck_ref.check.knobs import allowed_by_lines, least_visible
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.check.measure.witness import State
from gradcheck_ref.check.results import FAIL, FAIL_BARS, FEWEST_LINES, PASS, UNSURE, Certificate
from gradcheck_ref.structure.units import PIECE

# LINES lines miss an error above T with a probability of at most one in a million.
LINES = 20

# The slope of a pilot bears out a claim that is so close to it, beside its own doubt.
BORNE_OUT = 1e-3


def beside_claims(question: Question) -> Question:
    """Return the question with the scale of the claims: the lines are going to confirm them."""
    largest = question.scale_of_claims
    for rows, claimed in _pieces(question):
        seen = scale(question, rows, claimed, np.zeros(claimed.shape))
        largest = np.fmax(largest, seen)
    return replace(question, scale_of_claims=largest)


def _pieces(question: Question) -> Iterator[tuple[Array, Array]]:
    """Yield the coordinates and their claims, in pieces; nothing for a jvp along lines."""
    matrix = question.claims.matrix
    if matrix is not None:
        each = max(1, PIECE // max(1, matrix.shape[1]))
        for start in range(0, len(matrix), each):
            claimed = matrix[start : start + each]
            yield np.arange(start, start + len(claimed)), claimed


@QUIETLY
def worst(lines: Evidence) -> tuple[int, int]:
    """Return the line and the output with the clearest refusal."""
    ratio = np.nan_to_num(np.abs(lines.residual) / lines.best.bar, nan=np.inf)
    refused = np.where(refused_by(lines), ratio, -1.0)
    line, output = np.unravel_index(int(np.argmax(refused)), refused.shape)
    return int(line), int(output)


class Together:
    """Random lines over all coordinates, and what they prove.

    Parameters
    ----------
    question : Question
        The function, the point, the claims and the budget.
    """

    def __init__(self, question: Question) -> None:
        self.question = question
        self.suspects = axes(question, np.zeros(0, int))  # of entries that may be wrong
        # Which coordinates the lines move, eight to a byte: all, or those still unconfirmed.
        self.moves: Array | None = None
        self.rounds, self.moving = 0, question.size + 1
        self.target, self.typical = self._scales()
        self.evidence = self.along([])

    @property
    def entrywise(self) -> bool:
        """Whether the claim for each single entry is known."""
        return self.question.claims.matrix is not None and self.question.ask.mix is None

    def line(self, number: int) -> Line:
        """Return a random line over all inputs."""
        seed = seed_of(self.question.seed, "lines", self.rounds, number)
        return Line(self.question.ask.inputs, 0, self.question.size, seed, self.moves)

    @QUIETLY
    def along(self, lines: Sequence[Line]) -> Evidence:
        """Return lines, or parts of lines, with the claims along them; f is not called yet."""
        question, target = self.question, self.target

        def allowance(lines: Evidence, slopes: Array, bars: Array) -> Array:
            return np.broadcast_to(target, lines.claimed.shape)

        return self._corrected(along(question, lines, question.claimed_along(lines), allowance))

    def narrow(self, left: Array) -> None:
        """From here on, move only the coordinates that lines have not confirmed.

        Their effect on f is the smallest, so longer steps are possible and more accurate.
        """
        moves = np.zeros(self.question.size, bool)
        moves[left] = True
        self.moves, self.moving, self.rounds = np.packbits(moves), left.size, self.rounds + 1
        self.target, _ = self._scales()
        self.evidence = self.along([])

    def correct(self, suspects: Evidence) -> None:
        """Take the errors of entries that fail on their axes out of the claims along all lines.

        The same lines then judge the other entries. The proof would need fresh ones, because these
        have chosen the entry.
        """
        self.suspects = suspects
        self.evidence = self._corrected(self.evidence)

    def _corrected(self, evidence: Evidence) -> Evidence:
        """Take the errors of the suspects out of the claims along the lines that move them."""
        suspects, claimed = self.suspects, evidence.claimed.copy()
        wrong = (suspects.ruling.verdict == FAIL) & np.isfinite(suspects.residual)
        errors = np.where(wrong, suspects.residual, 0.0)
        for row, error in zip(suspects.rows.tolist(), errors, strict=True):
            for k, line in enumerate(evidence.lines):
                if line.start <= row < line.stop:
                    claimed[k] -= error * line.over(row, row + 1).direction[0]
        return replace(evidence, claimed=claimed)

    # --- measuring --------------------------------------------------------------------------------

    @QUIETLY
    def measure(self, count: int) -> None:
        """Measure lines until there are ``count``, with similar error bars."""
        have = len(self.evidence.lines)
        if not have and count and self.question.affordable:
            self.evidence = looked_first(self.along([self.line(0)]))
            for look in (looked_beside, looked_between):
                if not (bars_of_others(self.evidence).min(axis=0) <= self.target).all():
                    self.evidence = look(self.evidence)
            have = 1
        while 0 < have < count:
            # Lines across kinks need about three: a few good lines are better than many bad.
            self.question.return_to_x()  # now, because it is an evaluation, too
            once = self.evidence.table.looks[have - 1] <= 3
            most = have + math.ceil(self.question.affordable / (1 if once else 3))
            more = self.along([self.line(number) for number in range(have, min(count, most))])
            if not more.lines:
                break
            start, stride = sharpest_window(self.evidence)
            both = self.evidence.joined([more])
            new = np.arange(len(both.lines)) >= have
            both = both.looked(both.table.window(start, stride) & new[:, None])
            self.evidence = looked_closer(both, start, stride, self.target)
            have = len(self.evidence.lines)

    # --- what it proves ---------------------------------------------------------------------------

    @QUIETLY
    def within(self) -> Array:
        """Return T for every output: no entry's error changes it by more."""
        best, ruling = self.evidence.best, self.evidence.ruling
        off = np.abs(self.evidence.residual) + best.bar
        # If f does not change along a line and the claim is 0, the error is 0.
        off[(best.state == State.FLAT) & (self.evidence.claimed == 0) & ruling.flat[:1]] = 0.0
        worst = np.where(np.isnan(off), np.inf, off)
        return np.asarray(worst.max(axis=0, initial=0.0 if len(off) else np.inf))

    @QUIETLY
    def unconfirmed(self) -> Array:
        """Return the coordinates whose allowed error is less than T.

        Those with the largest effect come first, as many as can be measured.
        """
        within = self.within()
        if not self.entrywise:
            return np.arange(0 if (within <= self.target).all() else self.question.size)
        left = np.zeros(self.question.size, bool)
        found, effects = np.zeros(0, int), np.zeros(0)
        for rows, effect, room in self._effects():
            more = ~((within <= room).all(axis=1) | np.isin(rows, self.suspects.rows))
            left[rows[more]] = True
            found = np.append(found, rows[more])
            effects = np.append(effects, effect[more].max(axis=1, initial=0.0))
            # No more than these can be measured, so the others are not sorted.
            first = np.argsort(-effects, kind="stable")[: self.question.affordable]
            found, effects = found[first], effects[first]
        left[found] = False
        return np.append(found, np.flatnonzero(left))

    def not_finite(self, most: int) -> Array:
        """Return the first coordinates whose claims are not finite; lines cannot measure these."""
        found, pieces = [np.zeros(0, int)], _pieces(self.question)
        for rows, claimed in () if self.question.claims.unusable else pieces:
            found.append(rows[~np.isfinite(claimed).all(axis=1)])
        return np.concatenate(found)[:most]

    @QUIETLY
    def certificate(self, alone: int, vouched: int, demanded: bool, cut: bool) -> Certificate:
        """Return what was proved about the coordinates without an axis of their own.

        Parameters
        ----------
        alone, vouched : int
            Number of coordinates with an axis of their own, and number of others that are
            confirmed.
        demanded : bool
            Whether the caller gave a tolerance: then every entry must be confirmed to it.
        cut : bool
            Whether the evaluations are too few for axes of the others.
        """
        question, best = self.question, self.evidence.best
        outputs, lines = question.ask.outputs.size, len(self.evidence.lines)
        entries = (question.size - alone) * outputs
        vouched = min(max(0, vouched) * outputs, entries)
        against: tuple[float, float, float] | None = None
        if refused_by(self.evidence).any():
            at, claimed = worst(self.evidence), self.evidence.claimed
            against = float(claimed[at]), float(best.slope[at]), float(best.bar[at])
        reached, by_lines = self.within(), allowed_by_lines(question.ask.precision)
        share = np.where(reached == 0, 0.0, reached / self.typical)
        within = float(np.where(np.isfinite(share), share, np.inf).max(initial=0.0))
        passes = vouched >= entries or (within <= by_lines and not demanded)
        passes &= (lines >= FEWEST_LINES or not entries) and against is None
        zero = (np.abs(best.slope) <= best.bar) & np.isin(self.evidence.reasons, ("zero", "ok"))
        zero &= np.abs(self.evidence.claimed) <= FAIL_BARS * best.bar
        reasons = (
            ("ok", passes),
            ("zero", lines and zero.all()),
            ("kink", clear_jump(best).any()),
            ("budget", lines < FEWEST_LINES),
            ("precision", True),
        )
        upstreams = question.ask.upstreams
        return Certificate(
            lines=lines,
            upstreams=upstreams,
            entries=entries,
            vouched=vouched,
            within=within,
            # Each round of lines is another draw.
            chance=min(1.0, (self.rounds + 1) * 2.0**-lines + 2.0**-upstreams * (upstreams > 0)),
            # If the entry with the smallest allowed error is confirmed, all are.
            rtol=float(np.nanmax(reached / self.target, initial=0.0)) * question.rtol,
            verdict=PASS if passes else UNSURE,
            reason=next(name for name, applies in reasons if applies),
            more=bool(cut or lines < LINES),
            against=against,
        )

    @QUIETLY
    def borne_out(self) -> bool:
        """Return whether the slopes along the pilots bear out the claims for each input.

        Else an input may be forgotten whose effect is small beside that of another one, and what is
        typical of the claims says nothing about it.
        """
        pilots = self.question.noise.pilots
        off = np.abs(self.along(pilots.lines).claimed - pilots.slope)
        return not (off > FAIL_BARS * pilots.doubt + BORNE_OUT * np.abs(pilots.slope)).any()

    # --- the entries ------------------------------------------------------------------------------

    @QUIETLY
    def _effects(self) -> Iterator[tuple[Array, Array, Array]]:
        """Yield, in pieces, coordinates that the lines move, their effects and their rooms.

        The effect of an entry is that of its claim on f for a step of its unit, and its room is
        that of the error it is allowed.
        """
        question, moving = self.question, None
        if self.moves is not None:
            moving = np.unpackbits(self.moves).view(bool)
        for rows, claimed in _pieces(question):
            start = int(rows[0])
            units = question.ask.inputs.units(start, start + len(rows))[:, None]
            allowed = least(question, rows, claimed, np.zeros(claimed.shape), claimed)
            room = (allowed + question.rtol * np.abs(np.nan_to_num(claimed))) * units
            keep = slice(None) if moving is None else moving[rows]
            yield rows[keep], (np.abs(claimed) * units)[keep], room[keep]

    @QUIETLY
    def _scales(self) -> tuple[Array, Array]:
        """Return the T that would confirm every entry, and the typical effect, by output.

        That is the median effect of an entry for a step of its unit: a single huge entry does not
        make all others look small. Where single claims are not known, T is rtol times that.
        """
        question, inputs, smallest = self.question, self.question.ask.inputs, list[Array]()
        if question.claims.matrix is None:
            rng = np.random.default_rng(seed_of(question.seed, "effects"))
            rows = np.sort(rng.choice(question.size, min(LINES, question.size), replace=False))
            effect = np.abs(question.claimed_at(rows)) * inputs.units_at(rows)[:, None]
        else:
            every, effects = max(1, question.size // PIECE), []
            for _, some, room in self._effects():
                effects.append(some[::every].copy())  # a view would keep the whole piece
                smallest.append(room.min(axis=0, initial=np.inf))
            effect = np.concatenate(effects)
        usable = (column[(column > 0) & (column < np.inf)] for column in effect.T)
        typical = np.array([np.median(some) if some.size else 0.0 for some in usable])
        if question.claims.matrix is None and not typical.all():
            # If an output depends on few inputs, the sampled entries may all be zero. Then use the
            # root mean square of all entries, which lines give because they add them up.
            along = question.claimed_along([self.line(number) for number in range(FEWEST_LINES)])
            rms = np.sqrt(np.mean(along**2, axis=0) / question.size)
            typical = np.where(typical > 0, typical, rms)
        # A sum of n outputs with random signs grows as sqrt(n).
        typical /= math.sqrt(max(1, question.ask.combines))
        # A typical effect is not so small that lines allow less than the tolerance: all that f
        # shows about a saturated unit is that its effect is smaller than that.
        precision, rtol = question.ask.precision, question.rtol
        share = least_visible(precision, rtol) * rtol / allowed_by_lines(precision)
        for group in output_groups(question):
            typical[group] = np.fmax(typical[group], share * typical[group].max(initial=0.0))
        known = bool(smallest) and self.entrywise
        return np.fmin.reduce(smallest, axis=0) if known else rtol * typical, typical
