"""A zoo case as plain problems: scalar functions of one array each."""

import numpy as np
import pytest

from gradcheck_ref.zoo import all_cases
from gradcheck_ref.zoo.problem import problems

ZOO = {case.name: case for case in all_cases()}


def slope(f, x, direction, h=1e-4):
    """Slope of f at x along a direction, by a five-point formula of our own."""
    step = direction * h
    near, far = f(x + step) - f(x - step), f(x + 2 * step) - f(x - 2 * step)
    return (8 * near - far) / (12 * h)


@pytest.mark.parametrize("name", ["softmax", "affine", "mean_and_variance", "complex_matmul"])
def test_the_claim_is_the_gradient_of_the_loss(name):
    rng = np.random.default_rng(0)
    for problem in problems(ZOO[name], ZOO[name].vjp):
        direction = rng.normal(size=problem.x.shape)
        if np.iscomplexobj(problem.x):
            direction = direction + 1j * rng.normal(size=problem.x.shape)
        claimed = np.vdot(problem.claimed, direction).real
        assert slope(problem.f, problem.x, direction) == pytest.approx(claimed, rel=1e-8)


def test_a_vjp_that_writes_to_its_input_does_not_reach_the_case():
    case = ZOO["softmax"]
    bug = next(bug for bug in case.bugs if bug.diagnosis == "mutated")
    before = case.inputs[0].copy()
    problems(case, bug.vjp)
    assert np.array_equal(case.inputs[0], before)
