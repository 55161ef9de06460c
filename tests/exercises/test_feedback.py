"""What goes back: points by hand, what a regrade has changed, and the texts for students."""

import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
from graded import RELU, blocks_of

import course
from grader import by_hand, tables
from grader.changes import HEAD, read_table
from grader.collected import submissions
from grader.report import Graded, GradedExercise, Report
from grader.roster import read_roster
from grader.writers import text

COURSE = course.read_course()
OPTIONS = ("csv", "json", "reports", "student_reports", "canvas", "moodle", "moodle_feedback", "id")
TEAM = "Ada Lovelace and Cy Fox"
MOODLE = "_assignsubmission_file_"


def report(submission, earned=2.0):
    check = Graded("06_relu/check_forward", "06.1", "It is right.", 3, earned, "failed", "", False)
    exercise = GradedExercise("06_relu", "ReLU", (check,))
    return Report(submission.name, (exercise,), "none")


@pytest.fixture
def write(tmp_path):
    """Return a function that writes the files of a class of two, with their points before that."""
    place = tmp_path / "class"
    for name in (f"Ada Lovelace_123{MOODLE}", "Cy Fox"):
        (place / name).mkdir(parents=True)
    (tmp_path / "roster.csv").write_text(blocks_of("forms.txt")["roster Worksheet"], "utf-8")
    students = read_roster(tmp_path / "roster.csv")
    found, _ = submissions(place, COURSE.exercises)

    def write(points=2.0, hand="", **more):
        options = SimpleNamespace(**dict.fromkeys(OPTIONS), checks=False)
        options.csv = tmp_path / "scores.csv"
        vars(options).update({name: tmp_path / file for name, file in more.items()})
        (tmp_path / "hand.csv").write_text(f"who,exercise,points,why\n{hand}", "utf-8")
        rows = by_hand.read_by_hand(tmp_path / "hand.csv", COURSE)
        reports = {one: report(one, points) for one in found}
        warnings = tables.write_class(reports, [RELU], options, students, rows)
        rows = read_table(options.csv)
        return {row[0]: row[rows[0].index("06_relu")] for row in rows[1:]}, warnings

    write.home = tmp_path
    return write


@pytest.mark.parametrize("who", ["Ada Lovelace_123", "Ada Lovelace 123", "ada@example.org"])
def test_points_by_hand_survive_a_regrade(write, who):
    for points, total in ((2.0, "3.5"), (1.0, "2.5"), (0.0, "1.5")):
        scores, _ = write(points, f"{who},6,1.5,told me how\n")
        assert scores["Ada Lovelace_123"] == total
        assert float(scores["Cy Fox"]) == points


def test_points_taken_off_by_hand_leave_no_less_than_0(write):
    scores, warnings = write(2.0, "Cy Fox,06,-5,\nGrace,06,1,\nCy Fox,07,1,\n")
    assert scores["Cy Fox"] == "0"
    assert warnings == [
        "by hand, line 3: no submission of Grace: not added",
        "by hand, line 4: 07_softmax is not graded: not added",
    ]


@pytest.mark.parametrize(
    ("who", "points"),
    [("Ada Lovelace", {"3", "2"}), ("ada@example.org", {"3", "2"}), (TEAM, {"3"})],
)
def test_points_for_one_of_a_team_are_only_for_that_one(tmp_path, who, points):
    (tmp_path / "class" / TEAM).mkdir(parents=True)
    (tmp_path / "roster.csv").write_text(
        "name,email\nAda Lovelace,ada@example.org\nCy Fox,cy@x.org"
    )
    found, _ = submissions(tmp_path / "class", COURSE.exercises)
    options = SimpleNamespace(**dict.fromkeys(OPTIONS), checks=False)
    options.csv, options.moodle = tmp_path / "scores.csv", tmp_path / "moodle.csv"
    row = by_hand.ByHand(2, who, "06_relu", 1.0, "")
    students = read_roster(tmp_path / "roster.csv")
    warnings = tables.write_class(
        {one: report(one) for one in found}, [RELU], options, students, [row]
    )
    for path in options.csv, options.moodle:
        head, *rows = read_table(path)
        column = next(i for i, name in enumerate(head) if name.startswith("06"))
        assert {line[column] for line in rows} == points
        assert rows[0][column] == "3"
    assert warnings == []


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "who;exercise;points;why\nCy Fox;06;0,5;späte Frage\n"),
        ("gb18030", "who;exercise;points;why\nCy Fox;06;0.5;补交\n"),
        ("cp1252", "who;exercise;points;why\nCy Fox;06;0.5;für Müller, großes Lob\n"),
        ("utf-16", "who\texercise\tpoints\twhy\nCy Fox\t06\t0.5\t补交\n"),
    ],
)
def test_points_by_hand_may_come_from_any_spreadsheet(tmp_path, encoding, text):
    (tmp_path / "hand.csv").write_bytes(text.encode(encoding))
    (row,) = by_hand.read_by_hand(tmp_path / "hand.csv", COURSE)
    assert (row.who, row.points) == ("Cy Fox", 0.5)
    assert row.why in text


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("Cy Fox,66,1,", "no exercise '66'"),
        ("Cy Fox,06,much,", "'much' is no number of points"),
        ("Cy Fox,06,nan,", "'nan' is no number of points"),
    ],
)
def test_a_row_that_cannot_be_understood_is_refused(write, row, says):
    with pytest.raises(ValueError, match=f"hand.csv, line 2: .*{says}"):
        write(hand=f"{row}\n")


def test_what_a_regrade_changes_is_a_table_of_old_and_new_points(write):
    table = write.home / "scores.changes.csv"
    assert write(2.0)[1] == write(2.0)[1] == []
    assert not table.exists()
    _, warnings = write(2.0, "Cy Fox,06,0.5,\n")
    assert warnings == ["points that are not what they were: 1, see scores.changes.csv"]
    assert read_table(table) == [HEAD, ["Cy Fox", "06_relu", "2", "2.5"]]


def test_feedback_lies_in_the_folders_that_moodle_has_made(write):
    _, warnings = write(hand="Ada Lovelace_123,06,1,well told\n", moodle_feedback="back.zip")
    assert warnings == ["not in back.zip: Cy Fox"]
    with zipfile.ZipFile(write.home / "back.zip") as archive:
        (name,) = archive.namelist()
        told = archive.read(name).decode()
    assert name == f"Ada Lovelace_123{MOODLE}/feedback.txt"
    assert told.startswith("Ada Lovelace_123: 3 of 3 points")
    assert "        +1 by hand: well told\n" in told


def test_points_by_hand_have_no_mark_and_no_points_to_be_earned(write):
    one = report(SimpleNamespace(name="ada"))
    exercise = by_hand._added(one.exercises[0], by_hand.ByHand(2, "ada", "06_relu", -0.5, ""))
    lines = text(replace(one, exercises=(exercise,))).splitlines()
    assert "06 ReLU                                      1.5 of 3 points" in lines
    assert lines[-1] == "      -0.5 by hand"
