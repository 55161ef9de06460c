"""The tolerance that would do: true, no wider than needed, and said where it is worth having."""

import numpy as np
import pytest

from gradcheck_ref.check import check_gradient, check_vjp
from gradcheck_ref.check.report.text import with_rtol

X = np.array([0.5, 1.0, 2.0])


def kernel(jitter, n=20):
    """Return a Gaussian kernel: symmetric, with a condition number of about n over the jitter."""
    t = np.linspace(0, 1, n)
    return np.exp(-0.5 * ((t[:, None] - t) / 0.3) ** 2) + jitter * np.eye(n)


def quadratic(K, factor=1.0, **knobs):
    """Check y' K^-1 y by y: with an ill-conditioned K f and gradient round differently."""
    y = np.sin(5 * np.linspace(0, 1, len(K)))
    return check_gradient(
        lambda y: y @ np.linalg.solve(K, y),
        y,
        lambda y: 2 * factor * np.linalg.solve(K, y),
        **knobs,
    )


def test_the_report_says_to_how_many_digits_analytic_and_numeric_agree():
    report = quadratic(kernel(1e-10))
    assert report.verdict == "fail"  # nothing that can be measured shows whose rounding it is
    text = " ".join(str(report).split())
    assert "analytic and numeric agree to 5 digits: all would pass with rtol=" in text
    wider = report.rtol_for_all
    assert quadratic(kernel(1e-10), rtol=1.01 * wider).verdict == "pass"
    assert quadratic(kernel(1e-10), rtol=wider / 2).verdict != "pass"


def test_a_symmetric_jacobian_that_is_right_to_two_digits_is_not_called_transposed():
    K = kernel(1e-8)
    f = lambda y: np.linalg.solve(K, y)  # noqa: E731
    report = check_vjp(f, np.sin(np.arange(20)), lambda u, y: np.linalg.solve(K.T, u))
    assert report.verdict == "fail"
    assert report.diagnoses == ()
    assert "would pass with rtol=" in str(report)
    assert "ill-conditioned" in str(report)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (lambda x: 3 * x**2 * (1 + 1.3e-5), "agree to 4 digits"),
        (lambda x: 3 * x**2 * np.array([1.0, 1.0, 1.0005]), "agree to 3 digits"),
        (lambda x: 3 * x**2 * 1.009, "agree to 2 digits"),
        (lambda x: 3 * x**2 * 1.03, None),
        (lambda x: 6 * x**2, None),
        (lambda x: -3 * x**2, None),
        (lambda x: np.array([0.75, np.nan, 12.0]), None),
        (lambda x: np.array([0.75, 3.0]), None),
    ],
    ids=["1.3e-5", "5e-4", "0.9 %", "3 %", "twice", "minus", "nan", "shape"],
)
def test_a_claim_that_is_far_off_agrees_to_no_digits(claim, said):
    report = check_gradient(lambda x: np.sum(x**3), X, claim(X))
    assert report.verdict == "fail"
    text = str(report).replace("\n", " ")
    assert ("agree to" in text) == (said is not None)
    assert said is None or said in text
    if said:
        wider = report.rtol_for_all
        assert check_gradient(lambda x: np.sum(x**3), X, claim(X), rtol=1.01 * wider)


def test_the_advised_rtol_covers_only_the_error_beyond_the_given_atol():
    g = 3 * X**2
    report = check_gradient(lambda x: np.sum(x**3), X, g + 2e-3, rtol=1e-6, atol=1e-3)
    wider = report.rtol_for({"wrong"})
    assert wider == pytest.approx(1e-3 / g.min(), rel=1e-3)
    assert check_gradient(lambda x: np.sum(x**3), X, g + 2e-3, rtol=1.01 * wider, atol=1e-3)


@pytest.mark.parametrize(
    ("rtol", "said"),
    [(2e-6, "rtol=2e-6"), (2.1e-6, "rtol=3e-6"), (9.5e-5, "rtol=1e-4"), (0.0, ""), (0.2, ""),
     (np.inf, ""), (np.nan, "")],
)  # fmt: skip
def test_the_report_states_agreement_down_to_one_digit(rtol, said):
    assert with_rtol(rtol) == said
