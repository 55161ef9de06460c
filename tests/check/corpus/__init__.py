"""What is promised of the check, as rows: functions, right and wrong claims, and verdicts.

Rows stand in six files, by what makes a function hard. The zoo, the museum and the public
complaints are rows, too, by `adapted`. `ratchet` stores what the check says of each claim.
"""

import functools

from . import (
    adapted,
    kinks_and_ties,
    many_entries,
    noise_and_few_digits,
    smooth,
    stairs_and_edges,
    units_and_sizes,
)
from .row import Row

OWN = (
    smooth,
    kinks_and_ties,
    stairs_and_edges,
    noise_and_few_digits,
    units_and_sizes,
    many_entries,
)


@functools.cache
def own_rows() -> dict[str, Row]:
    """Return the rows of the six files, by name."""
    rows = [row for file in OWN for row in file.ROWS]
    assert len({row.name for row in rows}) == len(rows), "two rows have the same name"
    return {row.name: row for row in rows}


def names() -> list[str]:
    """Return the names of all rows."""
    return [*own_rows(), *adapted.names()]


def row_named(name: str) -> Row:
    """Return a row; those of the zoo are built anew, for some of their claims keep a state."""
    return own_rows()[name] if name in own_rows() else adapted.row_named(name)
