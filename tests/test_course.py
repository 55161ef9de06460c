"""The course proves itself, and its checks refuse what students really hand in."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from wrong_submissions import Wrong

import course
import verify

ROOT = Path(__file__).parents[1]
COURSE = course.read_course()
EXERCISES = {exercise.name: exercise for exercise in COURSE.exercises}


# --- every exercise --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sentence"),
    [(e.name, sentence) for e in COURSE.exercises for sentence in verify.assertions_of(e)],
)
def test_the_course_proves_itself(name, sentence):
    assert verify.ASSERTIONS[sentence](EXERCISES[name]) == []


def test_every_folder_is_in_the_manifest_in_order():
    folders = sorted(path.name for path in (ROOT / "exercises").glob("[0-9]*"))
    assert folders == [exercise.name for exercise in COURSE.exercises]
    assert [e.number for e in COURSE.exercises] == [f"{i + 1:02}" for i in range(len(folders))]


def test_an_exercise_needs_only_what_comes_before_it():
    for exercise in COURSE.exercises:
        assert all(need in EXERCISES and need < exercise.name for need in exercise.needs)


# --- wrong submissions -----------------------------------------------------------------------


def wrong_answers(name):
    """Load what is handed in for an exercise."""
    path = ROOT / "tests" / "course_wrong" / f"{name}.py"
    return [thing for thing in vars(course.load(path)).values() if isinstance(thing, Wrong)]


def handed_in(exercise, **functions):
    """Put functions in the place of the right ones."""
    solution = vars(course.load(exercise.folder / "solution.py"))
    return SimpleNamespace(**{**solution, **functions})


def refusal(exercise, submission):
    """Return the first failing check of a submission, held-out ones left aside."""
    path = ROOT / "tests" / "course_wrong" / f"{exercise.name}.py"
    outcome = course.judge_loaded(exercise, submission, path, heldout=False, to_the_end=False)
    return outcome.first_failing


@pytest.mark.parametrize("name", EXERCISES)
def test_at_least_five_wrong_answers_are_handed_in_for_every_exercise(name):
    assert len(wrong_answers(name)) >= 5


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param(name, wrong, id=f"{name}-{wrong}")
        for name in EXERCISES
        for wrong in wrong_answers(name)
    ],
)
def test_a_wrong_answer_is_refused_and_told_where_to_look(name, wrong):
    exercise = EXERCISES[name]
    failing = refusal(exercise, handed_in(exercise, **{wrong.task: wrong.function}))
    assert failing is not None, "every check passes"
    assert failing.status == "failed"
    labels = [label for label, _ in failing.lines]
    assert [label for label in labels if label != "where"] in (
        ["called", "got", "expected", "look at"],
        ["called", "raised", "at"],
    )
    assert wrong.says in " ".join(text for _, text in failing.lines)


def test_a_right_answer_is_not_refused():
    assert all(refusal(e, handed_in(e)) is None for e in COURSE.exercises)


def test_a_function_that_is_missing_is_named():
    exercise = EXERCISES["06_relu"]
    failing = refusal(exercise, handed_in(exercise, relu=None))
    assert dict(failing.lines)["got"] == "no function of that name in your file"
