"""Late work: when it was handed in, what is known of that, and what it loses."""

import zipfile
from dataclasses import replace
from datetime import datetime

import pytest
from graded import RELU, blocks_of

import course
from grader import late
from grader.collected import Submission, submissions
from grader.handed_in import look
from grader.report import Graded, GradedExercise, Report
from grader.roster import read_roster

COURSE = course.read_course()
DUE = datetime(2026, 11, 8, 23, 59)
RULE = {"per_day": 10, "most": 50, "due": {"06": DUE}}


@pytest.mark.parametrize(
    ("handed_in", "extension", "days"),
    [
        ("2026-11-08T23:59:00", 0, 0),
        ("2026-11-08T23:59:01", 0, 1),
        ("2026-11-10T12:00:00", 0, 2),
        ("2026-11-10T12:00:00", 1, 1),
        ("2026-11-10 12:00", 1.5, 1),
        ("2026-11-10", 2, 0),
        ("", 0, 0),
        ("on Sunday", 0, 0),
    ],
)
def test_a_day_that_has_begun_is_late_and_an_unknown_time_is_not(handed_in, extension, days):
    assert late.days_late(DUE, handed_in, extension) == days


def test_a_time_with_a_zone_is_compared_as_that_of_this_machine():
    there = DUE.astimezone().astimezone(tz=None).isoformat()
    assert "+" in there or "-" in there[10:]
    assert late.days_late(DUE, there, 0) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"per_day": 10, "most": 50},
        {**RULE, "per_day": "ten"},
        {**RULE, "due": {"66": DUE}},
        {**RULE, "due": {"06": "soon"}},
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(wrong):
    with pytest.raises(ValueError, match=r"course\.toml: \[late\] cannot be read"):
        late.read_late(replace(COURSE, late=wrong))
    assert late.read_late(COURSE) is None


def earned(when, roster, tmp_path):
    """Return the points of a submission that has earned 8 of 10."""
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    check = Graded("06_relu/check_forward", "06.1", "It is right.", 10, 8.0, "failed", "", False)
    (tmp_path / "06_relu.py").write_text("")
    one = Submission("Ada Lovelace", (tmp_path,), times=(when,))
    report = Report(one.name, (GradedExercise("06_relu", "ReLU", (check,)),), "none")
    found = {one.name: read_roster(tmp_path / "roster.csv")}
    rule = late.read_late(replace(COURSE, late=RULE))
    return late.with_late({one: report}, rule, found)[one]


@pytest.mark.parametrize(
    ("when", "roster", "points"),
    [
        ("2026-11-07T10:00:00", "name\nAda Lovelace\n", 8.0),
        ("2026-11-09T10:00:00", "name\nAda Lovelace\n", 7.2),
        ("2026-11-29T10:00:00", "name\nAda Lovelace\n", 4.0),
        ("2026-11-10T10:00:00", "name,extension\nAda Lovelace,1\n", 7.2),
        ("", "name,handed in\nAda Lovelace,2026-11-10 10:00\n", 6.4),
        ("", "姓名,提交时间,延期\nAda Lovelace,2026-11-10 10:00,2\n", 8.0),
    ],
)
def test_late_work_loses_a_part_of_what_it_earns(when, roster, points, tmp_path):
    report = earned(when, roster, tmp_path)
    assert report.earned == pytest.approx(points)
    assert report.points == 10
    lost = [check for check in report.checks if check.id == "06_relu/late"]
    assert bool(lost) == (points < 8) == bool(report.exercises[0].notes)


@pytest.mark.parametrize(
    ("head", "cell", "says"),
    [
        ("extension", "some", "an extension is a number of days, and not 'some'"),
        ("handed in", "12.11.2026 10:00", "2026-11-08 23:59, and not '12.11.2026 10:00'"),
        ("abgegeben", "on Sunday", "a time is written as 2026-11-08 23:59, and not 'on Sunday'"),
    ],
)
def test_what_cannot_be_read_of_a_roster_is_refused(head, cell, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        earned("", f"name,{head}\nAda Lovelace,{cell}\n", tmp_path)


FIRST, SECOND = "HW_bray_attempt_2026-11-05-10-00-00", "HW_bray_attempt_2026-11-14-10-00-00"


def when(folder, *files):
    """Return when exercise 6 was handed in; what is below a zip file is in it."""
    for file in files:
        path, _, inside = file.partition(".zip/")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if inside:
            with zipfile.ZipFile(folder / f"{path}.zip", "w") as archive:
                archive.writestr(inside, "x = 1")
        else:
            (folder / path).write_text("x = 1", encoding="utf-8")
    ((one,), _) = submissions(folder, COURSE.exercises)
    return look(one).when(RELU)


EARLY, LATE = "1-9 - Ada L - Nov 5, 2026 1000 AM", "1-9 - Ada L - Nov 14, 2026 1000 AM"


@pytest.mark.parametrize(
    ("files", "day"),
    [
        ([f"{FIRST}_06_relu.py", f"{SECOND}_07_softmax.py", f"{SECOND}.txt"], "05"),
        ([f"{FIRST}_06_relu.py", f"{SECOND}_relu.py"], "14"),
        ([f"{FIRST}_07_softmax.py", f"{SECOND}_all.zip/06_relu.py"], "14"),
        ([f"{FIRST}_all.zip/06_relu.py", f"{SECOND}_07_softmax.py"], "05"),
        ([f"{FIRST}_all.zip/06_relu.py", f"{SECOND}_more.zip/07_softmax.py"], "05"),
        ([f"{EARLY}/06_relu.py", f"{LATE}/07_softmax.py"], "05"),
        ([f"{EARLY}/06_relu.py", f"{LATE}/06_relu.py"], "14"),
        ([f"{EARLY}/all.zip/06_relu.py", f"{LATE}/all.zip/07_softmax.py"], "05"),
        ([f"{EARLY}.zip/06_relu.py", f"{LATE}.zip/hw/06_relu.py"], "14"),
        ([f"{EARLY} - all.zip/06_relu.py", f"{LATE} - essay.pdf"], "05"),
    ],
)
def test_an_exercise_is_as_late_as_the_file_that_counts(files, day, tmp_path):
    assert when(tmp_path, *files) == f"2026-11-{day}T10:00:00"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("HW1_bray_attempt_2026-11-01-10-20-30_06_relu.py", "2026-11-01T10:20:30"),
        ("1-9 - Ada L - Nov 2, 2026 1020 PM - 06_relu.py", "2026-11-02T22:20:00"),
        ("1-9 - Ada L - 2 nov. 2026 10 PM - 06_relu.py", ""),
        ("ada_06_relu.py", ""),
    ],
)
def test_a_time_is_known_where_the_platform_says_it(name, told, tmp_path):
    assert when(tmp_path, name) == told


def test_gradescope_says_it_for_its_folders(tmp_path):
    put = tmp_path / "submission_11" / "06_relu.py"
    put.parent.mkdir()
    put.write_text("x = 1")
    (tmp_path / "submission_metadata.yml").write_text(blocks_of("forms.txt")["of Gradescope"])
    ((one,), _) = submissions(tmp_path, COURSE.exercises)
    told = look(one).when(RELU)
    assert (one.name, told) == (
        "Ada Lovelace_9001_alovelace@example.org",
        "2026-11-01 10:20:30.5Z",
    )
    assert late.days_late(datetime(2026, 10, 31), told, 0) in (1, 2)
