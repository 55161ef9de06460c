"""Numbers are written as far as they are known."""

import math

import pytest

from gradcheck_ref.check.report.text import alike, ratio, short


@pytest.mark.parametrize(
    ("analytic", "numeric", "bar", "written"),
    [
        (0.8127, 0.2709, 2e-11, ("0.8127", "0.2709")),
        (1.5, 0.75, 1e-12, ("1.500", "0.750")),
        (1.0000123, 1.0, 1e-11, ("1.000012", "1.000000")),
        (0.3, 0.5, 0.02, ("0.30", "0.50")),
        (1.23456, 1.2, 0.3, ("1.2", "1.2")),
        (0.3, 0.0, 1.0, ("0.3", "0.0")),
        (1.0, 1557.3, 956.0, ("1", "1.6e3")),
        (-1e-17, 2.0, 1e-12, ("-1e-17", "2.000")),
        (0.0, 2.0, 1e-12, ("0.000", "2.000")),
        (2e-14, 4e-14, 3e-26, ("2.000e-14", "4.000e-14")),
        (2e14, 4e14, 300.0, ("2.000e14", "4.000e14")),
        (math.nan, 2.0, 1e-12, ("nan", "2.000")),
        (-math.inf, 2.0, 1e-12, ("-inf", "2.000")),
        (1.0, math.nan, math.inf, ("1.000", "nan")),
        (0.0, 0.0, 0.0, ("0", "0")),
        (9.9999, 10.0, 1e-9, ("9.999900", "10.000000")),
        (-1e-12, 1e-3, 1e-9, ("-1e-12", "0.001000")),
    ],
)
def test_claim_and_estimate_are_written_to_the_same_place_without_noise(
    analytic, numeric, bar, written
):
    assert alike(analytic, numeric, bar, abs(analytic - numeric)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(2e-11, "2e-11"), (2.6e-7, "3e-7"), (0.003, "3e-3"), (0.02, "0.02"), (0.5, "0.5"), (1, "1"),
     (9.7, "10"), (956.0, "1000"), (3e8, "3e8"), (0.0, "0"), (math.inf, "inf"), (math.nan, "nan")],
)  # fmt: skip
def test_error_bars_have_one_digit(value, written):
    assert short(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "<0.01"), (0.0099, "<0.01"), (0.5, "0.50"), (1.02, "1.02"), (99.0, "99.00"),
     (2.04e5, "2.0e5"), (math.inf, "inf"), (math.nan, "nan")],
)  # fmt: skip
def test_a_ratio_is_written_only_if_it_is_informative(value, written):
    assert ratio(value) == written
