"""A process of a submission: limits kept, nothing left behind, whatever the program does.

Its clock counts work and sleep, and stands while the machine is busy.
"""

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from processes import is_alive

from course import StoppedError
from grader import clock
from grader import process as process_module
from grader.clock import Clock, TooSlowError, no_longer_than, offspring
from grader.limits import Limits
from grader.process import SHOWN, NotGradedError, Process, TooLongError
from grader.processors import processors
from grader.traces import children
from grader.wall import Room

QUICK = Limits(answer=100_000, output=100_000, alone=True)
KILLED = "import os; os.kill(os.getpid(), 9)"
ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
WORK = "import time\nwhile True: pass"
SLEEP = "import time; time.sleep(99)"
LINUX = pytest.mark.skipif(not clock.LINUX, reason="asks /proc, adopts orphans")


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
    with contextlib.ExitStack() as stack:

        def start(code, limits=QUICK, **more):
            process = Process(Open(code, tmp_path / "home"), limits, **more)
            stack.callback(process.end)
            return process

        yield start


def why_stopped(process, seconds=30.0):
    process.until(seconds)
    with pytest.raises(StoppedError) as stopped:
        process.receive()
    return str(stopped.value)


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
        (KILLED, "the system ended it"),
        ("import sys\nwhile True: sys.stderr.write('x' * 999)", "more than 100,000 bytes"),
        (f"import os; os.close(1); {SLEEP}", "it went on, but stopped answering"),
    ],
)
def test_the_reason_for_a_stop_is_reported(start, code, why):
    assert why in why_stopped(start(code))


def test_a_process_that_is_killed_among_others_says_nothing_of_the_submission(start):
    process = start(KILLED, replace(QUICK, alone=False))
    with pytest.raises(NotGradedError, match="no memory left"):
        process.receive()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "told", "error"),
    [
        (WORK, True, TooLongError),
        (f"import signal; signal.signal(15, signal.SIG_IGN); {SLEEP}", True, TooLongError),
        (f"import os; os.close(2); {SLEEP}", True, TooLongError),
        (SLEEP, False, NotGradedError),  # or the machine is busy: who knows?
        (WORK, False, TooLongError),
    ],
)
def test_work_and_sleep_both_count_where_the_system_tells_delays(
    start, monkeypatch, code, told, error
):
    if not told:
        for module in (clock, process_module):
            monkeypatch.setattr(module, "TELLS_DELAYS", False)
    elif not clock.TELLS_DELAYS:
        pytest.skip("this system does not tell delays")
    process = start(code)
    process.until(0.2)
    with pytest.raises(error):
        process.receive()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("code", "busy_at", "says"),
    [
        (SLEEP, 0.2, "the machine was too busy: 0"),
        ("import sys; sys.exit(3)", 99, r"could not be started: it ended .* exit status 3"),
    ],
)
def test_what_says_nothing_of_the_submission_is_no_verdict(start, code, busy_at, says):
    with pytest.raises(NotGradedError, match=says):
        start(code, busy_at=time.monotonic() + busy_at).wait_until_ready()


@pytest.mark.slow
def test_a_program_that_does_not_listen_cannot_make_the_grader_wait(start):
    process = start(SLEEP)
    process.send(b"x" * 10_000_000 + b"\n")
    assert why_stopped(process, 0.2).startswith("it took too long")


def test_a_program_that_reads_no_answers_cannot_fill_the_graders_memory(start):
    process = start(f"for _ in range(9): print(flush=True)\n{SLEEP}")
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


# --- nothing is left ---------------------------------------------------------------------------

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
def test_ten_forks_are_all_ended_with_it_and_other_children_are_left_alone(start, child, parent):
    other = start(f"print(flush=True); {SLEEP}")
    other.receive()
    before = children()
    process = start(FORKS.format(child=child, parent=parent))
    pids = [int(process.receive()) for _ in range(10)]
    assert all(map(is_alive, pids))
    process.end()
    process.end()  # which may be said twice
    assert not any(map(is_alive, pids))
    assert children() == before
    assert is_alive(other._process.pid)


# --- its clock ---------------------------------------------------------------------------------


