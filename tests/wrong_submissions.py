"""What students really hand in: wrong answers, marked as such, and what the checks say of them."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
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


@functools.cache
def loaded(path):
    """Load a file once: what its checks measure once is measured once."""
    return course.load(path)


def wrong_answers(exercise, folder=FOLDER):
    """Load the wrong answers to an exercise."""
    module = loaded(folder / f"{exercise.name}.py")
    return [thing for thing in vars(module).values() if isinstance(thing, Wrong)]


def judged(exercise, **functions):
    """Put functions in the place of the right ones; return what the checks say."""
    return _judged(exercise, functions)


def _judged(exercise, functions, **how):
    path = FOLDER / f"{exercise.name}.py"
    solution = vars(course.load(exercise.folder / "solution.py"))
    submission = SimpleNamespace(**{**solution, **functions})
    return course.judge_loaded(exercise, submission, path, **how)


_outcomes = {}


def outcome_of(exercise, wrong):
    """Return what all checks say of a wrong answer, the held-out ones too; they are run once.

    `conftest.py` gives the tests that ask to one worker.
    """
    key = exercise.folder, str(wrong)
    if key not in _outcomes:
        checks = course.checks_in(loaded(exercise.folder / "checks.py"), heldout=True)
        _outcomes[key] = _judged(
            exercise, {wrong.task: wrong.function}, to_the_end=True, checks=checks
        )
    return _outcomes[key]


def told_of(exercise, wrong):
    """Return what a learner is told of a wrong answer: up to the first check that it fails."""
    if exercise.kind == "judge":  # its checks take long, and are not asked for anything else
        return judged(exercise, **{wrong.task: wrong.function})
    outcome = outcome_of(exercise, wrong)
    public = [result for result in outcome.results if not result.check.startswith("heldout_")]
    first = next((k for k, result in enumerate(public) if result.status != "passed"), len(public))
    told = [
        result if k <= first else replace(result, status="not run", lines=(), share=0.0)
        for k, result in enumerate(public)
    ]
    return replace(outcome, results=tuple(told))


def earned_by(exercise, wrong):
    """Return the share of the points of an exercise that a wrong answer earns."""
    return graded_exercise(outcome_of(exercise, wrong)).earned / exercise.worth
