"""Who is ended by a signal that nobody can heed leaves nothing behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from processes import PYTHON, assert_it_goes, is_alive, linux, started

from gradcheck_ref.conversation.left_behind import MARK

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
# How it ends: (what it does besides; the signal that ends it, if it does not end by itself)
ENDS = {
    "SIGTERM": ("", "SIGTERM"),
    "SIGHUP": ("", "SIGHUP"),
    "SIGKILL": ("", "SIGKILL"),
    "it heeds no signal": (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)", "SIGKILL"),
    "a process is forked, which stays": ("os.fork()", "SIGKILL"),
    "one is forked, which starts its own": (
        "if not os.fork(): Child(['sleep', '60']), print(os.getpid(), flush=True)", "SIGKILL"),
    "another program takes its place": ("os.execv('/bin/sleep', ['sleep', '60'])", None),
    "it waits for children, and has none": ("child.end(); os.wait()", None),
}  # fmt: skip


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


@linux
@pytest.mark.one_in(8)
@pytest.mark.parametrize("how", ENDS)
def test_who_is_ended_leaves_no_programs_but_those_of_others(how):
    besides, ended_by = ENDS[how]
    program = started(*PYTHON, "input()")
    with program as ours, starting(besides) as (process, grandchild, child, *others):
        if ended_by:
            assert is_alive(grandchild)
            mark = heir_of(child)
            assert heirs(mark) != []
            os.kill(process.pid, getattr(signal, ended_by))
            assert process.wait(5) == -getattr(signal, ended_by)
        assert_it_goes(grandchild)
        assert_it_goes(child)
        assert all(map(is_alive, others))  # who was forked has an heir of its own
        if "waits" in how:
            assert process.wait(5) == 1  # of its end by an error: who cleans up is no child of it
        until = time.monotonic() + 5
        while ended_by and heirs(mark) and time.monotonic() < until:
            time.sleep(0.05)
        assert not ended_by or heirs(mark) == []
        assert is_alive(ours._process.pid)


def heir_of(program):
    """Return the mark of the process that has started a program: the program's own comes last."""
    with open(f"/proc/{program}/environ", "rb") as environment:
        return environment.read().split(MARK.encode() + b"=")[1].split(b"\0")[0].split()[-2]


def heirs(mark):
    """List the processes that were told a mark."""
    found = []
    for folder in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{folder}/cmdline", "rb") as command:
            if mark in command.read().split(b"\0"):
                found.append(int(folder))
    return found
