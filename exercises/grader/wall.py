"""The wall between what is handed in and everything else: the system's, for Python has none.

Of three kinds the first that can be put up is taken: bubblewrap's namespaces; another user, if we
are root; and none, if one insists. Each is tried before anything is graded: Python starts behind
it, NumPy is there, and the course is not.
"""

import contextlib
import fcntl
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from course import HERE, ROOT
from grader import traces

BUBBLEWRAP, OTHER_USER, NONE = "bubblewrap", "another user", "none"

# Users that have no name on the usual systems, and are there in a container of 65,536 of them.
USERS = range(40_000, 60_000)
BLOCK = 1_000  # of them for a grader
TOOLS, HOME = "/tools", "/room"  # where they are behind bubblewrap
ROOM_BYTES = 16_000_000  # of a folder to write into

# What of the system is there, besides Python's own folders.
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


class NoWallError(Exception):
    """No wall can be put up here; it says why, of each."""


@dataclass
class Room:
    """What one process of a submission is given, and what has to be cleared away after it."""

    command: list[str]
    home: Path
    environment: dict[str, str]
    user: int = 0
    forwards_signals: bool = False  # in its exit status

    def leave(self) -> None:
        """Remove what it leaves behind."""
        traces.remove(self.home)


@dataclass
class Wall:
    """What a submission is put behind.

    Attributes
    ----------
    name : str
        For every report: ``"bubblewrap"``, ``"another user"`` or ``"none"``.
    tools : Path
        The folder of this grading: what a submission finds, and the homes.
    prefix : tuple of str
        The command that starts another behind the wall.
    python : str
        The interpreter there.
    path : tuple of str
        Where it looks for modules, besides its own.
    users : tuple of int
        Whom the processes run as, each as the next; none if they run as we do.
    """

    name: str
    tools: Path
    prefix: tuple[str, ...] = ()
    python: str = sys.executable
    path: tuple[str, ...] = ()
    users: Sequence[int] = ()
    _rooms: int = field(default=0, compare=False)

    def room(self, limits: Sequence[int]) -> Room:
        """Prepare for one process of a submission."""
        user = self.users[self._rooms % len(self.users)] if self.users else 0
        self._rooms += 1
        home = Path(tempfile.mkdtemp(prefix="home-", dir=self.tools / "homes"))
        if user:
            os.chown(home, user, user)
        there = HOME if self.name == BUBBLEWRAP else str(home)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ} | ENVIRONMENT
        environment |= {"HOME": there, "TMPDIR": there, "PYTHONPATH": os.pathsep.join(self.path)}
        environment["MPLCONFIGDIR"] = there  # or a plot's library, imported idly, wants to make one
        words = ["-m", "grader.worker", str(user), *map(str, limits)]
        return Room(self.starts(words), home, environment, user, self.name == BUBBLEWRAP)

    def starts(self, words: Sequence[str]) -> list[str]:
        """Return the command that starts Python with these words."""
        options = ["-s", "-P", "-S", "-B", "-u", "-W", "ignore"]
        return [*self.prefix, self.python, *options, *words]

    def share(self, slot: int, slots: int) -> "Wall":
        """Return the wall for one of several that grade at a time: each has users of its own."""
        return replace(self, users=self.users[slot::slots])


@contextlib.contextmanager
def put_up(hidden: Sequence[Path] = (), *, kinds: Sequence[str] = ()) -> Iterator[Wall]:
    """Put up a wall for as long as the context lasts.

    Parameters
    ----------
    hidden : sequence of Path
        Folders of which a submission must see nothing; the course is one of them always.
    kinds : sequence of str
        Which walls will do; by default bubblewrap, and then another user.

    Raises
    ------
    NoWallError
        If none of them can be put up.
    """
    hidden = [path.resolve() for path in (ROOT if ROOT.name else HERE, *hidden)]
    refusals = []
    with ExitStack() as end, tempfile.TemporaryDirectory(prefix="grading-") as folder:
        tools = Path(folder).resolve()
        end.callback(traces.remove, tools / "homes")
        lay_out(tools)
        for kind in kinds or (BUBBLEWRAP, OTHER_USER):
            for build in BUILDERS[kind]:
                with ExitStack() as stack:
                    try:
                        wall = stack.enter_context(build(tools, hidden))
                        prove(wall, hidden)
                    except (NoWallError, OSError) as error:
                        refusals.append(f"{kind}: {error}")
                        continue
                    yield wall
                    return
        raise NoWallError("\n".join(refusals))


