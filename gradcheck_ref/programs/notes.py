"""What was strange in a conversation, kept until somebody asks."""

import threading
from dataclasses import dataclass

from gradcheck_ref.messages import shortened

# What is said of points without a value, by the first word of why there is none.
SAID = {
    "refused": "the function is not defined at {count}, {where}: {why}",
    "problem": "the program told of a problem at {count}, {where}: {why}",
    "gave": "the program {why} at {count}, {where}; it was started again",
    "ended": "the program {why}; that was at {count}, {where}; it was started again",
    "closed": "the program {why}; that was at {count}, {where}; it was started again",
}
LONGEST = 600  # characters of why


@dataclass
class _None:
    """Points without a value, for one kind of reason."""

    where: str
    why: str
    count: int = 1


class Notes:
    """Sentences about a program; threads may write to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said: list[str] = []
        self._none: dict[str, _None] = {}

    def add(self, sentence: str) -> None:
        """Note a sentence, once."""
        with self._lock:
            if sentence not in self._said:
                self._said.append(sentence)

    def add_none(self, where: str, why: str) -> None:
        """Note a point without a value."""
        kind = why.split()[0].rstrip(":")
        with self._lock:
            if kind in self._none:
                self._none[kind].count += 1
            else:
                self._none[kind] = _None(where, why)

    def sentences(self) -> list[str]:
        """Return what was noted."""
        with self._lock:
            told = list(self._said)
            for kind, none in self._none.items():
                one = none.count == 1
                count = "one point" if one else f"{none.count} points"
                where = none.where if one else f"the first is {none.where}"
                why = shortened(none.why.removeprefix(f"{kind}: "), LONGEST)
                told.append(SAID[kind].format(count=count, where=where, why=why))
            return told
