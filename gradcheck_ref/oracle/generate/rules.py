"""The comparison rules, each written once for exact numbers and for doubles alike.

``Rule.decide`` uses the arithmetic of its numbers. The vectors come from the exact run; the run in
doubles shows where a right implementation in doubles may differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import eq
from typing import Any

from .numbers import divide, finite, root

Entries = list[Any]


class RefusedError(Exception):
    """The rule cannot be applied to these arguments."""


@dataclass(frozen=True)
class Decision:
    """The measured and the allowed error of a rule, and its decision."""

    error: Any  # a list, entry by entry, or one number for a norm
    close: bool
    margins: list[tuple[Any, Any]]  # pairs (measured, allowed) that decided it
    extra: dict[str, Any]


@dataclass(frozen=True)
class Rule:
    """A rule, and its usual tolerances. The vector file has it in words, and its source."""

    name: str
    rtol: float
    atol: float
    decide: Callable[..., Decision]
    floor: float | None = None
    empty: bool | None = None  # the decision without entries; None: it refuses

    @property
    def group(self) -> str:
        """Name of the group."""
        return f"compare/{self.name}"


def is_nan(value: Any) -> bool:
    """Whether a number is NaN."""
    return bool(value != value)


# --- rules that look at every entry by itself -------------------------------------------------


def by_entry(
    a: Entries,
    n: Entries,
    rtol: Any,
    atol: Any,
    floor: Any,
    *,
    tests: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...],
    strict: bool = False,
    same: Callable[[Any, Any], bool] = lambda x, y: False,
    able: Callable[[Any, Any, Any], bool] = lambda x, y, e: True,
    times: Callable[[Entries], int] = lambda n: 1,
    extra: Callable[[Entries, Entries, Any], dict[str, Any]] = lambda a, n, one: {},
) -> Decision:
    """Compare each entry with the allowed error; one test that holds is enough.

    A test is (measured, allowed), functions of (x, y, |x - y|, floor) and of (x, y, rtol, atol). It
    holds if measured < allowed, or if they are equal and not ``strict``. An entry that is ``same``
    passes whatever the tolerances; one that is not ``able`` passes only then.
    """
    rtol, atol = rtol * times(n), atol * times(n)
    errors, margins, close = [], list[tuple[Any, Any]](), True
    for x, y in zip(a, n, strict=True):
        e = abs(x - y)
        pairs = [(m(x, y, e, floor), allowed(x, y, rtol, atol)) for m, allowed in tests]
        holds = any(m < most or (m == most and not strict) for m, most in pairs)
        close &= same(x, y) or (able(x, y, e) and holds)
        errors.append(pairs[0][0])
        margins += pairs
    return Decision(errors, close, margins, extra(a, n, atol))


def absolute(x: Any, y: Any, e: Any, floor: Any) -> Any:
    """Return the absolute error."""
    return e


def total(x: Any, y: Any, rtol: Any, atol: Any) -> Any:
    """Allow the sum of both tolerances; the numeric value is the reference."""
    return atol + rtol * abs(y)


def only_atol(x: Any, y: Any, rtol: Any, atol: Any) -> Any:
    """Allow the absolute tolerance."""
    return atol


def only_rtol(x: Any, y: Any, rtol: Any, atol: Any) -> Any:
    """Allow the relative tolerance."""
    return rtol


def equal_or_nan(x: Any, y: Any) -> bool:
    """Accept equal numbers, and NaN against NaN."""
    return bool(x == y) or (is_nan(x) and is_nan(y))


def both_finite(x: Any, y: Any, e: Any) -> bool:
    """Require that both are finite."""
    return finite(x) and finite(y)


def warp_relative(a: Entries, n: Entries, one: Any) -> dict[str, Any]:
    """Return the relative error of Warp's table, which decides nothing."""
    guard = type(one)(1e-8)
    return {"relative": [abs(divide(x - y, y + guard)) for x, y in zip(a, n, strict=True)]}


