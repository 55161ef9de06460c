"""What a zoo entry is: a function, its right gradient, and the wrong ones people write."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Bug:
    """One plausible mistake in a gradient.

    Attributes
    ----------
    id : str
        Unique and stable: ``"<case name>/<slug>"``.
    kind : str
        The misconception, e.g. ``"sign"``, ``"missing-mean"``, ``"mask-dropped"``.
    vjp : callable
        The wrong ``vjp(upstream, *inputs)``; same contract as the right one. It may keep state
        between calls and may write to its inputs: then that is the bug.
    why : str
        One line on why people write it.
    diagnosis : str
        What a checker should say it looks like; the words are explained in
        ``gradcheck_ref.zoo``.
    """

    id: str
    kind: str
    vjp: Callable[..., Any]
    why: str
    diagnosis: str


@dataclass(frozen=True)
class Case:
    """A function with its right gradient, a point to check it at, and its bugs.

    Attributes
    ----------
    name : str
        Unique and stable.
    f : callable
        ``f(*inputs)``: one number, one array, or a tuple of arrays.
    inputs : tuple of ndarray
        The point. Integer arrays are constants: they are not differentiated.
    vjp : callable
        ``vjp(upstream, *inputs)``: one gradient, or a tuple for several inputs, with ``None`` in
        the place of an integer input. ``upstream`` has the shape of the output (a number for a
        number, a tuple for a tuple).
    tags : frozenset of str
        What the case is about and what makes it easy or hard, e.g. ``"smooth"``, ``"kink"``,
        ``"noise"``; the words are explained in ``gradcheck_ref.zoo``.
    bugs : tuple of Bug
        The wrong gradients.
    """

    name: str
    f: Callable[..., Any]
    inputs: tuple[Array, ...]
    vjp: Callable[..., Any]
    tags: frozenset[str]
    bugs: tuple[Bug, ...]
