"""The check on the whole zoo: no false alarm, no bug accepted, honest error bars, and the cost."""

import numpy as np
import pytest
from zoo_reports import CASES, checked, report_on, reports_on_bugs

from gradcheck_ref.check import check_gradient, check_jvp, check_vjp
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


@pytest.mark.parametrize(
    ("name", "reasons"),
    [("float32_layer", {"noise", "stairs"}), ("float32_softplus", {"noise", "stairs"})],
)
def test_what_is_rounded_to_float32_inside_is_called_noise_or_stairs(name, reasons):
    assert report_on(name).verdict == "unsure"
    assert report_on(name).reason in reasons


# The gradient to all tied entries: each lies between its one-sided slopes, and none alone shows it.
NOT_SEEN_ALONE = {"maximum_with_tie/to-all", "max_pooling_with_tie/to-all"}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.bugs])
def test_no_wrong_gradient_is_accepted(name):
    verdicts = {bug.id: report_on(name, bug.id).verdict for bug in CASES[name].bugs}
    due = {id: "unsure" if id in NOT_SEEN_ALONE else "fail" for id in verdicts}
    assert verdicts == due


@pytest.mark.parametrize(
    ("diagnosis", "reason"),
    [("missing-sum", "shape"), ("mutated", "mutated"), ("accumulated", "nondeterministic")],
)
def test_a_bug_that_is_no_number_is_refused_for_what_it_is(diagnosis, reason):
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
        name: (report_on(name), sum(p.x.size for p in report_on(name).pairs if p.output.start == 0))
        for name in SMOOTH
    }
    costs = [(on_right.evaluations - 2) / size for on_right, size in looked.values() if size]
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
        (np.asfortranarray(np.outer(POINT, POINT)), lambda x: x),
        (np.array(3.0), np.array(3.0)),
        (3.0, 3.0),
        (POINT.astype(np.longdouble), lambda x: x),
    ],
    ids=["array", "callable", "list", "mapping", "fortran", "0-d", "number", "longdouble"],
)
def test_inputs_come_in_any_structure_and_gradients_mirror_it(inputs, grads):
    assert check_gradient(half_square, inputs, grads).verdict == "pass"


def test_a_wrong_gradient_in_any_structure_fails():
    assert check_gradient(half_square, {"x": POINT}, {"x": 2 * POINT}).verdict == "fail"


def test_integer_inputs_are_constants():
    def pick(x, i):
        return np.sum(x[i])

    report = check_gradient(pick, (POINT, np.array([0, 2])), (np.array([1.0, 0.0, 1.0]), None))
    assert report.verdict == "pass"
    assert report.compared == 3


def test_several_outputs_of_which_one_is_an_integer():
    def f(x):
        return int(np.argmax(x)), x * x

    assert check_vjp(f, POINT, lambda u, x: 2 * x * u[1]).verdict == "pass"
    assert check_vjp(f, POINT, lambda u, x: x * u[1]).verdict == "fail"


def test_complex_inputs_follow_the_convention_of_torch():
    z = np.array([0.3 + 0.7j, -1.1 + 0.2j])
    assert check_vjp(lambda z: z * z, z, lambda u, z: u * 2 * np.conj(z)).verdict == "pass"
    assert check_vjp(lambda z: z * z, z, lambda u, z: u * 2 * z).verdict == "fail"


def test_both_products_are_held_against_each_other_without_a_step():
    report = check_vjp(
        np.sin, POINT, lambda u, x: u * np.cos(x), jvp=lambda v, x: v * np.cos(x) * (1 + 1e-5)
    )
    assert report.verdict == "fail"
    said = " ".join(str(report).split())
    assert "not adjoint" in said
    assert "The measured slopes agree with vjp, so the error is in jvp" in said
    wrong = check_vjp(np.sin, POINT, lambda u, x: -u * np.cos(x), jvp=lambda v, x: v * np.cos(x))
    assert "The measured slopes disagree with vjp" in " ".join(str(wrong).split())
    right = check_vjp(np.sin, POINT, lambda u, x: u * np.cos(x), jvp=lambda v, x: v * np.cos(x))
    assert right.verdict == "pass"


@pytest.mark.parametrize("size", [3, 60])
def test_of_two_products_that_do_not_fit_the_numbers_tell_which_is_wrong(size):
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


def test_a_jvp_is_checked_as_a_vjp_is():
    assert check_jvp(np.sin, POINT, lambda v, x: v * np.cos(x)).verdict == "pass"
    assert check_jvp(np.sin, POINT, lambda v, x: v * np.cos(x) * [1, 1, -1]).verdict == "fail"


