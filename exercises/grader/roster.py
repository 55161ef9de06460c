"""The students of a class, from a table that its platform exports, and who handed in what."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# The heads of columns that say who somebody is, in the exports of Canvas and Moodle and in tables
# made by hand. All other columns, such as grades, are ignored.
NAMES = ("student", "name", "full name", "first name", "given name", "last name", "surname")
IDS = (
    *("id", "sis user id", "sis login id", "id number", "student id", "identifier"),
    *("username", "user name", "login", "email", "email address"),
)
NOBODY = ("points possible", "student, test")  # rows of Canvas's gradebook
SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Student:
    """A row of the roster: only columns that say who somebody is."""

    cells: Mapping[str, str] = field(hash=False)
    names: frozenset[str]  # ways to write the name, an address or a login
    numbers: frozenset[str]

    @property
    def name(self) -> str:
        """The name, as the roster writes it."""
        by_head = {head.lower(): cell for head, cell in self.cells.items()}
        whole = (by_head.get(head) for head in NAMES[:3])
        parts = (by_head.get(head) for head in NAMES[3:])
        ids = (cell for cell in self.cells.values() if cell)
        return next(filter(None, whole), "") or " ".join(filter(None, parts)) or next(ids, "")


def read_roster(path: Path) -> list[Student]:
    """Read a table whose first row names the columns; it may come from a spreadsheet."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:  # as a spreadsheet writes it on Windows
        text = raw.decode("cp1252", errors="replace")
    first = text.partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    heads, *rows = [*csv.reader(text.splitlines(), delimiter=separator)] or [[]]
    known = [i for i, head in enumerate(heads) if head.strip().lower() in (*NAMES, *IDS)]
    if not known:
        raise ValueError(
            f"{path.name} has no column that says who somebody is: its first row is "
            f"{', '.join(heads)!r}. Columns may be called {', '.join((*NAMES, *IDS))}."
        )
    found = []
    for row in rows:
        cells = {heads[i].strip(): row[i].strip() if i < len(row) else "" for i in known}
        if any(cells.values()) and not {*map(str.lower, cells.values())} & {*NOBODY}:
            found.append(_student(cells))
    return found


def _student(cells: Mapping[str, str]) -> Student:
    by_head = {head.lower(): cell for head, cell in cells.items()}
    first = by_head.get("first name") or by_head.get("given name") or ""
    last = by_head.get("last name") or by_head.get("surname") or ""
    told = [first + last, last + first] if first and last else []
    for head in NAMES[:3]:
        parts = by_head.get(head, "").split(",")
        told += ["".join(parts), "".join(parts[::-1])]  # Lovelace, Ada
    ids = [by_head.get(head, "") for head in IDS]
    told += [part for cell in ids for part in (cell, cell.partition("@")[0])]
    numbers = (found for cell in ids for found in re.findall(r"^(?:\D* )?(\d+)$", cell))
    names = frozenset(map(plain, told)) - {""}
    return Student(cells, frozenset(n for n in names if not n.isdecimal()), frozenset(numbers))


def plain(name: str) -> str:
    """Write a name in small letters and digits only, without accents."""
    parts = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in parts if letter.isalnum())


def matched(students: Iterable[Student], submissions: Iterable[str]) -> dict[str, Student]:
    """Return the student of each submission, by the submission's name, where there is only one.

    A name decides. The numbers in it decide between students of one name, and where no name fits:
    but not for a student with another name, as a platform's number may be the id of anybody.
    """
    students, found = [*students], {}
    for submission in submissions:
        ways = {plain(submission), plain(re.sub(r"\d+", "", submission))}
        numbers = {*re.findall(r"\d+", submission)}
        by_name = [one for one in students if one.names & ways]
        alike = by_name or [one for one in students if not _has_another_name(one, submission)]
        by_number = [one for one in alike if one.numbers & numbers]
        fitting = by_name if len(by_name) == 1 else by_number
        if len(fitting) == 1:
            found[submission] = fitting[0]
    return found


def _has_another_name(student: Student, submission: str) -> bool:
    """Whether there are words in both names, and none that they share."""
    words = {*map(plain, re.findall(r"[^\W\d_]{3,}", submission))}
    named = any(cell and head.lower() in NAMES for head, cell in student.cells.items())
    shared = any(word in name for word in words for name in student.names)
    return bool(words) and named and not shared


def differences(students: Iterable[Student], found: Mapping[str, Student]) -> Iterator[str]:
    """Say which students have no submission, or more than one."""
    for student in students:
        theirs = [name for name, one in found.items() if one is student]
        if not theirs:
            yield f"no submission: {student.name}"
        elif len(theirs) > 1:
            yield f"{len(theirs)} submissions of one student: {student.name}: {', '.join(theirs)}"
