"""Prints, as Markdown, what people complained about, and what the check says of it."""

import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "check"))

from complaints import calls, formulas, handed, kinks, precision

warnings.simplefilter("ignore", RuntimeWarning)  # some of these gradients divide by 0

SOME = 5  # threads that are named, of those that a pass answers
MOST = 10  # reports of a cause; the others are in tests/check/complaints
CAUSES = {
    "Few digits, and steps that do not fit": precision,
    "Kinks, ties and zeros": kinks,
    "State and random numbers": calls,
    "Wrong derivatives": formulas,
    "Shapes, sizes and NaN": handed,
}

for cause, module in CAUSES.items():
    print(f"### {cause}\n")
    passed = [row for row in module.ROWS if row.report.verdict == "pass"]
    others = [row for row in module.ROWS if row not in passed]
    if passed:
        links = ", ".join(f"[{row.name}]({row.address})" for row in passed[:SOME])
        which = f"{len(passed)} threads, such as {links}" if passed[SOME:] else links
        print(f"Trouble elsewhere, and a *pass* here: {which}.\n")
    reports = {}
    for row in others:
        words = re.sub(r"^(?:\w+: )?every entry is \S+ x", "every entry is … x", row.said)
        said = f"*{row.report.verdict}*: {words}"
        reports.setdefault(said, []).append(f"[{row.name}]({row.address})")
    if reports:
        print("| complaint | the report |\n| --- | --- |")
        for said, links in [*reports.items()][:MOST]:
            print(f"| {', '.join(links)} | {said} |")
        print()
