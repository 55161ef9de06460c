"""Grading: the points deserved and no others, whatever is handed in, and nothing left behind."""

import colorsys
import contextlib
import csv
import importlib.util
import inspect
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

import pytest
from hostile_submissions import HOSTILE, RIGHT, SOLUTION, at_the_top
from wrong_submissions import FOLDER, judged, wrong_answers

import course
import grading
import judging
import run
import writers
from expect import Formula
from gradcheck_ref.zoo import all_cases
from remote import Link
from sandbox import Limits, children

ROOT = Path(__file__).parents[1]
COURSE = course.read_course()
EXERCISES = {exercise.name: exercise for exercise in COURSE.exercises}
RELU = EXERCISES["06_relu"]

# What never ends, ends soon; what is honest has time on the busiest machine.
SOON = Limits(call_seconds=1.0, next_seconds=0.1, seconds=2.0)
ORDINARY = Limits(answer=1_000_000)


@pytest.fixture
def submit(tmp_path):
    """Return a function that hands in files and gives the folder."""

    def submit(student="ada", **files):
        folder = tmp_path / student
        folder.mkdir(exist_ok=True)
        for name, source in files.items():
            (folder / f"{name}.py").write_bytes(
                source.encode("latin-1") if isinstance(source, str) else source
            )
        return folder

    return submit


def said(report):
    """Return all that is said of a submission."""
    return "\n".join(
        text
        for exercise in report.exercises
        for text in (exercise.problem, *(check.message for check in exercise.checks))
    )


