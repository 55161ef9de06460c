"""Of what the evidence cannot tell: true sentences, and what to do."""

import ast
import inspect
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_cases import REPORTS, X, rough, words

from gradcheck_ref.check import check_gradient, check_vjp
from gradcheck_ref.check.judge.rule import reasons
from gradcheck_ref.check.report.unsure import undecided
from gradcheck_ref.check.results import UNSURE

# The page has a section for each reason. An empty check has no entry, and *precision* is that of
# lines, which measure many entries together.
PAGE = Path(__file__).parents[2] / "docs" / "check" / "unsure.md"
SECTIONS = re.findall(r"^## `(.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
REASONS = [reason for reason in SECTIONS if reason not in ("empty", "precision")]


def unsure_because(reason, *, x=2.0, analytic=1.0, numeric=1.0, bar=0.5, allowed=1e-6):
    """Return a report of one entry that is unsure for a reason, with these numbers."""
    report = check_gradient(lambda x: x**2, x, 2 * x)
    shape = (1, 1)
    pair = replace(
        report.pairs[0],
        analytic=np.full(shape, analytic),
        numeric=np.full(shape, numeric),
        error=np.full(shape, bar),
        allowed=np.full(shape, allowed),
        verdict=np.full(shape, UNSURE),
        reason=np.full(shape, reason),
    )
    return replace(report, results=report.results._replace(pairs=(pair,)))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("reason", "numeric", "bar"),
    [(reason, *known) for reason in REASONS for known in ((1.0, 0.5), (0.0, 0.0))]
    # Where noise is the reason there is an estimate.
    + [(reason, np.nan, np.inf) for reason in ("kink", "stairs", "domain-edge", "nonfinite")],
)
def test_the_text_of_an_unsure_entry_invents_no_number(reason, numeric, bar):
    for analytic in (1.0, 0.0, 1e9, np.inf, np.nan):
        report = unsure_because(reason, analytic=analytic, numeric=numeric, bar=bar)
        said = list(undecided(report))
        assert said[0].startswith("the only entry is ")
        assert said[-1].startswith("try: ")
        assert "go from nan" not in said[-2]
        if analytic not in (1.0, 0.0):
            assert "only an error above" not in said[-2], analytic


