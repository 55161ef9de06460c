"""The score of a gradient checker: how it judges right gradients and wrong ones.

First the gate: every right gradient must be accepted. Otherwise a checker that refuses everything
would be the best of all. Then the score is the share of the wrong gradients that are refused. Gate
and score are applied part by part, from ordinary functions to noisy ones. Learners see two thirds
of the zoo; grading adds the rest, and the instructor's own cases.

``python exercises/judging.py FILE`` scores the ``my_check`` of a file on all parts at once.
"""

import argparse
import functools
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from course import HERE, load
from expect import Formula, same
from gradcheck_ref import check_vjp
from gradcheck_ref.zoo import Bug, Case, all_cases
from gradcheck_ref.zoo.problem import Problem, problems
from screen import say

Check = Callable[[Callable[[Any], Any], Any, Any], Any]

ENOUGH = 0.9  # of the wrong gradients: few checkers can refuse some that are at ties
HELD_OUT = 3  # every third case of a part
PRIVATE = HERE / "private_cases.py"  # the instructor's own cases, which git ignores

# A part has cases that are hard for the same reason. A case belongs to the last part that names one
# of its tags.
PARTS: dict[str, set[str]] = {
    "ordinary": set(),
    "scale": {"tiny", "huge", "small-x", "large-x", "mixed-magnitudes", "zero-gradient"},
    "steps": {"fast", "offset", "domain-edge"},
    "kinks": {"kink", "tie", "near-kink", "jump"},
    "noise": {"noise", "float32"},
}


def part_of(case: Case) -> str:
    """Return the part that a case belongs to."""
    return next((part for part in reversed(PARTS) if PARTS[part] & case.tags), "ordinary")


def corpus(part: str, *, heldout: bool) -> list[Case]:
    """Return the visible cases of a part, or those that are held out; no complex numbers.

    Held out is every third case of the zoo, and those of ``private_cases.py``, if there is one.
    """
    cases = [case for case in all_cases() if part_of(case) == part and "complex" not in case.tags]
    if part == "ordinary":  # there are many of these, and all are similar
        cases = cases[::4]
    if not heldout:
        return [case for i, case in enumerate(cases) if i % HELD_OUT != 1]
    private = read_cases(PRIVATE) if PRIVATE.exists() else []
    return cases[1::HELD_OUT] + [case for case in private if part_of(case) == part]


def read_cases(path: Path) -> list[Case]:
    """Read cases from a Python file that has a function ``cases``, as the zoo's modules have.

    It runs again each time: a bug may remember that it was called.
    """
    return list(load(path, vetted(path)).cases())


@functools.cache
def vetted(path: Path) -> bytes:
    """Vet a file of cases, once and before any submission runs; return its source.

    A right gradient in it that is wrong, or a wrong one that is right, would be unfair.
    """
    try:
        source = path.read_bytes()
        cases = list(load(path, source).cases())
    except Exception as error:
        raise ValueError(f"{path.name} cannot be read: {type(error).__name__}: {error}") from None
    for case in cases:
        report = check_vjp(case.f, case.inputs, vjp=case.vjp)
        if report.verdict == "fail":
            raise ValueError(f"{path.name}: the vjp of {case.name} is wrong: {report}")
        for bug in case.bugs:
            if not list(wrong_claims(case, bug, right_claims(case))):
                raise ValueError(f"{path.name}: {bug.id} is right when it is called first")
            if check_vjp(case.f, case.inputs, vjp=bug.vjp).verdict == "pass":
                raise ValueError(f"{path.name}: {bug.id} is too close to the right gradient")
    return source


def right_claims(case: Case) -> list[Problem]:
    """Return the right gradients of a case, one for each input."""
    rights = problems(case, case.vjp)
    return [replace(right, f=Formula("", right.f, repeatable=True)) for right in rights]


def wrong_claims(case: Case, bug: Bug, rights: list[Problem]) -> Iterator[Problem]:
    """Yield the gradients in which a bug shows; none if it shows only after several calls."""
    for right, wrong in zip(rights, problems(case, bug.vjp), strict=True):
        if not same(wrong.claimed, right.claimed):
            yield replace(wrong, f=right.f)  # one f for all its claims


