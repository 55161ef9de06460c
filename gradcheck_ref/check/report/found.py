"""The results of a check as data: the evidence, the conclusions from it, and the names."""

import math
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.claims import Fault
from gradcheck_ref.check.diagnose.audit import Planted
from gradcheck_ref.check.diagnose.blind import BlindSpot, blind_spots
from gradcheck_ref.check.diagnose.diagnose import Diagnosis, diagnose
from gradcheck_ref.check.judge.certificate import Certificate
from gradcheck_ref.check.judge.pair import FAIL, PASS, UNSURE, VERDICTS, Pair


@dataclass(frozen=True)
class Entry:
    """One entry of a derivative: the claim, the measurement, and the verdict.

    Attributes
    ----------
    name : str
        ``W[0, 2]``, or ``d output[1] / d W[0, 2]`` if f has several outputs.
    analytic : float
        The claim; NaN if it could not be compared.
    numeric, bar : float
        The estimate and its error bar.
    error, allowed, ratio : float
        ``|analytic - numeric|``, the allowed error, and the first over the second.
    term : str
        ``"rtol"`` or ``"atol"``: the larger part of the allowed error.
    step : float
        The longest step of the estimate.
    verdict, reason : str
        pass, fail or unsure, and the reason.
    """

    name: str
    analytic: float
    numeric: float
    bar: float
    error: float
    allowed: float
    ratio: float
    term: str
    step: float
    verdict: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """The results of a check; see `Report`, which adds text, table and plot, for the attributes."""

    pairs: tuple[Pair, ...]
    faults: tuple[Fault, ...]
    rtol: float
    atol: float | None
    seed: int
    evaluations: int
    noise: float
    certificate: Certificate | None = None
    notes: tuple[str, ...] = ()
    digits: int = 0
    point: Array | None = None
    planted: tuple[Planted, ...] = ()
    branches: bool = False

    @property
    def comparable(self) -> list[Pair]:
        """The pairs whose claims have the right shape and dtype."""
        return [pair for pair in self.pairs if pair.analytic is not None]

    @property
    def looked(self) -> int:
        """How many entries were compared one by one."""
        return sum(pair.verdict.size for pair in self.comparable)

    @property
    def compared(self) -> int:
        """How many entries were compared with their claims: one by one, or together by lines."""
        return self.looked + (self.certificate.entries if self.certificate else 0)

    @property
    def entries(self) -> int:
        """How many entries there are; a complex one counts twice, for real and imaginary part."""
        # If outputs are combined, pairs count the combinations, and lines count the outputs.
        return max(self.compared, sum(pair.entries for pair in self.pairs))

    @property
    def verdict(self) -> str:
        """pass, fail or unsure."""
        verdicts = {int(pair.verdict.max()) for pair in self.pairs if pair.verdict.size}
        if self.certificate:
            verdicts.add(self.certificate.verdict)
        if self.faults or FAIL in verdicts:
            return "fail"
        return "unsure" if UNSURE in verdicts or not self.compared else "pass"

    @property
    def reason(self) -> str:
        """The reason: ok for a pass, else that of the first fault or of the worst entry."""
        if self.faults or not self.compared:
            return self.faults[0].reason if self.faults else "empty"
        verdict, worst = self.verdict, self.worst
        if verdict == "pass":
            return "ok"
        # If no single entry has that verdict, the entries that lines measured have it.
        of_lines = "zero" if self.certificate and self.certificate.zero else "precision"
        return worst.reason if worst and worst.verdict == verdict else of_lines

    @property
    def worst(self) -> Entry | None:
        """The entry with the worst verdict and, among those, the largest ratio; None if empty."""
        pair = self.ranked[0]
        return None if pair.worst is None else self.entry(pair, *pair.worst)

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """The mistakes this looks like, the most likely first; empty unless the check failed."""
        held = self.certificate is not None and self.certificate.verdict == PASS
        return diagnose(self.pairs, self.faults, others_held=held)

    @property
    def blind_spots(self) -> tuple[BlindSpot, ...]:
        """The mistakes that no check can detect at this point; empty unless the check passed."""
        if self.point is None or not self:
            return ()
        return blind_spots(self.pairs, self.point, self.rtol, self.atol, self.branches)

    def share(self, pair: Pair, atol: float = 0.0) -> Array:
        """Return (error + bar - atol) / (allowed - atol) for every entry."""
        with np.errstate(divide="ignore", invalid="ignore"):
            used = (pair.difference + pair.error - atol) / (pair.allowed - atol)
        return np.asarray(used)

    def rtol_for(self, reasons: set[str]) -> float:
        """Return the rtol with which all entries with one of these reasons would pass."""
        most = 0.0
        for pair in self.pairs:  # the allowed error beyond atol is proportional to rtol
            needed = self.rtol * self.share(pair, self.atol or 0.0)
            most = max(most, float(needed[np.isin(pair.reason, [*reasons])].max(initial=0.0)))
        return most

    @property
    def rtol_for_all(self) -> float:
        """The rtol with which all failing entries, and all refused lines, would pass."""
        if any((pair.verdict[pair.reason != "wrong"] == FAIL).any() for pair in self.pairs):
            return math.inf
        held = self.certificate
        return max(self.rtol_for({"wrong"}), held.rtol if held and held.entries else 0.0)

    def __bool__(self) -> bool:
        """Whether at least one entry was compared and all passed."""
        return self.verdict == "pass"

    def entry(self, pair: Pair, row: int, column: int) -> Entry:
        """Return a measured entry, by its row and column in the pair."""
        at = row, column
        relative = self.rtol * abs(float(pair.numeric[at]))
        allowed = float(pair.allowed[at])
        return Entry(
            name=self.name(pair, row, column),
            analytic=math.nan if pair.analytic is None else float(pair.analytic[at]),
            numeric=float(pair.numeric[at]),
            bar=float(pair.error[at]),
            error=float(pair.difference[at]),
            allowed=allowed,
            ratio=float(pair.ratio[at]),
            term="rtol" if relative > allowed / 2 else "atol",
            step=float(pair.step[at]),
            verdict=VERDICTS[int(pair.verdict[at])],
            reason=str(pair.reason[at]),
        )

    def title(self, pair: Pair) -> str:
        """Name a pair: the input, and the output if f has several."""
        return self._of(pair.output.name, pair.input.name)

    def name(self, pair: Pair, row: int, column: int) -> str:
        """Name an entry: that of the input, and that of the output if f has several."""
        output = pair.output.entry(int(pair.columns[column]))
        return self._of(output, pair.input.entry(int(pair.rows[row])))

    def _of(self, output: str, name: str) -> str:
        return name if self.scalar else f"d {output} / d {name}"

    @property
    def scalar(self) -> bool:
        """Whether f has one output, so that it needs no name."""
        return all(pair.output.size == 1 for pair in self.pairs) and (
            len({pair.output.name for pair in self.pairs}) == 1
        )

    @property
    def ranked(self) -> list[Pair]:
        """The pairs, the worst first: by verdict, then by ratio."""

        def badness(pair: Pair) -> tuple[int, float]:
            if pair.worst is None:
                return -1, 0.0
            verdict, ratio = pair.verdict[pair.worst], pair.ratio[pair.worst]
            return int(verdict), float(np.nan_to_num(ratio, nan=np.inf))

        return sorted(self.pairs, key=badness, reverse=True)
