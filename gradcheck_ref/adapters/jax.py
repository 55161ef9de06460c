"""A function of JAX arrays as one of NumPy arrays, with ``jax.vjp`` and ``jax.jvp``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcheck_ref.adapters.calls import (
    Arguments,
    fitted,
    listed_outputs,
    listed_upstream,
    missing_by_type,
    one_or_tuple,
)
from gradcheck_ref.adapters.jax_at_once import FEW, at_once, close
from gradcheck_ref.arguments import Array, as_function

# How JAX says that an operation has no derivative of the kind asked for.
HAS_NO_RULE = (
    "forward-mode autodiff (jvp) to a custom_vjp function",
    "do not support JVP",
    "Reverse-mode differentiation does not work",
)

# Constants that are the same if they are written the same.
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def from_jax(fn: Callable[..., Any]) -> "JaxFunction":
    """Turn a function of JAX arrays into one of NumPy arrays, with ``vjp`` and ``jvp``.

    Parameters
    ----------
    fn : callable
        Takes arrays and returns an array or number, or a tuple of them; jitted or not. For a
        function of a dict, ``from_jax(lambda **params: fn(params))`` takes its entries by name.
        A JAX array among the inputs is a constant: give a NumPy array.

    Returns
    -------
    JaxFunction
        Called as fn is. Its ``vjp`` is ``jax.vjp``, its ``jvp`` is ``jax.jvp``.

    Raises
    ------
    ImportError
        Without JAX, which comes with the extra ``jax``.
    TypeError
        If fn cannot be called.

    Notes
    -----
    Cost: one call of fn for each call of what is returned. Many points, as the check hands over,
    go through fn together (`JaxFunction.many`), and the upstream gradients of one point through
    what `jax.vjp` has made of fn there once, until fn is called again.

    JAX turns float64 into float32 unless ``jax_enable_x64`` is set, and no small step is possible
    in float32. So fn runs with it set, whatever the setting is outside; float32 arrays stay
    float32.

    Examples
    --------
    >>> import numpy as np
    >>> import jax
    >>> from gradcheck_ref import check_vjp
    >>> f = from_jax(jax.jit(lambda x: x**3))
    >>> x = np.array([0.5, 2.0])
    >>> print(f(x), f.vjp(np.ones(2), x))
    [0.125 8.   ] [ 0.75 12.  ]
    >>> print(check_vjp(f, x).verdict)
    pass
    """
    return JaxFunction(as_function(fn, "fn"))


class JaxFunction:
    """A function of JAX arrays as one of NumPy arrays; see `from_jax`.

    Parameters
    ----------
    fn : callable
        The function of JAX arrays.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._jax = _jax()
        self._fn = fn
        self._linearised: tuple[Arguments, Any, Any] | None = None
        self.__wrapped__ = fn  # where inspect.signature looks for the names of the inputs

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Return what fn returns, as an array or a tuple of arrays."""
        return self._value(Arguments(inputs, named))

    def many(self, points: Sequence[Any]) -> list[Any]:
        """Return what fn returns at some points; each is one array, or a tuple or dict of inputs.

        More than a few go through fn together, by ``jax.vmap``, if that gives what fn gives at the
        first and the last of them. Else, as where fn cannot be traced, or is jitted and so quick to
        call, or where points differ in a constant, fn is called for each by itself.
        """
        calls = [_arguments_of(point) for point in points]
        first = calls[0] if calls else None
        jitted = isinstance(self._fn, self._jax.stages.Wrapped)
        if first and len(calls) > FEW and not jitted and all(_alike(first, c) for c in calls):
            numbers = [[call.values[k] for k in first.differentiated] for call in calls]
            with self._in_double():
                rows = at_once(self._opened(first)[0], numbers)
            if rows is not None:
                ends = self._value(first), self._value(calls[-1])
                several = isinstance(ends[0], tuple)
                alone = ends if several else [(end,) for end in ends]
                if close(rows[0], alone[0]) and close(rows[-1], alone[1]):
                    return [one_or_tuple(row, several) for row in rows]
        return [self._value(call) for call in calls]

    def _value(self, arguments: Arguments) -> Any:
        self._linearised = None  # a backward pass belongs to the last forward pass
        with self._in_double():
            function, point = self._opened(arguments)
            return self._returned(function(point))

    def vjp(self, upstream: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the gradients of ``Re(sum(conj(upstream) * fn(*inputs)))``, by ``jax.vjp``.

        ``upstream`` has the shape of the output, and is a tuple for several; None stands for
        zeros. What fn does not use has a gradient of zeros.

        NotImplementedError if an operation in fn has no reverse mode.
        """
        arguments = Arguments(inputs, named)
        with self._in_double(), missing_by_type((TypeError, ValueError), HAS_NO_RULE):
            output, pull_back = self._pull_back(arguments)
            several = isinstance(output, tuple)
            outputs = output if several else (output,)
            given = listed_upstream(upstream, len(outputs), several)
            upstreams = map(self._cotangent, outputs, given)
            (gradients,) = pull_back(tuple(upstreams) if several else next(upstreams))
            # JAX pulls back conjugates to conjugates, of what the check's convention has.
            # [...] for np.conj makes a scalar of a 0-d array.
            found = [np.conj(_array_of_jax(gradient))[...] for gradient in gradients]
        return arguments.arranged(dict(zip(arguments.differentiated, found, strict=True)))

    def jvp(self, tangent: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the derivative of fn along ``tangent``, by ``jax.jvp``.

        ``tangent`` is arranged as the inputs are: one array, a tuple for several, a mapping for
        named ones. None stands for zeros, and what is given for a constant is ignored.

        NotImplementedError if an operation in fn has no forward mode.
        """
        arguments = Arguments(inputs, named)
        tangents = arguments.listed(tangent, "tangent")
        with self._in_double(), missing_by_type((TypeError, ValueError), HAS_NO_RULE):
            function, point = self._opened(arguments)
            along = [
                self._like(one, tangents[k], f"the tangent of {arguments.names[k]}")
                for k, one in zip(arguments.differentiated, point, strict=True)
            ]
            return self._returned(self._jax.jvp(function, (point,), (along,))[1])

    def _pull_back(self, arguments: Arguments) -> tuple[Any, Any]:
        """Return ``jax.vjp`` at a point: that of before, unless fn was called since."""
        if self._linearised:
            before, output, pull_back = self._linearised
            if _alike(before, arguments, at_one_point=True):
                return output, pull_back
        function, point = self._opened(arguments)
        output, pull_back = self._jax.vjp(function, point)
        self._linearised = arguments, output, pull_back
        return output, pull_back

    @contextmanager
    def _in_double(self) -> Iterator[None]:
        """Let float64 be float64."""
        from jax import experimental

        home = self._jax if hasattr(self._jax, "enable_x64") else experimental  # it moved in 0.8
        with home.enable_x64(True):
            yield

    def _opened(self, arguments: Arguments) -> tuple[Callable[[list[Any]], Any], list[Any]]:
        """Return fn as a function of the arrays to differentiate by, and the point in those."""
        asarray = self._jax.numpy.asarray
        values = arguments.converted(asarray)
        kinds = (self._jax.Array, np.ndarray, np.generic, int, float, complex)

        def function(point: list[Any]) -> Any:
            handed = list(values)
            for k, one in zip(arguments.differentiated, point, strict=True):
                handed[k] = one
            outputs, several = listed_outputs(arguments.call(self._fn, handed), kinds, "array")
            arrays = tuple(map(asarray, outputs))
            for one in arrays:
                if one.dtype.kind not in "fciub":
                    raise TypeError(f"NumPy has no {one.dtype}: let fn return it as float32")
            return arrays if several else arrays[0]

        return function, [values[k] for k in arguments.differentiated]

    def _returned(self, output: Any) -> Any:
        several = isinstance(output, tuple)
        return one_or_tuple(map(_array_of_jax, output if several else (output,)), several)

    def _cotangent(self, output: Any, given: Any) -> Any:
        """Return the conjugate of an upstream; of an integer output JAX wants a type of its own."""
        if output.dtype.kind not in "fc":
            return np.zeros(output.shape, self._jax.dtypes.float0)
        return self._like(output, given, "upstream").conj()

    def _like(self, array: Any, given: Any, name: str) -> Any:
        if given is None:
            return self._jax.numpy.zeros_like(array)
        own = fitted(given, array.shape, array.dtype.kind == "c", name)
        return self._jax.numpy.asarray(own, array.dtype)


def _arguments_of(point: Any) -> Arguments:
    if isinstance(point, Mapping):
        return Arguments((), dict(point))
    return Arguments(point if isinstance(point, tuple) else (point,), {})


def _alike(one: Arguments, other: Arguments, at_one_point: bool = False) -> bool:
    """Tell whether two calls differ in the numbers of differentiated arrays at most, or in none."""
    if (one.names, one.differentiated) != (other.names, other.differentiated):
        return False
    moving = set() if at_one_point else set(one.differentiated)
    for k, (a, b) in enumerate(zip(one.values, other.values, strict=True)):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            if (a.shape, a.dtype) != (b.shape, b.dtype):
                return False
            if k not in moving and a.tobytes() != b.tobytes():
                return False
        elif a is not b and not (isinstance(a, PLAIN) and repr(a) == repr(b)):
            return False
    return True


def _array_of_jax(value: Any) -> Array:
    """Return a JAX array as an array with memory of its own."""
    array = np.array(value)
    # The tangent of an integer output has a type of its own, with nothing in it.
    return np.zeros(array.shape) if array.dtype.names == ("float0",) else array


def _jax() -> Any:
    try:
        import jax
    except ImportError as error:
        raise ImportError(
            "from_jax needs JAX, which is not installed: pip install 'gradcheck-ref[jax]'"
        ) from error
    return jax
