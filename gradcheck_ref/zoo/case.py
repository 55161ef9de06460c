"""An entry of the zoo: a function, its right gradient, and the wrong ones that people write."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
        The wrong ``vjp(upstream, *inputs)``, with the same contract as the right one. If it keeps
        state between calls, or writes to its inputs, that is the bug.
    why : str
        One line on why people write it.
    diagnosis : str
        The diagnosis that a checker should give. ``gradcheck_ref.zoo`` explains the words.
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
        ``vjp(upstream, *inputs)``: one gradient, or a tuple for several inputs, with ``None`` for
        an integer input. ``upstream`` has the shape of the output (a number for a number, a tuple
        for a tuple).
    tags : frozenset of str
        The topic of the case and its difficulties, such as ``"smooth"``, ``"kink"``, ``"noise"``.
        ``gradcheck_ref.zoo`` explains the words.
    bugs : tuple of Bug
        The wrong gradients. `bug` adds one.
    """

    name: str
    f: Callable[..., Any]
    inputs: tuple[Array, ...]
    vjp: Callable[..., Any]
    tags: frozenset[str]
    bugs: tuple[Bug, ...] = ()

    def bug(self, slug: str, why: str) -> "NamedBug":
        """Begin the next bug: its name, and why people write it. Its `wrong` adds it to the case.

        Examples
        --------
        >>> import numpy as np
        >>> from gradcheck_ref.zoo import Case
        >>> point = (np.array([0.4, 2.1]),)
        >>> tags = frozenset({"elementwise", "smooth"})
        >>> square = (
        ...     Case("square", lambda x: x**2, point, lambda u, x: u * 2 * x, tags)
        ...     .bug("two-forgotten", "The exponent is lowered but not brought down.")
        ...     .wrong("factor-half", "factor", lambda u, x: u * x)
        ... )
        >>> print([bug.id for bug in square.bugs])
        ['square/two-forgotten']
        """
        return NamedBug(self, f"{self.name}/{slug}", why)


@dataclass(frozen=True)
class NamedBug:
    """A bug with a name and a reason, but not yet a wrong gradient."""

    case: Case
    id: str
    why: str

    def wrong(self, kind: str, diagnosis: str, vjp: Callable[..., Any]) -> Case:
        """Return the case with this bug as its last."""
        bug = Bug(self.id, kind, vjp, self.why, diagnosis)
        return replace(self.case, bugs=(*self.case.bugs, bug))


def case(
    name: str, f: Callable[..., Any], vjp: Callable[..., Any], tags: str, *inputs: Array
) -> Case:
    """Make a case without bugs; ``tags`` are words separated by spaces."""
    return Case(name, f, inputs, vjp, frozenset(tags.split()))
