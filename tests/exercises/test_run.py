"""The learner's side: what ``python exercises/run.py`` says, in a pipe and on a terminal.

Most of it is a row of ``learner.txt``. What takes more than a row is below.
"""

import contextlib
import importlib.util
import os
import re
import select
import shutil
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest
from beside import status_of
from graded import ROOT, each_row

import catalogue
import course
import run
import screen
import verify
from columns import columns, padded, wrapped

EXERCISES = course.read_course().choose(())
OPTIONAL = [e for e in course.read_course().exercises if e.optional]
REPORTS = Path(__file__).parent / "reports"
MASK = "import numpy as np\n\n\ndef relu(x):\n    return np.maximum(x, 0)\n\n\n"
MASK += "def relu_backward(x, upstream):\n    return (x > 0) * 1.0\n"
RIGHT = MASK.replace("* 1.0", "* upstream") + "\n\nprint('from work')\n"


class Desk:
    """A copy of the course for one learner, who has not begun."""

    def __init__(self, home, capsys):
        self.home, self.capsys = home, capsys
        shutil.rmtree(home / "work", ignore_errors=True)

    def start(self, words="", *, python=(sys.executable,), stdout=subprocess.PIPE, **environment):
        """Run ``exercises/run.py`` as a learner does."""
        done = subprocess.run(
            [*python, "exercises/run.py", *words.split()],
            cwd=self.home,
            env=self.environment(**environment),
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
        assert done.stderr == "" or done.returncode == 2, done.stderr
        return done

    def run(self, words=""):
        """Do the same within the tests, where Python and NumPy are there already."""
        status = status_of(run.main, *words.split())
        out, err = self.capsys.readouterr()
        assert err == "" or status == 2, err
        return subprocess.CompletedProcess(words, status, out, err)

    def says(self, words=""):
        return self.run(words).stdout

    def environment(self, **more):
        return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "60", **more}

    def write(self, name, text):
        path = self.home / "work" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def solve(self, *names):
        for name in names:
            self.write(name, (ROOT / "exercises" / name / "solution.py").read_text())


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Copy the course once, for learners write elsewhere; and Python compiles it once."""
    home = tmp_path_factory.mktemp("home")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "exercises", home / "exercises", ignore=ignored)
    return home


@pytest.fixture
def desk(home, monkeypatch, capsys):
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "argv", ["exercises/run.py"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "exercises/run.py"])
    monkeypatch.setattr(run, "read_course", lambda: course.read_course(home / "exercises"))
    yield Desk(home, capsys)
    catalogue.speak("en")


@pytest.mark.one_in(3)
@each_row("learner.txt", "what is said")
def test_what_is_said_to_what_is_typed(desk, row):
    there, typed, status, *parts = row
    number, _, what = there.partition(" ")
    for exercise in (e for e in EXERCISES if e.number == number):
        solution = (exercise.folder / "solution.py").read_text("utf-8")
        known = {"solved": solution, "right": RIGHT}
        desk.write(exercise.name, known.get(what) or what.removeprefix("= "))
    done = desk.run(typed)
    said = " ".join(f"^{done.stdout}{done.stderr}$".replace("\n$", "$").split())
    assert done.returncode == int(status)
    assert "Traceback" not in said
    for part in parts:
        absent = part.startswith("not ")
        assert (part.removeprefix("not ") in said) is not absent, said


# What Windows does not have, and some macOS not.
NO_POSIX = """
import os, runpy, signal, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty"):
    sys.modules[name] = None
for module, names in ((os, "fork setsid killpg getuid getpgid wait4"), (signal, "SIGKILL SIGALRM")):
    for name in names.split():
        delattr(module, name)
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
sys.orig_argv = ["python", *sys.argv]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("report", ["learner.txt", "learner.zh.txt"])
def test_a_wrong_answer_shows_called_got_expected_look_at_and_next(desk, report):
    desk.write("06_relu", MASK)
    typed = "06 --language zh" if ".zh" in report else "06"
    assert desk.says(typed) == (REPORTS / report).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_learner_needs_nothing_of_posix(desk):
    desk.write("06_relu", MASK)
    done = desk.start("06", python=(sys.executable, "-c", NO_POSIX))
    assert done.returncode == 1
    assert done.stdout == desk.says("06")  # which most of these tests go by


# --- where am I, what next ---------------------------------------------------------------------


