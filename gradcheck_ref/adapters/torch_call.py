"""One call of a torch module, as a function of its inputs and parameters by name."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcheck_ref.adapters.calls import Arguments
from gradcheck_ref.adapters.torch import TorchFunction
from gradcheck_ref.adapters.torch_errors import note_on
from gradcheck_ref.adapters.torch_place import IN_NUMPY, Place, array_of
from gradcheck_ref.adapters.torch_trees import plain
from gradcheck_ref.arguments import Array, described, kind_of
from gradcheck_ref.check.claim.company import Company
from gradcheck_ref.structure.inputs import parameters_in_order, signature_of
from gradcheck_ref.structure.trees import Forest, leaves_of

# Advice about a tensor with another dtype.
OTHERWISE = (
    "inputs, parameters and buffers are {0} here, but forward or loss uses a tensor that is not: "
    "it is not a buffer, or is made by .float() or with a fixed dtype. To make it {0}, keep it "
    "with register_buffer, or create it with dtype=x.dtype"
)
OF_OWN = (
    "with dtype='own', parameters, buffers and tensors keep their dtype: convert the inputs, or a "
    "part of the module, as the module needs it in training"
)


class ModuleFunction(TorchFunction):
    """One call of a module, as a function of all that can be differentiated.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    inputs : tuple
        The positional arguments.
    by_name : dict
        The keyword arguments.
    loss : callable or None
        A function of the module's output.
    seed : int
        For torch's random numbers.
    place : Place
        The device, and the dtype of all tensors; without a dtype each keeps its own.
    together : bool, optional
        As for `TorchFunction`.

    Attributes
    ----------
    point : dict
        The arrays to differentiate, by name.
    draws : bool
        Whether the module has drawn a random number so far.
    """

    reads_only_its_inputs = True
    notes_of_check = ()

    def __init__(
        self,
        module: Any,
        inputs: tuple[Any, ...],
        by_name: dict[str, Any],
        loss: Any,
        seed: int,
        place: Place,
        together: bool | None = None,
    ) -> None:
        super().__init__(self._call, together, place)
        self.made_of, self._module = (module, inputs, by_name, loss, seed, place), module
        self.module, self.loss, self.seed, self.draws = module, loss, seed, False
        # A call changes the parameters, the seed and the dtype for all threads.
        self.alone = threading.RLock()
        # torch.func.functional_call of this can call any function with other parameters in place.
        self.holder = self._torch.nn.Module()
        self.holder.module, self.holder.forward = module, _called
        parameters = dict(module.named_parameters())
        self.learned = [name for name, one in parameters.items() if one.requires_grad]
        names = _input_names(module, len(inputs), parameters)
        self.keywords = {
            f"inputs[{key!r}]" if key in parameters or key in names else key: key for key in by_name
        }
        given = zip([*names, *self.keywords], [*inputs, *by_name.values()], strict=True)
        self.in_order, self.sparse = names, list[str]()
        self.dtypes: dict[str, Any] = {}  # of the tensors to differentiate, by name
        self.own = own = {one.dtype for one in parameters.values() if one.is_floating_point()}
        self.of_arrays = next(iter(own)) if place.dtype is None and len(own) == 1 else None
        self.inputs = {name: self._input(one, name) for name, one in given}
        self.point = {name: one for name, (one, moves) in self.inputs.items() if moves}
        self.point |= {name: self._array(parameters[name], name) for name in self.learned}
        held = {name: one for name, one in parameters.items() if not one.requires_grad}
        held |= dict(module.named_buffers())
        self.held = {name: self._own(one) for name, one in held.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Send the module to another process."""
        return ModuleFunction, (*self.made_of, self._together)

    def _pulled_back(
        self, upstreams: Sequence[Any], inputs: tuple[Any, ...], named: dict[str, Any]
    ) -> list[Any]:
        given = upstreams, inputs, named
        found: list[Any] = self._while_it_holds(named, super()._pulled_back, *given)
        return found

    def company(self, everything: bool, change: float, /, **named: Any) -> Company:
        """Ask for the gradient again, as for any function, while the parameters are these."""
        found: Company = self._while_it_holds(named, super().company, everything, change, **named)
        return found

    @contextmanager
    def _recording(self, arguments: Arguments) -> Iterator[None]:
        with self.alone, self._defaults(), super()._recording(arguments):
            yield

    def jvp(self, tangent: Any, /, **named: Any) -> Any:
        """Return the derivative along ``tangent``, by torch's forward mode.

        NotImplementedError if forward mode fails for any reason: the backward is being checked.
        """
        try:
            return self._while_it_holds(named, super().jvp, tangent, **named)
        except RuntimeError as error:
            raise NotImplementedError(f"forward mode has failed: {error}") from error

    def _call(self, /, **named: Any) -> Any:
        """Call the module with these inputs and parameters, from a fixed seed."""
        given = {name: named.get(name, one) for name, (one, _) in self.inputs.items()}
        inputs = tuple(given[name] for name in self.in_order)
        by_name = {key: given[name] for name, key in self.keywords.items()}
        with self._seeded():
            state = {name: named[name] for name in self.learned} | self._constants()
            output = self._with(state, self.module, *inputs, **by_name)
            output = output if self.loss is None else self.loss(output)
        return self._with_numbers_for_others(plain(output))

    def _while_it_holds(self, named: Mapping[str, Any], call: Any, *args: Any, **more: Any) -> Any:
        """Call something while the parameters are these numbers, in their precision.

        The backward needs them, too, if it repeats a part of forward like
        ``torch.utils.checkpoint``: by then the forward with these parameters has ended.
        """
        with self.alone, self._defaults(), self._torch.inference_mode(False):
            state = {
                # torch forbids to write to these, as to any leaf.
                name: self._of(name, np.require(named[name], None, "W")).requires_grad_()
                for name in self.learned
            }
            return self._with(state | self._constants(), call, *args, **more)

    def _with(self, state: Mapping[str, Any], call: Any, *args: Any, **named: Any) -> Any:
        """Call something with these parameters and buffers in the module."""
        own = {f"module.{name}": one for name, one in state.items()}
        return self._torch.func.functional_call(self.holder, own, (call, args, named))

    def _constants(self) -> dict[str, Any]:
        return {name: value.clone() for name, value in self.held.items()}

    def _with_numbers_for_others(self, output: Any) -> Any:
        """Replace entries that are not tensors by whole numbers, which have no derivative."""
        forest = Forest([output], ["output"], self.open_tree)
        leaves = forest.leaves([output])
        ours = [isinstance(one, self._torch.Tensor) for one in leaves]
        if all(ours) or not any(ours):
            return output
        nothing = self._torch.zeros((), dtype=self._torch.int64)
        kept = [one if mine else nothing for one, mine in zip(leaves, ours, strict=True)]
        return forest.built(kept)[0]

    def _input(self, value: Any, name: str) -> tuple[Any, bool]:
        """Return an input, or a tree such as an LSTM's states, as the module gets it.

        And whether it moves: if it contains an array.
        """
        forest = Forest([value], [name], self.open_tree)
        leaves, moves = forest.leaves([value]), False
        for k, one in enumerate(leaves):
            if isinstance(one, self._torch.Tensor) and _has_no_array(one):
                leaves[k] = self._own(one)
                self.sparse.append(forest.names[k])
            elif isinstance(one, np.ndarray | np.inexact | self._torch.Tensor):
                leaves[k], moves = self._array(one, forest.names[k]), True
        return (forest.built(leaves)[0] if moves or self.sparse else value), moves

    def _own(self, tensor: Any) -> Any:
        """Return our own copy of a tensor, where and as it is used."""
        return self._place.moved(tensor.detach()).clone()

    def _array(self, value: Any, name: str) -> Array:
        """Return an array or a tensor as an array; if it can be moved, with its precision here.

        The array of a tensor that is already so is its own memory: it is only read.
        """
        tensor = value
        if not isinstance(value, self._torch.Tensor):
            array = np.array(value, order="K")
            if kind_of(array.dtype) not in "fc" or array.dtype.char in "gG":
                return array
            tensor = self._place.tensor(array)
            tensor = tensor if self.of_arrays is None else tensor.to(self.of_arrays)
        tensor = self._place.moved(tensor.detach())
        self.dtypes[name] = tensor.dtype
        ours = str(tensor.dtype) in IN_NUMPY and tensor.device.type == "cpu"
        if not ours:
            return array_of(tensor)
        return np.asarray(tensor.resolve_conj().resolve_neg().numpy())

    @property
    def spacings(self) -> dict[str, float]:
        """The spacing of the numbers of each tensor whose dtype NumPy lacks, relative to 1."""
        lacking = {n: t for n, t in self.dtypes.items() if str(t) not in IN_NUMPY}
        return {n: self._torch.finfo(t).eps for n, t in lacking.items() if t.is_floating_point}

    def _of(self, name: str, array: Array) -> Any:
        """Return the array of this name as a tensor with its dtype."""
        return self._place.tensor(array).to(self.dtypes[name])

    def _tensor(self, arguments: Arguments, k: int) -> Any:
        return self._of(arguments.names[k], arguments.values[k])

    @contextmanager
    def _defaults(self) -> Iterator[None]:
        """In double precision, ``torch.zeros`` and similar functions use it, too."""
        torch, before = self._torch, self._torch.get_default_dtype()
        if self._place.dtype == torch.float64:
            torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Draw random numbers from the seed, on the CPU and where the module is.

        Notices whether any was drawn. ``torch.manual_seed`` would also record the caller for every
        other device.
        """
        torch, device = self._torch, self._place.device
        cards = [] if device.type == "cpu" else [getattr(torch, device.type)]
        kind = "cuda" if device.type == "cpu" else device.type
        with torch.random.fork_rng(devices=[device] if cards else [], device_type=kind):
            torch.default_generator.manual_seed(self.seed)
            for card in cards:
                card.manual_seed(self.seed)
            before = [torch.get_rng_state(), *(card.get_rng_state(device) for card in cards)]
            yield
            after = [torch.get_rng_state(), *(card.get_rng_state(device) for card in cards)]
            self.draws |= not all(map(torch.equal, before, after))

    def _explain(self, error: Exception, arguments: Arguments) -> None:
        dtype = str(self._place.dtype).removeprefix("torch.")
        advice = OF_OWN if self._place.dtype is None else OTHERWISE.format(dtype)
        note_on(error, {name: one for name, (one, _) in self.inputs.items()}, lambda: advice)

    def insist_on_a_point(self) -> None:
        """Refuse a call without anything to differentiate."""
        floating = [part for part in self.point.values() if _any_floating(part, self.open_tree)]
        if floating:
            return
        kinds = [f"{name} is {described(one)}" for name, (one, _) in self.inputs.items()]
        raise TypeError(
            f"there is nothing to differentiate: {', '.join(kinds) or 'there are no inputs'}, and "
            "no parameter of the module requires a gradient: pass floating point arrays, or call "
            "module.requires_grad_()"
        )

    def remarks(self) -> Iterator[str]:
        """Return the notes about the call for the report."""
        if self.sparse:
            one = len(self.sparse) == 1
            yield (
                f"{' and '.join(self.sparse)} {'is a' if one else 'are'} sparse or nested "
                f"{'tensor' if one else 'tensors'}: {'it was' if one else 'they were'} held "
                "constant; to differentiate, pass the stored values, and build it in a module"
            )
        if self.draws:
            yield (
                "the module draws random numbers, like a dropout in train(): every call drew the "
                f"same numbers, with torch.manual_seed({self.seed})"
            )
        used = self._place.dtype
        if used and self.own - {used}:
            own = " and ".join(sorted(str(one)[6:] for one in self.own))
            yield (
                f"computed in {str(used)[6:]}, not in the {own} of the module: dtype='own' checks "
                "it as it is"
            )


def _called(call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return call(*args, **named)


def _has_no_array(tensor: Any) -> bool:
    import torch

    return bool(tensor.layout != torch.strided or tensor.is_nested)


def _any_floating(value: Any, opener: Any) -> bool:
    leaves = leaves_of(value, opener)
    return any(isinstance(one, np.ndarray) and kind_of(one.dtype) in "fc" for one in leaves)


def _input_names(module: Any, count: int, taken: Mapping[str, Any]) -> list[str]:
    """Return the names of forward's inputs, if they are known and not used by anything else."""
    names = parameters_in_order(signature_of(module.forward))
    names += [""] * (count - len(names))
    return [
        f"inputs[{k}]" if not name or name in taken else name
        for k, name in enumerate(names[:count])
    ]
