"""Grade what is handed in: a neutral report of points, whatever the submission does.

A submission is a folder in which, at any depth, there are files called as the learner's copies are:
``06_relu.py``. Each runs in a process of its own.
"""

import contextlib
import dataclasses
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from course import Course, Exercise, Outcome, checks_of, judge, not_run
from remote import START_SECONDS, Link
from sandbox import Limits

FORMAT_VERSION = 1
MOST_BYTES = 1_000_000  # of a file that is handed in


@dataclass(frozen=True)
class Graded:
    """What one check gives.

    Attributes
    ----------
    id : str
        Exercise and check: ``"06_relu/check_forward"``.
    number : str
        ``"06.1"``, in the order of the checks.
    title : str
        The sentence that learners read.
    points, earned : float
        What there is to earn, and what is earned: all, nothing, or a part.
    status : str
        ``"passed"``, ``"failed"``, ``"todo"`` or ``"not run"``.
    message : str
        Why not; empty if passed.
    heldout : bool
        Whether learners are not meant to see it before the end.
    """

    id: str
    number: str
    title: str
    points: float
    earned: float
    status: str
    message: str
    heldout: bool


@dataclass(frozen=True)
class GradedExercise:
    """What the checks of one exercise give.

    Attributes
    ----------
    problem : str
        Why no check could be run; empty if they were.
    notes : tuple of str
        What the instructor should look at.
    printed : str
        The beginning of what the submission printed.
    """

    name: str
    title: str
    checks: tuple[Graded, ...]
    problem: str = ""
    notes: tuple[str, ...] = ()
    printed: str = ""

    @property
    def earned(self) -> float:
        """Points earned."""
        return sum(check.earned for check in self.checks)

    @property
    def points(self) -> float:
        """Points to be earned."""
        return sum(check.points for check in self.checks)


