"""A framework's function as one of NumPy arrays, with a vjp and a jvp: for the check to call.

Idea
    ``check_vjp(from_torch(fn), x)`` holds torch's backward of ``fn`` against differences of ``fn``
    itself. What comes in is copied into tensors, what goes out into arrays; nothing is rounded on
    the way, and nothing of the caller's is written.
Conventions
    Those of the check. ``vjp(upstream, *inputs)`` returns one gradient, or a tuple for several
    inputs, or a dict where they came by name; None for a constant. Floating and complex arrays and
    numbers are differentiated, everything else is a constant. A gradient by a complex
    ``z = x + i y`` is ``dL/dx + i dL/dy``, as in torch; JAX gives the conjugate, which is undone.
No derivative is made up
    Where an operation has no forward derivative, jvp raises NotImplementedError and does not derive
    one from the backward: the two would agree, whatever the backward is worth.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array, as_function, described

# How JAX says that an operation has no derivative of the kind asked for; torch has a type for it.
JAX_HAS_NO_RULE = (
    "forward-mode autodiff (jvp) to a custom_vjp function",
    "do not support JVP",
    "Reverse-mode differentiation does not work",
)


def from_torch(fn: Callable[..., Any]) -> "TorchFunction":
    """Turn a function of torch tensors into one of NumPy arrays, with ``vjp`` and ``jvp``.

    Parameters
    ----------
    fn : callable
        Takes tensors and returns a tensor, or a tuple of them: any function, a
        ``torch.nn.Module``, or ``apply`` of a ``torch.autograd.Function``. It may write to the
        tensors it gets. Floats among its inputs become tensors too; to keep one, bind it:
        ``lambda x: fn(x, 0.5)``.

    Returns
    -------
    TorchFunction
        Called as fn is, with arrays for tensors. Its ``vjp`` is torch's backward, its ``jvp``
        torch's forward mode, its ``vjp_vjp`` the backward of the backward.

    Raises
    ------
    ImportError
        Without torch, which comes with the extra ``torch``.
    TypeError
        If fn cannot be called, or is a ``torch.autograd.Function`` itself and not its ``apply``.

    Notes
    -----
    Cost: one call of fn for each call of what is returned, and one backward for each vjp. fn always
    runs with its inputs requiring gradients, as in training.

    The inputs become tensors on the CPU, of their own dtype. Parameters of a module are constants;
    to check those, hand them over by name:
    ``from_torch(lambda **params: torch.func.functional_call(module, params, (data,)))``.

    An output that does not require a gradient, as one that was detached or marked as not
    differentiable, has a derivative of zeros. Leave it out if that is how it is meant.

    Examples
    --------
    A wrong backward is found by ``check_vjp``:

    >>> import numpy as np
    >>> import torch
    >>> from gradcheck_ref import check_vjp
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...
    ...     @staticmethod
    ...     def backward(ctx, upstream):
    ...         (x,) = ctx.saved_tensors
    ...         return upstream * 3 * x  # the square was forgotten
    >>> f = from_torch(Cube.apply)
    >>> x = np.array([0.5, 2.0])
    >>> print(f(x), f.vjp(np.ones(2), x))
    [0.125 8.   ] [1.5 6. ]
    >>> report = check_vjp(f, x)
    >>> print(report.verdict, report.worst.name, report.worst.analytic)
    fail d output[0] / d x[0] 1.5
    """
    torch = _torch()
    as_function(fn, "fn")
    if isinstance(fn, type) and issubclass(fn, torch.autograd.Function):
        raise TypeError(f"fn is the class {fn.__name__}: pass {fn.__name__}.apply")
    return TorchFunction(fn)


def from_jax(fn: Callable[..., Any]) -> "JaxFunction":
    """Turn a function of JAX arrays into one of NumPy arrays, with ``vjp`` and ``jvp``.

    Parameters
    ----------
    fn : callable
        Takes arrays and returns an array or number, or a tuple of them; jitted or not. For a
        function of a dict, ``from_jax(lambda **params: fn(params))`` takes its entries by name.

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
    Cost: one call of fn for each call of what is returned.

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
    _jax()
    return JaxFunction(as_function(fn, "fn"))


