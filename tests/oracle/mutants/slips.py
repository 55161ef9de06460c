"""Mistakes that people make in a difference quotient, in the walk, and in a whole check.

As ``mistakes.py`` has them for the comparison rules: a right implementation in doubles, as short as
it can be, with knobs to turn it wrong. A verdict is judged by the truth itself, so that nothing
but the mistake is wrong.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from gradcheck_ref.oracle.generate.functions import Point, named
from gradcheck_ref.oracle.generate.layout import arranged, flat, mapped, shape
from gradcheck_ref.oracle.generate.numbers import rounded
from gradcheck_ref.oracle.generate.verdict import gradient

Request = dict[str, Any]
Reply = dict[str, Any]


@dataclass(frozen=True)
class Slip:
    """A mistaken implementation of one kind, and the groups in which it can be seen."""

    kind: str
    said: str
    answer: Callable[[Request], Reply]
    groups: tuple[str, ...] = ()  # all of the kind, if empty


# --- stencil -------------------------------------------------------------------------------------

PAIRS = {"forward": ((2, 3),), "central": ((1, 3),), "five-point": ((1, 3), (0, 4))}
WEIGHTS = {1: (1.0,), 2: (4 / 3, -1 / 3)}


def stencil(
    request: Request,
    *,
    pairs: tuple[tuple[int, int], ...] = (),
    weights: tuple[float, ...] = (),
    step: str = "",
    wide: Callable[[float, float], tuple[float, float]] = lambda near, far: (near, far),
    allows: tuple[str, ...] = (),
    weigh: Callable[[list[float]], list[float]] = lambda u: u,
    sample: Callable[[float], float] = lambda v: v,
    told: Callable[[float], float] = lambda v: v,
) -> Reply:
    """Take a difference quotient, in doubles."""
    x, h = float(request["x"]), float(request["h"])
    step = step or request["step"]
    places = [float(place) for place, _ in request["samples"]]
    pairs = pairs or PAIRS[request["formula"]]
    looked_at = [(places[low], places[high]) for low, high in PAIRS[request["formula"]]]
    if reason := _bad(x, h, looked_at, step, allows):
        return {"refused": reason}
    rows = [[sample(float(v)) for v in flat(value)] for _, value in request["samples"]]
    upstream = weigh([float(u) for u in flat(request.get("upstream", "1"))])
    widths = [
        places[high] - places[low] if step == "taken" else (high - low) * h for low, high in pairs
    ]
    if len(widths) == 2:
        widths = list(wide(*widths))
    slopes = []
    for (low, high), width in zip(pairs, widths, strict=True):
        rise = sum(u * (b - a) for u, a, b in zip(upstream, rows[low], rows[high], strict=False))
        slopes.append(_divided(rise, width))
    slope = sum(w * s for w, s in zip(weights or WEIGHTS[len(slopes)], slopes, strict=True))
    return {"slope": repr(told(slope))}


def _bad(
    x: float, h: float, pairs: list[tuple[float, float]], step: str, allows: tuple[str, ...]
) -> str:
    infinite = any(abs(place) == math.inf for pair in pairs for place in pair)
    reasons = {
        "h = 0": h == 0,
        "h < 0": h < 0,
        "h is NaN": h != h,
        "h is infinite": h == math.inf,
        "x is NaN": x != x,
        "x is infinite": abs(x) == math.inf,
        "x + h is too large": math.isfinite(x) and h < math.inf and infinite,
        "h vanishes": step == "taken" and 0 < h < math.inf and any(a == b for a, b in pairs),
    }
    return next((why for why, holds in reasons.items() if holds and why not in allows), "")


def _divided(above: float, below: float) -> float:
    if below:
        return above / below
    return math.nan if above == 0 or above != above else math.copysign(math.inf, above)


BAD = ("h = 0", "h < 0", "h is NaN", "h is infinite", "x is NaN", "x is infinite")
PLACES = ("x + h is too large", "h vanishes")


def _with(reason: str) -> tuple[str, ...]:
    """Allow one bad argument, and what follows from it."""
    return (reason, *PLACES) if reason == "x is infinite" else (reason,)


def _of_stencil() -> Iterator[Slip]:
    def slip(said: str, *groups: str, **knobs: Any) -> Slip:
        where = tuple(f"stencil/{group}" for group in groups)
        return Slip("stencil", said, partial(stencil, **knobs), where)

    both = {name: (name, f"{name}-nominal") for name in ("forward", "central")}
    yield slip("central for forward", *both["forward"], pairs=((1, 3),))
    yield slip("backward for forward", *both["forward"], pairs=((1, 2),))
    yield slip("two steps for one, forward", *both["forward"], pairs=((2, 4),))
    yield slip("forward for central", *both["central"], pairs=((2, 3),))
    yield slip("backward for central", *both["central"], pairs=((1, 2),))
    yield slip("two steps for one, central", *both["central"], pairs=((0, 4),))
    yield slip("five-point: halves for thirds", "five-point", weights=(1.5, -0.5))
    yield slip("five-point: one-sided far", "five-point", pairs=((1, 3), (2, 4)))
    # The textbook's sum over 12 s takes one s for both distances.
    yield slip("five-point: near's distance for both", "five-point", wide=lambda n, f: (n, 2 * n))
    taken = ("forward", "central", "five-point", "central-upstream")
    for name in taken:  # each by itself, for one of them may hide that another has no vector
        yield slip(f"{name}: the step wished for", name, step="nominal", allows=("h vanishes",))
    yield slip("the step taken", "forward-nominal", "central-nominal", step="taken")
    for reason in (*BAD, *PLACES):
        yield slip(f"takes it though {reason}", *taken[:3], allows=_with(reason))
    up = "central-upstream"
    yield slip("upstream without signs", up, weigh=lambda u: [abs(v) for v in u])
    yield slip("the first twelve outputs", up, weigh=lambda u: u[:12])
    for said, change in (("float32", _single), ("subnormals are 0", _flushed)):
        yield slip(f"samples: {said}", sample=change)
        yield slip(f"slopes: {said}", told=change)
    yield slip("15 digits", told=lambda v: float(f"{v:.15g}"))
    yield slip("infinity told as a large number", told=lambda v: max(min(v, 1e308), -1e308))
    yield slip("NaN samples are 0", sample=lambda v: 0.0 if v != v else v)


def _single(value: float) -> float:
    """Round to the 24 bits of float32."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * 2**24), exponent - 24) if math.isfinite(value) else value


