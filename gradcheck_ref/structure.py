"""How f is called and what it returns: named inputs, and flat real coordinates of both sides.

What is given for one input, or returned for one output, may be a tree (`trees`): what is numbered
here are its leaves.

The check works on one real vector in and one real vector out. A complex entry is two real
coordinates, its real and its imaginary part, next to each other. With torch's convention for the
gradient of a real L by a complex z = x + iy, dL/dx + i dL/dy, the two coordinates of that gradient
are the slopes of L along x and along y: complex numbers need no code of their own.
"""

import inspect
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_point, described, framework_of, index_text
from gradcheck_ref.trees import Forest, Opener


@dataclass(frozen=True)
class Part:
    """An array as a stretch of a flat real vector.

    Attributes
    ----------
    name : str
        What reports call it.
    shape : tuple of int
        The shape of the array.
    dtype : dtype
        Its dtype, floating or complex.
    start : int
        Where its coordinates begin in the flat vector.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int

    @property
    def is_complex(self) -> bool:
        """Whether an entry is two coordinates."""
        return self.dtype.kind == "c"

    @cached_property
    def real_dtype(self) -> np.dtype[Any]:
        """The dtype of one coordinate."""
        return np.zeros(0, self.dtype).real.dtype

    @cached_property
    def eps(self) -> float:
        """The spacing of its numbers, relative to their size."""
        return float(np.finfo(self.dtype).eps)

    @cached_property
    def size(self) -> int:
        """How many real coordinates there are."""
        return math.prod(self.shape) * (2 if self.is_complex else 1)

    @property
    def stretch(self) -> slice:
        """Where they are in the flat vector."""
        return slice(self.start, self.start + self.size)

    def holds(self, coordinates: Array) -> Array:
        """Tell which coordinates of the flat vector are among these."""
        return (coordinates >= self.start) & (coordinates < self.start + self.size)

    def entry(self, coordinate: int) -> str:
        """Name one coordinate, counted within this part, e.g. ``W1[0, 2]``."""
        parts = 2 if self.is_complex else 1
        index = np.unravel_index(coordinate // parts, self.shape) if self.shape else ()
        name = self.name + index_text(index)
        return f"the {('real', 'imaginary')[coordinate % 2]} part of {name}" if parts == 2 else name

    def flat(self, array: Any, dtype: Any) -> Array:
        """Return an array of this part's shape as flat real coordinates of the given dtype.

        What is complex where this part is real becomes NaN: it is no real number.
        """
        if array.dtype.kind == "c" and not self.is_complex:
            array = np.where(array.imag == 0, array.real, np.nan)
        if self.is_complex:
            array = np.ascontiguousarray(array, np.result_type(dtype, np.complex64))
            return np.asarray(array.reshape(-1).view(array.real.dtype), dtype)
        return np.ascontiguousarray(array, dtype).reshape(-1)

    def array(self, coordinates: Array) -> Array:
        """Return flat real coordinates as an array of this part's shape and dtype."""
        if self.is_complex:
            pairs = coordinates.reshape(-1, 2)
            return (pairs[:, 0] + 1j * pairs[:, 1]).astype(self.dtype).reshape(self.shape)
        return coordinates.astype(self.dtype).reshape(self.shape)


class Side:
    """What inputs and outputs have in common: the parts of one flat real vector."""

    parts: dict[int, Part]
    size: int
    dtype: Any

    def _lay(self, which: Iterable[int], names: Sequence[str], arrays: Sequence[Any]) -> None:
        """Lay some of the arrays side by side in a flat vector."""
        self.parts, self.size = {}, 0
        for k in which:
            self.parts[k] = Part(names[k], arrays[k].shape, arrays[k].dtype, self.size)
            self.size += self.parts[k].size

    def joined(self, arrays: Any) -> Array:
        """Return an array for each part, under its number, as one flat real vector."""
        flat = [part.flat(arrays[k], self.dtype) for k, part in self.parts.items()]
        return np.concatenate(flat) if flat else np.zeros(0)


