"""A function of torch tensors as a function of NumPy arrays, with torch's derivatives."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from gradcheck_ref.adapters.at_once import BATCH, NUMBERS, AtOnce, Gradients, apart, in_batches
from gradcheck_ref.adapters.calls import Arguments, Returned, fitted, framework, missing_by_type
from gradcheck_ref.adapters.torch_at_once import left_as_it_was, operations
from gradcheck_ref.adapters.torch_company import company_of_torch
from gradcheck_ref.adapters.torch_errors import in_one_dtype, note_on
from gradcheck_ref.adapters.torch_place import IN_NUMPY, Place, array_of, home, module_of
from gradcheck_ref.adapters.torch_trees import open_tree, plain
from gradcheck_ref.arguments import Array, as_function
from gradcheck_ref.check.claim.company import Company

# torch's words for a missing derivative, in errors without a special type.
HAS_NO_RULE = (
    "Nested forward mode AD is not supported",
    "derivative for aten::",
    "Trying to set a forward gradient that has a different size",
)


def from_torch(fn: Callable[..., Any], device: Any = None, dtype: Any = None) -> "TorchFunction":
    """Turn a function of torch tensors into a function of NumPy arrays, with ``vjp`` and ``jvp``.

    Parameters
    ----------
    fn : callable
        Takes tensors and returns a tensor, or a tuple, list, dict or dataclass of them: any
        function, a ``torch.nn.Module``, or ``apply`` of a ``torch.autograd.Function``. It may write
        to the tensors it gets. Python floats beside arrays are constants, and fn gets them
        unchanged. To differentiate with respect to one, give an array, ``np.array(0.5)``.
    device : str, int or torch.device, optional
        Where tensors are made, such as "cuda" for a kernel. Values and gradients come back to the
        CPU. By default where the parameters of fn are, if it is a module, and otherwise the CPU.
    dtype : torch.dtype or str, optional
        The dtype of the tensors, such as ``torch.bfloat16``, for a function that takes no other.
        By default that of the arrays. The check sees its rounding as a part of fn.

    Returns
    -------
    TorchFunction
        Call it like fn, with arrays for tensors. Its ``vjp`` is torch's backward, its ``jvp``
        torch's forward mode, its ``vjp_vjp`` the backward of the backward.

    Raises
    ------
    ImportError
        Without torch, which comes with the extra ``torch``.
    TypeError
        If fn cannot be called, or is a ``torch.autograd.Function`` itself and not its ``apply``; if
        device is none, or dtype is not a floating one.
    ValueError
        If torch has no such device, or cannot make a tensor there; nothing was called then.

    Notes
    -----
    Cost: one call of fn for each call of the result, and one backward for each vjp. The points of a
    check go through fn together if that is possible (`TorchFunction.many`). In a single call the
    inputs of fn require gradients, as in training.

    The inputs become tensors of their own dtype, unless you give another: a module that takes
    float64 must be ``module.double()``. Its parameters are constants; `check_module` checks them,
    too. A tensor among the inputs is also a constant: to differentiate with respect to it, give an
    array. Numbers of bfloat16 come back as float32, which holds them all.

    An output may not require a gradient because it was detached or marked as not differentiable.
    Then its derivative is zero, and beside other outputs a check leaves it out, with a note. If a
    backward of a ``torch.autograd.Function`` returns None, vjp returns None.

    Examples
    --------
    ``check_vjp`` finds a wrong backward:

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
    torch = framework("torch")
    as_function(fn, "fn")
    if isinstance(fn, type) and issubclass(fn, torch.autograd.Function):
        raise TypeError(f"fn is the class {fn.__name__}: pass {fn.__name__}.apply")
    own = home(fn)
    place = Place(own or "cpu" if device is None else device, dtype)
    if own is not None and own != place.device and place.device.index is not None:
        raise ValueError(
            f"device is {str(place.device)!r}, but the parameters of fn are on {str(own)!r}: leave "
            f"device out, or move them with .to({str(place.device)!r})"
        )
    return TorchFunction(fn, place=place)