def over(size: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Measure the error relative to a size of (x, y, floor)."""

    def relative(x: Any, y: Any, e: Any, floor: Any) -> Any:
        return e if is_nan(x) or is_nan(y) else divide(e, size(x, y, floor))

    return relative


def over_larger(x: Any, y: Any, e: Any, floor: Any) -> Any:
    """Measure relative to the larger, at least to the floor; 0 against 0 is 0."""
    size = e if is_nan(x) or is_nan(y) else max(abs(x), abs(y), floor)
    return e if e == 0 == size else divide(e, size)


def over_larger_but_at_zero(x: Any, y: Any, e: Any, floor: Any) -> Any:
    """Measure relative to the larger, but absolutely if one of the two is exactly zero."""
    larger = max(abs(x), abs(y)) if not (is_nan(x) or is_nan(y)) else e
    return e if x == 0 or y == 0 else divide(e, larger)


over_sum = over(lambda x, y, floor: abs(x + y))
over_sizes = over(lambda x, y, floor: abs(x) + abs(y))
over_sizes_or_floor = over(lambda x, y, floor: max(abs(x) + abs(y), floor))

SUM = ((absolute, total),)

reference = partial(by_entry, tests=SUM, able=lambda x, y, e: finite(e))
numpy = partial(by_entry, tests=SUM, same=eq, able=lambda x, y, e: finite(y))
torch = partial(by_entry, tests=SUM, same=eq, able=lambda x, y, e: finite(e))
warp = partial(numpy, extra=warp_relative)
jax = partial(by_entry, tests=SUM, same=equal_or_nan, able=both_finite, times=len)
hips = partial(by_entry, tests=((absolute, only_atol), (over_sum, only_rtol)), strict=True)
ceres = partial(by_entry, tests=((over_larger_but_at_zero, only_rtol),), strict=True)
cs231n_max = partial(by_entry, tests=((over_larger, only_rtol),))
cs231n_sum = partial(by_entry, tests=((over_sizes_or_floor, only_rtol),))
cs231n_unguarded = partial(by_entry, tests=((over_sizes, only_rtol),))


# --- rules that look at all entries together ---------------------------------------------------


def norm(entries: Entries, zero: Any) -> Any:
    """Return the Euclidean length."""
    return root(sum((v * v for v in entries), zero))


def distance(a: Entries, n: Entries, one: Any) -> Any:
    """Return the Euclidean length of the difference."""
    return norm([x - y for x, y in zip(a, n, strict=True)], one * 0)


def tvm(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """One distance for all entries against ``atol sqrt(size) + rtol |n|``.

    The entries that differ are counted with a strict test, for the message only.
    """
    error, size = distance(a, n, atol), norm(n, atol * 0)
    if not (finite(error) and finite(size)):
        raise RefusedError("a norm is not finite")
    most = atol * root(type(atol)(len(a))) + rtol * size
    pairs = [(abs(x - y), atol + rtol * abs(y)) for x, y in zip(a, n, strict=True)]
    differ = sum(not e < allowed for e, allowed in pairs)
    percent = type(atol)(100 * differ) / len(a)
    return Decision(error, bool(error <= most), [(error, most), *pairs], {"percent": percent})


def scipy(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """One distance for all entries, against a number that the caller chooses."""
    error = distance(a, n, atol)
    return Decision(error, bool(error <= atol), [(error, atol)], {})


# --- the rules -----------------------------------------------------------------------------------

RULES = [
    Rule("reference", 1e-6, 1e-9, reference, empty=False),
    Rule("numpy", 1e-5, 1e-8, numpy, empty=True),
    Rule("torch", 1e-3, 1e-5, torch, empty=True),
    Rule("warp", 1e-2, 1e-3, warp),
    Rule("tvm", 0.1, 0.01, tvm),
    Rule("cs231n-max", 1e-2, 0.0, cs231n_max, floor=1e-8),
    Rule("cs231n-sum", 1e-4, 0.0, cs231n_sum, floor=1e-8),
    Rule("cs231n-unguarded", 1e-7, 0.0, cs231n_unguarded),
    Rule("jax", 1e-5, 1e-5, jax, empty=True),
    Rule("hips", 1e-6, 1e-6, hips, empty=True),
    Rule("scipy", 0.0, 1e-6, scipy, empty=True),
    Rule("ceres", 1e-8, 0.0, ceres),
]
