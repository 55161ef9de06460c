"""Run again whenever the learner saves."""

import subprocess
import sys
import time
from pathlib import Path

from course import Course

POLL = 0.2  # seconds; saving and seeing should feel like one thing


def watch(course: Course, words: list[str]) -> None:
    """Run ``run.py`` with these words now and after every save in work/, until Ctrl-C.

    Each run is a process of its own: nothing is left over from the last one, and an endless loop
    ends with the next save.
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
    except KeyboardInterrupt:  # of which the run, if one is under way, has heard too
        if run:
            end(run)
        print("\nStopped watching.")


def saved(course: Course) -> dict[Path, int]:
    """Return when each of the learner's files was saved."""
    found = {}
    for exercise in course.everything:
        try:
            found[exercise.work] = exercise.work.stat().st_mtime_ns
        except FileNotFoundError:  # not begun; or an editor is just putting a new file there
            continue
    return found


def end(run: subprocess.Popen[bytes]) -> None:
    """Wait for a run to end, or end it."""
    try:
        run.wait(timeout=POLL)
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
