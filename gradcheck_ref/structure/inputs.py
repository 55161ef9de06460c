"""How f is called: its inputs, by name or in order, each an array or a tree of arrays.

The numbers in this module count the leaves of all inputs.
"""

import inspect
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_point, described, framework_of
from gradcheck_ref.structure.parts import Part, Side
from gradcheck_ref.structure.trees import Forest
from gradcheck_ref.structure.units import PIECE, typical_size, units_of


class Inputs(Side):
    """The inputs of f: copies of them, their names, and how f is called with them.

    Parameters
    ----------
    f : callable
        Not called. Its signature gives the names, and it may have two attributes: ``open_tree``
        opens containers that only f knows (an `Opener`), and with ``numbers_are_constants``
        Python's own floats beside arrays are constants.
    given : array_like, sequence or mapping
        One input, several in order, or several by name; each may be a tree. Floating and complex
        ones are differentiated; integers, booleans and everything else are constants.

    Attributes
    ----------
    keys : list
        The names, or positions, of the arguments of f.
    forest : Forest
        The arguments, as trees.
    names, values : list
        The names and values of the leaves of all arguments. Everything else counts leaves.
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
            signature = signature_of(f)
            self._check_call(signature, len(values))
            parameters = parameters_in_order(signature)
        names = _names(parameters, self.keys, self.by_name)
        self.forest = Forest(values, names, getattr(f, "open_tree", None))
        self.names, values = self.forest.names, self.forest.leaves(values)
        constant = getattr(f, "numbers_are_constants", None) is True
        kept = plain_numbers(values) if constant else set()
        self.values: list[Any] = [
            value if k in kept else _own(value, name)
            for k, (value, name) in enumerate(zip(values, self.names, strict=True))
        ]
        # A number is passed to f as a number, which f cannot write to.
        self.numbers = {k for k, value in enumerate(values) if not isinstance(value, np.ndarray)}
        bare = self.forest.bare and not (self.single or self.by_name)
        self.only_numbers = bare and len(self.numbers) == len(values)
        self.simple = self.forest.bare and not (self.numbers or self.by_name)
        # Constants may be whole data sets. So all calls share one copy of each input, and only an
        # input that moves is copied for each call.
        self.shared: list[Any] | None = None
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
        """The positions of the arguments that hold something to differentiate."""
        return sorted({self.forest.tree_of[k] for k in self.parts})

    def call(self, f: Callable[..., Any], values: Sequence[Any], *first: Any) -> Any:
        """Call ``f`` with ``first``, followed by these values for the inputs."""
        if self.simple:
            return f(*first, *values)
        values = self._built(values)
        if self.by_name:
            return f(*first, **dict(zip(self.keys, values, strict=True)))
        return f(*first, *values)

    def arranged(self, values: Sequence[Any]) -> Any:
        """Arrange these values as the inputs were given: one, several in order, or by name."""
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
        """Pickle every number once: shared inputs are copies, and most values are parts of x."""
        values = [None if k in self._in_x else value for k, value in enumerate(self.values)]
        return vars(self) | {"shared": None, "values": values}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the values parts of x again."""
        vars(self).update(state)
        self._share_x()

    @property
    def _in_x(self) -> set[int]:
        return {k for k, part in self.parts.items() if part.dtype == self.dtype}

    def _share_x(self) -> None:
        """Make each input a part of x, so that its numbers are stored once."""
        for k in self._in_x:
            self.values[k] = self.x[self.parts[k].stretch].reshape(self.parts[k].shape)

    def copies(self, moved: int | None = None) -> list[Any]:
        """Return the inputs for a call: a fresh copy of the moved one, and shared copies of others.

        An input that f has ever written to is not shared again, but copied for each call.
        """
        if self.shared is None:
            self.shared = [
                value.copy() if isinstance(value, np.ndarray) else value for value in self.values
            ]
        values = self.shared.copy()
        if moved is not None:
            values[moved] = self.values[moved].copy()
        for k in self.written_to:
            values[k] = self.values[k].copy()
        return values

    def nearby(self, seed: int) -> list[Any]:
        """Return the inputs with each coordinate moved at random, by at most two spacings.

        That is like rounding. Zeros stay: the numbers next to them are not like rounding.
        """
        rng = np.random.default_rng(seed)
        values = self.copies()
        for k in self.parts:
            values[k] = values[k].copy()
            real = values[k].reshape(-1).view(values[k].real.dtype)
            real += np.where(real == 0, 0, np.spacing(real) * rng.integers(-2, 3, real.shape))
        return values

    def changed(self, values: Sequence[Any]) -> str | None:
        """Return the name of an input that f has written to, if any, and stop sharing it."""
        for k, (ours, theirs) in enumerate(zip(self.values, values, strict=True)):
            if isinstance(ours, np.ndarray) and not _same_bytes(ours, theirs):
                self.written_to.add(k)
                return self.names[k]
        return None

    def moved_parts(self, coordinates: Array, start: int, stop: int) -> list[Any]:
        """Return inputs with the values of a flat real vector from start to stop.

        They are views of the vector, so f may write to it; all other inputs are shared copies.
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

    @cached_property
    def typical(self) -> float:
        """The size that stands in for a zero: the median of all coordinates that are not zero."""
        return typical_size(self.x)[0]

    @cached_property
    def _typical(self) -> list[tuple[Part, float, bool]]:
        return [(part, *typical_size(self.x[part.stretch])) for part in self.parts.values()]

    @cached_property
    def _units(self) -> Array:
        return units_of(self.x, 0, self._typical)

    def units(self, start: int, stop: int) -> Array:
        """Return how far the coordinates from start to stop move along a random line, for t = 1."""
        if self.x.size <= PIECE:
            return self._units[start:stop].copy()
        return units_of(self.x[start:stop], start, self._typical)

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
                f"inputs holds {count}, passed to f {how}, but f does not take that: {error}{hint}"
            ) from None


def plain_numbers(values: Sequence[Any]) -> set[int]:
    """Find the values that are Python's own floats, if arrays are there to differentiate."""
    arrays = (np.ndarray, np.generic)
    if not any(isinstance(value, arrays) and value.dtype.kind in "fc" for value in values):
        return set()
    return {k for k, value in enumerate(values) if type(value) in (float, complex)}


