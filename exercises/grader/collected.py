"""The submissions of a class, found in the folder that a platform or an instructor has made."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from course import Exercise
from grader.named import CODE, names


@dataclass(frozen=True, order=True)
class Collected:
    """A file of a student that lies beside those of others, with the student's name in its own."""

    path: Path
    name: str  # without the student's name, and without the number of the resubmission
    nth: int = 0  # the number of the resubmission
    late: bool = False


@dataclass(frozen=True, order=True)
class Submission:
    """The work that one student has handed in: folders, and files from elsewhere."""

    name: str
    folders: tuple[Path, ...] = ()
    collected: tuple[Collected, ...] = ()


def submission_of(folder: Path) -> Submission:
    """Return the submission that is a folder."""
    return Submission(folder.resolve().name, (folder,))


# Moodle makes folders "Ada Lovelace_123_assignsubmission_file_", and another for text typed online,
# or it puts that before the names of files.
MOODLE = re.compile(r"(?P<who>.+?)_assignsubmission_[a-z]+_?(?P<name>.*)", re.IGNORECASE)
# Canvas names files ada_LATE_17_2345_essay.pdf: student, number of the student, of the file.
CANVAS = re.compile(r"(?P<who>.+?_\d+)_\d+_(?P<name>.+)")
LATE = re.compile(r"_LATE(?=_|$)", re.IGNORECASE)
ARCHIVE = ".zip"


def submissions(folder: Path, exercises: Sequence[Exercise]) -> tuple[list[Submission], list[Path]]:
    """Return the submissions of a class by name, and what lies there and belongs to nobody.

    Folders belong to the student that they are named after. Files belong to the student whose name
    they begin with. Both can be of the same student.
    """
    folders: dict[str, list[Path]] = {}
    files: dict[str, list[Collected]] = {}
    left_out = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith((".", "__")):  # as .git and __MACOSX
            left_out.append(path)
        elif path.is_dir():
            found = MOODLE.fullmatch(path.name)
            folders.setdefault(found["who"] if found else path.name, []).append(path)
        elif path.is_file() and (parted := _parted(path, exercises)):
            who, collected = parted
            files.setdefault(who, []).append(collected)
        else:
            left_out.append(path)
    found_all = [
        Submission(who, tuple(folders.get(who, ())), tuple(files.get(who, ())))
        for who in {**folders, **files}
    ]
    return sorted(found_all), left_out


def _parted(path: Path, exercises: Sequence[Exercise]) -> tuple[str, Collected] | None:
    """Part the name of a file into the student's and its own."""
    who, name, nth = "", path.name, 0
    if moodle := MOODLE.fullmatch(path.name):
        who, name = moodle["who"], moodle["name"]
    elif path.suffix.lower() in (*CODE, ARCHIVE) and (given := _of_exercise(path, exercises)):
        who, name, nth = given
    elif canvas := CANVAS.fullmatch(path.name):
        who, name = canvas["who"], canvas["name"]
    elif path.suffix.lower() == ARCHIVE and not _of_exercise(path, exercises):
        who = path.stem
    plain = LATE.sub("", who)
    late = plain != who
    if short := re.fullmatch(r"(.+?_\d+)(?:_\d+)*", plain):  # without the number of the file
        plain = short[1]
    return (plain, Collected(path, name, nth, late)) if plain else None


def _of_exercise(path: Path, exercises: Sequence[Exercise]) -> tuple[str, str, int] | None:
    """Return who is named before an exercise, the exercise, and the number behind it."""
    for exercise in exercises:
        found = names(exercise).fullmatch(path.stem)
        if found and (found["number"] or re.search(r"_\d+$", found["who"] or "")):
            name = f"{exercise.name}{path.suffix}"
            return (found["who"] or "").rstrip("_- "), name, int(found["nth"] or 0)
    return None


def belonging_to_nobody(left_out: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Say why each of these is no submission."""
    for path in left_out:
        if path.is_symlink():
            yield path, "a link, not followed"
        elif path.name.startswith((".", "__")):
            yield path, "left there by a program"
        else:
            yield path, "no student's name, not graded"
