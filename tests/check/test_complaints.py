"""Public complaints about gradient checks: this check says what would have helped."""

import re
from dataclasses import replace

import numpy as np
import pytest
from complaints import ROWS

from gradcheck_ref.check.results import VERDICTS

IDS = [row.name.replace(" ", "-") for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_report_names_the_cause(row):
    report = row.report
    text = " ".join(report.text(1000).split())
    assert report.verdict == row.verdict, text
    assert row.said in text


def off(claim):
    """Return the claim, or what it returns, 30 % too large."""
    if isinstance(claim, tuple):
        return tuple(map(off, claim))
    if callable(claim):
        return lambda *given: off(claim(*given))
    return np.multiply(claim, np.asarray(claim).dtype.type(1.3))


# A derivative of 0 stays 0, so nothing shows that it is too large.
ZERO = {"a comparison"}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.verdict == "pass" and row.name not in ZERO],
    ids=lambda row: row.name.replace(" ", "-"),
)  # fmt: skip
def test_a_right_derivative_passes_and_a_wrong_one_fails(row):
    assert replace(row, claim=off(row.claim)).report.verdict == "fail"


def test_there_are_many_and_each_tells_of_a_thread():
    assert len(ROWS) >= 40
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.verdict for row in ROWS} == {*VERDICTS.values()}
    thread = r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+"
    forum = r"https?://(discourse|stats|list)\.[\w./-]+"
    for row in ROWS:
        assert re.fullmatch(f"{thread}|{forum}", row.address)
        assert row.said
        assert not row.what.endswith(".")
