"""Random vectors, by the rules of the frozen ones.

A program may answer the frozen vectors from a table, or have a mistake that none of them shows. So
more are drawn, near the edges, because most mistakes show only there. Two of three are frozen
vectors in other units, so that every trap has its turn. A question that exact arithmetic cannot
decide for doubles is left out. The same seed draws the same vectors.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial, reduce
from operator import itemgetter
from random import Random
from typing import Any

from . import compare, escalate, stencil, verdict, whole
from .compare import SUM_RULES, Row
from .functions import FUNCTIONS, Function, Point
from .layout import Vector, arranged, flat, mapped
from .numbers import UndecidedError, finite, rounded, with_all_digits
from .rules import RULES, Rule
from .units import frozen, in_other_units, with_every_trap

NEW_IN = 3  # of so many vectors one is new; the rare traps are in the others
MOST_TRIES = 200  # for one vector; if all fail, there is a mistake in this module

# Claims for a true value of 1 with one and a half times the allowed error, if rtol is 1/4.
FAR = {
    **dict.fromkeys(("cs231n-max", "ceres"), 1.625),
    **dict.fromkeys(("cs231n-sum", "cs231n-unguarded", "hips"), 2.25),
}


def enough(groups: Sequence[str]) -> int:
    """Return how many vectors have one of every group for certain."""
    return NEW_IN * (len(groups) - 1) + 1


@with_all_digits
def draw(groups: Iterable[str], count: int, seed: int) -> list[tuple[str, Vector]]:
    """Draw vectors of some groups: one in three is new, the others are frozen ones in other units.

    New ones come from the groups in turn; those in other units have every flag of every group
    before any comes again.

    Parameters
    ----------
    groups : iterable of str
        Names of groups, ``"compare/torch"``; groups without random vectors are left out.
    count : int
        How many vectors.
    seed : int
        The same seed draws the same vectors.

    Returns
    -------
    list of (str, dict)
        The kind, and the vector as in a file, with the shared keys of its group.
    """
    chance, known = Random(seed), drawable()
    names = [name for name in groups if name in known]
    frozen, found = with_every_trap(names, chance), []
    for k in range(count if names else 0):
        if k % NEW_IN:
            vector = _decided(partial(_moved, frozen), chance)
        else:
            name = names[k // NEW_IN % len(names)]
            shared, make = known[name]
            vector = {"group": name, **shared, **_decided(make, chance)}
        kind = vector["group"].split("/")[0]
        found.append((kind, {**vector, "id": f"{kind}-random-{seed}-{k + 1}"}))
    return found


def _moved(frozen: Iterator[Vector], chance: Random) -> Vector:
    return in_other_units(next(frozen), chance)


def drawable() -> dict[str, tuple[Vector, Callable[[Random], Vector]]]:
    """Return, for each group with random vectors, the shared keys, and a function that draws."""
    found: dict[str, tuple[Vector, Callable[[Random], Vector]]] = {}
    for formula in stencil.FORMULAS:
        step = "nominal" if formula.nominal else "taken"
        shared = {"formula": formula.name, "step": step}
        found[formula.group] = (shared, partial(_stencil, formula=formula))
    found["stencil/central-upstream"] = ({"formula": "central", "step": "taken"}, _weighted)
    for rule in RULES:
        found[rule.group] = ({"rule": rule.name}, partial(_compare, rule=rule))
    for step in ("taken", "nominal"):
        found[f"escalate/{step}"] = ({"step": step}, partial(_walk, step=step))
    found["whole/products"] = ({}, _whole)
    for function in FUNCTIONS:
        if function.points:
            name = f"verdict/{function.name}"
            shared = {"function": function.name}
            found[name] = (shared, partial(_verdict, function=function))
    return found


def _decided(make: Callable[[Random], Vector], chance: Random) -> Vector:
    for _ in range(MOST_TRIES):
        try:
            drawn = make(chance)
        except UndecidedError:
            continue
        if drawn["result"] != "acceptable":
            return {**drawn, "flags": sorted(drawn["flags"])}
    raise AssertionError("nothing that can be decided is ever drawn")


# --- numbers -------------------------------------------------------------------------------------


def _binary(chance: Random, most: int = 6) -> float:
    """Draw a number with few binary digits: sums and products of such numbers are exact."""
    return chance.randint(1, 31) * 2.0 ** chance.randint(-most, most) * chance.choice((1, -1))


def _number(chance: Random) -> float:
    """Draw any number."""
    kind, sign = chance.random(), chance.choice((1, -1))
    if kind < 0.6:
        return _binary(chance)
    if kind < 0.65:  # whole, and its square is beyond 64 bits
        return sign * float(chance.randint(5 * 10**9, 10**15))
    return sign * chance.uniform(1, 10) * 10.0 ** chance.randint(-6, 6)


def _tolerance(chance: Random, usual: float) -> float:
    binary = chance.choice((0.5, 0.25, 0.125, 0.75, 3.0, 16.0, 300.0, 2.0**-10, 2.0**-20))
    return chance.choice((0.0, usual, binary, binary, chance.uniform(0, 1)))


def _near_one(chance: Random) -> float:
    """Draw a number near 1, mostly very near: on an edge or next to it."""
    beside = chance.choice((1, -1)) * 2.0 ** -chance.randint(1, 45)
    return chance.choice((0.0, 0.5, 1.0, 1.0, 1.0, 1.0 + beside, 1.0 + beside, 1.5, 2.0))


# --- the kinds -----------------------------------------------------------------------------------


def _compare(chance: Random, rule: Rule) -> Vector:
    if chance.random() < 0.12:
        return _odd_comparison(chance, rule)
    count = chance.choice((1, 1, 2, 2, 3, 4, 5, 6, 16, 17, 130, 300))
    rtol, atol = _tolerance(chance, rule.rtol), _tolerance(chance, rule.atol)
    if rule.name == "jax":  # which takes 1e-7 for an rtol of 0, as NumPy's tests do
        rtol = rtol or rule.rtol
    floors = (0.0, 1e-8, 0.5, 1.0, 8.0, 1e305, 2.0**-70)
    floor = None if rule.floor is None else chance.choice(floors)
    left_out = rule.floor is not None and chance.random() < 0.25
    floor = 0.0 if left_out else floor
    scale = 2.0 ** chance.choice((*(0,) * 12, -665, 665))
    numeric = [_number(chance) * scale for _ in range(count)]
    atol, floor = atol * scale, floor and floor * scale
    if chance.random() < 0.3:
        numeric[chance.randrange(count)] = 0.0
    times = count if rule.name == "jax" else 1
    norm = math.sqrt(sum(v * v for v in numeric))
    analytic = list(numeric)
    several = chance.sample(range(count), min(count, 4))
    off = chance.choice((several[:1], several, range(count)))
    together = _near_one(chance)
    for k in off:
        y, near = numeric[k], _near_one(chance)
        if rule.name in SUM_RULES:
            allowed = times * (atol + rtol * abs(y))
        elif rule.name in ("tvm", "scipy"):
            whole = atol * math.sqrt(count) + rtol * norm if rule.name == "tvm" else atol
            allowed, near = whole / math.sqrt(len(off)), together
        else:
            allowed = max(atol, rtol * abs(y) * FAR[rule.name], rtol * (floor or 0.0))
        analytic[k] = y + chance.choice((1, -1)) * allowed * near
    if chance.random() < 0.3:  # in one gradient or in both
        at, odd = chance.randrange(count), chance.choice((math.nan, math.inf, math.inf, -math.inf))
        sides = chance.choice(((analytic,), (numeric,), (analytic, numeric)))
        for side in sides:
            side[at] = odd
        if chance.random() < 0.5:  # and so little else that it decides
            for k in range(count):
                analytic[k] = analytic[k] if k == at else numeric[k]
        if sides == (analytic,) and chance.random() < 0.4 and rule.name in SUM_RULES:
            numeric[at], rtol = 1e308, 16.0  # the allowed error is infinite, too
    elif chance.random() < 0.1:
        odd = chance.choice((0.0, -0.0, 3e-310, -1e-310))
        chance.choice((analytic, numeric))[chance.randrange(count)] = odd
    shape = _shape(chance, count)
    other = _shape(chance, count) if chance.random() < 0.05 else shape
    a, n = arranged(analytic, shape), arranged(numeric, other)
    return compare.vector_for(rule, Row("drawn", a, n, (), rtol, atol, floor, left_out))


def _odd_comparison(chance: Random, rule: Rule) -> Vector:
    """Draw a bad tolerance, no entries, or tolerances of 0 and the smallest error there is."""
    odd = chance.choice((math.nan, math.inf, -0.5))
    given = chance.choice(((0.25, 0.5), (0.0, 0.0), (16.0, 1e300)))
    entries = chance.choice(([], [1.5], [2.0, -0.5]))
    if rule.name == "reference" and chance.random() < 0.6:
        given = chance.choice(((odd, 0.5), (0.5, odd)))
        return compare.vector_for(rule, Row("drawn", entries, entries, ("BadArgument",), *given))
    if rule.name != "ceres" and chance.random() < 0.4:  # which does not say what it does then
        floor = 1e305 if rule.floor is not None else None
        return compare.vector_for(rule, Row("drawn", [], [], ("NothingCompared",), *given, floor))
    tiny = chance.choice((5e-324, -5e-324, 1e-323))
    sides = chance.choice((([1.0, tiny], [1.0, 0.0]), ([0.0], [tiny]), ([tiny, -2.0], [0.0, -2.0])))
    if rule.name in ("tvm", "scipy") or (rule.name == "jax" and any(sides[1])):
        raise UndecidedError("its square vanishes, or JAX takes another rtol")
    return compare.vector_for(rule, Row("drawn", *sides, ("Subnormal",), 0.0, 0.0, 0.0))


def _shape(chance: Random, count: int) -> tuple[int, ...]:
    """Draw a shape for this many entries: mostly a row, or a number, a matrix, or more."""
    shapes = [(1, count), (count, 1), (count, 1, 1), *([()] * 3 if count == 1 else [])]
    shapes += [(2, count // 2), (count // 2, 1, 2)] if count % 2 == 0 else []
    shapes += [(1, count, 1, 1), (1, 2, count // 2, 1)] if count % 2 == 0 else []
    shapes += [(2, 2, 1, count // 4), (2, count // 4, 2, 1)] * 2 if count % 4 == 0 else []
    return chance.choice([(count,), (count,), (count,), *shapes])


def _polynomial(chance: Random) -> Callable[[Any], Any]:
    weights = [Fraction(chance.randint(-8, 8), chance.choice((1, 2, 4, 5))) for _ in range(5)]
    return lambda x: reduce(lambda value, w: value * x + w, reversed(weights))


def _beside(x: float, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Move a function beside x, and to 0 there."""
    return stencil.around(x, lambda v: f(v) - f(Fraction(0)))


