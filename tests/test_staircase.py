"""The five stages as judges, and the kill matrix."""

import numpy as np
import pytest
from zoo_reports import kill_matrix

from gradcheck_ref.staircase import JUDGES
from gradcheck_ref.zoo import all_cases

FORWARD, CENTRAL, RELATIVE, ALLCLOSE, ADAPTIVE = range(5)


@pytest.fixture(scope="module")
def matrix():
    """Return the rows of the kill matrix by case name and bug id (None for the right gradient)."""
    return {(row.case.name, row.bug and row.bug.id): row for row in kill_matrix()}


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_a_judge_accepts_right_gradients_and_refuses_wrong_ones(judge):
    x = np.array([0.3, -0.7, 1.1])
    right = np.cos(x)
    wrong = [right * [1, 1 + 1e-5, 1], right * [1, np.nan, 1], np.broadcast_to(right, (2, 3))]
    accepted = [judge.accepts(lambda x: np.sum(np.sin(x)), x, g) for g in (right, *wrong)]
    assert accepted == [True, False, False, False]


def test_the_matrix_has_every_gradient_of_the_zoo(matrix):
    expected = [(case.name, None) for case in all_cases()]
    expected += [(case.name, bug.id) for case in all_cases() for bug in case.bugs]
    assert sorted(matrix, key=str) == sorted(expected, key=str)


# What each stage changes in its favour: the stage before decides wrongly, this one rightly, and
# neither decision is close. The pages and docstrings name these rows.
WON = [
    (CENTRAL, "cube_at_tens", None),
    (RELATIVE, "huge_loss", None),
    (RELATIVE, "square_of_large_x", None),
    (RELATIVE, "square_of_small_x", "square_of_small_x/two-forgotten"),
    (ALLCLOSE, "mixed_magnitudes", None),
    (ALLCLOSE, "sigmoid_in_its_tail", None),
    (ADAPTIVE, "fast_sine", None),
    (ADAPTIVE, "square_on_a_pedestal", None),
    (ADAPTIVE, "logarithm_near_zero", None),
    (ADAPTIVE, "relu_near_zero", None),
]


@pytest.mark.parametrize(("stage", "case", "bug"), WON)
def test_a_stage_corrects_a_decision_of_the_stage_before(matrix, stage, case, bug):
    row = matrix[case, bug]
    assert (row.right(stage - 1), row.right(stage)) == (False, True)
    assert not row.close_call(stage - 1)
    assert not row.close_call(stage)


# What a stage loses, or wins by luck, belongs to the story as well.
LOST = [
    (RELATIVE, "sigmoid_in_its_tail", None),
    (ALLCLOSE, "tiny_loss", "tiny_loss/sign"),
    (CENTRAL, "relu_near_zero", None),  # stage 1 looked to the side without the kink
]


@pytest.mark.parametrize(("stage", "case", "bug"), LOST)
def test_a_stage_loses_a_row_that_the_stage_before_had_right(matrix, stage, case, bug):
    row = matrix[case, bug]
    assert (row.right(stage - 1), row.right(stage)) == (True, False)


@pytest.mark.parametrize(
    "case", ["relu_at_zero", "maximum_with_tie", "noisy_sine", "float32_layer"]
)
def test_no_stage_is_right_where_the_honest_verdict_is_unsure(matrix, case):
    assert not any(matrix[case, None].right(stage) for stage in range(5))


def test_no_stage_finds_a_bug_that_appears_in_the_second_call(matrix):
    second_call = [row for row in matrix.values() if row.bug and row.bug.diagnosis == "accumulated"]
    assert second_call
    assert not any(row.right(ADAPTIVE) for row in second_call)
