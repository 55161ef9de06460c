"""The check on the whole zoo: no false alarm, no bug accepted, honest error bars, and the cost."""

import numpy as np
import pytest
from zoo_reports import CASES, checked, report_on, reports_on_bugs

from gradcheck_ref.check import check_gradient, check_jvp, check_vjp
from gradcheck_ref.check.measure.long_look import LOOK
from gradcheck_ref.zoo.problem import problems

# Where a right gradient may be called unsure, and why.
EXCUSES = {
    "kink": {"kink"},
    "tie": {"kink"},
    "jump": {"kink"},
    "domain-edge": {"kink", "domain-edge", "noise"},
    "float32": {"noise", "stairs"},
    "noise": {"noise", "kink"},  # of pseudo-random digits: no two looks find the same slope
    "offset": {"noise"},  # 1e6 + 1e-3 sin x: rounding of the pedestal is noise like any other
}


@pytest.mark.parametrize("name", CASES)
def test_a_right_gradient_passes_or_is_excused(name):
    on_right, tags = report_on(name), CASES[name].tags
    excuses = set().union(*(EXCUSES.get(tag, set()) for tag in tags))
    assert on_right.verdict != "fail"
    if on_right.verdict == "unsure":
        assert on_right.reason in excuses
        assert "smooth" not in tags or "domain-edge" in tags
    if "kink" in tags:
        assert (on_right.verdict, on_right.reason) == ("unsure", "kink")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.bugs])
def test_no_wrong_gradient_is_accepted(name):
    verdicts = {bug.id: report_on(name, bug.id).verdict for bug in CASES[name].bugs}
    assert verdicts == dict.fromkeys(verdicts, "fail")


@pytest.mark.parametrize(
    ("diagnosis", "reason"),
    [("missing-sum", "shape"), ("mutated", "mutated"), ("accumulated", "nondeterministic")],
)
def test_a_nonfinite_gradient_is_refused_as_nonfinite(diagnosis, reason):
    reasons = [found.reason for bug, found in reports_on_bugs() if bug.diagnosis == diagnosis]
    assert reasons
    # Where there are several outputs, a state shows in the numbers, too.
    assert reasons.count(reason) >= 0.8 * len(reasons)


SMOOTH = {name: case for name, case in CASES.items() if "smooth" in case.tags}


def test_the_error_bars_are_honest_on_smooth_functions():
    inside = []
    for name in SMOOTH:
        for pair in report_on(name).pairs:
            slack = 1e-13 * np.abs(pair.analytic).max(initial=0)  # of the truth itself
            inside.append(np.ravel(pair.difference <= pair.error + slack))
    assert np.concatenate(inside).mean() >= 0.99


def test_most_entries_cost_six_evaluations():
    # 2 besides: f at x, before and after.
    looked = {
        name: (
            report_on(name),
            sum(p.rows.size for p in report_on(name).pairs if p.output.start == 0),
        )
        for name in SMOOTH
    }
    costs = [(on_right.evaluations - 2 - LOOK) / size for on_right, size in looked.values() if size]
    assert np.median(costs) == 6
    assert max(costs) <= 40
    # Of many inputs lines see all at once.
    by_lines = [on_right for on_right, size in looked.values() if not size]
    assert by_lines
    assert all(on_right.evaluations <= 200 for on_right in by_lines)


# The smallest error that is promised to be seen, at all functions; larger ones, of which the zoo
# has hundreds, in turn.
SMALLEST, LARGER = 3e-6, [1.0, 1e-2, 1e-4, 1e-5]
OF_ONE_INPUT = [name for name, case in SMOOTH.items() if len(case.inputs) == 1]


@pytest.mark.one_in(3)
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


# --- what users hand over, and get wrong ---------------------------------------------------------


def half_square(x):
    return 0.5 * np.sum(x * x)


