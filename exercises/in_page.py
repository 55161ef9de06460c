"""Check the file that the editor of a page of the site has written to ``work/``."""

import contextlib
import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from catalogue import ENGLISH, languages, speak
from course import Exercise, Outcome, judge, load, read_course
from expect import RESET
from screen import say, show_here

# What a message calls a file or a command in a terminal, and what it is in a page.
IN_A_PAGE: dict[str, Callable[[re.Match[str]], str]] = {
    r"no work/(\d\d)_\w+\.py": lambda found: f"nothing is written in exercise {found[1]}",
    r"work/(\d\d)_\w+\.py": lambda found: f"exercise {found[1]}",
    RESET: lambda _: "Start again",
}


def check(name: str, language: str = ENGLISH) -> dict[str, Any]:
    """Run the visible checks of an exercise; only what the learner's file prints is printed.

    The language is that of the page; in one without messages they are in English.

    Returns ``checks``, how many passed and how many there are, the ``report``, with colors, and the
    ``picture`` of what the functions return, or None.
    """
    exercise = read_course().find(name)
    assert exercise
    speak(language if language in languages() else ENGLISH)
    outcome, submission = judge_and_keep(exercise)
    with contextlib.redirect_stdout(io.StringIO()) as report:
        show_here(in_words_of_a_page(outcome), again="change the code above, and press Check")
        if outcome.first_failing:
            say("the hints are below, one after the other", "stuck?")
        else:
            say(
                "below, under 'When every check passes'; what the grading also tries is there",
                "answer",
            )
    return {
        "checks": (outcome.passed, outcome.total),
        "report": report.getvalue(),
        "picture": submission and picture(exercise, submission),
    }


def picture(exercise: Exercise, submission: Any) -> Any:
    """Draw what the functions return; without all of NumPy there is only a report."""
    with contextlib.suppress(ModuleNotFoundError):
        from sketches import picture_of

        return picture_of(exercise, submission)
    return None


def judge_and_keep(exercise: Exercise) -> tuple[Outcome, Any]:
    """Run the checks; return also the module that they ran on, None if it cannot be imported."""
    kept = []

    def load_and_keep(path: Path) -> Any:
        kept.append(load(path))
        return kept[0]

    outcome = judge(exercise, exercise.work, load=load_and_keep)
    return outcome, kept[0] if kept else None


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
