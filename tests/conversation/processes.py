"""What tests of processes share: a Python that starts quickly, and whether a process is alive."""

import contextlib
import sys
import time

import pytest

from gradcheck_ref.conversation.child import Child

PYTHON = [sys.executable, "-I", "-S", "-c"]
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@contextlib.contextmanager
def started(*command, **limits):
    """Start a program, and end it."""
    child = Child(command, **limits)
    try:
        yield child
    finally:
        child.end()


def is_alive(process):
    """Tell whether a process is there, and no zombie of somebody else's."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            content = stat.read()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return content.rsplit(")", 1)[1].split()[0] != "Z"


def assert_it_goes(process):
    """Wait until a process is gone, which was ended."""
    until = time.monotonic() + 5
    while is_alive(process) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_alive(process)
