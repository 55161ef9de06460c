"""Looking at entries one by one, each on an axis of its own."""

from collections.abc import Sequence

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.case import Case
from gradcheck_ref.check.judge.pair import PASS, UNSURE
from gradcheck_ref.check.judge.rule import Lines, Ruling, best, reasons, rule, take, why_passed
from gradcheck_ref.check.judge.search import Search
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.witness import FLAT, NOTHING, Witness

# After more steps than this it is not for the evaluations that nothing was settled.
A_FEW = 2


class Looked:
    """What was found on some axes: rows are flat input coordinates, columns outputs.

    Parameters
    ----------
    case : Case
        What is judged.
    rows : ndarray of int
        The coordinates, ascending.
    claimed : ndarray, shape (rows, outputs)
        The claims.

    Attributes
    ----------
    witnesses : Witness
        All that was measured, (trials, rows, outputs).
    starved : ndarray of bool, shape (rows,)
        Where there were no evaluations left for a step that would have told more.
    ruling : Ruling
        The verdicts.
    """

    def __init__(self, case: Case, rows: Array, claimed: Array) -> None:
        self.case, self.probe = case, case.probe
        self.rows, self.claimed = rows, claimed
        self.witnesses: Witness
        self.starved: Array
        self.ruling: Ruling

    def judged(self, witnesses: Witness, own_rounding: Array | float = 0.0) -> Ruling:
        """Rule on witnesses, given what the claims themselves may be off by."""
        at = take(witnesses, best(witnesses))
        eps = self.probe.eps
        tolerance = self.case.tolerance
        least = tolerance.least(self.rows, at.slope, at.bar, self.claimed, eps)
        sizes = np.abs(self.probe.x[self.rows]).astype(float)
        stairs = self.probe.rounded | self.case.noise.on_a_tread(self.rows, at.slope)
        lines = Lines(sizes, eps, self.probe.here, tolerance.rtol, stairs)
        return rule(witnesses, self.claimed, least, lines, own_rounding)

    def excuse(self, own_rounding: Array) -> None:
        """Blame no claim that is off by no more than its own rounding."""
        self.ruling = self.judged(self.witnesses, own_rounding)

    def and_also(self, others: Sequence["Looked"]) -> "Looked":
        """Put what was found in several looks together, each coordinate once."""
        looks = [self, *others]
        rows, first = np.unique(np.concatenate([look.rows for look in looks]), return_index=True)
        claimed = np.concatenate([look.claimed for look in looks])[first]
        starved = np.concatenate([look.starved for look in looks])[first]
        ends = np.cumsum([0, *(look.rows.size for look in looks)])
        trials = max(len(look.witnesses.state) for look in looks)
        witnesses = Witness.none(trials, ends[-1], claimed.shape[1])
        for look, start, end in zip(looks, ends, ends[1:], strict=False):
            witnesses.put((slice(len(look.witnesses.state)), slice(start, end)), look.witnesses)
        witnesses = witnesses.at((slice(None), first))
        found = Looked(self.case, rows, claimed)
        found.witnesses, found.starved = witnesses, starved
        found.ruling = found.judged(witnesses)
        return found

    @property
    def chosen(self) -> Witness:
        """The witness that speaks for each verdict, (rows, outputs)."""
        return take(self.witnesses, self.ruling.chosen)

    @property
    def reached(self) -> Array:
        """Which of the coordinates there were evaluations for."""
        tried = self.witnesses.state != NOTHING
        return np.asarray(tried.any(axis=(0, 2)) | (tried.shape[2] == 0))

    @property
    def unmoved(self) -> Array:
        """Where f never moved."""
        still = (self.witnesses.state == FLAT).any(axis=0)
        return np.asarray(still & (self.chosen.state == FLAT) & ~self.witnesses.moved.any(axis=0))

    def reasons(self) -> Array:
        """Say why, for every entry."""
        if (self.ruling.verdict == PASS).all():
            return why_passed(self.ruling)
        restless = self.case.noise.restless
        stairs = self.probe.rounded | self.case.noise.on_a_tread(self.rows, self.chosen.slope)
        dtypes = self.case.tolerance.eps  # a float32 that is hidden inside f goes in stairs
        reason = reasons(self.ruling, self.witnesses, self.claimed, restless, stairs, dtypes)
        tried = np.count_nonzero(self.witnesses.state != NOTHING, axis=0)
        short = self.starved[:, None] & (tried <= A_FEW) & (self.ruling.verdict == UNSURE)
        reason[short] = "precision"
        return reason


def look(case: Case, rows: Array, claimed: Array) -> Looked:
    """Look at some coordinates on their axes; those that were reached come back.

    Parameters
    ----------
    case : Case
        Where f is called, and what is allowed.
    rows : ndarray of int
        Flat input coordinates, ascending.
    claimed : ndarray, shape (rows, outputs)
        What is claimed of them.
    """
    search = Search(case, [Axis(case.probe.units, i) for i in rows.tolist()])
    found = Looked(case, rows, claimed)
    found.ruling = search.gather(found.judged, claimed)
    found.witnesses, found.starved = search.witnesses, search.starved
    return found
