"""The neutral report in the forms that platforms read."""

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from catalogue import told, word
from columns import columns, wrapped
from gradcheck_ref.conversation.junit import Case, junit
from grader.report import GradedExercise, Report, number

WIDTH = 60


def as_json(**data: Any) -> str:
    """Write JSON."""
    return json.dumps(data, indent=2) + "\n"


def neutral(report: Report) -> str:
    """Write the complete report as JSON."""
    return as_json(**report.to_dict())


def text(report: Report, *, student: bool = False) -> str:
    """Write text, 60 columns wide; for a student, without notes and held-out values."""
    points = told(f"{number(report.earned)} of {number(report.points)} points")
    if left := sum(one.points for one in report.exercises if one.failed):
        points += told(", ") + told(f"{number(left)} not graded")
    about = report.submission + told(": ") + points + told(", ") + walled(report)
    lines = wrapped(about, WIDTH, indent="  ")
    for exercise in report.exercises:
        lines += ["", *_exercise_lines(exercise, student=student)]
    return "\n".join(lines) + "\n"


def walled(report: Report) -> str:
    """Name the wall and the software that graded the submission."""
    return ", ".join(filter(None, [f"wall: {report.wall}", report.software]))


def _exercise_lines(exercise: GradedExercise, *, student: bool) -> Iterable[str]:
    score = told(f"{number(exercise.earned)} of {number(exercise.points)} points")
    score = told("could not be graded") if exercise.failed else score
    head = f"{exercise.name[:2]} {word(exercise.title)}"
    yield head + " " * (WIDTH - columns(head) - columns(score)) + score
    for note in () if student else exercise.notes:
        yield from wrapped(told(note), WIDTH, head="  note: ", indent=" " * 8)
    if exercise.problem:
        for line in exercise.problem.splitlines():
            yield from wrapped(line, WIDTH, head="  ", indent="  ")
        return
    for check in exercise.checks:
        mark = word("ok" if check.status == "passed" else "NO")
        score = f"{number(check.earned)}/{number(check.points)}"
        if not check.points:  # by hand
            mark, score = " " * columns(mark), f"{check.earned:+g}"
        head = f"  {mark} {score:>5} "
        yield from wrapped(check.title, WIDTH, head, " " * columns(head))
        secret = student and "/heldout_" in check.id and check.message
        for line in [told("this check is held out")] if secret else check.message.splitlines():
            yield from wrapped(line, WIDTH, " " * 11, " " * 11)


def gradescope(report: Report) -> str:
    """Write a ``results.json``; held-out checks are shown after the due date.

    If something could not be graded, there is no score: Gradescope asks for another run.
    """
    output = "\n\n".join([walled(report), *_problems(report)])
    if report.failed:
        output = told("This could not be graded.") + f"\n\n{output}"
        return as_json(output=output, output_format="text")
    tests = [
        {
            "number": check.number,
            "name": check.title,
            "score": check.earned,
            "max_score": check.points,
            "status": "passed" if check.status == "passed" else "failed",
            "output": check.message,
            "output_format": "text",
            "visibility": "after_due_date" if check.heldout else "visible",
        }
        for check in report.checks
    ]
    return as_json(
        score=report.earned,
        execution_time=round(report.seconds, 1),
        output=output,
        output_format="text",
        stdout_visibility="hidden",
        extra_data={"wall": report.wall, "notes": [n for e in report.exercises for n in e.notes]},
        tests=tests,
    )


def _problems(report: Report) -> list[str]:
    return [f"{e.name}: {e.problem}" for e in report.exercises if e.problem]


def prairielearn(report: Report) -> str:
    """Write a ``results.json``; if nothing could be graded, the student loses no attempt."""
    problems = _problems(report)
    if report.failed or len(problems) == len(report.exercises):
        return as_json(gradable=False, format_errors=problems, output=walled(report))
    tests = [
        {
            "name": f"{check.number} {check.title}",
            "points": check.earned,
            "max_points": check.points,
            "message": check.message,
        }
        for check in report.checks
    ]
    message = "\n\n".join([walled(report), *problems])
    return as_json(gradable=True, score=report.earned / report.points, message=message, tests=tests)


HUNDREDTHS = 100  # Classroom 50 takes whole numbers only
GIVEN = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def classroom50(report: Report, environment: Mapping[str, str] = os.environ) -> str:
    """Write a ``result.json``, scores in hundredths; the platform's runner sets the variables."""
    if report.failed:
        why = "; ".join(_problems(report))
        raise ValueError(f"Classroom 50 has no result for work that could not be graded: {why}")
    told = {"REVIEW_URL": environment.get("COMMIT_URL", ""), "ASSIGNMENT_TYPE": "individual"}
    told |= {"OWNER": environment.get("USERNAME", "")}
    told |= {name: value for name, value in environment.items() if value}
    if lacking := [name for name in GIVEN.values() if not told.get(name)]:
        raise ValueError(f"Classroom 50's runner sets {', '.join(lacking)}; here that is not set")
    tests: list[dict[str, Any]] = [
        {
            "test-name": f"{check.number} {check.title}",
            "passed": check.status == "passed",
            "score": math.floor(check.earned * HUNDREDTHS + 1e-6),  # a part is not rounded up
            "max-score": round(check.points * HUNDREDTHS),
            "message": check.message,
        }
        for check in report.checks
    ]
    return as_json(
        schema="classroom50/result/v1",
        **{key: told[name] for key, name in GIVEN.items()},
        datetime=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        **{key: sum(test[key] for test in tests) for key in ("score", "max-score")},
        tests=tests,
    )


def as_junit(report: Report) -> str:
    """Write JUnit's XML: a suite for each exercise, a case for each check."""
    # What could not be run is an error, not skipped: a file that crashes must not look green.
    bad = {"passed": "", "not run": "error"}
    cases = [
        Case(
            exercise.name,
            f"{check.number} {check.title}",
            bad.get(check.status, "failure"),
            check.message.partition("\n")[0],
            check.message,
            f"{number(check.earned)} of {number(check.points)} points",
        )
        for exercise in report.exercises
        for check in exercise.checks
    ]
    return junit(f"{report.submission}, {walled(report)}", cases)


WRITERS: dict[str, Callable[[Report], str]] = {
    "json": neutral,
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "classroom50": classroom50,
    "junit": as_junit,
}
