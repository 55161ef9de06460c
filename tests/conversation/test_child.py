"""A child that is started is spoken to in lines, however long, and nothing of it is left behind."""

import os
import signal
import sys
import time

import pytest
from processes import PYTHON, assert_it_goes, is_alive, linux, started

from gradcheck_ref.conversation.child import Child, stopped_by_signals
from gradcheck_ref.conversation.left_behind import MARK


def test_lines_of_megabytes_are_sent_both_ways():
    echo = "for line in __import__('sys').stdin: print(line, end='', flush=True)"
    with started(*PYTHON, echo, longest=10**7) as child:
        long = b"x" * (3 * 10**6)
        child.say(long + b"\nshort\n")
        lines = child.hear(10)
        while len(lines) < 2:
            lines += child.hear(10)
        assert lines == [long, b"short"]


# A program whose own child lives on for so many seconds; then it ends with a status.
LEAVING = """
import os, subprocess, sys
work = "import time; time.sleep({}); print('done', flush=True)"
subprocess.Popen([*{}, work], stdin=subprocess.DEVNULL)
os._exit({})
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "status", "heard"), [(60, 4, "end"), (0.3, 0, [b"done"])], ids=["long", "short"]
)
def test_of_a_dead_child_whose_own_child_holds_the_pipe_all_is_heard(seconds, status, heard):
    begun = time.monotonic()
    with started(*PYTHON, LEAVING.format(seconds, PYTHON, status)) as child:
        assert child.hear(30) == heard
        assert time.monotonic() - begun < 15
        assert heard != "end" or child.exit_text().startswith(f"ended with status {status}")


# What a child does to keep something alive.
ESCAPES = {
    "in its group": "subprocess.Popen(SLEEP)",
    "in its own session": "subprocess.Popen(SLEEP, start_new_session=True)",
    "a daemon": "os.fork() or (os.setsid(), os.fork() or os.execv(SLEEP[0], SLEEP))",
    "a child of its own": (
        "from gradcheck_ref.conversation.child import Child; "
        "own = Child(SLEEP); print(own.hear(10)[0].decode(), flush=True)"
    ),
}
ESCAPE = """
import os, subprocess, sys, time
SLEEP = ["/bin/sh", "-c", "echo $$; exec sleep 60"]
{}
time.sleep(60)
"""


@linux
@pytest.mark.one_in(4)
@pytest.mark.parametrize("how", ESCAPES)
def test_ending_a_child_ends_the_processes_it_started(how):
    with started(sys.executable, "-c", ESCAPE.format(ESCAPES[how])) as child:
        process = int(child.hear(30)[0])
        assert is_alive(process)
    assert_it_goes(process)


@linux
def test_ending_a_child_leaves_other_children_running(monkeypatch):
    with started(*PYTHON, "input()") as other:
        Child([*PYTHON, "input()"]).end()
        assert other.hear(0.05) == "silence"
    assert MARK not in os.environ


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs the signals of POSIX")
def test_a_signal_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            os.kill(os.getpid(), signal.SIGHUP)  # as the terminal does to what nohup has started
    finally:
        signal.signal(signal.SIGHUP, before)
