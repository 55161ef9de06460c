"""What speaks for a claim that was refused: steps of f that are hidden beside a slope."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_vjp

LAMBDA = 0.1


def loss_beside_a_penalty(seed, digits):
    """Return a loss that is rounded beside a penalty that is not, its point and gradient."""
    rng = np.random.default_rng([20, seed])
    x, W = rng.normal(size=20), rng.normal(size=(4, 20)) / np.sqrt(20)

    def f(x):
        return float(digits(np.sum(np.tanh(W @ x) ** 2))) + LAMBDA * np.sum(x * x) / 2

    y = np.tanh(W @ x)
    return f, x, W.T @ (2 * y * (1 - y**2)) + LAMBDA * x


DIGITS = {"float16": np.float16, "three decimals": lambda loss: np.round(loss, 3)}


@pytest.mark.parametrize("digits", DIGITS.values(), ids=DIGITS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (2.0, "fail")])
def test_stairs_on_a_slope_are_noise_for_the_gradient_as_a_whole(seed, digits, factor, verdict):
    f, x, right = loss_beside_a_penalty(seed, digits)
    report = check_gradient(f, x, factor * right)
    assert report.verdict == verdict
    assert report.by_whole == (factor == 1)


# Of 50 entries there are not enough evaluations to look at each from afar.
@pytest.mark.parametrize(
    ("entries", "seed", "penalty", "wrong"),
    [
        (20, 3, 0.02, {"fail"}),
        (50, 0, 0.2, {"unsure", "fail"}),
        (50, 2, 0.2, {"fail"}),
    ],
)
def test_stairs_along_most_entries_count_for_all_entries(entries, seed, penalty, wrong):
    rng = np.random.default_rng(seed)
    A, b, x = rng.normal(size=(30, entries)), rng.normal(size=30), rng.normal(size=entries)

    def f(x):
        return float(np.float16(np.mean((A @ x - b) ** 2))) + penalty * np.sum(x * x) / 2

    right = 2 * A.T @ (A @ x - b) / 30 + penalty * x
    assert check_gradient(f, x, right).verdict == "pass"
    assert check_gradient(f, x, 2 * right).verdict in wrong


@pytest.mark.parametrize("seed", range(4))
def test_a_gradient_that_leaves_out_the_stairs_does_not_pass(seed):
    """It is the slope between two stairs; but stairs this small are rounding, not meant."""
    f, x, _ = loss_beside_a_penalty(seed, np.float16)
    assert check_gradient(f, x, LAMBDA * x).verdict != "pass"


@pytest.mark.parametrize("seed", range(4))
def test_a_gradient_that_leaves_out_high_stairs_does_not_fail(seed):
    f, x, _ = loss_beside_a_penalty(seed, lambda loss: np.round(2 * loss) / 2)
    assert check_gradient(f, x, LAMBDA * x).verdict != "fail"


# What is on the way from x to a few thousandths of it, and its slope at x. From afar f is smooth
# beside the wave, with the slope that f has without it: nothing decides between the two.
ON_THE_WAY = {
    "a kink": (lambda t: np.abs(t - 1e-4), -1.0),
    "a wave": (lambda t: 1e-3 * np.sin(1e4 * t), 10.0),
    "a triangle wave": (lambda t: np.abs((t - 3e-4) % 1e-2 - 5e-3), 1.0),
    "a faster triangle wave": (lambda t: np.abs((t - 3e-5) % 1e-3 - 5e-4), 1.0),
}


@pytest.mark.parametrize(("part", "slope"), ON_THE_WAY.values(), ids=ON_THE_WAY)
def test_a_kink_or_a_wave_is_not_mistaken_for_a_staircase(part, slope):
    x = np.array([0.7, -0.4])
    f = lambda y: np.sum(y * y) + part(y[0] - x[0])  # noqa: E731
    assert check_gradient(f, x, 2 * x + [slope, 0.0]).verdict == "pass"
    without, other_side = (check_gradient(f, x, 2 * x + [s, 0.0]).verdict for s in (0.0, -slope))
    assert without == "fail" or (without == "unsure" and slope == 10.0)
    assert other_side == "fail"


@pytest.mark.parametrize("seed", range(6))
def test_a_determinant_that_is_only_rounding_does_not_fail_zeros(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(4, 2)), rng.normal(size=(2, 4))
    assert check_gradient(np.linalg.det, A @ B, np.zeros((4, 4))).verdict != "fail"
    assert check_gradient(np.linalg.det, A @ B + np.eye(4), np.zeros((4, 4))).verdict == "fail"


def test_one_entry_of_half_its_size_is_not_the_slope_between_stairs_of_float16():
    """Two values next to x lie on one stair, whose slope of 0 says nothing of a claim."""
    x, A = np.array([1, -0.5, 2]), np.array([[2, -1, 0.5], [0.25, 1.5, -0.75], [1, 0.5, -2]])

    def f(x, A):
        x, A = x.astype(np.float16), A.astype(np.float16)
        return float(x @ (A @ x))

    def gradient(x, A):
        return (A + A.T) @ x, np.outer(x, x)

    half = np.ones((3, 3))
    half[2, 2] = 0.5
    assert check_gradient(f, (x, A), gradient, rtol=0.03).verdict != "fail"
    wrong = check_gradient(
        f, (x, A), lambda x, A: (gradient(x, A)[0], half * gradient(x, A)[1]), rtol=0.03
    )
    assert wrong.verdict == "fail"


def insisting(formula):
    """Return a formula that raises where a probability is 1 or more."""

    def insist(p, *rest):
        if not (p < 1).all():
            raise ValueError("expected p < 1")
        return formula(p, *rest)

    return insist


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (2.0, "fail")])
@pytest.mark.parametrize("how", ["gradient", "vjp"])
def test_a_claim_that_raises_beyond_the_domain_of_f_is_judged_all_the_same(how, factor, verdict):
    rng = np.random.default_rng(0)
    p, D = np.float32(rng.uniform(0.95, 0.99, 40)), np.float32(rng.normal(size=(40, 40)) / 6)
    f = insisting(lambda p: D @ np.sqrt(1 - p))
    vjp = insisting(lambda p, u: factor * (D.T @ u) / -(2 * np.sqrt(1 - p)))
    u = np.float32(rng.normal(size=40))
    if how == "gradient":
        report = check_gradient(lambda p: np.float32(u @ f(p)), p, lambda p: vjp(p, u))
    else:
        report = check_vjp(f, p, lambda u, p: vjp(p, u))
    assert report.verdict == verdict, str(report)


def test_an_empty_input_has_no_rounding_to_measure():
    x, empty = np.float32([0.3, -1.2, 2.0]), np.zeros(0, np.float32)
    report = check_gradient(
        lambda x, empty: np.sum(np.sin(x)) + np.sum(empty),
        (x, empty),
        lambda x, empty: (2 * np.cos(x), np.ones_like(empty)),
    )
    assert report.verdict == "fail"
