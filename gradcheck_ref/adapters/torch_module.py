"""Check a torch module in one call, with its inputs and its parameters."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradcheck_ref.adapters.calls import framework
from gradcheck_ref.adapters.torch_call import ModuleFunction
from gradcheck_ref.adapters.torch_place import Place, home
from gradcheck_ref.arguments import as_function, described
from gradcheck_ref.check.products import check_vjp
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.structure.inputs import signature_of

# These are not arguments of forward.
KNOBS = (
    "vjp",
    "jvp",
    "constant",
    "rtol",
    "atol",
    "max_evaluations",
    "nondet_tol",
    "seed",
    "workers",
    "progress",
    "company",
)


def check_module(
    module: Any,
    *inputs: Any,
    loss: Any = None,
    device: Any = None,
    dtype: Any = None,
    **named: Any,
) -> Report:
    """Check torch's gradients with respect to the inputs and the parameters of a module.

    Parameters
    ----------
    module : torch.nn.Module
        The module, in ``train()`` or ``eval()`` mode. It is not changed.
    *inputs : array_like, tensor or any
        The arguments of the module. Floating and complex arrays and tensors are differentiated,
        also in tuples, lists, dicts, dataclasses and packed sequences. Numbers, lists of them and
        everything else are constants. Sparse tensors are constants, too, with a note.
    loss : callable, optional
        The function to differentiate is ``loss(output)``, as for a training step. By default every
        entry of the output: a tensor, or tensors in tuples, lists, dicts and dataclasses.
    device : str, int or torch.device, optional
        Where it is computed, such as "cuda" for a kernel. By default where the module's parameters
        are, or on the CPU if that place has no float64.
    dtype : torch.dtype or "own", optional
        The dtype of parameters, buffers and inputs. By default float64, which shows most. With
        "own" each keeps its dtype, as in training, and NumPy arrays get that of the parameters if
        all have the same: this is how to check a module that takes bfloat16 only.
    **named : any
        The options of `check_vjp`, such as ``rtol`` or ``workers``. All other names go to
        ``forward``, as in ``check_module(module, x, mask=mask)``.

    Returns
    -------
    Report
        The inputs have the names of ``forward``, the parameters those of ``named_parameters()``.

    Raises
    ------
    ImportError
        Without torch, which comes with the extra ``torch``.
    TypeError
        If module is no module, loss cannot be called, there is nothing to differentiate,
        ``forward`` does not accept an argument by name, or returns no tensor.
    ValueError
        If a parameter has no numbers yet, as in a ``LazyLinear`` that was never called, or torch
        cannot make a tensor on that device.
    ValueError, TypeError, NotImplementedError
        As for `check_vjp`.

    Notes
    -----
    Cost: the same as `check_vjp`; an evaluation is one call of the module. With a loss there are
    three backward passes. Beside the module's own work, an evaluation takes what it takes to move
    all parameters and to copy them once. For 929,536 parameters and a loss, a check took 2.4 times
    as long as its evaluations of 4 ms alone, and 1.2 times where they took 50 ms. Beside a module
    in double precision it needs seven times the memory of a gradient.

    Everything is computed in double precision, for any dtype of the module: the check is about the
    formula. ``torch.zeros`` and similar calls without a dtype in forward give float64, too. If
    forward casts to float32 or 16 bits by itself, each input and parameter is judged as a whole, as
    in `check_gradient`: about 330 evaluations more for all; if some are wrong or hard to decide, up
    to 2000, and 282 for each.

    ``report.inputs`` says how far each input and parameter is off. If all wrong ones come before
    all right ones, the report says where the mistake begins.

    Parameters that do not require a gradient are constants, and so are buffers: if the module
    writes to them, as a batch norm does in training, the change is undone after each call.

    Random numbers of torch, such as those of dropout in training, come from the same seed in each
    call, so that the check sees a single function. A note in the report says so. A module that
    still gives another value each time is *unsure*, or fails, like any f.

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

    Everything before a wrong step is wrong, too:

    >>> class Through(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x + (x.tanh() - x).detach()  # tanh, with the derivative of x
    >>> network = torch.nn.Sequential(torch.nn.Linear(2, 3), Through(), torch.nn.Linear(3, 1))
    >>> print(*(f"{one.name}: {one.verdict}" for one in check_module(network, x).inputs))
    input: fail 0.weight: fail 0.bias: fail 2.weight: pass 2.bias: pass
    """
    torch = framework("torch")
    if not isinstance(module, torch.nn.Module):
        raise TypeError(
            f"module must be a torch.nn.Module, not {described(module)}; for a function there is "
            "check_vjp(from_torch(f), inputs)"
        )
    if loss is not None:
        as_function(loss, "loss")
    _insist_on_usable(module)
    knobs = {name: one for name, one in named.items() if name in KNOBS}
    by_name = {name: one for name, one in named.items() if name not in KNOBS}
    _insist_on_arguments(module, by_name)
    place = _place(module, device, dtype)
    # Several points at once may be rounded in another way than one, as in a bfloat16 convolution.
    together = None if place.dtype else False
    f = ModuleFunction(module, inputs, by_name, loss, knobs.get("seed", 0), place, together)
    f.insist_on_a_point()
    report = check_vjp(f, f.point, **knobs)
    return replace(report, notes=(*report.notes, *f.remarks()))


def _place(module: Any, device: Any, dtype: Any) -> Place:
    """Return where a module is to be computed, and in which dtype."""
    dtype = None if isinstance(dtype, str) and dtype == "own" else dtype or "float64"
    if device is not None:
        return Place(device, dtype)
    try:
        return Place(home(module) or "cpu", dtype)
    except ValueError:  # Apple's GPUs have no float64
        return Place("cpu", dtype)


def _insist_on_usable(module: Any) -> None:
    """Refuse a module that torch cannot call with other parameters, or that has no numbers yet."""
    torch = framework("torch")
    for name, one in (*module.named_parameters(), *module.named_buffers()):
        if torch.nn.parameter.is_lazy(one):
            raise ValueError(
                f"{name} has no shape yet, as in a LazyLinear: call module(...) once first"
            )
        if one.is_meta:
            raise ValueError(f"{name} is on the device meta, which holds no numbers")


def _insist_on_arguments(module: Any, by_name: Mapping[str, Any]) -> None:
    """Refuse a named argument that forward does not take: it may be a misspelt knob."""
    signature = signature_of(module.forward)
    parameters = signature.parameters.values() if signature else ()
    if signature is None or any(one.kind == one.VAR_KEYWORD for one in parameters):
        return
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    names = [one.name for one in parameters if one.kind in kinds]
    for name in by_name:
        if name not in names:
            raise TypeError(
                f"{name} is not an argument of forward, which takes {', '.join(names) or 'none'}, "
                f"and not a knob of check_vjp, which has {', '.join(KNOBS)}"
            )
