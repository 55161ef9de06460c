"""Verdict vectors: a named function, a point and a claimed gradient in, pass or fail out."""

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

from . import functions
from .dual import Dual
from .functions import EVEN, FUNCTIONS, LESS, LONGEST, UNEVEN, Function, Nested, Point, named
from .layout import Vector, arranged, file_of, flat, mapped, shape
from .numbers import finite, rounded, text, texts

HEADER = (
    "The loss is sum(upstream * function(inputs)). Is the claimed gradient right: within rtol of "
    "the truth? Right claims are within a tenth of that in every entry; wrong ones are off in some "
    "entry by more than ten times rtol of the largest true entry of the same input's gradient, or "
    "are not finite there. Integer inputs are constants, their claim is null."
)
RTOL = 1e-6
RTOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-8)
SIDE = Fraction(1, 10**40)
Claim = list[Any]  # one nested list for each input, None for an integer one


def verdict_vectors() -> Vector:
    """Compute the file of this kind."""
    turn = count()
    groups = [_group(function, _tests(function, turn)) for function in FUNCTIONS]
    groups += [_group(f, _at_length(f, point, (0, 1, 12, 13, -1))) for f, point in functions.LONGER]
    groups += [_group(LONGEST[0], _at_length(*LONGEST, (77, -1), (11,)))]
    groups += [_group(f, _at_tolerances(f, point)) for f, point in functions.TOLERANT]
    groups += [_group(f, _hardly_right(f, point)) for f, point in (LESS, *UNEVEN)]
    groups += [_group(EVEN[0], _hardly_wrong(*EVEN, (0, 33, 100, 119), {"ManyEntries"}))]
    groups += [_group(f, _hardly_wrong(f, p, (1, -1), {"OwnScale"})) for f, p in UNEVEN]
    groups += [_group(f, _misshapen(f, f.points[0])) for f in map(named, functions.SHAPED)]
    groups += [_group(f, _odd_zeros(f, point)) for f, point in functions.WITH_ZEROS]
    groups += [_group(f, _weighed(f, point)) for f, point in functions.WEIGHED]
    for flag, places in (
        ("OneNumber", functions.NUMBERS),
        ("LargePlace", functions.FAR_OUT),
        ("WholeNumbers", functions.WHOLE_NUMBERS),
    ):
        groups += [_group(f, _at_a_place(f, p, said, flag)) for said, f, p in places]
    groups += [_group(f, _elsewhere(f, p, {"Elsewhere"})) for f, p in functions.ELSEWHERE]
    groups += [_group(f, _elsewhere(f, p, {"ExtremeUpstream"})) for f, p in functions.WEIGHED_FAR]
    groups += [_group(f, _deep(f, point)) for f, point in functions.DEEP]
    groups += _hard_groups()
    groups += [_group(f, _in_turn(f, *points)) for f, *points in functions.IN_TURN]
    return file_of("verdict", HEADER, groups)


def _hard_groups() -> Iterator[Vector]:
    """Ask where one fixed step does not do."""
    for f in FUNCTIONS:
        if not f.kinks and "ZeroGradient" not in f.flags:
            for point in f.points:
                yield _group(f, _hard(f, point, "TightTolerance", 1e-9))
    for flag, points in (
        ("OtherUnits", functions.IN_UNITS),
        ("SmallGradient", functions.TAILS),
        ("DomainEdge", functions.EDGES),
        ("NearKink", functions.NEAR_KINKS),
    ):
        for f, point in points:
            yield _group(f, _hard(f, point, flag, RTOL))
    for f, rtol in functions.LOW_PRECISION:
        for point in f.points:
            yield _group(f, _hard(f, point, "LowPrecision", rtol))


