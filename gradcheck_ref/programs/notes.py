"""What was strange in a conversation, kept until somebody asks."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradcheck_ref.messages import counted, shortened

# How a sentence goes on after *it*, for each kind of reason why there is no value; and what is
# noted of all points of that kind.
DID = {
    "refused": "answers refused: {}",
    "problem": "answers problem: {}",
    "no number": "answers {}",
}
SAID = {
    "refused": "the function is not defined at {count}, {where}: {why}",
    "problem": "the program told of a problem at {count}, {where}: {why}",
    "silent": "the program {why} at {count}, {where}; it was started again",
    "ended": "the program {why}; that was at {count}, {where}; it was started again",
}
LONGEST = 600  # characters of why


@dataclass(frozen=True)
class NoValue:
    """Why there is no value at a point.

    Attributes
    ----------
    kind : {"refused", "problem", "no number", "silent", "ended"}
        What the program did.
    why : str
        What it said, or how it ended.
    """

    kind: str
    why: str

    def __str__(self) -> str:
        """Say what it did, to go on after *it*."""
        return DID.get(self.kind, "{}").format(self.why)


def why_none(reply: Mapping[str, Any]) -> NoValue | None:
    """Say why a reply has no answer; None if it has one."""
    said = [NoValue(kind, reply[kind]) for kind in ("problem", "refused") if reply.get(kind)]
    return said[0] if said else None


class Notes:
    """Sentences about a program; threads may write to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: set[str] = set()
        self._none: dict[str, list[str]] = {}  # by kind: where and why at first, then more where

    def add(self, sentence: str) -> None:
        """Note a sentence, once."""
        with self._lock:
            self._said.add(sentence)

    def add_none(self, where: str, none: NoValue) -> None:
        """Note a point without a value."""
        with self._lock:
            self._none.setdefault(none.kind, [none.why]).append(where)

    def sentences(self) -> list[str]:
        """Return what was noted."""
        with self._lock:
            told = sorted(self._said)  # several programs are heard in any order
            for kind, (why, first, *others) in sorted(self._none.items()):
                count = counted(1 + len(others), "point") if others else "one point"
                where = f"the first is {first}" if others else first
                told.append(
                    SAID[kind].format(count=count, where=where, why=shortened(why, LONGEST))
                )
            return told
