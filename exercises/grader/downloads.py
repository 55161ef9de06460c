"""The names that platforms give to what is handed in, in the zip files that they make."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

# Moodle makes folders "Ada Lovelace_123_assignsubmission_file_", and another for text typed online,
# or it puts that before the names of files.
MOODLE = re.compile(r"(?P<who>.+?)_assignsubmission_[a-z]+_?(?P<name>.*)", re.IGNORECASE)
# Canvas names files ada_LATE_17_2345_essay.pdf: student, number of the student, of the file. If the
# students are anonymous, LATE_anon_Q1w2E_2345_essay.pdf.
CANVAS = re.compile(r"(?P<who>(?:LATE_)?anon_[^_]+|.+?_\d+)_\d+_(?P<name>.+)")
# What is handed in again has a time: HW1_bray_attempt_2026-11-01-10-20-30_essay.pdf in Blackboard,
# "123-45 - Ada Lovelace - Nov 1, 2026 1020 AM - essay.pdf" in Brightspace; folders, too.
BLACKBOARD = re.compile(r"(?P<who>.+?)_attempt_(?P<when>\d{4}(?:-\d\d)+)(?:_(?P<name>.+)|\.\w+)?")
BRIGHTSPACE = re.compile(
    r"(?P<id>\d+)-\d+ - (?P<who>.+?) - (?P<when>\w+ \d+, \d{4} \d+ [AP]M)(?: - (?P<name>.+)|\.zip)?"
)
LATE = re.compile(r"LATE_(?=anon_)|_LATE(?=_|$)", re.IGNORECASE)
# Gradescope's folders have numbers; this file beside them says whose they are.
METADATA = "submission_metadata.yml"
FOLDER, KEY = re.compile(r"(\S.*?): *"), re.compile(r"( +)(?:- )?:(\w+): *(.*?) *")


def submitters(there: Sequence[Path]) -> tuple[dict[str, str], dict[str, str]]:
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


def timed(name: str) -> tuple[str, str, str] | None:
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
