"""What a report says: the verdict first, true sentences, and what to do."""

import numpy as np
import pytest
from report_cases import REPORTS, X, cubes, every_report, squares_of, words

from gradcheck_ref.check import check_gradient

LINES = "together along 20 random lines"


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pass", ["PASS  x: all 3 entries agree, using less than 1 %", "evaluations, seed 0)"]),
        ("pass, one number", ["PASS  x: the only entry agrees"]),
        ("pass, by lines",
         ["PASS  x: all 1000 entries agree, measured together along 20 random lines, which "
          "miss a wrong entry at most one time in 1,048,576"]),
        ("fail", ["FAIL  x: 2 of 3 entries differ; worst at [0]: analytic 1.500, numeric 0.750 +- ",
          ", allowed 8e-7"]),
        ("fail, factor", ["FAIL  W1: 6 of 6 entries differ; worst at [", "right: b1",
          "looks like: W1: every entry is 3 x the numeric value", "try: "]),
        ("fail, both", ["FAIL  b: 3 of 3 entries differ", "also wrong: a (3 of 3)",
          "looks like: a: every entry", "looks like: b: every entry"]),
        ("fail, one number", ["FAIL  x: analytic 5.000, numeric 6.000 +- "]),
        ("fail, nan",
         ["the claim is NaN in 1 of 3 entries", "analytic nan, numeric 0.750", "division by 0"]),
        ("fail, array", ["FAIL  d output / d x: 6 of 9 entries differ; worst d output[2] / d x"]),
        ("fail, thousands",
         ["10 of 10 measured entries differ", "every entry is 3/2 x the numeric value",
          "Repaired, it agrees with f along all 10 random lines",
          "10 of 2500 entries measured alone"]),
        ("fail, twenty", ["the worst 10 of 20 entries with this verdict:"]),
        ("kink", ["UNSURE  1 of 3 entries is at a kink", "at x[1] the slopes go from -1 to 1, "
          "and analytic 0.3 lies between them, which is valid at a kink",
          "try: to check the formula, move x[1] away from 0. If f has no kink there"]),
        ("noise", ["hidden by noise in f", "only an error above ", "is allowed", "with rtol="]),
        ("nondeterministic",
         ["f gives a different value when it is called again", "try: seed the random"]),
        ("domain-edge",
         ["edge of the domain of f: f is finite on one side of x[0] only seen: at x[0] "
          "analytic 0, numeric ", "try: move x[0] away from 0, to where f is finite on both"]),
        ("kink and edge", ["1 of 2 entries is at a kink", "1 of 2 entries is at the edge"]),
        ("nonfinite", ["without a slope: f is not finite at this point", "try: look at f first"]),
        ("nonfinite, one output", ["without a slope: output[0] is not finite at this point"]),
        ("vertical",
         ["1 of 2 entries is at a kink or jump of f, or where f is vertical or bends too "
          "sharply", "try: to check the formula, move x[0] away from 0"]),
        ("step-underflow",
         ["the only entry is out of reach: a step that is short enough cannot change x[0] = 1",
          "try: rescale x", "pass it as float64 if its dtype is shorter"]),
        ("empty", ["UNSURE  nothing was compared: the inputs, or the outputs of f, have no entries",
                   "try: "]),
        ("mutated", ["FAIL  the numbers agree (3 compared), but f writes to its input x: code"]),
        ("isolated", ["is p a whole number?"]),
        ("ignores-input", ["FAIL  f did not change when x was moved", "3 of 3 entries"]),
        ("nondeterministic grads", ["FAIL  the gradient of x[0] was 0.75 at the first call"]),
        ("shape", ["FAIL  grads gives shape (3, 1) for x, which has shape (3,)"]),
        ("shape and wrong", ["FAIL  grads gives shape (3, 1) for a", "b: 2 of 3 entries differ"]),
        ("lines", [f"PASS  W, b: all 10405 entries agree, measured {LINES}, which miss a wrong "
                   "entry at most one time in 1,048,576 ("]),
        ("lines, outputs combined",
         [f"{LINES} and 20 random combinations of the outputs, which miss an error above the limit "
          "in the next line at most one time in 524,288 (",
          "but: 20 random lines and 20 random combinations of the outputs confirm only 0 of "
          "1040000 entries to rtol=1e-6, and all to rtol=",
          "The pass uses another measure: no entry is off by more than", "of a typical entry, but "
          "a small entry may be off by a larger share of itself"]),
        ("lines, too few",
         ["UNSURE  the claims for 10405 entries agree with f along", "random lines, but so few "
          "lines miss a wrong entry up to one time in", "try: use a larger max_evaluations="]),
        ("lines, too few for a mistake",
         ["also: taken together, the claims for 10404 entries disagree with f along", "but the "
          "check did not find which of them are wrong seen: at worst analytic"]),
        ("lines, a kink",
         ["UNSURE  5 of 10405 entries are at a kink or jump of f", "seen: at b[0] the slopes go "
          "from -1 to 1", "also: 20 random lines do not decide about 10389 entries, because f has "
          "a kink or a jump at this point", "try: check at another point, such as one without"]),
        ("lines, four digits",
         ["try: let f return all digits (its values have 4) also: the gradient of b is zero within",
          'so it has no relative error try: constant=("b",), or compute f in float64',
          "as a whole: right is W to", "unsure is b, which is zero within"]),
        ("lines, one is zero",
         ["PASS  W, b: right as a whole", "but: the gradient of b is zero within", "of that of "
          "another input, the smallest that is right, so it has no relative error"]),
        ("lines, one is wrong",
         ["FAIL  W: 1 of 2 measured entries differs; worst at [5, 0]: analytic 9.000",
          "the others: 20 random lines confirm 10403 of 10403 entries to rtol=1e-6",
          "only W[5, 0] is wrong, of 10400 entries"]),
        ("lines, all are wrong", ["FAIL  W: 10 of 10 measured entries differ", "right is b",
                                  "of 10405 entries measured alone"]),
    ],
)  # fmt: skip
def test_the_text_contains_the_expected_sentence(name, said):
    text = words(REPORTS[name].text(100))
    for part in said:
        assert words(part) in text


