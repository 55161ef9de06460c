"""The evidence about one input against all outputs, and the test of a guess at its claim.

Every named mistake predicts the claim. The prediction, a guess, is accepted only if it agrees with
the claim in every measured entry, and if it explains the difference between claim and estimate.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS, Pair
from gradcheck_ref.structure.parts import Part

# A number with an error of a tenth of itself has no certain digit. A guess must explain all but a
# tenth of the difference; one that only agrees within the tolerance may leave half of it.
UNCERTAIN = 0.1

# A random claim fits a guess by chance, more often if the error bars are long. If that is more
# likely than this, there is no diagnosis: for a dozen patterns it adds up to one in three.
BY_CHANCE = 0.03

# A claim with two right digits has the right structure: a digit, a small term or noise is wrong.
NEARLY = 1e-2

# Kind, sentence and advice; None if the pattern does not fit.
Guess = tuple[str, str, str] | None


class Block:
    """One input against all outputs: a row per measured entry, a column per output coordinate.

    The two coordinates of a complex entry of the input are one complex number here.
    """

    def __init__(self, group: list[Pair], parts: tuple[Part, ...], others_held: bool) -> None:
        """Take the pairs of an input, all inputs and outputs, and if lines confirm the rest."""
        self.group, self.part = group, group[0].input
        self.parts, self.others_held = parts, others_held
        verdict, error, allowed = map(self._beside, ("verdict", "error", "allowed"))
        numeric, kink = self._beside("numeric"), self._beside("reason") == "kink"
        analytic = self._beside("analytic") if self.usable else np.full(numeric.shape, np.nan)
        known = np.isfinite(numeric) & np.isfinite(error)
        off = np.abs(analytic - numeric)
        # A right claim is usually off by at most half the bar; at a kink by up to all of it.
        share = np.where(kink, 1.0, 0.5)
        agrees = (verdict == PASS) | (off <= share * error + allowed)
        # An estimate may be off by FAIL_BARS bars; but only by one at a kink, where the bar is the
        # jump of the slope, and for an entry that failed with less.
        once = kink | (verdict == FAIL) & (off <= FAIL_BARS * error + allowed)
        bar = np.where(once, 1.0, FAIL_BARS) * error
        # An entry that passed agrees, even a zero that was compared with the rounding of f.
        slack = np.where((verdict == PASS) & known, np.fmax(bar + allowed, off), bar + allowed)

        self.numeric = self._both(numeric)
        self.claim = self._both(analytic)  # NaN where it cannot be compared
        self.bar = self._both(bar, np.add)  # the largest error of the estimate
        self.slack = self._both(slack, np.add)  # numbers that differ by at most this are equal
        self.fails = self._both(verdict == FAIL, np.logical_or)
        self.agrees = self._both(agrees, np.logical_and)
        self.known = self._both(known, np.logical_and)  # where there is an estimate

    def _beside(self, name: str) -> Array:
        """Return an array of the pairs, side by side."""
        several = [getattr(pair, name, getattr(pair.given, name, None)) for pair in self.group]
        arrays = [np.asarray(one) for one in several]  # no copy of a single one
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=1)

    def _both(self, coordinates: Array, combine: Callable[..., Array] | None = None) -> Array:
        """Combine the rows of real and imaginary parts; return real entries unchanged."""
        if not self.part.is_complex:
            return coordinates
        return np.asarray((combine or _complex)(coordinates[0::2], coordinates[1::2]))

    @property
    def outputs(self) -> tuple[Part, ...]:
        """The outputs."""
        return tuple(pair.output for pair in self.group)

    @property
    def usable(self) -> bool:
        """Whether the claims have the right shape and dtype."""
        return all(pair.analytic is not None for pair in self.group)

    @cached_property
    def rows(self) -> Array:
        """The measured entries of the input."""
        return self._both(self.group[0].rows, lambda real, _: real // 2)

    @cached_property
    def columns(self) -> Array:
        """The output coordinates, counted over all outputs."""
        return np.concatenate([pair.columns + pair.output.start for pair in self.group])

    @property
    def x(self) -> Array:
        """The point, for the measured entries."""
        return self._both(self.group[0].given.x)

    @property
    def raw(self) -> list[Any]:
        """The gradients as they were returned; a jvp has none."""
        return [gradient for pair in self.group for gradient in pair.given.raw]

    @property
    def jump(self) -> float:
        """The size of a jump of f near the point; 0 if none was found."""
        return max(pair.given.jump for pair in self.group)

    @property
    def again(self) -> Array:
        """The claim at a second call; NaN where it is the same."""
        return self._both(self._beside("again")) if self.usable else self.claim * np.nan

    @cached_property
    def full(self) -> Array | None:
        """The claims for all entries, measured or not; None if they are not known."""
        all_claimed = all(pair.given.claim is not None for pair in self.group)
        return self._both(self._beside("claim")) if all_claimed else None

    @property
    def entries(self) -> int:
        """How many entries the input has."""
        return self.part.size // (2 if self.part.is_complex else 1)

    @property
    def all_rows(self) -> bool:
        """Whether every entry of the input was measured on its axis."""
        return len(self.rows) == self.entries

    @property
    def all_columns(self) -> bool:
        """Whether every output coordinate was measured."""
        return len(self.columns) == sum(part.size for part in self.outputs)

    @cached_property
    def others_claimed(self) -> int | None:
        """How many entries without an axis have claims that are not zero; None if unknown."""
        if self.full is None:
            return 0 if self.all_rows else None
        return int(np.count_nonzero(self.full) - np.count_nonzero(self.full[self.rows]))

    @property
    def others_differ(self) -> bool:
        """Whether the entries without an axis are right, and not zero: the mistake is elsewhere."""
        return self.others_held and self.others_claimed != 0

    @property
    def all_judged(self) -> bool:
        """Whether each entry was measured on its axis, or random lines confirm it."""
        return (self.all_rows and self.all_columns) or self.others_held

    @property
    def others_agree(self) -> bool:
        """Whether all entries that did not fail agree with their estimates."""
        return bool(self.agrees[self.known & ~self.fails].all())

    @property
    def significant(self) -> Array:
        """Which slopes are surely not zero."""
        return np.asarray(self.known & (np.abs(self.numeric) > 2 * self.slack))

    def fits(self, guess: Array, size: float = 1.0, free: int = 0) -> bool:
        """Tell whether a guess fits the claim.

        ``size`` is the factor by which the guess changes the numeric values. ``free`` numbers in
        the guess were fitted, and make as many entries fit.
        """
        # The slack of an entry that is zero does not shrink with the factor.
        least = np.where(self.significant, 0.0, self.slack)
        if not self._equal(self.claim, guess, np.maximum(size * self.slack, least)):
            return False
        near = np.abs(self.claim - guess)[self.fails]
        return explains(self._off[self.fails], near, size * self.bar[self.fails], free)

    def fits_moved(self, places: Array) -> bool:
        """Tell whether the claim is right after each number is moved back to its place.

        ``places`` has, for each entry of the input, the flat number of the place where it is now.
        """
        if self.full is None or (self._off <= NEARLY * np.abs(self.numeric))[self.fails].all():
            return False
        places = places.reshape(self.entries, -1)[self.rows]
        claim = self.full.reshape(-1)[places]
        if not self._equal(claim, self.numeric, self.slack):
            return False
        near = np.abs(claim - self.numeric)
        # Both must fit: the numbers that belong in failing places, and the numbers found there.
        off = np.full(self.full.shape, np.nan)
        off[self.rows] = np.where(self.fails, self._off, np.nan)
        belong = off.reshape(-1)[places]
        measured = self.known & np.isfinite(belong)
        return explains(self._off[self.fails], near[self.fails], self.bar[self.fails]) and (
            explains(belong[measured], near[measured], self.bar[measured]) or not measured.any()
        )

    @property
    def wrong(self) -> Array:
        """Which measured entries failed, for some output."""
        return np.asarray(self.fails.any(axis=1))

    @property
    def _off(self) -> Array:
        return np.asarray(np.abs(self.claim - self.numeric))

    def _equal(self, claim: Array, guess: Array, slack: Array) -> bool:
        # A diagnosis of a whole input from only some of its entries needs two wrong ones.
        enough = self.all_rows or np.count_nonzero(self.fails) > 1
        if not enough or not self.known[self.fails].all():
            return False
        return bool(equal(claim, guess, slack)[self.known].all())


def explains(off: Array, near: Array, bar: Array, free: int = 0) -> bool:
    """Tell whether a guess explains claims: ``near`` is its error, ``off`` that of the estimate."""
    # The probability that a random claim with the same error comes as near to the guess.
    chances = np.sort(np.minimum(1.0, np.maximum(near, bar) / off))
    explained = np.maximum(0.0, near - bar).sum() <= UNCERTAIN * off.sum()
    return bool(explained and chances[free:].prod() <= BY_CHANCE)


def equal(claim: Array, values: Array, slack: Array) -> Array:
    """Tell where a claim equals values within the slack. Infinity and NaN equal nothing."""
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
