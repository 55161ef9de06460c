"""The project: it runs what a learner wrote in exercises 1 to 8, and names what is not right."""

import shutil
import sys
from dataclasses import replace

import pytest

import course
import verify

HOME = course.HERE
PROJECT = course.read_course().find("project")
NEEDED = {name: HOME / name / "solution.py" for name in PROJECT.needs}


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Return a folder work/ with the solutions of exercises 1 to 8, in a course of its own."""
    exercises = tmp_path / "exercises"
    for name in (PROJECT.name, *NEEDED):
        shutil.copytree(HOME / name, exercises / name)
    shutil.copy(HOME / "course.toml", exercises)
    (tmp_path / "work").mkdir()
    for name, path in NEEDED.items():
        shutil.copy(path, tmp_path / "work" / f"{name}.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "work"
    for name in [name for name in sys.modules if name.partition(".")[0] == "work"]:
        del sys.modules[name]


def judged(work, source=None):
    """Return what the checks say of a project, by default of the solution."""
    project = replace(PROJECT, home=work.parent / "exercises")
    source = source or (project.folder / "solution.py").read_text(encoding="utf-8")
    project.work.write_text(source, encoding="utf-8")
    results = course.judge(project, project.work, to_the_end=True).results
    return {result.check: (result.status, dict(result.lines)) for result in results}


def test_the_project_is_done_with_all_solutions(work):
    assert {status for status, _ in judged(work).values()} == {"passed"}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", NEEDED)
def test_a_file_that_is_missing_or_wrong_is_named(work, name):
    file = work / f"{name}.py"
    file.write_bytes((HOME / name / "starter.py").read_bytes())
    status, said = judged(work)["check_what_you_wrote_is_there_and_right"]
    assert (status, said["called"]) == ("failed", f"work/{name}.py")
    file.unlink()
    status, said = judged(work)["check_what_you_wrote_is_there_and_right"]
    assert (status, said["got"]) == ("failed", f"no work/{name}.py")


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("written", "other", "refused"),
    [
        ('mine("06_relu").relu(X @ W1 + b1)', "np.maximum(X @ W1 + b1, 0)", "check_the_loss"),
        ("lam / 2", "lam", "check_the_loss"),
        ('mine("04_allclose").allclose', "np.allclose", "check_wrong_entries"),
        ("reverse=True", "reverse=False", "check_wrong_entries"),
        ("> error +", "> 0 * error +", "check_a_right_gradient"),
        ("p - rate * g", "p + rate * g", "check_training"),
    ],
)
def test_a_project_that_is_wrong_or_skips_a_file_is_refused(work, written, other, refused):
    source = (PROJECT.folder / "solution.py").read_text(encoding="utf-8")
    assert source.count(written) == 1
    said = judged(work, source.replace(written, other))
    assert [check for check, (status, _) in said.items() if status != "passed"] == [refused]


def test_the_starter_of_the_project_is_still_to_do():
    results = course.judge(PROJECT, PROJECT.folder / "starter.py", to_the_end=True).results
    assert {result.status for result in results[1:]} == {"todo"}


@pytest.mark.parametrize("sentence", verify.assertions_of(PROJECT))
def test_the_project_has_the_files_of_an_exercise(sentence):
    assert verify.assertions_of(PROJECT)[sentence](PROJECT) == []


def test_the_project_has_no_points():
    all_of_it = course.read_course()
    assert PROJECT not in (*all_of_it.exercises, *all_of_it.choose(()))
    with pytest.raises(ValueError, match="there is no exercise 'project' with points"):
        all_of_it.choose(["project"])
