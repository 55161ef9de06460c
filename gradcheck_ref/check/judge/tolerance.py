"""What each entry is allowed to be off by: atol + rtol times the numeric value.

Without an atol it goes by what the entries do to f. Entries down to a ten-thousandth of the largest
are held to rtol; smaller ones, and zeros that are zero but for rounding (some eps of the largest),
to what rtol is for an entry of that size. The largest is looked for among entries of one unit: that
of the gradient, or, where the coordinates have units of their own, of x times the gradient.
"""

from itertools import pairwise

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.knobs import (
    ATOL_FRACTION,
    default_rtol,
    least_visible,
    seen_by_lines,
)
from gradcheck_ref.check.measure.lines import Units
from gradcheck_ref.check.measure.noise import QUIETLY
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs

# A few hundred additions and products, each with its own rounding.
ROUNDING_LEFT = 256.0


class Tolerance:
    """The tolerances, and the scale of the entries that the default atol goes by.

    Parameters
    ----------
    inputs, outputs : Inputs, Outputs
        Entries of one input and one output coordinate have one scale.
    columns : int
        How many outputs are judged.
    rtol : float or None
        The relative tolerance, or None for that of the shortest dtype.
    atol : float or None
        The absolute one, or None for a fraction of rtol times the scale.

    Attributes
    ----------
    blunt : float
        That fraction for entries that agree as far as f shows them, which is less than allowed.
    by_lines : float
        What entries may be off by, as a share of a typical one, that only lines have seen.
    """

    def __init__(
        self, inputs: Inputs, outputs: Outputs, columns: int, rtol: float | None, atol: float | None
    ) -> None:
        eps = max(inputs.eps, float(outputs.eps.max(initial=0.0)))
        self.inputs, self.outputs, self.atol = inputs, outputs, atol
        self.rtol = default_rtol(eps) if rtol is None else rtol
        self.blunt, self.by_lines = least_visible(eps, self.rtol), seen_by_lines(eps)
        whole = [part.stretch for part in outputs.parts.values()]
        # Combinations of outputs belong together, whichever they are of.
        self.targets = whole if columns == outputs.size else [slice(0, columns)]
        self.edges = np.array([*inputs.starts, inputs.size])
        # The largest slope, and the largest slope times x, by input and output, of what is known.
        self.backdrop = np.zeros((2, len(inputs.starts), columns))

    def of(self, columns: int) -> "Tolerance":
        """Return the same tolerance for so many combinations of the outputs."""
        return Tolerance(self.inputs, self.outputs, columns, self.rtol, self.atol)

    @QUIETLY
    def scale(self, rows: Array, slopes: Array, bars: Array) -> Array:
        """Return the scales of what is known of some rows, that ascend, and of the backdrop."""
        slope = np.abs(slopes)
        # Infinity is no measure, nor is NaN.
        known = np.where((bars < slope / 2) & (slope < np.inf), slope, 0.0)
        both = np.array([known, known * np.abs(self.inputs.x[rows])[:, None]])
        scale = self.backdrop.copy()
        ends = rows.searchsorted(self.edges).tolist()
        for k, (start, stop) in enumerate(pairwise(ends)):
            scale[:, k] = np.fmax(scale[:, k], both[:, start:stop].max(axis=1, initial=0.0))
        return scale

    @QUIETLY
    def least(self, rows: Array, slopes: Array, bars: Array, claimed: Array, eps: Array) -> Array:
        """Return what is allowed besides rtol times the slope, (rows, outputs).

        Parameters
        ----------
        rows : ndarray of int
            Flat input coordinates.
        slopes, bars : ndarray, shape (rows, outputs)
            What is known of their derivatives; NaN and inf where nothing is.
        claimed : ndarray, shape (rows, outputs)
            The claims.
        eps : ndarray, shape (outputs,)
            The precision of the outputs.
        """
        if self.atol is not None:
            return np.full(slopes.shape, self.atol)
        size, scale = np.abs(self.inputs.x[rows])[:, None], self.scale(rows, slopes, bars)
        largest, most = scale[:, self.edges.searchsorted(rows, "right") - 1]
        by_output = np.fmin(largest, most / size)  # of a zero the largest
        by_input = np.empty(slopes.shape)
        for target in self.targets:
            by_input[:, target] = by_output[:, target].max(axis=1, initial=0.0, keepdims=True)
        least = ATOL_FRACTION * self.rtol * by_output
        # The rounding of f, and of its products, is that of all inputs: beside what any does to it.
        if not size.all():
            size = np.where(size > 0, size, Units(self.inputs).typical)
        beside = scale[1].max(axis=0) / size
        beside = np.fmax(by_input, np.where(beside < np.inf, beside, 0.0))
        # Where an output does not depend on an input, a product may leave the rounding of its work.
        rounding = ROUNDING_LEFT * eps * beside
        # f tells nothing of a saturated unit but that its slope is below rounding, and in float32
        # little of any small slope. A claim that agrees with that much is measured beside the
        # slopes of the other units.
        in_short = self.blunt > ATOL_FRACTION
        off = np.abs(claimed - slopes)
        visible = bars + off if in_short else bars
        blunt = (off <= bars) & (visible > least + self.rtol * np.abs(slopes))
        if blunt.any():
            by_input = np.where(in_short | (by_input <= rounding), beside, by_input)
            least = np.where(blunt, self.blunt * self.rtol * by_input, least)
        return np.asarray(np.where(by_output <= rounding, np.maximum(least, rounding), least))
