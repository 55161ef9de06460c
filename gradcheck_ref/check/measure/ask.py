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
from gradcheck_ref.check.measure.progress import Progress
from gradcheck_ref.structure import Inputs, Outputs

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

    def __init__(
        self,
        f: Callable[..., Any],
        inputs: Inputs,
        crew: Crew | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.inputs = inputs
        self.crew, self.progress = crew or Crew(), progress or Progress(False)
        self.calls = [0]  # shared with probes of the same function
        self.mix: Array | None = None
        self._written: set[float] | None = set()  # some values; None once one has all its digits
        values = inputs.copies()
        self._count(1)
        start = time.perf_counter()
        try:
            first = inputs.call(f, values)
            self.seconds = time.perf_counter() - start
            self.mutated = inputs.changed(values)
            # What f knows of the outputs it has just returned.
            constants = getattr(f, "constant_outputs", ())
            opener = getattr(f, "open_tree", None)
            self.outputs = Outputs(first, inputs.dtype, constants, opener)
            self.first = self.here = self.outputs.flat(first)
        except BaseException as error:
            note_on(error, "x", inputs, f)
            raise
        self.work = Work(f, Units(inputs), self.outputs)
        self.eps = np.maximum(inputs.eps, self.outputs.eps)
        self._fits = np.ones((2, self.here.size), bool)  # all values so far: float32, float16
        self.nondeterminism = np.zeros(self.here.shape)
        self.elsewhere = False  # whether f was called at other points since it was at x
        self._knows_many = not (hasattr(f, "many") and inputs.size)

    @property
    def units(self) -> Units:
        """The units of the coordinates."""
        return self.work.units

    @property
    def evaluations(self) -> int:
        """How often f was called."""
        return self.calls[0]

    @property
    def x(self) -> Array:
        """The point, flat."""
        return self.inputs.x

    @property
    def rounded(self) -> Array:
        """Which outputs have fewer digits than their dtype."""
        if self.mix is not None:
            return np.zeros(self.eps.shape, bool)
        return np.asarray(self.eps > np.maximum(self.inputs.eps, self.outputs.eps))

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
        probe.nondeterminism = np.abs(mix) @ self.nondeterminism
        probe._fits = np.ones((2, probe.here.size), bool)
        return probe

    def next_door(self, seed: int) -> "Probe":
        """Return a probe of the same function a few spacings of x away; 1 evaluation."""
        probe = copy(self)
        probe.inputs, probe.crew = self.inputs.next_door(seed), Crew()
        probe.work = Work(self.work.f, Units(probe.inputs), self.outputs, at_x=False)
        probe.here = probe.many([(Axis(probe.units, 0), 0.0)])[0]
        return probe

    def forward(self) -> None:
        """Call f at x once more: a backward pass may use what the last forward pass has kept.

        It shows, too, whether f gives the same value again, and has written to what it was lent.
        """
        values = self.inputs.copies()
        self._count(1)
        self.elsewhere = False
        again = self._mixed(self.work.value(values))
        self.mutated = self.mutated or self.inputs.changed(values)
        # NaN before or now is no difference.
        self.nondeterminism = np.fmax(self.nondeterminism, np.abs(again - self.first))

    def meet_many(self) -> None:
        """See once that f.many gives what f gives, wherever in a batch x is; 2 evaluations."""
        if self._knows_many:
            return
        self._knows_many = True
        # In this process: it may learn that it is better called at every point by itself.
        self._count(2)
        values = self.work.values([(Axis(self.units, 0), 0.0)] * 2)
        first, eps = self.first, self.outputs.eps
        close = np.isclose(values, first, np.sqrt(eps), ROUNDINGS_AT_ONCE * eps, equal_nan=True)
        if not close.all():
            self.forward()
        # Of a random f some outputs come out the same by chance, as where a mask is the same.
        if not (close.all() or self.nondeterminism.any()):
            row, column = (int(place) for place in np.argwhere(~close)[0])
            where = "x" if not row else "x, the second in a batch of two"
            raise ValueError(
                f"f.many must give what f gives at every point, but at {where} it gives "
                f"{values[row, column]:.6g} for {first[column]:.6g}"
            )
        self.here = values[0]

    def many(self, places: Sequence[Place]) -> Array:
        """Return f at these places, (places, outputs); NaN for what is not finite."""
        self.meet_many()
        self.elsewhere = True
        return self._mixed(self.crew.values(self.work, places, self.seconds, self._count))

    def notice_precision(self, samples: Array) -> bool:
        """Lower the precision of outputs whose samples are all float32 or float16 numbers.

        Returns whether that was new.
        """
        self._notice_digits(samples)
        before = self.eps
        moves = np.fmin.reduce(samples, axis=0) < np.fmax.reduce(samples, axis=0)
        shorts = ((np.float32, 2.0**-23), (np.float16, 2.0**-10))
        for number, (short, eps) in enumerate(shorts):
            with np.errstate(all="ignore"):
                fits = ((samples == samples.astype(short)) | np.isnan(samples)).all(axis=0)
            self._fits[number] &= fits  # values that are all 0 or 1 fit by themselves
            # One and the same value may be a round number by itself.
            fits = self._fits[number] & moves
            if not fits.any():
                break  # what float32 does not hold, float16 does not hold either
            self.eps = np.where(fits, np.maximum(self.eps, eps), self.eps)
        return bool((self.eps != before).any())

    def _notice_digits(self, samples: Array) -> None:
        """Keep some values, as long as all have few decimal digits."""
        if self._written is None:
            return
        # At a point of float32 a value may be short by itself, and what is combined is no value.
        short = self.mix is not None or float(self.eps.max(initial=0.0)) > sys.float_info.epsilon
        seen = samples.reshape(-1)[: 10 * SHOWS_DIGITS].astype(float).tolist()
        if short or any(map(has_many_digits, seen)):
            self._written = None
        else:
            self._written.update(filter(math.isfinite, seen))

    @property
    def digits(self) -> int:
        """How many decimal digits the values of f have at most, where they are few; else 0.

        Whole numbers are counts, and not written with few digits.
        """
        seen = self._written
        if seen is None or len(seen) < SHOWS_DIGITS or all(map(float.is_integer, seen)):
            return 0
        return digits_of(np.array(list(seen)))

    def _count(self, more: int) -> None:
        self.calls[0] += more
        self.progress.tick(more)

    def _mixed(self, values: Array) -> Array:
        return values if self.mix is None else values @ self.mix.T
