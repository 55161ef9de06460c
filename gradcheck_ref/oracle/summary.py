"""The summary of a run: a text to read, data, and JUnit's XML."""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from gradcheck_ref.conversation.junit import Case, junit, printable
from gradcheck_ref.conversation.messages import shortened
from gradcheck_ref.oracle.judge import Outcome, judge
from gradcheck_ref.oracle.precision import rounded_numbers
from gradcheck_ref.oracle.runner import Run
from gradcheck_ref.oracle.table import KINDS, PROTOCOL
from gradcheck_ref.oracle.vectors import (
    VERSION,
    load_notes,
    load_optional,
    load_vectors,
    load_words,
)

CONSTANT: tuple[dict[str, str], ...] = ({"refused": "everything"}, {"verdict": "pass"})
ROW = "{:28}{:>14}{:>8}{:>8}{:>11}{:>9}"  # of the table
LONGEST = 2000  # characters of a question; `oracle requests --only ID` writes all of it
SHOWN = 5  # failures shown in full, from different groups first: nobody reads more


class Summary:
    """The outcomes of a run, sorted and counted.

    Parameters
    ----------
    run : Run
        The run to summarize.
    skip : collection of str
        Ids of vectors that do not count; the summary names those that would pass.
    expected : collection of str
        Ids of vectors that are known to fail; if one passes, that is an error.
    of : str
        Additional words on the vectors, such as the seed of random ones.
    idle : sequence of str
        Names of known failures that were not asked.
    undrawn : sequence of str
        Groups without random vectors; if there are any, there is no result.
    why_not : str
        Why there is no result, for example because the run was stopped.
    """

    def __init__(
        self,
        run: Run,
        skip: Collection[str] = (),
        expected: Collection[str] = (),
        of: str = "",
        idle: Sequence[str] = (),
        undrawn: Sequence[str] = (),
        why_not: str = "",
    ) -> None:
        self.run = run
        self.drawn, self.idle, self.undrawn = of, idle, undrawn
        self.outcomes = [o for o in run.outcomes if o.vector.id not in skip]
        self.skipped = [o for o in run.outcomes if o.vector.id in skip]
        self.needless = [o for o in self.skipped if o.status == "passed"]
        self.wrong = [o for o in self.outcomes if o.status in ("failed", "error")]
        self.foreseen = [o for o in self.wrong if o.vector.id in expected]
        self.surprising = [
            o for o in self.outcomes if o.vector.id in expected and o.status == "passed"
        ]
        self.counts = Counter(o.status for o in self.outcomes)
        self.sizes = Counter(v.group for v in load_vectors())
        known = {*KINDS, *self.sizes}
        self.unknown = [answer for answer in run.answers if answer not in known]
        self.looks_like, self.explained = rounded_numbers(self.wrong)
        self.no_result = why_not or self._why_not()

    def _why_not(self) -> str:
        """Say why there is no result, if there is none."""
        if self.undrawn:
            met = len(self.by_group())
            return f"{len(self.undrawn)} of {len(self.undrawn) + met} groups were not drawn"
        return "" if self.outcomes else "all that it answers is skipped: nothing was judged"

    @property
    def right(self) -> bool:
        """Whether something was judged and nothing is wrong, in the conversation either.

        A known failure is not wrong if it fails, and is wrong if it passes.
        """
        wrong = len(self.wrong) > len(self.foreseen) or self.surprising or self.protocol_errors
        return not wrong and not self.no_result

    @property
    def protocol_errors(self) -> int:
        """The number of errors in the conversation.

        These are lines that answer no question, ambiguous questions without an answer, a bad end,
        and restarts that no failed vector explains: a vector that ends the program does so twice,
        among others and alone.
        """
        ambiguous = len(self._no_answers())
        excused = 2 * sum(o.status == "error" for o in self.run.outcomes)
        bad = self.run.strays + ambiguous + bool(self.run.ending)
        return bad + max(0, self.run.restarts - excused)

    @property
    def score(self) -> tuple[int, int]:
        """How many passed, of all vectors that have one answer."""
        return self.counts["passed"], sum(o.vector.counts for o in self.outcomes)

    @property
    def grade(self) -> float | None:
        """The score, from 0 to 1: the mean over groups that are not optional, with equal weights.

        For a group it is ``(passed - guessed) / (of - guessed)``, at least 0, where the better of
        two constant replies passes ``guessed`` of the vectors. A group where it passes all of them
        is not graded. None if no group is graded.
        """
        return self._grade_of(set(self._scored) - load_optional())

    @property
    def optional_grade(self) -> float | None:
        """The same of the optional groups."""
        return self._grade_of(load_optional())

    def _grade_of(self, groups: set[str]) -> float | None:
        graded = [c for g, c in self._scored.items() if g in groups and c["of"] > c["guessed"]]
        parts = [max(0, c["passed"] - c["guessed"]) / (c["of"] - c["guessed"]) for c in graded]
        return sum(parts) / len(parts) if parts else None

    @property
    def whole(self) -> tuple[int, int]:
        """How many groups passed without any mistake, and how many groups there are."""
        groups = self.by_group()
        return sum(not (c["failed"] or c["error"]) for c in groups.values()), len(groups)

    @property
    def sentence(self) -> str:
        """The result in the form to cite."""
        passed, of = self.score
        told = ", ".join(self._asked_of())
        whole, all_groups = self.whole
        guessed = sum(counts["guessed"] for counts in self._scored.values())
        parts = [f"{passed} of {of} ({guessed} by guessing)"]
        parts.append(f"{whole} of {all_groups} groups whole")
        for what, grade in (("", self.grade), (" of optional groups", self.optional_grade)):
            if grade is not None:  # only a perfect score is 100
                parts.append(f"score{what} {math.floor(100 * grade)} %")
        for count, name in (
            (self.protocol_errors, "protocol error"),
            (len(self.foreseen), "expected failure"),
            (len(self.skipped), "skipped"),
        ):
            plural = "" if count == 1 or name == "skipped" else "s"
            parts += [f"{count} {name}{plural}"] if count else []
        name = " ".join(self.run.name.split())
        what = f"vectors {VERSION}{self.drawn}"
        if self.no_result:
            name = f"{name}, " if name else ""
            return f"{name}gradcheck-ref {what}: no result, since {self.no_result}"
        return f"{name} passes gradcheck-ref {what} ({told}): {', '.join(parts)}"

    def _asked_of(self) -> list[str]:
        """Name what was asked: a kind if all of it was asked, otherwise its groups."""
        kinds = dict.fromkeys(o.vector.kind for o in self.run.outcomes)
        met = Counter(o.vector.group for o in self.run.outcomes)
        in_part = [] if self.drawn else [g for g, n in met.items() if n < self.sizes[g]]
        groups = [g for g in met if not self._all_of(g.split("/")[0])]
        return sorted(kind for kind in kinds if self._all_of(kind)) + sorted(
            f"{g} in part" if g in in_part else g for g in groups
        )

    def _all_of(self, kind: str) -> bool:
        """Whether all of a kind was asked."""
        if self.drawn:
            return kind in self.run.answers
        asked = sum(o.vector.kind == kind for o in self.run.outcomes)
        return asked == sum(n for g, n in self.sizes.items() if g.split("/")[0] == kind)

    def _no_answers(self) -> list[Outcome]:
        """Return ambiguous vectors whose reply is not an answer."""
        return [o for o in self.outcomes if o.status == "error" and o.got and not o.vector.counts]

    # --- text --------------------------------------------------------------------------------

    def text(self) -> str:
        """Write the whole summary as text."""
        parts = [self._table(), self._flags(), self._failures(), self._remarks(), self.sentence]
        return printable("\n\n".join(filter(None, parts)) + "\n")

    def _table(self) -> str:
        lines = [ROW.format("group", "passed", "failed", "errors", "ambiguous", "guessed")]
        for group, c in self._rows():
            passed = f"{c['passed']} of {c['of']}"
            counts = (c[key] for key in ("failed", "error", "ambiguous", "guessed"))
            lines.append(ROW.format(group, passed, *counts))
        return "\n".join(lines)

    def _rows(self) -> Iterator[tuple[str, Counter[str]]]:
        """Count by group, or by kind if all of it is right: good news is short."""
        by_group = self._scored
        for kind in (k for k in KINDS if any(o.vector.kind == k for o in self.outcomes)):
            groups = {g: c for g, c in by_group.items() if g.startswith(f"{kind}/")}
            total = sum(groups.values(), Counter[str]())
            if total["failed"] or total["error"] or not self._all_of(kind):
                yield from groups.items()
            else:
                yield f"{kind}: all {len(groups)} groups", total

    def _flags(self) -> str:
        blamed = [o for o in self.outcomes if o not in self.explained]
        flags = {flag: c for flag, c in _by_flag(blamed).items() if c["failed"] or c["error"]}
        if not flags:
            return ""
        lines = ["where it went wrong, by flag"]
        for flag, counts in sorted(flags.items(), key=lambda f: (-_share_wrong(f[1]), f[0])):
            wrong = counts["failed"] + counts["error"]
            lines.append(f"  {flag:28}{wrong:>5} of {wrong + counts['passed']} wrong")
        return "\n".join(lines)

    def _failures(self) -> str:
        notes = load_notes()
        told = [_in_full(o, notes[o.vector.kind]) for o in self._shown()]
        if more := len(self.wrong) - len(told):
            told += [f"... and {more} more (--json tells all)"]
        return "\n\n".join(told)

    def _shown(self) -> list[Outcome]:
        """Choose the most useful failures: from different groups, with a flag that often fails."""
        flags = {
            flag: _share_wrong(c) for flag, c in _by_flag(self.outcomes).items() if _share_wrong(c)
        }

        def telling(outcome: Outcome) -> tuple[bool, float]:
            return outcome in self.explained, -max(
                (flags.get(flag, 0.0) for flag in outcome.vector.flags), default=0.0
            )

        ranked = sorted((o for o in self.wrong if o not in self.foreseen), key=telling)
        # One mistake causes many similar failures.
        first = {o.vector.group: o for o in reversed(ranked)}
        shown = [o for o in ranked if first[o.vector.group] is o]
        return (shown + [o for o in ranked if first[o.vector.group] is not o])[:SHOWN]

    def _remarks(self) -> str:
        run, rounded = self.run, len(self.explained)
        declined = Counter(v.kind for v in run.declined)
        strays = f"{run.strays}, the first: {run.first_stray}" if run.strays else ""
        remarks = {  # each is made only where there is something to say
            f"the numbers of {rounded} vectors look ": self.looks_like,
            "expected to fail, and passes: ": _some([o.vector.id for o in self.surprising]),
            "expected to fail, but not asked: ": _some(self.idle),
            "not drawn: ": ", ".join(self.undrawn),
            "skipped, though it passes: ": _some([o.vector.id for o in self.needless]),
            "skipped: ": len(self.skipped),
            "promised by its hello, but no group: ": _some(self.unknown),
            "not asked, since its hello does not promise them: ": ", ".join(
                f"{count} {kind}" for kind, count in declined.items()
            ),
            "started again, after it ended or was silent: ": run.restarts,
            "lines that are the reply to no question: ": strays,
            "when all was asked, it ": run.ending,
            "ambiguous, but to be answered all the same: ": len(self._no_answers()),
        }
        return "\n".join(f"{words}{what}" for words, what in remarks.items() if what)

    # --- data --------------------------------------------------------------------------------

    def by_group(self) -> dict[str, Counter[str]]:
        """Count the outcomes of every group, in the order of the groups."""
        counted = _counted((o.vector.group, o.status) for o in self.outcomes)
        return {group: counted[group] for group in self.sizes if group in counted}

    @cached_property
    def _scored(self) -> dict[str, Counter[str]]:
        """Count, for every group, the passes, the vectors, and the passes of a constant reply."""
        by_group = self.by_group()
        for group, counts in by_group.items():
            asked = [o.vector for o in self.outcomes if o.vector.group == group]
            judged = [[judge(v, reply).status for v in asked if v.counts] for reply in CONSTANT]
            counts["of"] = len(judged[0])
            counts["guessed"] = max(statuses.count("passed") for statuses in judged)
        return by_group

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as data, with the details of everything that did not pass."""
        (passed, of), by_flag = self.score, _by_flag(self.outcomes)
        return {
            "implementation": self.run.name,
            "vectors": VERSION,
            "protocol": PROTOCOL,
            "right": self.right,
            "sentence": self.sentence,
            "no_result": self.no_result,
            "passed": passed,
            "of": of,
            "guessed": sum(counts["guessed"] for counts in self._scored.values()),
            "whole_groups": self.whole[0],
            "score": self.grade,
            "optional_score": self.optional_grade,
            "not_drawn": list(self.undrawn),
            "protocol_errors": self.protocol_errors,
            "looks": self.looks_like,
            "expected_failures": [o.vector.id for o in self.foreseen],
            "unexpectedly_passed": [o.vector.id for o in self.surprising],
            "expected_but_not_asked": list(self.idle),
            "ambiguous": self.counts["ambiguous"],
            "restarts": self.run.restarts,
            "strays": self.run.strays,
            "ending": self.run.ending,
            "unknown": self.unknown,
            "declined": [v.id for v in self.run.declined],
            "skipped": [o.vector.id for o in self.skipped],
            "needlessly_skipped": [o.vector.id for o in self.needless],
            "groups": {group: dict(counts) for group, counts in self._scored.items()},
            "flags": {flag: dict(counts) for flag, counts in sorted(by_flag.items())},
            "outcomes": [_as_data(o) for o in self.run.outcomes if o.status != "passed"],
        }

    def junit(self) -> str:
        """Write the summary as JUnit's XML, for CI servers."""
        excused = {o.vector.id for o in [*self.skipped, *self.foreseen]}
        cases = [_as_case(o, o.vector.id in excused) for o in self.run.outcomes]
        if self.no_result:
            cases.insert(0, Case("the run", "has a result", "error", self.no_result))
        return junit(f"gradcheck-ref vectors {VERSION}", cases)


