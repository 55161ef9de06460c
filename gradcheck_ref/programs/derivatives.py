"""The derivatives that a program claims to know: asked for at a point, and read."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.programs.arrays import ArrayError, Spec
from gradcheck_ref.programs.description import Description, ProgramError
from gradcheck_ref.programs.notes import why_none
from gradcheck_ref.programs.points import Messenger, Point, Spot
from gradcheck_ref.programs.program import LostError
from gradcheck_ref.programs.values import Values, named


class Derivatives:
    """Asks one program for derivatives.

    What it answers is read, and handed over whatever it is: whether it is one gradient for each
    input, of the right shape, is for the check to say.

    Parameters
    ----------
    messenger : Messenger
        Who speaks to the program.
    description : Description
        What the function takes and gives.
    free : sequence of str
        The inputs that are differentiated.
    """

    def __init__(self, messenger: Messenger, description: Description, free: Sequence[str]) -> None:
        self.messenger, self.description = messenger, description
        self.free = {name: description.inputs[name] for name in free}

    def gradient(self, point: Point) -> dict[str, Array]:
        """Return the gradient of a value that is one number, by the names of the inputs."""
        return self._slopes(self._asked("gradient", point, {}), "gradient")

    def vjp(self, upstream: Any, point: Point) -> dict[str, Array]:
        """Return the gradient of the sum of upstream times the value, by the names of inputs."""
        outputs = self.description.outputs
        given = upstream if isinstance(upstream, tuple | list) else (upstream,)
        if len(given) != len(outputs):
            raise ValueError(f"upstream is for {len(given)} outputs, but there are {len(outputs)}")
        base64 = self.messenger.program.hello.base64
        said = {
            name: spec.write(_of_shape(one, spec, "upstream"), base64)
            for (name, spec), one in zip(outputs.items(), given, strict=True)
        }
        sent = said if len(outputs) > 1 else next(iter(said.values()))
        return self._slopes(self._asked("vjp", point, {"upstream": sent}), "vjp")

    def jvp(self, tangent: Any, point: Point, values: Values) -> Any:
        """Return the derivative along a tangent, arranged as a value is if it is right."""
        several = tangent if isinstance(tangent, tuple | list) else (tangent,)
        if len(several) != len(self.free):
            raise ValueError(
                f"tangent is for {len(several)} inputs, but there are {len(self.free)}"
            )
        given = dict(zip(self.free, several, strict=True))
        tangents = {
            name: _of_shape(given[name], spec, "tangent")
            if name in given
            else np.zeros(spec.shape, spec.dtype)
            for name, spec in self.description.inputs.items()
        }
        reply = self._asked("jvp", point, {"tangent": self.messenger.arrays(tangents)})
        return values.as_given(reply["jvp"], "jvp")

    def _asked(self, what: str, point: Point, keys: Mapping[str, Any]) -> dict[str, Any]:
        reals = sum(spec.size for spec in self.description.inputs.values())
        reals = self.description.size if what == "jvp" else reals
        try:
            told = self.messenger.point(Spot(point))
            reply = self.messenger.program.ask(what, reals, point=told, **keys)
        except LostError as error:
            raise ProgramError(f"asked for {what}, it {error}") from None
        if why := why_none(reply):
            raise ProgramError(f"asked for {what}, it {why}")
        return reply

    def _slopes(self, reply: dict[str, Any], what: str) -> dict[str, Array]:
        gradients = {}
        for name, value in named(reply[what], self.free, what).items():
            if name in self.description.inputs and name not in self.free:
                continue  # that of an input that is held where it is
            spec = self.description.inputs.get(name, Spec(name))
            try:
                gradients[name] = spec.read(value)
            except ArrayError as error:
                raise ProgramError(f"its {what} cannot be read: {error}") from None
        return gradients


def _of_shape(given: Any, spec: Spec, what: str) -> Array:
    array = np.asarray(given, spec.dtype)
    if array.shape != spec.shape:
        raise ValueError(f"{what} for {spec.name} has shape {array.shape} instead of {spec.shape}")
    return array
