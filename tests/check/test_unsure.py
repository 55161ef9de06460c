"""Of what the evidence cannot tell: true sentences, and what to do."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from corpus import ratchet
from report_cases import REPORTS, X, rough, words

from gradcheck_ref.check import check_gradient, check_vjp

# The page has a row for each reason.
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "kinds.md"
SECTIONS = re.findall(r"^\| `(.+)`{ #unsure-", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

# A report for each reason; most have its name.
REASONS = {section: section for section in SECTIONS} | {"precision": "lines, four digits"}


def test_the_page_explains_each_reason():
    answers = [answer for row in ratchet.stored().values() for answer in row.values()]
    assert {one.reason for one in answers if one.verdict == "unsure"} <= set(SECTIONS)


def test_each_reason_has_its_own_words_and_advice():
    advice = {}
    for reason, name in REASONS.items():
        assert (REPORTS[name].verdict, REPORTS[name].reason) == ("unsure", reason)
        text = words(REPORTS[name].text(1000))
        advice[reason] = text.split("try: ")[1]
        assert "go from nan" not in text
    assert len(set(advice.values())) == len(REASONS)


# id: a function with a kink at x = c, and its slopes on both sides. Both slopes are rounded.
KINKS = {
    "abs": (lambda x, c: np.abs(x[0] - c), lambda c: (-1.0, 1.0)),
    "abs-and-square": (lambda x, c: np.abs(x[0] - c) + x[0] ** 2, lambda c: (2 * c - 1, 2 * c + 1)),
    "relu": (lambda x, c: np.fmax(x[0] - c, 0) * np.cos(x[0]), lambda c: (0.0, np.cos(c))),
    "folded-sine": (
        lambda x, c: np.abs(np.sin(x[0]) - np.sin(c)), lambda c: (-np.cos(c), np.cos(c))
    ),
    "large": (
        lambda x, c: 1e3 * np.abs(x[0] - c) + np.exp(x[0]),
        lambda c: (np.exp(c) - 1e3, np.exp(c) + 1e3),
    ),
    "elu": (
        lambda x, c: np.where(x[0] > c, 2 * (x[0] - c), np.expm1(x[0] - c)), lambda c: (1.0, 2.0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINKS)
def test_a_claim_that_is_one_of_the_slopes_at_a_kink_lies_between_them(name):
    f, slopes = KINKS[name]
    for c in (0.3, 0.7, 1.1, -0.4, 2.3, 0.05, 3.3, -1.7):
        for slope in slopes(c):
            report = check_gradient(lambda x, c=c: f(x, c), np.array([c]), np.array([slope]))
            assert report.reason == "kink"
            assert "lies between them" in words(report.text(1000))


def test_without_two_slopes_to_show_none_are_shown():
    f = lambda x: 1e9 * x[0] + np.abs(x[0] - 1)  # noqa: E731
    text = words(check_gradient(f, np.array([1.0]), np.array([1e9])).text(1000))
    assert "the slopes go from" not in text


ROUNDED = np.array([0.6, -1.4])


def at_quarters(x):
    return np.round(4 * x) / 4


# id: a function that moves in stairs, or is flat here, a claim at ROUNDED, and what is said
STAIRS = {
    "straight-through": (
        lambda x: np.sum(np.sin(at_quarters(x))), np.cos(at_quarters(ROUNDED)),
        "near x[0] = 0.6: the stair from 0.375 to 0.625 is 0.25 long, and f jumps by 0.23",
    ),
    "a clipped one": (
        lambda x: np.sum(np.sin(at_quarters(x))), [np.cos(0.5), 0.0],
        "the stair from 0.375 to 0.625 is 0.25 long",
    ),
    "floor": (
        lambda x: np.sum(np.floor(2 * x)), [2.0, 2.0],
        "near x[1] = -1.4: the stair from -1.5 to -1 is 0.5 long, and f jumps by 1",
    ),
    "a spike": (
        lambda x: np.sum(x > 0.2) * 3.0, [0.9, 0.1],
        "f is flat near x[0] = 0.6, as far as 0.2, where it jumps by 3",
    ),
    "a relu that is off": (lambda x: np.fmax(x[1], 0) + x[0], [1.0, 1.0], ""),
    "a root at the end of a plateau": (lambda x: np.cbrt(np.fmax(x[1], 0)) + x[0], [1.0, 1.0], ""),
}  # fmt: skip


@pytest.mark.parametrize("name", STAIRS)
def test_a_staircase_is_described_and_a_plateau_is_none(name):
    f, claim, said = STAIRS[name]
    report = check_gradient(f, ROUNDED, np.array(claim))
    text = words(report.text(1000))
    assert report.verdict != "pass"
    assert said in text
    assert ("jumps by" in text) == ("on purpose" in text or "quantized" in text) == bool(said)


def test_the_tolerance_that_is_recommended_for_noise_lets_the_check_pass():
    text = words(REPORTS["noise"].text(80))
    rtol = float(text.split("with rtol=")[1].split()[0])
    assert 1e-6 < rtol < 0.1
    assert check_gradient(rough, X, 2 * X, rtol=rtol)


# A function gives its values in this form: how many digits of them show.
WRITTEN = {"%g": 6, "%.9g": 9, "%.6f": 7, "%.3f": 4, "%.12g": 0, "%.17g": 0}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", WRITTEN)
def test_values_with_few_digits_are_reported_if_they_hide_an_entry(form):
    x = np.array([0.3, -0.2, 1.1])

    def f(x):
        return float(form % np.sum(np.sin(x)))

    report = check_gradient(f, x, np.cos(x))
    assert report.digits == WRITTEN[form]
    hides = WRITTEN[form] > 0 and (report.verdict == "unsure" or report.by_whole)
    assert ("no value of f has more than" in words(str(report))) == hides
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


# --- advice that helps ------------------------------------------------------------------------


def dead_layer(seed):
    """Check a layer of ReLUs whose weights are all 0: all of them are at their kinks."""
    rng = np.random.default_rng(seed)
    rows, y, w = rng.normal(size=(8, 3)), rng.normal(size=8), rng.normal(size=4)

    def loss(W, b):
        return np.mean((np.maximum(rows @ W + b, 0) @ w - y) ** 2)

    def gradient(W, b):
        z = rows @ W + b
        off = np.outer(2 * (np.maximum(z, 0) @ w - y) / 8, w) * (z > 0)
        return rows.T @ off, off.sum(axis=0)

    return loss, gradient, (np.zeros((3, 4)), np.zeros(4))


@pytest.mark.parametrize("seed", [2, 6])  # the claims for entries that are tied are 0
def test_a_dead_layer_is_no_staircase_and_the_advice_moves_all_of_it(seed):
    loss, gradient, point = dead_layer(seed)
    text = words(check_gradient(loss, point, gradient).text(100))
    assert "at a kink" in text
    assert "staircase" not in text
    assert "move all of W and b by random numbers" in text
    moved = [one + np.random.default_rng(seed).normal(size=one.shape) for one in point]
    assert check_gradient(loss, moved, gradient)


@pytest.mark.parametrize(("constant", "named"), [(0, False), (1e4, True)])
def test_a_large_constant_in_float32_is_named(constant, named):
    f = lambda x: np.float32(constant) + np.sum(np.sin(x.astype(np.float32)))  # noqa: E731
    text = words(check_gradient(f, np.array([0.3, -0.2, 1.1]), lambda x: np.cos(x) + 1e-4).text())
    assert ("Does f add a large constant?" in text) == named


def test_no_limit_is_reported_that_is_more_than_the_entries_themselves():
    x = np.random.default_rng(0).normal(size=300)
    f = lambda x: float(np.float16(1e4 + np.sum(np.sin(x))))  # noqa: E731
    report = check_gradient(f, x, np.cos(x))
    assert "the gradient of x may be wrong as a whole" in words(str(report))
    assert "of a typical entry" not in str(report)


@pytest.mark.parametrize("constant", [1e2, 1e4])
def test_a_tolerance_is_recommended_only_if_it_gives_a_pass(constant):
    rng = np.random.default_rng(3)
    rows, y = rng.normal(size=(2, 8, 3))
    w = rng.normal(size=3)

    def loss(w):
        off = np.tanh(rows.astype(np.float32) @ w.astype(np.float32)) - y[:, 0].astype(np.float32)
        return np.float32(constant) + np.mean(off**2)

    def gradient(w):
        h = np.tanh(rows @ w)
        return rows.T @ (2 * (h - y[:, 0]) * (1 - h**2) / 8)

    report = check_gradient(loss, w, gradient)
    said = re.search(r"accept this precision with rtol=([\d.e-]+)", words(report.text()))
    for rtol in (0.01, 0.03, 0.09) if said is None else (float(said[1]),):
        assert bool(check_gradient(loss, w, gradient, rtol=rtol)) == (said is not None)
