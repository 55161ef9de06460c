"""What students in a hurry write, and the sentence that each slip earns."""

import contextlib
import io
import linecache
import warnings
from types import SimpleNamespace

import pytest
from wrong_submissions import checks_of, judged

import course
from expect import CrashError
from grader.report import graded_exercise

COURSE = course.read_course()
SLIPS = course.ROOT / "tests" / "exercises" / "slips.txt"
# In exercise 10 a slip is in the checker of a beginner, which measures like this.
CENTRAL = "np.reshape([(f(x + e) - f(x - e)) / 2e-5 for e in 1e-5 * np.eye(x.size)"
CENTRAL += ".reshape(-1, *x.shape)], x.shape)"
NOTHING = "-"  # in the table: no sentence names this slip
AT_MOST = 0.05  # of the table


def read_slips():
    """Return exercise, number, what stands once in its solution, what instead, and the sentence."""
    found, name, number = [], "", 0
    for line in SLIPS.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            name, number = line.removeprefix("== "), 0
            continue
        number += 1
        *parts, says = line.split(" | ")
        parts = [text.replace("\\n", "\n").replace("CENTRAL", CENTRAL) for text in parts]
        found.append((name, number, *parts, says))
    return found


TABLE = read_slips()


def submission_of(exercise, number, old, new):
    """Return the path of a solution with a slip, and what it defines."""
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{source.count(old)} times: {old}"
    source = source.replace(old, new)
    path = exercise.folder / f"slip_{number}.py"
    linecache.cache[str(path)] = len(source), None, source.splitlines(keepends=True), str(path)
    names = {"__name__": f"slip_{exercise.name}", "__source__": source}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, path, "exec"), names)
    return path, names


def is_known(exercise, names):
    """Whether the first check that fails knows the mistake, so that others keep their points."""
    for check in checks_of(exercise.name, exercise.home, False):
        try:
            check(SimpleNamespace(**names))
        except AssertionError as error:
            return error.kept == 1
        except (CrashError, NotImplementedError):
            return False
    raise AssertionError("every check passes")


def test_the_table_is_long_and_nearly_every_slip_earns_a_sentence():
    assert len(TABLE) >= 250
    assert {name for name, *_ in TABLE} == {exercise.name[:2] for exercise in COURSE.exercises}
    assert sum(says == NOTHING for *_, says in TABLE) <= AT_MOST * len(TABLE)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("name", "number", "old", "new", "says"),
    [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in TABLE],
)
def test_a_slip_earns_its_sentence_and_keeps_half(name, number, old, new, says):
    exercise = COURSE.find(name)
    if course.missing(exercise):
        pytest.skip(f"needs {exercise.package}")
    path, names = submission_of(exercise, number, old, new)
    with contextlib.redirect_stdout(io.StringIO()):  # some print what they should return
        failing = judged(exercise, names, path).first_failing
        assert failing is not None, "every check passes"
        lines = dict(failing.lines)
        if says == NOTHING:
            return
        assert says in lines.get("look at", lines.get("raised", ""))
        if is_known(exercise, names):
            checks = checks_of(exercise.name, exercise.home, True)
            outcome = judged(exercise, names, path, checks=checks, to_the_end=True)
            assert graded_exercise(outcome).earned >= exercise.worth / 2


@pytest.mark.parametrize(("reference", "wrong"), [("numeric", 0), ("analytic", 1)])
def test_a_tolerance_by_the_claim_fails_its_own_check_alone(reference, wrong):
    exercise, of_numeric = COURSE.find("04"), "rtol * np.abs(numeric)"
    new = of_numeric.replace("numeric", reference)
    path, names = submission_of(exercise, reference, of_numeric, new)
    results = judged(exercise, names, path, to_the_end=True).results
    assert sum(result.status != "passed" for result in results) == wrong
