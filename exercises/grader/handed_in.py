"""The files of a submission's folder, which may contain anything."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course import Exercise, has_complex_numbers, takes_from_the_package
from grader.cells import code_of
from grader.report import clean_name

MOST_BYTES = 1_000_000  # of a file in a submission
MOST_BYTES_OF_A_NOTEBOOK = 10_000_000  # with its pictures
MOST_FILES = 20_000  # of a folder; a virtual environment has about this many
MOST_DEPTH = 30


class NotTakenError(Exception):
    """There is no file to grade; the message says why. ``failed`` if that cannot be known."""

    failed = False


@dataclass(frozen=True)
class HandedIn:
    """The files of a submission, those nearest to the top first.

    Attributes
    ----------
    folder : Path
        Where they are.
    files : tuple of str
        Their paths in the folder; also of links, pipes and the like.
    troubles : tuple of str
        Files that could not be read.
    """

    folder: Path
    files: tuple[str, ...]
    troubles: tuple[str, ...]

    def called(self, exercise: Exercise) -> list[str]:
        """Return the files that are named like an exercise, in any case."""
        wanted = (f"{exercise.name}.py", f"{exercise.name}.ipynb")
        return [file for file in self.files if Path(file).name.lower() in wanted]

    def read(self, exercise: Exercise) -> tuple[str, bytes]:
        """Return the path of the file that counts, and its content.

        Raises
        ------
        NotTakenError
            If there is no such file, or it cannot be read.
        """
        name, found = f"{exercise.name}.py", self.called(exercise)
        if not found:
            near = [f for f in self.files if exercise.name in f.lower()]
            but = f", but {clean_name(Path(near[0]).name)} is" if near else ""
            error = NotTakenError("; ".join([f"{name} is not there{but}", *self.troubles]))
            error.failed = bool(self.troubles)
            raise error
        if not found[0].lower().endswith(".ipynb"):
            return found[0], _content(self.folder / found[0], name, MOST_BYTES)
        name = f"{exercise.name}.ipynb"
        content = _content(self.folder / found[0], name, MOST_BYTES_OF_A_NOTEBOOK)
        try:
            return found[0], code_of(content)
        except ValueError as error:
            raise NotTakenError(f"{name} is {error}") from None

    def notes(self, exercise: Exercise, taken: str, source: bytes) -> Iterator[str]:
        """Say what an instructor should look at: the package has the answers to most exercises."""
        name, text = f"{exercise.name}.py", source.decode("utf-8", errors="replace")
        starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
        if takes_from_the_package(text) and not takes_from_the_package(starter):
            yield f"{name} imports gradcheck_ref, which has most answers"
        if exercise.kind == "check" and has_complex_numbers(text):
            yield f"{name} has complex numbers: is its gradient derived, or a complex step?"
        if (copies := len(self.called(exercise))) > 1:
            yield f"{copies} files are called {name}, and this is {clean_name(taken)}"


def look(folder: Path) -> HandedIn:
    """Look through a folder, level by level; links are not followed."""
    files: list[str] = []
    troubles: list[str] = []
    level, seen = [""], 0
    for _ in range(MOST_DEPTH):
        below: list[str] = []
        for place in level:
            try:
                with os.scandir(folder / place) as entries:
                    for entry in entries:
                        seen += 1
                        path = os.path.join(place, entry.name)
                        is_folder = entry.is_dir(follow_symlinks=False)
                        (below if is_folder else files).append(path)
                        if seen == MOST_FILES:
                            troubles.append(f"more than {MOST_FILES:,} files: not all looked at")
                            return HandedIn(folder, _in_order(files), tuple(troubles))
            except OSError as error:
                where = clean_name(place)[:100] or "the folder"
                troubles.append(f"{where} cannot be read: {error.strerror}")
        level = below
        if not level:
            break
    else:
        troubles.append(f"folders in folders, more than {MOST_DEPTH} deep: not all looked at")
    return HandedIn(folder, _in_order(files), tuple(troubles))


def _in_order(files: list[str]) -> tuple[str, ...]:
    """Sort by depth; of files in one folder, modules before notebooks."""
    return tuple(sorted(files, key=lambda f: (f.count(os.sep), f.endswith(".ipynb"), f)))


def _content(path: Path, name: str, most: int) -> bytes:
    """Read an ordinary file: a link could lead to the solution, and a pipe never ends."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise NotTakenError(f"{name} is not an ordinary file")
        with open(os.open(path, flags), "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        unreadable = NotTakenError(f"{name} cannot be read: {error.strerror}")
        unreadable.failed = True
        raise unreadable from None
    if len(content) > most:
        raise NotTakenError(f"{name} has more than {most:,} bytes")
    return content