def _share_wrong(counts: Counter[str]) -> float:
    wrong = counts["failed"] + counts["error"]
    return wrong / max(wrong + counts["passed"], 1)


def _by_flag(outcomes: Iterable[Outcome]) -> dict[str, Counter[str]]:
    return _counted((flag, o.status) for o in outcomes for flag in o.vector.flags)


def _some(names: Sequence[str], most: int = 10) -> str:
    """List names, up to a length."""
    told = ", ".join(shortened(name, 60) for name in names[:most])
    return told if len(names) <= most else f"{told} and {len(names) - most} more"


def _counted(pairs: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    counted: dict[str, Counter[str]] = {}
    for name, status in pairs:
        counted.setdefault(name, Counter())[status] += 1
    return counted


def _in_full(outcome: Outcome, notes: dict[str, dict[str, str]]) -> str:
    vector = outcome.vector
    lines = [
        f"{outcome.status.upper()}  {vector.id}  {vector.group}: {vector.description}",
        f"  asked     {shortened(vector.request, LONGEST)}",
        f"  expected  {shortened(vector.expected, 400)}",
        f"  got       {outcome.got or 'nothing'}",
        f"  why       {outcome.why}",
    ]
    for flag in vector.flags:
        note = notes[flag]
        lines.append(f"  {flag}: {note['description']} When wrong: {note['effect']}")
    if not vector.flags:
        said = load_words(vector.kind).get(vector.group, "the plain case")
        lines.append(f"  no trap: {said}")
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


def _as_case(outcome: Outcome, excused: bool) -> Case:
    vector = outcome.vector
    name = f"{vector.id}: {vector.description}"
    if excused:
        return Case(vector.group, name, "skipped", "--skip or --expected")
    bad = {"failed": "failure", "error": "error"}.get(outcome.status, "")
    text = f"got {outcome.got}\nexpected {json.dumps(vector.expected)}"
    return Case(vector.group, name, bad, outcome.why, text)
