"""A function of JAX arrays as a function of NumPy arrays, with ``jax.vjp`` and ``jax.jvp``.

For a small function, vmap takes JAX about a millisecond, whatever the number of points; one call
takes about a quarter of that. Compiling takes 50 ms and more, which a single check never gets back.
So the function is not compiled: it is traced, and its steps are run one after another. JAX compiles
each step once for each shape, so points are padded to have few shapes.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from gradcheck_ref.adapters.at_once import NUMBERS, AtOnce, Gradients, apart, in_batches
from gradcheck_ref.adapters.calls import (
    Arguments,
    Returned,
    alike,
    fitted,
    framework,
    missing_by_type,
)
from gradcheck_ref.adapters.jax_company import company_of_jax
from gradcheck_ref.arguments import Array, as_function, described
from gradcheck_ref.check.claim.company import Company
from gradcheck_ref.structure.trees import Opened

# JAX's words for an operation that has no derivative of the requested kind.
HAS_NO_RULE = (
    "forward-mode autodiff (jvp) to a custom_vjp function",
    "do not support JVP",
    "Reverse-mode differentiation does not work",
)


def from_jax(fn: Callable[..., Any], *, has_aux: bool = False) -> "JaxFunction":
    """Turn a function of JAX arrays into a function of NumPy arrays, with ``vjp`` and ``jvp``.

    Parameters
    ----------
    fn : callable
        Takes and returns arrays, numbers and JAX pytrees of them; with or without ``jax.jit``, and
        with or without rules of its own (``custom_vjp``, ``custom_jvp``). A JAX array among the
        inputs is a constant. To differentiate with respect to it, write
        ``jax.tree.map(np.asarray, params)``.
    has_aux : bool, default False
        Whether fn returns a pair whose first part is the output, as for ``jax.grad``.

    Returns
    -------
    JaxFunction
        Call it like fn. Its ``vjp`` is ``jax.vjp``, its ``jvp`` is ``jax.jvp``.

    Raises
    ------
    ImportError
        Without JAX, which comes with the extra ``jax``.
    TypeError
        If fn cannot be called. In a call, if ``has_aux`` is true and fn returns no pair.

    Notes
    -----
    Cost: one call of fn for each call of the result. The points of a check go through fn together
    (`JaxFunction.many`). Within a check `jax.vjp` runs once at a point, and all upstream gradients
    use its result until the next call of fn.

    JAX turns float64 into float32 unless ``jax_enable_x64`` is set, and float32 allows no small
    step. So the adapter sets it while fn runs. float32 arrays stay float32.

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

    A tree of parameters is one input:

    >>> f = from_jax(lambda params: params["w"] @ params["layers"][0])
    >>> params = {"w": x, "layers": [np.array([1.0, 3.0])]}
    >>> print(f.vjp(1.0, params)["layers"], check_vjp(f, [params]).verdict)
    [array([0.5, 2. ])] pass
    """
    return JaxFunction(as_function(fn, "fn"), has_aux)


class JaxFunction(AtOnce):
    """A function of JAX arrays as a function of NumPy arrays; see `from_jax`.

    Parameters
    ----------
    fn : callable
        The function of JAX arrays.
    has_aux : bool
        Whether it returns a pair, (output, aux).
    """

    few_points = few_upstreams = 8

    def __init__(self, fn: Callable[..., Any], has_aux: bool = False) -> None:
        self._jax = framework("jax")
        self._fn, self._has_aux = fn, has_aux
        self._linearised: tuple[_Call, Any, Any] | None = None
        self._checks = 0
        self.__wrapped__ = fn  # inspect.signature finds the names of the inputs here

    def __reduce__(self) -> tuple[Any, ...]:
        """Send fn to another process, which imports JAX itself."""
        return JaxFunction, (self._fn, self._has_aux)

    def open_tree(self, value: Any) -> Opened | None:
        """Open a container that JAX knows."""
        if value is None or isinstance(value, np.ndarray | float):
            return None
        tree = self._jax.tree_util
        children, form = tree.tree_flatten_with_path(value, is_leaf=lambda one: one is not value)
        if tree.treedef_is_leaf(form) and len(children) == 1:
            return None
        steps = [tree.keystr(way) for way, _ in children]
        steps = [f"[{k}]" if "flat index" in step else step for k, step in enumerate(steps)]
        build = partial(tree.tree_unflatten, form)
        return Opened(tuple(steps), [child for _, child in children], build)

    def many(self, points: Sequence[Any]) -> list[Any]:
        """Return the values of fn at several points; each is one input, or a tuple or dict.

        More than a few points go through fn together, by ``jax.vmap``, if that agrees with fn at
        the first and the last of them. Otherwise fn is called at each point: if it cannot be
        traced, if it is jitted and so quick to call, or if points differ in a constant.
        """
        return self._at_many(points)

    def _outputs_at_once(
        self, call: "_Call", stacks: list[Array]
    ) -> tuple[Returned, list[list[Array]]] | None:
        if isinstance(self._fn, self._jax.stages.Wrapped):
            return None
        from jax.extend.core import jaxpr_as_fun

        programs: dict[int, Any] = {}  # by the length of the batch

        def batch(some: list[Array]) -> list[Any]:
            padded = list(map(_padded, some))
            length = len(padded[0])
            if length not in programs:
                traced = self._jax.make_jaxpr(self._jax.vmap(call))(padded)
                if traced.effects or _numbers_in(traced) > NUMBERS:
                    raise OverflowError
                programs[length] = jaxpr_as_fun(traced)
            outputs: list[Any] = programs[length](*padded)
            return outputs

        with self._in_double():
            rows = in_batches(batch, stacks)
        return (call.returned, rows) if rows else None

    @contextmanager
    def while_checked(self) -> Iterator[None]:
        """Keep the linearization of fn at a point during a check, and no longer.

        While it is kept, JAX treats constants of fn as float64 in this whole process: the caller's
        own ``jax.grad`` of fn, which may be in float32, would raise an error.
        """
        self._checks += 1
        try:
            yield
        finally:
            self._checks -= 1
            self._linearised = None

    def _arguments(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> "_Call":
        arguments = inputs, named, self.open_tree
        return _Call(self._jax, self._fn, self._has_aux, *arguments)

    def _outputs(self, call: "_Call") -> tuple[Returned, list[Array]]:
        self._linearised = None  # a backward pass belongs to the last forward pass
        with self._in_double():
            arrays = [_array_of_jax(one) for one in call(call.point())]
        return call.returned, arrays

    def _gradients(self, call: "_Call", upstream: Any) -> Gradients:
        with self._in_double(), missing_by_type((TypeError, ValueError), HAS_NO_RULE):
            outputs, pull_back, returned = self._pull_back(call)
            given = returned.listed(upstream)
            (gradients,) = pull_back(tuple(map(self._cotangent, outputs, given)))
            # JAX takes and returns the conjugates of the check's convention. The [...] is there
            # because np.conj turns a 0-d array into a scalar.
            arrays = [np.conj(_array_of_jax(gradient))[...] for gradient in gradients]
        return dict(zip(call.differentiated, arrays, strict=True))

    def _gradients_at_once(self, call: "_Call", upstreams: list[Any]) -> list[Gradients] | None:
        try:
            with self._in_double():
                if "custom_vjp_call" in str(self._jax.make_jaxpr(call)(call.point())):
                    return None
                outputs, pull_back, returned = self._pull_back(call)
                listed = [
                    list(map(self._cotangent, outputs, returned.listed(upstream)))
                    for upstream in upstreams
                ]
                stacks = tuple(np.array(column) for column in zip(*listed, strict=True))
                (gradients,) = self._jax.vmap(pull_back)(stacks)
                columns = [np.conj(_array_of_jax(gradient)) for gradient in gradients]
        except Exception:  # if something is wrong, the calls one by one will show it
            return None
        return apart(dict(zip(call.differentiated, columns, strict=True)), len(upstreams))

    def jvp(self, tangent: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the derivative of fn along ``tangent``, by ``jax.jvp``.

        ``tangent`` has the form of the inputs: one array, a tuple for several, a mapping for
        named inputs. None stands for zeros, and the tangent of a constant is ignored.

        NotImplementedError if an operation in fn has no forward mode.
        """
        call = self._arguments(inputs, named)
        tangents = call.listed(tangent, "tangent")
        with self._in_double(), missing_by_type((TypeError, ValueError), HAS_NO_RULE):
            point = call.point()
            along = [
                self._like(one, tangents[k], f"the tangent of {call.names[k]}")
                for k, one in zip(call.differentiated, point, strict=True)
            ]
            moved = self._jax.jvp(call, (point,), (along,))[1]
            return call.returned.arranged(map(_array_of_jax, moved))

    def company(self, everything: bool, change: float, /, *inputs: Any, **named: Any) -> Company:
        """Ask for the gradient again in circumstances that must not matter; see the check.

        Cost: about ten pull-backs, half of them only traced, if fn has rules of its own or a
        callback. ``everything`` also compiles: about a second.
        """
        call = self._arguments(inputs, named)
        with self._in_double():
            return company_of_jax(self._jax, call, call.point(), everything, change)

    def _pull_back(self, call: "_Call") -> tuple[Any, Any, Returned]:
        """Return ``jax.vjp`` at a point; it is reused until fn is called again."""
        if self._linearised:
            before, outputs, pull_back = self._linearised
            if before.is_like(call):
                return outputs, pull_back, before.returned
        outputs, pull_back = self._jax.vjp(call, call.point())
        if self._checks:
            self._linearised = call, outputs, pull_back
        return outputs, pull_back, call.returned

    @contextmanager
    def _in_double(self) -> Iterator[None]:
        """Keep float64 in this block."""
        from jax import experimental

        home = self._jax if hasattr(self._jax, "enable_x64") else experimental  # it moved in 0.8
        with home.enable_x64(True):
            yield

    def _cotangent(self, output: Any, given: Any) -> Any:
        """Return the conjugate of an upstream; for an integer output JAX wants a special type."""
        if output.dtype.kind not in "fc":
            return np.zeros(output.shape, self._jax.dtypes.float0)
        return self._like(output, given, "upstream").conj()

    def _like(self, array: Any, given: Any, name: str) -> Any:
        if given is None:
            return self._jax.numpy.zeros_like(array)
        own = fitted(given, array.shape, array.dtype.kind == "c", name)
        return self._jax.numpy.asarray(own, array.dtype)


