"""What a program has started and may leave behind, and who ends it: we, or our heir.

On Linux what descends from a program is known by a mark that it has in its environment, in whatever
session it is. It bears two: one of the program, which is ended with it, and one of this process.
When that is gone, be it by a signal that nobody can heed, an heir ends what still bears its mark,
and removes the folders that were made for programs. The heir is a shell that waits for the end of a
pipe which only we hold.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid

MARK = "GRADCHECK_REF_CHILD"  # the variable that has the marks
MEMORY = "/dev/shm"  # where a file is in memory, on Linux
FOLDER = "gradcheck-ref-"  # what comes before the mark in the name of a folder of ours
ROUNDS = 20  # of looking for what bears a mark: it may start others while it is ended
HEIR = r"""
trap '' HUP INT QUIT TERM
exec 3<&0
{
    cat
    for round in 1 2 3 4 5; do
        for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
            process=${file#/proc/}
            kill -9 "${process%/environ}"
        done
        sleep 0.1
    done
    rm -rf "$2$1"* "${TMPDIR:-/tmp}/${2##*/}$1"*
} <&3 3<&- &
"""


def marked(mark: str) -> dict[str, str]:
    """Return the environment of a program, with a mark of its own and that of this process.

    It has those that we bear ourselves as well, so that who started us knows it, too.
    """
    return {**os.environ, MARK: f"{os.environ.get(MARK, '')} {_heir.mark()} {mark}".strip()}


def folder_of_ours(room: int) -> str:
    """Make a folder that only this user can read, and which does not outlast this process.

    It is in memory where there is room for so many bytes, else where temporary files are. Whoever
    made it removes it; if this process is killed, its heir does.
    """
    in_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= room
    where = MEMORY if in_memory else tempfile.gettempdir()
    return tempfile.mkdtemp(prefix=f"{FOLDER}{_heir.mark()}-", dir=where)


def end_marked(mark: str, eldest: int) -> None:
    """End what bears a mark in its environment, wherever it has gone, as far as can be seen."""
    for _ in range(ROUNDS):
        found, unclear = _marked(mark, eldest)
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        if not found and not unclear:
            return
        time.sleep(0.005)


def _marked(mark: str, eldest: int) -> tuple[list[int], bool]:
    """List the processes that bear a mark, and tell whether there are some that may yet show it.

    A child of a child bears the marks of both. While a process begins another program it has an
    empty environment for a moment; only those that are younger than ``eldest`` matter. None are
    found where there is no /proc, as outside of Linux.
    """
    found, unclear = list[int](), False
    folders = os.listdir("/proc") if os.path.isdir("/proc") else []
    for process in map(int, filter(str.isdecimal, folders)):
        with contextlib.suppress(OSError):  # it is another user's, or gone
            with open(f"/proc/{process}/environ", "rb") as environment:
                variables = environment.read().split(b"\0")
            ours = [one for one in variables if one.startswith(f"{MARK}=".encode())]
            if any(mark.encode() in one for one in ours):
                found.append(process)
            elif variables == [b""] and process > eldest:
                os.readlink(f"/proc/{process}/exe")  # of what has ended there is none
                unclear = True
    return found, unclear


class _Heir:
    """Who ends what this process has started, when it is gone; there is one once it is needed."""

    def __init__(self) -> None:
        self._held = -1
        self._begin()

    def _begin(self) -> None:
        self._lock, self._mark = threading.Lock(), ""

    def mark(self) -> str:
        """Return the mark of this process."""
        with self._lock:
            if not self._mark:
                self._mark = uuid.uuid4().hex
                if os.path.isdir("/proc/self"):
                    self._appoint()
            return self._mark

    def _appoint(self) -> None:
        listens, self._held = os.pipe()
        with contextlib.suppress(OSError):  # where there is no shell there is no heir
            subprocess.run(
                ["/bin/sh", "-c", HEIR, "sh", self._mark, f"{MEMORY}/{FOLDER}"],
                stdin=listens,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                check=False,
            )
        os.close(listens)

    def forget(self) -> None:
        """Be no other's: in a process that was forked, which is not to hold what we hold."""
        if self._held >= 0:
            os.close(self._held)
        self._held = -1
        self._begin()


_heir = _Heir()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_heir.forget)
