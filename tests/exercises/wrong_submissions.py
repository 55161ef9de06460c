"""What students really hand in, and what the checks say of it."""

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import course
from grader.report import graded_exercise

FOLDER = Path(__file__).parent / "wrong"


@dataclass(frozen=True)
class Wrong:
    """A function that stands in a submission, otherwise right, in the place of the right one."""

    task: str
    function: Callable[..., Any]
    says: str
    source: str = ""  # of a solution that is edited

    def __str__(self) -> str:
        return self.function.__name__


def instead_of(task, *, says):
    """Mark a wrong answer to a task; ``says`` is part of what the learner must be told."""
    return lambda function: Wrong(task, function, says)


@functools.cache
def loaded(path):
    """Load a file once: what its checks measure once is measured once."""
    return course.load(path)


@functools.cache
def checks_of(name, home, heldout):
    """Load the checks of an exercise once."""
    return course.checks_of(course.read_course(home).find(name), heldout=heldout)


def rows_of(table):
    """Split a table into its rows, and these at each bar; what is indented goes on with a row."""
    return [row.split(" | ") for row in table.strip().replace("\n    ", " ").splitlines()]


def edited(exercise, old, new):
    """Return what the solution defines, with something else in the place of what it has once."""
    path = exercise.folder / "solution.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{source.count(old)} times: {old}"
    names = {"__name__": f"edited_{exercise.name}"}
    exec(compile(source.replace(old, new), path, "exec"), names)
    return names


def wrong_answers(exercise, folder=FOLDER):
    """Load the wrong answers to an exercise."""
    module = loaded(folder / f"{exercise.name}.py")
    functions = [thing for thing in vars(module).values() if isinstance(thing, Wrong)]
    return [*functions, *(_edit(exercise, *row) for row in rows_of(getattr(module, "EDITS", "")))]


def _edit(exercise, name, old, new, says, task=""):
    """Return the function of the solution that an edit is in, or that shows it, edited."""
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    task = task or re.findall(r"^def (\w+)", source.partition(old)[0], re.MULTILINE)[-1]
    function = edited(exercise, old, new)[task]
    function.__name__ = name
    return Wrong(task, function, says, source.replace(old, new))


def judged(exercise, functions, path=None, *, checks=None, **how):
    """Return what the checks, by default those that learners have, say of some functions."""
    submission, path = SimpleNamespace(**functions), path or exercise.work
    checks = checks_of(exercise.name, exercise.home, False) if checks is None else checks
    return course.judge(exercise, path, load=lambda _: submission, checks=checks, **how)


def outcome_of(exercise, wrong, *, heldout, to_the_end):
    """Return what the checks say of a wrong answer."""
    checks = checks_of(exercise.name, exercise.home, heldout)
    solution = exercise.folder / "solution.py"
    source = wrong.source or inspect.getsource(wrong.function)
    parts = {**vars(loaded(solution)), wrong.task: wrong.function, "__source__": source}
    path = solution if wrong.source else FOLDER / f"{exercise.name}.py"
    return judged(exercise, parts, path, to_the_end=to_the_end, checks=checks)


def visible_outcome_of(exercise, wrong):
    """Return what a learner is told of a wrong answer: up to the first check that it fails."""
    return outcome_of(exercise, wrong, heldout=False, to_the_end=False)


def earned_by(exercise, wrong):
    """Return the share of the points of an exercise that a wrong answer earns."""
    outcome = outcome_of(exercise, wrong, heldout=True, to_the_end=True)
    return graded_exercise(outcome).earned / exercise.worth
