"""The Jacobians that torch shows, numerical and analytical."""

import numpy as np
import pytest
from torch_functions import A, Counted, X, Y, Z, drifting, message_of, square, square_vjp

from gradcheck_ref.compat.torch import get_analytical_jacobian, get_numerical_jacobian


def test_the_numerical_jacobian_has_a_row_for_each_entry_of_the_input():
    f = Counted(lambda inputs: A @ inputs[0])
    (jacobian,) = get_numerical_jacobian(f, X)
    np.testing.assert_allclose(jacobian, A.T, rtol=1e-11)
    assert all(isinstance(inputs, tuple) for (inputs,) in f.calls)
    assert len(f.calls) == 1 + 2 * 2


def test_the_numerical_jacobian_uses_the_given_step():
    (jacobian,) = get_numerical_jacobian(lambda inputs: inputs[0] ** 3, np.array([0.0]), eps=0.5)
    np.testing.assert_allclose(jacobian, 0.25, rtol=1e-12)


def test_the_numerical_jacobian_of_the_first_output_covers_all_inputs_or_targets():
    def fn(inputs):
        x, y, n = inputs
        return x * y**n, x + y

    inputs = (X, Y, 2)
    by_x, by_y = get_numerical_jacobian(fn, inputs)
    np.testing.assert_allclose(by_x, np.diag(Y**2), atol=1e-9)
    np.testing.assert_allclose(by_y, np.diag(2 * X * Y), atol=1e-9)
    (only,) = get_numerical_jacobian(fn, inputs, target=Y)
    np.testing.assert_array_equal(only, by_y)
    text = message_of(get_numerical_jacobian, fn, inputs, target=Y.copy(), error=ValueError)
    assert text.startswith("target must hold some of the floating or complex inputs")


def test_the_numerical_jacobian_by_a_complex_input_is_dx_plus_i_dy():
    (jacobian,) = get_numerical_jacobian(lambda inputs: np.abs(inputs[0]) ** 2, Z)
    np.testing.assert_allclose(jacobian, np.diag(2 * Z), atol=1e-9)


@pytest.mark.parametrize(
    ("vjp", "jacobian", "fits"),
    [
        (square_vjp, np.diag(2 * X), (True, True, True)),
        (lambda u, x: x * u, np.diag(X), (True, True, True)),
        (lambda u, x: None, np.zeros((2, 2)), (True, True, True)),
        (drifting(), np.diag(2 * X), (False, True, True)),
        (lambda u, x: (2 * x * u)[:1], np.full((2, 2), np.nan), (True, False, True)),
        (lambda u, x: (2 * x * u).astype(np.float32), np.diag(2 * X), (True, True, False)),
        (lambda u, x: 2 * x * u * 1j, np.full((2, 2), np.nan), (True, True, False)),
    ],
    ids=["right", "wrong", "none", "drifting", "size", "dtype", "complex"],
)
def test_the_analytical_jacobian_comes_with_its_consistency(vjp, jacobian, fits):
    (got,), *got_fits = get_analytical_jacobian(X, square(X), vjp=vjp)
    np.testing.assert_allclose(got, jacobian, rtol=1e-5)
    assert tuple(got_fits) == fits


@pytest.mark.parametrize(
    ("inputs", "output", "flags", "named"),
    [
        (Z, Z, {}, "the output is complex"),
        (X, 1, {}, "the output holds no floating point numbers"),
        (X, X, {"grad_out": 2.0}, "grad_out must be 1"),
        ([1, 2], X, {}, "inputs holds no array"),
    ],
)
def test_impossible_jacobians_are_refused(inputs, output, flags, named):
    flags = {"error": ValueError, **flags}
    claimed = message_of(get_analytical_jacobian, inputs, output, vjp=square_vjp, **flags)
    assert claimed.startswith(named)
    assert message_of(get_numerical_jacobian, lambda _: output, inputs, **flags).startswith(named)
