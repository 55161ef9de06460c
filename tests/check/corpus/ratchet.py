"""What the check says of each claim of the corpus today: stored, so that nothing gets worse unseen.

``ratchet.txt`` has a line for each claim, with tabs between: row, claim, verdict and reason, kind
of the first diagnosis, and the limit of a pass in half decades. It holds the worst of three seeds,
and the tests compare with it what one seed says. `python tests/tools/ratchet.py` makes it anew.
"""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gradcheck_ref import Report

from .row import Row, claims_of, judged

FILE = Path(__file__).with_name("ratchet.txt")
SEEDS = (0, 1, 2)

# The limit of a pass may move by so many half decades from one processor to another, and below the
# rounding of float64 by any number.
LOOSE, LEAST = 2, -30


class Said(NamedTuple):
    """What a check says of a claim; diagnosis and limit are "-" where there is none."""

    verdict: str
    reason: str
    diagnosis: str
    limit: str


def said(report: Report) -> Said:
    """Return what is stored of a report."""
    first = report.diagnoses[0].kind if report.diagnoses else "-"
    return Said(report.verdict, report.reason, first, half_decades(report))


def half_decades(report: Report) -> str:
    """Return the limit of the error in half decades, of a pass; "inf" if none is known."""
    if report.verdict != "pass":
        return "-"
    if report.by_whole:
        limit = max(one.limit for one in report.inputs)
    elif report.certificate and report.certificate.entries:
        limit = report.certificate.within
    else:
        limit = report.rtol_for({"ok"})
    return str(max(LEAST, round(2 * math.log10(max(limit, 1e-99))))) if limit < math.inf else "inf"


def badness(one: Said, is_right: bool) -> tuple[int, int, float]:
    """Return what grows as an answer gets worse."""
    order = ["pass", "unsure", "fail"] if is_right else ["fail", "unsure", "pass"]
    limit = LEAST if one.limit == "-" else float(one.limit)
    return order.index(one.verdict), not is_right and one.diagnosis == "-", limit


def compared(before: Said, now: Said, is_right: bool, loose: int = LOOSE) -> str:
    """Return better, worse, other, or same."""
    (v0, d0, limit0), (v1, d1, limit1) = badness(before, is_right), badness(now, is_right)
    if (v0, d0) != (v1, d1):
        return "worse" if (v1, d1) > (v0, d0) else "better"
    if is_right and limit0 != limit1 and before.verdict == "pass":
        apart = limit1 - limit0
        if not abs(apart) <= loose:
            return "worse" if apart > 0 else "better"
    return "same" if before[:3] == now[:3] else "other"


def measured(make: Callable[[], Row]) -> dict[str, Said]:
    """Return what the check says of the claims of a row, the worst for some seeds.

    The row is made for each seed, for some claims keep a state.
    """
    answers: dict[str, list[Said]] = {}
    for seed in SEEDS:
        row = make()
        if seed and row.source:
            break  # a complaint is asked as it was told
        for claim in claims_of(row):
            answers.setdefault(claim.name, []).append(said(judged(row, claim.value, seed)))
    return {
        name: max(several, key=lambda one: badness(one, is_right(row, name)))
        for name, several in answers.items()
    }


def is_right(row: Row, name: str) -> bool:
    """Whether a claim of a row is one of the right ones; some complaints are of a wrong one."""
    return (name == "right" or name in row.also) and row.want != "fail"


@functools.cache
def stored() -> dict[str, dict[str, Said]]:
    """Return what is stored, by row and claim."""
    return read(FILE.read_text(encoding="utf-8"))


def read(text: str) -> dict[str, dict[str, Said]]:
    """Return the lines of a stored file, by row and claim."""
    rows = {}
    for line in text.splitlines():
        row, claim, *answer = line.split("\t")
        rows.setdefault(row, {})[claim] = Said(*answer)
    return rows


def written(rows: dict[str, dict[str, Said]]) -> str:
    """Return the text of a stored file."""
    lines = (
        "\t".join((row, claim, *answer))
        for row, claims in sorted(rows.items())
        for claim, answer in claims.items()
    )
    return "\n".join(lines) + "\n"
