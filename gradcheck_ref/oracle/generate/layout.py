"""The layout of a vector file: releases, ids, notes on flags, one test per line.

A release is a folder of files, one for each kind. Once it is published, it never changes. The
generator compares the computed tests with the published ones: a published test keeps its id, and
all others form the open release, with the next numbers. So a new test may be put wherever it
belongs. A test that differs from a published one only in ``within`` or in its flags replaces it.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Vector = dict[str, Any]
Notes = dict[str, tuple[str, str, str]]  # (class, description, effect) of each new flag
FORMAT_VERSION = 1
PUBLISHED = ("v1", "v1.1", "v1.2")
OPEN = "v1.3"
REPLACED = ("within", "flags")  # a test that differs from a published one only in these replaces it
FOLDER = Path(__file__).parents[1] / "vectors"


def file_of(kind: str, header: str, notes: Notes, groups: Iterable[Vector]) -> Vector:
    """Put the tests of a kind that are not published yet into one file, and number them.

    The file has notes only on its new flags; published flags have theirs already. A published test
    that is no longer computed stops the generator.
    """
    known = published(kind)
    before = [read(release, kind) for release in PUBLISHED]
    explained = {flag: note for file in before for flag, note in file["notes"].items()}
    for flag, note in notes.items():
        explained[flag] = dict(zip(("class", "description", "effect"), note, strict=True))
    count, used, new = sum(file["count"] for file in before), set[str](), []
    for group in merged(groups):
        tests = []
        for test in group["tests"]:
            test = {**test, "flags": sorted(test["flags"])}
            old = known.pop(key_of(group, test), None)
            if old is None or any(old.get(key) != test.get(key) for key in REPLACED):
                count += 1
                replaces = {"reimplements": old["id"]} if old else {}
                tests.append({"id": f"{kind}-{count:03}", **test, **replaces})
                used |= set(test["flags"])
        if tests:
            new.append({**group, "tests": tests})
    lost = sorted(test["id"] for test in known.values())
    assert not lost, f"published, and no longer computed: {lost[:5]}"
    return {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "header": header,
        "count": sum(len(group["tests"]) for group in new),
        "notes": {flag: explained[flag] for flag in sorted(used)},
        "groups": new,
    }


def published(kind: str) -> dict[str, Vector]:
    """Return every test of a kind that is published and not replaced, by its content."""
    groups = [group for release in PUBLISHED for group in read(release, kind)["groups"]]
    return {key_of(group, test): test for group in groups for test in group["tests"]}


def read(release: str, kind: str) -> Vector:
    """Read the file of one kind and one release, unchanged; a kind may be newer than a release."""
    if not (FOLDER / release / f"{kind}.json").exists():
        return {"count": 0, "notes": {}, "groups": []}
    found: Vector = json.loads((FOLDER / release / f"{kind}.json").read_text(encoding="utf-8"))
    return found


def key_of(group: Vector, test: Vector) -> str:
    """Return the question and the answer of a test as text."""
    left_out = ("id", "reimplements", *REPLACED)
    return _text([group["group"], sorted((k, v) for k, v in test.items() if k not in left_out)])


def merged(groups: Iterable[Vector]) -> list[Vector]:
    """Merge groups with the same name, in the order of the names."""
    found: dict[str, Vector] = {}
    for group in groups:
        before = found.get(group["group"], {"tests": []})["tests"]
        found[group["group"]] = {**group, "tests": [*before, *group["tests"]]}
    return list(found.values())


def canonical(file: Vector) -> str:
    """Write a file in its only form: one test per line, so that a diff is easy to read."""
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


def arranged(values: Iterable[Any], shape: tuple[int, ...]) -> Any:
    """Nest a list of entries row by row; without dimensions, take the first."""
    rest = iter(values)

    def fill(shape: tuple[int, ...]) -> Any:
        return [fill(shape[1:]) for _ in range(shape[0])] if shape else next(rest)

    return fill(shape)


def shape(nested: Any) -> tuple[int, ...]:
    """Return the numbers of rows, columns and so on."""
    if not isinstance(nested, list):
        return ()
    return (len(nested), *(shape(nested[0]) if nested else ()))
