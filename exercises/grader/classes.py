"""Grade a class: several submissions at a time, whatever one of them does, and resume later."""

import contextlib
import multiprocessing
import re
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path

from course import Exercise, StoppedError
from grader import traces
from grader.limits import START_SECONDS, Limits
from grader.report import GradedExercise, Report, clean_name, software
from grader.wall import Wall

POLITE_SECONDS = 2.0  # for a process to clean up, before it is killed


def submissions(folder: Path) -> list[Path]:
    """Return the submissions of a class: the folders in its folder, by name.

    Folders that a program left behind, such as ``.git`` and ``__MACOSX``, do not count.
    """
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() and not path.is_symlink() and not path.name.startswith((".", "__"))
    )


# Canvas names files ada_LATE_17_2345_06_relu-1.py, where 1 is the number of the resubmission.
# Browsers add a number, too: 06_relu (1).py was downloaded a second time.
COLLECTED = re.compile(
    r"(?P<who>.+?_\d+)(?:_\d+)*_(?P<name>\d\d_[a-z_]+)"
    r"(?:(?:-| ?\()(?P<nth>\d+)\)?)?(?P<end>\.py|\.ipynb)",
    re.IGNORECASE,
)


def sort_collected(folder: Path, into: Path) -> list[str]:
    """Copy files from one folder into a folder for each student; name the files left out."""
    left_out = []
    files = [path for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    parted = [(path, COLLECTED.fullmatch(path.name)) for path in files]
    for path, part in sorted(parted, key=lambda pair: int(pair[1]["nth"] or 0) if pair[1] else 0):
        if part:
            who = re.sub("_LATE(?=_)", "", part["who"], flags=re.IGNORECASE)
            student = into / (f"{who} (files)" if (folder / who).exists() else who)
            student.mkdir(exist_ok=True)
            shutil.copy2(path, student / f"{part['name']}{part['end']}")
        elif path.suffix in (".py", ".ipynb"):
            left_out.append(path.name)
    return sorted(left_out)


@dataclass(frozen=True)
class Task:
    """The settings for grading a class.

    Attributes
    ----------
    exercises : tuple of Exercise
        The exercises to hand in.
    wall : Wall
        The wall around each submission.
    limits : Limits
        The limits of each file.
    seconds : float
        The time limit of a submission, by the clock of the main process.
    jobs : int
        How many are graded at a time.
    """

    exercises: tuple[Exercise, ...]
    wall: Wall
    limits: Limits
    seconds: float
    jobs: int


def grade_class(folders: Sequence[Path], task: Task) -> Iterator[tuple[Path, Report]]:
    """Grade submissions, several at a time, each as soon as a process is free.

    If a process dies, or takes too long, only its submission is lost, and the process is replaced.

    Yields
    ------
    (Path, Report)
        Each folder and its report, in the order in which they are ready.
    """
    traces.adopt_orphans()
    resource_tracker.ensure_running()  # a child of this process, not of a submission
    before = traces.children()
    waiting = list(reversed(folders))
    markers = [Marker(task) for _ in range(min(task.jobs, len(folders)))]
    try:
        while waiting or any(marker.folder for marker in markers):
            for i, marker in enumerate(markers):
                if waiting and marker.ended:
                    markers[i] = Marker(task)
                if waiting and not markers[i].folder:
                    markers[i].begin(waiting.pop())
            for marker, heard in _heard(markers):
                folder = marker.folder
                assert folder is not None
                try:
                    report = marker.report(heard=heard)
                except StoppedError as stop:
                    marker.kill()
                    others = {m.process.pid for m in markers if m.process.pid} | before
                    traces.sweep(others)  # processes that its submissions have started
                    report = marker.lost(folder, str(stop))
                if report:
                    yield folder, report
    finally:
        for marker in markers:
            marker.stop()
        for marker in markers:
            marker.end()
        traces.sweep(before)


def _heard(markers: Sequence["Marker"]) -> Iterator[tuple["Marker", bool]]:
    """Wait until a process answers, or the time of one is over."""
    busy = [marker for marker in markers if marker.folder]
    if not busy:
        return
    soonest = min(marker.deadline for marker in busy)
    answers = wait([m.connection for m in busy], max(soonest - time.monotonic(), 0))
    for marker in busy:
        if marker.connection in answers or time.monotonic() >= marker.deadline:
            yield marker, marker.connection in answers


class Marker:
    """One of the processes that grade, seen from the main process."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.folder: Path | None = None
        self.deadline = 0.0
        self.ended = False
        self.without_points: tuple[GradedExercise, ...] = ()  # once it is ready
        spawned = multiprocessing.get_context("spawn")  # it shares nothing with this process
        self.connection, theirs = spawned.Pipe()
        self.process = spawned.Process(target=_mark, args=(theirs, task))
        # From the first moment on, Ctrl-C is for the main process only.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self.process.start()
        finally:
            signal.signal(signal.SIGINT, before)
        theirs.close()

    def begin(self, folder: Path) -> None:
        """Give it a submission."""
        self.folder = folder
        self.deadline = time.monotonic() + self.task.seconds
        if not self.without_points:
            self.deadline += START_SECONDS
        with contextlib.suppress(OSError):  # it has died; the main process will notice
            self.connection.send(folder)

    def report(self, *, heard: bool) -> Report | None:
        """Return the report on its submission; None if it says that it is ready.

        Raises
        ------
        StoppedError
            If it does not answer: kill it, and start another one.
        """
        if not heard:
            raise StoppedError(f"grading it took longer than {self.task.seconds:g} seconds in all")
        try:
            heard_of = self.connection.recv()
        except (EOFError, OSError):
            raise StoppedError("the process that graded it ended for an unknown reason") from None
        if isinstance(heard_of, Report):
            self.folder = None
            return heard_of
        self.without_points = heard_of
        self.deadline = time.monotonic() + self.task.seconds
        return None

    def lost(self, folder: Path, problem: str) -> Report:
        """Return the report on a submission that could not be graded.

        Raises
        ------
        ValueError
            If nothing can be graded: the process has not even loaded the checks.
        """
        if not self.without_points:
            raise ValueError(f"the checks cannot be loaded: {problem}")
        exercises = tuple(
            replace(
                exercise,
                problem=problem,
                failed=True,
                checks=tuple(replace(check, message=problem) for check in exercise.checks),
            )
            for exercise in self.without_points
        )
        return Report(
            clean_name(folder.name),
            exercises,
            self.task.wall.name,
            software=software(self.task.exercises),
        )

    def stop(self) -> None:
        """Ask it to end: between two submissions it learns that there are no more."""
        self.connection.close()
        if self.folder:
            self.process.terminate()

    def end(self) -> None:
        """Wait for it to end, but not for long."""
        self.process.join(POLITE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill it."""
        self.connection.close()
        self.process.kill()
        self.process.join()
        self.folder, self.ended = None, True


class StopMarking(BaseException):
    """The main process stops grading; no check may catch this."""


def _mark(connection: Connection, task: Task) -> None:
    """Grade submissions until there are no more."""

    def stop(*_: object) -> None:
        raise StopMarking

    signal.signal(signal.SIGTERM, stop)
    with contextlib.suppress(StopMarking, EOFError, BrokenPipeError):
        try:
            _mark_until_stopped(connection, task)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is already ending


def _mark_until_stopped(connection: Connection, task: Task) -> None:
    from grader.grading import grade, load_checks  # the main process does not need it

    exercises = load_checks(task.exercises)
    connection.send(tuple(loaded.without_points("") for loaded in exercises))  # it is ready
    while True:
        connection.send(grade(connection.recv(), exercises, task.wall, task.limits))
