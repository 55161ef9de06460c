"""The submissions of a class, found in the folder that a platform or an instructor has made."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course import Exercise
from grader.downloads import (
    BLACKBOARD,
    BRIGHTSPACE,
    CANVAS,
    LATE,
    METADATA,
    MOODLE,
    submitters,
    timed,
)
from grader.named import CODE, fit, half_width


@dataclass(frozen=True, order=True)
class Collected:
    """A file of a student that lies beside those of others, with the student's name in its own."""

    path: Path
    name: str  # without the student's name, and without the number of the resubmission
    nth: int = 0  # the number of the resubmission
    late: bool = False
    when: str = ""  # it was handed in, as an ISO time, if that is known


@dataclass(frozen=True, order=True)
class Submission:
    """The work that one student has handed in: folders, and files from elsewhere."""

    name: str
    folders: tuple[Path, ...] = ()  # the latest is the last
    collected: tuple[Collected, ...] = ()
    number: str = ""  # that a platform gives, which is no id
    participant: str = ""  # this number, if it is Moodle's
    login_is_last: bool = False  # in the name, behind the title of the homework
    times: tuple[str, ...] = ()  # of the folders, as ISO times, or ""


def submission_of(folder: Path) -> Submission:
    """Return the submission that is a folder."""
    return Submission(folder.resolve().name, (folder,))


ARCHIVE = ".zip"


def submissions(folder: Path, exercises: Sequence[Exercise]) -> tuple[list[Submission], list[Path]]:
    """Return the submissions of a class by name, and what lies there and belongs to nobody.

    Folders belong to the student that they are named after. Files belong to the student whose name
    they begin with. Both can be of the same student.
    """
    there = sorted(folder.iterdir())
    folders_there = [path for path in there if path.is_dir() and not is_left_by_a_program(path)]
    if len(folders_there) == 1 and (folders_there[0] / METADATA).is_file():
        there += sorted(folders_there[0].iterdir())  # an export of Gradescope, in a folder
        there.remove(folders_there[0])
    whose, times = submitters(there)
    folders: dict[str, list[tuple[str, Path]]] = {}
    files: dict[str, list[Collected]] = {}
    left_out = []
    for path in there:
        if path.is_symlink() or is_left_by_a_program(path):
            left_out.append(path)
        elif path.is_dir():
            who, _, when = timed(path.name) or (path.name, "", times.get(path.name, ""))
            found = MOODLE.fullmatch(path.name)
            who = found["who"] if found else whose.get(path.name, who)
            folders.setdefault(who, []).append((when, path))
        elif path.is_file() and (parted := _parted(path, exercises)):
            who, collected = parted
            files.setdefault(who, []).append(collected)
        elif path.name != METADATA:
            left_out.append(path)
    found_all = [
        _submission(who, folders.get(who, []), files.get(who, [])) for who in {**folders, **files}
    ]
    return sorted(found_all), left_out


def _submission(
    who: str, folders: Sequence[tuple[str, Path]], files: Sequence[Collected]
) -> Submission:
    times, paths = [*zip(*sorted(folders), strict=True)] or [(), ()]
    names = [path.name for path in (*paths, *(one.path for one in files))]
    moodle, blackboard, brightspace = (
        any(map(form.fullmatch, names)) for form in (MOODLE, BLACKBOARD, BRIGHTSPACE)
    )
    numbered = re.fullmatch(r".*_(\d+)", who)
    number = numbered[1] if numbered and (moodle or brightspace) else ""
    participant = number if moodle else ""
    return Submission(who, tuple(paths), tuple(files), number, participant, blackboard, times)


def is_zip(name: str) -> bool:
    """Whether the name of a file is that of a zip file."""
    return half_width(name).lower().endswith(ARCHIVE)


def is_left_by_a_program(path: Path) -> bool:
    """Whether it is no student's: .git, __MACOSX."""
    return path.name.startswith((".", "__"))


def _parted(path: Path, exercises: Sequence[Exercise]) -> tuple[str, Collected] | None:
    """Part the name of a file into the student's and its own."""
    who, name, nth, when = "", path.name, 0, ""
    if moodle := MOODLE.fullmatch(path.name):
        who, name = moodle["who"], moodle["name"]
    elif at_a_time := timed(path.name):
        who, name, when = at_a_time
        nth = int(re.sub(r"\D", "", when) or 0)
    elif canvas := CANVAS.fullmatch(path.name):
        who, name = canvas["who"], canvas["name"]
        if given := _of_exercise(Path(name), exercises):
            _, name, nth = given
    elif given := _of_exercise(path, exercises):
        who, name, nth = given
    elif is_zip(path.name):
        who = path.stem
    plain = LATE.sub("", who)
    collected = Collected(path, name or path.name, nth, plain != who, when)
    return (plain, collected) if plain else None


def _of_exercise(path: Path, exercises: Sequence[Exercise]) -> tuple[str, str, int] | None:
    """Return who is named beside an exercise, the exercise, and the number behind it."""
    path = Path(half_width(path.name))
    if path.suffix.lower() not in (*CODE, ARCHIVE):
        return None
    for exercise in exercises:
        if found := fit(path.stem, exercise):
            name = f"{exercise.name}{path.suffix}"
            return (
                (found["who"] or found["behind"] or "").strip("_- "),
                name,
                int(found["nth"] or 0),
            )
    return None


def belonging_to_nobody(left_out: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Say why each of these is no submission."""
    for path in left_out:
        if path.is_symlink():
            yield path, "a link, not followed"
        elif is_left_by_a_program(path):
            yield path, "left there by a program"
        else:
            yield path, "no student's name, not graded"
