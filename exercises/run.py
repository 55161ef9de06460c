"""Take the course: ``python exercises/run.py`` says where you are and what to do next.

Your progress is not stored: it is what the checks say about the files in ``work/`` now.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(f"The course needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

import argparse
import contextlib
import io
import os
import signal
import subprocess
import time
from pathlib import Path

from catalogue import languages, speak, spoken, told, word
from columns import padded
from course import HERE, Course, Exercise, judge, load, missing, quietly_judge, read_course
from explained import place
from screen import CHOSEN, GREEN, RED, bar, command, python, say, short, show, title
from verify import assertions_of, manifest_faults

DONE, NOT_DONE, CANNOT = 0, 1, 2
POLL = 0.2  # seconds: the result should appear at once


# --- commands ----------------------------------------------------------------------------------


def go(course: Course, options: argparse.Namespace) -> int:
    """Show one exercise, by default the first unfinished one."""
    if options.exercise:
        begin(course, options.exercise)
    elif not any(exercise.begun for exercise in course.exercises):
        say(course.welcome)
        print()
        begin(course, course.exercises[0])
    if options.watch:
        watch(course, [options.exercise.number] if options.exercise else [])
        return DONE
    if not able_to_check(options.exercise):
        return CANNOT
    return go_to(course, options.exercise) if options.exercise else go_on(course)


def begin(course: Course, exercise: Exercise) -> None:
    """Make the learner's copy if there is none, and say so; warn if exercises were skipped."""
    if not exercise.begun:
        exercise.begin()
        say(f"{short(exercise.work)} is yours to edit.")
        for needed in (e for e in course.exercises if e.name in exercise.needs and not e.begun):
            say(f"It builds on {needed.number} {needed.title}, which you have not begun.")
        print()


def go_to(course: Course, exercise: Exercise) -> int:
    """Show the results of one exercise."""
    outcome = judge(exercise, exercise.work)
    show(course, outcome)
    return DONE if outcome.done else NOT_DONE


def watch(course: Course, words: list[str]) -> None:
    """Run ``run.py`` with these arguments now and after every save in work/, until Ctrl-C.

    Each run is a process of its own: nothing is left from the last one, and an endless loop ends
    at the next save.
    """
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            seen = _saved(course)
            clock = time.strftime("%H:%M:%S")
            print(told(f"--- {clock}, again at every save, Ctrl-C stops ---"), flush=True)
            print(flush=True)
            run = subprocess.Popen([sys.executable, sys.argv[0], *words, *CHOSEN])
            try:
                while _saved(course) == seen:
                    time.sleep(POLL)
            finally:  # Ctrl-C reaches the run, too
                with contextlib.suppress(subprocess.TimeoutExpired):
                    run.wait(timeout=POLL)
                run.kill()
                run.wait()
            print(flush=True)
    print()
    say("Stopped watching.")


def _saved(course: Course) -> dict[Path, int]:
    """Return when each of the learner's files was saved."""
    found = {}
    for exercise in course.everything:
        # There is none before it is begun, nor while an editor replaces it.
        with contextlib.suppress(FileNotFoundError):
            found[exercise.work] = exercise.work.stat().st_mtime_ns
    return found


def go_on(course: Course) -> int:
    """Show progress, and the first exercise that is not done."""
    exercises = course.choose(())
    unfinished = _unfinished(course)
    done = bar(len(exercises) - len(unfinished), len(exercises))
    print(told(f"{done} exercises done"))
    print()
    if not unfinished:
        go_to(course, exercises[-1])
        print()
        say(course.farewell)
        return DONE
    following = unfinished[0]
    place_of_it = course.exercises.index(following)
    if place_of_it and not following.begun:  # just done: look back, until the next one is begun
        return go_to(course, course.exercises[place_of_it - 1])
    begin(course, following)
    return go_to(course, following)


def _unfinished(course: Course) -> list[Exercise]:
    return [e for e in course.choose(()) if not (e.begun and quietly_judge(e).done)]


