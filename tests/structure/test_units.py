"""The units of coordinates: powers of two."""

import numpy as np
import pytest

from gradcheck_ref.structure.units import median, power_of_two, powers_of_two

SIZES = [5e-324, 1e-310, 2.0**-1022, 0.3, 0.5, np.nextafter(1.0, 0.0), 1.0, 1.5, 3e8, 1.7e308]


@pytest.mark.parametrize("size", SIZES)
def test_one_number_is_rounded_down_as_many_are(size):
    [expected] = powers_of_two(np.array([size]))
    assert power_of_two(size) == expected
    assert np.frexp(expected)[0] == 0.5
    assert expected <= max(size, np.finfo(float).tiny)
    assert size / 2 < expected


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9])
def test_the_median_is_that_of_numpy(count):
    some = np.random.default_rng(count).normal(size=count)
    assert median(some) == pytest.approx(np.median(some), rel=1e-15)
