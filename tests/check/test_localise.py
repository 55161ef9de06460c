"""Which entry is wrong among many: named from the lines, within every budget."""

import numpy as np
import pytest

from gradcheck_ref import check_gradient, check_jvp, check_vjp

RNG = np.random.default_rng(0)
X, WEIGHTS = RNG.normal(size=5000), RNG.normal(size=5000)
MEDIAN = np.argsort(np.abs(WEIGHTS * np.cos(X)))[2500:]


def f(x):
    return float(np.sum(WEIGHTS[: x.size] * np.sin(x)))


def slopes(x):
    return WEIGHTS[: x.size] * np.cos(x)


# Which entries are spoilt, and what they are then.
SPOILT = {
    "off by a thousandth": ([MEDIAN[0]], lambda g: 1.001 * g),
    "left out": ([MEDIAN[2]], lambda g: 0 * g),
    "two that cancel": ([17, 3170], lambda g: np.add(g, [1, -1])),
    "infinite": ([1234], lambda g: g + np.inf),
}


def blamed(report):
    """Return the coordinates that a report calls wrong, of its one input."""
    (pair,) = report.pairs
    return set(pair.rows[(pair.verdict == 2).any(axis=1)].tolist())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("at", "spoil"), SPOILT.values(), ids=SPOILT)
def test_wrong_entries_among_thousands_are_named_and_no_others(at, spoil):
    g, wrong = slopes(X), set(at)
    g[at] = spoil(g[at])
    report = check_gradient(f, X, g)
    assert report.verdict == "fail"
    # Of two wrong entries one is named, and the report does not say that it is the only one.
    assert blamed(report) == wrong or (blamed(report) < wrong and blamed(report))
    assert len(wrong) == 1 or "only" not in str(report)
    assert report.evaluations <= 400
    assert f"x[{int(report.worst.name[2:-1])}]" == report.worst.name


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("spoil", "kind"),
    [(lambda g: 2 * g, "factor"), (lambda g: -g, "sign"), (lambda g: 0 * g, "zero"),
     (lambda g: np.roll(g, 1), None), (lambda g: g + 1, None), (lambda g: g[::-1], None)],
    ids=["doubled", "sign", "zero", "roll", "offset", "backwards"],
)  # fmt: skip
def test_a_gradient_that_is_wrong_everywhere_is_shown_by_examples(spoil, kind):
    report = check_gradient(f, X, spoil(slopes(X)))
    assert report.verdict == "fail"
    assert len(blamed(report)) >= 5
    assert report.evaluations <= 500
    if kind:
        assert any(kind in found.kind or kind in found.sentence for found in report.diagnoses)


# --- several inputs, complex ones --------------------------------------------------------------


def layers(W, b, e, s, z):
    return float(np.sum(np.tanh(W) @ b) + s * np.sum(np.abs(z) ** 2) + np.sum(e))


POINT = (RNG.normal(size=(40, 30)), RNG.normal(size=30), np.zeros((0, 7)), 0.7,
         RNG.normal(size=60) + 1j * RNG.normal(size=60))  # fmt: skip


def gradients():
    W, b, e, s, z = POINT
    return [b / np.cosh(W) ** 2, np.tanh(W).sum(axis=0), e, np.sum(np.abs(z) ** 2), 2 * s * z]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("k", "index", "name"),
    [(0, (3, 29), "W[3, 29]"), (0, (39, 0), "W[39, 0]"), (1, 4, "b[4]"), (3, (), "s"),
     (4, 31, "the real part of z[31]")],
)  # fmt: skip
def test_a_wrong_entry_is_named_in_every_input(k, index, name):
    grads = gradients()
    grads[k] = np.array(grads[k])
    grads[k][index] += 1.0
    report = check_gradient(layers, POINT, tuple(grads))
    assert (report.verdict, report.worst.name) == ("fail", name)
    wrong = [pair.input.name for pair in report.pairs if (pair.verdict == 2).any()]
    assert wrong == [["W", "b", "e", "s", "z"][k]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("k", [0, 1, 4])
def test_a_wholly_wrong_input_is_distinguished_from_the_others(k):
    grads = gradients()
    grads[k] = 2 * grads[k]
    report = check_gradient(layers, POINT, tuple(grads))
    wrong = {pair.input.name for pair in report.pairs if (pair.verdict == 2).any()}
    assert wrong == {"WbesZz"[k].lower() if k else "W"}


# --- budgets ----------------------------------------------------------------------------------


class Counted:
    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, *inputs):
        self.calls += 1
        return self.f(*inputs)


def noisy(x):
    return float(np.sum(np.sin(x)) + 1e-6 * np.sin(1e12 * np.sum(x)))


FUNCTIONS = {
    "smooth": (lambda x: float(np.sum(np.sin(x))), np.cos),
    "noisy": (noisy, np.cos),
    "kinks": (lambda x: float(np.sum(np.abs(x - np.round(x, 1)))),
              lambda x: np.sign(x - np.round(x, 1))),
    "flat": (lambda x: float(np.sum(np.floor(x))), lambda x: 0 * x),
    "edge": (lambda x: float(np.sum(np.where(x < 3, np.sqrt(np.abs(3 - x)), np.nan))),
             lambda x: -0.5 / np.sqrt(3 - x)),
}  # fmt: skip
CLAIMS = {
    "right": lambda g: g,
    "one": lambda g: np.where(np.arange(g.size) == g.size // 2, g + 1, g),
    "inf": lambda g: np.where(np.arange(g.size) == 1, np.inf, g),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("budget", [12, 40, 200])
@pytest.mark.parametrize(("f", "slope"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_budget_is_kept_and_the_report_is_clear(f, slope, budget):
    for size in (2, 150):
        x = np.random.default_rng(size).uniform(-2.9, 2.9, size)
        for name, spoil in CLAIMS.items():
            counted, g = Counted(f), spoil(slope(x))
            report = check_gradient(counted, x, g, max_evaluations=budget)
            assert counted.calls == report.evaluations <= budget
            assert report.verdict != "fail" or name != "right"
            assert report.text(80).startswith(report.verdict.upper())
            if name == "one" and report.compared == report.entries:
                assert report.verdict != "pass"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("budget", [12, 60])
def test_a_budget_is_kept_with_products_too(budget):
    for size, outputs in ((3, 2), (150, 1), (40, 1100)):
        A = np.random.default_rng(size).normal(size=(outputs, size))
        for how in (1.0, 1.5):
            counted = Counted(lambda x, A=A: A @ x)
            check_vjp(counted, np.ones(size), lambda u, x, A=how * A: u @ A, max_evaluations=budget)
            assert counted.calls <= budget
            counted.calls = 0
            check_jvp(counted, np.ones(size), lambda v, x, A=how * A: A @ v, max_evaluations=budget)
            assert counted.calls <= budget


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("budget", [13, 20, 60])
def test_a_nonfinite_claim_that_is_not_measured_does_not_pass(bad, budget):
    x = np.linspace(0.1, 2.0, 80)
    claim = np.cos(x)
    claim[50] = bad
    report = check_gradient(lambda x: np.sum(np.sin(x)), x, claim, max_evaluations=budget)
    assert report.verdict != "pass"