def _place(chance: Random) -> tuple[float, float]:
    """Draw x and h: simple, ordinary, or so large that the step is rounded."""
    friendly = (chance.randint(-24, 24) / 8, 2.0 ** -chance.randint(1, 6))
    daily = (round(chance.uniform(-3, 3), 2), 10.0 ** -chance.randint(2, 5))
    far = (chance.uniform(1e6, 1e8), 10.0 ** -chance.randint(4, 7))
    size = 10.0 ** chance.randint(10, 50)
    huge = (chance.uniform(-9, 9) * size, size * 10.0 ** -chance.randint(2, 6))
    return chance.choice((friendly, daily, daily, far, huge))


@cache
def _refused(group: str) -> list[Vector]:
    """Return the frozen questions of a group that must be refused, without its keys."""
    asked = [v for v in frozen(group.split("/")[0]) if v["group"] == group and v.get("refused")]
    shared = ("group", "formula", "step", "source")
    return [{key: value for key, value in v.items() if key not in shared} for v in asked]


def _stencil(chance: Random, formula: stencil.Formula) -> Vector:
    x, h = _place(chance)
    f = _polynomial(chance)
    if chance.random() < 0.5:  # samples as small as the step: no sum of them hides a distance
        f = _beside(x, f)
    row = stencil.Row("drawn", f, x, h)
    if not formula.nominal and chance.random() < 0.12:
        return chance.choice(_refused("stencil/forward"))
    if x + h == x or x - h == x:
        raise UndecidedError("the step vanishes on one side or on both")
    if chance.random() < 0.15:
        edge = x + chance.choice((-1.5, -0.5, 0.5, 1.5)) * h
        outside = chance.choice((math.nan, math.inf))
        row = stencil.Row("drawn", stencil.only_where(lambda v: v < edge, row.f, outside), x, h)
        return stencil.nonfinite_vector(formula, row)
    return stencil.vector_for(formula, row)