@dataclass(frozen=True)
class Score:
    """The score of a checker on some cases."""

    right: int  # how many right gradients there are
    stopped_at: Case | None  # whose right gradient was refused, which ended the test
    caught: tuple[tuple[Case, Bug], ...] = ()
    missed: tuple[tuple[Case, Bug], ...] = ()

    @property
    def planted(self) -> int:
        """How many bugs were tried."""
        return len(self.caught) + len(self.missed)

    @property
    def share(self) -> float:
        """The share of the bugs that are refused; 0 if a right gradient is refused."""
        return len(self.caught) / self.planted if self.planted else float(not self.stopped_at)

    @property
    def enough(self) -> bool:
        """Whether this is good enough for all points."""
        return self.stopped_at is None and self.share >= ENOUGH

    @property
    def hint(self) -> str:
        """Name the cause of a rejected right gradient, or of most of the missed bugs."""
        if self.stopped_at:
            return _first(REFUSED, self.stopped_at.tags, REFUSED_ELSE)
        hints = Counter(
            _first(MISSED, case.tags | {bug.diagnosis}, MISSED_ELSE) for case, bug in self.missed
        )
        return hints.most_common(1)[0][0] if hints else ""


FRESH = 30  # questions, after which a checker must forget all earlier ones
SHIFT = 1e-3  # of a point
AS_THEY_ARE = PARTS["kinks"] | {"domain-edge", "zero-gradient"}


def varied(case: Case, rng: np.random.Generator) -> Case:
    """Move the public point of a case a little, unless the case needs exactly this point."""
    if case.tags & AS_THEY_ARE:
        return case
    moved = tuple(
        x * (1 + SHIFT * rng.uniform(-1, 1, size=np.shape(x))).astype(x.dtype)
        if isinstance(x, np.ndarray) and x.dtype.kind == "f"
        else x
        for x in case.inputs
    )
    return replace(case, inputs=moved)


def score(
    check: Check,
    cases: list[Case],
    rng: np.random.Generator | None = None,
    forget: Callable[[], object] = bool,
) -> Score:
    """Score a checker: ``check(f, x, analytic)`` says whether ``analytic`` is the gradient.

    A bug counts once, and is caught if it is refused for one of the inputs it shows in.

    ``rng`` and ``forget`` are for a checker that may have memorized the questions. They come in
    random order, each once, and points are moved a little: so neither the order, nor how often
    something is claimed, nor a list of points tells which is right.
    """
    asked: list[tuple[Case, Bug | None, Problem]] = []
    for case in [varied(case, rng) for case in cases] if rng else cases:
        rights = right_claims(case)
        asked += [(case, None, right) for right in rights]
        asked += [
            (case, bug, wrong) for bug in case.bugs for wrong in wrong_claims(case, bug, rights)
        ]
    total = sum(bug is None for _, bug, _ in asked)
    if rng:
        asked = [asked[i] for i in rng.permutation(len(asked))]
    else:
        asked.sort(key=lambda question: question[1] is not None)  # first the gate
    tried: dict[str, tuple[Case, Bug]] = {}
    refused = set()
    for number, (case, bug, claim) in enumerate(asked, 1):
        if number % FRESH == 0:
            forget()
        accepted = accepts(check, claim)
        if bug:
            tried[bug.id] = case, bug
        if not accepted:
            if not bug:
                return Score(total, case)
            refused.add(bug.id)
    caught = tuple(tried[name] for name in tried if name in refused)
    missed = tuple(tried[name] for name in tried if name not in refused)
    return Score(total, None, caught, missed)