class Inputs(Side):
    """The inputs of f: our own copies, their names, and how they are handed over.

    Parameters
    ----------
    f : callable
        Only its signature is looked at, for the names, and two attributes that it may have:
        ``open_tree`` opens containers that only f knows (an `Opener`), and with
        ``numbers_are_constants`` Python's own floats beside arrays are no inputs to differentiate.
    given : array_like, sequence or mapping
        One input, several in order, or several by name; each may be a tree. Floating and complex
        ones are differentiated; integers, booleans and whatever else are constants.

    Attributes
    ----------
    keys : list
        The names, or numbers, by which f takes its arguments.
    forest : Forest
        The arguments, as trees.
    names, values : list
        Of the leaves of all arguments, which are what is counted everywhere else.
    """

    def __init__(self, f: Callable[..., Any], given: Any) -> None:
        self.by_name = isinstance(given, Mapping)
        self.single = not self.by_name and not isinstance(given, list | tuple)
        if self.by_name:
            self.keys, values = list(given), list(given.values())
        else:
            values = [given] if self.single else list(given)
            self.keys = list(range(len(values)))
        parameters = _parameters_at_hand(f)
        if self.by_name or not values or len(values) != len(parameters):
            signature = _signature(f)
            self._check_call(signature, len(values))
            parameters = _parameters_in_order(signature)
        names = _names(parameters, self.keys, self.by_name)
        self.forest = Forest(values, names, getattr(f, "open_tree", None))
        self.names, values = self.forest.names, self.forest.leaves(values)
        constant = getattr(f, "numbers_are_constants", None) is True
        kept = plain_numbers(values) if constant else set()
        self.values: list[Any] = [
            value if k in kept else _own(value, name)
            for k, (value, name) in enumerate(zip(values, self.names, strict=True))
        ]
        # Numbers reach f as numbers, which it cannot write to.
        self.numbers = {k for k, value in enumerate(values) if not isinstance(value, np.ndarray)}
        bare = self.forest.bare and not (self.single or self.by_name)
        self.only_numbers = bare and len(self.numbers) == len(values)
        self.simple = self.forest.bare and not (self.numbers or self.by_name)
        # Inputs may be many, and constants whole data sets: a copy is lent to all calls, and only
        # what is moved is copied anew.
        self.lent: list[Any] | None = None
        self.written_to: set[int] = set()
        arrays = {k: v for k, v in enumerate(self.values) if isinstance(v, np.ndarray)}
        self._lay([k for k, v in arrays.items() if v.dtype.kind in "fc"], self.names, self.values)
        self.moving, self.starts = list(self.parts), [part.start for part in self.parts.values()]
        self.dtype = np.result_type(np.float64, *(p.real_dtype for p in self.parts.values()))
        self.eps = max((part.eps for part in self.parts.values()), default=0.0)
        self.x = self.joined(self.values)
        self._share_x()
        if not self.parts:
            kinds = ", ".join(
                f"{n} is {described(v)}" for n, v in zip(self.names, values, strict=True)
            )
            raise TypeError(
                f"inputs holds nothing to differentiate ({kinds or 'it is empty'}): "
                f"pass floating point or complex arrays, e.g. {_as_numpy(values, self.forest)}"
            )

    @property
    def differentiated(self) -> list[int]:
        """The numbers of the arguments that hold something to differentiate by."""
        starts = self.forest.starts
        return sorted({bisect_right(starts, k) - 1 for k in self.parts})

    def call(self, f: Callable[..., Any], values: Sequence[Any], *first: Any) -> Any:
        """Call ``f`` with these values for the inputs, after ``first``."""
        if self.simple:
            return f(*first, *values)
        values = self._built(values)
        if self.by_name:
            return f(*first, **dict(zip(self.keys, values, strict=True)))
        return f(*first, *values)

    def arranged(self, values: Sequence[Any]) -> Any:
        """Return these values as the inputs were given: one, several in order, or by name."""
        values = self._built(values)
        if self.by_name:
            return dict(zip(self.keys, values, strict=True))
        return values[0] if self.single else tuple(values)

    def _built(self, values: Sequence[Any]) -> Sequence[Any]:
        if self.numbers:
            values = [
                value[()] if k in self.numbers and k in self.parts else value
                for k, value in enumerate(values)
            ]
        return self.forest.built(values)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle every number once: what is lent is a copy, and most values are parts of x."""
        values = [None if k in self._in_x else value for k, value in enumerate(self.values)]
        return vars(self) | {"lent": None, "values": values}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the values parts of x again."""
        vars(self).update(state)
        self._share_x()

    @property
    def _in_x(self) -> set[int]:
        return {k for k, part in self.parts.items() if part.dtype == self.dtype}

    def _share_x(self) -> None:
        """Let there be one array of each input, not two."""
        for k in self._in_x:
            self.values[k] = self.x[self.parts[k].stretch].reshape(self.parts[k].shape)

    def copies(self, moved: int | None = None) -> list[Any]:
        """Return the inputs for a call: a fresh copy of what is moved, and what is lent.

        An input that was once written to is lent no more, and always copied.
        """
        if self.lent is None:
            self.lent = [
                value.copy() if isinstance(value, np.ndarray) else value for value in self.values
            ]
        values = self.lent.copy()
        if moved is not None:
            values[moved] = self.values[moved].copy()
        for k in self.written_to:
            values[k] = self.values[k].copy()
        return values

    def nearby(self, seed: int) -> list[Any]:
        """Return the inputs a few spacings away, each coordinate by its own: the same numbers.

        Zeros stay: what is next to them is no rounding of anything.
        """
        rng = np.random.default_rng(seed)
        values = self.copies()
        for k in self.parts:
            values[k] = values[k].copy()
            real = values[k].reshape(-1).view(values[k].real.dtype)
            real += np.where(real == 0, 0, np.spacing(real) * rng.integers(-2, 3, real.shape))
        return values

    def changed(self, values: Sequence[Any]) -> str | None:
        """Return the name of an input that was written to, if there is one, and lend it no more."""
        for k, (ours, theirs) in enumerate(zip(self.values, values, strict=True)):
            if isinstance(ours, np.ndarray) and not _same_bytes(ours, theirs):
                self.written_to.add(k)
                return self.names[k]
        return None

    def moved_parts(self, coordinates: Array, start: int, stop: int) -> list[Any]:
        """Return inputs with the values that a flat real vector has from start to stop.

        The vector is handed over as it is, to be written to by f; all other inputs are lent.
        """
        values = self.copies()
        for k, part in self.parts.items():
            if part.start < stop and start < part.start + part.size:
                ours = coordinates[part.stretch]
                same = part.dtype == self.dtype
                values[k] = ours.reshape(part.shape) if same else part.array(ours)
        return values

    def locate(self, coordinate: int) -> tuple[int, int]:
        """Return which input a flat coordinate belongs to, and its number within."""
        number = bisect_right(self.starts, coordinate) - 1
        return self.moving[number], coordinate - self.starts[number]

    def _check_call(self, signature: inspect.Signature | None, count: int) -> None:
        if signature is None:
            return
        try:
            signature.bind(*([None] * count)) if not self.by_name else signature.bind(
                **dict.fromkeys(self.keys)
            )
        except TypeError as error:
            hint = "" if self.single else "; for one argument that is a tree, pass [inputs]"
            if not self.single and not self.by_name:
                hint = "; for one array, pass np.array(inputs), and for one tree [inputs]"
            how = f"by the names {', '.join(map(str, self.keys))}" if self.by_name else "in order"
            raise TypeError(
                f"inputs holds {count}, handed to f {how}, but f does not take that: {error}{hint}"
            ) from None


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


