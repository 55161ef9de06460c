"""Prints the kill matrix: what each stage makes of each function of the zoo, as Markdown."""

import warnings
from itertools import groupby

from gradcheck_ref.staircase import JUDGES, kill_matrix

# Near the edge of a domain f is evaluated outside of it: NumPy says so, and the stages go on.
warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)

STAGES = range(len(JUDGES))


def lucky(row, stage):
    """Whether a right gradient is accepted for the wrong reason."""
    if "kink" in row.case.tags:
        return True  # there is no one slope: the claim happens to be the one that is estimated
    # A forward difference looks to one side, and what disturbs is on the other.
    return stage == 0 and bool(row.case.tags & {"near-kink", "jump"})


def cell(right, bugs, stage):
    """What a stage makes of the right gradient, and how many wrong ones it catches."""
    caught = f"{sum(bug.right(stage) for bug in bugs)}/{len(bugs)}"
    if right.close_call(stage):
        return f"a close call, {caught}"
    if not right.right(stage):
        return f"**refused** ({caught})"
    return f"accepted{' by luck' if lucky(right, stage) else ''}, {caught}"


by_case = [list(rows) for _, rows in groupby(kill_matrix(), key=lambda row: row.case.name)]
told_apart = [
    rows
    for rows in by_case
    if len({(rows[0].right(s), *(bug.right(s) for bug in rows[1:])) for s in STAGES}) > 1
    or any(lucky(rows[0], s) or not rows[0].right(s) for s in STAGES)
]

print("| function | " + " | ".join(judge.name for judge in JUDGES) + " |")
print("| --- " * (len(JUDGES) + 1) + "|")
for right, *bugs in told_apart:
    cells = (cell(right, bugs, stage) for stage in STAGES)
    print(f"| `{right.case.name}` | " + " | ".join(cells) + " |")

rest = [rows for rows in by_case if rows not in told_apart]
unseen = sum(not bug.right(0) for rows in rest for bug in rows[1:])
print(f"\nOn the other {len(rest)} functions all five agree: they accept the right gradient,")
print(f"and all wrong ones but {unseen}, which none of them can see (see below), are refused.")
