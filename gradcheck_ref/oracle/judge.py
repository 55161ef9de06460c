"""Compare a reply with its vector."""

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal, DecimalException
from typing import Any

from gradcheck_ref.conversation.messages import as_float, excuses, shortened
from gradcheck_ref.oracle.table import EXCUSES, reply_to
from gradcheck_ref.oracle.vectors import Vector

EXACTLY = Context(prec=60)


@dataclass(frozen=True)
class Outcome:
    """The result of one vector.

    Attributes
    ----------
    vector : Vector
        The question.
    status : str
        ``"passed"``, ``"failed"`` (a wrong answer), ``"error"`` (no answer), or ``"ambiguous"``
        (an answer where several are right).
    why : str
        The reason if it is wrong, else empty.
    got : str
        The reply, shortened.
    reply : dict
        The reply itself; empty if there was none.
    """

    vector: Vector
    status: str
    why: str = ""
    got: str = ""
    reply: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


def judge(vector: Vector, reply: dict[str, Any]) -> Outcome:
    """Compare a reply with the vector.

    Parameters
    ----------
    vector : Vector
        The question.
    reply : dict
        The reply, as read from its line. A key whose value is null counts as left out, and so does
        an excuse that is false or empty: many languages write all the fields that a reply may have.

    Returns
    -------
    Outcome
    """
    got = shortened(reply)
    reply = {
        key: value
        for key, value in reply.items()
        if value is not None and (key not in EXCUSES or excuses(value))
    }
    malformed = reply_to(vector.kind, vector.request).wrong(reply, "the reply")
    if not malformed and "problem" in reply:
        malformed = f"the implementation has a problem: {shortened(reply['problem'], 200)}"
    if malformed:
        return Outcome(vector, "error", malformed, got, reply)
    why = _what_is_wrong(vector, reply)
    if not vector.counts:
        return Outcome(vector, "ambiguous", why, got, reply)
    return Outcome(vector, "failed" if why else "passed", why, got, reply)


def _what_is_wrong(vector: Vector, reply: dict[str, Any]) -> str:
    expected = vector.expected
    if expected.get("refused"):
        return "" if "refused" in reply else "this must be refused"
    if vector.kind in ("compare", "verdict"):
        if "refused" in reply:  # a refusal counts as a no
            return "" if expected["result"] == "invalid" else "refused, though it is right"
    elif "refused" in reply:
        told = expected["error" if vector.kind == "whole" else "slope"]
        return "" if told == "nonfinite" else "refused, though there is an answer"
    if vector.kind == "verdict":
        right = {"valid": "pass", "invalid": "fail"}.get(expected["result"], reply["verdict"])
        said = reply["verdict"]
        return "" if said == right else f"verdict is {said}, expected {right}"
    if vector.kind == "compare":
        return _comparison(expected, reply)
    if vector.kind == "whole":
        return _distances(expected, reply)
    if vector.kind == "escalate" and reply["order"] != expected["order"]:
        return f"order is {reply['order']}, expected {expected['order']}"
    return _distance(reply["slope"], expected["slope"], expected.get("within", "0"), "slope")


def _comparison(expected: dict[str, Any], reply: dict[str, Any]) -> str:
    if reply["close"] is not expected["close"]:
        said, right = (str(side["close"]).lower() for side in (reply, expected))
        return f"close is {said}, expected {right}"
    return _distances(expected, reply)


def _distances(expected: dict[str, Any], reply: dict[str, Any]) -> str:
    for key, within in expected["within"].items():
        if why := _distance(reply[key], expected[key], within, key):
            return why
    return ""


def _distance(got: Any, expected: Any, within: Any, where: str) -> str:
    """Say which real is too far from the expected one; null accepts any real."""
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
    number = as_float(got)
    if expected == "nonfinite":
        return not math.isfinite(number)
    right = float(expected)
    if not (math.isfinite(number) and math.isfinite(right)):
        return number == right or (math.isnan(number) and math.isnan(right))
    if number == right:  # nearly always, and much faster
        return True
    try:
        apart = EXACTLY.subtract(Decimal(got), Decimal(expected))
    except DecimalException:  # an exponent too large for decimals: as a double the number is zero
        apart = EXACTLY.subtract(Decimal(number), Decimal(expected))
    return abs(apart) <= Decimal(within)
