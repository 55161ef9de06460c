"""Which entries, slices and inputs are wrong among many, within every budget."""

import numpy as np
import pytest
from corpus import many_entries, noise_and_few_digits
from edge_cases import Counted

from gradcheck_ref import check_gradient, check_jvp, check_vjp

RNG = np.random.default_rng(0)
X, WEIGHTS = RNG.normal(size=5000), RNG.normal(size=5000)


def f(x):
    return float(np.sum(WEIGHTS * np.sin(x)))


def blamed(report):
    """Return the coordinates that a report calls wrong, of its one input."""
    (pair,) = report.pairs
    return set(pair.rows[(pair.verdict == 2).any(axis=1)].tolist())


@pytest.mark.parametrize("at", [[2500], [17, 3170]], ids=["one", "two that cancel"])
def test_wrong_entries_among_thousands_are_named_and_no_others(at):
    g = WEIGHTS * np.cos(X)
    g[at] += [1, -1][: len(at)]
    report = check_gradient(f, X, g)
    assert report.verdict == "fail"
    assert blamed(report)
    assert blamed(report) <= set(at)
    # Of two wrong entries one is named, and the report does not say that it is the only one.
    assert len(at) == 1 or "only" not in str(report)


# --- several inputs, complex ones -------------------------------------------------------------


def layers(W, b, e, s, z):
    return float(np.sum(np.tanh(W) @ b) + s * np.sum(np.abs(z) ** 2) + np.sum(e))


POINT = (RNG.normal(size=(40, 30)), RNG.normal(size=30), np.zeros((0, 7)), 0.7,
         RNG.normal(size=60) + 1j * RNG.normal(size=60))  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("k", "index", "name"),
    [(0, (3, 29), "W[3, 29]"), (0, (39, 0), "W[39, 0]"), (1, 4, "b[4]"), (3, (), "s"),
     (4, 31, "the real part of z[31]"), (0, ..., "W"), (1, ..., "b"), (4, ..., "z")],
)  # fmt: skip
def test_a_wrong_entry_or_input_is_named(k, index, name):
    W, b, e, s, z = POINT
    grads = [b / np.cosh(W) ** 2, np.tanh(W).sum(axis=0), e, np.sum(np.abs(z) ** 2), 2 * s * z]
    grads[k] = np.array(grads[k])
    grads[k][index] += 1.0 if index is not ... else grads[k]
    report = check_gradient(layers, POINT, tuple(grads))
    assert report.verdict == "fail"
    assert name in report.worst.name
    wrong = [pair.input.name for pair in report.pairs if (pair.verdict == 2).any()]
    assert wrong == ["WbeszW"[k]]


# --- what is not said -------------------------------------------------------------------------

RIGHT = many_entries.of_energy(many_entries.GRID)


def two_slices():
    wrong = many_entries.spoilt(RIGHT, 3, (-1.0,))
    return many_entries.spoilt(wrong, np.s_[:, 8], (2.0,))


@pytest.mark.parametrize(
    "claim",
    [two_slices(), np.where(np.arange(64) % 2, RIGHT, 1.3 * RIGHT), np.cos(9 * RIGHT)],
    ids=["two slices", "every other column", "everywhere"],
)
def test_a_mistake_in_no_slice_is_not_called_one(claim):
    report = check_gradient(many_entries.energy, many_entries.GRID, claim)
    assert report.verdict == "fail"
    assert "all else is right" not in str(report)


def test_zeros_are_not_blamed_if_others_are_wrong_in_few_digits():
    layer, _ = noise_and_few_digits.rounding_layer("bfloat16")
    lost = noise_and_few_digits.without(np.s_[8:])

    def claim(*given):
        by_x, by_w = lost(*given)
        return 2 * by_x, by_w

    report = check_vjp(layer, noise_and_few_digits.SMALL, claim)
    assert report.verdict == "fail"
    assert not any("is zero" in one.sentence for one in report.diagnoses)


# --- budgets ----------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.parametrize("budget", [12, 60])
def test_a_budget_is_kept_and_every_evaluation_is_counted(budget):
    """What a check says within a budget, the corpus asks with fewer evaluations."""
    for size, outputs in ((3, 2), (150, 1), (40, 300)):
        A = np.random.default_rng(size).normal(size=(outputs, size))
        f = Counted(lambda x, A=A: A @ x)
        report = check_vjp(f, np.ones(size), lambda u, x, A=A: u @ A, max_evaluations=budget)
        assert f.calls == report.evaluations <= budget
        f.calls = 0
        report = check_jvp(f, np.ones(size), lambda t, x, A=A: 1.5 * A @ t, max_evaluations=budget)
        assert f.calls == report.evaluations <= budget