POINT = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize(
    ("inputs", "grads"),
    [
        (POINT, POINT),
        (POINT, lambda x: x),
        ([POINT], [POINT]),
        ({"x": POINT}, {"x": POINT}),
        (3.0, 3.0),
    ],
    ids=["array", "callable", "list", "mapping", "number"],
)
def test_inputs_come_in_any_structure_and_gradients_mirror_it(inputs, grads):
    assert check_gradient(half_square, inputs, grads).verdict == "pass"


def test_an_integer_output_may_be_among_several_outputs():
    def f(x):
        return int(np.argmax(x)), x * x

    assert check_vjp(f, POINT, lambda u, x: 2 * x * u[1]).verdict == "pass"
    assert check_vjp(f, POINT, lambda u, x: x * u[1]).verdict == "fail"


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


def test_a_complex_gradient_of_a_real_input_fails():
    report = check_gradient(half_square, POINT, lambda x: x + 0j)
    assert (report.verdict, report.reason) == ("fail", "dtype")
    assert "complex gradient for the real input x" in " ".join(str(report).split())


@pytest.mark.parametrize(
    ("knobs", "error", "words"),
    [
        ({"rtol": -1}, ValueError, "rtol must be"),
        ({"atol": np.nan}, ValueError, "atol must be"),
        ({"max_evaluations": 3}, ValueError, "max_evaluations must be at least"),
        ({"rtl": 1}, TypeError, "rtl"),
    ],
)
def test_bad_knobs_are_refused_before_f_is_called(knobs, error, words):
    def never(x):
        raise AssertionError("f was called")

    with pytest.raises(error, match=words):
        check_gradient(never, POINT, POINT, **knobs)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (np.array([1, 2]), "nothing to differentiate"),
        (np.array([1.0, np.inf]), "needs a finite point"),
        ({"y": POINT}, "by the names y"),
    ],
    ids=["integers", "inf", "wrong-name"],
)
def test_bad_inputs_are_refused_with_a_sentence(inputs, words):
    with pytest.raises((TypeError, ValueError), match=words):
        check_gradient(half_square, inputs, POINT)


# --- what misled earlier versions ----------------------------------------------------------------


def test_warnings_of_f_outside_its_domain_are_silenced():
    assert check_gradient(lambda x: np.sum(np.log(x)), np.array([1e-4]), lambda x: 1 / x)


def test_a_one_sided_slope_suffices_at_the_edge_of_the_domain():
    def f(x):  # ends at 0, with slope 1
        return np.sum(np.where(x >= 0, np.exp(x), np.nan))

    assert check_gradient(f, np.zeros(2), np.ones(2)).verdict == "pass"
    assert check_gradient(f, np.zeros(2), np.array([1.0, 1.01])).verdict == "fail"


def confident_loss(z):
    largest = z.max()
    return largest + np.log(np.exp(z - largest).sum()) - z[0]


def gradient_of_confident_loss(z):
    p = np.exp(z - z.max())
    p /= p.sum()
    p[0] -= 1
    return p


@pytest.mark.parametrize("logit", [20.0, 30.0, 34.0, 37.0, 40.0, 60.0, 100.0, 800.0])
def test_a_loss_that_rounds_to_zero_inside_fails_no_gradient(logit):
    report = check_gradient(confident_loss, np.array([logit, 0.0, 1.0]), gradient_of_confident_loss)
    assert report.verdict != "fail"


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


class Halves:
    """The sine with one product; the other is there, and not implemented."""

    def __init__(self, missing):
        self.missing = missing

    def __call__(self, x):
        return np.sin(x)

    def product(self, name, vector, x):
        if name == self.missing:
            raise NotImplementedError(f"no {name}")
        return vector * np.cos(x)

    def vjp(self, upstream, x):
        return self.product("vjp", upstream, x)

    def jvp(self, tangent, x):
        return self.product("jvp", tangent, x)


