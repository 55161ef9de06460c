"""The report: one sentence first, the numbers as far as they are known, and nothing too wide."""

import json
import math

import numpy as np
import pytest

from gradcheck_ref.check import check_gradient, check_vjp
from gradcheck_ref.check.report import Entry, Report, _alike, _ratio, _short

X = np.array([0.5, 1.0, 2.0])
A = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0], [0.2, 0.7, 5.0]])
BATCH = np.array([[1.0, -0.5], [0.3, 0.8], [-0.2, 0.4]])


def cubes(x):
    return np.sum(x**3)


def mean_loss(W1, b1):
    return np.mean(np.sum(np.tanh(BATCH @ W1 + b1) ** 2, axis=1))


def mean_loss_without_the_mean(W1, b1):
    a = np.tanh(BATCH @ W1 + b1)
    d = 2 * a * (1 - a * a)
    return BATCH.T @ d, d.sum(axis=0) / 3


W1, B1 = np.array([[0.3, -0.4, 0.8], [0.9, 0.1, -0.6]]), np.array([0.1, -0.2, 0.3])


class Restless:
    """The sum, with a deviation that is another one at every call."""

    def __init__(self):
        self.rng = np.random.default_rng(3)

    def __call__(self, x):
        return np.sum(x) + 1e-5 * self.rng.normal()


class Accumulates:
    def __init__(self):
        self.total = 0.0

    def __call__(self, x):
        self.total = self.total + 3 * x**2
        return self.total


def with_ripples(x):
    """Return a sum of squares with a ripple that is shorter than any step."""
    return np.sum(x**2) + 1e-5 * np.sum(np.sin(1e13 * x))


def doubles_its_input(x):
    value = np.sum(x**3)
    x *= 2
    return value


def root(x):
    with np.errstate(invalid="ignore"):
        return np.sum(x**1.5)


MAKE = {
    "pass": lambda: check_gradient(cubes, X, 3 * X**2),
    "pass, one number": lambda: check_gradient(lambda x: x**2, 3.0, 6.0),
    "pass, two inputs": lambda: check_gradient(
        lambda a, b: np.sum(a**2) + b, (X, 1.0), (2 * X, 1.0)
    ),
    "pass, skipped": lambda: check_gradient(
        lambda x: np.sum(x**2), np.arange(1.0, 1001), lambda x: 2 * x, max_evaluations=200
    ),
    "fail": lambda: check_gradient(cubes, X, 3 * X),
    "fail, factor": lambda: check_gradient(mean_loss, (W1, B1), mean_loss_without_the_mean),
    "fail, both": lambda: check_gradient(
        lambda a, b: np.sum(a**2) + np.sum(b**2), (X, X), (3 * X, 5 * X)
    ),
    "fail, one number": lambda: check_gradient(lambda x: x**2, 3.0, 5.0),
    "fail, small": lambda: check_gradient(cubes, X, 3 * X**2 * (1 + 2e-5)),
    "fail, nan": lambda: check_gradient(cubes, X, np.array([np.nan, 3, 12])),
    "fail, inf": lambda: check_gradient(cubes, X, np.array([-np.inf, 3, 12])),
    "fail, array": lambda: check_vjp(lambda x: A @ x, X, lambda u, x: A @ u),
    "fail, tuple": lambda: check_vjp(
        lambda x, z: (A @ x, abs(z) ** 2),
        (X, np.array([1 + 2j])),
        lambda u, x, z: (A.T @ u[0], z * u[1]),
    ),
    "fail, thousands": lambda: check_gradient(
        lambda x: np.sum(x**2), np.arange(1.0, 2501).reshape(50, 50), lambda x: 3 * x
    ),
    "fail, long name": lambda: check_gradient(
        lambda the_weights_of_the_first_hidden_layer_of_the_network: cubes(
            the_weights_of_the_first_hidden_layer_of_the_network
        ),
        X,
        3 * X,
    ),
    "fail, tiny": lambda: check_gradient(lambda x: 1e-14 * cubes(x), X, 3e-14 * X),
    "fail, huge": lambda: check_gradient(lambda x: 1e14 * cubes(x), X, 3e14 * X),
    "kink": lambda: check_gradient(
        lambda x: np.sum(np.abs(x)), np.array([1.0, 0.0, -2.0]), np.array([1.0, 0.3, -1.0])
    ),
    "noise": lambda: check_gradient(with_ripples, X, 2 * X),
    "nondeterministic": lambda: check_gradient(Restless(), X, np.ones(3)),
    "domain-edge": lambda: check_gradient(root, np.array([0.0, 1.0]), np.array([0.0, 1.5])),
    "nonfinite": lambda: check_gradient(lambda x: np.inf * np.sum(x), X, np.ones(3)),
    "step-underflow": lambda: check_gradient(
        lambda x: np.sum(np.sin(x)), np.array([1e25]), np.ones(1)
    ),
    "empty": lambda: check_gradient(lambda x: np.sum(x), np.zeros(0), np.zeros(0)),
    "mutated": lambda: check_gradient(doubles_its_input, X, 3 * X**2),
    "ignores-input": lambda: check_gradient(lambda x: cubes(X), X, 3 * X**2),
    "nondeterministic grads": lambda: check_gradient(cubes, X, Accumulates()),
    "shape": lambda: check_gradient(cubes, X, np.ones((3, 1))),
    "shape and wrong": lambda: check_gradient(
        lambda a, b: cubes(a) + cubes(b), (X, X), (np.ones((3, 1)), 3 * X)
    ),
}


