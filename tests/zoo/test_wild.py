"""The museum is what checkers are judged on: here each piece is judged without any of them, too."""

import re

import numpy as np
import pytest
from each import each
from zoo_slopes import (
    RIGHT,
    WRONG,
    as_tuple,
    claimed_jacobian,
    differentiable,
    numeric_jacobian,
    worst_error,
)

from gradcheck_ref import check_vjp
from gradcheck_ref.zoo.wild import WILD, wild_cases


class Named:
    """A museum piece at one of its points, with a name for a test that fails."""

    def __init__(self, wild, point):
        self.wild, self.case = wild, wild.case(point)
        self.name = f"{wild.id} at {point}"


def of_points(*kinds):
    """Try a test with every museum piece, at each of its points of these kinds."""
    return each(
        "piece",
        lambda: (
            Named(wild, getattr(wild, kind))
            for wild in WILD
            for kind in kinds
            if getattr(wild, kind)
        ),
    )


def test_the_museum_has_enough_bugs_from_many_projects():
    assert len(WILD) >= 60
    assert len({wild.source.where.split()[0] for wild in WILD}) >= 30


def test_ids_are_unique_and_well_formed():
    ids = [wild.id for wild in WILD]
    assert len(set(ids)) == len(ids)
    assert not [name for name in ids if not re.fullmatch(r"[a-z0-9.-]+/[a-z0-9-]+", name)]


@pytest.mark.parametrize("wild", WILD, ids=lambda wild: wild.id)
def test_a_source_can_be_looked_up(wild):
    where, year, lived = wild.source
    assert re.fullmatch(r"[\w.-]+/[\w.-]+ (issue \d+|pull \d+|commit [0-9a-f]{7})", where)
    assert 2005 <= year <= 2026
    assert not lived or re.search(r"\d (year|month|day)s?|open|since it was written", lived)


def test_each_bug_says_in_a_sentence_why_it_went_unnoticed():
    assert not [wild.id for wild in WILD if not re.fullmatch(r"[A-Z\w].*\.", wild.unnoticed)]
    assert not [wild.id for wild in WILD if len(wild.unnoticed) > 90]


@of_points("shows", "hides")
def test_the_right_derivative_is_right(piece):
    case = piece.case
    # One is steeper than Richardson's shortest step; others refuse complex numbers.
    analytic = piece.wild.id == "stan/log-sum-exp"
    numeric = numeric_jacobian(case, case.f, analytic=analytic)
    assert worst_error(claimed_jacobian(case, case.vjp), numeric) <= RIGHT


@of_points("shows")
def test_the_wrong_derivative_is_wrong_at_the_showing_point(piece):
    case = piece.case
    wrong, right = (claimed_jacobian(case, vjp) for vjp in (case.bugs[0].vjp, case.vjp))
    assert not worst_error(wrong, right) <= WRONG  # NaN is wrong as well


@of_points("hides")
def test_the_wrong_derivative_is_right_at_the_hiding_point(piece):
    case = piece.case
    wrong, right = (claimed_jacobian(case, vjp) for vjp in (case.bugs[0].vjp, case.vjp))
    assert worst_error(wrong, right) <= RIGHT


def test_an_ordinary_point_has_the_shapes_of_the_showing_one():
    for wild in WILD:
        point = wild.ordinary(3)
        assert [x.shape for x in point] == [x.shape for x in wild.shows], wild.id
        assert differentiable(wild.case(point)) == differentiable(wild.case(wild.shows)), wild.id
        assert all(np.isfinite(y).all() for y in as_tuple(wild.f(*point))), wild.id


def check(case, vjp):
    inputs = case.inputs if len(case.inputs) > 1 else case.inputs[0]
    return check_vjp(case.f, inputs, vjp)


@pytest.mark.slow
@of_points("shows", "hides")
def test_the_check_refuses_the_wrong_derivative_and_never_the_right_one(piece):
    case, wrong = piece.case, piece.case.bugs[0].vjp
    assert check(case, case.vjp).verdict != "fail"
    if piece.case.inputs is piece.wild.shows:
        assert check(case, wrong).verdict == "fail"


# What the check says a wrong derivative looks like, where that is not what the zoo has a word for.
SAID = {
    name: kind
    for kind, names in {
        "upstream-ignored":
            "chainer/huber-loss k2/total-score nd4j/softplus autograd.jl/log-to-a-base "
            "mlpack/log-softmax tensorflow.net/squared-difference",
        "inner-factor": "autodiff/asin statsmodels/log-dispersion scikit-optimize/hamming",
        "local-derivative":
            "autodiff/asinh calculus.jl/quotient openturns/parameter-set tt-metal/rpow "
            "statsmodels/cdf-link statsmodels/binomial-variance paddle/shared-layer "
            "hips/normal-cdf distributions.jl/logit-normal",
        "zero": "autodiff/hypot-second",
        "mean-and-spread": "crypten/batch-norm",
        "some-outputs": "quack/pre-norm",
        "single-entries": "pints/eight-schools",
        "some-entries":
            "exponentialfamily/normal exponentialfamily/log-normal openturns/laplace "
            "neon/convolution",
        "sign": "ngboost/laplace",
        "not-zero": "torch/constant",
        "missing-sum": "oneflow/fmod",
        "extra-sum": "hips/repeat",
        "constant-term": "openturns/frank-copula",
        "phase": "chainrules/arcsecant",
        "unknown": "pints/noise-exponent stan/negative-binomial-cdf",
    }.items()
    for name in names.split()
}  # fmt: skip


def test_every_bug_of_the_museum_gets_its_diagnosis():
    found = {}
    for case in wild_cases():
        diagnoses = check(case, case.bugs[0].vjp).diagnoses
        found[case.bugs[0].id] = diagnoses[0].kind if diagnoses else "unknown"
    assert found == {wild.id: SAID.get(wild.id, wild.looks) for wild in WILD}
