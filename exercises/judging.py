"""The score of a gradient checker: how it judges right gradients and wrong ones.

First the gate: every right gradient must be accepted. Otherwise a checker that refuses everything
would be the best of all. Then the score is the share of the wrong gradients that are refused. Gate
and score are applied part by part, from ordinary functions to noisy ones. Learners see two thirds
of the zoo; grading adds the rest, and the instructor's own cases.

``python exercises/judging.py FILE`` scores the ``my_check`` of a file on all parts at once.
"""

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from course import HERE, load
from expect import Formula
from gradcheck_ref import check_vjp
from gradcheck_ref.zoo import Bug, Case, all_cases
from gradcheck_ref.zoo.problem import Problem, problems
from screen import say

Check = Callable[[Callable[[Any], Any], Any, Any], Any]

ENOUGH = 0.9  # of the wrong gradients: few checkers can refuse some that are at ties
HELD_OUT = 3  # every third case of a part
SAME = 1e-9  # of the largest entry: gradients that differ by less are equal, as in the zoo
PRIVATE = HERE / "private_cases.py"  # the instructor's own cases, which git ignores


@dataclass(frozen=True)
class Part:
    """Cases that are hard for the same reason.

    Attributes
    ----------
    name : str
        One word.
    tags : frozenset of str
        A case belongs here if it has one of them, and belongs to no later part.
    """

    name: str
    tags: frozenset[str]


ORDINARY = Part("ordinary", frozenset())
PARTS = (
    ORDINARY,
    Part(
        "scale",
        frozenset(["tiny", "huge", "small-x", "large-x", "mixed-magnitudes", "zero-gradient"]),
    ),
    Part("steps", frozenset(["fast", "offset", "domain-edge"])),
    Part("kinks", frozenset(["kink", "tie", "near-kink", "jump"])),
    Part("noise", frozenset(["noise", "float32"])),
)


def part_of(case: Case) -> Part:
    """Return the part that a case belongs to."""
    return next((part for part in reversed(PARTS) if part.tags & case.tags), ORDINARY)


def corpus(part: Part, *, heldout: bool) -> list[Case]:
    """Return the visible cases of a part, or those that are held out.

    Parameters
    ----------
    part : Part
        One of ``PARTS``.
    heldout : bool
        Whether to return every third case of the zoo, and those of ``private_cases.py``, if there
        is one beside this file; otherwise the other two thirds.

    Returns
    -------
    list of Case
        Only cases with real numbers.
    """
    cases = [case for case in all_cases() if part_of(case) is part and "complex" not in case.tags]
    if part is ORDINARY:  # there are many of these, and all are similar
        cases = cases[::4]
    if not heldout:
        return [case for i, case in enumerate(cases) if i % HELD_OUT != 1]
    private = vetted_cases(PRIVATE) if PRIVATE.exists() else []
    return cases[1::HELD_OUT] + [case for case in private if part_of(case) is part]


def read_cases(path: Path) -> list[Case]:
    """Read cases from a Python file that has a function ``cases``, as the zoo's modules have.

    Raises
    ------
    ValueError
        If a right gradient in it is wrong, or a wrong one right, which would be unfair, or if the
        file cannot be read.
    """
    try:
        source = path.read_bytes()
        cases = _run(source, path)
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
    _vetted[path] = source
    return _run(source, path)


# Vetted files of cases: they are vetted before any submission runs.
_vetted: dict[Path, bytes] = {}


def vetted_cases(path: Path) -> list[Case]:
    """Return the cases of a file, which is vetted once in each process."""
    return _run(_vetted[path], path) if path in _vetted else read_cases(path)


