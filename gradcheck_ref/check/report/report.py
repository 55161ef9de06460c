"""The result of a check, for a reader: in words, in numbers, as plain data, in a picture."""

import json
import math
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.diagnose import Diagnosis, diagnose
from gradcheck_ref.check.hides.audit import Planted
from gradcheck_ref.check.hides.blind import BlindSpot, Viewpoint, blind_spots
from gradcheck_ref.check.report.plot import plot_report
from gradcheck_ref.check.report.sentences import hidden, how, sentences
from gradcheck_ref.check.report.table import grid, pair_row, worst_rows
from gradcheck_ref.check.report.text import fitting, visible, wrapped
from gradcheck_ref.check.report.wholes import in_the_table
from gradcheck_ref.check.results import FAIL, VERDICTS, Certificate, Fault, Pair, Results, Whole
from gradcheck_ref.structure.parts import Part


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
class Report:
    """The outcome of a check; true only if every comparison passed and there was one.

    ``str(report)`` is the report in words, `table` has the numbers, `to_dict` is for programs, and
    `plot` draws a picture. Cost: none of them calls f.

    Attributes
    ----------
    results : Results
        All numbers: `pairs`, `certificate` and `inputs`.
    pairs : tuple of Pair
        For every input and output, the evidence on the entries that were measured one by one.
    certificate : Certificate or None
        The limit from random lines for all other entries; None if every entry was measured alone.
    inputs : tuple of Whole
        For every input, how far its gradient is off as a whole. Where f has few digits, this
        decides; else it only informs. Empty if there was nothing to measure.
    faults : tuple of Fault
        Mistakes besides the numbers.
    rtol, atol : float, float or None
        The required tolerances.
    seed : int
        The seed of all random numbers in the check.
    evaluations : int
        The number of calls of f.
    noise : float
        Measured standard deviation of the noise of f, in its noisiest output.
    notes : tuple of str
        Other remarks, with any verdict: for example, outputs that were left out.
    digits : int
        The largest number of decimal digits in the values of f, if these are few, such as the 6 of
        C's ``%g``; 0 if there are as many as in a float64.
    viewpoint : Viewpoint or None
        The point of the check, and whether the code of f treats negative numbers differently.
    company : tuple of str
        The circumstances in which a vjp was asked again; empty if its numbers are not right.
    planted : tuple of Planted
        In ``pytest --gradcheck-audit``: wrong claims, and whether they would have passed, too.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.check import check_gradient
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> report = check_gradient(lambda x: np.sum(x**3), x, 3 * x**2)
    >>> bool(report), report.verdict, report.reason, report.compared
    (True, 'pass', 'ok', 3)
    >>> print(report.text(80))
    PASS  x: all 3 entries agree, using less than 1 % of the allowed error (30
          evaluations, seed 0)
    >>> report = check_gradient(lambda x: np.sum(x**3), x, 3 * x)  # the square was forgotten
    >>> bool(report), report.verdict, report.reason
    (False, 'fail', 'wrong')
    >>> report.worst.name, report.worst.analytic, round(report.worst.numeric, 6)
    ('x[0]', 1.5, 0.75)
    >>> data = report.to_dict()  # JSON gives it back unchanged
    >>> data["verdict"], data["worst"]["analytic"]
    ('fail', 1.5)
    """

    results: Results
    faults: tuple[Fault, ...]
    rtol: float
    atol: float | None
    seed: int
    evaluations: int
    noise: float
    notes: tuple[str, ...] = ()
    digits: int = 0
    viewpoint: Viewpoint | None = None
    planted: tuple[Planted, ...] = ()
    company: tuple[str, ...] = ()

    # --- what it is ---------------------------------------------------------------------------

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The evidence on single entries, by input and output."""
        return self.results.pairs

    @property
    def certificate(self) -> Certificate | None:
        """The limit from random lines for all other entries."""
        return self.results.certificate

    @property
    def inputs(self) -> tuple[Whole, ...]:
        """How far the gradient of each input is off as a whole."""
        return self.results.inputs

    @property
    def comparable(self) -> list[Pair]:
        """The pairs whose claims have the right shape and dtype."""
        return [pair for pair in self.pairs if pair.analytic is not None]

    @property
    def on_axes(self) -> int:
        """How many entries were compared one by one."""
        return sum(pair.verdict.size for pair in self.comparable)

    @property
    def compared(self) -> int:
        """How many entries were compared with their claims: one by one, or together by lines."""
        one_by_one = self.on_axes + (self.certificate.entries if self.certificate else 0)
        whole = sum(one.entries for one in self.inputs if one.verdict != "unsure")
        return max(one_by_one, whole)

    @property
    def entries(self) -> int:
        """How many entries there are; a complex one counts twice, for real and imaginary part."""
        # If outputs are combined, pairs count the combinations, and lines count the outputs.
        return max(self.compared, sum(pair.entries for pair in self.pairs))

    @property
    def verdict(self) -> str:
        """pass, fail or unsure."""
        if self.faults or any(one.code == FAIL for one in self.inputs):
            return "fail"
        codes = [pair.verdict.max(initial=0) for pair in self.pairs]
        worst = VERDICTS[max([*codes, self.certificate.verdict if self.certificate else 0])]
        return "unsure" if worst == "pass" and not self.compared else worst

    @property
    def reason(self) -> str:
        """The reason: ok for a pass, else that of the first fault or of the worst entry."""
        if self.faults or not self.compared:
            return self.faults[0].reason if self.faults else "empty"
        verdict, worst = self.verdict, self.worst
        if verdict == "pass":
            return "ok"
        if worst and worst.verdict == verdict:
            return worst.reason
        if verdict == "fail":  # of an input as a whole
            return "wrong"
        assert self.certificate is not None  # the entries that lines measured have that verdict
        return self.certificate.reason

    @property
    def by_whole(self) -> bool:
        """Whether some entries pass only because the gradient of their input does as a whole."""
        if any((pair.reason == "whole").any() for pair in self.pairs):
            return True
        lines = self.certificate
        return lines.reason == "whole" if lines else self.on_axes < self.compared

    @property
    def worst(self) -> Entry | None:
        """The entry with the worst verdict and, among those, the largest ratio; None if empty."""
        pair = self.ranked[0]
        return None if pair.worst is None else self.entry(pair, *pair.worst)

    @cached_property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """The mistakes this looks like, the most likely first; empty unless the check failed."""
        proved = self.certificate and VERDICTS[self.certificate.verdict] == "pass"
        return diagnose(self.results, self.faults, others_held=bool(proved))

    @property
    def blind_spots(self) -> tuple[BlindSpot, ...]:
        """The mistakes that no check can detect at this point; empty unless the check passed."""
        if self.viewpoint is None or not self:
            return ()
        return blind_spots(self.pairs, self.viewpoint, self.rtol, self.atol)

    @np.errstate(divide="ignore", invalid="ignore")
    def share(self, pair: Pair, atol: float = 0.0) -> Array:
        """Return (error + bar - atol) / (allowed - atol) for every entry."""
        return np.asarray((pair.difference + pair.error - atol) / (pair.allowed - atol))

    def rtol_for(self, reasons: set[str]) -> float:
        """Return the rtol with which all entries with one of these reasons would pass.

        It is infinite if rtol is 0, for then nothing tells what a larger one would allow.
        """
        most = 0.0 if self.rtol else math.inf
        for pair in self.pairs if self.rtol else ():
            # The allowed error beyond atol is proportional to rtol.
            needed = self.rtol * self.share(pair, self.atol or 0.0)
            most = max(most, float(needed[np.isin(pair.reason, [*reasons])].max(initial=0.0)))
        return most

    @property
    def rtol_for_all(self) -> float:
        """The rtol with which all failing entries, and all refused lines, would pass."""
        if any((pair.verdict[pair.reason != "wrong"] == FAIL).any() for pair in self.pairs):
            return math.inf
        lines = self.certificate
        return max(self.rtol_for({"wrong"}), lines.rtol if lines and lines.entries else 0.0)

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
        return [size for _, size in {(p.output.name, p.output.size) for p in self.pairs}] == [1]

    @property
    def ranked(self) -> list[Pair]:
        """The pairs, the worst first: by verdict, then by ratio."""

        def badness(pair: Pair) -> tuple[int, float]:
            if pair.worst is None:
                return -1, 0.0
            verdict, ratio = pair.verdict[pair.worst], pair.ratio[pair.worst]
            # Of ratios that are equal to two digits, the rounding of f makes one the largest.
            return int(verdict), float(f"{np.nan_to_num(ratio, nan=np.inf):.1e}")

        return sorted(self.pairs, key=badness, reverse=True)

    # --- how it is told ------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Return the first sentence only, because the arrays would fill the screen."""
        return f"<Report: {visible(next(sentences(self)))}>"

    def __str__(self) -> str:
        """Return the report in words, as wide as the terminal; see `text`."""
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Return the report in words; unless it is a pass, with the likely mistake and numbers.

        Parameters
        ----------
        width : int, optional
            Longest line, at least 40. By default that of the terminal, or 80 without a terminal.
        """
        width = fitting(width)
        lines = [line for sentence in sentences(self) for line in wrapped(sentence, width)]
        if not self:
            worst = worst_rows(self, width)
            lines += ["", *worst, ""] if worst else []
            lines += wrapped(how(self), width)
        return "\n".join(lines)

    def table(self, width: int | None = None) -> str:
        """Return the numbers of the worst entry for every input and output, the worst pair first.

        Parameters
        ----------
        width : int, optional
            As for `text`. A table that is too wide leaves out columns, then is stacked.

        Returns
        -------
        str
            ``error`` is ``|analytic - numeric|``, ``+-`` the error bar of numeric, ``ratio`` error
            over allowed, ``by`` the tolerance with the larger part of the allowed error, ``step``
            the longest step behind the estimate.

        Examples
        --------
        >>> import numpy as np
        >>> from gradcheck_ref.check import check_gradient
        >>> x = {"a": np.array([1.0, 2.0]), "b": np.array(3.0)}
        >>> grads = {"a": 3.0 * x["a"], "b": 2.0}  # 3 should be 2
        >>> report = check_gradient(lambda a, b: np.sum(a**2) + 2 * b, x, grads)
        >>> print(report.table(80))  # doctest: +ELLIPSIS +NORMALIZE_WHITESPACE
        entry   error   analytic  numeric      +-  allowed  ratio    by  step  verdict
        a[1]        2      6.000    4.000  ...e-1...  4e-6  5.0e5  rtol   0.7  fail (2/2)
        b      <...e-1...  2.000    2.000  ...e-1...  2e-6  <0.01  rtol     1  pass
        43 evaluations, noise of f ...e-1..., rtol 1e-6, atol by scale, seed 0
        """
        width = fitting(width)
        rows = [pair_row(self, pair) for pair in self.ranked]
        more = (*in_the_table(self), how(self), *hidden(self))
        said = [line for one in more for line in wrapped(one, width)]
        return "\n".join([*grid(rows, width), *said])

    def to_dict(self, *, entries: bool = False) -> dict[str, Any]:
        """Return the report as plain data that ``json`` can write and read back unchanged.

        Parameters
        ----------
        entries : bool, default False
            Whether to add the numbers of all entries that were measured alone, not only of the
            worst: for each pair ``rows``, flat real coordinates of the input, ``columns``, those of
            the output, and lists of rows with that many columns.

        Returns
        -------
        dict
            Numbers that are not finite are the strings ``"nan"``, ``"inf"`` and ``"-inf"``, which
            ``float`` reads. ``version`` goes up when the meaning of a key changes.
        """
        keys = "verdict reason compared entries evaluations noise digits seed rtol atol certificate"
        keys += " inputs faults notes company diagnoses blind_spots worst"
        data: dict[str, Any] = {"version": 1}  # raised when the meaning of a key changes
        data |= {key: getattr(self, key) for key in keys.split()}
        data["pairs"] = [self._pair_data(pair, entries) for pair in self.ranked]
        more = ({"verdict": one.verdict, "hidden": one.hidden} for one in self.inputs)
        data["inputs"] = [asdict(one) | of_it for one, of_it in zip(self.inputs, more, strict=True)]
        # Numbers that are not finite come back as text.
        text = json.dumps(data, default=_plain)
        data = json.loads(text, parse_constant=lambda number: str(float(number)))
        if self.certificate:
            data["certificate"]["verdict"] = VERDICTS[self.certificate.verdict]
        return data

    def plot(self, path: Any = None) -> Any:
        """Draw analytic against numeric, and maps of error over allowed error for matrices.

        A matrix has no map if only some of its entries were measured alone.

        Parameters
        ----------
        path : str or path-like, optional
            Where to save the picture as well.

        Returns
        -------
        matplotlib.figure.Figure
            It belongs to no window: save it, or display it in a notebook.

        Raises
        ------
        ImportError
            Without matplotlib, which comes with the extra ``plot``.
        """
        return plot_report(self, path)

    def _pair_data(self, pair: Pair, entries: bool) -> dict[str, Any]:
        data: dict[str, Any] = {
            "input": _part_data(pair.input),
            "output": _part_data(pair.output),
            "count": {name: np.sum(pair.verdict == code) for code, name in VERDICTS.items()},
            "worst": self.entry(pair, *pair.worst) if pair.worst else None,
        }
        if entries:
            names = "rows", "columns", "analytic", "numeric", "allowed", "step", "reason"
            data |= {name: getattr(pair, name) for name in names}
            data["bar"] = pair.error
            data["verdict"] = [[VERDICTS[code] for code in row] for row in pair.verdict.tolist()]
        return data


def _part_data(part: Part) -> dict[str, Any]:
    return {"name": part.name, "shape": part.shape, "dtype": str(part.dtype)}


def _plain(value: Any) -> Any:
    """Convert a value that JSON does not have."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    # item() of a longdouble is not a Python number
    return int(value) if isinstance(value, np.integer) else float(value)
