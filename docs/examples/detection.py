"""Prints, as Markdown, how the five stages and the check judge the zoo.

`rules.py` puts the rules of other libraries into the same table.
"""

import warnings
from collections import Counter

import numpy as np

from gradcheck_ref import check_vjp
from gradcheck_ref.staircase import JUDGES, kill_matrix
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

# Near the edge of its domain f is evaluated outside of it: NumPy warns, and the stages go on.
warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)

CLASSES = ("1e-2 and up", "1e-4 to 1e-2", "1e-6 to 1e-4", "not in the numbers")
HEAD = (
    "| | right: accepted / unsure / refused | "
    + " | ".join(f"bugs {size}" for size in CLASSES)
    + " |\n"
    + "| --- " * (len(CLASSES) + 2)
    + "|"
)

# The error of an estimate depends on the last bits of a processor. But no right gradient is off by
# 3 to 5 times the tolerance, so this count does not depend on them.
CLEARLY = 4


def size_class(case, bug):
    """Say how large a bug is, by the largest difference over the largest entry of the gradient."""
    sizes = [0.0]
    for right, wrong in zip(problems(case, case.vjp), problems(case, bug.vjp), strict=True):
        if right.claimed.shape != wrong.claimed.shape:
            return CLASSES[0]
        difference = np.abs(wrong.claimed - right.claimed).max(initial=0)
        largest = np.abs(right.claimed).max(initial=0)
        sizes.append(difference / largest if largest else np.inf * difference if difference else 0)
    size = float(f"{max(sizes):.1e}")  # 1e-4, except for rounding, counts as 1e-4
    return CLASSES[int(size < 1e-2) + int(size < 1e-4) + int(size < 1e-12)]


size_of = {bug.id: size_class(case, bug) for case in all_cases() for bug in case.bugs}
total = Counter(size_of.values())


def row(name, verdict):
    """Return the row of one way to check: verdict(case, bug or None) is pass, fail or unsure."""
    right, caught, excused = Counter(), Counter(), Counter()
    for case in all_cases():
        on_right = verdict(case, None)
        right[on_right] += 1
        if on_right == "fail":
            continue  # then refusing the wrong ones deserves no praise
        for bug in case.bugs:
            found, size = verdict(case, bug), size_of[bug.id]
            caught[size] += found == "fail"
            excused[size] += found == "unsure"
    cells = [f"{right['pass']} / {right['unsure']} / {right['fail']}"]
    for size in CLASSES:
        unsure = f", unsure {excused[size]}" if excused[size] else ""
        cells.append(f"{caught[size]}/{total[size]}{unsure}")
    return f"| {name} | " + " | ".join(cells) + " |"


def by_stages():
    """Return the verdicts of the stages, in order, by case and bug."""
    return {
        (at.case.name, at.bug and at.bug.id): [
            "fail" if ratio > (1 if at.bug else CLEARLY) else "pass" for ratio in at.ratios
        ]
        for at in kill_matrix()
    }


def by_check(case, bug):
    """Return the verdict of the check."""
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    return check_vjp(case.f, inputs, (bug or case).vjp).verdict


def rows():
    """Return the rows of the stages, and that of the check."""
    found = by_stages()
    stages = [
        row(judge.name, lambda case, bug, k=k: found[case.name, bug and bug.id][k])
        for k, judge in enumerate(JUDGES)
    ]
    return [*stages, row("the check", by_check)]


if __name__ == "__main__":
    print(HEAD, *rows(), sep="\n")
