"""One call of a framework's function: the inputs to differentiate, and the form of its arguments.

Inputs and outputs may be trees. Their leaves are numbered.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described, kind_of
from gradcheck_ref.structure.inputs import plain_numbers
from gradcheck_ref.structure.outputs import outputs_of
from gradcheck_ref.structure.trees import Forest, Opener

# The form of a single output.
ONE_OUTPUT = Forest([0.0], ["output"])

# Types of constants that are equal if their reprs are equal.
PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Arguments:
    """The inputs of one call, in order and by name; some are differentiated, others constants.

    Parameters
    ----------
    inputs : tuple
        The inputs passed in order.
    named : dict
        The inputs passed by name.
    opener : callable, optional
        Opens containers that only the framework knows.
    numbers_are_constants : bool
        Whether Python's own floats beside arrays are constants.
    read_only : bool
        Whether the differentiated arrays are only read: then they need not be copied.
    """

    def __init__(
        self,
        inputs: tuple[Any, ...],
        named: dict[str, Any],
        opener: Opener | None = None,
        numbers_are_constants: bool = False,
        read_only: bool = False,
    ) -> None:
        self.in_order, self.opener = len(inputs), opener
        self.keys = [f"inputs[{k}]" for k in range(len(inputs))] + list(named)
        self.given = (*inputs, *named.values())
        self.forest = Forest(self.given, self.keys, opener)
        self.names = self.forest.names
        leaves = self.leaves = self.forest.leaves(self.given)
        kept = plain_numbers(leaves) if numbers_are_constants else set()
        self.values = [
            v if k in kept else _own(v, name, read_only)
            for k, (v, name) in enumerate(zip(leaves, self.names, strict=True))
        ]
        moves = [isinstance(v, np.ndarray) and kind_of(v.dtype) in "fc" for v in self.values]
        self.differentiated: list[int] = np.flatnonzero(moves).tolist()

    @property
    def size(self) -> int:
        """How many numbers are differentiated."""
        return sum(self.values[k].size for k in self.differentiated)

    def form(self, given: Any) -> Any:
        """Return the contents of containers besides their leaves, if a framework knows such."""
        return None

    def stacks(self, points: Sequence[Any]) -> list[Array] | None:
        """Stack the differentiated arrays of several points, each array separately.

        None if a point differs from these arguments in more than those arrays.
        """
        columns: list[list[Array]] = [[] for _ in self.differentiated]
        moves = [k in self.differentiated for k in range(len(self.leaves))]
        for point in points:
            inputs, named = in_order_and_by_name(point)
            given = (*inputs, *named.values())
            if len(inputs) != self.in_order or list(named) != self.keys[self.in_order :]:
                return None
            leaves = list(given)
            if not self.forest.bare:
                forest = Forest(given, self.keys, self.opener)
                if forest.names != self.names or self.form(given) != self.form(self.given):
                    return None
                leaves = forest.leaves(given)
            if not all(map(alike, self.leaves, leaves, moves)):
                return None
            for k, column in zip(self.differentiated, columns, strict=True):
                column.append(leaves[k])
        return [np.array(column, order="C") for column in columns]

    def call(
        self, fn: Callable[..., Any], convert: Callable[[Array], Any], moved: Iterable[Any]
    ) -> Any:
        """Call fn with these in place of the differentiated arrays, and other arrays converted."""
        values = [
            convert(value) if isinstance(value, np.ndarray) and value.dtype.kind in "iub" else value
            for value in self.values
        ]
        for k, one in zip(self.differentiated, moved, strict=True):
            values[k] = one
        given = self.forest.built(values)
        named = dict(zip(self.keys[self.in_order :], given[self.in_order :], strict=True))
        return fn(*given[: self.in_order], **named)

    def arranged(self, gradients: dict[int, Array]) -> Any:
        """Arrange gradients, given by the number of their leaf, in the form of the inputs."""
        every = self.forest.built([gradients.get(k) for k in range(len(self.values))])
        if self.in_order:
            return tuple(every) if len(every) > 1 else every[0]
        return dict(zip(self.keys, every, strict=True))

    def listed(self, given: Any, name: str) -> list[Any]:
        """Return an argument with the form of the inputs as a list by leaves."""
        if self._is_the_only_tree(given):
            given = [given]
        elif isinstance(given, Mapping) and not self.in_order:
            unknown = [key for key in given if key not in self.keys]
            if unknown:
                raise ValueError(
                    f"{name} holds {', '.join(map(repr, unknown))}, but the inputs have the names "
                    f"{self.keys}: use the same names"
                )
            given = [given.get(key) for key in self.keys]
        elif len(self.keys) == 1 and not (self.forest.bare and isinstance(given, tuple | list)):
            given = [given]
        elif isinstance(given, Mapping):
            raise ValueError(
                f"{name} holds {', '.join(map(repr, given))}, but the inputs were passed in order: "
                "pass a tuple in the same order"
            )
        elif not isinstance(given, tuple | list):
            given = [given]
        if len(given) != len(self.keys):
            raise ValueError(
                f"{name} is for {len(given)} inputs, but there are {len(self.keys)}: give one "
                "array for each, in their order or by name, and None for a constant"
            )
        return _listed(self.forest, given, name)

    def _is_the_only_tree(self, given: Any) -> bool:
        """Whether this belongs to the only named input, and is not a dict with that name."""
        if len(self.keys) != 1 or self.in_order or self.forest.bare:
            return False
        if not isinstance(given, Mapping):
            return False
        (key,) = self.keys
        # A tree may hold its own name: Flax has params["params"].
        return not (key in given and self._fits(given[key])) and self._fits(given)

    def _fits(self, tree: Any) -> bool:
        found, strange = self.forest.picked({0: tree})
        return bool(found) and not strange


class Returned:
    """The output of fn: one array or tree of arrays, or a tuple; numbered by its leaves.

    Parameters
    ----------
    returned : any
        The output.
    kinds : type or tuple of types
        The type of its leaves.
    kind : str
        The word for that type.
    opener : callable, optional
        Opens containers that only the framework knows.

    Attributes
    ----------
    leaves : list
        The outputs, in the framework's type.
    """

    def __init__(self, returned: Any, kinds: Any, kind: str, opener: Opener | None = None) -> None:
        self.several = isinstance(returned, tuple | list)
        values, names = outputs_of(returned)
        self.build: Any = getattr(returned, "_make", tuple)
        if isinstance(returned, kinds):  # the usual case stays cheap
            self.forest, self.leaves = ONE_OUTPUT, values
            return
        self.forest = Forest(values, names, opener)
        self.leaves = self.forest.leaves(values)
        for leaf, name in zip(self.leaves, self.forest.names, strict=True):
            if not isinstance(leaf, kinds):
                what = described(leaf) + (f" at {name}" if name != "output" else "")
                raise TypeError(f"fn must return one {kind}, or a tree of them, not {what}")

    def arranged(self, arrays: Iterable[Any]) -> Any:
        """Arrange arrays, one for each leaf, in the form of fn's output."""
        every = self.forest.built(list(arrays))
        return self.build(every) if self.several else every[0]

    def listed(self, upstream: Any) -> list[Any]:
        """Return an argument with the form of the output as a list by leaves."""
        count = len(self.forest.forms)
        if self.several and (not isinstance(upstream, tuple | list) or len(upstream) != count):
            raise ValueError(
                f"fn returns {count} outputs: upstream must be a tuple of as many arrays, "
                f"not {described(upstream)}"
            )
        return _listed(self.forest, list(upstream) if self.several else [upstream], "upstream")


