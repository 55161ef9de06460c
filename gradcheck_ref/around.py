"""Evaluate a function at copies of a point, one coordinate moved at a time.

The five stages differ in *where* they sample ``f`` and in how they use the samples. The shared
part is here, so a stage file holds its idea and nothing else.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcheck_ref.arguments import (
    Array,
    as_function,
    as_numbers,
    as_point,
    as_step,
    as_weights,
    described,
    index_text,
    same_shape,
)


class Around:
    """A function and the neighborhood of one point.

    A complex entry is two real coordinates, so the same loop over coordinates works for real and
    for complex points.

    Parameters
    ----------
    f : callable
        Called as ``f(x)`` with a fresh copy of the point every time, so it may change its
        argument without any effect on the caller's array or on the next evaluation.
    x : array_like of float or complex, any shape
        The point. Read once, never written.
    upstream : array_like, optional
        The weight of each output entry in the loss, if ``f`` returns an array.
    """

    def __init__(self, f: Callable[[Array], Any], x: ArrayLike, upstream: Any = None) -> None:
        self.f = as_function(f, "f")
        self.x = as_point(x, "x")
        self.upstream = None if upstream is None else as_weights(upstream, "upstream")
        self.coordinates = self.x.reshape(-1).view(self.x.real.dtype)
        self.size = self.coordinates.size
        self.parts = 2 if self.x.dtype.kind == "c" else 1
        # Slopes are computed in float64 even for float32 points, so the quotient adds no error
        # of its own; only longdouble is wider.
        self.dtype = np.result_type(self.coordinates.dtype, np.float64)
        self.eps = float(np.finfo(self.coordinates.dtype).eps)
        self.places = self.coordinates.astype(self.dtype).tolist()
        self.evaluations = 0

    def value(self) -> Any:
        """Value of ``f`` at the point."""
        return self._evaluate(self.x.copy())

    def moved(self, i: int, h: float) -> tuple[Any, Any]:
        """Value of ``f`` with coordinate ``i`` moved by ``h``, and the place it moved to.

        The place is the representable number nearest to ``x + h``. A rise is divided by
        the distance between two places, never by the requested ``h``.
        """
        point, place = self._moved(i, h)
        return self._evaluate(point, i, h), place

    def both_sides(self, i: int, steps: Sequence[float]) -> Callable[[float], tuple[Any, ...]]:
        """Return a function of a step: value and place ahead, value and place behind.

        If ``f`` has an attribute ``many``, it is called once, now, with a list of all the points.
        Otherwise a step costs nothing until it is requested.
        """
        many = getattr(self.f, "many", None)
        if many is None:
            return lambda h: (*self.moved(i, +h), *self.moved(i, -h))
        moved = [self._moved(i, side) for h in steps for side in (+h, -h)]
        values = self._together(many, [point for point, _ in moved], i)
        samples = [(value, place) for value, (_, place) in zip(values, moved, strict=True)]
        pairs = zip(samples[::2], samples[1::2], strict=True)
        return {
            h: (*ahead, *behind) for h, (ahead, behind) in zip(steps, pairs, strict=True)
        }.__getitem__

    def rise(self, f_from: Any, f_to: Any) -> Any:
        """Return how much the loss rises: the difference of two values, weighted by upstream."""
        if self.upstream is None:
            return f_to - f_from
        with np.errstate(over="ignore", invalid="ignore"):
            # For complex outputs this is torch's convention: dL = Re(sum(conj(upstream) * df)).
            rise = np.vdot(self.upstream, f_to - f_from).real
        return rise if self.dtype == np.longdouble else float(rise)

    def reach(self, h: float, i: int | slice = slice(None)) -> tuple[Array, Array]:
        """Return the places a step of ``h`` back and ahead: perhaps infinite, perhaps unmoved."""
        with np.errstate(over="ignore"):
            return self.coordinates[i] - h, self.coordinates[i] + h

    def check_step(self, h: float, *factors: float) -> float:
        """Return ``h`` as a float, if every coordinate can move by it and by its multiples."""
        h = as_step(h, "h")
        x = self.coordinates
        for step in (h, *(h * factor for factor in factors)):
            behind, ahead = self.reach(step)
            name = f"h={h:g}" if step == h else f"h={h:g} (which also needs a step of {step:g})"
            stuck = np.flatnonzero((behind == x) | (ahead == x))
            if stuck.size:
                i = stuck[0]
                # The largest number has no next one, so the spacing is taken at half of it.
                apart = np.spacing(min(abs(x[i]), np.finfo(x.dtype).max / 2))
                raise ValueError(
                    f"{name} vanishes against {self.name(i)} = {x[i]:.6g}, where {x.dtype} numbers "
                    f"are {apart:.2g} apart: take a longer step, or rescale x"
                )
            lost = np.flatnonzero(~np.isfinite(behind) | ~np.isfinite(ahead))
            if lost.size:
                i = lost[0]
                raise ValueError(
                    f"{name} carries {self.name(i)} = {x[i]:.6g} beyond the largest {x.dtype}: "
                    "take a shorter step, or rescale x"
                )
        return h

    def slopes_from(self, gradient: Any, argument: str) -> Array:
        """Flatten a gradient of the shape of ``x`` to one slope per coordinate."""
        array = as_numbers(gradient, argument)
        same_shape(array, argument, self.x, "x")
        if array.dtype.kind == "c" and self.parts == 1:
            raise TypeError(
                f"{argument} is complex but x is real: the gradient of a real x is real"
            )
        wide = np.result_type(self.x.dtype, self.dtype)
        return array.astype(wide, order="C").reshape(-1).view(self.dtype)

    def gradient(self, slopes: Any) -> Array:
        """Arrange one slope per coordinate in the shape of the point."""
        array = np.asarray(slopes, self.dtype)
        return array.view(np.result_type(self.x.dtype, self.dtype)).reshape(self.x.shape)

    def per_entry(self, values: Any) -> Array:
        """Arrange one number per coordinate; a last axis holds the parts of each entry."""
        return np.asarray(values).reshape(*self.x.shape, self.parts)

    def name(self, i: int) -> str:
        """Name coordinate ``i`` for a reader, e.g. ``x[0, 2]``."""
        entry = "x" + index_text(np.unravel_index(i // self.parts, self.x.shape))
        return entry if self.parts == 1 else f"the {('real', 'imaginary')[i % 2]} part of {entry}"

    def _moved(self, i: int, h: float) -> tuple[Array, Any]:
        point = self.x.copy()
        coordinates = point.reshape(-1).view(self.coordinates.dtype)
        coordinates[i] += h
        return point, coordinates[i] if self.dtype == np.longdouble else float(coordinates[i])

    def _evaluate(self, point: Array, i: int | None = None, h: float = 0.0) -> Any:
        self.evaluations += 1
        try:
            return self._read(self.f(point))
        except BaseException as error:
            where = "x" if i is None else f"x with {self.name(i)} moved by {h:+.3g}"
            error.add_note(f"in gradcheck_ref, calling f at {where}")
            raise

    def _together(self, many: Callable[[list[Array]], Any], points: list[Array], i: int) -> Any:
        count = len(points)
        self.evaluations += count
        try:
            values = [self._read(value) for value in many(points)]
            if len(values) != count:
                raise ValueError(
                    f"f.many must return one value for each point, but it returned {len(values)} "
                    f"for {count}"
                )
        except BaseException as error:
            where = f"x with {self.name(i)} moved"
            error.add_note(f"in gradcheck_ref, calling f.many at {count} points: {where}")
            raise
        return values

    def _read(self, value: Any) -> Any:
        return self._scalar(value) if self.upstream is None else self._output(value, self.upstream)

    def _scalar(self, value: Any) -> Any:
        """Return the value of a scalar f; NaN for infinity, which has no slope and would warn."""
        if not isinstance(value, float):  # np.float64 is a float, so the common case stays cheap
            array = _returned(value, "a number")
            if array.dtype.kind == "c":
                raise TypeError(
                    f"f must return a real number, not the complex {array}: "
                    "check its real and its imaginary part separately"
                )
            if array.ndim:
                raise ValueError(
                    f"f must return one number, not an array of shape {array.shape}: "
                    "sum it, or use central_difference with upstream"
                )
            if array.dtype.kind == "f":  # a value that was rounded to float32 keeps that error
                self.eps = max(self.eps, float(np.finfo(array.dtype).eps))
            if self.dtype == np.longdouble:
                return array[()] if np.isfinite(array) else np.longdouble("nan")
        value = float(value)
        return value if math.isfinite(value) else math.nan

    def _output(self, value: Any, upstream: Array) -> Array:
        """Return a copy of an array that f returned: f may reuse its buffer."""
        array = as_numbers(_returned(value, "an array of numbers"), "the output of f")
        if array.shape != upstream.shape:
            raise ValueError(
                f"f returned shape {array.shape}, but upstream has shape {upstream.shape}: "
                "upstream holds one weight for each entry of the output"
            )
        return array if np.isfinite(array).all() else np.where(np.isfinite(array), array, np.nan)


def _returned(value: Any, wanted: str) -> Array:
    """Return the value of f as an array of numbers."""
    try:
        array = np.array(None) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    except ValueError:  # a ragged list
        array = np.array(None)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"f must return {wanted}, not {described(value)}")
    return array
