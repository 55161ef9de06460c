"""How gradients are arranged, and when a pair is a value and a gradient."""

import numpy as np
import pytest

from gradcheck_ref.structure.gradients import fits, value_and_gradient
from gradcheck_ref.structure.inputs import Inputs

X, W = np.ones(3), np.ones((2, 2))
ONE = Inputs(lambda x: 0, X)
TWO = Inputs(lambda x, W: 0, (X, W))
NAMED = Inputs(lambda x, W: 0, {"x": X, "W": W})
TREE = Inputs(lambda params: 0, [{"x": X, "W": [W]}])
LABELS = Inputs(lambda x, k: 0, (X, np.arange(2)))


@pytest.mark.parametrize(
    ("inputs", "given", "shaped", "arranged"),
    [
        (ONE, X, True, True),
        (ONE, [1, 2, 3], True, True),
        (ONE, W, False, True),
        (ONE, ["a", "b", "c"], False, True),
        (ONE, (1.0, X), False, False),
        (ONE, None, False, False),
        (TWO, (X, W), True, True),
        (TWO, (X, None), True, True),
        (TWO, (None, None), False, False),
        (TWO, (W, X), False, True),
        (TWO, {"x": X, "W": W}, False, False),
        (NAMED, {"x": X, "W": W}, True, True),
        (NAMED, {"x": X}, False, False),
        (NAMED, {"x": X, "W": W, "b": 1}, False, False),
        (TREE, {"x": X, "W": [W]}, True, True),
        (TREE, {"x": X, "W": W}, False, False),
        (LABELS, (X, None), True, True),
        (LABELS, X, True, True),
    ],
)
def test_a_gradient_fits_in_arrangement_and_in_shape(inputs, given, shaped, arranged):
    assert fits(inputs, given) is shaped
    assert fits(inputs, given, shapes=False) is arranged


@pytest.mark.parametrize(
    "given",
    [(2, X), [2.0, X], (np.array(2.0), X), (np.float32(2), {"x": X}), (2.0, 3.0)],
    ids=["tuple", "list", "array", "float32", "numbers"],
)
def test_a_number_and_something_are_a_value_and_a_gradient(given):
    value, gradient = value_and_gradient(given)
    assert value == 2.0
    assert gradient is given[1]


@pytest.mark.parametrize(
    "given",
    [
        *(2.0, X, (2.0,), (2.0, X, X), (X, X), (1j, X), (True, X), (None, X), ("a", X)),
        *((2.0, None), ((2.0, X), X), {"value": 2.0, "gradient": X}),
    ],
    ids=range(12),
)
def test_other_things_are_not(given):
    assert value_and_gradient(given) is None
