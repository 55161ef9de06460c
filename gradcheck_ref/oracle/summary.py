"""What a run says: a text to read, data, and JUnit's XML."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from gradcheck_ref.messages import shortened
from gradcheck_ref.oracle.judge import Outcome
from gradcheck_ref.oracle.runner import Run
from gradcheck_ref.oracle.table import PROTOCOL
from gradcheck_ref.oracle.vectors import KINDS, VERSION, load_notes, load_vectors

SHOWN = 5  # failures told in full, of different groups first: more are read by nobody
COUNTED = ("passed", "failed", "error")


class Summary:
    """The outcomes of a run, sorted and counted.

    Parameters
    ----------
    run : Run
        What came of it.
    skip : collection of str
        Ids of vectors that do not count; those that would pass are told.
    """

    def __init__(self, run: Run, skip: Collection[str] = ()) -> None:
        self.run = run
        self.outcomes = [o for o in run.outcomes if o.vector.id not in skip]
        self.skipped = [o for o in run.outcomes if o.vector.id in skip]
        self.needless = [o for o in self.skipped if o.status == "passed"]
        self.wrong = [o for o in self.outcomes if o.status in ("failed", "error")]
        self.counts = Counter(o.status for o in self.outcomes)
        known = {*KINDS, *(v.group for v in load_vectors())}
        self.unknown = [answer for answer in run.answers if answer not in known]

    @property
    def right(self) -> bool:
        """Whether something was judged and nothing is wrong, the conversation included."""
        # A vector that ends it does so twice, among others and alone; skipped, it does not count.
        excused = 2 * sum(o.status == "error" for o in self.skipped)
        wrong = self.wrong or self.run.restarts > excused or self.run.strays
        return bool(self.outcomes) and not wrong

    @property
    def score(self) -> tuple[int, int]:
        """How many were passed, of how many that have one answer."""
        return self.counts["passed"], sum(self.counts[status] for status in COUNTED)

    @property
    def sentence(self) -> str:
        """The result as it is cited."""
        passed, of = self.score
        kinds = sorted({o.vector.kind for o in self.outcomes})
        groups = sorted({o.vector.group for o in self.outcomes if self._in_part(o)})
        told = ", ".join([kind for kind in kinds if not self._declined(kind)] + groups)
        told += f"; {len(self.skipped)} skipped" if self.skipped else ""
        name = " ".join(self.run.name.split())
        return f"{name} passes gradcheck-ref vectors {VERSION} ({told}): {passed} of {of}"

    def _declined(self, kind: str) -> bool:
        return any(v.kind == kind for v in self.run.declined)

    def _in_part(self, outcome: Outcome) -> bool:
        return self._declined(outcome.vector.kind)

    # --- text --------------------------------------------------------------------------------

    def text(self) -> str:
        """Tell it all."""
        parts = [self._table(), self._flags(), self._failures(), self._remarks(), self.sentence]
        return _printable("\n\n".join(filter(None, parts)) + "\n")

    def _table(self) -> str:
        head = f"{'group':30}{'passed':>12}{'failed':>8}{'errors':>8}{'ambiguous':>11}"
        lines = [head]
        for group, counts in self._rows():
            of = sum(counts[status] for status in COUNTED)
            passed = f"{counts['passed']} of {of}"
            lines.append(
                f"{group:30}{passed:>12}{counts['failed']:>8}{counts['error']:>8}"
                f"{counts['ambiguous']:>11}"
            )
        return "\n".join(lines)

    def _rows(self) -> Iterator[tuple[str, Counter[str]]]:
        """Count by group, but by kind where all of it is right: good news is short."""
        for kind in dict.fromkeys(o.vector.kind for o in self.outcomes):
            groups = {g: c for g, c in self.by_group().items() if g.startswith(f"{kind}/")}
            total: Counter[str] = Counter()
            for counts in groups.values():
                total += counts
            if total["failed"] or total["error"] or self._declined(kind):
                yield from groups.items()
            else:
                yield f"{kind}: all {len(groups)} groups", total

    def _flags(self) -> str:
        flags = {flag: c for flag, c in self.by_flag().items() if c["failed"] or c["error"]}
        if not flags:
            return ""
        lines = ["where it went wrong, by flag"]
        for flag, counts in sorted(flags.items(), key=lambda f: (-_share_wrong(f[1]), f[0])):
            wrong = counts["failed"] + counts["error"]
            lines.append(f"  {flag:28}{wrong:>5} of {wrong + counts['passed']} wrong")
        return "\n".join(lines)

    def _failures(self) -> str:
        notes = load_notes()
        first = {o.vector.group: o for o in reversed(self.wrong)}  # one mistake fails many alike
        shown = [o for o in self.wrong if o in first.values()]
        shown = (shown + [o for o in self.wrong if o not in shown])[:SHOWN]
        told = [_in_full(outcome, notes[outcome.vector.kind]) for outcome in shown]
        if more := len(self.wrong) - SHOWN:
            told += [f"... and {more} more (--json tells all)"] if more > 0 else []
        return "\n\n".join(told)

    def _remarks(self) -> str:
        lines = []
        if self.needless:
            ids = ", ".join(o.vector.id for o in self.needless)
            lines.append(f"skipped, though it passes: {ids}")
        if self.skipped:
            lines.append(f"skipped: {len(self.skipped)}")
        if self.unknown:
            lines.append(f"promised by its hello, but no group: {', '.join(self.unknown)}")
        if self.run.declined:
            kinds = Counter(v.kind for v in self.run.declined)
            said = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            lines.append(f"not asked, since its hello does not promise them: {said}")
        if self.run.restarts:
            lines.append(f"started again, after it ended or was silent: {self.run.restarts}")
        if self.run.strays:
            lines.append(f"lines that belong to no question: {self.run.strays}")
        return "\n".join(lines)

    # --- data --------------------------------------------------------------------------------

    def by_group(self) -> dict[str, Counter[str]]:
        """Count the outcomes of every group."""
        return _counted((o.vector.group, o.status) for o in self.outcomes)

    def by_flag(self) -> dict[str, Counter[str]]:
        """Count the outcomes of every flag."""
        return _counted((flag, o.status) for o in self.outcomes for flag in o.vector.flags)

    def to_dict(self) -> dict[str, Any]:
        """Tell it all as data; in full only what did not pass."""
        passed, of = self.score
        return {
            "implementation": self.run.name,
            "vectors": VERSION,
            "protocol": PROTOCOL,
            "right": self.right,
            "sentence": self.sentence,
            "passed": passed,
            "of": of,
            "ambiguous": self.counts["ambiguous"],
            "restarts": self.run.restarts,
            "strays": self.run.strays,
            "unknown": self.unknown,
            "declined": [v.id for v in self.run.declined],
            "skipped": [o.vector.id for o in self.skipped],
            "needlessly_skipped": [o.vector.id for o in self.needless],
            "groups": {group: dict(counts) for group, counts in self.by_group().items()},
            "flags": {flag: dict(counts) for flag, counts in sorted(self.by_flag().items())},
            "outcomes": [_as_data(o) for o in self.run.outcomes if o.status != "passed"],
        }

    def junit(self) -> str:
        """Tell it as CI servers like it."""
        root = ElementTree.Element("testsuites", name=f"gradcheck-ref vectors {VERSION}")
        skipped = {o.vector.id for o in self.skipped}
        for group in self.by_group() | {o.vector.group: None for o in self.skipped}:
            outcomes = [o for o in self.run.outcomes if o.vector.group == group]
            bad = Counter(o.status for o in outcomes if o.vector.id not in skipped)
            suite = ElementTree.SubElement(
                root,
                "testsuite",
                name=group,
                tests=str(len(outcomes)),
                failures=str(bad["failed"]),
                errors=str(bad["error"]),
                skipped=str(sum(o.vector.id in skipped for o in outcomes)),
            )
            for outcome in outcomes:
                _add_case(suite, outcome, outcome.vector.id in skipped)
        ElementTree.indent(root)
        return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode")


def _share_wrong(counts: Counter[str]) -> float:
    wrong = counts["failed"] + counts["error"]
    return wrong / (wrong + counts["passed"])


def _counted(pairs: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    counted: dict[str, Counter[str]] = {}
    for name, status in pairs:
        counted.setdefault(name, Counter())[status] += 1
    return counted


def _in_full(outcome: Outcome, notes: dict[str, dict[str, str]]) -> str:
    vector = outcome.vector
    lines = [
        f"{outcome.status.upper()}  {vector.id}  {vector.group}: {vector.description}",
        f"  asked     {shortened(vector.request, 600)}",
        f"  expected  {shortened(vector.expected, 400)}",
        f"  got       {outcome.got or 'nothing'}",
        f"  why       {outcome.why}",
    ]
    for flag in vector.flags:
        note = notes[flag]
        lines.append(f"  {flag}: {note['description']} When wrong: {note['effect']}")
    return "\n".join(lines)


def _as_data(outcome: Outcome) -> dict[str, Any]:
    vector = outcome.vector
    return {
        "id": vector.id,
        "group": vector.group,
        "description": vector.description,
        "flags": list(vector.flags),
        "status": outcome.status,
        "why": outcome.why,
        "request": vector.request,
        "expected": vector.expected,
        "got": outcome.got,
    }


def _add_case(suite: ElementTree.Element, outcome: Outcome, skipped: bool) -> None:
    vector = outcome.vector
    case = ElementTree.SubElement(
        suite, "testcase", classname=vector.group, name=f"{vector.id}: {vector.description}"
    )
    if skipped:
        ElementTree.SubElement(case, "skipped", message="--skip")
    elif outcome.status in ("failed", "error"):
        tag = "failure" if outcome.status == "failed" else "error"
        bad = ElementTree.SubElement(case, tag, message=_printable(outcome.why))
        bad.text = _printable(f"got {outcome.got}\nexpected {json.dumps(vector.expected)}")


def _printable(text: str) -> str:
    """Leave out what XML cannot hold, and what a terminal would obey."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
