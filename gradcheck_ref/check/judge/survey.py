"""Choose the lines to measure: every axis for few coordinates, random lines first for many.

A random line measures all coordinates at once. If it refuses its claim, it is halved down to a
single entry. That entry is measured on its axis, and so are entries that lines cannot confirm.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.claims import Claims
from gradcheck_ref.check.judge.certificate import LINES, Certifier
from gradcheck_ref.check.judge.localise import halve, halve_outputs, match, off_by_the_same
from gradcheck_ref.check.judge.settle import Case, Evidence
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import TABLE_POINTS
from gradcheck_ref.check.measure.witness import EACH, ask_witnesses
from gradcheck_ref.check.results import FAIL, Certificate
from gradcheck_ref.structure.parts import Part

# For up to 32 coordinates, axes cost no more than lines plus the axes that are needed after them.
# For up to 99, all axes are measured if lines leave a doubt.
FEW, SOME = 32, 99

# At most 40 evaluations for each coordinate, noise included, and 1000 for a check. For many
# coordinates that is less than central differences on every axis take.
MOST_EACH, MOST = 40, 1000

# About half of the entries that are measured on an axis need a second witness.
LOOKS = 1.5

# After a line that refuses, three more show if one entry is wrong or several. One is identified by
# its signs: a line for each bit of its number, plus four because one sign in ten may be wrong.
PEEK, SURPLUS = 3, 4

# If many entries are wrong, ten in each input are enough to recognize the pattern.
EXAMPLES = 10


def budget(size: int, max_evaluations: int | None) -> int:
    """Return how often f may be called for this many coordinates."""
    if max_evaluations is not None:
        return min(MOST_EACH * size, max_evaluations)
    return min(MOST_EACH * size if size <= SOME else 2 * size - 1, MOST)


def usual_cost(size: int) -> int:
    """Return how often f is called for this many coordinates if f is smooth and the claim right."""
    return 2 + (EACH * size if size <= FEW else TABLE_POINTS + EACH * LINES)


@dataclass
class Findings:
    """The results of a survey."""

    looked: Evidence  # the coordinates that had an axis of their own
    certificate: Certificate | None  # what lines prove about the others
    # The judged outputs: each with its columns in ``looked`` and their coordinates in the output;
    # and the claims about them.
    outputs: list[tuple[Part, slice, Array]]
    claims: Claims


class Survey:
    """Measures lines until the claims are settled, or the evaluations are used up.

    Parameters
    ----------
    case : Case
        The function, the point, the claims and the budget.
    single : Case
        The same for the outputs themselves, if ``case`` is for combinations of them.
    """

    def __init__(self, case: Case, single: Case) -> None:
        self.case, self.single, self.claims = case, single, case.claims
        self.probe, self.size = case.probe, case.size
        self.named: list[int] = []  # entries that were found wrong, or are not finite
        self.entries: list[Evidence] = []  # axes measured after lines were halved
        self.agreeing: list[Evidence] = []  # random lines that agree with the claims, by rounds

    def explore(self) -> Findings:
        """Measure the lines that give the most evidence, and return the results."""
        self.probe.try_many()  # now, so that its evaluations count before the rest is planned
        if not np.isfinite(self.probe.here).all():  # no line has a slope there
            return self._findings(self._examine(np.arange(min(self.size, FEW))))
        if self.size <= FEW:
            self._measure_noise_before(self.size)
            if self.size <= self.case.affordable:
                return self._findings(self._examine(np.arange(self.size)))
        # Lines leave enough evaluations for two witnesses of one entry.
        left = self.case.most - (0 if self.case.limited else 2 * EACH)
        certifier = Certifier(replace(self.case, most=left))
        self.named = certifier.not_finite(EXAMPLES)
        if not self.named:
            self._measure_noise_before(LINES)
        if not self.named and not self.claims.unusable and self._lines_agree(certifier):
            while self._another_round(certifier) and self._lines_agree(certifier):
                pass
            if not certifier.evidence.refused.any():
                return self._examine_the_rest(certifier)
        looked = self._examples(certifier)
        if (looked.ruling.verdict == FAIL).any() or looked.reached.sum() == self.size:
            return self._findings(looked)
        # No example shows the mistake: report how closely lines measured the others.
        return self._findings(
            looked, certifier.certificate(int(looked.reached.sum()), 0, demanded=True)
        )

    def _measure_noise_before(self, looks: int) -> None:
        """Measure the noise now if this many witnesses leave no evaluations for it later."""
        if self.case.affordable <= looks:
            self.case.noise.measure()

    def _findings(self, looked: Evidence, certificate: Certificate | None = None) -> Findings:
        outputs = list(self.probe.outputs.parts.values())
        if self.probe.mix is not None:
            findings = self._with_outputs(looked, certificate)
            if findings is not None:
                return findings
            count = len(self.probe.mix)
            outputs = [Part("combinations of outputs", (count,), np.dtype(float), 0)]
        named = [(part, part.stretch, np.arange(part.size)) for part in outputs]
        return Findings(looked, certificate, named, self.claims)

    def _examine(self, rows: Array) -> Evidence:
        """Measure some coordinates on their axes; for a complex entry both of its coordinates.

        Coordinates that were measured before are not measured again, but returned, too.
        """
        for part in self.probe.inputs.parts.values():
            if part.is_complex:
                inside = rows[(rows >= part.start) & (rows < part.start + part.size)]
                rows = np.append(rows, part.start + ((inside - part.start) ^ 1))
        known = {row for entry in self.entries for row in entry.rows.tolist()}
        new = sorted({row for row in rows.tolist() if row not in known})
        looked = self.case.axes(np.array(new, int)).settle()
        return looked.joined(self.entries) if self.entries else looked

    # --- all at once ------------------------------------------------------------------------------

    def _lines_agree(self, certifier: Certifier) -> bool:
        """Measure lines; tell whether all agree, after one wrong entry, if any, is corrected."""
        for count in (1, LINES):
            certifier.measure(count)
            first = certifier.evidence.best.bar[:1]
            if self.size <= SOME and not np.isfinite(first).all():
                break  # for so few coordinates axes are better than lines without a slope
            while certifier.evidence.refused.any():
                if self.size <= SOME or self.named or not self._find_wrong_entry(certifier):
                    return False
        return True

    def _another_round(self, certifier: Certifier) -> bool:
        """Prepare lines for the unconfirmed coordinates, if lines are cheaper than axes."""
        count, _ = certifier.unresolved(0)
        fewer = count < certifier.unresolved_before
        wanted = self.case.demanded or LOOKS * count <= self.case.affordable
        served = LOOKS * count > LINES and self.case.affordable > LINES
        if not certifier.entrywise or self.size <= SOME or not (fewer and wanted and served):
            return False
        self.agreeing.append(certifier.evidence)
        certifier.narrow()
        return True

    def _find_wrong_entry(self, certifier: Certifier) -> bool:
        """Find a wrong entry, and correct its claim along all lines; tell whether there is one."""
        if self.case.affordable < LINES:
            return False  # the evaluations left are worth more on axes
        certifier.measure(1 + PEEK)
        column, rows = off_by_the_same(certifier.evidence), np.zeros(0, int)
        if column is not None:
            certifier.measure(min(LINES, math.ceil(math.log2(self.size)) + SURPLUS))
            rows = match(certifier.evidence, column)[: self.case.affordable]
        return bool(rows.size and self._confirm(certifier, rows)) or self._confirm(
            certifier, halve(certifier)
        )

    def _confirm(self, certifier: Certifier, rows: Array) -> bool:
        """Measure suspects on their axes, and correct wrong claims; tell whether any is wrong."""
        self.entries, entry = [], self._examine(rows)
        self.entries.append(entry)
        wrong = (entry.ruling.verdict == FAIL).any(axis=1)
        if wrong.any():
            certifier.correct(entry.rows, entry.residual)
            self.named += entry.rows[wrong].tolist()
        return bool(wrong.any())

    def _examine_the_rest(self, certifier: Certifier) -> Findings:
        """Measure the entries that were found wrong, and those that lines do not confirm."""
        self.agreeing.append(certifier.evidence)
        affordable = int(self.case.affordable / LOOKS)
        count, rows = certifier.unresolved(affordable)
        if self.size <= SOME and not self.case.limited and (count or self.named):
            return self._findings(self._examine(np.arange(self.size)))
        if count > affordable and not self.case.demanded:
            rows = rows[:0]  # a few of many are no evidence about the others
        looked = self._examine(rows)
        findings = self._findings(looked)
        vouched = self.size - len(certifier.corrections) - count
        done = int(np.count_nonzero(looked.reached))
        findings.certificate = certifier.certificate(done, vouched, self.case.demanded)
        return findings

    def _examples(self, certifier: Certifier) -> Evidence:
        """Measure some entries of every input in which something is wrong, or all if few."""
        if self.size <= SOME and not self.case.limited:
            return self._examine(np.arange(self.size))
        parts = [part for part in self.probe.inputs.parts.values() if part.size]
        wrong = []
        for part in parts if len(parts) > 1 and not self.claims.unusable else ():
            line = certifier.line(0).over(part.start, part.start + part.size)
            if (
                self.case.affordable
                and certifier.evidence_along([line]).settle(tries=2).refused.any()
            ):
                wrong.append(part)
        wrong = wrong or parts
        each = min(EXAMPLES, (self.case.affordable // 2 - len(self.named)) // len(wrong))
        each = max(0 if self.named else 1, each)
        rng = np.random.default_rng(self.case.seed)
        rows = [np.array(self.named, int)]
        for part in wrong:
            rows.append(part.start + rng.choice(part.size, min(each, part.size), replace=False))
        return self._examine(np.concatenate(rows))

    # --- which output -----------------------------------------------------------------------------

    def _with_outputs(self, looked: Evidence, certificate: Certificate | None) -> Findings | None:
        """Find the wrong outputs if combinations of outputs are wrong; None if there is none."""
        probe = self.single.probe
        columns = set()
        rows = looked.rows[(looked.ruling.verdict == FAIL).any(axis=1)][:PEEK]
        for row in rows.tolist():
            if self.case.affordable < 2:
                break
            step = looked.best.step[looked.rows == row].min(initial=np.inf, axis=1)
            numeric = ask_witnesses(probe, self.single.noise, [Axis(probe.units, row)], step)

            def asked(upstream: Array, row: int = row) -> float:
                return float(self.claims.ask(upstream)[row])

            columns.add(halve_outputs(asked, np.nan_to_num(numeric.slope[0])))
        if not columns:
            return None
        chosen = np.array(sorted(columns))
        several = probe.combined(np.eye(probe.here.size)[chosen])
        claims = Claims(several, "vjp", self.claims.given, self.claims).fill()
        case = replace(
            self.single,
            probe=several,
            noise=self.single.noise.combined(several),
            claims=claims,
            tolerance=self.case.tolerance.of(len(chosen)),
        )
        found = case.axes(rows).settle()
        if not (found.ruling.verdict == FAIL).any():
            return None  # halving can go wrong if errors cancel: report the combinations instead
        outputs = []
        for part in probe.outputs.parts.values():
            mine = np.flatnonzero((chosen >= part.start) & (chosen < part.start + part.size))
            if mine.size:
                stretch = slice(int(mine[0]), int(mine[-1]) + 1)
                outputs.append((part, stretch, chosen[stretch] - part.start))
        return Findings(found, certificate, outputs, claims)