def without_limits(text):
    """Return what a report says before it comes to what it, or its point, cannot show."""
    return text.split("\nthis point cannot show: ")[0].split("\nbut: ")[0]


@pytest.mark.one_in(6)
@every_report
def test_the_verdict_is_the_first_word_and_only_failures_get_advice(name):
    report = REPORTS[name]
    text = without_limits(report.text(80))
    assert text.split()[0] == report.verdict.upper()
    assert ("try: " in text) <= (not report)
    assert (text.count("\n") < 3) >= bool(report)


@pytest.mark.one_in(3)
@every_report
def test_the_last_line_of_a_failure_says_how_it_was_found(name):
    report = REPORTS[name]
    last = words(without_limits(report.text(80)))[-160:]
    assert f"{report.evaluations} evaluations" in last
    assert f"seed {report.seed}" in last
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


def test_an_input_is_not_right_because_a_few_of_its_entries_are():
    a, b = np.random.default_rng(0).normal(size=(2, 300))
    mostly = np.where(np.arange(300) < 6, -2, 2) * b
    report = check_gradient(
        lambda a, b: np.sum(np.sin(a)) + np.sum(b**2), (a, b), (2 * np.cos(a), mostly)
    )
    assert report.verdict == "fail"
    assert "unsure is b" in words(report.text())
    assert "right: b" not in words(report.text())


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


# --- what a pass does not say -----------------------------------------------------------------

SMALL = "only because of atol (2.5e-5), which allows any error that small"
BY_SCALE = "only because of atol (by scale), which allows any error that small"


@pytest.mark.parametrize(
    ("slopes", "claimed", "atol", "noted"),
    [
        ([1.0, 1e-5], [1.0, 2e-5], 2.5e-5, f"1 of 2 entries agrees {SMALL}"),
        ([1.0, 2e-5], [1.0, 2e-5], 2.5e-5, ""),  # within rtol as well
        ([1.0, 1.0, 1.0], [1.0 + 5e-6, 1.0 + 5e-6, 1.0], 2.5e-5, f"2 of 3 entries agree {SMALL}"),
        ([1.0, 0.0], [1.0, 0.0], 2.5e-5, ""),
        ([1.0, 0.0], [1.0, 1e-6], 2.5e-5, f"1 of 2 entries agrees {SMALL}"),
        ([1.0, 1.0], [1.0, 1.0], None, ""),
        ([1.0, 1e-10, 2e-10], [1.0, 1e-10, 2e-10], None, f"2 of 3 entries agree {BY_SCALE}"),
        ([0.0] * 9, [0.0] * 9, None, "x[4], x[5] and 3 more), "),
    ],
)
def test_a_pass_that_shows_less_than_it_seems_says_so(slopes, claimed, atol, noted):
    x = np.linspace(0.5, 2.0, len(slopes))
    report = check_gradient(lambda x: 1.0 + slopes @ x, x, claimed, atol=atol)
    assert report
    text = words(report.text(120))
    assert text.count("note: ") == bool(noted)
    assert noted in text
