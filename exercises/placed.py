"""Where an answer is wrong: in which rows, columns or other parts of it, and by which factor."""

from fractions import Fraction
from typing import Any

import numpy as np

# Relative: rounding moves a ratio by less, and two unrelated numbers seldom agree so far.
EXACT = 1e-9
MOST_OF = 1000  # a factor 1/n is named for up to so many examples or entries
MOST_SMALL = 4  # of both parts of another fraction, such as 2/3: others are accidents

MOST_LISTED = 3  # entries: of more it is said where they are


def ratio(factor: float) -> str:
    """Write a factor: ``2.5``, or ``1/3`` where the digits do not end."""
    exact = float(f"{factor:.4g}")
    if abs(exact - factor) > EXACT * abs(factor) and (found := _fraction(factor)):
        return str(found)
    return f"{factor:.4g}"


def is_simple(factor: float) -> bool:
    """Whether a factor is one that people forget, and no accident: n, 1/n, or a small fraction."""
    return abs(factor - 1) > EXACT and _fraction(factor) is not None


def _fraction(factor: float) -> Fraction | None:
    if not np.isfinite(factor) or not factor:
        return None
    found = Fraction(factor).limit_denominator(MOST_OF)
    small, large = sorted((abs(found.numerator), found.denominator))
    near = abs(float(found) - factor) <= EXACT * abs(factor)
    return found if near and (small == 1 or large <= MOST_SMALL) and large <= MOST_OF else None


def where_wrong(got: Any, expected: Any, rtol: float) -> str:
    """Say which entries are wrong if others are right, or what all errors have in common."""
    try:
        got, right = np.asarray(got), np.asarray(expected, float)
    except ValueError:
        return ""
    if got.dtype.kind not in "fiub" or got.shape != right.shape:
        return ""
    size = np.abs(right[np.isfinite(right)]).max(initial=0.0)
    wrong = ~np.isclose(got, right, rtol=rtol, atol=rtol * size, equal_nan=True)
    if wrong.all():
        return _in_common(got, right, rtol * size)
    if not wrong.any():
        return ""
    if wrong.ndim > 1 and wrong.sum() > MOST_LISTED and (said := _slices(wrong)):
        return said
    places = _listed(np.argwhere(wrong).tolist())
    return f"wrong at {places}; right elsewhere"


def _slices(wrong: Any) -> str:
    """Say in which rows, columns or other slices all entries are wrong, or all are right."""
    if where := _box(wrong):
        return f"all wrong in {where}; right elsewhere"
    if where := _box(~wrong):
        return f"all right in {where}; wrong elsewhere"
    touched = np.zeros(wrong.shape, bool)
    touched[np.ix_(*_indices(wrong))] = True
    if touched.all():
        return ""
    count, where = wrong.sum(), _box(touched)
    return f"{count} entries are wrong, all of them in {where}; right elsewhere"


def _indices(mask: Any) -> list[Any]:
    """Return, for each axis, the indices at which something is true."""
    others = (tuple(a for a in range(mask.ndim) if a != axis) for axis in range(mask.ndim))
    return [np.flatnonzero(mask.any(axis=axes)) for axes in others]


def _box(mask: Any) -> str:
    """Write what is true as an index, ``[0, :, 2:4]``; empty if it is no such part."""
    indices = _indices(mask)
    if mask.sum() != np.prod([len(found) for found in indices]):
        return ""
    words = []
    for found, length in zip(indices, mask.shape, strict=True):
        first, last = found[0], found[-1]
        if len(found) == length:
            words.append(":")
        elif len(found) == 1:
            words.append(str(first))
        elif len(found) == last - first + 1:
            words.append(f"{first}:{last + 1}")
        else:
            words.append(str(found.tolist()))
    return f"[{', '.join(words)}]"


def _in_common(got: Any, right: Any, atol: float) -> str:
    """Say along which axis all entries have the same error, or the same factor."""
    with np.errstate(all="ignore"):
        factor = got / right
    for axis in range(right.ndim * (right.ndim > 1)):
        if right.shape[axis] > 1 and np.ptp(got - right, axis=axis).max() <= atol:
            return f"off by the same number all along axis {axis}: which term is the same there?"
        most = EXACT * abs(factor).max()  # it is not finite where the right entry is 0
        if right.shape[axis] > 1 and np.ptp(factor, axis=axis).max() <= most < np.inf:
            return f"a factor that is the same all along axis {axis}, and not along the others"
    return ""


def _listed(wrong: list[Any]) -> str:
    """Write the first places."""
    places = ", ".join(map(str, wrong[:MOST_LISTED]))
    more = len(wrong) - MOST_LISTED
    return f"{places}, and {more} more" if more > 0 else places
