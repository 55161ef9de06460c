"""A torch module as one function of its inputs and parameters, each by its name, and checked."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.adapters.torch import TorchFunction, from_torch, torch_itself
from gradcheck_ref.arguments import Array, described
from gradcheck_ref.check.products import check_vjp
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.trees import Tree


def check_module(module: Any, *inputs: Any, loss: Any = None, **knobs: Any) -> Report:
    """Check what torch's backward gives for the inputs and the parameters of a module.

    Parameters
    ----------
    module : torch.nn.Module
        The module, in ``train()`` or ``eval()``, as it is to be checked. It is not changed.
    *inputs : array_like, tensor or any
        What the module is called with. Floating and complex arrays and tensors are differentiated,
        in tuples, lists and dicts as well; numbers and all else are constants.
    loss : callable, optional
        ``loss(output)`` is what is differentiated, as for a training step. By default every entry
        of the output: a tensor, or tensors in tuples, lists and dicts.
    **knobs : any
        As for `check_vjp`.

    Returns
    -------
    Report
        With the inputs named as in ``forward``, the parameters as in ``named_parameters()``.

    Raises
    ------
    ImportError
        Without torch, which comes with the extra ``torch``.
    TypeError
        If module is no module, or returns something else than tensors.
    ValueError, TypeError, NotImplementedError
        As for `check_vjp`.

    Notes
    -----
    Cost: that of `check_vjp`; an evaluation is one call of the module.

    All is done in double precision, whatever the module is in: it is the formula that is checked.
    Parameters that do not require a gradient are constants, and so are buffers: what the module
    writes to them, as a batch norm does in training, is forgotten after each call.

    Whatever torch draws, as a dropout does in training, it draws again in each call, from the same
    seed: the function that is checked is one function. A note in the report says so. A module that
    still gives other values each time is *unsure*, or fails, as any f.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))
    ...
    ...     def forward(self, x):
    ...         return x * self.weight.detach() ** 2  # it will not learn
    >>> x = np.array([0.5, 1.0])
    >>> report = check_module(Scale(), x)
    >>> print(report.verdict, "-", report.diagnoses[0].subject, "-", report.diagnoses[0].sentence)
    fail - weight - it is zero everywhere
    """
    torch = torch_itself()
    if not isinstance(module, torch.nn.Module):
        raise TypeError(
            f"module must be a torch.nn.Module, not {described(module)}; for a function there is "
            "check_vjp(from_torch(f), inputs)"
        )
    call = ModuleCall(module, inputs, loss, knobs.get("seed", 0))
    report = check_vjp(call.function, call.point, **knobs)
    if call.draws:
        note = (
            "the module draws random numbers, as a dropout does in train(): every call drew the "
            f"same, with torch.manual_seed({call.seed})"
        )
        report = replace(report, notes=(*report.notes, note))
    return report


class ModuleCall:
    """One call of a module, as a function of everything in it that can be differentiated.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    inputs : tuple
        What it is called with.
    loss : callable or None
        What becomes of its output.
    seed : int
        For what torch draws.

    Attributes
    ----------
    point : dict
        The arrays to differentiate by, by name.
    function : TorchFunction
        The function of these.
    draws : bool
        Whether it has drawn a random number so far.
    """

    def __init__(self, module: Any, inputs: tuple[Any, ...], loss: Any, seed: int) -> None:
        self.torch = torch_itself()
        self.module, self.loss, self.seed, self.draws = module, loss, seed, False
        parameters = dict(module.named_parameters())
        self.learned = [name for name, one in parameters.items() if one.requires_grad]
        names = _input_names(module, len(inputs), parameters)
        self.inputs = dict(zip(names, inputs, strict=True))
        doubled = {name: self._doubled(one, name) for name, one in self.inputs.items()}
        self.point = {name: one for name, one in doubled.items() if one is not None}
        self.point |= {name: self._double(parameters[name]) for name in self.learned}
        frozen = {name: one for name, one in parameters.items() if not one.requires_grad}
        frozen |= dict(module.named_buffers())
        self.frozen = {
            name: self.torch.from_numpy(self._double(one)) for name, one in frozen.items()
        }
        self.function: TorchFunction = from_torch(self._call)

    def _call(self, **named: Any) -> Any:
        """Call the module with these inputs and parameters, from a fixed seed."""
        inputs = tuple(named.get(name, one) for name, one in self.inputs.items())
        state = {name: named[name] for name in self.learned}
        state |= {name: value.clone() for name, value in self.frozen.items()}
        with self.torch.random.fork_rng(devices=[]):
            # What torch.manual_seed does on the CPU: that notes for every other device who called.
            self.torch.default_generator.manual_seed(self.seed)
            before = self.torch.get_rng_state()
            output = self.torch.func.functional_call(self.module, state, inputs)
            output = output if self.loss is None else self.loss(output)
            self.draws |= not self.torch.equal(before, self.torch.get_rng_state())
        tensors = tuple(one for one in _leaves(output) if isinstance(one, self.torch.Tensor))
        return tensors if isinstance(output, tuple | list | Mapping) and tensors else output

    def _doubled(self, value: Any, name: str) -> Any:
        """Return an input, or a tree as an LSTM's states are, in double; None without an array."""
        tree = Tree(value, name, TorchFunction.open_tree)
        leaves = tree.leaves(value)
        arrays = [isinstance(one, np.ndarray | self.torch.Tensor) for one in leaves]
        each = zip(leaves, arrays, strict=True)
        double = [self._double(one) if ours else one for one, ours in each]
        return tree.built(double) if any(arrays) else None

    def _double(self, value: Any) -> Array:
        """Return an array or a tensor as an array, of double precision where it may be moved."""
        if isinstance(value, self.torch.Tensor):
            value = value.detach().cpu()
            if value.is_floating_point() or value.is_complex():  # NumPy has no bfloat16
                value = value.to(self.torch.promote_types(value.dtype, self.torch.float64))
            value = value.resolve_conj().resolve_neg().numpy()
        double = np.result_type(value, np.float64) if value.dtype.kind in "fc" else value.dtype
        return np.array(value, double)


def _input_names(module: Any, count: int, taken: Mapping[str, Any]) -> list[str]:
    """Return what `forward` calls its inputs, where that is known and nothing else's name."""
    try:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = inspect.signature(module.forward).parameters.values()
        names = [one.name for one in parameters if one.kind in kinds]
    except (TypeError, ValueError):
        names = []
    names += [""] * (count - len(names))
    return [
        f"inputs[{k}]" if not name or name in taken else name
        for k, name in enumerate(names[:count])
    ]


def _leaves(output: Any) -> Iterator[Any]:
    """Go through what is in tuples, lists and dicts, however deep."""
    if isinstance(output, Mapping):
        output = list(output.values())
    if not isinstance(output, tuple | list):
        yield output
        return
    for one in output:
        yield from _leaves(one)
