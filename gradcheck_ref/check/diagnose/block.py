"""One input beside all outputs: what is known, and whether a guess at the claim fits it.

A mistake that has a name says what the claim would be. The guess is believed only if that is what
was claimed wherever anybody looked, and if it accounts for the difference.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.pair import FAIL, PASS, Pair
from gradcheck_ref.check.judge.rule import FAIL_BARS
from gradcheck_ref.structure import Part

# A guess has to account for this share of the difference. Else any would fit a difference that is
# little more than the tolerance: at the tolerance itself, half is left by mere agreement.
EXPLAINED = 0.9

# Claims at random fit a guess by chance, the sooner the vaguer the numeric values are. Where that
# chance is more than this nothing is said: for a dozen patterns it adds up to one in three.
BY_CHANCE = 0.03

# A number whose bar is more than this share of it has no digit for certain: it tells nothing.
UNCERTAIN = 0.1

# Claims that are off by less than this share of their values stand in their places.
IN_PLACE = 1e-2

# What is said of a whole input by some of its entries is said by so many that are wrong, at least.
FEWEST = 2


@dataclass(frozen=True, eq=False)
class Block:
    """One input against all outputs: a row per entry looked at, a column per output coordinate.

    The two coordinates of a complex entry of the input are one complex number here.
    """

    part: Part
    outputs: tuple[Part, ...]
    parts: tuple[Part, ...]  # all inputs and outputs, for the lengths of their axes
    rows: Array  # which entries of the input
    columns: Array  # which output coordinates, all outputs in a row
    full: Array | None  # all that is claimed, also of entries that were not looked at
    others_held: bool  # whether random lines vouch for those
    x: Array
    claim: Array  # NaN where it cannot be compared
    again: Array  # NaN where not asked again, or the same
    usable: bool
    numeric: Array
    bar: Array  # what the estimate may be off by
    slack: Array  # numbers that differ by no more are equal: the allowed error is in it too
    fails: Array
    agrees: Array  # off by no more than half the error bar, as what is right mostly is
    known: Array  # where there is anything to compare with
    raw: list[Any]  # the gradients as they came; a jvp gives none

    @property
    def entries(self) -> int:
        """How many entries the input has."""
        return self.part.size // (2 if self.part.is_complex else 1)

    @property
    def all_rows(self) -> bool:
        """Whether every entry of the input was looked at."""
        return len(self.rows) == self.entries

    @property
    def all_columns(self) -> bool:
        """Whether every output coordinate was looked at."""
        return len(self.columns) == sum(part.size for part in self.outputs)

    @cached_property
    def others_claimed(self) -> int | None:
        """How many numbers that nobody looked at are claimed not to be zero, if that is known."""
        if self.full is None:
            return 0 if self.all_rows else None
        return int(np.count_nonzero(self.full) - np.count_nonzero(self.full[self.rows]))

    @property
    def others_differ(self) -> bool:
        """Whether what nobody looked at is vouched for, and not zero: the mistake is elsewhere."""
        return self.usable and self.others_held and self.others_claimed != 0

    @property
    def wrong(self) -> Array:
        """Mark the entries of the input that are wrong for some output: (shape of the input)."""
        return self._marked(self.fails.any(axis=1), False)

    @property
    def judged(self) -> Array:
        """Mark the entries of the input that somebody vouches for, or against."""
        return self._marked(True, self.others_held)

    def _marked(self, looked: Any, others: bool) -> Array:
        marks = np.full(self.entries, others)
        marks[self.rows] = looked
        return marks.reshape(self.part.shape)

    @property
    def others_agree(self) -> bool:
        """Whether only what failed is wrong, as far as can be seen."""
        return bool(self.agrees[self.known & ~self.fails].all())

    @property
    def significant(self) -> Array:
        """Mark the slopes that are surely not zero."""
        return np.asarray(self.known & (np.abs(self.numeric) > 2 * self.slack))

    def fits(self, guess: Array, size: float = 1.0, free: int = 0) -> bool:
        """Tell whether this was claimed: the numeric values, each changed by a factor of ``size``.

        So many numbers in the guess were free to choose: they make as many entries fit.
        """
        # The slack of an entry that is zero does not shrink with the factor.
        least = np.where(self.significant, 0.0, self.slack)
        if not self._equal(self.claim, guess, np.maximum(size * self.slack, least)):
            return False
        near = np.abs(self.claim - guess)[self.fails]
        return explains(self._off[self.fails], near, size * self.bar[self.fails], free)

    def fits_moved(self, back: Callable[[Array], Array]) -> bool:
        """Tell whether all that is claimed is right once each number is moved back to its place.

        What moves back the claims of all entries returns those of the entries looked at.
        """
        if self.full is None or not np.isfinite(self.claim[self.fails]).all():
            return False
        if (self._off <= IN_PLACE * np.abs(self.numeric))[self.fails].all():
            return False
        claim = back(self.full)
        if not self._equal(claim, self.numeric, self.slack):
            return False
        near = np.abs(claim - self.numeric)
        # The claims that failed must fit where they belong, and what belongs in their places there.
        off = np.full(self.full.shape, np.nan)
        off[self.rows] = np.where(self.fails, self._off, np.nan)
        belong = back(off)
        seen = self.known & np.isfinite(belong)
        return explains(self._off[self.fails], near[self.fails], self.bar[self.fails]) and (
            explains(belong[seen], near[seen], self.bar[seen]) or not seen.any()
        )

    @property
    def _off(self) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(np.abs(self.claim - self.numeric))

    def _equal(self, claim: Array, guess: Array, slack: Array) -> bool:
        enough = self.all_rows or np.count_nonzero(self.fails) >= FEWEST
        if not enough or not self.known[self.fails].all():
            return False
        return bool(equal(claim, guess, slack)[self.known].all())


def explains(off: Array, near: Array, bar: Array, free: int = 0) -> bool:
    """Tell whether a guess that comes so near accounts for claims that are off by so much."""
    # A random claim, as far off as this one, would have come so near with this chance.
    chances = np.sort(np.minimum(1.0, np.maximum(near, bar) / off))
    explained = np.maximum(0.0, near - bar).sum() <= (1 - EXPLAINED) * off.sum()
    return bool(explained and chances[free:].prod() <= BY_CHANCE)


def equal(claim: Array, values: Array, slack: Array) -> Array:
    """Tell where a claim equals values within the slack; what is not finite never does."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(claim - values) <= slack)


