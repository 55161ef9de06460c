"""The check on the whole zoo: errors of any size, and honest bars; and what people hand over."""

import numpy as np
import pytest
from zoo_reports import CASES, checked, report_on

from gradcheck_ref.check import check_gradient, check_jvp, check_vjp
from gradcheck_ref.zoo.problem import problems

SMOOTH = {name: case for name, case in CASES.items() if "smooth" in case.tags}


@pytest.mark.slow
def test_the_error_bars_are_honest_on_smooth_functions():
    inside = []
    for name in SMOOTH:
        for pair in report_on(name).pairs:
            slack = 1e-13 * np.abs(pair.analytic).max(initial=0)  # of the truth itself
            inside.append(np.ravel(pair.difference <= pair.error + slack))
    assert np.concatenate(inside).mean() >= 0.99


# The smallest error that is promised to be seen, at all functions; larger ones, of which the zoo
# has hundreds, in turn.
SMALLEST, LARGER = 3e-6, [1.0, 1e-2, 1e-4, 1e-5]
OF_ONE_INPUT = [name for name, case in SMOOTH.items() if len(case.inputs) == 1]


@pytest.mark.one_in(10)
@pytest.mark.parametrize(
    ("name", "sizes"),
    [(name, (SMALLEST, LARGER[k % len(LARGER)])) for k, name in enumerate(OF_ONE_INPUT)],
)
def test_a_planted_error_of_any_size_is_refused(name, sizes):
    case = CASES[name]
    if not any(np.any(problem.claimed) for problem in problems(case, case.vjp)):
        assert "zero-gradient" in case.tags  # nothing to be relative to
        return
    for size in sizes:

        def planted(upstream, x, size=size):
            gradient = np.array(case.vjp(upstream, x), order="C")
            flat = gradient.reshape(-1)
            flat[np.argmax(np.abs(flat))] *= 1 + size
            return gradient

        assert checked(case, planted).verdict == "fail", size


# The one table of costs: evaluations for the sum of sin of so many numbers, right and doubled.
MOST_EVALUATIONS = {3: (34, 60), 10: (80, 150), 30: (205, 400), 300: (150, 240)}


@pytest.mark.parametrize(("size", "most"), MOST_EVALUATIONS.items())
def test_a_check_takes_at_most_so_many_evaluations(size, most):
    x = np.random.default_rng(0).normal(size=size)
    for factor, few in zip((1, 2), most, strict=True):
        report = check_gradient(lambda x: np.sum(np.sin(x)), x, lambda x, k=factor: k * np.cos(x))
        assert report.evaluations <= few


# --- what users hand over, and get wrong ---------------------------------------------------------


def half_square(x):
    return 0.5 * np.sum(x * x)


POINT = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("size", [3, 60])
def test_f_decides_which_of_two_contradictory_products_is_wrong(size):
    x = np.linspace(0.1, 1.5, size)
    products = {"right": lambda w, x: w * np.cos(x), "wrong": lambda w, x: 1.1 * w * np.cos(x)}

    def said(check, asked, other, name):
        report = check(np.sin, x, products[asked], **{name: products[other]})
        assert report.verdict == "fail"
        return " ".join(str(report).split())

    against = "so the error is in {}"
    assert against.format("jvp") in said(check_vjp, "right", "wrong", "jvp")
    assert against.format("vjp") in said(check_jvp, "right", "wrong", "vjp")
    assert "The measured slopes disagree with vjp" in said(check_vjp, "wrong", "right", "jvp")
    assert "The measured slopes disagree with jvp" in said(check_jvp, "wrong", "right", "vjp")


