"""One call of a framework's function: which inputs are differentiated, and how all is arranged.

What is numbered are the leaves of all inputs, and of all outputs, which may be trees.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.structure.inputs import plain_numbers
from gradcheck_ref.structure.trees import Forest, Opener

# Constants that are the same if they are written the same.
PLAIN = (bool, int, float, complex, str, bytes, type(None))

# Many at once add up in another order than one by one: so many roundings of the largest.
ROUNDINGS = 1e3


class Arguments:
    """The inputs of one call, in order and by name; some are differentiated, others constants.

    Parameters
    ----------
    inputs : tuple
        Those handed over in order.
    named : dict
        Those handed over by name.
    opener : callable, optional
        Opens containers that only the framework knows.
    numbers_are_constants : bool
        Whether Python's own floats beside arrays are constants.
    """

    def __init__(
        self,
        inputs: tuple[Any, ...],
        named: dict[str, Any],
        opener: Opener | None = None,
        numbers_are_constants: bool = False,
    ) -> None:
        self.in_order, self.opener = len(inputs), opener
        self.keys = [f"inputs[{k}]" for k in range(len(inputs))] + list(named)
        self.given = (*inputs, *named.values())
        self.forest = Forest(self.given, self.keys, opener)
        self.names = self.forest.names
        leaves = self.leaves = self.forest.leaves(self.given)
        kept = plain_numbers(leaves) if numbers_are_constants else set()
        self.values = [
            value if k in kept else _own(value, name)
            for k, (value, name) in enumerate(zip(leaves, self.names, strict=True))
        ]
        self.differentiated = [
            k
            for k, value in enumerate(self.values)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fc"
        ]

    def converted(self, convert: Callable[[Array], Any]) -> list[Any]:
        """Return the values, with the arrays of numbers as the framework has them."""
        return [
            convert(value)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fciub"
            else value
            for value in self.values
        ]

    def stacks(
        self, points: Sequence[Any], form: Callable[[Any], Any] | None = None
    ) -> list[Array] | None:
        """Stack what is differentiated at some points, each array for itself.

        Parameters
        ----------
        points : sequence
            Each one input, or a tuple or mapping of inputs.
        form : callable, optional
            Tells what containers hold besides their leaves.

        Returns
        -------
        list of ndarray or None
            None where a point differs from these arguments in more than those arrays.
        """
        form = form or (lambda given: None)
        columns: list[list[Array]] = [[] for _ in self.differentiated]
        moves = [k in self.differentiated for k in range(len(self.leaves))]
        for point in points:
            inputs, named = in_order_and_by_name(point)
            given, keys = (*inputs, *named.values()), list(named)
            if len(inputs) != self.in_order or keys != self.keys[self.in_order :]:
                return None
            leaves = list(given)
            if not self.forest.bare:
                forest = Forest(given, self.keys, self.opener)
                if forest.names != self.names or form(given) != form(self.given):
                    return None
                leaves = forest.leaves(given)
            if not all(map(alike, self.leaves, leaves, moves)):
                return None
            for k, column in zip(self.differentiated, columns, strict=True):
                column.append(leaves[k])
        return [np.array(column, order="C") for column in columns]

    def call(self, fn: Callable[..., Any], values: list[Any]) -> Any:
        """Call fn with these values, in order or by name as the inputs came."""
        given = self.forest.built(values)
        named = dict(zip(self.keys[self.in_order :], given[self.in_order :], strict=True))
        return fn(*given[: self.in_order], **named)

    def arranged(self, gradients: dict[int, Array]) -> Any:
        """Arrange gradients, given by the number of their leaf, as the inputs came."""
        every = self.forest.built([gradients.get(k) for k in range(len(self.values))])
        if self.in_order:
            return tuple(every) if len(every) > 1 else every[0]
        return dict(zip(self.keys, every, strict=True))

    def listed(self, given: Any, name: str) -> list[Any]:
        """Return what is given for every leaf, arranged as the inputs came, as a list."""
        if self._is_the_only_tree(given):
            given = [given]
        elif isinstance(given, Mapping) and not self.in_order:
            unknown = [key for key in given if key not in self.keys]
            if unknown:
                raise ValueError(
                    f"{name} holds {', '.join(map(repr, unknown))}, but the inputs came as "
                    f"{self.keys}: arrange it as they are"
                )
            given = [given.get(key) for key in self.keys]
        elif len(self.keys) == 1 and not (self.forest.bare and isinstance(given, tuple | list)):
            given = [given]
        elif isinstance(given, Mapping):
            raise ValueError(
                f"{name} holds {', '.join(map(repr, given))}, but the inputs came in order: "
                "arrange it as they are"
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
        """Whether this is for the one input that came by name, and not its name with that in it."""
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
    """What fn returns: one array or tree of them, or a tuple; numbered by its leaves.

    Parameters
    ----------
    returned : any
        The output.
    kinds : type or tuple of types
        What its leaves must be.
    kind : str
        The word for that.
    opener : callable, optional
        Opens containers that only the framework knows.

    Attributes
    ----------
    leaves : list
        The outputs, as the framework has them.
    """

    def __init__(self, returned: Any, kinds: Any, kind: str, opener: Opener | None = None) -> None:
        self.several = isinstance(returned, tuple | list)
        values = list(returned) if self.several else [returned]
        fields = getattr(returned, "_fields", ()) if self.several else ()
        names = [f"output[{j}]" for j in range(len(values))] if self.several else ["output"]
        names = list(fields) or names
        self.build: Any = partial(_named, type(returned)) if fields else tuple
        self.forest = Forest(values, names, opener)
        self.leaves = self.forest.leaves(values)
        for leaf, name in zip(self.leaves, self.forest.names, strict=True):
            if not isinstance(leaf, kinds):
                what = described(leaf) + (f" at {name}" if name != "output" else "")
                raise TypeError(f"fn must return one {kind}, or a tree of them, not {what}")

    def arranged(self, arrays: Iterable[Any]) -> Any:
        """Arrange as many arrays as there are leaves as fn arranges its output."""
        every = self.forest.built(list(arrays))
        return self.build(every) if self.several else every[0]

    def listed(self, upstream: Any) -> list[Any]:
        """Return what is given for every leaf as a list."""
        count = len(self.forest.trees)
        if self.several and (not isinstance(upstream, tuple | list) or len(upstream) != count):
            raise ValueError(
                f"fn returns {count} outputs: upstream must be a tuple of as many arrays, "
                f"not {described(upstream)}"
            )
        return _listed(self.forest, list(upstream) if self.several else [upstream], "upstream")


def _named(kind: Any, values: list[Any]) -> Any:
    return kind(*values)


def _listed(forest: Forest, given: list[Any], name: str) -> list[Any]:
    """Return what is given for every leaf; None for those that are left out."""
    if forest.bare:
        return list(given)
    found, strange = forest.picked(dict(enumerate(given)))
    if strange:
        raise ValueError(f"{name} holds something for {', '.join(strange)}, which is not there")
    if not found:
        raise ValueError(f"{name} must be the same tree as what it is for, not {described(given)}")
    return [found.get(k) for k in range(len(forest.names))]


def in_order_and_by_name(point: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Tell how a point is handed over, which is one input, or a tuple or mapping of inputs."""
    if isinstance(point, Mapping):
        return (), dict(point)
    return (point if isinstance(point, tuple) else (point,)), {}


