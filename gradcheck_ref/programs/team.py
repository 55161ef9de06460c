"""Several programs with one function share the work; the values are the same for any number.

The batches do not depend on the number of programs, since the other points in a batch may change
the last digits of a value. A few values are tested for what programs promise about them.
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

# The fewest batches that points are divided into, so that this many programs have work.
SHARES = 8
# How many points of batches are asked for again, alone: first the point that the check itself
# repeats, then others.
OF_BATCHES = 3
# Batches may be summed in another order: so many roundings of a number near 1 are allowed, and
# sqrt(eps) of the value itself.
ROUNDINGS = 1e3
# Up to this size (2 MB), the point of the check is also sent as text, to test whether the program
# reads its files correctly.
MOST_TRIED = 100_000
FILES_ARE = (
    "A file has the entries row by row as little-endian numbers, in the dtype of the input, which "
    "is float64 unless described otherwise"
)


Values = list[Array | None]  # flat, or None for a point without a value


@dataclass(frozen=True)
class Spot:
    """A point at which a program is asked for a value."""

    where: str  # in words
    point: Callable[[], Point]  # makes the point when it is sent: all inputs, by name


class Team:
    """Some programs that share the work.

    Parameters
    ----------
    askers : list of Asker
        One for each program; the first gets the requests that only one program needs to answer.
    notes : Notes
        Collects the points without a value.
    """

    def __init__(self, askers: list[Asker], notes: Notes) -> None:
        self.askers, self.first, self.notes = askers, askers[0], notes
        # The last point that was asked for alone, which is the point of the check, and its value if
        # it is known; and whether there has been a value anywhere.
        self._home: Point = {}
        self._value: Array | None = None
        self._ever = False
        self._strangers = askers[1:]  # not yet compared with the first
        self._of_batches = OF_BATCHES
        sent = sum(self.first.description.inputs[name].size for name in self.first.in_files)
        self._of_files = 0 < sent <= MOST_TRIED  # whether files have yet to be tested

    def at_home(self, point: Point) -> Array | None:
        """Return the value at the point of the check, which begins here."""
        if not self._is_home(point):  # a copy, since the arrays belong to the caller
            self._home, self._value = {name: np.array(v) for name, v in point.items()}, None
        spot, is_new = Spot("x", lambda: point), self._value is None
        value = self._alone(spot)
        if is_new and value is not None and not _not_a_number(value):
            self._value = value
            tried, self._of_files = not self._of_files, False
            if not tried and (said := self._differ(spot, value, self._alone(spot, text=True))):
                raise ProgramError(
                    f"it misreads files: it gives {said}, first with "
                    f"{', '.join(self.first.in_files)} in a file, then with the same numbers "
                    f"as text. {FILES_ARE}"
                )
        return value

    def _is_home(self, point: Point) -> bool:
        home = self._home
        return bool(home) and all(np.array_equal(v, home[n]) for n, v in point.items())

    def _insist(self, spot: Spot, none: NoValue) -> None:
        """Raise an error if a value is missing at the point of the check; elsewhere it may be."""
        if (self._value is None and self._ever) or not self._is_home(spot.point()):
            return
        if self._value is not None:
            raise ProgramError(
                f"it gave a value at the point itself, but asked there again, it {none}"
            )
        hint = ". Check at another point" if none.kind in ("refused", "no number") else ""
        hint += f". {FILES_ARE}" if self.first.in_files else ""
        raise ProgramError(f"no value at the first point: it {none}{hint}")

    def values(self, spots: Sequence[Spot]) -> Values:
        """Return the values at some points, in their order; None for a point without a value."""
        if not spots:
            return []
        found: Values = [None] * len(spots)
        batches = self._batches(len(spots))
        jobs = iter(batches)  # each thread takes the next one

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
        """Divide so many points into batches, by their positions."""
        most = min(self.first.most_at_once, -(-count // SHARES))
        return [range(start, min(start + most, count)) for start in range(0, count, most)]

    def _alone(self, spot: Spot, asker: Asker | None = None, text: bool = False) -> Array | None:
        """Return the value at one point, by default from the first program; None if it fails."""
        (value,) = self._settled(asker or self.first, [spot], text)
        return value

    def _settled(self, asker: Asker, spots: Sequence[Spot], text: bool = False) -> Values:
        """Ask for a batch; if that fails, for its points one by one."""
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
        """Let each work in its own thread; raise an error that one of them raises."""
        with ThreadPoolExecutor(len(hands)) as pool:
            try:  # a signal may come as soon as the first of them works
                # What is said in a thread is said to the same reader.
                waiting = {pool.submit(copy_context().run, work, asker) for asker in hands}
                while waiting:
                    done, waiting = wait(waiting, A_WHILE, FIRST_COMPLETED)
                    for one in done:
                        one.result()
            except BaseException:  # Ctrl-C, too: no thread may go on waiting for a reply
                self.stop("it was stopped")
                raise

    def stop(self, why: str) -> None:
        """End all programs now, for good."""
        for asker in self.askers:
            asker.program.stop(why)

    # --- tests of the program's promises -----------------------------------------------------

    def _try_agreement(self, spot: Spot, others: int) -> None:
        """Check that programs agree if they have just answered for the first time."""
        asked, self._strangers = self._strangers[:others], self._strangers[others:]
        for asker in asked:
            if said := self._differ(spot, self._alone(spot), self._alone(spot, asker)):
                raise ProgramError(
                    f"two processes of the program give {said} at one point: does it draw random "
                    "numbers when it starts? Seed it, or start only one"
                )

    def _try_batch(self, spot: Spot, value: Array | None, length: int) -> None:
        """Check that the last value of a batch is the same when asked for alone."""
        if said := self._differ(spot, value, self._alone(spot)):
            raise ProgramError(
                f"its value at one point depends on the rest of the batch: {said}, first as the "
                f"last of {length}, then alone, at {spot.where}. Does it normalize over the "
                'batch, or keep a cache? If it must, send "batch": 1 in its hello'
            )

    def _differ(self, spot: Spot, value: Array | None, other: Array | None) -> str:
        """Describe how two values differ, if they do by more than rounding and noise."""
        if value is None or other is None:
            return ""
        eps = float(np.finfo(value.dtype).eps)
        close = np.isclose(value, other, np.sqrt(eps), ROUNDINGS * eps, equal_nan=True)
        if close.all():
            return ""
        again = self._alone(spot)
        at = int(np.argmin(close))
        if again is None or again[at] not in (value[at], other[at]):
            return ""  # it is noise
        return f"{value[at]:.10g} and {other[at]:.10g}"


def _not_a_number(value: Array) -> NoValue | None:
    """Treat a value without a finite number like a refused one."""
    if not value.size or np.isfinite(value).any():
        return None
    return NoValue("no number", f"answers {value[0]}")