def progress(done):
    """Write how many exercises are done, as the course does."""
    return f"{screen.bar(done, len(EXERCISES))} exercises done"


def test_the_first_run_welcomes_begins_exercise_1_and_says_what_to_read_and_do(desk):
    done = desk.run()
    assert done.returncode == 1
    assert done.stdout.startswith("Welcome.")
    assert "work/01_forward.py is yours to edit." in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        "next      task 1: forward_difference, in work/01_forward.py",
        "read      exercises/01_forward/README.md",
    ]
    starter = desk.home / "exercises" / "01_forward" / "starter.py"
    assert (desk.home / "work" / "01_forward.py").read_text() == starter.read_text()
    assert "Welcome" not in desk.says()


def test_the_output_on_the_student_page_is_real(desk):
    starter = (desk.home / "exercises" / "01_forward" / "starter.py").read_text()
    undivided = (
        "    slopes = np.zeros(x.shape)\n"
        "    for i in np.ndindex(x.shape):\n"
        "        moved = x.copy()\n"
        "        moved[i] += h\n"
        "        slopes[i] = f(moved) - f(x)\n"
        "    return slopes\n"
    )
    desk.write("01_forward", re.sub(r" *raise NotImplementedError.*\n", undivided, starter))
    page = (ROOT / "docs" / "exercises" / "students.md").read_text(encoding="utf-8")
    assert f"```text\n{desk.says('01')}```\n" in page


def test_the_next_exercise_begins_only_on_request(desk):
    desk.solve("01_forward")
    for _ in range(2):
        done = desk.run()
        assert done.returncode == 0
        assert done.stdout.startswith(f"{progress(1)}\n\n01 Forward difference")
        assert "compare   exercises/01_forward/solution.py\n" in done.stdout.partition("try   ")[2]
        assert done.stdout.endswith("next      python exercises/run.py 02\n")
    assert [path.name for path in (desk.home / "work").glob("*.*")] == ["01_forward.py"]
    assert desk.says("02").startswith("work/02_central.py is yours to edit.")
    assert "\n02 Central difference " in desk.says()


def test_the_first_unfinished_exercise_is_shown_and_only_it_prints(desk):
    desk.solve("01_forward", "03_relative")
    path = desk.home / "work" / "01_forward.py"
    path.write_text(path.read_text() + "\nprint('from exercise 1')\n")
    desk.write("02_central", "print('from exercise 2')\n")
    said = desk.says()
    assert said.startswith(f"{progress(2)}\n\nfrom exercise 2\n02 Central difference")


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("python3", "python3"),
        ("{home}/.venv/bin/python", ".venv/bin/python"),
        ("/usr/bin/python3", "python"),
        ("", "python"),
    ],
)
def test_the_next_command_is_written_like_this_one(desk, monkeypatch, typed, printed):
    monkeypatch.setattr(sys, "orig_argv", [typed.format(home=desk.home), "exercises/run.py"])
    assert desk.says("hint 06 3").endswith(f"next      {printed} exercises/run.py 06\n")


def test_two_versions_saved_in_the_same_second_are_distinguished(tmp_path):
    path = tmp_path / "answer.py"
    for answer in ("1", "2"):
        path.write_text(f"ANSWER = {answer}\n")
        os.utime(path, (1, 1))
        assert str(course.load(path).ANSWER) == answer


def test_reset_restores_the_starter_and_keeps_the_answer(desk):
    desk.write("06_relu", MASK)
    kept, work = (desk.home / "work" / f"06_relu{end}" for end in (".before_reset.py", ".py"))
    assert "Your old file is work/06_relu.before_reset.py." in desk.says("reset 06")
    assert kept.read_text() == MASK
    assert work.read_text() == (desk.home / "exercises/06_relu/starter.py").read_text()
    # A second reset has nothing to keep, and must not lose what the first one kept.
    assert "before_reset" not in desk.says("reset 06")
    desk.write("06_relu", RIGHT)
    assert "is work/06_relu.before_reset1.py." in desk.says("reset 06")
    assert kept.read_text() == MASK


def test_the_list_shows_every_exercise_and_how_far_it_is(desk):
    desk.solve("01_forward")
    desk.write("06_relu", MASK)
    lines = desk.says("list").splitlines()
    assert lines[0] == "01 Forward difference          15 min  [######] 6 of 6"
    assert lines[1] == "02 Central difference          20 min"
    assert lines[5] == "06 ReLU                        20 min  [#-----] 1 of 6"
    assert lines[-1] == "project Iris, in your own code 45 min  optional"
    assert len(lines) == len(EXERCISES) + len(OPTIONAL) + 1


