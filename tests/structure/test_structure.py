"""Named inputs and outputs, as one flat real vector each: there and back, and what is lent."""

from functools import partial, wraps
from typing import NamedTuple

import numpy as np
import pytest

from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs
from gradcheck_ref.structure.parts import Part

W = np.arange(6.0).reshape(2, 3)
Z = np.array([1 + 2j, 3 - 4j])


def of_three(W, z, b):
    return W, z, b


def inputs(given=(W, Z, 0.5), f=of_three):
    return Inputs(f, given)


# --- parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "dtype", "coordinate", "name"),
    [
        ((2, 3), float, 4, "W[1, 1]"),
        ((2, 3), complex, 9, "the imaginary part of W[1, 1]"),
    ],
)
def test_a_coordinate_has_the_name_of_its_entry(shape, dtype, coordinate, name):
    assert Part("W", shape, np.dtype(dtype), 7).entry(coordinate) == name


@pytest.mark.parametrize(("imaginary", "want"), [(0.0, 3.0), (1e-300, np.nan)])
def test_a_complex_value_for_a_real_part_is_nan(imaginary, want):
    part = Part("x", (1,), np.dtype(float), 0)
    np.testing.assert_array_equal(part.flat(np.array([3 + 1j * imaginary]), float), [want])


# --- inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "given", "names"),
    [
        (lambda x: x, np.ones(2), ["x"]),
        (lambda *x: x, (W, W), ["inputs[0]", "inputs[1]"]),
        (lambda **x: x, {"a": W, "b c": 1.0}, ["a", "b c"]),
        (np.sin, np.ones(2), ["x"]),
        (lambda x, p=2, *, q=3: x, np.ones(2), ["x"]),
        (wraps(lambda W, b: W)(lambda *given: W), (W, 1.0), ["W", "b"]),
        (partial(lambda n, W, b: W, 3), (W, 1.0), ["W", "b"]),
    ],
    ids=["one", "stars", "by name", "ufunc", "defaults", "wrapped", "partial"],
)
def test_inputs_are_called_as_f_calls_them(f, given, names):
    assert Inputs(f, given).names == names


@pytest.mark.parametrize(
    ("f", "given"),
    [
        (lambda W: W, (W, 1.0)),
        (lambda W, b, *, c: W, (W, 1.0)),
        (lambda W, b: W, {"W": W, "c": 1.0}),
    ],
    ids=["too many", "one by its name alone", "another name"],
)
def test_inputs_that_f_does_not_take_are_refused(f, given):
    with pytest.raises(TypeError, match="f does not take that"):
        Inputs(f, given)


def test_calls_share_constants_until_f_writes_to_them_and_nothing_else():
    ours = inputs((W, np.arange(3), np.array(0.5)))
    one, two = ours.copies(), ours.copies()
    assert [a is b for a, b in zip(one, two, strict=True)] == [False, True, False]
    assert not any(np.shares_memory(a, b) for a, b in zip(one, ours.values, strict=True))
    two[1][0] = 7
    assert ours.changed(two) == "z"
    assert ours.copies()[1][0] == 0


@pytest.mark.parametrize("dtype", [complex, np.complex64, np.clongdouble])
def test_the_signs_of_complex_zeros_are_those_that_were_given(dtype):
    z = np.array([complex(-1.0, -0.0), complex(-0.0, 2.0)], dtype)
    [there] = Inputs(lambda z: z, z).copies()
    assert there.tobytes() == z.tobytes()


def test_a_minus_zero_in_place_of_zero_is_a_change():
    ours = inputs()
    values = ours.copies()
    values[0][0, 0] = -0.0
    assert ours.changed(values) == "W"


@pytest.mark.parametrize("dtype", [np.float32, float, np.longdouble, complex])
def test_nearby_is_within_a_few_spacings_and_keeps_zeros(dtype):
    x = np.array([0.0, 1.0, -3.5, 1e30, 1e-30] * 4).astype(dtype)
    ours = Inputs(lambda x: x, x)
    [there] = ours.nearby(3)
    real = x.view(x.real.dtype).reshape(-1)
    off = np.abs(there.view(real.dtype).reshape(-1) - real) / np.spacing(np.abs(real))
    assert off.max() <= 2
    assert (off[real == 0] == 0).all()
    assert off.any()
    np.testing.assert_array_equal(ours.x, Inputs(lambda x: x, x).x)  # here nothing has moved


# --- outputs ----------------------------------------------------------------------------------


class Fields(NamedTuple):
    """Two outputs that have names."""

    loss: float
    rows: np.ndarray


def test_the_fields_of_a_named_tuple_are_the_names_of_outputs():
    outputs = Outputs(Fields(1.0, np.zeros(2)), np.dtype(float))
    assert [part.name for part in outputs.parts.values()] == ["loss", "rows"]
    plain = Outputs((1.0, np.zeros(2)), np.dtype(float))
    assert [part.name for part in plain.parts.values()] == ["output[0]", "output[1]"]
