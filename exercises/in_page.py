"""Check the file that the editor of a page of the site has written to ``work/``."""

import contextlib
import io
import re
from dataclasses import replace
from typing import Any

from course import Outcome, judge, read_course
from screen import say, show_here

# What a message calls a file or a command in a terminal, and what it is in a page.
IN_A_PAGE = {
    r"no work/(\d\d)_\w+\.py": r"nothing is written in exercise \1",
    r"work/(\d\d)_\w+\.py": r"exercise \1",
    r"run\.py reset": "Start again",
}


def check(name: str) -> dict[str, Any]:
    """Run the visible checks of an exercise; only what the learner's file prints is printed.

    Returns ``checks``, how many passed and how many there are, and the ``report``, with colors.
    """
    exercise = read_course().find(name)
    assert exercise
    outcome = judge(exercise, exercise.work)
    with contextlib.redirect_stdout(io.StringIO()) as report:
        show_here(in_words_of_a_page(outcome), again="change the code above, and press Check")
        if outcome.first_failing:
            say("the hints are below, one after the other", "stuck?")
    return {"checks": (outcome.passed, outcome.total), "report": report.getvalue()}


def in_words_of_a_page(outcome: Outcome) -> Outcome:
    """Return results that speak of no file and of no command."""

    def said(text: str) -> str:
        for words, here in IN_A_PAGE.items():
            text = re.sub(words, here, text)
        return text

    results = [
        replace(result, lines=tuple((label, said(text)) for label, text in result.lines))
        for result in outcome.results
    ]
    return replace(outcome, results=tuple(results))