class _Call(Arguments):
    """One call of fn, as a function from the arrays to differentiate to a tuple.

    Attributes
    ----------
    returned : Returned
        The form of fn's output, once fn was called.
    """

    returned: Returned

    def __init__(self, jax: Any, fn: Callable[..., Any], has_aux: bool, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._jax, self._fn, self._has_aux = jax, fn, has_aux
        self._form = self.form(self.given)

    def form(self, given: Any) -> Any:
        """Return the tree without its leaves: containers may hold something else, too."""
        return self._jax.tree_util.tree_structure(given)

    def point(self) -> list[Any]:
        """Return the arrays to differentiate."""
        return [self._jax.numpy.asarray(self.values[k]) for k in self.differentiated]

    def __call__(self, point: list[Any]) -> tuple[Any, ...]:
        asarray = self._jax.numpy.asarray
        output = self.call(self._fn, asarray, point)
        if self._has_aux:
            if not isinstance(output, tuple) or len(output) != 2:
                raise TypeError(
                    f"with has_aux, fn must return a pair, (output, aux), not {described(output)}"
                )
            output = output[0]
        kinds = (self._jax.Array, np.ndarray, np.generic, int, float, complex)
        self.returned = Returned(output, kinds, "array", self.opener)
        return tuple(self._in_numpy(asarray(one)) for one in self.returned.leaves)

    def _in_numpy(self, array: Any) -> Any:
        """Return an array with a dtype of NumPy: bfloat16 and shorter become float32."""
        if array.dtype.kind in "fciub":
            return array
        if self._jax.numpy.issubdtype(array.dtype, self._jax.numpy.floating):
            return array.astype("float32")
        raise TypeError(f"NumPy has no {array.dtype}: return it as float32 from fn")

    def is_like(self, other: "_Call") -> bool:
        """Whether two calls are the same."""
        if self.names != other.names or self._form != other._form:
            return False
        return all(map(alike, self.values, other.values))


def _array_of_jax(value: Any) -> Array:
    """Return a JAX array as a NumPy array with its own memory."""
    array = np.array(value)
    # The tangent of an integer output has a special type without data.
    if array.dtype.names == ("float0",):
        return np.zeros(array.shape)
    return array.astype(np.float32) if array.dtype.kind == "V" else array  # bfloat16


def _padded(stack: Array) -> Array:
    """Repeat the last point up to a power of two."""
    length = 2 * JaxFunction.few_points
    while length < len(stack):
        length *= 2
    return np.concatenate([stack, np.repeat(stack[-1:], length - len(stack), axis=0)])


def _numbers_in(traced: Any) -> int:
    """Count the intermediate numbers."""
    made = [var.aval for equation in traced.jaxpr.eqns for var in equation.outvars]
    return sum(math.prod(getattr(aval, "shape", ())) for aval in made)
