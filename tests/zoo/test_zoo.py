"""The zoo is what checkers are judged on, so it is judged here without any of them.

The derivative of ``f`` comes from the complex step, which has no truncation error and no
cancellation; where ``f`` is not analytic from Richardson extrapolation; where it is noisy from a
smooth twin; and at a kink from the two one-sided slopes, both exact for piecewise linear functions.
"""

import re

import numpy as np
import pytest
from each import each
from zoo_slopes import (
    RIGHT,
    WRONG,
    as_tuple,
    basis,
    claimed_jacobian,
    copies,
    differentiable,
    gradients,
    numeric_jacobian,
    one_sided_slopes,
    random_upstream,
    worst_error,
)

from gradcheck_ref import zoo
from gradcheck_ref.zoo import all_cases, load_iris
from gradcheck_ref.zoo.iris import SPECIES
from gradcheck_ref.zoo.problem import problems


def words_of(title):
    """Return the words that a part of the zoo's docstring explains."""
    part = zoo.__doc__.split(f"**{title}")[1].split("\n**")[0]
    return set(re.findall(r"``([a-z0-9-]+)``", part))


TOPICS = words_of("Topics")
DIFFICULTIES = words_of("Difficulties")
DIAGNOSES = words_of("Diagnoses")

# Functions that refuse a complex argument, or are not analytic. Functions of complex numbers go
# the same way, along the real and the imaginary axis.
RICHARDSON = {"absolute_value", "gelu", "three_halves_power_at_zero"}

# What the noisy and the float32 functions mean, in clean float64.
W32 = np.array([[0.6, -0.9, 0.4], [1.1, 0.3, -0.7]], dtype=np.float32).astype(np.float64)
TWINS = {
    "float32_softplus": lambda x: np.log1p(np.exp(x)).sum(),
    "float32_layer": lambda x: np.tanh(W32 @ x),
    "noisy_sine": lambda x: np.sin(x).sum(),
    "rounded_output": lambda x: (x**2).sum(),
    "cancelling_quotient": lambda x: (1 / 2 - x**2 / 24 + x**4 / 720 - x**6 / 40320).sum(),
}


# Tools.


def of_cases(wanted=lambda case: True):
    """Try a test with every case of the zoo that is wanted."""
    return each("case", lambda: filter(wanted, all_cases()))


def slopes_of(case):
    """Return the numeric Jacobian: of a smooth twin, where f is noisy."""
    f = TWINS.get(case.name, case.f)
    return numeric_jacobian(case, f, analytic=case.name not in RICHARDSON)


def outside_the_slopes(case, vjp):
    """Entries of the claimed gradient that lie outside the two one-sided slopes."""
    found = []
    for upstream in basis(case):
        for k, grad in zip(differentiable(case), gradients(case, vjp, upstream), strict=True):
            for index in np.ndindex(grad.shape):
                low, high = sorted(one_sided_slopes(case, upstream, k, index))
                if not low - 1e-9 <= grad[index] <= high + 1e-9:
                    found.append(index)
    return found


# The collection.


def test_there_are_enough_cases_and_bugs():
    cases = list(all_cases())
    assert len(cases) >= 40
    assert sum(len(case.bugs) for case in cases) >= 190
    assert all(case.bugs for case in cases)


def test_names_and_ids_are_unique_and_well_formed():
    cases = list(all_cases())
    ids = [bug.id for case in cases for bug in case.bugs]
    assert len({case.name for case in cases}) == len(cases)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", case.name) for case in cases)
    for case in cases:
        for bug in case.bugs:
            assert re.fullmatch(re.escape(case.name) + r"/[a-z0-9][a-z0-9.\-]*", bug.id)
            assert re.fullmatch(r"[a-z0-9\-]+", bug.kind), bug.id
            assert re.fullmatch(r"[^\n]+[.]", bug.why), bug.id


def test_tags_and_diagnoses_are_the_documented_vocabulary():
    cases = list(all_cases())
    for case in cases:
        assert len(case.tags & TOPICS) == 1, case.name
        assert case.tags & DIFFICULTIES, case.name
        assert "kink" in case.tags or "tie" not in case.tags, case.name
    assert set().union(*(case.tags for case in cases)) == TOPICS | DIFFICULTIES
    assert {bug.diagnosis for case in cases for bug in case.bugs} == DIAGNOSES


def test_every_call_gives_an_equal_zoo_that_shares_nothing():
    one, two = list(all_cases()), list(all_cases())
    for case in one:
        for x in case.inputs:
            x[...] = 0
    for case, fresh in zip(two, all_cases(), strict=True):
        assert (case.name, [b.id for b in case.bugs]) == (fresh.name, [b.id for b in fresh.bugs])
        assert all(np.array_equal(a, b) for a, b in zip(case.inputs, fresh.inputs, strict=True))
    assert two[0].inputs[0].any()


