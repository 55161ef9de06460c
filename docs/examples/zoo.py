"""Prints the table of contents of the zoo, as Markdown."""

from gradcheck_ref.zoo import all_cases

cases = list(all_cases())
alike = {}
for case in cases:
    alike.setdefault(", ".join(sorted(case.tags)), []).append(f"`{case.name}`")
print(f"{len(cases)} functions, {sum(len(case.bugs) for case in cases)} bugs.\n")
print("| tags | functions |")
print("| --- | --- |")
for tags, functions in alike.items():
    print(f"| {tags} | {', '.join(functions)} |")
