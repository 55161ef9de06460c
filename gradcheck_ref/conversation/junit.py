"""Results as JUnit's XML, which CI servers read."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class Case:
    """One test, and what is wrong with it."""

    suite: str
    name: str
    bad: str = ""  # failure, error or skipped; empty if it passed
    message: str = ""  # why, in one line
    text: str = ""  # why, in full
    output: str = ""  # what else there is to read


def junit(name: str, cases: Iterable[Case]) -> str:
    """Write a file of test suites.

    Examples
    --------
    >>> print(junit("f", [Case("gradient", "at 0"), Case("gradient", "at 1", "failure", "2 != 3")]))
    <?xml version="1.0" encoding="utf-8"?>
    <testsuites name="f">
      <testsuite name="gradient" tests="2" failures="1" errors="0" skipped="0">
        <testcase classname="gradient" name="at 0" />
        <testcase classname="gradient" name="at 1">
          <failure message="2 != 3" />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    root = ElementTree.Element("testsuites", name=printable(name))
    suites: dict[str, list[Case]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    for suite, members in suites.items():
        bad = Counter(case.bad for case in members)
        summary = {
            "name": printable(suite),
            "tests": str(len(members)),
            "failures": str(bad["failure"]),
            "errors": str(bad["error"]),
            "skipped": str(bad["skipped"]),
        }
        parent = ElementTree.SubElement(root, "testsuite", summary)
        for case in members:
            _add(parent, case)
    ElementTree.indent(root)
    xml = ElementTree.tostring(root, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{xml}\n'


def _add(suite: ElementTree.Element, case: Case) -> None:
    names = {"classname": printable(case.suite), "name": printable(case.name)}
    element = ElementTree.SubElement(suite, "testcase", names)
    if case.bad:
        bad = ElementTree.SubElement(element, case.bad, message=printable(case.message))
        bad.text = printable(case.text)
    if case.output:
        ElementTree.SubElement(element, "system-out").text = printable(case.output)


def printable(text: str) -> str:
    """Replace characters that XML cannot hold or that a terminal would obey."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
