"""Prints, as Markdown, the kinds of mistake: what the claim is, and what mends it."""

import inspect

from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES

# The repairs of each kind: of a claim of the right shape or, if there are none, of another one.
repairs = {kind: [one.mend for one in MISTAKES if one.kind == kind and one.mend] for kind in KINDS}
for mistake in MISTAKES:
    if mistake.reshape and not repairs[mistake.kind]:
        repairs[mistake.kind] = [mistake.reshape]


def row(kind):
    """Return a row that a link can point at."""
    mends = [inspect.getdoc(one).splitlines()[0] for one in repairs[kind]]
    cells = [f"`{kind}`{{ #{kind} }}", KINDS[kind], *([" ".join(mends)] if mends else [])]
    return f"| {' | '.join(cells)} |"


print("### Mistakes with a repair\n\n| kind | the claim | the repair |\n| --- | --- | --- |")
print(*[row(kind) for kind in KINDS if repairs[kind]], sep="\n")
# The right numbers are not in the claim: the report says where to look.
print("\n### Mistakes without a repair\n\n| kind | the claim |\n| --- | --- |")
print(*[row(kind) for kind in KINDS if not repairs[kind]], sep="\n")
