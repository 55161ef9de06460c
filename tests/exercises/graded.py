"""What tests of grading share: an exercise, limits, and what a report says."""

from pathlib import Path

import course
from grader.limits import Limits

ROOT = Path(__file__).parents[2]
RELU = course.read_course().find("06")
# What is honest has time on the busiest machine.
ORDINARY = Limits(answer=1_000_000)


def said(report):
    """Return all that is said of a submission."""
    return "\n".join(
        text
        for exercise in report.exercises
        for text in (exercise.problem, *(check.message for check in exercise.checks))
    )
