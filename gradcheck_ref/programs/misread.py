"""How a point in a short form is misread, as points: where the value is that of one, it was so."""

from collections.abc import Iterator

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.lines import RandomLine
from gradcheck_ref.programs.points import ENTRIES, Point, Spot


def misreadings(form: str, spot: Spot) -> Iterator[tuple[str, Point]]:
    """Yield what is often misread, and the point that comes of it."""
    return _of_entries(spot) if form == ENTRIES else _of_lines(spot)


def _of_entries(spot: Spot) -> Iterator[tuple[str, Point]]:
    if spot.also:
        yield "the first of several entries only", spot.alone[0].whole()
        yield "the last of several entries only", spot.alone[-1].whole()
        return
    name, place, value = spot.entry()
    x = spot.base[name]
    old = np.reshape(x, -1)[place]

    def with_entry(at: int, entry: Array) -> Point:
        moved = np.array(x).reshape(-1)
        moved[at] = entry
        return {**spot.base, name: moved.reshape(x.shape)}

    for off, told in ((1, "high"), (-1, "low")):
        there = with_entry((place + off) % x.size, value)
        yield f"the place one too {told} (places are counted from 0)", there
    for columns in {by_columns(place, x.shape), of_columns(place, x.shape)} - {place}:
        told = "the place, or whole points, column by column (both go by rows)"
        yield told, with_entry(columns, value)
    yield (
        "the value as what is added to the kept one (it replaces it)",
        with_entry(place, old + value),
    )
    yield "the kept point, without the entry", spot.base


def by_columns(place: int, shape: tuple[int, ...]) -> int:
    """Return the place of an entry, counted row by row, as counted column by column."""
    return int(np.ravel_multi_index(np.unravel_index(place, shape), shape, order="F"))


def of_columns(place: int, shape: tuple[int, ...]) -> int:
    """Return the place of an entry, counted column by column, as counted row by row."""
    return int(np.ravel_multi_index(np.unravel_index(place, shape, order="F"), shape))


def _of_lines(spot: Spot) -> Iterator[tuple[str, Point]]:
    line, t = spot.way, spot.step
    assert isinstance(line, RandomLine)
    inputs = line.units.inputs
    d = np.zeros(inputs.size, inputs.dtype)
    d[line.start : line.stop] = line.direction
    sizes = np.abs(d)

    def along(wrong: Array) -> Point:
        moved = {}
        for k, part in inputs.parts.items():
            x = spot.base[spot.moved[k]]
            step = wrong[part.stretch] * t
            moved[spot.moved[k]] = (np.reshape(x, -1) + step).astype(x.dtype).reshape(x.shape)
        return {**spot.base, **moved}

    def signs(read: str) -> Array:
        """Return the direction with the bits of every input read in another way."""
        wrong = np.zeros_like(d)
        for part in inputs.parts.values():
            here, many = d[part.stretch], part.size
            for side, sign in ((here > 0, 1), (here < 0, -1)):
                if read == "reversed":
                    seen = np.unpackbits(np.packbits(side, bitorder="little"))[:many]
                else:
                    seen = np.zeros_like(side)
                    if read == "later":
                        seen[1:] = side[:-1]
                    else:
                        seen[:-1] = side[1:]
                wrong[part.stretch] += sign * sizes[part.stretch] * seen
        return wrong

    yield "forward and backward the wrong way round, or minus the step", along(-d)
    yield (
        "the bits of a byte in the other order (the first entry has the lowest bit)",
        along(signs("reversed")),
    )
    yield "every bit as that of the entry after it", along(signs("later"))
    yield "every bit as that of the entry before it", along(signs("earlier"))
    yield "forward only (where backward has a bit, d is minus the scale)", along(np.maximum(d, 0))
    yield "backward as if it were forward (there d is minus the scale)", along(sizes)
    yield "the kept point, without the step", spot.base
