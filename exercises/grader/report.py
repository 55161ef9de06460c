"""The neutral report of grading, which the writers put into other forms."""

import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import gradcheck_ref
from catalogue import told, word
from course import Exercise, Outcome, Result

FORMAT_VERSION = 2
MOST_SAID = 4_000  # characters of the messages on a check or a file


@dataclass(frozen=True)
class Graded:
    """The points of one check."""

    id: str  # exercise and check: "06_relu/check_forward"
    number: str  # "06.1", in the order of the checks
    title: str  # the sentence that learners read
    points: float  # to be earned
    earned: float
    status: str  # passed, failed, todo, or not run
    message: str  # why it is not passed; empty if passed
    heldout: bool  # whether learners see it only after the due date


@dataclass(frozen=True)
class GradedExercise:
    """The points of one exercise."""

    name: str
    title: str
    checks: tuple[Graded, ...]
    problem: str = ""  # why no check could run; empty if the checks ran
    notes: tuple[str, ...] = ()  # for the instructor
    printed: str = ""  # the beginning of what the submission printed
    failed: bool = False  # whether grading was impossible, so that 0 points are not a result

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
    """The points of a submission."""

    submission: str  # the name of its folder
    exercises: tuple[GradedExercise, ...]
    wall: str  # the name of the wall around it
    seconds: float = 0.0  # how long the grading took
    software: str = ""  # the versions of Python and of the packages that graded it

    @cached_property
    def checks(self) -> tuple[Graded, ...]:
        """The checks of all exercises."""
        return tuple(check for exercise in self.exercises for check in exercise.checks)

    @property
    def earned(self) -> float:
        """Points earned."""
        return sum(check.earned for check in self.checks)

    @property
    def points(self) -> float:
        """Points to be earned."""
        return sum(check.points for check in self.checks)

    @property
    def failed(self) -> bool:
        """Whether some exercise could not be graded."""
        return any(exercise.failed for exercise in self.exercises)

    def completed_by(self, later: "Report") -> "Report":
        """Put the exercises of a later attempt in the place of those that could not be graded."""
        found = {exercise.name: exercise for exercise in later.exercises}
        exercises = tuple(found.get(one.name, one) for one in self.exercises)
        return replace(self, exercises=exercises, seconds=self.seconds + later.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {
            "format_version": FORMAT_VERSION,
            "submission": self.submission,
            "wall": self.wall,
            "software": self.software,
            "earned": self.earned,
            "points": self.points,
            "seconds": round(self.seconds, 2),
            "exercises": [
                {**asdict(one), "earned": one.earned, "points": one.points}
                for one in self.exercises
            ],
        }


def from_dict(data: dict[str, Any]) -> Report:
    """Build the report from the result of ``to_dict``."""

    def built(kind: Any, given: dict[str, Any], **parts: tuple[Any, ...]) -> Any:
        return kind(**{field.name: given[field.name] for field in fields(kind)} | parts)

    exercises = []
    for one in data["exercises"]:
        checks = tuple(built(Graded, check) for check in one["checks"])
        exercises.append(built(GradedExercise, one, checks=checks, notes=tuple(one["notes"])))
    report: Report = built(Report, data, exercises=tuple(exercises))
    return report


def software(exercises: Sequence[Exercise]) -> str:
    """Return the versions of Python and of the packages that grade the exercises."""
    told = [f"Python {platform.python_version()}, gradcheck_ref {gradcheck_ref.__version__}"]
    for name in sorted({"numpy", *(exercise.package for exercise in exercises)} - {""}):
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            told.append(f"{name} is not there")
    return ", ".join(told)


def number(points: float) -> str:
    """Write points: ``3``, ``2.5``."""
    return f"{round(points, 2):g}"


def graded_exercise(outcome: Outcome, problem: str = "", *, failed: bool = False) -> GradedExercise:
    """Give points for the results of the checks; none if there is a problem, which says why."""
    exercise, results, problem = outcome.exercise, [*outcome.results], clean(told(problem))
    if results and results[0].check == "import":
        cannot = told(f"{exercise.name}.py cannot be imported")
        problem = f"{cannot}\n{_message(results.pop(0))}"
    heldout = [result.check for result in results if result.check.startswith("heldout_")]
    if exercise.whole:
        results.append(_whole(exercise, results, problem))
        heldout += ["whole"] * bool(heldout)
    points = {**exercise.points, "whole": exercise.whole}
    graded = tuple(
        Graded(
            id=f"{exercise.name}/{result.check}",
            number=f"{exercise.number}.{i}",
            title=told(result.sentence),
            points=points[result.check],
            earned=points[result.check] * min(max(result.share, 0.0), 1.0),
            status=result.status,
            message=problem or _message(result),
            heldout=result.check in heldout,
        )
        for i, result in enumerate(results, 1)
    )
    return GradedExercise(exercise.name, exercise.title, graded, problem, failed=failed)


def _whole(exercise: Exercise, results: Sequence[Result], problem: str) -> Result:
    """Return the result for all checks together: an answer with any mistake is wrong."""
    bad = [f"{exercise.number}.{i}" for i, one in enumerate(results, 1) if one.status != "passed"]
    status = "not run" if problem else "failed" if bad else "passed"
    lines = (("not passed", ", ".join(bad)),) if bad else ()
    return Result("whole", "The whole exercise is right.", status, lines, share=float(not bad))


def _message(result: Result) -> str:
    return clean("\n".join(word(label) + told(": ") + told(text) for label, text in result.lines))


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
