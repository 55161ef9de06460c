"""Arrays as a program gets and gives them: reals as text, or the bytes of little-endian numbers."""

import base64
import binascii
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.messages import counted, shortened

# Arrays of more entries are sent as base64 to who reads it: below, text is as short as makes a
# difference, and can be read by people.
FEW = 64

# Most numbers are of such a size. With the bytes of each the other way round they are not, for then
# the lowest byte is the exponent: by chance one double in 25 is so tame, and one float32 in 3. So
# many together, by itemsize, are so only if somebody has written them so.
TAME = 1e12
FEWEST = {8: 3, 4: 6}
NEARLY_ALL = 0.9


class ArrayError(ValueError):
    """What stands for an array is none."""


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
    def _on_the_wire(self) -> np.dtype[Any]:
        return self.dtype.newbyteorder("<")

    def write(self, array: Array, as_bytes: bool) -> Any:
        """Write an array of this shape for a request."""
        if as_bytes and array.size > FEW:
            return {"base64": encoded(np.ascontiguousarray(array, self._on_the_wire).tobytes())}
        said = [repr(value) for value in array.reshape(-1).tolist()]
        return said if self.shape else said[0]

    def read(self, given: Any) -> Array:
        """Read what a reply has, which keeps the table; its shape may be another one.

        Raises
        ------
        ArrayError
            If a nested list is ragged, or base64 does not hold whole numbers.
        """
        if isinstance(given, dict):
            return self._decoded(given["base64"])
        shape, entries = unnested(given, self.name)
        try:
            numbers = [int(v) for v in entries] if self.dtype.kind == "i" else _floats(entries)
        except ValueError:
            raise ArrayError(f"{self.name} holds what is no integer, but is {self.dtype}") from None
        try:
            return self.arranged(np.array(numbers, self.dtype), shape)
        except OverflowError:
            raise ArrayError(f"{self.name} holds what is too large for {self.dtype}") from None

    def _decoded(self, text: str) -> Array:
        try:
            content = decoded(text)
        except ValueError as error:
            raise ArrayError(f"{self.name} is no base64: {error}") from None
        itemsize = self.dtype.itemsize
        if len(content) != self.size * itemsize:
            other = {8: "float32", 4: "float64"}[itemsize]
            hint = ""
            if len(content) == self.size * (12 - itemsize):
                hint = f"; if they are {other}, describe it as that"
            raise ArrayError(
                f"{self.name} has {counted(len(content), 'byte')}, but "
                f"{counted(self.size, f'{self.dtype} number')} take{'s' * (self.size == 1)} "
                f"{self.size * itemsize}{hint}"
            )
        read = np.frombuffer(content, self._on_the_wire)
        if _is_swapped(read):
            raise ArrayError(
                f"{self.name} is big-endian, as its numbers show: of each the first byte is to be "
                f"the lowest, little-endian (as it is read, the first one is {read[0]:.3g}, and "
                f"the other way round {read.byteswap()[0]:.6g})"
            )
        return self.arranged(read.astype(self.dtype), ())

    def arranged(self, array: Array, shape: tuple[int, ...]) -> Array:
        """Give entries of a list, nested so, the shape that was described if they are as many."""
        if len(shape) > 1 and (shape != (1, 1) or len(self.shape) > 1):
            return array.reshape(shape)
        return array.reshape(self.shape) if array.size == self.size else array


def encoded(content: bytes) -> str:
    """Write bytes as base64."""
    return base64.b64encode(content).decode("ascii")


def decoded(text: str) -> bytes:
    """Read base64; ValueError if it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{error}, in {shortened(text, 40)}") from None


def bits(flags: Array) -> str:
    """Write a bit for each entry, the first one in the lowest bit of the first byte."""
    return encoded(np.packbits(flags, bitorder="little").tobytes())


def _is_swapped(array: Array) -> bool:
    """Tell whether an array of reals makes sense only with the bytes of each the other way round.

    Then nearly all are of an ordinary size, and as they are read most are not.
    """
    there = array[array != 0]
    if array.dtype.kind != "f" or _tame(there) >= 0.5:
        return False
    many = len(np.unique(there)) >= FEWEST[array.itemsize]
    return many and _tame(there.byteswap()) >= NEARLY_ALL


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


def unnested(given: Any, name: str) -> tuple[tuple[int, ...], list[str]]:
    """Return the shape of a nested list, and its entries row by row."""
    shape, level = [], [given]
    while any(isinstance(part, list) for part in level):
        sizes = {len(part) if isinstance(part, list) else None for part in level}
        if len(sizes) > 1:
            raise ArrayError(f"{name} is a ragged list: its rows are not of one length")
        shape.append(len(level[0]))
        level = [entry for part in level for entry in part]
    return tuple(shape), level
