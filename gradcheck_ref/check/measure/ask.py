"""The one place where f is asked.

A point is asked for by a way from x and a step along it; the answer is one flat real vector. Calls
are counted, whoever makes them.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.decimals import digits_of, has_many_digits
from gradcheck_ref.check.measure.crew import Crew, Place, Work, note_on
from gradcheck_ref.check.measure.lines import Axis, Units
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs

# A function that works out many points at once adds up in another order. Its values may differ by
# this many roundings of a number of the size of 1, as a sum of 1000 terms of that size does, and by
# the root of eps of the value itself.
ROUNDINGS_AT_ONCE = 1e3

# This many different values show with how many digits all are written. One value in ten has a digit
# less by chance, because it ends in a 0; six of them have so once in a million times.
SHOWS_DIGITS = 6


class Probe:
    """Calls f at the point and around it, and knows what the value at the point looks like.

    It gives f copies of the inputs every time. Where f has an attribute ``many``, that is asked for
    the points around x.
    """

    def __init__(self, f: Callable[..., Any], inputs: Inputs, crew: Crew | None = None) -> None:
        self.f, self.inputs, self.x, self.units = f, inputs, inputs.x, Units(inputs)
        self.crew = crew or Crew()
        self.mix: Array | None = None
        self.mutated: str | None = None  # an input that f writes to
        self.outside: list[str] = []  # what f raised where it is not defined
        self.written: set[float] = set()  # some values, to count their digits
        start = time.perf_counter()
        self.first = self.here = self._at_x(self._meet)
        self.work = Work(f, self.units, self.outputs, time.perf_counter() - start)
        self.eps = self.exact = np.maximum(inputs.eps, self.outputs.eps)
        self._fits = np.ones((2, self.here.size), bool)  # all values so far: float32, float16
        self.nondeterminism = np.zeros(self.here.shape)
        self.elsewhere = False  # whether f was called at other points since it was at x
        self._knows_many = not (hasattr(f, "many") and inputs.size)

    def _meet(self, first: Any) -> Array:
        """Learn from the first value how what f returns is read."""
        # What f knows of the outputs it has just returned.
        constants = getattr(self.f, "constant_outputs", ())
        opener = getattr(self.f, "open_tree", None)
        self.outputs = Outputs(first, self.inputs.dtype, constants, opener)
        return self.outputs.flat(first)

    def _at_x(self, read: Callable[[Any], Array]) -> Array:
        """Call f at x, and return what is read of its value."""
        values = self.inputs.copies()
        self.crew.progress.tick()
        try:
            here = read(self.inputs.call(self.f, values))
        except BaseException as error:
            note_on(error, "x", self.inputs, self.f)
            raise
        self.mutated = self.mutated or self.inputs.changed(values)
        return here

    @property
    def evaluations(self) -> int:
        """How often f was called."""
        return self.crew.progress.done

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype."""
        return np.asarray(self.eps > self.exact)

    @property
    def floor(self) -> Array:
        """Standard deviation of the rounding of f, if nothing but its last operation rounds."""
        return np.asarray(0.3 * self.eps * np.fmax(np.abs(self.here), 0.0))  # 0 for NaN

    def combined(self, mix: Array) -> "Probe":
        """Return a probe of so many combinations of the outputs, (combinations, outputs)."""
        probe = copy(self)
        probe.mix = mix
        probe.here, probe.first = mix @ self.here, mix @ self.first
        # What is added up rounds as its largest terms do.
        size = np.abs(mix) @ (self.eps * np.abs(self.here))
        with np.errstate(divide="ignore", invalid="ignore"):
            probe.eps = np.fmax(size / np.abs(probe.here), self.eps.max(initial=0.0))
        probe.exact = np.full(probe.eps.shape, np.inf)
        probe.nondeterminism = np.abs(mix) @ self.nondeterminism
        probe._fits = np.ones((2, probe.here.size), bool)
        return probe

    def forward(self) -> None:
        """Call f at x once more: a backward pass may use what the last forward pass has kept.

        It shows, too, whether f gives the same value again, and has written to what it was lent.
        """
        again = self._mixed(self._at_x(self.outputs.flat))
        self.elsewhere = False
        # NaN before or now is no difference.
        self.nondeterminism = np.fmax(self.nondeterminism, np.abs(again - self.first))

    def try_many(self) -> None:
        """See once that f.many gives what f gives, wherever in a batch x is; 2 evaluations."""
        if self._knows_many:
            return
        self._knows_many = True
        # In this process: it may learn that it is better called at every point by itself.
        self.crew.progress.tick(2)
        values, _ = self.work.values([(Axis(self.units, 0), 0.0)] * 2)
        first, eps = self.first, self.outputs.eps
        close = np.isclose(values, first, np.sqrt(eps), ROUNDINGS_AT_ONCE * eps, equal_nan=True)
        if not close.all():
            self.forward()
        # Of a random f some outputs come out the same by chance, as where a mask is the same.
        if not (close.all() or self.nondeterminism.any()):
            one, two, alone = np.vstack([values, first])[:, np.argmin(close.all(axis=0))]
            raise ValueError(
                "f.many must give what f gives at every point, but in a batch of two that are x "
                f"it gives {one:.6g} and {two:.6g} for {alone:.6g}"
            )
        self.here = values[0]

    def many(self, places: Sequence[Place]) -> Array:
        """Return f at these places, (places, outputs); NaN for what is not finite."""
        self.try_many()
        self.elsewhere = True
        values, outside = self.crew.values(self.work, places)
        self.outside += outside
        return self._mixed(values)

    def _mixed(self, values: Array) -> Array:
        return values if self.mix is None else values @ self.mix.T

    def notice_precision(self, samples: Array) -> None:
        """Lower the precision of outputs whose samples are all float32 or float16 numbers."""
        self.written.update(samples.reshape(-1)[: 10 * SHOWS_DIGITS].astype(float).tolist())
        shorts = (np.float32, 2.0**-23), (np.float16, 2.0**-10)
        for fits, (short, eps) in zip(self._fits, shorts, strict=True):
            if fits.any():
                with np.errstate(all="ignore"):
                    fits &= ((samples == samples.astype(short)) | np.isnan(samples)).all(axis=0)
            if not fits.any():
                break  # what float32 does not hold, float16 does not hold either
            # One and the same value may be a round number by itself, and 0 and 1 are.
            moves = np.fmin.reduce(samples, axis=0) < np.fmax.reduce(samples, axis=0)
            self.eps = np.maximum(self.eps, np.where(fits & moves, eps, 0.0))

    @property
    def digits(self) -> int:
        """How many decimal digits the values of f have at most, where they are few; else 0.

        Whole numbers are counts, and not written with few digits.
        """
        seen = list(filter(math.isfinite, self.written))
        # At a point of float32 a value may be short by itself, and what is combined is no value.
        short = self.mix is not None or self.eps.max(initial=0.0) > sys.float_info.epsilon
        if short or len(seen) < SHOWS_DIGITS or any(map(has_many_digits, seen)):
            return 0
        return 0 if all(map(float.is_integer, seen)) else digits_of(np.array(seen))