def _as_numpy(values: Sequence[Any], forest: Forest) -> str:
    """Write the code that turns a framework's array among some values into a NumPy array.

    A tree of such arrays is converted as a whole. Without one, the code is for an array x.
    """
    ways = {
        ("torch", True): "{}.detach().numpy()",
        ("jax", True): "np.asarray({})",
        ("torch", False): "torch.utils._pytree.tree_map(lambda t: t.detach().numpy(), {})",
        ("jax", False): "jax.tree.map(np.asarray, {})",
    }
    for value, tree in zip(values, forest.tree_of, strict=True):
        if framework := framework_of(value):
            is_leaf = isinstance(forest.forms[tree], int)
            return ways[framework, is_leaf].format(forest.trees[tree])
    return "np.asarray(x, float)"


def _same_bytes(first: Array, second: Array) -> bool:
    """Compare two arrays byte by byte, in pieces so that no large array is copied."""
    first, second = first.reshape(-1), second.reshape(-1)
    pieces = [slice(start, start + 2**16) for start in range(0, first.size, 2**16)]
    return all(first[piece].tobytes() == second[piece].tobytes() for piece in pieces)


def signature_of(f: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature of a function, if it has one."""
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):  # builtins and ufuncs may not have one
        return None


def _parameters_at_hand(f: Callable[..., Any]) -> Sequence[str]:
    """Name the parameters of a plain function, if all of them are positional.

    It is a shortcut: `inspect.signature` takes a tenth of the time of a small check.
    """
    if type(f) is not FunctionType or vars(f) or f.__code__.co_kwonlyargcount:
        return ()
    return f.__code__.co_varnames[: f.__code__.co_argcount]


def parameters_in_order(signature: inspect.Signature | None) -> list[str]:
    """Return the names of the parameters that may be passed in order."""
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
    """Return a copy of an array or number; anything else is a constant, returned unchanged."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fc":
        return value.copy()
    if isinstance(value, np.ndarray | np.inexact | float | complex):
        return as_point(value, name)
    return value
