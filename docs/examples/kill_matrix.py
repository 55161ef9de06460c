"""Prints the kill matrix as Markdown: the results of each stage on each function of the zoo."""

import warnings
from itertools import groupby

from gradcheck_ref.staircase import JUDGES, kill_matrix

# Near the edge of its domain f is evaluated outside of it: NumPy warns, and the stages go on.
warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)

STAGES = range(len(JUDGES))
MARKS = {
    "accepted": "yes",
    "accepted by luck": "luck",
    "a close call": "close",
    "refused": "**no**",
}


def lucky(row, stage):
    """Whether a right gradient is accepted for the wrong reason."""
    if "kink" in row.case.tags:
        return True  # there is no single slope: the claim happens to equal the estimate
    # A forward difference looks to one side, and the kink is on the other.
    return stage == 0 and bool(row.case.tags & {"near-kink", "jump"})


def decision(right, stage):
    """The verdict of a stage on the right gradient."""
    if right.close_call(stage):
        return "a close call"
    if not right.right(stage):
        return "refused"
    return "accepted by luck" if lucky(right, stage) else "accepted"


def caught(bugs, stage):
    """The number of wrong gradients that a stage refuses."""
    return sum(bug.right(stage) for bug in bugs)


def tells_apart(right, bugs):
    """Whether the stages differ on a case, or its right gradient is hard for them."""
    decided = {tuple(row.right(stage) for row in (right, *bugs)) for stage in STAGES}
    wrong = any(lucky(right, stage) or not right.right(stage) for stage in STAGES)
    return len(decided) > 1 or wrong


def by_case():
    """Return the rows of each function: the right gradient first, then the wrong ones."""
    return [list(rows) for _, rows in groupby(kill_matrix(), key=lambda row: row.case.name)]


def cell(right, bugs, stage):
    """Whether a stage accepts the right gradient and, if it does not catch all, how many bugs."""
    accepted, count = MARKS[decision(right, stage)], caught(bugs, stage)
    return accepted if count == len(bugs) else f"{accepted}, {count}/{len(bugs)}"


if __name__ == "__main__":
    alike, rest = {}, []
    for right, *bugs in by_case():
        if tells_apart(right, bugs):
            cells = tuple(cell(right, bugs, stage) for stage in STAGES)
            alike.setdefault(cells, []).append(f"`{right.case.name}`")
        else:
            rest.append(bugs)

    print("| function | " + " | ".join(judge.name for judge in JUDGES) + " |")
    print("| --- " * (len(JUDGES) + 1) + "|")
    for cells, names in alike.items():
        print(f"| {', '.join(names)} | {' | '.join(cells)} |")
    unseen = sum(not bug.right(0) for bugs in rest for bug in bugs)
    print(f"\nOn the other {len(rest)} functions all five agree: they accept the right gradient,")
    print(f"and refuse all wrong ones except {unseen}, which none of them can see (see below).")
