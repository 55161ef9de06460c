"""The value of a function at a point: asked for, read, and arranged as a function returns it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.messages import counted
from gradcheck_ref.programs.arrays import ArrayError, Spec
from gradcheck_ref.programs.description import ONE_NUMBER, Description, ProgramError, fitting
from gradcheck_ref.programs.notes import NoValue, why_none
from gradcheck_ref.programs.points import Messenger
from gradcheck_ref.programs.team import ApartError, Batch


class Outputs(tuple[Any, ...]):
    """Several outputs, which have names as those of a named tuple have.

    The names are those of the program, and may be none in Python.
    """

    _fields: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[Any], names: Sequence[str]) -> "Outputs":
        """Return values by these names."""
        outputs = cls(values)
        outputs._fields = tuple(names)
        return outputs


class Values:
    """The values of a function that is described so."""

    def __init__(self, description: Description) -> None:
        self.description = description

    def ask(self, messenger: Messenger, batch: Batch) -> list[Array | NoValue]:
        """Ask one program for the values of a batch: flat arrays, or why there is none."""
        points = [messenger.point(spot, whole=batch.whole, text=batch.text) for spot in batch.spots]
        reals = len(points) * self.description.size
        reply = messenger.program.ask("value", reals, len(points), points=points)
        if why := why_none(reply):
            if len(points) > 1:
                raise ApartError
            return [why]
        values = reply["values"]
        if len(values) != len(points):
            raise ProgramError(
                f"it gives {counted(len(values), 'value')} for {counted(len(points), 'point')}"
            )
        return [self.flat(value) for value in values]

    def flat(self, value: Any) -> Array | NoValue:
        """Read a value as one flat array; or as why there is none, if it is refused."""
        if isinstance(value, dict) and value.get("refused") is not None:
            return NoValue("refused", value["refused"])
        outputs = self.description.outputs
        arrays = named(value, outputs, "value")
        hint = ""
        if outputs == ONE_NUMBER:
            hint = "; where it is more than one number, describe the outputs"
        if missing := [name for name in outputs if name not in arrays]:
            given = f"is an object with {', '.join(arrays) or 'nothing'}" if hint else "has no"
            raise ProgramError(f"its value {given}{hint or ' ' + ', '.join(missing)}")
        try:
            flat = [
                fitting(spec, arrays[name], f"its value of {name}").reshape(-1)
                for name, spec in outputs.items()
            ]
        except ProgramError as error:
            raise ProgramError(f"{error}{hint}") from None
        return np.concatenate(flat)

    def as_given(self, derivative: Any, what: str) -> Any:
        """Read what is arranged as a value should be, and return what there is, of any shape.

        As with a gradient, it is for the check to say whether that is right.
        """
        outputs = self.description.outputs
        arrays = named(derivative, outputs, what)
        names = [*(n for n in outputs if n in arrays), *(n for n in arrays if n not in outputs)]
        try:
            read = [outputs.get(name, Spec(name)).read(arrays[name])[()] for name in names]
        except ArrayError as error:
            raise ProgramError(f"its {what} cannot be read: {error}") from None
        return read[0] if len(outputs) == 1 and names == list(outputs) else Outputs.of(read, names)

    def arranged(self, value: Array | None) -> Any:
        """Return a flat value as the function returns it; NaN where there is none."""
        arrays, start = [], 0
        for spec in self.description.outputs.values():
            stop = start + spec.size
            array = np.full(spec.size, np.nan) if value is None else value[start:stop]
            array = array.astype(spec.dtype).reshape(spec.shape)
            double = not spec.shape and spec.dtype == np.float64
            arrays.append(float(array) if double else array[()] if not spec.shape else array)
            start = stop
        return Outputs.of(arrays, list(self.description.outputs)) if len(arrays) > 1 else arrays[0]


def named(given: Any, specs: Mapping[str, Spec], what: str) -> dict[str, Any]:
    """Return arrays by name; of one input or output the array may stand alone."""
    if isinstance(given, dict) and given.get("base64") is None:
        return {name: array for name, array in given.items() if array is not None}
    if len(specs) != 1:
        raise ProgramError(
            f"its {what} is one array, but there are {len(specs)}: give an object with an array "
            f"for each of {', '.join(specs)}"
        )
    return {next(iter(specs)): given}
