"""The checks in a page of the site: of the file that its editor has written to ``work/``."""

from course import judge, read_course
from screen import say, show_here


def check() -> tuple[int, int]:
    """Run the visible checks of the one exercise that is here, and print what they say.

    Returns
    -------
    passed, total : int
        How many checks passed, and how many there are.
    """
    (exercise,) = read_course().exercises
    outcome = judge(exercise, exercise.work)
    show_here(outcome, again="change the code above, and press Check")
    if outcome.first_failing:
        say("the hints are below, one after the other", "stuck?")
    return outcome.passed, outcome.total
