"""Compare vectors: two gradients and a rule in, errors and a decision out."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .edges import Row, edge_rows
from .layout import Vector, arranged, file_of, flat, shape
from .numbers import CLEAR, UndecidedError, exact, finite, is_double, text, texts, ulps
from .rules import RULES, Decision, RefusedError, Rule

HEADER = "Two gradients and a rule with its tolerances. How large is the error, and are they close?"
INF, NAN, TINY = math.inf, math.nan, 5e-324
FIRST_OF_TEN = [2.0] + [1.0] * 9
COMMON = [
    Row("equal, three entries", [1.5, -2.0, 0.25], [1.5, -2.0, 0.25]),
    Row("equal, one number", -0.75, -0.75),
    Row("equal, a matrix", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    Row("the sign is wrong", [1.0, -2.0], [-1.0, 2.0]),
    Row("twice the truth", [2.0, -5.0, 0.5], [1.0, -2.5, 0.25]),
    Row("half the truth", [0.5, 1.5], [1.0, 3.0]),
    Row("all zero where it is not", [0.0, 0.0], [1.0, -3.0]),
    Row("not zero where it is", [0.5, -0.25], [0.0, 0.0]),
    Row("one entry of a matrix is wrong", [[1.0, 2.0], [3.5, 4.0]], [[1.0, 2.0], [3.0, 4.0]]),
    Row("transposed", [[1.0, 2.0], [3.0, 4.0]], [[1.0, 3.0], [2.0, 4.0]]),
    Row("off by 1 in 100", [1.01, -2.02], [1.0, -2.0]),
    Row("off by 1 in 2000", [1.0005, -2.001], [1.0, -2.0]),
    Row("off by 3 in 100 000", [1.00003, -2.00006], [1.0, -2.0]),
    Row("off by 3 in 10 000 000", [1.0000003, -2.0000006], [1.0, -2.0]),
    Row("off by 3 in 1 000 000 000", [1.000000003, -2.000000006], [1.0, -2.0]),
    Row("0 against 0", [0.0, 0.0], [0.0, 0.0]),
    Row("0 against -0", [0.0, -0.0], [-0.0, 0.0], ("SignedZero",)),
    Row("0 against 1e-12", [0.0, 1.0], [1e-12, 1.0]),
    Row("1e-12 against -1e-12", [1e-12], [-1e-12]),
    Row("3e-9 against 1e-9", [3e-9], [1e-9]),
    Row("Warp's row: 4.840e-05 against 2.235e-04", [4.840e-05], [2.235e-04], ("SeedRow",)),
    Row("1 against 2", [1.0], [2.0]),
    Row("2 against 1", [2.0], [1.0]),
    Row("large entries, off in the ninth digit", [1234567890.0], [1234567891.0]),
    Row("the first of ten is doubled", FIRST_OF_TEN, [1.0] * 10, ("Dilution",)),
    Row("NaN against NaN", [NAN, 1.0], [NAN, 1.0], ("NaNOnBothSides",)),
    Row("NaN against 1", [NAN, 1.0], [1.0, 1.0], ("NaN",)),
    Row("1 against NaN", [1.0, 1.0], [1.0, NAN], ("NaN",)),
    Row("inf against inf", [INF, 1.0], [INF, 1.0], ("Infinity",)),
    Row("inf against -inf", [INF], [-INF], ("Infinity",)),
    Row("inf against 1", [INF], [1.0], ("Infinity",)),
    Row("1 against inf", [1.0], [INF], ("Infinity",)),
    Row("the smallest double against twice that", [TINY], [1e-323], ("Subnormal",)),
    Row("equal subnormals", [3e-310, -TINY], [3e-310, -TINY], ("Subnormal",)),
    Row("equal, near the largest double", [1.7e308], [1.7e308], ("ExtremeScale",)),
    Row("1.6e308 against 0.8e308", [1.6e308], [0.8e308], ("ExtremeScale",)),
    Row("1.7e308 against -1.7e308", [1.7e308], [-1.7e308], ("ExtremeScale",)),
    Row("two entries against one", [1.0, 1.0], [1.0], ("Shape",)),
    Row("a column against a row", [[1.0], [1.0]], [[1.0, 1.0]], ("Shape",)),
    Row("three entries against a number", [1.0, 1.0, 1.0], 1.0, ("Shape",)),
    Row("one entry against a number", [1.0], 1.0, ("Shape",)),
    Row("the same entries in another shape", [[1.0, 2.0, 3.0]], [1.0, 2.0, 3.0], ("Shape",)),
]
EMPTY = Row("no entries", [], [], ("NothingCompared",))

# Ties: powers of two, and sums of them, so that nothing is rounded.
SUM_TIES = [
    Row("tie: error = atol", [1.5], [1.0], rtol=0.0, atol=0.5),
    Row("tie: error = rtol |n|", [1.25], [1.0], rtol=0.25, atol=0.0),
    Row("tie: error = atol + rtol |n|, n negative", [-2.75], [-2.0], rtol=0.25, atol=0.25),
    Row("a little above the tie", [1.5 + 2**-20], [1.0], rtol=0.0, atol=0.5),
    Row("a little below the tie", [1.5 - 2**-20], [1.0], rtol=0.0, atol=0.5),
    Row("tie in the second of three", [1.0, 2.5, 3.0], [1.0, 2.0, 3.0], rtol=0.25, atol=0.0),
    Row("tie with both tolerances 0", [3.0], [3.0], rtol=0.0, atol=0.0),
    Row("tie of subnormals", [TINY], [1e-323], ("Subnormal",), rtol=0.5, atol=0.0),
    Row("1.1 against 1, rtol 0.1", [1.1], [1.0], ("DecimalTie",), rtol=0.1, atol=0.0),
    Row("0.3 against 0, atol 0.1 + 0.2", [0.3], [0.0], ("DecimalTie",), 0.0, 0.1 + 0.2),
    Row("1.3 against 1.2, atol 0.1", [1.3], [1.2], ("DecimalTie",), rtol=0.0, atol=0.1),
    Row("4.4 against 4, rtol 0.1", [4.4], [4.0], ("DecimalTie",), rtol=0.1, atol=0.0),
    Row("2.2 against 1.1, rtol 1", [2.2], [1.1], rtol=1.0, atol=0.0),
    Row("0.7 against 0.6, rtol 1/6", [0.7], [0.6], rtol=1 / 6, atol=0.0),
    Row("the claim is the larger: 1 against 0.9, rtol 0.105", [1.0], [0.9], (), 0.105, 0.0),
    Row("the claim is the smaller: 0.9 against 1, rtol 0.105", [0.9], [1.0], (), 0.105, 0.0),
    Row("0 claimed for 1, rtol 1", [0.0], [1.0], rtol=1.0, atol=0.0),
    Row("1 claimed for 0, rtol 1", [1.0], [0.0], rtol=1.0, atol=0.0),
    Row("the allowance overflows", [1.7e308], [1.0e308], ("ExtremeScale",), 1.0, 1.7e308),
    Row("the error overflows, the allowance too", [1.7e308], [-1.7e308], (), 2.0, 1.7e308),
    Row("the error overflows and is too large", [1.7e308], [-1.7e308], (), 1.9, 0.0),
    Row("error within rtol but not within atol", [100.5], [100.0], (), 0.01, 1e-3),
    Row("error within atol but not within rtol", [1e-3], [1e-4], (), 0.01, 1e-2),
    Row("error within neither, but within their sum", [1.75], [1.0], (), 0.5, 0.5),
]
SUM_RULES = {"reference", "numpy", "torch", "warp"}
PRODUCTS = {*SUM_RULES, "jax", "tvm"}  # the rules that multiply rtol with an entry
QUOTIENT_ROWS = [
    Row("error 1e-2 times 1.001", [1.01001], [1.0], ("Threshold",), rtol=1e-2),
    Row("error between 1e-4 and 1e-2", [1.001], [1.0], ("Threshold",), rtol=1e-2),
    Row("error between 1e-4 and 1e-2, at 1e-4", [1.001], [1.0], ("Threshold",), rtol=1e-4),
    Row("error 3e-5, fine with kinks", [1.00003], [1.0], ("Threshold",), rtol=1e-4),
    Row("error 3e-5, not good without", [1.00003], [1.0], ("Threshold",), rtol=1e-7),
    Row("error 5e-8, good", [1.00000005], [1.0], ("Threshold",), rtol=1e-7),
    Row("good for the sum, not for the larger", [1.00000015], [1.0], ("Threshold",), rtol=1e-7),
    Row("right for the sum, wrong for the larger", [1.015], [1.0], ("Threshold",), rtol=1e-2),
    Row("tie: 3 against 1", [3.0], [1.0], rtol=0.5),
    Row("tie: 1 against 2", [1.0], [2.0], rtol=0.5),
    Row("tie: 5 against -3", [5.0], [-3.0], rtol=1.0),
    Row("1 against 0", [1.0], [0.0], rtol=1.0),
]
FLOOR_ROWS = [
    Row("tie at 1e-2, both below a floor of 1", [0.0], [1e-2], ("Threshold",), 1e-2, None, 1.0),
    Row("tie at 1e-4, both below a floor of 1", [1e-4], [0.0], ("Threshold",), 1e-4, None, 1.0),
    Row("tie at 1e-7, both below a floor of 1", [0.0], [-1e-7], ("Threshold",), 1e-7, None, 1.0),
    Row("0 against 0 without a floor", [0.0], [0.0], (), 1e-7, None, 0.0),
    Row("1e-12 against -1e-12 without a floor", [1e-12], [-1e-12], (), 1e-2, None, 0.0),
]
SPECIAL = {
    "tvm": [
        Row("tie: norms 5 and 5", [6.0, 8.0], [3.0, 4.0], rtol=1.0, atol=0.0),
        Row("tie: one entry, all in atol", [1.5], [1.0], rtol=0.0, atol=0.5),
        Row("tie: four entries, sqrt(4) atol", [2.0, 1.0, 1.0, 1.0], [1.0] * 4, (), 0.0, 0.5),
        Row("a little above the tie", [2.0625, 1.0, 1.0, 1.0], [1.0] * 4, (), 0.0, 0.5),
        Row("1 of 40 is doubled: just seen", [2.0] + [1 + k / 39 for k in range(1, 40)],
            [1 + k / 39 for k in range(40)], ("Dilution",)),
        Row("1 of 41 is doubled: just not", [2.0] + [1 + k / 40 for k in range(1, 41)],
            [1 + k / 40 for k in range(41)], ("Dilution",)),
        Row("1 of 3 differs, but the distance passes", [1.125, 1.0, 1.0], [1.0] * 3),
        Row("2 of 3 differ", [2.0, 0.0, 1.0], [1.0] * 3),
        Row("1 of 8 differs", [3.0] + [1.0] * 7, [1.0] * 8),
        Row("1 of 200 differs", [1.5] + [1.0] * 199, [1.0] * 200, ("Dilution",)),
        Row("9 % everywhere passes", [1.09, -2.18, 3.27], [1.0, -2.0, 3.0]),
        Row("11 % everywhere passes thanks to atol", [0.111, 0.222], [0.1, 0.2]),
        Row("all zero for small entries", [0.0, 0.0], [1e-3, -2e-3]),
        Row("squares overflow, equal", [1e200, 1.0], [1e200, 1.0], ("ExtremeScale",)),
        Row("squares underflow, twice the truth", [2e-200], [1e-200], (), 0.1, 0.0),
        Row("claim larger than numeric by 10.5 %", [1.105], [1.0], rtol=0.1, atol=0.0),
        Row("numeric larger than claim by 10.5 %", [1.0], [1.105], rtol=0.1, atol=0.0),
    ],
    "scipy": [
        Row("tie: 3-4-5", [4.0, 5.0], [1.0, 1.0], atol=5.0),
        Row("a little above the tie", [4.0, 5.0 + 2**-20], [1.0, 1.0], atol=5.0),
        Row("a little below the tie", [4.0, 5.0 - 2**-20], [1.0, 1.0], atol=5.0),
        Row("tie at 0", [3.0], [3.0], atol=0.0),
        Row("many small errors add up", [1e-6] * 4, [0.0] * 4),
        Row("squares overflow, but not the norm", [1e200], [0.0], (), None, 1e201),
        Row("squares underflow, the norm does not", [1e-200], [0.0], (), None, 1e-201),
    ],
    "jax": [
        Row("tie: one entry", [1.75], [1.0], rtol=0.25, atol=0.5),
        Row("tie: two entries, twice the tolerance", [1.5, 1.0], [1.0, 1.0], (), 0.125, 0.125),
        Row("a little above the tie", [1.5 + 2**-20, 1.0], [1.0, 1.0], (), 0.125, 0.125),
        Row("half wrong in 100 entries passes", [1.5] * 100, [1.0] * 100, ("Dilution",), 0.01, 0.0),
        Row("half wrong in 10 entries does not", [1.5] * 10, [1.0] * 10, (), 0.01, 0.0),
        Row("size is 6 for a 2 by 3 matrix", [[1.5, 1, 1], [1, 1, 1.0]], [[1.0] * 3] * 2, (), 0.1,
            0.0),
        Row("claim 1, numeric 0.9, rtol 0.105", [1.0], [0.9], rtol=0.105, atol=0.0),
        Row("claim 0.9, numeric 1, rtol 0.105", [0.9], [1.0], rtol=0.105, atol=0.0),
    ],
    "hips": [
        Row("opposite signs: the sum is 0", [1.0], [-1.0], ("ZeroOverZero",)),
        Row("opposite and small: atol decides", [2e-7], [-2e-7]),
        Row("0 against 0 with atol 0", [0.0], [0.0], ("ZeroOverZero",), 1e-6, 0.0),
        Row("tie: error = atol", [1.5], [-1.0], rtol=0.0, atol=2.5),
        Row("tie: error / |a + n| = rtol", [3.0], [1.0], rtol=0.5, atol=0.0),
        Row("a little below the tie", [3.0 - 2**-20], [1.0], rtol=0.5, atol=0.0),
        Row("absolute alone suffices", [1e-7], [0.0]),
        Row("relative alone suffices", [1000000.5], [1000000.0]),
        Row("within neither, though within their sum", [1.0000025], [1.0]),
        # error / (a + n) is negative here, and small: a rule without the bars lets it pass.
        Row("both negative, one twice the other", [-2.0], [-1.0]),
    ],
    "ceres": [
        Row("1e-14 against 3e-13, rtol 0.1: both small", [1e-14], [3e-13], (), 0.1),
        Row("0 against 1e-9: absolute", [0.0], [1e-9]),
        Row("1e-7 against 0: absolute", [1e-7], [0.0]),
        Row("tie: 1 against 2", [1.0], [2.0], rtol=0.5),
        Row("a little below the tie", [1.0 + 2**-20], [2.0], rtol=0.5),
        Row("tie at 0: rtol 0", [0.0], [0.0], rtol=0.0),
        Row("-0 counts as zero", [-0.0], [1e-9], ("SignedZero",)),
        Row("a subnormal is not zero", [TINY], [1e-9], ("Subnormal",)),
    ],
    "warp": [
        Row("numeric -1e-8: the guard makes 0", [0.0, 1.0], [-1e-8, 1.0]),
        Row("numeric 0: relative is error / 1e-8", [1e-4], [0.0]),
        Row("relative error 1587, passes", [1.5871e-05], [0.0], ("SeedRow",)),
        Row("another entry has the largest relative error", [1.009, 2e-5], [1.0, 1e-6]),
    ],
    "cs231n-max": FLOOR_ROWS,
    "cs231n-sum": FLOOR_ROWS,
}  # fmt: skip
# A change of the tolerances below double precision changes the decision only at an exact tie.
NUDGES = (Fraction(-1, 2**2000), Fraction(1, 2**2000))


def compare_vectors() -> Vector:
    """Compute the file of this kind."""
    return file_of("compare", HEADER, [_group(rule, _rows(rule)) for rule in RULES])


def _rows(rule: Rule) -> Iterator[Row]:
    yield from COMMON
    if rule.name != "ceres":  # Ceres does not say what it does without entries
        yield EMPTY
    if rule.name in SUM_RULES:
        yield from SUM_TIES
    if rule.name.startswith("cs231n"):
        yield from QUOTIENT_ROWS
    yield from SPECIAL.get(rule.name, [])
    yield from edge_rows(rule)


def _group(rule: Rule, rows: Iterable[Row]) -> Vector:
    return {
        "group": rule.group,
        "rule": rule.name,
        "says": rule.said,
        "source": f"exact rational; {rule.source}",
        "tests": [vector_for(rule, row) for row in rows],
    }


def vector_for(rule: Rule, row: Row) -> Vector:
    """Compute the vector of a row."""
    row = replace(
        row,
        rtol=rule.rtol if row.rtol is None else row.rtol,
        atol=rule.atol if row.atol is None else row.atol,
        floor=0.0 if row.without_floor else rule.floor if row.floor is None else row.floor,
    )
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
    single = rule.name in SUM_RULES | {"jax", "hips"}
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
