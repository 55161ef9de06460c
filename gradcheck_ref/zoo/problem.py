"""A zoo case as plain problems: one scalar function of one array, and a claimed gradient.

These judge checkers that cannot handle several inputs, array outputs or cotangents: the output is
weighted by fixed random numbers and summed, and one input is moved at a time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.zoo.case import Array, Case


@dataclass(frozen=True)
class Problem:
    """A scalar function, a point, and a claimed gradient.

    Attributes
    ----------
    f : callable
        ``f(x)`` returns one real number.
    x : ndarray
        The point: one input of the case.
    claimed : ndarray
        The claimed gradient. If it is wrong, its shape may differ from that of ``x``.
    """

    f: Callable[[Array], Any]
    x: Array
    claimed: Array


def problems(case: Case, vjp: Callable[..., Any], *, seed: int = 0) -> list[Problem]:
    """Turn a case, with its right or a wrong ``vjp``, into one problem for each input.

    Parameters
    ----------
    case : Case
        The source of ``f`` and the inputs.
    vjp : callable
        ``case.vjp`` or the ``vjp`` of one of its bugs; called once.
    seed : int
        Chooses the weights of the outputs.

    Returns
    -------
    list of Problem
        One for each floating or complex input, in order.
    """
    output = case.f(*case.inputs)
    upstream = _weights(output, np.random.default_rng(seed))
    gradients = vjp(upstream, *(np.copy(x) for x in case.inputs))
    if not isinstance(gradients, tuple):
        gradients = (gradients,)
    found = []
    for k, (x, gradient) in enumerate(zip(case.inputs, gradients, strict=True)):
        if np.asarray(x).dtype.kind in "fc":

            def loss(moved: Array, k: int = k) -> Any:
                inputs = (*case.inputs[:k], moved, *case.inputs[k + 1 :])
                return _weighted_sum(case.f(*inputs), upstream)

            found.append(Problem(loss, np.asarray(x), np.asarray(gradient)))
    return found


def _weights(output: Any, rng: np.random.Generator) -> Any:
    """Draw the weights of an output; a scalar output has weight 1."""
    if isinstance(output, tuple):
        return tuple(_weights(one, rng) for one in output)
    shape = np.shape(output)
    weights = rng.normal(size=shape) if shape else 1.0
    return weights + 1j * rng.normal(size=shape) if np.iscomplexobj(output) else weights


def _weighted_sum(output: Any, upstream: Any) -> Any:
    if isinstance(output, tuple):
        return sum(_weighted_sum(o, u) for o, u in zip(output, upstream, strict=True))
    return np.vdot(upstream, output).real
