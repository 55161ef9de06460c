"""A function of JAX arrays at many points at once, by ``jax.vmap``, where that can be.

JAX takes about a millisecond to lead a small function through vmap, whatever the number of points,
and about a quarter of one to call it. To compile it takes fifty and more, which a check that is
made once never gets back. So it is not compiled: it is traced, and its steps are then made in turn.
JAX does compile every step for itself, for each shape once; points are filled up so that there are
few shapes.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array

# Up to so many points cost no more one by one. So many are done together at most, with so many
# numbers on the way, 128 MB.
FEW, BATCH, NUMBERS = 8, 128, 2**24

# Many at once add up in another order than one by one: so many roundings of the largest.
ROUNDINGS = 1e3


def at_once(
    function: Callable[[list[Any]], tuple[Any, ...]], points: Sequence[Sequence[Array]]
) -> list[list[Array]] | None:
    """Call a function at many points at once.

    Parameters
    ----------
    function : callable
        Takes a list of JAX arrays, and returns a tuple of them.
    points : sequence of sequences of ndarray
        The lists, all of the same shapes and dtypes. What has JAX's type float0 does not move.

    Returns
    -------
    list of list of ndarray, or None
        A list of outputs for each point; None where the function cannot be traced, does more than
        return something, or works out too many numbers on the way.
    """
    import jax
    from jax.extend.core import jaxpr_as_fun

    first = points[0]
    moving = [k for k, one in enumerate(first) if one.dtype.names is None]

    def one(parts: list[Any]) -> list[Any]:
        handed: list[Any] = list(first)
        for k, part in zip(moving, parts, strict=True):
            handed[k] = part
        return list(function(handed))

    rows: list[list[Array]] = []
    stacks = [np.stack([point[k] for point in points]) for k in moving]
    programs: dict[int, Any] = {}  # by the length of the batch
    try:
        for start in range(0, len(points), BATCH):
            parts = [_padded(stack[start : start + BATCH]) for stack in stacks]
            length = len(parts[0])
            if length not in programs:
                traced = jax.make_jaxpr(jax.vmap(one))(parts)
                if traced.effects or _numbers_in(traced) > NUMBERS:
                    return None
                programs[length] = jaxpr_as_fun(traced)
            outputs = [np.asarray(output) for output in programs[length](*parts)]
            for k in range(min(BATCH, len(points) - start)):
                rows.append([np.array(output[k]) for output in outputs])
    except Exception:  # who calls it at one point learns what is wrong, if anything is
        return None
    return rows


def close(found: Sequence[Array], alone: Sequence[Array]) -> bool:
    """Tell whether arrays are the same but for another order of adding up."""
    for a, b in zip(found, alone, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        eps = float(np.finfo(b.dtype).eps) if b.dtype.kind in "fc" else 0.0
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        if not np.allclose(a, b, rtol=0.0, atol=ROUNDINGS * eps * largest, equal_nan=True):
            return False
    return True


def _padded(stack: Array) -> Array:
    """Repeat the last point up to a power of two."""
    length = 2 * FEW
    while length < len(stack):
        length *= 2
    return np.concatenate([stack, np.repeat(stack[-1:], length - len(stack), axis=0)])


def _numbers_in(traced: Any) -> int:
    """Count the numbers that are worked out on the way."""
    made = [var.aval for equation in traced.jaxpr.eqns for var in equation.outvars]
    return sum(math.prod(getattr(aval, "shape", ())) for aval in made)
