"""How noisy f is: measured by difference tables, along all inputs or along one."""

import numpy as np
import pytest

from gradcheck_ref.check import check_gradient
from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import TABLE_POINTS, Noise
from gradcheck_ref.check.measure.witness import ask_witnesses
from gradcheck_ref.structure import Inputs

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
    inputs = Inputs(f, given)
    noise = Noise(Probe(f, inputs), seed, most)
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


@pytest.mark.parametrize("f", SMOOTH.values(), ids=SMOOTH)
def test_a_smooth_function_is_quiet_at_one_table(f):
    noise = noise_of(f)
    assert noise.probe.evaluations == TABLE_POINTS + 1  # f at x is one of them, and asked once more
    assert (noise.noises <= noise.quiet).all()


def heard_along_axes(f, size, quiet=None):
    """Return the noise of f after one trial along so many axes, 1/300 long."""
    probe = Probe(f, Inputs(f, np.linspace(0.5, 2.5, size)))
    noise = Noise(probe, 0)
    if quiet is not None:
        noise.quiet = np.array([quiet])
    ask_witnesses(probe, noise, [Axis(probe.units, i) for i in range(size)], np.full(size, 1 / 300))
    return noise


@pytest.mark.parametrize("name", [name for name in SMOOTH if name != "near zero"])
def test_of_a_smooth_function_the_samples_tell_enough(name):
    noise = heard_along_axes(SMOOTH[name], 4)
    assert bool(noise.tables) == ("wave" in name)  # which turns within a step


def test_white_noise_is_heard_as_it_is():
    size = 1e-6
    noise = heard_along_axes(lambda x: np.sum(np.sin(x)) + size * hashed(x), 300, quiet=1.0)
    assert not noise.tables
    assert noise.typical == pytest.approx(size / np.sqrt(3), rel=0.3)  # all share that of f(x)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_of_what_was_heard_alone_the_bars_are_honest(count):
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
def test_noise_that_few_bends_show_is_in_the_bars(noise):
    """Most lines are silent there, or all: bars were missed by up to 30 of them."""
    off = []
    for seed in range(40):
        x = np.random.default_rng(seed).normal(size=6)
        f = lambda x, at=x: np.sum(np.sin(x)) + 1 + 4e-15 * noise(x, at)  # noqa: E731
        [pair] = check_gradient(f, x, np.cos).pairs
        off.append(np.abs(pair.numeric[1, 0] - np.cos(x[1])) / pair.error[1, 0])
    assert np.mean(np.array(off) > 1) < 0.1
    assert max(off) < 3


def test_what_is_loud_along_one_line_of_many_is_measured():
    noise = heard_along_axes(lambda x: np.sum(np.sin(x)) + 1e-12 * hashed(x[1:2]), 32)
    assert noise.tables


@pytest.mark.parametrize("count", [1, 4])
def test_what_is_loud_in_samples_is_measured(count):
    noise = heard_along_axes(lambda x: np.sum(np.sin(x)) + 1e-9 * hashed(x), count)
    assert len(noise.tables) == 3
    assert noise.typical > 1e-10


@pytest.mark.parametrize("size", [1e-11, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_white_noise_is_measured_within_a_factor(size, seed):
    noise = noise_of(lambda x: np.sum(np.sin(x)) + size * hashed(x), seed=seed)
    true = size / np.sqrt(3)  # uniform in [-1, 1]
    assert true / 4 < noise.typical < 4 * true
    # All three tables are asked: a wave would fade.
    assert noise.probe.evaluations == 2 + 3 * (TABLE_POINTS - 1)
    assert (np.abs(np.log(noise.noises / true)) < np.log(5)).all()


def test_rounding_to_float32_inside_f_is_noise():
    noise = noise_of(lambda x: float(np.sum(np.exp(x)).astype(np.float32)))
    spacing = float(np.spacing(np.float32(np.sum(np.exp(X)))))
    assert spacing / 30 < noise.noises.max() < 2 * spacing
    assert (noise.noises > noise.quiet).all()


def test_noise_is_known_for_every_output_by_itself():
    def f(x):
        return np.array([np.sin(x[0]), np.sin(x[1]) + 1e-6 * hashed(x), 5.0, 0.0])

    noise = noise_of(f)
    assert (noise.noises[0] > noise.quiet).tolist() == [False, True, False, False]
    assert noise.typical == noise.noises[0][1]
    assert noise.noises[0][3] == 0


def test_a_wave_between_the_points_of_a_table_fades_from_nearby():
    k = 1e9
    noise = noise_of(lambda x: np.sum(np.sin(x)) + 1e-3 * np.sin(k * x[0]))
    assert noise.noises[0] > 1e3 * noise.noises[-1]
    lines = [Axis(noise.probe.units, 0)]
    (quieter,) = noise.quieter_steps(lines, np.array([1e-3]))
    assert 0 < quieter < 1e-3
    loud, quiet = noise.at(lines, np.array([1e-3])), noise.at(lines, np.array([quieter]))
    assert loud > 30 * quiet


def test_of_noise_that_does_not_fade_no_step_is_quieter():
    noise = noise_of(lambda x: np.sum(np.sin(x)) + 1e-5 * hashed(x))
    assert noise.quieter_steps([Axis(noise.probe.units, 0)], np.array([1e-3])) == 0


def test_without_evaluations_there_is_no_table_and_noise_is_rounding():
    noise = noise_of(lambda x: np.sum(np.sin(x)) + 1e-3 * hashed(x), most=7 - 1)
    assert noise.probe.evaluations == 1
    assert noise.tables == []
    np.testing.assert_array_equal(noise.noises, [noise.probe.floor])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_zeros_stay_where_they_are(sign):
    seen = []
    noise_of(lambda x: seen.append(x[1]) or np.sum(x * x), np.array([1.0, sign * 0.0, 2.0]))
    assert set(seen) == {0.0}


def test_where_all_is_zero_everything_moves():
    seen = []
    noise_of(lambda x: seen.append(x.copy()) or np.sum(x * x), np.zeros(2))
    assert (np.array(seen[1:-1]) != 0).all()


def test_of_random_numbers_the_spread_between_two_calls_counts():
    rng = np.random.default_rng(0)
    noise = noise_of(lambda x: np.sum(np.sin(x)) + 1e-6 * rng.normal())
    assert (noise.probe.nondeterminism > 0).all()
    assert (noise.noises >= noise.probe.nondeterminism).all()


def test_beside_a_random_output_one_that_came_out_the_same_is_random_and_a_quiet_one_is_not():
    rng = np.random.default_rng(0)

    def f(x):
        here = np.array_equal(x, X)
        jitter = [1.0, 0.0 if here else 1.0, 0.0]
        return np.sum(np.sin(x)) + 1e-3 * np.array(jitter) * rng.normal(size=3)

    noise = noise_of(f)
    assert noise.restless.tolist() == [True, True, False]


# --- combinations of outputs ------------------------------------------------------------------


def test_of_combined_outputs_the_noise_is_that_of_the_combination():
    def f(x):
        return np.array([np.sin(x[0]), np.sin(x[1]) + 1e-6 * hashed(x)])

    noise = noise_of(f)
    mixed = noise.combined(noise.probe.combined(np.array([[1.0, 0.0], [1.0, 2.0]])))
    assert noise.probe.evaluations == mixed.probe.evaluations
    assert mixed.noises[0][0] < 1e-12
    assert mixed.noises[0][1] == pytest.approx(2 * noise.noises[0][1], rel=0.1)
