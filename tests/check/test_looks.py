"""Lengths of errors from products of residuals: the bounds hold, and other claims are judged."""

import numpy as np
import pytest

from gradcheck_ref.check.judge.looks import CHANCE, Look, Looks, proof, quantiles
from gradcheck_ref.check.measure.dithered import Dithered
from gradcheck_ref.structure.inputs import Inputs

A = np.linspace(0.5, 1.5, 30)


def looks_of(gradient, claim, noise, count=40, upstreams=0):
    """Return looks at a linear function of 30 numbers, whose slopes have some noise."""
    inputs, rng = Inputs(lambda x: x, A), np.random.default_rng(2)
    lines = [Dithered(inputs, 0, 30, (0, k)) for k in range(count)]
    at = []
    for t in (0.25, 0.0625):
        slopes = np.array([line.product(gradient, t) for line in lines])
        slopes = slopes + noise * rng.normal(size=slopes.shape)
        claimed = np.array([line.product(claim, t) for line in lines])
        steps = np.full(count, t)
        at.append(Look(claimed, slopes, np.zeros(slopes.shape), steps, np.zeros(1)))
    return Looks(lines, at, np.ones(1), np.zeros(1), [slice(0, 1)], upstreams)


@pytest.mark.parametrize("wrong", [0.0, 0.3, 1.0])
def test_the_error_is_measured_through_noise_as_large_as_the_slopes(wrong):
    gradient = np.linspace(-1.0, 1.0, 30)[:, None]
    seen = looks_of(gradient, (1 + wrong) * gradient, noise=0.5)
    found = seen.square(slice(0, 1))
    length = float(np.sum((gradient[:, 0] * A) ** 2))
    assert found.error / length == pytest.approx(wrong**2, abs=0.15 + 0.3 * wrong)
    assert found.limit(seen.quantiles[0]) >= wrong**2 * length


def test_other_claims_are_judged_along_the_same_lines():
    gradient = np.linspace(-1.0, 1.0, 30)[:, None]
    seen = looks_of(gradient, 2 * gradient, noise=1e-3)
    right, wrong = seen.claimed(gradient), seen.claimed(2 * gradient)
    assert np.array_equal(wrong, [look.claimed for look in seen.at])
    errors = [seen.square(slice(0, 1), claimed=claimed).error for claimed in (right, wrong)]
    assert abs(errors[0]) < 1e-5 * errors[1]
    # The rows of a claim may be those of one input only.
    part = np.zeros((40, 1))
    part[10:] = gradient
    assert np.array_equal(seen.claimed(part[10:]), right)


@pytest.mark.parametrize(("lines", "upstreams"), [(40, 0), (10, 0), (40, 20)])
def test_quantiles_hold_for_sums_with_random_signs(lines, upstreams):
    """For an error of rank one, which combinations of the outputs show least evenly."""
    rng, trials = np.random.default_rng(0), 4000
    a, b = rng.normal(size=50), rng.normal(size=30)
    along = rng.choice([-1.0, 1.0], size=(trials, lines, 50)) @ (a / np.linalg.norm(a))
    squares = np.mean(along**2, axis=1)
    if upstreams:
        across = rng.choice([-1.0, 1.0], size=(trials, upstreams, 30)) @ (b / np.linalg.norm(b))
        squares = squares * np.mean(across**2, axis=1)
    low, high = quantiles(lines, upstreams)
    assert np.mean(squares < low) <= 4e-3
    assert np.mean(squares > high) <= 4e-3


ERRORS = {
    "one entry": lambda rng: np.eye(1, 60)[0],
    "two entries": lambda rng: np.eye(1, 60)[0] + np.eye(1, 60, 1)[0],
    "all entries": lambda rng: rng.normal(size=60),
    "halves": lambda rng: 2.0 ** -np.arange(60),
}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("lines", [20, 40])
def test_what_is_proved_holds_for_any_error(kind, lines):
    rng, factor = np.random.default_rng(0), proof(lines)
    a = ERRORS[kind](rng)
    moves = rng.choice([-1.0, 1.0], size=(4000, lines, 60)) * rng.uniform(0.5, 1.5, size=(1, 1, 60))
    largest = np.abs(moves @ a).max(axis=1)
    length = np.linalg.norm(a) * (13 / 12) ** 0.5
    assert np.mean(factor * largest < length * 0.5) <= CHANCE
    assert proof(20) == pytest.approx(4, rel=0.02)
    assert proof(5) == np.inf
