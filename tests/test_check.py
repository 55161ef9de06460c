"""The check on the whole zoo: no false alarm, no bug accepted, honest error bars, and the cost."""

import warnings
from collections import Counter

import numpy as np
import pytest

from gradcheck_ref.check.gradient import check_gradient
from gradcheck_ref.check.products import check_vjp
from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

# Where a right gradient may be called unsure, and why.
EXCUSES = {
    "kink": {"kink"},
    "tie": {"kink"},
    "jump": {"kink"},
    "domain-edge": {"kink", "domain-edge", "noise"},
    "float32": {"noise"},
    "noise": {"noise"},
    "offset": {"noise"},  # 1e6 + 1e-3 sin x: rounding of the pedestal is noise like any other
}


def inputs_of(case):
    return case.inputs if len(case.inputs) > 1 else case.inputs[0]


def check(case, vjp):
    with warnings.catch_warnings():
        # Near the edge of a domain f is evaluated outside of it, and NumPy says so.
        warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
        return check_vjp(case.f, inputs_of(case), vjp)


CASES = {case.name: case for case in all_cases()}


@pytest.fixture(scope="module")
def right():
    """Return the reports on all right gradients, by name."""
    return {case.name: check(case, case.vjp) for case in all_cases()}


@pytest.fixture(scope="module")
def wrong():
    """Return the reports on all wrong gradients, by id; each from a case built anew."""
    return {bug.id: check(case, bug.vjp) for case in all_cases() for bug in case.bugs}


@pytest.mark.parametrize("name", CASES)
def test_a_right_gradient_passes_or_is_excused(right, name):
    report, tags = right[name], CASES[name].tags
    excuses = set().union(*(EXCUSES.get(tag, set()) for tag in tags))
    assert report.verdict != "fail"
    if report.verdict == "unsure":
        assert report.reason in excuses
        assert "smooth" not in tags or "domain-edge" in tags


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "kink" in case.tags])
def test_at_a_kink_the_verdict_is_unsure(right, name):
    assert (right[name].verdict, right[name].reason) == ("unsure", "kink")


@pytest.mark.parametrize("name", ["noisy_sine", "float32_layer", "float32_softplus"])
def test_noise_is_called_noise(right, name):
    assert (right[name].verdict, right[name].reason) == ("unsure", "noise")


@pytest.mark.parametrize("bug_id", [bug.id for case in CASES.values() for bug in case.bugs])
def test_no_wrong_gradient_is_accepted(wrong, bug_id):
    assert wrong[bug_id].verdict in ("fail", "unsure")


def test_a_wrong_gradient_is_unsure_only_where_no_entry_alone_can_show_it(wrong):
    # The gradient to all tied entries: each lies between its one-sided slopes.
    unsure = {bug_id for bug_id, report in wrong.items() if report.verdict == "unsure"}
    assert unsure == {"maximum_with_tie/to-all", "max_pooling_with_tie/to-all"}


@pytest.mark.parametrize(
    ("diagnosis", "reason"),
    [("missing-sum", "shape"), ("mutated", "mutated"), ("accumulated", "nondeterministic")],
)
def test_a_bug_that_is_no_number_is_refused_for_what_it_is(wrong, diagnosis, reason):
    bugs = [bug for case in CASES.values() for bug in case.bugs if bug.diagnosis == diagnosis]
    assert bugs
    assert Counter(wrong[bug.id].reason for bug in bugs) == {reason: len(bugs)}


def test_the_error_bars_are_honest_on_smooth_functions(right):
    inside = []
    for name, report in right.items():
        if "smooth" in CASES[name].tags:
            for pair in report.pairs:
                slack = 1e-13 * np.abs(pair.analytic).max(initial=0)  # of the truth itself
                inside.append(np.ravel(pair.difference <= pair.error + slack))
    assert np.concatenate(inside).mean() >= 0.99


def test_most_entries_cost_six_evaluations(right):
    # 8 evaluations at the start: f twice, and six to measure its noise.
    costs = {
        name: (report.evaluations - 8) / sum(p.x.size for p in report.pairs if p.output.start == 0)
        for name, report in right.items()
        if "smooth" in CASES[name].tags
    }
    assert np.median(list(costs.values())) == 6
    assert max(costs.values()) <= 40


def relative_size(case, bug):
    """Return the largest relative size of a bug over the inputs, inf for a wrong shape."""
    sizes = []
    for good, bad in zip(problems(case, case.vjp), problems(case, bug.vjp), strict=True):
        if good.claimed.shape != bad.claimed.shape:
            return np.inf
        largest = np.abs(good.claimed).max(initial=0)
        sizes.append(np.abs(bad.claimed - good.claimed).max(initial=0) / (largest or 1))
    return max(sizes)


@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-4, 1e-5, 3e-6], ids=lambda size: f"{size:.0e}")
@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.tags & {"smooth"}][::3]
)
def test_a_planted_error_of_any_size_is_refused(name, size):
    case = CASES[name]

    def vjp(upstream, *inputs):
        gradients = case.vjp(upstream, *inputs)
        several = isinstance(gradients, tuple)
        wrong = [
            g if g is None or not np.any(g) else plant(np.array(g, copy=True), size)
            for g in (gradients if several else (gradients,))
        ]
        return tuple(wrong) if several else wrong[0]

    if not any(np.any(g) for g in np.atleast_1d(case.vjp(*unit_upstream(case), *case.inputs))):
        pytest.skip("the gradient is zero: there is no relative error")
    assert check(case, vjp).verdict == "fail"


def plant(gradient, size):
    """Change the largest entry by a fraction of itself."""
    gradient = np.asarray(gradient, dtype=np.result_type(gradient, float))
    flat = gradient.reshape(-1)
    flat[np.argmax(np.abs(flat))] *= 1 + size
    return gradient
