"""A class: whatever one of them hands in, the others are graded; stopped, it goes on from there."""

import csv
import errno
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
from graded import ORDINARY, RELU, ROOT, RUNNER, best_wall, hand_in, said
from hostile_submissions import HOSTILE, at_the_top

import run
from catalogue import speak
from columns import columns
from grader import alike, tables, traces, wall, writers
from grader.classes import Task, grade_class
from grader.collected import submission_of, submissions
from grader.limits import Limits

RIGHT = at_the_top("")
PLACES = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
WITH_THE_PACKAGE = {**os.environ, "PYTHONPATH": os.pathsep.join(PLACES)}
# What never ends, ends soon.
LIMITS = Limits(call_seconds=2.0, next_seconds=0.1, seconds=3.0, answer=1_000_000)


def all_of(folder):
    return submissions(folder, [RELU])[0]


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
    folder = hand_in(
        tmp_path / "class",
        **{
            "aa honest": RIGHT,
            "zz honest": RIGHT,
            **{name: hostile.source for name, hostile in HOSTILE.items()},
        },
    )
    exercise = with_two_checks(tmp_path / "exercises")
    (folder / "mm pipe").mkdir()
    os.mkfifo(folder / "mm pipe" / "06_relu.py")
    resource_tracker.ensure_running()  # it stays
    before = traces.children()
    with best_wall([folder]) as it:
        task = Task((exercise,), it, LIMITS, 60, jobs=2)
        reports = {one.name: report for one, report in grade_class(all_of(folder), task)}
    assert traces.children() == before
    assert reports["aa honest"].earned == reports["zz honest"].earned == 4
    assert reports["mm pipe"].exercises[0].problem == "06_relu.py is not an ordinary file"
    for name, hostile in HOSTILE.items():
        assert reports[name].earned == hostile.deserves, (name, said(reports[name]))
        assert hostile.says in said(reports[name]), name
        assert not reports[name].failed
        for write in writers.WRITERS.values():
            assert write(reports[name]).encode()


CHECK = '''
import os, time
def check_it(sub):
    """It is graded."""
    if sub.what == "die": os._exit(3)
    if sub.what == "hang": time.sleep(99)
    if sub.what == "die once" and not os.path.exists("{once}"):
        open("{once}", "x").close()
        os._exit(3)
'''


@pytest.mark.slow
def test_a_grading_process_that_dies_or_hangs_costs_its_submission_only(tmp_path):
    home = tmp_path / "course" / "06_relu"
    home.mkdir(parents=True)
    (home / "checks.py").write_text(CHECK.replace("{once}", str(tmp_path / "once")))
    (home / "starter.py").write_text("")
    exercise = replace(RELU, home=home.parent, points={"check_it": 1}, whole=0)
    students = {"ada": "live", "bob": "die", "cy": "hang", "dora": "live", "eve": "die once"}
    sources = {name: f"what = {what!r}" for name, what in students.items()}
    folder = hand_in(tmp_path / "class", **sources)
    resource_tracker.ensure_running()  # it stays
    before = traces.children()
    with best_wall([folder]) as it:
        task = Task((exercise,), it, ORDINARY, 2.0, jobs=1)
        found = [(one.name, report) for one, report in grade_class(all_of(folder), task)]
    reports = dict(sorted(found))
    assert [name for name, _ in found[:2]] == ["ada", "dora"]  # the others: again, in the end
    assert [report.earned for report in reports.values()] == [1, 0, 0, 1, 1]
    assert [report.failed for report in reports.values()] == [False, True, True, False, False]
    assert said(reports["bob"]).startswith("the process that graded it ended")
    assert said(reports["cy"]).startswith("grading it took longer than 2 seconds in all")
    assert traces.children() == before


# --- the command line --------------------------------------------------------------------------


