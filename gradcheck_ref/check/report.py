"""What a check found: a verdict, the evidence for it, and the sentence that says so."""

import math
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck_ref.check.claims import Fault
from gradcheck_ref.check.search import FAIL, PASS
from gradcheck_ref.check.verdict import FAIL_BARS, SKIPPED, UNSURE, VERDICTS, Pair

if TYPE_CHECKING:
    from gradcheck_ref.check.diagnose import Diagnosis

# Of what `to_dict` returns: raised when the meaning of a key changes.
VERSION = 1

# More are a wall of numbers, and the first ten show the pattern if there is one.
ENTRIES_SHOWN = 10
NAMES_SHOWN = 4

# A line of prose longer than this is hard to read; one shorter cannot hold two numbers.
WIDEST, NARROWEST = 120, 40


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
        ``|analytic - numeric|``, what is allowed, and the one over the other.
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
    picture.

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
        Measured standard deviation of the noise of f, of its noisiest output.

    Examples
    --------
    >>> import numpy as np
    >>> from gradcheck_ref.check import check_gradient
    >>> x = np.array([0.5, 1.0, 2.0])
    >>> report = check_gradient(lambda x: np.sum(x**3), x, 3 * x**2)
    >>> bool(report), report.verdict, report.reason, report.compared
    (True, 'pass', 'ok', 3)
    >>> report = check_gradient(lambda x: np.sum(x**3), x, 3 * x)  # the square was forgotten
    >>> bool(report), report.verdict, report.reason
    (False, 'fail', 'wrong')
    >>> report.worst.name, report.worst.analytic, round(report.worst.numeric, 6)
    ('x[0]', 1.5, 0.75)
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
        return sum(_looked(pair) for pair in self.pairs if pair.analytic is not None)

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
        if not self.compared:
            return "empty"
        pair = self.worst_pair
        return str(pair.reason[pair.worst])

    @property
    def worst_pair(self) -> Pair:
        """The pair with the worst entry."""
        return next(pair for pair in self._ranked if pair.worst is not None)

    @property
    def worst(self) -> Entry | None:
        """The entry with the worst verdict and, among those, the largest ratio; None if empty."""
        for pair in self._ranked:
            if pair.worst is not None:
                return self.entry(pair, *pair.worst)
        return None

    @property
    def diagnoses(self) -> "tuple[Diagnosis, ...]":
        """What mistakes this looks like, the most likely first; empty unless the check failed."""
        from gradcheck_ref.check.diagnose import diagnose

        return diagnose(self.pairs, self.faults)

    def __bool__(self) -> bool:
        """Whether everything compared passed, and something was compared."""
        return self.verdict == "pass"

    def __repr__(self) -> str:
        """Show the first sentence: the arrays would fill the screen."""
        return f"<Report: {next(_sentences(self))}>"

    def __str__(self) -> str:
        """Say what was found, as wide as the terminal; see `text`."""
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Say what was found: the sentence first, then the likely mistake, then the worst entries.

        Parameters
        ----------
        width : int, optional
            Longest line, at least 40. By default that of the terminal, or 80 where there is none.

        Returns
        -------
        str
            One sentence for a pass. Otherwise also what it looks like and what to try; if more
            than one entry is concerned, the worst ten of them; and in the last line how it was
            found.

        Notes
        -----
        Cost: no evaluation of f.

        Numbers are written to the digits that the error bar allows.

        Examples
        --------
        >>> import numpy as np
        >>> from gradcheck_ref.check import check_gradient
        >>> print(check_gradient(lambda x: np.sum(x**2), np.ones(3), 2 * np.ones(3)).text(80))
        PASS  x: all 3 entries agree, using less than 1 % of the allowed error (26
              evaluations, seed 0)
        """
        width = _width(width)
        lines = [line for one in _sentences(self) for line in _wrapped(one, width)]
        if not self:
            listed = _worst_entries(self, width)
            lines += ["", *listed, ""] if listed else []
            lines += _wrapped(_how(self), width)
        return "\n".join(lines)

    def table(self, width: int | None = None) -> str:
        """Return a row of numbers for every input and output.

        Parameters
        ----------
        width : int, optional
            Longest line, at least 40. By default that of the terminal, or 80 where there is none.
            Where the table is wider, columns are left out; where that is not enough, they are
            stacked.

        Returns
        -------
        str
            The worst entry of each pair, the worst pair first: by verdict, then by ratio.
            ``error`` is ``|analytic - numeric|``, ``+-`` the error bar of numeric, ``ratio`` error
            over allowed; ``by`` the tolerance that gave the larger part
            of what is allowed; ``step`` the longest step behind the estimate.

        Notes
        -----
        Cost: no evaluation of f.

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
        38 evaluations, noise of f ...e-16, rtol 1e-6, atol by scale, seed 0
        """
        width = _width(width)
        rows = [self._row(pair) for pair in self._ranked]
        return "\n".join([*_grid(rows, width), *_wrapped(_how(self), width)])

    def to_dict(self, *, entries: bool = False) -> dict[str, Any]:
        """Return the report as plain data that ``json`` can write and read back unchanged.

        Parameters
        ----------
        entries : bool, default False
            Whether to add the numbers of all entries, not only of the worst.

        Returns
        -------
        dict
            Numbers that are not finite are the strings ``"nan"``, ``"inf"`` and ``"-inf"``, which
            ``float`` reads. ``version`` goes up when the meaning of a key changes. ``pairs`` is
            sorted as in `table`; with ``entries`` each has lists of rows, the flat real coordinates
            of the input, with a column for each of the output.

        Notes
        -----
        Cost: no evaluation of f.

        Examples
        --------
        >>> import json
        >>> import numpy as np
        >>> from gradcheck_ref.check import check_gradient
        >>> report = check_gradient(lambda x: np.sum(x**2), np.ones(3), 3 * np.ones(3))
        >>> data = json.loads(json.dumps(report.to_dict()))
        >>> data == report.to_dict(), data["version"], data["verdict"], data["worst"]["analytic"]
        (True, 1, 'fail', 3.0)
        """
        return {
            "version": VERSION,
            "verdict": self.verdict,
            "reason": self.reason,
            "compared": self.compared,
            "entries": self.entries,
            "evaluations": self.evaluations,
            "noise": _plain(self.noise),
            "seed": self.seed if isinstance(self.seed, int) else str(self.seed),
            "rtol": self.rtol,
            "atol": self.atol,
            "faults": [asdict(fault) for fault in self.faults],
            "diagnoses": [asdict(diagnosis) for diagnosis in self.diagnoses],
            "worst": _plain_entry(self.worst),
            "pairs": [self._pair_dict(pair, entries) for pair in self._ranked],
        }

    def plot(self, path: Any = None) -> Any:
        """Draw analytic against numeric, and how much of the allowed error is used.

        Parameters
        ----------
        path : str or path-like, optional
            Where to save the picture as well.

        Returns
        -------
        matplotlib.figure.Figure
            Analytic against numeric with error bars; for gradients of matrices and for Jacobians
            also a map of error over allowed error. It belongs to no window: save it, or display it
            in a notebook.

        Raises
        ------
        ImportError
            Without matplotlib, which comes with the extra ``plot``.

        Notes
        -----
        Cost: no evaluation of f.
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

    def _row(self, pair: Pair) -> "_Row":
        if pair.worst is None:
            return _Row.blank(
                self.title(pair), "no entries" if not pair.verdict.size else "skipped"
            )
        worst = self.entry(pair, *pair.worst)
        verdict = worst.verdict
        if verdict != "pass":
            same = np.count_nonzero(pair.verdict == pair.verdict[pair.worst])
            why = "" if worst.reason == "wrong" else f": {worst.reason}"
            verdict += f"{why} ({same}/{_looked(pair)})"
        return _Row.of(worst, verdict, comparable=pair.analytic is not None)

    def _pair_dict(self, pair: Pair, entries: bool) -> dict[str, Any]:
        data: dict[str, Any] = {
            "input": _plain_part(pair.input),
            "output": _plain_part(pair.output),
            "count": {
                verdict: int(np.count_nonzero(pair.verdict == code))
                for code, verdict in VERDICTS.items()
            },
            "worst": _plain_entry(self.entry(pair, *pair.worst)) if pair.worst else None,
        }
        if entries:
            arrays = {
                "analytic": pair.analytic,
                "numeric": pair.numeric,
                "bar": pair.error,
                "allowed": pair.allowed,
                "step": pair.step,
            }
            for name, array in arrays.items():
                data[name] = None if array is None else [[_plain(v) for v in row] for row in array]
            data["verdict"] = [[VERDICTS[code] for code in row] for row in pair.verdict.tolist()]
            data["reason"] = pair.reason.tolist()
        return data


