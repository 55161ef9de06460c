"""Verdict vectors: a named function, a point and a claimed gradient in, pass or fail out.

Right claims are within a tenth of the tolerance in every entry. Wrong ones are off in some entry by
more than ten times the tolerance of the largest true entry of the same input's gradient, or are not
finite there. No claim lies between.
"""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

from .dual import Dual
from .functions import Function, Nested, Point, named
from .layout import Vector, arranged, flat, mapped, shape
from .numbers import UndecidedError, finite, rounded, text, texts

SIDE = Fraction(1, 10**40)
Claim = list[Any]  # one nested list for each input, None for an integer one


def asked(test: Vector) -> tuple[Function, Point, Claim]:
    """Read the function, the point and the claim of a question."""
    inputs = tuple(x if _is_constant(x) else mapped(float, x) for x in test["inputs"])
    point = Point(inputs, mapped(float, test["upstream"]))
    claim = [None if c is None else mapped(float, c) for c in test["claimed"]]
    return named(test["function"]), point, claim


def answered(test: Vector) -> Vector:
    """Answer a question of a file again."""
    function, point, claim = asked(test)
    rtol, flags = float(test["rtol"]), set(test["flags"])
    if flags.isdisjoint(("KinkAtInput", "BeyondTheKink")):
        result = "valid" if is_right(gradient(function, point), claim, rtol) else "invalid"
    else:
        result = "acceptable" if _between_sides(function, point, claim) else "invalid"
    return vector_for(test["description"], flags, point, claim, result, rtol)


def _between_sides(function: Function, point: Point, claim: Claim) -> bool:
    """Whether a claim lies between the slopes on the two sides of a kink, in every entry."""
    left, right = (flat(gradient(function, point, moved=side)[0]) for side in (-SIDE, SIDE))
    entries = zip(map(Fraction, left), map(Fraction, right), flat(claim[0]), strict=True)
    return all(min(a, b) <= Fraction(v) <= max(a, b) for a, b, v in entries)


def vector_for(
    said: str, flags: set[str], point: Point, claim: Claim, result: str, rtol: float
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


def _seeded(x: Nested, places: Iterator[int], number: type, moved: Fraction) -> Nested:
    def seed(value: float) -> Dual:
        here = Fraction(value) + moved
        plain = here if number is Fraction else Decimal(here.numerator) / Decimal(here.denominator)
        return Dual(plain, {next(places): number(1)})

    return mapped(seed, x)


# --- claims ----------------------------------------------------------------------------------


def doubles_of(truth: Claim) -> Claim:
    """Round the true gradients."""
    return [None if g is None else mapped(lambda v: rounded(Fraction(v)), g) for g in truth]


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


def one_changed(claim: Claim, k: int, place: int, value: float) -> Claim:
    """Put another value into one entry of a claim."""
    entries = flat(claim[k])
    entries[place] = value
    return replaced(claim, k, arranged(entries, shape(claim[k])))


def replaced(claim: Claim, k: int, g: Nested) -> Claim:
    """Put another gradient into a claim."""
    return [*claim[:k], g, *claim[k + 1 :]]


def is_right(truth: Claim, claim: Claim, rtol: float) -> bool:
    """Whether a claim is right; if it is neither right nor wrong, the question is a bad one."""
    if any(shape(c) != shape(t) for t, c in zip(truth, claim, strict=True) if t is not None):
        return False
    if is_wrong(truth, claim, rtol):
        return False
    pairs = [(t, v) for t, v in zip(flat(truth), flat(claim), strict=True) if t is not None]
    for t, v in ((Fraction(t), Fraction(v)) for t, v in pairs):
        if abs(v - t) > Fraction(rtol) / 10 * abs(t):
            raise UndecidedError("neither right nor wrong")
    return True


def is_wrong(truth: Claim, claim: Claim, rtol: float) -> bool:
    """Whether some entry is off by more than ten times the tolerance of its input's largest."""
    for g, c in zip(truth, claim, strict=True):
        if g is not None:
            entries = list(map(Fraction, flat(g)))
            most = 10 * Fraction(rtol) * max(map(abs, entries))
            pairs = zip(entries, flat(c), strict=True)
            if any(not finite(v) or abs(Fraction(v) - t) > most for t, v in pairs):
                return True
    return False
