"""The neutral report in the forms that platforms read, as they demand it."""

import csv
import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from graded import RUNNER

import course
from grader import tables, writers
from grader.report import Graded, GradedExercise, Report, clean, from_dict
from grader.tables import Identities

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
    (Graded("07_softmax/a", "07.1", TITLE, 2, 0, "not run", "07_softmax.py is not there", False),),
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
def test_the_output_of_a_submission_is_safe_for_terminals_and_xml(said, kept):
    assert clean(said) == kept


# What is stored was looked at, and is as the platforms demand it.
STORED = {
    "report.txt": writers.text,
    "report.json": writers.neutral,
    "gradescope.json": writers.gradescope,
    "prairielearn.json": writers.prairielearn,
    "junit.xml": writers.as_junit,
}


@pytest.mark.parametrize("name", STORED)
def test_a_written_report_equals_the_stored_one(name):
    stored = Path(__file__).parent / "reports" / name
    assert STORED[name](REPORT) == stored.read_text(encoding="utf-8")


def test_the_neutral_report_can_be_read_again():
    assert from_dict(json.loads(writers.neutral(REPORT))) == replace(REPORT, seconds=1.23)


def test_the_text_shows_the_exception_and_the_place_of_a_crash():
    crashed = replace(GONE, problem="07_softmax.py cannot be imported\nraised: OSError\nat: line 1")
    assert writers.text(Report("ada", (crashed,), "none")).endswith(
        "0 of 2 points\n  07_softmax.py cannot be imported\n  raised: OSError\n  at: line 1\n"
    )


# --- PrairieLearn ------------------------------------------------------------------------------


def test_prairielearn_takes_no_attempt_where_nothing_could_be_run():
    data = json.loads(writers.prairielearn(replace(REPORT, exercises=(GONE,))))
    errors = ["07_softmax: 07_softmax.py is not there"]
    assert data == {"gradable": False, "format_errors": errors, "output": "wall: bubblewrap"}


# --- Classroom 50 ------------------------------------------------------------------------------

# classroom50/result/v1 as far as it concerns us: the keys, all of them needed, and their types.
FIELDS = {
    **dict.fromkeys(("schema", "classroom", "assignment", "owner", "commit"), str),
    **dict.fromkeys(("release", "review", "submission", "datetime", "assignment_type"), str),
    **{"score": int, "max-score": int, "tests": list},
}
NUMBERS = {"score": int, "max-score": int}
OF_A_TEST = {"test-name": str, "passed": bool, **NUMBERS, "message": str}


def test_classroom50_gets_whole_numbers_and_all_its_fields():
    data = json.loads(writers.classroom50(REPORT, GROUP))
    assert {key: type(value) for key, value in data.items()} == FIELDS
    assert data["schema"] == "classroom50/result/v1"
    assert data["assignment_type"] == "group"
    assert data["review"] == "https://example.org/review"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", data["datetime"])
    assert (data["score"], data["max-score"]) == (433, 1000)
    for test in data["tests"]:
        assert {key: type(value) for key, value in test.items()} == OF_A_TEST
        assert 0 <= test["score"] <= test["max-score"]
        assert test["passed"] == (test["score"] == test["max-score"])


def test_almost_all_is_not_rounded_up_to_all():
    almost = replace(RELU, checks=(check(1, "failed", 1, 0.9999),))
    (test,) = json.loads(writers.classroom50(replace(REPORT, exercises=(almost,)), GROUP))["tests"]
    assert (test["score"], test["passed"]) == (99, False)


def test_classroom50_works_without_a_comparison_or_an_owner_and_names_what_is_missing():
    runner = {**RUNNER, "USERNAME": "bob", "OWNER": ""}
    data = json.loads(writers.classroom50(REPORT, runner))
    assert data["review"] == data["commit"] == "https://example.org/commit"
    assert (data["owner"], data["assignment_type"]) == ("bob", "individual")
    with pytest.raises(ValueError, match="sets CLASSROOM, COMMIT_URL, REVIEW_URL; here"):
        writers.classroom50(REPORT, {**RUNNER, "CLASSROOM": "", "COMMIT_URL": "", "REVIEW_URL": ""})


# --- the table of a class ----------------------------------------------------------------------


def cell(folder, text):
    """Return a text as a cell of a table that is written."""
    tables.write_table(folder / "table", [[text]])
    ((cell,),) = csv.reader((folder / "table").read_text("utf-8").splitlines())
    return cell


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1"])
def test_no_part_of_a_name_is_a_formula_whatever_separates_cells(tmp_path, name):
    for before in ("", "x;", "x\t", "x, ", ';"', "x;y;"):
        assert cell(tmp_path, f"{before}{name}") == f"{before}'{name}"


@pytest.mark.parametrize("name", ["Mary-Ann", "a=b", "x; y", "3 - 1"])
def test_ordinary_names_stay_as_they_are(tmp_path, name):
    assert cell(tmp_path, name) == name


def test_each_submission_has_a_report_of_its_own():
    long = "x" * 200
    names = ["ada", "Ada", "\u00e9", "e\u0301", "b\x01", "b\x02", f"{long}1", f"{long}2"]
    found = tables.report_names(names)
    assert [*found] == sorted(names)
    assert len({unicodedata.normalize("NFC", name.lower()) for name in found.values()}) == len(
        names
    )
    assert all(len(name) < 200 and "\x01" not in name for name in found.values())


def test_what_could_not_be_graded_has_no_points_in_any_form():
    reports = [replace(REPORT, exercises=(replace(RELU, failed=True, problem="busy"), GONE))]
    exercises = course.read_course().choose(["06", "07"])
    head, row = tables.scores(exercises, reports)
    cells = dict(zip(head, row, strict=True))
    assert (cells["06_relu"], cells["07_softmax"]) == ("not graded", "0")
    assert (cells["points"], cells["out of"]) == ("not graded", "10")
    assert cells[
        "look at"
    ] == "busy; 06_relu.py imports gradcheck_ref, which has most answers; " + (
        "07_softmax.py is not there"
    )
    (report,) = reports
    assert "ReLU                                  could not be graded" in writers.text(report)
    assert "8 not graded" in writers.text(report)
    assert "score" not in json.loads(writers.gradescope(report))
    assert json.loads(writers.prairielearn(report))["gradable"] is False
    with pytest.raises(ValueError, match="could not be graded: 06_relu: busy"):
        writers.classroom50(report, GROUP)


def test_a_gradebook_has_the_known_students_and_their_points():
    exercises = course.read_course().choose(["06", "07"])
    crashed = replace(REPORT, submission="eve_19", exercises=(replace(RELU, failed=True), GONE))
    reports = [replace(REPORT, submission="=ada_17"), REPORT, crashed]
    graded = Identities(by=re.compile(r"\d+")).known(reports)
    titles = ["06 ReLU", "07 Softmax with cross-entropy"]
    canvas, moodle = (tables.gradebook(book, exercises, graded) for book in tables.GRADEBOOKS)
    assert canvas == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["Points Possible", "", "", "", "", "13", "19"],
        ["=ada_17", "", "", "17", "", "4.33", "0"],
    ]
    assert moodle == [["ID number", *titles], ["17", "4.33", "0"]]
