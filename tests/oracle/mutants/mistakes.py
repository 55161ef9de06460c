"""Mistakes that people make in a comparison rule: each is the rule with one thing changed.

What goes wrong in all rules alike, or in a norm, is an edit of a client, in ``clients.py``.

They say what the vectors are worth: a mistake that no vector shows is a hole. A mistake may let
through what the rule refuses, refuse what the rule lets through, tell another error, or all of
it; ``errs`` says what it can do at all, so that a hole can be told from what cannot be.

Where all vectors that show one mistake show a second one, too, the second is not in the tables:
it can only be missed together with the first. The same holds for ``slips.py``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from typing import Any

from gradcheck_ref.oracle.generate.numbers import divide
from gradcheck_ref.oracle.generate.rules import (
    RULES,
    Decision,
    Entries,
    Entry,
    Rule,
    absolute,
    equal,
    equal_or_nan,
    every,
    only_atol,
    only_rtol,
    over,
    over_larger,
    over_sizes,
    over_sizes_or_floor,
    over_sum,
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


def _by_sum(entries: list[Entry]) -> bool:
    """Let one number decide, the sum of the quotients of what is measured and what is allowed."""
    if not all(entry.able or entry.same for entry in entries):
        return False
    quotients = [0 if e.same else min(_quotient(*pair) for pair in e.pairs) for e in entries]
    return bool(sum(quotients) <= 1)


def _quotient(measured: Any, allowed: Any) -> Any:
    return measured * 0 if measured == 0 else divide(measured, allowed)


def _any_test_for_all(entries: list[Entry]) -> bool:
    """Ask one test of all entries, or the other of all: all-or-all for its or."""
    return any(all(e.holds(k) for e in entries) for k in range(2)) if entries else True


GATHERS: dict[str, Callable[[list[Entry]], bool]] = {
    "the sum": _by_sum,
    "all but the last": lambda entries: every(entries[:-1] or entries),
    "every second entry": lambda entries: every(entries[::2]),
    "the first 64": lambda entries: every(entries[:64]),
}
NO_STRICTER = "what all entries allow, fewer allow too"
NO_LOOSER = "a sum is no smaller than its largest part"

# --- what is allowed, and to what the error is relative ------------------------------------------


def _of_mean(rule: Rule, a: Entries, n: Entries, *given: Any) -> Decision:
    """Let the mean size stand for |numeric| in every entry."""
    finite = [abs(y) for y in n if isinstance(y, int) or isfinite(y)]
    one = sum(finite) / len(finite) if finite else 0
    tests = ((absolute, lambda x, y, rtol, atol: atol + rtol * one),)
    return rule.decide(a, n, *given, tests=tests)


ALLOWANCES: dict[str, Callable[..., Any]] = {
    "max(atol, rtol |numeric|)": lambda x, y, rtol, atol: max(atol, rtol * abs(y)),
    "rtol |analytic|": lambda x, y, rtol, atol: atol + rtol * abs(x),
    "rtol without |numeric|": lambda x, y, rtol, atol: atol + rtol,
    "rtol numeric, without bars": lambda x, y, rtol, atol: atol + rtol * y,
    "atol + atol |numeric|": lambda x, y, rtol, atol: atol + atol * abs(y),
}
ONE_WAY = {"max(atol, rtol |numeric|)": STRICT, "rtol numeric, without bars": STRICT}
SMALLER, NO_LESS = "less is allowed than the rule does", "more is allowed than the rule does"

MEASURES: dict[str, dict[str, Callable[..., Any]]] = {
    "hips": {
        "|n|": over(lambda x, y, floor: abs(y)),
        "a + n, without bars": over(lambda x, y, floor: x + y),
        "max(|a|, |n|)": over_larger,
    },
    "ceres": {
        "1 where the claim is 0": lambda x, y, e, f: e if x == 0 else over_larger(x, y, e, f * 0),
        "1 where numeric is 0": lambda x, y, e, f: e if y == 0 else over_larger(x, y, e, f * 0),
        "1 where one is below 1e-12": lambda x, y, e, f: (
            e if min(abs(x), abs(y)) < type(e)(1e-12) else over_larger(x, y, e, f * 0)
        ),
        "|n|": lambda x, y, e, f: e if x == 0 or y == 0 else divide(e, abs(y)),
        "|a|": lambda x, y, e, f: e if x == 0 or y == 0 else divide(e, abs(x)),
    },
    "cs231n-max": {
        "|a + n|": over(lambda x, y, floor: max(abs(x + y), floor)),
        "|n|": over(lambda x, y, floor: max(abs(y), floor)),
        "a floor of 1e-8": lambda x, y, e, f: over_larger(x, y, e, type(f)(1e-8)),
        "0/0 is NaN": over(lambda x, y, floor: max(abs(x), abs(y), floor)),
    },
    "cs231n-sum": {
        "|a + n|": over(lambda x, y, floor: max(abs(x + y), floor)),
        "|n|": over(lambda x, y, floor: max(abs(y), floor)),
        "a floor for each size": over(
            lambda x, y, floor: max(abs(x), floor) + max(abs(y), floor)
        ),
        "a floor of 1e-8": lambda x, y, e, f: over_sizes_or_floor(x, y, e, type(f)(1e-8)),
        "0/0 is 0": lambda x, y, e, f: e if e == 0 else over_sizes_or_floor(x, y, e, f),
    },
    "cs231n-unguarded": {
        "|a + n|": over_sum,
        "|n|": over(lambda x, y, floor: abs(y)),
        "a floor of 1e-8": over(lambda x, y, floor: max(abs(x) + abs(y), type(x)(1e-8))),
        "0/0 is 0": lambda x, y, e, f: e if e == 0 else over_sizes(x, y, e, f),
    },
}  # fmt: skip
SUM_RULES = ("reference", "numpy", "torch", "warp", "jax")


def mistakes() -> Iterator[Mistake]:
    """Yield every mistake in every rule."""
    for rule in RULES:
        if rule.name not in ("tvm", "scipy"):
            yield from _of_entries(rule)
        yield from _of_slack(rule)


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
    if rule.name == "ceres" or rule.name.startswith("cs231n"):
        yield from _of_a_quotient(rule)


MEASURED = {
    ("hips", "a + n, without bars"): LOOSE,
    ("cs231n-max", "|n|"): STRICT,
    ("cs231n-max", "0/0 is NaN"): STRICT,
    ("cs231n-sum", "|a + n|"): STRICT,
    ("cs231n-sum", "|n|"): STRICT,
    ("cs231n-sum", "a floor for each size"): LOOSE,
    ("cs231n-sum", "0/0 is 0"): LOOSE,
    ("cs231n-unguarded", "|a + n|"): STRICT,
    ("cs231n-unguarded", "|n|"): STRICT,
    ("cs231n-unguarded", "a floor of 1e-8"): LOOSE,
    ("cs231n-unguarded", "0/0 is 0"): LOOSE,
    ("ceres", "|n|"): STRICT,
    ("ceres", "|a|"): STRICT,
}


def _why(errs: str) -> str:
    """Say why a mistake in what is allowed errs in one direction."""
    return {BOTH: "", LOOSE: NO_LESS, STRICT: SMALLER}[errs]


def _of_a_sum(rule: Rule) -> Iterator[Mistake]:
    for said, allowed in ALLOWANCES.items():
        errs = ONE_WAY.get(said, BOTH)
        changed = partial(rule.decide, tests=((absolute, allowed),))
        yield Mistake(rule.name, "what is allowed", said, changed, errs, _why(errs))
    yield Mistake(rule.name, "its own size", "mean |numeric|", partial(_of_mean, rule))


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
    larger = ((relative[0], lambda x, y, rtol, atol: max(rtol, atol)),)
    yield Mistake(
        rule.name, "what is allowed", "max(rtol, atol)", partial(rule.decide, tests=larger),
        LOOSE, NO_LESS,
    )  # fmt: skip
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
    ors = partial(rule.decide, gather=_any_test_for_all)
    yield Mistake("hips", "its or", "all or all", ors, STRICT, "one test for all is more")
    for k, said in ((0, "atol"), (1, "rtol")):
        strict = (k != 0, k != 1)
        yield Mistake(
            "hips", "the tie", f"<= for <, {said}", partial(rule.decide, strict=strict),
            LOOSE, "a tie has one side",
        )  # fmt: skip


def _of_slack(rule: Rule) -> Iterator[Mistake]:
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
    yield Mistake(rule.name, about, "slack of 1 in 1e12", partial(slack, 1e-12, True), LOOSE, least)
    # At 0 alone: elsewhere the last place of a double is more than this.
    yield Mistake(rule.name, about, "slack of 1e-16", partial(slack, 1e-16, False), LOOSE, least)
