"""The output for the learner: at most 60 columns, and the same text in a pipe, without color.

Here messages get the language that is spoken, see ``catalogue``.
"""

import itertools
import os
import shutil
import sys
from pathlib import Path

from catalogue import told, word
from columns import columns, padded, wrapped
from course import Course, Exercise, Outcome, checks_of, not_run

LABELS = 10  # columns for "called", "got", "expected", "look at"
CHOSEN: list[str] = []  # what was typed to choose a language, for each command
GREEN, RED, BOLD, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"
STATUS = {
    "passed": ("ok", GREEN),
    "failed": ("NO", RED),
    "todo": ("to do", RED),
    "not run": ("not yet", ""),
}


def width() -> int:
    """Columns to write in."""
    return min(max(shutil.get_terminal_size().columns, 40), 88)


def painted(text: str, colour: str) -> str:
    """Add color if the terminal has it; color alone never carries information."""
    has_color = sys.stdout.isatty() or os.environ.get("FORCE_COLOR")
    wanted = has_color and not os.environ.get("NO_COLOR")
    return f"{colour}{text}{PLAIN}" if wanted and colour else text


def say(text: str = "", label: str = "", *, colour: str = "", indent: int = 0) -> None:
    """Print a paragraph, next to its label if it has one."""
    column = indent + (LABELS if label else 0)
    lines = wrapped(told(text), width() - column) or [""]
    head = " " * indent + painted(padded(word(label), column - indent), colour)
    print((head + lines[0]).rstrip())
    for line in lines[1:]:
        print(" " * column + line)


def command(words: str) -> str:
    """Write a command of the course as the learner can type it here."""
    return " ".join(filter(None, [python(), short(Path(sys.argv[0])), words, *CHOSEN]))


def python() -> str:
    """Write the Python of this run as it was typed: another Python may lack NumPy."""
    typed = sys.orig_argv[0]
    if os.path.isabs(typed):  # by an editor, or by --watch
        typed = short(Path(typed))
        typed = "" if os.path.isabs(typed) or typed.startswith(os.pardir) else typed
    return typed or "python"


def short(path: Path) -> str:
    """Write a path relative to the learner's folder."""
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive, on Windows
        return str(path)


def bar(done: int, total: int) -> str:
    """Draw progress: ``[###---] 3 of 6``."""
    marks = "#" * done + "-" * (total - done)
    return told(f"[{marks}] {done} of {total}")


def title(exercise: Exercise, rest: str = "") -> None:
    """Print the name of an exercise, and something at the end of the line."""
    name, rest = f"{exercise.number} {word(exercise.title)}", told(rest)
    gap = " " * max(width() - columns(name) - columns(rest), 2)
    print((painted(name, BOLD) + gap + rest).rstrip())


def show_results(outcome: Outcome) -> None:
    """Print the results of one exercise; after a failure, only the number of checks to come."""
    title(outcome.exercise, bar(outcome.passed, outcome.total) + " checks")
    print()
    failed = any(result.status == "failed" for result in outcome.results)
    waiting = sum(result.status == "not run" for result in outcome.results)
    for result in outcome.results:
        if not failed or result.status != "not run":
            label, colour = STATUS[result.status]
            say(result.sentence, label, colour=colour)
        if result.status == "failed":
            print()
            for name, text in result.lines:
                say(text, name, indent=2)
            print()
    if failed and waiting:
        say(f"{waiting} more check{'s' * (waiting > 1)}", "not yet")
    print()


def show(course: Course, outcome: Outcome) -> None:
    """Print the results of one exercise, and what to do next."""
    exercise, failing, work = outcome.exercise, outcome.first_failing, short(outcome.exercise.work)
    show_here(outcome, again=f"edit {work}, run again", place=work)
    if failing:
        if failing.status == "todo":
            say(short(exercise.folder / "README.md"), "read")
            if exercise.recall:
                say(exercise.recall[0], "recall")
        else:
            say(command(f"hint {exercise.number}"), "stuck?")
        return
    for check in checks_of(exercise, heldout=True):  # which only a whole copy of the course has
        if check.__name__.startswith("heldout_"):
            say(not_run(check).sentence, "graded")
    if (exercise.folder / "solution.py").exists():  # not in what is handed out to a class
        say(short(exercise.folder / "solution.py"), "compare")
    for project in course.projects:
        if project.needs[-1] == exercise.name:
            say(command(project.number), "optional")
    for one, following in itertools.pairwise(course.exercises):
        if one == exercise:
            print()
            say(command(following.number), "optional" if following.optional else "next")


def show_here(outcome: Outcome, *, again: str, place: str = "") -> None:
    """Print the results, and what to do in the ``place``; ``again`` says how to repeat them."""
    show_results(outcome)
    failing = outcome.first_failing
    if failing is None:
        say("Every check passes. Before you go on:")
        say(outcome.exercise.experiment, "try")
    elif failing.status == "todo":  # "exercise 6, task 1: relu_backward"
        task, _, name = failing.lines[0][1].partition(", task ")[2].partition(": ")
        say(f"task {task}: {name}, in {place}" if place else f"task {task}: {name}", "next")
    else:
        say(again, "next")
