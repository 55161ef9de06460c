"""Claims that are finite differences of f are told; derived ones are not taken for one."""

import numpy as np
import pytest
from zoo_reports import CASES, checked

from gradcheck_ref import check_gradient, check_jacobian, check_vjp

X = np.array([0.3, -1.2, 0.8, 2.1])


def f(x):
    return np.sum(np.exp(x) / (1 + x**2))


def derived(x):
    return np.exp(x) * (1 - x) ** 2 / (1 + x**2) ** 2


def told(report):
    return [note for note in report.notes if "it was measured, not derived" in note]


def measured(kind, h):
    """Return a gradient as people measure it, divided by the step that was meant."""

    def gradient(x):
        steps = h * np.eye(x.size)
        ahead = [f(x + (0 if kind == "backward" else step)) for step in steps]
        behind = [f(x - (0 if kind == "forward" else step)) for step in steps]
        return np.subtract(ahead, behind) / (2 * h if kind == "central" else h)

    return gradient


DIFFERENCES = [("central", 1e-5), ("central", 1e-3), ("forward", 1e-7), ("backward", 1e-4)]


@pytest.mark.parametrize(("kind", "h"), [*DIFFERENCES, ("central", 2**-26)])
def test_a_difference_is_told_with_its_step(kind, h):
    (note,) = told(check_gradient(f, X, measured(kind, h)))
    assert f"the {kind} difference of f with a step of {h:.2g}, to its last digits" in note


@pytest.mark.parametrize("factor", [1, 1.001, 1 + 1e-9])
def test_a_derived_claim_is_not_told(factor):
    assert not told(check_gradient(f, X, lambda x: factor * derived(x)))


@pytest.mark.parametrize("seed", range(3))
def test_of_claims_that_float32_holds_a_difference_of_many_entries_is_told(seed):
    for size in (3, 12):
        x = np.random.default_rng(seed).normal(size=size)
        right = lambda x: np.exp(x).astype(np.float32).astype(float)  # noqa: E731
        assert not told(check_gradient(lambda x: np.exp(x).sum(), x, right))
    assert told(check_gradient(f, x, measured("forward", 2**-26)))


def test_no_kind_is_named_if_several_differences_are_the_same_number():
    line, h = lambda x: np.sum(x / 3), 1e-6  # only divisions and sums: the same on all processors
    (note,) = told(check_gradient(line, X, [(line(X + h * e) - line(X)) / h for e in np.eye(4)]))
    assert f"is a finite difference of f with a step of {h:.2g}" in note


def test_products_and_jacobians_are_told_too():
    columns = [measured("central", 1e-6)(np.array([one]))[0] for one in X]
    outputs = lambda x: np.exp(x) / (1 + x**2)  # noqa: E731
    assert told(check_jacobian(outputs, X, np.diag(columns)))
    assert told(check_vjp(outputs, X, lambda upstream, x: upstream * columns))


@pytest.mark.slow
def test_no_right_gradient_of_the_zoo_is_told():
    assert [name for name, case in CASES.items() if told(checked(case, case.vjp))] == []
