"""A process of a submission: limits kept, nothing left behind, whatever the program does."""

import sys
import time
from pathlib import Path

import pytest

from course import StoppedError
from grader import clock
from grader import process as process_module
from grader.limits import Limits
from grader.process import SHOWN, NotGradedError, Process, TooLongError
from grader.traces import children
from grader.wall import Room

QUICK = Limits(answer=100_000, output=100_000)
ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans on Linux only")


class Open:
    """No wall, and any program."""

    def __init__(self, code, home):
        self.code, self.home = code, home

    def room(self, limits):
        self.home.mkdir(exist_ok=True)
        command = [sys.executable, "-I", "-S", "-c", self.code]
        return Room({"args": command, "cwd": self.home}, self.home)


@pytest.fixture
def start(tmp_path):
    """Return a function that starts Python code, and ends it afterwards."""
    started = []

    def start(code, limits=QUICK, **more):
        started.append(Process(Open(code, tmp_path / "home"), limits, **more))
        return started[-1]

    yield start
    for process in started:
        process.end()


def why_stopped(process, seconds=30.0):
    process.until(seconds)
    with pytest.raises(StoppedError) as stopped:
        process.receive()
    return str(stopped.value)


def alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_lines_are_sent_both_ways(start):
    process = start(ECHO)
    process.send(b"one\n")
    process.send(b"x" * 90_000 + b"\n")  # more than fits into a pipe
    assert [process.receive(), process.receive()] == [b"ONE", b"X" * 90_000]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import ctypes; ctypes.string_at(0)", "it crashed: Segmentation fault"),
        ("import os; os.kill(os.getpid(), 9)", "the system ended it"),
        ("import sys\nwhile True: sys.stderr.write('x' * 999)", "more than 100,000 bytes"),
        ("import os, time; os.close(1); time.sleep(99)", "it went on, but stopped answering"),
    ],
)
def test_the_reason_for_a_stop_is_reported(start, code, why):
    assert why in why_stopped(start(code))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "code",
    [
        "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(99)",
        "import os, time; os.close(2); time.sleep(99)",
    ],
)
def test_a_sleep_counts(start, code):
    assert why_stopped(start(code), 0.5).startswith("it took too long")


@pytest.mark.parametrize(
    ("code", "error"),
    [("while True: pass", TooLongError), ("import time; time.sleep(99)", NotGradedError)],
    ids=["works", "sleeps"],
)
def test_where_delays_are_unknown_a_process_that_hardly_works_is_no_verdict(
    start, monkeypatch, code, error
):
    for module in (clock, process_module):
        monkeypatch.setattr(module, "TELLS_DELAYS", False)
    process = start(code)
    process.until(0.3)
    with pytest.raises(error):
        process.receive()


def test_a_machine_that_is_too_busy_is_no_verdict(start):
    process = start("import time; time.sleep(99)", busy_at=time.monotonic() + 0.3)
    with pytest.raises(NotGradedError, match="the machine was too busy: 0"):
        process.receive()


def test_a_process_that_does_not_start_is_no_verdict(start):
    with pytest.raises(NotGradedError, match=r"could not be started: it ended .* exit status 3"):
        start("import sys; sys.exit(3)").wait_until_ready()


def test_a_program_that_does_not_listen_cannot_make_the_grader_wait(start):
    process = start("import time; time.sleep(99)")
    process.send(b"x" * 10_000_000 + b"\n")
    assert why_stopped(process, 0.5).startswith("it took too long")


def test_a_program_that_reads_no_answers_cannot_fill_the_graders_memory(start):
    process = start("import time\nfor _ in range(9): print(flush=True)\ntime.sleep(99)")
    process.receive()
    process.send(b"x" * 10_000_000 + b"\n")
    process.receive()
    with pytest.raises(StoppedError, match="does not read the answers"):
        process.send(b"y\n")


def test_printed_output_is_kept_up_to_a_limit(start):
    process = start("import sys\nprint('y' * 5000, file=sys.stderr)\nprint()")
    process.receive()
    why_stopped(process)
    assert process.printed == b"y" * SHOWN


FORKS = """
import os, sys, time
for _ in range(10):
    if os.fork() == 0:
        {child}
        print(os.getpid(), flush=True)
        time.sleep(99)
{parent}
"""


@pytest.mark.one_in(3)
@LINUX
@pytest.mark.parametrize("parent", ["time.sleep(99)", "os._exit(0)"])
@pytest.mark.parametrize(
    "child", ["pass", "os.setsid()", "os.setsid(); os.fork() and os._exit(0); os.setsid()"]
)
def test_ten_forks_are_all_ended_with_it(start, child, parent):
    before = children()
    process = start(FORKS.format(child=child, parent=parent))
    pids = [int(process.receive()) for _ in range(10)]
    assert all(map(alive, pids))
    process.end()
    assert not any(map(alive, pids))
    assert children() == before


@LINUX
def test_other_children_are_left_alone(start):
    before = children()
    other = start("import time; print(flush=True); time.sleep(99)")
    other.receive()
    process = start(ECHO)
    process.end()
    process.end()  # which may be said twice
    (pid,) = children() - before
    assert alive(pid)
