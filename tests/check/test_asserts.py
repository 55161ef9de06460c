"""The assertions: an error with the whole story, a warning where the evidence ends."""

import inspect
import pickle
import warnings
from typing import get_type_hints

import numpy as np
import pytest
from edge_cases import never

from gradcheck_ref.check import (
    GradientError,
    GradientWarning,
    assert_gradient,
    assert_jacobian,
    assert_jvp,
    assert_vjp,
    check_gradient,
    check_jacobian,
    check_jvp,
    check_vjp,
)
from gradcheck_ref.check.knobs import Options

X = np.array([0.5, 1.0, 2.0])
TWINS = {
    assert_gradient: check_gradient,
    assert_vjp: check_vjp,
    assert_jvp: check_jvp,
    assert_jacobian: check_jacobian,
}
each = pytest.mark.parametrize("assert_", TWINS, ids=lambda one: one.__name__)


def asked(assert_, f, x, slope):
    """Return what an assertion is asked of an elementwise function with this slope."""
    if assert_ is assert_gradient:
        return lambda x: np.sum(f(x)), x, slope
    if assert_ is assert_jacobian:
        return f, x, lambda x: np.diag(slope(x).ravel()).reshape(x.shape * 2)
    return f, x, lambda given, x: given * slope(x)


def right(assert_):
    return asked(assert_, np.sin, X, np.cos)


def wrong(assert_):
    return asked(assert_, np.sin, X, np.sin)


def doubtful(assert_):
    return asked(assert_, np.abs, X - 1, np.sign)


def of_nothing(assert_):
    return asked(assert_, np.sin, np.zeros((0, 3)), np.cos)


@pytest.mark.one_in(2)
@each
@pytest.mark.parametrize("unsure", ["warn", "fail", "pass"])
def test_a_right_derivative_returns_its_report(assert_, unsure):
    report = assert_(*right(assert_), unsure=unsure)
    assert report
    assert str(report) == str(TWINS[assert_](*right(assert_)))


@pytest.mark.one_in(2)
@each
@pytest.mark.parametrize("unsure", ["warn", "fail", "pass"])
def test_a_wrong_derivative_raises_with_its_report(assert_, unsure):
    with pytest.raises(GradientError) as raised:
        assert_(*wrong(assert_), unsure=unsure, empty="pass")
    assert isinstance(raised.value, AssertionError)
    assert raised.value.report.verdict == "fail"
    assert str(raised.value) == str(raised.value.report)
    assert str(raised.value).startswith("FAIL  ")


@each
def test_a_doubtful_derivative_warns_at_the_line_of_the_caller(assert_):
    with pytest.warns(GradientWarning, match="kink") as caught:
        report = assert_(*doubtful(assert_))
    assert report.verdict == "unsure"
    assert [warning.filename for warning in caught] == [__file__]
    assert str(caught[0].message) == str(report)


@each
def test_a_doubtful_derivative_raises_or_passes_on_request_and_is_reported_as_unsure(assert_):
    with pytest.raises(GradientError, match=r"^UNSURE") as raised:
        assert_(*doubtful(assert_), unsure="fail", empty="pass")
    assert raised.value.report.reason == "kink"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = assert_(*doubtful(assert_), unsure="pass")
    assert (report.verdict, bool(report)) == ("unsure", False)


@each
def test_nothing_compared_passes_on_request_alone(assert_):
    f, x, claim = of_nothing(assert_)
    with pytest.raises(GradientError, match="nothing was compared"):
        assert_(f, x, claim, unsure="fail")
    report = assert_(f, x, claim, unsure="fail", empty="pass")
    assert (report.verdict, report.reason, bool(report)) == ("unsure", "empty", False)
    with pytest.raises(GradientError, match=r"shape \(2, 3\)"):
        assert_(f, x, lambda *_: np.zeros((2, 3)), empty="pass")


@pytest.mark.one_in(4)
@each
@pytest.mark.parametrize(
    ("knob", "choices"), [("unsure", '"warn", "fail" or "pass"'), ("empty", '"unsure" or "pass"')]
)
@pytest.mark.parametrize("bad", ["Pass", None, True, ["warn"]], ids=repr)
def test_the_unsure_and_empty_knobs_are_validated_before_f_is_called(assert_, knob, choices, bad):
    with pytest.raises(ValueError, match=f"{knob} must be {choices}, not "):
        assert_(never, X, never, **{knob: bad})


@each
@pytest.mark.parametrize(
    ("name", "meant"),
    [("rtoll", "; did you mean rtol=?"), ("unsur", "; did you mean unsure=?"), ("eps", "")],
)
def test_an_unknown_option_is_refused_in_the_name_of_the_assertion(assert_, name, meant):
    with pytest.raises(TypeError) as raised:
        assert_(never, X, never, **{name: 1})
    said = f"{assert_.__name__}() got an unexpected keyword argument '{name}'{meant}"
    assert str(raised.value) == said


@each
def test_an_assertion_has_the_parameters_of_its_check_and_hands_them_on(assert_):
    ours = dict(inspect.signature(assert_).parameters)
    assert ours.pop("unsure").default == "warn"
    assert ours.pop("empty").default == "unsure"
    del ours["options"]
    theirs = inspect.signature(TWINS[assert_]).parameters
    assert [one for name, one in theirs.items() if name not in get_type_hints(Options)] == [
        *ours.values()
    ]
    assert get_type_hints(Options).items() <= get_type_hints(TWINS[assert_]).items()
    knobs = {"rtol": 1e-3, "atol": 1e-5, "max_evaluations": 20, "seed": 7}
    report = assert_(*right(assert_), **knobs, unsure="pass")
    assert (report.rtol, report.atol, report.seed) == (1e-3, 1e-5, 7)
    assert report.evaluations <= 20


def test_an_error_can_be_sent_to_another_process():
    with pytest.raises(GradientError) as raised:
        assert_gradient(*wrong(assert_gradient))
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is GradientError
    assert str(again) == str(raised.value)
    assert again.report.to_dict() == raised.value.report.to_dict()
