"""The time that a submission takes for itself, on a machine that may be busy with other work.

Elapsed time depends on the neighbors, and processor time does not show a submission that sleeps.
This clock counts the time on a processor, and the time spent waiting for anything else. It stands
while the submission, or the grader, is ready to run and has no processor.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

POLL = 0.5  # seconds: how long a limit can be passed before that is noticed
LINUX = Path("/proc/self/stat").exists()
# Linux says how long a process was ready to run and had no processor. Other systems do not, so a
# process that sleeps looks like one that is kept waiting: there a second of it counts as a quarter.
try:
    TELLS_DELAYS = not Path("/proc/self/schedstat").read_bytes().startswith(b"0 ")  # 0: not counted
except OSError:
    TELLS_DELAYS = False
UNKNOWN = 0.25
TICK = 1 / os.sysconf("SC_CLK_TCK") if LINUX else 0.0


class Clock:
    """The seconds that processes have used since this clock was made.

    ``find`` returns the processes; their number can change, so a reading can ``look`` again.
    Without it the clock is about this process. Otherwise the work of this process, the grader,
    does not count: meanwhile the submission waits for an answer.
    """

    def __init__(self, find: Callable[[], Iterable[int]] | None = None) -> None:
        self._find = find
        self._watched = [*find()] if find else []
        self._delays: dict[int, float] = {}  # also of processes that have ended
        self.cpu = 0.0  # the part on a processor
        self._begun = self._totals()

    @property
    def elapsed(self) -> float:
        """The seconds that have passed."""
        return time.monotonic() - self._begun[0]

    def read(self, *, look: bool = False) -> float:
        """Return the seconds used so far."""
        if look and self._find:
            self._watched = [*self._find()]
        elapsed, cpu, ours, delays = (
            now - before for now, before in zip(self._totals(), self._begun, strict=True)
        )
        self.cpu = max(self.cpu, cpu)  # of a process that has ended, the system may say nothing
        idle = max(elapsed - self.cpu - ours - delays, 0.0)
        return self.cpu + idle * (1.0 if TELLS_DELAYS else UNKNOWN)

    def _totals(self) -> tuple[float, float, float, float]:
        """Return the time now, processor time of the watched and of us, and all delays."""
        now, ours = time.monotonic(), time.process_time()
        for process in (0, *filter(has_our_rank, self._watched)):
            # How long it was ready to run and had no processor.
            with contextlib.suppress(OSError, IndexError):  # it has ended, or nothing says so
                text = Path(f"/proc/{process or 'self'}/schedstat").read_bytes()
                self._delays[process] = int(text.split()[1]) * 1e-9
        delays = sum(self._delays.values())
        if not self._find:
            return now, ours, 0.0, delays
        return now, sum(used for _, used in processes(self._watched).values()), ours, delays


def has_our_rank(process: int) -> bool:
    """Whether a process goes before others as we do; delays after a ``nice`` are its own choice."""
    with contextlib.suppress(OSError, AttributeError):  # it has ended, or this is another system
        ours, its = (
            (os.getpriority(os.PRIO_PROCESS, number), os.sched_getscheduler(number))
            for number in (0, process)
        )
        return ours == its
    return False


def processes(wanted: Iterable[int] | None = None) -> dict[int, tuple[int, float]]:
    """Return the parent of each process, and its processor time with that of ended children."""
    if not LINUX:
        told = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,time="], capture_output=True, text=True
        )
        return told_by_ps(told.stdout)
    if wanted is None:
        wanted = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    found = {}
    for process in wanted:
        with contextlib.suppress(OSError):  # it has ended
            # pid (name) state parent ...; and a name may hold anything.
            text = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2]
            fields = text.split()
            found[process] = int(fields[1]), sum(map(int, fields[11:15])) * TICK
    return found


def told_by_ps(text: str) -> dict[int, tuple[int, float]]:
    """Read lines such as ``17 1 1-02:03:04.56``: process, parent, days, hours, minutes, seconds."""
    found = {}
    for process, parent, spent in map(str.split, text.splitlines()):
        days, _, rest = spent.rpartition("-")
        *hours, minutes, seconds = map(float, rest.split(":"))
        whole = (float(days or 0) * 24 + sum(hours)) * 60 + minutes
        found[int(process)] = int(parent), whole * 60 + seconds
    return found


def offspring(ancestor: int, spared: Iterable[int] = ()) -> set[int]:
    """Return the processes that one has started, and those that they have started."""
    parents = {process: parent for process, (parent, _) in processes().items()}
    found: set[int] = set()
    new = {ancestor}
    while new:
        new = {p for p, parent in parents.items() if parent in new} - found - {*spared}
        found |= new
    return found


class TooSlowError(BaseException):
    """Code takes more than its share of the time; ``except Exception`` does not stop it."""


@contextlib.contextmanager
def no_longer_than(seconds: float, clock: Callable[[], float]) -> Iterator[None]:
    """Raise ``TooSlowError`` in the main thread when a clock has gone on for so long."""
    end = clock() + seconds

    def look(*_: object) -> None:
        left = end - clock()
        if left <= 0:
            raise TooSlowError("it took too long: is there an endless loop?")
        signal.setitimer(signal.ITIMER_REAL, max(min(left, POLL), 0.01))

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, max(min(seconds, POLL), 0.01))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def wait_for_a_processor(most: float) -> None:
    """Wait until a short calculation takes hardly longer than its processor time."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        begun, used = time.monotonic(), time.process_time()
        while time.process_time() - used < 0.05:
            pass
        if time.monotonic() - begun < 0.075:
            return
        time.sleep(1)