def every_point(points: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Tell how each of some points is handed over."""
    each = "each one input, or a tuple or dict of inputs"
    return list(map(in_order_and_by_name, _every(points, "point", each)))


def every_upstream(upstreams: Any) -> list[Any]:
    """List some upstream gradients."""
    return _every(upstreams, "upstream", "each as vjp takes it")


def _every(given: Any, what: str, each: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise TypeError(
            f"{what}s must be a list of {what}s, {each}, not {described(given)}: for one {what}, "
            f"pass [{what}]"
        ) from None


def alike(mine: Any, other: Any, moves: bool = False) -> bool:
    """Tell whether two leaves are the same, but for the numbers of one that moves."""
    if mine is other:
        return True
    if type(mine) is not type(other):
        return False
    if isinstance(mine, np.ndarray | np.generic):
        same = mine.shape == other.shape and mine.dtype == other.dtype
        return same and (moves or mine.tobytes() == other.tobytes())
    return moves or (isinstance(mine, PLAIN) and repr(mine) == repr(other))


def close(found: Sequence[Array], alone: Sequence[Array]) -> bool:
    """Tell whether arrays are the same but for another order of adding up."""
    for a, b in zip(found, alone, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.tobytes() == b.tobytes():  # as a rule
            continue
        eps = float(np.finfo(b.dtype).eps) if b.dtype.kind in "fc" else 0.0
        largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        if not np.allclose(a, b, rtol=0.0, atol=ROUNDINGS * eps * largest, equal_nan=True):
            return False
    return True


@contextmanager
def missing_by_type(
    kinds: type[Exception] | tuple[type[Exception], ...], words: Iterable[str]
) -> Iterator[None]:
    """Raise NotImplementedError where the framework says in these words that a rule is missing."""
    try:
        yield
    except kinds as error:
        if any(some in str(error) for some in words):
            raise NotImplementedError(str(error)) from error
        raise


def _own(value: Any, name: str) -> Any:
    """Return our own copy of an array or floating number, as every framework takes it."""
    if isinstance(value, np.integer | np.bool):
        return value.item()  # torch wants Python's own for a flag or an axis
    if not isinstance(value, np.ndarray | np.inexact | float | complex):
        return value
    array = np.asarray(value)
    if array.dtype.char in "gG" and array.dtype.itemsize > 8 * (1 + (array.dtype.kind == "c")):
        raise TypeError(f"{name} is {array.dtype}, which no framework has: pass float64")
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")


def fitted(given: Any, shape: tuple[int, ...], is_complex: bool, name: str) -> Array:
    """Return an upstream or a tangent as our own array of double precision, if it fits."""
    array = np.asarray(given)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{name} must be an array of numbers, not {described(given)}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, but what it is for has shape {shape}")
    if array.dtype.kind == "c" and not is_complex:
        raise TypeError(f"{name} is complex, but what it is for is real")
    return array.astype(complex if array.dtype.kind == "c" else float, order="C")
