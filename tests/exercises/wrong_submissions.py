r"""What students hand in, right and wrong, and what the checks say of it.

``right/NN_word.txt`` and ``wrong/NN_word.txt`` have answers to an exercise, in rows; what is
indented goes on with a row. A row has a name, what stands once in the solution, what stands in its
place, and part of what is said (``-`` if there is nothing), where ``\n`` begins a line of code. Or
it has a name and perhaps what is said, and functions below it, that take the places of those in the
solution. Wrong answers need no name; those that have one are on the page of wrong answers.
"""

import functools
import linecache
import re
import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import course

HERE = Path(__file__).parent
NOTHING = "-"  # in a row: nothing is said
# For the rows of exercise 10: the slopes as a beginner's checker measures them.
CENTRAL = "np.reshape([(f(x + e) - f(x - e)) / 2e-5 for e in 1e-5 * np.eye(x.size)"
CENTRAL += ".reshape(-1, *x.shape)], x.shape)"


@dataclass(frozen=True)
class Answer:
    """A file for an exercise."""

    name: str
    named: bool  # in its row
    task: str  # the function in which it is unlike the solution
    source: str
    says: str

    def __str__(self) -> str:
        return self.name


def right_answers(exercise):
    """Read the right answers to an exercise, if there are any."""
    return list(answers_in(HERE / "right" / f"{exercise.name}.txt", exercise))


def wrong_answers(exercise, folder=HERE / "wrong"):
    """Read the wrong answers to an exercise."""
    return list(answers_in(folder / f"{exercise.name}.txt", exercise))


def answers_in(path, exercise):
    """Yield the answers of a file."""
    table = path.read_text(encoding="utf-8") if path.exists() else ""
    for row in re.findall(r"\S.*(?:\n .*)*", table.replace("CENTRAL", CENTRAL)):
        head, _, code = row.partition("\n")
        if re.match(" {4}(?:def|class|from|import|[A-Z]+ =) ", code) and not head.endswith("|"):
            name, says = [*head.split(" | "), NOTHING][:2]
            below = textwrap.dedent(code)
            task = re.split(r"\W+", below, maxsplit=2)[1]
            yield Answer(name, True, task, f"{solution_of(exercise)}\n{below}", says)
        else:
            ((*name, old, new, says),) = rows_of(row)
            old, new = old.replace(r"\n", "\n"), new.replace(r"\n", "\n")
            before = solution_of(exercise).partition(old)[0]
            *_, task = "", *re.findall(r"^def (\w+)", before, re.MULTILINE)
            source = solution_of(exercise, (old, new))
            yield Answer(*name or [f"{old} -> {new}"], bool(name), task, source, says)


def rows_of(table):
    """Split a table into its rows, and these at each bar; what is indented goes on with a row."""
    return [row.split(" | ") for row in table.strip().replace("\n    ", " ").splitlines()]


def solution_of(exercise, *edits):
    """Return the source of a solution, with other texts in the place of what it has once."""
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    for old, new in edits:
        assert source.count(old) == 1, f"{source.count(old)} times: {old}"
        source = source.replace(old, new)
    return source


@functools.cache
def checks_of(name, home, heldout):
    """Load the checks of an exercise once."""
    return course.checks_of(course.read_course(home).find(name), heldout=heldout)


def judged(exercise, functions, path=None, *, checks=None, **how):
    """Return what the checks, by default those that learners have, say of some functions."""
    submission, path = SimpleNamespace(**functions), path or exercise.work
    checks = checks_of(exercise.name, exercise.home, False) if checks is None else checks
    return course.judge(exercise, path, load=lambda _: submission, checks=checks, **how)


def loaded(exercise, source):
    """Load a file; what goes wrong in it can be shown with its line."""
    path = exercise.folder / "handed_in.py"
    linecache.cache[str(path)] = len(source), None, source.splitlines(keepends=True), str(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python, about code that looks wrong
        return course.load(path, source.encode())


def outcome_of(exercise, source, *, heldout=True):
    """Return what all checks say of a file, or those that learners have, up to the first to fail.

    That is what a learner is told.
    """
    module, checks = loaded(exercise, source), checks_of(exercise.name, exercise.home, heldout)
    return judged(exercise, vars(module), Path(module.__file__), checks=checks, to_the_end=heldout)


def visible_outcome_of(exercise, wrong):
    """Return what a learner is told of a wrong answer."""
    return outcome_of(exercise, wrong.source, heldout=False)
