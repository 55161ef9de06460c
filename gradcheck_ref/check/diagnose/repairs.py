"""Which repair of the claim makes it agree with f? The table of mistakes has the repairs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.diagnose.block import Block, Guess, equal
from gradcheck_ref.check.diagnose.sights import Sight
from gradcheck_ref.check.mistakes.gradient import Words
from gradcheck_ref.check.mistakes.places import MOST_AXES, sums, without_ones
from gradcheck_ref.check.mistakes.table import MISTAKES


class Fit(NamedTuple):
    """A repair that agrees with everything that was measured."""

    kind: str
    words: Words
    fitted: int  # how many of its numbers were fitted; one with a meaning is not


def repaired(sight: Sight) -> tuple[Guess, Guess]:
    """Return the mistakes whose repairs agree with everything that was measured.

    Returns two: the first one predicts every number, the second one has a number that was fitted,
    and is sought only if there is no first. If another kind of repair fits as well, the first one
    names it, too: a gradient of few entries, or of equal ones, does not tell them apart.
    """
    exact: list[Fit] = []
    fitted = None
    for fit in _fits(sight):
        if fit.fitted:
            fitted = fitted or fit
        elif not exact or fit.kind != exact[0].kind:
            exact.append(fit)
        if len(exact) == 2:
            break
    if not exact:
        return None, (fitted.kind, fitted.words) if fitted else None
    kind, words = exact[0].kind, exact[0].words
    if len(exact) > 1:
        words = Words(f"{words.sentence}; or {exact[1].words.sentence}", words.advice)
    return (kind, words), None


def _fits(sight: Sight) -> Iterator[Fit]:
    """Yield the repairs of the table that fit, in its order."""
    nearly = sight.is_nearly_right
    for mistake in MISTAKES:
        if mistake.mend is None or (mistake.moves and nearly):
            continue
        for mend in mistake.mend(sight.gradient):
            words: Words | None
            slopes: Any = 0.0
            fitted = 0
            if mend.fixed is not None:
                slopes = sight.predict(mend.fixed)
            if isinstance(mend.words, Words):
                words = mend.words
            else:
                assert mend.free is not None
                free = sight.predict(mend.free)
                c, unsure = sight.fit(slopes + 0 * free, free)
                known = 2 * unsure < abs(c) and not sight.is_alone
                value, words = mend.words(c, unsure) if known else (0.0, None)
                fitted = int(value is None)
                c = c if fitted else value
                slopes = slopes + c * free
                if np.imag(c):  # lines are real
                    fixed = 0.0 if mend.fixed is None else mend.fixed
                    slopes = sight.predict(fixed + c * mend.free)
            if words and sight.agrees(slopes, fitted):
                yield Fit(mistake.kind, words, fitted)


def reshaped(block: Block) -> Guess:
    """Find the right numbers in another shape, or an array that becomes right when summed."""
    shapes = {np.shape(gradient) for gradient in block.raw}
    if len(block.raw) != len(block.columns) or len(shapes) != 1 or shapes == {block.part.shape}:
        return None
    raw = np.stack(block.raw, axis=-1)  # the last axis is the output
    if raw.dtype.kind not in "fciub" or raw.ndim > MOST_AXES + 1:
        return None
    x = np.broadcast_to(0.0, block.part.shape)
    given = replace(block.gradient(), values=raw, x=x)
    for mistake in MISTAKES:
        for mend in mistake.reshape(given) if mistake.reshape else ():
            mended = np.reshape(np.asarray(mend.fixed), (block.entries, -1))[block.rows]
            close = equal(mended, block.numeric, block.slack)
            if block.known.any() and close[block.known].all() and isinstance(mend.words, Words):
                return mistake.kind, mend.words
    return _summed_too_often(block, raw)


def _summed_too_often(block: Block, raw: Array) -> Guess:
    """Find the right gradient, summed over some of its axes by mistake."""
    if not block.all_rows:
        return None
    right, slack = (sums(a.reshape(*block.part.shape, -1)) for a in (block.numeric, block.slack))
    for (total, over), (most, _) in zip(right, slack, strict=True):
        if without_ones(total.shape[:-1]) != without_ones(raw.shape[:-1]):
            continue
        if equal(raw, total.reshape(raw.shape), most.reshape(raw.shape)).all():
            advice = f"each entry of {block.name} has a gradient of its own: leave the sum out"
            return "extra-sum", Words(f"it is the right gradient, summed over {over}", advice)
    return None
