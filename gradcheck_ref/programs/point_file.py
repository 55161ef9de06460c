"""A point in a user's file, in numbers or in the protocol's text."""

from codecs import BOM_UTF8
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation import messages
from gradcheck_ref.programs.arrays import unnested
from gradcheck_ref.programs.table import NAME

REAL = messages.real("a_real")
NUMBER = messages.plain("a number", {}, messages.is_number)


def _no_number(given: Any, where: str) -> str:
    return (REAL if isinstance(given, str) else NUMBER).wrong(given, where)


ARRAY = messages.nested(messages.Value("a number", {}, _no_number), "numbers", "numbers")


def read_point(content: bytes) -> dict[str, Array]:
    """Read a point from a file: a JSON object of arrays by the names of inputs.

    It is UTF-8, with or without the byte order mark that Windows editors write.

    Raises
    ------
    ValueError
        If the file does not hold a point.
    """
    try:
        given = messages.read_line(content.removeprefix(BOM_UTF8))
    except messages.LineError as error:
        raise ValueError(f'{error}; it should be like {{"w": [0.5, 1], "b": 2}}') from None
    if not given:
        raise ValueError('it is empty; it should be like {"w": [0.5, 1], "b": 2}')
    point = {}
    for name, value in given.items():
        if why := NAME.wrong(name, "an input") or ARRAY.wrong(value, name):
            raise ValueError(why)
        shape, entries = unnested(value, name)
        try:
            array = np.array([_number(entry) for entry in entries])
            array = array if array.dtype.kind == "i" else array.astype(float)
        except OverflowError:
            raise ValueError(f"{name} holds a number too large for a float64") from None
        point[name] = array.reshape(shape)
    return point


def _number(entry: int | float | str) -> int | float:
    """Return the number that an entry stands for: 3 and "3" are integers."""
    if not isinstance(entry, str):
        return entry
    try:
        return int(entry)
    except ValueError:
        return messages.as_float(entry)
