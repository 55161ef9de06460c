"""What K random lines prove: how often an error hides, how far it may reach, and what is said."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_vjp

SIZE = 101
RNG = np.random.default_rng(0)
X, G = RNG.uniform(1, 1.9, SIZE), RNG.uniform(1, 2, SIZE)  # the units of x are alike


def linear(x):
    return G @ x


# --- the proof, over planted errors -----------------------------------------------------------


def one_entry(rng):
    return np.eye(1, SIZE, rng.integers(SIZE))[0]


def two_that_cancel(rng):
    error = np.zeros(SIZE)
    error[rng.choice(SIZE, 2, replace=False)] = 1.0, -1.0
    return error


def all_entries(rng):
    return rng.normal(size=SIZE)


def halving(rng):
    """The worst there is: every residual may be small beside the largest error."""
    return rng.permutation(2.0 ** -np.arange(SIZE))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("pattern", [two_that_cancel, one_entry, all_entries, halving])
@pytest.mark.parametrize(("most", "lines"), [(18, 2), (24, 3)])
def test_k_lines_miss_an_error_at_most_once_in_two_to_the_k_times(pattern, most, lines):
    rng, hidden, trials = np.random.default_rng(1), 0, 60
    for seed in range(trials):
        claim = G + pattern(rng)
        held = check_gradient(linear, X, claim, max_evaluations=most, seed=seed).certificate
        assert held is None or held.lines <= lines  # fewer, once one shows an error
        hidden += held is not None and held.against is None
    chance = 2.0**-lines
    spread = 4 * np.sqrt(chance * (1 - chance) / trials)
    assert hidden / trials <= chance + spread
    if pattern is two_that_cancel:  # the bound is reached, so it cannot be better
        assert hidden / trials >= chance - spread


@pytest.mark.parametrize("noise", [0.0, 1e3])
def test_no_error_is_larger_than_the_stated_bound(noise):
    """An error below what a line can see is held to what it sees; noise makes that visible."""
    rng = np.random.default_rng(4)
    f = lambda x: noise + linear(x)  # noqa: E731
    for seed, pattern in enumerate([one_entry, two_that_cancel, all_entries, halving]):
        error = pattern(rng)
        error *= 1e-6 / np.abs(error).max()
        report = check_gradient(f, X, G + error, rtol=1e-3, seed=seed)
        held = report.certificate
        assert (report.verdict, held.vouched) == ("pass", SIZE)
        typical = np.sqrt(np.mean((G + error) ** 2))
        assert 1e-6 <= held.within * typical < 1e-4


# --- what is said of it -----------------------------------------------------------------------


def many(size=300, seed=0):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=size), rng.normal(size=size)
    return (lambda x: np.sum(w * np.sin(x))), x, w * np.cos(x)


def test_twenty_lines_vouch_for_every_entry_of_a_right_gradient():
    report = check_gradient(*many())
    held = report.certificate
    assert (report.verdict, held.lines, held.vouched, held.entries) == ("pass", 20, 300, 300)
    assert held.chance == 2.0**-20
    assert held.within < 1e-6
    assert report.on_axes == 0


def test_the_chance_counts_every_round_of_lines():
    x, w = np.random.default_rng(0).normal(size=2000), np.ones(2000)
    for small, rounds in ((1.0, 1), (1e-3, 2)):  # small entries get lines of their own
        w[:200] = small
        report = check_gradient(lambda x: np.sum(w * np.sin(x)), x, w * np.cos(x), rtol=1e-7)
        assert report.verdict == "pass"
        assert report.certificate.chance == rounds * 2.0**-20


def test_a_given_tolerance_is_held_or_unsure_with_a_sufficient_one_named():
    x = np.random.default_rng(0).normal(size=400)
    f = lambda x: float(1e3 + np.sum(np.sin(x)))  # noqa: E731
    report = check_gradient(f, x, np.cos(x), rtol=1e-12)
    held = report.certificate
    assert report.verdict == "unsure"
    assert held.vouched < held.entries
    assert "entries to rtol=1e-12, and all to rtol=" in " ".join(str(report).split())
    assert check_gradient(f, x, np.cos(x), rtol=1.01 * held.rtol).verdict == "pass"


@pytest.mark.parametrize("atol", [1e-3, 1e-9])
def test_an_atol_holds_for_entries_that_only_lines_measured(atol):
    f, x, g = many()
    claim = g + 1e-6 * (np.arange(300) == 7)
    report = check_gradient(f, x, claim, rtol=1e-9, atol=atol)
    assert report.verdict == ("pass" if atol == 1e-3 else "fail")


@pytest.mark.parametrize(
    ("factor", "most", "said"),
    [(1, 40, "agree with f along 3 random lines"), (3, 20, "disagree with f along 1 random line")],
)
def test_a_check_with_few_lines_reports_their_result(factor, most, said):
    f, x, g = many()
    report = check_gradient(f, x, factor * g, max_evaluations=most)
    assert report.verdict == "unsure"
    assert said in " ".join(str(report).split())


@pytest.mark.parametrize("factor", [-1.0, 1.001, 2.0])
def test_few_evaluations_suffice_to_fail_a_gradient_that_is_wrong_everywhere(factor):
    f, x, g = many()
    assert check_gradient(f, x, factor * g, max_evaluations=60).verdict == "fail"


def test_there_is_no_certificate_if_every_entry_was_measured():
    x = np.linspace(0.5, 2, 30)
    assert check_gradient(lambda x: np.sum(x**3), x, 3 * x**2).certificate is None


def test_both_products_are_compared_when_outputs_are_asked_for_in_groups():
    x = np.random.default_rng(0).normal(size=3000)
    vjp = lambda u, x: np.cos(x) * u  # noqa: E731
    assert check_vjp(np.sin, x, vjp, jvp=vjp).verdict == "pass"
    report = check_vjp(np.sin, x, vjp, jvp=lambda t, x: 1.01 * np.cos(x) * t)
    assert "not adjoint" in report.faults[0].sentence


def test_a_seed_draws_the_same_lines_and_another_one_others():
    def points(seed):
        seen = []
        f, x, g = many()
        check_gradient(lambda x: (seen.append(x.copy()), f(x))[1], x, g, seed=seed)
        return np.array(seen)

    assert np.array_equal(points(3), points(3))
    assert not np.array_equal(points(3)[:9], points(4)[:9])
