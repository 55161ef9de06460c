"""Which leaves a caller means by the names and positions of constants."""

from typing import NamedTuple

import numpy as np
import pytest

from gradcheck_ref.structure.constants import leaves_named
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.trees import Forest

W = np.ones((2, 3))


class Norm(NamedTuple):
    """A layer."""

    gain: float
    mean: float


PARAMS = Forest([{"w": W, "norm": Norm(1.0, 0.0)}, W, {"w": W}], ["params", "X", "p"])
LEAVES = ["params['w']", "params['norm'].gain", "params['norm'].mean", "X", "p['w']"]


@pytest.mark.parametrize(
    ("constant", "leaves"),
    [
        ((), set()),
        ("X", {"X"}),
        (1, {"X"}),
        (np.int64(1), {"X"}),
        (["X", "p"], {"X", "p['w']"}),
        (iter(["params", 1]), {*LEAVES[:3], "X"}),
        ("params['norm']", {"params['norm'].gain", "params['norm'].mean"}),
        ("params['norm'].mean", {"params['norm'].mean"}),
        ({"X": None}, {"X"}),
    ],
    ids=["none", "name", "position", "numpy", "names", "iterator", "tree", "leaf", "mapping"],
)
def test_names_positions_and_paths_are_found(constant, leaves):
    assert PARAMS.names == LEAVES
    found = leaves_named(constant, PARAMS, by_name=False)
    assert {LEAVES[k] for k in found} == leaves


@pytest.mark.parametrize(
    ("constant", "error", "said"),
    [
        ("x", ValueError, "constant names 'x', which is no input: the inputs are params, X, p"),
        ("param", ValueError, "constant names 'param', which is no input"),
        ("params['v']", ValueError, "the inputs are params, X, p"),
        (3, ValueError, "constant names 3, which is no input: the inputs are params, X, p"),
        (-1, ValueError, "constant names -1, which is no input"),
        (None, TypeError, "constant must hold names or positions of inputs, not None; the inputs"),
        (True, TypeError, "not bool True; the inputs are params, X, p"),
        (("X", 1.0), TypeError, "not float 1.0; the inputs are params, X, p"),
        ((0, "X", "p"), ValueError, "constant names 0, 'X', 'p', and leaves nothing to diff"),
    ],
    ids=[
        *("name", "half a name", "no leaf", "position", "negative", "None", "bool", "float"),
        "all of them",
    ],
)
def test_other_names_are_refused_with_a_list_of_the_inputs(constant, error, said):
    with pytest.raises(error) as caught:
        leaves_named(constant, PARAMS, by_name=False)
    assert said in str(caught.value)


def test_inputs_by_name_have_no_positions():
    with pytest.raises(ValueError, match="constant names 1, which is no input: the inputs are"):
        leaves_named(1, PARAMS, by_name=True)


def test_constant_inputs_are_lent_as_they_are_and_may_hold_nan():
    X = np.array([[1.0, np.nan], [0.5, 2.0]])
    inputs = Inputs(lambda w, X, c: 0, (np.ones(2), X, 0.5), ("X", "c"))
    assert [part.name for part in inputs.parts.values()] == ["w"]
    w, lent, c = inputs.copies()
    np.testing.assert_array_equal(lent, X)
    assert lent is not X
    assert (c, w.tolist()) == (0.5, [1.0, 1.0])


def test_only_integers_are_left_if_the_floats_are_constant():
    with pytest.raises(TypeError, match="inputs holds nothing to differentiate"):
        Inputs(lambda x, k: 0, (np.ones(2), np.arange(2)), "x")
