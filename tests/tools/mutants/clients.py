"""Wrong clients: the example in Python with pieces of its text changed.

A whole client answers, one question after the other: so its rules, quotients and walks can be
wrong, and what it keeps, reads, refuses and writes. It was written from FORMAT.md, and these are
mistakes that people make in such a program.

Where all vectors that show one mistake show a second one, too, the second is not in the tables:
it can only be missed together with the first. The same holds for ``slips.py``.

A line of a table has a mistake and an edit, and more edits of the same mistake may follow. An edit
is ``old -> new``, where ``old`` stands once in the example, or ``place + code``: a line of code
after one of the `PLACES`. A ¶ is the end of a line of the example.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradcheck_ref.oracle.generate.rules import RULES

SOURCE = Path(__file__).parents[3] / "docs" / "examples" / "checker.py"
Answer = Callable[[dict[str, Any]], dict[str, Any]]
HELPERS = """
kept = {}
def single(v):
    mantissa, exponent = math.frexp(v)
    return math.ldexp(round(mantissa * 2**24), exponent - 24) if math.isfinite(v) else v
def flushed(v): return 0.0 if abs(v) < 2.2250738585072014e-308 else v
def short(v): return float(f'{v:.15g}')
def each(f, v): return [f(one) for one in v] if isinstance(v, list) else f(v)
def one(slopes): return slopes[0] if len(slopes) == 1 else extrapolated(*slopes)
def first_64(entries): return list(entries)[:64]
def all_but_last(entries): return (e := list(entries))[:-1] or e
def every_second(entries): return list(entries)[::2]
def mean_size(pairs):
    sizes = [abs(n) for _, n in pairs if math.isfinite(n)]
    return sum(sizes) / len(sizes) if sizes else 0.0
def wrapped(v): return v if v % 1 or abs(v) < 2.0**63 else (v + 2.0**63) % 2.0**64 - 2.0**63
def slack(allowed): return allowed * (1 + 1e-12)
def from_the_right(terms):
    found = 0.0
    for term in list(terms)[::-1]:
        found += term
    return found
def total(pairs, atol, rtol): return sum(
    divide(abs(a - n), atol + rtol * abs(n)) for a, n in pairs if a != n)
def of_largest_error(pairs): return sorted(
    pairs, key=lambda p: (p[0] - p[1] != p[0] - p[1], abs(p[0] - p[1])))[-1:]
def before(q, key):
    now, was = q.get(key), kept.get(key)
    kept[key] = now
    return {**q, key: was} if now and was else q
def left_out(q, key):
    return {**q, key: kept[key]} if key not in q and key in kept else kept.update(q) or q
def spoilt(reply, q):
    was, kept["nan"] = kept.get("nan"), "nan" in str(q)
    return {**reply, "close": False} if was and reply.get("close") else reply
