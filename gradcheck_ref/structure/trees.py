"""Trees of arrays: take nested containers apart into their leaves, and put them together again.

A tree is an array, or a container of trees: a mapping, a sequence, a named tuple, the values of a
Series or DataFrame of pandas, or another container that an `Opener` can open. Everything else is a
leaf. The name of a leaf is its path, as Python writes it: ``params['w']``.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from copy import copy
from functools import lru_cache, partial
from numbers import Number
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure.matrices import is_sparse


class Opened(NamedTuple):
    """An open container: its children, the path step to each, and a function that rebuilds it."""

    steps: tuple[str, ...]
    children: list[Any]
    build: Callable[[list[Any]], Any]


# A function that knows more containers: it returns an open one, or None for a leaf.
Opener = Callable[[Any], Opened | None]

# The form of a tree: the number of a leaf, or an open container of forms.
Form = Opened | int


class Forest:
    """The form of several trees, such as all inputs or all outputs: their leaves, numbered.

    Parameters
    ----------
    values : sequence
        The trees.
    names : sequence of str
        The names of the trees.
    opener : callable, optional
        Called first to see if a value is a container; see `Opener`.

    Attributes
    ----------
    names : list of str
        The names of all leaves, in order.
    forms : list of Form
        The form of each tree.
    tree_of : list of int
        For each leaf the number of its tree.
    """

    def __init__(
        self, values: Sequence[Any], names: Sequence[str], opener: Opener | None = None
    ) -> None:
        self.trees, self.opener = list(names), opener
        self.names: list[str] = []
        self.forms: list[Form] = []
        self.tree_of: list[int] = []
        for number, (value, name) in enumerate(zip(values, names, strict=True)):
            self.forms.append(self._form(value, name))
            self.tree_of += [number] * (len(self.names) - len(self.tree_of))
        self.bare = all(isinstance(form, int) for form in self.forms)

    def _form(self, value: Any, name: str) -> Form:
        inner = opened(value, self.opener)
        if inner is None:
            self.names.append(name)
            return len(self.names) - 1
        each = zip(inner.steps, inner.children, strict=True)
        return inner._replace(children=[self._form(child, name + step) for step, child in each])

    def leaves(self, values: Sequence[Any]) -> list[Any]:
        """Return all leaves of values that have exactly this form."""
        if self.bare:
            return list(values)
        found, _ = self.picked(dict(enumerate(values)))
        return [found[k] for k in range(len(self.names))]

    def picked(self, given: Mapping[int, Any]) -> tuple[dict[int, Any], list[str]]:
        """Find the given value of each leaf, by number, and the given paths that lead to no leaf.

        Trees and leaves may be missing, and other containers are accepted if their steps are the
        same, such as a list for a tuple. None in place of a container means None for every leaf in
        it.
        """
        found: dict[int, Any] = {}
        unknown: list[str] = []
        for number, value in given.items():
            if number < len(self.forms):
                self._pick(self.forms[number], value, self.trees[number], found, unknown)
        return found, unknown

    def _pick(
        self, form: Form, given: Any, path: str, found: dict[int, Any], unknown: list[str]
    ) -> None:
        if isinstance(form, int):
            found[form] = given
            return
        inner = None if given is None else opened(given, self.opener)
        children: dict[str, Any] = {}
        if given is None:
            children = dict.fromkeys(form.steps)
        elif inner is not None:
            children = dict(zip(inner.steps, inner.children, strict=True))
        if form.steps == BY_VALUES and children.keys() != {""}:
            children = {"": given}  # the values alone, without their container, are accepted
        unknown += [path + step for step in children if step not in form.steps]
        for step, one in zip(form.steps, form.children, strict=True):
            if step in children:
                self._pick(one, children[step], path + step, found, unknown)

    def built(self, leaves: Sequence[Any]) -> Sequence[Any]:
        """Put the trees together from all leaves."""
        return leaves if self.bare else [_built(form, leaves) for form in self.forms]


def _built(form: Form, leaves: Sequence[Any]) -> Any:
    if isinstance(form, int):
        return leaves[form]
    return form.build([_built(one, leaves) for one in form.children])


def leaves_of(value: Any, opener: Opener | None = None) -> list[Any]:
    """Return the leaves of one tree."""
    return Forest([value], [""], opener).leaves([value])


# The steps of a container that holds one array of values and nothing else.
BY_VALUES = ("",)


def opened(value: Any, opener: Opener | None = None) -> Opened | None:
    """Open a container; None for a leaf."""
    if isinstance(value, np.ndarray | np.generic | float):  # the common case stays cheap
        return None
    inner = opener(value) if opener else None
    if inner is not None:
        return inner
    if isinstance(value, Mapping) and not is_sparse(value):
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
            return Opened(BY_VALUES, [array], itemgetter(0))
        return Opened(tuple(f"[{k}]" for k in range(len(value))), list(value), type(value))
    return _of_pandas(value)


def written_out(value: Any) -> Array | None:
    """Return a list of numbers as an array, if at least one of them is floating or complex.

    The result is None for anything else, and for a ragged list.
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
    """Return an empty mapping of the same type, or the type itself if it cannot be emptied."""
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


@lru_cache
def _kinds_of_pandas(mro: tuple[type, ...]) -> frozenset[str]:
    """Return the names of the pandas classes among a class and its ancestors."""
    return frozenset(one.__name__ for one in mro if one.__module__.split(".")[0] == "pandas")


def _of_pandas(value: Any) -> Opened | None:
    """Open a Series or a DataFrame of floating point numbers; any other one is a constant."""
    kinds = _kinds_of_pandas(type(value).__mro__)
    if "Series" in kinds:
        if _is_floating(value.dtype):
            build = partial(_pandas, type(value), index=value.index, name=value.name)
            return Opened(BY_VALUES, [value.to_numpy()], build)
    elif "DataFrame" in kinds:
        floating = [_is_floating(one) for one in value.dtypes]
        if any(floating) and not all(floating):
            others = [str(name) for name, ok in zip(value.columns, floating, strict=True) if not ok]
            raise TypeError(
                "a DataFrame needs floating point numbers in all of its columns, but "
                f"{', '.join(others)} {'holds' if len(others) == 1 else 'hold'} none: pass only "
                "the other columns, and use the rest inside f"
            )
        if floating and all(floating):
            build = partial(_pandas, type(value), index=value.index, columns=value.columns)
            return Opened(BY_VALUES, [value.to_numpy()], build)
    return None


def _is_floating(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fc"


def _pandas(kind: Any, children: list[Any], **labels: Any) -> Any:
    return kind(children[0], **labels)
