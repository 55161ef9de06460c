"""Claims that are finite differences of f are told; derived ones are not taken for one."""

import numpy as np
import pytest
from zoo_reports import CASES, report_on

from gradcheck_ref import check_gradient, check_jacobian, check_vjp

X = np.array([0.3, -1.2, 0.8, 2.1])


def f(x):
    return np.sum(np.exp(x) / (1 + x**2))


def derived(x):
    return np.exp(x) * (1 - x) ** 2 / (1 + x**2) ** 2


def measured(kind, h):
    def gradient(x):
        found = np.empty_like(x)
        for i in range(x.size):
            e = np.zeros_like(x)
            e[i] = h
            ahead, behind = {"central": (e, -e), "forward": (e, 0), "backward": (0, -e)}[kind]
            found[i] = (f(x + ahead) - f(x + behind)) / (2 * h if kind == "central" else h)
        return found

    return gradient


def told(report):
    return [note for note in report.notes if "it was measured, not derived" in note]


@pytest.mark.parametrize(
    ("kind", "h"),
    [
        ("central", 1e-5),
        ("central", 1e-3),
        ("forward", 1e-7),
        ("central", 2**-26),
        ("backward", 1e-4),
    ],
)
def test_a_difference_is_told_with_its_step(kind, h):
    (note,) = told(check_gradient(f, X, measured(kind, h)))
    assert f"the {kind} difference of f with a step of {h:.2g}, to its last digits" in note
    assert told(check_gradient(f, X, measured(kind, h)(X)))


def test_a_derived_claim_costs_nothing_and_is_not_told():
    right = check_gradient(f, X, derived)
    assert not told(right)
    assert right.evaluations < check_gradient(f, X, measured("forward", 1e-7)).evaluations
    for wrong in (1.001, 1 + 1e-9):
        assert not told(check_gradient(f, X, lambda x, w=wrong: w * derived(x)))


@pytest.mark.parametrize("size", [3, 12])
def test_a_right_claim_that_float32_holds_is_not_told(size):
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=size)
        right = lambda x: np.exp(x).astype(np.float32).astype(float)  # noqa: E731
        assert not told(check_gradient(lambda x: np.exp(x).sum(), x, right))


def test_a_difference_that_float32_holds_is_told_if_entries_are_many():
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=12)
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


@pytest.mark.parametrize("name", CASES)
def test_no_right_gradient_of_the_zoo_is_told(name):
    assert not told(report_on(name))