def test_products_may_be_attributes_of_f():
    class Sine:
        def __call__(self, x):
            return np.sin(x)

        def vjp(self, upstream, x):
            return upstream * np.cos(x)

    assert check_vjp(Sine(), POINT).verdict == "pass"


@pytest.mark.parametrize(
    ("f", "grads", "reason", "words"),
    [
        (half_square, lambda x: np.ones((2, 3)), "shape", "shape (2, 3) for x"),
        (half_square, lambda x: x + 0j, "dtype", "complex gradient for the real input x"),
        (half_square, lambda x: None, "structure", "no gradient for x"),
        (half_square, lambda x: x * [1, np.nan, 1], "nonfinite", "worst at [1]: analytic nan"),
        (lambda x: half_square(POINT), lambda x: POINT, "ignores-input", "closure"),
    ],
    ids=["shape", "dtype", "structure", "nonfinite", "ignores-input"],
)
def test_what_is_no_wrong_number_fails_with_its_own_reason(f, grads, reason, words):
    report = check_gradient(f, POINT, grads)
    assert (report.verdict, report.reason) == ("fail", reason)
    text = " ".join(str(report).split())
    assert words in text or (reason == "ignores-input" and "from somewhere else" in text)


def test_an_f_that_writes_to_its_input_fails_and_the_callers_array_is_untouched():
    x = POINT.copy()

    def f(x):
        x *= 2
        return np.sum(x)

    report = check_gradient(f, x, np.full(3, 2.0))
    assert (report.verdict, report.reason) == ("fail", "mutated")
    assert np.array_equal(x, POINT)


def test_an_f_that_is_random_is_unsure_and_its_noise_is_measured():
    rng = np.random.default_rng(0)
    report = check_gradient(lambda x: half_square(x) + 1e-3 * rng.normal(), POINT, POINT)
    assert (report.verdict, report.reason) == ("unsure", "nondeterministic")
    assert 1e-4 < report.noise < 1e-2


def test_a_gradient_with_state_is_caught_at_the_second_call():
    total = np.zeros(3)

    def accumulating(x):
        total[:] += x
        return total

    report = check_gradient(half_square, POINT, accumulating)
    assert (report.verdict, report.reason) == ("fail", "nondeterministic")


def test_nothing_to_compare_is_no_pass():
    report = check_gradient(lambda x: float(np.sum(x)), np.zeros(0), np.zeros(0))
    assert (report.verdict, report.reason, bool(report)) == ("unsure", "empty", False)


def test_a_point_too_far_out_for_a_step_is_unsure():
    report = check_gradient(lambda x: np.sum(np.sin(x)), np.array([1e20]), lambda x: np.cos(x))
    assert report.verdict == "unsure"


def test_with_few_evaluations_all_entries_are_seen_by_lines():
    def f(a, b):
        return np.sum(np.sin(a)) + np.sum(b * b)

    a, b = np.linspace(0, 1, 400), np.linspace(1, 2, 100)
    report = check_gradient(f, (a, b), (np.cos(a), 2 * b), max_evaluations=300)
    assert report.verdict == "pass"
    assert report.evaluations <= 300
    assert (report.looked, report.compared, report.entries) == (0, 500, 500)
    assert report.certificate.vouched == 500


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
        ([1.0, 2.0], "for one array, pass np.array"),
        (np.array([1.0, np.inf]), "needs a finite point"),
        ({"y": POINT}, "by the names y"),
    ],
    ids=["integers", "list-for-array", "inf", "wrong-name"],
)
def test_bad_inputs_are_refused_with_a_sentence(inputs, words):
    with pytest.raises((TypeError, ValueError), match=words):
        check_gradient(half_square, inputs, POINT)


def test_an_error_in_f_comes_through_with_the_place():
    def f(x):
        if x[1] > -1.0:
            raise LookupError("boom")
        return np.sum(x)

    with pytest.raises(LookupError, match="boom") as caught:
        check_gradient(f, POINT, np.ones(3))
    assert "in gradcheck_ref, calling f at x" in caught.value.__notes__[0]


# --- scales, waves, stairs: what misled earlier versions -----------------------------------------


