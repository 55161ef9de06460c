"""What the functions accept, and the sentences they refuse with."""

from fractions import Fraction

import numpy as np
import pytest
from edge_cases import never

from gradcheck_ref import adaptive_difference, allclose, escalating_difference, relative_error
from gradcheck_ref.arguments import (
    as_number,
    as_numbers,
    as_weights,
)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (3, "f8"), ([True, False], "f8"), (np.ones(1, "u1"), "f8"), (np.ones(1, "f2"), "f8"),
        (np.ones(1, ">f4"), "f8"), (np.ones(1, "g"), "g"), (1j, "c16"), (np.ones(1, "c8"), "c16"),
        (np.ones(1, "G"), "G"), ([], "f8"),
    ],
    ids=["int", "bools", "uint8", "f2", "big-endian", "g", "complex", "c8", "G", "empty"],
)  # fmt: skip
def test_numbers_become_double_precision_or_better(given, dtype):
    got = as_numbers(given, "analytic")
    assert got.dtype == np.dtype(dtype)
    assert got.shape == np.shape(given)
    np.testing.assert_array_equal(got, given)


@pytest.mark.parametrize(
    "value",
    [2, 2.0, np.float16(2), np.longdouble(2), np.array(2.0), Fraction(2)],
    ids=lambda v: type(v).__name__,
)
def test_one_real_number_becomes_a_float(value):
    got = as_number(value, "h")
    assert type(got) is float
    assert got == 2.0


def escalate(**tolerance):
    return escalating_difference(never, 1.0, 1.0, h=0.1, **{"rtol": 0, "atol": 0} | tolerance)


TOLERANCES = {
    "relative_error: floor": lambda value: relative_error(1.0, 1.0, floor=value),
    "allclose: rtol": lambda value: allclose(1.0, 1.0, rtol=value, atol=0),
    "allclose: atol": lambda value: allclose(1.0, 1.0, rtol=0, atol=value),
    "escalating_difference: rtol": lambda value: escalate(rtol=value),
    "escalating_difference: atol": lambda value: escalate(atol=value),
    "adaptive_difference: rtol": lambda value: adaptive_difference(never, 1.0, rtol=value),
    "adaptive_difference: atol": lambda value: adaptive_difference(never, 1.0, atol=value),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", TOLERANCES)
@pytest.mark.parametrize(
    ("value", "error"),
    [(-1e-9, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("1", TypeError)],
)
def test_a_tolerance_is_one_number_zero_or_positive(name, value, error):
    with pytest.raises(error, match=f"{name.split()[1]} must be"):
        TOLERANCES[name](value)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_that_is_not_finite_is_named(value):
    with pytest.raises(ValueError, match=r"upstream\[1\] is (nan|inf): a weight must be finite"):
        as_weights([1.0, value], "upstream")