def able_to_check(exercise: Exercise | None = None) -> bool:
    """Whether the checks can run; if not, say what to install."""
    if absent := missing():
        say(f"The checks need {' and '.join(absent)}, which this Python does not have. Once:")
        here = ".venv\\Scripts" if os.name == "nt" else ".venv/bin"
        print(f"\n    python3 -m venv .venv\n    {os.path.join(here, 'pip')} install numpy\n")
        if "gradcheck_ref" in absent:
            say("The folder gradcheck_ref has to be beside the folder exercises.")
        say("From then on, for the checks:")
        print(f"\n    {os.path.join(here, 'python')} {short(Path(sys.argv[0]))}")
    elif exercise and missing(exercise):
        say(f"Exercise {exercise.number} is optional and needs {exercise.package}; to install it:")
        print(f"\n    {python()} -m pip install {exercise.package}\n")
    return not missing(exercise)


def hint(course: Course, options: argparse.Namespace) -> int:
    """Print one hint, and how to get the next; without a number, for the current exercise."""
    exercise, rung = options.exercise, options.rung
    if not exercise:
        if not able_to_check():
            return CANNOT
        exercise = next(iter(_unfinished(course)), course.exercises[-1])
    hints = exercise.hints(spoken())
    heading, text = hints[rung - 1]
    title(exercise, f"hint {rung} of {len(hints)}")
    print()
    say(heading)
    for paragraph in text.split("\n\n"):
        print()
        if paragraph.startswith("    "):  # code
            print(paragraph)
        else:
            say(paragraph)
    print()
    if rung < len(hints):
        say(command(f"hint {exercise.number} {rung + 1}"), "more")
    else:
        say(command(exercise.number), "next")
    return DONE


def see(course: Course, options: argparse.Namespace) -> int:
    """Draw what the learner's functions return, in text."""
    exercise = options.exercise
    if not able_to_check(exercise):
        return CANNOT
    from sketches import PICTURES, drawn, picture_of  # needs NumPy

    picture = None
    if exercise.begun and exercise.name in PICTURES:
        failures = contextlib.suppress(Exception, SystemExit)
        with failures, contextlib.redirect_stdout(io.StringIO()):
            picture = picture_of(exercise, load(exercise.work))
    if picture is None:
        numbers = " ".join(e.number for e in course.everything if e.name in PICTURES)
        say(
            f"There is nothing to draw: {command(exercise.number)} says what is missing. "
            f"Exercises with a picture: {numbers}."
        )
        return NOT_DONE
    say(picture["title"])
    print()
    print("\n".join(drawn(picture)))
    return DONE


def reset(course: Course, options: argparse.Namespace) -> int:
    """Begin an exercise again."""
    kept = options.exercise.reset()
    say(f"{short(options.exercise.work)} is the starter again.")
    if kept:
        say(f"Your old file is {short(kept)}.")
    return DONE


def list_all(course: Course, options: argparse.Namespace) -> int:
    """Print all exercises, with the progress of each."""
    for exercise in course.everything:
        state = "begun" if exercise.begun else "optional" * exercise.optional
        if exercise.begun and not missing(exercise):
            outcome = quietly_judge(exercise)
            state = bar(outcome.passed, outcome.total)
        name = padded(f"{exercise.number} {word(exercise.title)}", 30)
        minutes = told(f"{exercise.minutes} min")
        print(f"{name}{minutes:>7}  {word(state)}".rstrip())
    return DONE


def verify(course: Course, options: argparse.Namespace) -> int:
    """Test every assertion about the course, for one exercise or for all."""
    if not able_to_check(options.exercise):
        return CANNOT
    exercises = [options.exercise] if options.exercise else course.everything
    if not all((exercise.folder / "solution.py").exists() for exercise in exercises):
        say("This copy of the course has no solutions, so it cannot be verified.")
        return CANNOT
    proven = True
    for exercise in exercises:
        title(exercise)
        if absent := missing(exercise):
            say(f"not here: it is optional, and needs {' and '.join(absent)}")
            print()
            continue
        for sentence, faults_of in assertions_of(exercise).items():
            proven = _holds(sentence, faults_of(exercise)) and proven
        print()
    if not options.exercise:
        proven = _holds(str(manifest_faults.__doc__), manifest_faults(course)) and proven
        print()
    what = "The exercise" if options.exercise else "The course"
    say(f"{what} proves itself." if proven else f"{what} has faults, above.")
    return DONE if proven else NOT_DONE


