"""Check the file that the editor of a page of the site has written to ``work/``."""

from course import judge, read_course
from screen import say, show_here


def check(name: str) -> tuple[int, int]:
    """Run the visible checks of an exercise; return how many passed, and how many there are."""
    exercise = read_course().find(name)
    assert exercise
    outcome = judge(exercise, exercise.work)
    show_here(outcome, again="change the code above, and press Check")
    if outcome.first_failing:
        say("the hints are below, one after the other", "stuck?")
    return outcome.passed, outcome.total
