"""Frozen questions in other units: their values times a power of two, or minus that.

A question that is drawn at large seldom has two rare properties at once. A frozen one was made for
them. Nothing is rounded when its units change, so it keeps what is tricky about it, and a table of
the frozen answers does not have its answer.
"""

from collections.abc import Collection, Iterator
from decimal import Decimal
from random import Random
from typing import Any

from . import compare
from .layout import Vector, flat, mapped, read
from .numbers import finite, text

FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CALM = (1e-60, 1e60)  # beyond that, what is computed on the way might leave the range of a double
VALUES = {  # what is multiplied, and what is multiplied by the size of the factor
    "stencil": (("slope",), ("within",)),
    "compare": (("analytic", "numeric"), ("atol", "floor")),
    "escalate": (("claimed", "slope"), ("atol", "within")),
    "verdict": (("upstream", "claimed"), ()),
    "whole": (("lines",), ()),
}


def with_every_trap(groups: Collection[str], chance: Random) -> Iterator[Vector]:
    """Yield frozen questions without end: every flag of every group, before one comes again.

    The functions of ``verdict`` are one group here. A question with several flags counts for each.
    """
    by_trap: dict[tuple[str, str], list[Vector]] = {}
    for kind in dict.fromkeys(map(_kind_of, groups)):
        for vector in frozen(kind):
            if vector["result"] != "acceptable" and vector["group"] in groups:
                for trap in _traps(vector):
                    by_trap.setdefault(trap, []).append(vector)
    while True:
        seen = set[tuple[str, str]]()
        for trap in chance.sample(list(by_trap), len(by_trap)):
            if trap not in seen:
                vector = chance.choice(by_trap[trap])
                seen.update(_traps(vector))
                yield vector


def frozen(kind: str) -> Iterator[Vector]:
    """Yield the vectors of a kind, with the keys of the group."""
    for group in read(kind)["groups"]:
        shared = {key: value for key, value in group.items() if key != "tests"}
        yield from ({**shared, **test} for test in group["tests"])


def _kind_of(group: str) -> str:
    return group.split("/")[0]


def _traps(vector: Vector) -> list[tuple[str, str]]:
    kind = _kind_of(vector["group"])
    name = kind if kind == "verdict" else vector["group"]
    return [(name, flag) for flag in vector["flags"] or ("",)]


def in_other_units(vector: Vector, chance: Random) -> Vector:
    """Return a frozen vector, question and answer, in units that are drawn."""
    test = dict(vector)
    signed, sizes = VALUES[_kind_of(test["group"])]
    samples = [value for _, value in test.get("samples", ())]
    numbers = [v for key in (*signed, *sizes) for v in flat(test.get(key, []))] + flat(samples)
    calm = all(_is_calm(v) for v in numbers if v not in (None, "nonfinite"))
    factor = chance.choice((1, -1)) * (chance.choice(FACTORS) if calm else 1.0)
    if "samples" in test:
        test["samples"] = [[place, _times(value, factor)] for place, value in test["samples"]]
    for keys, times in ((signed, factor), (sizes, abs(factor))):
        test |= {key: _times(test[key], times) for key in keys if key in test}
    test["description"] += f", times {factor:g}"
    if "rule" in test:  # some rules have a number of their own, which keeps its unit
        return {"group": test["group"], "rule": test["rule"], **compare.answered(test)}
    return test


def _is_calm(number: str) -> bool:
    value = abs(float(number))
    return not value or not finite(value) or CALM[0] < value < CALM[1]


def _times(nested: Any, factor: float) -> Any:
    """Multiply numbers that are written as text: doubles, or expected ones with more digits."""

    def product(number: str | None) -> str | None:
        if number in (None, "nonfinite"):
            return number
        if text(float(number)) == number:
            return text(float(number) * factor)
        return str(Decimal(number) * Decimal(factor))

    return mapped(product, nested)