def test_verify_prints_every_assertion_and_ends_with_status_1_where_one_is_wrong(desk, monkeypatch):
    # The assertions themselves are run in test_course.py.
    proven = [e for e in course.read_course().everything if not course.missing(e)]
    told = sum(len(verify.assertions_of(e)) for e in proven) + 1  # and one about the course
    held = lambda e: dict.fromkeys(verify.assertions_of(e), lambda e: [])  # noqa: E731
    monkeypatch.setattr(run, "assertions_of", held)
    done = desk.run("verify")
    assert (done.returncode, done.stdout.count("\nok        ")) == (0, told)
    assert done.stdout.endswith("The course proves itself.\n")
    faults = {"The folder is right.": lambda e: ["a fault"] * (e.number == "06")}
    monkeypatch.setattr(run, "assertions_of", lambda exercise: faults)
    done = desk.run("verify")
    assert done.returncode == 1
    assert done.stdout.count("NO        The folder is right.\n            a fault\n") == 1
    assert done.stdout.endswith("The course has faults, above.\n")
    alone = desk.run("verify 5")
    assert alone.returncode == 0
    assert alone.stdout.endswith("ok        The folder is right.\n\nThe exercise proves itself.\n")


def test_a_missing_package_gives_one_sentence_on_what_to_install(desk, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "torch" else find(n))
    proof = {"": lambda exercise: [exercise.name] * (exercise.package == "torch")}
    monkeypatch.setattr(run, "assertions_of", lambda exercise: proof)
    done = desk.run("16")
    assert done.returncode == 2
    assert done.stdout.startswith("work/16_torch_function.py is yours to edit.\n")
    assert "\nExercise 16 is optional and needs torch; to install it:\n\n" in done.stdout
    assert done.stdout.endswith("-m pip install torch\n\n")
    assert desk.run("verify 16").returncode == 2
    (listed,) = re.findall("^16 .*", desk.says("list"), re.MULTILINE)
    assert listed.endswith("begun")
    done = desk.run("verify")
    assert done.returncode == 0
    assert "A torch Function\nnot here: it is optional, and needs torch\n" in done.stdout


def test_after_the_last_exercise_is_a_farewell_and_an_optional_one(desk, monkeypatch):
    whole = run.read_course()
    last, *more = whole.choose(())[-1], *(e for e in whole.exercises if e.optional)
    monkeypatch.setattr(run, "read_course", lambda: replace(whole, exercises=(last, *more)))
    desk.solve(last.name)
    done = desk.run()
    assert done.returncode == 0
    assert done.stdout.startswith(f"{screen.bar(1, 1)} exercises done\n\n{last.number} ")
    assert f"\noptional  python exercises/run.py {more[0].number}\n" in done.stdout
    assert "\n\nAll done." in done.stdout


# --- in another language -----------------------------------------------------------------------


@contextlib.contextmanager
def edited(path, edit):
    """Edit a file of the course, which the learners of all these tests share."""
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(edit(before), encoding="utf-8")
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def test_a_class_has_its_language_and_a_student_may_still_choose(desk):
    manifest = desk.home / "exercises" / "course.toml"
    with edited(manifest, 'language = "zh"\n{}'.format):
        assert desk.says().startswith("欢迎。")
        said = desk.says("01")
        assert "待写      x*x 在 3 处测得的斜率是 6 + h。\n" in said
        assert "任务 1：forward_difference，写在" in said
        assert "--language" not in said  # there is nothing to type
        said = desk.says("01 --language en")
        assert "to do     The slope of x*x at 3 is measured as 6 + h.\n" in said
    with edited(manifest, 'language = "fr"\n{}'.format):
        done = desk.run("01")
        assert done.returncode == 2
        assert 'there is no language \'fr\'; choose "en" or "zh"' in " ".join(done.stdout.split())


