"""The traces of a submission: a folder, processes."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Container
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # Linux: orphans of our children become our children


def remove(path: Path) -> None:
    """Remove a file, or a folder of any depth: some paths are too long for the system."""
    with contextlib.suppress(OSError):
        os.rmdir(path)  # nearly always it is empty
        return
    subprocess.run(["rm", "-rf", "--", path], stderr=subprocess.DEVNULL, check=False)


def sweep(spared: Container[int | None]) -> None:
    """End every child process, except some.

    Subtle: meanwhile a submission cannot start a process, because its limit is 0.
    """
    while found := {process for process in children() if process not in spared}:
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)


def adopt_orphans() -> None:
    """Make orphaned processes our children, if the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """Return our child processes; without ``/proc`` none are known."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # already gone
            # pid (name) state parent ...; and a name may hold anything.
            parent = path.read_text(errors="replace").rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                found.add(int(path.parent.name))
    return found
