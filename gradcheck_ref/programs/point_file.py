"""A point in a user's file, in numbers or in the protocol's text."""

from codecs import BOM_UTF8
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation.messages import LineError, Value, nested, read_line, real, shortened
from gradcheck_ref.programs import arrays
from gradcheck_ref.programs.table import NAME

REAL = real("a_real")


def _no_number(given: Any, where: str) -> str:
    if isinstance(given, str):
        return REAL.wrong(given, where)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return "" if is_number else f"{where} is {shortened(given, 40)}, not a number"


ARRAY = nested(Value("a number", {}, _no_number), "numbers", "numbers")


def read_point(content: bytes) -> dict[str, Array]:
    """Read a point from a file: a JSON object of arrays by the names of inputs.

    It is UTF-8, with or without the byte order mark that Windows editors write.

    Raises
    ------
    ValueError
        If the file does not hold a point.
    """
    try:
        given = read_line(content.removeprefix(BOM_UTF8))
    except LineError as error:
        raise ValueError(f'{error}; it should be like {{"w": [0.5, 1], "b": 2}}') from None
    if not given:
        raise ValueError('it is empty; it should be like {"w": [0.5, 1], "b": 2}')
    point = {}
    for name, value in given.items():
        if why := NAME.wrong(name, "an input") or ARRAY.wrong(value, name):
            raise ValueError(why)
        shape, entries = arrays.unnested(value, name)
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
        return arrays.real(entry)
