"""How noisy f is: measured by difference tables, along all inputs or along one."""

import numpy as np
import pytest

from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import TABLE_POINTS, Noise
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
    return Noise(Probe(f, inputs), seed, most)


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
    assert noise.probe.evaluations == TABLE_POINTS  # f at x is one of them
    assert (noise.noises <= noise.quiet).all()


@pytest.mark.parametrize("size", [1e-11, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_white_noise_is_measured_within_a_factor(size, seed):
    noise = noise_of(lambda x: np.sum(np.sin(x)) + size * hashed(x), seed=seed)
    true = size / np.sqrt(3)  # uniform in [-1, 1]
    assert true / 4 < noise.typical < 4 * true
    # All three tables are asked: a wave would fade.
    assert noise.probe.evaluations == 1 + 3 * (TABLE_POINTS - 1)
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
    assert (np.array(seen[1:]) != 0).all()


def test_of_random_numbers_the_spread_between_two_calls_counts():
    rng = np.random.default_rng(0)
    noise = noise_of(lambda x: np.sum(np.sin(x)) + 1e-6 * rng.normal())
    before = noise.probe.nondeterminism.copy()
    noise.probe.forward()
    noise.read()
    assert (noise.probe.nondeterminism > before).all()
    assert (noise.noises >= noise.probe.nondeterminism).all()


def test_beside_a_random_output_one_that_came_out_the_same_is_random_and_a_quiet_one_is_not():
    rng = np.random.default_rng(0)

    def f(x):
        here = np.array_equal(x, X)
        jitter = [1.0, 0.0 if here else 1.0, 0.0]
        return np.sum(np.sin(x)) + 1e-3 * np.array(jitter) * rng.normal(size=3)

    noise = noise_of(f)
    assert not noise.restless.any()  # nothing was called twice
    noise.probe.forward()
    noise.read()
    assert noise.restless.tolist() == [True, True, False]


# --- one input alone --------------------------------------------------------------------------


def labelled(scores, labels):
    return np.mean(np.logaddexp(0, np.where(labels == 1, -scores, scores)))


SCORES, LABELS = np.array([0.5, -1.25, 2.0]), np.array([1.0, -1.0, -1.0])


def test_an_input_that_makes_f_jump_is_told_from_one_that_does_not():
    noise = noise_of(labelled, (SCORES, LABELS))
    assert noise.typical > 1e-4
    before = noise.probe.evaluations
    noise.listen_to_each_input(np.zeros((6, 1)), np.inf)
    assert noise.probe.evaluations - before == 2 * (TABLE_POINTS - 1)
    assert [noise.noisy_alone(k, slice(0, 1)) for k in (0, 1)] == [False, True]
    lines = [Axis(noise.probe.units, i) for i in (0, 5)]
    quiet, loud = noise.at(lines, np.full(2, 1e-3))[:, 0]
    assert quiet < 1e-12 < loud


@pytest.mark.parametrize(
    ("f", "affordable"),
    [(labelled, 20.0), (lambda a, b: np.sum(a * b), np.inf)],
    ids=["too dear", "quiet"],
)
def test_inputs_are_not_listened_to_where_that_is_too_dear_or_needless(f, affordable):
    noise = noise_of(f, (SCORES, LABELS))
    before = noise.probe.evaluations
    noise.listen_to_each_input(np.zeros((6, 1)), affordable)
    assert noise.probe.evaluations == before
    assert not noise.noisy_alone(0, slice(0, 1))


@pytest.mark.parametrize(("claim", "silent"), [(0.0, True), (1.0, False)])
def test_an_input_that_does_nothing_is_silent_only_if_that_is_claimed(claim, silent):
    noise = noise_of(lambda a, b: np.sum(a) + 1e-4 * hashed(a) + 0 * b[0], (SCORES, LABELS))
    claimed = np.zeros((6, 1))
    claimed[3:] = claim
    noise.listen_to_each_input(claimed, np.inf)
    assert noise.noisy_alone(0, slice(0, 1)) == silent


# --- combinations of outputs ------------------------------------------------------------------


def test_of_combined_outputs_the_noise_is_that_of_the_combination():
    def f(x):
        return np.array([np.sin(x[0]), np.sin(x[1]) + 1e-6 * hashed(x)])

    noise = noise_of(f)
    mixed = noise.combined(noise.probe.combined(np.array([[1.0, 0.0], [1.0, 2.0]])))
    assert noise.probe.evaluations == mixed.probe.evaluations
    assert mixed.noises[0][0] < 1e-12
    assert mixed.noises[0][1] == pytest.approx(2 * noise.noises[0][1], rel=0.1)
