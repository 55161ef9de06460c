"""The course proves itself, and its checks refuse what students really hand in."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from beside import ran
from graded import finished, start
from wrong_submissions import judged, rows_of, visible_outcome_of, wrong_answers

import course
import run
import verify
from conftest import FENCE

ROOT = Path(__file__).parents[2]
COURSE = course.read_course()
EXERCISES = {exercise.name: exercise for exercise in COURSE.exercises}
POSSIBLE = [exercise for exercise in COURSE.exercises if not course.missing(exercise)]
LONG = [
    *((number, "Every planted bug is caught.") for number in ("08", "12")),
    ("10", "The solution passes every check."),
]


# --- every exercise --------------------------------------------------------------------------


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        pytest.param(e.name, sentence, marks=[pytest.mark.slow] * ((e.number, sentence) in LONG))
        for e in POSSIBLE
        for sentence in verify.assertions_of(e)
    ],
)
def test_the_course_verifies_itself(name, sentence):
    assert verify.assertions_of(EXERCISES[name])[sentence](EXERCISES[name]) == []


@pytest.mark.slow
def test_a_file_that_is_done_can_be_run(tmp_path):
    (tmp_path / "work").mkdir()
    names = [exercise.name for exercise in (*POSSIBLE, *COURSE.projects)]
    for name in names:  # a project uses the files of the others
        source = finished(COURSE.find(name))
        (tmp_path / "work" / f"{name}.py").write_text(source, encoding="utf-8")
    each = (
        f"import runpy\nfor name in {names}: runpy.run_module(f'work.{{name}}', None, '__main__')"
    )
    done = start([sys.executable, "-c", each], tmp_path, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stderr) == (0, "")


def test_every_folder_is_in_the_manifest_in_order():
    folders = sorted(path.name for path in (ROOT / "exercises").glob("[0-9]*"))
    assert folders == sorted(exercise.name for exercise in COURSE.everything)
    assert [e.name for e in COURSE.exercises] == sorted(e.name for e in COURSE.exercises)
    assert [e.number for e in COURSE.exercises] == [f"{i + 1:02}" for i in range(len(folders) - 1)]


@pytest.mark.parametrize(
    "page", ["README.md", "CHANGELOG.md", "docs/index.md", "docs/exercises/students.md"]
)
def test_the_pages_state_the_right_number_of_exercises(page):
    word = {13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen"}[len(COURSE.choose(()))]
    text = (ROOT / page).read_text(encoding="utf-8").lower()
    assert set(re.findall(r"(\w+(?:en|elve)) exercises\b", text)) == {word}


def test_an_exercise_depends_only_on_earlier_exercises_and_no_optional_one():
    for exercise in COURSE.exercises:
        assert all(need in EXERCISES and need < exercise.name for need in exercise.needs)
        assert not any(EXERCISES[need].optional for need in exercise.needs)


def test_only_optional_exercises_may_need_more_than_numpy():
    assert any(exercise.package for exercise in COURSE.exercises)
    assert all(exercise.optional for exercise in COURSE.exercises if exercise.package)


def test_an_optional_exercise_is_included_if_it_is_named():
    lines, dropout = EXERCISES["14_random_lines"], EXERCISES["15_dropout"]
    assert lines in COURSE.choose(())
    assert dropout not in COURSE.choose(())
    assert COURSE.choose(["14", "dropout"]) == [lines, dropout]
    alone = replace(COURSE, exercises=(dropout,))  # as export --only 15 has it
    assert alone.choose(()) == [dropout]


def test_every_closing_question_has_its_answer_for_the_instructor():
    text = (ROOT / "exercises" / "answers.md").read_text(encoding="utf-8")
    heads = [f"{e.number} {e.title}" for e in COURSE.everything]
    assert re.findall(r"^## (.+)", text, re.MULTILINE) == heads
    assert all(len(answer.split()) > 40 for answer in text.split("\n## ")[1:])


def test_the_readmes_show_no_untested_code():
    readmes = [(e.folder / "README.md").read_text(encoding="utf-8") for e in COURSE.exercises]
    languages = {fence["language"] for text in readmes for fence in FENCE.finditer(text)}
    assert languages <= {"text", "bash"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("exercise", COURSE.everything, ids=lambda exercise: exercise.name)
def test_the_code_of_a_hint_keeps_its_indentation_when_it_is_printed(exercise, capsys):
    text = (exercise.folder / "hints.md").read_text(encoding="utf-8")
    code = re.findall(r"^ {4}.*", text, re.MULTILINE)
    for rung in (1, 2, 3):
        run.main(["hint", exercise.name, str(rung)])
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in code if line not in printed] == []


def test_all_but_the_first_exercise_recall_an_earlier_one_in_one_line():
    first, *others = COURSE.everything
    assert not first.recall
    for exercise in others:
        question, answer = exercise.recall
        number = re.match(r"Exercise (\d\d): ", question)[1]
        assert number < exercise.name[:2] or exercise.kind == "project"
        assert question.endswith("?")
        assert len(question) <= 120
        assert answer.endswith(".")


# --- the bug hunt ------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_the_wrong_layers_fail_for_any_seed_and_none_is_unsure():
    checks = course.load(EXERCISES["09_bug_hunt"].folder / "checks.py")
    reports = [
        (name, checks.ORIGINAL.examine(name, *call))
        for seed in range(5)
        for name, call in checks.calls(seed)
    ]
    shown = {name for name, report in reports if checks.shows(report)}
    assert shown == {"elu", "batch_norm", "embedding"}
    assert {report.verdict for _, report in reports} == {"pass", "fail"}  # clear of kinks


@pytest.mark.slow
def test_the_authors_tests_pass_though_three_layers_are_wrong():
    starter = EXERCISES["09_bug_hunt"].folder / "starter.py"
    done = ran(sys.executable, starter)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["True"] * 8
    assert "NotImplementedError: exercise 9, task 2: evidence" in done.stderr


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("layer", "call"),
    [
        ("batch_norm", ([[1.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [3.0, 4.5]])),  # slopes of 5e-6
        ("batch_norm", ([[1e-9], [0.0], [0.0]], [[1.0], [2.0], [3.5]])),
        ("elu", [[1e6, 1.0], [-1.0, -9.0]]),  # a list, and not a tuple
        ("embedding", (np.ones((2, 1)), [[0.0]], [0, 0])),
    ],
)
def test_a_right_answer_to_small_evidence_is_not_refused(layer, call):
    solution = course.load(EXERCISES["09_bug_hunt"].folder / "solution.py")
    parts = vars(solution) | {"evidence": lambda: solution.evidence() | {layer: call}}
    outcome = judged(EXERCISES["09_bug_hunt"], parts)
    assert outcome.done, outcome.first_failing


# --- an exercise of one's own ------------------------------------------------------------------


def test_the_page_on_new_exercises_leads_to_a_working_one(tmp_path):
    for folder in ("exercises", "docs/exercises", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__py*"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    page = (ROOT / "exercises" / "new_exercise.md").read_text(encoding="utf-8")
    blocks = [f["source"] for f in FENCE.finditer(page) if f["language"] == "bash"]
    *begin, end = blocks
    assert end == "python exercises/run.py verify 99\n"
    ran("bash", "-e", input="\n".join(begin), cwd=tmp_path, check=True)
    exercise = course.read_course(tmp_path / "exercises").find("99")
    for sentence, faults_of in verify.assertions_of(exercise).items():
        assert faults_of(exercise) == [], sentence
    wrong = wrong_answers(exercise, tmp_path / "tests" / "exercises" / "wrong")
    assert len(wrong) >= 5
    for answer in wrong:
        failing = visible_outcome_of(exercise, answer).first_failing
        assert answer.says in " ".join(text for _, text in failing.lines)


# --- the assertions, shown able to fail --------------------------------------------------------


@pytest.fixture
def copied(tmp_path):
    """Return exercise 6 in a copy of the course and of what it is compared with."""
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises")
    shutil.copytree(ROOT / "docs" / "exercises", tmp_path / "docs" / "exercises")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return course.read_course(tmp_path / "exercises").find("06")


def replaced(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# What is broken | what finds it | a file | what stands there | what somebody puts there | the fault
BREAKS = """
no editor in the page | page | ../../docs/exercises/06_relu.md | <!-- exercise: 06_relu --> |
    <!-- exercise: --> | has no line <!-- exercise: 06_relu -->
