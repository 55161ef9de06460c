"""What is allowed by default, and the tolerance that would do: true, and no wider than needed."""

import numpy as np
import pytest

from gradcheck_ref.check import check_gradient, check_vjp

X = np.array([0.5, 1.0, 2.0])


@pytest.mark.parametrize(
    ("dtype", "rtol"), [("f8", 1e-6), ("g", 1e-6), ("f4", 8.7e-4), ("f2", 0.1)]
)
def test_the_default_rtol_fits_the_dtype(dtype, rtol):
    x = X.astype(dtype)
    report = check_gradient(lambda x: np.sum(np.sin(x)), x, np.cos(x))
    assert report.rtol == pytest.approx(rtol, rel=0.01)
    assert report.verdict == "pass"
    assert check_gradient(lambda x: np.sum(np.sin(x)), x, 2 * np.cos(x)).verdict == "fail"


def kernel(jitter, n=20):
    """Return a Gaussian kernel: symmetric, with a condition number of about n over the jitter."""
    t = np.linspace(0, 1, n)
    return np.exp(-0.5 * ((t[:, None] - t) / 0.3) ** 2) + jitter * np.eye(n)


def test_a_symmetric_jacobian_that_is_right_to_two_digits_is_not_called_transposed():
    K = kernel(1e-8)
    f = lambda y: np.linalg.solve(K, y)  # noqa: E731
    report = check_vjp(f, np.sin(np.arange(20)), lambda u, y: np.linalg.solve(K.T, u))
    assert report.verdict == "fail"
    assert report.diagnoses == ()
    assert "ill-conditioned" in str(report)


@pytest.mark.parametrize(
    ("factor", "said"),
    [(1 + 1.3e-5, "agree to 4 digits"), (np.array([1, 1, 1.0005]), "agree to 3 digits"),
     (1.009, "agree to 2 digits"), (1.03, None), (2.0, None), (-1.0, None),
     (np.array([1, np.nan, 1]), None)],
    ids=["1.3e-5", "5e-4", "0.9 %", "3 %", "twice", "minus", "nan"],
)  # fmt: skip
def test_a_claim_that_is_far_off_agrees_to_no_digits(factor, said):
    report = check_gradient(lambda x: np.sum(x**3), X, 3 * X**2 * factor)
    assert report.verdict == "fail"
    text = " ".join(str(report).split())
    assert ("agree to" in text) == (said is not None)
    if said:
        assert f"analytic and numeric {said}: all would pass with rtol=" in text
        for wider, passes in (1.01 * report.rtol_for_all, True), (report.rtol_for_all / 2, False):
            other = check_gradient(lambda x: np.sum(x**3), X, 3 * X**2 * factor, rtol=wider)
            assert bool(other) == passes


def test_the_advised_rtol_covers_only_the_error_beyond_the_given_atol():
    g = 3 * X**2
    report = check_gradient(lambda x: np.sum(x**3), X, g + 2e-3, rtol=1e-6, atol=1e-3)
    wider = report.rtol_for({"wrong"})
    assert wider == pytest.approx(1e-3 / g.min(), rel=1e-3)
    assert check_gradient(lambda x: np.sum(x**3), X, g + 2e-3, rtol=1.01 * wider, atol=1e-3)
