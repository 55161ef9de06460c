"""The report as a value: verdict, reason, counts, names and plain data."""

import json
import math

import numpy as np
import pytest
from report_cases import REPORTS, X, cubes, every_report

from gradcheck_ref.check import check_gradient
from gradcheck_ref.check.report.report import Entry


@pytest.mark.parametrize(
    ("name", "verdict", "reason", "compared", "entries"),
    [
        ("pass", "pass", "ok", 3, 3),
        ("pass, by lines", "pass", "ok", 1000, 1000),
        ("fail", "fail", "wrong", 3, 3),
        ("fail, nan", "fail", "nonfinite", 3, 3),
        ("fail, tuple", "fail", "wrong", 20, 20),
        ("kink", "unsure", "kink", 3, 3),
        ("nondeterministic", "unsure", "nondeterministic", 3, 3),
        ("nonfinite", "unsure", "nonfinite", 3, 3),
        ("step-underflow", "unsure", "step-underflow", 1, 1),
        ("empty", "unsure", "empty", 0, 0),
        ("nondeterministic grads", "fail", "nondeterministic", 3, 3),
        ("shape", "fail", "shape", 0, 3),
        ("lines", "pass", "ok", 10405, 10405),
        ("lines, one is wrong", "fail", "wrong", 10405, 10405),
        ("lines, too few", "unsure", "budget", 10405, 10405),
    ],
)
def test_a_report_has_a_verdict_a_reason_and_counts(name, verdict, reason, compared, entries):
    report = REPORTS[name]
    assert (report.verdict, report.reason) == (verdict, reason)
    assert (report.compared, report.entries) == (compared, entries)
    assert bool(report) is (verdict == "pass")


def test_the_worst_entry_has_a_name_and_numbers():
    worst = REPORTS["fail"].worst
    assert isinstance(worst, Entry)
    assert (worst.name, worst.analytic, worst.verdict, worst.reason) == (
        "x[0]", 1.5, "fail", "wrong",
    )  # fmt: skip
    assert (worst.numeric, worst.error) == pytest.approx((0.75, 0.75), abs=1e-9)
    assert worst.ratio == pytest.approx(worst.error / worst.allowed)
    assert worst.bar < 1e-9 < worst.step
    assert REPORTS["empty"].worst is None


@pytest.mark.parametrize(
    ("atol", "term"), [(None, "rtol"), (0.0, "rtol"), (1e-9, "rtol"), (0.1, "atol")]
)
def test_the_term_is_the_tolerance_that_allows_more(atol, term):
    assert check_gradient(cubes, X, 3 * X, atol=atol).worst.term == term


# --- plain data -------------------------------------------------------------------------------


@pytest.mark.one_in(6)
@every_report
def test_the_dictionary_survives_json(name):
    report = REPORTS[name]
    looked = sum(pair.verdict.size for pair in report.pairs)
    for entries in (False, True):
        data = report.to_dict(entries=entries)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["version"] == 1
        assert (data["verdict"], data["reason"]) == (report.verdict, report.reason)
        assert sum(sum(pair["count"].values()) for pair in data["pairs"]) == looked


def test_nonfinite_numbers_are_strings_that_float_reads():
    data = REPORTS["fail, nan"].to_dict(entries=True)
    assert data["worst"]["analytic"] == "nan"
    assert math.isnan(float(data["pairs"][0]["analytic"][0][0]))
    infinite = REPORTS["fail, inf"].to_dict()["worst"]
    assert float(infinite["analytic"]) == -math.inf


def test_the_numbers_of_all_entries_are_included_on_request():
    report = REPORTS["fail, array"]
    assert "analytic" not in report.to_dict()["pairs"][0]
    (pair,) = report.to_dict(entries=True)["pairs"]
    np.testing.assert_array_equal(pair["analytic"], report.pairs[0].analytic)
    assert np.shape(pair["verdict"]) == np.shape(pair["reason"]) == (3, 3)


# --- many entries, held by random lines -------------------------------------------------------


def test_a_certificate_is_plain_data_of_a_few_lines():
    report = REPORTS["lines, one is wrong"]
    for entries in (False, True):
        data = report.to_dict(entries=entries)
        assert data["certificate"]["lines"] == report.certificate.lines == 20
        assert data["certificate"]["verdict"] == "pass"
        assert len(json.dumps(data)) < 15000
    weights = next(pair for pair in data["pairs"] if pair["input"]["name"] == "W")
    assert 5 * 104 in weights["rows"]
    assert report.worst.name == "W[5, 0]"