def lay_out(tools: Path) -> None:
    """Copy what a submission needs of the course: the worker, and the package without answers."""
    tools.chmod(0o711)
    (tools / "homes").mkdir(mode=0o711)
    lib = tools / "lib"
    (lib / "grader").mkdir(parents=True)
    for name in ("__init__", "wire", "worker"):
        shutil.copy(HERE / "grader" / f"{name}.py", lib / "grader")
    without = shutil.ignore_patterns("vectors", "generate")
    shutil.copytree(home_of("gradcheck_ref"), lib / "gradcheck_ref", ignore=without)
    for path in (lib, *lib.rglob("*")):  # whatever one's umask is, it is for others
        path.chmod(0o755 if path.is_dir() else 0o644)


def home_of(package: str) -> Path:
    """Return the folder of a package, without importing it."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def site() -> Path:
    """Return the folder that NumPy was installed in."""
    return home_of("numpy").parent


# --- bubblewrap --------------------------------------------------------------------------------

# As root it needs no namespace for users, and the worker becomes another user inside. Where a
# container refuses that, and for everybody else, there is one.
AS_ROOT = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
)
AS_ANYBODY = ("--unshare-all", "--cap-drop", "ALL", "--uid", "65534", "--gid", "65534")


@contextlib.contextmanager
def bubblewrap(
    tools: Path, hidden: Sequence[Path], *, options: Sequence[str], as_root: bool
) -> Iterator[Wall]:
    """Put up namespaces: a system to read, a folder of its own, and nobody else."""
    program = shutil.which("bwrap")
    if program is None:
        raise NoWallError("it is not installed; where apt is: apt-get install bubblewrap")
    if as_root and os.getuid() != 0:
        raise NoWallError("you are not root")
    python = os.path.realpath(sys.executable)
    shown: dict[Path, tuple[str, ...]] = {
        Path(path): ("--ro-bind", path) for path in SYSTEM if os.path.exists(path)
    }
    shown |= {p: ("--ro-bind", str(p)) for p in (Path(python).parents[1], site())}
    shown |= {path: ("--tmpfs",) for path in hidden if any(path.is_relative_to(p) for p in shown)}
    words = [program, "--die-with-parent", "--new-session", *options]
    for own in ("/tmp", HOME):
        words += ["--perms", "1777", "--size", str(ROOM_BYTES), "--tmpfs", own]
    for path in sorted(shown):  # what lies in another comes after it
        if not any(parent in shown for parent in path.parents):
            for parent in [*path.parents][-2::-1]:  # through which others must get
                words += ["--perms", "0755", "--dir", str(parent)]
        words += [*shown[path], str(path)]
    words += ["--ro-bind", str(tools / "lib"), TOOLS, "--proc", "/proc", "--dev", "/dev"]
    words += ["--remount-ro", "/", "--chdir", HOME, "--"]
    with some_users() if as_root else contextlib.nullcontext(()) as users:
        yield Wall(BUBBLEWRAP, tools, tuple(words), python, (TOOLS, str(site())), users)


@contextlib.contextmanager
def some_users() -> Iterator[Sequence[int]]:
    """Take users that no other grader on this machine has: all that they run is ended at the end.

    Raises
    ------
    NoWallError
        If there are none left.
    """
    blocks = [USERS[i : i + BLOCK] for i in range(0, len(USERS), BLOCK)]
    places = "/run" if os.access("/run", os.W_OK) else tempfile.gettempdir()
    for block in random.sample(blocks, len(blocks)):
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        held = os.open(f"{places}/grading-users-{block[0]}", flags, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield block
            return
        except BlockingIOError:
            continue
        finally:
            os.close(held)
    raise NoWallError("too many grade at a time")


# --- another user ------------------------------------------------------------------------------


@contextlib.contextmanager
def another_user(tools: Path, hidden: Sequence[Path]) -> Iterator[Wall]:
    """Have each process be a user of its own, and close to others what they must not see."""
    if os.getuid() != 0:
        raise NoWallError("you are not root")
    interpreters = [os.path.realpath(sys.executable), *same_pythons()]
    open_to_them = [p for p in interpreters if traces.reachable(Path(p), hidden)]
    if not open_to_them:
        raise NoWallError(f"others cannot reach {interpreters[0]}, and there is no other like it")
    path = [str(tools / "lib")]
    if traces.reachable(site() / "numpy", hidden):
        path.append(str(site()))
    else:  # a virtual environment inside of the course, say
        ignored = shutil.ignore_patterns("tests", "*.pyi")  # bytecode saves half of a start
        for package in site().glob("numpy*"):
            if package.is_dir() and package.suffix != ".dist-info":
                shutil.copytree(package, tools / "lib" / package.name, ignore=ignored)
    with traces.closed_to_others(hidden), some_users() as users:
        yield Wall(OTHER_USER, tools, (), open_to_them[0], tuple(path), users)


def same_pythons() -> Iterator[str]:
    """Find the system's Python, if it is of our version: NumPy fits no other."""
    name = f"python3.{sys.version_info.minor}"
    for folder in ("/usr/local/bin", "/usr/bin"):
        if os.access(f"{folder}/{name}", os.X_OK):
            yield os.path.realpath(f"{folder}/{name}")


