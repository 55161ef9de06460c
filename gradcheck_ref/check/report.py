"""What a check found: a verdict, the evidence for it, and the sentence that says so."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gradcheck_ref.check.claims import Fault
from gradcheck_ref.check.diagnose import Diagnosis, diagnose
from gradcheck_ref.check.lines import fitting, visible, wrapped
from gradcheck_ref.check.search import FAIL
from gradcheck_ref.check.sentences import how, sentences
from gradcheck_ref.check.structure import Part
from gradcheck_ref.check.table import grid, looked, pair_row, worst_rows
from gradcheck_ref.check.verdict import UNSURE, VERDICTS, Pair

# Of what `to_dict` returns: raised when the meaning of a key changes.
VERSION = 1


@dataclass(frozen=True)
class Entry:
    """One entry of a derivative: what was claimed, what was found, and the verdict.

    Attributes
    ----------
    name : str
        ``W[0, 2]``, or ``d output[1] / d W[0, 2]`` where f has several outputs.
    analytic : float
        The claim; NaN if it could not be compared.
    numeric, bar : float
        The estimate and its error bar.
    error, allowed, ratio : float
        ``|analytic - numeric|``, what is allowed, and the first over the second.
    term : str
        ``"rtol"`` or ``"atol"``, whichever gave the larger part of what is allowed.
    step : float
        The longest step behind the estimate.
    verdict, reason : str
        pass, fail, unsure or skipped, and why.
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
    """The outcome of a check; true only when everything compared passed.

    ``str(report)`` says it in words, `table` in numbers, `to_dict` for programs, `plot` in a
    picture. Cost: none of them calls f.

    Attributes
    ----------
    pairs : tuple of Pair
        For every input and output, the evidence entry by entry.
    faults : tuple of Fault
        What is wrong besides the numbers.
    rtol, atol : float, float or None
        The tolerances asked for.
    seed : int
        Of all randomness in the check.
    evaluations : int
        Calls of f made.
    noise : float
        Measured standard deviation of the noise of f, in its noisiest output.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.check import check_gradient
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> report = check_gradient(lambda x: np.sum(x**3), x, 3 * x**2)
    >>> bool(report), report.verdict, report.reason, report.compared
    (True, 'pass', 'ok', 3)
    >>> print(report.text(80))
    PASS  x: all 3 entries agree, using less than 1 % of the allowed error (27
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

    pairs: tuple[Pair, ...]
    faults: tuple[Fault, ...]
    rtol: float
    atol: float | None
    seed: int
    evaluations: int
    noise: float

    @property
    def compared(self) -> int:
        """How many entries were looked at and had something to be compared with."""
        return sum(looked(pair) for pair in self.pairs if pair.analytic is not None)

    @property
    def entries(self) -> int:
        """How many entries there are; a complex one counts as two, its real and imaginary part."""
        return sum(pair.verdict.size for pair in self.pairs)

    @property
    def verdict(self) -> str:
        """pass, fail or unsure."""
        verdicts = {code for pair in self.pairs for code in np.unique(pair.verdict).tolist()}
        if self.faults or FAIL in verdicts:
            return "fail"
        return "unsure" if UNSURE in verdicts or not self.compared else "pass"

    @property
    def reason(self) -> str:
        """Why: ok for a pass, else the reason of the first fault or of the worst entry."""
        if self.faults:
            return self.faults[0].reason
        return self.worst.reason if self.compared and self.worst else "empty"

    @property
    def worst_pair(self) -> Pair:
        """The pair with the worst entry."""
        return self._ranked[0]

    @property
    def worst(self) -> Entry | None:
        """The entry with the worst verdict and, among those, the largest ratio; None if empty."""
        pair = self.worst_pair
        return None if pair.worst is None else self.entry(pair, *pair.worst)

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """What mistakes this looks like, the most likely first; empty unless the check failed."""
        return diagnose(self.pairs, self.faults)

    def __bool__(self) -> bool:
        """Whether everything compared passed, and something was compared."""
        return self.verdict == "pass"

    def __repr__(self) -> str:
        """Show the first sentence: the arrays would fill the screen."""
        return f"<Report: {visible(next(sentences(self)))}>"

    def __str__(self) -> str:
        """Say what was found, as wide as the terminal; see `text`."""
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Say what was found: one sentence for a pass, else the likely mistake and the numbers too.

        Parameters
        ----------
        width : int, optional
            Longest line, at least 40. By default that of the terminal, or 80 where there is none.
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
            over allowed, ``by`` the tolerance that gave the larger part of what is allowed,
            ``step`` the longest step behind the estimate.

        Examples
        --------
        >>> import numpy as np
        >>> from gradcheck_ref.check import check_gradient
        >>> x = {"a": np.array([1.0, 2.0]), "b": np.array(3.0)}
        >>> grads = {"a": 3.0 * x["a"], "b": 2.0}  # 3 should be 2
        >>> report = check_gradient(lambda a, b: np.sum(a**2) + 2 * b, x, grads)
        >>> print(report.table(80))  # doctest: +ELLIPSIS +NORMALIZE_WHITESPACE
        entry   error   analytic  numeric      +-  allowed  ratio    by  step  verdict
        a[1]        2      6.000    4.000  ...e-12    4e-6  5.0e5  rtol  3e-3  fail (2/2)
        b      <...e-12    2.000    2.000  ...e-12    2e-6  <0.01  rtol  3e-3  pass
        39 evaluations, noise of f ...e-16, rtol 1e-6, atol by scale, seed 0
        """
        width = fitting(width)
        rows = [pair_row(self, pair) for pair in self._ranked]
        return "\n".join([*grid(rows, width), *wrapped(how(self), width)])

    def to_dict(self, *, entries: bool = False) -> dict[str, Any]:
        """Return the report as plain data that ``json`` can write and read back unchanged.

        Parameters
        ----------
        entries : bool, default False
            Whether to add the numbers of all entries, not only of the worst: for each pair lists of
            rows, the flat real coordinates of the input, with a column for each of the output.

        Returns
        -------
        dict
            Numbers that are not finite are the strings ``"nan"``, ``"inf"`` and ``"-inf"``, which
            ``float`` reads. ``version`` goes up when the meaning of a key changes.
        """
        data = {
            "version": VERSION,
            "verdict": self.verdict,
            "reason": self.reason,
            "compared": self.compared,
            "entries": self.entries,
            "evaluations": self.evaluations,
            "noise": self.noise,
            "seed": self.seed if isinstance(self.seed, int) else str(self.seed),
            "rtol": self.rtol,
            "atol": self.atol,
            "faults": [asdict(fault) for fault in self.faults],
            "diagnoses": [asdict(diagnosis) for diagnosis in self.diagnoses],
            "worst": asdict(self.worst) if self.worst else None,
            "pairs": [self._pair_data(pair, entries) for pair in self._ranked],
        }
        return {key: _plain(value) for key, value in data.items()}

    def plot(self, path: Any = None) -> Any:
        """Draw analytic against numeric, and maps of error over allowed error for matrices.

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
        from gradcheck_ref.check.plot import plot_report

        return plot_report(self, path)

    def entry(self, pair: Pair, row: int, column: int) -> Entry:
        """Return one entry of a pair by the numbers of its row and column."""
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
        """Name a pair: the input, and the output where there is a choice."""
        if self._scalar:
            return pair.input.name
        return f"d {pair.output.name} / d {pair.input.name}"

    def name(self, pair: Pair, row: int, column: int) -> str:
        """Name an entry: the input's, and the output's where there is a choice."""
        entry = pair.input.entry(row)
        return entry if self._scalar else f"d {pair.output.entry(column)} / d {entry}"

    @property
    def _scalar(self) -> bool:
        return all(pair.output.size == 1 for pair in self.pairs) and (
            len({pair.output.name for pair in self.pairs}) == 1
        )

    @property
    def _ranked(self) -> list[Pair]:
        """The pairs, the worst first: by verdict, then by ratio."""

        def badness(pair: Pair) -> tuple[int, float]:
            if pair.worst is None:
                return -1, 0.0
            ratio = float(pair.ratio[pair.worst])
            return int(pair.verdict[pair.worst]), math.inf if math.isnan(ratio) else ratio

        return sorted(self.pairs, key=badness, reverse=True)

    def _pair_data(self, pair: Pair, entries: bool) -> dict[str, Any]:
        counts = {verdict: int(np.sum(pair.verdict == code)) for code, verdict in VERDICTS.items()}
        data: dict[str, Any] = {
            "input": _part_data(pair.input),
            "output": _part_data(pair.output),
            "count": counts,
            "worst": asdict(self.entry(pair, *pair.worst)) if pair.worst else None,
        }
        if entries:
            data |= {
                "analytic": pair.analytic,
                "numeric": pair.numeric,
                "bar": pair.error,
                "allowed": pair.allowed,
                "step": pair.step,
                "verdict": [[VERDICTS[code] for code in row] for row in pair.verdict.tolist()],
                "reason": pair.reason,
            }
        return data


def _part_data(part: Part) -> dict[str, Any]:
    return {"name": part.name, "shape": part.shape, "dtype": str(part.dtype)}


def _plain(value: Any) -> Any:
    """Return only what JSON has a word for."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