a page without hints | page | ../../docs/exercises/06_relu.md | 06_relu/hints.md |
    06_relu/README.md | does not include exercises/06_relu/hints.md
a page missing from the navigation | page | ../../mkdocs.yml | exercises/06_relu.md |
    exercises/6.md | not in the navigation
no time | text | README.md | 20 minutes | a while | does not say 20 minutes
two hints | text | hints.md | <summary>3. | <b>3. | has 2 hints, not 3
a check without points | points | checks.py | def check_inputs_are_left_alone |
    def check_them | course.toml gives points for
a starter that imports the solution | secrecy | starter.py | import numpy as np |
    from solution import relu | starter.py mentions the solution
a starter with a slip | starter | starter.py | import numpy | import nunpy | import:
a starter that is solved | starter | starter.py |
    raise NotImplementedError("exercise 6, task 2: relu") |
    return np.maximum(x, 0) | check_forward: passed
a TODO of another exercise | starter | starter.py | exercise 6, task 2 |
    exercise 5, task 2 | names no task
a drifting starter | fence | starter.py | Both are | They are | differ outside
no fence | fence | starter.py | # --- end --- | # the end | has no fence
a solution with a trial | fence | solution.py | import | if __name__ == "__main__": import | a trial
a wrong solution | solution | solution.py | x > 0 | x > 1 | check_one_entry
a solution that fails a held-out check | solution | solution.py | np.where(x > 0, |
    np.where(x > 1e-9, | heldout_large_and_small
a bug that no check sees | bug | checks.py | def check_inputs |
    def no_more_inputs | no check refuses relu/in-place
checks that refuse the zoo's right gradient | bug | checks.py | vjp(upstream, x)} |
    -vjp(upstream, x)} | the right gradient of relu is refused
"""


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("part", "name", "old", "new", "fault"),
    [pytest.param(*row[1:], id=row[0]) for row in rows_of(BREAKS)],
)
def test_a_broken_exercise_is_found(copied, part, name, old, new, fault):
    faults_of = getattr(verify, f"{part}_faults")
    assert faults_of(copied) == []
    replaced(copied.folder / name, old, new)
    assert any(fault in found for found in faults_of(copied))


def test_missing_extra_and_too_long_files_are_found(copied):
    replaced(copied.folder / "README.md", "# 06", "\n" * 60 + "# 06")
    assert any("more than 60 lines" in fault for fault in verify.text_faults(copied))
    (copied.folder / "notes.txt").touch()
    (copied.folder / "hints.md").unlink()
    said = ["hints.md is missing", "notes.txt does not belong there"]
    assert sorted(verify.folder_faults(copied)) == said


def test_a_folder_that_the_manifest_does_not_know_is_found(copied):
    known = course.read_course(copied.home)
    for no_exercise in ("grader", "__pycache__", ".ipynb_checkpoints"):
        (copied.home / no_exercise).mkdir(exist_ok=True)
    assert verify.manifest_faults(known) == []
    for forgotten in ("forgotten", "99_forgotten"):
        (copied.home / forgotten).mkdir()
    faults = verify.manifest_faults(known)
    assert [fault.split(" is not in course.toml")[0] for fault in faults] == [
        "99_forgotten",
        "forgotten",
    ]


def test_a_number_that_only_a_folder_has_is_explained(monkeypatch, tmp_path, capsys):
    (tmp_path / "19_cosine").mkdir()
    monkeypatch.setattr(run, "HERE", tmp_path)
    for number, told in (("19", True), ("20", False)):
        with pytest.raises(SystemExit):
            run.main(["verify", number])
        assert (
            "a folder 19_cosine, but it is not in course.toml" in capsys.readouterr().err
        ) == told


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("format_version = 1", "format_version = 2", "format_version must be 1"),
        ('kind = "check"', 'sort = "check"', "06_relu: .*'sort'"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(copied, old, new, said):
    replaced(copied.home / "course.toml", old, new)
    with pytest.raises(ValueError, match=said):
        course.read_course(copied.home)
