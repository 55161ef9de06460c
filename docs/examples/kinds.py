"""Prints, as Markdown, the kinds of mistake: what the claim is, and what mends it."""

import inspect

from gradcheck_ref.check.mistakes.table import KINDS, MISTAKES

# The repairs of each kind: of a claim of the right shape or, if there are none, of another one.
repairs = {kind: [one.mend for one in MISTAKES if one.kind == kind and one.mend] for kind in KINDS}
for mistake in MISTAKES:
    if mistake.reshape and not repairs[mistake.kind]:
        repairs[mistake.kind] = [mistake.reshape]

# Where no repair is known, because the right numbers are not in the claim.
LOOK = {
    "zero": "Look for an input that is detached or treated as a constant, or for a gradient that "
    "is never written.",
    "phase": "Look for the absolute value of z in place of z, or for a formula for real numbers.",
    "mean-and-spread": "Differentiate the mean, the variance or the norm, too: they depend on x.",
    "not-projected": "Differentiate the length of x, too, by which f divides it.",
    "another-frame": "Look for a rotation that is missing, or for one too many: the frame may be "
    "that of a body or of the world.",
    "nonfinite": "Look for a division by 0, the logarithm or the root of 0, an overflow, or a "
    "branch of np.where that is not taken.",
    "not-zero": "Look for a mask or a condition of f that the gradient lacks, or for an input that "
    "f overwrites.",
    "extra-sum": "Leave the sum out: each entry has a gradient of its own.",
    "single-entries": "Look at these entries: an edge, a repeated index, a branch?",
    "some-entries": "Look at how these entries enter f.",
    "row-or-column": "Look at the loop or the slice that writes it: does it end one step too "
    "early?",
    "mask": "Look at the entries that are 0: which mask, condition or sum leaves them out?",
    "counted-once": "Add the gradients of a repeated entry, with np.add.at or +=.",
    "some-outputs": "Look at how the upstream gradient of these outputs is used.",
    "local-derivative": "Look for the derivative of another function or branch, for one at another "
    "point, or for a missing term.",
    "upstream-ignored": "Multiply every term by the upstream gradient.",
    "tangent-ignored": "Multiply every term by the tangent.",
    "accumulated": "Start every call afresh: keep no buffer, and nothing of the last call.",
    "mutated": "Let +=, *=, out= and assignments to slices work on a copy.",
    "tolerance": "Tighten the tolerance of the solver, or give a larger rtol.",
    "noisy": "Fix the seed, write all digits, and compute in float64.",
}
assert [kind for kind in KINDS if not repairs[kind]] == list(LOOK)


def row(kind, advice):
    """Return a row that a link can point at."""
    return f"| `{kind}`{{ #{kind} }} | {KINDS[kind]} | {advice} |"


print("### Mistakes with a repair\n")
print("| kind | the claim | the repair |")
print("| --- | --- | --- |")
for kind, functions in repairs.items():
    if functions:
        print(row(kind, " ".join(inspect.getdoc(one).splitlines()[0] for one in functions)))

print("\n### Mistakes without a repair\n")
print("| kind | the claim | what to do |")
print("| --- | --- | --- |")
for kind, advice in LOOK.items():
    print(row(kind, advice))
