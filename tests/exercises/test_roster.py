"""The roster: exports of Canvas and Moodle, tables made by hand, and who is in which list."""

from dataclasses import replace

import pytest
from graded import RELU

from grader import tables
from grader.grading import load_checks
from grader.report import Report
from grader.roster import differences, matched, read_roster
from grader.tables import Identities, gradebook, scores

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,06 ReLU (77)
    Points Possible,,,,,10
"Lovelace, Ada",501,u1,ada01,A,
"Ray, Bob",502,u2,bray,A,9
"Student, Test",503,,,,
"""
PARTICIPANTS = """\
\ufeffFirst name;Last name;ID number;Email address;Groups
Ada;Lovelace;9001;ada.l@example.org;x
Zoë;Ångström;9002;zoe@example.org;y
"""
WORKSHEET = """\
Identifier,Full name,Email address,Grade
Participant 123,Ada Lovelace,ada@example.org,
Participant 124,Ada Lovelace,other@example.org,
"""


@pytest.fixture
def roster(tmp_path):
    def roster(text, encoding="utf-8"):
        (tmp_path / "students.csv").write_bytes(text.encode(encoding))
        return read_roster(tmp_path / "students.csv")

    return roster


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(PARTICIPANTS, "utf-8"), (PARTICIPANTS, "utf-16-le"), (PARTICIPANTS[1:], "cp1252")],
)
def test_a_roster_may_come_from_any_spreadsheet(roster, text, encoding):
    names = [student.name for student in roster(text, encoding)]
    assert names == ["Ada Lovelace", "Zoë Ångström"]


def test_only_students_and_what_says_who_they_are_is_read(roster):
    ada, bob = roster(CANVAS)
    assert ada.name == "Lovelace, Ada"
    assert dict(bob.cells) == {
        **{"Student": "Ray, Bob", "ID": "502"},
        **{"SIS User ID": "u2", "SIS Login ID": "bray"},
    }


def test_a_roster_without_a_name_is_refused(roster):
    with pytest.raises(ValueError, match="no column that says who somebody is"):
        roster("a,b\n1,2\n")


@pytest.mark.parametrize(
    ("text", "submission", "found"),
    [
        (CANVAS, "lovelaceada_17", "Lovelace, Ada"),
        (CANVAS, "Bob Ray_123", "Ray, Bob"),
        (CANVAS, "bray", "Ray, Bob"),
        (CANVAS, "rayb_502", "Ray, Bob"),
        (CANVAS, "raybobby_99", None),
        (PARTICIPANTS, "Zoe Angstrom_88", "Zoë Ångström"),
        (PARTICIPANTS, "angstromzoe_88", "Zoë Ångström"),
        (PARTICIPANTS, "ada.l", "Ada Lovelace"),
        (PARTICIPANTS, "9002", "Zoë Ångström"),
        (PARTICIPANTS, "s9002", "Zoë Ångström"),
        (PARTICIPANTS, "Zoe Angström-Ray_9002", "Zoë Ångström"),
        ("id\n9002\n", "Bob Ray_9002", "9002"),
        (PARTICIPANTS, "Bob Ray_9002", None),  # the platform's number, and not her id
        (WORKSHEET, "Ada Lovelace_124", "Ada Lovelace"),
        (WORKSHEET, "Ada Lovelace_999", None),  # which of the two?
    ],
)
def test_a_submission_is_matched_by_name_or_by_number_or_not_at_all(
    roster, text, submission, found
):
    theirs = matched(roster(text), [submission])
    assert [student.name for student in theirs.values()] == ([found] if found else [])


def test_the_number_decides_between_two_students_of_one_name(roster):
    theirs = matched(roster(WORKSHEET), ["Ada Lovelace_123", "Ada Lovelace_124"])
    numbers = [student.cells["Identifier"] for student in theirs.values()]
    assert numbers == ["Participant 123", "Participant 124"]


def test_who_is_in_only_one_list_or_twice_is_named(roster):
    students = roster(CANVAS)
    theirs = matched(students, ["lovelaceada_1", "ada01", "x"])
    assert [*differences(students, theirs)] == [
        "2 submissions of one student: Lovelace, Ada: lovelaceada_1, ada01",
        "no submission: Ray, Bob",
    ]


def report_on(name, *, failed=False):
    """Return the report on a submission that has no file for exercise 6."""
    (relu,) = load_checks([RELU])
    return Report(name, (relu.without_points("not there", failed=failed),), "none")


def test_tables_have_the_columns_of_the_roster_and_everybody(roster):
    reports = [report_on("lovelaceada_1"), report_on("x")]
    who = Identities(roster(CANVAS), None, [one.submission for one in reports])
    head, *rows = scores([RELU], reports, who)
    assert head[:5] == ["submission", "Student", "ID", "SIS User ID", "SIS Login ID"]
    assert [row[:3] for row in rows] == [
        ["lovelaceada_1", "Lovelace, Ada", "501"],
        ["x", "", ""],
        ["", "Ray, Bob", "502"],
    ]
    assert rows[1][-1].startswith("not one student of the roster; ")
    assert rows[2][-1] == "nothing was handed in"
    assert len({*map(len, [head, *rows])}) == 1


def test_a_gradebook_has_the_ids_of_the_roster_and_nobody_twice(roster):
    names = ["lovelaceada_1", "ada01", "bray", "x"]
    reports = [report_on(name) for name in names]
    who = Identities(roster(CANVAS), None, names)
    assert gradebook("canvas", [RELU], who.known(reports)) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "06 ReLU"],
        ["Points Possible", "", "", "", "", "13"],
        ["Ray, Bob", "502", "u2", "bray", "", "0"],
    ]
    who = Identities(roster(PARTICIPANTS), None, ["ada.l"])
    assert gradebook("moodle", [RELU], who.known([report_on("ada.l")])) == [
        ["ID number", "Email address", "06 ReLU"],
        ["9001", "ada.l@example.org", "0"],
    ]


def test_what_could_not_be_graded_is_in_no_gradebook(roster):
    who = Identities(roster(CANVAS), None, ["bray"])
    assert who.known([report_on("bray", failed=True)]) == []


@pytest.mark.parametrize("name", ["checks.py", "judging.py", "expect.py", "private_cases.py"])
def test_a_journal_notices_what_a_grade_depends_on(tmp_path, monkeypatch, name):
    home = tmp_path / "exercises"
    for file in ("judging.py", "expect.py", "06_relu/checks.py", "06_relu/starter.py"):
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text("x = 1")
    monkeypatch.setattr(tables, "HERE", home)
    known = [replace(RELU, home=home)], tables.Limits(), "none"
    before = tables.fingerprint_of_course(*known)
    assert before == tables.fingerprint_of_course(*known)
    (home / ("06_relu" if name == "checks.py" else ".") / name).write_text("x = 2")
    assert tables.fingerprint_of_course(*known) != before
