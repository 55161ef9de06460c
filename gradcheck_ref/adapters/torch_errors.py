"""Advice on torch's errors, for users who pass NumPy arrays."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.adapters.calls import Arguments
from gradcheck_ref.structure.trees import leaves_of, opened

# torch's words for two dtypes that do not match: in forward, in backward, or in a forward that the
# backward repeats.
OF_TYPES = re.compile(r"d(ata)?types?\b|(scalar|input) types?|type promoting", re.IGNORECASE)
OF_INTEGERS = re.compile(
    r"\b(u?int|long|short|byte|char|bool)(tensor|64|32|16|8)?\b", re.IGNORECASE
)
OF_TENSORS = re.compile(r"must be Tensor, not (\w+)")

# Reentrant checkpoints write to .grad, but the adapter calls torch.autograd.grad.
REENTRANT = (
    "the check calls torch.autograd.grad: check with use_reentrant=False, which gives the same "
    "gradients"
)


def note_on(error: Exception, given: Mapping[str, Any], of_precision: Callable[[], str]) -> None:
    """Add advice to an error that torch has raised, if there is any.

    Parameters
    ----------
    error : Exception
        The error of a call of fn or of its backward.
    given : mapping
        The arguments of fn, by their names in a report.
    of_precision : callable
        Returns the advice for a mixture of precisions.
    """
    said, note = str(error), ""
    if wrong := OF_TENSORS.search(said):
        note = _of_what_is_no_tensor(given, wrong[1])
    elif "use_reentrant=True" in said:
        note = REENTRANT
    elif not isinstance(error, TypeError) and OF_TYPES.search(said):
        note = _of_integers(given) if OF_INTEGERS.search(said) else of_precision()
    if note:
        error.add_note(f"in gradcheck_ref: {note}")


def in_one_dtype(arguments: Arguments, module: Any, asked: Any) -> str:
    """Say how to give a function and its inputs the same precision.

    Parameters
    ----------
    arguments : Arguments
        The inputs, as they were given.
    module : torch.nn.Module or None
        The module that the function is, if it is one.
    asked : torch.dtype or None
        The ``dtype`` of `from_torch`.
    """
    own = set() if module is None else {str(one.dtype)[6:] for one in module.parameters()}
    theirs = min(own, default="")
    if asked is not None:
        made = f"tensors are {str(asked)[6:]} here, by dtype"
        if own and str(asked)[6:] not in own:
            return f"{made}, but the parameters of fn are {theirs}: give dtype={theirs!r}"
        return (
            f"{made}, but fn uses one that is not: if fn makes it, use dtype=x.dtype; a tensor "
            "among the inputs keeps its dtype, and an array does not"
        )
    given = {arguments.names[k]: arguments.values[k].dtype for k in arguments.differentiated}
    double = {name: dtype for name, dtype in given.items() if dtype.char in "dD"}
    name, dtype = next(iter((double or given).items()), ("", None))
    wide = not own.isdisjoint({"float64", "complex128"})
    if double and own and not wide:
        return (
            f"{name} is {dtype}, like NumPy's numbers, but the parameters of fn are {theirs}: "
            f"pass module.double(), or give from_torch dtype={theirs!r}"
        )
    if double:
        return (
            f"{name} is {dtype}, like NumPy's numbers, and meets another dtype in fn: if that is a "
            "module's, pass module.double(); if fn makes the tensor, use dtype=x.dtype"
        )
    if name and wide:
        return f"{name} is {dtype} and fn has parameters of float64: pass {name}.astype(float)"
    if name and own and str(dtype) not in own:
        return f"{name} is {dtype}, but the parameters of fn are {theirs}: give dtype={theirs!r}"
    return ""


def _of_what_is_no_tensor(given: Mapping[str, Any], kind: str) -> str:
    for name, value in given.items():
        if type(value).__name__ != kind:
            continue
        what = f"{name} is a {kind}, which reaches fn unchanged"
        if isinstance(value, Mapping):
            return f"{what}: to pass each entry by its name, write **{name}"
        if _is_of_numbers(value):
            floating = f"np.array({name}, float)"
            if all(type(one) is int for one in _numbers_in(value)):
                floating = f"np.array({name}), or {floating} to differentiate"
            return f"{what}: for a tensor, pass {floating}"
    return ""


def _is_of_numbers(value: Any) -> bool:
    leaves = _numbers_in(value)
    return bool(leaves) and all(isinstance(one, int | float | np.ndarray) for one in leaves)


def _numbers_in(value: Any) -> list[Any]:
    return leaves_of(value, lambda one: opened(one) if isinstance(one, list | tuple) else None)


def _of_integers(given: Mapping[str, Any]) -> str:
    for name, value in given.items():
        dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
        if OF_INTEGERS.fullmatch(dtype):
            return (
                f"{name} holds {dtype}, which stays a constant of that dtype: for floating "
                f"numbers, pass np.asarray({name}, float)"
            )
    for name, value in given.items():
        array = isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
        if array and (value == np.rint(value)).all():
            return (
                f"{name} holds whole numbers as {value.dtype}: if they are indices, pass "
                f"{name}.astype(int), which is a constant, and what they choose from as an input, "
                "too, or a torch.nn.Module to check_module"
            )
    return ""
