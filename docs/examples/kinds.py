"""Prints, as Markdown, the kinds of mistake: what the claim is, and what mends it."""

import inspect

from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES

# The repairs of each kind: of a claim of the right shape or, if there are none, of another one.
repairs = {kind: [one.mend for one in MISTAKES if one.kind == kind and one.mend] for kind in KINDS}
for mistake in MISTAKES:
    if mistake.reshape and not repairs[mistake.kind]:
        repairs[mistake.kind] = [mistake.reshape]


def row(kind):
    """Return a row that a link can point at; without a repair the right numbers are not known."""
    known = " ".join(inspect.getdoc(one).splitlines()[0] for one in repairs[kind])
    return f"| `{kind}`{{ #{kind} }} | {KINDS[kind]} | {known} |"


print("| kind | the claim | the repair, if one is known |")
print("| --- | --- | --- |")
print(*map(row, sorted(KINDS, key=lambda kind: not repairs[kind])), sep="\n")