def _hard(function: Function, point: Point, flag: str, rtol: float) -> Iterator[Vector]:
    """Claim what is hardly right, twice, and what is hardly and what is very wrong."""
    truth, doubles = _truth(function, point)
    where = f"x {_first(point.inputs[0]):.8g}.., upstream {_first(point.upstream):.4g}.."
    where += f", rtol {text(rtol)}"
    near = list(map(_scaled_part(1 - rtol / 20), doubles))
    _assert_right(truth, doubles, rtol)
    _assert_right(truth, near, rtol)
    yield vector_for(f"{where}: the truth", {flag, "Truth"}, point, doubles, "valid", rtol)
    yield vector_for(f"{where}: nearly", {flag, "RoundedClaim"}, point, near, "valid", rtol)
    k = _moved(doubles)[-1]
    entries = flat(doubles[k])
    at = len(entries) // 2
    off = entries[at] + 15 * rtol * max(map(abs, entries))
    for said, claim in (
        (
            "the largest is half",
            replaced(doubles, k, _largest_changed(lambda v: v / 2)(doubles[k])),
        ),
        (f"entry {at} is off", one_changed(doubles, k, at, off)),
    ):
        assert is_wrong(truth, claim, rtol)
        yield vector_for(f"{where}: {said}", {flag, "OneEntry"}, point, claim, "invalid", rtol)


def _tests(function: Function, turn: Iterator[int]) -> Iterator[Vector]:
    name = "scaled point" if "Scale" in function.flags else "point"
    for number, point in enumerate(function.points, start=1):
        where = f"{name} {number}: " if len(function.points) > 1 else ""
        claims = _at_a_kink if function.kinks else _claims
        for said, flags, claim, result in claims(function, point, turn):
            yield vector_for(where + said, {*flags, *function.flags}, point, claim, result)


def vector_for(
    said: str, flags: set[str], point: Point, claim: Claim, result: str, rtol: float = RTOL
) -> Vector:
    """Write the vector of a claim."""
    return {
        "description": said,
        "flags": flags,
        "inputs": [_written(x) for x in point.inputs],
        "upstream": texts(point.upstream),
        "claimed": [None if c is None else texts(c) for c in claim],
        "rtol": text(rtol),
        "result": result,
    }


def _group(function: Function, tests: Iterable[Vector]) -> Vector:
    exactly = "exact rational" if function.number is Fraction else "decimal 60 digits"
    in_low_precision = any(function is f for f, _ in functions.LOW_PRECISION)
    return {
        "group": f"verdict/{function.name}",
        **({"optional": True} if in_low_precision else {}),
        "function": function.name,
        "formula": function.formula,
        "source": f"{exactly}, differentiated in forward mode",
        "tests": list(tests),
    }


def _written(x: Nested) -> Nested:
    return x if _is_constant(x) else texts(x)


def _is_constant(x: Nested) -> bool:
    return isinstance(x, list) and all(isinstance(v, int) for v in x)


# --- the truth -------------------------------------------------------------------------------


def gradient(function: Function, point: Point, *, moved: Fraction = Fraction(0)) -> Claim:
    """Differentiate ``sum(upstream * f(inputs))`` exactly, at the point or close to it."""
    places = count()
    inputs = [
        x if _is_constant(x) else _seeded(x, places, function.number, moved) for x in point.inputs
    ]
    output = function.f(*inputs)
    weights = flat(point.upstream)
    slopes: dict[int, Any] = {}
    for y, u in zip(flat(output), weights, strict=True):
        for k, slope in y.slopes.items():
            slopes[k] = slopes.get(k, 0) + function.number(u) * slope
    found = iter(range(next(places)))
    return [
        None if _is_constant(x) else mapped(lambda _: slopes.get(next(found), 0), x)
        for x in point.inputs
    ]


def _truth(function: Function, point: Point) -> tuple[Claim, Claim]:
    """Return the true gradients, and the same rounded."""
    truth = gradient(function, point)
    return truth, doubles_of(truth)


def _seeded(x: Nested, places: Iterator[int], number: type, moved: Fraction) -> Nested:
    def seed(value: float) -> Dual:
        here = Fraction(value) + moved
        plain = here if number is Fraction else Decimal(here.numerator) / Decimal(here.denominator)
        return Dual(plain, {next(places): number(1)})

    return mapped(seed, x)