class TorchFunction:
    """A function of tensors as one of arrays; see `from_torch`.

    Parameters
    ----------
    fn : callable
        The function of tensors.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._torch = _torch()
        self._fn = fn
        # Where inspect.signature looks: reports then name the inputs as fn does.
        self.__wrapped__ = fn.forward if isinstance(fn, self._torch.nn.Module) else fn

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Return what fn returns, as an array or a tuple of arrays."""
        with self._recording():
            _, outputs, several = self._run(_Arguments(inputs, named))
            return _arranged(map(_array_of_tensor, outputs), several)

    def vjp(self, upstream: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the gradients of ``Re(sum(conj(upstream) * fn(*inputs)))``, by torch's backward.

        ``upstream`` has the shape of the output, and is a tuple for several; None stands for
        zeros. What fn does not use has a gradient of zeros.
        """
        arguments = _Arguments(inputs, named)
        with self._recording():
            leaves, outputs, several = self._run(arguments)
            upstreams = self._likes(outputs, _listed_upstream(upstream, len(outputs), several))
            gradients = self._pull_back(outputs, upstreams, list(leaves.values()))
        found = map(_array_of_tensor, gradients)
        return arguments.arranged(dict(zip(leaves, found, strict=True)))

    def jvp(self, tangent: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the derivative of fn along ``tangent``, by torch's forward mode.

        ``tangent`` is arranged as the inputs are: one array, a tuple for several, a mapping for
        named ones. None stands for zeros, and what is given for a constant is ignored.

        NotImplementedError if an operation in fn has no forward mode.
        """
        arguments = _Arguments(inputs, named)
        tangents = arguments.listed(tangent, "tangent")
        forward = self._torch.autograd.forward_ad
        with self._recording(), forward.dual_level():
            _, outputs, several = self._run(arguments, tangents)
            moved = [(output, forward.unpack_dual(output).tangent) for output in outputs]
            return _arranged(
                (
                    np.zeros(tuple(output.shape)) if along is None else _array_of_tensor(along)
                    for output, along in moved
                ),
                several,
            )

    def vjp_vjp(self, upstream: Any, /, *inputs_and_grad_outputs: Any, **named: Any) -> Any:
        """Return the vjp of the map from inputs and grad_outputs to gradients.

        ``f.vjp_vjp(upstream, *inputs, *grad_outputs)``, with one of ``grad_outputs`` for every
        output. ``upstream`` is arranged as what vjp returns: one array for one input, a tuple for
        several, None for a constant; its length tells the inputs from the grad_outputs. Returned
        is a tuple with a gradient for each input and each grad_output, None for a constant.

        NotImplementedError if the backward of fn cannot be differentiated.
        """
        several = isinstance(upstream, tuple | list | Mapping)
        count = (len(upstream) if several else 1) - len(named)
        arguments = _Arguments(inputs_and_grad_outputs[:count], named)
        seeds = arguments.listed(upstream, "upstream")
        grad_outputs = inputs_and_grad_outputs[count:]
        with self._recording():
            leaves, outputs, _ = self._run(arguments)
            given = self._likes(outputs, _listed_upstream(grad_outputs, len(outputs), True))
            variables = {j: one.requires_grad_() for j, one in enumerate(given) if one is not None}
            gradients = self._pull_back(outputs, given, list(leaves.values()), again=True)
            upstreams = self._likes(gradients, [seeds[k] for k in leaves])
            _insist_on_graphs(gradients, upstreams, [arguments.names[k] for k in leaves])
            every = [*leaves.values(), *variables.values()]
            second = self._pull_back(gradients, upstreams, every)
        found = map(_array_of_tensor, second)
        by_input = {k: next(found) for k in leaves}
        by_output = {j: next(found) for j in variables}
        return (
            *(by_input.get(k) for k in range(len(seeds))),
            *(by_output.get(j) for j in range(len(outputs))),
        )

    def _recording(self) -> Any:
        """Record operations for the backward, in the caller's inference_mode or no_grad too."""
        return self._torch.inference_mode(False)

    def _run(
        self, arguments: "_Arguments", tangents: list[Any] | None = None
    ) -> tuple[dict[int, Any], list[Any], bool]:
        """Call fn; return the tensors to differentiate by, its outputs, and if they are several."""
        handed = arguments.converted(self._torch.from_numpy)
        leaves = {k: handed[k].requires_grad_() for k in arguments.differentiated}
        for k, leaf in leaves.items():
            # Subtle: nobody may write to a leaf, but fn may write to what it gets: a clone.
            handed[k] = leaf.clone()
            if tangents is not None and tangents[k] is not None:
                name = f"the tangent of {arguments.names[k]}"
                handed[k] = self._dual(handed[k], self._like(leaf, tangents[k], name))
        returned = arguments.call(self._fn, handed)
        outputs, several = _listed_outputs(returned, self._torch.Tensor, "tensor")
        return leaves, outputs, several

    def _dual(self, value: Any, tangent: Any) -> Any:
        with warnings.catch_warnings():
            # Subtle: at its first use this imports a part of torch that torch itself deprecates.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._torch.autograd.forward_ad.make_dual(value, tangent)

    def _likes(self, tensors: list[Any], given: list[Any]) -> list[Any]:
        """Return as tensors what is given for each tensor; None stays None."""
        return [
            None if one is None else self._like(tensor, one, "upstream")
            for tensor, one in zip(tensors, given, strict=True)
        ]

    def _like(self, tensor: Any, given: Any, name: str) -> Any:
        array = _fitted(given, tuple(tensor.shape), tensor.is_complex(), name)
        return self._torch.from_numpy(array).to(tensor.device, tensor.dtype)

    def _pull_back(
        self, outputs: list[Any], upstreams: list[Any], leaves: list[Any], again: bool = False
    ) -> list[Any]:
        """Return the gradient by each leaf, zeros where the outputs do not depend on it."""
        pairs = [
            (output, upstream)
            for output, upstream in zip(outputs, upstreams, strict=True)
            if upstream is not None and output.requires_grad
        ]
        found = [None] * len(leaves)
        if pairs and leaves:
            tensors, vectors = zip(*pairs, strict=True)
            found = self._torch.autograd.grad(
                tensors, leaves, vectors, allow_unused=True, create_graph=again
            )
        return [
            self._torch.zeros_like(leaf) if gradient is None else gradient.to_dense()
            for leaf, gradient in zip(leaves, found, strict=True)
        ]


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
        self.__wrapped__ = fn  # where inspect.signature looks for the names of the inputs

    def __call__(self, /, *inputs: Any, **named: Any) -> Any:
        """Return what fn returns, as an array or a tuple of arrays."""
        with self._in_double():
            function, point = self._opened(_Arguments(inputs, named))
            return self._returned(function(point))

    def vjp(self, upstream: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the gradients of ``Re(sum(conj(upstream) * fn(*inputs)))``, by ``jax.vjp``.

        ``upstream`` has the shape of the output, and is a tuple for several; None stands for
        zeros. What fn does not use has a gradient of zeros.

        NotImplementedError if an operation in fn has no reverse mode.
        """
        arguments = _Arguments(inputs, named)
        with self._in_double(), _missing_rules_by_type():
            function, point = self._opened(arguments)
            output, pull_back = self._jax.vjp(function, point)
            several = isinstance(output, tuple)
            outputs = output if several else (output,)
            given = _listed_upstream(upstream, len(outputs), several)
            upstreams = map(self._cotangent, outputs, given)
            (gradients,) = pull_back(tuple(upstreams) if several else next(upstreams))
            # JAX pulls back conjugates to conjugates, of what the check's convention has.
            found = [np.conj(_array_of_jax(gradient)) for gradient in gradients]
        return arguments.arranged(dict(zip(arguments.differentiated, found, strict=True)))

    def jvp(self, tangent: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the derivative of fn along ``tangent``, by ``jax.jvp``.

        ``tangent`` is arranged as the inputs are: one array, a tuple for several, a mapping for
        named ones. None stands for zeros, and what is given for a constant is ignored.

        NotImplementedError if an operation in fn has no forward mode.
        """
        arguments = _Arguments(inputs, named)
        tangents = arguments.listed(tangent, "tangent")
        with self._in_double(), _missing_rules_by_type():
            function, point = self._opened(arguments)
            along = [
                self._like(one, tangents[k], f"the tangent of {arguments.names[k]}")
                for k, one in zip(arguments.differentiated, point, strict=True)
            ]
            return self._returned(self._jax.jvp(function, (point,), (along,))[1])

    @contextmanager
    def _in_double(self) -> Iterator[None]:
        """Let float64 be float64."""
        from jax import experimental

        home = self._jax if hasattr(self._jax, "enable_x64") else experimental  # it moved in 0.8
        with home.enable_x64(True):
            yield

    def _opened(self, arguments: "_Arguments") -> tuple[Callable[[list[Any]], Any], list[Any]]:
        """Return fn as a function of the arrays to differentiate by, and the point in those."""
        asarray = self._jax.numpy.asarray
        values = arguments.converted(asarray)
        kinds = (self._jax.Array, np.ndarray, np.generic, int, float, complex)

        def function(point: list[Any]) -> Any:
            handed = list(values)
            for k, one in zip(arguments.differentiated, point, strict=True):
                handed[k] = one
            outputs, several = _listed_outputs(arguments.call(self._fn, handed), kinds, "array")
            arrays = tuple(map(asarray, outputs))
            for one in arrays:
                if one.dtype.kind not in "fciub":
                    raise TypeError(f"NumPy has no {one.dtype}: let fn return it as float32")
            return arrays if several else arrays[0]

        return function, [values[k] for k in arguments.differentiated]

    def _returned(self, output: Any) -> Any:
        several = isinstance(output, tuple)
        return _arranged(map(_array_of_jax, output if several else (output,)), several)

    def _cotangent(self, output: Any, given: Any) -> Any:
        """Return the conjugate of an upstream; of an integer output JAX wants a type of its own."""
        if output.dtype.kind not in "fc":
            return np.zeros(output.shape, self._jax.dtypes.float0)
        return self._like(output, given, "upstream").conj()

    def _like(self, array: Any, given: Any, name: str) -> Any:
        if given is None:
            return self._jax.numpy.zeros_like(array)
        fitted = _fitted(given, array.shape, array.dtype.kind == "c", name)
        return self._jax.numpy.asarray(fitted, array.dtype)


class _Arguments:
    """The inputs of one call, in order and by name; some are differentiated, others constants.

    Parameters
    ----------
    inputs : tuple
        Those handed over in order.
    named : dict
        Those handed over by name.
    """

    def __init__(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.in_order = len(inputs)
        self.names = [f"inputs[{k}]" for k in range(len(inputs))] + list(named)
        given = (*inputs, *named.values())
        self.values = [_own(value, name) for value, name in zip(given, self.names, strict=True)]
        self.differentiated = [
            k
            for k, value in enumerate(self.values)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fc"
        ]

    def converted(self, convert: Callable[[Array], Any]) -> list[Any]:
        """Return the values, with the arrays of numbers as the framework has them."""
        return [
            convert(value)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fciub"
            else value
            for value in self.values
        ]

    def call(self, fn: Callable[..., Any], values: list[Any]) -> Any:
        """Call fn with these values, in order or by name as the inputs came."""
        named = dict(zip(self.names[self.in_order :], values[self.in_order :], strict=True))
        return fn(*values[: self.in_order], **named)

    def arranged(self, gradients: dict[int, Array]) -> Any:
        """Arrange gradients, given by the number of their input, as the inputs came."""
        every = [gradients.get(k) for k in range(len(self.values))]
        if self.in_order:
            return _arranged(every, len(every) > 1)
        return dict(zip(self.names, every, strict=True))

    def listed(self, given: Any, name: str) -> list[Any]:
        """Return what is given for every input, arranged as the inputs came, as a list."""
        if isinstance(given, Mapping):
            given = [given.get(key) for key in self.names]
        elif not isinstance(given, tuple | list):
            given = [given]
        if len(given) != len(self.values):
            raise ValueError(
                f"{name} is for {len(given)} inputs, but there are {len(self.values)}: give one "
                "array for each, in their order or by name, and None for a constant"
            )
        return list(given)


def _own(value: Any, name: str) -> Any:
    """Return our own copy of an array or floating number, as every framework takes it."""
    if isinstance(value, np.integer | np.bool):
        return value.item()  # torch wants Python's own for a flag or an axis
    if not isinstance(value, np.ndarray | np.inexact | float | complex):
        return value
    array = np.asarray(value)
    if array.dtype.char in "gG" and array.dtype.itemsize > 8 * (1 + (array.dtype.kind == "c")):
        raise TypeError(f"{name} is {array.dtype}, which no framework has: pass float64")
    return np.array(array, dtype=array.dtype.newbyteorder("="), order="C")


def _fitted(given: Any, shape: tuple[int, ...], is_complex: bool, name: str) -> Array:
    """Return an upstream or a tangent as our own array of double precision, if it fits."""
    array = np.asarray(given)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"{name} must be an array of numbers, not {described(given)}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, but what it is for has shape {shape}")
    if array.dtype.kind == "c" and not is_complex:
        raise TypeError(f"{name} is complex, but what it is for is real")
    return array.astype(complex if array.dtype.kind == "c" else float, order="C")


def _listed_upstream(given: Any, count: int, several: bool) -> list[Any]:
    if not several:
        return [given]
    if not isinstance(given, tuple | list) or len(given) != count:
        raise ValueError(
            f"fn returns {count} outputs: upstream must be a tuple of as many arrays, "
            f"not {described(given)}"
        )
    return list(given)


def _listed_outputs(returned: Any, kinds: Any, kind: str) -> tuple[list[Any], bool]:
    """Return the outputs as a list, and whether they are several."""
    several = isinstance(returned, tuple | list)
    outputs = list(returned) if several else [returned]
    for j, output in enumerate(outputs):
        if not isinstance(output, kinds):
            what = described(output) + (f" at {j}" if several else "")
            raise TypeError(f"fn must return one {kind}, or a tuple of them, not {what}")
    return outputs, several


def _arranged(arrays: Iterable[Any], several: bool) -> Any:
    return tuple(arrays) if several else next(iter(arrays))


def _array_of_tensor(tensor: Any) -> Array:
    """Return a tensor as an array with memory of its own."""
    # Subtle: conjugates, negatives and zeros may be memory with a flag; a clone has no flags.
    own = tensor.detach().cpu().clone()
    try:
        return np.asarray(own.numpy())
    except TypeError as error:
        raise TypeError(
            f"NumPy has no array of {tensor.dtype} in the layout {tensor.layout}: "
            "let fn return it .to_dense(), or .float()"
        ) from error


def _array_of_jax(value: Any) -> Array:
    """Return a JAX array as an array with memory of its own."""
    array = np.array(value)
    # The tangent of an integer output has a type of its own, with nothing in it.
    return np.zeros(array.shape) if array.dtype.names == ("float0",) else array


def _insist_on_graphs(gradients: list[Any], upstreams: list[Any], names: list[str]) -> None:
    """Refuse a gradient that torch cannot differentiate: torch would take it for a constant."""
    for gradient, upstream, name in zip(gradients, upstreams, names, strict=True):
        if upstream is None:
            continue
        detached = not gradient.requires_grad and bool(gradient.count_nonzero())
        if detached or _is_differentiable_once(gradient):
            why = "is detached" if detached else "goes through a once_differentiable"
            raise NotImplementedError(
                f"the backward of fn cannot be differentiated: its gradient by {name} {why}. "
                "Make it of torch operations, on tensors that are not detached"
            )


def _is_differentiable_once(gradient: Any) -> bool:
    """Whether somewhere behind a gradient is what once_differentiable leaves there.

    That raises an error when torch reaches it; but torch goes only where it finds a leaf that was
    asked for, and behind this there is none.
    """
    nodes, seen = [gradient.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        if node.name() == "torch::autograd::Error":
            return True
        seen.add(node)
        nodes.extend(following for following, _ in node.next_functions)
    return False


@contextmanager
def _missing_rules_by_type() -> Iterator[None]:
    """Raise NotImplementedError where JAX says in words that a rule is missing, as torch does."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if any(words in str(error) for words in JAX_HAS_NO_RULE):
            raise NotImplementedError(str(error)) from error
        raise


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "from_torch needs torch, which is not installed: pip install 'gradcheck-ref[torch]'"
        ) from error
    return torch


def _jax() -> Any:
    try:
        import jax
    except ImportError as error:
        raise ImportError(
            "from_jax needs JAX, which is not installed: pip install 'gradcheck-ref[jax]'"
        ) from error
    return jax
