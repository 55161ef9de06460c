"""The files of a submission's folder, which may contain anything."""

import json
import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from course import Exercise, has_complex_numbers, takes_from_the_package
from grader.kernel import MARK
from grader.report import clean_name

OURS = "gradcheck-ref-course"  # the tag of cells that the course wrote
MOST_BYTES = 1_000_000  # of a file in a submission; of a notebook, characters of code
MOST_BYTES_OF_A_NOTEBOOK = 10_000_000  # with its pictures
MOST_FILES = 20_000  # of a folder; a virtual environment has about this many


class NotTakenError(Exception):
    """There is no file to grade; the message says why. ``failed`` if that cannot be known."""

    def __init__(self, why: str, *, failed: bool = False) -> None:
        super().__init__(why)
        self.failed = failed


@dataclass(frozen=True)
class HandedIn:
    """The files of a submission."""

    folder: Path
    files: tuple[str, ...]  # paths in the folder, nearest to the top first; also of links, pipes
    troubles: tuple[str, ...]  # what could not be read

    def called(self, exercise: Exercise) -> list[str]:
        """Return the files that are named like an exercise, in any case."""
        wanted = (f"{exercise.name}.py", f"{exercise.name}.ipynb")
        return [file for file in self.files if Path(file).name.lower() in wanted]

    def read(self, exercise: Exercise) -> tuple[str, bytes]:
        """Return the path of the file that counts, and its content, or raise a NotTakenError."""
        name, found = f"{exercise.name}.py", self.called(exercise)
        if not found:
            near = [f for f in self.files if exercise.name in f.lower()]
            but = f", but {clean_name(Path(near[0]).name)} is" if near else ""
            why = "; ".join([f"{name} is not there{but}", *self.troubles])
            raise NotTakenError(why, failed=bool(self.troubles))
        if not found[0].lower().endswith(".ipynb"):
            return found[0], _content(self.folder / found[0], name, MOST_BYTES)
        name = f"{exercise.name}.ipynb"
        content = _content(self.folder / found[0], name, MOST_BYTES_OF_A_NOTEBOOK)
        return found[0], code_of(content, name)

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
    files, troubles = list[str](), list[str]()
    places, left = deque([""]), MOST_FILES
    while places and left:
        place = places.popleft()
        try:
            with os.scandir(folder / place) as entries:
                for entry in islice(entries, left):
                    left -= 1
                    path = os.path.join(place, entry.name)
                    (places if entry.is_dir(follow_symlinks=False) else files).append(path)
        except OSError as error:
            where = clean_name(place)[:100] or "the folder"
            troubles.append(f"{where} cannot be read: {error.strerror}")
    if not left:
        troubles.append(f"more than {MOST_FILES:,} files: not all looked at")
    # By depth; of the files in one folder, modules come before notebooks.
    files.sort(key=lambda file: (file.count(os.sep), file.endswith(".ipynb"), file))
    return HandedIn(folder, tuple(files), tuple(troubles))


def _content(path: Path, name: str, most: int) -> bytes:
    """Read an ordinary file: a link could lead to the solution, and a pipe never ends."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise NotTakenError(f"{name} is not an ordinary file")
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        why = f"{name} cannot be read: {error.strerror}"
        raise NotTakenError(why, failed=True) from None
    if len(content) > most:
        raise NotTakenError(f"{name} has more than {most:,} bytes")
    return content


def code_of(content: bytes, name: str) -> bytes:
    """Return the code of a notebook, cell by cell, without the cells of the course."""
    try:
        cells = [cell for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]
        theirs = [c for c in cells if OURS not in c.get("metadata", {}).get("tags", [])]
        sources = ["".join(cell["source"]) for cell in theirs]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotTakenError(f"{name} is no notebook: {type(error).__name__}") from None
    if sum(map(len, sources)) > MOST_BYTES:
        raise NotTakenError(f"{name} has more than {MOST_BYTES:,} characters of code")
    return "".join(f"{MARK}\n{source}\n" for source in sources).encode(errors="replace")
