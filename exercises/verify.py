"""The course proves itself: functions that list what is wrong with an exercise.

``run.py verify`` prints them, and the tests run them.
"""

import ast
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from course import FILES, Exercise, checks_of, judge, judge_loaded, load

FENCE = re.compile(r"( *# --- your code ---\n).*?( *# --- end ---\n)", re.DOTALL)
HINTS = 3
README_LINES = 60
README_HEAD = ("**You will learn**", "**You will not need**", "**Time**")


def folder_faults(exercise: Exercise) -> list[str]:
    """Compare the folder with the five files."""
    there = {path.name for path in exercise.folder.glob("*")} - {"__pycache__"}
    faults = [f"{name} is missing" for name in FILES if name not in there]
    return faults + [f"{name} does not belong there" for name in sorted(there - set(FILES))]


def text_faults(exercise: Exercise) -> list[str]:
    """Test the texts for the learner: a short README with its head, and three hints."""
    text = (exercise.folder / "README.md").read_text(encoding="utf-8")
    faults = [f"README.md does not say {head}" for head in README_HEAD if head not in text]
    if len(text.splitlines()) > README_LINES:
        faults.append(f"README.md has more than {README_LINES} lines")
    if f"{exercise.minutes} minutes" not in text:
        faults.append(f"README.md does not say {exercise.minutes} minutes, as course.toml does")
    hints = exercise.hints()
    if len(hints) != HINTS or not all(heading and body for heading, body in hints):
        faults.append(f"hints.md has {len(hints)} hints, not {HINTS}, or an empty one")
    return faults


def page_faults(exercise: Exercise) -> list[str]:
    """Test the page of the documentation: what it includes, its editor, and its place."""
    page = f"exercises/{exercise.name}.md"
    docs = exercise.home.parent / "docs"
    if not (docs / page).exists():
        return [f"docs/{page} is missing"]
    text = (docs / page).read_text(encoding="utf-8")
    shown = [f"exercises/{exercise.name}/{name}" for name in ("README.md", "hints.md")]
    faults = [f"docs/{page} does not include {name}" for name in shown if name not in text]
    if not exercise.package and f"<!-- exercise: {exercise.name} -->" not in text:
        faults.append(f"docs/{page} has no line <!-- exercise: {exercise.name} -->")
    if page not in (exercise.home.parent / "mkdocs.yml").read_text(encoding="utf-8"):
        faults.append(f"{page} is not in the navigation of mkdocs.yml")
    return faults


def points_faults(exercise: Exercise) -> list[str]:
    """Compare the checks with those that course.toml gives points for."""
    checks = [check.__name__ for check in checks_of(exercise, heldout=True)]
    if checks == list(exercise.points):
        return []
    return [f"checks.py has {checks}, course.toml gives points for {list(exercise.points)}"]


def secrecy_faults(exercise: Exercise) -> list[str]:
    """Look for the solution in files that must not contain it."""
    faults = []
    for name in ("starter.py", "checks.py"):
        tree = ast.parse((exercise.folder / name).read_text(encoding="utf-8"))
        names = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names += [node.module, *(alias.name for alias in node.names)]
        if any("solution" in name for name in names if isinstance(name, str)):
            faults.append(f"{name} mentions the solution")
    return faults


def starter_faults(exercise: Exercise) -> list[str]:
    """Run the checks on the starter: each must fail, and for the right reason."""
    outcome = judge(exercise, exercise.folder / "starter.py", heldout=True, to_the_end=True)
    faults = []
    for result in outcome.results:
        if result.status != "todo":
            faults.append(f"{result.check}: {result.status}, {dict(result.lines)}")
        elif not re.match(rf"exercise {int(exercise.number)}, task \d: \w+", result.lines[0][1]):
            faults.append(f"{result.check}: the TODO {result.lines[0][1]!r} names no task")
    return faults


def fence_faults(exercise: Exercise) -> list[str]:
    """Compare starter and solution outside the fences."""
    starter, solution = (
        FENCE.sub(r"\1\2", (exercise.folder / name).read_text(encoding="utf-8"))
        for name in ("starter.py", "solution.py")
    )
    if not FENCE.search(starter):
        return ["the starter has no fence: # --- your code --- ... # --- end ---"]
    return [] if starter == solution else ["starter and solution differ outside the fences"]


def solution_faults(exercise: Exercise) -> list[str]:
    """Run every check on the solution."""
    outcome = judge(exercise, exercise.folder / "solution.py", heldout=True, to_the_end=True)
    return [
        f"{result.check}: {dict(result.lines)}"
        for result in outcome.results
        if result.status != "passed"
    ]


def bug_faults(exercise: Exercise) -> list[str]:
    """Put every gradient of the exercise's zoo cases into the solution: wrong ones must fail."""
    from gradcheck_ref.zoo import all_cases

    answers = load(exercise.folder / "checks.py").answers_of
    path = exercise.folder / "solution.py"
    cases = {case.name: case for case in all_cases()}
    faults = []

    def accepted(vjp: Callable[..., Any]) -> bool:
        submission = SimpleNamespace(**{**vars(load(path)), **answers(vjp)})
        return judge_loaded(exercise, submission, path, heldout=True, to_the_end=False).done

    for case in (cases[name] for name in exercise.cases):
        if not accepted(case.vjp):  # otherwise refusing a bug would show nothing
            faults.append(f"the right gradient of {case.name} is refused")
        faults += [f"no check refuses {bug.id}" for bug in case.bugs if accepted(bug.vjp)]
    return faults


ASSERTIONS: dict[str, Callable[[Exercise], list[str]]] = {
    "The folder holds exactly its five files.": folder_faults,
    "The README has its head, and there are three hints.": text_faults,
    "The documentation has its page.": page_faults,
    "Every check has its points.": points_faults,
    "Starter and checks know nothing of the solution.": secrecy_faults,
    "The starter can be imported, and fails at its TODO.": starter_faults,
    "Starter and solution are equal outside the fences.": fence_faults,
    "The solution passes every check.": solution_faults,
    "Every planted bug is caught.": bug_faults,
}


# A project runs the learner's other files, which are not here, and has no points.
NOT_OF_PROJECTS = (points_faults, starter_faults, solution_faults)


def assertions_of(exercise: Exercise) -> dict[str, Callable[[Exercise], list[str]]]:
    """Return the assertions about an exercise; only some have bugs in the zoo."""
    left_out = NOT_OF_PROJECTS if exercise.kind == "project" else ()
    if not exercise.cases:
        left_out = (*left_out, bug_faults)
    return {
        sentence: faults_of
        for sentence, faults_of in ASSERTIONS.items()
        if faults_of not in left_out
    }
