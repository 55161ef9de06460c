"""The museum is what checkers are judged on: here each piece is judged without any of them, too."""

import re

import numpy as np
import pytest
from zoo_reports import checked
from zoo_slopes import (
    RIGHT,
    WRONG,
    as_tuple,
    claimed_jacobian,
    differentiable,
    numeric_jacobian,
    worst_error,
)

from gradcheck_ref.zoo.wild import WILD


def pieces(*kinds):
    """Yield every museum piece at each of its points of these kinds, with a name."""
    for wild in WILD:
        for kind in kinds:
            if point := getattr(wild, kind):
                yield f"{wild.id}, {kind}", wild.case(point)


def test_the_museum_has_enough_bugs_from_many_projects():
    assert len(WILD) >= 60
    assert len({wild.id for wild in WILD}) == len(WILD)
    assert len({wild.source.where.split()[0] for wild in WILD}) >= 30


def test_a_source_can_be_looked_up_and_says_why_the_bug_went_unnoticed():
    for wild in WILD:
        where, year, lived = wild.source
        said = f"{wild.id}: {where}, {year}, {lived}, {wild.unnoticed}"
        assert re.fullmatch(r"[a-z0-9.-]+/[a-z0-9-]+", wild.id), said
        assert re.fullmatch(r"[\w.-]+/[\w.-]+ (issue \d+|pull \d+|commit [0-9a-f]{7})", where), said
        assert 2005 <= year <= 2026, said
        assert not lived or re.search(r"\d (year|month|day)s?|open|since it was written", lived), (
            said
        )
        assert re.fullmatch(r"[A-Z\w].{,88}\.", wild.unnoticed), said


def test_the_right_derivative_is_right():
    for name, case in pieces("shows", "hides"):
        # One is steeper than Richardson's shortest step; others refuse complex numbers.
        analytic = name.startswith("stan/log-sum-exp,")
        numeric = numeric_jacobian(case, case.f, analytic=analytic)
        assert worst_error(claimed_jacobian(case, case.vjp), numeric) <= RIGHT, name


def test_the_wrong_derivative_is_wrong_where_it_shows_and_right_where_it_hides():
    for name, case in pieces("shows", "hides"):
        wrong, right = (claimed_jacobian(case, vjp) for vjp in (case.bugs[0].vjp, case.vjp))
        error = worst_error(wrong, right)
        # NaN is wrong as well.
        assert not error <= WRONG if name.endswith("shows") else error <= RIGHT, name


def test_an_ordinary_point_has_the_shapes_of_the_showing_one():
    for wild in WILD:
        point = wild.ordinary(3)
        assert [x.shape for x in point] == [x.shape for x in wild.shows], wild.id
        assert differentiable(wild.case(point)) == differentiable(wild.case(wild.shows)), wild.id
        assert all(np.isfinite(y).all() for y in as_tuple(wild.f(*point))), wild.id


@pytest.mark.one_in(12)
@pytest.mark.parametrize("wild", [wild for wild in WILD if wild.hides], ids=lambda wild: wild.id)
def test_where_a_bug_hides_the_right_derivative_is_not_refused(wild):
    """Where it shows, the corpus asks for both: tests/check/corpus/adapted.py."""
    case = wild.case(wild.hides)
    assert checked(case, case.vjp).verdict != "fail"
