"""A solver inside of f is named, and a small term that is missing is not called a solver."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient
from gradcheck_ref.check.judge.jumps import CLOSER, NEW, POINTS
from gradcheck_ref.check.measure.long_look import LOOK

X = np.array([0.3, 0.9, -0.4])


def fixed_point(x, tolerance):
    """Solve y = 0.6 cos y + x by iteration."""
    y = np.zeros_like(x)
    while True:
        y, before = 0.6 * np.cos(y) + x, y
        if np.abs(y - before).max() < tolerance:
            return y


def explicit_euler(p, tolerance):
    """Solve y' = -p0 y + p1 from 0 to 2, with steps that depend on the tolerance."""
    t, y = 0.0, 1.0
    while t < 2:
        slope = p[1] - p[0] * y
        h = min(2 - t, np.round(np.sqrt(2 * tolerance / abs(p[0] * slope)), 3))
        t, y = t + h, y + h * slope
    return y


def exact(p):
    return p[1] / p[0] + (1 - p[1] / p[0]) * np.exp(-2 * p[0])


def slopes_of(f, x, h=1e-3):
    """Return the gradient of a smooth function to ten digits."""
    steps = h * np.eye(x.size)
    return np.array([(8 * (f(x + s) - f(x - s)) - f(x + 2 * s) + f(x - 2 * s)) for s in steps]) / (
        12 * h
    )


SOLVED = fixed_point(X, 1e-15)
RIGHT = 2 * SOLVED / (1 + 0.6 * np.sin(SOLVED))
P = np.array([0.8, 0.3])

STOPS = {
    "iteration": (lambda x: np.sum(fixed_point(x, 1e-4) ** 2), X, RIGHT),
    "steps of a solver": (lambda p: explicit_euler(p, 1e-4), P, slopes_of(exact, P)),
}


@pytest.mark.parametrize(("f", "x", "right"), STOPS.values(), ids=STOPS)
def test_a_solver_that_stops_at_a_tolerance_is_named(f, x, right):
    report = check_gradient(f, x, right)
    assert report.verdict == "fail"  # it is not the gradient of what f computes
    assert [one.kind for one in report.diagnoses] == ["tolerance"]
    said = report.text(1000)
    assert "does f stop at a tolerance (a solver, an integral, an iteration)?" in said
    assert "small term" not in said


def test_a_tight_tolerance_passes():
    assert check_gradient(lambda x: np.sum(fixed_point(x, 1e-13) ** 2), X, RIGHT).verdict == "pass"


FAST = {
    "quartic": lambda x: np.sum(x**4),
    "wave": lambda x: np.sum(np.sin(20 * x)) / 20,
    "kink": lambda x: np.sum(np.abs(x - 0.31)),
    "sharp bend": lambda x: np.sum(np.sqrt((x - 0.31) ** 2 + 1e-8)),
}


@pytest.mark.parametrize("size", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("term", FAST.values(), ids=FAST)
def test_a_small_term_that_is_missing_is_no_solver(term, size):
    report = check_gradient(lambda x: np.sum(np.sin(x)) + size * term(x), X, np.cos(X))
    assert report.verdict == "fail"
    assert "tolerance" not in [one.kind for one in report.diagnoses]
    assert size > 1e-3 or "is a small term of f missing" in report.text(1000)


def test_the_look_for_a_jump_is_rare_and_keeps_a_limit():
    f = STOPS["iteration"][0]
    usual = check_gradient(f, X, RIGHT).evaluations
    few = check_gradient(f, X, RIGHT, max_evaluations=60)
    assert few.evaluations <= 60
    assert not few.diagnoses
    assert usual - few.evaluations == LOOK + 2 * POINTS + CLOSER * NEW
    assert check_gradient(f, X, 2 * RIGHT).evaluations < usual


def test_an_f_with_few_digits_is_no_solver():
    report = check_gradient(lambda x: np.round(np.sum(np.sin(x)), 5), X, 1.02 * np.cos(X))
    assert report.verdict == "fail"
    assert "tolerance" not in [one.kind for one in report.diagnoses]
