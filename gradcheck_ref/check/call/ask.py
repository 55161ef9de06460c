"""The one place where the check calls f.

A point is given by a line through x and a step along it; the value of f is one flat real vector.
All calls are counted, in this process and in others.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.call.crew import Crew, Place, Work, note_on
from gradcheck_ref.check.decimals import digits_of, has_many_digits
from gradcheck_ref.check.measure.lines import Axis, Units
from gradcheck_ref.structure.inputs import Inputs
from gradcheck_ref.structure.outputs import Outputs

# A function of many points at once may add its terms in another order. Its values may differ by
# sqrt(eps) of themselves plus this many eps, as much as a sum of 1000 terms of size 1 may.
ROUNDINGS_AT_ONCE = 1e3

# This many different values show how many digits all have. One value in ten has a digit less by
# chance, because it ends in a 0; the chance that all six have is one in a million.
SHOWS_DIGITS = 6


class Probe:
    """Calls f at the point and around it, and knows the structure of its value.

    Each call gets copies of the inputs. If f has an attribute ``many``, the points around x go to
    that.
    """

    def __init__(self, f: Callable[..., Any], inputs: Inputs, crew: Crew | None = None) -> None:
        self.f, self.inputs, self.x, self.units = f, inputs, inputs.x, Units(inputs)
        self.crew = crew or Crew()
        self.mix: Array | None = None
        self.mutated: str | None = None  # an input that f writes to
        self.outside: list[str] = []  # the errors of f at points outside its domain
        self.written: set[float] = set()  # some values, to count their digits
        start = time.perf_counter()
        self.first = self.here = self._at_x(self._learn_structure)
        self.work = Work(f, self.units, self.outputs, time.perf_counter() - start)
        self.eps = self.exact = np.maximum(inputs.eps, self.outputs.eps)
        self._fits = np.ones((2, self.here.size), bool)  # all values so far: float32, float16
        self.nondeterminism = np.zeros(self.here.shape)
        self.elsewhere = False  # whether f was called at another point after its last call at x
        self._has_tried_many = not (hasattr(f, "many") and inputs.size)

    def _learn_structure(self, first: Any) -> Array:
        """Learn the structure of the output from the first value."""
        # f may set this during the call, for the outputs that it returns.
        constants = getattr(self.f, "constant_outputs", ())
        opener = getattr(self.f, "open_tree", None)
        self.outputs = Outputs(first, self.inputs.dtype, constants, opener)
        return self.outputs.flat(first)

    def _at_x(self, read: Callable[[Any], Array]) -> Array:
        """Call f at x, and return its value as ``read`` converts it."""
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
        """Standard deviation of the rounding of f, if only its last operation rounds."""
        return np.asarray(0.3 * self.eps * np.fmax(np.abs(self.here), 0.0))  # 0 for NaN

    def combined(self, mix: Array) -> "Probe":
        """Return a probe of combinations of the outputs; mix has shape (combinations, outputs)."""
        probe = copy(self)
        probe.mix = mix
        probe.here, probe.first = mix @ self.here, mix @ self.first
        # The rounding of a sum is that of its largest terms.
        size = np.abs(mix) @ (self.eps * np.abs(self.here))
        with np.errstate(divide="ignore", invalid="ignore"):
            probe.eps = np.fmax(size / np.abs(probe.here), self.eps.max(initial=0.0))
        probe.exact = np.full(probe.eps.shape, np.inf)
        probe.nondeterminism = np.abs(mix) @ self.nondeterminism
        probe._fits = np.ones((2, probe.here.size), bool)
        return probe

    def forward(self) -> None:
        """Call f at x once more: a backward pass may use values from the last forward pass.

        The call also shows whether f returns the same value again, and whether it writes to its
        inputs.
        """
        again = self._mixed(self._at_x(self.outputs.flat))
        self.elsewhere = False
        # NaN in either value does not count as a difference.
        self.nondeterminism = np.fmax(self.nondeterminism, np.abs(again - self.first))

    def try_many(self) -> None:
        """Test once that f.many agrees with f, for x in both places of a batch; 2 evaluations."""
        if self._has_tried_many:
            return
        self._has_tried_many = True
        # In this process, because f.many may find out here that it cannot take several points.
        self.crew.progress.tick(2)
        values, _ = self.work.values([(Axis(self.units, 0), 0.0)] * 2)
        first, eps = self.first, self.outputs.eps
        close = np.isclose(values, first, np.sqrt(eps), ROUNDINGS_AT_ONCE * eps, equal_nan=True)
        if not close.all():
            self.forward()
        # Some outputs of a random f may be equal by chance, for example under an equal mask.
        if not (close.all() or self.nondeterminism.any()):
            one, two, alone = np.vstack([values, first])[:, np.argmin(close.all(axis=0))]
            raise ValueError(
                "f.many must return the value of f at every point, but for a batch of x and x it "
                f"returned {one:.6g} and {two:.6g}, and f returned {alone:.6g}"
            )
        self.here = values[0]

    def many(self, places: Sequence[Place]) -> Array:
        """Return f at these places, (places, outputs); NaN for values that are not finite."""
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
                break  # a value that does not fit in float32 does not fit in float16 either
            # A constant value proves nothing: it may be a round number, such as 0 or 1.
            moves = np.fmin.reduce(samples, axis=0) < np.fmax.reduce(samples, axis=0)
            self.eps = np.maximum(self.eps, np.where(fits & moves, eps, 0.0))

    @property
    def digits(self) -> int:
        """The most decimal digits that a value of f has, if these are few; else 0.

        Whole numbers do not count: they may be exact.
        """
        seen = list(filter(math.isfinite, self.written))
        # A float32 value has few digits anyway, and a combination of outputs is not a value of f.
        short = self.mix is not None or self.eps.max(initial=0.0) > sys.float_info.epsilon
        if short or len(seen) < SHOWS_DIGITS or any(map(has_many_digits, seen)):
            return 0
        return 0 if all(map(float.is_integer, seen)) else digits_of(np.array(seen))
