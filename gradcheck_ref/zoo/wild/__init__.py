"""Wrong derivatives that were released: a museum.

Each was shipped by a library and reported or corrected in its tracker. Here it is reduced to NumPy:
the function, the right derivative, the wrong one as it was, a point that shows the difference, and,
where there is one, a point that hides it. `Wild.case` gives a bug the form of the rest of the zoo,
so that the same code judges both. The facts come from the trackers, but the code does not.
A module holds the entries of a kind; `WILD` holds all of them.
"""

from collections.abc import Iterator

from ..case import Case
from .branches import BRANCHES
from .chain_rule import THE_CHAIN_RULE
from .distributions import DISTRIBUTIONS_AND_COMPLEX_NUMBERS
from .entry import Wild
from .places import PLACES
from .signs_and_factors import SIGNS_AND_FACTORS
from .special_points import SPECIAL_POINTS

WILD: tuple[Wild, ...] = (
    *SIGNS_AND_FACTORS,
    *THE_CHAIN_RULE,
    *SPECIAL_POINTS,
    *BRANCHES,
    *PLACES,
    *DISTRIBUTIONS_AND_COMPLEX_NUMBERS,
)


def wild_cases() -> Iterator[Case]:
    """Yield each museum piece at the point that shows it, in the shape of the zoo.

    Examples
    --------
    >>> case = next(wild_cases())
    >>> print(case.name, "-", case.bugs[0].why)
    casadi/cosh - The derivative of cos has a minus, and that of cosh has none; at 0 both are 0.
    """
    for wild in WILD:
        yield wild.case(wild.shows)
