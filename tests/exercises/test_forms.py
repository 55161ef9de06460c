"""What is handed in, in every form: found, read and named, and whom it belongs to.

The rows are in ``forms.txt``. What takes more than a row is below.
"""

import json
import os
import re
import time
import zipfile
from dataclasses import replace

import pytest
from graded import RELU, blocks_of, each_row

import course
from grader import archives, handed_in, tables, traces
from grader.collected import Submission, belonging_to_nobody, submissions
from grader.handed_in import NotTakenError, look
from grader.identity import matched
from grader.manifest import manifest
from grader.report import GradedExercise, Report
from grader.roster import read_roster
from verify import TRIAL

COURSE = course.read_course()
FORWARD = COURSE.find("01")
STARTER = (RELU.folder / "starter.py").read_text("utf-8")
BLOCKS = blocks_of("forms.txt")


# --- files -------------------------------------------------------------------------------------


def of(*sources):
    """Return a notebook of cells without tags."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}).encode()


HOLDS = {
    "": str.encode,
    "a notebook": lambda code: of("%time 1", code),
    "the starter": lambda _: STARTER.encode(),
    "empty": lambda _: b"",
    "a byte order mark": lambda _: b"\xef\xbb\xbf\n",
    "the starter, signed": lambda _: f"# Ada\n{STARTER}# done\n".encode(),
    "the starter without its trial": lambda _: STARTER.partition(TRIAL)[0].encode(),
    "UTF-16": lambda code: code.encode("utf-16"),
    "UTF-16 from the big end": lambda code: f"\ufeff{code}".encode("utf-16-be"),
    "broken": lambda _: b"PK\3\4 and no more",
    "12 MB": lambda _: b"0" * 12_000_000,
}


def very_large(path):
    path.touch()
    os.truncate(path, 10**12)  # takes no room


def device(path):
    try:
        os.mknod(path, 0o020666, os.makedev(1, 5))  # /dev/zero
    except PermissionError as refusal:
        pytest.skip(f"no device can be made here: {refusal}")


THINGS = {
    "a folder": os.mkdir,
    "a pipe": os.mkfifo,
    "a device": device,
    "1 TB": very_large,
    "a link to its folder": lambda path: path.symlink_to("."),
    "a link to the exercise": lambda path: path.symlink_to(RELU.folder),
    "a link to the solution": lambda path: path.symlink_to(RELU.folder / "solution.py"),
}


STRANGE = ("a link", "LZMA", "encrypted")  # in a zip file


def put(folder, name, kind=""):
    """Write a file that holds its own name, or make what else is to lie there."""
    zipped = re.fullmatch(r"(?i)(.+?\.zip)/(.+)", name)
    path = folder / (zipped[1] if zipped else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    code = f"this = {name!r}  # é\n"
    if zipped:
        content = HOLDS["" if kind in STRANGE else kind](code)
        info = zipfile.ZipInfo(zipped[2])
        info.external_attr = 0o120777 << 16 if kind == "a link" else 0
        how = zipfile.ZIP_LZMA if kind == "LZMA" else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(info, content, how)
            archive.filelist[-1].flag_bits |= kind == "encrypted"
    elif kind in THINGS:
        THINGS[kind](path)
    else:
        path.write_bytes(HOLDS[kind](code))


def read(there):
    """Return the name of what is graded, its code, and what the instructor is told."""
    try:
        taken, source = there.read(RELU)
    except NotTakenError as error:
        return "nothing", b"", [str(error), *["could not be graded"] * error.failed]
    return taken, source, [*there.notes(RELU, taken, source)]


@pytest.mark.one_in(4)
@each_row("forms.txt", "who gets what")
def test_who_gets_what_lies_there_and_what_is_said(tmp_path, row):
    files, *said = row
    kinds = dict(one.partition(" = ")[::2] for one in files.split(" + "))
    for name, kind in kinds.items():
        put(tmp_path, name, kind)
    before = [*os.walk(tmp_path)]
    found, left_out = submissions(tmp_path, COURSE.exercises)
    told = []
    for one in found:
        there = look(one)
        taken, source, noted = read(there)
        told += [f"{one.name}: {taken}", *noted]
        became = {
            file: what for file, _, what in manifest(tmp_path, [one], [], [RELU], COURSE.exercises)
        }
        counts = [name for name in kinds if name in became][: taken != "nothing"]
        assert [file for file in became if became[file] == "graded as 06_relu"] == counts
        for name in counts:
            holds = STARTER if kinds[name] == "the starter" else f"this = {name!r}  # é\n"
            assert holds in source.decode()
    assert told + [f"{path.name}: {why}" for path, why in belonging_to_nobody(left_out)] == said
    assert [*os.walk(tmp_path)] == before  # nothing was unpacked


def test_the_manifest_has_every_file_and_what_became_of_it(tmp_path):
    expected = {
        "ada/06_relu.py": ("ada", "graded as 06_relu"),
        "ada/old/06_relu.py": ("ada", "another file counts for 06_relu"),
        "ada/07_softmax.py": ("ada", "graded as 07_softmax"),
        "ada/notes.txt": ("ada", "not the name of an exercise"),
        "bob.zip/06_relu.py": ("bob", "graded as 06_relu"),
        "cy/08_two_layer.py": ("cy", "08_two_layer was not to be graded"),
        "cy/\ufffd[31m.txt": ("cy", "not the name of an exercise"),
        "cy/broken.zip": ("cy", "is no zip file that can be read"),
        "dan/06_relu.py": ("dan", "not graded: 06_relu.py is not an ordinary file"),
        "06_relu.py": ("", "no student's name, not graded"),
    }
    kinds = {"cy/broken.zip": "broken", "dan/06_relu.py": "a pipe"}
    for name in expected:
        put(tmp_path, name.replace("\ufffd", "\x1b"), kinds.get(name, ""))
    found, left_out = submissions(tmp_path, COURSE.exercises)
    graded = COURSE.choose(["06", "07"])
    head, *rows = manifest(tmp_path, found, left_out, graded, COURSE.exercises)
    assert head == ["file", "submission", "what became of it"]
    assert {file: (who, became) for file, who, became in rows} == expected


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ada").mkdir()
    yield tmp_path / "ada"
    traces.remove(tmp_path / "ada")  # deeper than pytest can remove


def test_a_very_deep_folder_is_searched_down_to_a_limit(folder):
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(25):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
    finally:
        os.chdir(here)
    *_, (said, failed) = read(look(folder))
    assert said.startswith("06_relu.py is not there; xxx")
    assert said.endswith("cannot be read: File name too long")
    assert failed == "could not be graded"


def test_the_number_of_searched_files_is_limited(folder, monkeypatch):
    monkeypatch.setattr(handed_in, "MOST_FILES", 20)
    for i in range(30):
        put(folder, f"a/{i}")
    *_, (said, failed) = read(look(folder))
    assert failed == "could not be graded"
    assert said.endswith(" and 16 more are; more than 20 files: not all looked at")


def test_a_zip_file_of_very_many_files_is_not_opened(folder, monkeypatch):
    for i in range(100):
        put(folder, f"many.zip/{i}")
    monkeypatch.setattr(archives, "MOST_OF_A_LIST", 4_000)
    (archive,) = look(folder).files
    assert archive.fault == "is a zip file of too many files"


def test_an_unreadable_file_is_reported_and_costs_nobody_points(folder, monkeypatch):
    def refused(*arguments, **keywords):
        raise PermissionError(13, "Permission denied")

    put(folder, "06_relu.py")
    found = look(folder)
    monkeypatch.setattr(os, "scandir", refused)
    says = "06_relu.py is not there; the folder cannot be read: Permission denied"
    assert read(look(folder))[2] == [says, "could not be graded"]
    monkeypatch.setattr(os, "open", refused)
    says = "06_relu.py cannot be read: Permission denied"
    assert read(found)[2] == [says, "could not be graded"]


def test_no_name_takes_long(folder):
    nearly = f"06_relu{'-' * 200}1.py"
    put(folder, nearly)
    assert look(folder).read(RELU)[0] == nearly
    put(folder, f"work.zip/06_relu{'-' * 60_000}1.py")  # which no other file can have
    assert [file.name for file in look(folder).called(RELU)] == [nearly]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("filler", ["\n", "import (", "1e-"])
def test_a_file_that_is_slow_to_parse_does_not_delay_the_grader(folder, filler):
    begun = time.process_time()
    source = (filler * (900_000 // len(filler))).encode()
    assert list(look(folder).notes(RELU, "06_relu.py", source)) == []
    assert time.process_time() - begun < 1


@each_row("forms.txt", "what is in it")
def test_what_an_instructor_should_look_at_is_noted(folder, row):
    number, source, says = row
    exercise = COURSE.find(number)
    found = list(look(folder).notes(exercise, exercise.work.name, source.encode()))
    assert found == [f"{exercise.work.name} {says}"] * (says != "nothing")


def test_an_import_that_the_starter_has_is_not_noted(folder, tmp_path):
    put(tmp_path, "01_forward/starter.py")
    (tmp_path / "01_forward" / "starter.py").write_text("import gradcheck_ref")
    exercise = replace(FORWARD, home=tmp_path)
    assert list(look(folder).notes(exercise, "01_forward.py", b"import gradcheck_ref")) == []


# --- students ----------------------------------------------------------------------------------


def roster(folder, told):
    """Read a roster: by its name, with the encoding, or by its lines."""
    name, _, encoding = told.partition(" in ")
    text = BLOCKS.get(f"roster {name}", told.replace(" / ", "\n"))
    (folder / "students.csv").write_bytes(text.encode(encoding or "utf-8"))
    return read_roster(folder / "students.csv")


def of_whom(folder, told, names):
    """Return the names of the students whose submissions these are, in a class of theirs."""
    students = roster(folder, told)
    place = folder / "class"
    for name in names:
        put(place, name if name.endswith(".py") else f"{name}/06_relu.py")
    found, _ = submissions(place, COURSE.exercises)
    theirs = matched(students, found)
    return [" + ".join(s.name for s in theirs.get(one, ())) or "nobody" for one in found]


@each_row("forms.txt", "who is it")
def test_a_submission_is_known_by_these_rules_or_not_at_all(tmp_path, row):
    told, submission, who = row
    try:
        found = of_whom(tmp_path, told, [submission])
    except ValueError as error:
        found = [str(error).partition(":")[0]]
    assert found == [who]


@each_row("forms.txt", "a class of each platform")
def test_of_a_class_nobody_is_missing_nobody_there_twice_and_nobody_has_anothers(tmp_path, row):
    _, *files = row
    for file in files:
        put(tmp_path / "class", file)
    if "submission_metadata.yml" in str(files):
        (tmp_path / "class" / files.pop()).write_text(BLOCKS["of Gradescope"], encoding="utf-8")
    students = roster(tmp_path, "Everybody")
    found, _ = submissions(tmp_path / "class", COURSE.exercises)
    theirs = matched(students, found)
    assert {*theirs} == {*found}
    handed_in = {s.name: look(one).read(RELU)[1] for one, those in theirs.items() for s in those}
    expected = {s.name: file for s, file in zip(students, files, strict=True)}
    assert sum(map(len, theirs.values())) == len(handed_in) == len(students)
    for name, file in expected.items():
        assert f"this = {file!r}" in handed_in[name].decode()


def test_only_students_and_what_says_who_they_are_is_read(tmp_path):
    ada, bob = roster(tmp_path, "Canvas")
    assert ada.name == "Lovelace, Ada"
    expected = {"Student": "Ray, Bob", "ID": "502", "SIS User ID": "u2", "SIS Login ID": "bray"}
    assert bob.cells == expected


def test_a_gradebook_for_moodle_has_the_columns_of_its_own_export(tmp_path):
    who = tables.Identities(roster(tmp_path, "Moodle"), None, [Submission("ada.l")])
    report = Report("ada.l", (GradedExercise("06_relu", "ReLU", ()),), "none")
    assert tables.gradebook("moodle", [RELU], who.known([report])) == [
        ["ID number", "Email address", "06 ReLU"],
        ["9001", "ada.l@example.org", "0"],
    ]


@each_row("forms.txt", "which id")
def test_an_id_is_the_match_of_a_pattern_or_its_first_group(row):
    pattern, name, found = row
    assert tables.identity(name, re.compile(pattern)) == found.replace("nothing", "")
