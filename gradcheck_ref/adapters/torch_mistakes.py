"""Mistakes in the backward of a torch.autograd.Function, made while tests run.

Idea
    A test suite is good if it notices a wrong backward, whichever checker it uses. So each backward
    of a package is called through here: `Backward` notes that it was called, and makes a mistake
    when it is told to.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

MISTAKES = ("times 2", "zeros", "upstream ignored")


class Backward:
    """The backward of a torch.autograd.Function, in its place; `restore` gives the place back.

    Parameters
    ----------
    function : type
        The torch.autograd.Function, with a ``backward`` (or ``vjp``) of its own.

    Attributes
    ----------
    name : str
        That of the function, with its module.
    mistake : str
        One of MISTAKES, or empty for the right backward.
    called : bool
        Whether it was called since this was set to False.
    """

    def __init__(self, function: Any) -> None:
        self.function, self.mistake, self.called = function, "", False
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._attribute = _own_backward(function)
        self._own = vars(function)[self._attribute]
        self._right = getattr(function, self._attribute)
        functools.update_wrapper(self, self._right, updated=())
        setattr(function, self._attribute, staticmethod(self))

    def __call__(self, ctx: Any, *upstream: Any) -> Any:
        """Call the backward, and make the mistake."""
        import torch

        self.called = True
        if self.mistake == "upstream ignored":
            upstream = _each(torch.ones_like, upstream)
        gradients = self._right(ctx, *upstream)
        factor = {"times 2": 2, "zeros": 0}.get(self.mistake)
        return gradients if factor is None else _each(lambda one: factor * one, gradients)

    def restore(self) -> None:
        """Put the function's own backward back."""
        setattr(self.function, self._attribute, self._own)


def functions_of(package: str) -> Iterator[Any]:
    """Yield every torch.autograd.Function of a package, of what was imported, with a backward."""
    import torch

    classes = list(torch.autograd.Function.__subclasses__())
    for function in classes:
        classes += [one for one in function.__subclasses__() if one not in classes]
        if f"{function.__module__}.".startswith(f"{package}.") and _own_backward(function):
            yield function


def _own_backward(function: Any) -> str:
    return next((name for name in ("backward", "vjp") if name in vars(function)), "")


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """Change a tensor, or each of a tuple or list; leave all else, as None for a constant."""
    import torch

    if isinstance(value, tuple | list):
        changed = [_each(change, one) for one in value]
        return changed if isinstance(value, list) else tuple(changed)
    return change(value) if isinstance(value, torch.Tensor) else value
