"""What tests of grading share: tables of rows, an exercise, limits, the best wall there is."""

import contextlib
import os
import re
import sys
from pathlib import Path

import pytest
from beside import ran

import course
from grader import wall
from grader.limits import Limits
from verify import TRIAL

ROOT = Path(__file__).parents[2]
RELU = course.read_course().find("06")
# What is honest has time on the busiest machine.
ORDINARY = Limits(answer=1_000_000)
# What the runner of Classroom 50 sets.
RUNNER = {
    "CLASSROOM": "spring",
    "ASSIGNMENT": "relu",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit",
    "RELEASE_URL": "https://example.org/release",
}


def blocks_of(name):
    """Return the blocks of a file of tables by their headings, without comments."""
    text = (Path(__file__).parent / name).read_text("utf-8")
    blocks = re.split("(?m)^== ", re.sub("(?m)^#.*\n", "", text))
    return dict(block.split("\n", 1) for block in blocks[1:])


def each_row(name, heading):
    r"""Have a test for each row of a block: it is split at each bar, and ``\n`` is as in Python."""
    lines = blocks_of(name)[heading].replace("\n    ", " ").splitlines()
    rows = {line: unescaped(line).split(" | ") for line in lines if line}
    return pytest.mark.parametrize("row", rows.values(), ids=rows)


def unescaped(line):
    """Read escapes as Python does."""
    escapes = r"\\(?:n|x..|u....)"
    return re.sub(escapes, lambda found: found[0].encode().decode("unicode_escape"), line)


@contextlib.contextmanager
def best_wall(hidden=()):
    """Put up the best wall there is here, or none."""
    with contextlib.ExitStack() as stack:
        try:
            it = stack.enter_context(wall.put_up(hidden))
        except wall.NoWallError:
            it = stack.enter_context(wall.put_up(hidden, kind=wall.NONE))
        yield it


def hand_in(folder, **sources):
    """Write a submission for exercise 6 for each student; nothing for those with none."""
    for student, source in sources.items():
        (folder / student).mkdir(parents=True)
        if source is not None:
            (folder / student / "06_relu.py").write_bytes(source.encode("latin-1"))
    return folder


def finished(exercise):
    """Return the file of a student who is done: the solution, with the trial of the starter."""
    starter = (exercise.folder / "starter.py").read_text("utf-8")
    solution = (exercise.folder / "solution.py").read_text("utf-8")
    return "\n\n".join([solution, "".join(starter.partition(TRIAL)[1:])])


def start(command, cwd, **more):
    """Run a command where nothing of this checkout is found but what is given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    here = Path(sys.executable).parent
    env = {**kept, "PATH": f"{here}{os.pathsep}{kept['PATH']}", **more}
    return ran(*command, cwd=cwd, env=env, timeout=120)


def said(report):
    """Return all that is said of a submission."""
    return "\n".join(
        text
        for exercise in report.exercises
        for text in (exercise.problem, *(check.message for check in exercise.checks))
    )
