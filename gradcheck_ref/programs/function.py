"""A function that lives in a program, as one of NumPy arrays for the check to call."""

import inspect
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.util import Finalize
from types import TracebackType
from typing import Any

import numpy as np

from gradcheck_ref.arguments import Array
from gradcheck_ref.check.measure.crew import Place
from gradcheck_ref.programs.arrays import ArrayError, Spec
from gradcheck_ref.programs.description import (
    Description,
    ProgramError,
    not_finite,
    not_known,
    of_point,
)
from gradcheck_ref.programs.notes import Notes
from gradcheck_ref.programs.points import Messenger, Spot
from gradcheck_ref.programs.program import FIRST_TIMEOUT, TIMEOUT, LostError, Program
from gradcheck_ref.programs.team import Team
from gradcheck_ref.programs.values import Values, named, why_none

DERIVATIVES = ("gradient", "vjp", "jvp")


def from_command(
    command: Sequence[str],
    *,
    inputs: Sequence[str] | None = None,
    point: Mapping[str, Any] | None = None,
    workers: int = 1,
    timeout: float = TIMEOUT,
    first_timeout: float = FIRST_TIMEOUT,
) -> "ProgramFunction":
    """Start a program that has a function, and return that function.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments. It speaks the protocol of *Protocol: a function in a
        program*.
    inputs : sequence of str, optional
        The names of the inputs to be differentiated; by default all but the constants. The others
        stay where they are.
    point : mapping of array_like, optional
        Values of inputs, instead of the program's own defaults. A program that does not describe
        itself needs all of them.
    workers : int
        How many programs to start, for the points around x; derivatives are asked of the first. The
        values do not depend on how many there are. -1 for one on each core.
    timeout : float
        Seconds that a value may take.
    first_timeout : float
        Seconds for the first reply of each kind, where a program compiles what it is asked for.

    Returns
    -------
    ProgramFunction
        Called with the inputs, in their order or by name, it returns the value: a number, an array,
        or a tuple for several outputs. It has an attribute ``inputs``, the point; and ``gradient``,
        ``vjp`` and ``jvp`` if the program answers them. It is a context manager, which ends the
        program.

    Raises
    ------
    ProgramError
        If it does not start, or does not say what it should; later, when it is called, also if it
        says what cannot be read.
    ValueError
        If inputs or point do not fit what it describes, or another argument is out of range.

    Notes
    -----
    Cost: none in evaluations of f; the program is started. Each program keeps the last point and
    direction that it was told, if it can: then a point is sent as what is different about it.

    Examples
    --------
    A program in Python, of one line and a half; any language will do:

    >>> import sys
    >>> from gradcheck_ref import check_gradient
    >>> program = '''
    ... import json, sys
    ... for line in sys.stdin:
    ...     request = json.loads(line)
    ...     reply = {"id": request["id"]}
    ...     if request["ask"] == "hello":
    ...         reply |= {"protocol": 1, "name": "cube", "answers": ["value", "gradient"]}
    ...     elif request["ask"] == "value":
    ...         reply["values"] = [repr(float(p["whole"]["x"]) ** 3) for p in request["points"]]
    ...     else:
    ...         reply["gradient"] = repr(2 * float(request["point"]["whole"]["x"]) ** 2)
    ...     print(json.dumps(reply), flush=True)
    ... '''
    >>> with from_command([sys.executable, "-c", program], point={"x": 0.5}) as f:
    ...     report = check_gradient(f, f.inputs, f.gradient)
    >>> print(report.verdict, report.worst.analytic, round(report.worst.numeric, 6))
    fail 0.5 0.75
    """
    if isinstance(command, str | os.PathLike) or not command:
        raise ValueError("command must be a list: the program and its arguments")
    for name, seconds in (("timeout", timeout), ("first_timeout", first_timeout)):
        if not 0 < seconds < float("inf"):
            raise ValueError(f"{name} must be a positive number of seconds, not {seconds!r}")
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < -1 or workers == 0:
        raise ValueError(f"workers must be a positive number of programs, or -1, not {workers!r}")
    workers = workers if workers > 0 else os.cpu_count() or 1
    return ProgramFunction(
        Start(
            tuple(command),
            None if inputs is None else tuple(inputs),
            dict(point or {}),
            workers,
            timeout,
            max(first_timeout, timeout),
        )
    )


@dataclass(frozen=True)
class Start:
    """How programs are started; as for `from_command`."""

    command: tuple[str, ...]
    inputs: tuple[str, ...] | None
    point: dict[str, Any]
    workers: int
    timeout: float
    first_timeout: float