# --- none --------------------------------------------------------------------------------------


@contextlib.contextmanager
def none(tools: Path, hidden: Sequence[Path]) -> Iterator[Wall]:
    """Put up nothing: a submission can do whatever the one who grades can."""
    python = os.path.realpath(sys.executable)
    yield Wall(NONE, tools, (), python, (str(tools / "lib"), str(site())))


Builder = Callable[[Path, Sequence[Path]], AbstractContextManager[Wall]]


def _bubblewrap(options: Sequence[str], *, as_root: bool) -> Builder:
    return lambda tools, hidden: bubblewrap(tools, hidden, options=options, as_root=as_root)


BUILDERS: dict[str, tuple[Builder, ...]] = {
    BUBBLEWRAP: (_bubblewrap(AS_ROOT, as_root=True), _bubblewrap(AS_ANYBODY, as_root=False)),
    OTHER_USER: (another_user,),
    NONE: (none,),
}

# --- the proof ---------------------------------------------------------------------------------

PROOF = """
import os, sys
user, wall, numpy, *hidden = sys.argv[1:]
from grader import worker
worker.become(int(user))
if wall != "none":
    worker.forgo()
sys.path_importer_cache.clear()
open(numpy).close()
for path in hidden:
    try:
        os.listdir(path)
    except OSError:
        continue
    sys.exit(f"{path} can be seen")
"""


def prove(wall: Wall, hidden: Sequence[Path]) -> None:
    """Start Python behind a wall: NumPy is there, what is to be hidden is not, calls are refused.

    Raises
    ------
    NoWallError
        If that is not so.
    """
    room, before = wall.room([]), traces.children()
    numpy = f"{wall.path[-1]}/numpy/__init__.py"
    unseen = [] if wall.name == NONE else [HERE, *hidden[1:]]
    words = ["-c", PROOF, str(room.user), wall.name, numpy, *map(str, unseen)]
    try:
        done = subprocess.run(
            wall.starts(words),
            cwd=room.home,
            env=room.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoWallError(str(error)) from None
    finally:
        traces.sweep(before)  # bubblewrap's own
        room.leave()
    if done.returncode:
        raise NoWallError((done.stderr.strip().splitlines() or ["it does not start"])[-1])
