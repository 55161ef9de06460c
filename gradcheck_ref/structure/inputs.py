"""How f is called: its inputs, by name or in order, each an array or a tree of arrays.

The numbers in this module count the leaves of all inputs.
"""

import inspect
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_point, described, framework_of, kind_of
from gradcheck_ref.structure.constants import Constant, leaves_named
from gradcheck_ref.structure.matrices import is_sparse
from gradcheck_ref.structure.parts import Part, Side
from gradcheck_ref.structure.trees import Forest
from gradcheck_ref.structure.units import PIECE, lengthened, shortened, typical_size, units_of


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
    constant : str, int, or iterable of them
        Inputs that are constants whatever they hold; see `leaves_named`.

    Attributes
    ----------
    keys : list
        The names, or positions, of the arguments of f.
    forest : Forest
        The arguments, as trees. Everything else counts their leaves.
    x : ndarray
        All numbers that are differentiated, in one flat real vector.
    constants : list
        The values of all other leaves; None for those that are differentiated.
    fixed : frozenset of int
        The leaves that the caller names as constants.
    axes : dict
        By its number, the axes of each moving leaf in the order of the memory, if that is another:
        f gets ``A.T`` as ``A.T`` lies in memory.
    """

    def __init__(self, f: Callable[..., Any], given: Any, constant: Constant = ()) -> None:
        self.by_name = isinstance(given, Mapping)
        self.single = not self.by_name and not isinstance(given, list | tuple)
        arguments = given if self.by_name else dict(enumerate([given] if self.single else given))
        self.keys, trees = list(arguments), list(arguments.values())
        self.forest = Forest(trees, self._argument_names(f), getattr(f, "open_tree", None))
        values = self.forest.leaves(trees)
        # A number is passed to f as a number, which f cannot write to.
        self.numbers = {k for k, value in enumerate(values) if not _is_array(value)}
        still = getattr(f, "numbers_are_constants", None) is True
        plain = plain_numbers(values) if still else set()
        fixed = self.fixed = frozenset(leaves_named(constant, self.forest, self.by_name))
        own = [
            v if k in plain else _copied(v) if k in fixed else _own(v, self.names[k])
            for k, v in enumerate(values)
        ]
        moving = [k for k, value in enumerate(own) if _moves(value) and k not in fixed]
        if not moving:
            raise TypeError(self._nothing_moves(f, values))
        # An adapter may know that f makes shorter numbers of these, which NumPy lacks.
        self._lay(moving, self.names, own, getattr(f, "spacings", {}))
        self.axes = {k: order for k in moving if (order := _in_memory(values[k]))}
        self.dtype = np.result_type(np.float64, *(p.real_dtype for p in self.parts.values()))
        self.eps = max(part.eps for part in self.parts.values())
        self.x = self.joined(own)
        self.constants = [None if k in self.parts else value for k, value in enumerate(own)]
        self.written_to: set[int] = set()  # constants that f has written to

    @property
    def names(self) -> list[str]:
        """The names of the leaves."""
        return self.forest.names

    @property
    def differentiated(self) -> list[int]:
        """The positions of the arguments that hold something to differentiate."""
        return sorted({self.forest.tree_of[k] for k in self.parts})

    @property
    def only_numbers(self) -> bool:
        """Whether the inputs were given in order, and each is one number."""
        one_each = self.forest.bare and not (self.single or self.by_name)
        return one_each and len(self.numbers) == len(self.constants)

    # --- how f is called --------------------------------------------------------------------------

    def call(self, f: Callable[..., Any], values: Sequence[Any], *first: Any) -> Any:
        """Call ``f`` with ``first``, followed by these values for the inputs."""
        values = self._built(values)
        if self.by_name:
            return f(*first, **dict(zip(self.keys, values, strict=True)))
        return f(*first, *values)

    def caller(self, f: Callable[..., Any]) -> Callable[[Array], Any]:
        """Return ``f`` as a function of the flat real vector, which it may write to."""
        part = next(iter(self.parts.values()))
        # A tenth of the time of a small check is saved where f takes one array and nothing else.
        plain = self.single and self.forest.bare and not self.numbers and part.dtype == self.dtype
        plain = plain and not self.axes
        if plain:
            flat = len(part.shape) == 1
            return f if flat else lambda coordinates: f(coordinates.reshape(part.shape))
        return lambda coordinates: self.call(f, self.at(coordinates))

    def arranged(self, values: Sequence[Any]) -> Any:
        """Arrange these values as the inputs were given: one, several in order, or by name."""
        values = self._built(values)
        if self.by_name:
            return dict(zip(self.keys, values, strict=True))
        return values[0] if self.single else tuple(values)

    def _built(self, values: Sequence[Any]) -> Sequence[Any]:
        if self.numbers:
            numbers = self.numbers & self.parts.keys()
            values = [value[()] if k in numbers else value for k, value in enumerate(values)]
        return self.forest.built(values)

    # --- the values -------------------------------------------------------------------------------

    @property
    def values(self) -> list[Any]:
        """Our own values at x, which f never gets."""
        return self._with(self.constants, self.x)

    def at(self, coordinates: Array) -> list[Any]:
        """Return the inputs at a point: parts of the vector, if possible, which f may write to.

        Constants may be whole data sets. So all calls share one copy of each, unless f has ever
        written to it.
        """
        values = self._with(self._shared, coordinates)
        for k in self.written_to:
            values[k] = _copied(self.constants[k])
        return values

    def _with(self, constants: list[Any], coordinates: Array) -> list[Any]:
        values = constants.copy()
        for k, part in self.parts.items():
            ours, same = coordinates[part.stretch], part.dtype == self.dtype
            values[k] = ours.reshape(part.shape) if same else part.array(ours)
        for k, axes in self.axes.items():
            values[k] = np.ascontiguousarray(values[k].transpose(axes)).transpose(np.argsort(axes))
        return values

    @cached_property
    def _shared(self) -> list[Any]:
        return list(map(_copied, self.constants))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle every constant once."""
        return {name: value for name, value in vars(self).items() if name != "_shared"}

    def copies(self) -> list[Any]:
        """Return the inputs at x, for a call."""
        return self.at(self.x.copy())

    def nearby(self, seed: int) -> list[Any]:
        """Return the inputs with each coordinate moved at random, by at most two spacings.

        That is like rounding. Zeros stay: the numbers next to them are not like rounding.
        """
        rng = np.random.default_rng(seed)
        values = self.copies()
        for k, part in self.parts.items():
            real = values[k].reshape(-1).view(part.real_dtype)
            real += np.where(real == 0, 0, np.spacing(real) * rng.integers(-2, 3, real.shape))
            if k in self.axes:
                values[k][...] = real.view(part.dtype).reshape(part.shape)
        return values

    def changed(self, values: Sequence[Any]) -> str | None:
        """Return the name of an input that f has written to, if any, and stop sharing those."""
        each = enumerate(zip(self.values, values, strict=True))
        changed = [k for k, both in each if _is_array(both[0]) and not same_bytes(*both)]
        self.written_to |= set(changed) - self.parts.keys()
        return self.names[changed[0]] if changed else None

    # --- the coordinates --------------------------------------------------------------------------

    @cached_property
    def starts(self) -> list[int]:
        """The number of the first coordinate of each part."""
        return [part.start for part in self.parts.values()]

    def locate(self, coordinate: int) -> tuple[Part, int]:
        """Return which input a flat coordinate belongs to, and its number within."""
        number = bisect_right(self.starts, coordinate) - 1
        return [*self.parts.values()][number], coordinate - self.starts[number]

    def numbers_of(self, coordinates: Array) -> Array:
        """Return for each flat coordinate which input it belongs to, counted from 0."""
        return np.asarray(np.array(self.starts).searchsorted(coordinates, "right") - 1)

    @cached_property
    def typical(self) -> float:
        """The size that stands in for a zero: the median of all coordinates that are not zero."""
        return typical_size(self.x)[0]

    @cached_property
    def typical_beside(self) -> list[float]:
        """The size of a typical coordinate of each input; of all, if that input is zero."""
        return [
            typical if self.x[part.stretch].any() else self.typical
            for part, typical, _ in self.typicals
        ]

    @cached_property
    def typicals(self) -> list[tuple[Part, float, bool]]:
        """The typical size of each input, and whether each of its entries has its own unit."""
        return [(part, *typical_size(self.x[part.stretch])) for part in self.parts.values()]

    @cached_property
    def _units(self) -> Array:
        pieces = []
        for start in range(0, self.x.size, PIECE):
            stop = start + PIECE
            parts = slice(bisect_right(self.starts, start) - 1, bisect_left(self.starts, stop))
            units = units_of(self.x[start:stop], start, self.typicals[parts])
            pieces.append(shortened(units))
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def units(self, start: int, stop: int) -> Array:
        """Return how far the coordinates from start to stop move along a random line, for t = 1."""
        return lengthened(self._units[start:stop])

    def units_at(self, rows: Array) -> Array:
        """Return the same for some coordinates."""
        return lengthened(self._units[rows])

    # --- what may be wrong ------------------------------------------------------------------------

    def _argument_names(self, f: Callable[..., Any]) -> list[str]:
        """Name the arguments as f does, if f takes them."""
        names, count = _parameters_at_hand(f), len(self.keys)
        if self.by_name or not count or len(names) != count:
            signature = signature_of(f)
            self._insist_on(signature)
            names = parameters_in_order(signature)
        if self.by_name:
            return [str(key) for key in self.keys]
        if len(names) >= count and not any(name.startswith("_") for name in names):
            return list(names[:count])
        return [f"inputs[{key}]" for key in self.keys] if count > 1 else ["x"]

    def _insist_on(self, signature: inspect.Signature | None) -> None:
        if signature is None:
            return
        try:
            if self.by_name:
                signature.bind(**dict.fromkeys(self.keys))
            else:
                signature.bind(*self.keys)
        except TypeError as error:
            hint = "" if self.single else "; for one argument that is a tree, pass [inputs]"
            if not self.single and not self.by_name:
                hint = "; for one array, pass np.array(inputs), and for one tree [inputs]"
            how = f"by the names {', '.join(map(str, self.keys))}" if self.by_name else "in order"
            count = len(self.keys)
            raise TypeError(
                f"inputs holds {count}, passed to f {how}, but f does not take that: {error}{hint}"
            ) from None

    def _nothing_moves(self, f: Callable[..., Any], values: Sequence[Any]) -> str:
        each = zip(self.names, values, strict=True)
        kinds = ", ".join(f"{name} is {described(value)}" for name, value in each)
        said = (
            f"inputs holds nothing to differentiate ({kinds or 'it is empty'}): "
            f"pass floating point or complex arrays, e.g. {_as_numpy(values, self.forest)}"
        )
        if any(_is_whole(value) for value in values):
            said += ". Indices are constants: pass what they choose from as an input, too"
        return "; ".join([said, *getattr(f, "notes_of_check", ())])