class ProgramFunction:
    """What `from_command` returns.

    Attributes
    ----------
    name : str
        How the program calls itself.
    inputs : dict of ndarray
        The point, by the names of the inputs that are differentiated.
    answers : tuple of str
        Which of ``gradient``, ``vjp`` and ``jvp`` it has.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._begin()

    def _begin(self) -> None:
        start, self._process = self._start, os.getpid()
        self._lock = threading.RLock()
        self._notes = Notes()
        programs = [
            Program(start.command, start.timeout, start.first_timeout) for _ in range(start.workers)
        ]
        self._close = weakref.finalize(self, _leave, programs)
        first = programs[0]
        try:
            first.start()
            self.description = _described(first, start.point)
            self._choose(start.inputs)
        except BaseException:
            first.end()
            raise
        self.name, self.answers = first.hello.name, _derivatives(first)
        messengers = [Messenger(program, self.description.inputs) for program in programs]
        self._first = messengers[0]
        self._values = Values(self.description)
        self._team = Team(messengers, self._values.ask, self._notes)
        self._seen: tuple[dict[str, Array], Array] | None = None
        self._unsteady = False

    def _choose(self, chosen: tuple[str, ...] | None) -> None:
        known = self.description
        if missing := not_known(known):
            raise ValueError(
                f"no value is known of {', '.join(missing)}: describe a default, or give a point"
            )
        if wrong := not_finite(known):
            raise ValueError(f"{', '.join(wrong)} must be finite at the point")
        free = [name for name in known.inputs if name not in known.constants]
        for name in chosen or ():
            if name not in known.inputs:
                every = ", ".join(known.inputs)
                raise ValueError(f"there is no input {name}; the inputs are {every}")
            if name not in free:
                raise ValueError(f"{name} is a constant, and has no gradient")
        names = [name for name in free if chosen is None or name in chosen]
        if not names:
            raise ValueError("all inputs are constants: there is nothing to differentiate")
        self.inputs = {name: known.point[name] for name in names}
        parameters = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            for name in names
            if name.isidentifier()
        ]
        if len(parameters) == len(names):
            self.__signature__ = inspect.Signature(parameters)

    def _be_here(self) -> None:
        """Start programs of its own in a process that was forked: they cannot be shared."""
        if self._process != os.getpid():
            self._close.detach()
            self._elsewhere = self._team  # which is not to be ended by whoever frees it here
            self._begin()
            Finalize(self, self._close, exitpriority=0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process start programs of its own."""
        return ProgramFunction, (self._start,)

    def __enter__(self) -> "ProgramFunction":
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the programs: at once, if something went wrong."""
        if error is not None:
            self._team.stop("it was ended")
        self.close()

    def close(self) -> None:
        """End the programs, and what they have started."""
        self._close()

    @property
    def notes(self) -> list[str]:
        """What was strange, in sentences: where there was no value, and why."""
        return self._notes.sentences()

    # --- values ------------------------------------------------------------------------------

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Return the value at a point."""
        point = self._point(inputs, named)
        self._be_here()
        with self._lock:
            value = self._team.alone(Spot(point))
            if self._first.program.hello.deterministic:
                self._see(point, value)
        return self._values.arranged(value)

    def many(self, points: Sequence[Any]) -> list[Any]:
        """Return the values at many points, each arranged as the inputs are."""
        spots = []
        for given in points:
            if isinstance(given, Mapping):
                spots.append(Spot(self._point((), given)))
            else:
                several = isinstance(given, tuple | list)
                spots.append(Spot(self._point(tuple(given) if several else (given,), {})))
        return self._together(spots)

    def at_places(self, places: Sequence[Place]) -> list[Any]:
        """Return the values at places: steps along ways, of which the programs know the start."""
        spots, known = [], {}
        for way, t in places:
            if id(way.units) not in known:
                inputs = way.units.inputs
                keys = [str(key) for key in inputs.keys] if inputs.by_name else list(self.inputs)
                moved = dict(enumerate(keys))
                values = dict(zip(keys, map(np.asarray, inputs.values), strict=True))
                known[id(way.units)] = ({**self.description.point, **values}, moved)
            base, moved = known[id(way.units)]
            spots.append(Spot(base, (way, t), moved))
        return self._together(spots)

    def _together(self, spots: list[Spot]) -> list[Any]:
        self._be_here()
        with self._lock:
            return [self._values.arranged(value) for value in self._team.values(spots)]

    def _point(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Array]:
        """Return all inputs of the program, for a call with those that are differentiated."""
        names = list(self.inputs)
        if len(inputs) > len(names):
            raise TypeError(f"it takes {', '.join(names)}, and not {len(inputs)} inputs")
        given = dict(zip(names, inputs, strict=False))
        if unknown := [name for name in named if name not in names or name in given]:
            raise TypeError(f"it takes {', '.join(names)}, and not {', '.join(unknown)} besides")
        given |= named
        if missing := [name for name in names if name not in given]:
            raise TypeError(f"it takes {', '.join(names)}; missing: {', '.join(missing)}")
        for name, value in given.items():
            spec = self.description.inputs[name]
            if np.shape(value) != spec.shape:
                raise ValueError(f"{name} has shape {np.shape(value)}, but takes {spec.shape}")
        return {**self.description.point, **{n: np.asarray(v) for n, v in given.items()}}

    def _see(self, point: dict[str, Array], value: Array | None) -> None:
        """Hold a program to its promise that the same point has the same value."""
        if value is None:
            return
        if self._seen is None:
            self._seen = ({name: np.array(v) for name, v in point.items()}, value)
        before, first = self._seen
        same = all(np.array_equal(v, before[name]) for name, v in point.items())
        if same and not self._unsteady and not np.array_equal(value, first, equal_nan=True):
            self._unsteady = True
            at = int(np.argmax(value != first))
            self._notes.add(
                "it promises to be deterministic, but its value at one point was "
                f"{first[at]:.17g}, and then {value[at]:.17g}"
            )

    # --- derivatives -------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return gradient, vjp or jvp, if the program answers it."""
        if name in DERIVATIVES and name in self.__dict__.get("answers", ()):
            return {"gradient": self._gradient, "vjp": self._vjp, "jvp": self._jvp}[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def _gradient(self, *inputs: Any, **named: Any) -> Any:
        if self.description.size != 1:
            raise ProgramError(
                f"it answers gradient, but its value has {self.description.size} numbers: answer "
                "vjp instead, which gets an upstream"
            )
        reply = self._derivative("gradient", self._point(inputs, named), {})
        return self._slopes(reply, "gradient", bool(named))

    def _vjp(self, upstream: Any, /, *inputs: Any, **named: Any) -> Any:
        outputs = self.description.outputs
        given = upstream if isinstance(upstream, tuple | list) else (upstream,)
        if len(given) != len(outputs):
            raise ValueError(f"upstream is for {len(given)} outputs, but there are {len(outputs)}")
        base64 = self._first.program.hello.base64
        said = {
            name: spec.write(_of_shape(one, spec, "upstream"), base64)
            for (name, spec), one in zip(outputs.items(), given, strict=True)
        }
        sent = said if len(outputs) > 1 else next(iter(said.values()))
        reply = self._derivative("vjp", self._point(inputs, named), {"upstream": sent})
        return self._slopes(reply, "vjp", bool(named))

    def _jvp(self, tangent: Any, /, *inputs: Any, **named: Any) -> Any:
        names = list(self.inputs)
        several = isinstance(tangent, tuple | list)
        given = dict(zip(names, tangent if several else (tangent,), strict=True))
        tangents = {
            name: _of_shape(given[name], spec, "tangent")
            if name in given
            else np.zeros(spec.shape, spec.dtype)
            for name, spec in self.description.inputs.items()
        }
        point = self._point(inputs, named)
        reply = self._derivative("jvp", point, {"tangent": self._first.arrays(tangents)})
        value = self._values.flat(reply["jvp"])
        if isinstance(value, str):
            raise ProgramError(f"asked for jvp, it answers {value}")
        return self._values.arranged(value)

    def _derivative(
        self, what: str, point: dict[str, Array], keys: dict[str, Any]
    ) -> dict[str, Any]:
        self._be_here()
        with self._lock:
            program = self._first.program
            reals = sum(spec.size for spec in self.description.inputs.values())
            reals = self.description.size if what == "jvp" else reals
            try:
                told = self._first.point(Spot(point))
                reply = program.ask(what, reals, point=told, **keys)
            except LostError as error:
                raise ProgramError(f"asked for {what}, it {error}") from None
        if why := why_none(reply):
            raise ProgramError(f"asked for {what}, it answers {why}")
        return reply

    def _slopes(self, reply: dict[str, Any], what: str, by_name: bool) -> Any:
        """Return gradients arranged as the inputs came; what does not fit is for the check."""
        free = {name: spec for name, spec in self.description.inputs.items() if name in self.inputs}
        given = named(reply[what], free, what)
        gradients: dict[str, Any] = {}
        for name, value in given.items():
            if name in self.description.inputs and name not in free:
                continue  # that of an input that is held where it is
            spec = self.description.inputs.get(name, Spec(name))
            try:
                gradients[name] = spec.read(value)
            except ArrayError as error:
                raise ProgramError(f"its {what} cannot be read: {error}") from None
        if by_name:
            return gradients
        every = tuple(gradients.get(name) for name in free)
        return every if len(every) > 1 else every[0]


def _leave(programs: list[Program]) -> None:
    for program in programs:
        program.leave()


def _described(program: Program, point: dict[str, Any]) -> Description:
    """Ask a program what its function takes and gives, unless the user has to say so."""
    arrays = {name: np.asarray(value) for name, value in point.items()}
    if "describe" not in program.hello.answers:
        if not point:
            raise ValueError(
                "it does not promise to describe itself: then give a point, with a value for each "
                "of its inputs"
            )
        return of_point(arrays)
    try:
        reply = program.ask("describe")
    except LostError as error:
        raise ProgramError(f"asked to describe itself, it {error}") from None
    if why := why_none(reply):
        raise ProgramError(f"asked to describe itself, it answers {why}")
    return Description.read(reply).at(arrays)


def _derivatives(program: Program) -> tuple[str, ...]:
    if "value" not in program.hello.answers:
        raise ProgramError("its hello does not promise value: there is nothing to compare with")
    return tuple(name for name in DERIVATIVES if name in program.hello.answers)


def _of_shape(given: Any, spec: Spec, what: str) -> Array:
    array = np.asarray(given, spec.dtype)
    if array.shape != spec.shape:
        raise ValueError(f"{what} for {spec.name} has shape {array.shape} instead of {spec.shape}")
    return array
