"""Which lines to look along: every axis of few coordinates, random lines first of many.

A random line sees all coordinates at once. One that refuses is halved until a single entry is left,
which is looked at on its axis, as are the entries that the lines cannot vouch for.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.axes import Looked, look
from gradcheck_ref.check.judge.certificate import LINES, Certificate, Certifier, Crossing
from gradcheck_ref.check.judge.claims import Claims, Vjps, pulled
from gradcheck_ref.check.judge.localise import halve, halve_kink, halve_outputs
from gradcheck_ref.check.judge.pair import FAIL
from gradcheck_ref.check.judge.search import EACH, MOST_STEPS
from gradcheck_ref.check.judge.tolerance import Tolerance
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import ask_witnesses
from gradcheck_ref.structure import Part

# So many coordinates are looked at one by one; and up to so many, if the lines leave a doubt.
FEW, SOME = 32, 99

# For one coordinate, the noise measured included.
MOST_EACH = 40
# A check of many coordinates makes so many calls of f, or if that vouches for every entry up to so
# many; and fewer than central differences on every axis would.
USUAL, MOST = 300, 1000

# Steps tried along the first line of another round: what steps are good is roughly known.
FIRST_TRIES = 4

# Another round of lines is worth it if the last one left no more than this share.
FEWER = 0.9

# So many wrong entries are named one after the other. More are a mistake of another kind, of which
# so many examples are looked at in each input.
NAMED, EXAMPLES = 3, 10


def budget(size: int, max_evaluations: int | None) -> int:
    """Return how often f may be called for so many coordinates."""
    if max_evaluations is not None:
        return min(MOST_EACH * size, max_evaluations)
    return MOST_EACH * size if size <= SOME else min(2 * size - 1, MOST)


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
    probe, noise : Probe, Noise
        Where f is called, and how noisy it is; perhaps of combinations of its outputs.
    single : tuple of Probe and Noise
        The same for the outputs themselves.
    claims : Claims
        What is claimed.
    tolerance : Tolerance
        What is allowed.
    most : float
        Most calls of f.
    asked : bool
        Whether the caller asked for the tolerance: then all entries are to be held to it.
    limited : bool
        Whether the caller limited the calls.
    seed : int
        Of the lines.
    tick : callable
        Called after each line.
    """

    def __init__(
        self,
        probe: Probe,
        noise: Noise,
        single: tuple[Probe, Noise],
        claims: Claims,
        tolerance: Tolerance,
        most: float,
        asked: bool,
        limited: bool,
        seed: int,
        tick: Callable[[], None],
    ) -> None:
        self.probe, self.noise, self.single = probe, noise, single
        self.claims, self.tolerance, self.most = claims, tolerance, most
        self.asked, self.limited, self.seed, self.tick = asked, limited, seed, tick
        self.size = probe.x.size
        self.named: list[int] = []
        self.entries: list[Looked] = []  # looked at while lines were halved

    def look_around(self) -> Seen:
        """Look along the lines that tell most."""
        if not np.isfinite(self.probe.here).all():  # no line has a slope there
            return self._seen(self._look(np.arange(min(self.size, FEW))))
        if self.size <= FEW and self.size * EACH <= self.most - self.probe.evaluations:
            return self._seen(self._every_axis())
        certifier = Certifier(
            self.probe, self.noise, self.claims, self.tolerance, self.seed, self.tick
        )
        self.named = certifier.not_finite(NAMED)
        if self.named or self.claims.unusable:
            return self._as_far_as_seen(certifier, self._examples(certifier))
        refused = self._cross_lines(certifier)
        while refused is None and self._another_round(certifier):
            refused = self._cross_lines(certifier)
        if refused is not None:
            return self._many_are_wrong(certifier, refused)
        return self._look_at_the_rest(certifier)

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
        limit = self.most / 2 if self.limited else math.inf
        self.noise.listen_to_each_input(self.claims.rows(rows), limit - self.probe.evaluations)
        return self._look(rows)

    def _look(self, rows: Array) -> Looked:
        """Look at some coordinates, with both of a complex entry."""
        rows = self._whole_entries(rows)
        claimed = self.claims.rows(rows)
        return look(self.probe, self.noise, self.tolerance, rows, claimed, self.most, self.tick)

    def _look_also(self, rows: Array) -> Looked:
        """Look at some coordinates besides those that were looked at on the way."""
        known = [row for entry in self.entries for row in entry.rows.tolist()]
        return self._look(np.setdiff1d(rows, known)).and_also(self.entries)

    def _whole_entries(self, rows: Array) -> Array:
        both = [rows]
        for part in self.probe.inputs.parts.values():
            if part.is_complex:
                inside = rows[(rows >= part.start) & (rows < part.start + part.size)]
                both.append(part.start + ((inside - part.start) ^ 1))
        return np.unique(np.concatenate(both)).astype(int)

    # --- all at once ----------------------------------------------------------------------------

    def _cross_lines(self, certifier: Certifier) -> Crossing | None:
        """Measure the lines; return one that refuses though the entries found are put right."""
        step = None
        usual = self.most if self.limited else min(self.most, USUAL)
        for number in range(LINES):
            if self.probe.evaluations + EACH > (usual if number or self.named else self.most):
                break
            line = certifier.line(number)
            first_of = FIRST_TRIES if certifier.rounds else MOST_STEPS
            tries = first_of if number == 0 else 1
            crossing = certifier.cross_well(line, self.most, step, tries)
            while number == 0 and self.size > SOME and certifier.is_blinded(crossing):
                if not self._hold_still(certifier, crossing, usual):
                    break
                line = certifier.line(number)
                crossing = certifier.cross_well(line, self.most, step, tries)
            while crossing.refused.any():
                if self.size <= SOME or not self._name_one(certifier, crossing, usual):
                    if number == 0 and not self.named and self.size > SOME:
                        break  # perhaps it is the line
                    return crossing
                crossing = certifier.cross(line, self.most, crossing.step)
            certifier.crossings.append(crossing)
            step = crossing.step if step is None else min(step, crossing.step)
            if number == 1 and self.size <= SOME and not np.isfinite(certifier.within()).all():
                break  # then the axes may tell more
        return None

    def _another_round(self, certifier: Certifier) -> bool:
        """Move only what is not vouched for, if another round of lines serves it best."""
        if certifier.claims.matrix is None or self.probe.mix is not None or self.size <= SOME:
            return False
        before = certifier.moves.sum() if certifier.moves is not None else self.size
        count, _ = certifier.not_vouched(0)
        lines = LINES + FIRST_TRIES - 1
        limit = self.most if self.limited else min(self.most, USUAL)
        gained = count <= FEWER * before or not certifier.rounds
        if count <= lines or not gained or self.probe.evaluations + EACH * lines > limit:
            return False
        certifier.narrow()
        return True

    def _hold_still(self, certifier: Certifier, crossing: Crossing, usual: float) -> bool:
        """Look at a coordinate with a kink by itself, and hold it still along all lines."""
        halvings = EACH * math.ceil(math.log2(self.size))
        if len(certifier.still) == NAMED or self.probe.evaluations + halvings > usual / 2:
            return False
        entry = self._look(halve_kink(certifier, crossing, self.most))
        self.entries.append(entry)
        certifier.hold_still(entry.rows)
        return True

    def _name_one(self, certifier: Certifier, crossing: Crossing, usual: float) -> bool:
        """Find a wrong entry along a line that refuses, and put its claim right from here on."""
        halvings = EACH * math.ceil(math.log2(self.size))
        if len(self.named) == NAMED or (
            self.named and self.probe.evaluations + halvings + 2 * EACH > usual
        ):
            return False
        entry = self._look(halve(certifier, crossing, self.most))
        self.entries.append(entry)
        wrong = (entry.ruling.verdict == FAIL).any(axis=1)
        if not wrong.any() or np.isin(entry.rows[wrong], self.named).all():
            return False
        for row, excess in zip(entry.rows, entry.claimed - entry.chosen.slope, strict=True):
            certifier.excess[int(row)] = np.where(np.isfinite(excess), excess, 0.0)
        self.named += [int(row) for row in entry.rows[wrong]]
        return True

    def _look_at_the_rest(self, certifier: Certifier) -> Seen:
        """Look at the entries that were found wrong, and at those the lines do not vouch for."""
        # Some entries take more than one step.
        affordable = int(max(0, self.most - self.probe.evaluations) / (1.5 * EACH))
        count, rows = certifier.not_vouched(affordable)
        if self.size <= SOME and not self.limited and (count or self.named):
            return self._seen(self._every_axis())
        if count > affordable and not self.asked:
            rows = rows[:0]  # a few of many tell nothing of the others
        looked = self._look_also(rows)
        seen = self._seen(looked)
        done = int(np.count_nonzero(looked.reached)) if looked.rows.size else 0
        vouched = self.size - len(certifier.excess) - len(certifier.still) - count
        seen.certificate = certifier.certificate(done, vouched, self.asked)
        return seen

    def _many_are_wrong(self, certifier: Certifier, crossing: Crossing) -> Seen:
        """Look for examples of what a line refuses; without one, say how far it was held."""
        looked = self._examples(certifier)
        certifier.crossings.append(crossing)
        return self._as_far_as_seen(certifier, looked)

    def _as_far_as_seen(self, certifier: Certifier, looked: Looked) -> Seen:
        """Say how far the others were held, where no example shows what is wrong."""
        if (looked.ruling.verdict == FAIL).any() or looked.reached.sum() == self.size:
            return self._seen(looked)
        held = certifier.certificate(int(looked.reached.sum()), 0, asked=True)
        return self._seen(looked, held)

    def _examples(self, certifier: Certifier) -> Looked:
        """Look at some entries of every input in which something is wrong; at all, if few."""
        if self.size <= SOME and not self.limited:
            return self._every_axis()
        parts = [part for part in self.probe.inputs.parts.values() if part.size]
        wrong = []
        for part in parts if len(parts) > 1 and not self.claims.unusable else ():
            line = certifier.line(0).over(part.start, part.start + part.size)
            if self.probe.evaluations + EACH > self.most:
                break
            if certifier.cross(line, self.most).refused.any():
                wrong.append(part)
        wrong = wrong or parts
        affordable = int(max(0, self.most - self.probe.evaluations) // (2 * EACH))
        each = max(1, min(EXAMPLES, (affordable - len(self.named)) // len(wrong)))
        rng = np.random.default_rng(self.seed)
        rows = [np.array(self.named, int)]
        for part in wrong:
            rows.append(part.start + rng.choice(part.size, min(each, part.size), replace=False))
        return self._look_also(np.concatenate(rows))

    # --- which output ---------------------------------------------------------------------------

    def _with_outputs(self, looked: Looked, certificate: Certificate | None) -> Seen | None:
        """Say which outputs are wrong, where combinations of them are; None if none is."""
        (probe, noise), vjp = self.single, self.claims.vjp  # type: ignore[attr-defined]
        columns = set()
        rows = looked.rows[(looked.ruling.verdict == FAIL).any(axis=1)][:NAMED]
        quiet = Claims(probe)
        for row in rows.tolist():
            if probe.evaluations + 2 * EACH > self.most:
                break
            step = looked.chosen.step[looked.rows == row].min(initial=np.inf, axis=1)
            axis = Axis(probe.inputs, row)
            numeric = ask_witnesses(probe, noise, [axis], step, self.tick).slope[0]

            def asked(upstream: Array, row: int = row) -> float:
                return float(pulled(probe, quiet, vjp, upstream)[row])

            columns.add(halve_outputs(asked, np.nan_to_num(numeric)))
        if not columns:
            return None
        chosen = np.array(sorted(columns))
        by_itself = np.zeros((len(chosen), probe.here.size))
        by_itself[np.arange(len(chosen)), chosen] = 1.0
        several = probe.combined(by_itself)
        claims = Vjps(several, vjp)
        claims.faults += self.claims.faults
        tolerance = Tolerance(
            probe.inputs, probe.outputs, len(chosen), self.tolerance.rtol, self.tolerance.atol
        )
        found = look(
            several,
            noise.combined(several),
            tolerance,
            rows,
            claims.rows(rows),
            self.most,
            self.tick,
        )
        outputs = []
        for part in probe.outputs.parts.values():
            mine = np.flatnonzero((chosen >= part.start) & (chosen < part.start + part.size))
            if mine.size:
                stretch = slice(int(mine[0]), int(mine[-1]) + 1)
                outputs.append((part, stretch, chosen[stretch] - part.start))
        return Seen(found, certificate, outputs, claims)
