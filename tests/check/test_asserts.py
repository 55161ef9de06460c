"""The assertions: an error with the whole story, a warning where the evidence ends."""

import inspect
import pickle
import warnings

import numpy as np
import pytest

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

X = np.array([0.5, 1.0, 2.0])
AT_A_KINK = np.array([0.0, 1.0])

RIGHT = {
    assert_gradient: (lambda x: np.sum(x**3), X, 3 * X**2),
    assert_vjp: (np.sin, X, lambda upstream, x: upstream * np.cos(x)),
    assert_jvp: (np.sin, X, lambda tangent, x: tangent * np.cos(x)),
    assert_jacobian: (np.sin, X, lambda x: np.diag(np.cos(x))),
}
WRONG = {
    assert_gradient: (lambda x: np.sum(x**3), X, 3 * X),
    assert_vjp: (np.sin, X, lambda upstream, x: upstream * np.sin(x)),
    assert_jvp: (np.sin, X, lambda tangent, x: tangent * np.sin(x)),
    assert_jacobian: (np.sin, X, lambda x: np.diag(np.sin(x))),
}
DOUBTFUL = {
    assert_gradient: (lambda x: np.sum(np.abs(x)), AT_A_KINK, np.array([0.5, 1.0])),
    assert_vjp: (np.abs, AT_A_KINK, lambda upstream, x: upstream * np.sign(x)),
    assert_jvp: (np.abs, AT_A_KINK, lambda tangent, x: tangent * np.sign(x)),
    assert_jacobian: (np.abs, AT_A_KINK, lambda x: np.diag(np.sign(x))),
}
TWINS = {
    assert_gradient: check_gradient,
    assert_vjp: check_vjp,
    assert_jvp: check_jvp,
    assert_jacobian: check_jacobian,
}
each = pytest.mark.parametrize("assert_", TWINS, ids=lambda one: one.__name__)


@each
@pytest.mark.parametrize("unsure", ["warn", "fail", "pass"])
def test_a_right_derivative_returns_its_report(assert_, unsure):
    report = assert_(*RIGHT[assert_], unsure=unsure)
    assert report
    assert str(report) == str(TWINS[assert_](*RIGHT[assert_]))


@pytest.mark.one_in(2)
@each
@pytest.mark.parametrize("unsure", ["warn", "fail", "pass"])
def test_a_wrong_derivative_raises_with_its_report(assert_, unsure):
    with pytest.raises(GradientError) as raised:
        assert_(*WRONG[assert_], unsure=unsure)
    assert isinstance(raised.value, AssertionError)
    assert raised.value.report.verdict == "fail"
    assert str(raised.value) == str(raised.value.report)
    assert str(raised.value).startswith("FAIL  ")


@each
def test_a_doubtful_derivative_warns_at_the_line_of_the_caller(assert_):
    with pytest.warns(GradientWarning, match="kink") as caught:
        report = assert_(*DOUBTFUL[assert_])
    assert report.verdict == "unsure"
    assert [warning.filename for warning in caught] == [__file__]
    assert str(caught[0].message) == str(report)


@each
def test_a_doubtful_derivative_raises_on_request(assert_):
    with pytest.raises(GradientError, match=r"^UNSURE") as raised:
        assert_(*DOUBTFUL[assert_], unsure="fail")
    assert raised.value.report.reason == "kink"


@each
def test_a_doubtful_derivative_passes_on_request_and_is_reported_as_unsure(assert_):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = assert_(*DOUBTFUL[assert_], unsure="pass")
    assert report.verdict == "unsure"
    assert not report


EMPTY = np.zeros((0, 3))
OF_NOTHING = {
    assert_gradient: (np.sum, EMPTY, lambda x: EMPTY),
    assert_vjp: (np.sin, EMPTY, lambda upstream, x: upstream * np.cos(x)),
    assert_jvp: (np.sin, EMPTY, lambda tangent, x: tangent * np.cos(x)),
    assert_jacobian: (np.sin, EMPTY, lambda x: np.zeros((0, 3, 0, 3))),
}


