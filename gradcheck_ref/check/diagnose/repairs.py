"""Which repair of the claim makes it agree with f? The table of mistakes has the repairs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import Block, Guess, equal
from gradcheck_ref.check.diagnose.sights import Sight
from gradcheck_ref.check.mistakes.gradient import Fitted, Words
from gradcheck_ref.check.mistakes.places import MOST_AXES, sums, without_ones
from gradcheck_ref.check.mistakes.table import MISTAKES


def repaired(sight: Sight) -> tuple[Guess | None, Guess | None]:
    """Return the mistakes whose repairs agree with everything that was measured.

    Returns two: the first one predicts every number, the second one has a number that was fitted,
    and is sought only if there is no first. If other kinds of repairs fit as well, the first one
    names them, too: a gradient of few entries, or of equal ones, does not tell them apart.
    """
    exact, fitted = dict[str, Words](), dict[str, Words]()
    for kind, words, is_fitted in _fits(sight):
        (fitted if is_fitted else exact).setdefault(kind, words)
    found = exact or dict([*fitted.items()][:1])
    if not found:
        return None, None
    kind, advice = next((kind, words.advice) for kind, words in found.items())
    said = "; or ".join(words.sentence for words in found.values())
    if sight.measures:
        said += f". Repaired, it agrees with f {sight.measures}"
    guess = Guess(kind, said, advice)
    return (guess, None) if exact else (None, guess)


def _fits(sight: Sight) -> Iterator[tuple[str, Words, bool]]:
    """Yield the repairs of the table that fit, in its order: kind, words, and if c was fitted.

    A number c with a meaning was not fitted.
    """
    nearly = sight.is_nearly_right
    for mistake in MISTAKES:
        if mistake.mend is None or (mistake.moves and nearly):
            continue
        for mend in mistake.mend(sight.gradient):
            if isinstance(mend, Fitted):
                fixed, free = sight.predict(mend.fixed), sight.predict(mend.free)
                c, words, is_fitted = _fitted(sight, Fitted(fixed, free, mend.words))
                # Not of the slopes: a complex c is no factor of these along a real line.
                predicted = sight.predict(mend.fixed + c * mend.free) if words else fixed
            else:
                predicted, words, is_fitted = sight.predict(mend.values), mend.words, False
            is_factor = mistake.kind == "factor"
            if words and sight.agrees(predicted, is_fitted) and not (is_factor and sight.is_alone):
                yield mistake.kind, words, is_fitted


def _fitted(sight: Sight, slopes: Fitted) -> tuple[Any, Words | None, bool]:
    """Fit c to the slopes: its value, the words if it is a mistake, and if it has no meaning."""
    c, unsure = sight.fit(slopes.fixed, slopes.free)
    if sight.is_alone or not 2 * unsure < abs(c):
        return c, None, True
    value, words = slopes.words(c, unsure)
    return (c if value is None else value), words, value is None


def reshaped(block: Block) -> Guess | None:
    """Find the right numbers in another shape, or an array that becomes right when summed."""
    raw = _raw(block)
    if raw is None or raw.shape[:-1] == block.part.shape:
        return None
    x = np.broadcast_to(0.0, block.part.shape)
    of_others = ((other.name, _raw(other)) for other in block.beside)
    others = {name: (x, theirs) for name, theirs in of_others if theirs is not None}
    given = replace(block.gradient(), values=raw, x=x, others=others)
    for mistake in MISTAKES:
        for mend in mistake.reshape(given) if mistake.reshape else ():
            mended = mend.values.reshape(block.entries, -1)[block.rows]
            close = equal(mended, block.numeric, block.slack)
            if block.known.any() and close[block.known].all():
                return Guess(mistake.kind, *mend.words)
    return _summed_too_often(block, raw)


def _raw(block: Block) -> Array | None:
    """Return the gradients of an input as they came, if all are numbers of one shape.

    The last axis is the output.
    """
    if len(block.raw) != len(block.columns) or len({np.shape(one) for one in block.raw}) != 1:
        return None
    raw = np.stack(block.raw, axis=-1)
    return raw if raw.dtype.kind in "fciub" and raw.ndim <= MOST_AXES + 1 else None


def _summed_too_often(block: Block, raw: Array) -> Guess | None:
    """Find the right gradient, summed over some of its axes by mistake."""
    if not block.all_rows:
        return None
    right, slack = (sums(a.reshape(*block.part.shape, -1)) for a in (block.numeric, block.slack))
    for (total, over), (most, _) in zip(right, slack, strict=True):
        if without_ones(total.shape[:-1]) != without_ones(raw.shape[:-1]):
            continue
        if equal(raw, total.reshape(raw.shape), most.reshape(raw.shape)).all():
            advice = f"each entry of {block.name} has a gradient of its own: leave the sum out"
            return Guess("extra-sum", f"it is the right gradient, summed over {over}", advice)
    return None