def _looked(pair: Pair) -> int:
    return int(np.count_nonzero(pair.verdict != SKIPPED))


# --- plain data -------------------------------------------------------------------------------


def _plain(value: Any) -> float | str:
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _plain_entry(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {k: v if isinstance(v, str) else _plain(v) for k, v in asdict(entry).items()}


def _plain_part(part: Any) -> dict[str, Any]:
    return {"name": part.name, "shape": list(part.shape), "dtype": str(part.dtype)}


# --- sentences --------------------------------------------------------------------------------


def _sentences(report: Report) -> Iterator[str]:
    """Yield what there is to say, most important first; each becomes a paragraph."""
    if report.verdict == "pass":
        yield _passed(report)
    elif report.verdict == "fail":
        yield from _failed(report)
    elif not report.compared:
        yield from _empty(report)
    else:
        yield from _undecided(report)


def _passed(report: Report) -> str:
    names = _listed(dict.fromkeys(pair.input.name for pair in report.pairs if _looked(pair)))
    if report.compared == report.entries:
        count = f"all {report.entries} entries agree" if report.entries > 1 else "the entry agrees"
    else:
        count = f"{report.compared} of {report.entries} entries were compared, and agree"
    return (
        f"PASS  {names}: {count}, using {_share(report)} of the allowed error "
        f"({report.evaluations} evaluations, seed {report.seed})"
    )


def _share(report: Report) -> str:
    """How much of the allowed error is used at most, error bar included, in whole percents."""
    most = 0.0
    for pair in report.pairs:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (pair.difference + pair.error) / pair.allowed
        # Entries that are zero but for rounding passed as such, by no tolerance.
        by_tolerance = (pair.verdict == PASS) & (share <= 1)
        most = max(most, float(share[by_tolerance].max(initial=0.0)))
    return "less than 1 %" if most < 0.01 else f"at most {math.ceil(100 * most)} %"


def _failed(report: Report) -> Iterator[str]:
    head = "FAIL  "
    for fault in report.faults:
        yield head + fault.sentence
        head = "also: "
    numbers = [p for p in report._ranked if p.analytic is not None and (p.verdict == FAIL).any()]
    if numbers:
        yield ("" if report.faults else head) + _differs(report, numbers[0])
        yield from _others(report, numbers[0])
    elif report.compared and all(np.isin(p.verdict, (PASS, SKIPPED)).all() for p in report.pairs):
        yield f"apart from that, the numbers agree ({_entries(report.compared)})"
    yield from _guesses(report)


def _differs(report: Report, pair: Pair) -> str:
    """Say how many entries of a pair differ, and show the worst."""
    assert pair.worst is not None
    worst = report.entry(pair, *pair.worst)
    numbers = f"{_claim_and_estimate(worst)}, allowed {_short(worst.allowed)}"
    if pair.verdict.size == 1:
        return f"{worst.name}: {numbers}"
    name = worst.name
    if report._scalar and not pair.input.is_complex:
        name = "at " + name.removeprefix(pair.input.name)
    wrong = np.count_nonzero(pair.verdict == FAIL)
    count = f"{wrong} of {_entries(_looked(pair))} {'differs' if wrong == 1 else 'differ'}"
    return f"{report.title(pair)}: {count}; worst {name}: {numbers}"


def _others(report: Report, told: Pair) -> Iterator[str]:
    """Say in a line how the other pairs fared."""
    groups: dict[str, list[str]] = {"also wrong": [], "unsure": [], "right": []}
    for pair in report._ranked:
        if pair is told or pair.worst is None or pair.analytic is None:
            continue
        code = pair.verdict[pair.worst]
        count = f" ({np.count_nonzero(pair.verdict == code)} of {_looked(pair)})"
        if code == PASS:
            groups["right"].append(report.title(pair))
        else:
            kind = "also wrong" if code == FAIL else "unsure"
            groups[kind].append(report.title(pair) + count)
    said = [f"{kind}: {_listed(names)}" for kind, names in groups.items() if names]
    if said:
        yield "; ".join(said)


def _guesses(report: Report) -> Iterator[str]:
    """Say what mistake it looks like, the likeliest for each input."""
    # What a fault has told, or explains, is not guessed at again.
    told = {fault.reason for fault in report.faults}
    settled = {fault.subject for fault in report.faults if fault.reason == "ignores-input"}
    for pair in report._ranked:
        if (
            pair.input.name not in settled
            and (pair.reason[pair.verdict == FAIL] == "nonfinite").any()
        ):
            yield f"looks like: the claim for {pair.input.name} is not finite everywhere"
            yield "try: look for a division by 0, the logarithm of 0 or an overflow in its formula"
            settled.add(pair.input.name)
    several = len({pair.input.name for pair in report.pairs}) > 1
    for diagnosis in report.diagnoses:
        if diagnosis.kind in told or diagnosis.subject in settled:
            continue
        settled.add(diagnosis.subject)
        about = f"{diagnosis.subject}: " if several else ""
        yield f"looks like: {about}{diagnosis.sentence}"
        yield f"try: {diagnosis.advice}"


def _empty(report: Report) -> Iterator[str]:
    sizes = {part.name: part.size for pair in report.pairs for part in (pair.input, pair.output)}
    without = [name for name, size in sizes.items() if size == 0]
    why = f": {_listed(without)} {_has(len(without))} no entries" if without else ""
    yield f"UNSURE  nothing was compared{why}"
    yield "try: a point where every input and output has at least one entry"


def _undecided(report: Report) -> Iterator[str]:
    """For each reason, say what the evidence is and what to do; the worst entry is the example."""
    examples: dict[str, tuple[Pair, int, int]] = {}
    counts: dict[str, int] = {}
    for pair, row, column in _worst_of(report, UNSURE, None):
        reason = str(pair.reason[row, column])
        examples.setdefault(reason, (pair, row, column))
        counts[reason] = counts.get(reason, 0) + 1
    head = "UNSURE  "
    for reason, (pair, row, column) in examples.items():
        evidence, advice = _evidence(report, reason, pair, row, column)
        count = f"{counts[reason]} of {report.compared} entries {_be(counts[reason])}"
        yield f"{head}{count if report.compared > 1 else 'the only entry is'} {evidence}"
        yield f"try: {advice}"
        head = "also: "


def _evidence(report: Report, reason: str, pair: Pair, row: int, column: int) -> tuple[str, str]:
    """Complete the sentence *1 of 3 entries is ...*, and say what to do."""
    entry = report.entry(pair, row, column)
    moved = pair.input.entry(row)
    numbers = _claim_and_estimate(entry)
    visible = entry.allowed + FAIL_BARS * entry.bar
    hidden = (
        f"only an error above {_short(visible)} would show, and {_short(entry.allowed)} is allowed"
    )
    if reason == "kink" and not math.isfinite(entry.bar):
        return (
            f"at a jump of f, or where it is rough: at {entry.name} its slope does not settle",
            f"check at another point: move {moved} away from {float(pair.x[row]):.6g}",
        )
    if reason == "kink":
        low, high, claim = _decimals(
            [entry.numeric - entry.bar, entry.numeric + entry.bar, entry.analytic]
        )
        inside = entry.error <= entry.bar
        return (
            f"at a kink or jump of f, or at a bend too sharp to resolve: at {entry.name} the slope "
            f"goes from {low} on one side to {high} on the other, and analytic {claim} "
            + ("lies between" if inside else "is too close to them to be called wrong"),
            f"any slope between the two is a valid choice at a kink; to check the formula, move "
            f"{moved} away from {float(pair.x[row]):.6g}. If many entries are like this, is "
            "something in f rounded, or float32?",
        )
    if reason == "noise" and entry.error > visible:
        return (
            f"where f moves in another way from nearby than from afar: at {entry.name} {numbers} "
            "from nearby, but from afar analytic is as good",
            "look for something in f that is faster than its inputs, or rounded: a wave, a table, "
            "float32, a number written to few digits",
        )
    if reason == "noise":
        return (
            f"hidden by the noise of f, {_short(report.noise)}: "
            f"at {entry.name} {numbers}; {hidden}",
            "compute f in float64 throughout and without cancellation" + _wider(entry),
        )
    if reason == "nondeterministic":
        return (
            f"hidden because f returns other values when called again, by about "
            f"{_short(report.noise)}: at {entry.name} {numbers}; {hidden}",
            "seed the random numbers inside f, so that the same inputs give the same value",
        )
    if reason == "step-underflow":
        spacing = abs(float(np.spacing(pair.input.real_dtype.type(pair.x[row]))))
        return (
            f"out of reach: no step that is short enough moves {moved} = {float(pair.x[row]):.6g}, "
            f"whose neighbours in {pair.input.dtype} are {_short(spacing)} away",
            f"rescale {pair.input.name}, or check it at a smaller value",
        )
    if reason == "nonfinite":
        return (
            f"without meaning: {pair.output.entry(column)} is not finite at this point, and so has "
            "no slope",
            "look at f itself first: a division by 0, the logarithm of 0, an overflow?",
        )
    if math.isfinite(entry.numeric):
        return (
            f"at the edge of the domain of f: at {entry.name} f is finite on one side only, "
            f"and that gives {numbers}; {hidden}",
            f"move {moved} further inside the domain",
        )
    return (
        f"without a numeric value: at {entry.name} f is not finite at any step, or changes too "
        "wildly for all of them",
        f"look at f around {moved} = {float(pair.x[row]):.6g}: is it defined on both sides, and "
        "continuous?",
    )


def _wider(entry: Entry) -> str:
    """Name the tolerance that would let an entry pass, where one is worth having."""
    size = abs(entry.numeric)
    share = (entry.error + entry.bar) / size if size else math.inf
    if not share < 0.1:
        return ""
    power = 10.0 ** math.floor(math.log10(share))
    return f", or accept what can be seen, with rtol={_short(math.ceil(share / power) * power)}"


def _how(report: Report) -> str:
    """Say how it was found: what is needed to do it again."""
    atol = "by scale" if report.atol is None else _short(report.atol)
    compared = ""
    if report.compared < report.entries:
        compared = f"{report.compared} of {report.entries} entries compared, "
    return (
        f"{compared}{report.evaluations} evaluations, noise of f {_short(report.noise)}, "
        f"rtol {_short(report.rtol)}, atol {atol}, seed {report.seed}"
    )


def _entries(count: int) -> str:
    return f"{count} entr{'y' if count == 1 else 'ies'}"


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - NAMES_SHOWN
    if more > 1:
        names = [*names[:NAMES_SHOWN], f"{more} more"]
    return ", ".join(names)


# --- tables -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """The cells of one row, in the order of the columns."""

    entry: str
    error: str
    analytic: str
    numeric: str
    bar: str
    allowed: str
    ratio: str
    by: str
    step: str
    verdict: str

    @classmethod
    def of(cls, entry: Entry, verdict: str, *, comparable: bool = True) -> "_Row":
        """Write the numbers of an entry."""
        analytic, numeric = _alike(entry)
        return cls(
            entry=entry.name,
            error=_difference(entry) if comparable else "-",
            analytic=analytic if comparable else "-",
            numeric=numeric,
            bar=_short(entry.bar),
            allowed=_short(entry.allowed),
            ratio=_ratio(entry.ratio) if comparable else "-",
            by=entry.term,
            step=_short(entry.step),
            verdict=verdict,
        )

    @classmethod
    def blank(cls, name: str, verdict: str) -> "_Row":
        """Fill the row of a pair without entries."""
        return cls(name, "-", "-", "-", "-", "-", "-", "-", "-", verdict)


# Headings, and which columns go first where there is no room; the others stay.
_HEADINGS = ["entry", "error", "analytic", "numeric", "+-", "allowed", "ratio", "by"]
_HEADINGS += ["step", "verdict"]
_FIRST_TO_GO = ["step", "error", "by", "allowed", "+-"]


def _grid(rows: list[_Row], width: int) -> list[str]:
    """Align rows in columns; leave some out, or stack them, where they do not fit."""
    cells = [list(vars(row).values()) for row in rows]
    columns = {heading: [line[k] for line in cells] for k, heading in enumerate(_HEADINGS)}
    columns = {heading: column for heading, column in columns.items() if any(column)}
    everything = dict(columns)
    for heading in _FIRST_TO_GO:
        if _total(columns) > width:
            del columns[heading]
    if _total(columns) > width:
        return _stacked(everything, width)
    sizes = {heading: _size(heading, column) for heading, column in columns.items()}
    lines = []
    for line in [list(columns), *zip(*columns.values(), strict=True)]:
        aligned = [
            cell.ljust(size) if heading in ("entry", "verdict") else cell.rjust(size)
            for cell, (heading, size) in zip(line, sizes.items(), strict=True)
        ]
        lines.append("  ".join(aligned).rstrip())
    return lines


def _size(heading: str, column: list[str]) -> int:
    return max(len(cell) for cell in [heading, *column])


def _total(columns: dict[str, list[str]]) -> int:
    return sum(_size(*item) + 2 for item in columns.items()) - 2


def _stacked(columns: dict[str, list[str]], width: int) -> list[str]:
    lines = []
    first, *others = columns
    for k, name in enumerate(columns[first]):
        lines += _wrapped(name, width)
        lines += _wrapped("  " + ", ".join(f"{one} {columns[one][k]}" for one in others), width, 4)
    return lines


def _worst_of(report: Report, code: int, most: int | None) -> list[tuple[Pair, int, int]]:
    """Return the entries with this verdict as pair, row and column, the largest ratio first."""
    found: list[tuple[float, int, int]] = []
    for number, pair in enumerate(report.pairs):
        flat = np.flatnonzero(pair.verdict == code)
        ratio = pair.ratio.reshape(-1)[flat]
        ratio = np.where(np.isnan(ratio), np.inf, ratio)
        order = np.argsort(-ratio, kind="stable")[:most]
        found += [(-float(ratio[k]), number, int(flat[k])) for k in order]
    worst = []
    for _, number, flat_index in sorted(found)[:most]:
        pair = report.pairs[number]
        row, column = np.unravel_index(flat_index, pair.verdict.shape)
        worst.append((pair, int(row), int(column)))
    return worst


def _worst_entries(report: Report, width: int) -> list[str]:
    """Return the second part of a report: the worst entries and their number, if several."""
    code = FAIL if report.verdict == "fail" else UNSURE
    comparable = sum(
        np.count_nonzero(p.verdict == code) for p in report.pairs if p.analytic is not None
    )
    if comparable < 2:
        return []
    worst = [w for w in _worst_of(report, code, ENTRIES_SHOWN) if w[0].analytic is not None]
    found = [report.entry(*one) for one in worst]
    what = "differ" if code == FAIL else "are unsure"
    rest = comparable - len(found)
    head = f"the worst {len(found)} of {comparable} entries that {what}:" if rest else ""
    reasons = {entry.reason for entry in found}
    rows = [_Row.of(entry, entry.reason if len(reasons) > 1 else "") for entry in found]
    return [*(_wrapped(head, width) if head else []), *_grid(rows, width)]


# --- numbers and lines ------------------------------------------------------------------------


def _claim_and_estimate(entry: Entry) -> str:
    analytic, numeric = _alike(entry)
    return f"analytic {analytic}, numeric {numeric} +- {_short(entry.bar)}"


def _alike(entry: Entry) -> tuple[str, str]:
    """Write claim and estimate to the same place: enough to see them differ, no noise."""
    analytic, numeric, bar = entry.analytic, entry.numeric, entry.bar
    sizes = [abs(v) for v in (analytic, numeric) if math.isfinite(v) and v != 0]
    if len(sizes) == 2 and max(sizes) > 1e4 * min(sizes):  # no place serves both
        return _to_place(analytic, _last(sizes[:1])), _to_place(numeric, _last(sizes[1:], bar))
    last = _last(sizes, bar, 0.0 if entry.verdict == "pass" else entry.error)
    claimed = last
    if 0 < abs(analytic) < math.inf:  # the claim is exact: it shows a digit whatever the bar
        claimed = min(last, _place(abs(analytic)))
    return _to_place(analytic, claimed, sizes), _to_place(numeric, last, sizes)


def _last(sizes: list[float], bar: float = 0.0, difference: float = 0.0) -> int:
    """Return the last decimal place worth writing, as a power of ten."""
    if not sizes:
        return 0
    first = _place(max(sizes))
    last = first - 3
    if 0 < difference < math.inf:
        last = min(last, _place(difference) - 1)
    if 0 < bar < math.inf:
        last = max(last, min(_place(bar), first))
    return last


def _place(size: float) -> int:
    return math.floor(math.log10(size))


def _to_place(value: float, last: int, sizes: Iterable[float] = ()) -> str:
    """Write a number to a decimal place; in scientific notation where zeros would fill the line."""
    if not math.isfinite(value):
        return str(value)
    first = _place(max(sizes, default=0.0) or abs(value) or 1.0)
    if last <= 0 and -4 <= first <= 7:
        text = f"{value:.{-last}f}"
        return text.removeprefix("-") if float(text) == 0 else text
    if abs(value) < 10.0**last / 2:
        return "0"
    return _tidy(f"{value:.{max(0, _place(abs(value)) - last)}e}")


def _decimals(values: list[float]) -> list[str]:
    """Write numbers to the same place, three digits of the largest."""
    sizes = [abs(v) for v in values if math.isfinite(v) and v != 0]
    last = _place(max(sizes, default=1.0)) - 3
    return [_to_place(value, last, sizes) for value in values]


def _short(value: float, digits: int = 1) -> str:
    """Write a number to a digit or two, e.g. 3e-7, 0.02, 50."""
    if not math.isfinite(value):
        return str(float(value))
    rounded = float(f"{value:.{digits - 1}e}")
    if 10 <= abs(rounded) < 1e4:
        return f"{rounded:.0f}"
    form = "g" if rounded == 0 or abs(rounded) >= 0.01 else "e"
    return _tidy(f"{rounded:.{digits - (form == 'e')}{form}}")


def _difference(entry: Entry) -> str:
    """Write how much claim and estimate differ, as far as the estimate can tell."""
    return f"<{_short(entry.bar)}" if entry.error < entry.bar else _short(entry.error, 2)


def _ratio(value: float) -> str:
    """Write difference over allowed: nothing is told by how far below 1 it is."""
    if value < 0.01:
        return "<0.01"
    return f"{value:.2f}" if value < 100 else _tidy(f"{value:.1e}")


def _tidy(text: str) -> str:
    """Write exponents as people do: 3e-7 for 3e-07, 2.0e5 for 2.0e+05."""
    return re.sub(r"e([+-])0*(\d)", lambda m: "e" + m[1].replace("+", "") + m[2], text)


def _width(width: int | None) -> int:
    return max(NARROWEST, shutil.get_terminal_size((80, 24)).columns if width is None else width)


def _wrapped(text: str, width: int, indent: int = 6) -> list[str]:
    """Break prose into lines, but neither an index nor a number from its error bar."""
    together = r"\[[\d, ]+\]|\b(analytic|numeric|allowed|above) (?=[\d-])| \+- | %"
    text = re.sub(together, lambda m: m[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    lines = textwrap.wrap(
        text,
        min(width, WIDEST),
        subsequent_indent=" " * indent,
    )
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
