"""What a report says: the verdict first, true sentences, and what to do."""

from dataclasses import replace

import numpy as np
import pytest
from report_cases import REPORTS, X, cubes, every_report, squares_of, words
from sparse_cases import CERTIFIED, pair_of, report_of

from gradcheck_ref.check import check_gradient
from gradcheck_ref.check.results import PASS


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pass", ["PASS  x: all 3 entries agree, using less than 1 %", "evaluations, seed 0)"]),
        ("pass, one number", ["PASS  x: the only entry agrees"]),
        (
            "pass, by lines",
            ["PASS  x: all 1000 entries agree, measured together along 20 random lines, which "
             "miss a wrong entry at most one time in 1,048,576"],
        ),
        (
            "fail",
            ["FAIL  x: 2 of 3 entries differ; worst at [0]: analytic 1.500, numeric 0.750 +- ",
             ", allowed 8e-7"],
        ),
        (
            "fail, factor",
            ["FAIL  W1: 6 of 6 entries differ; worst at [", "right: b1",
             "looks like: W1: every entry is 3 x the numeric value", "try: "],
        ),
        (
            "fail, both",
            ["FAIL  b: 3 of 3 entries differ", "also wrong: a (3 of 3)",
             "looks like: a: every entry", "looks like: b: every entry"],
        ),
        ("fail, one number", ["FAIL  x: analytic 5.000, numeric 6.000 +- "]),
        (
            "fail, nan",
            ["the claim is NaN in 1 of 3 entries", "analytic nan, numeric 0.750", "division by 0"],
        ),
        ("fail, array", ["FAIL  d output / d x: 6 of 9 entries differ; worst d output[2] / d x"]),
        (
            "fail, thousands",
            ["11 of 11 measured entries differ", "every entry is 3/2 x the numeric value",
             "Repaired, it agrees with f along all 7 random lines",
             "the worst 10 of 11 entries with this verdict:", "11 of 2500 entries measured alone"],
        ),
        (
            "kink",
            ["UNSURE  1 of 3 entries is at a kink", "at x[1] the slopes go from -1 to 1, "
             "and analytic 0.3 lies between them, which is valid at a kink",
             "try: to check the formula, move x[1] away from 0. If f has no kink there"],
        ),
        (
            "noise",
            ["hidden by noise in f", "only an error above ",
             "is allowed", "with rtol="],
        ),
        (
            "nondeterministic",
            ["f gives a different value when it is called again", "try: seed the random"],
        ),
        (
            "domain-edge",
            ["edge of the domain of f: f is finite on one side of x[0] only seen: at x[0] "
             "analytic 0, numeric ", "try: move x[0] away from 0, to where f is finite on both"],
        ),
        ("kink and edge", ["1 of 2 entries is at a kink", "1 of 2 entries is at the edge"]),
        (
            "nonfinite",
            ["without a slope: f is not finite at this point", "try: look at f first"],
        ),
        ("nonfinite, one output", ["without a slope: output[0] is not finite at this point"]),
        (
            "vertical",
            ["1 of 2 entries is at a kink or jump of f, or where f is vertical or bends too "
             "sharply", "try: to check the formula, move x[0] away from 0"],
        ),
        (
            "step-underflow",
            ["the only entry is out of reach: a step that is short enough cannot change x[0] = 1",
             "try: rescale x", "pass it as float64 if its dtype is shorter"],
        ),
        ("empty", ["UNSURE  nothing was compared: the inputs, or the outputs of f, have no entries",
                   "try: "]),
        ("mutated", ["FAIL  the numbers agree (3 compared), but f writes to its input x: code"]),
        ("ignores-input", ["FAIL  f did not change when x was moved", "3 of 3 entries"]),
        ("nondeterministic grads", ["FAIL  the gradient of x[0] was 0.75 at the first call"]),
        ("shape", ["FAIL  grads gives shape (3, 1) for x, which has shape (3,)"]),
        ("shape and wrong", ["FAIL  grads gives shape (3, 1) for a", "b: 2 of 3 entries differ"]),
    ],
)  # fmt: skip
def test_the_text_contains_the_expected_sentence(name, said):
    text = words(REPORTS[name].text(100))
    for part in said:
        assert words(part) in text


