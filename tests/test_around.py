"""The neighbourhood of a point: one coordinate moved at a time, in copies."""

import numpy as np
import pytest
from edge_cases import GRID, never, with_many

from gradcheck_ref.around import Around

Z = np.array([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]])


def test_a_move_changes_one_coordinate_of_one_copy_and_returns_where_it_went():
    points = []
    around = Around(lambda x: points.append(x) or 7.0, GRID)
    value, place = around.moved(6, -0.5)
    assert (value, place) == (7.0, GRID[1, 2] - 0.5)
    expected = GRID.copy()
    expected[1, 2] -= 0.5
    np.testing.assert_array_equal(points, [expected])
    np.testing.assert_array_equal(around.x, GRID)
    assert around.evaluations == 1


def test_every_evaluation_is_counted_even_one_that_raises():
    around = Around(lambda x: 1 / (float(x[0]) - 2), [1.0])
    around.value()
    with pytest.raises(ZeroDivisionError):
        around.moved(0, 1.0)
    assert around.evaluations == 2


@pytest.mark.parametrize(
    ("x", "i", "name"),
    [
        (GRID, 6, "x[1, 2]"),
        ([1.0, 2.0], 1, "x[1]"),
        (1.0, 0, "x"),
        (Z, 2, "the real part of x[0, 1]"),
        (Z, 7, "the imaginary part of x[1, 1]"),
        (1j, 1, "the imaginary part of x"),
    ],
)
def test_a_coordinate_is_named_like_an_indexed_array(x, i, name):
    assert Around(never, x).name(i) == name


@pytest.mark.parametrize("x", [1.0, 2.0, -1.0, 1e10, 1e-310], ids=repr)
def test_the_shortest_step_that_moves_is_accepted_and_a_quarter_of_it_not(x):
    around = Around(never, x)
    spacing = float(np.spacing(abs(x)))
    assert around.check_step(spacing) == spacing
    if spacing / 4:
        with pytest.raises(ValueError, match="vanishes"):
            around.check_step(spacing / 4)


# --- f.many -----------------------------------------------------------------------------------


def test_both_sides_of_many_steps_are_one_call():
    x = np.array([1.0, 2.0])
    f, given = with_many(np.sum, lambda points: np.sum(points, axis=1))
    around, alone = Around(f, x), Around(np.sum, x)
    steps = (0.5, 0.25)
    together, one_by_one = around.both_sides(1, steps), alone.both_sides(1, steps)
    for h in steps:
        assert together(h) == one_by_one(h) == (3 + h, 2 + h, 3 - h, 2 - h)
    assert given == [4]
    assert around.evaluations == 4


def test_only_samples_that_are_used_are_evaluated():
    around = Around(np.sum, np.ones(2))
    around.both_sides(0, (0.5, 0.25))(0.5)
    assert around.evaluations == 2


@pytest.mark.parametrize(
    ("many", "error", "words"),
    [
        (lambda points: [1.0], ValueError, "one value for each point, but it returned 1 for 2"),
        (lambda points: [1.0] * 3, ValueError, "but it returned 3 for 2"),
        (lambda points: 1.0, TypeError, "not iterable"),
        (lambda points: ["a", "b"], TypeError, "f must return a number"),
        (lambda points: [np.ones(2)] * 2, ValueError, "f must return one number"),
    ],
    ids=["too few", "too many", "a number", "text", "arrays"],
)
def test_many_must_return_one_number_for_each_point(many, error, words):
    around = Around(with_many(np.sum, many)[0], np.ones(3))
    with pytest.raises(error, match=words) as caught:
        around.both_sides(2, (0.5,))
    assert caught.value.__notes__ == [
        "in gradcheck_ref, calling f.many at 2 points: x with x[2] moved"
    ]
