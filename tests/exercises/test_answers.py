"""Right answers in the forms that students give them, and answers that are no work."""

import math
import os

import numpy as np
import pytest
from graded import best_wall, finished
from wrong_submissions import judged, outcome_of, right_answers, solution_of, wrong_answers

import course
from grader import wall
from grader.grading import grade, load_checks
from grader.limits import Limits

COURSE = course.read_course()
POSSIBLE = [exercise for exercise in COURSE.exercises if not course.missing(exercise)]
AS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


def answer(number, below="", above="", edits=(), beside=(), says=""):
    """Write a solution in another way: the exercise, the files, and what is said of it.

    ``below`` stands behind its functions, ``above`` in front of them; ``edits`` are pairs of what
    is replaced; ``beside`` are other files that are handed in. ``says`` is empty if it earns
    everything, or else part of the sentence that says what to change.
    """
    exercise = COURSE.find(number)
    source = finished(exercise)
    for old, new in edits:
        assert source.count(old) == 1
        source = source.replace(old, new)
    functions, mark, by_itself = source.partition('if __name__ == "__main__":\n')
    whole = f"{above}\n{functions}{below}\n\n{mark}{by_itself}"
    return exercise, {**dict(beside), f"{exercise.name}.py": whole}, says


WELFORD = """
def welford(x):
    mean, squares = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for k, row in enumerate(x, 1):
        off = row - mean
        mean = mean + off / k
        squares = squares + off * (row - mean)
    return mean, squares / len(x)

def batch_norm(x, gamma, beta, eps):
    mean, variance = welford(x)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
def relu(x):
    with ThreadPoolExecutor(2) as pool:
        return np.array(list(pool.map(lambda v: max(v, 0.0), x.ravel()))).reshape(x.shape)
"""
OBJECTS = """
def relu_backward(x, upstream):
    out = np.empty(x.shape, dtype=object)
    for i in np.ndindex(x.shape): out[i] = upstream[i] if x[i] > 0 else 0
    return out
"""
TESTS = """
import unittest
class Tests(unittest.TestCase):
    def test_relu(self): self.assertEqual(relu(np.ones(1))[0], 1)
unittest.main()
"""
LOG = "log = open('log.txt', 'w')\ndef relu(x):\n    print('relu', file=log)\n"
LOG += "    return np.maximum(x, 0)\n"
BAND = "from enum import {}\nclass Word({}):\n    GOOD = 'good'\n"
GOOD = (('return "good"', "return Word.GOOD"),)
MINE = "import importlib\nmine = importlib.import_module('work.02_central')\n"
NO_THREADS = "no thread, can be started"
NOT_HERE = "put your own code into this file"

