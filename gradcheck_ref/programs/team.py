"""Several programs with one function share the work; the values are the same for any number.

Points are put into batches in a way that does not depend on how many programs there are, since what
is in a batch may touch the last digits.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.child import A_WHILE
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.notes import Notes
from gradcheck_ref.programs.points import Messenger, Spot
from gradcheck_ref.programs.program import LostError

# Points that are asked for at once are put into so many batches, or more, so that there is
# something to do for this many programs.
SHARES = 8
# So often a point of a batch is asked for once more, alone: first the check itself asks for one
# point twice, then for others.
TRIALS = 3
# Batches may be added up in another order: so many roundings of a number of the size of 1, and the
# root of eps of the value itself.
ROUNDINGS = 1e3


class ApartError(Exception):
    """There is one answer for several points: they are to be asked for one by one."""


@dataclass(frozen=True)
class Batch:
    """Points that are asked for in one request, all on one line, or on none."""

    spots: list[Spot]


Ask = Callable[[Messenger, Batch], list[Array | str]]


class Team:
    """Some programs, and who asks them.

    Parameters
    ----------
    messengers : list of Messenger
        Who speaks to each program; the first is asked what is asked of one only.
    ask : callable
        Asks for the values of a batch: flat arrays, or words where there is none.
    notes : Notes
        Where points without a value are noted.
    """

    def __init__(self, messengers: list[Messenger], ask: Ask, notes: Notes) -> None:
        self.messengers, self.ask, self.notes = messengers, ask, notes
        self.trials = TRIALS
        self.strangers = messengers[1:]  # of whom nobody has seen whether they agree
        self.any_value = False

    def alone(self, spot: Spot, messenger: Messenger | None = None) -> Array | None:
        """Return the value at one point, by default from the first; None if there is none."""
        (value,) = self._settled(messenger or self.messengers[0], Batch([spot]))
        return value

    def values(self, spots: Sequence[Spot]) -> list[Array | None]:
        """Return the values at some points, in their order; None where there is none."""
        if not spots:
            return []
        found: list[Array | None] = [None] * len(spots)
        batches = self._batches(spots)
        jobs = deque(batches)

        def work(messenger: Messenger) -> None:
            while True:
                try:
                    places = jobs.popleft()
                except IndexError:
                    return
                settled = self._settled(messenger, Batch([spots[p] for p in places]))
                for place, value in zip(places, settled, strict=True):
                    found[place] = value

        hands = self.messengers[: len(batches)]
        if len(hands) > 1:
            self._together(hands, work)
        else:
            work(hands[0])
        self._try(spots, batches, found)
        return found

    def _batches(self, spots: Sequence[Spot]) -> list[list[int]]:
        """Sort the places of points by line, and part them."""
        hello = self.messengers[0].program.hello
        most = max(1, min(hello.batch, -(-len(spots) // SHARES)))
        by_line: dict[int, list[int]] = {}
        for place, spot in enumerate(spots):
            by_line.setdefault(id(spot.line), []).append(place)
        return [
            places[start : start + most]
            for places in by_line.values()
            for start in range(0, len(places), most)
        ]

    def _settled(self, messenger: Messenger, batch: Batch) -> list[Array | None]:
        """Ask for a batch; where that fails, for its points one by one."""
        try:
            values = self.ask(messenger, batch)
        except (LostError, ApartError) as error:
            if len(batch.spots) > 1:
                one_by_one = [self._settled(messenger, Batch([spot])) for spot in batch.spots]
                return [value for (value,) in one_by_one]
            values = [str(error)]
        settled: list[Array | None] = []
        for spot, value in zip(batch.spots, values, strict=True):
            if isinstance(value, str):
                if not self.any_value:
                    raise ProgramError(
                        f"no value at the first point that it was asked for: {value}"
                    )
                self.notes.add_none(spot.where(), value)
                settled.append(None)
            else:
                self.any_value = True
                settled.append(value)
        return settled

    def _together(self, hands: list[Messenger], work: Callable[[Messenger], None]) -> None:
        """Let each work in a thread of its own; raise what one of them raises."""
        errors: list[BaseException] = []

        def safely(messenger: Messenger) -> None:
            try:
                work(messenger)
            except BaseException as error:
                errors.append(error)
                self.stop("it was stopped, for another one broke")

        threads = [threading.Thread(target=safely, args=(one,), daemon=True) for one in hands]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive():
                    thread.join(A_WHILE)
        except BaseException:  # Ctrl-C: let nobody wait for a reply
            self.stop("it was stopped")
            raise
        if errors:
            raise errors[0]

    def stop(self, why: str) -> None:
        """End all programs now, for good."""
        for messenger in self.messengers:
            messenger.program.stop(why)

    # --- trust, and see ----------------------------------------------------------------------

    def _try(
        self, spots: Sequence[Spot], batches: list[list[int]], found: list[Array | None]
    ) -> None:
        """See that programs agree, and that a value does not depend on its place in a batch."""
        hands, self.strangers = self.strangers[: len(batches) - 1], []
        for messenger in hands:
            value, other = self.alone(spots[0]), self.alone(spots[0], messenger)
            if said := self._differ(spots[0], value, other):
                raise ProgramError(
                    f"two programs that were started give {said} at one point: is something drawn "
                    "at random when it starts? Seed it, or start one only"
                )
        if not self.trials:
            return
        places = next((places for places in batches if len(places) > 1), None)
        if places is None:
            return
        self.trials -= 1
        last = places[-1]
        if said := self._differ(spots[last], found[last], self.alone(spots[last])):
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
        again = self.alone(spot)
        at = int(np.argmax(off))
        if again is None or again[at] not in (value[at], other[at]):
            return ""  # it is noise
        return f"{value[at]:.10g} and {other[at]:.10g}"
