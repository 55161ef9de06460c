"""What one step along a line says: slope, error bar and state."""

import numpy as np
import pytest

from gradcheck_ref.check.measure.ask import Probe
from gradcheck_ref.check.measure.lines import Axis
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.check.measure.witness import (
    EDGE,
    FLAT,
    LOST,
    OUTSIDE,
    ROUGH,
    SMOOTH,
    ask_witnesses,
)  # fmt: skip
from gradcheck_ref.structure.inputs import Inputs


def witness(f, x, *steps):
    """Return witnesses of a function of one number at some steps, and the cost."""

    def of_array(x):
        with np.errstate(all="ignore"):
            return float(f(x[0]))

    inputs = Inputs(of_array, np.array([x], float))
    probe = Probe(of_array, inputs)
    noise = Noise(probe, 0)
    noise.measure()
    before = probe.evaluations
    lines = [Axis(probe.units, 0)] * len(steps)
    found = ask_witnesses(probe, noise, lines, np.array(steps, float))
    return found.at((slice(None), 0)), probe.evaluations - before


SMOOTH_ONES = {
    "sin": (np.sin, np.cos),
    "exp": (np.exp, np.exp),
    "tanh": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "x^7": (lambda x: x**7, lambda x: 7 * x**6),
    "1/x": (lambda x: 1 / x, lambda x: -1 / x**2),
    "log": (np.log, lambda x: 1 / x),
    "sqrt(1 + x^2)": (lambda x: np.sqrt(1 + x * x), lambda x: x / np.sqrt(1 + x * x)),
    "sin 30x": (lambda x: np.sin(30 * x), lambda x: 30 * np.cos(30 * x)),
    "100 + sin": (lambda x: 100 + np.sin(x), np.cos),
}
every_smooth_one = pytest.mark.parametrize(("f", "slope"), SMOOTH_ONES.values(), ids=SMOOTH_ONES)


# --- the order --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sin", "exp", "tanh", "x^7", "1/x", "log", "sqrt(1 + x^2)"])
def test_the_error_falls_as_the_sixth_power_of_the_step(name):
    f, slope = SMOOTH_ONES[name]
    steps = np.array([0.2, 0.1, 0.05])
    found, _ = witness(f, 1.37, *steps)
    errors = np.abs(found.slope - slope(1.37))
    orders = np.log2(errors[:-1] / errors[1:])
    assert (orders > 5.5).all()
    assert (orders < 6.8).all()


# --- the bar ----------------------------------------------------------------------------------


@pytest.mark.one_in(3)
@every_smooth_one
def test_bars_cover_the_truth_of_smooth_functions(f, slope):
    rng = np.random.default_rng(0)
    inside, sharp = [], []
    longest = -1 if f(0.1) != np.sin(3) else -2  # a wave is smooth on less than its length
    for x in rng.uniform(0.3, 3.0, 12):
        found, _ = witness(f, x, *10 ** rng.uniform(-8, longest, 25))
        known = np.isfinite(found.bar)
        # A product with x inside f is rounded, too; that is the rule's to add.
        inside_f = 4 * 2.0**-52 * np.abs(x * slope(x)) / found.step[known]
        error = np.fmax(0.0, np.abs(found.slope - slope(x))[known] - inside_f)
        inside += (error <= found.bar[known] * (1 + 1e-12)).tolist()
        sharp += (found.bar[known] < 1e6 * np.maximum(error, found.rounding[known])).tolist()
    assert len(inside) > 200
    assert np.mean(inside) >= 0.97  # four standard deviations of a rounding that is not normal
    assert np.mean(sharp) >= 0.97  # not by being endless


# --- kinks ------------------------------------------------------------------------------------

KINKS = {
    "abs": (np.abs, 0.0, 0.0, 1.0),
    "relu": (lambda x: np.maximum(x, 0), 0.0, 0.5, 0.5),
    "leaky relu": (lambda x: np.maximum(x, 0.1 * x), 0.0, 0.55, 0.45),
    "3|x - 2| + x": (lambda x: 3 * np.abs(x - 2) + x, 2.0, 1.0, 3.0),
    "sin + |x - 1|": (lambda x: np.sin(x) + np.abs(x - 1), 1.0, np.cos(1.0), 1.0),
}


