"""Named mistakes, planted into a claim, and whether the check would have noticed them.

Idea
    A test passes because the gradient is right, or because the point or the tolerance hides what is
    wrong. So a wrong claim is held to the witnesses that were measured for the right one, by the
    same rule: f is not called. A mistake is noticed where a witness refuses the planted claim, for
    then the check looks again and fails it; or where a product is no longer linear.
Where
    Each mistake is made in one input at a time, while the others stay right: so an input that was
    forgotten has zeros.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.code import identity
from gradcheck_ref.check.diagnose.mistakes import mistaken
from gradcheck_ref.check.judge.evidence import Case, Evidence
from gradcheck_ref.check.judge.identities import Identities

# What the mistakes are called. In a dtype that rounds by 1e-4 and more, as float16 does, a relative
# error of 1e-3 is rounding and no mistake.
NAMES = {
    "factor": "a factor of 2",
    "sign": "the wrong sign",
    "zero": "zeros",
    "single-entries": "one entry left at 0",
    "transposed": "a transposition",
    "slightly-off": "a relative error of 1e-3",
}
COARSE = 1e-4

# A change that is no more than this many roundings of the claim, or of f, is none: a gradient may
# be symmetric but for rounding, and zero but for that of f.
ROUNDINGS_OF_CLAIM, ROUNDINGS_OF_F = 2.0, 8.0

# Why a mistake is not noticed: it changes nothing here; it is allowed; nobody can tell; there is
# nothing to compare.
POINT, TOLERANCE, ERROR_BARS = "the point", "the tolerance", "the error bars"
NOTHING = "nothing to compare"

# What a mistake adds to what is claimed along the lines of some evidence, (lines, outputs).
Change = Callable[[Evidence], Array]


@dataclass(frozen=True)
class Planted:
    """A mistake that was planted."""

    function: Hashable  # equal for checks of one f, which make up for each other
    mistake: str  # what was made wrong
    input: str  # the input whose gradient it was planted into; empty for the only one, and for all
    # Why the check would have passed: the point, the tolerance or the error bars; empty if the
    # check would have noticed the mistake.
    why: str


# The reports of what was asserted, while somebody collects them; only then are mistakes planted.
asserted: list[Any] | None = None


@np.errstate(all="ignore")
def plant(
    f: Callable[..., Any],
    case: Case,
    evidence: Sequence[Evidence],
    identities: Identities | None,
) -> tuple[Planted, ...]:
    """Plant every mistake into a claim that was judged, and tell which would have been noticed.

    Parameters
    ----------
    f : callable
        The function that was checked.
    case : Case
        What was judged.
    evidence : sequence of Evidence
        All that was measured: axes, and random lines.
    identities : Identities or None
        Of the product, if it was one that was checked.
    """
    where = identity(f)
    if not (case.size and case.probe.here.size):
        return (Planted(where, "any mistake", "", NOTHING),)
    planted = []
    for mistake, name, change, is_allowed, is_linear in _mistakes(case, identities):
        changes = [change(one) for one in evidence]
        if not is_linear:
            why = ""
        elif all(map(_is_nothing, evidence, changes)):
            why = POINT
        elif is_allowed:
            why = TOLERANCE
        else:
            why = "" if any(map(_refuses, evidence, changes)) else ERROR_BARS
        planted.append(Planted(where, mistake, name, why))
    return tuple(planted)


def _refuses(evidence: Evidence, more: Array) -> bool:
    """Whether the same witnesses refuse another claim."""
    other = copy(evidence)
    other.claimed = evidence.claimed + more
    other.judge()
    return bool(other.refused.any())


def _is_nothing(evidence: Evidence, more: Array) -> bool:
    """Whether a change of the claim is rounding."""
    probe, largest = evidence.case.probe, np.abs(evidence.claimed).max(axis=0, initial=0.0)
    floor = ROUNDINGS_OF_CLAIM * largest + ROUNDINGS_OF_F * np.abs(probe.here)
    return bool((np.abs(more) <= probe.eps * floor).all())


def _mistakes(
    case: Case, identities: Identities | None
) -> Iterator[tuple[str, str, Change, bool, bool]]:
    """Yield each mistake, its input, what it adds; if that is allowed, and the product linear."""
    matrix, tolerance = case.claims.matrix, case.tolerance
    names = dict(NAMES)
    if float(np.fmax(case.probe.inputs.eps, case.probe.outputs.eps).max()) > COARSE:
        del names["slightly-off"]
    if matrix is None:  # a jvp that was asked along lines alone
        for kind, wrong in mistaken(np.ones((1, 1)), ()):
            if kind in names:
                c = float(wrong[0, 0])
                yield names[kind], "", _scaled(c), abs(c - 1) <= tolerance.rtol, True
        return
    exact = np.zeros(matrix.shape)
    allowed = tolerance.least(np.arange(case.size), matrix, exact, matrix, case.probe.eps)
    allowed = allowed + tolerance.rtol * np.abs(matrix)

    parts = [part for part in case.probe.inputs.parts.values() if part.size]
    for part in parts:
        claim, name = matrix[part.stretch], part.name if len(parts) > 1 else ""
        for kind, instead in mistaken(claim, part.shape):
            if kind in names:
                more = np.zeros(matrix.shape, matrix.dtype)
                more[part.stretch] = instead - claim
                is_allowed = bool((np.abs(more) <= allowed).all())
                yield names[kind], name, _added(more), is_allowed, True
    if identities is not None:
        along = 0 if case.claims.by_rows else 1
        same = np.broadcast_to(matrix.sum(axis=along, keepdims=True), matrix.shape)
        yield (
            f"{case.claims.vector} ignored",
            "",
            _added(same - matrix),
            False,
            not _is_bent(identities, same),
        )


def _scaled(c: float) -> Change:
    return lambda one: (c - 1) * one.claimed


def _added(more: Array) -> Change:
    return lambda one: np.reshape([line.dot(more) for line in one.lines], one.claimed.shape)


def _is_bent(identities: Identities, same: Array) -> bool:
    """Whether a product that gives the same for every vector does not add up."""
    vector = identities.w
    if identities.claims.by_rows:
        same, vector = same.T, identities.v
    size = np.abs(same) @ np.abs(vector)
    allowed = identities.rtol * size + identities.rounding * size.max(initial=0.0)
    allowed += np.max(identities.floor, initial=0.0) * np.abs(vector).sum()
    return bool((np.abs(same[:, 0] - same @ vector) > allowed).any())