def test_a_hint_is_in_chinese_where_the_page_is_and_has_the_code_of_the_original(desk):
    assert "3. Nearly the line\n" in desk.says("hint 02 3 --language zh")
    shutil.copytree(ROOT / "docs" / "zh" / "exercises", desk.home / "docs" / "zh" / "exercises")
    said, english = desk.says("hint 02 3 --language zh"), desk.says("hint 02 3")
    shutil.rmtree(desk.home / "docs")
    assert said.startswith("02 中心差分")
    assert "3. 只差填空\n" in said
    assert "[[block]]" not in said
    code = [line for line in english.splitlines() if line.startswith("    ")]
    assert len(code) == 5
    assert [line for line in said.splitlines() if line.startswith("    ")] == code


@pytest.mark.parametrize("page", sorted((ROOT / "docs/zh/exercises").glob("[0-9]*.md")), ids=str)
def test_the_hints_on_each_chinese_page_are_those_of_the_exercise(page):
    exercise = course.read_course().find(page.stem)
    chinese, english = (
        [(heading[:3], len(re.findall("(?m)^    .*", text))) for heading, text in hints]
        for hints in (exercise.hints("zh"), exercise.hints())
    )
    assert chinese == english
    assert "[[" not in "".join(text for _, text in exercise.hints("zh"))


@pytest.mark.slow
def test_a_file_of_messages_that_cannot_be_used_is_named_in_a_sentence(desk):
    file = desk.home / "exercises" / "locale" / "zh.po"
    with edited(file, lambda text: text.replace("{total} 项检查", "{totale} 项检查", 1)):
        done = desk.start("01 --language zh")
        assert done.returncode == 2
        assert done.stdout.startswith("zh.po: other fields than in the message")
        assert desk.start("01").returncode == 1  # English needs no file


def test_the_columns_of_the_list_and_of_a_picture_stand_below_each_other_in_chinese(desk):
    desk.solve("01_forward")
    rows = desk.says("list --language zh").splitlines()[:18]
    assert len({columns(row[: row.index(" 分钟")]) for row in rows}) == 1
    picture = desk.says("see 01 --language zh").splitlines()
    assert picture[0] == "你的前向差分：exp 在 1 处"
    under = next(line for line in picture if "步长 h" in line)
    assert columns(under) == 9 + 48
    assert "         纵轴：相对误差" in picture
    assert "         o 参考解答" in picture


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("got", 3), ("得到", 4), ("h = 得", 6), ("：", 2), ("é", 1)]
)
def test_a_wide_character_counts_twice(text, width):
    assert columns(text) == width
    assert columns(padded(text, 10)) == 10


MIXED = "你返回的是掩码；`upstream` 用在哪里？看看 relu_backward(x, upstream)（见“任务 3”）。"


@pytest.mark.parametrize("room", [12, 20, 30, 60])
def test_no_line_is_too_long_or_begins_with_a_comma(room):
    lines = wrapped(MIXED, room, "得到 ", "     ")
    assert lines[0].startswith("得到 你")
    assert all(columns(line) <= room for line in lines)
    assert all(line[:5] == "     " for line in lines[1:])
    assert not any(line.strip()[0] in "，；？：）”。" or line[-1] in "（“" for line in lines)
    kept = "".join("".join(lines).split())
    assert kept == "得到" + "".join(MIXED.split())
    english = "the rise of f is divided by the step; where do you divide? " * 3
    expected = textwrap.wrap(english, room, initial_indent="NO ", subsequent_indent="   ")
    assert wrapped(english, room, "NO ", "   ") == expected


def test_lines_are_filled_and_a_word_longer_than_a_line_is_cut():
    assert [columns(line) for line in wrapped("一" * 35, 20)] == [20, 20, 20, 10]
    assert wrapped("é" * 25 + " 长", 10) == ["é" * 10, "é" * 10, "ééééé 长"]
    assert wrapped("", 10) == []


# --- narrow, plain, alone -----------------------------------------------------------------------


@pytest.mark.slow
def test_everything_fits_60_columns(desk):
    hints = [f"hint {e.number} {rung}" for e in (*EXERCISES, *OPTIONAL) for rung in (1, 2, 3)]
    said = [desk.says(words) for words in ("", "list", "--help", "reset 05", *hints)]
    assert [line for text in said for line in text.splitlines() if len(line) > 60] == []