@pytest.mark.parametrize(("f", "x", "middle", "half"), KINKS.values(), ids=KINKS)
def test_at_a_kink_the_bar_is_half_the_jump_of_the_slope(f, x, middle, half):
    found, _ = witness(f, x, 1e-2, 1e-3, 1e-4)
    np.testing.assert_allclose(found.slope, middle, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.kink, half, rtol=1e-6)
    np.testing.assert_array_equal(found.jump, found.kink)


@pytest.mark.parametrize("x", [2.0, -1.3, 100 / 3, 1000.1, 1e-5])
def test_at_a_kink_the_bar_holds_both_slopes_although_steps_are_rounded(x):
    found, _ = witness(lambda moved: np.abs(moved - x), x, *(10.0 ** -np.arange(2, 10)))
    assert (np.abs(found.slope - 1) <= found.bar).all()
    assert (np.abs(found.slope + 1) <= found.bar).all()


# --- states -----------------------------------------------------------------------------------

STATES = {
    "smooth": (np.sin, 1.0, 1e-3, SMOOTH),
    "constant": (lambda x: 3.0, 1.0, 1e-3, FLAT),
    "floor": (np.floor, 2.5, 1e-3, FLAT),
    "too close to move": (lambda x: 1e9 + x, 1.0, 1e-9, FLAT),
    "finite above only": (lambda x: np.exp(x) if x >= 1 else np.nan, 1.0, 1e-3, EDGE),
    "finite below only": (lambda x: np.exp(x) if x <= 1 else np.inf, 1.0, 1e-3, EDGE),
    "log, reaching to 0": (np.log, 0.1, 0.11, OUTSIDE),
    "a jump at x": (lambda x: float(x >= 1), 1.0, 1e-3, ROUGH),
    "a few waves": (lambda x: np.sin(3000 * x), 1.0, 3e-3, ROUGH),
    "a narrow peak": (lambda x: np.exp(-((x - 1) ** 2) * 1e6), 1.0003, 1e-2, ROUGH),
    "nowhere but at x": (lambda x: 1.0 if x == 1 else np.nan, 1.0, 1e-3, OUTSIDE),
    "infinite on both sides": (lambda x: 0.0 if x == 1 else np.inf, 1.0, 1e-3, OUTSIDE),
    "a pole on one side of the other": (lambda x: np.log(x) + np.log(2 - x), 1.0, 1.5, OUTSIDE),
    "between two numbers": (np.sin, 1e20, 1.0, LOST),
    "beyond all numbers": (np.sin, 1e308, 1.7e308, OUTSIDE),
}  # fmt: skip


@pytest.mark.parametrize(("f", "x", "h", "state"), STATES.values(), ids=STATES)
def test_a_witness_reports_its_state(f, x, h, state):
    found, cost = witness(f, x, h)
    assert found.state[0] == state
    assert np.isfinite(found.bar[0]) == (state in (SMOOTH, FLAT, EDGE))
    assert cost == (0 if state == LOST or h > 1e308 else 6)


def test_at_an_edge_the_slope_is_that_of_the_side_in_the_domain():
    for f in STATES["finite above only"][0], STATES["finite below only"][0]:
        found, _ = witness(f, 1.0, 1e-2, 1e-3, 1e-4)
        assert (found.state == EDGE).all()
        assert (np.abs(found.slope - np.e) <= found.bar).all()
        assert (found.bar < 1e-4).all()


@pytest.mark.parametrize("x", [1.0, 1e6])
def test_the_bar_of_a_constant_f_covers_rounding_inside_f(x):
    """A loss of 1e-20 beside 1 does not show, nor its slope."""
    found, _ = witness(lambda y: (1.0 + 1e-20 * y) - 1.0, x, 1e-3)
    assert found.state[0] == FLAT
    assert found.bar[0] == pytest.approx(8 * 2.0**-52 * x / 1e-3)


# --- more than one ----------------------------------------------------------------------------
