"""What students really hand in: wrong answers, marked as such, and what the checks say of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import course
from grader.report import graded_exercise

FOLDER = Path(__file__).parent / "course_wrong"


@dataclass(frozen=True)
class Wrong:
    """A function that stands in a submission, otherwise right, in the place of the right one."""

    task: str
    function: Callable[..., Any]
    says: str

    def __str__(self) -> str:
        return self.function.__name__


def instead_of(task, *, says):
    """Mark a wrong answer to a task; ``says`` is part of what the learner must be told."""
    return lambda function: Wrong(task, function, says)


def wrong_answers(exercise, folder=FOLDER):
    """Load the wrong answers to an exercise."""
    module = course.load(folder / f"{exercise.name}.py")
    return [thing for thing in vars(module).values() if isinstance(thing, Wrong)]


def judged(exercise, **functions):
    """Put functions in the place of the right ones; return what the checks say."""
    path = FOLDER / f"{exercise.name}.py"
    solution = vars(course.load(exercise.folder / "solution.py"))
    submission = SimpleNamespace(**{**solution, **functions})
    return course.judge_loaded(exercise, submission, path, heldout=False, to_the_end=False)


def earned_by(exercise, wrong):
    """Return the share of the points of an exercise that a wrong answer earns."""
    path = exercise.folder / "solution.py"
    submission = SimpleNamespace(**{**vars(course.load(path)), wrong.task: wrong.function})
    outcome = course.judge_loaded(
        exercise, submission, path, to_the_end=True, checks=_checks_of(exercise)
    )
    return graded_exercise(outcome).earned / exercise.worth


_checks = {}


def _checks_of(exercise):
    """Load the checks of an exercise once, for what they measure once."""
    if exercise.folder not in _checks:
        _checks[exercise.folder] = course.checks_of(exercise, heldout=True)
    return _checks[exercise.folder]
