"""Is a reply right? What the runner holds against the vectors."""

import json
import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal, DecimalException
from typing import Any

from gradcheck_ref.oracle.vectors import Vector

# A real in a reply: what C, JavaScript, Julia and Python print, whatever the case. Of NaN some C
# libraries say more: "-nan(ind)".
REAL = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan(\(\w*\))?)", re.IGNORECASE)
LONGEST_REAL = 400
EXACTLY = Context(prec=60)

# Besides the id, what a reply of each kind may hold.
KEYS = {
    "stencil": {"slope"},
    "compare": {"close", "error", "relative", "percent"},
    "escalate": {"order", "slope"},
    "verdict": {"verdict"},
}


@dataclass(frozen=True)
class Outcome:
    """What came of one vector.

    Attributes
    ----------
    vector : Vector
        What was asked.
    status : str
        ``"passed"``, ``"failed"`` (a wrong answer), ``"error"`` (no answer), or ``"ambiguous"``
        (an answer where several are right).
    why : str
        What is wrong with it; empty if nothing.
    got : str
        The reply, shortened.
    """

    vector: Vector
    status: str
    why: str = ""
    got: str = ""


class MalformedError(Exception):
    """The reply is no answer to the question at all."""


def judge(vector: Vector, reply: dict[str, Any]) -> Outcome:
    """Compare a reply with the vector.

    Parameters
    ----------
    vector : Vector
        What was asked.
    reply : dict
        The reply, as read from its line. A key whose value is null counts as left out: many
        languages write all the fields that a reply may have.

    Returns
    -------
    Outcome
    """
    got = shortened(reply)
    reply = {key: value for key, value in reply.items() if value is not None}
    try:
        _well_formed(vector, reply)
        why = _what_is_wrong(vector, reply)
    except MalformedError as malformed:
        return Outcome(vector, "error", str(malformed), got)
    if vector.expected["result"] == "acceptable":
        return Outcome(vector, "ambiguous", why, got)
    return Outcome(vector, "failed" if why else "passed", why, got)


def shortened(said: Any, most: int = 300) -> str:
    """Write what was said, text as it is and all else as JSON, at a bounded length."""
    text = said if isinstance(said, str) else json.dumps(said)
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def _well_formed(vector: Vector, reply: dict[str, Any]) -> None:
    if "problem" in reply:
        said = shortened(json.dumps(reply["problem"]), 200)
        raise MalformedError(f"the implementation has a problem: {said}")
    if "refused" in reply:
        if not isinstance(reply["refused"], str) or not reply["refused"].strip():
            said = shortened(json.dumps(reply["refused"]), 40)
            raise MalformedError(f"refused is {said}: give the reason in words, or leave it out")
        return
    wanted = KEYS[vector.kind] & (vector.expected.keys() | {"close", "error", "slope", "order"})
    if vector.kind == "verdict":
        wanted = {"verdict"}
    if missing := wanted - reply.keys():
        raise MalformedError(f"the reply has no {' and no '.join(sorted(missing))}")
    if vector.kind == "compare" and not isinstance(reply["close"], bool):
        raise MalformedError(f"close is {shortened(reply['close'], 40)}, not true or false")
    if vector.kind == "verdict" and reply["verdict"] not in ("pass", "fail", "unsure"):
        said = shortened(reply["verdict"], 40)
        raise MalformedError(f"verdict is {said}, not pass, fail or unsure")
    if vector.kind == "escalate" and json.dumps(reply["order"]) not in ("1", "2", "4"):
        raise MalformedError(f"order is {shortened(reply['order'], 40)}, not 1, 2 or 4")
    for key in sorted(wanted & {"slope", "error", "relative", "percent"}):
        _reals(reply[key], key)


def _reals(value: Any, where: str) -> None:
    """Refuse what is neither a real, written as a string, nor a list of them."""
    if isinstance(value, list):
        for i, part in enumerate(value):
            _reals(part, f"{where}[{i}]")
    elif isinstance(value, bool | int | float):
        raise MalformedError(f"{where} is the number {value}: reals are written as strings")
    elif not isinstance(value, str) or len(value) > LONGEST_REAL or not REAL.fullmatch(value):
        raise MalformedError(f"{where} is {shortened(repr(value), 60)}, which is no real number")


def _what_is_wrong(vector: Vector, reply: dict[str, Any]) -> str:
    expected = vector.expected
    if expected.get("refused"):
        return "" if "refused" in reply else "this must be refused"
    if vector.kind in ("compare", "verdict"):
        if "refused" in reply:  # a refusal is one way not to pass
            return "" if expected["result"] == "invalid" else "refused, though it is right"
    elif "refused" in reply:
        return "" if expected["slope"] == "nonfinite" else "refused, though there is an answer"
    if vector.kind == "verdict":
        right = {"valid": "pass", "invalid": "fail"}.get(expected["result"], reply["verdict"])
        said = reply["verdict"]
        return "" if said == right else f"verdict is {said}, expected {right}"
    if vector.kind == "compare":
        return _comparison(expected, reply)
    if vector.kind == "escalate" and reply["order"] != expected["order"]:
        return f"order is {reply['order']}, expected {expected['order']}"
    return _distance(reply["slope"], expected["slope"], expected.get("within", "0"), "slope")


def _comparison(expected: dict[str, Any], reply: dict[str, Any]) -> str:
    if reply["close"] is not expected["close"]:
        said, right = (str(side["close"]).lower() for side in (reply, expected))
        return f"close is {said}, expected {right}"
    for key, within in expected["within"].items():
        if why := _distance(reply[key], expected[key], within, key):
            return why
    return ""


def _distance(got: Any, expected: Any, within: Any, where: str) -> str:
    """Say which real is too far from what is expected; null expects nothing."""
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"{where} has another shape than expected, {shortened(expected, 80)}"
        found = (
            _distance(g, e, w, f"{where}[{i}]")
            for i, (g, e, w) in enumerate(zip(got, expected, within, strict=True))
        )
        return next(filter(None, found), "")
    if isinstance(got, list):
        return f"{where} is a list, expected one number"
    if expected is None or close_enough(got, expected, within):
        return ""
    allowed = f" (within {within})" if within != "0" else ""
    return f"{where} is {got}, expected {expected}{allowed}"


def close_enough(got: str, expected: str, within: str) -> bool:
    """Compare two reals as decimals.

    Parameters
    ----------
    got, expected : str
        Reals as text; ``"nonfinite"`` expects NaN or an infinity.
    within : str
        How far apart they may be.

    Returns
    -------
    bool

    Examples
    --------
    >>> close_enough("0.30000000000000004", "0.3", "1e-16"), close_enough("nan", "nan", "0")
    (True, True)
    """
    number = float(got.partition("(")[0])
    if expected == "nonfinite":
        return not math.isfinite(number)
    right = float(expected)
    if not (math.isfinite(number) and math.isfinite(right)):
        return number == right or (math.isnan(number) and math.isnan(right))
    if number == right:  # nearly always, and much faster
        return True
    try:
        apart = EXACTLY.subtract(Decimal(got), Decimal(expected))
    except DecimalException:  # an exponent beyond even decimals: as a double it is zero
        apart = EXACTLY.subtract(Decimal(number), Decimal(expected))
    return abs(apart) <= Decimal(within)
