"""The allowed error of each entry: atol plus rtol times the numeric value.

The default atol depends on the effects of the entries on f. Entries down to 1/10000 of the largest
must agree to rtol. Smaller ones, and zeros that are zero except for rounding (some eps of the
largest), are allowed the error of an entry of that size. The largest is that of the gradient, or
of x times the gradient if the coordinates have different units.
"""

from itertools import pairwise

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.knobs import ATOL_FRACTION, least_visible
from gradcheck_ref.check.measure.noise import QUIETLY

# A few hundred additions and products, each with its own rounding.
ROUNDING_LEFT = 256.0

# But no rounding is as large as the gradient itself: at most this share, which float16 reaches.
MOST_ROUNDING = 0.25


def output_groups(question: Question) -> list[slice]:
    """Return the columns of each output; all combinations of outputs form one group."""
    columns, outputs = question.ask.here.size, question.ask.outputs
    whole = columns == outputs.size
    return [p.stretch for p in outputs.parts.values()] if whole else [slice(0, columns)]


@QUIETLY
def scale(question: Question, rows: Array, slopes: Array, bars: Array) -> Array:
    """Return the largest known slope, and the largest known slope times x, by input and output.

    ``rows`` are ascending. The largest slopes of the claims count, too, if the question has them.
    """
    inputs, slope = question.ask.inputs, np.abs(slopes)
    # Infinity and NaN give no scale.
    known = np.where((bars < slope / 2) & (slope < np.inf), slope, 0.0)
    both = np.array([known, known * np.abs(inputs.x[rows])[:, None]])
    ends = rows.searchsorted([*inputs.starts, inputs.size]).tolist()
    largest = [both[:, start:stop].max(axis=1, initial=0.0) for start, stop in pairwise(ends)]
    return np.asarray(np.fmax(np.swapaxes(largest, 0, 1), question.scale_of_claims))


@QUIETLY
def least(question: Question, rows: Array, slopes: Array, bars: Array, claimed: Array) -> Array:
    """Return the allowed error besides rtol times the slope, (rows, outputs).

    Parameters
    ----------
    question : Question
        The point and the tolerances. Entries of one input and one output have a common scale.
    rows : ndarray of int
        Flat input coordinates.
    slopes, bars : ndarray, shape (rows, outputs)
        Their derivatives and error bars; NaN and inf where they are unknown.
    claimed : ndarray, shape (rows, outputs)
        The claims.
    """
    if question.atol is not None:
        return np.full(slopes.shape, question.atol)
    inputs, rtol = question.ask.inputs, question.rtol
    size, scales = np.abs(inputs.x[rows])[:, None], scale(question, rows, slopes, bars)
    largest, most = scales[:, inputs.numbers_of(rows)]
    by_output = np.fmin(largest, most / size)  # if x is zero, the largest
    by_input = np.empty(slopes.shape)
    for target in output_groups(question):
        by_input[:, target] = by_output[:, target].max(axis=1, initial=0.0, keepdims=True)
    allowed = ATOL_FRACTION * rtol * by_output
    # The rounding of f and of its products comes from all inputs: compare with the largest.
    beside = scales[1].max(axis=0) / np.where(size > 0, size, inputs.typical)
    beside = np.fmax(by_input, np.where(beside < np.inf, beside, 0.0))
    # If an output does not depend on an input, the product there may be only rounding.
    rounding = np.fmin(ROUNDING_LEFT * question.noise.eps, MOST_ROUNDING) * beside
    # f shows only that the slope of a saturated unit is below rounding; in float32 that holds
    # for any small slope. A claim that agrees with that is compared with the largest slopes.
    if_invisible = least_visible(question.ask.precision, rtol)
    in_short = if_invisible > ATOL_FRACTION
    off = np.abs(claimed - slopes)
    visible = bars + off if in_short else bars
    invisible = (off <= bars) & (visible > allowed + rtol * np.abs(slopes))
    if invisible.any():
        by_input = np.where(in_short | (by_input <= rounding), beside, by_input)
        allowed = np.where(invisible, if_invisible * rtol * by_input, allowed)
    return np.asarray(np.where(by_output <= rounding, np.maximum(allowed, rounding), allowed))
