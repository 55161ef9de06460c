"""Grade a class: several submissions at a time, whatever one of them does."""

import contextlib
import multiprocessing
import signal
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait

from catalogue import ENGLISH, speak
from course import Exercise
from grader import traces
from grader.clock import POLL, Clock, offspring, wait_for_a_processor
from grader.collected import Submission
from grader.grading import Loaded, grade, load_checks
from grader.limits import PATIENCE, QUIET_SECONDS, START_SECONDS, Limits
from grader.report import Report, clean_name, software
from grader.wall import Wall

LOOK_SECONDS = 1.0  # between two looks at the clock of a process that grades


@dataclass(frozen=True)
class Task:
    """The settings for grading a class."""

    exercises: tuple[Exercise, ...]
    wall: Wall
    limits: Limits
    seconds: float  # for a submission, with the work of the checks
    jobs: int  # how many are graded at a time
    language: str = ENGLISH  # of the reports


def grade_class(
    submissions: Sequence[Submission], task: Task
) -> Iterator[tuple[Submission, Report]]:
    """Grade submissions, several at a time; yield each with its report as soon as it is ready.

    If something cannot be graded, it is tried once more, when all the rest is done: alone.
    """
    loaded = load_checks(task.exercises)  # a mistake in them is found before any process starts
    everything = {one: [it.exercise.name for it in loaded] for one in submissions}
    again: dict[Submission, Report] = {}
    with contextlib.closing(_graded(everything, loaded, task)) as graded:
        for submission, report in graded:
            if report.failed:
                again[submission] = report
            else:
                yield submission, report
    if again:
        wait_for_a_processor(QUIET_SECONDS)
    failed = {one: [e.name for e in report.exercises if e.failed] for one, report in again.items()}
    alone = replace(task, jobs=1, limits=replace(task.limits, alone=True))
    with contextlib.closing(_graded(failed, loaded, alone)) as graded:
        for submission, report in graded:
            yield submission, again[submission].completed_by(report)


def _graded(
    work: Mapping[Submission, Sequence[str]], loaded: Sequence[Loaded], task: Task
) -> Generator[tuple[Submission, Report], None, None]:
    """Grade these exercises of each submission, several submissions at a time.

    If a process dies, or takes too long, only its submission is lost, and the process is replaced.
    """
    traces.adopt_orphans()
    resource_tracker.ensure_running()  # a child of this process, not of a submission
    before = traces.children()
    waiting = list([*work.items()][::-1])
    markers: list[Marker] = []
    try:
        markers += (Marker(task) for _ in range(min(task.jobs, len(work))))
        while markers:
            # Wait until a process answers, or the time of one may be over.
            soonest = min(marker.look_at for marker in markers)
            wait([one.connection for one in markers], max(soonest - time.monotonic(), 0))
            ready = [one for one in markers if one.connection.poll() or one.is_over()]
            for marker in ready:
                submission, report = marker.submission, marker.report(loaded)
                if not waiting:
                    marker.kill()
                if marker.process.is_alive():
                    marker.begin(*waiting.pop())
                else:
                    markers.remove(marker)
                    traces.sweep(before | {other.process.pid for other in markers})
                    markers += [Marker(task)] * bool(waiting)
                if submission and report:
                    yield submission, report
    finally:
        for marker in markers:
            marker.kill()
        traces.sweep(before)


class Marker:
    """One of the processes that grade, seen from the main process."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.submission: Submission | None = None
        self.names: Sequence[str] = ()  # of the exercises to grade
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
        self._may_take(START_SECONDS)

    def begin(self, submission: Submission, names: Sequence[str]) -> None:
        """Give it a submission."""
        self.submission, self.names = submission, names
        self._may_take(self.task.seconds)
        with contextlib.suppress(OSError):  # it has died; the main process will notice
            self.connection.send((submission, names))

    def _may_take(self, seconds: float) -> None:
        number = self.process.pid or 0
        self.clock, self.seconds = Clock(lambda: {number, *offspring(number)}), seconds
        self.look_at = time.monotonic() + min(seconds, LOOK_SECONDS)

    def is_over(self) -> bool:
        """Whether it has used its time."""
        if time.monotonic() < self.look_at:
            return False
        left = self.seconds - self.clock.read(look=True)
        self.look_at = time.monotonic() + min(max(left, POLL), LOOK_SECONDS)
        return left <= 0 or self.clock.elapsed > PATIENCE * self.seconds

    def report(self, loaded: Sequence[Loaded]) -> Report | None:
        """Return the report on its submission; None if it has none, because it has just started.

        If it does not answer, it is killed, and the report says why.
        """
        problem = f"grading it took longer than {self.task.seconds:g} seconds in all"
        if self.connection.poll():
            try:
                report: Report | None = self.connection.recv()
                return report
            except (EOFError, OSError):
                problem = "the process that graded it ended for an unknown reason"
        self.kill()
        if self.submission is None:
            raise ValueError("a process that grades cannot be started")
        return Report(
            clean_name(self.submission.name),
            tuple(
                one.without_points(problem, failed=True)
                for one in loaded
                if one.exercise.name in self.names
            ),
            self.task.wall.name,
            software=software(self.task.exercises),
        )

    def kill(self) -> None:
        """Kill it; what its submission has started ends with it, or is swept away."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _mark(connection: Connection, task: Task) -> None:
    """Grade submissions until there are no more."""
    speak(task.language)
    loaded = load_checks(task.exercises)
    with contextlib.suppress(EOFError, BrokenPipeError):  # the main process has ended
        connection.send(None)  # it is ready
        while True:
            submission, names = connection.recv()
            chosen = [one for one in loaded if one.exercise.name in names]
            connection.send(grade(submission, chosen, task.wall, task.limits))
