"""Check the functions that the cells of a notebook have defined."""

from types import SimpleNamespace
from typing import Any

from course import Outcome, judge_loaded, read_course
from screen import show_here


def check(number: str, names: dict[str, Any]) -> Outcome:
    """Run the visible checks of an exercise, print the results, and return them.

    Parameters
    ----------
    number : str
        ``"06"``.
    names : dict
        The names of the notebook: ``globals()``.
    """
    course = read_course()
    exercise = course.find(number)
    assert exercise is not None
    outcome = judge_loaded(exercise, SimpleNamespace(**names), exercise.work)
    show_here(outcome, again="change your function, run its cell, and then this one again")
    return outcome
