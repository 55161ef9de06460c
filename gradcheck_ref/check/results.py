"""The results of a check as data, and the codes of verdicts: what all rooms read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.parts import Part

# Codes of the verdict on one entry.
PASS, UNSURE, FAIL = 0, 1, 2
VERDICTS = {PASS: "pass", UNSURE: "unsure", FAIL: "fail"}

# A refusal takes three error bars, each of four standard deviations of noise, so that no gradient
# fails by chance. Half of an exact jump counts only once.
FAIL_BARS = 3.0

# Fewer random lines may miss a wrong entry with a probability above 1 %: too much for a pass, or to
# confirm a repair.
FEWEST_LINES = 7

# The subject of a fault begins like this if a product takes its arguments in another order. Then no
# mistake in its numbers is named.
ARGUMENTS = "arguments of "

# A repair is right as a whole if it leaves surely less than this part of the mistake, and of the
# gradient: one number that is fitted mends a part of any mistake.
REMAINDER = 0.3


class Stair(NamedTuple):
    """A stretch of one axis through x where f does not change, and the jump of f at its end.

    Attributes
    ----------
    name : str
        The entry that moves.
    x, start, end : float
        Its value, and the ends of the stair; infinite where f jumps at no point that was tried.
    jump : float
        The larger of the jumps at both ends.
    """

    name: str
    x: float
    start: float
    end: float
    jump: float

    @property
    def said(self) -> str:
        """Where the stair is, how long and how high, in words."""
        ends = [self._placed(end) for end in (self.start, self.end) if np.isfinite(end)]
        near, jumps = f"near {self.name} = {self.x:.4g}", f"jumps by {self.jump:.2g}"
        if len(ends) == 1:
            return f"f is flat {near}, as far as {ends[0]}, where it {jumps}"
        stair = f"from {ends[0]} to {ends[1]} is {self.end - self.start:.2g} long"
        return f"f is a staircase {near}: the stair {stair}, and f {jumps}"

    def _placed(self, end: float) -> str:
        """Write an end with the digits that are known: three of its distance from x."""
        place = 2 - np.floor(np.log10(abs(end - self.x)))
        return f"{round(end, int(place)) + 0.0:.6g}"


class Given(NamedTuple):
    """The part of a pair that a diagnosis reads besides the numbers.

    Attributes
    ----------
    x : ndarray, shape (rows,)
        The point, for the rows of the pair.
    claim : ndarray, shape (input.size, columns), or None
        The whole claim, also for entries that were not measured; None if it is not known.
    again : ndarray, shape (rows, columns), or None
        The claim at a second call, where there was one and it differs; NaN elsewhere.
    raw : list of ndarray
        The claimed gradients as they were returned, one for each column; None for each column of a
        whole Jacobian.
    jump : float
        The size of a jump of f near the point, where f itself is smooth; 0 if none was found.
    point : ndarray, shape (input.size,), or None
        The point, for all coordinates of the input.
    value : ndarray, shape (columns,)
        The values of f at the point.
    stair : Stair or None
        The stair of f that x lies on, along one axis of the input, where a claim fails, or is
        unsure because of stairs.
    """

    x: Array
    claim: Array | None
    again: Array | None
    raw: list[Any]
    jump: float = 0.0
    point: Array | None = None
    value: Array = np.zeros(0)
    stair: Stair | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """One input against one output, for the entries that were measured on their own axes.

    Rows are flat real coordinates of the input, and columns are those of the output. A complex
    entry is two coordinates. For a scalar function there is one column, the gradient.

    Attributes
    ----------
    input, output : Part
        Names, shapes and dtypes; ``input.entry(rows[i])`` names row i.
    rows, columns : ndarray of int, shapes (rows,) and (columns,)
        Which coordinates of the input, and of the output, in ascending order: all of them, or some.
        The rows are the same for every output, and hold both coordinates of a complex entry.
    analytic : ndarray, shape (rows, columns), or None
        The claim; None if its shape or dtype made a comparison impossible.
    numeric, error, allowed, step : ndarray, shape (rows, columns)
        The estimate, its error bar, the allowed error, and the longest step of the estimate.
    verdict : ndarray of int, shape (rows, columns)
        A key of VERDICTS.
    reason : ndarray of str, shape (rows, columns)
        The reason of the verdict: ok, flat, whole, wrong, kink, stairs, noise, zero, budget,
        step-underflow, domain-edge, isolated, nonfinite, nondeterministic, ignores-input, shape,
        dtype, structure. An entry with the reason whole could not be measured alone, and passes
        with the gradient of its input.
    given : Given
        The point, and more of the claim.
    """

    input: Part
    output: Part
    rows: Array
    columns: Array
    analytic: Array | None
    numeric: Array
    error: Array
    allowed: Array
    step: Array
    verdict: Array
    reason: Array
    given: Given

    @property
    def entries(self) -> int:
        """How many entries there are, measured alone or not."""
        return self.input.size * self.output.size

    @property
    def is_flat(self) -> bool:
        """Whether f does not change along any axis of the input; all were measured."""
        return self.reason.size == self.entries > 0 and bool((self.reason == "flat").all())

    @property
    def difference(self) -> Array:
        """Absolute difference of claim and estimate."""
        if self.analytic is None:
            return np.full(self.numeric.shape, np.nan)
        return np.asarray(np.abs(self.analytic - self.numeric))

    @property
    @np.errstate(divide="ignore", invalid="ignore")
    def ratio(self) -> Array:
        """Difference over allowed error; 0 where both are 0."""
        return np.where(self.difference == 0, 0.0, self.difference / self.allowed)

    @property
    def worst(self) -> tuple[int, int] | None:
        """Row and column, in this pair, of the entry with the worst verdict and largest ratio."""
        if not self.verdict.size:
            return None
        ratio = np.where(np.isnan(self.ratio), np.inf, self.ratio)
        flat = int(np.argmax(np.where(self.verdict == self.verdict.max(), ratio, -1.0)))
        row, column = np.unravel_index(flat, self.verdict.shape)
        return int(row), int(column)


@dataclass(frozen=True)
class Certificate:
    """A limit for the errors of the entries that were not measured on their own axis.

    Attributes
    ----------
    lines : int
        Number of random lines through x that were measured.
    upstreams : int
        How many random combinations of the outputs were used; 0 if each output was used alone.
    entries : int
        How many entries were measured by lines only.
    vouched : int
        How many of these are within their own allowed error.
    within : float
        No entry is off by more than this share of a typical one (the median of the entries' effects
        on f), for any pattern of errors.
    chance : float
        At most the probability, over the signs of all lines in all rounds, that they missed a
        larger error.
    rtol : float
        The relative tolerance at which all of them would be vouched for.
    verdict : int
        PASS if the entries keep the required tolerance, else UNSURE.
    reason : str
        ok for a pass, or whole, if the entries pass because the gradients of their inputs do as a
        whole; else the reason: zero, if slopes and claims along all lines are zero except
        for rounding, as at an optimum; kink, if f has one at x along a line; budget, if the
        evaluations ran out before there were enough lines; else precision.
    more : bool
        Whether the evaluations ran out, so that more of them may confirm more.
    against : tuple of float, or None
        The claim along the line that contradicts the claims most, the slope there, and its error
        bar; None if the claims fit along all lines.
    """

    lines: int
    upstreams: int
    entries: int
    vouched: int
    within: float
    chance: float
    rtol: float
    verdict: int
    reason: str = "precision"
    more: bool = False
    against: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Whole:
    """The error of the claimed gradient of one input as a whole: its length.

    Each entry counts by its effect on f: the derivative, times the unit of x. An input of f with
    several outputs has one error, for all of them.

    Attributes
    ----------
    error : float
        The length of the error, as a fraction of the length of the gradient; nan if nothing
        measured this input alone, as in a jvp of several inputs.
    spread : float
        The standard error of that number, with what may be truncation or kinks.
    limit : float
        The error is surely not larger: by the measured noise, and the number of lines. Infinite if
        that is not known.
    proved : float
        The error is not larger, except with a probability of 1/1000, for any pattern of errors.
    allowed : float
        The largest error that passes; of an input that was measured on all its axes, as much as its
        entries may be off.
    code : int
        PASS, UNSURE or FAIL.
    lines, upstreams : int
        How many lines, and random combinations of the outputs, measured it; 0 if axes did.
    name, entries : str, int
        The input, and how many entries it has, for all outputs.
    zero : bool
        Whether claim and slopes are 0 as far as f shows. Then all fractions are those of the
        gradient of another input: the smallest one of those that pass.
    """

    error: float
    spread: float
    limit: float
    proved: float
    allowed: float
    code: int
    lines: int = 0
    upstreams: int = 0
    name: str = ""
    entries: int = 0
    zero: bool = False

    @property
    def verdict(self) -> str:
        """pass, fail or unsure."""
        return VERDICTS[self.code]

    @property
    def hidden(self) -> float:
        """How many entries of typical size could be lost without a larger error than the limit."""
        return self.limit**2 * self.entries


class Along(NamedTuple):
    """The slopes along some lines over one input alone.

    Attributes
    ----------
    claims : ndarray, shape (size of all inputs, columns)
        The claims for all inputs. The columns are outputs, or combinations of them.
    lines : sequence of Line
        The lines: ``line.dot`` gives the slope along one for any claims.
    numeric, error, allowed : ndarray, shape (lines, columns)
        The slopes, their error bars, and the allowed errors.
    """

    claims: Array
    lines: Sequence[Any]
    numeric: Array
    error: Array
    allowed: Array


class Region(NamedTuple):
    """The entries of an input among which all wrong ones are: random lines confirm the others.

    Attributes
    ----------
    input : Part
        The input.
    entries : ndarray of bool, in the shape of the input
        Which ones.
    lines : int
        How many random lines over all others agree.
    """

    input: Part
    entries: Array
    lines: int

    @property
    def said(self) -> str:
        """By what the others are confirmed, in words."""
        return f"along {self.lines} random lines"


class Results(NamedTuple):
    """All results of a check, besides faults.

    Attributes
    ----------
    pairs, certificate, inputs : tuple of Pair, Certificate or None, tuple of Whole
        The entries that were measured alone, all others, and each input as a whole.
    along, looks : dict
        For wrong inputs, by name: lines over that input alone, and dithered lines (`Looks`) if it
        was judged as a whole. Repairs of the claims are judged along these.
    claims : ndarray or None
        The claims along the dithered lines, as in `Along`.
    regions : dict
        For some inputs with wrong entries, by name: the region where these are.
    accepted : float
        The smallest rtol, of one digit, that would give a pass where the check is unsure; else
        infinity.
    """

    pairs: tuple[Pair, ...]
    certificate: Certificate | None = None
    inputs: tuple[Whole, ...] = ()
    along: Mapping[str, Along] = {}
    looks: Mapping[str, Any] = {}
    claims: Array | None = None
    regions: Mapping[str, Region] = {}
    accepted: float = np.inf


@dataclass(frozen=True)
class Fault:
    """Something wrong that is not in the numbers: it fails the check for any entries.

    Attributes
    ----------
    reason : str
        mutated, nondeterministic, ignores-input, shape, dtype, structure or nonfinite; wrong, for
        products that are not adjoint; or company, for a vjp that is right alone.
    subject : str
        The name of the input or output, or ``"f"``, ``"vjp"``, ``"jvp"``, ``"grads"``
        (``"gradient"`` in the check of a command), or ``"arguments of vjp"``.
    sentence : str
        The problem, and what to do.
    """

    reason: str
    subject: str
    sentence: str
