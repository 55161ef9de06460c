"""A class: whatever one of them hands in, the others are graded; stopped, it goes on from there."""

import contextlib
import csv
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from beside import status_of
from graded import ORDINARY, RELU, ROOT, RUNNER, best_wall, hand_in, said
from hostile_submissions import HOSTILE, at_the_top

import run
from catalogue import speak
from columns import columns
from grader import alike, classes, tables, traces, wall, writers
from grader.collected import submission_of, submissions
from grader.limits import Limits
from grader.report import GradedExercise, Report

RIGHT = at_the_top("")
# Only what is held out can see what is wrong; and behind the functions it fails.
NEARLY = RIGHT.replace("x > 0", "x > 1e-6") + "\n1 / 0\n"
# What never ends, ends soon.
LIMITS = Limits(call_seconds=1.0, next_seconds=0.1, load_seconds=1.0, seconds=2.0, answer=1_000_000)


def all_of(folder):
    return submissions(folder, [RELU])[0]


@pytest.fixture(scope="module")
def open_to_all():
    """Return the words that are needed where there is no wall."""
    try:
        with wall.put_up():
            return []
    except wall.NoWallError:
        return ["--no-wall"]


def with_two_checks(home):
    """Return exercise 6 with its first two checks: each that ends a process costs another."""
    (home / RELU.name).mkdir(parents=True)
    text = (RELU.folder / "checks.py").read_text(encoding="utf-8")
    kept, gone = [*RELU.points][:2], [*RELU.points][2:]
    (home / RELU.name / "checks.py").write_text(f"{text}\ndel {', '.join(gone)}\n")
    shutil.copy(RELU.folder / "starter.py", home / RELU.name)
    return replace(RELU, home=home, points={name: RELU.points[name] for name in kept}, whole=0)


@pytest.mark.slow
@mock.patch.dict(os.environ, RUNNER)
def test_grading_a_class_survives_hostile_submissions_and_stays_fair(tmp_path):
    sources = {name: hostile.source for name, hostile in HOSTILE.items()}
    sources |= {"aa honest": RIGHT, "zz honest": RIGHT}
    folder = hand_in(tmp_path / "class", **sources)
    exercise = with_two_checks(tmp_path / "exercises")
    resource_tracker.ensure_running()  # it stays
    before = traces.children()
    with best_wall([folder]) as it:
        task = classes.Task((exercise,), it, LIMITS, 60, jobs=2)
        graded = classes.grade_class(all_of(folder), task)
        reports = {one.name: report for one, report in graded}
    assert traces.children() == before
    assert reports["aa honest"].earned == reports["zz honest"].earned == 4
    for name, hostile in HOSTILE.items():
        assert reports[name].earned == hostile.deserves, (name, said(reports[name]))
        assert hostile.says in said(reports[name]), name
        assert not reports[name].failed
        for write in writers.WRITERS.values():
            assert write(reports[name]).encode()


CHECK = '''
import contextlib, os
from grader.clock import offspring
def check_it(sub):
    """It is graded."""
    if sub.what == "die": os._exit(3)
    if sub.what == "die once" and not os.path.exists("{once}"):
        open("{once}", "x").close()
        os._exit(3)
    if sub.what == "be killed once" and not os.path.exists("{once}2"):
        open("{once}2", "x").close()
        for process in offspring(os.getpid()):
            with contextlib.suppress(ProcessLookupError):  # it has ended with another
                os.kill(process, 9)
        sub.what
'''


@pytest.mark.slow
def test_a_grading_process_that_dies_costs_its_submission_only(tmp_path, monkeypatch):
    monkeypatch.setattr(classes, "QUIET_SECONDS", 1)
    home = tmp_path / "course" / "06_relu"
    home.mkdir(parents=True)
    (home / "checks.py").write_text(CHECK.replace("{once}", str(tmp_path / "once")))
    (home / "starter.py").write_text("")
    exercise = replace(RELU, home=home.parent, points={"check_it": 1}, whole=0)
    students = {"ada": "live", "bob": "die", "dora": "live", "eve": "die once"}
    students |= {"fay": "be killed once"}
    sources = {name: f"what = {what!r}" for name, what in students.items()}
    folder = hand_in(tmp_path / "class", **sources)
    resource_tracker.ensure_running()  # it stays
    before = traces.children()
    with best_wall([folder]) as it:
        task = classes.Task((exercise,), it, ORDINARY, 60, jobs=1)
        found = [(one.name, report) for one, report in classes.grade_class(all_of(folder), task)]
    found[2:] = sorted(found[2:], key=lambda pair: pair[0])  # these once more, in any order
    assert [name for name, _ in found] == ["ada", "dora", "bob", "eve", "fay"]
    assert [report.earned for _, report in found] == [1, 1, 0, 1, 1], [said(r) for _, r in found]
    assert [report.failed for _, report in found] == [False, False, True, False, False]
    assert said(found[2][1]).startswith("the process that graded it ended")
    assert traces.children() == before


