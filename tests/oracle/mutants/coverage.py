"""What the vectors are worth: which mistakes in a rule they show, and from which side.

Every mistake of ``mistakes.py`` and ``slips.py`` answers the vectors in double
arithmetic, and is judged like any implementation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gradcheck_ref.oracle.generate.layout import flat, mapped, shape
from gradcheck_ref.oracle.generate.rules import RULES, Decision, RefusedError, Rule
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.vectors import Vector, load_vectors

from .clients import CLIENTS, Client
from .mistakes import LOOSE, STRICT, TELLS, Mistake, mistakes
from .slips import Slip, slips, verdict

ANSWERED = ("stencil", "compare", "escalate")  # by the example in Python
RULE = {rule.name: rule for rule in RULES}


@dataclass(frozen=True)
class Asked:
    """A vector whose numbers are read, and what the rule itself tells, which is passed."""

    vector: Vector
    numbers: tuple[Any, ...]
    right: str


def asked_of(rule: str, vectors: Iterable[Vector]) -> list[Asked]:
    """Take the vectors of a rule that it decides, to ask many mistakes the same."""
    found = []
    for vector in vectors:
        request = vector.request
        decided = "close" in vector.expected and request["analytic"] != []
        if request["rule"] == rule and vector.counts and decided:
            numbers = numbers_of(request)
            right = _decided(RULE[rule], numbers)
            passed = judge(vector, _reply(right, request)).status == "passed"
            found.append(Asked(vector, numbers, _said(right) if passed else ""))
    return found


def coverage() -> Iterator[tuple[Mistake, Counter[str]]]:
    """Count, for each mistake, the vectors that show what it lets through, refuses and tells."""
    vectors = list(load_vectors("compare"))
    asked = {name: asked_of(name, vectors) for name in RULE}
    for mistake in mistakes():
        yield mistake, shown_by(mistake, asked[mistake.rule])


def shown_by(mistake: Mistake | Rule, asked: Iterable[Asked]) -> Counter[str]:
    """Count the vectors on which a mistake is judged wrong, by how it goes wrong."""
    counts: Counter[str] = Counter()
    for one in asked:
        found = _decided(mistake, one.numbers)
        if _said(found) == one.right:  # nearly always, and much faster than to judge it
            continue
        vector, reply = one.vector, _reply(found, one.vector.request)
        if judge(vector, {"id": vector.id, **reply}).status != "passed":
            counts[_how(vector.expected["close"], reply.get("close", False))] += 1
    return counts


def _how(right: bool, said: bool) -> str:
    return TELLS if right == said else LOOSE if said else STRICT


def mistaken(mistake: Mistake | Rule, request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request as the mistake does, in double arithmetic."""
    if shape(request["analytic"]) != shape(request["numeric"]):
        return {"refused": "the shapes differ"}
    return _reply(_decided(mistake, numbers_of(request)), request)


def _decided(mistake: Mistake | Rule, numbers: tuple[Any, ...]) -> Decision | str:
    try:
        return mistake.decide(*numbers)
    except (RefusedError, OverflowError, ZeroDivisionError, IndexError) as error:
        return str(error) or "broke"


def _reply(found: Decision | str, request: dict[str, Any]) -> dict[str, Any]:
    if isinstance(found, str):
        return {"refused": found}
    told = {"error": found.error, **found.extra}
    reply = {key: _written(value, request["analytic"]) for key, value in told.items()}
    return {"close": found.close, **reply}


def _said(found: Decision | str) -> str:
    """Write what is told, NaN included, so that two can be compared."""
    return found if isinstance(found, str) else repr((found.close, found.error, found.extra))


def numbers_of(request: dict[str, Any]) -> tuple[Any, ...]:
    """Read analytic, numeric, both tolerances and the floor."""
    a, n = ([float(v) for v in flat(request[side])] for side in ("analytic", "numeric"))
    return a, n, *(float(request.get(key, "0")) for key in ("rtol", "atol", "floor"))


def _written(value: Any, like: Any) -> Any:
    """Write reals, nested as the entries were."""
    if not isinstance(value, list):
        return repr(float(value))
    entries = iter(value)
    return mapped(lambda _: repr(float(next(entries))), like)


def slips_shown() -> Iterator[tuple[Slip, Counter[str]]]:
    """Count, for each mistake in a verdict, the vectors of each group."""
    vectors = [v for v in load_vectors("verdict") if v.counts]
    right = {v.id: verdict(v.request) for v in vectors}
    for slip in slips():
        counts = Counter[str]()
        for vector in vectors:
            reply = slip.answer(vector.request)
            # Nearly always it is the right one: to compare it is much faster than to judge it.
            counts[vector.group] += reply != right[vector.id] and not _passes(vector, reply)
        yield slip, +counts


def clients_shown() -> Iterator[tuple[Client, Counter[str]]]:
    """Count, for each wrong client, the vectors of each group that it fails, asked in order."""
    for client in CLIENTS:
        yield client, failed_by(client, load_vectors(*ANSWERED))


def failed_by(client: Client, vectors: Iterable[Vector]) -> Counter[str]:
    """Count the vectors of each group that a client fails, which was just started."""
    answer = client.start()
    return +Counter[str](v.group for v in vectors if v.counts and not _passes(v, answer(v.request)))


def _passes(vector: Vector, reply: dict[str, Any]) -> bool:
    return judge(vector, reply).status == "passed"
