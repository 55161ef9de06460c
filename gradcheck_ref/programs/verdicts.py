"""The outcome of checking a program, told as text, as data, and as JUnit XML."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any
from xml.etree import ElementTree

from gradcheck_ref.check.report.prose import fitting, wrapped
from gradcheck_ref.check.report.report import Report
from gradcheck_ref.messages import shortened

# Raised when the meaning of a key changes.
VERSION = 1

STATUS = {"pass": 0, "fail": 1, "unsure": 3}
NOT_JUDGED = 2
LONGEST_NAME = 60  # characters of a command that stands for a program without a name


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    Attributes
    ----------
    name : str
        How the program calls itself.
    command : sequence of str
        How it was started.
    reports : dict of Report
        By what was checked: gradient, vjp, jvp.
    notes : list of str
        What was strange on the way; the reports have it, too.
    """

    name: str
    command: Sequence[str]
    reports: dict[str, Report]
    notes: list[str]

    @property
    def verdict(self) -> str:
        """Fail if anything fails, unsure if anything is unsure, else pass."""
        verdicts = {report.verdict for report in self.reports.values()}
        return next(v for v in ("fail", "unsure", "pass") if v in verdicts)

    @property
    def status(self) -> int:
        """The exit status."""
        return STATUS[self.verdict]

    def text(self, width: int) -> str:
        """Tell it in words: a program's name, then a report for each thing that was checked."""
        width = fitting(width)
        parts = []
        for what, report in self.reports.items():
            parts.append("\n".join(wrapped(f"{self.name}: {what}", width)))
            parts[-1] += "\n" + report.text(width)
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Tell it as data that ``json`` can write."""
        return {
            "version": VERSION,
            "program": self.name,
            "command": list(self.command),
            "verdict": self.verdict,
            "status": self.status,
            "notes": self.notes,
            "reports": {what: report.to_dict() for what, report in self.reports.items()},
        }

    def junit(self) -> str:
        """Tell it as CI servers like it: what is unsure is an error, since nobody knows."""
        root = ElementTree.Element("testsuites", name="gradcheck-ref check")
        for what, report in self.reports.items():
            bad = [report.verdict == v for v in ("fail", "unsure")]
            suite = ElementTree.SubElement(
                root,
                "testsuite",
                name=f"{_printable(self.name)}: {what}",
                tests="1",
                failures=str(int(bad[0])),
                errors=str(int(bad[1])),
            )
            case = ElementTree.SubElement(
                suite, "testcase", classname=_printable(self.name), name=what
            )
            if not report:
                tag = "failure" if report.verdict == "fail" else "error"
                said = _printable(report.text(100))
                element = ElementTree.SubElement(
                    case, tag, type=report.reason, message=_first_sentence(said)
                )
                element.text = said
            if self.notes:
                out = ElementTree.SubElement(case, "system-out")
                out.text = _printable("\n".join(self.notes))
        return _written(root)


def _first_sentence(text: str) -> str:
    """Return what a text says first, in one line: what goes on is indented."""
    first, *others = text.splitlines()
    return " ".join([first, *(line.strip() for line in takewhile(_goes_on, others))])


def _goes_on(line: str) -> bool:
    return line.startswith("      ")


def called(command: Sequence[str]) -> str:
    """Write a command, which may be an interpreter and a program, as a name; not all of a long one.

    Examples
    --------
    >>> called(["perl", "model.pl"])
    'perl model.pl'
    """
    return shortened(shlex.join(command), LONGEST_NAME)


def not_judged_as_data(command: Sequence[str], why: str) -> dict[str, Any]:
    """Tell as data that nothing could be judged."""
    return {
        "version": VERSION,
        "command": list(command),
        "verdict": None,
        "status": NOT_JUDGED,
        "why": why,
    }


def not_judged(name: str, why: str) -> str:
    """Tell as JUnit XML that nothing could be judged."""
    root = ElementTree.Element("testsuites", name="gradcheck-ref check")
    suite = ElementTree.SubElement(
        root, "testsuite", name=_printable(name), tests="1", failures="0", errors="1"
    )
    case = ElementTree.SubElement(suite, "testcase", classname=_printable(name), name="check")
    ElementTree.SubElement(case, "error", type="not judged", message=_printable(why))
    return _written(root)


def _written(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _printable(text: str) -> str:
    """Leave out what XML cannot hold."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
