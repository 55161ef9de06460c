"""Grading: the points deserved and no others, whatever is handed in, and nothing left behind."""

import contextlib
import inspect
import os
import resource
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from graded import ORDINARY, RELU, ROOT, best_wall, finished, said
from hostile_submissions import RIGHT, at_the_top
from wrong_submissions import visible_outcome_of, wrong_answers

import course
import judging
from expect import Formula
from grader import grading, link
from grader.limits import PATIENCE, Limits
from grader.link import Link
from grader.writers import text

PLAIN = at_the_top("")
BRIEF = Limits(call_seconds=0.5, seconds=0.5)
EXERCISES = {exercise.name: exercise for exercise in course.read_course().exercises}


@pytest.fixture(scope="module")
def a_wall():
    with best_wall() as it:
        yield it


@pytest.fixture
def grade(a_wall, tmp_path):
    """Return a function that grades a file, by default for exercise 6, by all checks or by some."""

    def grade(source=PLAIN, exercise=RELU, checks=(), limits=ORDINARY, whole=0):
        if source is not None:
            (tmp_path / f"{exercise.name}.py").write_text(source, encoding="utf-8")
        loaded = grading.load_checks([exercise])
        if checks:
            points = {check.__name__: 6 for check in checks}
            loaded = [grading.Loaded(replace(exercise, points=points, whole=whole), checks)]
        return grading.grade(tmp_path, loaded, a_wall, limits)

    return grade


# --- the points deserved -----------------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [name for name in EXERCISES if name != "10_judge"])
def test_what_is_finished_earns_everything_and_a_mistake_has_the_message_of_the_learner(
    grade, name
):
    exercise = EXERCISES[name]
    if course.missing(exercise):
        pytest.skip(f"needs {exercise.package}")
    report = grade(finished(exercise), exercise)
    assert report.earned == report.points == exercise.worth, said(report)
    assert {check.status for check in report.checks} == {"passed"}
    assert report.exercises[0].notes == ()
    wrong = next(wrong for wrong in wrong_answers(exercise) if wrong.source)
    told = visible_outcome_of(exercise, wrong).first_failing
    report = grade(wrong.source, exercise)
    (found,) = [check for check in report.checks if check.id.endswith(f"/{told.check}")]
    lines = [f"{label}: {text}" for label, text in told.lines if label != "at"]
    assert found.message.splitlines()[: len(lines)] == lines
    assert found.earned < found.points


@pytest.mark.slow
def test_a_checker_earns_everything_unless_it_imports_the_package(grade, monkeypatch):
    # Of some parts one case: what the solution makes of all is in test_course.py.
    corpus = judging.corpus
    monkeypatch.setattr(judging, "corpus", lambda part, heldout: corpus(part, heldout=heldout)[:1])
    judge = EXERCISES["10_judge"]
    names = ("it_is_your_own", "ordinary", "kinks")
    module = course.load(judge.folder / "checks.py")
    checks = tuple(getattr(module, f"check_{name}") for name in names)
    assert grade(finished(judge), judge, checks).earned == 18
    report = grade(f"import gradcheck_ref\n{finished(judge)}", judge, checks)
    assert report.earned == 12
    assert "write your own" in said(report)


@pytest.mark.parametrize("there", [True, False], ids=["a starter", "nothing"])
def test_a_report_has_every_check_in_order_with_its_points(grade, a_wall, there):
    report = grade((RELU.folder / "starter.py").read_text("utf-8") if there else None)
    assert (report.wall, report.earned, report.failed) == (a_wall.name, 0, False)
    names = [*RELU.points, "whole"]
    assert [check.id for check in report.checks] == [f"06_relu/{name}" for name in names]
    assert [check.points for check in report.checks] == [*RELU.points.values(), RELU.whole]
    heldout = [name.startswith("heldout_") for name in RELU.points]
    assert [check.heldout for check in report.checks] == [*heldout, True]  # whole tells of those
    status = [check.status for check in report.checks]
    assert status == (["todo"] * len(heldout) + ["failed"] if there else ["not run"] * len(names))
    if not there:
        assert {check.message for check in report.checks} == {"06_relu.py is not there"}


