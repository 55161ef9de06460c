"""The files of a submission, which may contain anything."""

import contextlib
import io
import json
import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath
from typing import BinaryIO

from course import Exercise, has_complex_numbers, read_course, takes_from_the_package
from grader.archives import BadArchiveError, names_in, read_from
from grader.collected import Submission, is_zip, submission_of
from grader.kernel import MARK
from grader.named import WITH_MORE, comes_last, likeness
from grader.report import clean_name
from verify import TRIAL

OURS = "gradcheck-ref-course"  # the tag of cells that the course wrote
OUR_CELLS = (1, 3, 4)  # the numbers in their ids: they set up, check and try
# What these cells say, if a program has taken away the tags.
SETS_UP = re.compile(r"^from in_notebook import check$", re.MULTILINE)
CHECKS = re.compile(r"""\s*check\(["']\w+["'], globals\(\)\);?\s*""")
MOST_BYTES = 1_000_000  # of a file in a submission; of a notebook, characters of code
MOST_BYTES_OF_A_NOTEBOOK = 10_000_000  # with its pictures
MOST_BYTES_OF_AN_ARCHIVE = 20_000_000  # in another one, which is unpacked in memory
DEEPEST, MOST_ARCHIVES = 3, 50  # zip files in zip files, and of each level
MOST_FILES = 20_000  # of a submission; a virtual environment has about this many
MOST_NAMED = 3  # files that are there, if the right one is not


class NotTakenError(Exception):
    """There is no file to grade; the message says why. ``failed`` if that cannot be known."""

    def __init__(self, why: str, *, failed: bool = False) -> None:
        super().__init__(why)
        self.failed = failed


@dataclass(frozen=True)
class File:
    """A file of a submission; also a link, a pipe, or a file in a zip file."""

    name: str  # its path in the submission, without the student's name
    path: Path  # on the disk
    members: tuple[str, ...] = ()  # its name in the zip file at the path, or in one in that
    nth: int = 0  # the number of the resubmission
    late: bool = False
    when: str = ""  # it was handed in, as an ISO time, if that is known
    fault: str = ""  # of a zip file that cannot be opened


@dataclass(frozen=True)
class HandedIn:
    """The files of a submission."""

    name: str
    files: tuple[File, ...]
    troubles: tuple[str, ...]  # what could not be read

    def called(self, exercise: Exercise) -> list[File]:
        """Return the files whose name is that of an exercise or nearly that, the best first."""
        found = []
        for file in self.files:
            if fits := likeness(file.name, exercise):
                nearly, nth = fits
                notebook = file.name.lower().endswith(".ipynb")
                depth = file.name.count("/")
                # What was handed in later counts, unless it only begins with the name.
                before = comes_last(file.name), nearly == WITH_MORE, -file.nth
                nth -= _version(file.name)
                found.append(((before, nearly, depth, nth, notebook, file.name), file))
        ordered = [file for _, file in sorted(found, key=lambda pair: pair[0])]
        # A starter that nobody has changed, or an empty file, is no answer if there is another.
        idle = [f for f in ordered if len(ordered) > 1 and _is_untouched(f, exercise)]
        return [file for file in ordered if file not in idle] + idle

    def read(self, exercise: Exercise) -> tuple[str, bytes]:
        """Return the name of the file that counts, and its code, or raise a NotTakenError."""
        found = self.called(exercise)
        if not found:
            why = "; ".join(
                [f"{exercise.name}.py is not there{self._but(exercise)}", *self.troubles]
            )
            raise NotTakenError(why, failed=bool(self.troubles))
        source, kind = _source(found[0], exercise)
        return str(PurePath(found[0].name).with_suffix(kind)), source

    def when(self, exercise: Exercise) -> str:
        """Return when the file that counts was handed in, as an ISO time, if that is known."""
        return next((file.when for file in self.called(exercise)), "")

    def _but(self, exercise: Exercise) -> str:
        """Name what is there, and belongs to no other exercise."""
        words = exercise.name.partition("_")[2]
        there = [file for file in self._unclaimed if words in file.name.lower()] or self._unclaimed
        if not there:
            return ""
        told = [
            clean_name(file.name.split("/")[-1]) + f" (it {file.fault})" * bool(file.fault)
            for file in there
        ]
        return f", but {_listed(told)} {'is' if len(told) == 1 else 'are'}"

    @cached_property
    def _unclaimed(self) -> list[File]:
        """The files that belong to no exercise, and that no program has made."""
        course = read_course().exercises
        return [
            file
            for file in self.files
            if not file.name.rpartition("/")[2].startswith((".", "__"))
            and not any(likeness(file.name, exercise) for exercise in course)
        ]

    def notes(self, exercise: Exercise, taken: str, source: bytes) -> Iterator[str]:
        """Say what an instructor should look at: the package has the answers to most exercises."""
        name, text = f"{exercise.name}.py", source.decode("utf-8", errors="replace")
        starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
        if takes_from_the_package(text) and not takes_from_the_package(starter):
            yield f"{name} imports gradcheck_ref, which has most answers"
        if exercise.kind == "check" and has_complex_numbers(text):
            yield f"{name} has complex numbers: is its gradient derived, or a complex step?"
        yield from self._notes_on_the_file(exercise, clean_name(taken))

    def _notes_on_the_file(self, exercise: Exercise, taken: str) -> Iterator[str]:
        """Say which of several files this is, and what is strange about it."""
        found = self.called(exercise)
        if not found:
            return
        exact = f"{exercise.name}.py", f"{exercise.name}.ipynb"
        if Path(found[0].name).name.lower() not in exact:
            yield f"{taken} was taken for {exercise.name}.py"
        if len(found) > 1:
            others = [clean_name(file.name) for file in found[1:]]
            if all(Path(file.name).name.lower() == exact[0] for file in found):
                yield f"{len(found)} files are called {exact[0]}, and this is {_told_apart(found)}"
            else:
                yield f"{taken} counts, not {_listed(others)}"
        if found[0].late:
            yield f"{taken} was handed in late"
        raw = _raw(found[0], exercise)
        real = clean_name(found[0].name)
        if _is_notebook(raw) and not real.lower().endswith(".ipynb"):
            yield f"{real} is a notebook, renamed"
        if _is_utf16(raw):
            yield f"{real} is saved as UTF-16, which Python does not read"


