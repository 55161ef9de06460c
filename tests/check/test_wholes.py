"""What a report says about the gradient of each input as a whole."""

from types import SimpleNamespace

import numpy as np
import pytest

from gradcheck_ref.check import check_vjp
from gradcheck_ref.check.report.wholes import (
    as_share,
    inputs_as_a_whole,
    what_could_hide,
    where_it_begins,
)
from gradcheck_ref.check.results import FAIL, PASS, UNSURE, Whole

RIGHT, WRONG, OPEN = (0.001, 0.006, PASS), (0.5, 2.0, FAIL), (0.2, 0.9, UNSURE)


def report(digits=0, entries=1000, **inputs):
    """Return the part of a report that these sentences read."""
    wholes = [
        Whole(
            error=error,
            spread=0.0,
            limit=limit,
            proved=limit,
            allowed=0.02,
            code=code,
            name=name,
            entries=entries,
        )
        for name, (error, limit, code) in inputs.items()
    ]
    return SimpleNamespace(inputs=tuple(wholes), digits=digits, diagnoses=())


@pytest.mark.parametrize(
    ("value", "share"), [(0.5, "50 %"), (0.034, "3 %"), (0.006, "0.6 %"), (4e-6, "4e-6")]
)
def test_a_share_is_in_percent_or_a_small_number(value, share):
    assert as_share(value) == share


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"w": WRONG, "x": RIGHT}, "as a whole: w is off by 50 %; right is x to 0.6 %"),
        ({"x": RIGHT, "b": RIGHT}, "as a whole: right are x to 0.6 %, b to 0.6 %"),
        ({"x": RIGHT, "b": OPEN}, "as a whole: right is x to 0.6 %; unsure is b"),
        ({"x": OPEN, "b": OPEN}, "as a whole: unsure are x, b"),
        ({"w": (np.inf, np.inf, FAIL)}, "as a whole: w"),
        (
            {f"x{k}": OPEN for k in range(9)},
            "as a whole: unsure are x0, x1, x2, x3, x4, x5 and 3 more",
        ),
    ],
)
def test_inputs_are_listed_the_wrong_ones_first(inputs, said):
    assert inputs_as_a_whole(report(**inputs)) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": (0, 0.1, PASS)}, "noise hides the errors of single entries; up to 11 of 1,000"),
        ({"x": (0, 0.01, PASS)}, "; a typical entry that is lost would show, but a small one"),
        ({"x": RIGHT, "b": (0, 0.2, PASS)}, "up to 41 of 1,000 typical entries of b could be lost"),
        ({"x": (0, 0.1, PASS), "digits": 6}, "has more than 6 digits, too few for single entries;"),
        ({"x": (0, 3.0, PASS), "entries": 5}, "up to 5 of 5 typical entries could be lost unseen"),
    ],
)
def test_a_pass_says_how_much_could_be_lost(given, said):
    assert said in what_could_hide(report(**given))


@pytest.mark.parametrize(
    ("verdicts", "begins"),
    [
        ([WRONG, WRONG, RIGHT, RIGHT], True),
        ([WRONG, WRONG, WRONG, RIGHT, RIGHT], True),
        ([RIGHT, RIGHT, WRONG, WRONG], False),  # a wrong gradient is handed on towards the input
        ([WRONG, RIGHT, WRONG, RIGHT], False),
        ([WRONG, WRONG, OPEN, RIGHT, RIGHT], False),
        ([WRONG, RIGHT], False),
    ],
)
def test_the_place_where_a_mistake_begins_is_named_if_the_order_shows_it(verdicts, begins):
    inputs = {f"x{k}": one for k, one in enumerate(verdicts)}
    said = list(where_it_begins(report(**inputs)))
    last = verdicts.count(WRONG) - 1
    expected = f"the gradient is right from x{last + 1} on, and wrong from x{last} on towards"
    assert [one.startswith(expected) for one in said] == [True] * begins


def bfloat16(x):
    m, e = np.frexp(x)
    return np.ldexp(np.round(256 * m) / 256, e)


def test_entries_that_pass_as_a_whole_do_not_pass_by_atol():
    rng = np.random.default_rng(0)
    x, w = rng.uniform(-1, 1, (2, 2)), rng.uniform(-1, 1, (2, 2))
    found = check_vjp(lambda w: bfloat16(x @ w), w, lambda u, w: x.T @ u)
    assert "whole" in found.pairs[0].reason
    assert "right as a whole" in str(found)
    assert "because of atol" not in " ".join(str(found).split())
