"""What f returns: an array, a tree of arrays, or a tuple of them, always arranged as at x."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described
from gradcheck_ref.structure.parts import Side, as_array
from gradcheck_ref.structure.trees import Forest, Opener


class AnotherShapeError(ValueError):
    """f returns something else than it does at x."""


class Outputs(Side):
    """The output of f: one array or tree, or a tuple of them, as one flat real vector.

    Integer and boolean outputs have no slope: they are left out, by position. So are others that f
    says are constants to whoever asks for a derivative. The fields of a named tuple are their
    names.

    Parameters
    ----------
    value : any
        What f returns.
    dtype : dtype
        Of the flat vector.
    constants : sequence of int
        The numbers of the outputs to leave out; if nothing else is left, none of them is.
    opener : callable, optional
        Opens containers that only f knows.
    """

    def __init__(
        self,
        value: Any,
        dtype: Any,
        constants: Sequence[int] = (),
        opener: Opener | None = None,
    ) -> None:
        self.several = isinstance(value, tuple | list)
        self.left_out: list[str] = []
        if type(value) is int:  # as max(0, margin) where there is none
            value = float(value)
        self.dtype = dtype
        values = list(value) if self.several else [value]
        names = ["output"]
        if self.several:
            fields = getattr(value, "_fields", ())
            names = list(fields) or [f"output[{j}]" for j in range(len(values))]
        self.forest = Forest(values, names, opener)
        arrays = [_output_array(one, "f") for one in self.forest.leaves(values)]
        self.shapes = [array.shape for array in arrays]
        moving = {
            j: self.forest.names[j] for j, array in enumerate(arrays) if array.dtype.kind in "fc"
        }
        if not moving:
            raise TypeError("f returns no floating point or complex number: it has no derivative")
        if not set(moving) <= set(constants):
            self.left_out = [moving.pop(j) for j in constants if j in moving]
        self._lay(moving, self.forest.names, arrays)
        self.eps = np.concatenate([np.full(p.size, p.eps) for p in self.parts.values()])
        self.simple = self.forest.bare and not self.several and not self.parts[0].is_complex
        self.scalar = self.simple and self.shapes[0] == ()

    def flat(self, value: Any) -> Array:
        """Return an output as a flat real vector, with NaN for what is no finite real number.

        Raises ValueError if it does not have the shapes it had at x.
        """
        flat = np.asarray(self.numbers(value), self.dtype).reshape(-1)
        return np.where(np.isfinite(flat), flat, np.nan)

    def numbers(self, value: Any) -> Array | float:
        """Return an output as `flat` does, or as the one number that it is, finite or not."""
        # The common cases stay cheap: one number, and one real array.
        if self.scalar and isinstance(value, float):
            return value
        as_it_is = type(value) is np.ndarray and value.dtype == self.dtype
        if self.simple and as_it_is and value.shape == self.shapes[0]:
            flat: Array = value.ravel()
            return flat
        try:
            return self.joined(self._arrays(value, "f"))
        except ValueError as error:
            raise AnotherShapeError(f"f changes what it returns: {error} as at x") from None

    def derivative(self, value: Any) -> list[Array]:
        """Return the arrays of what a jvp gives, which is arranged as the output is.

        Raises ValueError if its shapes are others, TypeError if it is complex where f is real.
        """
        arrays = self._arrays(value, "jvp")
        for j, part in self.parts.items():
            if arrays[j].dtype.kind == "c" and not part.is_complex:
                raise TypeError(f"jvp gives complex numbers for {part.name}, which is real")
        return arrays

    def _leaves(self, value: Any) -> list[Any]:
        """Return what stands for each output; ValueError if it is arranged otherwise than at x."""
        if isinstance(value, tuple | list) != self.several:
            one = "one array" if self.forest.bare else "one tree"
            one_or_many = f"a tuple of {len(self.forest.trees)}" if self.several else one
            raise ValueError(f"{described(value)} instead of {one_or_many}")
        values = list(value) if self.several else [value]
        if self.forest.bare:
            return values
        found, strange = self.forest.picked(dict(enumerate(values)))
        strange += [f"output[{j}]" for j in range(len(self.forest.trees), len(values))]
        lacking = [name for k, name in enumerate(self.forest.names) if k not in found]
        if lacking or strange:
            what = f"without {', '.join(lacking)}" if lacking else f"with {', '.join(strange)}"
            raise ValueError(f"a tree {what} instead of one {'with' if lacking else 'without'} it")
        return [found[k] for k in range(len(found))]

    def _arrays(self, value: Any, who: str) -> list[Array]:
        """Take apart what f or jvp returns; ValueError if its shapes are not those at x."""
        arrays = [_output_array(one, who) for one in self._leaves(value)]
        shapes = [array.shape for array in arrays]
        if shapes != self.shapes:
            theirs, ours = (", ".join(map(str, each)) for each in (shapes, self.shapes))
            raise ValueError(f"shape {theirs} instead of {ours}")
        return arrays

    def unflat(self, coordinates: Array) -> Any:
        """Return a flat real vector in the structure of the output."""
        arrays: list[Any] = [np.zeros(shape) for shape in self.shapes]
        for j, part in self.parts.items():
            arrays[j] = part.array(coordinates[part.stretch])[() if not part.shape else ...]
        values = self.forest.built(arrays)
        return tuple(values) if self.several else values[0]


def _output_array(value: Any, who: str) -> Array:
    """Return an output as an array of numbers."""
    array = as_array(value)
    if array.dtype.kind not in "fciub":
        raise TypeError(
            f"{who} must return a number, an array of numbers, or a tuple of them, "
            f"not {described(value)}"
        )
    return array
