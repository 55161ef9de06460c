"""How often a check calls f: the most that it takes, and the number that a report names."""

import re

import numpy as np
import pytest
from beside import hashed

from gradcheck_ref import check_gradient

HARD = {
    "smooth": lambda x: np.sum(np.sin(x)),
    "kinks": lambda x: np.sum(np.abs(x - 0.01)),
    "waves": lambda x: np.sum(np.sin(1e6 * x)),
    "six digits": lambda x: float(f"{1e3 + np.sum(np.sin(x)):.6g}"),
    "stairs": lambda x: np.sum(np.floor(10 * x)),
    "float32": lambda x: float(np.sum(np.exp(x).astype(np.float32))),
    "noise": lambda x: np.sum(x * x) + 1e-3 * 1000 * hashed(x),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("size", [33, 99])
@pytest.mark.parametrize("name", HARD)
def test_a_check_of_up_to_99_entries_takes_at_most_1000_evaluations(name, size):
    x = np.random.default_rng(size).normal(size=size)
    for claim in (np.zeros(size), np.cos(x), -x):
        report = check_gradient(HARD[name], x, claim)
        # Where f has few digits, as many as 2000 more measure the input as a whole, or refused
        # entries together. On stairs that took 0 to 500 more, for ten seeds.
        more = name == "stairs" or any(one.lines for one in report.inputs)
        assert report.evaluations <= (3000 if more else 1000)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_wrong_entry_is_confirmed_before_others_take_all_evaluations(seed):
    """Time stamps take most of them, although their gradient is right."""
    rng = np.random.default_rng(seed)
    t, a, w = 1.7e9 + 60 * rng.normal(size=60), rng.normal(size=20), rng.normal(size=60)
    f = lambda t, a: np.sum(w * np.sin((t - 1.7e9) / 60)) + np.sum(np.sin(a))  # noqa: E731
    of_t = w * np.cos((t - 1.7e9) / 60) / 60
    assert check_gradient(f, (t, a), (of_t, 2.19 * np.cos(a))).verdict == "fail"


# Right gradients that take more than one look at an entry.
COSTLY = {
    "waves": (lambda x: np.sum(np.sin(1e5 * x)), lambda x: 1e5 * np.cos(1e5 * x)),
    "a large offset": (lambda x: 1e7 + np.sum(np.sin(x)), np.cos),
}


@pytest.mark.parametrize(
    ("name", "size", "most"),
    [("waves", 1, 12), ("waves", 3, 30), ("a large offset", 1, 12), ("a large offset", 8, 64)],
)
def test_a_limit_is_kept_and_the_number_that_a_report_names_is_enough(name, size, most):
    f, slope = COSTLY[name]
    x = np.random.default_rng(0).normal(size=size)
    short = check_gradient(f, x, slope, max_evaluations=most)
    assert (short.verdict, short.reason) == ("unsure", "budget")
    assert short.evaluations <= most
    named = re.search(r"use max_evaluations=(\d+), which is enough", " ".join(str(short).split()))
    assert check_gradient(f, x, slope, max_evaluations=int(named[1])).verdict == "pass"


@pytest.mark.parametrize("seed", range(3))
def test_a_claim_about_noise_that_cannot_be_asked_for_again_is_not_taken_as_right(seed):
    f = lambda x: np.sum(np.sin(x)) + 1e-8 * hashed(x)  # noqa: E731
    x = np.random.default_rng(seed).normal(size=3)
    verdicts = [check_gradient(f, x, c * np.cos(x), max_evaluations=60).verdict for c in (1, 2)]
    assert verdicts[0] != "fail"
    assert verdicts[1] == "fail"
