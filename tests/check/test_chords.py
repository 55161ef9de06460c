"""The steps at which noise and truncation are balanced, and what the values of f show."""

import numpy as np
import pytest
from rounded import to_bfloat16

from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.chords import Chorder, Fineness, balance
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.structure.inputs import Inputs

STEPS = 2.0 ** -np.arange(2.0, 12)
X = np.random.default_rng(0).normal(size=40).astype(np.float32)
W = np.random.default_rng(1).normal(size=(40, 30)).astype(np.float32) / 6


def chorder(f, x=X):
    ask = Ask(f, Inputs(f, x))
    return Chorder(Noise(ask, 0), np.ones(ask.inputs.size, bool), (0,))


# --- the fit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2, 4])
def test_the_fit_finds_noise_and_truncation(power):
    rng = np.random.default_rng(power)
    noise, bend = 1e-8, 1e-2
    cost = (noise / STEPS**2 + bend * STEPS**power) * rng.chisquare(60, STEPS.size) / 60
    found = balance(STEPS, cost)
    assert found[2] == power
    assert found[0] == pytest.approx(noise, rel=0.5)
    assert found[1] == pytest.approx(bend, rel=0.5)


def test_a_cost_without_noise_or_truncation_has_none():
    assert balance(STEPS, np.zeros(STEPS.size)) == (0.0, 0.0, 4)
    assert balance(STEPS, np.full(STEPS.size, np.inf)) == (0.0, 0.0, 4)
    assert balance(STEPS, 1e-6 / STEPS**2)[1] <= 1e-6


# --- the steps --------------------------------------------------------------------------------

INSIDE = {
    "float64": (lambda y: y, X.astype(float)),
    "float32": (np.float32, X),
    "float16": (lambda y: y.astype(np.float16).astype(np.float32), X),
    "bfloat16": (lambda y: np.float32(to_bfloat16(y)), X),
}


@pytest.mark.parametrize("inside", INSIDE)
def test_fewer_digits_take_longer_steps_and_are_noticed(inside):
    cast, x = INSIDE[inside]
    chords = chorder(lambda x: cast(np.tanh(cast(x) @ W.astype(x.dtype))), x)
    assert chords.choose(0.2)
    longest, step, closer = chords.steps
    assert longest == 2 * step
    assert closer == pytest.approx(step / 5)
    assert chords.short == (inside in ("float16", "bfloat16"))
    least, most = {"float64": (1e-4, 0.01), "float32": (1e-3, 0.02), "float16": (0.01, 0.15),
                   "bfloat16": (0.03, 0.3)}[inside]  # fmt: skip
    assert least <= step <= most


def test_the_chosen_steps_do_not_depend_on_a_claim_and_are_always_the_same():
    f = INSIDE["bfloat16"][0]
    one, other = (chorder(lambda x: f(np.sin(f(x)))) for _ in range(2))
    assert one.choose(0.2)
    assert other.choose(0.2)
    assert one.steps == other.steps


def test_a_chord_is_the_slope_along_the_move():
    chords = chorder(lambda x: np.array([np.sum(x), 2 * x[0]]), X.astype(float))
    lines = chords.lines(0, 5)
    found = chords.measure(lines, 0.25)
    for line, t, slopes in zip(lines, found.steps, found.slopes, strict=True):
        move = line.between(t)
        assert slopes == pytest.approx([move.sum(), 2 * move[0]], rel=1e-9)


def test_steps_within_one_stair_are_not_taken_for_a_smooth_function():
    """From a hundredth of x on, no line crosses a stair, and only the penalty seems to be there."""
    x = np.random.default_rng(3).normal(size=100).astype(np.float32)
    f = lambda x: np.float32(to_bfloat16(np.mean(np.tanh(x) ** 2)) + 0.25 * np.mean(x * x))  # noqa: E731
    chords = chorder(f, x)
    assert chords.choose(0.5)
    assert chords.steps[1] >= 2.0**-6
    assert chords.short


def test_an_input_that_leaves_the_domain_moves_in_proportion():
    x = np.append(np.random.default_rng(0).uniform(1, 2, size=40), 1e-6)
    chords = chorder(lambda x: np.sum(np.log(x)) if (x > 0).all() else np.nan, x)
    assert chords.choose(0.5)
    assert chords.in_proportion
    assert np.isfinite(chords.measure(chords.lines(0, 20), chords.steps[0]).slopes).all()


def test_an_f_that_is_never_finite_elsewhere_cannot_be_measured():
    chords = chorder(lambda x: np.sum(x) if (x == X).all() else np.nan)
    assert not chords.choose(0.5)


# --- what values show -------------------------------------------------------------------------

SEEN = {
    "float16": (np.float16, 2.0**-10),
    "bfloat16": (to_bfloat16, 2.0**-7),
    "float32": (np.float32, 2.0**-23),
}


@pytest.mark.parametrize("name", SEEN)
def test_the_format_shows_in_the_last_bits(name):
    cast, spacing = SEEN[name]
    fineness = Fineness(np.zeros(1), np.full(1, 2.0**-52))
    values = np.random.default_rng(0).uniform(1, 2, (50, 1))
    fineness.notice(np.asarray(cast(values), float))
    assert fineness.of_format[0] == pytest.approx(spacing * fineness.size[0])
    assert fineness.resolution[0] == spacing


def test_a_value_that_never_moves_is_known_to_the_shortest_format_that_holds_it():
    fineness = Fineness(np.zeros(2), np.full(2, 2.0**-23))
    fineness.notice(np.array([[1000.0, 1000.001], [1000.0, 1000.001]]))
    assert fineness.resolution == pytest.approx([1000 * 2.0**-7, 1000.001 * 2.0**-23])


def test_a_resolution_that_is_known_counts():
    fineness = Fineness(np.array([0.1]), np.full(1, 2.0**-52))
    fineness.notice(np.array([[0.3], [0.7]]))
    assert fineness.resolution[0] == 0.1


def test_outputs_that_cross_no_stair_are_told():
    chords = chorder(lambda x: np.array([to_bfloat16(1000 + np.sum(x) / 99), np.sum(x)]))
    chords.ask.outputs.eps[:] = 2.0**-23
    found = chords.measure(chords.lines(0, 10), 0.1)
    assert found.stuck[0] > 1e3 * found.stuck[1]
