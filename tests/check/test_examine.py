"""The order of events in a check: what is called when, and what is found out on the way."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp

# --- the order of calls -----------------------------------------------------------------------


class Log:
    """Writes down where f and the claims are called: at x, or elsewhere."""

    def __init__(self, x):
        self.x, self.calls = x.copy(), []

    def f(self, x):
        self.calls.append("x" if np.array_equal(x, self.x) else ".")
        return float(np.sum(np.sin(x)))

    def gradient(self, x):
        self.calls.append("g" if np.array_equal(x, self.x) else "h")
        return np.cos(x)


@pytest.mark.parametrize("size", [1, 5, 40, 300])
@pytest.mark.parametrize(
    ("check", "claim"),
    [(check_gradient, lambda log: log.gradient),
     (check_vjp, lambda log: lambda u, x: u * log.gradient(x)),
     (check_jvp, lambda log: lambda v, x: float(log.gradient(x) @ v))],
    ids=["gradient", "vjp", "jvp"],
)  # fmt: skip
def test_f_is_called_at_x_right_before_the_claims_are_asked_and_asked_again(check, claim, size):
    x = np.linspace(0.3, 2.0, size)
    log = Log(x)
    assert check(log.f, x, claim(log)).verdict == "pass"
    calls = "".join(log.calls)
    assert calls.startswith("x")
    first, last = calls.index("g"), calls.rindex(".")
    assert calls[first - 1] == "x"
    again = calls[last + 1 :]
    assert again.startswith("xg")
    assert set(again) == {"x", "g"}
    # Of a gradient and a vjp everything is asked at once.
    if check is not check_jvp:
        assert "g" not in calls[first:last].lstrip("g")


@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize("size", [3, 33, 60, 400])
def test_a_jvp_may_use_what_the_last_forward_pass_stored(size, factor):
    rng = np.random.default_rng([size, 1])
    W, x, kept = rng.normal(size=(3, size)), rng.normal(size=size), {}

    def f(x):
        kept["y"] = np.tanh(W @ x)
        return kept["y"].copy()

    def jvp(tangent, x):
        return factor * (1 - kept["y"] ** 2) * (W @ tangent)

    assert check_jvp(f, x, jvp).verdict == ("pass" if factor == 1 else "fail")
    for most in (20, 50, 57, 80):
        assert check_jvp(f, x, jvp, max_evaluations=most).evaluations <= most


# --- what does not fit ------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [40, 3000])
def test_a_nonfinite_entry_fails_and_is_named_among_thousands(bad, size):
    x = np.random.default_rng(0).normal(size=size)
    g = np.cos(x)
    g[size // 3] = bad
    report = check_gradient(lambda x: np.sum(np.sin(x)), x, g)
    assert (report.verdict, report.reason) == ("fail", "nonfinite")
    assert report.worst.name == f"x[{size // 3}]"
    assert report.evaluations < 2 * size or size <= 100


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(lambda g: g.T, "shape"), (lambda g: g.astype(complex), "dtype"), (lambda g: g[0], "shape")],
    ids=["transposed", "complex", "a row"],
)
def test_an_input_whose_gradient_does_not_fit_fails_without_evaluations(spoil, reason):
    W, b = np.random.default_rng(0).normal(size=(70, 50)), np.linspace(-1, 1, 50)
    grads = (spoil(np.cos(W)), 2 * b)
    report = check_gradient(lambda W, b: np.sum(np.sin(W)) + np.sum(b * b), (W, b), grads)
    assert (report.verdict, report.reason) == ("fail", reason)
    assert [fault.subject for fault in report.faults] == ["W"]
    assert report.evaluations < 300


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "fail"), (0.0, "pass")])
def test_none_for_an_input_is_judged_as_zeros_in_few_evaluations(factor, verdict):
    W, b = np.random.default_rng(0).normal(size=(70, 50)), np.linspace(-1, 1, 50)
    f = lambda W, b: factor * np.sum(np.sin(W)) + np.sum(b * b)  # noqa: E731
    report = check_gradient(f, (W, b), (None, 2 * b))
    assert report.verdict == verdict
    assert "gives None for W, which means a constant" in report.notes[0]
    assert report.evaluations < 450  # where it is wrong, what is wrong has to be found first


@pytest.mark.parametrize("size", [2, 40, 5000])
@pytest.mark.parametrize("check", [check_gradient, check_vjp, check_jvp])
def test_a_nonfinite_value_of_f_at_x_gives_no_verdict(check, size):
    claim = {
        check_gradient: np.ones(size),
        check_vjp: lambda u, x: u * np.ones(size),
        check_jvp: lambda v, x: np.sum(v),
    }[check]
    for bad in (np.nan, np.inf):
        report = check(lambda x, bad=bad: np.sum(x) + bad, np.ones(size), claim)
        assert (report.verdict, report.reason) == ("unsure", "nonfinite")
        assert report.evaluations < 300


# --- identities -------------------------------------------------------------------------------

NOT_LINEAR = {
    "clipped": lambda u: np.clip(u, -1, 1),
    "clipped far out": lambda u: np.clip(u, -100, 100),
    "squared": lambda u: u**2,
    "sign": np.sign,
    "absolute": np.abs,
    "left out": lambda u: np.ones_like(u),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("spoil", NOT_LINEAR.values(), ids=NOT_LINEAR)
@pytest.mark.parametrize("size", [1, 3, 40, 100])
@pytest.mark.parametrize("check", [check_vjp, check_jvp])
def test_a_product_that_is_not_linear_is_refused(check, size, spoil):
    x = np.random.default_rng(size).normal(size=size)
    assert check(np.sin, x, lambda given, x: spoil(given) * np.cos(x)).verdict == "fail"


# --- large Jacobians --------------------------------------------------------------------------


class Large:
    """x -> A sin(x) with so many outputs, and its products, which count their calls."""

    def __init__(self, outputs, inputs, seed=0):
        rng = np.random.default_rng(seed)
        self.A, self.x = rng.normal(size=(outputs, inputs)), rng.uniform(0.2, 1.2, inputs)
        self.wrong, self.vjps, self.jvps = self.A.copy(), 0, 0

    def f(self, x):
        return self.A @ np.sin(x)

    def vjp(self, u, x):
        self.vjps += 1
        return (u @ self.wrong) * np.cos(x)

    def jvp(self, v, x):
        self.jvps += 1
        return self.wrong @ (v * np.cos(x))


@pytest.mark.parametrize("shape", [(1100, 40), (500, 600)], ids=str)
def test_a_large_jacobian_is_held_in_few_calls(shape):
    large = Large(*shape)
    report = check_vjp(large.f, large.x, large.vjp)
    assert (report.verdict, report.entries) == ("pass", shape[0] * shape[1])
    assert large.vjps < 200
    assert report.evaluations < 200 or shape[1] < 100
    report = check_jvp(large.f, large.x, large.jvp)
    assert report.verdict == "pass"
    assert large.jvps < 200


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shape", [(1100, 40), (500, 600)], ids=str)
@pytest.mark.parametrize("factor", [1.01])
def test_one_wrong_entry_of_a_large_jacobian_is_named_with_its_output(shape, factor):
    large = Large(*shape, seed=1)
    j, i = 123, shape[1] - 5
    large.wrong[j, i] = factor * np.copysign(max(abs(large.A[j, i]), 0.7), large.A[j, i])
    report = check_vjp(large.f, large.x, large.vjp)
    assert (report.verdict, report.worst.name) == ("fail", f"d output[{j}] / d x[{i}]")
    assert large.vjps < 200
    report = check_jvp(large.f, large.x, large.jvp)
    assert (report.verdict, report.worst.name) == ("fail", f"d output[{j}] / d x[{i}]")


@pytest.mark.slow
def test_a_check_needs_at_most_five_times_the_memory_of_the_parameters():
    import tracemalloc

    x = np.linspace(0.5, 2.5, 1_040_005)
    weights = np.cos(37 * x) / x.size
    gradient = weights / np.cosh(weights @ x) ** 2
    for measured in (False, True):  # what is kept from check to check does not count
        if measured:
            tracemalloc.start()
        report = check_gradient(lambda x: np.tanh(weights @ x), x, gradient)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.verdict == "pass"
    assert peak < 5 * x.nbytes


def test_a_large_jacobian_is_never_held_as_a_whole():
    import tracemalloc

    size = 1200
    weights = np.linspace(0.5, 1.5, size)
    tracemalloc.start()
    report = check_vjp(
        lambda x: weights * np.sin(x), np.ones(size), lambda u, x: u * weights * np.cos(x)
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.verdict == "pass"
    assert peak < size * size * 8 / 2


# --- what lines have refused, or have not seen ----------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pair", [(5, 6), (5, 42)])
@pytest.mark.parametrize("seed", range(3))
def test_errors_that_cancel_in_a_sum_over_the_outputs_are_refused(pair, seed):
    A = np.random.default_rng(0).normal(size=(1100, 10))

    def vjp(upstream, x):
        upstream = upstream.copy()
        upstream[list(pair)] = upstream[list(pair[::-1])]
        return A.T @ (upstream * (1 - np.tanh(A @ x) ** 2))

    assert check_vjp(lambda x: np.tanh(A @ x), np.full(10, 0.1), vjp, seed=seed).verdict == "fail"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("nearest_zero", [1e-5, 1e-8])
@pytest.mark.parametrize("seed", range(2))
def test_an_entry_with_a_large_effect_does_not_excuse_the_others(nearest_zero, seed):
    x = np.random.default_rng(1).normal(size=101)
    x[3] = nearest_zero
    f = lambda x: np.sum(np.log(np.abs(x)))  # noqa: E731
    for spoil in (-100, 0):
        wrong = 1 / x
        wrong[10:60] *= spoil
        assert check_gradient(f, x, wrong, seed=seed).verdict != "pass"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("value", [1e300, 1e307, 1e308, np.inf])
@pytest.mark.parametrize("n", [40, 100, 500])
def test_a_claim_near_the_overflow_limit_does_not_pass(value, n):
    for signs in (1.0, np.where(np.arange(n) % 2, 1.0, -1.0)):
        report = check_gradient(lambda x: np.sum(x**2), np.ones(n), np.full(n, value) * signs)
        assert report.verdict == "fail"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", [40, 100, 500])
@pytest.mark.parametrize(
    "f", [lambda x: 3.0, lambda x: float(np.sum(np.sign(x)))], ids=["constant", "sign"]
)
def test_the_report_says_that_f_is_flat_along_the_lines(f, n):
    x = np.linspace(0.2, 3, n)
    report = check_gradient(f, x, np.zeros(n))
    if f(x) == f(-x) or n < 500:  # along a line through 500 some change their signs
        assert report.verdict == "pass"
        assert "f is flat near this point" in " ".join(str(report).split())
    assert report.verdict != "fail"
    # A value such as 100.0 that never moves may have been printed with few digits.
    # What goes in steps convicts nobody.
    wrong = check_gradient(f, x, np.full(n, 0.1)).verdict
    assert wrong == "fail" if f(x) == f(-x) else wrong != "pass"


@pytest.mark.parametrize("n", [3, 33, 120])
def test_an_output_with_no_entries_is_a_check_of_nothing(n):
    report = check_vjp(lambda x: x[:0], np.ones(n), lambda u, x: np.zeros(n))
    assert (report.verdict, report.reason) == ("unsure", "empty")


# --- zero -------------------------------------------------------------------------------------


def least_squares(size):
    """Return a sum of squares, its gradient, and where it is least."""
    rng = np.random.default_rng(size)
    A, b = rng.normal(size=(2 * size, size)), rng.normal(size=2 * size)
    optimum = np.linalg.lstsq(A, b)[0]
    return lambda x: np.sum((A @ x - b) ** 2), lambda x: 2 * A.T @ (A @ x - b), optimum


@pytest.mark.one_in(3)
@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("size", [10, 18, 21, 47, 60, 500])
def test_at_an_optimum_the_report_says_that_a_factor_of_two_would_not_show(size, factor):
    f, gradient, x = least_squares(size)
    report = check_gradient(f, x, lambda x: factor * gradient(x))
    assert (report.verdict, report.reason) in [("unsure", "zero"), ("pass", "ok")]
    text = " ".join(str(report).split())
    said = "check at another point" if report.verdict == "unsure" else "has the right factor"
    assert said in text.lower()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", [10, 18, 21, 47, 60, 500])
def test_a_gradient_near_an_optimum_is_judged(size):
    f, gradient, x = least_squares(size)
    x = x + 1e-2
    assert check_gradient(f, x, gradient)
    report = check_gradient(f, x, lambda x: 2 * gradient(x))
    assert (report.verdict, report.reason) == ("fail", "wrong")
