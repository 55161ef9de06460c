"""Prints, as Markdown, the kinds of mistake: what the claim is, and if the check can mend it."""

from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES

MENDED = {one.kind for one in MISTAKES if one.mend or one.reshape}


def table(heading, kinds):
    """Return a table whose rows a link can point at."""
    rows = [f"| `{kind}`{{ #{kind} }} | {KINDS[kind]} |" for kind in kinds]
    return "\n".join([f"### {heading}\n\n| kind | the claim |\n| --- | --- |", *rows])


print(table("Mistakes with a repair", [kind for kind in KINDS if kind in MENDED]), end="\n\n")
# The right numbers are not in the claim: the report says where to look.
print(table("Mistakes without a repair", [kind for kind in KINDS if kind not in MENDED]))
