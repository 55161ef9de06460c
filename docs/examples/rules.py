"""Prints, as Markdown, how the rules of other libraries and the check judge the zoo.

The rules are those of `gradcheck_ref.compat`, with the defaults of the libraries. As in daily use
there is no margin: every refused right gradient is a false alarm. No verdict here depends on the
last bits of a processor.
"""

import warnings
from pathlib import Path

from detection import HEAD, row

from gradcheck_ref.compat import cs231n, torch, tvm, warp
from gradcheck_ref.zoo.problem import problems

# The zoo has inputs of float32, of which torch warns.
warnings.filterwarnings("ignore", "input", UserWarning)


def cs231n_at_1e_4(case, vjp):
    """Hold the notebooks' relative error, the largest of all entries, against 1e-4."""
    for problem in problems(case, vjp):
        numeric = cs231n.eval_numerical_gradient(problem.f, problem.x.copy(), verbose=False)
        if not cs231n.rel_error(problem.claimed, numeric) <= 1e-4:
            raise AssertionError


def tvm_rule(case, vjp):
    """Check one input after the other, with a weighted sum of the outputs: TVM needs a scalar."""
    for problem in problems(case, vjp):
        tvm.check_numerical_grads(problem.f, [problem.x], [problem.claimed])


def torch_slow(case, vjp):
    """Check all entries of the Jacobian."""
    torch.gradcheck(case.f, case.inputs, vjp=vjp)


def torch_fast(case, vjp):
    """Check one number for each input and output."""
    torch.gradcheck(case.f, case.inputs, vjp=vjp, fast_mode=True)


def warp_rule(case, vjp):
    """Check all entries of the Jacobian."""
    warp.gradcheck(case.f, case.inputs, vjp=vjp, show_summary=False)


RULES = {
    "CS231n 2026, `rel_error` at 1e-4": cs231n_at_1e_4,
    "TVM 0.27": tvm_rule,
    "torch 2.13": torch_slow,
    "torch 2.13, fast mode": torch_fast,
    "Warp 1.19": warp_rule,
}
REFUSALS = AssertionError, ValueError, torch.GradcheckError


def verdict(rule, case, vjp):
    """Return pass or fail: each library raises in its own way."""
    try:
        rule(case, vjp)
    except REFUSALS:
        return "fail"
    return "pass"


if __name__ == "__main__":
    print(HEAD)
    for name, rule in RULES.items():
        print(row(name, lambda case, bug, rule=rule: verdict(rule, case, (bug or case).vjp)))
    # The check is the last row that detection.py has stored.
    stored = Path(__file__).with_name("detection.md").read_text(encoding="utf-8")
    print(stored.splitlines()[-1])