class _Made(dict):
    def __missing__(self, name):
        self[name] = MAKE[name]()
        return self[name]


REPORTS = _Made()
every_report = pytest.mark.parametrize("name", MAKE)


def words(text):
    """Return a text without its line breaks."""
    return " ".join(text.split())


# --- verdicts and facts -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "verdict", "reason", "compared", "entries"),
    [
        ("pass", "pass", "ok", 3, 3),
        ("pass, one number", "pass", "ok", 1, 1),
        ("pass, skipped", "pass", "ok", 16, 1000),
        ("fail", "fail", "wrong", 3, 3),
        ("fail, nan", "fail", "nonfinite", 3, 3),
        ("fail, tuple", "fail", "wrong", 20, 20),
        ("kink", "unsure", "kink", 3, 3),
        ("noise", "unsure", "noise", 3, 3),
        ("nondeterministic", "unsure", "nondeterministic", 3, 3),
        ("domain-edge", "unsure", "domain-edge", 2, 2),
        ("nonfinite", "unsure", "nonfinite", 3, 3),
        ("step-underflow", "unsure", "step-underflow", 1, 1),
        ("empty", "unsure", "empty", 0, 0),
        ("mutated", "fail", "mutated", 3, 3),
        ("ignores-input", "fail", "ignores-input", 3, 3),
        ("nondeterministic grads", "fail", "nondeterministic", 3, 3),
        ("shape", "fail", "shape", 0, 3),
    ],
)
def test_a_report_has_a_verdict_a_reason_and_counts(name, verdict, reason, compared, entries):
    report = REPORTS[name]
    assert (report.verdict, report.reason) == (verdict, reason)
    assert (report.compared, report.entries) == (compared, entries)
    assert bool(report) is (verdict == "pass")


def test_the_worst_entry_has_a_name_and_numbers():
    worst = REPORTS["fail"].worst
    assert isinstance(worst, Entry)
    assert (worst.name, worst.analytic, worst.verdict, worst.reason) == (
        "x[0]", 1.5, "fail", "wrong",
    )  # fmt: skip
    assert worst.numeric == pytest.approx(0.75, abs=1e-9)
    assert worst.error == pytest.approx(0.75, abs=1e-9)
    assert worst.ratio == pytest.approx(worst.error / worst.allowed)
    assert worst.bar < 1e-9
    assert worst.step > 0
    assert REPORTS["empty"].worst is None


