"""What the vectors are worth: which mistakes they show, and those in a rule from which side.

Every mistake of ``clients.py`` and ``slips.py`` answers the vectors in double arithmetic, and is
judged like any implementation.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from gradcheck_ref.oracle.judge import judge
from gradcheck_ref.oracle.vectors import Vector, load_vectors

from .clients import CLIENTS, Client
from .slips import Slip, slips, verdict

ANSWERED = ("stencil", "compare", "escalate", "whole")  # by the example in Python
LOOSE, STRICT = "lets through", "refuses"
TELLS = "tells"  # the decision is right, the error is not
Shown = Counter[tuple[str, str]]  # group and way: how many vectors


@cache
def slips_shown() -> list[tuple[Slip, Shown]]:
    """Count, for each mistake in a verdict, the vectors of each group."""
    vectors = [v for v in load_vectors("verdict") if v.counts]
    right, found = {v.id: verdict(v.request) for v in vectors}, []
    for slip in slips():
        counts = Shown()
        for vector in vectors:
            reply = slip.answer(vector.request)
            # Nearly always it is the right one: to compare it is much faster than to judge it.
            counts[vector.group, ""] += reply != right[vector.id] and not _passes(vector, reply)
        found.append((slip, +counts))
    return found


@cache
def clients_shown() -> list[tuple[Client, Shown]]:
    """Count, for each wrong client, the vectors of each group that it fails, asked in order."""
    return [(client, failed_by(client, load_vectors(*ANSWERED))) for client in CLIENTS]


def failed_by(client: Client, vectors: Iterable[Vector]) -> Shown:
    """Count the vectors of each group that a client fails, which was just started, and how."""
    answer, counts = client.start(), Shown()
    for vector in vectors:
        reply = answer(vector.request)
        if vector.counts and not _passes(vector, reply):
            counts[vector.group, _how(vector, reply)] += 1
    return counts


def groups_of(shown: Shown) -> set[str]:
    """Return the groups in which something was shown."""
    return {group for group, _ in shown}


def _how(vector: Vector, reply: dict[str, Any]) -> str:
    if "close" not in vector.expected:
        return ""
    right, said = vector.expected["close"], reply.get("close", False)
    return TELLS if right == said else LOOSE if said else STRICT


def _passes(vector: Vector, reply: dict[str, Any]) -> bool:
    return judge(vector, reply).status == "passed"