"""
USUAL = {rule.name: (float(rule.rtol), float(rule.atol)) for rule in RULES}
PLACES = {
    "request": '"""Answer any request."""',
    "point": 'x, h = float(q["x"]), float(q["h"])',
    "places": 'places = [float(place) for place, _ in q["samples"]]',
    "weights": 'weights = flat(reals(q.get("upstream", "1")))',
    "samples": 'behind, ahead = (flat(reals(q["samples"][k][1])) for k in (low, high))',
    "step": 'step = places[high] - places[low] if q["step"] == "taken" else (high - low) * unit',
    "rise": "rise = weighed(weights, ahead) - weighed(weights, behind)",
    "slopes": "slopes = [slope_of(q, places, h, low, high) for low, high in pairs]",
    "walk": 'rtol, atol, claimed = (float(q[key]) for key in ("rtol", "atol", "claimed"))',
    "order 1": "slope, order = slope_of(q, places, h / 2, 2, 4), 1",
    "order 2": "slope, order = slope_of(q, places, h / 2, 0, 4), 2",
    "order 4": "slope, order = extrapolated(slope_of(q, places, h / 2, 1, 3), slope), 4",
    "entries": "pairs = list(zip(flat(analytic), flat(numeric), strict=True))",
    "tolerances": 'for key in ("rtol", "atol", "floor"))',
    "told": "close, error, more = (*told, {}) if len(told) == 2 else told",
    "telling": "if isinstance(value, list) else value)",
    "allclose": '"""Decide as gradcheck_ref\'s allclose."""',
    "norm": '"""Return the Euclidean length, from the sum of squares."""',
    "errors": "errors = [divide(abs(a - n), size(a, n, floor)) for a, n in something(pairs)]",
    "tested": "tested = zip(pairs, errors, strict=True)",
}
COMPARISONS = """
the first 64 :: in pairs), [ -> in first_64(pairs)), [
    :: for e in errors) -> for e in first_64(errors))
    :: tested + tested = first_64(tested)
all but the last :: in pairs), [ -> in all_but_last(pairs)), [
    :: for e in errors) -> for e in all_but_last(errors))
    :: tested + tested = all_but_last(tested)
every second entry :: in pairs), [ -> in every_second(pairs)), [
    :: for e in errors) -> for e in every_second(errors))
    :: tested + tested = every_second(tested)
the sum :: in pairs), [ -> in pairs) and total(pairs, size * atol, size * rtol) <= 1, [
    :: all(e < rtol if strictly else e <= rtol for e in errors) -> sum(errors) <= rtol
the other of < and <= :: <= size * atol -> < size * atol
    :: e < rtol if strictly else e <= rtol -> e <= rtol if strictly else e < rtol
    :: e < atol or divide(e, abs(a + n)) < rtol -> e <= atol or divide(e, abs(a + n)) <= rtol
    :: error <= atol * -> error < atol *
    :: return error <= atol -> return error < atol
<= for <, atol :: e < atol or -> e <= atol or
<= for <, rtol :: abs(a + n)) < rtol -> abs(a + n)) <= rtol
slack of 1 in 1e12 \
    :: size * atol + size * rtol * abs(n) -> (size * atol + size * rtol * abs(n)) * (1 + 1e-12)
    :: e < rtol if strictly else e <= rtol -> e < slack(rtol) if strictly else e <= slack(rtol)
    :: e < atol or divide(e, abs(a + n)) < rtol -> \
        e < slack(atol) or divide(e, abs(a + n)) < slack(rtol)
    :: atol * math.sqrt(len(pairs)) + rtol * size -> \
        slack(atol * math.sqrt(len(pairs)) + rtol * size)
    :: return error <= atol -> return error <= slack(atol)
slack of 1e-16 :: size * atol + size * rtol * abs(n) -> size * atol + size * rtol * abs(n) + 1e-16
    :: e < rtol if strictly else e <= rtol -> e < rtol + 1e-16 if strictly else e <= rtol + 1e-16
    :: e < atol or divide(e, abs(a + n)) < rtol -> \
        e < atol + 1e-16 or divide(e, abs(a + n)) < rtol + 1e-16
    :: * math.sqrt(len(pairs)) + rtol * size -> * math.sqrt(len(pairs)) + rtol * size + 1e-16
    :: return error <= atol -> return error <= atol + 1e-16
fails only where error > allowed \
    :: (able(a, n) and within) -> not abs(a - n) > size * atol + size * rtol * abs(n)
    :: e < rtol if strictly else e <= rtol -> not e >= rtol if strictly else not e > rtol
    :: e < atol or divide(e, abs(a + n)) < rtol -> \
        not e >= atol or not divide(e, abs(a + n)) >= rtol
NaN equals NaN :: return same(a, n) or -> return (a != a and n != n) or same(a, n) or
NaN equals nothing :: a == n or (a != a and n != n), -> a == n,
equal infinities pass :: same=lambda a, n: False -> same=lambda a, n: a == n
equal infinities do not pass :: return same(a, n) or -> return same(a, n) and abs(a) != math.inf or
whatever is infinite is allowed :: (able(a, n) and within) -> within
max(atol, rtol |numeric|) :: size * atol + size * rtol * abs(n) -> size * max(atol, rtol * abs(n))
rtol |analytic| :: size * rtol * abs(n) -> size * rtol * abs(a)
rtol without |numeric| :: size * rtol * abs(n) -> size * rtol
rtol numeric, without bars :: size * rtol * abs(n) -> size * rtol * n
atol + atol |numeric| :: size * rtol * abs(n) -> size * atol * abs(n)
rtol times the mean |numeric| :: size * rtol * abs(n) -> size * rtol * mean_size(pairs)
max(rtol, atol) :: errors + rtol = max(rtol, atol)
nor may the error exceed atol :: for e in errors), errors -> \
    for e in errors) and (not atol or all(abs(a - n) <= atol for a, n in pairs)), errors
one test for all entries :: tested + \
    return all(e < atol for e in errors) or \
    all(divide(e, abs(a + n)) < rtol for (a, n), e in tested), errors
over |n| :: divide(e, abs(a + n)) -> divide(e, abs(n))
    :: n == 0 else max(abs(a), abs(n)) -> n == 0 else abs(n)
    :: max(abs(a), abs(n), floor) -> max(abs(n), floor)
    :: max(abs(a) + abs(n), floor) -> max(abs(n), floor)
    :: floor: abs(a) + abs(n) -> floor: abs(n)
over a + n, without bars :: divide(e, abs(a + n)) -> divide(e, a + n)
over max(|a|, |n|) :: divide(e, abs(a + n)) -> divide(e, max(abs(a), abs(n)))
over 1 where the claim is 0 :: if a == 0 or n == 0 else -> if a == 0 else
over 1 where numeric is 0 :: if a == 0 or n == 0 else -> if n == 0 else
over 1 where one is below 1e-12 :: if a == 0 or n == 0 else -> if min(abs(a), abs(n)) < 1e-12 else
over |a| :: n == 0 else max(abs(a), abs(n)) -> n == 0 else abs(a)
over |a + n| :: max(abs(a), abs(n), floor) -> max(abs(a + n), floor)
    :: max(abs(a) + abs(n), floor) -> max(abs(a + n), floor)
    :: floor: abs(a) + abs(n) -> floor: abs(a + n)
over a floor of 1e-8 :: max(abs(a), abs(n), floor) or 1.0 -> max(abs(a), abs(n), 1e-8)
    :: max(abs(a) + abs(n), floor) -> max(abs(a) + abs(n), 1e-8)
    :: floor: abs(a) + abs(n) -> floor: max(abs(a) + abs(n), 1e-8)
over 0, so that 0/0 is NaN :: max(abs(a), abs(n), floor) or 1.0 -> max(abs(a), abs(n), floor)
over a floor for each size :: max(abs(a) + abs(n), floor) -> max(abs(a), floor) + max(abs(n), floor)
over 1 where 0/0 is :: max(abs(a) + abs(n), floor) -> max(abs(a) + abs(n), floor) or 1.0
    :: floor: abs(a) + abs(n) -> floor: abs(a) + abs(n) or 1.0
float32 entries :: entries + pairs = [tuple(map(single, pair)) for pair in pairs]
subnormal entries are 0 :: entries + pairs = [tuple(map(flushed, pair)) for pair in pairs]
subnormal errors are 0 :: told + error = each(flushed, error)
15 digits :: told + error = each(short, error)
rtol above 1 refused :: tolerances + if rtol > 1: raise RefusedError('rtol')
rtol at most 1 :: tolerances + rtol = min(rtol, 1.0)
the usual rtol :: tolerances + rtol = usual[q['rule']][0]
the usual atol :: tolerances + atol = usual[q['rule']][1]
rtol and atol exchanged :: tolerances + rtol, atol = atol, rtol
the claim is the reference :: flat(analytic), flat(numeric) -> flat(numeric), flat(analytic)
JAX: a size of 256 at most :: times=len -> times=lambda pairs: min(256, len(pairs))
JAX: a size of 2 at least :: times=len -> times=lambda pairs: max(2, len(pairs))
JAX: only rtol times the size :: size * atol -> atol
TVM: a size of 256 at most :: math.sqrt(len(pairs)) -> math.sqrt(min(256, len(pairs)))
whole numbers are 64 bits in a norm \
    :: sum(v * v for v in entries) -> abs(sum(wrapped(v * v) for v in entries))
largest entry for a 2-norm of more than 64 :: norm + entries = list(entries); \
    entries = entries if len(entries) <= 64 else [max(map(abs, entries))]
1-norm for 2-norm :: math.sqrt(sum(v * v for v -> (sum(abs(v) for v
largest entry for 2-norm :: norm + return max((abs(v) for v in entries), default=0.0)
the first 64 for the 2-norm :: norm + entries = first_64(entries)
all but the last for the 2-norm :: norm + entries = all_but_last(entries)
every second entry for the 2-norm :: norm + entries = every_second(entries)
norm of numeric in float32 :: norm(n for _, n in pairs) -> norm(single(n) for _, n in pairs)
the larger tolerance of both \
    :: atol * math.sqrt(len(pairs)) + rtol * size -> max(atol * math.sqrt(len(pairs)), rtol * size)
SciPy: atol + rtol (2-norm of numeric) \
    :: return error <= atol -> return error <= atol + rtol * norm(n for _, n in pairs)
"""
QUOTIENTS = """
central for forward :: "forward": [(2, 3)] -> "forward": [(1, 3)]
backward for forward :: "forward": [(2, 3)] -> "forward": [(1, 2)]
two steps for one, forward :: "forward": [(2, 3)] -> "forward": [(2, 4)]
forward for central :: "central": [(1, 3)] -> "central": [(2, 3)]
backward for central :: "central": [(1, 3)] -> "central": [(1, 2)]
two steps for one, central :: "central": [(1, 3)] -> "central": [(0, 4)]
five-point: one-sided far :: (0, 4)]} -> (2, 4)]}
halves for thirds :: (near - far) / 3 -> (near - far) / 2
five-point: near's distance for both :: step + step = 2 * (places[3] - places[1]) \
    if (low, high, q["step"]) == (0, 4, "taken") and "claimed" not in q else step
the step wished for :: step + step = (high - low) * unit
the step taken :: step + step = places[high] - places[low]
takes it though h = 0 :: places + if h == 0: return places, h
takes it though h < 0 :: places + if h < 0: return places, h
takes it though h is NaN :: places + if h != h: return places, h
takes it though h is infinite :: places + if h == math.inf: return places, h
takes it though x is NaN :: places + if x != x: return places, h
takes it though x + h is too large :: places + \
    if math.isfinite(x) and h < math.inf and math.inf in map(abs, places): return places, h
takes it though rtol is bad :: check_tolerances(rtol, atol)¶¶ -> check_tolerances(atol)¶¶
takes it though atol is bad :: check_tolerances(rtol, atol)¶¶ -> check_tolerances(rtol)¶¶
samples: float32 :: samples + behind, ahead = (each(single, s) for s in (behind, ahead))
slopes: float32 :: slopes + slopes = [single(one(slopes))]
slopes: subnormals are 0 :: slopes + slopes = [flushed(one(slopes))]
slopes: 15 digits :: slopes + slopes = [short(one(slopes))]
slopes: infinity is a large number :: slopes + slopes = [max(min(one(slopes), 1e308), -1e308)]
max(atol, rtol |slope|) :: atol + rtol * abs(slope) -> max(atol, rtol * abs(slope))
rtol |claim| :: rtol * abs(slope) -> rtol * abs(claimed)
rtol slope, without bars :: rtol * abs(slope) -> rtol * slope
<= for < :: claimed) < atol -> claimed) <= atol
a slack of 1 in 1e12 :: atol + rtol * abs(slope) -> slack(atol + rtol * abs(slope))
tight by 1e-12 :: claimed) < atol -> claimed) + 1e-12 < atol
NaN agrees :: math.isfinite(slope) and abs(slope - claimed) < -> not abs(slope - claimed) >=
no central slope :: order 2 + agrees = lambda slope: False
subnormal slopes of walks told as 0 :: texts(slope) -> texts(flushed(slope))
rtol above 1 refused :: walk + if rtol > 1: raise RefusedError('rtol')
"""
MISTAKES = """
rtol is that of the question before :: request + request = before(request, 'rtol')
a floor left out is the last one :: request + request = left_out(request, 'floor')
NaN in one comparison spoils the next \
    :: ANSWERS[request["ask"]](request) -> spoilt(ANSWERS[request["ask"]](request), request)
a usual floor where it is left out :: float(q.get(key, "0") -> float(q.get(key, "1e-8")
tolerances to nine places :: float(q.get(key, "0")) -> round(float(q.get(key, "0")), 9)
infinity without its sign :: else float(value) -> else float(value.replace("-inf", "inf"))
upstream transposed :: weights + if len(shape(q.get("upstream"))) == 2: \
    weights = [u for row in zip(*reals(q["upstream"])) for u in row]
upstream that is a number is 1 \
    :: weights + weights = weights if isinstance(q.get("upstream"), list) else [1.0]
large x refused :: point + if abs(x) > 1e15: raise RefusedError('x')
a long step refused :: point + if 1e3 < h < math.inf: raise RefusedError('h')
2h where x is large :: step + step = step if abs(float(q["x"])) < 1e9 else (high - low) * unit
sums in float32 :: rise + rise = single(rise)
upstream beyond half precision is infinite \
    :: weights + weights = [u if abs(u) <= 65504 else math.inf for u in weights]
upstream of at most 1e100 \
    :: weights + weights = [u if abs(u) <= 1e100 else math.copysign(1e100, u) for u in weights]
upstream below 1e-100 is 0 :: weights + weights = [0.0 if abs(u) < 1e-100 else u for u in weights]
the first 256 outputs :: values, strict=True) -> values[:256], strict=False)
whole numbers are 64 bits in a weighted sum :: sum(u * v for -> sum(wrapped(u * v) for
an upstream of NaN is 0 :: weights + weights = [u if u == u else 0.0 for u in weights]
an infinite upstream is 0 :: weights + weights = [0.0 if abs(u) == math.inf else u for u in weights]
upstream of four axes by its first half :: weights + weights = [u \
    if k < 4 or len(shape(q.get("upstream"))) < 4 else 0.0 for k, u in enumerate(weights)]
five-point: h counts as the distance of both :: step + step = 2 * unit \
    if q["step"] == "nominal" and "claimed" not in q and (low, high) == (0, 4) else step
five-point: a nominal step that vanishes is refused \
    :: if q["step"] == "taken":¶        if -> if q["step"] == "taken" or len(pairs) == 2:¶        if
an upstream of 0 hides NaN :: values, strict=True) -> values, strict=True) if u
with upstream no step is refused :: places[high]: -> places[high] and 'upstream' not in q:
five-point looks whether its far places coincide \
    :: if places[low] == places[high] -> if places[pairs[-1][0]] == places[pairs[-1][1]]
shapes by the number of entries \
    :: shape(analytic) != shape(numeric) -> len(flat(analytic)) != len(flat(numeric))
shapes by the first dimension \
    :: shape(analytic) != shape(numeric) -> shape(analytic)[:1] != shape(numeric)[:1]
shapes by the last dimension \
    :: shape(analytic) != shape(numeric) -> shape(analytic)[-1:] != shape(numeric)[-1:]
a claim is repeated to the shape of numeric :: shape(analytic) != shape(numeric) -> \
    shape(analytic) not in (shape(numeric)[k:] for k in range(len(shape(numeric)) + 1))
only the first row is compared \
    :: entries + pairs = pairs[: shape(analytic)[-1]] if shape(analytic) else pairs
shapes by the first three dimensions \
    :: shape(analytic) != shape(numeric) -> shape(analytic)[:3] != shape(numeric)[:3]
ones in a shape do not count :: shape(analytic) != shape(numeric) -> \
    [k for k in shape(analytic) if k != 1] != [k for k in shape(numeric) if k != 1]
more than three dimensions refused :: entries + if len(shape(analytic)) > 3: raise RefusedError('4')
the error is told without its first dimension of four \
    :: telling + told[key] = sum(told[key], []) if len(shape(told[key])) > 3 else told[key]
a number is told as a list :: list) else value)¶    return -> \
    list) else value if shape(analytic) else [value])¶    return
nothing to compare, whatever the tolerances :: allclose + if not pairs: return False, []
rtol at most 10 :: tolerances + rtol = min(rtol, 10.0)
atol at most 100 :: tolerances + atol = min(atol, 100.0)
a floor of at most 1e300 :: tolerances + floor = min(floor, 1e300)
JAX: the difference is to be finite \
    :: math.isfinite(a) and math.isfinite(n), -> math.isfinite(a - n),
JAX: a size of many that is one too large \
    :: times=len -> times=lambda pairs: len(pairs) + (len(pairs) > 6)
JAX: a size of finite entries \
    :: times=len -> times=lambda pairs: sum(math.isfinite(a - n) for a, n in pairs)
JAX: a size of entries that are not 0 \
    :: times=len -> times=lambda pairs: sum(n != 0 for _, n in pairs) or 1
the entry of the largest error decides :: in pairs), [ -> in of_largest_error(pairs)), [
walks: rtol at most 10 :: rtol * abs(slope) -> min(rtol, 10.0) * abs(slope)
walks: slopes beyond 1e200 do not agree :: math.isfinite(slope) -> abs(slope) < 1e200
walks: a slack of 1e-20 :: atol + rtol * abs(slope) -> atol + 1e-20 + rtol * abs(slope)
the central slope never agrees after NaN :: order 1 + claimed = claimed if slope == slope else slope
order 2 is to be nearer :: order 1 + first = slope
    :: order 2 + claimed = math.nan if abs(slope - claimed) > abs(first - claimed) else claimed
order 4 is to be a number :: order 2 + was = slope, order
    :: order 4 + slope, order = (slope, 4) if slope == slope else was
the nearest slope is told :: order 2 + was = slope
    :: order 4 + slope = min(was, slope, key=lambda s: abs(s - claimed))
infinity agrees with infinity :: return math.isfinite(slope) -> \
    return slope == claimed or math.isfinite(slope)
whole: squares at the first step \
    :: (c - (a2 - b2) / (2 * k)) / size) -> (c - (a1 - b1) / (2 * h)) / size)
whole: one-sided slopes :: (a1 - b1) / (2 * h) -> (a1 - b2) / (h + k)
whole: one step for both :: / (2 * k) -> / (2 * h)
whole: no root :: math.sqrt(0.0 if mean < 0 else mean) -> max(mean, 0.0)
whole: the root of the size :: 0.0 if mean < 0 else mean -> abs(mean)
whole: divided by the number of lines :: (len(products) - 1) -> len(products)
whole: the deviation of one line :: / (len(products) - 1) / len(products)) -> / (len(products) - 1))
whole: squares leave the range :: math.hypot(*(line[0] for line in lines)) -> \
    (math.sqrt(sum(line[0] * line[0] for line in lines)) or 1.0)
whole: one line is enough :: len(lines) < 2 or not any -> not any
whole: products below 1e-40 are 0 :: mean = sum(products) -> \
    mean = sum(p for p in products if abs(p) * size**2 > 1e-40)
whole: NaN is left out \
    :: mean = sum( -> products = [p for p in products if p == p]; mean = sum(
whole: the first 256 lines :: reals(q["lines"]) -> reals(q["lines"])[:256]
whole: a line with a claim of 0 is left out \
    :: reals(q["lines"]) -> [line for line in reals(q["lines"]) if line[0]]
half a step that vanishes is taken :: (0, 4), (1, 3)]) -> (0, 4)])
"""
ORDERS = """
as it is :: import sys -> import sys
weighed after subtracting \
    :: rise + rise = weighed(weights, [a - b for a, b in zip(ahead, behind, strict=True)])
weighed from the right, in a loop :: return sum(u * v for u, v in -> \
    return from_the_right(u * v for u, v in
weighed exactly :: return sum(u * v -> return math.fsum(u * v
weights over the step :: step + if "upstream" in q and step: \
    weights, step = [u / step for u in weights], 1.0
slopes first :: step + if step: return \
    weighed(weights, [divide(a - b, step) for a, b in zip(ahead, behind, strict=True)])
(4 near - far) / 3 :: near + (near - far) / 3 -> (4 * near - far) / 3
thirds by themselves :: near + (near - far) / 3 -> near * 4 / 3 - far / 3
a norm that is scaled :: norm + return math.hypot(*entries)
a norm of exact sums :: math.sqrt(sum(v * v -> math.sqrt(math.fsum(v * v
the size last :: size * atol + size * rtol * abs(n) -> (rtol * abs(n) + atol) * size
a quotient of the percentage :: 100 * differ / len(pairs) -> differ / len(pairs) * 100
"""


