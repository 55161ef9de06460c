"""Rows on either side of every edge of every comparison rule.

A mistake in a rule shows at an edge: where the error equals the allowed one, where one entry of
many is wrong, where the size of another entry is used. One row is inside the edge, another outside,
and a rule with a mistake gets one of them wrong (the page *Coverage* counts them).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from .layout import arranged
from .rules import Rule


@dataclass(frozen=True)
class Row:
    """Two gradients, as nested lists of doubles; None for the rule's usual tolerances."""

    said: str
    analytic: object
    numeric: object
    flags: tuple[str, ...] = ()
    rtol: float | None = None
    atol: float | None = None
    floor: float | None = None
    without_floor: bool = False  # it is left out, which is a floor of 0


@dataclass(frozen=True)
class Edge:
    """Claims for a true value of 1, if rtol is 1/4 and atol 0.

    ``far`` has one and a half times the allowed error, so that the root mean square of four entries
    hides it; ``close`` has nearly all of it, ``near`` half of it or less.
    """

    far: float
    close: float
    near: float


ULP = 2.0**-52
# The smallest definite difference if a root or a sum of squares rounds: above 2^-40, below 1e-12.
SOME = 2.0**-41 + 2.0**-45
QUARTER = 0.25
SUMS = NORM = Edge(far=1.375, close=1.1875, near=1.125)
LARGER = Edge(far=1.625, close=1.3125, near=1.125)
SIZES = Edge(far=2.25, close=1.625, near=1.25)
EDGES = {
    **dict.fromkeys(("reference", "numpy", "torch", "warp", "jax"), SUMS),
    **dict.fromkeys(("cs231n-max", "ceres"), LARGER),
    **dict.fromkeys(("cs231n-sum", "cs231n-unguarded", "hips"), SIZES),
    **dict.fromkeys(("tvm", "scipy"), NORM),
}
SUM_RULES = ("reference", "numpy", "torch", "warp", "jax")
BY_ENTRY = (*SUM_RULES, "cs231n-max", "cs231n-sum", "cs231n-unguarded", "hips", "ceres")
MANY = 17  # more than a screen shows, and more than an unrolled loop handles
LARGE = 128  # more than a sample tests, or one register holds
PLENTY = 289  # more than a byte counts; its root is a whole number

# Pairs of shapes that fit if one of them is repeated or reshaped.
MISFITS = (
    ((), (1,)), ((), (3,)), ((1,), (3,)), ((3,), (2,)), ((2,), (1, 2)), ((2,), (2, 1)),
    ((2, 1), (2,)), ((1, 2), (2, 1)), ((3,), (2, 3)), ((1, 3), (2, 3)), ((2, 3), (1, 3)),
    ((4,), (2, 2)), ((2, 2), (4,)), ((2, 2), (2, 1, 2)),
)  # fmt: skip
INF, NAN, TINY = math.inf, math.nan, 5e-324
EVERY, SCALE, TWIN = ("EveryEntry",), ("OwnScale",), ("Twin",)
GIVEN, NUMBER, SUBNORMAL = ("GivenTolerance",), ("OneNumber",), ("Subnormal",)
FAR, WHOLE = ("ExtremeScale",), ("WholeNumbers",)


def edge_rows(rule: Rule) -> Iterator[Row]:
    """Yield the rows of one rule."""
    if rule.name in BY_ENTRY:
        yield from _every_entry(rule)
        yield from _own_scale(rule)
    if rule.name in SUM_RULES:
        yield from _sums(rule.name)
    yield from _given(rule)
    if rule.name in BY_ENTRY:  # the squares in a norm underflow: several answers would be right
        yield from _subnormals(rule)
    yield from _shapes(rule)
    yield from _infinities(rule)
    yield from ONE_RULE.get(rule.name, ())
    yield from _of_any_size(rule)
    yield from _plenty(rule)
    yield from _deep(rule)
    yield from _four_axes(rule)
    yield from _extreme(rule)
    yield from _in_turn(rule)


def one_off(count: int, at: int, off: float, around: float = 1.0) -> list[float]:
    """List ones, and another number at one place."""
    return [off if k == at else around for k in range(count)]


def _rtol(rule: Rule, count: int) -> float:
    """Allow 1/4 for each entry, although JAX multiplies by their number."""
    return QUARTER / count if rule.name == "jax" else QUARTER


def _every_entry(rule: Rule) -> Iterator[Row]:
    edge = EDGES[rule.name]

    def row(said: str, analytic: list[float]) -> Row:
        count = len(analytic)
        return Row(said, analytic, [1.0] * count, EVERY, _rtol(rule, count), 0.0, 0.0)

    for at, name in enumerate(("first", "second", "third", "fourth")):
        yield row(f"the {name} of four is beyond, three are equal", one_off(4, at, edge.far))
    yield row("one of two is beyond", one_off(2, 1, edge.far))
    yield row("two of four are beyond", [edge.far, 1.0, 1.0, edge.far])
    yield row("all of four are within", [edge.near] * 4)
    yield row("all of four are beyond", [edge.far] * 4)
    yield row("the third of four is beyond, the others within", one_off(4, 2, edge.far, edge.near))
    for at in (0, 7, 12, 13, MANY - 1):
        yield row(f"entry {at} of {MANY} is beyond", one_off(MANY, at, edge.far))
    yield row(f"all of {MANY} are within", [edge.near] * MANY)
    yield row(f"entry 100 of {LARGE} is beyond", one_off(LARGE, 100, edge.far))
    for i, j in ((2, 3), (0, 1)):
        matrix = [[edge.far if (r, c) == (i, j) else 1.0 for c in range(4)] for r in range(3)]
        ones = [[1.0] * 4] * 3
        said = f"entry [{i}, {j}] of a 3 by 4 matrix is beyond"
        yield Row(said, matrix, ones, EVERY, _rtol(rule, 12), 0.0, 0.0)
    within = [[edge.near] * 4] * 3
    yield Row("all of a 3 by 4 matrix are within", within, [[1.0] * 4] * 3, EVERY, _rtol(rule, 12),
        0.0, 0.0)  # fmt: skip
    yield Row("one number, within", edge.near, 1.0, NUMBER, QUARTER, 0.0, 0.0)
    yield Row("one number, beyond", edge.far, 1.0, NUMBER, QUARTER, 0.0, 0.0)
    yield row("NaN is one of four, the others are equal", [1.0, NAN, 1.0, 1.0])