@pytest.mark.parametrize(
    ("f", "slope", "x"),
    [
        (lambda x: np.sum((x - 1) ** 2), lambda x: 2 * (x - 1), [1.0, 1.0]),
        (lambda x: np.sum(np.sin(x)), np.cos, [1.6e6, 2e6]),
        (lambda x: np.sum(np.sin(x)), np.cos, [1e8, 3e8]),
        (lambda x: np.sum(x**3), lambda x: 3 * x**2, [1e-12, 3e-12]),
        (lambda x: np.sum(1 / (1 + (1e6 * (x - 1)) ** 2)), None, [1 + 1e-6, 1 - 5e-7]),
        (lambda x: np.sum(np.exp(-((1e4 * x) ** 2))), None, [1e-4, -2e-4]),
        (lambda x: 1e-14 * np.sum(np.tanh(x)), None, [0.3, -0.8]),
        (lambda x: 1e12 * np.sum(np.tanh(x)), None, [0.3, -0.8]),
    ],
    ids=["minimum", "1e6", "1e8", "tiny-x", "lorentzian", "gaussian", "tiny-f", "huge-f"],
)
def test_scales_of_all_kinds(f, slope, x):
    x = np.array(x)
    if slope is None:  # by the complex step, exact
        slope = lambda x: np.array(  # noqa: E731
            [np.imag(f(x + 1e-200j * e)) / 1e-200 for e in np.eye(x.size)]
        )
    right = slope(x)
    assert check_gradient(f, x, right).verdict == "pass"
    if right.any():
        assert check_gradient(f, x, 1.001 * right).verdict == "fail"
        assert check_gradient(f, x, -right).verdict == "fail"
        assert check_gradient(f, x, 0 * right).verdict == "fail"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(np.sum(np.sin(x)).astype(np.float16)),
        lambda x: float(np.sum(np.sin(x)).astype(np.float32)),
        lambda x: float(np.round(np.sum(np.sin(x)), 2)),
        lambda x: float(np.round(np.sum(np.sin(x)), 3)),
        lambda x: float(np.round(np.sum(np.sin(x)), 4)),
        lambda x: np.sum(np.sin(x)) + 1e-8 * np.sin(1e11 * x[0]),
    ],
    ids=["float16", "float32", "2-digits", "3-digits", "4-digits", "wave"],
)
def test_stairs_and_hidden_waves_convict_nobody(f):
    x = np.array([0.37, -0.81])
    assert check_gradient(f, x, np.cos(x)).verdict != "fail"
    assert check_gradient(f, x, -np.cos(x)).verdict in ("fail", "unsure")


def test_outside_of_the_domain_f_warns_nobody():
    assert check_gradient(lambda x: np.sum(np.log(x)), np.array([1e-4]), lambda x: 1 / x)


@pytest.mark.parametrize("x", [1e-300, 1e-100, 1e-30, 1e-20, 1e-12, 1e-6])
def test_a_slope_that_does_not_settle_at_the_edge_of_a_domain_convicts_nobody(x):
    x = np.array([x, 0.3])
    report = check_gradient(lambda x: np.sum(x * np.log(x)), x, lambda x: np.log(x) + 1)
    assert report.verdict != "fail"


def test_one_side_is_enough_where_f_has_only_one():
    def f(x):  # ends at 0, with slope 1
        return np.sum(np.where(x >= 0, np.exp(x), np.nan))

    assert check_gradient(f, np.zeros(2), np.ones(2)).verdict == "pass"
    assert check_gradient(f, np.zeros(2), np.array([1.0, 1.01])).verdict == "fail"


@pytest.mark.parametrize("wave", [1e6, 1e7, 1e8, 1e9, 1e12])
def test_a_wave_of_any_length_convicts_no_right_gradient(wave):
    x = np.array([0.5, -1.3, 0.9])
    report = check_gradient(
        lambda x: np.sum(np.sin(wave * x)), x, lambda x: wave * np.cos(wave * x)
    )
    assert report.verdict != "fail"


def confident_loss(z):
    largest = z.max()
    return largest + np.log(np.exp(z - largest).sum()) - z[0]


def gradient_of_confident_loss(z):
    p = np.exp(z - z.max())
    p /= p.sum()
    p[0] -= 1
    return p


@pytest.mark.parametrize("logit", [20.0, 30.0, 34.0, 37.0, 40.0, 60.0, 100.0, 800.0])
def test_a_loss_that_is_rounded_to_zero_inside_convicts_nobody(logit):
    report = check_gradient(confident_loss, np.array([logit, 0.0, 1.0]), gradient_of_confident_loss)
    assert report.verdict != "fail"