@pytest.mark.parametrize(
    ("atol", "term"), [(None, "rtol"), (0.0, "rtol"), (1e-9, "rtol"), (0.1, "atol")]
)
def test_the_term_is_the_tolerance_that_allows_more(atol, term):
    assert check_gradient(cubes, X, 3 * X, atol=atol).worst.term == term


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("fail, one number", "x"),
        ("fail, array", "d output[2] / d x[0]"),
        ("fail, tuple", "d output[1][0] / d the imaginary part of z[0]"),
    ],
)
def test_an_entry_names_its_output_only_where_there_is_a_choice(name, entry):
    report = REPORTS[name]
    names = {
        report.name(pair, int(row), int(column))
        for pair in report.pairs
        for row, column in np.argwhere(pair.verdict == 2)
    }
    assert entry in names


def test_scalar_outputs_of_a_tuple_are_told_apart():
    report = check_vjp(lambda x: (np.sum(x), cubes(x)), X, lambda u, x: u[0] + 2 * u[1] * x)
    assert {report.title(pair) for pair in report.pairs} == {
        "d output[0] / d x",
        "d output[1] / d x",
    }
    assert report.worst.name.startswith("d output[1] / d x[")


# --- the text ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pass", ["PASS  x: all 3 entries agree, using less than 1 %", "evaluations, seed 0)"]),
        ("pass, one number", ["PASS  x: the entry agrees"]),
        ("pass, two inputs", ["PASS  a, b: all 4 entries agree"]),
        ("pass, skipped", ["PASS  x: 16 of 1000 entries were compared, and agree"]),
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
        ("fail, small", ["analytic 12.00024, numeric 12.00000 +- "]),
        ("fail, nan", ["1 of 3 entries differs", "analytic nan, numeric 0.750", "division by 0"]),
        ("fail, inf", ["1 of 3 entries differs", "analytic -inf, numeric 0.750"]),
        ("fail, array", ["FAIL  d output / d x: 6 of 9 entries differ; worst d output[2] / d x"]),
        ("fail, thousands", ["2500 of 2500 entries", "the worst 10 of 2500 entries that differ:"]),
        ("fail, tiny", ["analytic 1.500e-14, numeric 7.50e-15 +- "]),
        (
            "kink",
            ["UNSURE  1 of 3 entries is at a kink", "at x[1] the slope goes from -1.0000 on one "
             "side to 1.0000 on the other, and analytic 0.3000 lies between",
             "try: any slope between", "move x[1] away from 0"],
        ),
        (
            "noise",
            ["3 of 3 entries are hidden by the noise of f", "only an error above ",
             "is allowed", "with rtol="],
        ),
        ("nondeterministic", ["returns other values when called again", "try: seed the random"]),
        ("domain-edge", ["edge of the domain of f: at x[0]", "try: move x[0] further inside"]),
        ("nonfinite", ["output is not finite at this point", "try: look at f itself first"]),
        (
            "step-underflow",
            ["the only entry is out of reach: no step that is short enough moves x[0] = 1e+25",
             "try: rescale x"],
        ),
        ("empty", ["UNSURE  nothing was compared: x has no entries", "try: "]),
        ("mutated", ["FAIL  f writes to its input x", "apart from that, the numbers agree"]),
        ("ignores-input", ["FAIL  f gave the same value however x was moved", "3 of 3 entries"]),
        ("nondeterministic grads", ["FAIL  the gradient of x[0] was 0.75 at the first call"]),
        ("shape", ["FAIL  grads gives shape (3, 1) for x, which has shape (3,)"]),
        ("shape and wrong", ["FAIL  grads gives shape (3, 1) for a", "b: 2 of 3 entries differ"]),
    ],
)  # fmt: skip
def test_the_text_says(name, said):
    text = words(REPORTS[name].text(100))
    for part in said:
        assert words(part) in text


@every_report
def test_the_verdict_is_the_first_word_and_the_advice_is_only_for_what_did_not_pass(name):
    report = REPORTS[name]
    text = report.text(80)
    assert text.split()[0] == report.verdict.upper()
    assert ("try: " in text) <= (not report)
    assert (text.count("\n") < 3) >= bool(report)


