"""Prints the table of contents of the zoo, as Markdown."""

from gradcheck_ref.zoo import all_cases

cases = list(all_cases())
bugs = [bug for case in cases for bug in case.bugs]
print(f"{len(cases)} functions, {len(bugs)} bugs.\n")
print("| function | tags | bugs |")
print("| --- | --- | --- |")
for case in cases:
    slugs = ", ".join(bug.id.removeprefix(f"{case.name}/") for bug in case.bugs)
    print(f"| `{case.name}` | {', '.join(sorted(case.tags))} | {slugs} |")
