"""The comparison rules, each written once for exact numbers and for doubles alike.

``Rule.decide`` runs in whatever arithmetic its numbers are of. The vectors come from the exact run;
the run in doubles says where a double implementation may honestly differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .numbers import divide, finite, root

Entries = list[Any]


class RefusedError(Exception):
    """The rule cannot be applied to this."""


@dataclass(frozen=True)
class Decision:
    """What a rule measures, what it allows, and what it concludes."""

    error: Any  # a list, entry by entry, or one number for a norm
    close: bool
    margins: list[tuple[Any, Any]]  # pairs (measured, allowed) that decided it
    extra: dict[str, Any]


@dataclass(frozen=True)
class Rule:
    """A rule, its usual tolerances, and the words for it."""

    name: str
    source: str
    said: str
    rtol: float
    atol: float
    decide: Callable[[Entries, Entries, Any, Any, Any], Decision]
    floor: float | None = None
    empty: bool | None = None  # what it says of nothing at all; None: it refuses

    @property
    def group(self) -> str:
        """Name of the group."""
        return f"compare/{self.name}"


def is_nan(value: Any) -> bool:
    """Tell whether a number is NaN."""
    return bool(value != value)


def distances(a: Entries, n: Entries) -> Entries:
    """Take the absolute errors."""
    return [abs(x - y) for x, y in zip(a, n, strict=True)]


def sums(a: Entries, n: Entries, rtol: Any, atol: Any) -> list[tuple[Any, Any]]:
    """Pair each absolute error with ``atol + rtol |n|``."""
    return [(e, atol + rtol * abs(y)) for e, y in zip(distances(a, n), n, strict=True)]


def reference(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """Sum of tolerances; what is not finite never passes."""
    pairs = sums(a, n, rtol, atol)
    return Decision(distances(a, n), all(finite(e) and e <= t for e, t in pairs), pairs, {})


def numpy(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """Sum of tolerances; equal infinities pass, NaN does not."""
    pairs = sums(a, n, rtol, atol)
    close = [x == y or (finite(y) and e <= t) for x, y, (e, t) in zip(a, n, pairs, strict=True)]
    return Decision(distances(a, n), all(close), pairs, {})


def torch(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """Sum of tolerances; equal infinities pass, an error that is not finite does not."""
    pairs = sums(a, n, rtol, atol)
    close = [x == y or (finite(e) and e <= t) for x, y, (e, t) in zip(a, n, pairs, strict=True)]
    return Decision(distances(a, n), all(close), pairs, {})


def warp(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """As numpy; its table shows another relative error, which decides nothing."""
    found = numpy(a, n, rtol, atol, _)
    guard = type(atol)(1e-8)
    relative = [abs(divide(x - y, y + guard)) for x, y in zip(a, n, strict=True)]
    return Decision(found.error, found.close, found.margins, {"relative": relative})


def jax(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """Sum of tolerances, both multiplied by the number of entries; NaN equals NaN."""
    size = len(a)
    pairs = sums(a, n, rtol * size, atol * size)
    close = [
        x == y or (is_nan(x) and is_nan(y)) or (finite(x) and finite(y) and e <= t)
        for x, y, (e, t) in zip(a, n, pairs, strict=True)
    ]
    return Decision(distances(a, n), all(close), pairs, {})


def hips(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """Absolute or relative, each alone and strictly; relative to the size of the sum."""
    pairs = []
    close = []
    for x, y, e in zip(a, n, distances(a, n), strict=True):
        ratio = divide(e, abs(x + y))
        close.append(e < atol or ratio < rtol)
        pairs += [(e, atol), (ratio, rtol)]
    return Decision(distances(a, n), all(close), pairs, {})


def ceres(a: Entries, n: Entries, rtol: Any, _atol: Any, _: Any) -> Decision:
    """Relative to the larger, absolute where one is exactly zero; strictly."""
    errors = []
    for x, y, e in zip(a, n, distances(a, n), strict=True):
        larger = max(abs(x), abs(y)) if not (is_nan(x) or is_nan(y)) else e
        errors.append(e if x == 0 or y == 0 else divide(e, larger))
    return Decision(errors, all(e < rtol for e in errors), [(e, rtol) for e in errors], {})


def cs231n_max(a: Entries, n: Entries, rtol: Any, _atol: Any, floor: Any) -> Decision:
    """Relative to the larger, at least to the floor; 0 against 0 is 0."""
    errors = []
    for x, y, e in zip(a, n, distances(a, n), strict=True):
        size = e if is_nan(x) or is_nan(y) else max(abs(x), abs(y), floor)
        errors.append(e if e == 0 == size else divide(e, size))
    return Decision(errors, all(e <= rtol for e in errors), [(e, rtol) for e in errors], {})


def cs231n_sum(a: Entries, n: Entries, rtol: Any, _atol: Any, floor: Any) -> Decision:
    """Relative to the sum of the sizes, at least to the floor."""
    errors = []
    for x, y, e in zip(a, n, distances(a, n), strict=True):
        size = e if is_nan(x) or is_nan(y) else max(abs(x) + abs(y), floor)
        errors.append(divide(e, size))
    return Decision(errors, all(e <= rtol for e in errors), [(e, rtol) for e in errors], {})


def cs231n_unguarded(a: Entries, n: Entries, rtol: Any, _atol: Any, _: Any) -> Decision:
    """Relative to the sum of the sizes, whatever it is: 0 against 0 is NaN, and does not pass."""
    errors = [divide(e, abs(x) + abs(y)) for x, y, e in zip(a, n, distances(a, n), strict=True)]
    return Decision(errors, all(e <= rtol for e in errors), [(e, rtol) for e in errors], {})


def norm(entries: Entries, zero: Any) -> Any:
    """Take the Euclidean length."""
    return root(sum((v * v for v in entries), zero))


def tvm(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Decision:
    """One distance for all entries against ``atol sqrt(size) + rtol |n|``.

    Which entries differ is asked strictly, and only told.
    """
    zero = atol * 0
    error, size = norm([x - y for x, y in zip(a, n, strict=True)], zero), norm(n, zero)
    if not (finite(error) and finite(size)):
        raise RefusedError("a norm is not finite")
    allowed = atol * root(type(atol)(len(a))) + rtol * size
    pairs = sums(a, n, rtol, atol)
    differ = sum(not e < t for e, t in pairs)
    percent = type(atol)(100 * differ) / len(a)
    return Decision(error, error <= allowed, [(error, allowed), *pairs], {"percent": percent})


def scipy(a: Entries, n: Entries, _rtol: Any, atol: Any, _: Any) -> Decision:
    """One distance for all entries, against a number that the caller chooses."""
    error = norm([x - y for x, y in zip(a, n, strict=True)], atol * 0)
    return Decision(error, error <= atol, [(error, atol)], {})


SUM = "|analytic - numeric| <= atol + rtol |numeric| in every entry"
RULES = [
    Rule(
        "reference",
        "gradcheck_ref's allclose",
        f"{SUM}; what is not finite never passes, and nothing compared is no pass",
        1e-6,
        1e-9,
        reference,
        empty=False,
    ),
    Rule(
        "numpy",
        "numpy.allclose, defaults",
        f"{SUM}; equal infinities pass, NaN does not",
        1e-5,
        1e-8,
        numpy,
        empty=True,
    ),
    Rule(
        "torch",
        "torch.autograd.gradcheck, defaults",
        f"{SUM}; equal infinities pass, an error that is not finite does not",
        1e-3,
        1e-5,
        torch,
        empty=True,
    ),
    Rule(
        "warp",
        "warp.autograd.gradcheck, defaults",
        f"{SUM}; equal infinities pass, NaN does not; relative is "
        "|(analytic - numeric) / (numeric + 1e-8)| and decides nothing",
        1e-2,
        1e-3,
        warp,
    ),
    Rule(
        "tvm",
        "tvm.testing.check_numerical_grads, defaults",
        "2-norm of analytic - numeric <= atol sqrt(size) + rtol 2-norm of numeric; refused where "
        "a norm is not finite; percent counts the entries without "
        "|analytic - numeric| < atol + rtol |numeric|",
        0.1,
        0.01,
        tvm,
    ),
    Rule(
        "cs231n-max",
        "CS231n's notes, Gradient checks",
        "|analytic - numeric| / max(|analytic|, |numeric|, floor) <= rtol in every entry; 0/0 is 0",
        1e-2,
        0.0,
        cs231n_max,
        floor=1e-8,
    ),
    Rule(
        "cs231n-sum",
        "CS231n's notebooks, rel_error",
        "|analytic - numeric| / max(|analytic| + |numeric|, floor) <= rtol in every entry",
        1e-4,
        0.0,
        cs231n_sum,
        floor=1e-8,
    ),
    Rule(
        "cs231n-unguarded",
        "CS231n's grad_check_sparse",
        "|analytic - numeric| / (|analytic| + |numeric|) <= rtol in every entry; 0/0 is NaN, "
        "which does not pass",
        1e-7,
        0.0,
        cs231n_unguarded,
    ),
    Rule(
        "jax",
        "jax.test_util.check_grads, float64",
        "|analytic - numeric| <= size (atol + rtol |numeric|) in every entry; equal infinities "
        "pass, and so does NaN against NaN",
        1e-5,
        1e-5,
        jax,
        empty=True,
    ),
    Rule(
        "hips",
        "autograd.test_util.check_grads",
        "|analytic - numeric| < atol or |analytic - numeric| / |analytic + numeric| < rtol, "
        "in every entry",
        1e-6,
        1e-6,
        hips,
        empty=True,
    ),
    Rule(
        "scipy",
        "scipy.optimize.check_grad; the threshold is the caller's",
        "2-norm of analytic - numeric <= atol",
        0.0,
        1e-6,
        scipy,
        empty=True,
    ),
    Rule(
        "ceres",
        "Ceres, gradient checker",
        "|analytic - numeric| / max(|analytic|, |numeric|) < rtol in every entry, but "
        "|analytic - numeric| < rtol where one of the two is exactly 0",
        1e-8,
        0.0,
        ceres,
    ),
]
