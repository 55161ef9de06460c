"""Prints, as Markdown, the points of some known checkers in exercise 10."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "exercises"))

from gradcheck_ref import check_gradient
from gradcheck_ref.staircase import JUDGES
from judging import PARTS, corpus, score

CHECKERS = {
    "accept everything": lambda f, x, analytic: True,
    "refuse everything": lambda f, x, analytic: False,
    **{f"stage {judge.name}": judge.accepts for judge in JUDGES},
    "`check_gradient`": lambda f, x, analytic: check_gradient(f, x, analytic).verdict != "fail",
}

print("| checker | " + " | ".join(PARTS) + " |")
print("| --- " * (len(PARTS) + 1) + "|")
for name, check in CHECKERS.items():
    scores = [score(check, corpus(part, heldout=False)) for part in PARTS]
    cells = ["gate" if s.stopped_at else f"{len(s.caught)} of {s.planted}" for s in scores]
    print(f"| {name} | " + " | ".join(cells) + " |")