def start(*words, **environment):
    return subprocess.run(
        [sys.executable, "exercises/run.py", *map(str, words)],
        cwd=ROOT,
        env={**WITH_THE_PACKAGE, "COLUMNS": "60", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def table(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


@pytest.fixture
def open_to_all():
    """Return the words that are needed where there is no wall."""
    try:
        with wall.put_up():
            return []
    except wall.NoWallError:
        return ["--no-wall"]


@pytest.mark.slow
def test_grading_a_class_writes_a_table_texts_and_json(tmp_path, open_to_all):
    folder = hand_in(
        tmp_path / "class",
        **{"ada_17": RIGHT, "bob_18": None, "=cy()": "1/0", "x" * 250: f"{RIGHT}\nA = 1\n"},
    )
    out, reports = tmp_path / "scores.csv", tmp_path / "reports"
    done = start(
        *("grade", "--class", folder, "--only", "06", "--jobs", "1", "--id", r"\d+"),
        *("--csv", out, "--reports", reports, "--json", tmp_path / "json", *open_to_all),
        *("--canvas", tmp_path / "canvas", "--moodle", tmp_path / "moodle"),
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-8:] == [
        "graded 1 of 4, last =cy(): 0 of 13",
        "graded 2 of 4, last ada_17: 13 of 13",
        "graded 3 of 4, last bob_18: 0 of 13",
        f"graded 4 of 4, last {'x' * 250}: 13 of 13",
        *(f"not in {book}: {who}" for book in ("canvas", "moodle") for who in ("=cy()", "x" * 250)),
    ]
    assert table(tmp_path / "moodle") == [["ID number", "06 ReLU"], ["17", "13"], ["18", "0"]]
    first, *rows = table(out)
    behind = rows[0][5]
    assert behind in ("bubblewrap", "none")
    assert first == ["submission", "id", "06_relu", "points", "out of", "wall", "look at"]
    fails = "06_relu.py fails, and goes on: ZeroDivisionError: division by zero"
    assert rows == [
        ["'=cy()", "", "0", "0", "13", behind, fails],
        ["ada_17", "17", "13", "13", "13", behind, ""],
        ["bob_18", "18", "0", "0", "13", behind, "06_relu.py is not there"],
        ["x" * 250, "", "13", "13", "13", behind, ""],
    ]
    assert "raised: ZeroDivisionError" in (reports / "=cy().txt").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "json").read_text(encoding="utf-8"))
    assert [one["earned"] for one in data["submissions"]] == [0, 13, 0, 13]
    for path in (out, reports, reports / "ada_17.txt", *map(tmp_path.joinpath, ("json", "canvas"))):
        assert path.stat().st_mode & 0o077 == 0  # another user's submission runs meanwhile
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("canvas", "class", "json", "moodle", "reports", "scores.csv")
    ]


WRONG = RIGHT.replace("x > 0", "x > 1e-6")  # which only what is held out can see


def test_a_canvas_download_is_graded_and_strange_files_are_noted(tmp_path, open_to_all):
    folder = tmp_path / "class"
    folder.mkdir()
    for name, source in {
        "ada_17_901_06_relu.py": "1/0",
        "ada_LATE_17_902_06_relu-1.py": RIGHT,  # what came later counts
        "bob_18_903_06_relu-2.py": WRONG,
        "bob_18_904_07_softmax.py": "",
        "eve_19_907_06_relu (1).py": RIGHT.replace("0.0", "0"),  # downloaded for the second time
        "dan_17_906_06_relu.py": "1/0",  # besides the folder
        "cy_20_905_relu.py": RIGHT.replace("0.0", "0 * x"),
        "notes.txt": "",
    }.items():
        (folder / name).write_text(source)
    hand_in(folder, dan_17=re.sub(r"\bx\b", "values", WRONG))
    out, reports, open_ones = (tmp_path / name for name in ("scores.csv", "all", "open"))
    done = start(
        *("grade", "--class", folder, "--only", "06", "--jobs", "1", "--id", r"\d+"),
        *("--csv", out, "--reports", reports, "--student-reports", open_ones, *open_to_all),
    )
    assert done.returncode == 0
    noted = [line for line in done.stderr.splitlines() if not line.startswith("no wall: ")]
    assert noted[:2] == [
        "no student's name, not graded: notes.txt",
        "one id, 2 submissions: 17: ada_17, dan_17",
    ]
    rows = {row[0]: (row[2], row[-1]) for row in table(out)[1:]}
    assert list(rows) == ["ada_17", "bob_18", "cy_20", "dan_17", "eve_19"]
    assert rows["eve_19"] == rows["cy_20"] == ("13", "")
    assert rows["ada_17"][0] == "13"
    assert rows["ada_17"][1].endswith("; 06_relu.py was handed in late")
    assert rows["bob_18"][1] == "06_relu.py equals that of dan_17, but for comments and names"

    texts = [(place / "bob_18.txt").read_text(encoding="utf-8") for place in (reports, open_ones)]
    seen = [" ".join(text.split()) for text in texts]
    assert "note: 06_relu.py equals that of dan_17" in seen[0]
    assert "equals" not in seen[1]
    assert [text.count("this check is held out") for text in seen] == [0, 1]
    assert ["expected:" in text for text in seen] == [True, False]
    assert all(f"numpy {np.__version__}" in text for text in seen)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("# mine\ndef f( x ):\n    'Mine.'\n    return (x +\n 1)", True),
        ("def f(a):\n    return b + 1\n", False),
        ("def f(a:\n", False),
        ("(" * 50_000, False),
    ],
)
def test_answers_are_equal_but_for_layout_comments_and_names(other, same):
    assert (alike.shape(b"def f(x):\n    return x + 1\n") == alike.shape(other.encode())) == same