def without_blind_spots(text):
    """Return what a report says before it comes to what its point cannot show."""
    return text.split("\nthis point cannot show: ")[0]


@pytest.mark.one_in(3)
@every_report
def test_the_verdict_is_the_first_word_and_only_failures_get_advice(name):
    report = REPORTS[name]
    text = without_blind_spots(report.text(80))
    assert text.split()[0] == report.verdict.upper()
    assert ("try: " in text) <= (not report)
    assert (text.count("\n") < 3) >= bool(report)


@pytest.mark.one_in(3)
@every_report
def test_the_last_line_of_a_failure_says_how_it_was_found(name):
    report = REPORTS[name]
    last = words(without_blind_spots(report.text(80)))[-160:]
    assert f"{report.evaluations} evaluations" in last
    assert "seed 0" in last
    assert ("noise of f" in last) is not bool(report)


def test_a_diagnosis_of_several_inputs_is_printed_once():
    x = {name: X for name in "abc"}
    report = check_gradient(squares_of, x, {"a": 2 * X, "b": 4 * X, "c": 4 * X})
    lines = report.text(100).splitlines()
    (guess,) = (line for line in lines if line.startswith("looks like"))
    assert guess.startswith(("looks like: b, c: every entry", "looks like: c, b: every entry"))


@pytest.mark.parametrize(
    ("deviation", "used"),
    [(0.0, "less than 1 %"), (1.5e-8, "at most 2 %"), (2.55e-7, "at most 26 %")],
)
def test_a_pass_says_how_much_of_the_allowed_error_is_used(deviation, used):
    report = check_gradient(cubes, X, 3 * X**2 * (1 + deviation))
    assert f"using {used} of the allowed error" in words(str(report))


SMALL = "only because of atol (2.5e-5), which allows any error that small"


@pytest.mark.parametrize(
    ("slope", "claimed", "atol", "said"),
    [
        (1e-5, 2e-5, 2.5e-5, f"note: 3 of 6 entries agree {SMALL}"),
        (2e-5, 2e-5, 2.5e-5, None),  # within rtol as well
        (1.0, 1.0 + 5e-6, 2.5e-5, f"note: 3 of 6 entries agree {SMALL}"),
        (0.0, 0.0, 2.5e-5, None),
        (0.0, 1e-6, 2.5e-5, f"note: 3 of 6 entries agree {SMALL}"),
        (1.0, 1.0, None, None),
    ],
    ids=["small and wrong", "small and right", "too wide", "zero", "small for zero", "by scale"],
)
def test_a_pass_that_needs_atol_says_so(slope, claimed, atol, said):
    report = check_gradient(
        lambda a, b: cubes(a) + slope * np.sum(b),
        (X, X),
        (3 * X**2, np.full(3, claimed)),
        atol=atol,
    )
    assert report
    text = words(report.text(120))
    assert ("note:" in text) is (said is not None)
    assert (said or "PASS") in text


def test_a_name_with_control_characters_is_shown_escaped():
    report = REPORTS["control characters"]
    for text in (report.text(100), report.table(100), repr(report)):
        assert "a\\nb\\t" in text
        assert all(one == "\n" or one.isprintable() for one in text)
    assert "right" not in repr(report)
    assert report.pairs[0].input.name == "a\nb\t"
    rows = [line for line in report.table(120).splitlines() if "fail" in line]
    assert len(rows) == 2


def test_the_representation_is_the_first_sentence():
    assert repr(REPORTS["fail"]).startswith("<Report: FAIL  x: 2 of 3 entries differ; worst at [0]")
    assert len(repr(REPORTS["fail, thousands"])) < 200


# --- what random lines have seen --------------------------------------------------------------

