"""Check the functions that the cells of a notebook have defined."""

from types import SimpleNamespace
from typing import Any

from catalogue import speak
from course import Outcome, judge, read_course
from screen import show_here


def check(number: str, names: dict[str, Any]) -> Outcome:
    """Run the visible checks of an exercise on the names of the notebook, ``globals()``."""
    course = read_course()
    exercise = course.find(number)
    assert exercise
    speak(course.language)
    outcome = judge(exercise, exercise.work, load=lambda _: SimpleNamespace(**names))
    show_here(outcome, again="change your function, run its cell, and then this one again")
    return outcome
