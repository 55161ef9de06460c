"""The clock of a submission: it counts work and sleep, and stands while the machine is busy."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from grader import clock
from grader.clock import Clock, TooSlowError, no_longer_than, offspring, told_by_ps

LINUX = pytest.mark.skipif(not clock.LINUX, reason="asks /proc")
WORK = "import time\nwhile True: pass"
SLEEP = "import time; time.sleep(99)"


@contextlib.contextmanager
def running(code, *, times=1):
    """Run Python code in processes, and end them."""
    command = [sys.executable, "-I", "-S", "-c", code]
    started = [subprocess.Popen(command) for _ in range(times)]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            for child in offspring(process.pid):
                os.kill(child, signal.SIGKILL)
            process.kill()
            process.wait()


def used(pids, until):
    """Return a clock of these processes, once it has passed a limit, or after 20 seconds."""
    it, end = Clock(lambda: pids), time.monotonic() + 20
    while it.read() < until and time.monotonic() < end:
        time.sleep(0.05)
    return it


@LINUX
@pytest.mark.parametrize(("code", "works"), [(WORK, True), (SLEEP, False)])
def test_work_and_sleep_both_count(code, works):
    with running(code) as pids:
        it = used(pids, until=0.25)
        assert it.read() >= 0.25
        assert (it.cpu > 0.15) is works


@LINUX
@pytest.mark.slow  # for its neighbors
@pytest.mark.skipif(not clock.TELLS_DELAYS, reason="this system does not tell delays")
def test_waiting_for_a_processor_does_not_count():
    neighbors = 3 * (os.cpu_count() or 1)
    with running(WORK, times=neighbors), running(WORK) as pids:
        it = used(pids, until=0.3)
        assert it.elapsed > 2 * it.read()
        assert it.cpu > it.read() / 2


@LINUX
def test_where_delays_are_unknown_a_sleep_counts_in_part(monkeypatch):
    monkeypatch.setattr(clock, "TELLS_DELAYS", False)
    with running(SLEEP) as pids:
        it = used(pids, until=0.2)
        assert it.elapsed == pytest.approx(4 * it.read(), rel=0.3)


@LINUX
def test_our_own_work_does_not_count():
    with running(SLEEP) as pids:
        it, begun = Clock(lambda: pids), time.process_time()
        while time.process_time() - begun < 0.25:
            pass
        assert it.read() < 0.15


@LINUX
def test_children_are_watched_too():
    fork = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {WORK!r}])"
    with running(fork) as (pid,):
        end = time.monotonic() + 20
        while not (found := offspring(pid)) and time.monotonic() < end:
            time.sleep(0.05)
        assert used(found, until=0.1).cpu > 0.05


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("0:01.25", 1.25), ("00:00:07", 7), ("61:02.50", 3662.5), ("2-03:04:05", 183845)],
)
def test_the_times_of_ps_are_read(said, seconds):
    assert told_by_ps(f"  17     1 {said}\n") == {17: (1, seconds)}


@pytest.mark.skipif(not os.access("/bin/ps", os.X_OK), reason="there is no ps")
def test_ps_tells_what_proc_tells(monkeypatch):
    monkeypatch.setattr(clock, "LINUX", False)
    parent, cpu = clock.processes()[os.getpid()]
    assert parent == os.getppid()
    assert cpu == pytest.approx(time.process_time(), abs=2)  # ps tells whole seconds


@pytest.mark.parametrize("measure", [time.process_time, Clock().read], ids=["cpu", "clock"])
def test_code_is_stopped_by_a_clock(measure):
    with pytest.raises(TooSlowError), no_longer_than(0.1, measure):
        sum(0 for _ in iter(int, 1))  # never ends


def test_code_that_does_not_use_its_time_is_not_stopped():
    with no_longer_than(0.1, time.process_time):
        time.sleep(0.7)
