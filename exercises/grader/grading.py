"""Grade a submission: a neutral report of points, whatever the submission does.

A submission is a folder with files, at any depth, that are named like the learner's copies:
``06_relu.py``. Each runs in a process of its own, behind the wall.
"""

import contextlib
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course import Exercise, checks_of, judge, not_run
from grader.handed_in import HandedIn, NotTakenError, look
from grader.limits import PACKAGE_SECONDS, START_SECONDS, Limits
from grader.link import Link
from grader.report import (
    GradedExercise,
    Report,
    clean,
    clean_name,
    graded_exercise,
    not_graded,
    software,
)
from grader.wall import Wall


@dataclass(frozen=True)
class Loaded:
    """An exercise whose checks are loaded: before any submission runs, and never again."""

    exercise: Exercise
    checks: tuple[Callable[[Any], None], ...]

    def without_points(self, problem: str, *, failed: bool = False) -> GradedExercise:
        """Give no points, and say why."""
        results = tuple(not_run(check) for check in self.checks)
        return not_graded(self.exercise, results, problem, failed=failed)


def load_checks(exercises: Sequence[Exercise]) -> list[Loaded]:
    """Load the checks of exercises, the held-out ones too."""
    return [Loaded(e, tuple(checks_of(e, heldout=True))) for e in exercises]


def grade(
    folder: Path,
    exercises: Sequence[Loaded],
    wall: Wall,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Report:
    """Grade one submission.

    Parameters
    ----------
    folder : Path
        The folder of the submission.
    exercises : sequence of Loaded
        The exercises to hand in.
    wall : Wall
        The wall around it.
    limits : Limits
        The limits of each file.

    Returns
    -------
    Report
        The report on every exercise, even if nothing was handed in.
    """
    begun = time.monotonic()
    handed_in = look(folder)
    graded = tuple(grade_exercise(handed_in, loaded, wall, limits) for loaded in exercises)
    name = clean_name(folder.resolve().name)
    with_what = software([loaded.exercise for loaded in exercises])
    return Report(name, graded, wall.name, time.monotonic() - begun, with_what)


def grade_exercise(
    handed_in: HandedIn, loaded: Loaded, wall: Wall, limits: Limits
) -> GradedExercise:
    """Grade one exercise of a submission, in a process of its own."""
    exercise = loaded.exercise
    try:
        taken, source = handed_in.read(exercise)
        path = handed_in.folder / taken
        if exercise.package:
            limits = replace(limits, load_seconds=PACKAGE_SECONDS)
        link = Link(path.name.lower(), source, limits, wall)
        with in_time(limits), in_memory(limits), link:
            outcome = judge(
                exercise,
                path,
                checks=loaded.checks,
                to_the_end=True,
                load=lambda _: link.submission(),
            )
        printed = clean(link.printed.decode(errors="replace"))
        noted = [*handed_in.notes(exercise, taken, source)]
        if link.failed:
            what = clean_name(f"{type(link.failed).__name__}: {link.failed}")[:100]
            noted.append(f"{exercise.name}.py fails, and goes on: {what}")
        return graded_exercise(outcome, printed=printed, noted=tuple(noted))
    except NotTakenError as error:
        return loaded.without_points(str(error), failed=error.failed)
    except OutOfTime:
        return loaded.without_points("the checks could not finish with its answers in time")
    except Exception as error:  # an error of the grader: only this report is lost
        problem = f"it could not be graded: {type(error).__name__}: {error}"
        return loaded.without_points(problem, failed=True)


class OutOfTime(BaseException):
    """The checks take too long with the answers they got; no check may catch this."""


@contextlib.contextmanager
def in_memory(limits: Limits) -> Iterator[None]:
    """Limit the memory of the checks like a submission's, which chooses the points for f."""
    before, told = resource.getrlimit(resource.RLIMIT_AS), Path("/proc/self/statm")
    if not told.exists():  # macOS has no such limit
        yield
        return
    most = int(told.read_text().split()[0]) * resource.getpagesize() + limits.memory
    most = min([most, *(limit for limit in before if limit != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def in_time(limits: Limits) -> Iterator[None]:
    """Stop the checks themselves: a submission can keep them busy."""

    def stop(*_: object) -> None:
        raise OutOfTime

    if threading.current_thread() is not threading.main_thread():  # it gets no alarm
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 2 * limits.seconds + START_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
