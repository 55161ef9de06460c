"""What is handed in: found, read and named, whatever somebody has put there."""

import json
import os
import time
import zipfile
from dataclasses import replace

import pytest

import course
from grader import archives, handed_in, traces
from grader.handed_in import NotTakenError, look
from verify import TRIAL

RELU = course.read_course().find("06")
FORWARD = course.read_course().find("01")
SOLUTION = RELU.folder / "solution.py"


def of(*sources):
    """Return a notebook of cells without tags."""
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}).encode()


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


NEARLY = (
    *("relu.py", "ReLU.py", "06-relu.py", "6_relu.py", "06relu.py", "06 relu.ipynb"),
    *("06_relu (1).py", "06_relu-2.py", "06_relu copy.py", "06_relu_final.py"),
    *("06_relu_final_v2.py", "06_relu - Copy final.py", f"06_relu{'-' * 200}1.py"),
    *("06_relu.py.txt", "06_relu.py.py"),
    *("ada_06_relu.py", "ada_17_901_06_relu-1.py"),
)


@pytest.mark.parametrize("name", NEARLY)
def test_a_file_with_nearly_the_name_is_graded_and_noted(folder, name):
    code = of("x = 1") if name.endswith(".ipynb") else b"x = 1"
    (folder / name).write_bytes(code)
    found = look(folder)
    taken, source = found.read(RELU)
    assert (taken, source.split()[-3:]) == (name, [b"x", b"=", b"1"])
    assert list(found.notes(RELU, taken, source)) == [f"{name} was taken for 06_relu.py"]


def test_a_name_that_no_file_can_have_takes_no_time(tmp_path):
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
        archive.writestr(f"06_relu{'-' * 60_000}1.py", "x = 1")
    assert look(tmp_path).called(RELU) == []


@pytest.mark.parametrize("name", ["leaky_relu.py", "16_relu.py", "06_relu_tests.py", "relu.txt"])
def test_a_file_with_another_name_is_named_and_not_graded(folder, name):
    (folder / name).write_bytes(SOLUTION.read_bytes())
    assert why_not(folder) == (f"06_relu.py is not there, but {name} is", False)


def test_a_strange_name_is_cleaned(folder):
    (folder / "my\x1b[31m\nrelu.txt").write_text("")
    said = "06_relu.py is not there, but my\ufffd[31m\ufffdrelu.txt is"
    assert why_not(folder) == (said, False)


def test_what_is_there_instead_is_named_but_not_the_other_exercises(folder):
    for name in ("answers.rar", "b", "c.pdf", "d.doc", "07_softmax.py", ".hidden"):
        (folder / name).write_text("x")
    said = "06_relu.py is not there, but answers.rar, b, c.pdf and 1 more are"
    assert why_not(folder) == (said, False)


def test_the_very_name_counts_before_one_that_is_nearly_it_and_the_last_of_these(folder):
    for name in ("06_relu (1).py", "06_relu (2).py"):
        (folder / name).write_text(name)
    found = look(folder)
    assert found.read(RELU)[0] == "06_relu (2).py"
    assert list(found.notes(RELU, "06_relu (2).py", b"")) == [
        "06_relu (2).py was taken for 06_relu.py",
        "06_relu (2).py counts, not 06_relu (1).py",
    ]
    (folder / "06_relu.py").write_text("x")
    assert look(folder).read(RELU) == ("06_relu.py", b"x")


@pytest.mark.parametrize("trial", [True, False], ids=["whole", "without its trial"])
def test_a_starter_does_not_beat_an_answer(folder, trial):
    starter = (RELU.folder / "starter.py").read_text("utf-8")
    (folder / "06_relu.py").write_text(starter if trial else starter.partition(TRIAL)[0])
    assert look(folder).read(RELU)[0] == "06_relu.py"
    (folder / "06_relu.ipynb").write_bytes(of("x = 1"))
    found = look(folder)
    assert found.read(RELU) == ("06_relu.ipynb", b"# %%\nx = 1\n")
    assert list(found.notes(RELU, "06_relu.ipynb", b"")) == ["06_relu.ipynb counts, not 06_relu.py"]


