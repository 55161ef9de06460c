"""Ask one program for values and derivatives of its function."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation.messages import counted
from gradcheck_ref.programs.arrays import ArrayError, Spec
from gradcheck_ref.programs.description import ONE_NUMBER, Description, ProgramError, fitting
from gradcheck_ref.programs.notes import NoValue
from gradcheck_ref.programs.program import LostError, Program

# A larger array goes in a file. As text, 10 000 entries are 0.2 MB and take 10 ms to write and
# read; a file of a million entries takes as long.
MOST_AS_TEXT = 10_000
# The most bytes that the points of one request have, unless one point alone has more.
REQUEST = 2**25

Point = Mapping[str, Array]


class Outputs(tuple[Any, ...]):
    """Several outputs with names, like a named tuple.

    The names come from the program and may be invalid in Python.
    """

    _fields: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[Any], names: Sequence[str]) -> "Outputs":
        """Return values under these names."""
        outputs = cls(values)
        outputs._fields = tuple(names)
        return outputs


class Asker:
    """Asks one program.

    A derivative in its reply is read and passed on as it is. The check decides whether it is one
    gradient for each input, of the right shape.

    Parameters
    ----------
    program : Program
        The program.
    description : Description
        The inputs and outputs of its function.
    free : sequence of str
        The inputs that are moved. The others stay at the values of the description.
    """

    def __init__(self, program: Program, description: Description, free: Sequence[str]) -> None:
        self.program, self.description = program, description
        self.free = {name: description.inputs[name] for name in free}
        self.bytes = sum(spec.bytes for spec in description.inputs.values())
        program.folder.room = 2 * max(self.bytes, REQUEST)  # a gradient may come back there, too

    @property
    def most_at_once(self) -> int:
        """The most points that one request may have."""
        return max(1, min(self.program.hello.batch, REQUEST // max(self.bytes, 1)))

    @property
    def in_files(self) -> list[str]:
        """The inputs that are sent in files."""
        large = [name for name, s in self.description.inputs.items() if s.size > MOST_AS_TEXT]
        return large if self.program.hello.files else []

    # --- requests ----------------------------------------------------------------------------

    @property
    def _folder(self) -> dict[str, str]:
        """Say where a reply may put files."""
        return {"folder": self.program.folder.path} if self.program.hello.files else {}

    def _written(
        self, specs: Mapping[str, Spec], arrays: Point, file: str, as_text: bool = False
    ) -> dict[str, Any]:
        """Write arrays by name, as text or to files; an array that is not moved is written once."""
        said = {}
        for number, (name, spec) in enumerate(specs.items()):
            if as_text or not self.program.hello.files or spec.size <= MOST_AS_TEXT:
                said[name] = spec.text(arrays[name])
                continue
            still = file.startswith("x") and name not in self.free
            place = f"x-{number}" if still else f"{file}-{number}"
            numbers = np.ascontiguousarray(arrays[name], spec.dtype.newbyteorder("<"))
            said[name] = self.program.folder.put(place, numbers, again=not still)
        return said

    def _point(self, point: Point, place: int = 0, as_text: bool = False) -> dict[str, Any]:
        """Write the point at this position in its batch."""
        return {"whole": self._written(self.description.inputs, point, f"x{place}", as_text)}

    # --- values ------------------------------------------------------------------------------

    def values(self, points: Sequence[Point], as_text: bool = False) -> list[Array | NoValue]:
        """Return the values of a batch as flat arrays, or reasons where there is none.

        LostError is raised if the program gives no answer at all.
        """
        self.program.start()
        sent = [self._point(point, place, as_text) for place, point in enumerate(points)]
        reals = len(points) * sum(spec.size for spec in self.description.outputs.values())
        reply = self.program.ask("value", reals, len(points), points=sent, **self._folder)
        values = reply["values"]
        if len(values) != len(points):
            raise ProgramError(
                f"it gives {counted(len(values), 'value')} for {counted(len(points), 'point')}"
            )
        return [self._flat(value) for value in values]

    def _flat(self, value: Any) -> Array | NoValue:
        if isinstance(value, dict) and value.get("refused") is not None:
            return NoValue("refused", value["refused"])
        outputs = self.description.outputs
        arrays = _named(value, outputs, "value")
        one = outputs == ONE_NUMBER
        try:
            if missing := [name for name in outputs if name not in arrays]:
                has = f"is an object with {', '.join(arrays)}" if one else f"has no {missing[0]}"
                raise ProgramError(f"its value {has}")
            flat = [fitting(s, arrays[n], f"its value of {n}").ravel() for n, s in outputs.items()]
        except ProgramError as error:
            hint = "; if it is more than one number, describe the outputs" if one else ""
            raise ProgramError(f"{error}{hint}") from None
        return np.concatenate(flat)

    def arranged(self, value: Array | None) -> Any:
        """Return a flat value in the form of the function's value; NaN if there is none."""
        arrays, rest = [], value
        for spec in self.description.outputs.values():
            array = np.full(spec.size, np.nan) if rest is None else rest[: spec.size]
            rest = None if rest is None else rest[spec.size :]
            array = array.astype(spec.dtype).reshape(spec.shape)[()]
            arrays.append(float(array) if array.dtype == float and not spec.shape else array)
        return Outputs.of(arrays, list(self.description.outputs)) if len(arrays) > 1 else arrays[0]

    # --- derivatives -------------------------------------------------------------------------

    def derivative(self, what: str, point: Point, along: Any = None) -> Any:
        """Return a gradient or vjp by the names of the inputs, or a jvp in the form of a value.

        A vjp takes an upstream, which has the form of a value; a jvp takes a tangent.
        """
        inputs, outputs = self.description.inputs, self.description.outputs
        keys: dict[str, Any] = {}
        if what == "vjp":
            sent = self._written(outputs, _by_name(along, outputs, "upstream", "output"), "u")
            keys["upstream"] = sent if len(sent) > 1 else next(iter(sent.values()))
        elif what == "jvp":
            still = {name: np.zeros(spec.shape, spec.dtype) for name, spec in inputs.items()}
            tangents = still | _by_name(along, self.free, "tangent", "input")
            keys["tangent"] = self._written(inputs, tangents, "t")
        wanted, known = (outputs, outputs) if what == "jvp" else (self.free, inputs)
        reals = sum(spec.size for spec in known.values())
        try:
            reply = self.program.ask(what, reals, point=self._point(point), **keys, **self._folder)
        except LostError as error:
            raise ProgramError(f"asked for {what}, it {error}") from None
        try:
            arrays = {
                name: known.get(name, Spec(name)).read(array)
                for name, array in _named(reply[what], wanted, what).items()
                if name in wanted or name not in known  # drop inputs that are not moved
            }
        except ArrayError as error:
            raise ProgramError(f"its {what} cannot be read: {error}") from None
        if what != "jvp":
            return arrays
        names = [*(n for n in outputs if n in arrays), *(n for n in arrays if n not in outputs)]
        values = [arrays[name][()] for name in names]
        return values[0] if names == list(outputs) and not names[1:] else Outputs.of(values, names)


def _named(given: Any, specs: Mapping[str, Spec], what: str) -> dict[str, Any]:
    """Return arrays by name; a single input or output may be an array without a name."""
    if isinstance(given, dict) and given.get("file") is None:
        return {name: array for name, array in given.items() if array is not None}
    if len(specs) != 1:
        raise ProgramError(
            f"its {what} is one array, but there are {len(specs)}: give an object with an array "
            f"for each of {', '.join(specs)}"
        )
    return {next(iter(specs)): given}


def _by_name(given: Any, specs: Mapping[str, Spec], what: str, of: str) -> dict[str, Array]:
    """Return the check's arrays for each input or output, by name."""
    several = given if isinstance(given, tuple | list) else (given,)
    if len(several) != len(specs):
        raise ValueError(f"{what} is for {counted(len(several), of)}, but there are {len(specs)}")
    arrays = {}
    for (name, spec), one in zip(specs.items(), several, strict=True):
        arrays[name] = np.asarray(one, spec.dtype)
        if arrays[name].shape != spec.shape:
            raise ValueError(f"{what} for {name} has shape {np.shape(one)}, not {spec.shape}")
    return arrays
