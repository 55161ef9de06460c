"""Prints, as Markdown, how all rules judge gradients that are right alone and wrong in company."""

from wild import EVERYBODY

from gradcheck_ref.zoo.company import COMPANY

found = {}
for name, judge in EVERYBODY.items():
    refused = {"right": 0, "wrong": 0}
    for one in COMPANY:
        for kind in refused:
            case = one.case()  # with a state of its own
            vjp = case.vjp if kind == "right" else case.bugs[0].vjp
            refused[kind] += judge(case, vjp) == "fail"
    found.setdefault(tuple(refused.values()), []).append(name)

print(f"| of {len(COMPANY)} each | right ones refused | wrong ones refused |")
print("| --- | ---: | ---: |")
for (right, wrong), names in found.items():
    print(f"| {'; '.join(names)} | {right} | {wrong} |")