def _holds(sentence: str, faults: list[str]) -> bool:
    """Print a sentence about the course, and its faults; return whether there are none."""
    say(sentence, "NO" if faults else "ok", colour=RED if faults else GREEN)
    for fault in faults:
        say(fault, indent=12)
    return not faults


# --- the command line --------------------------------------------------------------------------


def main(words: list[str]) -> int:
    """Do what the command line says; return 0 if all that was checked passes, 1 if not, else 2."""
    try:
        course = read_course()
    except ValueError as error:  # the file is an instructor's
        say(str(error))
        return CANNOT
    anywhere = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    of_what_is_said = f"of what is said; {course.language} if you do not choose one"
    anywhere.add_argument("--language", metavar="|".join(languages()), help=of_what_is_said)
    chosen, words = anywhere.parse_known_args(words)
    try:
        speak(chosen.language or course.language)
    except ValueError as error:  # its file is a translator's
        say(str(error))
        return CANNOT
    CHOSEN[:] = ["--language", chosen.language] if chosen.language else []

    def exercise(text: str) -> Exercise:
        found = course.find(text)
        if found is None:
            numbers = " ".join(exercise.number for exercise in course.exercises)
            said = f"{text!r} is neither a command (see --help) nor an exercise: {numbers}"
            for folder in HERE.glob(f"{text}_*") if text.isdigit() else ():
                said += f". There is a folder {folder.name}, but it is not in course.toml"
            raise argparse.ArgumentTypeError(said)
        return found

    parser = argparse.ArgumentParser(
        prog="run.py",
        description="Without a command: where you are, and what to do next. "
        "With a number, as in run.py 06: what the checks say about that exercise.",
        parents=[anywhere],
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    show = commands.add_parser("go", help="what the checks say; the word go may be left out")
    show.add_argument("exercise", nargs="?", type=exercise, help="06; else the first not done")
    at_every_save = "check again at every save, until Ctrl-C"
    show.add_argument("--watch", action="store_true", help=at_every_save)
    show.set_defaults(function=go)

    give = commands.add_parser("hint", help="a hint: hint 06, then hint 06 2, hint 06 3")
    give.add_argument("exercise", nargs="?", type=exercise, help="else the first not done")
    give.add_argument("rung", nargs="?", type=int, choices=(1, 2, 3), default=1)
    give.set_defaults(function=hint)

    draw = commands.add_parser("see", help="a picture of what your functions return: see 01")
    draw.add_argument("exercise", type=exercise)
    draw.set_defaults(function=see)

    again = commands.add_parser("reset", help="begin an exercise again; your old file is kept")
    again.add_argument("exercise", type=exercise)
    again.set_defaults(function=reset)

    commands.add_parser("list", help="all exercises").set_defaults(function=list_all)
    prove = commands.add_parser("verify", help="the course proves itself, or one exercise")
    prove.add_argument("exercise", nargs="?", type=exercise)
    prove.set_defaults(function=verify)
    if (HERE / "grader").is_dir():  # not in the bundle for students
        from grader.command import add_commands

        add_commands(commands)
    if not {"-h", "--help", *commands.choices} & set(words[:1]):
        words = ["go", *words]
    options = parser.parse_args(words)
    try:
        return int(options.function(course, options))
    except KeyboardInterrupt as stop:
        print()
        say("Stopped.")
        for work in (one.work for one in course.everything):
            if line := dict(place(stop, str(work))).get("at"):
                say(f"That was in {short(work)}, {line}")
                say("Is that loop endless?")
        return CANNOT


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack some characters
    status = CANNOT
    try:
        with contextlib.suppress(KeyboardInterrupt):  # a Ctrl-C after the command's own
            status = main(sys.argv[1:])
            sys.stdout.flush()
        # Everything is printed. A Ctrl-C while Python shuts down would print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