def test_a_vjp_that_writes_to_its_input_does_not_reach_the_case_of_a_problem():
    case = next(case for case in all_cases() if case.name == "softmax")
    bug = next(bug for bug in case.bugs if bug.diagnosis == "mutated")
    before = case.inputs[0].copy()
    problems(case, bug.vjp)
    assert np.array_equal(case.inputs[0], before)


# The right gradients.


@of_cases()
def test_inputs_are_small_and_the_contract_is_kept(case):
    assert all(isinstance(x, np.ndarray) and x.dtype.kind in "fci" for x in case.inputs)
    assert 2 <= sum(x.size for x in case.inputs) <= 48
    upstream = random_upstream(case, 0)
    for x, grad in zip(
        (case.inputs[k] for k in differentiable(case)),
        gradients(case, case.vjp, upstream),
        strict=True,
    ):
        assert grad.shape == x.shape
        assert grad.dtype == x.dtype


@of_cases()
def test_the_right_functions_keep_no_state_and_write_to_nothing(case):
    inputs = copies(case.inputs)
    for x in inputs:
        x.setflags(write=False)
    upstream = random_upstream(case, 0)
    frozen = as_tuple(upstream)
    kept = [np.array(u) for u in frozen]
    values = [as_tuple(case.f(*inputs)) for _ in range(2)]
    grads = [gradients(case, case.vjp, upstream, inputs) for _ in range(2)]
    assert all(np.array_equal(a, b) for a, b in zip(*values, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(*grads, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(inputs, case.inputs, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(kept, frozen, strict=True))


@of_cases(lambda case: "kink" not in case.tags)
def test_the_right_gradient_is_right(case):
    assert worst_error(claimed_jacobian(case, case.vjp), slopes_of(case)) <= RIGHT


@of_cases(lambda case: "kink" in case.tags)
def test_at_a_kink_the_right_gradient_lies_between_the_slopes(case):
    assert outside_the_slopes(case, case.vjp) == []


@of_cases(lambda case: "zero-gradient" not in case.tags)
def test_no_gradient_is_zero_as_a_whole_by_accident(case):
    assert all(grad.any() for grad in gradients(case, case.vjp, random_upstream(case, 0)))


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_has_the_values_of_its_function_within_the_noise(name):
    case = next(case for case in all_cases() if case.name == name)
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = case.inputs[0] * rng.uniform(0.9, 1.1, case.inputs[0].shape)
        np.testing.assert_allclose(case.f(moved), TWINS[name](moved), rtol=0, atol=1e-6)


# The wrong ones.


@of_cases()
def test_every_bug_is_wrong(case):
    upstream = random_upstream(case, 0)
    right, jacobian = gradients(case, case.vjp, upstream), claimed_jacobian(case, case.vjp)
    for bug in case.bugs:
        inputs = copies(case.inputs)
        error = worst_error(gradients(case, bug.vjp, upstream, inputs), right)
        written = any(not np.array_equal(a, b) for a, b in zip(inputs, case.inputs, strict=True))
        if bug.diagnosis == "mutated":
            assert written, bug.id
        elif bug.diagnosis == "accumulated":
            assert error <= RIGHT, bug.id
        else:
            assert error > WRONG, bug.id
            assert worst_error(claimed_jacobian(case, bug.vjp), jacobian) > WRONG, bug.id


def test_the_numeric_jacobian_refuses_planted_errors():
    """Complex step, Richardson and twins: an error of 1e-8 is seen by each."""
    wanted = {"square", "gelu", "complex_square", "noisy_sine", "polar_to_cartesian"}
    cases = [case for case in all_cases() if case.name in wanted]
    assert len(cases) == len(wanted)
    for case in cases:
        planted = [j * (1 + 1e-8) for j in claimed_jacobian(case, case.vjp)]
        assert worst_error(planted, slopes_of(case)) > RIGHT


# The data.


def test_iris_is_fishers_table():
    features, labels = load_iris()
    assert features.shape == (150, 4)
    assert features.dtype == np.float64
    assert labels.dtype.kind == "i"
    assert np.array_equal(labels, np.repeat([0, 1, 2], 50))
    assert SPECIES == ("setosa", "versicolor", "virginica")
    # The means of Fisher's Table II; the two flowers that the UCI copy has wrong.
    np.testing.assert_allclose(features[:50].mean(axis=0), [5.006, 3.428, 1.462, 0.246])
    np.testing.assert_allclose(features[50:100].mean(axis=0), [5.936, 2.770, 4.260, 1.326])
    np.testing.assert_allclose(features[100:].mean(axis=0), [6.588, 2.974, 5.552, 2.026])
    assert features[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert features[37].tolist() == [4.9, 3.6, 1.4, 0.1]


def test_iris_can_be_changed_by_its_reader():
    features, _ = load_iris()
    features[:] = 0
    assert load_iris()[0].any()
