"""Compare vectors: two gradients and a rule in, errors and a decision out."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from .layout import Vector, arranged, flat, mapped, shape
from .numbers import CLEAR, UndecidedError, exact, finite, is_double, text, texts, ulps
from .rules import RULES, Decision, RefusedError, Rule

SUM_RULES = ("reference", "numpy", "torch", "warp", "jax")
PRODUCTS = (*SUM_RULES, "tvm")  # the rules that multiply rtol with an entry


@dataclass(frozen=True)
class Row:
    """Two gradients, as nested lists of doubles, and tolerances; None is the usual floor."""

    said: str
    analytic: object
    numeric: object
    flags: tuple[str, ...]
    rtol: float
    atol: float
    floor: float | None = None
    without_floor: bool = False  # it is left out, which is a floor of 0


# A change of the tolerances below double precision changes the decision only at an exact tie.
NUDGES = (Fraction(-1, 2**2000), Fraction(1, 2**2000))


def answered(test: Vector) -> Vector:
    """Answer a question of a file again."""
    rule = next(rule for rule in RULES if rule.name == test["rule"])
    analytic, numeric = (mapped(float, test[key]) for key in ("analytic", "numeric"))
    rtol, atol, floor = (float(test.get(key, "0")) for key in ("rtol", "atol", "floor"))
    left_out = rule.floor is not None and "floor" not in test
    flags = tuple(test["flags"])
    row = Row(test["description"], analytic, numeric, flags, rtol, atol, floor, left_out)
    return vector_for(rule, row)


def vector_for(rule: Rule, row: Row) -> Vector:
    """Compute the vector of a row."""
    floor = 0.0 if row.without_floor else rule.floor if row.floor is None else row.floor
    row = replace(row, floor=floor)
    vector = {
        "description": row.said,
        "flags": set(row.flags),
        "analytic": texts(row.analytic),
        "numeric": texts(row.numeric),
        "rtol": text(row.rtol),
        "atol": text(row.atol),
    }
    if rule.floor is not None and not row.without_floor:
        vector["floor"] = text(row.floor)
    empty = row.analytic == [] and rule.empty is None
    if "BadArgument" in row.flags or shape(row.analytic) != shape(row.numeric) or empty:
        return {**vector, "refused": True, "result": "invalid"}
    if row.analytic == []:
        error: Any = "0" if rule.name == "scipy" else []
        nothing = {"error": error, "within": {"error": error}}
        return {**vector, **nothing, "close": rule.empty, "result": _result(bool(rule.empty))}
    return {**vector, **_answer(rule, row, vector["flags"])}


def _result(close: bool) -> str:
    return "valid" if close else "invalid"


def _answer(rule: Rule, row: Row, flags: set[str]) -> Vector:
    """Decide exactly and in doubles; if both agree, the answer is definite."""
    try:
        doubles = _decide(rule, row, exactly=False)
    except RefusedError:
        doubles = None
    if not all(map(math.isfinite, flat(row.analytic) + flat(row.numeric))):
        if doubles is None:
            return {"refused": True, "result": "invalid"}
        told = _told(rule, row, doubles, doubles)
        flags |= set(_what_shows(rule, row, doubles, told, exactly=False))
        return told
    found = _decide(rule, row, exactly=True)
    told = _told(rule, row, found, doubles)
    flags |= set(_what_shows(rule, row, found, told, exactly=True))
    if doubles is not None and doubles.close == found.close and _definite(found, doubles):
        return told
    flags.discard("ExactTie")
    flags.add("Overflow" if _out_of_range(found, doubles) else "WithinRounding")
    return {**told, "result": "acceptable"}


def _decide(rule: Rule, row: Row, *, exactly: bool, nudge: Fraction = Fraction(0)) -> Decision:
    number = exact if exactly else float
    a, n = ([number(v) for v in flat(side)] for side in (row.analytic, row.numeric))
    rtol, atol, floor = (number(v or 0.0) for v in (row.rtol, row.atol, row.floor))
    if nudge:
        rtol, atol = rtol + nudge, atol + nudge
    return rule.decide(a, n, rtol, atol, floor)


def _definite(found: Decision, doubles: Decision) -> bool:
    """Whether no rounding can change the decision: far from a tie, or exact throughout."""
    return all(
        _clear(error, allowed) or _same((error, allowed), rounded_pair)
        for (error, allowed), rounded_pair in zip(found.margins, doubles.margins, strict=True)
    )


def _clear(error: Any, allowed: Any) -> bool:
    if not (finite(error) and finite(allowed)):
        return True
    return bool(abs(error - allowed) > CLEAR * max(abs(error), abs(allowed)))


def _same(pair: tuple[Any, Any], rounded_pair: tuple[Any, Any]) -> bool:
    return all(finite(r) and exact(r) == v for v, r in zip(pair, rounded_pair, strict=True))


def _out_of_range(found: Decision, doubles: Decision | None) -> bool:
    """Whether doubles overflowed, or underflowed to zero, on the way."""
    if doubles is None:
        return True
    exactly, in_doubles = (
        [value for pair in decision.margins for value in pair] for decision in (found, doubles)
    )
    return any(
        not math.isfinite(d) or (d == 0 != e) for e, d in zip(exactly, in_doubles, strict=True)
    )


def _what_shows(
    rule: Rule, row: Row, found: Decision, told: Vector, *, exactly: bool
) -> Iterator[str]:
    """List the mistakes that this vector would show."""
    tie = any(error == allowed for error, allowed in found.margins)
    nudges = NUDGES if exactly and tie else ()
    if len({_seen(_decide(rule, row, exactly=True, nudge=d)) for d in nudges}) > 1:
        if rule.name in PRODUCTS and not _exact_products(row):
            raise UndecidedError(f"{row.said}: a product is rounded on the way to this tie")
        yield "ExactTie"
    exchanged = replace(row, analytic=row.numeric, numeric=row.analytic)
    if _visibly_other(_decide(rule, exchanged, exactly=exactly), told):
        yield "NumericIsReference"
    entries = list(zip(flat(row.analytic), flat(row.numeric), strict=True))
    if found.close and any(x * y < 0 for x, y in entries):
        yield "WrongSignPasses"
    if rule.name.startswith(("cs231n", "ceres")) and any(x == 0 == y for x, y in entries):
        yield "ZeroOverZero"
    percent = found.extra.get("percent")
    if percent is not None and percent != int(percent):
        yield "Percentage"


def _exact_products(row: Row) -> bool:
    """Whether rtol times each entry is a double, so that no order of evaluation rounds it."""
    return all(is_double(Fraction(row.rtol or 0) * Fraction(v)) for v in flat(row.numeric))


def _visibly_other(decision: Decision, told: Vector) -> bool:
    """Whether a decision differs visibly from the expected one."""
    if decision.close != told["close"]:
        return True
    for name, value in {"error": decision.error, **decision.extra}.items():
        sides = (value, told[name], told["within"][name])
        for v, expected, within in zip(*map(flat, sides), strict=True):
            if expected is not None and _apart(v, expected) > Fraction(within):
                return True
    return False


def _apart(value: Any, expected: str) -> Any:
    if finite(value) and math.isfinite(float(expected)):
        return abs(Fraction(value) - Fraction(expected))
    return 0 if text(value) == expected else math.inf


def _seen(decision: Decision) -> str:
    """Return the content of a decision, NaN included, so that two can be compared."""
    return str((texts(decision.error), decision.close, sorted(decision.extra.items())))


def _told(rule: Rule, row: Row, found: Decision, doubles: Decision | None) -> Vector:
    """Write the expected reply: an error that doubles cannot reach is left open (null)."""
    single = rule.name in (*SUM_RULES, "hips")
    units = 1 if single else 4 if isinstance(found.error, list) else len(flat(row.analytic)) + 4
    told: Vector = {"close": found.close}
    within: Vector = {}
    for name, value in {"error": found.error, **found.extra}.items():
        if doubles is None:
            told[name], within[name] = None, "0"
            continue
        in_doubles = doubles.error if name == "error" else doubles.extra[name]
        count = units if name == "error" else 4
        told[name], within[name] = _measure(value, in_doubles, count, shape(row.analytic))
    return {**told, "within": within, "result": _result(found.close)}


def _measure(value: Any, in_doubles: Any, units: int, size: tuple[int, ...]) -> tuple[Any, Any]:
    if isinstance(value, list):
        pairs = [_measure(v, d, units, ()) for v, d in zip(value, in_doubles, strict=True)]
        return tuple(arranged(part, size) for part in zip(*pairs, strict=True))
    if not finite(value):
        return text(value), "0"
    bound = ulps(units, value)
    if not math.isfinite(in_doubles) or abs(exact(in_doubles) - value) > Fraction(bound):
        return None, "0"
    return text(value), text(bound)