def plain_numbers(values: Sequence[Any]) -> set[int]:
    """Return which values are Python's own floats, beside arrays that can be differentiated."""
    arrays = (np.ndarray, np.generic)
    if not any(isinstance(value, arrays) and value.dtype.kind in "fc" for value in values):
        return set()
    return {k for k, value in enumerate(values) if type(value) in (float, complex)}


def _as_numpy(values: Sequence[Any], forest: Forest) -> str:
    """Write how the first of some values becomes an array, or any x where that is not known.

    A tree of a framework's arrays becomes one of NumPy's as a whole.
    """
    ways = {
        ("torch", True): "{}.detach().numpy()",
        ("jax", True): "np.asarray({})",
        ("torch", False): "torch.utils._pytree.tree_map(lambda t: t.detach().numpy(), {})",
        ("jax", False): "jax.tree.map(np.asarray, {})",
    }
    trees = [tree for tree in forest.trees for _ in tree.names]
    for value, tree in zip(values, trees, strict=True):
        if framework := framework_of(value):
            return ways[framework, tree.is_leaf].format(tree.name)
    return "np.asarray(x, float)"


def _same_bytes(first: Array, second: Array) -> bool:
    """Compare in pieces: a million entries need no copy of a million entries."""
    first, second = first.reshape(-1), second.reshape(-1)
    pieces = [slice(start, start + 2**16) for start in range(0, first.size, 2**16)]
    return all(first[piece].tobytes() == second[piece].tobytes() for piece in pieces)


def _signature(f: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):  # builtins and ufuncs do not tell theirs
        return None


def _parameters_at_hand(f: Callable[..., Any]) -> Sequence[str]:
    """Name the parameters of a plain function, if all are taken in order.

    A signature is known of others, too, but it takes a tenth of a small check to make one.
    """
    if type(f) is not FunctionType or vars(f) or f.__code__.co_kwonlyargcount:
        return ()
    return f.__code__.co_varnames[: f.__code__.co_argcount]


def _parameters_in_order(signature: inspect.Signature | None) -> Sequence[str]:
    return [
        p.name
        for p in (signature.parameters.values() if signature else ())
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def _names(parameters: Sequence[str], keys: list[Any], by_name: bool) -> list[str]:
    if by_name:
        return [str(key) for key in keys]
    if len(parameters) >= len(keys) and not any(name.startswith("_") for name in parameters):
        return list(parameters[: len(keys)])
    return [f"inputs[{key}]" for key in keys] if len(keys) > 1 else ["x"]


def _own(value: Any, name: str) -> Any:
    """Return our own copy of an array or number; anything else is a constant as it is."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fc":
        return value.copy()
    if isinstance(value, np.ndarray | np.inexact | float | complex):
        return as_point(value, name)
    return value


def as_array(value: Any) -> Array:
    """Return a value as an array, with NaN for what is masked; one of None for a ragged list."""
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "fc":
        value = value.filled(np.nan)
    try:
        return np.asarray(value)
    except ValueError:
        return np.array(None)


def _output_array(value: Any, who: str) -> Array:
    """Return an output as an array of numbers."""
    array = as_array(value)
    if array.dtype.kind not in "fciub":
        raise TypeError(
            f"{who} must return a number, an array of numbers, or a tuple of them, "
            f"not {described(value)}"
        )
    return array
