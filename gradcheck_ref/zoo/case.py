"""An entry of the zoo: a function, its right gradient, and the wrong ones that people write."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
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

    def changed(self, slug: str, why: str, change: "Change", part: int | None = None) -> "Case":
        """Return the case with one more bug: the right gradient, changed; see `NamedBug.by`.

        Examples
        --------
        >>> import numpy as np
        >>> from gradcheck_ref.zoo.case import NEGATED, case
        >>> product = case(
        ...     "product", lambda a, b: a * b, lambda u, a, b: (u * b, u * a), "smooth",
        ...     np.array(2.0), np.array(3.0),
        ... ).changed("sign", "The rule of the quotient.", NEGATED, part=1)
        >>> print(product.bugs[0].kind, product.bugs[0].vjp(1.0, *product.inputs))
        sign (np.float64(3.0), np.float64(-2.0))
        """
        return self.bug(slug, why).by(change, part)


@dataclass(frozen=True)
class NamedBug:
    """A bug with a name and a reason, but not yet a wrong gradient."""

    case: Case
    id: str
    why: str

    def wrong(
        self, kind: str, diagnosis: str, vjp: Callable[..., Any], part: int | None = None
    ) -> Case:
        """Return the case with this bug as its last.

        With ``part``, ``vjp`` gives the gradient of that input alone; the others are right.
        """

        def one_wrong(u: Any, *inputs: Array) -> Any:
            right = self.case.vjp(u, *inputs)
            return *right[:part], vjp(u, *inputs), *right[part + 1 :]  # type: ignore[operator]

        bug = Bug(self.id, kind, vjp if part is None else one_wrong, self.why, diagnosis)
        return replace(self.case, bugs=(*self.case.bugs, bug))

    def by(self, change: "Change", part: int | None = None) -> Case:
        """Return the case with this bug: the right gradient, changed.

        With ``part``, only the gradient of that input changes. An integer input has none.
        """

        def wrong(u: Any, *inputs: Array) -> Any:
            right = self.case.vjp(u, *inputs)
            if part is not None:
                return change.of(right[part])
            if isinstance(right, tuple):
                return tuple(None if g is None else change.of(g) for g in right)
            return change.of(right)

        return self.wrong(change.kind, change.diagnosis, wrong, part)


class Change(NamedTuple):
    """A mistake that can be made with any right gradient: kind, diagnosis, and what it does."""

    kind: str
    diagnosis: str
    of: Callable[[Array], Any]


NEGATED = Change("sign", "sign", operator.neg)
ZERO = Change("zero", "zero", np.zeros_like)
HALVED = Change("factor-half", "factor", lambda g: g / 2)
DOUBLED = Change("factor-2", "factor", lambda g: 2 * g)
TRANSPOSED = Change("transpose", "transposed", np.transpose)
REVERSED = Change("flip", "permuted", lambda g: g[::-1])


def times(factor: float, kind: str = "factor") -> Change:
    """Multiply a gradient by a number."""
    return Change(kind, "factor", lambda g: factor * g)


def without(index: Any, diagnosis: str) -> Change:
    """Leave some entries at zero, as a loop does that begins too late or ends too early."""

    def zeroed(g: Array) -> Array:
        g = np.array(g)
        g[index] = 0
        return g

    return Change("loop-bounds", diagnosis, zeroed)


def rolled(axis: int | None = None) -> Change:
    """Write each entry to the place behind its own."""
    return Change("off-by-one", "permuted", lambda g: np.roll(g, 1, axis))


def accumulated() -> Change:
    """Add the gradients of all calls, in a buffer that is never set to zero."""
    kept: Any = 0

    def added(g: Array) -> Any:
        nonlocal kept
        kept = kept + g
        return kept

    return Change("accumulation", "accumulated", added)


def case(
    name: str, f: Callable[..., Any], vjp: Callable[..., Any], tags: str, *inputs: Array
) -> Case:
    """Make a case without bugs; ``tags`` are words separated by spaces."""
    return Case(name, f, inputs, vjp, frozenset(tags.split()))
