"""Mistakes planted into a claim, and what the check says when they are made in earnest."""

import functools
import itertools
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gradcheck_ref import assert_gradient, assert_jvp, assert_vjp, check_gradient
from gradcheck_ref import central_difference as slopes
from gradcheck_ref.check.hides.running import running
from gradcheck_ref.check.mistakes.gradient import Gradient
from gradcheck_ref.check.mistakes.numbers import SLIGHT
from gradcheck_ref.check.mistakes.table import MISTAKES

# Of both signs: a gradient that is positive everywhere cannot show that its sign is lost.
X, W = np.array([0.5, 1.0, -2.0]), np.random.default_rng(0).normal(size=(3, 3))
LARGE = np.random.default_rng(0).normal(size=(12, 12))


@pytest.fixture
def audit():
    """Begin an audit, as the pytest plugin does, and return the reports of its assertions."""
    running().asserted = []
    yield running().asserted
    running().asserted = None


def missed(report):
    """Return which mistakes an assertion would have let pass, and why."""
    assert report.planted
    return {
        f"{one.mistake} in {one.input}" if one.input else one.mistake: one.why
        for one in report.planted
        if one.why
    }


def quartic(x):
    return np.sum(x**4)


def of_quartic(x):
    return 4 * x**3


def absolute_squares(z):
    return np.sum(np.abs(z) ** 2)


EVERY = ["the wrong sign", "the sign lost", "a factor of 2", "zeros", "slices moved by one"]
EVERY += ["one entry left at 0", SLIGHT]


def because(why, mistakes):
    return dict.fromkeys(mistakes, why)


of_a_point = partial(because, "the point")

# What is checked, and what would have passed as well.
CASES = {
    "nothing is special": ((quartic, W, of_quartic), {}),
    "complex numbers": ((absolute_squares, X + 1j * X**2, lambda z: 2 * z), {}),
    "an error that float16 rounds away": ((lambda x: np.sum(x * x), np.float16(X), 2 * X), {}),
    "a gradient of zeros": ((lambda x: np.sum(x) * 0, X, 0 * X), of_a_point(EVERY)),
    "positive everywhere": (
        (np.sum, np.exp(X), np.ones(3)), of_a_point(["the sign lost", "slices moved by one"])),
    "one number": ((quartic, 0.7, of_quartic), of_a_point(["the sign lost"])),
    "symmetric": ((quartic, W + W.T, of_quartic), of_a_point(["a transposition"])),
    "symmetric, by lines": (
        (quartic, LARGE + LARGE.T, of_quartic), of_a_point(["a transposition"])),
    "an input without effect": (
        (lambda a, b: np.sum(a**2) + 0 * b[0], (X, X), (2 * X, 0 * X)),
        of_a_point(f"{mistake} in b" for mistake in EVERY)),
    "equal gradients": (
        (lambda a, b: np.sum((a + b) ** 2), (X, 2 * X), (6 * X, 6 * X)),
        of_a_point(f"the gradient of another input in {name}" for name in "ab")),
    "complex numbers that are real": (
        (absolute_squares, X.astype(complex), 2 * X), of_a_point(["a conjugate"])),
    "a kink": (
        (lambda x: np.sum(np.abs(x)), np.zeros(2), np.array([0.5, -0.3])),
        because("the error bars", EVERY)),
    "no entry": (
        (np.sum, np.zeros(0), np.zeros(0)), because("nothing to compare", ["any mistake"])),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), CASES.values(), ids=CASES)
def test_the_audit_lists_the_mistakes_that_a_check_would_miss(audit, arguments, expected):
    assert_gradient(*arguments, unsure="pass")
    assert missed(*audit) == expected


def times_cosine(vector, x):
    return vector * np.cos(x)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rtol", [None, 1e-2])
@pytest.mark.parametrize("assertion", [assert_vjp, assert_jvp])
@pytest.mark.parametrize("x", [X, LARGE], ids=["by axes", "by lines"])
def test_a_product_with_a_large_rtol_misses_the_small_error(audit, x, assertion, rtol):
    assertion(np.sin, x, times_cosine, rtol=rtol)
    assert missed(*audit) == (because("the tolerance", [SLIGHT]) if rtol else {})


def test_an_upstream_that_is_ignored_is_hidden_by_a_gradient_of_zeros(audit):
    assert_vjp(lambda x: 0 * x + 1, X, lambda upstream, x: 0 * upstream)
    assert "upstream ignored" in missed(*audit)


def test_the_audit_calls_neither_f_nor_its_vjp(audit):
    calls = []

    def counted(function, *arguments):
        calls.append(function)
        return function(*arguments)

    counts = []
    for asserted in (None, audit):
        running().asserted = asserted
        assert_vjp(partial(counted, np.sin), LARGE, partial(counted, times_cosine))
        counts.append(len(calls))
    assert counts[1] == 2 * counts[0]


