"""What each entry is allowed to be off by: atol + rtol times the numeric value.

Without an atol it goes by what the entries do to f. Entries down to a ten-thousandth of the largest
are held to rtol; smaller ones, and zeros that are zero but for rounding (some eps of the largest),
to what rtol is for an entry of that size. The largest is looked for among entries of one unit: that
of the gradient, or, where the coordinates have units of their own, of x times the gradient.
"""

from collections.abc import Iterator

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
from gradcheck_ref.structure import Inputs, Outputs

# A few hundred additions and products, each with its own rounding.
ROUNDING_LEFT = 256.0

# For each input: the largest slope, and the largest slope times x, by output.
Scale = dict[int, tuple[Array, Array]]


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
        none = np.zeros(columns)
        self.backdrop: Scale = {k: (none, none) for k in inputs.parts}

    def of(self, columns: int) -> "Tolerance":
        """Return the same tolerance for so many combinations of the outputs."""
        return Tolerance(self.inputs, self.outputs, columns, self.rtol, self.atol)

    @QUIETLY
    def scale(self, rows: Array, slopes: Array, bars: Array) -> Scale:
        """Return the scales of what is known of some rows, and of the backdrop."""
        slope = np.abs(slopes)
        # Infinity is no measure, nor is NaN.
        known = np.where((bars < slope / 2) & (slope < np.inf), slope, 0.0)
        effect = known * np.abs(self.inputs.x[rows])[:, None]
        scale: Scale = {}
        for k, own in self._by_input(rows):
            largest, most = self.backdrop[k]
            scale[k] = (
                np.fmax(largest, known[own].max(axis=0, initial=0.0)),
                np.fmax(most, effect[own].max(axis=0, initial=0.0)),
            )
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
        by_output, by_input = np.zeros(slopes.shape), np.zeros(slopes.shape)
        for k, own in self._by_input(rows):
            largest, most = scale[k]
            by_output[own] = np.fmin(largest, np.where(size[own] > 0, most / size[own], np.inf))
            for target in self.targets:
                by_input[own, target] = by_output[own, target].max(axis=1, initial=0.0)[:, None]
        least = ATOL_FRACTION * self.rtol * by_output
        # The rounding of f, and of its products, is that of all inputs: beside what any does to it.
        if not size.all():
            size = np.where(size > 0, size, Units(self.inputs).typical)
        beside = np.maximum.reduce([most for _, most in scale.values()]) / size
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
        return np.where(by_output <= rounding, np.maximum(least, rounding), least)

    def _by_input(self, rows: Array) -> Iterator[tuple[int, slice]]:
        """For each input, which of the rows, that ascend, are its own."""
        for k, part in self.inputs.parts.items():
            start, stop = rows.searchsorted((part.start, part.start + part.size)).tolist()
            yield k, slice(start, stop)
