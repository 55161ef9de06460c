"""Which lines to look along: every axis of few coordinates, random lines first of many.

A random line sees all coordinates at once. One that refuses is halved until a single entry is left,
which is looked at on its axis, as are the entries that the lines cannot vouch for.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.axes import Looked, look
from gradcheck_ref.check.judge.case import Case
from gradcheck_ref.check.judge.certificate import FEWEST_LINES, LINES, Certificate, Certifier
from gradcheck_ref.check.judge.claims import Claims, Vjps, pulled
from gradcheck_ref.check.judge.crossing import Crossing
from gradcheck_ref.check.judge.localise import (
    halve,
    halve_kink,
    halve_outputs,
    match,
    off_by_the_same,
)
from gradcheck_ref.check.judge.pair import FAIL
from gradcheck_ref.check.judge.search import MOST_STEPS
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import TABLE_POINTS
from gradcheck_ref.check.measure.samples import EACH
from gradcheck_ref.check.measure.witness import ask_witnesses
from gradcheck_ref.structure import Part

# So many coordinates are looked at one by one; and up to so many, if the lines leave a doubt.
FEW, SOME = 32, 99

# For one coordinate, the noise measured included.
MOST_EACH = 40
# A check of many coordinates makes so many calls of f, or if that vouches for every entry up to so
# many; and fewer than central differences on every axis would.
USUAL, MOST = 300, 1000

# Calls of f at the point, before and after all others.
FIXED_COST = 2

# Steps tried along the first line of another round: what steps are good is roughly known.
FIRST_TRIES = 4

# Steps that an entry takes on its axis, as a mean.
MOSTLY = 1.5

# Steps that a line takes among kinks, roughly.
AMONG_KINKS = 3

# Another round of lines is worth it if the last one left no more than this share.
FEWER = 0.9

# After a line that refuses so many more tell whether one entry is wrong, or many.
PEEK = 3

# Looks on its axis that an entry takes to be found wrong.
CONFIRMED = 2

# Lines beyond the bits of an entry's number: with one of so many signs told wrong, about two others
# match as well.
SURPLUS = 4

# So many wrong entries are named one after the other. More are a mistake of another kind, of which
# so many examples are looked at in each input.
NAMED, EXAMPLES = 3, 10


def budget(size: int, max_evaluations: int | None) -> int:
    """Return how often f may be called for so many coordinates."""
    if max_evaluations is not None:
        return min(MOST_EACH * size, max_evaluations)
    return MOST_EACH * size if size <= SOME else min(2 * size - 1, MOST)


def usual_cost(size: int) -> int:
    """Return how often f is called for so many coordinates if it is smooth, and the claim right."""
    if size <= FEW:
        return FIXED_COST + EACH * size
    return FIXED_COST + TABLE_POINTS + EACH * LINES  # with the noise


@dataclass
class Seen:
    """What was looked at, and what was not.

    Attributes
    ----------
    looked : Looked
        The coordinates that had an axis of their own.
    certificate : Certificate or None
        What lines prove of the others.
    outputs : list of (Part, slice, ndarray of int)
        The outputs that were judged: an array, which columns of what was looked at are its, and
        which of its coordinates these are.
    claims : Claims
        What was claimed of these outputs.
    """

    looked: Looked
    certificate: Certificate | None
    outputs: list[tuple[Part, slice, Array]]
    claims: Claims


class Survey:
    """Looks along lines until the claims are settled, or the evaluations are used up.

    Parameters
    ----------
    case : Case
        What is judged.
    single : Case
        The same, of the outputs themselves where the case is about combinations of them.
    """

    def __init__(self, case: Case, single: Case) -> None:
        self.case, self.single, self.claims = case, single, case.claims
        self.probe, self.size = case.probe, case.size
        # So many calls if what was found so far does not show that more are needed.
        self.usual = case.most if case.limited else min(case.most, USUAL)
        # So many lines tell by their signs which entry is wrong, but for a few others.
        self.telling = min(LINES, math.ceil(math.log2(max(self.size, 1))) + SURPLUS)
        self.named: list[int] = []
        self.entries: list[Looked] = []  # looked at while lines were halved

    def look_around(self) -> Seen:
        """Look along the lines that tell most."""
        self.probe.meet_many()  # that costs, too: what is left is counted from here on
        if not np.isfinite(self.probe.here).all():  # no line has a slope there
            return self._seen(self._look(np.arange(min(self.size, FEW))))
        if self.case.affordable <= (self.size if self.size <= FEW else LINES):
            self.case.noise.measure()  # later there may be nothing left for it
        if self.size <= FEW and self.size <= self.case.affordable:
            return self._seen(self._every_axis())
        # Lines leave enough for an entry to be confirmed.
        left = self.case.most - (0 if self.case.limited else EACH * CONFIRMED)
        certifier = Certifier(replace(self.case, most=left))
        self.named = certifier.not_finite(NAMED)
        if self.named or self.claims.unusable:
            return self._as_far_as_seen(certifier, self._examples(certifier))
        fits = self._cross_lines(certifier)
        while fits and self._another_round(certifier):
            fits = self._cross_lines(certifier)
        if fits:
            return self._look_at_the_rest(certifier)
        return self._as_far_as_seen(certifier, self._examples(certifier))

    def _seen(self, looked: Looked, certificate: Certificate | None = None) -> Seen:
        outputs = self.probe.outputs.parts.values()
        if self.probe.mix is not None:
            seen = self._with_outputs(looked, certificate)
            if seen is not None:
                return seen
            outputs = [  # type: ignore[assignment]
                Part("combinations of outputs", (len(self.probe.mix),), np.dtype(float), 0)
            ]
        named = [(part, part.stretch, np.arange(part.size)) for part in outputs]
        return Seen(looked, certificate, named, self.claims)

    # --- one by one -----------------------------------------------------------------------------

    def _every_axis(self) -> Looked:
        rows = np.arange(self.size)
        return look(self.case, rows, self.case.claimed(rows))

    def _look(self, rows: Array) -> Looked:
        """Look at some coordinates, with both of a complex entry."""
        rows = self._whole_entries(rows)
        return look(self.case, rows, self.case.claimed(rows))

    def _look_also(self, rows: Array) -> Looked:
        """Look at some coordinates besides those that were looked at on the way."""
        known = [row for entry in self.entries for row in entry.rows.tolist()]
        looked = self._look(np.setdiff1d(rows, known))
        return looked.and_also(self.entries) if self.entries else looked

    def _whole_entries(self, rows: Array) -> Array:
        both = [rows]
        for part in self.probe.inputs.parts.values():
            if part.is_complex:
                inside = rows[(rows >= part.start) & (rows < part.start + part.size)]
                both.append(part.start + ((inside - part.start) ^ 1))
        return np.unique(np.concatenate(both)).astype(int)

    # --- all at once ----------------------------------------------------------------------------

    def _cross_lines(self, certifier: Certifier) -> bool:
        """Measure the lines; tell whether all fit once the wrong entries found are put right."""
        if not self.case.affordable:
            return True
        tries = FIRST_TRIES if certifier.rounds else MOST_STEPS
        [first] = certifier.cross([certifier.line(0)], None, tries)
        while self.size > SOME and certifier.is_blinded(first):
            if not self._hold_still(certifier, first):
                break
            [first] = certifier.cross([certifier.line(0)], None, tries)
        certifier.crossings, excused = [first], False
        if first.refused.any():
            if self.size > SOME and self.case.affordable >= LINES:
                self._cross_more(certifier, 1 + PEEK)
                if off_by_the_same(certifier.crossings) is not None:  # one entry is wrong
                    self._cross_more(certifier, self.telling)
            if not self._put_right(certifier, first):
                # What is left for few lines shows more on axes.
                if self.size <= SOME or self.named or self.case.affordable < LINES:
                    return False
                excused = True  # perhaps it is the line
        # Up to so many coordinates the axes tell more than lines that see nothing.
        if self.size > SOME or np.isfinite(first.bar).all():
            self._cross_more(certifier, LINES)
        return all(self._put_right(certifier, one) for one in certifier.crossings[excused:])

    def _cross_more(self, certifier: Certifier, count: int) -> None:
        """Measure more lines, until there are so many, all at once if all can be afforded."""
        have = certifier.crossings
        while len(have) < count:
            affordable = int(max(0, self.usual - self.probe.evaluations) // EACH)
            affordable = min(affordable, certifier.case.affordable)
            # Lines may want closer looks: fewer that see something tell more than many.
            once = all(len(crossing.witnesses.state) == 1 for crossing in have[-FEWEST_LINES:])
            if not once or len(have) == 1:
                some = certifier.case.affordable // AMONG_KINKS
                affordable = min(affordable, max(some, 1) if once else some)
            numbers = range(len(have), min(count, len(have) + affordable))
            if not numbers:
                break
            have += certifier.cross_well([certifier.line(k) for k in numbers], have[0])

    def _put_right(self, certifier: Certifier, crossing: Crossing) -> bool:
        """Name wrong entries until a line refuses no more; tell whether that came about."""
        if not crossing.refused.any():
            return True
        if self.case.affordable:
            certifier.look_twice(crossing)
        while crossing.refused.any():
            if self.size <= SOME or not self._name_one(certifier, crossing):
                return False
        return True

    def _another_round(self, certifier: Certifier) -> bool:
        """Move only what is not vouched for, if another round of lines serves it best."""
        if not certifier.entrywise or self.size <= SOME:
            return False
        before = np.count_nonzero(certifier.moving(0, self.size))
        count, _ = certifier.not_vouched(0)
        lines = LINES + FIRST_TRIES - 1
        gained = count <= FEWER * before or not certifier.rounds
        if not gained or MOSTLY * count <= lines:
            return False
        if self.case.demanded or MOSTLY * count <= self.case.affordable:
            self.usual = self.case.most  # so much would be spent on axes
        if self.probe.evaluations + EACH * lines > self.usual:
            return False
        certifier.narrow()
        return True

    def _hold_still(self, certifier: Certifier, crossing: Crossing) -> bool:
        """Look at a coordinate with a kink by itself, and hold it still along all lines."""
        halvings = EACH * math.ceil(math.log2(self.size))
        if len(certifier.still) == NAMED or self.probe.evaluations + halvings > self.usual / 2:
            return False
        entry = self._look(halve_kink(certifier, crossing))
        self.entries.append(entry)
        certifier.hold_still(entry.rows)
        return True

    def _name_one(self, certifier: Certifier, crossing: Crossing) -> bool:
        """Find a wrong entry along a line that refuses, and put its claim right from here on."""
        if len(self.named) >= NAMED:
            return False
        if len(certifier.crossings) >= self.telling:
            suspects = match(certifier.crossings)[: self.case.affordable]
            if suspects.size and self._confirm(certifier, suspects):
                return True
        halvings = EACH * math.ceil(math.log2(self.size))
        most = self.usual if self.named else self.case.most
        if self.probe.evaluations + halvings + EACH * CONFIRMED > most:
            return False
        return self._confirm(certifier, halve(certifier, crossing))

    def _confirm(self, certifier: Certifier, rows: Array) -> bool:
        """Look at suspects on their axes, and put right what is wrong; tell whether any is."""
        entry = self._look(rows)
        self.entries.append(entry)
        wrong = (entry.ruling.verdict == FAIL).any(axis=1)
        if not wrong.any() or np.isin(entry.rows[wrong], self.named).all():
            return False
        certifier.put_right(entry.rows, entry.claimed - entry.chosen.slope)
        self.named += [int(row) for row in entry.rows[wrong]]
        return True

    def _look_at_the_rest(self, certifier: Certifier) -> Seen:
        """Look at the entries that were found wrong, and at those the lines do not vouch for."""
        affordable = int(self.case.affordable / MOSTLY)
        count, rows = certifier.not_vouched(affordable)
        if self.size <= SOME and not self.case.limited and (count or self.named):
            return self._seen(self._every_axis())
        if count > affordable and not self.case.demanded:
            rows = rows[:0]  # a few of many tell nothing of the others
        looked = self._look_also(rows)
        seen = self._seen(looked)
        done = int(np.count_nonzero(looked.reached)) if looked.rows.size else 0
        vouched = self.size - len(certifier.excess) - len(certifier.still) - count
        seen.certificate = certifier.certificate(done, vouched, self.case.demanded)
        return seen

    def _as_far_as_seen(self, certifier: Certifier, looked: Looked) -> Seen:
        """Say how far the others were held, where no example shows what is wrong."""
        if (looked.ruling.verdict == FAIL).any() or looked.reached.sum() == self.size:
            return self._seen(looked)
        held = certifier.certificate(int(looked.reached.sum()), 0, demanded=True)
        return self._seen(looked, held)

    def _examples(self, certifier: Certifier) -> Looked:
        """Look at some entries of every input in which something is wrong; at all, if few."""
        if self.size <= SOME and not self.case.limited:
            return self._every_axis()
        parts = [part for part in self.probe.inputs.parts.values() if part.size]
        wrong = []
        for part in parts if len(parts) > 1 and not self.claims.unusable else ():
            line = certifier.line(0).over(part.start, part.start + part.size)
            if not self.case.affordable:
                break
            if certifier.cross([line])[0].refused.any():
                wrong.append(part)
        wrong = wrong or parts
        each = max(1, min(EXAMPLES, (self.case.affordable // 2 - len(self.named)) // len(wrong)))
        rng = np.random.default_rng(self.case.seed)
        rows = [np.array(self.named, int)]
        for part in wrong:
            rows.append(part.start + rng.choice(part.size, min(each, part.size), replace=False))
        return self._look_also(np.concatenate(rows))

    # --- which output ---------------------------------------------------------------------------

    def _with_outputs(self, looked: Looked, certificate: Certificate | None) -> Seen | None:
        """Say which outputs are wrong, where combinations of them are; None if none is."""
        probe, vjp = self.single.probe, self.claims.vjp  # type: ignore[attr-defined]
        columns = set()
        rows = looked.rows[(looked.ruling.verdict == FAIL).any(axis=1)][:NAMED]
        quiet = Claims(probe)
        for row in rows.tolist():
            if self.case.affordable < 2:
                break
            step = looked.chosen.step[looked.rows == row].min(initial=np.inf, axis=1)
            numeric = ask_witnesses(probe, self.single.noise, [Axis(probe.units, row)], step)

            def asked(upstream: Array, row: int = row) -> float:
                return float(pulled(quiet, vjp, upstream)[row])

            columns.add(halve_outputs(asked, np.nan_to_num(numeric.slope[0])))
        if not columns:
            return None
        chosen = np.array(sorted(columns))
        by_itself = np.zeros((len(chosen), probe.here.size))
        by_itself[np.arange(len(chosen)), chosen] = 1.0
        several = probe.combined(by_itself)
        claims = Vjps(several, vjp)
        claims.faults += self.claims.faults
        case = replace(
            self.single,
            probe=several,
            noise=self.single.noise.combined(several),
            claims=claims,
            tolerance=self.case.tolerance.of(len(chosen)),
        )
        found = look(case, rows, case.claimed(rows))
        if not (found.ruling.verdict == FAIL).any():
            return None  # errors that cancel lead astray: the combinations are refused all the same
        outputs = []
        for part in probe.outputs.parts.values():
            mine = np.flatnonzero((chosen >= part.start) & (chosen < part.start + part.size))
            if mine.size:
                stretch = slice(int(mine[0]), int(mine[-1]) + 1)
                outputs.append((part, stretch, chosen[stretch] - part.start))
        return Seen(found, certificate, outputs, claims)