def test_nothing_is_planted_without_an_audit():
    assert assert_gradient(quartic, X, of_quartic).planted == ()


def test_nothing_is_planted_into_a_wrong_gradient(audit):
    with pytest.raises(AssertionError) as caught:
        assert_gradient(quartic, X, 2 * X**2)
    assert caught.value.report.planted == ()
    assert audit == []


# --- several checks of one function -----------------------------------------------------------


def power(p):
    return lambda x: np.sum(x**p)


def wrapped(f, wraps=lambda inner: inner):
    return wraps(lambda x: f(x))


def again_and_again():
    def f(x, times=2):
        return np.sum(x**2) if times == 0 else f(x, times - 1)

    return f


class Model:
    __hash__ = None  # as of a dataclass

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        return np.sum(self.weight * x**2)

    def loss(self, x):
        return self(x) / 2


def raised(x, p):
    return np.sum(x**p)


two, three = (lambda x: np.sum(x**2), lambda x: np.sum(x**3))  # in one line

# id: two functions, and for how many they count
FUNCTIONS = {
    "a lambda in a loop": (power(2), power(2), 1),
    "a function that calls itself": (again_and_again(), again_and_again(), 1),
    "a function with a decorator": (two, wrapped(two, functools.wraps(two)), 1),
    "objects with floats": (Model(1.0), Model(2.0), 1),
    "made by a factory": (power(2), power(3), 2),
    "in one line": (two, three, 2),
    "in the same wrapper": (wrapped(two), wrapped(three), 2),
    "methods of one object": (Model(1.0).loss, Model(1.0).__call__, 2),
    "partials": (partial(raised, p=2), partial(raised, p=3), 2),
    "functions of NumPy": (np.sum, np.prod, 2),
}


@pytest.mark.parametrize(("one", "another", "count"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_that_is_defined_again_is_the_same(audit, one, another, count):
    for f in (one, another):
        assert_gradient(f, X, slopes(f, X, h=1e-5), rtol=1e-3)
    assert len({report.planted[0].function for report in audit}) == count


# --- the mistakes themselves ------------------------------------------------------------------

MADE = [mistake for mistake in MISTAKES if mistake.make]
# Some signs are a mistake in some entries. Of many, too few are measured on their axes.
LOOKS = {
    "the sign lost": {"some-entries", "single-entries", "none"},
    "one entry left at 0": {"single-entries", "row-or-column"},  # a region of one entry
}


def energy(M, N, z):
    """Depend on two matrices and on complex numbers, with gradients of both signs."""
    return np.sum(np.sin(M) * N**2) + np.sum((np.abs(z) ** 4 + (z**3).real) * M[:, :2])


def gradients(M, N, z):
    of_M = np.cos(M) * N**2
    of_M[:, :2] += np.abs(z) ** 4 + (z**3).real
    of_z = (4 * np.abs(z) ** 2 * z + 3 * np.conj(z) ** 2) * M[:, :2]
    return {"M": of_M, "N": 2 * N * np.sin(M), "z": of_z}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", [3, 12])  # axes, and lines
@pytest.mark.parametrize("rtol", [1e-6, 3e-3])  # one of the tolerances lets 1e-3 pass
def test_a_mistake_made_in_earnest_gets_the_verdict_of_the_audit_and_its_name(audit, n, rtol):
    M, N, a, b = np.random.default_rng(0).normal(size=(4, n, n))
    point = {"M": M, "N": N, "z": a[:, :2] + 1j * b[:, :2]}
    right = gradients(**point)
    assert_gradient(energy, point, right, rtol=rtol)
    let_pass = missed(*audit)
    for mistake, name in itertools.product(MADE, point):
        others = {one: (point[one], right[one][..., None]) for one in point if one != name}
        made = mistake.make(Gradient(name, right[name][..., None], point[name], others=others))
        if made is None:
            continue
        report = check_gradient(energy, point, right | {name: made[..., 0]}, rtol=rtol)
        planted = f"{mistake.planted} in {name}"
        assert (report.verdict == "fail") == (planted not in let_pass), planted
        if report.verdict == "fail":
            (kind,) = [found.kind for found in report.diagnoses] or ["none"]
            assert kind in LOOKS.get(mistake.planted, {mistake.kind}), planted
    assert all((right[name] == gradient).all() for name, gradient in gradients(**point).items())


def test_a_planted_mistake_is_explained_on_the_page():
    page = (Path(__file__).parents[2] / "docs/check/audit.md").read_text(encoding="utf-8")
    listed = " ".join(page.split("## The mistakes")[1].split("## ")[0].split())
    assert [mistake.planted for mistake in MADE if mistake.planted not in listed] == []
