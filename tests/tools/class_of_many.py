"""What grading a class takes: right and wrong answers, endless loops, floods of output, no answer.

Run it by hand: ``python tests/tools/class_of_many.py --students 200 --exercise 06``. With
``--simulate`` nobody hands anything in, and what is left is the main process and its journal, for a
class of 2,000. With ``--files 60000`` one of them hands in so many files, and folders deeper than a
path can say. ``--no-wall`` measures what the wall costs.
"""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path += [str(Path(__file__).parents[2] / folder) for folder in ("exercises", ".")]

import course
import run
from grader import traces
from grader.handed_in import look

ENDLESS = "\nwhile True: pass\n"
FLOOD = "\nwhile True: print('x' * 999)\n"


def sources(exercise: course.Exercise) -> list[str | None]:
    """Return what is handed in: half right, and the rest as students are."""
    right = (exercise.folder / "solution.py").read_text(encoding="utf-8")
    starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
    wrong = right.replace("return ", "return 1.0 * ", 1)
    crash = "1 / 0\n"
    return [right] * 10 + [starter, wrong, wrong, wrong, crash, ENDLESS, FLOOD, None, starter, "("]


def hand_in(folder: Path, exercise: course.Exercise, students: int, *, nothing: bool) -> None:
    """Write the submissions of a class."""
    for i in range(students):
        home = folder / f"student{i:05}"
        home.mkdir(parents=True)
        what = sources(exercise)
        source = None if nothing else what[i % len(what)]
        if source is not None:
            (home / f"{exercise.name}.py").write_text(source, encoding="utf-8")


def hand_in_very_much(folder: Path, files: int) -> None:
    """Write so many files, and a folder that is deeper than a path can say."""
    here = os.getcwd()
    for i in range(files):
        place = folder / str(i // 1000)
        place.mkdir(exist_ok=True)
        (place / str(i)).touch()
    os.chdir(folder)
    for _ in range(40):
        os.mkdir("deep" * 40)
        os.chdir("deep" * 40)
    os.chdir(here)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="Measure the grading of a class.")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--exercise", default="06")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--no-wall", action="store_true")
    options = parser.parse_args()
    exercise = course.read_course().find(options.exercise)
    assert exercise is not None
    home = Path(tempfile.mkdtemp())
    try:
        hand_in(home / "class", exercise, options.students, nothing=options.simulate)
        if options.files:
            hand_in_very_much(home / "class" / "student00000", options.files)
            begun = time.perf_counter()
            look(home / "class" / "student00000")
            print(f"looking at {options.files} files: {time.perf_counter() - begun:.2f} s")
        words = ["grade", "--class", str(home / "class"), "--only", exercise.number]
        words += ["--jobs", options.jobs, "--csv", str(home / "scores.csv")]
        words += ["--no-wall"] * options.no_wall
        begun = time.perf_counter()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            status = run.main(words)
        took = time.perf_counter() - begun
        if not (home / "scores.csv").exists():  # as without a wall: it said why
            sys.exit(said.getvalue())
        rows = (home / "scores.csv").read_text(encoding="utf-8").splitlines()[1:]
        print(f"{len(rows)} graded in {took:.1f} s, {took / len(rows):.3f} s each, status {status}")
    finally:
        traces.remove(home)


if __name__ == "__main__":
    main()
