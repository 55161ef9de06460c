"""Mistakes planted into a claim, and what the check says when they are made in earnest."""

import functools
from functools import partial

import numpy as np
import pytest

from gradcheck_ref import (
    assert_gradient,
    assert_jvp,
    assert_vjp,
    central_difference,
    check_gradient,
)
from gradcheck_ref.check.hides.running import running
from gradcheck_ref.check.mistakes.gradient import Gradient
from gradcheck_ref.check.mistakes.numbers import SLIGHT
from gradcheck_ref.check.mistakes.table import MISTAKES

# Of both signs: a gradient that is positive everywhere cannot show that its sign is lost.
X, W = np.array([0.5, 1.0, -2.0]), np.random.default_rng(0).normal(size=(3, 3))
LARGE = np.random.default_rng(0).normal(size=(20, 20))


@pytest.fixture(autouse=True)
def no_audit():
    """End the audit of a test."""
    yield
    running().asserted = None


def quartic(x):
    return np.sum(x**4)


def square_of_sum(a, b):
    return np.sum((a + b) ** 2)


def missed(assertion, *arguments, **knobs):
    """Return which mistakes an assertion would have let pass, and why."""
    asserted = []
    running().asserted = asserted
    assertion(*arguments, unsure="pass", **knobs)
    (report,) = asserted
    assert report.planted
    return {
        f"{one.mistake} in {one.input}" if one.input else one.mistake: one.why
        for one in report.planted
        if one.why
    }


EVERY = [
    *("the wrong sign", "the sign lost", "a factor of 2", "zeros", "slices moved by one"),
    *("one entry left at 0", SLIGHT),
]
# What passes as well where a gradient is the same when its two axes change places, or constant.
SYMMETRIC = {"a transposition": "the point"}
CONSTANT = dict.fromkeys(["the sign lost", "slices moved by one"], "the point")
CONFUSED = [f"the gradient of another input in {name}" for name in "ab"]

