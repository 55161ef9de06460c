"""Stage 4: an absolute and a relative tolerance, added, with the estimate as the reference."""

import numpy as np
import pytest

from gradcheck_ref import Comparison, allclose, relative_error

NAN, INF = np.nan, np.inf
LARGEST = np.finfo(float).max


@pytest.mark.parametrize(
    ("analytic", "numeric", "rtol", "atol", "close"),
    [
        (1.0, 1.0, 0, 0, True),
        (1.0, 1.25, 0, 0.25, True),
        (1.0, np.nextafter(1.25, 2), 0, 0.25, False),
        (3.0, 4.0, 0.25, 0, True),
        (np.nextafter(3.0, 0), 4.0, 0.25, 0, False),
        (5.5, 4.0, 0.25, 0.5, True),
        (5.75, 4.0, 0.25, 0.5, False),
        (3j, 4j, 0.25, 0, True),
        (3 + 4j, 3 - 4j, 0.25, 0, False),
        (LARGEST, LARGEST, 0, 0, True),
        (LARGEST, -LARGEST, 1, 0, False),
    ],
)
def test_close_means_an_error_of_at_most_the_allowed_one(analytic, numeric, rtol, atol, close):
    got = allclose(analytic, numeric, rtol=rtol, atol=atol)
    assert bool(got) is close
    assert bool(got.close) is close


def test_the_estimate_is_the_reference_so_that_no_claim_widens_its_own_tolerance():
    assert not allclose(10.0, 1.0, rtol=0.9, atol=0)
    assert allclose(1.0, 10.0, rtol=0.9, atol=0)
    assert not allclose(1e6, 1e-3, rtol=1.0, atol=0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("analytic", "numeric"),
    [(NAN, 1.0), (1.0, NAN), (NAN, NAN), (INF, INF), (-INF, INF), (1.0, INF), (INF, 1.0),
     (0.0, INF), (NAN, INF), (complex(0, NAN), 0.0), (complex(0, INF), complex(0, INF))],
)  # fmt: skip
@pytest.mark.parametrize("tolerance", [0, 1, 1e300])
def test_a_nonfinite_entry_never_passes(analytic, numeric, tolerance):
    got = allclose([0.0, analytic], [0.0, numeric], rtol=tolerance, atol=tolerance)
    assert not got
    np.testing.assert_array_equal(got.close, [True, False])
    assert got.worst == (1,)
    assert got.wrong == 1


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)], ids=str)
def test_comparing_nothing_does_not_pass(shape):
    got = allclose(np.zeros(shape), np.zeros(shape), rtol=1, atol=1)
    assert not got
    assert (got.count, got.wrong, got.worst, got.term) == (0, 0, None, None)
    assert str(got) == "nothing was compared: the gradients have no entries"


@pytest.mark.parametrize("bad", ["ab", None, [None], [[1.0], [1.0, 2.0]]], ids=repr)
def test_a_value_that_is_not_a_gradient_is_refused_by_name(bad):
    with pytest.raises(TypeError, match="analytic must"):
        allclose(bad, 1.0, rtol=0, atol=0)
    with pytest.raises(TypeError, match="numeric must"):
        allclose(1.0, bad, rtol=0, atol=0)


def test_tolerances_are_keywords_without_defaults():
    with pytest.raises(TypeError, match="positional"):
        allclose(1.0, 1.0, 1e-6, 1e-9)
    with pytest.raises(TypeError, match="'atol'"):
        allclose(1.0, 1.0, rtol=1e-6)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tol'"):
        allclose(1.0, 1.0, rtol=1e-6, atol=0, tol=0)


# --- the Comparison --------------------------------------------------------------------------

ROW = allclose([[1.0, 2.0, 0.5]], [[1.0, 4.0, 0.0]], rtol=0.125, atol=0.25)


def test_a_comparison_keeps_its_numbers_and_tolerances():
    assert isinstance(ROW, Comparison)
    np.testing.assert_array_equal(ROW.analytic, [[1.0, 2.0, 0.5]])
    np.testing.assert_array_equal(ROW.numeric, [[1.0, 4.0, 0.0]])
    assert (ROW.rtol, ROW.atol) == (0.125, 0.25)
    np.testing.assert_array_equal(ROW.error, [[0.0, 2.0, 0.5]])
    np.testing.assert_array_equal(ROW.allowed, [[0.375, 0.75, 0.25]])
    np.testing.assert_array_equal(ROW.ratio, [[0.0, 2.0 / 0.75, 2.0]])
    np.testing.assert_array_equal(ROW.close, [[True, False, False]])
    assert (ROW.count, ROW.wrong, ROW.worst, ROW.term) == (3, 2, (0, 1), "rtol")


def test_the_worst_entry_has_the_largest_ratio_and_not_the_largest_error():
    got = allclose([1e6 + 1.0, 1e-6], [1e6, 2e-6], rtol=1e-3, atol=1e-9)
    assert got.error.argmax() == 0
    assert got.worst == (1,)
    assert got.wrong == 1


def test_nan_counts_as_worse_than_every_number():
    assert allclose([INF, NAN, 9.0], [1.0, 1.0, 1.0], rtol=0, atol=0).worst == (1,)


@pytest.mark.parametrize(
    ("numeric", "term"), [(100.0, "rtol"), (1.0, "atol"), (1.5, "rtol"), (0.0, "atol")]
)
def test_the_term_is_the_tolerance_that_allowed_more(numeric, term):
    assert allclose(numeric + 9, numeric, rtol=1.0, atol=1.0).term == term


def test_the_worst_index_and_term_of_a_0_d_comparison():
    got = allclose(1.0, 2.0, rtol=0.1, atol=0)
    assert (got.count, got.wrong, got.worst, got.term) == (1, 1, (), "rtol")
    assert str(got) == (
        "1 of 1 entries differ; worst: analytic 1, numeric 2, error 1, allowed 0.2 by rtol"
    )


def test_a_comparison_names_the_worst_entry_and_its_error():
    assert str(ROW) == (
        "2 of 3 entries differ; worst at [0, 1]: "
        "analytic 2, numeric 4, error 2, allowed 0.75 by rtol"
    )
    assert str(allclose([1.0, 1.5], [1.0, 1.25], rtol=0, atol=0.5)) == (
        "all 2 entries agree; 50% of the tolerance is used"
    )


# --- what the sum does that other rules do not -------------------------------------------------


def test_entries_that_are_only_rounding_pass_here_and_not_by_relative_error():
    analytic, numeric = [0.0, 3.0], [1e-12, 3.0]
    assert allclose(analytic, numeric, rtol=1e-6, atol=1e-9)
    assert relative_error(analytic, numeric, floor=0).max() == 1.0
    assert not allclose([0.0, 3.0], [1e-6, 3.0], rtol=1e-6, atol=1e-9)


def test_a_tolerance_beyond_the_largest_float_raises_no_warning():
    assert "allowed inf by rtol" in str(allclose([1e308, 1.0], [-1e308, 1.0], rtol=1e300, atol=0))


def test_an_estimate_in_place_of_its_value_is_refused_with_advice():
    class Estimate:
        value = 1.0

    with pytest.raises(
        TypeError, match=r"numeric must hold numbers, not Estimate .*; pass its value"
    ):
        allclose(1.0, Estimate(), rtol=0, atol=0)
