"""End the processes that a program has started and left behind.

On Linux every descendant of a program carries a mark in its environment, in any session. There are
two marks: one for the program, and one for this process. When the program ends, this process ends
everything with the program's mark. When this process ends, even by SIGKILL, an heir ends everything
with its mark, and removes the folders that were made for programs. The heir is a shell that waits
for the end of a pipe which only this process holds.
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

MARK = "GRADCHECK_REF_CHILD"  # the environment variable that holds the marks
MEMORY = "/dev/shm"  # a folder whose files are in memory, on Linux
FOLDER = "gradcheck-ref-"  # the beginning of the name of our folders; the mark follows
ROUNDS = 20  # searches for a mark: a process may start others while it is ended
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
    """Return the environment of a program, with its own mark and the mark of this process.

    It also has the marks that this process inherited, so that our parent can find the program, too.
    """
    return {**os.environ, MARK: f"{os.environ.get(MARK, '')} {_heir.mark()} {mark}".strip()}


def folder_of_ours(room: int) -> str:
    """Make a folder that only this user can read, and that does not outlast this process.

    It is in memory if there is room for so many bytes, otherwise where temporary files are. The
    caller removes it; if this process is killed, its heir does.
    """
    in_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= room
    where = MEMORY if in_memory else tempfile.gettempdir()
    return tempfile.mkdtemp(prefix=f"{FOLDER}{_heir.mark()}-", dir=where)


def end_marked(mark: str, eldest: int) -> None:
    """End every visible process that has a mark in its environment."""
    for _ in range(ROUNDS):
        found, unclear = _marked(mark, eldest)
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        if not found and not unclear:
            return
        time.sleep(0.005)


def _marked(mark: str, eldest: int) -> tuple[list[int], bool]:
    """List the processes that have a mark, and say whether others may still turn out to have it.

    A child of a child has the marks of both. While a process starts another program, its
    environment is empty for a moment; only processes younger than ``eldest`` matter. Without /proc,
    so outside Linux, none are found.
    """
    found, unclear = list[int](), False
    folders = os.listdir("/proc") if os.path.isdir("/proc") else []
    for process in map(int, filter(str.isdecimal, folders)):
        with contextlib.suppress(OSError):  # it is another user's, or has ended
            with open(f"/proc/{process}/environ", "rb") as environment:
                variables = environment.read().split(b"\0")
            ours = [one for one in variables if one.startswith(f"{MARK}=".encode())]
            if any(mark.encode() in one for one in ours):
                found.append(process)
            elif variables == [b""] and process > eldest:
                os.readlink(f"/proc/{process}/exe")  # raises if the process has ended
                unclear = True
    return found, unclear


class _Heir:
    """The shell that ends the children of this process after it; started when it is needed."""

    def __init__(self) -> None:
        self._held = -1
        self.forget()

    def forget(self) -> None:
        """Start afresh in a forked process, which must not hold its parent's pipe open."""
        if self._held >= 0:
            os.close(self._held)
        self._held = -1
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
        with contextlib.suppress(OSError):  # without a shell there is no heir
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


_heir = _Heir()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_heir.forget)