class TorchFunction(AtOnce):
    """A function of tensors as a function of arrays; see `from_torch`.

    Parameters
    ----------
    fn : callable
        The function of tensors.
    together : bool, optional
        Whether several points can go through fn together, if that is known.
    place : Place, optional
        Where tensors are made, and of which dtype.

    Attributes
    ----------
    constant_outputs : tuple of int
        The outputs of the last call that do not require a gradient.
    numbers_are_constants : bool
        True: a float beside an array is a constant, as in ``apply(x, 0.5)``.
    constant_leaves : frozenset of int
        The leaves of the inputs that do not require a gradient, in the order of the arguments.
    """

    few_points, few_upstreams = 1, 4
    numbers_are_constants = True
    constant_leaves: frozenset[int] = frozenset()
    open_tree = staticmethod(open_tree)

    def __init__(
        self, fn: Callable[..., Any], together: bool | None = None, place: Place | None = None
    ) -> None:
        self._torch = framework("torch")
        self._fn, self._together, self._place = fn, together, place or Place()
        self._module = module_of(fn)
        self.constant_outputs: tuple[int, ...] = ()
        # inspect.signature finds fn here, so reports use its names for the inputs.
        self.__wrapped__ = fn.forward if isinstance(fn, self._torch.nn.Module) else fn

    def __reduce__(self) -> tuple[Any, ...]:
        """Send fn to another process, which imports torch itself."""
        return TorchFunction, (self._fn, self._together, self._place)

    @property
    def gradients_in(self) -> tuple[str, int] | None:
        """The dtype of gradients, and how many digits it has; None if NumPy has that dtype, too."""
        dtype = self._place.dtype
        if dtype is None or str(dtype) in IN_NUMPY:
            return None
        return str(dtype)[6:], round(-math.log10(self._torch.finfo(dtype).resolution))

    @property
    def notes_of_check(self) -> tuple[str, ...]:
        """Say in a report that the parameters of a module are not checked."""
        learns = self._module and any(one.requires_grad for one in self._module.parameters())
        note = "the parameters of the module are constants here: check_module checks them, too"
        return (note,) * bool(learns)

    def _outputs(self, arguments: Arguments) -> tuple[Returned, list[Array]]:
        with self._recording(arguments):
            _, returned = self._run(arguments)
            needed = [output.requires_grad for output in returned.leaves]
            self.constant_outputs = tuple(j for j, one in enumerate(needed) if not one)
            return returned, list(map(array_of, returned.leaves))

    @property
    def many(self) -> Callable[[Sequence[Any]], list[Any]]:
        """The values of fn at several points; each is one input, or a tuple or dict of inputs.

        They go through fn together, by ``torch.vmap``, if that agrees with fn at the first and the
        last of them; otherwise fn is called at each point. If that happens the first time, this
        attribute no longer exists: fn branches on values, draws random numbers, is an
        ``autograd.Function`` without a rule for vmap, or is too large to gain anything.
        """
        if self._together is False:
            raise AttributeError("fn is called at one point at a time", name="many", obj=self)
        return self._at_many

    def _outputs_at_once(
        self, arguments: Arguments, stacks: list[Array]
    ) -> tuple[Returned, list[list[Array]]] | None:
        seen: list[Returned] = []

        def call(tensors: list[Any]) -> list[Any]:
            seen.append(self._returned(arguments, tensors))
            return seen[-1].leaves

        def batch(some: list[Array]) -> list[Array]:
            tensors = list(map(self._place.tensor, some))
            if not (seen or self._together):  # a first trial
                with operations() as made:
                    call([one[0].clone() for one in tensors])
                if BATCH * sum(size for _, size in made) > NUMBERS:
                    raise OverflowError
            return list(map(array_of, self._torch.vmap(call)(tensors)))

        with (
            self._recording(arguments),
            left_as_it_was(self._module),
            warnings.catch_warnings(action="error"),  # vmap warns if it falls back to one by one
        ):
            rows = in_batches(batch, stacks)
        return (seen[-1], rows) if rows else None

    def _arguments(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> Arguments:
        how = self.open_tree, self.numbers_are_constants
        return Arguments(inputs, named, *how, read_only=True)  # fn gets clones

    def _gradients(self, arguments: Arguments, upstream: Any) -> Gradients:
        with self._recording(arguments):
            leaves, returned = self._run(arguments)
            outputs = returned.leaves
            upstreams = self._likes(outputs, returned.listed(upstream))
            before = [None if one is None else one.clone() for one in upstreams]
            gradients = self._pull_back(outputs, upstreams, list(leaves.values()))
            _pass_on_writes(before, upstreams, returned.listed(upstream))
            asked = [y for y, one in zip(outputs, upstreams, strict=True) if one is not None]
            withheld = self._withheld(asked, leaves, gradients)
        # Each gradient is given up once it is an array: all of them twice may be much memory.
        filled = self._filled(gradients, list(leaves.values()))[::-1]
        del gradients
        arrays = {k: array_of(filled.pop()) for k in leaves}
        return {k: gradient for k, gradient in arrays.items() if k not in withheld}

    def _gradients_at_once(
        self, arguments: Arguments, upstreams: list[Any]
    ) -> list[Gradients] | None:
        """Return the gradients for all upstreams; None if one is missing, or torch cannot do it."""
        try:
            with self._torch.inference_mode(False), warnings.catch_warnings(action="error"):
                with operations() as made:
                    leaves, returned = self._run(arguments)
                if "register_hook" in dict(made) or self._written(returned.leaves):
                    return None
                each = [self._likes(returned.leaves, returned.listed(one)) for one in upstreams]
                stacks = [self._torch.stack(column) for column in zip(*each, strict=True)]
                tensors = returned.leaves, stacks, list(leaves.values())
                found = self._pull_back(*tensors, is_grads_batched=True)
                columns = dict(zip(leaves, map(array_of, found), strict=True))
        except Exception:  # if something is wrong, the calls one by one will show it
            return None
        return apart(columns, len(upstreams))

    def jvp(self, tangent: Any, /, *inputs: Any, **named: Any) -> Any:
        """Return the derivative of fn along ``tangent``, by torch's forward mode.

        ``tangent`` has the form of the inputs: one array, a tuple for several, a mapping for
        named inputs. None stands for zeros, and the tangent of a constant is ignored.

        NotImplementedError if an operation in fn has no forward mode, or fn itself uses it.
        """
        arguments = self._arguments(inputs, named)
        tangents = arguments.listed(tangent, "tangent")
        forward = self._torch.autograd.forward_ad
        with (
            self._recording(arguments),
            missing_by_type(RuntimeError, HAS_NO_RULE),
            forward.dual_level(),
        ):
            leaves, returned = self._run(arguments, tangents)
            outputs = returned.leaves
            found = [forward.unpack_dual(output).tangent for output in outputs]
            pushed = [k for k in leaves if tangents[k] is not None]
            for j, (output, along) in enumerate(zip(outputs, found, strict=True)):
                if along is None:
                    self._insist_on_constant(output, [leaves[k] for k in pushed], j)
                    found[j] = self._torch.zeros_like(output)
            return returned.arranged(map(array_of, found))

    def vjp_vjp(self, upstream: Any, /, *inputs_and_grad_outputs: Any, **named: Any) -> Any:
        """Return the vjp of the map from inputs and grad_outputs to gradients.

        ``f.vjp_vjp(upstream, *inputs, *grad_outputs)`` takes one of ``grad_outputs`` for every
        output. ``upstream`` has the form of vjp's result: one array or tree for one input, a tuple
        for several, None for a constant. Its length separates the inputs from the grad_outputs. The
        result is a tuple with a gradient for each input and each grad_output, None for a constant;
        the gradient of a tree is a tree.

        NotImplementedError if the backward of fn cannot be differentiated.
        """
        count = _inputs_before(upstream, inputs_and_grad_outputs, named)
        arguments = self._arguments(inputs_and_grad_outputs[:count], named)
        seeds = arguments.listed(upstream, "upstream")
        grad_outputs = inputs_and_grad_outputs[count:]
        with self._recording(arguments):
            leaves, returned = self._run(arguments)
            outputs, several = returned.leaves, len(returned.forest.forms)
            if len(grad_outputs) != several:
                raise ValueError(
                    f"{len(grad_outputs)} grad_outputs follow the {count} inputs that upstream is "
                    f"for, but fn has {several} outputs: give one for each output, None for zeros"
                )
            listed = returned.listed(grad_outputs if returned.several else grad_outputs[0])
            given = self._likes(outputs, listed)
            variables = {j: one.requires_grad_() for j, one in enumerate(given) if one is not None}
            firsts = self._pull_back(outputs, given, list(leaves.values()), create_graph=True)
            gradients = self._filled(firsts, list(leaves.values()))
            upstreams = self._likes(gradients, [seeds[k] for k in leaves])
            _insist_on_graphs(gradients, upstreams, [arguments.names[k] for k in leaves])
            every = [*leaves.values(), *variables.values()]
            with missing_by_type(RuntimeError, HAS_NO_RULE):
                second = self._filled(self._pull_back(gradients, upstreams, every), every)
        found = map(array_of, second)
        by_input = {k: next(found) for k in leaves}
        by_output = {j: next(found) for j in variables}
        return (
            *arguments.forest.built([by_input.get(k) for k in range(len(seeds))]),
            *returned.forest.built([by_output.get(j) for j in range(len(outputs))]),
        )

    def holding(self, leaves: frozenset[int]) -> "TorchFunction":
        """Return this function with some inputs as constants, which do not require a gradient."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), constant_leaves=leaves)
        return other

    def company(self, everything: bool, change: float, /, *inputs: Any, **named: Any) -> Company:
        """Ask for the gradient again in circumstances that must not matter; see the check.

        Cost: four calls of fn and four backwards; 13 to 21 more if it has a backward of its own.
        """
        arguments = self._arguments(inputs, named)
        with self._recording(arguments):
            return company_of_torch(self, arguments, everything, change)

    @contextmanager
    def _recording(self, arguments: Arguments) -> Iterator[None]:
        """Record operations for the backward, even inside the caller's inference_mode or no_grad.

        Errors that torch raises meanwhile get a note with advice, if there is any.
        """
        torch = self._torch
        usual = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
        with nullcontext() if usual else torch.inference_mode(False):
            try:
                yield
            except (RuntimeError, TypeError, ValueError) as error:
                self._explain(error, arguments)
                raise

    def _explain(self, error: Exception, arguments: Arguments) -> None:
        given = dict(zip(arguments.names, arguments.values, strict=True))
        given |= dict(zip(arguments.keys, arguments.given, strict=True))
        dtype = self._place.dtype
        note_on(error, given, lambda: in_one_dtype(arguments, self._module, dtype))

    def _run(
        self, arguments: Arguments, tangents: list[Any] | None = None
    ) -> tuple[dict[int, Any], Returned]:
        """Call fn; return the tensors to differentiate, and its outputs."""
        leaves, moved = {}, []
        for k in arguments.differentiated:
            leaf = self._tensor(arguments, k)
            if k not in self.constant_leaves:
                leaves[k] = leaf.requires_grad_()
            # Subtle: torch forbids writing to a leaf, but fn may write to its inputs: pass clones.
            value = leaf.clone()
            if k in leaves and tangents is not None and tangents[k] is not None:
                name = f"the tangent of {arguments.names[k]}"
                value = self._dual(value, self._like(leaf, tangents[k], name))
            moved.append(value)
        return leaves, self._returned(arguments, moved)

    def _tensor(self, arguments: Arguments, k: int) -> Any:
        """Return one of the arrays to differentiate as a tensor."""
        return self._place.tensor(arguments.values[k])

    def _returned(self, arguments: Arguments, tensors: list[Any]) -> Returned:
        """Call fn with these tensors in place of the differentiated arrays."""
        output, kind = arguments.call(self._fn, self._place.tensor, tensors), self._torch.Tensor
        output = output if type(output) is kind else plain(output)
        return Returned(output, kind, "tensor", self.open_tree)

    def _dual(self, value: Any, tangent: Any) -> Any:
        with warnings.catch_warnings():
            # Subtle: at its first use this imports a part of torch that torch itself deprecates.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._torch.autograd.forward_ad.make_dual(value, tangent)

    def _likes(self, tensors: list[Any], given: list[Any]) -> list[Any]:
        """Return the entries for each tensor as tensors; None stays None."""
        return [
            None if one is None else self._like(tensor, one, "upstream")
            for tensor, one in zip(tensors, given, strict=True)
        ]

    def _like(self, tensor: Any, given: Any, name: str) -> Any:
        array = fitted(given, tuple(tensor.shape), tensor.is_complex(), name)
        return self._torch.from_numpy(array).to(tensor.device, tensor.dtype)

    def _pull_back(
        self, outputs: list[Any], upstreams: list[Any], leaves: list[Any], **how: bool
    ) -> list[Any]:
        """Return the gradient of each leaf, None if nothing arrives there.

        ``how`` goes to ``torch.autograd.grad``.
        """
        pairs = [
            (output, upstream)
            for output, upstream in zip(outputs, upstreams, strict=True)
            if upstream is not None and output.requires_grad
        ]
        found = [None] * len(leaves)
        if pairs and leaves:
            tensors, vectors = zip(*pairs, strict=True)
            found = self._torch.autograd.grad(tensors, leaves, vectors, allow_unused=True, **how)
        return [None if gradient is None else gradient.to_dense() for gradient in found]

    def _filled(self, gradients: list[Any], leaves: list[Any]) -> list[Any]:
        """Replace missing gradients by zeros."""
        return [
            self._torch.zeros_like(leaf) if gradient is None else gradient
            for leaf, gradient in zip(leaves, gradients, strict=True)
        ]

    def _withheld(
        self, outputs: list[Any], leaves: dict[int, Any], gradients: list[Any]
    ) -> set[int]:
        """Return the leaves for which a user's backward has given None.

        A None of torch's own operations means zeros, for example for an unused output.
        """
        without = [k for k, one in zip(leaves, gradients, strict=True) if one is None]
        if not without:
            return set()
        behind = _leaves_of(_nodes_from(self._written(outputs)))
        return {k for k in without if id(leaves[k]) in behind}

    def _written(self, outputs: list[Any]) -> list[Any]:
        """List the steps of the backward of some outputs that are not torch's own."""
        kind = self._torch.autograd.function.BackwardCFunction
        return [node for node in _nodes_behind(outputs) if isinstance(node, kind)]

    def _insist_on_constant(self, output: Any, leaves: list[Any], j: int) -> None:
        """Refuse an output without a tangent if it depends on a moved input: it is not zero."""
        behind = _leaves_of(_nodes_behind([output]))
        if any(id(leaf) in behind for leaf in leaves):
            raise NotImplementedError(
                f"fn has no forward mode: its output {j} depends on a moved input, but torch gives "
                "no tangent for it. An operation in fn lacks forward mode, or a jvp gives None"
            )


def _pass_on_writes(before: list[Any], upstreams: list[Any], given: list[Any]) -> None:
    """Let the caller see if a backward writes to its upstream, as it does to a tensor of torch."""
    for was, now, array in zip(before, upstreams, given, strict=True):
        is_ours = isinstance(array, np.ndarray) and array.flags.writeable
        if is_ours and not bool(((was == now) | (was != was)).all()):
            array[...] = array_of(now)


def _inputs_before(upstream: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> int:
    """Return how many of the positional arguments are inputs, from an upstream for all inputs.

    A tuple or a list is for several inputs, unless the only input is such a container itself.
    """
    if isinstance(upstream, Mapping) and named:
        return 0
    if not isinstance(upstream, tuple | list) or (given and _are_alike(upstream, given[0])):
        return 1 - len(named)
    return len(upstream) - len(named)


def _are_alike(upstream: Any, value: Any) -> bool:
    """Whether an upstream has the form of this tree: the same containers and shapes."""
    if upstream is None:
        return True
    for kind in (Mapping, tuple | list):
        if isinstance(upstream, kind) != isinstance(value, kind):
            return False
    if isinstance(value, Mapping):
        return all(key in value and _are_alike(one, value[key]) for key, one in upstream.items())
    if isinstance(value, tuple | list):
        return len(upstream) == len(value) and all(map(_are_alike, upstream, value))
    return bool(np.shape(upstream) == np.shape(value))


def _insist_on_graphs(gradients: list[Any], upstreams: list[Any], names: list[str]) -> None:
    """Refuse a gradient that torch cannot differentiate: torch would treat it as a constant."""
    for gradient, upstream, name in zip(gradients, upstreams, names, strict=True):
        if upstream is None:
            continue
        detached = not gradient.requires_grad and bool(gradient.count_nonzero())
        if detached or _is_differentiable_once(gradient):
            why = "is detached" if detached else "goes through a once_differentiable"
            raise NotImplementedError(
                f"the backward of fn cannot be differentiated: its gradient by {name} {why}. "
                "Compute it with torch operations, from tensors that are not detached"
            )


def _is_differentiable_once(gradient: Any) -> bool:
    """Whether the graph of a gradient contains the node that once_differentiable leaves.

    That node raises an error when torch reaches it. But torch only visits nodes that lead to a
    requested leaf, and this node leads to none.
    """
    return any(node.name() == "torch::autograd::Error" for node in _nodes_behind([gradient]))


def _nodes_behind(tensors: list[Any]) -> list[Any]:
    """List the steps of the backward pass of some tensors."""
    return _nodes_from([tensor.grad_fn for tensor in tensors])


def _nodes_from(nodes: list[Any]) -> list[Any]:
    waiting, seen = list(nodes), dict[Any, None]()
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen[node] = None
            waiting.extend(following for following, _ in node.next_functions)
    return list(seen)


def _leaves_of(nodes: list[Any]) -> set[int]:
    """Return the ids of the leaves whose gradients some steps of a backward pass produce."""
    ends = [getattr(node, "variable", None) for node in nodes]
    return {id(leaf) for leaf in ends if leaf is not None}
