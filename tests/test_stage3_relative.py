"""Stage 3: an error measured by the size of what is compared."""

import inspect

import numpy as np
import pytest

from gradcheck_ref import band, relative_error

NAN, INF = np.nan, np.inf
LARGEST = np.finfo(float).max


@pytest.mark.parametrize(
    ("analytic", "numeric", "error"),
    [
        (1.0, 1.0, 0.0),
        (1.0, 2.0, 0.5),
        (2.0, 1.0, 0.5),
        (1.0, -1.0, 2.0),
        (3.0, 0.0, 1.0),
        (0.0, 0.0, 0.0),
        (3e-9, 1e-9, 0.2),
        (1e-17, 0.0, 1e-9),
        (5e-324, 0.0, 0.0),
        (3j, 4.0, 1.25),
        (1 + 1j, 1 - 1j, np.sqrt(2)),
        (True, False, 1.0),
    ],
)
def test_the_difference_is_divided_by_the_larger_size(analytic, numeric, error):
    assert relative_error(analytic, numeric) == pytest.approx(error, rel=1e-15)
    assert relative_error(analytic, numeric) == relative_error(numeric, analytic)


@pytest.mark.parametrize(
    ("floor", "error"), [(0, 1.0), (1e-30, 1e-10), (1e-8, 1e-32), (1e8, 1e-48)]
)
def test_below_the_floor_a_difference_is_compared_with_the_floor(floor, error):
    assert relative_error(1e-40, 0.0, floor=floor) == pytest.approx(error, rel=1e-12)


def test_the_floor_is_the_one_of_cs231n_and_can_be_removed():
    assert inspect.signature(relative_error).parameters["floor"].default == 1e-8
    assert relative_error(2e-9, 1e-9) == pytest.approx(0.1)
    assert relative_error(2e-9, 1e-9, floor=0) == pytest.approx(0.5)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("analytic", "numeric"),
    [(NAN, 1.0), (1.0, NAN), (NAN, NAN), (INF, 1.0), (1.0, -INF), (INF, INF), (INF, -INF),
     (NAN, INF), (complex(0, NAN), 1.0), (complex(INF, 0), 1.0), (complex(0, INF), complex(0, INF)),
     (NAN, 0.0), (0.0, INF)],
)  # fmt: skip
@pytest.mark.parametrize("floor", [0, 1e-8])
def test_nonfinite_numbers_have_no_relative_error_and_give_no_warning(analytic, numeric, floor):
    assert np.isnan(relative_error(analytic, numeric, floor=floor))


@pytest.mark.parametrize(
    ("analytic", "numeric", "error"),
    [
        (LARGEST, -LARGEST, 2.0),
        (LARGEST, LARGEST / 2, 0.5),
        (complex(LARGEST / 2, 0), complex(-LARGEST / 2, 0), 2.0),
        (complex(1.5e308, 1.5e308), complex(1.5e308, 1.5e308), 0.0),
        (complex(1.5e308, 1.5e308), complex(-1.5e308, -1.5e308), 2.0),
    ],
    ids=["opposite", "half", "complex", "size-overflows", "size-overflows-opposite"],
)
def test_numbers_near_the_largest_have_an_error_and_raise_no_warning(analytic, numeric, error):
    assert relative_error(analytic, numeric) == pytest.approx(error)


def test_each_entry_is_compared_with_its_own_size():
    got = relative_error([[1.0, 2e6], [0.0, 4e-6]], [[2.0, 1e6], [0.0, 3e-6]])
    np.testing.assert_allclose(got, [[0.5, 0.5], [0.0, 0.25]], rtol=1e-12)


@pytest.mark.parametrize("shape", [(), (1,), (3, 1), (1, 3), (2,), (0,)], ids=str)
def test_shapes_that_would_broadcast_are_refused(shape):
    with pytest.raises(ValueError, match=r"analytic has shape \(3,\) but numeric has shape"):
        relative_error(np.ones(3), np.ones(shape))
    with pytest.raises(ValueError, match="never broadcast"):
        relative_error(np.ones(shape), np.ones(3))


@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e7])
def test_a_factor_of_two_is_found_at_every_scale_and_the_right_gradient_passes(scale):
    numeric = scale * (1 + 1e-9)
    assert relative_error(2 * scale, numeric, floor=0) > 0.4
    assert relative_error(scale, numeric, floor=0) < 1e-7


# --- bands -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "smooth", "kinked"),
    [
        (0.0, "good", "good"),
        (1e-7, "good", "good"),
        (np.nextafter(1e-7, 1), "suspicious", "fine with kinks"),
        (1e-4, "suspicious", "fine with kinks"),
        (np.nextafter(1e-4, 1), "suspicious", "suspicious"),
        (1e-2, "suspicious", "suspicious"),
        (np.nextafter(1e-2, 1), "wrong", "wrong"),
        (INF, "wrong", "wrong"),
        (NAN, "wrong", "wrong"),
        ([1e-9, NAN], "wrong", "wrong"),
        ([NAN, 1e-9], "wrong", "wrong"),
        ([[1e-9, 5e-5], [1e-8, 0]], "suspicious", "fine with kinks"),
    ],
)
def test_the_largest_error_decides_the_band(error, smooth, kinked):
    assert band(error) == smooth
    assert band(error, kinks=True) == kinked


@pytest.mark.parametrize("error", [[], np.zeros((0, 3))], ids=["list", "matrix"])
def test_no_errors_are_in_no_band_since_nothing_was_compared(error):
    with pytest.raises(ValueError, match="nothing was compared"):
        band(error)


@pytest.mark.parametrize("error", [-1e-9, [0.0, -1.0], -INF, 1j], ids=repr)
def test_a_relative_error_is_real_and_not_negative(error):
    with pytest.raises(ValueError, match="real and not negative"):
        band(error)


@pytest.mark.parametrize("error", ["good", None, [[1.0], [1.0, 2.0]]], ids=repr)
def test_a_band_needs_numbers(error):
    with pytest.raises(TypeError, match="error must"):
        band(error)
