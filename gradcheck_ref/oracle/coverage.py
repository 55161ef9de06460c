"""What the vectors are worth: which mistakes in a rule they show, and from which side.

Every mistake of ``generate/mistakes.py`` and ``generate/slips.py`` answers the vectors in double
arithmetic, and is judged like any implementation.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from gradcheck_ref.oracle.generate.layout import flat, mapped
from gradcheck_ref.oracle.generate.mistakes import LOOSE, STRICT, TELLS, Mistake, mistakes
from gradcheck_ref.oracle.generate.rules import RefusedError
from gradcheck_ref.oracle.generate.slips import Slip, slips
from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.table import KINDS
from gradcheck_ref.oracle.vectors import Vector, load_vectors


def coverage() -> Iterator[tuple[Mistake, Counter[str]]]:
    """Count, for each mistake, the vectors that show what it lets through, refuses and tells."""
    vectors: dict[str, list[Vector]] = {}
    for vector in load_vectors("compare"):
        if vector.counts and "close" in vector.expected and vector.request["analytic"] != []:
            vectors.setdefault(vector.request["rule"], []).append(vector)
    for mistake in mistakes():
        yield mistake, shown_by(mistake, vectors[mistake.rule])


def shown_by(mistake: Mistake, vectors: Iterable[Vector]) -> Counter[str]:
    """Count the vectors on which a mistake is judged wrong, by how it goes wrong."""
    counts: Counter[str] = Counter()
    for vector in vectors:
        reply = mistaken(mistake, vector.request)
        if judge(vector, {"id": vector.id, **reply}).status != "passed":
            counts[_how(vector.expected["close"], reply.get("close", False))] += 1
    return counts


def _how(right: bool, said: bool) -> str:
    return TELLS if right == said else LOOSE if said else STRICT


def mistaken(mistake: Mistake, request: dict[str, Any]) -> dict[str, Any]:
    """Answer a request as the mistake does, in double arithmetic."""
    try:
        found = mistake.decide(*numbers_of(request))
    except (RefusedError, OverflowError, ZeroDivisionError, IndexError) as error:
        return {"refused": str(error) or "broke"}
    told = {"error": found.error, **found.extra}
    reply = {key: _written(value, request["analytic"]) for key, value in told.items()}
    return {"close": found.close, **reply}


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
    """Count, for each mistake in a quotient, a walk or a verdict, the vectors of each group."""
    vectors = {k: [v for v in load_vectors(k) if v.counts] for k in KINDS}
    for slip in slips():
        asked = [v for v in vectors[slip.kind] if not slip.groups or v.group in slip.groups]
        yield slip, Counter(
            v.group for v in asked if judge(v, slip.answer(v.request)).status != "passed"
        )