@every_report
def test_what_did_not_pass_says_in_the_last_line_how_it_was_found(name):
    report = REPORTS[name]
    last = words(report.text(80))[-160:]
    assert f"{report.evaluations} evaluations" in last
    assert "seed 0" in last
    assert ("noise of f" in last) is not bool(report)


@pytest.mark.parametrize(
    ("name", "listed"),
    [("fail", 2), ("fail, one number", 0), ("fail, nan", 0), ("kink", 0), ("noise", 3),
     ("fail, thousands", 10), ("pass", 0), ("shape", 0), ("shape and wrong", 2)],
)  # fmt: skip
def test_entries_are_listed_where_several_are_concerned_and_ten_at_most(name, listed):
    lines = REPORTS[name].text(100).splitlines()
    heading = [k for k, line in enumerate(lines) if line.startswith("entry")]
    assert len(heading) == (listed > 0)
    if listed:
        rows = lines[heading[0] + 1 : lines.index("", heading[0])]
        assert len(rows) == listed


def test_ten_entries_are_listed_of_all_inputs_together():
    x = np.arange(1.0, 9.0)
    report = check_gradient(
        lambda a, b: np.sum(a**2) + np.sum(b**2), (x, x), lambda a, b: (3 * a, 5 * b)
    )
    lines = report.text(100).splitlines()
    assert sum(line.startswith(("a[", "b[")) for line in lines) == 10
    assert "the worst 10 of 16 entries that differ:" in lines


def test_the_worst_entries_are_listed_by_ratio():
    lines = REPORTS["fail, both"].text(100).splitlines()
    rows = [line.split()[0] for line in lines if line.startswith(("a[", "b["))]
    assert {row[0] for row in rows[:3]} == {"b"}
    assert {row[0] for row in rows[3:]} == {"a"}


def test_a_guess_at_the_mistake_is_shown_for_each_input_once(monkeypatch):
    class Guess:
        def __init__(self, subject, sentence):
            self.kind, self.subject, self.sentence = "factor", subject, sentence
            self.advice = f"look at {subject}"

    guesses = (Guess("b", "first of b"), Guess("a", "first of a"), Guess("b", "second of b"))
    monkeypatch.setattr(Report, "diagnoses", guesses)
    lines = [line for line in REPORTS["fail, both"].text(80).splitlines() if ": " in line]
    assert [line for line in lines if line.startswith(("looks", "try"))] == [
        "looks like: b: first of b",
        "try: look at b",
        "looks like: a: first of a",
        "try: look at a",
    ]


@pytest.mark.parametrize("name", ["pass", "pass, two inputs", "kink", "noise", "empty"])
def test_no_mistake_is_guessed_at_where_none_was_found(name):
    assert REPORTS[name].diagnoses == ()
    assert "looks like" not in str(REPORTS[name])


def test_an_input_that_f_ignores_is_no_mistake_in_its_gradient():
    assert "looks like" not in str(REPORTS["ignores-input"])


def test_a_claim_just_beyond_the_slopes_at_a_kink_is_not_said_to_lie_between():
    x, claim = np.array([1.0, 0.0]), np.array([1.0, 1.0 + 5e-11])
    report = check_gradient(lambda x: np.sum(np.abs(x)), x, claim)
    text = words(str(report))
    assert report.reason == "kink"
    assert ("lies between" in text) is (report.worst.error <= report.worst.bar)


def test_the_tolerance_that_is_recommended_for_noise_lets_the_check_pass():
    text = words(REPORTS["noise"].text(80))
    rtol = float(text.split("with rtol=")[1].split()[0])
    assert 1e-6 < rtol < 0.1
    assert check_gradient(with_ripples, X, 2 * X, rtol=rtol)


def test_what_noise_hides_is_what_could_not_fail():
    worst, text = REPORTS["noise"].worst, words(REPORTS["noise"].text(80))
    shown = float(text.split("only an error above ")[1].split()[0])
    assert shown == pytest.approx(worst.allowed + 3 * worst.bar, rel=0.5)


