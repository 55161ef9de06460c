"""Factors are named if they mean something, and written with the digits that are certain."""

import re

import numpy as np
import pytest
from energies import MATRIX, VECTOR, energy, energy_gradient

from gradcheck_ref import check_gradient

FACTORS = [
    (4, "4 x", "is f a mean over 4 rows? 4 is the length of axis 0 of x"),
    (1 / 3, "1/3 x", "too often, or a mean instead of a sum? 3 is the length of axis 1 of x"),
    (12, "12 x", "12 is the number of entries of x"),
    (7, "7 x", "is f a mean over 7 rows, or divided by 7?"),
    (-4, "-4 x", "is the sign right?"),
    (2, "2 x", "counted twice"),
    (0.5, "1/2 x", "the 2 of a square"),
    (0.75, "3/4 x", "by 4 (length of axis 0 of x) instead of 3 (length of axis 1 of x)"),
    (np.sqrt(3), "sqrt(3) x", "sqrt(3)"),
    (np.log(10), "ln(10) x", "is the 1/ln(10) of a logarithm to base 10 missing?"),
    (1 / np.log(2), "1/ln(2) x", "is the ln(2) of a power of 2 missing?"),
    (np.pi / 180, "pi/180 x", "degrees"),
    (1.5, "3/2 x", "does f divide by 3, and the gradient by 2?"),
    (0.61803, "0.618 x", "which constant is left out"),
    (1.0005, "1.0005 x", "too few digits"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("factor", "said", "advice"), FACTORS)
def test_a_factor_is_named_if_it_means_something(factor, said, advice):
    (found,) = check_gradient(energy, MATRIX, factor * energy_gradient(MATRIX)).diagnoses
    assert found.kind == "factor"
    assert f"every entry is {said} the numeric value" == found.sentence
    assert advice in found.advice


@pytest.mark.parametrize(("noise_of_f", "digits"), [(0.0, 4), (1e-9, 4), (3e-4, 3)])
def test_a_factor_shows_no_digits_that_are_noise(noise_of_f, digits):
    rng = np.random.default_rng(0)
    f = lambda x: energy(x) + noise_of_f * rng.normal()  # noqa: E731
    (found,) = check_gradient(f, VECTOR, 1.732123456 * energy_gradient(VECTOR)).diagnoses
    shown = re.fullmatch(r".* is (?:about )?([\d.]+) x .*", found.sentence)[1]
    assert float(shown) == pytest.approx(1.732123456, abs=0.6 * 10.0 ** -(len(shown) - 2))
    assert len(shown.replace(".", "")) <= digits


WRITTEN = [(-0.2503, "-0.2503"), (1.0000023, "1.000002"), (1 - 2.5j, "(1 - 2.5i)")]


@pytest.mark.parametrize(("factor", "written"), WRITTEN)
def test_a_factor_is_written_with_the_digits_that_are_certain(factor, written):
    right = np.array([0.7 + 0.2j, -0.3 + 1.1j, 0.5 - 0.8j])
    report = check_gradient(lambda z: np.vdot(right, z).real, right[::-1] + 1, factor * right)
    assert report.diagnoses[0].sentence == f"every entry is {written} x the numeric value"


def test_a_factor_blurred_by_noise_gets_no_meaning():
    rng = np.random.default_rng(0)
    f = lambda x: energy(x) + 1e-5 * rng.normal()  # noqa: E731
    (found,) = check_gradient(f, MATRIX, 1.26 * energy_gradient(MATRIX)).diagnoses
    # To all the digits it would be the cube root of 2.
    assert re.fullmatch(r"every entry is (about )?1\.(2[56]\d?|3) x the .*", found.sentence)
    assert "which constant" in found.advice
