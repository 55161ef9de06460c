"""What others can reach, and what they leave: a folder, processes."""

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # Linux: orphans of our children become our children


def reachable(path: Path, closed: Sequence[Path]) -> bool:
    """Whether another user can get at a file, once these folders are closed to others."""
    path = path.resolve()
    if any(path.is_relative_to(folder) for folder in closed):
        return False
    return path.stat().st_mode & 0o004 > 0 and all(
        parent.stat().st_mode & 0o001 for parent in path.parents
    )


@contextlib.contextmanager
def closed_to_others(folders: Sequence[Path]) -> Iterator[None]:
    """Close folders to all but their owner, and open them again as they were.

    Who grades with the same folder meanwhile keeps it closed: the last one does not open it, if it
    was closed when they came. That is a nuisance, and no hole.
    """
    with contextlib.ExitStack() as stack:
        for folder in folders:
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, held)
            fcntl.flock(held, fcntl.LOCK_SH)
            mode = os.fstat(held).st_mode & 0o7777
            if mode & 0o077:
                os.fchmod(held, mode & 0o700)
                stack.callback(_open_again, held, mode)
        yield


def _open_again(folder: int, mode: int) -> None:
    with contextlib.suppress(BlockingIOError):  # somebody else needs it closed
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.fchmod(folder, mode)


def remove(path: Path) -> None:
    """Remove a file, or a folder however deep: there are names longer than the system takes."""
    with contextlib.suppress(OSError):
        os.rmdir(path)  # it is empty, nearly always
        return
    subprocess.run(["rm", "-rf", "--", path], stderr=subprocess.DEVNULL, check=False)


# --- processes ---------------------------------------------------------------------------------


def sweep(spared: Container[int], users: Container[int] = ()) -> None:
    """End every process that is ours, but for some, and every one of some users.

    Subtle: nothing of a submission can start a process meanwhile, for it may have none.
    """
    while found := {p for p in children() if p not in spared} | processes_of(users):
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)


def adopt_orphans() -> None:
    """Have processes that lose their parents become ours, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """Return the processes that are ours; where there is no ``/proc``, none are known."""
    return {process for process, fields in _told("stat") if _parent(fields) == os.getpid()}


def processes_of(users: Container[int]) -> set[int]:
    """Return the processes that run as one of these users."""
    return {process for process, fields in _told("status") if users and _user(fields) in users}


def _told(what: str) -> Iterator[tuple[int, str]]:
    """Yield what the system tells of each process."""
    for path in Path("/proc").glob(f"[0-9]*/{what}"):
        with contextlib.suppress(OSError):  # gone again
            yield int(path.parent.name), path.read_text(errors="replace")


def _parent(fields: str) -> int:
    """Read it out of: pid (name) state parent ...; and a name may hold anything."""
    return int(fields.rpartition(")")[2].split()[1])


def _user(fields: str) -> int:
    """Read it out of: Name: ... and a line for each other thing, Uid: real, effective, ..."""
    return int(fields.partition("\nUid:")[2].split()[0])
