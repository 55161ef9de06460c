"""The wall between a submission and everything else: bubblewrap, as Python cannot build one."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

import gradcheck_ref
from course import HERE, ROOT
from grader import traces

BUBBLEWRAP, NONE = "bubblewrap", "none"

# If root grades, a submission runs as one of these users, because the system does not limit root's
# processes. Usual systems have no names for them; a container of 65,536 users has them.
USERS = range(40_000, 60_000)
TOOLS, HOME = "/tools", "/room"  # their places behind bubblewrap
ROOM_BYTES = 16_000_000  # of the folder that a submission may write to

# The parts of the system that a submission can read, besides Python's own folders.
SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
KEPT = ("LD_LIBRARY_PATH", "NPY_DISABLE_CPU_FEATURES")
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "PYTHONHASHSEED": "0",
    # Each thread of linear algebra would reserve address space, of which there is a limit.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
PYTHON = os.path.realpath(sys.executable)
SITE = Path(numpy.__file__).parents[1]  # the folder that NumPy was installed in


class NoWallError(ValueError):
    """The wall cannot be put up here; the message says why, and what to do."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The grader runs a submission behind bubblewrap, which does not work here: {why} "
            "In a container that holds only the course and the submissions, add --no-wall: the "
            "container is the wall. Elsewhere a submission can then do whatever you can."
        )


@dataclass
class Room:
    """One process of a submission, before it is started."""

    how: dict[str, Any]  # it is started: the arguments for ``subprocess``
    home: Path  # to be removed after it
    forwards_signals: bool = False  # in its exit status


@dataclass(frozen=True)
class Wall:
    """The wall around a submission."""

    name: str  # for every report: "bubblewrap" or "none"
    tools: Path  # the folder of this grading: the files that a submission finds, and its homes
    path: tuple[str, ...]  # where Python looks for modules behind the wall, besides its own
    prefix: tuple[str, ...] = ()  # the command that starts another command behind the wall
    users: Sequence[int] = (0,)  # one of them runs a process; 0 is the user who grades

    def room(self, words: Sequence[object]) -> Room:
        """Prepare one process: Python with these arguments, and its user as the last one."""
        user = random.choice(self.users)
        home = Path(tempfile.mkdtemp(prefix="home-", dir=self.tools / "homes"))
        if user:
            os.chown(home, user, user)
        behind = self.name == BUBBLEWRAP
        there = HOME if behind else str(home)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ} | ENVIRONMENT
        environment |= {"HOME": there, "TMPDIR": there, "PYTHONPATH": os.pathsep.join(self.path)}
        options = ["-s", "-P", "-S", "-B", "-u", "-W", "ignore", *map(str, words), str(user)]
        how = {"args": [*self.prefix, PYTHON, *options], "cwd": home, "env": environment}
        return Room(how, home, behind)


@contextlib.contextmanager
def put_up(hidden: Sequence[Path] = (), *, kind: str = BUBBLEWRAP) -> Iterator[Wall]:
    """Put up a wall for as long as the context lasts, or raise a ``NoWallError``.

    A submission must not see the ``hidden`` folders; the course is always one of them. A wall of
    the kind ``"none"`` hides nothing.
    """
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        tools = Path(folder).resolve()
        lay_out(tools)
        try:
            if kind == NONE:
                yield none(tools)
                return
            hidden = [path.resolve() for path in (ROOT if ROOT.name else HERE, *hidden)]
            yield prove(bubblewrap(tools, hidden), [HERE, *hidden[1:]])
        finally:
            traces.remove(tools / "homes")


