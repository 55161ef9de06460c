"""How noisy f is, and how finely its values are divided."""

import numpy as np
import pytest

from gradcheck_ref.check import check_gradient
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import TABLE_POINTS, Noise
from gradcheck_ref.check.measure.witness import ask_witnesses
from gradcheck_ref.structure.inputs import Inputs

X = np.array([0.7, 1.9, -0.4, 2.6])


def hashed(x):
    """A number in [-1, 1] that has nothing to do with its neighbours."""
    bits = 0
    for word in np.ascontiguousarray(x, float).view(np.uint64).tolist():
        bits = (bits ^ word) * 0x9E3779B97F4A7C15 % 2**64
        bits ^= bits >> 29
        bits = bits * 0xBF58476D1CE4E5B9 % 2**64
        bits ^= bits >> 32
    return bits / 2**63 - 1


def noise_of(f, given=X, seed=0, most=np.inf):
    noise = Noise(Probe(f, Inputs(f, given)), seed, most)
    noise.measure()
    return noise


SMOOTH = {
    "sin": lambda x: np.sum(np.sin(x)),
    "exp": lambda x: np.sum(np.exp(3 * x)),
    "quadratic": lambda x: np.sum(x * x),
    "a wave of 1/100": lambda x: np.sum(np.sin(100 * x)),
    "pedestal": lambda x: 1e6 + np.sum(np.sin(x)),
    "tiny": lambda x: 1e-200 * np.sum(np.sin(x)),
    "huge": lambda x: 1e200 * np.sum(np.sin(x)),
    "near zero": lambda x: np.sum(np.sin(x - X)) + 1e-12,
}


# --- the noise --------------------------------------------------------------------------------


@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH)
def test_a_smooth_function_is_quiet_at_one_table(f):
    noise = noise_of(f)
    assert noise.probe.evaluations == TABLE_POINTS + 1  # f at x is one of them, and asked once more
    assert (noise.levels <= noise.quiet).all()


@pytest.mark.parametrize("size", [1e-11, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_white_noise_is_measured_within_a_factor_of_5(size, seed):
    noise = noise_of(lambda x: np.sum(np.sin(x)) + size * hashed(x), seed=seed)
    true = size / np.sqrt(3)  # uniform in [-1, 1]
    assert (np.abs(np.log(noise.levels / true)) < np.log(5)).all()


def test_rounding_to_float32_inside_f_is_noise():
    noise = noise_of(lambda x: float(np.sum(np.exp(x)).astype(np.float32)))
    spacing = float(np.spacing(np.float32(np.sum(np.exp(X)))))
    assert spacing / 30 < noise.levels.max() < 2 * spacing
    assert (noise.levels > noise.quiet).all()


def test_noise_is_measured_for_each_output_and_for_combinations():
    def f(x):
        return np.array([np.sin(x[0]), np.sin(x[1]) + 1e-6 * hashed(x), 5.0, 0.0])

    noise = noise_of(f)
    assert (noise.levels[0] > noise.quiet).tolist() == [False, True, False, False]
    assert noise.typical == noise.levels[0][1]
    mixed = noise.combined(noise.probe.combined(np.array([[1.0, 0, 0, 0], [1.0, 2.0, 0, 0]])))
    assert mixed.levels[0][0] < 1e-12
    assert mixed.levels[0][1] == pytest.approx(2 * noise.typical, rel=0.1)


@pytest.mark.parametrize(
    ("ripple", "fades"),
    [(lambda x: 1e-3 * np.sin(1e9 * x[0]), True), (lambda x: 1e-5 * hashed(x), False)],
    ids=["a fast wave", "noise"],
)
def test_a_wave_fades_from_nearby_and_noise_does_not(ripple, fades):
    noise = noise_of(lambda x: np.sum(np.sin(x)) + ripple(x))
    assert (noise.levels[0] > 30 * noise.levels[1]).all() == fades
    step = noise.quieter(Axis(noise.probe.units, 0))
    assert 0 < step < 1e-8 if fades else step == 0


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


# --- the resolution ---------------------------------------------------------------------------


def float32_sum(x):
    return float(np.sum(np.sin(x, dtype=np.float32), dtype=np.float32))


# f, and the step between its values; 0 for none.
DIVIDED = {
    "%.6g": (lambda x: float(f"{1e5 + np.sum(np.sin(x)):.6g}"), 1.0),
    "%.3f": (lambda x: float(f"{np.sum(np.sin(x)):.3f}"), 1e-3),
    "whole 1024ths": (lambda x: np.floor(1024 * np.sum(x)) / 1024, 2.0**-10),
    "a sum in float32": (float32_sum, 2.0**-23),
    "a sum in float32 on a pedestal": (lambda x: float(np.float32(1e4 + float32_sum(x))), 2.0**-10),
    "a float16": (lambda x: float(np.float16(np.sum(np.sin(x)))), 2.0**-10),
} | {name: (f, 0.0) for name, f in SMOOTH.items()}


@pytest.mark.parametrize(("f", "step"), DIVIDED.values(), ids=DIVIDED)
def test_the_step_between_the_values_of_f_is_found(f, step):
    probe = Probe(f, Inputs(f, X))
    noise = Noise(probe, 0)
    for h in (1e-5, 3e-3, 0.1, 0.3):
        ask_witnesses(probe, noise, [Axis(probe.units, i) for i in range(4)], np.full(4, h))
    noise.find_resolution()
    assert noise.resolution[0] == pytest.approx(step, rel=1e-4)
