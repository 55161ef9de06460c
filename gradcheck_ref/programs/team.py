"""Several programs with one function share the work; the values are the same for any number.

Points are put into batches in a way that does not depend on how many programs there are, since what
is in a batch may touch the last digits.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass

from gradcheck_ref.arguments import Array
from gradcheck_ref.child import A_WHILE
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.home import Home
from gradcheck_ref.programs.notes import Notes, NoValue
from gradcheck_ref.programs.points import Messenger, Spot
from gradcheck_ref.programs.program import LostError
from gradcheck_ref.programs.trials import Trials

# Points that are asked for at once are put into so many batches, or more, so that there is
# something to do for this many programs.
SHARES = 8


class ApartError(Exception):
    """There is one answer for several points: they are to be asked for one by one."""


@dataclass(frozen=True)
class Batch:
    """Points that are asked for in one request, all on one line, or on none.

    Attributes
    ----------
    spots : list of Spot
        The points.
    whole : bool
        Whether they are sent whole, though the program may understand short forms.
    text : bool
        Whether they are sent whole and as text, though it may understand base64.
    """

    spots: list[Spot]
    whole: bool = False
    text: bool = False


Ask = Callable[[Messenger, Batch], list[Array | NoValue]]


class Team:
    """Some programs, and who asks them.

    Parameters
    ----------
    messengers : list of Messenger
        Who speaks to each program; the first is asked what is asked of one only.
    ask : callable
        Asks for the values of a batch: flat arrays, or why there is none.
    notes : Notes
        Where points without a value are noted.

    Attributes
    ----------
    home : Home
        The point where the check is made.
    """

    def __init__(self, messengers: list[Messenger], ask: Ask, notes: Notes) -> None:
        self.messengers, self.ask, self.notes = messengers, ask, notes
        self.home = Home(notes)
        self.trials = Trials(self.alone, messengers, self.home)

    def alone(
        self,
        spot: Spot,
        messenger: Messenger | None = None,
        *,
        whole: bool = False,
        text: bool = False,
    ) -> Array | None:
        """Return the value at one point, by default from the first; None if there is none."""
        (value,) = self._settled(messenger or self.messengers[0], Batch([spot], whole, text))
        return value

    def at_home(self, spot: Spot) -> Array | None:
        """Return the value at the point of the check."""
        program = self.messengers[0].program
        silences = program.losses.silences
        try:
            value = self.alone(spot)
        except ProgramError:
            if program.losses.silences == silences:  # else it would be waited for as long once more
                self.trials.of_base64(spot, None)
            raise
        self.trials.of_base64(spot, value)
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
        self.trials.after(spots, batches, found)
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
            if isinstance(error, ApartError) or len(batch.spots) > 1:
                alone = [Batch([spot], batch.whole, batch.text) for spot in batch.spots]
                return [value for one in alone for value in self._settled(messenger, one)]
            values = [error.none]
        settled: list[Array | None] = []
        for spot, value in zip(batch.spots, values, strict=True):
            form = "" if batch.whole or batch.text else messenger.form(spot)
            self.home.hold(spot, value, f", as {form}," if form else "")
            if isinstance(value, NoValue):
                self.notes.add_none(spot.where(), value)
                if why := messenger.program.losses.too_many:
                    raise ProgramError(why)
                settled.append(None)
            else:
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

        threads = [  # what is said in a thread is said to the same reader
            threading.Thread(target=copy_context().run, args=(safely, one), daemon=True)
            for one in hands
        ]
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