def plain_numbers(values: Sequence[Any]) -> set[int]:
    """Find the values that are Python's own floats, if arrays are there to differentiate."""
    arrays = (np.ndarray, np.generic)
    if not any(isinstance(value, arrays) and kind_of(value.dtype) in "fc" for value in values):
        return set()
    return {k for k, value in enumerate(values) if type(value) in (float, complex)}


def _as_numpy(values: Sequence[Any], forest: Forest) -> str:
    """Write the code that turns a framework's array, or a sparse one, into a NumPy array.

    A tree of such arrays is converted as a whole. Without one, the code is for an array x.
    """
    ways = {
        ("torch", True): "{0}.detach(){1}.numpy(){2}",
        ("jax", True): "np.asarray({0})",
        ("torch", False): "torch.utils._pytree.tree_map(lambda t: t.detach(){1}.numpy(), {0}){2}",
        ("jax", False): "jax.tree.map(np.asarray, {0})",
    }
    for value, tree in zip(values, forest.tree_of, strict=True):
        if is_sparse(value):
            return f"{forest.trees[tree]}.toarray()"
        if framework := framework_of(value):
            is_leaf = isinstance(forest.forms[tree], int)
            dtype, where = str(getattr(value, "dtype", "")), str(getattr(value, "device", "cpu"))
            how = ".cpu()" * (where != "cpu") + ".double()" * _is_whole(value)
            after = ""
            if dtype == "torch.bfloat16":  # NumPy has no such array
                how += ".float()"
                after = ", with f = from_torch(fn, dtype='bfloat16')"
            return ways[framework, is_leaf].format(forest.trees[tree], how, after)
    return "np.asarray(x, float)"


def _is_whole(value: Any) -> bool:
    """Whether a value is an array of integers, of NumPy or of a framework."""
    return "int" in str(getattr(value, "dtype", ""))


def same_bytes(first: Array, second: Array) -> bool:
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


def _in_memory(value: Any) -> tuple[int, ...]:
    """Return the axes of an array from the longest stride to the shortest; () if as usual."""
    if not _is_array(value) or value.flags.c_contiguous:
        return ()
    axes = sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis]))
    return () if axes == list(range(value.ndim)) else tuple(axes)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _moves(value: Any) -> bool:
    return _is_array(value) and kind_of(value.dtype) in "fc"


def _is_number(value: Any) -> bool:
    own = isinstance(value, np.generic) and kind_of(value.dtype) in "fc"
    return own or isinstance(value, float | complex)


def _own(value: Any, name: str) -> Any:
    """Return a copy of an array or number; anything else is a constant, returned unchanged."""
    if _moves(value) or _is_number(value):
        return as_point(value, name)
    return _copied(value)


def _copied(value: Any) -> Any:
    return value.copy() if _is_array(value) else value
