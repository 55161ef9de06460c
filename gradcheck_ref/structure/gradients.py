"""How gradients are arranged: as the inputs are, perhaps without constants, or behind a value.

Many functions return ``(value, gradient)``: those of CS231n, those for ``jac=True`` in SciPy, and
``value_and_grad`` in JAX and autograd.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcheck_ref.arguments import kind_of
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.matrices import is_sparse
from gradcheck_ref.structure.parts import as_array
from gradcheck_ref.structure.trees import Opened


def by_argument(inputs: Inputs, given: Any) -> tuple[dict[int, Any], list[Any]]:
    """Sort gradients by the number of their argument, and list unknown keys."""
    if is_sparse(given):  # one of SciPy's sparse matrices is a dict
        given = as_array(given)
    wanted, keys = inputs.differentiated, inputs.keys
    if isinstance(given, Mapping) and inputs.by_name:
        found = {a: given[keys[a]] for a in wanted if keys[a] in given}
        return found, [key for key in given if key not in keys]
    only = inputs.forest.forms[wanted[0]] if len(wanted) == 1 else None
    if isinstance(only, int) and _is_one(given, inputs):
        return {wanted[0]: given}, []
    ways: list[dict[int, Any]] = []
    if isinstance(given, tuple | list) and len(given) == len(keys):
        ways.append({a: given[a] for a in wanted})
    elif isinstance(given, tuple | list) and len(given) == len(wanted):
        ways.append(dict(zip(wanted, given, strict=True)))
    if isinstance(only, Opened):  # the tree may be given alone, or in a list of arguments
        ways.append({wanted[0]: given})
    return max(ways, key=lambda way: len(inputs.forest.picked(way)[0]), default={}), []


def _is_one(given: Any, inputs: Inputs) -> bool:
    """Whether this is the gradient of one input, not a sequence of one for each input."""
    if not isinstance(given, tuple | list):
        return not isinstance(given, Mapping)
    if inputs.single:
        return isinstance(given, list) or (len(given) > 1 and all(map(np.isscalar, given)))
    return len(given) not in (1, len(inputs.keys))


def fits(inputs: Inputs, given: Any, *, shapes: bool = True) -> bool:
    """Whether this may be the gradient of the inputs: an array for each, of numbers, in its shape.

    Without ``shapes``, only the arrangement counts.
    """
    arguments, unknown = by_argument(inputs, given)
    found, strange = inputs.forest.picked(arguments)
    if unknown or strange or not inputs.parts.keys() <= found.keys():
        return False
    known = {k: as_array(found[k]) for k in inputs.parts if found[k] is not None}
    alike = all(
        array.shape == inputs.parts[k].shape and kind_of(array.dtype) in "fciub"
        for k, array in known.items()
    )
    return bool(known) and (alike or not shapes)


def value_and_gradient(given: Any) -> tuple[float, Any] | None:
    """Return a pair of one real number and something else; None for anything else."""
    if not (isinstance(given, tuple | list) and len(given) == 2 and given[1] is not None):
        return None
    if isinstance(given[0], tuple | list | Mapping):
        return None
    value = as_array(given[0])
    return (float(value), given[1]) if value.shape == () and kind_of(value.dtype) in "fiu" else None
