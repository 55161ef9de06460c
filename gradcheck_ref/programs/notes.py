"""Sentences about problems in a conversation, kept for the report."""

from dataclasses import dataclass

from gradcheck_ref.conversation.messages import counted, shortened

# The sentence about all points of a kind.
SAID = {
    "refused": "the function is not defined at {count}, {where}: {why}",
    "problem": "the program reported a problem at {count}, {where}: {why}",
    "silent": "the program {why} at {count}, {where}; it was started again",
    "ended": "the program {why}; that was at {count}, {where}; it was started again",
}
LONGEST = 600  # characters of why


@dataclass(frozen=True)
class NoValue:
    """The reason why there is no value at a point."""

    kind: str  # what happened, such as "refused" or "ended"
    why: str  # its own words, or how it ended

    def __str__(self) -> str:
        """Say what the program did, as the rest of a sentence that begins with *it*."""
        excuse = self.kind in ("refused", "problem")
        return f"answers {self.kind}: {self.why}" if excuse else self.why


class Notes:
    """Sentences about a program; threads may write to it."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._none: dict[str, list[str]] = {}  # by kind: the first reason, and then all places

    def add(self, sentence: str) -> None:
        """Note a sentence, once."""
        self._said.add(sentence)

    def add_none(self, where: str, none: NoValue) -> None:
        """Note a point without a value."""
        self._none.setdefault(none.kind, [none.why]).append(where)

    def sentences(self) -> list[str]:
        """Return the sentences."""
        told = sorted(self._said)  # several programs reply in any order
        for kind, (why, first, *others) in sorted(self._none.items()):
            count = counted(1 + len(others), "point") if others else "one point"
            where = f"the first is {first}" if others else first
            why = shortened(why, LONGEST)
            told.append(SAID[kind].format(count=count, where=where, why=why))
        return told