@pytest.mark.slow
def test_without_numpy_the_course_begins_and_says_what_to_install(desk):
    def alone(words):  # with -S nothing that was installed can be imported
        return desk.start(words, python=(sys.executable, "-S"), PYTHONPATH="")

    done = alone("")
    assert done.returncode == 2
    assert done.stdout.startswith("Welcome.")
    assert "The checks need NumPy and gradcheck_ref, which this" in done.stdout
    assert "    .venv/bin/pip install numpy\n" in done.stdout
    assert "gradcheck_ref has to be beside the folder exercises" in " ".join(done.stdout.split())
    assert done.stdout.endswith("    .venv/bin/python exercises/run.py\n")
    assert "hint 1 of 3" in alone("hint 01").stdout
    assert alone("list").stdout.splitlines()[0] == "01 Forward difference          15 min  begun"


@pytest.mark.slow
def test_an_ascii_terminal_works(desk):
    desk.write("06_relu", "def relu(x):\n    raise ValueError('\u2207 f')\n")
    assert "raised    ValueError: ? f" in desk.start("06", PYTHONIOENCODING="ascii").stdout


@pytest.mark.slow
def test_a_closed_pipe_is_not_an_error(desk):
    theirs, ours = os.pipe()
    os.close(theirs)  # before anything is said
    done = desk.start("list", stdout=ours)
    os.close(ours)
    assert (done.returncode, done.stderr) == (2, "")


# --- on a terminal -----------------------------------------------------------------------------


class Terminal:
    """A terminal of 60 columns on which a command runs."""

    def __init__(self, desk, words, **environment):
        pty = pytest.importorskip("pty", reason="needs a terminal to test on")
        self.ours, theirs = pty.openpty()
        self.seen = ""
        self.run = subprocess.Popen(
            [sys.executable, "-c", OWN_THE_TERMINAL, "exercises/run.py", *words.split()],
            cwd=desk.home,
            env=desk.environment(TERM="xterm", **environment),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def wait_for(self, text, times=1):
        """Read until the text was seen so many times."""
        end = time.monotonic() + 30
        while self.seen.count(text) < times:
            left = end - time.monotonic()
            assert select.select([self.ours], [], [], max(left, 0))[0], self.seen
            self.seen += os.read(self.ours, 4096).decode()

    def rest(self):
        """Wait for the end of the command; return all that was seen."""
        with contextlib.suppress(OSError):  # how Linux says that nobody is at the other end
            while more := os.read(self.ours, 4096).decode():
                self.seen += more
        self.run.wait(timeout=30)
        os.close(self.ours)
        return self.seen


# Make Ctrl-C, typed on the terminal, reach the command and its children. The child does it itself:
# Python must not run between fork and exec where JAX, for one, has threads.
OWN_THE_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_unless_it_is_turned_off(desk, no_colour, coloured):
    desk.write("06_relu", MASK)
    seen = Terminal(desk, "06", NO_COLOR=no_colour).rest().replace("\r\n", "\n")
    assert ("\x1b[31mNO" in seen) is coloured
    assert re.sub(r"\x1b\[\d+m", "", seen) == desk.says("06")  # no terminal, and no colour


@pytest.mark.slow
def test_watch_runs_again_at_every_save_even_in_an_endless_loop_and_stops_at_ctrl_c(desk):
    endless = "def relu(x):\n    while True:\n        print('for ever')\n"
    desk.write("06_relu", MASK)
    terminal = Terminal(desk, "06 --watch", NO_COLOR="1")
    terminal.wait_for("1 of 6 checks")
    desk.write("06_relu", endless)
    terminal.wait_for("for ever")
    desk.write("06_relu", RIGHT)
    terminal.wait_for("run.py 07")
    assert "6 of 6 checks" in terminal.seen
    desk.write("06_relu", endless)
    before = terminal.seen.count("for ever")
    terminal.wait_for("for ever", times=before + 1)
    os.write(terminal.ours, b"\x03")
    seen = terminal.rest()
    assert "That was in work/06_relu.py, line" in seen
    assert seen.endswith("Stopped watching.\r\n")


@pytest.mark.slow
def test_watch_without_a_number_follows_the_first_unfinished_exercise(desk):
    terminal = Terminal(desk, "--watch", NO_COLOR="1")
    terminal.wait_for("task 1: forward_difference")
    assert terminal.seen.count("Welcome") == 1
    desk.solve("01_forward")
    terminal.wait_for(f"1 of {len(EXERCISES)} exercises done")
    os.write(terminal.ours, b"\x03")
    terminal.rest()
    assert terminal.run.returncode == 0
