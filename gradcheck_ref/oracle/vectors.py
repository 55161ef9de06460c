"""The frozen vectors, read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

VERSION = "v1"
KINDS = ("stencil", "compare", "escalate", "verdict")

# What of a vector is told to the implementation; all the rest is for the judge.
ASKED = {
    "stencil": ("formula", "step", "x", "h", "samples", "upstream"),
    "compare": ("rule", "analytic", "numeric", "rtol", "atol", "floor"),
    "escalate": ("step", "x", "h", "samples", "claimed", "rtol", "atol"),
    "verdict": ("function", "inputs", "upstream", "claimed", "rtol"),
}


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
        Which traps it holds; explained in the notes of its file.
    request : dict
        The question as it goes over the wire.
    expected : dict
        What the judge compares with, ``result`` included.
    """

    id: str
    kind: str
    group: str
    description: str
    flags: tuple[str, ...]
    request: dict[str, Any]
    expected: dict[str, Any]


def load_file(kind: str) -> dict[str, Any]:
    """Read the file of one kind as it is."""
    path = files("gradcheck_ref.oracle") / "vectors" / VERSION / f"{kind}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def load_vectors(*kinds: str) -> Iterator[Vector]:
    """Read the vectors of some kinds, or of all, without those that were replaced.

    Yields
    ------
    Vector
        In the order of the files.
    """
    for kind in kinds or KINDS:
        groups = load_file(kind)["groups"]
        replaced = {test.get("reimplements") for group in groups for test in group["tests"]}
        for group in groups:
            shared = {key: value for key, value in group.items() if key != "tests"}
            for test in group["tests"]:
                if test["id"] not in replaced:
                    yield _vector(kind, {**shared, **test})


def load_notes() -> dict[str, dict[str, dict[str, str]]]:
    """Read what the flags of each kind mean."""
    return {kind: load_file(kind)["notes"] for kind in KINDS}


def _vector(kind: str, fields: dict[str, Any]) -> Vector:
    asked = {key: fields[key] for key in ASKED[kind] if key in fields}
    said = {"id", "group", "description", "flags", "says", "source", "formula", "reimplements"}
    return Vector(
        id=fields["id"],
        kind=kind,
        group=fields["group"],
        description=fields["description"],
        flags=tuple(fields["flags"]),
        request={"id": fields["id"], "ask": kind, **asked},
        expected={k: v for k, v in fields.items() if k not in asked and k not in said},
    )