def _told_apart(files: Sequence[File]) -> str:
    """Name the first of several files so that no other has the name."""
    ways = [(f.name, f.path.name, f"{f.path.parent.name}/{f.name}") for f in files]
    alone = [name for name, *others in zip(*ways, strict=True) if name not in others]
    return clean_name((alone or ways[0])[0])


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" * (len(names) > MOST_NAMED)
    return ", ".join(names[:MOST_NAMED]) + more


def look(one: Path | Submission) -> HandedIn:
    """Look through a submission, level by level; links are not followed."""
    submission = submission_of(one) if isinstance(one, Path) else one
    files, troubles = list[File](), list[str]()
    left = MOST_FILES
    for nth, folder in enumerate(submission.folders):
        found = list[File]()
        left -= _walk(folder, left, found, troubles)
        when = submission.times[nth] if submission.times else ""
        files += [replace(file, nth=nth, when=when) for file in found]
    files += [
        File(c.name, c.path, nth=c.nth, late=c.late, when=c.when) for c in submission.collected
    ]
    for _ in range(DEEPEST):
        zipped = [f for f in files if is_zip(f.name) and not f.fault]
        for archive in zipped[:MOST_ARCHIVES]:
            inside = _inside(archive)
            left -= len(inside)
            files = [file for file in files if file is not archive] + inside[: max(left, 0)]
    if left <= 0:
        troubles.append(f"more than {MOST_FILES:,} files: not all looked at")
    files.sort(key=lambda file: (file.name.count("/"), file.name.endswith(".ipynb"), file.name))
    return HandedIn(submission.name, tuple(files), tuple(troubles))


def _version(name: str) -> int:
    """Return the number of the last folder that Teams makes for each time: ``Version 2/``."""
    return max(map(int, re.findall(r"(?i)(?:^|/)version (\d{1,4})(?=/)", name)), default=0)


def _inside(archive: File) -> list[File]:
    """Return the files in a zip file; if it cannot be opened, the zip file, and why."""
    try:
        with _unpacked(archive, archive.members, "") as opened:
            return [
                replace(archive, name=f"{archive.name}/{name}", members=(*archive.members, name))
                for name in names_in(opened)
            ]
    except (BadArchiveError, NotTakenError) as error:
        return [replace(archive, fault=str(error).strip())]


@contextlib.contextmanager
def _unpacked(file: File, members: Sequence[str], name: str) -> Iterator[BinaryIO]:
    """Open a file on the disk, or a zip file in it, in memory."""
    with _opened(file.path, name) as opened:
        for member in members:
            opened = io.BytesIO(read_from(opened, member, MOST_BYTES_OF_AN_ARCHIVE))
        yield opened