def _own_scale(rule: Rule) -> Iterator[Row]:
    edge, r = EDGES[rule.name], _rtol(rule, 2)
    hundred = 100.0 * edge.close
    for said, a, n in (
        ("beyond for 1, beside 100", [100.0, edge.far], [100.0, 1.0]),
        ("beyond for 1, before 100", [edge.far, 100.0], [1.0, 100.0]),
        ("within for 100, beside 1", [hundred, 1.0], [100.0, 1.0]),
        ("within for 100, after 1", [1.0, hundred], [1.0, 100.0]),
        ("within for -100, beside -1", [-hundred, -1.0], [-100.0, -1.0]),
        ("beyond for -1, beside -100", [-100.0, -edge.far], [-100.0, -1.0]),
    ):
        yield Row(said, a, n, SCALE, r, 0.0, 0.0)
    # For rules that test only the worst entry, by its error or by its error over numeric.
    yield Row("beyond for 1, though 100 has the larger error, which is within",
        [100 * edge.near, edge.far], [100.0, 1.0], SCALE, r, 0.0, 0.0)  # fmt: skip
    if rule.name in (*SUM_RULES, "hips"):
        yield Row("beyond for 1, though 2^-10 is off by more of itself, which is within",
            [2.0**-8, 2.0], [2.0**-10, 1.0], SCALE, r, r / 2)  # fmt: skip


def _sums(name: str) -> Iterator[Row]:
    """Ties of a sum of tolerances, with pairs: n is 1, and a whole number of ulps away."""
    for said, tie, rtol, atol in (
        ("atol 1/2", 1.5, 0.0, 0.5),
        ("rtol 1/4", 1.25, 0.25, 0.0),
        ("rtol 1/4 and atol 1/2", 1.75, 0.25, 0.5),
        ("rtol 1/2 and atol 1/8", 1.625, 0.5, 0.125),
    ):
        yield Row(f"tie: 1 with {said}", [tie], [1.0], (), rtol, atol)
        yield Row(f"one ulp within, {said}", [tie - ULP], [1.0], TWIN, rtol, atol)
        if name != "jax" or rtol:  # JAX takes 1e-7 for an rtol of 0, as NumPy's tests do
            yield Row(f"one ulp beyond, {said}", [tie + ULP], [1.0], TWIN, rtol, atol)
    yield Row("tie below: 1 with rtol 1/4 and atol 1/2", [0.25], [1.0], (), 0.25, 0.5)
    yield Row("one ulp beyond, below 1", [0.25 - ULP], [1.0], TWIN, 0.25, 0.5)
    yield Row("within the sum for 1, beyond for 0.5", [1.75, 1.25], [1.0, 0.5], SCALE, 0.25, 0.25)
    # To float32 these entries are 1.5 + 2^-23 and 1.
    yield Row("within, by what float32 cannot tell", [1.5 + 2.0**-24 + 2.0**-26], [1.0], TWIN, 0.0,
              0.5 + 2.0**-24 + 2.0**-25)  # fmt: skip
    said = "inf against 1e308, whose allowance overflows"
    yield Row(said, [INF], [1e308], ("Infinity",), 2.0, 0.0)
    yield Row("atol alone would do, rtol is 0", [1.25], [1.0], GIVEN, 0.0, 0.375)
    yield Row("rtol alone would do, atol is 0", [1.25], [1.0], GIVEN, 0.375, 0.0)


