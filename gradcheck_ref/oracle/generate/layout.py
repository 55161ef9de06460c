"""The layout of a vector file: ids, notes on flags, one test per line.

A release is a folder with a file for each kind. ``v1`` is published: its files never change, and a
test compares their digests. A new test needs a new release, beside it.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Vector = dict[str, Any]
RELEASE = "v1"
FOLDER = Path(__file__).parents[1] / "vectors"


def read(kind: str) -> Vector:
    """Read the file of one kind, unchanged."""
    found: Vector = json.loads((FOLDER / RELEASE / f"{kind}.json").read_text(encoding="utf-8"))
    return found


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