def test_starters_and_broken_files_are_not_compared_as_answers(tmp_path):
    starter = (RELU.folder / "starter.py").read_text(encoding="utf-8")
    folder = hand_in(tmp_path, a=starter, b=f"# mine\n{starter}", c="1/", d="1/", e=None, f=None)
    reports = {one: writers.Report(one.name, (), "none") for one in folder.iterdir()}
    assert alike.noted(reports, [RELU]) == reports


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_class_resumes_where_it_stopped(tmp_path, stop, open_to_all, capsys):
    endless = HOSTILE["does not end"].source
    folder = hand_in(tmp_path / "class", ada=RIGHT, bob=endless, cy=endless)
    out = tmp_path / "scores.csv"
    words = ["grade", "--class", str(folder), "--only", "06", "--jobs", "1", "--csv", str(out)]
    words += open_to_all
    running = subprocess.Popen(
        [sys.executable, "exercises/run.py", *words],
        cwd=ROOT,
        env=WITH_THE_PACKAGE,
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
def test_the_exit_status_says_that_a_submission_could_not_be_graded(tmp_path, open_to_all, capsys):
    folder = hand_in(tmp_path / "class", bob=HOSTILE["sleeps, whatever is raised"].source)
    words = ["grade", "--class", str(folder), "--only", "06", "--submission-seconds", "1"]
    assert run.main([*words, *open_to_all]) == 1
    out, err = capsys.readouterr()
    assert "took longer than 1 seconds in all" in out
    assert "could not be graded: bob" in err


def test_a_changed_submission_is_graded_again(tmp_path):
    folder = hand_in(tmp_path / "class", ada=RIGHT, bob=RIGHT)
    begun = tables.Journal(tmp_path / "begun", "course")
    for name in ("ada", "bob"):
        begun.add(submission_of(folder / name), writers.Report(name, (), "none"))
    (folder / "bob" / "06_relu.py").write_text("x")
    again = tables.Journal(tmp_path / "begun", "course")
    assert again.report(submission_of(folder / "ada")) == writers.Report("ada", (), "none")
    assert again.report(submission_of(folder / "bob")) is None
    assert (
        tables.Journal(tmp_path / "begun", "another").report(submission_of(folder / "ada")) is None
    )


def test_a_journal_depends_on_the_exercises_limits_wall_language_and_software(monkeypatch):
    known = [RELU], ORDINARY, "none"
    dearer = replace(RELU, points=dict.fromkeys(RELU.points, 2))
    asked = [known, known, ([dearer], *known[1:]), ([RELU], LIMITS, "none")]
    asked.append(([RELU], ORDINARY, "bubblewrap"))
    same, again, *others = (tables.fingerprint_of_course(*each) for each in asked)
    monkeypatch.setattr(tables, "spoken", lambda: "zh")
    others.append(tables.fingerprint_of_course(*known))
    monkeypatch.undo()
    monkeypatch.setattr(tables, "software", lambda _: "another Python")
    assert same == again
    assert same not in [*others, tables.fingerprint_of_course(*known)]


@mock.patch.dict(os.environ, RUNNER)
def test_grade_writes_for_every_platform_what_fits_on_the_screen(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    (tmp_path / "ada").mkdir()
    files = [f"--{platform}={tmp_path / platform}" for platform in writers.WRITERS]
    assert run.main(["grade", str(tmp_path / "ada"), "--only", "06", "--no-wall", *files]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ada: 0 of 13 points, wall: none")
    assert max(map(len, out.splitlines())) <= 60
    assert all(Path(file.partition("=")[2]).stat().st_size for file in files)


MASK = RIGHT.replace("x > 0, upstream", "x > 0, 1.0")


@pytest.fixture
def english_again():
    """Speak English after a test that has chosen another language."""
    yield
    speak("en")


def test_points_are_the_same_in_any_language(tmp_path, monkeypatch, capsys, english_again):
    monkeypatch.setenv("COLUMNS", "60")
    hand_in(tmp_path, ada=MASK)
    words = ["grade", str(tmp_path / "ada"), "--only", "06,07", "--no-wall"]
    reports, texts = {}, {}
    for language in ("en", "zh"):
        path = tmp_path / language
        assert run.main([*words, "--language", language, "--json", str(path)]) == 0
        reports[language] = json.loads(path.read_text(encoding="utf-8"))
        texts[language] = capsys.readouterr().out

    def scores(report):
        checks = [check for exercise in report["exercises"] for check in exercise["checks"]]
        return [(check["id"], check["earned"], check["status"]) for check in checks]

    assert scores(reports["en"]) == scores(reports["zh"])
    assert 0 < reports["en"]["earned"] == reports["zh"]["earned"]
    assert "called: relu_backward(" in texts["en"]
    lines = texts["zh"].splitlines()
    assert lines[0].startswith("ada：7/32 分，wall: none")
    assert "06 ReLU" + " " * 46 + "7/13 分" in lines
    assert "  通过   1/1 正数原样通过，其余变成 0。" in lines
    assert "           请看：你返回的是掩码；`upstream` 用在哪里？" in lines
    assert "  没有 07_softmax.py" in lines
    assert max(map(columns, lines)) <= 60


@pytest.mark.slow
def test_the_processes_that_grade_a_class_speak_its_language(tmp_path, open_to_all):
    folder, out = hand_in(tmp_path / "class", ada=RIGHT, bob=MASK), tmp_path / "reports"
    words = ("grade", "--language", "zh", "--class", folder, "--only", "06", "--jobs", "2")
    done = start(*words, "--student-reports", out, "--csv", tmp_path / "csv", *open_to_all)
    assert (done.returncode, done.stdout) == (0, "")
    assert [row[1] for row in table(tmp_path / "csv")] == ["06_relu", "13", "7"]
    report = (out / "bob.txt").read_text(encoding="utf-8")
    assert "  不对   0/3 门开着就把 upstream 传下去，门关着就传 0。" in report
    assert "未通过：06.2" in report


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


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["grade", "nowhere"], "nowhere is not a folder"),
        (["grade", ".", "--class", "."], "Name one folder"),
        (["grade", ".", "--moodle", "x"], "are for a class"),
        (["grade", "--class", ".", "--canvas", "x"], "--canvas needs --roster"),
        (["grade", "--class", ".", "--junit", "x"], "--junit is for one submission"),
        (["grade", "docs", "--only", "06", "--json", "no/such/file"], "No such file"),
        (["grade", "--class", "docs/stages"], "docs/stages has no folders in it"),
        (["export"], "Where to?"),
        (["export", "docs"], "docs is not empty"),
        (["export", "x", "--only", "06, no"], "there is no exercise 'no'"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_an_impossible_command_is_refused_with_a_sentence(words, says, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    if words[0] == "grade":
        words = [*words, "--no-wall"]  # nothing is run
    assert run.main(words) == 2
    assert says in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_nothing_is_written_if_one_platform_fails(tmp_path, capsys):
    files = [f"--gradescope={tmp_path / 'one'}", f"--classroom50={tmp_path / 'other'}"]
    words = ["grade", str(ROOT / "docs"), "--only", "06", "--no-wall", *files]
    assert run.main(words) == 2
    assert "Classroom 50's runner sets" in " ".join(capsys.readouterr().out.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--jobs", "many"], "not a whole number of 1 or more"),
        (["--seconds", "0"], "not a whole number of 1 or more"),
        (["--submission-seconds", "-1"], "not a whole number of 1 or more"),
        (["--id", "("], "'(' is not a regular expression"),
    ],
)
def test_a_time_limit_or_a_worker_count_of_zero_is_refused(words, says, capsys):
    with pytest.raises(SystemExit) as end:
        run.main(["grade", "--class", ".", *words])
    assert end.value.code == 2
    assert says in capsys.readouterr().err
