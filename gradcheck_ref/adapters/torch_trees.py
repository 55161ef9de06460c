"""The special containers that torch's functions take and return."""

from collections import namedtuple
from collections.abc import Mapping
from copy import copy
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from typing import Any

from gradcheck_ref.structure.trees import Opened, opened


class Packed:
    """A ``PackedSequence`` whose data need not be a tensor.

    It is not a tuple, so that no other code looks for arrays in the other fields.

    Parameters
    ----------
    data : any
        Any object in place of the data.
    rest : tuple
        The other three fields of a ``PackedSequence``.
    """

    def __init__(self, data: Any, rest: tuple[Any, ...]) -> None:
        self.data, self.rest = data, rest


def open_tree(value: Any) -> Opened | None:
    """Open a container of torch's functions.

    Lists of numbers are opened like other lists, since a size or a scale is not an array to
    differentiate. A packed sequence is its data; its other fields are constant.
    """
    if isinstance(value, Packed):
        return Opened((".data",), [value.data], partial(_packed, value.rest))
    if isinstance(value, list | tuple):
        if _is_packed(value):
            return Opened((".data",), [value[0]], partial(_packed, tuple(value[1:])))
        if not hasattr(value, "_fields"):
            return Opened(tuple(f"[{k}]" for k in range(len(value))), list(value), type(value))
    elif _is_record(value) and not isinstance(value, Mapping):
        names = [one.name for one in fields(value)]
        children = [getattr(value, name) for name in names]
        return Opened(tuple(f".{one}" for one in names), children, partial(_record, value, names))
    return None


def plain(value: Any) -> Any:
    """Return a function's output in containers that reports and NumPy know.

    A dataclass becomes a named tuple of its fields, or a dict if it is also a mapping, like the
    outputs of many language models. A packed sequence counts as one output, not as a tuple.
    """
    if _is_packed(value):
        return Packed(value[0], tuple(value[1:]))
    if _is_record(value):
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in value.items()}
        names = tuple(one.name for one in fields(value))
        return _kind(type(value).__name__, names)(*(plain(getattr(value, one)) for one in names))
    inner = None if isinstance(value, Packed) else opened(value, open_tree)
    return value if inner is None else inner.build([plain(one) for one in inner.children])


def _is_record(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


@lru_cache
def _kind(name: str, names: tuple[str, ...]) -> Any:
    return namedtuple(name, names, rename=True)


def _record(value: Any, names: list[str], children: list[Any]) -> Any:
    """Return a copy of a dataclass, frozen or not, with other values in its fields."""
    new = copy(value)
    for name, child in zip(names, children, strict=True):
        object.__setattr__(new, name, child)
    return new


def _is_packed(value: Any) -> bool:
    kind = type(value)
    return kind.__name__ == "PackedSequence" and kind.__module__.split(".")[0] == "torch"


def _packed(rest: tuple[Any, ...], children: list[Any]) -> Any:
    """Pack data again: a tensor into torch's own type, anything else into ours."""
    (data,) = children
    import torch

    if isinstance(data, torch.Tensor):
        return torch.nn.utils.rnn.PackedSequence(data, *rest)
    return Packed(data, rest)
