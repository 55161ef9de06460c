"""Named inputs and outputs: what f is called with and must not change, and how all is named."""

from functools import partial, wraps
from typing import NamedTuple

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_vjp

W = np.arange(6.0).reshape(2, 3)


def total(*inputs):
    """Return a number that depends on all inputs."""
    return sum(np.sum(value) for value in inputs)


def mirrored(*given, **named):
    """Return what has the structure of a gradient."""
    return named or given


@pytest.mark.parametrize(
    ("f", "given", "names"),
    [
        (lambda x: total(x), np.ones(2), ["x"]),
        (total, (W, W), ["inputs[0]", "inputs[1]"]),
        (lambda **x: total(*x.values()), {"a": W, "b c": 1.0}, ["a", "b c"]),
        (np.sin, 0.5, ["x"]),
        (lambda x, p=2, *, q=3: total(x), np.ones(2), ["x"]),
        (wraps(lambda W, b: W)(lambda *given: total(*given)), (W, 1.0), ["W", "b"]),
        (partial(lambda n, W, b: total(W, b), 3), (W, 1.0), ["W", "b"]),
    ],
    ids=["one", "stars", "by name", "ufunc", "defaults", "wrapped", "partial"],
)
def test_inputs_are_called_as_f_calls_them(f, given, names):
    report = check_gradient(f, given, mirrored)
    assert [pair.input.name for pair in report.pairs] == names


@pytest.mark.parametrize(
    ("f", "given"),
    [
        (lambda W: total(W), (W, 1.0)),
        (lambda W, b, *, c: total(W, b, c), (W, 1.0)),
        (lambda W, b: total(W, b), {"W": W, "c": 1.0}),
    ],
    ids=["too many", "one by its name alone", "another name"],
)
def test_inputs_that_f_does_not_take_are_refused(f, given):
    with pytest.raises(TypeError, match="f does not take that"):
        check_gradient(f, given, mirrored)


# --- constants --------------------------------------------------------------------------------


class Norm(NamedTuple):
    """A layer."""

    gain: float
    mean: float


def loss(params, X, p):
    norm = params["norm"]
    return total(norm.gain * np.sin(params["w"]), norm.mean, X, p["w"])


GIVEN = ({"w": 0.5, "norm": Norm(1.0, 0.5)}, np.ones(2), {"w": 2.0})
LEAVES = ["params['w']", "params['norm'].gain", "params['norm'].mean", "X", "p['w']"]


@pytest.mark.parametrize(
    ("constant", "left"),
    [
        ((), LEAVES),
        (np.int64(1), [*LEAVES[:3], "p['w']"]),
        (["X", "p"], LEAVES[:3]),
        (iter(["params", 1]), ["p['w']"]),
        ("params['norm']", [LEAVES[0], "X", "p['w']"]),
        ("params['norm'].mean", [*LEAVES[:2], "X", "p['w']"]),
        ({"X": None}, [*LEAVES[:3], "p['w']"]),
    ],
    ids=["none", "position", "names", "iterator", "tree", "leaf", "mapping"],
)
def test_constants_are_inputs_trees_or_leaves(constant, left):
    report = check_gradient(loss, GIVEN, mirrored, constant=constant)
    assert [pair.input.name for pair in report.pairs] == left


@pytest.mark.parametrize(
    ("constant", "error", "said"),
    [
        (
            "param",
            ValueError,
            "constant names 'param', which is no input: the inputs are params, X",
        ),
        ("params['v']", ValueError, "the inputs are params, X, p"),
        (-1, ValueError, "constant names -1, which is no input"),
        (None, TypeError, "constant must hold names or positions of inputs, not None; the inputs"),
        (True, TypeError, "not bool True; the inputs are params, X, p"),
        ((0, "X", "p"), ValueError, "constant names 0, 'X', 'p', and leaves nothing to diff"),
    ],
    ids=["half a name", "no leaf", "negative", "None", "bool", "all of them"],
)
def test_other_names_are_refused_with_a_list_of_the_inputs(constant, error, said):
    with pytest.raises(error) as caught:
        check_gradient(loss, GIVEN, mirrored, constant=constant)
    assert said in str(caught.value)


def test_inputs_by_name_have_no_positions():
    given = dict(zip(("params", "X", "p"), GIVEN, strict=True))
    with pytest.raises(ValueError, match="constant names 1, which is no input: the inputs are"):
        check_gradient(loss, given, mirrored, constant=1)


def test_a_constant_may_hold_nan():
    data = np.array([np.nan, 2.0])
    report = check_gradient(lambda w, X: w * X[1], (0.5, data), (2.0, None), constant="X")
    assert (report.verdict, report.compared) == ("pass", 1)


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [complex, np.complex64, np.clongdouble])
def test_the_signs_of_complex_zeros_are_those_that_were_given(dtype):
    z, seen = np.array([complex(-1.0, -0.0), complex(-0.0, 2.0)], dtype), set()

    def f(z):
        seen.add(z.tobytes())
        return np.sum(np.abs(z) ** 2)

    check_gradient(f, z, 2 * z)
    assert z.tobytes() in seen


def test_a_minus_zero_in_place_of_zero_is_a_change():
    def f(W):
        W[0, 0] = -abs(W[0, 0])
        return total(W)

    assert check_gradient(f, W, np.ones(W.shape)).reason == "mutated"


class Fields(NamedTuple):
    """Two outputs that have names."""

    loss: float
    rows: np.ndarray


def test_the_fields_of_a_named_tuple_are_the_names_of_outputs():
    for kind, names in (Fields, ["loss", "rows"]), (None, ["output[0]", "output[1]"]):

        def f(x, kind=kind):
            both = np.sum(x), 2 * x
            return kind(*both) if kind else both

        report = check_vjp(f, np.ones(2), lambda upstream, x: upstream[0] + 2 * upstream[1])
        assert report.verdict == "pass"
        assert [pair.output.name for pair in report.pairs] == names
