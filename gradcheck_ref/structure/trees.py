"""Containers taken apart into what they hold, with the way to each of it, and put together again.

A tree is an array, or a container of trees: a mapping, a sequence, a named tuple, a Series or a
DataFrame of pandas by its values; and whatever else somebody knows how to open. What is in no
container is a leaf. A leaf is named by the way to it, as Python writes it: ``params['w']``.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from copy import copy
from functools import lru_cache, partial
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array


class Opened(NamedTuple):
    """A container, opened: what is written after its name for each child, and how it is made."""

    steps: tuple[str, ...]
    children: list[Any]
    build: Callable[[list[Any]], Any]


# Whoever knows more containers returns one that is opened, or None for a leaf.
Opener = Callable[[Any], Opened | None]


class Branch(NamedTuple):
    """A container of which only the form is left; in the place of a leaf there is None."""

    steps: tuple[str, ...]
    branches: "list[Branch | None]"
    build: Callable[[list[Any]], Any]


class Tree:
    """The form of a tree: its leaves' names, and how it is put together.

    Parameters
    ----------
    value : any
        The tree.
    name : str
        What it is called.
    opener : callable, optional
        Asked first whether something is a container; see `Opener`.

    Attributes
    ----------
    name : str
        Its own name.
    names : list of str
        Of the leaves, in order.
    """

    def __init__(self, value: Any, name: str, opener: Opener | None = None) -> None:
        self.names: list[str] = []
        self.name, self.opener = name, opener
        self.root = self._form(value, name)

    @property
    def is_leaf(self) -> bool:
        """Whether there is no container at all."""
        return self.root is None

    def leaves(self, value: Any) -> list[Any]:
        """Return the leaves of a value of this very form."""
        found, _ = self.picked(value)
        return [found[k] for k in range(len(self.names))]

    def picked(self, given: Any) -> tuple[dict[int, Any], list[str]]:
        """Find what is given for each leaf, by its number, and the steps that lead to no leaf.

        What is given may lack leaves, and have other containers as long as the steps are the same:
        a list will do for a tuple. None in the place of a container is None for all that it holds.
        """
        found: dict[int, Any] = {}
        strange: list[str] = []
        self._pick(self.root, given, 0, "", found, strange)
        return found, strange

    def built(self, leaves: Sequence[Any]) -> Any:
        """Put a tree together of these leaves."""
        return self._build(self.root, iter(leaves))

    def _form(self, value: Any, name: str) -> Branch | None:
        inner = opened(value, self.opener)
        if inner is None:
            self.names.append(name)
            return None
        each = zip(inner.steps, inner.children, strict=True)
        branches = [self._form(child, name + step) for step, child in each]
        return Branch(inner.steps, branches, inner.build)

    def _build(self, branch: Branch | None, leaves: Any) -> Any:
        if branch is None:
            return next(leaves)
        return branch.build([self._build(one, leaves) for one in branch.branches])

    def _pick(
        self,
        branch: Branch | None,
        given: Any,
        start: int,
        way: str,
        found: dict[int, Any],
        strange: list[str],
    ) -> int:
        """Find what is given for one branch, whose leaves begin at start; return where they end."""
        if branch is None:
            found[start] = given
            return start + 1
        inner = None if given is None else opened(given, self.opener)
        children: dict[str, Any] = {}
        if given is None:
            children = dict.fromkeys(branch.steps)
        elif inner is not None:
            children = dict(zip(inner.steps, inner.children, strict=True))
        if branch.steps == BY_VALUES and children.keys() != {""}:
            children = {"": given}  # the values may come without the container
        strange += [way + step for step in children if step not in branch.steps]
        for step, one in zip(branch.steps, branch.branches, strict=True):
            if step in children:
                start = self._pick(one, children[step], start, way + step, found, strange)
            else:
                start += _count(one)
        return start


class Forest:
    """Trees side by side, as several inputs or outputs are, with one numbering of all leaves.

    Parameters
    ----------
    values : sequence
        The trees.
    names : sequence of str
        What they are called.
    opener : callable, optional
        As for `Tree`.

    Attributes
    ----------
    names : list of str
        Of all leaves, in order.
    trees : list of Tree
        The forms.
    starts : list of int
        The number of the first leaf of each.
    """

    def __init__(
        self, values: Sequence[Any], names: Sequence[str], opener: Opener | None = None
    ) -> None:
        self.trees: list[Tree] = []
        self.names: list[str] = []
        self.starts: list[int] = []
        self.bare = True
        for one, name in zip(values, names, strict=True):
            tree = Tree(one, name, opener)
            self.trees.append(tree)
            self.starts.append(len(self.names))
            self.names += tree.names
            self.bare &= tree.is_leaf

    def leaves(self, values: Sequence[Any]) -> list[Any]:
        """Return all leaves of values of this very form."""
        if self.bare:
            return list(values)
        trees = zip(self.trees, values, strict=True)
        return [leaf for tree, value in trees for leaf in tree.leaves(value)]

    def picked(self, given: Mapping[int, Any]) -> tuple[dict[int, Any], list[str]]:
        """Find what is given for each leaf, and the names of what is no leaf; see `Tree.picked`."""
        found: dict[int, Any] = {}
        strange: list[str] = []
        for number, (start, tree) in enumerate(zip(self.starts, self.trees, strict=True)):
            if number in given:
                some, ways = tree.picked(given[number])
                found |= {start + k: leaf for k, leaf in some.items()}
                strange += [tree.name + way for way in ways]
        return found, strange

    def built(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Put the trees together of all leaves."""
        if self.bare:
            return leaves
        each = zip(self.starts, self.trees, strict=True)
        return [tree.built(leaves[start : start + len(tree.names)]) for start, tree in each]


