"""A point in a file of the user, in numbers or as the protocol writes it.

What a program describes as a default, or is sent as a point, can be copied there as it is.
"""

from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.messages import LineError, Value, either, nested, read_line, real, shortened
from gradcheck_ref.programs.arrays import Spec, unnested
from gradcheck_ref.programs.table import ENCODED, NAME

REAL = real("a_real")


def _no_number(given: Any, where: str) -> str:
    if isinstance(given, int | float) and not isinstance(given, bool):
        return ""
    if isinstance(given, str):
        return REAL.wrong(given, where)
    return f"{where} is {shortened(given, 40)}, and not a number"


NUMBER = Value("a number", {}, _no_number)
ARRAY = either(nested(NUMBER, "numbers", "numbers"), ENCODED, said="an array")


@dataclass(frozen=True)
class Written:
    """An array as it stands in a file, which is read once it is known what it should be.

    Attributes
    ----------
    name : str
        Of which input.
    given : any
        Numbers or reals in quotes, row by row, nested or not; or an object with base64.
    """

    name: str
    given: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """How it is nested; ValueError if it is not."""
        if isinstance(self.given, dict):
            raise ValueError(
                f"{self.name} is base64, and the program does not describe of which shape it is: "
                "write its numbers"
            )
        return unnested(self.given, self.name)[0]

    def read(self, spec: Spec) -> Array:
        """Read it as an array for this input; its shape may be another one.

        Raises
        ------
        ValueError
            If a list is ragged, or base64 does not hold as many numbers.
        """
        if isinstance(self.given, dict):
            return spec.read(self.given)
        shape, entries = unnested(self.given, self.name)
        try:
            array = np.array([_number(entry) for entry in entries])
            array = array if array.dtype.kind == "i" else array.astype(float)
        except OverflowError:
            raise ValueError(f"{self.name} holds what is too large for a float64") from None
        return spec.arranged(array, shape)


def read_point(content: bytes) -> dict[str, Written]:
    """Read a point from a file: a JSON object of arrays by the names of inputs.

    It is UTF-8, with or without the mark that editors of Windows put first. As in a request, it may
    be the ``whole`` of an object.

    Raises
    ------
    ValueError
        If it is none.
    """
    try:
        given = read_line(content.removeprefix(BOM_UTF8))
    except LineError as error:
        raise ValueError(f'{error}; it should be like {{"w": [0.5, 1], "b": 2}}') from None
    whole = given.get("whole")
    if len(given) == 1 and isinstance(whole, dict) and ENCODED.wrong(whole, ""):
        given = whole
    if not given:
        raise ValueError('it is empty, and not like {"w": [0.5, 1], "b": 2}')
    for name, value in given.items():
        if why := NAME.wrong(name, "an input") or ARRAY.wrong(value, name):
            raise ValueError(why)
        if not isinstance(value, dict):
            unnested(value, name)  # ragged or not is known before the program is started
    return {name: Written(name, value) for name, value in given.items()}


def _number(entry: int | float | str) -> int | float:
    """Return what an entry says: 3 and "3" are integers."""
    if not isinstance(entry, str):
        return entry
    try:
        return int(entry)
    except ValueError:
        return float("nan") if "(" in entry else float(entry)
