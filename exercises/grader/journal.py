"""The finished reports of a class, on disk: a second run continues from there."""

import contextlib
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from course import Exercise
from grader.handed_in import look
from grader.limits import Limits
from grader.report import Report, from_dict, software


def fingerprint(folder: Path) -> str:
    """Return a text that changes with the submission: names, sizes and times of its files."""
    told, handed_in = sha256(), look(folder)
    for file in handed_in.files:
        with contextlib.suppress(OSError):  # it is gone
            found = (folder / file).lstat()
            told.update(repr((file, found.st_size, found.st_mtime_ns)).encode())
    told.update(repr(handed_in.troubles).encode())
    return told.hexdigest()


def fingerprint_of_course(exercises: Sequence[Exercise], limits: Limits, wall: str) -> str:
    """Return a text that changes when the same submission may get another report."""
    told = sha256(repr((limits, wall, software(exercises))).encode())
    for exercise in exercises:
        told.update(repr((exercise.name, exercise.points)).encode())
        told.update((exercise.folder / "checks.py").read_bytes())
    return told.hexdigest()


class Journal:
    """A file with a line for each graded submission; without a path nothing is kept.

    If ``course``, its ``fingerprint_of_course``, has changed, all submissions are graded again.
    """

    def __init__(self, path: Path | None, course: str) -> None:
        self.path, self.course = path, course
        self._known: dict[str, tuple[str, Report]] = {}
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        for line in lines:
            try:
                entry = json.loads(line)
                if entry["course"] == self.course:
                    self._known[entry["folder"]] = entry["fingerprint"], from_dict(entry["report"])
            except (ValueError, KeyError, TypeError):  # an incomplete line: the disk was full
                continue

    def report(self, folder: Path) -> Report | None:
        """Return the stored report on a submission, if the submission is still the same."""
        found, report = self._known.get(folder.name, ("", None))
        return report if report and found == fingerprint(folder) else None

    def add(self, folder: Path, report: Report) -> None:
        """Write down the report on a submission, unless it could not be graded."""
        if self.path and not report.failed:
            entry = {"course": self.course, "folder": folder.name}
            told = {"fingerprint": fingerprint(folder), "report": report.to_dict()}
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps(entry | told) + "\n")  # the last may be incomplete

    def remove(self) -> None:
        """Remove the file: the class is graded."""
        if self.path:
            self.path.unlink(missing_ok=True)