@dataclass(frozen=True)
class Report:
    """What a submission gives: the neutral report, which the writers put into other forms."""

    submission: str
    exercises: tuple[GradedExercise, ...]
    seconds: float

    @property
    def earned(self) -> float:
        """Points earned."""
        return sum(exercise.earned for exercise in self.exercises)

    @property
    def points(self) -> float:
        """Points to be earned."""
        return sum(exercise.points for exercise in self.exercises)

    @property
    def checks(self) -> tuple[Graded, ...]:
        """The checks of all exercises."""
        return tuple(check for exercise in self.exercises for check in exercise.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as what JSON can hold."""
        totals = {"earned": self.earned, "points": self.points}
        exercises = [
            {**dataclasses.asdict(e), "earned": e.earned, "points": e.points}
            for e in self.exercises
        ]
        return {
            "format_version": FORMAT_VERSION,
            "submission": self.submission,
            **totals,
            "seconds": round(self.seconds, 2),
            "exercises": exercises,
        }


def grade(
    folder: Path,
    exercises: Sequence[Exercise],
    *,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    hidden: Sequence[Path] = (),
) -> Report:
    """Grade one submission.

    Parameters
    ----------
    folder : Path
        What was handed in.
    exercises : sequence of Exercise
        What was to be handed in.
    limits : Limits
        What each file may take.
    hidden : sequence of Path
        Folders that it cannot read; the course itself never can be.

    Returns
    -------
    Report
        Of every exercise, also if nothing was handed in.
    """
    begun = time.monotonic()
    graded = tuple(grade_exercise(folder, exercise, limits, hidden) for exercise in exercises)
    return Report(clean(folder.resolve().name), graded, time.monotonic() - begun)


def grade_exercise(
    folder: Path, exercise: Exercise, limits: Limits, hidden: Sequence[Path] = ()
) -> GradedExercise:
    """Grade one exercise of a submission, in a process that is gone afterwards."""
    try:
        path, problem = find(folder, f"{exercise.name}.py")
        if path is None:
            return not_graded(exercise, problem)
        with in_time(limits), Link(path, limits, hidden) as link:
            outcome = judge(
                exercise,
                path,
                heldout=True,
                to_the_end=True,
                load=lambda _: link.submission(),
            )
        printed = clean(link.printed.decode(errors="replace"))
        return graded_exercise(outcome, printed=printed, noted=notes(path, exercise, folder))
    except OutOfTime:
        return not_graded(exercise, "the checks could not cope with what it answers, in time")
    except Exception as error:  # of the grader, not of the submission: one report less is enough
        return not_graded(exercise, f"it could not be graded: {type(error).__name__}: {error}")


class OutOfTime(BaseException):
    """The checks take too long, with what they were answered; no check may catch this."""


@contextlib.contextmanager
def in_time(limits: Limits) -> Iterator[None]:
    """Stop the checks themselves, which a submission can keep busy without being so."""

    def stop(*_: object) -> None:
        raise OutOfTime

    if threading.current_thread() is not threading.main_thread():  # no alarm is heard there
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 2 * limits.seconds + START_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def find(folder: Path, name: str) -> tuple[Path | None, str]:
    """Find a file in a submission, the one nearest to the top; or say why there is none."""
    found = all_called(name, folder)
    if not found:
        return None, f"{name} is not there{_nearly_called(name, folder)}"
    path = found[0]
    # A link could lead to the solution, and a pipe never ends.
    if path.resolve() != folder.resolve() / path.relative_to(folder) or not path.is_file():
        return None, f"{name} is no ordinary file"
    if path.stat().st_size > MOST_BYTES:
        return None, f"{name} has more than {MOST_BYTES:,} bytes"
    return path, ""


def all_called(name: str, folder: Path) -> list[Path]:
    """Return the files of this name, or pattern; the one nearest to the top comes first."""
    return sorted(folder.rglob(name), key=lambda path: (len(path.parts), path))


def _nearly_called(name: str, folder: Path) -> str:
    """Name a file that a browser or a platform may have called otherwise: 06_relu (1).py."""
    near = all_called(f"*{Path(name).stem}*.py", folder)
    return f", but {clean_name(near[0].name)} is" if near else ""


def notes(path: Path, exercise: Exercise, folder: Path) -> tuple[str, ...]:
    """Say what an instructor should look at: the package holds the answers to most exercises."""
    noted = []
    if takes_from_the_package(path) and not takes_from_the_package(exercise.folder / "starter.py"):
        noted.append(f"{path.name} imports gradcheck_ref: does it answer itself?")
    if (copies := len(all_called(path.name, folder))) > 1:
        here = clean_name(path.relative_to(folder).as_posix())
        noted.append(f"{copies} files are called {path.name}, and this is {here}")
    return tuple(noted)


def takes_from_the_package(path: Path) -> bool:
    """Whether a file imports the package, but for what it does when it is run by itself."""
    text, _, _ = path.read_text(encoding="utf-8", errors="replace").partition("if __name__ ==")
    code = (line.partition("#")[0] for line in text.splitlines())
    return any("import" in line and "gradcheck_ref" in line for line in code)


def graded_exercise(
    outcome: Outcome, *, problem: str = "", printed: str = "", noted: tuple[str, ...] = ()
) -> GradedExercise:
    """Put points to what the checks say."""
    exercise = outcome.exercise
    graded: list[Graded] = []
    for result in outcome.results:
        message = clean("\n".join(f"{label}: {text}" for label, text in result.lines))
        if result.check == "import":
            problem = f"{exercise.name}.py cannot be imported\n{message}"
            continue
        points = exercise.points[result.check]
        graded.append(
            Graded(
                id=f"{exercise.name}/{result.check}",
                number=f"{exercise.number}.{len(graded) + 1}",
                title=result.sentence,
                points=points,
                earned=points * min(max(result.share, 0.0), 1.0),
                status=result.status,
                message=problem or message,
                heldout=result.check.startswith("heldout_"),
            )
        )
    return GradedExercise(exercise.name, exercise.title, tuple(graded), problem, noted, printed)


def not_graded(exercise: Exercise, problem: str) -> GradedExercise:
    """Give no points, and say why."""
    results = tuple(not_run(check) for check in checks_of(exercise, heldout=True))
    return graded_exercise(Outcome(exercise, exercise.work, results), problem=clean(problem))


# Control characters and halves of characters: not for XML, and not for a terminal.
UNFIT = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Keep what every format can hold: a submission says what it likes."""
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def clean_name(text: str) -> str:
    """Keep a name on one line, too."""
    return clean("\N{REPLACEMENT CHARACTER}".join(text.splitlines()))


# --- a class -----------------------------------------------------------------------------------


def submissions(folder: Path) -> list[Path]:
    """Return the submissions of a class: the folders in its folder, by name.

    Those that nobody handed in, but a program left behind, are none: ``.git``, ``__MACOSX``.
    """
    return sorted(
        path
        for path in folder.iterdir()
        if path.is_dir() and not path.is_symlink() and not path.name.startswith((".", "__"))
    )


def grade_class(
    folder: Path,
    exercises: Sequence[Exercise],
    *,
    jobs: int,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Iterator[Report]:
    """Grade the submissions of a class, several at a time; none can read another.

    Yields
    ------
    Report
        Of each, in the order of their names, as soon as it and those before it are there.
    """
    one = partial(
        _grade_unless_stopped, exercises=exercises, limits=limits, hidden=[folder.resolve()]
    )
    # Subtle: spawned, not forked. What a sandbox has started is told from what it has not by who
    # is a child of this process; so a process has one sandbox at a time, and nothing else.
    spawned = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=spawned, initializer=_heed_ctrl_c) as pool:
        yield from pool.map(one, submissions(folder))


_busy = _stopped = False  # in a process of the pool: whether it grades, whether Ctrl-C has come


def _heed_ctrl_c() -> None:
    """Let Ctrl-C end the grading that is under way, and never the waiting for more."""

    def stop(*_: object) -> None:
        global _stopped
        _stopped = True
        if _busy:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)


def _grade_unless_stopped(folder: Path, **keywords: Any) -> Report:
    """Grade; after Ctrl-C grade no more, though more is waiting already."""
    global _busy
    _busy = True
    try:
        if _stopped:
            raise KeyboardInterrupt
        return grade(folder, **keywords)
    finally:
        _busy = False


def chosen(course: Course, names: Sequence[str]) -> list[Exercise]:
    """Return the exercises of these names, all of them if there is none.

    Raises
    ------
    ValueError
        If there is no such exercise.
    """
    if not names:
        return list(course.exercises)
    found = [course.find(name) for name in names]
    if None in found:
        raise ValueError(f"there is no exercise {names[found.index(None)]!r}")
    return [exercise for exercise in course.exercises if exercise in found]
