"""What torch's errors mean for who hands over NumPy arrays, and what to write."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcheck_ref.adapters.calls import Arguments
from gradcheck_ref.structure.trees import Tree, opened

# How torch's operations say that two dtypes do not go together: forward, back, or where something
# is worked out once more on the way back.
OF_TYPES = re.compile(r"d(ata)?types?\b|(scalar|input) types?|type promoting", re.IGNORECASE)
OF_INTEGERS = re.compile(
    r"\b(u?int|long|short|byte|char|bool)(tensor|64|32|16|8)?\b", re.IGNORECASE
)
OF_TENSORS = re.compile(r"must be Tensor, not (\w+)")

# The other way to keep checkpoints goes through .grad of tensors, of which there is but one.
REENTRANT = (
    "the gradients are asked for by torch.autograd.grad: check with use_reentrant=False, which "
    "gives the same ones"
)


def note_on(error: Exception, given: Mapping[str, Any], of_precision: Callable[[], str]) -> None:
    """Add what to do to an error that torch has raised, where that is known.

    Parameters
    ----------
    error : Exception
        What was raised, at the call of fn or in its backward.
    given : mapping
        What fn was called with, by the names that a report gives it.
    of_precision : callable
        Says what to do where numbers of one precision have met those of another.
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


def in_double(arguments: Arguments, fn: Any) -> str:
    """Say how a function and its inputs come to be of one precision."""
    import torch

    given = {arguments.names[k]: arguments.values[k].dtype for k in arguments.differentiated}
    double = {name: dtype for name, dtype in given.items() if dtype.char in "dD"}
    name, dtype = next(iter((double or given).items()), ("", None))
    own = {one.dtype for one in fn.parameters()} if isinstance(fn, torch.nn.Module) else set()
    wide = not own.isdisjoint({torch.float64, torch.complex128})
    if double and own and not wide:
        theirs = str(min(own, key=str)).removeprefix("torch.")
        return (
            f"{name} is {dtype}, as NumPy's numbers are, and the parameters of fn are {theirs}: "
            "hand over module.double()"
        )
    if double:
        return (
            f"{name} is {dtype}, as NumPy's numbers are, and meets something else in fn: if that "
            "is a module's, hand over module.double(); tensors that fn makes can have dtype=x.dtype"
        )
    if name and wide:
        return f"{name} is {dtype} and fn has parameters of float64: hand over {name}.astype(float)"
    return ""


def _of_what_is_no_tensor(given: Mapping[str, Any], kind: str) -> str:
    for name, value in given.items():
        if type(value).__name__ != kind:
            continue
        what = f"{name} is a {kind}, which reaches fn as it is"
        if isinstance(value, Mapping):
            return f"{what}: for each of its entries by its name, hand over **{name}"
        if _is_of_numbers(value):
            return f"{what}: for an array, pass np.array({name}, float)"
    return ""


def _is_of_numbers(value: Any) -> bool:
    tree = Tree(value, "", lambda one: opened(one) if isinstance(one, list | tuple) else None)
    leaves = tree.leaves(value)
    return bool(leaves) and all(isinstance(one, int | float | np.ndarray) for one in leaves)


def _of_integers(given: Mapping[str, Any]) -> str:
    for name, value in given.items():
        dtype = str(getattr(value, "dtype", "")).removeprefix("torch.")
        if OF_INTEGERS.fullmatch(dtype):
            return (
                f"{name} holds {dtype}, which is a constant and stays what it is: for numbers to "
                f"compute with, pass np.asarray({name}, float)"
            )
    return ""
