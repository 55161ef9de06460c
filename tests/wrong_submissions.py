"""What students really hand in: wrong answers, marked as such, and what the checks say of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import course

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


def wrong_answers(exercise):
    """Load the wrong answers to an exercise."""
    module = course.load(FOLDER / f"{exercise.name}.py")
    return [thing for thing in vars(module).values() if isinstance(thing, Wrong)]


def judged(exercise, **functions):
    """Put functions in the place of the right ones; return what the checks say."""
    path = FOLDER / f"{exercise.name}.py"
    solution = vars(course.load(exercise.folder / "solution.py"))
    submission = SimpleNamespace(**{**solution, **functions})
    return course.judge_loaded(exercise, submission, path, heldout=False, to_the_end=False)
