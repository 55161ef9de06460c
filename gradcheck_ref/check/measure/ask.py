"""The one place where f is called.

A point is asked for as the values of all inputs; the answer is one flat real vector. Calls are
counted, and an error that f raises gets a note of where that was.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.structure import Inputs, Outputs


class Probe:
    """Calls f at the point and around it, and knows what the value at the point looks like.

    Parameters
    ----------
    f : callable
        The function; it gets copies of the inputs every time.
    inputs : Inputs
        The point.
    """

    def __init__(self, f: Callable[..., Any], inputs: Inputs) -> None:
        self.f = f
        self.inputs = inputs
        self.calls = [0]  # shared with probes of the same function
        self.mix: Array | None = None
        values = inputs.copies()
        start = time.perf_counter()
        first = self._call(values, "x", lambda value: value)
        self.seconds = time.perf_counter() - start
        self.mutated = inputs.changed(values)
        self.outputs = Outputs(first, inputs.dtype)
        self.here = self.outputs.flat(first)
        self.eps = np.maximum(inputs.eps, self.outputs.eps)
        self.nondeterminism = np.zeros(self.here.shape)

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
        return np.asarray(0.3 * self.eps * np.abs(np.nan_to_num(self.here)))

    def combined(self, mix: Array) -> "Probe":
        """Return a probe of so many combinations of the outputs, (combinations, outputs)."""
        probe = object.__new__(Probe)
        vars(probe).update(vars(self))
        probe.mix = mix
        probe.here = mix @ self.here
        # What is added up rounds as its largest terms do.
        size = np.abs(mix) @ (self.eps * np.abs(self.here))
        with np.errstate(divide="ignore", invalid="ignore"):
            probe.eps = np.fmax(size / np.abs(probe.here), self.eps.max(initial=0.0))
        probe.nondeterminism = np.abs(mix) @ self.nondeterminism
        return probe

    def next_door(self, seed: int) -> "Probe":
        """Return a probe of the same function a few spacings of x away; 1 evaluation."""
        probe = object.__new__(Probe)
        vars(probe).update(vars(self))
        probe.inputs = self.inputs.next_door(seed)
        probe.here = probe.at(probe.inputs.copies(), "x moved by a few of its spacings")
        return probe

    def forward(self) -> None:
        """Call f at x once more: a backward pass may use what the last forward pass has kept.

        It shows, too, whether f gives the same value again, and has written to what it was lent.
        """
        values = self.inputs.copies()
        again = self.at(values, "x")
        self.mutated = self.mutated or self.inputs.changed(values)
        moved = np.nan_to_num(np.abs(again - self.here))
        self.nondeterminism = np.maximum(self.nondeterminism, moved)

    def at(self, values: list[Any], where: str | Callable[[], str]) -> Array:
        """Return the outputs at these values of the inputs; NaN for what is not finite."""
        flat: Array = self._call(values, where, self.outputs.flat)
        return flat if self.mix is None else self.mix @ flat

    def _call(
        self, values: list[Any], where: str | Callable[[], str], read: Callable[[Any], Any]
    ) -> Any:
        """Call f and read what it returns; an error gets a note of where that was."""
        self.calls[0] += 1
        try:
            return read(self.inputs.call(self.f, values))
        except BaseException as error:
            where = where if isinstance(where, str) else where()
            note = f"in gradcheck_ref, calling f at {where}"
            if isinstance(error, ArithmeticError | ValueError) and where != "x":
                note += "; if f is not defined there, let it return NaN, as np.log and np.sqrt do"
            # A function with optional parameters takes them, so that no signature told before.
            if isinstance(error, TypeError) and self.inputs.only_numbers:
                note += "; inputs holds numbers, each an argument: for one array, pass np.array"
            error.add_note(note)
            raise

    def notice_precision(self, samples: Array) -> bool:
        """Lower the precision of outputs whose samples are all float32 or float16 numbers.

        Returns whether that was new.
        """
        before = self.eps
        for short in (np.float32, np.float16):
            with np.errstate(all="ignore"):
                fits = ((samples == samples.astype(short)) | np.isnan(samples)).all(axis=0)
            if not fits.any():
                break  # what float32 does not hold, float16 does not hold either
            # One and the same value may be a round number by itself.
            fits &= np.fmin.reduce(samples, axis=0) < np.fmax.reduce(samples, axis=0)
            self.eps = np.where(fits, np.maximum(self.eps, np.finfo(short).eps), self.eps)
        return bool((self.eps != before).any())