def _flushed(value: float) -> float:
    return value if abs(value) >= 2.2250738585072014e-308 or value != value else 0.0


# --- escalate ------------------------------------------------------------------------------------


def escalate(
    request: Request,
    *,
    allowed: Callable[[float, float, float, float], float] = lambda r, t, s, g: t + r * abs(s),
    agrees: Callable[[float, float], bool] = lambda error, allowed: error < allowed,
    orders: tuple[int, ...] = (1, 2, 4),
    last: Callable[[float, float], float] = lambda near, far: near + (near - far) / 3,
    step: str = "",
    allows: tuple[str, ...] = (),
    usual: float | None = None,
    end: Callable[[bool, float, float], tuple[int, float]] | None = None,
    sample: Callable[[float], float] = lambda v: v,
    told_slope: Callable[[float], float] = lambda slope: slope,
    most: float = math.inf,
) -> Reply:
    """Walk from the forward slope to the five-point one, in doubles."""
    x, h, claim = (float(request[key]) for key in ("x", "h", "claimed"))
    rtol, atol = (float(request[key]) for key in ("rtol", "atol"))
    step = step or request["step"]
    places = [float(place) for place, _ in request["samples"]]
    values = [sample(float(value)) for _, value in request["samples"]]
    if rtol > most:
        return {"refused": f"rtol is {rtol}"}
    if request["step"] == "taken":
        for name, tolerance in (("rtol", rtol), ("atol", atol)):
            if not 0 <= tolerance < math.inf and name not in allows:
                return {"refused": f"{name} is {tolerance}"}
        looked_at = [(places[low], places[high]) for low, high in ((2, 4), (0, 4), (1, 3))]
        if reason := _bad(x, h, looked_at, step, allows):
            return {"refused": reason}
    rtol = rtol if usual is None else usual

    def slope(low: int, high: int) -> float:
        width = places[high] - places[low] if step == "taken" else (high - low) / 2 * h
        return _divided(values[high] - values[low], width)

    forward, far, near = slope(2, 4), slope(0, 4), slope(1, 3)
    slopes = {1: forward, 2: far, 4: last(near, far)}
    for order in orders:
        close = agrees(abs(slopes[order] - claim), allowed(rtol, atol, slopes[order], claim))
        if close or order == orders[-1]:
            if end and order == orders[-1]:
                order, slopes[order] = end(close, slopes[2], slopes[order])
            return {"order": order, "slope": repr(told_slope(slopes[order]))}
    raise AssertionError("the last order always ends the walk")


