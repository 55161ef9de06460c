"""The vjps of the zoo that are right alone: each has a report, and a circumstance that shows it."""

import re

import pytest
from zoo_reports import CASES, reports
from zoo_slopes import RIGHT, claimed_jacobian, numeric_jacobian, worst_error

from gradcheck_ref import check_vjp
from gradcheck_ref.zoo.company import COMPANY

WORDS = {
    "columns upstream": "they change if the upstream is stored column by column",
    "slice upstream": "they change if the upstream is stored column by column",
    "constant upstream": "they change if the upstream is one number",
    "columns input": "they change if an input is stored column by column",
    "slice input": "they change if an input is a slice of a larger array",
    "another point": "they change if vjp is called at another point",
    "gradient kept": "they change if vjp is called again",
    "same array": "they change if f(x, x) gets one array",
    "written": "vjp writes to",
}


def test_there_are_enough_with_a_report_each():
    assert len({one.id for one in COMPANY}) == len({one.report for one in COMPANY}) >= 20
    for one in COMPANY:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", one.report)
        assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", one.id)


@pytest.mark.slow
def test_no_gradient_of_the_rest_is_asked_in_vain():
    """A right one has no finding, and a wrong one is not asked."""
    every = {f"{name} {bug}": report for name in CASES for bug, report in reports(name).items()}
    found = [name for name, report in every.items() if report.reason == "company"]
    assert found == []
    right = [reports(name)[None] for name in CASES]
    assert all(report.company for report in right if report)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("one", COMPANY, ids=[one.id for one in COMPANY])
def test_it_is_right_alone_and_found_in_company(one):
    case = one.case()
    numeric = numeric_jacobian(case, case.f)
    assert worst_error(claimed_jacobian(case, case.vjp), numeric) <= RIGHT
    assert check_vjp(case.f, case.inputs, case.vjp).notes == ()
    report = check_vjp(case.f, case.inputs, one.wrong())
    assert report.verdict == "fail"
    assert report.faults[0].sentence.startswith(WORDS[one.circumstance])
    alone = check_vjp(case.f, case.inputs, one.wrong(), company=False)
    assert bool(alone) is (one.circumstance != "written")