@contextlib.contextmanager
def running(code, *, times=1):
    """Run Python code in processes, and end them."""
    command = [sys.executable, "-I", "-S", "-c", code]
    started = [subprocess.Popen(command) for _ in range(times)]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


@LINUX
@pytest.mark.slow  # for its neighbors
@pytest.mark.skipif(not clock.TELLS_DELAYS, reason="this system does not tell delays")
def test_waiting_for_a_processor_does_not_count():
    neighbors = 3 * (os.cpu_count() or 1)
    with running(WORK, times=neighbors), running(WORK) as pids:
        it, end = Clock(lambda: pids), time.monotonic() + 20
        while it.read() < 0.3 and time.monotonic() < end:
            time.sleep(0.05)
        assert it.elapsed > 2 * it.read()
        assert it.cpu > it.read() / 2


@pytest.mark.slow
@LINUX
def test_our_own_work_does_not_count():
    with running(SLEEP) as pids:
        it, begun = Clock(lambda: pids), time.process_time()
        while time.process_time() - begun < 0.25:
            pass
        assert it.read() < 0.15


@LINUX
def test_children_are_watched_too():
    # Orphaned by its parent, the child ends with its own.
    fork = f"import os, signal, sys\nif os.fork():\n    {SLEEP}\nsignal.alarm(20)\n{WORK}"
    with running(fork) as (pid,):
        it, end = Clock(lambda: offspring(pid)), time.monotonic() + 20
        while it.cpu < 0.05 and time.monotonic() < end:
            time.sleep(0.05)
            it.read(look=True)
        for child in offspring(pid):
            os.kill(child, 9)
    assert it.cpu >= 0.05


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("0:01.25", 1.25), ("00:00:07", 7), ("61:02.50", 3662.5), ("2-03:04:05", 183845)],
)
def test_the_times_of_ps_are_read(said, seconds):
    assert clock.told_by_ps(f"  17     1 {said}\n") == {17: (1, seconds)}


@pytest.mark.skipif(not os.access("/bin/ps", os.X_OK), reason="there is no ps")
def test_ps_tells_what_proc_tells(monkeypatch):
    monkeypatch.setattr(clock, "LINUX", False)
    parent, cpu = clock.processes()[os.getpid()]
    assert parent == os.getppid()
    assert cpu == pytest.approx(time.process_time(), abs=2)  # ps tells whole seconds


@pytest.mark.parametrize("measure", [time.process_time, Clock().read], ids=["cpu", "clock"])
def test_code_is_stopped_by_a_clock(measure):
    with pytest.raises(TooSlowError), no_longer_than(0.05, measure):
        sum(0 for _ in iter(int, 1))  # never ends


@pytest.mark.slow
def test_code_that_does_not_use_its_time_is_not_stopped():
    with no_longer_than(0.1, time.process_time):
        time.sleep(0.3)


# --- how many at a time ------------------------------------------------------------------------

V2 = "0::/box/inner\n"
V1 = "4:memory:/box\n2:cpu,cpuacct:/box/inner\n0::/\n"


@pytest.mark.parametrize(
    ("own", "files", "found"),
    [
        (V2, {"box/inner/cpu.max": "150000 100000"}, 1),
        (V2, {"box/cpu.max": "400000 100000", "box/inner/cpu.max": "max 100000"}, 4),
        (V2, {"box/cpu.max": "800000 100000", "box/inner/cpu.max": "300000 100000"}, 3),
        (V2, {"cpu.max": "200000 100000"}, 2),  # a container sees its own group as the root
        (V2, {"unified/box/cpu.max": "50000 100000"}, 1),
        (V1, {"cpu,cpuacct/box/cpu.cfs_quota_us": "300000"}, 6),  # without a period
        (V1, {"cpu/box/inner/cpu.cfs_quota_us": "-1"}, 6),
        (V1, {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}, 3),
        ("", {}, 6),
    ],
)
def test_what_a_process_is_bound_to_and_the_quotas_of_its_groups_limit_the_processors(
    tmp_path, monkeypatch, own, files, found
):
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    assert processors(tmp_path / "groups", tmp_path / "own") == found