def _given(rule: Rule) -> Iterator[Row]:
    """Wide and narrow tolerances, where the usual ones would decide differently."""
    narrow = 2.0**-40
    edge = EDGES[rule.name]
    if rule.name != "scipy":
        yield Row("rtol 1/2 is wide: within", [edge.near], [1.0], GIVEN, 0.5, 0.0)
        yield Row("rtol 2^-40 is narrow: beyond", [1.0 + 2.0**-30], [1.0], GIVEN, narrow, 0.0)
        yield Row("rtol 2^-40 is narrow, yet within", [1.0 + 2.0**-46], [1.0], GIVEN, narrow, 0.0)
    if rule.name in (*SUM_RULES, "tvm"):
        yield Row("rtol 3 is wider: within", [3.5], [1.0], GIVEN, 3.0, 0.0)
        yield Row("rtol 3 is wider: beyond", [4.5], [1.0], GIVEN, 3.0, 0.0)
    if rule.name in ("tvm", "scipy"):
        yield Row("atol 2^-56 is narrow: beyond", [2.0**-55], [0.0], GIVEN, 0.0, 2.0**-56)
    if rule.name in (*SUM_RULES, "hips", "tvm", "scipy"):
        yield Row("atol 1/2 is wide: within", [0.375], [0.0], GIVEN, 0.0, 0.5)
        yield Row("atol 2^-40 is narrow: beyond", [2.0**-35], [0.0], GIVEN, 0.0, narrow)
        yield Row("atol 2^-40 is narrow, yet within", [2.0**-46], [0.0], GIVEN, 0.0, narrow)
    if rule.name in BY_ENTRY and rule.name not in (*SUM_RULES, "hips"):
        yield Row("atol is not used: beyond", [edge.far], [1.0], GIVEN, QUARTER, 2.0, 0.0)
        yield Row("atol is not used: beyond, no sum", [edge.far], [1.0], GIVEN, QUARTER, 0.25, 0.0)
        yield Row("atol is not used: within", [edge.close], [1.0], GIVEN, QUARTER, 2.0**-10, 0.0)
        yield Row("atol is not used, entry by entry", [1.0, -edge.far], [1.0, -1.0], GIVEN, QUARTER,
            2.0, 0.0)  # fmt: skip
    if rule.name in ("cs231n-max", "cs231n-sum"):
        yield Row("rtol 0 allows nothing", [2.0**-55], [0.0], GIVEN, 0.0, 0.0, 1.0)
        for floor, within in ((0.5, 2.0**-6), (2.0**-20, 2.0**-25), (2.0**-40, 2.0**-45)):
            said = f"floor {floor:.3g}"
            yield Row(f"{said}: within", [within], [0.0], GIVEN, 0.25, 0.0, floor)
            yield Row(f"{said}: beyond", [0.0], [floor / 2], GIVEN, 0.25, 0.0, floor)
            yield Row(f"{said}: a tie", [floor / 4], [0.0], (), 0.25, 0.0, floor)


def _subnormals(rule: Rule) -> Iterator[Row]:
    """Errors and entries that are lost if subnormal numbers are treated as 0."""
    yield Row("normal numbers, a subnormal difference", [2.5e-308], [2.4e-308], SUBNORMAL, 0.0, 0.0,
        0.0)  # fmt: skip
    yield Row("3e-310 against 1e-310", [3e-310], [1e-310], SUBNORMAL, 0.125, 0.0, 0.0)
    yield Row("3e-310 against 1e-310, within", [3e-310], [1e-310], SUBNORMAL, 0.75, 0.0, 0.0)
    yield Row("3e-310 against 0", [3e-310], [0.0], SUBNORMAL, 0.0, 1e-310, 0.0)
    if rule.name in ("hips", *SUM_RULES):
        yield Row("atol 4e-310: within", [3e-310], [1e-310], SUBNORMAL, 0.0, 4e-310, 0.0)


