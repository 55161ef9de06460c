"""What is handed in: found, read and named, whatever somebody has put there."""

import os
import time
from dataclasses import replace

import pytest

import course
from grader import handed_in, traces
from grader.handed_in import NotTakenError, look

RELU = course.read_course().find("06")
FORWARD = course.read_course().find("01")
SOLUTION = RELU.folder / "solution.py"


@pytest.fixture
def folder(tmp_path):
    yield tmp_path / "ada" if (tmp_path / "ada").mkdir() is None else None
    traces.remove(tmp_path / "ada")  # deeper than pytest can remove


def why_not(folder):
    with pytest.raises(NotTakenError) as error:
        look(folder).read(RELU)
    return str(error.value), error.value.failed


def test_the_file_nearest_to_the_top_is_graded_and_the_others_are_noted(folder):
    for name in ("b", "a", "a/deeper"):
        (folder / name).mkdir()
        (folder / name / "06_relu.py").write_text(name)
    taken, content = look(folder).read(RELU)
    assert (taken, content) == ("a/06_relu.py", b"a")
    said = "3 files are called 06_relu.py, and this is a/06_relu.py"
    assert list(look(folder).notes(RELU, taken, content)) == [said]


def test_capitals_do_not_matter(folder):
    (folder / "06_ReLU.PY").write_text("x")
    assert look(folder).read(RELU) == ("06_ReLU.PY", b"x")


@pytest.mark.parametrize(
    ("name", "but"),
    [
        ("06_relu (1).py", ", but 06_relu (1).py is"),
        ("work/ada_06_relu-2.py", ", but ada_06_relu-2.py is"),
        ("06_relu\n.py", ", but 06_relu\ufffd.py is"),
        ("relu.py", ""),
    ],
)
def test_a_file_with_nearly_the_name_is_named_and_not_graded(folder, name, but):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(SOLUTION.read_bytes())
    assert why_not(folder) == (f"06_relu.py is not there{but}", False)


@pytest.mark.parametrize("kind", ["link", "pipe", "device"])
def test_a_special_file_is_not_opened(folder, kind):
    path = folder / "06_relu.py"
    if kind == "link":
        path.symlink_to(SOLUTION)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        try:
            os.mknod(path, 0o020666, os.makedev(1, 5))  # /dev/zero
        except PermissionError as refusal:
            pytest.skip(f"no device can be made here: {refusal}")
    assert why_not(folder) == ("06_relu.py is not an ordinary file", False)


def test_a_link_to_a_folder_is_not_followed(folder):
    (folder / "work").symlink_to(SOLUTION.parent)
    (folder / "06_relu.py").mkdir()
    (folder / "loop").symlink_to(folder)
    assert why_not(folder) == ("06_relu.py is not there", False)


def test_a_file_too_large_is_refused(folder):
    (folder / "06_relu.py").write_text("")
    os.truncate(folder / "06_relu.py", 10**12)  # takes no room
    assert why_not(folder) == ("06_relu.py has more than 1,000,000 bytes", False)


def test_a_very_deep_folder_is_searched_down_to_a_limit(folder):
    here = os.getcwd()
    try:
        os.chdir(folder)
        for _ in range(25):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
    finally:
        os.chdir(here)
    said, failed = why_not(folder)
    assert said.startswith("06_relu.py is not there; xxx")
    assert said.endswith("cannot be read: File name too long")
    assert failed


def test_the_number_of_searched_files_is_limited(folder, monkeypatch):
    monkeypatch.setattr(handed_in, "MOST_FILES", 20)
    (folder / "a").mkdir()
    for i in range(30):
        (folder / "a" / str(i)).write_text("")
    said = "06_relu.py is not there; more than 20 files: not all looked at"
    assert why_not(folder) == (said, True)


def test_an_unreadable_file_is_reported_and_costs_nobody_points(folder, monkeypatch):
    def refused(*arguments, **keywords):
        raise PermissionError(13, "Permission denied")

    (folder / "06_relu.py").write_text("x")
    found = look(folder)
    monkeypatch.setattr(os, "scandir", refused)
    says = "06_relu.py is not there; the folder cannot be read: Permission denied"
    assert why_not(folder) == (says, True)
    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(NotTakenError, match=r"06_relu\.py cannot be read: Permission") as error:
        found.read(RELU)
    assert error.value.failed


@pytest.mark.one_in(3)
@pytest.mark.parametrize("filler", ["\n", "import (", "1e-"])
def test_a_file_that_is_slow_to_parse_does_not_delay_the_grader(folder, filler):
    begun = time.process_time()
    source = (filler * (900_000 // len(filler))).encode()
    assert list(look(folder).notes(RELU, "06_relu.py", source)) == []
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("source", "noted"),
    [
        ("def f():\n    import numpy as np, gradcheck_ref", True),
        ("m = __import__('gradcheck_ref')", True),
        ('if __name__ == "__main__":\n    import gradcheck_ref', False),
        ('# if __name__ == "__main__":\nimport gradcheck_ref', True),
        ("from importlib import import_module\nm = import_module('gradcheck_ref.zoo')", True),
        ("__name__ = ''\nif __name__ == '__main__':\n    import gradcheck_ref", True),
        ('"""I do not import gradcheck_ref,\nnor anything from gradcheck_ref."""', False),
    ],
)
def test_an_import_of_the_package_is_shown_to_the_instructor(folder, source, noted):
    found = list(look(folder).notes(FORWARD, "01_forward.py", source.encode()))
    assert found == ["01_forward.py imports gradcheck_ref, which has most answers"] * noted


@pytest.mark.parametrize(
    ("source", "noted"),
    [
        (b"f(x + 1e-30j).imag", True),
        (b"x.astype(complex)", True),
        (b"j = 1; xj = j", False),
    ],
)
def test_a_complex_step_is_shown_to_the_instructor(folder, source, noted):
    found = list(look(folder).notes(RELU, "06_relu.py", source))
    says = "06_relu.py has complex numbers: is its gradient derived, or a complex step?"
    assert found == [says] * noted
    assert list(look(folder).notes(FORWARD, "01_forward.py", source)) == []


def test_an_import_that_the_starter_has_is_not_noted(folder, tmp_path):
    (tmp_path / "01_forward").mkdir()
    (tmp_path / "01_forward" / "starter.py").write_text("import gradcheck_ref")
    exercise = replace(FORWARD, home=tmp_path)
    assert list(look(folder).notes(exercise, "01_forward.py", b"import gradcheck_ref")) == []