LINES = "together along 20 random lines"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "pass",
            [f"PASS  W, b: all 10405 entries agree, 10380 of them measured {LINES}, which miss a "
             "wrong entry at most one time in 1,048,576 (759 evaluations, seed 0)"],
        ),
        ("pass, outputs combined", [f"{LINES} and 40 random combinations of the outputs, which"]),
        (
            "pass, not all vouched for",
            [f"{LINES}, which miss an error above the limit in the next line at most one time in "
             "1,048,576 (759 evaluations, seed 0)",
             "but: 20 random lines confirm only 9000 of 10380 entries to rtol=1e-6, and all to "
             "rtol=9e-5. The pass uses another measure: no entry is off by more than 3e-7 of a "
             "typical entry, but a small entry may be off by a larger share of itself"],
        ),
        (
            "few lines, which fit",
            ["UNSURE  the claims for 10380 entries agree with f along 1 random line, but so few "
             "lines miss a wrong entry up to one time in 2 try: use a larger max_evaluations="],
        ),
        (
            "few lines, one does not fit",
            ["UNSURE  taken together, the claims for 10380 entries disagree with f along 4 random "
             "lines, but the check did not find which of them are wrong seen: at worst "
             "analytic 7.500, numeric 2.500 +- 2e-9 try: use a larger max_evaluations="],
        ),
        ("pass, nothing known of the others", ["25 of 10405 entries agree"]),
        (
            "precision",
            ["UNSURE  20 random lines confirm only 9000 of 10380 entries to",
             "try: use a larger max_evaluations=, or check fewer inputs at once; or accept this "
             "precision with rtol=9e-5"],
        ),
        (
            "precision, few digits",
            ["try: let f return all digits (its values have 6), or use a larger"],
        ),
        (
            "precision, no rtol will do",
            ["UNSURE  20 random lines confirm only 0 of 10380 entries to",
             "try: use a larger max_evaluations="],
        ),
        (
            "precision and kink",
            ["UNSURE  5 of 10405 entries are at a kink",
             "also: 20 random lines confirm only 10379 of 10380",
             "seen: no entry is off by more than 2e-8 of a typical entry"],
        ),
        (
            "fail",
            ["FAIL  W: 1 of 20 measured entries differs; worst at [5, 0]: analytic 9.000",
             "right: b",
             "the others: 20 random lines confirm 10380 of 10380 entries to rtol=1e-6",
             "only W[5, 0] is wrong, of 10400 entries"],
        ),
        (
            "fail, others held to less",
            ["the others: 20 random lines confirm only 9000 of 10380 entries to rtol=1e-6"],
        ),
        (
            "fail, nothing known of the others",
            ["FAIL  W: 20 of 20 measured entries differ", "in all 20 measured entries, of 10400",
             "25 of 10405 entries measured alone, 759 evaluations"],
        ),
    ],
)  # fmt: skip
def test_the_text_reports_what_the_lines_measured(name, said):
    text = words(CERTIFIED[name]().text(100))
    for part in said:
        assert words(part) in text
    assert text.split()[0] == CERTIFIED[name]().verdict.upper()


# --- what a pass does not say -----------------------------------------------------------------

BY_SCALE = "only because of atol (by scale), which allows any error that small"


def a_pass(truth, claim, **other):
    """Return the report of a vector of which everything was looked at, and passed."""
    truth, claim = np.array(truth), np.array(claim)
    pair = pair_of("x", truth, claim, range(len(truth)))
    given = {name: np.reshape(value, (-1, 1)) for name, value in other.items()}
    return report_of([replace(pair, verdict=np.full((len(truth), 1), PASS), **given)], atol=None)


@pytest.mark.parametrize(
    ("report", "noted"),
    [
        (a_pass([1e-17, 1.0], [0.0, 1.0]), None),
        (a_pass([1.0, 1e-7, 2e-7], [1.0, 1e-7, 2e-7]), f"2 of 3 entries agree {BY_SCALE}"),
        (a_pass([1.0, 1e-7], [1.0, 1e-7]), f"1 of 2 entries agrees {BY_SCALE}"),
        (a_pass([1.0, 1e-17], [1.0, -1e-17]), None),  # zero but for rounding needs no tolerance
        (a_pass([1.0, 0.0], [1.0, 0.0], reason=["ok", "flat"]), "flat near this point (x[1])"),
        (a_pass([0.0] * 9, [0.0] * 9, reason=["flat"] * 9), "x[2], x[3] and 5 more), "),
    ],
    ids=["one is zero", "smaller", "smaller one", "a zero", "flat",
         "all flat"],
)  # fmt: skip
def test_a_pass_that_shows_less_than_it_seems_says_so(report, noted):
    assert report
    assert report.reason == "ok"
    text = words(report.text(100))
    assert ("note: " in text) is (noted is not None)
    assert (noted or "PASS") in text
    assert text.count("note: ") <= 1
