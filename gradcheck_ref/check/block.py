"""One input beside all outputs: what is known, and whether a guess at the claim fits it.

A mistake that has a name says what the claim would be. The guess is believed only if that is what
was claimed, everywhere, and if it accounts for the difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.search import FAIL, PASS
from gradcheck_ref.check.structure import Part
from gradcheck_ref.check.verdict import FAIL_BARS, SKIPPED, Pair

# A guess has to account for this share of the difference. Else any would fit a difference that is
# little more than the tolerance: at the tolerance itself, half is left by mere agreement.
EXPLAINED = 0.9

# Claims at random fit a guess by chance, the sooner the vaguer the numeric values are. Where that
# chance is more than this nothing is said: for a dozen patterns it adds up to one in three.
BY_CHANCE = 0.03

# A number whose bar is more than this share of it has no digit for certain: it tells nothing.
UNCERTAIN = 0.1


@dataclass(frozen=True, eq=False)
class Block:
    """One input against all outputs: a row per entry of the input, a column per output coordinate.

    The two coordinates of a complex entry of the input are one complex number here.
    """

    part: Part
    outputs: tuple[Part, ...]
    parts: tuple[Part, ...]  # all inputs and outputs, for the lengths of their axes
    x: Array
    claim: Array  # NaN where it cannot be compared
    again: Array  # NaN where not asked again
    usable: bool
    numeric: Array
    bar: Array  # what the estimate may be off by
    slack: Array  # numbers that differ by no more are equal: the allowed error is in it too
    fails: Array
    agrees: Array  # off by no more than half the error bar, as what is right mostly is
    known: Array  # where there is anything to compare with
    raw: list[Any]  # the gradients as they came; a jvp gives none

    @property
    def wrong(self) -> Array:
        """Mark the entries of the input that are wrong for some output."""
        return np.asarray(self.fails.any(axis=1))

    @property
    def others_agree(self) -> bool:
        """Whether only what failed is wrong, as far as can be seen."""
        return bool(self.agrees[self.known & ~self.fails].all())

    @property
    def significant(self) -> Array:
        """Mark the slopes that are surely not zero."""
        return np.asarray(self.known & (np.abs(self.numeric) > 2 * self.slack))

    def shaped(self, columns: Array) -> Array:
        """Give the rows the shape of the input: (shape of the input, columns)."""
        return columns.reshape(*self.part.shape, columns.shape[-1])

    def fits(self, guess: Array, size: float = 1.0, free: int = 0) -> bool:
        """Tell whether this was claimed: the numeric values, each changed by a factor of ``size``.

        So many numbers in the guess were free to choose: they make as many entries fit.
        """
        # The slack of an entry that is zero does not shrink with the factor.
        least = np.where(self.significant, 0.0, self.slack)
        slack = np.maximum(size * self.slack, least)
        return self._fits(guess, slack, size * self.bar, self.known, free)

    def fits_moved(self, move: Callable[[Array], Array]) -> bool:
        """Tell whether the numeric values, moved to other places, were claimed."""
        guess, slack, bar, known = map(move, (self.numeric, self.slack, self.bar, self.known))
        return self._fits(guess, slack, bar, known, 0)

    def _fits(self, guess: Array, slack: Array, bar: Array, known: Array, free: int) -> bool:
        compared = known & self.known
        if not compared[self.fails].all():
            return False
        if not equal(self.claim, guess, slack)[compared].all():
            return False
        with np.errstate(invalid="ignore", over="ignore"):
            before = np.abs(self.claim - self.numeric)[self.fails]
            near = np.abs(self.claim - guess)[self.fails]
        bar = bar[self.fails]
        # A random claim, as far off as this one, would have come so near with this chance.
        chances = np.sort(np.minimum(1.0, np.maximum(near, bar) / before))
        explained = np.maximum(0.0, near - bar).sum() <= (1 - EXPLAINED) * before.sum()
        return bool(explained and chances[free:].prod() <= BY_CHANCE)


def equal(claim: Array, values: Array, slack: Array) -> Array:
    """Tell where a claim equals values within the slack; what is not finite never does."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(claim - values) <= slack)


def blocks(pairs: Sequence[Pair]) -> list[Block]:
    """Put the outputs of each input side by side."""
    by_input: dict[Part, list[Pair]] = {}
    for pair in pairs:
        by_input.setdefault(pair.input, []).append(pair)
    parts = (*by_input, *dict.fromkeys(pair.output for pair in pairs))
    return [_block(group, parts) for group in by_input.values()]


def _block(group: list[Pair], parts: tuple[Part, ...]) -> Block:
    part = group[0].input
    usable = all(pair.analytic is not None for pair in group)

    def beside(name: str) -> Array:
        return np.concatenate([getattr(pair, name) for pair in group], axis=1)

    numeric, verdict, error, allowed = map(beside, ("numeric", "verdict", "error", "allowed"))
    missing = np.full(numeric.shape, np.nan)
    claim = beside("analytic") if usable else missing
    known = (verdict != SKIPPED) & np.isfinite(numeric) & np.isfinite(error)
    kink = beside("reason") == "kink"
    with np.errstate(invalid="ignore"):
        off = np.abs(claim - numeric)
        share = np.where(kink, 1.0, 0.5)  # at a kink all between the slopes is right
        agrees = (verdict == PASS) | (off <= share * error + allowed)
        # An estimate may be off by as many bars as a fail has to exceed; by one alone at a kink,
        # where the bar is the jump of a slope, and so wherever an entry failed with less.
        once = (verdict == FAIL) & (off <= FAIL_BARS * error + allowed)
        once |= kink & (error > UNCERTAIN * np.abs(numeric))
    bar = np.where(once, 1.0, FAIL_BARS) * error
    # Passed is passed: there are zeros that are compared with the rounding of f.
    slack = np.where((verdict == PASS) & known, np.fmax(bar + allowed, off), bar + allowed)
    return Block(
        part=part,
        outputs=tuple(pair.output for pair in group),
        parts=parts,
        x=_entries(part, group[0].x),
        claim=_entries(part, claim),
        again=_entries(part, beside("again") if usable else missing),
        usable=usable,
        numeric=_entries(part, numeric),
        bar=_both(part, bar, np.add),
        slack=_both(part, slack, np.add),
        fails=_both(part, verdict == FAIL, np.logical_or),
        agrees=_both(part, agrees, np.logical_and),
        known=_both(part, known, np.logical_and),
        raw=[gradient for pair in group for gradient in pair.raw],
    )


def _entries(part: Part, coordinates: Array) -> Array:
    """Turn real and imaginary coordinates into complex numbers; leave real ones."""
    return coordinates[0::2] + 1j * coordinates[1::2] if part.is_complex else coordinates


def _both(part: Part, coordinates: Array, combine: np.ufunc) -> Array:
    """Combine what is known of the two coordinates of a complex number; leave real ones."""
    return combine(coordinates[0::2], coordinates[1::2]) if part.is_complex else coordinates
