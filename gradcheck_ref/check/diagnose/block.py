"""One input beside all outputs: what is known, and whether a guess at the claim fits it.

A mistake that has a name says what the claim would be. The guess is accepted only if it agrees with
the claim in every entry that was looked at, and if it accounts for the difference.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.judge.pair import FAIL, PASS, Pair
from gradcheck_ref.check.judge.rule import FAIL_BARS
from gradcheck_ref.structure.parts import Part

# A number that is uncertain by a tenth of itself has no certain digit. A guess that leaves more
# than a tenth of the difference fits by mere agreement: at the tolerance itself, half is left.
UNCERTAIN = 0.1

# Claims at random fit a guess by chance, the sooner the vaguer the numeric values are. Where that
# chance is more than this nothing is said: for a dozen patterns it adds up to one in three.
BY_CHANCE = 0.03

# A claim with two right digits has the right structure: a digit, a small term or noise is wrong.
NEARLY = 1e-2

# Kind, sentence and advice; or nothing, where the pattern is not seen.
Found = tuple[str, str, str] | None


class Block:
    """One input against all outputs: a row per entry looked at, a column per output coordinate.

    The two coordinates of a complex entry of the input are one complex number here.
    """

    def __init__(self, group: list[Pair], parts: tuple[Part, ...], others_held: bool) -> None:
        """Take the input beside each output, all inputs and outputs, and what lines vouch for."""

        def beside(name: str) -> Array:
            arrays = [np.asarray(getattr(pair, name)) for pair in group]  # of one no copy is made
            return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=1)

        def both(coordinates: Array, combine: Callable[..., Array] = _complex) -> Array:
            """Combine what is known of real and imaginary part; leave what is real."""
            if not self.part.is_complex:
                return coordinates
            return np.asarray(combine(coordinates[0::2], coordinates[1::2]))

        self.part, self.parts, self.others_held = group[0].input, parts, others_held
        self.outputs = tuple(pair.output for pair in group)
        self.usable = all(pair.analytic is not None for pair in group)
        # Which entries of the input, and which output coordinates, all outputs in a row.
        self.rows = both(group[0].rows, lambda real, _: real // 2)
        starts = np.cumsum([0, *(part.size for part in self.outputs)])[:-1]
        self.columns = np.concatenate([p.columns + at for p, at in zip(group, starts, strict=True)])
        # The gradients as they came; a jvp gives none.
        self.raw = [gradient for pair in group for gradient in pair.raw]

        verdict, error, allowed = map(beside, ("verdict", "error", "allowed"))
        numeric, kink = beside("numeric"), beside("reason") == "kink"
        missing = np.full(numeric.shape, np.nan)
        analytic = beside("analytic") if self.usable else missing
        known = np.isfinite(numeric) & np.isfinite(error)
        with np.errstate(invalid="ignore"):
            off = np.abs(analytic - numeric)
            # What is right is mostly off by half the bar; at a kink all between the slopes is.
            share = np.where(kink, 1.0, 0.5)
            agrees = (verdict == PASS) | (off <= share * error + allowed)
            # An estimate may be off by as many bars as a fail has to exceed; by one alone at a
            # kink, where the bar is the jump of a slope, and wherever an entry failed with less.
            once = (verdict == FAIL) & (off <= FAIL_BARS * error + allowed)
            once |= kink & (error > UNCERTAIN * np.abs(numeric))
        bar = np.where(once, 1.0, FAIL_BARS) * error
        # Passed is passed: there are zeros that are compared with the rounding of f.
        slack = np.where((verdict == PASS) & known, np.fmax(bar + allowed, off), bar + allowed)

        self.x, self.numeric = both(group[0].x), both(numeric)
        self.claim = both(analytic)  # NaN where it cannot be compared
        self.again = both(beside("again") if self.usable else missing)  # NaN where it is the same
        self.bar = both(bar, np.add)  # what the estimate may be off by
        self.slack = both(slack, np.add)  # numbers that differ by no more are equal
        self.fails = both(verdict == FAIL, np.logical_or)
        self.agrees = both(agrees, np.logical_and)
        self.known = both(known, np.logical_and)  # where there is anything to compare with
        # All that is claimed, also of entries that were not looked at.
        all_claimed = self.usable and all(pair.claim is not None for pair in group)
        self.full = both(beside("claim")) if all_claimed else None

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
        """How many of the entries not looked at are claimed not to be zero, if that is known."""
        if self.full is None:
            return 0 if self.all_rows else None
        return int(np.count_nonzero(self.full) - np.count_nonzero(self.full[self.rows]))

    @property
    def others_differ(self) -> bool:
        """Whether the entries not looked at are right, and not zero: the mistake is elsewhere."""
        return self.usable and self.others_held and self.others_claimed != 0

    @property
    def all_judged(self) -> bool:
        """Whether each entry was looked at, or random lines vouch for it."""
        return (self.all_rows and self.all_columns) or self.others_held

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

    def fits_moved(self, places: Array) -> bool:
        """Tell whether all that is claimed is right once each number is moved back to its place.

        Each number of the input is claimed in one of these places, numbered as they come.
        """
        if self.full is None or not np.isfinite(self.claim[self.fails]).all():
            return False
        places = places.reshape(self.entries, -1)[self.rows]
        if (self._off <= NEARLY * np.abs(self.numeric))[self.fails].all():
            return False
        claim = self.full.reshape(-1)[places]
        if not self._equal(claim, self.numeric, self.slack):
            return False
        near = np.abs(claim - self.numeric)
        # The claims that failed must fit where they belong, and what belongs in their places there.
        off = np.full(self.full.shape, np.nan)
        off[self.rows] = np.where(self.fails, self._off, np.nan)
        belong = off.reshape(-1)[places]
        seen = self.known & np.isfinite(belong)
        return explains(self._off[self.fails], near[self.fails], self.bar[self.fails]) and (
            explains(belong[seen], near[seen], self.bar[seen]) or not seen.any()
        )

    @property
    def _off(self) -> Array:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(np.abs(self.claim - self.numeric))

    def _equal(self, claim: Array, guess: Array, slack: Array) -> bool:
        # What is said of a whole input by some of its entries takes two that are wrong.
        enough = self.all_rows or np.count_nonzero(self.fails) > 1
        if not enough or not self.known[self.fails].all():
            return False
        return bool(equal(claim, guess, slack)[self.known].all())


def explains(off: Array, near: Array, bar: Array, free: int = 0) -> bool:
    """Tell whether a guess that comes so near accounts for claims that are off by so much."""
    # A random claim, as far off as this one, would have come so near with this chance.
    chances = np.sort(np.minimum(1.0, np.maximum(near, bar) / off))
    explained = np.maximum(0.0, near - bar).sum() <= UNCERTAIN * off.sum()
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
    return [Block(group, parts, others_held) for group in by_input.values()]


def _complex(real: Array, imaginary: Array) -> Array:
    return np.asarray(real + 1j * imaginary)
