"""Prints, as Markdown, the kinds of diagnosis, and what the claim looks like."""

from gradcheck_ref.check.diagnose.kinds import KINDS

print("| kind | the claim |")
print("| --- | --- |")
for kind, sentence in KINDS.items():
    print(f"| `{kind}` | {sentence} |")
