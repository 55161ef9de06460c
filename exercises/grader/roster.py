"""The students of a class, from a table that its platform exports, or made by hand."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

# The heads of columns that say who somebody is, in English, German and Chinese, as the platforms
# write them: all other columns, such as grades, are ignored. Capitals, spaces, hyphens,
# underscores and full stops do not matter.
NAMES = (
    *("student", "name", "full name", "student name", "display name"),
    *("last name, first name", "name, first name", "name, vorname", "nachname, vorname"),
    *("vollständiger name", "teilnehmer", "姓名", "学生", "学生姓名", "全名"),
)
FIRST = ("first name", "given name", "vorname", "名", "名字")
LAST = ("last name", "surname", "family name", "nachname", "familienname", "姓", "姓氏")
IDS = (
    *("id", "sis user id", "sis login id", "id number", "student id", "sid", "identifier"),
    *("username", "user name", "login", "email", "email address", "display id"),
    *("orgdefinedid", "anonymous id", "github", "github username", "user id"),
    *(
        "id nummer",
        "matrikelnummer",
        "matrikelnr",
        "matrikel nr",
        "matrikel",
        "kennung",
        "benutzername",
        "anmeldename",
    ),
    *("e mail", "e mail adresse", "学号", "编号", "标识", "标识符", "用户名", "账号"),
    *("邮箱", "电子邮件", "邮箱地址", "电子邮件地址"),
)
# What a late submission is judged by, see ``late``.
HANDED_IN = ("handed in", "submission time", "abgegeben", "提交时间")
EXTENSION = ("extension", "verlängerung", "延期")  # in days
NOBODY = ("points possible", "student, test")  # rows of Canvas's gradebook
SEPARATORS = ",;\t"
# Moodle's worksheets number the participants of an assignment: "Participant 123".
PARTICIPANT = re.compile(r"(?:participant|teilnehmer\S*?|参与者|参加者|学员) ?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Student:
    """A row of the roster: only columns that say who somebody is."""

    cells: Mapping[str, str] = field(hash=False)
    names: tuple[str, ...]  # the whole name, as one or two columns have it
    parts: tuple[tuple[str, str], ...]  # given names and surname, where they can be told apart
    logins: frozenset[str]  # and addresses
    numbers: frozenset[str]
    participant: str  # the number of Moodle's, if there is a column of these
    handed_in: str = ""
    extension: float = 0.0  # days

    @property
    def name(self) -> str:
        """The name, as the roster writes it."""
        return next((name for name in (*self.names, *self.cells.values()) if name), "")


def read_roster(path: Path) -> list[Student]:
    """Read a table whose first row names the columns."""
    heads, *rows = read_cells(path)
    every = (*NAMES, *FIRST, *LAST, *IDS)
    known = [i for i, head in enumerate(heads) if head_of(head) in every]
    if not known:
        raise ValueError(
            f"{path.name} has no column that says who somebody is: its first row is "
            f"{', '.join(heads)!r}. Columns may be called {', '.join(every)}."
        )
    found = []
    for row in rows:
        cells = {heads[i].strip(): row[i].strip() if i < len(row) else "" for i in known}
        if any(cells.values()) and not {*map(str.lower, cells.values())} & {*NOBODY}:
            more = {head_of(head): cell.strip() for head, cell in zip(heads, row, strict=False)}
            found.append(_student(cells, more, path))
    return found


def read_cells(path: Path) -> list[list[str]]:
    """Read a table, in the encoding and with the separator of any spreadsheet; one row at least."""
    text = _decoded(path)
    first = text.partition("\n")[0]
    separator = max(SEPARATORS, key=re.sub('"[^"]*"', "", first).count)
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=separator)] or [[]]


def _decoded(path: Path) -> str:
    raw = path.read_bytes()
    if raw.startswith(b"PK"):
        raise ValueError(f"{path.name} is a spreadsheet; save it as CSV, which the grader reads.")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16")
    for encoding in ("utf-8-sig", "gb18030"):  # as spreadsheets write it in China
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        heads = {*map(head_of, re.split(f"[{SEPARATORS}]", text.partition("\n")[0]))}
        chinese = {head for head in (*NAMES, *FIRST, *LAST, *IDS) if head > "\u3400"}
        # A letter with an accent stands alone, more often than not; a Chinese one is two bytes.
        pairs = all(len(run) % 2 == 0 for run in re.findall(rb"[\x80-\xff]+", raw))
        if encoding != "gb18030" or heads & chinese or pairs:
            return text
    return raw.decode("cp1252", errors="replace")  # and elsewhere on Windows


def head_of(text: str) -> str:
    """Write the head of a column as the tables above have it."""
    return re.sub(r"[\s_.-]+", " ", text.strip().strip('"').lower()).strip()


def _student(cells: Mapping[str, str], more: Mapping[str, str], path: Path) -> Student:
    days = next((more[head] for head in EXTENSION if more.get(head)), "0")
    if not re.fullmatch(r"\d+(?:[.,]\d+)?", days):
        raise ValueError(f"{path.name}: an extension is a number of days, and not {days!r}.")
    handed_in = next((more[head] for head in HANDED_IN if more.get(head)), "")
    try:
        if handed_in:
            datetime.fromisoformat(handed_in)
    except ValueError:
        raise ValueError(
            f"{path.name}: a time is written as 2026-11-08 23:59, and not {handed_in!r}."
        ) from None
    by_head = {head_of(head): cell.lstrip("#") for head, cell in cells.items()}

    def first_of(heads: tuple[str, ...]) -> str:
        return next((by_head[head] for head in heads if by_head.get(head)), "")

    first, last, whole = map(first_of, (FIRST, LAST, NAMES))
    if whole and first and not last and first not in whole:
        whole, last = "", whole  # Name;Vorname
    names, parts = [], []
    if whole:
        names.append(whole)
        surname, comma, given = whole.partition(",")  # Lovelace, Ada
        given, surname = (given, surname) if comma else (whole, whole)
        parts.append((given, surname))
    if first and last:
        names.append(f"{first} {last}")
        parts.append((first, last))
    ids = [by_head[head] for head in IDS if by_head.get(head)]
    participants = [found[1] for one in ids if (found := PARTICIPANT.fullmatch(one))]
    logins = (one for one in ids if not one.isdecimal() and not PARTICIPANT.fullmatch(one))
    numbers = (found for one in ids for found in re.findall(r"^(?:\D* )?(\d+)$", one))
    return Student(
        cells,
        tuple(names),
        tuple(parts),
        frozenset(logins),
        frozenset((*numbers, *participants)),
        participants[0] if participants else "",
        handed_in,
        float(days.replace(",", ".")),
    )
