"""A function of torch tensors at many points at once, by ``torch.vmap``, if possible.

A call of a small function takes about ten microseconds. Adapting the call takes ten times as long,
and vmap takes twice that, whatever the number of points.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array

# Up to this many upstreams cost no more one by one.
FEW = 4

# BATCH points go together, if that needs at most NUMBERS intermediate numbers (128 MB). A larger
# function gains nothing, and workers share its points one by one.
BATCH, NUMBERS = 128, 2**24


def at_once(
    function: Callable[[list[Any]], list[Any]], stacks: Sequence[Array], known: bool = False
) -> list[list[Array]] | None:
    """Call a function at many points at once.

    Parameters
    ----------
    function : callable
        Takes a list of tensors, and returns a list of them.
    stacks : sequence of ndarray
        For each of the tensors its values at the points, one after another.
    known : bool, default False
        Whether the function is known to be small enough; otherwise it is measured first.

    Returns
    -------
    list of list of ndarray, or None
        A list of outputs for each point; None if vmap cannot handle the function (control flow on
        values, random numbers, an ``autograd.Function`` without a rule for it), or if it computes
        too many intermediate numbers.
    """
    import torch

    rows: list[list[Array]] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # vmap warns if it falls back to one by one
            if not known and BATCH * _numbers_of(function, stacks) > NUMBERS:
                return None
            for start in range(0, len(stacks[0]), BATCH):
                some = [torch.from_numpy(one[start : start + BATCH]) for one in stacks]
                found = [one.detach().cpu().numpy() for one in torch.vmap(function)(some)]
                rows += [[np.array(one[k]) for one in found] for k in range(len(some[0]))]
    except Exception:  # if something is wrong, the call at a single point will show it
        return None
    return rows


def _numbers_of(function: Callable[[list[Any]], list[Any]], stacks: Sequence[Array]) -> int:
    """Count the intermediate numbers of a function at the first point."""
    import torch

    with operations() as made:
        function([torch.from_numpy(np.array(one[0])) for one in stacks])
    return sum(size for _, size in made)


@contextmanager
def operations() -> Iterator[list[tuple[str, int]]]:
    """List the torch operations that are called: the name, and how many numbers each returns."""
    import torch
    from torch.overrides import TorchFunctionMode

    made: list[tuple[str, int]] = []

    def listed(_: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        size = found.numel() if isinstance(found, torch.Tensor) else 0
        made.append((getattr(func, "__name__", ""), size))
        return found

    with type("Listing", (TorchFunctionMode,), {"__torch_function__": listed})():
        yield made


@contextmanager
def left_as_it_was(module: Any) -> Iterator[None]:
    """Undo a forward's changes to its module: tensors of vmap cannot be used outside of it."""
    parts = [] if module is None else list(module.modules())
    held = [held for one in parts for held in (vars(one), one._parameters, one._buffers)]
    held = [one for one in held if isinstance(one, dict)]  # compiled modules have other types
    before = [dict(one) for one in held]
    try:
        yield
    finally:
        for one, was in zip(held, before, strict=True):
            for key in [key for key in one if key not in was]:
                del one[key]
            # Other threads may be in forward, so only changed attributes are restored.
            one.update({key: value for key, value in was.items() if one.get(key) is not value})
