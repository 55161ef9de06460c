"""What a submission may not do while it is graded: read the course, write, start programs.

It is told so by a ``PermissionError``. Python's audit hooks see these things whoever does them, and
cannot be taken off again. They are no wall against somebody who is at home in the interpreter: see
``docs/exercises/submissions.md``.
"""

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

EVENTS = {
    "start other programs": "os.fork os.forkpty os.exec os.posix_spawn os.spawn os.system "
    "os.startfile subprocess.Popen pty.spawn",
    "send signals": "os.kill os.killpg",
    "change files or folders": "os.mkdir os.remove os.rmdir os.rename os.link os.symlink "
    "os.truncate os.chmod os.chown os.utime os.setxattr os.removexattr",
    "use the network": "socket.bind socket.connect socket.sendto socket.sendmsg "
    "socket.getaddrinfo socket.gethostbyname",
    # With these one walks around any guard: foreign functions, and every object there is.
    "call foreign functions": "ctypes.dlsym ctypes.dlsym/handle",
    "list all objects": "gc.get_objects gc.get_referrers gc.get_referents",
}
FORBIDDEN = MappingProxyType(
    {event: what for what, events in EVENTS.items() for event in events.split()}
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def identities(folders: Iterable[Path]) -> frozenset[tuple[int, int]]:
    """Return what the system knows the files in these folders by, whatever path leads to them.

    Links are not followed: a link that is handed in would hide a file that others need.
    """
    found = set()
    waiting = list(map(os.fspath, folders))
    while waiting:  # quicker than rglob; of a class there are thousands of files, at every start
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    file = entry.stat(follow_symlinks=False)
                    found.add((file.st_dev, file.st_ino))
    return frozenset(found)


def put_up(out_of_reach: Iterable[Path]) -> None:
    """Guard this process, from now on and for good.

    Parameters
    ----------
    out_of_reach : iterable of Path
        Folders whose files cannot be read any more.
    """
    processes = Path("/proc")

    # Subtle: all that it uses is in its own defaults, and cannot be changed. The names of a module
    # or of a function around it can be given another meaning by the code that is watched.
    def hook(
        event: str,
        arguments: tuple[Any, ...],
        *,
        forbidden: Mapping[str, str] = FORBIDDEN,
        hidden: frozenset[tuple[int, int]] = identities(out_of_reach),
        others: int | None = processes.stat().st_dev if processes.exists() else None,
        writing: int = WRITING,
        refusal: type[Exception] = PermissionError,
        look: Any = os.stat,
        absent: type[Exception] = OSError,
        is_folder: Any = stat.S_ISDIR,
        is_a: Any = isinstance,
        number: type = int,
    ) -> None:
        if event in forbidden:
            raise refusal(f"a submission may not {forbidden[event]} while it is graded ({event})")
        if event != "open" or is_a(arguments[0], number):
            return
        path, _, flags = arguments
        if flags & writing and path != "/dev/null":
            raise refusal(f"a submission may not write while it is graded: {path!r}")
        try:
            found = look(path)
        except absent:  # there is no such file, and open will say so
            return
        if (
            (found.st_dev, found.st_ino) in hidden
            or found.st_dev == others
            or is_folder(found.st_mode)
        ):
            raise refusal(f"a submission may not read this while it is graded: {path!r}")

    sys.addaudithook(hook)