# --- claims ----------------------------------------------------------------------------------


def _claims(
    function: Function, point: Point, turn: Iterator[int]
) -> Iterator[tuple[str, set[str], Claim, str]]:
    """Claim the true gradient, the same in fewer digits, and some of the mistakes, in turn."""
    truth, doubles = _truth(function, point)
    yield "the truth", {"Truth"}, doubles, "valid"
    if "ZeroGradient" in function.flags:
        yield from _not_zero(doubles)
        return
    short = [None if g is None else mapped(lambda v: float(f"{v:.8e}"), g) for g in doubles]
    _assert_right(truth, short)
    yield "the truth to nine digits", {"RoundedClaim"}, short, "valid"

    mistakes = list(MISTAKES.items())
    wrong = 0
    while wrong < 5:
        start = next(turn)
        name, (flags, mistake) = mistakes[start % len(mistakes)]
        variables = _moved(doubles)
        k = variables[start // len(mistakes) % len(variables)]
        changed = mistake(doubles[k], function, point, k)
        if changed is None or not _really_wrong(truth[k], changed):
            continue
        wrong += 1
        said = name + _which(k, doubles)
        yield said, set(flags), replaced(doubles, k, changed), "invalid"


def _not_zero(zeros: Claim) -> Iterator[tuple[str, set[str], Claim, str]]:
    for value in (1.0, -0.5, 1e-3):
        first_only = [[value, *zeros[0][1:]]]
        yield f"{text(value)} for the first entry", {"OneEntry"}, first_only, "invalid"
        yield f"{text(value)} for all", {"GrossError"}, [[value] * len(zeros[0])], "invalid"
    yield "minus zero", {"Truth"}, [[-0.0] * len(zeros[0])], "valid"


def _at_length(
    function: Function, point: Point, places: tuple[int, ...], times: tuple[int, ...] = (15, 18, 21)
) -> Iterator[Vector]:
    """Claim the true gradient, and then with single wrong entries, in the last input, too."""
    truth, doubles = _truth(function, point)
    yield vector_for(f"{_size(doubles)} entries, the truth", {"Truth"}, point, doubles, "valid")
    first, last = _moved(doubles)[0], _moved(doubles)[-1]
    chosen = [(k, p) for k in sorted({first, last}) for p in _places(places, flat(doubles[k]))]
    for turn, (k, place) in enumerate(chosen):
        entries = flat(doubles[k])
        off = times[turn % len(times)] * RTOL * max(map(abs, entries)) * (-1) ** turn
        claim = one_changed(doubles, k, place, entries[place] + off)
        assert is_wrong(truth, claim, RTOL)
        said = f"entry {place} of {len(entries)} is off{_which(k, doubles)}"
        yield vector_for(said, {"OneEntry", "SmallError", "ManyEntries"}, point, claim, "invalid")


def _places(wanted: tuple[int, ...], entries: list[float]) -> list[int]:
    """Count negative places from the end, and leave out places that do not exist."""
    return sorted({at % len(entries) for at in wanted if at < len(entries)})


def _moved(claim: Claim) -> list[int]:
    """List the inputs that are no constants."""
    return [k for k, g in enumerate(claim) if g is not None]


def _which(k: int, claim: Claim) -> str:
    """Name an input, if there are several."""
    return f", input {k + 1}" if len(_moved(claim)) > 1 else ""


def _at_tolerances(function: Function, point: Point) -> Iterator[Vector]:
    """Use other tolerances: an error of a twentieth of them is right, of twenty times wrong."""
    truth, doubles = _truth(function, point)
    k = _moved(doubles)[0]
    entries = flat(doubles[k])
    largest = max(map(abs, entries))
    for rtol in RTOLS:
        given = {"GivenTolerance"}
        for sign, way in ((1, "up"), (-1, "down")):
            near = [None if g is None else _scaled(1 + sign * rtol / 20)(g) for g in doubles]
            _assert_right(truth, near, rtol)
            said = f"rtol {text(rtol)}: all off by a twentieth of it, {way}"
            yield vector_for(said, given, point, near, "valid", rtol)
        place = len(entries) // 2
        for at, name in ((place, "the middle"), (len(entries) - 1, "the last")):
            off = entries[at] - 20 * rtol * largest
            claim = one_changed(doubles, k, at, off)
            assert is_wrong(truth, claim, rtol)
            said = f"rtol {text(rtol)}: {name} entry is off by 20 times that of the largest"
            yield vector_for(said, {*given, "OneEntry"}, point, claim, "invalid", rtol)


def _hardly_right(function: Function, point: Point) -> Iterator[Vector]:
    """Claim errors in every entry that are just small enough to be right."""
    truth, doubles = _truth(function, point)
    for way, name in ((1, "up"), (-1, "down")):
        near = [None if g is None else _scaled(1 + way * 0.099 * RTOL)(g) for g in doubles]
        _assert_right(truth, near)
        said = f"{_size(doubles)} entries, all off by nearly a tenth of rtol, {name}"
        yield vector_for(said, {"NearTheLimit"}, point, near, "valid")


def _hardly_wrong(
    function: Function, point: Point, places: tuple[int, ...], flags: set[str]
) -> Iterator[Vector]:
    """Claim an error in one entry that is just large enough to be wrong."""
    truth, doubles = _truth(function, point)
    for k in _moved(doubles):
        entries = flat(doubles[k])
        for turn, place in enumerate(_places(places, entries)):
            off = 10.5 * RTOL * max(map(abs, entries)) * (-1) ** turn
            claim = one_changed(doubles, k, place, entries[place] + off)
            assert is_wrong(truth, claim, RTOL)
            said = f"entry {place} of {len(entries)} is off by as little as is wrong"
            said += _which(k, doubles)
            yield vector_for(said, {"OneEntry", "SmallError", *flags}, point, claim, "invalid")


def doubles_of(truth: Claim) -> Claim:
    """Round the true gradients."""
    return [None if g is None else mapped(lambda v: rounded(Fraction(v)), g) for g in truth]


def _misshapen(function: Function, point: Point) -> Iterator[Vector]:
    """Claim the true entries in another shape, for each input."""
    doubles = doubles_of(gradient(function, point))
    for k in _moved(doubles):
        for said, reshaped in misshapen(doubles[k]):
            claim, said = replaced(doubles, k, reshaped), f"the truth, {said}{_which(k, doubles)}"
            yield vector_for(said, {"ClaimShape"}, point, claim, "invalid")


def misshapen(g: Nested) -> Iterator[tuple[str, Nested]]:
    """Yield the entries of a gradient in other shapes, and how they differ."""
    entries, many = flat(g), isinstance(g, list)
    others = {"with a dimension more": [g], "no entries": [], "flattened": entries}
    if many:
        others["its first entry alone"] = entries[0]
        others["and a part of zeros more"] = [*g, mapped(lambda _: 0.0, g[0])]
        others["its first part"] = g[0] if len(shape(g)) > 1 else g[:1]
        others["as a column"] = [[v] for v in entries]
    if len(shape(g)) > 1:
        others["every entry a list"] = mapped(lambda v: [v], g)
    if len(shape(g)) == 2:
        others["transposed"] = [list(column) for column in zip(*g, strict=True)]
    yield from ((said, other) for said, other in others.items() if shape(other) != shape(g))


def _odd_zeros(function: Function, point: Point) -> Iterator[Vector]:
    """Claim NaN or infinity where the true value is 0, so no error is relative."""
    doubles = doubles_of(gradient(function, point))
    zeros = [k for k, v in enumerate(flat(doubles[0])) if v == 0]
    for odd in (math.nan, math.inf, -math.inf):
        for at in sorted({zeros[0], zeros[-1]}):
            said = f"{text(odd)} in entry {at}, where the truth is 0"
            claim = one_changed(doubles, 0, at, odd)
            yield vector_for(said, {"NonfiniteClaim", "OneEntry"}, point, claim, "invalid")
    yield vector_for("the truth, zeros and all", {"Truth"}, point, doubles, "valid")


def _weighed(function: Function, point: Point) -> Iterator[Vector]:
    """Claim the true gradient, and that of another upstream gradient."""
    truth, given = gradient(function, point), {"GivenUpstream"}
    size = shape(point.upstream)
    which = f"upstream of {' by '.join(map(str, size))}" if size else f"upstream {point.upstream}"
    yield vector_for(f"{which}, the truth", given, point, doubles_of(truth), "valid")
    weights = flat(point.upstream)
    others = {
        "as if it were 1": [1.0] * len(weights),
        "by its signs alone": [math.copysign(1.0, u) for u in weights],
        "by the sign of its sum": [math.copysign(1.0, sum(weights))] * len(weights),
        "by its mean": [sum(weights) / len(weights)] * len(weights),
        "backwards": weights[::-1],
        "without signs": [abs(u) for u in weights],
    }
    if size:
        others["by its first part"] = (weights[: size[-1]] * len(weights))[: len(weights)]
        for k in range(len(weights)):
            others[f"without element {k}"] = [*weights[:k], 0.0, *weights[k + 1 :]]
    met: list[list[float]] = [weights]
    for said, other in others.items():
        claim = doubles_of(gradient(function, Point(point.inputs, arranged(other, size))))
        if other not in met and is_wrong(truth, claim, RTOL):
            met.append(other)
            yield vector_for(f"{which}, {said}", given, point, claim, "invalid")


def _at_a_place(function: Function, point: Point, where: str, flag: str) -> Iterator[Vector]:
    """Claim the true gradient, and gradients with a small and a large error."""
    truth, doubles = _truth(function, point)
    for said, factor in (("the truth", 1.0), ("off by 2 in 100 000", 1.00002), ("twice it", 2.0)):
        claim = list(map(_scaled(factor), doubles))
        result = "valid" if factor == 1 else "invalid"
        assert factor == 1 or is_wrong(truth, claim, RTOL)
        yield vector_for(f"{where}: {said}", {flag}, point, claim, result)
    if flag == "OneNumber":
        yield vector_for(f"{where}: NaN", {flag, "NonfiniteClaim"}, point, [math.nan], "invalid")
        for said, reshaped in misshapen(doubles[0]):
            flags = {flag, "ClaimShape"}
            yield vector_for(f"{where}: the truth, {said}", flags, point, [reshaped], "invalid")


def _elsewhere(function: Function, point: Point, flags: set[str]) -> Iterator[Vector]:
    """Claim the true gradient, and gradients with small and large errors, at another point."""
    truth, doubles = _truth(function, point)
    where = f"x {_first(point.inputs[0]):.5g}.., upstream {_first(point.upstream):.4g}.."
    yield vector_for(f"{where}: the truth", {*flags, "Truth"}, point, doubles, "valid")
    near = list(map(_scaled_part(1 + 0.05 * RTOL), doubles))
    _assert_right(truth, near)
    said = f"{where}: off by a twentieth of rtol"
    yield vector_for(said, {*flags, "RoundedClaim"}, point, near, "valid")
    k = _moved(doubles)[-1]
    for said, change in (
        ("the largest entry is half", _largest_changed(lambda v: v / 2)),
        ("all off by 2 in 100 000", _scaled(1.00002)),
        ("minus the truth", _scaled(-1.0)),
    ):
        claim = replaced(doubles, k, change(doubles[k]))
        assert is_wrong(truth, claim, RTOL)
        yield vector_for(f"{where}: {said}", flags, point, claim, "invalid")


def _first(nested: Nested) -> float:
    return float(flat(nested)[0])


def _scaled_part(factor: float) -> Callable[[Nested], Nested]:
    return lambda g: None if g is None else _scaled(factor)(g)


def _deep(function: Function, point: Point) -> Iterator[Vector]:
    """Claim the true gradient of an array of four axes, others, and the same in other shapes."""
    truth, doubles = _truth(function, point)
    size, flags = shape(doubles[0]), {"FourAxes"}
    by = " by ".join(map(str, size))
    yield vector_for(f"{by}: the truth", {*flags, "Truth"}, point, doubles, "valid")
    entries = flat(doubles[0])
    for at in (0, len(entries) // 2, len(entries) - 1):
        off = entries[at] - 18 * RTOL * max(map(abs, entries))
        claim = one_changed(doubles, 0, at, off)
        assert is_wrong(truth, claim, RTOL)
        yield vector_for(f"{by}: entry {at} is off", {*flags, "OneEntry"}, point, claim, "invalid")
    ones = Point(point.inputs, mapped(lambda u: 1.0, point.upstream))
    claim = doubles_of(gradient(function, ones))
    yield vector_for(f"{by}: as if upstream were 1", {*flags, "GivenUpstream"}, point, claim,
        "invalid")  # fmt: skip
    for said, reshaped in misshapen(doubles[0]):
        said = f"{by}: the truth, {said}"
        yield vector_for(said, {*flags, "ClaimShape"}, point, [reshaped], "invalid")


def _in_turn(function: Function, here: Point, weighed: Point, there: Point) -> Iterator[Vector]:
    """Put questions after each other that differ in one thing."""
    claims = [doubles_of(gradient(function, point)) for point in (here, weighed, there)]
    near = [mapped(lambda v: v * 1.0001, g) for g in claims[0]]
    odd = [mapped(lambda v: math.nan, g) for g in claims[0]]
    for turn in ("once", "again"):
        for said, point, claim, result, rtol in (
            ("the truth", here, claims[0], "valid", RTOL),
            ("another upstream, the same claim", weighed, claims[0], "invalid", RTOL),
            ("another upstream, its own truth", weighed, claims[1], "valid", RTOL),
            ("other inputs, the same claim", there, claims[1], "invalid", RTOL),
            ("other inputs, their own truth", there, claims[2], "valid", RTOL),
            ("NaN", here, odd, "invalid", RTOL),
            ("the truth, after NaN", here, claims[0], "valid", RTOL),
            ("off by 1e-4, rtol 1e-2", here, near, "valid", 1e-2),
            ("off by 1e-4, rtol 1e-6", here, near, "invalid", RTOL),
        ):
            assert (result == "invalid") == is_wrong(gradient(function, point), claim, rtol)
            yield vector_for(f"{turn}: {said}", {"InTurn"}, point, claim, result, rtol)


def one_changed(claim: Claim, k: int, place: int, value: float) -> Claim:
    """Put another value into one entry of a claim."""
    entries = flat(claim[k])
    entries[place] = value
    return replaced(claim, k, arranged(entries, shape(claim[k])))


def replaced(claim: Claim, k: int, g: Nested) -> Claim:
    """Put another gradient into a claim."""
    return [*claim[:k], g, *claim[k + 1 :]]


def _size(claim: Claim) -> int:
    return sum(len(flat(g)) for g in claim if g is not None)


def _assert_right(truth: Claim, claim: Claim, rtol: float = RTOL) -> None:
    for g, c in zip(truth, claim, strict=True):
        if g is not None:
            for t, v in zip(flat(g), flat(c), strict=True):
                assert abs(Fraction(v) - Fraction(t)) <= Fraction(rtol) / 10 * abs(Fraction(t))


def is_wrong(truth: Claim, claim: Claim, rtol: float) -> bool:
    """Whether a claim is wrong by more than ten times the tolerance somewhere."""
    pairs = [(t, c) for t, c in zip(truth, claim, strict=True) if t is not None]
    return any(_really_wrong(t, c, rtol) for t, c in pairs)


def _really_wrong(truth: Nested, claim: Nested, rtol: float = RTOL) -> bool:
    """Whether some entry is off by more than ten times the tolerance of the largest."""
    pairs = list(zip(map(Fraction, flat(truth)), flat(claim), strict=True))
    largest = max(abs(t) for t, _ in pairs)
    return any(
        not finite(v) or abs(Fraction(v) - t) > 10 * Fraction(rtol) * largest for t, v in pairs
    )


def _scaled(factor: float) -> Callable[..., Nested]:
    return lambda g, *_: mapped(lambda v: factor * v, g)


def _largest_changed(change: Callable[[float], float]) -> Callable[..., Nested]:
    def mistake(g: Nested, *_: Any) -> Nested:
        largest = max(map(abs, flat(g)))
        found = iter([abs(v) == largest for v in flat(g)])
        return mapped(lambda v: change(v) if next(found) else v, g)

    return mistake


def _upstream_forgotten(_: Nested, function: Function, point: Point, k: int) -> Nested:
    ones = Point(point.inputs, mapped(lambda u: 1.0, point.upstream))
    return mapped(lambda v: rounded(Fraction(v)), gradient(function, ones)[k])


def _reversed(g: Nested, *_: Any) -> Nested:
    return arranged(flat(g)[::-1], shape(g))


def _transposed(g: Nested, *_: Any) -> Nested:
    square = isinstance(g, list) and all(isinstance(r, list) and len(r) == len(g) for r in g)
    return [list(column) for column in zip(*g, strict=True)] if square else None


GROSS, SMALL, ONE, ODD = ("GrossError",), ("SmallError",), ("OneEntry",), ("NonfiniteClaim",)
MISTAKES: dict[str, tuple[tuple[str, ...], Callable[..., Nested]]] = {
    "the sign is wrong": (GROSS, _scaled(-1.0)),
    "one entry off by 1 in 1000": ((*SMALL, *ONE), _largest_changed(lambda v: v * 1.001)),
    "twice the truth": (GROSS, _scaled(2.0)),
    "all off by 1 in 10 000": (SMALL, _scaled(1.0001)),
    "the upstream gradient forgotten": (GROSS, _upstream_forgotten),
    "one entry zero": (ONE, _largest_changed(lambda v: 0.0)),
    "NaN in one entry": ((*ODD, *ONE), _largest_changed(lambda v: math.nan)),
    "half the truth": (GROSS, _scaled(0.5)),
    "all off by 2 in 100 000": (SMALL, _scaled(1.00002)),
    "entries reversed": (GROSS, _reversed),
    "all zero": (GROSS, _scaled(0.0)),
    "one sign wrong": (ONE, _largest_changed(lambda v: -v)),
    "transposed": (GROSS, _transposed),
    "one entry off by 2 in 100 000": ((*SMALL, *ONE), _largest_changed(lambda v: v * 1.00002)),
    "infinity in one entry": ((*ODD, *ONE), _largest_changed(lambda v: math.inf)),
}


# --- at a kink -------------------------------------------------------------------------------


def _at_a_kink(
    function: Function, point: Point, _: Iterator[int]
) -> Iterator[tuple[str, set[str], Claim, str]]:
    """Claim both slopes, slopes between them, and slopes outside."""
    left, right = (gradient(function, point, moved=side)[0] for side in (-SIDE, SIDE))
    low, high = ([rounded(Fraction(v)) for v in side] for side in (left, right))
    at = next(i for i, (a, b) in enumerate(zip(low, high, strict=True)) if a != b)
    gap = high[at] - low[at]

    def with_slope(part: float) -> list[float]:
        return [low[at] + part * gap if i == at else v for i, v in enumerate(high)]

    ambiguous = {"KinkAtInput"}
    for said, part in (("left", 0.0), ("right", 1.0), ("mean", 0.5)):
        yield f"the {said} slope", ambiguous, [with_slope(part)], "acceptable"
    yield "a quarter of the way", ambiguous, [with_slope(0.25)], "acceptable"
    wrong = {"BeyondTheKink"}
    yield "half beyond the right slope", wrong, [with_slope(1.5)], "invalid"
    yield "half beyond the left slope", wrong, [with_slope(-0.5)], "invalid"
    if len(low) > 1:
        away = with_slope(1.0)
        away[at - 1] += 0.5
        yield "the entry away from the kink is wrong", wrong, [away], "invalid"
