"""The table of mistakes: how people get a gradient wrong.

A row may have a repair, which the diagnosis applies to the claim and judges along the lines that
were measured; the mistake itself, which the audit of a test applies to a right claim; and what it
reads in place of an input, which shows if a point can reveal it. Pages and tests are made of it,
too.
"""

import numpy as np

from gradcheck_ref.check.mistakes import numbers, places
from gradcheck_ref.check.mistakes.gradient import Array, Mistake
from gradcheck_ref.check.mistakes.numbers import SLIGHT


def _rolled(x: Array) -> list[Array]:
    return [np.roll(x, 1, axis) for axis, length in enumerate(x.shape) if length > 1]


def _transposed(x: Array) -> list[Array]:
    square = x.ndim > 1 and x.shape[-1] == x.shape[-2] > 1
    return [np.swapaxes(x, -1, -2)] if square else []


# The kinds, and what the claim is. First come mistakes in all entries, then right numbers in other
# places, then mistakes in some entries, then those between calls. Some have no row below: they are
# known by the place of the wrong entries, or by the calls that give them.
KINDS = {
    "sign": "It is minus the right gradient.",
    "factor": "Every entry is the right one times one constant.",
    "zero": "It is zero everywhere.",
    "conjugate": "It is right except for a complex conjugate.",
    "phase": "The complex numbers have the right absolute values and the wrong phases.",
    "swapped": "The gradients of two inputs are in each other's place, or one is given twice.",
    "transposed": "It is the transpose of the right gradient.",
    "permuted": "The right numbers are in the wrong places: rolled, reversed or in another order.",
    "symmetric-part": "Its symmetric part is right, or both halves belong in one triangle.",
    "inner-factor": "Each entry is multiplied or divided by x, x squared, exp(x), another input, "
    "or by one number for each row.",
    "regulariser": "A multiple of x is missing, or there is one too many.",
    "constant-term": "Each entry, perhaps with the wrong sign, is off by one constant.",
    "mean-and-spread": "The error is a constant plus a multiple of x, as if mean and spread were "
    "constant.",
    "not-projected": "It is off by a multiple of x for each output.",
    "another-frame": "It is right if the two or three outputs of f are turned.",
    "nonfinite": "It is NaN or infinite, everywhere or at some entries, and no slope of f is.",
    "not-zero": "It is not zero where the slope is zero: at every entry, or at some.",
    "reshaped": "The right numbers are in another shape.",
    "missing-sum": "It has axes too many: summed or averaged over these it is right.",
    "extra-sum": "It is the right gradient, summed over axes that it should keep.",
    "single-entries": "One, two or three entries of many are wrong.",
    "some-entries": "Up to three entries of a short vector are wrong, or more by the same factor.",
    "row-or-column": "The wrong entries are one row, one column or one slice.",
    "mask": "Every entry is right or zero.",
    "counted-once": "The right entries are whole multiples of it, as if each use counted once.",
    "some-outputs": "It is wrong for a few outputs of f, and right for the others.",
    "local-derivative": "f acts on each entry alone: some slopes are wrong, and none is misplaced.",
    "upstream-ignored": "A vjp, or a term of it, does not depend on the upstream gradient.",
    "tangent-ignored": "A jvp does not depend on the tangent.",
    "accumulated": "It is right at the first call, and wrong at later ones.",
    "mutated": "The gradient, or f, overwrites its input.",
    "tolerance": "It is right, but f has the error of a solver that stops at a tolerance.",
    "noisy": "It is right except for noise, rounding or few digits.",
}

# Repairs are tried in this order, so a factor without a meaning comes after those that predict
# every number.
MISTAKES = [
    Mistake("sign", mend=numbers.sign, planted="the wrong sign", make=lambda right: -right.values),
    Mistake("sign", planted="the sign lost", make=numbers.sign_lost),
    Mistake("factor", mend=numbers.factor_with_a_meaning, planted="a factor of 2",
            make=lambda right: 2 * right.values),
    Mistake("factor", planted=SLIGHT, make=lambda right: 1.001 * right.values),
    Mistake("zero", planted="zeros", make=lambda right: 0 * right.values),
    Mistake("conjugate", mend=numbers.conjugate, planted="a conjugate", make=numbers.conjugated,
            read=lambda x: [np.conj(x)] if x.dtype.kind == "c" else [],
            question="whether {} must be conjugated in the gradient",
            reason="all its imaginary parts are 0"),
    Mistake("swapped", mend=places.swapped, reshape=places.swapped, moves=True,
            planted="the gradient of another input", make=places.of_another_input),
    Mistake("transposed", mend=places.transposed, reshape=places.axes_swapped, moves=True,
            planted="a transposition", make=places.last_axes_swapped, read=_transposed,
            question="whether {} must be transposed in the gradient", reason="it is symmetric"),
    Mistake("permuted", mend=places.moved, reshape=places.axes_in_another_order, moves=True,
            planted="slices moved by one", make=places.rolled, read=_rolled,
            question="whether each entry of {} is used in its own place",
            reason="its entries repeat along an axis"),
    Mistake("permuted", read=lambda x: [np.flip(x)] if x.size > 2 else [],
            question="whether {} must be reversed in the gradient",
            reason="it is the same when reversed"),
    Mistake("symmetric-part", mend=places.symmetric, moves=True),
    Mistake("inner-factor", mend=numbers.inner_factor, read=lambda x: [np.ones_like(x)],
            question="whether {} multiplies or divides the gradient",
            reason="all its entries are 1"),
    Mistake("factor", mend=numbers.of_another_function),
    Mistake("factor", mend=numbers.factor),
    Mistake("regulariser", mend=numbers.regulariser, read=lambda x: [2 * x], of_all=False,
            question="whether a multiple of {} is missing from the gradient, such as that of a "
            "penalty", reason="all its entries are 0"),
    Mistake("constant-term", mend=numbers.constant_term),
    Mistake("reshaped", reshape=places.reshaped),
    Mistake("missing-sum", reshape=places.not_summed),
    Mistake("single-entries", planted="one entry left at 0", make=numbers.one_entry_left_out),
]  # fmt: skip
