"""The zoo: right gradients and wrong ones, side by side.

A `Case` is a function, a point, the right gradient there, and the wrong ones (`Bug`) that people
write. In the source the function and its gradients are next to each other, and the modules are
meant to be read. The cases judge checkers, here and elsewhere. Nothing in this package uses a
checker: it needs only NumPy and the standard library. Small helpers (the sigmoid, the softmax of
rows) are repeated and not shared, so that you can read each module alone.

In the source a case is a list of rows, after its functions ``f`` and ``vjp``. Two rows describe a
bug: ``.bug`` gives its name and why people write it, ``.wrong`` gives its kind, its diagnosis and
the wrong gradient. If that is the right one, but negated, doubled or zero, ``.by`` says so, or
``.changed`` in one row. ``part`` is the number of the input whose gradient is wrong, if the others
are right. The words for tags and diagnoses are below.

`all_cases` builds every case again, so that bugs with a state start fresh.

**Contract.** ``f(*inputs)`` returns a number, an array or a tuple of them. ``vjp(u, *inputs)``
returns the gradient of sum(u f): one array for one input, a tuple for several, with ``None`` for an
integer input. ``u``, the upstream gradient, has the shape of the output. For complex numbers the
gradient of a real L is dL/dx + i dL/dy, and dL = Re(sum(conj(u) df)).

**Topics** (tags): ``elementwise``, ``loss``, ``normalisation``, ``linear-algebra``,
``convolution``, ``attention``, ``recurrent``, ``network``, ``complex``. Every case has one.

**Difficulties** (tags). Every case has at least one:

``smooth``
    smooth around the point, and computed in float64 without loss: a checker has no excuse.
``kink``
    the point is at a kink; the right gradient is one of several.
``tie``
    more than one entry has the maximum (always also ``kink``).
``near-kink``
    a kink is closer than the length of an ordinary step.
``jump``
    a discontinuity is at the point or closer than an ordinary step.
``float32``
    computed in float32 inside, although it takes and returns float64.
``noise``
    the value has more noise than rounding.
``domain-edge``
    close to the edge of the domain, or to a point of infinite curvature.
``tiny``, ``huge``
    the values are tiny or huge.
``offset``
    a large constant is added to the interesting part.
``small-x``, ``large-x``
    the inputs are much smaller or larger than 1.
``fast``
    oscillates within an ordinary step.
``zero-gradient``
    some gradient is exactly zero, and this is right.
``mixed-magnitudes``
    entries of one gradient differ by many powers of ten.

**Diagnoses.** The answer of a careful analyst about the wrong input, from only the claimed and the
true Jacobian (for one number: the gradient):

``sign``
    minus the truth.
``factor``
    every entry is the truth times one constant.
``inner-factor``
    the truth times x, the square of x, exp(x) or another input, or divided by it.
``zero``
    only zeros.
``transposed``
    the transpose of the truth: of the gradient of a matrix, or of a square Jacobian.
``permuted``
    the right numbers in the wrong places: rolled, reversed or permuted along an axis.
``missing-sum``
    the shape is wrong; the sum over the extra axes would be right.
``single-entries``
    one or two entries of the input are wrong.
``row-or-column``
    all wrong entries are at one index of one axis of the input.
``mask``
    right at some entries, zero at the others.
``conjugate``
    right except for a complex conjugate.
``accumulated``
    right at the first call, wrong at later ones.
``regulariser``
    the difference is a multiple of the input itself.
``mutated``
    the inputs are written to.
``local-derivative``
    no derivative, but the output, the input or the upstream itself, entry by entry.
``noisy``
    right except for noise.
``unknown``
    none of these, or a different one for each input.

If several fit, the first in this order counts: mutated, accumulated, missing-sum, zero, sign,
factor, inner-factor, transposed, conjugate, permuted, regulariser, row-or-column, single-entries,
mask, local-derivative, noisy.
Two numbers are equal if they differ by less than 1e-9 of the largest entry. So a gradient that is a
constant factor to only six digits is not ``factor`` but ``unknown``.
"""

from collections.abc import Iterator

from . import (
    attention,
    complex_valued,
    convolution,
    elementwise,
    hostile,
    linear_algebra,
    losses,
    networks,
    normalisation,
    recurrent,
)
from .case import Bug, Case
from .iris import load_iris

__all__ = ["Bug", "Case", "all_cases", "load_iris"]


def all_cases() -> Iterator[Case]:
    """Build every case of the zoo again, in a fixed order.

    Yields
    ------
    Case
        Hostile cases last.

    Examples
    --------
    >>> case = next(all_cases())
    >>> print(case.name, [bug.id for bug in case.bugs][0])
    square square/two-forgotten
    """
    makers = (
        *elementwise.CASES,
        *losses.CASES,
        *normalisation.CASES,
        *linear_algebra.CASES,
        *convolution.CASES,
        *attention.CASES,
        *recurrent.CASES,
        *networks.CASES,
        *complex_valued.CASES,
        *hostile.CASES,
    )
    for make in makers:
        yield make()
