"""The error bars of measured slopes are honest, and numbers of any size give no warning."""

import warnings

import corpus
import numpy as np
import pytest
from beside import hashed
from corpus.row import numbers

from gradcheck_ref import check_gradient, check_vjp


def of_all_coordinates(x, at):
    return hashed(x)


def of_one_coordinate(x, at):
    return hashed(x[1:2])


def alike_on_both_sides(x, at):
    way = np.sum(x - at)
    return np.sign(way) * hashed(np.abs(way).round(13))


# Noise, how many coordinates x has, and which are compared. Bars were missed by up to 26 of them,
# where a single draw was small by chance; and by 30, where most lines, or all, are silent.
NOISES = [
    *((of_all_coordinates, count, slice(None)) for count in (1, 2, 4)),
    (of_one_coordinate, 6, slice(1, 2)),
    (alike_on_both_sides, 6, slice(1, 2)),
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("noise", "count", "which"), NOISES)
def test_the_bars_of_a_noisy_function_cover_its_slopes(noise, count, which):
    off = []
    for seed in range(40):
        at = np.random.default_rng(seed).normal(size=count)
        f = lambda x, at=at: 1 + np.sum(np.sin(x)) + 4e-15 * noise(x, at)  # noqa: E731
        [pair] = check_gradient(f, at, np.cos).pairs
        off += list((np.abs(pair.numeric[:, 0] - np.cos(at)) / pair.error[:, 0])[which])
    assert np.mean(np.array(off) > 1) < 0.1
    assert max(off) < 3


def test_errors_of_all_sizes_in_one_gradient_are_confirmed():
    rng = np.random.default_rng(0)
    M, x = rng.normal(size=(20, 5)), rng.normal(size=5)
    wrong = M + 10.0 ** rng.uniform(-9, 0, M.shape)
    [pair] = check_vjp(lambda x: M @ x, x, lambda upstream, x: wrong.T @ upstream).pairs
    clearly = 3 * pair.allowed < np.abs(wrong - M).T
    assert np.count_nonzero(pair.verdict[clearly] == 2) >= 0.95 * np.count_nonzero(clearly)


EXTREME = [
    name
    for name in corpus.own_rows()
    if name.startswith(("a square at", "slopes near the largest", "a power that 1 hides"))
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EXTREME)
def test_the_largest_and_the_least_numbers_are_judged_without_a_warning(name):
    row = corpus.row_named(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for claim in (row.right, *row.wrong.values()):
            assert str(row.check(row.f, numbers(row.at), numbers(claim)))


def test_slopes_are_compared_however_many_windows_there_are():
    x, y = np.array([1, -0.5, 0.7]) * 1e-30, np.array([0.3, 0.9, -0.4]) * 1e-30

    def f(x, y):
        return np.tanh(x / 1e-30) * np.exp(y / 2e-30)

    def vjp(u, x, y, factor=1.0):
        t, e = np.tanh(x / 1e-30), np.exp(y / 2e-30)
        return u * (1 - t**2) * e / 1e-30, factor * u * t * e / 2e-30

    assert check_vjp(f, (x, y), vjp).verdict == "pass"
    assert check_vjp(f, (x, y), lambda *at: vjp(*at, factor=1.05)).verdict == "fail"
