"""Every small edit of a solution loses a point, if it changes a value."""

import contextlib
import io
import re
import signal

import numpy as np
import pytest
from mutations import mutants
from probes import same_values
from wrong_submissions import checks_of, judged

import course

COURSE = course.read_course()
# What exercise 10 gives is a share of the bugs that a checker finds, and frozen in test_judging.py.
NAMES = [e.name for e in COURSE.exercises if e.kind != "judge" and not course.missing(e)]
SAMPLE = 60  # one edit in so many is tried with every test run

# What is as good as the solution, by exercise and function: part of the edit, and the reason.
AS_GOOD = {
    ("07", "cross_entropy"): {"max(axis=1, keepdims=True) + 1e-08": "a shift of a row cancels"},
    ("08", "loss"): {"max(axis=1, keepdims=True) + 1e-08": "a shift of a row cancels"},
    ("14", "signs"): {
        "-> return -(": "+1 is as likely as -1",
        "-> 1 - 2.0": "+1 is as likely as -1",
        "np.float32": "a sign is a sign in any type",
    },
    ("14", "mends"): {
        "<= allowed -> ": "whether the limit itself is within, the task does not say"
    },
    ("18", "residuals"): {"[::-1]": "the lines may be drawn in any order"},
}


def tasks_of(exercise):
    """Return the names of the functions that a student writes or mends."""
    starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
    parts = re.split(r"def (\w+)", starter)
    written = zip(parts[1::2], parts[2::2], strict=True)
    return [n for n, body in written if "NotImplementedError" in body or n.endswith("_backward")]


def namespace(exercise, source):
    names = {"__name__": f"edited_{exercise.name}"}
    exec(compile(source, exercise.folder / "solution.py", "exec"), names)
    return names


@contextlib.contextmanager
def ended_after(seconds):
    """End what loops forever."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def earns_everything(exercise, source):
    """Whether a file passes all checks, and answers some call unlike the solution."""
    path, right = (
        exercise.folder / "solution.py",
        vars(course.load(exercise.folder / "solution.py")),
    )
    checks = checks_of(exercise.name, exercise.home, True)
    try:
        with ended_after(20), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            if not judged(exercise, namespace(exercise, source), path, checks=checks).done:
                return False
            return not same_values(exercise.number, right, namespace(exercise, source))
    except Exception:  # it cannot even be loaded
        return False


def survivors(exercise, edits):
    """Return the edits that change a value, earn everything, and have no reason in the table."""
    found = []
    for what, source in edits:
        reasons = AS_GOOD.get((exercise.number, what.partition(":")[0]), {})
        if not any(part in what for part in reasons) and earns_everything(exercise, source):
            found.append(what)
    return found


def edits_of(exercise):
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    return list(mutants(source, tasks_of(exercise)))


@pytest.mark.parametrize("name", NAMES)
def test_one_edit_in_many_loses_a_point(name):
    exercise = COURSE.find(name)
    edits = edits_of(exercise)
    assert survivors(exercise, edits[len(name) :: SAMPLE]) == []


@pytest.mark.slow  # a minute or two of processor time for all exercises
@pytest.mark.parametrize("name", NAMES)
def test_every_edit_that_changes_a_value_loses_a_point(name):
    exercise = COURSE.find(name)
    edits = edits_of(exercise)
    assert survivors(exercise, edits) == []
    for (number, function), reasons in AS_GOOD.items():
        if number == exercise.number:
            of_it = [what for what, _ in edits if what.startswith(f"{function}:")]
            assert all(any(part in what for what in of_it) for part in reasons)


@pytest.mark.slow
def test_the_solutions_are_edited_some_thousand_times():
    counts = {name: len(edits_of(COURSE.find(name))) for name in NAMES}
    assert min(counts.values()) > 25
    assert sum(counts.values()) > 5000


def test_an_edit_that_no_check_sees_is_found(monkeypatch):
    exercise = COURSE.find("06")
    source = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    hidden = source.replace("np.where(x > 0, ", "np.where(x > 1e-300, ")
    assert hidden != source
    assert not earns_everything(exercise, hidden)
    few = [
        check
        for check in checks_of("06_relu", exercise.home, True)
        if "small" not in check.__name__
    ]
    monkeypatch.setitem(globals(), "checks_of", lambda *_: few)
    assert survivors(exercise, [("relu_backward: a gate", hidden)]) == ["relu_backward: a gate"]
