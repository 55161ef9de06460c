"""Who is ended by a signal that nobody can heed leaves nothing behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from processes import PYTHON, assert_it_goes, is_alive, linux, started

# It starts a program, which starts another in a session of its own, and tells of both.
STARTS = """
import os, sys, time
from gradcheck_ref.conversation.child import Child
program = "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)"
child = Child([sys.executable, "-I", "-S", "-u", "-c", program + "; import time; time.sleep(60)"])
print(child.hear(10)[0].decode(), child._process.pid, flush=True)
{}
time.sleep(60)
"""
# What it does besides, before it is ended.
BESIDES = {
    "nothing": "",
    "it heeds no signal": "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "a process is forked, which stays": "os.fork()",
    "one is forked, which starts its own": (
        "if not os.fork(): Child(['sleep', '60']), print(os.getpid(), flush=True)"
    ),
    "another program takes its place": "os.execv('/bin/sleep', ['sleep', '60'])",
}


@contextlib.contextmanager
def starting(besides=""):
    """Start it, yield its process and those that it tells of, and end it and what it has forked."""
    code = STARTS.format(besides)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        lines = [process.stdout.readline() for _ in range(1 + ("print" in besides))]
        yield process, *(int(word) for line in lines for word in line.split())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.one_in(3)
@linux
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_process_ended_by_a_signal_leaves_no_programs(name):
    with starting() as (process, *programs):
        assert all(map(is_alive, programs))
        os.kill(process.pid, getattr(signal, name))
        for program in programs:
            assert_it_goes(program)
        assert process.wait(5) == -getattr(signal, name)


@linux
@pytest.mark.one_in(2)
@pytest.mark.parametrize("what", BESIDES)
def test_a_killed_process_leaves_no_programs_in_any_situation(what):
    with starting(BESIDES[what]) as (process, grandchild, child, *others):
        if "place" not in what:
            assert is_alive(grandchild)
            os.kill(process.pid, signal.SIGKILL)
        assert_it_goes(grandchild)
        assert_it_goes(child)
        assert all(map(is_alive, others))  # who was forked has an heir of its own


@linux
@pytest.mark.slow
def test_a_killed_process_leaves_the_programs_of_others_running():
    with started(*PYTHON, "input()") as other, starting() as (process, program, _):
        os.kill(process.pid, signal.SIGKILL)
        assert_it_goes(program)
        time.sleep(0.2)
        assert is_alive(other._process.pid)


@linux
def test_the_cleanup_process_is_not_a_child_and_ends_soon_after():
    code = STARTS.format(
        "child.end()\ntry: os.wait()\nexcept ChildProcessError: print(child._mark, flush=True)"
        "\nimport gradcheck_ref.conversation.left_behind as it; print(it._heir.mark(), flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        words = [process.stdout.readline().split() for _ in range(3)]
        mark = words[2][0]
        assert len(heirs(mark)) >= 1
        process.kill()
    until = time.monotonic() + 5
    while heirs(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert heirs(mark) == []


def heirs(mark):
    """List the processes that were told a mark."""
    found = []
    for folder in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{folder}/cmdline", "rb") as command:
            if mark in command.read().split(b"\0"):
                found.append(int(folder))
    return found
