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


def at_once(
    function: Callable[[list[Any]], tuple[Any, ...]], stacks: Sequence[Array]
) -> list[list[Array]] | None:
    """Call a function at many points at once.

    Parameters
    ----------
    function : callable
        Takes a list of JAX arrays, and returns a tuple of them.
    stacks : sequence of ndarray
        For each of the arrays its values at the points, one after another.

    Returns
    -------
    list of list of ndarray, or None
        A list of outputs for each point; None where the function cannot be traced, does more than
        return something, or works out too many numbers on the way.
    """
    import jax
    from jax.extend.core import jaxpr_as_fun

    rows: list[list[Array]] = []
    count = len(stacks[0])
    programs: dict[int, Any] = {}  # by the length of the batch
    try:
        for start in range(0, count, BATCH):
            parts = [_padded(stack[start : start + BATCH]) for stack in stacks]
            length = len(parts[0])
            if length not in programs:
                traced = jax.make_jaxpr(jax.vmap(function))(parts)
                if traced.effects or _numbers_in(traced) > NUMBERS:
                    return None
                programs[length] = jaxpr_as_fun(traced)
            outputs = [np.asarray(output) for output in programs[length](*parts)]
            for k in range(min(BATCH, count - start)):
                rows.append([np.array(output[k]) for output in outputs])
    except Exception:  # who calls it at one point learns what is wrong, if anything is
        return None
    return rows


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
