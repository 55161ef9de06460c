"""A function of JAX arrays at many points at once, by ``jax.vmap``, if possible.

For a small function, vmap takes JAX about a millisecond, whatever the number of points; one call
takes about a quarter of that. Compiling takes 50 ms and more, which a single check never gets back.
So the function is not compiled: it is traced, and its steps are run one after another. JAX compiles
each step once for each shape, so points are padded to have few shapes.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array

# Up to FEW points cost no more one by one. At most BATCH points go together, with at most NUMBERS
# intermediate numbers (128 MB).
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
        A list of outputs for each point; None if the function cannot be traced, has side effects,
        or computes too many intermediate numbers.
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
    except Exception:  # if something is wrong, the call at a single point will show it
        return None
    return rows


def _padded(stack: Array) -> Array:
    """Repeat the last point up to a power of two."""
    length = 2 * FEW
    while length < len(stack):
        length *= 2
    return np.concatenate([stack, np.repeat(stack[-1:], length - len(stack), axis=0)])


def _numbers_in(traced: Any) -> int:
    """Count the intermediate numbers."""
    made = [var.aval for equation in traced.jaxpr.eqns for var in equation.outvars]
    return sum(math.prod(getattr(aval, "shape", ())) for aval in made)
