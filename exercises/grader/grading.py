"""Grade a submission: a neutral report of points, whatever the submission does."""

import contextlib
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course import Exercise, Outcome, checks_of, judge, not_run
from grader.clock import TooSlowError, no_longer_than
from grader.collected import Submission
from grader.handed_in import HandedIn, NotTakenError, look
from grader.limits import PACKAGE_SECONDS, Limits
from grader.link import Link
from grader.process import NotGradedError
from grader.report import GradedExercise, Report, clean, clean_name, graded_exercise, software
from grader.wall import Wall


@dataclass(frozen=True)
class Loaded:
    """An exercise whose checks are loaded: before any submission runs, and never again."""

    exercise: Exercise
    checks: tuple[Callable[[Any], None], ...]

    def without_points(self, problem: str, *, failed: bool = False) -> GradedExercise:
        """Give no points, and say why."""
        results = tuple(not_run(check) for check in self.checks)
        outcome = Outcome(self.exercise, self.exercise.work, results)
        return graded_exercise(outcome, problem, failed=failed)


def load_checks(exercises: Sequence[Exercise]) -> list[Loaded]:
    """Load the checks of exercises, the held-out ones too."""
    return [Loaded(e, tuple(checks_of(e, heldout=True))) for e in exercises]


def grade(
    submission: Path | Submission, exercises: Sequence[Loaded], wall: Wall, limits: Limits
) -> Report:
    """Grade one submission; the report has every exercise, even if nothing was handed in."""
    begun = time.monotonic()
    handed_in = look(submission)
    graded = tuple(grade_exercise(handed_in, loaded, wall, limits) for loaded in exercises)
    with_what = software([loaded.exercise for loaded in exercises])
    return Report(
        clean_name(handed_in.name), graded, wall.name, time.monotonic() - begun, with_what
    )


def grade_exercise(
    handed_in: HandedIn, loaded: Loaded, wall: Wall, limits: Limits
) -> GradedExercise:
    """Grade one exercise of a submission, in a process of its own."""
    exercise = loaded.exercise
    try:
        taken, source = handed_in.read(exercise)
        path = Path(taken)
        if exercise.package:
            limits = replace(limits, load_seconds=PACKAGE_SECONDS)
        link = Link(path.name.lower(), source, limits, wall)
        # The checks have limits, too: a submission can keep them busy.
        with no_longer_than(limits.seconds, time.process_time), in_memory(limits), link:
            outcome = judge(
                exercise,
                path,
                checks=loaded.checks,
                to_the_end=True,
                load=lambda _: link.submission(),
            )
        notes = [*handed_in.notes(exercise, taken, source)]
        if link.failed:
            what = clean_name(f"{type(link.failed).__name__}: {link.failed}")[:100]
            notes.append(f"{exercise.name}.py fails, and goes on: {what}")
        printed = clean(link.printed.decode(errors="replace"))
        return replace(graded_exercise(outcome), printed=printed, notes=tuple(notes))
    except NotTakenError as error:
        return loaded.without_points(str(error), failed=error.failed)
    except NotGradedError as error:
        return loaded.without_points(str(error), failed=True)
    except TooSlowError:
        return loaded.without_points("the checks could not finish with its answers in time")
    except Exception as error:  # an error of the grader: only this report is lost
        problem = f"it could not be graded: {type(error).__name__}: {error}"
        return loaded.without_points(problem, failed=True)


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