@pytest.mark.slow
def test_float32_units_that_are_saturated_convict_nobody():
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(6, 4)) * 1000).astype(np.float32)
    for _ in range(20):
        w = rng.normal(size=4) * 0.01
        report = check_gradient(
            lambda w: float(np.tanh(X @ w.astype(np.float32)).sum()),
            w,
            X.astype(float).T @ (1 - np.tanh(X.astype(float) @ w) ** 2),
        )
        assert report.verdict != "fail"


@pytest.mark.parametrize(
    "jvp",
    [lambda v, x: None, lambda v, x: np.ones(3), lambda v, x: v * np.nan],
    ids=["none", "shape", "nan"],
)
def test_a_second_product_that_cannot_be_read_is_no_pass(jvp):
    x = np.array([0.3, 0.4])
    assert check_vjp(np.sin, x, lambda u, x: u * np.cos(x), jvp=jvp).verdict == "fail"


@pytest.mark.parametrize("second", [np.full(3, np.nan), np.ones((3, 1)), 2 * POINT + 0j])
def test_a_second_answer_that_cannot_be_read_is_no_pass(second):
    answers = [2 * POINT, second]
    report = check_gradient(lambda x: np.sum(x**2), POINT, lambda x: answers.pop(0))
    assert (report.verdict, report.reason) == ("fail", "nondeterministic")


def test_a_number_cannot_be_written_to():
    def f(x):
        x *= 2
        return x**2

    assert check_gradient(f, 1.5, 12.0).verdict == "pass"


def test_what_a_small_budget_cannot_hold_is_no_pass():
    def f(a, b, c, d, e, f, g):
        return a**2 + b**2 + c**2 + d**2 + e**2 + f**2 + g**2

    point = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    report = check_gradient(f, point, [2 * x for x in point], max_evaluations=40)
    assert (report.verdict, report.reason) == ("unsure", "precision")  # seen by five lines only
    assert "the claims for 7 entries agree with f along 5 random lines, but so few" in str(report)
    assert report.evaluations <= 40


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
def test_a_product_that_is_not_implemented_is_missed_only_where_it_was_asked_for(check, missing):
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
def test_an_input_that_makes_f_jump_hides_no_slope_by_the_others(factor, verdict):
    def claim(scores, labels):
        by_scores, by_labels = logistic_slopes(scores, labels)
        return factor * by_scores, by_labels

    report = check_gradient(logistic, {"scores": SCORES, "labels": SIGNS}, claim)
    scores, labels = sorted(report.pairs, key=lambda pair: pair.input.name == "labels")
    assert report.verdict == verdict
    assert {str(reason) for reason in scores.reason.flat} == {"ok" if factor == 1 else "wrong"}
    # A label that the comparison does not find, moved or not, does nothing; the other one jumps.
    assert [str(reason) for reason in labels.reason.flat] == ["kink", "flat", "flat"]
    labels = SIGNS.astype(int)
    constant = check_gradient(logistic, {"scores": SCORES, "labels": labels}, claim)
    assert constant.verdict == ("pass" if factor == 1 else "fail")


@pytest.mark.parametrize(
    "x",
    [([0.34, 0.42], [0.37, 0.38]), ([1.09, -0.05], [-0.28, 1.64]), ([-1.0, 0.37], [0.79, -0.48])],
    ids=str,
)
def test_an_input_too_faint_to_be_heard_alone_convicts_nobody(x):
    """What is rounded by itself stands still as the faint input moves, and is silent only so."""
    loud, faint = map(np.array, x)
    report = check_gradient(
        lambda loud, faint: np.round(np.sum(np.sin(loud)) + 1e-7 * np.sum(np.cos(faint)), 4),
        (loud, faint),
        (np.cos(loud), -1e-7 * np.sin(faint)),
    )
    assert report.verdict == "unsure"


def test_with_few_evaluations_inputs_are_not_listened_to_one_by_one():
    count = [0]

    def f(scores, labels):
        count[0] += 1
        return logistic(scores, labels)

    report = check_gradient(f, (SCORES, SIGNS), logistic_slopes(SCORES, SIGNS), max_evaluations=40)
    assert count[0] == report.evaluations <= 40
    assert report.verdict == "unsure"


def test_a_gradient_of_zero_is_no_doubt_where_longer_steps_tell_less():
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
def test_a_list_taken_for_an_array_is_told_so_where_f_takes_more_arguments(inputs, hint):
    with pytest.raises(TypeError) as raised:
        check_gradient(np.sum, inputs, [1.0, 1.0])
    assert any("pass np.array" in note for note in raised.value.__notes__) == hint