@pytest.fixture
def nothing_is_left(tmp_path, monkeypatch):
    """Assert that neither a process nor a file is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = children()
    yield
    assert children() == before
    assert not list(tmp_path.glob("submission-*"))


# --- the points deserved -----------------------------------------------------------------------


@pytest.mark.parametrize("name", EXERCISES)
def test_a_solution_earns_everything_and_a_starter_nothing(submit, name, monkeypatch):
    # Of each part of exercise 10 two cases: what the solution makes of all is in test_course.py.
    corpus = judging.corpus
    monkeypatch.setattr(judging, "corpus", lambda part, heldout: corpus(part, heldout=heldout)[:2])
    exercise = EXERCISES[name]
    for file, part, status in (("solution.py", 1, "passed"), ("starter.py", 0, None)):
        folder = submit(**{name: (exercise.folder / file).read_bytes()})
        report = grading.grade(folder, [exercise])
        assert report.points == sum(exercise.points.values())
        assert report.earned == part * report.points, said(report)
        assert status is None or {check.status for check in report.checks} == {status}
        assert report.exercises[0].notes == ()


def test_a_report_has_every_check_in_order_with_its_points(submit):
    report = grading.grade(submit(), [RELU])
    assert [check.id for check in report.checks] == [f"06_relu/{name}" for name in RELU.points]
    assert [check.points for check in report.checks] == list(RELU.points.values())
    assert [check.number for check in report.checks] == [
        f"06.{i + 1}" for i in range(len(RELU.points))
    ]
    assert [check.heldout for check in report.checks] == [
        name.startswith("heldout_") for name in RELU.points
    ]
    assert {check.message for check in report.checks} == {"06_relu.py is not there"}


def handed_in(exercise, wrongs):
    """Return the source of a submission that is right, and has wrong functions besides."""
    sources = [(exercise.folder / "solution.py").read_text(encoding="utf-8")]
    text = (FOLDER / f"{exercise.name}.py").read_text(encoding="utf-8")
    mark = "from wrong_submissions import instead_of"
    assert mark in text
    shim = "instead_of = lambda task, says: lambda function: function"
    # In names of its own: what helps there has the names of what is right here.
    sources += [f"wrong = {{}}\nexec({text.replace(mark, shim)!r}, wrong)"]
    sources += [f"instead_{wrong} = wrong[{str(wrong)!r}]" for wrong in wrongs]
    return "\n".join(sources).encode()


class Instead:
    """A submission with one function in the place of another."""

    def __init__(self, submission, task, function):
        self._submission, self._task, self._function = submission, task, function
        self.__file__ = submission.__file__

    def __getattr__(self, name):
        return self._function if name == self._task else getattr(self._submission, name)


# One in so many: that the checks refuse each of them is tested in test_course.py.
SAMPLE = 8


@pytest.mark.parametrize("name", EXERCISES)
def test_the_grader_says_of_a_wrong_answer_what_the_learner_was_told(submit, name):
    exercise = EXERCISES[name]
    wrongs = wrong_answers(exercise)[::SAMPLE]
    path = submit(**{name: handed_in(exercise, wrongs)}) / f"{name}.py"
    with Link(path, ORDINARY) as link:  # one process for all of them
        submission = link.submission()
        for wrong in wrongs:
            told = judged(exercise, **{wrong.task: wrong.function}).first_failing
            instead = Instead(submission, wrong.task, getattr(submission, f"instead_{wrong}"))
            outcome = course.judge_loaded(exercise, instead, path, heldout=True, to_the_end=False)
            report = grading.graded_exercise(outcome, printed="", noted=())
            (found,) = [check for check in report.checks if check.id.endswith(f"/{told.check}")]
            lines = [f"{label}: {text}" for label, text in told.lines if label != "at"]
            assert found.message.splitlines()[: len(lines)] == lines, wrong
            assert found.earned < found.points, wrong


def test_every_check_is_run_whatever_came_before(submit):
    statuses = [
        check.status
        for check in grading.grade(
            submit(**{"06_relu": RIGHT.format(top="", called="    1/0")}), [RELU]
        ).checks
    ]
    assert statuses == ["passed", *["failed"] * (len(RELU.points) - 1)]


def test_a_check_may_leave_a_part_of_its_points(submit, monkeypatch):
    def check_parts(sub):
        """Some of it is right."""
        error = AssertionError("two of three")
        error.share = 2 / 3
        raise error

    exercise = replace(RELU, points={"check_parts": 6})
    monkeypatch.setattr(course, "checks_of", lambda exercise, heldout: [check_parts])
    report = grading.grade(submit(**{"06_relu": at_the_top("")}), [exercise])
    assert report.earned == pytest.approx(4)
    assert report.checks[0].status == "failed"


# --- what no submission may do -----------------------------------------------------------------


@pytest.mark.usefixtures("nothing_is_left")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submission_gets_a_report_and_no_undeserved_point(submit, name):
    hostile = HOSTILE[name]
    limits = SOON if hostile.says == "it took too long" else ORDINARY
    report = grading.grade(submit(**{"06_relu": hostile.source}), [RELU], limits=limits)
    assert report.earned == hostile.deserves
    assert hostile.says in said(report)
    for write in writers.writers(RUNNER).values():
        assert write(report).encode()


RUNNER = {
    "CLASSROOM": "spring",
    "ASSIGNMENT": "relu",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/1",
    "COMMIT_URL": "https://example.org/commit",
    "RELEASE_URL": "https://example.org/release",
}


def test_the_hostile_submissions_would_be_right_but_for_what_they_do(submit):
    report = grading.grade(submit(**{"06_relu": at_the_top("")}), [RELU])
    assert report.earned == report.points


@pytest.mark.usefixtures("nothing_is_left")
def test_a_submission_that_calls_f_without_listening_is_stopped(submit):
    source = """
import os
x = b'{"array": ["<f8", [1], "AAAAAAAAAAA="]}'
line = b'{"ask": 0, "arguments": [' + x + b'], "keywords": {"dict": []}}\\n'
def forward_difference(f, x, *, h):
    while True: os.write(4, line)
