"""What a vector file looks like: ids, counts, flags explained, one test a line."""

import json
from collections.abc import Iterable
from typing import Any

Vector = dict[str, Any]
FORMAT_VERSION = 1


def file_of(
    kind: str, header: str, notes: dict[str, tuple[str, str, str]], groups: Iterable[Vector]
) -> Vector:
    """Put the groups of a kind into one file, and number its tests.

    A note is (class, description, effect). Only flags that are used are explained.
    """
    numbered, count, used = [], 0, set()
    for group in groups:
        tests = []
        for test in group["tests"]:
            count += 1
            used |= set(test["flags"])
            tests.append({"id": f"{kind}-{count:03}", **test, "flags": sorted(test["flags"])})
        numbered.append({**group, "tests": tests})
    return {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "header": header,
        "count": count,
        "notes": {
            flag: dict(zip(("class", "description", "effect"), notes[flag], strict=True))
            for flag in sorted(used)
        },
        "groups": numbered,
    }


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
