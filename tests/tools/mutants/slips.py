"""Mistakes that people make in a whole check.

A right implementation in doubles, as short as it can be, with knobs to turn it wrong. It judges by
the truth itself, so that nothing but the mistake is wrong.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
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
    """A mistaken check."""

    said: str
    answer: Callable[[Request], Reply]
    kind = "verdicts"


Other = Callable[[str, Callable[..., Any]], Callable[..., Any]]  # of a name and a function


def itself(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Take the function that is asked for."""
    return f


@cache
def _truth(function: str, inputs: str, upstream: str, other: Other) -> Any:
    point = Point(tuple(_read(x) for x in json.loads(inputs)), _read(json.loads(upstream)))
    asked = named(function)
    exactly = gradient(replace(asked, f=other(function, asked.f)), point)
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
    fits: Callable[[Any, Any], bool] = lambda claim, x: shape(claim) == shape(x),
    upstream: Callable[[Any], Any] = lambda u: u,
    other: Other = itself,
    slack: float = 0.0,
) -> Reply:
    """Hold a claim against the truth: wrong if an entry is off by rtol of the largest."""
    weights = mapped(repr, upstream(_read(request["upstream"])))
    truth = _truth(request["function"], json.dumps(request["inputs"]), json.dumps(weights), other)
    asked = list(zip(request["claimed"], request["inputs"], truth, strict=True))
    compared = [(claim, x, true) for claim, x, true in asked if true is not None]
    if not all(fits(claim, x) for claim, x, _ in compared):
        return {"verdict": "fail"}
    pairs = [(true, _filled(claim, len(true))) for claim, _, true in compared]
    allowed = rtol(float(request["rtol"]))
    for true, claim in inputs(pairs):
        largest = size(true, [other for other, _ in pairs]) or 1e-300
        off = [
            max(abs(c - t) - slack, 0.0) / largest if math.isfinite(c) else math.inf
            for t, c in entries(list(zip(true, claim, strict=True)))
        ]
        if off and not combine(off) <= allowed:
            return {"verdict": "fail"}
    return {"verdict": "pass"}


def _largest(entries: Iterable[float]) -> float:
    return max(map(abs, entries))


def _filled(claim: Any, size: int) -> list[float]:
    """Cut the entries of a claim to so many, or repeat them."""
    return (list(map(float, flat(claim))) * size)[:size]


def slips() -> Iterator[Slip]:
    """Yield every mistake in a verdict."""

    def norm(entries: list[float]) -> float:
        return math.hypot(*entries)

    def slip(said: str, **knobs: Any) -> Slip:
        return Slip(said, partial(verdict, **knobs))

    for fixed in (1e-7, 1e-5):
        yield slip(f"rtol is {fixed:g} whatever is asked", rtol=lambda _, fixed=fixed: fixed)
    yield slip("all but the first entry", entries=lambda pairs: pairs[1:] or pairs)
    yield slip("the first 128 entries", entries=lambda pairs: pairs[:128])
    yield slip("of the first input's largest", size=lambda _, every: _largest(every[0]))
    yield slip("of the last input's largest", size=lambda _, every: _largest(every[-1]))
    yield slip("the relative norm", combine=norm, size=lambda own, _: norm(own))
    yield slip("the sum of the errors, of the largest entry", combine=sum)
    yield slip("the last input", inputs=lambda gradients: gradients[-1:])
    yield slip("one number for all", fits=lambda c, x: shape(c) in ((), shape(x)))
    yield slip(
        "as long along the first dimension",
        fits=lambda c, x: shape(c)[:1] == shape(x)[:1] and flat(c),
    )
    yield slip("a number is no array", fits=lambda c, x: shape(c) == shape(x) != ())
    yield slip(
        "a number is an array of one",
        fits=lambda c, x: shape(c) == shape(x) or len(flat(x)) == len(flat(c)) == 1,
    )
    yield slip(
        "large inputs fail",
        fits=lambda c, x: shape(c) == shape(x) and _largest(map(float, flat(x))) < 1e7,
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
    yield slip("more than three dimensions fail", fits=lambda c, x: shape(c) == shape(x)[:3])
    yield slip(
        "as long along the first three dimensions",
        fits=lambda c, x: shape(c)[:3] == shape(x)[:3] and len(flat(c)) == len(flat(x)),
    )
    yield slip("a slack of 1e-20", slack=1e-20)
    for said, limit in (
        ("at most 1e20", lambda u: min(abs(u), 1e20)),
        ("at most 65504", lambda u: min(abs(u), 65504.0)),
        ("0 below 1e-20", lambda u: abs(u) if abs(u) > 1e-20 else 0.0),
    ):
        cut = partial(_each, lambda us, limit=limit: [math.copysign(limit(u), u) for u in us])
        yield slip(f"upstream: {said}", upstream=cut)
    for said, name, wrong in (
        ("ReLU6 for ReLU", "relu", lambda f: lambda x: mapped(relu6, x)),
        ("a determinant without its sign", "determinant", lambda f: lambda a: _positive(f(a))),
        ("a determinant for a first pivot above 0", "determinant",
            lambda f: lambda a: f(a) if a[0][0] > 0 else -f(a)),
        ("clip at 1.0002", "clip", lambda f: lambda x: [v * 10002 / 10000 for v in
            f([v * 10000 / 10002 for v in x])]),
    ):  # fmt: skip
        yield slip(said, other=partial(_in_place_of, name, wrong))
    for said, weigh in (
        ("1", lambda us: us if len(us) > 1 else [1.0]),
        ("its sign", lambda us: us if len(us) > 1 else [math.copysign(1.0, us[0])]),
    ):
        yield slip(f"upstream: {said} where it is a number", upstream=partial(_each, weigh))
    for key in ("upstream", "claimed"):
        yield Slip(f"{key} of the question before", _keeping(partial(_before, key)))
    for key, by in (("upstream", "inputs"), ("inputs", "upstream"), ("rtol", "claimed")):
        said = f"{key} as at first, with the same {by}"
        yield Slip(said, _keeping(partial(_first, key, by)))


def relu6(x: Any) -> Any:
    """Cut off below 0 and above 6."""
    return x * 0 + 6 if x > 6 else x if x > 0 else x * 0


def _in_place_of(
    name: str, wrong: Callable[..., Any], asked: str, f: Callable[..., Any]
) -> Callable[..., Any]:
    """Take another function in place of one."""
    return wrong(f) if asked == name else f


def _positive(y: Any) -> Any:
    return y if y > 0 else -y


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