def _run(source: bytes, path: Path) -> list[Case]:
    """Run a file of cases again: a bug may remember that it was called."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(source, path, "exec"), vars(module))
    return list(module.cases())


def right_claims(case: Case) -> list[Problem]:
    """Return the right gradients of a case, one for each input."""
    return [
        replace(right, f=Formula("", right.f, repeatable=True))
        for right in problems(case, case.vjp)
    ]


def wrong_claims(case: Case, bug: Bug, rights: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the gradients in which a bug shows; none if it shows only after several calls."""
    for right, wrong in zip(rights, problems(case, bug.vjp), strict=True):
        if right.claimed.shape != wrong.claimed.shape or _differ(right.claimed, wrong.claimed):
            yield replace(wrong, f=right.f)  # one f for all its claims


def _differ(right: Any, wrong: Any) -> bool:
    """Whether two gradients differ by more than rounding in another order of summation."""
    return bool(np.abs(wrong - right).max(initial=0) > SAME * np.abs(right).max(initial=0))


@dataclass(frozen=True)
class Score:
    """The score of a checker on some cases.

    Attributes
    ----------
    right : int
        How many right gradients there are.
    stopped_at : (Case, Problem) or None
        The right gradient that was refused, which ended the test.
    caught, missed : tuple of (Case, Bug)
        The bugs that are refused, and those that are accepted.
    """

    right: int
    stopped_at: tuple[Case, Problem] | None
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
            case, _ = self.stopped_at
            return next((h for tag, h in REFUSED.items() if tag in case.tags), REFUSED_ELSE)
        hints = Counter(_misconception(case, bug) for case, bug in self.missed)
        return hints.most_common(1)[0][0] if hints else ""


def score(check: Check, cases: list[Case]) -> Score:
    """Score a checker.

    Parameters
    ----------
    check : callable
        ``check(f, x, analytic)`` says whether ``analytic`` is the gradient of ``f`` at ``x``. It
        gets copies.
    cases : list of Case
        A bug counts once, and is caught if it is refused for one of the inputs it shows in.

    Returns
    -------
    Score
        Cost: the checker is called about twice for each bug.

    Raises
    ------
    TypeError
        If it answers anything but True or False. Its own errors are passed on.
    """
    rights = [(case, right_claims(case)) for case in cases]
    total = sum(len(claims) for _, claims in rights)
    for case, claims in rights:
        for claim in claims:
            if not accepts(check, claim):
                return Score(total, (case, claim))
    caught: list[tuple[Case, Bug]] = []
    missed: list[tuple[Case, Bug]] = []
    for case, claims in rights:
        for bug in case.bugs:
            wrongs = list(wrong_claims(case, bug, claims))
            if wrongs:
                refused = not all(accepts(check, wrong) for wrong in wrongs)
                (caught if refused else missed).append((case, bug))
    return Score(total, None, tuple(caught), tuple(missed))


FRESH = 30  # questions, after which a checker must forget all earlier ones
SHIFT = 1e-3  # of a point
AS_THEY_ARE = frozenset(["kink", "tie", "near-kink", "jump", "domain-edge", "zero-gradient"])


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


def score_of_strangers(
    check: Check, cases: list[Case], rng: np.random.Generator, forget: Callable[[], None]
) -> Score:
    """Score a checker that may have memorized the questions.

    Right and wrong claims come in random order, each once; points are moved a little. So neither
    the order, nor how often something is claimed, nor a list of points tells which is right.

    Parameters
    ----------
    check, cases
        As for ``score``.
    rng : Generator
        The source of random numbers.
    forget : callable
        Makes the checker forget earlier questions.
    """
    cases = [varied(case, rng) for case in cases]
    rights = [(case, right_claims(case)) for case in cases]
    asked: list[tuple[Case, Bug | None, Problem]] = []
    for case, claims in rights:
        asked += [(case, None, claim) for claim in claims]
        asked += [
            (case, bug, wrong) for bug in case.bugs for wrong in wrong_claims(case, bug, claims)
        ]
    total = sum(len(claims) for _, claims in rights)
    refused: dict[str, tuple[Case, Bug, bool]] = {}
    for i, at in enumerate(rng.permutation(len(asked))):
        if i % FRESH == FRESH - 1:
            forget()
        case, bug, claim = asked[at]
        accepted = accepts(check, claim)
        if bug is None:
            if not accepted:
                return Score(total, (case, claim))
        else:
            before = bug.id in refused and refused[bug.id][2]
            refused[bug.id] = case, bug, before or not accepted
    told = refused.values()
    caught = tuple((case, bug) for case, bug, was in told if was)
    return Score(total, None, caught, tuple((case, bug) for case, bug, was in told if not was))


