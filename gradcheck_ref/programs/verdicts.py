"""The outcome of checking a program, as text, as data and as JUnit XML."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradcheck_ref.check.report.annotation import annotation
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.check.report.text import first_sentence, fitting, wrapped
from gradcheck_ref.conversation.junit import Case, junit
from gradcheck_ref.conversation.messages import shortened

VERSION = 1  # raised when the meaning of a key changes
STATUS = {"pass": 0, "fail": 1, None: 2, "unsure": 3}
LONGEST_NAME = 60  # characters of a command that stands for a program without a name


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check."""

    command: Sequence[str]  # how the program was started
    name: str = ""  # its own name, once that is known
    # one for each of gradient, vjp and jvp that was checked
    reports: Mapping[str, Report] = field(default_factory=dict)
    notes: Sequence[str] = ()  # problems on the way; the reports have them, too
    why: str = ""  # why nothing could be judged; then there are no reports

    @property
    def verdict(self) -> str | None:
        """Fail if anything fails, unsure if anything is unsure, else pass; None without reports."""
        verdicts = {report.verdict for report in self.reports.values()}
        return next((v for v in ("fail", "unsure", "pass") if v in verdicts), None)

    @property
    def status(self) -> int:
        """The exit status."""
        return STATUS[self.verdict]

    def text(self, width: int) -> str:
        """Write it in words: the program's name, then a report for each derivative."""
        width = fitting(width)
        parts = []
        for what, report in self.reports.items():
            title = "\n".join(wrapped(f"{self.name}: {what}", width))
            parts.append(f"{title}\n{report.text(width)}")
        return "\n\n".join(parts) + "\n"

    def annotations(self) -> list[str]:
        """Write what is wrong as GitHub shows it, at the first file of the command that is here.

        An interpreter is elsewhere.
        """
        here, paths = Path.cwd(), [Path(word).absolute() for word in self.command]
        ours = (path for path in paths if os.path.isfile(path) and path.is_relative_to(here))
        file = next((path.relative_to(here).as_posix() for path in ours), "")
        bad = {what: report for what, report in self.reports.items() if not report}
        said = [f"{what}: {first_sentence(report.text(100))}" for what, report in bad.items()]
        return [annotation(one, file) for one in [*said, *[self.why] * bool(self.why)]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as data that ``json`` can write."""
        data = {
            "version": VERSION,
            "command": list(self.command),
            "verdict": self.verdict,
            "status": self.status,
        }
        if self.why:
            return data | {"why": self.why}
        reports = {what: report.to_dict() for what, report in self.reports.items()}
        return data | {"program": self.name, "notes": list(self.notes), "reports": reports}

    def junit(self) -> str:
        """Write it as XML for CI servers; *unsure* becomes an error, since there is no verdict."""
        name = self.name or called(self.command)
        notes = "\n".join(self.notes)
        cases = []
        for what, report in self.reports.items():
            bad = {"fail": "failure", "unsure": "error"}.get(report.verdict, "")
            text = report.text(100)
            cases.append(Case(name, what, bad, first_sentence(text), text, notes))
        if self.why:
            why = " ".join(self.why.split())
            cases.append(Case(name, "check", "error", first_sentence(why), why))
        return junit("gradcheck-ref check", cases)


def called(command: Sequence[str]) -> str:
    """Write a command, such as an interpreter and a program, as a name; shorten a long one.

    Examples
    --------
    >>> called(["perl", "model.pl"])
    'perl model.pl'
    """
    return shortened(shlex.join(command), LONGEST_NAME)
