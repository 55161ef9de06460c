"""The neutral report of grading, which the writers put into other forms."""

import dataclasses
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gradcheck_ref
from course import Exercise, Outcome, Result

FORMAT_VERSION = 2
MOST_SAID = 4_000  # characters of the messages on a check or a file


@dataclass(frozen=True)
class Graded:
    """The points of one check.

    Attributes
    ----------
    id : str
        Exercise and check: ``"06_relu/check_forward"``.
    number : str
        ``"06.1"``, in the order of the checks.
    title : str
        The sentence that learners read.
    points, earned : float
        The points of the check, and how many of them are earned.
    status : str
        ``"passed"``, ``"failed"``, ``"todo"`` or ``"not run"``.
    message : str
        Why it is not passed; empty if passed.
    heldout : bool
        Whether learners see it only after the due date.
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
    """The points of one exercise.

    Attributes
    ----------
    problem : str
        Why no check could run; empty if the checks ran.
    notes : tuple of str
        Notes for the instructor.
    printed : str
        The beginning of what the submission printed.
    failed : bool
        Whether grading was impossible, so that 0 points are not a result.
    """

    name: str
    title: str
    checks: tuple[Graded, ...]
    problem: str = ""
    notes: tuple[str, ...] = ()
    printed: str = ""
    failed: bool = False

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
    """The points of a submission.

    Attributes
    ----------
    submission : str
        The name of its folder.
    wall : str
        The wall around it.
    seconds : float
        How long the grading took.
    software : str
        The versions of Python and of the packages that graded it.
    """

    submission: str
    exercises: tuple[GradedExercise, ...]
    wall: str
    seconds: float = 0.0
    software: str = ""

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

    @property
    def failed(self) -> bool:
        """Whether some exercise could not be graded."""
        return any(exercise.failed for exercise in self.exercises)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        totals = {"earned": self.earned, "points": self.points}
        exercises = [
            {**dataclasses.asdict(e), "earned": e.earned, "points": e.points}
            for e in self.exercises
        ]
        return {
            "format_version": FORMAT_VERSION,
            "submission": self.submission,
            "wall": self.wall,
            "software": self.software,
            **totals,
            "seconds": round(self.seconds, 2),
            "exercises": exercises,
        }


def from_dict(data: dict[str, Any]) -> Report:
    """Build the report from the result of ``to_dict``."""

    def fields(kind: type, given: dict[str, Any]) -> dict[str, Any]:
        return {field.name: given[field.name] for field in dataclasses.fields(kind)}

    exercises = []
    for exercise in data["exercises"]:
        kept = fields(GradedExercise, exercise)
        kept["checks"] = tuple(Graded(**fields(Graded, check)) for check in exercise["checks"])
        kept["notes"] = tuple(exercise["notes"])
        exercises.append(GradedExercise(**kept))
    return Report(**{**fields(Report, data), "exercises": tuple(exercises)})


def software(exercises: Sequence[Exercise]) -> str:
    """Return the versions of Python and of the packages that grade the exercises."""
    own = f"Python {platform.python_version()}, gradcheck_ref {gradcheck_ref.__version__}"
    packages = {"numpy", *(exercise.package for exercise in exercises if exercise.package)}
    return ", ".join([own, *(f"{name} {_version(name)}" for name in sorted(packages))])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "is not there"


def number(points: float) -> str:
    """Write points: ``3``, ``2.5``."""
    return f"{round(points, 2):g}"


def graded_exercise(
    outcome: Outcome,
    *,
    problem: str = "",
    printed: str = "",
    noted: tuple[str, ...] = (),
    failed: bool = False,
) -> GradedExercise:
    """Give points for the results of the checks."""
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
    if exercise.whole:
        graded.append(_whole(exercise, graded, problem))
    return GradedExercise(
        exercise.name, exercise.title, tuple(graded), problem, noted, printed, failed
    )


def _whole(exercise: Exercise, graded: list[Graded], problem: str) -> Graded:
    """Return the result for all checks together: an answer with any mistake is wrong."""
    missing = [check.number for check in graded if check.status != "passed"]
    return Graded(
        id=f"{exercise.name}/whole",
        number=f"{exercise.number}.{len(graded) + 1}",
        title="The whole exercise is right.",
        points=exercise.whole,
        earned=0 if missing else exercise.whole,
        status="not run" if problem else "failed" if missing else "passed",
        message=problem or (f"not passed: {', '.join(missing)}" if missing else ""),
        heldout=any(check.heldout for check in graded),
    )


def not_graded(
    exercise: Exercise, not_run: tuple[Result, ...], problem: str, *, failed: bool = False
) -> GradedExercise:
    """Give no points, and say why."""
    outcome = Outcome(exercise, exercise.work, not_run)
    return graded_exercise(outcome, problem=clean(problem), failed=failed)


# Control characters, surrogates, and characters that reverse a line: not for XML or a terminal.
UNFIT = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u200d\u2010-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd"
    "\U00010000-\U0010ffff]"
)


def clean(text: str) -> str:
    """Keep characters that every format can hold: a submission may write anything."""
    kept = text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]} ..."
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", kept)


def clean_name(text: str) -> str:
    """Keep a name on one line, too."""
    return clean("\N{REPLACEMENT CHARACTER}".join(text.splitlines()))