def _walk(folder: Path, most: int, files: list[File], troubles: list[str]) -> int:
    """Add the files in a folder, and what cannot be read; return how many things there are."""
    places, left = deque([""]), most
    while places and left > 0:
        place = places.popleft()
        try:
            with os.scandir(folder / place) as entries:
                for entry in islice(entries, left):
                    left -= 1
                    path = os.path.join(place, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        places.append(path)
                    else:
                        files.append(File(path, folder / path))
        except OSError as error:
            where = clean_name(place)[:100] or "the folder"
            troubles.append(f"{where} cannot be read: {error.strerror}")
    return most - left


def _opened(path: Path, name: str) -> BinaryIO:
    """Open an ordinary file: a link could lead to the solution, and a pipe never ends."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise NotTakenError(f"{clean_name(name)} is not an ordinary file")
        return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except OSError as error:
        why = f"{clean_name(name)} cannot be read: {error.strerror}"
        raise NotTakenError(why, failed=True) from None


def _raw(file: File, exercise: Exercise) -> bytes:
    """Return what is in a file, as it is."""
    notebook = file.name.lower().endswith(".ipynb")
    name = f"{exercise.name}{'.ipynb' if notebook else '.py'}"
    try:
        with _unpacked(file, file.members[:-1], name) as opened:
            if not file.members:
                content = opened.read(MOST_BYTES_OF_A_NOTEBOOK + 1)
            else:
                content = read_from(opened, file.members[-1], MOST_BYTES_OF_A_NOTEBOOK)
    except OSError as error:
        raise NotTakenError(f"{name} cannot be read: {error.strerror}", failed=True) from None
    except BadArchiveError as error:
        raise NotTakenError(f"{name} {error}") from None
    most = MOST_BYTES_OF_A_NOTEBOOK if notebook or _is_notebook(content) else MOST_BYTES
    if len(content) > most:
        raise NotTakenError(f"{name} has more than {most:,} bytes")
    return content


def _source(file: File, exercise: Exercise) -> tuple[bytes, str]:
    """Return the code in a file, and the ending that its kind has, in the case of its own."""
    content, kind = _raw(file, exercise), PurePath(file.name).suffix
    if _is_utf16(content):
        content = content.decode("utf-16", errors="replace").encode()
    if kind.lower() == ".ipynb" or _is_notebook(content):
        kind = kind if kind.lower() == ".ipynb" else ".ipynb"
        content = code_of(content, f"{exercise.name}.ipynb", exercise)
    return content, kind


def _is_notebook(content: bytes) -> bool:
    return content.lstrip().startswith(b"{") and b'"cells"' in content


def _is_utf16(content: bytes) -> bool:
    return content.startswith((b"\xff\xfe", b"\xfe\xff"))


def _is_untouched(file: File, exercise: Exercise) -> bool:
    """Whether a file is empty, or the starter, with or without its trial, or a fresh notebook."""
    try:
        source = _source(file, exercise)[0].decode("utf-8-sig", errors="replace")
    except NotTakenError:
        return False
    starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
    return _words_of(source) in ([], _words_of(starter))


def _words_of(source: str) -> list[str]:
    return re.sub(r"#.*", "", source.partition(TRIAL)[0]).split()


def code_of(content: bytes, name: str, exercise: Exercise | None = None) -> bytes:
    """Return the code of a notebook, cell by cell, without the cells of the course."""
    try:
        notebook = json.loads(content)
        if "worksheets" in notebook:  # where the cells were before format 4
            raise NotTakenError(f"{name} has an old format: open and save it in a newer Jupyter")
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        theirs = [c for c in cells if OURS not in c.get("metadata", {}).get("tags", [])]
        ours = [f"{exercise.name}-{i}" for i in OUR_CELLS] if exercise else []
        sources = ["".join(c["source"]) for c in theirs if c.get("id") not in ours]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotTakenError(f"{name} is no notebook: {type(error).__name__}") from None
    sources = [source for source in sources if not _is_ours(source, exercise)]
    if sum(map(len, sources)) > MOST_BYTES:
        raise NotTakenError(f"{name} has more than {MOST_BYTES:,} characters of code")
    return "".join(f"{MARK}\n{source}\n" for source in sources).encode(errors="replace")


def _is_ours(source: str, exercise: Exercise | None) -> bool:
    """Whether a cell without tags says what a cell of the course says."""
    if SETS_UP.search(source) or CHECKS.fullmatch(source):
        return True
    if exercise is None or not source.strip():
        return False
    starter = (exercise.folder / "starter.py").read_text(encoding="utf-8")
    return source.split() == starter.partition(TRIAL)[2].split()
