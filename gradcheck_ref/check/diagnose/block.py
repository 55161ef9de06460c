"""The evidence about one input against all outputs, entry by entry."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.mistakes.factors import BY_CHANCE, lengths_of
from gradcheck_ref.check.mistakes.gradient import Gradient, Words
from gradcheck_ref.check.results import FAIL, FAIL_BARS, PASS, Pair, Region
from gradcheck_ref.structure.parts import Part

# A number with an error of a tenth of itself has no certain digit. A guess must explain all but a
# tenth of the difference; one that only agrees within the tolerance may leave half of it.
UNCERTAIN = 0.1

# The kind of a mistake, and what is said of it; None if it is another one.
Guess = tuple[str, Words] | None


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
        self.fails = self._both(verdict == FAIL, np.logical_or) & ~self.endless
        self.agrees = self._both(agrees, np.logical_and)
        # Where there is an estimate, and a number to compare with it.
        self.known = self._both(known, np.logical_and) & ~self.endless

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

    # --- the claim --------------------------------------------------------------------------------

    @cached_property
    def endless(self) -> Array:
        """Where the claim is NaN or infinite, and fails: no pattern may count these entries."""
        fails = (self._beside("reason") == "nonfinite") & (self._beside("verdict") == FAIL)
        return self._both(fails, np.logical_or)

    @property
    def part(self) -> Part:
        """The input."""
        return self.group[0].input

    @property
    def name(self) -> str:
        """The name of the input."""
        return self.part.name

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
    def is_whole(self) -> bool:
        """Whether the claim is a whole Jacobian, and no product with an upstream or a tangent."""
        return any(gradient is None for gradient in self.raw)

    @property
    def jump(self) -> float:
        """The size of a jump of f near the point; 0 if none was found."""
        return max(pair.given.jump for pair in self.group)

    @property
    def again(self) -> Array:
        """The claim at a second call; NaN where it is the same."""
        return self._both(self._beside("again")) if self.usable else self.claim * np.nan

    @property
    def claims(self) -> Array | None:
        """The claims for all coordinates, measured or not; None if they are not known."""
        known = all(pair.given.claim is not None for pair in self.group)
        return self._beside("claim") if known else None

    @cached_property
    def full(self) -> Array | None:
        """The claims for all entries, measured or not; None if they are not known."""
        return None if self.claims is None else self._both(self.claims)

    def gradient(self, claims: Array | None = None) -> Gradient:
        """Return the claim as the table of mistakes sees it; perhaps from other columns of claims.

        ``claims`` has a row for each coordinate of all inputs.
        """

        def of(block: Block) -> tuple[Array, Array]:
            part, at = block.part, block.group[0].given.point
            its = block.claims if claims is None else claims[part.stretch]
            if at is None or its is None:
                return EMPTY, EMPTY
            return part.entries(at[:, None])[..., 0], part.entries(its)

        x, values = of(self)
        whole = x is not EMPTY
        odd = [np.arange(part.size) % 2 * part.is_complex for part in self.outputs]
        shapes = [(block.name, block.part.shape) for block in (self, *self.beside)]
        return Gradient(
            name=self.name,
            values=values if whole else self.claim,
            x=x if whole else self.x,
            whole=whole,
            others={block.name: of(block) for block in self.beside},
            wrong=frozenset(block.name for block in self.beside if block.is_wrong),
            outputs=self.outputs[0].shape if self._one_output and claims is None else (),
            imaginary=np.concatenate(odd).astype(bool)[self.columns] if claims is None else NO,
            lengths=lengths_of([*shapes, *((part.name, part.shape) for part in self.outputs)]),
            is_jacobian=self.is_whole,
        )

    @property
    def _one_output(self) -> bool:
        return len(self.outputs) == 1 and self.all_columns

    # --- which entries are known, and which are wrong ---------------------------------------------

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
    def others_pass(self) -> bool:
        """Whether all entries that did not fail are right: none is unsure."""
        passes = self._both(self._beside("verdict") == PASS, np.logical_and)
        return bool((passes | self.fails).all())

    @property
    def shows_order(self) -> bool:
        """Whether the slopes are so sharp that they show in which order the numbers should be.

        With long error bars, as at a kink, almost any order would fit.
        """
        sharp = self.slack <= UNCERTAIN * np.abs(self.numeric).max()
        return bool(self.all_rows and self.known.all() and sharp.all())

    @property
    def others_agree(self) -> bool:
        """Whether all entries that did not fail agree with their estimates."""
        return bool(self.agrees[self.known & ~self.fails].all())

    @property
    def significant(self) -> Array:
        """Which slopes are surely not zero."""
        return np.asarray(self.known & (np.abs(self.numeric) > 2 * self.slack))

    @property
    def wrong(self) -> Array:
        """Which measured entries failed, for some output."""
        return np.asarray(self.fails.any(axis=1))

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

    def fits(self, mended: Array, free: int = 0) -> bool:
        """Tell whether a repaired claim, for the measured entries, agrees with f not by chance.

        ``free`` numbers in the repair were fitted, and make as many entries fit.
        """
        # A diagnosis of a whole input from only some of its entries needs two wrong ones.
        enough = self.all_rows or np.count_nonzero(self.fails) > 1
        if not enough or not self.known[self.fails].all():
            return False
        near = np.abs(mended - self.numeric)
        changed = np.abs(mended - self.claim) > self.slack
        # A slope of 0 confirms any number that is moved away.
        if not (near <= self.slack)[self.known].all() or not self.significant[changed].any():
            return False
        off = np.abs(self.claim - self.numeric)[self.fails]
        return explains(off, near[self.fails], self.bar[self.fails], free)


# No imaginary outputs among combinations, and the point or the claim of an unknown input.
NO, EMPTY = np.zeros(1, bool), np.zeros(0)


def explains(off: Array, near: Array, bar: Array, free: int = 0) -> bool:
    """Tell whether a repair explains wrong claims, which are off by ``off``, and then by ``near``.

    A random claim fits by chance, more often if the error bars are long. If that is more likely
    than BY_CHANCE, there is no diagnosis: for a dozen repairs it adds up to one in three.
    """
    # The probability that a random claim with the same error comes as near.
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
    found = [Block(group, others_held) for group in by_input.values()]
    for block in found:
        block.beside = [other for other in found if other is not block]
    return found


def _complex(real: Array, imaginary: Array) -> Array:
    return np.asarray(real + 1j * imaginary)