@pytest.mark.parametrize(("check", "missing"), [(check_vjp, "jvp"), (check_jvp, "vjp")])
def test_an_unimplemented_product_is_an_error_only_if_requested(check, missing):
    f, x = Halves(missing), np.array([0.5, 1.0])
    assert check(f, x).verdict == "pass"
    with pytest.raises(NotImplementedError, match=f"no {missing}"):
        check(f, x, **{missing: getattr(f, missing)})
    with pytest.raises(NotImplementedError, match=f"no {missing}"):
        {"jvp": check_jvp, "vjp": check_vjp}[missing](f, x)


SCORES, SIGNS = np.array([0.5, -1.25, 2.0]), np.array([1.0, -1.0, -1.0])


def logistic(scores, labels):
    """A loss that compares its labels, which here are floats: it jumps if one of them moves."""
    return np.mean(np.logaddexp(0, np.where(labels == 1, -scores, scores)))


def logistic_slopes(scores, labels):
    signs = np.where(labels == 1, 1.0, -1.0)
    return -signs / (1 + np.exp(signs * scores)) / scores.size, np.zeros(labels.size)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "unsure"), (1 + 1e-5, "fail")])
def test_an_input_at_a_jump_does_not_hide_the_slopes_by_the_others(factor, verdict):
    def claim(scores, labels):
        by_scores, by_labels = logistic_slopes(scores, labels)
        return factor * by_scores, by_labels

    report = check_gradient(logistic, {"scores": SCORES, "labels": SIGNS}, claim)
    scores, labels = sorted(report.pairs, key=lambda pair: pair.input.name == "labels")
    assert report.verdict == verdict
    assert {str(reason) for reason in scores.reason.flat} == {"ok" if factor == 1 else "wrong"}
    # A label that the comparison does not find, moved or not, does nothing; the other one jumps.
    assert [str(reason) for reason in labels.reason.flat] == ["kink", "flat", "flat"]
    assert ("pass labels as integers" in " ".join(str(report).split())) == (factor == 1)
    labels = SIGNS.astype(int)
    constant = check_gradient(logistic, {"scores": SCORES, "labels": labels}, claim)
    assert constant.verdict == ("pass" if factor == 1 else "fail")


@pytest.mark.parametrize(
    "x",
    [([0.34, 0.42], [0.37, 0.38]), ([1.09, -0.05], [-0.28, 1.64]), ([-1.0, 0.37], [0.79, -0.48])],
    ids=str,
)
def test_an_input_with_an_effect_below_rounding_fails_no_gradient(x):
    """What is rounded by itself stands still as the faint input moves, and is silent only so."""
    loud, faint = map(np.array, x)
    report = check_gradient(
        lambda loud, faint: np.round(np.sum(np.sin(loud)) + 1e-7 * np.sum(np.cos(faint)), 4),
        (loud, faint),
        (np.cos(loud), -1e-7 * np.sin(faint)),
    )
    assert report.verdict == "unsure"


def test_a_zero_gradient_passes_although_longer_steps_are_less_accurate():
    """With as many of each class, and no scores yet, nothing pulls at the biases of a softmax."""
    labels = np.repeat(np.arange(3), 4)

    def loss(scores):
        return np.mean(np.log(np.exp(scores).sum()) - scores[labels])

    for wrong in (0.0, 1e-9, 1e-4):
        report = check_gradient(loss, np.zeros(3), np.full(3, wrong))
        assert report.verdict == ("pass" if wrong == 0 else "fail")


@pytest.mark.parametrize(
    ("inputs", "hint"), [([1.0, 2.0], True), ((np.ones(2), np.ones(2)), False)], ids=["list", "two"]
)
def test_a_list_in_place_of_an_array_is_refused_with_advice(inputs, hint):
    with pytest.raises(TypeError) as raised:
        check_gradient(np.sum, inputs, [1.0, 1.0])
    assert any("pass np.array" in note for note in raised.value.__notes__) == hint
