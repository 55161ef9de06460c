"""Points that late work loses, by the table ``late`` of ``course.toml``.

A day that has begun counts. When something was handed in is known where the platform says so, in a
name or in Gradescope's metadata, or from the roster, which also has the extensions. The time of a
file says nothing: platforms, and programs that unpack, set it as they like.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from catalogue import told
from course import Course, Exercise
from grader.collected import Submission
from grader.handed_in import HandedIn, look
from grader.report import Graded, GradedExercise, Report, clean_name
from grader.roster import Student

LATE = "late"  # in the place of the name of a check


@dataclass(frozen=True)
class Late:
    """The rule: percent of the points, and when each exercise is due."""

    per_day: float
    most: float
    due: Mapping[str, datetime]  # by whole names
    exercises: Mapping[str, Exercise]


def read_late(course: Course) -> Late | None:
    """Read the rule of a course, if it has one."""
    if not course.late:
        return None
    try:
        due = {course.choose([name])[0].name: when for name, when in course.late["due"].items()}
        exercises = {exercise.name: exercise for exercise in course.exercises}
        late = Late(float(course.late["per_day"]), float(course.late["most"]), due, exercises)
        if not all(isinstance(when, datetime) and not when.tzinfo for when in due.values()):
            raise ValueError("a time is written as 2026-11-08T23:59:00")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"course.toml: [late] cannot be read: {error}. It has percents and times, such as\n"
            'per_day = 10\nmost = 50\ndue = {"06" = 2026-11-08T23:59:00}'
        ) from None
    return late


def days_late(due: datetime, handed_in: str, extension: float) -> int:
    """Return the days after an extended due date that have begun; an unknown time is not late."""
    try:
        when = datetime.fromisoformat(handed_in)
    except ValueError:
        return 0
    if when.tzinfo:
        when = when.astimezone().replace(tzinfo=None)  # to that of this machine, as the due date is
    return max(math.ceil((when - due - timedelta(days=extension)) / timedelta(days=1)), 0)


def with_late(
    reports: Mapping[Submission, Report],
    late: Late | None,
    found: Mapping[str, Sequence[Student]],
) -> dict[Submission, Report]:
    """Return the reports with what is lost; ``found`` has the students of the submissions."""
    if late is None:
        return dict(reports)
    return {
        one: replace(
            report,
            exercises=tuple(
                _reduced(exercise, late, handed_in, found.get(clean_name(one.name), ()))
                for exercise in report.exercises
            ),
        )
        for one, report in reports.items()
        for handed_in in [look(one)]
    }


def _reduced(
    exercise: GradedExercise, late: Late, handed_in: HandedIn, students: Sequence[Student]
) -> GradedExercise:
    if exercise.name not in late.due:
        return exercise
    extension = max((student.extension for student in students), default=0.0)
    when = handed_in.when(late.exercises[exercise.name])
    times = [when, *(student.handed_in for student in students)]
    days = max(days_late(late.due[exercise.name], when, extension) for when in times)
    percent = min(days * late.per_day, late.most)
    if not days or not exercise.earned:
        return exercise
    check = Graded(
        id=f"{exercise.name}/{LATE}",
        number=f"{exercise.name[:2]}.{len(exercise.checks) + 1}",
        title=told(f"late by {days} day{'s' * (days > 1)}: {percent:g} % less"),
        points=0,
        earned=-exercise.earned * percent / 100,
        status="passed",
        message="",
        heldout=False,
    )
    note = f"{exercise.name} is late by {days} day{'s' * (days > 1)}"
    return replace(exercise, checks=(*exercise.checks, check), notes=(*exercise.notes, note))
