"""Stage 2: a step to both sides; second order, and any cotangent for array-valued functions."""

import math

import numpy as np
import pytest
from convergence import SMOOTH, order_of, rounding_order_of

from gradcheck_ref import central_difference, forward_difference


def test_on_a_cube_the_error_is_exactly_the_square_of_the_step():
    got = central_difference(lambda x: np.sum(x**3), [0.0, 1.0, -2.0], h=2.0**-8)
    np.testing.assert_array_equal(got, np.array([0.0, 3.0, 12.0]) + 2.0**-16)


def test_at_a_kink_it_averages_the_two_slopes():
    assert central_difference(lambda x: np.maximum(x, 0), 0.0, h=1e-6) == 0.5
    assert central_difference(abs, 0.0, h=1e-6) == 0.0


@pytest.mark.parametrize("name", SMOOTH)
def test_the_error_falls_as_the_square_of_the_step(name):
    assert order_of(central_difference, name, 3e-4, 3e-2) == pytest.approx(2, abs=0.1)


def test_below_the_best_step_rounding_grows_as_one_over_the_step():
    assert rounding_order_of(central_difference, 1e-12, 1e-8) == pytest.approx(-1, abs=0.2)


def test_a_right_gradient_that_the_forward_difference_refuses_passes_here():
    x, h, allowed = 20.0, 1e-5, 1e-6
    right = 3 * x**2
    assert abs(forward_difference(lambda x: x**3, x, h=h) - right) > allowed
    assert abs(central_difference(lambda x: x**3, x, h=h) - right) < allowed
    wrong = 3 * x**2 + 1e-5
    assert abs(central_difference(lambda x: x**3, x, h=h) - wrong) > allowed


# --- upstream --------------------------------------------------------------------------------


def layer(x):
    return np.tanh(x @ W)


W = np.array([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]])
X = np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]])
UPSTREAM = np.array([[1.0, -2.0], [0.5, 3.0]])


def test_with_upstream_it_is_the_gradient_of_the_weighted_sum():
    got = central_difference(layer, X, h=1e-5, upstream=UPSTREAM)
    loss = central_difference(lambda x: np.sum(layer(x) * UPSTREAM), X, h=1e-5)
    right = (UPSTREAM * (1 - layer(X) ** 2)) @ W.T
    np.testing.assert_allclose(got, right, rtol=1e-8)
    np.testing.assert_allclose(got, loss, rtol=1e-8)


@pytest.mark.parametrize("upstream", [1.0, 1j, 2 - 3j], ids=repr)
def test_a_complex_upstream_follows_the_convention_of_torch(upstream):
    # For holomorphic f: conj(f'(z)) * upstream, and not f'(z) * upstream.
    z = 0.5 + 1.5j
    got = central_difference(lambda z: z**2, z, h=2.0**-10, upstream=upstream)
    assert got == pytest.approx(np.conj(2 * z) * upstream, rel=1e-12)
    assert got != pytest.approx(2 * z * upstream, rel=1e-3)


def test_a_complex_output_of_a_real_point_has_a_real_gradient():
    # Re(conj(u) * exp(i x)): the gradient of a real x is real.
    got = central_difference(lambda x: np.exp(1j * x), 0.3, h=1e-5, upstream=2 + 1j)
    assert got.dtype == np.dtype(float)
    assert got == pytest.approx((np.conj(2 + 1j) * 1j * np.exp(0.3j)).real, rel=1e-8)


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1 + 1e-5, False), (-1.0, False)])
def test_a_mistake_in_the_fifth_digit_is_found_and_the_right_gradient_passes(factor, passes):
    got = central_difference(math.sin, 1.0, h=1e-5)
    assert bool(abs(factor * math.cos(1.0) - got) < 1e-6) is passes