def _count(branch: Branch | None) -> int:
    return 1 if branch is None else sum(map(_count, branch.branches))


# The steps of a container that is nothing but its one array of values.
BY_VALUES = ("",)


def opened(value: Any, opener: Opener | None = None) -> Opened | None:
    """Open a container; None for a leaf."""
    if type(value) is np.ndarray:  # the common case stays cheap
        return None
    inner = opener(value) if opener else None
    if inner is not None:
        return inner
    if isinstance(value, Mapping):
        keys = list(value)
        build = partial(_mapping, _emptied(value), keys)
        return Opened(tuple(f"[{key!r}]" for key in keys), [value[key] for key in keys], build)
    if isinstance(value, list | tuple):
        fields = getattr(value, "_fields", None)
        if fields:
            steps = tuple(f".{one}" for one in fields)
            return Opened(steps, list(value), partial(_named, type(value)))
        array = written_out(value)
        if array is not None:
            return Opened(BY_VALUES, [array], _only)
        return Opened(tuple(f"[{k}]" for k in range(len(value))), list(value), type(value))
    return _of_pandas(value)


def written_out(value: Any) -> Array | None:
    """Return a list of numbers, not all of them whole, as the array that NumPy makes of it.

    None for anything else, and where it is ragged.
    """
    waiting, inexact = [value], False
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple) and not hasattr(one, "_fields"):
            waiting.extend(one)
        elif isinstance(one, Number) and not isinstance(one, bool):
            inexact |= isinstance(one, float | complex | np.inexact)
        else:
            return None
    try:
        return np.array(value) if inexact else None
    except ValueError:
        return None


def _emptied(value: Mapping[Any, Any]) -> Any:
    """Return a mapping of the same kind with nothing in it, or the kind where it cannot be."""
    if not isinstance(value, MutableMapping):
        return type(value)
    empty = copy(value)
    empty.clear()
    return empty


def _mapping(empty: Any, keys: list[Any], children: list[Any]) -> Any:
    new = dict(zip(keys, children, strict=True))
    if isinstance(empty, type):
        return empty(new)
    mapping = copy(empty)
    mapping.update(new)
    return mapping


def _named(kind: Any, children: list[Any]) -> Any:
    return kind(*children)


def _only(children: list[Any]) -> Any:
    return children[0]


@lru_cache
def _kinds_of_pandas(mro: tuple[type, ...]) -> frozenset[str]:
    """Return the classes of pandas, by name, among a class and its ancestors."""
    return frozenset(one.__name__ for one in mro if one.__module__.split(".")[0] == "pandas")


def _of_pandas(value: Any) -> Opened | None:
    """Open a Series or a DataFrame of floating numbers; others are constants, as they are."""
    kinds = _kinds_of_pandas(type(value).__mro__)
    if "Series" in kinds:
        if _is_floating(value.dtype):
            build = partial(_series, type(value), value.index, value.name)
            return Opened(BY_VALUES, [value.to_numpy()], build)
    elif "DataFrame" in kinds:
        floating = [_is_floating(one) for one in value.dtypes]
        if any(floating) and not all(floating):
            others = [str(name) for name, ok in zip(value.columns, floating, strict=True) if not ok]
            raise TypeError(
                f"a DataFrame is differentiated by all of its columns, but {', '.join(others)} "
                f"{'holds' if len(others) == 1 else 'hold'} no floating point numbers: hand over "
                "those that do, and bind the others"
            )
        if floating and all(floating):
            build = partial(_frame, type(value), value.index, value.columns)
            return Opened(BY_VALUES, [value.to_numpy()], build)
    return None


def _is_floating(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fc"


def _series(kind: Any, index: Any, name: Any, children: list[Any]) -> Any:
    return kind(children[0], index=index, name=name)


def _frame(kind: Any, index: Any, columns: Any, children: list[Any]) -> Any:
    return kind(children[0], index=index, columns=columns)
