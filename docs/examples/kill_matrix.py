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


def decision(right, stage):
    """What a stage makes of the right gradient."""
    if right.close_call(stage):
        return "a close call"
    if not right.right(stage):
        return "refused"
    return "accepted by luck" if lucky(right, stage) else "accepted"


def caught(bugs, stage):
    """How many wrong gradients a stage refuses."""
    return sum(bug.right(stage) for bug in bugs)


def tells_apart(right, bugs):
    """Whether it matters which stage one takes, or whether the right gradient is a hard one."""
    decided = {tuple(row.right(stage) for row in (right, *bugs)) for stage in STAGES}
    wrong = any(lucky(right, stage) or not right.right(stage) for stage in STAGES)
    return len(decided) > 1 or wrong


def by_case():
    """Return the rows of each function: the right gradient first, then the wrong ones."""
    return [list(rows) for _, rows in groupby(kill_matrix(), key=lambda row: row.case.name)]


def cell(right, bugs, stage):
    """What a stage makes of a function, in words; refusing what is right deserves no praise."""
    said, count = decision(right, stage), f"{caught(bugs, stage)}/{len(bugs)}"
    return f"**refused** ({count})" if said == "refused" else f"{said}, {count}"


if __name__ == "__main__":
    print("| function | " + " | ".join(judge.name for judge in JUDGES) + " |")
    print("| --- " * (len(JUDGES) + 1) + "|")
    rest = []
    for right, *bugs in by_case():
        if tells_apart(right, bugs):
            cells = (cell(right, bugs, stage) for stage in STAGES)
            print(f"| `{right.case.name}` | " + " | ".join(cells) + " |")
        else:
            rest.append(bugs)

    unseen = sum(not bug.right(0) for bugs in rest for bug in bugs)
    print(f"\nOn the other {len(rest)} functions all five agree: they accept the right gradient,")
    print(f"and all wrong ones but {unseen}, which none of them can see (see below), are refused.")
