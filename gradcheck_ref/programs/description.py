"""A program's description of itself: its answers, and the inputs and outputs of its function."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.conversation.messages import shortened
from gradcheck_ref.programs.arrays import ArrayError, Spec

DERIVATIVES = ("gradient", "vjp", "jvp")
NUMBER = Spec("f")  # the output of a program that describes no outputs
ONE_NUMBER = {NUMBER.name: NUMBER}
MOST_AXES, LARGEST = 64, 2**48  # NumPy's limit of axes; more entries than any memory
OLD_FORMS = ("base64", "entries", "lines")  # of points, which go in files now
FILES_INSTEAD = 'Large arrays now go in files, to programs whose hello has "files": true'


class ProgramError(Exception):
    """The program cannot be judged; the message says why."""


@dataclass(frozen=True)
class Hello:
    """A program's reply to hello."""

    name: str  # its name and version
    answers: frozenset[str]  # the requests that it answers
    batch: int  # how many points it takes at a time
    files: bool  # whether it reads large arrays from files
    old_forms: str  # a sentence, if it lists forms of points that are no longer sent

    @classmethod
    def read(cls, reply: Mapping[str, Any]) -> "Hello":
        """Read a valid reply."""
        listed = json.dumps([reply.get("encodings"), reply.get("points")])
        old = " and ".join(form for form in OLD_FORMS if f'"{form}"' in listed)
        return cls(
            name=reply["name"],
            answers=frozenset(reply["answers"]),
            batch=int(reply.get("batch") or 1),
            files=bool(reply.get("files")),
            old_forms=old and f"its hello lists {old}, no longer in use. {FILES_INSTEAD}",
        )


@dataclass(frozen=True)
class Description:
    """The inputs and outputs of a function."""

    inputs: dict[str, Spec]  # by name, in order
    outputs: dict[str, Spec] = field(default_factory=lambda: dict(ONE_NUMBER))  # by name, in order
    # the values of the inputs at the point of the check, if they are known
    point: dict[str, Array] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()  # the inputs that are not differentiated

    @classmethod
    def read(cls, reply: Mapping[str, Any]) -> "Description":
        """Read a valid reply."""
        inputs = {one["name"]: _spec(one) for one in reply["inputs"]}
        outputs = {one["name"]: _spec(one) for one in reply.get("outputs") or []}
        for what, specs in (("inputs", inputs), ("outputs", outputs)):
            if len(specs) < len(reply.get(what) or []):
                raise ProgramError(f"it describes two {what} of the same name: {', '.join(specs)}")
        point = {
            name: fitting(inputs[name], one["default"], f"the default of {name}")
            for one in reply["inputs"]
            if one.get("default") is not None and (name := one["name"])
        }
        constants = {one["name"] for one in reply["inputs"] if one.get("constant")}
        constants |= {name for name, spec in inputs.items() if spec.dtype.kind == "i"}
        return cls(inputs, outputs or dict(ONE_NUMBER), point, frozenset(constants))

    @classmethod
    def of_point(cls, point: Mapping[str, Any]) -> "Description":
        """Describe a function that does not describe itself, from the point that the user gives.

        Numbers are float64: a 1 that should be 1.0 does not become a constant.
        """
        return cls({name: Spec(name, np.shape(value)) for name, value in point.items()}).at(point)

    def at(self, point: Mapping[str, Any]) -> "Description":
        """Return the same function at another point; inputs left out keep their values.

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
        return replace(self, point=self.point | values)

    def moved(self, chosen: Sequence[str] | None) -> dict[str, Array]:
        """Return the inputs that are moved: the chosen ones, or all that can be.

        Raises
        ------
        ValueError
            If there are none, or if the point is not known, or not finite.
        """
        if missing := [name for name in self.inputs if name not in self.point]:
            raise ValueError(f"there is no default for {', '.join(missing)}: give a point")
        if wrong := [name for name, value in self.point.items() if not np.isfinite(value).all()]:
            raise ValueError(f"{', '.join(wrong)} must be finite at the point")
        free = [name for name in self.inputs if name not in self.constants]
        if not free:
            raise ValueError("all inputs are constants: there is nothing to differentiate")
        for name in chosen or ():
            if name not in self.inputs:
                raise ValueError(f"no input is called {name}: there are {', '.join(self.inputs)}")
            if name not in free:
                raise ValueError(f"{name} is a constant, and has no gradient")
        if chosen is not None and not chosen:
            raise ValueError(f"inputs names no input to check; there are {', '.join(free)}")
        return {name: self.point[name] for name in free if chosen is None or name in chosen}


def _spec(one: Mapping[str, Any]) -> Spec:
    shape = tuple(int(size) for size in one["shape"])
    if len(shape) > MOST_AXES or math.prod(size or 1 for size in shape) > LARGEST:
        raise ProgramError(
            f"it describes {one['name']} of shape {shortened(str(shape), 60)}, which is too large"
        )
    return Spec(one["name"], shape, np.dtype(one.get("dtype") or "float64"))


def fitting(spec: Spec, given: Any, what: str) -> Array:
    """Read an array; raise ProgramError if it does not have the described shape."""
    try:
        array = spec.read(given)
    except ArrayError as error:
        raise ProgramError(f"{what} cannot be read: {error}") from None
    if array.shape != spec.shape:
        raise ProgramError(f"{what} has shape {array.shape}, but should have {spec.shape}")
    return array


def given(value: Any, spec: Spec) -> Array:
    """Return the user's array for an input; raise ValueError if it has another shape.

    A flat list of numbers, row by row, fits any shape of the same size.
    """
    as_given = np.asarray(value)
    if np.iscomplexobj(as_given):
        raise ValueError(f"{spec.name} is complex, but a program takes reals")
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            array = as_given.astype(spec.dtype)
            beyond = np.isinf(array) & np.isfinite(as_given.astype(float))
        lost = bool(np.any(array != as_given if spec.dtype.kind == "i" else beyond))
    except (OverflowError, ValueError, TypeError):
        lost = True
    if lost:
        raise ValueError(f"{spec.name} holds a value that does not fit in {spec.dtype}")
    if array.ndim == 1 and array.size == spec.size:
        array = array.reshape(spec.shape)
    if array.shape != spec.shape:
        raise ValueError(f"{spec.name} has shape {array.shape}, but is described as {spec.shape}")
    return array
