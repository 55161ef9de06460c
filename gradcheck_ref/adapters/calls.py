"""One call of a framework's function: which inputs are differentiated, and how all is arranged."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described


class Arguments:
    """The inputs of one call, in order and by name; some are differentiated, others constants.

    Parameters
    ----------
    inputs : tuple
        Those handed over in order.
    named : dict
        Those handed over by name.
    """

    def __init__(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.in_order = len(inputs)
        self.names = [f"inputs[{k}]" for k in range(len(inputs))] + list(named)
        given = (*inputs, *named.values())
        self.values = [_own(value, name) for value, name in zip(given, self.names, strict=True)]
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

    def call(self, fn: Callable[..., Any], values: list[Any]) -> Any:
        """Call fn with these values, in order or by name as the inputs came."""
        named = dict(zip(self.names[self.in_order :], values[self.in_order :], strict=True))
        return fn(*values[: self.in_order], **named)

    def arranged(self, gradients: dict[int, Array]) -> Any:
        """Arrange gradients, given by the number of their input, as the inputs came."""
        every = [gradients.get(k) for k in range(len(self.values))]
        if self.in_order:
            return one_or_tuple(every, len(every) > 1)
        return dict(zip(self.names, every, strict=True))

    def listed(self, given: Any, name: str) -> list[Any]:
        """Return what is given for every input, arranged as the inputs came, as a list."""
        if isinstance(given, Mapping):
            by_name = self.names[self.in_order :]
            unknown = [key for key in given if key not in by_name]
            if unknown or self.in_order:
                raise ValueError(
                    f"{name} holds {', '.join(map(repr, unknown or given))}, but the inputs came "
                    f"{'in order' if self.in_order else f'as {by_name}'}: arrange it as they are"
                )
            given = [given.get(key) for key in by_name]
        elif not isinstance(given, tuple | list):
            given = [given]
        if len(given) != len(self.values):
            raise ValueError(
                f"{name} is for {len(given)} inputs, but there are {len(self.values)}: give one "
                "array for each, in their order or by name, and None for a constant"
            )
        return list(given)


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


def listed_upstream(given: Any, count: int, several: bool) -> list[Any]:
    """Return what is given for every output as a list."""
    if not several:
        return [given]
    if not isinstance(given, tuple | list) or len(given) != count:
        raise ValueError(
            f"fn returns {count} outputs: upstream must be a tuple of as many arrays, "
            f"not {described(given)}"
        )
    return list(given)


def listed_outputs(returned: Any, kinds: Any, kind: str) -> tuple[list[Any], bool]:
    """Return the outputs as a list, and whether they are several."""
    several = isinstance(returned, tuple | list)
    outputs = list(returned) if several else [returned]
    for j, output in enumerate(outputs):
        if not isinstance(output, kinds):
            what = described(output) + (f" at {j}" if several else "")
            raise TypeError(f"fn must return one {kind}, or a tuple of them, not {what}")
    return outputs, several


def one_or_tuple(arrays: Iterable[Any], several: bool) -> Any:
    """Return several as a tuple, and one as it is."""
    return tuple(arrays) if several else next(iter(arrays))