def _weighted(chance: Random) -> Vector:
    x, h = _place(chance)
    if chance.random() < 0.1:
        usual = len(_refused("stencil/forward"))
        return chance.choice(_refused("stencil/central-upstream")[:usual])
    if x + h == x or x - h == x:
        raise UndecidedError("the step vanishes on one side or on both")
    shape = _shape(chance, chance.choice((1, 2, 3, 4, 6, 8, 16, 17, 100)))
    fs = tuple(_polynomial(chance) for _ in range(math.prod(shape)))
    if chance.random() < 0.7:  # small samples: their rounding hides no step
        fs = tuple(_beside(x, f) for f in fs)
    times = chance.choice((1.0, 1.0, 1.0, *stencil.EXTREMES))
    upstream = [chance.choice((0.0, _binary(chance, 2), _binary(chance, 2))) * times for _ in fs]
    at, kind = chance.randrange(len(fs)), chance.random()
    flags: tuple[str, ...] = ("ExtremeUpstream",) if times != 1 else ()
    if kind < 0.12:
        upstream[at], flags = chance.choice((math.nan, math.inf, -math.inf)), ("NonfiniteUpstream",)
    elif kind < 0.3:  # NaN or an infinity on one side, or on both
        beyond, odd = chance.choice((-1, 1)), chance.choice((math.nan, math.inf, -math.inf))
        inside = chance.choice((lambda v: (v - x) * beyond <= 0, lambda v: v == x))
        fs = (*fs[:at], stencil.only_where(inside, fs[at], odd), *fs[at + 1 :])
    return stencil.weighted_vector(
        stencil.Weighted("drawn", fs, tuple(upstream), x, h, shape, flags)
    )


