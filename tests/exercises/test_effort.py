"""A measured gradient does not pass for a derived one, and a derived one is never accused."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from graded import best_wall
from measured_answers import MEASURED
from right_answers import RIGHT, forms
from wrong_submissions import checks_of, judged

import course
from effort import RealArray, effort
from grader.grading import grade, load_checks
from grader.limits import Limits

COURSE = course.read_course()


def outcome_of(number, text):
    """Return what the checks say of a solution in which some functions are replaced."""
    exercise, names = COURSE.find(number), {"__name__": "handed_in"}
    path = exercise.folder / "solution.py"
    exec(compile(path.read_text(encoding="utf-8") + text, path, "exec"), names)
    checks = checks_of(exercise.name, exercise.home, True)
    return judged(exercise, names, path, checks=checks, to_the_end=True)


def cases(table):
    return [
        pytest.param(number, text, id=f"{number} {name}") for number, name, text in forms(table)
    ]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("number", "text"), cases(RIGHT))
def test_a_right_answer_in_any_form_earns_everything(number, text):
    outcome = outcome_of(number, text)
    assert outcome.done, outcome.first_failing


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("number", "text"), cases(MEASURED))
def test_a_measured_answer_is_told_so(number, text):
    failing = outcome_of(number, text).first_failing
    assert failing is not None, "every check passes"
    assert "is it measured?" in dict(failing.lines)["look at"]


SLOW_LOOPS = [case for case in cases(RIGHT) if "window by window" in case.id]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "text"),
    [*cases(MEASURED)[:4], *cases(RIGHT)[20:26], *cases(RIGHT)[36:40], *SLOW_LOOPS],
)
def test_behind_a_wall_it_is_the_same(number, text, tmp_path):
    exercise = COURSE.find(number)
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8") + text
    (tmp_path / f"{exercise.name}.py").write_text(source, encoding="utf-8")
    with best_wall() as wall:
        (graded,) = grade(tmp_path, load_checks([exercise]), wall, Limits()).exercises
    said = "\n".join(check.message for check in graded.checks)
    assert (graded.earned == graded.points) == (text in {form[2] for form in forms(RIGHT)}), said
    assert ("is it measured?" in said) == (text in {form[2] for form in forms(MEASURED)}), said


def test_there_are_many_right_forms():
    assert len(cases(RIGHT)) >= 60


# --- what is counted ----------------------------------------------------------------------------


def busy():
    end = time.thread_time() + 2e-4
    while time.thread_time() < end:
        pass


def in_a_thread():
    thread = threading.Thread(target=busy)
    thread.start()
    thread.join()


@pytest.mark.parametrize("work", [busy, in_a_thread])
def test_the_time_of_all_threads_is_measured(work):
    assert effort(work, [])[2] >= 1.5e-4


@pytest.mark.parametrize(
    ("code", "least", "most"), [("0", 0, 1e-4), ("sum(range(50_000))", 1e-4, 1)]
)
def test_a_limit_on_the_time_does_not_make_the_clock_coarse(code, least, most):
    limited = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (100, 100)); "
    asked = f"from effort import effort; print(effort(lambda: {code}, [])[2])"
    told = subprocess.run(
        [sys.executable, "-c", limited + asked],
        cwd=course.HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert least <= float(told.stdout) <= most


def forward(x):
    return np.sum(x)


@pytest.mark.parametrize("times", [0, 1, 7])
def test_calls_of_the_forward_pass_are_counted(times):
    def backward(x):
        return [forward(x) for _ in range(times)]

    assert effort(backward, [np.ones(3)], "forward")[0] == times


@pytest.mark.parametrize(
    ("noted", "backward"),
    [
        (True, lambda x: (x + 1e-30j).imag),
        (True, lambda x: x.astype("D") * 2),
        (True, lambda x: np.add(x, 1, out=np.zeros(3, complex))),
        (True, lambda x: np.exp(2 * x[1:]) * (-1) ** 0.5),
        (False, lambda x: np.fft.irfft(np.fft.rfft(x) * 2j, 3)),
        (False, lambda x: np.add.reduce(x) + np.asarray(x, dtype=float)),
        (False, lambda x: x if type(x) is np.ndarray else 1 / 0),
    ],
    ids=["step", "dtype", "output", "power", "fft", "real", "cannot take it"],
)
def test_complex_numbers_are_noted(noted, backward):
    RealArray.met_complex = not noted
    assert effort(backward, [np.ones(3)])[1] == noted
