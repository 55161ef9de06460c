"""Plant named mistakes into a right claim, and see if the check would have noticed them.

Idea
    A test passes because the gradient is right, or because the point or the tolerance hides a
    mistake. To tell the two apart, a wrong claim is judged by the witnesses that were measured for
    the right one, with the same rule and without a call of f. The check would notice the mistake
    if a witness refuses the wrong claim (the check would then measure again and fail it), or if
    the product is no longer linear.
Where
    Each mistake is made in one input at a time, and the others stay right. So zeros stand for an
    input that was forgotten.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.decimals import ROUNDINGS
from gradcheck_ref.check.hides.code import identity
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.survey import Findings
from gradcheck_ref.check.judge.tolerance import least
from gradcheck_ref.check.mistakes.gradient import Gradient
from gradcheck_ref.check.mistakes.numbers import SLIGHT
from gradcheck_ref.check.mistakes.table import MISTAKES
from gradcheck_ref.structure.parts import Part


@dataclass(frozen=True)
class Planted:
    """A mistake that was planted."""

    function: Hashable  # equal for checks of one f: it is enough if one of them notices
    mistake: str  # the name of the mistake
    input: str  # the input whose gradient is wrong; empty if there is only one, or all are
    # Why the check would have passed: the mistake changes nothing at the point, the tolerance
    # allows it, the error bars are too long, or there is nothing to compare. Empty if it fails.
    why: str


@np.errstate(all="ignore")
def plant(f: Callable[..., Any], findings: Findings) -> tuple[Planted, ...]:
    """Plant every mistake into a claim that was judged, and find out which would be noticed.

    Parameters
    ----------
    f : callable
        The function that was checked.
    findings : Findings
        All measurements: axes, and random lines.
    """
    question = findings.on_axes.question
    evidence = [findings.on_axes, *findings.lines]
    where = identity(f)
    if not (question.size and question.ask.here.size):
        return (Planted(where, "any mistake", "", "nothing to compare"),)
    planted = []
    eps = np.fmax(question.ask.inputs.eps, question.ask.outputs.eps)
    for mistake, name, more, is_allowed, is_linear in _mistakes(question):
        if mistake == SLIGHT and ROUNDINGS * eps.max() > 1e-3:  # in float16 that is rounding
            continue
        changes = [_change(one, more) for one in evidence]
        if not is_linear:
            why = ""
        elif all(map(_is_nothing, evidence, changes)):
            why = "the point"
        elif is_allowed:
            why = "the tolerance"
        else:
            why = "" if any(map(_refuses, evidence, changes)) else "the error bars"
        planted.append(Planted(where, mistake, name, why))
    return tuple(planted)


def _refuses(evidence: Evidence, more: Array) -> bool:
    """Whether the same witnesses refuse a changed claim."""
    return bool(replace(evidence, claimed=evidence.claimed + more).ruling.refused.any())


def _is_nothing(evidence: Evidence, more: Array) -> bool:
    """Whether a change of the claim is only rounding."""
    question, largest = evidence.question, np.abs(evidence.claimed).max(axis=0, initial=0.0)
    floor = ROUNDINGS * question.noise.eps * (largest + np.abs(question.ask.here))
    return bool((np.abs(more) <= floor).all())


def _mistakes(question: Question) -> Iterator[tuple[str, str, Array | float, bool, bool]]:
    """Yield mistake, input, change, whether that is allowed, and if the product stays linear.

    The change is what is added to the claims, or the multiple of the claims that is.
    """
    claims, matrix = question.claims, question.claims.matrix
    if matrix is None:  # a jvp that was called along lines only
        one = Gradient("", np.ones((1, 1)), np.ones(1))
        for mistake, wrong in _mistaken(one):
            c = float(wrong[0, 0])
            if c != 1:  # else it moves numbers, or loses signs
                yield mistake, "", c - 1, abs(c - 1) <= question.rtol, True
        return
    exact = np.zeros(matrix.shape)
    allowed = least(question, np.arange(question.size), matrix, exact, matrix)
    allowed = allowed + question.rtol * np.abs(matrix)

    parts = [part for part in question.ask.inputs.parts.values() if part.size]
    for part in parts:
        name = part.name if len(parts) > 1 else ""
        for mistake, wrong in _mistaken(_right(question, part)):
            more = np.zeros(matrix.shape, matrix.dtype)
            more[part.stretch] = part.coordinates(wrong) - matrix[part.stretch]
            yield mistake, name, more, bool((np.abs(more) <= allowed).all()), True
    if claims.who in ("vjp", "jvp"):
        along = 0 if claims.by_rows else 1
        same = np.broadcast_to(matrix.sum(axis=along, keepdims=True), matrix.shape)
        is_linear = not same.any()  # a product that is the same for every vector
        yield f"{claims.vector} ignored", "", same - matrix, False, is_linear


def _right(question: Question, part: Part) -> Gradient:
    """Return the claim for an input as the table of mistakes sees it."""
    inputs, matrix = question.ask.inputs, question.claims.matrix
    assert matrix is not None
    points = {p.name: p.array(inputs.x[p.stretch]) for p in inputs.parts.values()}
    values = {p.name: p.entries(matrix[p.stretch]) for p in inputs.parts.values()}
    others = {name: (points[name], values[name]) for name in points if name != part.name}
    return Gradient(part.name, values[part.name], points[part.name], others=others)


def _mistaken(right: Gradient) -> Iterator[tuple[str, Array]]:
    """Yield the name of each mistake, and the wrong gradient; impossible mistakes are left out."""
    for mistake in MISTAKES:
        if mistake.make and (wrong := mistake.make(right)) is not None:
            yield mistake.planted, wrong


def _change(one: Evidence, more: Array | float) -> Array:
    """Return the change of the claims along the lines of some evidence, (lines, outputs)."""
    if isinstance(more, float):
        return np.asarray(more * one.claimed)
    return np.reshape([line.dot(more) for line in one.lines], one.claimed.shape)
