"""All vectors, answered again."""

from . import compare, escalate, stencil, verdict, whole
from .layout import RELEASE, Vector, canonical, read
from .numbers import with_all_digits

KINDS = {
    "stencil": stencil.answered,
    "compare": compare.answered,
    "escalate": escalate.answered,
    "verdict": verdict.answered,
    "whole": whole.answered,
}


@with_all_digits
def all_files() -> dict[str, str]:
    """Answer every question of the release again.

    Returns
    -------
    dict of str
        Text by file name, from the folder of the releases.
    """
    return {f"{RELEASE}/{kind}.json": canonical(_again(kind)) for kind in KINDS}


def _again(kind: str) -> Vector:
    """Answer a file: its ids, questions, flags and notes stay, and a flag may be added."""
    file = read(kind)
    for group in file["groups"]:
        shared = {key: value for key, value in group.items() if key != "tests"}
        for number, test in enumerate(group["tests"]):
            again = KINDS[kind]({**shared, **test})
            again["flags"] = sorted(again["flags"])
            group["tests"][number] = {"id": test["id"], **again}
    tests = [test for group in file["groups"] for test in group["tests"]]
    used = {flag for test in tests for flag in test["flags"]}
    assert used == set(file["notes"]), f"flags without a note, or notes without a flag: {used}"
    return {**file, "count": len(tests)}