@each
def test_nothing_compared_passes_on_request_alone(assert_):
    with pytest.raises(GradientError, match="nothing was compared"):
        assert_(*OF_NOTHING[assert_], unsure="fail")
    report = assert_(*OF_NOTHING[assert_], unsure="fail", empty="pass")
    assert (report.verdict, report.reason, bool(report)) == ("unsure", "empty", False)


@each
def test_an_empty_claim_must_have_the_right_shape(assert_):
    f, x, _ = OF_NOTHING[assert_]
    with pytest.raises(GradientError, match=r"shape \(2, 3\)"):
        assert_(f, x, lambda *_: np.zeros((2, 3)), empty="pass")


@each
def test_empty_pass_lets_no_doubtful_or_wrong_derivative_pass(assert_):
    with pytest.raises(GradientError):
        assert_(*DOUBTFUL[assert_], unsure="fail", empty="pass")
    with pytest.raises(GradientError):
        assert_(*WRONG[assert_], empty="pass")


@each
@pytest.mark.parametrize(
    ("knob", "choices"), [("unsure", '"warn", "fail" or "pass"'), ("empty", '"unsure" or "pass"')]
)
@pytest.mark.parametrize("bad", ["Pass", "", None, True, ["warn"]], ids=repr)
def test_the_unsure_and_empty_knobs_are_validated_before_f_is_called(assert_, knob, choices, bad):
    def never(*_):
        raise LookupError("called")

    with pytest.raises(ValueError, match=f"{knob} must be {choices}, not "):
        assert_(never, X, never, **{knob: bad})


@each
def test_an_assertion_has_the_parameters_of_its_check(assert_):
    ours = dict(inspect.signature(assert_).parameters)
    assert ours.pop("unsure").default == "warn"
    assert ours.pop("empty").default == "unsure"
    assert list(ours.values()) == list(inspect.signature(TWINS[assert_]).parameters.values())


@each
def test_the_knobs_reach_the_check(assert_):
    f, x, derivative = RIGHT[assert_]
    report = assert_(
        f, x, derivative, rtol=1e-3, atol=1e-5, max_evaluations=20, seed=7, unsure="pass"
    )
    assert (report.rtol, report.atol, report.seed) == (1e-3, 1e-5, 7)
    assert report.evaluations <= 20


def test_an_error_can_be_sent_to_another_process():
    with pytest.raises(GradientError) as raised:
        assert_gradient(*WRONG[assert_gradient])
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is GradientError
    assert str(again) == str(raised.value)
    assert again.report.to_dict() == raised.value.report.to_dict()


A_TEST_FILE = """
    import numpy as np
    from gradcheck_ref.check import assert_gradient

    X = np.array([0.5, 1.0, 2.0])

    def test_wrong():
        assert_gradient(lambda x: np.sum(x**3), X, lambda x: 9 * x**2)

    def test_unsure():
        assert_gradient(lambda x: np.sum(np.abs(x)), np.array([0.0, 1.0]), np.array([0.5, 1.0]))
"""


@pytest.mark.slow
def test_pytest_shows_the_whole_story(pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    pytester.makepyfile(A_TEST_FILE)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            ">       assert_gradient(lambda x: np.sum(x[*][*]3), X, lambda x: 9 * x[*][*]2)",
            "E       *GradientError: FAIL  x: 3 of 3 entries differ; worst at [[]?]: *",
            "E       looks like: every entry is 3 x *",
            "E       try: *",
            "E       entry *ratio*",
            "E       x[[]?] *",
            "E       * evaluations, noise of f *, rtol 1e-6, atol by scale, seed 0",
            "*GradientWarning: UNSURE  1 of 2 entries is at a kink*",
        ]
    )
    # The frames between the test and the verdict are ours, and tell nothing.
    result.stdout.no_fnmatch_line("*_insist*")