def _walk(chance: Random, step: str) -> Vector:
    x, h = _place(chance)
    nominal = step == "nominal"
    if not nominal and chance.random() < 0.15:
        return chance.choice(_refused("escalate/taken"))
    if len({x + k * h for k in escalate.OFFSETS}) < len(escalate.OFFSETS):
        raise UndecidedError("half the step vanishes")
    f, times = _polynomial(chance), chance.choice((1, 1, 1, 1, Fraction(1, 2**100), 2**700))
    row = stencil.Row("drawn", lambda v: f(v) * times, x, h)
    rtol, atol = _tolerance(chance, 0.1), _tolerance(chance, 0.01)
    slopes = escalate.slopes_of(row, nominal=nominal)
    if not all(map(finite, slopes)):
        raise UndecidedError("a sample overflows")
    slope = rounded(chance.choice(slopes))
    off = (atol + rtol * abs(slope)) * chance.choice((_near_one(chance), 5.0, 50.0))
    claim = slope + chance.choice((1, -1)) * off
    if chance.random() < 0.08:
        claim = chance.choice((math.nan, math.inf, -math.inf))
    if chance.random() < 0.4:  # TVM's central slope uses the middle sample, so the answer is open
        k = chance.choice([k for k in (*escalate.OFFSETS, 0.0, 0.0) if k or not nominal])
        odd = chance.choice((math.nan, math.nan, math.inf, -math.inf))
        row = escalate.with_odd(row, k, odd, "drawn")
    return escalate.vector_for(row, claim, rtol, atol, nominal=nominal)


def _whole(chance: Random) -> Vector:
    """Draw a straight f or a cubic, with noise or without, in any units."""
    row = whole.straight_or_cubic(
        f"drawn {chance.random()}",
        chance.choice((1.0, 2.0, -1.0, 1.0625, 1.0 + 2.0 ** -chance.randint(5, 20))),
        chance.choice((2, 2, 3, 5, 8, 20, 130)),
        curve=chance.choice((0.0, 0.125, 0.5)),
        noise=chance.choice((0.0, 0.125, 0.5)),
        scale=chance.choice((*whole.FAR, *[10.0 ** chance.randint(-30, 30)] * 8)),
        steps=chance.choice(((0.25, 0.0625), (1e-3, 1e-2), (0.5, 0.125))),
    )
    if len(row.lines) > 2 and chance.random() < 0.2:
        row = whole.one_claim_is_zero(row.said, row, chance.randrange(len(row.lines)))
    return whole.vector_for(row)


