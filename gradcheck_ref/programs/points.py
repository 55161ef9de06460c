"""A point as it is sent to a program: whole, or how it differs from one that the program keeps.

The check moves one entry, or all of them along a line, and says so: a place is a way from x and a
step. Whoever else calls the function hands over arrays, and how they differ is found by looking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.crew import Place
from gradcheck_ref.check.measure.lines import Axis, RandomLine, Way
from gradcheck_ref.messages import shortened
from gradcheck_ref.programs.arrays import FEW, Spec, bits
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.program import Program

# A point that differs in more entries than this is sent whole.
MOST_ENTRIES = 16

# The short forms, as they are called in sentences.
ENTRIES, LINES = "entries", "a step along a line"

Point = Mapping[str, Array]


@dataclass(frozen=True)
class Spot:
    """A point that can be sent: a base, and how to come from there.

    Attributes
    ----------
    base : dict of ndarray
        All inputs, by name.
    place : tuple of Way and float, or None
        A way and a step along it; None for the base itself.
    moved : dict of int to str
        The name of an input, for each number that it has in the way.
    also : tuple of (Way, float)
        Other axes on which it has gone as well, each in another input than the others.
    """

    base: Point
    place: Place | None = None
    moved: Mapping[int, str] = field(default_factory=dict)
    also: tuple[Place, ...] = ()

    @property
    def way(self) -> Way | None:
        """The way on which it lies; None for the base itself."""
        return self.place[0] if self.place else None

    @property
    def step(self) -> float:
        """The step along it."""
        return self.place[1] if self.place else 0.0

    @property
    def line(self) -> RandomLine | None:
        """The line it lies on, along which several entries move at once."""
        return self.way if isinstance(self.way, RandomLine) else None

    @property
    def alone(self) -> list["Spot"]:
        """The points on each of its axes alone."""
        places = [place for place in (self.place, *self.also) if place is not None]
        return [Spot(self.base, place, self.moved) for place in places]

    def where(self) -> str:
        """Say where it is."""
        if self.also:
            return f"x with {1 + len(self.also)} entries moved"
        return self.way.where(self.step) if self.way and self.step else "x"

    def whole(self) -> Point:
        """Return it as arrays."""
        if self.place is None:
            return self.base
        if self.also:
            point = {name: np.array(value, order="C") for name, value in self.base.items()}
            for one in self.alone:
                name, within, value = one.entry()
                point[name].reshape(-1)[within] = value
            return point
        way, t = self.place
        values = way.point(t)
        return {**self.base, **{name: np.asarray(values[k]) for k, name in self.moved.items()}}

    def entry(self) -> tuple[str, int, Any]:
        """Return which entry has moved, if it is one: of which input, at which place, to what."""
        assert self.place is not None
        way, t = self.place
        assert isinstance(way, Axis)
        k, within = way.units.inputs.locate(way.i)
        return self.moved[k], within, np.reshape(way.point(t)[k], -1)[within]


class Messenger:
    """Says to one program where a function is to be worked out, as shortly as it understands.

    Parameters
    ----------
    program : Program
        Who is told.
    inputs : dict of Spec
        The inputs, by name.
    """

    def __init__(self, program: Program, inputs: Mapping[str, Spec]) -> None:
        self.program, self.inputs = program, inputs
        self._start = -1
        self._forget()

    def _forget(self) -> None:
        self._start = self.program.starts
        self._base: Point | None = None
        self._scale: Array | None = None
        self._line: tuple[RandomLine | None, float] = (None, 1.0)

    @property
    def forms(self) -> list[str]:
        """The short forms that the program understands."""
        hello = self.program.hello
        return [ENTRIES] * hello.entries + [LINES] * hello.lines

    def form(self, spot: Spot) -> str:
        """Name the short form in which it sends a point that is on a way; nothing for whole."""
        form = ENTRIES if isinstance(spot.way, Axis) else LINES if spot.line is not None else ""
        return form if form in self.forms else ""

    @property
    def encoded(self) -> list[str]:
        """The inputs that are sent as base64."""
        many = [name for name, spec in self.inputs.items() if spec.size > FEW]
        return many if self.program.hello.base64 else []

    def point(self, spot: Spot, *, whole: bool = False, text: bool = False) -> dict[str, Any]:
        """Return a point for a request, after the program was told what it has to keep for it.

        If ``whole``, it is written out; if ``text``, so that people can read it.
        """
        self.program.start()
        if self.program.starts != self._start:
            self._forget()
        if text:
            point = spot.whole()
            return {"whole": {n: spec.write(point[n], False) for n, spec in self.inputs.items()}}
        if whole:
            return self._whole(spot.whole())
        hello = self.program.hello
        if spot.line is not None:
            return self._along(spot) if hello.lines else self._whole(spot.whole())
        if not hello.entries:
            return self._whole(spot.whole())
        if isinstance(spot.way, Axis):
            self._keep_base(spot.base)
            moved = [one.entry() for one in spot.alone]
            return {"entries": [[name, place, repr(float(value))] for name, place, value in moved]}
        point = spot.whole()
        if self._base is None:
            self._keep_base(point)
        assert self._base is not None
        entries = self._differences(point, self._base)
        return self._whole(point) if entries is None else {"entries": entries}

    def _whole(self, point: Point) -> dict[str, Any]:
        return {"whole": self.arrays(point)}

    def arrays(self, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """Write an array for each input."""
        return {
            name: spec.write(arrays[name], self.program.hello.base64)
            for name, spec in self.inputs.items()
        }

    def _keep_base(self, point: Point) -> None:
        if self._base is None or any(
            point[name] is not kept and not np.array_equal(point[name], kept)
            for name, kept in self._base.items()
        ):
            self._keep(point=self.arrays(point))
            self._base = {name: np.array(value) for name, value in point.items()}

    def _keep(self, **what: Any) -> None:
        reply = self.program.ask("keep", **what)
        if reply.get("kept") is not True:
            raise ProgramError(
                f"asked to keep {' and '.join(what)}, it replies {shortened(reply)}. Who cannot "
                "keep it leaves entries and lines out of its hello"
            )

    def _differences(self, point: Point, base: Point) -> list[Any] | None:
        """List the entries that differ; None if they are many, or no numbers."""
        found: list[Any] = []
        for name in self.inputs:
            ours, kept = np.reshape(point[name], -1), np.reshape(base[name], -1)
            places = np.flatnonzero(ours != kept)
            found += [[name, p, repr(ours[p].item())] for p in places[:MOST_ENTRIES].tolist()]
            if len(found) >= MOST_ENTRIES or len(places) >= MOST_ENTRIES:
                return None
        return found

    def _along(self, spot: Spot) -> dict[str, Any]:
        """Send a line, if it is another one, and the step along it."""
        line = spot.line
        assert line is not None
        assert spot.place is not None
        self._keep_base(spot.base)
        if self._line[0] is not line:
            self._keep_line(line, spot.moved)
        return {"step": repr(spot.place[1] * self._line[1])}

    def _keep_line(self, line: RandomLine, moved: Mapping[int, str]) -> None:
        """Send a direction: its sizes, unless they are those of the last one, and its signs."""
        whole = np.zeros(line.units.inputs.size, line.units.inputs.dtype)
        whole[line.start : line.stop] = line.direction
        sizes = np.abs(whole)
        factor = _factor(sizes, self._scale)
        what: dict[str, Any] = {}
        if factor is None:
            self._scale, factor = sizes, 1.0
            what["scale"] = self._parts(line, moved, sizes)
        for key, side in (("forward", whole > 0), ("backward", whole < 0)):
            what[key] = {
                moved[k]: {"base64": bits(side[part.stretch])}
                for k, part in line.units.inputs.parts.items()
                if side[part.stretch].any()
            }
        self._keep(**what)
        self._line = line, factor

    def _parts(self, line: RandomLine, moved: Mapping[int, str], flat: Array) -> dict[str, Any]:
        parts = line.units.inputs.parts
        wide = {k: Spec(moved[k], part.shape) for k, part in parts.items()}
        return {
            moved[k]: wide[k].write(flat[part.stretch].reshape(part.shape), True)
            for k, part in parts.items()
        }


def _factor(sizes: Array, scale: Array | None) -> float | None:
    """Return by which factor a scale gives these sizes, where they are not zero; None by none."""
    if scale is None:
        return None
    there = sizes > 0
    if not there.any():
        return 1.0
    first = int(np.argmax(there))
    with np.errstate(all="ignore"):
        factor = float(sizes[first] / scale[first])
        same = np.array_equal(np.where(there, factor * scale, 0), sizes)
    return factor if same and np.isfinite(factor) else None
