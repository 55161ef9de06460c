"""What the README says of a network of a million weights: its evaluations, and its entries."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient

SHAPES = {"W1": (1034, 1000), "b1": (1000,), "W2": (1000, 5), "b2": (5,)}


def network(seed):
    """Return a loss of a two-layer tanh network, its gradient, and the weights."""
    rng = np.random.default_rng(seed)
    data, target = rng.normal(size=(8, 1034)), rng.normal(size=(8, 5))
    point = {
        name: rng.normal(size=shape) / (shape[0] ** 0.5 if len(shape) == 2 else 10)
        for name, shape in SHAPES.items()
    }

    def loss(W1, b1, W2, b2):
        return np.mean((np.tanh(data @ W1 + b1) @ W2 + b2 - target) ** 2)

    def gradient(W1, b1, W2, b2, factor=1):
        hidden = np.tanh(data @ W1 + b1)
        error = 2 * (hidden @ W2 + b2 - target) / target.size
        back = (error @ W2.T) * (1 - hidden * hidden)
        found = {"W1": data.T @ back, "b1": back.sum(0), "W2": hidden.T @ error, "b2": error.sum(0)}
        found["W1"][17, 42] *= factor
        return found

    return loss, gradient, point


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_million_weights_take_170_evaluations_and_a_doubled_entry_220(seed):
    loss, gradient, point = network(seed)
    report = check_gradient(loss, point, gradient, seed=seed)
    assert (report.verdict, report.entries) == ("pass", 1_040_005)
    assert 160 <= report.evaluations <= 185
    assert 0.95 <= report.certificate.vouched / report.entries <= 0.995
    assert report.certificate.within <= 1e-6

    report = check_gradient(loss, point, lambda **p: gradient(**p, factor=2), seed=seed)
    assert (report.verdict, report.worst.name) == ("fail", "W1[17, 42]")
    assert 210 <= report.evaluations <= 230
