"""The point where a function was called by itself, which is where a check is made.

There a function has a value, and the same one whenever it is asked. Elsewhere it need not have one.
"""

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.programs.description import ProgramError
from gradcheck_ref.programs.notes import Notes, NoValue
from gradcheck_ref.programs.points import Point, Spot


class Home:
    """The point where a function was last called, and its value there.

    Parameters
    ----------
    notes : Notes
        Where it is told that a value has changed.
    """

    def __init__(self, notes: Notes) -> None:
        self.value: Array | None = None
        self._point: Point | None = None
        self._notes = notes
        self._ever = self._unsteady = False

    def move(self, point: Point) -> None:
        """Begin at a point, which may be the same as before; the arrays are the caller's."""
        if not self.is_here(point):
            self._point, self.value = {name: np.array(v) for name, v in point.items()}, None

    def is_here(self, point: Point) -> bool:
        """Tell whether a point is this one."""
        here = self._point
        return here is not None and all(np.array_equal(v, here[n]) for n, v in point.items())

    def see(self, value: Array, deterministic: bool) -> None:
        """Take in a value at this point, and hold a program to what it has promised."""
        if not_a_number(value):
            return
        if self.value is None:
            self.value = value
            return
        differ = ~((value == self.value) | (np.isnan(value) & np.isnan(self.value)))
        if deterministic and differ.any() and not self._unsteady:
            self._unsteady = True
            at = int(np.argmax(differ))
            self._notes.add(
                "it promises to be deterministic, but its value at one point was "
                f"{self.value[at]:.17g}, and then {value[at]:.17g}"
            )

    def hold(self, spot: Spot, value: Array | NoValue, how: str = "") -> None:
        """Insist on a value at this point, however it was asked for; nothing is said of others.

        Raises
        ------
        ProgramError
            If there was one, and is none now; or if there is none at the first point of all.
        """
        none = value if isinstance(value, NoValue) else not_a_number(value)
        if none is None:
            self._ever = True
        elif self._point is not None and (self.value is not None or not self._ever):
            if not self.is_here(spot.whole()):
                return
            if self.value is None:
                hint = ". Check at another point" if none.kind in ("refused", "no number") else ""
                raise ProgramError(
                    f"no value at the first point that it was asked for: it {none}{hint}"
                )
            raise ProgramError(
                f"it gave a value at the point itself, but asked there again{how or ','} it {none}"
            )


def not_a_number(value: Array) -> NoValue | None:
    """Say of a value of which no number is finite that it is none, as if it were refused."""
    if not value.size or np.isfinite(value).any():
        return None
    return NoValue("no number", str(value[0]))
