"""The slopes that torch's ``gradcheck`` compares: from differences of func, its vjp and its jvp.

A Jacobian has torch's layout, (entries of the input, entries of the output): the transpose of the
usual one. Fast mode only multiplies it by random vectors: ``J u`` takes two calls of func whatever
the size of the input, and ``v . (J u)`` one vjp.

**Complex numbers.** For ``z = x + i y`` the gradient of a real L is ``dL/dx + i dL/dy``. A complex
output counts as two real outputs, its real and its imaginary part. A jvp needs no such convention:
along each axis of ``z`` it gives the slope itself.
"""

from collections.abc import Iterator

import numpy as np

from gradcheck_ref.arguments import Array, index_text
from gradcheck_ref.compat.torch.calls import Calls, GradcheckError, fresh

# For each axis of an input (1, and also i if it is complex): one array for each output.
Slopes = dict[complex, list[Array]]
# For each axis of an input: an array of its shape.
Direction = dict[complex, Array]


def axes(x: Array) -> tuple[complex, ...]:
    """Return the real directions in which an entry of an input can move."""
    return (1, 1j) if x.dtype.kind == "c" else (1,)


def entries(x: Array) -> list[tuple[int, tuple[int, ...]]]:
    """Return the number and the index of every entry that is not masked."""
    mask = np.ma.getmaskarray(x)
    return [(row, index) for row, index in enumerate(np.ndindex(x.shape)) if not mask[index]]


def units(x: Array, axis: complex) -> Iterator[tuple[int, tuple[int, ...], Array]]:
    """Yield the number and the index of every entry, and an array with ``axis`` there alone."""
    for row, index in entries(x):
        unit = np.zeros(x.shape, x.dtype)
        unit[index] = axis
        yield row, index, unit


# --- func --------------------------------------------------------------------------------------


def numeric_jacobian(calls: Calls, k: int, eps: float) -> Slopes:
    """Return the central differences of all outputs by every entry of input ``k``."""
    x, found = calls.moving[k], {}
    for axis in axes(x):
        matrices = [np.zeros((x.size, y.size), _wide(y).dtype) for y in calls.outputs]
        for row, index, unit in units(x, axis):
            move, step = eps * _wide(unit), f"{eps:g} at {index_text(index)}"
            rises, apart = _rises(calls, k, move, step)
            for matrix, rise in zip(matrices, rises, strict=True):
                matrix[row] = rise / np.abs(apart[index])
        found[axis] = matrices
    return found


def numeric_along(calls: Calls, k: int, u: Direction, eps: float) -> tuple[Slopes, Direction]:
    """Return ``J u`` for all outputs, and the directions that were taken instead of u."""
    slopes, taken = {}, {}
    for axis in axes(calls.moving[k]):
        rises, apart = _rises(calls, k, eps * axis * u[axis], f"{eps:g} * u")
        slopes[axis] = [rise / (2 * eps) for rise in rises]
        taken[axis] = (apart / axis).real / (2 * eps)
    return slopes, taken


def _rises(calls: Calls, k: int, move: Array, step: str) -> tuple[list[Array], Array]:
    """Return f(x + move) - f(x - move) for all outputs, flat, and the distance of the two points.

    The points are rounded, so the distance is not quite ``2 * move``; slopes are divided by the
    distance. ``step`` describes the move in messages.
    """
    x, name = calls.moving[k], calls.name("input", k)
    behind, ahead = _moved(x, -move), _moved(x, move)
    with np.errstate(invalid="ignore"):
        apart = _wide(np.ma.getdata(ahead)) - _wide(np.ma.getdata(behind))
    stuck = np.argwhere((move != 0) & ~(np.abs(apart) > 0))
    if len(stuck):
        index = tuple(stuck[0])
        finite = np.isfinite(x[index])
        raise GradcheckError(
            f"{name}{index_text(index)} = {x[index]} does not move by {np.abs(move[index]):.2g}, "
            "so there is no slope to compare with: take "
            f"{'a larger eps, or rescale the input' if finite else 'a finite point'}"
        )
    f_behind = calls.at(k, behind, f"with {name} moved by -{step}")
    f_ahead = calls.at(k, ahead, f"with {name} moved by +{step}")
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity never pass
        rises = [_wide(b) - _wide(a) for a, b in zip(f_behind, f_ahead, strict=True)]
    return [rise.reshape(-1) for rise in rises], apart


