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


@pytest.mark.parametrize(("size", "event"), [(900, b"x" * 900), (1100, "oversized")])
def test_the_reader_does_not_wait_for_a_line_that_is_too_long(size, event):
    code = f"import os, time; os.write(1, b'x' * {size}); time.sleep(0.3); os.write(1, b'\\n')"
    with started(*PYTHON, code, longest=1000) as child:
        assert child.hear(10) in (event, [event])


LEAVING = """
import os, subprocess, sys
work = "import time; time.sleep({}); print('done', flush=True)"
subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.DEVNULL)
os._exit({})
"""


def test_a_dead_child_is_noticed_while_its_own_child_holds_the_pipe():
    begun = time.monotonic()
    with started(*PYTHON, LEAVING.format(60, 4)) as child:
        assert child.hear(30) == "end"
        assert time.monotonic() - begun < 15
        assert child.exit_text().startswith("ended with status 4")


def test_a_reply_from_the_childs_own_child_is_received():
    with started(*PYTHON, LEAVING.format(0.4, 0)) as child:
        assert child.hear(30) == [b"done"]


@pytest.mark.parametrize("said", ["", "half"])
def test_the_exit_text_quotes_an_unfinished_line(said):
    with started(*PYTHON, f"import os; os.write(1, b'{said}'); os._exit(3)") as child:
        assert child.hear(10) == "end"
        assert child.exit_text() == "ended with status 3" + (
            said and f" in the middle of a line: {said}"
        )


# What a child does to keep something alive: (its code, whether that is possible on Linux only)
ESCAPES = {
    "in its group": "subprocess.Popen(SLEEP)",
    "in its own session": "subprocess.Popen(SLEEP, start_new_session=True)",
    "a daemon": "os.fork() or (os.setsid(), os.fork() or os.execv(SLEEP[0], SLEEP))",
}
ESCAPE = """
import os, subprocess, sys, time
SLEEP = ["/bin/sh", "-c", "echo $$; exec sleep 60"]
{}
time.sleep(60)
"""


@linux
@pytest.mark.parametrize("how", ESCAPES)
def test_ending_a_child_ends_the_processes_it_started(how):
    with started(*PYTHON, ESCAPE.format(ESCAPES[how])) as child:
        process = int(child.hear(10)[0])
        assert is_alive(process)
    assert_it_goes(process)


@linux
def test_ending_a_child_ends_the_children_of_its_own():
    inner = (
        "from gradcheck_ref.conversation.child import Child; "
        "print(Child(['sleep', '60'])._process.pid, flush"
    )
    with started(sys.executable, "-c", f"{inner}=True); input()") as child:
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
