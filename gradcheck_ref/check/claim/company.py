"""A backward in company: the same vjp, asked again in circumstances that must not matter.

A check gives fresh, contiguous arrays, one call after another. Elsewhere the upstream is a slice or
one number for all outputs, another branch reads it later, forward runs twice before a backward. So
the same vjp is asked again in such a circumstance, and compared with its own answer. That needs no
evaluation of f, no step and no derivative, but it says nothing about numbers that are wrong alone.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.claim.claims import Claims, Product
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.knobs import RTOL, default_rtol

# A wrong address is off by the size of the gradient. Another layout rounds in another order: in 16
# bits that was up to 10 eps of the largest entry, and attention that JAX computes in float32 inside
# of float64 changed by 1e-7 of it. 35 functions of JAX and 592 of torch stay below.
OTHER = 1e-4

# A nearby point, and another upstream, both exact in any dtype.
NEARBY, OTHERWISE = 1.125, -3.0


class DoesNotApplyError(Exception):
    """The circumstance does not apply to this function."""


class Circumstance(NamedTuple):
    """A circumstance that must not change a gradient.

    Attributes
    ----------
    name : str
        The name, for data.
    ask : callable
        Asks the subject again; returns the wanted and the given arrays, None for a missing one.
    when : str
        The circumstance as a user meets it, after "they change if".
    cure : str
        The remedy.
    thorough : bool
        Whether it is only tried if the caller asks for everything.
    at_once : bool
        Whether the trial of many at once covers it.
    """

    name: str
    ask: Callable[[Any], tuple[Sequence[Any], Sequence[Any]]]
    when: str
    cure: str
    thorough: bool = False
    at_once: bool = False


class Company(NamedTuple):
    """The circumstances that were tried, the first fault and the first note; empty if none."""

    tried: tuple[str, ...] = ()
    fault: str = ""
    note: str = ""


def in_company(
    subject: Any,
    circumstances: Sequence[Circumstance],
    together: Circumstance | None = None,
    *,
    fails: bool = True,
) -> Company:
    """Try circumstances in their order, up to the first that is a fault.

    Parameters
    ----------
    subject : any
        The function that they ask; it has ``tolerance`` and ``scale``, as for `agree`.
    circumstances : sequence of Circumstance
        The circumstances.
    together : Circumstance, optional
        Tries those at once that say so.
    fails : bool
        Whether anything is a fault, and not only a note.
    """
    fine = together is not None and _outcome(subject, together) == (False, "")
    names, note = tuple(one.name for one in circumstances), ""
    for one in circumstances:
        if fine and one.at_once:
            continue
        changes, raised = _outcome(subject, one)
        if changes and fails:
            return Company(names, f"they change if {one.when}: {one.cure}", note)
        if changes and not note:
            note = f"the gradient changes if {one.when}: {one.cure}"
        if raised and not note:
            note = f"vjp raises if {one.when}: {raised}"
    return Company(names, note=note)


def _outcome(subject: Any, one: Circumstance) -> tuple[bool, str]:
    """Return whether a circumstance changes the gradient, and the error that it raises, if any."""
    try:
        return not agree(*one.ask(subject), subject.tolerance, subject.scale), ""
    except DoesNotApplyError:
        return False, ""
    except Exception as error:
        return False, f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"


def several(
    subject: Any, ask: Callable[[Any], tuple[Sequence[Any], Sequence[Any]]], ways: Iterable[Any]
) -> tuple[list[Any], list[Any]]:
    """Ask in several ways; an error in one of them only counts if no other changes the gradient."""
    wanted, given, error = list[Any](), list[Any](), None
    for way in ways:
        try:
            one, other = ask(way)
        except DoesNotApplyError:
            continue
        except Exception as now:
            error = error or now
            continue
        wanted += one
        given += other
    if error and agree(wanted, given, subject.tolerance, subject.scale):
        raise error
    return wanted, given


def tolerance(eps: float, change: float) -> float:
    """Return by how much a gradient may change, for a precision, and from call to call."""
    return max(OTHER, default_rtol(eps), change)


def agree(wanted: Sequence[Any], given: Sequence[Any], tolerance: float, scale: float) -> bool:
    """Whether gradients are equal, up to a share of their largest entry; None is zeros.

    Another upstream may cancel in a gradient, so ``scale``, its usual size, counts as well.

    Examples
    --------
    >>> import numpy as np
    >>> agree([np.ones(2), None], [np.array([1, 1 + 1e-9]), np.zeros(2)], 1e-4, 1.0)
    True
    >>> agree([np.array([1.0, 2.0])], [np.array([2.0, 1.0])], 1e-4, 1.0)
    False
    """
    for a, b in zip(wanted, given, strict=True):
        if a is None and b is None:
            continue
        a, b = (None if one is None else np.asarray(one) for one in (a, b))
        a = np.zeros_like(b) if a is None else a
        b = np.zeros_like(a) if b is None else b
        if a.shape != b.shape:
            return False
        most = tolerance * max(scale, size_of([a]))
        with np.errstate(invalid="ignore"):
            if not np.all((np.abs(b - a) <= most) | (a == b) | (np.isnan(a) & np.isnan(b))):
                return False
    return True


def size_of(arrays: Sequence[Any]) -> float:
    """Return the largest finite number, without its sign."""
    sizes = [np.abs(one).ravel() for one in arrays if one is not None]
    return max((float(one[np.isfinite(one)].max(initial=0.0)) for one in sizes), default=0.0)


# --- NumPy ----------------------------------------------------------------------------------------


class Arrays:
    """A vjp of NumPy arrays at the point of a check, and its gradient in the plain circumstance."""

    def __init__(self, claims: Claims, seed: int, change: float) -> None:
        ask = claims.ask
        self.claims, self.inputs, self.outputs = claims, ask.inputs, ask.outputs
        self.tolerance = tolerance(ask.precision, change)
        rng = np.random.default_rng(seed_of(seed, "company"))
        w = np.where(np.isfinite(ask.here), rng.normal(size=ask.here.size), 0)
        self.u = w if ask.mix is None else w @ ask.mix
        self.base = self.gradient()
        # One so much smaller than f is zero up to rounding, as that of corrcoef for one variable.
        self.scale = max(size_of([self.base]), RTOL * size_of([ask.here]))

    def call(self, u: Any = None, upstream: Any = None, inputs: Any = None) -> Any:
        """Call vjp with an upstream and inputs that lie in memory as these functions lay them."""
        values = self.inputs.copies()
        for k in self.inputs.parts.keys() - self.inputs.numbers:
            values[k] = np.asarray(inputs(values[k]) if inputs else values[k])
        upstream = self.outputs.unflat(self.u if u is None else u, upstream)
        return self.inputs.call(self.claims.given, values, upstream)

    def elsewhere(self) -> None:
        """Call vjp at another point, or at one nearby; it may take neither.

        The order of the numbers is reversed, and so that of signs and of the largest: each stays
        where f is defined.
        """
        for at in (lambda a: np.flip(a) * NEARBY, lambda a: a * NEARBY):
            with suppress(Exception):
                self.call(inputs=at)
                return

    def read(self, given: Any) -> Array:
        """Return a result of vjp, flat, as our own copy."""
        return Claims(self.claims.ask, "vjp", self.claims.given).read(given)

    def gradient(self, **how: Any) -> Array:
        """Return the gradient, flat."""
        return self.read(self.call(**how))


def by_columns(a: Array) -> Array:
    """Store an array column by column."""
    return np.array(a, order="F")


def every_second(a: Array) -> Array:
    """Store an array in every second cell of a larger one, its axes in reverse."""
    wide = np.full([2 * n for n in reversed(a.shape)], 7, a.dtype)
    view = wide[(slice(None, None, 2),) * a.ndim].T if a.ndim else wide
    view[...] = a
    return view


def rows_apart(a: Array) -> Array:
    """Store rows with a gap between them, as a slice of columns has."""
    if a.ndim < 2:
        return every_second(a)
    wide = np.full([*a.shape[:-1], a.shape[-1] + 3], 7, a.dtype)
    wide[..., :-3] = a
    return wide[..., :-3]


def backwards(a: Array) -> Array:
    """Store an array from the last to the first number, so that all strides are negative."""
    flip = (slice(None, None, -1),) * a.ndim
    return np.ascontiguousarray(a[flip])[flip] if a.ndim else a


def read_only(a: Array) -> Array:
    """Return a view that nobody can write to."""
    view = a.view()
    view.flags.writeable = False
    return view


def _relaid(name: str, layouts: Sequence[Any], when: str, cure: str) -> Iterator[Circumstance]:
    """Yield the circumstances that the upstream, and that the inputs, lie so in memory."""
    for of, whose in (("upstream", "the upstream"), ("inputs", "an input")):

        def ask(s: Arrays, of: str = of) -> tuple[list[Any], list[Any]]:
            return several(s, lambda lay: ([s.base], [s.gradient(**{of: lay})]), layouts)

        yield Circumstance(f"{of} {name}", ask, f"{whose} {when}", cure)


def _broadcast(s: Arrays) -> tuple[list[Any], list[Any]]:
    """Broadcast one number as the upstream; the reference gets the same numbers in full."""

    def one(a: Array) -> Array:
        return np.broadcast_to(np.asarray(0.7, a.dtype), a.shape)

    return [s.gradient(upstream=lambda a: one(a).copy())], [s.gradient(upstream=one)]


def _another_point(s: Arrays) -> tuple[list[Any], list[Any]]:
    """Call vjp at a nearby point before."""
    s.elsewhere()
    return [s.base], [s.gradient()]


def _gradient_kept(s: Arrays) -> tuple[list[Any], list[Any]]:
    """Call vjp with another upstream before the gradient is read."""
    first = s.call()
    s.call(OTHERWISE * s.u)
    return [s.base], [s.read(first)]


def _same_twice(s: Arrays) -> tuple[list[Any], list[Any]]:
    """Give one array for several inputs; the reference gets copies of it."""

    def ask(inputs: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
        answers = []
        for same in (False, True):
            values = s.inputs.copies()
            for k in inputs[1:]:
                values[k] = values[inputs[0]] if same else values[inputs[0]].copy()
            answers.append(s.read(s.inputs.call(s.claims.given, values, s.outputs.unflat(s.u))))
        return answers[:1], answers[1:]

    arrays = ((k, p) for k, p in s.inputs.parts.items() if k not in s.inputs.numbers)
    return several(s, ask, alike({k: (p.shape, p.dtype) for k, p in arrays}))


def alike(kinds: dict[int, Any]) -> list[tuple[int, ...]]:
    """List inputs of the same kind: each pair of two or three, one pair of more, and all.

    Examples
    --------
    >>> alike({0: "a", 1: "b", 2: "b", 3: "b"})
    [(1, 2), (1, 3), (2, 3), (1, 2, 3)]
    """
    found = dict[tuple[int, ...], None]()
    for kind in dict.fromkeys(kinds.values()):
        group = tuple(k for k in kinds if kinds[k] == kind)
        pairs = list(combinations(group, 2))
        found |= dict.fromkeys(pairs if len(group) <= 3 else pairs[:1])
        found |= dict.fromkeys([group] if len(group) > 1 else [])
    return list(found)


CIRCUMSTANCES = (
    *_relaid("by columns", [by_columns], "is stored column by column, as a.T is",
             "read it by index, not in the order of the memory"),
    *_relaid("in every second cell", [every_second, rows_apart],
             "is a slice of a larger array, as a[::2] is",
             "read it with its strides, or by np.ascontiguousarray"),
    *_relaid("backwards", [backwards], "is a reversed view, as a[::-1] is",
             "read it with its strides, or by np.ascontiguousarray"),
    *_relaid("read-only", [read_only], "is read-only, as a broadcast array or one of JAX is",
             "do not write to it"),
    Circumstance("upstream broadcast", _broadcast,
                 "the upstream is one number for all outputs (stride 0)",
                 "read it with its strides, or by np.ascontiguousarray"),
    Circumstance("another point between", _another_point,
                 "vjp is called at another point before",
                 "keep nothing between calls, or tell by the numbers whether x is the same"),
    Circumstance("gradient kept", _gradient_kept,
                 "vjp is called again before the gradient is used, as when gradients add up",
                 "return a new array each time, not the same buffer"),
    Circumstance("same array twice", _same_twice, "f(x, x) gets one array for two inputs",
                 "do not tell inputs apart by their memory or identity"),
)  # fmt: skip


def company_of(
    claims: Claims, product: Product, seed: int, change: float, everything: bool
) -> Company:
    """Try the circumstances of a vjp: those that f knows, or else those of NumPy arrays.

    f may have a method ``company(everything, change, *inputs)``, as adapters have, or a tuple with
    the names of those of NumPy that apply. ``change`` is how much a gradient may change from call
    to call, relative to its largest entry. The state must be that after a call of f at x. Cost: 17
    calls of vjp, or what the adapter says.
    """
    inputs = claims.ask.inputs
    # Code may warn of a read-only array, or of numbers at the nearby point.
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        if callable(product.company):
            found: Company = inputs.call(product.company, inputs.copies(), everything, change)
            return found
        subject = Arrays(claims, seed, change)
        names = product.company
        return in_company(subject, [one for one in CIRCUMSTANCES if not names or one.name in names])
