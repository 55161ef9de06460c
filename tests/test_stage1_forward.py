"""Stage 1: one step ahead; first order, and what that is too coarse for."""

import math

import numpy as np
import pytest
from convergence import SMOOTH, order_of, rounding_order_of

from gradcheck_ref import forward_difference


def test_on_a_square_the_error_is_exactly_the_step():
    got = forward_difference(lambda x: np.sum(x * x), [0.0, 1.0, -3.0], h=2.0**-8)
    np.testing.assert_array_equal(got, np.array([0.0, 2.0, -6.0]) + 2.0**-8)


def test_at_a_kink_it_gives_the_forward_slope():
    assert forward_difference(lambda x: np.maximum(x, 0), 0.0, h=1e-6) == 1.0
    assert forward_difference(abs, 0.0, h=1e-6) == 1.0


@pytest.mark.parametrize("name", SMOOTH)
def test_the_error_is_proportional_to_the_step(name):
    assert order_of(forward_difference, name, 1e-5, 1e-3) == pytest.approx(1, abs=0.1)


def test_below_the_best_step_rounding_grows_as_one_over_the_step():
    assert rounding_order_of(forward_difference, 1e-13, 1e-10) == pytest.approx(-1, abs=0.2)


@pytest.mark.parametrize("raised", [0.0, 10.0, 1000.0])
def test_the_best_error_is_about_the_root_of_eps_times_value_times_curvature(raised):
    def worst(h):  # of some points, because rounding is lucky at one or another
        points = 0.7 + np.arange(20) / 1000
        found = [forward_difference(lambda x: x * x * x + raised, p, h=h) for p in points]
        return np.abs(found - 3 * points * points).max()

    best = min(worst(float(f"{m}e-{k}")) for k in range(4, 12) for m in (1, 1.8, 3.2, 5.6))
    value, curvature = 0.343 + raised, 4.2
    assert best == pytest.approx(np.sqrt(2.0**-52 * value * curvature), rel=0.5)


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1.01, False), (-1.0, False)])
def test_a_coarse_mistake_is_found_and_the_right_gradient_passes(factor, passes):
    got = forward_difference(math.sin, 1.0, h=1e-8)
    assert bool(abs(factor * math.cos(1.0) - got) < 1e-6) is passes