@pytest.mark.parametrize(
    ("deviation", "used"),
    [(0.0, "less than 1 %"), (1.5e-8, "at most 2 %"), (2.55e-7, "at most 26 %")],
)
def test_a_pass_says_how_much_of_the_allowed_error_is_used(deviation, used):
    report = check_gradient(cubes, X, 3 * X**2 * (1 + deviation))
    assert f"using {used} of the allowed error" in words(str(report))


def test_two_reasons_get_a_sentence_each():
    def f(x):
        return abs(x[0]) + x[1] ** 1.5

    with np.errstate(invalid="ignore"):
        text = words(str(check_gradient(f, np.array([0.0, 0.0]), np.array([0.1, 0.0]))))
    assert "1 of 2 entries is at a kink" in text
    assert "1 of 2 entries is at the edge" in text
    assert text.count("try: ") == 2
    assert text.count("UNSURE") == 1


def test_the_representation_is_the_first_sentence():
    assert repr(REPORTS["fail"]).startswith("<Report: FAIL  x: 2 of 3 entries differ; worst at [0]")
    assert len(repr(REPORTS["fail, thousands"])) < 200


# --- width ------------------------------------------------------------------------------------


@every_report
@pytest.mark.parametrize("width", [40, 41, 55, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(name, width, monkeypatch):
    report = REPORTS[name]
    monkeypatch.setenv("COLUMNS", str(width))
    for text in (str(report), report.table(), report.text(width), report.table(width)):
        assert max(map(len, text.splitlines())) <= width
        assert text == "\n".join(line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("name", ["fail", "kink", "fail, tuple", "fail, long name"])
def test_a_narrow_terminal_gets_the_same_words(name):
    wide, narrow = (REPORTS[name].text(width).split("\n\n")[0] for width in (200, 40))
    assert "".join(wide.split()) == "".join(narrow.split())
    assert narrow.count("\n") > wide.count("\n")


def test_an_index_and_an_error_bar_are_not_torn_apart():
    for width in range(40, 121):
        text = REPORTS["fail, factor"].text(width)
        assert not any(line.endswith(("+-", "analytic", "[0,", "[1,")) for line in text.split("\n"))


# --- the table --------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_pair_the_worst_first():
    lines = REPORTS["fail, tuple"].table(140).splitlines()
    assert lines[0].split() == (
        ["entry", "error", "analytic", "numeric", "+-", "allowed", "ratio", "by", "step", "verdict"]
    )
    assert len(lines) == 1 + 4 + 1
    assert lines[1].startswith("d output[1][0] / d the ")
    assert lines[1].endswith("fail (2/2)")
    assert all(line.endswith("pass") for line in lines[2:5])


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("fail", ["x[0]", "0.75", "1.500", "0.750", "1.0e6", "rtol", "fail (2/3)"]),
        ("pass", ["<0.01", "rtol", "pass"]),
        ("kink", ["x[1]", "unsure: kink (1/3)"]),
        ("fail, nan", ["x[0]", "nan", "0.750", "fail: nonfinite (1/3)"]),
        ("shape", ["-", "fail: shape (3/3)"]),
        ("empty", ["x", "-", "no entries"]),
    ],
)
def test_a_row_shows(name, cells):
    row = REPORTS[name].table(140).splitlines()[1]
    at = -1
    for cell in cells:
        assert cell in row[at + 1 :]
        at = row.index(cell, at + 1)


def test_a_table_without_room_leaves_out_columns_and_then_stacks_them():
    wide, narrower, narrow = (REPORTS["fail"].table(width) for width in (100, 60, 40))
    assert "step" in wide
    assert "step" not in narrower
    assert "verdict" in narrower
    assert narrow.startswith("x[0]\n  error 0.75,")


# --- plain data -------------------------------------------------------------------------------


@every_report
@pytest.mark.parametrize("entries", [False, True], ids=["worst", "entries"])
def test_the_dictionary_survives_json(name, entries):
    report = REPORTS[name]
    data = report.to_dict(entries=entries)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["version"] == 1
    assert (data["verdict"], data["reason"]) == (report.verdict, report.reason)
    assert sum(sum(pair["count"].values()) for pair in data["pairs"]) == report.entries


def test_what_is_not_finite_is_a_string_that_float_reads():
    data = REPORTS["fail, nan"].to_dict(entries=True)
    assert data["worst"]["analytic"] == "nan"
    assert math.isnan(float(data["pairs"][0]["analytic"][0][0]))
    infinite = REPORTS["fail, inf"].to_dict()["worst"]
    assert float(infinite["analytic"]) == -math.inf


def test_the_numbers_of_all_entries_come_on_request():
    report = REPORTS["fail, array"]
    assert "analytic" not in report.to_dict()["pairs"][0]
    (pair,) = report.to_dict(entries=True)["pairs"]
    np.testing.assert_array_equal(pair["analytic"], report.pairs[0].analytic)
    assert np.shape(pair["verdict"]) == np.shape(pair["reason"]) == (3, 3)


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("analytic", "numeric", "bar", "written"),
    [
        (0.8127, 0.2709, 2e-11, ("0.8127", "0.2709")),
        (1.5, 0.75, 1e-12, ("1.500", "0.750")),
        (1.0000123, 1.0, 1e-11, ("1.000012", "1.000000")),
        (0.3, 0.5, 0.02, ("0.30", "0.50")),
        (1.23456, 1.2, 0.3, ("1.2", "1.2")),
        (0.3, 0.0, 1.0, ("0.3", "0.0")),
        (1.0, 1557.3, 956.0, ("1", "1.6e3")),
        (-1e-17, 2.0, 1e-12, ("-1.000e-17", "2.000")),
        (0.0, 2.0, 1e-12, ("0.000", "2.000")),
        (2e-14, 4e-14, 3e-26, ("2.000e-14", "4.000e-14")),
        (2e14, 4e14, 300.0, ("2.000e14", "4.000e14")),
        (math.nan, 2.0, 1e-12, ("nan", "2.000")),
        (-math.inf, 2.0, 1e-12, ("-inf", "2.000")),
        (1.0, math.nan, math.inf, ("1.000", "nan")),
        (0.0, 0.0, 0.0, ("0", "0")),
        (9.9999, 10.0, 1e-9, ("9.999900", "10.000000")),
        (-1e-12, 1e-3, 1e-9, ("-1.000e-12", "0.001000")),
    ],
)
def test_claim_and_estimate_are_written_to_the_same_place_without_noise(
    analytic, numeric, bar, written
):
    error = abs(analytic - numeric)
    entry = Entry("x", analytic, numeric, bar, error, 0, 0, "rtol", 0, "fail", "wrong")
    assert _alike(entry) == written


def test_what_passes_shows_no_difference_because_there_is_none_to_see():
    entry = Entry("x", 0.75, 0.75 - 1e-12, 3e-12, 1e-12, 1e-6, 0, "rtol", 0, "pass", "ok")
    assert _alike(entry) == ("0.7500", "0.7500")


@pytest.mark.parametrize(
    ("value", "written"),
    [(2e-11, "2e-11"), (2.6e-7, "3e-7"), (0.003, "3e-3"), (0.02, "0.02"), (0.5, "0.5"), (1, "1"),
     (9.7, "10"), (956.0, "1000"), (3e8, "3e8"), (0.0, "0"), (math.inf, "inf"), (math.nan, "nan")],
)  # fmt: skip
def test_error_bars_have_one_digit(value, written):
    assert _short(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "<0.01"), (0.0099, "<0.01"), (0.5, "0.50"), (1.02, "1.02"), (99.0, "99.00"),
     (2.04e5, "2.0e5"), (math.inf, "inf"), (math.nan, "nan")],
)  # fmt: skip
def test_ratios_are_told_where_they_tell_something(value, written):
    assert _ratio(value) == written