@pytest.mark.slow
def test_every_check_is_run_and_may_give_part_of_its_points(grade):
    def check_parts(sub):
        """Some of it is right."""
        error = AssertionError("two of three")
        error.share = 2 / 3
        raise error

    def check_crash(sub):
        """The process of the submission ends."""
        sub.leave()

    def check_again(sub):
        """It is there again."""
        assert sub.relu(np.ones(1)).tolist() == [1]

    source = at_the_top("def leave(): import os; os._exit(0)")
    report = grade(source, checks=(check_parts, check_crash, check_again), whole=6)
    assert [check.status for check in report.checks] == ["failed", "failed", "passed", "failed"]
    assert report.earned == pytest.approx(4 + 6)
    assert report.checks[-1].message == "not passed: 06.1, 06.2"
    assert "with exit status 0" in report.checks[1].message


def check_forever(sub):
    """It is asked, and goes on."""
    while True:
        with contextlib.suppress(Exception):
            sum(range(1000))


def check_outer(sub):
    """It is asked, and takes all memory."""
    np.ones((10**5, 10**5))


@pytest.mark.parametrize(
    ("check", "says"),
    [
        (check_outer, "Unable to allocate 74.5 GiB"),
        pytest.param(check_forever, "could not finish", marks=pytest.mark.slow),
    ],
)
def test_checks_that_an_answer_keeps_busy_have_limits_too(grade, check, says):
    before = resource.getrlimit(resource.RLIMIT_AS)
    report = grade(checks=(check,), limits=replace(ORDINARY, seconds=0.5))
    assert (report.earned, report.failed) == (0, False)
    assert says in said(report)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.slow
def test_a_report_is_short_for_every_submission(grade):
    no_limit = "import sys; sys.modules['__main__'].MOST_SAID = 10**9"  # the one over there
    source = RIGHT.format(top=no_limit, called="    raise ValueError('w' * 900_000)")
    report = grade(source)
    assert "raised: ValueError: www" in said(report)
    assert max(len(check.message) for check in report.checks) < 5000
    assert len(text(report)) < 100_000


@pytest.mark.slow
def test_the_report_has_the_output_and_the_imports(grade):
    source = at_the_top("print('here')\nfrom gradcheck_ref import allclose\nimport colorsys, numpy")
    (exercise,) = grade(source).exercises
    assert exercise.earned == RELU.worth
    assert exercise.printed == "here\n"
    assert exercise.notes == ("06_relu.py imports gradcheck_ref, which has most answers",)


def test_a_failure_of_the_grader_itself_is_a_report_too(grade, monkeypatch):
    def broken(*arguments, **keywords):
        raise OSError("no space left")

    monkeypatch.setattr(grading, "judge", broken)
    report = grade()
    assert (report.earned, report.failed) == (0, True)
    assert "it could not be graded: OSError: no space left" in said(report)


@pytest.mark.slow
def test_a_machine_that_is_too_busy_is_no_verdict(grade, monkeypatch):
    monkeypatch.setattr(link, "PATIENCE", 0.001)
    report = grade(at_the_top("while True: pass"))
    assert report.failed
    assert "its process could not be started" in said(report) or "too busy" in said(report)
    assert "could not be graded" in text(report)


@pytest.mark.slow
def test_processor_time_is_limited_by_the_system_too():
    code = "from grader import worker; worker.limit(1, 2**31)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "exercises", timeout=60)
    assert done.returncode < 0


# --- functions and things that stay where they are ---------------------------------------------

SOURCE = b"""
import os, time
def quotient(x, *, h): return x / h
H = (1, 2.5)
def twice(f, x): return f(f(x))
def double(x): return 2 * x
def ask(f, *points): return [f(x) for x in points]
def safe(f):
    try: return f()
    except ValueError as e: return str(e)
class Net:
    size = 3
    def __init__(self): self.count = 0
    def step(self): self.count += 1; return self
def count(net): return net.count
def leave(): os._exit(0)
def change(x, params): x[0] = 7; params['W'] += 1; params['new'] = 2
def wait(seconds): time.sleep(seconds)
"""


@pytest.fixture
def remote(a_wall):
    """Return a function that loads a source in another process."""
    with contextlib.ExitStack() as stack:

        def remote(source=SOURCE, limits=ORDINARY):
            return stack.enter_context(Link("file.py", source, limits, a_wall)).submission()

        yield remote