def _listed(forest: Forest, given: list[Any], name: str) -> list[Any]:
    """Return the entry for every leaf; None for leaves that are left out."""
    if forest.bare:
        return list(given)
    found, strange = forest.picked(dict(enumerate(given)))
    if strange:
        raise ValueError(f"{name} has an entry for {', '.join(strange)}, which does not exist")
    if not found:
        raise ValueError(f"{name} must have the form of the tree it is for, not {described(given)}")
    return [found.get(k) for k in range(len(forest.names))]


def in_order_and_by_name(point: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional and named inputs of a point: one input, or a tuple or mapping."""
    if isinstance(point, Mapping):
        return (), dict(point)
    return (point if isinstance(point, tuple) else (point,)), {}


def alike(mine: Any, other: Any, moves: bool = False) -> bool:
    """Whether two leaves are the same; arrays that move may differ in their numbers."""
    if mine is other:
        return True
    if type(mine) is not type(other):
        return False
    if isinstance(mine, np.ndarray | np.generic):
        same = mine.shape == other.shape and mine.dtype == other.dtype
        return same and (moves or mine.tobytes() == other.tobytes())
    return moves or (isinstance(mine, PLAIN) and repr(mine) == repr(other))


@contextmanager
def missing_by_type(
    kinds: type[Exception] | tuple[type[Exception], ...], words: Iterable[str]
) -> Iterator[None]:
    """Raise NotImplementedError if the framework's error says that a rule is missing."""
    try:
        yield
    except kinds as error:
        if any(some in str(error) for some in words):
            raise NotImplementedError(str(error)) from error
        raise


def _own(value: Any, name: str, read_only: bool) -> Any:
    """Return an array or floating number in a form for every framework, as our own copy.

    A floating array that is only read, and has such a form, is not copied.
    """
    if isinstance(value, np.integer | np.bool):
        return value.item()  # torch wants a Python number for a flag or an axis
    if not isinstance(value, np.ndarray | np.generic | float | complex):
        return value
    array = np.asarray(value)
    usual = array is value and array.dtype.char in "fd" and array.dtype.isnative
    if read_only and usual and array.flags.carray:
        return array
    if array.dtype.kind == "V" and kind_of(array.dtype) == "f":  # bfloat16, which NumPy cannot swap
        return np.array(array, order="C")
    if array.dtype.char in "gG" and array.dtype.itemsize > 8 * (1 + (array.dtype.kind == "c")):
        raise TypeError(f"{name} is {array.dtype}, which no framework has: pass float64")
    if read_only and array.dtype.kind in "fc":
        # torch has no negative strides; all others it gets as they are.
        array = np.array(array) if min(array.strides, default=0) < 0 else array
        return np.require(array, array.dtype.newbyteorder("="), "W")
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")


def framework(name: str) -> Any:
    """Import a framework, or say how to get it."""
    try:
        if name == "jax":
            import jax

            return jax
        import torch

        return torch
    except ImportError as error:
        raise ImportError(
            f"this needs {name}, which is not installed: pip install 'gradcheck-ref[{name}]'"
        ) from error


def fitted(given: Any, shape: tuple[int, ...], is_complex: bool, name: str) -> Array:
    """Return our own copy of an upstream or a tangent, in double precision, if it fits."""
    array = np.asarray(given)
    if kind_of(array.dtype) not in "fciub":
        raise TypeError(f"{name} must be an array of numbers, not {described(given)}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, but should have shape {shape}")
    if array.dtype.kind == "c" and not is_complex:
        raise TypeError(f"{name} is complex, but should be real")
    return array.astype(complex if array.dtype.kind == "c" else float, order="C")