def _moved(x: Array, move: Array) -> Array:
    """Return a moved copy of x, with the mask of x."""
    moved: Array = fresh(x)
    with np.errstate(invalid="ignore", over="ignore"):
        data = np.ma.getdata(moved)
        data += move.astype(x.dtype)
    return moved


def _wide(y: Array) -> Array:
    """Return an array in at least double precision, for taking differences."""
    return y.astype(np.result_type(y.dtype, np.float64))


def gradient_of_part(slopes: Slopes, j: int, part: str) -> Array:
    """Turn the slopes of an output into the gradient of its real or imaginary part."""
    along = {axis: getattr(slopes[axis][j], part) for axis in slopes}
    if 1j not in along:
        return np.asarray(along[1])
    with np.errstate(invalid="ignore"):
        return np.asarray(along[1] + 1j * along[1j])


# --- vjp ---------------------------------------------------------------------------------------


def one_hot(y: Array, pick: complex) -> list[tuple[Array, str]]:
    """Return a cotangent for each entry of an output, with the index of the entry as a text."""
    return [(unit, index_text(index)) for _, index, unit in units(y, pick)]


def by_vjp(
    calls: Calls, j: int, cotangents: list[tuple[Array, str]], nondet_tol: float
) -> list[Array]:
    """Return a matrix for each checked input, with the vjp of output ``j`` for each cotangent.

    Each cotangent is a column, if a second run gives the same: a vjp that keeps state from one call
    to the next is right only once.
    """
    name = calls.name("output", j)
    first, second = (
        side_by_side(calls, [calls.gradients({j: u}, f"for {name}{at}") for u, at in cotangents])
        for _ in range(2)
    )
    for k, one, other in zip(calls.checked, first, second, strict=True):
        apart = apart_in_two_runs(one, other)
        if not apart <= nondet_tol:
            raise GradcheckError(
                f"Backward is not reentrant: two runs of {calls.name('vjp')} with the same inputs "
                f"and cotangents differ by up to {apart:.3g} for {name} with respect to "
                f"{calls.name('input', k)}; nondet_tol is {nondet_tol:g}. It must keep no state "
                "between calls; if the difference comes from random numbers or from the order of "
                "a sum, raise nondet_tol"
            )
    return first


def side_by_side(calls: Calls, columns: list[list[Array]]) -> list[Array]:
    """Put gradients into the columns of one matrix for each checked input."""
    matrices = []
    for i, k in enumerate(calls.checked):
        x = calls.inputs[k]
        rows = np.array([gradients[i] for gradients in columns], x.dtype)
        matrices.append(rows.reshape(len(columns), x.size).T)
    return matrices


def apart_in_two_runs(one: Array, other: Array) -> float:
    """Return the largest difference of two arrays; NaN and infinity equal themselves."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(one - other)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return float(np.max(np.where(same, 0.0, apart), initial=0.0))


# --- jvp ---------------------------------------------------------------------------------------


def jvp_jacobian(calls: Calls, k: int, axis: complex) -> list[Array]:
    """Return the Jacobian of each counted output by input ``k``: a jvp for each of its entries."""
    x = calls.moving[k]
    outputs = [calls.outputs[j] for j in calls.counted]
    matrices = [np.zeros((x.size, y.size), _wide(y).dtype) for y in outputs]
    for row, _, unit in units(x, axis):
        for matrix, slope in zip(matrices, jvp_along(calls, k, unit), strict=True):
            matrix[row] = slope
    return matrices


def jvp_along(calls: Calls, k: int, direction: Array) -> list[Array]:
    """Return ``J u`` for each counted output, flat, with u along one input only."""
    tangents = {i: np.zeros(calls.inputs[i].shape, calls.inputs[i].dtype) for i in calls.checked}
    tangents[k][...] = direction
    pushed = calls.product("jvp", tangents, f"along {calls.name('input', k)}")
    return [tangent.reshape(-1) for tangent in pushed]
