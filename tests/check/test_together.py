"""What K random lines prove, tested as such: how often an error hides, and how far it may reach."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp
from gradcheck_ref.check.judge import survey, together
from gradcheck_ref.check.knobs import ALLOWED_BY_LINES
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.measure.long_look import LOOK
from gradcheck_ref.check.results import PASS, UNSURE
from gradcheck_ref.structure.inputs import Inputs

SIZE, TRIALS = 101, 250


# --- the proof, over planted errors -----------------------------------------------------------


def one_entry(rng):
    error = np.zeros(SIZE)
    error[rng.integers(SIZE)] = 1.0
    return error


def two_that_cancel(rng):
    error = np.zeros(SIZE)
    error[rng.choice(SIZE, 2, replace=False)] = 1.0, -1.0
    return error


def all_entries(rng):
    return rng.normal(size=SIZE)


def of_all_sizes(rng):
    return rng.normal(size=SIZE) * 10.0 ** rng.uniform(-6, 6, SIZE)


def halving(rng):
    """The worst there is: every residual may be small beside the largest error."""
    return rng.permutation(2.0 ** -np.arange(SIZE))


PATTERNS = [one_entry, two_that_cancel, all_entries, of_all_sizes, halving]


def residuals(errors, lines, inputs):
    """Return what a check of a linear f would see: how far the claims are off along each line."""
    made = [Line(inputs, 0, SIZE, (11, k)) for k in range(lines * len(errors))]
    directions = np.array([line.direction for line in made]).reshape(len(errors), lines, SIZE)
    return np.einsum("tki,ti->tk", directions, errors), inputs.units(0, SIZE)


@pytest.fixture(scope="module")
def inputs():
    rng = np.random.default_rng(0)
    return Inputs(lambda x: 0.0, rng.normal(size=SIZE) * 10.0 ** rng.uniform(-3, 3, SIZE))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_k_lines_miss_an_error_at_most_once_in_two_to_the_k_times(pattern, inputs):
    rng = np.random.default_rng(1)
    errors = np.array([pattern(rng) for _ in range(TRIALS)])
    seen, units = residuals(errors, 6, inputs)
    largest = np.abs(errors * units).max(axis=1)
    for lines in (1, 2, 3, 4, 6):
        # T says that no entry does more: wrong if all lines show less than the largest error.
        within = np.abs(seen[:, :lines]).max(axis=1)
        hides = np.mean(within < largest * (1 - 1e-9))
        chance = 2.0**-lines
        assert hides <= chance + 4 * np.sqrt(chance * (1 - chance) / len(errors))


def test_the_bound_is_reached_and_cannot_be_improved(inputs):
    """Two errors, one a little smaller: they cancel but for a little, or they add up."""
    rng = np.random.default_rng(2)
    errors = np.zeros((1000, SIZE))
    units = inputs.units(0, SIZE)
    for error in errors:
        i, j = rng.choice(SIZE, 2, replace=False)
        error[i], error[j] = 1 / units[i], 0.9 / units[j]
    seen, _ = residuals(errors, 3, inputs)
    for lines in (1, 2, 3):
        hides = np.mean(np.abs(seen[:, :lines]).max(axis=1) < 1)
        assert hides == pytest.approx(2.0**-lines, abs=4 * np.sqrt(0.25 / 1000))


# --- in a check -------------------------------------------------------------------------------


def check_with(monkeypatch, lines, f, x, claim, **knobs):
    monkeypatch.setattr(survey, "LINES", lines)
    monkeypatch.setattr(together, "FEWEST_LINES", 1)
    return check_gradient(f, x, claim, **knobs)


def test_a_wrong_claim_passes_a_check_of_k_lines_as_rarely_as_stated(monkeypatch):
    rng, lines = np.random.default_rng(3), 2
    x, passed, trials = rng.normal(size=SIZE), 0, 12
    g = rng.normal(size=SIZE)
    for seed in range(trials):
        claim = g.copy()
        i, j = rng.choice(SIZE, 2, replace=False)
        claim[i] += 1.0
        claim[j] += 1.0  # where their units are alike they cancel along half of the lines
        report = check_with(monkeypatch, lines, lambda x: g @ x, x, claim, seed=seed)
        passed += report.verdict == "pass"
        if report.verdict == "pass":
            assert report.certificate.chance == pytest.approx(2.0**-lines)
    chance = 2.0**-lines
    assert passed / trials <= chance + 4 * np.sqrt(chance * (1 - chance) / trials)


@pytest.mark.slow
def test_the_largest_error_is_within_the_stated_bound_as_often_as_stated(monkeypatch):
    """Errors below what a line can see are held to what it sees; noise makes that visible."""
    rng = np.random.default_rng(4)
    x, g = rng.uniform(1, 2, SIZE), rng.uniform(1, 2, SIZE)
    outside, trials, lines = 0, 24, 4
    for seed in range(trials):
        error = 1e-6 * np.array(PATTERNS[seed % len(PATTERNS)](rng))
        error /= max(1.0, np.abs(error).max() / 1e-6)
        report = check_with(monkeypatch, lines, lambda x: g @ x, x, g + error, rtol=1e-3, seed=seed)
        held = report.certificate
        typical = np.sqrt(np.mean((g + error) ** 2))
        outside += np.abs(error).max() > 1.001 * held.within * typical
        assert held.verdict == PASS
        assert held.vouched == SIZE
    chance = 2.0**-lines
    assert outside / trials <= chance + 4 * np.sqrt(chance / trials)


# --- what is said of it -----------------------------------------------------------------------


def many(size=300, seed=0):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=size), rng.normal(size=size)
    return (lambda x: np.sum(w * np.sin(x))), x, w * np.cos(x)


def test_twenty_lines_vouch_for_every_entry_of_a_right_gradient():
    report = check_gradient(*many())
    held = report.certificate
    assert (report.verdict, held.lines, held.vouched, held.entries) == ("pass", 20, 300, 300)
    assert held.chance == 2.0**-20
    assert held.within < 1e-6
    assert report.on_axes == 0
    assert report.evaluations <= LOOK + 9 + 20 * 6


def test_by_default_lines_hold_entries_to_the_tolerance_they_can_measure():
    loss, inputs, right = two_layer_net("relu", 0, features=100, hidden=98, rows=50)
    report = check_gradient(loss, inputs, right, max_evaluations=300)
    held = report.certificate
    assert report.verdict == "pass"
    assert held.vouched < held.entries
    assert held.within <= ALLOWED_BY_LINES
    assert "but: " in str(report)


def test_a_given_tolerance_is_held_or_unsure_with_a_sufficient_one_named():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    f = lambda x: float(1e3 + np.sum(np.sin(x)))  # noqa: E731
    report = check_gradient(f, x, np.cos(x), rtol=1e-12)
    held = report.certificate
    assert (report.verdict, report.reason) == ("unsure", "budget")  # for some axes
    assert (held.verdict, held.reason) == (UNSURE, "precision")
    assert held.vouched < held.entries
    assert held.rtol > 1e-12
    assert "entries to rtol=1e-12, and all to rtol=" in " ".join(str(report).split())
    wide = check_gradient(f, x, np.cos(x), rtol=1.01 * held.rtol)
    assert wide.verdict == "pass"


@pytest.mark.parametrize("atol", [1e-3, 1e-9])
def test_an_atol_holds_for_entries_that_only_lines_measured(atol):
    f, x, g = many()
    claim = g.copy()
    claim[7] += 1e-6
    report = check_gradient(f, x, claim, rtol=1e-9, atol=atol)
    assert report.verdict == ("pass" if atol == 1e-3 else "fail")


def test_the_chance_counts_every_round_of_lines():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=2000), np.ones(2000)
    for small, rounds in ((1.0, 1), (1e-3, 2)):  # small entries get lines of their own
        w[:200] = small
        report = check_gradient(lambda x: np.sum(w * np.sin(x)), x, w * np.cos(x), rtol=1e-7)
        assert report.verdict == "pass"
        assert report.certificate.chance == rounds * 2.0**-20


def test_a_check_with_few_lines_reports_their_result():
    f, x, g = many()
    right = check_gradient(f, x, g, max_evaluations=40)
    wrong = check_gradient(f, x, 3 * g, max_evaluations=20)
    assert right.verdict == wrong.verdict == "unsure"
    assert right.certificate.against is None
    assert "agree with f along 5 random lines, but so few lines miss a wrong entry" in " ".join(
        str(right).split()
    )
    analytic, numeric, bar = wrong.certificate.against
    assert analytic == pytest.approx(3 * numeric, rel=1e-6)
    assert bar < 1e-6 * abs(numeric)
    assert "disagree with f along 1 random line" in " ".join(str(wrong).split())


@pytest.mark.parametrize("most", [40, 60, 100, 150])
@pytest.mark.parametrize("factor", [-1.0, 1.001, 2.0])
def test_few_evaluations_suffice_to_fail_a_gradient_that_is_wrong_everywhere(factor, most):
    f, x, g = many()
    report = check_gradient(f, x, factor * g, max_evaluations=most)
    assert report.verdict == "fail"
    assert report.evaluations <= most
    assert report.on_axes < 3 or report.diagnoses[0].kind in ("factor", "sign")


def test_there_is_no_certificate_if_every_entry_was_measured():
    x = np.linspace(0.5, 2, 30)
    assert check_gradient(lambda x: np.sum(x**3), x, 3 * x**2).certificate is None


# --- lines leave a few entries in doubt -------------------------------------------------------


def solve(condition, seed):
    """Return a linear system of 72 numbers, and the weights of a loss."""
    rng = np.random.default_rng(seed)
    (left, _), (right, _) = (np.linalg.qr(rng.normal(size=(8, 8))) for _ in "AB")
    A = left * np.geomspace(1, 1 / condition, 8) @ right
    return (A, rng.normal(size=8)), rng.normal(size=8)


def vjp_of_solve(upstream, A, b):
    back = np.linalg.solve(A.T, upstream)
    return -np.outer(back, np.linalg.solve(A, b)), back


@pytest.mark.parametrize("condition", [1e2, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_only_entries_that_lines_leave_in_doubt_get_an_axis(seed, condition):
    inputs, w = solve(condition, seed)

    def wrong(upstream, A, b):
        by_a, by_b = vjp_of_solve(upstream, A, b)
        by_a[3, 4] *= 1.01
        return by_a, by_b

    report = check_vjp(np.linalg.solve, inputs, vjp_of_solve)
    assert report.verdict == "pass"
    assert report.evaluations <= 600
    assert check_vjp(np.linalg.solve, inputs, wrong).verdict == "fail"
    loss = lambda A, b: w @ np.linalg.solve(A, b)  # noqa: E731
    report = check_gradient(loss, inputs, lambda A, b: vjp_of_solve(w, A, b))
    assert report.verdict == "pass"
    assert report.evaluations <= 400
    assert report.certificate.vouched == report.certificate.entries == 72 - report.on_axes


@pytest.mark.parametrize("seed", range(3))
def test_an_axis_does_not_fail_by_an_error_that_the_lines_exclude(seed):
    """A wave of the solution is so fast that long steps along an axis see no slope at all."""
    inputs, w = solve(1e4, seed)
    loss = lambda A, b: np.sum(w * np.sin(np.linalg.solve(A, b)))  # noqa: E731

    def grads(A, b):
        return vjp_of_solve(w * np.cos(np.linalg.solve(A, b)), A, b)

    report = check_gradient(loss, inputs, grads)
    assert (report.verdict, report.reason) == ("unsure", "budget")
    assert f"{report.evaluations} evaluations of f were not enough" in " ".join(str(report).split())
    by_a, by_b = grads(*inputs)
    assert check_gradient(loss, inputs, (2 * by_a, by_b)).verdict != "pass"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("decimals", [1, 15], ids=["ties", "no ties"])
def test_a_max_over_ties_is_at_a_kink_for_any_budget(decimals, seed):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(132, 2)).round(decimals), rng.normal(size=132)
    claim = w[:, None] * (np.arange(2) == x.argmax(axis=1)[:, None])
    for most in (None, 5000):
        report = check_gradient(lambda x: w @ x.max(axis=1), x, claim, max_evaluations=most)
        wanted = ("unsure", "kink") if decimals == 1 else ("pass", "ok")
        assert (report.verdict, report.reason) == wanted


# --- kinks on the way -------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(6))
def test_a_line_judges_outputs_without_kinks_and_shorter_steps_the_others(seed):
    """Of 24 outputs four belong to a row, and a kink of one row is none of the others."""
    rng = np.random.default_rng(seed)
    point = {"x": rng.normal(size=(6, 24)), "W": rng.normal(size=(24, 4)) / 4}

    def vjp(upstream, x, W, factor=1.0):
        back = upstream * (x @ W > 0)
        by_w = x.T @ back
        by_w[3, 1] *= factor
        return {"x": back @ W.T, "W": by_w}

    relu = lambda x, W: np.maximum(x @ W, 0)  # noqa: E731
    assert check_vjp(relu, point, vjp).verdict == "pass"
    wrong = check_vjp(relu, point, lambda u, x, W: vjp(u, x, W, 1.001))
    assert wrong.verdict == "fail"


@pytest.mark.parametrize("power", [0.5, 1])
def test_kinks_at_the_point_itself_need_no_search_for_longer_steps(power):
    x = np.random.default_rng(0).normal(size=400)
    f = lambda y: float(np.sum(np.abs(y - x) ** power))  # noqa: E731
    report = check_gradient(f, x, np.zeros(400))
    assert report.verdict == "unsure"
    assert report.evaluations <= 300


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [0, 4, 5, 6])
def test_lines_hold_every_entry_of_a_two_layer_net(seed, activation):
    loss, inputs, right = two_layer_net(activation, seed)
    report = check_gradient(loss, inputs, right, rtol=1e-6, max_evaluations=1000)
    assert report.verdict == "pass", str(report)
    assert report.certificate.vouched == report.certificate.entries


def test_another_round_of_lines_comes_before_many_axes():
    """Of 4,900 kinks on the way there are some that the first round cannot see past."""
    loss, inputs, right = two_layer_net("relu", 0, features=100, hidden=98, rows=50)
    report = check_gradient(loss, inputs, right, rtol=1e-6)
    assert report.verdict == "pass", str(report)
    assert 300 < report.evaluations <= 1000


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", [4, 0, 6])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_wrong_entry_of_a_net_is_named_before_other_lines_are_refined(activation, seed):
    loss, inputs, right = two_layer_net(activation, seed)
    wrong = {name: gradient.copy() for name, gradient in right.items()}
    effect = np.abs(inputs["W2"] * right["W2"])
    at = tuple(int(i) for i in np.argwhere(effect > np.median(effect))[7])
    wrong["W2"][at] *= 2
    report = check_gradient(loss, inputs, wrong, seed=seed)
    assert (report.verdict, report.worst.name) == ("fail", f"W2[{at[0]}, {at[1]}]")
    assert report.evaluations <= 450  # with what says how far the others were held


def two_layer_net(activation, seed, features=794, hidden=13, classes=5, rows=48):
    """The loss of a net of 10,405 parameters, which ReLUs bend in 624 places, and its gradient."""
    rng = np.random.default_rng(seed)
    gain = 2.0 if activation == "relu" else 1.0
    X, labels = rng.normal(size=(rows, features)), rng.integers(classes, size=rows)
    shapes = {"W1": (features, hidden), "b1": hidden, "W2": (hidden, classes), "b2": classes}
    inputs = {name: np.zeros(shape) for name, shape in shapes.items()}
    for name in ("W1", "W2"):
        inputs[name] = rng.normal(size=shapes[name]) * np.sqrt(gain / shapes[name][0])
    act = np.tanh if activation == "tanh" else lambda z: np.maximum(z, 0)
    truth = np.eye(classes)[labels]

    def forward(W1, b1, W2, b2):
        h = act(X @ W1 + b1)
        scores = h @ W2 + b2
        return h, scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def loss(**inputs):
        return -np.mean(np.sum(truth * forward(**inputs)[1], axis=1))

    h, logs = forward(**inputs)
    dscores = (np.exp(logs) - truth) / rows
    dz = dscores @ inputs["W2"].T * (1 - h * h if activation == "tanh" else h > 0)
    return (
        loss,
        inputs,
        {"W1": X.T @ dz, "b1": dz.sum(0), "W2": h.T @ dscores, "b2": dscores.sum(0)},
    )


# --- what is typical where most entries are zero ---------------------------------------------


def largest(x):
    return np.max(x)


# {what depends on one input each: (f, its jvp)}
SPARSE = {
    "every output": (np.sin, lambda tangent, x: np.cos(x) * tangent),
    "the only output": (largest, lambda tangent, x: tangent[np.argmax(x)]),
}


@pytest.mark.parametrize("size", [125, 3000])
@pytest.mark.parametrize("name", SPARSE)
def test_a_jvp_that_is_mostly_zero_is_held_by_lines(name, size):
    f, jvp = SPARSE[name]
    x = np.random.default_rng(0).normal(size=size)
    assert check_jvp(f, x, jvp).verdict == "pass"
    first = int(np.argmax(x))
    beside = 0 if first else 1

    def leaks(tangent, x):
        moved = np.array(jvp(tangent, x))
        np.atleast_1d(moved)[first if moved.ndim else 0] += 0.01 * tangent[beside]
        return moved

    report = check_jvp(f, x, leaks)
    assert report.verdict == "fail"
    assert report.worst.name.endswith(f"[{beside}]")


class Saturated:
    """A smooth step at many points, of which the last hundred are so far out that f is 1."""

    x = np.concatenate([np.linspace(-2.0, 2.0, 300), np.linspace(20.0, 25.0, 100)])

    def __init__(self, factor=1.0, leak=0.0):
        self.factor, self.leak = factor, np.where(self.x == self.x[350], leak, 0.0)

    def slope(self, vector, x):
        return vector * (self.factor / np.cosh(x) ** 2 + self.leak)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("check", [check_vjp, check_jvp])
def test_lines_hold_saturated_outputs_together_with_the_others(check):
    def verdict(**slip):
        return check(np.tanh, Saturated.x, Saturated(**slip).slope).verdict

    assert verdict() == "pass"  # their slopes are 1e-17 and less, of which f shows nothing
    assert verdict(factor=1.001) == "fail"
    for leak in (1e-6, 1e-9):  # a vjp shows it along a line of combined outputs only
        assert verdict(leak=leak) in ({"unsure", "fail"} if check is check_vjp else {"fail"})


def test_both_products_are_compared_when_outputs_are_asked_for_in_groups():
    x = np.random.default_rng(0).normal(size=3000)
    vjp = lambda u, x: np.cos(x) * u  # noqa: E731
    assert check_vjp(np.sin, x, vjp, jvp=vjp).verdict == "pass"
    report = check_vjp(np.sin, x, vjp, jvp=lambda t, x: 1.01 * np.cos(x) * t)
    assert "not adjoint" in report.faults[0].sentence


@pytest.mark.parametrize("seed", [9, 11, 14])
def test_lines_leave_enough_evaluations_to_confirm_a_refusal(seed):
    x = np.random.default_rng(seed).uniform(-9, 9, size=(10, 10))

    def leaky_relu(x):
        return np.where(x > 0, x, 0.01 * x)

    vjp = lambda upstream, x: 1.001 * upstream * np.where(x > 0, 1, 0.01)  # noqa: E731
    assert check_vjp(leaky_relu, x, vjp).verdict == "fail"
