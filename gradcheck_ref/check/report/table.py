"""The numbers of a report in rows and columns."""

import math
from typing import Any

import numpy as np

from gradcheck_ref.check.report.text import alike, ratio, short, visible, wrapped
from gradcheck_ref.check.results import FAIL, UNSURE, Pair

# The cells of a row, by heading, in the order of the columns; empty cells are missing.
Row = dict[str, str]


def numbers_of(analytic: float, numeric: float, bar: float) -> str:
    """Write claim and estimate with their names and the error bar."""
    said = alike(analytic, numeric, bar, abs(analytic - numeric))
    return f"analytic {said[0]}, numeric {said[1]} +- {short(bar)}"


def entry_row(entry: Any, verdict: str) -> Row:
    """Write the numbers of one entry."""
    seen = 0.0 if entry.verdict == "pass" else entry.error
    analytic, numeric = alike(entry.analytic, entry.numeric, entry.bar, seen)
    if math.isnan(entry.numeric):  # there is nothing to compare with
        return {"entry": entry.name, "analytic": analytic, "verdict": verdict}
    return {
        "entry": entry.name,
        "error": f"<{short(entry.bar)}" if entry.error < entry.bar else short(entry.error, 2),
        "analytic": analytic,
        "numeric": numeric,
        "+-": short(entry.bar),
        "allowed": short(entry.allowed),
        "ratio": ratio(entry.ratio),
        "by": entry.term,
        "step": short(entry.step),
        "verdict": verdict,
    }


def pair_row(report: Any, pair: Pair) -> Row:
    """Write the numbers of the worst entry of a pair, and how many have the same verdict."""
    if pair.worst is None:
        by_lines = report.certificate and pair.analytic is not None
        whole = any(one.name == pair.input.name and one.lines for one in report.inputs)
        verdict = "by lines" if by_lines else "as a whole" if whole else "not measured"
        return {"entry": report.title(pair), "verdict": verdict if pair.entries else "no entries"}
    worst = report.entry(pair, *pair.worst)
    said = worst.verdict
    if said != "pass":
        reasons = pair.reason[pair.verdict == pair.verdict[pair.worst]].tolist()
        why = ", ".join(sorted({*reasons} - {"wrong"}))
        said += f"{why and f': {why}'} ({len(reasons)}/{pair.verdict.size})"
    row = entry_row(worst, said)
    if pair.analytic is None:
        row |= dict.fromkeys(("error", "analytic", "ratio"), "")
    return row


def worst_rows(report: Any, width: int) -> list[str]:
    """List the worst entries of a report that did not pass, if there is more than one.

    At most ten are listed: more are a wall of numbers, and ten show the pattern if there is one.
    """
    places = worst_of(report, FAIL if report.verdict == "fail" else UNSURE)
    if len(places) < 2:
        return []
    entries = [report.entry(*place) for place in places[:10]]
    several = len({entry.reason for entry in entries}) > 1
    lines = grid([entry_row(one, one.reason if several else "") for one in entries], width)
    heading = wrapped(f"the worst 10 of {len(places)} entries with this verdict:", width)
    return heading + lines if len(places) > 10 else lines


def worst_of(report: Any, code: int) -> list[tuple[Pair, int, int]]:
    """Return entries with this verdict as pair, row and column, the largest ratio first."""
    places: list[tuple[float, Pair, int, int]] = []
    for pair in report.comparable:
        ratio = np.where(np.isnan(pair.ratio), np.inf, pair.ratio)
        at = np.argwhere(pair.verdict == code).tolist()
        places += [(ratio[row, column], pair, row, column) for row, column in at]
    places.sort(key=lambda place: -place[0])
    return [place[1:] for place in places]


def grid(rows: list[Row], width: int) -> list[str]:
    """Align rows in columns; leave columns out, or stack them, if they do not fit."""
    columns = {}
    for name in max(rows, key=len):  # it has the headings of all others
        cells = [name, *(visible(row.get(name) or "-") for row in rows)]
        if {*cells} != {name, "-"}:
            align = str.ljust if name in ("entry", "verdict") else str.rjust
            columns[name] = [align(cell, max(map(len, cells))) for cell in cells]
    for name in ("", "step", "error", "by", "allowed", "+-"):  # left out in this order
        columns.pop(name, None)
        lines = ["  ".join(line).rstrip() for line in zip(*columns.values(), strict=True)]
        if max(map(len, lines)) <= width:
            return lines
    lines = []
    for row in rows:
        entry, *others = row.items()
        stacked = ", ".join(f"{name} {cell}" for name, cell in others if cell)
        lines += [*wrapped(entry[1], width), *wrapped(f"  {stacked}", width, 4)]
    return lines