@pytest.mark.parametrize(
    ("inputs", "knobs", "error", "words"),
    [
        (POINT, {"rtol": -1}, ValueError, "rtol must be"),
        (POINT, {"atol": np.nan}, ValueError, "atol must be"),
        (POINT, {"max_evaluations": 3}, ValueError, "max_evaluations must be at least"),
        (POINT, {"rtol": 0}, ValueError, "rtol=0 allows no error"),
        (POINT, {"rtl": 1}, TypeError, "rtl"),
        (np.array([1, 2]), {}, TypeError, "nothing to differentiate"),
        (np.array([1.0, np.inf]), {}, ValueError, "needs a finite point"),
        ({"y": POINT}, {}, TypeError, "by the names y"),
    ],
    ids=["rtol", "atol", "few", "zero", "typo", "integers", "inf", "wrong-name"],
)
def test_bad_arguments_are_refused_with_a_sentence(inputs, knobs, error, words):
    with pytest.raises(error, match=words):
        check_gradient(half_square, inputs, POINT, **knobs)


@pytest.mark.parametrize(
    ("inputs", "hint"), [([1.0, 2.0], True), ((np.ones(2), np.ones(2)), False)], ids=["list", "two"]
)
def test_a_list_in_place_of_an_array_is_refused_with_advice(inputs, hint):
    with pytest.raises(TypeError) as raised:
        check_gradient(np.sum, inputs, [1.0, 1.0])
    assert any("pass np.array" in note for note in raised.value.__notes__) == hint


def test_warnings_of_f_outside_its_domain_are_silenced():
    assert check_gradient(lambda x: np.sum(np.log(x)), np.array([1e-4]), lambda x: 1 / x)


@pytest.mark.parametrize(
    "jvp",
    [lambda v, x: None, lambda v, x: np.ones(3), lambda v, x: v * np.nan],
    ids=["none", "shape", "nan"],
)
def test_an_unreadable_second_product_does_not_pass(jvp):
    x = np.array([0.3, 0.4])
    assert check_vjp(np.sin, x, lambda u, x: u * np.cos(x), jvp=jvp).verdict == "fail"


@pytest.mark.parametrize("second", [np.full(3, np.nan), np.ones((3, 1)), 2 * POINT + 0j])
def test_an_unreadable_second_answer_does_not_pass(second):
    answers = [2 * POINT, second]
    report = check_gradient(lambda x: np.sum(x**2), POINT, lambda x: answers.pop(0))
    assert (report.verdict, report.reason) == ("fail", "nondeterministic")


def test_a_number_cannot_be_written_to():
    def f(x):
        x *= 2
        return x**2

    assert check_gradient(f, 1.5, 12.0).verdict == "pass"


SCORES, SIGNS = np.array([0.5, -1.25, 2.0]), np.array([1.0, -1.0, -1.0])


def logistic(scores, labels):
    """A loss that compares its labels, which here are floats: it jumps if one of them moves."""
    return np.mean(np.logaddexp(0, np.where(labels == 1, -scores, scores)))


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "unsure"), (1 + 1e-5, "fail")])
def test_an_input_at_a_jump_does_not_hide_the_slopes_by_the_others(factor, verdict):
    def claim(scores, labels):
        signs = np.where(labels == 1, 1.0, -1.0)
        by_scores = -signs / (1 + np.exp(signs * scores)) / scores.size
        return factor * by_scores, np.zeros(labels.size)

    report = check_gradient(logistic, {"scores": SCORES, "labels": SIGNS}, claim)
    scores, labels = sorted(report.pairs, key=lambda pair: pair.input.name == "labels")
    assert report.verdict == verdict
    assert {str(reason) for reason in scores.reason.flat} == {"ok" if factor == 1 else "wrong"}
    # A label that the comparison does not find, moved or not, does nothing; the other one jumps.
    assert [str(reason) for reason in labels.reason.flat] == ["kink", "ok", "ok"]
    assert ("pass labels as integers" in " ".join(str(report).split())) == (factor == 1)
    labels = SIGNS.astype(int)
    constant = check_gradient(logistic, {"scores": SCORES, "labels": labels}, claim)
    assert constant.verdict == ("pass" if factor == 1 else "fail")
