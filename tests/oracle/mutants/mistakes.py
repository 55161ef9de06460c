"""Mistakes that people make in a comparison rule: each is the rule with one thing changed.

They say what the vectors are worth: a mistake that no vector shows is a hole. A mistake may let
through what the rule refuses, refuse what the rule lets through, tell another error, or all of
it; ``errs`` says what it can do at all, so that a hole can be told from what cannot be.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import copysign, inf, isfinite
from struct import pack, unpack
from typing import Any

from gradcheck_ref.oracle.generate.numbers import divide
from gradcheck_ref.oracle.generate.rules import (
    RULES,
    Decision,
    Entries,
    Entry,
    RefusedError,
    Rule,
    absolute,
    equal,
    equal_or_nan,
    every,
    norm,
    only_atol,
    only_rtol,
    over,
    over_larger,
    over_sizes,
    over_sizes_or_floor,
    over_sum,
    total,
)

LOOSE, STRICT = "lets through", "refuses"
BOTH = f"{LOOSE}, {STRICT}"
TELLS = "tells"  # the decision is right, the error is not


@dataclass(frozen=True)
class Mistake:
    """A mistaken rule, and in which direction it can err."""

    rule: str
    about: str  # which edge
    said: str
    decide: Callable[..., Decision]
    errs: str = BOTH
    because: str = ""  # why it errs in one direction only


# --- what decides in the place of every entry ----------------------------------------------------


def _gathered(combine: Callable[[list[Any]], Any]) -> Callable[[list[Entry]], bool]:
    """Let one number decide, made of the quotients of what is measured and what is allowed."""

    def gather(entries: list[Entry]) -> bool:
        if not all(entry.able or entry.same for entry in entries):
            return False
        quotients = [
            0 if entry.same else min(_quotient(*pair) for pair in entry.pairs) for entry in entries
        ]
        return bool(combine(quotients) <= 1)

    return gather


def _quotient(measured: Any, allowed: Any) -> Any:
    return measured * 0 if measured == 0 else divide(measured, allowed)


def _any_test_for_all(entries: list[Entry]) -> bool:
    """Ask one test of all entries, or the other of all: all-or-all for its or."""
    return any(all(e.holds(k) for e in entries) for k in range(2)) if entries else True


GATHERS: dict[str, Callable[[list[Entry]], bool]] = {
    "the mean": _gathered(lambda q: sum(q) / len(q)),
    "the root of the mean square": _gathered(lambda q: sum(v * v for v in q) / len(q)),
    "the mean of the two worst": _gathered(lambda q: sum(sorted(q)[-2:]) / min(2, len(q))),
    "the median": _gathered(lambda q: sorted(q)[(len(q) - 1) // 2]),
    "the sum": _gathered(sum),
    "one close entry": lambda entries: any(e.close for e in entries) or not entries,
    "the first entry": lambda entries: every(entries[:1]),
    "all but the first": lambda entries: every(entries[1:]),
    "all but the last": lambda entries: every(entries[:-1] or entries),
    "every second entry": lambda entries: every(entries[::2]),
    "every other second entry": lambda entries: every(entries[1::2] or entries),
    "the first twelve": lambda entries: every(entries[:12]),
    "the first 32": lambda entries: every(entries[:32]),
    "the first 64": lambda entries: every(entries[:64]),
    "nothing if there are more than 20": lambda entries: len(entries) > 20 or every(entries),
    "the first three": lambda entries: every(entries[:3]),
}
NO_STRICTER = "what all entries allow, fewer allow too"
NO_LOOSER = "a sum is no smaller than its largest part"

# --- what is allowed, and to what the error is relative ------------------------------------------


def _of_all(size: Callable[[list[Any]], Any]) -> Callable[..., Decision]:
    """Let one size stand for |numeric| in every entry."""

    def decide(rule: Rule, a: Entries, n: Entries, *given: Any, **kept: Any) -> Decision:
        finite = [abs(y) for y in n if isinstance(y, int) or isfinite(y)]
        one = size(finite) if finite else 0
        tests = ((absolute, lambda x, y, rtol, atol: atol + rtol * one),)
        return rule.decide(a, n, *given, tests=tests)

    return decide


SIZES_OF_ALL: dict[str, Callable[[list[Any]], Any]] = {
    "max |numeric|": max,
    "min |numeric|": min,
    "mean |numeric|": lambda sizes: sum(sizes) / len(sizes),
    "norm of numeric": lambda sizes: norm(sizes, sizes[0] * 0),
}
ALLOWANCES: dict[str, Callable[..., Any]] = {
    "max(atol, rtol |numeric|)": lambda x, y, rtol, atol: max(atol, rtol * abs(y)),
    "min(atol, rtol |numeric|)": lambda x, y, rtol, atol: min(atol, rtol * abs(y)),
    "atol alone": only_atol,
    "rtol |numeric| alone": lambda x, y, rtol, atol: rtol * abs(y),
    "rtol |analytic|": lambda x, y, rtol, atol: atol + rtol * abs(x),
    "rtol max(|analytic|, |numeric|)": lambda x, y, rtol, atol: atol + rtol * max(abs(x), abs(y)),
    "rtol (|analytic| + |numeric|)": lambda x, y, rtol, atol: atol + rtol * (abs(x) + abs(y)),
    "rtol max(|numeric|, 1)": lambda x, y, rtol, atol: atol + rtol * max(abs(y), 1),
    "rtol without |numeric|": lambda x, y, rtol, atol: atol + rtol,
    "rtol numeric, without bars": lambda x, y, rtol, atol: atol + rtol * y,
    "twice both": lambda x, y, rtol, atol: 2 * total(x, y, rtol, atol),
    "half of both": lambda x, y, rtol, atol: total(x, y, rtol, atol) / 2,
    "atol + atol |numeric|": lambda x, y, rtol, atol: atol + atol * abs(y),
}
ONE_WAY = {
    "max(atol, rtol |numeric|)": STRICT,
    "min(atol, rtol |numeric|)": STRICT,
    "atol alone": STRICT,
    "rtol |numeric| alone": STRICT,
    "max |numeric|": LOOSE,
    "norm of numeric": LOOSE,
    "min |numeric|": STRICT,
    "rtol max(|analytic|, |numeric|)": LOOSE,
    "rtol (|analytic| + |numeric|)": LOOSE,
    "rtol max(|numeric|, 1)": LOOSE,
    "rtol numeric, without bars": STRICT,
    "twice both": LOOSE,
    "half of both": STRICT,
}
SMALLER, NO_LESS = "less is allowed than the rule does", "more is allowed than the rule does"

MEASURES: dict[str, dict[str, Callable[..., Any]]] = {
    "hips": {
        "|a| + |n|": over_sizes,
        "|n|": over(lambda x, y, floor: abs(y)),
        "a + n, without bars": over(lambda x, y, floor: x + y),
        "max(|a|, |n|)": over_larger,
    },
    "ceres": {
        "the larger, also at 0": over(lambda x, y, floor: max(abs(x), abs(y))),
        "1 where the claim is 0": lambda x, y, e, f: e if x == 0 else over_larger(x, y, e, f * 0),
        "1 where numeric is 0": lambda x, y, e, f: e if y == 0 else over_larger(x, y, e, f * 0),
        "1 where both are 0": lambda x, y, e, f: (
            e if x == 0 == y else divide(e, max(abs(x), abs(y)))
        ),
        "1 where one is below 1e-12": lambda x, y, e, f: (
            e if min(abs(x), abs(y)) < type(e)(1e-12) else over_larger(x, y, e, f * 0)
        ),
        "|a| + |n|": lambda x, y, e, f: e if x == 0 or y == 0 else over_sizes(x, y, e, f),
        "|n|": lambda x, y, e, f: e if x == 0 or y == 0 else divide(e, abs(y)),
        "|a|": lambda x, y, e, f: e if x == 0 or y == 0 else divide(e, abs(x)),
        "the smaller": over(lambda x, y, floor: min(abs(x), abs(y)) or 1),
    },
    "cs231n-max": {
        "the sum of both sizes": over_sizes_or_floor,
        "the smaller": over(lambda x, y, floor: max(min(abs(x), abs(y)), floor)),
        "|a + n|": over(lambda x, y, floor: max(abs(x + y), floor)),
        "the mean of both sizes": over(lambda x, y, floor: max((abs(x) + abs(y)) / 2, floor)),
        "|n|": over(lambda x, y, floor: max(abs(y), floor)),
        "the larger plus the floor": over(lambda x, y, floor: max(abs(x), abs(y)) + floor),
        "a floor of 1e-8": lambda x, y, e, f: over_larger(x, y, e, type(f)(1e-8)),
        "no floor": lambda x, y, e, f: over_larger(x, y, e, f * 0),
        "0/0 is NaN": over(lambda x, y, floor: max(abs(x), abs(y), floor)),
    },
    "cs231n-sum": {
        "the larger": over_larger,
        "|a + n|": over(lambda x, y, floor: max(abs(x + y), floor)),
        "the mean of both sizes": over(lambda x, y, floor: max((abs(x) + abs(y)) / 2, floor)),
        "|n|": over(lambda x, y, floor: max(abs(y), floor)),
        "both sizes plus the floor": over(lambda x, y, floor: abs(x) + abs(y) + floor),
        "a floor for each size": over(
            lambda x, y, floor: max(abs(x), floor) + max(abs(y), floor)
        ),
        "a floor of 1e-8": lambda x, y, e, f: over_sizes_or_floor(x, y, e, type(f)(1e-8)),
        "no floor": over_sizes,
        "0/0 is 0": lambda x, y, e, f: e if e == 0 else over_sizes_or_floor(x, y, e, f),
    },
    "cs231n-unguarded": {
        "the larger": over_larger,
        "|a + n|": over_sum,
        "the mean of both sizes": over(lambda x, y, floor: (abs(x) + abs(y)) / 2),
        "|n|": over(lambda x, y, floor: abs(y)),
        "a floor of 1e-8": over(lambda x, y, floor: max(abs(x) + abs(y), type(x)(1e-8))),
        "0/0 is 0": lambda x, y, e, f: e if e == 0 else over_sizes(x, y, e, f),
    },
}  # fmt: skip
SUM_RULES = ("reference", "numpy", "torch", "warp", "jax")


def mistakes() -> Iterator[Mistake]:
    """Yield every mistake in every rule."""
    for rule in RULES:
        if rule.name in ("tvm", "scipy"):
            yield from _of_a_norm(rule)
        else:
            yield from _of_entries(rule)
        yield from _of_arithmetic(rule)
        yield from _of_tolerances(rule)


def _of_entries(rule: Rule) -> Iterator[Mistake]:
    for said, gather in GATHERS.items():
        if not (said == "the sum" and rule.name == "hips"):
            errs, why = (STRICT, NO_LOOSER) if said == "the sum" else (LOOSE, NO_STRICTER)
            changed = partial(rule.decide, gather=gather)
            yield Mistake(rule.name, "every entry", said, changed, errs, why)
    sums = rule.name in SUM_RULES
    strict = rule.name in ("hips", "ceres")
    yield Mistake(
        rule.name,
        "the tie",
        "<= for <" if strict else "< for <=",
        partial(rule.decide, strict=(not strict,) * 2),
        LOOSE if strict else STRICT,
        "a tie has one side",
    )
    yield from _of_what_is_not_finite(rule)
    if sums:
        yield from _of_a_sum(rule)
    for said, measure in MEASURES.get(rule.name, {}).items():
        tests = ((absolute, only_atol), (measure, only_rtol))[0 if rule.name == "hips" else 1 :]
        errs = MEASURED.get((rule.name, said), BOTH)
        changed = partial(rule.decide, tests=tests)
        yield Mistake(rule.name, "the size", f"over {said}", changed, errs, _why(errs))
    if rule.name == "hips":
        yield from _of_hips(rule)
    if rule.name == "jax":
        yield from _of_jax(rule)
    if rule.name == "ceres" or rule.name.startswith("cs231n"):
        yield from _of_a_quotient(rule)


MEASURED = {
    ("hips", "|a| + |n|"): LOOSE,
    ("hips", "max(|a|, |n|)"): BOTH,
    ("hips", "a + n, without bars"): LOOSE,
    ("cs231n-max", "the sum of both sizes"): LOOSE,
    ("cs231n-max", "the smaller"): STRICT,
    ("cs231n-max", "|a + n|"): BOTH,
    ("cs231n-max", "the mean of both sizes"): STRICT,
    ("cs231n-max", "|n|"): STRICT,
    ("cs231n-max", "the larger plus the floor"): LOOSE,
    ("cs231n-max", "no floor"): STRICT,
    ("cs231n-max", "0/0 is NaN"): STRICT,
    ("cs231n-sum", "the larger"): STRICT,
    ("cs231n-sum", "|a + n|"): STRICT,
    ("cs231n-sum", "the mean of both sizes"): STRICT,
    ("cs231n-sum", "|n|"): STRICT,
    ("cs231n-sum", "both sizes plus the floor"): LOOSE,
    ("cs231n-sum", "a floor for each size"): LOOSE,
    ("cs231n-sum", "no floor"): STRICT,
    ("cs231n-sum", "0/0 is 0"): LOOSE,
    ("cs231n-unguarded", "the larger"): BOTH,
    ("cs231n-unguarded", "|a + n|"): STRICT,
    ("cs231n-unguarded", "the mean of both sizes"): STRICT,
    ("cs231n-unguarded", "|n|"): STRICT,
    ("cs231n-unguarded", "a floor of 1e-8"): LOOSE,
    ("cs231n-unguarded", "0/0 is 0"): LOOSE,
    ("ceres", "|a| + |n|"): LOOSE,
    ("ceres", "|n|"): STRICT,
    ("ceres", "|a|"): STRICT,
    ("ceres", "the smaller"): STRICT,
}


def _why(errs: str) -> str:
    """Say why a mistake in what is allowed errs in one direction."""
    return {BOTH: "", LOOSE: NO_LESS, STRICT: SMALLER}[errs]


def _of_a_sum(rule: Rule) -> Iterator[Mistake]:
    for said, allowed in ALLOWANCES.items():
        errs = ONE_WAY.get(said, BOTH)
        changed = partial(rule.decide, tests=((absolute, allowed),))
        yield Mistake(rule.name, "what is allowed", said, changed, errs, _why(errs))
    for said, size in SIZES_OF_ALL.items():
        errs = ONE_WAY.get(said, BOTH)
        changed = partial(_of_all(size), rule)
        yield Mistake(rule.name, "its own size", said, changed, errs, _why(errs))


def _of_what_is_not_finite(rule: Rule) -> Iterator[Mistake]:
    def changed(said: str, errs: str, because: str, **what: Any) -> Mistake:
        about = "NaN and infinity"
        return Mistake(rule.name, about, said, partial(rule.decide, **what), errs, because)

    yield changed(
        "fails only where error > allowed", LOOSE, "NaN is never beyond anything",
        gather=lambda entries: all(map(_not_beyond, entries)),
    )  # fmt: skip
    least, most = "it only lets more through", "it only lets less through"
    if rule.name in SUM_RULES:
        if rule.name != "jax":
            yield changed("NaN equals NaN", LOOSE, least, same=equal_or_nan)
        else:
            yield changed("NaN equals nothing", STRICT, most, same=equal)
        if rule.name == "reference":
            yield changed("equal infinities pass", LOOSE, least, same=equal)
        else:
            yield changed(
                "equal infinities do not pass", STRICT, most,
                same=lambda x, y: equal_or_nan(x, y) and (rule.name == "jax" or x == x)
                and not _infinite(x),
            )  # fmt: skip
        yield changed("whatever is infinite is allowed", LOOSE, least,
                      able=lambda x, y, e: True)  # fmt: skip


def _of_a_quotient(rule: Rule) -> Iterator[Mistake]:
    """Give atol a say, which it has not: it stands in every request, for the other rules."""
    assert isinstance(rule.decide, partial)
    (relative,) = rule.decide.keywords["tests"]
    for said, tests in (
        ("rtol + atol", ((relative[0], lambda x, y, rtol, atol: rtol + atol),)),
        ("max(rtol, atol)", ((relative[0], lambda x, y, rtol, atol: max(rtol, atol)),)),
        ("the error within atol suffices", (relative, (absolute, only_atol))),
    ):
        changed = partial(rule.decide, tests=tests)
        yield Mistake(rule.name, "what is allowed", said, changed, LOOSE, NO_LESS)
    unless = partial(_unless_within_atol, rule)
    yield Mistake(
        rule.name, "what is allowed", "nor may the error exceed atol", unless, STRICT, SMALLER
    )


def _unless_within_atol(rule: Rule, a: Entries, n: Entries, rtol: Any, atol: Any, _: Any) -> Any:
    """Ask for both where atol is given."""
    found = rule.decide(a, n, rtol, atol, _)
    within = all(abs(x - y) <= atol for x, y in zip(a, n, strict=True))
    return replace(found, close=found.close and (not atol or within))


def _infinite(x: Any) -> bool:
    return bool(abs(x) == inf)


def _not_beyond(entry: Entry) -> bool:
    """Take for close whatever is not beyond."""
    return entry.same or any(not measured > allowed for measured, allowed in entry.pairs)


def _of_hips(rule: Rule) -> Iterator[Mistake]:
    both = partial(rule.decide, gather=lambda es: all(e.holds(0) and e.holds(1) for e in es))
    yield Mistake("hips", "its or", "and for or", both, STRICT, "both is more than one")
    ors = partial(rule.decide, gather=_any_test_for_all)
    yield Mistake("hips", "its or", "all or all", ors, STRICT, "one test for all is more")
    sums = partial(rule.decide, tests=((absolute, total),))
    yield Mistake("hips", "its or", "the sum of both", sums)
    for k, said in ((0, "atol"), (1, "rtol")):
        alone = partial(rule.decide, gather=lambda es, k=k: all(e.holds(k) for e in es))
        yield Mistake("hips", "its or", f"{said} alone", alone, STRICT, "one test is missing")
        strict = (k != 0, k != 1)
        yield Mistake(
            "hips", "the tie", f"<= for <, {said}", partial(rule.decide, strict=strict),
            LOOSE, "a tie has one side",
        )  # fmt: skip


def _of_jax(rule: Rule) -> Iterator[Mistake]:
    for said, times, errs in (
        ("1", lambda n: 1, STRICT),
        ("the root of the size", lambda n: type(n[0])(len(n)) ** 0.5, STRICT),
        ("the size plus 1", lambda n: len(n) + 1, LOOSE),
        ("twice the size", lambda n: 2 * len(n), LOOSE),
        ("at most 12", lambda n: min(len(n), 12), STRICT),
        ("at most 16", lambda n: min(len(n), 16), STRICT),
        ("at least 2", lambda n: max(len(n), 2), LOOSE),
        ("0 for one entry", lambda n: len(n) if len(n) > 1 else 0, STRICT),
    ):
        changed = partial(rule.decide, times=times)
        why = SMALLER if errs == STRICT else NO_LESS
        yield Mistake("jax", "size", f"tolerances times {said}", changed, errs, why)

    def one_only(a: Entries, n: Entries, rtol: Any, atol: Any, _: Any, which: int) -> Decision:
        rtol, atol = (rtol * len(n), atol) if which else (rtol, atol * len(n))
        return rule.decide(a, n, rtol, atol, _, times=lambda n: 1)

    for which, said in ((0, "atol"), (1, "rtol")):
        changed = partial(one_only, which=which)
        yield Mistake("jax", "size", f"only {said} times the size", changed, STRICT, SMALLER)


# --- norms ---------------------------------------------------------------------------------------


def _one_norm(entries: Entries, zero: Any) -> Any:
    return sum(map(abs, entries), zero)


def _largest(entries: Entries, zero: Any) -> Any:
    return max(map(abs, entries), default=zero)


def _rms(entries: Entries, zero: Any) -> Any:
    return norm(entries, zero) / norm([zero + 1] * len(entries), zero) if entries else zero


def _of_a_norm(rule: Rule) -> Iterator[Mistake]:
    def changed(about: str, said: str, errs: str = BOTH, because: str = "", **what: Any) -> Mistake:
        return Mistake(rule.name, about, said, partial(rule.decide, **what), errs, because)

    yield changed("the tie", "< for <=", STRICT, "a tie has one side", strict=True)
    for said, length in (("1-norm", _one_norm), ("largest entry", _largest), ("rms", _rms)):
        scipy_errs = STRICT if length is _one_norm else LOOSE
        errs = scipy_errs if rule.name == "scipy" else LOOSE if length is _rms else BOTH
        why = "" if errs == BOTH else "it is never smaller" if errs == STRICT else "never larger"
        yield changed("every entry", f"{said} for 2-norm", errs, why, length=length)
    for said, part in (
        ("the first twelve", lambda es: es[:12]),
        ("the first 64", lambda es: es[:64]),
        ("all but the last", lambda es: es[:-1] or es),
        ("every second entry", lambda es: es[::2]),
    ):
        length = partial(_part, part)
        errs = LOOSE if rule.name == "scipy" else BOTH
        why = "a part is no longer" if errs == LOOSE else ""
        yield changed("every entry", f"{said} only", errs, why, length=length)
    if rule.name == "scipy":
        yield changed(
            "what is allowed", "atol + rtol (2-norm of numeric)", LOOSE, NO_LESS,
            allowed=lambda rtol, atol, n: atol + rtol * norm(n, atol * 0),
        )  # fmt: skip
        yield changed(
            "what is allowed", "atol sqrt(size)", LOOSE, NO_LESS,
            allowed=lambda rtol, atol, n: atol * norm([atol * 0 + 1] * len(n), atol * 0),
        )  # fmt: skip
        return
    about = "what is allowed"
    yield changed(about, "norm of numeric in float32", size_of=lambda a, n: list(map(_single, n)))
    yield changed(about, "norm of analytic", size_of=lambda a, n: a)
    yield changed(about, "size for sqrt(size)", LOOSE, NO_LESS, spread=lambda size: size)
    yield changed(about, "1 for sqrt(size)", STRICT, SMALLER, spread=lambda size: size / size)
    yield changed(about, "max of both", STRICT, SMALLER, allowed=max)
    yield changed(about, "atol alone", STRICT, SMALLER, allowed=lambda t, r: t)
    yield changed(about, "rtol alone", STRICT, SMALLER, allowed=lambda t, r: r)
    which = "percent"
    yield changed(which, "<= for <", TELLS, "only told", agrees=lambda e, t: bool(e <= t))
    yield changed(which, "entries that differ at all", TELLS, "only told", agrees=_no_error)


def _no_error(error: Any, allowed: Any) -> bool:
    return bool(error == 0)


def _part(part: Callable[[Entries], Entries], entries: Entries, zero: Any) -> Any:
    return norm(part(entries), zero)


# --- arithmetic, and tolerances that are not those given ---------------------------------------


def _single(value: Any) -> Any:
    """Round as float32 does."""
    try:
        return type(value)(unpack("f", pack("f", value))[0])
    except OverflowError:
        return copysign(inf, value)


def _flushed(value: Any) -> Any:
    """Take subnormal numbers for 0."""
    return value if abs(value) >= type(value)(2.2250738585072014e-308) else value * 0


def _of_arithmetic(rule: Rule) -> Iterator[Mistake]:
    about = "arithmetic"
    # Rounded, an entry may move either way.
    yield Mistake(rule.name, about, "float32 entries", partial(_entries, rule, _single))
    if rule.name not in ("tvm", "scipy"):
        errs, why = LOOSE, "an error of 0 is within anything"
        if rule.name in ("cs231n-sum", "cs231n-unguarded"):
            errs, why = STRICT, "0/0 does not pass"
        changed = partial(_entries, rule, _flushed)
        yield Mistake(rule.name, about, "subnormal entries are 0", changed, errs, why)
    if rule.name not in ("tvm", "scipy", "cs231n-unguarded"):  # whose quotients are no smaller
        yield Mistake(
            rule.name, about, "subnormal errors are 0", partial(_told, rule, _flushed), TELLS,
            "the decision is right",
        )  # fmt: skip
    yield Mistake(
        rule.name, about, "float32 errors", partial(_told, rule, _single), TELLS,
        "the decision is right",
    )  # fmt: skip
    yield Mistake(
        rule.name, about, "15 digits", partial(_told, rule, lambda v: type(v)(f"{float(v):.15g}")),
        TELLS, "the decision is right",
    )  # fmt: skip


def _entries(rule: Rule, change: Callable[[Any], Any], a: Entries, n: Entries, *given: Any) -> Any:
    return rule.decide(list(map(change, a)), list(map(change, n)), *given)


def _told(rule: Rule, change: Callable[[Any], Any], *given: Any) -> Decision:
    found = rule.decide(*given)
    error = found.error
    changed = list(map(change, error)) if isinstance(error, list) else change(error)
    return replace(found, error=changed)


def _of_tolerances(rule: Rule) -> Iterator[Mistake]:
    def slack(by: float, relative: bool, *given: Any) -> Decision:
        found = rule.decide(*given)
        width = len(found.margins) // max(len(given[0]), 1) if isinstance(found.error, list) else 0
        pairs = [
            (m, allowed * (1 + type(allowed)(by)) if relative else allowed + type(allowed)(by))
            for m, allowed in (found.margins if width else found.margins[:1])
        ]
        near = [bool(m < allowed) for m, allowed in pairs]
        if width:
            near = [any(near[k : k + width]) for k in range(0, len(near), width)]
        return replace(found, close=found.close or all(near))

    least = "it only lets more through"
    about = "the tie"
    yield Mistake(rule.name, about, "slack of 1e-12", partial(slack, 1e-12, False), LOOSE, least)
    yield Mistake(rule.name, about, "slack of 1 in 1e12", partial(slack, 1e-12, True), LOOSE, least)
    # At 0 alone: elsewhere the last place of a double is more than this.
    yield Mistake(rule.name, about, "slack of 1e-16", partial(slack, 1e-16, False), LOOSE, least)
    about = "tolerances"
    wide = partial(_wide_refused, rule)
    yield Mistake(rule.name, about, "rtol above 1 refused", wide, STRICT, "it lets nothing through")
    if rule.name in (*SUM_RULES, "hips", "tvm", "ceres", "cs231n-max"):
        most = partial(_at_most_one, rule)
        yield Mistake(rule.name, about, "rtol at most 1", most, STRICT, SMALLER)
    if rule.name != "scipy":
        yield Mistake(rule.name, about, "the usual rtol", partial(_usual, rule, 2, rule.rtol))
    if rule.name in (*SUM_RULES, "hips", "tvm", "scipy"):
        yield Mistake(rule.name, about, "the usual atol", partial(_usual, rule, 3, rule.atol))
    if rule.name in (*SUM_RULES, "hips", "tvm"):
        yield Mistake(rule.name, about, "exchanged", partial(_exchanged, rule))
    if rule.name not in ("scipy", "ceres", "cs231n-max", "cs231n-sum", "cs231n-unguarded", "hips"):
        yield Mistake(rule.name, "the reference", "the claim", partial(_swapped, rule))


def _wide_refused(rule: Rule, a: Entries, n: Entries, rtol: Any, *given: Any) -> Decision:
    if rtol > 1:
        raise RefusedError("rtol is above 1")
    return rule.decide(a, n, rtol, *given)


def _at_most_one(rule: Rule, a: Entries, n: Entries, rtol: Any, *given: Any) -> Decision:
    return rule.decide(a, n, min(rtol, type(rtol)(1)), *given)


def _usual(rule: Rule, which: int, usual: float, *given: Any) -> Decision:
    changed = list(given)
    changed[which] = type(given[which])(usual)
    return rule.decide(*changed)


def _exchanged(rule: Rule, a: Entries, n: Entries, rtol: Any, atol: Any, floor: Any) -> Decision:
    return rule.decide(a, n, atol, rtol, floor)


def _swapped(rule: Rule, a: Entries, n: Entries, *given: Any) -> Decision:
    return rule.decide(n, a, *given)