def test_a_notebook_with_the_ending_of_a_module_is_read_as_what_it_is(folder):
    (folder / "06_relu.py").write_bytes(of("%time 1", "x = 1"))
    found = look(folder)
    assert found.read(RELU) == ("06_relu.ipynb", b"# %%\n%time 1\n# %%\nx = 1\n")
    said = "06_relu.py is a notebook, renamed"
    assert list(found.notes(RELU, "06_relu.ipynb", b"")) == [said]


@pytest.mark.parametrize("order", ["utf-16", "utf-16-be"])
def test_a_file_in_utf_16_is_read_and_noted(folder, order):
    mark = "\ufeff" * (order != "utf-16")
    (folder / "06_relu.py").write_bytes(f"{mark}x = 'é'\n".encode(order))
    found = look(folder)
    assert found.read(RELU) == ("06_relu.py", "x = 'é'\n".encode())
    said = "06_relu.py is saved as UTF-16, which Python does not read"
    assert list(found.notes(RELU, "06_relu.py", b"")) == [said]


# --- zip files ---------------------------------------------------------------------------------


def packed(path, files, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("place", ["work.zip", "deep/er/Work.ZIP"])
def test_a_file_in_a_zip_file_is_read_without_unpacking(folder, place):
    packed(folder / place, {"my/06_relu.py": "x = 1", "my/": "", "../../06_relu.py": "evil"})
    assert look(folder).read(RELU) == (f"{place}/my/06_relu.py", b"x = 1")
    assert [path.name for path in folder.parent.rglob("06_relu.py")] == []


def test_a_file_in_the_folder_counts_before_one_in_a_zip_file(folder):
    packed(folder / "a.zip", {"06_relu.py": "x"})
    (folder / "06_relu.py").write_text("y")
    assert look(folder).read(RELU) == ("06_relu.py", b"y")


def test_a_zip_file_that_grows_is_read_up_to_the_limit(folder):
    zeros = b"0" * 30_000_000
    packed(folder / "bomb.zip", {"06_relu.py": zeros}, compression=zipfile.ZIP_DEFLATED)
    assert why_not(folder) == ("06_relu.py has more than 1,000,000 bytes", False)


def test_a_zip_file_of_very_many_files_is_not_opened(folder, monkeypatch):
    packed(folder / "many.zip", {f"{i}": "" for i in range(100)})
    monkeypatch.setattr(archives, "MOST_OF_A_LIST", 4_000)
    says = "but many.zip (it is a zip file of too many files) is"
    assert why_not(folder) == (f"06_relu.py is not there, {says}", False)


def test_a_broken_zip_file_is_named(folder):
    (folder / "work.zip").write_bytes(b"PK\3\4 and no more")
    says = "but work.zip (it is no zip file that can be read) is"
    assert why_not(folder) == (f"06_relu.py is not there, {says}", False)


def test_what_is_strange_in_a_zip_file_is_refused(folder):
    link = zipfile.ZipInfo("06_relu.py")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(folder / "work.zip", "w") as archive:
        archive.writestr(link, str(SOLUTION))
    assert why_not(folder) == ("06_relu.py is not an ordinary file", False)
    packed(folder / "work.zip", {"06_relu.py": "x"}, compression=zipfile.ZIP_LZMA)
    assert why_not(folder) == ("06_relu.py is compressed in an unusual way", False)
    content = bytearray((folder / "work.zip").read_bytes())
    content[content.rindex(b"PK\1\2") + 8] |= 1
    (folder / "work.zip").write_bytes(content)
    assert why_not(folder) == ("06_relu.py is encrypted", False)


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
    assert why_not(folder) == ("06_relu.py is not there, but loop, work are", False)


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
    said, failed = why_not(folder)
    assert said.endswith(" and 16 more are; more than 20 files: not all looked at")
    assert failed


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
        (b"# %%\n%%time\ny = x + 1j", True),
        (b"np.zeros(3, dtype='D')", True),
        (b"j = 1; xj = j", False),
        (b"complexity = 3; plt.plot(x, y, marker='D')", False),
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
