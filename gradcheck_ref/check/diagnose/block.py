"""The evidence about one input against all outputs, entry by entry."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.knobs import WIDEST
from gradcheck_ref.check.mistakes.factors import BY_CHANCE, lengths_of
from gradcheck_ref.check.mistakes.gradient import Gradient
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS, Pair, Region
from gradcheck_ref.structure.parts import Part

# Fewer numbers than this prove nothing: many repairs fit, and a line through them has two numbers
# that were fitted.
FEWEST = 4


class Guess(NamedTuple):
    """A mistake that a claim may have."""

    kind: str
    sentence: str
    advice: str
    mended: Array | None = None  # the repaired claim: the slopes must confirm it, see `Block.fits`
    free: int = 0  # how many of its numbers were fitted


def to_complex(real: Array, imaginary: Array) -> Array:
    """Make complex numbers of their parts."""
    return np.asarray(real + 1j * imaginary)


class Block:
    """One input against all outputs: a row per measured entry, a column per output coordinate.

    The two coordinates of a complex entry of the input are one complex number here.
    """

    def __init__(self, group: list[Pair], others_held: bool) -> None:
        """Take the pairs of an input, and whether lines confirm what has no axis."""
        self.group, self.others_held = group, others_held
        self.beside: list[Block] = []  # the other inputs
        self.region: Region | None = None  # where all wrong entries are
        self.is_wrong = False  # some entries, or the whole input

        self.part, self.name = group[0].input, group[0].input.name
        self.outputs = tuple(pair.output for pair in group)
        self.entries = self.part.size // (2 if self.part.is_complex else 1)
        self.rows = self.combined(group[0].rows, lambda real, _: real // 2)  # measured entries
        # The output coordinates that were measured, counted over all outputs.
        self.columns = np.concatenate([pair.columns + pair.output.start for pair in group])
        self.all_rows = len(self.rows) == self.entries
        self.all_columns = len(self.columns) == sum(part.size for part in self.outputs)
        # Whether each entry was measured on its axis, or random lines confirm it.
        self.all_judged = (self.all_rows and self.all_columns) or others_held
        self.x = self.combined(group[0].given.x)  # the point, for the measured entries
        # The gradients as they were returned. A jvp has none, and those of a whole Jacobian, which
        # is no product with an upstream or a tangent, are None.
        self.raw: list[Any] = [gradient for pair in group for gradient in pair.given.raw]
        self.is_whole = any(gradient is None for gradient in self.raw)
        self.usable = all(pair.analytic is not None for pair in group)  # shape and dtype are right
        # The claims for all coordinates, and for all entries, measured or not; None if unknown.
        is_known = all(pair.given.claim is not None for pair in group)
        self.claims = self._beside("claim") if is_known else None
        self.full = None if self.claims is None else self.combined(self.claims)

        verdict, error, allowed = map(self._beside, ("verdict", "error", "allowed"))
        numeric, reason = self._beside("numeric"), self._beside("reason")
        kink, endless = reason == "kink", (reason == "nonfinite") & (verdict == FAIL)
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

        # Where the claim is NaN or infinite, and fails: no pattern may count these entries.
        self.endless = self.combined(endless, np.logical_or)
        self.numeric = self.combined(numeric)
        self.claim = self.combined(analytic)  # NaN where it cannot be compared
        self.bar = self.combined(bar, np.add)  # the largest error of the estimate
        self.slack = self.combined(slack, np.add)  # numbers that differ by at most this are equal
        self.fails = self.combined(verdict == FAIL, np.logical_or) & ~self.endless
        self.agrees = self.combined(agrees, np.logical_and)
        # Where there is an estimate, and a number to compare with it.
        self.known = self.combined(known, np.logical_and) & ~self.endless
        self.significant = self.known & (np.abs(self.numeric) > 2 * self.slack)  # surely not 0
        self.wrong = np.asarray(self.fails.any(axis=1))  # entries that fail, for some output
        # Whether all that did not fail is right, or at least agrees with its estimates.
        passes = self.combined(verdict == PASS, np.logical_and)
        self.others_pass = bool((passes | self.fails).all())
        self.others_agree = bool(self.agrees[self.known & ~self.fails].all())

    def _beside(self, name: str) -> Array:
        """Return an array of the pairs, side by side."""
        several = [getattr(pair, name, getattr(pair.given, name, None)) for pair in self.group]
        arrays = [np.asarray(one) for one in several]  # no copy of a single one
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=1)

    def combined(self, coordinates: Array, combine: Callable[..., Array] = to_complex) -> Array:
        """Combine the rows of real and imaginary parts; return real entries unchanged."""
        if not self.part.is_complex:
            return coordinates
        return np.asarray(combine(coordinates[0::2], coordinates[1::2]))

    @property
    def again(self) -> Array:
        """The claim at a second call; NaN where it is the same."""
        return self.combined(self._beside("again")) if self.usable else self.claim * np.nan

    def gradient(self, claims: Array | None = None) -> Gradient:
        """Return the claim as the table of mistakes sees it; perhaps from other columns of claims.

        ``claims`` has a row for each coordinate of all inputs.
        """

        def of(block: Block) -> tuple[Array, Array] | None:
            part, at = block.part, block.group[0].given.point
            its = block.claims if claims is None else claims[part.stretch]
            if at is None or its is None:
                return None
            return part.entries(at[:, None])[..., 0], part.entries(its)

        mine = of(self)
        x, values = mine or (self.x, self.claim)
        parts = [*(block.part for block in (self, *self.beside)), *self.outputs]
        found = Gradient(
            name=self.name,
            values=values,
            x=x,
            whole=mine is not None,
            others={block.name: its for block in self.beside if (its := of(block))},
            wrong=frozenset(block.name for block in self.beside if block.is_wrong),
            lengths=lengths_of(parts),
            is_jacobian=self.is_whole,
        )
        if claims is not None:  # of combinations of the outputs
            return found
        one_output = len(self.outputs) == 1 and self.all_columns
        odd = [np.arange(part.size) % 2 * part.is_complex for part in self.outputs]
        return replace(
            found,
            outputs=self.outputs[0].shape if one_output else (),
            imaginary=np.concatenate(odd).astype(bool)[self.columns],
            of_f=np.concatenate([pair.given.value for pair in self.group]),
        )

    # --- which entries are known, and which are wrong ---------------------------------------------

    @cached_property
    def others_claimed(self) -> int | None:
        """How many entries without an axis have claims that are not zero; None if unknown."""
        if self.full is None:
            return 0 if self.all_rows else None
        return int(np.count_nonzero(self.full) - np.count_nonzero(self.full[self.rows]))

    @property
    def shows_order(self) -> bool:
        """Whether the slopes are so sharp that they show in which order the numbers should be.

        With long error bars, as at a kink, almost any order would fit.
        """
        return self.all_rows and self.is_sharp and bool(self.known.all())

    @property
    def is_sharp(self) -> bool:
        """Whether no error bar is long, compared with the largest slope."""
        longest = WIDEST * np.abs(self.numeric[self.known]).max(initial=0.0)
        return bool((self.slack[self.known] <= longest).all())

    @property
    def inside(self) -> Array:
        """Where all wrong entries are, in the shape of the input."""
        if self.region:
            return self.region.entries
        found = np.zeros(self.entries, bool)
        found[self.rows[self.wrong]] = True
        return found.reshape(self.part.shape)

    @property
    def claim_inside(self) -> Array:
        """The claims for wrong entries, or for all in their region."""
        return self.gradient().values[self.inside] if self.region else self.claim[self.wrong]

    @cached_property
    def slopes(self) -> "Slopes":
        """The slopes on the axes that are known."""
        every = self.claim, self.numeric, self.bar, self.slack, self.fails
        return Slopes(*(one[self.known] for one in every))

    def fits(self, mended: Array, free: int = 0) -> bool:
        """Tell whether a repaired claim, for the measured entries, agrees with f not by chance.

        ``free`` numbers in the repair were fitted, and make as many entries fit.
        """
        # A diagnosis of a whole input from only some of its entries needs two wrong ones.
        is_enough = self.all_rows or np.count_nonzero(self.fails) > 1
        is_known = self.known[self.fails].all()
        return bool(is_enough and is_known and self.slopes.confirm(mended[self.known], free))


class Slopes(NamedTuple):
    """Slopes with error bars, and a claim about them."""

    claimed: Array
    numeric: Array
    bar: Array  # the largest error of the estimate
    slack: Array  # numbers that differ by at most this are equal
    fails: Array  # where the claim is wrong

    @property
    def big(self) -> Array:
        """Which slopes are surely not zero."""
        return np.asarray(np.abs(self.numeric) > 2 * self.slack)

    def confirm(self, predicted: Array, free: int = 0) -> bool:
        """Tell whether the slopes that a repaired claim predicts agree, and not by chance.

        A random claim fits by chance, more often if the error bars are long. If that is more likely
        than BY_CHANCE, there is no diagnosis: for a dozen repairs it adds up to one in three.
        """
        near, fails = np.abs(predicted - self.numeric), self.fails
        changed = np.abs(predicted - self.claimed) > self.slack
        # A slope of 0 confirms any number that is moved away.
        if not (near <= self.slack).all() or not (free or self.big[changed].any()):
            return False
        off, near, bar = np.abs(self.claimed - self.numeric)[fails], near[fails], self.bar[fails]
        # The probability that a random claim with the same error comes as near.
        chances = np.sort(np.minimum(1.0, np.maximum(near, bar) / off))
        explained = np.maximum(0.0, near - bar).sum() <= WIDEST * off.sum()
        return bool(explained and chances[free:].prod() <= BY_CHANCE)


def equal(claim: Array, values: Array, slack: Array) -> Array:
    """Tell where a claim equals values within the slack. Infinity and NaN equal nothing."""
    return np.asarray(np.abs(claim - values) <= slack)


def blocks(pairs: Sequence[Pair], others_held: bool) -> list[Block]:
    """Put the outputs of each input side by side."""
    by_input: dict[Part, list[Pair]] = {}
    for pair in pairs:
        by_input.setdefault(pair.input, []).append(pair)
    found = [Block(group, others_held) for group in by_input.values()]
    for block in found:
        block.beside = [other for other in found if other is not block]
    return found
