"""A zip file of feedback, in the folders that Moodle has made: it knows them by their names.

In *View all submissions*, *Upload multiple feedback files in a zip* gives each student the file in
the folder of that student.
"""

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.collected import Submission
from grader.downloads import MOODLE
from grader.report import Report
from grader.writers import text

FILE = "feedback.txt"


def write_feedback(path: Path, reports: Mapping[Submission, Report]) -> list[str]:
    """Write the text for each student; return the names of submissions without such a folder."""
    left_out = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for submission, report in reports.items():
            if name := _place(submission):
                archive.writestr(name, text(report, student=True))
            else:
                left_out.append(submission.name)
    return left_out if len(left_out) < len(reports) else ["anybody, as no folder is Moodle's"]


def not_in(path: Path, names: Iterable[str]) -> list[str]:
    """Say whose submissions are not in a file."""
    return [f"not in {path.name}: {name}" for name in names]


def _place(submission: Submission) -> str:
    """Return the name of the file; empty if nothing of the submission is Moodle's."""
    for folder in submission.folders:
        if MOODLE.fullmatch(folder.name):
            return f"{folder.name}/{FILE}"
    for file in submission.collected:
        if found := MOODLE.fullmatch(file.path.name):  # without folders
            return file.path.name[: found.start("name")] + FILE
    return ""
