"""The order of events in a check: what is called when, and what is found out on the way."""

import tracemalloc

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp


@pytest.mark.parametrize("size", [1, 40, 300])
@pytest.mark.parametrize("check", [check_gradient, check_vjp, check_jvp])
def test_f_is_called_at_x_right_before_the_claims_are_asked_and_asked_again(check, size):
    at, calls = np.linspace(0.3, 2.0, size), []

    def f(x):
        calls.append("x" if np.array_equal(x, at) else ".")
        return float(np.sum(np.sin(x)))

    def gradient(x):
        calls.append("g")
        return np.cos(x)

    claim = {
        check_gradient: gradient,
        check_vjp: lambda upstream, x: upstream * gradient(x),
        check_jvp: lambda tangent, x: float(gradient(x) @ tangent),
    }[check]
    assert check(f, at, claim).verdict == "pass"
    order = "".join(calls)
    first, last = order.index("g"), order.rindex(".")
    assert order.startswith("x")
    assert order[first - 1] == "x"
    assert order[last + 1 :].startswith("xg")
    assert "." not in order[last + 1 :]
    # Of a gradient and a vjp everything is asked at once.
    if check is not check_jvp:
        assert "g" not in order[first:last].lstrip("g")


@pytest.mark.parametrize(("size", "factor"), [(3, 1), (400, 1), (60, 2)])
def test_a_jvp_may_use_what_the_last_forward_pass_stored(size, factor):
    rng = np.random.default_rng([size, 1])
    W, x, kept = rng.normal(size=(3, size)), rng.normal(size=size), {}

    def f(x):
        kept["y"] = np.tanh(W @ x)
        return kept["y"].copy()

    report = check_jvp(f, x, lambda tangent, x: factor * (1 - kept["y"] ** 2) * (W @ tangent))
    assert report.verdict == ("pass" if factor == 1 else "fail")


# --- large Jacobians --------------------------------------------------------------------------


@pytest.mark.one_in(4)
@pytest.mark.parametrize("check", [check_vjp, check_jvp])
@pytest.mark.parametrize("shape", [(1100, 40), (500, 600)], ids=str)
def test_one_wrong_entry_of_a_large_jacobian_is_named_with_its_output(check, shape):
    rng = np.random.default_rng(1)
    A, x = rng.normal(size=shape), rng.uniform(0.2, 1.2, shape[1])
    wrong, j, i = A.copy(), 123, shape[1] - 5
    wrong[j, i] = 1.01 * np.copysign(max(abs(A[j, i]), 0.7), A[j, i])

    def of(A):
        if check is check_vjp:
            return lambda upstream, x: (upstream @ A) * np.cos(x)
        return lambda tangent, x: A @ (tangent * np.cos(x))

    report = check(lambda x: A @ np.sin(x), x, of(A))
    assert (report.verdict, report.entries) == ("pass", A.size)
    report = check(lambda x: A @ np.sin(x), x, of(wrong))
    assert (report.verdict, report.worst.name) == ("fail", f"d output[{j}] / d x[{i}]")


def memory_of(check):
    """Return the report of a check, and the most bytes that it held."""
    tracemalloc.start()
    report = check()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return report, peak


@pytest.mark.slow
def test_a_check_needs_at_most_five_times_the_memory_of_the_parameters():
    x = np.linspace(0.5, 2.5, 1_040_005)
    weights = np.cos(37 * x) / x.size
    gradient = weights / np.cosh(weights @ x) ** 2

    def check():
        return check_gradient(lambda x: np.tanh(weights @ x), x, gradient)

    check()  # what is kept from check to check does not count
    report, peak = memory_of(check)
    assert report.verdict == "pass"
    assert peak < 5 * x.nbytes


def test_a_large_jacobian_is_never_held_as_a_whole():
    x = np.linspace(0.5, 1.5, 1200)
    report, peak = memory_of(lambda: check_vjp(np.sin, x, lambda u, x: u * np.cos(x)))
    assert report.verdict == "pass"
    assert peak < x.size**2 * 8 / 2


@pytest.mark.parametrize("given", [np.float64, np.float32])
@pytest.mark.parametrize("wrong", [False, True])
def test_a_function_that_computes_in_float32_and_does_not_say_so_gets_a_note(given, wrong):
    x, weights = np.linspace(0.5, 2.5, 5), np.float32([0.4, -1.3, 0.9, 2.1, -0.6])

    def f(x):
        return given(np.sum(np.sin(np.float32(x)) * weights, dtype=np.float32))

    claim = np.cos(x) * weights * (np.arange(5) < 5 - wrong)
    report = check_gradient(f, x.astype(given), claim, seed=1)
    note = "all values of f are float32 numbers"
    assert (report.verdict, note in str(report.notes)) == (
        ("fail", given is np.float64) if wrong else ("pass", False)
    )
