"""What is known of a program once it has been met: what it answers and takes, what is moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradcheck_ref.arguments import Array
from gradcheck_ref.programs.description import (
    Description,
    ProgramError,
    not_finite,
    not_known,
    of_point,
)
from gradcheck_ref.programs.notes import why_none
from gradcheck_ref.programs.program import LostError, Program

DERIVATIVES = ("gradient", "vjp", "jvp")


@dataclass(frozen=True)
class Met:
    """A program that has been met.

    Attributes
    ----------
    name : str
        How it calls itself.
    answers : tuple of str
        Which derivatives it has.
    description : Description
        What its function takes and gives, and where.
    inputs : dict of ndarray
        The inputs that are moved, and their values; the others stay where they are.
    """

    name: str
    answers: tuple[str, ...]
    description: Description
    inputs: dict[str, Array]


def meet(program: Program, chosen: Sequence[str] | None, point: Mapping[str, Any]) -> Met:
    """Start a program, and learn what it has.

    Parameters
    ----------
    program : Program
        The program.
    chosen : sequence of str or None
        The inputs that are to be moved; None for all that can be.
    point : mapping of array_like
        What the user gives of the point.

    Raises
    ------
    ProgramError
        If it does not start, or does not say what it should.
    ValueError
        If what the user gives does not fit.
    """
    program.start()
    description = _described(program, point)
    inputs = _chosen(description, chosen)
    if "value" not in program.hello.answers:
        raise ProgramError("its hello does not promise value: there is nothing to compare with")
    if "gradient" in program.hello.answers and any(
        spec.shape or len(description.outputs) > 1 for spec in description.outputs.values()
    ):
        outputs = ", ".join(f"{n} of shape {s.shape}" for n, s in description.outputs.items())
        raise ProgramError(
            f"it answers gradient, which is that of a number, but describes {outputs}: describe an "
            'output of "shape": [], or answer vjp instead'
        )
    answers = tuple(name for name in DERIVATIVES if name in program.hello.answers)
    return Met(program.hello.name, answers, description, inputs)


def _described(program: Program, point: Mapping[str, Any]) -> Description:
    """Ask a program what its function takes and gives, unless the user has to say so."""
    if "describe" not in program.hello.answers:
        if not point:
            raise ValueError(
                "it does not promise to describe itself: then give a point, with a value for each "
                "of its inputs"
            )
        return of_point(point)
    try:
        reply = program.ask("describe")
    except LostError as error:
        raise ProgramError(f"asked to describe itself, it {error}") from None
    if why := why_none(reply):
        raise ProgramError(f"asked to describe itself, it {why}")
    return Description.read(reply).at(point)


def _chosen(known: Description, chosen: Sequence[str] | None) -> dict[str, Array]:
    """Return the inputs that are moved."""
    if missing := not_known(known):
        raise ValueError(
            f"no value is known of {', '.join(missing)}: describe a default, or give a point"
        )
    if wrong := not_finite(known):
        raise ValueError(f"{', '.join(wrong)} must be finite at the point")
    free = [name for name in known.inputs if name not in known.constants]
    if not free:
        raise ValueError("all inputs are constants: there is nothing to differentiate")
    for name in chosen or ():
        if name not in known.inputs:
            raise ValueError(f"there is no input {name}; the inputs are {', '.join(known.inputs)}")
        if name not in free:
            raise ValueError(f"{name} is a constant, and has no gradient")
    if chosen is not None and not chosen:
        raise ValueError(f"no input is named that is to be checked; there are {', '.join(free)}")
    return {name: known.point[name] for name in free if chosen is None or name in chosen}
