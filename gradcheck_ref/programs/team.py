"""Several programs with one function share the work; the values are the same for any number.

Points are put into batches in a way that does not depend on how many programs there are, since what
is in a batch may touch the last digits. What programs promise of their values is tried on a few.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation.child import A_WHILE
from gradcheck_ref.programs.asking import Asker, Point
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.notes import Notes, NoValue
from gradcheck_ref.programs.program import LostError

# Points that are asked for at once are put into so many batches, or more, so that there is
# something to do for this many programs.
SHARES = 8
# So often a point of a batch is asked for once more, alone: first the check itself asks for one
# point twice, then for others.
OF_BATCHES = 3
# Batches may be added up in another order: so many roundings of a number of the size of 1, and the
# root of eps of the value itself.
ROUNDINGS = 1e3
# The point of the check is sent as text, too, to see whether its files are read aright, if it has
# no more entries than these: 2 MB.
MOST_TRIED = 100_000
FILES_ARE = (
    "A file has the entries row by row as little-endian numbers, in the dtype of the input, which "
    "is float64 if it describes no other"
)


Values = list[Array | None]  # flat, and None where there is none


@dataclass(frozen=True)
class Spot:
    """A point to be asked for."""

    where: str  # where it is, in words
    point: Callable[[], Point]  # works it out, when it is sent: all inputs, by name


class Team:
    """Some programs, and who asks them.

    Parameters
    ----------
    askers : list of Asker
        Who asks each program; the first is asked what is asked of one only.
    notes : Notes
        Where points without a value are noted.
    """

    def __init__(self, askers: list[Asker], notes: Notes) -> None:
        self.askers, self.first, self.notes = askers, askers[0], notes
        # The point where the function was last called by itself, for there a check is made, and
        # its value, if it has been seen; and whether there has been a value anywhere.
        self._home: Point = {}
        self._value: Array | None = None
        self._ever = False
        self._strangers = askers[1:]  # of which nobody has seen whether they agree
        self._of_batches = OF_BATCHES
        sent = sum(self.first.description.inputs[name].size for name in self.first.in_files)
        self._of_files = 0 < sent <= MOST_TRIED  # whether it is still to be tried

    def at_home(self, point: Point) -> Array | None:
        """Return the value at the point of the check, which begins here."""
        if not self._is_home(point):  # the arrays are the caller's
            self._home, self._value = {name: np.array(v) for name, v in point.items()}, None
        spot, is_new = Spot("x", lambda: point), self._value is None
        value = self._alone(spot)
        if is_new and value is not None and not _not_a_number(value):
            self._value = value
            tried, self._of_files = not self._of_files, False
            if not tried and (said := self._differ(spot, value, self._alone(spot, text=True))):
                raise ProgramError(
                    f"it misreads files: it gives {said}, first where "
                    f"{', '.join(self.first.in_files)} came in a file, then where the same numbers "
                    f"came as text. {FILES_ARE}"
                )
        return value

    def _is_home(self, point: Point) -> bool:
        home = self._home
        return bool(home) and all(np.array_equal(v, home[n]) for n, v in point.items())

    def _insist(self, spot: Spot, none: NoValue) -> None:
        """Raise an error if a value is missing where a check is made; elsewhere it may be."""
        if (self._value is None and self._ever) or not self._is_home(spot.point()):
            return
        if self._value is not None:
            raise ProgramError(
                f"it gave a value at the point itself, but asked there again, it {none}"
            )
        hint = ". Check at another point" if none.kind in ("refused", "no number") else ""
        hint += f". {FILES_ARE}" if self.first.in_files else ""
        raise ProgramError(f"no value at the first point that it was asked for: it {none}{hint}")

    def values(self, spots: Sequence[Spot]) -> Values:
        """Return the values at some points, in their order; None where there is none."""
        if not spots:
            return []
        found: Values = [None] * len(spots)
        batches = self._batches(len(spots))
        jobs = iter(batches)  # of which each thread takes the next one

        def work(asker: Asker) -> None:
            for places in jobs:
                values = self._settled(asker, [spots[p] for p in places])
                for place, value in zip(places, values, strict=True):
                    found[place] = value

        hands = self.askers[: len(batches)]
        if len(hands) > 1:
            self._together(hands, work)
        else:
            work(hands[0])
        self._try_agreement(spots[0], len(batches) - 1)
        if self._of_batches and len(batches[0]) > 1:
            self._of_batches -= 1
            last = batches[0][-1]
            self._try_batch(spots[last], found[last], len(batches[0]))
        return found

    def _batches(self, count: int) -> list[range]:
        """Part the places of so many points."""
        most = min(self.first.most_at_once, -(-count // SHARES))
        return [range(start, min(start + most, count)) for start in range(0, count, most)]

    def _alone(self, spot: Spot, asker: Asker | None = None, text: bool = False) -> Array | None:
        """Return the value at one point, by default from the first; None if there is none."""
        (value,) = self._settled(asker or self.first, [spot], text)
        return value

    def _settled(self, asker: Asker, spots: Sequence[Spot], text: bool = False) -> Values:
        """Ask for a batch; where that fails, for its points one by one."""
        try:
            values = asker.values([spot.point() for spot in spots], text)
        except LostError as error:
            if len(spots) > 1:
                return [self._alone(spot, asker, text) for spot in spots]
            values = [error.none]
        settled: Values = []
        for spot, value in zip(spots, values, strict=True):
            none = value if isinstance(value, NoValue) else _not_a_number(value)
            if none is None:
                self._ever = True
            else:
                self._insist(spot, none)
            if isinstance(value, NoValue):
                self.notes.add_none(spot.where, value)
                if why := asker.program.losses.too_many:
                    raise ProgramError(why)
            settled.append(None if isinstance(value, NoValue) else value)
        return settled

    def _together(self, hands: list[Asker], work: Callable[[Asker], None]) -> None:
        """Let each work in a thread of its own; raise what one of them raises."""
        with ThreadPoolExecutor(len(hands)) as pool:
            try:  # a signal may come as soon as the first of them works
                # What is said in a thread is said to the same reader.
                waiting = {pool.submit(copy_context().run, work, asker) for asker in hands}
                while waiting:
                    done, waiting = wait(waiting, A_WHILE, FIRST_COMPLETED)
                    for one in done:
                        one.result()
            except BaseException:  # Ctrl-C, too: let nobody wait for a reply
                self.stop("it was stopped")
                raise

    def stop(self, why: str) -> None:
        """End all programs now, for good."""
        for asker in self.askers:
            asker.program.stop(why)

    # --- what is tried -----------------------------------------------------------------------

    def _try_agreement(self, spot: Spot, others: int) -> None:
        """See that programs agree which have just been asked for the first time."""
        asked, self._strangers = self._strangers[:others], self._strangers[others:]
        for asker in asked:
            if said := self._differ(spot, self._alone(spot), self._alone(spot, asker)):
                raise ProgramError(
                    f"two programs that were started give {said} at one point: is something drawn "
                    "at random when it starts? Seed it, or start one only"
                )

    def _try_batch(self, spot: Spot, value: Array | None, length: int) -> None:
        """See that the last value of a batch is the same where it is alone."""
        if said := self._differ(spot, value, self._alone(spot)):
            raise ProgramError(
                f"its value at one point depends on what else is in the batch: {said}, first as "
                f"the last of {length}, then alone, at {spot.where}. Does it normalise over the "
                'batch, or keep a cache? If it cannot be helped, let it say "batch": 1 in its hello'
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
        again = self._alone(spot)
        at = int(np.argmax(off))
        if again is None or again[at] not in (value[at], other[at]):
            return ""  # it is noise
        return f"{value[at]:.10g} and {other[at]:.10g}"


def _not_a_number(value: Array) -> NoValue | None:
    """Say of a value of which no number is finite that it is none, as if it were refused."""
    if not value.size or np.isfinite(value).any():
        return None
    return NoValue("no number", f"answers {value[0]}")