# Of frozen questions with these flags, the points are drawn, too; if several fit, the last counts.
SPECIAL = ("OneNumber", "GivenUpstream", "Elsewhere", "FourAxes")


@cache
def _frozen_points() -> dict[str, list[Point]]:
    """Return the points of frozen questions at unusual places, by the name of the function."""
    places = []
    for test in frozen("verdict"):
        function, point, _ = verdict.asked(test)
        kinds = [k for k, flag in enumerate(SPECIAL) if flag in test["flags"]]
        # Where an input is 0, a slope may be 0 that is not told from one of 1e-30.
        if kinds and 0.0 not in flat(point.inputs[0]):
            places.append((kinds[-1], function.name, point))
    found: dict[str, list[Point]] = {function.name: [] for function in FUNCTIONS}
    for _, name, point in sorted(places, key=itemgetter(0)):
        if point not in found[name]:
            found[name].append(point)
    return found


UNEVEN = ("matmul", "product", "division")
FACTORS = (1e-6, 1e-6, 1e-5, 1e-4, 1e-3)


def _verdict(chance: Random, function: Function) -> Vector:
    point = chance.choice((*function.points, *_frozen_points()[function.name]))

    def moved(value: Any) -> Any:
        return (
            value if isinstance(value, int) else float(f"{value * chance.uniform(0.85, 1.15):.4g}")
        )

    first, *rest = (mapped(moved, x) for x in point.inputs)
    if function.name in UNEVEN:  # so that the gradients of two inputs differ in size
        times = chance.choice((1, 0.001, 1000))
        first = mapped(lambda v: v * times, first)

    times = chance.choice((1.0, 1.0, 1.0, 1.0, *stencil.EXTREMES))

    def weight(u: float) -> float:
        # 0 for one output leaves nothing to check; 0 beside 1e-30 may be what rounding leaves.
        several = len(flat(point.upstream)) > 1 and times >= 1
        factors = (1.0, -1.0, 2.5, round(chance.uniform(0.2, 3), 3), 0.0 if several else 0.5)
        return u * chance.choice(factors) * times

    point = Point((first, *rest), mapped(weight, point.upstream))
    truth = verdict.gradient(function, point)
    doubles = verdict.doubles_of(truth)
    rtol = chance.choice(FACTORS)
    if chance.random() < 0.5:
        near = 1 + chance.choice((0.0, 0.05, -0.05, 0.099, -0.099)) * rtol
        claim = [None if g is None else mapped(lambda v: v * near, g) for g in doubles]
        return verdict.vector_for("drawn", {"RoundedClaim"}, point, claim, "valid", rtol)
    k = chance.choice([k for k, g in enumerate(doubles) if g is not None])
    entries, kind = flat(doubles[k]), chance.random()
    if kind < 0.15:
        claim = verdict.replaced(doubles, k, chance.choice(list(verdict.misshapen(doubles[k])))[1])
        return verdict.vector_for("drawn", {"ClaimShape"}, point, claim, "invalid", rtol)
    if kind < 0.3:  # where the true value is 0, if anywhere
        at = min(range(len(entries)), key=lambda i: (entries[i] != 0, chance.random()))
        odd = chance.choice((math.nan, math.inf, -math.inf))
        claim = verdict.one_changed(doubles, k, at, odd)
        return verdict.vector_for("drawn", {"NonfiniteClaim"}, point, claim, "invalid", rtol)
    if kind < 0.5:
        factors = (1, 1, -1, 0) if times >= 1 else (1, 1, -1)
        other = mapped(lambda u: u * chance.choice(factors), point.upstream)
        claim = verdict.doubles_of(verdict.gradient(function, Point(point.inputs, other)))
        if not verdict.is_wrong(truth, claim, rtol):
            raise UndecidedError("the upstream gradient is the same")
        return verdict.vector_for("drawn", {"GivenUpstream"}, point, claim, "invalid", rtol)
    at = chance.randrange(len(entries))
    largest = max(map(abs, entries))
    off = chance.choice((10.5, 12.0, 30.0, 1000.0)) * rtol * largest * chance.choice((1, -1))
    claim = verdict.one_changed(doubles, k, at, entries[at] + off)
    if not largest or not verdict.is_wrong(truth, claim, rtol):
        raise UndecidedError("neither right nor wrong")
    return verdict.vector_for("drawn", {"OneEntry"}, point, claim, "invalid", rtol)
