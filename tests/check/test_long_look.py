"""The long look finds stairs that are longer than the steps of witnesses, and nothing else."""

import numpy as np
import pytest
from rounded import to_bfloat16

from gradcheck_ref import check_gradient
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.measure.long_look import LOOK, look_far
from gradcheck_ref.check.measure.noise import Noise
from gradcheck_ref.structure.inputs import Inputs

SHORT = {"float16": np.float16, "bfloat16": to_bfloat16}


def loss_beside_a_penalty(seed, size, short):
    """Return a loss in a short dtype beside a penalty, a point, and the gradients of the two."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=size), rng.normal(size=size) / 2

    def f(x):
        return float(short(np.mean((np.tanh(x) - y) ** 2))) + 0.1 * np.mean(x * x)

    t = np.tanh(x)
    return f, x, 2 * (t - y) * (1 - t * t) / size, 0.2 * x / size


def looked(f, x, most=1000):
    """Return the stairs that a long look finds, and what it costs."""
    ask = Ask(f, Inputs(f, x))
    noise = Noise(ask, 0, most)
    before = ask.evaluations
    look_far(noise)
    return float(noise.jump.max(initial=0.0)), ask.evaluations - before


# Along one line in fifty the loss hardly has a slope at x, and the stairs are missed.
@pytest.mark.one_in(4)
@pytest.mark.parametrize("size", [3, 20, 200, 1000])
@pytest.mark.parametrize("name", SHORT)
def test_a_long_look_finds_the_stairs_of_a_short_loss(name, size):
    digits, missed = {"float16": 10, "bfloat16": 7}[name], 0
    for seed in range(8):
        f, x, _, _ = loss_beside_a_penalty(seed, size, SHORT[name])
        jump, cost = looked(f, x)
        missed += jump == 0
        # The spacing of the loss, which is below 2, or a multiple of it.
        assert jump == 0 or 2.0 ** -(digits + 6) < jump <= 1.01 * 2.0**-digits
        assert jump == pytest.approx(2.0 ** np.rint(np.log2(jump or 1)), rel=0.05) or not jump
        assert cost <= 4 * LOOK
    assert missed <= 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize("size", [3, 20, 200])
@pytest.mark.parametrize("name", SHORT)
def test_a_gradient_that_ignores_a_short_loss_does_not_pass(name, size):
    right, wrong = [], []
    for seed in range(8):
        f, x, loss, penalty = loss_beside_a_penalty(seed, size, SHORT[name])
        right.append(check_gradient(f, x, loss + penalty).verdict)
        wrong.append(check_gradient(f, x, penalty).verdict)
    assert right.count("fail") <= 1
    assert wrong.count("pass") <= 1
    assert right.count("pass") >= 6 <= wrong.count("unsure")


A = np.random.default_rng(1).normal(size=(20, 20))
X = np.random.default_rng(2).normal(size=20)

# No staircase: a function of X, and what a long look may cost.
WITHOUT_STAIRS = {
    "smooth": (lambda x: np.sum(np.tanh(A @ x) ** 2), LOOK),
    "a sum of squares": (lambda x: np.sum(x**2), LOOK),
    "constant": (lambda x: 3.0, LOOK),
    "many kinks": (lambda x: np.sum(np.maximum(A @ x, 0)), 3 * LOOK),
    "a wave": (lambda x: np.sum(x) + 1e-3 * np.sin(1e6 * x[0]), 4 * LOOK),
    "one jump": (lambda x: np.sum(x**2) + 1e-3 * (x[0] > X[0] + 0.05), 5 * LOOK),
    "a jump at x": (lambda x: np.sum(x**2) + 1e-3 * (x[0] > X[0]), 5 * LOOK),
    "jumps as large as f": (lambda x: np.sum(x * (np.abs(x) > 0.5)), 5 * LOOK),
    "an edge": (lambda x: np.log(1.5 + np.sum(x**2) - 20 * (x[0] - X[0])), 3 * LOOK),
}


@pytest.mark.parametrize(("f", "most"), WITHOUT_STAIRS.values(), ids=WITHOUT_STAIRS)
def test_a_long_look_finds_no_stairs_where_there_are_none(f, most):
    with np.errstate(invalid="ignore"):
        jump, cost = looked(f, X)
    assert jump == 0
    assert cost <= most


@pytest.mark.parametrize(("size", "most", "looks"), [(1, 52, True), (1, 40, False), (3, 20, False)])
def test_a_long_look_takes_at_most_a_quarter_of_the_evaluations(size, most, looks):
    _, cost = looked(lambda x: np.sum(np.exp(x)), np.ones(size), most)
    assert cost == (LOOK if looks else 0)


@pytest.mark.parametrize("seed", range(4))
def test_even_one_number_has_evaluations_for_a_long_look(seed):
    x = np.random.default_rng(seed).uniform(0.5, 1.5, 1)

    def f(x):
        return float(np.float16(np.sin(x[0]))) + x[0] ** 2 / 2

    assert check_gradient(f, x, np.cos(x) + x).verdict == "pass"
    assert check_gradient(f, x, x).verdict != "pass"
