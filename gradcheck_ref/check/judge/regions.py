"""Find the slice of an input that is wrong, where all else is right.

A wrong entry lies in one slice along each axis, and perhaps where the claims are zero. If random
lines that move everything else agree with the claims, the mistake is there. Where f has few digits
only the zeros are tried, and the others are judged as a whole.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.judge.evidence import Evidence
from gradcheck_ref.check.judge.question import Question
from gradcheck_ref.check.judge.steps import looked_first
from gradcheck_ref.check.judge.together import Together
from gradcheck_ref.check.judge.whole import MOST, Group
from gradcheck_ref.check.measure.lines import Line
from gradcheck_ref.check.results import FAIL, PASS, Region
from gradcheck_ref.structure.parts import Part

# After one line for each slice, CONFIRMED lines move all but the one that is wrong.
CONFIRMED = 4

# At most so many slices get a line of their own.
MOST_SLICES = 12


def regions(together: Together, on_axes: Evidence, parts: list[Part]) -> Iterator[Region]:
    """Yield the wrong region of each input that has one, if that is affordable.

    Cost: at most 12 evaluations for each axis of the input, and 30 more.
    """
    for part in parts if together.question.claims.matrix is not None else ():
        mine = part.holds(on_axes.rows)
        wrong = (on_axes.ruling.verdict[mine] == FAIL).any(axis=1)
        right = (on_axes.ruling.verdict[mine] == PASS).all(axis=1)
        if wrong.any() and right.any():
            shown = right & (on_axes.claimed[mine] != 0).any(axis=1)
            entries = (on_axes.rows[mine] - part.start) // (1 + part.is_complex)
            inside = _narrowed(together, part, entries[wrong], bool(shown.any()))
            if inside is not None:
                yield Region(part, inside, CONFIRMED)


def _narrowed(together: Together, part: Part, wrong: Array, shown: bool) -> Array | None:
    """Return which entries may be wrong: the smallest region whose complement is right.

    One slice, or the zeros, are tried if an entry is ``shown`` whose claim is right and not 0.
    """
    inside, spent = np.ones(part.shape, bool), 0
    one = (*_slices(part, wrong[0]), *_zeros(together.question, part)) if shown else ()
    for candidate in one:
        narrows = (inside & ~candidate).any() and candidate.reshape(-1)[wrong].all()
        if narrows and together.question.affordable > CONFIRMED:
            if _is_right(together, part, ~candidate, [spent]):
                inside &= candidate
            spent += 1
    if inside.all():
        inside = _several(together, part, spent)
        spent += MOST_SLICES
    # Lines of their own: those above were chosen because they agree.
    fresh = range(spent, spent + CONFIRMED)
    known = not inside.all() and together.question.affordable >= CONFIRMED
    return inside if known and _is_right(together, part, ~inside, fresh) else None


def _several(together: Together, part: Part, spent: int) -> Array:
    """Return the slices that lines of their own refuse, if few along an axis have claims not 0.

    These are the rows of a table that is used in a few places. Cost: at most 72 evaluations.
    """
    inside, zeros = np.zeros(part.shape, bool), [*_zeros(together.question, part)]
    for axis, zero in enumerate(zeros[:-1]):
        used = np.flatnonzero(~zero.swapaxes(axis, 0).reshape(part.shape[axis], -1)[:, 0])
        affordable = together.question.affordable > len(used) + CONFIRMED
        if not (affordable and 1 < len(used) <= min(MOST_SLICES, part.shape[axis] - 1)):
            continue
        for number, index in enumerate(used.tolist(), spent):
            own = np.zeros(part.shape, bool)
            own.swapaxes(axis, 0)[index] = True
            if not _is_right(together, part, own, [number]):
                inside |= own
        return inside
    return ~inside


def _slices(part: Part, entry: int) -> Iterator[Array]:
    """Yield the slices that hold an entry."""
    for axis, index in enumerate(np.unravel_index(entry, part.shape)):
        inside = np.zeros(part.shape, bool)
        np.moveaxis(inside, axis, 0)[index] = True
        yield inside


def zero_regions(question: Question, numbers: Iterable[int]) -> Iterator[Region]:
    """Yield where the claims for wrong inputs are zero, if all others are right as a whole.

    Cost: that of judging an input as a whole, for each axis with slices of zeros.
    """
    parts = [*question.ask.inputs.parts.values()]
    for part in (parts[k] for k in numbers) if question.claims.matrix is not None else ():
        for zero in _zeros(question, part):
            if not zero.any() or zero.all():
                continue
            with question.ask.budget.apart(MOST):
                group = Group(question, _moves(question, part, ~zero))
                verdict = group.judge()
            if [one.code for one in verdict or ()] == [PASS]:
                yield Region(part, zero, len(group.lines))
                break


def _zeros(question: Question, part: Part) -> Iterator[Array]:
    """Yield the slices along each axis where the claims are zero, then all zeros."""
    matrix = question.claims.matrix
    assert matrix is not None
    zero = np.asarray(~part.entries(matrix[part.stretch]).any(axis=-1))
    for axis in range(zero.ndim):
        others = tuple(other for other in range(zero.ndim) if other != axis)
        yield np.broadcast_to(zero.all(axis=others, keepdims=True), zero.shape)
    yield zero


def _moves(question: Question, part: Part, entries: Array) -> Array:
    """Return which real coordinates belong to some entries of an input."""
    moves = np.zeros(question.size, bool)
    moves[part.stretch] = np.repeat(entries.reshape(-1), 1 + part.is_complex)
    return moves


def _is_right(together: Together, part: Part, entries: Array, numbers: Iterable[int]) -> bool:
    """Whether random lines that move these entries agree with the claims."""
    question = together.question
    packed = np.packbits(_moves(question, part, entries))
    start, stop = part.start, part.start + part.size
    lines = [
        Line(question.ask.inputs, start, stop, seed_of(question.seed, "regions", k), packed)
        for k in numbers
    ]
    found = looked_first(together.along(lines))
    return not found.ruling.refused.any() and bool(np.isfinite(found.best.bar).all())
