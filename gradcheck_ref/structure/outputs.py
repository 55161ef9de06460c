"""The output of f: an array, a tree of arrays, or a tuple of them, always arranged as at x."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, described, kind_of, limits_of
from gradcheck_ref.structure.parts import Side, as_array
from gradcheck_ref.structure.trees import Forest, Opener


class AnotherShapeError(ValueError):
    """The output of f does not have the shape, or the structure, that it has at x."""


class Outputs(Side):
    """The output of f: one array or tree, or a tuple of them, as one flat real vector.

    Integer and boolean outputs have no slope and are left out, like the outputs that f declares
    to be constants. The outputs in a named tuple are named by its fields.

    Parameters
    ----------
    value : any
        The value of f at x.
    dtype : dtype
        The dtype of the flat vector.
    constants : sequence of int
        The positions of the outputs to leave out; if they are all outputs, none is left out.
    opener : callable, optional
        Opens containers that only f knows.
    paired : bool, default False
        Whether f returns (value, gradient): then the value alone is the output.
    """

    def __init__(
        self,
        value: Any,
        dtype: Any,
        constants: Sequence[int] = (),
        opener: Opener | None = None,
        paired: bool = False,
    ) -> None:
        self.paired = paired
        value = value[0] if paired else value
        self.several = isinstance(value, tuple | list)
        self.left_out: list[str] = []
        if type(value) is int:  # max(0, margin) returns the int 0 if the margin is negative
            value = float(value)
        self.dtype = dtype
        values, names = outputs_of(value)
        self.forest = Forest(values, names, opener)
        arrays = [_output_array(one, "f") for one in self.forest.leaves(values)]
        self.shapes = [array.shape for array in arrays]
        moving = {
            j: self.forest.names[j]
            for j, array in enumerate(arrays)
            if kind_of(array.dtype) in "fc"
        }
        if not moving:
            raise TypeError("f returns no floating point or complex number: it has no derivative")
        if not set(moving) <= set(constants):
            self.left_out = [moving.pop(j) for j in constants if j in moving]
        self._lay(moving, self.forest.names, arrays)
        parts = self.parts.values()
        self.eps = np.concatenate([np.full(p.size, p.eps) for p in parts])
        # Below it numbers have fewer digits than others of their dtype.
        self.smallest_normal = min(float(limits_of(p.dtype).smallest_normal) for p in parts)
        self.simple = self.forest.bare and not self.several and not self.parts[0].is_complex
        self.scalar = self.simple and self.shapes[0] == ()

    def flat(self, value: Any) -> Array:
        """Return an output as a flat real vector; NaN for an entry that is not real and finite.

        Raises ValueError if it does not have the shapes it had at x.
        """
        flat = np.asarray(self.numbers(value), self.dtype).reshape(-1)
        return np.where(np.isfinite(flat), flat, np.nan)

    def numbers(self, value: Any) -> Array | float:
        """Return an output as `flat` does, but keep infinities, and a scalar as one number."""
        if self.paired:
            value = _first_of(value)
        # The common cases stay cheap: one number, and one real array.
        if self.scalar and isinstance(value, float):
            return value
        is_usable = type(value) is np.ndarray and value.dtype == self.dtype
        if self.simple and is_usable and value.shape == self.shapes[0]:
            flat: Array = value.ravel()
            return flat
        try:
            return self.joined(self._arrays(value, "f"))
        except ValueError as error:
            raise AnotherShapeError(f"f changes what it returns: {error} as at x") from None

    def derivative(self, value: Any) -> list[Array]:
        """Return the arrays of the result of a jvp, which is arranged as the output is.

        Raises ValueError if its shapes differ, TypeError if it is complex where f is real.
        """
        arrays = self._arrays(value, "jvp")
        for j, part in self.parts.items():
            if arrays[j].dtype.kind == "c" and not part.is_complex:
                raise TypeError(f"jvp gives complex numbers for {part.name}, which is real")
        return arrays

    def _leaves(self, value: Any) -> list[Any]:
        """Return the leaf for each output; ValueError if they are not arranged as at x."""
        if isinstance(value, tuple | list) != self.several:
            one = "one array" if self.forest.bare else "one tree"
            one_or_many = f"a tuple of {len(self.forest.forms)}" if self.several else one
            raise ValueError(f"{described(value)} instead of {one_or_many}")
        values = list(value) if self.several else [value]
        if self.forest.bare:
            return values
        found, unknown = self.forest.picked(dict(enumerate(values)))
        unknown += [f"output[{j}]" for j in range(len(self.forest.forms), len(values))]
        lacking = [name for k, name in enumerate(self.forest.names) if k not in found]
        if lacking or unknown:
            what = f"without {', '.join(lacking)}" if lacking else f"with {', '.join(unknown)}"
            raise ValueError(f"a tree {what} instead of one {'with' if lacking else 'without'} it")
        return [found[k] for k in range(len(found))]

    def _arrays(self, value: Any, who: str) -> list[Array]:
        """Return the arrays in a result of f or jvp; ValueError if the shapes at x differ."""
        arrays = [_output_array(one, who) for one in self._leaves(value)]
        shapes = [array.shape for array in arrays]
        if shapes != self.shapes:
            theirs, ours = (", ".join(map(str, each)) for each in (shapes, self.shapes))
            raise ValueError(f"shape {theirs} instead of {ours}")
        return arrays

    def unflat(self, coordinates: Array, lay: Callable[[Array], Array] | None = None) -> Any:
        """Arrange a flat real vector as the output is; ``lay`` lays an array out in memory."""
        arrays: list[Any] = [np.zeros(shape) for shape in self.shapes]
        for j, part in self.parts.items():
            arrays[j] = part.array(coordinates[part.stretch])[() if not part.shape else ...]
            if lay is not None and part.shape:
                arrays[j] = lay(arrays[j])
        values = self.forest.built(arrays)
        return tuple(values) if self.several else values[0]


def _first_of(value: Any) -> Any:
    """Return the value of a pair (value, gradient)."""
    if not (isinstance(value, tuple | list) and len(value) == 2):
        said = f"{described(value)} instead of a pair (value, gradient)"
        raise AnotherShapeError(f"f changes what it returns: {said} as at x")
    return value[0]


def outputs_of(value: Any) -> tuple[list[Any], list[str]]:
    """Return what a function returns as a list of outputs, with a name for each."""
    if not isinstance(value, tuple | list):
        return [value], ["output"]
    names = list(getattr(value, "_fields", ())) or [f"output[{j}]" for j in range(len(value))]
    return list(value), names


def _output_array(value: Any, who: str) -> Array:
    """Return an output as an array of numbers."""
    array = as_array(value)
    if kind_of(array.dtype) not in "fciub":
        raise TypeError(
            f"{who} must return a number, an array of numbers, or a tuple of them, "
            f"not {described(value)}"
        )
    return array