def accepts(check: Check, problem: Problem) -> bool:
    """Ask a checker."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # near the edge of a domain f is evaluated outside of it
        answer = check(problem.f, problem.x.copy(), problem.claimed.copy())
    if not isinstance(answer, bool | np.bool_):
        raise TypeError(f"the answer is {answer!r}, not True or False")
    return bool(answer)


# --- misconceptions ----------------------------------------------------------------------------

# Why right gradients are refused, by the tag of the function; the first match counts.
REFUSED = {
    "float32": "f knows seven digits: a small step measures its rounding. How far can you trust f?",
    "noise": "f is noisy: a small step measures the noise. How would you notice, and what then?",
    "tie": "at a kink the slopes to the left and to the right differ; any between them is right",
    "kink": "at a kink the slopes to the left and to the right differ; any between them is right",
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

# Why wrong ones are accepted; for ordinary functions, by the diagnosis.
MISSED = {
    "tiny": "an error of 1e-9 is large where the gradient is 1e-9: your tolerance has no unit",
    "small-x": "an error of 1e-9 is large where the gradient is 1e-9: your tolerance has no unit",
    "large-x": "an error of 1e-9 is large where the gradient is 1e-9: your tolerance has no unit",
    "tie": "at a tie, move all of x at once: entries that are right alone may be wrong in sum",
    "near-kink": "near a kink there is one slope, and short enough steps show it",
    "kink": "not every slope is right at a kink: a slope outside the two sides is wrong",
    "jump": "not every slope is right near a jump: one side has a slope",
    "noise": "a tolerance for the noise accepts too much: a longer step measures better",
    "float32": "a tolerance for the noise accepts too much: a longer step measures better",
}
MISSED_BY_DIAGNOSIS = {
    "missing-sum": "compare the shapes first: NumPy stretches arrays until they fit",
    "single-entries": "one wrong entry is enough: compare each, not a mean or a norm",
    "row-or-column": "one wrong row is enough: compare each entry, not a mean or a norm",
    "zero": "zeros are accepted: is anything compared, and against what?",
    "sign": "the sign is lost: is there an abs that should go?",
}
MISSED_ELSE = "how large an error do you allow, and how good is your estimate? Compare the two"


def _misconception(case: Case, bug: Bug) -> str:
    by_tag = (hint for tag, hint in MISSED.items() if tag in case.tags)
    return next(by_tag, MISSED_BY_DIAGNOSIS.get(bug.diagnosis, MISSED_ELSE))


# --- on the command line -----------------------------------------------------------------------


def tell(name: str, scored: Score) -> None:
    """Print the score of a part, and what to look at."""
    if scored.stopped_at:
        case, _ = scored.stopped_at
        say(f"refuses a right gradient: {case.name}", name)
    else:
        say(f"{len(scored.caught)} of {scored.planted} wrong gradients refused", name)
    if scored.hint:
        say(scored.hint, indent=10)


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
    if options.cases:
        own = read_cases(options.cases)
        parts = {part: [case for case in own if part_of(case) is part] for part in PARTS}
    else:
        parts = {part: corpus(part, heldout=options.heldout) for part in PARTS}
    try:
        scores = {part.name: score(check, cases) for part, cases in parts.items() if cases}
    except NotImplementedError as todo:
        say(str(todo), "to do")
        return 1
    for name, scored in scores.items():
        tell(name, scored)
    return 0 if all(scored.enough for scored in scores.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
