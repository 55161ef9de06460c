"""The checks in a notebook: of the functions that its cells have defined."""

from types import SimpleNamespace
from typing import Any

from course import Outcome, judge_loaded, read_course
from screen import show_here


def check(number: str, names: dict[str, Any]) -> Outcome:
    """Run the visible checks of an exercise, print what they say, and return it.

    Parameters
    ----------
    number : str
        ``"06"``.
    names : dict
        What the notebook has defined: ``globals()``.
    """
    course = read_course()
    exercise = course.find(number)
    assert exercise is not None
    outcome = judge_loaded(exercise, SimpleNamespace(**names), exercise.work)
    show_here(outcome, again="change your function, run its cell, and then this one again")
    return outcome