"""
    report = grading.grade(submit(**{"01_forward": source}), [EXERCISES["01_forward"]], limits=SOON)
    assert report.earned == 0
    assert "stopped: " in said(report)


@pytest.mark.usefixtures("nothing_is_left")
def test_processor_time_is_limited_by_the_system_too():
    code = "import pupil; pupil.limit(1, 2**31)\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "exercises", timeout=60)
    assert done.returncode < 0


def test_a_crash_in_one_check_costs_only_that_check(submit):
    source = at_the_top("").replace(
        "    return np.where", "    if x.ndim == 3: import os; os._exit(0)\n    return np.where"
    )
    report = grading.grade(submit(**{"06_relu": source}), [RELU])
    assert [c.id for c in report.checks if c.status != "passed"] == [
        "06_relu/check_finite_differences_agree"
    ]


def test_checks_that_an_answer_keeps_busy_are_stopped_too(submit, monkeypatch):
    def check_forever(sub):
        """It is asked, and goes on."""
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)

    monkeypatch.setattr(grading, "START_SECONDS", 0.5)
    monkeypatch.setattr(course, "checks_of", lambda exercise, heldout: [check_forever])
    limits = replace(ORDINARY, seconds=0.5)
    report = grading.grade(submit(**{"06_relu": at_the_top("")}), [RELU], limits=limits)
    assert report.earned == 0
    assert "could not cope" in said(report)


def test_one_submission_cannot_read_another(submit):
    submit("eve", **{"06_relu": at_the_top("")})
    peek = "exec(open('{}').read())".format(submit("eve") / "06_relu.py")
    folder = submit("mallory", **{"06_relu": at_the_top(peek)})
    assert grading.grade(folder, [RELU]).earned == 10
    alone, peeking = grading.grade_class(folder.parent, [RELU], jobs=1)
    assert (alone.earned, peeking.earned) == (10, 0)
    assert "may not read this" in said(peeking)


def test_one_submission_cannot_hide_a_file_from_the_others(submit):
    for source in (colorsys.__file__, importlib.util.cache_from_source(colorsys.__file__)):
        (submit("eve") / Path(source).name).symlink_to(source)
    submit("mallory", **{"06_relu": at_the_top("import colorsys")})
    _, report = grading.grade_class(submit("eve").parent, [RELU], jobs=1)
    assert report.earned == 10, said(report)


def test_the_grader_does_not_load_a_submission_into_its_own_process(submit):
    folder = submit(**{"06_relu": at_the_top("import sys; sys.modules['seen_here'] = sys")})
    assert grading.grade(folder, [RELU]).earned == 10
    assert "seen_here" not in sys.modules


def test_no_environment_variable_is_passed_on_that_is_not_needed(submit, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    folder = submit(**{"06_relu": at_the_top("import os; assert 'SECRET_TOKEN' not in os.environ")})
    assert grading.grade(folder, [RELU]).earned == 10


# --- what is handed in -------------------------------------------------------------------------


def test_the_file_nearest_to_the_top_is_graded(submit):
    folder = submit(**{"06_relu": at_the_top("")})
    (folder / "a").mkdir()
    (folder / "a" / "06_relu.py").write_text("")
    assert grading.grade(folder, [RELU]).earned == 10
    (folder / "06_relu.py").rename(folder / "a" / "06_relu.py")
    assert grading.grade(folder, [RELU]).earned == 10


def test_which_of_several_files_is_graded_is_shown_to_the_instructor(submit):
    folder = submit(**{"06_relu": at_the_top("")})
    assert grading.grade(folder, [RELU]).exercises[0].notes == ()
    (folder / "06_relu.py").rename(folder / "mine.py")
    for name, source in (("b", folder / "mine.py"), ("a", RELU.folder / "starter.py")):
        (folder / name).mkdir()
        shutil.copy(source, folder / name / "06_relu.py")
    report = grading.grade(folder, [RELU])
    assert report.earned == 0
    assert report.exercises[0].notes == ("2 files are called 06_relu.py, and this is a/06_relu.py",)


@pytest.mark.parametrize(
    ("name", "but"),
    [
        ("06_relu (1).py", ", but 06_relu (1).py is"),
        ("work/ada_06_relu-2.py", ", but ada_06_relu-2.py is"),
        ("06_relu\n.py", ", but 06_relu\ufffd.py is"),
        ("relu.py", ""),
    ],
)
def test_a_file_with_nearly_the_name_is_named_and_not_graded(submit, name, but):
    path = submit() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(SOLUTION.read_bytes())
    report = grading.grade(submit(), [RELU])
    assert (report.earned, report.exercises[0].problem) == (0, f"06_relu.py is not there{but}")


@pytest.mark.parametrize("kind", ["file", "folder", "pipe", "directory"])
def test_what_is_no_ordinary_file_is_not_opened(submit, kind):
    folder = submit()
    path = folder / "06_relu.py"
    if kind == "file":
        path.symlink_to(SOLUTION)
    elif kind == "folder":
        (folder / "work").symlink_to(SOLUTION.parent)
        path.symlink_to("work/solution.py")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    report = grading.grade(folder, [RELU])
    assert (report.earned, report.exercises[0].problem) == (0, "06_relu.py is no ordinary file")


def test_a_file_too_large_is_refused(submit):
    folder = submit(**{"06_relu": at_the_top("")})
    os.truncate(folder / "06_relu.py", 10**12)  # takes no room
    report = grading.grade(folder, [RELU])
    assert report.earned == 0
    assert "06_relu.py has more than 1,000,000 bytes" in said(report)


@pytest.mark.parametrize("filler", ["\n", "import", "import (", "# "])
def test_a_file_that_is_tedious_to_read_does_not_keep_the_grader_busy(submit, filler):
    folder = submit(**{"06_relu": filler * (900_000 // len(filler))})
    begun = time.process_time()
    grading.notes(folder / "06_relu.py", RELU, folder)
    assert time.process_time() - begun < 1


def test_who_takes_the_answer_from_the_package_is_shown_to_the_instructor(submit):
    name, taken = "01_forward", "from gradcheck_ref import forward_difference\n"
    report = grading.grade(submit(**{name: taken}), [EXERCISES[name]])
    (note,) = report.exercises[0].notes
    assert "imports gradcheck_ref" in note
    assert note in writers.text(report).replace("\n        ", " ")


@pytest.mark.parametrize(
    ("source", "noted"),
    [
        ("from gradcheck_ref import forward_difference", True),
        ("def f():\n    import numpy as np, gradcheck_ref", True),
        ("m = __import__('gradcheck_ref')", True),
        ('if __name__ == "__main__":\n    import gradcheck_ref', False),
        ("# import gradcheck_ref would be too easy", False),
        ("import numpy", False),
    ],
)
def test_what_a_file_does_when_it_is_run_by_itself_is_not_noted(submit, source, noted):
    folder = submit(**{"01_forward": source})
    found = grading.notes(folder / "01_forward.py", EXERCISES["01_forward"], folder)
    assert bool(found) == noted


def test_what_is_printed_is_in_the_report_and_costs_nothing(submit):
    report = grading.grade(submit(**{"06_relu": at_the_top("print('here')")}), [RELU])
    assert report.earned == 10
    assert report.exercises[0].printed == "here\n"


def test_a_failure_of_the_grader_itself_is_a_report_too(submit, monkeypatch):
    def broken(*arguments, **keywords):
        raise OSError("no space left")

    monkeypatch.setattr(grading, "judge", broken)
    report = grading.grade(submit(**{"06_relu": at_the_top("")}), [RELU])
    assert report.earned == 0
    assert "it could not be graded: OSError: no space left" in said(report)


# --- functions and things that stay where they are ---------------------------------------------


@pytest.fixture
def remote(submit):
    """Return a function that loads a source in another process."""
    links = []

    def remote(source, limits=ORDINARY):
        links.append(Link(submit(**{"file": source}) / "file.py", limits))
        return links[-1].submission()

    yield remote
    for link in links:
        link.__exit__()


def test_a_function_has_its_name_its_parameters_and_its_mistakes(remote):
    sub = remote("def f(x, *, h): return x / h\nH = (1, 2.5)\n")
    assert list(inspect.signature(sub.f).parameters) == ["x", "h"]
    assert sub.f(3.0, h=2) == 1.5
    assert sub.H == (1, 2.5)
    assert not hasattr(sub, "g")
    assert callable(sub.f)
    assert not callable(sub.H)
    with pytest.raises(ZeroDivisionError, match="division by zero") as error:
        sub.f(1.0, h=0)
    assert error.value.place == (("at", "line 1: def f(x, *, h): return x / h"),)


def test_what_is_handed_a_function_may_call_it_and_be_called_back_meanwhile(remote):
    sub = remote("def twice(f, x): return f(f(x))\ndef double(x): return 2 * x\n")
    assert sub.twice(lambda x: x + 1, 0) == 2
    assert sub.twice(sub.double, 1) == 4
    assert sub.twice(lambda x: sub.double(x) + 1, 1) == 7


@pytest.mark.parametrize(("repeatable", "calls"), [(True, 2), (False, 3)])
def test_only_what_is_repeatable_is_asked_once_for_the_same(remote, repeatable, calls):
    sub = remote("def ask(f, *points): return [f(x) for x in points]\n")
    square = Formula("x * x", lambda x: x * x, repeatable=repeatable)
    assert sub.ask(square, 2.0, 3.0, 2.0) == [4.0, 9.0, 4.0]
    assert square.calls == calls
    other = Formula("-x", lambda x: -x, repeatable=repeatable)
    assert sub.ask(other, 2.0) == [-2.0]


def test_the_cases_of_exercise_10_are_asked_once_for_each_point(remote):
    sub = remote("def my_check(f, x, analytic): return f(x) == f(x)\n")
    (case,) = (case for case in all_cases() if case.name == "softmax")
    counted = []
    f = case.f
    judging.score(sub.my_check, [replace(case, f=lambda x: counted.append(x) or f(x))])
    by_the_score_itself = 1 + len(case.bugs)  # to claim something, right or wrong
    assert len(counted) == by_the_score_itself + 1


def test_what_our_function_raises_can_be_caught_there(remote):
    sub = remote("def safe(f):\n    try: return f()\n    except ValueError as e: return str(e)\n")

    def fails():
        raise ValueError("outside")

    assert sub.safe(fails) == "outside"


def test_an_object_stays_there_and_its_methods_can_be_called(remote):
    sub = remote(
        "class Net:\n"
        "    def __init__(self): self.count = 0\n"
        "    def step(self): self.count += 1; return self\n"
        "def count(net): return net.count\n"
    )
    net = sub.Net()
    net.step()
    assert net.step().count == 2
    assert sub.count(net) == 2
    assert repr(net).startswith("<_course_")


def test_what_was_kept_ends_with_its_process(remote):
    sub = remote("import os\nclass Net:\n    size = 3\ndef leave(): os._exit(0)\n")
    net = sub.Net()
    with pytest.raises(course.StoppedError, match="exit status 0"):
        sub.leave()
    with pytest.raises(course.StoppedError, match="ended with its process"):
        _ = net.size
    assert sub.Net().size == 3


def test_a_change_of_an_argument_is_a_change_here(remote):
    sub = remote("def f(x, params): x[0] = 7; params['W'] += 1; params['new'] = 2\n")
    np = pytest.importorskip("numpy")
    x, W = np.zeros(2), np.zeros(1)
    params = {"W": W}
    sub.f(x, params)
    assert x.tolist() == [7, 0]
    assert W.tolist() == [1]
    assert params == {"W": W, "new": 2}


def test_time_is_counted_for_the_exercise_as_a_whole(remote):
    sub = remote("import time\ndef f(): time.sleep(1)\n", Limits(call_seconds=9, seconds=1.5))
    sub.f()
    with pytest.raises(course.StoppedError, match="too long"):
        sub.f()
    with pytest.raises(course.StoppedError, match=r"the 1\.5 seconds for this exercise are over"):
        sub.f()


def test_after_a_loop_that_does_not_end_the_next_call_has_less_time(remote):
    limits = Limits(call_seconds=1.0, next_seconds=0.05)
    sub = remote("import time\ndef f(seconds): time.sleep(seconds)\n", limits)
    sub.f(0.2)
    for seconds in (99, 0.2):
        with pytest.raises(course.StoppedError, match="too long"):
            sub.f(seconds)


# --- a class, and the command line -------------------------------------------------------------


def start(*words, **environment):
    return subprocess.run(
        [sys.executable, "exercises/run.py", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "60", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_class_is_graded_in_parallel_into_a_table_of_scores(tmp_path):
    good = (RELU.folder / "solution.py").read_bytes()
    folder = tmp_path / "class"
    for name, source in {"ada": good, "bob": None, "=cy()": b"1/0", "dora": good}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        if source:
            (folder / name / "06_relu.py").write_bytes(source)
    (folder / "a file").write_text("is no submission")
    out, reports = tmp_path / "scores.csv", tmp_path / "reports"
    done = start(
        *("grade", "--class", folder, "--only", "06", "--jobs", "2"),
        *("--csv", out, "--reports", reports),
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "graded 1 of 4, last =cy(): 0 of 10",
        "graded 2 of 4, last ada: 10 of 10",
        "graded 3 of 4, last bob: 0 of 10",
        "graded 4 of 4, last dora: 10 of 10",
    ]
    rows = list(csv.reader(out.read_text(encoding="utf-8").splitlines()))
    assert rows == [
        ["submission", "06_relu", "points", "out of", "look at"],
        ["'=cy()", "0", "0", "10", "06_relu.py cannot be imported"],
        ["ada", "10", "10", "10", ""],
        ["bob", "0", "0", "10", "06_relu.py is not there"],
        ["dora", "10", "10", "10", ""],
    ]
    assert "raised: ZeroDivisionError" in (reports / "=cy().txt").read_text(encoding="utf-8")


def test_ctrl_c_stops_a_class_and_not_only_the_submission_at_hand(submit, tmp_path):
    submit("ada", **{"06_relu": at_the_top("")})
    for name in ("bob", "cy", "dora"):
        submit(name, **{"06_relu": HOSTILE["does not end"].source})
    words = ["grade", "--class", str(tmp_path), "--only", "06", "--jobs", "1"]
    running = subprocess.Popen(
        [sys.executable, "exercises/run.py", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stderr.readline() == "graded 1 of 4, last ada: 10 of 10\n"
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=8)  # of the 18 or more that the others would take
    assert (running.returncode, err) == (2, "")
    assert out.endswith("Stopped.\n")


def test_grade_prints_a_text_and_writes_for_every_platform(submit, tmp_path):
    folder = submit(**{"06_relu": (RELU.folder / "solution.py").read_bytes()})
    platforms = ("gradescope", "prairielearn", "classroom50", "junit", "json")
    files = [f"--{platform}={tmp_path / platform}" for platform in platforms]
    done = start("grade", folder, "--only", "06", *files, **RUNNER)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ada: 10 of 10 points\n\n06 ReLU  ")
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert all((tmp_path / platform).stat().st_size for platform in platforms)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["grade", "nowhere"], "nowhere is no folder"),
        (["grade", ".", "--only", "99"], "there is no exercise '99'"),
        (["grade", ".", "--class", "."], "Name one folder"),
        (["grade", ".", "--csv", "x"], "are for a class"),
        (["grade", "--class", ".", "--junit", "x"], "--junit is for one submission"),
        (["grade", "docs", "--only", "06", "--json", "no/such/file"], "No such file"),
        (["grade", "docs", "--only", "06", "--classroom50", "x"], "Classroom 50's runner sets"),
        (["grade", "--class", "docs/stages"], "docs/stages has no folders in it"),
        (["export"], "Where to?"),
        (["export", "docs"], "docs is not empty"),
        (["export", "x", "--only", "06,no"], "there is no exercise 'no'"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_what_cannot_be_done_is_said_in_a_sentence(words, says, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert run.main(words) == 2
    out, err = capsys.readouterr()
    assert says in " ".join(out.split())
    assert err == ""


def test_where_one_platform_cannot_be_written_for_nothing_is(tmp_path, capsys):
    files = [f"--gradescope={tmp_path / 'one'}", f"--classroom50={tmp_path / 'other'}"]
    assert run.main(["grade", str(ROOT / "docs"), "--only", "06", *files]) == 2
    assert "Classroom 50's runner sets" in " ".join(capsys.readouterr().out.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--jobs", "--seconds"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "many"])
def test_nobody_is_graded_with_no_time_or_by_nobody(option, value, capsys):
    with pytest.raises(SystemExit) as end:
        run.main(["grade", "--class", ".", option, value])
    assert end.value.code == 2
    assert "no whole number from 1 on" in capsys.readouterr().err


def test_a_grader_that_the_system_ends_is_told_in_a_sentence(submit, monkeypatch, capsys):
    def ended(*arguments, **keywords):
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(grading, "grade_class", ended)
    assert run.main(["grade", "--class", str(submit().parent), "--only", "06"]) == 2
    assert "with fewer --jobs" in capsys.readouterr().out


def test_only_what_somebody_handed_in_is_a_submission(tmp_path):
    for name in ("ada", "bob", ".git", "__MACOSX"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ada")
    (tmp_path / "notes.txt").write_text("")
    assert [path.name for path in grading.submissions(tmp_path)] == ["ada", "bob"]


def test_a_list_of_exercises_may_have_spaces(submit, capsys):
    assert run.main(["grade", str(submit()), "--only", "06, 07"]) == 0
    assert "07 Softmax" in capsys.readouterr().out
