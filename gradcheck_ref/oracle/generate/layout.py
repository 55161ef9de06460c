"""What a vector file looks like: releases, ids, flags explained, one test a line.

A release is a folder of files, one for each kind, and once it is published it never changes. What
is computed is compared with what is published: a test that stands there keeps its id, and all that
do not stand there yet are the open release, numbered on. So a new test may be put wherever it
belongs, and no list says what came later.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Vector = dict[str, Any]
Notes = dict[str, tuple[str, str, str]]  # (class, description, effect) of each flag
FORMAT_VERSION = 1
PUBLISHED = ("v1",)
OPEN = "v1.1"
FOLDER = Path(__file__).parents[1] / "vectors"


def file_of(kind: str, header: str, notes: Notes, groups: Iterable[Vector]) -> Vector:
    """Put the tests of a kind that are not published yet into one file, and number them.

    Only flags that are used are explained. A published test that is no longer computed, or is
    computed otherwise, stops the generator.
    """
    known = published(kind)
    count, used, new = len(known), set(), []
    for group in merged(groups):
        tests = []
        for test in group["tests"]:
            test = {**test, "flags": sorted(test["flags"])}
            if known.pop(key_of(group, test), None) is None:
                count += 1
                tests.append({"id": f"{kind}-{count:03}", **test})
                used |= set(test["flags"])
        if tests:
            new.append({**group, "tests": tests})
    assert not known, f"published, and no longer computed: {sorted(known.values())[:5]}"
    return {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "header": header,
        "count": sum(len(group["tests"]) for group in new),
        "notes": {
            flag: dict(zip(("class", "description", "effect"), notes[flag], strict=True))
            for flag in sorted(used)
        },
        "groups": new,
    }


def published(kind: str) -> dict[str, str]:
    """Return the id of every test of a kind that is published, by what it says."""
    files = [read(release, kind) for release in PUBLISHED]
    groups = [group for file in files for group in file["groups"]]
    return {key_of(group, test): test["id"] for group in groups for test in group["tests"]}


def read(release: str, kind: str) -> Vector:
    """Read a file of a release."""
    found: Vector = json.loads((FOLDER / release / f"{kind}.json").read_text(encoding="utf-8"))
    return found


def key_of(group: Vector, test: Vector) -> str:
    """Write all that a test says, but for its id."""
    return _text([group["group"], sorted((k, v) for k, v in test.items() if k != "id")])


def merged(groups: Iterable[Vector]) -> list[Vector]:
    """Put groups of one name together, in the order in which the names come."""
    found: dict[str, Vector] = {}
    for group in groups:
        before = found.get(group["group"], {"tests": []})["tests"]
        found[group["group"]] = {**group, "tests": [*before, *group["tests"]]}
    return list(found.values())


def canonical(file: Vector) -> str:
    """Write a file in the one way there is: one test a line, so that a difference reads well."""
    head = {key: value for key, value in file.items() if key not in ("notes", "groups")}
    lines = [f"{_text(key)}: {_text(value)}" for key, value in head.items()]
    notes = ",\n".join(f"{_text(flag)}: {_text(note)}" for flag, note in file["notes"].items())
    groups = ",\n".join(_group(group) for group in file["groups"])
    lines += [f'"notes": {{\n{notes}\n}}', f'"groups": [\n{groups}\n]']
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _group(group: Vector) -> str:
    head = ", ".join(f"{_text(k)}: {_text(v)}" for k, v in group.items() if k != "tests")
    tests = ",\n".join(_text(test) for test in group["tests"])
    return f'{{{head}, "tests": [\n{tests}\n]}}'


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# --- nested lists ----------------------------------------------------------------------------


def flat(nested: Any) -> list[Any]:
    """List the entries of a nested list; of a number, itself."""
    return [v for part in nested for v in flat(part)] if isinstance(nested, list) else [nested]


def mapped(f: Callable[[Any], Any], nested: Any) -> Any:
    """Apply a function to every entry."""
    return [mapped(f, part) for part in nested] if isinstance(nested, list) else f(nested)


def shape(nested: Any) -> tuple[int, ...]:
    """Tell how many rows, columns and so on."""
    if not isinstance(nested, list):
        return ()
    return (len(nested), *(shape(nested[0]) if nested else ()))
