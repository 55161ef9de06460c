"""Prints, as Markdown, how all rules judge the museum of released bugs.

Each function is judged with its right derivative and its wrong one, at the point that shows the
bug. The rules of CS231n, TVM, torch and Warp are those of `gradcheck_ref.compat`; those of JAX,
HIPS autograd and SciPy are a few lines each, below. All have the defaults of their libraries.
"""

import warnings

import numpy as np
from detection import CLEARLY
from rules import RULES
from rules import verdict as by_rule

from gradcheck_ref import check_vjp
from gradcheck_ref.staircase import JUDGES
from gradcheck_ref.zoo.problem import problems
from gradcheck_ref.zoo.wild import WILD

# f is evaluated outside its domain, claims are NaN, and torch warns of complex64.
warnings.simplefilter("ignore", RuntimeWarning)


def stage(judge):
    """One of the five stages; for right derivatives with a margin, as in `detection.py`."""

    def verdict(case, vjp):
        ratio = max(
            judge.ratio(problem.claimed, judge.estimate(problem.f, problem.x))
            for problem in problems(case, vjp)
        )
        return "fail" if ratio > (CLEARLY if vjp is case.vjp else 1) else "pass"

    return verdict


def the_check(case, vjp):
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    return check_vjp(case.f, inputs, vjp).verdict


def along_a_line(case, vjp, h):
    """One number each: what is claimed along a random direction, and a central difference."""
    rng = np.random.default_rng(2)  # not the numbers that weight the outputs
    claimed = numeric = 0.0
    for problem in problems(case, vjp):
        if problem.claimed.shape != problem.x.shape:
            return None
        direction = rng.normal(size=problem.x.shape)
        if np.iscomplexobj(problem.x):
            direction = direction + 1j * rng.normal(size=problem.x.shape)
        claimed += np.vdot(problem.claimed, direction).real
        ahead, behind = (problem.f(problem.x + step * direction) for step in (h, -h))
        numeric += (ahead - behind) / (2 * h)
    return claimed, numeric


def jax(case, vjp):
    pair = along_a_line(case, vjp, 1e-4)
    return pair and np.allclose(*pair, rtol=1e-5, atol=1e-5, equal_nan=True)


def hips(case, vjp):
    pair = along_a_line(case, vjp, 5e-7)
    return pair and (
        abs(pair[0] - pair[1]) < 1e-6 or abs(pair[0] - pair[1]) < 1e-6 * abs(sum(pair))
    )


def scipy(case, vjp):
    """The norm of the error, which the caller judges: here by 1e-5. Complex numbers are pairs."""
    h = np.sqrt(np.finfo(float).eps)
    for f, x, claimed in ((p.f, p.x, p.claimed) for p in problems(case, vjp)):
        units = (1, 1j) if np.iscomplexobj(x) else (1,)
        numeric = np.zeros_like(x)
        for i, unit in ((i, unit) for i in np.ndindex(x.shape) for unit in units):
            moved = x.copy()
            moved[i] += h * unit
            numeric[i] += unit * (f(moved) - f(x)) / h
        if not np.sqrt((np.abs(claimed - numeric) ** 2).sum()) <= 1e-5:
            return False
    return True


def passes(rule):
    return lambda case, vjp: "pass" if rule(case, vjp) else "fail"


EVERYBODY = {
    **{f"stage {judge.name}": stage(judge) for judge in JUDGES},
    **{
        name.split(" `")[0].rstrip(","): lambda case, vjp, rule=rule: by_rule(rule, case, vjp)
        for name, rule in RULES.items()
    },
    "JAX 0.10": passes(jax),
    "HIPS autograd 1.9": passes(hips),
    "SciPy 1.17, at 1e-5": passes(scipy),
    "the check": the_check,
}


def differs(wild, point):
    """Whether the wrong derivative is off there by a millionth of the largest entry or more."""
    case = wild.case(point)
    for right, wrong in zip(problems(case, case.vjp), problems(case, wild.wrong), strict=True):
        if right.claimed.shape != wrong.claimed.shape:
            return True
        error = np.abs(right.claimed - wrong.claimed).max()
        if not error <= 1e-6 * np.abs(right.claimed).max():
            return True
    return False


def row(name, judge):
    """Return the row of one judge; bugs count only where it does not refuse what is right."""
    right = {"pass": 0, "unsure": 0, "fail": 0}
    caught = 0
    for wild in WILD:
        case = wild.case(wild.shows)
        said = judge(case, case.vjp)
        right[said] += 1
        caught += said != "fail" and judge(case, wild.wrong) == "fail"
    return f"| {name} | {' / '.join(map(str, right.values()))} | {caught}/{len(WILD)} |"


def shown(wild, draws=100):
    """Count how many of some ordinary points show a bug."""
    return sum(differs(wild, wild.ordinary(seed)) for seed in range(draws))


if __name__ == "__main__":
    print("| | right accepted / unsure / refused | wrong refused |")
    print("| --- " * 3 + "|")
    for name, judge in EVERYBODY.items():
        print(row(name, judge))
