"""Arrays on their way to and from a program: reals as text, or little-endian numbers in a file."""

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation.messages import as_float, counted


class ArrayError(ValueError):
    """A value is not the array that it should be."""


@dataclass(frozen=True)
class Spec:
    """The description of an array."""

    name: str
    shape: tuple[int, ...] = ()
    # in this machine's byte order
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009 (it cannot be changed)

    @property
    def size(self) -> int:
        """The number of its entries."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes its numbers take in a file."""
        return self.size * self.dtype.itemsize

    def text(self, array: Array) -> Any:
        """Write an array of this shape as text."""
        said = [repr(value) for value in array.reshape(-1).tolist()]
        return said if self.shape else said[0]

    def read(self, given: Any) -> Array:
        """Read an array from a valid reply; its shape may differ from the description.

        Raises
        ------
        ArrayError
            If a nested list is ragged, or a file has the wrong size.
        """
        if isinstance(given, dict):
            return self._from_file(given["file"])
        shape, entries = unnested(given, self.name)
        try:
            numbers = [int(v) if self.dtype.kind == "i" else as_float(v) for v in entries]
            array = np.array(numbers, self.dtype)
        except (ValueError, OverflowError):
            said = f"{self.name} holds a value that does not fit in {self.dtype}"
            raise ArrayError(said) from None
        if len(shape) > 1 and (shape != (1, 1) or len(self.shape) > 1):
            return array.reshape(shape)
        return array.reshape(self.shape) if array.size == self.size else array

    def _from_file(self, path: str) -> Array:
        # Reading a pipe or a device could wait forever.
        if not os.path.isfile(path) or not os.access(path, os.R_OK):
            raise ArrayError(f"{self.name} should be in {path}, but no such file can be read")
        if (there := os.path.getsize(path)) != self.bytes:
            raise ArrayError(
                f"the file of {self.name} has {counted(there, 'byte')}, but should have "
                f"{self.bytes}: is it closed before the reply, and are its numbers {self.dtype}?"
            )
        read = np.fromfile(path, self.dtype.newbyteorder("<"))
        return read.astype(self.dtype, copy=False).reshape(self.shape)


def unnested(given: Any, name: str) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of a nested list, and its entries row by row."""
    shape, level = [], [given]
    while any(isinstance(part, list) for part in level):
        sizes = {len(part) if isinstance(part, list) else None for part in level}
        if len(sizes) > 1:
            raise ArrayError(f"{name} is a ragged list: its rows differ in length")
        shape.append(len(level[0]))
        level = [entry for part in level for entry in part]
    return tuple(shape), level
