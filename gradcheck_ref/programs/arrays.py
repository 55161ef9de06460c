"""Arrays as a program gets and gives them: reals as text, or little-endian numbers in a file."""

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.messages import counted

# Most numbers lie between 1 / TAME and TAME. With the bytes of each the other way round they do
# not, because the lowest byte becomes the exponent: by chance one double in 25 still does, and one
# float32 in 3. FEWEST different numbers that are tame only when swapped are no chance.
TAME, FEWEST, NEARLY_ALL = 1e12, 6, 0.9


class ArrayError(ValueError):
    """What should be an array is none."""


@dataclass(frozen=True)
class Spec:
    """An array as it was described.

    Attributes
    ----------
    name : str
        What it is called.
    shape : tuple of int
        Its shape.
    dtype : dtype
        Its dtype, in this machine's byte order.
    """

    name: str
    shape: tuple[int, ...] = ()
    dtype: np.dtype[Any] = np.dtype(np.float64)  # noqa: RUF009 (it cannot be changed)

    @property
    def size(self) -> int:
        """The number of its entries."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """How many bytes its numbers take in a file."""
        return self.size * self.dtype.itemsize

    @property
    def in_a_file(self) -> np.dtype[Any]:
        """The dtype of its numbers in a file."""
        return self.dtype.newbyteorder("<")

    def text(self, array: Array) -> Any:
        """Write an array of this shape as text."""
        said = [repr(value) for value in array.reshape(-1).tolist()]
        return said if self.shape else said[0]

    def read(self, given: Any) -> Array:
        """Read what a reply has, which keeps the table; its shape may be another one.

        Raises
        ------
        ArrayError
            If a nested list is ragged, or a file does not have as many numbers.
        """
        if isinstance(given, dict):
            return self._from_file(given["file"])
        shape, entries = unnested(given, self.name)
        try:
            numbers = [int(v) for v in entries] if self.dtype.kind == "i" else _floats(entries)
        except ValueError:
            raise ArrayError(f"{self.name} holds what is no integer, but is {self.dtype}") from None
        try:
            array = np.array(numbers, self.dtype)
        except OverflowError:
            raise ArrayError(f"{self.name} holds what is too large for {self.dtype}") from None
        if len(shape) > 1 and (shape != (1, 1) or len(self.shape) > 1):
            return array.reshape(shape)
        return array.reshape(self.shape) if array.size == self.size else array

    def _from_file(self, path: str) -> Array:
        if not os.path.isfile(path):  # a pipe, for example, would be waited for
            raise ArrayError(f"{self.name} is said to be in {path}, but there is no such file")
        if (there := os.path.getsize(path)) != self.bytes:
            other = {8: "float32", 4: "float64"}[self.dtype.itemsize]
            hint = "is the file closed before the reply is written?"
            if there == self.size * (12 - self.dtype.itemsize):
                hint = f"if they are {other}, describe it as that"
            raise ArrayError(
                f"{self.name} has {counted(there, 'byte')} in its file, but "
                f"{counted(self.size, f'{self.dtype} number')} take{'s' * (self.size == 1)} "
                f"{self.bytes}; {hint}"
            )
        try:
            read = np.fromfile(path, self.in_a_file)
        except OSError as error:
            raise ArrayError(f"{self.name}: cannot read {path}: {error.strerror}") from None
        if _is_swapped(read):
            raise ArrayError(
                f"{self.name} is big-endian, and must be little-endian: the lowest byte of each "
                f"number comes first (the first number reads as {read[0]:.3g}, and with its bytes "
                f"swapped as {read.byteswap()[0]:.6g})"
            )
        return read.astype(self.dtype, copy=False).reshape(self.shape)


def _is_swapped(array: Array) -> bool:
    """Tell whether reals make sense only with the bytes of each the other way round."""
    there = array[array != 0]
    if array.dtype.kind != "f" or _tame(there) >= 0.5 or len(np.unique(there)) < FEWEST:
        return False
    return _tame(there.byteswap()) >= NEARLY_ALL


def _tame(array: Array) -> float:
    """Return which share of some numbers, of which there may be none, has an ordinary size."""
    with np.errstate(all="ignore"):
        size = np.abs(array.astype(np.float64))
    return float(np.mean((size > 1 / TAME) & (size < TAME))) if size.size else 1.0


def _floats(entries: list[str]) -> list[float]:
    try:
        return [float(entry) for entry in entries]
    except ValueError:  # nan(ind), as some C libraries say
        return [math.nan if "(" in entry else float(entry) for entry in entries]


def unnested(given: Any, name: str) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of a nested list, and its entries row by row."""
    shape, level = [], [given]
    while any(isinstance(part, list) for part in level):
        sizes = {len(part) if isinstance(part, list) else None for part in level}
        if len(sizes) > 1:
            raise ArrayError(f"{name} is a ragged list: its rows are not of one length")
        shape.append(len(level[0]))
        level = [entry for part in level for entry in part]
    return tuple(shape), level