# What is checked, and what would have passed as well.
CASES = {
    "nothing is special": ((quartic, X, 4 * X**3), {}, {}),
    "a large rtol": ((quartic, X, 4 * X**3), {"rtol": 1e-2}, {SLIGHT: "the tolerance"}),
    "a gradient of zeros": (
        (lambda x: np.sum(x) * 0, X, 0 * X),
        {},
        dict.fromkeys(EVERY, "the point"),
    ),
    "positive everywhere": ((np.sum, np.exp(X), np.ones(3)), {}, CONSTANT),
    "one number": ((quartic, 0.7, 4 * 0.7**3), {}, {"the sign lost": "the point"}),
    "not symmetric": ((quartic, W, 4 * W**3), {}, {}),
    "symmetric": ((quartic, W + W.T, 4 * (W + W.T) ** 3), {}, SYMMETRIC),
    "symmetric, by lines": ((quartic, LARGE + LARGE.T, 4 * (LARGE + LARGE.T) ** 3), {}, SYMMETRIC),
    "an input without effect": (
        (lambda a, b: np.sum(a**2) + 0 * b[0], (X, X), (2 * X, 0 * X)),
        {},
        dict.fromkeys([f"{mistake} in b" for mistake in EVERY], "the point"),
    ),
    "equal gradients": (
        (square_of_sum, {"a": X, "b": 2 * X}, {"a": 6 * X, "b": 6 * X}),
        {},
        dict.fromkeys(CONFUSED, "the point"),
    ),
    "complex numbers that are real": (
        (lambda z: np.sum(np.abs(z) ** 2), X.astype(complex), 2 * X),
        {},
        {"a conjugate": "the point"},
    ),
    "complex numbers": ((lambda z: np.sum(np.abs(z) ** 2), X + 1j * X**2, lambda z: 2 * z), {}, {}),
    "a kink": (
        (lambda x: np.sum(np.abs(x)), np.zeros(2), np.array([0.5, -0.3])),
        {},
        dict.fromkeys(EVERY, "the error bars"),
    ),
    "no entry": (
        (lambda x: np.sum(x), np.zeros(0), np.zeros(0)),
        {},
        {"any mistake": "nothing to compare"},
    ),
    "a relative error that float16 rounds away": (
        (lambda x: np.sum(x * x), X.astype(np.float16), 2 * X),
        {},
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_audit_lists_the_mistakes_that_a_check_would_miss(name):
    arguments, knobs, expected = CASES[name]
    assert missed(assert_gradient, *arguments, **knobs) == expected


def times(factor, tangent, x):
    return factor * tangent * np.cos(x)


PRODUCTS = {
    "vjp": (assert_vjp, np.sin, X, partial(times, 1)),
    "jvp": (assert_jvp, np.sin, X, partial(times, 1)),
    "vjp, by lines": (assert_vjp, np.sin, LARGE, partial(times, 1)),
    "jvp, by lines": (assert_jvp, np.sin, LARGE, partial(times, 1)),
    "vjp of combinations": (assert_vjp, np.sin, np.tile(LARGE, (2, 3)), partial(times, 1)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_at_a_good_point_misses_nothing(name):
    assert missed(*PRODUCTS[name]) == {}


@pytest.mark.parametrize("name", ["vjp", "jvp", "vjp, by lines", "jvp, by lines"])
def test_a_product_with_a_large_rtol_misses_the_small_error(name):
    assert missed(*PRODUCTS[name], rtol=1e-2) == {SLIGHT: "the tolerance"}


def test_an_upstream_that_is_ignored_is_hidden_by_a_gradient_of_zeros():
    assert "upstream ignored" in missed(
        assert_vjp, lambda x: 0 * x + 1, X, lambda upstream, x: 0 * upstream
    )


def test_the_audit_calls_neither_f_nor_its_vjp():
    calls = []

    def counted(function, *arguments):
        calls.append(function)
        return function(*arguments)

    given = partial(counted, np.sin), LARGE, partial(counted, partial(times, 1))
    assert_vjp(*given)
    without, calls = calls, []
    assert missed(assert_vjp, *given) == {}
    assert len(calls) == len(without)


def test_nothing_is_planted_without_an_audit():
    running().asserted = None
    assert assert_gradient(quartic, X, 4 * X**3).planted == ()


def test_nothing_is_planted_into_a_wrong_gradient():
    asserted = []
    running().asserted = asserted
    with pytest.raises(AssertionError) as caught:
        assert_gradient(quartic, X, 2 * X**2)
    assert caught.value.report.planted == ()
    assert asserted == []


# --- several checks of one function -----------------------------------------------------------


def power(p):
    return lambda x: np.sum(x**p)


def wrapped(f, wraps=lambda inner: inner):
    return wraps(lambda x: f(x))


def again_and_again(p):
    def f(x, times=2):
        return np.sum(x**p) if times == 0 else f(x, times - 1)

    return f


class Model:
    __hash__ = None  # as of a dataclass

    def __init__(self, weight, power=2):
        self.weight, self.power = weight, power

    def __call__(self, x):
        return np.sum(self.weight * x**self.power)

    def loss(self, x):
        return self(x) / 2


def raised(x, p):
    return np.sum(x**p)


two, three = (lambda x: np.sum(x**2), lambda x: np.sum(x**3))  # in one line

SAME = {
    "a lambda in a loop": (power(2), power(2)),
    "a function that calls itself": (again_and_again(2), again_and_again(2)),
    "a function with a decorator": (two, wrapped(two, functools.wraps(two))),
    "objects with floats": (Model(1.0), Model(2.0)),
    "partials": (partial(raised, p=2), partial(raised, p=2)),
    "a function of NumPy": (np.sum, np.sum),
}
DIFFERENT = {
    "made by a factory": (power(2), power(3)),
    "in one line": (two, three),
    "in the same wrapper": (wrapped(two), wrapped(three)),
    "methods of one object": (Model(1.0).loss, Model(1.0).__call__),
    "partials": (partial(raised, p=2), partial(raised, p=3)),
    "functions of NumPy": (np.sum, np.prod),
}


def functions(*fs):
    """Return what an audit takes for the functions that were checked."""
    asserted = []
    running().asserted = asserted
    for f in fs:
        assert_gradient(f, X, central_difference(f, X, h=1e-5), rtol=1e-3)
    return {report.planted[0].function for report in asserted}


@pytest.mark.parametrize("fs", SAME.values(), ids=SAME)
def test_a_function_that_is_defined_again_is_the_same(fs):
    assert len(functions(*fs)) == 1


@pytest.mark.parametrize("fs", DIFFERENT.values(), ids=DIFFERENT)
def test_functions_that_compute_something_else_are_different(fs):
    assert len(functions(*fs)) == 2


# Both sizes of f, one by axes and one by lines; both tolerances, one of which lets 1e-3 pass.
@pytest.mark.parametrize("rtol", [1e-6, 3e-3])
@pytest.mark.parametrize("x", [X, LARGE], ids=["by axes", "by lines"])
def test_the_check_gives_the_same_verdict_on_real_mistakes(x, rtol):
    let_pass = missed(assert_gradient, quartic, x, 4 * x**3, rtol=rtol)
    right = Gradient("x", 4 * x[..., None] ** 3, x)
    wrong = {one.planted: one.make(right) for one in MISTAKES if one.make}
    made = {planted: claim[..., 0] for planted, claim in wrong.items() if claim is not None}
    assert made.keys() >= set(EVERY)
    for planted, claim in made.items():
        verdict = check_gradient(quartic, x, claim, rtol=rtol).verdict
        assert (verdict == "fail") == (planted not in let_pass), planted
