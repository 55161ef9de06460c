"""One input against one output: what was claimed, what was found, and the verdicts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.parts import Part

# Codes of the verdict on one entry.
PASS, UNSURE, FAIL = 0, 1, 2
VERDICTS = {PASS: "pass", UNSURE: "unsure", FAIL: "fail"}


@dataclass(frozen=True, eq=False)
class Pair:
    """One input against one output, for the entries that were looked at on axes of their own.

    Rows are flat real coordinates of the input, columns those of the output; a complex entry is
    two coordinates. For a scalar function there is one column, the gradient.

    Attributes
    ----------
    input, output : Part
        Names, shapes and dtypes; ``input.entry(rows[i])`` names row i.
    rows, columns : ndarray of int, shapes (rows,) and (columns,)
        Which coordinates of the input, and of the output, ascending: all of them, or some. The rows
        are the same for every output, and hold both coordinates of a complex entry.
    x : ndarray, shape (rows,)
        The point.
    claim : ndarray, shape (input.size, columns), or None
        All that is claimed, also of entries that were not looked at; None where that is not known.
    analytic : ndarray, shape (rows, columns), or None
        The claim; None if it could not be compared, for its shape or dtype.
    again : ndarray, shape (rows, columns), or None
        The claim when asked a second time, where that was done and differs; NaN elsewhere.
    raw : list of ndarray
        The claimed gradients as they came, one for each column.
    numeric, error, allowed, step : ndarray, shape (rows, columns)
        Estimate, its error bar, the allowed error, the longest step behind the estimate.
    verdict : ndarray of int, shape (rows, columns)
        A key of VERDICTS.
    reason : ndarray of str, shape (rows, columns)
        Why: ok, flat, wrong, kink, stairs, noise, zero, precision, step-underflow, domain-edge,
        nonfinite, nondeterministic, ignores-input, shape, dtype, structure.
    """

    input: Part
    output: Part
    rows: Array
    columns: Array
    x: Array
    claim: Array | None
    analytic: Array | None
    again: Array | None
    raw: list[Any]
    numeric: Array
    error: Array
    allowed: Array
    step: Array
    verdict: Array
    reason: Array

    @property
    def entries(self) -> int:
        """How many entries there are, looked at or not."""
        return self.input.size * self.output.size

    @property
    def difference(self) -> Array:
        """Absolute difference of claim and estimate."""
        if self.analytic is None:
            return np.full(self.numeric.shape, np.nan)
        return np.asarray(np.abs(self.analytic - self.numeric))

    @property
    def ratio(self) -> Array:
        """Difference over allowed error; 0 where both are 0."""
        difference = self.difference
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(difference == 0, 0.0, difference / self.allowed)

    @property
    def worst(self) -> tuple[int, int] | None:
        """Row and column, as numbers within this pair, of the worst verdict and largest ratio."""
        if not self.verdict.size:
            return None
        ratio = np.where(np.isnan(self.ratio), np.inf, self.ratio)
        flat = int(np.argmax(np.where(self.verdict == self.verdict.max(), ratio, -1.0)))
        row, column = np.unravel_index(flat, self.verdict.shape)
        return int(row), int(column)
