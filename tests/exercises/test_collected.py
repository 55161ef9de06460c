"""The folder of a class: everybody has one submission, and every file is accounted for."""

import zipfile

import pytest

import course
from grader.collected import belonging_to_nobody, submissions
from grader.handed_in import look
from grader.manifest import manifest

COURSE = course.read_course()
RELU, SOFTMAX = COURSE.find("06"), COURSE.find("07")
FILE, TEXT = "_assignsubmission_file_", "_assignsubmission_onlinetext_"


def put(folder, *names):
    """Write files that hold a name for Python; a zip file holds 06_relu.py."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("06_relu.py", name)
        else:
            path.write_text(f"this = {name!r}", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("files", "who", "taken"),
    [
        (["ada/06_relu.py"], "ada", "06_relu.py"),
        ([f"Ada L_7{FILE}/06_relu.py", f"Ada L_7{TEXT}/onlinetext.html"], "Ada L_7", "06_relu.py"),
        ([f"Ada L_7{FILE}06_relu.py", f"Ada L_7{TEXT}onlinetext.html"], "Ada L_7", "06_relu.py"),
        ([f"Ada L_7{TEXT}/onlinetext.html"], "Ada L_7", None),
        (["Ada L_7_assignsubmission_file/06_relu.py"], "Ada L_7", "06_relu.py"),
        (["ada_17_901_06_relu.py"], "ada_17", "06_relu.py"),
        (["ada_17_901_relu.py"], "ada_17", "06_relu.py"),
        (["ada_LATE_17_901_06-relu-2.py"], "ada_17", "06_relu.py"),
        (["ada_06_relu.py"], "ada", "06_relu.py"),
        (["ada_17_901_homework.zip"], "ada_17", "homework.zip/06_relu.py"),
        (["ada_06_relu.zip"], "ada", "06_relu.zip/06_relu.py"),
        (["ada.zip"], "ada", "ada.zip/06_relu.py"),
        (["ada/x/my.zip"], "ada", "x/my.zip/06_relu.py"),
        (["ada_17/06_relu.py", "ada_17_902_07_softmax.py"], "ada_17", "06_relu.py"),
        (["ada_17_901_essay.pdf"], "ada_17", None),
    ],
    ids=lambda part: ", ".join(part) if isinstance(part, list) else "",
)
def test_each_student_has_one_submission(tmp_path, files, who, taken):
    (found,), left_out = submissions(put(tmp_path, *files), COURSE.exercises)
    assert (found.name, left_out) == (who, [])
    if taken:
        assert look(found).read(RELU)[0] == taken


def test_what_came_late_is_noted_and_the_last_time_counts(tmp_path):
    names = ("ada_17_901_06_relu.py", "ada_LATE_17_902_06_relu-1.py")
    (found,), _ = submissions(put(tmp_path, *names), COURSE.exercises)
    handed_in = look(found)
    taken, source = handed_in.read(RELU)
    assert b"LATE" in source
    assert "06_relu.py was handed in late" in handed_in.notes(RELU, taken, source)


def test_what_belongs_to_nobody_is_named(tmp_path):
    put(tmp_path, "06_relu.py", "notes.txt", ".DS_Store", "__MACOSX/x", ".git/x", "ada/06_relu.py")
    (tmp_path / "link").symlink_to(tmp_path / "ada")
    found, left_out = submissions(tmp_path, COURSE.exercises)
    assert [one.name for one in found] == ["ada"]
    assert {path.name: why for path, why in belonging_to_nobody(left_out)} == {
        **dict.fromkeys(("06_relu.py", "notes.txt"), "no student's name, not graded"),
        **dict.fromkeys((".DS_Store", "__MACOSX", ".git"), "left there by a program"),
        "link": "a link, not followed",
    }


def test_the_manifest_has_every_file_and_what_became_of_it(tmp_path):
    put(tmp_path, "ada/06_relu.py", "ada/old/06_relu.py", "ada/07_softmax.py", "ada/notes.txt")
    put(tmp_path, "bob.zip", "cy/08_two_layer.py", "06_relu.py", "cy/\x1b[31m.txt")
    (tmp_path / "cy" / "broken.zip").write_text("x")
    (tmp_path / "cy" / "06_relu.py").mkdir()
    (tmp_path / "dan").mkdir()
    (tmp_path / "dan" / "06_relu.py").symlink_to(tmp_path / "06_relu.py")
    found, left_out = submissions(tmp_path, COURSE.exercises)
    head, *rows = manifest(tmp_path, found, left_out, [RELU, SOFTMAX], COURSE.exercises)
    assert head == ["file", "submission", "what became of it"]
    assert {file: (who, became) for file, who, became in rows} == {
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
