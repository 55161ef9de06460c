"""What a program says of itself: what it can be asked, and what its function takes and gives."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.messages import counted, shortened
from gradcheck_ref.programs.arrays import ArrayError, Spec
from gradcheck_ref.programs.point_file import Written

NUMBER = Spec("f")  # the output of a program that describes none
ONE_NUMBER = {NUMBER.name: NUMBER}
MOST_AXES, LARGEST = 64, 2**48  # axes that NumPy has; more entries than any memory


class ProgramError(Exception):
    """The program cannot be judged, and why."""


@dataclass(frozen=True)
class Hello:
    """What a program has said to hello.

    Attributes
    ----------
    name : str
        Its name and version.
    answers : frozenset of str
        What it can be asked.
    batch : int
        How many points it takes at a time.
    base64, entries, lines : bool
        Whether it reads base64, and points in one or the other short form.
    deterministic : bool
        Whether it promises the same value at the same point.
    """

    name: str
    answers: frozenset[str]
    batch: int
    base64: bool
    entries: bool
    lines: bool
    deterministic: bool

    @classmethod
    def read(cls, reply: Mapping[str, Any]) -> "Hello":
        """Read a reply that keeps the table."""
        points = reply.get("points") or []
        base64 = "base64" in (reply.get("encodings") or [])
        if "lines" in points and not base64:
            raise ProgramError(
                "its hello lists lines among its points, but not base64 among its encodings: a "
                "line is sent as bits in base64"
            )
        return cls(
            name=reply["name"],
            answers=frozenset(reply["answers"]),
            batch=int(reply.get("batch") or 1),
            base64=base64,
            entries="entries" in points or "lines" in points,
            lines="lines" in points,
            deterministic=bool(reply.get("deterministic")),
        )


@dataclass(frozen=True)
class Description:
    """What a function takes and gives.

    Attributes
    ----------
    inputs : dict of Spec
        By name, in order.
    outputs : dict of Spec
        By name, in order.
    point : dict of ndarray
        The values of the inputs where the check is made, as far as they are known.
    constants : frozenset of str
        The inputs that are not differentiated.
    """

    inputs: dict[str, Spec]
    outputs: dict[str, Spec] = field(default_factory=lambda: dict(ONE_NUMBER))
    point: dict[str, Array] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()

    @classmethod
    def read(cls, reply: Mapping[str, Any]) -> "Description":
        """Read a reply that keeps the table."""
        inputs = {one["name"]: _spec(one) for one in reply["inputs"]}
        outputs = {one["name"]: _spec(one) for one in reply.get("outputs") or []}
        for what, specs in (("inputs", inputs), ("outputs", outputs)):
            if len(specs) < len(reply.get(what) or []):
                raise ProgramError(f"it describes two {what} of one name: {', '.join(specs)}")
        point = {}
        for one in reply["inputs"]:
            if one.get("default") is not None:
                spec = inputs[one["name"]]
                point[spec.name] = fitting(spec, one["default"], f"the default of {spec.name}")
        constants = {one["name"] for one in reply["inputs"] if one.get("constant")}
        constants |= {name for name, spec in inputs.items() if spec.dtype.kind == "i"}
        return cls(inputs, outputs or dict(ONE_NUMBER), point, frozenset(constants))

    def at(self, point: Mapping[str, Any]) -> "Description":
        """Return the same function at another point, of which only a part may be given.

        Raises
        ------
        ValueError
            If it has unknown names, or arrays of other shapes.
        """
        if unknown := [str(name) for name in point if name not in self.inputs]:
            raise ValueError(
                f"the point has {', '.join(unknown)}, but the inputs are {', '.join(self.inputs)}"
            )
        values = {name: given(value, self.inputs[name]) for name, value in point.items()}
        return Description(self.inputs, self.outputs, self.point | values, self.constants)

    @property
    def size(self) -> int:
        """How many reals a value has."""
        return sum(spec.size for spec in self.outputs.values())


def _spec(one: Mapping[str, Any]) -> Spec:
    shape = tuple(int(size) for size in one["shape"])
    if len(shape) > MOST_AXES or math.prod(size or 1 for size in shape) > LARGEST:
        raise ProgramError(
            f"it describes {one['name']} of shape {shortened(str(shape), 60)}: no array is so large"
        )
    return Spec(one["name"], shape, np.dtype(one.get("dtype") or "float64"))


def fitting(spec: Spec, given: Any, what: str) -> Array:
    """Read an array that must have the shape that was described; ProgramError if it has not."""
    try:
        array = spec.read(given)
    except ArrayError as error:
        raise ProgramError(f"{what} cannot be read: {error}") from None
    if array.shape != spec.shape:
        raise ProgramError(f"{what} has {_counted(array)}, but should have {_wanted(spec)}")
    return array


def _counted(array: Array) -> str:
    if array.ndim > 1:
        return f"shape {array.shape}"
    return counted(array.size, "number")


def _wanted(spec: Spec) -> str:
    return f"{spec.size}, in shape {spec.shape}" if spec.shape else "1"


def given(value: Any, spec: Spec) -> Array:
    """Return what the user gives for an input; ValueError if its shape is another one."""
    array = value.read(spec) if isinstance(value, Written) else np.asarray(value)
    if np.iscomplexobj(array):
        raise ValueError(f"{spec.name} is complex, but a program takes reals")
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            as_given, array = array, array.astype(spec.dtype)
    except OverflowError:
        raise ValueError(f"{spec.name} holds what is too large for {spec.dtype}") from None
    except (ValueError, TypeError):
        raise ValueError(f"{spec.name} holds what is no number of {spec.dtype}") from None
    if spec.dtype.kind == "i" and not np.array_equal(as_given, array):
        raise ValueError(f"{spec.name} holds what is no integer, or is too large for {spec.dtype}")
    if spec.dtype.kind == "f" and (np.isinf(array) & ~np.isinf(as_given.astype(float))).any():
        raise ValueError(f"{spec.name} holds what is too large for {spec.dtype}")
    if array.shape != spec.shape:
        hint = ""
        if array.size == spec.size:
            hint = ": nest its numbers, row by row" if len(spec.shape) > array.ndim else ""
        raise ValueError(
            f"{spec.name} has shape {array.shape}, but is described as {spec.shape}{hint}"
        )
    return array


def of_point(point: Mapping[str, Any]) -> Description:
    """Describe a function that does not describe itself by the point that the user gives.

    Numbers are float64: that they were written as 1 and not as 1.0 does not make them constants.
    """
    shapes = {
        name: value.shape if isinstance(value, Written) else np.shape(value)
        for name, value in point.items()
    }
    inputs = {name: Spec(name, shape) for name, shape in shapes.items()}
    return Description(inputs).at(point)


def not_known(description: Description) -> list[str]:
    """List the inputs of which no value is known."""
    return [name for name in description.inputs if name not in description.point]


def not_finite(description: Description) -> list[str]:
    """List the inputs that are not finite at the point."""
    return [name for name, value in description.point.items() if not np.isfinite(value).all()]
