"""Run again whenever the learner saves."""

import subprocess
import sys
import time
from pathlib import Path

from course import Course

POLL = 0.2  # seconds: the result should appear at once


def watch(course: Course, words: list[str]) -> None:
    """Run ``run.py`` with these arguments now and after every save in work/, until Ctrl-C.

    Each run is a process of its own: nothing is left from the last one, and an endless loop ends
    at the next save.
    """
    run = None
    try:
        while True:
            seen = saved(course)
            clock = time.strftime("%H:%M:%S")
            print(f"--- {clock}, again at every save, Ctrl-C stops ---\n", flush=True)
            run = subprocess.Popen([sys.executable, sys.argv[0], *words])
            while saved(course) == seen:
                time.sleep(POLL)
            end(run)
            print(flush=True)
    except KeyboardInterrupt:  # the current run, if any, gets it, too
        if run:
            end(run)
        print("\nStopped watching.")


def saved(course: Course) -> dict[Path, int]:
    """Return when each of the learner's files was saved."""
    found = {}
    for exercise in course.everything:
        try:
            found[exercise.work] = exercise.work.stat().st_mtime_ns
        except FileNotFoundError:  # not begun, or an editor is just replacing the file
            continue
    return found


def end(run: subprocess.Popen[bytes]) -> None:
    """Wait for a run to end, or end it."""
    try:
        run.wait(timeout=POLL)
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