def accepts(check: Check, problem: Problem) -> bool:
    """Ask a checker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # near the edge of a domain f is evaluated outside of it
        answer = check(problem.f, problem.x.copy(), problem.claimed.copy())
    if not isinstance(answer, bool | np.bool_):
        raise TypeError(f"the answer is {answer!r}, not True or False")
    return bool(answer)


# --- misconceptions ----------------------------------------------------------------------------


def _first(hints: dict[str, str], words: Set[str], otherwise: str) -> str:
    """Return the first hint that belongs to one of the words."""
    return next((hint for some, hint in hints.items() if words & {*some.split()}), otherwise)


# Why right gradients are refused, by the tags of the function; the first match counts.
REFUSED = {
    "float32": "f knows seven digits: a small step measures its rounding. How far can you trust f?",
    "noise": "f is noisy: a small step measures the noise. How would you notice, and what then?",
    "tie kink": "at a kink the slopes to the left and right differ; any between them is right",
    "near-kink": "your step reaches over a kink close by; with smaller ones the estimates agree",
    "jump": "f jumps at this point or close by; is there a step, or a side, that avoids it?",
    "fast": "f turns within your step; do several steps agree on the slope?",
    "offset": "f is far larger than its changes: small ones drown in rounding, so take longer ones",
    "domain-edge": "your step leaves the domain of f, or is long compared with x; try shorter",
    "mixed-magnitudes": "small entries drown in the rounding that large ones cause in f",
    "zero-gradient": "a slope of 0 is measured as a little rounding: allow for that",
    "huge": "the rounding of f grows with f: your tolerance must have the unit of the gradient",
    "tiny": "f is tiny, and so is its slope: which numbers in your checker do not shrink with it?",
    "large-x": "x is large: is a fixed step still a step, and what does f lose to rounding?",
    "small-x": "x is small: a step of ordinary length is long compared with it",
}
REFUSED_ELSE = "an ordinary function: a central difference with a step of 1e-5 is right to 8 digits"

# Why wrong ones are accepted, by the tag of the function, and for ordinary ones by the diagnosis.
MISSED = {
    "tiny small-x large-x": "an error of 1e-9 is large where the gradient is 1e-9: "
    "your tolerance has no unit",
    "tie": "at a tie, move all of x at once: entries that are right alone may be wrong in sum",
    "near-kink": "near a kink there is one slope, and short enough steps show it",
    "kink": "not every slope is right at a kink: a slope outside the two sides is wrong",
    "jump": "not every slope is right near a jump: one side has a slope",
    "noise float32": "a tolerance for the noise accepts too much: a longer step measures better",
    "missing-sum": "compare the shapes first: NumPy stretches arrays until they fit",
    "single-entries": "one wrong entry is enough: compare each, not a mean or a norm",
    "row-or-column": "one wrong row is enough: compare each entry, not a mean or a norm",
    "zero": "zeros are accepted: is anything compared, and against what?",
    "sign": "the sign is lost: is there an abs that should go?",
}
MISSED_ELSE = "how large an error do you allow, and how good is your estimate? Compare the two"

# --- on the command line -----------------------------------------------------------------------


def main(words: list[str]) -> int:
    """Score a file; 0 if it is good enough everywhere, else 1."""
    parser = argparse.ArgumentParser(description="Score the my_check of a file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--heldout", action="store_true", help="on what is held out")
    parser.add_argument("--cases", type=Path, help="on your own cases, a Python file")
    options = parser.parse_args(words)
    for file in (options.file, options.cases):
        if file and not file.is_file():
            parser.error(f"there is no file {file}")
    check = load(options.file).my_check
    own = read_cases(options.cases) if options.cases else []
    enough = True
    for part in PARTS:
        cases = [case for case in own if part_of(case) == part]
        if not options.cases:
            cases = corpus(part, heldout=options.heldout)
        if not cases:
            continue
        try:
            scored = score(check, cases)
        except NotImplementedError as todo:
            say(str(todo), "to do")
            return 1
        enough = enough and scored.enough
        if scored.stopped_at:
            say(f"refuses a right gradient: {scored.stopped_at.name}", part)
        else:
            say(f"{len(scored.caught)} of {scored.planted} wrong gradients refused", part)
        if scored.hint:
            say(scored.hint, indent=10)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
