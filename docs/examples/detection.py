"""Prints what the five stages and the check make of the zoo, as Markdown."""

import warnings
from collections import Counter

import numpy as np

from gradcheck_ref import check_vjp
from gradcheck_ref.staircase import JUDGES, kill_matrix
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

# Near the edge of a domain f is evaluated outside of it: NumPy says so, and the stages go on.
warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)

CLASSES = ("1e-2 and up", "1e-4 to 1e-2", "1e-6 to 1e-4", "not in the numbers")

# How far off the estimate is depends on the last bits of a processor. Between 3 and 5 times the
# tolerance there is no right gradient, so that this count does not.
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
    size = float(f"{max(sizes):.1e}")  # what is 1e-4 but for rounding is 1e-4
    return CLASSES[int(size < 1e-2) + int(size < 1e-4) + int(size < 1e-12)]


def check(case, vjp):
    """Return pass, fail or unsure."""
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    return check_vjp(case.f, inputs, vjp).verdict


size_of = {bug.id: size_class(case, bug) for case in all_cases() for bug in case.bugs}
judged = {judge.name: Counter() for judge in JUDGES} | {"the check": Counter()}
excused = Counter()  # unsure about a bug
stage_refuses = {}
for row in kill_matrix():
    for number, judge in enumerate(JUDGES):
        at = judge.name, row.case.name
        if row.bug is None:
            stage_refuses[at] = row.ratios[number] > CLEARLY
            judged[judge.name]["fail" if stage_refuses[at] else "pass"] += 1
        elif row.ratios[number] > 1 and not stage_refuses[at]:
            judged[judge.name][size_of[row.bug.id]] += 1
for case in all_cases():
    verdict = check(case, case.vjp)
    judged["the check"][verdict] += 1
    for bug in case.bugs:
        found = check(case, bug.vjp)
        if found == "fail" and verdict != "fail":
            judged["the check"][size_of[bug.id]] += 1
        excused[size_of[bug.id]] += found == "unsure"

total = Counter(size_of.values())
print("| | right: accepted / unsure / refused | " + " | ".join(f"bugs {c}" for c in CLASSES) + " |")
print("| --- " * (len(CLASSES) + 2) + "|")
for name, count in judged.items():
    cells = [f"{count['pass']} / {count['unsure']} / {count['fail']}"]
    for size in CLASSES:
        unsure = excused[size] if name == "the check" else 0
        cells.append(f"{count[size]}/{total[size]}" + (f", unsure {unsure}" if unsure else ""))
    print(f"| {name} | " + " | ".join(cells) + " |")
