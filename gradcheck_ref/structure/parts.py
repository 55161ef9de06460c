"""Arrays side by side in one flat real vector. The check works on that vector.

A complex entry is two real coordinates, its real and its imaginary part, next to each other. By
torch's convention the gradient of a real L with respect to a complex z = x + iy is
dL/dx + i dL/dy. So the two coordinates of the gradient are the slopes of L along x and along y,
and complex numbers need no code of their own.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, index_text, limits_of
from gradcheck_ref.structure.matrices import is_sparse


@dataclass(frozen=True)
class Part:
    """An array as a slice of a flat real vector."""

    name: str  # what reports call it
    shape: tuple[int, ...]  # the shape of the array
    dtype: np.dtype[Any]  # its dtype, floating or complex
    start: int  # where its coordinates begin in the flat vector
    shorter: float = 0.0  # the relative spacing of what f makes of its numbers, if NumPy lacks that

    @property
    def is_complex(self) -> bool:
        """Whether an entry has two coordinates."""
        return self.dtype.kind == "c"

    @cached_property
    def real_dtype(self) -> np.dtype[Any]:
        """The dtype of one coordinate."""
        return np.zeros(0, self.dtype).real.dtype

    @cached_property
    def eps(self) -> float:
        """The spacing of its numbers, relative to their size."""
        return self.shorter or float(limits_of(self.dtype).eps)

    @cached_property
    def size(self) -> int:
        """How many real coordinates there are."""
        return math.prod(self.shape) * (2 if self.is_complex else 1)

    @cached_property
    def stretch(self) -> slice:
        """The slice of the flat vector that holds this part."""
        return slice(self.start, self.start + self.size)

    def holds(self, coordinates: Array) -> Array:
        """Tell which coordinates of the flat vector belong to this part."""
        return (coordinates >= self.start) & (coordinates < self.start + self.size)

    def entry(self, coordinate: int) -> str:
        """Name one coordinate, counted within this part, e.g. ``W1[0, 2]``."""
        parts = 2 if self.is_complex else 1
        index = np.unravel_index(coordinate // parts, self.shape) if self.shape else ()
        name = self.name + index_text(index)
        return f"the {('real', 'imaginary')[coordinate % 2]} part of {name}" if parts == 2 else name

    @np.errstate(invalid="ignore")  # memory that nobody has written may hold signaling NaN
    def flat(self, array: Any, dtype: Any) -> Array:
        """Return an array of this part's shape as flat real coordinates of the given dtype.

        If this part is real, an entry with an imaginary part becomes NaN.
        """
        if array.dtype.kind == "c" and not self.is_complex:
            array = np.where(array.imag == 0, array.real, np.nan)
        if self.is_complex:
            array = np.ascontiguousarray(array, np.result_type(dtype, np.complex64))
            return np.asarray(array.reshape(-1).view(array.real.dtype), dtype)
        return np.ascontiguousarray(array, dtype).reshape(-1)

    def rounded(self, coordinates: Array) -> Array:
        """Return flat real coordinates as f sees them, in the precision of this part."""
        if not self.shorter:
            return coordinates.astype(self.real_dtype)
        mantissas, exponents = np.frexp(coordinates)
        return np.ldexp(np.rint(mantissas * (2 / self.shorter)) * (self.shorter / 2), exponents)

    def array(self, coordinates: Array) -> Array:
        """Return flat real coordinates as a new array of this part's shape and dtype."""
        return coordinates.astype(self.real_dtype).view(self.dtype).reshape(self.shape)

    def entries(self, coordinates: Array) -> Array:
        """Return rows of flat real coordinates, (size, columns), in the shape of this part.

        The columns are a last axis more, and a complex entry is one number.
        """
        if self.is_complex:
            coordinates = coordinates[0::2] + 1j * coordinates[1::2]
        return coordinates.reshape(*self.shape, coordinates.shape[-1])

    def coordinates(self, entries: Array) -> Array:
        """Return what `entries` makes an array of."""
        rows = entries.reshape(math.prod(self.shape), entries.shape[-1])
        if not self.is_complex:
            return rows
        return np.stack([rows.real, rows.imag], axis=1).reshape(self.size, -1)


class Side:
    """The base of inputs and outputs: the parts of one flat real vector."""

    parts: dict[int, Part]
    size: int
    dtype: Any

    def _lay(
        self,
        which: Iterable[int],
        names: Sequence[str],
        arrays: Sequence[Any],
        shorter: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Lay some of the arrays side by side in a flat vector; ``shorter`` as in `Part`."""
        self.parts, self.size = {}, 0
        for k in which:
            eps = shorter.get(names[k], 0.0)
            self.parts[k] = Part(names[k], arrays[k].shape, arrays[k].dtype, self.size, eps)
            self.size += self.parts[k].size

    def joined(self, arrays: Any) -> Array:
        """Join arrays, one for each part by its number, into one flat real vector."""
        flat = [part.flat(arrays[k], self.dtype) for k, part in self.parts.items()]
        return np.concatenate(flat) if flat else np.zeros(0)


def as_array(value: Any) -> Array:
    """Return a value as an array: NaN for masked entries, and just None for a ragged list.

    A sparse matrix is written out.
    """
    if not isinstance(value, np.ndarray) and is_sparse(value):
        value = value.toarray()
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "fc":
        value = value.filled(np.nan)
    try:
        return np.asarray(value)
    except ValueError:
        return np.array(None)
