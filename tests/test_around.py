"""The neighbourhood of a point, as the stages look at it: the shortest step, and f.many."""

import numpy as np
import pytest
from edge_cases import never, with_many

from gradcheck_ref import adaptive_difference, forward_difference


@pytest.mark.parametrize("x", [1.0, 2.0, -1.0, 1e10, 1e-310], ids=repr)
def test_the_shortest_step_that_moves_is_taken_and_a_quarter_of_it_refused(x):
    spacing = float(np.spacing(abs(x)))
    assert forward_difference(lambda x: 3.0, x, h=spacing) == 0
    if spacing / 4:
        with pytest.raises(ValueError, match="vanishes"):
            forward_difference(never, x, h=spacing / 4)


MANY = {
    "too few": (lambda points: [1.0], ValueError, "one value for each point, but it returned 1"),
    "too many": (lambda points: [1.0] * 99, ValueError, "but it returned 99 for 6"),
    "a number": (lambda points: 1.0, TypeError, "not iterable"),
    "text": (lambda points: ["a"] * len(points), TypeError, "f must return a number"),
    "arrays": (lambda points: np.ones((len(points), 2)), ValueError, "f must return one number"),
}


@pytest.mark.parametrize(("many", "error", "words"), MANY.values(), ids=MANY)
def test_many_must_return_one_number_for_each_point(many, error, words):
    f, _ = with_many(np.sum, many)
    with pytest.raises(error, match=words) as caught:
        adaptive_difference(f, np.ones(3))
    assert caught.value.__notes__ == [
        "in gradcheck_ref, calling f.many at 6 points: x with x[0] moved"
    ]
