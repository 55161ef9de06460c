"""Inputs of floats that are not differentiated: which leaves a caller means by names and positions.

A name is that of an argument of f, or the path of a leaf or of a tree in it, as reports write it:
``params['mean']``. A position counts the arguments from 0, if they were given in order.
"""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from gradcheck_ref.arguments import described
from gradcheck_ref.structure.trees import Forest

# What names constants: names of inputs, or positions, or one of them.
Constant = str | int | Iterable[str | int]


def leaves_named(constant: Constant, forest: Forest, by_name: bool) -> set[int]:
    """Return the numbers of the leaves that the caller names as constants.

    Raises
    ------
    TypeError
        If something is neither a name nor a position.
    ValueError
        If it names no input, or all of them.
    """
    ours = f"the inputs are {', '.join(forest.trees)}"
    ones = [constant] if isinstance(constant, str | Integral) else constant
    ones = list(ones) if isinstance(ones, Iterable) else [ones]
    found: set[int] = set()
    for one in ones:
        if isinstance(one, bool) or not isinstance(one, str | Integral):
            raise TypeError(
                f"constant must hold names or positions of inputs, not {described(one)}; {ours}"
            )
        leaves = _at(one, forest, by_name) if isinstance(one, Integral) else _called(one, forest)
        if not leaves:
            raise ValueError(f"constant names {one!r}, which is no input: {ours}")
        found |= leaves
    if found and len(found) == len(forest.names):
        said = f"constant names {', '.join(map(repr, ones))}, and leaves nothing to differentiate"
        raise ValueError(f"{said}: {ours}")
    return found


def _at(position: Any, forest: Forest, by_name: bool) -> set[int]:
    """Return the leaves of the argument at a position, counted from 0; none if they have names."""
    return set() if by_name else {k for k, tree in enumerate(forest.tree_of) if tree == position}


def _called(name: str, forest: Forest) -> set[int]:
    """Return the leaves of the argument of this name, or else those below this path."""
    trees = {number for number, tree in enumerate(forest.trees) if tree == name}
    if trees:
        return {k for k, tree in enumerate(forest.tree_of) if tree in trees}
    below = f"{name}[", f"{name}."
    return {k for k, leaf in enumerate(forest.names) if leaf == name or leaf.startswith(below)}