def reasons_in(source):
    """Return the reasons in a function: each is the first of two in a tuple."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Tuple([ast.Constant(str(reason)), _]):
                found.add(reason)
    return found


def test_the_page_explains_each_reason():
    assert reasons_in("for name, where in (('ok', a), ('zero', b)): c[0, 1] = d") == {"ok", "zero"}
    of_the_rule = reasons_in(inspect.getsource(reasons)) - {"wrong"}
    assert sorted(SECTIONS) == sorted(of_the_rule | {"precision", "empty"})


def test_each_reason_has_its_own_words():
    said = {reason: tuple(undecided(unsure_because(reason))) for reason in REASONS}
    assert len({sentences[0] for sentences in said.values()}) == len(REASONS)
    assert len({sentences[-1] for sentences in said.values()}) == len(REASONS)


@pytest.mark.parametrize("reason", ["noise", "nondeterministic", "domain-edge"])
@pytest.mark.parametrize(
    ("analytic", "said"),
    [
        (1.25, "only an error above 2 would show, and 1e-6 is allowed"),
        (5.0, "they differ, but a second look did not confirm that"),
    ],
)
def test_the_text_says_why_the_numbers_do_not_decide(reason, analytic, said):
    _, seen, _ = undecided(unsure_because(reason, analytic=analytic))
    assert seen.startswith("seen: at x ")
    assert said in seen


@pytest.mark.parametrize(
    ("analytic", "said"),
    [
        (0.75, "the slopes go from 0.5 to 1.5, and analytic 0.75 lies between"),
        (1.5, "and analytic 1.5 lies between"),
        (1.5 + 2e-7, "and analytic 1.5 lies outside, but that is not certain"),
        (
            -2e10,
            "and analytic -2.000e10 lies outside, but that is not certain",
        ),
    ],
)
def test_a_claim_at_a_kink_is_placed_among_the_slopes(analytic, said):
    _, seen, _ = undecided(unsure_because("kink", analytic=analytic))
    assert said in seen


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("stairs", ["on a staircase: f changes in steps", "numeric 1.0", "If f is meant to"]),
        (
            "budget",
            ["not settled, because 17 eval", "only an error above", "use max_evaluations=100, whi"],
        ),
    ],
)
def test_stairs_and_a_small_budget_have_their_own_words(reason, said):
    for words_of, sentence in zip(said, undecided(unsure_because(reason)), strict=True):
        assert words_of in sentence


def test_the_tolerance_that_is_recommended_for_noise_lets_the_check_pass():
    text = words(REPORTS["noise"].text(80))
    rtol = float(text.split("with rtol=")[1].split()[0])
    assert 1e-6 < rtol < 0.1
    assert check_gradient(rough, X, 2 * X, rtol=rtol)


# A function gives its values in this form: how many digits of them show.
WRITTEN = {"%g": 6, "%.9g": 9, "%.6f": 7, "%.3f": 4, "%.12g": 0, "%.17g": 0}


@pytest.mark.parametrize("form", WRITTEN)
def test_values_with_few_digits_are_reported_if_they_hide_an_entry(form):
    x = np.array([0.3, -0.2, 1.1])

    def f(x):
        return float(form % np.sum(np.sin(x)))

    report = check_gradient(f, x, np.cos(x))
    assert report.digits == WRITTEN[form]
    assert ("no value of f has more than" in words(str(report))) == (WRITTEN[form] > 0)
    assert ("hidden by rounding" in words(str(report))) == (report.verdict == "unsure")
    wide = check_gradient(f, x, np.cos(x), rtol=0.05)
    assert wide.verdict == "pass"
    assert "digits" not in words(str(wide))


@pytest.mark.parametrize(("most", "verdict"), [(12, "unsure"), (100, "fail")])
def test_a_refusal_needs_a_second_witness(most, verdict):
    report = check_gradient(lambda x: x**3, 0.5, 1.5, max_evaluations=most)
    assert report.verdict == verdict
    said = "they differ, but a second look did not confirm that"
    assert (said in words(str(report))) == (verdict == "unsure")


SHORT = {
    "counts": (lambda x: np.floor(1e3 * np.sum(x)), np.ones(3)),
    "round numbers": (lambda x: np.sum(x * np.array([0.5, 2.0, 0.25])), np.ones(3)),
    "a kink": (lambda x: np.sum(np.abs(x)), np.array([1.0, 0.5, 1.0])),
}


@pytest.mark.parametrize("what", SHORT)
def test_exact_values_with_few_digits_are_not_called_rounded(what):
    f, claim = SHORT[what]
    report = check_gradient(f, np.array([0.5, 0.0, 0.25]), claim)
    assert (report.verdict == "pass", report.digits) == (False, 0)
    assert "digits" not in words(str(report))


@pytest.mark.parametrize("x", [20.0, 25.0, 30.0])
def test_a_saturated_unit_is_hidden_by_rounding_and_has_no_kink(x):
    def f(x):
        return 1 / (1 + np.exp(-x[0]))

    report = check_gradient(f, np.array([x]), lambda x: np.exp(-x) * f(x) ** 2)
    assert (report.verdict, report.reason) == ("unsure", "noise")
    assert "rounding" in words(str(report))


def test_flat_steps_that_rounding_explains_are_no_staircase():
    def cdf(x):
        return np.array([math.erfc(-one / math.sqrt(2)) / 2 for one in x])

    def vjp(upstream, x):
        return upstream * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

    # One output moves at long steps only, by a few hundred roundings of 1.
    report = check_vjp(cdf, np.linspace(7.0, 8.0, 5), vjp)
    assert report.verdict == "unsure"
    assert set(report.pairs[0].reason.ravel()) <= {"noise", "zero", "ok", "flat"}