@dataclass(frozen=True)
class Client:
    """A mistake, and the text of the client that makes it."""

    said: str
    text: str
    kind: str

    def start(self) -> Answer:
        """Return the answer of a client that was just started."""
        names: dict[str, Any] = {"__name__": "client", "usual": USUAL}
        exec(compile(HELPERS + self.text, self.said, "exec"), names)
        answer: Answer = names["answer"]
        return answer


def edited(text: str, edit: str) -> str:
    """Make an edit of a text."""
    old, arrow, new = edit.replace("¶", "\n").partition(" -> ")
    if not arrow:
        place, _, code = edit.partition(" + ")
        old = PLACES[place]
        line = next(line for line in text.splitlines() if line.endswith(old))
        new = f"{old}\n{line[: -len(line.lstrip())]}{code.strip()}"
    assert text.count(old) == 1, (edit, text.count(old))
    return text.replace(old, new.strip(" "))


def clients(table: str, kind: str) -> list[Client]:
    """Return the clients of a table."""
    found = []
    for rows in re.split(r"\n(?! )", table.strip()):
        said, *edits = re.split(r"\s*:: ", rows)
        text = SOURCE.read_text(encoding="utf-8")
        for edit in edits:
            text = edited(text, edit)
        found.append(Client(said, text, kind))
    return found


RIGHT = clients(ORDERS, "right")
CLIENTS = [
    *clients(COMPARISONS, "comparisons"),
    *clients(QUOTIENTS, "quotients and walks"),
    *clients(MISTAKES, "clients"),
]