def _shapes(rule: Rule) -> Iterator[Row]:
    shape = ("Shape",)
    yield Row("no entries against one", [], [1.0], shape)
    yield Row("one entry against none", [1.0], [], shape)
    yield Row("no entries against a number", [], 0.0, shape)
    yield Row("a number against no entries", 0.0, [], shape)
    yield Row("a matrix against its first row", [[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0], shape)
    yield Row("2 by 3 against 3 by 2", [[1.0] * 3] * 2, [[1.0] * 2] * 3, shape)
    yield Row("a number against a matrix of one", 1.0, [[1.0]], shape)
    for a, n in MISFITS:
        sizes = [" by ".join(map(str, side)) or "a number" for side in (a, n)]
        claimed, numeric = (arranged([1.0] * math.prod(side), side) for side in (a, n))
        yield Row(f"ones, {' against '.join(sizes)}", claimed, numeric, shape)


def _infinities(rule: Rule) -> Iterator[Row]:
    infinity = ("Infinity",)
    wrong = EDGES[rule.name].far
    yield Row("inf against inf, and another entry is wrong", [INF, wrong], [INF, 1.0], infinity)
    yield Row("-inf against -inf, and another is right", [-INF, 1.0], [-INF, 1.0], infinity)
    yield Row("-inf against inf, and another is right", [-INF, 1.0], [INF, 1.0], infinity)
    yield Row("the second is inf against -1", [1.0, INF], [1.0, -1.0], infinity)
    yield Row("the second is -1 against -inf", [1.0, -1.0], [1.0, -INF], infinity)
    yield Row("NaN against inf", [NAN], [INF], ("NaN", "Infinity"))
    yield Row("NaN against 0", [NAN], [0.0], ("NaN",))
    yield Row("0 against NaN", [0.0], [NAN], ("NaN",))


def _of_any_size(rule: Rule) -> Iterator[Row]:
    """Entries below and far above 1: no error is relative to 1, or to something at least 1."""
    if rule.name == "scipy":
        return
    edge, sizes = EDGES[rule.name], [(0.125, SCALE), (2.0**-20, SCALE), (6e9, WHOLE)]
    sizes += [(2.0**k, FAR) for k in (-330, 330)]
    if rule.name in BY_ENTRY:  # the squares in a norm leave the range of a double
        sizes += [(2.0**k, FAR) for k in (-665, 665)]
    for size, flags in sizes:
        said = f"for {size:.3g}"
        yield Row(f"within {said}", [size * edge.near], [size], flags, QUARTER, 0.0, 0.0)
        yield Row(f"beyond {said}", [size * edge.far], [size], flags, QUARTER, 0.0, 0.0)


def _plenty(rule: Rule) -> Iterator[Row]:
    """More entries than fixed buffers hold; several of them are off, all beyond the first 64."""
    flags, places, ones = ("ManyEntries",), (70, 101, 150, PLENTY - 1), [1.0] * PLENTY
    if rule.name in BY_ENTRY:
        edge, r = EDGES[rule.name], _rtol(rule, PLENTY)
        near = [edge.near if k in places else 1.0 for k in range(PLENTY)]
        yield Row(f"four of {PLENTY} are off, and within", near, ones, flags, r, 0.0, 0.0)
        said = f"four of {PLENTY} are off, the last is beyond"
        yield Row(said, [*near[:-1], edge.far], ones, flags, r, 0.0, 0.0)
        return
    off, root = [2.0 if k in places else 1.0 for k in range(PLENTY)], math.sqrt(PLENTY)
    for allowed in (1.9375, 2.0625):  # the 2-norm is 2
        said = f"four of {PLENTY} are off by 1, allowed are {allowed}"
        if rule.name == "scipy":
            yield Row(said, off, ones, flags, None, allowed)
        else:
            yield Row(f"{said}, by atol", off, ones, flags, 0.0, allowed / root)
            yield Row(f"{said}, by rtol", off, ones, flags, allowed / root, 0.0)


def _deep(rule: Rule) -> Iterator[Row]:
    """Arrays of three dimensions, and one with several rows: every entry counts, at its place."""
    edge, tolerance = EDGES[rule.name], {"scipy": (0.0, 0.25), "jax": (QUARTER / 8, 0.0)}
    given = tolerance.get(rule.name, (QUARTER, 0.0))
    far = 2.0 if rule.name in ("tvm", "scipy") else edge.far
    deep, shape = arranged([1.0] * 8, (2, 2, 2)), ("Shape",)
    for at in (0, 3, 7):
        entries = arranged((far if k == at else 1.0 for k in range(8)), (2, 2, 2))
        yield Row(f"entry {at} of 2 by 2 by 2 is beyond", entries, deep, EVERY, *given, 0.0)
    yield Row("2 by 2 by 2 against 4 by 2", deep, [[1.0] * 2] * 4, shape)
    yield Row("2 by 2 by 2 against 2 by 4", deep, [[1.0] * 4] * 2, shape)
    yield Row("2 by 1 by 2 against 2 by 2", arranged([1.0] * 4, (2, 1, 2)), [[1.0] * 2] * 2, shape)


def _four_axes(rule: Rule) -> Iterator[Row]:
    edge, tolerance = EDGES[rule.name], {"scipy": (0.0, 0.25), "jax": (QUARTER / 16, 0.0)}
    given = tolerance.get(rule.name, (QUARTER, 0.0))
    far = 4.0 if rule.name in ("tvm", "scipy") else edge.far
    flags, shapes = ("EveryEntry", "FourAxes"), ("Shape", "FourAxes")
    ones = arranged([1.0] * 16, (2, 2, 2, 2))
    for at in (0, 6, 9, 15):
        entries = arranged((far if k == at else 1.0 for k in range(16)), (2, 2, 2, 2))
        yield Row(f"entry {at} of 2 by 2 by 2 by 2 is beyond", entries, ones, flags, *given, 0.0)
    close = 1.125 if rule.name == "scipy" else 1.75 if rule.name == "tvm" else edge.close
    entries = arranged((close if k == 11 else 1.0 for k in range(16)), (2, 2, 2, 2))
    yield Row("entry 11 of 2 by 2 by 2 by 2 is off, yet within", entries, ones, flags, *given, 0.0)
    if rule.name in ("jax", "tvm"):
        within = (0.0, QUARTER) if rule.name == "tvm" else (0.0, QUARTER / 8)
        yield Row("2 by 2 by 2 by 2: atol for 16 entries", entries, ones, flags, *within, 0.0)
    yield Row("2 by 2 by 2 by 2, equal", ones, ones, flags, *given, 0.0)
    uneven = arranged([1.0] * 6, (1, 2, 3, 1))
    yield Row("1 by 2 by 3 by 1, equal", uneven, uneven, flags, *given, 0.0)
    for a, n in (
        ((2, 2, 2, 2), (2, 2, 4)), ((2, 2, 2, 2), (4, 2, 2)), ((2, 1, 2, 2), (2, 2, 2)),
        ((2, 2, 2), (2, 2, 2, 1)), ((1, 2, 2, 2), (2, 2, 2)), ((1, 2, 3, 1), (1, 2, 1, 3)),
        ((1, 2, 1, 3), (1, 2, 3, 1)), ((1, 1, 1, 1), ()), ((1,), (1, 1, 1, 1)),
        ((2, 2, 2, 1), (2, 2, 2, 3)), ((1, 2, 2, 2), (2, 2, 2, 2)),
    ):  # fmt: skip
        sizes = [" by ".join(map(str, side)) or "a number" for side in (a, n)]
        claimed, numeric = (arranged([1.0] * math.prod(side), side) for side in (a, n))
        yield Row(f"four axes: {' against '.join(sizes)}", claimed, numeric, shapes)


def _extreme(rule: Rule) -> Iterator[Row]:
    """Tolerances and floors that are very large, or 0 beside the smallest error there is."""
    wide = ("ExtremeTolerance",)
    if rule.name in (*SUM_RULES, "tvm"):
        yield Row("rtol 16: within", [16.5], [1.0], wide, 16.0, 0.0)
        yield Row("rtol 16: beyond", [-16.5], [1.0], wide, 16.0, 0.0)
    if rule.name in (*SUM_RULES, "hips", "tvm", "scipy"):
        yield Row("atol 300: within", [280.0], [1.0], wide, 0.0, 300.0)
        yield Row("atol 300: beyond", [-320.0], [1.0], wide, 0.0, 300.0)
        yield Row("3e-21 against 1e-21 is beyond", [3e-21], [1e-21], wide, 0.0, 1e-21)
    if rule.name in SUM_RULES:
        yield Row("1.5e305 against 1e305: within", [1.5e305], [1e305], wide, 0.75, 0.0)
        yield Row("1.5e305 against 1e305: beyond", [1.5e305], [1e305], wide, 0.25, 0.0)
    if rule.name in BY_ENTRY:
        rows = [([TINY], [0.0]), ([0.0], [-TINY])] + [([TINY], [1e-323])] * (rule.name != "jax")
        for a, n in rows:
            said = f"tolerances 0: {a[0]:g} against {n[0]:g}"
            yield Row(said, a, n, (*wide, "Subnormal"), 0.0, 0.0, 0.0)
    if rule.name == "hips":
        yield Row("rtol 16, opposite signs: within", [1.0], [-0.875], wide, 16.0, 0.0)
        yield Row("rtol 16, opposite signs: beyond", [1.0], [-0.9375], wide, 16.0, 0.0)
    if rule.name == "ceres":
        yield Row("rtol 16 where one is 0: within", [0.0], [15.0], wide, 16.0)
        yield Row("rtol 16 where one is 0: beyond", [17.0], [0.0], wide, 16.0)
    if rule.name.startswith("cs231n"):
        yield Row("rtol 16: opposite signs are within", [1.0, -4.0], [-1.0, 2.0], wide, 16.0, 0.0)
    if rule.floor is not None:
        for floor in (8.0, 1e10, 1e305, 2.0**-70):
            said = f"floor {floor:.3g}"
            yield Row(f"{said}: within", [floor / 8], [0.0], wide, QUARTER, 0.0, floor)
            yield Row(f"{said}: beyond", [0.0], [-floor / 2], wide, QUARTER, 0.0, floor)
    if rule.empty is not None:
        for rtol, atol in ((0.0, 0.0), (16.0, 1e300)):
            said = f"no entries, rtol {rtol:g}, atol {atol:g}"
            yield Row(said, [], [], (*wide, "NothingCompared"), rtol, atol)


def _in_turn(rule: Rule) -> Iterator[Row]:
    """Consecutive rows: nothing of one question affects the next."""
    in_turn, off, narrow = ("InTurn",), 1.0 + 2.0**-20, 2.0**-30
    used = "atol" if rule.name == "scipy" else "rtol"
    for turn in ("once", "again"):
        for said, given in (("wide", 0.5), ("narrow", narrow)):
            rtol, atol = (0.0, given) if used == "atol" else (given, 0.0)
            yield Row(f"{used} is {said}, {turn}", [off], [1.0], in_turn, rtol, atol, 0.0)
        if rule.name in (*SUM_RULES, "hips", "tvm"):
            for said, given in (("wide", 0.5), ("narrow", narrow)):
                yield Row(f"atol is {said}, {turn}", [2.0**-20], [0.0], in_turn, 0.0, given)
        yield Row(f"NaN, {turn}", [1.0, NAN], [1.0, 1.0], (*in_turn, "NaN"))
        yield Row(f"2 against 2, after NaN, {turn}", [2.0], [2.0], in_turn)
        yield Row(f"three entries, {turn}", [1.0, 2.0, 4.0], [1.0, 2.0, 4.0], in_turn)
        yield Row(f"one number, after three entries, {turn}", 0.5, 0.5, (*in_turn, "OneNumber"))


def _counted() -> Iterator[Row]:
    """Entries that are 0, NaN or infinite in both count in the size like all others."""
    for said, odd in (("0", 0.0), ("NaN", NAN), ("inf", INF)):
        flags = (*EVERY, "NaNOnBothSides") if odd != odd else EVERY
        for where, last, more in (
            ("tie", 1.1875, ("ExactTie",)),
            ("an ulp beyond", 1.1875 + ULP, ()),
        ):
            rows = [odd, odd, last], [odd, odd, 1.0]
            yield Row(f"{where}: {said} twice, and one entry", *rows, (*flags, *more), 0.0625, 0.0)


def _without_floor(usual: float) -> list[Row]:
    """Leave the floor out, after a row that has one."""
    left_out = ("FloorLeftOut",)
    rows = []
    for said, a, n, rtol in (
        ("4e-9 against 2e-9", [4e-9], [2e-9], 0.25),
        ("1e-12 against 0", [1e-12], [0.0], 0.5),
        ("0 against 1e-300", [0.0], [1e-300], 0.5),
        ("0 against 0", [0.0], [0.0], 0.5),
        ("1/4 against 1/8", [0.25], [0.125], 0.25),
        ("1e-12 against 0, and rtol is 1.5", [1e-12], [0.0], 1.5),
    ):
        rows.append(Row(f"{said}, floor 1", a, n, GIVEN, rtol, None, 1.0))
        rows.append(Row(f"{said}, no floor", a, n, left_out, rtol, None, None, True))
        rows.append(Row(f"{said}, floor {usual:g}", a, n, GIVEN, rtol, None, usual))
    return rows


def _sizes() -> Iterator[Row]:
    """Test the tolerance for arrays of many sizes, each at its tie and an ulp beyond."""
    unit = 2.0**-6
    for shape in (
        *((count,) for count in (1, 2, 3, 5, 7, 8, 9, 12, 16, 33, PLENTY)),
        *((1, 5), (5, 1), (3, 4), (2, 2, 2), (4, 1, 2)),
    ):
        count = math.prod(shape)
        ones = arranged([1.0] * count, shape)
        by = " by ".join(map(str, shape))
        for said, last in (("tie", 1 + count * unit), ("an ulp beyond", 1 + count * unit + ULP)):
            entries = arranged([1.0] * (count - 1) + [last], shape)
            yield Row(f"{said}: rtol {count} times, {by}", entries, ones, EVERY, unit, 0.0)
            yield Row(f"{said}: both {count} times, {by}", entries, ones, EVERY, unit / 2, unit / 2)


BAD = ("BadArgument",)
OFF_IN_SIX = [[1.5, 1, 1], [1, 1, 1]], [[1.0] * 3] * 2
OFF_IN_FOUR = [[2.0, 1.0], [1.0, 1.0]], [[1.0] * 2] * 2
# Rows that make sense for one rule only.
ONE_RULE: dict[str, list[Row]] = {
    "reference": [
        Row("rtol is negative", [1.0], [1.0], BAD, -0.25, 0.5),
        Row("atol is negative", [1.0], [1.0], BAD, 0.5, -0.25),
        Row("rtol is NaN", [1.0], [1.0], BAD, NAN, 0.5),
        Row("atol is NaN", [1.0], [1.0], BAD, 0.5, NAN),
        Row("rtol is infinite", [1.0], [1.0], BAD, INF, 0.5),
        Row("atol is infinite", [1.0], [1.0], BAD, 0.5, INF),
        Row("rtol is -0, which is 0", [1.25], [1.0], GIVEN, -0.0, 0.375),
        *(Row(f"no entries, {said}", [], [], (*BAD, "NothingCompared"), *given)
            for said, given in (
                ("rtol is NaN", (NAN, 0.5)), ("atol is NaN", (0.5, NAN)),
                ("rtol is negative", (-0.25, 0.5)), ("atol is infinite", (0.5, INF)),
            )),
    ],
    "jax": [
        Row("one number: its size is 1", 1.25, 1.0, NUMBER, 0.125, 0.25),
        Row("one number, atol alone", 1.25, 1.0, NUMBER, 0.0, 0.375),
        Row("one number, just beyond", 1.375 + ULP, 1.0, ("OneNumber", "Twin"), 0.125, 0.25),
        Row("atol counts six times for 2 by 3", *OFF_IN_SIX, EVERY, 0.0, 0.09375),
        Row("atol counts no more than six times", *OFF_IN_SIX, EVERY, 0.0, 0.0625),
        Row("rtol counts no more than six times", *OFF_IN_SIX, EVERY, 0.0625, 0.0),
        Row("NaN against NaN, and another is wrong", [NAN, 2.0], [NAN, 1.0], ("NaNOnBothSides",)),
        Row("the error overflows, the allowance too", [1.7e308], [-1.7e308], (), 2.0, 1.7e308),
        Row("both are finite, only their difference is not", [1.7e308, 1.0], [-1.7e308, 1.0], (),
            1.0, 1.0),
        *_sizes(),
        *_counted(),
    ],
    "hips": [
        Row("opposite signs, beyond: |a + n| is no sum of sizes", [1.0], [-0.25], (), 1.5, 0.0),
        Row("opposite signs, within", [1.0], [-0.25], (), 1.75, 0.0),
        Row("one by atol alone, the other by rtol alone", [2.0**-10, 1000.5], [0.0, 1000.0],
            EVERY, 2.0**-10, 2.0**-9),
        Row("one by rtol alone, the other by atol alone", [1000.5, 2.0**-10], [1000.0, 0.0],
            EVERY, 2.0**-10, 2.0**-9),
        Row("one by atol, the other by neither", [2.0**-10, 1004.0], [0.0, 1000.0],
            EVERY, 2.0**-10, 2.0**-9),
        Row("neither alone, though within the sum", [1.75], [1.0], (), 0.25, 0.625),
        Row("just beyond the tie of rtol", [3.0 + 4 * ULP], [1.0 - 4 * ULP], TWIN, 0.5, 0.0),
        Row("just within the tie of rtol", [3.0 - 4 * ULP], [1.0 + 4 * ULP], TWIN, 0.5, 0.0),
        Row("opposite signs, beyond: nor is it |n|", [-0.25], [1.0], (), 1.5, 0.0),
        Row("one ulp above the tie of atol", [1.5 + ULP], [1.0], TWIN, 0.0, 0.5),
        Row("one ulp below the tie of atol", [1.5 - ULP], [1.0], TWIN, 0.0, 0.5),
        Row("tie of atol: 1.5 against 1", [1.5], [1.0], (), 0.0, 0.5),
        Row("twice as much as |a| and |n| allow alone", [1.0], [3.0], (), 0.625, 0.0),
    ],
    "ceres": [
        Row("one ulp beyond the tie: 1 against 2", [1.0 - ULP], [2.0], TWIN, 0.5),
        Row("one ulp within the tie: 1 against 2", [1.0 + ULP], [2.0], TWIN, 0.5),
        Row("0 against 1/4: absolute, and within", [0.0], [0.25], (), 0.5),
        Row("1/4 against 0: absolute, and within", [0.25], [0.0], (), 0.5),
        Row("0 against 1: absolute, and beyond", [0.0], [1.0], (), 0.5),
        Row("1 against 0: absolute, and beyond", [1.0], [0.0], (), 0.5),
        Row("0 against 4: absolute, within, though the ratio is 1", [0.0], [4.0], (), 8.0),
        Row("0 against 4: absolute, beyond, though the ratio is 1", [0.0], [4.0], (), 1.5),
        Row("4 against 0: absolute, beyond, though the ratio is 1", [4.0], [0.0], (), 1.5),
        Row("1e-20 against 5 is relative", [1e-20], [5.0], (), 2.0),
        Row("5 against 1e-20 is relative", [5.0], [1e-20], (), 2.0),
        Row("1e-200 against 2e-200 is relative", [1e-200], [2e-200], (), 0.25),
        Row("1e-20 against 2e-20 is relative", [1e-20], [2e-20], (), 0.25),
        Row("opposite signs: 1 against -1", [1.0], [-1.0], (), 1.5),
        Row("opposite signs: 1 against -1, wide", [1.0], [-1.0], (), 2.5),
        Row("opposite signs: 3 against -1", [3.0], [-1.0], (), 1.25),
        Row("twice: 1 against 2, wide", [1.0], [2.0], (), 0.75),
        Row("twice: 2 against 1, wide", [2.0], [1.0], (), 0.75),
    ],
    "cs231n-max": [
        Row("one ulp beyond the tie: 1 against 2", [1.0 - ULP], [2.0], TWIN, 0.5),
        Row("one ulp within the tie: 1 against 2", [1.0 + ULP], [2.0], TWIN, 0.5),
        Row("2 against 1 is half, 1 against 2 too", [2.0, 1.0], [1.0, 2.0], (), 0.5),
        Row("opposite signs: 1 against -1, rtol 2", [1.0], [-1.0], (), 2.0),
        Row("opposite signs: 1 against -1, rtol 1.5", [1.0], [-1.0], (), 1.5),
        Row("the floor is no addend: 4 against 3", [4.0], [3.0], (), 0.234375, None, 1.0),
        Row("larger than the floor: 2 against 1", [2.0], [1.0], (), 0.4375, None, 1.0),
        *_without_floor(1e-8),
    ],
    "cs231n-sum": [
        Row("just beyond the tie: 3 against 1", [3.0 + 4 * ULP], [1.0 - 4 * ULP], TWIN, 0.5),
        Row("just within the tie: 3 against 1", [3.0 - 4 * ULP], [1.0 + 4 * ULP], TWIN, 0.5),
        Row("opposite signs: 3 against -1, rtol 1", [3.0], [-1.0], (), 1.0),
        Row("opposite signs: 3 against -1, rtol 7/8", [3.0], [-1.0], (), 0.875),
        Row("3 against -1, rtol 2", [3.0], [-1.0], GIVEN, 2.0),
        Row("the floor is no addend: 5 against 3", [5.0], [3.0], (), 0.234375, None, 1.0),
        Row("larger than the floor: 2 against 1", [2.0], [1.0], (), 0.375, None, 1.0),
        *_without_floor(1e-8),
    ],
    "cs231n-unguarded": [
        Row("just beyond the tie: 3 against 1", [3.0 + 4 * ULP], [1.0 - 4 * ULP], TWIN, 0.5),
        Row("just within the tie: 3 against 1", [3.0 - 4 * ULP], [1.0 + 4 * ULP], TWIN, 0.5),
        Row("opposite signs: 3 against -1, rtol 1", [3.0], [-1.0], (), 1.0),
        Row("opposite signs: 3 against -1, rtol 7/8", [3.0], [-1.0], (), 0.875),
        Row("an ulp below 2, rtol 0", [2.0 - ULP], [2.0], TWIN, 0.0),
        Row("4e-9 against 2e-9: no floor", [4e-9], [2e-9], (), 0.25),
        Row("1e-300 against 0: no floor", [1e-300], [0.0], (), 0.5),
        Row("1e-300 against 0: no floor, within", [1e-300], [0.0], (), 1.5),
    ],
    "tvm": [
        Row("just beyond the tie: rtol of 1", [1.5 + SOME], [1.0], TWIN, 0.5, 0.0),
        Row("just within the tie: rtol of 1", [1.5 - SOME], [1.0], TWIN, 0.5, 0.0),
        Row("just beyond the tie: sqrt(4) atol", [1.5 + SOME, 1.0, 1.0, 1.0], [1.0] * 4,
            TWIN, 0.0, 0.25),
        Row("just within the tie: sqrt(4) atol", [1.5 - SOME, 1.0, 1.0, 1.0], [1.0] * 4,
            TWIN, 0.0, 0.25),
        Row("within, by what float32 cannot tell", [1.5 + 2.0**-24 + 2.0**-26], [1.0], TWIN,
            0.0, 0.5 + 2.0**-24 + 2.0**-25),
        Row("beyond, but not with the tolerances exchanged", [0.625], [0.25], GIVEN, 0.5, 0.125),
        Row("within, but not with the tolerances exchanged", [3.0], [4.0], GIVEN, 0.5, 0.125),
        Row("the last of 17 is wrong", [1.0] * 16 + [3.0], [1.0] * 17, EVERY, 0.25, 0.0),
        Row("entry 13 of 17 is wrong", one_off(17, 13, 3.0), [1.0] * 17, EVERY, 0.25, 0.0),
        Row("the first of 17 is wrong", [3.0] + [1.0] * 16, [1.0] * 17, EVERY, 0.25, 0.0),
        Row("one of 17 is wrong, yet within", one_off(17, 13, 2.0), [1.0] * 17, EVERY, 0.25, 0.0),
        Row("entry 100 of 128 is wrong", one_off(128, 100, 5.0), [1.0] * 128, EVERY, 0.25, 0.0),
        Row("entry 10 of 128 is wrong, yet within", one_off(128, 10, 3.5), [1.0] * 128,
            EVERY, 0.25, 0.0),
        Row("a 2-norm of 5 against 5.5, a 1-norm of 7", [3.0, 4.0], [0.0, 0.0], (), 0.0, 4.0),
        Row("a 2-norm of 5 against 4.25, an entry of 4", [3.0, 4.0], [0.0, 0.0], (), 0.0, 3.0),
        Row("rtol of a 2-norm of 5: within", [8.0, 4.0], [3.0, 4.0], (), 1.125, 0.0),
        Row("rtol of a 2-norm of 5: beyond", [9.0, 4.0], [3.0, 4.0], (), 1.125, 0.0),
        Row("rtol of a 2-norm of 5: no 1-norm", [9.0, 4.0], [3.0, 4.0], (), 1.1875, 0.0),
        Row("within neither, but within the sum", [1.75], [1.0], (), 0.5, 0.5),
        Row("beyond the sum of both", [2.125], [1.0], (), 0.5, 0.5),
        Row("an entry at its tie differs, the distance passes", [1.25, 1.0, 1.0], [1.0] * 3,
            ("Percentage",), 0.25, 0.0),
        Row("an entry just within does not differ", [1.25 - ULP, 1.0, 1.0], [1.0] * 3,
            TWIN, 0.25, 0.0),
        Row("1 of 7 differs", [2.0] + [1.0] * 6, [1.0] * 7),
        Row("16 of 17 differ", [2.0] * 16 + [1.0], [1.0] * 17),
        Row("one entry of a 2 by 2 matrix differs", [[1.0, 2.0], [1.0, 1.0]], [[1.0] * 2] * 2,
            (), 0.5, 0.0),
        Row("size is 4 for a 2 by 2 matrix", *OFF_IN_FOUR, (), 0.0, 0.5625),
        Row("size is 4, not 2, and its root 2", *OFF_IN_FOUR, (), 0.0, 0.4375),
        Row("one number, within", 1.125, 1.0, NUMBER, 0.25, 0.0),
        Row("one number, beyond", 1.5, 1.0, NUMBER, 0.25, 0.0),
        Row("zeros count in the size: within", [1.75, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0],
            EVERY, 0.0, 0.5),
        # To float32 these norms are 1 and 1 + 2^-23.
        Row("within, by what float32 cannot tell of numeric", [2 + 2.0**-26 + 2.0**-27],
            [1 + 2.0**-26], TWIN, 1.0, 0.0),
        Row("beyond, by what float32 cannot tell of numeric", [2 + 2.0**-24 + 2.0**-23],
            [1 + 2.0**-24 + 2.0**-26], TWIN, 1.0, 0.0),
        Row("within, and float32 cannot tell of a norm of four", [2 + 2.0**-26 + 2.0**-27] * 4,
            [1 + 2.0**-26] * 4, TWIN, 1.0, 0.0),
    ],
    "scipy": [
        Row("just beyond the tie: 1/2", [1.5 + SOME], [1.0], TWIN, None, 0.5),
        Row("just within the tie: 1/2", [1.5 - SOME], [1.0], TWIN, None, 0.5),
        Row("within, by what float32 cannot tell", [1.5 + 2.0**-24 + 2.0**-26], [1.0], TWIN,
            None, 0.5 + 2.0**-24 + 2.0**-25),
        Row("no 1-norm: 5 of 6", [4.0, 5.0], [1.0, 1.0], (), None, 6.0),
        Row("no largest entry: 5 of 4.5", [4.0, 5.0], [1.0, 1.0], (), None, 4.5),
        Row("entry 100 of 128 is wrong", one_off(128, 100, 4.0), [1.0] * 128, EVERY, None, 1.5),
        Row("rtol is not used, though it is 4", [1.25], [1.0], GIVEN, 4.0, 0.5),
        Row("rtol is not used", [2.0], [1.0], GIVEN, 4.0, 0.5),
        Row("rtol is not used, nor multiplied", [2.0], [1.0], GIVEN, 0.25, 1.5),
        Row("no mean: four errors of 1", [2.0] * 4, [1.0] * 4, EVERY, None, 1.5),
        Row("no mean: four errors of 1, within", [2.0] * 4, [1.0] * 4, EVERY, None, 2.5),
        Row("the last of 17 is wrong", [1.0] * 16 + [3.0], [1.0] * 17, EVERY, None, 1.5),
        Row("the last of 17 is wrong, within", [1.0] * 16 + [3.0], [1.0] * 17, EVERY, None, 2.5),
        Row("entry 13 of 17 is wrong", one_off(17, 13, 3.0), [1.0] * 17, EVERY, None, 1.5),
        Row("beyond, by what float32 cannot tell", [1.5 + 2.0**-25], [1.0], TWIN, None,
            0.5 + 2.0**-26),
        Row("a norm of 17, beyond by what float32 cannot tell", [1.5 + 2.0**-25] + [1.0] * 16,
            [1.0] * 17, TWIN, None, 0.5 + 2.0**-26),
        Row("9e9 against 3e9, within", [9e9], [3e9], WHOLE, None, 7e9),
        Row("9e9 against 3e9, beyond", [9e9], [3e9], WHOLE, None, 5e9),
        Row("one number, within", 1.125, 1.0, NUMBER, None, 0.25),
        Row("one number, beyond", 1.5, 1.0, NUMBER, None, 0.25),
        Row("a matrix: all its entries count", [[4.0, 1.0], [1.0, 5.0]], [[1.0] * 2] * 2,
            EVERY, None, 4.5),
    ],
}  # fmt: skip
