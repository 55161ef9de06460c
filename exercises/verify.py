"""The course proves itself: functions that list what is wrong with it.

``run.py verify`` prints them, and the tests run them.
"""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from course import FILES, Course, Exercise, Outcome, checks_of, judge, load

QUESTION = re.compile(r'<div class="predict".*?</div>\n', re.DOTALL)
FENCE = re.compile(r"( *# --- your code ---\n).*?( *# --- end ---\n)", re.DOTALL)
TRIAL = 'if __name__ == "__main__":'
HINTS = 3
README_LINES = 60
README_HEAD = ("**You will learn**", "**You will not need**", "**Time**")
NO_EXERCISES = {"grader", "locale", "__pycache__"}  # folders beside them


def manifest_faults(course: Course) -> list[str]:
    """Every folder is in course.toml."""
    home = course.everything[0].home
    known = {exercise.name for exercise in course.everything} | NO_EXERCISES
    there = (path.name for path in sorted(home.iterdir()) if path.is_dir())
    return [
        f"{name} is not in course.toml, so nobody will see it: write its [[exercise]] there, or "
        "move the folder away"
        for name in there
        if name not in known and not name.startswith(".")
    ]


def folder_faults(exercise: Exercise) -> list[str]:
    """The folder holds exactly its five files."""
    there = {path.name for path in exercise.folder.glob("*")} - {"__pycache__"}
    faults = [f"{name} is missing" for name in FILES if name not in there]
    return faults + [f"{name} does not belong there" for name in sorted(there - set(FILES))]


def text_faults(exercise: Exercise) -> list[str]:
    """The README has its head, and there are three hints."""
    text = _text(exercise, "README.md")
    head = (*README_HEAD, f"{exercise.minutes} minutes")  # as course.toml says
    faults = [f"README.md does not say {words}" for words in head if words not in text]
    if len(QUESTION.sub("", text).splitlines()) > README_LINES:
        faults.append(f"README.md has more than {README_LINES} lines")
    hints = exercise.hints()
    if len(hints) != HINTS or not all(heading and body for heading, body in hints):
        faults.append(f"hints.md has {len(hints)} hints, not {HINTS}, or an empty one")
    return faults


def page_faults(exercise: Exercise) -> list[str]:
    """The documentation has its page."""
    page = f"exercises/{exercise.name}.md"
    root = exercise.home.parent
    if not (root / "docs" / page).exists():
        return [f"docs/{page} is missing"]
    text = (root / "docs" / page).read_text(encoding="utf-8")
    shown = [f"exercises/{exercise.name}/{name}" for name in ("README.md", "hints.md")]
    faults = [f"docs/{page} does not include {name}" for name in shown if name not in text]
    if not exercise.package and f"<!-- exercise: {exercise.name} -->" not in text:
        faults.append(f"docs/{page} has no line <!-- exercise: {exercise.name} -->")
    if page not in (root / "mkdocs.yml").read_text(encoding="utf-8"):
        faults.append(f"{page} is not in the navigation of mkdocs.yml")
    return faults


def points_faults(exercise: Exercise) -> list[str]:
    """Every check has its points."""
    checks = [check.__name__ for check in checks_of(exercise, heldout=True)]
    if checks == list(exercise.points):
        return []
    return [f"checks.py has {checks}, course.toml gives points for {list(exercise.points)}"]


def secrecy_faults(exercise: Exercise) -> list[str]:
    """Starter and checks know nothing of the solution."""
    return [
        f"{name} mentions the solution"
        for name in ("starter.py", "checks.py")
        if "solution" in _text(exercise, name)
    ]


def starter_faults(exercise: Exercise) -> list[str]:
    """The starter can be imported, and fails at its TODO."""
    outcome = _outcome(exercise, "starter.py")
    faults = []
    for result in outcome.results:
        if result.status != "todo":
            faults.append(f"{result.check}: {result.status}, {dict(result.lines)}")
        elif not re.match(rf"exercise {int(exercise.number)}, task \d: \w+", result.lines[0][1]):
            faults.append(f"{result.check}: the TODO {result.lines[0][1]!r} names no task")
    return faults


def fence_faults(exercise: Exercise) -> list[str]:
    """Starter and solution are equal outside the fences, but only the starter has a trial."""
    starter, solution = (_text(exercise, name) for name in ("starter.py", "solution.py"))
    if not FENCE.search(starter):
        return ["the starter has no fence: # --- your code --- ... # --- end ---"]
    if TRIAL in solution:
        return [f"the solution has a trial, {TRIAL}, which only the starter has"]
    functions = starter.partition(TRIAL)[0].rstrip() + "\n"
    equal = FENCE.sub(r"\1\2", functions) == FENCE.sub(r"\1\2", solution)
    return [] if equal else ["starter and solution differ outside the fences"]


def solution_faults(exercise: Exercise) -> list[str]:
    """The solution passes every check."""
    outcome = _outcome(exercise, "solution.py")
    return [f"{r.check}: {dict(r.lines)}" for r in outcome.results if r.status != "passed"]


def bug_faults(exercise: Exercise) -> list[str]:
    """Every planted bug is caught."""
    from gradcheck_ref.zoo import all_cases

    answers = load(exercise.folder / "checks.py").answers_of
    path, checks = exercise.folder / "solution.py", checks_of(exercise, heldout=True)
    faults = []

    def accepted(vjp: Callable[..., Any]) -> bool:
        submission = SimpleNamespace(**{**vars(load(path)), **answers(vjp)})
        return judge(exercise, path, checks=checks, load=lambda _: submission).done

    for case in all_cases():
        if case.name in exercise.cases:
            if not accepted(case.vjp):  # otherwise refusing a bug would show nothing
                faults.append(f"the right gradient of {case.name} is refused")
            faults += [f"no check refuses {bug.id}" for bug in case.bugs if accepted(bug.vjp)]
    return faults


def _outcome(exercise: Exercise, name: str) -> Outcome:
    checks = checks_of(exercise, heldout=True)
    return judge(exercise, exercise.folder / name, checks=checks, to_the_end=True)


def _text(exercise: Exercise, name: str) -> str:
    return (exercise.folder / name).read_text(encoding="utf-8")


# The docstring of each is the sentence that ``run.py verify`` prints.
ASSERTIONS: tuple[Callable[[Exercise], list[str]], ...] = (
    *(folder_faults, text_faults, page_faults, points_faults, secrecy_faults),
    *(starter_faults, fence_faults, solution_faults, bug_faults),
)
# A project runs the learner's other files, which are not here, and has no points.
NOT_OF_PROJECTS = (points_faults, starter_faults, solution_faults)


def assertions_of(exercise: Exercise) -> dict[str, Callable[[Exercise], list[str]]]:
    """Return the assertions about an exercise, by their sentences; only some have zoo bugs."""
    left_out = NOT_OF_PROJECTS if exercise.kind == "project" else ()
    return {
        str(faults_of.__doc__): faults_of
        for faults_of in ASSERTIONS
        if faults_of not in left_out and (exercise.cases or faults_of is not bug_faults)
    }
