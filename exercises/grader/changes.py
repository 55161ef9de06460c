"""Old and new points: what a regrade has changed."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

HEAD = ["submission", "exercise", "old", "new"]


def read_table(path: Path | None) -> list[list[str]]:
    """Read a table of scores, if there is one."""
    if not path or not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def changes(
    old: Sequence[Sequence[str]], new: Sequence[Sequence[str]], exercises: Sequence[str]
) -> Iterator[list[str]]:
    """Yield a row for each exercise of a submission whose points are not what they were."""
    before = _by_submission(old)
    for who, row in _by_submission(new).items():
        for exercise in exercises:
            was, now = before.get(who, {}).get(exercise), row.get(exercise, "")
            if was is not None and was != now:
                yield [who[0], exercise, was, now]


def how_many(changed: Sequence[object], path: Path) -> str:
    """Say how many points have changed, and where they are."""
    return f"points that are not what they were: {len(changed)}, see {path.name}"


def _by_submission(table: Sequence[Sequence[str]]) -> dict[tuple[str, int], dict[str, str]]:
    """Return the rows by submission and number: each member of a team has a row."""
    head, seen = table[0] if table else [], Counter[str]()
    found = {}
    for row in (dict(zip(head, row, strict=False)) for row in table[1:]):
        if name := row.get("submission", ""):
            seen[name] += 1
            found[name, seen[name]] = row
    return found
