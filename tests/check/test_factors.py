"""Factors are named if they mean something, and written with the digits that are certain."""

import re

import numpy as np
import pytest
from energies import MATRIX, VECTOR, energy, energy_gradient

from gradcheck_ref.check import check_gradient
from gradcheck_ref.check.mistakes.factors import lengths_of, meaning, plain


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("factor", "said", "advice"),
    [
        (4, "4 x", "is f a mean over 4 rows? 4 is the length of axis 0 of W"),
        (1 / 3, "1/3 x", "divided by 3 once too often"),
        (1 / 3, "1/3 x", "or a mean instead of a sum? 3 is the length of axis 1 of W"),
        (12, "12 x", "12 is the number of entries of W"),
        (7, "7 x", "is f a mean over 7 rows, or divided by 7?"),
        (1 / 7, "1/7 x", "divided by 7 once too often"),
        (-4, "-4 x", "is the sign right?"),
        (2, "2 x", "counted twice"),
        (0.5, "1/2 x", "the 2 of a square"),
        (0.75, "3/4 x", "by 4 (length of axis 0 of W) instead of 3 (length of axis 1 of W)"),
        (np.sqrt(3), "sqrt(3) x", "sqrt(3)"),
        (np.log(10), "ln(10) x", "is the 1/ln(10) of a logarithm to base 10 missing?"),
        (1 / np.log(2), "1/ln(2) x", "is the ln(2) of a power of 2 missing?"),
        (np.pi / 180, "pi/180 x", "degrees"),
        (1.5, "3/2 x", "does f divide by 3, and the gradient by 2?"),
        (0.61803, "0.618 x", "which constant is left out"),
        (1e-5, "1e-05 x", "which constant is left out"),
        (1.0005, "1.0005 x", "too few digits"),
    ],
)  # fmt: skip
def test_a_factor_is_named_if_it_means_something(factor, said, advice):
    report = check_gradient(energy, {"x": MATRIX}, {"x": factor * energy_gradient(MATRIX)})
    found = report.diagnoses[0]
    assert found.kind == "factor"
    assert f"every entry is {said} the numeric value" == found.sentence
    assert advice.replace(" W", " x") in found.advice


@pytest.mark.parametrize(("noise_of_f", "digits"), [(0.0, 4), (1e-9, 4), (1e-5, 3), (3e-5, 3)])
def test_a_factor_shows_no_digits_that_are_noise(noise_of_f, digits):
    rng = np.random.default_rng(0)

    def f(x):
        return energy(x) + noise_of_f * rng.normal()

    report = check_gradient(f, VECTOR, 1.732123456 * energy_gradient(VECTOR))
    shown = re.fullmatch(r".* is (?:about )?([\d.]+) x .*", report.diagnoses[0].sentence)[1]
    assert float(shown) == pytest.approx(1.732123456, abs=0.6 * 10.0 ** -(len(shown) - 2))
    assert len(shown.replace(".", "")) <= digits


def test_a_factor_blurred_by_noise_gets_no_meaning():
    rng = np.random.default_rng(0)

    def f(x):
        return energy(x) + 1e-5 * rng.normal()

    report = check_gradient(f, MATRIX, 1.26 * energy_gradient(MATRIX))
    found = report.diagnoses[0]
    assert report.verdict == "fail"
    # To all the digits it would be the cube root of 2.
    assert re.fullmatch(
        r"every entry is (about )?1\.(2[56]\d?|3) x the numeric value", found.sentence
    )
    assert "which constant" in found.advice


@pytest.mark.one_in(3)
@pytest.mark.parametrize("noise_of_f", [0.0, 1e-7, 1e-5])
def test_a_random_factor_gets_no_meaning(noise_of_f):
    rng = np.random.default_rng(1)
    named = []
    for _ in range(12):
        x, factor = rng.normal(size=(2, 3)), np.exp(rng.uniform(-3, 3))
        report = check_gradient(
            lambda x: energy(x) * (1 + noise_of_f * rng.normal()), x, factor * energy_gradient(x)
        )
        named += [d.sentence for d in report.diagnoses if not re.search("constant", d.advice)]
    assert named == []


@pytest.mark.parametrize(
    ("unsure", "share"), [(1e-6, 0.0), (1e-4, 0.002), (1e-3, 0.02), (0.02, 0.04), (0.1, 0.0)]
)
def test_vague_factors_rarely_get_a_meaning_by_chance(unsure, share):
    rng = np.random.default_rng(1)
    lengths = lengths_of([("x", (2, 3)), ("output", ())])
    factors = np.exp(rng.uniform(-3, 3, 500))
    assert np.mean([meaning(f, unsure * f, lengths)[1] != "" for f in factors]) <= share


@pytest.mark.parametrize(
    ("number", "unsure", "written"),
    [
        (1.7320508, 0.0, "1.732"),
        (1.7320508, 0.01, "1.7"),
        (1.7320508, 3.0, "0"),
        (-0.25, 1e-9, "-0.25"),
        (1.0000023, 1e-9, "1.0000023"),
        (1.0000023, 1e-4, "1"),
        (1 + 0.25j, 1e-9, "(1 + 0.25i)"),
        (1 - 2j, 1e-9, "(1 - 2i)"),
        (1 + 1e-14j, 0.0, "1"),
    ],
)
def test_a_number_is_written_with_the_digits_that_are_certain(number, unsure, written):
    assert plain(number, unsure) == written
