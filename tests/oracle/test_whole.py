"""The kind whole: its rule tells a wrong gradient where noise hides every entry."""

import numpy as np
import pytest

from gradcheck_ref.oracle.protocol import answer

STEPS = (0.2, 0.05)


def asked(factor, noise, seed=0):
    """Sample a linear f with noise along 60 lines of 100 entries, and claim a factor times it."""
    chance = np.random.default_rng(seed)
    gradient = chance.normal(size=100)
    lines = []
    for _ in range(60):
        slope = gradient @ chance.choice((-1.0, 1.0), 100)
        at = np.array([-1, 1]) * np.array(STEPS)[:, None]
        values = slope * at + noise * chance.normal(size=(2, 2))
        lines.append([repr(float(v)) for v in (factor * slope, *values.ravel())])
    return {"ask": "whole", "steps": list(map(repr, STEPS)), "lines": lines}


@pytest.mark.parametrize(("factor", "error"), [(1.0, 0.0), (1.1, 0.1 / 1.1), (2.0, 0.5)])
def test_the_error_of_the_whole_is_seen_through_noise(factor, error):
    for seed in range(5):
        told = answer(asked(factor, 0.05, seed))
        square, spread = float(told["error"]) ** 2, float(told["spread"])
        assert abs(square - error**2) <= 4 * spread
        assert spread < 1e-3 + error**2 / 4


def test_squares_at_one_step_would_take_noise_for_an_error():
    told = answer(asked(1.0, 1.0))
    lines = np.array(asked(1.0, 1.0)["lines"], float)
    residual = lines[:, 0] - (lines[:, 4] - lines[:, 3]) / (2 * STEPS[1])
    at_one_step = np.mean(residual**2) / np.mean(lines[:, 0] ** 2)
    assert at_one_step > 20 * float(told["error"]) ** 2