def lay_out(tools: Path) -> None:
    """Copy the parts of the course that a submission needs: the worker, and the package."""
    tools.chmod(0o711)
    (tools / "homes").mkdir(mode=0o711)
    lib = tools / "lib"
    (lib / "grader").mkdir(parents=True)
    for name in ("__init__", "clock", "kernel", "wire", "worker"):
        shutil.copy(HERE / "grader" / f"{name}.py", lib / "grader")
    for name in ("effort", "explained"):
        shutil.copy(HERE / f"{name}.py", lib)
    without = shutil.ignore_patterns("vectors", "generate")
    shutil.copytree(Path(gradcheck_ref.__file__).parent, lib / "gradcheck_ref", ignore=without)
    for path in (lib, *lib.rglob("*")):  # readable by other users, whatever the umask is
        path.chmod(0o755 if path.is_dir() else 0o644)


ALWAYS = ("--die-with-parent", "--new-session", "--cap-drop", "ALL")
# As root it needs no user namespace, which many systems refuse; the worker becomes another user
# inside. The first process is bubblewrap's, out of that user's reach. If it ends, all others end.
AS_ROOT = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
)
# Otherwise bubblewrap's process would be within reach: so the worker is the first and only process.
AS_ANYBODY = ("--unshare-all", "--uid", "65534", "--gid", "65534", "--as-pid-1")


def bubblewrap(tools: Path, hidden: Sequence[Path]) -> Wall:
    """Return the wall of namespaces: a system to read, one folder to write, no other process."""
    program, as_root = shutil.which("bwrap"), os.getuid() == 0
    if program is None:
        raise NoWallError("bubblewrap is not installed; where apt is: apt-get install bubblewrap")
    shown: dict[Path, tuple[str, ...]] = {
        Path(path): ("--ro-bind", path) for path in SYSTEM if os.path.exists(path)
    }
    shown |= {p: ("--ro-bind", str(p)) for p in (Path(PYTHON).parents[1], SITE)}
    over = [path for path in hidden if any(path.is_relative_to(p) for p in shown)]
    shown |= {path: ("--tmpfs",) for path in over}
    words = [program, *ALWAYS, *(AS_ROOT if as_root else AS_ANYBODY)]
    words += ["--perms", "1777", "--size", str(ROOM_BYTES), "--tmpfs", HOME]
    for path in sorted(shown):  # a folder comes before the folders in it
        if not any(parent in shown for parent in path.parents):
            for parent in [*path.parents][-2::-1]:  # which other users must be able to pass
                words += ["--perms", "0755", "--dir", str(parent)]
        words += [*shown[path], str(path)]
    words += ["--ro-bind", str(tools / "lib"), TOOLS, "--proc", "/proc", "--dev", "/dev"]
    for read_only in ("/dev", *map(str, over), "/"):
        words += ["--remount-ro", read_only]
    words += ["--chdir", HOME, "--"]
    users = USERS if as_root else (0,)
    return Wall(BUBBLEWRAP, tools, (TOOLS, str(SITE)), tuple(words), users)


def none(tools: Path) -> Wall:
    """Return a wall that holds nothing back. If root grades, use another user if possible."""
    wall = Wall(NONE, tools, (str(tools / "lib"), str(SITE)))
    if os.getuid() == 0:
        with contextlib.suppress(NoWallError):
            return prove(replace(wall, users=USERS), [])
    return wall


PROOF = """
import contextlib, os, sys
*hidden, numpy, user = sys.argv[1:]
from grader import worker
worker.become(int(user))
sys.path_importer_cache.clear()
open(numpy).close()
open(os.__file__).close()
for path in hidden:
    with contextlib.suppress(OSError):
        if os.listdir(path):
            sys.exit(f"{path} can be seen")
"""


def prove(wall: Wall, hidden: Sequence[Path]) -> Wall:
    """Start Python behind a wall, and test that NumPy is there and hidden folders are not."""
    numpy = f"{wall.path[-1]}/numpy/__init__.py"
    room, before = wall.room(["-c", PROOF, *hidden, numpy]), traces.children()
    try:
        done = subprocess.run(**room.how, input="", capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoWallError(str(error)) from None
    finally:
        traces.sweep(before)  # bubblewrap's own
        traces.remove(room.home)
    if done.returncode:
        raise NoWallError((done.stderr.strip().splitlines() or ["it does not start"])[-1])
    return wall
