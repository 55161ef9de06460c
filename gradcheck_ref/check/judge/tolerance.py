"""The allowed error of each entry: atol plus rtol times the numeric value.

The default atol depends on the effects of the entries on f. Entries down to 1/10000 of the largest
must agree to rtol. Smaller ones, and zeros that are zero except for rounding (some eps of the
largest), are allowed the error of an entry of that size. The largest is that of the gradient, or
of x times the gradient if the coordinates have different units.
"""

from itertools import pairwise

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.knobs import (
    ATOL_FRACTION,
    allowed_by_lines,
    default_rtol,
    least_visible,
)
from gradcheck_ref.check.measure.lines import Units
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs

# A few hundred additions and products, each with its own rounding.
ROUNDING_LEFT = 256.0


class Tolerance:
    """The tolerances, and the scale of the entries for the default atol.

    Parameters
    ----------
    inputs, outputs : Inputs, Outputs
        Entries of one input and one output coordinate have a common scale.
    columns : int
        Number of outputs that are judged.
    rtol : float or None
        The relative tolerance, or None for the default of the shortest dtype.
    atol : float or None
        The absolute tolerance, or None for a fraction of rtol times the scale.

    Attributes
    ----------
    blunt : float
        The same fraction for entries that agree within their error bar, if the bar is too long for
        the usual tolerance.
    by_lines : float
        Allowed error, as a fraction of a typical entry, if only lines have measured an entry.
    """

    def __init__(
        self, inputs: Inputs, outputs: Outputs, columns: int, rtol: float | None, atol: float | None
    ) -> None:
        eps = max(inputs.eps, float(outputs.eps.max(initial=0.0)))
        self.inputs, self.outputs, self.atol = inputs, outputs, atol
        self.rtol = default_rtol(eps) if rtol is None else rtol
        self.blunt, self.by_lines = least_visible(eps, self.rtol), allowed_by_lines(eps)
        whole = [part.stretch for part in outputs.parts.values()]
        # All combinations of outputs form one group.
        self.targets = whole if columns == outputs.size else [slice(0, columns)]
        self.edges = np.array([*inputs.starts, inputs.size])
        # The largest known slope, and the largest known slope times x, by input and output.
        self.backdrop = np.zeros((2, len(inputs.starts), columns))

    def of(self, columns: int) -> "Tolerance":
        """Return the same tolerance for this many combinations of the outputs."""
        return Tolerance(self.inputs, self.outputs, columns, self.rtol, self.atol)

    @QUIETLY
    def scale(self, rows: Array, slopes: Array, bars: Array) -> Array:
        """Return the scales from the known slopes of some ascending rows, and from the backdrop."""
        slope = np.abs(slopes)
        # Infinity and NaN give no scale.
        known = np.where((bars < slope / 2) & (slope < np.inf), slope, 0.0)
        both = np.array([known, known * np.abs(self.inputs.x[rows])[:, None]])
        scale = self.backdrop.copy()
        ends = rows.searchsorted(self.edges).tolist()
        for k, (start, stop) in enumerate(pairwise(ends)):
            scale[:, k] = np.fmax(scale[:, k], both[:, start:stop].max(axis=1, initial=0.0))
        return scale

    @QUIETLY
    def least(self, rows: Array, slopes: Array, bars: Array, claimed: Array, eps: Array) -> Array:
        """Return the allowed error besides rtol times the slope, (rows, outputs).

        Parameters
        ----------
        rows : ndarray of int
            Flat input coordinates.
        slopes, bars : ndarray, shape (rows, outputs)
            Their derivatives and error bars; NaN and inf where they are unknown.
        claimed : ndarray, shape (rows, outputs)
            The claims.
        eps : ndarray, shape (outputs,)
            The precision of the outputs.
        """
        if self.atol is not None:
            return np.full(slopes.shape, self.atol)
        size, scale = np.abs(self.inputs.x[rows])[:, None], self.scale(rows, slopes, bars)
        largest, most = scale[:, self.edges.searchsorted(rows, "right") - 1]
        by_output = np.fmin(largest, most / size)  # if x is zero, the largest
        by_input = np.empty(slopes.shape)
        for target in self.targets:
            by_input[:, target] = by_output[:, target].max(axis=1, initial=0.0, keepdims=True)
        least = ATOL_FRACTION * self.rtol * by_output
        # The rounding of f and of its products comes from all inputs: compare with the largest.
        if not size.all():
            size = np.where(size > 0, size, Units(self.inputs).typical)
        beside = scale[1].max(axis=0) / size
        beside = np.fmax(by_input, np.where(beside < np.inf, beside, 0.0))
        # If an output does not depend on an input, the product there may be only rounding.
        rounding = ROUNDING_LEFT * eps * beside
        # f shows only that the slope of a saturated unit is below rounding; in float32 that holds
        # for any small slope. A claim that agrees with that is compared with the largest slopes.
        in_short = self.blunt > ATOL_FRACTION
        off = np.abs(claimed - slopes)
        visible = bars + off if in_short else bars
        blunt = (off <= bars) & (visible > least + self.rtol * np.abs(slopes))
        if blunt.any():
            by_input = np.where(in_short | (by_input <= rounding), beside, by_input)
            least = np.where(blunt, self.blunt * self.rtol * by_input, least)
        return np.asarray(np.where(by_output <= rounding, np.maximum(least, rounding), least))
