"""Right numbers in wrong places: transposed, moved along an axis, or in each other's place."""

import math
from collections.abc import Iterator
from itertools import chain, combinations, permutations

import numpy as np

from gradcheck_ref.check.mistakes.gradient import Array, Gradient, Mend, Words

# Each axis doubles the number of ways to sum axes away, and n axes have n! orders: 120 for 5.
MOST_AXES = 5


def axes_swapped(wrong: Gradient) -> Iterator[Mend]:
    """Transpose a matrix."""
    return _turned(wrong, 2, "it is the transpose of what it should be")


def axes_in_another_order(wrong: Gradient) -> Iterator[Mend]:
    """Transpose an array of more axes."""
    for n in range(3, MOST_AXES + 1):
        said = "its axes are in the wrong order: transposed by {} it is right"
        yield from _turned(wrong, n, said)


def _turned(wrong: Gradient, n: int, said: str) -> Iterator[Mend]:
    """Propose other orders of n axes, beside the last axis, which is the output."""
    for order in permutations(range(n)) if wrong.values.ndim == n + 1 else ():
        turned = wrong.values.transpose(*order, n)
        if turned.shape[:-1] == wrong.shape and order != tuple(range(n)):
            advice = "is a .T missing, or one too many?"
            yield Mend(turned, Words(said.format(order), advice))


def transposed(wrong: Gradient) -> Iterator[Mend]:
    """Transpose a matrix, the order in which an array is stored, or the Jacobian."""
    values, name, size = wrong.values, wrong.name, wrong.x.size
    if not wrong.whole:
        return
    yield from axes_swapped(wrong)
    if len(wrong.shape) > 1:
        advice = f"write {name} row by row. In Fortran, Julia, R and MATLAB arrays are stored "
        advice += "column by column: transpose it first. In NumPy, check the order of a reshape"
        by_columns = np.arange(size).reshape(wrong.shape, order="F").reshape(-1)
        ways = {"column by column, but read row by row": by_columns}
        ways["row by row, but read column by column"] = np.argsort(by_columns)
        for way, order in ways.items():
            stored = values.reshape(size, -1)[order].reshape(values.shape)
            yield Mend(stored, Words(f"it is stored {way}", advice))
    if wrong.outputs and math.prod(wrong.outputs) == size > 1:
        advice = (
            "for A @ x the vjp is A.T @ upstream, and the jvp A @ tangent: which one has the .T?"
        )
        if wrong.is_jacobian:
            advice = "row i has the derivatives of output i: the Jacobian of A @ x is A, not A.T"
        said = Words("its Jacobian is the transpose of the right one", advice)
        turned = values.reshape(size, size, -1).swapaxes(0, 1)
        yield Mend(turned.reshape(values.shape), said)


def moved(wrong: Gradient) -> Iterator[Mend]:
    """Put the axes, or the slices along an axis, into another order."""
    sentence = "the right numbers are in the wrong places"
    advice = "check where each number is written: the order of axes, and indices that start at 0"
    if not wrong.whole:
        return
    yield from axes_in_another_order(wrong)
    for axis, length in enumerate(wrong.shape):
        along = f"along axis {axis} of {wrong.name}"
        if length > 1:
            how = "its two halves swapped" if length == 2 else "reversed"
            yield Mend(np.flip(wrong.values, axis), Words(f"{sentence}: {how} {along}", advice))
        for by in {1, length - 1, 2, length - 2} if length > 2 else ():
            how = f"rolled by {by if by <= length // 2 else by - length}"
            words = Words(f"{sentence}: {how} {along}", advice)
            yield Mend(np.roll(wrong.values, -by, axis), words)
    last = len(wrong.shape) - 1
    if last > 0 and min(wrong.shape[-2:]) > 1:
        said = f"{sentence}: reversed along the last two axes of {wrong.name}"
        flipped = "is a convolution taken for a correlation? One of them flips the kernel"
        yield Mend(np.flip(wrong.values, (last - 1, last)), Words(said, flipped))


