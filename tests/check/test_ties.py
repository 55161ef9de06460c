"""Equal entries of x: their claims must have the sum that f shows when they move together."""

import numpy as np
import pytest
from programs import checks

from gradcheck_ref import check_gradient


def largest_size(x):
    return np.abs(x).max()


def upper_quartile(x):
    return np.quantile(x, 0.75)


def two_windows(x):
    """Pool with weights of both signs: neither convex nor concave."""
    return 2 * x[:2].max() - x[1:3].max()


# A function, a point with ties, right claims, and wrong ones that lie between one-sided slopes or
# have an entry that does not move f.
AT_A_TIE = {
    "a maximum": (
        np.max,
        [3, 3, 1],
        [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0]],
        [[1, 1, 0], [0, 0, 0], [0.5, 0, 0]],
    ),
    "a maximum of three": (
        np.max,
        [3, 3, 3, 1],
        [[1, 0, 0, 0], [0.2, 0.3, 0.5, 0]],
        [[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]],
    ),
    "opposite entries": (
        largest_size,
        [-2, 1, 2],
        [[-1, 0, 0], [0, 0, 1], [-0.5, 0, 0.5]],
        [[-1, 0, 1], [0, 0, 0]],
    ),
    "a median": (
        np.median,
        [3, 3, 3, 1, 5],
        [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0.5, 0.25, 0.25, 0, 0]],
        [[2, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [-1, 0, 0, 0, 0]],
    ),
    "a median of zeros": (
        np.median,
        [0, 0, 0],
        [[1, 0, 0], [0.5, 0.5, 0]],
        [[0, 0, 0], [1, 1, 0]],
    ),
    "a quantile": (
        upper_quartile,
        [1, 1, 1, 1, 2, 0],
        [[0.25, 0.75, 0, 0, 0, 0], [0, 0, 0.5, 0.5, 0, 0]],
        [[0.5, 1.5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
    ),
    "windows of both signs": (
        two_windows,
        [1, 1, 1, 0],
        [[2, -1, 0, 0], [0, 1, 0, 0], [0, 2, -1, 0]],
        [[2, 1, -1, 0], [4, -2, 0, 0]],
    ),
}
RIGHT = [(name, claim) for name, (_, _, right, _) in AT_A_TIE.items() for claim in right]
WRONG = [(name, claim) for name, (_, _, _, wrong) in AT_A_TIE.items() for claim in wrong]


def checked(name, claim, factor=1.0):
    f, x, _, _ = AT_A_TIE[name]
    return check_gradient(f, factor * np.array(x, float), np.array(claim, float))


@pytest.mark.parametrize(("name", "claim"), RIGHT)
def test_every_right_choice_at_a_tie_is_unsure(name, claim):
    assert checked(name, claim).verdict == "unsure"


@pytest.mark.parametrize("units", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize(("name", "claim"), WRONG)
def test_claims_with_a_wrong_sum_at_a_tie_fail(name, claim, units):
    assert checked(name, claim, units).verdict == "fail"


def test_the_report_names_the_equal_entries_and_their_sum():
    said = " ".join(str(checked("a maximum", [1, 1, 0])).split())
    assert "[0] and " in said
    assert "the slope 1, but the claims for them add up to 2" in said
    said = " ".join(str(checked("opposite entries", [-1, 0, 1])).split())
    assert "are equal in size" in said


# Where f has a derivative, equal entries change nothing: a wrong claim fails, whatever its sum.
def test_exchanged_claims_fail_where_f_is_smooth_at_equal_entries():
    w = np.array([1.0, 2.0, 3.0, 4.0])
    f = lambda x: np.sum(w * np.sin(x))  # noqa: E731
    right = w * np.cos(1.0)
    assert check_gradient(f, np.ones(4), right).verdict == "pass"
    assert check_gradient(f, np.ones(4), right[::-1]).verdict == "fail"


def test_a_claim_above_both_slopes_at_a_tie_fails_although_the_sum_is_right():
    """Which of two entries is larger decides, so there is no third slope."""
    report = check_gradient(np.max, np.array([3.0, 3.0, 1.0]), np.array([2.0, -1.0, 0.0]))
    assert report.verdict == "fail"


def test_a_kink_along_the_line_of_tied_entries_decides_nothing_about_their_sum():
    name, run = next(checks("many ties", 9))
    assert (name, run().verdict) == ("right", "unsure")


# Two kinks at equal entries that have nothing to do with each other: any slope between the two on
# both sides is right for each, although f is smooth if both entries move together.
@pytest.mark.parametrize(
    ("claim", "verdict"),
    [([0, 0], "unsure"), ([1, 1], "unsure"), ([1, 0], "unsure"), ([1.2, -0.2], "fail")],
)
def test_equal_entries_at_kinks_of_their_own_are_judged_alone(claim, verdict):
    f = lambda x: max(x[0], 0.0) + min(x[1], 0.0)  # noqa: E731
    assert check_gradient(f, np.zeros(2), np.array(claim, float)).verdict == verdict


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("q", "decimals"), [(0.5, 0), (0.5, 1), (0.3, 1)])
def test_a_quantile_of_many_numbers_with_ties_does_not_fail(q, decimals, seed):
    x = np.round(np.random.default_rng(seed).normal(size=151), decimals)
    at = np.argsort(x, kind="stable")[int(q * 150)]
    right = np.zeros(151)
    right[at] = 1.0
    f = lambda x: np.quantile(x, q)  # noqa: E731
    assert check_gradient(f, x, right, seed=seed).verdict != "fail"
    assert check_gradient(f, x, 3 * right, seed=seed).verdict != "pass"
