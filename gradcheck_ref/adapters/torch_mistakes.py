"""Plant mistakes in the backward of a torch.autograd.Function while tests run.

Idea
    A test suite is good if it notices a wrong backward, with any checker. So `Planter` wraps each
    backward of a package: it notes that the backward was called, and plants a mistake on request.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

MISTAKES = ("times 2", "zeros", "upstream ignored")


class Planter:
    """Wraps every backward of a package inside its ``with`` block.

    This includes functions that are made inside the block: when a test imports a module, or calls a
    factory. Functions with the same name count as one.

    Parameters
    ----------
    package : str
        Its name.

    Attributes
    ----------
    names : set of str
        The functions found so far that define a ``backward`` (or ``vjp``), with the names of their
        modules.
    called : set of str
        The functions whose backward was called since this set was emptied.
    planted : dict
        The name of a function, and the one of MISTAKES that its backward makes.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.names, self.called = set[str](), set[str]()
        self.planted: dict[str, str] = {}
        self._own: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()

    def __enter__(self) -> "Planter":
        """Wrap every backward."""
        base = _base()

        def made(function: Any, /, **words: Any) -> None:
            super(base, function).__init_subclass__(**words)
            self._take(function)

        base.__init_subclass__ = classmethod(made)
        for function in _below(base):
            self._take(function)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore every backward."""
        del _base().__init_subclass__
        for function, (attribute, own) in self._own.items():
            setattr(function, attribute, own)

    def _take(self, function: Any) -> None:
        """Wrap the function's own backward, if it has one and belongs to the package."""
        attribute = next((name for name in ("backward", "vjp") if name in vars(function)), "")
        inside = f"{function.__module__}.".startswith(f"{self.package}.")
        if not (attribute and inside) or function in self._own:
            return
        name = f"{function.__module__}.{function.__qualname__}"
        right = getattr(function, attribute)
        self.names.add(name)
        self._own[function] = attribute, vars(function)[attribute]

        @functools.wraps(right)
        def backward(ctx: Any, *upstream: Any) -> Any:
            self.called.add(name)
            return _wrong(self.planted.get(name, ""), right, ctx, upstream)

        setattr(function, attribute, staticmethod(backward))


def _base() -> Any:
    import torch

    return torch.autograd.Function


def _below(base: Any) -> Iterator[Any]:
    """Yield all subclasses."""
    for one in base.__subclasses__():
        yield one
        yield from _below(one)


def _wrong(mistake: str, right: Callable[..., Any], ctx: Any, upstream: Any) -> Any:
    """Call a backward, and plant the mistake."""
    import torch

    if mistake == "upstream ignored":
        upstream = _each(torch.ones_like, upstream)
    gradients = right(ctx, *upstream)
    factor = {"times 2": 2, "zeros": 0}.get(mistake)
    return gradients if factor is None else _each(lambda one: factor * one, gradients)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """Change a tensor, or each tensor of a tuple or list; leave anything else, such as None."""
    import torch

    if isinstance(value, tuple | list):
        changed = [_each(change, one) for one in value]
        return changed if isinstance(value, list) else tuple(changed)
    return change(value) if isinstance(value, torch.Tensor) else value