@pytest.mark.slow
def test_grading_that_hangs_costs_its_submission_only_and_the_exit_status_says_so(
    tmp_path, open_to_all, monkeypatch, capsys
):
    monkeypatch.setattr(classes, "QUIET_SECONDS", 1)
    hangs = HOSTILE["sleeps, whatever is raised"].source
    folder = hand_in(tmp_path / "class", bob=hangs, cy=RIGHT)
    words = ["grade", "--class", str(folder), "--only", "06", "--submission-seconds", "2"]
    assert run.main([*words, *open_to_all]) == 1
    out, err = capsys.readouterr()
    _, bob, cy = csv.reader(out.splitlines())
    assert bob[-1].startswith("grading it took longer than 2 seconds in all")
    assert (bob[1], cy[1]) == ("not graded", "13")
    assert "could not be graded: bob" in err


# --- one class, and what is written of it ------------------------------------------------------


def table(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lovelace, Ada",17,u1,ada01,A
"Ray, Bob",18,u2,bray,A
"Hopper, Eve",19,u3,eve03,A
"""


FILES = ("csv", "json", "canvas", "moodle", "manifest", "reports", "student-reports")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, open_to_all):
    """Return a folder with all that is written of a class, and what is said of it."""
    home = tmp_path_factory.mktemp("whole")
    names = {"dan_17": re.sub(r"\bx\b", "values", NEARLY), "=cy()": None, "bray_18": None}
    folder = hand_in(home / "class", **names)
    for name, source in {
        "lovelaceada_17_901_06_relu.py": "1/0",
        "lovelaceada_LATE_17_902_06_relu-1.py": RIGHT,  # what came later counts
        "raybob_18_903_06_relu-2.py": NEARLY,
        "notes.txt": "",
    }.items():
        (folder / name).write_text(source)
    (home / "roster.csv").write_text(ROSTER)
    words = ["grade", "--class", folder, "--only", "06", "--jobs", "1", "--id", r"\d+", "--checks"]
    words += ["--roster", home / "roster.csv", *(f"--{name}={home / name}" for name in FILES)]
    words += open_to_all
    with contextlib.redirect_stderr(io.StringIO()) as err:
        assert run.main([*map(str, words)]) == 0
    return home, err.getvalue().splitlines(), words


@pytest.mark.slow
def test_while_a_class_is_graded_it_says_who_is_whose_and_how_far_it_is(whole):
    _, told, _ = whole
    assert [line for line in told if not line.startswith("no wall: ")] == [
        "no student's name, not graded: notes.txt",
        "one id, 2 submissions: 18: bray_18, raybob_18",
        "one id, 2 submissions: 17: dan_17, lovelaceada_17",
        *("not one student of the roster: =cy()", "not one student of the roster: dan_17"),
        "2 submissions of one student: Ray, Bob: bray_18, raybob_18",
        "no submission: Hopper, Eve",
        "graded 1 of 5, last =cy(): 0 of 13",
        "graded 2 of 5, last bray_18: 0 of 13",
        "graded 3 of 5, last dan_17: 9 of 13",
        "graded 4 of 5, last lovelaceada_17: 13 of 13",
        "graded 5 of 5, last raybob_18: 9 of 13",
        *(
            f"not in {book}: {who}"
            for book in ("canvas", "moodle")
            for who in ("=cy()", "bray_18", "dan_17", "raybob_18")
        ),
        "these match nobody of the roster: =cy(), dan_17",
        "and these students have nothing: Hopper, Eve",
        told[-1],
    ]
    assert told[-1].startswith("what to do: name each folder as the roster names the student")


@pytest.mark.slow
def test_the_table_has_everybody_with_points_and_what_to_look_at(whole):
    home, *_ = whole
    head, *rows = table(home / "csv")
    checks = [f"06_relu/{check}" for check in [*RELU.points, "whole"]]
    who = ["Student", "ID", "SIS User ID", "SIS Login ID"]
    told = ["points", "out of", "wall", "look at"]
    assert head == ["submission", "id", *who, "06_relu", *checks, *told]
    assert {len(row) for row in rows} == {len(head)}
    seen = [" | ".join((*row[:4], row[6], *row[-4:-2], row[-1])) for row in rows]
    nobody = "not one student of the roster; 06_relu.py "
    fails = "fails, and goes on: ZeroDivisionError: division by zero; 06_relu.py equals that of"
    assert seen == [
        f"'=cy() |  |  |  | 0 | 0 | 13 | {nobody}is not there",
        "bray_18 | 18 | Ray, Bob | 18 | 0 | 0 | 13 | 06_relu.py is not there",
        f"dan_17 | 17 |  |  | 9 | 9 | 13 | {nobody}{fails} raybob_18, but for names and order",
        "lovelaceada_17 | 17 | Lovelace, Ada | 17 | 13 | 13 | 13 | 2 files are called 06_relu.py, "
        "and this is lovelaceada_LATE_17_902_06_relu-1.py; 06_relu.py was handed in late; "
        "06_relu.py equals the published solution, but for names and order",
        f"raybob_18 | 18 | Ray, Bob | 18 | 9 | 9 | 13 | 06_relu.py {fails} dan_17, but for "
        "names and order",
        " |  | Hopper, Eve | 19 | not graded | not graded | 13 | not found: 2 folders match nobody",
    ]


@pytest.mark.slow
def test_reports_for_students_have_neither_notes_nor_what_is_held_out(whole):
    home, *_ = whole
    texts = [home / place / "raybob_18.txt" for place in ("reports", "student-reports")]
    seen = [" ".join(path.read_text(encoding="utf-8").split()) for path in texts]
    assert "note: 06_relu.py equals that of dan_17" in seen[0]
    assert "equals" not in seen[1]
    assert [text.count("this check is held out") for text in seen] == [0, 1]
    assert ["expected:" in text for text in seen] == [True, False]
    assert all(f"numpy {np.__version__}" in text for text in seen)
    assert "06_relu.py is not there" in (home / "reports" / "=cy().txt").read_text("utf-8")


@pytest.mark.slow
def test_a_gradebook_has_the_students_of_the_roster_and_nobody_twice(whole):
    home, *_ = whole
    assert table(home / "canvas") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "06 ReLU"],
        ["Points Possible", "", "", "", "", "13"],
        ["Lovelace, Ada", "17", "u1", "ada01", "", "13"],
    ]
    assert table(home / "moodle") == [["ID number", "06 ReLU"], ["17", "13"]]


@pytest.mark.slow
def test_nothing_of_a_class_can_be_read_by_others_and_nothing_else_is_left(whole):
    home, *_ = whole
    written = {path for path in home.rglob("*") if "class" not in path.parts[len(home.parts) :]}
    reports = {"=cy().txt", "bray_18.txt", "dan_17.txt", "lovelaceada_17.txt", "raybob_18.txt"}
    # The journal stays until everybody is found.
    assert {path.name for path in written} == {*FILES, *reports, "roster.csv", "csv.begun"}
    for path in written - {home / "roster.csv"}:
        assert path.stat().st_mode & 0o077 == 0, path  # another user's submission runs meanwhile


@pytest.fixture
def english_again():
    """Speak English after a test that has chosen another language."""
    yield
    speak("en")


@pytest.mark.slow
def test_points_are_the_same_in_any_language(whole, tmp_path, monkeypatch, english_again):
    monkeypatch.setenv("COLUMNS", "60")
    home, _, words = whole
    words = [str(word).replace(f"={home}", f"={tmp_path}") for word in words]
    assert run.main([*words, "--language", "zh"]) == 0

    def scores(home):
        data = json.loads((home / "json").read_text(encoding="utf-8"))
        exercises = [one["exercises"][0] for one in data["submissions"]]
        checks = [check for exercise in exercises for check in exercise["checks"]]
        return [(check["id"], check["earned"], check["status"]) for check in checks]

    assert scores(tmp_path) == scores(home)
    lines = (tmp_path / "student-reports" / "dan_17.txt").read_text("utf-8").splitlines()
    assert lines[0].startswith("dan_17：9/13 分，wall: ")
    assert "06 ReLU" + " " * 46 + "9/13 分" in lines
    assert "  通过   1/1 正数原样通过，其余变成 0。" in lines
    assert "           未通过：06.7" in lines
    assert max(map(columns, lines)) <= 60
    lines = (tmp_path / "reports" / "bray_18.txt").read_text("utf-8").splitlines()
    assert "  没有 06_relu.py" in lines


@pytest.mark.slow
@mock.patch.dict(os.environ)
def test_grade_writes_for_every_platform_what_fits_on_the_screen(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    (tmp_path / "ada").mkdir()
    files = [f"--{platform}={tmp_path / platform}" for platform in writers.WRITERS]
    words = ["grade", str(tmp_path / "ada"), "--only", "06", "--no-wall", *files]
    assert run.main(words) == 2
    assert "Classroom 50's runner sets" in " ".join(capsys.readouterr().out.split())
    assert [path.name for path in tmp_path.iterdir()] == ["ada"]  # all, or nothing
    os.environ.update(RUNNER)
    assert run.main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith("ada: 0 of 13 points, wall: none")
    assert max(map(len, out.splitlines())) <= 60
    assert all(Path(file.partition("=")[2]).stat().st_size for file in files)


# --- answers that are alike --------------------------------------------------------------------


ANSWER = """
import numpy as np
STEP = 1e-5
def helper(x):
    return np.exp(x)
def f(x, upstream):
    'The answer.'
    e = helper(x - x.max())
    p = e / e.sum()
    out = np.zeros(3)
    for i in range(3):
        out[i] = p[i] * 2 + upstream[i] * STEP
    if out[0] > 1:
        raise ValueError("too large")
    return out
"""
END = "    return out\n"
RENAMED = ANSWER.replace("upstream", "given").replace("x", "upstream").replace("given", "x")
RENAMED = RENAMED.replace("maupstream", "max").replace("eupstreamp", "exp")
HELPER = "def helper(x):\n    return np.exp(x)\n"
COPIES = {
    "layout, comments": ("out = np.zeros(3)", "# mine\n    out = (\n  np.zeros( 3))"),
    "a helper's name": ("helper", "exponential"),
    "all names": (ANSWER, RENAMED),
    "an alias": ("np", "numpy", "import numpy as numpy", "import numpy"),
    "what is imported": ("import numpy as np", "from numpy import exp, zeros", "np.", ""),
    "order": (HELPER, "", END, f"{END}\n{HELPER}"),
    "a lambda": (HELPER, "helper = lambda x: np.exp(x)\n"),
    "types": ("f(x, upstream)", "f(x: float, upstream) -> float", "e =", "e: float ="),
    "the block that runs it": (END, f"{END}\nif __name__ == '__main__':\n    print(f(1))\n"),
    "a print": (END, "    print(f'{out}')\n" + END),
    "a text": (END, "    f'{out}'\n" + END),
    "an assertion": (END, "    pass\n    assert len(out)\n" + END),
    "a message": ('"too large"', 'f"too large: {out}"'),
    "a constant moved out": ("* 2", "* TWO", "STEP =", "TWO = 2\nSTEP ="),
    "a constant moved in": ("* STEP", "* 1e-5"),
    "a number": ("* 2", "* 2.0"),
    "split in two": ("p = e / e.sum()", "s = e.sum()\n    p = e / s"),
    "in one line": ("    p = e / e.sum()\n", "", "p[i]", "(e / e.sum())[i]"),
    "the order of a sum": ("p[i] * 2 + upstream[i] * STEP", "STEP * upstream[i] + 2 * p[i]"),
    "a comparison turned": ("out[0] > 1", "1 < out[0]"),
    "a name for the result": (END, "    result = out\n    return result\n"),
    "an else": (END, "    else:\n        return out\n"),
    "what nobody needs": (END, END + "def other(z): return z\n", "e =", "unused = 3\n    e ="),
}


@pytest.mark.parametrize("edits", COPIES.values(), ids=COPIES)
def test_answers_are_equal_but_for_what_a_copy_changes_without_a_thought(edits):
    other = ANSWER
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert old in other
        other = other.replace(old, new)
    assert alike.shape(ANSWER.encode(), ["f"]) == alike.shape(other.encode(), ["f"]) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x): return max(x)", "def f(x): return min(x)"),
        ("from numpy import exp as e\ndef f(x): return e(x)",) * 2,
        ("def f(x, u): return x - u", "def f(x, u): return u - x"),
        ("def f(x, u): return x @ u", "def f(x, u): return u @ x"),
        ("def f(x): return x > 0", "def f(x): return x >= 0"),
        ("def f(x): return x * 1000001", "def f(x): return x * 1000002"),
        ("A = 1\ndef f(x): return A * x", "A = 2\ndef f(x): return A * x"),
        ("def f(x, h=1): return x * h", "def f(x, h=2): return x * h"),
        ("def f(x): return x.sum(axis=0)", "def f(x): return x.sum(axis=1)"),
        ("def f(x):\n raise ValueError(x)", "def f(x):\n raise TypeError(x)"),
        ("def f(x, u):\n x += u\n return x", "def f(x, u):\n x = x + u\n return x"),
        ("def f(x):\n y = x[0]\n x[0] = 5\n return y", "def f(x):\n x[0] = 5\n return x[0]"),
        ("class A:\n def g(s): return 1\ndef f(x): return A().g()",) * 2,
        (f"def f(x): return 1{'0' * 400}", "def f(x): return 1"),
        ("def f(x): return f(x)", "def g(x): return x\ndef f(x): return g(x)"),
        ("def f(x): return 1\ndef g(x): return 2", "def f(x): return 2\ndef g(x): return 1"),
        ("def f(x): return x", "def f(a:\n"),
        ("def f(x): return x", "(" * 50_000),
    ],
)
def test_answers_that_calculate_something_else_are_not_equal(one, other):
    other = other.replace("exp", "log").replace("return 1", "return 2") if one == other else other
    shapes = [alike.shape(code.encode(), ["f", "g"]) for code in (one, other)]
    assert shapes[0] != shapes[1]


def test_the_published_solution_is_noted_however_it_is_written(tmp_path):
    solution = (RELU.folder / "solution.py").read_text(encoding="utf-8")
    folder = hand_in(
        tmp_path, a=solution.replace("upstream", "u") + "print(1)", b=RIGHT.replace("> 0", ">= 0")
    )
    empty = GradedExercise(RELU.name, RELU.title, ())
    reports = {submission_of(o): Report(o.name, (empty,), "none") for o in folder.iterdir()}
    noted = alike.noted(reports, [RELU])
    assert {one.name: r.exercises[0].notes for one, r in noted.items()} == {
        "a": ("06_relu.py equals the published solution, but for names and order",),
        "b": (),
    }


def test_starters_and_broken_files_are_not_compared_as_answers(tmp_path):
    starter = (RELU.folder / "starter.py").read_text(encoding="utf-8")
    folder = hand_in(tmp_path, a=starter, b=f"# mine\n{starter}", c="1/", d="1/", e=None, f=None)
    reports = {one: writers.Report(one.name, (), "none") for one in folder.iterdir()}
    assert alike.noted(reports, [RELU]) == reports


# --- stopped, and again ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_class_resumes_where_it_stopped(tmp_path, stop, open_to_all, capsys):
    endless = HOSTILE["does not end"].source
    folder = hand_in(tmp_path / "class", ada=RIGHT, bob=endless, cy=endless)
    out = tmp_path / "scores.csv"
    words = ["grade", "--class", str(folder), "--only", "06", "--jobs", "1", "--csv", str(out)]
    words += open_to_all
    places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    running = subprocess.Popen(
        [sys.executable, "exercises/run.py", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    told = iter(running.stderr.readline, "")
    assert "graded 1 of 3, last ada: 13 of 13\n" in told
    (os.killpg if stop == signal.SIGINT else os.kill)(running.pid, stop)
    said, err = running.communicate(timeout=8)  # of the 18 or more that the others would take
    assert (running.returncode, err) == (2, "")
    assert said.startswith("\nStopped.")
    assert [row[0] for row in table(out)] == ["submission", "ada"]
    for name in ("bob", "cy"):
        (folder / name / "06_relu.py").unlink()
    assert run.main(words) == 0
    assert "graded before: 1" in capsys.readouterr().err
    assert [row[2] for row in table(out)] == ["points", "13", "0", "0"]
    assert not list(tmp_path.glob("*.begun"))


@pytest.mark.slow
def test_grades_are_kept_when_the_disk_is_full(tmp_path, monkeypatch, capsys):
    folder = hand_in(tmp_path / "class", ada=None, bob=None)
    words = ["grade", "--class", str(folder), "--only", "06", "--jobs", "1", "--no-wall"]
    words += ["--csv", str(tmp_path / "scores.csv")]
    add = tables.Journal.add

    def full(self, one, report):
        if one.name == "bob":
            self.path.write_text(self.path.read_text() + '{"course": "half a')
            raise OSError(errno.ENOSPC, "No space left on device")
        add(self, one, report)

    with monkeypatch.context() as patch:
        patch.setattr(tables.Journal, "add", full)
        assert run.main(words) == 2
    assert "No space left on device" in capsys.readouterr().out
    assert [row[0] for row in table(tmp_path / "scores.csv")] == ["submission", "ada"]
    assert run.main(words) == 0
    assert "graded before: 1" in capsys.readouterr().err


@pytest.mark.slow
def test_a_report_is_used_again_until_something_changes_that_it_depends_on(tmp_path, monkeypatch):
    home, ada = tmp_path / "exercises", tmp_path / "ada"
    files = ("checks.py", "starter.py", "../judging.py", "../expect.py", "../../ada/06_relu.py")
    for file in files:
        (home / "06_relu" / file).parent.mkdir(parents=True, exist_ok=True)
        (home / "06_relu" / file).write_text("x = 1")
    monkeypatch.setattr(tables, "HERE", home)

    def journal(*, points=RELU.points, limits=ORDINARY, wall="none"):
        exercise = replace(RELU, home=home, points=points)
        course = tables.fingerprint_of_course([exercise], limits, wall)
        return tables.Journal(tmp_path / "begun", course)

    def known(**changed):
        return journal(**changed).report(submission_of(ada)) is not None

    journal().add(submission_of(ada), writers.Report("ada", (), "none"))
    assert known()
    assert not known(points=dict.fromkeys(RELU.points, 2))
    assert not known(limits=LIMITS)
    assert not known(wall="bubblewrap")
    for what, value in (("spoken", lambda: "zh"), ("software", lambda _: "another Python")):
        with monkeypatch.context() as patch:
            patch.setattr(tables, what, value)
            assert not known(), what
    for file in (*files, "../private_cases.py"):
        (home / "06_relu" / file).write_text("x = 22")
        assert not known(), file
        journal().add(submission_of(ada), writers.Report("ada", (), "none"))
        assert known()


# --- the command line --------------------------------------------------------------------------


@pytest.mark.slow
def test_without_bubblewrap_grading_needs_an_explicit_option(tmp_path, monkeypatch, capsys):
    hand_in(tmp_path, ada=RIGHT)
    monkeypatch.setenv("PATH", "/nowhere")
    words = ["grade", str(tmp_path / "ada"), "--only", "06"]
    assert run.main(words) == 2
    assert " ".join(capsys.readouterr().out.split()) == (
        "The grader runs a submission behind bubblewrap, which does not work here: bubblewrap is "
        "not installed; where apt is: apt-get install bubblewrap In a container that holds only "
        "the course and the submissions, add --no-wall: the container is the wall. Elsewhere a "
        "submission can then do whatever you can."
    )
    assert run.main([*words, "--no-wall"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("ada: 13 of 13 points, wall: none, Python ")
    assert err == "no wall: a submission can do whatever you can\n"


REFUSED = """
grade nowhere | nowhere is not a folder
grade . --class . | Name one folder
grade . --moodle x | are for a class
grade --class . --canvas x | --canvas needs --roster
grade --class . --junit x | --junit is for one submission
grade docs --only 06 --json no/such/file | No such file
grade --class docs/stages | docs/stages has no folders in it
grade --class . --jobs many | not a whole number of 1 or more
grade --class . --seconds 0 | not a whole number of 1 or more
grade --class . --submission-seconds -1 | not a whole number of 1 or more
grade --class . --id ( | '(' is not a regular expression
export | Where to?
export docs | docs is not empty
export x --only 06,no | there is no exercise 'no'
"""


@pytest.mark.one_in(6)
@pytest.mark.parametrize("row", REFUSED.strip().splitlines())
def test_an_impossible_command_is_refused_with_a_sentence(row, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    command, says = row.split(" | ")
    words = [*command.split(), *["--no-wall"] * command.startswith("grade")]  # nothing is run
    assert status_of(run.main, *words) == 2
    assert says in " ".join("".join(capsys.readouterr()).split())
