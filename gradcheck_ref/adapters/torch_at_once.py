"""For many points at once: list the operations of torch, and undo the changes of a module.

A call of a small function takes about ten microseconds. Adapting the call takes ten times as long,
and vmap takes twice that, whatever the number of points.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