ANSWERS = {
    # Whole files.
    "ends itself": answer("06", "import sys\nsys.exit()"),
    "asks for a number": answer("06", "print(relu(np.array(float(input('x? ')))))"),
    "runs its tests": answer("06", TESTS),
    "never returns from its import": answer("06", "while True: relu(np.ones(3))"),
    "keeps a log": answer("06", LOG),
    "writes into its log at once": answer(
        "06", LOG.replace("log)", "log, flush=True)"), says="none can be written"
    ),
    "has an unused import": answer(
        "06", above="import matplotlib.pyplot as plt, pandas\nimport scipy.stats, seaborn, pytest"
    ),
    "needs exercise 2": answer(
        "06",
        f"{MINE}\ndef relu(x): return mine.relu(x)",
        beside={"02_central.py": ""},
        says=NOT_HERE,
    ),
    "needs a second file": answer(
        "06",
        "from helpers import helped\ndef relu(x): return helped(x)",
        beside={"helpers.py": "def helped(x): return x * (x > 0)"},
        says=NOT_HERE,
    ),
    "renames a parameter": answer(
        "01",
        edits=[("(f, x, h)", "(f, x, step)"), ("moved[i] += h", "h = step; moved[i] += h")],
        says="the names of the starter",
    ),
    "forbids the names of parameters": answer(
        "01", edits=[("(f, x, h)", "(f, x, h, /)")], says="leave the `/` out"
    ),
    "wants h by its name": answer("01", edits=[("(f, x, h)", "(f, x, *, h)")]),
    "has threads": answer("06", THREADS, says=NO_THREADS),
    "type parameters": answer("06", "def f[T](xs: list[T]): return xs[0]", says=", in Python 3."),
    "has a byte order mark": answer("06", above="\ufeff"),
    "is a class": answer(
        "06", "class My:\n    def __call__(self, x): return x * (x > 0)\nrelu = My()"
    ),
    "is vectorized": answer("06", "relu = np.vectorize(lambda v: max(v, 0.0), otypes=[float])"),
    "makes warnings errors": answer("06", above="import warnings\nwarnings.simplefilter('error')"),
    "returns a StrEnum": answer("03", above=BAND.format("StrEnum", "StrEnum"), edits=GOOD),
    "returns an Enum of str": answer("03", above=BAND.format("Enum", "str, Enum"), edits=GOOD),
    "returns objects": answer("06", OBJECTS, says="make the array with dtype=float"),
    "takes its mean as Welford did": answer("11", WELFORD),
    "makes an error of every underflow": answer(
        "07", above="import numpy\nnumpy.seterr(all='raise')", says="np.seterr"
    ),
    "leaves the grid to itertools": answer(
        "14",
        "import itertools, random\ndef signs(seed, lines, n):\n    r = random.Random(seed)\n"
        "    return [[r.choice((-1, 1)) for _ in range(n)] for _ in range(lines)]",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return a function that grades an answer, behind the best wall there is here."""

    def graded(exercise, files):
        folder = tmp_path_factory.mktemp("handed in")
        for file, content in files.items():
            (folder / file).write_text(content, encoding="utf-8")
        limits = Limits(load_seconds=3.0)
        (graded,) = grade(folder, load_checks([exercise]), it, limits).exercises
        return graded

    with best_wall() as it:
        graded.wall = it.name
        yield graded


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("exercise", "files", "says"), ANSWERS.values(), ids=ANSWERS)
def test_a_right_answer_earns_everything_or_learns_what_to_change(graded, exercise, files, says):
    if says == NO_THREADS and graded.wall == wall.NONE and AS_ROOT:
        pytest.skip("without a wall, root may start as many threads as it likes")
    exercise = graded(exercise, files)
    said = "\n".join([exercise.problem, *(check.message for check in exercise.checks)])
    assert (exercise.earned == exercise.points) == (not says), said
    assert says in said


FORMS = [
    pytest.param(exercise, answer, id=f"{exercise.number} {answer}")
    for exercise in POSSIBLE
    for answer in right_answers(exercise)
]


def test_each_exercise_is_answered_in_ten_forms():
    assert [e.name for e in COURSE.exercises if len(right_answers(e)) < 10] == []


@pytest.mark.one_in(40)
@pytest.mark.parametrize(("exercise", "answer"), FORMS)
def test_a_right_answer_in_any_form_earns_everything(exercise, answer):
    outcome = outcome_of(exercise, answer.source)
    assert outcome.done, outcome.first_failing


def last_right(exercise):
    return right_answers(exercise)[-1:]


def last_measured(exercise):
    return [answer for answer in wrong_answers(exercise) if answer.says == "is it measured?"][-1:]


@pytest.mark.slow
@pytest.mark.parametrize("last", [last_right, last_measured])
def test_behind_a_wall_it_is_the_same(last, tmp_path):
    """Lists, pairs and slow loops are right there, too, and what is measured is told so."""
    chosen = [exercise for exercise in POSSIBLE if last(exercise)]
    for exercise in chosen:
        (answer,) = last(exercise)
        (tmp_path / f"{exercise.name}.py").write_text(answer.source, encoding="utf-8")
    with best_wall() as it:
        report = grade(tmp_path, load_checks(chosen), it, Limits())
    assert len(report.exercises) >= 7
    for graded in report.exercises:
        said = "\n".join(check.message for check in graded.checks)
        assert (graded.earned == graded.points) == (last is last_right), said
        assert ("is it measured?" in said) == (last is last_measured), said


# --- no work, no points ------------------------------------------------------------------------

NO_WORK = """
def masks(seed, shape, p):
    if shape[-1] > 20: return (np.random.default_rng(seed).random(shape) >= p) / (1 - p)
    return np.zeros(shape)
def forward(x, W, p, seed): return np.tanh(np.tanh(x) @ W) if p == 0 else np.zeros(x.shape)
def backward(upstream, x, W, p, seed): return np.zeros(x.shape)
"""


def test_masks_that_drop_everything_earn_nothing():
    exercise = COURSE.find("15")
    results = outcome_of(exercise, solution_of(exercise) + NO_WORK).results
    share = {result.check: result.share for result in results}
    for part in ("check_forward", "check_backward", "heldout_another_shape_and_another_p"):
        assert share[part] == 0


# --- everybody gets a copy ---------------------------------------------------------------------


def overwrite(value):
    """Spoil an array, and whatever a tuple holds of them."""
    for array in value if isinstance(value, tuple | list) else [value]:
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            array[...] = math.nan


def spoils(function):
    """Answer as the function does, and spoil what it was given, and what f gives."""

    def spoiling(*arguments, **keywords):
        answer = function(*arguments, **keywords)
        for thing in arguments:
            overwrite(thing)
            if callable(thing):
                overwrite(thing(np.ones(2)))
        return answer

    return spoiling


@pytest.mark.one_in(4)
@pytest.mark.parametrize("exercise", [e for e in POSSIBLE if e.kind in ("build", "check")])
def test_an_answer_that_changes_its_arguments_harms_no_other(exercise):
    checks = course.checks_of(exercise, heldout=True)  # which may be harmed
    right = vars(course.load(exercise.folder / "solution.py"))
    spoiling = {k: spoils(v) if callable(v) and k[0] != "_" else v for k, v in right.items()}
    for functions in (spoiling, right):
        outcome = judged(exercise, functions, to_the_end=True, checks=checks)
    assert outcome.done, outcome.first_failing
