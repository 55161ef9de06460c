"""The neutral report in the forms that platforms read, as they demand it."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from graded import RUNNER

import course
from grader import writers
from grader.report import Graded, GradedExercise, Report, clean, from_dict

TITLE = "An open gate passes upstream on, a shut gate passes 0."
MESSAGE = "called: relu_backward([-1 2 0.5], [3 -4 0.1])\ngot: [0 1 1]\nexpected: [0 -4 0.1]"


def check(i, status, points, earned, message="", *, heldout=False):
    return Graded(f"06_relu/check_{i}", f"06.{i}", TITLE, points, earned, status, message, heldout)


RELU = GradedExercise(
    "06_relu",
    "ReLU",
    (
        check(1, "passed", 3, 3),
        check(2, "failed", 2, 0, MESSAGE),
        check(3, "failed", 1, 1 / 3, MESSAGE),
        check(4, "todo", 1, 0, "to do: exercise 6, task 3: relu_backward"),
        check(5, "passed", 1, 1, heldout=True),
    ),
    notes=("06_relu.py imports gradcheck_ref, which has most answers",),
    printed="debug & <print>",
)
GONE = GradedExercise(
    "07_softmax",
    "Softmax",
    (
        replace(
            check(1, "not run", 2, 0, "07_softmax.py is not there"),
            number="07.1",
            id="07_softmax/a",
        ),
    ),
    problem="07_softmax.py is not there",
)
REPORT = Report("ada", (RELU, GONE), "bubblewrap", 1.234)
GROUP = {**RUNNER, "ASSIGNMENT_TYPE": "group", "REVIEW_URL": "https://example.org/review"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a\tb\nc \N{SNOWMAN} \N{GRINNING FACE}", "a\tb\nc \N{SNOWMAN} \N{GRINNING FACE}"),
        ("\x1b[31m\x00\x9b", "\ufffd[31m\ufffd\ufffd"),
        ("\u202eada: 13 of 13\u2069\u200f", "\ufffdada: 13 of 13\ufffd\ufffd"),
        ("\ud800\uffff", "\ufffd\ufffd"),
        ("x" * 3_900_000, "x" * 4_000 + " ..."),
    ],
    ids=["ordinary", "control", "turned around", "half", "long"],
)
def test_what_a_submission_says_is_fit_for_a_terminal_for_xml_and_for_a_reader(said, kept):
    assert clean(said) == kept


def test_the_neutral_report_has_everything():
    data = json.loads(writers.neutral(REPORT))
    assert (data["format_version"], data["wall"]) == (2, "bubblewrap")
    assert from_dict(data) == replace(REPORT, seconds=1.23)
    assert (data["submission"], data["points"]) == ("ada", 10)
    assert data["earned"] == pytest.approx(4 + 1 / 3)
    relu, gone = data["exercises"]
    assert gone["problem"] == "07_softmax.py is not there"
    assert relu["printed"] == "debug & <print>"
    assert relu["checks"][1] == {
        "id": "06_relu/check_2",
        "number": "06.2",
        "title": TITLE,
        "points": 2,
        "earned": 0,
        "status": "failed",
        "message": MESSAGE,
        "heldout": False,
    }


def test_the_text_is_for_a_reader_of_60_columns():
    assert writers.text(REPORT) == (
        "ada: 4.33 of 10 points, wall: bubblewrap\n"
        "\n"
        "06 ReLU                                            4.33 of 8\n"
        "  note: 06_relu.py imports gradcheck_ref, which has most\n"
        "        answers\n"
        "  ok   3/3 An open gate passes upstream on, a shut gate\n"
        "           passes 0.\n"
        "  NO   0/2 An open gate passes upstream on, a shut gate\n"
        "           passes 0.\n"
        "           called: relu_backward([-1 2 0.5], [3 -4 0.1])\n"
        "           got: [0 1 1]\n"
        "           expected: [0 -4 0.1]\n"
        "  NO 0.33/1 An open gate passes upstream on, a shut gate\n"
        "            passes 0.\n"
        "           called: relu_backward([-1 2 0.5], [3 -4 0.1])\n"
        "           got: [0 1 1]\n"
        "           expected: [0 -4 0.1]\n"
        "  NO   0/1 An open gate passes upstream on, a shut gate\n"
        "           passes 0.\n"
        "           to do: exercise 6, task 3: relu_backward\n"
        "  ok   1/1 An open gate passes upstream on, a shut gate\n"
        "           passes 0.\n"
        "\n"
        "07 Softmax                                            0 of 2\n"
        "  07_softmax.py is not there\n"
    )


def test_the_text_says_what_a_crash_raised_and_where_on_lines_of_their_own():
    crashed = replace(GONE, problem="07_softmax.py cannot be imported\nraised: OSError\nat: line 1")
    assert writers.text(Report("ada", (crashed,), "none")).endswith(
        "0 of 2\n  07_softmax.py cannot be imported\n  raised: OSError\n  at: line 1\n"
    )


# --- Gradescope --------------------------------------------------------------------------------


def test_gradescope_gets_a_test_for_each_check_and_sees_held_out_ones_later():
    data = json.loads(writers.gradescope(REPORT))
    assert data["score"] == pytest.approx(4 + 1 / 3)
    assert data["execution_time"] == 1.2
    assert data["output"] == "wall: bubblewrap\n\n07_softmax: 07_softmax.py is not there"
    assert data["extra_data"] == {"wall": "bubblewrap", "notes": list(RELU.notes)}
    tests = data["tests"]
    assert [test["number"] for test in tests] == [c.number for c in REPORT.checks]
    assert [test["visibility"] for test in tests] == [
        *["visible"] * 4,
        "after_due_date",
        "visible",
    ]
    assert {test["status"] for test in tests} == {"passed", "failed"}
    assert sum(test["score"] for test in tests) == data["score"]
    assert all(0 <= test["score"] <= test["max_score"] for test in tests)
    assert tests[1]["output"] == MESSAGE


# --- PrairieLearn ------------------------------------------------------------------------------


def test_prairielearn_gets_a_score_between_0_and_1():
    data = json.loads(writers.prairielearn(REPORT))
    assert data["gradable"] is True
    assert data["score"] == pytest.approx(0.4333, abs=1e-4)
    assert data["message"] == "wall: bubblewrap\n\n07_softmax: 07_softmax.py is not there"
    assert data["tests"][1] == {
        "name": f"06.2 {TITLE}",
        "points": 0,
        "max_points": 2,
        "message": MESSAGE,
    }


def test_prairielearn_takes_no_attempt_where_nothing_could_be_run():
    data = json.loads(writers.prairielearn(replace(REPORT, exercises=(GONE,))))
    assert data == {
        "gradable": False,
        "format_errors": ["07_softmax: 07_softmax.py is not there"],
        "output": "wall: bubblewrap",
    }


# --- Classroom 50 ------------------------------------------------------------------------------

# classroom50/result/v1 as far as it concerns us: the keys, all of them needed, and their types.
FIELDS = {
    **dict.fromkeys(("schema", "classroom", "assignment", "owner", "commit"), str),
    **dict.fromkeys(("release", "review", "submission", "datetime", "assignment_type"), str),
    **{"score": int, "max-score": int, "tests": list},
}


def test_classroom50_gets_whole_numbers_and_all_its_fields():
    data = json.loads(writers.classroom50(REPORT, GROUP))
    assert {key: type(value) for key, value in data.items()} == FIELDS
    assert data["schema"] == "classroom50/result/v1"
    assert data["assignment_type"] == "group"
    assert data["review"] == "https://example.org/review"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", data["datetime"])
    assert (data["score"], data["max-score"]) == (433, 1000)
    for test in data["tests"]:
        types = {key: type(value) for key, value in test.items()}
        assert types == {
            "test-name": str,
            "passed": bool,
            "score": int,
            "max-score": int,
            "message": str,
        }
        assert 0 <= test["score"] <= test["max-score"]
        assert test["passed"] == (test["score"] == test["max-score"])


def test_almost_all_is_not_rounded_up_to_all():
    almost = replace(RELU, checks=(check(1, "failed", 1, 0.9999),))
    (test,) = json.loads(writers.classroom50(replace(REPORT, exercises=(almost,)), GROUP))["tests"]
    assert (test["score"], test["passed"]) == (99, False)


def test_classroom50_without_a_comparison_or_an_owner_takes_what_there_is():
    runner = {**RUNNER, "USERNAME": "bob"}
    del runner["OWNER"]
    data = json.loads(writers.classroom50(REPORT, runner))
    assert data["review"] == data["commit"] == "https://example.org/commit"
    assert data["owner"] == "bob"
    assert data["assignment_type"] == "individual"


def test_outside_of_classroom50_it_is_said_what_is_lacking():
    with pytest.raises(ValueError, match="sets CLASSROOM, COMMIT_URL, REVIEW_URL; here"):
        writers.classroom50(REPORT, {**RUNNER, "CLASSROOM": "", "COMMIT_URL": "", "REVIEW_URL": ""})


# --- JUnit -------------------------------------------------------------------------------------


def test_junit_has_a_suite_for_each_exercise_and_a_case_for_each_check():
    root = ElementTree.fromstring(writers.as_junit(REPORT))
    relu, gone = root
    assert root.get("name") == "ada, wall: bubblewrap"
    counts = ("tests", "failures", "errors", "skipped")
    assert [relu.get(count) for count in counts] == ["5", "3", "0", "0"]
    assert [gone.get(count) for count in counts] == ["1", "0", "1", "0"]
    assert [case.get("classname") for case in relu] == ["06_relu"] * 5
    assert len({case.get("name") for case in relu}) == 5
    assert relu[1].find("failure").text == MESSAGE
    assert relu[2].find("system-out").text == "0.33 of 1 points"
    assert gone[0].find("error").get("message") == "07_softmax.py is not there"
    assert [case.find("failure") is None for case in relu] == [True, False, False, False, True]


# --- the table of a class ----------------------------------------------------------------------


def test_a_row_has_the_points_of_each_check_and_an_id_if_that_is_asked_for():
    exercises = [e for e in course.read_course().exercises if e.number == "07"]
    checks = [f"07_softmax/{check}" for check in [*exercises[0].points, "whole"]]
    by = re.compile(r"_(\d+)_")
    assert writers.score_head(exercises, by, checks=True) == [
        *("submission", "id", "07_softmax", *checks, "points", "out of", "wall", "look at")
    ]
    row = writers.score_row(replace(REPORT, submission="lovelace_17_a"), by, checks=True)
    assert row[:5] == ["lovelace_17_a", "17", "4.33", "0", "3"]
    assert len(row) == 8 + len(REPORT.checks)


@pytest.mark.parametrize(
    ("pattern", "found"), [(r"\d+", "17"), (r"_(\d+)_a", "17"), ("x(y)?", ""), ("ada(b)?", "")]
)
def test_an_id_is_what_a_pattern_finds_or_its_first_group(pattern, found):
    assert writers.identity("ada_17_a", re.compile(pattern)) == found


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1"])
def test_no_name_is_a_formula(name):
    assert writers.score_row(replace(REPORT, submission=name))[0] == f"'{name}"


def test_a_gradebook_has_who_is_known_with_the_points_of_each_exercise():
    exercises = [e for e in course.read_course().exercises if e.number in ("06", "07")]
    crashed = replace(REPORT, submission="eve_19", exercises=(replace(RELU, failed=True), GONE))
    reports = [replace(REPORT, submission="=ada_17"), REPORT, crashed]
    by = re.compile(r"\d+")
    titles = ["06 ReLU", "07 Softmax with cross-entropy"]
    assert writers.canvas(exercises, reports, by) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["Points Possible", "", "", "", "", "13", "19"],
        ["'=ada_17", "", "", "17", "", "4.33", "0"],
    ]
    assert writers.moodle(exercises, reports, by) == [["ID number", *titles], ["17", "4.33", "0"]]
