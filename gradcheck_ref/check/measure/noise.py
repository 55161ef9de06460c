"""How noisy and how precise the values of f are, and the smallest step between them.

Noise limits the accuracy of any slope. It comes from rounding, float32 inside f, an iteration that
stops early, or random numbers. Pilots measure it; all values of f show their digits.
"""

import sys

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.ask import Ask
from gradcheck_ref.check.decimals import BITS, SMALLEST, digits_shown, step_between
from gradcheck_ref.check.draws import seed_of
from gradcheck_ref.check.measure.ladder import Table
from gradcheck_ref.check.measure.pilot import fly, no_pilots
from gradcheck_ref.check.measure.stairs import stairs_along

# Noise above this many roundings of f is more than rounding: it is measured, and reported as noise.
NOISY = 100.0

# An unknown number is NaN or infinity, and the formulas pass it on without a warning.
QUIETLY = np.errstate(all="ignore")


class Noise:
    """The noise of every output, as the pilots show it, and what else its values show.

    Parameters
    ----------
    ask : Ask
        Calls f.
    seed : int
        Seed for the lines of the pilots.

    Attributes
    ----------
    eps : ndarray, shape (outputs,)
        The precision of the outputs: that of their dtype, or of a shorter one that all values fit.
    common : ndarray, shape (outputs,)
        The step between the values of an output, if all are whole multiples of one; else 0.
    smallest : ndarray, shape (outputs,)
        The smallest number of a short format, if that is the step near f(x); else 0.
    inherited : ndarray, shape (outputs,), or 0
        The spacing that combinations of outputs have from these, as f(x) shows it.
    pilots : Pilots
        The noise, the stairs and the best steps along a line over each input.
    changed, short : ndarray of bool, shape (outputs,)
        Which outputs have ever had a value other than that at x, and which have only had values
        that fit a shorter dtype than their own.
    """

    def __init__(self, ask: Ask, seed: int) -> None:
        self.ask, self.seed = ask, seed
        self.eps = np.maximum(ask.inputs.eps, ask.outputs.eps)
        self.pilots = no_pilots(ask)
        self.common, self.smallest = np.zeros(ask.here.shape), np.zeros(ask.here.shape)
        self.inherited: Array | float = 0.0
        self.changed = np.zeros(ask.here.shape, bool)
        self.short = np.zeros(ask.here.shape, bool)
        self._fits = np.ones((len(BITS), ask.here.size), bool)  # all values so far
        self._seen: list[Array] = []
        self._asked_again = False

    # --- what is known ----------------------------------------------------------------------------

    @property
    def stairs(self) -> Array:
        """The size of the stairs of f that a pilot has found; 0 if there are none."""
        return self.pilots.stairs

    @property
    def resolution(self) -> Array:
        """The step between values of an output, or the size of its stairs; 0 if there are none."""
        return np.fmax(self.common, self.stairs)

    @property
    @QUIETLY
    def spacing(self) -> Array:
        """The step between values; if they never change, that of the shortest format they fit."""
        eps = np.where(self.short, self.eps, self.ask.outputs.eps.max(initial=0.0))
        # Who has more bits than a float32 was not asked about fewer.
        for fits, bits in zip(np.logical_and.accumulate(self._fits), BITS, strict=True):
            eps = np.where(fits & ~self.changed, np.maximum(2.0 ** (1 - bits), eps), eps)
        shown = self.changed & (self.resolution > 0)
        own = np.where(shown, self.resolution, eps * np.abs(self.ask.here))
        return np.fmax(own, self.inherited)

    @property
    def floor(self) -> Array:
        """Standard deviation of the rounding of f, if only its last operation rounds."""
        found: Array = 0.3 * self.eps * np.fmax(np.abs(self.ask.here), 0.0)  # 0 for NaN
        return found

    @property
    def quiet(self) -> Array:
        """The largest noise that counts as rounding: of f, or of x if f is near 0."""
        return np.asarray(NOISY * np.fmax(self.floor, 0.3 * self.eps * self.pilots.size))

    @property
    def least(self) -> Array:
        """The noise that is known without a pilot: rounding, or what a second call showed."""
        return np.maximum(self.floor, self.ask.nondeterminism)

    @property
    def level(self) -> Array:
        """The standard deviation of the noise of each output, where the pilots look first."""
        return np.maximum(self.pilots.loudest, self.least)

    @property
    def typical(self) -> float:
        """The noise of the noisiest output."""
        return float(self.level.max(initial=0.0))

    @property
    def random(self) -> Array:
        """Which outputs are random: a second call changes them, or they are noisy beside such ones.

        An output of a random f may stay the same by chance, for example if a mask has few entries.
        A change as small as rounding comes from sums in another order, as on a GPU.
        """
        changed = self.ask.nondeterminism > self.quiet
        return np.asarray(changed | (changed.any() & (self.level > self.quiet)))

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype; with less than three, it is a count.

        A number near the end of its format has few digits, too, and counts nothing.
        """
        step = np.where(self.common > 0, self.common, self.stairs)
        digits = (100 * step <= np.abs(self.ask.here)) | (step == self.smallest)
        return np.where(step > 0, digits & self.changed, self.short)

    @property
    def digits(self) -> int:
        """The most decimal digits that a value of f has, if these are few; else 0."""
        # A float32 value has few digits anyway, and a combination of outputs is not a value of f.
        short = self.ask.mix is not None or self.eps.max(initial=0.0) > sys.float_info.epsilon
        some = [values.reshape(-1)[:60] for values in self._seen]
        return digits_shown(np.concatenate(some)) if some and not short else 0

    # --- how it is learned ------------------------------------------------------------------------

    @QUIETLY
    def notice(self, values: Array) -> None:
        """Learn from new values, (..., outputs): how many digits f has, and if it changes."""
        if not values.size:
            return
        values = values.reshape(-1, values.shape[-1])
        self.changed |= (np.isfinite(values) & (values != self.ask.here)).any(axis=0)
        if sum(kept.size for kept in self._seen) < 2**16:
            self._seen.append(values)
        parts, moves = np.frexp(values)[0], np.fmin.reduce(values) < np.fmax.reduce(values)
        for fits, bits, smallest in zip(self._fits, BITS, SMALLEST, strict=True):
            fits &= ((parts * 2.0**bits % 1 == 0) | np.isnan(parts)).all(axis=0)
            if not fits.any():
                return  # what has more bits than a float32 has more than the others, too
            # A constant value proves nothing: it may be a round number, such as 0 or 1. Nor do
            # values with half of the bits or fewer, such as a few roundings of a larger number.
            long = parts * 2.0 ** max((bits - 1) // 2, 5) % 1 > 0
            eps = np.where(fits & moves & long.any(axis=0), 2.0 ** (1 - bits), 0.0)
            self.short |= eps > self.eps
            self.eps = np.maximum(self.eps, eps)
            # Numbers of up to so many bits are as far apart as the smallest one is from 0.
            ends = fits & (np.abs(self.ask.here) < 2.0**bits * smallest)
            if ends.any():
                counts = values / smallest
                ends &= (counts % 1 == 0).all(axis=0) & (counts % 2 == 1).any(axis=0)
                self.smallest = np.fmax(self.smallest, np.where(ends, smallest, 0.0))
                self.common = np.fmax(self.common, self.smallest)

    def find_resolution(self) -> bool:
        """Find the step between all values so far; return whether it is another one than before."""
        before = self.common
        found = step_between(np.concatenate([self.ask.here[None], *self._seen]))
        self.common = np.fmax(found, self.smallest)
        return bool((self.common != before).any())

    def find_stairs(self, table: Table) -> bool:
        """Find stairs beside a smooth part of f along some lines; return whether there is news.

        A pilot that stays on one stair cannot see them.
        """
        stairs = np.where(self.stairs > 0, 0.0, stairs_along(table, self.eps))
        self.has_stairs(stairs)
        return bool(stairs.any())

    def has_stairs(self, stairs: Array) -> None:
        """Learn the size of the stairs of each output, if it has some."""
        noise = np.fmax(self.pilots.noise, stairs / 3)  # nowhere is less
        self.pilots = self.pilots._replace(stairs=np.fmax(self.stairs, stairs), noise=noise)

    def ask_again(self) -> bool:
        """Learn more because a claim is not settled; return whether there is news.

        Cost: 1 evaluation at the first time: if f is random, it is another draw of its noise.
        """
        news = self.find_resolution()
        if not self._asked_again and self.ask.budget.left:
            self._asked_again, before = True, self.ask.nondeterminism
            self.ask.forward()
            news |= bool((self.ask.nondeterminism != before).any())
        return news

    def fly(self, few: bool) -> None:
        """Send pilots, if at least half of the evaluations are left for slopes.

        Cost: 10 evaluations for each, or 16 if f is noisy, and up to 40 more if it has stairs.
        """
        if not self.ask.inputs.size:
            return
        found = fly(self.ask, self.eps, seed_of(self.seed, "pilots"), few, self.notice)
        if found:
            self.pilots = found
            self.changed |= found.stairs > 0
