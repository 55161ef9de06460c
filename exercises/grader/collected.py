"""The submissions of a class, found in the folder that a platform or an instructor has made."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from course import Exercise
from grader.named import CODE, fit


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
    participant: str = ""  # the number that Moodle gives, which is no id
    when: str = ""  # it was handed in, as an ISO time, if that is known


def submission_of(folder: Path) -> Submission:
    """Return the submission that is a folder."""
    return Submission(folder.resolve().name, (folder,))


# Moodle makes folders "Ada Lovelace_123_assignsubmission_file_", and another for text typed online,
# or it puts that before the names of files.
MOODLE = re.compile(r"(?P<who>.+?)_assignsubmission_[a-z]+_?(?P<name>.*)", re.IGNORECASE)
# Canvas names files ada_LATE_17_2345_essay.pdf: student, number of the student, of the file. If the
# students are anonymous, LATE_anon_Q1w2E_2345_essay.pdf.
CANVAS = re.compile(r"(?P<who>(?:LATE_)?anon_[^_]+|.+?_\d+)_\d+_(?P<name>.+)")
# What is handed in again has a time: HW1_bray_attempt_2026-11-01-10-20-30_essay.pdf in Blackboard,
# "123-45 - Ada Lovelace - Nov 1, 2026 1020 AM - essay.pdf" in Brightspace; folders, too.
BLACKBOARD = re.compile(r"(?P<who>.+)_attempt_(?P<when>\d{4}(?:-\d\d)+)(?:_(?P<name>.+)|\.\w+)?")
BRIGHTSPACE = re.compile(
    r"(?P<id>\d+)-\d+ - (?P<who>.+?) - (?P<when>\w+ \d+, \d{4} \d+ [AP]M)(?: - (?P<name>.+))?"
)
LATE = re.compile(r"LATE_(?=anon_)|_LATE(?=_|$)", re.IGNORECASE)
ARCHIVE = ".zip"
# Gradescope's folders have numbers; this file beside them says whose they are.
METADATA = "submission_metadata.yml"
FOLDER, KEY = re.compile(r"(\S.*?): *"), re.compile(r"( +)(?:- )?:(\w+): *(.*?) *")


def submissions(folder: Path, exercises: Sequence[Exercise]) -> tuple[list[Submission], list[Path]]:
    """Return the submissions of a class by name, and what lies there and belongs to nobody.

    Folders belong to the student that they are named after. Files belong to the student whose name
    they begin with. Both can be of the same student.
    """
    there = sorted(folder.iterdir())
    exports = [path for path in there if (path / METADATA).is_file()]
    if len(exports) == 1:  # an export of Gradescope, unpacked into a folder
        there = sorted(exports[0].iterdir()) + [path for path in there if path not in exports]
    submitters, times = _submitters(there)
    folders: dict[str, list[tuple[str, Path]]] = {}
    files: dict[str, list[Collected]] = {}
    participants: dict[str, str] = {}
    left_out = []
    for path in there:
        if path.is_symlink() or path.name.startswith((".", "__")):  # as .git and __MACOSX
            left_out.append(path)
            continue
        if path.name == METADATA:
            continue
        moodle = MOODLE.fullmatch(path.name)
        if moodle and (number := re.search(r"_(\d+)$", moodle["who"])):
            participants[moodle["who"]] = number[1]
        if path.is_dir():
            who, _, when = _timed(path.name) or (path.name, "", times.get(path.name, ""))
            who = moodle["who"] if moodle else submitters.get(path.name, who)
            folders.setdefault(who, []).append((when, path))
        elif path.is_file() and (parted := _parted(path, exercises)):
            who, collected = parted
            files.setdefault(who, []).append(collected)
        else:
            left_out.append(path)
    found_all = [
        Submission(
            who,
            tuple(path for _, path in sorted(folders.get(who, ()))),
            tuple(files.get(who, ())),
            participants.get(who, ""),
            max([when for when, _ in folders.get(who, ())] + [c.when for c in files.get(who, ())]),
        )
        for who in {**folders, **files}
    ]
    return sorted(found_all), left_out


def _submitters(there: Sequence[Path]) -> tuple[dict[str, str], dict[str, str]]:
    """Read who handed in each folder, name, number and address, and when, if Gradescope says so."""
    metadata = next((path for path in there if path.name == METADATA and path.is_file()), None)
    text = metadata.read_text(encoding="utf-8", errors="replace") if metadata else ""
    teams: dict[str, list[dict[str, str]]] = {}
    times: dict[str, str] = {}
    name = part = ""
    for line in text.splitlines():
        if folder := FOLDER.fullmatch(line):
            name = folder[1].strip("'\"")
            teams[name] = []
        elif found := KEY.fullmatch(line):
            key, value = found[2], found[3].strip("'\"")
            if len(found[1]) == 2 and "- " not in line:  # of the folder: submitters, results, ...
                part = key
            if part == key == "created_at":
                times[name] = value.replace(" Z", "Z")
            elif part == "submitters" and key == "name":
                teams[name].append({key: value})
            elif part == "submitters" and key in ("sid", "email") and teams[name]:
                teams[name][-1][key] = value
    told = {
        folder: " and ".join("_".join(filter(None, who.values())) for who in team)
        for folder, team in teams.items()
        if team
    }
    return told, times


def _timed(name: str) -> tuple[str, str, str] | None:
    """Part the name of something that was handed in at a time: who, the rest, and the time."""
    if found := BLACKBOARD.fullmatch(name):
        who, form, when = found["who"], "%Y-%m-%d-%H-%M-%S", found["when"]
    elif found := BRIGHTSPACE.fullmatch(name):
        day, clock = found["when"].rsplit(", ", 1)
        year, clock, half = clock.split()
        when, form = f"{day} {year} {clock:0>4} {half}", "%b %d %Y %I%M %p"
        who = f"{found['who']}_{found['id']}"
    else:
        return None
    try:
        return who, found["name"] or "", datetime.strptime(when, form).isoformat()
    except ValueError:  # in another language
        return who, found["name"] or "", ""


def _parted(path: Path, exercises: Sequence[Exercise]) -> tuple[str, Collected] | None:
    """Part the name of a file into the student's and its own."""
    who, name, nth, when = "", path.name, 0, ""
    if moodle := MOODLE.fullmatch(path.name):
        who, name = moodle["who"], moodle["name"]
    elif timed := _timed(path.name):
        who, name, when = timed
        nth = int(re.sub(r"\D", "", when) or 0)
    elif canvas := CANVAS.fullmatch(path.name):
        who, name = canvas["who"], canvas["name"]
        if given := _of_exercise(Path(name), exercises):
            _, name, nth = given
    elif path.suffix.lower() in (*CODE, ARCHIVE) and (given := _of_exercise(path, exercises)):
        who, name, nth = given
    elif path.suffix.lower() == ARCHIVE:
        who = path.stem
    plain = LATE.sub("", who)
    collected = Collected(path, name or path.name, nth, plain != who, when)
    return (plain, collected) if plain else None


def _of_exercise(path: Path, exercises: Sequence[Exercise]) -> tuple[str, str, int] | None:
    """Return who is named beside an exercise, the exercise, and the number behind it."""
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
        elif path.name.startswith((".", "__")):
            yield path, "left there by a program"
        else:
            yield path, "no student's name, not graded"
