"""What holds for every input, searched for a counterexample by Hypothesis."""

import numpy as np
from edge_cases import every_estimator, every_stepper
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradcheck_ref import adaptive_difference, allclose, relative_error

# Repeatable, and without a verdict on how busy the machine is.
few = settings(max_examples=15, derandomize=True, deadline=None, database=None)
some = settings(max_examples=30, derandomize=True, deadline=None, database=None)

# Sixteenths up to 8: sums, squares and cubes of them are exact, so that tests can be, too.
sixteenths = st.integers(-128, 128).map(lambda k: k / 16)
steps = st.integers(2, 8).map(lambda k: 2.0**-k)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
points = hnp.arrays(np.float64, shapes, elements=sixteenths)

floats = st.floats(allow_nan=False, allow_infinity=False, width=64)
any_numbers = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf]))
tolerances = st.sampled_from([0.0, 1e-12, 1e-6, 1e-3, 0.25, 1.0, 3.0])


def waves(x):
    """Return a smooth function of all entries, none like another, that reads values only."""
    k = np.arange(1, x.size + 1).reshape(x.shape)
    return float(np.sum(np.sin(x + k) * k))


@every_stepper
@few
@given(
    x=sixteenths,
    coefficients=st.lists(st.integers(-9, 9), min_size=5, max_size=5),
    h=st.integers(2, 5).map(lambda k: 2.0**-k),
)
def test_polynomials_up_to_the_degree_of_the_stencil_are_differentiated_exactly(
    estimate, x, coefficients, h
):
    p = np.polynomial.Polynomial(coefficients[: estimate.order + 1])
    got = estimate(lambda x: float(p(x)), x, h=h)
    size = np.polynomial.Polynomial(np.abs(p.coef))(abs(x) + 2 * h)
    assert abs(got - p.deriv()(x)) <= 20 * 2.0**-52 * size / h


@some
@given(
    x=sixteenths,
    coefficients=st.lists(st.integers(-9, 9), min_size=1, max_size=7),
    scale=st.integers(-30, 30).map(lambda k: 2.0**k),
)
def test_adaptive_estimates_of_polynomials_are_within_their_own_error_bar(x, coefficients, scale):
    p = np.polynomial.Polynomial(coefficients)
    got = adaptive_difference(lambda x: scale * float(p(x)), x)
    assert abs(got.value - scale * p.deriv()(x)) <= got.error
    assert np.isfinite(got.error)


@every_estimator
@few
@given(x=points, h=steps, data=st.data())
def test_reshaping_the_point_reshapes_the_gradient_to_the_last_bit(estimate, x, h, data):
    shape = data.draw(st.sampled_from([(-1,), (x.size, 1), (1, x.size), (1, x.size, 1)]))
    if x.size == 0:
        shape = (0, *shape[1:])
    got = estimate(lambda y: waves(y.reshape(x.shape)), x.reshape(shape), h=h)
    np.testing.assert_array_equal(got, estimate(waves, x, h=h).reshape(shape))


@some
@given(a=floats, n=floats, floor=st.sampled_from([0.0, 1e-300, 1e-8, 1.0]))
def test_a_relative_error_is_symmetric_and_between_0_and_2(a, n, floor):
    error = relative_error(a, n, floor=floor)
    assert 0 <= error <= 2
    assert error == relative_error(n, a, floor=floor)
    assert error == relative_error(-a, -n, floor=floor)
    assert (error == 0) or a != n


@some
@given(a=any_numbers, n=any_numbers, rtol=tolerances, atol=tolerances, more=tolerances)
def test_more_tolerance_never_turns_close_into_not_close(a, n, rtol, atol, more):
    if allclose(a, n, rtol=rtol, atol=atol):
        assert allclose(a, n, rtol=rtol + more, atol=atol)
        assert allclose(a, n, rtol=rtol, atol=atol + more)


@some
@given(
    a=hnp.arrays(np.float64, 3, elements=st.floats(-1e150, 1e150)),
    difference=hnp.arrays(np.float64, 3, elements=st.floats(-1e-2, 1e-2)),
    rtol=tolerances,
    atol=tolerances,
)
def test_on_finite_numbers_the_rule_is_the_one_of_numpy(a, difference, rtol, atol):
    n = a + difference * np.where(np.abs(a) < 1, 1, a)
    got = allclose(a, n, rtol=rtol, atol=atol)
    np.testing.assert_array_equal(got.close, np.isclose(a, n, rtol=rtol, atol=atol))
    assert bool(got) == np.allclose(a, n, rtol=rtol, atol=atol)