@pytest.fixture(scope="module")
def sub(a_wall):
    """Return a submission that many may talk to."""
    with Link("file.py", SOURCE, ORDINARY, a_wall) as link:
        yield link.submission()


def test_a_remote_function_keeps_its_parameters_and_its_exceptions(sub):
    assert list(inspect.signature(sub.quotient).parameters) == ["x", "h"]
    assert sub.quotient(3.0, h=2) == 1.5
    assert sub.H == (1, 2.5)
    assert not hasattr(sub, "g")
    with pytest.raises(ZeroDivisionError, match="division by zero") as error:
        sub.quotient(1.0, h=0)
    assert error.value.place == (("at", "line 3: def quotient(x, *, h): return x / h"),)


def test_a_submission_may_call_our_functions_while_we_call_it(sub):
    def fails():
        raise ValueError("outside")

    assert sub.twice(lambda x: x + 1, 0) == 2
    assert sub.twice(sub.double, 1) == 4
    assert sub.twice(lambda x: sub.double(x) + 1, 1) == 7
    assert sub.safe(fails) == "outside"


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_formula_is_asked_for_its_own_values(sub, repeatable):
    for sign in (1.0, -1.0):
        formula = Formula("s * x * x", lambda x, s=sign: s * x * x, repeatable=repeatable)
        assert sub.ask(formula, 2.0, 3.0, 2.0) == [4 * sign, 9 * sign, 4 * sign]


def test_a_remote_object_stays_remote_and_its_methods_can_be_called(sub):
    net = sub.Net()
    net.step()
    assert net.step().count == 2
    assert sub.count(net) == 2
    assert repr(net).startswith("<submission_file.Net object")


def test_a_change_to_an_argument_arrives_here(sub):
    x, W = np.zeros(2), np.zeros(1)
    params = {"W": W}
    sub.change(x, params)
    assert x.tolist() == [7, 0]
    assert W.tolist() == [1]
    assert params == {"W": W, "new": 2}


@pytest.mark.slow
def test_a_remote_object_ends_with_its_process(remote):
    sub = remote()
    net = sub.Net()
    with pytest.raises(course.StoppedError, match="exit status 0"):
        sub.leave()
    with pytest.raises(course.StoppedError, match="ended with its process"):
        _ = net.size
    assert sub.Net().size == 3


# --- time --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_time_is_measured_for_the_whole_exercise(remote):
    sub = remote(limits=Limits(call_seconds=9, seconds=0.9))
    sub.wait(0.6)
    with pytest.raises(course.StoppedError, match="too long"):
        sub.wait(0.6)
    with pytest.raises(course.StoppedError, match=r"the 0\.9 seconds for this exercise are over"):
        sub.wait(0.6)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["os.nice(19)", "os.sched_setscheduler(0, 5, os.sched_param(0))"])
def test_a_submission_that_lets_all_others_go_first_has_no_more_time(remote, code):
    sub = remote(f"import os\ndef f():\n    {code}\n    while True: pass\n".encode(), BRIEF)
    begun = time.monotonic()
    with contextlib.ExitStack() as neighbors:
        for _ in range(2 * (os.cpu_count() or 1)):
            words = [sys.executable, "-I", "-S", "-c", "while True: pass"]
            neighbors.callback(subprocess.Popen(words).kill)
        with pytest.raises(course.StoppedError, match="too long"):
            sub.f()
    assert time.monotonic() - begun < PATIENCE * BRIEF.seconds


@pytest.mark.slow
def test_a_file_that_is_slow_to_load_is_loaded_once(remote):
    source = b"while True: pass\ndef double(x): return 2 * x\n"
    sub = remote(source, Limits(call_seconds=1.0, load_seconds=1.0))
    begun = time.monotonic()
    for _ in range(3):
        assert sub.double(1) == 2
        sub.__forget__()
    assert time.monotonic() - begun < 2  # of which each attempt would take as many


@pytest.mark.slow
def test_after_a_loop_that_does_not_end_the_next_call_has_less_time(remote):
    sub = remote(limits=Limits(call_seconds=0.5, next_seconds=0.05))
    sub.wait(0.2)
    for seconds in (99, 0.2):
        with pytest.raises(course.StoppedError, match="too long"):
            sub.wait(seconds)
