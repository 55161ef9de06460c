"""Trust, and see: what a program promises of its values is tried on a few of them.

That several programs agree; that a value does not depend on what else is in the batch; that a point
in a short form is the same point as when it is sent whole, and as base64 the same as in text.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.lines import Axis, Ray
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.home import Home, not_a_number
from gradcheck_ref.programs.misread import by_columns, misreadings
from gradcheck_ref.programs.points import ENTRIES, LINES, Messenger, Spot

# So often a point of a batch is asked for once more, alone: first the check itself asks for one
# point twice, then for others.
OF_BATCHES = 3
# Batches may be added up in another order: so many roundings of a number of the size of 1, and the
# root of eps of the value itself.
ROUNDINGS = 1e3
# The same point gives the same value, however it is sent, but for so many roundings of the value,
# and a share of how far that is from the value at x: who works x + t d out in float32 is as near. A
# ray is shorter, and that a larger share of it. A point that was misread leads elsewhere, by about
# as much as the right one, and hardly ever by as little as this.
SAME_POINT = 100
ELSEWHERE, ON_A_RAY = 1e-4, 0.1
# Noise may have two values only, as where two threads add up. By chance they come as often as this
# in such an order that they seem to depend on the form once in 500 times.
REPEATS = 4
# Up to so many numbers are sent as text, too, to see whether their bytes are read aright: 2 MB. Of
# more it is done only where there is no value.
MOST_AS_TEXT = 100_000
# So many points in a short form are compared with what is sent whole: of lines one, and one that is
# as short as those of which noise is measured, for all entries move; of entries one for each input,
# and for a matrix one that its order shows. Where these are more, what is left has one for all. Of
# as many numbers as are not sent as text either, there will be a line, and the ray is let be.
RAYS, TOGETHER = "rays", "together"
COMPARED = {ENTRIES: 10, TOGETHER: 10, LINES: 1, RAYS: 1}


class Ask(Protocol):
    """Ask for the value at one point; None if there is none."""

    def __call__(
        self,
        spot: Spot,
        messenger: Messenger | None = None,
        *,
        whole: bool = False,
        text: bool = False,
    ) -> Array | None:
        """Ask the first program, or another; with the point written out, or even as text."""
        ...


class Trials:
    """What is left to be tried.

    Parameters
    ----------
    ask : callable
        Asks for the value at one point.
    messengers : list of Messenger
        Who speaks to each program.
    home : Home
        Where the check is made.
    """

    def __init__(self, ask: Ask, messengers: Sequence[Messenger], home: Home) -> None:
        self.ask, self.home = ask, home
        self.first = messengers[0]
        self.strangers = list(messengers[1:])  # of whom nobody has seen whether they agree
        self.of_batches = OF_BATCHES
        self.of_bytes = True
        self._left = dict(COMPARED)
        if sum(spec.size for spec in self.first.inputs.values()) > MOST_AS_TEXT:
            self._left[RAYS] = 0
        self._compared: set[Hashable] = set()  # what has been shown by those that were

    def after(
        self, spots: Sequence[Spot], batches: list[list[int]], found: Sequence[Array | None]
    ) -> None:
        """Try some of the points that have just been asked for, in these batches.

        Raises
        ------
        ProgramError
            If a promise is not kept.
        """
        self._forms(spots, found)
        self._agree(spots[0], len(batches) - 1)
        self._batch(spots, batches, found)

    # --- several programs, several points ----------------------------------------------------

    def _agree(self, spot: Spot, others: int) -> None:
        """See that programs agree which have just been asked for the first time."""
        asked, self.strangers = self.strangers[:others], self.strangers[others:]
        for messenger in asked:
            value, other = self.ask(spot), self.ask(spot, messenger)
            if said := self._differ(spot, value, other):
                raise ProgramError(
                    f"two programs that were started give {said} at one point: is something drawn "
                    "at random when it starts? Seed it, or start one only"
                )

    def _batch(
        self, spots: Sequence[Spot], batches: list[list[int]], found: Sequence[Array | None]
    ) -> None:
        """See that the last value of a batch is the same where it is alone."""
        places = next((places for places in batches if len(places) > 1), None)
        if places is None or not self.of_batches:
            return
        self.of_batches -= 1
        last = places[-1]
        if said := self._differ(spots[last], found[last], self.ask(spots[last])):
            raise ProgramError(
                f"its value at one point depends on what else is in the batch: {said}, first as "
                f"the last of {len(places)}, then alone, at {spots[last].where()}. Does it "
                "normalise over the batch, or keep a cache? If it cannot be helped, let it say "
                '"batch": 1 in its hello'
            )

    def _differ(self, spot: Spot, value: Array | None, other: Array | None) -> str:
        """Say how two values differ, by more than rounding, and more than by noise."""
        if value is None or other is None:
            return ""
        eps = float(np.finfo(value.dtype).eps)
        close = np.sqrt(eps) * np.abs(other) + ROUNDINGS * eps
        with np.errstate(invalid="ignore"):
            off = ~((np.abs(value - other) <= close) | (np.isnan(value) & np.isnan(other)))
            off &= value != other  # equal infinities
        if not off.any():
            return ""
        again = self.ask(spot)
        at = int(np.argmax(off))
        if again is None or again[at] not in (value[at], other[at]):
            return ""  # it is noise
        return f"{value[at]:.10g} and {other[at]:.10g}"

    # --- base64 ------------------------------------------------------------------------------

    def of_base64(self, spot: Spot, value: Array | None) -> None:
        """See that a point in base64, which has this value, is the same as in text, once.

        Raises
        ------
        ProgramError
            If it is another one.
        """
        encoded = self.first.encoded
        many = sum(self.first.inputs[name].size for name in encoded)
        if not self.of_bytes or not encoded or (value is not None and many > MOST_AS_TEXT):
            return
        self.of_bytes = False
        try:
            text = self.ask(spot, text=True)
        except ProgramError:
            return  # there is no value at this point, however it is sent
        if self._same(value, text):
            return
        for _ in range(REPEATS if value is not None else 0):
            if not self._same(value, self.ask(spot)) or not self._same(
                text, self.ask(spot, text=True)
            ):
                return  # it is noise
        point = spot.whole()
        swapped = Spot({**point, **{name: point[name].byteswap() for name in encoded}})
        other = self.ask(swapped, text=True)
        if value is None:
            is_swapped = other is None or not_a_number(other) is not None
        else:
            is_swapped = self._is(value, other)
        said = ["no value" if one is None else f"{one[0]:.10g}" for one in (value, text)]
        raise ProgramError(
            f"it misreads base64: at {spot.where()} it gives {said[0]} where {', '.join(encoded)} "
            f"{'is' if len(encoded) == 1 else 'are'} sent as base64, and {said[1]} where the same "
            f"numbers are sent as text. {AS_BIG_ENDIAN if is_swapped else BYTES_MEAN}. "
            '(Or let it leave "base64" out of its hello)'
        )

    # --- short forms -------------------------------------------------------------------------

    def _forms(self, spots: Sequence[Spot], found: Sequence[Array | None]) -> None:
        """See that a point in a short form is the same as when it is sent whole, once for each.

        The last one will do, as far from x as there is one: what is left of those before it, in
        what the program keeps, shows as well. At x itself the value is known.
        """
        farthest: dict[Hashable, int] = {}
        for p, spot in enumerate(spots):
            form = self.first.form(spot)
            if not form:
                continue
            if not spot.step and self.home.value is not None and self.home.is_here(spot.base):
                if self._left[form] and not self._same(found[p], self.home.value):
                    self._misread(form, spot, found[p])
            elif spot.step and (shown := _shown_by(form, spot)) not in self._compared:
                before = spots[farthest[shown]] if shown in farthest else spot
                if spot.way is not before.way or abs(spot.step) >= abs(before.step):
                    farthest[shown] = p
        left = {}
        for shown, p in farthest.items():
            kind = RAYS if isinstance(spots[p].way, Ray) else self.first.form(spots[p])
            if self._left[kind]:
                self._left[kind] -= 1
                self._compared.add(shown)
                self._misread(self.first.form(spots[p]), spots[p], found[p])
            elif kind == ENTRIES:
                left[shown] = spots[p]
        if left and self._left[TOGETHER]:
            self._left[TOGETHER] -= 1
            self._together(left)

    def _together(self, spots: Mapping[Hashable, Spot]) -> None:
        """See that one point is the same in short and whole in which all of these have moved."""
        first = next(iter(spots.values()))
        others = {shown: s for shown, s in spots.items() if s.base is first.base}
        places = [s.place for s in others.values() if s.place is not None]
        spot = Spot(first.base, places[0], first.moved, tuple(places[1:]))
        value = self.ask(spot)
        self._misread(ENTRIES, spot, value)
        if value is not None:
            self._compared.update(others)

    def _misread(self, form: str, spot: Spot, value: Array | None) -> None:
        """Raise an error if the value is another one than that of the same point, sent whole."""
        share = ON_A_RAY if isinstance(spot.way, Ray) else ELSEWHERE
        whole = self.ask(spot, whole=True)
        if self._same(value, whole, share):
            return
        for _ in range(REPEATS):
            if not self._same(value, self.ask(spot), share):
                return  # what differs when it is asked for again in the same form is noise
            if not self._same(whole, self.ask(spot, whole=True), share):
                return
        if form == LINES and self._rounds_as_much(spot, value, whole):
            return
        for one in spot.alone if spot.also else ():
            self._misread(form, one, self.ask(one))
        if value is None or whole is None:
            said = ["has no value" if one is None else "has one" for one in (value, whole)]
        else:
            at = int(np.argmax(~(value == whole)))
            said = [f"gives {one[at]:.10g}" for one in (value, whole)]
        guess = next(
            (
                told
                for told, point in misreadings(form, spot)
                if value is not None and self._is(value, self.ask(Spot(point), whole=True))
            ),
            None,
        )
        looks = f": it reads {guess}" if guess else ". " + FORMS_MEAN[form]
        raise ProgramError(
            f"it misreads points that are sent in short: at {spot.where()} it {said[0]} where that "
            f"is sent as {form}, and {said[1]} where the same point is sent whole{looks}. (Or let "
            f'it leave "{LISTED[form]}" out of its hello)'
        )

    def _rounds_as_much(self, spot: Spot, value: Array | None, whole: Array | None) -> bool:
        """Tell whether a last digit of the point makes as much of a difference as its form.

        A program may round x + t d in another way, as by a fused multiply-add.
        """
        if value is None or whole is None:
            return False
        next_to = {
            name: np.nextafter(x, np.inf) if x.dtype.kind == "f" else x
            for name, x in spot.whole().items()
        }
        nudged = self.ask(Spot(next_to), whole=True)
        return nudged is None or _apart(whole, nudged) > ON_A_RAY * _apart(value, whole)

    def _same(self, one: Array | None, other: Array | None, share: float = ELSEWHERE) -> bool:
        """Tell whether two values can be those of one point."""
        if one is None or other is None:
            return one is other
        x = self.home.value
        away = 0.0 if x is None else max(_apart(one, x), _apart(other, x))
        return _apart(one, other) <= max(share * away, _rounding(one, other))

    def _is(self, one: Array, other: Array | None) -> bool:
        """Tell whether two values are the same but for rounding."""
        return other is not None and _apart(one, other) <= _rounding(one, other)


def _shown_by(form: str, spot: Spot) -> Hashable:
    """Return what a point in a short form shows: how one input is read, or in which order it is."""
    if not isinstance(spot.way, Axis):
        return RAYS if isinstance(spot.way, Ray) else form
    k, place = spot.way.units.inputs.locate(spot.way.i)
    name = spot.moved[k]
    return form, name, by_columns(place, spot.base[name].shape) != place


def _apart(one: Array, other: Array) -> float:
    """Return how far two values are apart, in the output that differs most."""
    with np.errstate(invalid="ignore"):
        difference = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0, one - other)
    return float(np.abs(np.nan_to_num(difference, nan=np.inf)).max(initial=0.0))


def _rounding(one: Array, other: Array) -> float:
    size = np.abs(np.concatenate([one, other]))
    largest = float(size.max(initial=0.0, where=size < np.inf))
    return SAME_POINT * float(np.finfo(one.dtype).eps) * largest


AS_BIG_ENDIAN = (
    "It reads the bytes as big-endian, and they are little-endian: of each number the lowest one "
    "comes first"
)
BYTES_MEAN = (
    "They are the bytes of little-endian numbers, row by row, in the dtype of the input: float64 "
    "if it describes no other"
)
# What is listed in hello, and what it means.
LISTED = {ENTRIES: "entries", LINES: "lines"}
FORMS_MEAN = {
    ENTRIES: (
        "An entry is [name, place, value]: the kept point with this value in this place, counted "
        "row by row from 0; all other entries are those of the kept point"
    ),
    LINES: (
        "Every entry is x + t d, with x the point and d the direction that were kept last; the "
        "first entry has the lowest bit of the first byte"
    ),
}