def _of_escalate() -> Iterator[Slip]:
    def slip(said: str, *groups: str, **knobs: Any) -> Slip:
        where = tuple(f"escalate/{group}" for group in groups)
        return Slip("escalate", said, partial(escalate, **knobs), where)

    for group in ("taken", "nominal"):
        yield slip(f"{group}: max(atol, rtol |slope|)", group,
                   allowed=lambda r, t, s, g: max(t, r * abs(s)))  # fmt: skip
        yield slip(f"{group}: rtol |claim|", group, allowed=lambda r, t, s, g: t + r * abs(g))
        yield slip(f"{group}: rtol slope, without bars", group,
                   allowed=lambda r, t, s, g: t + r * s)  # fmt: skip
        yield slip(f"{group}: <= for <", group, agrees=lambda e, t: e <= t)
        yield slip(f"{group}: a slack of 1 in 1e12", group,
                   agrees=lambda e, t: e < t * (1 + 1e-12))  # fmt: skip
        yield slip(f"{group}: tight by 1e-12", group, agrees=lambda e, t: e + 1e-12 < t)
        yield slip(f"{group}: NaN agrees", group, agrees=lambda e, t: not e >= t)
        yield slip(f"{group}: no central slope", group, orders=(1, 4))
        yield slip(f"{group}: halves for thirds", group, last=lambda n, f: n + (n - f) / 2)
        other = "nominal" if group == "taken" else "taken"
        yield slip(f"{group}: the other step", group, step=other, allows=("h vanishes",))
        yield slip(f"{group}: the usual rtol", group, usual=0.1)
        yield slip(f"{group}: back to central if five-point disagrees too", group,
                   end=lambda close, far, five: (4, five) if close else (2, far))  # fmt: skip
        yield slip(f"{group}: samples are float32", group, sample=_single)
    for reason in (*BAD, *PLACES, "rtol", "atol"):
        yield slip(f"takes it though {reason}", "taken", allows=_with(reason))
    yield slip("subnormal slopes told as 0", "taken", told_slope=_flushed)
    yield slip("rtol above 1 refused", "taken", "nominal", most=1.0)


# --- verdict -------------------------------------------------------------------------------------


@cache
def _truth(function: str, inputs: str, upstream: str) -> Any:
    point = Point(tuple(_read(x) for x in json.loads(inputs)), _read(json.loads(upstream)))
    exactly = gradient(named(function), point)
    return [None if g is None else [rounded(v) for v in flat(g)] for g in exactly]


def _read(nested: Any) -> Any:
    return mapped(lambda v: float(v) if isinstance(v, str) else v, nested)


def verdict(
    request: Request,
    *,
    rtol: Callable[[float], float] = lambda rtol: rtol,
    entries: Callable[[list[Any]], list[Any]] = lambda pairs: pairs,
    combine: Callable[[list[float]], float] = max,
    inputs: Callable[[list[Any]], list[Any]] = lambda gradients: gradients,
    size: Callable[[list[float], list[list[float]]], float] = lambda own, _: _largest(own),
    shaped: Callable[[Any, Any], Any] = lambda claim, x: (
        claim if shape(claim) == shape(x) else None
    ),
    upstream: Callable[[Any], Any] = lambda u: u,
) -> Reply:
    """Hold a claim against the truth: wrong if an entry is off by rtol of the largest."""
    weights = mapped(repr, upstream(_read(request["upstream"])))
    truth = _truth(request["function"], json.dumps(request["inputs"]), json.dumps(weights))
    claims = [
        shaped(c, x) if c is not None else []
        for c, x in zip(request["claimed"], request["inputs"], strict=True)
    ]
    if None in claims:
        return {"verdict": "fail"}
    claimed = [[float(v) for v in flat(claim)] for claim in claims]
    pairs = [(t, c) for t, c in zip(truth, claimed, strict=True) if t is not None]
    allowed = rtol(float(request["rtol"]))
    for true, claim in inputs(pairs):
        largest = size(true, [other for other, _ in pairs]) or 1e-300
        off = [
            abs(c - t) / largest if math.isfinite(c) else math.inf
            for t, c in entries(list(zip(true, claim, strict=True)))
        ]
        if off and not combine(off) <= allowed:
            return {"verdict": "fail"}
    return {"verdict": "pass"}


def _largest(entries: list[float]) -> float:
    return max(map(abs, entries))


