"""What one step along a line says: the order of its slope, and its error bar."""

import numpy as np
import pytest

from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import read, sample
from gradcheck_ref.structure.inputs import Inputs


def witness(f, x, *steps):
    """Return witnesses of a function of one number at some steps."""

    def of_array(x):
        with np.errstate(all="ignore"):
            return float(f(x[0]))

    inputs = Inputs(of_array, np.array([x], float))
    ask = Ask(of_array, inputs)
    noise = Noise(ask, 0)
    noise.measure()
    lines = [Line(inputs, 0, 1)] * len(steps)
    return read(sample(ask, lines, np.array(steps, float)), noise).at((slice(None), 0))


SMOOTH_ONES = {
    "sin": (np.sin, np.cos),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "x^7": (lambda x: x**7, lambda x: 7 * x**6),
    "log": (np.log, lambda x: 1 / x),
    "sin 30x": (lambda x: np.sin(30 * x), lambda x: 30 * np.cos(30 * x)),
    "100 + sin": (lambda x: 100 + np.sin(x), np.cos),
}


@pytest.mark.parametrize("name", ["sin", "tanh", "x^7", "log"])
def test_the_error_falls_as_the_sixth_power_of_the_step(name):
    f, slope = SMOOTH_ONES[name]
    steps = np.array([0.2, 0.1, 0.05])
    found = witness(f, 1.37, *steps)
    errors = np.abs(found.slope - slope(1.37))
    orders = np.log2(errors[:-1] / errors[1:])
    assert (orders > 5.5).all()
    assert (orders < 6.8).all()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("f", "slope"), SMOOTH_ONES.values(), ids=SMOOTH_ONES)
def test_bars_cover_the_truth_of_smooth_functions(f, slope):
    rng = np.random.default_rng(0)
    inside, sharp = [], []
    longest = -1 if f(0.1) != np.sin(3) else -2  # a wave is smooth on less than its length
    for x in rng.uniform(0.3, 3.0, 12):
        found = witness(f, x, *10 ** rng.uniform(-8, longest, 25))
        known = np.isfinite(found.bar)
        # A product with x inside f is rounded, too; that is the rule's to add.
        inside_f = 4 * 2.0**-52 * np.abs(x * slope(x)) / found.step[known]
        error = np.fmax(0.0, np.abs(found.slope - slope(x))[known] - inside_f)
        inside += (error <= found.bar[known] * (1 + 1e-12)).tolist()
        sharp += (found.bar[known] < 1e6 * np.maximum(error, found.rounding[known])).tolist()
    assert len(inside) > 200
    assert np.mean(inside) >= 0.97  # four standard deviations of a rounding that is not normal
    assert np.mean(sharp) >= 0.97  # not by being endless


def test_witnesses_are_read_without_a_call_and_anew_when_more_is_known_of_the_noise():
    calls = []

    def f(x):
        calls.append(1)
        return float(np.sin(x[0]) + 1e-6 * np.sin(1e9 * x[0]))

    inputs = Inputs(f, np.array([0.7]))
    ask, lines = Ask(f, inputs), [Line(inputs, 0, 1)]
    noise = Noise(ask, 0)
    samples = sample(ask, lines, np.array([3e-3]))
    facts, count = samples.values.copy(), len(calls)
    before = read(samples, noise).bar
    assert len(calls) == count
    noise.measure()
    after = read(samples, noise)
    np.testing.assert_array_equal(samples.values, facts)
    assert not np.array_equal(after.bar, before)
    assert abs(after.slope - np.cos(0.7)) <= after.bar
