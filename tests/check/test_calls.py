"""What keeps state is told from what is random, however often and wherever it is asked again."""

import itertools

import numpy as np
import pytest
from energies import VECTOR as X

from gradcheck_ref.check import check_vjp

A = np.array([[1.2, -0.7, 0.4], [0.3, 0.9, -1.1], [0.8, 0.5, 1.6]])
SINH = (np.sinh, X, lambda u, x: u * np.cosh(x))
LAYER = (lambda x: np.sinh(A @ x), X[:3], lambda u, x: A.T @ (u * np.cosh(A @ x)))


def adds_up(right):
    total = np.zeros(1)

    def vjp(u, x):
        nonlocal total
        total = total + right(u, x)
        return total

    return vjp


def adds_up_for_each_output(right):
    totals = {}

    def vjp(u, x):
        key = u.tobytes()
        totals[key] = totals.get(key, 0) + right(u, x)
        return totals[key]

    return vjp


def frees_its_buffers(right):
    calls = itertools.count()
    return lambda u, x: right(u, x) * (next(calls) < 1)


def fades(right):
    calls = itertools.count()
    return lambda u, x: right(u, x) * 0.5 ** next(calls)


def returns_the_first_again(right):
    kept = []

    def vjp(u, x):
        kept.append(right(u, x))
        return kept[0]

    return vjp


def is_random(size):
    def spoil(right):
        rng = np.random.default_rng(1)
        return lambda u, x: right(u, x) * (1 + rng.uniform(-size, size, x.shape))

    return spoil


# id: what is wrong, kind, what must be said
STATES = {
    "adds-up": (adds_up, "accumulated", "right at the first call, and "),
    "adds-up-for-each-output": (
        adds_up_for_each_output, "accumulated", "a later call gives 2 x the result of the first"),
    "frees-its-buffers": (frees_its_buffers, "accumulated", "right at the first call, and wrong"),
    "fades": (fades, "accumulated", "right at the first call, and "),
    "hands-out-the-first": (
        returns_the_first_again, "accumulated", "right at the first call, and the same"),
    "a-little-random": (is_random(1e-3), "noisy", "two calls give different values"),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("spoil", "kind", "said"), STATES.values(), ids=STATES)
@pytest.mark.parametrize(("f", "x", "right"), [SINH, LAYER], ids=["elementwise", "layer"])
def test_state_is_distinguished_from_noise_by_asking_again(f, x, right, spoil, kind, said):
    assert check_vjp(f, x, right).verdict == "pass"
    report = check_vjp(f, x, spoil(right))
    assert (report.verdict, report.diagnoses[0].kind) == ("fail", kind)
    assert said in report.diagnoses[0].sentence


@pytest.mark.parametrize("kept", [1.0, 2.0], ids=["a-mask", "dropout"])
@pytest.mark.parametrize("seed", range(3))
def test_a_random_mask_that_agrees_by_chance_is_not_state(seed, kept):
    rng = np.random.default_rng(seed)
    x = np.linspace(0.3, 2.0, 12)

    def masked(u, x):
        return u * np.cosh(x) * (rng.random(12) < 0.5) * kept

    kinds = {found.kind for found in check_vjp(np.sinh, x, masked).diagnoses}
    assert "accumulated" not in kinds