def _length(entries: list[float]) -> float:
    return math.hypot(*entries)


def _of_verdict() -> Iterator[Slip]:
    def slip(said: str, **knobs: Any) -> Slip:
        return Slip("verdict", said, partial(verdict, **knobs))

    for fixed in (1e-7, 1e-5):
        yield slip(f"rtol is {fixed:g} whatever is asked", rtol=lambda _, fixed=fixed: fixed)
    yield slip("all but the first entry", entries=lambda pairs: pairs[1:] or pairs)
    yield slip("the first 128 entries", entries=lambda pairs: pairs[:128])
    yield slip("of the first input's largest", size=lambda _, every: _largest(every[0]))
    yield slip("of the last input's largest", size=lambda _, every: _largest(every[-1]))
    yield slip("the relative norm", combine=_length, size=lambda own, _: _length(own))
    yield slip("the sum of the errors, of the largest entry", combine=sum)
    yield slip("the last input", inputs=lambda gradients: gradients[-1:])
    yield slip(
        "one number for all",
        shaped=lambda c, x: (
            flat(c) * len(flat(x))
            if shape(c) in ((), shape(x)[:0])
            else c
            if shape(c) == shape(x)
            else None
        ),
    )
    yield slip(
        "as long along the first dimension",
        shaped=lambda c, x: _fitted(c, x) if shape(c)[:1] == shape(x)[:1] else None,
    )
    yield slip(
        "a number is no array", shaped=lambda c, x: c if shape(c) == shape(x) != () else None
    )
    yield slip(
        "a number is an array of one",
        shaped=lambda c, x: (
            c if shape(c) == shape(x) or len(flat(x)) == len(flat(c)) == 1 else None
        ),
    )
    yield slip(
        "large inputs fail",
        shaped=lambda c, x: (
            c if shape(c) == shape(x) and max(abs(float(v)) for v in flat(x)) < 1e7 else None
        ),
    )
    yield slip(
        "NaN where the truth is 0", entries=lambda pairs: [(t, c) for t, c in pairs if t or c == c]
    )
    yield slip(
        "infinity where the truth is 0",
        entries=lambda pairs: [(t, c) for t, c in pairs if t or abs(c) != math.inf],
    )
    yield slip(
        "the entries sorted",
        entries=lambda pairs: list(zip(*map(sorted, zip(*pairs, strict=True)), strict=True)),
    )
    for said, weigh in (
        ("1", lambda us: us if len(us) > 1 else [1.0]),
        ("its sign", lambda us: us if len(us) > 1 else [math.copysign(1.0, us[0])]),
    ):
        yield slip(f"upstream: {said} where it is a number", upstream=partial(_each, weigh))
    for key in ("upstream", "claimed"):
        yield Slip("verdict", f"{key} of the question before", _keeping(partial(_before, key)))
    for key, by in (("upstream", "inputs"), ("inputs", "upstream"), ("rtol", "claimed")):
        said = f"{key} as at first, with the same {by}"
        yield Slip("verdict", said, _keeping(partial(_first, key, by)))


def _fitted(claim: Any, x: Any) -> Any:
    """Cut or fill the entries of a claim to those of the input."""
    entries = flat(claim)
    return (entries * len(flat(x)))[: len(flat(x))] if entries else None


def _each(weigh: Callable[[list[float]], list[float]], upstream: Any) -> Any:
    return arranged(weigh(flat(upstream)), shape(upstream))


def _keeping(change: Callable[[Request, Request], Request]) -> Callable[[Request], Reply]:
    """Answer with what was kept of the questions before."""
    kept: Request = {}
    return lambda request: verdict(change(request, kept))


def _before(key: str, request: Request, kept: Request) -> Request:
    was = kept.get(key, request[key])
    kept[key] = request[key]
    fits = str(mapped(lambda v: 0, was)) == str(mapped(lambda v: 0, request[key]))
    return {**request, key: was} if fits else request


def _first(key: str, by: str, request: Request, kept: Request) -> Request:
    known = json.dumps([request["function"], request[by], mapped(lambda v: 0, request[key])])
    return {**request, key: kept.setdefault(known, request[key])}


ANSWERS: dict[str, Callable[[Request], Reply]] = {
    "stencil": stencil, "escalate": escalate, "verdict": verdict,
}  # fmt: skip


def slips() -> Iterator[Slip]:
    """Yield every mistake of every kind that is not a comparison rule."""
    yield from _of_stencil()
    yield from _of_escalate()
    yield from _of_verdict()
