"""How noisy f is, and how finely its values are divided."""

import numpy as np
import pytest
from beside import hashed

from gradcheck_ref.check import check_gradient
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.structure.inputs import Inputs

X = np.array([0.7, 1.9, -0.4, 2.6])


def noise_of(f, given=X, seed=0, most=np.inf):
    noise = Noise(Ask(f, Inputs(f, given)), seed, most)
    noise.measure()
    return noise


# --- the noise --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-11, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_white_noise_is_measured_within_a_factor_of_5(size, seed):
    noise = noise_of(lambda x: np.sum(np.sin(x)) + size * hashed(x), seed=seed)
    true = size / np.sqrt(3)  # uniform in [-1, 1]
    assert (np.abs(np.log(noise.levels / true)) < np.log(5)).all()


def test_one_equal_draw_does_not_make_an_output_quiet():
    rng = np.random.default_rng(0)

    def f(x):
        here = np.array_equal(x, X)
        jitter = [1.0, 0.0 if here else 1.0, 0.0]
        return np.sum(np.sin(x)) + 1e-3 * np.array(jitter) * rng.normal(size=3)

    assert noise_of(f).random.tolist() == [True, True, False]


# --- the bars that follow ---------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4])
def test_bars_are_honest_though_noise_was_measured_along_few_coordinates(count):
    """A single draw is small by chance: of one coordinate, bars were missed by up to 26 of them."""

    def f(x):
        return np.sum(np.sin(x)) + 5e-15 * hashed(x)

    off = []
    for seed in range(60):
        x = np.random.default_rng(seed).normal(size=count) + 0.3
        [pair] = check_gradient(f, x, np.cos).pairs
        off += list(np.abs(pair.numeric[:, 0] - np.cos(x)) / pair.error[:, 0])
    assert np.mean(np.array(off) > 1) < 0.1
    assert max(off) < 3


def of_one_coordinate(x, at):
    return hashed(x[1:2])


def alike_on_both_sides(x, at):
    way = np.sum(x - at)
    return np.sign(way) * hashed(np.abs(way).round(13))


@pytest.mark.parametrize("noise", [of_one_coordinate, alike_on_both_sides])
def test_noise_that_shows_in_few_differences_is_in_the_bars(noise):
    """Most lines are silent there, or all: bars were missed by up to 30 of them."""
    off = []
    for seed in range(40):
        x = np.random.default_rng(seed).normal(size=6)
        f = lambda x, at=x: np.sum(np.sin(x)) + 1 + 4e-15 * noise(x, at)  # noqa: E731
        [pair] = check_gradient(f, x, np.cos).pairs
        off.append(np.abs(pair.numeric[1, 0] - np.cos(x[1])) / pair.error[1, 0])
    assert np.mean(np.array(off) > 1) < 0.1
    assert max(off) < 3


def test_a_few_roundings_of_a_larger_number_are_not_taken_for_float32():
    """Such values fit in float32, but so do all small multiples of any power of two."""

    def f(x):
        return np.array([1 + np.tanh(x[0] - 17), np.float32(np.sin(x[1]))])

    noise = Noise(Ask(f, Inputs(f, np.array([0.3, 0.7]))), 0)
    rng = np.random.default_rng(0)
    noise.notice(np.array([f(x) for x in rng.normal(size=(30, 2))], float))
    np.testing.assert_array_equal(noise.eps, [2.0**-52, 2.0**-23])
