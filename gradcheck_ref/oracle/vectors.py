"""Read the frozen vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from gradcheck_ref.oracle.generate.layout import RELEASE, read
from gradcheck_ref.oracle.table import ASKED, EXPECTED, IN_WORDS, KINDS

VERSION = RELEASE


@dataclass(frozen=True)
class Vector:
    """One question and its answer.

    Attributes
    ----------
    id : str
        Unique among all kinds, and forever: ``"compare-017"``.
    kind, group : str
        What is asked: ``"compare"``, and more exactly ``"compare/torch"``.
    description : str
        One statement of fact.
    flags : tuple of str
        The traps in it, explained in the notes of its file.
    request : dict
        The question as it is sent.
    expected : dict
        The expected reply, with ``result``.
    """

    id: str
    kind: str
    group: str
    description: str
    flags: tuple[str, ...]
    request: dict[str, Any]
    expected: dict[str, Any]

    @property
    def counts(self) -> bool:
        """Whether it has exactly one answer: ambiguous questions do not count."""
        return bool(self.expected["result"] != "acceptable")


@cache
def load_file(kind: str) -> dict[str, Any]:
    """Read the file of one kind. It is shared: do not write into it."""
    return read(kind)


def load_vectors(*kinds: str) -> Iterator[Vector]:
    """Read the vectors of some kinds, or of all.

    Yields
    ------
    Vector
        By kind, in the order of their numbers.
    """
    for kind in kinds or KINDS:
        yield from _vectors(kind)


def load_notes() -> dict[str, dict[str, dict[str, str]]]:
    """Read the meaning of the flags of each kind."""
    return {kind: load_file(kind)["notes"] for kind in KINDS}


def load_optional() -> set[str]:
    """Read which groups are optional: their questions are not in the score."""
    groups = (group for kind in KINDS for group in load_file(kind)["groups"])
    return {group["group"] for group in groups if group.get("optional")}


def load_words(kind: str) -> dict[str, str]:
    """Read the questions of the groups of a kind, if their files have them in words."""
    key = IN_WORDS.get(kind, "")
    return {group["group"]: group[key] for group in load_file(kind)["groups"] if key}


@cache
def _vectors(kind: str) -> tuple[Vector, ...]:
    return tuple(vectors_of(load_file(kind)))


def vectors_of(file: dict[str, Any]) -> list[Vector]:
    """Return the vectors of a file's content, in the order of their numbers."""
    found = []
    for group in file["groups"]:
        shared = {key: value for key, value in group.items() if key != "tests"}
        found += [vector_of(file["kind"], {**shared, **test}) for test in group["tests"]]
    return found


def vector_of(kind: str, fields: dict[str, Any]) -> Vector:
    """Return the vector of a test in a file, and of its group."""
    message = ASKED[kind]
    asked = {key: fields[key] for key in (*message.keys, *message.optional) if key in fields}
    answer = {*EXPECTED[kind], "refused", "result"}
    return Vector(
        id=fields["id"],
        kind=kind,
        group=fields["group"],
        description=fields["description"],
        flags=tuple(fields["flags"]),
        request={"id": fields["id"], "ask": kind, **asked},
        expected={key: value for key, value in fields.items() if key in answer},
    )