def symmetric(wrong: Gradient) -> Iterator[Mend]:
    """Take the symmetric part of a matrix, or gather both halves in one triangle."""
    square = len(wrong.shape) > 1 and wrong.shape[-1] == wrong.shape[-2] > 1
    if not (wrong.whole and square):
        return
    name, n = wrong.name, len(wrong.shape)
    turned = wrong.values.swapaxes(n - 2, n - 1)
    advice = f"does f use {name} + {name}.T, or is {name} meant to be symmetric? Then add the "
    advice += "transpose of the gradient to it, and halve that"
    yield Mend((wrong.values + turned) / 2, Words("its symmetric part is right", advice))
    both = wrong.values + turned * (1 - np.eye(wrong.shape[-1]))[..., None]
    for which, triangle in (("lower", np.tril), ("upper", np.triu)):
        kept = triangle(np.ones(wrong.shape[-2:]))[..., None]
        said = f"it is right if both halves are added up in the {which} triangle"
        advice = f"f reads only the {which} triangle of {name}, as a Cholesky factorisation does: "
        advice += "an entry there moves two entries of the matrix, and those beyond it move none"
        yield Mend(both * kept, Words(said, advice))


def swapped(wrong: Gradient) -> Iterator[Mend]:
    """Take the gradient of another input that is wrong, too."""
    for other, (_, theirs) in wrong.others.items():
        if other in wrong.wrong and theirs.shape[:-1] == wrong.shape:
            advice = "are the gradients returned in the order of the inputs, and is each written "
            advice += "in the right variable?"
            yield Mend(theirs, Words(f"its right gradient is given for {other}", advice))


# --- gradients of the wrong shape -----------------------------------------------------------------


def reshaped(given: Gradient) -> Iterator[Mend]:
    """Reshape the same numbers to the right shape."""
    shape = given.values.shape[:-1]
    if math.prod(shape) == given.x.size:
        advice = "is a reshape missing, or an axis of length 1 kept or dropped? Reshape it to the "
        advice += f"shape of {given.name}, {given.shape}"
        said = Words(f"its numbers are right, but in the shape {shape}", advice)
        yield Mend(given.values.reshape(*given.shape, -1), said)


def not_summed(given: Gradient) -> Iterator[Mend]:
    """Sum, or average, over axes that were broadcast."""
    advice = f"{given.name} was broadcast: each entry gets the gradients of all its copies"
    for total, over in sums(given.values):
        if without_ones(total.shape[:-1]) == without_ones(given.shape):
            copies = given.values.size // max(1, total.size)
            total = total.reshape(*given.shape, -1)
            for verb, value in (("summed", total), ("averaged", total / copies)):
                yield Mend(value, Words(f"it is right when {verb} over {over}", advice))


def sums(array: Array) -> Iterator[tuple[Array, str]]:
    """Sum an array over axes, and name the axes; the last axis, of the outputs, is kept."""
    n = array.ndim - 1
    for axes in chain.from_iterable(combinations(range(n), k + 1) for k in range(n)):
        over = f"ax{'i' if len(axes) == 1 else 'e'}s {', '.join(map(str, axes))}"
        yield array.sum(axis=axes, keepdims=True), over


def without_ones(shape: tuple[int, ...]) -> list[int]:
    """Leave out axes of length 1."""
    return [n for n in shape if n != 1]


# --- from right to wrong --------------------------------------------------------------------------


def last_axes_swapped(right: Gradient) -> Array | None:
    """Swap the last two axes of the gradient of every output."""
    n = len(right.shape)
    if n < 2 or right.shape[-1] != right.shape[-2] or right.shape[-1] == 1:
        return None
    return np.asarray(np.swapaxes(right.values, n - 2, n - 1))


def rolled(right: Gradient) -> Array | None:
    """Move the slices along the last axis that has several by one."""
    several = [axis for axis, length in enumerate(right.shape) if length > 1]
    return np.roll(right.values, 1, several[-1]) if several else None


def of_another_input(right: Gradient) -> Array | None:
    """Take the gradient of the first other input of the same shape."""
    alike = (theirs for _, theirs in right.others.values() if theirs.shape == right.values.shape)
    return next(alike, None)
