"""What was strange in a conversation, kept until somebody asks."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

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

    kind: Literal["refused", "problem", "no number", "silent", "ended"]
    why: str

    def __str__(self) -> str:
        """Say what it did, to go on after *it*."""
        return DID.get(self.kind, "{}").format(self.why)


def why_none(reply: Mapping[str, Any]) -> NoValue | None:
    """Say why a reply has no answer; None if it has one."""
    if reply.get("problem") is not None:
        return NoValue("problem", reply["problem"])
    return None if reply.get("refused") is None else NoValue("refused", reply["refused"])


@dataclass
class _Points:
    """Points without a value, for one kind of reason."""

    where: str
    why: str
    count: int = 1


class Notes:
    """Sentences about a program; threads may write to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: list[str] = []
        self._none: dict[str, _Points] = {}

    def add(self, sentence: str) -> None:
        """Note a sentence, once."""
        with self._lock:
            if sentence not in self._said:
                self._said.append(sentence)

    def add_none(self, where: str, none: NoValue) -> None:
        """Note a point without a value."""
        with self._lock:
            if none.kind in self._none:
                self._none[none.kind].count += 1
            else:
                self._none[none.kind] = _Points(where, none.why)

    def sentences(self) -> list[str]:
        """Return what was noted."""
        with self._lock:
            # Several programs are heard in any order.
            told = sorted(self._said)
            for kind, none in sorted(self._none.items()):
                one = none.count == 1
                count = "one point" if one else counted(none.count, "point")
                where = none.where if one else f"the first is {none.where}"
                why = shortened(none.why, LONGEST)
                told.append(SAID[kind].format(count=count, where=where, why=why))
            return told