def blocks(pairs: Sequence[Pair], others_held: bool) -> list[Block]:
    """Put the outputs of each input side by side."""
    by_input: dict[Part, list[Pair]] = {}
    for pair in pairs:
        by_input.setdefault(pair.input, []).append(pair)
    parts = (*by_input, *dict.fromkeys(pair.output for pair in pairs))
    return [_block(group, parts, others_held) for group in by_input.values()]


def _block(group: list[Pair], parts: tuple[Part, ...], others_held: bool) -> Block:
    part, rows = group[0].input, group[0].rows
    usable = all(pair.analytic is not None for pair in group)
    # Half a number tells nothing.
    whole = np.isin(rows ^ 1, rows) if part.is_complex else np.s_[:]
    rows = rows[whole]

    def beside(name: str) -> Array:
        return np.concatenate([getattr(pair, name)[whole] for pair in group], axis=1)

    numeric, verdict, error, allowed = map(beside, ("numeric", "verdict", "error", "allowed"))
    missing = np.full(numeric.shape, np.nan)
    claim = beside("analytic") if usable else missing
    known = np.isfinite(numeric) & np.isfinite(error)
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
    full = None
    if usable and all(pair.claim is not None for pair in group):
        claims = [np.asarray(pair.claim) for pair in group]  # of one no copy is made
        full = _entries(part, claims[0] if len(claims) == 1 else np.concatenate(claims, axis=1))
    starts = np.cumsum([0, *(pair.output.size for pair in group)])
    columns = [pair.columns + start for pair, start in zip(group, starts[:-1], strict=True)]
    return Block(
        part=part,
        outputs=tuple(pair.output for pair in group),
        parts=parts,
        rows=rows[0::2] // 2 if part.is_complex else rows,
        columns=np.concatenate(columns),
        full=full,
        others_held=others_held,
        x=_entries(part, group[0].x[whole]),
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
